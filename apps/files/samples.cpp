#include "files/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "files/inputs.hpp"
#include "files/run_files.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/hdf5.hpp"
#include "hearsay/io/rows.hpp"
#include "hearsay/memory.hpp"

namespace hearsay::app {

namespace {

class SomeColumns final : public RowSource<double> {
 public:
  SomeColumns(std::unique_ptr<RowSource<double>> rows, std::vector<Index> columns)
      : rows_(std::move(rows)), columns_(std::move(columns)) {}

  Index cols() const override { return static_cast<Index>(columns_.size()); }
  std::optional<Index> rows() const override { return rows_->rows(); }
  std::uint64_t bytes_per_pass() const override { return rows_->bytes_per_pass(); }
  std::string name() const override { return rows_->name(); }
  void rewind() override { rows_->rewind(); }
  Index read(BlockView<double> out) override {
    if (all_.rows() != out.rows()) all_.resize(out.rows(), rows_->cols());
    const Index count = rows_->read(all_);
    for (Index j = 0; j < cols(); ++j)
      out.col(j).head(count) = all_.col(columns_[static_cast<std::size_t>(j)]).head(count);
    return count;
  }

 private:
  std::unique_ptr<RowSource<double>> rows_;
  std::vector<Index> columns_;
  Block<double> all_;
};

// From 0: the one that a number from 1, `last` or a name stands for.
Index place_of(const std::string& column, Index count, const std::vector<std::string>& names, const std::string& file) {
  const auto refuse = [&](const std::string& why) {
    throw InvalidArgument(fmt::format("weights-column = {}: {} {}", column, file, why));
  };
  if (count < 2) refuse("has no column beside it");
  if (column == "last") return count - 1;
  Index number = 0;
  const auto [end, problem] = std::from_chars(column.data(), column.data() + column.size(), number);
  if (problem == std::errc() && end == column.data() + column.size()) {
    if (number < 1 || number > count) refuse(fmt::format("has columns 1 to {}", count));
    return number - 1;
  }
  const auto found = std::find(names.begin(), names.end(), column);
  if (names.empty()) refuse(fmt::format("has no names; its columns are 1 to {}", count));
  if (found == names.end()) {
    const std::vector<std::string_view> known(names.begin(), names.end());
    refuse("has no column of that name" + did_you_mean(column, known));
  }
  if (std::find(found + 1, names.end(), column) != names.end()) refuse("has more than one column of that name");
  return found - names.begin();
}

std::vector<Index> all_but(Index column, Index count) {
  std::vector<Index> others(static_cast<std::size_t>(count));
  std::iota(others.begin(), others.end(), Index{0});
  others.erase(others.begin() + column);
  return others;
}

template <class S>
void take_column(Block<S>& matrix, Index column, std::vector<double>& weights) {
  for (Index i = 0; i < matrix.rows(); ++i) weights.push_back(static_cast<double>(matrix(i, column)));
  Block<S> rest(matrix.rows(), matrix.cols() - 1);
  rest.leftCols(column) = matrix.leftCols(column);
  rest.rightCols(rest.cols() - column) = matrix.rightCols(rest.cols() - column);
  matrix = std::move(rest);
}

void take_weights(const Job& job, Samples& samples) {
  std::visit(
      [&](auto& matrix) {
        if constexpr (requires { matrix.col(0); }) {
          const Index column = place_of(job.weights_column, matrix.cols(), samples.data.column_names, job.input);
          take_column(matrix, column, samples.weights);
          if (!samples.data.column_names.empty())
            samples.data.column_names.erase(samples.data.column_names.begin() + column);
        } else {
          throw InvalidArgument(
              fmt::format("weights-column = {}: {} is a sparse matrix, which has none; use "
                          "--row-weights",
                          job.weights_column, job.input));
        }
      },
      samples.data.matrix);
}

// The names of the columns; and the column of weights, where there is one, taken out.
SampleStream weighted(SampleStream stream, const Job& job) {
  const SampleFile file = sample_file(job);
  if (!is_pipe(file.path)) stream.column_names = io::column_names(file.path, file.options);
  if (job.weights_column.empty()) return stream;
  const Index all = stream.rows->cols(), column = place_of(job.weights_column, all, stream.column_names, job.input);
  Block<double> rows(std::max<Index>(1, job.block_rows), all);
  for (Index count = stream.rows->read(rows); count > 0; count = stream.rows->read(rows))
    for (Index i = 0; i < count; ++i) stream.weights.push_back(rows(i, column));
  stream.rows = with_columns(std::move(stream.rows), all_but(column, all));
  if (!stream.column_names.empty()) stream.column_names.erase(stream.column_names.begin() + column);
  return stream;
}

}  // namespace

std::vector<double> load_numbers(const std::filesystem::path& path, std::string_view option) {
  if (path.empty()) return {};
  const io::Data data = io::read_data(path);
  return std::visit(
      [&](const auto& matrix) -> std::vector<double> {
        if constexpr (requires { matrix.col(0); }) {
          require(matrix.cols() == 1 || matrix.rows() == 1,
                  fmt::format("{} = {}: is {} x {}, and must be one column of numbers", option, path.string(),
                              matrix.rows(), matrix.cols()));
          return {matrix.data(), matrix.data() + matrix.size()};
        } else {
          throw InvalidArgument(fmt::format("{} = {}: must be a .npy or .csv file", option, path.string()));
        }
      },
      data.matrix);
}

std::unique_ptr<RowSource<double>> with_columns(std::unique_ptr<RowSource<double>> rows, std::vector<Index> columns) {
  return std::make_unique<SomeColumns>(std::move(rows), std::move(columns));
}

Samples load_weighted_samples(const Job& job) {
  Samples samples{.data = load_samples(job), .weights = load_numbers(job.row_weights, "row-weights")};
  if (!job.weights_column.empty()) take_weights(job, samples);
  return samples;
}

SampleStream open_weighted_samples(const Job& job) {
  return weighted({.rows = open_samples(job), .weights = load_numbers(job.row_weights, "row-weights")}, job);
}

SampleStream open_stored_samples(const Job& job) {
  if (!job.weights_column.empty()) return open_weighted_samples(job);
  io::StoredRows rows = open_samples_as_stored(job);
  SampleStream stream{.weights = load_numbers(job.row_weights, "row-weights")};
  std::visit(
      [&stream](auto& source) {
        if constexpr (requires { stream.rows = std::move(source); })
          stream.rows = std::move(source);
        else
          stream.single = std::move(source);
      },
      rows);
  if (stream.single) return stream;
  stream = weighted(std::move(stream), job);
  const SampleFile file = sample_file(job);
  if (is_pipe(file.path)) return stream;
  const io::Data names = io::names_of_file(file.path, file.options);
  stream.row_names = names_of_rows(names);
  stream.feature_names = names_of_columns(names);
  return stream;
}

namespace {

// What holding it takes, and solving it there: of a file that is packed or sparse the size says little. Not asked of
// one that fits in any case, whose reader will look into it soon enough.
std::uint64_t bytes_to_hold(const Job& job, const SampleFile& file, std::uint64_t stored) {
  constexpr std::uint64_t most_packed = 32, most_of_covariance = std::uint64_t{2} << 30;
  if (stored <= memory_limit() / most_packed) return stored;
  io::try_hdf5(file.path, file.options);
  const std::optional<io::HeldShape> held = io::held_shape(file.path, file.options);
  if (!held) return stored;
  const auto rows = static_cast<std::uint64_t>(held->rows), cols = static_cast<std::uint64_t>(held->cols);
  const auto k = static_cast<std::uint64_t>(std::max<Index>(job.solve.power.rank, 1));
  const std::uint64_t covariance = 2 * std::min(most_of_covariance, cols * cols * sizeof(double));
  return held->bytes + covariance + (job.scores.empty() ? 1 : 2) * rows * k * sizeof(double);
}

}  // namespace

Taking taking_of(const Job& job) {
  if (job.stream) return Taking::streamed;
  const SampleFile file = sample_file(job);
  std::error_code none;
  if (!std::filesystem::is_regular_file(file.path, none)) return Taking::read;
  const std::uint64_t stored = bytes_to_hold(job, file, std::filesystem::file_size(file.path, none)),
                      used = memory_in_use();
  const bool fits = stored <= memory_limit() && used <= memory_limit() - stored;
  if (!fits && (file.options.raw || io::can_be_streamed(file.path))) return Taking::streamed;
  const bool whole = file.options.label_column.empty() && job.weights_column.empty();
  return whole ? Taking::mapped : Taking::read;
}

std::vector<io::RowNames> names_of_rows(const io::Data& data) {
  if (data.row_names.empty()) return {};
  return {{.title = data.row_title, .names = data.row_names}};
}

// Of a table only its first line is known, and its bases have always been numbers alone.
std::vector<io::RowNames> names_of_columns(const io::Data& data) {
  if (data.row_names.empty() || data.column_names.empty()) return {};
  return {{.title = data.column_title, .names = data.column_names}};
}

PcaSettings pca_settings(const Job& job, const std::vector<double>& weights, const std::vector<std::string>& names) {
  return {.center = job.center,
          .batch = job.integer("batch", 1),
          .standardize = job.standardize,
          .missing = job.missing,
          .weights = weights,
          .column_names = names};
}

}  // namespace hearsay::app
