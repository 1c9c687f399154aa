// A symmetric gaussian matrix, drawn one direction after the other.
//
//   y_t = sum r w_t + floor(N) + sum_{j <= t} z_j floor(G_j)      (integers, modulo 2^64)
//
// Legend      q_t  the t-th direction, a unit vector orthogonal to those before | z_t  2^b q_t, rounded
//             r    a row as integers | w_t = round(2^-b r'z_t)
//             N    normal, of deviation s along every axis; z_t G_t of deviation s too, so that q_t has sigma = sqrt(2)
//             s z_j G_j, j < t: 2^6 to 2^10 s, under which y_t tells next to nothing of the directions before
//
// Along those (C + E) q_t follows from symmetry. docs/algorithms/private.md has the proof that this costs what the
// release of the whole matrix does.
#include "hearsay/private_products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/private_noise.hpp"
#include "hearsay/private_sums.hpp"
#include "operators/rows_in_memory.hpp"
#include "privacy/integer_products.hpp"

namespace hearsay {

namespace {

constexpr int most_direction_bits = 26;              // inner products of directions are then exact in a double
constexpr int smoothness = 10;                       // noise is 2^10 times as wide as what it is made of is coarse
constexpr int most_hiding = 10, word_bits = 62 - 9;  // as much noise along earlier directions as words have room for
constexpr Index most_directions = 8192;
constexpr double most_skew = 0x1p-14;     // of directions as integers: ||Z'Z 2^-2b - I||_F
constexpr double least_direction = 1e-8;  // of a column, what is left of it beside the directions before
constexpr Index directions_at_once = 64;  // so much room a reading of the rows takes
constexpr Index small_block = 1 << 16;

Block<double> as_integers(const Block<double>& Q, int bits) { return (Q.array() * std::ldexp(1.0, bits)).round(); }

Block<double> times(const Block<double>& Q, const Small<double>& M) {
  Block<double> product(Q.rows(), M.cols());
  multiply<double>(ConstBlockView<double>(Q), M, product);
  return product;
}

Vector<double> given_or_zero(const PrivacySettings& settings, Index d) {
  require(settings.center != PrivateCenter::given || settings.mean.size() == d,
          fmt::format("mean: has {} numbers, and must have {}, as the rows have", settings.mean.size(), d));
  return settings.center == PrivateCenter::given ? settings.mean : Vector<double>(Vector<double>::Zero(d));
}

Block<double> in_units(const PrivateWords& words, double square, Index d, Index p) {
  Block<double> Y(d, p);
  for (Index i = 0; i < d; ++i)
    for (Index t = 0; t < p; ++t) Y(i, t) = square * static_cast<double>(static_cast<std::int64_t>(words[i * p + t]));
  return Y;
}

}  // namespace

namespace privacy {

// The rows, the mean that is released of them, and what both forms draw their noise from.
struct PrivateRows {
  ReleasePlan plan;
  Vector<double> mean;
  ExactNormals normals;
  std::optional<detail::SparseRows> sparse = {};
  std::unique_ptr<IntegerProducts> rows = {};

  PrivateRows(const ReleasePlan& planned, const PrivacySettings& settings, Index d, const SecretWords& words)
      : plan(planned), mean(given_or_zero(settings, d)), normals(words) {}

  void open(RowSource<double>& source, const PrivacySettings& settings, const SecretWords& words) {
    release_mean(source, settings);
    rows = products_of_stream(source, mean, settings, plan, words);
  }
  void open(const CsrView<double>& source, const PrivacySettings& settings, const SecretWords& words) {
    sparse.emplace(source);
    if (settings.center != PrivateCenter::none) return open(*sparse, settings, words);
    rows = products_of_sparse(source, settings, plan);
  }

 private:
  void release_mean(RowSource<double>& source, const PrivacySettings& settings) {
    if (settings.center == PrivateCenter::dp_mean)
      mean = mean_from(noisy_sum_of_rows(source, settings, plan, normals), plan, settings.public_rows);
  }
};

}  // namespace privacy

struct LazyPrivateCovariance::Asked : privacy::PrivateRows {
  struct Piece {
    Block<double> Q, AQ;  // directions, and C + E times them
  };

