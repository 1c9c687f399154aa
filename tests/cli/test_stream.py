"""Data bigger than memory: the plan, readings, raw and mapped files, and what goes wrong with them."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

from conftest import BINARY, PATIENCE_SECONDS, SANITIZED, SOURCE, memory, sin_theta


def harmonic_rows(rows, columns, seed=0, dtype=np.float32):
    random = np.random.default_rng(seed)
    return (random.standard_normal((rows, columns)) / np.sqrt(1 + np.arange(columns)) + 3).astype(dtype)


@pytest.fixture
def wide(tmp_path):
    """13 MB, whose covariance takes 130."""
    data = harmonic_rows(1600, 2000)
    np.save(tmp_path / "wide.npy", data)
    return data


def truth(data, k):
    return np.linalg.svd(data - data.mean(axis=0, dtype=float), full_matrices=False)[2][:k].T


def test_one_reading_forms_the_covariance(hearsay, tmp_path):
    data = harmonic_rows(5000, 60)
    np.save(tmp_path / "data.npy", data)
    result = hearsay.json("pca", "data.npy", "-k", 4, "--stream", "--components", "basis.npy")
    assert result["status"] == "converged" and result["passes"] == 1
    plan = result["plan"]
    assert plan["way"] == "covariance" and plan["passes"] == 1 and plan["certain"]
    assert plan["rows"] == 5000 and plan["bytes_per_pass"] == os.path.getsize(tmp_path / "data.npy")
    assert plan["memory_bytes"] <= plan["memory_allowed_bytes"]
    assert sin_theta(truth(data, 4), np.load(tmp_path / "basis.npy")) <= 1e-10
    in_memory = hearsay.json("pca", "data.npy", "-k", 4)
    assert in_memory["plan"] is None
    assert np.allclose(result["eigenvalues"], in_memory["eigenvalues"], rtol=1e-12)
    assert np.isclose(result["total_variance"], in_memory["total_variance"], rtol=1e-12)


@pytest.mark.parametrize("kind", ["covariance", "products"])
def test_the_bits_depend_on_no_chunks_and_no_threads(hearsay, tmp_path, wide, kind):
    np.save(tmp_path / "tall.npy", harmonic_rows(5001, 50))
    run = {"covariance": ["tall.npy"], "products": ["wide.npy", "--memory", memory(90), "--accuracy", "1e-3"]}[kind]
    found = set()
    for i, more in enumerate([[], ["--block-rows", 1], ["--block-rows", 333], ["--threads", 1], ["--threads", 3]]):
        result = hearsay.json("pca", *run, "-k", 3, "--stream", "--components", f"{i}.npy", *more)
        assert result["plan"]["way"] == kind
        found.add((tmp_path / f"{i}.npy").read_bytes())
    assert len(found) == 1


@pytest.mark.skipif(SANITIZED, reason="AddressSanitizer holds more than the limit allows")
def test_a_file_larger_than_the_memory_allowed_is_streamed(hearsay, tmp_path):
    data = harmonic_rows(160000, 100)
    np.save(tmp_path / "data.npy", data)  # 64 MB
    result = hearsay.json("pca", "data.npy", "-k", 3, "--memory", "60MB", "--components", "basis.npy", "--scores", "scores.npy")
    assert result["plan"]["way"] == "covariance" and result["passes"] == 1
    basis = np.load(tmp_path / "basis.npy")
    assert sin_theta(truth(data, 3), basis) <= 1e-8
    assert np.allclose(np.load(tmp_path / "scores.npy"), (data - data.mean(axis=0, dtype=float)) @ basis, atol=1e-4)
    peak = subprocess.run(["/usr/bin/env", "python3", "-c", f"""
import resource, subprocess
subprocess.run([{BINARY!r}, "pca", "data.npy", "-k", "3", "--memory", "60MB", "--quiet", "--json", "r.json"], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""], cwd=tmp_path, capture_output=True, text=True,
                          timeout=PATIENCE_SECONDS, check=True).stdout
    assert int(peak) * 1024 <= 60e6


def test_products_where_the_covariance_does_not_fit(hearsay, tmp_path, wide):
    result = hearsay.json("pca", "wide.npy", "-k", 3, "--stream", "--memory", memory(90), "--accuracy", "1e-4", "--components", "b.npy")
    assert result["status"] == "converged" and result["plan"]["way"] == "products" and not result["plan"]["certain"]
    assert sin_theta(truth(wide, 3), np.load(tmp_path / "b.npy")) <= 1e-4


