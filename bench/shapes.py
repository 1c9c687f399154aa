"""What a user types first: PCA(k).fit(X) and eigsh(A, k) with no options, beside scikit-learn's and SciPy's.

    bench/shapes.py [rows] [--quick]         data as users have it, one row each
    bench/shapes.py pca64 | pca32 | eigsh    a part of the sweep over shapes, some three minutes each
    bench/shapes.py share                    a rank by share of variance, and by Minka's criterion
    bench/shapes.py ways                     all eigenvalues beside a Krylov space: src/solver/costs.cpp is fitted to it
    bench/shapes.py draw [--picture SVG]     the map of what the parts measured, and which shapes lose

scikit-learn is at its best of auto, covariance_eigh and randomized, whatever accuracy the last one reaches; SciPy at
the same tolerance. Each tool has its turn alone, after a pause: threads of OpenBLAS spin for a while after a product,
and would take the next tool's processor. OPENBLAS_CORETYPE is set where the processor has AVX-512, as OpenBLAS is
slow without it. Times are medians by the clock. Parts keep their numbers in FILE (--keep, build/shapes.json).
"""

import argparse
import json
import os
import pathlib
import statistics
import time
import warnings

if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text():
    os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")  # before NumPy is there

import numpy as np
import scipy.sparse as sp
import shapes_map
from scipy.sparse.linalg import ArpackNoConvergence
from scipy.sparse.linalg import eigsh as arpack
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA

import hearsay

PAUSE_SECONDS = 0.15


def milliseconds(solve, repeat, budget=0.6):
    """The median of up to `repeat` calls, of as many as fit the budget in seconds, of one at least; the first warms up
    unless it alone takes a second."""
    time.sleep(PAUSE_SECONDS)
    begin = time.perf_counter()
    solve()
    first = time.perf_counter() - begin
    if first > 1:
        return 1e3 * first
    times = []
    while len(times) < 3 or (len(times) < repeat and sum(times) < budget):
        begin = time.perf_counter()
        solve()
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times)


# ---- PCA


def planted(samples, features, spectrum):
    """Rows with these variances along random directions; beyond 2,000 features along the axes, turned a little."""
    generator = np.random.default_rng(1)
    rows = generator.standard_normal((samples, features))
    rows *= np.sqrt(spectrum)
    if features <= 2000:
        return rows @ np.linalg.qr(generator.standard_normal((features, features)))[0].T
    mirror = generator.standard_normal(features)
    mirror /= np.linalg.norm(mirror)
    return rows - 2 * np.outer(rows @ mirror, mirror)


def harmonic(features):
    return 1 / np.arange(1, features + 1)


DATA = {
    "digits 1797 x 64": lambda: load_digits().data,
    "breast-cancer 569 x 30": lambda: load_breast_cancer().data,
    "10,000 x 100, 1/i": lambda: planted(10000, 100, harmonic(100)),
    "200,000 x 50, 1/i": lambda: planted(200000, 50, harmonic(50)),
    "2,000 x 2,000, 1/i": lambda: planted(2000, 2000, harmonic(2000)),
    "500 x 20,000, 1/i": lambda: planted(500, 20000, harmonic(20000)),
    "5,000 x 1,000, flat": lambda: planted(5000, 1000, np.ones(1000)),
    "50,000 x 784, exp(-i/60)": lambda: planted(50000, 784, np.exp(-np.arange(784) / 60)),
}
QUICK = list(DATA)[:4]


def peers_of_pca(X, k, repeat):
    """scikit-learn's solvers that this shape allows, in milliseconds."""
    solvers = ["auto"]
    if X.shape[1] <= 2000:
        solvers.append("covariance_eigh")
    if k < min(X.shape):
        solvers.append("randomized")
    fit = {solver: milliseconds(lambda: PCA(k, svd_solver=solver).fit(X), repeat) for solver in solvers}  # noqa: B023
    return min(fit, key=fit.get), min(fit.values())


def sine(components, X, k):
    centred = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    if X.shape[0] < X.shape[1]:
        truth = centred.T @ np.linalg.eigh(centred @ centred.T)[1][:, -k:]
        truth /= np.linalg.norm(truth, axis=0)
    else:
        truth = np.linalg.eigh(centred.T @ centred)[1][:, -k:]
    V = np.linalg.qr(components.T.astype(np.float64))[0]
    return float(np.linalg.norm(V - truth @ (truth.T @ V), 2))


