// Data, requests and results in another arithmetic.
#pragma once

#include "hearsay/csr.hpp"
#include "hearsay/error.hpp"
#include "hearsay/mixed.hpp"
#include "hearsay/solve.hpp"
#include "solve/running.hpp"

namespace hearsay::detail {

inline Block<float> rounded(const BorrowedBlock<double>& data) { return in_single_precision(data); }

inline CsrMatrix<float> rounded(const CsrView<double>& data) {
  return {.rows = data.rows,
          .cols = data.cols,
          .row_start = {data.row_start.begin(), data.row_start.end()},
          .columns = {data.columns.begin(), data.columns.end()},
          .values = {data.values.begin(), data.values.end()}};
}

/// The same job in single precision, where the caller's state and iterations are of double precision.
inline Request<float> in_single(const Request<double>& request) {
  require(!request.checkpoint && !request.resume,
          "precision = single: `checkpoint` needs data in single precision, for its states are");
  Request<float> single{.settings = request.settings, .audit = request.audit};
  if (request.start) single.start = request.start->cast<float>();
  if (request.reference) single.reference = request.reference->cast<float>();
  if (request.noise) single.noise = in_noise<float, double>(*request.noise);
  single.observe = request.observe_single;
  single.observe_basis = request.observe_basis;
  return single;
}

inline Solution<double> in_double(Solution<float> solution) {
  return {in_arithmetic<double>(std::move(solution.power)), std::move(solution.audit), solution.seconds};
}

inline PcaSolution<double> in_double(PcaSolution<float> solution) {
  PcaResult<float>& pca = solution.pca;
  return {.pca = {.power = in_arithmetic<double>(std::move(pca.power)),
                  .mean = pca.mean.cast<double>(),
                  .singular_values = pca.singular_values.cast<double>(),
                  .total_variance = pca.total_variance,
                  .samples = pca.samples,
                  .by_samples = pca.by_samples,
                  .formed = pca.formed},
          .audit = std::move(solution.audit),
          .seconds = solution.seconds};
}

}  // namespace hearsay::detail
