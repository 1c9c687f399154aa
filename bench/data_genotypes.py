#!/usr/bin/env python3
"""data_genotypes.py: hearsay pca of PLINK's files, beside `plink2 --pca approx`. Prints JSON.

The cohort is made by examples/balding_nichols.py: five populations, one call in a hundred missing. Each program is a
process of its own on two threads, in turns, and medians are compared. Accuracy is the sine of the largest angle between
the space of the samples' components and that of a run of hearsay to 1e-8, whose own certificate is printed beside it.
It is asked for four components by default, in which five populations differ: the next are noise, whose variances lie
side by side, and no program finds their order.

    bench/data_genotypes.py BINARY [--plink plink2] [--samples 20000] [--snps 200000] [--rank 4] [--rounds 3]
                            [--keep PREFIX]
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np


def run(command, folder):
    begin = time.perf_counter()
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder)
    output = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        raise SystemExit(f"{command[0]} ended with {process.returncode}: {output[-300:]}")
    return time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, output


def space(scores):
    return np.linalg.qr(np.asarray(scores, dtype=np.float64))[0]


def sine(one, other):
    """Of the largest angle between two spaces."""
    return float(np.linalg.norm(one - other @ (other.T @ one), 2))


def eigenvectors(path):
    with open(path) as file:
        names = file.readline().split()
        first = next(i for i, name in enumerate(names) if name.startswith("PC"))
        return np.array([line.split()[first:] for line in file], dtype=float)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--plink", default="plink2")
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--snps", type=int, default=200_000)
    parser.add_argument("--rank", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=pathlib.Path, help="where the files are made, or lie already, without .bed")
    asked = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    prefix = (asked.keep or folder / "cohort").resolve()
    if not prefix.with_suffix(".bed").exists():
        script = pathlib.Path(__file__).parent.parent / "examples" / "balding_nichols.py"
        shape = ["--samples", str(asked.samples), "--snps", str(asked.snps)]
        subprocess.run([sys.executable, script, prefix, *shape], check=True)
    bed, rank = prefix.with_suffix(".bed"), str(asked.rank)
    ours = [asked.binary.resolve(), "pca", bed, "-k", rank, "--threads", "2", "--json", "-", "--scores", "s.npy"]
    output = run([*ours, "--tolerance", "1e-8"], folder)[3]
    reference, certificate = space(np.load(folder / "s.npy")), json.loads(output)["certificate"]
    ways = {
        "hearsay": ours,
        "hearsay, accuracy 1e-4": [*ours, "--accuracy", "1e-4"],
        "hearsay, accuracy 1e-2": [*ours, "--accuracy", "1e-2"],
    }
    if shutil.which(asked.plink):
        ways["plink2 --pca approx"] = [
            asked.plink, "--bfile", prefix, "--pca", "approx", rank, "--threads", "2", "--out", "theirs",
        ]  # fmt: skip
    made = {}
    for _ in range(asked.rounds):
        for name, command in ways.items():
            wall, processor, peak, output = run(command, folder)
            found = made.setdefault(name, {"wall": [], "processor": [], "peak": []})
            for key, value in (("wall", wall), ("processor", processor), ("peak", peak)):
                found[key].append(value)
            theirs = name.startswith("plink2")
            found["sine"] = sine(
                space(eigenvectors(folder / "theirs.eigenvec") if theirs else np.load(folder / "s.npy")), reference
            )
    for found in made.values():
        for key in ("wall", "processor", "peak"):
            found[key] = statistics.median(found[key])
    if "plink2 --pca approx" in made:
        rival = made["plink2 --pca approx"]
        for found in made.values():
            found["over plink2"] = found["wall"] / rival["wall"]
    print(json.dumps({"bed_bytes": bed.stat().st_size, "reference": certificate["sin_theta"], "tools": made}, indent=2))
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
