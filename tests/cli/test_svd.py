"""hearsay svd: rectangular matrices in, singular values and vectors out."""

import gzip
import json
import os
import pathlib
import re
import subprocess

import numpy as np
import pytest

from conftest import BINARY, PATIENCE_SECONDS, SOURCE, is_orthonormal, sin_theta


def planted_rectangle(rows, columns, values, seed=0):
    generator = np.random.default_rng(seed)
    left, _ = np.linalg.qr(generator.standard_normal((rows, len(values))))
    right, _ = np.linalg.qr(generator.standard_normal((columns, len(values))))
    return left * np.asarray(values, dtype=float) @ right.T


def write_mtx(path, matrix):
    rows, columns = np.nonzero(matrix)
    lines = [f"{i + 1} {j + 1} {float(matrix[i, j])!r}" for i, j in zip(rows, columns)]
    text = "\n".join(["%%MatrixMarket matrix coordinate real general",
                      f"{matrix.shape[0]} {matrix.shape[1]} {len(lines)}", *lines]) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def text_like(rows=60, columns=200, seed=1):
    generator = np.random.default_rng(seed)
    matrix = (generator.random((rows, columns)) < 0.05) * generator.random((rows, columns))
    matrix += 0.3 * np.outer(generator.random(rows), np.arange(columns) % 7 == 0)
    matrix[3] = 0
    matrix[:, 10:20] = 0
    return matrix


@pytest.mark.parametrize("shape", [(50, 20), (20, 50), (30, 30)])
@pytest.mark.parametrize("kind", ["npy", "csv", "mtx", "mtx.gz"])
def test_singular_values_of_every_shape_and_format(hearsay, tmp_path, shape, kind):
    matrix = planted_rectangle(*shape, 0.8 ** np.arange(20))
    path = tmp_path / f"matrix.{kind}"
    if kind == "npy":
        np.save(path, matrix)
    elif kind == "csv":
        np.savetxt(path, matrix, delimiter=",", fmt="%r")
    else:
        write_mtx(path, matrix)

    result = hearsay.json("svd", path, "-k", 4, "--left", "u.npy", "--right", "v.csv")

    u, v = np.load(tmp_path / "u.npy"), np.loadtxt(tmp_path / "v.csv", delimiter=",")
    s = np.array(result["singular_values"])
    assert result["status"] == "converged" and result["shape"] == list(shape)
    assert result["solved"] == ("AA'" if shape[0] < shape[1] else "A'A")
    assert np.abs(s - 0.8 ** np.arange(4)).max() < 1e-14
    assert is_orthonormal(u) and is_orthonormal(v)
    assert np.linalg.norm(matrix @ v - u * s) < 1e-8 and np.linalg.norm(matrix.T @ u - v * s) < 1e-8
    assert (v[np.abs(v).argmax(axis=0), range(4)] > 0).all()
    assert result["errors"]["word"] == "bound" and max(result["errors"]["too_small"]) < 1e-9
    assert result["frobenius_norm"] == pytest.approx(np.linalg.norm(matrix), rel=1e-12)
    assert sum(result["share"]) == pytest.approx((s**2).sum() / np.linalg.norm(matrix) ** 2)


def test_text_like_data_with_empty_rows_and_columns(hearsay, tmp_path):
    matrix = text_like()
    write_mtx(tmp_path / "text.mtx.gz", matrix)

    result = hearsay.json("svd", "text.mtx.gz", "-k", 5, "--right", "v.npy")

    truth = np.linalg.svd(matrix)
    assert np.allclose(result["singular_values"], truth[1][:5], rtol=1e-12)
    assert sin_theta(truth[2][:5].T, np.load(tmp_path / "v.npy")) < 1e-6


def test_the_guide_runs_as_it_is_printed(tmp_path):
    lines = re.findall(r"^    (hearsay svd .*)$", (SOURCE / "docs" / "guide" / "README.md").read_text(), re.MULTILINE)
    assert lines == ["hearsay svd text.mtx.gz -k 100 --left documents.npy --right words.npy"]
    matrix = text_like(150, 600)
    write_mtx(tmp_path / "text.mtx.gz", matrix)

    path = f"{pathlib.Path(BINARY).resolve().parent}:{os.environ['PATH']}"
    result = subprocess.run(lines[0], shell=True, cwd=tmp_path, capture_output=True, text=True,
                            timeout=PATIENCE_SECONDS, env={**os.environ, "PATH": path})

    assert result.returncode == 0, result.stdout + result.stderr
    documents, words = np.load(tmp_path / "documents.npy"), np.load(tmp_path / "words.npy")
    projected = documents.T @ matrix @ words
    assert documents.shape == (150, 100) and words.shape == (600, 100)
    assert np.allclose(np.diag(projected), np.linalg.svd(matrix, compute_uv=False)[:100], rtol=1e-12)


def test_small_singular_values_of_a_graded_matrix(hearsay, tmp_path):
    np.save(tmp_path / "graded.npy", planted_rectangle(60, 30, 10.0 ** -np.arange(13)))

    result = hearsay("svd", "graded.npy", "-k", 9, "--json", "out.json")

    values = json.loads((tmp_path / "out.json").read_text())["singular_values"]
    assert result.returncode in (0, 3)
    assert np.abs(np.array(values) - 10.0 ** -np.arange(9)).max() < 2e-15


def test_what_is_not_defined_is_said(hearsay, tmp_path):
    np.save(tmp_path / "low.npy", planted_rectangle(40, 25, [3, 2, 1]))

    result = hearsay("svd", "low.npy", "-k", 5, "--left", "u.npy")

    assert result.returncode == 3
    assert "ambiguous" in result.stdout and "cannot be told from zero" in result.stdout
    assert "eigenvalue" not in result.stdout
    assert is_orthonormal(np.load(tmp_path / "u.npy"))


def test_the_summary_says_how_right_each_value_is(hearsay, tmp_path):
    np.save(tmp_path / "a.npy", planted_rectangle(40, 25, 0.8 ** np.arange(20)))

    text = hearsay("svd", "a.npy", "-k", 3).stdout

    assert text.startswith("a.npy: converged") and "40 x 25, solved as A'A" in text
    assert "singular value" in text and "too small" in text and "eigenvalue" not in text


def test_a_page_with_pictures(hearsay, tmp_path):
    np.save(tmp_path / "a.npy", planted_rectangle(40, 25, 0.8 ** np.arange(20)))

    assert hearsay("svd", "a.npy", "-k", 3, "--report", "page.html", "--quiet").returncode == 0

    page = (tmp_path / "page.html").read_text()
    assert "Singular vectors of a.npy" in page and "Singular values" in page and "Eigenvalues" not in page


@pytest.mark.parametrize("sides", [("left", "right"), ("left",), ("right",), ()])
@pytest.mark.parametrize("shape", [(50, 20), (20, 50)])
@pytest.mark.parametrize("tolerance", ["1e-10", "1e-3"])  # a residual that rounding hides, and one that differs by side
def test_verify_holds_a_result_against_its_data(hearsay, tmp_path, shape, sides, tolerance):
    np.save(tmp_path / "a.npy", planted_rectangle(*shape, 0.8 ** np.arange(20)))
    outputs = [word for side in sides for word in (f"--{side}", f"{side}.npy")]
    outputs += ["--tolerance", tolerance, "--method", "anpm"]
    assert hearsay("svd", "a.npy", "-k", 4, *outputs, "--json", "result.json").returncode == 0

    held = hearsay("verify", "result.json")
    assert held.returncode == 0 and "FAILS" not in held.stdout, held.stdout
    assert ("holds   residual" in held.stdout) == bool(sides)

    result = json.loads((tmp_path / "result.json").read_text())
    result["singular_values"][1] *= 1.001
    (tmp_path / "result.json").write_text(json.dumps(result))
    assert hearsay("verify", "result.json").returncode == 3


def test_verify_at_extreme_scales(hearsay, tmp_path):
    np.save(tmp_path / "a.npy", 1e200 * planted_rectangle(50, 20, 0.8 ** np.arange(20)))
    result = hearsay.json("svd", "a.npy", "-k", 4, "--left", "u.npy", "--right", "v.npy")
    assert np.allclose(np.array(result["singular_values"]) / 1e200, 0.8 ** np.arange(4), rtol=1e-13)
    (tmp_path / "result.json").write_text(json.dumps(result))

    held = hearsay("verify", "result.json")
    assert held.returncode == 0, held.stdout


