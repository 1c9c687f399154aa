#include "hearsay/solve_decentralized.hpp"

#include <fmt/format.h>

#include <cmath>

#include "hearsay/error.hpp"
#include "hearsay/gossip.hpp"
#include "hearsay/operators/compose.hpp"
#include "hearsay/spectrum.hpp"
#include "solve/any_fault.hpp"
#include "solve/seconds.hpp"

namespace hearsay {

namespace {

// What is asked of the pooled data: the answer to compare with, and the momentum that takes lambda_{k+1}.
struct Known {
  DecentralizedOptions options;
  std::optional<Block<double>> reference = {};
  std::vector<std::string> notes = {};
};

void require_one_process(const Transport& ranks, const DecentralizedRequest& request) {
  const bool exact = request.exact_reference;
  require(ranks.size() == 1,
          fmt::format("{}: would pool the data of all ranks, which is what agents are there to avoid; {}",
                      exact ? "reference = exact" : "momentum = optimal", exact ? "give a file" : "give a number"));
}

void take_optimal_momentum(const Spectrum& spectrum, Known& known) {
  require(std::isfinite(spectrum.lambda_next),
          "momentum = optimal: needs lambda_(k+1), which lies outside the range of double; scale the data, or leave "
          "`momentum` out");
  known.options.momentum = Momentum::optimal(spectrum.lambda_next);
  known.notes.push_back(fmt::format("optimal momentum: lambda_(k+1) = {:.10g}, from {} of the pooled data",
                                    spectrum.lambda_next, spectrum.source));
}

// A = (1/n) sum A_i, which nobody has but a simulation.
void look_at_pooled_data(const std::vector<OperatorRef<double>>& A, const DecentralizedRequest& request, Known& known) {
  const Index d = A.front().dim(), k = known.options.rank;
  require(!request.exact_reference || d <= largest_dense_dimension,
          fmt::format("reference = exact: is computed up to dimension {}; this is {}", largest_dense_dimension, d));
  const SumOperator<double> average(A, 1 / static_cast<double>(A.size()));
  const Spectrum spectrum = find_spectrum<double>(average, request.settings.power);
  if (request.exact_reference) known.reference = Block<double>(spectrum.vectors.leftCols(k));
  if (request.settings.optimal_momentum) take_optimal_momentum(spectrum, known);
}

Known look_ahead(const Transport& ranks, const AgentData& data, const std::vector<OperatorRef<double>>& A,
                 const DecentralizedRequest& request) {
  Known known{.options = settle(request.network, request.settings)};
  const Index k = known.options.rank;
  if (!A.empty()) {
    const Index d = A.front().dim();
    require(k <= d, fmt::format("rank = {}: must lie in [1, {}]", k, d));
    require(!request.reference || (request.reference->rows() == d && request.reference->cols() >= k),
            fmt::format("reference: must have {} rows, and {} columns or more", d, k));
  }
  // Not each A_i need be positive semidefinite where agents are nodes, but their average is.
  if (data.are_nodes && !known.options.damping && known.options.momentum.rule == Momentum::Rule::automatic)
    known.options.damping = Damping::centred;
  if (request.reference) known.reference = Block<double>(request.reference->leftCols(k));
  if (!request.exact_reference && !request.settings.optimal_momentum) return known;
  require_one_process(ranks, request);
  look_at_pooled_data(A, request, known);
  return known;
}

void run(Transport& ranks, const GossipMatrix& W, const std::vector<OperatorRef<double>>& A,
         const DecentralizedRequest& request, const DecentralizedHooks& hooks, DecentralizedSolution& solution) {
  const MessagePrecision precision = request.network.precision;
  if (detail::any_fault(request.faults)) {
    FaultyNetwork net(W, request.faults, precision);
    if (request.patient) net.wait_while(request.patient);
    solution.result = decentralized_pca(net, A, solution.options, hooks);
    solution.spectrum = gossip_spectrum(W);
  } else if (ranks.size() > 1) {
    RankNetwork net(ranks, W, {.precision = precision});
    solution.result = decentralized_pca(net, A, solution.options, hooks);
    solution.spectrum = net.spectrum();
  } else {
    LocalNetwork net(W, precision);
    solution.result = decentralized_pca(net, A, solution.options, hooks);
    solution.spectrum = net.spectrum();
  }
}

}  // namespace

std::vector<OperatorRef<double>> AgentData::operators() const {
  return are_nodes ? operators_of(nodes) : operators_of(shards);
}

DecentralizedSolution solve_decentralized(Transport& ranks, const GossipMatrix& W, const AgentData& data,
                                          const DecentralizedRequest& request) {
  const auto A = data.operators();
  Known known;
  ranks.everywhere([&] {
    require(!detail::any_fault(request.faults) || ranks.size() == 1,
            fmt::format("faults: are simulated in one process, and there are {} ranks", ranks.size()));
    known = look_ahead(ranks, data, A, request);
  });
  DecentralizedSolution solution{.options = known.options, .reference = std::move(known.reference)};
  const DecentralizedHooks hooks{.observe = request.observe,
                                 .reference = solution.reference ? &*solution.reference : nullptr};
  const auto begin = std::chrono::steady_clock::now();
  run(ranks, W, A, request, hooks, solution);
  solution.seconds = detail::seconds_since(begin);
  DecentralizedResult& result = solution.result;
  if (!data.shards.empty() && ranks.size() == 1)
    result.eigenvalues *= covariance_scale(data.shards, result.contributors, data.centred);
  result.notes.insert(result.notes.begin(), known.notes.begin(), known.notes.end());
  return solution;
}

}  // namespace hearsay
