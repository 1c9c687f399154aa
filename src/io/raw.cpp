#include "io/raw.hpp"

#include <fmt/format.h>

#include <charconv>

#include "hearsay/error.hpp"

namespace hearsay::io {

namespace {

std::int64_t size_in(std::string_view part, std::string_view whole) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  require(error == std::errc() && end == part.data() + part.size() && value >= 1,
          fmt::format("raw-shape = {}: must be ROWSxCOLUMNS, or COLUMNS alone, whole numbers of at least 1", whole));
  return value;
}

}  // namespace

RawLayout parse_raw_shape(std::string_view text) {
  const std::size_t cross = text.find('x');
  if (cross == text.npos) return {.columns = size_in(text, text)};
  return {.rows = size_in(text.substr(0, cross), text), .columns = size_in(text.substr(cross + 1), text)};
}

NpyHeader raw_header(const RawLayout& layout, const ByteSource& source, std::uint64_t stored) {
  const auto refuse = [&](const std::string& why) { throw DataError(fmt::format("{}: {}", source.name, why)); };
  NpyHeader header = header_of_type(layout.type);
  require(layout.columns >= 1 && layout.rows >= 0, "raw-shape: rows and columns must be at least 1");
  std::uint64_t row_bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(layout.columns), header.item_bytes, &row_bytes))
    refuse(fmt::format("rows of {} numbers are longer than any memory", layout.columns));
  if (layout.skip > source.bound)
    refuse(fmt::format("holds fewer than the {} bytes that are to be skipped", layout.skip));
  header.cols = layout.columns;
  header.rows = layout.rows;
  if (header.rows == 0) {
    require(stored > 0, fmt::format("raw-shape = {}: {} does not say how many rows it has; give ROWSxCOLUMNS",
                                    layout.columns, source.name));
    const std::uint64_t bytes = stored - layout.skip;
    if (bytes == 0 || bytes % row_bytes != 0)
      refuse(fmt::format("holds {} bytes, which is no whole number of rows of {} numbers of type {} ({} bytes each)",
                         bytes, layout.columns, layout.type, row_bytes));
    header.rows = static_cast<Index>(bytes / row_bytes);
  }
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(header.rows), row_bytes, &header.data_bytes) ||
      header.data_bytes > source.bound - layout.skip)
    refuse(fmt::format("is to hold {} x {} numbers of type {}, more than there are", header.rows, header.cols,
                       layout.type));
  return header;
}

}  // namespace hearsay::io
