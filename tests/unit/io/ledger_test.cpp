#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <hearsay/io/file.hpp>
#include <hearsay/io/ledger.hpp>
#include <optional>

#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"
#include "unprivileged.hpp"

namespace hearsay::io {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::slurp;

const LedgerStamp noon{.when = 1794916800, .version = "9.8.7"};
const LedgerBudget one{
    .data = "patients.csv", .site = "zurich", .neighbours = "add-remove", .epsilon = 4, .delta = 1e-6, .mu = 1};
const std::string digest_a(64, 'a'), digest_b(64, 'b');

Spending costing(double mu) {
  return {.mu = mu,
          .epsilon = 0.5,
          .neighbours = "add-remove",
          .query = "the 5 largest components",
          .command = "hearsay pca patients.csv",
          .stamp = noon};
}

// A ledger of three spends, one of which was released.
fs::path written_in(const test::TempDir& dir) {
  Ledger ledger = Ledger::begin(dir / "l", one, noon);
  const auto receipt = ledger.reserve(costing(0.5));
  ledger.released(receipt, digest_a, noon);
  ledger.reserve(costing(0.25));
  ledger.reserve(costing(0.125));
  return dir / "l";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    lines.push_back(text.substr(at, text.find('\n', at) + 1 - at));
  return lines;
}

TEST(Ledger, SaysWhatWasSpentOnWhatWhenAndByWhom) {
  const test::TempDir dir;
  const auto path = written_in(dir);

  const LedgerContents read = read_ledger(path);

  EXPECT_EQ(read.budget.data, "patients.csv");
  EXPECT_EQ(read.budget.site, "zurich");
  EXPECT_EQ(read.begun.when, noon.when);
  ASSERT_EQ(read.records.size(), 4u);
  EXPECT_EQ(read.records[0].mu, 0.5);
  EXPECT_EQ(read.records[0].query, "the 5 largest components");
  EXPECT_EQ(read.records[0].command, "hearsay pca patients.csv");
  EXPECT_EQ(read.records[0].stamp.version, "9.8.7");
  EXPECT_EQ(read.records[1].kind, LedgerRecord::Kind::release);
  EXPECT_EQ(read.records[1].of, 1);
  EXPECT_EQ(read.spent_mu, std::sqrt(0.25 + 0.0625 + 0.015625));
  EXPECT_NE(slurp(path).find("\"when\":\"2026-11-17T12:00:00Z\""), std::string::npos);
}

TEST(Ledger, GrantsTheWholeBudgetOnceAndNamesSpentAskedAndLeft) {
  const test::TempDir dir;
  LedgerBudget budget = one;
  budget.mu = 0.2369;
  Ledger ledger = Ledger::begin(dir / "l", budget, noon);
  ledger.reserve(costing(0.2369));
  const std::string before = slurp(dir / "l");

  EXPECT_EQ(ledger.contents().left_mu, 0);
  expect_error<InvalidArgument>([&] { ledger.reserve(costing(1e-9)); },
                                {"l: the budget would be exceeded: of mu 0.2369 at delta 1e-06, mu 0.2369 is spent and "
                                 "mu 0 left, and mu 1e-09 is asked for"});
  expect_error<InvalidArgument>([&] { ledger.reserve(costing(1e-9), [](double mu, double) { return 4 * mu; }); },
                                {"of mu 0.2369 (epsilon 0.9476)", "mu 1e-09 (epsilon 4e-09)"});
  EXPECT_EQ(slurp(dir / "l"), before);
}

TEST(Ledger, AddsUpSquaresWithoutRounding) {
  const test::TempDir dir;
  LedgerBudget budget = one;
  budget.mu = 0.1;  // its square is no double
  for (const int parts : {1, 3, 7, 10}) {
    const std::string name = fmt::format("{}", parts);
    Ledger ledger = Ledger::begin(dir / name, budget, noon);
    for (int i = 1; i < parts; ++i) ledger.reserve(costing(0.1 / std::sqrt(parts)));
    const double left = ledger.contents().left_mu;

    expect_error<InvalidArgument>([&] { ledger.reserve(costing(std::nextafter(left, 1.0))); }, {"exceeded"});
    ledger.reserve(costing(left));

    EXPECT_NEAR(left, 0.1 / std::sqrt(parts), 1e-15);
    EXPECT_LT(ledger.contents().left_mu, 1e-8) << parts;
  }
}

TEST(Ledger, KeepsAnyTextAsOneLineOfUtf8) {
  const test::TempDir dir;
  Ledger ledger = Ledger::begin(dir / "l", one, noon);
  Spending spending = costing(0.1);
  spending.query = "\"a\\b\"\n\t\x7f \xc3\xa9 \xff\xc3 {\"record\":9,";
  spending.command = std::string(100000, 'x');
  ledger.reserve(spending);

  const auto records = read_ledger(dir / "l").records;

  EXPECT_EQ(records[0].query, "\"a\\b\"\n\t\x7f \xc3\xa9 ?? {\"record\":9,");
  EXPECT_EQ(records[0].command.size(), 4096u);
  EXPECT_EQ(lines_of(slurp(dir / "l")).size(), 2u);
}

TEST(Ledger, RefusesWhatCannotBeMeant) {
  const test::TempDir dir;
  Ledger ledger = Ledger::begin(dir / "l", one, noon);
  for (const double mu : {0.0, -1.0, 1e-10, 1e10, std::nan(""), HUGE_VAL})
    expect_error<InvalidArgument>([&] { ledger.reserve(costing(mu)); }, {"mu = ", "must lie in [1e-09, 1000000000]"});
  Spending spending = costing(0.1);
  spending.neighbours = "replace";
  expect_error<InvalidArgument>([&] { ledger.reserve(spending); }, {"of neighbours by add-remove", "by replace"});
  spending = costing(0.1), spending.stamp.when = -1;
  expect_error<InvalidArgument>([&] { ledger.reserve(spending); }, {"when = -1"});
  for (LedgerBudget budget : {LedgerBudget{.data = "", .neighbours = "n", .mu = 1}, LedgerBudget{.data = "d", .mu = 1},
                              LedgerBudget{.data = "d", .neighbours = "n", .mu = 0},
                              LedgerBudget{.data = "d", .neighbours = "n", .delta = 1, .mu = 1}})
    EXPECT_THROW(Ledger::begin(dir / "other", budget, noon), InvalidArgument);
  EXPECT_EQ(ledger.contents().spent_mu, 0);
  EXPECT_EQ(dir.files().size(), 1u);
}

TEST(Ledger, IsOfOneDataSetSiteAndKindOfNeighbours) {
  const test::TempDir dir;
  const Ledger ledger = Ledger::begin(dir / "l", one, noon);
  ledger.require_of(one);
  LedgerBudget other = one;
  other.data = "staff.csv";
  expect_error<InvalidArgument>([&] { ledger.require_of(other); },
                                {"is the ledger of data 'patients.csv', not 'staff.csv'"});
  other = one, other.site = "bern";
  expect_error<InvalidArgument>([&] { ledger.require_of(other); }, {"site 'zurich', not 'bern'"});
  other = one, other.neighbours = "replace";
  expect_error<InvalidArgument>([&] { ledger.require_of(other); }, {"neighbours 'add-remove', not 'replace'"});
}

TEST(Ledger, SendsWhatWasReleasedAgainAndNothingElse) {
  const test::TempDir dir;
  Ledger ledger = Ledger::begin(dir / "l", one, noon);
  const auto receipt = ledger.reserve(costing(0.5));
  ledger.released(receipt, digest_a, noon);
  const std::string before = slurp(dir / "l");

  Ledger resumed(dir / "l");
  resumed.released(receipt, digest_a, noon);

  EXPECT_EQ(slurp(dir / "l"), before);
  expect_error<InvalidArgument>([&] { resumed.released(receipt, digest_b, noon); }, {"record 1", "nothing drawn anew"});
  LedgerReceipt forged = receipt;
  forged.sha256 = digest_b;
  expect_error<InvalidArgument>([&] { resumed.released(forged, digest_a, noon); }, {"holds no record 1"});
  EXPECT_THROW(resumed.released(receipt, "abc", noon), InvalidArgument);
}

TEST(Ledger, IsBegunOnceWhateverHasItsName) {
  const test::TempDir dir;
  Ledger::begin(dir / "l", one, noon);
  fs::create_symlink(dir / "nowhere", dir / "link");
  dir.file("other", "mine\n");
  for (const char* name : {"l", "link", "other"})
    expect_error<InvalidArgument>([&] { Ledger::begin(dir / name, one, noon); }, {"is there already"});
  EXPECT_EQ(slurp(dir / "other"), "mine\n");
  EXPECT_FALSE(fs::exists(dir / "nowhere"));
}

// ---- crashes --------------------------------------------------------------------------------------------------------

TEST(Ledger, CountsALineThatWasCutOffAnywhereAndGoesOnBehindIt) {
  const test::TempDir dir;
  const auto path = written_in(dir);
  const std::string whole = slurp(path);
  const std::size_t last = lines_of(whole).back().size(), start = whole.size() - last;
  const std::size_t amount = whole.find("\"kind\"", start) + 7;  // from here on all of it is there
  for (std::size_t end = start + 1; end < whole.size(); ++end) {
    dir.file("l", whole.substr(0, end));

    Ledger ledger(path);
    EXPECT_EQ(ledger.contents().torn_mu, end >= amount ? 0.125 : 0) << end;
    ledger.reserve(costing(0.25));

    EXPECT_TRUE(slurp(path).starts_with(whole.substr(0, end)));
    const LedgerContents read = read_ledger(path);
    EXPECT_TRUE(read.torn.empty());
    EXPECT_EQ(read.records[3].kind, LedgerRecord::Kind::torn);
    EXPECT_EQ(read.records[3].mu, end >= amount ? 0.125 : 0);
    EXPECT_EQ(read.spent_mu, std::sqrt(0.25 + 0.0625 * 2 + (end >= amount ? 0.015625 : 0)));
  }
}

TEST(Ledger, CountsALineOnceHoweverOftenTheNextOnesAreCutOffToo) {
  const test::TempDir dir;
  const auto path = written_in(dir);
  const std::string whole = slurp(path);
  dir.file("l", whole.substr(0, whole.size() - 10));
  for (int crash = 0; crash < 40; ++crash) {
    const std::size_t before = slurp(path).size();
    Ledger(path).reserve(costing(0.01));
    const std::string after = slurp(path);
    dir.file("l", after.substr(0, before + (after.size() - before) * static_cast<std::size_t>(crash + 1) / 41));

    const double spent = read_ledger(path).spent_mu;

    EXPECT_GE(spent, std::sqrt(0.25 + 0.0625 + 0.015625)) << crash;
    EXPECT_LE(spent, std::sqrt(0.25 + 0.0625 + 0.015625 + 1e-4 * (crash + 1)) + 1e-15) << crash;
  }
}

TEST(Ledger, TakesBackWhatAFullDiskCutOff) {
  const test::TempDir dir;
  const auto path = written_in(dir);
  const std::string before = slurp(path);
  Ledger ledger(path);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{.rlim_cur = before.size() + 100, .rlim_max = old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);

  expect_error<Error>([&] { ledger.reserve(costing(0.1)); }, {"cannot be written", "nothing was spent"});

  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(slurp(path), before);
  ledger.reserve(costing(0.1));
  EXPECT_EQ(read_ledger(path).records.size(), 5u);
}

// ---- two at once ----------------------------------------------------------------------------------------------------

TEST(Ledger, NeverSpendsTheSameBudgetInTwoProcesses) {
  const test::TempDir dir;
  Ledger::begin(dir / "l", one, noon);
  std::vector<pid_t> children;
  for (int child = 0; child < 8; ++child) {
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid != 0) {
      children.push_back(pid);
      continue;
    }
    int granted = 0;
    try {
      Ledger ledger(dir / "l");
      for (; granted < 50; ++granted) ledger.reserve(costing(0.25));
    } catch (const Error&) {
    }
    ::_exit(granted);
  }
  int granted = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    granted += WEXITSTATUS(status);
  }
  EXPECT_EQ(granted, 16);
  EXPECT_EQ(read_ledger(dir / "l").spent_mu, 1);
}

