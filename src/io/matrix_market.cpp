#include "hearsay/io/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <vector>

#include "hearsay/error.hpp"
#include "io/coordinates.hpp"
#include "io/read_from.hpp"
#include "io/text.hpp"

namespace hearsay::io {
namespace {

class Parser {
 public:
  explicit Parser(ByteSource source, bool turned) : lines_(std::move(source)), turned_(turned) {}

  MatrixMarket parse() {
    read_banner();
    if (coordinate_) return {.matrix = read_coordinates(), .declared_symmetric = symmetric_};
    return {.matrix = read_array(), .declared_symmetric = symmetric_};
  }

 private:
  [[noreturn]] void fail(std::string_view what, Index field = 0) const {
    fail_at(lines_.name(), lines_.number(), field, what);
  }

  void read_banner() {
    std::string_view line;
    lines_.next(line);
    std::string lower(line);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    std::string_view rest = lower;
    if (next_field(rest) != "%%matrixmarket")
      fail_at(lines_.name(), 1, 0, "is not a Matrix Market file: the first line must begin with %%MatrixMarket");
    const std::string_view object = next_field(rest), format = next_field(rest), field = next_field(rest),
                           symmetry = next_field(rest);
    if (object != "matrix") fail(fmt::format("{} is not 'matrix'", shown(object)), 2);
    if (format != "coordinate" && format != "array")
      fail(fmt::format("{} is neither 'coordinate' nor 'array'", shown(format)), 3);
    if (field == "complex") fail("complex matrices cannot be read", 4);
    if (field != "real" && field != "double" && field != "integer" && field != "pattern")
      fail(fmt::format("{} is none of 'real', 'integer' and 'pattern'", shown(field)), 4);
    if (symmetry != "general" && symmetry != "symmetric")
      fail(fmt::format("{} matrices cannot be read; 'general' and 'symmetric' ones can", shown(symmetry)), 5);
    coordinate_ = format == "coordinate";
    pattern_ = field == "pattern";
    symmetric_ = symmetry == "symmetric";
    if (pattern_ && !coordinate_) fail("an array cannot be a pattern", 4);
  }

  // The next line that is neither blank nor a comment.
  bool next_line() {
    while (lines_.next_filled(rest_))
      if (!rest_.starts_with('%')) return true;
    return false;
  }

  std::int64_t integer(Index field, std::int64_t least, std::int64_t most, std::string_view what) {
    const std::string_view text = next_field(rest_);
    std::int64_t value = 0;
    if (!to_integer(text, value)) fail(fmt::format("the {} {} is not a whole number", what, shown(text)), field);
    if (value < least || value > most)
      fail(fmt::format("the {} {} is not in {} to {}", what, value, least, most), field);
    return value;
  }

  double number(Index field) {
    const std::string_view text = next_field(rest_);
    double value = 0;
    if (text.empty()) fail("the value is missing", field);
    if (!to_number(text, value)) fail(fmt::format("{} is not a number", shown(text)), field);
    if (!std::isfinite(value)) fail(fmt::format("{} is not finite", shown(text)), field);
    return value;
  }

  void end_of_line(Index field) {
    const std::string_view text = next_field(rest_);
    if (!text.empty()) fail(fmt::format("{} is more than the line should hold", shown(text)), field);
  }

  void read_size() {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (!next_line()) fail("the line of sizes is missing");
    rows_ = integer(1, 1, most, "number of rows");
    cols_ = integer(2, 1, most, "number of columns");
    if (coordinate_) entries_ = integer(3, 0, std::int64_t{1} << 40, "number of entries");
    end_of_line(coordinate_ ? 4 : 3);
    if (symmetric_ && rows_ != cols_) fail(fmt::format("a symmetric matrix cannot be {} x {}", rows_, cols_));
  }

  // Before memory is taken: every line of entries has so many bytes at least.
  void require_room(std::uint64_t entries, std::uint64_t bytes_per_entry) const {
    if (entries > lines_.bound() / bytes_per_entry + 1)
      fail(fmt::format("{} entries are promised, more than the file holds", entries));
  }