def pca_row(name, X, k, repeat, budget=0.6):
    fitted = hearsay.PCA(k).fit(X)
    times = {
        "default": milliseconds(lambda: hearsay.PCA(k).fit(X), repeat, budget),
        "1e-4": milliseconds(lambda: hearsay.PCA(k, accuracy=1e-4).fit(X), repeat, budget),
    }
    solver, best = peers_of_pca(X, k, repeat)
    return {
        "what": "PCA",
        "data": name,
        "shape": X.shape,
        "k": k,
        "dtype": X.dtype.name,
        "ms": times,
        "peer": solver,
        "peer_ms": {"default": best, "1e-4": best},
        "ratio": {asked: spent / best for asked, spent in times.items()},
        "status": fitted.status_,
        "method": fitted.info_.method,
        "sine": sine(fitted.components_, X, k) if min(X.shape) <= 2000 and X.size <= 2e7 else None,
    }


def sweep_pca(kind, repeat):
    for samples in (100, 1000, 10000, 100000, 1000000):
        for features in (10, 100, 1000, 10000, 100000):
            if samples * features > 1e7:
                continue
            X = np.ascontiguousarray(planted(samples, features, harmonic(features)), dtype=kind)
            for k in (1, 10, 50):
                if k < min(samples, features):
                    yield pca_row(f"{samples:,} x {features:,}", X, k, repeat, 0.3)


# ---- Eigenvectors


