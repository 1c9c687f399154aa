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


def test_a_file_that_one_rank_cannot_read_ends_all_of_them(on_ranks, sites, tmp_path):
    (tmp_path / sites[3]).write_text("1,2,3,4,5,six\n")

    result = on_ranks(4, "decentralized", *sites, "-k", 2, "--json", "result.json")

    told_once(result, 2, "rank 3", "site3.csv:1:6", "six")
    assert not (tmp_path / "result.json").exists()


def test_shards_of_different_dimensions_on_different_ranks_are_named(on_ranks, sites, tmp_path):
    (tmp_path / sites[2]).write_text("1,2\n3,4\n5,7\n")

    told_once(on_ranks(4, "decentralized", *sites, "-k", 2), 2, "site2.csv", "site0.csv")


@pytest.mark.parametrize("options, saying", [
    (["-k", 7], "rank = 7"),
    (["-k", 2, "--topology", "rign"], "did you mean ring?"),
    (["-k", 2, "--agents", 3], "agents = 3"),
    (["-k", 2, "--reference", "exact"], "would pool the data"),
    (["-k", 2, "--algorithm", "adepm", "--momentum", "optimal"], "would pool the data"),
])
def test_bad_options_are_told_by_one_rank(on_ranks, sites, options, saying):
    told_once(on_ranks(2, "decentralized", *sites, *options), 2, saying)


def test_too_few_ranks_are_told_with_the_line_that_works(on_ranks, sites):
    result = on_ranks(2, "decentralized", *sites, "-k", 2, "--one-per-rank")

    told_once(result, 2, "4 agents", "2 ranks", "mpirun", "-n 4 hearsay decentralized site0.csv")


def test_one_process_too_tells_the_line_that_works(hearsay, sites):
    hearsay.refuses("decentralized", *sites, "-k", 2, "--one-per-rank",
                    saying=["4 agents, and 1 rank", "mpirun --oversubscribe -n 4 hearsay decentralized"])


def test_help_and_version_are_printed_once(on_ranks):
    assert on_ranks(2, "decentralized", "--help").stdout.count("Examples:") == 1
