#include "hearsay/io/npz.hpp"

#include <gtest/gtest.h>

#include <zlib.h>
#include <hearsay/io/rows.hpp>

#include <cstring>

#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

using test::expect_error;

template <class T>
std::string raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
  const std::string dict = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  return "\x93NUMPY" + std::string("\x01\x00", 2) + raw(static_cast<std::uint16_t>(dict.size())) + dict + data;
}

template <class T>
std::string npy_vector(const std::string& descr, const std::vector<T>& values) {
  std::string data;
  for (const T value : values) data += raw(value);
  return npy(descr, "(" + std::to_string(values.size()) + ",)", data);
}

// A .zip of such members, as NumPy writes it: sizes beyond 4 GB are in the extra fields of the members' own headers.
class Zip {
 public:
  explicit Zip(bool deflate) : deflate_(deflate) {}

  Zip& add(const std::string& name, const std::string& content) {
    std::string stored = content;
    if (deflate_) {
      z_stream stream{};
      deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
      stored.resize(deflateBound(&stream, content.size()) + 16);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
      stream.avail_in = static_cast<uInt>(content.size());
      stream.next_out = reinterpret_cast<Bytef*>(stored.data());
      stream.avail_out = static_cast<uInt>(stored.size());
      deflate(&stream, Z_FINISH);
      stored.resize(stream.total_out);
      deflateEnd(&stream);
    }
    const auto crc = static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())));
    const auto method = static_cast<std::uint16_t>(deflate_ ? 8 : 0);
    const auto name_bytes = static_cast<std::uint16_t>(name.size());
    const auto header = static_cast<std::uint32_t>(bytes_.size());
    bytes_ += raw(std::uint32_t{0x04034b50}) + raw(std::uint16_t{45}) + raw(std::uint16_t{0}) + raw(method) +
              raw(std::uint32_t{0}) + raw(crc) + raw(~std::uint32_t{0}) + raw(~std::uint32_t{0}) + raw(name_bytes) +
              raw(std::uint16_t{20}) + name + raw(std::uint16_t{1}) + raw(std::uint16_t{16}) +
              raw(std::uint64_t{content.size()}) + raw(std::uint64_t{stored.size()}) + stored;
    directory_ += raw(std::uint32_t{0x02014b50}) + raw(std::uint16_t{45}) + raw(std::uint16_t{45}) +
                  raw(std::uint16_t{0}) + raw(method) + raw(std::uint32_t{0}) + raw(crc) +
                  raw(static_cast<std::uint32_t>(stored.size())) + raw(static_cast<std::uint32_t>(content.size())) +
                  raw(name_bytes) + raw(std::uint16_t{0}) + raw(std::uint16_t{0}) + raw(std::uint16_t{0}) +
                  raw(std::uint16_t{0}) + raw(std::uint32_t{0}) + raw(header) + name;
    ++count_;
    return *this;
  }

  std::string bytes(const std::string& comment = "") const {
    return bytes_ + directory_ + raw(std::uint32_t{0x06054b50}) + raw(std::uint32_t{0}) + raw(count_) + raw(count_) +
           raw(static_cast<std::uint32_t>(directory_.size())) + raw(static_cast<std::uint32_t>(bytes_.size())) +
           raw(static_cast<std::uint16_t>(comment.size())) + comment;
  }

 private:
  bool deflate_;
  std::string bytes_, directory_;
  std::uint16_t count_ = 0;
};

// 3 x 4, as scipy's save_npz has it.
struct Sparse {
  std::string format = npy("|S3", "()", "csr");
  std::vector<std::int64_t> shape{3, 4};
  std::vector<std::int32_t> offsets{0, 2, 2, 5}, columns{1, 3, 0, 1, 2};
  std::vector<float> values{1, 2, 3, 4, 5};

  std::string bytes(bool deflate = true) const {
    return Zip(deflate)
        .add("indices.npy", npy_vector("<i4", columns))
        .add("indptr.npy", npy_vector("<i4", offsets))
        .add("format.npy", format)
        .add("shape.npy", npy_vector("<i8", shape))
        .add("data.npy", npy_vector("<f4", values))
        .bytes();
  }
};

