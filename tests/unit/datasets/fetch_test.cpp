#include <gtest/gtest.h>

#include <hearsay/datasets.hpp>
#include <hearsay/error.hpp>
#include <hearsay/io/file.hpp>

#include "loopback_server.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

using test::LoopbackServer;
using test::TempDir;
using Names = std::vector<std::string>;

const std::string body(100000, 'x');
const std::string old_content = "an older version";

// One file, data/file.txt, which ought to hold `body`.
Dataset served_from(std::vector<std::string> urls) {
  return {.name = "served",
          .description = "",
          .homepage = "",
          .files = {{.path = "data/file.txt", .urls = std::move(urls), .sha256 = sha256_hex(body)}}};
}

std::string fetch_failure(const Dataset& dataset, const TempDir& directory, const Progress& progress = {}) {
  try {
    (void)fetch(dataset, directory.path(), progress);
  } catch (const CommunicationError& error) {
    return error.what();
  }
  return "";
}

// Fails to fetch into an empty directory, and over an old file: neither may show a trace.
std::string failure_that_leaves_nothing(const Dataset& dataset, const Progress& progress = {}) {
  const TempDir empty, occupied;
  occupied.file("data/file.txt", old_content);

  const std::string message = fetch_failure(dataset, empty, progress);
  EXPECT_FALSE(fetch_failure(dataset, occupied, progress).empty());

  EXPECT_EQ(empty.files(), Names{});
  EXPECT_EQ(occupied.files(), Names{"data/file.txt"});
  EXPECT_EQ(occupied.read("data/file.txt"), old_content);
  return message;
}

TEST(Fetch, DownloadsAndVerifiesOverHttp) {
  const LoopbackServer server({{"/file.txt", test::answer_ok(body)}});
  const TempDir directory;

  const auto written = fetch(served_from({server.url("/file.txt")}), directory.path());

  EXPECT_EQ(written, std::vector{directory.path() / "data/file.txt"});
  EXPECT_EQ(directory.read("data/file.txt"), body);
  EXPECT_EQ(directory.files(), Names{"data/file.txt"});
}

TEST(Fetch, TakesALocalFile) {
  const TempDir source, directory;
  const auto original = source.file("original.txt", body);

  (void)fetch(served_from({"file://" + original.string()}), directory.path());

  EXPECT_EQ(directory.read("data/file.txt"), body);
}

TEST(Fetch, FollowsRedirects) {
  const LoopbackServer server({{"/old", test::answer_redirect("/new")}, {"/new", test::answer_ok(body)}});
  const TempDir directory;

  (void)fetch(served_from({server.url("/old")}), directory.path());

  EXPECT_EQ(directory.read("data/file.txt"), body);
}

TEST(Fetch, DoesNotFollowARedirectToALocalFile) {
  const TempDir source;
  const auto original = source.file("original.txt", body);
  const LoopbackServer server({{"/file.txt", test::answer_redirect("file://" + original.string())}});

  EXPECT_FALSE(failure_that_leaves_nothing(served_from({server.url("/file.txt")})).empty());
}

TEST(Fetch, LeavesAValidFileAlone) {
  const LoopbackServer server({});
  const TempDir directory;
  directory.file("data/file.txt", body);

  EXPECT_TRUE(fetch(served_from({server.url("/file.txt")}), directory.path()).empty());
  EXPECT_EQ(server.requests(), 0);
}

TEST(Fetch, ReplacesADamagedFile) {
  const LoopbackServer server({{"/file.txt", test::answer_ok(body)}});
  const TempDir directory;
  directory.file("data/file.txt", old_content);

  EXPECT_EQ(fetch(served_from({server.url("/file.txt")}), directory.path()).size(), 1u);
  EXPECT_EQ(directory.read("data/file.txt"), body);
}

TEST(Fetch, TriesTheNextAddressWhenOneFails) {
  const LoopbackServer server({{"/other", test::answer_ok("something else")}, {"/file.txt", test::answer_ok(body)}});
  const TempDir directory;

  (void)fetch(served_from({server.url("/none"), server.url("/other"), server.url("/file.txt")}), directory.path());

  EXPECT_EQ(directory.read("data/file.txt"), body);
  EXPECT_EQ(server.requests(), 3);
}

TEST(Fetch, RefusesAWrongDigest) {
  const LoopbackServer server({{"/file.txt", test::answer_ok("something else")}});

  const std::string message = failure_that_leaves_nothing(served_from({server.url("/file.txt")}));

  EXPECT_NE(message.find(server.url("/file.txt")), std::string::npos) << message;
  EXPECT_NE(message.find(sha256_hex("something else")), std::string::npos) << message;
}

TEST(Fetch, NamesTheAddressAndTheStatusOfAnHttpError) {
  const LoopbackServer server({{"/broken", test::answer_status(503)}});

  EXPECT_EQ(failure_that_leaves_nothing(served_from({server.url("/none")})), server.url("/none") + ": HTTP status 404");
  EXPECT_EQ(failure_that_leaves_nothing(served_from({server.url("/broken")})),
            server.url("/broken") + ": HTTP status 503");
}

