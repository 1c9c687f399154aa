"""Views of what the caller has, and copies only where a view cannot be had."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hearsay._errors import DataError, InvalidArgument

__all__ = ["arithmetic", "compressed_rows", "require_square", "rows_in_place"]

Array = npt.NDArray[Any]


def arithmetic(dtype: Any, precision: str) -> np.dtype[Any]:
    """The number type of a solve: that of the data under "auto", float64 for anything but the two floats."""
    if precision == "single" or (precision in ("auto", "fp16", "tf32") and dtype == np.float32):
        return np.dtype(np.float32)
    return np.dtype(np.float64)


def precision_text(dtype: np.dtype[Any], precision: str, device: str = "cpu") -> str:
    """How the option table spells it. A device knows "auto" itself."""
    if device != "cpu":
        return precision
    return precision if precision != "auto" else "single" if dtype == np.float32 else "double"


def rows_in_place(X: Array, dtype: np.dtype[Any]) -> Array:
    """X itself where the numbers of a row lie side by side, be it only part of a larger array; else a copy."""
    X = np.asarray(X, dtype=dtype)
    rows, cols = X.shape
    row_step, step = (stride // X.itemsize for stride in X.strides)
    side_by_side = (cols <= 1 or step == 1) and (rows <= 1 or row_step >= max(cols, 1))
    aligned = X.flags.aligned and all(stride % X.itemsize == 0 for stride in X.strides)
    return X if side_by_side and aligned else np.ascontiguousarray(X)


def compressed_rows(X: Any, dtype: np.dtype[Any]) -> tuple[Array, Array, Array, int]:
    """row_start, columns, values, number of columns. Of a CSR matrix with 32-bit indices only the row starts are
    copied; anything else sparse becomes one first."""
    X = sp.csr_array(X) if not sp.issparse(X) or X.format != "csr" else X
    if max(X.shape) > np.iinfo(np.int32).max:
        raise InvalidArgument(f"sparse matrix of shape {X.shape}: must have less than 2^31 rows and columns")
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if len(X.indices) and not (0 <= X.indices.min() and X.indices.max() < X.shape[1]):
        raise DataError(f"sparse matrix of shape {X.shape}: has a column index outside it")
    return (
        X.indptr.astype(np.int64),
        np.ascontiguousarray(X.indices, dtype=np.int32),
        np.ascontiguousarray(X.data, dtype=dtype),
        int(X.shape[1]),
    )


def require_square(A: Any) -> None:
    if A.ndim != 2 or A.shape[0] != A.shape[1] or A.shape[0] == 0:
        raise InvalidArgument(f"matrix of shape {A.shape}: must be square and not empty")
