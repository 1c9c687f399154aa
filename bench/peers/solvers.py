"""The Python peers: how each is called, and what is tried to find its best setting.

A solver takes an instance in memory, a setting, a seed, and where there is noise its size and how many products may be
made; it returns a Solution. `sweep` lists the settings apart from the one that buys accuracy, the tolerance as a rule,
which bisection finds on a grid from loose to tight.
"""

import dataclasses
import warnings

import numpy as np
import scipy.linalg
import scipy.sparse.linalg


@dataclasses.dataclass
class Solution:
    basis: np.ndarray
    success: bool = True  # what the tool says of itself
    status: str = "success"
    products: int | None = None
    passes: int | None = None


class Counted(scipy.sparse.linalg.LinearOperator):
    """A, its products counted, with gaussian errors if asked."""

    def __init__(self, matrix, formed=None, noise=None):
        super().__init__(dtype=np.dtype(float), shape=(matrix.dimension, matrix.dimension))
        self.A = formed if formed is not None else getattr(matrix, "A", None)
        self.products = self.passes = 0
        self.sigma = noise["sigma"] if noise else 0.0
        self.random = np.random.default_rng(noise["seed"]) if noise else None
        if self.A is None:
            self.data = matrix.data
            self.mean = self.data.mean(axis=0)
            self.passes = 1

    def times(self, X):
        if self.A is not None:
            self.passes += 1
            Y = self.A @ X
        else:
            self.passes += 2  # the data, there and back
            scores = self.data @ X
            scores -= self.mean @ X
            Y = self.data.T @ scores
            Y -= np.multiply.outer(self.mean, scores.sum(axis=0))
            Y /= len(self.data) - 1
        self.products += 1 if X.ndim == 1 else X.shape[1]
        if self.sigma:
            Y += self.sigma * self.random.standard_normal(Y.shape)
        return Y

    def _matvec(self, x):
        return self.times(x.ravel())

    _matmat = times


def gram(data, centre):
    """The covariance by dsyrk, one triangle: of a centred copy, or of the data as they are, less the mean's share."""
    rows = len(data)
    mean = data.mean(axis=0)
    if centre == "copy":
        return scipy.linalg.blas.dsyrk(1 / (rows - 1), (data - mean).T)
    C = scipy.linalg.blas.dsyrk(1 / (rows - 1), data.T)
    C -= np.outer(mean, mean) * (rows / (rows - 1))
    return C


def both_triangles(C):
    C = np.triu(C)
    C += np.triu(C, 1).T
    return C


def operator_for(matrix, setting, noise):
    """The matrix itself, or for samples the covariance, formed or not."""
    if matrix.kind == "samples" and setting["covariance"] == "formed":
        return Counted(matrix, both_triangles(gram(matrix.data, "correct")), noise)
    return Counted(matrix, None, noise)


def start_block(matrix, columns, seed):
    return np.random.default_rng(seed).standard_normal((matrix.dimension, columns))


