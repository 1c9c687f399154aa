// Shards of different parties name their columns, and need not list them in the same order.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "decentralized/columns.hpp"
#include "hearsay/decentralized_on_ranks.hpp"
#include "hearsay/error.hpp"
#include "network/bytes.hpp"

namespace hearsay {

using detail::ByteReader;
using detail::ByteWriter;
using detail::Header;

namespace {

using Names = std::vector<std::string>;

constexpr const char* way_out =
    "give all shards the same header, or match columns by their place (columns = by-position)";

std::string name_of(const Shards& shards, std::size_t i) {
  return i < shards.names.size() ? shards.names[i] : fmt::format("shard {}", shards.local[i]);
}

// Where each of the wanted columns lies in this shard.
std::vector<Index> places_of(const Header& wanted, const Names& columns, const std::string& shard) {
  if (columns.empty() != wanted.columns.empty())
    throw DataError(fmt::format("{} has {}, and {} has {}: {}", shard, columns.empty() ? "no header" : "a header",
                                wanted.shard, columns.empty() ? "one" : "none", way_out));
  std::map<std::string_view, Index> place;
  for (std::size_t j = 0; j < columns.size(); ++j)
    if (!place.emplace(columns[j], static_cast<Index>(j)).second)
      throw DataError(fmt::format("{} has two columns '{}', and its header is not that of {}: {}", shard, columns[j],
                                  wanted.shard, way_out));
  std::vector<Index> places;
  for (const std::string& column : wanted.columns) {
    const auto found = place.find(column);
    if (found == place.end())
      throw DataError(fmt::format("{} has no column '{}', which {} has: {}", shard, column, wanted.shard, way_out));
    places.push_back(found->second);
    place.erase(found);
  }
  if (!place.empty())
    throw DataError(
        fmt::format("{} has a column '{}', which {} has not: {}", shard, place.begin()->first, wanted.shard, way_out));
  return places;
}

}  // namespace

std::string detail::header_of(const Shards& shards) {
  ByteWriter here;
  for (std::size_t i = 0; i < shards.local.size(); ++i) {
    if (shards.local[i] != 0) continue;
    here.put(std::string_view(name_of(shards, i)));
    for (const std::string& column : shards.columns[i]) here.put(std::string_view(column));
  }
  return here.bytes();
}

Header detail::header_from(std::span<const std::string> said) {
  Header first;
  for (const std::string& bytes : said) {
    if (bytes.empty()) continue;
    ByteReader reader(bytes);
    first = {.shard = reader.text(), .columns = {}};
    while (!reader.at_end()) first.columns.push_back(reader.text());
  }
  return first;
}

std::vector<std::string> detail::bring_into_order(Shards& shards, const Header& wanted) {
  std::vector<std::string> moved;
  for (std::size_t i = 0; i < shards.local.size(); ++i) {
    if (shards.columns[i] == wanted.columns) continue;
    const std::vector<Index> places = places_of(wanted, shards.columns[i], name_of(shards, i));
    Block<double> aligned(shards.rows[i].rows(), static_cast<Index>(places.size()));
    for (std::size_t j = 0; j < places.size(); ++j) aligned.col(static_cast<Index>(j)) = shards.rows[i].col(places[j]);
    shards.rows[i] = std::move(aligned);
    shards.columns[i] = wanted.columns;
    moved.push_back(name_of(shards, i));
  }
  return moved;
}

std::vector<std::string> align_columns(Transport& ranks, Shards& shards, ColumnMatch match) {
  std::vector<std::string> moved;
  if (match == ColumnMatch::by_position) return moved;
  shards.columns.resize(shards.local.size());
  const Header wanted = detail::header_from(ranks.gather_everywhere(detail::header_of(shards)));
  ranks.everywhere([&] { moved = detail::bring_into_order(shards, wanted); });
  ByteWriter here;
  for (const std::string& shard : moved) here.put(std::string_view(shard));
  moved.clear();
  for (const std::string& said : ranks.gather_everywhere(here.bytes()))
    for (ByteReader reader(said); !reader.at_end();) moved.push_back(reader.text());
  return moved;
}

}  // namespace hearsay