Block<double> npz_in_full(const Data& data) {
  const auto& A = std::get<CsrMatrix<float>>(data.matrix);
  Block<double> full = Block<double>::Zero(A.rows, A.cols);
  for (Index i = 0; i < A.rows; ++i)
    for (auto e = A.row_start[static_cast<std::size_t>(i)]; e < A.row_start[static_cast<std::size_t>(i) + 1]; ++e)
      full(i, A.columns[static_cast<std::size_t>(e)]) = static_cast<double>(A.values[static_cast<std::size_t>(e)]);
  return full;
}

const Block<double> three_by_four = (Block<double>(3, 4) << 0, 1, 0, 2, 0, 0, 0, 0, 3, 4, 5, 0).finished();

TEST(Npz, SparseMatricesOfScipyAreReadInTheirPrecision) {
  for (const bool deflate : {true, false})
    EXPECT_EQ(npz_in_full(parse_npz(Sparse().bytes(deflate), "a.npz")), three_by_four);
  Sparse text;
  text.format = npy("<U3", "()", std::string("c\0\0\0s\0\0\0r\0\0\0", 12));
  EXPECT_EQ(npz_in_full(parse_npz(text.bytes(), "a.npz")), three_by_four);
}

TEST(Npz, ColumnsAreTurnedIntoRows) {
  Sparse stored;
  stored.format = npy("|S3", "()", "csc");
  stored.offsets = {0, 1, 3, 4, 5};
  stored.columns = {2, 0, 2, 2, 0};
  stored.values = {3, 1, 4, 5, 2};

  const Data data = parse_npz(stored.bytes(), "a.npz");
  EXPECT_EQ(npz_in_full(data), three_by_four);
  ASSERT_EQ(data.notes.size(), 1U);
}

TEST(Npz, OneArrayNeedsNoNameAndSeveralDo) {
  const std::string one = npy("<f8", "(1, 2)", raw(1.5) + raw(2.5)), two = npy("<i8", "(1,)", raw(std::int64_t{7}));
  EXPECT_EQ(std::get<Block<double>>(parse_npz(Zip(true).add("x.npy", one).bytes("a comment"), "a.npz").matrix)(0, 1),
            2.5);
  const std::string both = Zip(false).add("x.npy", one).add("y.npy", two).bytes();
  expect_error<InvalidArgument>([&] { (void)parse_npz(both, "a.npz"); }, {"a.npz", "`dataset`", "x, y"});
  EXPECT_EQ(std::get<Block<double>>(parse_npz(both, "a.npz", {.dataset = "y"}).matrix)(0, 0), 7);
  expect_error<DataError>([&] { (void)parse_npz(both, "a.npz", {.dataset = "z"}); }, {"a.npz: has no array z"});
}

TEST(Npz, AFileIsKnownByItsNameOrFirstBytes) {
  const test::TempDir dir;
  dir.file("a.npz", Sparse().bytes());
  dir.file("plain", Sparse().bytes());
  EXPECT_EQ(npz_in_full(read_data(dir / "a.npz")), three_by_four);
  EXPECT_EQ(npz_in_full(read_data(dir / "plain")), three_by_four);
}

// So many rows at a time, twice.
Block<double> passing(RowSource<double>& rows, Index at_once) {
  Block<double> all(0, rows.cols());
  for (int pass = 0; pass < 2; ++pass) {
    all.resize(0, rows.cols());
    rows.rewind();
    Block<double> some(at_once, rows.cols());
    for (Index count = rows.read(some); count > 0; count = rows.read(some)) {
      all.conservativeResize(all.rows() + count, Eigen::NoChange);
      all.bottomRows(count) = some.topRows(count);
    }
  }
  return all;
}

