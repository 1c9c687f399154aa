#include "datasets/verify.hpp"

#include <fmt/format.h>

#include "hearsay/error.hpp"
#include "hearsay/io/built_in.hpp"
#include "hearsay/io/edge_list.hpp"
#include "hearsay/io/file.hpp"

namespace hearsay::io {
namespace {

namespace fs = std::filesystem;

std::string fault_of(const EdgeListFacts& facts, std::string_view content, std::string_view name) {
  const std::string stated = fmt::format("Nodes: {} Edges: {}", facts.nodes, facts.lines);
  if (content.substr(0, 4096).find(stated) == std::string_view::npos)
    return fmt::format("no comment at its head says \"{}\"", stated);
  try {
    const EdgeList list = parse_edge_list(content, name);
    const auto lines = static_cast<std::int64_t>(list.graph.edges.size()) + list.loops_dropped + list.duplicates_merged;
    if (list.graph.nodes != facts.nodes || lines != facts.lines)
      return fmt::format("has {} nodes and {} edges, not {} and {}", list.graph.nodes, lines, facts.nodes, facts.lines);
  } catch (const DataError& error) {
    return error.what();
  }
  return {};
}

FileReport report_on(const DatasetFile& file, const fs::path& path) {
  if (!can_be_seen(path)) return {.path = path, .state = FileState::missing, .detail = "not there"};
  try {
    const std::string fault = fault_of(file, read_whole(path));
    return {.path = path, .state = fault.empty() ? FileState::valid : FileState::damaged, .detail = fault};
  } catch (const DataError& error) {
    return {.path = path, .state = FileState::damaged, .detail = error.what()};
  }
}

}  // namespace

bool can_be_seen(const fs::path& path) {
  std::error_code unknown;
  return built_in_file(path) || fs::exists(path, unknown);
}

fs::path trusted_digest_file(const fs::path& path) { return path.string() + ".sha256"; }

void require_intact(const Dataset& dataset, const fs::path& directory) {
  for (const DatasetFile& file : dataset.files) {
    const fs::path path = directory / file.path, trusted = trusted_digest_file(path);
    std::string wanted = file.sha256;
    if (wanted.empty() && can_be_seen(trusted)) wanted = read_whole(trusted).substr(0, 64);
    if (wanted.empty())
      throw DataError(
          fmt::format("{}: no SHA-256 of it is published, so it is not taken on trust; put the one you trust into {}",
                      path.string(), trusted.filename().string()));
    const std::string found = sha256_file(path, Content::decompressed);
    if (found != wanted)
      throw DataError(
          fmt::format("{}: is not what {} should be: its sha256 is {}, not {}; get it again with: hearsay "
                      "datasets fetch {}",
                      path.string(), dataset.name, found, wanted, dataset.name));
  }
}

std::string fault_of(const DatasetFile& file, std::string_view content) {
  if (!file.sha256.empty()) {
    const std::string found = sha256_hex(content);
    return found == file.sha256 ? "" : fmt::format("its sha256 is {}, not {}", found, file.sha256);
  }
  return file.facts ? fault_of(*file.facts, content, file.path.string()) : "";
}

std::string verified_by(const DatasetFile& file) {
  if (!file.sha256.empty()) return "sha256 " + file.sha256;
  if (!file.facts) return "nothing";
  return fmt::format("{} nodes and {} edges; no digest is published", file.facts->nodes, file.facts->lines);
}

std::vector<FileReport> verify(const Dataset& dataset, const fs::path& directory) {
  std::vector<FileReport> reports;
  for (const DatasetFile& file : dataset.files) reports.push_back(report_on(file, directory / file.path));
  return reports;
}

}  // namespace hearsay::io
