#include "commands/holding.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "commands/network.hpp"
#include "files/inputs.hpp"
#include "files/run_files.hpp"
#include "hearsay/datasets.hpp"
#include "hearsay/decentralized_on_ranks.hpp"
#include "hearsay/error.hpp"
#include "hearsay/graph_tools.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/io/regular_file.hpp"
#include "hearsay/io/shards.hpp"

namespace hearsay::app {
namespace {

namespace fs = std::filesystem;

void require_as_many(const Job& job, Index shards, std::string_view what) {
  require_agents(shards);
  const auto agents = job.integer("agents", 1);
  require(!agents || *agents == shards,
          fmt::format("agents = {}: must be {}, for there are {} {}", agents.value_or(0), shards, shards, what));
}

// ---- Shards that are apart already ----------------------------------------------------------------------------------

bool is_heart(const Job& job) { return job.input == "fed-heart-disease" && !is_there(job.input); }

Shards heart_shards(const Job& job, const Transport& ranks, std::vector<std::string>& centers) {
  locate_input(job.input);  // or says how to get it
  io::FederatedTable heart = io::load_fed_heart_disease(directory_of(io::find_dataset(job.input)));
  const auto agents = static_cast<Index>(heart.tables.size());
  Shards shards{.agents = agents, .local = agents_here(agents, ranks)};
  for (const Index agent : shards.local) {
    shards.rows.push_back(std::move(heart.tables[static_cast<std::size_t>(agent)]));
    shards.names.push_back(heart.centers[static_cast<std::size_t>(agent)]);
    shards.columns.push_back(heart.features);
  }
  centers = std::move(heart.centers);
  return shards;
}

// ---- One table, split -----------------------------------------------------------------------------------------------

// Labels as numbers, by their order.
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
std::vector<std::int32_t> read_assignment(const std::string& path) {
  io::require_regular_file(path);
  const io::Data data = io::read_data(path);
  const auto* column = std::get_if<Block<double>>(&data.matrix);
  if (column == nullptr || column->cols() != 1)
    throw DataError(fmt::format("split = {}: must be one column of numbers, the agent of every row of the data", path));
  std::vector<std::int32_t> agents;
  for (Index row = 0; row < column->rows(); ++row) {
    const double agent = (*column)(row, 0);
    if (!(agent >= 0 && agent < most_agents && agent == std::floor(agent)))
      throw DataError(fmt::format("split = {}: row {} holds {}: must be the number of an agent, from 0 to {}", path,
                                  row + 1, agent, most_agents - 1));
    agents.push_back(static_cast<std::int32_t>(agent));
  }
  return agents;
}

// On several ranks there is an agent for each, unless told otherwise.
std::optional<Index> agents_asked_for(const Job& job, const Transport& ranks) {
  const auto agents = job.integer("agents", 1);
  if (agents) require_agents(*agents);
  return agents || ranks.size() == 1 ? agents : std::optional<Index>(ranks.size());
}

Split split_of(const Job& job, const fs::path& file, const io::TableOptions& options, const Transport& ranks) {
  const std::string rule = job.text("split", "even");
  if (rule == "by-label") {
    require(!options.label_column.empty(), "split = by-label: needs --label-column, the column to go by");
    Split split = label_split(codes(io::read_labels(file, options)));
    require_as_many(job, static_cast<Index>(split.size()), "labels");
    return split;
  }
  const auto agents = agents_asked_for(job, ranks);
  if (rule == "even" || rule == "contiguous") {
    require(agents.has_value(), "agents: must be given (--agents N)");
    const Index rows = io::count_rows(file, options);
    return rule == "even" ? even_split(rows, *agents, job.network_seed()) : contiguous_split(rows, *agents);
  }
  constexpr std::string_view words[] = {"even", "contiguous", "by-label", "by-node"};
  require(is_there(rule, "split"), fmt::format("split = {}: must be one of {}, and there is no file of that name{}",
                                               rule, find_option("split").range, did_you_mean(rule, words)));
  const auto assignment = read_assignment(rule);
  const Index named = assignment.empty() ? 0 : 1 + *std::max_element(assignment.begin(), assignment.end());
  require(!agents || *agents >= named,
          fmt::format("agents = {}: must be at least {}, for {} names so many", agents.value_or(0), named, rule));
  return given_split(assignment, agents.value_or(std::max<Index>(1, named)));
}

// ---- What a rank reads ----------------------------------------------------------------------------------------------

// FNV-1a, and short enough to be read: the same rows for the same agents give the same text.
std::string digest_of_split(const Split& split) {
  std::vector<std::uint64_t> numbers;
  for (const auto& rows : split) {
    numbers.push_back(rows.size());
    numbers.insert(numbers.end(), rows.begin(), rows.end());
  }
  return digest_text(numbers);
}

void read_split_table(const Job& job, const Transport& ranks, Holding& holding) {
  const SampleFile samples = sample_file(job);
  io::require_regular_file(samples.path);
  if (ranks.size() > 1)
    holding.facts.push_back({"the content of " + job.input, io::sha256_file(samples.path, io::Content::decompressed)});
  const Split split = split_of(job, samples.path, samples.options, ranks);
  holding.facts.push_back({"agents", std::to_string(split.size())});
  holding.facts.push_back({"the split", digest_of_split(split)});
  holding.shards =
      io::read_split(samples.path, split, agents_here(static_cast<Index>(split.size()), ranks), samples.options);
}

void read_shard_files(const Job& job, const Transport& ranks, Holding& holding) {
  if (is_heart(job)) {
    holding.shards = heart_shards(job, ranks, holding.sources);
  } else {
    const std::vector<fs::path> files = shard_files(job);
    require_agents(static_cast<Index>(files.size()));
    for (const fs::path& file : files) holding.sources.push_back(file.string());
    holding.shards = io::read_shards(files, agents_here(static_cast<Index>(files.size()), ranks),
                                     {.label_column = job.label_column,
                                      .missing_hint = "; agents refuse missing values: fill them in, or leave their "
                                                      "rows out, beforehand"});
  }
  require_as_many(job, holding.shards.agents, "shards");
  holding.facts.push_back({"agents", std::to_string(holding.shards.agents)});
  holding.facts.push_back({"the shards", fmt::format("{}", fmt::join(holding.sources, " "))});
}

void read_graph(const Job& job, const Transport& ranks, Holding& holding) {
  require(job.inputs.size() == 1, "split = by-node: takes one graph");
  io::require_regular_file(locate_input(job.input));
  Graph graph = load_graph(job.input).graph;
  if (const auto count = job.integer("nodes", 1)) {
    require(*count <= graph.nodes,
            fmt::format("nodes = {}: must be at most {}, as {} has", *count, graph.nodes, job.input));
    std::vector<std::int32_t> first(static_cast<std::size_t>(*count));
    std::iota(first.begin(), first.end(), 0);
    graph = subgraph(graph, first);
  }
  require_as_many(job, graph.nodes, "nodes");
  std::vector<NodeOperator> all = node_operators(graph);
  for (const Index agent : agents_here(graph.nodes, ranks))
    holding.nodes.push_back(std::move(all[static_cast<std::size_t>(agent)]));
  std::vector<std::uint64_t> numbers;
  for (const auto& [i, j] : graph.edges) numbers.insert(numbers.end(), {std::uint64_t(i), std::uint64_t(j)});
  for (const double weight : graph.weights) numbers.push_back(std::bit_cast<std::uint64_t>(weight));
  holding.facts.push_back({"agents", std::to_string(graph.nodes)});
  holding.facts.push_back({"the graph", digest_text(numbers)});
  holding.graph = std::move(graph);
}

}  // namespace

std::vector<fs::path> shard_files(const Job& job) {
  if (job.inputs.size() > 1) return {job.inputs.begin(), job.inputs.end()};
  return is_folder(job.input) ? io::shard_files(job.input) : std::vector<fs::path>{};
}

std::vector<Index> agents_here(Index agents, const Transport& ranks) {
  const std::vector<int> placement = contiguous_placement(agents, ranks.size());
  std::vector<Index> here;
  for (Index agent = 0; agent < agents; ++agent)
    if (placement[static_cast<std::size_t>(agent)] == ranks.rank()) here.push_back(agent);
  return here;
}

std::string digest_text(std::span<const std::uint64_t> numbers) { return fmt::format("{:016x}", digest_of(numbers)); }

Holding read_holding(const Job& job, const Transport& ranks) {
  Holding holding;
  if (job.text("split", "") == "by-node") {
    read_graph(job, ranks, holding);
    return holding;
  }
  require(!job.given.contains("nodes"), "nodes: needs --split by-node, where agents are nodes of a graph");
  holding.apart = job.inputs.size() > 1 || is_folder(job.input) || is_heart(job);
  require(!holding.apart || !job.given.contains("split"),
          "split: must not be given where every agent has a file of its own");
  if (holding.apart)
    read_shard_files(job, ranks, holding);
  else
    read_split_table(job, ranks, holding);
  return holding;
}

Assembly assemble(Holding holding, const Job& job, Transport& ranks) {
  Assembly assembly{.agents = holding.agents()};
  if (holding.graph) {
    assembly.held = {.dimension = holding.graph->nodes, .split = "a node each"};
    assembly.data = {.nodes = std::move(holding.nodes), .are_nodes = true};
    return assembly;
  }
  for (const std::string& shard : align_columns(ranks, holding.shards, job.columns))
    assembly.notes.push_back(
        fmt::format("{}: its columns were put into the order of the first shard's, by their names", shard));
  const ShardTotals totals = totals_of(ranks, holding.shards);
  assembly.held = {
      .dimension = totals.dimension,
      .samples = totals.samples,
      .samples_of = totals.sizes,
      .sources = std::move(holding.sources),
      .features = holding.shards.columns.empty() ? std::vector<std::string>{} : holding.shards.columns.front(),
      .split = holding.apart ? "a shard each" : "split " + job.text("split", "even"),
      .centred = job.center};
  ranks.everywhere([&] {
    assembly.data = {.shards = covariance_shards(std::move(holding.shards), totals, job.center), .centred = job.center};
  });
  return assembly;
}

}  // namespace hearsay::app
