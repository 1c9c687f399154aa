// .npy files made by hand, so that the reader is not tested against the writer alone.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace hearsay::test {

inline std::string npy_bytes(std::string dict, std::string_view data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  dict += '\n';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(dict.size() >> (8 * i) & 0xff);
  return bytes + dict + std::string(data);
}

inline std::string npy_dict(std::string_view dtype, std::string_view shape, bool fortran = false) {
  return "{'descr': '" + std::string(dtype) + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + std::string(shape) + ", }";
}

/// The numbers as they lie in a file; `swapped` turns the bytes of each around.
template <class T>
std::string raw(const std::vector<T>& numbers, bool swapped = false) {
  std::string bytes(numbers.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  if (swapped)
    for (auto at = bytes.begin(); at != bytes.end(); at += sizeof(T)) std::reverse(at, at + sizeof(T));
  return bytes;
}

}  // namespace hearsay::test
