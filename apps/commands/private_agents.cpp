// hearsay decentralized --dp: whom agents trust, a ledger for each, and what is told. A record lives at one agent, so
// that the cost of a run is the same in each ledger; one table that is split here has one ledger, its own.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands/holding.hpp"
#include "commands/network.hpp"
#include "commands/private.hpp"
#include "commands/spending.hpp"
#include "commands/terminal.hpp"
#include "files/delivery.hpp"
#include "files/inputs.hpp"
#include "files/outputs.hpp"
#include "files/run_files.hpp"
#include "formats/faults_file.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/built_in.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/private_agents.hpp"
#include "secure/party.hpp"

namespace hearsay::app {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view agent_place = "{agent}";

// Options that a private run among agents takes; of all others somebody would have to say what they tell.
constexpr std::string_view agents_options[] = {"rank",
                                               "algorithm",
                                               "momentum",
                                               "damping",
                                               "tolerance",
                                               "max-iterations",
                                               "oversample",
                                               "seed",
                                               "agents",
                                               "split",
                                               "topology",
                                               "extra-edges",
                                               "weights",
                                               "network-seed",
                                               "gossip",
                                               "rounds",
                                               "columns",
                                               "label-column",
                                               "message-precision",
                                               "faults",
                                               "drop",
                                               "loss",
                                               "delay",
                                               "crash",
                                               "rejoin",
                                               "fault-seed",
                                               "components",
                                               "json",
                                               "quiet",
                                               "threads",
                                               "memory",
                                               "mean-from",
                                               "dp",
                                               "row-norm",
                                               "neighbours",
                                               "dp-center",
                                               "public-rows",
                                               "ledger",
                                               "budget",
                                               "site",
                                               "insecure-seed",
                                               "trust",
                                               "colluders"};

// What only gossip has: where words are added up exactly they would say nothing.
constexpr std::string_view gossip_options[] = {"algorithm", "momentum",       "damping",
                                               "tolerance", "max-iterations", "oversample",
                                               "gossip",    "rounds",         "message-precision"};

Trust trust_of(const Job& job) {
  const std::string text = job.text("trust", "none");
  for (const Trust trust : {Trust::none, Trust::neighbours, Trust::secure})
    if (name(trust) == text) return trust;
  throw InvalidArgument(fmt::format("trust = {}: must be one of {}", text, find_option("trust").range));
}

// How many there are, of a table too: nothing that depends on the rows may say it.
Index agents_of(const Job& job, const std::vector<fs::path>& files) {
  const auto asked = job.integer("agents", 1);
  if (asked) require_agents(*asked);
  if (!files.empty()) {
    require(
        !asked || *asked == static_cast<Index>(files.size()),
        fmt::format("agents = {}: must be {}, for there are {} shards", asked.value_or(0), files.size(), files.size()));
    return static_cast<Index>(files.size());
  }
  require(asked.has_value(), "agents: must be given (--agents N)");
  return *asked;
}

void check_split(const Job& job, const std::vector<fs::path>& files) {
  require(
      job.input != "fed-heart-disease" || is_there(job.input),
      "fed-heart-disease: its centers scaled their features by their own rows, which would be a release of its own; "
      "give a file for each agent, in public units");
  const std::string rule = job.text("split", "even");
  require(!files.empty() || rule == "even" || rule == "contiguous",
          fmt::format("split = {}: tells how many rows there are, or which labels; with --dp it must be even or "
                      "contiguous, or a file for each agent",
                      rule));
  require(!files.empty() || job.text("trust", "none") != "none" || job.text("neighbours", "add-remove") == "replace" ||
              job.given.contains("insecure-seed"),
          "trust = none: of one table that is split here a row more or less moves others from agent to agent, and more "
          "would be lost than the budget says; give --neighbours replace, a file for each agent, or --trust secure");
  require(files.empty() || !job.given.contains("split"),
          "split: must not be given where every agent has a file of its own");
}

Faults private_faults(const Job& job) {
  Faults faults = job.faults_file.empty() ? Faults{} : read_faults(job.faults_file);
  faults.links.insert(faults.links.end(), job.faults.links.begin(), job.faults.links.end());
  faults.agents.insert(faults.agents.end(), job.faults.agents.begin(), job.faults.agents.end());
  if (job.given.contains("fault-seed")) faults.seed = job.faults.seed;
  return faults;
}

// Sums under masks of all agents, which are in this process.
SumOfWords masked_sum(Index agents) {
  auto party = std::make_shared<secure::Party>(static_cast<int>(agents), secure::new_run());
  return [party](std::vector<PrivateWords> parts) {
    std::vector<std::span<std::uint64_t>> blocks;
    for (PrivateWords& part : parts) blocks.push_back(part.span());
    PrivateWords sum(parts.front().size());
    const std::vector<std::uint64_t> words = party->sum(blocks);
    std::copy(words.begin(), words.end(), sum.span().begin());
    return sum;
  };
}

PrivateAgentsRequest agents_request(const Job& job, Index agents) {
  PrivateAgentsRequest request{.trust = trust_of(job), .privacy = privacy_of(job)};
  take_mean(job, request.privacy);
  const bool secure = request.trust == Trust::secure;
  require(secure || !job.given.contains("colluders"), "colluders: is about --trust secure");
  request.colluders = job.integer("colluders", 0).value_or(1);
  for (const std::string_view option : gossip_options)
    require(request.trust == Trust::none || !job.given.contains(option),
            fmt::format("{}: is about gossip, and with --trust {} sums are exact; leave it out", option,
                        name(request.trust)));
  request.solve = {.network = job.network, .settings = job.solve, .faults = private_faults(job)};
  request.solve.settings.power.certify = Certify::none;
  require(!secure || agents >= 2, fmt::format("agents = {}: must be at least 2 with trust = secure", agents));
  if (secure) request.masked_sum = masked_sum(agents);
  check(request, agents);
  return request;
}

// ---- The ledgers

struct Purse {
  fs::path path = {};
  std::optional<io::Ledger> ledger = {};
};

// Where each agent's ledger lies, in the order of the agents; one for a table that is split.
std::vector<fs::path> ledger_paths(const Job& job, const std::vector<fs::path>& files) {
  const std::string named = job.text("ledger", "");
  const bool each = named.find(agent_place) != named.npos;
  if (files.empty()) {
    require(!each, fmt::format("ledger = {}: {} has one ledger, for all that are split off it", named, job.input));
    require(!named.empty() || !is_pipe(job.input), "ledger: must be named where the data come from a pipe");
    return {named.empty() ? ledger_beside(job.input) : fs::path(named)};
  }
  require(named.empty() || each,
          fmt::format("ledger = {}: must have {} in its name, for every agent has one of its own", named, agent_place));
  std::vector<fs::path> paths;
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::string path = named.empty() ? ledger_beside(files[i]).string() : named;
    if (each) path.replace(path.find(agent_place), agent_place.size(), std::to_string(i));
    paths.emplace_back(path);
  }
  return paths;
}

