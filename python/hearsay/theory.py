"""Every number the theory promises, as functions of plain numbers.

Letters are the paper's: lambda_k the smallest eigenvalue wanted, lambda_next the largest not wanted, beta the momentum,
Delta = (lambda_k - 2 sqrt(beta))/lambda_k, start_tangent = h_0 = tan(theta_k) at the start, epsilon the sine to reach;
of a network, gamma is the spectral gap of its gossip matrix. A guarantee is proved, constants included; an order is
proved up to a constant nobody states; a prediction is what practice shows. Numbers out of range raise InvalidArgument.

>>> from hearsay import theory
>>> beta = theory.optimal_beta(0.99)
>>> round(theory.iterations_npm(1.0, 0.99, 1e-2, 100.0)), round(theory.iterations_anpm(1.0, beta, 1e-2, 100.0))
(1090, 193)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hearsay._core import theory as _theory

NOISE_CONSTANT: float = _theory.noise_constant
"""c = 1/32 of the noise conditions."""
START_CONSTANT: float = _theory.start_constant
"""c_1 = 31/15 of the envelope."""
SMALL_BETA_CONSTANT: float = _theory.small_beta_constant
"""c_2 = 217/240 of the small-beta theorem."""


class Tolerance(NamedTuple):
    """Bounds on the two parts of the noise, in spectral norm."""

    outside: float
    """On ||U_-k' Xi_t||."""
    inside: float
    """On ||U_k' Xi_t||."""


class Damped(NamedTuple):
    """The problem the recurrence sees."""

    shift: float
    """Subtracted from A: edge/2 centred, 0 symmetric."""
    lambda_k: float
    beta: float
    delta: float


# Below: written by ./dev theory from the table in python/src/theory.cpp.

__all__ = [
    "NOISE_CONSTANT",
    "SMALL_BETA_CONSTANT",
    "START_CONSTANT",
    "Damped",
    "Tolerance",
    "accelerated_gossip_as_printed",
    "accelerated_gossip_bound",
    "accelerated_gossip_contraction",
    "accelerated_gossip_factor",
    "alpha_0",
    "asymptotic_rate",
    "chebyshev_gossip_contraction",
    "contraction_anpm",
    "contraction_npm",
    "contraction_small_beta",
    "damped",
    "delta",
    "envelope",
    "envelope_as_printed",
    "f_delta",
    "floor_constant_push",
    "floor_white",
    "floor_white_entry",
    "gossip_omega",
    "gossip_rounds_adepm",
    "gossip_rounds_deepca_order",
    "gossip_rounds_depm_order",
    "iterations_anpm",
    "iterations_hardt_price_order",
    "iterations_npm",
    "iterations_small_beta",
    "iterations_xu_order",
    "log_abs_p",
    "log_abs_q",
    "lower_bound_tangent",
    "noise_anpm",
    "noise_npm",
    "noise_xu_order",
    "noise_xu_worst_order",
    "optimal_beta",
    "p",
    "predicted_gossip_rounds",
    "predicted_iterations",
    "products_at_statistical_limit",
    "q",
    "random_start_tangent",
    "roots",
    "statistical_limit",
    "statistical_limit_of_spectrum",
    "upper_root",
    "white_amplification",
    "worst_cosine",
]


def roots(x: float, beta: float) -> tuple[complex, complex]:
    """x+ and x-: the roots of z^2 - x z + beta, the larger in magnitude first."""
    return _theory.roots(x, beta)


def upper_root(x: float, beta: float) -> float:
    """x+ where it is real and positive: x >= 2 sqrt(beta)."""
    return _theory.upper_root(x, beta)


def p(t: int, x: float, beta: float) -> float:
    """p_t(x) = ((x+)^t + (x-)^t)/2: p_0 = 1, p_1 = x/2, p_{t+1} = x p_t - beta p_{t-1}.

    >>> [round(p(t, 2.0, 0.25), 12) for t in range(4)]
    [1.0, 1.0, 1.75, 3.25]
    """
    return _theory.p(t, x, beta)


