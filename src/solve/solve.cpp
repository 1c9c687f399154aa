#include "hearsay/solve.hpp"

#include <fmt/format.h>

#include <cmath>

#include "hearsay/error.hpp"
#include "hearsay/mixed.hpp"
#include "hearsay/operators/compose.hpp"
#include "hearsay/operators/stored.hpp"
#include "hearsay/subspace.hpp"
#include "solve/convert.hpp"
#include "solve/running.hpp"

namespace hearsay {

using detail::Running;

namespace {

template <class S>
PowerResult<S> with_noise(OperatorRef<S> A, const Running<S>& running) {
  if (!running.noise().fill) return principal_subspace<S>(A, running.options(), running.hooks());
  const NoisyOperator<S> inexact(A, running.noise());
  return principal_subspace<S>(inexact, running.options(), running.hooks());
}

// The eigenvalues of A, of which A + shift I was solved.
template <class S>
void take_back(double shift, PowerResult<S>& result) {
  if (shift == 0) return;
  const double scaled = std::ldexp(shift, -result.exponent);
  result.eigenvalues.array() -= static_cast<S>(scaled);
  result.certificate.nothing_missed_above -= scaled;
  result.notes.push_back(fmt::format(
      "shift: A + {:g} I was solved; eigenvalues are those of A, the residual and the momentum those of the sum",
      shift));
}

DenseSymmetric<double> stored(const BorrowedBlock<double>& A) { return DenseSymmetric<double>(A); }
DenseSymmetric<float> stored(const Block<float>& A) { return DenseSymmetric<float>(A); }
SparseSymmetric<double> stored(const CsrView<double>& A) { return SparseSymmetric<double>(A); }
SparseSymmetric<float> stored(const CsrMatrix<float>& A) { return SparseSymmetric<float>(A); }

// A matrix that can be had in single precision too, in the precision of the settings: in_single() is called where it must.
template <class Single>
Solution<double> in_precision(OperatorRef<double> A, const Request<double>& request, const Single& in_single) {
  switch (request.settings.precision) {
    case Precision::full:
      return solve<double>(A, request);
    case Precision::single: {
      const auto A_single = in_single();
      return detail::in_double(solve<float>(A_single, detail::in_single(request)));
    }
    case Precision::mixed: {
      const auto A_single = in_single();
      return solve(A_single, A, request);
    }
  }
  throw InvalidArgument("precision: must be one of double|single|mixed");
}

template <class Matrix>
Solution<double> solve_stored(const Matrix& matrix, const MatrixSettings& settings, const Request<double>& request) {
  const auto held = stored(matrix);
  const ShiftedOperator<double> A(held, settings.shift, settings.positive_semidefinite);
  // of precision single and mixed, and in place for as long as they run
  const auto rounded = request.settings.precision == Precision::full ? detail::nothing_like(matrix) : detail::rounded(matrix);
  const auto held_single = stored(rounded);
  Solution<double> solution = in_precision(A, request, [&] {
    return ShiftedOperator<float>(held_single, static_cast<float>(settings.shift), settings.positive_semidefinite);
  });
  take_back(settings.shift, solution.power);
  return solution;
}

}  // namespace

template <class S>
Solution<S> solve(OperatorRef<S> A, const Request<S>& request) {
  Running<S> running(request, A.dim(), [&] { return find_spectrum<S>(A, request.settings.power); });
  return running.time([&] { return with_noise<S>(A, running); });
}

Solution<double> solve(OperatorRef<float> A_single, OperatorRef<double> A, const Request<double>& request) {
  Running<double> running(request, A.dim(), [&] { return find_spectrum<double>(A, request.settings.power); });
  return running.time([&] {
    return mixed_precision_subspace(A_single, A, running.options(), running.hooks(), request.observe_single);
  });
}

template <class S>
Solution<S> solve_symmetric(OperatorRef<S> A, const MatrixSettings& matrix, const Request<S>& request) {
  const ShiftedOperator<S> shifted(A, static_cast<S>(matrix.shift), matrix.positive_semidefinite);
  Solution<S> solution = solve<S>(shifted, request);
  take_back(matrix.shift, solution.power);
  return solution;
}

Solution<double> solve_symmetric(const BorrowedBlock<double>& A, const MatrixSettings& matrix,
                                 const Request<double>& request) {
  return solve_stored(A, matrix, request);
}

Solution<double> solve_symmetric(const CsrView<double>& A, const MatrixSettings& matrix,
                                 const Request<double>& request) {
  return solve_stored(A, matrix, request);
}

Solution<double> solve_graph(const Graph& graph, const Request<double>& request) {
  const NormalisedGraph<double> A(graph);
  return in_precision(A, request, [&] { return NormalisedGraph<float>(graph); });
}

Block<double> unit_rows(Block<double> rows) {
  for (Index i = 0; i < rows.rows(); ++i) rows.row(i).normalize();
  return rows;
}

template Solution<float> solve<float>(OperatorRef<float>, const Request<float>&);
template Solution<double> solve<double>(OperatorRef<double>, const Request<double>&);
template Solution<float> solve_symmetric<float>(OperatorRef<float>, const MatrixSettings&, const Request<float>&);
template Solution<double> solve_symmetric<double>(OperatorRef<double>, const MatrixSettings&, const Request<double>&);

}  // namespace hearsay
