// LinkNetwork gives the bits of LocalNetwork, whatever carries its frames, and however they arrive.
#include <gtest/gtest.h>
#include <hearsay/decentralized_on_links.hpp>
#include <hearsay/gossip.hpp>
#include <hearsay/random.hpp>

#include "on_links.hpp"
#include "support/random_block.hpp"
#include "unit/decentralized/problems.hpp"

namespace hearsay {
namespace {

using test::Driver;
using test::expect_no_error;
using test::planted_problem;
using test::Problem;
using test::random_block;
using test::run_on;

LinkNetworkOptions options_for(const Problem& problem, const DecentralizedOptions& options,
                               MessagePrecision precision) {
  const LinkLimits limits = link_limits(problem.W.agents(), problem.operators().front().dim(), options);
  return {.precision = precision, .largest_block = limits.largest_block, .longest_words = limits.longest_words};
}

std::vector<DecentralizedResult> results_on(
    const std::function<std::vector<std::exception_ptr>(const GossipMatrix&, const std::function<void(Links&)>&)>& run,
    const Problem& problem, const DecentralizedOptions& options, MessagePrecision precision) {
  std::vector<DecentralizedResult> results(static_cast<std::size_t>(problem.W.agents()));
  expect_no_error(run(problem.W, [&](Links& links) {
    const auto own = static_cast<std::size_t>(links.self());
    LinkNetwork net(links, problem.W, options_for(problem, options, precision));
    net.run([&] {
      net.connect();
      results[own] = decentralized_pca(net, std::vector{problem.operators()[own]}, options, {.reference = &problem.U});
    });
  }));
  return results;
}

void expect_same(const DecentralizedResult& result, const DecentralizedResult& expected) {
  EXPECT_EQ(result.digest, expected.digest);
  EXPECT_EQ(result.digests, expected.digests);
  EXPECT_EQ(result.bases, expected.bases);
  EXPECT_EQ(result.eigenvalues, expected.eigenvalues);
  EXPECT_EQ(result.status, expected.status);
  EXPECT_EQ(result.iterations, expected.iterations);
  EXPECT_EQ(result.residual, expected.residual);
  EXPECT_EQ(result.agreement, expected.agreement);
  EXPECT_EQ(result.bar.kind, expected.bar.kind);
  if (expected.bar.exists()) {
    EXPECT_EQ(result.bar.sin_theta, expected.bar.sin_theta);
  }
  EXPECT_EQ(result.message_noise.largest, expected.message_noise.largest);
  EXPECT_EQ(result.traffic, expected.traffic);
  EXPECT_EQ(result.notes, expected.notes);
  EXPECT_EQ(result.contributors, expected.contributors);
  ASSERT_EQ(result.history.size(), expected.history.size());
  for (std::size_t t = 0; t < result.history.size(); ++t) {
    EXPECT_EQ(result.history[t].residual, expected.history[t].residual);
    EXPECT_EQ(result.history[t].bytes, expected.history[t].bytes);
    EXPECT_EQ(result.history[t].sin_theta, expected.history[t].sin_theta);
  }
}

void expect_same_everywhere(Driver driver, Problem problem, const GossipMatrix& W, DecentralizedOptions options,
                            MessagePrecision precision) {
  problem.W = W;
  options.rank = problem.k;
  if (problem.damping) options.damping = problem.damping;
  LocalNetwork local(W, precision);
  const auto expected = decentralized_pca(local, problem.operators(), options, {.reference = &problem.U});
  const auto run = [&](const GossipMatrix& over, const std::function<void(Links&)>& body) {
    return run_on(driver, over, body);
  };
  for (const DecentralizedResult& result : results_on(run, problem, options, precision)) expect_same(result, expected);
}

constexpr MessagePrecision precisions[] = {MessagePrecision::real64, MessagePrecision::real32,
                                           MessagePrecision::bfloat16};

TEST(LinkNetwork, MixesToTheBitsOfOneProcess) {
  for (const Driver driver : {Driver::threads, Driver::simulated})
    for (const GossipMatrix& W :
         {GossipMatrix::ring(1), GossipMatrix::ring(2), GossipMatrix::ring(5), GossipMatrix::metropolis(star_graph(6)),
          GossipMatrix::lazy(GossipMatrix::metropolis(path_graph(4)))})
      for (const MessagePrecision precision : precisions)
        for (const Index numbers : {0, 1, 37, 4096, 9001}) {
          const Index n = W.agents();
          LocalNetwork local(W, precision);
          const Block<double> Z = random_block(n, numbers, 3), Z_prev = random_block(n, numbers, 4);
          const Block<double> votes = random_block(n, 5, 5);
          Block<double> expected(n, numbers), expected_votes = votes;
          const MixStep step{.mixed = 1.3, .self = -0.2, .previous = -0.1};
          for (int round = 0; round < 3; ++round) local.mix(step, Z * (round + 1), Z_prev, expected, expected_votes);
          Block<double> out(n, numbers), out_votes = votes;

          expect_no_error(run_on(driver, W, [&](Links& links) {
            const Index i = links.self();
            LinkNetwork net(links, W, {.precision = precision});
            net.run([&] {
              net.connect();
              for (int round = 0; round < 3; ++round)
                net.mix(step, (Z * (round + 1)).eval().row(i), Z_prev.row(i), out.middleRows(i, 1),
                        out_votes.middleRows(i, 1));
            });
            EXPECT_EQ(net.traffic(), local.traffic());
          }));

          EXPECT_EQ(out, expected) << n << " agents, " << name(precision) << ", " << numbers;
          EXPECT_EQ(out_votes, expected_votes);
        }
}

TEST(LinkNetwork, GathersEveryonesWordsEverywhereAndAgreesOnTheRun) {
  for (const Driver driver : {Driver::threads, Driver::simulated})
    for (const GossipMatrix& W : {GossipMatrix::ring(7), GossipMatrix::metropolis(path_graph(5)),
                                  GossipMatrix::metropolis(grid_graph(3, 3)), GossipMatrix::ring(1)}) {
      std::vector<std::uint64_t> runs(static_cast<std::size_t>(W.agents()));
      const std::string long_words(700000, 'w');  // of several frames
      expect_no_error(run_on(driver, W, [&](Links& links) {
        LinkNetwork net(links, W, {.longest_words = 800000});
        net.run([&] {
          net.connect();
          const auto heard = net.gather_everywhere(std::to_string(links.self()) + long_words, "a test");
          for (std::size_t agent = 0; agent < heard.size(); ++agent)
            EXPECT_EQ(heard[agent], std::to_string(agent) + long_words);
        });
        runs[static_cast<std::size_t>(links.self())] = net.run_id();
      }));
      for (const std::uint64_t run : runs) EXPECT_EQ(run, runs.front());
      EXPECT_NE(runs.front(), 0U);
    }
}

TEST(LinkNetwork, GivesTheDigestOfOneProcessByEveryMethodOnManyGraphs) {
  const Problem problem = planted_problem(6, 200, 12, 3, 0.8, 1);
  for (const GossipMatrix& W : {GossipMatrix::ring(6), GossipMatrix::metropolis(star_graph(6)),
                                GossipMatrix::metropolis(path_graph(6)), GossipMatrix::metropolis(complete_graph(6))})
    for (const Algorithm algorithm : {Algorithm::depm, Algorithm::adepm, Algorithm::deepca, Algorithm::adeepca})
      for (const MessagePrecision precision : precisions)
        for (const Driver driver : {Driver::threads, Driver::simulated}) {
          if (driver == Driver::simulated && algorithm != Algorithm::adeepca) continue;
          expect_same_everywhere(driver, problem, W, {.algorithm = algorithm, .max_iterations = 12, .tolerance = 1e-8},
                                 precision);
        }
}

TEST(LinkNetwork, GivesTheDigestOfOneProcessOnRealData) {
  const auto problems = test::real_problems();
  if (!problems) GTEST_SKIP() << "HEARSAY_DATA is not set";
  for (const Problem& problem : *problems)
    for (const MessagePrecision precision : {MessagePrecision::real64, MessagePrecision::bfloat16})
      expect_same_everywhere(Driver::threads, problem, problem.W, {.max_iterations = 12, .tolerance = 1e-9}, precision);
}

// ---- However frames arrive ------------------------------------------------------------------------------------------

// A number in (0, 1) for a frame, by a seed.
double chance(const SentFrame& sent, std::uint64_t seed) {
  return random_uniform(
      {.seed = seed, .stream = Stream::test, .agent = static_cast<std::uint32_t>(100 * sent.from + sent.to)},
      static_cast<std::uint64_t>(sent.number));
}

void expect_same_under(const Simulation& simulation, const std::string& what) {
  const Problem problem = planted_problem(5, 150, 60, 3, 0.8, 7);
  const DecentralizedOptions options{.rank = 3, .max_iterations = 12, .tolerance = 1e-8};
  LocalNetwork local(problem.W);
  const auto expected = decentralized_pca(local, problem.operators(), options, {.reference = &problem.U});
  const auto run = [&](const GossipMatrix& W, const std::function<void(Links&)>& body) {
    return run_on_simulated_links(W, simulation, body);
  };
  SCOPED_TRACE(what);
  for (const auto& result : results_on(run, problem, options, MessagePrecision::real64)) expect_same(result, expected);
}

TEST(LinkNetwork, GivesTheSameBitsWhateverDelaysAndCopiesThereAre) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    expect_same_under({.deliver = [&](const SentFrame& sent) -> Delivery { return {.after = {chance(sent, seed)}}; }},
                      "delays");
    expect_same_under(
        {.deliver = [&](const SentFrame& sent) -> Delivery {
          return {.after = {0.01, 0.01 + chance(sent, seed), 0.5 + chance(sent, seed)}, .in_order = false};
        }},
        "copies");
  }
}

TEST(LinkNetwork, GivesTheSameBitsThoughLinksBreakAndComeBack) {
  for (const std::uint64_t seed : {1, 2, 3, 4})
    expect_same_under({.deliver = [&](const SentFrame& sent) -> Delivery {
                        const double luck = chance(sent, seed);
                        return {.after = {0.01 * luck}, .breaks_link = luck < 0.03, .heals_after = 3};
                      }},
                      "broken links");
}

}  // namespace
}  // namespace hearsay
