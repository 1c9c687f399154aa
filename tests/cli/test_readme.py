"""The commands of README.md, as they stand there: no data, no cache, no network."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest

from conftest import BINARY, PATIENCE_SECONDS, SOURCE
from test_mpi import ENVIRONMENT, MPIRUN
from test_reproduce import SMALL


def shell_lines(page):
    """Commands of ours in code blocks, indented or fenced, with the exit code that their comment names, else 0."""
    fence, lines = None, []
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            fence = line[3:].strip() or "text" if fence is None else None
            continue
        code = line if fence in ("sh", "shell", "bash", "console") else line[4:] if fence is None and line.startswith("    ") else ""
        if re.match(r"(mpirun .*)?hearsay ", code):
            command, _, comment = code.partition(" #")
            named = re.search(r"exit code (\d)", comment)
            lines.append((command.rstrip(), int(named[1]) if named else 0))
    return lines


COMMANDS = shell_lines(SOURCE / "README.md")


def write_what_readers_have(directory):
    """The files that are the reader's own, small."""
    random = np.random.default_rng(0)
    for name in ("measurements", "boston", "leeds", "oslo"):
        np.savetxt(directory / f"{name}.csv", random.standard_normal((60, 12)) * 0.7 ** np.arange(12), delimiter=",")
    size = 40  # a path: 2 on the diagonal, -1 beside it
    below = "".join(f"{i + 1} {i + 1} 2\n" + (f"{i + 2} {i + 1} -1\n" if i + 1 < size else "") for i in range(size))
    (directory / "laplacian.mtx").write_text(
        f"%%MatrixMarket matrix coordinate real symmetric\n{size} {size} {2 * size - 1}\n{below}")
    friends = [(i, j) for i in range(90) for j in range(i) if random.random() < (0.5 if i // 3 == j // 3 else 0.05)]
    (directory / "friends.txt").write_text("".join(f"{i} {j}\n" for i, j in friends))
    (directory / "my.json").write_text(json.dumps({**SMALL, "name": "mine"}))


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """One directory for all commands, in their order: later ones read what earlier ones wrote."""
    directory = tmp_path_factory.mktemp("desk")
    write_what_readers_have(directory)
    (directory / "home").mkdir()
    return directory


def test_there_are_commands():
    assert len(COMMANDS) >= 10 and any(" digits " in command for command, code in COMMANDS)


@pytest.mark.parametrize("command, code", COMMANDS)
def test_it_runs(desk, command, code):
    if command.startswith("mpirun") and (MPIRUN is None or not (pathlib.Path(BINARY).parent / "hearsay-mpi").exists()):
        pytest.skip("hearsay was built without MPI, or there is no mpirun")
    programs = f"{pathlib.Path(BINARY).resolve().parent}:{pathlib.Path(MPIRUN or '/usr/bin/x').parent}:{os.environ['PATH']}"
    environment = {**ENVIRONMENT, "PATH": programs, "HOME": str(desk / "home"), "no_proxy": "",
                   **{name: "http://127.0.0.1:1" for name in ("http_proxy", "https_proxy", "all_proxy")}}
    for name in ("HEARSAY_DATA", "XDG_CACHE_HOME"):
        environment.pop(name, None)

    result = subprocess.run([shutil.which("bash"), "-c", command], cwd=desk, capture_output=True, text=True,
                            timeout=PATIENCE_SECONDS, env=environment)

    assert result.returncode == code, result.stdout + result.stderr
    assert "hearsay: " not in result.stderr
