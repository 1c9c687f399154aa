"""A stream's components are those of all its rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import decaying_samples, sin_theta, sparse_samples

import hearsay
from hearsay._stream import Stream


def fed(pca, batches):
    for batch in batches:
        pca.partial_fit(batch)
    return pca


@pytest.mark.filterwarnings("ignore:.*cuts through them:hearsay.ConvergenceWarning")  # too few rows to define them
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("sizes", [[100, 100, 100], [1, 2, 3, 294], [299, 1]])
def test_batches_of_any_size_agree_with_one_fit(center, sizes):
    X = decaying_samples(300, 15, seed=1, offset=4.0)
    pca = hearsay.PCA(3, center=center)

    fed(pca, np.split(X, np.cumsum(sizes)[:-1]))

    whole = hearsay.PCA(3, center=center).fit(X)
    assert pca.n_samples_ == 300
    assert np.abs(pca.components_ - whole.components_).max() <= 1e-6
    for attribute in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        assert np.allclose(getattr(pca, attribute), getattr(whole, attribute), rtol=1e-8), attribute
    assert np.isclose(pca.noise_variance_, whole.noise_variance_, rtol=1e-8)


def test_a_large_offset_costs_no_digits():
    X = decaying_samples(400, 10, seed=2)

    far = fed(hearsay.PCA(2), np.split(X + 1e8, 8))

    assert np.abs(far.components_ - hearsay.PCA(2).fit(X).components_).max() <= 1e-6


def test_sparse_batches_agree_with_dense_ones():
    X = sparse_samples(200, 25, seed=3)

    sparse = fed(hearsay.PCA(3), [X[:120], sp.csc_array(X[120:])])

    assert np.allclose(sparse.components_, hearsay.PCA(3).fit(X.toarray()).components_, atol=1e-6)


def test_fit_forgets_the_stream():
    X = decaying_samples(100, 8, seed=4)
    pca = fed(hearsay.PCA(2), [X + 7.0, 2 * X])

    pca.fit(X).partial_fit(X)

    assert pca.n_samples_ == 100
    assert np.allclose(pca.components_, hearsay.PCA(2).fit(X).components_, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*cuts through them:hearsay.ConvergenceWarning")  # too few rows to define them
def test_each_call_leaves_a_fitted_estimator():
    X = decaying_samples(60, 8, seed=5)
    pca = hearsay.PCA(4)

    assert pca.partial_fit(X[:2]).transform(X).shape == (60, 2)
    assert pca.partial_fit(X[2:]).transform(X).shape == (60, 4)


def test_later_calls_start_from_the_last_components():
    X = decaying_samples(4000, 30, seed=6)
    pca = hearsay.PCA(4, oversampling=1).partial_fit(X[:2000])
    cold = pca.n_iter_

    assert pca.partial_fit(X[2000:]).n_iter_ < cold


def test_float32_batches_give_float32_components():
    X = decaying_samples(90, 9, seed=7).astype(np.float32)

    pca = fed(hearsay.PCA(2), np.split(X, 3))

    assert pca.components_.dtype == np.float32 and pca.transform(X).dtype == np.float32


def test_another_number_of_features_is_refused():
    pca = hearsay.PCA(2).partial_fit(decaying_samples(50, 8))

    with pytest.raises(ValueError, match="8 features"):
        pca.partial_fit(decaying_samples(50, 9))


def test_where_the_scatter_does_not_fit_leading_directions_of_it_are_kept(monkeypatch):
    monkeypatch.setattr(Stream.__init__, "__defaults__", (0,))
    X = decaying_samples(600, 80, seed=8, offset=2.0)

    pca = fed(hearsay.PCA(3), np.split(X, 6))

    whole = hearsay.PCA(3).fit(X)
    assert pca._stream.factor.shape == (35, 80)
    assert sin_theta(whole.components_.T, pca.components_.T) <= 1e-3
    assert np.allclose(pca.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-3)
    assert np.allclose(pca.mean_, whole.mean_, rtol=1e-12)
