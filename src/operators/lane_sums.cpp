// Of dense rows a leaf is a block that stays in cache, and lanes are summed up by a thread each. Of sparse rows a leaf
// is long, because adding it up costs a whole matrix: its outer products are made by all threads together
// (sparse_outer.hpp), in the order of the rows, whatever they are cut into on the way.
#include "operators/lane_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hearsay/error.hpp"
#include "operators/row_pass.hpp"
#include "operators/sparse_outer.hpp"

namespace hearsay::detail {

namespace {

// Of these a column must have an entry in half to be shifted; fewer cancel a factor of two at most.
constexpr Index rows_for_sparse_shift = 256;
constexpr Index sparse_leaf_rows = Index{1} << 14;

std::uint64_t bytes_of_matrix(Index d) {
  return static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(d) * sizeof(double);
}

// Of a small file less than what stays in cache.
std::int64_t entries_at_once(std::int64_t all) {
  constexpr std::int64_t least = std::int64_t{1} << 14;
  return std::min(entries_of_a_chunk, std::max(least, all / 32));
}

// Rows that come a buffer at a time, as leaves.
class SparseSum {
 public:
  SparseSum(Index d, const Leaves& leaves, Vector<double> shift)
      : leaves_(leaves), shift_(std::move(shift)), leaf_(Block<double>::Zero(d, d)), sums_(Vector<double>::Zero(d)) {
    entries_ = terms_ = Vector<double>::Zero(d);
    for (Index j = 0; j < d; ++j)
      if (shift_(j) != 0) shifted_.push_back(static_cast<std::int32_t>(j));
  }

  void add(const CsrView<double>& rows) {
    for (Index first = 0; first < rows.rows;) {
      const Index count = std::min(rows.rows - first, leaves_.rows - rows_);
      add_part(rows, first, first + count);
      rows_ += count;
      first += count;
      if (rows_ == leaves_.rows) end_leaf();
    }
  }

  LaneSums finish() && {
    if (rows_ > 0) end_leaf();
    return {.lanes = std::move(lanes_), .shift = std::move(shift_), .terms = std::move(terms_)};
  }

 private:
  // Less the shift; columns that have one are there in every row.
  CsrView<double> shifted(const CsrView<double>& rows, Index first, Index last) {
    made_.row_start.assign(1, 0);
    made_.columns.clear();
    made_.values.clear();
    for (Index i = first; i < last; ++i) {
      add_shifted_row(rows, i, shift_, shifted_, made_);
      made_.row_start.push_back(static_cast<std::int64_t>(made_.columns.size()));
    }
    made_.rows = last - first;
    made_.cols = rows.cols;
    return borrow(made_);
  }

  void add_part(const CsrView<double>& rows, Index first, Index last) {
    if (!shifted_.empty()) {
      add_entries(shifted(rows, first, last), 0, last - first);
    } else {
      add_entries(rows, first, last);
    }
  }

  void add_entries(const CsrView<double>& rows, Index first, Index last) {
    const auto begin = static_cast<std::size_t>(rows.row_start[static_cast<std::size_t>(first)]),
               end = static_cast<std::size_t>(rows.row_start[static_cast<std::size_t>(last)]);
    for (std::size_t e = begin; e < end; ++e) {
      sums_(rows.columns[e]) += rows.values[e];
      entries_(rows.columns[e]) += 1;
    }
    add_outer_products(
        rows, first, last, [&](std::size_t e, std::int32_t) { return rows.values[e]; }, [](Index) { return 1.0; },
        chunk_, leaf_);
  }

  void end_leaf() {
    const Index d = leaf_.cols();
    const auto lane = static_cast<std::size_t>(ended_++ % leaves_.lanes);
    GramSum sum(std::move(leaf_), std::move(sums_), rows_);
    if (lane == lanes_.size()) {
      lanes_.push_back(std::move(sum));
      leaf_ = Block<double>::Zero(d, d);
      sums_ = Vector<double>::Zero(d);
    } else {
      lanes_[lane].add(sum);
      std::tie(leaf_, sums_) = std::move(sum).cleared();
    }
    terms_ = terms_.cwiseMax(entries_);
    entries_.setZero();
    rows_ = 0;
  }

