"""What partial_fit keeps of the rows that passed by: their number, their mean, and their scatter about it.

Up to a d x d matrix of 2 GiB the scatter is kept whole, and the answer is that of all rows at once. Beyond, it is kept
as a factor F of so many rows with F'F about the scatter: new rows are stacked below it and the whole is cut back to its
leading singular directions (Ross et al., 2008, as in scikit-learn's IncrementalPCA).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.sparse as sp

from hearsay import _core
from hearsay._errors import InvalidArgument
from hearsay._options import Options

__all__ = ["Arriving", "Stream"]

Array = npt.NDArray[Any]

SCATTER_BYTES_LIMIT = 2 << 30


def row_blocks(X: Any, numbers: int = 2**18) -> Iterator[Any]:
    """X in blocks of rows, a few megabytes each."""
    rows = max(1, numbers // max(1, X.shape[1]))
    for first in range(0, X.shape[0], rows):
        yield X[first : first + rows]


class Stream:
    """Rows seen so far, in double precision."""

    def __init__(self, features: int, center: bool, kept: int, bytes_limit: int = SCATTER_BYTES_LIMIT) -> None:
        self.center = center
        self.samples = 0
        self.mean = np.zeros(features)
        self.squares = 0.0  # the trace of the scatter
        self.kept = min(kept, features)
        self.exact = 8 * features * features <= bytes_limit
        self.scatter = np.zeros((features, features)) if self.exact else None
        self.factor = np.zeros((0, features))

    def add(self, X: Any) -> None:
        for block in row_blocks(X):
            self._add(np.asarray(block.toarray() if sp.issparse(block) else block, dtype=float))

    def _add(self, rows: Array) -> None:
        seen, new = self.samples, len(rows)
        self.samples = seen + new
        if self.center:
            mean = rows.mean(axis=0)
            rows = rows - mean
            # The two groups' means differ, and so their scatters miss this much of that of all rows.
            between = np.sqrt(seen * new / (seen + new)) * (mean - self.mean)
            rows = np.vstack([rows, between]) if seen else rows
            self.mean += (mean - self.mean) * (new / self.samples)
        self.squares += float(np.vdot(rows, rows))
        if self.scatter is not None:
            self.scatter += rows.T @ rows
            return
        _, values, directions = scipy.linalg.svd(np.vstack([self.factor, rows]), full_matrices=False)
        self.factor = np.ascontiguousarray(values[: self.kept, None] * directions[: self.kept])

    @property
    def divisor(self) -> int:
        return max(1, self.samples - 1) if self.center else self.samples

    @property
    def total_variance(self) -> float:
        return self.squares / self.divisor


class Arriving:
    """Rows that make one noisy product a batch (the core's ArrivingPca). Before the first batch is full, its rows are
    all there is, and they are solved whole.
    """

    def __init__(self, features: int, options: Options, center: bool, dtype: np.dtype[Any]) -> None:
        self.center = center
        self.dtype = dtype
        self.rank = int(dict(options)["rank"])
        self.core = (_core.ArrivingSingle if dtype == np.float32 else _core.ArrivingDouble)(features, options, center)
        self.few: Array | None = np.zeros((0, features), dtype=dtype)

    def add(self, X: Any) -> None:
        for block in row_blocks(X) if sp.issparse(X) else [X]:
            rows = np.ascontiguousarray(block.toarray() if sp.issparse(block) else block, dtype=self.dtype)
            self.core.add(rows)
            if self.core.batches > 0:
                self.few = None
            elif self.few is not None:
                self.few = np.vstack([self.few, rows])

    def made(self, solve_whole: Any) -> dict[str, Any]:
        if self.few is None:
            return self.core.result()
        return solve_whole(self.few, min(self.rank, *self.few.shape), None)  # type: ignore[no-any-return]

    @property
    def samples(self) -> int:
        return int(self.core.samples)

    def __reduce__(self) -> Any:
        raise InvalidArgument("stream: rows that arrive by batches cannot be pickled or copied; fit once more")
