#include "hearsay/private_agents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/operators/stored.hpp"
#include "operators/rows_in_memory.hpp"
#include "solve/any_fault.hpp"
#include "solve/seconds.hpp"

namespace hearsay {

namespace {

using Agents = std::span<RowSource<double>* const>;

// What agents send: each one's words, its noise in them.
std::vector<PrivateWords> parts_of(Agents agents, const PrivateAgentsRequest& request, const ReleasePlan& plan,
                                   const std::function<SecretWords(Index)>& words) {
  const Index d = agents.front()->cols();
  const Vector<double> center =
      request.privacy.center == PrivateCenter::given ? request.privacy.mean : Vector<double>(Vector<double>::Zero(d));
  std::vector<PrivateWords> parts;
  for (std::size_t i = 0; i < agents.size(); ++i) {
    ExactNormals normals(words(static_cast<Index>(i)));
    parts.push_back(noisy_sum_of_squares(*agents[i], center, request.privacy, plan, normals));
  }
  if (request.leaving)
    for (std::size_t i = 0; i < parts.size(); ++i) request.leaving(static_cast<Index>(i), parts[i].span());
  return parts;
}

PrivateWords added_up(std::vector<PrivateWords> parts) {
  PrivateWords sum = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i)
    for (std::size_t w = 0; w < sum.size(); ++w) sum.span()[w] += parts[i].span()[w];
  return sum;
}

// Up a spanning tree, and the sum down again.
Traffic tree_traffic(Index agents, std::size_t words) {
  Traffic traffic;
  traffic.add_round(2 * (agents - 1), static_cast<std::int64_t>(words * sizeof(std::uint64_t)), 0);
  return traffic;
}

Vector<double> told_mean(const PrivacySettings& privacy, Index d) {
  return privacy.center == PrivateCenter::given ? privacy.mean : Vector<double>(Vector<double>::Zero(d));
}

PrivateAgentsSolution solve_sum(Agents agents, const PrivateAgentsRequest& request, const ReleasePlan& part,
                                const std::function<SecretWords(Index)>& words) {
  const auto m = static_cast<Index>(agents.size()), d = agents.front()->cols();
  std::vector<PrivateWords> parts = parts_of(agents, request, part, words);
  PrivateAgentsSolution found{.contributors = m, .traffic = tree_traffic(m, parts.front().size())};
  const PrivateWords sum =
      request.trust == Trust::secure ? request.masked_sum(std::move(parts)) : added_up(std::move(parts));
  ReleasePlan whole = part;
  whole.sigma *= std::sqrt(static_cast<double>(m));
  const Request inner{.settings = request.solve.settings};
  found.pca = solve_release(matrix_from(sum, part, d), whole, told_mean(request.privacy, d), inner, request.privacy);
  found.bases.assign(agents.size(), found.pca.solution.power.basis);
  return found;
}

// ---- Where they gossip: of matrices that are released, each by itself

// C + E has eigenvalues down to minus this, about.
double edge(double sigma, Index d) { return std::sqrt(2.0 * static_cast<double>(d)) * sigma; }

// theta_1 ... theta_{k+1} of the sum, and as many more like the last as the trace leaves room for: the bar then errs
// upwards, for k + 1 eigenvalues are all that a gossiped block tells.
Vector<double> spread_over(const Vector<double>& theta, Index d, double trace) {
  const Index known = theta.size();
  const double last = theta(known - 1), rest = trace - theta.sum();
  const double room = last > 0 && rest > 0 ? rest / last : 0.0;
  const Index more = static_cast<Index>(std::min(std::floor(room), static_cast<double>(d - known)));
  Vector<double> all = Vector<double>::Constant(known + more, last);
  all.head(known) = theta;
  return all;
}

DecentralizedOptions options_of(const PrivateAgentsRequest& request) {
  DecentralizedOptions options = settle(request.solve.network, request.solve.settings);
  // No agent's own matrix is positive semidefinite, but with the shift their average is, nearly.
  if (!options.damping && options.momentum.rule == Momentum::Rule::automatic) options.damping = Damping::centred;
  return options;
}

DecentralizedSolution gossiped(const std::vector<Block<double>>& matrices, const GossipMatrix& W,
                               const PrivateAgentsRequest& request) {
  std::vector<DenseSymmetric<double>> stored;
  for (const Block<double>& matrix : matrices) stored.emplace_back(matrix);
  const auto A = operators_of(stored);
  DecentralizedSolution solution{.options = options_of(request)};
  const DecentralizedHooks hooks{.observe = request.solve.observe};
  const MessagePrecision precision = request.solve.network.precision;
  const auto begin = std::chrono::steady_clock::now();
  if (detail::any_fault(request.solve.faults)) {
    FaultyNetwork net(W, request.solve.faults, precision);
    if (request.solve.patient) net.wait_while(request.solve.patient);
    solution.result = decentralized_pca(net, A, solution.options, hooks);
    solution.spectrum = gossip_spectrum(W);
  } else {
    LocalNetwork net(W, precision);
    solution.result = decentralized_pca(net, A, solution.options, hooks);
    solution.spectrum = net.spectrum();
  }
  solution.seconds = detail::seconds_since(begin);
  return solution;
}

// In units of the noise, so that squares of any size stay within the range of double, and shifted by what the average
// may lack to be positive semidefinite. Both are public.
struct Scale {
  int exponent;
  double shift;
};

std::vector<Block<double>> scaled_releases(Agents agents, const PrivateAgentsRequest& request, const ReleasePlan& plan,
                                           const std::function<SecretWords(Index)>& words, const Scale& scale) {
  const Index d = agents.front()->cols();
  std::vector<Block<double>> matrices;
  for (const PrivateWords& sent : parts_of(agents, request, plan, words)) {
    matrices.push_back(matrix_from(sent, plan, d) * std::ldexp(1.0, -scale.exponent));
    matrices.back().diagonal().array() += scale.shift;
  }
  return matrices;
}

void take(PrivateAgentsSolution& found, const std::vector<Block<double>>& matrices, const Scale& scale, Index k) {
  const DecentralizedResult& result = found.gossip->result;
  const Index d = matrices.front().rows(), first = result.contributors.empty() ? 0 : result.contributors.front();
  const double n = static_cast<double>(result.contributors.size()), unit = std::ldexp(1.0, scale.exponent);
  const double next = result.next_eigenvalue.size() > first ? result.next_eigenvalue(first) : std::nan("");
  const double own = std::ldexp(1.0, result.exponent);
  Vector<double> theta(k + (std::isfinite(next) ? 1 : 0));
  for (Index i = 0; i < theta.size(); ++i)
    theta(i) = n * unit * ((i < k ? result.eigenvalues(first, i) : next) * own - scale.shift);
  double trace = 0;
  for (const Index agent : result.contributors)
    trace += unit * (matrices[static_cast<std::size_t>(agent)].trace() - static_cast<double>(d) * scale.shift);
  found.pca.plan.sigma *= std::sqrt(n);
  found.pca.accuracy = private_accuracy(spread_over(theta, d, trace), k, d, found.pca.plan.sigma, trace);
  found.contributors = static_cast<Index>(result.contributors.size());
}

PrivateAgentsSolution solve_gossip(Agents agents, const GossipMatrix& W, const PrivateAgentsRequest& request,
                                   const ReleasePlan& plan, const std::function<SecretWords(Index)>& words) {
  const Index d = agents.front()->cols();
  const double m = static_cast<double>(agents.size());
  Scale scale{.exponent = std::ilogb(plan.sigma), .shift = 0};
  scale.shift = edge(std::ldexp(plan.sigma, -scale.exponent), d) / std::sqrt(m);
  const std::vector<Block<double>> matrices = scaled_releases(agents, request, plan, words, scale);
  PrivateAgentsSolution found{.pca = {.plan = plan, .mean = told_mean(request.privacy, d)}};
  found.gossip = gossiped(matrices, W, request);
  DecentralizedResult& result = found.gossip->result;
  require(!result.contributors.empty(), "faults: no agent is left");
  take(found, matrices, scale, request.solve.settings.power.rank);
  found.pca.solution.power.status = result.status;
  found.pca.solution.power.basis = result.bases[static_cast<std::size_t>(result.contributors.front())];
  found.pca.divisor = request.privacy.public_rows > 0 ? static_cast<double>(request.privacy.public_rows) : 1.0;
  found.traffic = result.traffic;
  found.bases = std::move(result.bases);
  return found;
}

}  // namespace

