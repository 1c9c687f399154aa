#include "hearsay/io/npz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/operators/gram.hpp"
#include "io/file_kind.hpp"
#include "io/mapped_file.hpp"
#include "io/npy_format.hpp"
#include "io/read_from.hpp"
#include "io/sparse_rows.hpp"
#include "io/zip.hpp"

namespace hearsay::io {
namespace {

constexpr std::string_view npy_ending = ".npy";

class NpzFile {
 public:
  NpzFile(std::string_view bytes, std::string_view name)
      : bytes_(bytes), name_(name), members_(zip_members(bytes, name)) {}

  const std::string& name() const { return name_; }
  bool has(std::string_view array) const { return find(array) != nullptr; }
  ByteSource open(std::string_view array) const {
    const ZipMember* member = find(array);
    if (member == nullptr) throw DataError(fmt::format("{}: has no array {}", name_, array));
    return source_of(bytes_, *member, name_);
  }
  std::vector<std::string> arrays() const {
    std::vector<std::string> names;
    for (const ZipMember& member : members_)
      if (member.name.ends_with(npy_ending)) names.push_back(member.name.substr(0, member.name.size() - 4));
    return names;
  }

 private:
  const ZipMember* find(std::string_view array) const {
    for (const ZipMember& member : members_)
      if (member.name.size() == array.size() + npy_ending.size() && member.name.starts_with(array) &&
          member.name.ends_with(npy_ending))
        return &member;
    return nullptr;
  }

  std::string_view bytes_;
  std::string name_;
  std::vector<ZipMember> members_;
};

// One dimension, and whole numbers where they must be. f8 holds the integers up to 2^53, and nothing has as many
// entries.
NpyHeader vector_header(const ByteSource& source, bool whole) {
  const NpyHeader header = read_npy_header(source);
  if (header.cols != 1) throw DataError(fmt::format("{}: has two dimensions, and must have one", source.name));
  if (whole && header.kind != 'i' && header.kind != 'u')
    throw DataError(fmt::format("{}: must hold integers", source.name));
  return header;
}

template <class T>
std::vector<T> vector_of(const ByteSource& source, const NpyHeader& header) {
  constexpr std::size_t piece = 1 << 16;
  const auto count = static_cast<std::size_t>(header.rows);
  require_memory(count, sizeof(T), source.name);
  std::vector<T> values(count);
  std::vector<char> stored(std::min(piece, count) * header.item_bytes);
  std::vector<double> numbers(std::is_floating_point_v<T> ? 0 : std::min(piece, count));
  for (std::size_t done = 0; done < count; done += piece) {
    const std::size_t some = std::min(piece, count - done);
    pull_npy(header, source, std::span(stored).first(some * header.item_bytes));
    if constexpr (std::is_floating_point_v<T>) {
      convert_npy(header, stored.data(), some, values.data() + done);
    } else {
      convert_npy(header, stored.data(), some, numbers.data());
      constexpr auto least = static_cast<double>(std::numeric_limits<std::int32_t>::min());
      constexpr double most = sizeof(T) == 4 ? std::numeric_limits<std::int32_t>::max() : 9e15;
      for (std::size_t i = 0; i < some; ++i) {
        if (!(numbers[i] >= least && numbers[i] <= most))
          throw DataError(
              fmt::format("{}: number {} is {}, which is no place in a matrix", source.name, done + i + 1, numbers[i]));
        values[done + i] = static_cast<T>(numbers[i]);
      }
    }
  }
  require_npy_end(source);
  return values;
}

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

struct SparseShape {
  Index rows, cols;
};

SparseShape shape_of(const NpzFile& file) {
  const ByteSource source = file.open("shape");
  const std::vector<std::int64_t> shape = vector_of<std::int64_t>(source, vector_header(source, true));
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1)
    throw DataError(fmt::format("{}: must be two numbers of at least one", source.name));
  return {shape[0], shape[1]};
}

template <class S>
CsrMatrix<S> sparse_of(const NpzFile& file, SparseShape shape, const ByteSource& values, const NpyHeader& header,
                       const TableOptions& options) {
  const ByteSource offsets = file.open("indptr"), columns = file.open("indices");
  CsrMatrix<S> A{.rows = shape.rows, .cols = shape.cols};
  A.row_start = vector_of<std::int64_t>(offsets, vector_header(offsets, true));
  if (static_cast<Index>(A.row_start.size()) != shape.rows + 1)
    throw DataError(
        fmt::format("{}: has {} numbers; so many rows have {}", offsets.name, A.row_start.size(), shape.rows + 1));
  if (shape.cols > std::numeric_limits<std::int32_t>::max())
    throw DataError(fmt::format("{}: {} columns: indices go to 2^31 - 1", file.name(), shape.cols));
  A.columns = vector_of<std::int32_t>(columns, vector_header(columns, true));
  A.values = vector_of<S>(values, header);
  if (A.columns.size() != A.values.size())
    throw DataError(
        fmt::format("{}: has {} numbers, and data has {}", columns.name, A.columns.size(), A.values.size()));
  require_offsets(A.row_start, 0, A.nonzeros(), offsets.name);
  if (A.row_start.back() != A.nonzeros())
    throw DataError(
        fmt::format("{}: ends with {}; there are {} entries", offsets.name, A.row_start.back(), A.nonzeros()));
  require_entries(A, 0, 0, {offsets.name, columns.name, file.name()}, {options.missing, options.missing_hint});
  tidy_rows(A, file.name());
  return A;
}

template <class S>
CsrMatrix<S> by_rows(const NpzFile& file, bool turned, const ByteSource& values, const NpyHeader& header,
                     const TableOptions& options) {
  const SparseShape shape = shape_of(file);
  if (!turned) return sparse_of<S>(file, shape, values, header, options);
  const CsrMatrix<S> stored = sparse_of<S>(file, {shape.cols, shape.rows}, values, header, options);
  return transposed<S>(borrow(stored));
}

Data sparse_data(const NpzFile& file, const TableOptions& options) {
  if (!options.label_column.empty())
    throw InvalidArgument(
        fmt::format("label column '{}': {} is sparse, and has none", options.label_column, file.name()));
  const std::string format = format_of(file);
  if (format != "csr" && format != "csc")
    throw DataError(fmt::format("{}: is a sparse matrix of format {}; csr and csc can be read (save_npz of A.tocsr())",
                                file.name(), format.size() < 8 ? format : format.substr(0, 8)));
  const bool turned = format == "csc";
  const ByteSource values = file.open("data");
  const NpyHeader header = vector_header(values, false);
  Data data;
  if (header.is_float())
    data.matrix = by_rows<float>(file, turned, values, header, options);
  else
    data.matrix = by_rows<double>(file, turned, values, header, options);
  if (turned)
    data.notes.push_back(
        fmt::format("{}: is stored by columns (CSC), and was turned into rows in memory", file.name()));
  return data;
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

Data parse_npz(std::string_view bytes, std::string_view name, const TableOptions& options) {
  const NpzFile file(bytes, name);
  if (options.dataset.empty() && file.has("format") && file.has("indptr")) return sparse_data(file, options);
  if (options.dataset.empty() && file.has("format") && file.has("shape")) return sparse_data(file, options);
  const std::string array = options.dataset.empty() ? only_array(file) : options.dataset;
  return with_labels(read_npy_from(file.open(array), options), options, name);
}

Data read_npz(const std::filesystem::path& path, const TableOptions& options) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return parse_npz({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.name(), options);
}

}  // namespace hearsay::io
