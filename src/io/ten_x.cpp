#include "hearsay/io/ten_x.hpp"

#include <fmt/format.h>

#include <system_error>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "io/read_from.hpp"
#include "io/text.hpp"

namespace hearsay::io {
namespace {

// The first that is there.
std::filesystem::path first_of(const std::filesystem::path& folder, const std::string& prefix,
                               std::initializer_list<const char*> names) {
  std::error_code unknown;
  for (const char* name : names)
    for (const char* packed : {".gz", ""})
      if (auto path = folder / (prefix + name + packed); std::filesystem::is_regular_file(path, unknown)) return path;
  return {};
}

// Fields are apart by tabs alone: names may hold blanks.
std::vector<std::string> names_in(const std::filesystem::path& path, std::size_t field) {
  InputFile file(path);
  LineReader lines(source_of(file));
  std::vector<std::string> names;
  std::string_view line;
  while (lines.next_filled(line)) {
    if (names.size() == names.capacity()) {
      require_memory(names.size() + 1, 3 * sizeof(std::string), lines.name());
      names.reserve(2 * names.size() + 64);
    }
    std::string_view rest = line;
    for (std::size_t left = field; left > 0 && rest.find('\t') != rest.npos; --left)
      rest.remove_prefix(rest.find('\t') + 1);
    names.emplace_back(rest.substr(0, rest.find('\t')));
  }
  return names;
}

}  // namespace

std::optional<TenXNames> ten_x_names(const std::filesystem::path& matrix) {
  std::string name = matrix.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  constexpr std::string_view ending = "matrix.mtx";
  if (!name.ends_with(ending)) return std::nullopt;
  const std::string prefix = name.substr(0, name.size() - ending.size());
  const std::filesystem::path folder = matrix.parent_path();
  TenXNames names{.barcodes = first_of(folder, prefix, {"barcodes.tsv"}),
                  .features = first_of(folder, prefix, {"features.tsv", "genes.tsv"})};
  if (names.barcodes.empty() || names.features.empty()) return std::nullopt;
  return names;
}

Data read_ten_x(ByteSource source, const TenXNames& names) {
  const std::string name = source.name;
  MatrixMarket file = read_matrix_market_from(std::move(source), true);
  auto* const cells = std::get_if<CsrMatrix<double>>(&file.matrix);
  if (cells == nullptr)
    throw DataError(fmt::format("{}: is an array; with {} beside it it must be a coordinate matrix of genes x cells",
                                name, names.barcodes.string()));
  Data data;
  data.row_names = names_in(names.barcodes, 0);
  data.column_names = names_in(names.features, 1);
  data.row_title = "cell";
  data.column_title = "gene";
  if (static_cast<Index>(data.row_names.size()) != cells->rows ||
      static_cast<Index>(data.column_names.size()) != cells->cols)
    throw DataError(fmt::format("{}: is {} x {}; {} names {} genes and {} {} cells", name, cells->cols, cells->rows,
                                names.features.string(), data.column_names.size(), names.barcodes.string(),
                                data.row_names.size()));
  data.notes.push_back(
      fmt::format("{}: is genes x cells, and is analysed as cells x genes, with the names of {} and {}", name,
                  names.barcodes.filename().string(), names.features.filename().string()));
  data.matrix = std::move(*cells);
  return data;
}

}  // namespace hearsay::io
