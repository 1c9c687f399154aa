#include "hearsay/io/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/io/hdf5.hpp"
#include "hearsay/io/npz.hpp"
#include "io/file_kind.hpp"
#include "io/npy_format.hpp"
#include "io/raw.hpp"
#include "io/table_reader.hpp"

namespace hearsay::io {
namespace {

bool is_regular(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::is_regular_file(path, none);
}

// As it lies on the disk; 0 of a pipe, and of a file that the library carries.
std::uint64_t stored_bytes(const InputFile& file) {
  std::error_code none;
  if (!is_regular(file.name())) return 0;
  const std::uintmax_t bytes = std::filesystem::file_size(file.name(), none);
  return none ? 0 : bytes;
}

class TableRows final : public RowSource<double> {
 public:
  TableRows(InputFile file, const TableOptions& options) : file_(std::move(file)), reader_(source_of(file_), options) {}

  Index cols() const override { return reader_.layout().cols(); }
  std::uint64_t bytes_per_pass() const override { return stored_bytes(file_); }
  std::string name() const override { return file_.name(); }

  // As below.
  void rewind() override {
    if (!begun_) return;
    file_.rewind();
    reader_.restart();
    begun_ = false;
  }

  Index read(BlockView<double> out) override {
    Index filled = 0;
    begun_ = true;
    while (filled < out.rows() && reader_.next(out.row(filled).data(), nullptr)) ++filled;
    return filled;
  }

 private:
  InputFile file_;
  TableReader reader_;
  bool begun_ = false;
};

// The numbers of a .npy or raw file in S.
template <class S>
class NumberRows final : public RowSource<S> {
 public:
  NumberRows(InputFile file, const TableOptions& options)
      : file_(std::move(file)),
        source_(source_of(file_)),
        raw_(options.raw),
        header_(begin()),
        missing_(options.missing),
        missing_hint_(options.missing_hint) {
    if (header_.fortran_order && header_.rows > 1 && header_.cols > 1)
      throw DataError(
          fmt::format("{}: is in Fortran order, column by column, and cannot be read row by row; "
                      "save it in C order (numpy.ascontiguousarray)",
                      file_.name()));
    label_ = label_by_number(options.label_column, header_.cols, file_.name());
    require_memory(static_cast<std::uint64_t>(header_.cols), 2 * sizeof(double), file_.name());
    row_.resize(static_cast<std::size_t>(header_.cols));
    row_bytes_ = row_.size() * header_.item_bytes;
  }

  Index cols() const override { return header_.cols - (label_ >= 0 ? 1 : 0); }
  std::optional<Index> rows() const override { return header_.rows; }
  std::uint64_t bytes_per_pass() const override { return stored_bytes(file_); }
  std::string name() const override { return file_.name(); }

  // Nothing goes back to the beginning from there: a pipe can be read once.
  void rewind() override {
    if (rows_read_ == 0) return;
    file_.rewind();
    begin();
    rows_read_ = 0;
  }

  Index read(BlockView<S> out) override {
    const Index count = std::min(out.rows(), header_.rows - rows_read_);
    const bool as_it_is = label_ < 0 && !header_.swapped && header_.kind == 'f' && header_.item_bytes == sizeof(S) &&
                          out.outerStride() == header_.cols;
    const Index batch = static_cast<Index>(piece / row_bytes_) + 1;
    for (Index begin = 0; begin < count; begin += batch) {
      const auto part = out.middleRows(begin, std::min(batch, count - begin));
      as_it_is ? take_as_it_is(part) : take_converted(part);
    }
    if (count > 0 && rows_read_ == header_.rows) require_npy_end(source_);
    return count;
  }

  Index skip(Index count) override {
    const Index skipped = std::clamp<Index>(count, 0, header_.rows - rows_read_);
    file_.skip(static_cast<std::uint64_t>(skipped) * row_bytes_);
    rows_read_ += skipped;
    return skipped;
  }

 private:
  static constexpr std::size_t piece = 1 << 19;  // that is in cache when it is checked

  NpyHeader begin() {
    if (!raw_) return read_npy_header(source_);
    const std::uint64_t stored = stored_bytes(file_);
    NpyHeader header = raw_header(*raw_, source_, stored == file_.content_bound() ? stored : 0);
    file_.skip(raw_->skip);
    return header;
  }

