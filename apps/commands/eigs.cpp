// hearsay eigs: eigenvectors of a symmetric matrix, from either end of its spectrum or both.
#include "commands/commands.hpp"
#include "commands/device.hpp"
#include "commands/solve.hpp"
#include "files/convert.hpp"
#include "files/delivery.hpp"
#include "files/inputs.hpp"
#include "files/outputs.hpp"
#include "reports/report.hpp"
#include "reports/run_page.hpp"

namespace hearsay::app {

namespace {

template <class Matrix>
Solution<double> solve(const Job& job, const Matrix& matrix) {
  const WatchedRequest request(job, columns_of(matrix));
  const MatrixSettings settings{.shift = job.shift, .positive_semidefinite = job.psd};
  return request.finished(solve_matrix<typename Matrix::Scalar>(borrow(matrix), request, settings));
}

// Data of single precision are solved in double unless single is asked for.
template <class Matrix>
Solution<double> solve_as_asked(const Job& job, const Matrix& matrix) {
  return job.solve.precision == Precision::single && job.engines == nullptr ? solve(job, matrix)
                                                                            : solve(job, in<double>(matrix));
}

int run_eigs(Job job) {
  choose_device(job);
  check(job);
  check_outputs(job);
  const io::Data data = load_symmetric(job.input);
  const Solution<double> outcome = where_asked(
      job, [&] { return std::visit([&job](const auto& matrix) { return solve_as_asked(job, matrix); }, data.matrix); });
  const PowerResult<double>& result = outcome.power;

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
               .summary = "Eigenvalues and eigenvectors of a symmetric matrix, from either end of its spectrum",
               .input = "MATRIX",
               .input_help = "A symmetric matrix: .mtx .npy .csv, each also .gz",
               .footer = "Examples:\n"
                         "  hearsay eigs kernel.npy -k 10 --psd --components vectors.npy\n"
                         "  hearsay eigs adjacency.mtx -k 5 --which LM\n"
                         "  hearsay eigs kernel.npy -k 32 --psd --device cuda --accuracy 1e-6\n"
                         "  hearsay eigs laplacian.mtx.gz -k 20 --which SA --json result.json\n"
                         "  hearsay eigs kernel.npy -k 10 --noise gaussian:1e-3 --audit 0.05",
               .options = in_eigs},
              run_eigs);
}

}  // namespace hearsay::app