std::string_view name(Trust trust) {
  switch (trust) {
    case Trust::none:
      return "none";
    case Trust::neighbours:
      return "neighbours";
    case Trust::secure:
      return "secure";
  }
  return "";
}

Index noise_parts(Trust trust, Index agents, Index colluders) {
  if (trust == Trust::none) return 1;
  return trust == Trust::neighbours ? agents : agents - colluders;
}

PromisedMu promised_mu(Trust trust, Index agents, Index colluders, double mu) {
  if (trust == Trust::none) return {mu, mu, mu};
  const auto parts = static_cast<double>(noise_parts(trust, agents, colluders)), m = static_cast<double>(agents);
  const double alone = mu * std::sqrt(parts);  // where one's own noise is all that hides one's rows
  if (trust == Trust::neighbours) return {mu, alone, alone};
  return {alone / std::sqrt(m), alone / std::sqrt(m - 1), alone};
}

void check(const PrivateAgentsRequest& request, std::optional<Index> agents) {
  const DecentralizedRequest& solve = request.solve;
  check(Request{.settings = solve.settings}, request.privacy);
  const auto refuse = [](bool wrong, const char* what) { require(!wrong, what); };
  refuse(request.privacy.center == PrivateCenter::dp_mean,
         "dp-center = dp-mean: nobody has accounted for it among agents; give a mean that is public, or none");
  refuse(solve.exact_reference || solve.reference.has_value(),
         "reference: would tell an angle to what may be the data's own components");
  refuse(request.trust != Trust::none && detail::any_fault(solve.faults),
         "faults: a sum over a set of agents that changes shows the rows of who left or came under one agent's share "
         "of the noise; they are for trust = none");
  refuse(request.trust == Trust::secure && !request.masked_sum, "trust = secure: needs sums under masks");
  if (!agents) return;
  const Index m = *agents;
  require(m >= 2 || request.trust == Trust::none,
          fmt::format("agents = {}: must be at least 2 with trust = {}", m, name(request.trust)));
  require(request.trust != Trust::secure || (request.colluders >= 0 && request.colluders < m),
          fmt::format("colluders = {}: must lie in [0, {}], for there are {} agents", request.colluders, m - 1, m));
}

