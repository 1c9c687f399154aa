#include "federation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "convert.hpp"
#include "hearsay/error.hpp"
#include "hearsay/graph_tools.hpp"
#include "hearsay/io/datasets.hpp"
#include "inputs.hpp"

namespace hearsay::app {
namespace {

namespace fs = std::filesystem;

void require_agents(const Job& job, Index shards, std::string_view what) {
  const auto agents = job.integer("agents", 1);
  require(!agents || *agents == shards,
          fmt::format("agents = {}: must be {}, for there are {} {}", agents.value_or(0), shards, shards, what));
}

Block<double> dense(const io::Data& data, std::string_view name) {
  require(!std::holds_alternative<CsrMatrix<double>>(data.matrix),
          fmt::format("{}: is sparse; agents take dense tables", name));
  return std::visit(
      [](const auto& matrix) -> Block<double> {
        if constexpr (requires { matrix.template cast<double>(); })
          return matrix.template cast<double>();
        else
          return {};
      },
      data.matrix);
}

// ---- Shards that are apart already ----------------------------------------------------------------------------------

struct Tables {
  std::vector<std::string> sources;
  std::vector<Block<double>> tables;
};

// The files of a directory, by name; hidden ones are not shards.
std::vector<std::string> files_in(const fs::path& directory) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory))
    if (entry.is_regular_file() && !entry.path().filename().string().starts_with('.'))
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  require(!files.empty(),
          fmt::format("{}: is an empty directory, and must hold one file for each agent", directory.string()));
  return files;
}

Tables read_tables(const Job& job, const std::vector<std::string>& files) {
  Tables read{.sources = files, .tables = {}};
  for (const std::string& file : files) {
    const io::Data data = io::read_data(file, {.label_column = job.label_column});
    read.tables.push_back(dense(data, file));
    if (read.tables.back().cols() != read.tables.front().cols())
      throw DataError(fmt::format("{}: has {} columns: must have {}, as {} has", file, read.tables.back().cols(),
                                  read.tables.front().cols(), files.front()));
  }
  return read;
}

std::optional<Tables> tables_apart(const Job& job) {
  if (job.inputs.size() > 1) return read_tables(job, job.inputs);
  if (fs::is_directory(job.input)) return read_tables(job, files_in(job.input));
  if (job.input == "fed-heart-disease" && !fs::exists(job.input)) {
    locate_input(job.input);
    io::FederatedTable heart = io::load_fed_heart_disease(data_directory());
    return Tables{.sources = heart.centers, .tables = std::move(heart.tables)};
  }
  return std::nullopt;
}

// ---- One table, split -----------------------------------------------------------------------------------------------

std::vector<std::int32_t> codes(const std::vector<std::string>& labels) {
  std::map<std::string, std::int32_t> known;
  for (const std::string& label : labels) known.emplace(label, 0);
  std::int32_t next = 0;
  for (auto& [label, code] : known) code = next++;
  std::vector<std::int32_t> numbers;
  for (const std::string& label : labels) numbers.push_back(known.at(label));
  return numbers;
}

// A number per row: the agent that holds it.
std::vector<std::int32_t> read_assignment(const std::string& path, Index rows) {
  const Block<double> column = dense(io::read_data(path), path);
  if (column.cols() != 1 || column.rows() != rows)
    throw DataError(fmt::format("split = {}: is {} x {}, and must be {} x 1: the agent of every row of the data", path,
                                column.rows(), column.cols(), rows));
  std::vector<std::int32_t> agents;
  for (Index row = 0; row < rows; ++row) {
    const double agent = column(row, 0);
    if (!(agent >= 0 && agent < 1e9 && agent == std::floor(agent)))
      throw DataError(
          fmt::format("split = {}: row {} holds {}: must be the number of an agent, from 0", path, row + 1, agent));
    agents.push_back(static_cast<std::int32_t>(agent));
  }
  return agents;
}

