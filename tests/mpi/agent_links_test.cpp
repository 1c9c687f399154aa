// Agents that are MPI processes and speak the protocol: the bits of one process, and a failure that everyone hears of.
#include <gtest/gtest.h>
#include <hearsay/agent.hpp>
#include <hearsay/mpi_links.hpp>
#include <hearsay/solve_decentralized.hpp>

#include "mpi/world.hpp"
#include "support/random_block.hpp"
#include "support/same_digest.hpp"

namespace hearsay {
namespace {

using test::random_block;
using test::world;

FederationSettings settings(MessagePrecision precision) {
  FederationSettings federation{.names = std::vector<std::string>(static_cast<std::size_t>(world().size()), "site"),
                                .W = GossipMatrix::ring(world().size())};
  federation.settings.power.rank = 3;
  federation.network.precision = precision;
  federation.settings.power.max_iterations = 6;
  federation.network.solver.rounds = 4;
  federation.network.solver.tolerance = 0;
  return federation;
}

// Of so many features that a block is cut into several frames.
Block<double> rows_of(Index agent) {
  Block<double> rows = random_block(12 + agent, 6000, static_cast<std::uint64_t>(agent) + 1);
  rows.col(0) *= 50;
  rows.col(1) *= 40;
  rows.col(2) *= 30;
  return rows;
}

TEST(AgentLinks, GiveTheDigestOfOneProcess) {
  for (const MessagePrecision precision : {MessagePrecision::real64, MessagePrecision::bfloat16}) {
    const FederationSettings federation = settings(precision);
    AloneTransport alone;
    Shards shards{.agents = world().size()};
    for (Index agent = 0; agent < shards.agents; ++agent) {
      shards.local.push_back(agent);
      shards.rows.push_back(rows_of(agent));
    }
    const ShardTotals totals = totals_of(alone, shards);
    const auto expected =
        solve_decentralized(alone, federation.W, {.shards = covariance_shards(std::move(shards), totals, true)},
                            {.network = federation.network, .settings = federation.settings});

    mpi::AgentLinks links(MPI_COMM_WORLD, federation.W);
    const AgentOutcome outcome = run_agent(links, {.rows = rows_of(links.self())}, federation);

    EXPECT_EQ(outcome.result.digest, expected.result.digest);
    EXPECT_EQ(outcome.result.traffic, expected.result.traffic);
    EXPECT_EQ(outcome.result.status, expected.result.status);
  }
}

TEST(AgentLinks, CarryAFailureToEveryone) {
  if (world().size() < 2) GTEST_SKIP() << "nobody to tell";
  const FederationSettings federation = settings(MessagePrecision::real64);
  mpi::AgentLinks links(MPI_COMM_WORLD, federation.W);
  std::string word;
  try {
    static_cast<void>(run_agent(links, {.rows = rows_of(links.self())}, federation,
                                {.observe = [&](const AgentProgress& progress) -> bool {
                                  if (links.self() == 1 && progress.entry.t == 3) throw DataError("a broken disk");
                                  return true;
                                }}));
  } catch (const DataError& error) {
    word = error.what();
  }
  EXPECT_EQ(word, links.self() == 1 ? "a broken disk" : "agent 1 (site): a broken disk");
}

// Of those that have as many agents as there are ranks: 4 hospitals, 10 shards of digits, 50 friends.
TEST(RealProblems, HaveTheDigestOfOneProcessOverMpi) {
  if (world().size() != 4 && world().size() != 10 && world().size() != 50) GTEST_SKIP() << "none has so many agents";
  test::expect_the_digests_of_one_process(
      [](const GossipMatrix& W, const std::function<void(Links&)>& body) {
        mpi::AgentLinks links(MPI_COMM_WORLD, W);
        body(links);
        return std::vector<std::exception_ptr>{};
      },
      world().size());
}

}  // namespace
}  // namespace hearsay
