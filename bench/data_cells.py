#!/usr/bin/env python3
"""data_cells.py: hearsay pca of an AnnData file, beside scanpy's PCA of the same file. Prints JSON.

The file is made by examples/cells.py: 500,000 cells of 3,000 genes, 3% of them not zero, single precision, cells of 64
kinds. Each tool is a process of its own, in turns, and medians are compared; what a process reads, solves and holds is
told apart. Accuracy needs no reference: the residual ||C V - V diag(V'CV)||_F / ||C V||_F of the covariance C, of what
each returns, in double precision.

    bench/data_cells.py BINARY [--rival PYTHON] [--cells 500000] [--genes 3000] [--rank 50] [--rounds 3] [--keep FILE]

The rival is a Python that has scanpy (./dev bench cells installs one); without it hearsay is measured alone.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

RIVAL = """
import json, resource, sys, time
import numpy as np, anndata, scanpy
path, rank, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
begin = time.perf_counter()
cells = anndata.read_h5ad(path)
read = time.perf_counter()
scanpy.pp.pca(cells, n_comps=rank)
done = time.perf_counter()
np.save(out, cells.varm["PCs"])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"read": read - begin, "pca": done - read, "peak": peak, "version": scanpy.__version__}))
"""


def run(command, environment):
    """Seconds by the clock and of processors, peak memory, and standard output."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    output = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    return time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, output


def residual(path, V):
    import h5py
    import scipy.sparse as sp

    with h5py.File(path) as file:
        X = file["X"]
        parts = tuple(X[name][:] for name in ("data", "indices", "indptr"))
        A = sp.csr_matrix(parts, shape=tuple(X.attrs["shape"]))
    mean = np.asarray(A.mean(axis=0, dtype=np.float64)).ravel()
    V = np.linalg.qr(V.astype(np.float64))[0]
    U = A @ V - mean @ V
    CV = (A.T @ U - np.outer(mean, U.sum(axis=0))) / (A.shape[0] - 1)
    return float(np.linalg.norm(CV - V @ (V.T @ CV)) / np.linalg.norm(CV))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--rival", type=pathlib.Path)
    parser.add_argument("--cells", type=int, default=500_000)
    parser.add_argument("--genes", type=int, default=3_000)
    parser.add_argument("--density", type=float, default=0.03)
    parser.add_argument("--rank", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tolerance", help="of hearsay; its own default is 1e-10")
    parser.add_argument("--keep", type=pathlib.Path, help="where the file is made, or lies already")
    asked = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    path = asked.keep or folder / "cells.h5ad"
    if not path.exists():
        script = pathlib.Path(__file__).parent.parent / "examples" / "cells.py"
        shape = ["--cells", str(asked.cells), "--genes", str(asked.genes), "--density", str(asked.density)]
        subprocess.run([sys.executable, script, path, *shape, "--kinds", "64"], check=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    ours = [asked.binary, "pca", path, "-k", str(asked.rank), "--threads", "2", "--json", "-"]
    ours += ["--components", folder / "v.npy", "--scores", folder / "s.npy"]
    ways = {
        "hearsay": ours + (["--tolerance", asked.tolerance] if asked.tolerance else []),
        "hearsay, 1e-5": [*ours, "--tolerance", "1e-5"],
        "hearsay, 1e-5, 1 GB": [*ours, "--tolerance", "1e-5", "--memory", "1GB"],
    }
    made = {}
    for _ in range(asked.rounds):
        for name, command in ways.items():
            wall, processor, peak, output = run(list(map(str, command)), environment)
            result = json.loads(output)
            found = made.setdefault(
                name, {"wall": [], "processor": [], "solve": [], "peak": [], "status": result["status"]}
            )
            found["wall"].append(wall)
            found["processor"].append(processor)
            found["solve"].append(result["seconds"])
            found["peak"].append(peak)
            found["iterations"] = result["iterations"]
            found["residual"] = residual(path, np.load(folder / "v.npy"))
        if asked.rival:
            command = [asked.rival, "-c", RIVAL, path, str(asked.rank), folder / "rival.npy"]
            wall, processor, _, output = run(list(map(str, command)), environment)
            told = json.loads(output.splitlines()[-1])
            found = made.setdefault(
                "scanpy", {"wall": [], "processor": [], "read": [], "solve": [], "peak": [], "version": told["version"]}
            )
            for key, value in (
                ("wall", wall),
                ("processor", processor),
                ("read", told["read"]),
                ("solve", told["pca"]),
                ("peak", told["peak"]),
            ):
                found[key].append(value)
            found["residual"] = residual(path, np.load(folder / "rival.npy"))
    for found in made.values():
        for key, value in found.items():
            if isinstance(value, list):
                found[key] = statistics.median(value)
    if "scanpy" in made:
        for name in ways:
            made[name]["solve over scanpy's"] = made[name]["solve"] / made["scanpy"]["solve"]
            made[name]["process over scanpy's"] = made[name]["wall"] / made["scanpy"]["wall"]
    print(json.dumps({"file_bytes": path.stat().st_size, "rank": asked.rank, "tools": made}, indent=2))


if __name__ == "__main__":
    main()
