// hearsay pca: principal components of a table of samples.
#include "hearsay/pca.hpp"

#include <fmt/format.h>

#include <cmath>

#include "commands/commands.hpp"
#include "files/convert.hpp"
#include "files/delivery.hpp"
#include "files/inputs.hpp"
#include "files/outputs.hpp"
#include "hearsay/operators/covariance.hpp"
#include "reports/report.hpp"
#include "reports/run_page.hpp"

namespace hearsay::app {

namespace {

// A solve, and what only the data can say.
struct Analysis {
  Index dimension = 0;
  Outcome outcome = {};
  SampleFacts facts = {};
  Block<double> scores = {};
  PageData page = {};
};

template <class S>
DenseCovariance<S> covariance(const Block<S>& data, bool center, bool form_at_once = true) {
  return DenseCovariance<S>(data, {.center = center, .form_at_once = form_at_once});
}
template <class S>
SparseCovariance<S> covariance(const CsrMatrix<S>& data, bool center, bool = true) {
  return SparseCovariance<S>(data, center);
}

template <class S>
Index features(const Block<S>& data) {
  return data.cols();
}
template <class S>
Index features(const CsrMatrix<S>& data) {
  return data.cols;
}
template <class S>
Index samples(const Block<S>& data) {
  return data.rows();
}
template <class S>
Index samples(const CsrMatrix<S>& data) {
  return data.rows;
}

bool wants_scores(const Job& job) { return !job.scores.empty() || !job.report.empty(); }

template <class S>
SampleFacts facts_of(const PcaResult<S>& result, bool centred) {
  return {.samples = result.samples,
          .centred = centred,
          .total_variance = result.total_variance,
          .mean = result.mean.template cast<double>(),
          .singular_values = result.singular_values.template cast<double>()};
}

// In one arithmetic. Data: Block<S> or CsrMatrix<S>.
template <class S, class Data>
Analysis analyse(const Job& job, const Data& data) {
  Analysis analysis{.dimension = features(data)};
  const Problem<S> problem{
      .dimension = features(data),
      .spectrum = [&] { return find_spectrum<S>(covariance(data, job.center), job.solve.power); },
      .solve =
          [&](const PowerOptions& options, const NoiseModel<S>& noise, const Hooks<S>& hooks, const Watch&) {
            PcaResult<S> result = pca<S>(data, {.power = options, .center = job.center, .noise = noise}, hooks);
            analysis.facts = facts_of(result, job.center);
            if (wants_scores(job)) analysis.scores = pca_scores<S>(data, result).template cast<double>();
            return std::move(result.power);
          }};
  analysis.outcome = solve<S>(job, problem);
  return analysis;
}

// The facts of a covariance that was solved without pca().
template <class Covariance>
PcaResult<double> described(PowerResult<double> solved, const Covariance& A, Index sample_count) {
  PcaResult<double> result;
  result.samples = sample_count;
  result.mean = A.mean();
  result.singular_values = (solved.eigenvalues.cwiseMax(0.0) * A.divisor()).cwiseSqrt();
  result.total_variance = std::nan("");
  result.power = std::move(solved);
  return result;
}

// Products in single precision first, then in double.
template <class Data>
Analysis analyse_mixed(const Job& job, const Data& data) {
  Analysis analysis{.dimension = features(data)};
  const auto A = covariance(data, job.center, false);  // one product may do
  const auto& single_data = in<float>(data);
  const auto A_single = covariance(single_data, job.center);
  const Problem<double> problem{
      .dimension = features(data),
      .spectrum = [&] { return find_spectrum<double>(A, job.solve.power); },
      .solve =
          [&](const PowerOptions& options, const NoiseModel<double>&, const Hooks<double>& hooks, const Watch& watch) {
            PcaResult<double> result = described(mixed_power(A_single, A, options, hooks, watch), A, samples(data));
            result.total_variance = std::ldexp(A.total_variance(), A.facts().exponent);
            analysis.facts = facts_of(result, job.center);
            if (wants_scores(job)) analysis.scores = pca_scores<double>(data, result);
            return std::move(result.power);
          }};
  analysis.outcome = solve<double>(job, problem);
  return analysis;
}

// The file is read once per iteration and never held.
Analysis analyse_stream(const Job& job) {
  const auto rows = open_samples(job);
  Analysis analysis{.dimension = rows->cols()};
  const StreamedCovariance<double> A(*rows, job.center, job.block_rows);
  const Problem<double> problem{
      .dimension = A.dim(),
      .spectrum = [&] { return find_spectrum<double>(A, job.solve.power); },
      .solve =
          [&](const PowerOptions& options, const NoiseModel<double>& noise, const Hooks<double>& hooks, const Watch&) {
            PowerResult<double> solved = power<double>(A, noise, options, hooks);
            PcaResult<double> result = described(std::move(solved), A, A.samples());
            analysis.facts = facts_of(result, job.center);
            return std::move(result.power);
          }};
  analysis.outcome = solve<double>(job, problem);
  return analysis;
}

template <class Data>
Analysis analyse_as_asked(const Job& job, const Data& data) {
  switch (job.solve.precision) {
    case Precision::single:
      return analyse<float>(job, in<float>(data));
    case Precision::mixed:
      return analyse_mixed(job, in<double>(data));
    case Precision::full:
      break;
  }
  return analyse<double>(job, in<double>(data));
}

int run(Job job) {
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
                         "  hearsay pca huge.npy -k 20 --stream --checkpoint huge.ckpt --tolerance 1e-6",
               .options = in_pca},
              run);
}

}  // namespace hearsay::app
