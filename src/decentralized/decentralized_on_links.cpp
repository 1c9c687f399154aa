#include "hearsay/decentralized_on_links.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "decentralized/assembly.hpp"
#include "decentralized/columns.hpp"
#include "decentralized/result_message.hpp"
#include "decentralized/scaling.hpp"
#include "decentralized/totals.hpp"
#include "hearsay/error.hpp"

namespace hearsay {
namespace {

// Bytes of names, notes and counts; and of the name of a column.
constexpr std::uint64_t room_for_text = 64 * 1024, room_for_name = 256;

// Of an iteration in the history.
constexpr std::uint64_t entry_bytes = 64;

void require_one_shard(const Shards& shards, const LinkNetwork& net) {
  require(shards.agents == net.agents() && shards.local == std::vector<Index>{net.self()} && shards.rows.size() == 1,
          fmt::format("{} shards of {} agents: must be one of {}, that of agent {}", shards.rows.size(), shards.agents,
                      net.agents(), net.self()));
}

// The words of each agent, which is to speak of itself alone.
void require_own_agent(std::span<const std::string> said, Index rank) {
  for (std::size_t i = 0; i < said.size(); ++i) {
    detail::ByteReader reader(said[i], "a message between agents");
    const std::vector<detail::AgentResult> agents = detail::get_agents(reader);
    if (agents.size() != 1 || agents.front().agent != static_cast<Index>(i))
      throw CommunicationError(
          fmt::format("agent {} told the result of {} agents: must be its own alone", i, agents.size()));
    if (agents.front().digest != digest_of(agents.front().basis))
      throw CommunicationError(
          fmt::format("agent {} told the digest {:016x}: must be {:016x}, that of its basis of rank {}", i,
                      agents.front().digest, digest_of(agents.front().basis), rank));
  }
}

// The network's part of a state goes with the solver's, which is taken apart from it into `solver`.
DecentralizedHooks with_network(LinkNetwork& net, const DecentralizedHooks& hooks, std::string& solver) {
  DecentralizedHooks both = hooks;
  both.witness = [&net, &hooks](double off, double size) {
    net.bear_witness(off, size);
    if (hooks.witness) hooks.witness(off, size);
  };
  if (hooks.keep)
    both.keep = [&net, &hooks](Index t, const std::string& state) {
      detail::ByteWriter writer;
      writer.put(std::string_view(state));
      writer.put(std::string_view(net.told()));
      hooks.keep(t, writer.bytes());
    };
  if (hooks.resume.empty()) return both;
  try {
    detail::ByteReader reader(hooks.resume, "the state of a run");
    solver = reader.text();
    const std::string told = reader.text();
    reader.require_end();
    net.set_told(told);
  } catch (const CommunicationError& error) {
    throw DataError(error.what());
  }
  both.resume = solver;
  return both;
}

}  // namespace

LinkLimits link_limits(Index agents, Index dimension, const DecentralizedOptions& options) {
  const auto d = static_cast<std::uint64_t>(dimension), k = static_cast<std::uint64_t>(options.rank);
  const std::uint64_t extra =
      options.oversample ? static_cast<std::uint64_t>(*options.oversample) : std::max<std::uint64_t>(k, 4);
  const std::uint64_t p = std::min(d, k + extra);
  // With the block, how a wide one is to be turned; alone, a basis, or words on it of several agents at a time.
  const std::uint64_t votes = std::max({16 + p * (k + 1), d * k + k + 1, 4096 + 256 + k * (k + 1)});
  const std::uint64_t result = 8 * (d * k + 2 * k) + entry_bytes * static_cast<std::uint64_t>(options.max_iterations) +
                               16 * static_cast<std::uint64_t>(agents);
  return {.largest_block = d * p + votes + LinkNetwork::witness_numbers,
          .longest_words = room_for_text + room_for_name * d + 8 * d + result};
}

std::vector<std::string> align_columns(LinkNetwork& net, Shards& shards, ColumnMatch match) {
  require_one_shard(shards, net);
  if (match == ColumnMatch::by_position) return {};
  shards.columns.resize(1);
  const auto said = net.gather_everywhere(detail::header_of(shards), "names of the columns");
  return detail::bring_into_order(shards, detail::header_from(std::span(said).first(1)));
}

ShardTotals totals_of(LinkNetwork& net, const Shards& shards) {
  require_one_shard(shards, net);
  const auto shapes = detail::shapes_from(net.gather_everywhere(detail::shapes_of(shards), "sizes of the shards"));
  ShardTotals totals = detail::sizes_of(shapes, net.agents());
  const auto sums = net.gather_everywhere(detail::sums_of(shards, totals), "sums of the rows");
  const Block<double> mean = detail::mean_from(sums, totals);
  if (!mean.allFinite()) throw DataError("the mean of all rows: is not finite");
  totals.mean = mean.row(0).transpose();
  return totals;
}

DecentralizedResult decentralized_pca(LinkNetwork& net, std::span<const OperatorRef<double>> A,
                                      const DecentralizedOptions& options, const DecentralizedHooks& hooks) {
  std::string solver;
  DecentralizedResult result =
      detail::scaled_decentralized_pca(NetworkRef(net), A, options, with_network(net, hooks, solver));
  const ErrorBar own = result.bar;
  detail::ByteWriter here;
  detail::put_agents(here, NetworkRef(net), result);
  detail::put_summary(here, result);
  const std::vector<std::string> said = net.gather_everywhere(here.bytes(), "results");
  require_own_agent(said, options.rank);
  detail::assemble(said, net.agents(), options, result);
  detail::unscale_or_tell(result);
  detail::take_larger(result.bar, own);
  if (result.verification.evidence != Knowledge::bound) result.bar = {};  // it heard no words
  return result;
}

}  // namespace hearsay
