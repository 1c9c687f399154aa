// The sum over sparse rows of their outer products, Z'WZ, in one reading of the entries.
//
// Rows come in chunks that stay in cache. Of a chunk every column has a list of its entries; the task that owns column
// j walks that list and adds what follows each entry in its row, times the entry, to row j of the sum, which lies in
// the first cache. So every sum runs in the order of the rows, whoever makes it and however many there are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/threads.hpp"

namespace hearsay::detail {

inline constexpr std::int64_t entries_of_a_chunk = std::int64_t{1} << 19;

/// Multiplications that sparse_outer_products() makes: half of the squares of the rows' entries.
template <class S>
double outer_multiply_adds(const CsrView<S>& data) {
  double total = 0;
  for (std::size_t i = 1; i < data.row_start.size(); ++i) {
    const auto entries = static_cast<double>(data.row_start[i] - data.row_start[i - 1]);
    total += entries * (entries + 1) / 2;
  }
  return total;
}

/// A chunk of rows with the places of its columns' entries.
class ChunkOfRows {
 public:
  template <class S, class Value, class Weight>
  void take(const CsrView<S>& data, Index first, Index last, const Value& value, const Weight& weight) {
    const std::int64_t begin = data.row_start[static_cast<std::size_t>(first)];
    const auto entries = static_cast<std::size_t>(data.row_start[static_cast<std::size_t>(last)] - begin);
    columns_ = data.columns.subspan(static_cast<std::size_t>(begin), entries);
    values_.resize(entries);
    places_.resize(entries);
    starts_.assign(static_cast<std::size_t>(data.cols) + 1, 0);
    for (const std::int32_t j : columns_) ++starts_[static_cast<std::size_t>(j) + 1];
    for (std::size_t j = 1; j < starts_.size(); ++j) starts_[j] += starts_[j - 1];
    next_.assign(starts_.begin(), starts_.end() - 1);
    for (Index i = first; i < last; ++i) {
      const auto row_end = static_cast<std::int32_t>(data.row_start[static_cast<std::size_t>(i) + 1] - begin);
      const double w = weight(i);
      for (auto e = static_cast<std::int32_t>(data.row_start[static_cast<std::size_t>(i)] - begin); e < row_end; ++e) {
        const std::int32_t j = columns_[static_cast<std::size_t>(e)];
        values_[static_cast<std::size_t>(e)] = value(static_cast<std::size_t>(begin) + static_cast<std::size_t>(e), j);
        places_[static_cast<std::size_t>(next_[static_cast<std::size_t>(j)]++)] = {e, row_end, w};
      }
    }
  }

  /// sum[k] += the products of columns j and k, for k from j on.
  void add_column(Index j, double* sum) const {
    const std::int32_t* const columns = columns_.data();
    for (auto at = starts_[static_cast<std::size_t>(j)]; at < starts_[static_cast<std::size_t>(j) + 1]; ++at) {
      const Place& place = places_[static_cast<std::size_t>(at)];
      const double factor = place.weight * values_[static_cast<std::size_t>(place.entry)];
      for (std::int32_t e = place.entry; e < place.row_end; ++e)
        sum[columns[e]] += factor * values_[static_cast<std::size_t>(e)];
    }
  }

 private:
  struct Place {
    std::int32_t entry, row_end;
    double weight;
  };
  std::span<const std::int32_t> columns_ = {};
  std::vector<double> values_ = {};
  std::vector<Place> places_ = {};
  std::vector<std::int32_t> starts_ = {}, next_ = {};
};

/// Appends row i of `rows` less the shift, which the columns `shifted` have; these get an entry where they have none.
inline void add_shifted_row(const CsrView<double>& rows, Index i, const Vector<double>& shift,
                            std::span<const std::int32_t> shifted, CsrMatrix<double>& out) {
  auto e = static_cast<std::size_t>(rows.row_start[static_cast<std::size_t>(i)]);
  const auto end = static_cast<std::size_t>(rows.row_start[static_cast<std::size_t>(i) + 1]);
  const auto put = [&out](std::int32_t column, double value) {
    out.columns.push_back(column);
    out.values.push_back(value);
  };
  for (const std::int32_t s : shifted) {
    for (; e < end && rows.columns[e] < s; ++e) put(rows.columns[e], rows.values[e]);
    const bool there = e < end && rows.columns[e] == s;
    put(s, (there ? rows.values[e++] : 0.0) - shift(s));
  }
  for (; e < end; ++e) put(rows.columns[e], rows.values[e]);
}

/// Adds the upper triangle of rows first to last. value(e, j) is entry e, of column j, as it counts; weight(i) that of
/// row i. A row has less than 2^31 entries, as it has columns.
template <class S, class Value, class Weight>
void add_outer_products(const CsrView<S>& data, Index first, Index end, const Value& value, const Weight& weight,
                        ChunkOfRows& chunk, Block<double>& sum) {
  const Index d = data.cols;
  while (first < end) {
    Index last = first + 1;
    const std::int64_t begin = data.row_start[static_cast<std::size_t>(first)];
    while (last < end && data.row_start[static_cast<std::size_t>(last) + 1] - begin <= entries_of_a_chunk) ++last;
    chunk.take(data, first, last, value, weight);
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads())
    for (Index j = 0; j < d; ++j) chunk.add_column(j, sum.data() + j * d);
    first = last;
  }
}

/// Both triangles, of all rows.
template <class S, class Value, class Weight>
void sparse_outer_products(const CsrView<S>& data, const Value& value, const Weight& weight, Block<double>& sum) {
  const Index d = data.cols;
  sum.setZero(d, d);
  ChunkOfRows chunk;
  add_outer_products(data, 0, data.rows, value, weight, chunk, sum);
  for (Index j = 0; j < d; ++j)
    for (Index k = j + 1; k < d; ++k) sum(k, j) = sum(j, k);
}

}  // namespace hearsay::detail
