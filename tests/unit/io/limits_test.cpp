// Small files that ask for much: refused with the file, the number, the limit and how to raise it, before the memory is
// taken.
#include <gtest/gtest.h>
#include <hearsay/io/edge_list.hpp>
#include <hearsay/io/file.hpp>
#include <hearsay/io/matrix.hpp>
#include <hearsay/io/matrix_market.hpp>
#include <hearsay/io/npy.hpp>
#include <hearsay/io/rows.hpp>
#include <hearsay/io/shards.hpp>
#include <hearsay/memory.hpp>

#include <functional>

#include "gzipped.hpp"
#include "linalg/memory_limit.hpp"
#include "npy_bytes.hpp"
#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace hearsay {
namespace {

// While it lives, the process may use so much.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::uint64_t bytes) { set_memory_limit(bytes); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
  ~MemoryLimit() { set_memory_limit(0); }
};

TEST(ControlGroups, OfBothVersionsAreReadWithThoseAboveThem) {
  const test::TempDir root;
  root.file("app/job/memory.max", "max\n");
  root.file("app/memory.max", "3000000\n");
  root.file("memory/box/memory.limit_in_bytes", "2000000\n");
  root.file("memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.file("unified/app/memory.max", "no number\n");
  const struct {
    const char* text;
    std::uint64_t limit;
  } cases[] = {
      {"0::/app/job\n", 3000000},
      {"0::/app/job/deeper/than/there/is\n", 3000000},
      {"0::/\n", detail::no_memory_limit},
      {"0::/../../elsewhere\n", detail::no_memory_limit},
      {"5:cpu,memory:/box/inner\n3:cpu:/app\n", 2000000},
      {"5:memory:/box\n0::/app\n", 2000000},
      {"5:memory:/other\n", 9223372036854771712u},
      {"", detail::no_memory_limit},
      {"no colons at all", detail::no_memory_limit},
      {"1:two", detail::no_memory_limit},
  };
  for (const auto& [text, limit] : cases) EXPECT_EQ(detail::control_group_limit(text, root.path()), limit) << text;
}

TEST(MemoryLimit, IsThatOfTheMachineUnlessToldOtherwise) {
  const std::uint64_t machine = memory_limit();
  EXPECT_GT(machine, 0u);
  EXPECT_LT(machine, detail::no_memory_limit);
  EXPECT_GT(memory_in_use(), 0u);
  {
    const MemoryLimit limit(123456789);
    EXPECT_EQ(memory_limit(), 123456789u);
  }
  EXPECT_EQ(memory_limit(), machine);
}

TEST(MemoryLimit, CountsWhatIsInUse) {
  const MemoryLimit limit(memory_in_use() + 50'000'000);
  EXPECT_NO_THROW(require_memory(10'000'000, 1, "x"));
  test::expect_error<DataError>([] { require_memory(100'000'000, 8, "x.csv"); },
                                {"x.csv: needs 800.0 MB of memory", "the limit (`memory`) is", "`memory`"});
  test::expect_error<DataError>([] { require_memory(~std::uint64_t{0}, 8, "x"); }, {"needs"});
}

TEST(Gzip, ThatInflatesTwoHundredfoldIsRefused) {
  const test::TempDir directory;
  const std::string bomb = test::gzipped(std::string(std::size_t{80} << 20, '\n'));
  ASSERT_LT(bomb.size(), 100000u);
  const auto path = directory.file("bomb.csv.gz", bomb);
  const std::initializer_list<std::string> parts = {"of gzip data inflate to more than 67.1 MB", "gunzip"};
  test::expect_error<DataError>([&] { io::decompress(bomb, "bomb"); }, parts);
  test::expect_error<DataError>([&] { io::read_data(path); }, parts);
  test::expect_error<DataError>([&] { io::open_rows(path); }, parts);
}

TEST(Gzip, OfLessIsReadWhateverItsRatio) {
  const std::string content(std::size_t{16} << 20, '0');
  EXPECT_EQ(io::decompress(test::gzipped(content), "zeros"), content);
}

TEST(Readers, RefuseWhatTheMemoryDoesNotHold) {
  const test::TempDir directory;
  const std::uint64_t much = memory_in_use() + 100'000'000;  // sanitizers use much themselves
  const std::string wide(much / 32, '1');
  std::string columns;
  for (int i = 0; i < 100'000; ++i) columns += "1,";
  columns += "1\n";
  std::string rows, edges, array = "%%MatrixMarket matrix array real general\n600000 1\n";
  for (int i = 0; i < 600'000; ++i) rows += "1\n", edges += "1 2\n", array += "1\n";
  const auto npy = directory.file(
      "n.npy",
      test::npy_bytes("{'descr': '|b1', 'fortran_order': False, 'shape': (1, 900000), }", std::string(900'000, '\1')));
  const struct {
    const char* what;
    std::uint64_t limit;
    std::function<void()> read;
    std::string says;
  } cases[] = {
      {"a long line", much, [&] { io::parse_table(wide, "x"); }, "x:1: the line is longer than"},
      {"a long line of edges", much, [&] { io::parse_edge_list(wide, "x"); }, "x:1: the line is longer"},
      {"a long banner", much, [&] { io::parse_matrix_market("%%" + wide, "x"); }, "x:1: the line is longer"},
      {"many columns", much, [&] { io::parse_table(columns, "x"); }, "100001 columns, and the limit is"},
      {"many rows", 1'000'000, [&] { io::parse_table(rows, "x"); }, "x: needs"},
      {"many edges", 1'000'000, [&] { io::parse_edge_list(edges, "x"); }, "x: needs"},
      {"an array", 1'000'000, [&] { io::parse_matrix_market(array, "x"); }, "x: needs 4.8 MB"},
      {"empty rows", 1'000'000,
       [] { io::parse_matrix_market("%%MatrixMarket matrix coordinate real general\n900000 1 1\n1 1 1\n", "x"); },
       "x: needs 7.2 MB"},
      {"bytes to doubles", 1'000'000, [&] { io::read_npy(npy); }, "needs 7.2 MB"},
      {"a row of bytes", 1'000'000, [&] { io::open_rows(npy); }, "needs"},
      {"a split of a wide file", 1'000'000,
       [&] {
         const Index agents[] = {0};
         io::read_split(directory.file("s.csv", "1,2\n3,4\n"), {std::vector<Index>(200'000)}, agents);
       },
       "needs 3.2 MB"},
  };
  for (const auto& [what, bytes, read, says] : cases) {
    SCOPED_TRACE(what);
    const MemoryLimit limit(bytes);
    test::expect_error<DataError>(read, {says, "`memory`"});
  }
}

TEST(ReadWhole, StopsAtTheMostThatIsAllowed) {
  const test::TempDir directory;
  const auto path = directory.file("a", std::string(1000, 'x'));
  EXPECT_EQ(io::read_whole(path, 1000).size(), 1000u);
  test::expect_error<DataError>([&] { io::read_whole(path, 999); }, {"holds more than 999 bytes"});
  test::expect_error<DataError>([] { io::read_whole("/dev/zero", 100000); }, {"holds more than 100.0 kB"});
}

TEST(EndlessInput, OfOneLineIsRefusedByEveryReader) {
  const MemoryLimit limit(memory_in_use() + 64'000'000);
  const std::initializer_list<std::string> parts = {"/dev/zero:1: the line is longer than"};
  test::expect_error<DataError>([] { io::read_data("/dev/zero"); }, parts);
  test::expect_error<DataError>([] { io::open_rows("/dev/zero"); }, parts);
  test::expect_error<DataError>([] { io::read_edge_list("/dev/zero"); }, parts);
  test::expect_error<DataError>([] { io::read_matrix_market("/dev/zero"); }, parts);
  test::expect_error<DataError>([] { io::read_npy("/dev/zero"); }, {"is not a NumPy .npy file"});
}

}  // namespace
}  // namespace hearsay