def q(t: int, x: float, beta: float) -> float:
    """q_t(x), of the same recurrence from q_0 = 1, q_1 = x."""
    return _theory.q(t, x, beta)


def log_abs_p(t: int, x: float, beta: float) -> float:
    """log|p_t(x)|, where p_t itself may leave the range of a float."""
    return _theory.log_abs_p(t, x, beta)


def log_abs_q(t: int, x: float, beta: float) -> float:
    """log|q_t(x)|, where q_t itself may leave the range of a float."""
    return _theory.log_abs_q(t, x, beta)


def optimal_beta(lambda_next: float) -> float:
    """beta* = lambda_{k+1}^2/4, the best momentum under symmetric damping.

    >>> optimal_beta(0.5)
    0.0625
    """
    return _theory.optimal_beta(lambda_next)


def delta(lambda_k: float, beta: float) -> float:
    """Delta = (lambda_k - 2 sqrt(beta))/lambda_k."""
    return _theory.delta(lambda_k, beta)


def f_delta(delta: float) -> float:
    """f(Delta) = 2/(sqrt(2 - Delta) + sqrt(Delta))."""
    return _theory.f_delta(delta)


def contraction_anpm(lambda_k: float, beta: float) -> float:
    """1 - sqrt(Delta)/2: the factor per step that the main theorem promises."""
    return _theory.contraction_anpm(lambda_k, beta)


def contraction_small_beta(lambda_k: float, lambda_next: float, beta: float) -> float:
    """The factor per step promised for 2 sqrt(beta) < lambda_{k+1}."""
    return _theory.contraction_small_beta(lambda_k, lambda_next, beta)


def contraction_npm(lambda_k: float, lambda_next: float) -> float:
    """The factor per step promised without momentum."""
    return _theory.contraction_npm(lambda_k, lambda_next)


def asymptotic_rate(lambda_k: float, lambda_next: float, beta: float) -> float:
    """The exact exponential rate without noise."""
    return _theory.asymptotic_rate(lambda_k, lambda_next, beta)


def damped(lambda_k: float, edge: float, damping: str = "centred") -> Damped:
    """The problem the recurrence sees once [0, edge] (centred) or [-edge, edge] (symmetric) has been damped."""
    return _theory.damped(lambda_k, edge, damping)


def iterations_anpm(lambda_k: float, beta: float, epsilon: float, start_tangent: float) -> float:
    """Guarantee: log(2 h_0/epsilon) / -log(1 - sqrt(Delta)/2) (main theorem).

    >>> round(iterations_anpm(1.0, optimal_beta(0.99), 1e-2, 100.0))
    193
    """
    return _theory.iterations_anpm(lambda_k, beta, epsilon, start_tangent)


def iterations_small_beta(
    lambda_k: float, lambda_next: float, beta: float, epsilon: float, start_tangent: float
) -> float:
    """Guarantee, for 2 sqrt(beta) < lambda_{k+1}."""
    return _theory.iterations_small_beta(lambda_k, lambda_next, beta, epsilon, start_tangent)


def iterations_npm(lambda_k: float, lambda_next: float, epsilon: float, start_tangent: float) -> float:
    """Guarantee, without momentum."""
    return _theory.iterations_npm(lambda_k, lambda_next, epsilon, start_tangent)


def iterations_hardt_price_order(lambda_k: float, lambda_next: float, epsilon: float) -> float:
    """Order: lambda_k/(lambda_k - lambda_{k+1}) log(1/epsilon) (Hardt and Price)."""
    return _theory.iterations_hardt_price_order(lambda_k, lambda_next, epsilon)


def iterations_xu_order(lambda_k: float, beta: float, epsilon: float, start_tangent: float) -> float:
    """Order: sqrt(lambda_k/(lambda_k - 2 sqrt(beta))) log(h_0/epsilon) (Xu 2023)."""
    return _theory.iterations_xu_order(lambda_k, beta, epsilon, start_tangent)


def predicted_iterations(rate: float, epsilon: float, start_tangent: float) -> float:
    """Prediction: log(h_0/epsilon)/rate, with the rate of asymptotic_rate."""
    return _theory.predicted_iterations(rate, epsilon, start_tangent)


