#include "hearsay/io/hdf5.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/operators/gram.hpp"
#include "io/byte_source.hpp"
#include "io/hdf5_layout.hpp"
#include "io/read_from.hpp"
#include "io/sparse_rows.hpp"
#include "io/table_layout.hpp"

namespace hearsay::io {
namespace {

// A matrix of three arrays, in rows as the file has them: those of the matrix, or its columns.
class StoredSparse {
 public:
  StoredSparse(const Hdf5File& file, const Hdf5Layout& layout, const TableOptions& options)
      : name_(fmt::format("{}: {}", file.name(), layout.matrix)),
        offsets_(file.numbers(layout.matrix + "/indptr")),
        columns_(file.numbers(layout.matrix + "/indices")),
        values_(file.numbers(layout.matrix + "/data")),
        missing_{options.missing, options.missing_hint},
        rows_(layout.kind == Hdf5Layout::Kind::sparse_rows ? layout.rows : layout.cols),
        cols_(layout.kind == Hdf5Layout::Kind::sparse_rows ? layout.cols : layout.rows) {
    for (const Hdf5Numbers* numbers : {&offsets_, &columns_, &values_})
      if (numbers->dimensions() != 1) refuse(*numbers, "has two dimensions, and must have one");
    for (const Hdf5Numbers* numbers : {&offsets_, &columns_})
      if (!numbers->whole()) refuse(*numbers, "must hold integers");
    if (offsets_.rows() != rows_ + 1)
      refuse(offsets_, fmt::format("has {} numbers; a matrix of {} x {} has {}", offsets_.rows(), layout.rows,
                                   layout.cols, rows_ + 1));
    if (columns_.rows() != values_.rows())
      refuse(columns_, fmt::format("has {} numbers, and data has {}", columns_.rows(), values_.rows()));
    std::int64_t last = 0;
    offsets_.read(rows_, 1, &last);
    if (last != values_.rows())
      refuse(offsets_, fmt::format("ends with {}; there are {} entries", last, values_.rows()));
  }

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  std::int64_t entries() const { return values_.rows(); }
  bool single() const { return values_.single(); }
  std::uint64_t stored_bytes() const {
    return offsets_.stored_bytes() + columns_.stored_bytes() + values_.stored_bytes();
  }

  // So many rows, of which there are enough, by our rules.
  template <class S>
  void read(Index first, Index count, CsrMatrix<S>& out) const {
    require_memory(static_cast<std::uint64_t>(count) + 1, sizeof(std::int64_t), name_);
    out.rows = count;
    out.cols = cols_;
    out.row_start.resize(static_cast<std::size_t>(count) + 1);
    offsets_.read(first, count + 1, out.row_start.data());
    require_offsets(out.row_start, first, values_.rows(), offsets_.where());
    const std::int64_t begin = out.row_start.front(), entries = out.row_start.back() - begin;
    for (std::int64_t& offset : out.row_start) offset -= begin;

    require_memory(static_cast<std::uint64_t>(entries), sizeof(std::int32_t) + sizeof(S), name_);
    out.columns.resize(static_cast<std::size_t>(entries));
    out.values.resize(static_cast<std::size_t>(entries));
    constexpr std::int64_t piece = 1 << 20;
    for (std::int64_t done = 0; done < entries; done += piece) {
      const std::int64_t some = std::min(piece, entries - done);
      columns_.read(begin + done, some, out.columns.data() + done);
      values_.read(begin + done, some, out.values.data() + done);
    }
    require_entries(out, first, begin, {offsets_.where(), columns_.where(), name_}, missing_);
    tidy_rows(out, name_);
  }

 private:
  [[noreturn]] static void refuse(const Hdf5Numbers& numbers, std::string_view what) {
    throw DataError(fmt::format("{}: {}", numbers.where(), what));
  }

