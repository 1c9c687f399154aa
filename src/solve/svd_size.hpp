// How large a rectangular matrix is, what its products round, and a power of two that keeps its squares in range.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/random.hpp"
#include "hearsay/solve_svd.hpp"

namespace hearsay::detail {

// What is known of A before it is solved.
struct Size {
  Index m = 0, n = 0;
  double frobenius = 0;  // ||A||_F
  double rounded = 0;    // the most that a product with A or A' rounds, in units of u: sums of t terms round by t
  bool by_rows() const { return m < n; }
};

template <class S>
int exponent_of(S largest) {
  const S limit = std::sqrt(std::sqrt(std::numeric_limits<S>::max()));
  if (!(largest > 0) || (largest < limit && largest > 1 / limit)) return 0;
  constexpr int most = std::numeric_limits<S>::max_exponent - 2;
  return std::clamp(std::ilogb(largest), -most, most);
}

[[noreturn]] inline void refuse_entry(Index row, Index column, double value) {
  throw DataError(
      fmt::format("matrix: row {}, column {} is {}: every entry must be finite", row + 1, column + 1, value));
}

// The largest magnitude of a run of numbers; the place of one that is not finite, or -1.
template <class S>
struct Largest {
  S magnitude = 0;
  Index not_finite = -1;
};
template <class S>
Largest<S> largest_of(const S* numbers, Index count) {
  Largest<S> found;
  for (Index e = 0; e < count; ++e) {
    const S magnitude = std::abs(numbers[e]);
    if (!std::isfinite(magnitude)) return {.magnitude = 0, .not_finite = e};
    found.magnitude = std::max(found.magnitude, magnitude);
  }
  return found;
}

template <class S>
double sum_of_squares(const S* numbers, Index count) {
  double sum = 0;
  for (Index e = 0; e < count; ++e) sum += static_cast<double>(numbers[e]) * static_cast<double>(numbers[e]);
  return sum;
}

inline void require_not_empty(Index m, Index n) {
  require(m > 0 && n > 0, fmt::format("matrix of {} x {}: must have at least one row and one column", m, n));
}

// A power of two that brings the entries into a range whose squares are safe; 0 for all ordinary ones.
template <class S>
int exponent_of(const BorrowedBlock<S>& A) {
  S largest = 0;
  for (Index i = 0; i < A.rows(); ++i) {
    const Largest<S> found = largest_of(A.data() + i * A.outerStride(), A.cols());
    if (found.not_finite >= 0) refuse_entry(i, found.not_finite, static_cast<double>(A(i, found.not_finite)));
    largest = std::max(largest, found.magnitude);
  }
  return exponent_of(largest);
}
template <class S>
int exponent_of(const CsrView<S>& A) {
  const Largest<S> found = largest_of(A.values.data(), A.nonzeros());
  if (found.not_finite >= 0) {
    const auto after = std::upper_bound(A.row_start.begin(), A.row_start.end(), found.not_finite);
    const auto at = static_cast<std::size_t>(found.not_finite);
    refuse_entry(static_cast<Index>(after - A.row_start.begin()) - 1, A.columns[at], static_cast<double>(A.values[at]));
  }
  return exponent_of(found.magnitude);
}

template <class S>
Size size_of(const BorrowedBlock<S>& A) {
  double sum = 0;
  for (Index i = 0; i < A.rows(); ++i) sum += sum_of_squares(A.data() + i * A.outerStride(), A.cols());
  const double norm = std::sqrt(sum);
  return {.m = A.rows(),
          .n = A.cols(),
          .frobenius = norm,
          .rounded = norm * static_cast<double>(std::max(A.rows(), A.cols()))};
}

// Row i of A X is a sum of as many terms as row i has entries: off by their number times u ||a_i|| ||x||.
template <class S>
Size size_of(const CsrView<S>& A) {
  std::vector<double> squares(static_cast<std::size_t>(A.cols), 0), terms(static_cast<std::size_t>(A.cols), 0);
  double sum = 0, by_rows = 0, by_columns = 0;
  for (std::size_t i = 0; i + 1 < A.row_start.size(); ++i) {
    const auto first = A.row_start[i], count = A.row_start[i + 1] - first;
    const double of_row = sum_of_squares(A.values.data() + first, count);
    sum += of_row;
    by_rows += of_row * static_cast<double>(count) * static_cast<double>(count);
  }
  for (std::size_t e = 0; e < A.columns.size(); ++e) {
    const auto j = static_cast<std::size_t>(A.columns[e]);
    squares[j] += static_cast<double>(A.values[e]) * static_cast<double>(A.values[e]);
    terms[j] += 1;
  }
  for (std::size_t j = 0; j < squares.size(); ++j) by_columns += squares[j] * terms[j] * terms[j];
  return {.m = A.rows, .n = A.cols, .frobenius = std::sqrt(sum), .rounded = std::sqrt(std::max(by_rows, by_columns))};
}

// E ||A x||^2 = ||A||_F^2 for x of independent N(0, 1); doubled, because a few columns may be unlucky.
template <class S>
Size size_of(const RectangularFunctions<S>& A, std::uint64_t seed) {
  constexpr Index columns = 4;
  Block<S> X(A.cols, columns), Y(A.rows, columns);
  fill_normal<S>({.seed = seed, .stream = Stream::probe}, X);
  A.multiply(X, Y);
  if (!Y.allFinite()) throw DataError("matrix: a product with random columns is not finite");
  const double norm = 2 * static_cast<double>(Y.norm()) / std::sqrt(static_cast<double>(columns));
  return {.m = A.rows, .n = A.cols, .frobenius = norm, .rounded = norm * static_cast<double>(std::max(A.rows, A.cols))};
}

// 2^-exponent A, where that is not A itself.
template <class S>
Block<S> scaled(const BorrowedBlock<S>& A, int exponent) {
  require_memory(static_cast<std::uint64_t>(A.size()), sizeof(S),
                 "a copy of the matrix, whose squares leave the range");
  return A.unaryExpr([exponent](S value) { return std::ldexp(value, -exponent); });
}
template <class S>
CsrMatrix<S> scaled(const CsrView<S>& A, int exponent) {
  require_memory(static_cast<std::uint64_t>(A.nonzeros()), sizeof(S) + sizeof(std::int32_t),
                 "a copy of the matrix, whose squares leave the range");
  CsrMatrix<S> made{.rows = A.rows,
                    .cols = A.cols,
                    .row_start = {A.row_start.begin(), A.row_start.end()},
                    .columns = {A.columns.begin(), A.columns.end()},
                    .values = {A.values.begin(), A.values.end()}};
  for (S& value : made.values) value = std::ldexp(value, -exponent);
  return made;
}

}  // namespace hearsay::detail
