// run_agent() with private rows is solve_private_agents() with every agent by itself: the same bits of the same words,
// rows read once and after they were paid for, nothing sent before it was told to whoever keeps account.
#include <gtest/gtest.h>
#include <hearsay/agent.hpp>
#include <hearsay/graph_tools.hpp>

#include <atomic>
#include <mutex>

#include "on_links.hpp"
#include "operators/rows_in_memory.hpp"
#include "support/expect_error.hpp"
#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::Driver;
using test::expect_error;
using test::expect_in;
using test::expect_no_error;
using test::random_block;
using test::run_on;

constexpr Index features = 7;

std::vector<Block<double>> tables(Index agents) {
  std::vector<Block<double>> all;
  for (Index i = 0; i < agents; ++i) {
    all.push_back(random_block(150 + 20 * i, features, 40 + static_cast<std::uint64_t>(i)));
    for (Index j = 0; j < features; ++j) all.back().col(j) *= 2.0 / static_cast<double>(j + 1);
  }
  return all;
}

SecretWords words_of_agent(Index agent) { return insecure_words(77 + static_cast<std::uint64_t>(agent)); }

FederationSettings federation_of(const GossipMatrix& W, Trust trust) {
  FederationSettings federation{
      .names = std::vector<std::string>(static_cast<std::size_t>(W.agents()), "site"), .W = W, .center = false};
  federation.settings.power.rank = 2;
  federation.privacy = FederationPrivacy{
      .trust = trust, .privacy = {.budget = {4, 1e-6}, .row_norm = 3, .public_rows = 700}, .repeatable = true};
  federation.patience = {.greeting = 60, .round = 20, .link = 5, .heartbeat = 1};
  return federation;
}

// Of a pair both make the same, and one takes off what the other adds.
void mask_by_pairs(std::span<std::uint64_t> words, Index self, Index agents, std::uint64_t run,
                   const SayAndHear& talk) {
  const auto said = talk(std::to_string(self), "keys");
  for (Index other = 0; other < agents; ++other) {
    EXPECT_EQ(said[static_cast<std::size_t>(other)], std::to_string(other));
    if (other == self) continue;
    std::vector<std::uint64_t> mask(words.size());
    insecure_words(run + static_cast<std::uint64_t>(std::min(self, other) * agents + std::max(self, other)))(mask);
    for (std::size_t w = 0; w < words.size(); ++w) words[w] += self < other ? mask[w] : 0 - mask[w];
  }
}

struct Account {
  std::atomic<int> reads = 0, told = 0;
};

AgentRows private_rows(const Block<double>& table, Index agent, Account& account) {
  AgentRows rows{.rows = Block<double>(0, features), .columns = {}};
  rows.hidden.emplace();
  rows.hidden->read = [&table, &account] {
    ++account.reads;
    return table;
  };
  rows.hidden->words = words_of_agent(agent);
  rows.hidden->leaving = [&account](std::span<const std::uint64_t> words) {
    EXPECT_EQ(words.size(), features * (features + 1) / 2);
    ++account.told;
  };
  rows.hidden->mask = mask_by_pairs;
  return rows;
}

PrivateAgentsSolution in_one_process(const std::vector<Block<double>>& all, const FederationSettings& federation) {
  const FederationPrivacy& agreed = *federation.privacy;
  PrivateAgentsRequest request{.trust = agreed.trust, .colluders = agreed.colluders, .privacy = agreed.privacy};
  request.solve = {.network = federation.network, .settings = federation.settings};
  settle(request.solve.settings);
  request.solve.settings.power.certify = Certify::none;
  request.masked_sum = [](std::vector<PrivateWords> parts) {
    PrivateWords sum(parts.front().size());
    for (const PrivateWords& part : parts)
      for (std::size_t w = 0; w < sum.size(); ++w) sum.span()[w] += part.span()[w];
    return sum;
  };
  return solve_private_agents(all, federation.W, request, words_of_agent);
}

TEST(PrivateAgent, MakesTheBitsOfOneProcess) {
  const auto all = tables(4);
  for (const Trust trust : {Trust::none, Trust::neighbours, Trust::secure})
    for (const Driver driver : {Driver::threads, Driver::simulated}) {
      const GossipMatrix W =
          trust == Trust::secure ? GossipMatrix::metropolis(complete_graph(4)) : GossipMatrix::ring(4);
      const FederationSettings federation = federation_of(W, trust);
      const PrivateAgentsSolution expected = in_one_process(all, federation);
      Account account;

      expect_no_error(run_on(driver, W, [&](Links& links) {
        const auto own = static_cast<std::size_t>(links.self());
        const AgentOutcome outcome = run_agent(links, private_rows(all[own], links.self(), account), federation);

        ASSERT_TRUE(outcome.released);
        const PrivateAgentsSolution& found = *outcome.released;
        EXPECT_EQ(outcome.basis(), expected.bases[own]);
        EXPECT_EQ(found.bases, expected.bases);
        EXPECT_EQ(found.pca.accuracy.values, expected.pca.accuracy.values);
        EXPECT_EQ(found.pca.accuracy.sin_theta, expected.pca.accuracy.sin_theta);
        EXPECT_EQ(found.pca.accuracy.captured, expected.pca.accuracy.captured);
        EXPECT_EQ(found.pca.plan.sigma, expected.pca.plan.sigma);
        EXPECT_EQ(found.pca.divisor, 700);
        EXPECT_EQ(found.promised.outside, expected.promised.outside);
        EXPECT_EQ(found.promised.all_others, expected.promised.all_others);
        EXPECT_EQ(found.contributors, 4);
        EXPECT_EQ(outcome.unconfirmed, "");
        EXPECT_EQ(outcome.totals.samples, 0);  // nobody tells how many rows there are
        EXPECT_EQ(outcome.totals.sizes, std::vector<Index>(4, 0));
      }));
      EXPECT_EQ(account.reads, 4);
      EXPECT_EQ(account.told, 4);
    }
}

TEST(PrivateAgent, ReadsNothingBeforeEveryoneIsThere) {
  const auto all = tables(3);
  const FederationSettings federation = federation_of(GossipMatrix::ring(3), Trust::none);
  Account account;
  const auto words = test::words_of(run_on(Driver::simulated, federation.W, [&](Links& links) {
    if (links.self() == 2) throw AgentDied();
    static_cast<void>(run_agent(links, private_rows(all[0], links.self(), account), federation));
  }));
  for (const Index agent : {0, 1}) expect_in(words[static_cast<std::size_t>(agent)], "agent 2");
  EXPECT_EQ(account.reads, 0);
}

TEST(PrivateAgent, ReleasesOnceThoughOthersAreGone) {
  const auto all = tables(4);
  FederationSettings federation = federation_of(GossipMatrix::metropolis(complete_graph(4)), Trust::none);
  federation.quorum = 3;
  federation.network.solver.rounds = 6;
  Account account;
  std::atomic<int> ended = 0;
  const auto thrown = run_on_simulated_links(federation.W, {}, [&](Links& links) {
    const auto own = static_cast<std::size_t>(links.self());
    const AgentHooks hooks{.observe = [&](const AgentProgress& now) {
      if (links.self() == 2 && now.entry.t == 2) throw AgentDied();
      return true;
    }};
    const AgentOutcome outcome = run_agent(links, private_rows(all[own], links.self(), account), federation, hooks);
    ++ended;
    EXPECT_EQ(outcome.result.contributors, (std::vector<Index>{0, 1, 3}));
    ASSERT_TRUE(outcome.released);
    EXPECT_EQ(outcome.released->contributors, 3);
    EXPECT_EQ(outcome.released->pca.solution.power.basis, outcome.result.bases[0]);
    // of three releases, each in full noise, the sum has that of three
    const ReleasePlan plan = plan_part(federation.privacy->privacy, features, 1);
    EXPECT_DOUBLE_EQ(outcome.released->pca.plan.sigma, plan.sigma * std::sqrt(3.0));
  });
  EXPECT_EQ(test::words_of(thrown), (std::vector<std::string>{"", "", "died", ""}));
  EXPECT_EQ(ended, 3);
  EXPECT_EQ(account.reads, 4);
  EXPECT_EQ(account.told, 4);
}

TEST(PrivateAgent, WhoMayNotPayEndsTheRunBeforeAnythingIsSent) {
  const auto all = tables(3);
  for (const Trust trust : {Trust::none, Trust::neighbours}) {
    const FederationSettings federation = federation_of(GossipMatrix::ring(3), trust);
    Account account;
    const auto words = test::words_of(run_on(Driver::simulated, federation.W, [&](Links& links) {
      AgentRows rows = private_rows(all[0], links.self(), account);
      if (links.self() == 1) rows.hidden->read = []() -> Block<double> { throw InvalidArgument("the purse is empty"); };
      static_cast<void>(run_agent(links, std::move(rows), federation));
    }));
    for (const std::string& word : words) expect_in(word, "the purse is empty");
  }
}

TEST(PrivateAgent, RefusesWhatCannotBePrivate) {
  const auto all = tables(3);
  const FederationSettings good = federation_of(GossipMatrix::metropolis(path_graph(3)), Trust::none);
  Account account;
  const auto refused = [&](const FederationSettings& federation, const std::string& why, bool hidden = true,
                           const AgentHooks& hooks = {}) {
    const auto words = test::words_of(run_on(Driver::simulated, federation.W, [&](Links& links) {
      AgentRows rows = private_rows(all[0], links.self(), account);
      if (!hidden) rows.hidden.reset();
      static_cast<void>(run_agent(links, std::move(rows), federation, hooks));
    }));
    for (const std::string& word : words) expect_in(word, why);
  };
  FederationSettings changed = good;
  changed.center = true;
  refused(changed, "center");
  changed = good;
  changed.wait = 10;
  refused(changed, "wait = 10");
  changed = good;
  changed.privacy->trust = Trust::neighbours;
  changed.quorum = 2;
  refused(changed, "quorum = 2");
  changed = good;
  changed.privacy->trust = Trust::secure;
  refused(changed, "complete graph");
  changed = good;
  changed.privacy->privacy.center = PrivateCenter::dp_mean;
  refused(changed, "dp-mean");
  changed = good;
  changed.privacy->privacy.row_norm = -1;
  refused(changed, "row-norm");
  changed = good;
  changed.settings.power.rank = features + 1;
  refused(changed, "rank = 8");
  refused(good, "private rows", false);
  refused(good, "states", true, {.keep = [](const std::string&) {}});
  EXPECT_EQ(account.reads, 0);
}

TEST(PrivateAgent, SaysWhatDiffers) {
  const auto all = tables(2);
  const FederationSettings federation = federation_of(GossipMatrix::ring(2), Trust::none);
  Account account;
  const auto words = test::words_of(run_on(Driver::simulated, federation.W, [&](Links& links) {
    FederationSettings own = federation;
    if (links.self() == 1) own.privacy->privacy.budget.epsilon = 5;
    static_cast<void>(run_agent(links, private_rows(all[0], links.self(), account), own));
  }));
  for (const std::string& word : words) {
    expect_in(word, "epsilon 4");
    expect_in(word, "epsilon 5");
  }
  EXPECT_EQ(account.reads, 0);
}

}  // namespace
}  // namespace hearsay
