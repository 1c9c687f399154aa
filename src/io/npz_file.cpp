#include "io/npz_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"

namespace hearsay::io {

namespace {

constexpr std::string_view npy_ending = ".npy";

}  // namespace

ByteSource NpzFile::open(std::string_view array) const {
  const ZipMember* member = find(array);
  if (member == nullptr) throw DataError(fmt::format("{}: has no array {}", name_, array));
  return source_of(bytes_, *member, name_);
}

std::vector<std::string> NpzFile::arrays() const {
  std::vector<std::string> names;
  for (const ZipMember& member : members_)
    if (member.name.ends_with(npy_ending)) names.push_back(member.name.substr(0, member.name.size() - 4));
  return names;
}

const ZipMember* NpzFile::find(std::string_view array) const {
  for (const ZipMember& member : members_)
    if (member.name.size() == array.size() + npy_ending.size() && member.name.starts_with(array) &&
        member.name.ends_with(npy_ending))
      return &member;
  return nullptr;
}

NpyHeader vector_header(const ByteSource& source, bool whole) {
  const NpyHeader header = read_npy_header(source);
  if (header.cols != 1) throw DataError(fmt::format("{}: has two dimensions, and must have one", source.name));
  if (whole && header.kind != 'i' && header.kind != 'u')
    throw DataError(fmt::format("{}: must hold integers", source.name));
  return header;
}

template <class T>
void pull_numbers(const NpyHeader& header, const ByteSource& source, std::size_t done, std::size_t count, T* out) {
  constexpr std::size_t piece = 1 << 16;
  std::vector<char> stored(std::min(piece, count) * header.item_bytes);
  std::vector<double> numbers(std::is_floating_point_v<T> ? 0 : std::min(piece, count));
  for (std::size_t first = 0; first < count; first += piece) {
    const std::size_t some = std::min(piece, count - first);
    pull_npy(header, source, std::span(stored).first(some * header.item_bytes));
    if constexpr (std::is_floating_point_v<T>) {
      convert_npy(header, stored.data(), some, out + first);
    } else {
      convert_npy(header, stored.data(), some, numbers.data());
      constexpr auto least = static_cast<double>(std::numeric_limits<std::int32_t>::min());
      constexpr double most = sizeof(T) == 4 ? std::numeric_limits<std::int32_t>::max() : 9e15;
      for (std::size_t i = 0; i < some; ++i) {
        if (!(numbers[i] >= least && numbers[i] <= most))
          throw DataError(fmt::format("{}: number {} is {}, which is no place in a matrix", source.name,
                                      done + first + i + 1, numbers[i]));
        out[first + i] = static_cast<T>(numbers[i]);
      }
    }
  }
}

template <class T>
std::vector<T> vector_of(const ByteSource& source, const NpyHeader& header) {
  const auto count = static_cast<std::size_t>(header.rows);
  require_memory(count, sizeof(T), source.name);
  std::vector<T> values(count);
  pull_numbers(header, source, 0, count, values.data());
  require_npy_end(source);
  return values;
}

#define HEARSAY_INSTANTIATE(T)                                                                   \
  template void pull_numbers(const NpyHeader&, const ByteSource&, std::size_t, std::size_t, T*); \
  template std::vector<T> vector_of(const ByteSource&, const NpyHeader&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
HEARSAY_INSTANTIATE(std::int32_t)
HEARSAY_INSTANTIATE(std::int64_t)
#undef HEARSAY_INSTANTIATE

namespace {

// What scipy calls the kind of matrix: bytes or text, in an array without dimensions.
std::string format_of(const NpzFile& file) {
  std::array<char, 512> bytes{};
  const ByteSource source = file.open("format");
  const std::size_t count = source.pull(bytes);
  std::string letters;
  if (count == bytes.size() || std::string_view(bytes.data(), std::min(count, npy_magic.size())) != npy_magic)
    throw DataError(fmt::format("{}: is no name of a kind of matrix", source.name));
  const std::string_view text(bytes.data(), count);
  const std::size_t end = text.find('\n');  // of the header
  for (const char c : end == text.npos ? std::string_view() : text.substr(end + 1))
    if (c != '\0') letters += c;
  return letters;
}

std::string only_array(const NpzFile& file) {
  const std::vector<std::string> arrays = file.arrays();
  if (arrays.empty()) throw DataError(fmt::format("{}: holds no array", file.name()));
  if (arrays.size() == 1) return arrays.front();
  constexpr std::size_t most_listed = 12;
  std::string list;
  for (std::size_t i = 0; i < std::min(arrays.size(), most_listed); ++i) list += (i > 0 ? ", " : "") + arrays[i];
  throw InvalidArgument(fmt::format("{}: holds more than one array: say by `dataset` which is the matrix: {}{}",
                                    file.name(), list, arrays.size() > most_listed ? ", ..." : ""));
}

}  // namespace

SparseShape shape_of(const NpzFile& file) {
  const ByteSource source = file.open("shape");
  const std::vector<std::int64_t> shape = vector_of<std::int64_t>(source, vector_header(source, true));
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1)
    throw DataError(fmt::format("{}: must be two numbers of at least one", source.name));
  return {shape[0], shape[1]};
}

bool is_sparse(const NpzFile& file, const TableOptions& options) {
  return options.dataset.empty() && file.has("format") && (file.has("indptr") || file.has("shape"));
}

std::string sparse_format(const NpzFile& file, const TableOptions& options) {
  if (!options.label_column.empty())
    throw InvalidArgument(
        fmt::format("label column '{}': {} is sparse, and has none", options.label_column, file.name()));
  const std::string format = format_of(file);
  if (format != "csr" && format != "csc")
    throw DataError(fmt::format("{}: is a sparse matrix of format {}; csr and csc can be read (save_npz of A.tocsr())",
                                file.name(), format.size() < 8 ? format : format.substr(0, 8)));
  return format;
}

std::string array_of(const NpzFile& file, const TableOptions& options) {
  return options.dataset.empty() ? only_array(file) : options.dataset;
}

}  // namespace hearsay::io
