// Principal component analysis of a data matrix: the covariance operator that suits its shape, the solver, and the
// numbers a user of PCA expects.
#pragma once

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/export.hpp"
#include "hearsay/noise.hpp"
#include "hearsay/power.hpp"

namespace hearsay {

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
};

template <class S>
struct [[nodiscard]] PcaResult {
  PowerResult<S> power;       ///< basis: d x k components; eigenvalues: the variances they explain
  Vector<S> mean;             ///< of each feature; zero when not centring
  Vector<S> singular_values;  ///< of the (centred) data
  double total_variance = 0;  ///< the trace of the covariance
  Index samples = 0;
  bool by_samples = false;  ///< solved on the m x m side, because m < d
  bool formed = false;      ///< the covariance (or m x m) matrix was formed on the way
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

/// (Phi - 1 mean') components: m x k, with the mean of the result; the data may be others than those of the analysis.
template <class S>
HEARSAY_API Block<S> pca_scores(const Block<S>& data, const PcaResult<S>& result);
template <class S>
HEARSAY_API Block<S> pca_scores(const CsrMatrix<S>& data, const PcaResult<S>& result);

}  // namespace hearsay
