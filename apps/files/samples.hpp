// Samples as the library takes them: the data, the weights of their rows, and what the options say of both.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "commands/job.hpp"
#include "hearsay/io/matrix.hpp"
#include "hearsay/row_source.hpp"
#include "hearsay/solve.hpp"

namespace hearsay::app {

struct Samples {
  io::Data data = {};
  std::vector<double> weights = {};  ///< of the rows; empty where all count alike
};

/// Without the column of weights, where there is one.
Samples load_weighted_samples(const Job& job);

/// Of all rows, in double; `single` in its place where the file has that and nothing is done to its columns.
struct SampleStream {
  std::unique_ptr<RowSource<double>> rows = {};
  std::unique_ptr<RowSource<float>> single = {};
  std::vector<double> weights = {};
  std::vector<std::string> column_names = {};  ///< none where the file has none, or can be read once only
  std::vector<io::RowNames> row_names = {}, feature_names = {};  ///< as names_of_rows() and names_of_columns()
};

SampleStream open_weighted_samples(const Job& job);
SampleStream open_stored_samples(const Job& job);

/// How the samples are taken: read, where they lie on the disk, or as they pass by.
enum class Taking { read, mapped, streamed };
/// What was asked for; else what the memory allowed decides, by the size of the file or of what it holds.
Taking taking_of(const Job& job);

/// The columns before the numbers of --scores and of --components, where these are .csv: the names of the file's rows
/// and of its columns, where it has both.
std::vector<io::RowNames> names_of_rows(const io::Data& data);
std::vector<io::RowNames> names_of_columns(const io::Data& data);

/// Borrows weights and names.
PcaSettings pca_settings(const Job& job, const std::vector<double>& weights, const std::vector<std::string>& names);

/// A file of numbers in one column, or one row.
std::vector<double> load_numbers(const std::filesystem::path& path, std::string_view option);

/// The rows of a source with some of their columns, in another order. Owns the source.
std::unique_ptr<RowSource<double>> with_columns(std::unique_ptr<RowSource<double>> rows, std::vector<Index> columns);

}  // namespace hearsay::app