TEST(Fetch, RefusesATransferThatEndsTooSoon) {
  const LoopbackServer server({{"/file.txt", test::answer_cut_short(body)}});

  const std::string message = failure_that_leaves_nothing(served_from({server.url("/file.txt")}));

  EXPECT_TRUE(message.starts_with(server.url("/file.txt") + ": ")) << message;
}

TEST(Fetch, StopsInTheMiddleWhenTheCallerSaysSo) {
  const LoopbackServer server({{"/file.txt", test::answer_stalled(body)}});
  const Progress stop_on_arrival = [](const DownloadProgress& progress) { return progress.bytes_received == 0; };

  const std::string message =
      failure_that_leaves_nothing(served_from({server.url("/file.txt"), server.url("/never-asked")}), stop_on_arrival);

  EXPECT_NE(message.find("stopped after"), std::string::npos) << message;
  EXPECT_EQ(server.requests(), 2);  // once into each directory
}

TEST(Fetch, GivesUpAFileThatTakesTooLong) {
  const LoopbackServer server({{"/file.txt", test::answer_stalled(body)}});
  const TempDir directory;

  try {
    (void)fetch(served_from({server.url("/file.txt")}), directory.path(), {}, {.each_file = std::chrono::seconds(1)});
    FAIL() << "it never came";
  } catch (const CommunicationError& error) {
    EXPECT_NE(std::string(error.what()).find("in the time allowed"), std::string::npos) << error.what();
  }
  EXPECT_EQ(directory.files(), Names{});
}

TEST(Fetch, RefusesAFileOfWhichNoDigestIsKnown) {
  const TempDir directory;
  Dataset dataset = served_from({"file:///none"});
  dataset.files[0].sha256.clear();

  EXPECT_THROW((void)fetch(dataset, directory.path()), InvalidArgument);
}

TEST(Fetch, PassesOnWhatTheCallersProgressThrows) {
  const LoopbackServer server({{"/file.txt", test::answer_ok(body)}});
  const TempDir directory;
  const Progress fails = [](const DownloadProgress&) -> bool { throw std::domain_error("mine"); };

  EXPECT_THROW((void)fetch(served_from({server.url("/file.txt")}), directory.path(), fails), std::domain_error);
  EXPECT_EQ(directory.files(), Names{});
}

TEST(Fetch, ReportsItsProgress) {
  const LoopbackServer server({{"/file.txt", test::answer_ok(body)}});
  const TempDir directory;
  std::int64_t received = 0, expected = 0;
  bool backwards = false;

  (void)fetch(served_from({server.url("/file.txt")}), directory.path(), [&](const DownloadProgress& progress) {
    backwards = backwards || progress.bytes_received < received;
    received = progress.bytes_received;
    expected = progress.bytes_expected;
    return progress.url == server.url("/file.txt");
  });

  EXPECT_FALSE(backwards);
  EXPECT_EQ(received, static_cast<std::int64_t>(body.size()));
  EXPECT_EQ(expected, received);
}

TEST(Fetch, SaysWhichServerCannotBeReached) {
  std::string url;
  {
    const LoopbackServer gone({});
    url = gone.url("/file.txt");
  }

  EXPECT_TRUE(failure_that_leaves_nothing(served_from({url})).starts_with(url + ": "));
}

TEST(Fetch, RefusesProtocolsOtherThanTheThree) {
  EXPECT_FALSE(failure_that_leaves_nothing(served_from({"ftp://127.0.0.1/file.txt"})).empty());
}

TEST(Fetch, KeepsTheFilesThatArrivedBeforeAFailure) {
  const LoopbackServer server({{"/first", test::answer_ok(body)}});
  const TempDir directory;
  Dataset dataset = served_from({server.url("/first")});
  dataset.files.push_back({.path = "second", .urls = {server.url("/second")}, .sha256 = sha256_hex(body)});

  EXPECT_FALSE(fetch_failure(dataset, directory).empty());
  EXPECT_EQ(directory.files(), Names{"data/file.txt"});
}

TEST(Fetch, RefusesADirectoryItCannotMake) {
  const TempDir directory;
  directory.file("data", "a file where a directory belongs");

  EXPECT_THROW((void)fetch(served_from({"file:///none"}), directory.path()), InvalidArgument);
}

TEST(Fetch, WritesTheSplitOfTheHeartDataWithoutANetwork) {
  const TempDir directory;
  Dataset heart = find_dataset("fed-heart-disease");
  heart.files.erase(heart.files.begin(), heart.files.end() - 1);

  (void)fetch(heart, directory.path());

  EXPECT_EQ(directory.files(), Names{"heart/split.csv"});
  EXPECT_EQ(verify(heart, directory.path()).at(0).state, FileState::valid);  // the digest is of the published file
}

}  // namespace
}  // namespace hearsay::io
