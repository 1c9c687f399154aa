#!/usr/bin/env python3
"""Fails every call of a short run, one by one, and holds each run to the contract of the command line.

    run.py BINARY LIBRARY [--kinds open,read,write,sync,rename,thread,memory] [--most N] [--commands pca,...]
    run.py BINARY LIBRARY --kinds mpi --mpirun MPIRUN

LIBRARY (inject.cpp; of MPI, inject_mpi.cpp) makes the n-th call of a kind fail; of two ranks, on one and then the other. The run is repeated for n = 1, 2, 3 ... as often as there are such
calls; where there are more than --most, so many of them are drawn evenly. Each run must end with an answer that is right
or with an error that says so: no signal, no hang, no changed input, no file left behind, no output that is not whole.
"""

import argparse
import collections
import hashlib
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))
import ledgers

PATIENCE_SECONDS = 60  # against a hang only
FIRST_ALLOCATIONS = 20  # always among those drawn: main() makes some before anything could catch
KINDS = ["open", "read", "write", "sync", "rename", "thread", "memory"]
RANK_KINDS = ["mpi 0", "mpi 1"]  # which rank's calls fail


def inputs():
    draw = random.Random(1)
    rows = [[round(draw.gauss(0, 3 - column / 4), 3) for column in range(8)] for _ in range(12)]
    text = ["\n".join(",".join(map(str, row)) for row in part) + "\n" for part in (rows, rows[:6], rows[6:])]
    symmetric = [[sum(row[i] * row[j] for row in rows) for j in range(8)] for i in range(8)]
    holes = [[math.nan if (i + 5 * j) % 11 == 0 else value for j, value in enumerate(row)] for i, row in enumerate(rows)]
    result = {"command": "pca", "mean": [0.1] * 8, "eigenvalues": [9.0], "total_variance": 40.0, "samples": 12,
              "provenance": {"outputs": [{"option": "components", "path": "basis.csv"}]}}
    federation = {"federation": "f", "agents": [{"name": "a", "address": "127.0.0.1:7400"}, {"name": "b"}], "k": 1}
    edges = "".join(f"{i} {j}\n" for i in range(8) for j in range(i + 1, 8) if (i < 4) == (j < 4) or i + j == 7)
    return {"data.csv": text[0], "a.csv": text[1], "b.csv": text[2], "graph.txt": edges,
            "sym.csv": "\n".join(",".join(map(repr, row)) for row in symmetric) + "\n", "split.csv": "0\n1\n" * 6,
            "faults.json": '{"patience": 2}\n', "holes.csv": "\n".join(",".join(map(str, row)) for row in holes) + "\n",
            "weighted.csv": "".join(",".join(map(str, row)) + f",{i % 3 + 1}\n" for i, row in enumerate(rows)),
            "counts.csv": "1\n2\n" * 6, "basis.csv": "1\n" + "0\n" * 7, "result.json": json.dumps(result),
            "federation.json": json.dumps(federation), "ledger": "".join(ledgers.whole())}


def with_keys(binary, files):
    """The inputs, and what an agent has once its certificate is signed."""
    with tempfile.TemporaryDirectory() as name:
        here = pathlib.Path(name)
        (here / "federation.json").write_text(files["federation.json"])
        for line in ["agent key federation.json --agent a", "federation sign federation.json a.csr"]:
            subprocess.run([binary, *line.split()], cwd=here, check=True, capture_output=True, timeout=PATIENCE_SECONDS)
        made = ["a.key", "a.csr", "a.pem", "authority.pem"]
        return {**files, **{f"keys/{file}": (here / file).read_text() for file in made}}


