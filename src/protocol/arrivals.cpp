#include "hearsay/protocol/arrivals.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace hearsay::protocol {
namespace {

constexpr double spreads = 10;

double median_of(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

// Looked at anew only now and then: nothing hangs on one gap.
void Arrivals::add(double gap) {
  if (gaps_.size() < kept)
    gaps_.push_back(gap);
  else
    gaps_[count_ % kept] = gap;
  if (++count_ % enough != 0) return;
  std::vector<double> known = gaps_;
  const double median = median_of(known);
  for (double& value : known) value = std::abs(value - median);
  usual_ = median + spreads * median_of(known);
}

}  // namespace hearsay::protocol
