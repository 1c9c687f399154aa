// Every kind of fault on real data, every agent held against the dense solution. They need the data: $HEARSAY_DATA.
#include <gtest/gtest.h>

#include "runs.hpp"

namespace hearsay {
namespace {

using test::crash;
using test::delay;
using test::drop;
using test::loss;
using test::Problem;
using test::rejoin;
using test::run;
using test::worst_sine;

class RealData : public testing::TestWithParam<std::size_t> {
 protected:
  static void SetUpTestSuite() { problems_ = test::real_problems(); }
  void SetUp() override {
    if (!problems_)
      GTEST_SKIP() << "HEARSAY_DATA is not set; `hearsay datasets fetch` gets the data, `hearsay datasets path` says "
                      "where";
  }

  // Tracked methods, 1e-10 at every agent whose data are in the answer.
  static void expect_exact(const Faults& faults) {
    const Problem& problem = (*problems_)[GetParam()];
    for (const Algorithm algorithm : test::tracked_algorithms) {
      const auto result = run(problem, faults, {.algorithm = algorithm, .max_iterations = 1500, .tolerance = 1e-13});
      EXPECT_LE(worst_sine(problem, result), 1e-10) << problem.name << ' ' << name(algorithm);
    }
  }

  static inline std::optional<std::vector<Problem>> problems_;
};

TEST_P(RealData, BearsDroppedLinks) { expect_exact({.links = {drop(0.3)}, .seed = 1}); }
TEST_P(RealData, BearsOneSidedLosses) { expect_exact({.links = {loss(0.2)}, .seed = 1}); }
TEST_P(RealData, BearsDelays) { expect_exact({.links = {delay(0.2, 1), delay(0.1, 5)}, .seed = 1}); }
TEST_P(RealData, BearsACrash) { expect_exact({.agents = {crash(1, 12)}}); }
TEST_P(RealData, BearsARejoin) { expect_exact({.agents = {crash(1, 12), rejoin(1, 30)}}); }

// heart, digits even and digits by label, k = 9
INSTANTIATE_TEST_SUITE_P(Problems, RealData, testing::Values(0, 1, 2));

}  // namespace
}  // namespace hearsay
