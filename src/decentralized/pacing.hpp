// How many rounds the next gossip takes, from what the agents agreed on about the last ones.
//
// Gossip leaves rho_L D of the spread D between the agents, and that is the noise of the power method. Its condition,
// ||U_-k' Xi|| <= c (lambda_k - b) sin(theta), holds if rho_L D <= kappa r, for the residual r is at least that gap
// times sin(theta): both sides are measured. So L is the least that fulfils it. Untracked, D stays and L grows as r
// falls; tracked, D falls with r and L settles. If r stops falling all the same, kappa was too generous and is halved.
#pragma once

#include <string>
#include <vector>

#include "decentralized/agents.hpp"
#include "hearsay/gossip.hpp"

namespace hearsay::detail {

class Pacing {
 public:
  Pacing(const DecentralizedOptions& options, const Method& method, Index agents, const GossipSpectrum& spectrum);

  /// L of the next gossip.
  Index rounds() const { return L_; }

  /// What L rounds leave of a spread.
  double contraction() const { return rho_; }

  /// The spread there was, from the distance between an agent's blocks before and after: gossip of a few rounds does
  /// not reach the mean it is measured against.
  double spread(double moved) const { return moved / (1 - std::min(rho_, 0.9)); }

  /// The agents have agreed on their worst residual and spread. True asks for a restart: the rounds given were too few.
  bool hear(double residual, double spread);

  std::vector<std::string> notes() const;
  Index restarts() const { return restarts_; }

 private:
  Index wanted(double residual, double spread) const;
  void set(Index L);
  bool progressed(double residual);

  const DecentralizedOptions& options_;
  bool tracked_, alone_, automatic_;
  GossipSpectrum spectrum_;
  double least_residual_;  // below this nothing is asked for
  Index L_ = 0;
  double rho_ = 1, kappa_;
  double best_ = 1e300;   // residual so far
  Index since_best_ = 0;  // agreements since it fell to half
  Index restarts_ = 0;
};

}  // namespace hearsay::detail
