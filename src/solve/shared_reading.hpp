// Readings that ranks make together. Rank 0 calls for one; the others wait to be called, until rank 0 has an end.
//
//   covariance   shift, and whether there is one        -> the sums of each lane
//   product      shift, first or not, X                 -> Y of each lane
#pragma once

#include <memory>
#include <string>

#include "hearsay/transport.hpp"
#include "network/failure.hpp"
#include "operators/covariance_direct.hpp"
#include "operators/stream_pass.hpp"

namespace hearsay::detail {

/// Of a source that is RowSource<float>, RowSource<double> or SparseRowSource.
template <class Source>
class SharedReading {
 public:
  SharedReading(Transport& ranks, Source& source, ReadingOptions reading)
      : ranks_(ranks), source_(source), reading_(std::move(reading)) {}

  // At rank 0:
  FormedCovariance form_covariance(bool center, const WatchReading& watch);
  std::unique_ptr<StreamPass<double>> pass(bool center, const WatchReading& watch);
  /// No more readings: how it went.
  void end(const Failure& failure) { call(Task::end, to_bytes(failure)); }

  /// Elsewhere: until the end. Throws what rank 0 ended with.
  void serve();

 private:
  enum class Task : unsigned char { end, covariance, product };
  class Pass;

  ReadingPart part() const { return {.part = ranks_.rank(), .parts = ranks_.size()}; }
  void call(Task task, const std::string& bytes);
  void sum_up(const std::string& bytes);
  void multiply(const std::string& bytes, std::unique_ptr<ProductLanes<double>>& lanes);

  Transport& ranks_;
  Source& source_;
  const ReadingOptions reading_;
};

}  // namespace hearsay::detail
