"""eigsh of indefinite matrices beside SciPy's (ARPACK): every end of the spectrum, at 1e-4 and 1e-8, in one run.

Matrices: the adjacency and the Laplacian of ego-Facebook (HEARSAY_DATA/facebook_combined.txt.gz; left out where it is
not there), and a random sparse one of N(0, 1) entries. An answer is right if its eigenvalues are those of a dense
eigensolver to a hundredth of the tolerance, relative to the norm, or to a thousand roundings; for either tool that is
counted over the seeds. Times are medians over the seeds, one thread each. Prints JSON.

    bench/ends.py [--rank K] [--seeds N] [--size N]
"""

import argparse
import gzip
import json
import os
import pathlib
import statistics
import time
import warnings

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence
from scipy.sparse.linalg import eigsh as arpack

import hearsay


def facebook():
    path = pathlib.Path(os.environ.get("HEARSAY_DATA", "data")) / "facebook_combined.txt.gz"
    if not path.exists():
        return None
    with gzip.open(path) as file:
        edges = np.loadtxt(file, dtype=np.int64)
    nodes = int(edges.max()) + 1
    half = sp.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(nodes, nodes))
    return (half + half.T).tocsr()


def laplacian(adjacency):
    return (sp.diags_array(adjacency.sum(axis=1)) - adjacency).tocsr()


def random_sparse(size):
    generator = np.random.default_rng(7)
    half = sp.random_array((size, size), density=12 / size, rng=generator, data_sampler=generator.standard_normal)
    return (half + half.T).tocsr()


def wanted(values, which, k):
    """Of ascending values, ascending."""
    if which == "LA":
        return values[-k:]
    if which == "SA":
        return values[:k]
    if which == "LM":
        return np.sort(values[np.argsort(-abs(values), kind="stable")[:k]])
    return np.concatenate([values[: k // 2], values[len(values) - (k + 1) // 2 :]])


def timed(solve):
    begin = time.perf_counter()
    values = solve()
    return time.perf_counter() - begin, values


def by_arpack(A, k, which, tol, seed):
    start = np.random.default_rng(seed).standard_normal(A.shape[0])
    try:
        return np.sort(arpack(A, k, which=which, tol=tol, v0=start, maxiter=20000, return_eigenvectors=True)[0])
    except ArpackNoConvergence:
        return None


def compare(A, exact, which, tol, k, seeds):
    norm = abs(exact).max()
    truth = wanted(exact, which, k)
    ours, theirs, right, right_theirs, statuses = [], [], 0, 0, {}
    allowed = max(tol * norm * 1e-2, 1e3 * np.finfo(float).eps * norm)
    for seed in range(seeds):
        seconds, result = timed(lambda: hearsay.eigsh(A, k, which=which, tol=tol, random_state=seed))  # noqa: B023
        ours.append(seconds)
        statuses[result.info.status] = statuses.get(result.info.status, 0) + 1
        right += bool(abs(np.sort(result.values) - truth).max() <= allowed)
        seconds, values = timed(lambda: by_arpack(A, k, which, tol, seed))  # noqa: B023
        theirs.append(seconds)
        right_theirs += bool(values is not None and abs(values - truth).max() <= allowed)
    return {
        "which": which,
        "tolerance": tol,
        "seconds": statistics.median(ours),
        "scipy_seconds": statistics.median(theirs),
        "ratio": round(statistics.median(ours) / statistics.median(theirs), 3),
        "right": f"{right} of {seeds}",
        "scipy_right": f"{right_theirs} of {seeds}",
        "statuses": statuses,
        "method": result.info.method,
        "products": result.info.products,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rank", type=int, default=6)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--size", type=int, default=4000)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", hearsay.ConvergenceWarning)
    hearsay.set_threads(1)
    problems = {"random": (random_sparse(asked.size), ["LA", "SA", "LM", "BE"])}
    if (adjacency := facebook()) is not None:
        problems["adjacency"] = (adjacency, ["LA", "SA", "LM", "BE"])
        problems["laplacian"] = (laplacian(adjacency), ["SA", "LA"])
    rows = []
    for name, (A, ends) in problems.items():
        exact = np.linalg.eigvalsh(A.toarray())
        for which in ends:
            for tol in (1e-4, 1e-8):
                row = {"matrix": name, "dimension": A.shape[0], "nonzeros": A.nnz, "rank": asked.rank}
                rows.append({**row, **compare(A, exact, which, tol, asked.rank, asked.seeds)})
    print(json.dumps({"benchmark": "ends", "seeds": asked.seeds, "threads": 1, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
