"""What a solve gives back beside its answer: why it ended, how good it is, what it cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from hearsay import _core

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Certificate",
    "Cluster",
    "DecentralizedInfo",
    "EigshResult",
    "ErrorBar",
    "Info",
    "Outcome",
    "Rung",
    "Traffic",
]

Array = npt.NDArray[Any]

HISTORY = np.dtype(
    [("t", np.int64)]
    + [
        (name, np.float64)
        for name in ("momentum", "edge", "residual", "noise", "theta_1", "theta_k", "theta_next", "sin_theta")
    ]
)

DECENTRALIZED_HISTORY = np.dtype(
    [(name, np.int64) for name in ("t", "rounds", "bytes", "rounds_next")]
    + [(name, np.float64) for name in ("residual", "disagreement", "momentum", "sin_theta")]
)


def history_table(numbers: Array, dtype: np.dtype[Any]) -> Array:
    """One record per iteration, its columns by name: history["residual"]."""
    table = np.empty(len(numbers), dtype=dtype)
    for column, name in enumerate(dtype.names or ()):
        table[name] = numbers[:, column]
    return table


Word = Literal["unknown", "estimate", "bound"]
"""bound: a theorem applies, perhaps except with a small probability; estimate: calibrated, and counted how often it is
exceeded; or unknown."""


@dataclass(frozen=True)
class Rung:
    """What one rung of a climb on a device did."""

    products: str
    """What products were made in: fp16, tf32, single or double."""
    corrected: bool
    """Only the first, and a few more, were such products; the others were rounded products of the residual."""
    blocks: str
    """The precision of vectors."""
    passes: int
    columns: int
    """Multiplied by the matrix."""
    seconds: float
    sin_theta: float | None
    """Estimated at its end, rounding included; None where nobody looked."""
    rounding: float | None
    """Of a product's column, as measured at its end."""
    at_floor: bool
    """It ended because rounding allowed no better."""


@dataclass(frozen=True)
class Cluster:
    """Eigenvalues that the measurements cannot tell apart, counted from 1, where k cuts through them."""

    first: int
    last: int
    open: bool
    """It may go on beyond ``last``: the block ended there."""
    spread: float
    """The most by which two of them (of LM, their magnitudes) differ, residuals included, relative to
    ``info.norm_seen``; NaN where the space was too small to say."""
    sin_theta: float
    """Of the space of the first ``last`` eigenvectors, which k does not cut; NaN where that is not known."""
    kind: Word
    """Of ``sin_theta``."""
    low: bool = False
    """Counted from the low end of the spectrum."""

    def __str__(self) -> str:
        more, end = " or more" if self.open else "", " from the low end" if self.low else ""
        agree = "were not told apart" if np.isnan(self.spread) else f"agree to {self.spread:.2g}"
        return f"eigenvalues {self.first} to {self.last}{more}{end} {agree}"

    def space(self) -> str:
        """One sentence on the space that k does not cut."""
        if self.kind == "unknown" or np.isnan(self.sin_theta):
            return f"how right the space of the first {self.last} is, is unknown"
        if self.kind == "estimate":
            return f"the space of the first {self.last} is right to about {self.sin_theta:.2g} (estimate)"
        return f"the space of the first {self.last} is certain to {self.sin_theta:.2g} (bound)"


