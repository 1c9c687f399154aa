#include "decentralized/pacing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "decentralized/kept_state.hpp"

namespace hearsay::detail {
namespace {

// kappa at the start, for all but tracking without momentum, whose short steps leave time to correct them. Chosen among
// a dozen settings on the five data sets of docs/algorithms/decentralized.md, starts 0 to 5; that page gives what other
// starts make of it. Larger values (0.25; 2 without momentum) took up to twice the rounds on some.
double first_kappa(const Method& method) {
  return method.tracked && method.momentum.rule == Momentum::Rule::none ? 1.0 : 0.2;
}
constexpr double least_kappa = 1e-3;

// What every second agreement multiplies or divides kappa by. An L that never changes applies the same polynomial of W
// at every step, and what it leaves adds up. Over starts 10 to 29 it takes the median rounds to 1e-8 on digits by
// label, k = 13, from 729 to 526, those on heart from 151 to 168, and hardly changes the other three.
constexpr double alternation = 1.5;

// What the first gossip leaves, when nothing is known yet.
constexpr double first_contraction = 0.1;

// Agreements without the residual falling to half its best after which something must change.
constexpr Index patience = 30;

// The same where the noise even exceeds the residual.
constexpr Index short_patience = 12;

// Rounding moves the mean of S away from that of G a little with every round, and tracking never looks back: after 1800
// iterations of DeEPCA on digits by label, k = 13, the sine stood at 1.4e-12. So now and then S is made anew.
constexpr Index refresh_interval = 256;

// No loss makes gossip ask for more than so many times the rounds of a clean one; where most messages are lost, for
// more than so many times what the share that comes explains, and for no more than the last of the three.
constexpr double most_slowdown = 50, most_over_share = 4, most_of_all = 1000;

// Agents that were this close are together but for rounding, and a gossip that did not bring them closer did its best.
constexpr double together = 1e-13;

// Rounds from which on a gossip that fails is told from one that had bad luck.
constexpr Index enough_to_judge = 6;

}  // namespace

Pacing::Pacing(const DecentralizedOptions& options, const Method& method, Index agents, const GossipSpectrum& spectrum)
    : options_(options),
      tracked_(method.tracked),
      alone_(agents == 1),
      automatic_(!options.rounds),
      spectrum_(spectrum),
      kind_(options.gossip),
      least_residual_(std::max(options.tolerance / 2, 4e-16 * std::sqrt(static_cast<double>(method.d)))),
      first_kappa_(first_kappa(method)),
      kappa_(first_kappa_) {
  L_next_ = first_rounds();
}

Index Pacing::first_rounds() const {
  if (!automatic_) return std::max(L_next_, *options_.rounds);
  return alone_ ? 0 : std::max<Index>(1, gossip_rounds(kind_, spectrum_, first_contraction));
}

void Pacing::begin_epoch(Index agents, const GossipSpectrum& spectrum) {
  alone_ = agents == 1;
  spectrum_ = spectrum;
  kind_ = options_.gossip;
  slowdown_ = 1;
  observed_ = 0;
  kappa_ = first_kappa_;
  best_ = std::numeric_limits<double>::infinity();
  since_best_ = 0;
  L_next_ = first_rounds();
}

bool Pacing::begin(Index t) {
  const bool afresh = automatic_ && tracked_ && t > 0 && t % refresh_interval == 0;
  L_ = afresh && !alone_ ? std::max(L_next_, enough_rounds(0)) : L_next_;
  used_ = {kind_, L_};
  rho_ = gossip_contraction(kind_, spectrum_, L_);
  return afresh;
}

Index Pacing::enough_rounds(double goal) const {
  const auto clean = static_cast<double>(gossip_rounds(kind_, spectrum_, goal));
  return static_cast<Index>(std::ceil(slowdown_ * clean));
}

Index Pacing::wanted(double residual, double spread) const {
  const double kappa = agreements_ % 2 == 0 ? kappa_ / alternation : kappa_ * alternation;
  const double goal = spread > 0 ? kappa * std::max(residual, least_residual_) / spread : 1;
  return std::max<Index>(1, enough_rounds(goal));
}

// The distances are those of a gossip's first round and its last, with L - 1 between them. A kind that does less than
// the next simpler one would in half the rounds gives way to it. Votes of a kind that has given way count no more.
bool Pacing::guard(const Reception& worst) {
  missed_ = worst.missed;
  if (worst.missed == 0) {
    kind_ = options_.gossip;
    slowdown_ = 1;
    observed_ = 0;
    return false;
  }
  if (worst.missed >= 1) {  // someone heard nobody
    slow_down(2 * slowdown_, worst.missed);
    observed_ = 1;
    return false;
  }
  const auto [kind, L] = voted_;
  if (kind != kind_ || L < 2 || !(worst.before > together)) return false;
  observed_ = std::min(1.0, worst.after / worst.before);
  const double promised = gossip_contraction(kind, spectrum_, L - 1);
  const bool exact = !(promised > 0) && !(observed_ > 0);  // as two agents that heard each other
  const double slower = exact ? 1 : observed_ < 1 ? std::log(promised) / std::log(observed_) : most_of_all;
  slow_down(std::clamp(slower, slowdown_ / 2, slowdown_ * 2), worst.missed);
  if (kind == GossipKind::plain || L < enough_to_judge) return false;
  const GossipKind simpler = kind == GossipKind::chebyshev ? GossipKind::accelerated : GossipKind::plain;
  if (observed_ <= std::sqrt(gossip_contraction(simpler, spectrum_, L - 1))) return false;
  kind_ = simpler;
  slowdown_ = 1;
  ++fallbacks_;
  return true;
}

void Pacing::slow_down(double factor, double missed) {
  const double explained = most_over_share / std::max(1 - missed, most_over_share / most_of_all);
  slowdown_ = std::clamp(factor, 1.0, std::max(most_slowdown, explained));
}

bool Pacing::doubt() {
  const double before = slowdown_;
  slow_down(2 * slowdown_, missed_);
  if (automatic_) L_next_ = static_cast<Index>(std::ceil(slowdown_ / before * static_cast<double>(L_next_)));
  if (automatic_ || !tracked_ || !options_.raise_rounds) return false;
  const Index most = std::max(L_, enough_rounds(0));
  if (L_next_ >= most) return false;
  L_next_ = std::min(2 * L_next_ + 4, most);
  ++restarts_;
  return true;
}

// The error is judged by residual and noise together: with far too few rounds each agent comes to rest at a place of
// its own, and its residual falls as if all were well.
void Pacing::note_progress(double error) {
  ++since_best_;
  if (!(error <= best_ / 2)) return;
  best_ = error;
  since_best_ = 0;
}

bool Pacing::hear(double residual, double spread, const Reception& worst) {
  if (alone_) return false;
  ++agreements_;
  if (guard(worst)) {
    best_ = std::numeric_limits<double>::infinity();
    since_best_ = 0;
    L_next_ = std::max(first_rounds(), automatic_ ? wanted(residual, spread) : L_next_);
    return worst.after > 1;  // so far apart that sums of S have lost digits
  }
  const double noise = contraction() * spread;
  note_progress(residual + noise);
  const bool finished = residual + noise <= 10 * least_residual_;
  if (automatic_) {
    if (since_best_ >= patience && !finished && kappa_ > least_kappa) {
      kappa_ /= 2;
      since_best_ = 0;
    }
    L_next_ = wanted(residual, spread);
    return false;
  }
  const bool stuck = (since_best_ >= short_patience && noise > residual) ||
                     (since_best_ >= patience && noise > first_kappa_ * residual);
  if (!tracked_ || !options_.raise_rounds || finished || !stuck) return false;
  L_next_ = std::clamp(wanted(residual, spread), L_ + 1, 2 * L_ + 4);
  best_ = std::numeric_limits<double>::infinity();
  since_best_ = 0;
  ++restarts_;
  return true;
}

std::vector<std::string> Pacing::notes() const {
  std::vector<std::string> notes;
  if (restarts_ > 0)
    notes.push_back(fmt::format("rounds = {}: too few for tracking on this network, raised to {} ({} restart{})",
                                *options_.rounds, L_next_, restarts_, restarts_ == 1 ? "" : "s"));
  if (fallbacks_ > 0)
    notes.push_back(
        fmt::format("messages were lost, and {} gossip gave way to a simpler kind until none was ({} time{})",
                    name(options_.gossip), fallbacks_, fallbacks_ == 1 ? "" : "s"));
  if (kappa_ < first_kappa_)
    notes.push_back(fmt::format("gossip was made {:g} times more exact, because the residual had stopped falling",
                                first_kappa_ / kappa_));
  if (!spectrum_.measured)
    notes.push_back(
        fmt::format("the spectral gap of the gossip matrix is only bounded: at least {:.3g}", spectrum_.gap()));
  return notes;
}

void Pacing::require_sound_state() const {
  for (const GossipKind kind : {kind_, used_.kind, voted_.kind})
    require_sound(kind == GossipKind::plain || kind == GossipKind::accelerated || kind == GossipKind::chebyshev,
                  "the kind of gossip");
  require_sound(slowdown_ == 1, "the pace");  // no message gets lost where states are kept
  const Index most = 4 * std::max(options_.rounds.value_or(1), alone_ ? 0 : enough_rounds(0)) + 16;
  require_sound(kappa_ > 0 && L_next_ >= (alone_ ? 0 : 1) && L_next_ <= most && L_ >= 0, "the number of rounds");
}

}  // namespace hearsay::detail
