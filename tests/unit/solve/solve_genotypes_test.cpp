#include "hearsay/solve_genotypes.hpp"

#include <gtest/gtest.h>
#include <hearsay/angles.hpp>
#include <hearsay/error.hpp>

#include <cmath>

#include "support/expect_error.hpp"
#include "support/genotypes.hpp"

namespace hearsay {
namespace {

using test::expect_error;
using test::Genotypes;
using test::random_genotypes;
using test::standardized;

// Three populations whose frequencies differ, so that two components stand out.
Genotypes three_populations(Index samples, Index snps, double missing, unsigned seed) {
  Genotypes made = random_genotypes(samples, snps, 0, seed);
  std::mt19937_64 random(seed + 1);
  const auto uniform = [&random] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (Index j = 0; j < snps; ++j) {
    const double p[3] = {0.1 + 0.8 * uniform(), 0.1 + 0.8 * uniform(), 0.1 + 0.8 * uniform()};
    for (Index i = 0; i < samples; ++i) {
      made.calls(i, j) = (uniform() < p[i % 3] ? 1 : 0) + (uniform() < p[i % 3] ? 1 : 0);
      if (uniform() < missing) made.calls(i, j) = -1;
    }
  }
  made.pack();
  return made;
}

Request genotypes_asking_for(Index rank) {
  Request request;
  request.settings.power.rank = rank;
  return request;
}

PcaSolution<double> solved(const Genotypes& made, const Request& request) {
  return solve_pca(made.view(), count_calls(made.view()), request);
}

TEST(SolveGenotypes, FindsTheComponentsOfTheStandardizedMatrix) {
  for (const auto& [n, snps] : {std::pair<Index, Index>{60, 400}, {401, 90}, {77, 78}}) {
    const Genotypes made = three_populations(n, snps, 0.03, 3);
    const Block<double> Z = standardized(made.calls);
    const auto dense = pca<double>(Z, {.power = {.rank = 2}, .center = false});

    const PcaResult<double> found = solved(made, genotypes_asking_for(2)).pca;

    EXPECT_EQ(found.power.status, Status::converged);
    EXPECT_LE(sin_theta<double>(dense.power.basis, found.power.basis), 1e-8);
    const double ratio = static_cast<double>(n) / static_cast<double>(n - 1);  // of the divisors
    EXPECT_LE((found.power.eigenvalues - ratio * dense.power.eigenvalues).norm(), 1e-10 * dense.power.eigenvalues(0));
    EXPECT_LE((found.singular_values - dense.singular_values).norm(), 1e-10 * dense.singular_values(0));
    EXPECT_NEAR(found.total_variance, ratio * dense.total_variance, 1e-10 * dense.total_variance);
    EXPECT_EQ(found.samples, n);
    EXPECT_EQ(found.missing.entries, (made.calls.array() < 0).count());
    EXPECT_LE(found.power.certificate.sin_theta_estimate, 1e-8);
    EXPECT_EQ(found.by_samples, n < snps);
  }
}

TEST(SolveGenotypes, SaysTheSameInEveryPrecision) {
  const Genotypes made = three_populations(60, 300, 0.05, 4);
  const PcaResult<double> full = solved(made, genotypes_asking_for(2)).pca;
  for (const auto& [precision, tolerance] : {std::pair{Precision::single, 1e-3}, {Precision::mixed, 1e-8}}) {
    Request request = genotypes_asking_for(2);
    request.settings.precision = precision;

    const PcaResult<double> found = solved(made, request).pca;

    EXPECT_EQ(found.power.status, Status::converged);
    EXPECT_LE(sin_theta<double>(full.power.basis, found.power.basis), tolerance);
    EXPECT_LE((full.power.eigenvalues - found.power.eigenvalues).norm(), tolerance * full.power.eigenvalues(0));
  }
}

TEST(SolveGenotypes, TakesAStartAReferenceAndNoise) {
  const Genotypes made = three_populations(50, 120, 0, 5);
  const PcaResult<double> exact = solved(made, genotypes_asking_for(2)).pca;
  Request request = genotypes_asking_for(2);
  request.start = exact.power.basis;
  request.reference = exact.power.basis;

  const PcaResult<double> again = solved(made, request).pca;
  set_option(request.settings, "noise", "gaussian:1e-3");
  const PcaResult<double> noisy = solved(made, request).pca;

  EXPECT_LE(sin_theta<double>(exact.power.basis, again.power.basis), 1e-8);
  EXPECT_LE(sin_theta<double>(exact.power.basis, noisy.power.basis), 0.1);
  EXPECT_GT(sin_theta<double>(exact.power.basis, noisy.power.basis), 1e-8);
}

TEST(SolveGenotypes, StandsWhereSomebodyHasNoCallAtAll) {
  Genotypes made = three_populations(40, 60, 0, 6);
  made.calls.col(5).setConstant(0);
  made.calls.row(11).setConstant(-1);
  made.pack();
  const GenotypeCounts counts = count_calls(made.view());

  const PcaResult<double> found = solve_pca(made.view(), counts, genotypes_asking_for(2)).pca;
  Block<double> scores(40, 2);
  GenotypeCovariance<double>(made.view(), counts).scores(found.power.basis, scores);

  EXPECT_EQ(found.missing.empty_rows, 1);
  EXPECT_LE(scores.row(11).norm(), 1e-12);
  EXPECT_EQ(found.constant, std::vector<Index>{5});
  EXPECT_EQ(found.power.basis.row(5).norm(), 0);
  EXPECT_LE((scores - standardized(made.calls) * found.power.basis).norm(), 1e-10);
}

TEST(SolveGenotypes, TakesOneSnpAndTwoPeople) {
  const Genotypes one_snp = three_populations(9, 1, 0, 7), two_people = three_populations(2, 30, 0, 8);

  const PcaResult<double> snp = solved(one_snp, genotypes_asking_for(1)).pca;
  const PcaResult<double> people = solved(two_people, genotypes_asking_for(1)).pca;

  EXPECT_NEAR(std::abs(snp.power.basis(0, 0)), 1, 1e-14);
  EXPECT_NEAR(snp.power.eigenvalues(0), standardized(one_snp.calls).squaredNorm() / 8, 1e-12);
  EXPECT_NEAR(people.power.eigenvalues(0), standardized(two_people.calls).squaredNorm(), 1e-10);
}

TEST(SolveGenotypes, IsRefusedWhereNothingVaries) {
  Genotypes made = random_genotypes(6, 2, 0, 9);
  made.calls.setConstant(2);
  made.pack();

  expect_error<DataError>([&] { (void)solved(made, genotypes_asking_for(1)); }, {"none of its 2 SNPs varies"});
}

TEST(SolveGenotypes, RefusesARankThatIsNone) {
  const Genotypes made = random_genotypes(6, 20, 0, 10);

  expect_error<InvalidArgument>([&] { (void)solved(made, genotypes_asking_for(7)); }, {"rank = 7", "[1, 6]"});
  Request share = genotypes_asking_for(1);
  set_option(share.settings, "rank", "0.9");
  expect_error<InvalidArgument>([&] { (void)solved(made, share); }, {"rank", "whole number"});
}

}  // namespace
}  // namespace hearsay
