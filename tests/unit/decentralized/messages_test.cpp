// Messages of fewer bits: what they cost in accuracy, and what the result says of it.
#include <gtest/gtest.h>
#include <hearsay/angles.hpp>

#include "problems.hpp"

namespace hearsay {
namespace {

using test::planted_problem;
using test::Problem;

DecentralizedResult run_with_messages(const Problem& problem, MessagePrecision precision,
                                      DecentralizedOptions options) {
  LocalNetwork net(problem.W, precision);
  options.rank = problem.k;
  return decentralized_pca(net, problem.operators(), options);
}

double worst_sine_of(const Problem& problem, const DecentralizedResult& result) {
  double worst = 0;
  for (const auto& basis : result.bases) worst = std::max(worst, sin_theta<double>(problem.U, basis));
  return worst;
}

TEST(RoundedMessages, LeaveTrackedMethodsExact) {
  const Problem problem = planted_problem(6, 300, 20, 4, 0.8, 1);

  for (const Algorithm algorithm : {Algorithm::deepca, Algorithm::adeepca})
    for (const MessagePrecision precision : {MessagePrecision::real32, MessagePrecision::bfloat16}) {
      const auto result = run_with_messages(problem, precision, {.algorithm = algorithm, .tolerance = 1e-11});

      EXPECT_EQ(result.status, Status::converged) << name(algorithm) << ' ' << name(precision);
      EXPECT_LE(worst_sine_of(problem, result), 1e-9) << name(algorithm) << ' ' << name(precision);
      EXPECT_LE(result.message_noise.last, 1e-11);
      EXPECT_GT(result.message_noise.largest, 0);
      EXPECT_LE(result.message_noise.largest, 2 * unit_roundoff(precision));
    }
}

TEST(RoundedMessages, LeaveTheFloorOfUntrackedMethodsWhereItIs) {
  const Problem problem = planted_problem(6, 300, 20, 4, 0.8, 2);

  for (const Algorithm algorithm : {Algorithm::depm, Algorithm::adepm}) {
    const DecentralizedOptions options{.algorithm = algorithm, .rounds = 6, .max_iterations = 150, .tolerance = 0};
    const auto exact = run_with_messages(problem, MessagePrecision::real64, options);
    const auto result = run_with_messages(problem, MessagePrecision::bfloat16, options);

    EXPECT_GT(worst_sine_of(problem, exact), 1e-6);
    EXPECT_LE(worst_sine_of(problem, result), 2 * worst_sine_of(problem, exact)) << name(algorithm);
    EXPECT_GT(result.message_noise.last, 0);
    EXPECT_GE(result.disagreement, result.message_noise.last);
  }
}

TEST(RoundedMessages, ConvergeOnRealDataInHalfAndAQuarterOfTheBytes) {
  const auto problems = test::real_problems();
  if (!problems) GTEST_SKIP() << "HEARSAY_DATA is not set";

  for (const Problem& problem : *problems) {
    const auto exact = run_with_messages(problem, MessagePrecision::real64, {.damping = problem.damping});
    for (const MessagePrecision precision : {MessagePrecision::real32, MessagePrecision::bfloat16}) {
      const auto result = run_with_messages(problem, precision, {.damping = problem.damping});
      EXPECT_EQ(result.status, Status::converged) << problem.name << ' ' << name(precision);
      EXPECT_LE(worst_sine_of(problem, result), 1e-7) << problem.name << ' ' << name(precision);
      // 1.04 to 1.15 times as many over six starts of digits; the last bits of a start move a coarsely rounded run.
      EXPECT_LE(static_cast<double>(result.traffic.rounds), 1.25 * static_cast<double>(exact.traffic.rounds))
          << problem.name << ' ' << name(precision);
      // Votes stay doubles, which shows where blocks are small: heart's are 13 x 3.
      const double blocks = static_cast<double>(bytes_per_number(precision)) / 8;
      EXPECT_LE(static_cast<double>(result.traffic.bytes), (blocks + 0.15) * static_cast<double>(exact.traffic.bytes))
          << problem.name << ' ' << name(precision);
    }
  }
}

}  // namespace
}  // namespace hearsay
