"""Leading singular values and vectors of a rectangular matrix, however it is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from hearsay import _core
from hearsay._arrays import arithmetic, compressed_rows, precision_text, rows_in_place
from hearsay._errors import InvalidArgument
from hearsay._options import Options, accuracy_on, in_python_words, option_texts, seed_from
from hearsay._progress import watching
from hearsay._result import Callback, Certificate, Cluster, Info, Word, info_from

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SvdInfo", "SvdsResult", "svds"]

Array = npt.NDArray[Any]

SPELT = ("k", "tol", "max_iter", "oversampling", "random_state")
SOLVERS = (None, "auto", "arpack", "lobpcg", "propack")


def _of_singular_values(text: str) -> str:
    return text.replace("eigenvalue", "singular value")


class _SingularCluster(Cluster):
    def __str__(self) -> str:
        return _of_singular_values(super().__str__())


class _SingularCertificate(Certificate):
    """Its values are singular values, and its sine is of the left and the right subspace, the larger of the two."""

    def missed(self) -> str:
        return _of_singular_values(super().missed())


@dataclass(frozen=True, eq=False, repr=False)
class SvdInfo(Info):
    """How a solve went, and what is known of each singular value. The residual is that of A'A (or AA')."""

    errors: Array = field(default_factory=lambda: np.empty(0))
    """The i-th singular value of the matrix is at most s[i] + errors[i]: a bound or an estimate, as ``errors_are``
    says; infinite where nothing is known."""
    errors_are: Word = "unknown"
    rounding: float = 0.0
    """It is at least s[i] - rounding: a bound; infinite where products turned out to be noisy."""
    within: float = 0.0
    """k singular values of the matrix lie so near to those of s, whichever they are: a bound."""
    resolved: int = 0
    """So many are above rounding; the vectors of the others are orthonormal and mean nothing."""
    frobenius_norm: float = 0.0
    """Of the matrix: the root of the sum of the squares of all singular values."""
    by_rows: bool = False
    """It was solved as AA', for it has fewer rows than columns."""
    sharpened: int = 0
    """Half products that went into the smallest singular values."""

    def why(self) -> str:
        """One sentence on why it ended."""
        return _of_singular_values(super().why())

    def __str__(self) -> str:
        return _of_singular_values(super().__str__()).replace("  singular values  ", "  values       ")


class _Triple(NamedTuple):
    u: Array | None
    s: Array
    vt: Array | None


class SvdsResult(_Triple):
    """u, s, vt = hearsay.svds(...), and how it went in ``info``.

    ``u`` is m x k and ``vt`` k x n, both orthonormal; ``s`` is descending, as numpy.linalg.svd has it (scipy's svds
    promises no order). The largest entry of each row of ``vt`` is positive.
    """

    info: SvdInfo

    def __new__(cls, u: Array | None, s: Array, vt: Array | None, info: SvdInfo) -> SvdsResult:
        made = super().__new__(cls, u, s, vt)
        made.info = info
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return SvdsResult, (self.u, self.s, self.vt, self.info)

    def plot(self, ax: Axes | None = None) -> Axes:
        return self.info.plot(ax)


