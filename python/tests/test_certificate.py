"""How right a result is: bound, estimate and unknown, kept apart."""

import dataclasses
import pickle

import networkx as nx
import numpy as np
import pytest
from conftest import planted

import hearsay
from hearsay._result import HISTORY

WORDS = {"unknown", "estimate", "bound"}


def certified(**changes):
    """A certificate made by hand, with all that one can say."""
    values = dict(
        level="full",
        residual=1e-10,
        rounding=1e-14,
        sin_theta="bound",
        sin_theta_bound=3.1e-9,
        sin_theta_estimate=8e-10,
        nothing_missed="bound",
        nothing_missed_above=0.1043,
        nothing_missed_count=10,
        nothing_missed_probability=1e-6,
        random_columns=4,
        probe_passes=3,
        probe_products=12,
        cluster=None,
        assumptions=("products are exact",),
    )
    return hearsay.Certificate(**{**values, **changes})


def info(status, certificate, residual=5e-11, accuracy=None):
    return hearsay.Info(
        status=status,
        interrupted=False,
        iterations=24,
        residual=residual,
        tolerance=1e-10,
        momentum=0.0,
        history=np.empty(0, dtype=HISTORY),
        notes=[],
        method="krylov",
        eigenvalues=np.linspace(2, 1, 10),
        noise_floor=np.nan,
        noise_level=0.0,
        gap=0.1,
        sin_theta_estimate=8e-10,
        certificate=certificate,
        edge=0.0,
        damping="centred",
        extraction="ritz",
        columns=20,
        cooldown_steps=0,
        products=100,
        passes=10,
        workspace_bytes=0,
        exponent=0,
        seconds=0.1,
        accuracy=accuracy,
    )


CLUSTER = hearsay.Cluster(first=4, last=13, open=False, spread=1e-3, sin_theta=2e-6, kind="bound")


def check(certificate):
    """What holds of any certificate, whatever it says."""
    assert isinstance(certificate, hearsay.Certificate)
    assert certificate.level in {"none", "residual", "full"}
    assert {certificate.sin_theta, certificate.nothing_missed} <= WORDS
    assert certificate.residual >= 0 and certificate.rounding >= 0
    if certificate.sin_theta == "bound":
        assert 0 <= certificate.sin_theta_bound <= 1
    if certificate.sin_theta == "estimate":
        assert 0 <= certificate.sin_theta_estimate <= 1
    if certificate.nothing_missed != "unknown":
        assert np.isfinite(certificate.nothing_missed_above) and certificate.nothing_missed_count >= 1
    assert all(isinstance(text, str) for text in certificate.assumptions)
    assert pickle.loads(pickle.dumps(certificate)).level == certificate.level
    with pytest.raises(dataclasses.FrozenInstanceError):
        certificate.level = "full"


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("method", ["anpm", "krylov"])
def test_every_solve_has_a_certificate(method, kind):
    A, _ = planted([5, 4, 3] + list(np.linspace(1, 0.1, 37)))

    solved = hearsay.eigsh(A.astype(kind), 3, psd=True, method=method).info

    check(solved.certificate)
    assert str(solved.certificate).startswith("sin(theta) is ") and "missed" in str(solved)


def test_every_estimator_has_one(samples):
    pca = hearsay.PCA(3).fit(samples)
    embedding = hearsay.SpectralEmbedding(2).fit(nx.karate_club_graph())
    clustering = hearsay.SpectralClustering(4).fit(nx.connected_caveman_graph(4, 8))

    for fitted in (pca, hearsay.PCA(3).partial_fit(samples), embedding, clustering):
        check(fitted.certificate_)
        assert fitted.certificate_ is fitted.info_.certificate


@pytest.mark.parametrize("certify", ["none", "residual"])
def test_less_is_certified_where_less_is_asked_for(certify, samples):
    levels = ["none", "residual", "full"]
    graph = nx.karate_club_graph()
    certificates = [
        hearsay.PCA(3, certify=certify).fit(samples).certificate_,
        hearsay.eigsh(np.cov(samples.T), 3, certify=certify).info.certificate,
        hearsay.SpectralEmbedding(2, certify=certify).fit(graph).certificate_,
        hearsay.SpectralClustering(2, certify=certify).fit(graph).certificate_,
    ]

    for certificate in certificates:
        assert levels.index(certificate.level) <= levels.index(certify)
        assert certificate.probe_products == 0


