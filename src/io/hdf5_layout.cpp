#include "io/hdf5_layout.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "hearsay/error.hpp"

namespace hearsay::io {
namespace {

using Kind = Hdf5Layout::Kind;

// How many data sets a message names.
constexpr std::size_t most_listed = 12;

[[noreturn]] void refuse_layout(const Hdf5File& file, const std::string& place, std::string_view what) {
  throw DataError(fmt::format("{}: {}: {}", file.name(), place, what));
}

// The shape of a sparse matrix lies in an attribute, under one of two names; that of 10x in a data set.
void take_shape(const Hdf5File& file, Hdf5Layout& layout, bool turned) {
  auto shape = file.shape_attribute(layout.matrix, "shape");
  if (!shape) shape = file.shape_attribute(layout.matrix, "h5sparse_shape");
  if (!shape && file.kind(layout.matrix + "/shape") == Hdf5File::Kind::data_set) {
    const Hdf5Numbers numbers = file.numbers(layout.matrix + "/shape");
    if (numbers.rows() == 2 && numbers.dimensions() == 1 && numbers.whole()) {
      shape.emplace(2);
      numbers.read(0, 2, shape->data());
    }
  }
  if (!shape) refuse_layout(file, layout.matrix, "says no shape: two whole numbers must be its attribute `shape`");
  layout.rows = (*shape)[turned ? 1 : 0];
  layout.cols = (*shape)[turned ? 0 : 1];
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (layout.rows < 1 || layout.cols < 1)
    refuse_layout(file, layout.matrix, fmt::format("is of shape {} x {}: holds no numbers", layout.rows, layout.cols));
  if ((layout.kind == Kind::sparse_rows ? layout.cols : layout.rows) > most)
    refuse_layout(file, layout.matrix,
                  fmt::format("is of shape {} x {}: indices go to {}", layout.rows, layout.cols, most));
}

Hdf5Layout dense_layout(const Hdf5File& file, const std::string& place) {
  const Hdf5Numbers numbers = file.numbers(place);
  if (numbers.rows() == 0 || numbers.cols() == 0) refuse_layout(file, place, "holds no numbers");
  return {.kind = Kind::dense, .matrix = place, .rows = numbers.rows(), .cols = numbers.cols()};
}

Hdf5Layout sparse_layout(const Hdf5File& file, const std::string& place) {
  auto encoding = file.text_attribute(place, "encoding-type");
  if (!encoding) encoding = file.text_attribute(place, "h5sparse_format");
  Hdf5Layout layout{.matrix = place};
  if (encoding == "csr_matrix" || encoding == "csr")
    layout.kind = Kind::sparse_rows;
  else if (encoding == "csc_matrix" || encoding == "csc")
    layout.kind = Kind::sparse_columns;
  else
    refuse_layout(file, place,
                  fmt::format("is a group{}; a sparse matrix is one whose encoding-type is csr_matrix or csc_matrix",
                              encoding ? fmt::format(" of encoding-type {}", *encoding) : ""));
  take_shape(file, layout, false);
  return layout;
}

// The names that a data frame goes by.
void take_names(const Hdf5File& file, const std::string& frame, std::string& names, std::string& title) {
  if (file.kind(frame) != Hdf5File::Kind::group) return;
  const std::string index = file.text_attribute(frame, "_index").value_or("_index");
  if (file.kind(frame + "/" + index) != Hdf5File::Kind::data_set) return;
  names = frame + "/" + index;
  if (index != "_index" && index != "index") title = index;
}

Hdf5Layout ann_data(const Hdf5File& file, const std::string& place) {
  if (file.kind(place) == Hdf5File::Kind::nothing) refuse_layout(file, place, "is missing");
  Hdf5Layout layout =
      file.kind(place) == Hdf5File::Kind::group ? sparse_layout(file, place) : dense_layout(file, place);
  layout.row_title = "cell";
  layout.column_title = "gene";
  take_names(file, "obs", layout.row_names, layout.row_title);
  const bool of_genes = place == "X" || place.starts_with("layers/");
  if (of_genes) take_names(file, "var", layout.column_names, layout.column_title);
  if (place == "raw/X") take_names(file, "raw/var", layout.column_names, layout.column_title);
  return layout;
}

// Genes x cells by columns: the same numbers are cells x genes by rows.
Hdf5Layout ten_x(const Hdf5File& file) {
  Hdf5Layout layout{.kind = Kind::sparse_rows, .matrix = "matrix", .row_names = "matrix/barcodes"};
  take_shape(file, layout, true);
  layout.row_title = "cell";
  layout.column_title = "gene";
  if (file.kind("matrix/features/name") == Hdf5File::Kind::data_set) layout.column_names = "matrix/features/name";
  return layout;
}

Hdf5Layout only_matrix(const Hdf5File& file) {
  const std::vector<std::string> all = file.data_sets(most_listed + 1);
  if (all.size() == 1) return dense_layout(file, all.front());
  std::string list;
  for (std::size_t i = 0; i < std::min(all.size(), most_listed); ++i) list += (i > 0 ? ", " : "") + all[i];
  if (all.size() > most_listed) list += ", ...";
  if (all.empty()) throw DataError(fmt::format("{}: holds no data set", file.name()));
  throw InvalidArgument(
      fmt::format("{}: holds more than one data set: say by `dataset` which is the matrix: {}", file.name(), list));
}

std::vector<std::string> names_at(const Hdf5File& file, const std::string& place, Index count, std::string_view what) {
  if (place.empty()) return {};
  auto names = file.texts(place);
  if (!names) return {};
  if (static_cast<Index>(names->size()) != count)
    refuse_layout(file, place, fmt::format("has {} names for {} {}", names->size(), count, what));
  return std::move(*names);
}

}  // namespace

Hdf5Layout hdf5_layout(const Hdf5File& file, const std::string& dataset) {
  std::string place = dataset;
  while (place.starts_with('/')) place.erase(0, 1);
  while (place.ends_with('/')) place.pop_back();
  const bool is_ann_data = file.text_attribute("/", "encoding-type") == "anndata" ||
                           (file.kind("X") != Hdf5File::Kind::nothing && file.kind("obs") != Hdf5File::Kind::nothing);
  if (is_ann_data) return ann_data(file, place.empty() ? "X" : place);
  const bool is_ten_x =
      file.kind("matrix") == Hdf5File::Kind::group && file.kind("matrix/barcodes") == Hdf5File::Kind::data_set;
  if (is_ten_x && (place.empty() || place == "matrix")) return ten_x(file);
  if (place.empty()) return only_matrix(file);
  return file.kind(place) == Hdf5File::Kind::group ? sparse_layout(file, place) : dense_layout(file, place);
}

std::vector<std::string> hdf5_row_names(const Hdf5File& file, const Hdf5Layout& layout) {
  return names_at(file, layout.row_names, layout.rows, "rows");
}

std::vector<std::string> hdf5_column_names(const Hdf5File& file, const Hdf5Layout& layout) {
  return names_at(file, layout.column_names, layout.cols, "columns");
}

}  // namespace hearsay::io
