#include "hearsay/io/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <type_traits>
#include <vector>

#include "hearsay/error.hpp"
#include "io/npy_format.hpp"
#include "io/raw.hpp"
#include "io/read_from.hpp"

namespace hearsay::io {
namespace {

template <class S>
std::span<char> bytes_of(std::span<S> numbers) {
  return {reinterpret_cast<char*>(numbers.data()), numbers.size_bytes()};
}

// A piece at a time, checked while it is in cache; numbers of our own type go straight to their place.
template <class S>
void read_c_order(const NpyHeader& header, const ByteSource& source, Block<S>& values, const NpyMissing& missing) {
  constexpr std::size_t piece = 1 << 16;
  const bool same_type = header.kind == 'f' && header.item_bytes == sizeof(S) && !header.swapped;
  std::vector<char> stored(same_type ? 0 : piece * header.item_bytes);
  const std::span<S> numbers(values.data(), static_cast<std::size_t>(values.size()));
  for (std::size_t done = 0; done < numbers.size(); done += piece) {
    const std::span<S> part = numbers.subspan(done, std::min(piece, numbers.size() - done));
    if (same_type) {
      pull_npy(header, source, bytes_of(part));
    } else {
      pull_npy(header, source, std::span(stored).first(part.size() * header.item_bytes));
      convert_npy(header, stored.data(), part.size(), part.data());
    }
    require_finite(std::span<const S>(part), done, header.cols, source.name, missing);
  }
}

// Sixteen columns at a time, so that what is written to a row fills whole cache lines.
template <class S>
void read_fortran_order(const NpyHeader& header, const ByteSource& source, Block<S>& values,
                        const NpyMissing& missing) {
  constexpr Index panel = 16;
  const auto rows = static_cast<std::size_t>(header.rows);
  require_memory(rows * static_cast<std::size_t>(std::min(panel, header.cols)), header.item_bytes + sizeof(S),
                 source.name);
  std::vector<char> stored(rows * static_cast<std::size_t>(std::min(panel, header.cols)) * header.item_bytes);
  Small<S> columns(header.rows, std::min(panel, header.cols));
  for (Index j = 0; j < header.cols; j += panel) {
    const Index width = std::min(panel, header.cols - j);
    const std::size_t count = rows * static_cast<std::size_t>(width);
    pull_npy(header, source, std::span(stored).first(count * header.item_bytes));
    convert_npy(header, stored.data(), count, columns.data());
    values.middleCols(j, width) = columns.leftCols(width);
  }
  require_finite(std::span<const S>(values.data(), static_cast<std::size_t>(values.size())), 0, header.cols,
                 source.name, missing);
}

template <class S>
Block<S> read_values(const NpyHeader& header, const ByteSource& source, const NpyMissing& missing) {
  require_memory(header.data_bytes / header.item_bytes, sizeof(S), source.name);
  Block<S> values(header.rows, header.cols);
  expect_to_fill(values.data(), static_cast<std::size_t>(values.size()) * sizeof(S));
  const bool orders_agree = header.rows == 1 || header.cols == 1;
  if (header.fortran_order && !orders_agree)
    read_fortran_order(header, source, values, missing);
  else
    read_c_order(header, source, values, missing);
  require_npy_end(source);
  return values;
}

template <class S>
void write_values(const std::filesystem::path& path, const ConstBlockView<S>& values) {
  if (values.outerStride() != values.cols()) return write_values<S>(path, Block<S>(values));
  constexpr char order = std::endian::native == std::endian::little ? '<' : '>';
  std::string dict = fmt::format("{{'descr': '{}f{}', 'fortran_order': False, 'shape': ({}, {}), }}", order, sizeof(S),
                                 values.rows(), values.cols());
  constexpr std::size_t before_dict = 10, alignment = 64;
  dict.append(alignment - 1 - (before_dict + dict.size()) % alignment, ' ') += '\n';

  AtomicFile file(path);
  file.write(npy_magic);
  const std::array<char, 4> version_and_length{1, 0, static_cast<char>(dict.size() & 0xff),
                                               static_cast<char>(dict.size() >> 8)};
  file.write({version_and_length.data(), version_and_length.size()});
  file.write(dict);
  file.write({reinterpret_cast<const char*>(values.data()), static_cast<std::size_t>(values.size()) * sizeof(S)});
  file.commit();
}

}  // namespace

FloatOrDouble read_npy_from(const ByteSource& source, const TableOptions& options) try {
  const NpyHeader header = read_npy_header(source);
  const NpyMissing missing{options.missing, options.missing_hint};
  if (header.is_float()) return read_values<float>(header, source, missing);
  return read_values<double>(header, source, missing);
} catch (const std::bad_alloc&) {
  throw DataError(fmt::format("{}: there is not enough memory for its numbers", source.name));
}

FloatOrDouble read_raw_from(InputFile& file, const TableOptions& options) try {
  const ByteSource source = source_of(file);
  std::error_code none;
  const bool plain = std::filesystem::is_regular_file(file.name(), none) &&
                     std::filesystem::file_size(file.name(), none) == file.content_bound();
  const NpyHeader header = raw_header(*options.raw, source, plain ? file.content_bound() : 0);
  file.skip(options.raw->skip);
  const NpyMissing missing{options.missing, options.missing_hint};
  if (header.is_float()) return read_values<float>(header, source, missing);
  return read_values<double>(header, source, missing);
} catch (const std::bad_alloc&) {
  throw DataError(fmt::format("{}: there is not enough memory for its numbers", file.name()));
}

FloatOrDouble read_npy(const std::filesystem::path& path) {
  InputFile file(path);
  return read_npy_from(source_of(file));
}

FloatOrDouble parse_npy(std::string_view bytes, std::string_view name) { return read_npy_from(source_of(bytes, name)); }

void write_npy(const std::filesystem::path& path, const ConstBlockView<double>& values) { write_values(path, values); }
void write_npy(const std::filesystem::path& path, const ConstBlockView<float>& values) { write_values(path, values); }

}  // namespace hearsay::io