def test_a_level_that_is_none_is_refused_in_pythons_words(samples):
    with pytest.raises(hearsay.InvalidArgument, match=r"^certify = ful: must be one of none\|residual\|full"):
        hearsay.PCA(3, certify="ful").fit(samples)


def test_a_shift_moves_the_threshold_with_the_eigenvalues():
    A, _ = planted([5, 4, 3] + list(np.linspace(1, 0.1, 37)))

    plain = hearsay.eigsh(A, 3, psd=True, method="anpm").info.certificate
    moved = hearsay.eigsh(A - 2 * np.eye(40), 3, shift=2.0, psd=True, method="anpm").info.certificate

    assert plain.nothing_missed == moved.nothing_missed
    if plain.nothing_missed != "unknown":
        assert moved.nothing_missed_above == pytest.approx(plain.nothing_missed_above - 2, abs=1e-6)


def test_the_words_are_kept_apart():
    assert str(certified()).splitlines() == [
        "sin(theta) is at most 3.1e-09 (bound), about 8e-10 (estimate)",
        "at most 10 eigenvalues lie above 0.1043, except with probability 1e-06 (bound)",
    ]
    assert str(certified(sin_theta="estimate", nothing_missed="estimate")).splitlines() == [
        "sin(theta) is about 8e-10 (estimate)",
        "at most 10 eigenvalues lie above 0.1043 (estimate)",
    ]
    assert str(certified(sin_theta="unknown", nothing_missed="unknown")).splitlines() == [
        "sin(theta) is unknown",
        "whether an eigenvalue was missed is unknown",
    ]


def test_an_ambiguous_result_says_what_k_cuts_through():
    ambiguous = info("ambiguous", certified(sin_theta="unknown", cluster=CLUSTER))
    cut = dataclasses.replace(CLUSTER, open=True, sin_theta=np.nan)

    assert "eigenvalues 4 to 13 agree to 0.001, and k = 10 cuts through them" in ambiguous.why()
    assert "the space of the first 13 is certain to 2e-06 (bound)" in ambiguous.why()
    assert "eigenvalues 4 to 13 or more agree to 0.001" in str(certified(cluster=cut))
    lost = hearsay.Cluster(first=4, last=13, open=True, spread=np.nan, sin_theta=np.nan, kind="unknown")
    assert "eigenvalues 4 to 13 or more were not told apart" in str(certified(cluster=lost))
    assert "how right the space of the first 13 is, is unknown" in str(certified(cluster=cut))


def test_convergence_names_what_was_met():
    assert info("converged", certified()).why().endswith("which meets the tolerance 1e-10")
    assert "at most 3.1e-09 (bound)" in info("converged", certified(), accuracy=1e-8).why()
    assert info("converged", certified(), accuracy=1e-8).why().endswith("the accuracy 1e-08")


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ("noise_floor", "the errors of the products allow no better"),
        ("rounding_floor", "the arithmetic allows no better"),
        ("ambiguous", "cannot be told apart"),
        ("iteration_limit", "at the limit of its iterations"),
        ("breakdown", "a product was not finite"),
        ("communication_failed", "communication failed"),
        ("stopped_by_observer", "stopped by the callback"),
    ],
)
def test_every_end_has_its_sentence_and_its_warning(status, why):
    from hearsay._warnings import warn_unless_converged

    with pytest.warns(hearsay.ConvergenceWarning, match=why):
        warn_unless_converged(info(status, certified(), residual=1e-6))


def test_a_tolerance_that_was_met_is_not_blamed():
    short = info("rounding_floor", certified(), accuracy=1e-12)

    assert "meets the tolerance 1e-10, while sin(theta), at most 3.1e-09 (bound)" in short.why()
    assert "is not known to meet the accuracy 1e-12" in short.why()
