"""hearsay pca on HDF5, and the commands of docs/guide/cells.md as they stand there."""

import csv
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from conftest import BINARY, PATIENCE_SECONDS, SANITIZED, SOURCE, memory, sin_theta
from test_readme import shell_lines

h5py = pytest.importorskip("h5py", reason="python3-h5py is not installed, so no .h5ad can be made")
with tempfile.NamedTemporaryFile(suffix=".h5") as plain:
    plain.write(b"no HDF5")
    plain.flush()
    if "without libhdf5" in subprocess.run([BINARY, "pca", plain.name, "-k", "1"], capture_output=True, text=True).stderr:
        pytest.skip("hearsay was built without libhdf5", allow_module_level=True)

PAGE = SOURCE / "docs" / "guide" / "cells.md"
COMMANDS = shell_lines(PAGE)
SCRIPT = SOURCE / "examples" / "cells.py"


def makers():
    return [line.split() for line in PAGE.read_text().splitlines() if line.startswith("    python3 cells.py ")]


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """One directory for all commands, in their order: later ones read what earlier ones wrote."""
    directory = tmp_path_factory.mktemp("desk")
    for line in makers():
        subprocess.run([sys.executable, SCRIPT, *line[2:]], cwd=directory, check=True, timeout=PATIENCE_SECONDS)
    return directory


def test_there_are_commands():
    assert len(makers()) == 1 and len(COMMANDS) == 5


@pytest.mark.parametrize("command, code", COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_of_the_guide_does_what_it_says(desk, command, code):
    run = subprocess.run([BINARY, *command.split()[1:]], cwd=desk, capture_output=True, text=True,
                         timeout=PATIENCE_SECONDS)

    assert run.returncode == code, run.stderr
    assert run.stdout and run.stderr == ""


def in_full(path):
    with h5py.File(path) as file:
        X = file["X"]
        offsets, rows = X["indptr"][:], np.zeros(X.attrs["shape"])
        rows[np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), X["indices"][:]] = X["data"][:]
    return rows


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def test_the_numbers_are_those_of_the_dense_matrix(desk):
    X = in_full(desk / "cells.h5ad")
    centred = X - X.mean(axis=0)
    _, values, vectors = np.linalg.svd(centred, full_matrices=False)
    basis = np.array([row[1:] for row in rows_of(desk / "loadings.csv")[1:]], dtype=float)
    scores = rows_of(desk / "scores.csv")
    result = json.loads((desk / "result.json").read_text())

    names = [f"PC{i + 1}" for i in range(10)]
    assert scores[0] == ["cell", *names] and rows_of(desk / "loadings.csv")[0] == ["gene", *names]
    assert [row[0] for row in scores[1:]] == [f"cell{i + 1}" for i in range(2000)]
    assert rows_of(desk / "loadings.csv")[500][0] == "gene500"
    assert sin_theta(vectors[:10].T, basis) <= 1e-7
    assert np.allclose(np.array([row[1:] for row in scores[1:]], dtype=float), centred @ basis, atol=1e-9)
    assert np.allclose(result["eigenvalues"], values[:10] ** 2 / 1999, rtol=1e-9)
    assert result["certificate"]["sin_theta"]["word"] == "bound"
    assert result["features"][:2] == ["gene1", "gene2"]
    again = rows_of(desk / "again.csv")
    assert [row[0] for row in again] == [row[0] for row in scores]
    assert np.allclose(np.array([row[1:] for row in again[1:]], dtype=float), centred @ basis, atol=1e-9)


def test_memory_and_stream_agree_and_threads_change_no_bit(hearsay):
    subprocess.run([sys.executable, SCRIPT, "a.h5ad", "--cells", "300", "--genes", "40"], cwd=hearsay.directory, check=True,
                   timeout=PATIENCE_SECONDS)
    bases = []
    for threads in (1, 2, 3):
        assert hearsay("pca", "a.h5ad", "-k", 3, "--threads", threads, "--components", f"{threads}.npy").returncode == 0
        bases.append((hearsay.directory / f"{threads}.npy").read_bytes())
    assert bases[0] == bases[1] == bases[2]
    assert hearsay("pca", "a.h5ad", "-k", 3, "--stream", "--components", "stream.npy").returncode == 0
    one, other = (np.load(hearsay.directory / name) for name in ("1.npy", "stream.npy"))
    assert sin_theta(one, other) <= 1e-7


