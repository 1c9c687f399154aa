#include "secure/primitives.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <sys/random.h>

#include <algorithm>
#include <memory>

#include "hearsay/error.hpp"

namespace hearsay::secure {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)>;

void check_openssl(bool worked) {
  if (!worked) throw Error("OpenSSL could not do what secure sums need of it");
}

Key private_key(const SecretKey& secret) {
  Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, secret.bytes().data(), secret.bytes().size()),
          EVP_PKEY_free);
  check_openssl(key != nullptr);
  return key;
}

EVP_CIPHER_CTX* cipher(void* context) { return static_cast<EVP_CIPHER_CTX*>(context); }

}  // namespace

void wipe(void* bytes, std::size_t count) { OPENSSL_cleanse(bytes, count); }

SecretKey::SecretKey(std::span<const std::uint8_t, 32> bytes) { std::ranges::copy(bytes, bytes_.begin()); }

SecretKey::SecretKey(SecretKey&& other) noexcept : bytes_(other.bytes_) {
  wipe(other.bytes_.data(), other.bytes_.size());
}

SecretKey& SecretKey::operator=(SecretKey&& other) noexcept {
  if (this == &other) return *this;
  bytes_ = other.bytes_;
  wipe(other.bytes_.data(), other.bytes_.size());
  return *this;
}

SecretKey new_secret() {
  SecretKey key;
  if (::getrandom(key.bytes().data(), key.bytes().size(), 0) != static_cast<ssize_t>(key.bytes().size()))
    throw Error("the system gave no random numbers");
  return key;
}

PublicKey x25519_public(const SecretKey& secret) {
  PublicKey key{};
  std::size_t length = key.size();
  check_openssl(EVP_PKEY_get_raw_public_key(private_key(secret).get(), key.data(), &length) == 1 &&
                length == key.size());
  return key;
}

SecretKey x25519_shared(const SecretKey& secret, const PublicKey& theirs) {
  const Key mine = private_key(secret);
  const Key other(EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, theirs.data(), theirs.size()), EVP_PKEY_free);
  const KeyContext context(EVP_PKEY_CTX_new(mine.get(), nullptr), EVP_PKEY_CTX_free);
  check_openssl(other != nullptr && context != nullptr && EVP_PKEY_derive_init(context.get()) == 1);
  SecretKey shared;
  std::size_t length = shared.bytes().size();
  const bool derived = EVP_PKEY_derive_set_peer(context.get(), other.get()) == 1 &&
                       EVP_PKEY_derive(context.get(), shared.bytes().data(), &length) == 1;
  // OpenSSL refuses a shared secret of zeros; that it does is asked here too.
  const bool zero = std::ranges::all_of(shared.bytes(), [](std::uint8_t byte) { return byte == 0; });
  if (!derived || zero || length != shared.bytes().size())
    throw CommunicationError("a public key for secure sums is one that no agent makes");
  return shared;
}

void hkdf_sha256(std::span<const std::uint8_t> material, std::span<const std::uint8_t> salt,
                 std::span<const std::uint8_t> info, std::span<std::uint8_t> out) {
  const KeyContext context(EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nullptr), EVP_PKEY_CTX_free);
  check_openssl(context != nullptr);
  EVP_PKEY_CTX* at = context.get();
  std::size_t length = out.size();
  const std::array<std::uint8_t, 32> zeros{};  // what no salt means, and OpenSSL does not take
  if (salt.empty()) salt = zeros;
  const auto size = [](std::span<const std::uint8_t> bytes) { return static_cast<int>(bytes.size()); };
  check_openssl(EVP_PKEY_derive_init(at) == 1 && EVP_PKEY_CTX_set_hkdf_md(at, EVP_sha256()) == 1 &&
                EVP_PKEY_CTX_set1_hkdf_salt(at, salt.data(), size(salt)) == 1 &&
                EVP_PKEY_CTX_set1_hkdf_key(at, material.data(), size(material)) == 1 &&
                (info.empty() || EVP_PKEY_CTX_add1_hkdf_info(at, info.data(), size(info)) == 1) &&
                EVP_PKEY_derive(at, out.data(), &length) == 1 && length == out.size());
}

ChaCha20::ChaCha20(const SecretKey& key, std::span<const std::uint8_t, 12> nonce, std::uint32_t block)
    : context_(EVP_CIPHER_CTX_new()) {
  std::array<std::uint8_t, 16> start{};  // OpenSSL's: the number of the block, then the nonce
  for (unsigned i = 0; i < 4; ++i) start[i] = static_cast<std::uint8_t>(block >> (8 * i));
  std::ranges::copy(nonce, start.begin() + 4);
  const bool worked = context_ != nullptr && EVP_EncryptInit_ex(cipher(context_), EVP_chacha20(), nullptr,
                                                                key.bytes().data(), start.data()) == 1;
  if (!worked) EVP_CIPHER_CTX_free(cipher(context_));
  check_openssl(worked);
}

ChaCha20::~ChaCha20() { EVP_CIPHER_CTX_free(cipher(context_)); }  // which overwrites the key

void ChaCha20::next(std::span<std::uint8_t> out) {
  std::ranges::fill(out, std::uint8_t{0});
  int length = 0;
  check_openssl(EVP_EncryptUpdate(cipher(context_), out.data(), &length, out.data(), static_cast<int>(out.size())) ==
                    1 &&
                length == static_cast<int>(out.size()));
}

}  // namespace hearsay::secure
