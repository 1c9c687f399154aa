// The covariance of a data matrix Phi (m samples x d features), never formed unless that is cheaper.
//
//   centred     (Phi - 1 mu')'(Phi - 1 mu') / (m - 1)      the sample covariance
//   uncentred   Phi'Phi / m
//   given mean  (Phi - 1 mu')'(Phi - 1 mu') / m            about a mean that was found elsewhere
//
// Dense rows are centred block by block in cache, so that a large offset never meets a product and cancels nothing; no
// second copy of the data is made. When more than d/(5p) products are asked for, forming the d x d matrix would have
// been cheaper, and it is formed (where it fits); the same operator seen from the samples' side (m x m) serves m < d.
//
// Columns may be standardized, rows weighted and missing entries (NaN) stand for the mean of their column, all of it in
// the same pass: Phi is then the matrix with the rows sqrt(w_i) D (x_i - mu), and the divisor the sum of the weights,
// less one where the mean was found here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/export.hpp"
#include "hearsay/operator.hpp"
#include "hearsay/operators/column_moments.hpp"
#include "hearsay/reading.hpp"

namespace hearsay {

struct CovarianceOptions {
  bool center = true;
  bool by_samples = false;  ///< the m x m matrix Phi Phi' / divisor, which shares the eigenvalues
  std::int64_t gram_bytes_limit = std::int64_t{2}
                                  << 30;  ///< the most memory a formed matrix may take; 0 never forms it
  bool form_at_once = true;               ///< where hardly a solve takes fewer products; false where one or two may do
  /// It is formed at once where that costs no more than so many products: a solve for four digits takes seven to 15,
  /// one for ten digits more.
  Index expected_products = 14;
  bool standardize = false;                        ///< columns to variance one; constant ones to zero
  bool missing_as_mean = false;                    ///< a NaN counts as the mean of its column; otherwise it is refused
  std::span<const double> weights = {};            ///< of the rows, borrowed; none: all count alike
  std::span<const std::string> column_names = {};  ///< for messages, borrowed
};

template <class S>
class HEARSAY_API DenseCovariance {
 public:
  using Scalar = S;

  explicit DenseCovariance(const Block<S>& data, CovarianceOptions options = {})
      : DenseCovariance(borrow(data), options) {}
  explicit DenseCovariance(Block<S>&& data, CovarianceOptions options = {}) = delete;
  explicit DenseCovariance(BorrowedBlock<S> data, CovarianceOptions options = {});
  /// About a mean of d numbers that is given, and divided by a scale, where one is.
  static DenseCovariance about(Vector<S> mean, BorrowedBlock<S> data, Vector<S> scale = {},
                               bool missing_as_mean = false);

  Index dim() const { return options_.by_samples ? data_.rows() : data_.cols(); }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const;
  OperatorFacts facts() const;
  std::uint64_t position() const;
  void seek(std::uint64_t position) const;

  const Vector<S>& mean() const { return columns_.mean; }    ///< zero when not centring
  const ColumnRule<S>& columns() const { return columns_; }  ///< what is done to every row
  const ColumnMoments& moments() const { return moments_; }  ///< of the columns; empty unless an option needs them
  double divisor() const { return divisor_; }                ///< m - 1 (at least 1) or m; of weights, of their sum
  int data_exponent() const { return exponent_; }  ///< products use 2^-exponent times the data; 0 unless extreme
  double total_variance() const;                   ///< the trace, in the operator's own scale
  bool formed() const { return gram_.size() > 0; }

  /// (Phi - 1 mu')' V in the operator's scale, V m x p: from the samples' side back to the features'.
  void to_features(ConstBlockView<S> V, BlockView<S> out) const;

  /// (Phi - 1 mu') X in the scale of the data, without the weights: the scores.
  void scores(ConstBlockView<S> X, BlockView<S> out) const;

  /// A row of Phi as products see it: centred, scaled, weighted, in the operator's scale.
  void row(Index i, S* out) const { prepare_row(i, row_root(i), 0, data_.cols(), out); }

  /// (Phi - 1 mu')(Phi - 1 mu')' / divisor, m x m, in the operator's scale; summed in double.
  Block<double> samples_matrix() const;

 private:
  DenseCovariance(BorrowedBlock<S> data, CovarianceOptions options, ColumnRule<S> columns);
  void find_mean();
  void find_moments();
  void require_entries() const;
  bool in_place() const { return !options_.center && exponent_ == 0 && !ruled_; }
  S row_root(Index i) const;
  void prepare_row(Index i, S root, Index first, Index count, S* out) const;
  void apply_by_features(ConstBlockView<S> X, BlockView<S> Y) const;
  void apply_by_samples(ConstBlockView<S> X, BlockView<S> Y) const;
  bool is_wide() const { return data_.rows() < data_.cols(); }
  void to_wide_features(ConstBlockView<S> V, BlockView<S> out) const;
  void multiply_rows(ConstBlockView<S> X, bool weighted, BlockView<S> out) const;
  const S* centred_rows(Index first, Index rows, S* buffer, Index& stride, bool weighted = true) const;
  bool should_form(Index p) const;
  void form() const;
  void form_by_strips() const;
  void form_by_lanes() const;

  static constexpr std::uint64_t formed_bit = std::uint64_t{1} << 63;  // of position(): the matrix had been formed

