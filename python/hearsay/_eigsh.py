"""Eigenvectors of a symmetric matrix, from either end of its spectrum, however it is known."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from hearsay import _core
from hearsay._arrays import arithmetic, compressed_rows, precision_text, require_square, rows_in_place
from hearsay._errors import DataError, InvalidArgument
from hearsay._options import accuracy_on, in_python_words, option_texts, seed_from
from hearsay._progress import watching
from hearsay._result import Callback, EigshResult, info_from
from hearsay._tensors import device_of, like, on_host, ready_on_device
from hearsay.noise import NoiseLike, as_asked

__all__ = ["eigsh"]

Array = npt.NDArray[Any]

SPELT = ("k", "tol", "max_iter", "oversampling", "random_state", "which")


@overload
def eigsh(
    A: Any,
    k: int = 6,
    *,
    which: str = "LA",
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
    noisy: bool | str | None = None,
    turn: str = "auto",
    precision: str = "auto",
    device: str = "cpu",
    shift: float = 0.0,
    psd: bool = False,
    random_state: Any = 0,
    start: npt.ArrayLike | None = None,
    reference: npt.ArrayLike | None = None,
    callback: Callback | None = None,
    verbose: bool = False,
    v0: npt.ArrayLike | None = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    return_eigenvectors: Literal[True] = True,
    M: None = None,
    sigma: None = None,
    Minv: None = None,
    OPinv: None = None,
    mode: str = "normal",
    rng: Any = None,
) -> EigshResult: ...
@overload
def eigsh(
    A: Any,
    k: int = 6,
    *,
    which: str = "LA",
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
    noisy: bool | str | None = None,
    turn: str = "auto",
    precision: str = "auto",
    device: str = "cpu",
    shift: float = 0.0,
    psd: bool = False,
    random_state: Any = 0,
    start: npt.ArrayLike | None = None,
    reference: npt.ArrayLike | None = None,
    callback: Callback | None = None,
    verbose: bool = False,
    v0: npt.ArrayLike | None = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    return_eigenvectors: Literal[False],
    M: None = None,
    sigma: None = None,
    Minv: None = None,
    OPinv: None = None,
    mode: str = "normal",
    rng: Any = None,
) -> Array: ...
def eigsh(
    A: Any,
    k: int = 6,
    *,
    which: str = "LA",
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
    noisy: bool | str | None = None,
    turn: str = "auto",
    precision: str = "auto",
    device: str = "cpu",
    shift: float = 0.0,
    psd: bool = False,
    random_state: Any = 0,
    start: npt.ArrayLike | None = None,
    reference: npt.ArrayLike | None = None,
    callback: Callback | None = None,
    verbose: bool = False,
    v0: npt.ArrayLike | None = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    return_eigenvectors: bool = True,
    M: None = None,
    sigma: None = None,
    Minv: None = None,
    OPinv: None = None,
    mode: str = "normal",
    rng: Any = None,
) -> EigshResult | Array:
    """k eigenvalues of a symmetric matrix, from either end of its spectrum or both, and their eigenvectors.

    Parameters
    ----------
    A : ndarray, sparse matrix, LinearOperator or callable
        Or a tensor on a CUDA device (torch, cupy, whatever speaks DLPack), which is not copied; the answer is then of
        its kind and on its device. Else:
        A LinearOperator is used through its ``matmat``. A callable takes a block (d x p) and returns A times it; it
        needs ``n``. Arrays are borrowed, not copied, when they are float64 or float32 with contiguous rows or columns;
        of a CSR matrix with 32-bit indices only the row starts are copied.
    k : int
        How many eigenvectors to find, up to the dimension.
    which : {"LA", "SA", "LM", "BE"}
        Which eigenvalues, and their order: "LA" the largest, descending; "SA" the smallest, ascending; "LM" the largest
        in magnitude, by decreasing magnitude; "BE" half of them from each end, of an odd number one more from the high
        end, descending. SciPy, whose default is "LM", sorts all of them ascending: ``values.argsort()`` does. The
        matrix may have negative eigenvalues. "LM" and "BE" come from one Krylov space, and need exact products.
    n : int, optional
        The dimension, for a callable.
    tol : float, optional
        Stop when ||A V - V V'AV||_F / ||A V||_F, measured on the very V that is returned, is at most this; relative to
        a thousandth of the largest eigenvalue seen where ||A V||_F is less. None or 0: 1e-10, in single precision 1e-5.
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
    noisy : bool or "approximate", optional
        Whether the products of A are inexact. "approximate": with errors that are the same whenever the same block is
        multiplied, as rounding and low precision make them; the block is then turned before each product, so that they
        average out. None: a solve watches for it.
    turn : {"auto", "none", "signs", "rotations"}
        Turns the block before each product and back after it, by random signs or random rotations, which rounding
        needs. "auto": rotations where ``noisy`` is "approximate".
    precision : {"auto", "double", "single"}
        "auto" keeps float32 and computes everything else in double. On a device, what products are made in: also "fp16"
        and "tf32", and "auto" is the cheapest whose rounding allows the accuracy, and better ones where it does not.
    device : {"cpu", "cuda", "cuda:1", "cuda,cpu", ...}
        Where products of a dense or sparse matrix are made: by the processor, or on a CUDA device, to ``accuracy``
        (1e-4 by itself), where the package was built with CUDA. With ",cpu" after it, by the processor where that
        device is not there. ``info.rungs`` says what was done.
    shift : float
        Solve A + shift I; the values returned are those of A. Only for "LA", and seldom needed: the power iteration
        finds a shift by itself (``info.shift_found``), unless ``momentum`` is a number.
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
    v0 : array of d numbers, or d x p, optional
        SciPy's word for ``start``. An answer that began there is "converged" only where it is proved that nothing was
        missed.
    ncv : int, optional
        Taken as SciPy's, and without effect: the space chooses its own size, and a note says so.
    maxiter : int, optional
        SciPy's word for ``max_iter``. An iteration is one product with a block.
    return_eigenvectors : bool
        False: the values alone are returned, as SciPy does.
    rng : optional
        SciPy's word for ``random_state``.
    M, sigma, Minv, OPinv, mode
        Refused unless they are None (of ``mode``: "normal"): generalised problems and shift-invert need a
        factorisation, and products are all there is.

    Returns
    -------
    EigshResult
        ``values, vectors, info``. A ConvergenceWarning says when ``info.status`` is not "converged": "ambiguous" where
        eigenvalues at the cut cannot be told apart, as +x and -x of "LM".

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

    Any end of any symmetric matrix:

    >>> hearsay.eigsh(A - 2.6 * np.eye(4), 3, which="LM").values.round(12)
    array([-2.1, -1.6,  1.4])
    """
    _refuse_what_needs_factors(M, sigma, Minv, OPinv, mode)
    start = _one_of("start", start, "v0", v0)
    max_iter = _one_of("max_iter", max_iter, "maxiter", maxiter)
    tol = None if tol == 0 else tol
    random_state = random_state if rng is None else rng
    if precision == "mixed":
        raise InvalidArgument("precision = mixed: is for PCA; must be one of auto|double|single here")
    noise_options, model = as_asked(noise)
    tensor = device_of(A)
    if tensor is not None:
        ready = ready_on_device(A, device)
        device = tensor
    dtype = np.dtype(np.float64) if tensor else arithmetic(_dtype_of(A), precision)
    accuracy = accuracy_on(device, tol, accuracy)
    approximate = _is_approximate(noisy)
    options = noise_options + option_texts(
        k=k,
        which=which,
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
        turn="rotations" if approximate and turn == "auto" else turn,
        precision=precision_text(dtype, precision, device),
        device=device,
        random_state=seed_from(random_state),
    )
    with in_python_words(*SPELT):
        tolerance = _core.tolerance_of(options)
    common: dict[str, Any] = dict(
        options=options,
        shift=float(shift),
        psd=bool(psd),
        noisy=True if approximate else noisy,
        noise=model,
        start=_block(on_host(start), dtype),
        reference=_block(reference, dtype),
    )
    with watching(callback, verbose, tolerance, "eigsh") as watch, in_python_words(*SPELT):
        if tensor is None:
            made = _solve(A, n, dtype, {**common, "callback": watch})
        else:
            made = _solve_tensor(A, ready, {**common, "callback": watch})
    if ncv is not None:
        made["notes"].append(f"ncv = {ncv}: has no effect; the space chooses its own size")
    info = info_from(made, tolerance, method, momentum, accuracy)
    if not info.converged:
        from hearsay._warnings import warn_unless_converged

        warn_unless_converged(info)
    values = made["eigenvalues"] if tensor is None else like(A, made["eigenvalues"])
    return EigshResult(values, made["vectors"], info) if return_eigenvectors else values


def _refuse_what_needs_factors(M: Any, sigma: Any, Minv: Any, OPinv: Any, mode: str) -> None:
    reasons = {
        "M": (M, "generalised problems need a factor of M; solve L^-1 A L^-T with M = L L' as a LinearOperator"),
        "sigma": (
            sigma,
            "eigenvalues inside of the spectrum need a factor of A - sigma I, and products are all there is",
        ),
        "Minv": (Minv, "goes with M, and generalised problems are not solved"),
        "OPinv": (
            OPinv,
            "goes with sigma; give OPinv itself as the matrix, whose largest eigenvalues are 1 / (lambda - sigma)",
        ),
    }
    for name, (value, reason) in reasons.items():
        if value is not None:
            raise InvalidArgument(f"{name}: must be None: {reason}")
    if mode != "normal":
        raise InvalidArgument(f"mode = {mode}: must be normal: the others are ways to use sigma")


def _one_of(name: str, value: Any, other_name: str, other: Any) -> Any:
    """One thing that has two names."""
    if value is not None and other is not None:
        raise InvalidArgument(f"{other_name}: is another word for {name}, which is given too")
    return other if value is None else value


def _solve(A: Any, n: int | None, dtype: np.dtype[Any], common: dict[str, Any]) -> dict[str, Any]:
    if np.issubdtype(_dtype_of(A), np.complexfloating):
        raise InvalidArgument(f"matrix of {_dtype_of(A)}: must be real")
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


def _solve_tensor(A: Any, ready: Any, common: dict[str, Any]) -> dict[str, Any]:
    for name in ("noise", "reference"):
        if common[name] is not None:
            raise InvalidArgument(f"{name}: says nothing on a device")
    if common["shift"] != 0:
        raise InvalidArgument(f"shift = {common['shift']:g}: says nothing on a device")
    made = _core.eigs_on_device(ready, common["options"], common["psd"], common["start"], common["callback"])
    return {**made, "vectors": like(A, made["vectors"])}


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


def _is_approximate(noisy: bool | str | None) -> bool:
    if isinstance(noisy, str) and noisy != "approximate":
        raise InvalidArgument(f'noisy = {noisy!r}: must be True, False, None or "approximate"')
    return noisy == "approximate"


def _dtype_of(A: Any) -> Any:
    dtype = getattr(A, "dtype", None)
    return np.dtype(np.float64) if dtype is None else np.dtype(dtype)


def _block(block: npt.ArrayLike | None, dtype: np.dtype[Any]) -> Array | None:
    """A vector is a block of one column."""
    if block is None:
        return None
    given = np.asarray(block)
    if np.iscomplexobj(given):
        raise InvalidArgument(f"start or reference of {given.dtype}: must be real")
    return np.ascontiguousarray(given[:, np.newaxis] if given.ndim == 1 else given, dtype=dtype)
