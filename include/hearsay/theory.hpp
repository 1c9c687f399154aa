// Every number the theory promises, as a function of plain numbers.
//
// Reference   Aguie, Even, Massoulie (2026), "Improved Analysis of the Accelerated Noisy Power Method", whose theorems,
//             lemmas and tables are named below. docs/algorithms/theory.md tells where we depart from it.
// Legend      l_1 >= l_k > l_{k+1} >= 0  eigenvalues of A | beta  momentum | Delta = (l_k - 2 sqrt(beta))/l_k
//             x+, x-  the roots of z^2 - x z + beta | h_0 = tan(theta_k(U_k, X_0)) | epsilon  the sine asked for
//             W  gossip matrix, gamma its spectral gap | L  gossip rounds per iteration
// Arguments out of range, NaN among them, throw InvalidArgument.
#pragma once

#include <complex>
#include <cstdint>
#include <span>

#include "hearsay/damping.hpp"
#include "hearsay/export.hpp"

namespace hearsay::theory {

/// c of the noise conditions (main theorem).
inline constexpr double noise_constant = 1.0 / 32.0;
/// c_1 of the bounds on C_t^{-1} (Lemma ctpt_bound).
inline constexpr double start_constant = 31.0 / 15.0;
/// c_2 = 1 - c - c c_1 = 217/240 of the small-beta theorem (the appendix misprints it as 1 - c_1 - c c_1 < 0).
inline constexpr double small_beta_constant = 1.0 - noise_constant - noise_constant * start_constant;

/// What is asked for, and from where.
struct Target {
  double epsilon;  ///< the sine of theta_k to reach, in (0, 1)
  double h0;       ///< tan(theta_k(U_k, X_0)) at the start
};

// ---- Scaled Chebyshev polynomials -----------------------------------------------------------------------------------

/// mantissa * exp(log_scale): a value that may lie far outside the range of double.
struct HEARSAY_API Scaled {
  double mantissa;
  double log_scale;

