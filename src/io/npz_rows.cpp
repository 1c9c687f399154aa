// The rows of an .npz file, unpacked as they pass by.
#include <fmt/format.h>

#include <algorithm>

#include "hearsay/error.hpp"
#include "hearsay/io/npz.hpp"
#include "hearsay/memory.hpp"
#include "io/mapped_file.hpp"
#include "io/npz_file.hpp"
#include "io/sparse_rows.hpp"
#include "io/table_layout.hpp"

namespace hearsay::io {
namespace {

std::string_view letters_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

class NpzDenseRows final : public RowSource<double> {
 public:
  NpzDenseRows(const std::filesystem::path& path, const TableOptions& options)
      : mapped_(path),
        file_(letters_of(mapped_), mapped_.name()),
        array_(array_of(file_, options)),
        missing_(options.missing),
        missing_hint_(options.missing_hint) {
    begin();
    if (header_.fortran_order && header_.rows > 1 && header_.cols > 1)
      throw DataError(
          fmt::format("{}: is in Fortran order, column by column, and cannot be read row by row; "
                      "save it in C order (numpy.ascontiguousarray)",
                      source_.name));
    require_memory(static_cast<std::uint64_t>(header_.cols), 2 * sizeof(double), source_.name);
    label_ = label_by_number(options.label_column, header_.cols, mapped_.name());
  }

  Index cols() const override { return header_.cols - (label_ >= 0 ? 1 : 0); }
  std::optional<Index> rows() const override { return header_.rows; }
  std::uint64_t bytes_per_pass() const override { return mapped_.bytes().size(); }
  std::string name() const override { return mapped_.name(); }
  void rewind() override { begin(); }

  Index read(BlockView<double> out) override {
    const Index d = header_.cols, count = std::min(out.rows(), header_.rows - next_);
    const std::size_t row_bytes = static_cast<std::size_t>(d) * header_.item_bytes;
    stored_.resize(row_bytes);
    row_.resize(static_cast<std::size_t>(d));
    for (Index i = 0; i < count; ++i, ++next_) {
      pull_npy(header_, source_, stored_);
      convert_npy(header_, stored_.data(), row_.size(), row_.data());
      require_finite(std::span<const double>(row_), static_cast<std::uint64_t>(next_ * d), d, source_.name,
                     {missing_, missing_hint_});
      double* const to = out.row(i).data();
      const Index label = label_ >= 0 ? label_ : d;
      std::copy(row_.begin(), row_.begin() + label, to);
      if (label_ >= 0) std::copy(row_.begin() + label + 1, row_.end(), to + label);
    }
    if (count > 0 && next_ == header_.rows) require_npy_end(source_);
    mapped_.require_whole();
    return count;
  }

 private:
  void begin() {
    source_ = file_.open(array_);
    header_ = read_npy_header(source_);
    next_ = 0;
  }

  MappedFile mapped_;
  NpzFile file_;
  std::string array_;
  ByteSource source_;
  NpyHeader header_;
  bool missing_;
  std::string missing_hint_;
  Index label_ = -1, next_ = 0;
  std::vector<char> stored_;
  std::vector<double> row_;
};

// One of the three arrays of a sparse matrix, from its beginning to its end.
struct PulledVector {
  void open(const NpzFile& file, std::string_view array, bool whole) {
    source = file.open(array);
    header = vector_header(source, whole);
    done = 0;
  }
  template <class T>
  void next(std::size_t count, T* out) {
    pull_numbers(header, source, done, count, out);
    done += count;
    if (done == static_cast<std::size_t>(header.rows)) require_npy_end(source);
  }

  ByteSource source = {};
  NpyHeader header = {};
  std::size_t done = 0;
};

class NpzSparseRows final : public SparseRowSource {
 public:
  NpzSparseRows(const std::filesystem::path& path, const TableOptions& options)
      : mapped_(path),
        file_(letters_of(mapped_), mapped_.name()),
        missing_(options.missing),
        missing_hint_(options.missing_hint) {
    if (sparse_format(file_, options) != "csr")
      throw InvalidArgument(
          fmt::format("{}: is stored by columns (CSC), and its rows cannot pass by one after the other; leave `stream` "
                      "out, or write it by rows (save_npz of A.tocsr())",
                      file_.name()));
    shape_ = shape_of(file_);
    if (shape_.cols > std::numeric_limits<std::int32_t>::max())
      throw DataError(fmt::format("{}: {} columns: indices go to 2^31 - 1", file_.name(), shape_.cols));
    begin();
    if (offsets_.header.rows != shape_.rows + 1)
      throw DataError(fmt::format("{}: has {} numbers; so many rows have {}", offsets_.source.name,
                                  offsets_.header.rows, shape_.rows + 1));
    if (columns_.header.rows != values_.header.rows)
      throw DataError(fmt::format("{}: has {} numbers, and data has {}", columns_.source.name, columns_.header.rows,
                                  values_.header.rows));
  }

