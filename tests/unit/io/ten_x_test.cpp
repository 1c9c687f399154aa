#include "hearsay/io/ten_x.hpp"

#include <gtest/gtest.h>

#include <hearsay/io/matrix.hpp>

#include "gzipped.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

// Two genes of three cells.
const char* const genes_by_cells =
    "%%MatrixMarket matrix coordinate integer general\n2 3 4\n1 1 5\n2 1 1\n2 2 7\n1 3 2\n";

class TenX : public testing::Test {
 protected:
  TenX() {
    dir.file("matrix.mtx.gz", test::gzipped(genes_by_cells));
    dir.file("barcodes.tsv.gz", test::gzipped("AAA-1\nAAC-1\nAAG-1\n"));
    dir.file("features.tsv.gz", test::gzipped("ENSG1\tNOC2L\tGene Expression\nENSG2\tHES 4\tGene Expression\n"));
  }
  test::TempDir dir;
};

TEST_F(TenX, IsReadAsCellsByGenesWithTheirNames) {
  const Data data = read_data(dir / "matrix.mtx.gz");

  const auto& A = std::get<CsrMatrix<double>>(data.matrix);
  EXPECT_EQ(A.rows, 3);
  EXPECT_EQ(A.cols, 2);
  EXPECT_EQ(A.row_start, (std::vector<std::int64_t>{0, 2, 3, 4}));
  EXPECT_EQ(A.columns, (std::vector<std::int32_t>{0, 1, 1, 0}));
  EXPECT_EQ(A.values, (std::vector<double>{5, 1, 7, 2}));
  EXPECT_EQ(data.row_names, (std::vector<std::string>{"AAA-1", "AAC-1", "AAG-1"}));
  EXPECT_EQ(data.column_names, (std::vector<std::string>{"NOC2L", "HES 4"}));
  ASSERT_EQ(data.notes.size(), 1U);
  EXPECT_NE(data.notes[0].find("analysed as cells x genes"), std::string::npos);
}

TEST_F(TenX, AMatrixAloneStaysAsItIs) {
  dir.file("other.mtx", genes_by_cells);
  EXPECT_EQ(std::get<CsrMatrix<double>>(read_data(dir / "other.mtx").matrix).rows, 2);
  std::filesystem::remove(dir / "barcodes.tsv.gz");
  EXPECT_EQ(std::get<CsrMatrix<double>>(read_data(dir / "matrix.mtx.gz").matrix).rows, 2);
}

TEST_F(TenX, OlderNamesAndPrefixesAreKnown) {
  dir.file("GSM1_matrix.mtx", genes_by_cells);
  dir.file("GSM1_barcodes.tsv", "a\nb\nc\n");
  dir.file("GSM1_genes.tsv", "ENSG1\tNOC2L\nENSG2\n");
  EXPECT_EQ(read_data(dir / "GSM1_matrix.mtx").column_names, (std::vector<std::string>{"NOC2L", "ENSG2"}));
}

TEST_F(TenX, RefusesNamesThatAreTooManyOrTurned) {
  dir.file("barcodes.tsv.gz", test::gzipped("AAA-1\nAAC-1\n"));
  test::expect_error<DataError>(
      [&] { (void)read_data(dir / "matrix.mtx.gz"); },
      {"matrix.mtx.gz: is 2 x 3;", "features.tsv.gz names 2 genes", "barcodes.tsv.gz 2 cells"});
  dir.file("matrix.mtx.gz", test::gzipped("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n"));
  test::expect_error<DataError>([&] { (void)read_data(dir / "matrix.mtx.gz"); }, {"matrix.mtx.gz: is an array"});
}

}  // namespace
}  // namespace hearsay::io