@pytest.fixture
def many(hearsay):
    """3,000 cells whose 120 genes hold few counts, and two that hold many."""
    random = np.random.default_rng(4)
    X = random.poisson(0.1, (3000, 120)) * random.gamma(2, 1, (3000, 120)) * (1 + random.integers(0, 3, (3000, 1)) * (np.arange(120) < 40))
    X[:, 7] = 1000 + random.standard_normal(3000)
    X[::2, 9] = 3
    write_csr(hearsay.directory / "many.h5ad", X)
    return X


def test_a_stream_leaves_the_zeros_out_and_depends_on_no_chunks_and_no_threads(hearsay, many):
    _, values, vectors = np.linalg.svd(many - many.mean(axis=0), full_matrices=False)
    found = set()
    for i, more in enumerate([[], ["--block-rows", 1], ["--block-rows", 1000], ["--threads", 1], ["--threads", 3]]):
        result = hearsay.json("pca", "many.h5ad", "-k", 4, "--stream", "--components", f"{i}.npy", "--scores", f"scores{i}.npy", *more)
        assert result["plan"]["way"] == "covariance" and result["passes"] == 1
        found.add((hearsay.directory / f"{i}.npy").read_bytes())
    assert len(found) == 1
    basis = np.load(hearsay.directory / "0.npy")
    assert sin_theta(vectors[:4].T, basis) <= 1e-7
    assert np.allclose(result["eigenvalues"], values[:4] ** 2 / 2999, rtol=1e-9)
    assert np.allclose(np.load(hearsay.directory / "scores0.npy"), (many - many.mean(axis=0)) @ basis, atol=1e-8)


def test_a_stream_names_cells_and_genes(hearsay, many):
    hearsay.json("pca", "many.h5ad", "-k", 2, "--stream", "--components", "loadings.csv", "--scores", "scores.csv")
    hearsay.json("pca", "many.h5ad", "-k", 2, "--components", "loadings0.csv", "--scores", "scores0.csv")
    for name in ("loadings", "scores"):
        one, other = (rows_of(hearsay.directory / f"{name}{i}.csv") for i in ("", "0"))
        assert one[0] == other[0] and [row[0] for row in one] == [row[0] for row in other]


@pytest.mark.skipif(SANITIZED, reason="AddressSanitizer holds more than the limit allows")
def test_cells_that_take_more_than_the_memory_allowed_are_streamed(hearsay):
    random = np.random.default_rng(6)
    X = random.poisson(0.5, (40000, 200)).astype(float)
    write_csr(hearsay.directory / "large.h5ad", X)  # 40 MB in memory
    result = hearsay.json("pca", "large.h5ad", "-k", 2, "--memory", "45MB", "--scores", "scores.csv")
    assert result["plan"]["way"] == "covariance" and result["plan"]["rows"] == 40000
    assert rows_of(hearsay.directory / "scores.csv")[1][0] == "obs0"
    assert hearsay.json("pca", "large.h5ad", "-k", 2, "--memory", "1GB")["plan"] is None


def test_products_of_a_stream_leave_the_zeros_out(hearsay):
    random = np.random.default_rng(5)
    X = random.poisson(0.02, (400, 3000)) * (5 * 0.99 ** np.arange(3000))
    write_csr(hearsay.directory / "wide.h5ad", X)
    result = hearsay.json("pca", "wide.h5ad", "-k", 3, "--stream", "--memory", memory(90), "--accuracy", "1e-4", "--components", "basis.npy")
    assert result["plan"]["way"] == "products"
    _, _, vectors = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    assert sin_theta(vectors[:3].T, np.load(hearsay.directory / "basis.npy")) <= 1e-4


