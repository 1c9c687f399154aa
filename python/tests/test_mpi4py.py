"""DecentralizedPCA on the ranks of an mpi4py communicator; ./dev adapters installs mpi4py and runs this."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hearsay

RANKS = 3
PROGRAM = Path(__file__).with_name("mpi_program.py")


def on_ranks(case):
    """What every rank said, by rank."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed (./dev adapters installs it)")
    launcher = shutil.which("mpiexec.openmpi") or shutil.which("mpiexec")
    if launcher is None:
        pytest.skip("there is no mpiexec")
    more = ["--allow-run-as-root", "--oversubscribe"] if "openmpi" in launcher else []
    run = subprocess.run(
        [launcher, *more, "-n", str(RANKS), sys.executable, "-B", PROGRAM, case],
        env={**os.environ, "OMP_NUM_THREADS": "1", "OMPI_MCA_mpi_yield_when_idle": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    said = [json.loads(line) for line in run.stdout.splitlines()]
    assert sorted(one["rank"] for one in said) == list(range(RANKS))
    return [one["said"] for one in sorted(said, key=lambda one: one["rank"])]


@pytest.mark.parametrize("case", ["bits", "bfloat16", "uncentred", "drawn"])
def test_ranks_find_the_bits_of_one_process(case):
    said = on_ranks(case)

    assert all(one == said[0] for one in said)
    assert "Error" not in str(said[0])


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("list", "X: must be the array of this rank's rows where comm is given"),
        ("rank", "must lie in [1, 12]"),
        ("width", "does not mean the same run: features = "),
        ("comm", "comm = 'world': must be an intracommunicator of mpi4py"),
    ],
)
def test_what_fails_at_a_rank_is_raised_at_all(case, words):
    for one in on_ranks(case):
        assert words in one


def test_a_callback_that_fails_ends_all_ranks():
    said = on_ranks("callback")

    assert said[1] == "RuntimeError: mine"
    assert said[0] == said[2] == "Error: agent 1 (rank 1): its callback raised RuntimeError"


def test_without_mpi4py_it_says_what_to_install():
    if importlib.util.find_spec("mpi4py") is not None:
        pytest.skip("mpi4py is installed")
    with pytest.raises(hearsay.InvalidArgument, match="comm: needs mpi4py"):
        hearsay.DecentralizedPCA(2, comm=object()).fit(np.eye(4))
