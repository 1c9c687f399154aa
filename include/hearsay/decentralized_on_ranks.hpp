// Decentralized PCA with the agents spread over ranks: who holds which rows, what all of them say together, and the
// run.
//
//   Shards shards = ...;                                       // the rows of net.local(), see io/shards.hpp
//   const auto totals = totals_of(ranks, shards);              // of all ranks
//   const auto A = covariance_shards(std::move(shards), totals, /*center=*/true);
//   const auto result = decentralized_pca(net, operators_of(A), {.rank = 5});
//
// All of it is also for one process (AloneTransport), and then gives the same bits.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/decentralized.hpp"
#include "hearsay/rank_network.hpp"
#include "hearsay/transport.hpp"

namespace hearsay {

/// The rows of the agents here.
struct Shards {
  Index agents = 0;                      ///< n, everywhere
  std::vector<Index> local = {};         ///< of these, here; ascending
  std::vector<Block<double>> rows = {};  ///< one each; may have no rows, but has columns
  std::vector<std::string> names = {};   ///< what messages call them: files
};

struct ShardTotals {
  Index dimension = 0;
  Index samples = 0;         ///< m, of all agents
  Vector<double> mean;       ///< of all their rows
  std::vector<Index> sizes;  ///< rows of each agent
};

/// What the shards of all ranks say together, at every rank. Sums are added agent by agent, so that the bits do not
/// depend on the ranks. Throws at every rank: DataError, which names both shards, where dimensions differ or no row is
/// there at all; InvalidArgument where an agent has no shard, or two. Collective.
ShardTotals totals_of(Transport& ranks, const Shards& shards);

/// A_i = (n/m) Phi_i'Phi_i of the agents here, the mean of all the data subtracted from their rows first if asked.
std::vector<CovarianceShard> covariance_shards(Shards shards, const ShardTotals& totals, bool center);

/// The same call on ranks, A[i] of the i-th agent here: runs, and brings together what the ranks found. At rank 0 the
/// result is that of one process, the bases, eigenvalues and digests of all agents included; other ranks keep those of
/// their own agents alone. `conservation_error` is NaN unless one rank holds all agents. Collective: if it throws, it
/// throws at every rank.
DecentralizedResult decentralized_pca(RankNetwork& net, std::span<const OperatorRef<double>> A,
                                      const DecentralizedOptions& options, const DecentralizedHooks& hooks = {});

}  // namespace hearsay
