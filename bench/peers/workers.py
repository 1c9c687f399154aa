"""The processes that solve: one per tool and instance, started when first asked and kept, so that a solve finds its
matrix in memory. A solve that takes too long, or a tool that falls over, costs its process and nothing else."""

import contextlib
import functools
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
from instances import measure_sine

HERE = pathlib.Path(__file__).parent
SETTLE_SECONDS = 0.1  # BLAS threads of whoever worked last spin for some 30 ms before they sleep


class Failed(Exception):
    """A solve that gave no answer, and why."""


class Worker:
    def __init__(self, kind, folder, tools, log):
        self.pipes = []
        environment = dict(tools["environment"])
        if kind in ("hearsay", "spectra"):
            command = [tools["native"] if kind == "hearsay" else tools["spectra"], folder]
        elif kind == "python":
            environment |= tools["blas"]["wheels"]
            command = [sys.executable, "-B", HERE / "worker.py", folder]
        else:
            environment |= tools["blas"]["debian"]
            command = ["/usr/bin/python3", "-B", HERE / "slepc.py", folder]
            processes = int(kind.removeprefix("slepc-"))
            if processes > 1:
                environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "COMMANDS": f"{log}.commands"}
                for rank in range(1, processes):
                    pipe = pathlib.Path(f"{log}.commands.{rank}")
                    pipe.unlink(missing_ok=True)
                    os.mkfifo(pipe)
                    self.pipes.append(os.open(pipe, os.O_RDWR))
                command = ["mpiexec.openmpi", "-n", str(processes), "--bind-to", "none", *command]
        with open(log, "ab") as errors:
            self.process = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
                start_new_session=True,
            )
        self.buffer = b""

    def answer(self, limit):
        end = time.monotonic() + limit
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise Failed(f"no answer in {limit:.0f} s")
            some = os.read(self.process.stdout.fileno(), 65536)
            if not some:
                raise Failed(f"its process ended ({self.process.wait()})")
            self.buffer += some
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def ask(self, command, limit):
        line = (json.dumps(command) + "\n").encode()
        for pipe in self.pipes:
            os.write(pipe, line)
        try:
            self.process.stdin.write(line)
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failed("its process has ended") from None
        return self.answer(limit)

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            self.process.terminate()  # mpiexec ends its processes itself, if it is let
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(5)
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        for pipe in self.pipes:
            os.close(pipe)


class Bench:
    """Solves of one instance, each measured against the reference."""

    def __init__(self, folder, tools, limit):
        self.folder, self.tools, self.limit = pathlib.Path(folder), tools, limit
        self.about = json.loads((self.folder / "about.json").read_text())
        self.workers = {}
        self.given_up = {}  # kinds of worker that cannot even start
        self.scratch = tempfile.TemporaryDirectory(prefix="hearsay-bench-peers-")

    @functools.cached_property
    def reference(self):
        return np.load(self.folder / "reference.npy")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for worker in self.workers.values():
            worker.close()
        self.scratch.cleanup()

    def worker(self, kind):
        if kind in self.given_up:
            raise Failed(self.given_up[kind])
        if kind not in self.workers:
            log = self.tools["logs"] / f"{self.about['name']}.{kind}.log"
            try:
                worker = Worker(kind, self.folder, self.tools, log)
                self.workers[kind] = worker
                worker.answer(120)
            except (Failed, OSError) as error:
                self.drop(kind)
                self.given_up[kind] = f"does not start: {error}; see {log.name}"
                raise Failed(self.given_up[kind]) from None
        return self.workers[kind]

    def drop(self, kind):
        if kind in self.workers:
            self.workers.pop(kind).close()

    def ask(self, peer, setting, rank, seed=0, noise=None, limit=None, instance=None):
        """The answer's numbers and its basis; Failed when there is no answer. `instance`: another folder's matrix."""
        basis = pathlib.Path(self.scratch.name) / "basis.npy"
        basis.unlink(missing_ok=True)
        command = {"peer": peer.name, "setting": setting, "rank": rank, "seed": seed, "basis": str(basis)}
        if noise:
            command["noise"] = noise
        if instance:
            command["instance"] = str(instance)
        worker = self.worker(peer.worker)
        if not instance:  # nothing else is timed
            time.sleep(SETTLE_SECONDS)
        try:
            reply = worker.ask(command, min(limit or self.limit, self.limit))
        except Failed:
            self.drop(peer.worker)
            raise
        if "error" in reply:
            raise Failed(reply["error"])
        try:
            return reply, np.load(basis)
        except (OSError, ValueError) as error:
            raise Failed(f"no basis: {error}") from None

    def solve(self, peer, setting, seed=0, noise=None, limit=None):
        """The answer's numbers with the sine of its basis."""
        reply, self.basis = self.ask(peer, setting, self.about["rank"], seed, noise, limit)
        reply["sine"] = measure_sine(self.reference, self.basis)
        return reply