def random_start_tangent(dimension: int, rank: int, tau: float = 1.0) -> float:
    """tau sqrt(d)/(sqrt(k) - sqrt(k-1)): a bound on tan(theta_k) of a random start, for most."""
    return _theory.random_start_tangent(dimension, rank, tau)


def envelope(t: int, lambda_k: float, beta: float, epsilon: float, start_tangent: float) -> float:
    """epsilon/2 + c_1 h_0 (1 - sqrt(Delta)/2)^t: tan(theta_k) stays below it while the noise is allowed."""
    return _theory.envelope(t, lambda_k, beta, epsilon, start_tangent)


def envelope_as_printed(t: int, lambda_k: float, beta: float, epsilon: float, start_tangent: float) -> float:
    """The same without c_1, as the paper prints it; it fails for small t and Delta < 1/4."""
    return _theory.envelope_as_printed(t, lambda_k, beta, epsilon, start_tangent)


def worst_cosine(epsilon: float, start_tangent: float) -> float:
    """cos(theta_k) never falls below this while the noise is allowed."""
    return _theory.worst_cosine(epsilon, start_tangent)


def lower_bound_tangent(t: int, lambda_k: float, beta: float, start_tangent: float) -> float:
    """Exactly tan(theta_k) at step t on diag(lambda_k, ..., 2 sqrt(beta), ...) without noise."""
    return _theory.lower_bound_tangent(t, lambda_k, beta, start_tangent)


def noise_anpm(lambda_k: float, beta: float, epsilon: float, cos_theta: float) -> Tolerance:
    """What the main theorem allows: c (lambda_k - 2 sqrt(beta)) times epsilon, and times cos(theta_k)."""
    return _theory.noise_anpm(lambda_k, beta, epsilon, cos_theta)


def noise_npm(lambda_k: float, lambda_next: float, epsilon: float, cos_theta: float) -> Tolerance:
    """What is allowed for small beta, and without momentum."""
    return _theory.noise_npm(lambda_k, lambda_next, epsilon, cos_theta)


def noise_xu_order(
    t: int, iterations: int, lambda_1: float, lambda_k: float, beta: float, start_tangent: float
) -> Tolerance:
    """Order, at step t of so many: what the earlier analysis allows (Xu 2023)."""
    return _theory.noise_xu_order(t, iterations, lambda_1, lambda_k, beta, start_tangent)


def noise_xu_worst_order(
    iterations: int, lambda_1: float, lambda_k: float, beta: float, start_tangent: float
) -> Tolerance:
    """The least of noise_xu_order over all steps."""
    return _theory.noise_xu_worst_order(iterations, lambda_1, lambda_k, beta, start_tangent)


def floor_constant_push(psi: float, lambda_k: float, lambda_j: float) -> float:
    """psi/(lambda_k - lambda_j): where tan(theta_k) ends under a constant push psi along u_j."""
    return _theory.floor_constant_push(psi, lambda_k, lambda_j)


def white_amplification(lambda_k: float, beta: float) -> float:
    """(1 - 4 beta/lambda_k^2)^(-1/4): what momentum multiplies a white-noise floor by."""
    return _theory.white_amplification(lambda_k, beta)


def floor_white_entry(sigma: float, lambda_k: float, lambda_j: float, beta: float) -> float:
    """Where the component between u_k and u_j settles under N(0, sigma^2) noise."""
    return _theory.floor_white_entry(sigma, lambda_k, lambda_j, beta)


def floor_white(sigma: float, wanted: Sequence[float], unwanted: Sequence[float], beta: float) -> float:
    """sqrt(E||H||_F^2) under N(0, sigma^2) noise: tan(theta_k) itself for k = 1, above it otherwise."""
    return _theory.floor_white(sigma, wanted, unwanted, beta)


