// From what the user names, a file or a data set, to what the library takes.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "commands/job.hpp"
#include "hearsay/datasets.hpp"
#include "hearsay/io/edge_list.hpp"
#include "hearsay/io/matrix.hpp"
#include "hearsay/io/rows.hpp"

namespace hearsay::app {

/// Where data sets lie: the door reads the environment, the library does not.
std::filesystem::path data_directory();

/// The directory of one data set: that of the others where all its files are there, else the one built in where the
/// library carries it. The files are not looked into.
std::filesystem::path directory_of(const io::Dataset& dataset);

/// A file by that name, or else the file of a data set. Throws InvalidArgument for a data set that is not there yet.
std::filesystem::path locate_input(const std::string& input);

/// Where the samples lie, and how to read them: a data set brings its own label column.
struct SampleFile {
  std::filesystem::path path;
  io::TableOptions options;
};
SampleFile sample_file(const Job& job);

/// The samples to analyse, at once or row by row.
io::Data load_samples(const Job& job);
std::unique_ptr<RowSource<double>> open_samples(const Job& job);
io::StoredRows open_samples_as_stored(const Job& job);

/// The column of a written basis or of written scores that names its rows, by its title; empty where there is none.
/// Such a file is a .csv, and its other columns are PC1, PC2, ...
std::string title_of_row_names(const std::filesystem::path& path);

/// A square symmetric matrix, checked.
io::Data load_symmetric(const std::string& input);

io::EdgeList load_graph(const std::string& input);

/// A d x p array; empty when no path is given.
std::optional<Block<double>> load_block(const std::filesystem::path& path, std::string_view name, Index dimension);

/// The first k columns of a d x k (or wider) array, made orthonormal.
std::optional<Block<double>> load_reference(const std::filesystem::path& path, Index dimension, Index rank);

/// What a checkpoint must have in common with the solve that goes on from it: the options that shape the run, and the
/// digest of every byte it reads.
std::string configuration(const Job& job);

}  // namespace hearsay::app
