#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hearsay/error.hpp"
#include "hearsay/io/rows.hpp"
#include "io/file_kind.hpp"
#include "io/mapped_file.hpp"
#include "io/npy_format.hpp"
#include "io/raw.hpp"
#include "io/read_from.hpp"

namespace hearsay::io {

namespace {

using Lying = std::variant<BorrowedBlock<double>, BorrowedBlock<float>>;

template <class S>
BorrowedBlock<S> lying_at(const std::uint8_t* begin, const NpyHeader& header) {
  return {reinterpret_cast<const S*>(begin), header.rows, header.cols, Eigen::OuterStride<>(header.cols)};
}

class NumbersOnDisk final : public MappedRows {
 public:
  NumbersOnDisk(MappedFile file, const NpyHeader& header, std::size_t skip)
      : file_(std::move(file)),
        rows_(header.is_float() ? Lying(lying_at<float>(file_.bytes().data() + skip, header))
                                : Lying(lying_at<double>(file_.bytes().data() + skip, header))) {}

  const Lying& rows() const override { return rows_; }
  void require_whole() const override { file_.require_whole(); }

  // A piece at a time, as a reader does that copies.
  void check(const TableOptions& options) const {
    std::visit(
        [&](const auto& rows) {
          using S = typename std::decay_t<decltype(rows)>::Scalar;
          constexpr std::size_t piece = 1 << 16;
          const std::span<const S> numbers(rows.data(), static_cast<std::size_t>(rows.size()));
          for (std::size_t done = 0; done < numbers.size(); done += piece)
            require_finite(numbers.subspan(done, std::min(piece, numbers.size() - done)), done, rows.cols(),
                           file_.name(), {options.missing, options.missing_hint});
        },
        rows_);
    require_whole();
  }

 private:
  MappedFile file_;
  Lying rows_;
};

bool lies_ready(const NpyHeader& header, std::size_t skip) {
  const bool in_order = !header.fortran_order || header.rows == 1 || header.cols == 1;
  return header.kind == 'f' && !header.swapped && in_order && skip % header.item_bytes == 0;
}

}  // namespace

std::unique_ptr<MappedRows> map_rows(const std::filesystem::path& path, const TableOptions& options) {
  std::error_code none;
  if (!options.label_column.empty() || !options.dataset.empty() || !std::filesystem::is_regular_file(path, none))
    return nullptr;
  if (!options.raw) {
    const InputFile file(path);
    if (kind_of(file) != FileKind::npy) return nullptr;
  }
  MappedFile file(path);
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  const bool compressed = bytes.starts_with("\x1f\x8b");
  if (compressed) return nullptr;
  std::size_t left = bytes.size();
  const ByteSource source = source_of(bytes, file.name());
  const ByteSource counted{.name = source.name, .bound = source.bound, .pull = [&](std::span<char> out) {
                             const std::size_t count = source.pull(out);
                             left -= count;
                             return count;
                           }};
  const NpyHeader header = options.raw ? raw_header(*options.raw, source, bytes.size()) : read_npy_header(counted);
  const std::size_t skip = options.raw ? static_cast<std::size_t>(options.raw->skip) : bytes.size() - left;
  if (header.data_bytes > bytes.size() - skip)
    throw DataError(fmt::format("{}: is truncated: {} x {} numbers are promised ({} bytes)", file.name(), header.rows,
                                header.cols, header.data_bytes));
  if (header.data_bytes < bytes.size() - skip && !options.raw)
    throw DataError(fmt::format("{}: bytes are left over behind the numbers the header promises", file.name()));
  if (!lies_ready(header, skip)) return nullptr;
  auto mapped = std::make_unique<NumbersOnDisk>(std::move(file), header, skip);
  mapped->check(options);
  return mapped;
}

}  // namespace hearsay::io
