#include "linalg/labels.hpp"

#include <algorithm>
#include <numeric>

namespace hearsay::detail {

std::vector<std::int32_t> canonical_names(std::span<const std::int32_t> labels, std::size_t classes) {
  std::vector<std::size_t> size(classes, 0), first(classes, labels.size());
  for (std::size_t i = labels.size(); i-- > 0;) {
    const auto label = static_cast<std::size_t>(labels[i]);
    ++size[label];
    first[label] = i;
  }

  std::vector<std::size_t> order(classes);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return size[a] != size[b] ? size[a] > size[b] : first[a] < first[b];
  });

  std::vector<std::int32_t> names(classes);
  for (std::size_t name = 0; name < classes; ++name) names[order[name]] = static_cast<std::int32_t>(name);
  return names;
}

}  // namespace hearsay::detail
