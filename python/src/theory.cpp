// Every number the theory promises, as functions of numbers; and the plan.
#include "hearsay/theory.hpp"

#include <nanobind/stl/complex.h>

#include <array>
#include <numeric>
#include <span>
#include <tuple>

#include "bindings.hpp"
#include "hearsay/plan.hpp"

namespace hearsay::python {

namespace {

using namespace theory;

nb::object figure(const std::optional<Figure>& figure) {
  if (!figure) return nb::none();
  const std::string_view standing = name(figure->standing);
  return nb::make_tuple(figure->value, nb::str(standing.data(), standing.size()));
}

nb::object traffic(const std::optional<theory::AgentTraffic>& traffic) {
  if (!traffic) return nb::none();
  nb::dict out;
  out["rounds_per_iteration"] = figure(traffic->rounds_per_iteration);
  out["rounds"] = figure(traffic->rounds);
  out["bytes_per_iteration"] = figure(traffic->bytes_per_iteration);
  out["bytes"] = figure(traffic->bytes);
  return out;
}

nb::dict row_of(const PlanRow& row) {
  const std::string_view method = theory::name(row.method);
  nb::dict out;
  out["method"] = nb::str(method.data(), method.size());
  out["momentum"] = row.beta;
  out["shift"] = row.shift;
  out["iterations"] = figure(row.iterations);
  out["predicted_iterations"] = figure(row.predicted_iterations);
  out["noise_outside"] = figure(row.noise_outside);
  out["noise_inside"] = figure(row.noise_inside);
  out["reachable_epsilon"] = figure(row.reachable_epsilon);
  out["predicted_floor"] = figure(row.predicted_floor);
  out["predicted_white_floor"] = figure(row.predicted_white_floor);
  out["block_columns"] = row.block_columns;
  out["traffic"] = traffic(row.traffic);
  out["predicted_traffic"] = traffic(row.predicted_traffic);
  return out;
}

nb::dict plan_of(std::int64_t dimension, std::int64_t rank, double lambda_1, double lambda_k, double lambda_next,
                 std::vector<double> eigenvalues, double epsilon, std::optional<double> start_tangent,
                 std::optional<double> noise_level, std::optional<double> noise_sigma, std::optional<double> small_beta,
                 std::optional<std::int64_t> agents, double gossip_gap, std::optional<double> max_norm, double degree) {
  PlanRequest request{.dimension = dimension,
                      .rank = rank,
                      .lambda_1 = lambda_1,
                      .lambda_k = lambda_k,
                      .lambda_next = lambda_next,
                      .eigenvalues = std::move(eigenvalues),
                      .epsilon = epsilon,
                      .h0 = start_tangent,
                      .noise = noise_level,
                      .noise_sigma = noise_sigma,
                      .small_beta = small_beta};
  if (agents)
    request.network =
        PlanNetwork{.agents = *agents, .spectral_gap = gossip_gap, .local_norm = max_norm, .degree = degree};
  const Plan made = plan(request);
  nb::dict out;
  out["start_tangent"] = made.h0;
  nb::list rows;
  for (const PlanRow& row : made.rows) rows.append(row_of(row));
  out["rows"] = rows;
  out["products"] = figure(made.products);
  out["notes"] = nb::cast(made.notes);
  return out;
}

Damping damping_named(const std::string& text) {
  if (text == "centred" || text == "centered") return Damping::centred;
  if (text == "symmetric") return Damping::symmetric;
  throw nb::value_error(("damping = " + text + ": must be one of centred|symmetric").c_str());
}

// ---- Functions of plain numbers

// An argument of the core's, as the numbers it is spelled by in Python: itself, unless it is named below.
template <class Argument>
struct Spelled {
  using Numbers = std::tuple<Argument>;
  static Argument from(Argument number) { return number; }
};
template <>
struct Spelled<Target> {
  using Numbers = std::tuple<double, double>;
  static Target from(double epsilon, double start_tangent) { return {epsilon, start_tangent}; }
};
template <>
struct Spelled<NetworkFacts> {
  using Numbers = std::tuple<std::int64_t, double, double>;
  static NetworkFacts from(std::int64_t agents, double gamma, double local_norm) { return {agents, gamma, local_norm}; }
};
template <>
struct Spelled<std::span<const double>> {
  using Numbers = std::tuple<std::vector<double>>;
  static std::span<const double> from(const std::vector<double>& numbers) { return numbers; }
};
template <>
struct Spelled<Damping> {
  using Numbers = std::tuple<std::string>;
  static Damping from(const std::string& text) { return damping_named(text); }
};

template <class Argument>
constexpr std::size_t count_of = std::tuple_size_v<typename Spelled<Argument>::Numbers>;

template <class Argument, std::size_t first, class... Numbers>
Argument argument_from(const std::tuple<Numbers...>& numbers) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return Spelled<Argument>::from(std::get<first + i>(numbers)...);
  }
  (std::make_index_sequence<count_of<Argument>>());
}

