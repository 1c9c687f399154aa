// Makes the superuser a mere user for a while: permissions do not bind the superuser, and could not be tested.
#pragma once

#include <unistd.h>

#include <filesystem>

namespace hearsay::test {

class Unprivileged {
 public:
  /// Opens `directory` to the user we become.
  explicit Unprivileged(const std::filesystem::path& directory) : was_(::geteuid()) {
    constexpr uid_t nobody = 65534;
    if (was_ != 0) return;
    std::filesystem::permissions(directory, std::filesystem::perms::all);
    succeeded_ = ::seteuid(nobody) == 0;
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  ~Unprivileged() {
    if (was_ == 0 && succeeded_) succeeded_ = ::seteuid(0) == 0;
  }

  bool succeeded() const { return succeeded_; }

 private:
  uid_t was_;
  bool succeeded_ = true;
};

}  // namespace hearsay::test
