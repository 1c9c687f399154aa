// Agents and links that go: whoever ends says what is true, and the result is that of exactly those it names.
#include <gtest/gtest.h>
#include <hearsay/agent.hpp>
#include <hearsay/angles.hpp>
#include <hearsay/graph_tools.hpp>
#include <hearsay/random.hpp>

#include <Eigen/Eigenvalues>
#include <cstdlib>
#include <iostream>
#include <set>

#include "on_links.hpp"
#include "support/expect_error.hpp"
#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::expect_in;
using test::random_block;

constexpr Index answer_rank = 2, feature_count = 6;

// Seconds until everything must be over: far above all patience together, far below forever.
constexpr double all_over = 1000;

struct Hospitals {
  std::vector<Block<double>> tables;
  std::vector<std::string> columns = {"a", "b", "c", "d", "e", "f"};
};

Hospitals hospitals(Index agents, std::uint64_t seed) {
  Hospitals all;
  for (Index i = 0; i < agents; ++i) {
    Block<double> rows = random_block(12 + 3 * i, feature_count, 100 * seed + static_cast<std::uint64_t>(i) + 1);
    rows.col(0) *= 4;
    rows.col(1) *= 3;
    rows.col(1) += 0.5 * rows.col(0);
    rows.rowwise() += random_block(1, feature_count, 7 * seed + static_cast<std::uint64_t>(i)).row(0);
    all.tables.push_back(std::move(rows));
  }
  return all;
}

// The pooled answer of these agents alone, by an eigensolver.
struct Pooled {
  Block<double> vectors;
  Vector<double> values;  // descending
};
Pooled pooled(const Hospitals& all, const std::vector<Index>& agents) {
  Index rows = 0;
  for (const Index agent : agents) rows += all.tables[static_cast<std::size_t>(agent)].rows();
  Block<double> data(rows, feature_count);
  Index at = 0;
  for (const Index agent : agents) {
    const Block<double>& table = all.tables[static_cast<std::size_t>(agent)];
    data.middleRows(at, table.rows()) = table;
    at += table.rows();
  }
  const auto mean = data.colwise().mean().eval();
  data.rowwise() -= mean;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(data.transpose() * data / static_cast<double>(rows - 1));
  return {.vectors = solved.eigenvectors().rowwise().reverse(), .values = solved.eigenvalues().reverse()};
}

FederationSettings epoch_settings(const GossipMatrix& W, Index quorum) {
  FederationSettings federation{
      .names = std::vector<std::string>(static_cast<std::size_t>(W.agents()), "site"), .W = W, .quorum = quorum};
  federation.settings.power.rank = answer_rank;
  federation.network.solver.rounds = 6;  // some hundreds in all, of which there is something to disturb
  federation.patience = {.greeting = 60, .round = 20, .link = 5, .heartbeat = 1};
  return federation;
}

struct End {
  std::optional<AgentOutcome> outcome = {};
  std::string word = {};  // of its error
  bool died = false, left_out = false;
  double at = 0;  // simulated seconds
};

struct Campaign {
  Hospitals data;
  GossipMatrix W;
  Index quorum;
  std::vector<End> ends = {};

  void run(const Simulation& simulation, const AgentHooks& hooks = {}) {
    ends.assign(static_cast<std::size_t>(W.agents()), {});
    const FederationSettings federation = epoch_settings(W, quorum);
    const auto thrown = run_on_simulated_links(W, simulation, [&](Links& links) {
      const auto own = static_cast<std::size_t>(links.self());
      AgentHooks own_hooks = hooks;
      own_hooks.nonce = own + 1;
      try {
        ends[own].outcome =
            run_agent(links, {.rows = data.tables[own], .columns = data.columns}, federation, own_hooks);
      } catch (const LeftOut& error) {
        ends[own].left_out = true;
        ends[own].word = error.what();
      } catch (...) {
        ends[own].at = links.now();
        throw;
      }
      ends[own].at = links.now();
    });
    for (std::size_t i = 0; i < thrown.size(); ++i) {
      if (!thrown[i]) continue;
      ends[i].word = test::word_of(thrown[i]);
      ends[i].died = ends[i].word == "died";
    }
  }