// Results: a number is one in Python, too; the others are named tuples of hearsay.theory, and are called so in
// signatures.
struct ToleranceObject : nb::tuple {
  NB_OBJECT(ToleranceObject, nb::tuple, "Tolerance", PyTuple_Check)
};
struct DampedObject : nb::tuple {
  NB_OBJECT(DampedObject, nb::tuple, "Damped", PyTuple_Check)
};

template <class Number>
Number result_from(Number number) {
  return number;
}
nb::typed<nb::tuple, std::complex<double>, std::complex<double>> result_from(const Roots& roots) {
  return nb::make_tuple(roots.plus, roots.minus);
}
ToleranceObject result_from(const Tolerance& tolerance) {
  return nb::borrow<ToleranceObject>(
      nb::module_::import_("hearsay.theory").attr("Tolerance")(tolerance.outside, tolerance.inside));
}
DampedObject result_from(const Damped& problem) {
  return nb::borrow<DampedObject>(nb::module_::import_("hearsay.theory")
                                      .attr("Damped")(problem.shift, problem.lambda_k, problem.beta, problem.delta));
}

// The function with every argument spelled by its numbers.
template <class Result, class... Arguments>
auto of_numbers(Result (*function)(Arguments...)) {
  return [&]<class... Numbers, std::size_t... place>(std::tuple<Numbers...>*, std::index_sequence<place...>) {
    return [function](Numbers... number) {
      static constexpr std::array counts{count_of<std::remove_cvref_t<Arguments>>...};
      const std::tuple<Numbers...> numbers(std::move(number)...);
      return result_from(
          function(argument_from<std::remove_cvref_t<Arguments>,
                                 std::accumulate(counts.begin(), counts.begin() + place, std::size_t{0})>(numbers)...));
    };
  }(static_cast<decltype(std::tuple_cat(typename Spelled<std::remove_cvref_t<Arguments>>::Numbers()...))*>(nullptr),
         std::index_sequence_for<Arguments...>());
}

double log_abs_p(std::int64_t t, double x, double beta) { return scaled_p(t, x, beta).log_abs(); }
double log_abs_q(std::int64_t t, double x, double beta) { return scaled_q(t, x, beta).log_abs(); }

nb::arg named(const char* name) { return nb::arg(name); }
nb::arg_v named(nb::arg_v with_default) { return with_default; }

template <class... Names>
auto names(Names... given) {
  return std::tuple(named(given)...);
}

template <class Function, class Arguments>
void add(nb::module_& m, const char* name, Function* function, const Arguments& arguments, const char* documentation) {
  std::apply([&](const auto&... named) { m.def(name, of_numbers(function), named..., documentation); }, arguments);
}

}  // namespace

