#include "hearsay/io/hdf5.hpp"

#include <gtest/gtest.h>

#include <hearsay/io/matrix.hpp>
#include <hearsay/io/rows.hpp>
#include <limits>

#include "support/expect_error.hpp"
#include "support/hdf5_writer.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

using test::expect_error;
using test::Hdf5Writer;
using test::StoredCells;

// All rows, in blocks of so many.
Block<double> all_rows(RowSource<double>& source, Index height) {
  Block<double> all(0, source.cols()), some(height, source.cols());
  for (;;) {
    const Index count = source.read(some);
    all.conservativeResize(all.rows() + count, Eigen::NoChange);
    all.bottomRows(count) = some.topRows(count);
    if (count < height) return all;
  }
}

template <class S>
Block<double> in_full(const CsrMatrix<S>& A) {
  Block<double> full = Block<double>::Zero(A.rows, A.cols);
  for (Index i = 0; i < A.rows; ++i)
    for (auto e = A.row_start[static_cast<std::size_t>(i)]; e < A.row_start[static_cast<std::size_t>(i) + 1]; ++e)
      full(i, A.columns[static_cast<std::size_t>(e)]) += static_cast<double>(A.values[static_cast<std::size_t>(e)]);
  return full;
}

Block<double> cells_in_full() { return (Block<double>(3, 4) << 0, 1, 0, 2, 0, 0, 0, 0, 3, 4, 5, 0).finished(); }

class Hdf5 : public testing::Test {
 protected:
  Data read(TableOptions options = {}) { return read_data(cells.write(dir / "a.h5ad"), options); }
  void expect_refused(std::initializer_list<std::string> parts) {
    cells.write(dir / "a.h5ad");
    expect_error<DataError>([&] { (void)read_data(dir / "a.h5ad"); }, parts);
    const auto stream = [&] {
      const auto rows = open_rows(dir / "a.h5ad");
      (void)all_rows(*rows, 2);
    };
    expect_error<DataError>(stream, parts);
  }

  test::TempDir dir;
  StoredCells cells;
};

TEST_F(Hdf5, SparseCellsStayInSinglePrecisionAndBringTheirNames) {
  const Data data = read();

  const auto& A = std::get<CsrMatrix<float>>(data.matrix);
  EXPECT_EQ(A.row_start, cells.offsets);
  EXPECT_EQ(A.columns, cells.columns);
  EXPECT_EQ(A.values, cells.values);
  EXPECT_EQ(data.row_names, cells.cells);
  EXPECT_EQ(data.row_title, "cell_id");
  EXPECT_EQ(data.column_names, cells.genes);
  EXPECT_EQ(data.column_title, "gene");
  EXPECT_TRUE(data.notes.empty());
}

TEST_F(Hdf5, RowsPassByWithTheirZerosWhateverTheBlock) {
  const auto rows = open_rows(cells.write(dir / "a.h5ad"));

  EXPECT_EQ(rows->rows(), 3);
  EXPECT_EQ(rows->bytes_per_pass(), 4 * 8U + 5 * 4U + 5 * 4U);
  for (const Index height : {1, 2, 3, 5}) {
    EXPECT_EQ(all_rows(*rows, height), cells_in_full());
    rows->rewind();
  }
  EXPECT_EQ(rows->skip(2), 2);
  EXPECT_EQ(all_rows(*rows, 4), cells_in_full().bottomRows(1));
  EXPECT_EQ(rows->skip(1), 0);
  EXPECT_EQ(column_names(dir / "a.h5ad"), cells.genes);
}

TEST_F(Hdf5, ColumnsAreTurnedIntoRowsInMemoryAndRefusedInAStream) {
  cells.encoding = "csc_matrix";
  cells.offsets = {0, 1, 3, 4, 5};
  cells.columns = {2, 0, 2, 2, 0};
  cells.values = {3, 1, 4, 5, 2};

  const Data data = read();
  EXPECT_EQ(in_full(std::get<CsrMatrix<float>>(data.matrix)), cells_in_full());
  ASSERT_EQ(data.notes.size(), 1U);
  EXPECT_NE(data.notes[0].find("X is stored by columns (CSC), and was turned into rows"), std::string::npos);
  expect_error<InvalidArgument>([&] { (void)open_rows(dir / "a.h5ad"); },
                                {"a.h5ad: X is stored by columns", "tocsr()"});
}

