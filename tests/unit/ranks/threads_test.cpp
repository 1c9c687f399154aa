// What is particular to ranks that are threads, and to a process alone.
#include <gtest/gtest.h>
#include <hearsay/error.hpp>
#include <hearsay/transport.hpp>

#include "support/expect_error.hpp"

namespace hearsay {
namespace {

using test::expect_error;

TEST(RunOnThreads, EndsTheWaitingOfOthersWhenOneLeaves) {
  for (const bool collective : {true, false})
    expect_error<DataError>(
        [&] {
          run_on_threads(3, [&](Transport& ranks) {
            if (ranks.rank() == 1) throw DataError("gone");
            if (collective)
              ranks.gather("");
            else
              static_cast<void>(ranks.take(1));
          });
        },
        {"gone"});
}

TEST(RunOnThreads, TellsOfAMessageThatDidNotFit) {
  run_on_threads(2, [](Transport& ranks) {
    std::vector<std::byte> bytes(ranks.rank() == 0 ? 20 : 10);
    if (ranks.rank() == 0)
      ranks.send(1, bytes);
    else
      ranks.receive(0, bytes);

    EXPECT_EQ(ranks.wait().bytes, 20U);
  });
}

TEST(RunOnThreads, RefusesWhatWouldWaitForEver) {
  run_on_threads(2, [](Transport& ranks) {
    std::vector<std::byte> bytes(1);

    EXPECT_THROW(ranks.wait(), InvalidArgument);
    EXPECT_THROW(ranks.send(ranks.rank(), bytes), InvalidArgument);
    EXPECT_THROW(ranks.send(2, bytes), InvalidArgument);
  });
  EXPECT_THROW(run_on_threads(0, [](Transport&) {}), InvalidArgument);
}

TEST(AloneTransport, IsOneRankWithNobodyToTalkTo) {
  AloneTransport alone;
  std::vector<std::byte> bytes(1);

  EXPECT_EQ(alone.size(), 1);
  EXPECT_EQ(alone.sum(3), 3);
  EXPECT_THROW(alone.send(0, bytes), InvalidArgument);
  expect_error<DataError>([&] { alone.everywhere([] { throw DataError("as it is"); }); }, {"as it is"});
}

}  // namespace
}  // namespace hearsay
