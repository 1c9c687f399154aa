#include "hearsay/private_covariance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/memory.hpp"

namespace hearsay {

namespace {

constexpr Index rows_at_once = 1024;
constexpr int matrix_bits = 18, mean_bits = 24;     // of the norm of a row of integers
constexpr double shrink = 1 - 0x1p-40;              // of every bound, for the rounding of what is compared with it
constexpr Index most_public_rows = Index{1} << 26;  // of which sums of squares fit a word twice

// Sums of integers in doubles are exact, in whatever order, while they stay below 2^53; those of a block of rows do.
static_assert(rows_at_once <= Index{1} << (53 - 2 * (matrix_bits + 1)));
static_assert(rows_at_once <= Index{1} << (53 - (mean_bits + 1)) && 2 * (mean_bits + 1) <= 53);

double moved(Neighbours neighbours) { return neighbours == Neighbours::replace ? std::sqrt(2.0) : 1.0; }
double moved_sum(Neighbours neighbours) { return neighbours == Neighbours::replace ? 2.0 : 1.0; }

// Memory that held rows, or sums of them, is zeroed before it is given back.
template <class Matrix>
class Wiped : public Matrix {
 public:
  using Matrix::Matrix;
  Wiped(const Wiped&) = delete;
  Wiped& operator=(const Wiped&) = delete;
  ~Wiped() { wipe(*this); }

  static void wipe(Matrix& matrix) {
    explicit_bzero(static_cast<void*>(matrix.data()), static_cast<std::size_t>(matrix.size()) * sizeof(*matrix.data()));
  }
};

// Rows of integers, of norm `radius` at most: what the noise is made for.
class IntegerRows {
 public:
  IntegerRows(RowSource<double>& source, const Vector<double>& center, double bound, double unit, std::int64_t radius)
      : source_(source),
        center_(center),
        bound_(bound),
        unit_(unit),
        radius_(static_cast<double>(radius)),
        rows_(rows_at_once, source.cols()) {
    source_.rewind();
  }

  /// Goes on to the next ones; false at the end.
  bool next() {
    count_ = source_.read(rows_);
    for (Index i = 0; i < count_; ++i) round(i);
    return count_ > 0;
  }
  auto rows() const { return rows_.topRows(count_); }

 private:
  void round(Index i) {
    auto row = rows_.row(i);
    if (!row.allFinite())
      throw DataError("data: an entry is not finite, and nothing more is said of it where data are private");
    row -= center_.transpose();
    const double largest = std::max(row.cwiseAbs().maxCoeff(), 0x1p-1000);
    row /= largest;
    const double norm = row.norm();
    row *= std::min(largest, bound_ * shrink / norm) / unit_;  // the norm is 1 at least, or the row is zero
    row = row.array().round();
    if (!(row.squaredNorm() <= radius_ * radius_)) row.setZero();  // an exact sum; what was rounded is shorter
  }

  RowSource<double>& source_;
  const Vector<double>& center_;
  double bound_, unit_, radius_;
  Wiped<Block<double>> rows_;
  Index count_ = 0;
};

// In arithmetic modulo 2^64, which never overflows: what wraps around is wrapped after the noise as well.
class IntegerSums {
 public:
  explicit IntegerSums(Index count) : sums_(static_cast<std::size_t>(count), 0) {}
  IntegerSums(const IntegerSums&) = delete;
  IntegerSums& operator=(const IntegerSums&) = delete;
  ~IntegerSums() { explicit_bzero(sums_.data(), sums_.size() * sizeof(std::uint64_t)); }

  std::uint64_t& operator[](Index i) { return sums_[static_cast<std::size_t>(i)]; }
  void add(Index i, double exact) {
    sums_[static_cast<std::size_t>(i)] += static_cast<std::uint64_t>(static_cast<std::int64_t>(exact));
  }

