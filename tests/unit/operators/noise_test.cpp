#include "hearsay/noise.hpp"

#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/linalg.hpp>
#include <hearsay/operators/stored.hpp>

#include <cmath>

#include "support/planted.hpp"
#include "support/random_block.hpp"
#include "support/reference.hpp"

namespace hearsay {
namespace {

Block<double> draw(const NoiseModel<double>& model, std::uint64_t product, const Block<double>& X) {
  Block<double> Xi(X.rows(), X.cols());
  model.fill(product, X, Xi);
  return Xi;
}

TEST(GaussianNoise, HasTheStatedStandardDeviation) {
  const Block<double> Xi = draw(gaussian_noise<double>(0.01, 1), 0, Block<double>::Zero(5000, 4));

  EXPECT_NEAR(std::sqrt(Xi.array().square().mean()) / 0.01, 1.0, 5 / std::sqrt(2 * 20000.0));
}

TEST(SphereNoise, HasExactlyTheStatedSpectralNorm) {
  const Block<double> Xi = draw(sphere_noise<double>(0.3, 2), 5, Block<double>::Zero(80, 6));

  EXPECT_NEAR(spectral_norm<double>(Xi), 0.3, 1e-14);
}

TEST(AdversarialNoise, PushesEveryColumnAgainstEveryEigenvectorWithTheStatedNorm) {
  const auto planted = test::planted_spectrum({5, 4, 3, 2, 1, 0.5, 0.2}, 3);
  const Block<double> Xi = draw(adversarial_noise<double>(planted.U, 0.2, 4), 1, Block<double>::Zero(7, 3));

  EXPECT_NEAR(spectral_norm<double>(Xi), 0.2, 1e-14);
  EXPECT_LE((planted.U.transpose() * Xi).maxCoeff(), 0.0);
}

TEST(TightNoise, IsTheColumnTheProofsUse) {
  const Block<double> U = Block<double>::Identity(6, 2), X = random_orthonormal<double>(6, 2, {.seed = 5});
  const Vector<double> v_next = Vector<double>::Unit(6, 2);

  const Block<double> outside = draw(tight_outside_noise<double>(v_next, 2, 0.5), 3, X);
  const Block<double> inside = draw(tight_inside_noise<double>(U, 2.0, 1.5), 0, X);

  EXPECT_EQ(outside.col(0).norm(), 0.0);
  EXPECT_EQ(outside.col(1), Vector<double>(0.5 * v_next));
  const double cosine = test::reference_singular_values(U.transpose() * X).minCoeff();
  EXPECT_NEAR(inside(1, 1), -0.5 * cosine, 1e-15);
  EXPECT_NEAR(inside.norm(), 0.5 * cosine, 1e-15);
}

TEST(NoiseModels, RefuseALevelThatIsNotANumberOrNegative) {
  EXPECT_THROW(static_cast<void>(gaussian_noise<double>(-1e-3, 0)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(sphere_noise<double>(std::nan(""), 0)), InvalidArgument);
}

TEST(NoisyOperator, AddsTheNoiseItReports) {
  const auto planted = test::planted_spectrum({3, 2, 1, 0.5}, 6);
  const DenseSymmetric<double> exact(planted.A);
  const auto op = noisy(exact, gaussian_noise<double>(0.1, 7));
  const Block<double> X = test::random_block(4, 2, 8);
  Block<double> Y(4, 2), Y_exact(4, 2);

  op.apply(X, Y);
  exact.apply(X, Y_exact);

  EXPECT_LE((Y - Y_exact - op.last_noise()).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_GT(op.last_noise().norm(), 0.0);
}

TEST(NoisyOperator, DrawsAnewForEveryProductAndRepeatsAfterSeek) {
  const auto planted = test::planted_spectrum({3, 2, 1, 0.5}, 6);
  const DenseSymmetric<double> exact(planted.A);
  const auto op = noisy(exact, gaussian_noise<double>(0.1, 7));
  const Block<double> X = test::random_block(4, 2, 8);
  Block<double> first(4, 2), second(4, 2), again(4, 2);

  op.apply(X, first);
  op.apply(X, second);
  op.seek(1);
  op.apply(X, again);

  EXPECT_NE(first, second);
  EXPECT_EQ(second, again);
  EXPECT_EQ(op.position(), 2u);
}

}  // namespace
}  // namespace hearsay