def write_csr(path, X, kind="csr_matrix", order=None, names=None):
    """A dense array as AnnData writes a sparse one; `order` is that of the genes."""
    order = np.arange(X.shape[1]) if order is None else order
    table = X[:, order] if kind == "csr_matrix" else X[:, order].T
    with h5py.File(path, "w") as file:
        file.attrs["encoding-type"] = "anndata"
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = kind, X.shape
        group["data"] = table[table != 0]
        group["indices"] = np.nonzero(table)[1].astype(np.int32)
        group["indptr"] = np.concatenate([[0], np.cumsum((table != 0).sum(axis=1))])
        for frame, size in (("obs", X.shape[0]), ("var", X.shape[1])):
            made = file.create_group(frame)
            made.attrs["_index"] = "_index"
            own = [f"{frame}{i}" for i in (order if frame == "var" else range(size))]
            made.create_dataset("_index", data=np.array(own, dtype=object), dtype=h5py.string_dtype())
    return path


@pytest.fixture
def counts(hearsay):
    random = np.random.default_rng(3)
    X = random.poisson(0.4, (60, 12)) * random.uniform(0.5, 2, 12)
    write_csr(hearsay.directory / "a.h5ad", X)
    return X


def test_a_projection_puts_genes_in_the_order_of_the_analysis(hearsay, counts):
    write_csr(hearsay.directory / "b.h5ad", counts, order=np.random.default_rng(1).permutation(12))
    run = hearsay("pca", "a.h5ad", "-k", 3, "--components", "basis.csv", "--scores", "a.npy", "--json", "result.json", "--quiet")
    assert run.returncode == 0, run.stderr
    run = hearsay("project", "b.h5ad", "--components-from", "result.json", "--scores", "b.npy")
    assert run.returncode == 0, run.stderr
    assert np.allclose(np.load(hearsay.directory / "a.npy"), np.load(hearsay.directory / "b.npy"), atol=1e-10)


def test_columns_are_turned_with_a_word_and_not_streamed(hearsay, counts):
    write_csr(hearsay.directory / "c.h5ad", counts, kind="csc_matrix")
    by_rows, by_columns = (hearsay.json("pca", name, "-k", 2) for name in ("a.h5ad", "c.h5ad"))
    assert by_rows["eigenvalues"] == by_columns["eigenvalues"]
    assert any("stored by columns (CSC)" in note for note in by_columns["notes"])
    hearsay.refuses("pca", "c.h5ad", "-k", 2, "--stream", saying="stored by columns")


def test_other_matrices_have_a_name(hearsay, counts):
    with h5py.File(hearsay.directory / "a.h5ad", "a") as file:
        file["layers/scaled"] = 3.0 * counts
    plain, scaled = hearsay.json("pca", "a.h5ad", "-k", 2), hearsay.json("pca", "a.h5ad", "-k", 2, "--dataset", "layers/scaled")
    assert np.allclose(np.array(scaled["eigenvalues"]), 9 * np.array(plain["eigenvalues"]))
    assert np.allclose(hearsay.json("svd", "a.h5ad", "-k", 2, "--dataset", "layers/scaled")["singular_values"],
                       np.linalg.svd(3 * counts, compute_uv=False)[:2])
    hearsay.refuses("pca", "a.h5ad", "-k", 2, "--dataset", "layers/none", saying="layers/none: is missing")
    hearsay.refuses("pca", "digits", "-k", 2, "--dataset", "X", saying="dataset = X")


def change(hearsay, place, at, value):
    with h5py.File(hearsay.directory / "a.h5ad", "a") as file:
        file[place][at] = value


@pytest.mark.attack
@pytest.mark.parametrize("options", [[], ["--stream"]])
@pytest.mark.parametrize("place, at, value, saying", [
    ("X/indptr", 5, 100000, "a.h5ad: X/indptr: number 6 is 100000"),
    ("X/indptr", 0, 1, "a.h5ad: X/indptr: number 1 is 1"),
    ("X/indices", 9, 12, "a.h5ad: X/indices: number 10, of row"),
    ("X/indices", 9, -1, "a.h5ad: X/indices: number 10, of row"),
    ("X/data", 9, np.nan, "a.h5ad: X: row"),
    ("X/data", 9, np.inf, "a.h5ad: X: row"),
])
def test_arrays_that_lie_are_refused(hearsay, counts, place, at, value, saying, options):
    change(hearsay, place, at, value)
    hearsay.refuses("pca", "a.h5ad", "-k", 2, *options, saying=saying)


