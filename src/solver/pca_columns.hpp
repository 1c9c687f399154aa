// What the ways of PCA share: what is asked of a covariance, and what it knows of its columns and rows.
#pragma once

#include "hearsay/operators/covariance.hpp"
#include "hearsay/pca.hpp"

namespace hearsay::detail {

template <class S>
CovarianceOptions covariance_options(const PcaOptions<S>& options) {
  return {.center = options.center,
          .gram_bytes_limit = options.gram_bytes_limit,
          .standardize = options.standardize,
          .missing_as_mean = options.missing_as_mean,
          .weights = options.weights,
          .column_names = options.column_names};
}

template <class S, class Covariance>
void take_columns(const Covariance& A, Index rows, PcaResult<S>& result) {
  const ColumnMoments& moments = A.moments();
  const bool measured = moments.columns() > 0;
  result.mean = A.mean();
  result.scale = A.columns().scale;
  result.constant = A.columns().constant;
  result.samples = measured ? moments.rows : rows;
  result.weight = measured ? moments.total_weight : static_cast<double>(rows);
  result.missing.entries = moments.missing;
  result.missing.rows = moments.rows_missing;
  result.missing.empty_rows = moments.rows_empty;
  if (moments.missing > 0) result.missing.policy = Missing::mean;
}

}  // namespace hearsay::detail