def test_verify_refuses_a_result_that_was_changed(hearsay, tmp_path):
    np.save(tmp_path / "a.npy", planted_rectangle(50, 20, 0.8 ** np.arange(20)))
    result = hearsay.json("svd", "a.npy", "-k", 4, "--right", "v.npy")
    for key, value in [("shape", [50, 21]), ("shape", "wide"), ("singular_values", [1.0]), ("errors", 3), ("k", 40)]:
        (tmp_path / "changed.json").write_text(json.dumps({**result, key: value}))
        changed = hearsay("verify", "changed.json")
        assert changed.returncode == 2 and changed.stderr.count("\n") == 1, (key, changed.stdout, changed.stderr)


def test_a_start_and_a_checkpoint(hearsay, tmp_path):
    np.save(tmp_path / "a.npy", planted_rectangle(40, 60, 0.95 ** np.arange(40)))
    cold = hearsay.json("svd", "a.npy", "-k", 3, "--method", "anpm", "--right", "v.npy")
    warm = hearsay.json("svd", "a.npy", "-k", 3, "--method", "anpm", "--start", "v.npy", "--certify", "none")
    assert warm["iterations"] < cold["iterations"]
    assert np.allclose(warm["singular_values"], cold["singular_values"], rtol=1e-12)

    hearsay("svd", "a.npy", "-k", 3, "--method", "anpm", "--checkpoint", "c", "--checkpoint-every", 5,
            "--max-iterations", 10)
    resumed = hearsay.json("svd", "a.npy", "-k", 3, "--method", "anpm", "--checkpoint", "c", "--resume")
    assert resumed["singular_values"] == cold["singular_values"]


@pytest.mark.attack
@pytest.mark.parametrize("arguments, saying", [
    (["-k", 21], ["rank = 21", "[1, 20]", "the lesser of rows and columns"]),
    (["-k", 0], ["rank"]),
    ([], ["--rank"]),
    (["-k", 2, "--left", "u.txt"], ["left = u.txt", ".npy or .csv"]),
    (["-k", 2, "--left", "a.npy"], ["would overwrite", "input = a.npy"]),
    (["-k", 2, "--left", "x.npy", "--right", "x.npy"], ["would overwrite"]),
    (["-k", 2, "--noise", "gaussian:1"], ["--noise"]),
    (["-k", 2, "--components", "x.npy"], ["--components"]),
    (["-k", 2, "--start", "a.npy"], ["start", "must have 20"]),
])
def test_bad_requests_are_refused_in_one_sentence(hearsay, tmp_path, arguments, saying):
    np.save(tmp_path / "a.npy", planted_rectangle(50, 20, [2, 1]))
    before = (tmp_path / "a.npy").read_bytes()

    hearsay.refuses("svd", "a.npy", *arguments, saying=saying)

    assert (tmp_path / "a.npy").read_bytes() == before and [path.name for path in tmp_path.iterdir()] == ["a.npy"]


@pytest.mark.attack
def test_bad_data_are_refused_in_one_sentence(hearsay, tmp_path):
    matrix = planted_rectangle(6, 4, [2, 1])
    np.save(tmp_path / "complex.npy", matrix.astype(complex))
    np.save(tmp_path / "empty.npy", np.empty((0, 4)))
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    matrix[2, 3] = np.nan
    np.save(tmp_path / "nan.npy", matrix)
    (tmp_path / "text.csv").write_text("1,2\n3,x\n")

    hearsay.refuses("svd", "complex.npy", "-k", 1, saying="complex.npy")
    hearsay.refuses("svd", "empty.npy", "-k", 1)
    hearsay.refuses("svd", "cube.npy", "-k", 1, saying="cube.npy")
    hearsay.refuses("svd", "nan.npy", "-k", 1, saying=["row 3, column 4"])
    hearsay.refuses("svd", "text.csv", "-k", 1, saying="text.csv")
    hearsay.refuses("svd", "none.mtx", "-k", 1, saying="none.mtx")
