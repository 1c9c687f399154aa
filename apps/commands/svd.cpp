// hearsay svd: the leading singular values and vectors of a rectangular matrix.
#include "commands/commands.hpp"
#include "commands/device.hpp"
#include "commands/solve.hpp"
#include "files/convert.hpp"
#include "files/delivery.hpp"
#include "files/inputs.hpp"
#include "files/outputs.hpp"
#include "hearsay/solve_svd.hpp"
#include "reports/report.hpp"
#include "reports/run_page.hpp"

namespace hearsay::app {

namespace {

// The answer, and the same as a solve is told of: singular values for eigenvalues, right vectors for the basis.
struct Factored {
  Index rows = 0, columns = 0;
  SvdFacts facts = {};
  Block<double> left = {};
  Solution<double> outcome = {};
};

template <class S>
Index rows_of(const Block<S>& matrix) {
  return matrix.rows();
}
template <class S>
Index rows_of(const CsrMatrix<S>& matrix) {
  return matrix.rows;
}

template <class Matrix>
Factored factor(const Job& job, const Matrix& matrix) {
  using S = typename Matrix::Scalar;
  const WatchedRequest request(job, columns_of(matrix));
  SvdSolution<S> solution = solve_svd<S>(matrix, request);
  SvdResult<S>& svd = solution.svd;
  Factored made{.rows = rows_of(matrix), .columns = columns_of(matrix)};
  made.left = svd.left.template cast<double>();
  made.outcome = request.finished(Solution<S>{
      .power = {static_cast<const PowerFacts&>(svd), std::move(svd.right), std::move(svd.singular_values), {}},
      .audit = {},
      .seconds = solution.seconds,
      .climb = std::move(solution.climb)});
  made.facts = std::move(static_cast<SvdFacts&>(svd));
  return made;
}

// Data of single precision are solved in double unless single is asked for.
template <class Matrix>
Factored factor_as_asked(const Job& job, const Matrix& matrix) {
  return job.solve.precision == Precision::single && job.engines == nullptr ? factor(job, matrix)
                                                                            : factor(job, in<double>(matrix));
}

int run_svd(Job job) {
  choose_device(job);
  check(job);
  check_outputs(job);
  const io::Data data = load_samples(job);
  Factored made = where_asked(job, [&] {
    return std::visit([&job](const auto& matrix) { return factor_as_asked(job, matrix); }, data.matrix);
  });
  std::vector<std::string>& notes = made.outcome.power.notes;
  notes.insert(notes.begin(), data.notes.begin(), data.notes.end());

  Delivery delivery;
  delivery.block(job.left, made.left);
  delivery.block(job.right, made.outcome.power.basis);
  const Report report{.job = job,
                      .dimension = std::min(made.rows, made.columns),
                      .outcome = made.outcome,
                      .singular = SingularFacts{made.rows, made.columns, made.facts}};
  delivery.text(job.report, [&] { return run_page(report, {.features = data.column_names}); });
  return deliver(delivery, report);
}

}  // namespace

void add_svd(CLI::App& root, Action& action) {
  add_command(root, action,
              {.name = "svd",
               .summary = "Leading singular values and vectors of a rectangular matrix",
               .input = "MATRIX",
               .input_help = "A matrix: .mtx .npy .csv .tsv .txt, each also .gz; or the name of a data set",
               .footer = "Examples:\n"
                         "  hearsay svd text.mtx.gz -k 100 --left documents.npy --right words.npy\n"
                         "  hearsay svd measurements.csv -k 5 --json -\n"
                         "  hearsay svd digits -k 10 --accuracy 1e-6 --report digits.html",
               .options = in_svd},
              run_svd);
}

}  // namespace hearsay::app
