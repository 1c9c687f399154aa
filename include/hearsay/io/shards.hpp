// The rows of some agents out of many, and of these alone: a file for each agent, or one file dealt out row by row and
// read in pieces.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "hearsay/decentralized_on_ranks.hpp"
#include "hearsay/export.hpp"
#include "hearsay/io/table.hpp"

namespace hearsay::io {

/// All of these throw DataError for what is no regular file: files are read more than once, and a pipe or a device may
/// never end.

/// The files of a directory, sorted by name; hidden ones, directories and privacy ledgers are left out. Throws
/// DataError when there is none.
HEARSAY_API std::vector<std::filesystem::path> shard_files(const std::filesystem::path& directory);

/// File i belongs to agent i; those of the `local` agents are read, and no other is opened. Tables, .npy and Matrix
/// Market arrays.
HEARSAY_API Shards read_shards(std::span<const std::filesystem::path> files, std::span<const Index> local,
                               const TableOptions& options = {});

/// Agent i holds the rows split[i] of one file, as open_rows() hands them on; those of the `local` agents are kept.
/// Memory stays near their size. Throws DataError unless the split deals out every row of the file once.
HEARSAY_API Shards read_split(const std::filesystem::path& file, const Split& split, std::span<const Index> local,
                              const TableOptions& options = {});

/// What a split is made from, each in one reading of the file and without keeping its numbers.
HEARSAY_API Index count_rows(const std::filesystem::path& file, const TableOptions& options = {});
HEARSAY_API std::vector<std::string> read_labels(const std::filesystem::path& file, const TableOptions& options);

}  // namespace hearsay::io
