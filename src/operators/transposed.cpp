// By itself: readers of files need it, and nothing else of what multiplies.
#include <fmt/format.h>

#include <limits>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/operators/gram.hpp"

namespace hearsay {

template <class S>
CsrMatrix<S> transposed(const CsrView<S>& A) {
  require_memory(static_cast<std::uint64_t>(A.nonzeros()), sizeof(S) + sizeof(std::int32_t), "the transposed matrix");
  require_memory(static_cast<std::uint64_t>(A.cols), 2 * sizeof(std::int64_t), "the transposed matrix");
  require(A.rows <= std::numeric_limits<std::int32_t>::max(),
          fmt::format("matrix of {} rows: must have less than 2^31 to be transposed", A.rows));
  CsrMatrix<S> At{.rows = A.cols, .cols = A.rows};
  At.row_start.assign(static_cast<std::size_t>(A.cols) + 1, 0);
  for (const auto j : A.columns) ++At.row_start[static_cast<std::size_t>(j) + 1];
  for (std::size_t j = 1; j < At.row_start.size(); ++j) At.row_start[j] += At.row_start[j - 1];
  At.columns.resize(A.columns.size());
  At.values.resize(A.values.size());
  std::vector<std::int64_t> next(At.row_start.begin(), At.row_start.end() - 1);
  for (Index i = 0; i < A.rows; ++i)
    for (auto e = A.row_start[static_cast<std::size_t>(i)]; e < A.row_start[static_cast<std::size_t>(i) + 1]; ++e) {
      const auto from = static_cast<std::size_t>(e);
      const auto slot = static_cast<std::size_t>(next[static_cast<std::size_t>(A.columns[from])]++);
      At.columns[slot] = static_cast<std::int32_t>(i);
      At.values[slot] = A.values[from];
    }
  return At;
}

template CsrMatrix<float> transposed(const CsrView<float>&);
template CsrMatrix<double> transposed(const CsrView<double>&);

}  // namespace hearsay
