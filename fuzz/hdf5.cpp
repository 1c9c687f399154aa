#include <hearsay/io/hdf5.hpp>
#include <hearsay/io/rows.hpp>

#include <cmath>
#include <cstring>

#include "file.hpp"
#include "fuzz.hpp"
#ifdef HEARSAY_WITH_HDF5
#include "support/hdf5_writer.hpp"
#endif

namespace {

using namespace hearsay;

// What was let through obeys the rules of sparse rows, and the rows that pass by are those in memory.
void expect_rules(const io::Data& data, const std::filesystem::path& path) {
  std::visit(
      [&](const auto& A) {
        if constexpr (requires { A.row_start; }) {
          fuzz::check(A.row_start.size() == static_cast<std::size_t>(A.rows) + 1 && A.row_start.front() == 0);
          fuzz::check(A.row_start.back() == A.nonzeros());
          for (std::size_t i = 1; i < A.row_start.size(); ++i)
            for (auto e = A.row_start[i - 1]; e < A.row_start[i]; ++e) {
              const auto at = static_cast<std::size_t>(e);
              fuzz::check(A.columns[at] >= 0 && A.columns[at] < A.cols && std::isfinite(A.values[at]));
              fuzz::check(e == A.row_start[i - 1] || A.columns[at - 1] < A.columns[at]);
            }
          if (!data.notes.empty()) return;  // by columns: no stream
          if (A.rows * A.cols > 1'000'000) return;
          const auto rows = io::open_rows(path);
          Block<double> all(A.rows, A.cols);
          fuzz::check(rows->read(all) == A.rows);
          for (std::size_t i = 1; i < A.row_start.size(); ++i)
            for (auto e = A.row_start[i - 1]; e < A.row_start[i]; ++e)
              fuzz::check(static_cast<float>(all(static_cast<Index>(i) - 1, A.columns[static_cast<std::size_t>(e)])) ==
                          static_cast<float>(A.values[static_cast<std::size_t>(e)]));
        } else {
          fuzz::check(A.allFinite());
        }
      },
      data.matrix);
}

#ifdef HEARSAY_WITH_HDF5
// The next number of the input; zeros behind its end.
template <class T>
T next(std::string_view& bytes) {
  T value{};
  const std::size_t count = std::min(sizeof(T), bytes.size());
  std::memcpy(&value, bytes.data(), count);
  bytes.remove_prefix(count);
  return value;
}

template <class T>
std::vector<T> numbers(std::string_view& bytes) {
  std::vector<T> values(next<std::uint8_t>(bytes) % 24);
  for (T& value : values) value = static_cast<T>(next<std::int8_t>(bytes));
  return values;
}

// Whole files of HDF5, whose contents the input says: what libhdf5 does with others is its own affair.
std::string stored(std::string_view bytes) {
  test::StoredCells cells;
  const auto kind = next<std::uint8_t>(bytes);
  if ((kind & 1) != 0) cells.encoding = "csc_matrix";
  cells.shape = {next<std::int8_t>(bytes), next<std::int8_t>(bytes)};
  if ((kind & 2) != 0) cells.shape[0] = next<std::int64_t>(bytes);
  cells.offsets = numbers<std::int64_t>(bytes);
  cells.columns = numbers<std::int32_t>(bytes);
  cells.values = numbers<float>(bytes);
  if ((kind & 4) != 0 && !cells.values.empty()) cells.values[0] = next<float>(bytes);
  cells.cells.resize(next<std::uint8_t>(bytes) % 24);
  cells.genes.resize(next<std::uint8_t>(bytes) % 24);
  test::Hdf5Writer to;
  cells.write(to);
  return to.image();
}
#else
std::string stored(std::string_view bytes) { return std::string(bytes); }
#endif

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    const fuzz::MemoryFile file(stored(bytes));
    expect_rules(io::read_hdf5(file.path()), file.path());
  });
}