@pytest.mark.attack
@pytest.mark.parametrize("shape", [(60, 13), (61, 12), (2**40, 12), (60, 2**40), (0, 12), (-1, 12)])
def test_shapes_that_lie_are_refused(hearsay, counts, shape):
    with h5py.File(hearsay.directory / "a.h5ad", "a") as file:
        file["X"].attrs["shape"] = shape
    hearsay.refuses("pca", "a.h5ad", "-k", 2, saying="a.h5ad: ")


@pytest.mark.attack
def test_a_file_that_is_cut_off_is_refused(hearsay, counts):
    whole = (hearsay.directory / "a.h5ad").read_bytes()
    for length in (8, 9, len(whole) // 3, len(whole) // 2, len(whole) - 1):
        (hearsay.directory / "cut.h5ad").write_bytes(whole[:length])
        hearsay.refuses("pca", "cut.h5ad", "-k", 2, saying="cut.h5ad: is no HDF5 file, or not all of one")


@pytest.mark.attack
def test_files_on_which_libhdf5_itself_crashes_end_in_a_sentence(hearsay, counts):
    """The lengths of names in the heap are believed by libhdf5: of all words there that can be one, each in turn."""
    whole = (hearsay.directory / "a.h5ad").read_bytes()
    heap, said = whole.index(b"GCOL"), []
    for at in range(heap + 24, heap + 24 + 12 * 24, 24):
        path = hearsay.directory / "bad.h5ad"
        path.write_bytes(whole[:at] + b"\xff\xff\xff\x7f\0\0\0\0" + whole[at + 8 :])
        run = hearsay("pca", "bad.h5ad", "-k", 2)
        assert run.returncode in (0, 2) and run.stderr.count("\n") <= 1, (at, run)
        said.append(run.stderr)
    assert any("bad.h5ad: is damaged: libhdf5 crashes on it" in words for words in said) or all(said)


@pytest.mark.attack
def test_links_out_of_the_file_are_refused(hearsay, counts):
    with h5py.File(hearsay.directory / "out.h5", "w") as file:
        file["link"] = h5py.ExternalLink("a.h5ad", "/X/data")
        layout = h5py.VirtualLayout(shape=(5,), dtype="f8")
        layout[:] = h5py.VirtualSource("a.h5ad", "X/data", shape=(5,))
        file.create_virtual_dataset("virtual", layout)
    hearsay.refuses("pca", "out.h5", "-k", 1, "--dataset", "link", saying="out.h5: link: leads to another file")
    hearsay.refuses("pca", "out.h5", "-k", 1, "--dataset", "virtual", saying="out.h5: virtual: is virtual")


def test_an_output_does_not_overwrite_the_cells(hearsay, counts):
    os.link(hearsay.directory / "a.h5ad", hearsay.directory / "scores.csv")
    hearsay.refuses("pca", "a.h5ad", "-k", 2, "--scores", "scores.csv", saying="would overwrite")


def test_the_folder_of_10x_is_read_as_cells_by_genes(hearsay, counts):
    import gzip

    lines = [f"{j + 1} {i + 1} {counts[i, j]:.17g}" for i, j in zip(*np.nonzero(counts))]
    text = f"%%MatrixMarket matrix coordinate real general\n%\n12 60 {len(lines)}\n" + "\n".join(lines) + "\n"
    for name, content in (("matrix.mtx.gz", text), ("barcodes.tsv.gz", "".join(f"obs{i}\n" for i in range(60))),
                          ("features.tsv.gz", "".join(f"ENSG{j}\tvar{j}\tGene Expression\n" for j in range(12)))):
        (hearsay.directory / name).write_bytes(gzip.compress(content.encode()))
    one = hearsay.json("pca", "a.h5ad", "-k", 2, "--components", "basis.npy")
    other = hearsay.json("pca", "matrix.mtx.gz", "-k", 2, "--scores", "scores.csv")
    assert one["eigenvalues"] == other["eigenvalues"] and one["features"] == other["features"]
    assert [file["path"] for file in other["provenance"]["inputs"]] == ["matrix.mtx.gz", "barcodes.tsv.gz", "features.tsv.gz"]
    assert [row[0] for row in rows_of(hearsay.directory / "scores.csv")][:2] == ["cell", "obs0"]
    assert any("cells x genes" in note for note in other["notes"])
