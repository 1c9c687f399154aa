"""What a user types first: hearsay.PCA(k).fit(X) with no options beside scikit-learn's, on data of many shapes.

scikit-learn is at its better of `auto` and `randomized`. Each tool has its turn alone, after a pause: threads of
OpenBLAS spin for a while after a product, and would take the next tool's processor. OPENBLAS_CORETYPE is set where the
processor has AVX-512, as OpenBLAS is slow without it. `sine` is the largest angle of hearsay's components to a dense
eigensolver's, `at 1e-4` the time with accuracy=1e-4. Prints a table, or JSON with --json.

    bench/shapes.py [--rank K] [--repeat N] [--quick] [--json]
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
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA

import hearsay

PAUSE_SECONDS = 0.3


def planted(samples, features, spectrum):
    """Rows with these variances along random directions."""
    generator = np.random.default_rng(1)
    turned = np.linalg.qr(generator.standard_normal((features, features)))[0]
    return (generator.standard_normal((samples, features)) * np.sqrt(spectrum)) @ turned.T


def harmonic(features):
    return 1 / np.arange(1, features + 1)


SHAPES = {
    "digits": lambda: load_digits().data,
    "breast-cancer": lambda: load_breast_cancer().data,
    "10,000 x 100, 1/i": lambda: planted(10000, 100, harmonic(100)),
    "200,000 x 50, 1/i": lambda: planted(200000, 50, harmonic(50)),
    "2,000 x 2,000, 1/i": lambda: planted(2000, 2000, harmonic(2000)),
    "50,000 x 784, exp(-i/60)": lambda: planted(50000, 784, np.exp(-np.arange(784) / 60)),
}
LINE = (
    "{data:<26} {dtype:<8} {hearsay:9.2f} {at 1e-4:9.2f} ms, scikit-learn {auto:9.2f} {randomized:9.2f}, "
    "ratio {ratio:.2f}, at 1e-4 {ratio at 1e-4:.2f}; sine {sine:.1e}, {status}"
)
QUICK = ["digits", "breast-cancer", "10,000 x 100, 1/i", "200,000 x 50, 1/i"]


def milliseconds(fit, repeat):
    """The median; a first call warms up, and a call of over a second is made three times."""
    time.sleep(PAUSE_SECONDS)
    times = []
    fit()
    while len(times) < (repeat if not times or times[0] < 1 else 3):
        begin = time.perf_counter()
        fit()
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times)


def sine(components, X, k):
    centred = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    truth = np.linalg.eigh(centred.T @ centred)[1][:, -k:]
    V = np.linalg.qr(components.T.astype(np.float64))[0]
    return float(np.linalg.norm(V - truth @ (truth.T @ V), 2))


def measure(name, kind, k, repeat):
    X = np.ascontiguousarray(SHAPES[name](), dtype=kind)
    pca = hearsay.PCA(k).fit(X)
    row = {
        "data": name,
        "dtype": np.dtype(kind).name,
        "hearsay": milliseconds(lambda: hearsay.PCA(k).fit(X), repeat),
        "at 1e-4": milliseconds(lambda: hearsay.PCA(k, accuracy=1e-4).fit(X), repeat),
        "auto": milliseconds(lambda: PCA(k).fit(X), repeat),
        "randomized": milliseconds(lambda: PCA(k, svd_solver="randomized").fit(X), repeat),
        "status": pca.status_,
        "sine": sine(pca.components_, X, k),
    }
    best = min(row["auto"], row["randomized"])
    return {**row, "ratio": row["hearsay"] / best, "ratio at 1e-4": row["at 1e-4"] / best}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rank", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="the small shapes alone")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in QUICK if asked.quick else SHAPES:
        for kind in (np.float64, np.float32):
            rows.append(measure(name, kind, asked.rank, asked.repeat))
            if not asked.json:
                print(LINE.format(**rows[-1]), flush=True)
    if asked.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
