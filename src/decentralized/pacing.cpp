#include "decentralized/pacing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hearsay::detail {
namespace {

// kappa at the start. Measured on the heart, digits and ego-Facebook data: 0.15 to 0.3 cost the same within 10%, and
// 0.4 can stall.
constexpr double first_kappa = 0.2;
constexpr double least_kappa = 1e-3;

// What the first gossip leaves, when nothing is known yet.
constexpr double first_contraction = 0.1;

// Agreements without the residual falling to half its best after which something must change.
constexpr Index patience = 30;

// The same for rounds that were given and are seen to be too few: the noise exceeds the residual all the while.
constexpr Index short_patience = 12;

}  // namespace

Pacing::Pacing(const DecentralizedOptions& options, const Method& method, Index agents, const GossipSpectrum& spectrum)
    : options_(options),
      tracked_(method.tracked),
      alone_(agents == 1),
      automatic_(options.rounds == DecentralizedOptions::automatic),
      spectrum_(spectrum),
      least_residual_(std::max(options.tolerance / 2, 4e-16 * std::sqrt(static_cast<double>(method.d)))),
      kappa_(first_kappa) {
  if (automatic_)
    set(alone_ ? 0 : std::max<Index>(1, gossip_rounds(options.gossip, spectrum, first_contraction)));
  else
    set(options.rounds);
}

void Pacing::set(Index L) {
  L_ = L;
  rho_ = gossip_contraction(options_.gossip, spectrum_, L);
}

Index Pacing::wanted(double residual, double spread) const {
  const double goal = spread > 0 ? kappa_ * std::max(residual, least_residual_) / spread : 1;
  return std::max<Index>(1, gossip_rounds(options_.gossip, spectrum_, goal));
}

bool Pacing::progressed(double residual) {
  ++since_best_;
  if (!(residual <= best_ / 2)) return false;
  best_ = residual;
  since_best_ = 0;
  return true;
}

bool Pacing::hear(double residual, double spread) {
  if (alone_) return false;
  progressed(residual);
  const bool finished = residual <= 10 * least_residual_;
  if (automatic_) {
    if (since_best_ >= patience && !finished && kappa_ > least_kappa) {
      kappa_ /= 2;
      since_best_ = 0;
    }
    set(wanted(residual, spread));
    return false;
  }
  const bool noise_rules = rho_ * spread > residual;
  if (!tracked_ || !options_.raise_rounds || finished || !noise_rules || since_best_ < short_patience) return false;
  set(std::max(L_ + 1, wanted(residual, spread)));
  best_ = 1e300;
  since_best_ = 0;
  ++restarts_;
  return true;
}

std::vector<std::string> Pacing::notes() const {
  std::vector<std::string> notes;
  if (restarts_ > 0)
    notes.push_back(fmt::format("rounds = {}: too few for tracking on this network, raised to {} ({} restart{})",
                                options_.rounds, L_, restarts_, restarts_ == 1 ? "" : "s"));
  if (kappa_ < first_kappa)
    notes.push_back(fmt::format("gossip was made {:g} times more exact, because the residual had stopped falling",
                                first_kappa / kappa_));
  if (!spectrum_.measured)
    notes.push_back(
        fmt::format("the spectral gap of the gossip matrix is only bounded: at least {:.3g}", spectrum_.gap()));
  return notes;
}

}  // namespace hearsay::detail
