"""PrivatePCA keeps scikit-learn's contract, and the promise that the core makes."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import hearsay
from hearsay import privacy

SETUP = {"epsilon": 1.0, "delta": 1e-6, "row_norm": 6.0, "public_rows": 20000}


@parametrize_with_checks([hearsay.PrivatePCA(1, row_norm=10.0, epsilon=50.0, insecure_seed=0)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).standard_normal((20000, 8)) * [3, 2, 1, 0.5, 0.5, 0.5, 0.5, 0.5]


def clipped(X, bound):
    return X * np.minimum(1, bound / np.linalg.norm(X, axis=1))[:, None]


def test_components_are_those_of_the_clipped_rows_but_for_the_noise(rows):
    pca = hearsay.PrivatePCA(2, **SETUP).fit(rows)
    assert pca.private_ and pca.status_ == "converged"
    C = clipped(rows, 6.0).T @ clipped(rows, 6.0)
    vectors = np.linalg.eigh(C)[1][:, ::-1][:, :2]
    sine = np.linalg.norm(pca.components_.T - vectors @ (vectors.T @ pca.components_.T), 2)
    assert sine < 0.1 and pca.sin_theta_ < 0.1
    assert np.allclose(pca.explained_variance_, np.linalg.eigvalsh(C)[::-1][:2] / 20000, rtol=0.05)
    assert np.allclose(pca.covariance_release_, pca.covariance_release_.T, atol=0)
    assert np.abs(pca.covariance_release_ - C).max() < 6 * pca.sigma_
    assert math.isclose(pca.sigma_, 36 / pca.mu_, rel_tol=1e-3)
    assert math.isclose(pca.mu_, privacy.gaussian_mu(1.0, 1e-6))


def test_noise_differs_from_fit_to_fit_and_repeats_with_an_insecure_seed(rows):
    pca = hearsay.PrivatePCA(2, **SETUP)
    assert not np.array_equal(pca.fit(rows).covariance_release_, clone(pca).fit(rows).covariance_release_)
    seeded = hearsay.PrivatePCA(2, **SETUP, insecure_seed=3).fit(rows)
    assert not seeded.private_
    again = hearsay.PrivatePCA(2, **SETUP, insecure_seed=3).fit(sp.csr_array(rows))
    assert np.array_equal(seeded.covariance_release_, again.covariance_release_)


@pytest.mark.parametrize("center", ["dp-mean", np.full(8, 5.0)], ids=["dp-mean", "given"])
def test_a_mean_is_released_or_given(rows, center):
    X = rows + 5.0
    pca = hearsay.PrivatePCA(2, **(SETUP | {"row_norm": 20.0}), center=center).fit(X)
    assert np.allclose(pca.mean_, 5.0, atol=0.2)
    Z = pca.transform(X[:7])
    assert np.allclose(Z, (X[:7] - pca.mean_) @ pca.components_.T)
    assert pca.inverse_transform(Z).shape == (7, 8)
    assert list(pca.get_feature_names_out()) == ["privatepca0", "privatepca1"]
    assert make_pipeline(clone(pca)).fit(X).transform(X).shape == (20000, 2)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"row_norm": None}, "row_norm = None: must be a number"),
        ({"row_norm": 0.0}, "row-norm = 0"),
        ({"epsilon": 0.0}, "epsilon = 0"),
        ({"delta": 1.0}, "delta = 1"),
        ({"n_components": "mle"}, "n_components = 'mle'"),
        ({"n_components": 0.9}, "n_components = 0.9"),
        ({"n_components": 9}, "n_components = 9"),
        ({"center": "mean"}, "center = 'mean'"),
        ({"center": np.zeros(3)}, "has 3 numbers"),
        ({"center": "dp-mean", "public_rows": None}, "public"),
        ({"neighbours": "all"}, "neighbours = all"),
        ({"public_rows": 0}, "public_rows = 0"),
        ({"insecure_seed": -1}, "insecure_seed = -1"),
    ],
)
def test_what_cannot_be_promised_is_refused(rows, changed, words):
    with pytest.raises(hearsay.InvalidArgument, match=words):
        hearsay.PrivatePCA(**(SETUP | changed)).fit(rows[:100])


def test_messages_quote_no_data(rows):
    X = rows[:50].copy()
    X[13, 4] = np.inf
    with pytest.raises(ValueError) as refused:
        hearsay.PrivatePCA(2, **SETUP).fit(X)
    assert not any(digit in str(refused.value).replace("float64", "") for digit in "123456789")


def test_the_accountant_is_the_cores():
    mu = privacy.gaussian_mu(1.0, 1e-6)
    assert math.isclose(mu, 0.23670437838445021, rel_tol=1e-6)  # of dp-accounting 0.6.0
    assert math.isclose(privacy.gaussian_epsilon(mu, 1e-6), 1.0, rel_tol=1e-12)
    assert math.isclose(privacy.gaussian_delta(mu, 1.0), 1e-6, rel_tol=1e-12)


def test_what_will_be_found_is_known_before():
    spectrum = 1 / np.arange(1, 501)
    known = {"n_features": 500, "public_rows": 50000, "delta": 1e-6, "row_norm": 4.0}
    told = privacy.expected(10, spectrum, epsilon=1.0, sin_theta=0.1, **known)
    assert 0 < told.sin_theta < 1 and 0.9 < told.captured < 1
    assert told.epsilon_needed is not None
    better = privacy.expected(10, spectrum, epsilon=told.epsilon_needed, **known)
    assert math.isclose(better.sin_theta, 0.1, rel_tol=1e-3) and better.epsilon_needed is None


def test_a_fit_is_paid_for_before_a_row_is_read_and_then_refused(rows, tmp_path):
    path = tmp_path / "patients.ledger"
    pca = hearsay.PrivatePCA(2, **SETUP, ledger=path).fit(rows)
    ledger = hearsay.Ledger(path)
    assert ledger.data == "patients" and ledger.spent == ledger.epsilon == 1.0 and ledger.mu_left == 0.0
    assert [record["kind"] for record in ledger.records] == ["spend", "release"]
    assert pca.receipt_ == (pca.receipt_[0], 1, ledger.records[0]["sha256"])
    before = path.read_bytes()

    class Unread:
        shape = (20000, 8)

        def __array__(self, *_, **__):
            raise AssertionError("rows were read")

    with pytest.raises(hearsay.InvalidArgument, match="budget would be exceeded"):
        clone(pca).fit(Unread())
    assert path.read_bytes() == before


def test_a_ledger_serves_several_queries_and_those_of_others(rows, tmp_path):
    ledger = hearsay.Ledger(tmp_path / "l", data="patients", epsilon=2.0, delta=1e-6, site="Leeds")
    hearsay.PrivatePCA(1, **SETUP, ledger=ledger).fit(rows)
    receipt = ledger.spend(privacy.gaussian_mu(1.0, 1e-6), query="a histogram")
    ledger.released(receipt, "0" * 64)
    ledger.released(receipt, "0" * 64)  # sent again
    with pytest.raises(hearsay.InvalidArgument, match="drawn anew"):
        ledger.released(receipt, "1" * 64)
    assert 1.4 < ledger.spent < 1.5 and ledger.records[2]["query"] == "a histogram"
    with pytest.raises(hearsay.InvalidArgument, match="exceeded"):
        hearsay.PrivatePCA(1, **(SETUP | {"epsilon": 1.9}), ledger=ledger).fit(rows)
    with pytest.raises(hearsay.InvalidArgument, match="neighbours"):
        hearsay.PrivatePCA(1, **(SETUP | {"epsilon": 0.1}), neighbours="replace", ledger=ledger).fit(rows)
    for changed in {"epsilon": 3.0}, {"data": "others"}, {"site": "Oslo"}, {"neighbours": "replace"}:
        with pytest.raises(hearsay.InvalidArgument, match="stays that"):
            hearsay.Ledger(tmp_path / "l", **changed)
    assert hearsay.Ledger(tmp_path / "l").sha256 == ledger.sha256


def test_what_cannot_be_paid_for_spends_nothing(rows, tmp_path):
    path = tmp_path / "l"
    for changed, words in (
        ({"n_components": 9}, "n_components = 9"),
        ({"row_norm": 0.0}, "row-norm"),
        ({"insecure_seed": 1}, "there is none"),
        ({"release": "both"}, "release = both"),
        ({"center": np.zeros(3)}, "has 3 numbers"),
    ):
        with pytest.raises(hearsay.InvalidArgument, match=words):
            hearsay.PrivatePCA(**(SETUP | changed), ledger=path).fit(rows)
        assert not path.exists()
    with pytest.raises(hearsay.InvalidArgument, match="there is no such ledger"):
        hearsay.Ledger(path)
    path.write_text("no ledger\n")
    with pytest.raises(hearsay.DataError):
        hearsay.PrivatePCA(2, **SETUP, ledger=path).fit(rows)
    assert path.read_text() == "no ledger\n"


def test_a_crash_after_paying_has_paid(rows, tmp_path):
    X = rows[:50].copy()
    X[13, 4] = np.nan
    with pytest.raises(ValueError):
        hearsay.PrivatePCA(2, **SETUP, ledger=tmp_path / "l").fit(X)
    ledger = hearsay.Ledger(tmp_path / "l")
    assert ledger.spent == 1.0 and [record["kind"] for record in ledger.records] == ["spend"]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_lazy_release_finds_the_same(rows, kind):
    pca = hearsay.PrivatePCA(2, **SETUP, release="lazy").fit(kind(rows))
    C = clipped(rows, 6.0).T @ clipped(rows, 6.0)
    vectors = np.linalg.eigh(C)[1][:, ::-1][:, :2]
    assert np.linalg.norm(pca.components_.T - vectors @ (vectors.T @ pca.components_.T), 2) < 0.1
    Q = pca.release_directions_
    assert np.allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-12) and pca.covariance_release_.shape == Q.shape
    assert np.abs(pca.covariance_release_ - C @ Q).max() < 6 * pca.sigma_
    assert math.isnan(pca.explained_) and hearsay.PrivatePCA(2, **SETUP).fit(rows).release_directions_ is None
