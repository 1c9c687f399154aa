// Libhdf5 behind a handful of calls. Each ends in numbers or in a DataError with the file, the place in it and what is
// wrong there. Links and storage that lead out of the file are refused: a file says nothing about others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/block.hpp"

namespace hearsay::io {

/// An open data set of numbers in one or two dimensions; one dimension is a single column. Copies share it.
class Hdf5Numbers {
 public:
  Index rows() const;
  Index cols() const;
  int dimensions() const;
  bool whole() const;                ///< integers
  bool single() const;               ///< floating point of at most 32 bits
  const std::string& where() const;  ///< "cells.h5ad: X/data": what messages begin with
  std::uint64_t stored_bytes() const;

  /// Rows first, ..., first + count - 1 in C order, converted: doubles that do not fit an integer are cut to its range.
  template <class T>
  void read(Index first, Index count, T* out) const;

 private:
  friend class Hdf5File;
  struct State;
  std::shared_ptr<const State> state_;
};

/// Opened to be read. Calls may come from any thread, one at a time.
class Hdf5File {
 public:
  explicit Hdf5File(const std::filesystem::path& path);

  enum class Kind { nothing, group, data_set };

  const std::string& name() const;
  Kind kind(const std::string& place) const;
  /// Of the object at that place; nothing where it has no such attribute, or one of another type.
  std::optional<std::string> text_attribute(const std::string& place, const char* attribute) const;
  std::optional<std::vector<std::int64_t>> shape_attribute(const std::string& place, const char* attribute) const;
  Hdf5Numbers numbers(const std::string& place) const;
  /// A column of texts; nothing where there is none, or one of another type.
  std::optional<std::vector<std::string>> texts(const std::string& place) const;
  /// The data sets of the file, up to so many.
  std::vector<std::string> data_sets(std::size_t most) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// libhdf5 closes what is open at the end of the program, which is no end where it has lost count on a damaged file.
/// Not for libraries: another's files would not be closed either.
void leave_hdf5_open_at_exit();

}  // namespace hearsay::io
