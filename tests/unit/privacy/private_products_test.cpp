// Noise that is drawn as it is asked for: it has the law of the matrix that is released at once, it answers the same
// question twice in the same way, and a row moves what is told by no more than the noise is made for.
#include <gtest/gtest.h>
#include <hearsay/angles.hpp>
#include <hearsay/linalg.hpp>
#include <hearsay/memory.hpp>
#include <hearsay/private_pca.hpp>
#include <hearsay/private_products.hpp>
#include <hearsay/random.hpp>

#include <cmath>
#include <vector>

#include "support/expect_error.hpp"
#include "support/random_block.hpp"
#include "support/rows.hpp"

namespace hearsay {
namespace {

using test::VectorOfRows;

PrivacySettings asking(double epsilon, double row_norm) { return {.budget = {epsilon, 1e-6}, .row_norm = row_norm}; }

Block<double> identity(Index d) { return Block<double>::Identity(d, d); }

// In three readings, of directions that the first ones choose.
Block<double> whole(LazyPrivateCovariance& A, std::uint64_t seed = 9) {
  const Index d = A.dim();
  A.ask(random_orthonormal<double>(d, std::max<Index>(1, d / 3), {.seed = seed, .stream = Stream::test}));
  A.ask(A.leading(std::max<Index>(1, d / 3)).residual);
  Block<double> matrix(d, d);
  A.apply(identity(d), matrix);
  return matrix;
}

Block<double> asked_whole(const Block<double>& data, const PrivacySettings& settings, std::uint64_t seed = 1) {
  VectorOfRows rows(data);
  LazyPrivateCovariance A(rows, settings, insecure_words(seed));
  return whole(A);
}

CsrMatrix<double> sparse(const Block<double>& dense) {
  CsrMatrix<double> A{.rows = dense.rows(), .cols = dense.cols()};
  for (Index i = 0; i < dense.rows(); ++i) {
    for (Index j = 0; j < dense.cols(); ++j)
      if (dense(i, j) != 0) A.columns.push_back(static_cast<std::int32_t>(j)), A.values.push_back(dense(i, j));
    A.row_start.push_back(static_cast<std::int64_t>(A.columns.size()));
  }
  return A;
}

TEST(PrivateProducts, AreWithTheSumOfOuterProductsAndNoise) {
  Block<double> data = test::random_block(3000, 7, 1);
  const PrivacySettings settings = asking(100, 2.5);
  const Block<double> found = asked_whole(data, settings);
  for (Index i = 0; i < data.rows(); ++i) data.row(i) *= std::min(1.0, 2.5 / data.row(i).norm());
  const Block<double> expected = data.transpose() * data;
  const double sigma = plan_products(settings, 7).sigma;
  EXPECT_LE((found - expected).norm(), 2.5 * sigma * std::sqrt(28.0));
  EXPECT_LE((found - found.transpose()).norm(), 1e-9 * found.norm());
}

TEST(PrivateProducts, HaveTheLawOfTheOrthogonalEnsemble) {
  constexpr Index d = 30;
  constexpr int draws = 40;
  const ReleasePlan plan = plan_products(asking(1, 3), d);
  EXPECT_NEAR(plan.sigma, 9 / plan.mu, 2e-3 * plan.sigma);
  EXPECT_GE(plan.sigma, (1 + 0x1p-11) * 9 / plan.mu);
  double diagonal = 0, beside = 0, largest = 0, along = 0;
  for (std::uint64_t seed = 0; seed < draws; ++seed) {
    VectorOfRows none(Block<double>::Zero(0, d));
    LazyPrivateCovariance A(none, asking(1, 3), insecure_words(seed));
    const Block<double> E = whole(A, seed);
    diagonal += E.diagonal().squaredNorm() / (d * draws);
    beside += (E.squaredNorm() - E.diagonal().squaredNorm()) / (d * (d - 1.0) * draws);
    const Vector<double> turned = Vector<double>::Ones(d) / std::sqrt(static_cast<double>(d));
    along += std::pow(turned.dot(E * turned), 2) / draws;  // the same along every unit vector
    largest = std::max(largest, spectral_norm<double>(E));
  }
  EXPECT_NEAR(std::sqrt(diagonal) / plan.sigma, 1.0, 5 / std::sqrt(2.0 * d * draws));
  EXPECT_NEAR(std::sqrt(2 * beside) / plan.sigma, 1.0, 5 / std::sqrt(1.0 * d * (d - 1) * draws));
  EXPECT_NEAR(std::sqrt(along) / plan.sigma, 1.0, 4 / std::sqrt(2.0 * draws));
  EXPECT_NEAR(largest / (plan.sigma * std::sqrt(2.0 * d)), 1.0, 0.2);
}

// All directions are asked for, so that what a row moves is all of C: the noise is made for it, but for 2^-10. The
// noise is the same, for what is asked does not depend on what was told.
TEST(PrivateProducts, MoveByNoMoreThanTheNoiseIsMadeFor) {
  for (const Neighbours neighbours : {Neighbours::add_remove, Neighbours::replace}) {
    PrivacySettings settings = asking(1, 1);
    settings.neighbours = neighbours;
    const ReleasePlan plan = plan_products(settings, 5);
    const auto told = [&](const Block<double>& data, std::uint64_t seed) {
      VectorOfRows rows(data);
      LazyPrivateCovariance A(rows, settings, insecure_words(3));
      for (Index j = 0; j < 5; ++j)
        A.ask(random_orthonormal<double>(5, 5, {.seed = seed, .stream = Stream::test}).middleCols(j, 1));
      Block<double> matrix(5, 5);
      A.apply(identity(5), matrix);
      return matrix;
    };
    double most = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      const Block<double> data = 1e3 * test::random_block(9, 5, seed);  // every row is clipped
      Block<double> other = data;
      if (neighbours == Neighbours::replace)
        other.row(4) = 1e3 * test::random_block(1, 5, 1000 + seed);
      else
        other = Block<double>(data.topRows(8));
      most = std::max(most, (told(data, seed) - told(other, seed)).norm());
    }
    EXPECT_LE(most / plan.sigma, plan.matrix_mu);
    EXPECT_GE(most / plan.sigma, 0.95 * plan.matrix_mu);
  }
}

TEST(PrivateProducts, ReadNothingTwiceAndAnswerAlike) {
  VectorOfRows rows(test::random_block(200, 12, 2));
  LazyPrivateCovariance A(rows, asking(1, 3), insecure_words(4));
  const Block<double> X = test::random_block(12, 4, 5), Z = test::random_block(12, 3, 6);
  Block<double> Y(12, 4), again(12, 4), W(12, 3), both(12, 4);
  A.apply(X, Y);
  EXPECT_EQ(A.asked(), 4);
  A.apply(Z, W);
  EXPECT_EQ(A.asked(), 7);
  const int passes = rows.passes;
  A.apply(X, again);
  both.setZero();
  A.apply(Block<double>(2 * X.leftCols(3) - Z), both.leftCols(3));
  EXPECT_EQ(rows.passes, passes);
  EXPECT_EQ(A.asked(), 7);
  const double size = Y.norm();
  EXPECT_LE((again - Y).norm(), 1e-11 * size);
  EXPECT_LE((both.leftCols(3) - 2 * Y.leftCols(3) + W).norm(), 1e-11 * size);
  EXPECT_LE((X.transpose() * W - Y.transpose() * Z).norm(), 1e-10 * size);  // symmetric
}

TEST(PrivateProducts, OfSparseRowsAreThoseOfTheSameRows) {
  Block<double> data = test::random_block(300, 9, 3);
  data = (data.array().abs() < 1).select(0.0, data);
  const CsrMatrix<double> rows = sparse(data);
  const PrivacySettings settings = asking(1, 2);
  VectorOfRows dense(data);
  // The stream draws its check of the rows first, so that its noise is another: what both are told without noise.
  const auto difference = [&](auto&& some, auto&& none) {
    LazyPrivateCovariance A(some, settings, insecure_words(1)), N(none, settings, insecure_words(1));
    Block<double> of_some(9, 9), of_none(9, 9);
    A.apply(identity(9), of_some);
    N.apply(identity(9), of_none);
    return Block<double>(of_some - of_none);
  };
  VectorOfRows nothing(Block<double>::Zero(0, 9));
  const CsrMatrix<double> no_rows = sparse(Block<double>::Zero(0, 9));
  const Block<double> streamed = difference(dense, nothing), kept = difference(borrow(rows), borrow(no_rows));
  EXPECT_LE((streamed - kept).norm(), 1e-9 * kept.norm());
  CsrMatrix<double> doubled = rows;  // an entry in two halves
  doubled.values[0] /= 2;
  doubled.values.insert(doubled.values.begin(), doubled.values[0]);
  doubled.columns.insert(doubled.columns.begin(), doubled.columns[0]);
  for (std::size_t i = 1; i < doubled.row_start.size(); ++i) ++doubled.row_start[i];
  EXPECT_LE((difference(borrow(doubled), borrow(no_rows)) - kept).norm(), 1e-12 * kept.norm());
}

TEST(PrivateProducts, ServeTheSolversAsAnyMatrixDoes) {
  Block<double> data = test::random_block(4000, 20, 7);
  for (Index j = 0; j < 20; ++j) data.col(j) /= static_cast<double>(j + 1);
  VectorOfRows rows(data);
  const PrivacySettings settings = asking(1, 2);
  LazyPrivateCovariance A(rows, settings, insecure_words(2));
  Request request;
  request.settings.power.rank = 3;
  const Solution<double> solved = solve<double>(OperatorRef<double>(A), request);
  EXPECT_EQ(solved.power.status, Status::converged);
  EXPECT_LE(sin_theta<double>(solved.power.basis, A.leading(3).basis), 1e-7);
}

TEST(PrivateProducts, FindWhatTheStoredReleaseFinds) {
  Block<double> data = test::random_block(20000, 60, 8);
  for (Index j = 0; j < 60; ++j) data.col(j) /= static_cast<double>(j + 1);
  Request request;
  request.settings.power.rank = 3;
  PrivacySettings settings = asking(1, 1.3);
  std::vector<double> sines[2], bars[2];
  for (int i = 0; i < 2; ++i) {
    settings.form = i == 0 ? ReleaseForm::stored : ReleaseForm::lazy;
    for (std::uint64_t seed = 1; seed <= 15; ++seed) {
      VectorOfRows rows(data);
      const PrivatePcaSolution found = solve_private_pca(rows, request, settings, insecure_words(seed));
      EXPECT_EQ(found.form, settings.form);
      EXPECT_EQ(found.solution.power.status, Status::converged);
      sines[i].push_back(sin_theta<double>(identity(60).leftCols(3), found.solution.power.basis));
      bars[i].push_back(found.accuracy.sin_theta / sines[i].back());
      if (i == 0) continue;
      EXPECT_LT(found.directions.cols(), 60);
      EXPECT_EQ(found.release.cols(), found.directions.cols());
      EXPECT_TRUE(std::isnan(found.accuracy.explained));
    }
    std::sort(sines[i].begin(), sines[i].end());
    std::sort(bars[i].begin(), bars[i].end());
    EXPECT_GT(bars[i][7], 0.5);
    EXPECT_LT(bars[i][7], 2.0);
  }
  EXPECT_NEAR(sines[1][7] / sines[0][7], 1.0, 0.25);
}

TEST(PrivateProducts, AreChosenByWhatIsPublic) {
  PrivacySettings settings = asking(1, 1);
  set_memory_limit(100'000'000);
  EXPECT_EQ(form_for(settings, 1000), ReleaseForm::stored);
  EXPECT_EQ(form_for(settings, 2000), ReleaseForm::lazy);
  settings.form = ReleaseForm::stored;
  EXPECT_EQ(form_for(settings, 2000), ReleaseForm::stored);
  set_memory_limit(0);
}

// Whoever makes another file of the rows while they are read learns nothing of the second reading.
class ChangingRows final : public VectorOfRows {
 public:
  using VectorOfRows::VectorOfRows;
  Index read(BlockView<double> out) override {
    const Index count = VectorOfRows::read(out);
    if (passes > 1 && count > 7) out(7, 1) += 1;
    return count;
  }
};

TEST(PrivateProducts, RefuseRowsThatAreNotThoseOfTheFirstReading) {
  ChangingRows rows(test::random_block(50, 6, 3));
  LazyPrivateCovariance A(rows, asking(1, 3), insecure_words(1));
  A.ask(identity(6).leftCols(2));
  test::expect_error<DataError>([&] { A.ask(identity(6).middleCols(2, 2)); }, {"not those of the first reading"});
  EXPECT_EQ(A.asked(), 2);
}

TEST(PrivateProducts, RefuseWhatTheyCannotPromise) {
  Block<double> data = test::random_block(20, 3, 8);
  data(13, 1) = HUGE_VAL;
  const CsrMatrix<double> rows = sparse(data);
  test::expect_error<DataError>([&] { LazyPrivateCovariance(borrow(rows), asking(1, 1), insecure_words(1)); },
                                {"not finite"});
  test::expect_error<DataError>([&] { asked_whole(data, asking(1, 1)); }, {"not finite"});
  test::expect_error<InvalidArgument>([] { (void)plan_products(asking(1, 1), 100'001); }, {"features = 100001"});
  test::expect_error<InvalidArgument>([] { (void)plan_products(asking(1e-4, 1), 9); }, {"too small"});
}

TEST(PrivateProducts, ReleaseAMeanForItsShare) {
  Block<double> data = 0.1 * test::random_block(4000, 5, 6);
  data.col(2).array() += 0.5;
  PrivacySettings settings = asking(4, 1);
  settings.center = PrivateCenter::dp_mean;
  settings.public_rows = 4000;
  VectorOfRows rows(data);
  LazyPrivateCovariance A(rows, settings, insecure_words(3));
  EXPECT_NEAR(A.mean()(2), 0.5, 0.02);
  EXPECT_LE(std::abs(whole(A)(2, 2) - 40), 6 * A.plan().sigma);
  EXPECT_NEAR(std::hypot(A.plan().matrix_mu, A.plan().mean_mu), A.plan().mu, 1e-10 * A.plan().mu);
}

// ---- Noise of its own for every product

TEST(FreshProducts, HaveTheNoiseThatThreeOfThemMayShare) {
  const PrivacySettings settings = asking(1, 3);
  const ReleasePlan plan = plan_fresh(settings, 50);
  EXPECT_NEAR(plan.sigma, std::sqrt(3.0) * 9 / plan.mu, 2e-3 * plan.sigma);
  EXPECT_GE(plan.sigma, std::sqrt(3.0) * 9 / plan.mu);
  VectorOfRows none(Block<double>::Zero(0, 50));
  FreshPrivateProducts A(none, settings, insecure_words(1));
  double squares = 0;
  for (int i = 0; i < fresh_products; ++i) squares += A.product(identity(50)).squaredNorm() / (2500.0 * fresh_products);
  EXPECT_NEAR(std::sqrt(squares) / plan.sigma, 1.0, 5 / std::sqrt(2 * 7500.0));
  test::expect_error<InvalidArgument>([&] { (void)A.product(identity(50)); }, {"are spent"});
}

TEST(FreshProducts, MoveByNoMoreThanTheirNoiseIsMadeFor) {
  for (const Neighbours neighbours : {Neighbours::add_remove, Neighbours::replace}) {
    PrivacySettings settings = asking(1, 1);
    settings.neighbours = neighbours;
    const ReleasePlan plan = plan_fresh(settings, 5);
    const auto told = [&](const Block<double>& data) {
      VectorOfRows rows(data);
      return FreshPrivateProducts(rows, settings, insecure_words(3)).product(identity(5));
    };
    double most = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      const Block<double> data = 1e3 * test::random_block(9, 5, seed);
      Block<double> other = data;
      if (neighbours == Neighbours::replace)
        other.row(4) = 1e3 * test::random_block(1, 5, 1000 + seed);
      else
        other = Block<double>(data.topRows(8));
      most = std::max(most, (told(data) - told(other)).norm());
    }
    EXPECT_LE(std::sqrt(3.0) * most / plan.sigma, plan.matrix_mu);
    EXPECT_GE(std::sqrt(3.0) * most / plan.sigma, 0.95 * plan.matrix_mu);
  }
}

TEST(FreshProducts, RefuseColumnsThatWouldAskForMore) {
  VectorOfRows rows(test::random_block(9, 5, 1));
  FreshPrivateProducts A(rows, asking(1, 1), insecure_words(3));
  test::expect_error<InvalidArgument>([&] { (void)A.product(1.001 * identity(5)); }, {"orthonormal"});
  test::expect_error<InvalidArgument>([&] { (void)A.product(Block<double>::Ones(5, 2)); }, {"orthonormal"});
  EXPECT_EQ(A.left(), fresh_products);
}

TEST(FreshProducts, FindComponentsAndSayHowWell) {
  Block<double> data = test::random_block(20000, 60, 8);
  for (Index j = 0; j < 60; ++j) data.col(j) /= static_cast<double>(j + 1);
  Request request;
  request.settings.power.rank = 3;
  PrivacySettings settings = asking(2, 1.3);
  settings.form = ReleaseForm::fresh;
  std::vector<double> bars;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    VectorOfRows rows(data);
    const PrivatePcaSolution found = solve_private_pca(rows, request, settings, insecure_words(seed));
    EXPECT_EQ(rows.passes, fresh_products);
    const double sine = sin_theta<double>(identity(60).leftCols(3), found.solution.power.basis);
    EXPECT_LT(sine, 0.5);
    bars.push_back(found.accuracy.sin_theta / sine);
  }
  std::sort(bars.begin(), bars.end());
  EXPECT_GT(bars[7], 0.5);
  EXPECT_LT(bars[7], 2.0);
}

}  // namespace
}  // namespace hearsay
