"""What to expect before a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hearsay import _core
from hearsay._errors import InvalidArgument

__all__ = ["Figure", "Plan", "PlanRow", "PlanTraffic", "plan"]


class Figure(NamedTuple):
    """A number and how far it can be trusted."""

    value: float
    standing: str
    """guarantee (proved, constants included), order (proved up to a constant) or prediction (what practice shows)."""


class PlanTraffic(NamedTuple):
    """What one agent sends."""

    rounds_per_iteration: Figure
    rounds: Figure
    bytes_per_iteration: Figure
    bytes: Figure


@dataclass(frozen=True)
class PlanRow:
    """What the theory says of one method."""

    method: str
    momentum: float
    """beta; of A - shift I."""
    shift: float
    iterations: Figure
    predicted_iterations: Figure
    """Without noise."""
    noise_outside: Figure | None
    """The largest ||U_-k' Xi_t|| it bears at every step."""
    noise_inside: Figure | None
    """The largest ||U_k' Xi_t||."""
    reachable_epsilon: Figure | None
    """At the noise given: sin(theta_k) that is promised."""
    predicted_floor: Figure | None
    """At the noise given, all of it along u_{k+1} at every step."""
    predicted_white_floor: Figure | None
    """At white noise of that spectral norm."""
    block_columns: int
    traffic: PlanTraffic | None
    predicted_traffic: PlanTraffic | None


@dataclass(frozen=True)
class Plan:
    """Per method the iterations, the noise it bears and what the network carries. ``print(plan)`` shows a table."""

    epsilon: float
    start_tangent: float
    """Given, or of a random start."""
    rows: list[PlanRow]
    notes: list[str]
    products: Figure | None = None
    """Columns to multiply until averages reach epsilon at ``noise_sigma``, beside those of the transient."""

    def __str__(self) -> str:
        network = any(row.traffic for row in self.rows)
        lines = [f"to sin(theta) <= {self.epsilon:g} from tan(theta) = {self.start_tangent:.4g}", ""]
        lines.append(
            f"{'method':<34}{'iterations':>14}{'predicted':>12}{'noise borne':>14}" + ("rounds".rjust(12) * network)
        )
        for row in self.rows:
            noise = "" if row.noise_outside is None else f"{row.noise_outside.value:.3g}{_mark(row.noise_outside)}"
            line = (
                f"{row.method:<34}{row.iterations.value:>13.0f}{_mark(row.iterations)}"
                f"{row.predicted_iterations.value:>12.0f}{noise:>14}"
            )
            if network:
                line += f"{row.predicted_traffic.rounds.value:>12.0f}" if row.predicted_traffic else " " * 12
            lines.append(line.rstrip())
        if self.products is not None:
            lines += ["", f"products, averaged: {self.products.value:.0f} columns"]
        lines += ["", "! guaranteed   ~ up to a constant"] + [f"- {note}" for note in self.notes]
        return "\n".join(lines)


def _mark(figure: Figure) -> str:
    return {"guarantee": "!", "order": "~"}.get(figure.standing, " ")


def plan(
    *,
    dimension: int,
    rank: int,
    lambda_k: float | None = None,
    lambda_next: float | None = None,
    lambda_1: float | None = None,
    eigenvalues: Sequence[float] | None = None,
    epsilon: float = 0.01,
    start_tangent: float | None = None,
    noise_level: float | None = None,
    noise_sigma: float | None = None,
    small_beta: float | None = None,
    agents: int | None = None,
    gossip_gap: float = 1.0,
    max_norm: float | None = None,
    degree: float = 2.0,
) -> Plan:
    """Everything the theory says before anything is run: iterations, noise tolerated, gossip rounds.

    Parameters
    ----------
    dimension, rank : int
        d and k.
    lambda_1, lambda_k, lambda_next : float
        The largest eigenvalue (lambda_k, if not given), the smallest one wanted and the largest one not wanted.
    eigenvalues : sequence of float, optional
        All d of them, instead of the three; they also give the white-noise floor.
    epsilon : float
        The sine of the largest angle to reach.
    start_tangent : float, optional
        tan(theta_k) at the start; that of a random start if not given.
    noise_level : float, optional
        A bound on the spectral norm of the noise.
    noise_sigma : float, optional
        The standard deviation of independent errors in every entry of a product: ``products`` then says how many
        columns averages need.
    small_beta : float, optional
        Adds a row for this smaller momentum.
    agents, gossip_gap, max_norm, degree
        Of a network: its size, the spectral gap of its gossip matrix, the largest norm of an agent's own matrix
        (lambda_1, if not given), and neighbours per agent.

    Examples
    --------
    >>> import hearsay
    >>> plan = hearsay.plan(dimension=1000, rank=10, lambda_k=1, lambda_next=0.99)
    >>> for row in plan.rows[:3]:
    ...     print(row.method, round(row.predicted_iterations.value))
    NPM (Hardt and Price) 983
    ANPM (Xu 2023) 70
    ANPM 70
    """
    known = [] if eigenvalues is None else sorted((float(value) for value in eigenvalues), reverse=True)
    if known:
        if len(known) != dimension or not 1 <= rank < dimension:
            raise InvalidArgument(
                f"eigenvalues: {len(known)} were given, and there must be {dimension}, more than the rank"
            )
        lambda_1, lambda_k, lambda_next = known[0], known[rank - 1], known[rank]
    if lambda_k is None or lambda_next is None:
        raise InvalidArgument("lambda_k, lambda_next: must be given, or all eigenvalues to take them from")
    made: dict[str, Any] = _core.plan(
        dimension,
        rank,
        float(lambda_k if lambda_1 is None else lambda_1),
        float(lambda_k),
        float(lambda_next),
        known,
        epsilon,
        start_tangent,
        noise_level,
        noise_sigma,
        small_beta,
        agents,
        gossip_gap,
        max_norm,
        degree,
    )
    products = made["products"]
    return Plan(
        epsilon,
        made["start_tangent"],
        [_row(row) for row in made["rows"]],
        made["notes"],
        None if products is None else Figure(*products),
    )


def _row(row: dict[str, Any]) -> PlanRow:
    def read(value: Any) -> Any:
        if isinstance(value, tuple):
            return Figure(*value)
        if isinstance(value, dict):
            return PlanTraffic(**{key: Figure(*figure) for key, figure in value.items()})
        return value

    return PlanRow(**{key: read(value) for key, value in row.items()})
