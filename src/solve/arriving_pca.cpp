// Rows that arrive, one product a batch.
//
// The solver asks for products; here they come when there are rows. A call therefore goes on from the state before the
// last product, makes that product again, on the batch that was kept for it, and then one with every new batch: the
// answer has the bits of one run over all batches, however the rows were handed over.
#include "hearsay/arriving_pca.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/subspace.hpp"

namespace hearsay {

// The covariance of the batch that is next; of the last one, where no more have come.
template <class S>
struct ArrivingPca<S>::Arrivals {
  using Scalar = S;

  ArrivingPca& stream;
  const BorrowedBlock<S>& rows;  // behind those that wait
  Index left;                    // batches to come
  bool again;                    // the first product is that of the last batch
  Index taken = 0;               // of `rows`
  Block<S> products = {};

  Index dim() const { return stream.features_; }
  OperatorFacts facts() const {
    return {.positive_semidefinite = true,
            .noisy = true,
            .multiply_adds = 2.0 * static_cast<double>(stream.options_.batch) * static_cast<double>(dim())};
  }

  void take_batch() {
    const Index batch = stream.options_.batch, waiting = std::exchange(stream.waiting_count_, 0);
    auto into = stream.last_.topRows(batch);
    into.topRows(waiting) = stream.waiting_.topRows(waiting);
    into.bottomRows(batch - waiting) = rows.middleRows(taken, batch - waiting);
    taken += batch - waiting;
    Vector<S> between(dim());
    stream.centre_.take(into, between);
    stream.last_.row(batch) = between.transpose();
    stream.last_divisor_ = stream.centre_.divisor();
    ++stream.batches_;
    --left;
  }

  void apply(ConstBlockView<S> X, BlockView<S> Y) {
    if (!std::exchange(again, false) && left > 0) take_batch();
    if (products.cols() != X.cols()) products.resize(stream.last_.rows(), X.cols());
    multiply<S>(borrow(stream.last_), X, products);
    Y.setZero();
    accumulate_transposed<S>(borrow(stream.last_), products, Y);
    Y /= static_cast<S>(stream.last_divisor_);
  }
};

namespace {

// An operator's products do not change it, as a rule; those of a stream use rows up.
template <class Arrivals>
struct ProductsOf {
  using Scalar = typename Arrivals::Scalar;
  Arrivals* arrivals;
  Index dim() const { return arrivals->dim(); }
  OperatorFacts facts() const { return arrivals->facts(); }
  void apply(ConstBlockView<Scalar> X, BlockView<Scalar> Y) const { arrivals->apply(X, Y); }
};

}  // namespace

template <class S>
ArrivingPca<S>::ArrivingPca(Index features, const ArrivingOptions& options)
    : features_(features), options_(options), centre_(features, options.center) {
  require(options.rank >= 1 && options.rank < features,
          fmt::format("rank = {}: must lie in [1, {}], below the number of features", options.rank, features - 1));
  require(options.batch > options.rank,
          fmt::format("batch = {}: must be above the `rank`, {}: fewer rows cannot tell so many components apart",
                      options.batch, options.rank));
  waiting_.resize(options.batch, features);
  last_.resize(options.batch + 1, features);
}

template <class S>
void ArrivingPca<S>::add(const BorrowedBlock<S>& rows) {
  require(rows.cols() == features_,
          fmt::format("rows of {} features: must have {}, as those before", rows.cols(), features_));
  if (!rows.allFinite()) throw DataError("rows: a value is not finite");
  Arrivals arrivals{*this, rows, (waiting_count_ + rows.rows()) / options_.batch, false};
  while (arrivals.left > 0) {
    const Index before = arrivals.left;
    arrivals.again = batches_ > 0;
    run(arrivals);
    if (arrivals.left == before) arrivals.take_batch();  // nothing to learn from: data without any spread
  }
  const Index rest = rows.rows() - arrivals.taken;
  waiting_.middleRows(waiting_count_, rest) = rows.bottomRows(rest);
  waiting_count_ += rest;
  if (batches_ > 0) describe();
}

template <class S>
void ArrivingPca<S>::run(Arrivals& arrivals) {
  const bool goes_on = !state_.history.empty();
  PowerOptions power{.rank = options_.rank,
                     .tolerance = std::numeric_limits<double>::min(),
                     .max_iterations = state_.t + arrivals.left - (arrivals.again ? 0 : 1),
                     .product_budget = std::numeric_limits<Index>::max() / 4,
                     .seed = options_.seed};
  const PowerState<S> from = state_;
  Hooks<S> hooks;
  hooks.resume = goes_on ? &from : nullptr;
  hooks.checkpoint = [this](const PowerState<S>& state) { state_ = state; };
  hooks.checkpoint_every = 1;
  const ProductsOf<Arrivals> products{&arrivals};
  result_.power = principal_subspace<S>(products, power, hooks);
  forget_what_grows();
}

// Averages need the last looks alone, and no proof. Of older ones every sixteenth stays, the longest stride that a
// state may have between two.
template <class S>
void ArrivingPca<S>::forget_what_grows() {
  constexpr Index looks = 64, stride = 16;
  state_.start_norm = 0;
  state_.filter.clear();
  if (state_.averaging.begun())
    std::erase_if(state_.history, [now = state_.t](const HistoryEntry& entry) {
      return entry.t + looks < now && entry.t % stride != 0;
    });
}

template <class S>
void ArrivingPca<S>::describe() {
  const auto samples = static_cast<double>(centre_.samples());
  result_.mean = centre_.mean().template cast<S>();
  result_.total_variance = centre_.total_variance();
  result_.samples = centre_.samples();
  result_.singular_values = (result_.power.eigenvalues.cwiseMax(S(0)) *
                             static_cast<S>(options_.center ? std::max(1.0, samples - 1) : samples))
                                .cwiseSqrt();
}

template class ArrivingPca<float>;
template class ArrivingPca<double>;

}  // namespace hearsay
