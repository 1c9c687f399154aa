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
#include "hearsay/export.hpp"
#include "hearsay/rank_network.hpp"
#include "hearsay/transport.hpp"

namespace hearsay {

/// The rows of the agents here.
struct Shards {
  Index agents = 0;                                    ///< n, everywhere
  std::vector<Index> local = {};                       ///< of these, here; ascending
  std::vector<Block<double>> rows = {};                ///< one each; may have no rows, but has columns
  std::vector<std::string> names = {};                 ///< what messages call them: files
  std::vector<std::vector<std::string>> columns = {};  ///< the names of each one's columns, where it has any
};

/// Which columns of two shards are the same feature: those of the same name, or those in the same place.
enum class ColumnMatch { by_name, by_position };

/// By name: brings the columns of every shard into the order of the first agent's, and says of which shards; shards
/// without names at all match by position. Throws DataError, at every rank, which names both shards and a column, where
/// one has a name that the other has not, or some have names and others none. Collective.
HEARSAY_API std::vector<std::string> align_columns(Transport& ranks, Shards& shards, ColumnMatch match);

struct ShardTotals {
  Index dimension = 0;
  Index samples = 0;         ///< m, of all agents
  Vector<double> mean;       ///< of all their rows
  int exponent = 0;          ///< data_exponent() of the largest magnitude there is
  std::vector<Index> sizes;  ///< rows of each agent
};

/// What the shards of all ranks say together, at every rank. Sums are added agent by agent, so that the bits do not
/// depend on the ranks. Throws at every rank: DataError, which names both shards, where dimensions differ or no row is
/// there at all; InvalidArgument where an agent has no shard, or two. Collective.
HEARSAY_API ShardTotals totals_of(Transport& ranks, const Shards& shards);

/// A_i = (n/m) Phi_i'Phi_i of the agents here; if asked, the mean of all the data is subtracted from their rows first,
/// and A_i = (n/(m - 1)) Phi_i'Phi_i. As products of 2^-exponent Phi_i.
HEARSAY_API std::vector<CovarianceShard> covariance_shards(Shards shards, const ShardTotals& totals, bool center);

/// The same call on ranks, A[i] of the i-th agent here: runs, and brings together what the ranks found. At rank 0 the
/// result is that of one process, the bases, eigenvalues and digests of all agents included; other ranks keep those of
/// their own agents alone. `conservation_error` is NaN unless one rank holds all agents. Collective: if it throws, it
/// throws at every rank.
HEARSAY_API DecentralizedResult decentralized_pca(RankNetwork& net, std::span<const OperatorRef<double>> A,
                                                  const DecentralizedOptions& options,
                                                  const DecentralizedHooks& hooks = {});

}  // namespace hearsay
