"""Principal components and singular values of arrays that Dask holds.

A product with the covariance is one graph: every chunk of rows makes its part, and parts are added up in the order of
the chunks, eight at a time, so that the answer depends neither on the scheduler nor on how many workers there are. Only
blocks of vectors come to the caller. Where the features x features covariance is small it is made by one graph, and the
solve multiplies by that. The solver and its certificate are those of ``hearsay.PCA`` and ``hearsay.eigsh``.

Chunks are NumPy arrays or sparse matrices (as of an AnnData that is backed by Dask). Data that several graphs read are
best persisted before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from hearsay import _core
from hearsay._eigsh import eigsh
from hearsay._errors import DataError, InvalidArgument
from hearsay._options import in_python_words
from hearsay._pca import PCA as _LocalPCA
from hearsay._pca import SPELT
from hearsay._progress import watching
from hearsay._result import Callback, Info, info_from
from hearsay._warnings import warn_unless_converged

__all__ = ["PCA", "SvdResult", "svd"]

Array = npt.NDArray[Any]

FORMED_BYTES_LIMIT = 256 << 20
"""The largest covariance that one graph makes; beyond, every product is a graph."""
ADDED_AT_ONCE = 8


class _Part(NamedTuple):
    """Of some rows: their number and mean, the trace of their scatter about it, and the scatter where it is wanted."""

    rows: int
    mean: Array
    squares: float
    scatter: Array | None


# ---- What a worker does ---------------------------------------------------------------------------------------------


def _numbers(chunk: Any, first: int) -> Any:
    """Rows in double precision; `first` is the number of the first, for messages."""
    rows: Any = (
        chunk.tocsr().astype(np.float64) if sp.issparse(chunk) else np.ascontiguousarray(chunk, dtype=np.float64)
    )
    found = np.asarray(rows.data if sp.issparse(rows) else rows)
    if not np.isfinite(found.sum()) and not np.isfinite(found).all():
        i, j = np.argwhere(~np.isfinite(rows.toarray() if sp.issparse(rows) else rows))[0]
        raise DataError(f"X: row {first + i + 1}, column {j + 1} is not finite")
    return rows


def _part_of(chunk: Any, first: int, center: bool, scatter: bool) -> _Part:
    rows = _numbers(chunk, first)
    count = rows.shape[0]
    mean = np.asarray(rows.mean(axis=0)).ravel() if center and count else np.zeros(rows.shape[1])
    if sp.issparse(rows):
        squares = float(rows.multiply(rows).sum() - count * (mean @ mean))
        made = (rows.T @ rows).toarray() - count * np.outer(mean, mean) if scatter else None
    else:
        rows = rows - mean
        squares = float(np.vdot(rows, rows))
        made = rows.T @ rows if scatter else None
    return _Part(count, mean, squares, made)


def _together(parts: Sequence[_Part]) -> _Part:
    """Of the rows of both, and so on (Chan, Golub and LeVeque)."""
    one = parts[0]
    for other in parts[1:]:
        count = one.rows + other.rows
        apart = other.mean - one.mean
        share = one.rows * other.rows / count if count else 0.0
        scatter = None
        if one.scatter is not None and other.scatter is not None:
            scatter = one.scatter + other.scatter + share * np.outer(apart, apart)
        one = _Part(
            count,
            one.mean + apart * (other.rows / count if count else 0.0),
            one.squares + other.squares + share * float(apart @ apart),
            scatter,
        )
    return one


def _product_of(chunk: Any, first: int, mean: Array, V: Array) -> Array:
    """(B - 1 mean')'(B - 1 mean') V."""
    rows = _numbers(chunk, first)
    if sp.issparse(rows):
        U = np.asarray(rows @ V) - mean @ V
        return np.asarray(rows.T @ U - np.outer(mean, U.sum(axis=0)))
    rows = rows - mean
    return np.asarray(rows.T @ (rows @ V))


def _added(parts: Sequence[Array]) -> Array:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _triangle_of(chunk: Any, first: int, V: Array) -> Array:
    """R of B V = Q R."""
    return np.asarray(np.linalg.qr(np.asarray(_numbers(chunk, first) @ V), mode="r"))


def _triangle_below(parts: Sequence[Array]) -> Array:
    return np.asarray(np.linalg.qr(np.vstack(parts), mode="r"))


# ---- Graphs ---------------------------------------------------------------------------------------------------------


def _rows_in_chunks(X: Any) -> Any:
    """The array itself, every chunk some whole rows."""
    if hasattr(X, "obs_names") and hasattr(X, "X"):  # AnnData
        X = X.X
    if not isinstance(X, da.Array):
        raise InvalidArgument(f"X: is {type(X).__name__}, and must be a Dask array, or an AnnData that has one")
    if X.ndim != 2:
        raise InvalidArgument(f"X: has {X.ndim} dimensions, and must have 2")
    if any(np.isnan(size) for sizes in X.chunks for size in sizes):
        raise InvalidArgument("X: its chunks have unknown sizes; call X.compute_chunk_sizes() first")
    return X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X


class _Chunks:
    """The chunks of an array with the number of their first row."""

    def __init__(self, X: Any) -> None:
        self.rows, self.cols = (int(size) for size in X.shape)
        self.parts = list(X.to_delayed().ravel())
        self.first = np.concatenate([[0], np.cumsum(X.chunks[0])])[:-1].astype(int)

    def computed(self, work: Callable[..., Any], combine: Callable[[Sequence[Any]], Any], *arguments: Any) -> Any:
        """One graph: the work of every chunk, combined in the order of the chunks."""
        given = [
            dask.delayed(argument, pure=True) if isinstance(argument, np.ndarray) else argument
            for argument in arguments
        ]
        level = [
            dask.delayed(work)(chunk, int(first), *given) for chunk, first in zip(self.parts, self.first, strict=True)
        ]
        while len(level) > 1:
            groups = [level[i : i + ADDED_AT_ONCE] for i in range(0, len(level), ADDED_AT_ONCE)]
            level = [dask.delayed(combine)(group) for group in groups]
        return dask.compute(level[0])[0]


class _Known:
    """What the first graph found, in the words of ``hearsay._stream.Stream``."""

    def __init__(self, part: _Part, center: bool) -> None:
        self.samples = part.rows
        self.mean = part.mean
        self.scatter = part.scatter
        self.squares = part.squares
        self.divisor = max(1, part.rows - 1) if center else part.rows
        self.total_variance = part.squares / self.divisor
        self.factor = np.empty((0, len(part.mean)))


# ---- PCA ------------------------------------------------------------------------------------------------------------


class PCA(_LocalPCA):
    """``hearsay.PCA`` of a Dask array, with its parameters and attributes.

    ``fit`` takes a Dask array, dense or sparse, or an AnnData whose X is one; ``transform`` of a Dask array is a Dask
    array. Products are exact and in double precision: ``batch``, ``missing``, ``precision`` other than "auto" and
    "double", and weights are refused, and ``standardize`` where the covariance is too large to be formed.

    Examples
    --------
    >>> import dask.array as da, hearsay.dask  # doctest: +SKIP
    >>> X = da.random.random((100_000, 500), chunks=(10_000, 500))  # doctest: +SKIP
    >>> pca = hearsay.dask.PCA(10).fit(X.persist())  # doctest: +SKIP
    """

    def fit(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> PCA:
        """Finds the components of X (n_samples x n_features); y is ignored."""
        self._refuse(sample_weight)
        chunks = _Chunks(_rows_in_chunks(X))
        features = chunks.cols
        if chunks.rows < (2 if self.center else 1) or features < 1:
            raise InvalidArgument(f"X: is of shape {(chunks.rows, features)}; it has too few rows or no column")
        for name in ("_stream", "_arriving", "sin_theta_bar_", "drift_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        self.n_features_in_ = features
        formed = 8 * features * features <= FORMED_BYTES_LIMIT
        if self.standardize and not formed:
            raise InvalidArgument(f"standardize = True: must be False for {features} features of a Dask array")
        known = _Known(chunks.computed(_part_of, _together, bool(self.center), formed), bool(self.center))
        limit = min(known.samples, features)
        rank = self._first_rank(limit)
        start = self._warm_block(features) if self.warm_start else None
        made = self._found(chunks, known, rank, start)
        while self._wants_more(made, limit):
            made = self._found(chunks, known, min(limit, 2 * made["vectors"].shape[1]), made["vectors"])
        self._keep(made, self._share_rank(made), samples=known.samples, limit=limit)
        warn_unless_converged(self.info_)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> PCA:
        raise InvalidArgument("partial_fit: a Dask array is fitted as a whole; use fit")

    def transform(self, X: Any) -> Any:
        """The coordinates of the samples; of a Dask array a Dask array."""
        check_is_fitted(self)
        if not (isinstance(X, da.Array) or hasattr(X, "obs_names")):
            return super().transform(X)
        X = _rows_in_chunks(X)
        if X.shape[1] != self.n_features_in_:
            raise InvalidArgument(f"X: has {X.shape[1]} columns, and the analysis had {self.n_features_in_}")
        local = super().transform
        return X.map_blocks(
            lambda rows: local(rows) if rows.shape[0] else np.empty((0, self.n_components_)),
            dtype=np.float64,
            chunks=(X.chunks[0], (self.n_components_,)),
            meta=np.empty((0, 0)),
        )

    def _refuse(self, sample_weight: Any) -> None:
        for wrong, what in (
            (sample_weight is not None, "sample_weight: is for arrays in memory"),
            (self.batch is not None, f"batch = {self.batch}: must be None for a Dask array"),
            (self.missing != "refuse", f"missing = {self.missing!r}: must be 'refuse' for a Dask array"),
            (
                self.precision not in ("auto", "double"),
                f"precision = {self.precision!r}: must be 'auto' or 'double' for a Dask array",
            ),
            (self.n_components == "mle", "n_components = 'mle': is for arrays in memory"),
        ):
            if wrong:
                raise InvalidArgument(what)

    def _found(self, chunks: _Chunks, known: _Known, rank: int, start: Array | None) -> dict[str, Any]:
        if known.scatter is not None:
            return self._solve_stream(known, rank, start)  # type: ignore[arg-type]
        with in_python_words(*SPELT):
            options, model = self._options(rank, np.dtype(np.float64))
            tolerance = _core.tolerance_of(options)
            start = None if start is None else np.ascontiguousarray(start, dtype=np.float64)

            def product(V: Array) -> Array:
                made = chunks.computed(_product_of, _added, known.mean, np.asarray(V))
                return np.ascontiguousarray(made / known.divisor)

            with watching(self.callback, self.verbose, tolerance, "PCA") as watch:
                made = _core.eigs_function_double(
                    product, chunks.cols, options, 0.0, True, None, model, start, None, watch
                )
        made["mean"] = known.mean.copy()
        made["scale"] = None
        made["total_variance"] = known.total_variance
        made["singular_values"] = np.sqrt(np.maximum(0, made["eigenvalues"]) * known.divisor)
        made["info"] = info_from(made, tolerance, self.method, self.momentum, self.accuracy)
        return made


# ---- Singular values ------------------------------------------------------------------------------------------------


class SvdResult(NamedTuple):
    """u, s, vt and how it went: u is a Dask array, not computed yet; the certificate is that of X'X."""

    u: Any
    s: Array
    vt: Array
    info: Info


def svd(
    X: Any,
    k: int = 6,
    *,
    tol: float | None = None,
    accuracy: float | None = None,
    certify: str = "full",
    max_iter: int | None = None,
    random_state: Any = 0,
    callback: Callback | None = None,
    verbose: bool = False,
) -> SvdResult:
    """The k largest singular values of a Dask array, descending, and their vectors; nothing is centred.

    The right subspace comes from products with X'X, the values from X V: a QR decomposition of every chunk, joined in
    the order of the chunks. Values below about 1e-8 of the largest cannot be told apart in squares, and are refused.

    Parameters
    ----------
    X : dask.array.Array, or an AnnData that has one
    k, tol, accuracy, certify, max_iter, random_state, callback, verbose
        As in ``hearsay.eigsh``, of X'X.
    """
    array = _rows_in_chunks(X)
    chunks = _Chunks(array)
    if not 1 <= k <= min(chunks.rows, chunks.cols):
        raise InvalidArgument(f"k = {k}: must lie in [1, {min(chunks.rows, chunks.cols)}]")
    nothing = np.zeros(chunks.cols)
    found = eigsh(
        lambda V: np.ascontiguousarray(chunks.computed(_product_of, _added, nothing, np.asarray(V, dtype=np.float64))),
        k,
        n=chunks.cols,
        psd=True,
        tol=tol,
        accuracy=accuracy,
        certify=certify,
        max_iter=max_iter,
        random_state=random_state,
        callback=callback,
        verbose=verbose,
    )
    R = chunks.computed(_triangle_of, _triangle_below, found.vectors)
    _, s, turn = np.linalg.svd(R)
    if not s[-1] > 1e-8 * s[0]:
        raise DataError(f"k = {k}: singular value {int((s > 1e-8 * s[0]).sum()) + 1} is below 1e-8 of the largest")
    V = found.vectors @ turn.T
    V = V * np.sign(V[np.abs(V).argmax(axis=0), np.arange(k)])
    scaled = V / s
    u = array.map_blocks(
        lambda rows: np.asarray(_numbers(rows, 0) @ scaled),
        dtype=np.float64,
        chunks=(array.chunks[0], (k,)),
        meta=np.empty((0, 0)),
    )
    return SvdResult(u, s, np.ascontiguousarray(V.T), found.info)
