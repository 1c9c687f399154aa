// The whole job in one call: noise by name, momentum from a spectrum that is found first, one of three arithmetics, a warm
// start, a known answer, an audit against the theory, checkpoints. The command line and the Python package convert what
// they are given to a Request, and what they get back to text; all else is here.
//
//   Request<double> request;
//   set_option(request.settings, "rank", "5");
//   set_option(request.settings, "precision", "mixed");
//   const auto found = solve_pca(data, {}, request);
#pragma once

#include <functional>
#include <optional>

#include "hearsay/audit.hpp"
#include "hearsay/graph.hpp"
#include "hearsay/noise.hpp"
#include "hearsay/options.hpp"
#include "hearsay/pca.hpp"
#include "hearsay/row_source.hpp"

namespace hearsay {

/// What is to be done, for data in the arithmetic S. The settings are those of the option table, and set_option() takes
/// them as texts; each solve settles them itself.
template <class S>
struct Request {
  SolveSettings settings = {};
  std::optional<Block<S>> start = {};      ///< d x any number of columns; missing ones are random
  std::optional<Block<S>> reference = {};  ///< a known answer: d x k at least
  std::optional<double> audit = {};        ///< holds every step against the theory, for this accuracy
  std::optional<NoiseModel<S>> noise = {};  ///< a model of one's own, in place of settings.noise

  /// Called at every look at the iteration; false stops the solve with the best basis so far.
  std::function<bool(const Iteration<S>&)> observe = {};
  /// The same for what precision mixed does in single precision, and precision single in place of double.
  std::function<bool(const Iteration<float>&)> observe_single = {};
  bool observe_basis = false;  ///< Iteration::basis is filled

  /// Called every so many iterations with the state to save; io::keep_checkpoint() writes it to a file.
  std::function<void(const PowerState<S>&)> checkpoint = {};
  Index checkpoint_every = 100;
  std::optional<PowerState<S>> resume = {};
};

template <class S>
struct [[nodiscard]] Solution {
  PowerResult<S> power;
  std::optional<theory::AuditReport> audit = {};
  double seconds = 0;  ///< of the solve alone, without what it needed to know first
};

template <class S>
struct [[nodiscard]] PcaSolution {
  PcaResult<S> pca;
  std::optional<theory::AuditReport> audit = {};
  double seconds = 0;
};

/// Any operator, in its own arithmetic: precision full, or single where S is.
template <class S>
Solution<S> solve(OperatorRef<S> A, const Request<S>& request);

/// The same matrix in two arithmetics: precision mixed.
Solution<double> solve(OperatorRef<float> A_single, OperatorRef<double> A, const Request<double>& request);

/// What a caller says of a symmetric matrix.
struct MatrixSettings {
  double shift = 0;  ///< A + shift I is solved; the eigenvalues are those of A
  bool positive_semidefinite = false;  ///< of the sum, on the caller's word
};
template <class S>
Solution<S> solve_symmetric(OperatorRef<S> A, const MatrixSettings& matrix, const Request<S>& request);
/// In the precision of the settings.
Solution<double> solve_symmetric(const BorrowedBlock<double>& A, const MatrixSettings& matrix,
                                 const Request<double>& request);
Solution<double> solve_symmetric(const CsrView<double>& A, const MatrixSettings& matrix,
                                 const Request<double>& request);

/// The leading eigenvectors of I + D^-1/2 S D^-1/2, in the precision of the settings.
Solution<double> solve_graph(const Graph& graph, const Request<double>& request);
/// Each row scaled to length one, so that k-means compares directions; a zero row, which has none, is left alone.
Block<double> unit_rows(Block<double> rows);

struct PcaSettings {
  bool center = true;
  double sharpen_to = 0;    ///< as PcaOptions has it
  Index block_rows = 1024;  ///< that are read at once of rows that pass by
};
/// Samples in rows. In the precision of the settings: float data are float whatever they say.
template <class S>
PcaSolution<S> solve_pca(const BorrowedBlock<S>& data, const PcaSettings& settings, const Request<S>& request);
template <class S>
PcaSolution<S> solve_pca(const CsrView<S>& data, const PcaSettings& settings, const Request<S>& request);
template <class S>
PcaSolution<S> solve_pca(const Block<S>& data, const PcaSettings& settings, const Request<S>& request) {
  return solve_pca<S>(borrow(data), settings, request);
}
template <class S>
PcaSolution<S> solve_pca(const CsrMatrix<S>& data, const PcaSettings& settings, const Request<S>& request) {
  return solve_pca<S>(borrow(data), settings, request);
}
/// Rows that pass by once for every product, and are never held.
PcaSolution<double> solve_pca(RowSource<double>& rows, const PcaSettings& settings, const Request<double>& request);

}  // namespace hearsay