Split split_rows(const Job& job, const io::Data& data, Index rows) {
  const std::string rule = job.text("split", "even");
  if (rule == "by-label") {
    require(!data.labels.empty(), "split = by-label: needs --label-column, the column to go by");
    Split split = label_split(codes(data.labels));
    require_agents(job, static_cast<Index>(split.size()), "labels");
    return split;
  }
  const auto agents = job.integer("agents", 1);
  if (rule == "even" || rule == "contiguous") {
    require(agents.has_value(), "agents: must be given (--agents N)");
    const auto seed = static_cast<std::uint64_t>(job.integer("network-seed", 0).value_or(0));
    return rule == "even" ? even_split(rows, *agents, seed) : contiguous_split(rows, *agents);
  }
  constexpr std::string_view words[] = {"even", "contiguous", "by-label", "by-node"};
  require(fs::exists(rule), fmt::format("split = {}: must be one of {}, and there is no file of that name{}", rule,
                                        find_option("split").range, did_you_mean(rule, words)));
  const auto assignment = read_assignment(rule, rows);
  const Index named = assignment.empty() ? 0 : 1 + *std::max_element(assignment.begin(), assignment.end());
  require(!agents || *agents >= named,
          fmt::format("agents = {}: must be at least {}, for {} names so many", agents.value_or(0), named, rule));
  return given_split(assignment, agents.value_or(std::max<Index>(1, named)));
}

Tables tables_of_one(const Job& job) {
  const io::Data data = load_samples(job);
  const Block<double> all = dense(data, job.input);
  Tables made;
  for (const auto& rows : split_rows(job, data, all.rows())) made.tables.push_back(all(rows, Eigen::all));
  return made;
}

// ---- What they amount to --------------------------------------------------------------------------------------------

// Added agent by agent, so that the sum does not depend on where the agents live.
Vector<double> mean_of(const std::vector<Block<double>>& tables, Index samples) {
  Vector<double> sum = Vector<double>::Zero(tables.front().cols());
  for (const Block<double>& table : tables) sum += table.colwise().sum().transpose();
  return sum / static_cast<double>(samples);
}

Federation of_tables(const Job& job, Tables&& made) {
  Federation federation;
  Holdings& held = federation.held;
  held.dimension = made.tables.front().cols();
  held.sources = std::move(made.sources);
  held.split = held.sources.empty() ? "split " + job.text("split", "even") : "a shard each";
  held.centred = job.center;
  for (const auto& table : made.tables) held.samples_of.push_back(table.rows());
  held.samples = std::accumulate(held.samples_of.begin(), held.samples_of.end(), Index{0});
  if (job.center && held.samples > 0) {
    const Vector<double> mean = mean_of(made.tables, held.samples);
    for (auto& table : made.tables) table.rowwise() -= mean.transpose();
  }
  federation.shards = covariance_shards(made.tables);
  return federation;
}

Federation of_nodes(const Job& job) {
  Federation federation;
  Graph graph = load_graph(job.input).graph;
  if (const auto count = job.integer("nodes", 1)) {
    require(*count <= graph.nodes,
            fmt::format("nodes = {}: must be at most {}, as {} has", *count, graph.nodes, job.input));
    std::vector<std::int32_t> first(static_cast<std::size_t>(*count));
    std::iota(first.begin(), first.end(), 0);
    graph = subgraph(graph, first);
  }
  require_agents(job, graph.nodes, "nodes");
  federation.nodes = node_operators(graph);
  federation.held = {.dimension = graph.nodes, .split = "a node each"};
  federation.graph = std::move(graph);
  return federation;
}

}  // namespace

Federation load_federation(const Job& job) {
  if (job.text("split", "") == "by-node") {
    require(job.inputs.size() == 1, "split = by-node: takes one graph");
    return of_nodes(job);
  }
  require(!job.given.contains("nodes"), "nodes: needs --split by-node, where agents are nodes of a graph");
  if (auto apart = tables_apart(job)) {
    require(!job.given.contains("split"), "split: must not be given where every agent has a file of its own");
    require_agents(job, static_cast<Index>(apart->tables.size()), "shards");
    return of_tables(job, std::move(*apart));
  }
  return of_tables(job, tables_of_one(job));
}

}  // namespace hearsay::app