  std::vector<Piece> pieces = {};
  Index asked = 0;
  double skew = 0;       // squared
  Small<double> H = {};  // directions' (C + E) directions, so far

  Asked(const PrivacySettings& settings, Index d, const SecretWords& words)
      : PrivateRows(plan_products(settings, d), settings, d, words) {}

  int hiding() const { return std::min(most_hiding, word_bits - plan.scale); }
  int direction_bits() const { return std::min(most_direction_bits, plan.scale - smoothness); }

  // X less what of it lies along the directions so far, twice, so that rounding leaves nothing.
  Block<double> beside(Block<double> X) const {
    for (int i = 0; i < 2; ++i)
      for (const Piece& piece : pieces) X -= times(piece.Q, gram<double>(piece.Q, X));
    return X;
  }

  std::vector<Vector<double>> new_directions(ConstBlockView<double> X) const;
  void ask_about(ConstBlockView<double> X);
  void ask(const Block<double>& Q);
  void require_grid(const Block<double>& Z);
  void add_noise(PrivateWords& words, const Block<double>& Z);
  void complete(const Block<double>& Q, Block<double>& Y) const;
};

// Z' Z of integers below 2^53 is exact, so that this is no estimate.
void LazyPrivateCovariance::Asked::require_grid(const Block<double>& Z) {
  const double unit = std::ldexp(1.0, -2 * direction_bits());
  Small<double> own = gram<double>(ConstBlockView<double>(Z)) * unit;
  own.diagonal().array() -= 1;
  skew += own.squaredNorm();
  for (const Piece& piece : pieces)
    skew += 2 * (gram<double>(as_integers(piece.Q, direction_bits()), Z) * unit).squaredNorm();
  if (asked + Z.cols() > most_directions || !(skew <= most_skew * most_skew))
    throw Error(fmt::format("private products: {} directions are asked for, more than can be told apart at this budget",
                            asked + Z.cols()));
}

// What is made here is overwritten when it goes: noise taken off again would show rows.
void LazyPrivateCovariance::Asked::add_noise(PrivateWords& words, const Block<double>& Z) {
  const Index d = Z.rows(), p = Z.cols();
  const int along = plan.scale - direction_bits();
  const auto integer = [](double z) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(z)); };
  for (Index i = 0; i < d * p; ++i) words[i] += static_cast<std::uint64_t>(normals.next(plan.scale));
  PrivateWords G(static_cast<std::size_t>(p * p));  // G_jt: of z_j in the words of t
  for (Index j = 0; j < p; ++j)
    for (Index t = j; t < p; ++t)
      G[j * p + t] = static_cast<std::uint64_t>(normals.next(j == t ? along : along + hiding()));
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < p; ++j)
      for (Index t = j; t < p; ++t) words[i * p + t] += integer(Z(i, j)) * G[j * p + t];
  for (const Piece& piece : pieces) {
    const Block<double> before = as_integers(piece.Q, direction_bits());
    PrivateWords hiding_numbers(static_cast<std::size_t>(before.cols() * p));
    for (Index i = 0; i < before.cols() * p; ++i)
      hiding_numbers[i] = static_cast<std::uint64_t>(normals.next(along + hiding()));
    for (Index i = 0; i < d; ++i)
      for (Index j = 0; j < before.cols(); ++j)
        for (Index t = 0; t < p; ++t) words[i * p + t] += integer(before(i, j)) * hiding_numbers[j * p + t];
  }
}

// From here on all is public.
void LazyPrivateCovariance::Asked::complete(const Block<double>& Q, Block<double>& Y) const {
  Y = beside(std::move(Y));
  for (const Piece& piece : pieces) Y += times(piece.Q, gram<double>(piece.AQ, Q));
  for (Index t = 0; t < Q.cols(); ++t) {
    for (int i = 0; i < 2; ++i)
      for (Index j = 0; j < t; ++j) Y.col(t) -= Q.col(j) * Q.col(j).dot(Y.col(t));
    for (Index j = 0; j < t; ++j) Y.col(t) += Q.col(j) * Q.col(t).dot(Y.col(j));
  }
}

