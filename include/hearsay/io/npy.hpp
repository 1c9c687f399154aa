// NumPy's .npy, versions 1 to 3, plain or gzip: real numbers, integers and booleans, in one or two dimensions.
#pragma once

#include <filesystem>
#include <string_view>
#include <variant>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"

namespace hearsay::io {

using FloatOrDouble = std::variant<Block<float>, Block<double>>;

/// f4 stays float, everything else becomes double (64-bit integers are rounded); one dimension becomes one column.
/// Throws DataError for any other type or shape, for a header that promises more than the file or the memory holds, and
/// for NaN or infinity, naming the row and column of the first, counted from 1.
HEARSAY_API FloatOrDouble read_npy(const std::filesystem::path& path);
HEARSAY_API FloatOrDouble parse_npy(std::string_view bytes, std::string_view name);

/// Writes in C order, atomically.
HEARSAY_API void write_npy(const std::filesystem::path& path, const ConstBlockView<double>& values);
HEARSAY_API void write_npy(const std::filesystem::path& path, const ConstBlockView<float>& values);

}  // namespace hearsay::io
