// Legend   s  shift | B  the rows of a leaf, less their shift | U = B X | Y += B'U
#include "operators/stream_pass.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/kernels.hpp"
#include "linalg/scratch.hpp"
#include "operators/lane_sums.hpp"
#include "operators/row_pass.hpp"
#include "operators/sparse_outer.hpp"

namespace hearsay::detail {

namespace {

template <class S>
void begin_lanes(std::vector<ProductLane<S>>& lanes, Index d, Index p, bool first) {
  for (ProductLane<S>& lane : lanes) {
    lane.Y.setZero(d, p);
    lane.sums.setZero(first ? d : 0);
    lane.squares = 0;
  }
}

// Of a part of the lanes a source of its own.
template <class S>
std::unique_ptr<RowSource<S>> own_rows(RowSource<S>& source, const Leaves& leaves, const ReadingPart& part) {
  return part.alone() ? nullptr : std::make_unique<LaneRows<S>>(source, leaves, part);
}
std::unique_ptr<SparseRowSource> own_rows(SparseRowSource& source, const Leaves& leaves, const ReadingPart& part) {
  return part.alone() ? nullptr : std::make_unique<SparseLaneRows>(source, leaves, part);
}

template <class S, class Stored>
class DenseLanes final : public ProductLanes<S> {
 public:
  DenseLanes(RowSource<Stored>& source, bool center, ReadingOptions reading, ReadingPart part)
      : source_(source),
        watch_(std::move(reading.watch)),
        center_(center),
        leaves_(leaves_of_products(source.cols())),
        own_(own_rows<Stored>(source, leaves_, part)),
        rows_(own_ ? *own_ : source, buffered_rows(reading.rows_at_once, leaves_,
                                                   source.cols() * static_cast<Index>(sizeof(Stored)), source.rows())) {
    leaves_.lanes = part.lanes(leaves_);
    this->lanes_.resize(static_cast<std::size_t>(leaves_.lanes));
    this->shift_ = Vector<S>::Zero(source.cols());
  }

  Index read(ConstBlockView<S> X, bool first) override {
    const auto& kernel = kernels::table<S>();
    const Index d = X.rows(), p = X.cols();
    packed_.resize(d, kernels::round_up(p, kernels::tile_columns<S>()));
    kernel.pack(d, p, X.data(), X.outerStride(), packed_.data());
    begin_lanes(this->lanes_, d, p, first);
    ++pass_;
    return visit_leaves<Stored>(
        rows_, leaves_,
        [&](const BorrowedBlock<Stored>& rows) {
          if (first && center_ && !this->shift_found_)
            this->shift_ = provisional_mean<Stored>(rows, leaves_.rows).template cast<S>();
        },
        [&](Index lane, const BorrowedBlock<Stored>& rows) { add(lane, rows, p, first); },
        [&](Index rows) {
          if (watch_) watch_({.pass = pass_, .rows = rows});
        });
  }

  void find_shift() override {
    if (center_) this->set_shift(first_shift<Stored>(source_, leaves_.rows).template cast<S>());
  }

 private:
  const S* centred(const BorrowedBlock<Stored>& rows, Index& stride) const {
    const Index d = rows.cols();
    if constexpr (std::is_same_v<S, Stored>)
      if (!center_) {
        stride = rows.outerStride();
        return rows.data();
      }
    stride = d;
    S* const out = scratch<S, ScratchUse::centred_rows>(leaves_.rows * d);
    for (Index i = 0; i < rows.rows(); ++i) {
      const Stored* __restrict row = rows.data() + i * rows.outerStride();
      const S* __restrict s = this->shift_.data();
      S* __restrict to = out + i * d;
      for (Index j = 0; j < d; ++j) to[j] = static_cast<S>(row[j]) - s[j];
    }
    return out;
  }

