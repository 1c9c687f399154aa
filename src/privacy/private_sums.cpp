#include "hearsay/private_sums.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/private_products.hpp"
#include "privacy/integer_rows.hpp"

namespace hearsay {

namespace {

using privacy::IntegerRows;
using privacy::rows_at_once;
using privacy::shrink;
using privacy::Wiped;

constexpr int matrix_bits = 18, mean_bits = 24;  // of the norm of a row of integers
constexpr Index most_parts = Index{1} << 20;     // as many agents as a secure sum takes
constexpr Index most_lazy_features = 100'000;    // of which noise is a gaussian's but for 2^-(10^5) (private.md)

constexpr int most_lazy_scale = 47;  // 2^6 times the noise then fits a word

// Sums of integers in doubles are exact, in whatever order, while they stay below 2^53; those of a block of rows do.
static_assert(rows_at_once <= Index{1} << (53 - 2 * (matrix_bits + 1)));
static_assert(rows_at_once <= Index{1} << (53 - (mean_bits + 1)) && 2 * (mean_bits + 1) <= 53);

double moved(Neighbours neighbours) { return neighbours == Neighbours::replace ? std::sqrt(2.0) : 1.0; }
double moved_sum(Neighbours neighbours) { return neighbours == Neighbours::replace ? 2.0 : 1.0; }

// In arithmetic modulo 2^64, which never overflows: what wraps around is wrapped after the noise as well.
std::uint64_t as_word(double exact) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(exact)); }
double as_real(std::uint64_t sum) { return static_cast<double>(static_cast<std::int64_t>(sum)); }

Index triangle(Index i, Index j) { return j * (j + 1) / 2 + i; }  // i <= j, by columns

// The power of two at which a norm of that many bits has this mu, and the norm: radius^power * moves <= mu 2^scale.
struct Grid {
  int scale;
  std::int64_t radius;
};

Grid grid(double mu, double moves, int bits, int power) {
  const int scale = static_cast<int>(std::lround(power * bits + std::log2(moves / mu)));
  const double reach = std::ldexp(mu / moves, scale) * shrink;
  return {scale, static_cast<std::int64_t>(power == 2 ? std::sqrt(reach) : reach)};
}

// Rounding to the nearest integers adds sqrt(d)/2 to a norm at most: that much room is left.
double unit_of(double bound, std::int64_t radius, Index features) {
  const double room = std::sqrt(static_cast<double>(features)) / 2 + 1;
  require(static_cast<double>(radius) > 4 * room,
          fmt::format("features = {}: are too many for a private release", features));
  return bound / (static_cast<double>(radius) - room);
}

std::uint64_t noise(ExactNormals& normals, int scale) { return static_cast<std::uint64_t>(normals.next(scale)); }

}  // namespace

PrivateWords& PrivateWords::operator=(PrivateWords&& other) noexcept {
  words_.swap(other.words_);  // what was here is overwritten with the other
  return *this;
}

PrivateWords::~PrivateWords() {
  if (!words_.empty()) explicit_bzero(words_.data(), words_.size() * sizeof(std::uint64_t));
}

namespace {

// Drawn as it is asked for, noise of 2^scale lies beside the diagonal, which has sqrt(2) of it.
ReleasePlan plan_parts(const PrivacySettings& settings, Index features, Index parts, ReleaseForm form) {
  constexpr double room =
      1 + 0x1p-10;  // for what products round: docs/algorithms/private.md, "Drawn as it is asked for"
  check(settings);
  require(features >= 1, fmt::format("features = {}: must be at least 1", features));
  require(parts >= 1 && parts <= most_parts, fmt::format("parts = {}: must lie in [1, {}]", parts, most_parts));
  const double share = settings.center == PrivateCenter::dp_mean ? mean_share : 0.0;
  const double each = std::sqrt(static_cast<double>(parts));  // mu of one part's noise alone, over that of all
  ReleasePlan plan{.mu = gaussian_mu(settings.budget)};
  plan.matrix_mu = plan.mu * std::sqrt(1 - share) * shrink;
  plan.mean_mu = plan.mu * std::sqrt(share) * shrink;
  const bool lazy = form == ReleaseForm::lazy;
  const double beside = lazy                         ? std::sqrt(2.0) / room
                        : form == ReleaseForm::fresh ? 1 / (room * std::sqrt(static_cast<double>(fresh_products)))
                                                     : 1.0;
  const Grid matrix = grid(plan.matrix_mu * each * beside, moved(settings.neighbours), matrix_bits, 2);
  plan.scale = matrix.scale;
  plan.radius = matrix.radius;
  plan.unit = unit_of(settings.row_norm, plan.radius, features);
  plan.sigma = std::ldexp(plan.unit * plan.unit, plan.scale) * (lazy ? std::sqrt(2.0) : 1.0);
  if (share == 0) return plan;
  const Grid mean = grid(plan.mean_mu * each, moved_sum(settings.neighbours), mean_bits, 1);
  plan.mean_scale = mean.scale;
  plan.mean_radius = mean.radius;
  plan.mean_unit = unit_of(settings.row_norm, plan.mean_radius, features);
  plan.mean_sigma = std::ldexp(plan.mean_unit, plan.mean_scale);
  return plan;
}

}  // namespace

