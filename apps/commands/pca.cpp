// hearsay pca: principal components of a table of samples.
#include "hearsay/pca.hpp"

#include "commands/commands.hpp"
#include "commands/solve.hpp"
#include "files/convert.hpp"
#include "files/delivery.hpp"
#include "files/inputs.hpp"
#include "files/outputs.hpp"
#include "reports/report.hpp"
#include "reports/run_page.hpp"

namespace hearsay::app {

namespace {

// A solve, and what only the data can say.
struct Analysis {
  Index dimension = 0;
  Solution<double> outcome = {};
  SampleFacts facts = {};
  Block<double> scores = {};
  PageData page = {};
};

PcaSettings settings_of(const Job& job) { return {.center = job.center, .batch = job.integer("batch", 1)}; }

bool wants_scores(const Job& job) { return !job.scores.empty() || !job.report.empty(); }

template <class S>
SampleFacts facts_of(const PcaResult<S>& result, bool centred) {
  return {.samples = result.samples,
          .centred = centred,
          .total_variance = result.total_variance,
          .mean = result.mean.template cast<double>(),
          .singular_values = result.singular_values.template cast<double>()};
}

template <class S>
Analysis analysed(const Job& job, Index dimension, const WatchedRequest& request, PcaSolution<S> solution) {
  Analysis analysis{.dimension = dimension, .facts = facts_of(solution.pca, job.center)};
  analysis.outcome =
      request.finished(Solution<S>{std::move(solution.pca.power), std::move(solution.audit), solution.seconds});
  return analysis;
}

template <class Data>
Analysis analyse(const Job& job, const Data& data) {
  using S = typename Data::Scalar;
  const WatchedRequest request(job, columns_of(data));
  PcaSolution<S> solution = solve_pca<S>(data, request, settings_of(job));
  Block<double> scores;
  if (wants_scores(job)) scores = pca_scores<S>(data, solution.pca).template cast<double>();
  Analysis analysis = analysed(job, columns_of(data), request, std::move(solution));
  analysis.scores = std::move(scores);
  return analysis;
}

// The file is read once per iteration and never held.
Analysis analyse_stream(const Job& job) {
  const auto rows = open_samples(job);
  const WatchedRequest request(job, rows->cols());
  return analysed(job, rows->cols(), request, solve_pca(*rows, request, settings_of(job), job.block_rows));
}

// Data of single precision are solved in double unless single is asked for.
template <class Data>
Analysis analyse_as_asked(const Job& job, const Data& data) {
  return job.solve.precision == Precision::single ? analyse(job, data) : analyse(job, in<double>(data));
}

int run_pca(Job job) {
  check(job);
  check_outputs(job);
  const Analysis analysis = [&job] {
    if (job.stream) return analyse_stream(job);
    io::Data data = load_samples(job);
    Analysis made = std::visit([&job](const auto& matrix) { return analyse_as_asked(job, matrix); }, data.matrix);
    made.page = {.groups = std::move(data.labels),
                 .group_name = data.label_name.empty() ? "label" : data.label_name,
                 .features = std::move(data.column_names)};
    return made;
  }();

  Delivery delivery;
  delivery.block(job.components, analysis.outcome.power.basis);
  delivery.block(job.scores, analysis.scores);
  const Report report{job, analysis.dimension, analysis.outcome, analysis.facts};
  delivery.text(job.report, [&] {
    PageData page = analysis.page;
    page.scores = analysis.scores.leftCols(std::min<Index>(3, analysis.scores.cols()));
    if (job.stream) page.without = "The rows were streamed and not kept, so there are no scores to draw.";
    return run_page(report, page);
  });
  return deliver(delivery, report);
}

}  // namespace

void add_pca(CLI::App& root, Action& action) {
  add_command(root, action,
              {.name = "pca",
               .summary = "Principal components of a table of samples",
               .input = "DATA",
               .input_help = "Samples in rows: .csv .tsv .txt .npy .mtx, each also .gz; or the name of a data set",
               .footer = "Examples:\n"
                         "  hearsay pca measurements.csv -k 5 --components basis.npy --scores scores.csv\n"
                         "  hearsay pca digits -k 10 --json -\n"
                         "  hearsay pca huge.npy -k 20 --stream --checkpoint huge.ckpt --tolerance 1e-6\n"
                         "  hearsay pca huge.npy -k 20 --stream --batch 10000",
               .options = in_pca},
              run_pca);
}

}  // namespace hearsay::app