  // True words alone: where it says converged, the answer is that of whom it names; all results of the run are one;
  // nobody ends without a result or a word; and nobody later than the all_over.
  void expect_true_words(const std::string& what) const {
    SCOPED_TRACE(what);
    std::set<std::uint64_t> digests;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const End& end = ends[i];
      EXPECT_LE(end.at, all_over) << "agent " << i;
      if (!end.outcome) {
        EXPECT_FALSE(end.word.empty()) << "agent " << i;
        continue;
      }
      const DecentralizedResult& result = end.outcome->result;
      digests.insert(result.digest);
      EXPECT_GE(static_cast<Index>(result.contributors.size()), quorum > 0 ? quorum : W.agents());
      EXPECT_EQ(result.status, Status::converged) << "agent " << i;
      const Pooled truth = pooled(data, result.contributors);
      // What the tolerance, 1e-10 of the norm, leaves at this gap: 1e-8 unless the data drawn hardly have one.
      const double gap = truth.values(answer_rank - 1) - truth.values(answer_rank);
      const double allowed = std::max(1e-8, 3e-10 * truth.values.head(answer_rank).norm() / gap);
      EXPECT_LE(sin_theta<double>(Block<double>(truth.vectors.leftCols(answer_rank)), end.outcome->basis()), allowed);
      // The tolerance is on the subspace: of the values within it the result says how far agents' own lie apart.
      const double off = (1e-8 + 2 * result.eigenvalue_agreement) * truth.values.head(answer_rank).norm();
      for (Index k = 0; k < answer_rank; ++k)
        EXPECT_NEAR(end.outcome->eigenvalues()(k), truth.values(k), off) << "agent " << i;
      for (Index agent = 0; agent < W.agents(); ++agent) {
        const bool in = std::binary_search(result.contributors.begin(), result.contributors.end(), agent);
        EXPECT_EQ(result.bases[static_cast<std::size_t>(agent)].size() > 0, in);
      }
    }
    EXPECT_LE(digests.size(), 1U) << "two results of one run";
  }

  std::size_t results() const {
    return static_cast<std::size_t>(
        std::count_if(ends.begin(), ends.end(), [](const End& end) { return end.outcome.has_value(); }));
  }
};

double chance(std::uint64_t seed, std::uint32_t what, std::uint64_t row = 0) {
  return random_uniform({.seed = seed, .stream = Stream::test, .agent = what}, row);
}

// Of a clean run: until when there is something to disturb.
double length_of(Campaign campaign) {
  campaign.run({});
  return campaign.ends.front().at;
}

TEST(Epochs, BitsAreThoseOfARunThatMayNotLoseAgentsWhereNobodyIsLost) {
  Campaign one{hospitals(4, 1), GossipMatrix::ring(4), 0}, other = one;
  other.quorum = 3;
  one.run({});
  other.run({});

  ASSERT_EQ(one.results(), 4U);
  ASSERT_EQ(other.results(), 4U);
  EXPECT_EQ(one.ends[0].outcome->result.digest, other.ends[3].outcome->result.digest);
  EXPECT_EQ(one.ends[0].outcome->result.traffic, other.ends[0].outcome->result.traffic);
}

TEST(Epochs, SurvivorsOfOneOfFourFindTheirOwnAnswer) {
  for (const bool closes : {true, false}) {
    Campaign campaign{hospitals(4, 2), GossipMatrix::ring(4), 3};
    const double never = std::numeric_limits<double>::infinity();
    campaign.run({.dies_at = {never, never, 0.02, never}, .death_closes_links = closes});

    campaign.expect_true_words(closes ? "closed" : "silent");
    EXPECT_TRUE(campaign.ends[2].died);
    ASSERT_EQ(campaign.results(), 3U);
    for (const Index i : {0, 1, 3}) {
      const AgentOutcome& outcome = *campaign.ends[static_cast<std::size_t>(i)].outcome;
      EXPECT_EQ(outcome.result.contributors, (std::vector<Index>{0, 1, 3}));
      EXPECT_EQ(outcome.result.epochs.size(), 2U);
      EXPECT_EQ(outcome.result.epochs.back().reason, "agent 2 is gone");
      EXPECT_EQ(outcome.result.faults.crashes, 1);
      EXPECT_EQ(outcome.totals.sizes[2], 0);
      EXPECT_EQ(outcome.unconfirmed, "");
      EXPECT_EQ(outcome.run_id, campaign.ends[0].outcome->run_id);
    }
  }
}

TEST(Epochs, TooFewStopWithAWordOfTheirOwn) {
  Campaign campaign{hospitals(4, 3), GossipMatrix::ring(4), 3};
  const double never = std::numeric_limits<double>::infinity();
  campaign.run({.dies_at = {never, 0.02, 0.02, never}});

  EXPECT_EQ(campaign.results(), 0U);
  for (const std::size_t i : {0U, 3U}) {
    EXPECT_TRUE(campaign.ends[i].left_out) << campaign.ends[i].word;
    expect_in(campaign.ends[i].word, "must be 3 at least to go on");
    EXPECT_LE(campaign.ends[i].at, all_over);
  }
}

TEST(Epochs, WithoutAQuorumAnAgentThatIsGoneEndsTheRun) {
  Campaign campaign{hospitals(4, 3), GossipMatrix::ring(4), 0};
  const double never = std::numeric_limits<double>::infinity();
  campaign.run({.dies_at = {never, 0.02, never, never}});

  EXPECT_EQ(campaign.results(), 0U);
  for (const std::size_t i : {0U, 2U, 3U}) expect_in(campaign.ends[i].word, "agent 1 (site)");
}

TEST(Epochs, OfTwoGroupsOneAtMostHasAResult) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    Campaign campaign{hospitals(5, seed), GossipMatrix::metropolis(complete_graph(5)), 3};
    const double from = (0.3 + 0.7 * chance(seed, 1)) * length_of(campaign);
    // 0 and 1 on one side, the others on the other; nothing goes across any more.
    campaign.run({.deliver = [&](const SentFrame& sent) -> Delivery {
      if (sent.time >= from && (sent.from < 2) != (sent.to < 2)) return {.breaks_link = true};
      return {};
    }});

    campaign.expect_true_words("parted at " + std::to_string(from));
    for (const Index agent : {0, 1})
      if (const End& end = campaign.ends[static_cast<std::size_t>(agent)]; !end.outcome) {
        EXPECT_TRUE(end.left_out) << end.word;
      }
    EXPECT_GE(campaign.results(), 3U) << seed << ": " << campaign.ends[4].word;
  }
}