TEST(Ledger, RefusesWhileAnotherProcessHoldsItAndSpendsNothing) {
  const test::TempDir dir;
  const auto path = written_in(dir);
  Ledger ledger(path, std::chrono::milliseconds(0));
  const int other = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  const std::string before = slurp(path);
  expect_error<Error>([&] { ledger.reserve(costing(0.1)); }, {"another process holds the ledger", "nothing was spent"});
  ::close(other);
  EXPECT_EQ(slurp(path), before);
  ledger.reserve(costing(0.1));
}

TEST(Ledger, BegunByTwoIsThatOfOne) {
  const test::TempDir dir;
  AtomicFile late(dir / "l");
  late.write("another\n");
  Ledger::begin(dir / "l", one, noon);
  const std::string before = slurp(dir / "l");
  EXPECT_FALSE(late.commit_new());
  EXPECT_EQ(slurp(dir / "l"), before);
}

// ---- files that are not what they should be -------------------------------------------------------------------------

TEST(Ledger, NoticesEveryFlippedBitOfAWholeLine) {
  const test::TempDir dir;
  const std::string whole = slurp(written_in(dir));
  for (std::size_t at = 0; at + 1 < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      EXPECT_THROW(parse_ledger(changed, "l"), DataError) << at << " " << bit;
    }
}

