// A rank that forges what the agents' error bar is made of: each of its messages ends in an error that names it, in no
// bar, or in one that is no smaller than the error.
#include <gtest/gtest.h>
#include <hearsay/angles.hpp>
#include <hearsay/decentralized_on_ranks.hpp>
#include <hearsay/dense_eigen.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/rank_network.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "decentralized/result_message.hpp"
#include "support/expect_error.hpp"
#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::expect_error;
using test::random_block;

using Bytes = std::vector<std::byte>;
using Forge = std::function<void(Bytes&)>;

constexpr double infinite = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
constexpr double patience_seconds = 60;

// Two agents, one on each rank; agent 0 is the first member, whose basis goes round.
constexpr Index d = 6, k = 2, header_bytes = 16;
// The bar's messages are told from all others by how many votes they hold.
constexpr Index gap_votes = 1;
constexpr Index basis_votes = d * k + k + 1;                // V, its Ritz values, the next one
constexpr Index told_by_one = 2 * d * k + k * (k + 1) / 2;  // residual, V'A V, residual over gaps
constexpr Index told_votes = 2 * told_by_one + 3;           // and the maxima: apart, disagreement, tracking

// Changes what its rank sends, where that has so many votes.
class ForgingTransport final : public Transport {
 public:
  ForgingTransport(Transport& honest, Index votes, Forge forge)
      : honest_(honest), votes_(votes), forge_(std::move(forge)) {}

  int rank() const override { return honest_.rank(); }
  int size() const override { return honest_.size(); }
  void send(int to, std::span<const std::byte> message) override {
    std::array<std::uint32_t, 2> kind_and_votes{};
    std::memcpy(kind_and_votes.data(), message.data(), sizeof kind_and_votes);
    if (kind_and_votes[0] != 0 || kind_and_votes[1] != static_cast<std::uint32_t>(votes_))
      return honest_.send(to, message);
    forge_(forged_.emplace_back(message.begin(), message.end()));
    honest_.send(to, forged_.back());
  }
  void receive(int from, std::span<std::byte> buffer) override { honest_.receive(from, buffer); }
  Event wait() override { return honest_.wait(); }
  Bytes take(int from) override { return honest_.take(from); }
  std::vector<std::string> gather(const std::string& bytes) override { return honest_.gather(bytes); }
  std::string broadcast(const std::string& bytes) override { return honest_.broadcast(bytes); }

 private:
  Transport& honest_;
  Index votes_;
  Forge forge_;
  std::deque<Bytes> forged_;  // stay until they have arrived
};

void set(Bytes& bytes, Index vote, double number) {
  std::memcpy(bytes.data() + header_bytes + static_cast<std::size_t>(vote) * sizeof number, &number, sizeof number);
}

Forge say(Index vote, double number) {
  return [=](Bytes& bytes) { set(bytes, vote, number); };
}

Forge say_all(Index first, Index count, double number) {
  return [=](Bytes& bytes) {
    for (Index vote = first; vote < first + count; ++vote) set(bytes, vote, number);
  };
}

Forge multiply(Index first, Index count, double factor) {
  return [=](Bytes& bytes) {
    for (Index vote = first; vote < first + count; ++vote) {
      double number = 0;
      std::memcpy(&number, bytes.data() + header_bytes + static_cast<std::size_t>(vote) * sizeof number, sizeof number);
      set(bytes, vote, factor * number);
    }
  };
}

std::vector<CovarianceShard> shard_of(int rank) {
  Block<double> rows = random_block(30, d, 5 + static_cast<std::uint64_t>(rank));
  for (Index j = 0; j < d; ++j) rows.col(j) *= std::pow(0.6, static_cast<double>(j));
  return covariance_shards(std::vector<Block<double>>{rows});
}

// What an honest rank returns where the forger's sends such messages.
DecentralizedResult run_with(int forger, Index votes, const Forge& forge) {
  DecentralizedResult honest_result;
  run_on_threads(2, [&](Transport& honest) {
    honest.set_timeout(patience_seconds);
    ForgingTransport forging(honest, votes, forge);
    Transport& ranks = honest.rank() == forger ? forging : honest;
    RankNetwork net(ranks, GossipMatrix::from(Block<double>{{0.8, 0.2}, {0.2, 0.8}}));
    const auto shards = shard_of(honest.rank());
    auto result = decentralized_pca(
        net, operators_of(shards),
        {.algorithm = Algorithm::adepm, .rank = k, .gossip = GossipKind::plain, .rounds = 4, .max_iterations = 40});
    if (honest.rank() == (forger == 0 ? 1 : 0)) honest_result = std::move(result);
  });
  return honest_result;
}

