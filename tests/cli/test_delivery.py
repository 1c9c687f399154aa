"""A run that is done delivers what it can: disks that are full, readers that are gone, streams that are closed."""

import json
import os
import signal
import subprocess

import numpy as np
import pytest

from conftest import BINARY, PATIENCE_SECONDS, slow_matrix
from test_reproduce import SMALL

pytestmark = pytest.mark.attack

needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


@pytest.fixture
def data(tmp_path):
    np.savetxt(tmp_path / "data.csv", np.random.default_rng(0).standard_normal((30, 5)) * [5, 4, 1, 1, 1], delimiter=",")
    for name in ("full.csv", "full.json", "full.ckpt"):
        os.symlink("/dev/full", tmp_path / name)
    return "data.csv"


FULL = {
    "pca, components": (["pca", "data.csv", "-k", "2", "--components", "full.csv", "--scores", "other.csv"], "other.csv"),
    "pca, JSON": (["pca", "data.csv", "-k", "2", "--json", "full.json", "--components", "other.csv"], "other.csv"),
    "decentralized, trace": (["decentralized", "data.csv", "-k", "1", "--agents", "3", "--trace", "full.csv", "--components",
                              "other-{agent}.csv"], "other-2.csv"),
    "cluster, labels": (["cluster", "edges.txt", "-k", "1", "--labels", "full.csv", "--embedding", "other.csv"], "other.csv"),
    "plan, JSON": (["plan", "--data", "data.csv", "-k", "2", "--json", "full.json"], "data.csv"),
}


@needs_full
@pytest.mark.parametrize("arguments, other", FULL.values(), ids=FULL.keys())
def test_a_full_disk_costs_one_output_and_exit_code_1(hearsay, tmp_path, data, arguments, other):
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n0 2\n2 3\n")

    result = hearsay(*arguments)

    assert result.returncode == 1 and "No space left" in result.stderr and result.stderr.count("\n") == 1
    assert "not delivered" in result.stderr and "full." in result.stderr
    assert (tmp_path / other).exists() and result.stdout != ""


@needs_full
def test_a_full_disk_at_a_checkpoint_does_not_end_the_solve(hearsay, data):
    result = hearsay("pca", data, "-k", 1, "--method", "npm", "--oversample", 0, "--checkpoint", "full.ckpt",
                     "--checkpoint-every", 1, "--json", "-")

    assert result.returncode == 0 and json.loads(result.stdout)["status"] == "converged"
    assert result.stderr.count("\n") == 1 and "checkpoint: not written" in result.stderr and "No space left" in result.stderr
    assert any("checkpoint: not written" in note for note in json.loads(result.stdout)["notes"])


@needs_full
def test_standard_output_on_a_full_disk_does_not_cost_the_files(tmp_path, data):
    with open("/dev/full", "w") as full:
        result = subprocess.run([BINARY, "pca", data, "-k", "2", "--components", "c.npy", "--json", "-"], cwd=tmp_path,
                                stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_SECONDS)

    assert result.returncode == 1 and result.stderr.count("\n") == 1 and "standard output" in result.stderr
    assert np.load(tmp_path / "c.npy").shape == (5, 2)


CLOSED = {"2>&-": 0, ">&-": 1, "<&-": 0, ">&- 2>&-": 1, "<&- >&- 2>&-": 1}


@pytest.mark.parametrize("closed, code", CLOSED.items())
def test_closed_streams_neither_abort_nor_reach_a_file(tmp_path, data, closed, code):
    line = f'"{BINARY}" pca data.csv -k 2 --components c.csv --json r.json {closed}'

    result = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, timeout=PATIENCE_SECONDS)

    assert result.returncode == code
    assert np.loadtxt(tmp_path / "c.csv", delimiter=",").shape == (5, 2)
    assert json.loads((tmp_path / "r.json").read_text())["status"] == "converged"


def test_an_error_with_standard_error_closed_is_an_exit_code(tmp_path):
    assert subprocess.run(["sh", "-c", f'"{BINARY}" pca nowhere.csv -k 2 2>&-'], cwd=tmp_path,
                          timeout=PATIENCE_SECONDS).returncode == 2


def test_a_reader_that_went_away_does_not_cost_the_files(tmp_path, data):
    read, write = os.pipe()
    os.close(read)
    result = subprocess.run([BINARY, "pca", data, "-k", "2", "--components", "c.npy"], cwd=tmp_path, stdout=write,
                            stderr=subprocess.PIPE, text=True, timeout=PATIENCE_SECONDS)
    os.close(write)

    assert result.returncode == 1 and "standard output" in result.stderr and (tmp_path / "c.npy").exists()


def test_a_picture_that_cannot_be_made_does_not_cost_the_report(hearsay, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "rsvg-convert").write_text("#!/bin/sh\nexit 9\n")
    (tmp_path / "bin" / "rsvg-convert").chmod(0o755)
    (tmp_path / "mine.json").write_text(json.dumps(SMALL))

    result = hearsay("experiment", "mine.json", "--out", "out", env={"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"})

    assert result.returncode == 1 and "rsvg-convert could not make a png" in result.stderr
    assert (tmp_path / "out" / "report.html").exists() and (tmp_path / "out" / "claims.json").exists()


def test_a_killed_run_leaves_no_temporary_file(hearsay, tmp_path):
    slow_matrix(tmp_path / "slow.mtx", size=2000)
    process = subprocess.Popen([BINARY, "eigs", "slow.mtx", "-k", "1", "--method", "npm", "--oversample", "0", "--tolerance",
                                "1e-300", "--max-iterations", "1000000000", "--checkpoint", "c", "--checkpoint-every", "1"],
                               cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (tmp_path / "c").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=PATIENCE_SECONDS)

    assert hearsay("info", "--json", "info.json").returncode == 0  # sweeps, had there been something between two names

    assert sorted(os.listdir(tmp_path)) == ["c", "info.json", "slow.mtx"]
