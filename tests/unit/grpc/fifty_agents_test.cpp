// ego-Facebook's first 50 people over gRPC, each an agent with up to a dozen links: the digest of one process.
#include "on_grpc.hpp"
#include "support/same_digest.hpp"

namespace hearsay::test {
namespace {

TEST(RealProblems, OfFacebookHaveTheDigestOfOneProcessOverGrpc) {
  expect_the_digests_of_one_process(&run_on_grpc_links, many_agents);
}

}  // namespace
}  // namespace hearsay::test
