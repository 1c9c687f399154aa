"""PCA by batches beside what one would use instead: how far each is from the truth after one pass and after several.

Two problems. `digits`: 1797 x 64, built in; the truth is PCA on all rows, and the unit is its own statistical error,
the median sin(theta) between it and PCA on bootstrap samples. `stream`: rows of independent N(0, 1/i) entries in
float32; the truth is planted, and the unit is the error of PCA on all rows. Errors are sin(theta) of the largest angle.
Compared are

- hearsay pca --batch, with its error bar,
- scikit-learn's IncrementalPCA with the same batch, and with the batch that takes the memory of hearsay,
- Oja's rule on the same batches, with the best of its step sizes chosen in hindsight, by the truth.

Prints JSON. Needs numpy and scikit-learn, and the program.

    bench/stream.py PROGRAM [--rows N] [--columns N] [--rank K] [--batch N] [--seeds N]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np
import sklearn
from sklearn.datasets import load_digits
from sklearn.decomposition import IncrementalPCA

STEPS = [0.25, 0.5, 1, 2, 4, 8, 16]


def sin_theta(U, V):
    return float(np.linalg.norm(V - U @ (U.T @ V), 2))


def leading(covariance, k):
    return np.linalg.eigh(covariance)[1][:, ::-1][:, :k]


def batches_of(X, batch, passes):
    for _ in range(passes):
        for first in range(0, len(X) - batch + 1, batch):
            yield np.asarray(X[first : first + batch], dtype=float)


def by_program(program, data, k, batch, passes, seed, stream):
    """Three passes are the default; a number of iterations stands for any other."""
    iterations = passes * -(-len(data) // batch) - 2
    with tempfile.TemporaryDirectory() as directory:
        basis, samples = pathlib.Path(directory) / "basis.npy", pathlib.Path(directory) / "samples.npy"
        if not isinstance(data, np.memmap):
            np.save(samples, data)
        command = [program, "pca", data.filename if isinstance(data, np.memmap) else samples, "-k", k, "--batch", batch]
        command += ["--noise-seed", seed, "--seed", seed, "--components", basis, "--json", "-", "--quiet"]
        command += ["--stream"] if stream else []
        command += [] if passes == 3 else ["--max-iterations", iterations]
        run = subprocess.run([str(word) for word in command], capture_output=True, check=False, text=True)
        if run.returncode not in (0, 3):
            raise SystemExit(run.stderr)
        said = json.loads(run.stdout)
        return np.load(basis), said["sin_theta_estimate"], said["seconds"]


def by_incremental(X, k, batch, passes):
    pca = IncrementalPCA(k)
    for rows in batches_of(X, batch, passes):
        pca.partial_fit(rows)
    return pca.components_.T


def by_oja(X, k, batch, passes, step, mean, scale):
    """V <- orth(V + eta_t B'B V / batch), eta_t = step / (scale (t + 10)), about a mean that is given."""
    V = np.linalg.qr(np.random.default_rng(0).standard_normal((X.shape[1], k)))[0]
    for t, rows in enumerate(batches_of(X, batch, passes)):
        B = rows - mean
        V = np.linalg.qr(V + step / (scale * (t + 10)) * (B.T @ (B @ V)) / batch)[0]
    return V


def equal_memory(k, batch):
    """hearsay: ten blocks of k + 1 columns, two batches; IncrementalPCA: k components, a batch, its copy in the SVD."""
    return (10 * (k + 1) + 2 * batch - k) // 2


def compare(arguments, X, truth, unit, covariance, mean, k, batch, seed, stream):
    values = np.linalg.eigvalsh(covariance)[::-1]
    scale = values[k - 1] - values[k]
    results = {}

    def note(name, V, **more):
        error = sin_theta(truth, V)
        results[name] = {"sin_theta": error, "in_units": error / unit, **more}

    for passes in (1, 3):
        V, bar, seconds = by_program(arguments.program, X, k, batch, passes, seed, stream)
        note(f"hearsay, passes = {passes}", V, bar=bar, bar_over_error=bar / sin_theta(truth, V), seconds=seconds)
        for name, rows in (
            (f"IncrementalPCA({batch})", batch),
            ("IncrementalPCA, equal memory", equal_memory(k, batch)),
        ):
            begin = time.perf_counter()
            note(f"{name}, passes = {passes}", by_incremental(X, k, rows, passes), seconds=time.perf_counter() - begin)
        runs = {step: by_oja(X, k, batch, passes, step, mean, scale) for step in arguments.steps}
        best = min(runs, key=lambda step: sin_theta(truth, runs[step]))
        note(f"Oja, best in hindsight, passes = {passes}", runs[best], step=best)
    return results


def digits(arguments):
    X, k, batch = load_digits().data, 10, 100
    covariance, mean = np.cov(X.T), X.mean(axis=0)
    truth, rng = leading(covariance, k), np.random.default_rng(5)
    unit = statistics.median(
        sin_theta(truth, leading(np.cov(X[rng.integers(len(X), size=len(X))].T), k)) for _ in range(51)
    )
    runs = []
    for seed in range(arguments.seeds):
        shuffled = X[np.random.default_rng(seed).permutation(len(X))]
        runs.append(compare(arguments, shuffled, truth, unit, covariance, mean, k, batch, seed, False))
    return {"rows": len(X), "columns": 64, "rank": k, "batch": batch, "unit": unit, "runs": runs}


def stream(arguments):
    runs, k, d = [], arguments.rank, arguments.columns
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(arguments.seeds):
            path = pathlib.Path(directory) / "rows.npy"
            X = np.lib.format.open_memmap(path, "w+", np.float32, (arguments.rows, d))
            rng, covariance, mean = np.random.default_rng(1000 + seed), np.zeros((d, d)), np.zeros(d)
            for first in range(0, len(X), 10_000):
                rows = rng.standard_normal((min(10_000, len(X) - first), d), dtype=np.float32)
                rows /= np.sqrt(np.arange(1, d + 1, dtype=np.float32))
                X[first : first + len(rows)] = rows
                covariance += rows.T.astype(float) @ rows
                mean += rows.sum(axis=0, dtype=float)
            mean /= len(X)
            covariance = covariance / len(X) - np.outer(mean, mean)
            truth = np.eye(d)[:, :k]
            unit = sin_theta(truth, leading(covariance, k))
            runs.append(compare(arguments, X, truth, unit, covariance, mean, k, arguments.batch, seed, True))
            runs[-1]["PCA on all rows"] = {"sin_theta": unit, "in_units": 1.0}
    return {"rows": arguments.rows, "columns": d, "rank": k, "batch": arguments.batch, "runs": runs}


def medians(problem):
    return {
        name: {key: statistics.median(run[name][key] for run in problem["runs"]) for key in problem["runs"][0][name]}
        for name in problem["runs"][0]
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--rank", type=int, default=10)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=float, nargs="+", default=STEPS)
    parser.add_argument("--only", choices=["digits", "stream"])
    arguments = parser.parse_args()
    problems = {
        name: make(arguments)
        for name, make in (("digits", digits), ("stream", stream))
        if arguments.only in (None, name)
    }
    report = {
        "benchmark": "stream",
        "cores": os.cpu_count(),
        "versions": {"numpy": np.__version__, "scikit-learn": sklearn.__version__},
        "medians": {name: medians(problem) for name, problem in problems.items()},
        "problems": problems,
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