@dataclass(frozen=True)
class Certificate:
    """How right a result is, with bound, estimate and unknown kept apart. ``str(certificate)`` says it in words."""

    level: Literal["none", "residual", "full"]
    """How much of it was made (``certify``)."""
    residual: float
    """||A V - V Theta||_F of exactly the basis returned, in the units of the eigenvalues."""
    rounding: float
    """What the arithmetic may hide of it, in the same units."""
    sin_theta: Word
    """The strongest of the next two that says something."""
    sin_theta_bound: float
    """sin(theta) is at most this: residual over the gap that is proved; infinite where none is."""
    sin_theta_estimate: float
    """The same theorem with Ritz values in place of what is proved; NaN where there is none."""
    nothing_missed: Word
    """Of what is said next, at every end that the answer may come from."""
    nothing_missed_above: float
    """At most ``nothing_missed_count`` eigenvalues lie above this, which is infinite where nothing is said..."""
    nothing_missed_count: int
    nothing_missed_probability: float
    """... except with this probability."""
    random_columns: int
    """That would have shown it."""
    probe_passes: int
    """Readings of the matrix spent on that alone."""
    probe_products: int
    """Columns multiplied for that alone."""
    cluster: Cluster | None
    """Where the result is ambiguous."""
    assumptions: tuple[str, ...]
    """What the words above rest on."""
    nothing_missed_below: float = -np.inf
    """At most ``nothing_missed_count_below`` eigenvalues lie below this, except with that probability."""
    nothing_missed_count_below: int = 0

    def sine(self) -> str:
        """What is known of sin(theta): "at most 3e-09 (bound), about 8e-10 (estimate)", or "unknown"."""
        about = f"about {self.sin_theta_estimate:.2g} (estimate)" if np.isfinite(self.sin_theta_estimate) else ""
        if self.sin_theta == "bound":
            return ", ".join(filter(None, [f"at most {self.sin_theta_bound:.2g} (bound)", about]))
        return about if self.sin_theta == "estimate" else "unknown"

    def missed(self) -> str:
        """One sentence on eigenvalues that may have been missed."""
        if self.nothing_missed == "unknown":
            return "whether an eigenvalue was missed is unknown"
        above = f"{self.nothing_missed_count} eigenvalues lie above {self.nothing_missed_above:.4g}"
        below = f"{self.nothing_missed_count_below} eigenvalues lie below {self.nothing_missed_below:.4g}"
        ends = [above] * bool(np.isfinite(self.nothing_missed_above)) + [below] * bool(
            np.isfinite(self.nothing_missed_below)
        )
        said = f"at most {' and '.join(ends)}"
        if self.nothing_missed == "bound" and self.nothing_missed_probability > 0:
            said += f", except with probability {self.nothing_missed_probability:.2g}"
        return f"{said} ({self.nothing_missed})"

    def __str__(self) -> str:
        lines = [f"sin(theta) is {self.sine()}", self.missed()]
        if self.cluster is not None:
            lines += [f"{self.cluster}; {self.cluster.space()}"]
        return "\n".join(lines)


def certificate_from(made: dict[str, Any]) -> Certificate:
    cluster = made["cluster"]
    return Certificate(**{**made, "cluster": None if cluster is None else Cluster(**cluster)})