  void add(Index index, const BorrowedBlock<Stored>& rows, Index p, bool first) {
    ProductLane<S>& lane = this->lanes_[static_cast<std::size_t>(index)];
    const auto& kernel = kernels::table<S>();
    const Index d = rows.cols(), count = rows.rows(), padded = kernels::round_up(p, kernels::tile_columns<S>());
    Index stride = 0;
    const S* B = centred(rows, stride);
    S* U = scratch<S, ScratchUse::products>(leaves_.rows * (p + padded));
    S* U_packed = U + leaves_.rows * p;
    constexpr Index sweep = 2048;  // rows of X at once, as for dense products
    for (Index j = 0; j < d; j += sweep)
      kernel.multiply(count, std::min(sweep, d - j), p, B + j, stride, 1,
                      packed_.data() + j * kernels::tile_columns<S>(), d, U, p, j > 0);
    kernel.pack(count, p, U, p, U_packed);
    kernel.multiply(d, count, p, B, 1, stride, U_packed, count, lane.Y.data(), p, true);
    if (!first) return;
    for (Index i = 0; i < count; ++i) {
      const S* __restrict row = B + i * stride;
      double* __restrict sum = lane.sums.data();
      double squares = 0;
      for (Index j = 0; j < d; ++j) {
        const auto value = static_cast<double>(row[j]);
        sum[j] += value;
        squares += value * value;
      }
      lane.squares += squares;
    }
  }

  RowSource<Stored>& source_;
  WatchReading watch_;
  bool center_;
  Leaves leaves_;
  std::unique_ptr<RowSource<Stored>> own_;
  ReadAhead<Stored> rows_;
  Block<S> packed_;
  Index pass_ = 0;
};

// Without their zeros; and so of the columns those alone are shifted that have few (lane_sums.hpp).
class SparseLanes final : public ProductLanes<double> {
 public:
  SparseLanes(SparseRowSource& source, bool center, ReadingOptions reading, ReadingPart part)
      : source_(source),
        center_(center),
        leaves_(leaves_of_sparse_products()),
        own_(own_rows(source, leaves_, part)),
        rows_(own_ ? *own_ : source, sparse_rows_at_once(source, reading)),
        watch_(std::move(reading.watch)) {
    leaves_.lanes = part.lanes(leaves_);
    lanes_.resize(static_cast<std::size_t>(leaves_.lanes));
    shift_ = Vector<double>::Zero(source.cols());
  }

  Index read(ConstBlockView<double> X, bool first) override {
    begin_lanes(lanes_, X.rows(), X.cols(), first);
    ++pass_;
    rows_.rewind();
    Index count = 0, begun = 0;
    for (CsrView<double> rows = rows_.next(); rows.rows > 0; rows = rows_.next()) {
      if (count == 0 && first && center_ && !shift_found_) shift_ = sparse_shift(rows);
      if (count == 0) take_shifted();
      begun += add_leaves(rows, begun, X, first);
      count += rows.rows;
      if (watch_) watch_({.pass = pass_, .rows = count});
    }
    return count;
  }

  void find_shift() override {
    if (center_) set_shift(first_shift(source_));
  }

  // The others keep their zeros.
  void shift_to(const Vector<double>& mean) override {
    shift_ = (shift_.array() != 0).select(mean, Vector<double>::Zero(mean.size()));
  }

 private:
  void take_shifted() {
    shifted_.clear();
    for (Index j = 0; j < shift_.size(); ++j)
      if (shift_(j) != 0) shifted_.push_back(static_cast<std::int32_t>(j));
  }

  // Leaves of these rows; as many were begun before.
  Index add_leaves(const CsrView<double>& rows, Index begun, ConstBlockView<double> X, bool first) {
    const Index here = (rows.rows + leaves_.rows - 1) / leaves_.rows;
#pragma omp parallel for schedule(static, 1) \
    num_threads(worth_threads(4.0 * double(rows.nonzeros()) * double(X.cols())))
    for (Index lane = 0; lane < leaves_.lanes; ++lane)
      for (Index leaf = (lane + leaves_.lanes - begun % leaves_.lanes) % leaves_.lanes; leaf < here;
           leaf += leaves_.lanes)
        for (Index i = leaf * leaves_.rows; i < std::min(rows.rows, (leaf + 1) * leaves_.rows); ++i)
          add_row(lanes_[static_cast<std::size_t>(lane)], rows, i, X, first);
    return here;
  }

