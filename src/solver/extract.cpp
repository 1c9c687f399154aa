#include "solver/extract.hpp"

#include <algorithm>
#include <cmath>

#include "hearsay/qr.hpp"
#include "hearsay/random.hpp"
#include "linalg/large_pages.hpp"
#include "linalg/scratch.hpp"
#include "linalg/worth_threads.hpp"
#include "solver/scale.hpp"
#include "solver/tuning.hpp"

namespace hearsay::detail {

namespace {

// Rows summed together; fixed, so that the order of summation is.
constexpr Index chunk_rows = 1024;

// V = X U, and ||A v - theta v|| of each column from Y = A X, a cache's worth of rows at a time: A V is never stored.
template <class S>
void rotate_and_measure(ConstBlockView<S> X, ConstBlockView<S> Y, const Small<S>& U, Extracted<S>& out) {
  const Index d = X.rows(), columns = U.cols(), chunks = (d + chunk_rows - 1) / chunk_rows;
  Block<double> partial = Block<double>::Zero(chunks, columns);
#pragma omp parallel for schedule(static) num_threads(worth_threads(10.0 * double(d) * double(columns)))
  for (Index c = 0; c < chunks; ++c) {
    const Index first = c * chunk_rows, rows = std::min(chunk_rows, d - first);
    multiply<S>(X.middleRows(first, rows), U, out.V.middleRows(first, rows));
    Eigen::Map<Block<S>> AV(scratch<S, ScratchUse::products>(chunk_rows * columns), rows, columns);
    multiply<S>(Y.middleRows(first, rows), U, AV);
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < columns; ++j) {
        const double r = static_cast<double>(AV(i, j) - out.theta(j) * out.V(first + i, j));
        partial(c, j) += r * r;
      }
  }
  out.residuals = partial.colwise().sum().transpose().cwiseSqrt();
}

template <class S>
void sum_up(Index k, const ResidualScale& scale, Extracted<S>& out) {
  out.absolute_residual = out.residuals.head(k).norm();
  out.residual = relative_residual(out.theta.head(k).template cast<double>(), scale, out.absolute_residual);
}

}  // namespace

ResidualScale residual_scale(const OperatorFacts& facts, int exponent, double norm_seen) {
  const double norm = std::max(std::ldexp(facts.norm, -exponent), norm_seen);
  return {.shift = std::ldexp(facts.shift, -exponent), .least = tuning::least_beside_norm * norm};
}

double relative_residual(const Vector<double>& theta, const ResidualScale& scale, double absolute) {
  const double product = std::hypot((theta.array() - scale.shift).matrix().norm(), absolute);  // ||(A - shift I) V||_F
  const double size = std::max(product, scale.least);
  return size > 0 ? absolute / size : 0.0;
}

template <class S>
SmallEigen<S> extraction_rotation(const Small<S>& H, const SmallEigen<S>& ritz, Index k, Extraction extraction) {
  if (extraction == Extraction::ritz) return ritz;
  SmallEigen<S> leading = symmetric_eigen<S>(H.topLeftCorner(k, k));
  Small<S> rotation = Small<S>::Zero(H.rows(), k);
  rotation.topRows(k) = leading.vectors;
  return {leading.values, rotation};
}

template <class S>
void extract(ConstBlockView<S> X, ConstBlockView<S> Y, const SmallEigen<S>& rotation, Index k,
             const ResidualScale& scale, Extracted<S>& out) {
  const Index d = X.rows(), columns = rotation.values.size();
  resize_large<S>(out.V, d, columns);
  out.theta = rotation.values;
  rotate_and_measure<S>(X, Y, rotation.vectors, out);
  sum_up<S>(k, scale, out);
}

template <class S>
bool residuals_from_gram(const SmallEigen<S>& rotation, ConstBlockView<S> Y, Index k, const ResidualScale& scale,
                         Extracted<S>& out) {
  const Small<double> G = gram<S>(Y).template cast<double>(), U = rotation.vectors.template cast<double>();
  const Vector<double> squares = (U.cwiseProduct(G * U)).colwise().sum();
  out.theta = rotation.values;
  const Vector<double> theta = out.theta.template cast<double>();
  const double least = 1e3 * std::numeric_limits<S>::epsilon() * squares(0);
  out.residuals = (squares.array() - theta.array().square()).max(least).sqrt();
  sum_up<S>(k, scale, out);
  // a hundred times above what rounding leaves of a square
  return (squares - theta.cwiseAbs2()).head(k).maxCoeff() > 100 * least;
}

template <class S>
Extracted<S> measure(OperatorRef<S> A, ConstBlockView<S> V, int exponent, double norm_seen) {
  Block<S> X = V;
  Small<S> R;
  thin_qr<S>(X, R);
  Block<S> Y(X.rows(), X.cols());
  A.apply(X, Y);
  rescale<S>(Y, exponent);
  Extracted<S> measured;
  extract<S>(X, Y, symmetric_eigen<S>(gram<S>(X, Y)), X.cols(), residual_scale(A.facts(), exponent, norm_seen),
             measured);
  return measured;
}

template <class S>
FirstScale scale_with_random_column(OperatorRef<S> A, ConstBlockView<S> Y, std::uint64_t seed) {
  Block<S> x(A.dim(), 1), y(A.dim(), 1);
  fill_normal<S>({.seed = seed, .stream = Stream::probe}, x);
  x /= x.norm();
  A.apply(x, y);
  Block<S> both(Y.rows(), Y.cols() + 1);
  both << Y, y;
  const int exponent = exponent_for<S>(both);
  rescale<S>(both, exponent);
  return {.exponent = exponent,
          .frobenius = std::sqrt(static_cast<double>(A.dim())) * static_cast<double>(both.rightCols(1).norm())};
}

template <class S>
double measured_rounding(OperatorRef<S> A, ConstBlockView<S> V, int exponent, std::uint64_t seed) {
  const Index d = V.rows(), columns = std::min(d, V.cols() + 1);
  Block<S> X(d, columns);
  fill_normal<S>({.seed = seed, .stream = Stream::replacement}, X);  // a turn needs two columns
  X.leftCols(V.cols()) = V;
  Small<S> R;
  thin_qr<S>(X, R);
  const Small<S> Q = random_orthonormal<S>(columns, columns, {.seed = seed, .stream = Stream::replacement});
  Block<S> Y(d, columns), turned(d, columns), expected(d, columns);
  A.apply(X, Y);
  rescale<S>(Y, exponent);
  multiply<S>(Y, Q, expected);
  multiply<S>(X, Q, turned);
  A.apply(turned, Y);
  rescale<S>(Y, exponent);
  return static_cast<double>((Y - expected).colwise().norm().maxCoeff());
}

#define HEARSAY_INSTANTIATE(S)                                                                                      \
  template SmallEigen<S> extraction_rotation<S>(const Small<S>&, const SmallEigen<S>&, Index, Extraction);          \
  template void extract<S>(ConstBlockView<S>, ConstBlockView<S>, const SmallEigen<S>&, Index, const ResidualScale&, \
                           Extracted<S>&);                                                                          \
  template bool residuals_from_gram<S>(const SmallEigen<S>&, ConstBlockView<S>, Index, const ResidualScale&,        \
                                       Extracted<S>&);                                                              \
  template Extracted<S> measure<S>(OperatorRef<S>, ConstBlockView<S>, int, double);                                 \
  template FirstScale scale_with_random_column<S>(OperatorRef<S>, ConstBlockView<S>, std::uint64_t);                \
  template double measured_rounding<S>(OperatorRef<S>, ConstBlockView<S>, int, std::uint64_t);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay::detail