@dataclass(frozen=True, eq=False)
class ErrorBar:
    """How far an answer from averaged noisy products is from the truth, by what the products themselves show.

    ``str(bar)`` says it in words.
    """

    kind: Literal["none", "calibrated", "indicative", "bound"]
    """none: too few products were averaged; calibrated: the errors look independent, and how often the bar is off was
    counted; indicative: a bias or a drift shows, and what is common to all products is not in the bar; bound:
    ``noise_norm``, over the gap that was seen, is in it."""
    sin_theta: float
    """Of the basis that is returned; at most 1."""
    inside: float
    """Its part within the block that was averaged."""
    outside: float
    """Its part beyond that block."""
    last_block: float
    """sin(theta) from the answer to the last block alone."""
    bias: float
    """The asymmetry of the averaged X'AX over what independent errors leave of it: about 1; above 3 it is a bias."""
    drift: bool
    """Earlier and later averages differ by more than their scatter explains."""
    steps: int
    """Products with the block that are in the averages."""
    products_needed: float
    """Columns to multiply for the accuracy that was asked for, about; NaN where none was."""
    vectors: Array
    """Of each eigenvector by itself: the sine of its angle."""
    eigenvalues: Array
    """Standard errors by scatter alone: each block is tilted by its noise, so that at large noise eigenvalues come out
    too low by more than this."""
    resolved: int
    """So many eigenvectors, from the first, have a bar below 1/2."""

    @property
    def exists(self) -> bool:
        return self.kind != "none"

    def __str__(self) -> str:
        if not self.exists:
            return "unknown: too few products were averaged"
        if self.kind == "bound":
            if self.sin_theta < 1:
                return f"at most {self.sin_theta:.2g}, by the noise norm given"
            return "unknown: the noise norm given is no less than half the gap"
        if self.sin_theta > _core.unresolved_sine:
            return f"not resolved: the error bar is {self.sin_theta:.2g}"
        if self.kind == "indicative":
            why = "the averages drift" if self.drift else "the errors are not independent"
            return f"about {self.sin_theta:.2g}, indicative: {why}"
        within = f"within a factor {_core.bar_factor:g} with {_core.bar_confidence:g}% confidence"
        return f"{self.sin_theta:.2g}, {within}"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What every solve can say of itself."""

    status: str
    """Why it ended: converged, noise_floor, rounding_floor, ambiguous, iteration_limit, stopped_by_observer, breakdown
    or, of agents, communication_failed."""
    interrupted: bool
    """Ctrl-C ended it."""
    iterations: int
    residual: float
    """Of the basis that is returned: ||A V - V V'AV||_F / ||A V||_F."""
    tolerance: float
    """What the residual was held against."""
    momentum: float
    """beta of the last accelerated step."""
    history: Array
    """One record per iteration."""
    notes: list[str]
    """What was chosen or noticed on the way."""

    @property
    def converged(self) -> bool:
        return self.status == "converged"

    def why(self) -> str:
        """One sentence on why it ended."""
        after = self._after()
        if self.status == "converged":
            return f"converged {after}, which meets {self._met()}"
        if self.status == "noise_floor":
            return f"stopped {after}, {self._unmet()}: the errors of the products allow no better"
        if self.status == "rounding_floor":
            return f"stopped {after}, {self._unmet()}: the arithmetic allows no better"
        if self.status == "ambiguous":
            return f"stopped {after}: {self._ambiguity()}"
        if self.status == "iteration_limit":
            limit = "at the limit of its iterations or products: it would have gone on (max_iter, products)"
            return f"stopped {after}, {self._unmet()}, {limit}"
        if self.status == "breakdown":
            return f"stopped {after}: a product was not finite, and this is the best basis before it"
        if self.status == "communication_failed":
            return f"stopped {after}: communication failed, and too little was heard to say anything"
        by = "Ctrl-C" if self.interrupted else "the callback"
        return f"stopped by {by} {after}: this is the best basis so far"

    def _after(self) -> str:
        return f"after {self.iterations} iterations at a residual of {self.residual:.3g}"

    def _met(self) -> str:
        return f"the tolerance {self.tolerance:.3g}"

    def _unmet(self) -> str:
        """What kept it from converging."""
        if self.residual <= self.tolerance:
            return f"which meets the tolerance {self.tolerance:.3g} but does not settle what the answer is"
        return f"above the tolerance {self.tolerance:.3g}"

    def _ambiguity(self) -> str:
        return "the k-th eigenvalue and the next cannot be told apart"

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(status={self.status!r}, iterations={self.iterations}, residual={self.residual:.3g})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Info(Outcome):
    """How a solve went. ``str(info)`` is a short account of it, ``info.plot()`` draws its convergence."""

    method: str
    """anpm, npm, averaged (noisy products) or krylov (exact ones, and nothing was asked of the iteration)."""
    eigenvalues: Array
    """As returned."""
    noise_floor: float
    """The residual's plateau, if it ended there; else NaN."""
    noise_level: float
    """The standard deviation of an entry's error in a product, as the asymmetry of X'AX betrays it."""
    gap: float
    """The k-th eigenvalue less the next."""
    sin_theta_estimate: float
    """About the largest sine between the basis and the true subspace, at most 1. Of averaged products the error bar; of
    noisy ones that were not averaged residual over gap; of exact ones sharper."""
    certificate: Certificate
    """How right all this is."""
    edge: float
    """b: eigenvalues up to here were damped."""
    damping: str
    extraction: str
    columns: int
    """p: columns of the block."""
    cooldown_steps: int
    products: int
    """Block columns multiplied by the matrix."""
    passes: int
    """Times the matrix was read."""
    workspace_bytes: int
    exponent: int
    """Not zero where eigenvalues leave the range of the number type: they are then given divided by 2^exponent."""
    seconds: float
    """Of the compiled solve, conversions left out."""
    accuracy: float | None = None
    """What sin(theta) was held against, where it was."""
    error_bar: ErrorBar | None = None
    """Of noisy products that were averaged; else None."""
    which: str = "LA"
    """Which eigenvalues were asked for."""
    shift_found: float = 0.0
    """Where a power iteration met a negative eigenvalue: A + this I was solved, of SA -A + this I."""
    norm_seen: float = 0.0
    """The largest magnitude of an eigenvalue that was seen, wanted or not, less the shift."""
    device: str = "cpu"
    """Where products were made."""
    rungs: tuple[Rung, ...] = ()
    """On a device, what each rung of the climb did."""

    def why(self) -> str:
        """One sentence on why it ended."""
        if self.status == "noise_floor" and self.error_bar is not None:
            return f"stopped {self._after()}: {self._unmet()}; so many products allow no better"
        return super().why()

    def _sine(self) -> str:
        """Of averaged products the error bar; where no certificate was made, the solver's own estimate stands alone."""
        if self.error_bar is not None:
            return str(self.error_bar)
        if self.certificate.level == "none" and np.isfinite(self.sin_theta_estimate):
            return f"about {self.sin_theta_estimate:.2g} (estimate)"
        return self.certificate.sine()

    def _after(self) -> str:
        """The residual of an averaged answer is that of one more noisy product, and says little."""
        if self.error_bar is None:
            return super()._after()
        return f"after {self.iterations} iterations, {self.error_bar.steps} of them averaged"

    def _met(self) -> str:
        if self.error_bar is not None and self.accuracy:
            return f"the accuracy {self.accuracy:.3g}: sin(theta) is {self.error_bar}"
        met = super()._met()
        return f"{met}; sin(theta), {self._sine()}, the accuracy {self.accuracy:.3g}" if self.accuracy else met

    def _unmet(self) -> str:
        if self.error_bar is not None:
            if not self.accuracy:
                return f"sin(theta) is {self.error_bar}"
            met = "is not known to meet" if self.error_bar.sin_theta <= self.accuracy else "does not meet"
            return f"sin(theta) is {self.error_bar}; it {met} the accuracy {self.accuracy:.3g}"
        if self.accuracy and self.residual <= self.tolerance:
            return (
                f"which meets the tolerance {self.tolerance:.3g}, while sin(theta), {self._sine()}, is not known to "
                f"meet the accuracy {self.accuracy:.3g}"
            )
        return super()._unmet()

    def _ambiguity(self) -> str:
        cluster = self.certificate.cluster
        if cluster is None:
            return super()._ambiguity()
        return f"{cluster}, and k = {len(self.eigenvalues)} cuts through them; {cluster.space()}"

    def __str__(self) -> str:
        lines = [self.why()]
        lines += [f"  eigenvalues  {', '.join(f'{value:.6g}' for value in self.eigenvalues[:6])}"]
        lines += [f"  sin(theta)   {self._sine()}"]
        if self.error_bar is not None:
            lines += [f"  averages     of {self.error_bar.steps} products with {self.columns} columns"]
            if self.error_bar.exists:
                lines[-1] += f"; {self.error_bar.resolved} of {len(self.eigenvalues)} eigenvectors are resolved"
        lines += [f"  missed       {self.certificate.missed()}"]
        if self.certificate.cluster is not None:
            lines += [f"  cluster      {self.certificate.cluster}; {self.certificate.cluster.space()}"]
        lines += [f"  cost         {self.passes} passes, {self.products} columns multiplied, {self.seconds:.3g} s"]
        return "\n".join(lines + [f"  note         {note}" for note in self.notes])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the convergence (``hearsay.plots.convergence``)."""
        from hearsay import plots

        return plots.convergence(self, ax=ax)


class EigshResult(NamedTuple):
    """values, vectors, info = hearsay.eigsh(...)"""

    values: Array
    """k eigenvalues, in the order of ``which``: of LA descending."""
    vectors: Array
    """d x k, orthonormal: a column per value, its largest entry positive."""
    info: Info

    def plot(self, ax: Axes | None = None) -> Axes:
        return self.info.plot(ax)


class AgentsErrorBar(NamedTuple):
    """How far the worst agent's components are from the truth, where the agents did not converge."""

    kind: Literal["none", "calibrated", "indicative", "bound"]
    """indicative: it is no less than the error as far as was measured, and often several times as much."""
    sin_theta: float
    """Of the worst agent; at most 1."""
    spread: float
    """The largest sin(theta) between an agent's basis and one that all of them hold."""
    common: float
    """That one's residual with everyone's data, over the gaps."""


