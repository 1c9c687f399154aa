// What the machine allows, measured in the same run as the kernels: multiply-adds that never leave the registers, and
// bytes from memory or from whichever cache holds so many of them.
#pragma once

#include <hearsay/block.hpp>

#include <map>
#include <utility>
#include <vector>

namespace hearsay::bench {

/// Every number is the best seen so far, over the threads in use.
class Machine {
 public:
  /// Multiply-adds count as two.
  double peak_flops(bool single);

  /// Bytes a second when arrays of so many bytes in all are read from end to end, again and again.
  double read_rate(double bytes);

  /// The same for a <- b + s c, the line of a that is fetched before it is written counted too: four streams.
  double triad_rate(double bytes);

  /// Bytes a second when rows of so many bytes, whole cache lines, are read in random order from an array of `bytes`,
  /// each asked for ahead of time.
  double gather_rate(double bytes, Index row_bytes);

  /// Of OpenBLAS, square matrices; 0 in a build without it.
  double dgemm_flops();

  /// The processor OpenBLAS takes this one for; empty without it.
  static const char* blas_core();

 private:
  double best_peak_[2] = {}, best_dgemm_ = 0;
  std::map<Index, double> best_read_, best_triad_;         // by the logarithm of the size
  std::map<std::pair<Index, Index>, double> best_gather_;  // and by the bytes of a row
  std::vector<double> arrays_;
};

}  // namespace hearsay::bench
