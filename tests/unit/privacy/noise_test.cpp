#include <gtest/gtest.h>
#include <hearsay/private_noise.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "support/expect_error.hpp"

namespace hearsay {
namespace {

double phi(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

std::vector<std::int64_t> drawn(int scale, int count, std::uint64_t seed = 1) {
  ExactNormals normals(insecure_words(seed));
  std::vector<std::int64_t> values;
  for (int i = 0; i < count; ++i) values.push_back(normals.next(scale));
  return values;
}

// Kolmogorov and Smirnov: beyond 1.95 / sqrt(n) once in a thousand seeds.
TEST(ExactNormals, HaveTheNormalLaw) {
  constexpr int count = 200'000, scale = 40;
  std::vector<std::int64_t> values = drawn(scale, count);
  std::sort(values.begin(), values.end());
  double furthest = 0;
  for (int i = 0; i < count; ++i) {
    const double law = phi(std::ldexp(static_cast<double>(values[static_cast<std::size_t>(i)]), -scale));
    furthest = std::max({furthest, law - i / double(count), (i + 1) / double(count) - law});
  }
  EXPECT_LE(furthest, 1.95 / std::sqrt(count));
}

// On a coarse grid every cell can be counted: 14 degrees of freedom, 36.1 is passed once in a thousand seeds.
TEST(ExactNormals, AreTheFloorOfANormalInEveryCell) {
  constexpr int count = 200'000;
  std::vector<int> cells(16, 0);
  for (const std::int64_t value : drawn(1, count)) {
    const auto cell = std::clamp<std::int64_t>(value, -8, 7) + 8;
    ++cells[static_cast<std::size_t>(cell)];
  }
  double chi_square = 0;
  for (int c = 1; c < 15; ++c) {
    const double expected = count * (phi((c - 7) / 2.0) - phi((c - 8) / 2.0));
    chi_square += std::pow(cells[static_cast<std::size_t>(c)] - expected, 2) / expected;
  }
  EXPECT_LE(chi_square, 36.1);
}

TEST(ExactNormals, UseEveryDigitOfTheGrid) {
  for (int bit = 0; bit < 30; ++bit) {
    int ones = 0;
    for (const std::int64_t value : drawn(50, 2000, 7)) ones += static_cast<int>(value >> bit & 1);
    EXPECT_NEAR(ones, 1000, 5 * std::sqrt(500.0)) << bit;
  }
}

TEST(ExactNormals, RepeatWithASeedAndNotWithout) {
  EXPECT_EQ(drawn(30, 20, 3), drawn(30, 20, 3));
  EXPECT_NE(drawn(30, 20, 3), drawn(30, 20, 4));
  ExactNormals one(system_words()), other(system_words());
  std::set<std::int64_t> seen;
  for (int i = 0; i < 50; ++i) seen.insert(one.next(50)), seen.insert(other.next(50));
  EXPECT_EQ(seen.size(), 100U);
}

TEST(ExactNormals, RefuseAGridThatHasNoRoom) {
  ExactNormals normals(insecure_words(0));
  for (const int scale : {-1, 0, 57}) test::expect_error<InvalidArgument>([&] { normals.next(scale); }, {"scale"});
}

TEST(ExactNormals, GiveUpWhereThereIsNoSource) {
  ExactNormals normals([](std::span<std::uint64_t>) { throw Error("none today"); });
  test::expect_error<Error>([&] { normals.next(10); }, {"none today"});
}

}  // namespace
}  // namespace hearsay