COMMANDS = {
    "pca": "pca data.csv -k 1 --components o.npy --scores o.csv --json o.json",
    "stream": "pca data.csv -k 1 --stream --method anpm --components o.npy",
    "checkpoint": "pca data.csv -k 1 --method npm --checkpoint o.ckpt --checkpoint-every 3 --max-iterations 9 --components o.npy",
    "missing": "pca holes.csv -k 0.9 --missing mean --standardize --row-weights counts.csv --scores o.csv --whiten",
    "em": "pca holes.csv -k 1 --missing em --components o.npy",
    "mle": "pca weighted.csv -k mle --weights-column last --stream --block-rows 5 --json o.json",
    "project": "project holes.csv --components-from result.json --missing mean --scores o.csv --json o.json",
    "eigs": "eigs sym.csv -k 1 --components o.csv --json o.json",
    "ends": "eigs sym.csv -k 2 --which BE --components o.csv --json o.json",
    "svd": "svd data.csv -k 1 --left o.npy --right o.csv --json o.json",
    "cluster": "cluster graph.txt -k 2 --labels o.csv --embedding o.npy",
    "decentralized": "decentralized a.csv b.csv -k 1 --topology path --iterations 4 --json o.json --trace o.csv",
    "split": "decentralized data.csv -k 1 --agents 2 --split split.csv --topology path --iterations 3 --faults faults.json",
    "plan": "plan -k 1 --data data.csv --json o.json",
    "info": "info",
    "private": "pca data.csv -k 1 --dp 1,1e-6 --row-norm 10 --ledger o.ledger --components o.dp.npy",
    "ledger show": "ledger show ledger --json o.json",
    "ledger verify": "ledger verify ledger --json o.json",
    # Not agent run: gRPC has threads of its own, and the n-th call is another one every time.
    "new": "federation new o.federation --name f -k 1 --agent a@127.0.0.1:7400 --agent b",
    "show": "federation show federation.json",
    "sign": "federation sign federation.json keys/a.csr",
    "federation plan": "federation plan federation.json --dimension 8 --json o.plan",
    "key": "agent key federation.json --agent a",
    "check": "agent check federation.json --agent a --keys keys --data data.csv --wait 0",
}


# More ranks than processors, and root in CI: Open MPI asks to be told.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}

RANKS = {
    "shards": "decentralized a.csv b.csv -k 1 --topology path --iterations 3 --json o.json --trace o.csv --timeout 20",
    "split": "decentralized data.csv -k 1 --agents 3 --topology ring --iterations 2 --components o-{agent}.csv --timeout 20",
}


