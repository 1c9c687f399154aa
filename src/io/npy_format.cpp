#include "io/npy_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "hearsay/error.hpp"
#include "io/npy_dict.hpp"

namespace hearsay::io {
namespace {

[[noreturn]] void fail(const ByteSource& source, std::string_view what) {
  throw DataError(fmt::format("{}: {}", source.name, what));
}

std::string read_dict_text(const ByteSource& source) {
  std::array<char, 12> start{};
  const std::span<char> bytes(start);
  if (source.pull(bytes.first(8)) != 8 || std::string_view(start.data(), npy_magic.size()) != npy_magic)
    fail(source, "is not a NumPy .npy file (its first bytes are not those of one)");
  const int version = start[6];
  if (version < 1 || version > 3)
    fail(source, fmt::format("is .npy of version {}; versions 1 to 3 are known", version));

  const std::size_t length_bytes = version == 1 ? 2 : 4;
  if (source.pull(bytes.subspan(8, length_bytes)) != length_bytes) fail(source, "the .npy header is truncated");
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(start[8 + i])) << (8 * i);
  constexpr std::size_t longest = 1 << 16;  // a real one has about 120 bytes
  if (length > longest) fail(source, fmt::format("the .npy header claims to be {} bytes long", length));
  std::string text(length, '\0');
  if (source.pull(text) != length) fail(source, "the .npy header is truncated");
  return text;
}

// Whether it is a type that we read.
bool take_dtype(NpyHeader& header, const std::string& dtype) {
  header.dtype = dtype;
  const bool shaped = dtype.size() == 3 && std::string_view("<>|=").find(dtype[0]) != std::string_view::npos;
  const std::string_view type = shaped ? std::string_view(dtype).substr(1) : std::string_view();
  constexpr std::array<std::string_view, 11> known{"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"};
  if (std::find(known.begin(), known.end(), type) == known.end()) return false;
  header.kind = type[0];
  header.item_bytes = static_cast<std::size_t>(type[1] - '0');
  const char other_order = std::endian::native == std::endian::little ? '>' : '<';
  header.swapped = dtype[0] == other_order && header.item_bytes > 1;
  return true;
}

void set_dtype(NpyHeader& header, const std::string& dtype, const ByteSource& source) {
  if (!take_dtype(header, dtype))
    fail(source, fmt::format("has numbers of type '{}'; f4, f8, integers and booleans can be read", dtype));
}

void set_shape(NpyHeader& header, const std::vector<std::int64_t>& shape, const ByteSource& source) {
  if (shape.empty() || shape.size() > 2)
    fail(source, fmt::format("has {} dimensions; a matrix has 2, or 1 for a single column", shape.size()));
  header.rows = shape[0];
  header.cols = shape.size() == 2 ? shape[1] : 1;
  if (header.rows == 0 || header.cols == 0) fail(source, "holds no numbers");

  std::uint64_t as_double = 0;
  const bool overflow = __builtin_mul_overflow(static_cast<std::uint64_t>(header.rows),
                                               static_cast<std::uint64_t>(header.cols), &header.data_bytes) ||
                        __builtin_mul_overflow(header.data_bytes, sizeof(double), &as_double);
  if (overflow)
    fail(source, fmt::format("promises {} x {} numbers, more than any memory holds", header.rows, header.cols));
  header.data_bytes *= header.item_bytes;
}

template <class Stored, class S>
void convert_as(const char* stored, std::size_t count, bool swapped, S* out) {
  for (std::size_t i = 0; i < count; ++i) {
    std::array<char, sizeof(Stored)> bytes;
    std::memcpy(bytes.data(), stored + i * sizeof(Stored), sizeof(Stored));
    if (swapped) std::reverse(bytes.begin(), bytes.end());
    out[i] = static_cast<S>(std::bit_cast<Stored>(bytes));
  }
}

}  // namespace

NpyHeader header_of_type(const std::string& type) {
  NpyHeader header;
  require(take_dtype(header, type.size() == 2 ? "=" + type : type),
          fmt::format("raw-type = {}: must be f4, f8, i1, i2, i4, i8, u1, u2, u4, u8 or b1, with < or > before it or "
                      "without",
                      type));
  return header;
}

NpyHeader read_npy_header(const ByteSource& source) {
  const std::string text = read_dict_text(source);
  const NpyDict dict = parse_npy_dict(text, source.name);
  NpyHeader header;
  header.fortran_order = dict.fortran_order;
  set_dtype(header, dict.descr, source);
  set_shape(header, dict.shape, source);
  if (header.data_bytes > source.bound)
    fail(source, fmt::format("the header promises {} x {} numbers ({} bytes), more than the file holds", header.rows,
                             header.cols, header.data_bytes));
  return header;
}

template <class S>
void convert_npy(const NpyHeader& header, const char* stored, std::size_t count, S* out) {
  const auto as = [&](auto example) { convert_as<decltype(example)>(stored, count, header.swapped, out); };
  const bool is_signed = header.kind == 'i';
  if (header.kind == 'b') {
    for (std::size_t i = 0; i < count; ++i) out[i] = stored[i] != 0 ? S(1) : S(0);
  } else if (header.kind == 'f') {
    header.item_bytes == 4 ? as(float{}) : as(double{});
  } else if (header.item_bytes == 1) {
    is_signed ? as(std::int8_t{}) : as(std::uint8_t{});
  } else if (header.item_bytes == 2) {
    is_signed ? as(std::int16_t{}) : as(std::uint16_t{});
  } else if (header.item_bytes == 4) {
    is_signed ? as(std::int32_t{}) : as(std::uint32_t{});
  } else {
    is_signed ? as(std::int64_t{}) : as(std::uint64_t{});
  }
}

void pull_npy(const NpyHeader& header, const ByteSource& source, std::span<char> out) {
  if (source.pull(out) != out.size())
    fail(source, fmt::format("is truncated: the header promises {} x {} numbers ({} bytes)", header.rows, header.cols,
                             header.data_bytes));
}

void require_npy_end(const ByteSource& source) {
  char extra = 0;
  if (source.pull({&extra, 1}) != 0) fail(source, "bytes are left over behind the numbers the header promises");
}

template <class S>
void require_finite(std::span<const S> numbers, std::uint64_t first, Index cols, std::string_view name,
                    const NpyMissing& missing) {
  // Zero times a finite number is zero; anything else leaves its mark on the sum. This vectorises, a search does not.
  const Eigen::Map<const Eigen::ArrayX<S>> x(numbers.data(), static_cast<Index>(numbers.size()));
  if ((x * S(0)).sum() == S(0)) return;
  const auto found = std::find_if(numbers.begin(), numbers.end(), [&missing](S number) {
    return std::isinf(number) || (std::isnan(number) && !missing.allowed);
  });
  if (found == numbers.end()) return;
  const std::uint64_t at = first + static_cast<std::uint64_t>(found - numbers.begin());
  throw DataError(fmt::format("{}: row {}, column {} is {}{}", name, at / static_cast<std::uint64_t>(cols) + 1,
                              at % static_cast<std::uint64_t>(cols) + 1, *found,
                              std::isnan(*found) ? missing.hint : ""));
}

template void convert_npy(const NpyHeader&, const char*, std::size_t, float*);
template void convert_npy(const NpyHeader&, const char*, std::size_t, double*);
template void require_finite(std::span<const float>, std::uint64_t, Index, std::string_view, const NpyMissing&);
template void require_finite(std::span<const double>, std::uint64_t, Index, std::string_view, const NpyMissing&);

}  // namespace hearsay::io
