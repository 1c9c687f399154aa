// Whatever happens to frames, links and agents: the answer is right, or every agent ends with a word that is true, and
// nothing hangs. Time is simulated, so that deadlines are met at once.
#include <gtest/gtest.h>
#include <cstring>
#include <hearsay/agent.hpp>
#include <hearsay/random.hpp>

#include <algorithm>
#include <atomic>

#include "network/bytes.hpp"
#include "on_links.hpp"
#include "support/expect_error.hpp"
#include "support/random_block.hpp"

namespace hearsay {
namespace {

using test::expect_in;
using test::expect_no_error;
using test::word_of;
using test::words_of;

constexpr Index agents = 4;

FederationSettings federation() {
  FederationSettings settings{.names = {"boston", "leeds", "oslo", "lyon"}, .W = GossipMatrix::ring(agents)};
  settings.settings.power.rank = 2;
  settings.network.solver.tolerance = 1e-8;
  return settings;
}

AgentRows rows_of(Index agent) {
  Block<double> rows = test::random_block(20 + agent, 8, static_cast<std::uint64_t>(agent) + 1);
  rows.col(0) *= 5;
  rows.col(3) *= 3;
  return {.rows = std::move(rows), .columns = {"a", "b", "c", "d", "e", "f", "g", "h"}};
}

struct Ended {
  std::vector<std::string> words;
  std::vector<std::uint64_t> digests;  // 0 where there is none
  bool confirmed = false;              // by everyone, at some agent
};

Ended run_all(const Simulation& simulation,
              const std::function<void(Index, AgentRows&, FederationSettings&)>& change = {},
              std::vector<double>* ended_at = nullptr) {
  Ended ended{.words = {}, .digests = std::vector<std::uint64_t>(agents)};
  ended.words = words_of(run_on_simulated_links(GossipMatrix::ring(agents), simulation, [&](Links& links) {
    AgentRows rows = rows_of(links.self());
    FederationSettings settings = federation();
    if (change) change(links.self(), rows, settings);
    struct AtTheEnd {
      Links& links;
      std::vector<double>* when;
      ~AtTheEnd() {
        if (when != nullptr) (*when)[static_cast<std::size_t>(links.self())] = links.now();
      }
    } at_the_end{links, ended_at};
    const AgentOutcome outcome =
        run_agent(links, std::move(rows), settings, {.nonce = 1000 + static_cast<std::uint64_t>(links.self())});
    ended.digests[static_cast<std::size_t>(links.self())] = outcome.result.digest;
    ended.confirmed = ended.confirmed || outcome.unconfirmed.empty();
  }));
  return ended;
}

std::uint64_t right_digest() {
  static const std::uint64_t digest = [] {
    const Ended ended = run_all({});
    for (const std::string& word : ended.words) EXPECT_EQ(word, "");
    return ended.digests.front();
  }();
  return digest;
}

// Each agent has the right answer, or says what went wrong; and none that all have it where one has not.
void expect_true_words(const Ended& ended) {
  for (std::size_t agent = 0; ended.confirmed && agent < ended.words.size(); ++agent)
    EXPECT_TRUE(ended.digests[agent] == right_digest() || ended.words[agent] == "died") << agent;
  for (std::size_t agent = 0; agent < ended.words.size(); ++agent) {
    if (ended.words[agent].empty())
      EXPECT_EQ(ended.digests[agent], right_digest()) << agent;
    else
      EXPECT_EQ(ended.digests[agent], 0U) << agent;
  }
}

// All of them end with an error that names where it began.
void expect_words_everywhere(const Ended& ended, const std::vector<std::string>& parts) {
  for (const std::string& word : ended.words)
    for (const std::string& part : parts) expect_in(word, part);
}

double luck_of(const SentFrame& sent, std::uint64_t seed) {
  return random_uniform(
      {.seed = seed, .stream = Stream::test, .agent = static_cast<std::uint32_t>(100 * sent.from + sent.to)},
      static_cast<std::uint64_t>(sent.number));
}

// ---- Settings and data that do not fit ------------------------------------------------------------------------------

TEST(Federation, RefusesWhatDoesNotFitBeforeAnyBlockIsSent) {
  using Change = std::function<void(AgentRows&, FederationSettings&)>;
  const std::vector<std::pair<Change, std::vector<std::string>>> cases{
      {[](auto&, auto& f) { f.digest = "other"; }, {"configuration = "}},
      {[](auto&, auto& f) { f.names[3] = "paris"; }, {"roster = 4 agents", "paris", "lyon"}},
      {[](auto&, auto& f) { f.settings.power.rank = 3; }, {"rank = "}},
      {[](auto&, auto& f) { f.settings.power.seed = 3; }, {"seed = "}},
      {[](auto&, auto& f) { f.network.precision = MessagePrecision::bfloat16; },
       {"message precision = ", "bfloat16", "double"}},
      {[](auto&, auto& f) { f.center = false; }, {"centred = "}},
      {[](auto&, auto& f) { f.W = GossipMatrix::lazy(GossipMatrix::ring(agents)); }, {"gossip matrix = "}},
      {[](auto& r, auto&) { r.columns[2] = "weight"; }, {"names of features = ", "weight"}},
      {[](auto& r, auto&) { r.columns.clear(); }, {"names of features = ", "none"}},
      {[](auto& r, auto&) {
         r.rows = Block<double>(r.rows.leftCols(7));
         r.columns.pop_back();
       },
       {"features = 7 there, and 8 here"}},
  };
  for (const auto& one : cases) {
    const auto& change = one.first;
    std::atomic<std::int64_t> blocks = 0;
    const Simulation watch{.deliver = [&](const SentFrame& sent) -> Delivery {
      if (sent.bytes[6] == std::byte{2}) ++blocks;
      return {};
    }};

    const Ended ended = run_all(watch, [&](Index agent, AgentRows& rows, FederationSettings& settings) {
      if (agent == 2) change(rows, settings);
    });

    EXPECT_EQ(blocks, 0);
    for (const std::size_t neighbour : {1, 3})
      for (const std::string& part : one.second) expect_in(ended.words[neighbour], part);
    for (const std::string& word : ended.words) EXPECT_NE(word, "");
  }
}

TEST(Federation, BringsColumnsOfTheSameNamesIntoOneOrder) {
  const Ended ended = run_all({}, [&](Index agent, AgentRows& rows, FederationSettings&) {
    if (agent != 2) return;
    std::swap(rows.columns[1], rows.columns[6]);
    rows.rows.col(1).swap(rows.rows.col(6));
  });
  for (const std::uint64_t digest : ended.digests) EXPECT_EQ(digest, right_digest());
}

// ---- Frames ---------------------------------------------------------------------------------------------------------

// The n-th frame from agent 1 to agent 2 is changed.
Simulation with_frame(std::int64_t number, const std::function<void(std::vector<std::byte>&)>& change) {
  return {.deliver = [=](const SentFrame& sent) -> Delivery {
    if (sent.from != 1 || sent.to != 2 || sent.number != number) return {};
    std::vector<std::byte> bytes(sent.bytes.begin(), sent.bytes.end());
    change(bytes);
    return {.instead = bytes};
  }};
}

TEST(Federation, EndsEverywhereWhereAFrameIsNotWhatItShouldBe) {
  for (const std::int64_t number : {1, 4, 6, 20})
    for (const int kind : {0, 1, 2, 3}) {
      const Ended ended = run_all(with_frame(number, [&](std::vector<std::byte>& bytes) {
        if (kind == 0) bytes[bytes.size() / 2] ^= std::byte{16};
        if (kind == 1) bytes.resize(bytes.size() - 1);
        if (kind == 2) bytes.resize(bytes.size() + (std::size_t{1} << 20));
        if (kind == 3) bytes.resize(3);
      }));
      expect_words_everywhere(ended, {"agent 1 (leeds) sent a frame"});
      expect_in(ended.words[0], "agent 2 (oslo): agent 1");  // heard from its neighbour
    }
}

// A number of a block is another one, where no checksum shows it: an agent tells one neighbour what it does not tell
// the rest, or its memory was changed. Residuals may look well all the same, for everyone then solves the same wrong
// problem.
TEST(Federation, EndsEverywhereWhereBlocksDoNotAddUp) {
  std::size_t noticed = 0;
  for (const std::int64_t number : {14, 15, 20, 21, 26}) {
    const Ended ended = run_all(with_frame(number, [&](std::vector<std::byte>& bytes) {
      protocol::Frame frame = protocol::frame_from(bytes, 1 << 20);
      if (frame.kind != protocol::FrameKind::block || frame.payload.size() < 200) return;
      std::vector<std::byte> payload(frame.payload.begin(), frame.payload.end());
      double value = 0;
      std::memcpy(&value, payload.data() + payload.size() - sizeof value, sizeof value);
      value *= 1.001;
      std::memcpy(payload.data() + payload.size() - sizeof value, &value, sizeof value);
      frame.payload = payload;
      bytes = protocol::to_bytes(frame);
      ++noticed;
    }));
    if (noticed == 0) continue;
    expect_words_everywhere(ended, {"the blocks of all agents do not add up to what they were made of"});
  }
  EXPECT_GE(noticed, 2U);
}

TEST(Federation, TakesFramesThatArriveTwiceOrMuchLaterAgain) {
  const Ended ended = run_all({.deliver = [](const SentFrame& sent) -> Delivery {
    const double luck = luck_of(sent, 5);
    return {.after = {0.01, 0.01 + luck, 30 * luck + 0.01}};
  }});
  for (const std::uint64_t digest : ended.digests) EXPECT_EQ(digest, right_digest());
}

TEST(Federation, GivesTheRightAnswerOrSaysWhyWhereFramesOvertakeEachOtherOrGetLost) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    expect_true_words(run_all({.deliver = [&](const SentFrame& sent) -> Delivery {
      return {.after = {0.02 + 0.05 * luck_of(sent, seed)}, .in_order = false};
    }}));
    const Ended lossy = run_all({.deliver = [&](const SentFrame& sent) -> Delivery {
      return luck_of(sent, seed) < 0.02 ? Delivery{.after = {}} : Delivery{};
    }});
    expect_true_words(lossy);
  }
}

