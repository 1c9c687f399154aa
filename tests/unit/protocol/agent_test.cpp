// run_agent() is solve_decentralized() with every agent by itself.
#include <gtest/gtest.h>
#include <hearsay/agent.hpp>
#include <hearsay/datasets.hpp>
#include <hearsay/io/built_in.hpp>
#include <hearsay/solve_decentralized.hpp>

#include "on_links.hpp"
#include "support/expect_error.hpp"
#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::Driver;
using test::expect_error;
using test::expect_no_error;
using test::run_on;

struct Parties {
  std::vector<Block<double>> tables;
  std::vector<std::string> columns;
};

Parties heart() {
  const io::FederatedTable table = io::load_fed_heart_disease(io::built_in_directory());
  return {table.tables, table.features};
}

Parties digits(const std::string& split) {
  const auto digits = io::load_digits(io::built_in_directory());
  const Split rows = split == "even" ? even_split(digits.values.rows(), 10, 0) : label_split(digits.labels);
  Parties parties;
  for (const auto& own : rows) {
    Block<double> table(static_cast<Index>(own.size()), digits.values.cols());
    for (std::size_t i = 0; i < own.size(); ++i) table.row(static_cast<Index>(i)) = digits.values.row(own[i]);
    parties.tables.push_back(std::move(table));
  }
  return parties;
}

FederationSettings settings_of(const Parties& parties, Index rank, MessagePrecision precision) {
  const auto n = static_cast<Index>(parties.tables.size());
  FederationSettings federation{.names = std::vector<std::string>(parties.tables.size(), "site"),
                                .W = GossipMatrix::ring(n)};
  federation.settings.power.rank = rank;
  federation.network.precision = precision;
  return federation;
}

DecentralizedSolution in_one_process(const Parties& parties, const FederationSettings& federation) {
  AloneTransport alone;
  Shards shards{.agents = federation.W.agents(), .rows = parties.tables};
  for (Index agent = 0; agent < shards.agents; ++agent) shards.local.push_back(agent);
  const ShardTotals totals = totals_of(alone, shards);
  const AgentData data{.shards = covariance_shards(std::move(shards), totals, federation.center),
                       .centred = federation.center};
  return solve_decentralized(alone, federation.W, data,
                             {.network = federation.network, .settings = federation.settings});
}

void expect_same_answer(Driver driver, const Parties& parties, const FederationSettings& federation) {
  const DecentralizedSolution expected = in_one_process(parties, federation);

  expect_no_error(run_on(driver, federation.W, [&](Links& links) {
    const auto own = static_cast<std::size_t>(links.self());
    const AgentOutcome outcome =
        run_agent(links, {.rows = parties.tables[own], .columns = parties.columns}, federation);

    EXPECT_EQ(outcome.result.digest, expected.result.digest);
    EXPECT_EQ(outcome.result.status, expected.result.status);
    EXPECT_EQ(outcome.result.agreement, expected.result.agreement);
    EXPECT_EQ(outcome.result.traffic, expected.result.traffic);
    EXPECT_EQ(outcome.result.eigenvalues, expected.result.eigenvalues);
    EXPECT_EQ(outcome.result.notes, expected.result.notes);
    EXPECT_EQ(outcome.basis(), expected.result.bases[own]);
    EXPECT_EQ(outcome.own_digest(), expected.result.digests[own]);
    EXPECT_EQ(outcome.unconfirmed, "");
    EXPECT_EQ(outcome.features, parties.columns);
    EXPECT_EQ(outcome.totals.sizes[own], parties.tables[own].rows());
    EXPECT_EQ(outcome.links.size(), links.neighbours().size());
    for (const auto& link : outcome.links) {
      EXPECT_GT(link.bytes_sent, 0);
      EXPECT_EQ(link.duplicates + link.stale + link.foreign, 0);
    }
  }));
}

TEST(Agent, FindsWhatOneProcessFindsInFourHospitals) {
  for (const Driver driver : {Driver::threads, Driver::simulated})
    for (const MessagePrecision precision :
         {MessagePrecision::real64, MessagePrecision::real32, MessagePrecision::bfloat16})
      expect_same_answer(driver, heart(), settings_of(heart(), 2, precision));
}

TEST(Agent, FindsWhatOneProcessFindsInDigits) {
  for (const std::string split : {"even", "by-label"})
    for (const MessagePrecision precision : {MessagePrecision::real64, MessagePrecision::bfloat16})
      expect_same_answer(Driver::threads, digits(split), settings_of(digits(split), 9, precision));
}

