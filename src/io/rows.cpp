#include "hearsay/io/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/io/hdf5.hpp"
#include "io/file_kind.hpp"
#include "io/npy_format.hpp"
#include "io/table_reader.hpp"

namespace hearsay::io {
namespace {

// As it lies on the disk; 0 of a pipe, and of a file that the library carries.
std::uint64_t stored_bytes(const InputFile& file) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file.name(), none)) return 0;
  const std::uintmax_t bytes = std::filesystem::file_size(file.name(), none);
  return none ? 0 : bytes;
}

class TableRows final : public RowSource<double> {
 public:
  TableRows(InputFile file, const TableOptions& options) : file_(std::move(file)), reader_(source_of(file_), options) {}

  Index cols() const override { return reader_.layout().cols(); }
  std::uint64_t bytes_per_pass() const override { return stored_bytes(file_); }
  std::string name() const override { return file_.name(); }

  void rewind() override {
    file_.rewind();
    reader_.restart();
  }

  Index read(BlockView<double> out) override {
    Index filled = 0;
    while (filled < out.rows() && reader_.next(out.row(filled).data(), nullptr)) ++filled;
    return filled;
  }

 private:
  InputFile file_;
  TableReader reader_;
};

class NpyRows final : public RowSource<double> {
 public:
  NpyRows(InputFile file, const TableOptions& options)
      : file_(std::move(file)),
        source_(source_of(file_)),
        header_(read_npy_header(source_)),
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

  void rewind() override {
    file_.rewind();
    read_npy_header(source_);
    rows_read_ = 0;
  }

  Index read(BlockView<double> out) override {
    constexpr std::size_t at_once = 1 << 19;
    const Index batch = static_cast<Index>(at_once / row_bytes_) + 1;
    const Index count = std::min(out.rows(), header_.rows - rows_read_);
    for (Index begin = 0; begin < count; begin += batch) {
      const Index end = std::min(begin + batch, count);
      stored_.resize(static_cast<std::size_t>(end - begin) * row_bytes_);
      pull_npy(header_, source_, stored_);
      for (Index i = begin; i < end; ++i)
        take_row(stored_.data() + static_cast<std::size_t>(i - begin) * row_bytes_, out.row(i).data());
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
  void take_row(const char* stored, double* out) {
    convert_npy(header_, stored, row_.size(), row_.data());
    require_finite(std::span<const double>(row_), static_cast<std::uint64_t>(rows_read_ * header_.cols), header_.cols,
                   file_.name(), {missing_, missing_hint_});
    const Index label = label_ >= 0 ? label_ : header_.cols;
    std::copy(row_.begin(), row_.begin() + label, out);
    if (label_ >= 0) std::copy(row_.begin() + label + 1, row_.end(), out + label);
    ++rows_read_;
  }

  InputFile file_;
  ByteSource source_;  // borrows file_
  NpyHeader header_;
  bool missing_;
  std::string missing_hint_;
  Index label_ = -1;
  Index rows_read_ = 0;
  std::size_t row_bytes_ = 0;
  std::vector<double> row_;
  std::vector<char> stored_;
};

}  // namespace

std::vector<std::string> column_names(const std::filesystem::path& path, const TableOptions& options) {
  InputFile file(path);
  if (kind_of(file) == FileKind::hdf5) return hdf5_column_names(path, options);
  if (kind_of(file) != FileKind::table) return {};
  return TableReader(source_of(file), options).layout().column_names;
}

std::unique_ptr<RowSource<double>> open_rows(const std::filesystem::path& path, const TableOptions& options) {
  InputFile file(path);
  const FileKind kind = kind_of(file);
  if (kind != FileKind::hdf5) refuse_dataset(file, options.dataset);
  switch (kind) {
    case FileKind::hdf5:
      return open_hdf5_rows(path, options);
    case FileKind::npy:
      return std::make_unique<NpyRows>(std::move(file), options);
    case FileKind::matrix_market:
      throw InvalidArgument(
          fmt::format("{}: a Matrix Market file cannot be read row by row; use .csv or .npy", file.name()));
    case FileKind::npz:
      throw InvalidArgument(fmt::format(
          "{}: an .npz file is packed, and cannot be read row by row; use .npy, .csv or HDF5", file.name()));
    case FileKind::bed:
      refuse_bed(file);
    case FileKind::table:
      break;
  }
  return std::make_unique<TableRows>(std::move(file), options);
}

}  // namespace hearsay::io