TEST(Federation, IsNotMovedByFramesOfAnEarlierRun) {
  std::vector<std::vector<std::byte>> recorded;  // of a run of the same agents with the same settings, from 1 to 2
  static_cast<void>(
      run_on_simulated_links(GossipMatrix::ring(agents), {.deliver = [&](const SentFrame& sent) -> Delivery {
                               if (sent.from == 1 && sent.to == 2)
                                 recorded.emplace_back(sent.bytes.begin(), sent.bytes.end());
                               return {};
                             }},
                             [&](Links& links) {
                               static_cast<void>(run_agent(links, rows_of(links.self()), federation(),
                                                           {.nonce = 5 + static_cast<std::uint64_t>(links.self())}));
                             }));
  ASSERT_GT(recorded.size(), 20U);
  Index replayed = 0;
  // Before each frame of the new run comes one of the old.
  const auto thrown = run_on_simulated_links(GossipMatrix::ring(agents), {}, [&](Links& links) {
    class Replaying final : public Links {
     public:
      Replaying(Links& under, const std::vector<std::vector<std::byte>>& old) : under_(&under), old_(&old) {}
      Index self() const override { return under_->self(); }
      std::span<const Index> neighbours() const override { return under_->neighbours(); }
      bool send(Index peer, std::vector<std::byte> frame, double deadline) override {
        if (self() == 1 && peer == 2 && next_ < old_->size()) under_->send(peer, (*old_)[next_++], deadline);
        return under_->send(peer, std::move(frame), deadline);
      }
      LinkEvent poll(double deadline) override { return under_->poll(deadline); }
      double now() const override { return under_->now(); }
      std::size_t next_ = 0;

     private:
      Links* under_;
      const std::vector<std::vector<std::byte>>* old_;
    } replaying(links, recorded);
    const AgentOutcome outcome = run_agent(replaying, rows_of(links.self()), federation(),
                                           {.nonce = 1000 + static_cast<std::uint64_t>(links.self())});
    EXPECT_EQ(outcome.result.digest, right_digest());
    if (links.self() == 2) replayed = outcome.links[0].foreign;
  });
  expect_no_error(thrown);
  EXPECT_GT(replayed, 10);
}

