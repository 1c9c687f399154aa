"""PCA of files bigger than the memory allowed: time, memory, readings and accuracy, as ratios within one run.

Each tool is a process of its own, its peak memory from the kernel. Files are made here, in float32, rows of independent
normal entries with the variances given; `truth` are the components of the very rows, by a double-precision covariance
that is formed while they are made.

- `tall`   1,000,000 x 200, variances 1/i, k = 10: hearsay mapped and streamed, an older hearsay (--old PROGRAM), and
           scikit-learn's IncrementalPCA.
- `wide`   --rows x 2,000, variances 1/i and exp(-i/50), k = 20, asked for sin <= 1e-4 with --memory: by the plan that
           hearsay chooses, by products (--memory-products), and IncrementalPCA with batches of so many rows that its
           peak is about the same.

Beside them `cat FILE > /dev/null`, twice. Prints JSON.

    bench/data.py PROGRAM [--old PROGRAM] [--only tall|wide] [--rows N] [--directory DIR] [--repeat N]
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

INCREMENTAL = """
import sys
import numpy as np
from sklearn.decomposition import IncrementalPCA
path, k, batch, basis = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
rows = np.load(path, mmap_mode="r")
pca = IncrementalPCA(k)
for first in range(0, len(rows) - batch + 1, batch):
    pca.partial_fit(np.array(rows[first : first + batch]))
np.save(basis, pca.components_.T)
"""


def made(path, rows, variances, at_once=20_000):
    """The file, and all eigenvectors of the covariance of its rows."""
    d = len(variances)
    X = np.lib.format.open_memmap(path, "w+", np.float32, (rows, d))
    random, scale = np.random.default_rng(0), np.sqrt(variances).astype(np.float32)
    sums, squares = np.zeros(d), np.zeros((d, d))
    for first in range(0, rows, at_once):
        part = random.standard_normal((min(at_once, rows - first), d), dtype=np.float32) * scale
        wide = part.astype(float)
        sums += wide.sum(axis=0)
        squares += wide.T @ wide
        X[first : first + len(part)] = part + np.float32(1)
    X.flush()
    mean = sums / rows
    return np.linalg.eigh(squares / rows - np.outer(mean, mean))[1][:, ::-1]


def measured(command, repeat):
    """Median seconds, processor seconds and the peak of memory."""
    times, busy, peak, out = [], [], 0, ""
    for _ in range(repeat):
        begin = time.perf_counter()
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out = process.stdout.read().decode()
        error = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        times.append(time.perf_counter() - begin)
        busy.append(usage.ru_utime + usage.ru_stime)
        peak = max(peak, usage.ru_maxrss * 1024)
        if os.waitstatus_to_exitcode(status) not in (0, 3):
            raise SystemExit(f"{command}: {error}")
    return {"seconds": float(np.median(times)), "processor_seconds": float(np.median(busy)), "peak_bytes": peak}, out


def sine(truth, k, basis):
    V = np.load(basis)
    V = np.linalg.qr(V)[0]
    return float(np.linalg.norm(truth[:, k:].T @ V, 2))


def by_hearsay(program, path, k, truth, options, repeat):
    with tempfile.TemporaryDirectory() as directory:
        basis = pathlib.Path(directory) / "basis.npy"
        command = [program, "pca", path, "-k", k, "--components", basis, "--json", "-", "--quiet", *options]
        found, out = measured(command, repeat)
        said = json.loads(out)
        found |= {"passes": said["passes"], "status": said["status"], "way": (said.get("plan") or {}).get("way")}
        found |= {"bound": said["certificate"].get("sin_theta_bound"), "sin_theta": sine(truth, k, basis)}
    return found


def by_incremental(path, k, truth, batch, repeat):
    with tempfile.TemporaryDirectory() as directory:
        basis = pathlib.Path(directory) / "basis.npy"
        found, _ = measured([sys.executable, "-c", INCREMENTAL, path, k, batch, basis], repeat)
        return found | {"batch": batch, "passes": 1, "sin_theta": sine(truth, k, basis)}


def by_cat(path, repeat):
    found, _ = measured(["sh", "-c", f'cat "{path}" > /dev/null'], repeat)
    return found | {"bytes": os.path.getsize(path)}


def tall(arguments, directory):
    path, k = directory / "tall.npy", 10
    truth = made(path, arguments.tall_rows, 1 / np.arange(1, 201))
    results = {"cat": by_cat(path, 3)}
    for name, program in (("before", arguments.old), ("now", arguments.program)):
        if program is None:
            continue
        results[name] = by_hearsay(program, path, k, truth, [], arguments.repeat)
        results[f"{name}, --stream"] = by_hearsay(program, path, k, truth, ["--stream"], arguments.repeat)
    results["IncrementalPCA"] = by_incremental(path, k, truth, 2000, 1)
    path.unlink()
    return {"rows": arguments.tall_rows, "columns": 200, "k": k, "results": results}


def wide(arguments, directory, name, variances):
    path, k, d = directory / "wide.npy", 20, len(variances)
    truth = made(path, arguments.rows, variances)
    ask = ["--accuracy", "1e-4", "--stream", "--memory"]
    results = {"cat": by_cat(path, 3)}
    results["by the plan"] = by_hearsay(arguments.program, path, k, truth, [*ask, arguments.memory], arguments.repeat)
    results["by products"] = by_hearsay(
        arguments.program, path, k, truth, [*ask, arguments.memory_products], arguments.repeat
    )
    results["IncrementalPCA"] = by_incremental(path, k, truth, arguments.batch, 1)
    path.unlink()
    return {"rows": arguments.rows, "columns": d, "k": k, "variances": name, "results": results}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--old", help="an older hearsay, for ratios")
    parser.add_argument("--only", choices=["tall", "wide"])
    parser.add_argument("--tall-rows", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=2000)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--memory-products", default="180MB")
    parser.add_argument("--batch", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--directory", default=None)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.directory) as directory:
        problems, i = [], np.arange(1, arguments.columns + 1)
        if arguments.only in (None, "tall"):
            problems.append(tall(arguments, pathlib.Path(directory)))
        if arguments.only in (None, "wide"):
            problems.append(wide(arguments, pathlib.Path(directory), "1/i", 1 / i))
            problems.append(wide(arguments, pathlib.Path(directory), "exp(-i/50)", np.exp(-i / 50)))
    for problem in problems:
        for found in problem["results"].values():
            found["times_cat"] = found["seconds"] / problem["results"]["cat"]["seconds"]
            found["share_of_IncrementalPCA"] = found["seconds"] / problem["results"]["IncrementalPCA"]["seconds"]
    print(
        json.dumps(
            {"benchmark": "data", "cores": os.cpu_count(), "page_bytes": resource.getpagesize(), "problems": problems},
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
