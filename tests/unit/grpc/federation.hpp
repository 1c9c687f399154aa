// An authority, certificates and agents on the loopback, for the tests of hearsay::grpc.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/grpc.hpp"
#include "pki/pki.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::test {

inline constexpr std::time_t day = 24 * 60 * 60;

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  // under another name first: gRPC may look at any moment
  const std::filesystem::path temporary = path.string() + ".new";
  std::ofstream(temporary, std::ios::binary) << text;
  std::filesystem::rename(temporary, path);
}

class Authority {
 public:
  explicit Authority(const std::string& name = "test")
      : key_(app::new_key()), certificate_(app::authority_certificate(key_, name, around_now(-10 * day, 10 * day))) {}

  static app::Validity around_now(std::time_t begin, std::time_t end) {
    const std::time_t now = std::time(nullptr);
    return {now + begin, now + end};
  }

  const std::string& certificate() const { return certificate_; }

  /// Writes NAME.key and NAME.pem, and the authority that this agent trusts, over what was there.
  TlsFiles issue(const std::filesystem::path& folder, const std::string& file, const std::string& identity,
                 app::Validity validity = around_now(-day, day)) const {
    const std::string key = app::new_key();
    const std::string request = app::certificate_request(key, file, identity);
    const TlsFiles files{folder / (file + ".pem"), folder / (file + ".key"), folder / (file + ".ca.pem")};
    write_file(files.key, key);
    write_file(files.certificate, app::signed_certificate(request, certificate_, key_, file, identity, validity));
    write_file(files.authority, certificate_);
    return files;
  }

 private:
  std::string key_, certificate_;
};

inline std::vector<std::byte> frame_of(std::size_t number, std::size_t size = sizeof(std::size_t)) {
  std::vector<std::byte> frame(std::max(size, sizeof number));
  std::memcpy(frame.data(), &number, sizeof number);
  return frame;
}

inline std::size_t number_in(const std::vector<std::byte>& frame) {
  std::size_t number = 0;
  if (frame.size() >= sizeof number) std::memcpy(&number, frame.data(), sizeof number);
  return number;
}

inline constexpr double patience = 60;  // against a hang only

/// Events until one of this kind is there; the others are dropped.
inline LinkEvent wait_for(GrpcLinks& links, LinkEvent::Kind kind) {
  const double deadline = links.now() + patience;
  while (true) {
    LinkEvent event = links.poll(deadline);
    if (event.kind == kind || event.kind == LinkEvent::Kind::idle) return event;
  }
}

/// Looks again and again, while events pass.
inline bool comes_true(GrpcLinks& links, const std::function<bool()>& condition) {
  const double deadline = links.now() + patience;
  while (!condition()) {
    if (links.now() > deadline) return false;
    links.poll(links.now() + 0.02);
  }
  return true;
}

/// Two agents: 0 dials, 1 is dialled.
class Pair : public testing::Test {
 protected:
  GrpcOptions dialler(int port) const {
    return {
        .self = 0,
        .peers = {{.agent = 1, .name = "oslo", .identity = "DNS:oslo", .address = "127.0.0.1:" + std::to_string(port)}},
        .federation = "f00d",
        .tls = {folder.path() / "boston.pem", folder.path() / "boston.key", folder.path() / "boston.ca.pem"},
        .largest_frame = 64 << 10};
  }
  GrpcOptions dialled() const {
    return {.self = 1,
            .listen = "127.0.0.1:0",
            .peers = {{.agent = 0, .name = "boston", .identity = "DNS:boston"}},
            .federation = "f00d",
            .tls = {folder.path() / "oslo.pem", folder.path() / "oslo.key", folder.path() / "oslo.ca.pem"},
            .largest_frame = 64 << 10};
  }
  void SetUp() override {
    authority.issue(folder.path(), "boston", "DNS:boston");
    authority.issue(folder.path(), "oslo", "DNS:oslo");
  }

  TempDir folder;
  Authority authority;
};

}  // namespace hearsay::test