void check_ledger_places(const Job& job, const std::vector<fs::path>& paths) {
  if (paths.size() == 1) return check_ledger_place(job, paths.front());
  RunFiles files = files_of_run(job);
  for (const fs::path& path : paths) files.writes("ledger", path);
}

// Each can pay, or none does; from then on all are charged, whatever happens next.
std::vector<AgentPurse> spend_all(const Job& job, const std::vector<fs::path>& files, const PrivacySettings& settings,
                                  std::vector<Purse>& purses) {
  const std::vector<fs::path> paths = ledger_paths(job, files);
  check_ledger_places(job, paths);
  const double mu = gaussian_mu(settings.budget);
  const auto data_of = [&](std::size_t i) { return data_name(files.empty() ? fs::path(job.input) : files[i]); };
  for (std::size_t i = 0; i < paths.size(); ++i) {
    purses.push_back({paths[i], open_ledger(job, paths[i], data_of(i), settings)});
    const io::LedgerContents& held = purses.back().ledger->contents();
    require(mu <= held.left_mu,
            fmt::format("{}: the budget would be exceeded: mu {:.6g} is left, and {:.6g} asked for; no agent spends "
                        "anything",
                        paths[i].string(), held.left_mu, mu));
  }
  std::vector<AgentPurse> spent;
  for (std::size_t i = 0; i < paths.size(); ++i)
    spent.push_back({data_of(i), spend(job, *purses[i].ledger, paths[i], settings)});
  return spent;
}

std::string words_digest(std::span<const std::uint64_t> words) {
  return io::sha256_hex({reinterpret_cast<const char*>(words.data()), words.size_bytes()});
}

