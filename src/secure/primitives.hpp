// X25519 (RFC 7748), HKDF with SHA-256 (RFC 5869) and the ChaCha20 key stream (RFC 8439). OpenSSL does the work.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hearsay::secure {

/// Overwrites bytes in a way that no compiler leaves out.
void wipe(void* bytes, std::size_t count);

using PublicKey = std::array<std::uint8_t, 32>;

/// 32 bytes that are overwritten when they go.
class SecretKey {
 public:
  SecretKey() = default;
  explicit SecretKey(std::span<const std::uint8_t, 32> bytes);
  SecretKey(const SecretKey&) = delete;
  SecretKey& operator=(const SecretKey&) = delete;
  SecretKey(SecretKey&& other) noexcept;
  SecretKey& operator=(SecretKey&& other) noexcept;
  ~SecretKey() { wipe(bytes_.data(), bytes_.size()); }

  std::span<std::uint8_t, 32> bytes() { return bytes_; }
  std::span<const std::uint8_t, 32> bytes() const { return bytes_; }

 private:
  std::array<std::uint8_t, 32> bytes_{};
};

/// From the system's generator.
SecretKey new_secret();

PublicKey x25519_public(const SecretKey& secret);

/// Throws CommunicationError for another's key that leads to zero, whatever ours is.
SecretKey x25519_shared(const SecretKey& secret, const PublicKey& theirs);

/// Fills `out`, 8160 bytes at most.
void hkdf_sha256(std::span<const std::uint8_t> material, std::span<const std::uint8_t> salt,
                 std::span<const std::uint8_t> info, std::span<std::uint8_t> out);

/// The key stream of ChaCha20 from a block on, taken piece by piece.
class ChaCha20 {
 public:
  ChaCha20(const SecretKey& key, std::span<const std::uint8_t, 12> nonce, std::uint32_t block = 0);
  ChaCha20(const ChaCha20&) = delete;
  ChaCha20& operator=(const ChaCha20&) = delete;
  ~ChaCha20();

  void next(std::span<std::uint8_t> out);

 private:
  void* context_;
};

}  // namespace hearsay::secure
