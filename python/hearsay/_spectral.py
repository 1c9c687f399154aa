"""Graphs as points: spectral embedding, and the clusters of it."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin

from hearsay import _core
from hearsay._graphs import edges_of
from hearsay._options import in_python_words, option_texts, seed_from
from hearsay._progress import watching
from hearsay._result import Callback, Info, info_from
from hearsay._warnings import warn_unless_converged
from hearsay.noise import NoiseLike, as_asked

__all__ = ["SpectralClustering", "SpectralEmbedding"]

Array = npt.NDArray[Any]


class SpectralEmbedding(BaseEstimator):  # type: ignore[misc]
    """The leading eigenvectors of I + D^-1/2 S D^-1/2 of an undirected graph, each row scaled to length one.

    Parameters
    ----------
    n_components : int
        How many eigenvectors to find.
    tol, certify, products, max_iter, momentum, oversampling, noise, noise_norm, random_state, callback, verbose
        As in PCA.

    Attributes
    ----------
    embedding_ : ndarray (nodes, n_components)
    eigenvalues_ : ndarray (n_components,)
        In [0, 2], descending; 2 occurs once per connected component.
    n_connected_components_ : int
    converged_, status_, residual_, sin_theta_, error_bar_, certificate_, n_iter_, history_, info_
        As in PCA.

    Examples
    --------
    >>> import networkx as nx, hearsay
    >>> embedding = hearsay.SpectralEmbedding(2).fit_transform(nx.karate_club_graph())
    >>> embedding.shape
    (34, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        tol: float | None = None,
        certify: str = "full",
        products: int | None = None,
        max_iter: int | None = None,
        momentum: str | float = "auto",
        oversampling: str | int = "auto",
        noise: NoiseLike = None,
        noise_norm: float | None = None,
        random_state: Any = 0,
        callback: Callback | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.certify = certify
        self.products = products
        self.max_iter = max_iter
        self.momentum = momentum
        self.oversampling = oversampling
        self.noise = noise
        self.noise_norm = noise_norm
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def fit(self, graph: Any, y: Any = None) -> SpectralEmbedding:
        """``graph``: a networkx graph, or a symmetric adjacency matrix with non-negative weights, dense or sparse."""
        embed(self, graph, self.n_components)
        return self

    def fit_transform(self, graph: Any, y: Any = None) -> Array:
        return self.fit(graph).embedding_

    embedding_: Array
    eigenvalues_: Array
    info_: Info


class SpectralClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Communities of a graph: k-means on its spectral embedding.

    Parameters
    ----------
    n_clusters : int
        How many clusters to make.
    n_components : int, optional
        Of the embedding; as many as clusters, if not given.
    restarts : int
        Independent starts of k-means; the best is kept.
    tol, certify, products, max_iter, momentum, oversampling, noise, noise_norm, random_state, callback, verbose
        As in PCA, for the embedding; random_state also drives k-means.

    Attributes
    ----------
    labels_ : ndarray (nodes,)
        The cluster of each node; 0 is the largest.
    inertia_ : float
    embedding_, eigenvalues_, n_connected_components_
        As in SpectralEmbedding.
    converged_, status_, residual_, sin_theta_, error_bar_, certificate_, n_iter_, history_, info_
        As in SpectralEmbedding.

    Examples
    --------
    >>> import networkx as nx, hearsay
    >>> graph = nx.connected_caveman_graph(4, 8)
    >>> labels = hearsay.SpectralClustering(4).fit_predict(graph)
    >>> sorted(len(set(labels[8 * i : 8 * i + 8])) for i in range(4))
    [1, 1, 1, 1]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int | None = None,
        restarts: int = 10,
        tol: float | None = None,
        certify: str = "full",
        products: int | None = None,
        max_iter: int | None = None,
        momentum: str | float = "auto",
        oversampling: str | int = "auto",
        noise: NoiseLike = None,
        noise_norm: float | None = None,
        random_state: Any = 0,
        callback: Callback | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.restarts = restarts
        self.tol = tol
        self.certify = certify
        self.products = products
        self.max_iter = max_iter
        self.momentum = momentum
        self.oversampling = oversampling
        self.noise = noise
        self.noise_norm = noise_norm
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def fit(self, graph: Any, y: Any = None) -> SpectralClustering:
        """``graph``: a networkx graph, or a symmetric adjacency matrix with non-negative weights, dense or sparse."""
        seed = embed(self, graph, self.n_clusters if self.n_components is None else self.n_components)
        made = _core.kmeans(self.embedding_, self.n_clusters, self.restarts, 300, 1e-6, seed)
        self.labels_ = made["labels"]
        self.cluster_centers_ = made["centers"]
        self.inertia_ = made["inertia"]
        return self

    embedding_: Array
    eigenvalues_: Array
    info_: Info


def embed(estimator: Any, graph: Any, rank: int) -> int:
    """Fits the attributes of an embedding; returns the seed that was used."""
    edges = edges_of(graph)
    seed = seed_from(estimator.random_state)
    noise_options, model = as_asked(estimator.noise)
    with in_python_words("n_components", "tol", "max_iter", "oversampling", "random_state"):
        options = noise_options + option_texts(
            n_components=rank,
            tol=estimator.tol,
            certify=estimator.certify,
            products=estimator.products,
            max_iter=estimator.max_iter,
            momentum=estimator.momentum,
            oversampling=estimator.oversampling,
            noise_norm=estimator.noise_norm,
            random_state=seed,
        )
        tolerance = _core.tolerance_of(options)
        with watching(estimator.callback, estimator.verbose, tolerance, type(estimator).__name__) as watch:
            made = _core.embed(edges.nodes, edges.ends, edges.weights, options, model, watch)
    info = info_from(made, tolerance, momentum=estimator.momentum)
    estimator.embedding_ = made["embedding"]
    estimator.eigenvalues_ = made["eigenvalues"]
    estimator.n_connected_components_ = 1 + int(_core.connected_components(edges.nodes, edges.ends).max())
    estimator.info_ = info
    estimator.n_iter_ = max(1, info.iterations)
    estimator.converged_ = info.converged
    estimator.status_ = info.status
    estimator.residual_ = info.residual
    estimator.sin_theta_ = info.sin_theta_estimate
    estimator.error_bar_ = info.error_bar
    estimator.certificate_ = info.certificate
    estimator.history_ = info.history
    warn_unless_converged(info, stacklevel=4)
    return seed
