#include "hearsay/agent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "hearsay/error.hpp"
#include "solve/agent_run.hpp"

namespace hearsay {
namespace {

// Of a list of names, so that a person sees what differs.
constexpr std::size_t shown = 120;

std::string digest_text_of(const std::string& text) { return fmt::format("{:016x}", protocol::text_digest(text)); }

// Each with its length, so that no two lists are one text.
std::string list_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += fmt::format("{}:{},", name.size(), name);
  return text;
}

std::string described(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  std::string first;
  for (const std::string& name : names) {
    if (first.size() + name.size() > shown) {
      first += ", ...";
      break;
    }
    first += (first.empty() ? "" : ", ") + name;
  }
  return fmt::format("{} ({})", digest_text_of(list_text(names)), first);
}

std::string digest_of_weights(const CsrMatrix<double>& W) {
  std::vector<std::uint64_t> numbers(W.row_start.begin(), W.row_start.end());
  numbers.insert(numbers.end(), W.columns.begin(), W.columns.end());
  for (const double weight : W.values) numbers.push_back(std::bit_cast<std::uint64_t>(weight));
  return fmt::format("{:016x}", protocol::mixed_digest(numbers));
}

template <class T>
std::string given_or_auto(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "auto";
}

void put_options(const DecentralizedOptions& options, std::vector<Fact>& facts) {
  const Momentum& momentum = options.momentum;
  constexpr const char* rules[] = {"automatic", "paper", "fixed", "none"};
  facts.push_back({"algorithm", name(options.algorithm)});
  facts.push_back({"rank", std::to_string(options.rank)});
  facts.push_back({"gossip", name(options.gossip)});
  facts.push_back({"rounds", given_or_auto(options.rounds) + (options.raise_rounds ? "" : " and no more")});
  facts.push_back({"max_iterations", std::to_string(options.max_iterations)});
  facts.push_back({"tolerance", fmt::format("{:.17g}", options.tolerance)});
  facts.push_back({"momentum", fmt::format("{} {:.17g}", rules[static_cast<int>(momentum.rule)], momentum.edge)});
  facts.push_back({"oversample", given_or_auto(options.oversample)});
  facts.push_back({"damping", !options.damping                       ? "auto"
                              : *options.damping == Damping::centred ? "centred"
                                                                     : "symmetric"});
  facts.push_back({"seed", std::to_string(options.seed)});
}

std::uint64_t digest_of_facts(const std::vector<Fact>& facts) {
  std::string text;
  for (const Fact& fact : facts) text += list_text({fact.what, fact.value});
  return protocol::text_digest(text);
}

DecentralizedOptions settled(const FederationSettings& federation, const AgentRows& rows, const Links& links) {
  const Index n = federation.W.agents(), d = rows.rows.cols();
  require(static_cast<Index>(federation.names.size()) == n,
          fmt::format("roster of {} agents: must be {}, as the gossip matrix has", federation.names.size(), n));
  require(links.self() >= 0 && links.self() < n, fmt::format("agent {}: must lie in [0, {})", links.self(), n));
  require(d >= 1, fmt::format("features = {}: must be at least 1", d));
  require(rows.columns.empty() || static_cast<Index>(rows.columns.size()) == d,
          fmt::format("{} names of columns: must be {}, one for each, or none", rows.columns.size(), d));
  require(
      !federation.settings.optimal_momentum,
      "momentum = optimal: would pool the data of all agents, which is what they are there to avoid; give a number");
  DecentralizedOptions options = settle(federation.network, federation.settings);
  require(options.rank >= 1 && options.rank <= d, fmt::format("rank = {}: must lie in [1, {}]", options.rank, d));
  return options;
}

LinkNetworkOptions network_options(const FederationSettings& federation, const DecentralizedOptions& options,
                                   const AgentRows& rows, const AgentHooks& hooks) {
  const LinkLimits limits = link_limits(federation.W.agents(), rows.rows.cols(), options);
  LinkNetworkOptions network{.precision = federation.network.precision,
                             .names = federation.names,
                             .nonce = hooks.nonce,
                             .facts = federation_facts(federation, rows.rows.cols(), rows.columns),
                             .largest_block = limits.largest_block,
                             .longest_words = limits.longest_words,
                             .patience = federation.patience,
                             .quorum = federation.quorum,
                             .go_on = hooks.go_on};
  network.configuration = digest_of_facts(network.facts);
  return network;
}

}  // namespace

std::vector<Fact> federation_facts(const FederationSettings& federation, Index features,
                                   const std::vector<std::string>& columns) {
  const bool by_name = federation.columns == ColumnMatch::by_name;
  std::vector<std::string> sorted = columns;  // shards need not list them in the same order
  std::sort(sorted.begin(), sorted.end());
  std::vector<Fact> facts{
      {"configuration", federation.digest},
      {"roster", fmt::format("{} agents, {}", federation.names.size(), described(federation.names))},
      {"gossip matrix", digest_of_weights(federation.W.matrix())},
      {"message precision", name(federation.network.precision)},
      {"features", std::to_string(features)},
      {"columns", by_name ? "by-name" : "by-position"}};
  if (by_name) facts.push_back({"names of features", described(sorted)});
  facts.push_back({"centred", federation.center ? "yes" : "no"});
  facts.push_back({"on crash", federation.quorum == 0 ? std::string("abort")
                                                      : fmt::format("exclude, {} agents at least", federation.quorum)});
  put_options(settle(federation.network, federation.settings), facts);
  return facts;
}

AgentOutcome run_agent(Links& links, AgentRows rows, const FederationSettings& federation, const AgentHooks& hooks) {
  AgentOutcome outcome{.self = links.self(), .options = settled(federation, rows, links)};
  LinkNetwork net(links, federation.W, network_options(federation, outcome.options, rows, hooks));
  const double began = links.now();
  net.run([&] { detail::AgentRun(net, std::move(rows), federation, hooks, outcome).run(); });
  outcome.spectrum = net.spectrum();
  outcome.links = net.links();
  outcome.seconds = links.now() - began;
  return outcome;
}

}  // namespace hearsay
