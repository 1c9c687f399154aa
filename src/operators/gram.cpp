#include "hearsay/operators/gram.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "kernels/kernels.hpp"
#include "linalg/worth_threads.hpp"

namespace hearsay {

namespace {

// Words of a language differ a thousand times in how often they come: tasks of equal rows would not be of equal work.
constexpr std::int64_t entries_per_task = 1 << 14;
constexpr std::int64_t entries_of_a_row = 4;  // what a row costs beside its entries

template <class S>
std::vector<Index> equal_tasks(const CsrView<S>& A) {
  std::vector<Index> begins{0};
  std::int64_t work = 0;
  for (Index i = 0; i < A.rows; ++i) {
    work += A.row_start[static_cast<std::size_t>(i) + 1] - A.row_start[static_cast<std::size_t>(i)] + entries_of_a_row;
    if (work < entries_per_task) continue;
    begins.push_back(i + 1);
    work = 0;
  }
  if (begins.back() < A.rows) begins.push_back(A.rows);
  return begins;
}

template <class S>
Index longest_row(const CsrView<S>& A) {
  std::int64_t longest = 0;
  for (std::size_t i = 0; i + 1 < A.row_start.size(); ++i)
    longest = std::max(longest, A.row_start[i + 1] - A.row_start[i]);
  return longest;
}

template <class S>
void multiply_rows(const CsrView<S>& A, const std::vector<Index>& begins, ConstBlockView<S> X, BlockView<S> out) {
  const auto& kernel = kernels::table<S>();
  const auto tasks = static_cast<Index>(begins.size()) - 1;
  const S* x = X.data();
  S* y = out.data();
  const Index p = X.cols(), ldx = X.outerStride(), ldy = out.outerStride();
#pragma omp parallel for schedule(dynamic, 1) num_threads(detail::worth_threads(2.0 * double(A.nonzeros()) * double(p)))
  for (Index task = 0; task < tasks; ++task) {
    const auto t = static_cast<std::size_t>(task);
    kernel.csr_multiply(begins[t], begins[t + 1], p, A.row_start.data(), A.columns.data(), A.values.data(), nullptr,
                        nullptr, S(0), x, ldx, S(0), nullptr, 0, y, ldy);
  }
}

}  // namespace

template <class S>
SparseGram<S>::SparseGram(CsrView<S> A, bool by_rows)
    : A_(A), by_rows_(by_rows), At_(transposed<S>(A)), tasks_(equal_tasks(A)), tasks_t_(equal_tasks(borrow(At_))) {
  require(A.rows > 0 && A.cols > 0,
          fmt::format("matrix of {} x {}: must have at least one row and one column", A.rows, A.cols));
  longest_ = std::max(longest_row(A_), longest_row(borrow(At_)));
}

template <class S>
void SparseGram<S>::multiply(ConstBlockView<S> X, BlockView<S> out) const {
  multiply_rows<S>(A_, tasks_, X, out);
}

template <class S>
void SparseGram<S>::multiply_transposed(ConstBlockView<S> U, BlockView<S> out) const {
  multiply_rows<S>(borrow(At_), tasks_t_, U, out);
}

template <class S>
void SparseGram<S>::apply(ConstBlockView<S> X, BlockView<S> Y) const {
  if (const Index rows = by_rows_ ? A_.cols : A_.rows; between_.rows() != rows || between_.cols() != X.cols())
    between_.resize(rows, X.cols());
  if (by_rows_) {
    multiply_transposed(X, between_);
    multiply(between_, Y);
  } else {
    multiply(X, between_);
    multiply_transposed(between_, Y);
  }
}

template <class S>
OperatorFacts SparseGram<S>::facts() const {
  return {.positive_semidefinite = true,
          .exact = true,
          .multiply_adds = 2.0 * static_cast<double>(A_.nonzeros()),
          .terms = 2 * longest_};
}

#define HEARSAY_INSTANTIATE(S) template class SparseGram<S>;
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay
