// Decentralized PCA among agents that only Links join: what all of them say together, and the run. No agent collects
// anything: what each says of itself goes round, and everyone adds it up, in the same order.
//
//   net.run([&] {
//     net.connect();
//     align_columns(net, shards, ColumnMatch::by_name);
//     const auto totals = totals_of(net, shards);
//     const auto A = covariance_shards(std::move(shards), totals, /*center=*/true);
//     result = decentralized_pca(net, operators_of(A), {.rank = 5});
//   });
//
// agent.hpp has all of it in one call. The bits are those of one process.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hearsay/decentralized_on_ranks.hpp"
#include "hearsay/export.hpp"
#include "hearsay/link_network.hpp"

namespace hearsay {

/// The most that such a run sends at a time: what LinkNetworkOptions is to be told.
struct LinkLimits {
  std::uint64_t largest_block = 0;
  std::uint64_t longest_words = 0;
};
HEARSAY_API LinkLimits link_limits(Index agents, Index dimension, const DecentralizedOptions& options);

/// As the calls of the same names on ranks, for the one shard of this agent; within net.run().
HEARSAY_API std::vector<std::string> align_columns(LinkNetwork& net, Shards& shards, ColumnMatch match);
HEARSAY_API ShardTotals totals_of(LinkNetwork& net, const Shards& shards);

/// The result is that of one process, the bases, eigenvalues and digests of all agents included, at every agent; but
/// for `conservation_error`, which is NaN, and `verification`, which is this agent's own.
HEARSAY_API DecentralizedResult decentralized_pca(LinkNetwork& net, std::span<const OperatorRef<double>> A,
                                                  const DecentralizedOptions& options,
                                                  const DecentralizedHooks& hooks = {});

}  // namespace hearsay
