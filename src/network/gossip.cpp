#include "hearsay/gossip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearsay/error.hpp"
#include "hearsay/theory.hpp"

namespace hearsay {
namespace {

// The steps of one kind of gossip, in order: see gossip.hpp for c, b_l and z.
class Recurrence {
 public:
  Recurrence(GossipKind kind, const GossipSpectrum& spectrum) : kind_(kind) {
    if (kind == GossipKind::accelerated) b_ = theory::gossip_omega(spectrum.gap());
    if (kind != GossipKind::chebyshev) return;
    const double h = (spectrum.hi - spectrum.lo) / 2;
    c_ = (spectrum.hi + spectrum.lo) / 2;
    z_ = h > 0 ? (1 - c_) / h : std::numeric_limits<double>::infinity();
  }

  MixStep next() {
    const double b = kind_ == GossipKind::chebyshev ? chebyshev_b() : b_;
    const MixStep step{.mixed = (1 + b) / (1 - c_), .self = -(1 + b) * c_ / (1 - c_), .previous = -b};
    ++l_;
    return l_ == 1 ? MixStep{.mixed = step.mixed, .self = step.self - b} : step;  // Y_{-1} = Y_0
  }

 private:
  double chebyshev_b() {
    if (l_ == 0) {
      ratio_ = 1 / z_;
      return 0;
    }
    const double next_ratio = 1 / (2 * z_ - ratio_);  // T_l(z)/T_{l+1}(z)
    return std::exchange(ratio_, next_ratio) * next_ratio;
  }

  GossipKind kind_;
  double c_ = 0, b_ = 0, z_ = 0, ratio_ = 0;
  Index l_ = 0;
};

void require_mixing(const GossipSpectrum& spectrum) {
  require(spectrum.gap() > 0, fmt::format("gossip matrix with eigenvalues in [{:.17g}, {:.17g}]: all but one must lie "
                                          "inside (-1, 1), or gossip never averages; lazy gossip would",
                                          spectrum.lo, spectrum.hi));
}

}  // namespace

const char* name(GossipKind kind) {
  switch (kind) {
    case GossipKind::plain:
      return "plain";
    case GossipKind::accelerated:
      return "accelerated";
    case GossipKind::chebyshev:
      return "chebyshev";
  }
  return "unknown";
}

double gossip_contraction(GossipKind kind, const GossipSpectrum& spectrum, Index rounds) {
  require(rounds >= 0, fmt::format("rounds = {}: must not be negative", rounds));
  require_mixing(spectrum);
  if (rounds == 0) return 1;
  switch (kind) {
    case GossipKind::plain:
      return std::pow(1 - spectrum.gap(), static_cast<double>(rounds));
    case GossipKind::accelerated:
      return spectrum.hi >= -spectrum.lo ? theory::accelerated_gossip_contraction(rounds, spectrum.gap())
                                         : theory::accelerated_gossip_bound(rounds, spectrum.gap());
    case GossipKind::chebyshev:
      return theory::chebyshev_gossip_contraction(rounds, spectrum.lo, spectrum.hi);
  }
  return 1;
}

Index gossip_rounds(GossipKind kind, const GossipSpectrum& spectrum, double goal) {
  goal = std::max(goal, 1e-15);
  const auto enough = [&](Index rounds) { return gossip_contraction(kind, spectrum, rounds) <= goal; };
  if (enough(0)) return 0;
  Index above = 1;
  while (!enough(above)) above *= 2;
  Index below = above / 2;
  while (above - below > 1) {
    const Index middle = below + (above - below) / 2;
    (enough(middle) ? above : below) = middle;
  }
  return above;
}

void gossip(NetworkRef net, GossipKind kind, Index rounds, const Block<double>& Z, Block<double>& out,
            BlockView<double> votes, GossipWorkspace& workspace) {
  require(rounds >= 0, fmt::format("rounds = {}: must not be negative", rounds));
  const GossipSpectrum spectrum = net.spectrum();
  require_mixing(spectrum);
  out.resize(Z.rows(), Z.cols());
  if (rounds == 0) {
    out = Z;
    return;
  }
  for (Block<double>* block : {&workspace.first, &workspace.second}) block->resize(Z.rows(), Z.cols());

  Recurrence recurrence(kind, spectrum);
  Block<double>* turn[] = {&out, &workspace.first, &workspace.second};  // Y_{l+1}, and then who is free
  const Block<double>* Y_prev = &Z;
  const Block<double>* Y = &Z;
  for (Index l = 0; l < rounds; ++l) {
    net.mix(recurrence.next(), *Y, *Y_prev, *turn[0], votes);
    Y_prev = std::exchange(Y, turn[0]);
    std::rotate(turn, turn + 1, turn + 3);
  }
  if (Y != &out) out.swap(*turn[2]);  // the last one written
}

Block<double> gossip(NetworkRef net, GossipKind kind, Index rounds, const Block<double>& Z) {
  Block<double> out, votes(net.local_agents(), 0);
  GossipWorkspace workspace;
  gossip(net, kind, rounds, Z, out, votes, workspace);
  return out;
}

void agree_on_maximum(NetworkRef net, BlockView<double> votes) {
  Block<double> nothing(net.local_agents(), 0);
  net.begin_votes();
  for (Index round = 0; round < net.diameter(); ++round) net.mix({}, nothing, nothing, nothing, votes);
  net.settle_votes(votes);
}

}  // namespace hearsay
