#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/operators/covariance.hpp>
#include <hearsay/operators/minibatch.hpp>
#include <hearsay/random.hpp>
#include <hearsay/solve.hpp>
#include <hearsay/threads.hpp>

#include <cmath>
#include <functional>
#include <limits>

#include "support/reference.hpp"

namespace hearsay {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Block<double> normal(Index rows, Index cols, std::uint64_t seed) {
  Block<double> block(rows, cols);
  fill_normal<double>({.seed = seed}, block);
  return block;
}

Block<double> some_data(Index m, Index d, std::uint64_t seed) {
  Block<double> data = normal(m, d, seed);
  for (Index j = 0; j < d; ++j) data.col(j) = (data.col(j).array() * std::pow(10.0, j % 5 - 2) + 1000).matrix();
  return data;
}

std::vector<double> some_weights(Index m, std::uint64_t seed) {
  const Block<double> numbers = normal(m, 1, seed);
  std::vector<double> weights;
  for (Index i = 0; i < m; ++i) weights.push_back(i % 7 == 3 ? 0.0 : std::abs(numbers(i, 0)) + 0.1);
  return weights;
}

Block<double> with_holes(Block<double> data) {
  for (Index i = 0; i < data.rows(); ++i)
    for (Index j = 0; j < data.cols(); ++j)
      if ((i * 31 + j * 17) % 11 == 0 && i != j) data(i, j) = nan;
  return data;
}

CsrMatrix<double> stored(const Block<double>& data) {
  CsrMatrix<double> sparse{.rows = data.rows(), .cols = data.cols()};
  for (Index i = 0; i < data.rows(); ++i) {
    for (Index j = 0; j < data.cols(); ++j) {
      if (data(i, j) == 0) continue;
      sparse.columns.push_back(static_cast<std::int32_t>(j));
      sparse.values.push_back(data(i, j));
    }
    sparse.row_start.push_back(sparse.nonzeros());
  }
  return sparse;
}

// What the options stand for, written out: filled in, weighted, centred, scaled.
Eigen::MatrixXd covariance_by_hand(const Block<double>& data, const CovarianceOptions& options) {
  const Index m = data.rows(), d = data.cols();
  Eigen::VectorXd w = Eigen::VectorXd::Ones(m);
  if (!options.weights.empty()) w = Eigen::Map<const Eigen::VectorXd>(options.weights.data(), m);
  Eigen::MatrixXd filled = data;
  for (Index j = 0; j < d; ++j) {
    double sum = 0, weight = 0;
    for (Index i = 0; i < m; ++i)
      if (!std::isnan(data(i, j))) sum += w(i) * data(i, j), weight += w(i);
    for (Index i = 0; i < m; ++i)
      if (std::isnan(data(i, j))) filled(i, j) = sum / weight;
  }
  const Eigen::RowVectorXd mean = w.transpose() * filled / w.sum();
  const Eigen::MatrixXd centred = filled.rowwise() - mean;
  Eigen::MatrixXd B = options.center ? centred : filled;
  if (options.standardize)
    for (Index j = 0; j < d; ++j) {
      const double deviation = std::sqrt((w.array() * centred.col(j).array().square()).sum() / (w.sum() - 1));
      B.col(j) *= deviation > 1e-9 ? 1 / deviation : 0.0;
    }
  return B.transpose() * w.asDiagonal() * B / (options.center ? w.sum() - 1 : w.sum());
}

template <class Covariance>
void expect_products(const Covariance& A, const Eigen::MatrixXd& by_hand, const char* what) {
  for (const Index p : {1, 7, 16}) {
    const Block<double> X = normal(A.dim(), p, 9);
    Block<double> Y(A.dim(), p);
    A.apply(X, Y);
    EXPECT_LE((Y - by_hand * X).norm(), 1e-10 * by_hand.norm() * X.norm()) << what << ", " << p << " columns";
  }
}

std::vector<CovarianceOptions> all_options(const std::vector<double>& weights) {
  std::vector<CovarianceOptions> list;
  for (const bool center : {true, false})
    for (const bool standardize : {true, false})
      for (const bool missing : {true, false})
        for (const bool weighted : {true, false})
          list.push_back({.center = center,
                          .standardize = standardize,
                          .missing_as_mean = missing,
                          .weights = weighted ? std::span<const double>(weights) : std::span<const double>()});
  return list;
}

TEST(TreatedCovariance, IsThatOfTheMatrixWrittenOut) {
  const Block<double> whole = some_data(150, 12, 1), holes = with_holes(whole);
  const auto weights = some_weights(150, 2);
  for (CovarianceOptions options : all_options(weights)) {
    const Block<double>& data = options.missing_as_mean ? holes : whole;
    const Eigen::MatrixXd by_hand = covariance_by_hand(data, options);
    const CsrMatrix<double> sparse = stored(data);
    const DenseCovariance<double> formed(data, options);
    expect_products(formed, by_hand, "formed");
    EXPECT_NEAR(formed.total_variance(), by_hand.trace(), 1e-9 * by_hand.trace());
    options.gram_bytes_limit = 0;
    expect_products(DenseCovariance<double>(data, options), by_hand, "by rows");
    const SparseCovariance<double> of_sparse(borrow(sparse), options);
    expect_products(of_sparse, by_hand, "sparse");
    EXPECT_NEAR(of_sparse.total_variance(), by_hand.trace(), 1e-9 * by_hand.trace());
  }
}

TEST(TreatedCovariance, OfASparseMatrixKnowsItsZeros) {
  Block<double> data = some_data(90, 10, 3);
  for (Index i = 0; i < 90; ++i)
    for (Index j = 0; j < 9; ++j)
      if ((i + 2 * j) % 3 != 0) data(i, j) = 0;
  const CsrMatrix<double> sparse = stored(data);
  const auto weights = some_weights(90, 2);
  for (const CovarianceOptions& options : all_options(weights))
    expect_products(SparseCovariance<double>(borrow(sparse), options), covariance_by_hand(data, options), "sparse");
}

TEST(TreatedCovariance, FromTheSamplesSideHasTheSameEigenvalues) {
  const Block<double> data = with_holes(some_data(12, 40, 5));
  const auto weights = some_weights(12, 1);
  CovarianceOptions options{.standardize = true, .missing_as_mean = true, .weights = weights};
  const Vector<double> values =
      test::reference_eigenvalues<double>(Small<double>(covariance_by_hand(data, options))).tail(10);
  options.by_samples = true;
  for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{1} << 30}) {
    options.gram_bytes_limit = limit;
    const DenseCovariance<double> A(data, options);
    const Block<double> identity = Block<double>::Identity(12, 12);
    Block<double> matrix(12, 12);
    A.apply(identity, matrix);
    const Vector<double> found = test::reference_eigenvalues<double>(Small<double>(matrix)).tail(10);
    EXPECT_LE((found - values).norm(), 1e-10 * values.norm());
  }
}

