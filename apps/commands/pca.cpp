// hearsay pca: principal components of a table of samples.
#include "hearsay/pca.hpp"

#include "commands/alike.hpp"
#include "commands/commands.hpp"
#include "commands/device.hpp"
#include "commands/private.hpp"
#include "commands/solve.hpp"
#include "files/convert.hpp"
#include "files/delivery.hpp"
#include "files/genotypes.hpp"
#include "files/inputs.hpp"
#include "files/outputs.hpp"
#include "files/samples.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/regular_file.hpp"
#include "hearsay/solve_genotypes.hpp"
#include "hearsay/solve_stream_on_ranks.hpp"
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
  std::vector<std::string> component_names = {};  // of columns, where rows have names, too
  std::vector<io::RowNames> feature_names = {}, sample_names = {};
};

bool wants_scores(const Job& job) { return !job.scores.empty() || !job.report.empty(); }

template <class S>
SampleFacts facts_of(const PcaResult<S>& result, bool centred) {
  return {.samples = result.samples,
          .centred = centred,
          .total_variance = result.total_variance,
          .mean = result.mean.template cast<double>(),
          .singular_values = result.singular_values.template cast<double>(),
          .scale = result.scale.template cast<double>(),
          .constant = result.constant,
          .weight = result.weight,
          .missing = result.missing};
}

template <class S>
Analysis analysed(const Job& job, Index dimension, const WatchedRequest& request, PcaSolution<S> solution) {
  Analysis analysis{.dimension = dimension, .facts = facts_of(solution.pca, job.center)};
  analysis.outcome = request.finished(Solution<S>{std::move(solution.pca.power), std::move(solution.audit),
                                                  solution.seconds, std::move(solution.climb)});
  return analysis;
}

template <class S, class Data>
Block<double> scores_in(const Job& job, Data& data, const PcaResult<S>& result) {
  if (!wants_scores(job)) return {};
  Block<S> scores = [&] {
    if constexpr (std::is_same_v<S, double>)
      return pca_scores(data, result);
    else if constexpr (requires { data.outerStride(); })
      return pca_scores<S>(Block<S>(data), result);
    else
      return pca_scores<S>(data, result);
  }();
  if (job.whiten) whiten<S>(scores, result);
  return scores.template cast<double>();
}

Analysis analyse_in_double(const Job& job, const BorrowedBlock<float>& data, const PcaSettings& settings) {
  const WatchedRequest request(job, data.cols());
  PcaSolution<double> solution = solve_pca_in_double(data, request, settings);
  Block<double> scores = scores_in<double>(job, data, solution.pca);
  Analysis analysis = analysed(job, data.cols(), request, std::move(solution));
  analysis.scores = std::move(scores);
  return analysis;
}

template <class Data>
Analysis analyse(const Job& job, const Data& data, const PcaSettings& settings) {
  using S = typename Data::Scalar;
  const WatchedRequest request(job, columns_of(data));
  PcaSolution<S> solution = solve_pca<S>(data, request, settings);
  Block<double> scores = scores_in<S>(job, data, solution.pca);
  Analysis analysis = analysed(job, columns_of(data), request, std::move(solution));
  analysis.scores = std::move(scores);
  return analysis;
}

// The file is read as often as the plan says and never held; once more for scores. On ranks the first alone has it all.
template <class S>
std::optional<Analysis> analyse_rows(const Job& job, RowSource<S>& rows, const SampleStream& stream, Transport& ranks) {
  std::optional<WatchedRequest> watched;
  ranks.everywhere([&] {
    if (ranks.rank() == 0) watched.emplace(job, rows.cols());
  });
  StreamSettings settings{pca_settings(job, stream.weights, stream.column_names)};
  settings.rows_at_once = job.given.contains("block-rows") ? job.block_rows : 0;
  settings.passes = job.integer("passes", 1);
  if (!watched) return solve_stream_on_ranks(ranks, rows, request_of(job), settings), std::nullopt;
  const WatchedRequest& request = *watched;
  settings.observe_reading = [&](const Reading& now, const StreamPlan& plan) { return request.goes_on(now, plan); };
  StreamSolution solution = solve_stream_on_ranks(ranks, rows, request, settings).value();
  const StreamPlan plan = solution.plan;
  Block<double> scores;
  if (!job.scores.empty() && !request.interrupted()) scores = scores_in<double>(job, rows, solution.pca);
  Analysis made = analysed(job, rows.cols(), request, static_cast<PcaSolution<double>&&>(solution));
  made.scores = std::move(scores);
  made.facts.features = stream.column_names;
  made.facts.plan = plan;
  made.sample_names = stream.row_names;
  made.feature_names = stream.feature_names;
  if (!made.sample_names.empty()) made.component_names = names_of_components(made.outcome.power.basis.cols());
  return made;
}