def communities(nodes, count=10, degree=20, seed=3):
    """The adjacency of a graph whose edges stay within a community four times in five."""
    generator = np.random.default_rng(seed)
    edges = nodes * degree // 2
    first = generator.integers(nodes, size=edges)
    second = generator.integers(nodes, size=edges)
    size = nodes // count
    inside = generator.random(edges) < 0.8
    second = np.where(inside, first // size * size + second % size, second)
    return adjacency(first, np.minimum(second, nodes - 1), nodes)


def adjacency(first, second, nodes):
    half = sp.coo_array((np.ones(len(first)), (first, second)), shape=(nodes, nodes)).tocsr()
    whole = (half + half.T).tocsr()
    whole.setdiag(0)
    whole.eliminate_zeros()
    whole.data[:] = 1
    whole.indices, whole.indptr = whole.indices.astype(np.int32), whole.indptr.astype(np.int32)
    return whole


def random_graph(nodes, degree=16, seed=5):
    generator = np.random.default_rng(seed)
    return adjacency(*generator.integers(nodes, size=(2, nodes * degree // 2)), nodes)


def grid(side):
    line = sp.diags_array([np.ones(side - 1), np.ones(side - 1)], offsets=[-1, 1])
    made = sp.kronsum(line, line).tocsr()
    made.indices, made.indptr = made.indices.astype(np.int32), made.indptr.astype(np.int32)
    return made


def dense(size):
    turned = np.linalg.qr(np.random.default_rng(2).standard_normal((size, size)))[0]
    made = (turned * harmonic(size)) @ turned.T
    return (made + made.T) / 2


MATRICES = {
    "communities, 2,000": (lambda: communities(2000), 10),
    "communities, 20,000": (lambda: communities(20000), 10),
    "random graph, 20,000": (lambda: random_graph(20000), 10),
    "grid 100 x 100": (lambda: grid(100), 10),
}


def by_arpack(A, k, tol):
    try:
        return arpack(A, k, which="LA", tol=tol)
    except ArpackNoConvergence as failure:
        return failure.eigenvalues, failure.eigenvectors


def eigsh_row(name, A, k, repeat, budget=0.6):
    result = hearsay.eigsh(A, k, tol=1e-8)
    times, peers = {}, {}
    for asked, tol in (("1e-4", 1e-4), ("1e-8", 1e-8)):
        times[asked] = milliseconds(lambda: hearsay.eigsh(A, k, tol=tol), repeat, budget)  # noqa: B023
        peers[asked] = milliseconds(lambda: by_arpack(A, k, tol), repeat, budget)  # noqa: B023
    return {
        "what": "eigsh",
        "data": name,
        "shape": A.shape,
        "k": k,
        "dtype": "float64",
        "ms": times,
        "peer": "scipy",
        "peer_ms": peers,
        "ratio": {asked: spent / peers[asked] for asked, spent in times.items()},
        "status": result.info.status,
        "method": result.info.method,
        "sine": None,
    }


def sweep_eigsh(repeat):
    made = {"dense": dense, "random graph": random_graph, "communities": communities}
    for kind, make in made.items():
        for size in (100, 1000, 10000, 100000):
            if kind == "dense" and size > 1000:
                continue
            A = make(size)
            for k in (1, 10, 50):
                if k < size // 2 and k * size <= 1e6:
                    yield eigsh_row(f"{kind}, {size:,}", A, k, repeat, 0.3)


# ---- What is measured


def rows(asked):
    for name in QUICK if asked.quick else DATA:
        for kind in (np.float64, np.float32):
            yield pca_row(name, np.ascontiguousarray(DATA[name](), dtype=kind), asked.rank, asked.repeat)
    if not asked.quick:
        for name, (make, k) in MATRICES.items():
            yield eigsh_row(name, make(), k, asked.repeat)


def shares(asked):
    """A rank that the variances decide."""
    cases = [("digits 1797 x 64", 0.9), ("10,000 x 100, 1/i", 0.9), ("digits 1797 x 64", "mle")]
    cases += [("10,000 x 100, 1/i", "mle"), ("50,000 x 784, exp(-i/60)", 0.9), ("500 x 20,000, 1/i", 0.9)]
    for name, share in cases:
        X = DATA[name]()
        if share == "mle":
            X = X[:, X.std(axis=0) > 0]
        spent = milliseconds(lambda: hearsay.PCA(share).fit(X), asked.repeat)  # noqa: B023
        best = milliseconds(lambda: PCA(share).fit(X), asked.repeat)  # noqa: B023
        found, theirs = hearsay.PCA(share).fit(X), PCA(share).fit(X)
        yield {
            "what": "PCA",
            "data": f"{name}, n_components = {share}",
            "shape": X.shape,
            "k": found.n_components_,
            "dtype": X.dtype.name,
            "ms": {"default": spent},
            "peer": f"auto, k = {theirs.n_components_}",
            "peer_ms": {"default": best},
            "ratio": {"default": spent / best},
            "status": found.status_,
            "method": found.info_.method,
            "sine": None,
        }


def ways(asked):
    """Times of PCA by all eigenvalues and by a Krylov space, of covariances of d columns and of 2 d rows."""
    for features in (20, 50, 100, 200, 300, 500, 800, 1200):
        for spectrum in ("1/i", "exp(-i/60)", "flat"):
            values = {"1/i": harmonic(features), "exp(-i/60)": np.exp(-np.arange(features) / 60)}
            X = planted(2 * features, features, values.get(spectrum, np.ones(features)))
            for k in (1, 10, 50, features // 2):
                if k > features // 2:
                    continue
                spent = {
                    method: milliseconds(lambda: hearsay.PCA(k, method=method).fit(X), asked.repeat, 0.2)  # noqa: B023
                    for method in ("direct", "krylov")
                }
                chosen = hearsay.PCA(k).fit(X).info_.method
                print(
                    f"{features:5} {spectrum:<11} k {k:4}: direct {spent['direct']:9.2f} ms, krylov "
                    f"{spent['krylov']:9.2f}, ratio {spent['direct'] / spent['krylov']:5.2f}, auto takes {chosen}",
                    flush=True,
                )


def told(row):
    times = ", ".join(f"{asked} {row['ms'][asked]:.2f} ({row['ratio'][asked]:.2f})" for asked in row["ms"])
    peers = sorted(set(row["peer_ms"].values()))
    off = "" if row["sine"] is None else f", sine {row['sine']:.1e}"
    return (
        f"{row['what']:<5} {row['data']:<28} k {row['k']:<3} {row['dtype']}: {times} ms; {row['peer']} "
        f"{', '.join(f'{spent:.2f}' for spent in peers)}; {row['method']}, {row['status']}{off}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "part", nargs="?", default="rows", choices=["rows", "pca64", "pca32", "eigsh", "share", "ways", "draw"]
    )
    parser.add_argument("--rank", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="of rows the small shapes alone")
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("build/shapes.json"))
    parser.add_argument("--picture", type=pathlib.Path, default=pathlib.Path("docs/pictures/shapes.svg"))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    kept = json.loads(asked.keep.read_text()) if asked.keep.exists() else {}
    if asked.part == "draw":
        shapes_map.draw(kept, asked.picture)
        print(shapes_map.losers(kept))
        return
    if asked.part == "ways":
        ways(asked)
        return
    parts = {
        "rows": lambda: rows(asked),
        "share": lambda: shares(asked),
        "pca64": lambda: sweep_pca(np.float64, asked.repeat),
        "pca32": lambda: sweep_pca(np.float32, asked.repeat),
        "eigsh": lambda: sweep_eigsh(asked.repeat),
    }
    made = []
    for row in parts[asked.part]():
        made.append(row)
        print(told(row), flush=True)
    kept[asked.part] = made
    asked.keep.parent.mkdir(parents=True, exist_ok=True)
    asked.keep.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
