#include "hearsay/symmetric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "hearsay/error.hpp"

namespace hearsay {
namespace {

void require_square(Index rows, Index cols, std::string_view name) {
  if (rows != cols) throw DataError(fmt::format("{}: is {} x {}; a symmetric matrix is square", name, rows, cols));
}

[[noreturn]] void fail_not_finite(Index i, Index j, double value, std::string_view name) {
  throw DataError(fmt::format("{}: ({}, {}) is {}, not a finite number", name, i + 1, j + 1, value));
}

[[noreturn]] void fail_not_symmetric(Index i, Index j, double upper, double lower, std::string_view name) {
  throw DataError(fmt::format("{}: not symmetric: ({}, {}) is {} but ({}, {}) is {}", name, i + 1, j + 1, upper, j + 1,
                              i + 1, lower));
}

template <class S>
double tolerance(double largest) {
  return std::max(1e-10, 8.0 * static_cast<double>(std::numeric_limits<S>::epsilon())) * largest;
}

template <class S>
double largest_entry(const ConstBlockView<S>& A, std::string_view name) {
  double largest = 0;
  for (Index i = 0; i < A.rows(); ++i) {
    const double of_row = static_cast<double>(A.row(i).cwiseAbs().template maxCoeff<Eigen::PropagateNaN>());
    if (!std::isfinite(of_row))
      for (Index j = 0; j < A.cols(); ++j)
        if (!std::isfinite(A(i, j))) fail_not_finite(i, j, static_cast<double>(A(i, j)), name);
    largest = std::max(largest, of_row);
  }
  return largest;
}

template <class S>
void require_symmetric_dense(const ConstBlockView<S>& A, std::string_view name) {
  require_square(A.rows(), A.cols(), name);
  const double allowed = tolerance<S>(largest_entry<S>(A, name));
  constexpr Index tile = 64;  // one tile and its mirror image stay in cache
  for (Index i0 = 0; i0 < A.rows(); i0 += tile)
    for (Index j0 = i0; j0 < A.cols(); j0 += tile)
      for (Index i = i0; i < std::min(i0 + tile, A.rows()); ++i)
        for (Index j = std::max(j0, i + 1); j < std::min(j0 + tile, A.cols()); ++j) {
          const auto upper = static_cast<double>(A(i, j)), lower = static_cast<double>(A(j, i));
          if (!(std::abs(upper - lower) <= allowed)) fail_not_symmetric(i, j, upper, lower, name);
        }
}

template <class S>
double entry(const CsrView<S>& A, Index i, Index j) {
  const auto begin = A.columns.begin() + A.row_start[static_cast<std::size_t>(i)];
  const auto end = A.columns.begin() + A.row_start[static_cast<std::size_t>(i) + 1];
  const auto found = std::lower_bound(begin, end, static_cast<std::int32_t>(j));
  return found != end && *found == j
             ? static_cast<double>(A.values[static_cast<std::size_t>(found - A.columns.begin())])
             : 0.0;
}

template <class S, class Visit>
void for_each_entry(const CsrView<S>& A, Visit&& visit) {
  for (Index i = 0; i < A.rows; ++i)
    for (auto e = A.row_start[static_cast<std::size_t>(i)]; e < A.row_start[static_cast<std::size_t>(i) + 1]; ++e)
      visit(i, Index{A.columns[static_cast<std::size_t>(e)]},
            static_cast<double>(A.values[static_cast<std::size_t>(e)]));
}

// Rows from the first to the last meet the entries below the diagonal in their order: one walk, without a search.
// Entries beside which nothing stands are for the search to judge, as they may be small enough.
template <class S>
bool mirrored_one_by_one(const CsrView<S>& A, double allowed) {
  std::vector<std::int64_t> next(A.row_start.begin(), A.row_start.end() - 1);  // not yet met, in each row
  const auto* columns = A.columns.data();
  const S* values = A.values.data();
  for (Index i = 0; i < A.rows; ++i) {
    auto e = next[static_cast<std::size_t>(i)];
    const auto end = A.row_start[static_cast<std::size_t>(i) + 1];
    if (e < end && columns[e] < i) return false;
    for (e += e < end && columns[e] == i; e < end; ++e) {
      const auto j = static_cast<std::size_t>(columns[e]);
      const auto mirror = next[j]++;
      if (mirror >= A.row_start[j + 1] || columns[mirror] != i) return false;
      if (!(std::abs(static_cast<double>(values[e]) - static_cast<double>(values[mirror])) <= allowed)) return false;
    }
  }
  return true;
}

template <class S>
void require_symmetric_sparse(const CsrView<S>& A, std::string_view name) {
  require_square(A.rows, A.cols, name);
  double largest = 0;
  for_each_entry(A, [&](Index i, Index j, double value) {
    if (!std::isfinite(value)) fail_not_finite(i, j, value, name);
    largest = std::max(largest, std::abs(value));
  });
  const double allowed = tolerance<S>(largest);
  if (mirrored_one_by_one(A, allowed)) return;
  for_each_entry(A, [&](Index i, Index j, double value) {
    const double mirrored = entry(A, j, i);
    if (!(std::abs(value - mirrored) <= allowed)) fail_not_symmetric(i, j, value, mirrored, name);
  });
}

}  // namespace

void require_symmetric(const ConstBlockView<double>& A, std::string_view name) { require_symmetric_dense(A, name); }
void require_symmetric(const ConstBlockView<float>& A, std::string_view name) { require_symmetric_dense(A, name); }
void require_symmetric(const CsrView<double>& A, std::string_view name) { require_symmetric_sparse(A, name); }
void require_symmetric(const CsrView<float>& A, std::string_view name) { require_symmetric_sparse(A, name); }

}  // namespace hearsay
