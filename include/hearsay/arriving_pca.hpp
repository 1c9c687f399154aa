// PCA of rows that arrive and are not kept: every batch of them makes one noisy product, and the products are averaged
// (docs/guide/streams.md).
//
//   ArrivingPca<double> stream(features, {.rank = 5});
//   while (more) stream.add(rows);
//   stream.result().power.bar.sin_theta;
//
// What is kept does not grow with the rows: about ten blocks of features x (rank + 1) numbers, and two batches; but for
// a record of some 80 bytes every sixteen batches.
#pragma once

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"
#include "hearsay/operators/minibatch.hpp"
#include "hearsay/pca.hpp"
#include "hearsay/power.hpp"

namespace hearsay {

struct ArrivingOptions {
  Index rank = 1;
  bool center = true;
  Index batch = 256;       ///< rows of a product, above the rank
  std::uint64_t seed = 0;  ///< drives the start block and nothing else
};

template <class S>
class HEARSAY_API ArrivingPca {
 public:
  ArrivingPca(Index features, const ArrivingOptions& options);

  /// Any number of rows, in any portions: the answer depends on their order alone. What does not fill a batch waits for
  /// the next call.
  void add(const BorrowedBlock<S>& rows);
  void add(const Block<S>& rows) { add(borrow(rows)); }

  Index features() const { return features_; }
  Index batches() const { return batches_; }                            ///< that made a product
  Index samples() const { return centre_.samples() + waiting_count_; }  ///< with those that wait
  /// The answer by the batches so far. Before the first one is full there is none, and power.basis is empty; before
  /// there is something to average power.bar says nothing.
  const PcaResult<S>& result() const { return result_; }

 private:
  struct Arrivals;

  void run(Arrivals& arrivals);
  void forget_what_grows();
  void describe();

  Index features_;
  ArrivingOptions options_;
  RunningCentre<S> centre_;
  Block<S> waiting_;  // rows of a batch that is not full
  Index waiting_count_ = 0;
  Block<S> last_;  // the last batch, centred, and its `between`: its product is made again when the next one comes
  double last_divisor_ = 1;
  Index batches_ = 0;
  PowerState<S> state_;  // as it was before the product of the last batch
  PcaResult<S> result_;
};

}  // namespace hearsay
