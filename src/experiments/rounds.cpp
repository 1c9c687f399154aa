#include "experiments/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearsay/error.hpp"
#include "hearsay/theory.hpp"

namespace hearsay::experiments {
namespace {

// What Table 2 says of the method.
void add_promises(const RoundsRun& run, double h0, std::map<std::string, double>& facts) {
  const Agents& agents = *run.agents.agents;
  const double l_k = agents.eigenvalue(run.agents.rank - 1), l_next = agents.eigenvalue(run.agents.rank);
  const theory::NetworkFacts network{
      .agents = agents.gossip_matrix().agents(), .gamma = agents.spectrum().gap(), .local_norm = agents.largest_norm()};
  const theory::Target target{.epsilon = run.level, .h0 = h0};
  switch (run.agents.algorithm) {
    case Algorithm::depm:
      facts["T"] = theory::iterations_npm(l_k, l_next, target);
      facts["promised_rounds"] = theory::gossip_rounds_depm_order(network, l_k, l_next, run.level);
      break;
    case Algorithm::deepca:
      facts["T"] = theory::iterations_npm(l_k, l_next, target);
      facts["promised_rounds"] = theory::gossip_rounds_deepca_order(network, l_k, l_next);
      break;
    case Algorithm::adepm: {
      const double beta = theory::optimal_beta(l_next);
      const theory::Target half{.epsilon = run.level / 2, .h0 = h0};  // the theorem's agents end within twice epsilon
      facts["T"] = theory::iterations_anpm(l_k, beta, half);
      facts["promised_rounds"] = theory::gossip_rounds_adepm(network, run.agents.rank, l_k, beta, half);
      facts["promised_by_xu"] = std::log(agents.eigenvalue(0) / l_next) * std::sqrt(l_k / (l_k - l_next)) *
                                theory::gossip_rounds_depm_order(network, l_k, l_next, run.level);
      break;
    }
    case Algorithm::adeepca:
      break;  // nobody has proved any
  }
}

}  // namespace

Trace trace(const RoundsRun& run, std::uint64_t seed) {
  require(!run.rounds.empty() && std::is_sorted(run.rounds.begin(), run.rounds.end()) && run.rounds.front() >= 1,
          "rounds: must be numbers of at least 1, ascending");
  require(run.level > 0 && run.level < 1, fmt::format("level = {}: must lie between 0 and 1", run.level));
  Trace trace;
  double sine_0 = 0, best = std::numeric_limits<double>::infinity();
  for (const Index L : run.rounds) {
    AgentsRun one = run.agents;
    one.rounds = L;
    one.stop_at = run.level;
    const Trace gossiped = experiments::trace(one, seed);
    sine_0 = gossiped.error.front();
    const auto first =
        std::find_if(gossiped.error.begin(), gossiped.error.end(), [&run](double error) { return error <= run.level; });
    const bool there = first != gossiped.error.end();
    const auto iterations = static_cast<double>(first - gossiped.error.begin());
    const double total = there ? iterations * static_cast<double>(L) : std::numeric_limits<double>::infinity();
    trace.swept.push_back(static_cast<double>(L));
    trace.error.push_back(total);
    if (!there) continue;
    trace.facts.try_emplace("least_rounds", static_cast<double>(L));
    trace.facts.try_emplace("least_iterations", iterations);
    if (total >= best) continue;
    best = total;
    trace.facts["best_rounds"] = static_cast<double>(L);
    trace.facts["best_total"] = total;
    trace.facts["best_iterations"] = iterations;
  }
  add_promises(run, sine_0 / std::sqrt((1 - sine_0) * (1 + sine_0)), trace.facts);
  return trace;
}

}  // namespace hearsay::experiments
