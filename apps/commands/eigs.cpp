// hearsay eigs: the leading eigenvectors of a symmetric matrix.
#include <fmt/format.h>

#include <cmath>

#include "commands/commands.hpp"
#include "files/convert.hpp"
#include "files/delivery.hpp"
#include "files/inputs.hpp"
#include "files/outputs.hpp"
#include "hearsay/operators/compose.hpp"
#include "hearsay/operators/stored.hpp"
#include "reports/report.hpp"
#include "reports/run_page.hpp"

namespace hearsay::app {

namespace {

template <class S>
DenseSymmetric<S> stored(const Block<S>& matrix) {
  return DenseSymmetric<S>(matrix);
}
template <class S>
SparseSymmetric<S> stored(const CsrMatrix<S>& matrix) {
  return SparseSymmetric<S>(matrix);
}

// The matrix with what the user adds to it: a shift, and the word that it has no negative eigenvalue.
template <class Stored>
auto as_asked(const Stored& matrix, const Job& job) {
  using S = typename Stored::Scalar;
  return ShiftedOperator<S>(matrix, static_cast<S>(job.shift), job.psd);
}

template <class S, class Matrix>
Outcome solve_matrix(const Job& job, const Matrix& matrix) {
  const auto held = stored(matrix);
  const ShiftedOperator<S> A = as_asked(held, job);
  return solve<S>(job, {.dimension = A.dim(),
                        .spectrum = [&] { return find_spectrum<S>(A, job.solve.power); },
                        .solve = [&](const PowerOptions& options, const NoiseModel<S>& noise, const Hooks<S>& hooks,
                                     const Watch&) { return power<S>(A, noise, options, hooks); }});
}

template <class Matrix>
Outcome solve_mixed(const Job& job, const Matrix& matrix) {
  const auto& single_matrix = in<float>(matrix);
  const auto held = stored(matrix);
  const auto held_single = stored(single_matrix);
  const ShiftedOperator<double> A = as_asked(held, job);
  const ShiftedOperator<float> A_single = as_asked(held_single, job);
  return solve<double>(job,
                       {.dimension = A.dim(),
                        .spectrum = [&] { return find_spectrum<double>(A, job.solve.power); },
                        .solve = [&](const PowerOptions& options, const NoiseModel<double>&, const Hooks<double>& hooks,
                                     const Watch& watch) { return mixed_power(A_single, A, options, hooks, watch); }});
}

template <class Matrix>
Outcome solve_as_asked(const Job& job, const Matrix& matrix) {
  switch (job.solve.precision) {
    case Precision::single:
      return solve_matrix<float>(job, in<float>(matrix));
    case Precision::mixed:
      return solve_mixed(job, in<double>(matrix));
    case Precision::full:
      break;
  }
  return solve_matrix<double>(job, in<double>(matrix));
}

int run(Job job) {
  check(job);
  check_outputs(job);
  const io::Data data = load_symmetric(job.input);
  Outcome outcome = std::visit([&job](const auto& matrix) { return solve_as_asked(job, matrix); }, data.matrix);
  PowerResult<double>& result = outcome.power;
  if (job.shift != 0) {
    const double shift = std::ldexp(job.shift, -result.exponent);
    result.eigenvalues.array() -= shift;
    result.certificate.nothing_missed_above -= shift;
    result.notes.push_back(fmt::format(
        "shift: A + {:g} I was solved; eigenvalues are those of A, the residual and the momentum those of the sum",
        job.shift));
  }

  Delivery delivery;
  delivery.block(job.components, result.basis);
  const Report report{job, result.basis.rows(), outcome};
  delivery.text(job.report, [&] { return run_page(report, {.features = data.column_names}); });
  return deliver(delivery, report);
}

}  // namespace

void add_eigs(CLI::App& root, Action& action) {
  add_command(root, action,
              {.name = "eigs",
               .summary = "Leading eigenvalues and eigenvectors of a symmetric matrix",
               .input = "MATRIX",
               .input_help = "A symmetric matrix: .mtx .npy .csv, each also .gz",
               .footer = "Examples:\n"
                         "  hearsay eigs kernel.npy -k 10 --psd --components vectors.npy\n"
                         "  hearsay eigs laplacian.mtx.gz -k 20 --shift 4 --json result.json\n"
                         "  hearsay eigs kernel.npy -k 10 --noise gaussian:1e-3 --audit 0.05",
               .options = in_eigs},
              run);
}

}  // namespace hearsay::app