TEST(Epochs, ALinkThatCarriesNothingOneWayIsLeftOutAtBothEnds) {
  Campaign campaign{hospitals(4, 4), GossipMatrix::metropolis(complete_graph(4)), 3};
  const double from = 0.3 * length_of(campaign);
  campaign.run({.deliver = [&](const SentFrame& sent) -> Delivery {
    if (sent.time >= from && sent.from == 0 && sent.to == 2) return {.after = {}};
    return {};
  }});

  campaign.expect_true_words("one way");
  ASSERT_EQ(campaign.results(), 4U);
  const DecentralizedResult& result = campaign.ends[0].outcome->result;
  EXPECT_EQ(result.contributors, (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_EQ(result.epochs.back().reason, "link 0-2 is out of use");
}

TEST(Epochs, LinksThatComeBackInTimeChangeNothing) {
  Campaign clean{hospitals(4, 5), GossipMatrix::ring(4), 3}, campaign = clean;
  clean.run({});
  campaign.run({.deliver = [&](const SentFrame& sent) -> Delivery {
    const double luck =
        chance(5, static_cast<std::uint32_t>(10 * sent.from + sent.to), static_cast<std::uint64_t>(sent.number));
    return {.after = {0.01 * luck}, .breaks_link = luck < 0.02, .heals_after = 2};
  }});

  campaign.expect_true_words("broken links");
  ASSERT_EQ(campaign.results(), 4U);
  EXPECT_EQ(campaign.ends[1].outcome->result.digest, clean.ends[1].outcome->result.digest);
}

// What befalls a run, drawn from its seed: deaths with and without a word, links that break for good or for a while,
// carry nothing one way, or part the agents; agents that fall silent for a while; delays, copies, other orders.
struct Script {
  std::uint64_t seed;
  Index agents;
  double length;  // of a clean run

  double luck(std::uint32_t what) const { return chance(seed, what); }
  Index agent(std::uint32_t what) const { return static_cast<Index>(static_cast<double>(agents) * luck(what)); }
  double time(std::uint32_t what) const { return 1.02 * length * luck(what); }

  Simulation simulation() const {
    Simulation made{.deliver = [own = *this](const SentFrame& sent) { return own.deliver(sent); },
                    .dies_at = std::vector<double>(static_cast<std::size_t>(agents), 1e9),
                    .death_closes_links = seed % 3 != 0};
    if (seed % 5 < 3) made.dies_at[static_cast<std::size_t>(agent(1))] = time(2);
    if (seed % 4 == 0) made.dies_at[static_cast<std::size_t>(agent(3))] = time(4) + (seed % 8 == 0 ? 7 * luck(5) : 0);
    return made;
  }

  Delivery deliver(const SentFrame& sent) const {
    const double drawn = chance(seed, static_cast<std::uint32_t>(100 + 10 * sent.from + sent.to),
                                static_cast<std::uint64_t>(sent.number));
    Delivery delivery{.after = {seed % 7 == 0 ? 0.05 * drawn : 1e-3}};
    if (seed % 11 == 0) delivery = {.after = {1e-3, 1e-3 + 0.02 * drawn}, .in_order = true};
    if (seed % 6 == 1 && drawn < 0.004)
      delivery = {.breaks_link = true, .heals_after = drawn < 0.002 ? 1 + 400 * drawn : 1e9};
    const bool later = sent.time >= time(6);
    if (seed % 6 == 2 && later && sent.from == agent(7) && sent.to == agent(8)) delivery.after.clear();
    if (seed % 6 == 3 && later && (sent.from <= agent(7)) != (sent.to <= agent(7))) delivery = {.breaks_link = true};
    if (seed % 6 == 4 && later && sent.time < time(6) + 40 * luck(9) && sent.from == agent(7))
      delivery.after = {40 * luck(9)};
    if (seed % 6 == 5 && later && sent.from == agent(7)) delivery.after.clear();  // it hears, and is not heard
    return delivery;
  }
};

TEST(Epochs, EveryWordIsTrueWhateverHappensWhenever) {
  const char* asked = std::getenv("HEARSAY_SCENARIOS");  // `./dev chaos` asks for more
  const std::uint64_t scenarios = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 48;
  std::size_t results = 0, left_out = 0, aborted = 0, died = 0, epochs = 0;
  for (std::uint64_t seed = 1; seed <= scenarios; ++seed) {
    const Index n = 3 + static_cast<Index>(seed % 4);
    const GossipMatrix graphs[] = {GossipMatrix::ring(n), GossipMatrix::metropolis(complete_graph(n)),
                                   GossipMatrix::metropolis(path_graph(n)), GossipMatrix::metropolis(star_graph(n))};
    Campaign campaign{hospitals(n, seed), graphs[seed / 4 % 4], n / 2 + 1 + (seed % 9 == 0 && n > 3 ? 1 : 0)};
    const Script script{seed, n, length_of(campaign)};
    campaign.run(script.simulation());
    campaign.expect_true_words("seed " + std::to_string(seed));
    results += campaign.results();
    for (const End& end : campaign.ends) {
      left_out += end.left_out;
      died += end.died;
      aborted += !end.outcome && !end.left_out && !end.died;
      epochs += end.outcome && end.outcome->result.epochs.size() > 1;
    }
  }
  std::cout << scenarios << " scenarios: " << results << " agents with a result, " << epochs
            << " of them after others were left out; " << left_out << " left out, " << aborted
            << " ended by another's word, " << died << " died\n";
  EXPECT_GE(results, scenarios);
  EXPECT_GE(left_out, scenarios / 10);
  EXPECT_GE(epochs, scenarios / 3);
}

// The last rounds, where some hold the result and others do not yet: one frame more at a time.
TEST(Epochs, ADeathInTheLastRoundsLeavesOneResultOrNone) {
  const Campaign clean{hospitals(4, 9), GossipMatrix::ring(4), 3};
  const double length = length_of(clean);
  for (int step = 0; step < 24; ++step) {
    Campaign campaign = clean;
    Simulation simulation{.dies_at = std::vector<double>(4, std::numeric_limits<double>::infinity())};
    simulation.dies_at[static_cast<std::size_t>(step % 4)] = length - 0.0006 * step;
    campaign.run(simulation);
    campaign.expect_true_words("step " + std::to_string(step));
    EXPECT_GE(campaign.results(), 3U) << step;
  }
}

TEST(Epochs, ColumnsInAnotherOrderFollowTheFirstWhoIsLeft) {
  Campaign campaign{hospitals(4, 6), GossipMatrix::metropolis(complete_graph(4)), 3};
  const double length = length_of(campaign);
  const FederationSettings federation = epoch_settings(campaign.W, 3);
  std::vector<AgentOutcome> outcomes(4);
  const auto thrown = run_on_simulated_links(campaign.W, {.dies_at = {0.5 * length, 1e9, 1e9, 1e9}}, [&](Links& links) {
    const auto own = static_cast<std::size_t>(links.self());
    AgentRows rows{.rows = campaign.data.tables[own], .columns = campaign.data.columns};
    if (own > 0) {
      std::reverse(rows.columns.begin(), rows.columns.end());
      rows.rows = rows.rows.rowwise().reverse().eval();
    }
    outcomes[own] = run_agent(links, std::move(rows), federation);
  });
  const Pooled truth = pooled(campaign.data, {1, 2, 3});
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(test::word_of(thrown[i]), "");
    EXPECT_EQ(outcomes[i].features.front(), "f");
    EXPECT_LE(
        sin_theta<double>(Block<double>(truth.vectors.leftCols(answer_rank)), outcomes[i].basis().colwise().reverse()),
        1e-8);
  }
}

// ---- Who takes part, without a session ------------------------------------------------------------------------------

using protocol::Membership;

TEST(Membership, RefusesAQuorumThatTwoGroupsCouldHave) {
  for (const Index quorum : {0, 1, 2, 5})
    test::expect_error<InvalidArgument>(
        [&] {
          Membership(4, 0, {{0, 1}}, quorum);
        },
        {"quorum = ", "must be more than half of the 4 agents"});
}

// Three on a line: the words of all have to come by.
TEST(Membership, AgreesOnceEveryoneHasAcknowledgedTheSameView) {
  const Membership::Edges edges{{0, 1}, {1, 2}, {2, 3}};
  Membership a(4, 0, edges, 3), b(4, 1, edges, 3), c(4, 2, edges, 3);
  for (Membership* one : {&a, &b, &c}) one->begin({.iterations = 7});
  c.cut(3);
  for (int round = 0; round < 4; ++round) {
    EXPECT_FALSE(round < 2 && a.settle().has_value());
    static_cast<void>(b.take(a.message()));
    static_cast<void>(b.take(c.message()));
    static_cast<void>(a.take(b.message()));
    static_cast<void>(c.take(b.message()));
  }

  const auto view = a.settle();
  ASSERT_TRUE(view);
  EXPECT_EQ(view->members, (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(view->digest, b.settle()->digest);
  EXPECT_EQ(view->digest, c.settle()->digest);
  EXPECT_FALSE(view->everyone_holds());
  EXPECT_FALSE(a.take(b.message()));  // it is over
}

TEST(Membership, TakesWhatIsLearntAfterAnAcknowledgementIntoTheNextBallot) {
  const Membership::Edges edges{{0, 1}, {0, 2}, {1, 2}};
  Membership a(3, 0, edges, 2), b(3, 1, edges, 2), c(3, 2, edges, 2);
  for (Membership* one : {&a, &b, &c}) one->begin({});
  for (Membership* one : {&b, &c}) static_cast<void>(a.take(one->message()));
  const std::uint32_t ballot = a.ballot();
  a.cut(1);
  EXPECT_EQ(a.ballot(), ballot + 1);
  EXPECT_FALSE(a.settle());
  EXPECT_EQ(a.reach(), (std::vector<Index>{0, 1, 2}));  // by way of 2
}

TEST(Membership, RefusesWordsThatCannotBe) {
  Membership own(3, 0, {{0, 1}, {1, 2}}, 2);
  own.begin({});
  const auto refused = [&](std::size_t at, int value, const std::string& words) {
    Membership other(3, 1, {{0, 1}, {1, 2}}, 2);
    other.begin({});
    other.cut(2);
    std::vector<std::byte> message = other.message();
    message[at] = static_cast<std::byte>(value);
    test::expect_error<CommunicationError>([&] { static_cast<void>(own.take(message)); }, {words});
  };
  refused(0, 0, "is of epoch 0: must lie in");
  refused(3, 255, "must lie in [1, 1073741824]");
  refused(4, 200, "more things than it has bytes for");
  refused(12, 0, "takes out edge 0-2: must be one of the network's");
  refused(16, 9, "names agent 9: must lie in [0, 3)");
  test::expect_error<CommunicationError>([&] { static_cast<void>(own.take({})); }, {"ends too early"});
}

}  // namespace
}  // namespace hearsay