// ---- Links and agents -----------------------------------------------------------------------------------------------

TEST(Federation, EndsEverywhereWhenAnAgentDies) {
  for (const double time : {0.0005, 0.004, 0.02, 0.035})
    for (const bool closes : {true, false}) {
      Simulation simulation{.dies_at = {1e9, 1e9, time, 1e9}, .death_closes_links = closes};

      const Ended ended = run_all(simulation);

      EXPECT_EQ(ended.words[2], "died");
      for (const std::size_t survivor : {0, 1, 3}) {
        EXPECT_EQ(ended.digests[survivor], 0U);
        expect_in(ended.words[survivor], "agent 2 (oslo)");
      }
    }
}

TEST(Federation, EndsEverywhereWhenALinkIsCutForGood) {
  const Ended ended = run_all({.deliver = [](const SentFrame& sent) -> Delivery {
    return {.breaks_link = sent.from == 1 && sent.to == 2 && sent.number == 15};
  }});
  for (const std::string& word : ended.words) expect_in(word, "is gone (the link broke)");
}

TEST(Federation, EndsWithinItsPatienceWhenAnAgentNeverAnswers) {
  std::vector<double> when(agents);
  const auto words = words_of(run_on_simulated_links(GossipMatrix::ring(agents), {}, [&](Links& links) {
    if (links.self() == 2) {
      while (links.now() < 500) links.poll(500);
      return;
    }
    try {
      static_cast<void>(run_agent(links, rows_of(links.self()), federation()));
    } catch (...) {
      when[static_cast<std::size_t>(links.self())] = links.now();
      throw;
    }
  }));
  for (const std::size_t agent : {0, 1, 3}) {
    EXPECT_NE(words[agent], "");
    EXPECT_LE(when[agent], 200);
  }
  expect_in(words[1], "not ready within 60 s: agent 2 (oslo) (not heard of)");
}

