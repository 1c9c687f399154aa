#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <memory>
#include <new>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"

namespace hearsay::io {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    if (!context_) throw std::bad_alloc();
    check(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
  }

  void add(std::string_view bytes) { check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size())); }

  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    check(EVP_DigestFinal_ex(context_.get(), digest.data(), &size));
    std::string text;
    for (unsigned i = 0; i < size; ++i) fmt::format_to(std::back_inserter(text), "{:02x}", digest[i]);
    return text;
  }

 private:
  static void check(int verdict) {
    if (verdict != 1) throw Error("OpenSSL could not compute a SHA-256 digest");
  }

  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
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
