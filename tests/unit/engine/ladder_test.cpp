// Solves by ladder: what is asked for, what is said, and that it is so.
#include <hearsay/error.hpp>
#include <hearsay/ladder.hpp>

#include <cmath>

#include "engines.hpp"
#include "support/planted.hpp"

namespace hearsay {
namespace {

using test::planted_spectrum;
using test::reference_sin_theta;

std::vector<double> inverse(Index d) {
  std::vector<double> values;
  for (Index i = 0; i < d; ++i) values.push_back(1 / static_cast<double>(i + 1));
  return values;
}
std::vector<double> falling(Index d, double over) {
  std::vector<double> values;
  for (Index i = 0; i < d; ++i) values.push_back(std::exp(-static_cast<double>(i) / over));
  return values;
}

// A word is an upper bound where it is one, and an estimate may be exceeded by a factor of two.
void expect_true(const LadderResult& result, const Block<double>& U, double accuracy, const std::string& what) {
  const double sine = reference_sin_theta(U, result.basis), estimate = result.certificate.sin_theta_estimate;
  if (result.status == Status::converged) {
    EXPECT_LE(sine, accuracy) << what;
  }
  if (result.certificate.sin_theta_bound < 1) {
    EXPECT_LE(sine, result.certificate.sin_theta_bound) << what;
  }
  if (result.status == Status::converged && std::isfinite(estimate)) {
    EXPECT_LE(sine, 2 * estimate) << what;
  }
}

template <class Where>
class Ladder : public test::OnEngines<Where> {};
TYPED_TEST_SUITE(Ladder, test::Engines);

TYPED_TEST(Ladder, ReachesWhatIsAskedFor) {
  const Index d = 400, k = 8;
  for (const auto& values : {inverse(d), falling(d, 20)}) {
    const auto problem = planted_spectrum(values, 3);
    const auto engine = TypeParam::dense(problem.A, true);
    for (const double accuracy : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
      const LadderResult result = climb(*engine, {.rank = k, .accuracy = accuracy});
      EXPECT_EQ(result.status, Status::converged) << accuracy;
      expect_true(result, problem.top(k), accuracy, std::to_string(accuracy));
      EXPECT_EQ(result.certificate.sin_theta, Knowledge::bound) << accuracy;
      for (Index i = 0; i < k; ++i) EXPECT_NEAR(result.eigenvalues(i), problem.eigenvalues(i), 1e-3 * accuracy + 1e-6);
      ASSERT_GE(result.rungs.size(), 2u);
      EXPECT_EQ(result.rungs.front().rung, Rung::fp16) << "the cheapest first";
      EXPECT_EQ(result.rungs.back().in_double, accuracy < 5e-6 || result.rungs.size() == 3u);
      Index passes = result.certificate.probe_passes;
      for (const RungReport& rung : result.rungs) passes += rung.passes;
      EXPECT_EQ(result.passes, passes);
    }
  }
}

TYPED_TEST(Ladder, SaysWhereARungsFloorIs) {
  const auto problem = planted_spectrum(inverse(300), 4);
  const auto engine = TypeParam::dense(problem.A, true);
  for (const auto precision :
       {ProductPrecision::fp16, ProductPrecision::tf32, ProductPrecision::single, ProductPrecision::full}) {
    const LadderResult result =
        climb(*engine, {.precision = precision, .rank = 6, .accuracy = 1e-9, .certify = Certify::residual});
    const bool reaches = precision == ProductPrecision::full;
    EXPECT_EQ(result.status, reaches ? Status::converged : Status::rounding_floor) << name(precision);
    EXPECT_EQ(result.rungs.back().at_floor, !reaches) << name(precision);
    EXPECT_LE(reference_sin_theta(problem.top(6), result.basis), result.certificate.sin_theta_estimate)
        << name(precision);
    for (const RungReport& rung : result.rungs) EXPECT_STREQ(name(rung.rung), name(precision));
  }
}

TYPED_TEST(Ladder, IsRightForManySeeds) {
  const auto problem = planted_spectrum(inverse(260), 5);
  const auto engine = TypeParam::dense(problem.A, true);
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const double accuracy : {1e-2, 1e-4, 2e-5}) {
      const LadderResult result =
          climb(*engine, {.rank = 5, .accuracy = accuracy, .seed = seed, .certify = Certify::residual});
      EXPECT_EQ(result.status, Status::converged);
      expect_true(result, problem.top(5), accuracy, std::to_string(seed));
    }
}

TYPED_TEST(Ladder, SaysWhenThereIsNoGap) {
  std::vector<double> values(200, 0.1);
  for (std::size_t i = 0; i < 12; ++i) values[i] = 1;
  const auto problem = planted_spectrum(values, 6);
  const auto engine = TypeParam::dense(problem.A, true);
  const LadderResult inside = climb(*engine, {.rank = 6, .accuracy = 1e-3});
  EXPECT_EQ(inside.status, Status::ambiguous);
  ASSERT_TRUE(inside.certificate.cluster);
  const LadderResult at_its_end = climb(*engine, {.rank = 12, .accuracy = 1e-3});
  EXPECT_EQ(at_its_end.status, Status::converged);
  expect_true(at_its_end, problem.top(12), 1e-3, "at its end");
}

TYPED_TEST(Ladder, FindsMatricesOfAnyScaleAndRank) {
  for (const double scale : {1e-30, 1e-3, 1e30}) {
    std::vector<double> values(150, 0.0);
    for (std::size_t i = 0; i < 9; ++i) values[i] = scale * std::pow(0.6, static_cast<double>(i));
    const auto problem = planted_spectrum(values, 7);
    const auto engine = TypeParam::dense(problem.A);
    const LadderResult result = climb(*engine, {.rank = 4, .accuracy = 1e-3});
    EXPECT_EQ(result.status, Status::converged) << scale;
    expect_true(result, problem.top(4), 1e-3, std::to_string(scale));
    EXPECT_NEAR(result.eigenvalues(0) / scale, 1, 1e-4);
  }
}

TYPED_TEST(Ladder, RefusesWhatItCannotSolve) {
  const auto problem = planted_spectrum({3, 2, 1, 0.5, 0.2, -1, -1.5, -2.5, 0.1, 0.1, 0.1, 0.1, 0, 0, 0, 0}, 8);
  const auto engine = TypeParam::dense(problem.A);
  EXPECT_THROW((void)climb(*engine, {.rank = 2}), DataError);
  EXPECT_THROW((void)climb(*engine, {.rank = 16}), InvalidArgument);
  EXPECT_THROW((void)climb(*engine, {.rank = 2, .accuracy = 0}), InvalidArgument);
  EXPECT_THROW((void)product_precision("fp4"), InvalidArgument);
  Block<double> broken = planted_spectrum(inverse(60), 9).A;
  broken(3, 5) = broken(5, 3) = std::nan("");
  const auto with_a_hole = TypeParam::dense(broken);
  EXPECT_THROW((void)climb(*with_a_hole, {.rank = 2}), DataError);
}

}  // namespace
}  // namespace hearsay