ErrorBar bar_with(int forger, Index votes, const Forge& forge) { return run_with(forger, votes, forge).bar; }

// Nothing before the bar is forged, so that the bases are these whatever is.
double true_error() {
  const auto result = run_with(-1, 0, [](Bytes&) {});
  const auto first = shard_of(0), second = shard_of(1);
  std::vector<OperatorRef<double>> all = operators_of(first);
  all.push_back(operators_of(second).front());
  const auto eigen = dense_eigen<double>(SumOperator<double>(all, 0.5));
  double worst = 0;
  for (const Block<double>& V : result.bases) worst = std::max(worst, sin_theta<double>(eigen.vectors.leftCols(k), V));
  return worst;
}

void expect_no_smaller(const ErrorBar& bar) {
  if (!bar.exists()) return;
  EXPECT_GE(bar.sin_theta, true_error());
  EXPECT_LE(bar.sin_theta, 1);
}

TEST(ForgedBar, IsTrueWhereNobodyForges) {
  const ErrorBar bar = bar_with(-1, 0, [](Bytes&) {});

  ASSERT_EQ(bar.kind, BarKind::indicative);
  EXPECT_GE(bar.sin_theta, true_error());
  EXPECT_LT(bar.sin_theta, 0.5);
}

void expect_not_heard(int forger, Index votes, const Forge& forge, const std::string& words) {
  expect_error<CommunicationError>([&] { bar_with(forger, votes, forge); }, {words});
}

TEST(ForgedBar, IsRefusedForMessagesOfAnotherLength) {
  const auto truncate = [](Bytes& bytes) { bytes.pop_back(); };
  const auto lengthen = [](Bytes& bytes) { bytes.resize(bytes.size() + 8); };
  const auto cut = [](Bytes& bytes) { bytes.resize(header_bytes - 1); };
  const auto other_shape = [](Bytes& bytes) {  // a basis with a row more
    bytes.resize(bytes.size() + k * sizeof(double));
    const std::uint32_t votes = basis_votes + k;
    std::memcpy(bytes.data() + sizeof votes, &votes, sizeof votes);
  };
  for (const int forger : {0, 1}) {
    const std::string rank = "rank " + std::to_string(forger) + " sent ";
    for (const Index votes : {gap_votes, basis_votes, told_votes}) {
      expect_not_heard(forger, votes, truncate, rank);
      expect_not_heard(forger, votes, lengthen, rank);
      expect_not_heard(forger, votes, cut, "no message of ours");
    }
    expect_not_heard(forger, basis_votes, other_shape, "17 votes: must be");
  }
}

TEST(ForgedBar, IsRefusedForWhatIsNotANumber) {
  for (const int forger : {0, 1})
    for (const Index votes : {gap_votes, basis_votes, told_votes})
      for (const Index vote : {Index{0}, votes / 2, votes - 1})
        expect_error<DataError>([&] { bar_with(forger, votes, say(vote, nan)); }, {"a vote that is not a number"});
}

TEST(ForgedBar, IsRefusedForAGapThatIsNone) {
  for (const int forger : {0, 1}) {
    for (const double number : {1.0, 1e-300, infinite})  // the message holds minus the gap
      expect_error<DataError>([&] { bar_with(forger, gap_votes, say(0, number)); }, {"gap = ", "must not be negative"});
    expect_no_smaller(bar_with(forger, gap_votes, say(0, -infinite)));
    expect_no_smaller(bar_with(forger, gap_votes, say(0, -1e300)));
  }
}

TEST(ForgedBar, IsRefusedForABasisThatIsNone) {
  for (const int forger : {0, 1})
    for (const double number : {0.9, 1e300, infinite})
      expect_error<DataError>([&] { bar_with(forger, basis_votes, say_all(0, d * k, number)); },
                              {"common basis", "must be orthonormal"});
  for (const double number : {0.0, -1.0, -1e300, -infinite})
    expect_error<DataError>([&] { bar_with(0, basis_votes, say_all(0, d * k, number)); },
                            {"common basis", "must be orthonormal"});
  expect_error<DataError>([&] { bar_with(0, basis_votes, multiply(0, d * k, 1.001)); }, {"must be orthonormal"});
}

