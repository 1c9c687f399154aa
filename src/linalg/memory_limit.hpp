// What the system says about memory, in files that tests can plant.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "hearsay/export.hpp"

namespace hearsay::detail {

inline constexpr std::uint64_t no_memory_limit = ~std::uint64_t{0};

/// The least limit of the control groups named in the text of /proc/self/cgroup and of those above them, whose
/// directories lie below `root` (/sys/fs/cgroup); no_memory_limit where there is none.
std::uint64_t control_group_limit(std::string_view proc_self_cgroup, const std::filesystem::path& root);

/// For people: "1.5 GB", "300 kB", "12 bytes". hearsay::io asks for it too.
HEARSAY_API std::string readable_bytes(std::uint64_t bytes);

}  // namespace hearsay::detail
