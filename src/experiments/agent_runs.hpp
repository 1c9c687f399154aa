// Agents that gossip, on data that the caller has loaded.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/trace.hpp"
#include "hearsay/decentralized.hpp"

namespace hearsay::experiments {

/// What the agents hold and how they talk, with the answer they should find.
class Agents {
 public:
  Agents(std::vector<CovarianceShard> shards, GossipMatrix W);
  /// A node of a graph each. The average is known to be positive semidefinite, the parts are not.
  Agents(std::vector<NodeOperator> nodes, GossipMatrix W);

  Index dim() const { return eigenvectors_.rows(); }
  std::vector<OperatorRef<double>> operators() const;
  const GossipMatrix& gossip_matrix() const { return W_; }
  const GossipSpectrum& spectrum() const { return spectrum_; }
  double eigenvalue(Index j) const { return eigenvalues_(j); }  ///< of the average, from 0, descending
  Block<double> leading(Index k) const { return eigenvectors_.leftCols(k); }
  double largest_norm() const { return largest_norm_; }  ///< M = max ||A_i||

 private:
  void solve();

  std::vector<CovarianceShard> shards_;
  std::vector<NodeOperator> nodes_;
  GossipMatrix W_;
  GossipSpectrum spectrum_;
  Vector<double> eigenvalues_;
  Block<double> eigenvectors_;
  double largest_norm_ = 0;
};

/// A method among agents; the error is sin(theta_k) of the worst agent. Facts: gap_of_W, local_norm (M), lambda_k,
/// lambda_next.
struct AgentsRun {
  enum class Rule { optimal, paper, automatic };

  std::string data;                                ///< the name of what the agents hold
  std::shared_ptr<const Agents> agents = nullptr;  ///< that, once loaded
  Index rank = 2;
  Algorithm algorithm = Algorithm::adepm;
  GossipKind gossip = GossipKind::accelerated;
  Rule momentum = Rule::optimal;  ///< of the accelerated methods
  Index rounds = 10;              ///< L
  Index iterations = 400;
  double stop_at = 0;  ///< an error from which on nothing more is of interest; then a run without hope ends, too

  bool operator==(const AgentsRun&) const = default;
};

Trace trace(const AgentsRun& run, std::uint64_t seed);

}  // namespace hearsay::experiments
