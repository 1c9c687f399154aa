#define OPENSSL_SUPPRESS_DEPRECATED
#include <fmt/format.h>
#include <openssl/sha.h>

#include <array>
#include <iterator>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"

namespace hearsay::io {
namespace {

// The plain functions, which allocate nothing: those of EVP fetch the algorithm first, and libcrypto 3 crashes where
// the memory runs out in that.
class Sha256 {
 public:
  Sha256() { check(SHA256_Init(&context_)); }

  void add(std::string_view bytes) { check(SHA256_Update(&context_, bytes.data(), bytes.size())); }

  std::string hex() {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    check(SHA256_Final(digest.data(), &context_));
    std::string text;
    for (const unsigned char byte : digest) fmt::format_to(std::back_inserter(text), "{:02x}", byte);
    return text;
  }

 private:
  static void check(int verdict) {
    if (verdict != 1) throw Error("OpenSSL could not compute a SHA-256 digest");
  }

  SHA256_CTX context_;
};

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  Sha256 digest;
  digest.add(bytes);
  return digest.hex();
}

std::string sha256_file(const std::filesystem::path& path, Content content) {
  InputFile file(path, content);
  Sha256 digest;
  std::vector<char> buffer(1 << 18);
  while (const std::size_t count = file.read(buffer)) digest.add({buffer.data(), count});
  return digest.hex();
}

}  // namespace hearsay::io
