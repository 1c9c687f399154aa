// Heart, digits by both splits and ego-Facebook among threads; tests/mpi and tests/unit/grpc have the same on theirs.
#include "on_links.hpp"
#include "support/same_digest.hpp"

namespace hearsay {
namespace {

TEST(RealProblems, HaveOneDigestInOneProcessAndOnThreads) {
  test::expect_the_digests_of_one_process(
      [](const GossipMatrix& W, const std::function<void(Links&)>& body) { return run_on_thread_links(W, body); });
}

}  // namespace
}  // namespace hearsay