  [[noreturn]] void fail_early(std::int64_t found, std::int64_t promised) const {
    fail(fmt::format("the file ends after {} of {} entries", found, promised));
  }

  void require_end() {
    if (next_line()) fail("the file goes on after the last entry it promised");
  }

  CsrMatrix<double> read_coordinates() {
    read_size();
    require_room(static_cast<std::uint64_t>(entries_), 4);
    // A matrix may have empty rows, but a few bytes must not make us set up billions of them.
    if (const Index rows = turned_ ? cols_ : rows_; rows > 1'000'000 + 1000 * entries_)
      fail(fmt::format("{} {} for {} entries: too empty to be true", rows, turned_ ? "columns" : "rows", entries_));
    const std::int64_t stored = symmetric_ ? 2 * entries_ : entries_;
    // Entries, the room to sort them in, and their rows and columns.
    require_memory(static_cast<std::uint64_t>(turned_ ? cols_ : rows_), sizeof(Index), lines_.name());
    require_memory(static_cast<std::uint64_t>(stored), 2 * sizeof(Coordinate) + sizeof(std::int32_t) + sizeof(double),
                   lines_.name());

    std::vector<Coordinate> entries;
    entries.reserve(static_cast<std::size_t>(stored));
    for (std::int64_t e = 0; e < entries_; ++e) {
      if (!next_line()) fail_early(e, entries_);
      const auto i = static_cast<std::int32_t>(integer(1, 1, rows_, "row") - 1);
      const auto j = static_cast<std::int32_t>(integer(2, 1, cols_, "column") - 1);
      const double value = pattern_ ? 1.0 : number(3);
      end_of_line(pattern_ ? 3 : 4);
      if (symmetric_ && j > i)
        fail(fmt::format("({}, {}) lies above the diagonal; a symmetric file holds the lower triangle", i + 1, j + 1));
      entries.push_back({.row = turned_ ? j : i, .column = turned_ ? i : j, .value = value});
      if (symmetric_ && i != j) entries.push_back({.row = j, .column = i, .value = value});
    }
    require_end();
    CsrMatrix<double> A = compress(std::move(entries), turned_ ? cols_ : rows_, turned_ ? rows_ : cols_);
    if (!std::all_of(A.values.begin(), A.values.end(), [](double value) { return std::isfinite(value); }))
      throw DataError(fmt::format("{}: entries given for the same place add up to infinity", lines_.name()));
    return A;
  }

  // Arrays are stored column by column; symmetric ones from the diagonal down.
  Block<double> read_array() {
    read_size();
    const std::int64_t promised = symmetric_ ? rows_ * (rows_ + 1) / 2 : rows_ * cols_;
    require_room(static_cast<std::uint64_t>(promised), 2);
    require_memory(static_cast<std::uint64_t>(rows_ * cols_), sizeof(double), lines_.name());

    Block<double> A(rows_, cols_);
    std::int64_t found = 0;
    for (Index j = 0; j < cols_; ++j) {
      for (Index i = symmetric_ ? j : 0; i < rows_; ++i, ++found) {
        if (!next_line()) fail_early(found, promised);
        A(i, j) = number(1);
        end_of_line(2);
        if (symmetric_) A(j, i) = A(i, j);
      }
    }
    require_end();
    return A;
  }

  LineReader lines_;
  std::string_view rest_;  // of the line being read
  bool turned_;            // coordinates alone: rows are columns
  bool coordinate_ = false, pattern_ = false, symmetric_ = false;
  std::int64_t rows_ = 0, cols_ = 0, entries_ = 0;
};

}  // namespace

MatrixMarket read_matrix_market_from(ByteSource source, bool turned) {
  return Parser(std::move(source), turned).parse();
}

MatrixMarket read_matrix_market(const std::filesystem::path& path) {
  InputFile file(path);
  return read_matrix_market_from(source_of(file));
}

MatrixMarket parse_matrix_market(std::string_view text, std::string_view name) {
  return read_matrix_market_from(source_of(text, name));
}

}  // namespace hearsay::io