def agents_bar_from(made: tuple[Any, ...] | None) -> AgentsErrorBar | None:
    return None if made is None else AgentsErrorBar(*made)


class Traffic(NamedTuple):
    """What a whole network has sent."""

    rounds: int
    """That carried blocks."""
    control_rounds: int
    """That carried votes alone."""
    messages: int
    bytes: int


@dataclass(frozen=True, eq=False, repr=False)
class DecentralizedInfo(Outcome):
    """How a decentralized solve went."""

    bases: list[Array]
    """d x k of each agent."""
    eigenvalues: Array
    """agents x k, descending."""
    exponent: int
    """Not zero where eigenvalues leave the range of the number type: they are then given divided by 2^exponent."""
    disagreement: float
    agreement: float
    """The largest sin(theta) between two agents."""
    evidence: str
    """What the residual is: a bound, an estimate or unknown."""
    eigenvalue_agreement: float
    """The largest difference between two agents' eigenvalues, relative to their norm."""
    defined_rank: int
    """Leading components that the data define as a subspace: all, or fewer where the status is ambiguous."""
    defined_agreement: float
    """As agreement, of these alone."""
    cluster: tuple[int, int] | None
    """First and last, counted from 1, of the eigenvalues around the last component that cannot be told apart."""
    rounds_per_iteration: int
    restarts: int
    """Times the rounds were too few and were raised."""
    traffic: Traffic
    damping: str
    columns: int
    """Of the block, at the end."""
    columns_at_start: int
    """More, where a wide block came first."""
    message_noise: float
    """What rounding the messages kept back in the last round, in the unit of the residual."""
    conservation_error: float
    digest: int

    def __str__(self) -> str:
        lines = [
            self.why(),
            f"  agreement    sin(theta) between two agents is at most {self.agreement:.2g}",
            f"  traffic      {self.traffic.rounds} rounds ({self.rounds_per_iteration} an iteration), "
            f"{self.traffic.messages} messages, {self.traffic.bytes} bytes",
        ]
        return "\n".join(lines + [f"  note         {note}" for note in self.notes])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the worst agent's convergence and the agents' disagreement (``hearsay.plots.agreement``)."""
        from hearsay import plots

        return plots.agreement(self, ax=ax)


def info_from(
    made: dict[str, Any],
    tolerance: float,
    method: str = "auto",
    momentum: str | float = "auto",
    accuracy: float | None = None,
) -> Info:
    """Of a solve that was asked for this method, momentum and accuracy."""
    known = {field.name for field in fields(Info)}
    values = {key: value for key, value in made.items() if key in known}
    if values["method"] == "anpm" and (method == "npm" or momentum in ("none", 0)):
        values["method"] = "npm"
    values["history"] = history_table(made["history"], HISTORY)
    values["certificate"] = certificate_from(made["certificate"])
    bar = made.get("error_bar")
    values["error_bar"] = None if bar is None else ErrorBar(**bar)
    values["rungs"] = tuple(Rung(**rung) for rung in made.get("rungs", ()))
    return Info(tolerance=tolerance, accuracy=accuracy or None, **values)


def decentralized_info_from(made: dict[str, Any], tolerance: float) -> DecentralizedInfo:
    values = dict(made)
    values["history"] = history_table(made["history"], DECENTRALIZED_HISTORY)
    values["traffic"] = Traffic(*made["traffic"])
    return DecentralizedInfo(tolerance=tolerance, **values)


Callback = Callable[[Any], Any]
