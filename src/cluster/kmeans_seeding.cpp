// Greedy k-means++: each new center is the best of a few points drawn with probability proportional to D(x)^2, the
// squared distance of x to its nearest center so far.
//
// Reference   Arthur and Vassilvitskii (2007), Section 2; the greedy choice of 2 + log k candidates is theirs too.
// Departures  a candidate y cannot come closer to x than its owner c once d(y, c) >= 2 D(x): that pair is skipped,
//             which changes nothing but the time.
#include <fmt/format.h>

#include <cmath>

#include "cluster/chunks.hpp"
#include "cluster/kmeans_steps.hpp"
#include "hearsay/error.hpp"
#include "hearsay/random.hpp"

namespace hearsay::detail {
namespace {

class Seeding {
 public:
  Seeding(const Block<double>& X, Index k)
      : X_(X),
        chunks_{X.rows()},
        centers_(k, X.cols()),
        nearest_(Vector<double>::Constant(X.rows(), infinity)),
        owner_(static_cast<std::size_t>(X.rows()), 0) {}

  Index found() const { return found_; }
  Block<double> centers() && { return std::move(centers_); }

  /// Sum of D(x)^2 over each chunk, then over all.
  double weigh() {
    weight_.setZero(chunks_.count());
    chunks_.for_each(
        [&](Index chunk) { weight_(chunk) = nearest_.segment(chunks_.first(chunk), length(chunk)).sum(); });
    return weight_.sum();
  }

  /// The point at which the running sum of D^2 passes `target`. Never one with D = 0: that is a center already.
  Index draw(double target) const {
    Index last = chunks_.count() - 1;
    while (weight_(last) == 0) --last;
    Index chunk = 0;
    while (chunk < last && target >= weight_(chunk)) target -= weight_(chunk++);

    Index drawn = -1;
    for (Index i = chunks_.first(chunk); i < chunks_.last(chunk); ++i) {
      if (nearest_(i) == 0) continue;
      drawn = i;  // the last one stands when rounding leaves a little of the target over
      if (target < nearest_(i)) break;
      target -= nearest_(i);
    }
    return drawn;
  }

  /// What the sum of D^2 would become with each candidate as a center. One pass over X: reading it is what takes time.
  Vector<double> potentials(const std::vector<Index>& candidates) const {
    const auto m = static_cast<Index>(candidates.size());
    Block<double> reach(m, found_), partial = Block<double>::Zero(chunks_.count(), m);
    for (Index c = 0; c < m; ++c) reach.row(c) = squared_reach(candidates[static_cast<std::size_t>(c)]);
    chunks_.for_each([&](Index chunk) {
      for (Index i = chunks_.first(chunk); i < chunks_.last(chunk); ++i) {
        const double D2 = nearest_(i);
        for (Index c = 0; c < m; ++c) {
          const bool too_far = reach(c, owner(i)) >= 4 * D2;
          const Index y = candidates[static_cast<std::size_t>(c)];
          partial(chunk, c) += too_far ? D2 : std::min(D2, squared_distance(X_, i, X_, y));
        }
      }
    });
    return partial.colwise().sum();
  }

  void add(Index point) {
    const Vector<double> reach = squared_reach(point);
    chunks_.for_each([&](Index chunk) {
      for (Index i = chunks_.first(chunk); i < chunks_.last(chunk); ++i) {
        if (found_ > 0 && reach(owner(i)) >= 4 * nearest_(i)) continue;
        const double D2 = squared_distance(X_, i, X_, point);
        if (!(D2 < nearest_(i))) continue;
        nearest_(i) = D2;
        owner_[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(found_);
      }
    });
    centers_.row(found_++) = X_.row(point);
  }

 private:
  Index length(Index chunk) const { return chunks_.last(chunk) - chunks_.first(chunk); }
  Index owner(Index i) const { return owner_[static_cast<std::size_t>(i)]; }

  // From a point to each center found so far.
  Vector<double> squared_reach(Index point) const {
    Vector<double> reach(found_);
    for (Index j = 0; j < found_; ++j) reach(j) = squared_distance(X_, point, centers_, j);
    return reach;
  }

  const Block<double>& X_;
  Chunks chunks_;
  Block<double> centers_;
  Index found_ = 0;
  Vector<double> nearest_;           // D(x)^2
  std::vector<std::int32_t> owner_;  // the center at that distance
  Vector<double> weight_;            // sum of D^2, by chunk
};

}  // namespace

Block<double> seed_centers(const Block<double>& X, Index k, std::uint64_t seed, std::uint32_t restart) {
  const Index n = X.rows();
  std::vector<Index> candidates(static_cast<std::size_t>(2 + std::log(static_cast<double>(k))));
  const auto uniform = [&](Index center, std::uint64_t draw) {
    return random_uniform(
        {.seed = seed, .stream = Stream::clustering, .agent = restart, .iteration = static_cast<std::uint32_t>(center)},
        draw);
  };

  Seeding seeding(X, k);
  seeding.add(std::min(n - 1, static_cast<Index>(uniform(0, 0) * static_cast<double>(n))));
  while (seeding.found() < k) {
    const double total = seeding.weigh();
    require(total > 0, fmt::format("clusters = {}: the points take only {} distinct values", k, seeding.found()));

    for (std::size_t draw = 0; draw < candidates.size(); ++draw)
      candidates[draw] = seeding.draw(uniform(seeding.found(), draw) * total);
    Index best = 0;
    seeding.potentials(candidates).minCoeff(&best);
    seeding.add(candidates[static_cast<std::size_t>(best)]);
  }
  return std::move(seeding).centers();
}

}  // namespace hearsay::detail