  void take_as_it_is(BlockView<S> part) {
    const std::span<S> numbers(part.data(), static_cast<std::size_t>(part.size()));
    pull_npy(header_, source_, {reinterpret_cast<char*>(numbers.data()), numbers.size_bytes()});
    check(numbers);
    rows_read_ += part.rows();
  }

  void take_converted(BlockView<S> part) {
    stored_.resize(static_cast<std::size_t>(part.rows()) * row_bytes_);
    pull_npy(header_, source_, stored_);
    for (Index i = 0; i < part.rows(); ++i) {
      convert_npy(header_, stored_.data() + static_cast<std::size_t>(i) * row_bytes_, row_.size(), row_.data());
      check(std::span<S>(row_));
      const Index label = label_ >= 0 ? label_ : header_.cols;
      S* const out = part.row(i).data();
      std::copy(row_.begin(), row_.begin() + label, out);
      if (label_ >= 0) std::copy(row_.begin() + label + 1, row_.end(), out + label);
      ++rows_read_;
    }
  }

  void check(std::span<S> numbers) const {
    require_finite(std::span<const S>(numbers), static_cast<std::uint64_t>(rows_read_ * header_.cols), header_.cols,
                   file_.name(), {missing_, missing_hint_});
  }

  InputFile file_;
  ByteSource source_;  // borrows file_
  std::optional<RawLayout> raw_;
  NpyHeader header_;
  bool missing_;
  std::string missing_hint_;
  Index label_ = -1;
  Index rows_read_ = 0;
  std::size_t row_bytes_ = 0;
  std::vector<S> row_;
  std::vector<char> stored_;
};

bool holds_floats(const std::filesystem::path& path, const std::optional<RawLayout>& raw) {
  if (raw) return raw->type.ends_with("f4");
  InputFile file(path);
  return kind_of(file) == FileKind::npy && read_npy_header(source_of(file)).is_float();
}

}  // namespace

std::vector<std::string> column_names(const std::filesystem::path& path, const TableOptions& options) {
  InputFile file(path);
  if (options.raw) return {};
  if (kind_of(file) == FileKind::hdf5) return hdf5_column_names(path, options);
  if (kind_of(file) != FileKind::table) return {};
  return TableReader(source_of(file), options).layout().column_names;
}

std::optional<HeldShape> held_shape(const std::filesystem::path& path, const TableOptions& options) {
  InputFile file(path);
  if (options.raw) return std::nullopt;
  const FileKind kind = kind_of(file);
  if (kind == FileKind::hdf5) return hdf5_held_shape(path, options);
  if (kind == FileKind::npz) return npz_held_shape(path, options);
  return std::nullopt;
}

Data names_of_file(const std::filesystem::path& path, const TableOptions& options) {
  InputFile file(path);
  if (options.raw || kind_of(file) != FileKind::hdf5) return {};
  return hdf5_names(path, options);
}

std::unique_ptr<RowSource<double>> open_rows(const std::filesystem::path& path, const TableOptions& options) {
  InputFile file(path);
  if (options.raw) return std::make_unique<NumberRows<double>>(std::move(file), options);
  const FileKind kind = kind_of(file);
  if (kind != FileKind::hdf5 && kind != FileKind::npz) refuse_dataset(file, options.dataset);
  switch (kind) {
    case FileKind::hdf5:
      return open_hdf5_rows(path, options);
    case FileKind::npy:
      return std::make_unique<NumberRows<double>>(std::move(file), options);
    case FileKind::matrix_market:
      throw InvalidArgument(
          fmt::format("{}: a Matrix Market file cannot be read row by row; use .csv or .npy", file.name()));
    case FileKind::npz:
      return open_npz_rows(path, options);
    case FileKind::bed:
      refuse_bed(file);
    case FileKind::table:
      break;
  }
  return std::make_unique<TableRows>(std::move(file), options);
}

bool can_be_streamed(const std::filesystem::path& path) {
  InputFile file(path);
  const FileKind kind = kind_of(file);
  if (kind != FileKind::npy) return kind == FileKind::table || kind == FileKind::hdf5 || kind == FileKind::npz;
  const NpyHeader header = read_npy_header(source_of(file));
  return !header.fortran_order || header.rows == 1 || header.cols == 1;
}

StoredRows open_rows_as_stored(const std::filesystem::path& path, const TableOptions& options) {
  if (is_regular(path) && options.dataset.empty() && holds_floats(path, options.raw))
    return std::make_unique<NumberRows<float>>(InputFile(path), options);
  return open_rows(path, options);
}

}  // namespace hearsay::io
