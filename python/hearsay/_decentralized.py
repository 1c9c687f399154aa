"""PCA by agents that gossip, all of them in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_array, check_is_fitted

from hearsay import _core, gossip
from hearsay._errors import InvalidArgument
from hearsay._options import in_python_words, option_texts, seed_from
from hearsay._pca import SPELT, LinearProjection, scaled
from hearsay._progress import watching
from hearsay._result import AgentsErrorBar, Callback, DecentralizedInfo, agents_bar_from, decentralized_info_from
from hearsay._warnings import warn_unless_converged

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DecentralizedPCA"]

Array = npt.NDArray[Any]


def _squares(shard: Array, mean: Array, exponent: int) -> float:
    """The sum of the squares of a shard's centred rows, divided by 2^exponent."""
    rows = shard - mean
    if exponent:
        rows = np.ldexp(rows, -(exponent // 2))
    return float(np.vdot(rows, rows))


class DecentralizedPCA(LinearProjection):
    """PCA of data that agents hold and will not share: they exchange d x p blocks with their neighbours alone.

    A simulation, all agents in this process and what they would have sent counted; or, with ``comm``, an agent on each
    rank of MPI, and the same bits.

    Parameters
    ----------
    n_components : int
        How many components to find.
    topology : str, networkx graph, gossip matrix or array
        Who talks to whom: a name (ring, path, star, complete, grid, torus, erdos:P, regular:DEGREE), a graph with one
        node per agent, or the matrix W itself (``hearsay.gossip.matrix``).
    algorithm : {"adeepca", "deepca", "adepm", "depm"}
        The tracked methods (deepca, and adeepca with momentum) have no accuracy floor at a fixed number of rounds;
        depm, and adepm with momentum, end at one that the rounds set.
    gossip : {"chebyshev", "accelerated", "plain"}
        How the agents average.
    rounds : "auto" or int
        Gossip rounds per iteration; "auto" measures what the noise condition asks for.
    tol : float, optional
        On every agent's residual. None: 1e-10.
    max_iter : int
        Stop after so many iterations in any case.
    momentum : {"auto", "paper", "none"} or float
        Of the accelerated methods; a number is the paper's beta.
    damping : {"auto", "centred", "symmetric"}
        The unwanted interval, [0, b] or [-b, b].
    oversampling : "auto" or int
        Columns beyond those asked for; more than one, for adeepca with automatic momentum and rounds, are a wide block
        to begin with.
    message_precision : {"double", "single", "bfloat16"}
        What blocks are rounded to on their way. Changes are sent, so that the rounding fades.
    center : bool
        Subtract the mean of all the data, which agents would find by gossip too. Without it the matrix is X'X /
        n_samples, as in PCA.
    random_state : int, None, RandomState or Generator
        Of the start block, which all agents share, and of a random topology.
    comm : mpi4py.MPI.Comm, optional
        Each of its ranks is an agent, calls ``fit`` with its own rows alone, and gets the result of all;
        ``components_`` are its own. What fails at one rank is raised at all.
    callback : function, optional
        Called with every iteration (t, rounds, residual, disagreement, ...); returning False stops all agents.
    verbose : bool
        Show a bar (tqdm's, if it is installed).

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, mean_, n_components_, n_samples_, n_features_in_
        As the first agent has them; the variances are those of the whole data's covariance, divided by n_samples_ - 1
        as in PCA, and so are ``info_.eigenvalues``.
    agent_components_ : ndarray (agents, n_components_, n_features_in_)
        What each agent ends with.
    agreement_ : float
        The largest sin(theta) between two agents.
    error_bar_ : AgentsErrorBar or None
        How far the worst agent is from the truth, where the run ended before the tolerance was met: ``kind``,
        ``sin_theta``, ``spread``, ``common``.
    traffic_ : Traffic
        rounds, control_rounds, messages and bytes, of the whole network.
    gossip_matrix_ : GossipMatrix
    converged_, status_, residual_, n_iter_, history_, info_
        As in PCA; ``history_`` has t, rounds, bytes, rounds_next, residual, disagreement, momentum, sin_theta.

    Examples
    --------
    >>> import numpy as np, hearsay
    >>> X = np.random.default_rng(0).standard_normal((400, 8)) * 0.7 ** np.arange(8)
    >>> agents = hearsay.DecentralizedPCA(2, topology="ring").fit(np.split(X, 5))
    >>> agents.converged_, agents.agent_components_.shape
    (True, (5, 2, 8))
    >>> bool(np.allclose(agents.components_, hearsay.PCA(2).fit(X).components_, atol=1e-6))
    True
    """

    def __init__(
        self,
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
        random_state: Any = 0,
        comm: Any = None,
        callback: Callback | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.topology = topology
        self.algorithm = algorithm
        self.gossip = gossip
        self.rounds = rounds
        self.tol = tol
        self.max_iter = max_iter
        self.momentum = momentum
        self.damping = damping
        self.oversampling = oversampling
        self.message_precision = message_precision
        self.center = center
        self.random_state = random_state
        self.comm = comm
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, reference: npt.ArrayLike | None = None) -> DecentralizedPCA:
        """X is a list of arrays, the rows of one agent each; ``reference`` (n_components x n_features), if given, fills
        ``history_["sin_theta"]``. The rows are copied, as each agent keeps its own. With ``comm``, X is the array of
        this rank's rows."""
        if self.comm is not None:
            return self._fit_on_ranks(X, reference)
        shards = self._shards(X)
        samples = sum(len(shard) for shard in shards)
        if samples < 2:
            raise InvalidArgument(f"{samples} samples in all: must be at least 2")
        self.n_features_in_ = shards[0].shape[1]
        seed = seed_from(self.random_state)
        self.gossip_matrix_ = gossip.matrix(self.topology, len(shards), seed=seed)

        with in_python_words(*SPELT, "message_precision"):
            options = option_texts(random_state=seed, **self._settings())
            tolerance = _core.tolerance_of(options)
            with watching(self.callback, self.verbose, tolerance, "DecentralizedPCA") as watch:
                made, mean = _core.decentralized_pca(
                    self.gossip_matrix_._core,
                    shards,
                    bool(self.center),
                    options,
                    None if reference is None else np.ascontiguousarray(np.asarray(reference, dtype=float).T),
                    watch,
                )
        self.mean_ = mean if self.center else np.zeros_like(mean)
        bar = agents_bar_from(made.pop("error_bar"))
        info = decentralized_info_from(made, tolerance)
        squares = [_squares(shard, self.mean_, info.exponent) for shard in shards]
        self._take(info, bar, 0, samples, squares)
        warn_unless_converged(info)
        return self

    def _settings(self) -> dict[str, Any]:
        """What an Agent is told, too."""
        return {
            "n_components": self.n_components,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "momentum": self.momentum,
            "damping": self.damping,
            "oversampling": self.oversampling,
            "algorithm": self.algorithm,
            "gossip": self.gossip,
            "rounds": self.rounds,
            "message_precision": self.message_precision,
        }

    def _fit_on_ranks(self, X: Any, reference: Any) -> DecentralizedPCA:
        """This rank's rows: the bits are those of one process."""
        from hearsay._mpi import Ranks

        with Ranks(self.comm) as ranks:
            with ranks.together():
                if reference is not None:
                    raise InvalidArgument(
                        "reference: cannot be given where the agents are ranks, for none has the data"
                    )
                if isinstance(X, (list, tuple)):
                    raise InvalidArgument("X: must be the array of this rank's rows where comm is given, and no list")
                shard = self._shards([X])[0]
                seed = seed_from(self.random_state)
                tolerance = _core.tolerance_of(option_texts(tol=self.tol))
            seed = ranks.first(seed)
            with watching(self.callback, self.verbose and ranks.rank == 0, tolerance, "DecentralizedPCA") as watch:
                result = ranks.solve(
                    shard,
                    topology=self.topology,
                    random_state=seed,
                    center=bool(self.center),
                    callback=watch,
                    **self._settings(),
                )
            self.gossip_matrix_ = gossip.matrix(self.topology, ranks.size, seed=seed)
            self.n_features_in_ = shard.shape[1]
            self.mean_ = result.mean
            squares = ranks.all(_squares(shard, self.mean_, result.info.exponent))
            self._take(result.info, result.error_bar, ranks.rank, result.n_samples, squares)
        warn_unless_converged(result.info, stacklevel=4)
        return self

    def _take(
        self, info: DecentralizedInfo, bar: AgentsErrorBar | None, agent: int, samples: int, squares: list[float]
    ) -> None:
        self.error_bar_ = bar
        self.info_: DecentralizedInfo = info
        total = sum(squares) / (samples - 1 if self.center else samples)
        self.agent_components_ = np.stack([basis.T for basis in info.bases])
        self.components_ = self.agent_components_[agent]
        variances = info.eigenvalues[agent]
        self.explained_variance_ratio_ = variances / total if total > 0 else 0 * variances
        self.explained_variance_ = scaled(variances, info.exponent)
        self.n_components_ = len(self.components_)
        self.n_samples_ = samples
        self.n_iter_ = max(1, info.iterations)
        self.agreement_ = info.agreement
        self.traffic_ = info.traffic
        self.converged_ = info.converged
        self.status_ = info.status
        self.residual_ = info.residual
        self.history_ = info.history

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # type: ignore[override]
        """The coordinates of every agent's samples, as a list of arrays; with ``comm``, of this rank's."""
        self.fit(X)
        if self.comm is not None:
            return self.transform(X)
        return [self.transform(shard) for shard in self._shards(X) if len(shard)]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the worst agent's residual and the agents' disagreement (``hearsay.plots.agreement``)."""
        check_is_fitted(self)
        return self.info_.plot(ax)

    @staticmethod
    def _shards(X: Sequence[Any]) -> list[Array]:
        if sp.issparse(X) or not isinstance(X, (list, tuple)) or not X:
            raise InvalidArgument("X: must be a list of arrays, one per agent; numpy.array_split makes one of an array")
        shards = [
            check_array(
                shard.toarray() if sp.issparse(shard) else shard,
                dtype=np.float64,
                order="C",
                ensure_min_samples=0,
                input_name=f"X[{agent}]",
            )
            for agent, shard in enumerate(X)
        ]
        for agent, shard in enumerate(shards):
            if shard.shape[1] != shards[0].shape[1]:
                raise InvalidArgument(
                    f"X[{agent}] has {shard.shape[1]} features: must have {shards[0].shape[1]}, as X[0] has"
                )
        return shards
