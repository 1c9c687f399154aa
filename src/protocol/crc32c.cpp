#include "protocol/crc32c.hpp"

#include <array>
#include <cstring>

namespace hearsay::protocol {
namespace {

constexpr std::uint32_t polynomial = 0x82f63b78;  // reflected

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? polynomial : 0);
    table[byte] = rest;
  }
  return table;
}

constexpr auto table = make_table();

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<const std::byte> bytes, std::uint32_t so_far) {
  std::uint64_t crc = ~so_far;
  while (bytes.size() >= 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    crc = __builtin_ia32_crc32di(crc, word);
    bytes = bytes.subspan(8);
  }
  auto last = static_cast<std::uint32_t>(crc);
  for (const std::byte byte : bytes) last = __builtin_ia32_crc32qi(last, static_cast<unsigned char>(byte));
  return ~last;
}

bool has_instruction() {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}
#else
std::uint32_t by_instruction(std::span<const std::byte> bytes, std::uint32_t so_far) {
  return crc32c_by_table(bytes, so_far);
}
bool has_instruction() { return false; }
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t so_far) {
  std::uint32_t crc = ~so_far;
  for (const std::byte byte : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t so_far) {
  return has_instruction() ? by_instruction(bytes, so_far) : crc32c_by_table(bytes, so_far);
}

}  // namespace hearsay::protocol
