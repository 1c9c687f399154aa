#include "experiments/graph_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "experiments/papers_steps.hpp"
#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/noise.hpp"
#include "hearsay/operators/stored.hpp"
#include "hearsay/power.hpp"
#include "hearsay/random.hpp"

namespace hearsay::experiments {
namespace {

constexpr double nodes_of_amazon0302 = 262111;
constexpr int first_steps = 40, power_steps = 4;  // of the estimate at the start, and of each later one

// ||(I - X X')A||, from below: the largest singular value of M = (I - X X')A by steps of M'M.
class ReconstructionError {
 public:
  ReconstructionError(const NormalisedGraph<double>& A, std::uint64_t seed)
      : A_(A), w_(A.dim(), 1), Aw_(A.dim(), 1), inside_(A.dim(), 1) {
    fill_normal<double>({.seed = seed, .stream = Stream::graph}, w_);
    w_ /= frobenius_norm<double>(w_);
  }

  double operator()(ConstBlockView<double> X) {
    double norm = 0;
    const int steps = std::exchange(steps_, power_steps);
    for (int step = 0; step < steps; ++step) {
      A_.apply(w_, Aw_);
      multiply<double>(X, gram<double>(X, Aw_), inside_);
      Aw_ -= inside_;
      norm = frobenius_norm<double>(Aw_);
      A_.apply(Aw_, w_);
      w_ /= frobenius_norm<double>(w_);
    }
    return norm;
  }

 private:
  const NormalisedGraph<double>& A_;
  Block<double> w_, Aw_, inside_;  // w_ is kept from one estimate to the next
  int steps_ = first_steps;
};

}  // namespace

Trace trace(const GraphRun& run, std::uint64_t seed) {
  require(run.graph != nullptr, fmt::format("data = {}: must be loaded before the run", run.data));
  require(run.sigma >= 0, fmt::format("sigma = {}: must not be negative", run.sigma));
  const NormalisedGraph<double> exact(*run.graph);
  require(run.rank >= 1 && run.rank < exact.dim() - 1,
          fmt::format("rank = {}: must lie in [1, {}]", run.rank, exact.dim() - 2));
  const double sigma = run.sigma * std::sqrt(nodes_of_amazon0302 / static_cast<double>(exact.dim()));
  const auto A = noisy(exact, gaussian_noise<double>(sigma, seed));
  ReconstructionError error(exact, seed);
  Trace trace;
  Hooks<double> hooks;
  hooks.observe = [&](const Iteration<double>& now) {
    trace.error.push_back(error(now.X.leftCols(run.rank)));
    return true;
  };
  (void)accelerated_power<double>(A,
                                  papers_steps(run.rank, run.accelerated ? Momentum::paper() : Momentum::none(),
                                               run.accelerated ? 1 : 0, run.iterations, seed),
                                  hooks);
  trace.facts = {{"nodes", static_cast<double>(exact.dim())},
                 {"edges", static_cast<double>(run.graph->edges.size())},
                 {"generated", run.stand_in ? 1 : 0},
                 {"sigma", sigma}};
  return trace;
}

}  // namespace hearsay::experiments
