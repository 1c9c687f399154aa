#include <gtest/gtest.h>

#include <hearsay/io/hdf5.hpp>
#include <hearsay/io/rows.hpp>

#include "support/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace hearsay::io {
namespace {

TEST(Hdf5, IsRefusedWithWhatToInstallWhereTheLibraryIsMissing) {
  const test::TempDir dir;
  dir.file("a.h5ad", "\x89HDF\r\n\x1a\n");
  EXPECT_FALSE(reads_hdf5());
  for (const auto& read : {+[](const std::filesystem::path& path) { (void)read_data(path); },
                           +[](const std::filesystem::path& path) { (void)open_rows(path); }})
    test::expect_error<DataError>([&] { read(dir / "a.h5ad"); }, {"a.h5ad: is HDF5", "libhdf5-dev"});
}

}  // namespace
}  // namespace hearsay::io
