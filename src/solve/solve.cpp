#include "hearsay/solve.hpp"

#include <fmt/format.h>

#include <cmath>
#include <type_traits>

#include "hearsay/error.hpp"
#include "hearsay/mixed.hpp"
#include "hearsay/operators/compose.hpp"
#include "hearsay/operators/stored.hpp"
#include "hearsay/subspace.hpp"
#include "solve/on_engines.hpp"
#include "solve/prepared.hpp"
#include "solve/rounded.hpp"

namespace hearsay {

using detail::Prepared;

namespace {

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

template <class S>
Solution<double> in_double(Solution<S> solution) {
  return {in_arithmetic<double>(std::move(solution.power)), std::move(solution.audit), solution.seconds};
}

// The same noise, numbered from 2^32 on.
NoiseModel<double> continued(NoiseModel<double> model) {
  model.fill = [fill = std::move(model.fill)](std::uint64_t product, ConstBlockView<double> X, BlockView<double> Xi) {
    fill(product + (std::uint64_t{1} << 32), X, Xi);
  };
  return model;
}

template <class S>
DenseSymmetric<S> stored(const BorrowedBlock<S>& A) {
  return DenseSymmetric<S>(A);
}
template <class S>
SparseSymmetric<S> stored(const CsrView<S>& A) {
  return SparseSymmetric<S>(A);
}

template <class S, class Matrix>
Solution<S> solve_stored(const Matrix& matrix, const Request& request, const MatrixSettings& settings) {
  const Precision precision = request.settings.precision;
  const auto A = stored<S>(matrix);
  if constexpr (std::is_same_v<S, double>) {
    if (precision != Precision::full) {
      const auto single = detail::rounded(matrix);
      const auto A_single = stored<float>(borrow(single));
      return precision == Precision::mixed ? solve_mixed(A_single, A, request, settings)
                                           : in_double(solve<float>(A_single, request, settings));
    }
  }
  return solve<S>(A, request, settings);
}

}  // namespace

namespace {

// Magnitudes are not those of A after a shift, and neither end needs one.
void require_end_without_shift(const Request& request, const MatrixSettings& matrix) {
  const Which which = request.settings.power.which;
  require(matrix.shift == 0 || which == Which::largest,
          fmt::format("shift = {:g}: is for `which` LA; {} needs none", matrix.shift, name(which)));
}

}  // namespace

template <class S>
Solution<S> solve(OperatorRef<S> A, const Request& request, const MatrixSettings& matrix) {
  detail::require_no_engines(request, "operators");
  require_end_without_shift(request, matrix);
  require(request.settings.precision != Precision::mixed,
          "precision = mixed: needs the matrix in double and in single precision");
  const ShiftedOperator<S> shifted(A, static_cast<S>(matrix.shift), matrix.positive_semidefinite);
  Prepared<S> prepared(request, A.dim(), [&] { return find_spectrum<S>(shifted, request.settings.power); });
  Solution<S> solution = prepared.time([&] {
    if (!prepared.noise().fill) return principal_subspace<S>(shifted, prepared.options(), prepared.hooks());
    const NoisyOperator<S> inexact(shifted, prepared.noise());
    return principal_subspace<S>(inexact, prepared.options(), prepared.hooks());
  });
  take_back(matrix.shift, solution.power);
  return solution;
}

Solution<double> solve_mixed(OperatorRef<float> A_single, OperatorRef<double> A, const Request& request,
                             const MatrixSettings& matrix) {
  detail::require_no_engines(request, "operators");
  require_end_without_shift(request, matrix);
  const ShiftedOperator<double> shifted(A, matrix.shift, matrix.positive_semidefinite);
  const ShiftedOperator<float> rough(A_single, static_cast<float>(matrix.shift), matrix.positive_semidefinite);
  Prepared<double> prepared(request, A.dim(), [&] { return find_spectrum<double>(shifted, request.settings.power); });
  Solution<double> solution = prepared.time([&] {
    if (!prepared.noise().fill)
      return mixed_precision_subspace(rough, shifted, prepared.options(), prepared.hooks(), request.observe_single);
    const NoisyOperator<float> rough_inexact(rough, prepared.noise_in_single());
    const NoisyOperator<double> inexact(shifted, continued(prepared.noise()));
    return mixed_precision_subspace(rough_inexact, inexact, prepared.options(), prepared.hooks(),
                                    request.observe_single);
  });
  take_back(matrix.shift, solution.power);
  return solution;
}

template <class S>
Solution<S> solve_matrix(const BorrowedBlock<S>& A, const Request& request, const MatrixSettings& matrix) {
  if (request.engines != nullptr) {
    detail::require_fit_for_engines(request, matrix);
    const auto engine = request.engines->dense(A, matrix.positive_semidefinite);
    return detail::in_precision_of<S>(detail::climb_on(*engine, request));
  }
  return solve_stored<S>(A, request, matrix);
}

template <class S>
Solution<S> solve_matrix(const CsrView<S>& A, const Request& request, const MatrixSettings& matrix) {
  if (request.engines != nullptr) {
    detail::require_fit_for_engines(request, matrix);
    const auto engine = request.engines->sparse(A, matrix.positive_semidefinite);
    return detail::in_precision_of<S>(detail::climb_on(*engine, request));
  }
  return solve_stored<S>(A, request, matrix);
}

Solution<double> solve_graph(const Graph& graph, const Request& request) {
  if (request.engines != nullptr) {
    detail::require_fit_for_engines(request);
    const CsrMatrix<double> A = detail::normalised(graph);
    return detail::climb_on(*request.engines->sparse(borrow(A), true), request);
  }
  switch (request.settings.precision) {
    case Precision::single:
      return in_double(solve<float>(NormalisedGraph<float>(graph), request));
    case Precision::mixed:
      return solve_mixed(NormalisedGraph<float>(graph), NormalisedGraph<double>(graph), request);
    default:
      break;
  }
  return solve<double>(NormalisedGraph<double>(graph), request);
}

Block<double> unit_rows(Block<double> rows) {
  for (Index i = 0; i < rows.rows(); ++i) rows.row(i).normalize();
  return rows;
}

#define HEARSAY_INSTANTIATE(S)                                                                          \
  template Solution<S> solve<S>(OperatorRef<S>, const Request&, const MatrixSettings&);                 \
  template Solution<S> solve_matrix<S>(const BorrowedBlock<S>&, const Request&, const MatrixSettings&); \
  template Solution<S> solve_matrix<S>(const CsrView<S>&, const Request&, const MatrixSettings&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay
