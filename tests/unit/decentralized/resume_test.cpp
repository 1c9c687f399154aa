// A run that is taken up from a state it kept has the bits of one that was not interrupted.
#include <gtest/gtest.h>
#include <hearsay/error.hpp>

#include <cmath>
#include <map>
#include <string>

#include "problems.hpp"
#include "support/expect_error.hpp"

namespace hearsay {
namespace {

using States = std::map<Index, std::string>;

DecentralizedResult run_kept(const test::Problem& problem, DecentralizedOptions options, States* states,
                             std::string_view resume = {}) {
  LocalNetwork net(problem.W);
  options.rank = problem.k;
  DecentralizedHooks hooks{.resume = resume};
  if (states != nullptr) {
    hooks.keep_every = 3;
    hooks.keep = [states](Index t, const std::string& state) { (*states)[t] = state; };
  }
  return decentralized_pca(net, problem.operators(), options, hooks);
}

void expect_same(const DecentralizedResult& a, const DecentralizedResult& b) {
  EXPECT_EQ(a.digest, b.digest);
  EXPECT_EQ(a.eigenvalues, b.eigenvalues);
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.iterations, b.iterations);
  EXPECT_EQ(a.traffic, b.traffic);
  EXPECT_EQ(a.products, b.products);
  EXPECT_EQ(a.residual, b.residual);
  EXPECT_EQ(a.restarts, b.restarts);
  EXPECT_TRUE(a.conservation_error == b.conservation_error || std::isnan(b.conservation_error));
  EXPECT_EQ(a.notes, b.notes);
  ASSERT_EQ(a.history.size(), b.history.size());
  for (std::size_t t = 0; t < a.history.size(); ++t) {
    EXPECT_EQ(a.history[t].residual, b.history[t].residual) << t;
    EXPECT_EQ(a.history[t].rounds, b.history[t].rounds) << t;
    EXPECT_EQ(a.history[t].momentum, b.history[t].momentum) << t;
  }
}

TEST(KeptStates, EveryOneOfThemLeadsToTheSameBits) {
  const test::Problem problem = test::planted_problem(6, 200, 18, 3, 0.8, 5);
  std::vector<DecentralizedOptions> cases;
  for (const Algorithm algorithm : {Algorithm::depm, Algorithm::adepm, Algorithm::deepca, Algorithm::adeepca})
    cases.push_back({.algorithm = algorithm, .tolerance = 1e-9});
  cases.push_back({.rounds = 2, .max_iterations = 40, .tolerance = 1e-9});
  cases.push_back({.rounds = 3, .max_iterations = 30, .tolerance = 0});
  cases.push_back({.tolerance = 1e-10, .momentum = Momentum::none()});
  cases.push_back({.algorithm = Algorithm::adepm, .gossip = GossipKind::plain, .rounds = 8, .max_iterations = 40});
  for (const DecentralizedOptions& options : cases) {
    SCOPED_TRACE(std::string(name(options.algorithm)) + " " + std::to_string(options.rounds.value_or(0)));
    States states, again;
    const auto whole = run_kept(problem, options, &states);
    ASSERT_GE(states.size(), 2U);
    EXPECT_EQ(run_kept(problem, options, nullptr).digest, whole.digest);
    for (const auto& [t, state] : states) {
      SCOPED_TRACE(t);
      expect_same(run_kept(problem, options, &again, state), whole);
      for (const auto& [later, other] : again) EXPECT_EQ(other, states[later]) << "kept at " << later;
    }
  }
}

TEST(KeptStates, WideBlocksAreNarrowedAtTheSameIteration) {
  const test::Problem problem = test::planted_problem(5, 300, 24, 4, 0.85, 6);
  States states;
  const auto whole = run_kept(problem, {.tolerance = 1e-11}, &states);
  ASSERT_GT(whole.columns_at_start, whole.columns);
  for (const auto& [t, state] : states) {
    SCOPED_TRACE(t);
    const auto result = run_kept(problem, {.tolerance = 1e-11}, nullptr, state);
    expect_same(result, whole);
    EXPECT_EQ(result.columns, whole.columns);
  }
}

TEST(KeptStates, WhoAskedToStopThenAsksNoMore) {
  const test::Problem problem = test::planted_problem(6, 200, 18, 3, 0.8, 7);
  DecentralizedOptions options{.rank = 3, .tolerance = 1e-9};
  const auto whole = run_kept(problem, options, nullptr);
  std::string last;
  LocalNetwork net(problem.W);
  const auto stopped = decentralized_pca(net, problem.operators(), options,
                                         {.observe = [](const DecentralizedEntry& entry) { return entry.t < 9; },
                                          .keep_every = 1,
                                          .keep = [&](Index, const std::string& state) { last = state; }});
  EXPECT_EQ(stopped.status, Status::stopped_by_observer);
  expect_same(run_kept(problem, options, nullptr, last), whole);
}

TEST(KeptStates, BytesThatAreNoSuchStateAreRefused) {
  const test::Problem problem = test::planted_problem(4, 100, 8, 2, 0.7, 8);
  const test::Problem other = test::planted_problem(4, 100, 9, 2, 0.7, 8);
  States states;
  const DecentralizedOptions options{.tolerance = 1e-9};
  (void)run_kept(problem, options, &states);
  const std::string& state = states.rbegin()->second;
  const auto refused = [&](const test::Problem& of, const std::string& bytes) {
    test::expect_error<DataError>([&] { (void)run_kept(of, options, nullptr, bytes); }, {"the state of a run"});
  };
  refused(other, state);
  refused(problem, state + "x");
  for (std::size_t length = 1; length < state.size(); length += 1 + state.size() / 97)
    refused(problem, state.substr(0, length));
  // Any byte changed: an answer or a refusal, never worse.
  int refusals = 0;
  for (std::size_t at = 0; at < state.size(); at += 1 + state.size() / 211) {
    std::string changed = state;
    changed[at] = static_cast<char>(changed[at] ^ 0x40);
    try {
      (void)run_kept(problem, {.max_iterations = 60, .tolerance = 1e-9}, nullptr, changed);
    } catch (const Error&) {
      ++refusals;
    }
  }
  EXPECT_GT(refusals, 0);
}

}  // namespace
}  // namespace hearsay
