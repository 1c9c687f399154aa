#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hearsay/io/file.hpp>

#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"
#include "unprivileged.hpp"

namespace hearsay::io {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::slurp;

std::ptrdiff_t files_in(const test::TempDir& dir) {
  return std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator());
}

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const test::TempDir dir;
  AtomicFile file(dir / "out.csv");
  file.write("1,2\n");
  EXPECT_FALSE(fs::exists(dir / "out.csv"));

  file.commit();

  EXPECT_EQ(slurp(dir / "out.csv"), "1,2\n");
  EXPECT_EQ(files_in(dir), 1);
}

TEST(AtomicFile, LeavesTheOldFileAndNothingElseWhenItIsNotCommitted) {
  const test::TempDir dir;
  const auto path = dir.file("out.csv", "old");

  {
    AtomicFile file(path);
    file.write("new, but never finished");
  }

  EXPECT_EQ(slurp(path), "old");
  EXPECT_EQ(files_in(dir), 1);
}

TEST(AtomicFile, ReplacesAnOldFileAndKeepsItsPermissions) {
  const test::TempDir dir;
  const auto path = dir.file("out.csv", "old and longer");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);

  AtomicFile file(path);
  file.write("new");
  file.commit();

  EXPECT_EQ(slurp(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(AtomicFile, FollowsASymbolicLinkAndKeepsIt) {
  const test::TempDir dir;
  const auto target = dir.file("target.csv", "old");
  fs::create_symlink(target, dir / "link.csv");

  AtomicFile file(dir / "link.csv");
  file.write("new");
  file.commit();

  EXPECT_TRUE(fs::is_symlink(dir / "link.csv"));
  EXPECT_EQ(slurp(target), "new");
}

TEST(AtomicFile, WritesStraightToADevice) {
  AtomicFile file("/dev/null");
  file.write("gone");
  file.commit();

  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(AtomicFile, ReportsAFullDisk) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  AtomicFile file("/dev/full");

  expect_error<Error>([&] { file.write("too much"); }, {"/dev/full: writing failed", "No space left"});
}

TEST(AtomicFile, HasNoNameBesideItsOwnWhileItIsWritten) {
  const test::TempDir dir;
  AtomicFile file(dir / "out.csv");
  file.write("half");

  for (const auto& entry : fs::directory_iterator(dir.path()))  // where the file system knows no nameless files
    EXPECT_TRUE(entry.path().filename().string().starts_with(".hearsay-")) << entry.path();
  EXPECT_LE(files_in(dir), 1);
}

TEST(AtomicFile, SweepsWhatAKilledProcessLeftAndNothingElse) {
  const test::TempDir dir;
  dir.file(".hearsay-1-0.tmp", "abandoned");
  const auto alive = dir.file(".hearsay-1-1.tmp", "its maker holds a lock");
  dir.file(".hearsay-mine.tmp", "not a name of ours");
  fs::create_symlink(alive, dir / ".hearsay-1-2.tmp");
  const int maker = ::open(alive.c_str(), O_WRONLY);
  ASSERT_EQ(::flock(maker, LOCK_EX | LOCK_NB), 0);

  AtomicFile file(dir / "out.csv");
  file.write("new");
  file.commit();
  ::close(maker);

  EXPECT_FALSE(fs::exists(dir / ".hearsay-1-0.tmp"));
  EXPECT_TRUE(fs::exists(alive));
  EXPECT_TRUE(fs::exists(dir / ".hearsay-mine.tmp"));
  EXPECT_TRUE(fs::is_symlink(dir / ".hearsay-1-2.tmp"));
}

TEST(AtomicFile, RefusesAPipeThatNobodyReads) {
  const test::TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);

  expect_error<InvalidArgument>([&] { AtomicFile file(dir / "pipe"); }, {"pipe", "nobody reads"});
}

TEST(RequireWritable, TouchesNothingWhereAFileCouldBeWritten) {
  const test::TempDir dir;
  const auto old = dir.file("old.csv", "old");

  require_writable(old);
  require_writable(dir / "new.csv");
  require_writable("/dev/null");

  EXPECT_EQ(slurp(old), "old");
  EXPECT_EQ(files_in(dir), 1);
}

TEST(RequireWritable, SaysWhyAFileCouldNotBeWritten) {
  const test::TempDir dir;
  const auto file = dir.file("file", "x");

  expect_error<InvalidArgument>([&] { require_writable(dir / "no/out.csv"); },
                                {"no/out.csv: cannot be written: the directory", "does not exist"});
  expect_error<InvalidArgument>([&] { require_writable(dir.path()); }, {"it is a directory"});
  expect_error<InvalidArgument>([&] { require_writable(dir.path() / ""); }, {"it is a directory"});
  expect_error<InvalidArgument>([&] { require_writable(dir / "missing/"); }, {"it is a directory"});
  expect_error<InvalidArgument>([&] { require_writable(file / "out.csv"); }, {"file/out.csv: cannot be written"});
  expect_error<InvalidArgument>([&] { require_writable(dir / std::string(300, 'x')); }, {"File name too long"});
  expect_error<InvalidArgument>([&] { require_writable(""); }, {"empty"});
}

TEST(RequireWritable, RespectsPermissions) {
  const test::TempDir dir;
  const auto read_only = dir.file("fixed.csv", "old");
  fs::permissions(read_only, fs::perms::owner_read);
  fs::create_directory(dir / "closed");
  fs::permissions(dir / "closed", fs::perms::owner_read | fs::perms::owner_exec);

  const test::Unprivileged user(dir.path());
  ASSERT_TRUE(user.succeeded());

  expect_error<InvalidArgument>([&] { require_writable(read_only); }, {"fixed.csv: cannot be written", "Permission"});
  expect_error<InvalidArgument>([&] { require_writable(dir / "closed/out.csv"); }, {"closed", "Permission denied"});
}

TEST(AtomicFile, RefusesWhatRequireWritableRefuses) {
  const test::TempDir dir;

  expect_error<InvalidArgument>([&] { AtomicFile file(dir / "no/out.csv"); }, {"does not exist"});
  expect_error<InvalidArgument>([&] { AtomicFile file(dir.path()); }, {"it is a directory"});
}

}  // namespace
}  // namespace hearsay::io
