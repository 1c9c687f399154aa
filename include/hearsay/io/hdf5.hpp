// HDF5: AnnData (.h5ad), 10x Genomics (.h5), and matrices of numbers in any other file.
//
// Of AnnData a matrix is X, a layer, or what else `dataset` names: dense, or sparse by rows (CSR). One that is sparse
// by columns (CSC) is turned into rows where it is held in memory, and refused where rows pass by. Of 10x the matrix is
// cells x genes, as it is stored. Of other files it is the data set that `dataset` names, or the only one.
//
// What leads out of the file is refused: external links, external storage, virtual data sets. Sizes are held against
// what is stored. Numbers must be finite, or missing where they may be; the rules of CSR hold: indptr begins with 0 and
// does not fall, indices are columns. Rows whose indices do not rise are sorted; entries of one place are added up.
//
// Without libhdf5 at build time all of these throw DataError, which says what to install.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "hearsay/export.hpp"
#include "hearsay/io/matrix.hpp"
#include "hearsay/io/rows.hpp"
#include "hearsay/row_source.hpp"

namespace hearsay::io {

/// Whether this library was built with libhdf5.
HEARSAY_API bool reads_hdf5();

HEARSAY_API Data read_hdf5(const std::filesystem::path& path, const TableOptions& options = {});

/// Rows in the order of the file; of a sparse matrix a SparseRowSource. Memory stays at some megabytes.
HEARSAY_API std::unique_ptr<RowSource<double>> open_hdf5_rows(const std::filesystem::path& path,
                                                              const TableOptions& options = {});

/// For programs that open files of strangers: libhdf5 itself may crash on a damaged file, or never come back. A child
/// process goes first: it opens the file, reads the names and, of a file of up to 64 MB, all the numbers. Throws
/// DataError where it does not survive that, or takes ten seconds of a processor. Nothing where the file is no HDF5, or
/// there is no libhdf5. To be called before the program has threads; from then on libhdf5 is not closed at the
/// program's end.
HEARSAY_API void try_hdf5(const std::filesystem::path& path, const TableOptions& options = {});

/// What rows.hpp says of such a file.
HEARSAY_API HeldShape hdf5_held_shape(const std::filesystem::path& path, const TableOptions& options = {});
HEARSAY_API Data hdf5_names(const std::filesystem::path& path, const TableOptions& options = {});

/// Of the columns: the names of genes, in AnnData's var. None where there are none.
HEARSAY_API std::vector<std::string> hdf5_column_names(const std::filesystem::path& path,
                                                       const TableOptions& options = {});

}  // namespace hearsay::io
