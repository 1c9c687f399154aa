"""The matrices of the comparison, and their answers.

An instance is a folder: about.json, the matrix as .npy files that every worker reads (dense: matrix.npy; graph:
edges.npy and the normalised adjacency in compressed rows; samples: matrix.npy, one sample a row), and reference.npy,
the first k eigenvectors: by LAPACK, or for the large graph by ARPACK at full precision, and then a search of the rest
of the space must find nothing larger. Their residual, over the gap, bounds their own error.
"""

import dataclasses
import gzip
import json
import os
import pathlib
import subprocess
import time

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg


@dataclasses.dataclass(frozen=True)
class Instance:
    name: str
    workload: str  # W1 to W4; W5: for noise alone
    title: str
    kind: str  # dense, graph, samples
    rank: int
    make: object  # folder, tools -> the matrix, written there; returns the dimension
    large: bool = False  # too large for a hundred solves without being asked


class MissingData(Exception):
    """An instance whose data are not on this machine."""


def planted(folder, eigenvalues, seed=0):
    d = len(eigenvalues)
    U, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))
    A = (U * eigenvalues) @ U.T
    np.save(folder / "matrix.npy", (A + A.T) / 2)
    return d


def three_eigenvalues(gap, d=1000, k=10):
    """The paper's dense instance: 1 ten times, 1 - gap, and 1/2."""
    eigenvalues = np.full(d, 0.5)
    eigenvalues[:k], eigenvalues[k] = 1, 1 - gap
    return lambda folder, tools: planted(folder, eigenvalues)


def harmonic(d):
    return lambda folder, tools: planted(folder, 1 / np.arange(1, d + 1))


def exponential(d):
    return lambda folder, tools: planted(folder, np.exp(-np.arange(1, d + 1) / 50))


def samples(rows, columns, seed=0):
    """Variances 1/i along random directions, about a mean of their size."""

    def make(folder, tools):
        random = np.random.default_rng(seed)
        Q, _ = np.linalg.qr(random.standard_normal((columns, columns)))
        Q *= 1 / np.sqrt(np.arange(1, columns + 1))
        data = random.standard_normal((rows, columns)) @ Q.T
        data += random.standard_normal(columns)
        np.save(folder / "matrix.npy", data)
        return columns

    return make


