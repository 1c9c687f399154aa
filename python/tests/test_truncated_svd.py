"""TruncatedSVD keeps scikit-learn's contract, and gives scikit-learn's numbers."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD as Sklearns
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.estimator_checks import parametrize_with_checks

import hearsay


@parametrize_with_checks([hearsay.TruncatedSVD(), hearsay.TruncatedSVD(1, method="anpm")])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def data(form, rows=120, columns=60):
    generator = np.random.default_rng(7)
    X = generator.standard_normal((rows, columns)) * (0.85 ** np.arange(columns)) + 0.1
    X[np.abs(X) < 0.02] = 0
    return form(X)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_array])
def test_the_numbers_are_scikit_learns(form):
    X = data(form)
    ours, theirs = hearsay.TruncatedSVD(6), Sklearns(6, algorithm="arpack")
    scores, expected = ours.fit_transform(X), theirs.fit_transform(X)
    assert np.allclose(scores, expected, atol=1e-7)
    for name in ("components_", "singular_values_", "explained_variance_", "explained_variance_ratio_"):
        assert np.allclose(getattr(ours, name), getattr(theirs, name), atol=1e-7), name
    assert np.allclose(ours.transform(X), scores, atol=1e-12)
    assert np.allclose(ours.inverse_transform(scores), theirs.inverse_transform(expected), atol=1e-7)
    assert list(ours.get_feature_names_out()) == [f"truncatedsvd{i}" for i in range(6)]


def test_what_is_known_is_in_the_fitted_attributes():
    svd = hearsay.TruncatedSVD(4, accuracy=1e-6).fit(data(sp.csr_array))
    assert svd.converged_ and svd.status_ == "converged" and svd.n_iter_ >= 1
    assert svd.certificate_.sin_theta == "bound" and svd.certificate_.sin_theta_bound <= 1e-6
    assert svd.residual_ <= svd.info_.tolerance == 1e-6
    assert svd.info_.errors.shape == (4,) and svd.info_.errors_are == "bound"


def test_code_written_for_scikit_learns_runs():
    X = data(np.asarray)
    theirs = {"algorithm": "randomized", "n_iter": 7, "n_oversamples": 12, "power_iteration_normalizer": "QR"}
    svd = hearsay.TruncatedSVD(n_components=3, random_state=0, tol=0.0, **theirs).fit(X)
    assert np.allclose(svd.singular_values_, np.linalg.svd(X, compute_uv=False)[:3])
    assert clone(svd).get_params() == svd.get_params()
    pipeline = make_pipeline(hearsay.TruncatedSVD(3), Normalizer(copy=False))
    assert np.allclose(np.linalg.norm(pipeline.fit_transform(X), axis=1), 1)


def test_single_precision_stays_single():
    X = data(np.asarray).astype(np.float32)
    svd = hearsay.TruncatedSVD(3).fit(X)
    assert svd.components_.dtype == svd.transform(X).dtype == np.float32


def test_a_fit_that_did_not_converge_warns():
    with pytest.warns(hearsay.ConvergenceWarning):
        svd = hearsay.TruncatedSVD(3, max_iter=1, method="anpm").fit(data(np.asarray))
    assert not svd.converged_


@pytest.mark.parametrize("n_components", [0, 61, 2.5, True, None, "all"])
def test_a_number_of_components_that_cannot_be(n_components):
    with pytest.raises(hearsay.InvalidArgument, match="n_components"):
        hearsay.TruncatedSVD(n_components).fit(data(np.asarray))


def test_values_that_are_not_finite_are_refused():
    X = data(np.asarray)
    X[3, 4] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        hearsay.TruncatedSVD(2).fit(X)
