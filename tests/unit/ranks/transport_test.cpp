#include <gtest/gtest.h>
#include <hearsay/error.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include "on_ranks.hpp"
#include "support/expect_error.hpp"

namespace hearsay {
namespace {

using test::expect_error;
using test::on_ranks;

std::vector<std::byte> message(std::size_t bytes, int seed) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>(i * 31 + static_cast<std::size_t>(seed));
  return made;
}

// Waits until so many sends and receives have ended; what was received, by rank.
std::vector<std::size_t> wait_for(Transport& ranks, int events) {
  std::vector<std::size_t> received(static_cast<std::size_t>(ranks.size()), 0);
  for (int i = 0; i < events; ++i)
    if (const auto event = ranks.wait(); event.kind == Transport::Event::Kind::received)
      received[static_cast<std::size_t>(event.peer)] = event.bytes;
  return received;
}

TEST(Transport, CarriesMessagesBetweenAnyTwoRanks) {
  on_ranks([](Transport& ranks) {
    const auto size = static_cast<std::size_t>(ranks.size());
    std::vector<std::vector<std::byte>> sent(size), received(size);
    for (int peer = 0; peer < ranks.size(); ++peer) {
      if (peer == ranks.rank()) continue;
      const auto at = static_cast<std::size_t>(peer);
      sent[at] = message(100000 + at, ranks.rank());
      received[at].resize(300000);  // longer than the message
      ranks.receive(peer, received[at]);
      ranks.send(peer, sent[at]);
    }
    const auto bytes = wait_for(ranks, 2 * (ranks.size() - 1));

    for (int peer = 0; peer < ranks.size(); ++peer) {
      if (peer == ranks.rank()) continue;
      const auto at = static_cast<std::size_t>(peer);
      ASSERT_EQ(bytes[at], 100000 + static_cast<std::size_t>(ranks.rank()));
      received[at].resize(bytes[at]);
      EXPECT_EQ(received[at], message(bytes[at], peer));
    }
  });
}

TEST(Transport, KeepsTheOrderOfMessagesAndTakesThoseOfUnknownLength) {
  on_ranks([](Transport& ranks) {
    const int right = (ranks.rank() + 1) % ranks.size(), left = (ranks.rank() + ranks.size() - 1) % ranks.size();
    if (right == ranks.rank()) return;
    const std::vector<std::size_t> lengths = {5, 0, 70000, 1};
    std::vector<std::vector<std::byte>> sent;
    for (const std::size_t length : lengths) sent.push_back(message(length, ranks.rank()));
    for (const auto& one : sent) ranks.send(right, one);
    std::vector<std::byte> first(10);
    ranks.receive(left, first);
    int left_over = static_cast<int>(lengths.size()) + 1;
    for (bool arrived = false; !arrived; --left_over) arrived = ranks.wait().kind == Transport::Event::Kind::received;
    first.resize(lengths[0]);

    EXPECT_EQ(first, message(lengths[0], left));
    for (std::size_t i = 1; i < lengths.size(); ++i) EXPECT_EQ(ranks.take(left), message(lengths[i], left));
    wait_for(ranks, left_over);
  });
}

TEST(Transport, GathersAtRankZeroAndTellsEveryoneWhatItSays) {
  on_ranks([](Transport& ranks) {
    const std::string mine(static_cast<std::size_t>(ranks.rank()) * 1000, static_cast<char>('a' + ranks.rank()));

    const auto all = ranks.gather(mine);
    const std::string said = ranks.broadcast(ranks.rank() == 0 ? "from zero" : "ignored");
    const auto everywhere = ranks.gather_everywhere(mine);

    EXPECT_EQ(all.size(), ranks.rank() == 0 ? static_cast<std::size_t>(ranks.size()) : 0);
    EXPECT_EQ(said, "from zero");
    ASSERT_EQ(everywhere.size(), static_cast<std::size_t>(ranks.size()));
    EXPECT_EQ(everywhere[static_cast<std::size_t>(ranks.rank())], mine);
    if (ranks.rank() == 0) {
      EXPECT_EQ(all, everywhere);
    }
  });
}

TEST(Transport, AddsAndComparesNumbers) {
  on_ranks([](Transport& ranks) {
    const double n = ranks.size();

    EXPECT_EQ(ranks.sum(ranks.rank() + 1), n * (n + 1) / 2);
    EXPECT_EQ(ranks.max(-ranks.rank()), 0);
    EXPECT_TRUE(std::isnan(ranks.max(ranks.rank() == 0 ? std::numeric_limits<double>::quiet_NaN() : 1)));
  });
}

TEST(Transport, GivesUpOnARankThatDoesNotAnswer) {
  on_ranks([](Transport& ranks) {
    if (ranks.size() == 1 || ranks.rank() != 0) return;  // and says nothing
    ranks.set_timeout(0.02);

    expect_error<TimeoutError>([&] { static_cast<void>(ranks.take(1)); }, {"heard nothing", "0.02 s"});

    ranks.set_timeout(std::numeric_limits<double>::infinity());
  });
}

TEST(Transport, RefusesATimeoutThatIsNone) {
  AloneTransport alone;
  for (const double seconds : {0.0, -1.0, std::nan("")})
    expect_error<InvalidArgument>([&] { alone.set_timeout(seconds); }, {"timeout"});
}

TEST(Transport, NamesTheRankAndTheFactsThatDiffer) {
  on_ranks([](Transport& ranks) {
    const std::vector<Fact> same = {{"rank", "5"}, {"center", "true"}, {"file", ""}};
    std::vector<Fact> other = same;
    if (ranks.rank() == ranks.size() - 1) other = {{"rank", "5"}, {"center", "false"}, {"file", "x"}};

    ranks.require_alike(same);
    if (ranks.size() == 1) return ranks.require_alike(other);
    expect_error<InvalidArgument>([&] { ranks.require_alike(other); },
                                  {"rank " + std::to_string(ranks.size() - 1) + ": ",
                                   "center is false there, and true on rank 0", "file is x there, and none on rank 0"});
  });
}

TEST(Everywhere, ThrowsNothingWhereNobodyDoes) {
  on_ranks([](Transport& ranks) {
    int calls = 0;

    ranks.everywhere([&] { ++calls; });

    EXPECT_EQ(calls, 1);
  });
}

TEST(Everywhere, BringsOneRanksErrorToAllWithItsClass) {
  on_ranks([](Transport& ranks) {
    if (ranks.size() == 1) return;
    const int guilty = ranks.size() - 1;
    const auto fails = [&](const auto& error) {
      return [&] {
        ranks.everywhere([&] {
          if (ranks.rank() == guilty) throw error;
        });
      };
    };
    const std::string rank = "rank " + std::to_string(guilty) + ": ";

    expect_error<DataError>(fails(DataError("a.csv: no such file")), {rank + "a.csv: no such file"});
    expect_error<InvalidArgument>(fails(InvalidArgument("rank = 0")), {rank + "rank = 0"});
    expect_error<CommunicationError>(fails(CommunicationError("lost")), {rank + "lost"});
    expect_error<Error>(fails(std::runtime_error("else")), {rank + "else"});
  });
}

TEST(Everywhere, NamesNoRankWhereAllSayTheSame) {
  on_ranks([](Transport& ranks) {
    try {
      ranks.everywhere([&] { ranks.everywhere([] { throw InvalidArgument("rank = 0: must lie in [1, 4]"); }); });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const InvalidArgument& error) {
      EXPECT_STREQ(error.what(), "rank = 0: must lie in [1, 4]");
    }
  });
}

TEST(Everywhere, TellsTheFirstOfSeveralErrors) {
  on_ranks([](Transport& ranks) {
    if (ranks.size() < 3) return;

    expect_error<DataError>(
        [&] {
          ranks.everywhere([&] {
            if (ranks.rank() > 0) throw DataError("file " + std::to_string(ranks.rank()));
          });
        },
        {"rank 1: file 1"});
  });
}

}  // namespace
}  // namespace hearsay
