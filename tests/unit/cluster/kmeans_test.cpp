#include <gtest/gtest.h>

#include <cmath>
#include <hearsay/error.hpp>
#include <hearsay/kmeans.hpp>
#include <hearsay/random.hpp>
#include <hearsay/threads.hpp>
#include <limits>

#include "cluster/kmeans_steps.hpp"
#include "support/reference.hpp"

namespace hearsay {
namespace {

using Labels = std::vector<std::int32_t>;

Block<double> normal_points(Index count, Index dimension, std::uint64_t seed) {
  Block<double> points(count, dimension);
  fill_normal<double>({.seed = seed, .stream = Stream::test}, points);
  return points;
}

struct PlantedClusters {
  Block<double> points;
  Labels labels;
};

// Unit balls, about, around centers 40 apart and more on the axes.
PlantedClusters planted_clusters(const std::vector<Index>& sizes, Index dimension, std::uint64_t seed) {
  PlantedClusters planted;
  for (std::size_t j = 0; j < sizes.size(); ++j)
    planted.labels.insert(planted.labels.end(), static_cast<std::size_t>(sizes[j]), static_cast<std::int32_t>(j));
  planted.points = normal_points(static_cast<Index>(planted.labels.size()), dimension, seed);
  for (Index i = 0; i < planted.points.rows(); ++i) {
    const Index j = planted.labels[static_cast<std::size_t>(i)];
    planted.points(i, j % dimension) += 40.0 * static_cast<double>(1 + j / dimension);
  }
  return planted;
}

struct Lloyd {
  Labels assignment;
  double inertia = 0;
};

// The nearest center of every point, by comparing all distances.
Lloyd assign_from_scratch(const Block<double>& points, const Block<double>& centers) {
  Lloyd result;
  for (Index i = 0; i < points.rows(); ++i) {
    Index nearest = 0;
    result.inertia += (centers.rowwise() - points.row(i)).rowwise().squaredNorm().minCoeff(&nearest);
    result.assignment.push_back(static_cast<std::int32_t>(nearest));
  }
  return result;
}

Block<double> means_from_scratch(const Block<double>& points, const Labels& assignment, Index clusters) {
  Block<double> sums = Block<double>::Zero(clusters, points.cols());
  Vector<double> sizes = Vector<double>::Zero(clusters);
  for (Index i = 0; i < points.rows(); ++i) {
    sums.row(assignment[static_cast<std::size_t>(i)]) += points.row(i);
    sizes(assignment[static_cast<std::size_t>(i)]) += 1;
  }
  return sizes.cwiseInverse().asDiagonal() * sums;
}

TEST(KMeans, RecoversPlantedClustersExactly) {
  const auto planted = planted_clusters({300, 250, 200, 150, 100, 50}, /*dimension=*/4, /*seed=*/1);

  const auto result = kmeans(planted.points, {.clusters = 6});

  EXPECT_EQ(result.assignment, planted.labels);
  EXPECT_TRUE(result.converged);
}

TEST(KMeans, GivesEveryPointItsNearestCenterAndReportsThatInertia) {
  const auto points = normal_points(3000, 5, 2);

  const auto result = kmeans(points, {.clusters = 11, .restarts = 2});

  const Lloyd scratch = assign_from_scratch(points, result.centers);
  EXPECT_EQ(result.assignment, scratch.assignment);
  EXPECT_NEAR(result.inertia, scratch.inertia, 1e-12 * scratch.inertia);
}

TEST(KMeans, EndsAtAFixedPointWhenTheToleranceIsZero) {
  const auto points = normal_points(2000, 3, 3);

  const auto result = kmeans(points, {.clusters = 20, .restarts = 1, .tolerance = 0});

  ASSERT_TRUE(result.converged);
  EXPECT_LE((result.centers - means_from_scratch(points, result.assignment, 20)).norm(), 1e-13);
}

TEST(KMeans, IsTheSameForAnyNumberOfThreads) {
  const auto points = normal_points(7000, 6, 4);
  const int before = threads();

  set_threads(1);
  const auto alone = kmeans(points, {.clusters = 9, .restarts = 3});
  set_threads(3);
  const auto together = kmeans(points, {.clusters = 9, .restarts = 3});
  set_threads(before);

  EXPECT_EQ(alone.assignment, together.assignment);
  EXPECT_EQ(alone.centers, together.centers);
  EXPECT_EQ(alone.inertia, together.inertia);
}

TEST(KMeans, DependsOnTheSeedAlone) {
  const auto points = normal_points(500, 2, 5);

  const auto once = kmeans(points, {.clusters = 8, .restarts = 1, .seed = 1});
  const auto again = kmeans(points, {.clusters = 8, .restarts = 1, .seed = 1});
  const auto other = kmeans(points, {.clusters = 8, .restarts = 1, .seed = 2});

  EXPECT_EQ(once.assignment, again.assignment);
  EXPECT_NE(once.assignment, other.assignment);
}

TEST(KMeans, KeepsTheBestOfItsStarts) {
  const auto points = normal_points(600, 2, 6);

  double least = std::numeric_limits<double>::infinity();
  for (const Index restarts : {1, 2, 4, 8}) {
    const auto result = kmeans(points, {.clusters = 12, .restarts = restarts});
    EXPECT_LE(result.inertia, least);
    least = result.inertia;
  }
}

TEST(KMeans, NumbersClustersByDecreasingSizeThenByFirstPoint) {
  Block<double> points(7, 1);
  points << 50, 0, 90, 51, 1, 2, 91;

  const auto result = kmeans(points, {.clusters = 3});

  EXPECT_EQ(result.assignment, (Labels{1, 0, 2, 1, 0, 0, 2}));
  EXPECT_NEAR(result.centers(0, 0), 1.0, 1e-15);
  EXPECT_NEAR(result.centers(1, 0), 50.5, 1e-13);
  EXPECT_NEAR(result.centers(2, 0), 90.5, 1e-13);
}

TEST(KMeans, ScalesWithItsPoints) {
  const auto points = normal_points(400, 3, 7);
  const double factor = std::ldexp(1.0, 20);

  const auto small = kmeans(points, {.clusters = 5, .restarts = 2});
  const auto large = kmeans(factor * points, {.clusters = 5, .restarts = 2});

  EXPECT_EQ(small.assignment, large.assignment);
  EXPECT_EQ(factor * small.centers, large.centers);
  EXPECT_EQ(factor * factor * small.inertia, large.inertia);
}

TEST(KMeans, FindsTheSameClustersAfterARotationAndAShift) {
  const auto planted = planted_clusters({80, 60, 40}, /*dimension=*/3, /*seed=*/8);
  const Eigen::MatrixXd Q = test::reference_rotation(normal_points(3, 3, 9));
  Block<double> turned = planted.points * Q;
  turned.rowwise() += Eigen::RowVector3d(1e6, -1e6, 1e6);

  const auto result = kmeans(turned, {.clusters = 3});

  EXPECT_EQ(result.assignment, planted.labels);
}

TEST(KMeans, ReadsSomeColumnsOfABlockInPlace) {
  const auto wide = normal_points(300, 9, 10);
  const Block<double> copied = wide.middleCols(2, 4);

  const auto view = kmeans(wide.middleCols(2, 4), {.clusters = 4});

  EXPECT_EQ(view.assignment, kmeans(copied, {.clusters = 4}).assignment);
}

TEST(KMeans, OfOneClusterIsTheMean) {
  const auto points = normal_points(2500, 3, 11);

  const auto result = kmeans(points, {.clusters = 1});

  EXPECT_TRUE(result.converged);
  EXPECT_LE((result.centers.row(0) - points.colwise().mean()).norm(), 1e-14);
}

TEST(KMeans, OfAsManyClustersAsPointsLeavesNoInertia) {
  const auto points = normal_points(20, 2, 12);

  const auto result = kmeans(points, {.clusters = 20});

  EXPECT_EQ(result.inertia, 0.0);
  EXPECT_EQ(result.centers, points);
}

TEST(KMeans, TakesRepeatedPointsWhileThereAreAsManyDistinctOnes) {
  Block<double> points(9, 2);
  points << 1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 1, 1;

  const auto result = kmeans(points, {.clusters = 3});

  EXPECT_EQ(result.inertia, 0.0);
  EXPECT_EQ(result.assignment, (Labels{0, 1, 2, 0, 1, 2, 0, 1, 0}));
}

TEST(KMeans, SaysHowManyDistinctPointsThereAreWhenTheyAreTooFew) {
  const Block<double> points = Block<double>::Constant(10, 3, 7.0);

  try {
    (void)kmeans(points, {.clusters = 4});
    FAIL() << "four clusters of one value";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "clusters = 4: the points take only 1 distinct values");
  }
}

TEST(KMeans, TakesPointsOfAnyMagnitude) {
  const auto planted = planted_clusters({30, 20, 10}, /*dimension=*/2, /*seed=*/13);

  for (const double magnitude : {1e-300, 1e300}) {
    const auto result = kmeans(magnitude * planted.points, {.clusters = 3});
    EXPECT_EQ(result.assignment, planted.labels) << magnitude;
  }
  EXPECT_EQ(kmeans(Block<double>::Zero(5, 2), {.clusters = 1}).inertia, 0.0);
}

TEST(KMeans, StopsAtTheIterationLimitAndSaysSo) {
  const auto points = normal_points(2000, 4, 14);

  const auto result = kmeans(points, {.clusters = 20, .restarts = 1, .max_iterations = 2, .tolerance = 0});

  EXPECT_FALSE(result.converged);
  EXPECT_EQ(result.iterations, 2);
}

TEST(KMeans, RefusesOptionsOutOfRange) {
  const auto points = normal_points(10, 2, 15);
  const double nan = std::numeric_limits<double>::quiet_NaN();

  EXPECT_THROW((void)kmeans(points, {.clusters = 0}), InvalidArgument);
  EXPECT_THROW((void)kmeans(points, {.clusters = 11}), InvalidArgument);
  EXPECT_THROW((void)kmeans(points, {.clusters = 2, .restarts = 0}), InvalidArgument);
  EXPECT_THROW((void)kmeans(points, {.clusters = 2, .max_iterations = 0}), InvalidArgument);
  EXPECT_THROW((void)kmeans(points, {.clusters = 2, .tolerance = -1e-3}), InvalidArgument);
  EXPECT_THROW((void)kmeans(points, {.clusters = 2, .tolerance = nan}), InvalidArgument);
  EXPECT_THROW((void)kmeans(Block<double>(0, 2), {.clusters = 1}), InvalidArgument);
  EXPECT_THROW((void)kmeans(Block<double>(5, 0), {.clusters = 1}), InvalidArgument);
}

TEST(KMeans, NamesTheEntryThatIsNotFinite) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    auto points = normal_points(10, 2, 16);
    points(7, 1) = bad;
    try {
      (void)kmeans(points, {.clusters = 2});
      FAIL() << bad << " was taken";
    } catch (const DataError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("points(7, 1) = ")) << error.what();
    }
  }
}

TEST(Lloyd, RestartsAnEmptyClusterAtThePointWorstServed) {
  Block<double> points(5, 1), centers(3, 1);
  points << 0, 1, 10, 11, 30;
  centers << 0.5, 12, 1000;

  const auto result = detail::lloyd(points, centers, {.clusters = 3});

  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.assignment, (Labels{0, 0, 1, 1, 2}));
  EXPECT_NEAR(result.inertia, 1.0, 1e-15);
}

TEST(Lloyd, FillsSeveralEmptyClustersAtOnce) {
  const auto planted = planted_clusters({50, 40, 30, 20}, /*dimension=*/4, /*seed=*/17);
  Block<double> centers = Block<double>::Constant(4, 4, 1e4);
  centers.row(0).setZero();

  const auto result = detail::lloyd(planted.points, centers, {.clusters = 4});

  EXPECT_EQ(Labels(result.assignment).size(), planted.labels.size());
  for (std::int32_t cluster = 0; cluster < 4; ++cluster)
    EXPECT_GT(std::count(result.assignment.begin(), result.assignment.end(), cluster), 0) << cluster;
}

}  // namespace
}  // namespace hearsay