std::optional<Analysis> analyse_stream(const Job& job, const SampleStream& stream, Transport& ranks) {
  return stream.single ? analyse_rows(job, *stream.single, stream, ranks)
                       : analyse_rows(job, *stream.rows, stream, ranks);
}
Analysis analyse_stream(const Job& job) {
  AloneTransport alone;
  return *analyse_stream(job, open_stored_samples(job), alone);
}

// Data of single precision are solved in double unless single is asked for; they stay as they are where they can.
template <class S>
Analysis analyse_as_asked(const Job& job, const BorrowedBlock<S>& data, const PcaSettings& settings) {
  if constexpr (std::is_same_v<S, float>)
    if (job.solve.precision != Precision::single || job.engines != nullptr)
      return analyse_in_double(job, data, settings);
  return analyse(job, data, settings);
}
template <class S>
Analysis analyse_as_asked(const Job& job, CsrMatrix<S>& data, const PcaSettings& settings) {
  return job.solve.precision == Precision::single ? analyse(job, data, settings)
                                                  : analyse(job, in<double>(std::move(data)), settings);
}

Analysis analyse_samples(const Job& job) {
  Samples samples = load_weighted_samples(job);
  io::Data& data = samples.data;
  const PcaSettings settings = pca_settings(job, samples.weights, data.column_names);
  Analysis made = std::visit(
      [&](auto& matrix) {
        if constexpr (requires { borrow(matrix).outerStride(); })
          return analyse_as_asked(job, borrow(matrix), settings);
        else
          return analyse_as_asked(job, matrix, settings);
      },
      data.matrix);
  made.sample_names = names_of_rows(data);
  made.feature_names = names_of_columns(data);
  if (!made.sample_names.empty()) made.component_names = names_of_components(made.outcome.power.basis.cols());
  std::vector<std::string>& notes = made.outcome.power.notes;
  notes.insert(notes.begin(), data.notes.begin(), data.notes.end());
  made.facts.features = data.column_names;
  made.page = {.groups = std::move(data.labels),
               .group_name = data.label_name.empty() ? "label" : data.label_name,
               .features = std::move(data.column_names)};
  return made;
}

// The file stays where it is, and is solved there.
std::optional<Analysis> analyse_mapped(const Job& job) {
  const SampleFile file = sample_file(job);
  const std::unique_ptr<io::MappedRows> mapped = io::map_rows(file.path, file.options);
  if (mapped == nullptr) return std::nullopt;
  const std::vector<double> weights = load_numbers(job.row_weights, "row-weights");
  const PcaSettings settings = pca_settings(job, weights, {});
  Analysis made = std::visit([&](const auto& data) { return analyse_as_asked(job, data, settings); }, mapped->rows());
  mapped->require_whole();
  return made;
}

// The file stays as it is, two bits a call.
Analysis analyse_genotypes(const Job& job) {
  const io::BedFile file(locate_input(job.input));
  const GenotypeView data = file.view();
  const GenotypeCounts counts = count_calls(data);
  const WatchedRequest request(job, data.snps);
  PcaSolution<double> solution = solve_pca(data, counts, request);
  Block<double> scores;
  if (wants_scores(job)) {
    scores.resize(data.samples, solution.pca.power.basis.cols());
    GenotypeCovariance<double>(data, counts).scores(solution.pca.power.basis, scores);
    if (job.whiten) whiten<double>(scores, solution.pca);
  }
  Analysis made = analysed(job, data.snps, request, std::move(solution));
  file.require_whole();
  made.scores = std::move(scores);
  made.component_names = names_of_components(made.outcome.power.basis.cols());
  made.feature_names = names_of_snps(file);
  made.sample_names = names_of_samples(file);
  made.facts.features = made.feature_names.front().names;
  made.page = {.groups = made.sample_names.front().names, .group_name = "family", .features = made.facts.features};
  return made;
}

Analysis analysed_job(const Job& job, bool genotypes) {
  if (genotypes) return analyse_genotypes(job);
  const Taking taking = taking_of(job);
  if (taking == Taking::streamed) return analyse_stream(job);
  if (taking == Taking::mapped)
    if (std::optional<Analysis> made = analyse_mapped(job)) return *std::move(made);
  return analyse_samples(job);
}

