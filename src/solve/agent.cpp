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
  require(federation.wait >= 0, fmt::format("wait = {}: must not be negative", federation.wait));
  require(federation.wait == 0 || federation.quorum == 0,
          fmt::format("wait = {} with a quorum of {}: an agent that is gone is waited for, or left out",
                      federation.wait, federation.quorum));
  require(federation.keep_every >= 1,
          fmt::format("a state every {} iterations: must be at least 1", federation.keep_every));
  DecentralizedOptions options = detail::agent_options(federation);
  require(options.rank >= 1 && options.rank <= d, fmt::format("rank = {}: must lie in [1, {}]", options.rank, d));
  return options;
}

LinkNetworkOptions network_options(const FederationSettings& federation, const AgentRows& rows,
                                   const AgentHooks& hooks) {
  const LinkLimits limits = link_limits(federation, rows.rows.cols());
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
  facts.push_back({"on crash", federation.wait > 0 ? std::string("wait")
                               : federation.quorum == 0
                                   ? std::string("abort")
                                   : fmt::format("exclude, {} agents at least", federation.quorum)});
  facts.push_back({"keeps a state every", fmt::format("{} iterations", federation.keep_every)});
  if (federation.privacy) facts.push_back(detail::privacy_fact(*federation.privacy));
  put_options(detail::agent_options(federation), facts);
  return facts;
}

LinkLimits link_limits(const FederationSettings& federation, Index dimension) {
  LinkLimits limits = link_limits(federation.W.agents(), dimension, detail::agent_options(federation));
  const auto d = static_cast<std::uint64_t>(dimension);
  if (federation.privacy && federation.privacy->trust != Trust::none)
    limits.longest_words = std::max(limits.longest_words, sizeof(std::uint64_t) * d * (d + 1) / 2);
  return limits;
}

namespace {

// A run that is taken up so often from the same step does not get on.
constexpr int most_attempts_from_one_step = 3;

// The sessions that one call of run_agent() may take: see FederationSettings::wait.
class Attempts {
 public:
  Attempts(Links& links, AgentRows rows, const FederationSettings& federation, const AgentHooks& hooks)
      : links_(links),
        rows_(std::move(rows)),
        federation_(federation),
        hooks_(hooks),
        options_(settled(federation, rows_, links)),
        network_(network_options(federation, rows_, hooks)) {
    detail::require_private(federation, rows_, hooks);
    past_.configuration = network_.configuration;
    if (!hooks.keep && hooks.states.empty()) return;
    const std::uint64_t digests[] = {digest_of(rows_.rows), protocol::text_digest(list_text(rows_.columns))};
    past_.data = protocol::mixed_digest(digests);
    if (!hooks.states.empty()) detail::read_past(hooks.states, past_);
  }

  AgentOutcome run() {
    const double began = links_.now();
    AgentOutcome outcome;
    if (federation_.wait > 0) network_.attempt = 0;
    while (!ends(outcome)) {
      const std::uint64_t numbers[] = {hooks_.nonce, ++sessions_};
      if (hooks_.nonce != 0) network_.nonce = protocol::mixed_digest(numbers);
    }
    outcome.seconds = links_.now() - began;
    return outcome;
  }

 private:
  // False where another session may be begun.
  bool ends(AgentOutcome& outcome) {
    outcome = {.self = links_.self(), .options = options_};
    LinkNetwork net(links_, federation_.W, network_);
    try {
      net.run([&] { detail::AgentRun(net, rows_, federation_, hooks_, past_, outcome).run(); });
    } catch (const AgentGone& error) {
      if (past_.held && net.neighbour_finished()) {  // which it does only where all hold the same
        outcome = confirmed();
      } else if (may_go_on(net, error.what())) {
        return false;
      } else if (past_.held) {
        outcome = *past_.held;
      } else {
        throw;
      }
    } catch (const CommunicationError&) {
      if (!past_.held) throw;
      outcome = *past_.held;
    }
    outcome.spectrum = net.spectrum();
    outcome.links = net.links();
    return true;
  }

  // One deadline for all sessions that it takes until the run is there again.
  bool may_go_on(const LinkNetwork& net, const std::string& why) {
    if (!(federation_.wait > 0)) return false;
    const double now = links_.now();
    if (net.connected() || sessions_ == 0) {
      fruitless_ = past_.newest() > newest_ ? 0 : fruitless_ + 1;
      newest_ = past_.newest();
      until_ = now + federation_.wait;
      if (hooks_.waits) hooks_.waits(why);
    }
    network_.patience.greeting = until_ - now;
    network_.attempt = net.next_attempt();
    return fruitless_ <= most_attempts_from_one_step && now < until_;
  }

  AgentOutcome confirmed() const {
    AgentOutcome outcome = *past_.held;
    outcome.unconfirmed.clear();
    std::erase_if(outcome.result.notes,
                  [](const std::string& note) { return note.starts_with(detail::unconfirmed_note); });
    return outcome;
  }

  Links& links_;
  AgentRows rows_;
  const FederationSettings& federation_;
  const AgentHooks& hooks_;
  const DecentralizedOptions options_;
  LinkNetworkOptions network_;
  detail::AgentPast past_ = {};
  std::uint64_t sessions_ = 0;  // before the present one
  double until_ = 0;
  Index newest_ = -1;
  int fruitless_ = 0;
};

}  // namespace

AgentOutcome run_agent(Links& links, AgentRows rows, const FederationSettings& federation, const AgentHooks& hooks) {
  return Attempts(links, std::move(rows), federation, hooks).run();
}

}  // namespace hearsay