TEST(Agent, FindsWhatOneProcessFindsWithoutCentringAndFromVeryLargeNumbers) {
  Parties parties;
  for (std::uint64_t agent = 0; agent < 3; ++agent)
    parties.tables.push_back(test::random_block(10 + static_cast<Index>(agent), 6, agent + 1) * 1e160);
  parties.tables.emplace_back(0, 6);  // of an agent without rows
  for (const bool center : {true, false}) {
    FederationSettings federation = settings_of(parties, 2, MessagePrecision::real64);
    federation.center = center;
    expect_same_answer(Driver::simulated, parties, federation);
  }
}

TEST(Agent, StopsEverywhereWithWhatThereIsWhenOneIsAskedToStop) {
  const Parties parties = heart();
  FederationSettings federation = settings_of(parties, 2, MessagePrecision::real64);
  federation.network.solver.tolerance = 0;
  expect_no_error(run_on(Driver::simulated, federation.W, [&](Links& links) {
    Index seen = 0;
    const AgentOutcome outcome =
        run_agent(links, {.rows = parties.tables[static_cast<std::size_t>(links.self())], .columns = parties.columns},
                  federation, {.observe = [&](const AgentProgress& progress) {
                    EXPECT_EQ(progress.entry.t, seen++);
                    return links.self() != 1 || seen < 5;
                  }});
    EXPECT_EQ(outcome.result.status, Status::stopped_by_observer);
    EXPECT_LT(outcome.result.iterations, 20);
  }));
}

TEST(Agent, RefusesSettingsThatCannotBe) {
  const Parties parties = heart();
  const auto refused = [&](const std::function<void(FederationSettings&, AgentRows&)>& change,
                           const std::string& words) {
    const auto thrown = run_on(Driver::simulated, GossipMatrix::ring(4), [&](Links& links) {
      FederationSettings federation = settings_of(parties, 2, MessagePrecision::real64);
      AgentRows rows{.rows = parties.tables[static_cast<std::size_t>(links.self())], .columns = parties.columns};
      change(federation, rows);
      static_cast<void>(run_agent(links, std::move(rows), federation));
    });
    for (const auto& one : thrown) {
      ASSERT_TRUE(one);
      expect_error<InvalidArgument>([&] { std::rethrow_exception(one); }, {words});
    }
  };
  refused([](auto& f, auto&) { f.settings.power.rank = 99; }, "rank = 99: must lie in [1, ");
  refused([](auto& f, auto&) { f.names.pop_back(); }, "roster of 3 agents: must be 4");
  refused([](auto& f, auto&) { f.settings.optimal_momentum = true; }, "momentum = optimal");
  refused([](auto& f, auto&) { f.W = GossipMatrix::metropolis(star_graph(4)); }, "must lead to");
  refused([](auto&, auto& r) { r.columns.pop_back(); }, "names of columns");
  refused([](auto&, auto& r) { r.rows = Block<double>(3, 0); }, "features = 0: must be at least 1");
}

// Rows that cannot be used at one agent end the run at all of them.
TEST(Agent, TellsTheOthersOfDataThatCannotBeUsed) {
  const Parties parties = heart();
  const FederationSettings federation = settings_of(parties, 2, MessagePrecision::real64);
  const auto thrown = run_on(Driver::simulated, federation.W, [&](Links& links) {
    AgentRows rows{.rows = parties.tables[static_cast<std::size_t>(links.self())], .columns = parties.columns};
    if (links.self() == 2) rows.rows(1, 1) = std::numeric_limits<double>::infinity();
    static_cast<void>(run_agent(links, std::move(rows), federation));
  });
  for (const auto& one : thrown) EXPECT_TRUE(one) << test::word_of(one);
}

TEST(Agent, GoesOnAloneFromWhatItKept) {
  Parties parties;
  parties.tables.push_back(test::random_block(40, 12, 5));
  for (const MessagePrecision precision : {MessagePrecision::real64, MessagePrecision::bfloat16}) {
    FederationSettings federation = settings_of(parties, 2, precision);
    federation.keep_every = 2;
    std::string kept;
    std::uint64_t whole = 0;
    const auto run = [&](const AgentHooks& hooks) {
      expect_no_error(run_on(Driver::simulated, federation.W, [&](Links& links) {
        const AgentOutcome outcome = run_agent(links, {.rows = parties.tables[0]}, federation, hooks);
        if (whole == 0) whole = outcome.result.digest;
        EXPECT_EQ(outcome.result.digest, whole);
        EXPECT_EQ(outcome.taken_up.empty(), hooks.states.empty());
      }));
    };
    run({.keep = [&](const std::string& states) { kept = states; }});
    ASSERT_FALSE(kept.empty());
    run({.states = kept});
  }
}

}  // namespace
}  // namespace hearsay
