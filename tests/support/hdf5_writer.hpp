// Files of HDF5 as others write them, right and wrong.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace hearsay::test {

class Hdf5Writer {
 public:
  explicit Hdf5Writer(const std::filesystem::path& path)
      : file_(good(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT))) {}
  /// Of bytes in memory, for flush() and H5Fget_file_image().
  Hdf5Writer() : file_(-1) {
    const hid_t access = good(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_fapl_core(access, 1 << 16, false);
    file_ = good(H5Fcreate("in memory", H5F_ACC_TRUNC, H5P_DEFAULT, access));
    H5Pclose(access);
  }
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;
  ~Hdf5Writer() { H5Fclose(file_); }

  void group(const std::string& place) {
    H5Gclose(good(H5Gcreate2(file_, place.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
  }

  /// Compressed in chunks of that shape, where one is given.
  template <class T>
  void numbers(const std::string& place, const std::vector<hsize_t>& shape, const std::vector<T>& values,
               const std::vector<hsize_t>& chunk = {}) {
    const int rank = static_cast<int>(shape.size());
    const hid_t space = good(H5Screate_simple(rank, shape.data(), nullptr)), how = good(H5Pcreate(H5P_DATASET_CREATE));
    if (!chunk.empty()) {
      H5Pset_chunk(how, rank, chunk.data());
      H5Pset_deflate(how, 4);
    }
    const hid_t set = good(H5Dcreate2(file_, place.c_str(), type_of<T>(), space, H5P_DEFAULT, how, H5P_DEFAULT));
    if (!values.empty()) good(H5Dwrite(set, type_of<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
    H5Dclose(set);
    H5Pclose(how);
    H5Sclose(space);
  }
  template <class T>
  void numbers(const std::string& place, const std::vector<T>& values) {
    numbers(place, {static_cast<hsize_t>(values.size())}, values);
  }

  void texts(const std::string& place, const std::vector<std::string>& values) {
    std::vector<const char*> read;
    for (const std::string& value : values) read.push_back(value.c_str());
    const hsize_t count = values.size();
    const hid_t type = variable_text(), space = good(H5Screate_simple(1, &count, nullptr));
    const hid_t set = good(H5Dcreate2(file_, place.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    good(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()));
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
  }

  void text_attribute(const std::string& place, const char* name, const std::string& value) {
    const hid_t type = variable_text(), space = good(H5Screate(H5S_SCALAR));
    const hid_t attribute =
        good(H5Acreate_by_name(file_, place.c_str(), name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const char* const text = value.c_str();
    good(H5Awrite(attribute, type, &text));
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
  }

  void shape_attribute(const std::string& place, const char* name, const std::vector<std::int64_t>& values) {
    const hsize_t count = values.size();
    const hid_t space = good(H5Screate_simple(1, &count, nullptr));
    const hid_t attribute = good(
        H5Acreate_by_name(file_, place.c_str(), name, H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    good(H5Awrite(attribute, H5T_NATIVE_INT64, values.data()));
    H5Aclose(attribute);
    H5Sclose(space);
  }

  void link_elsewhere(const std::string& place, const std::filesystem::path& file, const std::string& there) {
    good(H5Lcreate_external(file.c_str(), there.c_str(), file_, place.c_str(), H5P_DEFAULT, H5P_DEFAULT));
  }
  void soft_link(const std::string& place, const std::string& to) {
    good(H5Lcreate_soft(to.c_str(), file_, place.c_str(), H5P_DEFAULT, H5P_DEFAULT));
  }

  /// The bytes that the file would have.
  std::string image() {
    H5Fflush(file_, H5F_SCOPE_GLOBAL);
    const ssize_t size = H5Fget_file_image(file_, nullptr, 0);
    std::string bytes(static_cast<std::size_t>(size), '\0');
    H5Fget_file_image(file_, bytes.data(), bytes.size());
    return bytes;
  }

 private:
  static hid_t good(hid_t id) {
    if (id < 0) throw std::runtime_error("libhdf5 refuses to write a test's file");
    return id;
  }
  static hid_t variable_text() {
    const hid_t type = good(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
  }
  template <class T>
  static hid_t type_of() {
    if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
    if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
    if constexpr (std::is_same_v<T, std::int32_t>) return H5T_NATIVE_INT32;
    if constexpr (std::is_same_v<T, std::int64_t>) return H5T_NATIVE_INT64;
  }

  hid_t file_;
};

/// A sparse matrix as AnnData writes it, at one place; what is in it need not be right.
struct StoredCells {
  std::vector<std::int64_t> shape{3, 4};
  std::vector<std::int64_t> offsets{0, 2, 2, 5};
  std::vector<std::int32_t> columns{1, 3, 0, 1, 2};
  std::vector<float> values{1, 2, 3, 4, 5};
  std::string encoding = "csr_matrix";
  std::vector<std::string> cells{"c1", "c2", "c3"}, genes{"g1", "g2", "g3", "g4"};

  void write(Hdf5Writer& to) const {
    to.text_attribute("/", "encoding-type", "anndata");
    to.group("X");
    to.text_attribute("X", "encoding-type", encoding);
    to.shape_attribute("X", "shape", shape);
    to.numbers("X/indptr", offsets);
    to.numbers("X/indices", columns);
    to.numbers("X/data", values);
    to.group("obs");
    to.text_attribute("obs", "_index", "cell_id");
    to.texts("obs/cell_id", cells);
    to.group("var");
    to.text_attribute("var", "_index", "_index");
    to.texts("var/_index", genes);
  }
  std::filesystem::path write(const std::filesystem::path& path) const {
    Hdf5Writer to(path);
    write(to);
    return path;
  }
};

}  // namespace hearsay::test
