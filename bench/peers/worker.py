"""worker.py INSTANCE_DIR: the Python peers' worker. One JSON command a line in, one JSON answer a line out."""

import ctypes
import gc
import json
import os
import sys
import time

import numpy as np


def resident(which):
    with open("/proc/self/status") as status:
        return next(1024.0 * int(line.split()[1]) for line in status if line.startswith(which))


def measured(work):
    """What work() returns, its seconds, and the most memory it held beyond what was held before."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the high-water mark begins anew
    before = resident("VmRSS")
    begin = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - begin
    return result, {"seconds": seconds, "memory_bytes": resident("VmHWM") - before}


def serve(commands, answer):
    """Answers until the commands end. Libraries that print do so into the log."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(reply):
        print(json.dumps(reply), file=out, flush=True)

    say({"ready": True})
    for line in commands:
        try:
            reply = answer(json.loads(line))
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"[:300]}
        say(reply)


def main():
    from instances import Matrix
    from solvers import PEERS

    given = Matrix(sys.argv[1])
    solvers = {peer.name: peer.solve for peer in PEERS}

    def answer(command):
        solve = solvers[command["peer"]]
        matrix = Matrix(command["instance"]) if "instance" in command else given
        solution, cost = measured(lambda: solve(matrix, command["setting"], command["seed"], command.get("noise")))
        np.save(command["basis"], np.ascontiguousarray(solution.basis))
        said = {"success": solution.success, "status": solution.status}
        return cost | said | {"products": solution.products, "passes": solution.passes}

    serve(sys.stdin, answer)


if __name__ == "__main__":
    main()