PrivateAgentsSolution solve_private_agents(std::span<RowSource<double>* const> agents, const GossipMatrix& W,
                                           const PrivateAgentsRequest& request,
                                           const std::function<SecretWords(Index agent)>& words) {
  const auto m = static_cast<Index>(agents.size());
  require(m >= 1 && m == W.agents(), fmt::format("agents = {}: must be {}, as the network has", m, W.agents()));
  check(request, m);
  const Index d = agents.front()->cols(), k = request.solve.settings.power.rank;
  for (const RowSource<double>* agent : agents) require(agent->cols() == d, "features: must be as many at every agent");
  require(k >= 1 && k <= d, fmt::format("rank = {}: must lie in [1, {}], the dimension", k, d));
  require(request.privacy.center != PrivateCenter::given || request.privacy.mean.size() == d,
          fmt::format("mean: has {} numbers, and must have {}, as the rows have", request.privacy.mean.size(), d));
  require_memory(static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(m + 4),
                 sizeof(double), "private covariances of all agents");
  const ReleasePlan part = plan_part(request.privacy, d, noise_parts(request.trust, m, request.colluders));
  PrivateAgentsSolution found = request.trust == Trust::none ? solve_gossip(agents, W, request, part, words)
                                                             : solve_sum(agents, request, part, words);
  found.promised = promised_mu(request.trust, m, request.colluders, part.mu);
  return found;
}

PrivateAgentsSolution solve_private_agents(const std::vector<Block<double>>& agents, const GossipMatrix& W,
                                           const PrivateAgentsRequest& request,
                                           const std::function<SecretWords(Index agent)>& words) {
  std::vector<detail::DenseRows> rows;
  std::vector<RowSource<double>*> sources;
  rows.reserve(agents.size());
  for (const Block<double>& agent : agents) rows.emplace_back(borrow(agent));
  for (detail::DenseRows& source : rows) sources.push_back(&source);
  return solve_private_agents(sources, W, request, words);
}

}  // namespace hearsay
