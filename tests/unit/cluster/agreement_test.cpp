#include <gtest/gtest.h>

#include <hearsay/error.hpp>
#include <hearsay/kmeans.hpp>

namespace hearsay {
namespace {

using Labels = std::vector<std::int32_t>;

TEST(AdjustedRandIndex, IsOneForTheSamePartitionUnderOtherNames) {
  EXPECT_EQ(adjusted_rand_index(Labels{0, 0, 1, 1, 2}, Labels{7, 7, -3, -3, 0}), 1.0);
}

TEST(AdjustedRandIndex, MatchesValuesComputedByHand) {
  // Pairs together: 1 in both, 2 in the first, 1 in the second, of 6. Expected 2/6, at most 3/2: (1 - 1/3) / (3/2 -
  // 1/3).
  EXPECT_NEAR(adjusted_rand_index(Labels{0, 0, 1, 1}, Labels{0, 0, 1, 2}), 4.0 / 7.0, 1e-15);
  // 0 in both, 2 in each: (0 - 2/3) / (2 - 2/3), as far below chance as it goes here.
  EXPECT_NEAR(adjusted_rand_index(Labels{0, 0, 1, 1}, Labels{0, 1, 0, 1}), -0.5, 1e-15);
  EXPECT_NEAR(adjusted_rand_index(Labels{0, 0, 0, 0}, Labels{0, 1, 2, 3}), 0.0, 1e-15);
}

TEST(AdjustedRandIndex, IsSymmetric) {
  const Labels a{0, 0, 1, 1, 2, 2, 2}, b{0, 1, 1, 1, 2, 2, 0};

  EXPECT_EQ(adjusted_rand_index(a, b), adjusted_rand_index(b, a));
}

TEST(AdjustedRandIndex, IsOneWhenThereIsNothingToDisagreeAbout) {
  EXPECT_EQ(adjusted_rand_index(Labels{}, Labels{}), 1.0);
  EXPECT_EQ(adjusted_rand_index(Labels{3}, Labels{5}), 1.0);
  EXPECT_EQ(adjusted_rand_index(Labels{1, 2, 3}, Labels{4, 5, 6}), 1.0);
}

TEST(NormalizedMutualInformation, MatchesValuesComputedByHand) {
  // Entropies log 2 and 1.5 log 2, mutual information log 2.
  EXPECT_NEAR(normalized_mutual_information(Labels{0, 0, 1, 1}, Labels{0, 0, 1, 2}), 0.8, 1e-15);
  EXPECT_NEAR(normalized_mutual_information(Labels{0, 0, 1, 1}, Labels{0, 1, 0, 1}), 0.0, 1e-15);
}

TEST(NormalizedMutualInformation, IsOneForTheSamePartitionUnderOtherNames) {
  EXPECT_NEAR(normalized_mutual_information(Labels{0, 0, 1, 1, 2}, Labels{7, 7, -3, -3, 0}), 1.0, 1e-15);
  EXPECT_EQ(normalized_mutual_information(Labels{4, 4, 4}, Labels{0, 0, 0}), 1.0);
}

TEST(NormalizedMutualInformation, IsZeroWhenOneSideSaysNothing) {
  EXPECT_NEAR(normalized_mutual_information(Labels{0, 0, 0, 0}, Labels{0, 1, 2, 3}), 0.0, 1e-15);
}

TEST(Agreement, RefusesLabellingsOfDifferentLength) {
  EXPECT_THROW(adjusted_rand_index(Labels{0, 1}, Labels{0}), InvalidArgument);
  EXPECT_THROW(normalized_mutual_information(Labels{0, 1}, Labels{0}), InvalidArgument);
}

}  // namespace
}  // namespace hearsay
