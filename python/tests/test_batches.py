"""Products on a part of the rows: drawn by fit, as they come in partial_fit."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import sin_theta

import hearsay


def harmonic(rows, features, seed, dtype=np.float64):
    """Variances 1, 1/2, 1/3, .. along the axes, far from the origin."""
    X = np.random.default_rng(seed).standard_normal((rows, features)) / np.sqrt(np.arange(1, features + 1)) + 3.0
    return X.astype(dtype)


def axes(features, k):
    return np.eye(features)[:, :k]


def fed(pca, X, rows):
    for first in range(0, len(X), rows):
        pca.partial_fit(X[first : first + rows])
    return pca


@pytest.mark.filterwarnings("ignore::hearsay.ConvergenceWarning")  # the floor of the noise
def test_fit_by_batches_finds_what_all_rows_tell():
    X = harmonic(20_000, 30, seed=1)

    pca = hearsay.PCA(3, batch=200).fit(X)

    whole = hearsay.PCA(3).fit(X)
    own_error = sin_theta(axes(30, 3), whole.components_.T)
    assert pca.status_ == "noise_floor" and pca.info_.method == "averaged"
    assert sin_theta(whole.components_.T, pca.components_.T) <= 0.7 * own_error
    assert np.allclose(pca.mean_, whole.mean_) and np.isclose(
        pca.explained_variance_ratio_.sum(), whole.explained_variance_ratio_.sum(), rtol=0.05
    )


@pytest.mark.filterwarnings("ignore::hearsay.ConvergenceWarning")
def test_sparse_and_dense_rows_are_drawn_alike():
    X = np.maximum(harmonic(3000, 12, seed=2) - 3.5, 0)

    dense, sparse = (hearsay.PCA(2, batch=300).fit(rows) for rows in (X, sp.csr_array(X)))

    assert np.abs(dense.components_ - sparse.components_).max() <= 1e-8


def test_a_stream_is_known_within_its_bar_and_calls_do_not_matter():
    X = harmonic(15_000, 30, seed=3)

    pca, other = fed(hearsay.PCA(3, batch=100), X, 15_000), fed(hearsay.PCA(3, batch=100), X, 777)

    error = sin_theta(axes(30, 3), pca.components_.T)
    assert pca.sin_theta_bar_ / 3 <= error <= 3 * pca.sin_theta_bar_
    assert error <= 1.5 * sin_theta(axes(30, 3), hearsay.PCA(3).fit(X).components_.T)
    assert not pca.drift_ and pca.n_samples_ == 15_000
    assert np.array_equal(pca.components_, other.components_)
    assert np.allclose(pca.mean_, X.mean(axis=0), rtol=1e-12)


def test_the_bar_falls_as_rows_come():
    X, bars, pca = harmonic(32_000, 20, seed=4), [], hearsay.PCA(2, batch=50)

    for first in range(0, len(X), 8000):
        bars.append(pca.partial_fit(X[first : first + 8000]).sin_theta_bar_)

    assert bars[-1] < bars[0]


def test_rows_that_do_not_fill_a_batch_are_solved_whole():
    X = harmonic(300, 10, seed=5)
    pca = hearsay.PCA(2, batch=200).partial_fit(X[:60])
    assert np.allclose(pca.components_, hearsay.PCA(2).fit(X[:60]).components_, atol=1e-6)
    assert np.isnan(pca.sin_theta_bar_)

    assert pca.partial_fit(X[60:]).transform(X).shape == (300, 2)


def test_a_stream_that_drifts_is_noticed():
    X = harmonic(30_000, 10, seed=6)
    angle = np.linspace(0, 1.5, len(X))
    second, third = 2 * (X[:, 1] - 3), X[:, 2] - 3
    X[:, 1] = np.cos(angle) * second - np.sin(angle) * third
    X[:, 2] = np.sin(angle) * second + np.cos(angle) * third

    with pytest.warns(hearsay.ConvergenceWarning, match="changed on the way"):
        pca = hearsay.PCA(2, batch=50).partial_fit(X)

    assert pca.drift_


def test_nothing_is_said_of_a_stream_that_does_not_drift():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(40, 48):
            fed(hearsay.PCA(2, batch=50), harmonic(12_000, 10, seed), 3000)


def test_float32_rows_give_float32_components():
    pca = fed(hearsay.PCA(2, batch=50), harmonic(4000, 9, 7, np.float32), 1000)

    assert pca.components_.dtype == np.float32 and np.isfinite(pca.sin_theta_bar_)


def test_fit_forgets_what_arrived():
    X = harmonic(500, 8, seed=8)
    pca = hearsay.PCA(2, batch=50).partial_fit(X + 7.0)

    pca.set_params(batch=None).fit(X)

    assert not hasattr(pca, "sin_theta_bar_")
    assert np.allclose(pca.mean_, X.mean(axis=0))


def test_a_stream_under_way_is_not_pickled_silently():
    pca = hearsay.PCA(2, batch=50).partial_fit(harmonic(500, 8, seed=9))

    with pytest.raises(hearsay.InvalidArgument, match="cannot be pickled"):
        pickle.dumps(pca)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"batch": 0}, "batch = 0: must be a whole number of at least 1"),
        ({"batch": 2}, "batch = 2: must be above the n_components, 2"),
        ({"batch": 501}, r"batch = 501: must lie in \[1, 500\], the number of rows"),
        ({"batch": 50, "precision": "mixed"}, "batch = 50: takes no precision mixed"),
        ({"batch": 50, "momentum": "optimal"}, "batch = 50: takes no momentum optimal"),
    ],
)
def test_fit_refuses_what_does_not_go_with_batches(keywords, message):
    with pytest.raises(hearsay.InvalidArgument, match=message):
        hearsay.PCA(2, **keywords).fit(harmonic(500, 8, seed=10))


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"batch": 0}, "batch = 0: must be a whole number of at least 1"),
        ({"batch": 2}, "batch = 2: must be above the n_components, 2"),
        ({"batch": 50, "n_components": 0.5}, "n_components = 0.5: must be an int from 1 to 7"),
        ({"batch": 50, "momentum": 0.1}, "momentum = 0.1: must be 'auto'"),
        ({"batch": 50, "noise": "gaussian:1"}, "noise = 'gaussian:1': must be None"),
    ],
)
def test_partial_fit_refuses_what_does_not_go_with_batches(keywords, message):
    with pytest.raises(hearsay.InvalidArgument, match=message):
        hearsay.PCA(**{"n_components": 2, **keywords}).partial_fit(harmonic(500, 8, seed=11))