  Index cols() const override { return shape_.cols; }
  std::optional<Index> rows() const override { return shape_.rows; }
  std::uint64_t bytes_per_pass() const override { return mapped_.bytes().size(); }
  std::string name() const override { return mapped_.name(); }
  std::int64_t entries() const override { return values_.header.rows; }
  void rewind() override { begin(); }

  Index read_sparse(Index count, CsrMatrix<double>& out) override {
    const Index some = std::min(count, shape_.rows - next_);
    out.rows = some;
    out.cols = shape_.cols;
    out.row_start.resize(static_cast<std::size_t>(some) + 1);
    out.row_start.front() = last_;
    offsets_.next(static_cast<std::size_t>(some), out.row_start.data() + 1);
    require_offsets(out.row_start, next_, entries(), offsets_.source.name);
    const std::int64_t begin = last_, held = out.row_start.back() - begin;
    last_ = out.row_start.back();
    for (std::int64_t& offset : out.row_start) offset -= begin;
    require_memory(static_cast<std::uint64_t>(held), sizeof(std::int32_t) + sizeof(double), file_.name());
    out.columns.resize(static_cast<std::size_t>(held));
    out.values.resize(static_cast<std::size_t>(held));
    columns_.next(static_cast<std::size_t>(held), out.columns.data());
    values_.next(static_cast<std::size_t>(held), out.values.data());
    mapped_.require_whole();
    require_entries(out, next_, begin, {offsets_.source.name, columns_.source.name, file_.name()},
                    {missing_, missing_hint_});
    tidy_rows(out, file_.name());
    next_ += some;
    if (next_ == shape_.rows && last_ != entries())
      throw DataError(fmt::format("{}: ends with {}; there are {} entries", offsets_.source.name, last_, entries()));
    return some;
  }

 private:
  void begin() {
    offsets_.open(file_, "indptr", true);
    columns_.open(file_, "indices", true);
    values_.open(file_, "data", false);
    offsets_.next(1, &last_);
    next_ = 0;
  }

  MappedFile mapped_;
  NpzFile file_;
  bool missing_;
  std::string missing_hint_;
  SparseShape shape_{};
  PulledVector offsets_, columns_, values_;
  std::int64_t last_ = 0;  // the offset of the next row
  Index next_ = 0;
};

}  // namespace

std::unique_ptr<RowSource<double>> open_npz_rows(const std::filesystem::path& path, const TableOptions& options) {
  const MappedFile mapped(path);
  if (is_sparse(NpzFile(letters_of(mapped), mapped.name()), options))
    return std::make_unique<NpzSparseRows>(path, options);
  return std::make_unique<NpzDenseRows>(path, options);
}

HeldShape npz_held_shape(const std::filesystem::path& path, const TableOptions& options) {
  const MappedFile mapped(path);
  const NpzFile file(letters_of(mapped), mapped.name());
  if (!is_sparse(file, options)) {
    const NpyHeader header = read_npy_header(file.open(array_of(file, options)));
    const std::uint64_t numbers = static_cast<std::uint64_t>(header.rows) * static_cast<std::uint64_t>(header.cols);
    return {.rows = header.rows,
            .cols = header.cols,
            .bytes = numbers * (header.is_float() ? sizeof(float) : sizeof(double))};
  }
  const SparseShape shape = shape_of(file);
  const NpyHeader header = vector_header(file.open("data"), false);
  const std::uint64_t of_an_entry = sizeof(double) + sizeof(std::int32_t) + (header.is_float() ? sizeof(float) : 0);
  return {.rows = shape.rows,
          .cols = shape.cols,
          .bytes = static_cast<std::uint64_t>(header.rows) * of_an_entry +
                   static_cast<std::uint64_t>(shape.rows) * sizeof(std::int64_t)};
}

}  // namespace hearsay::io
