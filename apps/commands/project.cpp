// hearsay project: new data in the coordinates of components that were found before.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "commands/commands.hpp"
#include "commands/job.hpp"
#include "files/convert.hpp"
#include "files/delivery.hpp"
#include "files/genotypes.hpp"
#include "files/inputs.hpp"
#include "files/outputs.hpp"
#include "files/projection.hpp"
#include "files/provenance.hpp"
#include "files/samples.hpp"
#include "formats/escapes.hpp"
#include "hearsay/error.hpp"
#include "hearsay/version.hpp"
#include "reports/report.hpp"

namespace hearsay::app {

namespace {

constexpr Index most_rows_shown = 10, most_columns_shown = 6;

struct Projected {
  Block<double> scores = {};
  std::vector<std::string> notes = {};
};

bool in_order(const std::vector<Index>& columns) {
  for (std::size_t j = 0; j < columns.size(); ++j)
    if (columns[j] != static_cast<Index>(j)) return false;
  return true;
}

Block<double> reordered(const Block<double>& data, const std::vector<Index>& columns) {
  Block<double> rows(data.rows(), data.cols());
  for (Index j = 0; j < data.cols(); ++j) rows.col(j) = data.col(columns[static_cast<std::size_t>(j)]);
  return rows;
}

// The columns of a row need not ascend: scores are sums over its entries.
CsrMatrix<double> reordered(const CsrMatrix<double>& data, const std::vector<Index>& columns) {
  std::vector<std::int32_t> place(columns.size());
  for (std::size_t j = 0; j < columns.size(); ++j)
    place[static_cast<std::size_t>(columns[j])] = static_cast<std::int32_t>(j);
  CsrMatrix<double> rows = data;
  for (std::int32_t& column : rows.columns) column = place[static_cast<std::size_t>(column)];
  return rows;
}

Block<double> scores_of_file(const Job& job, const Projection& projection, std::vector<io::RowNames>& names) {
  const io::Data data = load_samples(job);
  names = names_of_rows(data);
  return std::visit(
      [&](const auto& stored) -> Block<double> {
        const auto& matrix = in<double>(stored);
        const std::vector<Index> columns = matched_columns(projection, data.column_names, columns_of(matrix), job);
        if (!in_order(columns)) return pca_scores<double>(reordered(matrix, columns), projection.model);
        return pca_scores<double>(matrix, projection.model);
      },
      data.matrix);
}

Block<double> scores_of_stream(const Job& job, const Projection& projection) {
  SampleStream stream = open_weighted_samples(job);
  const std::vector<Index> columns = matched_columns(projection, stream.column_names, stream.rows->cols(), job);
  if (!in_order(columns)) stream.rows = with_columns(std::move(stream.rows), columns);
  return pca_scores(*stream.rows, projection.model, job.block_rows);
}

std::vector<std::string> notes_of(const Job& job, const Projection& projection, const Block<double>& scores) {
  std::vector<std::string> notes;
  if (projection.mean_source == "none")
    notes.push_back(
        "mean: none was subtracted, because a basis alone brings none; if the analysis was centred, give "
        "its mean with --mean-from, or its result as JSON to --components-from");
  if (projection.mean_source != "result" && projection.scale_source == "none")
    notes.push_back(
        "scale: features were not divided; if the analysis was standardized, give --scale-from, or its "
        "result as JSON");
  Index dropped = 0;
  for (Index i = 0; i < scores.rows(); ++i) dropped += scores.row(i).hasNaN() ? 1 : 0;
  if (dropped > 0) notes.push_back(fmt::format("missing: {} rows have a missing entry, and NaN for scores", dropped));
  if (job.missing == Missing::mean || job.missing == Missing::em)
    notes.push_back(fmt::format("missing: entries that are not there are filled in by the {} of the analysis",
                                job.missing == Missing::mean ? "mean" : "components"));
  return notes;
}

// Of the rows that have scores.
Vector<double> variances_of(const Block<double>& scores) {
  Vector<double> sum = Vector<double>::Zero(scores.cols()), squares = sum;
  Index count = 0;
  for (Index i = 0; i < scores.rows(); ++i) {
    if (scores.row(i).hasNaN()) continue;
    sum += scores.row(i).transpose();
    ++count;
  }
  const Vector<double> mean = sum / std::max<double>(1.0, static_cast<double>(count));
  for (Index i = 0; i < scores.rows(); ++i)
    if (!scores.row(i).hasNaN()) squares += (scores.row(i).transpose() - mean).cwiseAbs2();
  return squares / std::max<double>(1.0, static_cast<double>(count) - 1);
}

Json project_json(const Job& job, const Projection& projection, const Projected& made) {
  Json json;
  json["command"] = job.command;
  json["version"] = version;
  json["samples"] = made.scores.rows();
  json["dimension"] = projection.model.mean.size();
  json["k"] = made.scores.cols();
  json["mean"] = projection.mean_source;
  json["scale"] = projection.scale_source;
  json["whitened"] = job.whiten;
  json["missing"] = name(job.missing);
  json["score_variances"] = numbers(variances_of(made.scores));
  json["notes"] = made.notes;
  json["provenance"] = provenance_json(job);
  return json;
}

std::string first_scores(const Block<double>& scores) {
  std::string text = fmt::format("  {:>6}", "row");
  const Index columns = std::min(scores.cols(), most_columns_shown), rows = std::min(scores.rows(), most_rows_shown);
  for (Index c = 0; c < columns; ++c) text += fmt::format("  {:>12}", fmt::format("score {}", c + 1));
  text += '\n';
  for (Index i = 0; i < rows; ++i) {
    text += fmt::format("  {:>6}", i + 1);
    for (Index c = 0; c < columns; ++c) text += fmt::format("  {:>12.5g}", scores(i, c));
    text += '\n';
  }
  if (rows < scores.rows() || columns < scores.cols()) text += "     ...  --scores FILE writes them all\n";
  return text;
}

std::string project_text(const Job& job, const Projection& projection, const Projected& made) {
  const auto source = [](const std::string& from, const std::filesystem::path& file,
                         const std::filesystem::path& result) {
    return from == "none" ? std::string("none") : fmt::format("of {}", (from == "file" ? file : result).string());
  };
  std::string text = fmt::format("{}: {} rows on {} components of {}\n\n", terminal_safe(job.input), made.scores.rows(),
                                 made.scores.cols(), terminal_safe(job.components_from.string()));
  text += first_scores(made.scores) + '\n';
  text += line("mean", "{}", source(projection.mean_source, job.mean_from, job.components_from));
  text += line("scale", "{}", source(projection.scale_source, job.scale_from, job.components_from));
  if (job.whiten) text += line("whitened", "each score divided by the root of its variance in the analysis");
  return text + notes_text(made.notes);
}

int run_project(Job job) {
  check(job);
  check_outputs(job);
  const Projection projection = load_projection(job);
  std::vector<io::RowNames> names;
  Projected made{.scores = job.stream ? scores_of_stream(job, projection) : scores_of_file(job, projection, names)};
  if (job.whiten) whiten<double>(made.scores, projection.model);
  made.notes = notes_of(job, projection, made.scores);

  Delivery delivery;
  if (names.empty())
    delivery.block(job.scores, made.scores);
  else
    delivery.block(job.scores, made.scores, names_of_components(made.scores.cols()), names);
  delivery.json(job.json, [&] { return project_json(job, projection, made); });
  if (!job.prints_json()) delivery.print(project_text(job, projection, made));
  return delivery.finish(done);
}

}  // namespace

void add_project(CLI::App& root, Action& action) {
  add_command(
      root, action,
      {.name = "project",
       .summary = "New data in the coordinates of components found before",
       .input = "DATA",
       .input_help = "New samples in rows, with the features of the analysis: .csv .tsv .txt .npy .mtx, each also .gz",
       .footer = "Examples:\n"
                 "  hearsay pca old.csv -k 5 --components basis.npy --json result.json\n"
                 "  hearsay project new.csv --components-from result.json --scores scores.csv\n"
                 "  hearsay project new.csv --components-from basis.npy",
       .options = in_project},
      run_project);
}

}  // namespace hearsay::app
