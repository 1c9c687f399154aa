"""What the way through Python costs: hearsay.PCA(10).fit on 100,000 x 500 against the compiled call inside it.

`fit_seconds` is the whole of fit(); `core_seconds` the C++ solve within it, timed in the extension with all conversions
left out; `overhead` their ratio less one, the median over the repetitions, all in one process. Given the release
program, its own seconds for the same file are printed beside. Prints JSON.

    bench/python.py [PROGRAM] [--rows N] [--columns N] [--repeat N]
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

import hearsay


def samples(rows, columns):
    """Variances that fall by a tenth from one feature to the next, about a mean far from zero."""
    generator = np.random.default_rng(1)
    X = generator.standard_normal((rows, columns))
    X *= np.maximum(0.9 ** np.arange(columns), 1e-2)
    X += 3.0
    return X


def timed(fit):
    begin = time.perf_counter()
    pca = fit()
    return time.perf_counter() - begin, pca


def seconds_of_program(program, X, repeat):
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "samples.npy"
        np.save(path, X)
        command = [program, "pca", path, "-k", "10", "--json", "-", "--threads", str(hearsay.threads())]
        runs = [subprocess.run(command, capture_output=True, check=True) for _ in range(repeat)]
    return [json.loads(run.stdout)["seconds"] for run in runs]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=500)
    parser.add_argument("--repeat", type=int, default=7)
    arguments = parser.parse_args()
    X = samples(arguments.rows, arguments.columns)

    hearsay.PCA(10).fit(X[:1000])  # imports, pages, threads
    hearsay.PCA(10).fit(X)
    fits, cores = [], []
    for _ in range(arguments.repeat):
        seconds, pca = timed(lambda: hearsay.PCA(10).fit(X))
        fits.append(seconds)
        cores.append(pca.info_.seconds)
    small = X[:200, :20].copy()
    small_fits = sorted(timed(lambda: hearsay.PCA(3).fit(small))[0] for _ in range(50))
    report = {
        "benchmark": "python",
        "problem": {"rows": arguments.rows, "columns": arguments.columns, "rank": 10, "seed": 1},
        "iterations": pca.info_.iterations,
        "passes": pca.info_.passes,
        "threads": hearsay.threads(),
        "cores": os.cpu_count(),
        "kernels": hearsay._core.kernel_name(),
        "versions": {"hearsay": hearsay.__version__, "numpy": np.__version__, "scikit-learn": sklearn.__version__},
        "fit_seconds": fits,
        "core_seconds": cores,
        "overhead": statistics.median(fit / core - 1 for fit, core in zip(fits, cores, strict=True)),
        "overhead_worst": max(fit / core - 1 for fit, core in zip(fits, cores, strict=True)),
        "small_fit_seconds": statistics.median(small_fits),
    }
    if arguments.program:
        report["program_seconds"] = seconds_of_program(arguments.program, X, 3)
        report["fit_over_program"] = min(fits) / min(report["program_seconds"])
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