  std::string name_;
  Hdf5Numbers offsets_, columns_, values_;
  NpyMissing missing_;
  Index rows_, cols_;
};

template <class S>
Block<S> dense_values(const Hdf5Numbers& numbers, const TableOptions& options) {
  const Index rows = numbers.rows(), cols = numbers.cols();
  require_memory(static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols), sizeof(S), numbers.where());
  Block<S> values(rows, cols);
  expect_to_fill(values.data(), static_cast<std::size_t>(values.size()) * sizeof(S));
  const Index at_once = std::max<Index>(1, (Index{1} << 20) / cols);
  for (Index first = 0; first < rows; first += at_once) {
    const Index count = std::min(at_once, rows - first);
    S* const out = values.data() + first * cols;
    numbers.read(first, count, out);
    require_finite(std::span<const S>(out, static_cast<std::size_t>(count * cols)),
                   static_cast<std::uint64_t>(first * cols), cols, numbers.where(),
                   {options.missing, options.missing_hint});
  }
  return values;
}

template <class S>
CsrMatrix<S> sparse_values(const StoredSparse& stored, bool turned) {
  CsrMatrix<S> matrix;
  stored.read(0, stored.rows(), matrix);
  if (!turned) return matrix;
  require_memory(static_cast<std::uint64_t>(matrix.nonzeros()), sizeof(std::int32_t) + sizeof(S), "the matrix by rows");
  return transposed<S>(borrow(matrix));
}

void refuse_labels(const Hdf5File& file, const TableOptions& options) {
  if (!options.label_column.empty())
    throw InvalidArgument(
        fmt::format("label column '{}': {} is sparse, and has none", options.label_column, file.name()));
}

// ---- Rows that pass by

class Hdf5SparseRows final : public SparseRowSource {
 public:
  Hdf5SparseRows(Hdf5File file, StoredSparse stored) : file_(std::move(file)), stored_(std::move(stored)) {}

  Index cols() const override { return stored_.cols(); }
  std::optional<Index> rows() const override { return stored_.rows(); }
  std::uint64_t bytes_per_pass() const override { return stored_.stored_bytes(); }
  std::string name() const override { return file_.name(); }
  void rewind() override { next_ = 0; }

  std::int64_t entries() const override { return stored_.entries(); }

  Index read_sparse(Index count, CsrMatrix<double>& out) override {
    const Index some = std::min(count, stored_.rows() - next_);
    stored_.read(next_, some, out);
    next_ += some;
    return some;
  }

  Index skip(Index count) override {
    const Index skipped = std::clamp<Index>(count, 0, stored_.rows() - next_);
    next_ += skipped;
    return skipped;
  }

 private:
  Hdf5File file_;
  StoredSparse stored_;
  Index next_ = 0;
};

class Hdf5DenseRows final : public RowSource<double> {
 public:
  Hdf5DenseRows(Hdf5File file, Hdf5Numbers numbers, const TableOptions& options)
      : file_(std::move(file)),
        numbers_(std::move(numbers)),
        missing_(options.missing),
        missing_hint_(options.missing_hint),
        label_(label_by_number(options.label_column, numbers_.cols(), file_.name())) {}

  Index cols() const override { return numbers_.cols() - (label_ >= 0 ? 1 : 0); }
  std::optional<Index> rows() const override { return numbers_.rows(); }
  std::uint64_t bytes_per_pass() const override { return numbers_.stored_bytes(); }
  std::string name() const override { return file_.name(); }
  void rewind() override { next_ = 0; }

  Index read(BlockView<double> out) override {
    const Index d = numbers_.cols(), count = std::min(out.rows(), numbers_.rows() - next_);
    const Index at_once = std::max<Index>(1, (Index{1} << 17) / d);
    for (Index done = 0; done < count; done += at_once) {
      const Index some = std::min(at_once, count - done);
      if (stored_.rows() < some) stored_.resize(some, d);
      numbers_.read(next_, some, stored_.data());
      require_finite(std::span<const double>(stored_.data(), static_cast<std::size_t>(some * d)),
                     static_cast<std::uint64_t>(next_ * d), d, numbers_.where(), {missing_, missing_hint_});
      auto rows = out.middleRows(done, some);
      if (label_ < 0) {
        rows = stored_.topRows(some);
      } else {
        rows.leftCols(label_) = stored_.topRows(some).leftCols(label_);
        rows.rightCols(d - label_ - 1) = stored_.topRows(some).rightCols(d - label_ - 1);
      }
      next_ += some;
    }
    return count;
  }

