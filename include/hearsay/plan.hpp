// What to expect before a run: per method the iterations, the noise it bears and what the network carries. Plain
// numbers, each with its standing; turning them into text is left to the door.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/export.hpp"

namespace hearsay::theory {

/// How far a number can be trusted.
enum class Standing {
  guarantee,   ///< proved, constants included
  order,       ///< proved up to a constant nobody states
  prediction,  ///< what practice shows; proved by nobody
};

HEARSAY_API std::string_view name(Standing standing);

struct Figure {
  double value;
  Standing standing;
};

enum class Method { npm, anpm_xu, anpm, anpm_centred, anpm_small_beta, depm, adepm, deepca };

/// "NPM (Hardt and Price)", "ANPM, centred damping", ...
HEARSAY_API std::string_view name(Method method);

struct PlanNetwork {
  std::int64_t agents = 1;             ///< n
  double spectral_gap = 1.0;           ///< gamma of the gossip matrix
  std::optional<double> local_norm{};  ///< M = max_i ||A_i||; lambda_1, the homogeneous case, when absent
  double degree = 2.0;                 ///< neighbours of an agent, for the bytes it sends
  std::string gap_source = "given";    ///< where the gap comes from, for Plan::terms
  std::string norm_source = "given";   ///< the same for the local norm
};

struct PlanRequest {
  std::int64_t dimension = 0;  ///< d
  std::int64_t rank = 0;       ///< k, below d
  double lambda_1 = 0.0;
  double lambda_k = 0.0;
  double lambda_next = 0.0;             ///< lambda_{k+1}
  std::vector<double> eigenvalues{};    ///< all d of them, descending, if known: for the white-noise floor
  double epsilon = 1e-2;                ///< sin(theta_k) to reach
  std::optional<double> h0{};           ///< tan(theta_k) at the start; that of a random start with tau = 1 when absent
  std::optional<double> noise{};        ///< xi, a bound on ||Xi_t||
  std::optional<double> noise_sigma{};  ///< of the independent error of every entry of a product
  std::optional<double> small_beta{};   ///< adds a row for ANPM at this beta, at most lambda_next^2/4
  std::optional<PlanNetwork> network{};
};

/// What one agent sends.
struct AgentTraffic {
  Figure rounds_per_iteration;
  Figure rounds;
  Figure bytes_per_iteration;
  Figure bytes;
};

struct PlanRow {
  Method method;
  double beta;                                ///< momentum; of A - shift I
  double shift = 0.0;                         ///< b/2 under centred damping
  Figure iterations;                          ///< a guarantee or an order
  Figure predicted_iterations;                ///< without noise
  std::optional<Figure> noise_outside{};      ///< largest ||U_-k' Xi_t|| at every step
  std::optional<Figure> noise_inside{};       ///< largest ||U_k' Xi_t||, good at the smallest cos(theta_k) there can be
  std::optional<Figure> reachable_epsilon{};  ///< at the noise given: sin(theta_k) that is promised
  std::optional<Figure> predicted_floor{};    ///< at the noise given, all of it along u_{k+1} at every step
  std::optional<Figure> predicted_white_floor{};  ///< at white noise of that spectral norm
  std::int64_t block_columns = 0;                 ///< sent per round: k, and one more where momentum is estimated
  std::optional<AgentTraffic> traffic{};          ///< with the rounds a guarantee or an order
  std::optional<AgentTraffic> predicted_traffic{};
};

/// A number the plan rests on, and where it comes from.
struct Term {
  std::string name;
  double value;
  std::string source;
};

struct Plan {
  double h0;                ///< given, or of a random start
  std::vector<Term> terms;  ///< of the network: what L and T are made of
  /// Columns to multiply until averages reach epsilon at noise_sigma, beside those of the transient.
  std::optional<Figure> products{};
  std::vector<PlanRow> rows;
  std::vector<std::string> notes;  ///< what the numbers rest on, one sentence each
};

/// Everything the theory says of the request; throws InvalidArgument where it says nothing.
HEARSAY_API Plan plan(const PlanRequest& request);

}  // namespace hearsay::theory
