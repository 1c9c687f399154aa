// Lloyd's iteration, with most distances avoided.
//   a_i = argmin_j ||x_i - c_j||        assign
//   c_j = mean of the x_i with a_i = j  move
//
// Reference   Ding et al. (2015), "Yinyang k-means", for the bounds by groups of centers; Hamerly (2010) for s_j.
// Departures  u_i is measured at every step rather than bounded: it costs no more than summing the point into its
//             cluster, and gives the inertia of every step for the stopping rule. Groups are tiles of eight centers as
//             they stand, because eight distances cost little more than one.
// Legend      n, d, k  points, dimension, clusters | u_i  distance to the assigned center | l_ig  a lower bound on the
//             distance to every other center of tile g | s_j  half the distance from c_j to the nearest other center
#include <cmath>

#include "cluster/chunks.hpp"
#include "cluster/kmeans_steps.hpp"

namespace hearsay::detail {
namespace {

constexpr Index tile_width = 8;

Index tiles_of(Index k) { return (k + tile_width - 1) / tile_width; }

// Centers by tiles of eight, coordinate by coordinate, so that a point meets eight of them at once. The last tile is
// filled up with centers at infinity, which are never the nearest.
class PackedCenters {
 public:
  using Tile = Eigen::Array<double, 1, tile_width>;

  explicit PackedCenters(const Block<double>& C) : d_(C.cols()) {
    packed_.setConstant(tiles_of(C.rows()) * d_, tile_width, infinity);
    for (Index j = 0; j < C.rows(); ++j)
      for (Index t = 0; t < d_; ++t) packed_(j / tile_width * d_ + t, j % tile_width) = C(j, t);
  }

  Tile squared_distances(Index tile, const double* x) const {
    Tile sum = Tile::Zero();
    for (Index t = 0; t < d_; ++t) sum += (packed_.row(tile * d_ + t) - x[t]).square();
    return sum;
  }

 private:
  Index d_;
  Eigen::Array<double, Eigen::Dynamic, tile_width, Eigen::RowMajor> packed_;
};

// How far the centers of a tile went in the last move; a point's bound falls by the largest shift but its own center's.
struct Shifts {
  Index farthest = -1;
  double largest = 0;
  double second = 0;

  double of_others(Index j) const { return j == farthest ? second : largest; }
};

std::vector<Shifts> shifts_by_tile(const Block<double>& from, const Block<double>& to) {
  std::vector<Shifts> result(static_cast<std::size_t>(tiles_of(from.rows())));
  for (Index j = 0; j < from.rows(); ++j) {
    Shifts& tile = result[static_cast<std::size_t>(j / tile_width)];
    const double shift = std::sqrt(squared_distance(from, j, to, j));
    if (shift > tile.largest) {
      tile = {.farthest = j, .largest = shift, .second = tile.largest};
    } else {
      tile.second = std::max(tile.second, shift);
    }
  }
  return result;
}

Vector<double> half_gaps(const Block<double>& C) {
  Vector<double> s = Vector<double>::Constant(C.rows(), infinity);
  for (Index i = 0; i < C.rows(); ++i) {
    for (Index j = 0; j < i; ++j) {
      const double half = 0.5 * std::sqrt(squared_distance(C, i, C, j));
      s(i) = std::min(s(i), half);
      s(j) = std::min(s(j), half);
    }
  }
  return s;
}

// What one assignment leaves behind: per chunk while it runs, then added up in the order of the chunks.
struct Tally {
  Block<double> sums;                // k x d
  Eigen::Array<Index, -1, 1> sizes;  // k
  double inertia = 0;
  Index changed = 0;

  void reset(Index k, Index d) {
    sums.setZero(k, d);
    sizes.setZero(k);
    inertia = 0;
    changed = 0;
  }

  void operator+=(const Tally& other) {
    sums += other.sums;
    sizes += other.sizes;
    inertia += other.inertia;
    changed += other.changed;
  }
};

class Lloyd {
 public:
  Lloyd(const Block<double>& X, Index k)
      : X_(X),
        chunks_{X.rows()},
        partial_(static_cast<std::size_t>(chunks_.count())),
        assignment_(static_cast<std::size_t>(X.rows()), -1),
        u_(X.rows()),
        l_(Block<double>::Zero(X.rows(), tiles_of(k))) {}

  std::vector<std::int32_t> assignment() && { return std::move(assignment_); }

