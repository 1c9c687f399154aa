// What went wrong on a rank, in a form that travels.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "hearsay/error.hpp"
#include "hearsay/transport.hpp"

namespace hearsay::detail {

struct Failure {
  enum class Kind : std::uint32_t { none, error, invalid_argument, data_error, communication_error };

  Kind kind = Kind::none;
  int origin = 0;            ///< the rank that it began on
  std::string message = {};  ///< without that rank

  static constexpr int nobody = -1;

  bool any() const { return kind != Kind::none; }
  bool operator==(const Failure&) const = default;
};

std::string to_bytes(const Failure& failure);
Failure failure_from(std::string_view bytes, const char* whose = "a message between ranks");

/// Throws an error of this kind.
[[noreturn]] void raise(Failure::Kind kind, const std::string& message);

/// As require_alike() sends them, and what it says of a rank whose are others.
std::vector<Fact> facts_from(std::string_view bytes);
std::string difference(const std::vector<Fact>& first, const std::vector<Fact>& other, std::size_t rank);

/// Another rank failed, and this one heard of it.
class PeerFailure : public CommunicationError {
 public:
  explicit PeerFailure(Failure failure);
  const Failure& failure() const { return failure_; }

 private:
  Failure failure_;
};

/// Runs the body and tells how it failed, if it did.
Failure caught(int rank, const std::function<void()>& body);

/// Control path: every rank says how it failed, and all throw the same, or nobody does.
void throw_alike(Transport& ranks, const Failure& failure);

}  // namespace hearsay::detail