  double log_abs() const;  ///< log|value|, minus infinity at zero
};

struct Roots {
  std::complex<double> plus, minus;
};

/// x+, x- = (x +- sqrt(x^2 - 4 beta))/2 (Lemma ptqt_closed); |x+| >= |x-|.
HEARSAY_API Roots roots(double x, double beta);

/// x+ where it is real and positive: x >= 2 sqrt(beta).
HEARSAY_API double upper_root(double x, double beta);

/// p_t(x) = ((x+)^t + (x-)^t)/2: p_0 = 1, p_1 = x/2, p_{t+1} = x p_t - beta p_{t-1}.
HEARSAY_API double p(std::int64_t t, double x, double beta);
HEARSAY_API Scaled scaled_p(std::int64_t t, double x, double beta);

/// q_t(x) = sum_{s<=t} (x+)^s (x-)^{t-s}: q_0 = 1, q_1 = x, the same recurrence.
HEARSAY_API double q(std::int64_t t, double x, double beta);
HEARSAY_API Scaled scaled_q(std::int64_t t, double x, double beta);

// ---- Rates ----------------------------------------------------------------------------------------------------------

/// beta* = l_{k+1}^2/4, the best momentum under symmetric damping.
HEARSAY_API double optimal_beta(double lambda_next);

/// Delta = (l_k - 2 sqrt(beta))/l_k.
HEARSAY_API double delta(double lambda_k, double beta);

/// f(Delta) = 2/(sqrt(2 - Delta) + sqrt(Delta)) (Lemma f_delta_bounds): sqrt(beta)/l_k+ = 1 - sqrt(Delta) f(Delta).
HEARSAY_API double f_delta(double delta);

/// 1 - sqrt(Delta)/2: the factor per step that the main theorem promises.
HEARSAY_API double contraction_anpm(double lambda_k, double beta);

/// 1 - c_2 (l_k+ - l_{k+1}+)/l_k+: the factor per step promised for 2 sqrt(beta) < l_{k+1} (small-beta theorem).
HEARSAY_API double contraction_small_beta(double lambda_k, double lambda_next, double beta);

/// 1 - c_2 (l_k - l_{k+1})/l_k: the factor per step promised without momentum.
HEARSAY_API double contraction_npm(double lambda_k, double lambda_next);

/// The exact exponential rate without noise: log(l_k+/sqrt(beta)), log(l_k+/l_{k+1}+) where 2 sqrt(beta) < l_{k+1}, and
/// so log(l_k/l_{k+1}) at beta = 0. Infinite where nothing unwanted is left.
HEARSAY_API double asymptotic_rate(double lambda_k, double lambda_next, double beta);

/// The problem the recurrence sees once the unwanted eigenvalues [0, b] have been damped.
struct Damped {
  double shift;     ///< subtracted from A: b/2 centred, 0 symmetric
  double lambda_k;  ///< l_k - shift
  double beta;      ///< (b/4)^2 centred, (b/2)^2 symmetric
  double delta;     ///< (l_k - b)/(l_k - b/2) centred, (l_k - b)/l_k symmetric
};

/// A - (b/2) I with beta = (b/4)^2, or A with beta = (b/2)^2: l_k - 2 sqrt(beta) = l_k - b either way.
HEARSAY_API Damped damped(double lambda_k, double b, Damping damping);

// ---- Iterations -----------------------------------------------------------------------------------------------------
// Real numbers, never negative; the count is the next integer.

/// Guarantee, for h_0 >= epsilon: log(2 h_0/epsilon) / -log(1 - sqrt(Delta)/2) (main theorem).
HEARSAY_API double iterations_anpm(double lambda_k, double beta, Target target);

/// Guarantee: log(434/195 h_0/epsilon) / -log(contraction_small_beta) (small-beta theorem with its start constant).
HEARSAY_API double iterations_small_beta(double lambda_k, double lambda_next, double beta, Target target);

/// Guarantee: log(2 h_0/epsilon) / -log(contraction_npm), by one step of the recurrence on tan(theta_k).
HEARSAY_API double iterations_npm(double lambda_k, double lambda_next, Target target);

/// Order: l_k/(l_k - l_{k+1}) log(1/epsilon) (Hardt and Price; Table comp_npm).
HEARSAY_API double iterations_hardt_price_order(double lambda_k, double lambda_next, double epsilon);

/// Order: sqrt(l_k/(l_k - 2 sqrt(beta))) log(h_0/epsilon) (Xu 2023, Theorem 3.1).
HEARSAY_API double iterations_xu_order(double lambda_k, double beta, Target target);

/// Prediction: log(h_0/epsilon)/rate, with the rate of asymptotic_rate. What practice shows; promised by nobody.
HEARSAY_API double predicted_iterations(double rate, Target target);

/// tan(theta_k) <= tau sqrt(d)/(sqrt(k) - sqrt(k-1)) for a random start, with probability
/// 1 - tau^{-Omega(1)} - e^{-Omega(d)} (Hardt and Price, Lemma 2.4).
HEARSAY_API double random_start_tangent(std::int64_t dimension, std::int64_t rank, double tau = 1.0);

// ---- Envelopes ------------------------------------------------------------------------------------------------------

/// epsilon/2 + h_0 (1 - sqrt(Delta)/2)^t, as printed (Lemma ht_exp_decay). It FAILS for small t and Delta < 1/4,
/// without any noise: the paper's own lower-bound instance has tan = (1 - Delta) h_0 at t = 1.
HEARSAY_API double envelope_as_printed(std::int64_t t, double lambda_k, double beta, Target target);

/// epsilon/2 + c_1 h_0 (1 - sqrt(Delta)/2)^t: what the proof does give for t >= 1, and true at t = 0.
HEARSAY_API double envelope(std::int64_t t, double lambda_k, double beta, Target target);

/// 1/sqrt(1 + (epsilon/2 + c_1 h_0)^2): cos(theta_k) never falls below it while the noise conditions hold.
HEARSAY_API double worst_cosine(Target target);

/// h_0 * 2 beta^{t/2}/((l_k+)^t + (l_k-)^t): exactly tan(theta_k) at step t on diag(l_k x k, 2 sqrt(beta) x (d-k)).
HEARSAY_API double lower_bound_tangent(std::int64_t t, double lambda_k, double beta, double h0);

// ---- Noise ----------------------------------------------------------------------------------------------------------

/// Bounds on the two parts of Xi_t, in spectral norm.
struct Tolerance {
  double outside;  ///< (a): on ||U_-k' Xi_t||
  double inside;   ///< (b): on ||U_k' Xi_t||
};

/// c (l_k - 2 sqrt(beta)) epsilon and c (l_k - 2 sqrt(beta)) cos(theta_k(U_k, X_t)) (main theorem).
HEARSAY_API Tolerance noise_anpm(double lambda_k, double beta, double epsilon, double cos_theta);

/// c (l_k - l_{k+1}) epsilon and c (l_k - l_{k+1}) cos(theta_k(U_k, X_t)) (small beta, and Hardt and Price).
HEARSAY_API Tolerance noise_npm(double lambda_k, double lambda_next, double epsilon, double cos_theta);

/// Order, at step t of T: (sqrt(beta)/l_1+)^t sqrt(beta) sin(theta_0)/(T(T-t+1)) and
/// (l_k+/l_1+)^t l_k+ cos(theta_0)/(T(T-t+1)) (Xu 2023, Theorem 3.1).
HEARSAY_API Tolerance noise_xu_order(std::int64_t t, std::int64_t T, double lambda_1, double lambda_k, double beta,
                                     double h0);

/// The least of noise_xu_order over t = 0..T, each part on its own.
HEARSAY_API Tolerance noise_xu_worst_order(std::int64_t T, double lambda_1, double lambda_k, double beta, double h0);

// ---- Floors ---------------------------------------------------------------------------------------------------------

/// psi/(l_k - l_j): where tan(theta_k) ends under a constant push psi along u_j, for every admissible beta.
HEARSAY_API double floor_constant_push(double psi, double lambda_k, double lambda_j);

/// (1 - 4 beta/l_k^2)^{-1/4}: what momentum multiplies a white-noise floor by.
HEARSAY_API double white_amplification(double lambda_k, double beta);

/// sigma/sqrt(l_k^2 - l_j^2) * white_amplification: the standard deviation at which the component of H =
/// (U_-k'X)(U_k'X)^{-1} between u_k and u_j settles under i.i.d. N(0, sigma^2) noise (to first order in sigma).
HEARSAY_API double floor_white_entry(double sigma, double lambda_k, double lambda_j, double beta);

/// sqrt(E||H||_F^2) under i.i.d. N(0, sigma^2) noise: tan(theta_k) itself for k = 1, above it otherwise.
HEARSAY_API double floor_white(double sigma, std::span<const double> wanted, std::span<const double> unwanted,
                               double beta);

// ---- The statistical limit ------------------------------------------------------------------------------------------
// Averages of N/k products with k columns, each entry off by an independent N(0, sigma^2), go below every floor.

/// sigma sqrt(k)/((l_k - l_{k+1}) sqrt(N/k)): about sin(theta_k) after N columns, by the one eigenvalue that is near.
HEARSAY_API double statistical_limit(double sigma, std::int64_t rank, double lambda_k, double lambda_next,
                                     double products);

/// The same with every eigenvalue: the longest row or column of the expected errors sigma/((l_i - l_j) sqrt(N/k)),
/// which is the spectral norm within a factor 2.
HEARSAY_API double statistical_limit_of_spectrum(double sigma, std::span<const double> wanted,
                                                 std::span<const double> unwanted, double products);

/// N with statistical_limit(N) = epsilon: k (sigma sqrt(k)/((l_k - l_{k+1}) epsilon))^2.
HEARSAY_API double products_at_statistical_limit(double sigma, std::int64_t rank, double lambda_k, double lambda_next,
                                                 double epsilon);

// ---- Gossip ---------------------------------------------------------------------------------------------------------

/// omega = (1 - sqrt(gamma(2-gamma)))/(1 + sqrt(gamma(2-gamma))): the momentum of accelerated gossip.
HEARSAY_API double gossip_omega(double gamma);

/// What L rounds of accelerated gossip leave of the eigenvector of W with eigenvalue mu, |mu| <= 1 - gamma, exactly:
/// omega^{L/2} (U_L(x) - sqrt(omega) U_{L-1}(x)), x = mu/(1 - gamma), U the Chebyshev polynomials of the second kind.
HEARSAY_API double accelerated_gossip_factor(std::int64_t L, double mu, double gamma);

/// (1 + L (1 - sqrt(omega))) omega^{L/2}: its worst over the network where l_2(W) = 1 - gamma dominates.
HEARSAY_API double accelerated_gossip_contraction(std::int64_t L, double gamma);

/// (1 + L (1 + sqrt(omega))) omega^{L/2}: the same where l_n(W) = gamma - 1 dominates, and a bound for every W.
HEARSAY_API double accelerated_gossip_bound(std::int64_t L, double gamma);

/// (1 - sqrt(gamma))^L sqrt(n), as printed (Proposition accgossip). It FAILS: exceeded up to 1.71 times on the 4-ring.
HEARSAY_API double accelerated_gossip_as_printed(std::int64_t L, double gamma, std::int64_t agents);

/// 1/T_L((2 - hi - lo)/(hi - lo)): Chebyshev gossip on [lo, hi], which holds every eigenvalue of W but 1.
HEARSAY_API double chebyshev_gossip_contraction(std::int64_t L, double lo, double hi);

/// alpha_0 = 1/sqrt(1 + (epsilon/2 + h_0)^2) (ADePM theorem).
HEARSAY_API double alpha_0(Target target);

struct NetworkFacts {
  std::int64_t agents;  ///< n
  double gamma;         ///< spectral gap of W
  double local_norm;    ///< M = max_i ||A_i||, at least l_k
};

/// Guarantee: (6/sqrt(gamma)) log(11 sqrt(nk) (M/l_k) (l_k/(l_k - 2 sqrt(beta))) / (alpha_0 epsilon)) rounds give every
/// agent a sine of at most 2 epsilon (ADePM theorem, appendix): ask for half of what you want.
HEARSAY_API double gossip_rounds_adepm(const NetworkFacts& network, std::int64_t rank, double lambda_k, double beta,
                                       Target target);

/// Order: (1/sqrt(gamma)) log((M/l_k) (l_k/(l_k - l_{k+1})) / epsilon) (DePM; Table comp_depca).
HEARSAY_API double gossip_rounds_depm_order(const NetworkFacts& network, double lambda_k, double lambda_next,
                                            double epsilon);

/// Order: (1/sqrt(gamma)) log((M/l_k) (l_k/(l_k - l_{k+1}))) (DeEPCA; Table comp_depca).
HEARSAY_API double gossip_rounds_deepca_order(const NetworkFacts& network, double lambda_k, double lambda_next);

/// Prediction: the least L with accelerated_gossip_contraction(L) M/l_k <= epsilon, for DePM and ADePM: the
/// disagreement that one product leaves, relative to l_k.
HEARSAY_API std::int64_t predicted_gossip_rounds(const NetworkFacts& network, double lambda_k, double epsilon);

}  // namespace hearsay::theory