TEST(Ledger, NoticesLinesThatAreMissingMovedOrDoubled) {
  const test::TempDir dir;
  const auto lines = lines_of(slurp(written_in(dir)));
  const auto joined = [&](std::initializer_list<int> order) {
    std::string text;
    for (const int i : order) text += lines[static_cast<std::size_t>(i)];
    return text;
  };
  expect_error<DataError>([&] { parse_ledger("", "l"); }, {"l:1: ", "has no end"});
  expect_error<DataError>([&] { parse_ledger(joined({1, 2, 3, 4}), "l"); }, {"l:1: "});
  expect_error<DataError>(
      [&] {
        parse_ledger(joined({0, 2, 3, 4}), "l");
      },
      {"l:2: ", "it is record 2 where 1 belongs"});
  expect_error<DataError>(
      [&] {
        parse_ledger(joined({0, 1, 3, 2, 4}), "l");
      },
      {"l:3: ", "it is record 3 where 2 belongs"});
  expect_error<DataError>([&] { parse_ledger(joined({0, 1, 2, 2, 3}), "l"); }, {"l:4: "});
  expect_error<DataError>([&] { parse_ledger(joined({0, 1}) + "\n" + lines[2], "l"); }, {"l:3: "});

  const test::TempDir other;
  const auto foreign = lines_of(slurp(written_in(other)));
  std::string mixed = joined({0, 1, 2, 3}) + foreign[4];
  expect_error<DataError>([&] { parse_ledger(mixed, "l"); }, {"l:5: ", "chain is broken"});
}