ReleasePlan plan_part(const PrivacySettings& settings, Index features, Index parts) {
  return plan_parts(settings, features, parts, ReleaseForm::stored);
}

ReleasePlan plan_products(const PrivacySettings& settings, Index features) {
  require(features <= most_lazy_features,
          fmt::format("features = {}: must be at most {} where noise is drawn as it is asked for", features,
                      most_lazy_features));
  const ReleasePlan plan = plan_parts(settings, features, 1, ReleaseForm::lazy);
  require(
      plan.scale <= most_lazy_scale,
      fmt::format("epsilon = {}: is too small for noise that is drawn as it is asked for", settings.budget.epsilon));
  return plan;
}

ReleasePlan plan_fresh(const PrivacySettings& settings, Index features) {
  return plan_parts(settings, features, 1, ReleaseForm::fresh);
}

PrivateWords noisy_sum_of_rows(RowSource<double>& rows, const PrivacySettings& settings, const ReleasePlan& plan,
                               ExactNormals& normals) {
  const Index d = rows.cols();
  const Vector<double> nothing = Vector<double>::Zero(d);
  IntegerRows integers(rows, nothing, settings.row_norm, plan.mean_unit, plan.mean_radius);
  PrivateWords sums(static_cast<std::size_t>(d));
  while (integers.next())
    for (Index j = 0; j < d; ++j) sums[j] += as_word(integers.rows().col(j).sum());
  for (Index j = 0; j < d; ++j) sums[j] += noise(normals, plan.mean_scale);
  return sums;
}

// Noise N of its own for each of the d^2 entries makes C + N private, and its symmetric part after it: that is where
// E's diagonal gets sigma and the rest sigma / sqrt(2).
PrivateWords noisy_sum_of_squares(RowSource<double>& rows, const Vector<double>& center,
                                  const PrivacySettings& settings, const ReleasePlan& plan, ExactNormals& normals) {
  const Index d = rows.cols();
  PrivateWords sums(static_cast<std::size_t>(d * (d + 1) / 2));
  {
    IntegerRows integers(rows, center, settings.row_norm, plan.unit, plan.radius);
    while (integers.next()) {
      Small<double> products = gram<double>(ConstBlockView<double>(integers.rows()));
      for (Index j = 0; j < d; ++j)
        for (Index i = 0; i <= j; ++i) sums[triangle(i, j)] += as_word(products(i, j));
      Wiped<Small<double>>::wipe(products);
    }
  }
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < j; ++i) {
      std::uint64_t& word = sums[triangle(i, j)];
      word = 2 * word + noise(normals, plan.scale) + noise(normals, plan.scale);
    }
    sums[triangle(j, j)] += noise(normals, plan.scale);
  }
  return sums;
}

Vector<double> mean_from(const PrivateWords& sum, const ReleasePlan& plan, Index public_rows) {
  Vector<double> mean(static_cast<Index>(sum.size()));
  for (Index j = 0; j < mean.size(); ++j) mean(j) = as_real(sum[j]) * plan.mean_unit / static_cast<double>(public_rows);
  return mean;
}

Block<double> matrix_from(const PrivateWords& sum, const ReleasePlan& plan, Index features) {
  require(static_cast<Index>(sum.size()) == features * (features + 1) / 2,
          fmt::format("sum: has {} words, and must have those of {} features", sum.size(), features));
  Block<double> matrix(features, features);
  const double half_square = plan.unit * plan.unit / 2;
  for (Index j = 0; j < features; ++j) {
    for (Index i = 0; i < j; ++i) matrix(i, j) = matrix(j, i) = half_square * as_real(sum[triangle(i, j)]);
    matrix(j, j) = 2 * half_square * as_real(sum[triangle(j, j)]);
  }
  return matrix;
}

}  // namespace hearsay