  const Leaves leaves_;
  Vector<double> shift_;
  std::vector<std::int32_t> shifted_ = {};
  Block<double> leaf_;
  Vector<double> sums_, entries_, terms_;
  std::vector<GramSum> lanes_ = {};
  CsrMatrix<double> made_ = {};
  ChunkOfRows chunk_ = {};
  Index rows_ = 0, ended_ = 0;  // of this leaf; leaves before it
};

template <class S>
LaneSums sum_dense(RowSource<S>& source, const Leaves& leaves, bool find_shift, Vector<double> shift,
                   const ReadingOptions& reading) {
  const Index d = source.cols();
  ReadAhead<S> rows(source,
                    buffered_rows(reading.rows_at_once, leaves, d * static_cast<Index>(sizeof(S)), source.rows()));
  LaneSums sums{.shift = std::move(shift)};
  sums.lanes.assign(static_cast<std::size_t>(leaves.lanes), GramSum(d));
  visit_leaves<S>(
      rows, leaves,
      [&](const BorrowedBlock<S>& first) {
        if (find_shift) sums.shift = provisional_mean<S>(first, rows_for_provisional_mean);
      },
      [&](Index lane, const BorrowedBlock<S>& leaf) {
        sums.lanes[static_cast<std::size_t>(lane)].template add<S>(leaf, sums.shift.data());
      },
      [&](Index count) {
        if (reading.watch) reading.watch({.pass = 1, .rows = count});
      });
  return sums;
}

Vector<double> zero_shift(Index columns) { return Vector<double>::Zero(columns); }

}  // namespace

Leaves leaves_of_sums(Index d) { return {.rows = gram_rows, .lanes = d <= 700 ? 8 : d <= 4000 ? 4 : 2}; }
Leaves leaves_of_sparse_sums(Index d) { return {.rows = sparse_leaf_rows, .lanes = leaves_of_sums(d).lanes}; }

template <class S>
Vector<double> first_shift(RowSource<S>& source, Index most) {
  Block<S> head(most, source.cols());
  source.rewind();
  const Index count = source.read(head);
  source.rewind();
  if (count == 0) return zero_shift(source.cols());
  return provisional_mean<S>(BorrowedBlock<S>(head.data(), count, head.cols(), Eigen::OuterStride<>(head.cols())),
                             most);
}
template Vector<double> first_shift<float>(RowSource<float>&, Index);
template Vector<double> first_shift<double>(RowSource<double>&, Index);

Vector<double> sparse_shift(const CsrView<double>& rows) {
  const Index count = std::min(rows.rows, rows_for_sparse_shift);
  Vector<double> sum = zero_shift(rows.cols), entries = sum;
  for (auto e = rows.row_start[0]; e < rows.row_start[static_cast<std::size_t>(count)]; ++e) {
    const auto j = rows.columns[static_cast<std::size_t>(e)];
    sum(j) += rows.values[static_cast<std::size_t>(e)];
    entries(j) += 1;
  }
  const auto all = static_cast<double>(count);
  return (2 * entries.array() >= all).select(sum / std::max(1.0, all), 0);
}

Vector<double> first_shift(SparseRowSource& source) {
  CsrMatrix<double> head;
  source.rewind();
  source.read_sparse(rows_for_sparse_shift, head);
  source.rewind();
  return sparse_shift(borrow(head));
}

template <class S>
LaneSums sum_lanes(RowSource<S>& source, bool center, const ReadingOptions& reading, const ReadingPart& part,
                   const Vector<double>* shift) {
  Leaves leaves = leaves_of_sums(source.cols());
  const bool find = center && shift == nullptr;
  Vector<double> given = shift != nullptr ? *shift : zero_shift(source.cols());
  if (part.alone()) return sum_dense<S>(source, leaves, find, std::move(given), reading);
  if (part.lanes(leaves) == 0) return {.shift = std::move(given)};
  LaneRows<S> own(source, leaves, part);
  leaves.lanes = part.lanes(leaves);
  return sum_dense<S>(own, leaves, find, std::move(given), reading);
}
template LaneSums sum_lanes<float>(RowSource<float>&, bool, const ReadingOptions&, const ReadingPart&,
                                   const Vector<double>*);
template LaneSums sum_lanes<double>(RowSource<double>&, bool, const ReadingOptions&, const ReadingPart&,
                                    const Vector<double>*);

namespace {

LaneSums sum_sparse(SparseRowSource& source, const Leaves& leaves, bool find_shift, Vector<double> shift,
                    const ReadingOptions& reading) {
  SparseReadAhead rows(source, sparse_rows_at_once(source, reading));
  std::optional<SparseSum> sum;
  Index count = 0;
  rows.rewind();
  for (CsrView<double> some = rows.next(); some.rows > 0; some = rows.next()) {
    if (!sum) sum.emplace(source.cols(), leaves, find_shift ? sparse_shift(some) : std::move(shift));
    sum->add(some);
    count += some.rows;
    if (reading.watch) reading.watch({.pass = 1, .rows = count});
  }
  return sum ? std::move(*sum).finish() : LaneSums{.shift = zero_shift(source.cols())};
}

}  // namespace

LaneSums sum_lanes(SparseRowSource& source, bool center, const ReadingOptions& reading, const ReadingPart& part,
                   const Vector<double>* shift) {
  Leaves leaves = leaves_of_sparse_sums(source.cols());
  const bool find = center && shift == nullptr;
  Vector<double> given = shift != nullptr ? *shift : zero_shift(source.cols());
  if (part.alone()) return sum_sparse(source, leaves, find, std::move(given), reading);
  if (part.lanes(leaves) == 0) return {.shift = std::move(given)};
  SparseLaneRows own(source, leaves, part);
  leaves.lanes = part.lanes(leaves);
  return sum_sparse(own, leaves, find, std::move(given), reading);
}

FormedCovariance covariance_of_lanes(LaneSums sums, const Leaves& leaves, bool center, const std::string& source) {
  const Index d = sums.shift.size();
  GramSum sum = sums.lanes.empty() ? GramSum(d) : std::move(sums.lanes.front());
  for (std::size_t lane = 1; lane < sums.lanes.size(); ++lane) {
    sum.add(sums.lanes[lane]);
    sums.lanes[lane] = GramSum(0);
  }
  const Index rows = sum.rows(), blocks = (rows + leaves.rows - 1) / leaves.rows;
  if (rows == 0) throw DataError(fmt::format("{}: has no rows", source));
  if (!is_ordinary(sum))
    throw DataError(fmt::format(
        "{}: an entry is not finite, or entries are so large or so small that their squares are no numbers; scale them",
        source));
  if (sums.terms.size() == 0)
    sums.terms = Vector<double>::Constant(d, static_cast<double>(std::min(rows, leaves.rows)));
  sums.terms.array() += static_cast<double>((blocks + leaves.lanes - 1) / leaves.lanes + leaves.lanes);
  return covariance_of(std::move(sum), std::move(sums.shift), center, sums.terms);
}

std::uint64_t bytes_to_form_sparse_covariance(Index columns, Index rows, std::int64_t entries) {
  const Leaves leaves = leaves_of_sparse_sums(columns);
  const Index sums = std::min(leaves.lanes, (rows + leaves.rows - 1) / leaves.rows) + 1;
  const std::int64_t held = entries_at_once(entries) * 5 / 4;  // rows differ in length
  constexpr std::int64_t of_an_entry = read_ahead_buffers * 12 + 12 + 24;
  return static_cast<std::uint64_t>(sums) * bytes_of_matrix(columns) + static_cast<std::uint64_t>(held * of_an_entry);
}

Index sparse_rows_at_once(const SparseRowSource& source, const ReadingOptions& reading) {
  const Index all = source.rows().value_or(0);
  Index asked = reading.rows_at_once;
  if (asked == 0) {
    const auto entries = std::max<Index>(1, source.entries() / std::max<Index>(all, 1));
    asked = std::clamp<Index>(entries_at_once(source.entries()) / entries, 1, sparse_leaf_rows);
  }
  return (asked + rows_for_sparse_shift - 1) / rows_for_sparse_shift * rows_for_sparse_shift;
}

}  // namespace hearsay::detail
