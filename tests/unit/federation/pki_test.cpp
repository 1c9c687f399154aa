#include "pki/pki.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <ctime>

#include "hearsay/error.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::test {

namespace {

constexpr std::time_t one_day = 24 * 60 * 60;

struct SmallPki {
  std::time_t now = std::time(nullptr);
  std::string key = app::new_key(), agent_key = app::new_key();
  std::string authority = app::authority_certificate(key, "heart", {now - one_day, now + 30 * one_day});
  std::string request = app::certificate_request(agent_key, "oslo", "DNS:oslo.example");
  std::string certificate =
      app::signed_certificate(request, authority, key, "oslo", "DNS:oslo.example", {now - one_day, now + one_day});
};

TEST(Pki, SignsWhatIsAskedFor) {
  const SmallPki pki;

  const auto asked = app::read_request(pki.request, "oslo.csr");
  const auto facts = app::read_certificate(pki.certificate, "oslo.pem");

  EXPECT_EQ(asked.name, "oslo");
  EXPECT_EQ(asked.identities, std::vector<std::string>{"DNS:oslo.example"});
  EXPECT_EQ(facts.identities, asked.identities);
  EXPECT_EQ(facts.subject, "CN=oslo");
  EXPECT_EQ(facts.issuer, "CN=heart");
  EXPECT_EQ(facts.validity.end, pki.now + one_day);
  EXPECT_TRUE(app::fits(pki.agent_key, pki.certificate, "oslo.key"));
  EXPECT_FALSE(app::fits(pki.key, pki.certificate, "oslo.key"));
  EXPECT_EQ(app::chain_problem(pki.certificate, pki.authority, pki.now), "");
}

TEST(Pki, SaysWhyAChainDoesNotHold) {
  const SmallPki pki, other;

  EXPECT_EQ(app::chain_problem(pki.certificate, pki.authority, pki.now + 2 * one_day), "certificate has expired");
  EXPECT_EQ(app::chain_problem(pki.certificate, pki.authority, pki.now - 2 * one_day), "certificate is not yet valid");
  EXPECT_NE(app::chain_problem(pki.certificate, other.authority, pki.now), "");
  EXPECT_NE(app::chain_problem(pki.authority, other.authority, pki.now), "");
  EXPECT_NE(app::chain_problem(pki.certificate, "nothing", pki.now), "");
}

TEST(Pki, KeepsANameWithACommaOneName) {
  const SmallPki pki;

  const std::string request = app::certificate_request(pki.agent_key, "x", "URI:a,DNS:oslo.example");

  EXPECT_EQ(app::read_request(request, "x.csr").identities, std::vector<std::string>{"URI:a,DNS:oslo.example"});
}

TEST(Pki, RefusesWhatIsNoRequestKeyOrCertificate) {
  const SmallPki pki;
  std::string changed = pki.request;
  const std::size_t middle = changed.size() / 2;
  changed[middle] = changed[middle] == 'A' ? 'B' : 'A';

  EXPECT_THROW(app::read_request("", "x"), DataError);
  EXPECT_THROW(app::read_request(changed, "x"), DataError);
  EXPECT_THROW(app::read_request(pki.certificate, "x"), DataError);
  EXPECT_THROW(app::read_certificate(pki.request, "x"), DataError);
  EXPECT_THROW(app::fits(pki.request, pki.certificate, "x"), DataError);
}

TEST(Pki, WritesASecretForItsOwnerAndNeverOverOne) {
  const TempDir folder;
  const auto path = folder / "a.key";

  app::write_secret(path, "secret");

  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_THROW(app::write_secret(path, "other"), InvalidArgument);
  EXPECT_EQ(folder.read("a.key"), "secret");
  EXPECT_EQ(folder.files(), std::vector<std::string>{"a.key"});
  EXPECT_THROW(app::write_secret(folder / "missing/a.key", "x"), Error);
}

}  // namespace

}  // namespace hearsay::test
