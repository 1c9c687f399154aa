// The canonical names of classes: by decreasing size, equal sizes by the place of their first member.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hearsay::detail {

/// For labels in [0, classes): the new name of each. Classes without a member come last, in their old order.
std::vector<std::int32_t> canonical_names(std::span<const std::int32_t> labels, std::size_t classes);

}  // namespace hearsay::detail