  Index skip(Index count) override {
    const Index skipped = std::clamp<Index>(count, 0, numbers_.rows() - next_);
    next_ += skipped;
    return skipped;
  }

 private:
  Hdf5File file_;
  Hdf5Numbers numbers_;
  bool missing_;
  std::string missing_hint_;
  Index label_;
  Block<double> stored_;
  Index next_ = 0;
};

void take_names(const Hdf5File& file, const Hdf5Layout& layout, Data& data) {
  data.row_names = hdf5_row_names(file, layout);
  data.row_title = layout.row_title;
  data.column_title = layout.column_title;
  if (data.label_name.empty() && data.labels.empty()) data.column_names = hdf5_column_names(file, layout);
}

}  // namespace

bool reads_hdf5() { return true; }

Data read_hdf5(const std::filesystem::path& path, const TableOptions& options) {
  const Hdf5File file(path);
  const Hdf5Layout layout = hdf5_layout(file, options.dataset);
  Data data;
  if (layout.kind == Hdf5Layout::Kind::dense) {
    const Hdf5Numbers numbers = file.numbers(layout.matrix);
    if (numbers.single())
      data = with_labels(dense_values<float>(numbers, options), options, file.name());
    else
      data = with_labels(dense_values<double>(numbers, options), options, file.name());
  } else {
    refuse_labels(file, options);
    const StoredSparse stored(file, layout, options);
    const bool turned = layout.kind == Hdf5Layout::Kind::sparse_columns;
    if (stored.single())
      data.matrix = sparse_values<float>(stored, turned);
    else
      data.matrix = sparse_values<double>(stored, turned);
    if (turned)
      data.notes.push_back(fmt::format("{}: {} is stored by columns (CSC), and was turned into rows in memory",
                                       file.name(), layout.matrix));
  }
  take_names(file, layout, data);
  return data;
}

// Values in single precision stay so until they are solved, when both are there for a moment.
HeldShape hdf5_held_shape(const std::filesystem::path& path, const TableOptions& options) {
  const Hdf5File file(path);
  const Hdf5Layout layout = hdf5_layout(file, options.dataset);
  const auto rows = static_cast<std::uint64_t>(layout.rows), cols = static_cast<std::uint64_t>(layout.cols);
  HeldShape held{.rows = layout.rows, .cols = layout.cols};
  if (layout.kind == Hdf5Layout::Kind::dense) {
    held.bytes = rows * cols * (file.numbers(layout.matrix).single() ? sizeof(float) : sizeof(double));
    return held;
  }
  const StoredSparse stored(file, layout, options);
  const std::uint64_t of_an_entry = sizeof(double) + sizeof(std::int32_t) + (stored.single() ? sizeof(float) : 0);
  held.bytes = static_cast<std::uint64_t>(stored.entries()) * of_an_entry + rows * sizeof(std::int64_t);
  return held;
}

Data hdf5_names(const std::filesystem::path& path, const TableOptions& options) {
  const Hdf5File file(path);
  Data data;
  take_names(file, hdf5_layout(file, options.dataset), data);
  return data;
}

std::unique_ptr<RowSource<double>> open_hdf5_rows(const std::filesystem::path& path, const TableOptions& options) {
  Hdf5File file(path);
  const Hdf5Layout layout = hdf5_layout(file, options.dataset);
  if (layout.kind == Hdf5Layout::Kind::dense)
    return std::make_unique<Hdf5DenseRows>(file, file.numbers(layout.matrix), options);
  refuse_labels(file, options);
  if (layout.kind == Hdf5Layout::Kind::sparse_columns)
    throw InvalidArgument(fmt::format(
        "{}: {} is stored by columns (CSC), and its rows cannot pass by one after the other; leave `stream` out, "
        "or write it by rows (adata.X = adata.X.tocsr())",
        file.name(), layout.matrix));
  return std::make_unique<Hdf5SparseRows>(file, StoredSparse(file, layout, options));
}

std::vector<std::string> hdf5_column_names(const std::filesystem::path& path, const TableOptions& options) {
  const Hdf5File file(path);
  const Hdf5Layout layout = hdf5_layout(file, options.dataset);
  return options.label_column.empty() ? hdf5_column_names(file, layout) : std::vector<std::string>{};
}

}  // namespace hearsay::io
