#include "hearsay/operators/minibatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/random.hpp"
#include "linalg/worth_threads.hpp"

namespace hearsay {

namespace {

constexpr Index gathered_rows = 1024;  // of a batch, centred side by side
constexpr std::uint64_t no_pass = std::numeric_limits<std::uint64_t>::max();

double to_sample_covariance(Index rows, bool center) {
  const auto m = static_cast<double>(rows);
  return center && rows > 1 ? m / (m - 1) : 1.0;
}

CovarianceOptions of_all(const MinibatchOptions& options) {
  return {.center = options.center,
          .gram_bytes_limit = 0,
          .standardize = options.standardize,
          .missing_as_mean = options.missing_as_mean,
          .weights = options.weights,
          .column_names = options.column_names};
}

OperatorFacts of_a_part(OperatorFacts facts, Index parts) {
  if (parts == 1) return facts;  // all rows in every product, in another order
  facts.noisy = true;
  facts.exact = false;
  facts.multiply_adds /= static_cast<double>(parts);
  return facts;
}

// Y <- B'B X / divisor.
template <class S>
void multiply_by_gram(ConstBlockView<S> B, ConstBlockView<S> X, double divisor, Block<S>& products, BlockView<S> Y) {
  const BorrowedBlock<S> rows(B.data(), B.rows(), B.cols(), Eigen::OuterStride<>(B.outerStride()));
  if (products.rows() < B.rows() || products.cols() != X.cols()) products.resize(B.rows(), X.cols());
  multiply<S>(rows, X, products.topRows(B.rows()));
  Y.setZero();
  accumulate_transposed<S>(rows, products.topRows(B.rows()), Y);
  Y /= static_cast<S>(divisor);
}

}  // namespace

// ---- Which rows come when

RowBatches::RowBatches(Index rows, Index batch, std::uint64_t seed)
    : rows_(rows), seed_(seed), shuffled_pass_(no_pass), order_(static_cast<std::size_t>(std::max<Index>(rows, 0))) {
  require(batch >= 1 && batch <= rows, fmt::format("batch = {}: must lie in [1, {}], the number of rows", batch, rows));
  per_pass_ = (rows + batch - 1) / batch;
}

// Fisher and Yates, with a number that depends on the seed, the pass and the place alone.
void RowBatches::shuffle(std::uint64_t pass) {
  const RandomKey key{.seed = seed_, .stream = Stream::row_order, .iteration = static_cast<std::uint32_t>(pass)};
  const auto epoch = static_cast<std::uint32_t>(pass >> 32);
  std::iota(order_.begin(), order_.end(), Index{0});
  for (Index i = 0; i + 1 < rows_; ++i) {
    const double u = random_uniform(key, static_cast<std::uint64_t>(i), epoch);
    const Index j = std::min(rows_ - 1, i + static_cast<Index>(u * static_cast<double>(rows_ - i)));
    std::swap(order_[static_cast<std::size_t>(i)], order_[static_cast<std::size_t>(j)]);
  }
  shuffled_pass_ = pass;
}

void RowBatches::seek(std::uint64_t position) {
  position_ = position;
  held_ = false;
}

std::span<const Index> RowBatches::next() {
  const auto parts = static_cast<std::uint64_t>(per_pass_);
  const std::uint64_t at = held_ && position_ > 0 ? position_ - 1 : position_++;
  if (at / parts != shuffled_pass_) shuffle(at / parts);
  const auto part = static_cast<Index>(at % parts);
  const auto first = static_cast<std::size_t>(part * rows_ / per_pass_),
             last = static_cast<std::size_t>((part + 1) * rows_ / per_pass_);
  return std::span<const Index>(order_).subspan(first, last - first);
}

// ---- Rows in memory

template <class S>
MinibatchCovariance<S>::MinibatchCovariance(BorrowedBlock<S> data, const MinibatchOptions& options)
    : data_(data),
      whole_(data, of_all(options)),
      to_sample_(static_cast<double>(data.rows()) / whole_.divisor()),
      batches_(data.rows(), options.batch, options.seed),
      rows_(std::min(options.batch, gathered_rows), data.cols()) {}

template <class S>
void MinibatchCovariance<S>::gather(std::span<const Index> rows) const {
  const auto count = static_cast<Index>(rows.size());
#pragma omp parallel for schedule(static) num_threads(detail::worth_threads(double(count) * double(dim())))
  for (Index i = 0; i < count; ++i) whole_.row(rows[static_cast<std::size_t>(i)], rows_.row(i).data());
}

template <class S>
void MinibatchCovariance<S>::apply(ConstBlockView<S> X, BlockView<S> Y) const {
  const std::span<const Index> rows = batches_.next();
  if (products_.cols() != X.cols()) products_.resize(rows_.rows(), X.cols());
  Y.setZero();
  for (std::size_t first = 0; first < rows.size(); first += gathered_rows) {
    const auto some = rows.subspan(first, std::min<std::size_t>(gathered_rows, rows.size() - first));
    const auto count = static_cast<Index>(some.size());
    gather(some);
    const BorrowedBlock<S> B(rows_.data(), count, dim(), Eigen::OuterStride<>(rows_.outerStride()));
    multiply<S>(B, X, products_.topRows(count));
    accumulate_transposed<S>(B, products_.topRows(count), Y);
  }
  Y *= static_cast<S>(to_sample_ / static_cast<double>(rows.size()));
}

template <class S>
OperatorFacts MinibatchCovariance<S>::facts() const {
  return of_a_part(whole_.facts(), batches_per_pass());
}

template <class S>
SparseMinibatchCovariance<S>::SparseMinibatchCovariance(CsrView<S> data, const MinibatchOptions& options)
    : data_(data),
      whole_(data, of_all(options)),
      weights_(options.weights),
      to_sample_(static_cast<double>(data.rows) / whole_.divisor()),
      batches_(data.rows, options.batch, options.seed) {
  rows_.cols = data.cols;
}

template <class S>
void SparseMinibatchCovariance<S>::apply(ConstBlockView<S> X, BlockView<S> Y) const {
  rows_.row_start.assign(1, 0);
  rows_.columns.clear();
  rows_.values.clear();
  row_weights_.clear();
  const std::span<const Index> rows = batches_.next();
  for (const Index row : rows) {
    const auto first = data_.row_start[static_cast<std::size_t>(row)],
               last = data_.row_start[static_cast<std::size_t>(row) + 1];
    rows_.columns.insert(rows_.columns.end(), data_.columns.begin() + first, data_.columns.begin() + last);
    rows_.values.insert(rows_.values.end(), data_.values.begin() + first, data_.values.begin() + last);
    rows_.row_start.push_back(static_cast<std::int64_t>(rows_.columns.size()));
    if (!weights_.empty()) row_weights_.push_back(weights_[static_cast<std::size_t>(row)]);
  }
  rows_.rows = static_cast<Index>(rows.size());
  whole_.of_rows(borrow(rows_), row_weights_).apply(X, Y);
  Y *= static_cast<S>(to_sample_);
}

template <class S>
OperatorFacts SparseMinibatchCovariance<S>::facts() const {
  return of_a_part(whole_.facts(), batches_per_pass());
}

// ---- Rows that arrive

template <class S>
RunningCentre<S>::RunningCentre(Index features, bool center) : center_(center), mean_(Vector<double>::Zero(features)) {}

// With N rows before and n now, whose means differ by delta: scatter of all = scatters of both + nN/(n+N) delta delta'.
// The first batch alone has n - 1 degrees of freedom.
template <class S>
void RunningCentre<S>::take(BlockView<S> rows, Eigen::Ref<Vector<S>> between) {
  const auto before = static_cast<double>(samples_), now = static_cast<double>(rows.rows());
  between.setZero();
  if (center_ && rows.rows() > 0) {
    const Vector<double> shift = rows.row(0).transpose().template cast<double>();
    Vector<double> mean = Vector<double>::Zero(rows.cols());
    for (Index i = 0; i < rows.rows(); ++i) mean += rows.row(i).transpose().template cast<double>() - shift;
    mean = mean / now + shift;
    rows.rowwise() -= mean.transpose().template cast<S>();
    if (samples_ > 0) between = (std::sqrt(before * now / (before + now)) * (mean - mean_)).template cast<S>();
    mean_ += (mean - mean_) * (now / (before + now));
  }
  divisor_ = std::max(1.0, center_ && samples_ == 0 ? now - 1 : now);
  samples_ += rows.rows();
  squares_ += rows.template cast<double>().squaredNorm() + between.template cast<double>().squaredNorm();
}

template <class S>
double RunningCentre<S>::samples_divisor() const {
  return std::max(1.0, static_cast<double>(samples_) - (center_ ? 1 : 0));
}

template <class S>
double RunningCentre<S>::total_variance() const {
  return squares_ / samples_divisor();
}

template <class S>
ArrivingCovariance<S>::ArrivingCovariance(RowSource<S>& source, bool center, Index batch)
    : source_(&source), center_(center), batch_(batch), centre_(source.cols(), center) {
  require(batch >= 1, fmt::format("batch = {}: must be at least 1", batch));
  rows_.resize(batch + 1, source.cols());
  ahead_.resize(batch, source.cols());
  restart();
}

template <class S>
void ArrivingCovariance<S>::restart() const {
  source_->rewind();
  centre_ = RunningCentre<S>(dim(), center_);
  passes_ = 0;
  batches_ = 0;
  held_ = false;
  ahead_count_ = source_->read(ahead_);
  if (ahead_count_ == 0) throw DataError("stream: has no rows");
  require(ahead_count_ == batch_,
          fmt::format("batch = {}: must lie in [1, {}], the number of rows", batch_, ahead_count_));
}

// What is left where a pass ends is part of the first batch of the next one.
template <class S>
void ArrivingCovariance<S>::read_ahead() const {
  ahead_count_ = source_->read(ahead_);
  if (ahead_count_ == batch_) return;
  if (++passes_ > 1) return;
  Block<S> rest = ahead_.topRows(ahead_count_);
  Vector<S> between(dim());
  if (ahead_count_ > 0) centre_.take(rest, between);
}

template <class S>
void ArrivingCovariance<S>::complete_ahead() const {
  if (ahead_count_ == batch_) return;
  source_->rewind();
  const Index missing = batch_ - ahead_count_, read = source_->read(ahead_.bottomRows(missing));
  if (read != missing)
    throw DataError(fmt::format("stream: ended after {} rows, and had {} before: every pass must give the same", read,
                                centre_.samples()));
  ahead_count_ = batch_;
}

template <class S>
void ArrivingCovariance<S>::take_batch() const {
  complete_ahead();
  auto rows = rows_.topRows(batch_);
  rows = ahead_;
  if (passes_ == 0) {
    Vector<S> between(dim());
    centre_.take(rows, between);
    rows_.row(batch_) = between.transpose();
    divisor_ = centre_.divisor();
  } else {
    rows.rowwise() -= centre_.mean().transpose().template cast<S>();
    rows_.row(batch_).setZero();
    divisor_ = static_cast<double>(batch_) / to_sample_covariance(centre_.samples(), center_);
  }
  ++batches_;
  read_ahead();
}

template <class S>
void ArrivingCovariance<S>::apply(ConstBlockView<S> X, BlockView<S> Y) const {
  if (!held_ || batches_ == 0) take_batch();
  multiply_by_gram<S>(rows_, X, divisor_, products_, Y);
}

template <class S>
OperatorFacts ArrivingCovariance<S>::facts() const {
  return {.positive_semidefinite = true,
          .noisy = true,
          .multiply_adds = 2.0 * static_cast<double>(batch_) * static_cast<double>(dim())};
}

template <class S>
void ArrivingCovariance<S>::seek(std::uint64_t position) const {
  held_ = false;
  if (position < batches_) restart();
  while (batches_ < position) take_batch();
}

#define HEARSAY_INSTANTIATE(S)                 \
  template class MinibatchCovariance<S>;       \
  template class SparseMinibatchCovariance<S>; \
  template class RunningCentre<S>;             \
  template class ArrivingCovariance<S>;
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay
