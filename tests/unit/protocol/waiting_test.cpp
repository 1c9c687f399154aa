// Agents that keep states, are killed and come back: all go on from the newest step that everyone has kept, and the
// bits are those of a run that was not interrupted.
#include <gtest/gtest.h>
#include <hearsay/agent.hpp>
#include <hearsay/angles.hpp>
#include <hearsay/graph_tools.hpp>
#include <hearsay/random.hpp>

#include <map>
#include <set>

#include "on_links.hpp"
#include "support/expect_error.hpp"
#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::Driver;

constexpr double no_end = std::numeric_limits<double>::infinity();

// Four sites whose run takes some hundred rounds.
struct Sites {
  GossipMatrix W = GossipMatrix::ring(4);
  FederationSettings federation = {};
  std::vector<Block<double>> tables = {};

  explicit Sites(double wait, std::uint64_t seed = 1, GossipMatrix network = GossipMatrix::ring(4))
      : W(std::move(network)) {
    federation = {
        .names = std::vector<std::string>(static_cast<std::size_t>(W.agents()), "site"), .W = W, .wait = wait};
    federation.settings.power.rank = 2;
    federation.network.solver.rounds = 6;
    federation.keep_every = 3;
    federation.patience = {.greeting = 60, .round = 20, .link = 5, .heartbeat = 1};
    for (Index i = 0; i < W.agents(); ++i) {
      Block<double> rows = test::random_block(14 + 2 * i, 7, 50 * seed + static_cast<std::uint64_t>(i));
      rows.col(0) *= 2;
      rows.col(1) *= 1.6;
      tables.push_back(std::move(rows));
    }
  }
};

// What is left of each agent when its process ends: a file, if it keeps one.
struct Disks {
  std::vector<std::string> states;
  std::vector<int> starts;
  explicit Disks(const Sites& sites) : states(sites.tables.size()), starts(sites.tables.size()) {}
};

struct Ends {
  std::vector<std::optional<AgentOutcome>> outcomes;
  std::vector<std::string> words;
  std::vector<double> at;

  std::set<std::uint64_t> digests() const {
    std::set<std::uint64_t> all;
    for (const auto& outcome : outcomes)
      if (outcome) all.insert(outcome->result.digest);
    return all;
  }
  std::size_t results() const {
    return static_cast<std::size_t>(
        std::count_if(outcomes.begin(), outcomes.end(), [](const auto& outcome) { return outcome.has_value(); }));
  }
};

// Who keeps no file has an empty one for ever.
Ends run_sites(const Sites& sites, const Simulation& simulation, Disks* disks, const std::set<Index>& without_file = {},
               std::uint64_t nonce = 1) {
  const auto n = static_cast<std::size_t>(sites.W.agents());
  Ends ends{.outcomes = std::vector<std::optional<AgentOutcome>>(n),
            .words = std::vector<std::string>(n),
            .at = std::vector<double>(n)};
  const auto thrown = run_on_simulated_links(sites.W, simulation, [&](Links& links) {
    const auto own = static_cast<std::size_t>(links.self());
    AgentHooks hooks{.nonce = 1000 * nonce + 10 * own + 1};
    if (disks != nullptr) {
      hooks.nonce += static_cast<std::uint64_t>(disks->starts[own]++);
      if (!without_file.contains(links.self())) {
        hooks.keep = [&, own](const std::string& states) { disks->states[own] = states; };
        hooks.states = disks->states[own];
      }
    }
    try {
      ends.outcomes[own] = run_agent(links, {.rows = sites.tables[own]}, sites.federation, hooks);
    } catch (...) {
      ends.at[own] = links.now();
      throw;
    }
    ends.at[own] = links.now();
  });
  for (std::size_t i = 0; i < n; ++i) ends.words[i] = test::word_of(thrown[i]);
  return ends;
}

void expect_bits_of(const Ends& clean, const Ends& ends) {
  const DecentralizedResult& expected = clean.outcomes[0]->result;
  for (std::size_t i = 0; i < ends.outcomes.size(); ++i) {
    ASSERT_TRUE(ends.outcomes[i]) << "agent " << i << ": " << ends.words[i];
    const DecentralizedResult& result = ends.outcomes[i]->result;
    EXPECT_EQ(result.digest, expected.digest) << i;
    EXPECT_EQ(result.iterations, expected.iterations);
    EXPECT_EQ(result.traffic, expected.traffic);
    EXPECT_EQ(result.history.size(), expected.history.size());
    EXPECT_EQ(ends.outcomes[i]->unconfirmed, "");
  }
}

double length_of(const Sites& sites) { return run_sites(sites, {}, nullptr).at[0]; }

TEST(Waiting, AnAgentThatComesBackWithItsStatesChangesNoBit) {
  const Sites sites(60);
  const Ends clean = run_sites(sites, {}, nullptr);
  const double length = clean.at[0];
  ASSERT_GE(clean.outcomes[0]->result.iterations, 15);
  for (const double when : {0.1, 0.35, 0.6, 0.9})
    for (const bool closes : {true, false}) {
      SCOPED_TRACE(::testing::Message() << "killed at " << when << (closes ? "" : ", silently"));
      Disks disks(sites);
      const Ends ends = run_sites(sites,
                                  {.dies_at = {no_end, no_end, when * length, no_end},
                                   .death_closes_links = closes,
                                   .revives_at = {no_end, no_end, when * length + 3, no_end}},
                                  &disks);
      expect_bits_of(clean, ends);
      EXPECT_EQ(disks.starts, (std::vector<int>{1, 1, 2, 1}));
      if (when > 0.3) {
        for (const auto& outcome : ends.outcomes) {
          ASSERT_EQ(outcome->taken_up.size(), 1U);
          EXPECT_GE(outcome->taken_up.front(), 3);
          EXPECT_EQ(outcome->taken_up, ends.outcomes[0]->taken_up);
        }
      }
    }
}

TEST(Waiting, OneThatComesBackWithNothingGoesOnFromAnothersAnswer) {
  const Sites sites(60);
  const Ends clean = run_sites(sites, {}, nullptr);
  const double when = 0.6 * clean.at[0];
  Disks disks(sites);
  const Ends ends =
      run_sites(sites, {.dies_at = {no_end, when, no_end, no_end}, .revives_at = {no_end, when + 3, no_end, no_end}},
                &disks, {1});
  ASSERT_EQ(ends.results(), 4U) << ends.words[0] << ends.words[1];
  EXPECT_EQ(ends.digests().size(), 1U);
  for (const auto& outcome : ends.outcomes) {
    const DecentralizedResult& result = outcome->result;
    EXPECT_EQ(result.status, Status::converged);
    EXPECT_EQ(result.contributors, (std::vector<Index>{0, 1, 2, 3}));
    ASSERT_EQ(result.epochs.size(), 2U);
    test::expect_in(result.epochs[1].reason, "went on from the answer of agent");
    EXPECT_LE(sin_theta<double>(clean.outcomes[0]->basis(), outcome->basis()), 1e-8);
    EXPECT_EQ(outcome->unconfirmed, "");
  }
}

TEST(Waiting, OneThatDoesNotComeBackEndsTheRunByItsDeadline) {
  const Sites sites(40);
  const double when = 0.5 * length_of(sites);
  Disks disks(sites);
  const Ends ends = run_sites(sites, {.dies_at = {no_end, no_end, no_end, when}}, &disks);
  EXPECT_EQ(ends.results(), 0U);
  for (const std::size_t i : {0U, 1U, 2U}) {
    EXPECT_FALSE(ends.words[i].empty());
    EXPECT_LE(ends.at[i], 40 + 2 * 60 + 2 * 20 + 60);
  }
  test::expect_in(ends.words[0], "not ready within 40 s: agent 3 (site)");
}

