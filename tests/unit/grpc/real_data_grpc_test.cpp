// Heart and digits by both splits over gRPC: the digests of one process.
#include "on_grpc.hpp"
#include "support/same_digest.hpp"

namespace hearsay::test {
namespace {

TEST(RealProblems, OfFourHospitalsHaveTheDigestOfOneProcessOverGrpc) {
  expect_the_digests_of_one_process(&run_on_grpc_links, 4);
}

TEST(RealProblems, OfDigitsHaveTheDigestOfOneProcessOverGrpc) {
  expect_the_digests_of_one_process(&run_on_grpc_links, 10);
}

}  // namespace
}  // namespace hearsay::test
