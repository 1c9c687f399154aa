#include "hearsay/plan.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "check.hpp"
#include "hearsay/theory.hpp"

namespace hearsay::theory {
namespace {

struct Problem {
  const PlanRequest& request;
  Target target;
  double gap;  // l_k - l_{k+1}
};

Figure guarantee(double value) { return {value, Standing::guarantee}; }
Figure order(double value) { return {value, Standing::order}; }
Figure prediction(double value) { return {value, Standing::prediction}; }

Figure whole(Figure figure) { return {std::ceil(figure.value), figure.standing}; }

Standing weaker(Standing a, Standing b) { return std::max(a, b); }

void validate_spectrum(const PlanRequest& request) {
  const std::vector<double>& all = request.eigenvalues;
  if (std::ssize(all) != request.dimension)
    throw InvalidArgument(fmt::format("eigenvalues: {} given: must be all {} or none", all.size(), request.dimension));
  if (!std::is_sorted(all.rbegin(), all.rend())) throw InvalidArgument("eigenvalues: must descend");
  const auto agrees = [&](const char* name, double value, std::int64_t place) {
    const double listed = all[static_cast<std::size_t>(place - 1)];
    if (!(std::abs(listed - value) <= 1e-6 * request.lambda_1))
      throw InvalidArgument(fmt::format("{} = {}: must agree with eigenvalue {} = {}", name, value, place, listed));
  };
  agrees("lambda_1", request.lambda_1, 1);
  agrees("lambda_k", request.lambda_k, request.rank);
  agrees("lambda_next", request.lambda_next, request.rank + 1);
  if (!(all.back() >= 0)) refuse("eigenvalues: the last", all.back(), "be zero or positive");
}

void validate(const PlanRequest& request) {
  check_at_least("rank", request.rank, 1);
  check_at_least("dimension", request.dimension, request.rank + 1);
  check_gap(request.lambda_k, request.lambda_next);
  if (!(request.lambda_1 >= request.lambda_k && std::isfinite(request.lambda_1)))
    refuse("lambda_1", request.lambda_1, "be finite, and at least lambda_k");
  check_fraction("epsilon", request.epsilon);
  if (request.h0) check_positive("h0", *request.h0);
  if (request.noise) check_nonnegative("noise", *request.noise);
  if (request.noise_sigma) check_nonnegative("noise_sigma", *request.noise_sigma);
  if (!request.eigenvalues.empty()) validate_spectrum(request);
  if (request.network) {
    check_at_least("agents", request.network->agents, 1);
    check_nonnegative("degree", request.network->degree);
  }
}

Problem problem_of(const PlanRequest& request) {
  const double h0 = request.h0.value_or(random_start_tangent(request.dimension, request.rank));
  return {request, {.epsilon = request.epsilon, .h0 = h0}, request.lambda_k - request.lambda_next};
}

// ---- Noise ----

// sin(theta_k) <= epsilon is promised for epsilon = xi/(c gap), as long as xi also meets condition (b) at every step.
std::optional<Figure> reachable_epsilon(const Problem& problem) {
  const double noise = *problem.request.noise;
  const double epsilon = noise / (noise_constant * problem.gap);
  if (epsilon == 0) return guarantee(0.0);
  if (!(epsilon < 1)) return std::nullopt;
  const Target target{.epsilon = epsilon, .h0 = problem.target.h0};
  if (!(noise <= noise_constant * problem.gap * worst_cosine(target))) return std::nullopt;
  return guarantee(epsilon);
}

// An i.i.d. N(0, sigma^2) block of d x k has a spectral norm of about sigma (sqrt(d) + sqrt(k)).
std::optional<Figure> white_floor(const Problem& problem, const PlanRow& row) {
  const PlanRequest& request = problem.request;
  if (request.eigenvalues.empty()) return std::nullopt;
  std::vector<double> seen(request.eigenvalues);
  for (double& eigenvalue : seen) eigenvalue -= row.shift;
  const auto k = static_cast<std::size_t>(request.rank);
  const double sigma = *request.noise / (std::sqrt(static_cast<double>(request.dimension)) +
                                         std::sqrt(static_cast<double>(request.rank)));
  const std::span<const double> all(seen);
  return prediction(floor_white(sigma, all.first(k), all.subspan(k), row.beta));
}

// By the statistical limit, of all eigenvalues where they are known.
std::optional<Figure> averaged_products(const PlanRequest& request) {
  if (!request.noise_sigma) return std::nullopt;
  const double sigma = *request.noise_sigma;
  if (request.eigenvalues.empty())
    return whole(prediction(
        products_at_statistical_limit(sigma, request.rank, request.lambda_k, request.lambda_next, request.epsilon)));
  const std::span<const double> all(request.eigenvalues);
  const auto k = static_cast<std::size_t>(request.rank);
  const double one = statistical_limit_of_spectrum(sigma, all.first(k), all.subspan(k), 1) / request.epsilon;
  return whole(prediction(one * one));
}

// The tolerance of NPM and of both dampings: each has l_k - 2 sqrt(beta) or its stand-in equal to l_k - l_{k+1}.
void add_noise(const Problem& problem, PlanRow& row) {
  const PlanRequest& request = problem.request;
  const Tolerance tolerance =
      noise_npm(request.lambda_k, request.lambda_next, request.epsilon, worst_cosine(problem.target));
  row.noise_outside = guarantee(tolerance.outside);
  row.noise_inside = guarantee(tolerance.inside);
  if (!request.noise) return;
  row.reachable_epsilon = reachable_epsilon(problem);
  row.predicted_floor = prediction(floor_constant_push(*request.noise, request.lambda_k, request.lambda_next));
  row.predicted_white_floor = white_floor(problem, row);
}

// ---- One row per method ----

Figure predicted(const Problem& problem, double beta, double shift = 0.0) {
  const PlanRequest& request = problem.request;
  const double rate = asymptotic_rate(request.lambda_k - shift, request.lambda_next - shift, beta);
  return whole(prediction(predicted_iterations(rate, problem.target)));
}

PlanRow npm_row(const Problem& problem) {
  const PlanRequest& request = problem.request;
  PlanRow row{.method = Method::npm,
              .beta = 0.0,
              .iterations = whole(guarantee(iterations_npm(request.lambda_k, request.lambda_next, problem.target))),
              .predicted_iterations = predicted(problem, 0.0)};
  add_noise(problem, row);
  return row;
}

PlanRow xu_row(const Problem& problem) {
  const PlanRequest& request = problem.request;
  const double beta = optimal_beta(request.lambda_next);
  const Figure iterations = whole(order(iterations_xu_order(request.lambda_k, beta, problem.target)));
  constexpr double most = 0x1p62;  // as a whole number
  const auto T = static_cast<std::int64_t>(std::clamp(iterations.value, 1.0, most));
  const Tolerance worst = noise_xu_worst_order(T, request.lambda_1, request.lambda_k, beta, problem.target.h0);
  return {.method = Method::anpm_xu,
          .beta = beta,
          .iterations = iterations,
          .predicted_iterations = predicted(problem, beta),
          .noise_outside = order(worst.outside),
          .noise_inside = order(worst.inside)};
}

PlanRow damped_row(const Problem& problem, Method method, Damping damping) {
  const Damped seen = damped(problem.request.lambda_k, problem.request.lambda_next, damping);
  PlanRow row{.method = method,
              .beta = seen.beta,
              .shift = seen.shift,
              .iterations = whole(guarantee(iterations_anpm(seen.lambda_k, seen.beta, problem.target))),
              .predicted_iterations = predicted(problem, seen.beta, seen.shift)};
  add_noise(problem, row);
  return row;
}

PlanRow small_beta_row(const Problem& problem, double beta) {
  const PlanRequest& request = problem.request;
  const double T = iterations_small_beta(request.lambda_k, request.lambda_next, beta, problem.target);
  PlanRow row{.method = Method::anpm_small_beta,
              .beta = beta,
              .iterations = whole(guarantee(T)),
              .predicted_iterations = predicted(problem, beta)};
  add_noise(problem, row);
  return row;
}

// ---- The network ----

AgentTraffic traffic(const Problem& problem, const PlanRow& row, Figure rounds_per_iteration, Figure iterations) {
  const Figure each = whole({std::max(1.0, rounds_per_iteration.value), rounds_per_iteration.standing});
  const double block_bytes = static_cast<double>(problem.request.dimension * row.block_columns) * sizeof(double);
  const double bytes_per_round = problem.request.network->degree * block_bytes;
  const Standing both = weaker(each.standing, iterations.standing);
  const double rounds = each.value * iterations.value;
  return {.rounds_per_iteration = each,
          .rounds = {rounds, both},
          .bytes_per_iteration = {each.value * bytes_per_round, each.standing},
          .bytes = {rounds * bytes_per_round, both}};
}

NetworkFacts facts(const PlanRequest& request) {
  return {.agents = request.network->agents,
          .gamma = request.network->spectral_gap,
          .local_norm = request.network->local_norm.value_or(request.lambda_1)};
}

PlanRow depm_row(const Problem& problem) {
  const PlanRequest& request = problem.request;
  const NetworkFacts network = facts(request);
  const double T = iterations_hardt_price_order(request.lambda_k, request.lambda_next, request.epsilon);
  PlanRow row{.method = Method::depm,
              .beta = 0.0,
              .iterations = whole(order(T)),
              .predicted_iterations = predicted(problem, 0.0),
              .block_columns = request.rank};
  const double L = gossip_rounds_depm_order(network, request.lambda_k, request.lambda_next, request.epsilon);
  const auto L_predicted = predicted_gossip_rounds(network, request.lambda_k, request.epsilon);
  row.traffic = traffic(problem, row, order(L), row.iterations);
  row.predicted_traffic = traffic(problem, row, prediction(static_cast<double>(L_predicted)), row.predicted_iterations);
  return row;
}

PlanRow adepm_row(const Problem& problem) {
  const PlanRequest& request = problem.request;
  const NetworkFacts network = facts(request);
  const double beta = optimal_beta(request.lambda_next);
  const Target half{.epsilon = request.epsilon / 2, .h0 = problem.target.h0};  // the theorem ends at 2 epsilon
  PlanRow row{.method = Method::adepm,
              .beta = beta,
              .iterations = whole(guarantee(iterations_anpm(request.lambda_k, beta, half))),
              .predicted_iterations = predicted(problem, beta),
              .block_columns = request.rank + 1};
  const double L = gossip_rounds_adepm(network, request.rank, request.lambda_k, beta, half);
  const auto L_predicted = predicted_gossip_rounds(network, request.lambda_k, request.epsilon);
  row.traffic = traffic(problem, row, guarantee(L), row.iterations);
  row.predicted_traffic = traffic(problem, row, prediction(static_cast<double>(L_predicted)), row.predicted_iterations);
  return row;
}

PlanRow deepca_row(const Problem& problem) {
  const PlanRequest& request = problem.request;
  const double T = iterations_hardt_price_order(request.lambda_k, request.lambda_next, request.epsilon);
  PlanRow row{.method = Method::deepca,
              .beta = 0.0,
              .iterations = whole(order(T)),
              .predicted_iterations = predicted(problem, 0.0),
              .block_columns = request.rank};
  const double L = gossip_rounds_deepca_order(facts(request), request.lambda_k, request.lambda_next);
  row.traffic = traffic(problem, row, order(L), row.iterations);
  return row;
}

// What ADePM's L and T are made of.
std::vector<Term> network_terms(const Problem& problem, const PlanRow& adepm) {
  const PlanRequest& request = problem.request;
  const PlanNetwork& network = *request.network;
  const Target half{.epsilon = request.epsilon / 2, .h0 = problem.target.h0};
  const double n = static_cast<double>(network.agents), k = static_cast<double>(request.rank);
  return {
      {"n", n, "agents"},
      {"gamma_W", network.spectral_gap, "1 - max(|l_2(W)|, |l_n(W)|): " + network.gap_source},
      {"omega", gossip_omega(network.spectral_gap),
       "of accelerated gossip: (1 - s)/(1 + s), s = sqrt(gamma_W (2 - gamma_W))"},
      {"M", network.local_norm.value_or(request.lambda_1),
       "the largest ||A_i||: " + (network.local_norm ? network.norm_source : "unknown, so lambda_1")},
      {"h_0", problem.target.h0,
       request.h0 ? "tan(theta_k) at the start: given" : "tan(theta_k) at the start: of a random one, at tau = 1"},
      {"alpha_0", alpha_0(half), "1/sqrt(1 + (eps/2 + h_0)^2): the smallest cos(theta_k) there can be"},
      {"beta", adepm.beta, "lambda_(k+1)^2/4"},
      {"sqrt(nk)", std::sqrt(n * k), "from the largest error of an agent to that of all"},
      {"T", adepm.iterations.value, "iterations of ADePM: log(2 h_0/eps) / -log(1 - sqrt(Delta)/2), eps halved"},
      {"L", adepm.traffic->rounds_per_iteration.value,
       "rounds of ADePM: 6/sqrt(gamma_W) log(11 sqrt(nk) M/(lambda_k - 2 sqrt(beta))/alpha_0/eps), eps halved"},
      {"L expected", adepm.predicted_traffic->rounds_per_iteration.value, "what practice shows; proved by nobody"},
  };
}

// ---- Notes ----

std::vector<std::string> notes_on(const Problem& problem, const std::vector<PlanRow>& rows) {
  const PlanRequest& request = problem.request;
  std::vector<std::string> notes;
  if (!request.h0)
    notes.push_back(
        fmt::format("The start is random: tan(theta_k) = {:.3g} is the bound at tau = 1.", problem.target.h0));
  notes.push_back(
      "Guarantees hold while the noise meets both bounds at every step; predictions are for exact products.");
  notes.push_back("Centred damping needs A positive semidefinite.");
  if (request.noise && *request.noise > rows.front().noise_outside->value)
    notes.push_back(fmt::format("Noise of {:.3g} is above the {:.3g} allowed outside U_k for epsilon = {:.3g}.",
                                *request.noise, rows.front().noise_outside->value, request.epsilon));
  if (request.noise && *request.noise > rows.front().noise_inside->value)
    notes.push_back(fmt::format("Noise of {:.3g} is above the {:.3g} that a start this far allows inside U_k.",
                                *request.noise, rows.front().noise_inside->value));
  if (request.noise && !rows.front().predicted_white_floor)
    notes.push_back("The white-noise floor needs the whole spectrum.");
  if (request.noise_sigma)
    notes.push_back(fmt::format(
        "The products are those of averages at the statistical limit, beside what the transient takes{}.",
        request.eigenvalues.empty() ? "; the whole spectrum would count eigenvalues that are further away too" : ""));
  if (!request.network) return notes;
  if (!request.network->local_norm)
    notes.push_back("The largest local norm M is unknown: lambda_1 stands for it, as if the agents' data were alike.");
  notes.push_back("ADePM's theorem ends at twice its epsilon, so half of it is asked for.");
  notes.push_back(
      "Gossip is accelerated gossip. ADePM's guaranteed rounds are many times what practice needs, and rest on a "
      "gossip "
      "bound that fails by up to 1.71 times on a ring of four; their constants leave room for that.");
  notes.push_back("DeEPCA's rounds do not depend on epsilon; below a least number of rounds it diverges.");
  notes.push_back(
      "ADeEPCA, the default of hearsay decentralized, has no theorem: expect about the iterations of ANPM with centred "
      "damping, and rounds that it measures as it goes.");
  return notes;
}

}  // namespace

std::string_view name(Standing standing) {
  switch (standing) {
    case Standing::guarantee:
      return "guarantee";
    case Standing::order:
      return "order";
    case Standing::prediction:
      return "prediction";
  }
  throw InvalidArgument("standing: unknown");
}

std::string_view name(Method method) {
  switch (method) {
    case Method::npm:
      return "NPM (Hardt and Price)";
    case Method::anpm_xu:
      return "ANPM (Xu 2023)";
    case Method::anpm:
      return "ANPM";
    case Method::anpm_centred:
      return "ANPM, centred damping";
    case Method::anpm_small_beta:
      return "ANPM, small beta";
    case Method::depm:
      return "DePM";
    case Method::adepm:
      return "ADePM";
    case Method::deepca:
      return "DeEPCA";
  }
  throw InvalidArgument("method: unknown");
}

Plan plan(const PlanRequest& request) {
  validate(request);
  const Problem problem = problem_of(request);
  std::vector<PlanRow> rows{npm_row(problem), xu_row(problem), damped_row(problem, Method::anpm, Damping::symmetric),
                            damped_row(problem, Method::anpm_centred, Damping::centred)};
  if (request.small_beta) rows.push_back(small_beta_row(problem, *request.small_beta));
  if (request.network) {
    rows.push_back(depm_row(problem));
    rows.push_back(adepm_row(problem));
    rows.push_back(deepca_row(problem));
  }
  std::vector<std::string> notes = notes_on(problem, rows);
  std::vector<Term> terms;
  for (const PlanRow& row : rows)
    if (row.method == Method::adepm) terms = network_terms(problem, row);
  return {.h0 = problem.target.h0,
          .terms = std::move(terms),
          .products = averaged_products(request),
          .rows = std::move(rows),
          .notes = std::move(notes)};
}

}  // namespace hearsay::theory