TEST_F(Hdf5, RowsOutOfOrderAreSortedAndEntriesOfOnePlaceAddedUp) {
  cells.offsets = {0, 3, 3, 6};
  cells.columns = {3, 1, 3, 2, 1, 0};
  cells.values = {0.5, 1, 1.5, 5, 4, 3};

  const Data data = read();
  const auto& A = std::get<CsrMatrix<float>>(data.matrix);
  EXPECT_EQ(A.row_start, (std::vector<std::int64_t>{0, 2, 2, 5}));
  EXPECT_EQ(A.columns, (std::vector<std::int32_t>{1, 3, 0, 1, 2}));
  EXPECT_EQ(in_full(A), cells_in_full());
  EXPECT_EQ(all_rows(*open_rows(dir / "a.h5ad"), 2), cells_in_full());
}

TEST_F(Hdf5, DenseMatricesInChunksAreReadInTheirPrecision) {
  const Block<float> values = Block<float>::Random(57, 13);
  const std::vector<float> numbers(values.data(), values.data() + values.size());
  {
    Hdf5Writer to(dir / "a.h5");
    to.numbers("m", {57, 13}, numbers, {10, 4});
  }
  EXPECT_EQ(std::get<Block<float>>(read_data(dir / "a.h5").matrix), values);
  const auto rows = open_rows(dir / "a.h5");
  for (const Index height : {1, 8, 57, 100}) {
    EXPECT_EQ(all_rows(*rows, height), values.cast<double>());
    rows->rewind();
  }
  EXPECT_EQ(rows->skip(50), 50);
  EXPECT_EQ(all_rows(*rows, 100), values.cast<double>().bottomRows(7));
}

TEST_F(Hdf5, IntegersAndOneDimensionAreReadAsDoubles) {
  {
    Hdf5Writer to(dir / "a.hdf5");
    to.numbers<std::int64_t>("counts", {1, -2, 3});
  }
  const Data data = read_data(dir / "a.hdf5");
  EXPECT_EQ(std::get<Block<double>>(data.matrix), (Block<double>(3, 1) << 1, -2, 3).finished());
}

TEST_F(Hdf5, AreKnownByTheirFirstBytes) {
  std::filesystem::rename(cells.write(dir / "a.h5ad"), dir / "plain");
  EXPECT_EQ(in_full(std::get<CsrMatrix<float>>(read_data(dir / "plain").matrix)), cells_in_full());
}

TEST_F(Hdf5, ALabelColumnIsSplitOffADenseMatrixAlone) {
  {
    Hdf5Writer to(dir / "a.h5");
    to.numbers<double>("m", {2, 3}, {1, 7, 2, 3, 8, 4});
  }
  const Data data = read_data(dir / "a.h5", {.label_column = "2"});
  const Block<double> rest = (Block<double>(2, 2) << 1, 2, 3, 4).finished();
  EXPECT_EQ(std::get<Block<double>>(data.matrix), rest);
  EXPECT_EQ(data.labels, (std::vector<std::string>{"7", "8"}));
  EXPECT_EQ(all_rows(*open_rows(dir / "a.h5", {.label_column = "2"}), 3), rest);
  cells.write(dir / "a.h5ad");
  expect_error<InvalidArgument>([&] { (void)read_data(dir / "a.h5ad", {.label_column = "2"}); }, {"'2'", "is sparse"});
}

