"""What a person at a terminal sees, and Ctrl-C."""

import json
import os
import pty
import signal
import subprocess

import numpy as np
import pytest

from conftest import BINARY, PATIENCE_SECONDS, planted, slow_matrix


REQUESTS_TO_END = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def as_from_a_shell():
    """Whoever runs the tests may ignore these (nohup, a job in the background)."""
    for request in REQUESTS_TO_END:
        signal.signal(request, signal.SIG_DFL)


class OnATerminal:
    """The program with its standard error on a terminal of its own."""

    def __init__(self, directory, *arguments):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen([BINARY, *map(str, arguments)], cwd=directory, stdout=subprocess.PIPE, stderr=slave,
                                        preexec_fn=as_from_a_shell)
        os.close(slave)

    def read_until(self, words):
        """Reads the terminal until these bytes have come."""
        seen = b""
        while words not in seen:
            piece = os.read(self.master, 4096)
            assert piece, seen
            seen += piece
        return seen

    def finish(self):
        """Standard output, what else came on the terminal, and the exit code."""
        output, _ = self.process.communicate(timeout=PATIENCE_SECONDS)
        seen = b""
        while True:
            try:
                piece = os.read(self.master, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            seen += piece
        os.close(self.master)
        return output.decode(), seen, self.process.returncode


@pytest.fixture
def matrix(tmp_path):
    np.save(tmp_path / "matrix.npy", planted(np.linspace(2, 1, 50))[0])
    return "matrix.npy"


def test_progress_is_shown_on_a_terminal_and_wiped_at_the_end(tmp_path, matrix):
    program = OnATerminal(tmp_path, "eigs", matrix, "-k", 2)

    _, seen, code = program.finish()

    assert code == 0 and b"iteration 1  residual " in seen
    assert seen.endswith(b"\r\x1b[K")


def test_quiet_means_no_progress(tmp_path, matrix):
    _, seen, code = OnATerminal(tmp_path, "eigs", matrix, "-k", 2, "--quiet").finish()

    assert code == 0 and seen == b""


def test_a_pipe_gets_no_progress(hearsay, matrix):
    result = hearsay("eigs", matrix, "-k", 2)

    assert result.returncode == 0 and result.stderr == "" and "\r" not in result.stdout


@pytest.mark.parametrize("request_to_end", REQUESTS_TO_END)
def test_a_request_to_end_brings_the_best_result_and_exit_code_3(tmp_path, request_to_end):
    slow_matrix(tmp_path / "slow.mtx")
    program = OnATerminal(tmp_path, "eigs", "slow.mtx", "-k", 1, "--method", "npm", "--oversample", 0, "--tolerance", "1e-300",
                          "--max-iterations", 10**9, "--components", "basis.npy", "--json", "result.json")
    program.read_until(b"iteration")

    program.process.send_signal(request_to_end)
    output, _, code = program.finish()

    assert code == 3 and "interrupted after" in output
    assert json.loads((tmp_path / "result.json").read_text())["status"] == "stopped_by_observer"
    assert np.isclose(np.linalg.norm(np.load(tmp_path / "basis.npy")), 1)


def test_an_interrupt_is_heard_while_agents_wait_for_votes(tmp_path):
    np.savetxt(tmp_path / "all.csv", np.random.default_rng(0).standard_normal((40, 4)), delimiter=",")
    (tmp_path / "faults.json").write_text(json.dumps({
        "give_up": 10**15, "events": [{"drop": [0, 1], "rounds": [40, 10**15]}, {"drop": [1, 2], "rounds": [40, 10**15]}]}))
    program = OnATerminal(tmp_path, "decentralized", "all.csv", "-k", 1, "--agents", 3, "--topology", "path",
                          "--faults", "faults.json", "--tolerance", 0, "--json", "result.json")
    program.read_until(b"iteration")

    program.process.send_signal(signal.SIGINT)
    output, _, code = program.finish()

    result = json.loads((tmp_path / "result.json").read_text())
    assert code == 3 and "interrupted after" in output
    assert result["status"] == "stopped_by_observer"
    assert result["eigenvalues"][0] > 0