@overload
def svds(
    A: Any,
    k: int = 6,
    ncv: int | None = None,
    tol: float | None = 0,
    which: str = "LM",
    v0: npt.ArrayLike | None = None,
    maxiter: int | None = None,
    return_singular_vectors: Literal[True, "u", "vh"] = True,
    solver: str | None = None,
    rng: Any = None,
    options: dict[str, Any] | None = None,
    *,
    random_state: Any = 0,
    accuracy: float | None = None,
    certify: str = "full",
    products: int | None = None,
    method: str = "auto",
    momentum: str | float = "auto",
    damping: str = "auto",
    oversampling: str | int = "auto",
    precision: str = "auto",
    device: str = "cpu",
    callback: Callback | None = None,
    verbose: bool = False,
) -> SvdsResult: ...
@overload
def svds(
    A: Any,
    k: int = 6,
    ncv: int | None = None,
    tol: float | None = 0,
    which: str = "LM",
    v0: npt.ArrayLike | None = None,
    maxiter: int | None = None,
    *,
    return_singular_vectors: Literal[False],
    solver: str | None = None,
    rng: Any = None,
    options: dict[str, Any] | None = None,
    random_state: Any = 0,
    accuracy: float | None = None,
    certify: str = "full",
    products: int | None = None,
    method: str = "auto",
    momentum: str | float = "auto",
    damping: str = "auto",
    oversampling: str | int = "auto",
    precision: str = "auto",
    device: str = "cpu",
    callback: Callback | None = None,
    verbose: bool = False,
) -> Array: ...
def svds(
    A: Any,
    k: int = 6,
    ncv: int | None = None,
    tol: float | None = 0,
    which: str = "LM",
    v0: npt.ArrayLike | None = None,
    maxiter: int | None = None,
    return_singular_vectors: bool | str = True,
    solver: str | None = None,
    rng: Any = None,
    options: dict[str, Any] | None = None,
    *,
    random_state: Any = 0,
    accuracy: float | None = None,
    certify: str = "full",
    products: int | None = None,
    method: str = "auto",
    momentum: str | float = "auto",
    damping: str = "auto",
    oversampling: str | int = "auto",
    precision: str = "auto",
    device: str = "cpu",
    callback: Callback | None = None,
    verbose: bool = False,
) -> SvdsResult | Array:
    """The k largest singular values of a rectangular matrix, and their vectors. scipy's svds in its signature.

    Parameters
    ----------
    A : ndarray, sparse matrix or LinearOperator, m x n
        Real. A LinearOperator is used through its ``matmat`` and ``rmatmat``. Dense rows and CSR matrices with 32-bit
        indices are borrowed; beside a sparse matrix its transpose is kept.
    k : int
        How many, from 1 to min(m, n).
    ncv : int, optional
        Ignored, with a note in ``info.notes``: the size of the space is chosen.
    tol : float, optional
        Stop when ||A'A V - V S^2||_F / ||A'A V||_F, of the very vectors that are returned, is at most this. 0 or None:
        1e-10, in single precision 1e-5. Singular values are then right to about the square of that.
    which : "LM"
        The largest. "SM" is refused: the smallest are what products with A'A cannot tell.
    v0 : array of n numbers or n rows, optional
        A warm start of right vectors; m numbers or rows are taken for left vectors. Missing columns are random.
    maxiter : int, optional
        Stop after so many iterations in any case. None: 1000, or no limit where ``products`` is given.
    return_singular_vectors : bool, "u" or "vh"
        False: ``s`` alone is returned, as an array. "u" or "vh": the other side is None.
    solver, options : optional
        Of scipy's solvers: accepted, and without effect, with a note.
    rng, random_state : int, None, RandomState or Generator
        Drives the random start block and nothing else; ``rng`` counts where it is not None.
    accuracy, certify, products, method, momentum, damping, oversampling, precision, device, callback, verbose
        As in ``hearsay.eigsh``, for A'A or AA', whichever is smaller; ``precision`` may also be "mixed".

    Returns
    -------
    SvdsResult
        ``u, s, vt``, with ``info`` beside them: what is known of each singular value (``info.errors``,
        ``info.rounding``) and of the subspaces (``info.certificate``). A ConvergenceWarning says when ``info.status``
        is not "converged".

    Notes
    -----
    The squares of small singular values are lost in A'A: below about 1e-8 of the largest they cannot be told apart
    there, and the status says so. The subspace alone is taken from it; the singular values are those of A V, found to
    about 1e-15 of the largest, and ``info.errors`` says how right each of them is.

    Examples
    --------
    >>> import numpy as np, hearsay
    >>> A = np.diag([4.0, 3.0, 1.0, 0.5])[:, :3]
    >>> u, s, vt = hearsay.svds(A, 2)
    >>> s.round(12)
    array([4., 3.])
    >>> bool(np.allclose(u * s @ vt, np.diag([4.0, 3.0, 0, 0])[:, :3]))
    True
    """
    _require_largest(which)
    if return_singular_vectors not in (True, False, "u", "vh"):
        raise InvalidArgument(
            f"return_singular_vectors = {return_singular_vectors!r}: must be True, False, 'u' or 'vh'"
        )
    notes = _notes_on_scipy(ncv, solver, options)
    shape = _shape_of(A)
    dtype = arithmetic(_dtype_of(A), precision)
    accuracy = accuracy_on(device, tol or None, accuracy)
    options_given = option_texts(
        k=k,
        tol=tol or None,
        accuracy=accuracy,
        certify=certify,
        products=products,
        max_iter=maxiter,
        method=method,
        momentum=momentum,
        damping=damping,
        oversampling=oversampling,
        precision=precision_text(dtype, precision, device),
        device=device,
        random_state=seed_from(random_state if rng is None else rng),
    )
    made, tolerance = solve_svd(A, dtype, options_given, _start(A, v0, shape, dtype), callback, verbose)
    info = svd_info_from(made, tolerance, method, momentum, accuracy)
    info.notes.extend(notes)
    if not info.converged:
        from hearsay._warnings import warn_unless_converged

        warn_unless_converged(info)
    if return_singular_vectors is False:
        return np.asarray(made["eigenvalues"])
    u = None if return_singular_vectors == "vh" else made["left"]
    vt = None if return_singular_vectors == "u" else np.ascontiguousarray(made["vectors"].T)
    return SvdsResult(u, made["eigenvalues"], vt, info)