def write_graph(folder, edges, nodes):
    """D^-1/2 S D^-1/2 in compressed rows for the peers, the edges for hearsay. The identity that hearsay's operator
    adds shifts the spectrum, changes no eigenvector, and is spared the peers."""
    edges = np.ascontiguousarray(edges, dtype=np.int32)
    both = np.concatenate([edges, edges[:, ::-1]])
    adjacency = scipy.sparse.csr_matrix((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(nodes, nodes))
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    scale = scipy.sparse.diags(1 / np.sqrt(np.maximum(degrees, 1)))
    A = (scale @ adjacency @ scale).tocsr()
    A.sort_indices()
    np.save(folder / "edges.npy", edges)
    np.save(folder / "indptr.npy", A.indptr.astype(np.int32))
    np.save(folder / "indices.npy", A.indices.astype(np.int32))
    np.save(folder / "values.npy", A.data)
    return nodes


def planted_graph(nodes, communities, inside, outside, seed):
    def make(folder, tools):
        raw = folder / "raw.npy"
        numbers = [nodes, communities, inside, outside, seed]
        subprocess.run([tools["native"], "graph", *map(str, numbers), raw], check=True)
        edges = np.load(raw)
        raw.unlink()
        return write_graph(folder, edges, nodes)

    return make


def ego_facebook(folder, tools):
    """The largest component, which is all of it."""
    path = pathlib.Path(os.environ.get("HEARSAY_DATA", "")) / "facebook_combined.txt.gz"
    if not path.is_file():
        raise MissingData("ego-Facebook is not in HEARSAY_DATA (hearsay datasets fetch ego-facebook gets it)")
    with gzip.open(path, "rt") as file:
        edges = np.unique(np.sort(np.loadtxt(file, dtype=np.int64), axis=1), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    nodes, edges = np.unique(edges, return_inverse=True)
    edges = edges.reshape(-1, 2)
    graph = scipy.sparse.coo_matrix((np.ones(len(edges)), edges.T), shape=(len(nodes), len(nodes)))
    _, component = scipy.sparse.csgraph.connected_components(graph, directed=False)
    kept = component == np.argmax(np.bincount(component))
    renumbered = np.cumsum(kept) - 1
    return write_graph(folder, renumbered[edges[kept[edges[:, 0]]]], int(kept.sum()))


INSTANCES = [
    Instance("paper-1e-2", "W1", "dense d = 1000, k = 10, gap 1e-2", "dense", 10, three_eigenvalues(1e-2)),
    Instance("paper-1e-3", "W1", "dense d = 1000, k = 10, gap 1e-3", "dense", 10, three_eigenvalues(1e-3)),
    Instance("exponential-1000", "W5", "dense d = 1000, k = 10, exp(-i/50)", "dense", 10, exponential(1000)),
    Instance("harmonic-10", "W2", "dense d = 4000, k = 10, eigenvalues 1/i", "dense", 10, harmonic(4000)),
    Instance("exponential-10", "W2", "dense d = 4000, k = 10, exp(-i/50)", "dense", 10, exponential(4000)),
    Instance("harmonic-50", "W2", "dense d = 4000, k = 50, eigenvalues 1/i", "dense", 50, harmonic(4000)),
    Instance("exponential-50", "W2", "dense d = 4000, k = 50, exp(-i/50)", "dense", 50, exponential(4000)),
    Instance("communities", "W3", "graph of 262,111 nodes, k = 30", "graph", 30,
             planted_graph(262111, 30, 7.4, 2.0, 1), large=True),
    Instance("facebook", "W3", "ego-Facebook, k = 30", "graph", 30, ego_facebook),
    Instance("pca-tall", "W4", "PCA of 100,000 x 500, k = 10", "samples", 10, samples(100_000, 500), large=True),
    Instance("pca-wide", "W4", "PCA of 20,000 x 2,000, k = 10", "samples", 10, samples(20_000, 2_000), large=True),
    Instance("toy", "toy", "dense d = 120, k = 4", "dense", 4,
             lambda folder, tools: planted(folder, 0.8 ** np.arange(120))),
]  # fmt: skip


class Matrix:
    """An instance in memory, as the Python peers take it."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.about = json.loads((folder / "about.json").read_text())
        self.kind, self.rank, self.dimension = (self.about[key] for key in ("kind", "rank", "dimension"))
        if self.kind == "graph":
            parts = (np.load(folder / f"{name}.npy") for name in ("values", "indices", "indptr"))
            self.A = scipy.sparse.csr_matrix(tuple(parts), shape=(self.dimension,) * 2)
        elif self.kind == "dense":
            self.A = np.load(folder / "matrix.npy")
        else:
            self.data = np.load(folder / "matrix.npy")

    def times(self, X):
        """A X, in memory's own precision: for references and true residuals."""
        if self.kind != "samples":
            return self.A @ X
        mean = self.data.mean(axis=0)
        scores = self.data @ X - mean @ X
        return (self.data.T @ scores - np.outer(mean, scores.sum(axis=0))) / (len(self.data) - 1)


def top_eigenvectors(matrix):
    """The first k + 1 eigenvalues and eigenvectors, by LAPACK where the matrix is small enough to be formed."""
    d, k = matrix.dimension, matrix.rank
    if matrix.kind == "samples":
        centred = matrix.data - matrix.data.mean(axis=0)
        A = centred.T @ centred / (len(centred) - 1)
    elif matrix.kind == "dense" or d <= 5000:
        A = matrix.A if matrix.kind == "dense" else matrix.A.toarray()
    else:
        start = np.random.default_rng(12345).standard_normal(d)
        values, vectors = scipy.sparse.linalg.eigsh(matrix.A, k + 1, which="LA", ncv=4 * k, tol=1e-14, v0=start)
        order = np.argsort(-values)
        values, vectors = values[order], vectors[:, order]
        require_nothing_larger(matrix.A, vectors[:, :k], values[k])
        return values, vectors
    values, vectors = scipy.linalg.eigh(A, subset_by_index=[d - k - 1, d - 1])
    return values[::-1], vectors[:, ::-1]


def require_nothing_larger(A, U, lambda_next):
    """Searches the complement of U for an eigenvalue above lambda_{k+1}, which would have been overlooked."""

    def project(x):
        return x - U @ (U.T @ x)

    rest = scipy.sparse.linalg.LinearOperator(A.shape, lambda x: project(A @ project(x.ravel())), dtype=float)
    start = project(np.random.default_rng(54321).standard_normal(A.shape[0]))
    found = scipy.sparse.linalg.eigsh(rest, 1, which="LA", ncv=40, tol=1e-6, v0=start, return_eigenvectors=False)[0]
    if not found <= lambda_next * (1 + 1e-6):
        raise ArithmeticError(f"an eigenvalue {found} was overlooked beside {lambda_next}")


def measure_sine(reference, basis):
    """sin(theta_k) between the two ranges; 1 for a basis that is no basis."""
    if basis.shape != reference.shape or not np.isfinite(basis).all():
        return 1.0
    Q, R = np.linalg.qr(basis)
    if np.min(np.abs(np.diag(R))) <= 1e-12 * np.max(np.abs(np.diag(R))):
        return 1.0
    return float(min(1.0, np.linalg.norm(Q - reference @ (reference.T @ Q), 2)))


def prepare(instance, cache, tools, say):
    """The instance's folder, made on the first call."""
    folder = cache / "instances" / instance.name
    if (folder / "reference.npy").is_file():
        return folder
    begin = time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    dimension = instance.make(folder, tools)
    about = {"name": instance.name, "kind": instance.kind, "rank": instance.rank, "dimension": int(dimension)}
    (folder / "about.json").write_text(json.dumps(about))
    matrix = Matrix(folder)
    values, vectors = top_eigenvectors(matrix)
    k = instance.rank
    basis = np.linalg.qr(vectors[:, :k])[0]
    product = matrix.times(basis)
    residual = np.linalg.norm(product - basis @ (basis.T @ product), 2)
    gap = values[k - 1] - values[k]
    error = residual / gap
    about |= {"lambda_1": values[0], "lambda_k": values[k - 1], "lambda_next": values[k], "error_of_reference": error}
    if not error <= 1e-10:
        raise ArithmeticError(f"{instance.name}: the reference has residual {residual:.1e} at a gap of {gap:.1e}")
    (folder / "about.json").write_text(json.dumps(about, indent=2))
    np.save(folder / "reference.npy", basis)
    seconds = time.perf_counter() - begin
    say(f"{instance.name}: made and solved in {seconds:.1f} s; gap {gap:.2e}, reference good to {error:.1e}")
    return folder