TEST(Waiting, AllThatWereKilledGoOnTogetherAnotherDay) {
  for (const double wait : {0.0, 60.0}) {
    const Sites sites(wait);
    const Ends clean = run_sites(sites, {}, nullptr);
    const double when = 0.7 * clean.at[0];
    Disks disks(sites);
    const Ends killed = run_sites(sites, {.dies_at = {when, when + 0.004, when, when + 0.002}}, &disks);
    EXPECT_EQ(killed.results(), 0U);
    const Ends ends = run_sites(sites, {}, &disks, {}, 2);
    expect_bits_of(clean, ends);
    EXPECT_GE(ends.outcomes[0]->taken_up.at(0), 3);
  }
}

TEST(Waiting, WhereNoStepIsEveryonesTheRunBegins) {
  const Sites sites(0);
  const Ends clean = run_sites(sites, {}, nullptr);
  const double when = 0.7 * clean.at[0];
  Disks disks(sites);
  (void)run_sites(sites, {.dies_at = {when, when, when, when}}, &disks);
  disks.states[2].clear();
  const Ends ends = run_sites(sites, {}, &disks, {}, 2);
  expect_bits_of(clean, ends);
  EXPECT_TRUE(ends.outcomes[0]->taken_up.empty());
}

TEST(Waiting, RoundedMessagesGoOnFromWhatWasTold) {
  Sites sites(60, 3);
  sites.federation.network.precision = MessagePrecision::bfloat16;
  sites.federation.network.solver.tolerance = 1e-7;
  const Ends clean = run_sites(sites, {}, nullptr);
  ASSERT_EQ(clean.results(), 4U);
  const double when = 0.6 * clean.at[0];
  Disks disks(sites);
  const Ends ends = run_sites(
      sites, {.dies_at = {when, no_end, no_end, no_end}, .revives_at = {when + 1, no_end, no_end, no_end}}, &disks);
  expect_bits_of(clean, ends);
}

TEST(Waiting, StatesOfOtherDataOrAnotherFederationAreRefused) {
  Sites sites(0);
  Disks disks(sites);
  (void)run_sites(sites, {}, &disks);
  ASSERT_FALSE(disks.states[0].empty());
  const auto refusal = [&](const Sites& here, const std::string& states) {
    std::string word;
    const auto thrown = run_on_simulated_links(here.W, {}, [&](Links& links) {
      const auto own = static_cast<std::size_t>(links.self());
      (void)run_agent(links, {.rows = here.tables[own]}, here.federation,
                      {.nonce = own + 1, .states = own == 0 ? states : std::string()});
    });
    return test::word_of(thrown[0]);
  };
  Sites others = sites;
  others.tables[0](3, 3) += 1;
  test::expect_in(refusal(others, disks.states[0]), "are of other data");
  Sites different = sites;
  different.federation.settings.power.seed = 9;
  test::expect_in(refusal(different, disks.states[0]), "are of another federation or other settings");
  test::expect_in(refusal(sites, disks.states[0].substr(0, 100)), "the states of an agent");
  for (const std::size_t cut : {1U, 8U, 200U})
    test::expect_in(refusal(sites, disks.states[0].substr(0, disks.states[0].size() - cut)), "the states of an agent");
}

TEST(Waiting, AStateThatCannotBeKeptIsANote) {
  const Sites sites(0);
  std::vector<std::string> notes;
  const auto thrown = run_on_simulated_links(sites.W, {}, [&](Links& links) {
    const auto own = static_cast<std::size_t>(links.self());
    AgentHooks hooks{.nonce = own + 1};
    if (own == 1) hooks.keep = [](const std::string&) { throw Error("no room on the disk"); };
    const auto outcome = run_agent(links, {.rows = sites.tables[own]}, sites.federation, hooks);
    if (own == 1) notes = outcome.result.notes;
  });
  test::expect_no_error(thrown);
  ASSERT_FALSE(notes.empty());
  EXPECT_EQ(notes.back(), "states were not kept: no room on the disk");
}

