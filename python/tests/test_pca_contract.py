"""PCA is an estimator of scikit-learn's: its own checks, and what a pipeline does with it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA as SklearnPCA
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import hearsay

CANDIDATES = [
    hearsay.PCA(),
    hearsay.PCA(1),
    hearsay.PCA(0.9),
    hearsay.PCA(1, whiten=True),
    hearsay.PCA(1, standardize=True),
    hearsay.PCA(1, missing="mean"),
    hearsay.PCA(1, missing="em"),
    hearsay.PCA(1, missing="drop-rows", standardize=True),
    hearsay.PCA(1, center=False, momentum="none", max_iter=20000),
    hearsay.PCA(1, warm_start=True, precision="double"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(CANDIDATES)
def test_scikit_learn_has_nothing_to_object(estimator, check):
    check(estimator)


def test_fit_transform_is_fit_then_transform(samples):
    assert np.array_equal(hearsay.PCA(3).fit_transform(samples), hearsay.PCA(3).fit(samples).transform(samples))


def test_a_clone_and_a_pickle_give_the_same_numbers(samples):
    pca = hearsay.PCA(3, noise=hearsay.noise.Gaussian(1e-13, seed=4), random_state=2).fit(samples)

    again = clone(pca).fit(samples)
    thawed = pickle.loads(pickle.dumps(pca))

    assert np.array_equal(again.components_, pca.components_)
    assert np.array_equal(thawed.transform(samples), pca.transform(samples))
    assert thawed.status_ == pca.status_ and thawed.history_.tobytes() == pca.history_.tobytes()
    assert thawed.get_params()["noise"] == pca.noise


def test_pandas_goes_in_and_comes_out(samples):
    frame = pd.DataFrame(samples, columns=[f"feature {i}" for i in range(samples.shape[1])], index=range(1000, 1300))

    pca = hearsay.PCA(2).set_output(transform="pandas").fit(frame)
    scores = pca.transform(frame)

    assert list(pca.feature_names_in_) == list(frame.columns)
    assert list(scores.columns) == ["pca0", "pca1"] == list(pca.get_feature_names_out())
    assert list(scores.index) == list(frame.index)
    assert np.allclose(scores.to_numpy(), hearsay.PCA(2).fit_transform(samples), atol=1e-10)


def test_columns_in_another_order_are_refused(samples):
    frame = pd.DataFrame(samples, columns=[f"feature {i}" for i in range(samples.shape[1])])
    pca = hearsay.PCA(2).fit(frame)

    with pytest.raises(ValueError, match="feature names"):
        pca.transform(frame[frame.columns[::-1]])


def test_a_grid_search_over_a_pipeline_chooses_as_with_scikit_learns():
    generator = np.random.default_rng(8)
    X = generator.standard_normal((120, 10)) * 0.8 ** np.arange(10)
    y = (X[:, 0] > 0).astype(int)

    def search(pca, name):
        grid = {f"{name}__n_components": [1, 3, 6]}
        return GridSearchCV(make_pipeline(pca, KNeighborsClassifier(3)), grid, cv=3).fit(X, y)

    ours, theirs = search(hearsay.PCA(), "pca"), search(SklearnPCA(), "pca")

    assert ours.best_params_ == theirs.best_params_
    assert np.allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_a_warm_start_takes_fewer_iterations(samples):
    pca = hearsay.PCA(3, oversampling=1, warm_start=True).fit(samples)
    cold = pca.n_iter_

    warm = pca.fit(samples + 1e-6 * np.sin(samples)).n_iter_

    assert warm < cold


@pytest.mark.parametrize(
    ("keyword", "value", "words"),
    [
        ("n_components", 0, "n_components = 0: must be an int from 1 to 20"),
        ("n_components", 21, "n_components = 21: must be an int from 1 to 20"),
        ("n_components", "mel", "n_components = 'mel': must be"),
        ("n_components", 1.5, "n_components = 1.5: must be"),
        ("tol", -1e-3, "tol = -0.001: must be finite and positive"),
        ("tol", float("nan"), "tol = nan: must be a finite number"),
        ("max_iter", -1, "max_iter = -1: must be a whole number of at least 0"),
        ("max_iter", 2.5, "max_iter = 2.5: must be a whole number of at least 0"),
        ("momentum", "atuo", "did you mean auto"),
        ("momentum", -1.0, "momentum = -1: must be finite and not negative"),
        ("oversampling", -2, "oversampling = -2: must be a whole number of at least 0"),
        ("oversampling", 0, "oversampling = 0: adaptive momentum needs"),
        ("noise", "gausian:1", "did you mean gaussian"),
        ("noise", 3, "noise = 3: must be None, a text"),
        ("precision", "half", "precision = half: must be one of double|single|mixed"),
        ("random_state", "seven", "random_state = 'seven': must be an int"),
    ],
)
def test_a_bad_keyword_is_named_with_its_value_and_rule(samples, keyword, value, words):
    pca = hearsay.PCA(**{"n_components": 3, keyword: value})

    with pytest.raises(ValueError, match="must|needs") as refusal:
        pca.fit(samples)

    assert words in str(refusal.value)
    assert isinstance(refusal.value, hearsay.InvalidArgument)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("center", [True, False])
def test_data_that_are_not_finite_are_refused(samples, bad, center):
    samples[17, 3] = bad

    with pytest.raises(ValueError, match="NaN|infinity"):
        hearsay.PCA(2, center=center).fit(samples)
