#include "experiments/exponents.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "experiments/line.hpp"
#include "hearsay/error.hpp"
#include "hearsay/theory.hpp"

namespace hearsay::experiments {
namespace {

using Analysis = ToleranceRun::Analysis;
using Part = ToleranceRun::Part;

// In units of cos(theta_k(U_k, X_t)) inside U_k, as Table 1 has it.
double allowed(const ExponentRun& run, double epsilon) {
  const double beta = theory::optimal_beta(run.lambda_next);
  if (run.analysis != Analysis::xu) {
    const theory::Tolerance here = theory::noise_npm(run.lambda_k, run.lambda_next, epsilon, 1);
    return run.part == Part::outside ? here.outside : here.inside;
  }
  const auto T = static_cast<std::int64_t>(
      std::ceil(theory::iterations_anpm(run.lambda_k, beta, {.epsilon = epsilon, .h0 = run.h0})));
  const theory::Tolerance here = theory::noise_xu_order(T / 2, T, run.lambda_1, run.lambda_k, beta, run.h0);
  return run.part == Part::outside ? here.outside : here.inside * std::hypot(1, run.h0);
}

}  // namespace

Trace trace(const ExponentRun& run, std::uint64_t) {
  require(run.lambda_1 >= run.lambda_k && run.lambda_next > 0 && run.lambda_next < run.lambda_k,
          fmt::format("lambda_1 = {}, lambda_k = {}, lambda_next = {}: must descend, and be positive", run.lambda_1,
                      run.lambda_k, run.lambda_next));
  require(run.least > 0 && run.least < run.most && run.most < 1,
          fmt::format("least = {}, most = {}: must ascend between 0 and 1", run.least, run.most));
  require(run.levels >= 2, fmt::format("levels = {}: must be at least 2", run.levels));
  Trace trace;
  std::vector<double> log_epsilon, log_allowed;
  for (Index i = 0; i < run.levels; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(run.levels - 1);
    const double epsilon = run.least * std::pow(run.most / run.least, share);
    trace.swept.push_back(epsilon);
    trace.error.push_back(allowed(run, epsilon));
    log_epsilon.push_back(std::log(epsilon));
    log_allowed.push_back(std::log(trace.error.back()));
  }
  const double root = std::sqrt(run.lambda_k / (run.lambda_k - run.lambda_next));
  const double below = run.part == Part::outside ? run.lambda_next : run.lambda_k;
  trace.facts = {{"exponent", fit(log_epsilon, log_allowed).slope}, {"mu", std::log(run.lambda_1 / below) * root}};
  return trace;
}

}  // namespace hearsay::experiments
