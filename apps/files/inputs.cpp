#include "files/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "files/run_files.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/bed.hpp"
#include "hearsay/io/built_in.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/io/hdf5.hpp"
#include "hearsay/io/npy.hpp"
#include "hearsay/io/rows.hpp"
#include "hearsay/io/ten_x.hpp"
#include "hearsay/qr.hpp"
#include "hearsay/symmetric.hpp"

namespace hearsay::app {

namespace {

// The data set of that name, if it is one and no file hides it.
const io::Dataset* dataset_named(const std::string& input) {
  if (is_there(input)) return nullptr;
  for (const io::Dataset& dataset : io::datasets())
    if (dataset.name == input) return &dataset;
  return nullptr;
}

const io::Dataset* dataset_of_samples(const std::string& input) {
  const io::Dataset* dataset = dataset_named(input);
  require(dataset == nullptr || dataset->name == "digits" || dataset->name == "fed-heart-disease",
          fmt::format("{}: is a graph; hearsay cluster takes it", input));
  return dataset;
}

// Of a file that says nothing of itself.
std::optional<io::RawLayout> raw_layout(const Job& job) {
  if (!job.given.contains("raw-shape")) {
    for (const std::string_view name : {"raw-type", "raw-skip"})
      require(!job.given.contains(name), fmt::format("{}: is about a raw file, whose --raw-shape is not given", name));
    return std::nullopt;
  }
  io::RawLayout layout = io::parse_raw_shape(job.text("raw-shape", ""));
  layout.type = job.text("raw-type", "f4");
  layout.skip = static_cast<std::uint64_t>(job.integer("raw-skip", 0).value_or(0));
  return layout;
}

io::TableOptions table_options(const Job& job, const io::Dataset* dataset) {
  return {.label_column = dataset != nullptr && job.label_column.empty() ? "last" : job.label_column,
          .missing = job.missing != Missing::refuse,
          .missing_hint = job.command == "pca" || job.command == "project"
                              ? "; missing values are refused unless --missing says what to do with them: drop-rows, "
                                "mean or em"
                              : "; missing values are refused here",
          .dataset = job.dataset,
          .raw = raw_layout(job)};
}

io::Data stacked(const io::FederatedTable& federation) {
  Index rows = 0;
  for (const auto& table : federation.tables) rows += table.rows();
  Block<double> all(rows, static_cast<Index>(federation.features.size()));
  std::vector<std::string> centers;
  Index first = 0;
  for (std::size_t i = 0; i < federation.tables.size(); ++i) {
    const auto& table = federation.tables[i];
    all.middleRows(first, table.rows()) = table;
    first += table.rows();
    centers.insert(centers.end(), static_cast<std::size_t>(table.rows()), federation.centers[i]);
  }
  return {.matrix = std::move(all),
          .column_names = federation.features,
          .labels = std::move(centers),
          .label_name = "center"};
}

}  // namespace

std::filesystem::path data_directory() {
  return io::data_directory(std::getenv("HEARSAY_DATA"), std::getenv("XDG_CACHE_HOME"), std::getenv("HOME"));
}

// A copy on a disk comes first: who has put one there, or has pointed HEARSAY_DATA at one, means it.
std::filesystem::path directory_of(const io::Dataset& dataset) {
  if (!io::is_built_in(dataset)) return data_directory();
  try {
    const std::filesystem::path directory = data_directory();
    if (io::locate(dataset, directory).missing.empty()) return directory;
  } catch (const InvalidArgument&) {  // no directory for data
  }
  return io::built_in_directory();
}

std::filesystem::path locate_input(const std::string& input) {
  require(!input.empty(), "input: must name a file or a data set");
  const io::Dataset* dataset = dataset_named(input);
  if (dataset == nullptr) return input;
  const std::filesystem::path directory = directory_of(*dataset);
  const io::DatasetLocation location = io::locate(*dataset, directory);
  require(location.missing.empty(), fmt::format("{}: the data set is not in {}; get it with: hearsay datasets fetch {}",
                                                input, directory.string(), input));
  io::require_intact(*dataset, directory);
  return location.paths.front();
}

SampleFile sample_file(const Job& job) {
  const io::Dataset* dataset = dataset_of_samples(job.input);
  return {.path = locate_input(job.input), .options = table_options(job, dataset)};
}

io::Data load_samples(const Job& job) {
  const io::Dataset* dataset = dataset_of_samples(job.input);
  const std::filesystem::path path = locate_input(job.input);
  require(dataset == nullptr || job.dataset.empty(),
          fmt::format("dataset = {}: names a matrix of an HDF5 or .npz file; {} is none", job.dataset, job.input));
  if (dataset != nullptr && dataset->name == "fed-heart-disease")
    return stacked(io::load_fed_heart_disease(directory_of(*dataset)));
  const io::TableOptions options = table_options(job, dataset);
  io::try_hdf5(path, options);
  return io::read_data(path, options);
}

namespace {

const io::Dataset* dataset_of_stream(const Job& job) {
  const io::Dataset* dataset = dataset_of_samples(job.input);
  require(dataset == nullptr || dataset->name == "digits",
          fmt::format("{}: is made of several files, which cannot be streamed; leave --stream out", job.input));
  io::try_hdf5(locate_input(job.input), table_options(job, dataset));
  return dataset;
}

}  // namespace

std::string title_of_row_names(const std::filesystem::path& path) {
  if (path.extension() != ".csv") return "";
  const std::vector<std::string> names = io::column_names(path);
  return names.size() > 1 && names[0] != "PC1" && names[1] == "PC1" ? names[0] : "";
}

std::unique_ptr<RowSource<double>> open_samples(const Job& job) {
  const io::Dataset* dataset = dataset_of_stream(job);
  return io::open_rows(locate_input(job.input), table_options(job, dataset));
}

io::StoredRows open_samples_as_stored(const Job& job) {
  const io::Dataset* dataset = dataset_of_stream(job);
  return io::open_rows_as_stored(locate_input(job.input), table_options(job, dataset));
}

io::Data load_symmetric(const std::string& input) {
  const std::filesystem::path path = locate_input(input);
  io::try_hdf5(path);
  io::Data data = io::read_data(path);
  std::visit([&path](const auto& matrix) { require_symmetric(matrix, path.string()); }, data.matrix);
  return data;
}

io::EdgeList load_graph(const std::string& input) { return io::read_edge_list(locate_input(input)); }

std::optional<Block<double>> load_block(const std::filesystem::path& path, std::string_view name, Index dimension) {
  if (path.empty()) return std::nullopt;
  Block<double> block = std::visit([](const auto& values) -> Block<double> { return values.template cast<double>(); },
                                   io::read_npy(path));
  require(block.rows() == dimension, fmt::format("{} = {}: has {} rows, and must have {}, as the matrix has", name,
                                                 path.string(), block.rows(), dimension));
  return block;
}

std::optional<Block<double>> load_reference(const std::filesystem::path& path, Index dimension, Index rank) {
  auto block = load_block(path, "reference", dimension);
  if (!block) return block;
  require(block->cols() >= rank, fmt::format("reference = {}: has {} columns, and must have at least {}, the rank",
                                             path.string(), block->cols(), rank));
  *block = Block<double>(block->leftCols(rank));
  Small<double> R;
  require(!thin_qr<double>(*block, R).rank_deficient,
          fmt::format("reference = {}: its columns must be linearly independent", path.string()));
  return block;
}

std::string configuration(const Job& job) {
  std::string text = job.command;
  for (const auto& [name, value] : job.given) {
    const OptionGroup group = find_option(name).group;
    const bool shapes_the_run =
        group == OptionGroup::solver || group == OptionGroup::noise || group == OptionGroup::input;
    if (shapes_the_run && name != "tolerance" && name != "max-iterations") text += fmt::format(" {}={}", name, value);
  }
  const io::Dataset* dataset = dataset_named(job.input);
  std::vector<std::filesystem::path> files{locate_input(job.input)};
  if (dataset != nullptr) files = io::locate(*dataset, directory_of(*dataset)).paths;
  if (io::is_bed(files.front())) {
    const io::BedPaths paths = io::bed_paths(files.front());
    files.insert(files.end(), {paths.bim, paths.fam});
  }
  if (const auto names = io::ten_x_names(files.front())) files.insert(files.end(), {names->barcodes, names->features});
  text += fmt::format(" input={}", files.front().filename().string());
  if (!job.start.empty()) files.push_back(job.start);
  if (!job.row_weights.empty()) files.push_back(job.row_weights);
  std::string digests;
  for (const auto& file : files) {
    require(io::built_in_file(file) || std::filesystem::is_regular_file(file),
            fmt::format("checkpoint: {} must be a file that can be read again, and is none", file.string()));
    digests += io::sha256_file(file);
  }
  return fmt::format("{} data={}", text, io::sha256_hex(digests));
}

}  // namespace hearsay::app
