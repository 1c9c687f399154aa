"""hearsay decentralized under mpirun: real processes, the same digests, errors that end every one of them."""

import json
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

from conftest import BINARY, PATIENCE_SECONDS

MPIRUN = os.environ.get("HEARSAY_MPIRUN") or shutil.which("mpirun")
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "ASAN_OPTIONS": "detect_leaks=0",  # of MPI itself; the tests on threads look for ours
}

pytestmark = pytest.mark.skipif(
    MPIRUN is None or not (pathlib.Path(BINARY).parent / "hearsay-mpi").exists(),
    reason="hearsay was built without MPI, or there is no mpirun")


@pytest.fixture
def on_ranks(tmp_path):
    def run(ranks, *arguments):
        return subprocess.run([MPIRUN, "-n", str(ranks), BINARY, *map(str, arguments)], cwd=tmp_path,
                              capture_output=True, text=True, timeout=PATIENCE_SECONDS, env=ENVIRONMENT)
    return run


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(0)
    rows = random.standard_normal((150, 9)) * 0.8 ** np.arange(9) + 3
    labels = random.integers(0, 5, 150)
    np.savetxt(tmp_path / "all.csv", np.column_stack([rows, labels]), delimiter=",", fmt="%.17g")
    return ["all.csv", "--label-column", "last"]


@pytest.fixture
def sites(tmp_path):
    random = np.random.default_rng(1)
    names = [f"site{i}.csv" for i in range(4)]
    for i, name in enumerate(names):
        np.savetxt(tmp_path / name, random.standard_normal((20 + 5 * i, 6)) * [3, 2, 1, 1, 1, 1], delimiter=",",
                   fmt="%.17g")
    return names


@pytest.mark.parametrize("options", [
    ["--split", "by-label"],
    ["--agents", 5, "--topology", "complete", "--algorithm", "adepm", "--rounds", 4],
    ["--agents", 5, "--split", "contiguous", "--message-precision", "bfloat16"],
], ids=lambda options: " ".join(map(str, options)))
def test_any_number_of_ranks_gives_the_same_digest(hearsay, on_ranks, table, options):
    command = ["decentralized", *table, "-k", 3, "--tolerance", "1e-9", *options, "--json", "-"]
    alone = json.loads(hearsay(*command).stdout)

    for ranks in (2, 3, 5):
        result = on_ranks(ranks, *command)
        assert result.returncode in (0, 3), result.stderr
        there = json.loads(result.stdout)
        assert there["ranks"] == ranks
        for key in ("digest", "status", "iterations", "rounds", "messages", "bytes", "eigenvalues", "residual",
                    "agreement", "per_agent", "history"):
            assert there[key] == alone[key], (key, ranks)


def test_there_is_an_agent_on_each_rank_unless_told_otherwise(on_ranks, table):
    result = json.loads(on_ranks(3, "decentralized", *table, "-k", 2, "--json", "-").stdout)

    assert result["agents"] == 3 and result["ranks"] == 3


def test_each_rank_writes_the_bases_of_its_agents(on_ranks, sites, tmp_path):
    result = on_ranks(2, "decentralized", *sites, "-k", 2, "--components", "basis-{agent}.npy")

    assert result.returncode == 0, result.stderr
    bases = [np.load(tmp_path / f"basis-{agent}.npy") for agent in range(4)]
    assert all(basis.shape == (6, 2) for basis in bases)
    assert max(np.abs(basis - bases[0]).max() for basis in bases) <= 1e-8


def told_once(result, code, *words):
    assert result.returncode == code, (result.stdout, result.stderr)
    lines = [line for line in result.stderr.splitlines() if line.startswith("hearsay: ")]
    assert len(lines) == 1, result.stderr
    for word in words:
        assert word in lines[0], lines[0]


@pytest.mark.attack
def test_a_file_that_one_rank_cannot_read_ends_all_of_them(on_ranks, sites, tmp_path):
    (tmp_path / sites[3]).write_text("1,2,3,4,5,six\n")

    result = on_ranks(4, "decentralized", *sites, "-k", 2, "--json", "result.json")

    told_once(result, 2, "rank 3", "site3.csv:1:6", "six")
    assert not (tmp_path / "result.json").exists()


@pytest.mark.attack
def test_shards_of_different_dimensions_on_different_ranks_are_named(on_ranks, sites, tmp_path):
    (tmp_path / sites[2]).write_text("1,2\n3,4\n5,7\n")

    told_once(on_ranks(4, "decentralized", *sites, "-k", 2), 2, "site2.csv", "site0.csv")


