// Missing entries filled in by EM: the components of the data as they are filled in, and the entries as these
// components make them of the others in their row (conditional.hpp), in turn, until the entries come to rest.
#pragma once

#include "hearsay/pca.hpp"

namespace hearsay::detail {

struct EmOptions {
  Index max_rounds = 300;
  double tolerance = 1e-6;  ///< on the change of an entry in a round, as a share of an entry's standard deviation
};

template <class S>
struct EmFilled {
  Block<S> data = {};  ///< empty where nothing is missing
  MissingFacts facts = {};
};

/// With the rank, the centring, the scale and the weights of the options; every round finds the mean and the scale
/// anew. The first fill is the mean of each column. A round whose observer says so is the last.
template <class S>
EmFilled<S> fill_by_em(const BorrowedBlock<S>& data, PcaOptions<S> options, const EmOptions& em, const Hooks<S>& hooks);

}  // namespace hearsay::detail
