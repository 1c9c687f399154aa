#include <gtest/gtest.h>

#include <cmath>
#include <hearsay/audit.hpp>
#include <hearsay/error.hpp>
#include <hearsay/theory.hpp>
#include <limits>

#include "dense_anpm.hpp"
#include "support/reference.hpp"

namespace hearsay::theory {
namespace {

using test::Dense;

constexpr Index d = 30, k = 3;

Dense first_axes() { return Dense::Identity(d, k); }

Dense decaying_matrix(double lambda_next) {
  Eigen::VectorXd eigenvalues = Eigen::VectorXd::LinSpaced(d, 2.0, 0.0);
  eigenvalues.head(k) << 2.0, 1.3, 1.0;
  eigenvalues.tail(d - k) = Eigen::VectorXd::LinSpaced(d - k, lambda_next, 0.0);
  return eigenvalues.asDiagonal();
}

double norm(const Dense& M) { return test::reference_singular_values(M)(0); }

// A random direction, scaled so that both parts meet their bounds exactly.
Dense noise_at_the_bounds(const Dense& X, double gap, double epsilon, std::mt19937_64& generator) {
  const double cos_theta = test::reference_singular_values(X.topRows(k))(k - 1);
  Dense Xi = test::gaussian_block(d, k, generator);
  Xi.topRows(k) *= noise_constant * gap * cos_theta / norm(Xi.topRows(k));
  Xi.bottomRows(d - k) *= noise_constant * gap * epsilon / norm(Xi.bottomRows(d - k));
  return Xi;
}

struct Setting {
  double lambda_next = 0.95;
  double beta = 0.0;
  double shift = 0.0;
  double epsilon = 1e-2;
};

AuditReport audited_run(const Setting& setting, std::int64_t steps, std::uint64_t seed, const test::Noise& noise) {
  std::mt19937_64 generator(seed);
  const Dense X_0 = test::positive_qr(test::gaussian_block(d, k, generator)).Q;
  Audit audit(first_axes(), 1.0, setting.lambda_next, setting.epsilon);
  test::dense_anpm(decaying_matrix(setting.lambda_next) - setting.shift * Dense::Identity(d, d), X_0, setting.beta,
                   steps, noise, [&](std::int64_t t, const Dense& X, const Dense& Xi) {
                     audit.check(t, Block<double>(X), Block<double>(Xi), 1.0 - setting.shift,
                                 2 * std::sqrt(setting.beta));
                   });
  return audit.report();
}

void expect_the_sine_below_epsilon_from(double T, const Setting& setting, const AuditReport& report) {
  EXPECT_FALSE(report.first_violation.has_value());
  EXPECT_LT(T, static_cast<double>(report.steps.size()));
  for (const AuditStep& step : report.steps)
    if (static_cast<double>(step.iteration) >= T) {
      EXPECT_LE(step.sin_theta, setting.epsilon);
    }
}

class AuditOfManyRuns : public testing::TestWithParam<std::uint64_t> {};

TEST_P(AuditOfManyRuns, FindsTheMainTheoremKept) {
  const Setting setting{.beta = optimal_beta(0.95)};
  std::mt19937_64 generator(1000 + GetParam());
  const auto report = audited_run(setting, 200, GetParam(), [&](std::int64_t, const Dense& X) {
    return noise_at_the_bounds(X, 0.05, setting.epsilon, generator);
  });

  const double T = iterations_anpm(1.0, setting.beta, {.epsilon = setting.epsilon, .h0 = report.h0});
  expect_the_sine_below_epsilon_from(T, setting, report);
  EXPECT_EQ(report.steps.front().regime, Regime::main);
}

TEST_P(AuditOfManyRuns, FindsTheMainTheoremKeptUnderCentredDamping) {
  const Damped seen = damped(1.0, 0.95, Damping::centred);
  const Setting setting{.beta = seen.beta, .shift = seen.shift};
  std::mt19937_64 generator(2000 + GetParam());
  const auto report = audited_run(setting, 200, GetParam(), [&](std::int64_t, const Dense& X) {
    return noise_at_the_bounds(X, 0.05, setting.epsilon, generator);
  });

  const double T = iterations_anpm(seen.lambda_k, seen.beta, {.epsilon = setting.epsilon, .h0 = report.h0});
  expect_the_sine_below_epsilon_from(T, setting, report);
  EXPECT_EQ(report.steps.front().regime, Regime::main);
}

TEST_P(AuditOfManyRuns, FindsTheSmallBetaTheoremKept) {
  const Setting setting{.beta = 0.15};
  std::mt19937_64 generator(3000 + GetParam());
  const auto report = audited_run(setting, 400, GetParam(), [&](std::int64_t, const Dense& X) {
    return noise_at_the_bounds(X, 0.05, setting.epsilon, generator);
  });

  const double T = iterations_small_beta(1.0, 0.95, setting.beta, {.epsilon = setting.epsilon, .h0 = report.h0});
  expect_the_sine_below_epsilon_from(T, setting, report);
  EXPECT_EQ(report.steps.front().regime, Regime::small_beta);
}

TEST_P(AuditOfManyRuns, FindsTheGuaranteeWithoutMomentumKept) {
  const Setting setting{};
  std::mt19937_64 generator(4000 + GetParam());
  const auto report = audited_run(setting, 400, GetParam(), [&](std::int64_t, const Dense& X) {
    return noise_at_the_bounds(X, 0.05, setting.epsilon, generator);
  });

  const double T = iterations_npm(1.0, 0.95, {.epsilon = setting.epsilon, .h0 = report.h0});
  expect_the_sine_below_epsilon_from(T, setting, report);
  EXPECT_EQ(report.steps.front().regime, Regime::npm);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AuditOfManyRuns, testing::Range<std::uint64_t>(0, 20));

// The start of the two tight examples: [v_1..v_{k-1}, cos(th) v_k + sin(th) v_{k+1}], th = arctan(2 epsilon).
Dense tight_start(double epsilon) {
  Dense X = first_axes();
  X(k - 1, k - 1) = std::cos(std::atan(2 * epsilon));
  X(k, k - 1) = std::sin(std::atan(2 * epsilon));
  return X;
}

struct TightRun {
  AuditReport report;
  double least_tangent = std::numeric_limits<double>::infinity();
};

TightRun tight_run(double lambda_k, double beta, double epsilon, const test::Noise& noise) {
  Audit audit(first_axes(), lambda_k, 2 * std::sqrt(beta), epsilon);
  TightRun run;
  test::dense_anpm(test::lower_bound_matrix(d, k, lambda_k, beta), tight_start(epsilon), beta, 300, noise,
                   [&](std::int64_t t, const Dense& X, const Dense& Xi) {
                     const auto step =
                         audit.check(t, Block<double>(X), Block<double>(Xi), lambda_k, 2 * std::sqrt(beta));
                     run.least_tangent = std::min(run.least_tangent, step.tan_theta);
                   });
  run.report = audit.report();
  return run;
}

TEST(Audit, SeesTheFirstTightExampleStayAboveEpsilon) {
  const double lambda_k = 1.0, beta = 0.2, epsilon = 1e-2, gap = lambda_k - 2 * std::sqrt(beta);
  const TightRun run = tight_run(lambda_k, beta, epsilon, [&](std::int64_t, const Dense&) {
    Dense Xi = Dense::Zero(d, k);
    Xi(k, k - 1) = 8 * gap * epsilon;
    return Xi;
  });

  EXPECT_GT(run.least_tangent, epsilon);
  ASSERT_TRUE(run.report.first_violation.has_value());
  EXPECT_EQ(run.report.first_violation->condition, Condition::noise_outside);
  EXPECT_EQ(run.report.first_violation->iteration, 0);
  EXPECT_NEAR(run.report.first_violation->value / run.report.first_violation->bound, 8 * 32, 1e-9);
}

TEST(Audit, SeesTheSecondTightExampleFrozen) {
  const double lambda_k = 1.0, beta = 0.2, epsilon = 1e-2, gap = lambda_k - 2 * std::sqrt(beta);
  const TightRun run = tight_run(lambda_k, beta, epsilon, [&](std::int64_t t, const Dense& X) {
    Dense Xi = Dense::Zero(d, k);
    Xi(k - 1, k - 1) = -(t == 0 ? 0.5 : 1.0) * gap * X(k - 1, k - 1);
    return Xi;
  });

  EXPECT_NEAR(run.least_tangent, 2 * epsilon, 1e-9);
  ASSERT_TRUE(run.report.first_violation.has_value());
  EXPECT_EQ(run.report.first_violation->condition, Condition::noise_inside);
}

TEST(Audit, SaysWhenTheEnvelopeFellAfterTheNoiseDid) {
  const Setting setting{.beta = optimal_beta(0.95)};
  const auto report = audited_run(setting, 200, 5, [&](std::int64_t t, const Dense& X) -> Dense {
    if (t < 20) return test::no_noise(t, X);
    Dense Xi = Dense::Zero(d, k);
    Xi(k, k - 1) = 0.5;
    return Xi;
  });

  ASSERT_TRUE(report.first_noise_violation.has_value());
  EXPECT_EQ(report.first_noise_violation->iteration, 20);
  EXPECT_EQ(report.first_violation->condition, Condition::noise_outside);
  ASSERT_TRUE(report.first_envelope_violation.has_value());
  EXPECT_GT(report.first_envelope_violation->iteration, 20);
  EXPECT_TRUE(report.envelope_promise_was_void);
}

TEST(Audit, FindsNothingWrongWithoutNoiseThoughThePrintedEnvelopeIsExceeded) {
  const double beta = optimal_beta(0.99);
  std::mt19937_64 generator(8);
  const Dense X_0 = test::positive_qr(test::gaussian_block(d, k, generator)).Q;
  Audit audit(first_axes(), 1.0, 0.99, 1e-3);
  test::dense_anpm(test::lower_bound_matrix(d, k, 1.0, beta), X_0, beta, 120, test::no_noise,
                   [&](std::int64_t t, const Dense& X, const Dense& Xi) {
                     audit.check(t, Block<double>(X), Block<double>(Xi), 1.0, 0.99);
                   });

  EXPECT_FALSE(audit.report().first_violation.has_value());
  EXPECT_GT(audit.report().steps_above_printed_envelope, 0);
}

TEST(Audit, ReportsASingularStartAndGoesOn) {
  Audit audit(first_axes(), 1.0, 0.9, 1e-2);
  Block<double> X = Block<double>::Zero(d, k);
  for (Index j = 0; j < k; ++j) X(k + j, j) = 1.0;  // orthogonal to the answer

  const AuditStep step = audit.check(0, X, Block<double>::Zero(d, k), 1.0, 0.9);
  audit.check(1, X, Block<double>::Zero(d, k), 1.0, 0.9);

  EXPECT_TRUE(std::isinf(step.tan_theta));
  EXPECT_EQ(audit.report().first_violation->condition, Condition::start);
  EXPECT_FALSE(audit.report().first_envelope_violation.has_value());
}

TEST(Audit, ReportsMomentumThatNoTheoremCovers) {
  Audit audit(first_axes(), 1.0, 0.9, 1e-2);

  const AuditStep step = audit.check(0, Block<double>(first_axes()), Block<double>::Zero(d, k), 1.0, 1.1);

  EXPECT_EQ(step.regime, Regime::none);
  EXPECT_EQ(audit.report().first_violation->condition, Condition::momentum);
  EXPECT_EQ(audit.report().first_violation->value, 1.1);
}

TEST(Audit, CountsNoiseThatIsNotANumberAsAViolation) {
  Audit audit(first_axes(), 1.0, 0.9, 1e-2);
  Block<double> Xi = Block<double>::Zero(d, k);
  Xi(4, 1) = std::numeric_limits<double>::quiet_NaN();

  audit.check(0, Block<double>(first_axes()), Xi, 1.0, 0.9);

  EXPECT_EQ(audit.report().first_violation->condition, Condition::noise_outside);
}

TEST(Audit, NotesThatTheMomentumVaried) {
  Audit audit(first_axes(), 1.0, 0.9, 1e-2);
  const Block<double> X = first_axes(), Xi = Block<double>::Zero(d, k);

  audit.check(0, X, Xi, 1.0, 0.5);
  EXPECT_FALSE(audit.report().momentum_varied);
  audit.check(1, X, Xi, 1.0, 0.6);
  EXPECT_TRUE(audit.report().momentum_varied);
}

TEST(Audit, SaysThatATheoremCoversARunOnlyWhileEverythingIsRight) {
  const Block<double> X = first_axes(), none = Block<double>::Zero(d, k);
  Block<double> loud = none;
  loud(k, 0) = 1;

  Audit constant(first_axes(), 1.0, 0.9, 1e-2), varied = constant, noisy = constant;
  for (Audit* audit : {&constant, &varied, &noisy}) audit->check(0, X, none, 1.0, 0.9);
  EXPECT_TRUE(varied.report().covered_by_a_theorem);
  constant.check(1, X, none, 1.0, 0.9);
  varied.check(1, X, none, 1.0, 0.95);
  noisy.check(1, X, loud, 1.0, 0.9);

  EXPECT_TRUE(constant.report().covered_by_a_theorem);
  EXPECT_FALSE(varied.report().covered_by_a_theorem) << "though no condition was broken";
  EXPECT_FALSE(varied.report().first_violation.has_value());
  EXPECT_FALSE(noisy.report().covered_by_a_theorem);
}

TEST(Audit, RefusesAWrongShapeAStepOutOfOrderAndACrookedBasis) {
  Audit audit(first_axes(), 1.0, 0.9, 1e-2);
  const Block<double> X = first_axes(), Xi = Block<double>::Zero(d, k);

  EXPECT_THROW(audit.check(1, X, Xi, 1.0, 0.9), InvalidArgument);
  EXPECT_THROW(audit.check(0, X.leftCols(2), Xi, 1.0, 0.9), InvalidArgument);
  EXPECT_THROW(audit.check(0, X, Xi, std::numeric_limits<double>::quiet_NaN(), 0.9), InvalidArgument);
  EXPECT_THROW(Audit(2 * first_axes(), 1.0, 0.9, 1e-2), InvalidArgument);
  EXPECT_THROW(Audit(first_axes(), 0.9, 1.0, 1e-2), InvalidArgument);
}

}  // namespace
}  // namespace hearsay::theory