TEST(ForgedBar, IsNoSmallerForRitzValuesThatAreNone) {
  for (const int forger : {0, 1}) {
    for (const double number : {1e3, 1e150, 1e300})
      for (const Index vote : {d * k, d * k + 1}) try {
          expect_no_smaller(bar_with(forger, basis_votes, say(vote, number)));
        } catch (const DataError& error) {
          EXPECT_NE(std::string(error.what()).find("agent 0"), std::string::npos) << error.what();
        }
    expect_error<DataError>([&] { bar_with(forger, basis_votes, say(d * k, infinite)); }, {"Ritz value"});
  }
  for (const double number : {-1e300, -1.0, 0.0})
    expect_no_smaller(bar_with(0, basis_votes, say_all(d * k, k, number)));
  expect_error<DataError>([&] { bar_with(0, basis_votes, say(d * k, -infinite)); }, {"Ritz value"});
}

TEST(ForgedBar, IsRefusedForWordsPutInAnothersMouth) {
  for (const Index vote : {Index{0}, Index{d * k}, told_by_one - 1})  // residual, V'A V, residual over gaps
    for (const double number : {1e3, 1e300, infinite})
      expect_error<DataError>([&] { bar_with(1, told_votes, say(vote, number)); }, {"agent 0", "not what it told"});
  expect_error<DataError>([&] { bar_with(0, told_votes, say(told_by_one, 1e3)); }, {"agent 1", "not what it told"});
}

TEST(ForgedBar, IsNoneWhereAnAgentTellsNothingOfItsOwn) {
  for (const double number : {infinite, -infinite, 1e300}) {
    EXPECT_FALSE(bar_with(1, told_votes, say_all(told_by_one, told_by_one, number)).exists());
    EXPECT_FALSE(bar_with(0, told_votes, say(0, -infinite)).exists());
  }
}

TEST(ForgedBar, IsRefusedForASpreadThatIsNone) {
  for (const int forger : {0, 1}) {
    for (const double number : {1.5, 1e300, infinite})
      expect_error<DataError>([&] { bar_with(forger, told_votes, say(told_votes - 3, number)); },
                              {"spread", "must lie in [0, 1]"});
    for (const double number : {-1.0, -infinite})
      expect_no_smaller(bar_with(forger, told_votes, say(told_votes - 3, number)));
    expect_no_smaller(bar_with(forger, told_votes, say(told_votes - 3, 0.9)));
  }
}

// ---- The bar itself, as ranks tell it at the end

std::string summary_with(const ErrorBar& bar) {
  detail::ByteWriter writer;
  DecentralizedResult result;
  result.bar = bar;
  detail::put_summary(writer, result);
  return writer.bytes();
}

void read(const std::string& bytes) {
  detail::ByteReader reader(bytes);
  DecentralizedResult result;
  detail::get_summary(reader, result);
}

ErrorBar indicative(double sine, double spread, double common) {
  ErrorBar bar;
  bar.kind = BarKind::indicative;
  bar.sin_theta = sine;
  bar.spread = spread;
  bar.common = common;
  return bar;
}

TEST(ForgedBar, InASummaryIsRefused) {
  read(summary_with({}));
  read(summary_with(indicative(0.5, 0.25, 0.25)));
  read(summary_with(indicative(1, 0.75, 1)));
  for (const double number : {nan, infinite, -infinite, -0.5, 1.5}) {
    expect_error<CommunicationError>([&] { read(summary_with(indicative(number, 0.25, 0.25))); }, {"error bar"});
    expect_error<CommunicationError>([&] { read(summary_with(indicative(0.5, number, 0.25))); }, {"error bar"});
    expect_error<CommunicationError>([&] { read(summary_with(indicative(0.5, 0.25, number))); }, {"error bar"});
  }
  expect_error<CommunicationError>([&] { read(summary_with(indicative(0.25, 0.5, 0.1))); }, {"error bar", "less than"});
}

TEST(ForgedBar, InATruncatedSummaryIsRefused) {
  const std::string whole = summary_with(indicative(0.5, 0.25, 0.25));
  for (std::size_t length = 0; length < whole.size(); ++length)
    expect_error<CommunicationError>([&] { read(whole.substr(0, length)); }, {"a message between ranks"});
}

}  // namespace
}  // namespace hearsay
