#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hearsay::protocol {

/// CRC-32C (Castagnoli), as iSCSI and ext4 have it; `so_far` is that of the bytes before.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t so_far = 0);

/// The same without the processor's own instruction.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t so_far = 0);

}  // namespace hearsay::protocol
