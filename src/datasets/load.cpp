#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hearsay/datasets.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/edge_list.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/io/table.hpp"
#include "io/heart_split.hpp"
#include "io/text.hpp"

namespace hearsay::io {
namespace {

namespace fs = std::filesystem;

fs::path require_present(std::string_view name, const fs::path& directory) {
  const DatasetLocation location = locate(find_dataset(name), directory);
  if (!location.missing.empty())
    throw DataError(
        fmt::format("{}: not there; `hearsay datasets fetch {}` gets it", location.missing[0].string(), name));
  return location.paths[0];
}

// UCI's columns, counted from 0: age, sex, cp, trestbps, chol, fbs, restecg, thalach, exang, oldpeak, and four not used
// here.
constexpr Index columns_used = 10;
constexpr Index columns_as_they_are[] = {0, 1, 3, 4, 5, 7, 8, 9};
constexpr Index features = 13;

// One line as FLamby's features: numbers first, then chest pain (levels 1-4) and resting ECG (0-2) one-hot, first level
// dropped.
Eigen::RowVectorXd heart_features(std::string_view line, std::string_view name, Index number) {
  double column[columns_used];
  for (Index c = 0; c < columns_used; ++c) {
    const std::string_view field = next_field(line, ',');
    if (!to_number(field, column[c]) || !std::isfinite(column[c]))
      fail_at(name, number, c + 1, fmt::format("{} where a number belongs", shown(field)));
  }
  const double cp = column[2], restecg = column[6];

  Eigen::RowVectorXd row(features);
  Index f = 0;
  for (const Index c : columns_as_they_are) row(f++) = column[c];
  for (const double level : {2.0, 3.0, 4.0}) row(f++) = cp == level ? 1.0 : 0.0;
  for (const double level : {1.0, 2.0}) row(f++) = restecg == level ? 1.0 : 0.0;
  return row;
}

Block<double> train_rows(const HeartCenter& center, const fs::path& path) {
  InputFile file(path);
  LineReader lines(source_of(file));
  Block<double> rows(std::count(center.lines.begin(), center.lines.end(), '#'), features);
  Index row = 0;
  std::string_view line;
  while (lines.next(line)) {
    const auto i = static_cast<std::size_t>(lines.number() - 1);
    if (i < center.lines.size() && center.lines[i] == '#')
      rows.row(row++) = heart_features(line, lines.name(), lines.number());
  }
  if (lines.number() != static_cast<Index>(center.lines.size()))
    throw DataError(
        fmt::format("{}: has {} lines: the split was made for {}", lines.name(), lines.number(), center.lines.size()));
  return rows;
}

// FLamby divides by the deviation plus 1e-9, which leaves a constant column at zero.
void standardise(Block<double>& rows) {
  for (auto column : rows.colwise()) {
    column.array() -= column.mean();
    column /= std::sqrt(column.squaredNorm() / static_cast<double>(rows.rows() - 1)) + 1e-9;
  }
}

}  // namespace

FederatedTable load_fed_heart_disease(const fs::path& directory) {
  require_present("fed-heart-disease", directory);
  FederatedTable result;
  result.features = {"age",     "sex",  "trestbps", "chol", "fbs",       "thalach",  "exang",
                     "oldpeak", "cp=2", "cp=3",     "cp=4", "restecg=1", "restecg=2"};
  for (const HeartCenter& center : heart_centers()) {
    Block<double> rows = train_rows(center, directory / "heart" / fmt::format("processed.{}.data", center.name));
    standardise(rows);
    result.centers.emplace_back(center.name);
    result.tables.push_back(std::move(rows));
  }
  return result;
}

LabelledTable load_digits(const fs::path& directory) {
  Table table = read_table(require_present("digits", directory), {.label_column = "last"});
  LabelledTable result{.values = std::move(table.values), .labels = {}};
  for (const std::string& text : table.labels) {
    std::int64_t label = 0;
    if (!to_integer(text, label) || label < 0 || label > 9)
      throw DataError(fmt::format("digits: label {}: must be a digit", shown(text)));
    result.labels.push_back(static_cast<std::int32_t>(label));
  }
  return result;
}

Graph load_ego_facebook(const fs::path& directory) {
  return read_edge_list(require_present("ego-facebook", directory)).graph;
}

Graph load_amazon0302(const fs::path& directory) {
  return read_edge_list(require_present("amazon0302", directory)).graph;
}

}  // namespace hearsay::io
