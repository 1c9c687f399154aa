#include "solve/private_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hearsay/error.hpp"
#include "solve/any_fault.hpp"

namespace hearsay {
namespace detail {
namespace {

Vector<double> told_mean(const PrivacySettings& privacy, Index d) {
  return privacy.center == PrivateCenter::given ? privacy.mean : Vector<double>(Vector<double>::Zero(d));
}

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

}  // namespace

void check_private(const PrivateAgentsRequest& request, std::optional<Index> agents) {
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
  if (!agents) return;
  const Index m = *agents;
  require(m >= 2 || request.trust == Trust::none,
          fmt::format("agents = {}: must be at least 2 with trust = {}", m, name(request.trust)));
  require(request.trust != Trust::secure || (request.colluders >= 0 && request.colluders < m),
          fmt::format("colluders = {}: must lie in [0, {}], for there are {} agents", request.colluders, m - 1, m));
}

void require_dimension(const PrivateAgentsRequest& request, Index d) {
  const Index k = request.solve.settings.power.rank;
  require(k >= 1 && k <= d, fmt::format("rank = {}: must lie in [1, {}], the dimension", k, d));
  require(request.privacy.center != PrivateCenter::given || request.privacy.mean.size() == d,
          fmt::format("mean: has {} numbers, and must have {}, as the rows have", request.privacy.mean.size(), d));
}

PrivateWords words_of_agent(RowSource<double>& rows, const PrivacySettings& privacy, const ReleasePlan& plan,
                            const SecretWords& words) {
  ExactNormals normals(words);
  return noisy_sum_of_squares(rows, told_mean(privacy, rows.cols()), privacy, plan, normals);
}

PrivateAgentsSolution answer_of_sum(const PrivateWords& sum, Index agents, Index d, const PrivateAgentsRequest& request,
                                    const ReleasePlan& part) {
  PrivateAgentsSolution found{.contributors = agents};
  ReleasePlan whole = part;
  whole.sigma *= std::sqrt(static_cast<double>(agents));
  const Request inner{.settings = request.solve.settings};
  found.pca = solve_release(matrix_from(sum, part, d), whole, told_mean(request.privacy, d), inner, request.privacy);
  found.bases.assign(static_cast<std::size_t>(agents), found.pca.solution.power.basis);
  found.promised = promised_mu(request.trust, agents, request.colluders, part.mu);
  return found;
}

Scale scale_of(const ReleasePlan& plan, Index d, Index agents) {
  Scale scale{.exponent = std::ilogb(plan.sigma), .shift = 0};
  scale.shift = edge(std::ldexp(plan.sigma, -scale.exponent), d) / std::sqrt(static_cast<double>(agents));
  return scale;
}

Block<double> scaled_release(const PrivateWords& words, const ReleasePlan& plan, Index d, const Scale& scale) {
  Block<double> matrix = matrix_from(words, plan, d) * std::ldexp(1.0, -scale.exponent);
  matrix.diagonal().array() += scale.shift;
  return matrix;
}

double trace_of(const Block<double>& scaled, const Scale& scale) {
  return std::ldexp(1.0, scale.exponent) * (scaled.trace() - static_cast<double>(scaled.rows()) * scale.shift);
}

// No agent's own matrix is positive semidefinite, but with the shift their average is, nearly.
DecentralizedOptions private_options(const DecentralizedSettings& network, const SolveSettings& settings) {
  DecentralizedOptions options = settle(network, settings);
  if (!options.damping && options.momentum.rule == Momentum::Rule::automatic) options.damping = Damping::centred;
  return options;
}

PrivateAgentsSolution answer_of_gossip(const DecentralizedResult& result, double trace, const Scale& scale, Index d,
                                       const PrivateAgentsRequest& request, const ReleasePlan& plan) {
  require(!result.contributors.empty(), "faults: no agent is left");
  const Index k = request.solve.settings.power.rank, first = result.contributors.front();
  const double n = static_cast<double>(result.contributors.size()), unit = std::ldexp(1.0, scale.exponent);
  const double next = result.next_eigenvalue.size() > first ? result.next_eigenvalue(first) : std::nan("");
  const double own = std::ldexp(1.0, result.exponent);
  Vector<double> theta(k + (std::isfinite(next) ? 1 : 0));
  for (Index i = 0; i < theta.size(); ++i)
    theta(i) = n * unit * ((i < k ? result.eigenvalues(first, i) : next) * own - scale.shift);
  PrivateAgentsSolution found{.pca = {.plan = plan, .mean = told_mean(request.privacy, d)}};
  found.pca.plan.sigma *= std::sqrt(n);
  found.pca.accuracy = private_accuracy(spread_over(theta, d, trace), k, d, found.pca.plan.sigma, trace);
  found.pca.solution.power.status = result.status;
  found.pca.solution.power.basis = result.bases[static_cast<std::size_t>(first)];
  found.pca.divisor = request.privacy.public_rows > 0 ? static_cast<double>(request.privacy.public_rows) : 1.0;
  found.contributors = static_cast<Index>(result.contributors.size());
  found.traffic = result.traffic;
  found.bases = result.bases;
  found.promised = promised_mu(request.trust, static_cast<Index>(result.bases.size()), request.colluders, plan.mu);
  return found;
}

}  // namespace detail

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
  detail::check_private(request, agents);
  require(request.trust != Trust::secure || request.masked_sum, "trust = secure: needs sums under masks");
}

}  // namespace hearsay
