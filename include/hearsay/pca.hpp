// Principal component analysis of a data matrix: the covariance operator that suits its shape, the solver, and the
// numbers a user of PCA expects.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/export.hpp"
#include "hearsay/noise.hpp"
#include "hearsay/power.hpp"
#include "hearsay/row_source.hpp"

namespace hearsay {

/// What becomes of missing entries, which are NaN in the data: an error; their rows are left out; they count as the
/// mean of their column; they are filled in by what the components say of them, again and again (EM).
enum class Missing { refuse, drop_rows, mean, em };
HEARSAY_API std::string_view name(Missing policy);

/// What was missing, and what was done about it.
struct MissingFacts {
  Missing policy = Missing::refuse;
  Index entries = 0;                                         ///< in rows that count
  Index rows = 0;                                            ///< that had any and were kept
  Index empty_rows = 0;                                      ///< that had nothing else and were kept
  Index dropped = 0;                                         ///< rows that were left out
  Index rounds = 0;                                          ///< of EM
  double change = std::numeric_limits<double>::quiet_NaN();  ///< of the entries filled in, in EM's last round, as a
                                                             ///< share of an entry's standard deviation
  bool settled = true;                                       ///< EM came to rest; true of the other policies
};

template <class S>
struct PcaOptions {
  PowerOptions power = {};
  bool center = true;        ///< sample covariance, divided by m - 1; otherwise Phi'Phi / m
  NoiseModel<S> noise = {};  ///< errors added to every product with the covariance
  /// The solve goes on below the tolerance until sin_theta_estimate is at most this, or as far as
  /// rounding and the iterations allow. The residual is relative to the largest variance, and may leave the smallest
  /// wanted one blurred. Unlike power.accuracy it is a wish: converged is what met the tolerance.
  std::optional<double> wished_accuracy = {};
  std::int64_t gram_bytes_limit = std::int64_t{2}
                                  << 30;  ///< the most memory a formed covariance may take; 0: never formed
  bool standardize = false;               ///< columns to variance one; constant ones to zero
  bool missing_as_mean = false;           ///< a NaN counts as the mean of its column; otherwise it is refused
  std::span<const double> weights = {};   ///< of the rows: a row of weight 2 counts as two; none: all count alike
  std::span<const std::string> column_names = {};  ///< for messages
};

template <class S>
struct [[nodiscard]] PcaResult {
  PowerResult<S> power;       ///< basis: d x k components; eigenvalues: the variances they explain
  Vector<S> mean;             ///< of each feature; zero when not centring
  Vector<S> singular_values;  ///< of the (centred) data
  double total_variance = 0;  ///< the trace of the covariance
  Index samples = 0;          ///< rows that count
  bool centred = true;
  bool by_samples = false;  ///< solved on the m x m side, because m < d
  bool formed = false;      ///< the covariance (or m x m) matrix was formed on the way
  Vector<S> scale = {};     ///< what each feature was divided by: its standard deviation, one where it is constant;
                            ///< empty unless standardized
  std::vector<Index> constant = {};  ///< features that standardizing left at zero
  double weight = 0;                 ///< of all rows; their number where they have none of their own
  MissingFacts missing = {};
};

/// Phi is m samples x d features and is neither copied nor changed.
template <class S>
HEARSAY_API PcaResult<S> pca(const Block<S>& data, const PcaOptions<S>& options, const Hooks<S>& hooks = {});
template <class S>
HEARSAY_API PcaResult<S> pca(const BorrowedBlock<S>& data, const PcaOptions<S>& options, const Hooks<S>& hooks = {});
template <class S>
HEARSAY_API PcaResult<S> pca(const CsrMatrix<S>& data, const PcaOptions<S>& options, const Hooks<S>& hooks = {});
template <class S>
HEARSAY_API PcaResult<S> pca(const CsrView<S>& data, const PcaOptions<S>& options, const Hooks<S>& hooks = {});

/// (Phi - 1 mean') components, divided by the scale first where there is one: m x k. The data may be others than those
/// of the analysis. Missing entries follow the policy of the result: a row that drop_rows leaves out has NaN for
/// scores; by EM they are what the components and the other entries of the row make of them.
template <class S>
HEARSAY_API Block<S> pca_scores(const Block<S>& data, const PcaResult<S>& result);
template <class S>
HEARSAY_API Block<S> pca_scores(const CsrMatrix<S>& data, const PcaResult<S>& result);
HEARSAY_API Block<double> pca_scores(RowSource<double>& rows, const PcaResult<double>& result, Index block_rows = 1024);

/// Scores of variance one: each column divided by the root of its eigenvalue; zero where that is zero.
template <class S>
HEARSAY_API void whiten(Block<S>& scores, const PcaResult<S>& result);

/// What is left of the variance, per direction that is no component, of min(d, m), as scikit-learn has it; in the unit
/// of the eigenvalues.
template <class S>
HEARSAY_API double noise_variance(const PcaResult<S>& result);

/// How many components Minka's criterion finds (Automatic choice of dimensionality for PCA, 2000), as scikit-learn's
/// n_components = 'mle': from all d eigenvalues, descending, of the covariance of so many samples; from 1 to d - 1.
HEARSAY_API Index minka_rank(const Vector<double>& eigenvalues, double samples);

}  // namespace hearsay
