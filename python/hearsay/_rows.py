"""Rows that are never held: any object with ``shape`` and ``blocks()``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hearsay._errors import DataError, InvalidArgument

__all__ = ["RowSource", "SourceOfRows", "is_row_source", "rows_of"]

Array = npt.NDArray[Any]


@runtime_checkable
class RowSource(Protocol):
    """What ``PCA.fit`` and ``transform`` take in place of an array that does not fit in memory.

    Every call of ``blocks()`` begins with the first row again and gives the same rows in the same order, in blocks of
    any heights: arrays of two dimensions, or sparse matrices.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows all blocks have together, and how many columns each of them has."""
        ...

    def blocks(self) -> Iterator[Any]:
        """The rows from the first to the last, once."""
        ...


def is_row_source(X: Any) -> bool:
    """Arrays are none, nor are sparse matrices, though they may have blocks of their own."""
    return not isinstance(X, type) and callable(getattr(X, "blocks", None)) and hasattr(X, "shape")


def rows_of(data: Any, at_once: int = 4096) -> RowSource:
    """A source from anything with ``shape`` that can be sliced by rows: a dataset of h5py or zarr, a numpy.memmap, X of
    an AnnData that is backed by its file.

    Parameters
    ----------
    data : object
        ``data[first:last]`` must be those rows.
    at_once : int
        How many rows to read at a time; a multiple of the file's own chunks is best.

    Examples
    --------
    >>> import numpy as np, hearsay
    >>> X = np.random.default_rng(0).standard_normal((1000, 20))
    >>> pca = hearsay.PCA(2).fit(hearsay.rows_of(X, at_once=300))
    >>> pca.n_samples_
    1000
    """
    if len(getattr(data, "shape", ())) != 2 or not hasattr(data, "__getitem__"):
        raise InvalidArgument("data: must have a shape of two numbers, and rows to slice")
    if at_once < 1:
        raise InvalidArgument(f"at_once = {at_once}: must be at least 1")
    return _Sliced(data, int(at_once))


class _Sliced:
    def __init__(self, data: Any, at_once: int) -> None:
        self.data = data
        self.at_once = at_once

    @property
    def shape(self) -> tuple[int, int]:
        rows, cols = self.data.shape
        return int(rows), int(cols)

    def blocks(self) -> Iterator[Any]:
        for first in range(0, self.shape[0], self.at_once):
            yield self.data[first : first + self.at_once]


def _plain(block: Any) -> Any:
    if sp.issparse(block):
        return block.toarray()
    return block.to_numpy() if hasattr(block, "to_numpy") else block


class SourceOfRows:
    """A source, checked, as the core takes it: begin() starts a pass, next() gives rows in double precision, or None at
    the end. A pass that differs in length from the others is an error, and so is a number that may not be there."""

    dtype = np.dtype(np.float64)

    def __init__(self, source: RowSource, missing: bool) -> None:
        shape = tuple(source.shape)
        if len(shape) != 2 or not all(isinstance(n, (int, np.integer)) for n in shape):
            raise InvalidArgument(f"source: its shape is {shape!r}, and must be (rows, columns)")
        self.shape: tuple[int, int] = (int(shape[0]), int(shape[1]))
        self.missing = missing
        self.source = source
        self._blocks: Iterator[Any] = iter(())
        self._seen = 0
        self._passes = 0
        self._shift: Array = np.empty(0)
        self._sums = np.zeros((2, self.shape[1]))  # of the rows less the shift, and of their squares

    def begin(self) -> None:
        self._blocks = iter(self.source.blocks())
        self._seen = 0
        self._passes += 1
        if self._passes == 1:
            self._sums[:] = 0

    def total_variance(self, center: bool) -> float:
        """The trace of the covariance, from the first pass."""
        count = self.shape[0]
        if not center:
            return float((self._sums[1] + 2 * self._shift * self._sums[0] + count * self._shift**2).sum() / count)
        return float((self._sums[1] - self._sums[0] ** 2 / count).sum() / max(1, count - 1))

    def _add(self, rows: Array) -> None:
        if self._seen == 0:
            self._shift = rows.mean(axis=0)
        apart = rows - self._shift
        self._sums += apart.sum(axis=0), np.square(apart).sum(axis=0)

    def next(self) -> Array | None:
        for block in self._blocks:
            rows = np.ascontiguousarray(_plain(block), dtype=np.float64)
            if rows.ndim != 2 or rows.shape[1] != self.shape[1]:
                raise DataError(
                    f"source: the block after row {self._seen} is of shape {rows.shape}, and must have "
                    f"{self.shape[1]} columns"
                )
            self._require_numbers(rows)
            if self._passes == 1 and len(rows) and not self.missing:
                self._add(rows)
            self._seen += len(rows)
            if self._seen > self.shape[0]:
                raise DataError(f"source: hands over more than the {self.shape[0]} rows of its shape")
            if len(rows):
                return rows
        if self._seen != self.shape[0]:
            raise DataError(
                f"source: handed over {self._seen} rows in a pass, and its shape says {self.shape[0]}; blocks() must "
                "begin anew at every call"
            )
        return None

    def _require_numbers(self, rows: Array) -> None:
        if np.isfinite(rows.sum()):
            return
        wrong = np.isinf(rows) if self.missing else ~np.isfinite(rows)
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise DataError(f"source: row {self._seen + i + 1}, column {j + 1} is {rows[i, j]}")

    def __iter__(self) -> Iterator[Array]:
        self.begin()
        while (rows := self.next()) is not None:
            yield rows
