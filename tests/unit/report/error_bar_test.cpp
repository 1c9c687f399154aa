#include "reports/error_bar.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/certificate.hpp"

namespace hearsay::app {
namespace {

void expect_words(const std::string& text, const std::string& words) {
  EXPECT_PRED_FORMAT2(testing::IsSubstring, words, text);
}

// Of three eigenvectors, from averages that look independent.
PowerResult<double> averaged() {
  PowerResult<double> power;
  power.status = Status::noise_floor;
  power.method = SolveMethod::averaged;
  power.iterations = 74;
  power.residual = 3e-3;
  power.columns = 4;
  power.eigenvalues = Vector<double>::LinSpaced(3, 3, 1);
  power.bar = {.kind = BarKind::calibrated,
               .sin_theta = 1.2e-4,
               .inside = 1e-4,
               .outside = 6.6e-5,
               .last_block = 5e-4,
               .bias = 0.9,
               .steps = 66,
               .vectors = Vector<double>::Constant(3, 2e-4),
               .eigenvalues = Vector<double>::Constant(3, 1e-5),
               .resolved = 3};
  return power;
}

std::string summary_with(PowerResult<double> power, std::optional<double> accuracy = {}) {
  Job job;
  job.input = "matrix.npy";
  job.solve.power = {.rank = 3, .tolerance = accuracy.value_or(1e-10), .accuracy = accuracy};
  const Solution<double> outcome{.power = std::move(power), .audit = {}};
  return summary({.job = job, .dimension = 100, .outcome = outcome});
}

TEST(BarText, SaysTheFactorAndHowOftenItHolds) {
  EXPECT_EQ(error_bar_text(averaged().bar),
            fmt::format("0.00012, within a factor 3 with {:g}% confidence", bar_confidence));
}

TEST(BarText, IsIndicativeWhereErrorsAreNotIndependent) {
  ErrorBar bar = averaged().bar;
  bar.kind = BarKind::indicative;
  EXPECT_EQ(error_bar_text(bar), "about 0.00012, indicative: the errors are not independent");

  bar.drift = true;
  EXPECT_EQ(error_bar_text(bar), "about 0.00012, indicative: the averages drift");
}

TEST(BarText, IsABoundByTheNormGivenOrNothing) {
  ErrorBar bar = averaged().bar;
  bar.kind = BarKind::bound;
  EXPECT_EQ(error_bar_text(bar), "at most 0.00012, by the noise norm given");

  bar.sin_theta = 1;
  EXPECT_EQ(error_bar_text(bar), "unknown: the noise norm given is no less than half the gap");
}

TEST(BarText, SaysWhatIsNotKnown) {
  EXPECT_EQ(error_bar_text(ErrorBar{}), "unknown: too few products were averaged");

  ErrorBar bar = averaged().bar;
  bar.sin_theta = 0.7;
  EXPECT_EQ(error_bar_text(bar), "not resolved: the error bar is 0.7");
}

TEST(BarText, StandsWhereTheCertificateSpokeOfTheSine) {
  PowerResult<double> power = averaged();
  power.certificate = {.level = Certify::full, .sin_theta_estimate = 1.2e-4, .sin_theta = Knowledge::estimate};

  const std::string text = certificate_text(power, 3);

  expect_words(text, "sin(theta) is 0.00012, within a factor 3 with ");
  expect_words(text, "66 products with 4 columns were averaged; 3 of 3 eigenvectors are resolved one by one\n");
}

TEST(SummaryOfAverages, SaysTheBarAndNotTheResidual) {
  const std::string text = summary_with(averaged());

  expect_words(text, "reached the noise floor after 74 iterations, 66 of them averaged: sin(theta) is 0.00012, within");
  expect_words(text, "     1               3      1e-05\n");  // an eigenvalue with its standard error
  EXPECT_PRED_FORMAT2(testing::IsNotSubstring, "above the tolerance", text);
}

TEST(SummaryOfAverages, HoldsTheBarAgainstTheAccuracy) {
  PowerResult<double> power = averaged();
  expect_words(summary_with(power, 1e-5), "% confidence; it does not meet the accuracy 1e-05\n");

  power.status = Status::converged;
  const std::string met = summary_with(power, 2e-4);
  expect_words(met, "converged in 74 iterations: sin(theta) is 0.00012, within");
  expect_words(met, "% confidence; it meets the accuracy 0.0002\n");
}

TEST(ErrorBarJson, HasEveryFieldAndNullWhereThereIsNone) {
  EXPECT_TRUE(error_bar_json(PowerResult<double>{}).is_null());

  const Json json = error_bar_json(averaged());
  EXPECT_EQ(json["kind"], "calibrated");
  EXPECT_EQ(json["sin_theta"], 1.2e-4);
  EXPECT_EQ(json["confidence"], bar_confidence);
  EXPECT_TRUE(json["products_needed"].is_null());
  EXPECT_EQ(json["vectors"].size(), 3u);

  PowerResult<double> power = averaged();
  power.bar = {.steps = 5};
  const Json none = error_bar_json(power);
  EXPECT_EQ(none["kind"], "none");
  EXPECT_TRUE(none["sin_theta"].is_null() && none["confidence"].is_null());
  EXPECT_EQ(none["steps"], 5);
}

}  // namespace
}  // namespace hearsay::app
