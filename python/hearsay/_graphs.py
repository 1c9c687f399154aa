"""Graphs from whatever holds one: networkx, an adjacency matrix, a topology's name."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hearsay import _core
from hearsay._errors import InvalidArgument

__all__ = ["Edges", "edges_of", "is_networkx", "topology"]

TOPOLOGIES = "ring|path|star|complete|grid|torus|erdos:P|regular:DEGREE"


class Edges(NamedTuple):
    nodes: int
    ends: npt.NDArray[np.int32]
    """e x 2, i < j, sorted."""
    weights: npt.NDArray[np.float64] | None
    """One per edge; None: all one."""


def is_networkx(graph: Any) -> bool:
    return hasattr(graph, "nodes") and hasattr(graph, "edges") and hasattr(graph, "is_directed")


def edges_of(graph: Any) -> Edges:
    """Of a networkx graph or a symmetric adjacency matrix, dense or sparse. Loops are left out."""
    if is_networkx(graph):
        if graph.is_directed():
            raise InvalidArgument("graph: is directed, and must not be")
        place = {node: number for number, node in enumerate(graph.nodes)}
        edges = list(graph.edges(data="weight", default=1.0))
        places = [[place[a] for a, _, _ in edges], [place[b] for _, b, _ in edges]]
        weights = np.array([weight for _, _, weight in edges], dtype=float)
        S = sp.coo_array((weights, np.array(places, dtype=int)), shape=(len(place), len(place)))
        S = (S + S.T - sp.diags_array(S.diagonal())).tocsr()
    else:
        S = sp.csr_array(graph).astype(float)
        if S.ndim != 2 or S.shape[0] != S.shape[1]:
            raise InvalidArgument(f"adjacency of shape {S.shape}: must be square")
        if not np.isfinite(S.data).all():
            raise InvalidArgument("adjacency: has an entry that is not finite")
        if S.nnz and abs(S - S.T).max() > 1e-10 * abs(S).max():
            raise InvalidArgument("adjacency: must be symmetric")
    upper = sp.triu(S, k=1).tocsr()
    upper.sum_duplicates()
    upper.eliminate_zeros()
    if upper.nnz and upper.data.min() < 0:
        raise InvalidArgument(f"weight = {upper.data.min():g}: must not be negative")
    upper = upper.tocoo()
    ends = np.ascontiguousarray(np.stack([upper.row, upper.col], axis=1), dtype=np.int32)
    weighted = bool(upper.nnz) and not np.all(upper.data == 1)
    return Edges(int(S.shape[0]), ends, np.ascontiguousarray(upper.data, dtype=float) if weighted else None)


def topology(name: str, nodes: int, seed: int = 0) -> Edges:
    """A network by name: ring, path, star, complete, grid, torus, erdos:P or regular:DEGREE. A grid is as square as the
    number of nodes allows."""
    kind, _, parameter = name.partition(":")
    plain = {
        "ring": _core.ring_graph,
        "path": _core.path_graph,
        "star": _core.star_graph,
        "complete": _core.complete_graph,
    }
    if not parameter and kind in plain:
        return Edges(nodes, plain[kind](nodes), None)
    if not parameter and kind in ("grid", "torus"):
        rows = next(rows for rows in range(int(nodes**0.5), 0, -1) if nodes % rows == 0)
        make = _core.grid_graph if kind == "grid" else _core.torus_graph
        return Edges(nodes, make(rows, nodes // rows), None)
    try:
        if kind == "erdos":
            return Edges(nodes, _core.erdos_renyi_graph(nodes, float(parameter), seed), None)
        if kind == "regular":
            return Edges(nodes, _core.random_regular_graph(nodes, int(parameter), seed), None)
    except ValueError as error:
        if isinstance(error, InvalidArgument):
            raise
        raise InvalidArgument(f"topology = {name}: must be one of {TOPOLOGIES}") from None
    raise InvalidArgument(f"topology = {name}: must be one of {TOPOLOGIES}")
