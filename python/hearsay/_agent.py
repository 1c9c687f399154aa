"""One agent of a federation: it computes, and the caller carries its frames."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_array

from hearsay import _core, gossip
from hearsay._errors import InvalidArgument
from hearsay._options import in_python_words, option_texts, seed_from
from hearsay._pca import SPELT, scaled
from hearsay._result import AgentsErrorBar, Callback, DecentralizedInfo, agents_bar_from, decentralized_info_from

__all__ = ["Agent", "AgentResult", "LinkCounts"]

Array = npt.NDArray[Any]


class LinkCounts(NamedTuple):
    """What went over the link to one neighbour."""

    neighbour: int
    frames_sent: int
    bytes_sent: int
    frames_received: int
    bytes_received: int
    reconnections: int
    waited: float
    """Seconds from this agent's own message to the neighbour's, over all rounds."""


@dataclass(frozen=True, eq=False, repr=False)
class AgentResult:
    """What an agent ends with: the result that one process would have found in the rows of all."""

    number: int
    components: Array
    """n_components x n_features, as this agent has them; of all agents in ``info.bases``, transposed."""
    explained_variance: Array
    """Of the covariance of all rows."""
    mean: Array
    """Of all rows."""
    n_samples: int
    samples_of: list[int]
    """Rows of each agent."""
    features: list[str]
    """Names of the columns, in the order of the components' columns; empty where they have none."""
    columns_moved: bool
    """This agent's columns were put into the first agent's order."""
    run_id: int
    unconfirmed: str
    """Empty where every agent has said that it holds this result; else why that is not known."""
    links: list[LinkCounts]
    seconds: float
    error_bar: AgentsErrorBar | None
    """As ``DecentralizedPCA.error_bar_``."""
    info: DecentralizedInfo

    @property
    def digest(self) -> int:
        """The same at every agent, and that of ``DecentralizedPCA`` with the same data and settings."""
        return self.info.digest

    def __repr__(self) -> str:
        return f"AgentResult(number={self.number}, status={self.info.status!r}, digest={self.digest:016x})"


