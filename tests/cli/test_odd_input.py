"""Input that is odd rather than wrong: pipes, loops, long names, numbers at the edge, threads without number."""

import gzip
import hashlib
import os
import resource
import subprocess

import numpy as np
import pytest

from conftest import BINARY, PATIENCE_SECONDS, SANITIZED, planted

pytestmark = pytest.mark.attack


@pytest.fixture
def matrix(tmp_path):
    np.save(tmp_path / "matrix.npy", planted([4, 3, *np.linspace(2, 1, 8)])[0])
    return "matrix.npy"


@pytest.fixture
def names(tmp_path, matrix):
    os.symlink("loop", tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    return {"loop": "loop", "long": "x" * 5000, "deep": "a/" * 3000 + "b", "file as directory": "matrix.npy/x"}


OPTIONS = {
    "input": lambda name: ["eigs", name, "-k", 1],
    "agents' input": lambda name: ["decentralized", name, "-k", 1, "--agents", 2],
    "start": lambda name: ["eigs", "matrix.npy", "-k", 1, "--start", name],
    "topology": lambda name: ["decentralized", "matrix.npy", "-k", 1, "--agents", 2, "--topology", name],
    "components": lambda name: ["eigs", "matrix.npy", "-k", 1, "--components", name + ".npy"],
    "json": lambda name: ["eigs", "matrix.npy", "-k", 1, "--json", name],
    "out": lambda name: ["reproduce", "fig1", "--quick", "--out", name],
    "result": lambda name: ["verify", name],
}


@pytest.mark.parametrize("option", OPTIONS)
def test_names_that_cannot_be_looked_at_are_refused_in_words(hearsay, names, option):
    for kind, name in names.items():
        if option == "components" and kind == "loop":
            continue  # loop.npy is a new file
        message = hearsay.refuses(*OPTIONS[option](name))
        assert "filesystem error" not in message and "std::" not in message and len(message) < 20000


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every directory")
def test_a_closed_directory(hearsay, tmp_path, matrix):
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed").chmod(0)

    assert "filesystem error" not in hearsay.refuses("eigs", "closed/matrix.npy", "-k", 1, saying="closed")
    (tmp_path / "closed").chmod(0o700)


def test_pipes_and_checkpoints_do_not_go_together(hearsay, names):
    hearsay.refuses("eigs", "pipe", "-k", 1, "--checkpoint", "c", saying=["input = pipe", "pipe"])
    hearsay.refuses("eigs", "matrix.npy", "-k", 1, "--checkpoint", "pipe", saying="checkpoint = pipe")


def test_a_pipe_that_nobody_reads_is_no_place_for_an_output(hearsay, names):
    result = hearsay("eigs", "matrix.npy", "-k", 1, "--json", "pipe")

    assert result.returncode == 1 and "nobody reads" in result.stderr and "eigenvalue" in result.stdout


def test_small_numbers_are_numbers(hearsay, matrix, tmp_path):
    (tmp_path / "data.csv").write_text("1e-320,3e-320\n2e-320,7e-320\n-5e-320,-9e-320\n")

    result = hearsay("pca", "data.csv", "-k", 1)
    assert result.returncode == 0 and "overflow" not in result.stderr, result.stderr
    result = hearsay("eigs", matrix, "-k", 1, "--tolerance", "1e-320", "--max-iterations", 5)
    assert result.returncode == 3 and "overflow" not in result.stderr
    for option in (["--tolerance", "1e400"], ["--shift", "-1e400"]):
        hearsay.refuses("eigs", matrix, "-k", 1, *option, saying="finite")


@pytest.mark.parametrize("oversample", [2**31 + 1, 2**63 - 1, 2**63])
def test_a_block_of_more_columns_than_can_be_counted(hearsay, matrix, oversample):
    hearsay.refuses("eigs", matrix, "-k", 1, "--oversample", oversample, saying="oversample")


def test_no_gap_is_not_a_number_when_everything_is_asked_for(hearsay, matrix):
    for command in (["eigs", matrix], ["pca", matrix]):
        result = hearsay(*command, "-k", 10)
        assert "nan" not in result.stdout.lower(), result.stdout


PLAN = ["plan", "--dimension", 100, "-k", 2, "--lambda-k", 1, "--agents", 10]


def test_a_plan_counts_no_more_rounds_than_there_are_numbers(hearsay):
    for gap in ("1e-300", "5e-324", "1e-40"):
        hearsay.refuses(*PLAN, "--lambda-next", 0.5, "--gossip-gap", gap, saying="gamma")
    for next_eigenvalue in ("0.999999999999999", "0.9999999"):
        result = hearsay(*PLAN, "--lambda-next", next_eigenvalue, "--gossip-gap", "1e-20")
        assert "-9223372036854775808" not in result.stdout + result.stderr and result.returncode in (0, 2)


def test_threads_without_number_under_a_memory_limit(tmp_path):
    if SANITIZED:
        pytest.skip("AddressSanitizer needs more address space than the limit leaves")
    np.save(tmp_path / "data.npy", np.random.default_rng(0).standard_normal((4000, 60)))
    limit = 4 << 30

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    result = subprocess.run([BINARY, "pca", "data.npy", "-k", "2"], cwd=tmp_path, capture_output=True, text=True,
                            timeout=PATIENCE_SECONDS, env={**os.environ, "OMP_NUM_THREADS": "100000"}, preexec_fn=limited)

    assert result.returncode in (0, 1), result  # never killed by a signal


WEIGHTS = {"large": "1e308", "small": "1e-320"}


@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS.keys())
@pytest.mark.parametrize("precision", ["double", "single", "mixed"])
def test_weights_count_beside_each_other_and_not_by_themselves(hearsay, tmp_path, weight, precision):
    edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]
    found = []
    for name, text in {"one": "1", "other": weight}.items():
        (tmp_path / name).write_text("".join(f"{a} {b} {text}\n" for a, b in edges))
        found.append(hearsay.json("cluster", name, "-k", 2, "--precision", precision))
        agents = hearsay.json("decentralized", name, "--split", "by-node", "-k", 1, "--topology", "data")
        found[-1]["agents_found"] = agents["eigenvalues"]

    assert np.allclose(found[0]["eigenvalues"], found[1]["eigenvalues"], rtol=1e-5)
    assert np.allclose(found[0]["agents_found"], found[1]["agents_found"], rtol=1e-12)
    assert found[0]["status"] == found[1]["status"] == "converged"


