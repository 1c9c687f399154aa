"""The environment under which each OpenBLAS at hand is fastest on this machine, found by trying.

OPENBLAS_CORETYPE chooses the kernels; OPENBLAS_THREAD_TIMEOUT how long (2^n cycles) a thread spins for more work. That
hurts where a process holds several OpenBLAS, as Python's does: NumPy and SciPy bring one each, PRIMME uses Debian's.
"""

import json
import os
import subprocess
import sys

CORETYPES = ("SkylakeX", "Cooperlake", "Zen", "Haswell")
TIMEOUTS = ("4", "12", "18")
WORTH_IT = 0.95  # less than that is chance: then nothing is set
PROBE = """
import json, time, numpy as np, scipy.linalg.blas as blas
A = np.random.default_rng(0).standard_normal((2000, 2000))
B, X, x = A[:, :1000].copy(), np.asfortranarray(A[:, :16]), A[0].copy()
def turns():
    for _ in range(5):
        A @ x
        blas.dgemm(1.0, X, X, trans_a=True)
def best(work):
    times = []
    for _ in range(7):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)
print(json.dumps({"dgemm": best(lambda: B.T @ B), "dgemv": best(lambda: A @ x), "turns": best(turns)}))
"""


def probe(python, threads, extra):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(threads), **extra}
    run = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, env=environment)
    return json.loads(run.stdout) if run.returncode == 0 else None


def fastest(python, threads, chosen, variable, values, cost, tried):
    """`chosen`, with the variable set to its best value if that is worth it."""
    best, found = None, dict(chosen)
    for value in (None, *values):
        extra = {**chosen, variable: value} if value else chosen
        seconds = probe(python, threads, extra)
        if seconds is None:
            continue
        tried.append({"environment": extra, "seconds": seconds})
        if best is None or cost(seconds) < WORTH_IT * best:
            best, found = cost(seconds), extra
    return found


def best_environments(path, threads, say, again=False):
    """{"wheels": variables, "debian": variables, "probe": what was measured}; remembered in a file."""
    if path.is_file() and not again:
        return json.loads(path.read_text())
    result = {"probe": {}}
    for name, python in (("wheels", sys.executable), ("debian", "/usr/bin/python3")):
        tried = result["probe"][name] = []
        chosen = fastest(
            python, threads, {}, "OPENBLAS_CORETYPE", CORETYPES, lambda s: (s["dgemm"] * s["dgemv"]) ** 0.5, tried
        )
        chosen = fastest(python, threads, chosen, "OPENBLAS_THREAD_TIMEOUT", TIMEOUTS, lambda s: s["turns"], tried)
        result[name] = chosen
        say(f"OpenBLAS of the {name} is fastest with {chosen or 'nothing set'}")
    path.write_text(json.dumps(result, indent=1) + "\n")
    return result
