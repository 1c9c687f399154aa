import gzip
import json

import numpy as np
import pytest

from conftest import is_orthonormal, planted, sin_theta

KEYS = ["command", "version", "method", "k", "dimension", "samples", "seed", "status", "iterations", "products", "passes",
        "momentum", "eigenvalues", "residual", "seconds", "history"]
MORE_KEYS = ["noise_floor", "noise_level", "sin_theta_estimate", "gap", "edge", "damping", "extraction", "columns",
             "cooldown_steps", "workspace_bytes", "notes", "mean", "total_variance", "explained_variance_ratio",
             "singular_values", "threads", "kernels", "precision", "tolerance"]


@pytest.fixture
def samples():
    rng = np.random.default_rng(3)
    return rng.standard_normal((300, 12)) * np.linspace(3, 0.3, 12) + rng.standard_normal(12)


def test_digits_agree_with_a_dense_eigensolver(hearsay, digits, tmp_path):
    with gzip.open(digits) as file:
        data = np.loadtxt(file, delimiter=",")[:, :-1]
    values, vectors = np.linalg.eigh(np.cov(data.T))
    values, vectors = values[::-1][:10], vectors[:, ::-1][:, :10]

    result = hearsay.json("pca", digits, "--label-column", "last", "-k", 10, "--components", "basis.npy")

    basis = np.load(tmp_path / "basis.npy")
    assert result["status"] == "converged"
    assert sin_theta(vectors, basis) <= 1e-8
    assert np.abs(result["eigenvalues"] / values - 1).max() <= 1e-10
    assert is_orthonormal(basis)
    assert (basis[np.abs(basis).argmax(axis=0), range(10)] > 0).all()


def test_the_name_of_a_data_set_stands_for_its_file(hearsay, digits):
    by_name = hearsay.json("pca", "digits", "-k", 3)
    by_file = hearsay.json("pca", digits, "--label-column", "last", "-k", 3)

    assert by_name["eigenvalues"] == by_file["eigenvalues"]


def test_fed_heart_disease_has_its_published_eigenvalues(hearsay, data_directory):
    result = hearsay.json("pca", "fed-heart-disease", "-k", 4, "--no-center")

    assert result["samples"] == 486 and result["dimension"] == 13
    assert np.allclose(result["eigenvalues"], [2.6797, 1.3737, 1.3195, 1.1584], atol=1e-4)


def test_json_has_the_promised_keys(hearsay, samples, tmp_path):
    np.save(tmp_path / "data.npy", samples)

    result = hearsay.json("pca", "data.npy", "-k", 2)

    assert not [key for key in KEYS + MORE_KEYS if key not in result]
    assert {"t", "momentum", "residual"} == set(result["history"][0])
    assert result["command"] == "pca" and result["k"] == 2 and result["samples"] == 300 and result["dimension"] == 12


def test_json_numbers_are_those_of_numpy(hearsay, samples, tmp_path):
    np.save(tmp_path / "data.npy", samples)
    centred = samples - samples.mean(axis=0)

    result = hearsay.json("pca", "data.npy", "-k", 3)

    singular = np.linalg.svd(centred, compute_uv=False)
    total = centred.var(axis=0, ddof=1).sum()
    assert np.allclose(result["mean"], samples.mean(axis=0), rtol=1e-12)
    assert np.allclose(result["singular_values"], singular[:3], rtol=1e-10)
    assert np.isclose(result["total_variance"], total, rtol=1e-12)
    assert np.allclose(result["explained_variance_ratio"], singular[:3] ** 2 / 299 / total, rtol=1e-10)


def test_scores_are_the_centred_data_in_the_new_basis(hearsay, samples, tmp_path):
    np.savetxt(tmp_path / "data.csv", samples, delimiter=",")

    assert hearsay("pca", "data.csv", "-k", 2, "--components", "basis.csv", "--scores", "scores.npy").returncode == 0

    basis = np.loadtxt(tmp_path / "basis.csv", delimiter=",")
    assert np.allclose(np.load(tmp_path / "scores.npy"), (samples - samples.mean(axis=0)) @ basis, atol=1e-10)