TEST_F(Hdf5, AnotherMatrixIsTakenByItsName) {
  {
    Hdf5Writer to(dir / "a.h5ad");
    cells.write(to);
    to.group("layers");
    to.numbers<double>("layers/scaled", {3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  }
  const Data data = read_data(dir / "a.h5ad", {.dataset = "/layers/scaled"});
  EXPECT_EQ(std::get<Block<double>>(data.matrix)(2, 3), 12);
  EXPECT_EQ(data.column_names, cells.genes);
  expect_error<DataError>([&] { (void)read_data(dir / "a.h5ad", {.dataset = "layers/none"}); },
                          {"a.h5ad: layers/none: is missing"});
  expect_error<DataError>([&] { (void)read_data(dir / "a.h5ad", {.dataset = "obs"}); },
                          {"a.h5ad: obs: is a group", "csr_matrix"});
  expect_error<DataError>([&] { (void)read_data(dir / "a.h5ad", {.dataset = "obs/cell_id"}); },
                          {"obs/cell_id: does not hold numbers"});
}

TEST_F(Hdf5, AFileOfSeveralMatricesWantsAName) {
  {
    Hdf5Writer to(dir / "a.h5");
    to.numbers<double>("one", {1, 2}, {1, 2});
    to.group("deep");
    to.numbers<double>("deep/two", {1, 2}, {3, 4});
  }
  expect_error<InvalidArgument>([&] { (void)read_data(dir / "a.h5"); }, {"a.h5", "`dataset`", "deep/two, one"});
  EXPECT_EQ(std::get<Block<double>>(read_data(dir / "a.h5", {.dataset = "deep/two"}).matrix)(0, 1), 4);
  dir.file("a.csv", "1,2\n3,4\n");
  expect_error<InvalidArgument>([&] { (void)read_data(dir / "a.csv", {.dataset = "one"}); },
                                {"dataset = one", "a.csv"});
  expect_error<InvalidArgument>([&] { (void)open_rows(dir / "a.csv", {.dataset = "one"}); },
                                {"dataset = one", "a.csv"});
}

TEST_F(Hdf5, TenXIsReadAsCellsByGenes) {
  {
    Hdf5Writer to(dir / "filtered.h5");
    to.group("matrix");
    to.numbers<std::int32_t>("matrix/shape", {4, 3});
    to.numbers("matrix/indptr", cells.offsets);
    to.numbers("matrix/indices", cells.columns);
    to.numbers("matrix/data", cells.values);
    to.texts("matrix/barcodes", cells.cells);
    to.group("matrix/features");
    to.texts("matrix/features/name", cells.genes);
  }
  const Data data = read_data(dir / "filtered.h5");
  EXPECT_EQ(in_full(std::get<CsrMatrix<float>>(data.matrix)), cells_in_full());
  EXPECT_EQ(data.row_names, cells.cells);
  EXPECT_EQ(data.column_names, cells.genes);
}

// ---- Files that are wrong

TEST_F(Hdf5, RefusesOffsetsThatFallOrLead) {
  cells.offsets = {0, 4, 2, 5};
  expect_refused({"a.h5ad: X/indptr: number 3 is 2, after 4"});
  cells.offsets = {1, 2, 2, 5};
  expect_refused({"a.h5ad: X/indptr: number 1 is 1", "begin with 0"});
  cells.offsets = {0, 9, 9, 5};
  expect_refused({"a.h5ad: X/indptr: number 2 is 9: the matrix has 5 entries"});
  cells.offsets = {0, -1, 2, 5};
  expect_refused({"a.h5ad: X/indptr: number 2 is -1, after 0"});
  cells.offsets = {0, 2, 2, 4};
  expect_refused({"a.h5ad: X/indptr: ends with 4; there are 5 entries"});
  cells.offsets = {0, 2, 5};
  expect_refused({"a.h5ad: X/indptr: has 3 numbers; a matrix of 3 x 4 has 4"});
}

TEST_F(Hdf5, RefusesColumnsThatAreNone) {
  cells.columns[3] = 4;
  expect_refused({"a.h5ad: X/indices: number 4, of row 3, is 4: columns go from 0 to 3"});
  cells.columns[3] = -1;
  expect_refused({"a.h5ad: X/indices: number 4, of row 3, is -1"});
  cells.columns = {1, 3, 0};
  expect_refused({"a.h5ad: X/indices: has 3 numbers, and data has 5"});
}

TEST_F(Hdf5, RefusesShapesThatLie) {
  cells.shape = {3, 0};
  expect_refused({"a.h5ad: X: is of shape 3 x 0"});
  cells.shape = {30, 4};
  expect_refused({"a.h5ad: X/indptr: has 4 numbers; a matrix of 30 x 4 has 31"});
  cells.shape = {3, std::int64_t{1} << 40};
  expect_refused({"a.h5ad: X: is of shape 3 x 1099511627776"});
  cells.shape = {3, 3};
  expect_refused({"a.h5ad: X/indices: number 2, of row 1, is 3: columns go from 0 to 2"});
  cells.shape = {3};
  expect_refused({"a.h5ad: X: says no shape"});
  cells.shape = {3, 4};
  cells.encoding = "coo_matrix";
  expect_refused({"a.h5ad: X: is a group of encoding-type coo_matrix"});
}

TEST_F(Hdf5, RefusesNumbersThatAreNotFiniteUnlessTheyMayBeMissing) {
  cells.values[3] = std::numeric_limits<float>::quiet_NaN();
  expect_refused({"a.h5ad: X: row 3, column 2 is nan"});
  const Data data = read({.missing = true});
  EXPECT_TRUE(std::isnan(std::get<CsrMatrix<float>>(data.matrix).values[3]));
  cells.values[3] = std::numeric_limits<float>::infinity();
  expect_refused({"a.h5ad: X: row 3, column 2 is inf"});
  {
    Hdf5Writer to(dir / "a.h5");
    to.numbers<double>("m", {2, 2}, {1, 2, std::numeric_limits<double>::quiet_NaN(), 4});
  }
  expect_error<DataError>([&] { (void)read_data(dir / "a.h5"); }, {"a.h5: m: row 2, column 1 is nan"});
}

TEST_F(Hdf5, RefusesNamesThatAreTooFew) {
  cells.cells = {"c1", "c2"};
  cells.write(dir / "a.h5ad");
  expect_error<DataError>([&] { (void)read_data(dir / "a.h5ad"); }, {"a.h5ad: obs/cell_id: has 2 names for 3 rows"});
}

TEST_F(Hdf5, RefusesWhatIsCutOffOrNoHdf5) {
  const std::string whole = test::slurp(cells.write(dir / "a.h5ad"));
  dir.file("cut.h5ad", whole.substr(0, whole.size() / 2));
  expect_error<DataError>([&] { (void)read_data(dir / "cut.h5ad"); }, {"cut.h5ad: is no HDF5 file", "truncated file"});
  dir.file("text.h5ad", "a,b\n1,2\n");
  expect_error<DataError>([&] { (void)read_data(dir / "text.h5ad"); }, {"text.h5ad: is no HDF5 file"});
  expect_error<DataError>([&] { (void)open_rows(dir / "nowhere.h5ad"); }, {"nowhere.h5ad: no such file"});
}

TEST_F(Hdf5, RefusesPromisesThatNothingStands) {
  {
    Hdf5Writer to(dir / "a.h5");
    to.numbers<double>("m", {1'000'000, 1'000'000}, {}, {1000, 1000});
  }
  expect_error<DataError>([&] { (void)read_data(dir / "a.h5"); },
                          {"a.h5: m: promises 1000000 x 1000000 numbers, and stores 0 bytes"});
  {
    Hdf5Writer to(dir / "b.h5");
    to.numbers<double>("m", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  }
  expect_error<DataError>([&] { (void)read_data(dir / "b.h5"); }, {"b.h5: m: has 3 dimensions"});
}

TEST_F(Hdf5, FollowsNoLinkOutOfTheFile) {
  {
    Hdf5Writer other(dir / "other.h5");
    other.numbers<double>("secret", {1, 1}, {42});
  }
  {
    Hdf5Writer to(dir / "a.h5");
    to.numbers<double>("m", {1, 1}, {1});
    to.link_elsewhere("out", dir / "other.h5", "secret");
    to.soft_link("by_way", "out");
    to.soft_link("inside", "m");
  }
  expect_error<DataError>([&] { (void)read_data(dir / "a.h5", {.dataset = "out"}); },
                          {"a.h5: out: leads to another file"});
  expect_error<DataError>([&] { (void)read_data(dir / "a.h5", {.dataset = "by_way"}); }, {"a.h5: by_way: is missing"});
  EXPECT_EQ(std::get<Block<double>>(read_data(dir / "a.h5", {.dataset = "inside"}).matrix)(0, 0), 1);
}

TEST_F(Hdf5, ChunksThatAreDamagedAreNamedByTheirRows) {
  const std::vector<double> numbers(4000, 1.5);
  {
    Hdf5Writer to(dir / "a.h5");
    to.numbers<double>("m", {1000, 4}, numbers, {500, 4});
  }
  std::string bytes = test::slurp(dir / "a.h5");
  const std::size_t stream = bytes.rfind("\x78\x5e");  // of zlib at level 4: the last chunk
  ASSERT_NE(stream, std::string::npos);
  for (std::size_t i = 0; i < 8; ++i) bytes[stream + 2 + i] = '\xff';
  dir.file("bad.h5", bytes);
  expect_error<DataError>([&] { (void)read_data(dir / "bad.h5"); }, {"bad.h5: m: rows ", "cannot be read"});
}

}  // namespace
}  // namespace hearsay::io
