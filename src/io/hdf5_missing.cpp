// In place of the reader of HDF5, where there is no libhdf5.
#include <fmt/format.h>

#include "hearsay/error.hpp"
#include "hearsay/io/hdf5.hpp"

namespace hearsay::io {
namespace {

[[noreturn]] void refuse_without_libhdf5(const std::filesystem::path& path) {
  throw DataError(
      fmt::format("{}: is HDF5, and this hearsay was built without libhdf5; install libhdf5-dev (Debian) or hdf5, and "
                  "build it again",
                  path.string()));
}

}  // namespace

bool reads_hdf5() { return false; }
void try_hdf5(const std::filesystem::path&, const TableOptions&) {}
Data read_hdf5(const std::filesystem::path& path, const TableOptions&) { refuse_without_libhdf5(path); }
HeldShape hdf5_held_shape(const std::filesystem::path& path, const TableOptions&) { refuse_without_libhdf5(path); }
Data hdf5_names(const std::filesystem::path& path, const TableOptions&) { refuse_without_libhdf5(path); }
std::unique_ptr<RowSource<double>> open_hdf5_rows(const std::filesystem::path& path, const TableOptions&) {
  refuse_without_libhdf5(path);
}
std::vector<std::string> hdf5_column_names(const std::filesystem::path& path, const TableOptions&) {
  refuse_without_libhdf5(path);
}

}  // namespace hearsay::io