void LazyPrivateCovariance::Asked::ask(const Block<double>& Q) {
  const Index d = Q.rows(), p = Q.cols();
  if (d * p > small_block)  // the system is not asked for every little one
    require_memory(static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(p), 6 * sizeof(double),
                   "products with a private covariance");
  const Block<double> Z = as_integers(Q, direction_bits());
  require_grid(Z);
  PrivateWords words = rows->sums(Z, direction_bits());
  add_noise(words, Z);
  Block<double> Y = in_units(words, plan.unit * plan.unit, d, p);
  complete(Q, Y);
  pieces.push_back({Q, std::move(Y)});
  asked += p;
  H.conservativeResize(asked, asked);
  Index i = 0;
  for (const Piece& piece : pieces) {
    const Small<double> meet = gram<double>(piece.Q, pieces.back().AQ);
    H.block(i, asked - p, meet.rows(), p) = meet;
    H.block(asked - p, i, p, meet.rows()) = meet.transpose();
    i += meet.rows();
  }
}

std::vector<Vector<double>> LazyPrivateCovariance::Asked::new_directions(ConstBlockView<double> X) const {
  const Block<double> rest = beside(X);
  std::vector<Vector<double>> found;
  for (Index j = 0; j < X.cols(); ++j) {
    Vector<double> q = rest.col(j);
    const double whole = X.col(j).norm();
    for (int i = 0; i < 2; ++i)
      for (const Vector<double>& other : found) q -= other * other.dot(q);
    const double left = q.norm();
    if (!(left > least_direction * whole)) continue;
    q /= left;  // once more beside the rest, for what was small before is not exactly orthogonal now
    for (const Vector<double>& other : found) q -= other * other.dot(q);
    for (const Piece& piece : pieces) q -= piece.Q * (piece.Q.transpose() * q);
    found.push_back(q / q.norm());
  }
  return found;
}

void LazyPrivateCovariance::Asked::ask_about(ConstBlockView<double> X) {
  const std::vector<Vector<double>> found = new_directions(X);
  const auto count = static_cast<Index>(found.size());
  for (Index first = 0; first < count; first += directions_at_once) {
    Block<double> Q(X.rows(), std::min(directions_at_once, count - first));
    for (Index j = 0; j < Q.cols(); ++j) Q.col(j) = found[static_cast<std::size_t>(first + j)];
    ask(Q);
  }
}

LazyPrivateCovariance::LazyPrivateCovariance(RowSource<double>& rows, const PrivacySettings& settings,
                                             const SecretWords& words)
    : asked_(std::make_unique<Asked>(settings, rows.cols(), words)) {
  asked_->open(rows, settings, words);
}

LazyPrivateCovariance::LazyPrivateCovariance(const CsrView<double>& rows, const PrivacySettings& settings,
                                             const SecretWords& words)
    : asked_(std::make_unique<Asked>(settings, rows.cols, words)) {
  asked_->open(rows, settings, words);
}

LazyPrivateCovariance::LazyPrivateCovariance(LazyPrivateCovariance&&) noexcept = default;
LazyPrivateCovariance& LazyPrivateCovariance::operator=(LazyPrivateCovariance&&) noexcept = default;
LazyPrivateCovariance::~LazyPrivateCovariance() = default;

Index LazyPrivateCovariance::dim() const { return asked_->mean.size(); }

OperatorFacts LazyPrivateCovariance::facts() const { return {.exact = true}; }

void LazyPrivateCovariance::apply(ConstBlockView<double> X, BlockView<double> Y) const {
  ask(X);
  Y.setZero();
  for (const Asked::Piece& piece : asked_->pieces) Y += times(piece.AQ, gram<double>(piece.Q, X));
}

void LazyPrivateCovariance::ask(ConstBlockView<double> X) const {
  require(X.rows() == dim() && X.allFinite(),
          "private products: a block must be finite, with as many rows as features");
  asked_->ask_about(X);
}

Index LazyPrivateCovariance::asked() const { return asked_->asked; }

