// The files a command writes: all of them checked before the work starts, each written whole or not at all.
#pragma once

#include <filesystem>

#include "commands/job.hpp"
#include "hearsay/block.hpp"
#include "hearsay/io/table.hpp"
#include "reports/report.hpp"

namespace hearsay::app {

/// Throws InvalidArgument for an output that could not be written, has an unknown ending, would overwrite an input, or
/// is named twice. Touches nothing.
void check_outputs(const Job& job);

/// .npy or .csv, by the ending; nothing when the path is empty.
void write_block(const std::filesystem::path& path, const Block<double>& values);
/// With the names of columns and rows, where it is .csv.
void write_block(const std::filesystem::path& path, const Block<double>& values,
                 const std::vector<std::string>& columns, const std::vector<io::RowNames>& rows);

/// To the file or, for "-", to standard output; nothing when the path is empty.
void write_json(const std::filesystem::path& path, const Json& json);

/// A file of text.
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace hearsay::app
