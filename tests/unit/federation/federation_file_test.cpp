#include "formats/federation_file.hpp"

#include <gtest/gtest.h>

#include <string>

#include "formats/json_places.hpp"
#include "hearsay/error.hpp"
#include "support/expect_error.hpp"

namespace hearsay::test {

namespace {

using app::FederationFile;
using app::parse_federation;

constexpr std::string_view small = R"({
  "federation": "heart",
  "agents": [
    {"name": "cleveland", "address": "c.example:7400"},
    {"name": "budapest", "identity": "URI:hearsay://heart/budapest"},
    {"name": "zurich", "address": "[::1]:7402", "identity": "DNS:z.example"}
  ],
  "topology": "ring",
  "k": 4,
  "tolerance": 1e-8
})";

std::string with(std::string text, std::string_view old, std::string_view replacement) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), replacement);
}

void expect_refused(const std::string& text, std::string_view message) {
  try {
    parse_federation(text, "f.json");
    ADD_FAILURE() << "accepted: " << text;
  } catch (const DataError& error) {
    EXPECT_NE(std::string_view(error.what()).find(message), std::string_view::npos) << error.what();
  }
}

TEST(FederationFile, SaysWhoTakesPartAndWhatIsComputed) {
  const FederationFile file = parse_federation(small, "f.json");

  ASSERT_EQ(file.agents.size(), 3u);
  EXPECT_EQ(file.agents[0].identity, "DNS:cleveland");
  EXPECT_EQ(file.agents[1].address, "");
  EXPECT_EQ(file.agents[1].identity, "URI:hearsay://heart/budapest");
  EXPECT_EQ(file.agents[2].line, 6);
  EXPECT_EQ(app::federation_options(file).solve.power.rank, 4);
  EXPECT_EQ(app::federation_options(file).network.solver.tolerance, 1e-8);
  EXPECT_EQ(app::find_agent(file, "zurich"), 2);
  EXPECT_EQ(app::find_agent(file, "1"), 1);
  EXPECT_THROW(app::find_agent(file, "zurih"), InvalidArgument);
  EXPECT_THROW(app::find_agent(file, "3"), InvalidArgument);
}

TEST(FederationFile, HasADigestOfWhatItSaysAndNotOfItsLayout) {
  const FederationFile file = parse_federation(small, "f.json");
  const std::string spelt = with(with(std::string(small), "1e-8", "0.00000001"), "\"topology\": \"ring\",\n", "");

  EXPECT_EQ(federation_digest(file), federation_digest(parse_federation(spelt, "g.json")));
  EXPECT_NE(federation_digest(file),
            federation_digest(parse_federation(with(spelt, "\"k\": 4", "\"k\": 5"), "g.json")));
  EXPECT_NE(federation_digest(file), federation_digest(parse_federation(with(spelt, "7400", "7401"), "g.json")));
}

TEST(FederationFile, ReadsWhatItWrites) {
  const FederationFile file = parse_federation(with(with(std::string(small), "\"ring\"", "[[2, 0], [0, 1]]"),
                                                    "\"k\": 4", R"("features": ["a", "é\u0000"], "k": 2)"),
                                               "f.json");

  const FederationFile again = parse_federation(app::federation_text(file), "g.json");

  EXPECT_EQ(app::federation_text(again), app::federation_text(file));
  EXPECT_EQ(again.edges, (std::vector<std::pair<Index, Index>>{{0, 1}, {0, 2}}));
  EXPECT_EQ(again.feature_names, file.feature_names);
}

TEST(FederationFile, NamesLineAndRuleOfWhateverIsWrong) {
  const std::string text(small);
  expect_refused(with(text, "c.example:7400", "c.example"), "f.json:4: agents[0].address = \"c.example\": must be");
  expect_refused(with(text, "c.example:7400", "c.example:70000"), "f.json:4: agents[0].address");
  expect_refused(with(text, "c.example:7400", "::1:7400"), "f.json:4: agents[0].address");
  expect_refused(with(text, "[::1]:7402", "c.example:7400"), "f.json:6: agents[2].address");
  expect_refused(with(text, "zurich", "cleveland"), "f.json:6: agents[2].name = \"cleveland\": must be of one agent");
  expect_refused(with(text, "DNS:z.example", "DNS:cleveland"), "f.json:6: agents[2].identity");
  expect_refused(with(text, "DNS:z.example", "DNS:*.example"), "f.json:6: agents[2].identity");
  expect_refused(with(text, "DNS:z.example", "z.example"), "f.json:6: agents[2].identity");
  expect_refused(with(text, "\"address\": \"[", "\"adress\": \"["),
                 "f.json:6: agents[2].adress: no such key here; did you mean address?");
  expect_refused(with(text, "\"zurich\"", "\"z\\u001b[31m\""), "f.json:6: agents[2].name");
  expect_refused(with(text, "\"ring\"", "\"rign\""), "f.json:8: topology = \"rign\"");
  expect_refused(with(text, "\"ring\"", "[[0, 1],\n [1, 1]]"), "f.json:9: topology[1] = [1,1]");
  expect_refused(with(text, "\"ring\"", "[[0, 1], [1, 0]]"), "must be there once");
  expect_refused(with(text, "\"ring\"", "[[0, 3]]"), "two different agents below 3");
  expect_refused(with(text, "\"k\": 4", "\"k\": 0"), "f.json:9: rank = 0: must be");
  expect_refused(with(text, "\"k\": 4,", ""), "k: missing");
  expect_refused(with(text, "\"k\": 4", "\"k\": 4, \"features\": 3"), "k = 4: must be at most 3");
  expect_refused(with(text, "\"k\": 4", "\"k\": 4, \"features\": [\"a\", \"a\"]"), "features");
  expect_refused(with(text, "\"k\": 4", "\"k\": 4, \"weights\": \"w.npy\""), "weights = w.npy: must be one of");
  expect_refused(with(text, "\"k\": 4", "\"k\": 4, \"algorithm\": \"depca\""), "algorithm = depca: must be one of");
  expect_refused(with(text, "\"k\": 4", "\"k\": 4, \"deadlines\": {\"start\": -1}"), "deadlines.start = -1");
  expect_refused(with(text, "\"k\": 4", "\"k\": 4, \"on-crash\": \"ignore\""),
                 "on-crash = ignore: must be abort, exclude, or wait:SECONDS");
  expect_refused(with(text, "\"k\": 4", "\"k\": 4, \"min-agents\": 2"), "min-agents = 2: must be given only where");
  for (const char* least : {"1", "4", "-2", "2.5", "\"2\""})
    expect_refused(with(text, "\"k\": 4", std::string("\"k\": 4, \"on-crash\": \"exclude\", \"min-agents\": ") + least),
                   "lie in [2, 3]: more than half of the agents");
  expect_refused(with(text, "\"k\": 4", "\"k\": [4]"), "f.json:9: k = [4]");
  expect_refused(with(text, "1e-8", "1e400"), "f.json");
  expect_refused("[]", "must be a JSON object");
  expect_refused("{\"federation\": \"a\",\n \"k\": 1}", "agents: missing");
}

