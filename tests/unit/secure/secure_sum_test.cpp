#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <hearsay/error.hpp>
#include <limits>
#include <memory>
#include <random>
#include <secure/secure_sum.hpp>

#include "support/expect_error.hpp"

namespace hearsay::secure {
namespace {

using test::expect_error;
using Block = std::vector<std::uint64_t>;
using Agents = std::vector<std::unique_ptr<MaskedAgent>>;

constexpr RunId run{1, 2, 3};

SecretKey seeded(std::uint8_t seed) {
  std::array<std::uint8_t, 32> bytes{};
  bytes.fill(static_cast<std::uint8_t>(seed * 37 + 11));
  bytes[7] = seed;
  return SecretKey(bytes);
}

// Agents that have met.
Agents met(int count, const RunId& id = run) {
  Agents agents;
  for (int i = 0; i < count; ++i)
    agents.push_back(std::make_unique<MaskedAgent>(i, count, id, seeded(static_cast<std::uint8_t>(i))));
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < count; ++j)
      if (i != j) agents[static_cast<std::size_t>(i)]->meet(j, agents[static_cast<std::size_t>(j)]->public_key());
  return agents;
}

// Of 255 degrees of freedom: beyond 350 with probability 1e-4. All seeds are fixed.
double chi_square(const Block& words) {
  std::array<double, 256> counts{};
  for (const std::uint64_t word : words)
    for (int i = 0; i < 64; i += 8) ++counts[word >> i & 0xff];
  const double expected = static_cast<double>(words.size()) * 8 / 256;
  double sum = 0;
  for (const double count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(SecureSum, IsExactForRandomBlocksOfAnySizeAndNumberOfAgents) {
  std::mt19937_64 draw(5);
  for (const int count : {2, 3, 5, 9}) {
    const Agents agents = met(count);
    std::uint64_t round = 0;
    for (const std::size_t size : {0u, 1u, 7u, 8u, 63u, 511u, 512u, 513u, 2000u}) {
      round += 1 + draw() % 3;
      MaskedRound together(round, count, size);
      Block sum(size);
      for (int i = 0; i < count; ++i) {
        Block block(size);
        for (std::size_t w = 0; w < size; ++w) sum[w] += block[w] = draw();
        agents[static_cast<std::size_t>(i)]->mask(round, block);
        together.add(i, round, block);
      }
      EXPECT_EQ(Block(together.sum().begin(), together.sum().end()), sum) << count << " agents, " << size << " words";
    }
  }
}

TEST(SecureSum, MaskedBlocksLookUniformAndDifferFromRoundToRoundAndRunToRun) {
  const std::size_t size = 1 << 16;
  const Agents agents = met(3), others = met(3, RunId{9});
  std::vector<Block> seen;
  for (const auto* group : {&agents, &others})
    for (const std::uint64_t round : {1u, 2u})
      for (const auto& agent : *group) {
        seen.emplace_back(size, 42);  // the same numbers everywhere
        agent->mask(round, seen.back());
        EXPECT_LT(chi_square(seen.back()), 350);
        EXPECT_GT(chi_square(seen.back()), 170);
      }
  for (std::size_t a = 0; a < seen.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      Block difference = seen[a];
      for (std::size_t w = 0; w < size; ++w) difference[w] -= seen[b][w];
      EXPECT_LT(chi_square(difference), 350) << a << " " << b;  // nothing cancels in two of three
    }
}

TEST(SecureSum, RefusesARoundWithoutAnAgentAndNamesIt) {
  const Agents agents = met(4);
  MaskedRound together(7, 4, 3);
  for (const int i : {0, 2}) {
    Block block{1, 2, 3};
    agents[static_cast<std::size_t>(i)]->mask(7, block);
    together.add(i, 7, block);
  }
  expect_error<CommunicationError>([&] { static_cast<void>(together.sum()); }, {"round 7", "agents 1, 3", "refused"});
}

TEST(SecureSum, TakesABlockOfEachAgentOnceOfThisRoundAndSize) {
  MaskedRound together(7, 3, 2);
  const Block block{1, 2};
  together.add(0, 7, block);
  expect_error<CommunicationError>([&] { together.add(0, 7, block); }, {"agent 0 is there already"});
  expect_error<CommunicationError>([&] { together.add(1, 6, block); }, {"agent 1 is of another round"});
  expect_error<CommunicationError>([&] { together.add(1, 7, Block{1}); }, {"agent 1 has another size"});
  for (const int stranger : {-1, 3}) EXPECT_THROW(together.add(stranger, 7, block), CommunicationError);
}

TEST(SecureSum, UsesTheMasksOfARoundOnce) {
  const Agents agents = met(2);
  Block block{1};
  agents[0]->mask(3, block);
  const Block masked = block;
  for (const std::uint64_t round : {3u, 2u, 0u})
    expect_error<InvalidArgument>([&] { agents[0]->mask(round, block); }, {"must be above the last one"});
  EXPECT_EQ(block, masked);
  agents[0]->mask(std::numeric_limits<std::uint64_t>::max(), block);
  EXPECT_THROW(agents[0]->mask(0, block), InvalidArgument);
}

TEST(SecureSum, BeginsWhenAllHaveMetWithOneKeyEach) {
  MaskedAgent first(0, 3, run, seeded(0)), second(1, 3, run, seeded(1));
  const MaskedAgent third(2, 3, run, seeded(2)), stranger(1, 3, run, seeded(9));
  Block block{1};
  first.meet(1, second.public_key());
  first.meet(1, second.public_key());
  expect_error<InvalidArgument>([&] { first.mask(1, block); }, {"1 agents have not sent their keys"});
  expect_error<CommunicationError>([&] { first.meet(1, stranger.public_key()); }, {"agent 1: sends a second key"});
  expect_error<CommunicationError>([&] { first.meet(2, first.public_key()); }, {"the key of agent 0 itself"});
  EXPECT_THROW(first.meet(0, second.public_key()), CommunicationError);
  EXPECT_THROW(first.meet(3, third.public_key()), CommunicationError);
  EXPECT_THROW(second.meet(2, PublicKey{}), CommunicationError);
  first.meet(2, third.public_key());
  first.mask(1, block);
  EXPECT_THROW(MaskedAgent(0, 1, run), InvalidArgument);
}

// ---- fixed point ----------------------------------------------------------------------------------------------------

TEST(FixedPoint, LeavesRoomForTheSumOfAllAgentsAndWastesLittle) {
  for (const int agents : {1, 2, 3, 4, 10, 1000, 1 << 20})
    for (const double bound : {1e-200, 0.3, 1.0, 1.5, 1e6, 1e200}) {
      const FixedPoint format = fixed_point(agents, bound);
      const long double most = agents * (std::ldexp(static_cast<long double>(bound), format.shift) + 0.5L);
      EXPECT_LE(most, 9223372036854775807.0L) << agents << " " << bound;
      EXPECT_GT(most, 9223372036854775808.0L / 8) << agents << " " << bound;
      EXPECT_EQ(format.error, std::ldexp(agents, -format.shift - 1));
    }
  for (const double bound : {0.0, -1.0, std::nan(""), HUGE_VAL, 1e-310})
    EXPECT_THROW(fixed_point(2, bound), InvalidArgument) << bound;
  EXPECT_THROW(fixed_point(0, 1), InvalidArgument);
}

TEST(FixedPoint, SumsOfAllAgentsComeOutWithinTheStatedError) {
  const int count = 7;
  const std::size_t size = 300;
  const FixedPoint format = fixed_point(count, 2.5);
  const Agents agents = met(count);
  std::mt19937_64 draw(8);
  std::uniform_real_distribution<double> number(-2.5, 2.5);
  MaskedRound together(1, count, size);
  std::vector<long double> sum(size);
  for (int i = 0; i < count; ++i) {
    std::vector<double> numbers(size);
    for (std::size_t at = 0; at < size; ++at) sum[at] += numbers[at] = at < 2 ? (at == 0 ? 2.5 : -2.5) : number(draw);
    Block block(size);
    encode(format, numbers, block);
    agents[static_cast<std::size_t>(i)]->mask(1, block);
    together.add(i, 1, block);
  }
  std::vector<double> found(size);
  decode(format, together.sum(), found);
  for (std::size_t at = 0; at < size; ++at)
    EXPECT_LE(std::abs(static_cast<double>(static_cast<long double>(found[at]) - sum[at])),
              format.error + std::abs(found[at]) * 0x1p-53);
  EXPECT_EQ(found[0], 17.5);
  EXPECT_EQ(found[1], -17.5);
}

TEST(FixedPoint, RefusesANumberBeyondTheBoundWithoutTellingIt) {
  const FixedPoint format = fixed_point(3, 1);
  Block words(2);
  for (const double wrong : {1.0000000000000002, -7.25, std::nan(""), HUGE_VAL}) {
    try {
      encode(format, std::vector<double>{0.5, wrong}, words);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const DataError& error) {
      EXPECT_STREQ(error.what(), "a number of the block is not within the stated bound");
    }
    EXPECT_EQ(words, Block(2));
  }
}

}  // namespace
}  // namespace hearsay::secure
