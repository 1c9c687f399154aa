// Covariances whose products use a part of the rows: noisy products with the covariance of all of them.
//
//   in memory   a batch is drawn without replacement: every pass has an order of its own, made of the seed and the pass
//   streamed    a batch is what arrives next; a pass that ends is followed by the next one
//
// The mean of the products over a whole pass is that of all rows, so that averages over whole passes lose nothing to
// the drawing (docs/guide/streams.md). Every error is symmetric: X'AX shows none of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/export.hpp"
#include "hearsay/operator.hpp"
#include "hearsay/operators/covariance.hpp"
#include "hearsay/row_source.hpp"

namespace hearsay {

struct MinibatchOptions {
  bool center = true;
  Index batch = 256;       ///< rows of a product, at most; a pass is cut into parts of equal size
  std::uint64_t seed = 0;  ///< drives the order of the rows and nothing else
  // As CovarianceOptions has them.
  bool standardize = false;
  bool missing_as_mean = false;
  std::span<const double> weights = {};
  std::span<const std::string> column_names = {};
};

/// Which rows come when.
class HEARSAY_API RowBatches {
 public:
  RowBatches(Index rows, Index batch, std::uint64_t seed);

  Index per_pass() const { return per_pass_; }
  /// The rows of the next batch, until the one after it is asked for.
  std::span<const Index> next();
  void hold() { held_ = true; }  ///< from now on it is the last one again and again, until a seek
  std::uint64_t position() const { return position_; }  ///< batches handed out so far
  void seek(std::uint64_t position);

 private:
  void shuffle(std::uint64_t pass);

  Index rows_, per_pass_;
  std::uint64_t seed_, position_ = 0, shuffled_pass_;
  bool held_ = false;
  std::vector<Index> order_;  // of the pass that was shuffled last
};

/// Rows in memory, centred by the mean of all of them.
template <class S>
class HEARSAY_API MinibatchCovariance {
 public:
  using Scalar = S;

  explicit MinibatchCovariance(const Block<S>& data, const MinibatchOptions& options = {})
      : MinibatchCovariance(borrow(data), options) {}
  explicit MinibatchCovariance(Block<S>&& data, const MinibatchOptions& options = {}) = delete;
  explicit MinibatchCovariance(BorrowedBlock<S> data, const MinibatchOptions& options = {});

  Index dim() const { return data_.cols(); }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const;
  OperatorFacts facts() const;
  std::uint64_t position() const { return batches_.position(); }
  void seek(std::uint64_t position) const { batches_.seek(position); }
  void hold() const { batches_.hold(); }  ///< every later product uses the batch of the last

  Index batches_per_pass() const { return batches_.per_pass(); }
  Index passes() const { return static_cast<Index>(position()) / batches_per_pass(); }  ///< that have ended
  const DenseCovariance<S>& of_all_rows() const { return whole_; }

 private:
  void gather(std::span<const Index> rows) const;

  BorrowedBlock<S> data_;
  DenseCovariance<S> whole_;
  double to_sample_;  // m over the divisor of the covariance, so that the mean of all batches is the covariance
  mutable RowBatches batches_;
  mutable Block<S> rows_, products_;  // some rows of the batch, centred, and their products with X
};

template <class S>
class HEARSAY_API SparseMinibatchCovariance {
 public:
  using Scalar = S;

  explicit SparseMinibatchCovariance(const CsrMatrix<S>& data, const MinibatchOptions& options = {})
      : SparseMinibatchCovariance(borrow(data), options) {}
  explicit SparseMinibatchCovariance(CsrMatrix<S>&& data, const MinibatchOptions& options = {}) = delete;
  explicit SparseMinibatchCovariance(CsrView<S> data, const MinibatchOptions& options = {});

  Index dim() const { return data_.cols; }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const;
  OperatorFacts facts() const;
  std::uint64_t position() const { return batches_.position(); }
  void seek(std::uint64_t position) const { batches_.seek(position); }
  void hold() const { batches_.hold(); }  ///< every later product uses the batch of the last

  Index batches_per_pass() const { return batches_.per_pass(); }
  Index passes() const { return static_cast<Index>(position()) / batches_per_pass(); }  ///< that have ended
  const SparseCovariance<S>& of_all_rows() const { return whole_; }

 private:
  CsrView<S> data_;
  SparseCovariance<S> whole_;
  std::span<const double> weights_;
  double to_sample_;
  mutable RowBatches batches_;
  mutable CsrMatrix<S> rows_;  // of the batch
  mutable std::vector<double> row_weights_;
};

/// Rows that are given up after their product: in the first pass each batch is centred so that the sum over all of them
/// is the scatter about the mean of all, whatever that will be (Chan, Golub and LeVeque, 1983).
template <class S>
class HEARSAY_API RunningCentre {
 public:
  RunningCentre(Index features, bool center);

  /// Rows of a batch, centred in place. What their mean adds to the scatter is one more row, `between`.
  void take(BlockView<S> rows, Eigen::Ref<Vector<S>> between);
  /// What the products of that batch are divided by: its expectation is then the covariance.
  double divisor() const { return divisor_; }

  Index samples() const { return samples_; }
  double samples_divisor() const;  ///< of the covariance of all rows so far
  const Vector<double>& mean() const { return mean_; }
  double total_variance() const;  ///< of all rows so far

 private:
  bool center_;
  Index samples_ = 0;
  double divisor_ = 1, squares_ = 0;
  Vector<double> mean_;
};

/// The rows of a source in the order in which they come, so many for each product. Where the source ends, the next pass
/// begins.
template <class S>
class HEARSAY_API ArrivingCovariance {
 public:
  using Scalar = S;

  ArrivingCovariance(RowSource<S>& source, bool center, Index batch);

  Index dim() const { return source_->cols(); }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const;
  OperatorFacts facts() const;
  std::uint64_t position() const { return batches_; }
  /// Reads everything up to there again: what the first pass learnt is not kept elsewhere.
  void seek(std::uint64_t position) const;

  void hold() const { held_ = true; }  ///< every later product uses the batch of the last

  Index passes() const { return passes_; }             ///< that have ended
  Index samples() const { return centre_.samples(); }  ///< of the first pass, so far
  Vector<S> mean() const { return centre_.mean().template cast<S>(); }
  double divisor() const { return centre_.samples_divisor(); }
  double total_variance() const { return centre_.total_variance(); }

 private:
  void take_batch() const;
  void read_ahead() const;
  void complete_ahead() const;
  void restart() const;

  RowSource<S>* source_;
  bool center_;
  Index batch_;
  mutable RunningCentre<S> centre_;
  mutable Block<S> rows_, ahead_, products_;  // the batch and `between`; the rows that come next; products with X
  mutable Index ahead_count_ = 0, passes_ = 0;
  mutable std::uint64_t batches_ = 0;
  mutable double divisor_ = 1;  // of the batch
  mutable bool held_ = false;
};

}  // namespace hearsay
