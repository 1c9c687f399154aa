"""hearsay pca on PLINK's files, and the commands of docs/guide/genotypes.md as they stand there."""

import csv
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from conftest import BINARY, PATIENCE_SECONDS, SOURCE, sin_theta
from test_readme import shell_lines

PAGE = SOURCE / "docs" / "guide" / "genotypes.md"
COMMANDS = shell_lines(PAGE)
SCRIPT = SOURCE / "examples" / "balding_nichols.py"


def makers():
    """The lines of the page that run the script."""
    return [line.split() for line in PAGE.read_text().splitlines() if line.startswith("    python3 balding_nichols.py ")]


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """One directory for all commands, in their order: later ones read what earlier ones wrote."""
    directory = tmp_path_factory.mktemp("desk")
    for line in makers():
        subprocess.run([sys.executable, SCRIPT, *line[2:]], cwd=directory, check=True, timeout=PATIENCE_SECONDS)
    return directory


def test_there_are_commands():
    assert len(makers()) == 1 and len(COMMANDS) == 2


@pytest.mark.parametrize("command, code", COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_of_the_guide_does_what_it_says(desk, command, code):
    run = subprocess.run([BINARY, *command.split()[1:]], cwd=desk, capture_output=True, text=True,
                         timeout=PATIENCE_SECONDS, env={**os.environ})

    assert run.returncode == code, run.stderr
    assert run.stdout and run.stderr == ""


def calls_of(prefix):
    """Samples x SNPs: copies of the first allele, NaN where missing."""
    samples = len(prefix.with_suffix(".fam").read_text().splitlines())
    data = np.fromfile(prefix.with_suffix(".bed"), dtype=np.uint8)[3:].reshape(-1, (samples + 3) // 4)
    codes = np.stack([data >> shift & 3 for shift in (0, 2, 4, 6)], axis=2).reshape(len(data), -1)[:, :samples]
    return np.array([2, np.nan, 1, 0])[codes].T


def standardized(calls):
    mean = np.nanmean(calls, axis=0)
    scale = np.sqrt(mean * (1 - mean / 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(scale > 0, (calls - mean) / scale, 0)
    return np.nan_to_num(z)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def test_the_populations_of_the_guide_are_told_apart_and_named(desk):
    rows = rows_of(desk / "scores.csv")
    assert rows[0] == ["FID", "IID", "PC1", "PC2", "PC3", "PC4"]
    people = [line.split()[:2] for line in (desk / "genotypes.fam").read_text().splitlines()]
    assert [row[:2] for row in rows[1:]] == people
    scores = np.array([row[2:] for row in rows[1:]], dtype=float)
    groups = np.array([row[0] for row in rows[1:]])
    middles = {name: scores[groups == name].mean(axis=0) for name in set(groups)}
    assert len(middles) == 5
    nearest = [min(middles, key=lambda name: np.linalg.norm(score - middles[name])) for score in scores]
    assert np.mean(np.array(nearest) == groups) == 1.0

    loadings = rows_of(desk / "loadings.csv")
    assert loadings[0] == ["snp", "PC1", "PC2", "PC3", "PC4"] and loadings[1][0] == "rs1" and len(loadings) == 4001


def test_the_numbers_are_those_of_the_dense_matrix(desk):
    z = standardized(calls_of(desk / "genotypes"))
    _, values, vectors = np.linalg.svd(z, full_matrices=False)
    basis = np.array([row[1:] for row in rows_of(desk / "loadings.csv")[1:]], dtype=float)
    scores = np.array([row[2:] for row in rows_of(desk / "scores.csv")[1:]], dtype=float)
    result = json.loads((desk / "result.json").read_text())

    assert sin_theta(vectors[:4].T, basis) <= 1e-9
    assert np.allclose(scores, z @ basis, atol=1e-9)
    assert np.allclose(result["eigenvalues"], values[:4] ** 2 / (len(z) - 1), rtol=1e-12)
    assert np.isclose(result["total_variance"], (z**2).sum() / (len(z) - 1))
    assert result["certificate"]["sin_theta"]["word"] == "bound"
    assert result["features"][:2] == ["rs1", "rs2"]


@pytest.fixture
def small(hearsay):
    """a.bed of 30 samples and 200 SNPs, in the directory of the program."""
    subprocess.run([sys.executable, SCRIPT, "a", "--samples", "30", "--snps", "200", "--fst", "0.2"], cwd=hearsay.directory,
                   check=True, timeout=PATIENCE_SECONDS)
    return hearsay


def test_inputs_are_three_files_and_none_is_overwritten(small):
    result = small.json("pca", "a.bed", "-k", 2)

    assert [file["path"] for file in result["provenance"]["inputs"]] == ["a.bed", "a.bim", "a.fam"]
    shutil.copy(small.directory / "a.bim", small.directory / "b.bim")
    for name in ("bim", "fam"):
        os.link(small.directory / f"a.{name}", small.directory / f"{name}.csv")
        small.refuses("pca", "a.bed", "-k", 2, "--scores", f"{name}.csv", saying="would overwrite")


def test_every_thread_count_gives_the_same_bits(small):
    bases = []
    for threads in (1, 2, 3):
        run = small("pca", "a.bed", "-k", 3, "--threads", threads, "--components", f"{threads}.npy")
        assert run.returncode == 0, run.stderr
        bases.append((small.directory / f"{threads}.npy").read_bytes())
    assert bases[0] == bases[1] == bases[2]


def test_a_run_goes_on_from_its_checkpoint_and_from_no_other_fam(small):
    first = small("pca", "a.bed", "-k", 3, "--method", "anpm", "--checkpoint", "run.ck", "--checkpoint-every", 5, "--max-iterations", 10)
    assert first.returncode == 3, first.stderr
    assert small("pca", "a.bed", "-k", 3, "--method", "anpm", "--checkpoint", "run.ck", "--resume").returncode == 0
    fam = small.directory / "a.fam"
    fam.write_text(fam.read_text().replace("sample1\t", "somebody\t"))
    small.refuses("pca", "a.bed", "-k", 3, "--method", "anpm", "--checkpoint", "run.ck", "--resume", saying="run.ck")


@pytest.mark.parametrize("options, saying", [
    (["--stream"], "stream"), (["--standardize"], "standardize"), (["--no-center"], "center"), (["--batch", "10"], "batch"),
    (["--missing", "em"], "missing = em"), (["--label-column", "1"], "label-column"), (["--row-weights", "w.npy"], "row-weights"),
    (["--dp", "1,1e-6", "--row-norm", "1"], "dp"), (["-k", "0.9"], "rank"), (["-k", "mle"], "rank"), (["-k", "31"], "rank = 31")])
def test_options_for_tables_are_refused(small, options, saying):
    small.refuses("pca", "a.bed", "-k", "2", *options, saying=saying)


def damage(directory, name, change):
    path = directory / name
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.attack
@pytest.mark.parametrize("name, change, saying", [
    ("a.bed", lambda bytes: bytes[:-1], ["a.bed: has 1602 bytes", "200 SNPs", "30 samples", "take 1603"]),
    ("a.bed", lambda bytes: bytes + b"x", ["a.bed: has 1604 bytes"]),
    ("a.bed", lambda bytes: b"\x6c\x1b\x00" + bytes[3:], ["a.bed: byte 3 is 00", "sample by sample"]),
    ("a.bed", lambda bytes: b"PK\x03\x04" + bytes[4:], ["a.bed: begins with 50 4b 03"]),
    ("a.bed", lambda bytes: bytes[:10] + b"\xff" + bytes[11:], ["a.bed: SNP 1, its byte 8", "30 samples"]),
    ("a.bed", lambda bytes: b"", ["a.bed: the file is empty"]),
    ("a.fam", lambda bytes: bytes[: len(bytes) // 2], ["a.fam:"]),
    ("a.fam", lambda bytes: bytes + b"f i 0 0 0 -9\nf j 0 0 0 -9\nf k 0 0 0 -9\n", ["33 samples"]),
    ("a.bim", lambda bytes: bytes.replace(b"\trs7\t", b"\t", 1), ["a.bim:7: has 5 fields"]),
    ("a.bim", lambda bytes: bytes * 2, ["400 SNPs"]),
])
def test_damaged_files_are_refused(small, name, change, saying):
    damage(small.directory, name, change)
    small.refuses("pca", "a.bed", "-k", 2, saying=saying)


@pytest.mark.attack
@pytest.mark.parametrize("name", ["a.bed", "a.bim", "a.fam"])
def test_a_missing_file_is_named(small, name):
    (small.directory / name).unlink()
    small.refuses("pca", "a.bed", "-k", 2, saying=name)


@pytest.mark.attack
@pytest.mark.parametrize("command", [["svd", "a.bed", "-k", "2"], ["eigs", "a.bed", "-k", "2"], ["plan", "--data", "a.bed", "-k", "2"],
                                     ["decentralized", "a.bed", "--agents", "3", "-k", "2"]])
def test_other_commands_say_that_it_is_none_of_theirs(small, command):
    small.refuses(*command, saying="a.bed: holds genotypes")
