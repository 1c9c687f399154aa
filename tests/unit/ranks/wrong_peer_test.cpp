// A peer that is not what it should be: every message ends in the round's result or in an error that names it.
#include <gtest/gtest.h>
#include <hearsay/decentralized_on_ranks.hpp>
#include <hearsay/rank_network.hpp>

#include <cmath>
#include <cstring>
#include <optional>

#include "decentralized/result_message.hpp"
#include "support/expect_error.hpp"
#include "support/scripted_transport.hpp"

namespace hearsay {
namespace {

using test::expect_error;
using test::ScriptedTransport;

using Bytes = std::vector<std::byte>;

template <class T>
void put(Bytes& bytes, T value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

Bytes message(std::uint32_t kind, std::uint32_t votes, std::uint64_t numbers, const std::vector<double>& content) {
  Bytes bytes;
  put(bytes, kind);
  put(bytes, votes);
  put(bytes, numbers);
  for (const double number : content) put(bytes, number);
  return bytes;
}

// What rank 0 hears in a round of two agents, with blocks of two numbers and one vote.
void hear(const Bytes& said) {
  ScriptedTransport ranks({said});
  RankNetwork net(ranks, GossipMatrix::metropolis(path_graph(2)));
  const Block<double> Z = Block<double>::Ones(1, 2);
  Block<double> out(1, 2), votes = Block<double>::Zero(1, 1);
  net.mix({}, Z, Z, out, votes);
  EXPECT_EQ(out(0, 1), 2);  // half of each
  EXPECT_EQ(votes(0, 0), 7);
}

TEST(WrongPeer, IsNamedWithWhatItSent) {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  const Bytes right = message(0, 1, 2, {7, 5, 3});
  Bytes truncated = right, longer = right;
  truncated.resize(right.size() - 1);
  longer.resize(right.size() + 8);

  hear(right);
  for (const auto& [said, words] : std::vector<std::pair<Bytes, std::string>>{
           {{}, "rank 1 sent 0 bytes that are no message of ours"},
           {Bytes(5), "rank 1 sent 5 bytes that are no message of ours"},
           {message(9, 1, 2, {7, 5, 3}), "that are no message of ours"},
           {message(0, 1, 3, {7, 5, 3, 1}), "rank 1 sent blocks of 3 numbers and 1 votes: must be 2 and 1"},
           {message(0, 2, 2, {7, 7, 5, 3}), "rank 1 sent blocks of 2 numbers and 2 votes: must be 2 and 1"},
           {truncated, "rank 1 sent 39 bytes: must be 40"},
           {longer, "rank 1 sent 48 bytes: must be 40"},
           {message(1, 0, std::uint64_t{1} << 40, {7}), "rank 1 sent a farewell of 8 bytes: must be"},
           {message(1, 0, 8, {7}), "a message between ranks"}})
    expect_error<CommunicationError>([&] { hear(said); }, {words});
  for (const auto& numbers : {std::vector<double>{7, nan, 3}, {7, 5, infinite}})
    expect_error<DataError>([&] { hear(message(0, 1, 2, numbers)); }, {"agent 1, on rank 1", "not finite"});
  expect_error<DataError>([&] { hear(message(0, 1, 2, {nan, 5, 3})); }, {"rank 1 sent a vote that is not a number"});
}

// What rank 0 makes of the shard of agent 1, of one row with two columns, that rank 1 says it has: where nothing went
// wrong there, the shape of the shard, and then the sum of its rows.
std::optional<ShardTotals> add_up(Index agent, Index rows, Index cols, const std::vector<double>& sum) {
  Bytes fine, shape, sums;
  put(fine, 0);
  put(fine, 1);
  put(fine, std::uint64_t{0});
  for (const Index number : {Index{1}, Index{1}, Index{2}}) put(shape, number);
  put(shape, 3.0);
  put(shape, std::uint64_t{1});
  put(shape, 'x');
  for (const Index number : {agent, rows, cols}) put(sums, number);
  for (const double number : sum) put(sums, number);
  ScriptedTransport ranks({fine, shape, sums, fine});
  return totals_of(ranks, {.agents = 2, .local = {0}, .rows = {Block<double>::Ones(1, 2)}, .names = {"own"}});
}

TEST(WrongPeer, CannotAddWhatIsNoSumOfAnAgentsRows) {
  EXPECT_EQ(add_up(1, 1, 2, {3, 5})->mean, Vector<double>({{2, 3}}));
  for (const Index agent : {Index{2}, Index{-1}, Index{0}, Index{1} << 40})
    expect_error<CommunicationError>(
        [&] {
          add_up(agent, 1, 2, {3, 5});
        },
        {"rank 1", "agent " + std::to_string(agent)});
  for (const auto& [rows, cols] : {std::pair<Index, Index>{1, 1}, {2, 1}, {1, 3}, {2, 2}, {0, 0}})
    expect_error<CommunicationError>(
        [&, rows = rows, cols = cols] {
          add_up(1, rows, cols, std::vector<double>(static_cast<std::size_t>(rows * cols), 3.0));
        },
        {"rank 1", "must be 1 x 2"});
  expect_error<CommunicationError>([&] { add_up(1, 1, Index{1} << 60, {3, 5}); }, {"a message between ranks"});
}

TEST(WrongPeer, CannotNameContributorsThatDoNotExist) {
  detail::require_contributors({0, 1}, 2);
  detail::require_contributors({}, 2);
  for (const Index agent : {Index{2}, Index{-1}})
    expect_error<CommunicationError>(
        [&] {
          detail::require_contributors({0, agent}, 2);
        },
        {"agent " + std::to_string(agent), "must lie in [0, 2)"});
}

TEST(SilentPeer, EndsTheRunWithoutWaitingForItsFarewell) {
  run_on_threads(2, [](Transport& ranks) {
    if (ranks.rank() == 1) return;
    ranks.set_timeout(0.02);
    RankNetwork net(ranks, GossipMatrix::ring(2));
    const Block<double> Z = Block<double>::Ones(1, 2);
    Block<double> out(1, 2), votes(1, 0);

    expect_error<TimeoutError>([&] { net.run([&] { net.mix({}, Z, Z, out, votes); }); }, {"heard nothing"});
  });
}

}  // namespace
}  // namespace hearsay
