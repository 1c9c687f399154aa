#include <gtest/gtest.h>
#include <hearsay/linalg.hpp>
#include <hearsay/random.hpp>
#include <hearsay/threads.hpp>

#include <cmath>

namespace hearsay {
namespace {

TEST(Philox, MatchesThePublishedKnownAnswers) {
  // Salmon et al.: counter and key all zero; the counter's four words are (row, column, agent/stream, iteration) here.
  const RandomWords zero =
      random_words({.seed = 0, .stream = static_cast<Stream>(0), .agent = 0, .iteration = 0}, 0, 0);

  EXPECT_EQ(zero.word[0], 0x6627e8d5u);
  EXPECT_EQ(zero.word[1], 0xe169c58du);
  EXPECT_EQ(zero.word[2], 0xbc57ac4cu);
  EXPECT_EQ(zero.word[3], 0x9b00dbd8u);
}

TEST(NormalBlock, HasTheMomentsOfANormalDistribution) {
  Block<double> X(20000, 5);
  fill_normal<double>({.seed = 3, .stream = Stream::test}, X);
  const double n = static_cast<double>(X.size());

  EXPECT_NEAR(X.mean(), 0.0, 5 / std::sqrt(n));
  EXPECT_NEAR(X.array().square().mean(), 1.0, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(X.array().pow(4).mean(), 3.0, 5 * std::sqrt(96 / n));
  const Small<double> G = gram<double>(X, X) / static_cast<double>(X.rows());
  EXPECT_LE((G - Small<double>::Identity(5, 5)).cwiseAbs().maxCoeff(), 6 * std::sqrt(2.0 / 20000));
}

TEST(NormalBlock, KeepsItsFirstColumnsWhenItGetsMore) {
  Block<double> narrow(50, 3), wide(50, 8);
  fill_normal<double>({.seed = 4}, narrow);
  fill_normal<double>({.seed = 4}, wide);

  EXPECT_EQ(narrow, wide.leftCols(3));
}

TEST(NormalBlock, DependsOnEveryPartOfItsKey) {
  const auto sample = [](const RandomKey& key) {
    Block<double> X(4, 2);
    fill_normal<double>(key, X);
    return X;
  };
  const RandomKey key{.seed = 5, .stream = Stream::noise, .agent = 1, .iteration = 2};
  const Block<double> reference = sample(key);

  EXPECT_EQ(sample(key), reference);
  EXPECT_NE(sample({.seed = 6, .stream = Stream::noise, .agent = 1, .iteration = 2}), reference);
  EXPECT_NE(sample({.seed = 5, .stream = Stream::test, .agent = 1, .iteration = 2}), reference);
  EXPECT_NE(sample({.seed = 5, .stream = Stream::noise, .agent = 2, .iteration = 2}), reference);
  EXPECT_NE(sample({.seed = 5, .stream = Stream::noise, .agent = 1, .iteration = 3}), reference);
}

TEST(NormalBlock, IsTheSameForAnyNumberOfThreads) {
  const int before = threads();
  Block<double> one(9000, 3), many(9000, 3);
  set_threads(1);
  fill_normal<double>({.seed = 7}, one);
  set_threads(4);
  fill_normal<double>({.seed = 7}, many);
  set_threads(before);

  EXPECT_EQ(one, many);
}

TEST(RandomOrthonormal, HasOrthonormalColumns) {
  const Block<double> X = random_orthonormal<double>(100, 7, {.seed = 8});

  EXPECT_LE((gram<double>(X, X) - Small<double>::Identity(7, 7)).cwiseAbs().maxCoeff(), 1e-14);
}

}  // namespace
}  // namespace hearsay
