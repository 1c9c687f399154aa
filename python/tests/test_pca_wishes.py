"""What users of scikit-learn's PCA expect: standardizing, weights, missing values, ranks by a rule."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import sin_theta
from sklearn import decomposition
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine, make_low_rank_matrix
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hearsay

WINE = load_wine().data


def with_holes(X, share, seed=0):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def low_rank(samples=400, features=30, rank=3, noise=1e-3, seed=1):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((features, rank)))[0]
    scores = rng.standard_normal((samples, rank)) * np.linspace(5, 2, rank)
    return scores @ basis.T + rng.standard_normal(features) + noise * rng.standard_normal((samples, features)), basis


# ---- Standardizing


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-8), (np.float32, 2e-3)])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array], ids=["dense", "csr", "csc"])
def test_standardizing_is_a_scaler_before_pca(make, dtype, tolerance):
    X = WINE.astype(dtype)
    ours = hearsay.PCA(4, standardize=True).fit(make(X))
    theirs = make_pipeline(StandardScaler(), decomposition.PCA(4)).fit(WINE)
    pca, n = theirs[-1], len(WINE)

    assert sin_theta(pca.components_.T, ours.components_.T) <= tolerance
    assert np.allclose(ours.explained_variance_ * n / (n - 1), pca.explained_variance_, rtol=tolerance)
    assert np.allclose(ours.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=tolerance)
    assert np.allclose(ours.scale_, WINE.std(axis=0, ddof=1), rtol=tolerance)
    assert np.allclose(
        np.abs(ours.transform(make(X))) * np.sqrt(n / (n - 1)),
        np.abs(theirs.transform(WINE)),
        atol=2e-2 if dtype == np.float32 else 1e-7,
    )


@pytest.mark.parametrize("whiten", [False, True])
def test_standardized_scores_go_back(whiten):
    pca = hearsay.PCA(standardize=True, whiten=whiten).fit(WINE)

    assert np.allclose(pca.inverse_transform(pca.transform(WINE)), WINE, rtol=1e-6)
    if whiten:
        assert np.allclose(np.cov(pca.transform(WINE).T), np.eye(WINE.shape[1]), atol=1e-8)


def test_constant_features_are_named():
    X = WINE.copy()
    X[:, 3] = 1e8
    pca = hearsay.PCA(3, standardize=True).fit(X)

    assert not pca.components_[:, 3].any() and pca.scale_[3] == 1
    assert any("column 4" in note for note in pca.info_.notes)
    assert np.isfinite(pca.transform(X)).all()


def test_a_likelihood_is_that_of_standardized_data():
    ours = hearsay.PCA(4, standardize=True).fit(WINE)
    scaled = (WINE - WINE.mean(axis=0)) / WINE.std(axis=0, ddof=1)
    theirs = decomposition.PCA(4).fit(scaled)

    assert np.allclose(ours.score_samples(WINE), theirs.score_samples(scaled), rtol=1e-6)


# ---- Weights


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "wishes",
    [{}, {"standardize": True}, {"center": False}, {"precision": "mixed"}],
    ids=lambda wishes: "-".join(wishes) or "plain",
)
def test_a_weight_counts_as_so_many_rows(make, wishes):
    counts = np.random.default_rng(0).integers(0, 4, len(WINE))
    repeated = np.repeat(WINE, counts, axis=0)

    ours = hearsay.PCA(3, **wishes).fit(make(WINE), sample_weight=counts)
    theirs = hearsay.PCA(3, **wishes).fit(make(repeated))

    assert sin_theta(theirs.components_.T, ours.components_.T) <= 1e-7
    assert np.allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-8)
    assert np.allclose(ours.mean_, theirs.mean_, rtol=1e-12)
    assert np.allclose(ours.singular_values_, theirs.singular_values_, rtol=1e-8)


def test_more_features_than_samples_have_weights():
    rng = np.random.default_rng(2)
    X, counts = rng.standard_normal((15, 60)), rng.integers(1, 5, 15)
    ours = hearsay.PCA(4).fit(X, sample_weight=counts)
    theirs = decomposition.PCA(4).fit(np.repeat(X, counts, axis=0))

    assert sin_theta(theirs.components_.T, ours.components_.T) <= 1e-7
    assert np.allclose(ours.explained_variance_, theirs.explained_variance_)


@pytest.mark.parametrize(
    "weights",
    [-np.ones(178), np.zeros(178), np.ones(177), np.full(178, 1 / 178), np.full(178, np.nan)],
    ids=["negative", "zero", "few", "shares", "nan"],
)
def test_weights_that_are_none(weights):
    with pytest.raises(ValueError):
        hearsay.PCA(2).fit(WINE, sample_weight=weights)


# ---- Missing values


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("standardize", [False, True])
def test_the_mean_is_an_imputer_before_pca(make, standardize):
    X = with_holes(WINE, 0.2)
    filled = SimpleImputer().fit_transform(X)

    ours = hearsay.PCA(3, missing="mean", standardize=standardize).fit(make(X))
    theirs = hearsay.PCA(3, standardize=standardize).fit(filled)

    assert sin_theta(theirs.components_.T, ours.components_.T) <= 1e-7
    assert np.allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-9)
    assert np.allclose(ours.transform(make(X)), theirs.transform(filled), atol=1e-6)
    assert ours.missing_["entries"] == np.isnan(X).sum()


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_rows_are_dropped(make):
    X = with_holes(WINE, 0.03)
    whole = X[~np.isnan(X).any(axis=1)]

    ours = hearsay.PCA(3, missing="drop-rows").fit(make(X))
    theirs = hearsay.PCA(3).fit(whole)
    scores = ours.transform(make(X))

    assert sin_theta(theirs.components_.T, ours.components_.T) <= 1e-7
    assert ours.n_samples_ == len(whole) and ours.missing_["dropped_rows"] == len(X) - len(whole)
    assert (np.isnan(scores).all(axis=1) == np.isnan(X).any(axis=1)).all()
    assert np.allclose(scores[~np.isnan(X).any(axis=1)], theirs.transform(whole), atol=1e-6)


@pytest.mark.parametrize("share", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_em_finds_a_planted_subspace(share, dtype):
    X, basis = low_rank()
    holes = with_holes(X, share).astype(dtype)

    em = hearsay.PCA(3, missing="em").fit(holes)
    mean = hearsay.PCA(3, missing="mean").fit(holes)

    by_em, by_mean = (sin_theta(basis, pca.components_.T.astype(float)) for pca in (em, mean))
    assert em.converged_ and em.missing_["settled"] and em.missing_["rounds"] > 0
    assert by_em <= 1e-2 and by_em <= by_mean / 5
    assert np.abs(em.inverse_transform(em.transform(holes)) - X)[np.isnan(holes)].max() <= 0.1


def test_em_under_noise_is_better_than_the_mean():
    X, basis = low_rank(noise=0.5)
    holes = with_holes(X, 0.3)
    by_em, by_mean = (
        sin_theta(basis, hearsay.PCA(3, missing=policy).fit(holes).components_.T) for policy in ("em", "mean")
    )

    assert by_em <= 0.6 * by_mean


def test_em_stops_when_it_is_told():
    calls = []
    holes = with_holes(low_rank()[0], 0.2)
    with pytest.warns(hearsay.ConvergenceWarning):
        pca = hearsay.PCA(3, missing="em", callback=lambda now: calls.append(now.t) or len(calls) < 3).fit(holes)

    assert pca.status_ == "stopped_by_observer" and not pca.missing_["settled"]


def test_missing_values_are_refused_by_default():
    with pytest.raises(ValueError, match="NaN"):
        hearsay.PCA(2).fit(with_holes(WINE, 0.1))
    with pytest.raises(ValueError, match="NaN"):
        hearsay.PCA(2).fit(WINE).transform(with_holes(WINE, 0.1))


@pytest.mark.parametrize("policy", ["mean", "em", "drop-rows"])
def test_what_is_missing_altogether(policy):
    X = WINE.copy()
    X[:, 5] = np.nan
    with pytest.raises(ValueError, match="missing"):
        hearsay.PCA(2, missing=policy).fit(X)
    X[:, 5] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        hearsay.PCA(2, missing=policy).fit(X)


REFUSED = [
    (dict(n_components=2, missing="median"), "missing"),
    (dict(n_components=0.9, missing="em"), "n_components"),
    (dict(n_components="mle", missing="em"), "n_components"),
    (dict(n_components="mel"), "n_components"),
    (dict(n_components="mle", batch=50), "n_components"),
    (dict(n_components=2, missing="em", batch=50), "em"),
    (dict(n_components=2, missing="em", noise="gaussian:0.1"), "em"),
]


@pytest.mark.parametrize("keywords, word", REFUSED)
def test_what_does_not_go_together(keywords, word):
    with pytest.raises(hearsay.InvalidArgument, match=word):
        hearsay.PCA(**keywords).fit(with_holes(WINE, 0.05) if "missing" in keywords else WINE)


def test_sparse_data_take_no_em():
    with pytest.raises(hearsay.InvalidArgument, match="stored in full"):
        hearsay.PCA(2, missing="em").fit(sp.csr_array(with_holes(WINE, 0.1)))


def test_a_stream_is_standardized():
    stream = hearsay.PCA(3, standardize=True)
    for rows in np.array_split(WINE, 5):
        stream.partial_fit(rows)
    whole = hearsay.PCA(3, standardize=True).fit(WINE)

    assert sin_theta(whole.components_.T, stream.components_.T) <= 1e-7
    assert np.allclose(stream.scale_, whole.scale_) and np.allclose(
        stream.explained_variance_, whole.explained_variance_
    )
    assert np.allclose(np.abs(stream.transform(WINE)), np.abs(whole.transform(WINE)), atol=1e-6)


def test_a_stream_leaves_rows_out_and_fills_none_in():
    X = with_holes(WINE, 0.03)
    stream = hearsay.PCA(3, missing="drop-rows").partial_fit(X[:100]).partial_fit(X[100:])

    assert sin_theta(hearsay.PCA(3, missing="drop-rows").fit(X).components_.T, stream.components_.T) <= 1e-7
    for policy in ("mean", "em"):
        with pytest.raises(hearsay.InvalidArgument, match="partial_fit"):
            hearsay.PCA(2, missing=policy).partial_fit(X)
    with pytest.raises(hearsay.InvalidArgument, match="batches"):
        hearsay.PCA(2, standardize=True, batch=20).partial_fit(WINE)


# ---- Ranks by a rule


SETS = {
    "iris": load_iris().data,
    "wine": WINE,
    "diabetes": load_diabetes().data,
    "cancer": load_breast_cancer().data,
    "digits": load_digits().data[:, load_digits().data.std(axis=0) > 0],
    "low rank": make_low_rank_matrix(500, 25, effective_rank=5, random_state=0) * 100,
    "noise": np.random.default_rng(3).standard_normal((300, 12)),
    "planted": low_rank(noise=0.4)[0],
}


@pytest.mark.parametrize("name", SETS)
def test_minkas_criterion_is_scikit_learns(name):
    ours = hearsay.PCA("mle").fit(SETS[name])
    theirs = decomposition.PCA("mle", svd_solver="full").fit(SETS[name])

    assert ours.n_components_ == theirs.n_components_
    assert ours.components_.shape == theirs.components_.shape


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("share", [0.3, 0.8, 0.95, 0.999])
def test_a_share_is_scikit_learns(name, share):
    ours = hearsay.PCA(share).fit(SETS[name])
    theirs = decomposition.PCA(share, svd_solver="full").fit(SETS[name])

    assert ours.n_components_ == theirs.n_components_
    assert ours.explained_variance_ratio_.sum() > share


def test_too_few_samples_for_minka():
    with pytest.raises(hearsay.InvalidArgument, match="as many samples as features"):
        hearsay.PCA("mle").fit(np.random.default_rng(0).standard_normal((8, 12)))