def test_without_centring_the_second_moment_is_solved(hearsay, samples, tmp_path):
    np.save(tmp_path / "data.npy", samples)

    result = hearsay.json("pca", "data.npy", "-k", 2, "--no-centre")

    assert np.allclose(result["eigenvalues"], np.linalg.eigvalsh(samples.T @ samples / 300)[::-1][:2], rtol=1e-10)


def test_a_wide_table_is_solved_from_its_samples_side(hearsay, tmp_path):
    data = np.random.default_rng(1).standard_normal((20, 200)) * np.linspace(5, 0.1, 200)
    np.save(tmp_path / "data.npy", data)

    hearsay.json("pca", "data.npy", "-k", 4, "--components", "basis.npy")

    _, _, right = np.linalg.svd(data - data.mean(axis=0), full_matrices=False)
    assert sin_theta(right[:4].T, np.load(tmp_path / "basis.npy")) <= 1e-7


@pytest.mark.parametrize("options", [["--momentum", "paper"], ["--momentum", "optimal"], ["--method", "npm"],
                                     ["--momentum", "0.1"], ["--damping", "centered"], ["--damping", "symmetric"],
                                     ["--precision", "mixed"], ["--oversample", "5"]])
def test_every_way_leads_to_the_same_subspace(hearsay, samples, tmp_path, options):
    np.save(tmp_path / "data.npy", samples)
    vectors = np.linalg.eigh(np.cov(samples.T))[1][:, ::-1][:, :3]

    result = hearsay.json("pca", "data.npy", "-k", 3, "--components", "basis.npy", *options)

    assert result["status"] == "converged"
    assert sin_theta(vectors, np.load(tmp_path / "basis.npy")) <= 1e-7


def test_optimal_momentum_says_where_the_eigenvalue_came_from(hearsay, samples, tmp_path):
    np.save(tmp_path / "data.npy", samples)
    edge = np.linalg.eigvalsh(np.cov(samples.T))[::-1][3]

    result = hearsay.json("pca", "data.npy", "-k", 3, "--momentum", "optimal")

    assert np.isclose(result["momentum"], edge**2 / 4, rtol=1e-8)
    assert any("dense eigensolver" in note for note in result["notes"])


def test_single_precision_has_a_tolerance_it_can_meet(hearsay, samples, tmp_path):
    np.save(tmp_path / "data.npy", samples.astype(np.float32))

    result = hearsay.json("pca", "data.npy", "-k", 3, "--precision", "single")

    assert result["status"] == "converged" and result["tolerance"] == 1e-5 and result["precision"] == "single"


def test_a_reference_gives_the_true_sine_of_every_iteration(hearsay, samples, tmp_path):
    np.save(tmp_path / "data.npy", samples)
    np.save(tmp_path / "answer.npy", np.linalg.eigh(np.cov(samples.T))[1][:, ::-1][:, :3] * 7.0)

    result = hearsay.json("pca", "data.npy", "-k", 3, "--reference", "answer.npy")

    sines = [entry["sin_theta"] for entry in result["history"]]
    assert sines[0] > 0.01 and sines[-1] <= 1e-8


def test_a_warm_start_takes_fewer_iterations(hearsay, samples, tmp_path):
    np.save(tmp_path / "data.npy", samples)
    cold = hearsay.json("pca", "data.npy", "-k", 3, "--oversample", 1, "--components", "basis.npy")

    warm = hearsay.json("pca", "data.npy", "-k", 3, "--oversample", 1, "--start", "basis.npy")

    assert warm["iterations"] < cold["iterations"]