TEST(FederationFile, LeavesAgentsOutOnlyWhereItSaysSo) {
  const FederationFile file = parse_federation(small, "f.json");
  EXPECT_EQ(file.quorum(), 0);
  FederationFile other =
      parse_federation(with(std::string(small), "\"k\": 4", "\"k\": 4, \"on-crash\": \"exclude\""), "f.json");
  EXPECT_EQ(other.quorum(), 2);
  EXPECT_NE(federation_digest(file), federation_digest(other));
  const std::string spelt = federation_digest(other);
  other.min_agents = 2;
  EXPECT_EQ(federation_digest(other), spelt);
  other.min_agents = 3;
  EXPECT_NE(federation_digest(other), spelt);
  EXPECT_EQ(parse_federation(federation_text(other), "f.json").quorum(), 3);
}

TEST(FederationFile, SaysWhatPrivateRowsCost) {
  const std::string text(small);
  const auto dp = [&](const std::string& keys) { return with(text, "\"k\": 4", "\"k\": 4, \"features\": 9, " + keys); };
  const FederationFile file =
      parse_federation(dp(R"("dp": {"epsilon": 1.0, "delta": 0.000001, "row-norm": 3, "trust": "none"})"), "f.json");
  ASSERT_TRUE(file.dp);
  EXPECT_FALSE(file.center);
  EXPECT_EQ(file.dp->delta, 1e-6);
  EXPECT_EQ(file.dp->neighbours, "add-remove");
  const FederationFile again = parse_federation(federation_text(file), "g.json");
  EXPECT_EQ(federation_text(again), federation_text(file));
  FederationFile other = file;
  other.dp->epsilon = 2;
  EXPECT_NE(federation_digest(other), federation_digest(file));

  expect_refused(dp(R"("dp": {"delta": 1e-6, "row-norm": 3})"), "dp.epsilon: missing");
  expect_refused(dp(R"("dp": {"epsilon": 1, "delta": 1, "row-norm": 3})"), "delta = 1 must be below 1");
  expect_refused(dp(R"("dp": {"epsilon": 1, "delta": 1e-6, "row-norm": "3"})"), "dp.row-norm = \"3\"");
  expect_refused(dp(R"("dp": {"epsilon": 1, "delta": 1e-6, "row-norm": 3, "trusts": 1})"), "did you mean trust?");
  expect_refused(dp(R"("dp": {"epsilon": 1, "delta": 1e-6, "row-norm": 3, "colluders": 1.5})"), "dp.colluders");
  expect_refused(dp(R"("dp": {"epsilon": 1, "delta": 1e-6, "row-norm": 3, "mean": [1, 2]})"), "the mean has 2 numbers");
  expect_refused(dp(R"("dp": {"epsilon": 1, "delta": 1e-6, "row-norm": 3}, "center": true)"), "leave `center` out");
  expect_refused(dp(R"("dp": 1)"), "dp = 1: must be an object");
  expect_refused(with(text, "\"k\": 4", "\"k\": 4, \"dp\": {\"epsilon\": 1, \"delta\": 1e-6, \"row-norm\": 3}"),
                 "needs `features`");
}

TEST(JsonPlaces, CountsLinesOfNestedValues) {
  const app::JsonPlaces places("{\"a\": [1,\n {\"b\\n\": \"x,]}\\\"\\n\"},\n 2],\n\"c\":\n null}");

  EXPECT_EQ(places.line_of("a[0]"), 1);
  EXPECT_EQ(places.line_of("a[1].b\n"), 2);
  EXPECT_EQ(places.line_of("a[2]"), 3);
  EXPECT_EQ(places.line_of("c"), 5);
  EXPECT_EQ(places.line_of("a[1].missing"), 2);
  EXPECT_EQ(places.line_of("missing"), 1);
}

}  // namespace

}  // namespace hearsay::test
