// Method      The leading subspace of A'A or AA', the smaller of the two, by whichever solver suits; then A V, its QR,
//             and the singular values of the triangle (triples.hpp).
// References  Weyl (1912) for the singular values, Davis and Kahan (1970) for the subspaces; docs/algorithms/svd.md.
// Legend      A  m x n | N  A'A or AA', divided by `divisor` | s_i  what is returned | sigma_i  the truth
//             E  A'U - V S, with A V = U S | rho  what rounding does to a block of k products
#include "hearsay/solve_svd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>

#include "hearsay/error.hpp"
#include "hearsay/operators/compose.hpp"
#include "hearsay/operators/covariance.hpp"
#include "hearsay/operators/gram.hpp"
#include "linalg/row_chunks.hpp"
#include "solve/on_engines.hpp"
#include "solve/rounded.hpp"
#include "solve/seconds.hpp"
#include "solve/svd_size.hpp"
#include "solve/triples.hpp"

namespace hearsay {

using detail::exponent_of;
using detail::HalfProducts;
using detail::require_not_empty;
using detail::scaled;
using detail::Size;
using detail::size_of;
using detail::Triples;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN(),
                 endless = std::numeric_limits<double>::infinity();

// A residual of a singular triple, relative to its own value and so many times the tolerance, is worth another half
// product. Where singular values lie within a hundred times of each other it never is.
constexpr double sharpen_above = 1e4;

// ---- The matrix, however it is known

// N and the products that it is made of.
template <class S>
class Rectangle {
 public:
  virtual ~Rectangle() = default;
  virtual OperatorRef<S> normal() const = 0;  ///< N
  virtual HalfProducts<S> products() const = 0;
  virtual double divisor() const { return 1; }
  virtual bool formed() const { return false; }
  virtual Solution<S> solved(const Request& request) const { return solve<S>(normal(), request); }
};

template <class S>
class DenseRectangle : public Rectangle<S> {
 public:
  DenseRectangle(const BorrowedBlock<S>& A, bool by_rows, bool form_at_once = true)
      : rows_(A.rows()),
        cols_(A.cols()),
        N_(A, {.center = false, .by_samples = by_rows, .form_at_once = form_at_once}) {}
  OperatorRef<S> normal() const override { return N_; }
  HalfProducts<S> products() const override {
    return {rows_, cols_, [this](ConstBlockView<S> X, BlockView<S> out) { N_.scores(X, out); },
            [this](ConstBlockView<S> U, BlockView<S> out) { N_.to_features(U, out); }};
  }
  double divisor() const override { return N_.divisor(); }
  bool formed() const override { return N_.formed(); }

 private:
  Index rows_, cols_;
  DenseCovariance<S> N_;
};

// N on an engine, which wants columns no more than rows; the half products are made here.
template <class S>
class RectangleOnEngine : public DenseRectangle<S> {
 public:
  RectangleOnEngine(const BorrowedBlock<S>& A, bool by_rows)
      : DenseRectangle<S>(A, by_rows, false), A_(A), by_rows_(by_rows) {}
  double divisor() const override { return static_cast<double>(by_rows_ ? A_.cols() : A_.rows()); }
  Solution<S> solved(const Request& request) const override {
    Block<S> transposed;
    if (by_rows_) transposed = A_.transpose();
    const auto N = request.engines->covariance(by_rows_ ? borrow(transposed) : A_, false);
    return detail::in_precision_of<S>(detail::climb_on(*N.engine, request));
  }

 private:
  const BorrowedBlock<S>& A_;
  bool by_rows_;
};

template <class S>
class SparseRectangle : public Rectangle<S> {
 public:
  SparseRectangle(const CsrView<S>& A, bool by_rows, bool = true) : rows_(A.rows), cols_(A.cols), N_(A, by_rows) {}
  OperatorRef<S> normal() const override { return N_; }
  HalfProducts<S> products() const override {
    return {rows_, cols_, [this](ConstBlockView<S> X, BlockView<S> out) { N_.multiply(X, out); },
            [this](ConstBlockView<S> U, BlockView<S> out) { N_.multiply_transposed(U, out); }};
  }

 private:
  Index rows_, cols_;
  SparseGram<S> N_;
};

// Products of the caller's own, of which nobody knows how exact they are.
template <class S>
class FunctionRectangle : public Rectangle<S> {
 public:
  FunctionRectangle(const RectangularFunctions<S>& A, bool by_rows)
      : A_(A),
        N_(
            by_rows ? A.rows : A.cols, [this, by_rows](ConstBlockView<S> X, BlockView<S> Y) { apply(by_rows, X, Y); },
            OperatorFacts{.positive_semidefinite = true}) {}
  FunctionRectangle(const FunctionRectangle&) = delete;  // N_ points into it
  FunctionRectangle& operator=(const FunctionRectangle&) = delete;
  OperatorRef<S> normal() const override { return N_; }
  HalfProducts<S> products() const override { return {A_.rows, A_.cols, A_.multiply, A_.multiply_transposed}; }

