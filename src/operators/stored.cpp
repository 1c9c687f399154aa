#include "hearsay/operators/stored.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "kernels/kernels.hpp"
#include "linalg/worth_threads.hpp"

namespace hearsay {

namespace {

constexpr Index rows_per_task = 256;

// Y <- D S E X + shift X - beta Z, D and E the two scales.
template <class S>
struct CsrStep {
  const S *row_scale = nullptr, *column_scale = nullptr;
  S shift = 0, beta = 0;
  const S* Z = nullptr;
  Index ldz = 0;
};

template <class S>
void csr_product(CsrView<S> A, const CsrStep<S>& step, ConstBlockView<S> X, BlockView<S> Y) {
  const auto& kernel = kernels::table<S>();
  const S* values = A.values.empty() ? nullptr : A.values.data();
  const Index tasks = (A.rows + rows_per_task - 1) / rows_per_task;
  const Index ldx = X.outerStride(), ldy = Y.outerStride();
  const S* x = X.data();
  S* y = Y.data();
#pragma omp parallel for schedule(dynamic, 1) \
    num_threads(detail::worth_threads(2.0 * double(A.nonzeros()) * double(X.cols())))
  for (Index task = 0; task < tasks; ++task)
    kernel.csr_multiply(task * rows_per_task, std::min(A.rows, (task + 1) * rows_per_task), X.cols(),
                        A.row_start.data(), A.columns.data(), values, step.row_scale, step.column_scale, step.shift, x,
                        ldx, step.beta, step.Z, step.ldz, y, ldy);
}

}  // namespace

template <class S>
DenseSymmetric<S>::DenseSymmetric(BorrowedBlock<S> A) : A_(A) {
  require(A.rows() == A.cols() && A.rows() > 0,
          fmt::format("matrix of {} x {}: must be square and not empty", A.rows(), A.cols()));
}

template <class S>
void DenseSymmetric<S>::apply(ConstBlockView<S> X, BlockView<S> Y) const {
  multiply<S>(A_, X, Y);
}

template <class S>
double DenseSymmetric<S>::norm_bound() const {
  return static_cast<double>(A_.cwiseAbs().rowwise().sum().maxCoeff());
}

template <class S>
SparseSymmetric<S>::SparseSymmetric(CsrView<S> A) : A_(A) {
  require(A.rows == A.cols && A.rows > 0,
          fmt::format("matrix of {} x {}: must be square and not empty", A.rows, A.cols));
}

template <class S>
void SparseSymmetric<S>::apply(ConstBlockView<S> X, BlockView<S> Y) const {
  csr_product<S>(A_, {}, X, Y);
}

template <class S>
void SparseSymmetric<S>::apply_step(ConstBlockView<S> X, S shift, S beta, ConstBlockView<S> Z, BlockView<S> Y) const {
  csr_product<S>(A_, {.shift = -shift, .beta = beta, .Z = Z.data(), .ldz = Z.outerStride()}, X, Y);
}

template <class S>
double SparseSymmetric<S>::norm_bound() const {
  double largest_row_sum = 0;
  for (Index i = 0; i < A_.rows; ++i) {
    double sum = 0;
    for (auto e = A_.row_start[i]; e < A_.row_start[i + 1]; ++e) sum += std::abs(static_cast<double>(A_.values[e]));
    largest_row_sum = std::max(largest_row_sum, sum);
  }
  return largest_row_sum;
}

namespace {

// A power of four that brings the largest weight to about one: neither the matrix nor a bit of the result changes by
// it, and sums of weights stay finite. Weights that lie too far apart for the arithmetic are refused.
template <class S>
double weight_scale(const std::vector<double>& weights) {
  if (weights.empty()) return 1;
  const auto [least, most] = std::minmax_element(weights.begin(), weights.end());
  require(*least > 0 && std::isfinite(*most),
          fmt::format("weights from {:g} to {:g}: must be positive and finite", *least, *most));
  int exponent = 0;
  std::frexp(*most, &exponent);
  const double scale = std::ldexp(1.0, std::min(1022, -2 * (exponent / 2)));
  constexpr double spread = std::numeric_limits<S>::epsilon();
  require(*least * scale >= std::numeric_limits<S>::min() / spread,
          fmt::format("weights from {:g} to {:g}: lie too far apart for {} precision", *least, *most,
                      sizeof(S) == sizeof(double) ? "double" : "single"));
  return scale;
}

}  // namespace

template <class S>
NormalisedGraph<S>::NormalisedGraph(const Graph& graph) {
  require(graph.nodes > 0, "graph of 0 nodes: must have at least one");
  const bool weighted = !graph.weights.empty();
  require(!weighted || graph.weights.size() == graph.edges.size(),
          fmt::format("graph of {} edges and {} weights: must have one weight per edge", graph.edges.size(),
                      graph.weights.size()));

  const double scale = weight_scale<S>(graph.weights);
  adjacency_.rows = adjacency_.cols = graph.nodes;
  adjacency_.row_start.assign(static_cast<std::size_t>(graph.nodes) + 1, 0);
  Vector<double> degrees = Vector<double>::Zero(graph.nodes);
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const auto [i, j] = graph.edges[e];
    const double weight = weighted ? graph.weights[e] * scale : 1.0;
    ++adjacency_.row_start[static_cast<std::size_t>(i) + 1];
    ++adjacency_.row_start[static_cast<std::size_t>(j) + 1];
    degrees(i) += weight;
    degrees(j) += weight;
  }
  for (std::size_t i = 1; i < adjacency_.row_start.size(); ++i) adjacency_.row_start[i] += adjacency_.row_start[i - 1];

  // Edges sorted by (i, j): filling the (j, i) halves first and then the (i, j) ones leaves each row ascending.
  adjacency_.columns.resize(2 * graph.edges.size());
  if (weighted) adjacency_.values.resize(2 * graph.edges.size());
  std::vector<std::int64_t> next(adjacency_.row_start.begin(), adjacency_.row_start.end() - 1);
  const auto place = [&](std::int32_t row, std::int32_t column, std::size_t edge) {
    const auto slot = static_cast<std::size_t>(next[static_cast<std::size_t>(row)]++);
    adjacency_.columns[slot] = column;
    if (weighted) adjacency_.values[slot] = static_cast<S>(graph.weights[edge] * scale);
  };
  for (std::size_t e = 0; e < graph.edges.size(); ++e) place(graph.edges[e].second, graph.edges[e].first, e);
  for (std::size_t e = 0; e < graph.edges.size(); ++e) place(graph.edges[e].first, graph.edges[e].second, e);

  sqrt_degrees_ = degrees.cwiseSqrt().template cast<S>();
  inverse_sqrt_degrees_ =
      degrees.unaryExpr([](double degree) { return degree > 0 ? 1.0 / std::sqrt(degree) : 0.0; }).template cast<S>();
}

template <class S>
void NormalisedGraph<S>::apply(ConstBlockView<S> X, BlockView<S> Y) const {
  const S* scale = inverse_sqrt_degrees_.data();
  csr_product<S>(borrow(adjacency_), {.row_scale = scale, .column_scale = scale, .shift = 1}, X, Y);
}

template <class S>
void NormalisedGraph<S>::apply_step(ConstBlockView<S> X, S shift, S beta, ConstBlockView<S> Z, BlockView<S> Y) const {
  const S* scale = inverse_sqrt_degrees_.data();
  csr_product<S>(borrow(adjacency_),
                 {.row_scale = scale,
                  .column_scale = scale,
                  .shift = 1 - shift,
                  .beta = beta,
                  .Z = Z.data(),
                  .ldz = Z.outerStride()},
                 X, Y);
}

template class DenseSymmetric<float>;
template class DenseSymmetric<double>;
template class SparseSymmetric<float>;
template class SparseSymmetric<double>;
template class NormalisedGraph<float>;
template class NormalisedGraph<double>;

}  // namespace hearsay