PrivateRitz LazyPrivateCovariance::leading(Index k) const {
  const Index m = asked();
  require(k >= 1 && k <= m, fmt::format("rank = {}: must lie in [1, {}], the directions asked for", k, m));
  const SmallEigen<double> eigen = symmetric_eigen<double>(asked_->H);
  PrivateRitz found{.values = eigen.values};
  found.basis = found.residual = Block<double>::Zero(dim(), k);
  Index i = 0;
  for (const Asked::Piece& piece : asked_->pieces) {
    const Small<double> part = eigen.vectors.block(i, 0, piece.Q.cols(), k);
    found.basis += times(piece.Q, part);
    found.residual += times(piece.AQ, part);
    i += piece.Q.cols();
  }
  found.residual -= found.basis * eigen.values.head(k).asDiagonal();
  return found;
}

Block<double> LazyPrivateCovariance::directions() const {
  Block<double> all(dim(), asked());
  Index at = 0;
  for (const Asked::Piece& piece : asked_->pieces)
    all.middleCols(std::exchange(at, at + piece.Q.cols()), piece.Q.cols()) = piece.Q;
  return all;
}

Block<double> LazyPrivateCovariance::products() const {
  Block<double> all(dim(), asked());
  Index at = 0;
  for (const Asked::Piece& piece : asked_->pieces)
    all.middleCols(std::exchange(at, at + piece.Q.cols()), piece.Q.cols()) = piece.AQ;
  return all;
}

const Vector<double>& LazyPrivateCovariance::mean() const { return asked_->mean; }
const ReleasePlan& LazyPrivateCovariance::plan() const { return asked_->plan; }

// ---- Noise of its own for every product
// ------------------------------------------------------------------------------

struct FreshPrivateProducts::Spent : privacy::PrivateRows {
  int left = fresh_products;

  Spent(const PrivacySettings& settings, Index d, const SecretWords& words)
      : PrivateRows(plan_fresh(settings, d), settings, d, words) {}
};

FreshPrivateProducts::FreshPrivateProducts(RowSource<double>& rows, const PrivacySettings& settings,
                                           const SecretWords& words)
    : spent_(std::make_unique<Spent>(settings, rows.cols(), words)) {
  spent_->open(rows, settings, words);
}

FreshPrivateProducts::FreshPrivateProducts(const CsrView<double>& rows, const PrivacySettings& settings,
                                           const SecretWords& words)
    : spent_(std::make_unique<Spent>(settings, rows.cols, words)) {
  spent_->open(rows, settings, words);
}

FreshPrivateProducts::FreshPrivateProducts(FreshPrivateProducts&&) noexcept = default;
FreshPrivateProducts& FreshPrivateProducts::operator=(FreshPrivateProducts&&) noexcept = default;
FreshPrivateProducts::~FreshPrivateProducts() = default;

Index FreshPrivateProducts::dim() const { return spent_->mean.size(); }
int FreshPrivateProducts::left() const { return spent_->left; }
const Vector<double>& FreshPrivateProducts::mean() const { return spent_->mean; }
const ReleasePlan& FreshPrivateProducts::plan() const { return spent_->plan; }

Block<double> FreshPrivateProducts::product(const Block<double>& Q) {
  const Index d = dim(), p = Q.cols();
  require(spent_->left > 0,
          fmt::format("products = {}: are spent; each further one would be a release", fresh_products));
  require(Q.rows() == d && Q.allFinite() && p <= d,
          "private products: a block must be finite, with as many rows as features");
  const Block<double> Z = as_integers(Q, most_direction_bits);
  Small<double> skew = gram<double>(ConstBlockView<double>(Z)) * std::ldexp(1.0, -2 * most_direction_bits);
  skew.diagonal().array() -= 1;
  require(skew.norm() <= most_skew, "private products: the columns of a block must be orthonormal");
  --spent_->left;  // before a row is read
  PrivateWords words = spent_->rows->sums(Z, most_direction_bits);
  for (Index i = 0; i < d * p; ++i) words[i] += static_cast<std::uint64_t>(spent_->normals.next(spent_->plan.scale));
  return in_units(words, spent_->plan.unit * spent_->plan.unit, d, p);
}

}  // namespace hearsay
