"""Bad input ends with exit code 2 and one clear line; nothing is written, and what was there stays."""

import gzip
import hashlib
import os
import struct

import numpy as np
import pytest

from conftest import SANITIZED, planted

pytestmark = pytest.mark.attack


@pytest.fixture
def matrix(tmp_path):
    np.save(tmp_path / "matrix.npy", planted([4, 3, *np.linspace(2, 1, 48)])[0])
    return "matrix.npy"


OLD = b"what was there before"


def refused_without_a_trace(hearsay, *arguments, saying):
    """The run is refused, its old outputs stay as they were and no other file appears."""
    outputs = ["basis.npy", "result.json"]
    for name in outputs:
        (hearsay.directory / name).write_bytes(OLD)
    before = sorted(os.listdir(hearsay.directory))

    hearsay.refuses(*arguments, "--components", outputs[0], "--json", outputs[1], saying=saying)

    assert sorted(os.listdir(hearsay.directory)) == before
    assert all((hearsay.directory / name).read_bytes() == OLD for name in outputs)


TEXTS = {
    "ragged rows": ("1,2,3\n4,5\n", ["data.csv:2"]),
    "text for a number": ("1,2\n3,four\n", ["data.csv:2:2", "four"]),
    "NaN": ("1,2\n3,nan\n", ["data.csv:2:2"]),
    "infinity": ("1,2\n-inf,3\n", ["data.csv:2:1"]),
    "an empty cell": ("1,2\n3,\n", ["data.csv:2:2"]),
    "an empty file": ("", ["data.csv", "empty"]),
    "a header alone": ("a,b\n", ["data.csv"]),
}


@pytest.mark.parametrize("text, saying", TEXTS.values(), ids=TEXTS.keys())
def test_a_malformed_table(hearsay, tmp_path, text, saying):
    (tmp_path / "data.csv").write_text(text)

    refused_without_a_trace(hearsay, "pca", "data.csv", "-k", 1, saying=saying)


@pytest.mark.parametrize("text, saying", TEXTS.values(), ids=TEXTS.keys())
def test_a_malformed_table_in_a_stream(hearsay, tmp_path, text, saying):
    (tmp_path / "data.csv").write_text(text)

    refused_without_a_trace(hearsay, "pca", "data.csv", "-k", 1, "--stream", saying=saying)


def test_a_missing_file(hearsay):
    refused_without_a_trace(hearsay, "pca", "nowhere.csv", "-k", 1, saying="nowhere.csv")


def test_a_directory(hearsay, tmp_path):
    (tmp_path / "folder.csv").mkdir()

    refused_without_a_trace(hearsay, "pca", "folder.csv", "-k", 1, saying=["folder.csv", "directory"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_an_unreadable_file(hearsay, tmp_path):
    (tmp_path / "data.csv").write_text("1,2\n3,4\n")
    (tmp_path / "data.csv").chmod(0)

    refused_without_a_trace(hearsay, "pca", "data.csv", "-k", 1, saying="data.csv")


def test_a_truncated_gzip_file(hearsay, tmp_path):
    packed = gzip.compress(b"1,2\n3,4\n" * 1000)
    (tmp_path / "data.csv.gz").write_bytes(packed[: len(packed) // 2])

    refused_without_a_trace(hearsay, "pca", "data.csv.gz", "-k", 1, saying=["data.csv.gz", "truncated"])


def test_a_truncated_numpy_file(hearsay, matrix, tmp_path):
    content = (tmp_path / matrix).read_bytes()
    (tmp_path / matrix).write_bytes(content[:-7])

    refused_without_a_trace(hearsay, "eigs", matrix, "-k", 1, saying=matrix)


def test_a_numpy_header_that_promises_more_than_memory_has(hearsay, tmp_path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000000), }\n"
    (tmp_path / "data.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(64))

    refused_without_a_trace(hearsay, "pca", "data.npy", "-k", 1, saying="data.npy")


def test_a_nan_in_a_numpy_file_is_named_by_row_and_column(hearsay, tmp_path):
    data = np.ones((3, 4))
    data[1, 2] = np.nan
    np.save(tmp_path / "data.npy", data)

    refused_without_a_trace(hearsay, "pca", "data.npy", "-k", 1, saying=["data.npy", "row 2", "column 3"])


def test_a_matrix_that_is_not_square(hearsay, tmp_path):
    np.save(tmp_path / "matrix.npy", np.ones((3, 4)))

    refused_without_a_trace(hearsay, "eigs", "matrix.npy", "-k", 1, saying=["matrix.npy", "3 x 4", "square"])


def test_a_matrix_that_is_not_symmetric_names_the_entry(hearsay, tmp_path):
    matrix = np.eye(4)
    matrix[2, 1] = 0.5
    np.save(tmp_path / "matrix.npy", matrix)

    refused_without_a_trace(hearsay, "eigs", "matrix.npy", "-k", 1, saying=["matrix.npy", "symmetric", "2", "3"])


def test_a_negative_eigenvalue(hearsay, tmp_path):
    np.save(tmp_path / "matrix.npy", np.diag([2.0, -3.0, 1.0]))

    refused_without_a_trace(hearsay, "eigs", "matrix.npy", "-k", 1, "--momentum", "0.1",
                            saying=["negative eigenvalue", "--shift"])


OPTIONS = {
    "rank zero": (["-k", "0"], ["rank = 0"]),
    "rank above the dimension": (["-k", "51"], ["rank = 51", "[1, 50]"]),
    "rank that is no number": (["-k", "two"], ["rank = two"]),
    "negative momentum": (["-k", "2", "--momentum", "-1"], ["momentum = -1"]),
    "momentum beyond the norm": (["-k", "2", "--momentum", "100"], ["momentum = 100", "lambda_k"]),
    "momentum beyond lambda_k": (["-k", "2", "--momentum", "3.9"], ["momentum = 3.9", "lambda_k"]),
    "misspelt momentum": (["-k", "2", "--momentum", "atuo"], ["momentum = atuo", "did you mean auto?"]),
    "misspelt damping": (["-k", "2", "--damping", "symetric"], ["damping = symetric", "did you mean symmetric?"]),
    "tolerance zero": (["-k", "2", "--tolerance", "0"], ["tolerance = 0", "positive"]),
    "negative tolerance": (["-k", "2", "--tolerance", "-1e-3"], ["tolerance = -1e-3"]),
    "tolerance NaN": (["-k", "2", "--tolerance", "nan"], ["tolerance = nan"]),
    "negative iterations": (["-k", "2", "--max-iterations", "-1"], ["max-iterations = -1"]),
    "no column for adaptive momentum": (["-k", "2", "--oversample", "0"], ["oversample = 0"]),
    "noise without a level": (["-k", "2", "--noise", "gaussian"], ["noise = gaussian", "gaussian:SIGMA"]),
    "negative noise": (["-k", "2", "--noise", "gaussian:-1"], ["noise level = -1"]),
    "unknown noise": (["-k", "2", "--noise", "gausian:1"], ["noise = gausian", "did you mean gaussian?"]),
    "threads zero": (["-k", "2", "--threads", "0"], ["threads = 0"]),
    "unknown option": (["-k", "2", "--tolerence", "1"], ["--tolerence", "did you mean --tolerance?"]),
    "a value missing": (["-k", "2", "--seed"], ["--seed"]),
    "rank missing": ([], ["--rank"]),
    "a plain method with momentum": (["-k", "2", "--method", "npm", "--momentum", "0.1"], ["method = npm"]),
    "resume without a checkpoint": (["-k", "2", "--resume"], ["--checkpoint"]),
    "resume from nothing": (["-k", "2", "--resume", "--checkpoint", "none.ckpt"], ["none.ckpt"]),
    "a start that is not there": (["-k", "2", "--start", "none.npy"], ["none.npy"]),
    "audit out of range": (["-k", "2", "--audit", "1.5"], ["audit = 1.5"]),
    "a superfluous argument": (["-k", "2", "other.npy"], ["other.npy"]),
}


@pytest.mark.parametrize("options, saying", OPTIONS.values(), ids=OPTIONS.keys())
def test_a_bad_option(hearsay, matrix, options, saying):
    refused_without_a_trace(hearsay, "eigs", matrix, *options, saying=saying)


def test_a_reference_of_another_shape(hearsay, matrix, tmp_path):
    np.save(tmp_path / "answer.npy", np.eye(4)[:, :2])

    refused_without_a_trace(hearsay, "eigs", matrix, "-k", 2, "--reference", "answer.npy", saying=["reference", "4 rows"])


OUTPUTS = {
    "a directory that is not there": ["--components", "nowhere/basis.npy"],
    "a directory in its place": ["--components", "folder.npy"],
    "an unknown ending": ["--components", "basis.xyz"],
    "a checkpoint in no directory": ["--checkpoint", "nowhere/solve.ckpt"],
    "JSON in no directory": ["--json", "nowhere/result.json"],
    "the input itself": ["--components", "matrix.npy"],
}


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS.keys())
def test_an_output_that_cannot_be_written_is_found_before_the_work_starts(hearsay, matrix, tmp_path, output):
    (tmp_path / "folder.npy").mkdir()
    content = (tmp_path / matrix).read_bytes()

    hearsay.refuses("eigs", matrix, "-k", 2, *output, saying=output[1])
    if output[1] != matrix:  # before the input is even opened
        hearsay.refuses("eigs", "not-read.npy", "-k", 2, *output, saying=output[1])

    assert (tmp_path / matrix).read_bytes() == content


def test_one_file_for_two_outputs(hearsay, tmp_path):
    np.save(tmp_path / "data.npy", np.random.default_rng(0).standard_normal((9, 3)))

    hearsay.refuses("pca", "data.npy", "-k", 1, "--components", "x.npy", "--scores", "./x.npy", saying="x.npy")


def test_a_damaged_checkpoint(hearsay, matrix, tmp_path):
    assert hearsay("eigs", matrix, "-k", 1, "--method", "npm", "--checkpoint", "c", "--checkpoint-every", 2).returncode == 0
    content = bytearray((tmp_path / "c").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "c").write_bytes(content)

    refused_without_a_trace(hearsay, "eigs", matrix, "-k", 1, "--method", "npm", "--checkpoint", "c", "--resume",
                            saying="checksum")


def test_a_checkpoint_of_another_solve(hearsay, matrix):
    assert hearsay("eigs", matrix, "-k", 1, "--method", "npm", "--checkpoint", "c", "--checkpoint-every", 2).returncode == 0

    refused_without_a_trace(hearsay, "eigs", matrix, "-k", 2, "--method", "npm", "--checkpoint", "c", "--resume",
                            saying=["another solve", "rank=1", "rank=2"])


def test_a_checkpoint_of_other_data_of_the_same_name(hearsay, matrix, tmp_path):
    run = ["eigs", matrix, "-k", 1, "--method", "npm", "--checkpoint", "c", "--checkpoint-every", 2]
    assert hearsay(*run).returncode == 0
    np.save(tmp_path / matrix, np.diag([5.0, 4, 3, 2, 1, 0.5]))

    refused_without_a_trace(hearsay, *run, "--resume", saying=["c: is of another solve", "data="])


def test_a_checkpoint_of_another_start(hearsay, matrix, tmp_path):
    size = len(np.load(tmp_path / matrix))
    np.save(tmp_path / "start.npy", np.eye(size)[:, :2])
    run = ["eigs", matrix, "-k", 1, "--method", "npm", "--checkpoint", "c", "--checkpoint-every", 1, "--start", "start.npy"]
    assert hearsay(*run).returncode in [0, 3]
    np.save(tmp_path / "start.npy", np.eye(size)[:, 1:3])

    refused_without_a_trace(hearsay, *run, "--resume", saying=["c: is of another solve", "data="])


def forged(content, position, replacement):
    """A checkpoint with bytes replaced behind its configuration, and the right checksum again."""
    body = bytearray(content[:-64])
    header = len(b"hearsay checkpoint 4\n") + 1
    begin = header + 8 + int.from_bytes(body[header:header + 8], "little") + position
    body[begin:begin + len(replacement)] = replacement
    return bytes(body) + hashlib.sha256(body).hexdigest().encode()


FORGERIES = {"a bool that is none": (8, b"\x07", "0 or 1"),
             "an exponent of 5000": (18, (5000).to_bytes(4, "little"), "exponent = 5000"),
             "a scale of another matrix": (18, (900).to_bytes(4, "little"), "exponent = 900"),
             "a negative count": (30, (-1).to_bytes(8, "little", signed=True), "products = -1"),
             "a block of no rows": (78, bytes(8), "shorter")}


@pytest.mark.parametrize("position, replacement, saying", FORGERIES.values(), ids=FORGERIES.keys())
def test_a_forged_checkpoint(hearsay, matrix, tmp_path, position, replacement, saying):
    run = ["eigs", matrix, "-k", 1, "--method", "npm", "--checkpoint", "c", "--checkpoint-every", 2]
    assert hearsay(*run).returncode == 0
    (tmp_path / "c").write_bytes(forged((tmp_path / "c").read_bytes(), position, replacement))

    refused_without_a_trace(hearsay, *run, "--resume", saying=saying)


def test_a_malformed_edge_list(hearsay, tmp_path):
    (tmp_path / "graph.txt").write_text("0 1\n1 x\n")

    hearsay.refuses("cluster", "graph.txt", "-k", 1, saying="graph.txt:2")


def test_a_value_missing_at_the_end(hearsay, matrix):
    hearsay.refuses("eigs", matrix, "-k", 2, "--seed", saying="--seed: needs a value")


def test_no_name_at_all(hearsay):
    hearsay.refuses("pca", "", "-k", 2, saying="must name a file")


HELD = 32 + 90 * SANITIZED  # megabytes: as much as the run may take, and what AddressSanitizer holds
BOMBS = {"a line": ("1" * 9_000_000, "512M", ["data.csv:1: the line is longer than 8.0 MB", "(--memory)"]),  # sanitizers hold 90 MB themselves
         "columns": ("1," * 130_000 + "1\n", "512M", ["130001 columns, and the limit is 125000", "(--memory)"]),
         "rows": ("1,2\n" * 1_500_000, f"{HELD}M", ["data.csv: needs", f"the limit (--memory) is {HELD}.0 MB"]),
         "a size that is none": ("1\n", "lots", "memory = lots: must be a number of bytes")}


@pytest.mark.parametrize("text, memory, saying", BOMBS.values(), ids=BOMBS.keys())
def test_what_the_memory_does_not_hold(hearsay, tmp_path, text, memory, saying):
    (tmp_path / "data.csv").write_text(text)

    refused_without_a_trace(hearsay, "pca", "data.csv", "-k", 1, "--memory", memory, saying=saying)