class Agent:
    """One agent of a federation, for those who bring a network of their own: bytes in, bytes out.

    The agent computes on a thread of its own, begins at once, and opens nothing. ``frames`` gives what it wants to have
    sent; whoever carries them hands each to ``receive`` of the agent it is for. Frames may be lost with a link
    (``closed``, then ``opened``), may come late, twice or damaged: the answer is right, or there is an error that says
    who failed and how. Nothing is encrypted or authenticated here: that is the network's part.

    Parameters
    ----------
    X : array or DataFrame (n_samples, n_features)
        This agent's rows, copied; there may be none, but columns there must be.
    number : int
        Which of the agents this is.
    agents : int or list of str
        How many there are, or what they are called.
    n_components, topology, algorithm, gossip, rounds, tol, max_iter, momentum, damping, oversampling, \
message_precision, center, random_state
        As in ``DecentralizedPCA``, and the same at every agent: that is compared before the first block is sent.
    columns : list of str, optional
        Names of the columns; a DataFrame's own. Columns are matched by name.
    configuration : str
        Whatever else must be the same everywhere, or its digest.
    start_timeout, round_timeout, link_timeout : float
        Seconds: until all neighbours are there; for a neighbour's message of a round; that a link may be gone.
    heartbeat : float
        Seconds between two signs of life while one waits.
    clock : {"own", "told"}
        The machine's, or the caller's own: time then passes in ``tell`` alone.
    callback : function, optional
        Called with every iteration, on the agent's thread; returning False stops all agents.

    Attributes
    ----------
    number, neighbours : int, tuple of int
    done : bool
        The run has ended here, and all frames were taken.

    Examples
    --------
    >>> import numpy as np, hearsay
    >>> X = np.random.default_rng(0).standard_normal((90, 6)) * 0.6 ** np.arange(6)
    >>> shards = np.split(X, 3)
    >>> agents = [hearsay.Agent(shards[i], i, 3, n_components=2) for i in range(3)]
    >>> while not all(agent.done for agent in agents):
    ...     for agent in agents:
    ...         for neighbour, frame in agent.frames():
    ...             agents[neighbour].receive(agent.number, frame)
    >>> digests = {agent.result().digest for agent in agents}
    >>> digests == {hearsay.DecentralizedPCA(2).fit(shards).info_.digest}
    True
    """

    def __init__(
        self,
        X: Any,
        number: int,
        agents: int | Sequence[str],
        n_components: int = 2,
        *,
        topology: Any = "ring",
        algorithm: str = "adeepca",
        gossip: str = "chebyshev",
        rounds: str | int = "auto",
        tol: float | None = None,
        max_iter: int = 1000,
        momentum: str | float = "auto",
        damping: str = "auto",
        oversampling: str | int = "auto",
        message_precision: str = "double",
        center: bool = True,
        random_state: int = 0,
        columns: Sequence[str] | None = None,
        configuration: str = "",
        start_timeout: float = 60,
        round_timeout: float = 60,
        link_timeout: float = 10,
        heartbeat: float = 1,
        clock: Literal["own", "told"] = "own",
        callback: Callback | None = None,
    ) -> None:
        names = [f"agent {i}" for i in range(agents)] if isinstance(agents, int) else list(agents)
        if not names:
            raise InvalidArgument(f"agents = {agents}: must be at least 1")
        if clock not in ("own", "told"):
            raise InvalidArgument(f"clock = {clock}: must be one of own|told")
        if random_state is None:
            raise InvalidArgument("random_state = None: must be a number, the same at every agent")
        if callback is not None and not callable(callback):
            raise TypeError(f"callback = {callback!r}: must be a function of one argument, or None")
        if columns is None:
            columns = [str(name) for name in getattr(X, "columns", [])]
        rows = check_array(X, dtype=np.float64, order="C", ensure_min_samples=0, input_name="X")
        seed = seed_from(random_state)
        with in_python_words(*SPELT, "message_precision"):
            options = option_texts(
                n_components=n_components,
                tol=tol,
                max_iter=max_iter,
                momentum=momentum,
                damping=damping,
                oversampling=oversampling,
                random_state=seed,
                algorithm=algorithm,
                gossip=gossip,
                rounds=rounds,
                message_precision=message_precision,
            )
            self._core = _core.Agent(
                number,
                rows,
                list(columns),
                names,
                _matrix(topology, len(names), seed)._core,
                options,
                bool(center),
                configuration,
                [float(start_timeout), float(round_timeout), float(link_timeout), float(heartbeat)],
                clock == "told",
                0,
                callback,
            )
        self.number = int(number)
        self.neighbours: tuple[int, ...] = tuple(self._core.neighbours)
        self._center = bool(center)
        self._result: AgentResult | None = None
        _alive.add(self)

    def frames(self, timeout: float | None = 0) -> list[tuple[int, bytes]]:
        """What is to be sent: pairs of a neighbour and a frame; those of one neighbour are to arrive in this order.

        Waits until the agent has come to rest, because it has ended or waits for others. Where it then has nothing to
        send, it is waited for ``timeout`` seconds, or with None as long as it takes, until somebody's ``receive`` or
        the time has given it something to say. An empty list with ``timeout=None`` is the end."""
        return self._core.frames(None if timeout is None else float(timeout))

    def receive(self, neighbour: int, frame: bytes) -> None:
        """A frame of this neighbour has arrived. From any thread. Waits where more than 16 MiB of its frames were not
        looked at yet; after the end, frames are dropped."""
        self._core.receive(neighbour, bytes(frame))

    def closed(self, neighbour: int, reason: str = "the connection was closed") -> None:
        """There is no way to this neighbour any more; frames that were taken and did not arrive may be dropped."""
        self._core.closed(neighbour, reason)

    def opened(self, neighbour: int) -> None:
        """There is a way again. All ways are open to begin with."""
        self._core.opened(neighbour)

    def tell(self, seconds: float) -> None:
        """What the clock says now; it may begin anywhere from 0 on, and must not go back. For ``clock="told"``."""
        self._core.tell(float(seconds))

    def stop(self) -> None:
        """All agents stop after the next iteration, with the best they have."""
        self._core.stop()

    def leave(self) -> None:
        """Ends the run with an error, here and at all others: the frames that say so are to be carried."""
        self._core.leave()

    @property
    def done(self) -> bool:
        return self._core.done

    def result(self) -> AgentResult:
        """Once ``done``. Raises what ended the run: a ``CommunicationError`` that names the agent and what happened, or
        what the callback raised."""
        if self._result is None:
            self._result = _result_from(self._core.result(), self._center)
        return self._result

    def close(self) -> None:
        """Breaks off what is not done and waits for the thread, a product at most. The others are told nothing: use
        ``leave`` for that. So does the end of a ``with``, and of the agent's life."""
        self._core.close()

    def __enter__(self) -> Agent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._core.is_closed else "done" if self.done else "running"
        return f"Agent(number={self.number}, neighbours={self.neighbours}, {state})"


def _matrix(topology: Any, agents: int, seed: int) -> gossip.GossipMatrix:
    return gossip.matrix(topology, agents, seed=seed)


def _result_from(made: dict[str, Any], center: bool) -> AgentResult:
    bar = agents_bar_from(made["result"].pop("error_bar"))
    info = decentralized_info_from(made["result"], made["tolerance"])
    number = made["number"]
    return AgentResult(
        number=number,
        components=info.bases[number].T,
        explained_variance=scaled(info.eigenvalues[number], info.exponent),
        mean=made["mean"] if center else np.zeros_like(made["mean"]),
        n_samples=made["samples"],
        samples_of=made["sizes"],
        features=made["features"],
        columns_moved=made["columns_moved"],
        run_id=made["run_id"],
        unconfirmed=made["unconfirmed"],
        links=[LinkCounts(*link) for link in made["links"]],
        seconds=made["seconds"],
        error_bar=bar,
        info=info,
    )


_alive: weakref.WeakSet[Agent] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Threads that outlive the interpreter would wait for its lock for ever."""
    for agent in list(_alive):
        agent.close()
