// Data in the coordinates of components that were found before.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearsay/error.hpp"
#include "hearsay/operators/covariance.hpp"
#include "hearsay/pca.hpp"
#include "solver/conditional.hpp"

namespace hearsay {

std::string_view name(Missing policy) {
  switch (policy) {
    case Missing::refuse:
      return "refuse";
    case Missing::drop_rows:
      return "drop-rows";
    case Missing::mean:
      return "mean";
    case Missing::em:
      return "em";
  }
  return "";
}

namespace {

template <class S, class Covariance>
Block<S> scores_by(const Covariance& A, Index samples, const PcaResult<S>& result) {
  Block<S> scores(samples, result.power.basis.cols());
  A.scores(result.power.basis, scores);
  return scores;
}

template <class S>
void require_same_features(Index features, const PcaResult<S>& result) {
  require(features == result.mean.size(),
          fmt::format("data of {} features: must have {}, as the analysis has", features, result.mean.size()));
}

// Scores in which missing entries counted as the mean, made what the policy says.
template <class S>
void follow_policy(const Block<S>& data, const PcaResult<S>& result, Block<S>& scores) {
  if (result.missing.policy != Missing::drop_rows && result.missing.policy != Missing::em) return;
  const detail::Conditional<S> model(result);
  for (Index i = 0; i < data.rows(); ++i) {
    if (!data.row(i).hasNaN()) continue;
    if (result.missing.policy == Missing::drop_rows)
      scores.row(i).setConstant(std::numeric_limits<S>::quiet_NaN());
    else
      scores.row(i) = model.scores(data.row(i)).transpose();
  }
}

}  // namespace

template <class S>
Block<S> pca_scores(const Block<S>& data, const PcaResult<S>& result) {
  require_same_features(data.cols(), result);
  const bool missing = result.missing.policy != Missing::refuse;
  Block<S> scores =
      scores_by(DenseCovariance<S>::about(result.mean, borrow(data), result.scale, missing), data.rows(), result);
  if (missing) follow_policy(data, result, scores);
  return scores;
}

template <class S>
Block<S> pca_scores(const CsrMatrix<S>& data, const PcaResult<S>& result) {
  require_same_features(data.cols, result);
  require(result.missing.policy != Missing::em ||
              std::none_of(data.values.begin(), data.values.end(), [](S value) { return std::isnan(value); }),
          "missing = em: fills entries in, and needs data that are stored in full");
  const bool missing = result.missing.policy != Missing::refuse;
  Block<S> scores =
      scores_by(SparseCovariance<S>::about(result.mean, borrow(data), result.scale, missing), data.rows, result);
  if (result.missing.policy == Missing::drop_rows)
    for (Index i = 0; i < data.rows; ++i)
      for (auto e = data.row_start[static_cast<std::size_t>(i)]; e < data.row_start[static_cast<std::size_t>(i) + 1];
           ++e)
        if (std::isnan(data.values[static_cast<std::size_t>(e)]))
          scores.row(i).setConstant(std::numeric_limits<S>::quiet_NaN());
  return scores;
}

Block<double> pca_scores(RowSource<double>& rows, const PcaResult<double>& result, Index block_rows) {
  require(block_rows > 0, fmt::format("rows at once = {}: must be at least 1", block_rows));
  require_same_features(rows.cols(), result);
  auto* const sparse = dynamic_cast<SparseRowSource*>(&rows);
  Block<double> all(rows.rows().value_or(0), result.power.basis.cols());
  Block<double> block(sparse != nullptr ? 0 : block_rows, rows.cols());
  CsrMatrix<double> some;
  Index filled = 0;
  rows.rewind();
  for (;;) {
    const Index count = sparse != nullptr ? sparse->read_sparse(block_rows, some) : rows.read(block);
    if (count == 0) break;
    const Block<double> part = sparse != nullptr ? pca_scores<double>(some, result)
                                                 : pca_scores<double>(Block<double>(block.topRows(count)), result);
    if (filled + count > all.rows()) all.conservativeResize(2 * filled + count, Eigen::NoChange);
    all.middleRows(filled, count) = part;
    filled += count;
  }
  all.conservativeResize(filled, Eigen::NoChange);
  return all;
}

template <class S>
void whiten(Block<S>& scores, const PcaResult<S>& result) {
  const PowerResult<S>& power = result.power;
  require(power.eigenvalues.size() == scores.cols(),
          fmt::format("whiten: needs the variances of the {} components, and has {}", scores.cols(),
                      power.eigenvalues.size()));
  for (Index c = 0; c < scores.cols(); ++c) {
    const double deviation =
        std::sqrt(std::max(0.0, std::ldexp(static_cast<double>(power.eigenvalues(c)), power.exponent)));
    scores.col(c) *= deviation > 0 ? static_cast<S>(1 / deviation) : S(0);
  }
}

template <class S>
double noise_variance(const PcaResult<S>& result) {
  const Index d = result.mean.size(), k = result.power.basis.cols();
  const Index directions = std::min(d, result.samples);
  if (directions <= k) return 0;
  const double explained = result.power.eigenvalues.template cast<double>().sum();
  return std::max(0.0, result.total_variance - explained) / static_cast<double>(directions - k);
}

#define HEARSAY_INSTANTIATE(S)                                               \
  template Block<S> pca_scores<S>(const Block<S>&, const PcaResult<S>&);     \
  template Block<S> pca_scores<S>(const CsrMatrix<S>&, const PcaResult<S>&); \
  template void whiten<S>(Block<S>&, const PcaResult<S>&);                   \
  template double noise_variance<S>(const PcaResult<S>&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay
