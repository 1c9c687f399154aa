"""PCA over Flower: a star, exact sums and no gossip.

    pip install flwr hearsay          # then in pyproject.toml: [tool.flwr.app.components]
                                      #   serverapp = "flower_app:server", clientapp = "flower_app:client"

The server asks for products of one block with the covariance of everybody's rows, and adds them up, client by client
in the order of their numbers, so that a run gives the same bits again. No client shows a row: it tells how many it has,
their sum, and products. What converged, and how right it is, is said by the same certificate as of ``hearsay.eigsh``.
Flower keeps no process of a client from one message to the next, so a client here remembers nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flwr.app import ArrayRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp

import hearsay


def load_rows(context: Context) -> np.ndarray:
    """This client's table: put your own here."""
    return np.load(str(context.node_config["data"]))


# ---- The client -----------------------------------------------------------------------------------------------------

client = ClientApp()


def _answer(message: Message, *arrays: np.ndarray) -> Message:
    return Message(RecordDict({"arrays": ArrayRecord(list(arrays))}), reply_to=message)


@client.query("totals")
def totals(message: Message, context: Context) -> Message:
    rows = load_rows(context)
    return _answer(message, np.array([len(rows)], dtype=float), rows.sum(axis=0))


@client.query("product")
def product(message: Message, context: Context) -> Message:
    mean, X = message.content["arrays"].to_numpy_ndarrays()
    rows = load_rows(context) - mean
    return _answer(message, rows.T @ (rows @ X))


# ---- The server -----------------------------------------------------------------------------------------------------


def _ask(grid: Grid, nodes: Sequence[int], action: str, *arrays: np.ndarray) -> list[list[np.ndarray]]:
    """What each node answered, in the order of the nodes; an error that names who did not."""
    content = RecordDict({"arrays": ArrayRecord([np.ascontiguousarray(array) for array in arrays])})
    asked = [Message(content, dst_node_id=node, message_type=f"query.{action}") for node in nodes]
    answers = {reply.metadata.src_node_id: reply for reply in grid.send_and_receive(asked)}
    for node in nodes:
        if node not in answers or answers[node].has_error():
            why = answers[node].error.reason if node in answers else "no answer"
            raise hearsay.CommunicationError(f"node {node}, {action}: {why}")
    return [answers[node].content["arrays"].to_numpy_ndarrays() for node in nodes]


def pca(grid: Grid, n_components: int, **keywords: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
    """Components (n_components x n_features), their variances, the mean, and what is known of them
    (``info.certificate``); keywords are those of ``hearsay.eigsh``."""
    nodes = sorted(grid.get_node_ids())
    told = _ask(grid, nodes, "totals", np.zeros(0))
    samples = sum(float(count[0]) for count, _ in told)
    if samples < 2:
        raise hearsay.DataError(f"{samples:g} samples in all: must be at least 2")
    if len({len(sums) for _, sums in told}) > 1:
        raise hearsay.DataError(f"features of the clients: {[len(sums) for _, sums in told]}; must be the same number")
    mean = sum(sums for _, sums in told) / samples

    def multiply(X: np.ndarray) -> np.ndarray:
        return sum(part for (part,) in _ask(grid, nodes, "product", mean, X)) / (samples - 1)

    values, vectors, info = hearsay.eigsh(multiply, n_components, n=len(mean), psd=True, noisy=False, **keywords)
    return vectors.T, values, mean, info


server = ServerApp()


@server.main()
def main(grid: Grid, context: Context) -> None:
    components, variances, _, info = pca(grid, int(context.run_config.get("n-components", 2)))
    np.save(str(context.run_config.get("components", "components.npy")), components)
    print(info, variances, sep="\n")