@pytest.mark.attack
@pytest.mark.parametrize("options, saying", [
    (["-k", 7], "rank = 7"),
    (["-k", 2, "--topology", "rign"], "did you mean ring?"),
    (["-k", 2, "--agents", 3], "agents = 3"),
    (["-k", 2, "--reference", "exact"], "would pool the data"),
    (["-k", 2, "--algorithm", "adepm", "--momentum", "optimal"], "would pool the data"),
    (["-k", 2, "--dp", "1,1e-6", "--row-norm", 3], "hearsay agent run, with a federation that has dp"),
])
def test_bad_options_are_told_by_one_rank(on_ranks, sites, options, saying):
    told_once(on_ranks(2, "decentralized", *sites, *options), 2, saying)


@pytest.fixture
def apart(tmp_path):
    """Two ranks with the same command line, each in a directory of its own."""
    def run(*arguments, files):
        for rank, own in enumerate(files):
            (tmp_path / str(rank)).mkdir()
            for name, text in own.items():
                path = tmp_path / str(rank) / name
                os.mkfifo(path) if text is None else path.write_text(text)
        return subprocess.run(
            [MPIRUN, "-n", "2", "sh", "-c", 'cd ${OMPI_COMM_WORLD_RANK-$PMI_RANK} && exec "$0" "$@"', BINARY,
             *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
            env=ENVIRONMENT)
    return run


ROWS = "1,2,0\n3,1,1\n0,2,5\n2,2,2\n"


@pytest.mark.attack
@pytest.mark.parametrize("options, file, there, saying", [
    (["--topology", "t"], "t", "0 1\n", ["rank 1: topology = t", "no file of that name"]),
    (["--weights", "w.csv"], "w.csv", "0.5,0.5\n0.5,0.5\n", ["rank 1: weights = w.csv", "no file of that name"]),
    (["--faults", "f"], "f", "{}", ["rank 1: f: no such file"]),
    (["--split", "s"], "s", "0\n1\n0\n1\n", ["rank 1: split = s"]),
])
def test_a_file_that_one_rank_lacks_ends_all_of_them(apart, options, file, there, saying):
    result = apart("decentralized", "all.csv", "-k", 1, *options, files=[{"all.csv": ROWS, file: there}, {"all.csv": ROWS}])

    told_once(result, 2, *saying)


@pytest.mark.attack
@pytest.mark.parametrize("arguments, files, saying", [
    (["all.csv"], [{"all.csv": ROWS}, {"all.csv": ROWS.replace("5", "50")}],
     ["rank 1: the content of all.csv is", "must be the same on every rank"]),
    (["all.csv", "--split", "s"], [{"all.csv": ROWS, "s": "0\n1\n0\n1\n"}, {"all.csv": ROWS, "s": "0\n0\n1\n1\n"}],
     ["rank 1: the split is"]),
    (["all.csv", "--weights", "w.csv"], [{"all.csv": ROWS, "w.csv": "0.5,0.5\n0.5,0.5\n"},
                                        {"all.csv": ROWS, "w.csv": "0.6,0.4\n0.4,0.6\n"}],
     ["rank 1: the gossip matrix is"]),
    (["a.csv", "b.csv"], [{"a.csv": ROWS}, {}], ["rank 1: b.csv: no such file"]),
    (["a.csv", "b.csv"], [{"a.csv": ROWS}, {"b.csv": None}], ["rank 1: b.csv: is a pipe: must be a regular file"]),
])
def test_ranks_whose_files_differ_are_named(apart, arguments, files, saying):
    told_once(apart("decentralized", *arguments, "-k", 1, files=files), 2, *saying)


@pytest.fixture
def unlike(tmp_path):
    """A rank for each command line."""
    def run(*lines):
        command = [word for line in lines for word in (":", "-n", 1, *line)][1:]
        return subprocess.run([MPIRUN, *map(str, command)], cwd=tmp_path, capture_output=True, text=True,
                              timeout=PATIENCE_SECONDS, env=ENVIRONMENT)
    return run


@pytest.mark.attack
@pytest.mark.parametrize("options, saying", [
    (["--no-center"], ["rank 1: --center is false there, and true on rank 0"]),
    (["--tolerance", "1e-3", "--seed", 1], ["--tolerance is 0.001 there, and 1e-10 on rank 0", "--seed is 1"]),
    (["--bogus"], ["rank 1: ", "--bogus"]),
    (["--help"], ["rank 1: the command is"]),
])
def test_ranks_whose_command_lines_differ_are_named(unlike, table, options, saying):
    command = [BINARY, "decentralized", *table, "-k", 2]

    told_once(unlike(command, [*command, *options]), 2, *saying)


def test_an_option_left_out_is_as_good_as_its_default(unlike, table):
    command = [BINARY, "decentralized", *table, "-k", 2]
    given = ["--agents", 2, "--tolerance", "0.1e-9", "--center", "--split", "even", "--topology", "ring", "--rounds",
             "auto", "--timeout", 600, "--columns", "by-name", "--threads", 1]

    result = unlike(command, [*command, *given])

    assert result.returncode == 0, result.stderr


@pytest.mark.attack
def test_a_rank_that_is_another_program_ends_the_job_in_time(unlike, table):
    result = unlike([BINARY, "decentralized", *table, "-k", 2, "--timeout", 0.5], ["sleep", 60])

    assert result.returncode == 4, (result.stdout, result.stderr)
    assert "MPI waited too long for another rank to start" in result.stderr


@pytest.mark.attack
def test_too_few_ranks_are_told_with_the_line_that_works(on_ranks, sites):
    result = on_ranks(2, "decentralized", *sites, "-k", 2, "--one-per-rank")

    told_once(result, 2, "4 agents", "2 ranks", "mpirun", "-n 4 hearsay decentralized site0.csv")


def test_one_process_too_tells_the_line_that_works(hearsay, sites):
    hearsay.refuses("decentralized", *sites, "-k", 2, "--one-per-rank",
                    saying=["4 agents, and 1 rank", "mpirun --oversubscribe -n 4 hearsay decentralized"])


def test_help_and_version_are_printed_once(on_ranks):
    assert on_ranks(2, "decentralized", "--help").stdout.count("Examples:") == 1


# ---- hearsay pca --stream: every rank reads its rows

@pytest.fixture
def rows(tmp_path):
    random = np.random.default_rng(2)
    np.save(tmp_path / "rows.npy", (random.standard_normal((5003, 24)) * 0.9 ** np.arange(24) + 5).astype(np.float32))
    np.save(tmp_path / "wide.npy", (random.standard_normal((600, 2000)) * 0.99 ** np.arange(2000)).astype(np.float32))


@pytest.mark.parametrize("command, way", [
    (["rows.npy", "-k", 4], "covariance"),
    (["wide.npy", "-k", 3, "--memory", "150MB", "--accuracy", "1e-4"], "products"),
], ids=["covariance", "products"])
def test_rows_that_ranks_read_together_give_the_bits_of_one_process(hearsay, on_ranks, rows, tmp_path, command, way):
    command = ["pca", *command, "--stream", "--json", "-", "--components"]
    alone = json.loads(hearsay(*command, "alone.npy").stdout)
    assert alone["plan"]["way"] == way
    for ranks in (1, 2, 3, 5):
        result = on_ranks(ranks, *command, f"{ranks}.npy")
        assert result.returncode == 0, result.stderr
        there = json.loads(result.stdout)
        for key in ("status", "passes", "eigenvalues", "residual", "certificate"):
            assert there[key] == alone[key], (key, ranks)
        assert (tmp_path / f"{ranks}.npy").read_bytes() == (tmp_path / "alone.npy").read_bytes(), ranks


@pytest.mark.attack
def test_a_number_that_is_none_ends_all_ranks_that_read_together(on_ranks, rows, tmp_path):
    data = np.load(tmp_path / "rows.npy")
    data[4800, 3] = np.nan
    np.save(tmp_path / "rows.npy", data)
    for ranks in (2, 3):
        told_once(on_ranks(ranks, "pca", "rows.npy", "-k", 2, "--stream", "--json", "r.json"), 2, "rows.npy: row 4801, column 4 is nan")
        assert not (tmp_path / "r.json").exists()


@pytest.mark.attack
@pytest.mark.parametrize("options, saying", [
    ([], "say --stream"),
    (["--stream", "--standardize"], "standardized"),
    (["--stream", "--batch", 100], "batches"),
    (["--dp", "1,1e-6", "--row-norm", "1"], "dp"),
    (["--stream", "--start", "none.npy"], "none.npy"),
    (["--stream", "-k", 99], "rank = 99"),
])
def test_what_ranks_cannot_read_together_is_told_once(on_ranks, rows, options, saying):
    rank = [] if "-k" in options else ["-k", 2]
    told_once(on_ranks(2, "pca", "rows.npy", *rank, *options), 2, saying)