def arpack(matrix, setting, seed, noise):
    A, k, ncv = operator_for(matrix, setting, noise), matrix.rank, setting["ncv"]
    restarts = max(1, (noise["budget"] - ncv) // (ncv - k)) if noise else 100_000
    start = start_block(matrix, 1, seed).ravel()
    success = True
    try:
        _, basis = scipy.sparse.linalg.eigsh(A, k, which="LA", ncv=ncv, tol=setting["tol"], v0=start, maxiter=restarts)
    except scipy.sparse.linalg.ArpackNoConvergence as stopped:
        basis, success = stopped.eigenvectors, False
    return Solution(basis, success, "success" if success else "no convergence", A.products, A.passes)


def lobpcg(matrix, setting, seed, noise):
    A, k, columns = operator_for(matrix, setting, noise), matrix.rank, setting["columns"]
    iterations = noise["budget"] // (2 * columns) if noise else 2000  # where products are noisy it makes A X anew too
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values, basis = scipy.sparse.linalg.lobpcg(
            A, start_block(matrix, columns, seed), largest=True, tol=setting["tol"], maxiter=iterations
        )
    success = not any("not reaching" in str(w.message) or "not converge" in str(w.message).lower() for w in caught)
    basis = basis[:, np.argsort(-values)[:k]]
    return Solution(basis, success, "success" if success else "warned", A.products, A.passes)


def primme(matrix, setting, seed, noise):
    import primme as library

    A, k = operator_for(matrix, setting, noise), matrix.rank
    limit = {"maxMatvecs": noise["budget"]} if noise else {}
    success, status = True, "success"
    try:
        _, basis = library.eigsh(
            A,
            k,
            which="LA",
            tol=setting["tol"],
            method=setting["method"],
            maxBlockSize=setting["block"],
            v0=start_block(matrix, 1, seed),
            **limit,
        )
    except library.PrimmeError as error:
        return Solution(np.zeros((matrix.dimension, 0)), False, str(error)[:60], A.products, A.passes)
    return Solution(basis, success, status, A.products, A.passes)


def top_by_lapack(C, k, driver, triangle):
    d = len(C)
    if driver == "evd":
        return scipy.linalg.eigh(C, lower=triangle == "lower", driver="evd", check_finite=False)[1][:, d - k :]
    return scipy.linalg.eigh(
        C, lower=triangle == "lower", driver=driver, subset_by_index=[d - k, d - 1], check_finite=False
    )[1]


def lapack(matrix, setting, seed, noise):
    """All of the matrix at once: eigh, after dsyrk for samples."""
    if matrix.kind == "samples":
        basis = top_by_lapack(gram(matrix.data, setting["centre"]), matrix.rank, setting["driver"], "upper")
    else:
        A = matrix.A if matrix.kind == "dense" else matrix.A.toarray()
        basis = top_by_lapack(A, matrix.rank, setting["driver"], "lower")
    return Solution(basis, passes=1)


def scikit_learn(matrix, setting, seed, noise):
    from sklearn.decomposition import PCA

    options = {key: setting[key] for key in ("iterated_power", "n_oversamples", "tol") if key in setting}
    fitted = PCA(matrix.rank, svd_solver=setting["solver"], random_state=seed, **options).fit(matrix.data)
    passes = 2 + 2 * setting["iterated_power"] + 1 if "iterated_power" in setting else None
    return Solution(fitted.components_.T, passes=passes)


TOLERANCES = ("tol", tuple(10 ** (-j / 2) for j in range(31)))
POWERS = ("iterated_power", (0, 1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 40))


@dataclasses.dataclass(frozen=True)
class Peer:
    name: str
    worker: str  # python, slepc-1, slepc-2, spectra, hearsay
    sweep: object  # about -> settings
    kinds: tuple = ("dense", "graph", "samples")
    solve: object = None  # for the Python worker
    grid: tuple | None = TOLERANCES  # what buys accuracy: its name and its values
    noisy: bool = True  # can be given noisy products
    largest: int = 1_000_000  # the dimension up to which it makes sense


def subspaces(k, d):
    """Sizes of a Krylov space, the tools' own default among them."""
    return sorted({min(d - 1, n) for n in (max(2 * k + 1, 20), 3 * k, 4 * k)})


def covariances(about):
    return [{"covariance": way} for way in ("formed", "products")] if about["kind"] == "samples" else [{}]


def krylov_sweep(about):
    k, d = about["rank"], about["dimension"]
    return [{**way, "ncv": ncv} for way in covariances(about) for ncv in subspaces(k, d)]


def lobpcg_sweep(about):
    k = about["rank"]
    return [{**way, "columns": columns} for way in covariances(about) for columns in (k + k // 2, 2 * k, k)]


def primme_sweep(about):
    """GD+k in blocks; the methods PRIMME chooses by itself; its LOBPCG, which only pays in whole blocks."""
    k = about["rank"]
    ways = [("PRIMME_GD_plusK", block) for block in sorted({1, 4, min(16, k)})]
    ways += [("PRIMME_DYNAMIC", 1), ("PRIMME_DYNAMIC", min(16, k)), ("PRIMME_LOBPCG_OrthoBasis_Window", k)]
    return [{**way, "method": method, "block": block} for way in covariances(about) for method, block in ways]


def lapack_sweep(about):
    centres = [{"centre": "correct"}, {"centre": "copy"}] if about["kind"] == "samples" else [{}]
    return [{**centre, "driver": driver} for centre in centres for driver in ("evr", "evd")]


def randomized_sweep(about):
    k = about["rank"]
    return [{"solver": "randomized", "n_oversamples": extra} for extra in sorted({10, k, 2 * k, 4 * k})]


PEERS = [
    Peer("hearsay", "hearsay", lambda about: [{"method": "auto"}], grid=None),
    Peer("hearsay anpm", "hearsay", lambda about: [{"method": "anpm"}], ("dense", "graph"), grid=None),
    Peer("hearsay mixed", "hearsay", lambda about: [{"precision": "mixed"}], grid=None, noisy=False),
    Peer("scipy eigsh (ARPACK)", "python", krylov_sweep, solve=arpack),
    Peer("scipy lobpcg", "python", lobpcg_sweep, solve=lobpcg),
    Peer("PRIMME", "python", primme_sweep, solve=primme),
    Peer("Spectra", "spectra", krylov_sweep, ("dense", "graph")),
    Peer("SLEPc", "slepc-1", krylov_sweep, ("dense", "graph")),
    Peer("SLEPc, 2 processes", "slepc-2", krylov_sweep, ("dense", "graph"), noisy=False),
    Peer("LAPACK eigh", "python", lapack_sweep, ("dense", "graph"), lapack, None, False, 5000),
    Peer("dsyrk + eigh", "python", lapack_sweep, ("samples",), lapack, None, False),
    Peer("scikit-learn covariance_eigh", "python", lambda about: [{"solver": "covariance_eigh"}], ("samples",),
         scikit_learn, None, False),
    Peer("scikit-learn randomized", "python", randomized_sweep, ("samples",), scikit_learn, POWERS, False),
    Peer("scikit-learn arpack", "python", lambda about: [{"solver": "arpack"}], ("samples",), scikit_learn,
         TOLERANCES, False),
]  # fmt: skip


def peers_for(about, names=None):
    return [
        peer
        for peer in PEERS
        if about["kind"] in peer.kinds and about["dimension"] <= peer.largest and (not names or peer.name in names)
    ]
