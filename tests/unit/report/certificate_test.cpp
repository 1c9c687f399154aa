#include "reports/certificate.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <limits>

namespace hearsay::app {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void expect_said(const std::string& text, const std::string& words) {
  EXPECT_PRED_FORMAT2(testing::IsSubstring, words, text);
}

void expect_not_said(const std::string& text, const std::string& words) {
  EXPECT_PRED_FORMAT2(testing::IsNotSubstring, words, text);
}

// Of the first ten eigenvectors, with all that a certificate can say.
PowerResult<double> certified() {
  PowerResult<double> power;
  power.status = Status::converged;
  power.iterations = 24;
  power.residual = 5e-11;
  power.eigenvalues = Vector<double>::LinSpaced(10, 2, 1);
  power.certificate = {.level = Certify::full,
                       .residual = 1e-10,
                       .rounding = 1e-14,
                       .sin_theta_bound = 3.1e-9,
                       .sin_theta_estimate = 8e-10,
                       .sin_theta = Knowledge::bound,
                       .nothing_missed = Knowledge::bound,
                       .nothing_missed_above = 0.1043,
                       .nothing_missed_count = 10,
                       .nothing_missed_probability = 1e-6,
                       .random_columns = 4,
                       .probe_passes = 3,
                       .probe_products = 12,
                       .cluster = {},
                       .assumptions = {"products are exact"}};
  return power;
}

PowerResult<double> ambiguous() {
  PowerResult<double> power = certified();
  power.status = Status::ambiguous;
  power.certificate.sin_theta = Knowledge::unknown;
  power.certificate.sin_theta_bound = infinity;
  power.certificate.sin_theta_estimate = std::nan("");
  power.certificate.cluster =
      Cluster{.first = 4, .last = 13, .spread = 1e-3, .sin_theta = 2e-6, .kind = Knowledge::bound};
  return power;
}

std::string summary_of(PowerResult<double> power, std::optional<double> accuracy = {}) {
  Job job;
  job.input = "matrix.npy";
  job.solve.power = {.rank = 10, .tolerance = 1e-10, .accuracy = accuracy};
  const Solution<double> outcome{.power = std::move(power), .audit = {}};
  return summary({.job = job, .dimension = 100, .outcome = outcome});
}

TEST(CertificateText, KeepsTheBoundApartFromTheEstimate) {
  const std::string text = certificate_text(certified(), 10);

  expect_said(text, "sin(theta) is at most 3.1e-09 (bound), about 8e-10 (estimate)\n");
  expect_said(text, "no eigenvalue above 0.1043 lies outside, except with probability 1e-06 (bound)\n");
  expect_said(text, "given        products are exact\n");
}

TEST(CertificateText, CallsAnEstimateNothingMore) {
  PowerResult<double> power = certified();
  power.certificate.sin_theta = power.certificate.nothing_missed = Knowledge::estimate;

  const std::string text = certificate_text(power, 10);

  expect_said(text, "sin(theta) is about 8e-10 (estimate)\n");
  expect_said(text, "no eigenvalue above 0.1043 lies outside (estimate)\n");
  expect_not_said(text, "bound");
  expect_not_said(text, "probability");
}

TEST(CertificateText, SaysWhatIsUnknownAndWhy) {
  for (const auto& [level, why] : {std::pair(Certify::none, "no certificate was made"),
                                   std::pair(Certify::residual, "--certify residual does not look"),
                                   std::pair(Certify::full, "no random column was there to show it")}) {
    PowerResult<double> power;
    power.certificate.level = level;

    const std::string text = certificate_text(power, 10);

    expect_said(text, "sin(theta) is unknown\n");
    expect_said(text, std::string("whether an eigenvalue was missed is unknown: ") + why);
  }
}

TEST(CertificateText, TakesTheSolversEstimateOnlyWhereNoCertificateWasMade) {
  PowerResult<double> power;
  power.sin_theta_estimate = 2e-9;
  expect_said(certificate_text(power, 10), "sin(theta) is about 2e-09 (estimate)\n");

  power.certificate.level = Certify::full;
  expect_said(certificate_text(power, 10), "sin(theta) is unknown\n");
}

TEST(CertificateText, CountsWhereMoreThanTheFirstKMayLieAbove) {
  PowerResult<double> power = certified();
  power.certificate.nothing_missed_count = 13;
  power.certificate.nothing_missed_probability = 0;

  expect_said(certificate_text(power, 10), "at most 13 eigenvalues lie above 0.1043 (bound)\n");
}

TEST(CertificateText, NamesTheClusterAndTheSpaceThatIsCertain) {
  PowerResult<double> power = ambiguous();
  expect_said(certificate_text(power, 10),
              "eigenvalues 4 to 13 agree to 0.001; the space of the first 13 is certain to 2e-06 (bound)\n");

  power.certificate.cluster->open = true;
  power.certificate.cluster->sin_theta = std::nan("");
  expect_said(certificate_text(power, 10),
              "eigenvalues 4 to 13 or more agree to 0.001; how right the space of "
              "the first 13 is, is unknown\n");
  power.certificate.cluster->spread = std::nan("");
  expect_said(certificate_text(power, 10), "eigenvalues 4 to 13 or more were not told apart; how right the space of ");
}

TEST(Summary, OfAConvergedSolveSaysWhatWasMet) {
  expect_said(summary_of(certified()), "converged in 24 iterations: the residual 5e-11 meets the tolerance 1e-10\n");
  expect_said(summary_of(certified(), 1e-8),
              "meets the tolerance 1e-10, and sin(theta), at most 3.1e-09 (bound), about 8e-10 (estimate), the "
              "accuracy 1e-08\n");
}

TEST(Summary, BlamesTheToleranceOnlyWhereItIsMissed) {
  PowerResult<double> power = certified();
  power.status = Status::rounding_floor;

  expect_said(summary_of(power, 1e-12),
              "the residual 5e-11 meets the tolerance 1e-10; sin(theta), at most "
              "3.1e-09 (bound), about 8e-10 (estimate), is not known to meet the "
              "accuracy 1e-12, and the arithmetic allows no better\n");
  power.residual = 1e-6;
  expect_said(summary_of(power, 1e-12), "the residual is 1e-06, above the tolerance 1e-10");
}

TEST(Summary, OfAnAmbiguousSolveSaysWhatKCutsThrough) {
  expect_said(summary_of(ambiguous()),
              "ambiguous after 24 iterations: eigenvalues 4 to 13 agree to 0.001, and "
              "k = 10 cuts through them\n");
}

TEST(Summary, HasAWordForEveryStatus) {
  for (const Status status :
       {Status::converged, Status::noise_floor, Status::rounding_floor, Status::ambiguous, Status::iteration_limit,
        Status::stopped_by_observer, Status::breakdown, Status::communication_failed}) {
    PowerResult<double> power = certified();
    power.status = status;
    expect_not_said(summary_of(power), "matrix.npy: \n");
  }
}

TEST(CertificateJson, HasEveryField) {
  const Json json = certificate_json(ambiguous().certificate);

  EXPECT_EQ(json["level"], "full");
  EXPECT_EQ(json["residual"], 1e-10);
  EXPECT_EQ(json["rounding"], 1e-14);
  EXPECT_EQ(json["sin_theta"], Json({{"word", "unknown"}, {"bound", nullptr}, {"estimate", nullptr}}));
  EXPECT_EQ(json["nothing_missed"], Json({{"word", "bound"},
                                          {"above", 0.1043},
                                          {"count", 10},
                                          {"below", nullptr},
                                          {"count_below", 0},
                                          {"probability", 1e-6},
                                          {"random_columns", 4},
                                          {"probe_passes", 3},
                                          {"probe_products", 12}}));
  EXPECT_EQ(json["cluster"], Json({{"first", 4},
                                   {"last", 13},
                                   {"open", false},
                                   {"low", false},
                                   {"spread", 1e-3},
                                   {"sin_theta", 2e-6},
                                   {"word", "bound"}}));
  EXPECT_EQ(json["assumptions"], Json::array({"products are exact"}));
  EXPECT_EQ(certificate_json({})["cluster"], nullptr);
}

TEST(InArithmetic, CarriesEveryFactOver) {
  PowerResult<float> single;
  static_cast<PowerFacts&>(single) = certified();
  single.method = SolveMethod::krylov;
  single.basis = Block<float>::Identity(3, 2);
  single.eigenvalues = Vector<float>::LinSpaced(2, 2, 1);
  single.block = Block<float>::Identity(3, 3);
  single.notes = {"noticed"};

  const PowerResult<double> made = in_arithmetic<double>(single);

  EXPECT_EQ(made.method, SolveMethod::krylov);
  EXPECT_EQ(made.certificate.sin_theta_bound, 3.1e-9);
  EXPECT_EQ(made.certificate.assumptions, single.certificate.assumptions);
  EXPECT_EQ(made.basis, single.basis.cast<double>());
  EXPECT_EQ(made.eigenvalues, single.eigenvalues.cast<double>());
  EXPECT_EQ(made.block, single.block.cast<double>());
  EXPECT_EQ(made.notes, single.notes);
}

}  // namespace
}  // namespace hearsay::app
