// The whole job in one call: noise by name, momentum from a spectrum that is found first, one of three arithmetics, a
// warm start, a known answer, an audit against the theory, checkpoints. The command line and the Python package convert
// what they are given to a Request, and what they get back to text; all else is here.
//
//   Request request;
//   request.settings.power.rank = 5;
//   request.settings.precision = Precision::mixed;
//   const auto found = solve_pca<double>(data, request);
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "hearsay/audit.hpp"
#include "hearsay/checkpoints.hpp"
#include "hearsay/engine_maker.hpp"
#include "hearsay/export.hpp"
#include "hearsay/graph.hpp"
#include "hearsay/ladder.hpp"
#include "hearsay/noise.hpp"
#include "hearsay/options.hpp"
#include "hearsay/pca.hpp"
#include "hearsay/row_source.hpp"

namespace hearsay {

/// A noise model of the caller's own, for products in either arithmetic.
struct NoiseModels {
  NoiseModel<double> in_double = {};
  NoiseModel<float> in_single = {};
};

/// What is to be done. The settings are those of the option table: set_option() takes them as texts, and each solve
/// settles them itself.
struct Request {
  SolveSettings settings = {};
  std::optional<Block<double>> start = {};      ///< d x any number of columns; missing ones are random
  std::optional<Block<double>> reference = {};  ///< a known answer: d x k at least
  std::optional<double> audit = {};             ///< holds every step against the theory, for this accuracy
  std::optional<NoiseModels> noise = {};        ///< in place of settings.noise

  /// Called at every look at the iteration, by the one that fits the arithmetic; false stops the solve with the best
  /// basis so far. Precision mixed calls both, one after the other.
  std::function<bool(const Iteration<double>&)> observe = {};
  std::function<bool(const Iteration<float>&)> observe_single = {};
  bool observe_basis = true;  ///< false: Iteration::basis may be empty, which spares large sparse solves some work
  bool observe_steps = true;  ///< false: who observes only wants to be able to stop; a way without steps will do

  Checkpoints* checkpoints = nullptr;
  Index checkpoint_every = 100;  ///< iterations

  /// Where products are made, for matrices and data that are held: a solve climbs there (ladder.hpp), to `accuracy` or
  /// a sine of 1e-4, in settings.precision; noise, an audit, a reference, checkpoints and methods are refused.
  /// Borrowed.
  EngineMaker* engines = nullptr;

  /// Told at once what will be among the notes of the result, where that may be late.
  std::function<void(const std::string&)> warn = {};

  /// One function for both arithmetics.
  template <class Function>
  void observe_with(const Function& function) {
    observe = function;
    observe_single = function;
  }
};

template <class S>
struct [[nodiscard]] Solution {
  PowerResult<S> power = {};
  std::optional<theory::AuditReport> audit = {};
  double seconds = 0;                    ///< of the solve alone, without what it had to know first
  std::optional<ClimbFacts> climb = {};  ///< of a solve on an engine
};

template <class S>
struct [[nodiscard]] PcaSolution {
  PcaResult<S> pca = {};
  std::optional<theory::AuditReport> audit = {};
  double seconds = 0;
  std::optional<ClimbFacts> climb = {};
};

/// Throws InvalidArgument where parts of a request do not go together. Every solve asks; who reads large data first may
/// ask before.
HEARSAY_API void check(const Request& request);

/// What a caller says of a symmetric matrix.
struct MatrixSettings {
  double shift = 0;  ///< A + shift I is solved; the eigenvalues are those of A. Only for the leading end
  bool positive_semidefinite = false;  ///< of that sum, on the caller's word
};

/// Any operator, in its own arithmetic: precision mixed needs the matrix twice.
template <class S>
HEARSAY_API Solution<S> solve(OperatorRef<S> A, const Request& request, const MatrixSettings& matrix = {});
/// The same matrix in two arithmetics: precision mixed. Products in double are numbered from 2^32 on where there is
/// noise, so that none of it comes twice.
HEARSAY_API Solution<double> solve_mixed(OperatorRef<float> A_single, OperatorRef<double> A, const Request& request,
                                         const MatrixSettings& matrix = {});

/// A matrix held in memory, both triangles, in the precision of the settings. The arithmetic of float is single.
template <class S>
HEARSAY_API Solution<S> solve_matrix(const BorrowedBlock<S>& A, const Request& request,
                                     const MatrixSettings& matrix = {});
template <class S>
HEARSAY_API Solution<S> solve_matrix(const CsrView<S>& A, const Request& request, const MatrixSettings& matrix = {});

/// The leading eigenvectors of I + D^-1/2 S D^-1/2, in the precision of the settings.
HEARSAY_API Solution<double> solve_graph(const Graph& graph, const Request& request);
/// Each row scaled to length one, so that k-means compares directions; a zero row, which has none, is left alone.
HEARSAY_API Block<double> unit_rows(Block<double> rows);

struct PcaSettings {
  bool center = true;
  std::optional<double> wished_accuracy = {};  ///< as PcaOptions has it; not with precision mixed
  /// A product uses so many rows: drawn at random where the data are in memory, those that come next where they pass by
  /// (operators/minibatch.hpp). Without a limit of its own the solve ends after `batch_passes` over the data.
  std::optional<Index> batch = {};
  bool standardize = false;  ///< every feature divided by its standard deviation; constant ones are left at zero
  Missing missing = Missing::refuse;  ///< what becomes of NaN
  /// Of the rows, borrowed: a row of weight 2 counts as two, one of weight 0 not at all; none: all count alike.
  std::span<const double> weights = {};
  std::span<const std::string> column_names = {};  ///< for messages, borrowed
};

/// Up to here a rank by Minka's criterion is found, which needs all the eigenvalues.
inline constexpr Index largest_mle_dimension = 4000;

/// Throws InvalidArgument where the settings, or they and the request, do not go together; as check() above.
HEARSAY_API void check(const Request& request, const PcaSettings& settings);

/// Samples in rows, in the precision of the settings. The arithmetic of float is single.
template <class S>
HEARSAY_API PcaSolution<S> solve_pca(const BorrowedBlock<S>& data, const Request& request,
                                     const PcaSettings& settings = {});
template <class S>
HEARSAY_API PcaSolution<S> solve_pca(const CsrView<S>& data, const Request& request, const PcaSettings& settings = {});
template <class S>
PcaSolution<S> solve_pca(const Block<S>& data, const Request& request, const PcaSettings& settings = {}) {
  return solve_pca<S>(borrow(data), request, settings);
}
template <class S>
PcaSolution<S> solve_pca(const CsrMatrix<S>& data, const Request& request, const PcaSettings& settings = {}) {
  return solve_pca<S>(borrow(data), request, settings);
}
/// Passes over the data of a solve by batches.
inline constexpr Index batch_passes = 3;

/// Rows that pass by once for every product, so many at a time, and are never held; in double precision.
HEARSAY_API PcaSolution<double> solve_pca(RowSource<double>& rows, const Request& request,
                                          const PcaSettings& settings = {}, Index block_rows = 1024);

}  // namespace hearsay