def test_a_budget_of_passes(hearsay, tmp_path, wide):
    last = 1
    for passes in (2, 4):
        result = hearsay.json("pca", "wide.npy", "-k", 10, "--stream", "--memory", memory(90), "--passes", passes, code=3)
        assert result["status"] == "iteration_limit" and result["passes"] == passes == result["plan"]["passes"]
        assert result["residual"] < last
        last = result["residual"]
    hearsay.refuses("pca", "wide.npy", "-k", 2, "--stream", "--passes", 0, saying=["passes = 0", "at least 1"])
    hearsay.refuses("pca", "wide.npy", "-k", 2, "--stream", "--passes", 1, "--standardize", saying=["passes = 1", "at least 2"])


def test_too_little_memory_says_what_would_do(hearsay, tmp_path):
    np.save(tmp_path / "data.npy", harmonic_rows(20, 60000))
    hearsay.refuses("pca", "data.npy", "-k", 5, "--stream", "--memory", memory(20),
                    saying=["data.npy", "60000 columns", "5 components", f"{20 + 90 * SANITIZED}.0 MB", "the least that does is"])


def test_a_pipe_is_read_once(hearsay, tmp_path):
    data = harmonic_rows(400, 8, dtype=np.float64)
    np.savetxt(tmp_path / "data.csv", data, delimiter=",", fmt="%.17g")
    run = subprocess.run([BINARY, "pca", "/dev/stdin", "-k", "2", "--stream", "--json", "-", "--quiet"], cwd=tmp_path,
                         input=(tmp_path / "data.csv").read_text(), capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert run.returncode == 0, run.stderr
    assert np.allclose(json.loads(run.stdout)["eigenvalues"], hearsay.json("pca", "data.csv", "-k", 2)["eigenvalues"])


@pytest.mark.parametrize("stream", [[], ["--stream"]], ids=["mapped", "stream"])
@pytest.mark.parametrize("kind", ["<f4", ">f4", "<f8", "<i2"])
def test_raw_files(hearsay, tmp_path, kind, stream):
    data = np.round(harmonic_rows(300, 7) * 100).astype(kind)
    (tmp_path / "data.bin").write_bytes(b"head" + data.tobytes())
    np.save(tmp_path / "data.npy", data)
    raw = ["--raw-type", kind, "--raw-skip", 4, *stream]
    expected = hearsay.json("pca", "data.npy", "-k", 2)["eigenvalues"]
    for shape in "300x7", "7":
        assert np.allclose(hearsay.json("pca", "data.bin", "-k", 2, "--raw-shape", shape, *raw)["eigenvalues"], expected)
    hearsay.refuses("pca", "data.bin", "-k", 2, "--raw-shape", "301x7", *raw, saying=["data.bin", "301 x 7"])
    hearsay.refuses("pca", "data.bin", "-k", 2, "--raw-shape", "11", *raw, saying=["data.bin", "no whole number of rows"])
    hearsay.refuses("pca", "data.bin", "-k", 2, "--raw-shape", "7xa", saying=["raw-shape = 7xa"])
    hearsay.refuses("pca", "data.bin", "-k", 2, "--raw-type", "f4", saying=["raw-type", "--raw-shape"])
    hearsay.refuses("pca", "data.bin", "-k", 2, "--raw-shape", "7", "--raw-type", "f2", saying=["raw-type = f2"])


@pytest.mark.parametrize("stream", [[], ["--stream"]], ids=["mapped", "stream"])
def test_a_number_that_is_none_is_found_with_its_place(hearsay, tmp_path, stream):
    data = harmonic_rows(30000, 20)
    data[25678, 11] = np.nan
    np.save(tmp_path / "data.npy", data)
    hearsay.refuses("pca", "data.npy", "-k", 2, "--json", "r.json", *stream, saying=["data.npy: row 25679, column 12 is nan"])
    np.save(tmp_path / "whole.npy", np.nan_to_num(data))
    (tmp_path / "short.npy").write_bytes((tmp_path / "whole.npy").read_bytes()[:-1])
    hearsay.refuses("pca", "short.npy", "-k", 2, "--json", "r.json", *stream, saying=["short.npy", "30000 x 20"])
    hearsay.refuses("pca", "data.npy", "-k", 2, "--raw-shape", "30000x21", *stream, saying=["data.npy", "30000 x 21"])


@pytest.mark.parametrize("options", [["--standardize"], ["--missing", "mean"], ["--batch", 100], ["--no-center"], ["-k", "0.6"], ["-k", "mle"],
                                     ["--missing", "em"], ["--precision", "single"], ["--whiten", "--scores", "s.npy"]],
                         ids=lambda options: " ".join(map(str, options)))
def test_single_precision_where_it_lies_is_what_a_copy_is(hearsay, tmp_path, options):
    data = harmonic_rows(2000, 12)
    if "--missing" in options:
        data[7, 3] = data[1200, 5] = np.nan
    np.save(tmp_path / "single.npy", data)
    np.save(tmp_path / "double.npy", data.astype(float))
    rank = [] if "-k" in options else ["-k", 2]
    found = [hearsay("pca", f"{name}.npy", *rank, *options, "--json", "-", "--components", f"{name}-v.npy") for name in ("single", "double")]
    assert {run.returncode for run in found} <= {0, 3}
    a, b = (json.loads(run.stdout) for run in found)
    assert np.allclose(a["eigenvalues"], b["eigenvalues"], rtol=1e-4)
    loose = "single" in options or "--batch" in options
    assert sin_theta(np.load(tmp_path / "double-v.npy"), np.load(tmp_path / "single-v.npy")) <= (1e-2 if loose else 1e-6)


def test_the_guide_runs_as_printed(hearsay, tmp_path):
    guide = pathlib.Path(SOURCE, "docs", "guide", "streams.md").read_text()
    commands = [line.split("#")[0].split() for line in guide.split("\n\n")[1].splitlines()]
    assert len(commands) == 5 and all(command[:2] == ["hearsay", "pca"] for command in commands)
    data = harmonic_rows(20000, 60)
    np.save(tmp_path / "big.npy", data)
    (tmp_path / "big.bin").write_bytes(data.tobytes())
    np.save(tmp_path / "wide.npy", harmonic_rows(4000, 2500))
    runs = [hearsay(*command[1:]) for command in commands]
    assert [run.returncode for run in runs] == [0, 0, 0, 0, 3], [run.stderr for run in runs]
    assert "one reading of 4.8 MB, by covariance" in runs[1].stdout
    assert np.load(tmp_path / "scores.npy").shape == (20000, 20)
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["plan"]["way"] == "products" and result["sin_theta_estimate"] <= 1e-4
    assert "4 passes" in runs[4].stdout


def test_a_window_of_the_rows_saves_readings_and_is_the_same_each_time(hearsay, tmp_path):
    data = harmonic_rows(8000, 2000, seed=3)
    np.save(tmp_path / "wide.npy", data)
    run = ["pca", "wide.npy", "-k", 10, "--stream", "--memory", memory(100), "--accuracy", "1e-4"]
    found = [hearsay.json(*run, "--components", f"{i}.npy", "--threads", i, "--block-rows", 100 * i) for i in (1, 2)]
    assert (tmp_path / "1.npy").read_bytes() == (tmp_path / "2.npy").read_bytes()
    assert sin_theta(truth(data, 10), np.load(tmp_path / "1.npy")) <= 1e-4
    assert found[0]["status"] == "converged" and found[0]["passes"] <= 8


@pytest.mark.parametrize("packed", [False, True], ids=["stored", "packed"])
def test_npz_passes_by(hearsay, tmp_path, packed):
    data = harmonic_rows(3000, 20)
    (np.savez_compressed if packed else np.savez)(tmp_path / "data.npz", data)
    np.save(tmp_path / "data.npy", data.astype(float))
    result = hearsay.json("pca", "data.npz", "-k", 3, "--stream", "--components", "npz.npy")
    assert result["passes"] == 1 and result["plan"]["rows"] == 3000
    hearsay.json("pca", "data.npy", "-k", 3, "--stream", "--components", "npy.npy")
    assert (tmp_path / "npz.npy").read_bytes() == (tmp_path / "npy.npy").read_bytes()
    data[2900, 3] = np.nan
    np.savez(tmp_path / "bad.npz", data)
    hearsay.refuses("pca", "bad.npz", "-k", 3, "--stream", saying=["bad.npz", "row 2901, column 4 is nan"])
    whole = (tmp_path / "data.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[:-100])
    hearsay.refuses("pca", "cut.npz", "-k", 3, "--stream", saying=["cut.npz: is no .zip file, or not all of one"])


def test_a_nan_in_the_thousandth_chunk_is_found_with_its_place(hearsay, tmp_path):
    data = harmonic_rows(100_050, 4)
    data[99_950, 2] = np.nan
    np.save(tmp_path / "data.npy", data)
    hearsay.refuses("pca", "data.npy", "-k", 2, "--stream", "--block-rows", 100, saying=["data.npy: row 99951, column 3 is nan"])