// Rows that were left out have no place in a picture.
PageData page_of(const Analysis& analysis) {
  PageData page = analysis.page;
  const Block<double> drawn = analysis.scores.leftCols(std::min<Index>(3, analysis.scores.cols()));
  page.scores.resize(drawn.rows(), drawn.cols());
  page.groups.clear();
  Index kept = 0;
  for (Index i = 0; i < drawn.rows(); ++i) {
    if (drawn.row(i).hasNaN()) continue;
    page.scores.row(kept++) = drawn.row(i);
    if (i < static_cast<Index>(analysis.page.groups.size()))
      page.groups.push_back(analysis.page.groups[static_cast<std::size_t>(i)]);
  }
  page.scores.conservativeResize(kept, Eigen::NoChange);
  if (analysis.facts.plan && page.scores.rows() == 0)
    page.without = "The rows were streamed and not kept, so there are no scores to draw.";
  return page;
}

int delivered(Job& job, const Analysis& analysis) {
  job.solve.power.rank = analysis.outcome.power.basis.cols();  // as it was found, where a rule was given

  Delivery delivery;
  delivery.block(job.components, analysis.outcome.power.basis, analysis.component_names, analysis.feature_names);
  delivery.block(job.scores, analysis.scores, analysis.component_names, analysis.sample_names);
  const Report report{job, analysis.dimension, analysis.outcome, analysis.facts};
  delivery.text(job.report, [&] { return run_page(report, page_of(analysis)); });
  return deliver(delivery, report);
}

// All ranks read; the first one solves and delivers.
int run_pca_on_ranks(Job job, Transport& ranks) {
  ranks.everywhere([&] {
    refuse_without_dp(job);
    require(job.device == "cpu", "device: one process computes there; leave out mpirun");
    require(!job.given.contains("dp"), "dp: private components are released by one process; leave out mpirun");
    require(job.stream && !takes_genotypes(job),
            fmt::format("stream: {} ranks read rows that pass by; say --stream, or leave out mpirun", ranks.size()));
    check(job);
    if (ranks.rank() == 0) check_outputs(job);
  });
  ranks.require_alike(facts_of(job));
  std::optional<SampleStream> stream;
  ranks.everywhere([&] {
    io::require_regular_file(locate_input(job.input));
    stream = open_stored_samples(job);
  });
  const std::optional<Analysis> analysis = analyse_stream(job, *stream, ranks);
  int code = done;
  ranks.everywhere([&] {
    if (analysis) code = delivered(job, *analysis);
  });
  return std::stoi(ranks.broadcast(std::to_string(code)));
}

int run_pca(Job job, const Ranks& launched) {
  if (launched.transport.size() > 1) return run_pca_on_ranks(std::move(job), launched.transport);
  refuse_without_dp(job);
  const bool genotypes = takes_genotypes(job);
  if (genotypes) require_options_of_genotypes(job);
  choose_device(job);
  if (job.given.contains("dp")) return run_private_pca(std::move(job));
  check(job);
  check_outputs(job);
  return delivered(job, where_asked(job, [&] { return analysed_job(job, genotypes); }));
}

}  // namespace

void add_pca(CLI::App& root, Action& action, const Ranks& ranks) {
  add_command(root, action,
              {.name = "pca",
               .summary = "Principal components of a table of samples",
               .input = "DATA",
               .input_help = "Samples in rows: .csv .tsv .txt .npy .mtx (or .gz), .npz .h5ad .h5 .bed; or a data set",
               .footer = "Examples:\n"
                         "  hearsay pca measurements.csv -k 5 --components basis.npy --scores scores.csv\n"
                         "  hearsay pca digits -k 10 --json -\n"
                         "  hearsay pca table.csv -k 3 --standardize --missing mean\n"
                         "  hearsay pca table.csv -k 0.95 --json result.json --components basis.npy\n"
                         "  hearsay pca huge.npy -k 20 --memory 1GB\n"
                         "  hearsay pca huge.bin -k 20 --raw-shape 1000000x200 --stream\n"
                         "  hearsay pca huge.npy -k 20 --stream --batch 10000\n"
                         "  hearsay pca cells.h5ad -k 50 --scores scores.csv\n"
                         "  hearsay pca genotypes.bed -k 10 --scores scores.csv\n"
                         "  hearsay pca patients.csv -k 5 --dp 1,1e-6 --row-norm 10\n"
                         "  mpirun -n 4 hearsay pca huge.npy -k 20 --stream        (every rank reads its rows)",
               .options = in_pca},
              [&ranks](const Job& job) { return run_pca(job, ranks); });
}

}  // namespace hearsay::app
