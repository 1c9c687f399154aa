// Solves on an engine (engine_maker.hpp): what of a request they take, and their result as every solve's.
#pragma once

#include <limits>

#include "hearsay/solve.hpp"
#include "hearsay/solve_svd.hpp"

namespace hearsay::detail {

/// Throws InvalidArgument for what has no meaning there.
void require_fit_for_engines(const Request& request);
void require_fit_for_engines(const Request& request, const MatrixSettings& matrix);
void require_fit_for_engines(const PcaSettings& settings);

/// Throws where the request names an engine: `what` is not held in memory, or not as an engine needs it.
void require_no_engines(const Request& request, const char* what);

/// The request with the accuracy that is aimed at.
Request with_accuracy(const Request& request, std::optional<double> wished = {});

Solution<double> climb_on(Engine& engine, const Request& request);

template <class S>
Solution<S> in_precision_of(Solution<double> solution) {
  return {in_arithmetic<S>(std::move(solution.power)), {}, solution.seconds, std::move(solution.climb)};
}

/// The graph's matrix I + D^-1/2 S D^-1/2, with its entries.
CsrMatrix<double> normalised(const Graph& graph);

/// Data of one precision, a result of the other.
template <class Data, class S>
PcaSolution<S> solve_pca_on(const BorrowedBlock<Data>& data, const Request& request, const PcaSettings& settings);

}  // namespace hearsay::detail
