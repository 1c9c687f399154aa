"""Leading eigenvectors of a symmetric matrix, however it is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from hearsay import _core
from hearsay._arrays import arithmetic, compressed_rows, precision_text, require_square, rows_in_place
from hearsay._errors import DataError, InvalidArgument
from hearsay._options import in_python_words, option_texts, seed_from
from hearsay._progress import watching
from hearsay._result import Callback, EigshResult, info_from
from hearsay.noise import NoiseLike, as_asked

__all__ = ["eigsh"]

Array = npt.NDArray[Any]

SPELT = ("k", "tol", "max_iter", "oversampling", "random_state")


def eigsh(
    A: Any,
    k: int = 6,
    *,
    n: int | None = None,
    tol: float | None = None,
    accuracy: float | None = None,
    certify: str = "full",
    products: int | None = None,
    max_iter: int | None = None,
    method: str = "auto",
    momentum: str | float = "auto",
    damping: str = "auto",
    oversampling: str | int = "auto",
    cooldown: int = 20,
    noise: NoiseLike = None,
    noise_norm: float | None = None,
    noisy: bool | None = None,
    precision: str = "auto",
    shift: float = 0.0,
    psd: bool = False,
    random_state: Any = 0,
    start: npt.ArrayLike | None = None,
    reference: npt.ArrayLike | None = None,
    callback: Callback | None = None,
    verbose: bool = False,
) -> EigshResult:
    """The k largest eigenvalues of a symmetric positive semidefinite matrix, and their eigenvectors.

    Parameters
    ----------
    A : ndarray, sparse matrix, LinearOperator or callable
        A LinearOperator is used through its ``matmat``. A callable takes a block (d x p) and returns A times it; it
        needs ``n``. Arrays are borrowed, not copied, when they are float64 or float32 with contiguous rows or columns;
        of a CSR matrix with 32-bit indices only the row starts are copied.
    k : int
        How many eigenvectors to find.
    n : int, optional
        The dimension, for a callable.
    tol : float, optional
        Stop when ||A V - V V'AV||_F / ||A V||_F, measured on the very V that is returned, is at most this. None: 1e-10,
        in single precision 1e-5.
    accuracy : float, optional
        Stop when sin(theta) of the subspace is estimated to be at most this, under noise when the error bar is; without
        a ``tol`` of its own that is the same number.
    certify : {"full", "residual", "none"}
        How much to find out about the answer, for ``info.certificate``: "full" looks for what may have been missed,
        with products of its own; "residual" spends none on that; "none" says nothing beyond the residual.
    products : int, optional
        Multiply at most so many columns by the matrix; under noise all of them are spent, and the more the better.
    max_iter : int, optional
        Stop after so many iterations in any case. None: 1000, or no limit where ``products`` is given.
    method : {"auto", "anpm", "npm", "krylov", "averaged"}
        "anpm" is the accelerated noisy power method, "npm" the plain one, "krylov" a block Krylov space, for exact
        products, "averaged" for noisy ones: a wide block, then averages of a narrow one, with an error bar. "auto"
        takes averaged where products are noisy, krylov where they are exact and costly, and nothing else is said about
        the iteration.
        ``info.method`` names what was used.
    momentum : {"auto", "paper", "optimal", "none"} or float
        A number is the paper's beta; 2 sqrt(beta) must lie below the k-th eigenvalue.
    damping : {"auto", "centred", "symmetric"}
        The unwanted interval, [0, b] or [-b, b]. "auto": centred where ``psd`` says that it may be.
    oversampling : "auto" or int
        Extra columns in the block.
    cooldown : int
        Momentum-free steps after a noisy plateau, where nothing is averaged.
    noise : None, str, a model of ``hearsay.noise`` or a function (product, X) -> Xi
        Errors to add to every product.
    noise_norm : float, optional
        Your word that no product's error exceeds this in spectral norm: it is added to the error bar, over the gap, for
        errors that are not independent.
    noisy : bool, optional
        Whether the products of A are inexact. None: a solve watches for it.
    precision : {"auto", "double", "single"}
        "auto" keeps float32 and computes everything else in double.
    shift : float
        Solve A + shift I, for a matrix with negative eigenvalues; the values returned are those of A.
    psd : bool
        Take it as known that the matrix (with its shift) has no negative eigenvalue.
    random_state : int, None, RandomState or Generator
        Drives the random start block and nothing else.
    start : array of d rows, optional
        A warm start; missing columns are random.
    reference : array d x k, optional
        A known answer: ``info.history["sin_theta"]`` is then the sine of the largest angle to it.
    callback : function, optional
        Called with every iteration (t, residual, momentum, basis, ...); returning False stops the solve.
    verbose : bool
        Show a bar (tqdm's, if it is installed).

    Returns
    -------
    EigshResult
        ``values, vectors, info``. A ConvergenceWarning says when ``info.status`` is not "converged".

    Notes
    -----
    What a function raises comes out unchanged. Ctrl-C ends the solve with the best so far: a product it broke into is
    made again, and one more measures the answer; a second Ctrl-C raises KeyboardInterrupt.

    Examples
    --------
    >>> import numpy as np, hearsay
    >>> A = np.diag([4.0, 3.0, 1.0, 0.5])
    >>> values, vectors, info = hearsay.eigsh(A, 2)
    >>> values.round(12)
    array([4., 3.])
    >>> info.status
    'converged'

    Any function that multiplies will do:

    >>> hearsay.eigsh(lambda X: A @ X, 2, n=4).values.round(12)
    array([4., 3.])
    """
    if precision == "mixed":
        raise InvalidArgument("precision = mixed: is for PCA; must be one of auto|double|single here")
    noise_options, model = as_asked(noise)
    dtype = arithmetic(_dtype_of(A), precision)
    options = noise_options + option_texts(
        k=k,
        tol=tol,
        accuracy=accuracy,
        certify=certify,
        products=products,
        max_iter=max_iter,
        method=method,
        momentum=momentum,
        damping=damping,
        oversampling=oversampling,
        cooldown=cooldown,
        noise_norm=noise_norm,
        precision=precision_text(dtype, precision),
        random_state=seed_from(random_state),
    )
    with in_python_words(*SPELT):
        tolerance = _core.tolerance_of(options)
    common: dict[str, Any] = dict(
        options=options,
        shift=float(shift),
        psd=bool(psd),
        noisy=noisy,
        noise=model,
        start=_block(start, dtype),
        reference=_block(reference, dtype),
    )
    with watching(callback, verbose, tolerance, "eigsh") as watch, in_python_words(*SPELT):
        made = _solve(A, n, dtype, {**common, "callback": watch})
    info = info_from(made, tolerance, method, momentum, accuracy)
    if not info.converged:
        from hearsay._warnings import warn_unless_converged

        warn_unless_converged(info)
    return EigshResult(made["eigenvalues"], made["vectors"], info)


def _solve(A: Any, n: int | None, dtype: np.dtype[Any], common: dict[str, Any]) -> dict[str, Any]:
    if sp.issparse(A):
        require_square(A)
        rows = compressed_rows(A, dtype)
        _core.require_symmetric_sparse(*rows)
        return _core.eigs_sparse(*rows, **common)
    if isinstance(A, LinearOperator):
        if A.shape[0] != A.shape[1]:
            raise InvalidArgument(f"operator of shape {A.shape}: must be square")
        return _solve_function(A.matmat, A.shape[0], dtype, common)
    if callable(A):
        if n is None:
            raise InvalidArgument("n: must be given for a callable: the dimension of the matrix")
        return _solve_function(A, n, dtype, common)
    matrix = np.asarray(A)
    if np.iscomplexobj(matrix):
        raise InvalidArgument(f"matrix of {matrix.dtype}: must be real")
    matrix = matrix.astype(dtype, copy=False)
    require_square(matrix)
    # The transpose of a symmetric matrix is the matrix: columns side by side serve as well as rows.
    in_place = matrix.T if matrix.flags.f_contiguous else rows_in_place(matrix, dtype)
    try:
        _core.require_symmetric_dense(in_place)
    except DataError:
        _core.require_symmetric_dense(rows_in_place(matrix, dtype))  # which names the entry as the caller counts
        raise
    return _core.eigs_dense(in_place, **common)


def _solve_function(function: Any, n: int, dtype: np.dtype[Any], common: dict[str, Any]) -> dict[str, Any]:
    def product(X: Array) -> Array:
        Y = np.asarray(function(X))
        if np.iscomplexobj(Y):
            raise InvalidArgument(f"product of {Y.dtype}: must be real")
        if Y.shape != X.shape:
            raise InvalidArgument(f"product of shape {Y.shape}: must be {X.shape}, as the block is")
        return np.ascontiguousarray(Y, dtype=dtype)

    solve = _core.eigs_function_single if dtype == np.float32 else _core.eigs_function_double
    return solve(product, n, **common)


def _dtype_of(A: Any) -> Any:
    dtype = getattr(A, "dtype", None)
    return np.dtype(np.float64) if dtype is None else np.dtype(dtype)


def _block(block: npt.ArrayLike | None, dtype: np.dtype[Any]) -> Array | None:
    return None if block is None else np.ascontiguousarray(block, dtype=dtype)