def _require_largest(which: str) -> None:
    if which == "SM":
        raise InvalidArgument(
            "which = SM: must be LM: the smallest singular values are lost in the products with A'A, whose condition "
            "is the square of the matrix's; take a factorisation, or solve with the inverse"
        )
    if which != "LM":
        raise InvalidArgument(f"which = {which!r}: must be LM, the largest singular values")


def _notes_on_scipy(ncv: int | None, solver: str | None, options: dict[str, Any] | None) -> list[str]:
    if solver not in SOLVERS:
        raise InvalidArgument(
            f"solver = {solver!r}: must be one of arpack|lobpcg|propack, which are all answered alike"
        )
    given = {"ncv": ncv, "solver": None if solver == "auto" else solver, "options": options or None}
    return [
        f"{name} = {value}: is scipy's, and has no effect here" for name, value in given.items() if value is not None
    ]


def solve_svd(
    A: Any,
    dtype: np.dtype[Any],
    options: Options,
    start: Array | None,
    callback: Callback | None,
    verbose: bool,
    spelt: tuple[str, ...] = SPELT,
) -> tuple[dict[str, Any], float]:
    """What the core makes of it, and the tolerance that it was held against."""
    with in_python_words(*spelt):
        tolerance = _core.tolerance_of(options)
    with watching(callback, verbose, tolerance, "svds") as watch, in_python_words(*spelt):
        if sp.issparse(A):
            made = _core.svd_sparse(*compressed_rows(A, dtype), options, start, watch)
        elif isinstance(A, LinearOperator):
            solve = _core.svd_function_single if dtype == np.float32 else _core.svd_function_double
            rows, cols = A.shape
            multiply, transposed = _checked(A.matmat, rows, dtype), _checked(A.rmatmat, cols, dtype)
            made = solve(multiply, transposed, rows, cols, options, start, watch)
        else:
            made = _core.svd_dense(rows_in_place(np.asarray(A), dtype), options, start, watch)
    return made, tolerance


def _checked(function: Callable[[Array], Any], rows: int, dtype: np.dtype[Any]) -> Callable[[Array], Array]:
    def product(X: Array) -> Array:
        Y = np.asarray(function(X))
        if np.iscomplexobj(Y):
            raise InvalidArgument(f"product of {Y.dtype}: must be real")
        if Y.shape != (rows, X.shape[1]):
            raise InvalidArgument(f"product of shape {Y.shape}: must be {(rows, X.shape[1])}")
        return np.ascontiguousarray(Y, dtype=dtype)

    return product


def _shape_of(A: Any) -> tuple[int, int]:
    known = A if sp.issparse(A) or isinstance(A, LinearOperator) else np.asarray(A)
    if len(known.shape) != 2 or 0 in known.shape:
        raise InvalidArgument(f"matrix of shape {known.shape}: must have two dimensions, and not be empty")
    if np.issubdtype(known.dtype or np.float64, np.complexfloating):
        raise InvalidArgument(f"matrix of {known.dtype}: must be real")
    rows, cols = known.shape
    return int(rows), int(cols)


def _start(A: Any, v0: npt.ArrayLike | None, shape: tuple[int, int], dtype: np.dtype[Any]) -> Array | None:
    """Right vectors: those given, or what left vectors are taken to."""
    if v0 is None:
        return None
    start = np.asarray(v0, dtype=dtype)
    start = start[:, None] if start.ndim == 1 else start
    if start.ndim != 2 or len(start) not in shape:
        raise InvalidArgument(f"v0 of shape {np.shape(v0)}: must have {shape[1]} rows, or {shape[0]} of left vectors")
    if len(start) != shape[1]:
        start = A.rmatmat(start) if isinstance(A, LinearOperator) else A.T @ start
    return np.ascontiguousarray(start, dtype=dtype)


def _dtype_of(A: Any) -> Any:
    dtype = getattr(A, "dtype", None)
    return np.dtype(np.float64) if dtype is None else np.dtype(dtype)


def svd_info_from(
    made: dict[str, Any], tolerance: float, method: str, momentum: str | float, accuracy: float | None
) -> SvdInfo:
    """Of a solve that was asked for this method, momentum and accuracy."""
    plain = info_from(made, tolerance, method, momentum, accuracy)
    values = {item.name: getattr(plain, item.name) for item in fields(Info)}
    own = {item.name for item in fields(SvdInfo)} - values.keys()
    certificate = {item.name: getattr(plain.certificate, item.name) for item in fields(Certificate)}
    cluster = plain.certificate.cluster
    if cluster is not None:
        named = {item.name: getattr(cluster, item.name) for item in fields(Cluster)}
        certificate["cluster"] = _SingularCluster(**named)
    values["certificate"] = _SingularCertificate(**certificate)
    return SvdInfo(**values, **{name: made[name] for name in own})