def statistical_limit(sigma: float, rank: int, lambda_k: float, lambda_next: float, products: float) -> float:
    """sigma sqrt(k)/((lambda_k - lambda_{k+1}) sqrt(N/k)): about sin(theta_k) after N columns, averaged.

    >>> round(statistical_limit(1e-5, 10, 1.0, 0.99, 4000), 6)
    0.000158
    """
    return _theory.statistical_limit(sigma, rank, lambda_k, lambda_next, products)


def statistical_limit_of_spectrum(
    sigma: float, wanted: Sequence[float], unwanted: Sequence[float], products: float
) -> float:
    """The same with every eigenvalue, within a factor 2."""
    return _theory.statistical_limit_of_spectrum(sigma, wanted, unwanted, products)


def products_at_statistical_limit(
    sigma: float, rank: int, lambda_k: float, lambda_next: float, epsilon: float
) -> float:
    """Columns to multiply until averages reach epsilon: k (sigma sqrt(k)/((lambda_k - lambda_{k+1}) epsilon))^2."""
    return _theory.products_at_statistical_limit(sigma, rank, lambda_k, lambda_next, epsilon)


def gossip_omega(gamma: float) -> float:
    """The momentum of accelerated gossip at spectral gap gamma."""
    return _theory.gossip_omega(gamma)


def accelerated_gossip_factor(rounds: int, mu: float, gamma: float) -> float:
    """What so many rounds leave of the eigenvector of W with eigenvalue mu, exactly."""
    return _theory.accelerated_gossip_factor(rounds, mu, gamma)


def accelerated_gossip_contraction(rounds: int, gamma: float) -> float:
    """Its worst where the second eigenvalue of W dominates."""
    return _theory.accelerated_gossip_contraction(rounds, gamma)


def accelerated_gossip_bound(rounds: int, gamma: float) -> float:
    """A bound on it for every W."""
    return _theory.accelerated_gossip_bound(rounds, gamma)


def accelerated_gossip_as_printed(rounds: int, gamma: float, agents: int) -> float:
    """(1 - sqrt(gamma))^L sqrt(n), as the paper prints it; it is exceeded up to 1.71 times on the 4-ring."""
    return _theory.accelerated_gossip_as_printed(rounds, gamma, agents)


def chebyshev_gossip_contraction(rounds: int, lo: float, hi: float) -> float:
    """1/T_L((2 - hi - lo)/(hi - lo)): Chebyshev gossip on [lo, hi], which holds every eigenvalue of W but 1."""
    return _theory.chebyshev_gossip_contraction(rounds, lo, hi)


def alpha_0(epsilon: float, start_tangent: float) -> float:
    """1/sqrt(1 + (epsilon/2 + h_0)^2) (ADePM theorem)."""
    return _theory.alpha_0(epsilon, start_tangent)


def gossip_rounds_adepm(
    agents: int,
    gamma: float,
    local_norm: float,
    rank: int,
    lambda_k: float,
    beta: float,
    epsilon: float,
    start_tangent: float,
) -> float:
    """Guarantee: rounds per iteration after which every agent's sine is at most 2 epsilon (ADePM theorem)."""
    return _theory.gossip_rounds_adepm(agents, gamma, local_norm, rank, lambda_k, beta, epsilon, start_tangent)


def gossip_rounds_depm_order(
    agents: int, gamma: float, local_norm: float, lambda_k: float, lambda_next: float, epsilon: float
) -> float:
    """Order, of DePM."""
    return _theory.gossip_rounds_depm_order(agents, gamma, local_norm, lambda_k, lambda_next, epsilon)


def gossip_rounds_deepca_order(
    agents: int, gamma: float, local_norm: float, lambda_k: float, lambda_next: float
) -> float:
    """Order, of DeEPCA."""
    return _theory.gossip_rounds_deepca_order(agents, gamma, local_norm, lambda_k, lambda_next)


def predicted_gossip_rounds(agents: int, gamma: float, local_norm: float, lambda_k: float, epsilon: float) -> int:
    """Prediction, for DePM and ADePM: the least L that brings one product's disagreement below epsilon."""
    return _theory.predicted_gossip_rounds(agents, gamma, local_norm, lambda_k, epsilon)
