#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hearsay/io/file.hpp>
#include <string>
#include <thread>

#include "gzipped.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"
#include "unprivileged.hpp"

namespace hearsay::io {
namespace {

using test::expect_error;
using test::gzipped;

std::string long_text() {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + (i % 7 == 0 ? '\n' : ' ');
  return text;
}

TEST(InputFile, ReadsAPlainFileAsItIs) {
  const test::TempDir dir;

  EXPECT_EQ(read_whole(dir.file("plain", "some bytes\n")), "some bytes\n");
  EXPECT_EQ(read_whole(dir.file("one", "x")), "x");
}

TEST(InputFile, TellsGzipByItsBytesAndNotByItsName) {
  const test::TempDir dir;

  EXPECT_EQ(read_whole(dir.file("packed.csv", gzipped("1,2\n"))), "1,2\n");
  EXPECT_EQ(read_whole(dir.file("plain.gz", "1,2\n")), "1,2\n");
}

TEST(InputFile, ReadsGzipMembersInARowAsOneFile) {
  const test::TempDir dir;
  const std::string text = long_text();

  const auto path = dir.file("three.gz", gzipped("head ") + gzipped("") + gzipped(text));

  EXPECT_EQ(read_whole(path), "head " + text);
}

TEST(InputFile, HandsOutTheSameBytesWhateverTheBufferAndAfterRewinding) {
  const test::TempDir dir;
  const std::string text = long_text();
  for (const auto& path : {dir.file("plain", text), dir.file("packed", gzipped(text))}) {
    InputFile file(path);
    for (const std::size_t buffer_size : {1000UL, 65'536UL, 1UL << 21}) {
      std::string seen, buffer(buffer_size, '\0');

      while (const std::size_t count = file.read(buffer)) seen.append(buffer, 0, count);
      file.rewind();

      EXPECT_EQ(seen, text);
      EXPECT_EQ(file.head(), text.substr(0, 64));
    }
  }
}

TEST(InputFile, BoundsItsContentBeforeReadingIt) {
  const test::TempDir dir;
  const std::string zeros(100'000, '0');

  EXPECT_EQ(InputFile(dir.file("plain", zeros)).content_bound(), zeros.size());
  EXPECT_GE(InputFile(dir.file("packed", gzipped(zeros))).content_bound(), zeros.size());
}

TEST(InputFile, ReadsAPipeOnceAndSaysThatItCannotRewind) {
  const test::TempDir dir;
  const auto path = dir / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path) << "1,2\n3,4\n"; });

  InputFile file(path);
  std::string buffer(100, '\0');
  const std::size_t count = file.read(buffer);
  writer.join();

  EXPECT_EQ(buffer.substr(0, count), "1,2\n3,4\n");
  expect_error<DataError>([&] { file.rewind(); }, {"pipe: cannot be read a second time"});
}

TEST(InputFile, SaysWhatIsWrongWithAFileItCannotRead) {
  const test::TempDir dir;

  expect_error<DataError>([&] { read_whole(dir / "absent.csv"); }, {"absent.csv: no such file"});
  expect_error<DataError>([&] { read_whole(dir.path()); }, {dir.path().string(), "is a directory"});
  expect_error<DataError>([&] { read_whole(dir.file("empty.csv", "")); }, {"empty.csv: the file is empty"});
}

TEST(InputFile, SaysThatAFileIsNotForItToRead) {
  const test::TempDir dir;
  const auto path = dir.file("secret.csv", "1\n");
  ::chmod(path.c_str(), 0);
  const test::Unprivileged user(dir.path());
  ASSERT_TRUE(user.succeeded());

  expect_error<DataError>([&] { read_whole(path); }, {"secret.csv: cannot be opened", "Permission denied"});
}

TEST(InputFile, RefusesGzipCutShortAnywhere) {
  const test::TempDir dir;
  const std::string packed = gzipped(long_text());

  for (const std::size_t size : {3UL, 12UL, packed.size() / 2, packed.size() - 9, packed.size() - 1})
    expect_error<DataError>([&] { read_whole(dir.file("cut.gz", packed.substr(0, size))); },
                            {"cut.gz: the gzip data are truncated"});
}

TEST(InputFile, RefusesGzipThatIsDamaged) {
  const test::TempDir dir;
  std::string flipped = gzipped(long_text());
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 0x20);
  std::string wrong_checksum = gzipped("1,2\n");
  wrong_checksum[wrong_checksum.size() - 8] ^= 1;

  for (const std::string& bytes : {flipped, wrong_checksum, gzipped("1,2\n") + "garbage"})
    expect_error<DataError>([&] { read_whole(dir.file("bad.gz", bytes)); }, {"bad.gz: the gzip data are corrupt"});
}

TEST(Decompress, LeavesPlainBytesAlone) {
  EXPECT_EQ(decompress("1,2\n", "text"), "1,2\n");
  EXPECT_EQ(decompress("", "text"), "");
  EXPECT_EQ(decompress(gzipped(long_text()), "text"), long_text());
}

// FIPS 180-2, appendix B.
TEST(Sha256, AgreesWithThePublishedExamples) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, OfAFileIsThatOfItsStoredBytesUnlessTheContentIsAskedFor) {
  const test::TempDir dir;
  const std::string packed = gzipped("abc");
  const auto path = dir.file("abc.gz", packed);

  EXPECT_EQ(sha256_file(path), sha256_hex(packed));
  EXPECT_EQ(sha256_file(path, Content::decompressed), sha256_hex("abc"));
}

}  // namespace
}  // namespace hearsay::io