 private:
  std::vector<std::uint64_t> sums_;
};

double as_real(std::uint64_t sum) { return static_cast<double>(static_cast<std::int64_t>(sum)); }

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

}  // namespace

std::string_view name(Neighbours neighbours) { return neighbours == Neighbours::replace ? "replace" : "add-remove"; }

std::string_view name(PrivateCenter center) {
  switch (center) {
    case PrivateCenter::none:
      return "none";
    case PrivateCenter::given:
      return "given";
    case PrivateCenter::dp_mean:
      return "dp-mean";
  }
  return "";
}

void check(const PrivacySettings& settings) {
  gaussian_mu(settings.budget);
  require(settings.row_norm >= 1e-100 && settings.row_norm <= 1e100,
          fmt::format("row-norm = {}: must be positive, from 1e-100 to 1e100", settings.row_norm));
  require(settings.public_rows >= 0 && settings.public_rows <= most_public_rows,
          fmt::format("public-rows = {}: must be from 1 to {}", settings.public_rows, most_public_rows));
  const bool given = settings.center == PrivateCenter::given;
  require(given == (settings.mean.size() > 0),
          given ? "center = given: needs the mean" : "mean: is given, but `dp-center` is not given");
  require(settings.mean.allFinite() && (settings.mean.size() == 0 || settings.mean.cwiseAbs().maxCoeff() <= 1e150),
          "mean: must be finite, and at most 1e150");
  require(settings.center != PrivateCenter::dp_mean || settings.public_rows > 0,
          "center = dp-mean: divides a sum by the number of rows, which must be public; give `public-rows`");
}

ReleasePlan plan_release(const PrivacySettings& settings, Index features) {
  check(settings);
  require(features >= 1, fmt::format("features = {}: must be at least 1", features));
  const double share = settings.center == PrivateCenter::dp_mean ? mean_share : 0.0;
  ReleasePlan plan{.mu = gaussian_mu(settings.budget)};
  plan.matrix_mu = plan.mu * std::sqrt(1 - share) * shrink;
  plan.mean_mu = plan.mu * std::sqrt(share) * shrink;
  const Grid matrix = grid(plan.matrix_mu, moved(settings.neighbours), matrix_bits, 2);
  plan.scale = matrix.scale;
  plan.radius = matrix.radius;
  plan.unit = unit_of(settings.row_norm, plan.radius, features);
  plan.sigma = std::ldexp(plan.unit * plan.unit, plan.scale);
  if (share == 0) return plan;
  const Grid mean = grid(plan.mean_mu, moved_sum(settings.neighbours), mean_bits, 1);
  plan.mean_scale = mean.scale;
  plan.mean_radius = mean.radius;
  plan.mean_unit = unit_of(settings.row_norm, plan.mean_radius, features);
  plan.mean_sigma = std::ldexp(plan.mean_unit, plan.mean_scale);
  return plan;
}

PrivateCovariance::PrivateCovariance(RowSource<double>& rows, const PrivacySettings& settings, const SecretWords& words)
    : plan_(plan_release(settings, rows.cols())), mean_(Vector<double>::Zero(rows.cols())) {
  const Index d = rows.cols();
  require_memory(static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(d), 4 * sizeof(double),
                 "a private covariance");
  require(settings.center != PrivateCenter::given || settings.mean.size() == d,
          fmt::format("mean: has {} numbers, and must have {}, as the rows have", settings.mean.size(), d));
  ExactNormals normals(words);
  if (settings.center == PrivateCenter::given) mean_ = settings.mean;
  if (settings.center == PrivateCenter::dp_mean) release_mean(rows, settings, normals);
  release_matrix(rows, settings, normals);
}

void PrivateCovariance::release_mean(RowSource<double>& rows, const PrivacySettings& settings, ExactNormals& normals) {
  const Index d = rows.cols();
  IntegerRows integers(rows, mean_, settings.row_norm, plan_.mean_unit, plan_.mean_radius);
  IntegerSums sums(d);
  while (integers.next())
    for (Index j = 0; j < d; ++j) sums.add(j, integers.rows().col(j).sum());
  const double n = static_cast<double>(settings.public_rows);
  for (Index j = 0; j < d; ++j)
    mean_(j) = as_real(sums[j] + static_cast<std::uint64_t>(normals.next(plan_.mean_scale))) * plan_.mean_unit / n;
}

// Noise N of its own for each of the d^2 entries makes C + N private, and its symmetric part after it: that is where
// E's diagonal gets sigma and the rest sigma / sqrt(2).
void PrivateCovariance::release_matrix(RowSource<double>& rows, const PrivacySettings& settings,
                                       ExactNormals& normals) {
  const Index d = rows.cols();
  IntegerSums sums(d * d);
  {
    IntegerRows integers(rows, mean_, settings.row_norm, plan_.unit, plan_.radius);
    while (integers.next()) {
      Small<double> products = gram<double>(ConstBlockView<double>(integers.rows()));
      for (Index j = 0; j < d; ++j)
        for (Index i = 0; i <= j; ++i) sums.add(i + d * j, products(i, j));
      Wiped<Small<double>>::wipe(products);
    }
  }
  matrix_.resize(d, d);
  const double half_square = plan_.unit * plan_.unit / 2;
  const auto noise = [&] { return static_cast<std::uint64_t>(normals.next(plan_.scale)); };
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < j; ++i) {
      const std::uint64_t both = 2 * sums[i + d * j] + noise() + noise();
      matrix_(i, j) = matrix_(j, i) = half_square * as_real(both);
    }
    matrix_(j, j) = 2 * half_square * as_real(sums[j + d * j] + noise());
  }
}

void PrivateCovariance::apply(ConstBlockView<double> X, BlockView<double> Y) const {
  multiply<double>(borrow(matrix_), X, Y);
}

OperatorFacts PrivateCovariance::facts() const {
  const double d = static_cast<double>(dim());
  return {.exact = true, .multiply_adds = d * d};
}

}  // namespace hearsay