  Tally assign(const Block<double>& C, const std::vector<Shifts>& moved) {
    const PackedCenters packed(C);
    const Vector<double> s = half_gaps(C);
    for (Tally& tally : partial_) tally.reset(C.rows(), C.cols());
    chunks_.for_each([&](Index chunk) {
      Tally& tally = partial_[static_cast<std::size_t>(chunk)];
      for (Index i = chunks_.first(chunk); i < chunks_.last(chunk); ++i) {
        Nearest nearest = follow(i, C, moved);
        const bool settled = nearest.center >= 0 && u_(i) <= std::max(s(nearest.center), l_.row(i).minCoeff());
        if (!settled) search(i, packed, nearest);
        enter(i, nearest, tally);
      }
    });

    Tally total;
    total.reset(C.rows(), C.cols());
    for (const Tally& tally : partial_) total += tally;
    return total;
  }

  /// The means; a cluster without points restarts at the point worst served so far.
  Block<double> move(const Tally& tally) {
    Block<double> C(tally.sums.rows(), tally.sums.cols());
    for (Index j = 0; j < C.rows(); ++j) {
      if (tally.sizes(j) > 0) {
        C.row(j) = tally.sums.row(j) / static_cast<double>(tally.sizes(j));
      } else {
        Index worst = 0;
        u_.maxCoeff(&worst);
        C.row(j) = X_.row(worst);
        u_(worst) = 0;  // so that the next empty cluster takes another
      }
    }
    return C;
  }

 private:
  struct Nearest {
    Index center = -1;
    double squared = infinity;

    Index tile() const { return center < 0 ? -1 : center / tile_width; }
    Index slot() const { return center % tile_width; }
  };

  // The center of the last assignment, where it is now; the bounds give way by as much as the others have moved.
  Nearest follow(Index i, const Block<double>& C, const std::vector<Shifts>& moved) {
    const Index a = assignment_[static_cast<std::size_t>(i)];
    if (a < 0) return {};
    for (Index g = 0; g < l_.cols(); ++g) l_(i, g) -= moved[static_cast<std::size_t>(g)].of_others(a);
    const double squared = squared_distance(X_, i, C, a);
    u_(i) = std::sqrt(squared);
    return {.center = a, .squared = squared};
  }

  // Looks through the tiles whose bound does not rule them out, and leaves each with the exact bound.
  void search(Index i, const PackedCenters& packed, Nearest& nearest) {
    for (Index g = 0; g < l_.cols(); ++g) {
      if (l_(i, g) >= std::sqrt(nearest.squared)) continue;
      auto squared = packed.squared_distances(g, X_.row(i).data());
      const bool at_home = nearest.tile() == g;
      if (at_home) squared(nearest.slot()) = nearest.squared;  // the same but for the order of the sum
      Index slot = 0;
      const double least = squared.minCoeff(&slot);
      if (least < nearest.squared) {
        if (nearest.center >= 0 && !at_home) {  // the center left behind is one of the others now
          double& bound = l_(i, nearest.tile());
          bound = std::min(bound, std::sqrt(nearest.squared));
        }
        nearest = {.center = g * tile_width + slot, .squared = least};
      }
      if (nearest.tile() == g) squared(nearest.slot()) = infinity;
      l_(i, g) = std::sqrt(squared.minCoeff());
    }
    u_(i) = std::sqrt(nearest.squared);
  }

  void enter(Index i, const Nearest& nearest, Tally& tally) {
    std::int32_t& a = assignment_[static_cast<std::size_t>(i)];
    if (nearest.center != a) ++tally.changed;
    a = static_cast<std::int32_t>(nearest.center);
    tally.sums.row(a) += X_.row(i);
    tally.sizes(a) += 1;
    tally.inertia += nearest.squared;
  }

  const Block<double>& X_;
  Chunks chunks_;
  std::vector<Tally> partial_;
  std::vector<std::int32_t> assignment_;
  Vector<double> u_;
  Block<double> l_;  // n x tiles
};

}  // namespace

KMeansResult lloyd(const Block<double>& X, Block<double> C, const KMeansOptions& options) {
  Lloyd state(X, C.rows());
  std::vector<Shifts> moved;
  double previous = infinity;
  for (Index t = 1;; ++t) {
    const Tally tally = state.assign(C, moved);
    const bool all_used = (tally.sizes > 0).all();
    const bool settled = tally.changed == 0 || previous - tally.inertia <= options.tolerance * previous;
    const bool converged = all_used && t > 1 && settled;
    if (converged || t == options.max_iterations)
      return {.assignment = std::move(state).assignment(),
              .centers = std::move(C),
              .inertia = tally.inertia,
              .iterations = t,
              .converged = converged};

    previous = tally.inertia;
    Block<double> C_next = state.move(tally);
    moved = shifts_by_tile(C, C_next);
    C.swap(C_next);
  }
}

}  // namespace hearsay::detail