 private:
  void apply(bool by_rows, ConstBlockView<S> X, BlockView<S> Y) const {
    Block<S> between(by_rows ? A_.cols : A_.rows, X.cols());
    by_rows ? A_.multiply_transposed(X, between) : A_.multiply(X, between);
    by_rows ? A_.multiply(between, Y) : A_.multiply_transposed(between, Y);
  }

  const RectangularFunctions<S>& A_;
  CallbackOperator<S> N_;
};

template <class S>
Index rows_of(const BorrowedBlock<S>& A) {
  return A.rows();
}
template <class S>
Index cols_of(const BorrowedBlock<S>& A) {
  return A.cols();
}
template <class S>
Index rows_of(const CsrView<S>& A) {
  return A.rows;
}
template <class S>
Index cols_of(const CsrView<S>& A) {
  return A.cols;
}

template <class S>
DenseRectangle<S> rectangle(const BorrowedBlock<S>& A, bool by_rows, bool form_at_once = true) {
  return {A, by_rows, form_at_once};
}
template <class S>
SparseRectangle<S> rectangle(const CsrView<S>& A, bool by_rows, bool = true) {
  return {A, by_rows};
}

// ---- What may be said

// Of k products in the arithmetic S, and of the small decomposition after them: Frobenius norm, in the unit of A.
template <class S>
double rounding_of(const Size& size, Index k) {
  const double small = static_cast<double>(k + 10) * size.frobenius;  // QR, rotations
  return 0.5 * std::numeric_limits<S>::epsilon() * std::sqrt(static_cast<double>(k)) * (size.rounded + small);
}

// A square of a singular value, as the solver has it, in the unit of singular values.
double root(double eigenvalue, double divisor) { return std::sqrt(std::max(0.0, eigenvalue * divisor)); }

// sigma_i <= max(s_i, sqrt(nu)) + ||E||, by Weyl: nu bounds N beside the right vectors where it is proved that at most
// q <= k of its eigenvalues lie above x. One more of them would push down those of the first q Ritz values.
Vector<double> errors_by_count(const Certificate& certificate, const Vector<double>& s, const Vector<double>& e,
                               double rounding) {
  const Index k = s.size(), q = certificate.nothing_missed_count;
  const double x = certificate.nothing_missed_above;  // in the unit of singular values
  Vector<double> errors = Vector<double>::Constant(k, endless);
  if (certificate.nothing_missed != Knowledge::bound || q > k || !std::isfinite(x)) return errors;
  double nu = x * x;
  for (Index i = 0; i < q; ++i) {
    const double gap = s(i) * s(i) - x * x;
    if (!(gap > 0)) return errors;
    nu += s(i) * e(i) * s(i) * e(i) / gap;
  }
  const double reach = e.norm() + 2 * rounding;
  for (Index i = 0; i < k; ++i) errors(i) = std::max(0.0, std::sqrt(nu) - s(i)) + reach;
  return errors;
}

// sigma_i <= s_i / cos(theta): no vector of the true subspace loses more than that to the one that was found.
Vector<double> errors_by_sine(double sine, const Vector<double>& s, double rounding) {
  if (!(sine < 1)) return Vector<double>::Constant(s.size(), endless);
  const double secant = 1 / std::sqrt((1 - sine) * (1 + sine));
  return ((s.array() + rounding) * secant - s.array()).max(rounding);
}

template <class S>
void say_errors(const Vector<double>& e, SvdResult<S>& result) {
  const Vector<double> s = result.singular_values.template cast<double>();
  const Certificate& certificate = result.certificate;
  Vector<double> errors = errors_by_count(certificate, s, e, result.rounding);
  if (certificate.sin_theta == Knowledge::bound)
    errors = errors.cwiseMin(errors_by_sine(certificate.sin_theta_bound, s, result.rounding));
  result.errors_are = Knowledge::bound;
  if (!errors.allFinite() && certificate.sin_theta != Knowledge::unknown) {
    errors = errors_by_sine(certificate.sin_theta_estimate, s, result.rounding);
    result.errors_are = Knowledge::estimate;
  }
  if (!errors.allFinite()) result.errors_are = Knowledge::unknown;
  result.errors = errors;
}

// From squares to singular values: what is said stays true, and is weaker where the square says more.
template <class S>
void in_singular_values(double divisor, double rounding_alone, SvdResult<S>& result) {
  const Index k = result.singular_values.size();
  const auto s_1 = static_cast<double>(result.singular_values(0)),
             s_k = static_cast<double>(result.singular_values(k - 1));
  Certificate& certificate = result.certificate;
  // in single precision the matrix itself was rounded, too
  certificate.nothing_missed_above = root(certificate.nothing_missed_above, divisor) + result.rounding;
  if (certificate.level != Certify::none) {
    certificate.residual = result.within;
    certificate.rounding = result.rounding;
  }
  certificate.frobenius_norm = result.frobenius_norm;
  if (std::isfinite(result.gap)) {
    const double below = root(s_k * s_k / divisor - result.gap, divisor);
    result.gap = s_k - below;
  }
  // The other side is made of this one by a product, and each half product adds its rounding.
  const auto halves = static_cast<double>(result.sharpened + 1);
  const double lost = s_k > 0 ? halves * result.rounding / s_k : endless;
  const double seen = s_k > 0 ? halves * rounding_alone / s_k : endless;
  certificate.sin_theta_bound += lost;
  certificate.sin_theta_estimate = std::min(1.0, certificate.sin_theta_estimate + seen);  // NaN stays
  result.sin_theta_estimate = std::min(1.0, result.sin_theta_estimate + seen);
  if (certificate.sin_theta_bound < 1) {
    certificate.sin_theta_estimate = std::fmin(certificate.sin_theta_estimate, certificate.sin_theta_bound);
    result.sin_theta_estimate = std::fmin(result.sin_theta_estimate, certificate.sin_theta_bound);
  } else {
    certificate.sin_theta_bound = endless;
    if (certificate.sin_theta == Knowledge::bound)
      certificate.sin_theta = certificate.sin_theta_estimate < 1 ? Knowledge::estimate : Knowledge::unknown;
  }
  if (!(certificate.sin_theta_estimate < 1) && certificate.sin_theta == Knowledge::estimate)
    certificate.sin_theta = Knowledge::unknown;
  if (!certificate.cluster) return;
  // |a - b| <= |a^2 - b^2| / a, and <= sqrt(|a^2 - b^2|)
  Cluster& cluster = *certificate.cluster;
  const auto first = static_cast<double>(result.singular_values(std::min(cluster.first, k) - 1));
  const double by_root = std::sqrt(std::max(0.0, cluster.spread));
  cluster.spread = std::isnan(cluster.spread) ? no_number
                   : first > 0                ? std::min(by_root, cluster.spread * s_1 / first)
                                              : by_root;
}

// Vectors of singular values that cannot be told from zero: any that are orthonormal do as well, unless they are all
// that there are.
template <class S>
void say_what_is_not_defined(Index m, Index n, SvdResult<S>& result) {
  const Index k = result.singular_values.size();
  result.resolved = 0;
  while (result.resolved<k&& static_cast<double>(result.singular_values(result.resolved))> result.rounding)
    ++result.resolved;
  if (result.resolved == k) return;
  result.notes.push_back(fmt::format(
      "{} of the {} singular values cannot be told from zero, which {:.2g} of rounding allows; their vectors are "
      "orthonormal, and any others would do as well",
      k - result.resolved, k, result.rounding));
  if (k == m && k == n) return;  // the whole space on either side
  result.certificate.sin_theta = Knowledge::unknown;
  result.certificate.sin_theta_bound = endless;
  result.certificate.sin_theta_estimate = no_number;
  result.sin_theta_estimate = 1;
  if (result.status != Status::converged && result.status != Status::rounding_floor) return;
  result.status = Status::ambiguous;
  const auto s_1 = static_cast<double>(result.singular_values(0));
  if (!result.certificate.cluster && result.certificate.level != Certify::none)
    result.certificate.cluster =
        Cluster{.first = result.resolved + 1, .last = k, .spread = s_1 > 0 ? 2 * result.rounding / s_1 : 0};
}

// `converged` once more, with the residual and the sine of what is returned.
template <class S>
void hold_to_its_word(const PowerOptions& options, SvdResult<S>& result) {
  if (result.status != Status::converged) return;
  const double tolerance = tolerance_of<S>(options);
  const bool sharp = !options.accuracy || result.sin_theta_estimate <= *options.accuracy ||
                     result.certificate.sin_theta_bound <= *options.accuracy;
  if (result.residual <= tolerance * (1 + 1e-6) && sharp) return;
  result.status = Status::rounding_floor;
}

// ---- The solve

void require_fit_for_svd(const Request& request, Index m, Index n) {
  const SolveSettings& asked = request.settings;
  const auto refuse = [](bool wrong, std::string_view what) {
    require(!wrong, fmt::format("{}: is for symmetric matrices; singular values take none", what));
  };
  refuse(request.reference.has_value(), "reference");
  refuse(request.audit.has_value(), "audit");
  refuse(request.noise.has_value() || asked.noise.kind != NoiseChoice::Kind::none, "noise");
  require(
      asked.power.rank >= 1 && asked.power.rank <= std::min(m, n),
      fmt::format("rank = {}: must lie in [1, {}], the lesser of rows and columns", asked.power.rank, std::min(m, n)));
  require(!request.start || request.start->rows() == n,
          fmt::format("start block of {} rows: must have {}, as the matrix has columns",
                      request.start ? request.start->rows() : 0, n));
}

// The request for N: a start of right vectors goes to the rows' side where that is solved.
template <class S>
Request for_normal(const Request& request, const Size& size, const HalfProducts<S>& A) {
  Request made = request;
  if (!request.start || !size.by_rows()) return made;
  const Block<S> V = request.start->cast<S>();
  Block<S> U(size.m, V.cols());
  A.multiply(V, U);
  made.start = Block<double>(U.template cast<double>());
  return made;
}

// The answer of N, and what it says of A.
template <class S>
SvdResult<S> from_normal(PowerResult<S> power, const Rectangle<S>& A, const Size& size, const PowerOptions& options) {
  SvdResult<S> result;
  static_cast<PowerFacts&>(result) = std::move(static_cast<PowerFacts&>(power));
  const Index k = power.basis.cols();
  result.rounding = rounding_of<S>(size, k);
  result.frobenius_norm = size.frobenius;
  result.by_rows = size.by_rows();
  result.formed = A.formed();
  Triples<S> triples =
      detail::triples_from<S>(std::move(power.basis), size.by_rows(), A.products(),
                              {.residual = sharpen_above * tolerance_of<S>(options), .rounding = result.rounding});
  const Vector<double> s = triples.values.template cast<double>();
  const bool noisy = result.method == SolveMethod::averaged || result.status == Status::noise_floor;
  if (!noisy && !(triples.mismatch <= std::sqrt(std::numeric_limits<S>::epsilon()) * s(0) + 4 * result.rounding))
    throw DataError(
        fmt::format("matrix: products with its transpose do not belong to those with it: they differ by {:.2g}, and "
                    "its largest singular value seems to be {:.2g}",
                    triples.mismatch, s(0)));
  result.left = std::move(triples.left);
  result.right = std::move(triples.right);
  result.singular_values = std::move(triples.values);
  result.sharpened = triples.half_products - 2;
  result.products += (triples.half_products * k + 1) / 2;
  result.passes += (triples.half_products + 1) / 2;
  result.workspace_bytes += static_cast<std::int64_t>(sizeof(S)) * 2 * k * (size.m + size.n);
  const double squares = s.cwiseAbs2().norm(), of_N = s.cwiseProduct(triples.residuals).norm();
  result.residual = squares > 0 ? of_N / std::hypot(squares, of_N) : 0;
  result.within = triples.residuals.norm() + 2 * result.rounding;
  const double rounding_alone = std::numeric_limits<S>::epsilon() * size.frobenius;
  in_singular_values<S>(A.divisor(), rounding_alone, result);
  say_errors<S>(triples.residuals, result);
  say_what_is_not_defined<S>(size.m, size.n, result);
  hold_to_its_word<S>(options, result);
  if (noisy) {  // what is said of rounding says nothing of noise
    result.errors_are = Knowledge::unknown;
    result.errors.setConstant(endless);
    result.rounding = result.within = endless;
  }
  return result;
}

// In the unit of A itself, where that can hold the singular values.
template <class S>
void take_back_scale(int exponent, SvdResult<S>& result) {
  if (exponent == 0) return;
  const auto largest = std::ldexp(result.singular_values(0), exponent);
  if (!std::isfinite(largest) || (result.singular_values(0) > 0 && !(largest >= std::numeric_limits<S>::min()))) {
    result.exponent = exponent;
    result.notes.push_back(fmt::format(
        "the singular values lie outside the range of the number type: they are given divided by 2^{}", exponent));
    return;
  }
  const auto back = [exponent](auto value) { return std::ldexp(value, exponent); };
  result.singular_values = result.singular_values.unaryExpr(back).eval();
  result.errors = result.errors.unaryExpr(back).eval();
  Certificate& certificate = result.certificate;
  for (double* value : {&result.frobenius_norm, &result.rounding, &result.within, &result.gap, &certificate.residual,
                        &certificate.rounding, &certificate.frobenius_norm, &certificate.nothing_missed_above})
    *value = back(*value);
}

template <class S>
SvdSolution<S> solve_rectangle(const Rectangle<S>& A, const Size& size, const Request& request) {
  const auto begin = std::chrono::steady_clock::now();
  const Request normal = for_normal<S>(request, size, A.products());
  Solution<S> solved = A.solved(normal);
  SvdSolution<S> solution{.svd = from_normal<S>(std::move(solved.power), A, size, request.settings.power),
                          .climb = std::move(solved.climb)};
  solution.seconds = detail::seconds_since(begin);
  return solution;
}

// Products in single precision first, then in double.
SvdSolution<double> in_both(const auto& A, const Size& size, const Request& request) {
  const auto whole = rectangle<double>(A, size.by_rows(), false);  // one product may do
  const auto single = detail::rounded(A);
  const auto rough = rectangle<float>(borrow(single), size.by_rows());
  const Request normal = for_normal<double>(request, size, whole.products());
  Solution<double> solved = solve_mixed(rough.normal(), whole.normal(), normal);
  return {.svd = from_normal<double>(std::move(solved.power), whole, size, request.settings.power)};
}

template <class S, class Matrix>
SvdSolution<S> in_range(const Matrix& A, const Size& size, const Request& request) {
  if constexpr (std::is_same_v<S, double>) {
    if (request.settings.precision == Precision::mixed && request.engines == nullptr) return in_both(A, size, request);
  }
  require(request.settings.precision != Precision::mixed, "precision = mixed: needs data in double precision");
  if constexpr (requires { A.outerStride(); }) {
    if (request.engines != nullptr)
      return solve_rectangle<S>(RectangleOnEngine<S>(A, size.by_rows()), size, detail::with_accuracy(request));
  }
  detail::require_no_engines(request, "sparse matrices");
  return solve_rectangle<S>(rectangle<S>(A, size.by_rows()), size, request);
}

SvdSolution<double> in_double(SvdSolution<float> solution) {
  SvdResult<float>& svd = solution.svd;
  return {.svd = {std::move(static_cast<SvdFacts&>(svd)), svd.left.cast<double>(), svd.singular_values.cast<double>(),
                  svd.right.cast<double>()},
          .seconds = solution.seconds};
}

template <class S, class Matrix>
SvdSolution<S> solve_held(const Matrix& A, const Request& request) {
  require_not_empty(rows_of(A), cols_of(A));
  require_fit_for_svd(request, rows_of(A), cols_of(A));
  const auto begin = std::chrono::steady_clock::now();
  const int exponent = exponent_of<S>(A);
  if constexpr (std::is_same_v<S, double>) {
    if (request.settings.precision == Precision::single && request.engines == nullptr)
      return in_double(solve_held<float>(borrow(detail::rounded(A)), request));
  }
  SvdSolution<S> solution;
  if (exponent == 0) {
    solution = in_range<S>(A, size_of<S>(A), request);
  } else {
    const auto copy = scaled<S>(A, exponent);
    solution = in_range<S>(borrow(copy), size_of<S>(borrow(copy)), request);
    take_back_scale<S>(exponent, solution.svd);
  }
  solution.seconds = detail::seconds_since(begin);
  return solution;
}

}  // namespace

template <class S>
SvdSolution<S> solve_svd(const BorrowedBlock<S>& A, const Request& request) {
  return solve_held<S>(A, request);
}

template <class S>
SvdSolution<S> solve_svd(const CsrView<S>& A, const Request& request) {
  return solve_held<S>(A, request);
}

template <class S>
SvdSolution<S> solve_svd(const RectangularFunctions<S>& A, const Request& request) {
  require_not_empty(A.rows, A.cols);
  require_fit_for_svd(request, A.rows, A.cols);
  require(request.settings.precision != Precision::mixed, "precision = mixed: needs a matrix that is held in memory");
  detail::require_no_engines(request, "functions");
  const Size size = size_of<S>(A, request.settings.power.seed);
  return solve_rectangle<S>(FunctionRectangle<S>(A, size.by_rows()), size, request);
}

#define HEARSAY_INSTANTIATE(S)                                                   \
  template SvdSolution<S> solve_svd<S>(const BorrowedBlock<S>&, const Request&); \
  template SvdSolution<S> solve_svd<S>(const CsrView<S>&, const Request&);       \
  template SvdSolution<S> solve_svd<S>(const RectangularFunctions<S>&, const Request&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay
