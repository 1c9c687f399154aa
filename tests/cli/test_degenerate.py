"""Legal inputs at the edges: right answers, orthonormal bases, no special cases for the user."""

import numpy as np
import pytest

from conftest import is_orthonormal, planted, sin_theta

pytestmark = pytest.mark.attack


def eigs(hearsay, tmp_path, matrix, *options, code=0):
    np.save(tmp_path / "matrix.npy", np.asarray(matrix, dtype=float))
    result = hearsay.json("eigs", "matrix.npy", "--components", "basis.npy", *options, code=code)
    return result, np.load(tmp_path / "basis.npy")


AMBIGUOUS = 3  # the exit code where the data do not define what is asked for


def pca(hearsay, tmp_path, data, *options, code=0):
    np.save(tmp_path / "data.npy", np.asarray(data, dtype=float))
    result = hearsay.json("pca", "data.npy", "--components", "basis.npy", *options, code=code)
    return result, np.load(tmp_path / "basis.npy")


@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_zero_matrix(hearsay, tmp_path, k):
    result, basis = eigs(hearsay, tmp_path, np.zeros((5, 5)), "-k", k, code=0 if k == 5 else AMBIGUOUS)

    assert result["status"] == ("converged" if k == 5 else "ambiguous") and result["eigenvalues"] == [0] * k
    assert is_orthonormal(basis)


@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_identity(hearsay, tmp_path, k):
    result, basis = eigs(hearsay, tmp_path, np.eye(5), "-k", k, code=0 if k == 5 else AMBIGUOUS)

    assert result["status"] == ("converged" if k == 5 else "ambiguous")
    assert np.allclose(result["eigenvalues"], 1, rtol=1e-14)
    assert is_orthonormal(basis)


def test_a_rank_below_k_gives_zero_eigenvalues(hearsay, tmp_path):
    matrix, vectors = planted([3, 2, 0, 0, 0, 0, 0, 0])

    result, basis = eigs(hearsay, tmp_path, matrix, "-k", 4, code=AMBIGUOUS)

    assert result["status"] == "ambiguous" and result["certificate"]["cluster"]["first"] == 3 and is_orthonormal(basis)
    assert np.allclose(result["eigenvalues"], [3, 2, 0, 0], atol=1e-12)
    assert sin_theta(basis, vectors[:, :2]) <= 1e-9


def test_repeated_eigenvalues(hearsay, tmp_path):
    matrix, vectors = planted([2, 2, 2, 1, 1, 0.5])

    result, basis = eigs(hearsay, tmp_path, matrix, "-k", 3)

    assert np.allclose(result["eigenvalues"], 2, rtol=1e-12)
    assert sin_theta(vectors[:, :3], basis) <= 1e-9


def test_k_equal_to_the_dimension(hearsay, tmp_path):
    result, basis = eigs(hearsay, tmp_path, planted([4, 3, 2, 1])[0], "-k", 4)

    assert result["status"] == "converged" and np.allclose(result["eigenvalues"], [4, 3, 2, 1], rtol=1e-12)
    assert is_orthonormal(basis)


def test_a_matrix_of_one_number(hearsay, tmp_path):
    result, basis = eigs(hearsay, tmp_path, [[7.0]], "-k", 1)

    assert result["eigenvalues"] == [7] and basis.tolist() == [[1]]


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_values_near_the_ends_of_the_range(hearsay, tmp_path, scale):
    matrix, vectors = planted([4, 3, 1, 0.5])

    result, basis = eigs(hearsay, tmp_path, matrix * scale, "-k", 2)

    assert result["status"] == "converged" and result["exponent"] == 0
    assert np.allclose(np.array(result["eigenvalues"]) / scale, [4, 3], rtol=1e-9)
    assert sin_theta(vectors[:, :2], basis) <= 1e-8


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_data_whose_squares_leave_the_range(hearsay, tmp_path, scale):
    data = np.random.default_rng(0).standard_normal((40, 4)) * [3, 2, 1, 0.5]
    values, vectors = np.linalg.eigh(np.cov(data.T))

    result, basis = pca(hearsay, tmp_path, data * scale, "-k", 2)

    assert result["status"] == "converged"
    assert sin_theta(vectors[:, ::-1][:, :2], basis) <= 1e-8
    ratio = np.array(result["eigenvalues"]) / values[::-1][:2]
    assert np.isclose(ratio[0], ratio[1], rtol=1e-9)
    assert np.isclose(np.log2(ratio[0]) + result["exponent"], 2 * np.log2(scale), atol=1e-6)


def test_one_sample(hearsay, tmp_path):
    result, basis = pca(hearsay, tmp_path, [[1, 2, 3]], "-k", 2, code=AMBIGUOUS)

    assert result["status"] == "ambiguous" and result["eigenvalues"] == [0, 0] and is_orthonormal(basis)


def test_one_sample_without_centring(hearsay, tmp_path):
    result, basis = pca(hearsay, tmp_path, [[3, 4]], "-k", 1, "--no-center")

    assert np.allclose(result["eigenvalues"], [25]) and np.allclose(basis.ravel(), [0.6, 0.8])


def test_one_feature(hearsay, tmp_path):
    result, basis = pca(hearsay, tmp_path, [[1], [2], [4]], "-k", 1)

    assert np.allclose(result["eigenvalues"], [7 / 3]) and basis.tolist() == [[1]]


def test_constant_columns(hearsay, tmp_path):
    data = np.full((30, 4), 1e6)
    data[:, 2] = np.arange(30)

    result, basis = pca(hearsay, tmp_path, data, "-k", 2, code=AMBIGUOUS)

    assert result["certificate"]["cluster"]["first"] == 2
    assert np.allclose(result["eigenvalues"], [np.var(data[:, 2], ddof=1), 0], atol=1e-9)
    assert np.allclose(np.abs(basis[:, 0]), [0, 0, 1, 0], atol=1e-9) and is_orthonormal(basis)


def test_all_columns_constant(hearsay, tmp_path):
    result, basis = pca(hearsay, tmp_path, np.full((5, 3), 0.1), "-k", 2, code=AMBIGUOUS)

    assert result["status"] == "ambiguous" and np.allclose(result["eigenvalues"], 0, atol=1e-30)
    assert is_orthonormal(basis)


def test_fewer_samples_than_k(hearsay, tmp_path):
    data = np.random.default_rng(0).standard_normal((3, 8))

    result, basis = pca(hearsay, tmp_path, data, "-k", 5, code=AMBIGUOUS)

    expected = np.linalg.eigvalsh(np.cov(data.T))[::-1][:5]
    assert result["status"] == "ambiguous" and result["certificate"]["cluster"]["first"] == 3
    assert is_orthonormal(basis)
    assert np.allclose(result["eigenvalues"], expected, atol=1e-12)


def test_a_large_offset_cancels_nothing(hearsay, tmp_path):
    data = np.random.default_rng(0).standard_normal((100, 5)) * [5, 4, 3, 2, 1]

    near, _ = pca(hearsay, tmp_path, data, "-k", 2)
    far, _ = pca(hearsay, tmp_path, data + 2.0**20, "-k", 2)

    assert np.allclose(near["eigenvalues"], far["eigenvalues"], rtol=1e-8)
