// The arrays of an .npz file.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/io/table.hpp"
#include "io/npy_format.hpp"
#include "io/zip.hpp"

namespace hearsay::io {

/// Borrows the bytes.
class NpzFile {
 public:
  NpzFile(std::string_view bytes, std::string_view name)
      : bytes_(bytes), name_(name), members_(zip_members(bytes, name)) {}

  const std::string& name() const { return name_; }
  bool has(std::string_view array) const { return find(array) != nullptr; }
  ByteSource open(std::string_view array) const;
  std::vector<std::string> arrays() const;

 private:
  const ZipMember* find(std::string_view array) const;

  std::string_view bytes_;
  std::string name_;
  std::vector<ZipMember> members_;
};

/// One dimension, and whole numbers where they must be. f8 holds the integers up to 2^53, and nothing has as many
/// entries.
NpyHeader vector_header(const ByteSource& source, bool whole);

/// The next `count` numbers of a vector, of which `done` have been pulled.
template <class T>
void pull_numbers(const NpyHeader& header, const ByteSource& source, std::size_t done, std::size_t count, T* out);

/// All of them.
template <class T>
std::vector<T> vector_of(const ByteSource& source, const NpyHeader& header);

/// Whether the matrix that is asked for is one of scipy.
bool is_sparse(const NpzFile& file, const TableOptions& options);
/// "csr" or "csc".
std::string sparse_format(const NpzFile& file, const TableOptions& options);

struct SparseShape {
  Index rows, cols;
};
SparseShape shape_of(const NpzFile& file);

/// The name of the array that is asked for.
std::string array_of(const NpzFile& file, const TableOptions& options);

}  // namespace hearsay::io