class Runner:
    def __init__(self, arguments):
        self.arguments = arguments
        self.files = with_keys(arguments.binary, inputs())
        self.preloaded = [*arguments.sanitizer, arguments.library]
        self.outcomes = collections.Counter()
        self.failures = []

    def run(self, line, kind, at):
        """Exit code, messages, the files there are afterwards, and how many calls were made."""
        with tempfile.TemporaryDirectory(prefix="hearsay-injection-") as name:
            directory, log = pathlib.Path(name) / "here", pathlib.Path(name) / "calls"
            for file, content in self.files.items():
                (directory / file).parent.mkdir(parents=True, exist_ok=True)
                (directory / file).write_text(content)
                (directory / file).chmod(0o600)  # a key that others may read is refused
            environment = {"INJECT_KIND": kind, "INJECT_AT": str(at), "INJECT_LOG": str(log), "INJECT_RANK": kind[-1],
                           "LD_PRELOAD": ":".join(self.preloaded), "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
            start = ["env", *(f"{name}={value}" for name, value in environment.items()), self.arguments.binary]
            if kind.startswith("mpi"):
                start = [self.arguments.mpirun, "-n", "2", *start]
            try:
                done = subprocess.run([*start, *line.split()], cwd=directory, env={**os.environ, **OPEN_MPI},
                                      stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                return "hang", b"", {}, 0
            after = {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}
            calls = int(log.read_text()) if log.exists() else 0
            told = done.stderr + (done.stdout if line.startswith("agent check") else b"")  # which prints what it finds
            return done.returncode, told, after, calls

    def check(self, name, kind):
        line = (RANKS if kind.startswith("mpi") else COMMANDS)[name]
        code, errors, reference, calls = self.run(line, kind, 0)
        assert code in (0, 3), (line, code, errors)
        chosen = range(1, calls + 1)
        if calls > self.arguments.most:
            first = range(1, FIRST_ALLOCATIONS + 1) if kind == "memory" else []
            chosen = sorted({*first, *(math.ceil((i + 1) * calls / self.arguments.most) for i in range(self.arguments.most))})
        for at in chosen:
            fault = self.fault(code, reference, *self.run(line, kind, at))
            self.outcomes[kind, fault[0]] += 1
            if fault[1]:
                self.failures.append((name, kind, at))
                print(f"{name}: {kind} {at} of {calls} fails: {fault[1]}", flush=True)

    def fault(self, code, reference, ended, errors, after, _):
        """('answered', 'refused' or 'failed', what is wrong)."""
        if ended == "hang":
            return "failed", f"no end within {PATIENCE_SECONDS} s"
        if ended < 0 or ended > 4:
            return "failed", f"ends with {ended}: {errors[-300:].decode(errors='replace')}"
        for file, content in self.files.items():
            if after.get(file) != content.encode():
                return "failed", f"{file}, an input, is changed"
        for file in after.keys() - reference.keys():
            return "failed", f"{file} is left behind"
        for file in after.keys() & reference.keys():
            if self.meaning(file, after[file]) != self.meaning(file, reference[file]):
                return "failed", f"{file} is not what it should be, at exit code {ended}"
        if "o.dp.npy" in after and b'"kind":"release"' not in after.get("o.ledger", b""):
            return "failed", "components are out, and the ledger does not know of it"
        if ended == code and after.keys() != reference.keys():
            return "failed", f"exit code {code}, and {sorted(reference.keys() - after.keys())} is missing"
        if ended not in (0, 3) and not errors.strip():
            return "failed", f"exit code {ended} without a word"
        return ("answered" if ended == code else "refused"), None

    @staticmethod
    def meaning(file, content):
        """What of a file must be the same every time: of JSON, what was found, not how long it took."""
        if file.endswith(".ckpt"):  # of whichever iteration was the last to be saved, and whole
            return hashlib.sha256(content[:-64]).hexdigest().encode() == content[-64:]
        if file.endswith((".key", ".csr", ".pem")):  # other numbers every time
            return re.fullmatch(rb"-----BEGIN ([A-Z ]+)-----\n([A-Za-z0-9+/=]+\n)+-----END \1-----\n", content) is not None
        if file.endswith(".dp.npy"):  # with other noise every time
            return len(content)
        if file.endswith(".ledger"):  # as far as it came, and no line that was cut off
            return content.startswith(b'{"record":0,') and content.endswith(b'"}\n')
        if not file.endswith(".json") or not content.startswith(b"{") or file in inputs():
            return content
        found = json.loads(content)
        return [found.get(key) for key in ["command", "status", "eigenvalues", "singular_values", "score_variances", "residual", "iterations"]]

    def report(self):
        for kind in KINDS + RANK_KINDS:
            counts = {how: self.outcomes[kind, how] for how in ["answered", "refused", "failed"]}
            if sum(counts.values()):
                told = ", ".join(f"{count} {how}" for how, count in counts.items())
                print(f"injection: {kind:7} {sum(counts.values()):5} calls failed one by one: {told}")
        print(f"injection: {sum(self.outcomes.values())} runs, {len(self.failures)} broke the contract")
        return 1 if self.failures else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=os.path.abspath)
    parser.add_argument("library", type=os.path.abspath)
    parser.add_argument("--kinds", default=",".join(KINDS), help="mpi stands for ranks, and needs its own library")
    parser.add_argument("--commands", default=",".join(COMMANDS))
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--sanitizer", action="append", default=[], help="its library, where BINARY was built with one")
    parser.add_argument("--most", type=int, default=10**9)
    runner = Runner(parser.parse_args())
    on_ranks = runner.arguments.kinds == "mpi"
    for kind in RANK_KINDS if on_ranks else runner.arguments.kinds.split(","):
        for name in RANKS if on_ranks else runner.arguments.commands.split(","):
            runner.check(name, kind)
    return runner.report()


if __name__ == "__main__":
    sys.exit(main())
