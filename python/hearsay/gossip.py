"""Averaging by talking to neighbours.

>>> import numpy as np
>>> from hearsay import gossip
>>> W = gossip.matrix("ring", 10)
>>> round(W.gap, 6)
0.095492
>>> values = np.arange(10.0)
>>> np.allclose(gossip.average(W, values, rounds=40), 4.5, atol=1e-3)
True
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hearsay import _core
from hearsay._arrays import compressed_rows
from hearsay._errors import InvalidArgument
from hearsay._graphs import Edges, edges_of, is_networkx, topology

__all__ = ["GossipMatrix", "average", "contraction", "matrix", "rounds_for"]


class GossipMatrix:
    """W: symmetric, non-negative, doubly stochastic, with w_ij > 0 exactly on the edges and the diagonal.

    ``matrix`` makes one; whatever breaks the rules is refused, with entry, value and rule.
    """

    def __init__(self, core: _core.GossipMatrix) -> None:
        self._core = core
        self._spectrum = core.spectrum()

    @property
    def agents(self) -> int:
        return self._core.agents

    @property
    def edges(self) -> int:
        return self._core.edges

    @property
    def diameter(self) -> int:
        """Rounds after which whatever one agent says has reached every other."""
        return self._core.diameter

    @property
    def gap(self) -> float:
        """gamma = 1 - max(|lo|, |hi|): the spectral gap."""
        return self._spectrum.gap

    @property
    def interval(self) -> tuple[float, float]:
        """[lo, hi] holds every eigenvalue but the 1 of the constant vector."""
        return self._spectrum.lo, self._spectrum.hi

    def lazy(self) -> GossipMatrix:
        """(I + W)/2: no eigenvalue below zero."""
        return GossipMatrix(self._core.lazy())

    def tocsr(self) -> Any:
        """As a scipy.sparse.csr_array."""
        values, columns, row_start = self._core.rows()
        return sp.csr_array((values, columns, row_start), shape=(self.agents, self.agents))

    def toarray(self) -> npt.NDArray[np.float64]:
        return np.asarray(self.tocsr().toarray())

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return matrix, (self.tocsr(),)

    def __repr__(self) -> str:
        return f"GossipMatrix(agents={self.agents}, edges={self.edges}, gap={self.gap:.4g})"


def matrix(network: Any, agents: int | None = None, *, seed: int = 0) -> GossipMatrix:
    """The gossip matrix of a network.

    ``network`` is a topology's name (ring, path, star, complete, grid, torus, erdos:P, regular:DEGREE) of so many
    ``agents``, a connected networkx graph, or the n x n matrix W itself. A ring gets 1/2 for oneself and 1/4 for each
    neighbour; other graphs the weights of Metropolis and Hastings, 1/(1 + max(d_i, d_j)).

    >>> matrix("complete", 4).toarray()[0]
    array([0.25, 0.25, 0.25, 0.25])
    """
    if isinstance(network, GossipMatrix):
        made = network
    elif isinstance(network, str):
        if agents is None:
            raise InvalidArgument(f"agents: must be given with the topology {network}")
        if network == "ring":
            made = GossipMatrix(_core.GossipMatrix.ring(agents))
        else:
            made = _metropolis(topology(network, agents, seed))
    elif is_networkx(network):
        made = _metropolis(edges_of(network))
    else:
        W = sp.csr_array(network)
        if W.ndim != 2 or W.shape[0] != W.shape[1]:
            raise InvalidArgument(f"gossip matrix of shape {W.shape}: must be square")
        row_start, columns, values, _ = compressed_rows(W, np.dtype(np.float64))
        made = GossipMatrix(_core.GossipMatrix.from_rows(row_start, columns, values))
    if agents is not None and made.agents != agents:
        raise InvalidArgument(f"network of {made.agents} agents: must have {agents}")
    return made


def average(W: GossipMatrix, values: npt.ArrayLike, rounds: int, kind: str = "chebyshev") -> npt.NDArray[np.float64]:
    """What each agent holds after so many rounds of plain, accelerated or chebyshev gossip; row i is agent i's."""
    Z = np.ascontiguousarray(values, dtype=float)
    mixed, _ = _core.gossip(W._core, kind, rounds, Z.reshape(len(Z), -1))
    return mixed.reshape(Z.shape)


def contraction(W: GossipMatrix, rounds: int, kind: str = "chebyshev") -> float:
    """A bound on what so many rounds leave of the disagreement, in the Frobenius norm over all agents."""
    return _core.gossip_contraction(kind, W._spectrum, rounds)


def rounds_for(W: GossipMatrix, goal: float, kind: str = "chebyshev") -> int:
    """The fewest rounds whose contraction is at most ``goal``.

    >>> W = matrix("ring", 10)
    >>> [rounds_for(W, 1e-3, kind) for kind in ("plain", "accelerated", "chebyshev")]
    [69, 20, 12]
    """
    return _core.gossip_rounds(kind, W._spectrum, goal)


def _metropolis(edges: Edges) -> GossipMatrix:
    return GossipMatrix(_core.GossipMatrix.metropolis(edges.nodes, edges.ends))