// One row a function: its name, itself, the names of its numbers, and what help() says. The functions of
// hearsay/theory.py are written from this table (./dev docs).
void bind_theory(nb::module_& core) {
  using nb::arg;
  nb::module_ m = core.def_submodule("theory", "Closed forms, rates, tolerances and rounds.");
  m.attr("noise_constant") = noise_constant;
  m.attr("start_constant") = start_constant;
  m.attr("small_beta_constant") = small_beta_constant;

  // ---- Scaled Chebyshev polynomials
  add(m, "roots", &roots, names("x", "beta"),
      "x+ and x-: the roots of z^2 - x z + beta, the larger in magnitude first.");
  add(m, "upper_root", &upper_root, names("x", "beta"), "x+ where it is real and positive: x >= 2 sqrt(beta).");
  add(m, "p", &p, names("t", "x", "beta"),
      R"(p_t(x) = ((x+)^t + (x-)^t)/2: p_0 = 1, p_1 = x/2, p_{t+1} = x p_t - beta p_{t-1}.

>>> [round(p(t, 2.0, 0.25), 12) for t in range(4)]
[1.0, 1.0, 1.75, 3.25])");
  add(m, "q", &q, names("t", "x", "beta"), "q_t(x), of the same recurrence from q_0 = 1, q_1 = x.");
  add(m, "log_abs_p", &log_abs_p, names("t", "x", "beta"),
      "log|p_t(x)|, where p_t itself may leave the range of a float.");
  add(m, "log_abs_q", &log_abs_q, names("t", "x", "beta"),
      "log|q_t(x)|, where q_t itself may leave the range of a float.");

  // ---- Rates
  add(m, "optimal_beta", &optimal_beta, names("lambda_next"),
      R"(beta* = lambda_{k+1}^2/4, the best momentum under symmetric damping.

>>> optimal_beta(0.5)
0.0625)");
  add(m, "delta", &delta, names("lambda_k", "beta"), "Delta = (lambda_k - 2 sqrt(beta))/lambda_k.");
  add(m, "f_delta", &f_delta, names("delta"), "f(Delta) = 2/(sqrt(2 - Delta) + sqrt(Delta)).");
  add(m, "contraction_anpm", &contraction_anpm, names("lambda_k", "beta"),
      "1 - sqrt(Delta)/2: the factor per step that the main theorem promises.");
  add(m, "contraction_small_beta", &contraction_small_beta, names("lambda_k", "lambda_next", "beta"),
      "The factor per step promised for 2 sqrt(beta) < lambda_{k+1}.");
  add(m, "contraction_npm", &contraction_npm, names("lambda_k", "lambda_next"),
      "The factor per step promised without momentum.");
  add(m, "asymptotic_rate", &asymptotic_rate, names("lambda_k", "lambda_next", "beta"),
      "The exact exponential rate without noise.");
  add(m, "damped", &damped, names("lambda_k", "edge", arg("damping") = "centred"),
      "The problem the recurrence sees once [0, edge] (centred) or [-edge, edge] (symmetric) has been damped.");

  // ---- Iterations
  add(m, "iterations_anpm", &iterations_anpm, names("lambda_k", "beta", "epsilon", "start_tangent"),
      R"(Guarantee: log(2 h_0/epsilon) / -log(1 - sqrt(Delta)/2) (main theorem).

>>> round(iterations_anpm(1.0, optimal_beta(0.99), 1e-2, 100.0))
193)");
  add(m, "iterations_small_beta", &iterations_small_beta,
      names("lambda_k", "lambda_next", "beta", "epsilon", "start_tangent"),
      "Guarantee, for 2 sqrt(beta) < lambda_{k+1}.");
  add(m, "iterations_npm", &iterations_npm, names("lambda_k", "lambda_next", "epsilon", "start_tangent"),
      "Guarantee, without momentum.");
  add(m, "iterations_hardt_price_order", &iterations_hardt_price_order, names("lambda_k", "lambda_next", "epsilon"),
      "Order: lambda_k/(lambda_k - lambda_{k+1}) log(1/epsilon) (Hardt and Price).");
  add(m, "iterations_xu_order", &iterations_xu_order, names("lambda_k", "beta", "epsilon", "start_tangent"),
      "Order: sqrt(lambda_k/(lambda_k - 2 sqrt(beta))) log(h_0/epsilon) (Xu 2023).");
  add(m, "predicted_iterations", &predicted_iterations, names("rate", "epsilon", "start_tangent"),
      "Prediction: log(h_0/epsilon)/rate, with the rate of asymptotic_rate.");
  add(m, "random_start_tangent", &random_start_tangent, names("dimension", "rank", arg("tau") = 1.0),
      "tau sqrt(d)/(sqrt(k) - sqrt(k-1)): a bound on tan(theta_k) of a random start, for most.");

  // ---- Envelopes
  add(m, "envelope", &envelope, names("t", "lambda_k", "beta", "epsilon", "start_tangent"),
      "epsilon/2 + c_1 h_0 (1 - sqrt(Delta)/2)^t: tan(theta_k) stays below it while the noise is allowed.");
  add(m, "envelope_as_printed", &envelope_as_printed, names("t", "lambda_k", "beta", "epsilon", "start_tangent"),
      "The same without c_1, as the paper prints it; it fails for small t and Delta < 1/4.");
  add(m, "worst_cosine", &worst_cosine, names("epsilon", "start_tangent"),
      "cos(theta_k) never falls below this while the noise is allowed.");
  add(m, "lower_bound_tangent", &lower_bound_tangent, names("t", "lambda_k", "beta", "start_tangent"),
      "Exactly tan(theta_k) at step t on diag(lambda_k, ..., 2 sqrt(beta), ...) without noise.");

  // ---- Noise
  add(m, "noise_anpm", &noise_anpm, names("lambda_k", "beta", "epsilon", "cos_theta"),
      "What the main theorem allows: c (lambda_k - 2 sqrt(beta)) times epsilon, and times cos(theta_k).");
  add(m, "noise_npm", &noise_npm, names("lambda_k", "lambda_next", "epsilon", "cos_theta"),
      "What is allowed for small beta, and without momentum.");
  add(m, "noise_xu_order", &noise_xu_order, names("t", "iterations", "lambda_1", "lambda_k", "beta", "start_tangent"),
      "Order, at step t of so many: what the earlier analysis allows (Xu 2023).");
  add(m, "noise_xu_worst_order", &noise_xu_worst_order,
      names("iterations", "lambda_1", "lambda_k", "beta", "start_tangent"),
      "The least of noise_xu_order over all steps.");

  // ---- Floors
  add(m, "floor_constant_push", &floor_constant_push, names("psi", "lambda_k", "lambda_j"),
      "psi/(lambda_k - lambda_j): where tan(theta_k) ends under a constant push psi along u_j.");
  add(m, "white_amplification", &white_amplification, names("lambda_k", "beta"),
      "(1 - 4 beta/lambda_k^2)^(-1/4): what momentum multiplies a white-noise floor by.");
  add(m, "floor_white_entry", &floor_white_entry, names("sigma", "lambda_k", "lambda_j", "beta"),
      "Where the component between u_k and u_j settles under N(0, sigma^2) noise.");
  add(m, "floor_white", &floor_white, names("sigma", "wanted", "unwanted", "beta"),
      "sqrt(E||H||_F^2) under N(0, sigma^2) noise: tan(theta_k) itself for k = 1, above it otherwise.");

  // ---- The statistical limit
  add(m, "statistical_limit", &statistical_limit, names("sigma", "rank", "lambda_k", "lambda_next", "products"),
      R"(sigma sqrt(k)/((lambda_k - lambda_{k+1}) sqrt(N/k)): about sin(theta_k) after N columns, averaged.

>>> round(statistical_limit(1e-5, 10, 1.0, 0.99, 4000), 6)
0.000158)");
  add(m, "statistical_limit_of_spectrum", &statistical_limit_of_spectrum,
      names("sigma", "wanted", "unwanted", "products"), "The same with every eigenvalue, within a factor 2.");
  add(m, "products_at_statistical_limit", &products_at_statistical_limit,
      names("sigma", "rank", "lambda_k", "lambda_next", "epsilon"),
      "Columns to multiply until averages reach epsilon: k (sigma sqrt(k)/((lambda_k - lambda_{k+1}) epsilon))^2.");

  // ---- Gossip
  add(m, "gossip_omega", &gossip_omega, names("gamma"), "The momentum of accelerated gossip at spectral gap gamma.");
  add(m, "accelerated_gossip_factor", &accelerated_gossip_factor, names("rounds", "mu", "gamma"),
      "What so many rounds leave of the eigenvector of W with eigenvalue mu, exactly.");
  add(m, "accelerated_gossip_contraction", &accelerated_gossip_contraction, names("rounds", "gamma"),
      "Its worst where the second eigenvalue of W dominates.");
  add(m, "accelerated_gossip_bound", &accelerated_gossip_bound, names("rounds", "gamma"), "A bound on it for every W.");
  add(m, "accelerated_gossip_as_printed", &accelerated_gossip_as_printed, names("rounds", "gamma", "agents"),
      "(1 - sqrt(gamma))^L sqrt(n), as the paper prints it; it is exceeded up to 1.71 times on the 4-ring.");
  add(m, "chebyshev_gossip_contraction", &chebyshev_gossip_contraction, names("rounds", "lo", "hi"),
      "1/T_L((2 - hi - lo)/(hi - lo)): Chebyshev gossip on [lo, hi], which holds every eigenvalue of W but 1.");
  add(m, "alpha_0", &alpha_0, names("epsilon", "start_tangent"), "1/sqrt(1 + (epsilon/2 + h_0)^2) (ADePM theorem).");
  add(m, "gossip_rounds_adepm", &gossip_rounds_adepm,
      names("agents", "gamma", "local_norm", "rank", "lambda_k", "beta", "epsilon", "start_tangent"),
      "Guarantee: rounds per iteration after which every agent's sine is at most 2 epsilon (ADePM theorem).");
  add(m, "gossip_rounds_depm_order", &gossip_rounds_depm_order,
      names("agents", "gamma", "local_norm", "lambda_k", "lambda_next", "epsilon"), "Order, of DePM.");
  add(m, "gossip_rounds_deepca_order", &gossip_rounds_deepca_order,
      names("agents", "gamma", "local_norm", "lambda_k", "lambda_next"), "Order, of DeEPCA.");
  add(m, "predicted_gossip_rounds", &predicted_gossip_rounds,
      names("agents", "gamma", "local_norm", "lambda_k", "epsilon"),
      "Prediction, for DePM and ADePM: the least L that brings one product's disagreement below epsilon.");

  core.def("plan", &plan_of, arg("dimension"), arg("rank"), arg("lambda_1"), arg("lambda_k"), arg("lambda_next"),
           arg("eigenvalues"), arg("epsilon"), arg("start_tangent").none(), arg("noise_level").none(),
           arg("noise_sigma").none(), arg("small_beta").none(), arg("agents").none(), arg("gossip_gap"),
           arg("max_norm").none(), arg("degree"));
}

}  // namespace hearsay::python
