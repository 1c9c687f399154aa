#include <gtest/gtest.h>
#include <hearsay/linalg.hpp>
#include <hearsay/random.hpp>
#include <hearsay/threads.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "kernels/normal.hpp"

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

TEST(NormalBlock, HasTheTailsOfANormalDistribution) {
  Block<double> X(200000, 5);
  fill_normal<double>({.seed = 9, .stream = Stream::test}, X);
  const double n = static_cast<double>(X.size());

  for (const double beyond : {1.0, 2.0, 3.0, 4.0}) {
    const double expected = std::erfc(beyond / std::sqrt(2.0)) / 2, spread = 5 * std::sqrt(expected / n);
    EXPECT_NEAR(static_cast<double>((X.array() > beyond).count()) / n, expected, spread) << beyond;
    EXPECT_NEAR(static_cast<double>((X.array() < -beyond).count()) / n, expected, spread) << -beyond;
  }
  EXPECT_GT(X.cwiseAbs().maxCoeff(), 4.5);
  EXPECT_LT(X.cwiseAbs().maxCoeff(), 6.5);
}

// 53 bits of two words, as random_uniform() makes them.
double uniform_of(std::uint32_t a, std::uint32_t b) {
  return (static_cast<double>((std::uint64_t{a} << 32 | b) >> 11) + 0.5) * 0x1p-53;
}

TEST(NormalBlock, IsTheTransformOfBoxAndMuller) {
  const RandomKey key{.seed = 0x123456789ABCDEFu, .stream = Stream::test, .agent = 3, .iteration = 8};
  Block<double> X(3000, 4);
  fill_normal<double>(key, X);

  double worst = 0;
  for (Index i = 0; i < X.rows(); ++i)
    for (Index j = 0; j < X.cols(); j += 2) {
      const auto [w] = random_words(key, static_cast<std::uint64_t>(i), static_cast<std::uint32_t>(j / 2));
      const double radius = std::sqrt(-2 * std::log(uniform_of(w[0], w[1])));
      const double angle = 2 * std::numbers::pi * uniform_of(w[2], w[3]);
      worst = std::max(
          {worst, std::abs(X(i, j) - radius * std::cos(angle)), std::abs(X(i, j + 1) - radius * std::sin(angle))});
    }

  EXPECT_LE(worst, 1e-14) << "a few roundings of numbers up to 6, and 2 pi itself is rounded";
}

#if defined(__x86_64__)
TEST(NormalPairs, AreTheSameBitsOnEveryInstructionSet) {
  using namespace kernels;
  std::uint32_t rows[normal_batch], columns[normal_batch];
  double expected[2][normal_batch], found[2][normal_batch];
  for (std::uint32_t t = 0; t < 500; ++t) {
    for (std::uint32_t l = 0; l < normal_batch; ++l)
      rows[l] = 0x9E3779B9u * (t * normal_batch + l), columns[l] = l << 8;
    generic_normal_pairs(1, 2, rows, columns, 3, t, expected[0], expected[1]);
    for (const auto& [runs_here, make] :
         {std::pair{__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"), &avx2_normal_pairs},
          std::pair{__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl"),
                    &avx512_normal_pairs}}) {
      if (!runs_here) continue;
      make(1, 2, rows, columns, 3, t, found[0], found[1]);
      ASSERT_EQ(std::memcmp(expected, found, sizeof found), 0) << "batch " << t;
    }
  }
}
#endif

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
  Block<double> one(90000, 3), many(90000, 3);
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