TEST(Ledger, TellsARollbackByASealThatWasKept) {
  const test::TempDir dir;
  const auto path = written_in(dir);
  Ledger ledger(path);
  const std::string old = slurp(path);
  const auto receipt = ledger.reserve(costing(0.25));
  EXPECT_TRUE(holds_seal(read_ledger(path), receipt.sha256));

  dir.file("l", old);

  EXPECT_FALSE(holds_seal(read_ledger(path), receipt.sha256));
  expect_error<DataError>([&] { ledger.reserve(costing(0.1)); }, {"changed other than by adding to it"});
  expect_error<InvalidArgument>([&] { Ledger(path).released(receipt, digest_a, noon); },
                                {"an older state of this one"});
}

TEST(Ledger, NoticesAnotherFileInItsPlace) {
  const test::TempDir dir;
  const auto path = written_in(dir);
  Ledger ledger(path);
  fs::copy_file(path, dir / "copy");
  fs::rename(dir / "copy", path);
  expect_error<DataError>([&] { ledger.reserve(costing(0.1)); }, {"another file took its place"});
  fs::remove(path);
  expect_error<DataError>([&] { ledger.reserve(costing(0.1)); }, {"another file took its place"});
}

TEST(Ledger, OpensNoLinkPipeFolderOrDevice) {
  const test::TempDir dir;
  const auto path = written_in(dir);
  fs::create_symlink(path, dir / "link");
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  const auto both = [](const fs::path& name, const std::string& saying) {
    expect_error<DataError>([&] { Ledger{name}; }, {saying});
    expect_error<DataError>([&] { read_ledger(name); }, {saying});
  };
  both(dir / "link", "is a symbolic link");
  both(dir / "pipe", "is a pipe");
  both(dir.path(), "is a directory");
  both("/dev/null", "is a device");
  expect_error<InvalidArgument>([&] { Ledger{dir / "none"}; }, {"there is no such ledger"});
}

TEST(Ledger, IsReadButNotSpentFromWhereItCannotBeWritten) {
  const test::TempDir dir;
  const auto path = written_in(dir);
  fs::permissions(path, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  const test::Unprivileged mere(dir.path());
  if (!mere.succeeded()) GTEST_SKIP() << "permissions do not bind this user";
  expect_error<InvalidArgument>([&] { Ledger{path}; }, {"cannot be opened: Permission denied"});
  EXPECT_EQ(read_ledger(path).records.size(), 4u);
}

}  // namespace
}  // namespace hearsay::io
