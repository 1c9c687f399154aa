// PCA of rows that several ranks read together: each reads its part of every reading, and rank 0 adds up what they
// found, in an order that does not depend on how many they are.
//
//   mpi::World world(argc, argv);
//   const auto rows = io::open_rows("huge.npy");
//   const auto found = solve_stream_on_ranks(world, *rows, request, settings);
//   if (found) ...                    // at rank 0
//
// Every rank opens the same rows. Up to eight share a reading: four where a covariance of more than 700 columns is
// formed, two of more than 4,000; ranks beyond have nothing to read. One reduction a reading goes over the wire: the
// upper triangles of the covariance's sums, or blocks of a product, and before it the block that is multiplied. Rank 0
// alone solves, watches and is told; the result has the bits of one process that reads alone.
#pragma once

#include <optional>

#include "hearsay/solve_stream.hpp"
#include "hearsay/transport.hpp"

namespace hearsay {

/// The solution at rank 0, nothing elsewhere; what is thrown is thrown by all ranks. Rows that are standardized,
/// weighted or incomplete, and batches, are refused.
HEARSAY_API std::optional<StreamSolution> solve_stream_on_ranks(Transport& ranks, RowSource<double>& rows,
                                                                const Request& request,
                                                                const StreamSettings& settings = {});
HEARSAY_API std::optional<StreamSolution> solve_stream_on_ranks(Transport& ranks, RowSource<float>& rows,
                                                                const Request& request,
                                                                const StreamSettings& settings = {});

}  // namespace hearsay
