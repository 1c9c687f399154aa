"""Pictures of a solve, with matplotlib (``pip install hearsay[plots]``); lines differ in dash and mark, for print.

Each function draws into ``ax``, or into a new figure, and returns the axes.

>>> import matplotlib; matplotlib.use("Agg")
>>> import numpy as np, hearsay
>>> result = hearsay.eigsh(np.diag(np.linspace(1, 0, 50) ** 2), 3, psd=True)
>>> result.plot().get_yscale()
'log'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hearsay import _core, theory
from hearsay._errors import InvalidArgument
from hearsay._result import DecentralizedInfo, EigshResult, Info

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["agreement", "convergence", "network", "spectrum"]

Array = npt.NDArray[Any]

INK, GREY, PALE = "#1b4f72", "#7f8c8d", "#d5dbdb"


def convergence(result: Any, ax: Axes | None = None, *, envelope: bool = True) -> Axes:
    """The residual of every iteration; the sine to the reference, where one was given; and theory's envelope.

    The envelope is epsilon/2 + c_1 h_0 (1 - sqrt(Delta)/2)^t, what the main theorem promises of tan(theta) for the
    eigenvalues found, drawn from the measured start where a reference was given. Without one, the same rate is drawn
    from the first residual: a slope to compare with, no bound. Of averaged products the error bar of sin(theta) is
    drawn over the iterations that were averaged, with the band that it stands for. ``result`` is an Info, what eigsh
    returned, or a fitted PCA.
    """
    info = _info(result)
    axes = _axes(ax)
    history = info.history
    t, residuals, sines = history["t"], history["residual"], history["sin_theta"]
    axes.semilogy(t, _positive(residuals), color=INK, marker=".", label="residual")
    known = bool(np.isfinite(sines).any())
    if known:
        axes.semilogy(
            t, _positive(sines), color="black", marker="x", markersize=4, label=r"$\sin\theta_k$ to the reference"
        )
    least = min((value for value in residuals if value > 0), default=np.inf)  # an exhausted Krylov space leaves none
    if info.tolerance > 0 and info.tolerance > 1e-3 * float(least):
        axes.axhline(info.tolerance, color=GREY, linestyle=":", label="tolerance")
    if np.isfinite(info.noise_floor):
        axes.axhline(info.noise_floor, color=GREY, linestyle="-.", label="noise floor")
    _draw_bar(axes, info)
    # the envelope is momentum's; a Krylov space promises none
    curve = _envelope(info, known) if envelope and info.method == "anpm" else None
    if curve is not None:
        axes.semilogy(t, curve, color=GREY, linestyle="--", label="envelope" if known else "promised rate")
    axes.set_xlabel("iteration")
    sine_is_drawn = known or (info.error_bar is not None and info.error_bar.exists)
    axes.set_ylabel(r"residual, $\sin\theta_k$" if sine_is_drawn else "relative residual")
    axes.set_title(info.status.replace("_", " "))
    _finish(axes, own=ax is None)
    return axes


def spectrum(result: Any, ax: Axes | None = None) -> Axes:
    """The eigenvalues found, with their standard errors under noise, and the edge below which everything was damped."""
    info = _info(result)
    axes = _axes(ax)
    values = np.asarray(info.eigenvalues, dtype=float)
    places = np.arange(1, len(values) + 1)
    axes.vlines(places, 0, values, color=PALE, linewidth=4)
    axes.plot(places, values, color=INK, marker="o", linestyle="none", label="eigenvalues")
    if info.error_bar is not None and info.error_bar.exists:
        axes.errorbar(places, values, yerr=info.error_bar.eigenvalues, color=INK, linestyle="none", capsize=6)
    next_one = float(info.history["theta_next"][-1])
    if np.isfinite(next_one):
        axes.plot(
            len(values) + 1,
            next_one,
            color="black",
            marker="o",
            markerfacecolor="none",
            linestyle="none",
            label="the next",
        )
    if info.edge > 0:
        axes.axhspan(0, info.edge, color=PALE, alpha=0.5, hatch="//", linewidth=0, label="damped")
    axes.set_xlabel("number")
    axes.set_ylabel("eigenvalue")
    axes.set_ylim(bottom=0)
    axes.xaxis.get_major_locator().set_params(integer=True)  # type: ignore[call-arg]
    _finish(axes, own=ax is None)
    return axes


def agreement(result: Any, ax: Axes | None = None) -> Axes:
    """Agents over the gossip rounds spent: the worst one's residual, and what is left between them."""
    info = result if isinstance(result, DecentralizedInfo) else getattr(result, "info_", None)
    if not isinstance(info, DecentralizedInfo):
        raise InvalidArgument(f"{type(result).__name__}: must be a fitted DecentralizedPCA or its info_")
    axes = _axes(ax)
    rounds, history = info.history["rounds"], info.history
    axes.semilogy(rounds, _positive(history["residual"]), color=INK, marker=".", label="worst agent's residual")
    axes.semilogy(
        rounds, _positive(history["disagreement"]), color=GREY, linestyle="--", label="disagreement between agents"
    )
    if np.isfinite(history["sin_theta"]).any():
        sines = _positive(history["sin_theta"])
        axes.semilogy(rounds, sines, color="black", marker="x", markersize=4, label=r"worst agent's $\sin\theta_k$")
    if info.tolerance > 0:
        axes.axhline(info.tolerance, color=GREY, linestyle=":", label="tolerance")
    axes.set_xlabel("gossip rounds")
    axes.set_ylabel("relative size")
    axes.set_title(f"{info.status.replace('_', ' ')}, {info.rounds_per_iteration} rounds an iteration")
    _finish(axes, own=ax is None)
    return axes


def network(matrix: Any, ax: Axes | None = None, *, agents: int | None = None) -> Axes:
    """Who talks to whom: agents on a circle, a line as wide as the weight of the edge.

    ``matrix`` is whatever ``hearsay.gossip.matrix`` takes, or a fitted DecentralizedPCA.
    """
    from hearsay import gossip

    W = gossip.matrix(getattr(matrix, "gossip_matrix_", matrix), agents)
    axes = _axes(ax, square=True)
    angles = np.pi / 2 - 2 * np.pi * np.arange(W.agents) / W.agents
    x, y = np.cos(angles), np.sin(angles)
    edges = W.tocsr().tocoo()
    wanted = edges.row < edges.col
    heaviest = float(edges.data[wanted].max()) if wanted.any() else 1.0
    width = 3.0 if W.edges <= 50 else max(0.3, 150 / W.edges)
    for i, j, weight in zip(edges.row[wanted], edges.col[wanted], edges.data[wanted], strict=True):
        line = width * (0.2 + 0.8 * weight / heaviest)
        axes.plot(x[[i, j]], y[[i, j]], color=GREY, linewidth=line, zorder=1, solid_capstyle="round")
    size = 260 if W.agents <= 30 else 30
    axes.scatter(x, y, s=size, color="white", edgecolors=INK, linewidths=1.5, zorder=2)
    if W.agents <= 30:
        for agent in range(W.agents):
            axes.text(x[agent], y[agent], str(agent), ha="center", va="center", fontsize=8, zorder=3)
    axes.set_title(f"{W.agents} agents, {W.edges} edges, spectral gap {W.gap:.3g}")
    axes.set_aspect("equal")
    axes.margins(0.15)
    axes.set_axis_off()
    return axes


def _info(result: Any) -> Info:
    if isinstance(result, EigshResult):
        return result.info
    info = result if isinstance(result, Info) else getattr(result, "info_", None)
    if not isinstance(info, Info):
        raise InvalidArgument(f"{type(result).__name__}: must be an Info, the result of eigsh or a fitted estimator")
    return info


def _draw_bar(axes: Axes, info: Info) -> None:
    bar, t = info.error_bar, info.history["t"]
    if bar is None or not bar.exists or not len(t):
        return
    averaged = np.array([max(float(t[0]), float(t[-1]) - bar.steps), float(t[-1])])
    name = r"$\sin\theta_k$, at most" if bar.kind == "bound" else r"$\sin\theta_k$, error bar"
    axes.plot(averaged, np.full(2, bar.sin_theta), color="black", linewidth=1.5, label=name)
    if bar.kind != "bound":
        low, high = bar.sin_theta / _core.bar_factor, min(1.0, bar.sin_theta * _core.bar_factor)
        axes.fill_between(averaged, low, high, color="black", alpha=0.15, linewidth=0)


def _axes(ax: Axes | None, square: bool = False) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install hearsay[plots]") from error
    _, axes = plt.subplots(figsize=(4.8, 4.8) if square else (6.4, 4.0), layout="constrained")
    return axes


def _finish(axes: Axes, own: bool) -> None:
    """In a figure of its own the legend stands below the picture; elsewhere it must share the room."""
    axes.grid(True, which="major", color=PALE, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if own:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False)
    else:
        axes.legend(frameon=False)


def _positive(values: Array) -> Array:
    """Zeros have no place on a logarithmic axis."""
    return np.asarray(np.where(values > 0, values, np.nan))


def _envelope(info: Info, known: bool) -> Array | None:
    """None where no theorem speaks: without momentum, or with an edge above the last eigenvalue wanted."""
    history = info.history
    lambda_k, edge = float(history["theta_k"][-1]), info.edge
    if not 0 < edge < lambda_k:
        return None
    problem = theory.damped(lambda_k, edge, info.damping)
    if not known:
        factor = theory.contraction_anpm(problem.lambda_k, problem.beta)
        return np.asarray(history["residual"][0] * factor ** history["t"].astype(float))
    sine = min(float(history["sin_theta"][0]), 1 - 1e-12)
    start = sine / np.sqrt(1 - sine**2)
    least = float(np.nanmin(_positive(history["sin_theta"])))
    epsilon = min(0.5, max(least, 1e-15))
    bounds = [
        theory.envelope(int(t), problem.lambda_k, problem.beta, epsilon, max(start, epsilon)) for t in history["t"]
    ]
    return np.asarray(np.minimum(1.0, bounds))
