"""The commands of docs/guide/tables.md, as they stand there."""

import os
import subprocess

import numpy as np
import pytest

from conftest import BINARY, PATIENCE_SECONDS, SOURCE
from test_readme import shell_lines

COMMANDS = shell_lines(SOURCE / "docs" / "guide" / "tables.md")


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """One directory for all commands, in their order: later ones read what earlier ones wrote."""
    directory = tmp_path_factory.mktemp("desk")
    random = np.random.default_rng(0)
    names = ["a", "b", "c", "d", "e", "f", "n"]
    for name in ("table", "old", "new"):
        rows = np.hstack([random.standard_normal((80, 6)) * 0.6 ** np.arange(6) + 3, random.integers(1, 4, (80, 1))])
        lines = [",".join(map(repr, map(float, row))) for row in rows]
        (directory / f"{name}.csv").write_text("\n".join([",".join(names), *lines]) + "\n")
    np.save(directory / "weights.npy", random.uniform(0, 2, 80))
    return directory


def test_there_are_commands():
    assert len(COMMANDS) >= 6 and any(command.startswith("hearsay project ") for command, _ in COMMANDS)


@pytest.mark.parametrize("command, code", COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_of_the_guide_does_what_it_says(desk, command, code):
    if "--missing" in command:
        rows = (desk / "table.csv").read_text().splitlines()
        rows[5] = rows[5].replace(rows[5].split(",")[1], "NA")
        (desk / "table.csv").write_text("\n".join(rows) + "\n")
    run = subprocess.run([BINARY, *command.split()[1:]], cwd=desk, capture_output=True, text=True,
                         timeout=PATIENCE_SECONDS, env={**os.environ})
    if "--missing" in command:
        (desk / "table.csv").write_text((desk / "old.csv").read_text())

    assert run.returncode == code, run.stderr
    assert run.stdout and run.stderr == ""
