"""The error bar of noisy products: typed, in words, drawn, and held against the truth."""

import matplotlib
import numpy as np
import pytest
from conftest import decaying_samples, planted, sin_theta

import hearsay
from hearsay import _core

matplotlib.use("Agg")

import matplotlib.pyplot as plt

pytestmark = pytest.mark.filterwarnings("ignore::hearsay.ConvergenceWarning")

SPECTRUM = np.r_[3.0, 2.5, 2.0, np.linspace(1.5, 0.1, 77)]


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def solve(noise="gaussian:1e-4", **options):
    A, vectors = planted(SPECTRUM)
    return hearsay.eigsh(A, 3, psd=True, noise=noise, **options), vectors[:, :3]


def test_a_budget_of_products_is_spent_and_the_bar_is_true():
    (values, basis, info), truth = solve(products=1200)

    bar = info.error_bar
    assert info.method == "averaged" and info.status == "noise_floor" and 1200 - 8 < info.products <= 1200
    assert isinstance(bar, hearsay.ErrorBar) and bar.kind == "calibrated" and bar.exists
    assert 1 / _core.bar_factor <= bar.sin_theta / sin_theta(truth, basis) <= _core.bar_factor
    assert info.sin_theta_estimate == bar.sin_theta
    assert bar.vectors.shape == bar.eigenvalues.shape == (3,) and bar.resolved == 3
    # five standard errors: three normal numbers stay within them but once in 600,000 times
    assert (np.abs(values - SPECTRUM[:3]) <= 5 * bar.eigenvalues).all()


def test_it_is_said_in_words():
    info = solve(products=1200)[0].info

    words = f"within a factor 3 with {_core.bar_confidence:g}% confidence"
    assert str(info.error_bar).endswith(words)
    assert words in info.why() and "residual" not in info.why()
    assert f"averages     of {info.error_bar.steps} products with 4 columns; 3 of 3 eigenvectors are resolved" in str(
        info
    )


def test_there_is_none_where_nothing_is_averaged():
    A, _ = planted(SPECTRUM)

    assert hearsay.eigsh(A, 3).info.error_bar is None
    assert solve(method="anpm")[0].info.error_bar is None


def test_the_kind_says_what_it_rests_on():
    biased = solve("adversarial:1e-3")[0].info.error_bar
    (_, basis, info), truth = solve("adversarial:1e-3", noise_norm=1e-3)
    useless = solve(noise_norm=0.4)[0].info.error_bar

    assert biased.kind == "indicative" and str(biased).endswith("indicative: the errors are not independent")
    assert info.error_bar.kind == "bound" and sin_theta(truth, basis) <= info.error_bar.sin_theta
    assert str(info.error_bar).startswith("at most") and str(info.error_bar).endswith("by the noise norm given")
    assert str(useless) == "unknown: the noise norm given is no less than half the gap"


@pytest.mark.filterwarnings("error::hearsay.ConvergenceWarning")
def test_an_accuracy_is_met_by_the_bar():
    info = solve(accuracy=2e-4)[0].info

    assert info.converged and info.error_bar.sin_theta <= 2e-4
    assert "which meets the accuracy 0.0002: sin(theta) is " in info.why()


def test_an_accuracy_out_of_reach_has_its_products():
    info = solve(accuracy=1e-7)[0].info

    assert info.status == "noise_floor" and info.error_bar.products_needed > info.products
    assert "does not meet the accuracy 1e-07" in info.why()


def test_estimators_have_it():
    pca = hearsay.PCA(2, noise="gaussian:1e-4", products=600).fit(decaying_samples(300, 20))
    graph = np.kron(np.eye(3), np.ones((8, 8)) - np.eye(8)) + 0.01 * (np.ones((24, 24)) - np.eye(24))
    clusters = hearsay.SpectralClustering(3, noise="gaussian:1e-4", products=600).fit(graph)

    for estimator in (pca, clusters):
        assert estimator.sin_theta_ == estimator.error_bar_.sin_theta and estimator.info_.products <= 600
    assert hearsay.PCA(2).fit(decaying_samples(300, 20)).error_bar_ is None


def test_the_method_can_be_named():
    by_itself, named = solve()[0].info, solve(method="averaged")[0].info

    assert by_itself.method == named.method == "averaged"
    assert by_itself.error_bar.sin_theta == named.error_bar.sin_theta


def test_convergence_shows_the_band_and_the_spectrum_its_bars():
    result, _ = solve(products=1200)
    bar = result.info.error_bar

    axes = result.plot()
    (band,) = axes.collections
    heights = band.get_paths()[0].vertices[:, 1]

    assert r"$\sin\theta_k$, error bar" in [text.get_text() for text in axes.get_legend().get_texts()]
    assert heights.min() == pytest.approx(bar.sin_theta / 3) and heights.max() == pytest.approx(bar.sin_theta * 3)
    spectrum = hearsay.plots.spectrum(result)
    (drawn,) = [container for container in spectrum.containers if container.has_yerr]
    assert len(drawn.lines[0].get_ydata()) == 3


def test_a_bound_has_a_line_and_no_band():
    axes = solve("adversarial:1e-3", noise_norm=1e-3)[0].plot()

    assert not axes.collections
    assert r"$\sin\theta_k$, at most" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_a_plan_counts_the_products_that_averages_need():
    plan = hearsay.plan(dimension=1000, rank=10, lambda_k=1, lambda_next=0.99, epsilon=1e-4, noise_sigma=1e-5)

    assert plan.products == (10000, "prediction")
    assert "10000 columns" in str(plan)
    assert hearsay.plan(dimension=1000, rank=10, lambda_k=1, lambda_next=0.99).products is None
    assert hearsay.theory.products_at_statistical_limit(1e-5, 10, 1.0, 0.99, 1e-4) == pytest.approx(10000)


def rounded_to_bits(block, bits):
    step = np.abs(block).max() / 2 ** (bits - 1)
    return np.round(block / step) * step


def test_errors_that_are_the_same_every_time_average_out_when_the_block_is_turned():
    A, vectors = planted(SPECTRUM)
    truth = vectors[:, :3]

    def product(X):
        return rounded_to_bits(A @ rounded_to_bits(X, 8), 8)

    as_it_is = hearsay.eigsh(product, 3, n=80, psd=True, noisy=True, products=4000)
    turned = hearsay.eigsh(product, 3, n=80, psd=True, noisy="approximate", products=4000)
    by_hand = hearsay.eigsh(product, 3, n=80, psd=True, noisy=True, turn="rotations", products=4000)

    assert any("random rotations" in note for note in turned.info.notes)
    assert not any("random" in note for note in as_it_is.info.notes)
    assert sin_theta(truth, turned.vectors) < sin_theta(truth, as_it_is.vectors) / 2
    assert turned.info.error_bar.kind == "calibrated"
    assert 1 / 3 <= turned.info.error_bar.sin_theta / sin_theta(truth, turned.vectors) <= 3
    assert np.array_equal(turned.vectors, by_hand.vectors)


def test_words_for_noisy_and_turn_are_checked():
    A, _ = planted(SPECTRUM)

    with pytest.raises(hearsay.InvalidArgument, match=r'noisy = \'rough\': must be True, False, None or "approximate"'):
        hearsay.eigsh(A, 3, noisy="rough")
    with pytest.raises(hearsay.InvalidArgument, match="turn = sideways: must be one of"):
        hearsay.eigsh(A, 3, turn="sideways")
