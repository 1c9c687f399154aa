// Spectral clustering of a large graph under white noise.
#pragma once

#include <memory>
#include <string>

#include "experiments/trace.hpp"
#include "hearsay/graph.hpp"

namespace hearsay::experiments {

/// A graph with communities, in place of one that is not at hand.
struct GeneratedGraph {
  Index nodes = 262111, communities = 40;
  double degree_inside = 8, degree_outside = 1.42;
  std::uint64_t seed = 1;

  bool operator==(const GeneratedGraph&) const = default;
};

/// (A)NPM on A = I + D^{-1/2} S D^{-1/2} with independent N(0, sigma^2) errors. U_k is not known, so the error is the
/// reconstruction error ||(I - X X')A||, by power iteration from where the iteration before left off. Facts: nodes,
/// edges, generated (0 or 1), sigma as used.
struct GraphRun {
  std::string data = "generated";                ///< that, or the name of a data set
  GeneratedGraph generated = {};                 ///< used where the data set is not there
  std::shared_ptr<const Graph> graph = nullptr;  ///< whichever it is, once loaded
  bool stand_in = false;                         ///< it is the generated one
  Index rank = 30;
  double sigma = 1e-3;      ///< of a graph of 262,111 nodes; sigma sqrt(nodes), the norm of an error, is what is kept
  bool accelerated = true;  ///< the paper's adaptive momentum, or none
  Index iterations = 40;

  bool operator==(const GraphRun&) const = default;
};

Trace trace(const GraphRun& run, std::uint64_t seed);

}  // namespace hearsay::experiments
