// PCA of rows that pass by and are never held: a file bigger than memory, a socket, a generator.
//
//   StreamSettings settings;
//   settings.memory = 1'000'000'000;
//   const auto found = solve_stream(rows, request, settings);
//   found.plan.passes;
//
// The memory allowed decides how. Where the covariance fits, one reading forms it, and the mean with it; all else is
// asked of it in memory. Otherwise a product is a reading. In double precision, whatever the rows are stored in. The
// result has the same bits for any number of threads, and of rows that are read at once.
#pragma once

#include "hearsay/reading.hpp"
#include "hearsay/solve.hpp"

namespace hearsay {

/// How rows that pass by become components.
enum class StreamWay {
  covariance,  ///< one reading forms mean and covariance
  products,    ///< a reading per product
  batches      ///< noisy products with so many rows each
};
HEARSAY_API const char* name(StreamWay way);

/// What was settled before the first row was read.
struct StreamPlan {
  StreamWay way = StreamWay::covariance;
  Index passes = 1;                  ///< readings: expected, or exactly
  bool certain = true;               ///< exactly, unless somebody stops them
  std::uint64_t bytes_per_pass = 0;  ///< 0: not known
  std::optional<Index> rows = {};    ///< where they are known
  std::uint64_t memory = 0;          ///< what the process will hold, about
  std::uint64_t memory_allowed = 0;
};

struct StreamSettings : PcaSettings {
  Index rows_at_once = 0;            ///< as ReadingOptions has it
  std::uint64_t memory = 0;          ///< bytes that the process may hold; 0: memory_limit()
  std::optional<Index> passes = {};  ///< readings at most. What they find is returned with its measured error

  /// Told before the first row and after every few megabytes. False ends the solve with the best basis so far; in the
  /// only reading, with the components of the rows so far.
  std::function<bool(const Reading&, const StreamPlan&)> observe_reading = {};
};

struct [[nodiscard]] StreamSolution : PcaSolution<double> {
  StreamPlan plan = {};
};

/// What goes wrong in the first reading is thrown. A source that fails in a later one leaves the best basis before
/// that, with Status::breakdown and a note that says what the source said.
HEARSAY_API StreamSolution solve_stream(RowSource<double>& rows, const Request& request,
                                        const StreamSettings& settings = {});
HEARSAY_API StreamSolution solve_stream(RowSource<float>& rows, const Request& request,
                                        const StreamSettings& settings = {});

/// Samples in single precision, solved in double, with no copy in double where the way allows it: those of a mapped
/// file.
HEARSAY_API PcaSolution<double> solve_pca_in_double(const BorrowedBlock<float>& data, const Request& request,
                                                    const PcaSettings& settings = {});

/// Scores in double, whatever the data are stored in.
HEARSAY_API Block<double> pca_scores(RowSource<float>& rows, const PcaResult<double>& result, Index block_rows = 1024);
HEARSAY_API Block<double> pca_scores(const BorrowedBlock<double>& data, const PcaResult<double>& result);
HEARSAY_API Block<double> pca_scores(const BorrowedBlock<float>& data, const PcaResult<double>& result);

}  // namespace hearsay
