"""Products on a part of the rows: what they find, what they say, and what is refused."""

import numpy as np
import pytest

from conftest import is_orthonormal, sin_theta


@pytest.fixture
def harmonic(tmp_path):
    """20,000 rows with variances 1, 1/2, 1/3, .. along the axes, far from the origin."""
    rng = np.random.default_rng(31)
    data = rng.standard_normal((20_000, 30)) / np.sqrt(np.arange(1, 31)) + 4.0
    np.save(tmp_path / "data.npy", data)
    return data


def leading(data, k):
    return np.linalg.eigh(np.cov(data.T))[1][:, ::-1][:, :k]


@pytest.mark.parametrize("stream", [[], ["--stream"]])
def test_a_few_passes_find_what_all_rows_tell(hearsay, harmonic, tmp_path, stream):
    result = hearsay.json("pca", "data.npy", "-k", 3, "--batch", 200, "--components", "basis.npy", *stream, code=3)

    basis, all_rows = np.load(tmp_path / "basis.npy"), leading(harmonic, 3)
    own_error = sin_theta(np.eye(30)[:, :3], all_rows)
    assert result["status"] == "noise_floor" and result["method"] == "averaged"
    assert result["samples"] == 20_000 and is_orthonormal(basis)
    assert sin_theta(all_rows, basis) <= 0.7 * own_error
    assert np.allclose(result["mean"], harmonic.mean(axis=0), rtol=1e-10)
    assert np.isclose(result["total_variance"], np.trace(np.cov(harmonic.T)), rtol=1e-8)


def test_the_same_seed_draws_the_same_rows(hearsay, harmonic):
    def eigenvalues(*options):
        return hearsay.json("pca", "data.npy", "-k", 2, "--batch", 500, *options, code=3)["eigenvalues"]

    assert eigenvalues("--threads", 1) == eigenvalues("--threads", 2)
    assert eigenvalues() != eigenvalues("--noise-seed", 1)


def test_a_budget_ends_it(hearsay, harmonic):
    result = hearsay.json("pca", "data.npy", "-k", 2, "--batch", 100, "--products", 300, code=3)

    assert 280 <= result["products"] <= 300


@pytest.mark.parametrize("stream", [[], ["--stream"]])
def test_a_resumed_run_has_the_bits_of_an_uninterrupted_one(hearsay, harmonic, stream):
    run = ["pca", "data.npy", "-k", 2, "--batch", 400, *stream]
    whole = hearsay.json(*run, "--max-iterations", 90, code=3)
    saved = ["--checkpoint", "half.ckpt", "--checkpoint-every", 20]
    hearsay.json(*run, *saved, "--max-iterations", 45, code=3)

    resumed = hearsay.json(*run, *saved, "--resume", "--max-iterations", 90, code=3)

    assert resumed["eigenvalues"] == whole["eigenvalues"]
    assert resumed["sin_theta_estimate"] == whole["sin_theta_estimate"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--batch", "0"], "batch = 0: must be a whole number of at least 1"),
        (["--batch", "x"], "batch = x: must be a whole number of at least 1"),
        (["--batch", "20001"], "batch = 20001: must lie in [1, 20000], the number of rows"),
        (["--batch", "20001", "--stream"], "batch = 20001: must lie in [1, 20000], the number of rows"),
        (["--batch", "2"], "batch = 2: must be above the --rank, 2"),
        (["--batch", "100", "--precision", "mixed"], "batch = 100: takes no --precision mixed"),
        (["--batch", "100", "--method", "krylov"], "batch = 100: makes noisy products; leave --method krylov out"),
        (["--batch", "100", "--momentum", "optimal"], "batch = 100: takes no --momentum optimal"),
        (["--batch", "100", "--audit", "0.1"], "batch = 100: takes no --audit"),
        (["--batch", "100", "--noise", "adversarial:1"], "batch = 100: takes no --noise adversarial"),
    ],
)
def test_what_does_not_go_with_batches_is_refused(hearsay, harmonic, options, message):
    hearsay.refuses("pca", "data.npy", "-k", 2, *options, saying=message)
