// Against the vectors of the standards.
#include <gtest/gtest.h>

#include <algorithm>
#include <hearsay/error.hpp>
#include <numeric>
#include <secure/primitives.hpp>
#include <string_view>
#include <vector>

namespace hearsay::secure {
namespace {

std::vector<std::uint8_t> from_hex(std::string_view text) {
  const auto digit = [](char c) { return static_cast<std::uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10); };
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(digit(text[i]) << 4 | digit(text[i + 1])));
  return bytes;
}

SecretKey secret_of(std::string_view text) { return SecretKey(std::span<const std::uint8_t, 32>(from_hex(text))); }

PublicKey key_of(std::string_view text) {
  PublicKey key{};
  std::ranges::copy(from_hex(text), key.begin());
  return key;
}

std::vector<std::uint8_t> bytes_of(const SecretKey& key) { return {key.bytes().begin(), key.bytes().end()}; }

constexpr const char* alice_secret = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a";
constexpr const char* alice_public = "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a";
constexpr const char* bob_secret = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb";
constexpr const char* bob_public = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f";

TEST(X25519, GivesTheVectorsOfRfc7748) {
  // Section 6.1
  EXPECT_EQ(x25519_public(secret_of(alice_secret)), key_of(alice_public));
  EXPECT_EQ(x25519_public(secret_of(bob_secret)), key_of(bob_public));
  const auto shared = from_hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
  EXPECT_EQ(bytes_of(x25519_shared(secret_of(alice_secret), key_of(bob_public))), shared);
  EXPECT_EQ(bytes_of(x25519_shared(secret_of(bob_secret), key_of(alice_public))), shared);
  // Section 5.2
  EXPECT_EQ(bytes_of(x25519_shared(secret_of("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"),
                                   key_of("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"))),
            from_hex("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"));
}

TEST(X25519, RefusesKeysThatLeadToZeroWhateverTheSecret) {
  for (const char* order : {"0000000000000000000000000000000000000000000000000000000000000000",
                            "0100000000000000000000000000000000000000000000000000000000000000",
                            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
                            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"})
    EXPECT_THROW(x25519_shared(secret_of(alice_secret), key_of(order)), CommunicationError) << order;
}

TEST(SecretKey, IsOverwrittenWhereItIsMovedFrom) {
  SecretKey first = secret_of(alice_secret);
  const SecretKey second = std::move(first);
  EXPECT_EQ(bytes_of(second), from_hex(alice_secret));
  EXPECT_EQ(bytes_of(first), std::vector<std::uint8_t>(32));  // NOLINT: what is left is what is asked
  EXPECT_NE(bytes_of(new_secret()), bytes_of(new_secret()));
}

TEST(Hkdf, GivesTheVectorsOfRfc5869) {
  std::vector<std::uint8_t> out(42);
  hkdf_sha256(std::vector<std::uint8_t>(22, 0x0b), from_hex("000102030405060708090a0b0c"),
              from_hex("f0f1f2f3f4f5f6f7f8f9"), out);
  EXPECT_EQ(out, from_hex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"));

  hkdf_sha256(std::vector<std::uint8_t>(22, 0x0b), {}, {}, out);
  EXPECT_EQ(out, from_hex("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"));
}

TEST(ChaCha20, GivesTheVectorOfRfc8439WholeAndInPieces) {
  // Section 2.3.2
  const SecretKey key = secret_of("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  const auto nonce = from_hex("000000090000004a00000000");
  const auto block = from_hex(
      "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
      "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e");
  std::vector<std::uint8_t> out(64);
  ChaCha20(key, std::span<const std::uint8_t, 12>(nonce), 1).next(out);
  EXPECT_EQ(out, block);

  ChaCha20 pieces(key, std::span<const std::uint8_t, 12>(nonce), 1);
  std::ranges::fill(out, std::uint8_t{7});
  for (std::size_t at = 0, size = 1; at < 64; at += size, size = std::min<std::size_t>(2 * size, 64 - at))
    pieces.next(std::span(out).subspan(at, std::min<std::size_t>(size, 64 - at)));
  EXPECT_EQ(out, block);
}

}  // namespace
}  // namespace hearsay::secure