  BorrowedBlock<S> data_;
  CovarianceOptions options_;
  ColumnRule<S> columns_;
  Vector<S> mean_rest_;  // what rounding took off the mean: beside a large offset more than rows can spare
  ColumnMoments moments_{0};
  bool ruled_ = false;  // an option of the columns or rows was given: more is done to a row than to subtract the mean
  double divisor_ = 1;
  int exponent_ = 0;
  mutable Block<S> gram_;               // formed on demand
  mutable double sum_of_squares_ = -1;  // of all prepared entries, in double; known where single precision formed gram_
  mutable std::uint64_t products_ = 0;
  mutable Index extra_passes_ = 0;
};

/// The same for sparse data. Columns that are stored in full are centred entry by entry; the others implicitly. The
/// d x d matrix is formed from the outer products of the rows where a solve's products would cost more: rows of some
/// dozens of entries. Not where centring would cancel more than six digits.
template <class S>
class HEARSAY_API SparseCovariance {
 public:
  using Scalar = S;

  explicit SparseCovariance(const CsrMatrix<S>& data, bool center = true) : SparseCovariance(borrow(data), center) {}
  explicit SparseCovariance(CsrMatrix<S>&& data, bool center = true) = delete;
  explicit SparseCovariance(CsrView<S> data, bool center = true) : SparseCovariance(data, {.center = center}) {}
  /// Of the options, those about columns, rows and the mean count. Only a stored entry can be missing.
  SparseCovariance(CsrView<S> data, const CovarianceOptions& options);
  /// About a mean of d numbers that is given, and divided by a scale, where one is.
  static SparseCovariance about(Vector<S> mean, CsrView<S> data, Vector<S> scale = {}, bool missing_as_mean = false);
  /// Other rows, with weights of their own where these have some, treated as these are; divided by their number.
  SparseCovariance of_rows(CsrView<S> rows, std::span<const double> weights) const;

  Index dim() const { return data_.cols; }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const;
  OperatorFacts facts() const;
  std::uint64_t position() const;
  void seek(std::uint64_t position) const;

  const Vector<S>& mean() const { return columns_.mean; }
  bool formed() const { return gram_.size() > 0; }
  const ColumnRule<S>& columns() const { return columns_; }
  const ColumnMoments& moments() const { return moments_; }  ///< empty unless an option needs them
  double divisor() const { return divisor_; }
  double total_variance() const;

  void scores(ConstBlockView<S> X, BlockView<S> out) const;

 private:
  SparseCovariance(CsrView<S> data, ColumnRule<S> columns, bool missing_as_mean, double divisor);
  void find_mean();
  void find_moments(const CovarianceOptions& options);
  void shift_full_columns();
  bool should_form(Index p) const;
  void form() const;
  void multiply_rows(ConstBlockView<S> X, BlockView<S> out) const;  // by X that is scaled already
  S entry(std::size_t e, std::int32_t column) const {
    const S value = data_.values[e];
    return missing_ && !(value == value) ? columns_.fill(column) : value;
  }

  static constexpr std::uint64_t formed_bit = std::uint64_t{1} << 63;  // of position(): the matrix had been formed

  CsrView<S> data_;
  ColumnRule<S> columns_;
  ColumnMoments moments_{0};
  std::span<const double> weights_ = {};
  bool scaled_ = false, missing_ = false;
  Vector<S> shift_;  // subtracted from stored entries: the mean of a full column, else zero
  double divisor_ = 1;
  std::int64_t gram_bytes_limit_ = 0;  // 0 never forms the matrix
  bool form_at_once_ = true;
  Index expected_products_ = 0;
  double outer_multiply_adds_ = 0;  // that forming it takes
  mutable Block<S> gram_;           // formed on demand
  mutable bool may_form_ = true;    // until centring was seen to cancel too much
  mutable std::uint64_t products_made_ = 0;
  mutable Block<S> products_, scaled_block_;  // (Phi - 1 mu') D X, m x p; D X
};

namespace detail {
template <class S>
class StreamPass;
}

/// The covariance of rows that pass by: one reading of the source per product, in bounded memory, the next rows read
/// while the last are multiplied. The mean is found during the first product, against a provisional shift (the mean of
/// the first rows), at no extra pass. Products are in S, whatever the rows are stored in; a product has the same bits
/// for any number of threads and of rows that are read at once.
template <class S, class Stored = S>
class HEARSAY_API StreamedCovariance {
 public:
  using Scalar = S;

  explicit StreamedCovariance(RowSource<Stored>& source, bool center = true, ReadingOptions reading = {});
  /// Whose rows are read in another way: without their zeros, or by several processes.
  StreamedCovariance(RowSource<Stored>& source, bool center, std::unique_ptr<detail::StreamPass<S>> pass);
  StreamedCovariance(const StreamedCovariance&) = delete;
  StreamedCovariance& operator=(const StreamedCovariance&) = delete;
  ~StreamedCovariance();

  Index dim() const { return source_->cols(); }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const;
  OperatorFacts facts() const;

  Index samples() const { return samples_; }       ///< known after the first product
  const Vector<S>& mean() const { return mean_; }  ///< known after the first product
  double divisor() const;
  /// The trace, known after the first product; in double.
  double total_variance() const { return squares_ / divisor(); }

 private:
  RowSource<Stored>* source_;
  bool center_;
  std::unique_ptr<detail::StreamPass<S>> pass_;
  mutable Index samples_ = 0;
  mutable Vector<S> mean_;
  mutable double squares_ = 0;  // of all centred entries
};

}  // namespace hearsay