// It answers for a while, and then is silent; its process lives, and its links.
TEST(Federation, NamesAnAgentThatFallsSilentInTheMiddle) {
  class Silent final : public Links {
   public:
    explicit Silent(Links& under) : under_(&under) {}
    Index self() const override { return under_->self(); }
    std::span<const Index> neighbours() const override { return under_->neighbours(); }
    bool send(Index peer, std::vector<std::byte> frame, double deadline) override {
      return ++sent_ > 40 || under_->send(peer, std::move(frame), deadline);
    }
    LinkEvent poll(double deadline) override { return under_->poll(deadline); }
    double now() const override { return under_->now(); }

   private:
    Links* under_;
    int sent_ = 0;
  };
  const auto words = words_of(run_on_simulated_links(GossipMatrix::ring(agents), {}, [&](Links& links) {
    Silent silent(links);
    static_cast<void>(
        run_agent(links.self() == 2 ? static_cast<Links&>(silent) : links, rows_of(links.self()), federation()));
  }));
  for (const std::string& word : words) expect_in(word, "agent 2 (oslo) did not send");
}

TEST(Federation, EndsEverywhereWhenOneIsAskedToStopWhileItWaits) {
  const auto words = words_of(run_on_simulated_links(
      GossipMatrix::ring(agents), {.deliver = [](const SentFrame&) -> Delivery { return {.after = {1}}; }},
      [&](Links& links) {
        int asked = 0;
        static_cast<void>(run_agent(links, rows_of(links.self()), federation(),
                                    {.go_on = [&] { return links.self() != 3 || ++asked < 100; }}));
      }));
  EXPECT_EQ(words[3], "was asked to stop");
  for (const std::size_t agent : {0, 1, 2}) expect_in(words[agent], "agent 3 (lyon): was asked to stop");
}

TEST(Federation, SaysThatAResultIsNotConfirmedWhereTheLastRoundsFail) {
  Index unconfirmed = 0, failed = 0;
  for (std::int64_t last = 25; last < 120; ++last) {  // from here on agent 1 sends agent 2 nothing
    std::vector<std::string> words(agents);
    std::vector<bool> has(agents);
    static_cast<void>(
        run_on_simulated_links(GossipMatrix::ring(agents), {.deliver = [&](const SentFrame& sent) -> Delivery {
                                 return {.breaks_link = sent.from == 1 && sent.to == 2 && sent.number >= last};
                               }},
                               [&](Links& links) {
                                 const auto own = static_cast<std::size_t>(links.self());
                                 const AgentOutcome outcome = run_agent(links, rows_of(links.self()), federation());
                                 EXPECT_EQ(outcome.result.digest, right_digest());
                                 words[own] = outcome.unconfirmed;
                                 has[own] = true;
                               }));
    const auto holders = std::count(has.begin(), has.end(), true);
    failed += holders < agents;
    for (std::size_t agent = 0; agent < has.size(); ++agent) {
      if (!has[agent]) continue;
      unconfirmed += !words[agent].empty();
      EXPECT_TRUE(holders == agents || !words[agent].empty()) << "agent " << agent << ", from frame " << last;
    }
  }
  EXPECT_GT(failed, 0);
  EXPECT_GT(unconfirmed, 0);
}

