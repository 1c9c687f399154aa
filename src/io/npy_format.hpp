// The header of a .npy file, and its numbers made ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "hearsay/block.hpp"
#include "io/byte_source.hpp"

namespace hearsay::io {

struct NpyHeader {
  std::string dtype;  ///< as NumPy writes it: "<f8"
  char kind = 'f';    ///< f, i, u or b
  std::size_t item_bytes = 8;
  bool swapped = false;  ///< the bytes of each number are in the other order than this machine's
  bool fortran_order = false;
  Index rows = 0, cols = 0;  ///< both at least one
  std::uint64_t data_bytes = 0;

  bool is_float() const { return kind == 'f' && item_bytes == 4; }
};

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// Reads the header and leaves the source at the first number. Throws DataError if it is malformed, of a type or shape
/// we do not read, or promises more than the source can hold.
NpyHeader read_npy_header(const ByteSource& source);

/// Of numbers of that type, as NumPy writes it, with '<' or '>' before it or without; no shape. Throws InvalidArgument.
NpyHeader header_of_type(const std::string& type);

/// Turns `count` stored numbers into ours.
template <class S>
void convert_npy(const NpyHeader& header, const char* stored, std::size_t count, S* out);

/// Pulls exactly `out.size()` bytes of data. Throws DataError when they end early.
void pull_npy(const NpyHeader& header, const ByteSource& source, std::span<char> out);

/// Throws DataError if anything follows the last number.
void require_npy_end(const ByteSource& source);

/// What becomes of NaN, and what its refusal ends with: its own text, as readers outlive their options.
struct NpyMissing {
  bool allowed = false;
  std::string hint = {};
};

/// Throws DataError naming row and column, from 1, unless all numbers are finite, or missing where they may be. The
/// first of them is number `first` of a C-order array with `cols` columns.
template <class S>
void require_finite(std::span<const S> numbers, std::uint64_t first, Index cols, std::string_view name,
                    const NpyMissing& missing = {});

}  // namespace hearsay::io
