"""The program under test, and matrices whose answer is known."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

BINARY = os.environ.get("HEARSAY_BINARY", "hearsay")
SOURCE = pathlib.Path(os.environ.get("HEARSAY_SOURCE", pathlib.Path(__file__).parents[2]))
PATIENCE_SECONDS = 120  # against a hang only; nothing measures time


class Program:
    """Runs hearsay in a directory of its own."""

    def __init__(self, directory):
        self.directory = directory

    def __call__(self, *arguments, env=None):
        return subprocess.run(
            [BINARY, *map(str, arguments)], cwd=self.directory, capture_output=True, text=True,
            timeout=PATIENCE_SECONDS, env=None if env is None else {**os.environ, **env})

    def json(self, *arguments, code=0):
        """The JSON of a run that must end with `code`."""
        result = self(*arguments, "--json", "-")
        assert result.returncode == code, result.stderr
        assert result.stderr == ""
        return json.loads(result.stdout)

    def refuses(self, *arguments, saying=()):
        """The run must end with exit code 2, one line on standard error and nothing on standard output."""
        result = self(*arguments)
        assert result.returncode == 2, (result.stdout, result.stderr)
        assert result.stderr.startswith("hearsay: ") and result.stderr.count("\n") == 1, result.stderr
        assert result.stdout == ""
        for words in [saying] if isinstance(saying, str) else saying:
            assert words in result.stderr, result.stderr
        return result.stderr


@pytest.fixture
def hearsay(tmp_path):
    return Program(tmp_path)


@pytest.fixture(scope="session")
def data_directory():
    directory = os.environ.get("HEARSAY_DATA")
    if not directory:
        pytest.skip("HEARSAY_DATA is not set; get the data with: hearsay datasets fetch digits")
    return pathlib.Path(directory)


@pytest.fixture
def digits(data_directory):
    path = data_directory / "digits.csv.gz"
    if not path.exists():
        pytest.skip(f"{path} is missing; get it with: hearsay datasets fetch digits")
    return path


def planted(eigenvalues, seed=0):
    """A symmetric matrix with these eigenvalues, and its eigenvectors in the same order."""
    eigenvalues = np.asarray(eigenvalues, dtype=float)
    size = len(eigenvalues)
    vectors, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))
    matrix = vectors * eigenvalues @ vectors.T
    return (matrix + matrix.T) / 2, vectors


def sin_theta(basis, other):
    """The sine of the largest angle between two subspaces, accurate when it is small."""
    return np.linalg.norm(other - basis @ (basis.T @ other), 2)


def is_orthonormal(basis, tolerance=1e-12):
    return np.abs(basis.T @ basis - np.eye(basis.shape[1])).max() <= tolerance


def slow_matrix(path, size=20000):
    """A diagonal matrix whose eigenvalues lie so close that a plain power iteration takes as good as for ever."""
    with open(path, "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate real symmetric\n{size} {size} {size}\n")
        file.writelines(f"{i + 1} {i + 1} {1 - 1e-6 * i / size!r}\n" for i in range(size))
