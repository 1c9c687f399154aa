#include "hearsay/io/shards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "hearsay/error.hpp"
#include "hearsay/io/matrix.hpp"
#include "hearsay/io/regular_file.hpp"
#include "hearsay/io/rows.hpp"
#include "io/file_kind.hpp"
#include "io/table_reader.hpp"

namespace hearsay::io {
namespace {

// Rows read at once, of so many columns; the reader below keeps about a megabyte of its own.
Index rows_at_once(Index columns) { return std::clamp<Index>((Index{1} << 20) / columns, 1, 256); }

void require_agents(std::span<const Index> local, std::size_t shards, const char* what) {
  for (const Index agent : local)
    require(agent >= 0 && agent < static_cast<Index>(shards),
            fmt::format("agent {}: there are {} {}, for agents 0 to {}", agent, shards, what,
                        static_cast<Index>(shards) - 1));
}

Block<double> dense(Data data, const std::string& name) {
  if (auto* block = std::get_if<Block<double>>(&data.matrix)) return std::move(*block);
  if (const auto* block = std::get_if<Block<float>>(&data.matrix)) return block->cast<double>();
  throw DataError(fmt::format("{}: a sparse matrix cannot be a shard; use .csv or .npy", name));
}

// Where a row of the file goes.
struct Place {
  Index row;
  std::size_t shard;
  Index at;
};

// By ascending row.
std::vector<Place> places_of(const Split& split, std::span<const Index> local) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < local.size(); ++i) {
    const auto& rows = split[static_cast<std::size_t>(local[i])];
    for (std::size_t r = 0; r < rows.size(); ++r) places.push_back({rows[r], i, static_cast<Index>(r)});
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.row < b.row; });
  return places;
}

void require_partition(const Split& split, Index rows, const std::string& name) {
  std::vector<bool> dealt(static_cast<std::size_t>(rows), false);
  for (const auto& part : split)
    for (const Index row : part) {
      if (!(row >= 0 && row < rows))
        throw DataError(fmt::format("{}: has {} rows, and the split names row {}, counted from 0", name, rows, row));
      if (dealt[static_cast<std::size_t>(row)])
        throw DataError(fmt::format("{}: the split deals out row {}, counted from 0, twice", name, row));
      dealt[static_cast<std::size_t>(row)] = true;
    }
  const auto missing = std::find(dealt.begin(), dealt.end(), false);
  if (missing != dealt.end())
    throw DataError(
        fmt::format("{}: the split gives row {}, counted from 0, to no agent", name, missing - dealt.begin()));
}

}  // namespace

std::vector<std::filesystem::path> shard_files(const std::filesystem::path& directory) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (!io::is_directory(entry->path()) && !entry->path().filename().string().starts_with('.') &&
        entry->path().extension() != ".ledger")
      files.push_back(entry->path());
  if (error) throw DataError(fmt::format("{}: cannot be listed: {}", directory.string(), error.message()));
  if (files.empty())
    throw DataError(fmt::format("{}: has no files, and there must be one for each agent", directory.string()));
  std::sort(files.begin(), files.end());
  return files;
}

Shards read_shards(std::span<const std::filesystem::path> files, std::span<const Index> local,
                   const TableOptions& options) {
  require_agents(local, files.size(), "files");
  Shards shards{.agents = static_cast<Index>(files.size()), .local = {local.begin(), local.end()}};
  for (const Index agent : local) {
    const auto& file = files[static_cast<std::size_t>(agent)];
    require_regular_file(file);
    Data data = read_data(file, options);
    shards.names.push_back(file.string());
    shards.columns.push_back(std::move(data.column_names));
    shards.rows.push_back(dense(std::move(data), file.string()));
  }
  return shards;
}

Shards read_split(const std::filesystem::path& file, const Split& split, std::span<const Index> local,
                  const TableOptions& options) {
  require_agents(local, split.size(), "parts of the split");
  require_regular_file(file);
  const auto source = open_rows(file, options);
  const std::vector<Place> places = places_of(split, local);
  Shards shards{.agents = static_cast<Index>(split.size()), .local = {local.begin(), local.end()}};
  require_memory(places.size() * static_cast<std::uint64_t>(source->cols()), sizeof(double), file.string());
  for (const Index agent : local) {
    shards.names.push_back(fmt::format("{}, agent {}", file.string(), agent));
    shards.rows.emplace_back(static_cast<Index>(split[static_cast<std::size_t>(agent)].size()), source->cols());
  }

  Block<double> some(rows_at_once(source->cols()), source->cols());
  auto next = places.begin();
  Index first = 0;
  for (Index count = 0; (count = source->read(some)) > 0; first += count)
    for (; next != places.end() && next->row < first + count; ++next)
      if (next->row >= first) shards.rows[next->shard].row(next->at) = some.row(next->row - first);
  require_partition(split, first, file.string());
  return shards;
}

Index count_rows(const std::filesystem::path& file, const TableOptions& options) {
  require_regular_file(file);
  const auto source = open_rows(file, options);
  Block<double> some(rows_at_once(source->cols()), source->cols());
  Index rows = 0;
  for (Index count = 0; (count = source->read(some)) > 0;) rows += count;
  return rows;
}

std::vector<std::string> read_labels(const std::filesystem::path& path, const TableOptions& options) {
  require(!options.label_column.empty(), "label column: must be named for labels to be read");
  require_regular_file(path);
  InputFile file(path);
  std::vector<std::string> labels;
  if (kind_of(file) == FileKind::table) {
    TableReader reader(source_of(file), options);
    std::vector<double> row(static_cast<std::size_t>(reader.layout().cols()));
    for (std::string label; reader.next(row.data(), &label);) labels.push_back(label);
    return labels;
  }
  const auto source = open_rows(path);  // the label among the numbers
  const Index column = label_by_number(options.label_column, source->cols(), path.string());
  Block<double> some(rows_at_once(source->cols()), source->cols());
  for (Index count = 0; (count = source->read(some)) > 0;)
    for (Index i = 0; i < count; ++i) labels.push_back(fmt::format("{}", some(i, column)));
  return labels;
}

}  // namespace hearsay::io