TEST(Waiting, WaitingAndLeavingOutExcludeEachOther) {
  Sites sites(30);
  sites.federation.quorum = 3;
  const auto thrown = run_on_simulated_links(sites.W, {}, [&](Links& links) {
    (void)run_agent(links, {.rows = sites.tables[0]}, sites.federation, {.nonce = 1});
  });
  test::expect_in(test::word_of(thrown[0]), "is waited for, or left out");
}

// Deaths and returns at any moment, with and without a file, silent or not, on links that break and heal: whoever has a
// result has the one of a clean run, or, where a step was copied, one that all share; and nobody hangs.
TEST(Waiting, EveryWordIsTrueWhateverHappens) {
  std::size_t same = 0, copied = 0, words = 0;
  const char* more = std::getenv("HEARSAY_SCENARIOS");
  const std::uint64_t scenarios = more != nullptr ? std::strtoull(more, nullptr, 10) : 40;
  for (std::uint64_t seed = 1; seed <= scenarios; ++seed) {
    SCOPED_TRACE(::testing::Message() << "scenario " << seed);
    const auto luck = [&](std::uint32_t what) {
      return random_uniform({.seed = seed, .stream = Stream::test, .agent = what}, 0);
    };
    const Index n = 3 + static_cast<Index>(seed % 3);
    const Sites sites(30, seed, seed % 2 == 0 ? GossipMatrix::ring(n) : GossipMatrix::metropolis(complete_graph(n)));
    const Ends clean = run_sites(sites, {}, nullptr);
    ASSERT_EQ(clean.results(), static_cast<std::size_t>(n));
    Simulation simulation{.dies_at = std::vector<double>(static_cast<std::size_t>(n), no_end),
                          .death_closes_links = seed % 3 != 0,
                          .revives_at = std::vector<double>(static_cast<std::size_t>(n), no_end)};
    for (std::uint32_t i = 0; i < n; ++i) {
      if (luck(i) > 0.45) continue;
      simulation.dies_at[i] = 1.05 * clean.at[0] * luck(10 + i);
      if (luck(20 + i) < 0.85) simulation.revives_at[i] = simulation.dies_at[i] + 40 * luck(30 + i) * luck(40 + i);
    }
    if (seed % 4 == 1)
      simulation.deliver = [&luck, seed](const SentFrame& sent) -> Delivery {
        const double drawn = random_uniform(
            {.seed = seed, .stream = Stream::test, .agent = static_cast<std::uint32_t>(100 + 10 * sent.from + sent.to)},
            static_cast<std::uint64_t>(sent.number));
        if (drawn < 0.003) return {.breaks_link = true, .heals_after = 8 * luck(50)};
        return {.after = {1e-3 + 0.01 * drawn}};
      };
    std::set<Index> without_file;
    if (seed % 5 == 0) without_file.insert(static_cast<Index>(luck(60) * static_cast<double>(n)));
    Disks disks(sites);
    const Ends ends = run_sites(sites, simulation, &disks, without_file);
    std::set<std::uint64_t> digests = ends.digests();
    EXPECT_LE(digests.size(), 1U) << "two results of one run";
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      EXPECT_LE(ends.at[i], 2000) << i;
      if (!ends.outcomes[i]) {
        EXPECT_FALSE(ends.words[i].empty()) << i;
        ++words;
        continue;
      }
      const AgentOutcome& outcome = *ends.outcomes[i];
      EXPECT_EQ(outcome.result.status, Status::converged);
      EXPECT_EQ(static_cast<Index>(outcome.result.contributors.size()), n);
      const bool one_epoch = outcome.result.epochs.size() == 1;
      ++(one_epoch ? same : copied);
      if (one_epoch) {
        EXPECT_EQ(outcome.result.digest, clean.outcomes[0]->result.digest) << i;
      }
      EXPECT_LE(sin_theta<double>(clean.outcomes[0]->basis(), outcome.basis()), 1e-7);
    }
  }
  std::cout << same << " results with the bits of a clean run, " << copied << " after a step was copied, " << words
            << " ends with a word\n";
  EXPECT_GE(same, 2 * scenarios);
}

}  // namespace
}  // namespace hearsay
