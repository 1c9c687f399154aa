#include "hearsay/io/bed.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fmt/format.h>
#include <hearsay/error.hpp>
#include <hearsay/io/matrix.hpp>
#include <hearsay/io/rows.hpp>

#include "gzipped.hpp"
#include "support/expect_error.hpp"
#include "support/genotypes.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

using test::expect_error;

const std::string header("\x6c\x1b\x01", 3);

std::string fam_of(Index samples) {
  std::string text;
  for (Index i = 0; i < samples; ++i) text += fmt::format("F{} I{} 0 0 1 -9\n", i / 2, i);
  return text;
}

std::string bim_of(Index snps) {
  std::string text;
  for (Index j = 0; j < snps; ++j) text += fmt::format("1\trs{}\t0\t{}\tA\tG\n", j, 100 * j);
  return text;
}

std::string bytes_of(const test::Genotypes& made) {
  return header + std::string(made.packed.begin(), made.packed.end());
}

// 5 samples of 3 SNPs, the calls of each two bytes.
class Bed : public testing::Test {
 protected:
  Bed() {
    dir.file("a.bed", bytes_of(made));
    dir.file("a.bim", bim_of(3));
    dir.file("a.fam", fam_of(5));
  }
  void expect_refused(std::initializer_list<std::string> parts) {
    expect_error<DataError>([&] { const BedFile file(dir / "a.bed"); }, parts);
  }

  test::TempDir dir;
  test::Genotypes made = test::random_genotypes(5, 3, 0.2, 1);
};

TEST_F(Bed, IsMappedWithItsSamplesAndSnps) {
  const BedFile file(dir / "a.bed");

  const GenotypeView view = file.view();
  EXPECT_EQ(view.samples, 5);
  EXPECT_EQ(view.snps, 3);
  EXPECT_EQ(std::vector<std::uint8_t>(view.calls, view.calls + 6), made.packed);
  EXPECT_EQ(file.samples()[3].family, "F1");
  EXPECT_EQ(file.samples()[3].id, "I3");
  EXPECT_EQ(file.snps()[2].id, "rs2");
  EXPECT_EQ(file.snps()[2].position, "200");
  EXPECT_EQ(file.snps()[2].first_allele, "A");
  EXPECT_EQ(file.snps()[2].second_allele, "G");
}

TEST_F(Bed, StaysValidWhenTheFileIsMoved) {
  BedFile first(dir / "a.bed");
  BedFile second = std::move(first);

  EXPECT_EQ(count_calls(second.view()).of_snp.size(), 3U);
}

TEST_F(Bed, IsKnownByItsNameOrItsFirstBytes) {
  dir.file("plain", bytes_of(made));
  dir.file("text.csv", "1,2\n3,4\n");

  EXPECT_TRUE(is_bed(dir / "a.bed"));
  EXPECT_TRUE(is_bed(dir / "plain"));
  EXPECT_FALSE(is_bed(dir / "text.csv"));
  EXPECT_FALSE(is_bed(dir / "nowhere.csv"));
}

TEST_F(Bed, TakesLinesWithBlanksAndOtherLineEnds) {
  dir.file("a.fam", "F0  I0 0 0 1 -9\r\nF0\tI1\t0\t0\t2\t1\r\n\r\nF1 I2 0 0 1 -9\nF1 I3 0 0 1 -9\nF2 I4 0 0 1 -9");

  EXPECT_EQ(BedFile(dir / "a.bed").samples()[1].id, "I1");
}

TEST_F(Bed, RefusesOtherFirstBytes) {
  dir.file("a.bed", "SNPs, one by one");
  expect_refused({"a.bed: begins with 53 4e 50", "6c 1b 01"});
  dir.file("a.bed", "\x6c");
  expect_refused({"a.bed: begins with 6c;"});
  dir.file("a.bed", std::string("\x6c\x1b\x00", 3));
  expect_refused({"a.bed: byte 3 is 00", "sample by sample"});
  dir.file("a.bed", "\x6c\x1b\x07");
  expect_refused({"a.bed: byte 3 is 07, and must be 01"});
  dir.file("a.bed", test::gzipped(bytes_of(made)));
  expect_refused({"a.bed: is compressed"});
  dir.file("a.bed", "");
  expect_refused({"a.bed: the file is empty"});
}

TEST_F(Bed, RefusesAnotherLength) {
  dir.file("a.bed", bytes_of(made) + "x");
  expect_refused({"a.bed: has 10 bytes", "the 3 SNPs of ", "a.bim", "the 5 samples of ", "a.fam", "take 9"});
  dir.file("a.bed", bytes_of(made).substr(0, 8));
  expect_refused({"a.bed: has 8 bytes"});
}

TEST_F(Bed, RefusesAFamOfAnotherNumberOfSamples) {
  dir.file("a.fam", fam_of(4));
  expect_refused({"a.bed: has 9 bytes", "take 6"});
  dir.file("a.fam", fam_of(6));  // as many bytes, and the last two calls of each SNP are zero: two copies for the sixth
  const BedFile six(dir / "a.bed");
  EXPECT_EQ(six.view().samples, 6);
  dir.file("a.fam", fam_of(5));
  std::string more = bytes_of(made);
  more[6] = static_cast<char>(more[6] | 0x20);
  dir.file("a.bed", more);
  expect_error<DataError>([&] { (void)count_calls(BedFile(dir / "a.bed").view()); },
                          {"a.bed: SNP 2, its byte 2", "5 samples"});
}

TEST_F(Bed, NamesTheFileThatIsMissing) {
  std::filesystem::remove(dir / "a.fam");
  expect_refused({"a.fam: is missing", "beside", "a.bed", "samples"});
  dir.file("a.fam", fam_of(5));
  std::filesystem::remove(dir / "a.bim");
  expect_refused({"a.bim: is missing", "SNPs"});
  std::filesystem::remove(dir / "a.bed");
  expect_refused({"a.bed: no such file"});
}

TEST_F(Bed, NamesTheLineThatIsWrong) {
  dir.file("a.fam", "F0 I0 0 0 1 -9\nF0 I1 0 0 1\n");
  expect_refused({"a.fam:2: has 5 fields", "has 6"});
  dir.file("a.fam", fam_of(5));
  dir.file("a.bim", "1 rs0 0 100 A G T\n");
  expect_refused({"a.bim:1: has 7 fields"});
  dir.file("a.bim", "\n \n");
  expect_refused({"a.bim: has no lines"});
}

TEST_F(Bed, IsNoPipeAndNoDirectory) {
  std::filesystem::remove(dir / "a.bed");
  ASSERT_EQ(::mkfifo((dir / "a.bed").c_str(), 0600), 0);
  expect_refused({"a.bed: must be a file on a disk"});
  std::filesystem::remove(dir / "a.bed");
  std::filesystem::create_directory(dir / "a.bed");
  expect_refused({"a.bed: is a directory"});
}

TEST_F(Bed, IsNoTable) {
  expect_error<InvalidArgument>([&] { read_data(dir / "a.bed"); }, {"a.bed: holds genotypes", "hearsay pca"});
  expect_error<InvalidArgument>([&] { open_rows(dir / "a.bed"); }, {"a.bed: holds genotypes"});
}

}  // namespace
}  // namespace hearsay::io
