#include "solver/filter.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hearsay::detail {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// log |f(x)| and whether f and all polynomials before it are positive at x, which puts every zero below x (Sturm).
struct Value {
  double log_size;
  bool positive;
};

Value evaluate(const std::vector<FilterStep>& steps, double x) {
  double now = 1, before = 0, log_scale = 0;
  bool positive = true;
  for (const auto& [shift, beta, count, afresh] : steps)
    for (Index i = 0; i < count; ++i) {
      const double next = i == 0 && afresh ? (x - shift) / 2 * now : (x - shift) * now - beta * before;
      before = now;
      now = next;
      positive = positive && now > 0;
      const double size = std::max(std::abs(now), std::abs(before));
      if (!(size > 0)) return {-infinity, false};
      if (size > 1e100 || size < 1e-100) {
        log_scale += std::log(size);
        now /= size;
        before /= size;
      }
    }
  return {log_scale + std::log(std::abs(now)), positive};
}

Index degree(const std::vector<FilterStep>& steps) {
  Index total = 0;
  for (const FilterStep& step : steps) total += step.steps;
  return total;
}

}  // namespace

void append(std::vector<double>& numbers, const FilterStep& step) {
  numbers.insert(numbers.end(), {step.shift, step.beta, static_cast<double>(step.steps), step.afresh ? 1.0 : 0.0});
}

std::vector<FilterStep> filter_steps(const std::vector<double>& numbers) {
  std::vector<FilterStep> steps;
  for (std::size_t i = 0; i + 4 <= numbers.size(); i += 4)
    steps.push_back({numbers[i], numbers[i + 1], static_cast<Index>(numbers[i + 2]), numbers[i + 3] != 0});
  return steps;
}

// Between the 2 t Chebyshev points of an interval a polynomial of degree t exceeds their largest value by at most
// 1 / cos(pi/4) (Ehlich and Zeller).
Filter::Filter(std::vector<FilterStep> steps, Index columns, double norm_of_start, double depth)
    : steps_(std::move(steps)), columns_(columns), norm_of_start_(norm_of_start), depth_(depth) {
  for (const FilterStep& step : steps_) edge_ = std::max(edge_, step.shift + 2 * std::sqrt(step.beta));
  const Index points = 2 * degree(steps_) + 2;
  log_damped_ = -infinity;
  for (Index i = 0; i < points; ++i) {
    const double angle = M_PI * (static_cast<double>(i) + 0.5) / static_cast<double>(points);
    log_damped_ =
        std::max(log_damped_, evaluate(steps_, (edge_ + depth_) * (1 - std::cos(angle)) / 2 - depth_).log_size);
  }
  log_damped_ += std::log(std::sqrt(2.0));
}

double Filter::nothing_above(Index q, double theta_next, double largest) const {
  const double eta = least_shadow(columns_, q + 1, miss_probability / static_cast<double>(columns_));
  if (!(eta > 0) || !(norm_of_start_ > 0) || steps_.empty() || !std::isfinite(depth_)) return infinity;
  const auto excluded = [&](double x) {  // lambda_{q+1} >= x
    const double y = (x + std::max(0.0, theta_next)) / 2;
    const Value at_x = evaluate(steps_, x), at_y = evaluate(steps_, y);
    if (!at_x.positive) return false;
    const double log_below = std::max(log_damped_, y > edge_ ? at_y.log_size : log_damped_);
    const double tau = std::exp(log_below - at_x.log_size) * norm_of_start_ / eta;
    const double least = (y - depth_ * tau * tau) / (1 + tau * tau);
    return least > theta_next;
  };
  if (!excluded(largest)) return infinity;
  double yes = largest, no = std::max(0.0, theta_next);
  for (int i = 0; i < 40 && yes - no > 1e-3 * (yes - std::max(0.0, theta_next)); ++i) {
    const double middle = (yes + no) / 2;
    (excluded(middle) ? yes : no) = middle;
  }
  return yes;
}

}  // namespace hearsay::detail