  void add_row(ProductLane<double>& lane, const CsrView<double>& rows, Index i, ConstBlockView<double> X,
               bool first) const {
    if (shifted_.empty()) {
      const auto begin = static_cast<std::size_t>(rows.row_start[static_cast<std::size_t>(i)]),
                 count = static_cast<std::size_t>(rows.row_start[static_cast<std::size_t>(i) + 1]) - begin;
      return add_entries(lane, rows.columns.subspan(begin, count), rows.values.subspan(begin, count), X, first);
    }
    thread_local CsrMatrix<double> row;
    row.columns.clear();
    row.values.clear();
    add_shifted_row(rows, i, shift_, shifted_, row);
    add_entries(lane, row.columns, row.values, X, first);
  }

  static void add_entries(ProductLane<double>& lane, std::span<const std::int32_t> columns,
                          std::span<const double> values, ConstBlockView<double> X, bool first) {
    const Index p = X.cols();
    double* const U = scratch<double, ScratchUse::products>(p);
    std::fill(U, U + p, 0.0);
    for (std::size_t e = 0; e < columns.size(); ++e) {
      const double* __restrict x = X.data() + columns[e] * X.outerStride();
      double* __restrict u = U;
      for (Index c = 0; c < p; ++c) u[c] += values[e] * x[c];
    }
    for (std::size_t e = 0; e < columns.size(); ++e) {
      const double* __restrict u = U;
      double* __restrict y = lane.Y.data() + columns[e] * p;
      for (Index c = 0; c < p; ++c) y[c] += values[e] * u[c];
    }
    if (!first) return;
    for (std::size_t e = 0; e < columns.size(); ++e) {
      lane.sums(columns[e]) += values[e];
      lane.squares += values[e] * values[e];
    }
  }

  SparseRowSource& source_;
  bool center_;
  Leaves leaves_;
  std::unique_ptr<SparseRowSource> own_;
  SparseReadAhead rows_;
  WatchReading watch_;
  std::vector<std::int32_t> shifted_ = {};
  Index pass_ = 0;
};

// No lane is left for it.
template <class S>
class NoLanes final : public ProductLanes<S> {
 public:
  Index read(ConstBlockView<S>, bool) override { return 0; }
  void find_shift() override {}
};

}  // namespace

// About a quarter of a megabyte of centred rows, so that B X and B'(B X) both find them in cache.
Leaves leaves_of_products(Index d) {
  constexpr Index bytes = 256 << 10;
  return {.rows = std::clamp<Index>(bytes / (static_cast<Index>(sizeof(double)) * std::max<Index>(d, 1)), 8, 128),
          .lanes = product_lane_count};
}
Leaves leaves_of_sparse_products() { return {.rows = 256, .lanes = product_lane_count}; }

template <class S, class Stored>
std::unique_ptr<ProductLanes<S>> product_lanes(RowSource<Stored>& source, bool center, ReadingOptions reading,
                                               ReadingPart part) {
  if (part.lanes(leaves_of_products(source.cols())) == 0) return std::make_unique<NoLanes<S>>();
  return std::make_unique<DenseLanes<S, Stored>>(source, center, std::move(reading), part);
}
std::unique_ptr<ProductLanes<double>> product_lanes(SparseRowSource& source, bool center, ReadingOptions reading,
                                                    ReadingPart part) {
  if (part.lanes(leaves_of_sparse_products()) == 0) return std::make_unique<NoLanes<double>>();
  return std::make_unique<SparseLanes>(source, center, std::move(reading), part);
}

template std::unique_ptr<ProductLanes<float>> product_lanes(RowSource<float>&, bool, ReadingOptions, ReadingPart);
template std::unique_ptr<ProductLanes<double>> product_lanes(RowSource<double>&, bool, ReadingOptions, ReadingPart);
template std::unique_ptr<ProductLanes<double>> product_lanes(RowSource<float>&, bool, ReadingOptions, ReadingPart);

}  // namespace hearsay::detail
