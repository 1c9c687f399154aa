"""figures.py HEARSAY: the loops behind a panel of Figure 1, by hearsay and by NumPy, on the same cores. Prints JSON.

NumPy's BLAS is told which processor this is: Debian's OpenBLAS does not know recent ones and is several times slower by
itself. Both make the same runs: three momenta, some seeds, so many iterations, sin(theta_k) after each. hearsay runs a
planted instance in its eigenbasis, so NumPy is timed there, too, besides with the matrix that the paper describes.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

CORES = len(os.sched_getaffinity(0))
AVX512 = "avx512f" in pathlib.Path("/proc/cpuinfo").read_text()
os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX" if AVX512 else "Haswell")
os.environ.setdefault("OPENBLAS_NUM_THREADS", str(CORES))
import numpy as np  # noqa: E402, reads the two when it is loaded

D, K, GAP, XI, ITERATIONS, SEEDS, REPEATS = 1000, 10, 1e-2, 1e-4, 300, [1, 2], 3
MOMENTA = ["none", "optimal", "paper"]


def instance():
    U, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((D, D)))
    eigenvalues = np.full(D, 0.5)
    eigenvalues[:K], eigenvalues[K] = 1, 1 - GAP
    return (U * eigenvalues) @ U.T, U, eigenvalues


def numpy_run(product, U, momentum, seed):
    """sin(theta_k) of every iterate, as one would write it. Without U the eigenvectors are the axes."""
    turned = (lambda V: V) if U is None else (lambda V: U @ V)
    random = np.random.default_rng(seed)
    columns = K + 1 if momentum == "paper" else K
    beta = {"none": 0.0, "optimal": (1 - GAP) ** 2 / 4, "paper": None}[momentum]
    X, R = np.linalg.qr(random.standard_normal((D, columns)))
    top, previous, sines = turned(np.eye(D, K)), None, []
    for t in range(ITERATIONS):
        V = np.abs(random.standard_normal((D, columns)))
        Y = product(X) - XI * turned(V) / np.linalg.norm(V, 2)
        step = beta if beta is not None else np.min(np.einsum("ij,ij->j", X, Y)) ** 2 / 4
        if t == 0:
            Y = Y / 2
        elif step > 0:
            Y = Y - step * np.linalg.solve(R.T, previous.T).T
        previous = X
        X, R = np.linalg.qr(Y)
        V = X[:, :K]
        sines.append(np.linalg.norm(V - top @ (top.T @ V), 2))
    return sines


def seconds_of(work):
    """The shortest of a few, after one to warm up."""
    times = []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return sorted(times[1:])


def main():
    experiment = {
        "name": "bench",
        "title": "bench",
        "seeds": SEEDS,
        "run": {"dimension": D, "rank": K, "gap": GAP, "noise_level": XI, "iterations": ITERATIONS},
        "panels": [{"name": "p", "title": "p", "curves": [{"name": m, "run": {"momentum": m}} for m in MOMENTA]}],
    }
    A, U, eigenvalues = instance()
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "bench.json"
        path.write_text(json.dumps(experiment))
        command = [sys.argv[1], "experiment", path, "--out", f"{directory}/out", "--threads", str(CORES)]
        no_pictures = {**os.environ, "PATH": directory}
        ours = seconds_of(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=no_pictures))
    runs = [(momentum, seed) for momentum in MOMENTA for seed in SEEDS]
    theirs = seconds_of(lambda: [numpy_run(lambda X: A @ X, U, *run) for run in runs])
    by_axes = seconds_of(lambda: [numpy_run(lambda X: eigenvalues[:, None] * X, None, *run) for run in runs])
    iterations = ITERATIONS * len(MOMENTA) * len(SEEDS)
    report = {
        "benchmark": "figures",
        "cores": CORES,
        "coretype": os.environ["OPENBLAS_CORETYPE"],
        "numpy": np.__version__,
        "iterations": iterations,
        "hearsay_seconds": ours,
        "numpy_seconds": theirs,
        "hearsay_ms_per_iteration": 1e3 * ours[0] / iterations,
        "numpy_ms_per_iteration": 1e3 * theirs[0] / iterations,
        "numpy_in_the_eigenbasis_seconds": by_axes,
        "ratio": theirs[0] / ours[0],
        "ratio_in_the_eigenbasis": by_axes[0] / ours[0],
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
