#include "hearsay/operators/genotypes.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/threads.hpp>

#include <random>

#include "support/genotypes.hpp"
#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::Genotypes;
using test::random_block;
using test::random_genotypes;
using test::standardized;

struct Shape {
  Index samples, snps;
};
// More than one tile either way, numbers of samples that fill their last byte and that do not, one of each.
constexpr Shape shapes[] = {{1, 9}, {9, 1}, {4, 5}, {61, 23}, {23, 300}, {259, 131}, {520, 40}};

TEST(Genotypes, AreCountedCallByCall) {
  for (const auto [n, snps] : shapes) {
    const Genotypes made = random_genotypes(n, snps, 0.2, 1);

    const GenotypeCounts counts = count_calls(made.view());

    Index missing = 0, samples_missing = 0, samples_empty = 0;
    for (Index i = 0; i < n; ++i) {
      const Index here = (made.calls.row(i).array() < 0).count();
      missing += here;
      samples_missing += here > 0 ? 1 : 0;
      samples_empty += here == snps ? 1 : 0;
    }
    EXPECT_EQ(counts.missing, missing);
    EXPECT_EQ(counts.samples_missing, samples_missing);
    EXPECT_EQ(counts.samples_empty, samples_empty);
    for (Index j = 0; j < snps; ++j) {
      const CallCounts& snp = counts.of_snp[static_cast<std::size_t>(j)];
      EXPECT_EQ(snp.two, (made.calls.col(j).array() == 2).count());
      EXPECT_EQ(snp.one, (made.calls.col(j).array() == 1).count());
      EXPECT_EQ(snp.none, (made.calls.col(j).array() == 0).count());
      EXPECT_EQ(snp.called() + snp.missing, n);
    }
  }
}

template <class S>
void expect_products_of_the_dense_matrix(double tolerance) {
  for (const auto [n, snps] : shapes)
    for (const double missing : {0.0, 0.1}) {
      const Genotypes made = random_genotypes(n, snps, missing, 2);
      const GenotypeCounts counts = count_calls(made.view());
      const Block<double> Z = standardized(made.calls);
      const double divisor = std::max<double>(1, static_cast<double>(n) - 1), norm = std::max(1.0, Z.norm());
      for (const Index p : {1, 3, 16, 17, 40}) {
        const Block<S> X = random_block<S>(snps, p, 3), V = random_block<S>(n, p, 4);
        const Block<double> X64 = X.template cast<double>(), V64 = V.template cast<double>();
        const GenotypeCovariance<S> A(made.view(), counts), B(made.view(), counts, true);
        Block<S> AX(snps, p), BV(n, p), ZX(n, p), ZtV(snps, p);

        A.apply(X, AX);
        B.apply(V, BV);
        A.scores(X, ZX);
        A.to_features(V, ZtV);

        const auto apart = [](const Block<S>& made_here, const Block<double>& dense) {
          return (made_here.template cast<double>() - dense).norm();
        };
        EXPECT_LE(apart(ZX, Z * X64), tolerance * norm * X64.norm());
        EXPECT_LE(apart(ZtV, Z.transpose() * V64), tolerance * norm * V64.norm());
        EXPECT_LE(apart(AX, Z.transpose() * (Z * X64) / divisor), tolerance * norm * norm * X64.norm() / divisor);
        EXPECT_LE(apart(BV, Z * (Z.transpose() * V64) / divisor), tolerance * norm * norm * V64.norm() / divisor);
      }
    }
}

TEST(GenotypeCovariance, MultipliesAsTheStandardizedMatrix) { expect_products_of_the_dense_matrix<double>(1e-14); }
TEST(GenotypeCovariance, MultipliesInSinglePrecision) { expect_products_of_the_dense_matrix<float>(2e-6); }

TEST(GenotypeCovariance, HasTheSameBitsForAnyNumberOfThreads) {
  const Genotypes made = random_genotypes(300, 1500, 0.05, 5);
  const GenotypeCounts counts = count_calls(made.view());
  const int before = threads();
  for (const bool by_samples : {false, true}) {
    const GenotypeCovariance<double> A(made.view(), counts, by_samples);
    const Block<double> X = random_block(A.dim(), 9, 6);
    Block<double> one(A.dim(), 9), many(A.dim(), 9);

    set_threads(1);
    A.apply(X, one);
    set_threads(5);
    A.apply(X, many);

    EXPECT_EQ(one, many);
  }
  set_threads(before);
}

TEST(GenotypeCovariance, KnowsItsTraceAndItsColumns) {
  const Genotypes made = random_genotypes(61, 80, 0.1, 7);
  const GenotypeCounts counts = count_calls(made.view());

  const GenotypeCovariance<double> A(made.view(), counts);

  const Block<double> Z = standardized(made.calls);
  EXPECT_NEAR(A.total_variance(), Z.squaredNorm() / 60, 1e-12 * Z.squaredNorm());
  for (Index j = 0; j < 80; ++j) {
    double sum = 0, called = 0;
    for (Index i = 0; i < 61; ++i)
      if (made.calls(i, j) >= 0) sum += made.calls(i, j), ++called;
    EXPECT_NEAR(A.mean()(j), sum / called, 1e-14);
    EXPECT_NEAR(A.scale()(j), std::sqrt(sum / called * (1 - sum / called / 2)), 1e-14);
  }
}

TEST(GenotypeCovariance, LeavesOutWhatDoesNotVary) {
  Genotypes made = random_genotypes(13, 6, 0, 8);
  made.calls.col(1).setConstant(2);
  made.calls.col(2).setConstant(0);
  made.calls.col(3).setConstant(-1);
  made.calls.col(4).setConstant(1);  // two alleles, and yet all alike
  made.pack();

  const GenotypeCounts counts = count_calls(made.view());
  const GenotypeCovariance<double> A(made.view(), counts);
  Block<double> ZtV(6, 2);
  A.to_features(random_block(13, 2, 9), ZtV);

  EXPECT_EQ(counts.left_out, (std::vector<Index>{1, 2, 3}));
  EXPECT_EQ(counts.without_call, 1);
  EXPECT_EQ(ZtV.middleRows(1, 3).norm(), 0);
  EXPECT_LE(ZtV.row(4).norm(), 1e-14);
  EXPECT_EQ(A.scale()(1), 1);
}

TEST(GenotypeCovariance, RefusesBitsBehindTheLastSample) {
  Genotypes made = random_genotypes(5, 4, 0, 10);
  made.packed[2 * 2 + 1] |= 0x10;  // of SNP 3

  try {
    (void)count_calls(made.view());
    FAIL() << "nothing was thrown";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("genotypes: SNP 3, its byte 2"), std::string::npos) << error.what();
  }
  EXPECT_THROW((void)count_calls(GenotypeView{}), InvalidArgument);
}

TEST(GenotypeCovariance, KeepsItsDigitsWhereTheFirstAlleleIsCommon) {
  Genotypes made = random_genotypes(400, 3, 0, 11);
  made.calls.setConstant(2);
  for (Index j = 0; j < 3; ++j) made.calls(7 * j, j) = 1;  // one copy of the other
  made.pack();
  const GenotypeCounts counts = count_calls(made.view());
  const Block<double> V = Block<double>::Ones(400, 1);
  Block<double> ZtV(3, 1);

  GenotypeCovariance<double>(made.view(), counts).to_features(V, ZtV);

  EXPECT_LE(ZtV.norm(), 1e-13);  // columns are centred; 400 times the rounding of 2 - 2 p would be 2e-12
}

}  // namespace
}  // namespace hearsay
