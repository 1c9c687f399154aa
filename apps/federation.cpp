#include "federation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "hearsay/decentralized_on_ranks.hpp"
#include "hearsay/error.hpp"
#include "hearsay/graph_tools.hpp"
#include "hearsay/io/datasets.hpp"
#include "hearsay/io/shards.hpp"
#include "inputs.hpp"

namespace hearsay::app {
namespace {

namespace fs = std::filesystem;

void require_agents(const Job& job, Index shards, std::string_view what) {
  const auto agents = job.integer("agents", 1);
  require(!agents || *agents == shards,
          fmt::format("agents = {}: must be {}, for there are {} {}", agents.value_or(0), shards, shards, what));
}

// ---- Shards that are apart already ----------------------------------------------------------------------------------

bool is_heart(const Job& job) { return job.input == "fed-heart-disease" && !fs::exists(job.input); }

// A file for each agent; none where there is one table to be split.
std::vector<fs::path> files_of(const Job& job) {
  if (job.inputs.size() > 1) return {job.inputs.begin(), job.inputs.end()};
  return fs::is_directory(job.input) ? io::shard_files(job.input) : std::vector<fs::path>{};
}

Shards heart_shards(const Job& job, const Transport& ranks, std::vector<std::string>& centers) {
  locate_input(job.input);  // or says how to get it
  io::FederatedTable heart = io::load_fed_heart_disease(data_directory());
  const auto agents = static_cast<Index>(heart.tables.size());
  Shards shards{.agents = agents, .local = agents_here(agents, ranks)};
  for (const Index agent : shards.local) {
    shards.rows.push_back(std::move(heart.tables[static_cast<std::size_t>(agent)]));
    shards.names.push_back(heart.centers[static_cast<std::size_t>(agent)]);
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
  const io::Data data = io::read_data(path);
  const auto* column = std::get_if<Block<double>>(&data.matrix);
  if (column == nullptr || column->cols() != 1)
    throw DataError(fmt::format("split = {}: must be one column of numbers, the agent of every row of the data", path));
  std::vector<std::int32_t> agents;
  for (Index row = 0; row < column->rows(); ++row) {
    const double agent = (*column)(row, 0);
    if (!(agent >= 0 && agent < 1e9 && agent == std::floor(agent)))
      throw DataError(
          fmt::format("split = {}: row {} holds {}: must be the number of an agent, from 0", path, row + 1, agent));
    agents.push_back(static_cast<std::int32_t>(agent));
  }
  return agents;
}

// On several ranks there is an agent for each, unless told otherwise.
std::optional<Index> agents_asked_for(const Job& job, const Transport& ranks) {
  const auto agents = job.integer("agents", 1);
  return agents || ranks.size() == 1 ? agents : std::optional<Index>(ranks.size());
}

Split split_of(const Job& job, const fs::path& file, const io::TableOptions& options, const Transport& ranks) {
  const std::string rule = job.text("split", "even");
  if (rule == "by-label") {
    require(!options.label_column.empty(), "split = by-label: needs --label-column, the column to go by");
    Split split = label_split(codes(io::read_labels(file, options)));
    require_agents(job, static_cast<Index>(split.size()), "labels");
    return split;
  }
  const auto agents = agents_asked_for(job, ranks);
  if (rule == "even" || rule == "contiguous") {
    require(agents.has_value(), "agents: must be given (--agents N)");
    const Index rows = io::count_rows(file, options);
    return rule == "even" ? even_split(rows, *agents, job.network_seed()) : contiguous_split(rows, *agents);
  }
  constexpr std::string_view words[] = {"even", "contiguous", "by-label", "by-node"};
  require(fs::exists(rule), fmt::format("split = {}: must be one of {}, and there is no file of that name{}", rule,
                                        find_option("split").range, did_you_mean(rule, words)));
  const auto assignment = read_assignment(rule);
  const Index named = assignment.empty() ? 0 : 1 + *std::max_element(assignment.begin(), assignment.end());
  require(!agents || *agents >= named,
          fmt::format("agents = {}: must be at least {}, for {} names so many", agents.value_or(0), named, rule));
  return given_split(assignment, agents.value_or(std::max<Index>(1, named)));
}

Shards split_shards(const Job& job, const Transport& ranks) {
  const SampleFile samples = sample_file(job);
  const Split split = split_of(job, samples.path, samples.options, ranks);
  return io::read_split(samples.path, split, agents_here(static_cast<Index>(split.size()), ranks), samples.options);
}

// ---- What they amount to --------------------------------------------------------------------------------------------

Federation of_shards(const Job& job, Transport& ranks) {
  const bool apart = job.inputs.size() > 1 || fs::is_directory(job.input) || is_heart(job);
  require(!apart || !job.given.contains("split"), "split: must not be given where every agent has a file of its own");
  std::vector<std::string> sources;
  Shards shards;
  ranks.everywhere([&] {
    const std::vector<fs::path> files = files_of(job);
    for (const fs::path& file : files) sources.push_back(file.string());
    shards = is_heart(job)   ? heart_shards(job, ranks, sources)
             : files.empty() ? split_shards(job, ranks)
                             : io::read_shards(files, agents_here(static_cast<Index>(files.size()), ranks),
                                               {.label_column = job.label_column});
    if (apart) require_agents(job, shards.agents, "shards");
  });
  Federation federation{.agents = shards.agents};
  for (const std::string& shard : align_columns(ranks, shards, job.columns))
    federation.notes.push_back(
        fmt::format("{}: its columns were put into the order of the first shard's, by their names", shard));
  const ShardTotals totals = totals_of(ranks, shards);
  federation.held = {.dimension = totals.dimension,
                     .samples = totals.samples,
                     .samples_of = totals.sizes,
                     .sources = std::move(sources),
                     .split = apart ? "a shard each" : "split " + job.text("split", "even"),
                     .centred = job.center};
  ranks.everywhere([&] { federation.shards = covariance_shards(std::move(shards), totals, job.center); });
  return federation;
}

Federation of_nodes(const Job& job, Transport& ranks) {
  require(job.inputs.size() == 1, "split = by-node: takes one graph");
  Federation federation;
  ranks.everywhere([&] {
    Graph graph = load_graph(job.input).graph;
    if (const auto count = job.integer("nodes", 1)) {
      require(*count <= graph.nodes,
              fmt::format("nodes = {}: must be at most {}, as {} has", *count, graph.nodes, job.input));
      std::vector<std::int32_t> first(static_cast<std::size_t>(*count));
      std::iota(first.begin(), first.end(), 0);
      graph = subgraph(graph, first);
    }
    require_agents(job, graph.nodes, "nodes");
    std::vector<NodeOperator> all = node_operators(graph);
    for (const Index agent : agents_here(graph.nodes, ranks))
      federation.nodes.push_back(std::move(all[static_cast<std::size_t>(agent)]));
    federation.agents = graph.nodes;
    federation.held = {.dimension = graph.nodes, .split = "a node each"};
    federation.graph = std::move(graph);
  });
  return federation;
}

}  // namespace

std::vector<Index> agents_here(Index agents, const Transport& ranks) {
  const std::vector<int> placement = contiguous_placement(agents, ranks.size());
  std::vector<Index> here;
  for (Index agent = 0; agent < agents; ++agent)
    if (placement[static_cast<std::size_t>(agent)] == ranks.rank()) here.push_back(agent);
  return here;
}

Federation load_federation(const Job& job, Transport& ranks) {
  if (job.text("split", "") == "by-node") return of_nodes(job, ranks);
  require(!job.given.contains("nodes"), "nodes: needs --split by-node, where agents are nodes of a graph");
  return of_shards(job, ranks);
}

}  // namespace hearsay::app
