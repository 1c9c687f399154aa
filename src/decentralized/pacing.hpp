// How many rounds the next gossip takes, from what the agents agreed on about the last ones.
//
// Gossip leaves rho_L D of the spread D between the agents, and that is the noise of the power method. Its condition,
// ||U_-k' Xi|| <= c (lambda_k - b) sin(theta), holds if rho_L D <= kappa r, because the residual r is at least that gap
// times sin(theta): both sides are measured. So L is the least that fulfils it. Untracked, D stays and L grows as r
// falls; tracked, D falls with r and L settles. If r stops falling all the same, kappa was too generous and is halved.
//
// Where messages get lost rho_L promises too much. Then the agents also agree on how far neighbours were apart in a
// gossip's first round and in its last, and L grows by what that falls short. Acceleration, whose parameters are made
// for W, can even drive them apart. Chebyshev gossip then gives way to the paper's, which bears more, and that to plain
// gossip, which no loss can keep from contracting, until a whole agreement passes without one.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "decentralized/agents.hpp"
#include "hearsay/gossip.hpp"

namespace hearsay::detail {

class Pacing {
 public:
  Pacing(const DecentralizedOptions& options, const Method& method, Index agents, const GossipSpectrum& spectrum);

  /// Other agents, another network: everything is measured anew.
  void begin_epoch(Index agents, const GossipSpectrum& spectrum);

  /// Sets the L of iteration t. True asks the trackers to start afresh from G, with as many rounds as exactness takes.
  bool begin(Index t);

  /// L of the gossip at hand, and its kind.
  Index rounds() const { return L_; }
  GossipKind kind() const { return kind_; }

  /// What L rounds leave of a spread.
  double contraction() const { return std::max(rho_, observed_); }

  /// The spread there was, from the distance between an agent's blocks before and after: gossip of a few rounds does
  /// not reach the mean it is measured against.
  double spread(double moved) const { return moved / (1 - std::min(contraction(), 0.9)); }

  /// The agents vote on the gossip they have just had.
  void cast() { voted_ = used_; }

  /// The agents have agreed on their worst residual and spread, and on the worst reception. True asks for a restart:
  /// the rounds given were too few, or gossip did the opposite of averaging.
  bool hear(double residual, double spread, const Reception& worst);

  /// The agents believed that they had converged, and found that they had not: gossip did less than it seemed to. True
  /// asks for a restart, where the rounds were given and are raised.
  bool doubt();

  /// Residuals are of something else from now on, and not to be compared with earlier ones.
  void forget() {
    best_ = std::numeric_limits<double>::infinity();
    since_best_ = 0;
  }

  std::vector<std::string> notes() const;

  /// See kept_state.hpp.
  template <class Archive>
  void fields(Archive& archive) {
    for (GossipKind* kind : {&kind_, &used_.kind, &voted_.kind}) archive(*kind);
    archive(used_.L), archive(voted_.L), archive(slowdown_), archive(missed_), archive(observed_), archive(L_next_);
    archive(L_), archive(rho_), archive(kappa_), archive(best_), archive(since_best_), archive(agreements_);
    archive(restarts_), archive(fallbacks_);
  }
  void require_sound_state() const;
  Index restarts() const { return restarts_; }
  Index fallbacks() const { return fallbacks_; }

 private:
  struct Used {
    GossipKind kind = GossipKind::plain;
    Index L = 0;
  };

  Index first_rounds() const;
  Index enough_rounds(double goal) const;
  Index wanted(double residual, double spread) const;
  void note_progress(double error);
  bool guard(const Reception& worst);
  void slow_down(double factor, double missed);

  const DecentralizedOptions& options_;
  bool tracked_, alone_, automatic_;
  GossipSpectrum spectrum_;
  GossipKind kind_;        // of the next gossip
  Used used_, voted_;      // in the latest one, and in the one that votes are on their way about
  double slowdown_ = 1;    // rounds it takes for what one clean round would do
  double missed_ = 0;      // the worst share last agreed on
  double observed_ = 0;    // what the gossip last agreed on left of the distances; 0 where that is rho_L's to say
  double least_residual_;  // below this nothing is asked for
  Index L_next_ = 0, L_ = 0;
  double rho_ = 1;
  const double first_kappa_;
  double kappa_;
  double best_ = std::numeric_limits<double>::infinity();  // error so far
  Index since_best_ = 0;                                   // agreements since it fell to half
  Index agreements_ = 0, restarts_ = 0, fallbacks_ = 0;
};

}  // namespace hearsay::detail
