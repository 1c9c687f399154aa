// Sums of numbers and of squares without rounding: a budget holds to the last bit, or does not.
#pragma once

#include <cmath>
#include <vector>

namespace hearsay::io {

/// Parts that do not overlap, smallest first (Shewchuk's expansions): their exact sum is the value.
class ExactSum {
 public:
  void add(double x) {
    std::vector<double> parts;
    for (const double part : parts_) {
      const double sum = x + part, of_x = sum - part;
      const double lost = (x - of_x) + (part - (sum - of_x));
      if (lost != 0) parts.push_back(lost);
      x = sum;
    }
    if (x != 0) parts.push_back(x);
    parts_ = std::move(parts);
  }

  /// Exact where x^2 and its last bits are in range: for 1e-145 < |x| < 1e154.
  void add_square(double x, double sign = 1) {
    const double square = x * x;
    add(sign * std::fma(x, x, -square));
    add(sign * square);
  }

  bool positive() const { return !parts_.empty() && parts_.back() > 0; }

  double rounded() const {
    double sum = 0;
    for (const double part : parts_) sum += part;
    return sum;
  }

 private:
  std::vector<double> parts_;
};

}  // namespace hearsay::io