def test_a_stream_agrees_with_memory(hearsay, samples, tmp_path):
    np.savetxt(tmp_path / "data.csv", samples + 1e3, delimiter=";")
    in_memory = hearsay.json("pca", "data.csv", "-k", 3, "--components", "memory.npy")

    streamed = hearsay.json("pca", "data.csv", "-k", 3, "--components", "stream.npy", "--stream", "--block-rows", 37)

    assert np.allclose(streamed["eigenvalues"], in_memory["eigenvalues"], rtol=1e-10)
    assert sin_theta(np.load(tmp_path / "memory.npy"), np.load(tmp_path / "stream.npy")) <= 1e-7
    assert streamed["samples"] == 300


def test_noise_ends_at_the_noise_floor_with_exit_code_3(hearsay, samples, tmp_path):
    np.save(tmp_path / "data.npy", samples)

    result = hearsay.json("pca", "data.npy", "-k", 2, "--noise", "gaussian:1e-3", "--components", "basis.npy", code=3)

    assert result["status"] == "noise_floor" and result["noise_floor"] > 1e-10
    assert 3e-4 < result["noise_level"] < 3e-3
    assert is_orthonormal(np.load(tmp_path / "basis.npy"))


def test_an_audit_of_an_exact_run_finds_the_noise_conditions_met(hearsay, samples, tmp_path):
    np.save(tmp_path / "data.npy", samples)

    result = hearsay.json("pca", "data.npy", "-k", 2, "--audit", "0.01", "--momentum", "optimal")

    assert result["audit"]["first_noise_violation"] is None
    assert result["audit"]["steps"][0]["t"] == 0


def test_the_summary_begins_with_the_status_in_words(hearsay, samples, tmp_path):
    np.save(tmp_path / "data.npy", samples)

    result = hearsay("pca", "data.npy", "-k", 2, "--json", "result.json")

    assert result.returncode == 0 and result.stderr == ""
    assert result.stdout.startswith("data.npy: converged in ")
    assert "share" in result.stdout and "300 samples of 12 features, centred" in result.stdout
    assert json.loads((tmp_path / "result.json").read_text())["status"] == "converged"


def test_a_sparse_table_agrees_with_the_dense_one(hearsay, samples, tmp_path):
    sparse = np.where(np.abs(samples) < 1, 0, samples)
    rows, columns = np.nonzero(sparse)
    with open(tmp_path / "data.mtx", "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate real general\n300 12 {len(rows)}\n")
        file.writelines(f"{i + 1} {j + 1} {sparse[i, j]!r}\n" for i, j in zip(rows, columns))
    np.save(tmp_path / "data.npy", sparse)

    from_sparse = hearsay.json("pca", "data.mtx", "-k", 3)

    assert np.allclose(from_sparse["eigenvalues"], hearsay.json("pca", "data.npy", "-k", 3)["eigenvalues"], rtol=1e-10)


def test_planted_directions_are_found_in_a_table_with_names_and_labels(hearsay, tmp_path):
    matrix, vectors = planted([9, 4, 1, 0.5, 0.1], seed=5)
    data = np.random.default_rng(2).multivariate_normal(np.zeros(5), matrix, size=50)
    lines = ["a;b;kind;c;d;e"] + [";".join([*map(repr, row[:2]), "'x'", *map(repr, row[2:])]) for row in data.tolist()]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")

    result = hearsay.json("pca", "data.csv", "-k", 2, "--label-column", "kind")

    assert result["dimension"] == 5
    assert np.allclose(result["eigenvalues"], np.linalg.eigvalsh(np.cov(data.T))[::-1][:2], rtol=1e-9)


def test_a_data_set_can_be_streamed(hearsay, digits):
    streamed = hearsay.json("pca", "digits", "-k", 3, "--stream")

    assert streamed["dimension"] == 64
    assert np.allclose(streamed["eigenvalues"], hearsay.json("pca", "digits", "-k", 3)["eigenvalues"], rtol=1e-10)