TEST(TreatedCovariance, DoesNotDependOnThreads) {
  const Block<double> data = with_holes(some_data(700, 30, 7));
  const auto weights = some_weights(700, 3);
  const CovarianceOptions options{.standardize = true, .missing_as_mean = true, .weights = weights};
  const Block<double> X = normal(30, 5, 1);
  const auto product = [&](int count) {
    const int before = threads();
    set_threads(count);
    Block<double> Y(30, 5);
    DenseCovariance<double>(data, options).apply(X, Y);
    set_threads(before);
    return Y;
  };
  EXPECT_EQ(product(1), product(2));
}

TEST(TreatedCovariance, OfBatchesIsThatOfAllRowsInTheMean) {
  const Block<double> data = with_holes(some_data(120, 9, 8));
  const CsrMatrix<double> sparse = stored(data);
  const auto weights = some_weights(120, 4);
  const CovarianceOptions options{.standardize = true, .missing_as_mean = true, .weights = weights};
  const MinibatchOptions parts{.batch = 30, .standardize = true, .missing_as_mean = true, .weights = weights};
  const Eigen::MatrixXd by_hand = covariance_by_hand(data, options);
  const Block<double> X = normal(9, 4, 2);
  const auto mean_product = [&](const auto& A) {
    Block<double> sum = Block<double>::Zero(9, 4), Y(9, 4);
    for (int pass = 0; pass < 4; ++pass) {
      A.apply(X, Y);
      sum += Y / 4;
    }
    return sum;
  };
  EXPECT_LE((mean_product(MinibatchCovariance<double>(data, parts)) - by_hand * X).norm(), 1e-10 * by_hand.norm());
  EXPECT_LE((mean_product(SparseMinibatchCovariance<double>(sparse, parts)) - by_hand * X).norm(),
            1e-10 * by_hand.norm());
}

TEST(ColumnMoments, KeepTheirDigitsBesideALargeOffset) {
  Block<double> data = normal(1000, 2, 3);
  const Eigen::RowVectorXd spread = data.colwise().squaredNorm() - data.colwise().mean().cwiseAbs2() * 1000;
  data.array() += 1e9;
  ColumnMoments moments(2);
  moments.add<double>(borrow(data));
  for (Index j = 0; j < 2; ++j) EXPECT_NEAR(moments.scatter(j), spread(j), 1e-6 * spread(j));
}

TEST(SolvePca, SaysWhatItLeftAtZeroAndWhatWasMissing) {
  Block<double> data = with_holes(some_data(80, 6, 4));
  data.col(2).setConstant(7);
  const std::vector<std::string> names{"a", "b", "c", "d", "e", "f"};
  Request request;
  request.settings.power.rank = 2;

  const auto found =
      solve_pca<double>(data, request, {.standardize = true, .missing = Missing::mean, .column_names = names});

  EXPECT_EQ(found.pca.constant, std::vector<Index>{2});
  EXPECT_EQ(found.pca.scale(2), 1);
  EXPECT_NEAR(found.pca.total_variance, 5, 1e-10);
  EXPECT_EQ(found.pca.missing.policy, Missing::mean);
  EXPECT_GT(found.pca.missing.entries, 0);
  std::string notes;
  for (const std::string& note : found.pca.power.notes) notes += note;
  EXPECT_NE(notes.find("column 3 (c)"), notes.npos) << notes;
}

TEST(SolvePca, RefusesMissingValuesWithTheirPlaceAndThePolicies) {
  Block<double> data = some_data(20, 3, 1);
  data(4, 1) = nan;
  try {
    static_cast<void>(solve_pca<double>(data, {}));
    FAIL();
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("row 5, column 2 is NaN"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("drop-rows"), std::string::npos) << error.what();
  }
}

TEST(MinkaRank, ComesFromTheEigenvaluesWhateverTheirUnit) {
  Vector<double> values(10);
  values << 9, 7, 5, 1.2, 1.1, 1.05, 0.95, 0.9, 0.85, 0.75;
  EXPECT_EQ(minka_rank(values, 500), 3);
  EXPECT_EQ(minka_rank(1e-30 * values, 500), 3);
  values.setConstant(1);  // no rank is better than another: one of them, and no NaN
  EXPECT_GE(minka_rank(values, 500), 1);
  EXPECT_THROW(static_cast<void>(minka_rank(Vector<double>::Zero(4), 10)), InvalidArgument);
}

}  // namespace
}  // namespace hearsay