TEST(Npz, RowsPassByUnpacked) {
  const test::TempDir dir;
  for (const bool deflate : {true, false}) {
    dir.file("a.npz", Sparse().bytes(deflate));
    const std::string array = npy("<f4", "(3, 2)", raw(1.f) + raw(2.f) + raw(3.f) + raw(4.f) + raw(5.f) + raw(6.f));
    dir.file("b.npz", Zip(deflate).add("x.npy", array).bytes());
    for (const Index at_once : {1, 2, 5}) {
      const auto sparse = open_rows(dir / "a.npz");
      EXPECT_EQ(passing(*sparse, at_once), three_by_four);
      EXPECT_NE(dynamic_cast<SparseRowSource*>(sparse.get()), nullptr);
      const auto dense = open_rows(dir / "b.npz");
      EXPECT_EQ(passing(*dense, at_once), (Block<double>(3, 2) << 1, 2, 3, 4, 5, 6).finished());
    }
  }
  EXPECT_TRUE(can_be_streamed(dir / "a.npz"));
  EXPECT_EQ(held_shape(dir / "a.npz")->bytes, 5 * 16U + 3 * 8U);
  EXPECT_EQ(held_shape(dir / "b.npz")->bytes, 6 * 4U);
  Sparse columns;
  columns.format = npy("|S3", "()", "csc");
  dir.file("c.npz", columns.bytes());
  expect_error<InvalidArgument>([&] { (void)open_rows(dir / "c.npz"); }, {"c.npz: is stored by columns (CSC)"});
}

TEST(Npz, RefusesArraysThatLie) {
  const auto refused = [](const Sparse& stored, std::initializer_list<std::string> parts) {
    expect_error<DataError>([&] { (void)parse_npz(stored.bytes(), "a.npz"); }, parts);
    const test::TempDir dir;
    dir.file("a.npz", stored.bytes());
    expect_error<DataError>([&] { (void)passing(*open_rows(dir / "a.npz"), 1); }, {"a.npz: "});
  };
  refused({.offsets = {0, 4, 2, 5}}, {"a.npz: indptr.npy: number 3 is 2, after 4"});
  refused({.offsets = {0, 2, 2, 4}}, {"a.npz: indptr.npy: ends with 4; there are 5 entries"});
  refused({.offsets = {0, 2, 5}}, {"a.npz: indptr.npy: has 3 numbers", "have 4"});
  refused({.columns = {1, 4, 0, 1, 2}}, {"a.npz: indices.npy: number 2, of row 1, is 4"});
  refused({.columns = {1, 3, 0, 1}}, {"a.npz: indices.npy: has 4 numbers, and data has 5"});
  refused({.values = {1, 2, std::numeric_limits<float>::quiet_NaN(), 4, 5}}, {"a.npz: row 3, column 1 is nan"});
  refused({.shape = {3, 0}}, {"a.npz: shape.npy: must be two numbers"});
  refused({.shape = {3}}, {"a.npz: shape.npy: must be two numbers"});
  refused({.format = npy("|S3", "()", "bsr")}, {"a.npz: is a sparse matrix of format bsr", "tocsr()"});
}

TEST(Npz, RefusesZipFilesThatAreDamaged) {
  const std::string good = Sparse().bytes();
  const auto refused = [](const std::string& bytes, std::initializer_list<std::string> parts) {
    expect_error<DataError>([&] { (void)parse_npz(bytes, "a.npz"); }, parts);
  };
  refused("", {"a.npz: is no .zip file"});
  refused(good.substr(0, good.size() - 1), {"a.npz: is no .zip file, or not all of one"});
  refused(good.substr(good.size() / 2), {"a.npz: "});
  std::string flipped = good;
  flipped[good.find("indices.npy") + 11 + 20 + 3] ^= 0x20;  // in the deflated bytes of the first member
  refused(flipped, {"a.npz: indices.npy: "});
  std::string encrypted = good;
  encrypted[good.rfind("PK\x01\x02") + 8] |= 1;
  refused(encrypted, {"a.npz: data.npy: is encrypted"});
  std::string method = good;
  method[good.rfind("PK\x01\x02") + 10] = 14;
  refused(method, {"a.npz: data.npy: is packed by method 14"});
  std::string bomb = good;
  const std::uint32_t size = 1 << 30;
  std::memcpy(bomb.data() + good.rfind("PK\x01\x02") + 24, &size, sizeof size);
  refused(bomb, {"a.npz: data.npy: ", "cannot mean 1073741824"});
}

}  // namespace
}  // namespace hearsay::io