// What leaves is on the disk of each ledger before it does; of a table that is split, all of it together.
void record_what_leaves(PrivateAgentsRequest& request, Index agents, std::vector<Purse>& purses,
                        const std::vector<AgentPurse>& spent) {
  if (purses.empty()) return;
  auto all = std::make_shared<std::string>();
  request.leaving = [&purses, &spent, agents, all](Index agent, std::span<const std::uint64_t> words) {
    const std::string digest = words_digest(words);
    *all += digest;
    const bool each = purses.size() == static_cast<std::size_t>(agents);
    if (!each && agent + 1 < agents) return;
    const std::size_t at = each ? static_cast<std::size_t>(agent) : 0;
    purses[at].ledger->released(spent[at].ledger->receipt, each ? digest : io::sha256_hex(*all), stamp_now());
  };
}

// ---- The run

struct Read {
  Shards shards = {};
  std::vector<std::string> features = {};
};

Read read_shards(const Job& job, Index agents) {
  return quietly(job, [&] {
    AloneTransport here;
    Read read{.shards = read_holding(job, here).shards};
    align_columns(here, read.shards, job.columns);
    require(read.shards.agents == agents, "agents: are not as many as there should be");
    for (const Block<double>& rows : read.shards.rows)
      require(rows.cols() == read.shards.rows.front().cols(), "columns: differ");
    if (!read.shards.columns.empty()) read.features = public_names(std::move(read.shards.columns.front()));
    return read;
  });
}

// What the solve refuses, a rank above the number of columns, it says by itself.
PrivateAgentsSolution solve_quietly(const Job& job, const Read& read, const GossipMatrix& W,
                                    const PrivateAgentsRequest& request) try {
  return solve_private_agents(read.shards.rows, W, request,
                              [&](Index agent) { return words_of(job, static_cast<std::uint64_t>(agent)); });
} catch (const DataError& error) {
  return quietly(job, [&]() -> PrivateAgentsSolution { throw error; });
}

void write_components(Delivery& delivery, const Job& job, const PrivateAgentsSolution& found) {
  const std::string name = job.components.string();
  const std::size_t at = name.find(agent_place);
  if (at == name.npos) return delivery.block(job.components, found.pca.solution.power.basis);
  for (std::size_t i = 0; i < found.bases.size(); ++i) {
    std::string own = name;
    if (found.bases[i].size() > 0)
      delivery.block(own.replace(at, agent_place.size(), std::to_string(i)), found.bases[i]);
  }
}

}  // namespace

int run_private_agents(Job job, Transport& ranks) {
  ranks.everywhere([&] {
    require(ranks.size() == 1,
            fmt::format("dp: private agents are in one process here, and there are {} ranks; start one process, or let "
                        "each agent run by itself: hearsay agent run, with a federation that has dp",
                        ranks.size()));
  });
  job.input = job.inputs.front();
  check_private_options(job, agents_options);
  settle(job.solve);
  check_outputs(job);
  const std::vector<fs::path> files = shard_files(job);
  check_split(job, files);
  require_distinct(files);
  const Index agents = agents_of(job, files);
  PrivateAgentsRequest request = agents_request(job, agents);
  const GossipMatrix W = gossip_matrix(job, agents, nullptr);
  validate(request.solve.faults, W);
  for (const fs::path& file : files.empty() ? std::vector<fs::path>{locate_input(job.input)} : files)
    require(io::built_in_file(file) || is_there(file), fmt::format("{}: is not there", file.string()));

  std::vector<Purse> purses;
  std::vector<AgentPurse> spent = {{job.input, {}}};
  if (!job.given.contains("insecure-seed")) spent = spend_all(job, files, request.privacy, purses);
  const Read read = read_shards(job, agents);
  record_what_leaves(request, agents, purses, spent);
  const PrivateAgentsSolution found = solve_quietly(job, read, W, request);

  Delivery delivery;
  write_components(delivery, job, found);
  const PrivateAgentsReport report{job, request, found, read.features, spent};
  delivery.json(job.json, [&] { return private_agents_json(report); });
  if (!job.prints_json()) delivery.print(private_agents_summary(report));
  return delivery.finish(exit_code(found.pca.solution.power.status));
}

}  // namespace hearsay::app
