// The five problems of the experiments over any kind of links: the bits of one process.
#pragma once

#include <gtest/gtest.h>
#include <hearsay/decentralized_on_links.hpp>
#include <hearsay/links.hpp>

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "unit/decentralized/problems.hpp"

namespace hearsay::test {

/// Runs the body once for each agent that lives here, and returns what each of them threw.
using RunOnLinks =
    std::function<std::vector<std::exception_ptr>(const GossipMatrix&, const std::function<void(Links&)>&)>;

inline std::vector<MessagePrecision> precisions_between_organisations() {
  return {MessagePrecision::real64, MessagePrecision::bfloat16};
}

inline DecentralizedResult over_links(Links& links, const Problem& problem, const DecentralizedOptions& options,
                                      MessagePrecision precision) {
  const auto A = problem.operators();
  const LinkLimits limits = link_limits(problem.W.agents(), A.front().dim(), options);
  LinkNetwork net(
      links, problem.W,
      {.precision = precision, .largest_block = limits.largest_block, .longest_words = limits.longest_words});
  DecentralizedResult result;
  net.run([&] {
    net.connect();
    result = decentralized_pca(net, std::span(A).subspan(static_cast<std::size_t>(links.self()), 1), options);
  });
  return result;
}

/// Of many agents, so many iterations are enough to differ in.
inline constexpr Index many_agents = 50, few_iterations = 15;

/// Of those problems that have `agents` agents, or of all of them.
inline void expect_the_digests_of_one_process(const RunOnLinks& run, Index agents = 0) {
  const auto problems = real_problems();
  if (!problems) GTEST_SKIP() << "HEARSAY_DATA is not set";
  for (const Problem& problem : *problems)
    for (const MessagePrecision precision : precisions_between_organisations()) {
      if (agents != 0 && problem.W.agents() != agents) continue;
      SCOPED_TRACE(problem.name + ", " + name(precision));
      DecentralizedOptions options{.rank = problem.k, .tolerance = 1e-8, .damping = problem.damping};
      if (problem.W.agents() >= many_agents) options.max_iterations = few_iterations;
      LocalNetwork local(problem.W, precision);
      const DecentralizedResult expected = decentralized_pca(local, problem.operators(), options);
      EXPECT_EQ(expected.status, problem.W.agents() >= many_agents ? Status::iteration_limit : Status::converged);

      const auto thrown = run(problem.W, [&](Links& links) {
        const DecentralizedResult result = over_links(links, problem, options, precision);
        EXPECT_EQ(result.digest, expected.digest);
        EXPECT_EQ(result.iterations, expected.iterations);
        EXPECT_EQ(result.traffic, expected.traffic);
      });

      for (const auto& one : thrown) {
        if (!one) continue;
        try {
          std::rethrow_exception(one);
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
        }
      }
    }
}

}  // namespace hearsay::test
