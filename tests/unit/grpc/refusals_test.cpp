// Wrong identities, each refused with its message and before a frame.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "federation.hpp"

namespace hearsay::test {

namespace {

using Kind = LinkEvent::Kind;

// The link must not come up; the dialling end or the dialled one says why.
void expect_refused(GrpcLinks& oslo, GrpcLinks& boston, const std::string& at_boston, const std::string& at_oslo = "") {
  std::vector<std::string> heard;
  const auto told = [&] {
    for (std::string& text : oslo.refusals()) heard.push_back(std::move(text));
    const bool there =
        std::any_of(heard.begin(), heard.end(), [&](const auto& h) { return h.find(at_oslo) != h.npos; });
    return boston.trouble(1).find(at_boston) != std::string::npos && (at_oslo.empty() || there);
  };

  EXPECT_TRUE(comes_true(boston, told)) << boston.trouble(1) << "\n" << fmt::format("{}", fmt::join(heard, "\n"));
  EXPECT_EQ(boston.traffic(1).frames_sent + boston.traffic(1).frames_received, 0);
  EXPECT_EQ(oslo.traffic(0).frames_sent + oslo.traffic(0).frames_received, 0);
  EXPECT_FALSE(boston.send(1, frame_of(1), boston.now()));
}

TEST_F(Pair, RefusesAnExpiredCaller) {
  authority.issue(folder.path(), "boston", "DNS:boston", Authority::around_now(-2 * day, -day));
  GrpcLinks oslo(dialled()), boston(dialler(oslo.port()));
  expect_refused(oslo, boston, "does not accept this agent's certificate", "certificate verify failed");
}

TEST_F(Pair, RefusesACallerThatIsNotYetValid) {
  authority.issue(folder.path(), "boston", "DNS:boston", Authority::around_now(day, 2 * day));
  GrpcLinks oslo(dialled()), boston(dialler(oslo.port()));
  expect_refused(oslo, boston, "does not accept this agent's certificate", "certificate verify failed");
}

TEST_F(Pair, RefusesACallerOfAnotherAuthority) {
  Authority("other").issue(folder.path(), "boston", "DNS:boston");
  write_file(folder.path() / "boston.ca.pem", authority.certificate());
  GrpcLinks oslo(dialled()), boston(dialler(oslo.port()));
  expect_refused(oslo, boston, "does not accept this agent's certificate", "certificate verify failed");
}

TEST_F(Pair, RefusesACallerThatSignedItself) {
  const std::string key = app::new_key();
  write_file(folder.path() / "boston.key", key);
  write_file(folder.path() / "boston.pem", app::authority_certificate(key, "boston", Authority::around_now(-day, day)));
  GrpcLinks oslo(dialled()), boston(dialler(oslo.port()));
  expect_refused(oslo, boston, "does not accept this agent's certificate", "certificate verify failed");
}

TEST_F(Pair, RefusesAnExpiredNeighbourThatIsDialled) {
  authority.issue(folder.path(), "oslo", "DNS:oslo", Authority::around_now(-2 * day, -day));
  GrpcLinks oslo(dialled()), boston(dialler(oslo.port()));
  expect_refused(oslo, boston, "certificate verify failed");
}

TEST_F(Pair, RefusesADialledNeighbourOfAnotherAuthority) {
  Authority("other").issue(folder.path(), "oslo", "DNS:oslo");
  write_file(folder.path() / "oslo.ca.pem", authority.certificate());
  GrpcLinks oslo(dialled()), boston(dialler(oslo.port()));
  expect_refused(oslo, boston, "certificate verify failed");
}

TEST_F(Pair, RefusesADialledNeighbourThatIsNotYetValid) {
  authority.issue(folder.path(), "oslo", "DNS:oslo", Authority::around_now(day, 2 * day));
  GrpcLinks oslo(dialled()), boston(dialler(oslo.port()));
  expect_refused(oslo, boston, "certificate verify failed");
}

TEST_F(Pair, RefusesADialledNeighbourThatSignedItself) {
  const std::string key = app::new_key();
  write_file(folder.path() / "oslo.key", key);
  write_file(folder.path() / "oslo.pem", app::authority_certificate(key, "oslo", Authority::around_now(-day, day)));
  GrpcLinks oslo(dialled()), boston(dialler(oslo.port()));
  expect_refused(oslo, boston, "certificate verify failed");
}

// Its certificate is good for months; the roster has another in its place. It knows the new file, or only the old one.
TEST_F(Pair, RefusesWhoWasTakenOffTheRoster) {
  GrpcOptions without = dialled();
  without.peers[0].name = "bergen";
  without.peers[0].identity = "DNS:bergen";
  without.federation = "cafe";
  GrpcLinks oslo(without);
  for (const std::string digest : {"f00d", "cafe"}) {
    GrpcOptions boston = dialler(oslo.port());
    boston.federation = digest;
    GrpcLinks revoked(boston);
    expect_refused(oslo, revoked, "DNS:boston calls as agent 0 (bergen), which must be DNS:bergen",
                   "DNS:boston calls as agent 0 (bergen), which must be DNS:bergen");
  }
}

TEST_F(Pair, RefusesADialledAgentThatIsAnother) {
  authority.issue(folder.path(), "oslo", "DNS:leeds");
  GrpcLinks oslo(dialled()), boston(dialler(oslo.port()));
  expect_refused(oslo, boston, "is DNS:leeds, and agent 1 (oslo) must be DNS:oslo");
}

TEST_F(Pair, RefusesACallerOfAnotherName) {
  authority.issue(folder.path(), "boston", "DNS:leeds");
  GrpcLinks oslo(dialled()), boston(dialler(oslo.port()));
  expect_refused(oslo, boston, "DNS:leeds calls as agent 0 (boston), which must be DNS:boston",
                 "DNS:leeds calls as agent 0 (boston), which must be DNS:boston");
}

TEST_F(Pair, RefusesAMemberThatIsNoNeighbour) {
  authority.issue(folder.path(), "boston", "DNS:leeds");
  GrpcLinks oslo(dialled());
  GrpcOptions leeds = dialler(oslo.port());
  leeds.self = 2;
  GrpcLinks stranger(leeds);
  expect_refused(oslo, stranger, "DNS:leeds calls as agent 2, which is no neighbour of agent 1", "no neighbour");
}

TEST_F(Pair, RefusesAnotherFederation) {
  GrpcLinks oslo(dialled());
  GrpcOptions other = dialler(oslo.port());
  other.federation = "beef";
  GrpcLinks boston(other);
  expect_refused(oslo, boston, "has the digest beef, and agent 1's f00d", "has the digest beef");
}

TEST_F(Pair, RefusesACallerThatMeantAnother) {
  GrpcLinks oslo(dialled());
  GrpcOptions other = dialler(oslo.port());
  other.peers[0].agent = 3;
  GrpcLinks boston(other);
  EXPECT_TRUE(comes_true(boston, [&] {
    return boston.trouble(3).find("calls agent 3, and this is agent 1") != std::string::npos;
  })) << boston.trouble(3);
}

TEST_F(Pair, KnowsAnIdentityThatIsAUri) {
  authority.issue(folder.path(), "boston", "URI:hearsay://heart/boston");
  GrpcOptions options = dialled();
  options.peers[0].identity = "URI:hearsay://heart/boston";
  GrpcLinks oslo(options), boston(dialler(oslo.port()));
  EXPECT_EQ(wait_for(boston, Kind::opened).peer, 1);
}

TEST_F(Pair, DoesNotTakeTheNameForTheAlternativeName) {
  authority.issue(folder.path(), "oslo", "URI:oslo");  // its subject is CN=oslo
  GrpcLinks oslo(dialled()), boston(dialler(oslo.port()));
  expect_refused(oslo, boston, "is URI:oslo, and agent 1 (oslo) must be DNS:oslo");
}

}  // namespace

}  // namespace hearsay::test
