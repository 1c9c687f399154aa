"""PCA gives scikit-learn's numbers, by another way."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import decaying_samples, sparse_samples
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import PCA as SklearnPCA

import hearsay

DATA = {
    "digits": lambda: load_digits().data,
    "breast cancer": lambda: load_breast_cancer().data,
    "wine": lambda: load_wine().data,
    "tall": lambda: decaying_samples(500, 30, seed=1),
    "wide": lambda: decaying_samples(25, 60, seed=2),
    "far from the origin": lambda: decaying_samples(200, 15, seed=3, offset=1e6),
}


@pytest.mark.parametrize("rank", [1, 3, 5, 10])
@pytest.mark.parametrize("name", DATA)
def test_everything_a_fit_reports_is_that_of_a_full_svd(name, rank):
    X = DATA[name]()
    expected = SklearnPCA(rank, svd_solver="full").fit(X)

    pca = hearsay.PCA(rank).fit(X)

    assert pca.status_ == "converged"
    assert np.abs(pca.components_ - expected.components_).max() <= 1e-6
    for attribute in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        assert np.allclose(getattr(pca, attribute), getattr(expected, attribute), rtol=1e-6, atol=1e-12), attribute
    assert np.isclose(pca.noise_variance_, expected.noise_variance_, rtol=1e-6, atol=1e-9)
    scale = np.abs(expected.transform(X)).max()
    assert np.abs(pca.transform(X) - expected.transform(X)).max() <= 1e-6 * scale
    assert np.abs(
        pca.inverse_transform(pca.transform(X)) - expected.inverse_transform(expected.transform(X))
    ).max() <= (1e-6 * np.abs(X).max())


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("rank", [3, 15])
def test_scores_and_covariance_are_those_of_scikit_learn(samples, rank, whiten):
    X, new = samples[:200, :15], samples[200:, :15]
    plain = SklearnPCA(rank, svd_solver="full").fit(X)
    expected = SklearnPCA(rank, svd_solver="full", whiten=whiten).fit(X)

    pca = hearsay.PCA(rank, whiten=whiten).fit(X)

    # The model of the data is the same whether coordinates are whitened or not; scikit-learn's depends on it.
    assert np.allclose(pca.get_covariance(), plain.get_covariance(), rtol=1e-6, atol=1e-9)
    assert np.allclose(pca.score_samples(new), plain.score_samples(new), rtol=1e-6)
    assert pca.score(new) == pytest.approx(plain.score(new), rel=1e-6)
    assert np.allclose(pca.transform(new), expected.transform(new), atol=1e-6)
    assert np.allclose(pca.inverse_transform(pca.transform(new)), expected.inverse_transform(expected.transform(new)))


@pytest.mark.parametrize("form", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix])
@pytest.mark.parametrize("center", [True, False])
def test_sparse_data_give_the_answer_of_the_same_data_in_full(form, center):
    X = sparse_samples(300, 40, density=0.15, seed=4)
    dense = hearsay.PCA(4, center=center).fit(X.toarray())

    sparse = hearsay.PCA(4, center=center).fit(form(X))

    assert np.abs(sparse.components_ - dense.components_).max() <= 1e-6
    assert np.allclose(sparse.explained_variance_, dense.explained_variance_, rtol=1e-8)
    assert np.isclose(sparse.noise_variance_, dense.noise_variance_, rtol=1e-8)
    assert np.allclose(sparse.transform(form(X)), dense.transform(X.toarray()), atol=1e-6)


def test_sparse_data_agree_with_a_full_svd():
    X = sparse_samples(200, 30, seed=5)
    expected = SklearnPCA(5, svd_solver="full").fit(X.toarray())

    pca = hearsay.PCA(5).fit(X)

    assert np.abs(pca.components_ - expected.components_).max() <= 1e-6
    assert np.allclose(pca.explained_variance_ratio_, expected.explained_variance_ratio_, rtol=1e-6)


@pytest.mark.parametrize("share", [0.3, 0.8, 0.95, 0.999])
def test_a_share_of_the_variance_takes_as_many_components_as_a_full_svd(share):
    X = load_digits().data
    expected = SklearnPCA(share, svd_solver="full").fit(X)

    pca = hearsay.PCA(share).fit(X)

    assert pca.n_components_ == expected.n_components_
    assert np.allclose(pca.explained_variance_, expected.explained_variance_, rtol=1e-6)


def test_without_centring_the_matrix_is_the_mean_square():
    X = decaying_samples(200, 12, seed=6, offset=2.0)

    pca = hearsay.PCA(3, center=False).fit(X)

    assert np.array_equal(pca.mean_, np.zeros(12))
    assert np.allclose(pca.explained_variance_, np.linalg.eigvalsh(X.T @ X / 200)[::-1][:3], rtol=1e-9)
    assert np.isclose(pca.explained_variance_ratio_[0], pca.explained_variance_[0] / (X**2).sum() * 200, rtol=1e-9)


@pytest.mark.parametrize("precision", ["double", "mixed"])
def test_mixed_precision_ends_where_double_precision_does(precision):
    X = decaying_samples(400, 25, seed=7)
    expected = SklearnPCA(4, svd_solver="full").fit(X)

    pca = hearsay.PCA(4, precision=precision).fit(X)

    assert pca.components_.dtype == np.float64
    assert np.abs(pca.components_ - expected.components_).max() <= 1e-6
    assert np.allclose(pca.singular_values_, expected.singular_values_, rtol=1e-8)


def test_mixed_precision_takes_sparse_data_and_noise():
    X = decaying_samples(400, 25, seed=7)
    expected = SklearnPCA(4, svd_solver="full").fit(X)

    sparse = hearsay.PCA(4, precision="mixed").fit(sp.csr_array(X))
    with pytest.warns(hearsay.ConvergenceWarning):
        noisy = hearsay.PCA(4, precision="mixed", noise="gaussian:1e-7").fit(X)

    assert np.abs(sparse.components_ - expected.components_).max() <= 1e-6
    assert noisy.status_ == "noise_floor"
    assert np.abs(noisy.components_ - expected.components_).max() <= 1e-3


@pytest.mark.parametrize("momentum", ["auto", "paper", "optimal", "none", 1e-3])
def test_every_momentum_leads_to_the_same_components(momentum, samples):
    expected = SklearnPCA(3, svd_solver="full").fit(samples)

    pca = hearsay.PCA(3, momentum=momentum, max_iter=5000).fit(samples)

    assert np.abs(pca.components_ - expected.components_).max() <= 1e-6
