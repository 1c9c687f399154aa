#!/usr/bin/env python3
"""private.py: what private components capture, beside diffprivlib and a noisy power method. Prints JSON.

Of every data set the mean is taken as known, and so is a norm for the rows: of the digits their largest, of the
others the root of the sum of the variances. A run is a release of its own; medians of so many runs. "share" is of the
variance that k components can capture, "sine" that of the largest angle to the components without noise, "bar" the
private error bar over that sine, "directions" how many columns of the noisy covariance were released. The noisy power
method draws fresh noise in each of T products, and is given the T and the width of the block that are best in
hindsight. diffprivlib promises more (delta = 0). It needs an older scikit-learn, and so an environment of its own
(--rival PYTHON).

    bench/private.py [--runs 50] [--rows 50000] [--without-large] [--only-ours] [--rival PYTHON]
"""

import argparse
import itertools
import json
import platform
import statistics
import subprocess
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
DELTA = 1e-6
PATIENCE = 300  # seconds, for a rival


def heart() -> np.ndarray:
    """The 740 complete rows of four hospitals, thirteen features to variance one."""
    rows = []
    for center in ("cleveland", "hungarian", "switzerland", "va"):
        for line in (ROOT / f"data/heart/processed.{center}.data").read_text().split():
            cells = line.split(",")[:10]
            if "?" in cells:
                continue
            age, sex, cp, pressure, chol, sugar, restecg, rate, angina, peak = map(float, cells)
            rows.append(
                [age, sex, pressure, chol, sugar, rate, angina, peak]
                + [float(cp == kind) for kind in (2, 3, 4)]
                + [float(restecg == kind) for kind in (1, 2)]
            )
    X = np.array(rows)
    return (X - X.mean(0)) / X.std(0)


def digits() -> np.ndarray:
    X = np.loadtxt(ROOT / "data/digits.csv.gz", delimiter=",")[:, :64]
    return X - X.mean(0)


def decaying(rows: int, features: int = 500) -> np.ndarray:
    """Variances 1/i."""
    return np.random.default_rng(0).standard_normal((rows, features)) / np.sqrt(np.arange(1, features + 1))


class Problem:
    def __init__(self, X: np.ndarray, k: int, norm: float | None = None) -> None:
        self.X, self.k = X, k
        self.norm = norm or float(np.linalg.norm(X, axis=1).max())
        self.C = X.T @ X
        values, vectors = np.linalg.eigh(self.C)
        self.best, self.U = values[::-1][:k].sum(), vectors[:, ::-1][:, :k]

    def share(self, V: np.ndarray) -> float:
        return float(np.trace(V.T @ self.C @ V) / self.best)

    def sine(self, V: np.ndarray) -> float:
        return float(np.linalg.norm(V - self.U @ (self.U.T @ V), 2))


def ours(problem: Problem, epsilon: float, runs: int, release: str = "stored") -> dict:
    import hearsay

    setup = {"epsilon": epsilon, "delta": DELTA, "row_norm": problem.norm, "release": release}
    shares, sines, bars, told, asked = [], [], [], [], []
    for _ in range(runs):
        pca = hearsay.PrivatePCA(problem.k, **setup).fit(problem.X)
        asked.append(pca.covariance_release_.shape[1])
        V = pca.components_.T
        shares.append(problem.share(V))
        sines.append(problem.sine(V))
        bars.append(pca.sin_theta_ / sines[-1])
        told.append(pca.captured_ / shares[-1])
    middle = statistics.median
    return {
        "share": middle(shares),
        "sine": middle(sines),
        "bar": middle(bars),
        "bar_tenths": np.quantile(bars, [0.1, 0.9]).tolist(),
        "told_share": middle(told),
        "directions": middle(asked),
    }


def noisy_power(problem: Problem, epsilon: float, runs: int) -> dict:
    from hearsay import privacy

    rng = np.random.default_rng(1)
    sigma = problem.norm**2 / privacy.gaussian_mu(epsilon, DELTA)
    d, best = len(problem.C), {"share": 0.0}
    for T, times in itertools.product((1, 2, 3, 5, 9), (1, 2, 4)):
        shares = []
        for _ in range(runs):
            V, _ = np.linalg.qr(rng.standard_normal((d, min(d, times * problem.k))))
            for _ in range(T):
                V, _ = np.linalg.qr(problem.C @ V + sigma * np.sqrt(T) * rng.standard_normal(V.shape))
            shares.append(problem.share(V[:, : problem.k]))
        best = max(best, {"share": statistics.median(shares), "T": T, "columns": V.shape[1]}, key=lambda b: b["share"])
    return best


def problem_named(name: str, rows: int) -> Problem:
    if name == "heart":
        return Problem(heart(), 2, norm=13**0.5)
    if name == "digits":
        return Problem(digits(), 5)
    return Problem(decaying(rows), 10, norm=float(np.sqrt(np.sum(1 / np.arange(1, 501)))))


def diffprivlibs(python: str | None, name: str, rows: int, epsilon: float) -> dict:
    """In an environment of its own, which knows nothing of hearsay."""
    if python is None:
        return {"left_out": "no environment that has it was named (--rival)"}
    line = f"import private; private.as_rival({name!r}, {rows}, {epsilon})"
    where = Path(__file__).parent
    try:
        run = subprocess.run([python, "-B", "-c", line], cwd=where, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return {"left_out": f"diffprivlib: one release takes more than {PATIENCE} seconds"}
    if run.returncode != 0:
        return {"left_out": f"diffprivlib: {run.stderr.strip().splitlines()[-1]}"[:200]}
    return json.loads(run.stdout)


def as_rival(name: str, rows: int, epsilon: float, runs: int = 1) -> None:
    import warnings

    from diffprivlib.models import PCA

    warnings.simplefilter("ignore")
    problem, shares = problem_named(name, rows), []
    for _ in range(runs):
        pca = PCA(problem.k, epsilon=epsilon, data_norm=problem.norm, centered=True).fit(problem.X)
        shares.append(problem.share(np.linalg.qr(pca.components_.T)[0]))
    print(json.dumps({"share": statistics.median(shares), "runs": runs}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--rows", type=int, default=50000, help="of the large one")
    parser.add_argument("--without-large", action="store_true")
    parser.add_argument("--only-ours", action="store_true")
    parser.add_argument("--rival", metavar="PYTHON", help="an interpreter that has diffprivlib")
    asked = parser.parse_args()
    wanted = {"heart": [1.0], "digits": [0.5, 1.0, 4.0], "1/i": [1.0]}
    if asked.without_large:
        del wanted["1/i"]
    table = []
    for name, epsilons in wanted.items():
        problem = problem_named(name, asked.rows)
        for epsilon in epsilons:
            row = {"data": name, "rows": len(problem.X), "features": len(problem.C), "k": problem.k}
            row |= {"epsilon": epsilon, "delta": DELTA, "hearsay": ours(problem, epsilon, asked.runs)}
            row["hearsay, drawn as it is asked for"] = ours(problem, epsilon, asked.runs, "lazy")
            if not asked.only_ours:
                row["noisy power method, best in hindsight"] = noisy_power(problem, epsilon, asked.runs)
                row["diffprivlib, delta 0"] = diffprivlibs(asked.rival, name, asked.rows, epsilon)
            table.append(row)
    print(json.dumps({"runs": asked.runs, "machine": platform.machine(), "table": table}, indent=1))


if __name__ == "__main__":
    main()
