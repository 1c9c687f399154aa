"""The program under test, and matrices whose answer is known."""

import collections
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

BINARY = os.environ.get("HEARSAY_BINARY", "hearsay")
SOURCE = pathlib.Path(os.environ.get("HEARSAY_SOURCE", pathlib.Path(__file__).parents[2]))
PATIENCE_SECONDS = 120  # against a hang only; nothing measures time
SANITIZED = os.path.exists(BINARY) and b"__asan_init" in pathlib.Path(BINARY).read_bytes()


def memory(megabytes):
    """For --memory: so much for the run itself, beside the 90 MB that AddressSanitizer holds."""
    return f"{megabytes + 90 * SANITIZED}MB"


class Tally:
    """Counts how the program ended, attack by attack: the rows of docs/reliability.md (`./dev attacks`)."""

    COLUMNS = ("refused", "delivered in part", "answered", "other")  # exit codes 2; 1 and 4; 0, 3 and signals that are heard

    def __init__(self):
        self.ends = collections.defaultdict(collections.Counter)

    @staticmethod
    def column(code):
        return {2: "refused", 1: "delivered in part", 4: "delivered in part"}.get(
            code, "answered" if code in (0, 3, 130, 129, 143) else "other")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        run, ends = subprocess.run, self.ends[item.module.__name__, getattr(item, "originalname", item.name)]

        def counted(*arguments, **options):
            result = run(*arguments, **options)
            ends[self.column(result.returncode)] += 1
            return result

        subprocess.run = counted
        try:
            yield
        finally:
            subprocess.run = run

    def pytest_terminal_summary(self, terminalreporter):
        write = terminalreporter.write_line
        write("| attack | runs | " + " | ".join(self.COLUMNS) + " |")
        write("|---|---" + "|---" * len(self.COLUMNS) + "|")
        total, module = collections.Counter(), None
        for (where, test), ends in self.ends.items():
            if not ends:
                continue
            if where != module:
                module = where
                write(f"| **{sys.modules[where].__doc__.splitlines()[0].rstrip('.')}** (`tests/cli/{where}.py`) |" + " |" * 5)
            self.row(write, test.removeprefix("test_").replace("_", " "), ends)
            total += ends
        self.row(write, "**all**", total)

    def row(self, write, name, ends):
        write(f"| {name} | {sum(ends.values())} | " + " | ".join(str(ends[column]) for column in self.COLUMNS) + " |")


def pytest_addoption(parser):
    parser.addoption("--tally", action="store_true", help="print how many runs were refused and how many answered")


def pytest_configure(config):
    config.addinivalue_line("markers", "attack: bad input, bad surroundings, hostile names")
    if config.getoption("--tally"):
        config.pluginmanager.register(Tally())


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