// ---- All of it together ---------------------------------------------------------------------------------------------

// What a seed makes of every frame: late, again, out of order, changed, lost, or the last of its link for a while.
Simulation trouble(std::uint64_t seed) {
  const auto draw = [seed](std::uint64_t what) {
    return random_uniform({.seed = seed, .stream = Stream::test, .agent = 9999}, what);
  };
  const double jitter = 0.05 * draw(0), copies = draw(1) < 0.5 ? 0.1 * draw(2) : 0;
  const double changes = draw(3) < 0.3 ? 0.01 * draw(4) : 0, losses = draw(5) < 0.3 ? 0.01 * draw(6) : 0;
  const double breaks = draw(7) < 0.5 ? 0.03 * draw(8) : 0, heals = 15 * draw(9);
  const bool in_order = draw(10) < 0.7;
  Simulation simulation;
  simulation.deliver = [=](const SentFrame& sent) -> Delivery {
    const auto luck = [&](std::uint64_t what) { return luck_of(sent, seed + 1000 * (what + 1)); };
    Delivery delivery{.after = {0.001 + jitter * luck(0)}, .in_order = in_order};
    if (luck(1) < copies) delivery.after.push_back(luck(2));
    if (luck(3) < losses) delivery.after.clear();
    if (luck(4) < changes) {
      delivery.instead.assign(sent.bytes.begin(), sent.bytes.end());
      delivery.instead[static_cast<std::size_t>(luck(5) * static_cast<double>(sent.bytes.size()))] ^= std::byte{4};
    }
    delivery.breaks_link = luck(6) < breaks;
    delivery.heals_after = heals;
    return delivery;
  };
  if (draw(11) < 0.25) {
    simulation.dies_at.assign(agents, 1e9);
    simulation.dies_at[static_cast<std::size_t>(4 * draw(12))] = 3 * draw(13) * draw(13);
    simulation.death_closes_links = draw(14) < 0.5;
  }
  return simulation;
}

TEST(Federation, EndsWithTheRightAnswerOrATrueWordWhateverTheNetworkDoes) {
  Index right = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Simulation simulation = trouble(seed);
    std::vector<double> ended_at(agents);

    const Ended ended = run_all(simulation, {}, &ended_at);

    expect_true_words(ended);
    for (const double when : ended_at) EXPECT_LE(when, 400) << "of patience";
    right += std::count(ended.digests.begin(), ended.digests.end(), right_digest());
  }
  EXPECT_GE(right, 40);  // the trouble is not such that nothing ever ends well
}

// Such a block takes sixteen bytes, and who copies it may count its rows or columns one by one: for ever.
TEST(Hostile, BlocksWithoutNumbersAreShort) {
  constexpr std::int64_t most = detail::ByteReader::most_of_nothing;
  const auto read = [](std::int64_t rows, std::int64_t cols) {
    detail::ByteWriter writer;
    writer.put(rows), writer.put(cols);
    return detail::ByteReader(writer.bytes()).block().size();
  };
  EXPECT_EQ(read(0, 0), 0);
  EXPECT_EQ(read(0, most), 0);
  EXPECT_EQ(read(most, 0), 0);
  for (const std::int64_t many : {most + 1, std::int64_t{1} << 40, std::int64_t{1} << 62}) {
    test::expect_error<CommunicationError>([&] { read(0, many); }, {"too many empty rows"});
    test::expect_error<CommunicationError>([&] { read(many, 0); }, {"too many empty rows"});
  }
}

}  // namespace
}  // namespace hearsay