def test_weights_too_far_apart_are_refused(hearsay, tmp_path):
    (tmp_path / "graph").write_text("0 1 1e308\n1 2 1e-308\n")

    hearsay.refuses("cluster", "graph", "-k", 1, saying=["weights", "too far apart"])


def test_a_data_set_is_checked_whenever_it_is_read(hearsay, digits, tmp_path):
    content = gzip.decompress(digits.read_bytes())
    (tmp_path / "digits.csv.gz").write_bytes(gzip.compress(content.replace(b"5", b"6", 1)))

    for command in (["pca", "digits", "-k", 1], ["decentralized", "digits", "-k", 1, "--agents", 2],
                    ["reproduce", "fig2-digits", "--quick"]):
        result = hearsay(*command, env={"HEARSAY_DATA": str(tmp_path)})
        assert result.returncode == 2 and "sha256" in result.stderr, result.stderr
    (tmp_path / "digits.csv.gz").write_bytes(gzip.compress(content))  # compressed again, and the same data
    assert hearsay("pca", "digits", "-k", 1, env={"HEARSAY_DATA": str(tmp_path)}).returncode == 0


def test_a_data_set_without_a_digest_is_not_taken_on_trust(hearsay, tmp_path):
    graph = b"0 1\n1 2\n0 2\n"
    here = {"HEARSAY_DATA": str(tmp_path)}
    (tmp_path / "amazon0302.txt.gz").write_bytes(graph)

    result = hearsay("cluster", "amazon0302", "-k", 1, env=here)
    assert result.returncode == 2 and "amazon0302.txt.gz.sha256" in result.stderr
    result = hearsay("datasets", "fetch", "amazon0302", "--to", tmp_path / "other")
    assert result.returncode == 2 and "--sha256" in result.stderr
    hearsay.refuses("datasets", "fetch", "amazon0302", "--to", "other", "--sha256", "abc", saying="sha256 = abc")
    hearsay.refuses("datasets", "fetch", "digits", "--to", "other", "--sha256", "0" * 64, saying="digests are known")

    (tmp_path / "amazon0302.txt.gz.sha256").write_text(hashlib.sha256(graph).hexdigest() + "\n")
    assert hearsay("cluster", "amazon0302", "-k", 1, env=here).returncode == 0
