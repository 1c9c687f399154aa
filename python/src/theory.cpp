// Every number the theory promises, as functions of numbers; and the plan.
#include "hearsay/theory.hpp"

#include <nanobind/stl/complex.h>

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
                 std::optional<double> noise_level, std::optional<double> small_beta,
                 std::optional<std::int64_t> agents, double gossip_gap, std::optional<double> max_norm, double degree) {
  PlanRequest request{.dimension = dimension,
                      .rank = rank,
                      .lambda_1 = lambda_1,
                      .lambda_k = lambda_k,
                      .lambda_k1 = lambda_next,
                      .eigenvalues = std::move(eigenvalues),
                      .epsilon = epsilon,
                      .h0 = start_tangent,
                      .noise = noise_level,
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
  out["notes"] = nb::cast(made.notes);
  return out;
}

Damping damping_named(const std::string& text) {
  if (text == "centred" || text == "centered") return Damping::centred;
  if (text == "symmetric") return Damping::symmetric;
  throw nb::value_error(("damping = " + text + ": must be one of centred|symmetric").c_str());
}

nb::tuple pair_of(const Tolerance& tolerance) { return nb::make_tuple(tolerance.outside, tolerance.inside); }

}  // namespace

void bind_theory(nb::module_& core) {
  using nb::arg;
  nb::module_ m = core.def_submodule("theory", "Closed forms, rates, tolerances and rounds.");
  m.attr("noise_constant") = noise_constant;
  m.attr("start_constant") = start_constant;
  m.attr("small_beta_constant") = small_beta_constant;

  m.def(
      "roots",
      [](double x, double beta) {
        const Roots both = roots(x, beta);
        return nb::make_tuple(both.plus, both.minus);
      },
      arg("x"), arg("beta"));
  m.def("upper_root", &upper_root, arg("x"), arg("beta"));
  m.def("p", &p, arg("t"), arg("x"), arg("beta"));
  m.def("q", &q, arg("t"), arg("x"), arg("beta"));
  m.def(
      "log_abs_p", [](std::int64_t t, double x, double beta) { return scaled_p(t, x, beta).log_abs(); }, arg("t"),
      arg("x"), arg("beta"));
  m.def(
      "log_abs_q", [](std::int64_t t, double x, double beta) { return scaled_q(t, x, beta).log_abs(); }, arg("t"),
      arg("x"), arg("beta"));

  m.def("optimal_beta", &optimal_beta, arg("lambda_next"));
  m.def("delta", &delta, arg("lambda_k"), arg("beta"));
  m.def("f_delta", &f_delta, arg("delta"));
  m.def("contraction_anpm", &contraction_anpm, arg("lambda_k"), arg("beta"));
  m.def("contraction_small_beta", &contraction_small_beta, arg("lambda_k"), arg("lambda_next"), arg("beta"));
  m.def("contraction_npm", &contraction_npm, arg("lambda_k"), arg("lambda_next"));
  m.def("asymptotic_rate", &asymptotic_rate, arg("lambda_k"), arg("lambda_next"), arg("beta"));
  m.def(
      "damped",
      [](double lambda_k, double edge, const std::string& damping) {
        const Damped problem = damped(lambda_k, edge, damping_named(damping));
        return nb::make_tuple(problem.shift, problem.lambda_k, problem.beta, problem.delta);
      },
      arg("lambda_k"), arg("edge"), arg("damping"));

  const auto target = [](double epsilon, double start_tangent) { return Target{epsilon, start_tangent}; };
  m.def(
      "iterations_anpm",
      [target](double lambda_k, double beta, double epsilon, double start_tangent) {
        return iterations_anpm(lambda_k, beta, target(epsilon, start_tangent));
      },
      arg("lambda_k"), arg("beta"), arg("epsilon"), arg("start_tangent"));
  m.def(
      "iterations_small_beta",
      [target](double lambda_k, double lambda_next, double beta, double epsilon, double start_tangent) {
        return iterations_small_beta(lambda_k, lambda_next, beta, target(epsilon, start_tangent));
      },
      arg("lambda_k"), arg("lambda_next"), arg("beta"), arg("epsilon"), arg("start_tangent"));
  m.def(
      "iterations_npm",
      [target](double lambda_k, double lambda_next, double epsilon, double start_tangent) {
        return iterations_npm(lambda_k, lambda_next, target(epsilon, start_tangent));
      },
      arg("lambda_k"), arg("lambda_next"), arg("epsilon"), arg("start_tangent"));
  m.def("iterations_hardt_price_order", &iterations_hardt_price_order, arg("lambda_k"), arg("lambda_next"),
        arg("epsilon"));
  m.def(
      "iterations_xu_order",
      [target](double lambda_k, double beta, double epsilon, double start_tangent) {
        return iterations_xu_order(lambda_k, beta, target(epsilon, start_tangent));
      },
      arg("lambda_k"), arg("beta"), arg("epsilon"), arg("start_tangent"));
  m.def(
      "predicted_iterations",
      [target](double rate, double epsilon, double start_tangent) {
        return predicted_iterations(rate, target(epsilon, start_tangent));
      },
      arg("rate"), arg("epsilon"), arg("start_tangent"));
  m.def("random_start_tangent", &random_start_tangent, arg("dimension"), arg("rank"), arg("tau") = 1.0);

  m.def(
      "envelope",
      [target](std::int64_t t, double lambda_k, double beta, double epsilon, double start_tangent) {
        return envelope(t, lambda_k, beta, target(epsilon, start_tangent));
      },
      arg("t"), arg("lambda_k"), arg("beta"), arg("epsilon"), arg("start_tangent"));
  m.def(
      "envelope_as_printed",
      [target](std::int64_t t, double lambda_k, double beta, double epsilon, double start_tangent) {
        return envelope_as_printed(t, lambda_k, beta, target(epsilon, start_tangent));
      },
      arg("t"), arg("lambda_k"), arg("beta"), arg("epsilon"), arg("start_tangent"));
  m.def(
      "worst_cosine",
      [target](double epsilon, double start_tangent) { return worst_cosine(target(epsilon, start_tangent)); },
      arg("epsilon"), arg("start_tangent"));
  m.def("lower_bound_tangent", &lower_bound_tangent, arg("t"), arg("lambda_k"), arg("beta"), arg("start_tangent"));

  m.def(
      "noise_anpm",
      [](double lambda_k, double beta, double epsilon, double cos_theta) {
        return pair_of(noise_anpm(lambda_k, beta, epsilon, cos_theta));
      },
      arg("lambda_k"), arg("beta"), arg("epsilon"), arg("cos_theta"));
  m.def(
      "noise_npm",
      [](double lambda_k, double lambda_next, double epsilon, double cos_theta) {
        return pair_of(noise_npm(lambda_k, lambda_next, epsilon, cos_theta));
      },
      arg("lambda_k"), arg("lambda_next"), arg("epsilon"), arg("cos_theta"));
  m.def(
      "noise_xu_order",
      [](std::int64_t t, std::int64_t T, double lambda_1, double lambda_k, double beta, double start_tangent) {
        return pair_of(noise_xu_order(t, T, lambda_1, lambda_k, beta, start_tangent));
      },
      arg("t"), arg("iterations"), arg("lambda_1"), arg("lambda_k"), arg("beta"), arg("start_tangent"));
  m.def(
      "noise_xu_worst_order",
      [](std::int64_t T, double lambda_1, double lambda_k, double beta, double start_tangent) {
        return pair_of(noise_xu_worst_order(T, lambda_1, lambda_k, beta, start_tangent));
      },
      arg("iterations"), arg("lambda_1"), arg("lambda_k"), arg("beta"), arg("start_tangent"));

  m.def("floor_constant_push", &floor_constant_push, arg("psi"), arg("lambda_k"), arg("lambda_j"));
  m.def("white_amplification", &white_amplification, arg("lambda_k"), arg("beta"));
  m.def("floor_white_entry", &floor_white_entry, arg("sigma"), arg("lambda_k"), arg("lambda_j"), arg("beta"));
  m.def(
      "floor_white",
      [](double sigma, const std::vector<double>& wanted, const std::vector<double>& unwanted, double beta) {
        return floor_white(sigma, wanted, unwanted, beta);
      },
      arg("sigma"), arg("wanted"), arg("unwanted"), arg("beta"));

  m.def("gossip_omega", &gossip_omega, arg("gamma"));
  m.def("accelerated_gossip_factor", &accelerated_gossip_factor, arg("rounds"), arg("mu"), arg("gamma"));
  m.def("accelerated_gossip_contraction", &accelerated_gossip_contraction, arg("rounds"), arg("gamma"));
  m.def("accelerated_gossip_bound", &accelerated_gossip_bound, arg("rounds"), arg("gamma"));
  m.def("accelerated_gossip_as_printed", &accelerated_gossip_as_printed, arg("rounds"), arg("gamma"), arg("agents"));
  m.def("chebyshev_gossip_contraction", &chebyshev_gossip_contraction, arg("rounds"), arg("lo"), arg("hi"));
  m.def(
      "alpha_0", [target](double epsilon, double start_tangent) { return alpha_0(target(epsilon, start_tangent)); },
      arg("epsilon"), arg("start_tangent"));
  m.def(
      "gossip_rounds_adepm",
      [target](std::int64_t agents, double gamma, double local_norm, std::int64_t rank, double lambda_k, double beta,
               double epsilon, double start_tangent) {
        return gossip_rounds_adepm({agents, gamma, local_norm}, rank, lambda_k, beta, target(epsilon, start_tangent));
      },
      arg("agents"), arg("gamma"), arg("local_norm"), arg("rank"), arg("lambda_k"), arg("beta"), arg("epsilon"),
      arg("start_tangent"));
  m.def(
      "gossip_rounds_depm_order",
      [](std::int64_t agents, double gamma, double local_norm, double lambda_k, double lambda_next, double epsilon) {
        return gossip_rounds_depm_order({agents, gamma, local_norm}, lambda_k, lambda_next, epsilon);
      },
      arg("agents"), arg("gamma"), arg("local_norm"), arg("lambda_k"), arg("lambda_next"), arg("epsilon"));
  m.def(
      "gossip_rounds_deepca_order",
      [](std::int64_t agents, double gamma, double local_norm, double lambda_k, double lambda_next) {
        return gossip_rounds_deepca_order({agents, gamma, local_norm}, lambda_k, lambda_next);
      },
      arg("agents"), arg("gamma"), arg("local_norm"), arg("lambda_k"), arg("lambda_next"));
  m.def(
      "predicted_gossip_rounds",
      [](std::int64_t agents, double gamma, double local_norm, double lambda_k, double epsilon) {
        return predicted_gossip_rounds({agents, gamma, local_norm}, lambda_k, epsilon);
      },
      arg("agents"), arg("gamma"), arg("local_norm"), arg("lambda_k"), arg("epsilon"));

  core.def("plan", &plan_of, arg("dimension"), arg("rank"), arg("lambda_1"), arg("lambda_k"), arg("lambda_next"),
           arg("eigenvalues"), arg("epsilon"), arg("start_tangent").none(), arg("noise_level").none(),
           arg("small_beta").none(), arg("agents").none(), arg("gossip_gap"), arg("max_norm").none(), arg("degree"));
}

}  // namespace hearsay::python
