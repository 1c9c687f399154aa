"""eigsh finds either end of a spectrum, or both, of matrices with eigenvalues of any sign."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import planted, sin_theta
from scipy.sparse.linalg import aslinearoperator

import hearsay

VALUES = np.concatenate([[9.0, 7.0, 5.0], np.linspace(2, -2, 54), [-4.0, -6.0, -8.0]])
FORMS = {"array": lambda A: A, "csr": sp.csr_array, "operator": aslinearoperator}


def wanted(values, which, k):
    """Positions in descending values, in the order that is promised."""
    if which == "LA":
        return list(range(k))
    if which == "SA":
        return list(range(len(values) - 1, len(values) - 1 - k, -1))
    if which == "LM":
        return list(np.argsort(-abs(values), kind="stable")[:k])
    return list(range((k + 1) // 2)) + list(range(len(values) - k // 2, len(values)))


@pytest.fixture(scope="module")
def problem():
    return planted(VALUES, seed=21)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("k", [1, 3, 4])
@pytest.mark.parametrize("which", ["LA", "SA", "LM", "BE"])
def test_every_end_is_found_in_the_order_promised(problem, which, k, form, kind):
    A, vectors = problem
    at = wanted(VALUES, which, k)

    found = hearsay.eigsh(FORMS[form](A.astype(kind)), k, which=which)

    assert found.info.converged and found.info.which == which, str(found.info)
    assert np.allclose(found.values, VALUES[at], rtol=1e-9 if kind == np.float64 else 1e-4)
    assert sin_theta(vectors[:, at], found.vectors) <= (1e-7 if kind == np.float64 else 1e-3)


@pytest.mark.parametrize("which", ["LA", "SA"])
def test_the_power_iteration_finds_its_own_shift_and_says_so(problem, which):
    A, _ = problem

    found = hearsay.eigsh(A, 3, which=which, method="anpm")

    assert found.info.converged and found.info.method == "anpm"
    assert found.info.shift_found >= (8 if which == "LA" else 9)
    assert any("negative eigenvalue was met" in note for note in found.info.notes)
    assert np.allclose(found.values, VALUES[wanted(VALUES, which, 3)], rtol=1e-9)


@pytest.mark.parametrize(("which", "words"), [("LA", ["lie above"]), ("SA", ["lie below"]), ("BE", ["above", "below"])])
def test_the_certificate_speaks_of_the_ends_that_were_asked_for(problem, which, words):
    certificate = hearsay.eigsh(problem[0], 4, which=which).info.certificate

    assert certificate.nothing_missed == "bound" and certificate.sin_theta == "bound"
    assert all(word in certificate.missed() for word in words)
    assert (VALUES > certificate.nothing_missed_above).sum() <= certificate.nothing_missed_count
    assert (VALUES < certificate.nothing_missed_below).sum() <= certificate.nothing_missed_count_below


def test_a_tie_of_magnitudes_is_ambiguous_and_named():
    A, _ = planted(np.concatenate([[5.0, 3.0], np.linspace(1, -1, 40), [-3.0]]), seed=22)

    with pytest.warns(hearsay.ConvergenceWarning, match="eigenvalues 2 to 3 agree"):
        found = hearsay.eigsh(A, 2, which="LM")

    assert found.info.status == "ambiguous"
    assert found.info.certificate.cluster.first == 2 and found.info.certificate.cluster.last == 3
    assert hearsay.eigsh(A, 3, which="LM").info.converged


def test_a_laplacian_whose_least_eigenvalue_is_zero_converges():
    path = sp.diags_array([-np.ones(199), np.r_[1, 2 * np.ones(198), 1], -np.ones(199)], offsets=[-1, 0, 1])

    found = hearsay.eigsh(path.tocsr(), 1, which="SA")

    assert found.info.converged and abs(found.values[0]) <= 1e-9
    assert np.ptp(abs(found.vectors)) <= 1e-6


@pytest.mark.parametrize("which", ["LA", "SA"])
def test_noisy_products_of_an_indefinite_matrix_have_an_error_bar(problem, which):
    A, vectors = problem

    with pytest.warns(hearsay.ConvergenceWarning):
        found = hearsay.eigsh(A, 3, which=which, noise="gaussian:1e-3")

    assert found.info.status == "noise_floor" and found.info.error_bar is not None
    sine = sin_theta(vectors[:, wanted(VALUES, which, 3)], found.vectors)
    assert sine <= 10 * found.info.error_bar.sin_theta


def test_the_word_of_scipy_is_taken_where_it_means_something(problem):
    A, vectors = problem

    values = hearsay.eigsh(A, 3, which="SA", return_eigenvectors=False, ncv=20, tol=0, maxiter=500, mode="normal")

    assert isinstance(values, np.ndarray) and np.allclose(values, [-8, -6, -4])
    assert hearsay.eigsh(A, 3, v0=vectors[:, 0]).info.converged
    assert hearsay.eigsh(A, 1, which="LM", v0=np.zeros(60)).info.converged


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"sigma": 0.5}, "sigma: must be None: eigenvalues inside of the spectrum need a factor"),
        ({"M": np.eye(60)}, "M: must be None: generalised problems"),
        ({"Minv": np.eye(60)}, "Minv: must be None"),
        ({"OPinv": np.eye(60)}, "OPinv: must be None"),
        ({"mode": "cayley"}, "mode = cayley: must be normal"),
        ({"which": "SM"}, "which = SM: must be one of LA|SA|LM|BE"),
        ({"which": "LM", "method": "anpm"}, "which = LM: takes both ends from one Krylov space"),
        ({"which": "BE", "momentum": "none"}, "which = BE: takes both ends from one Krylov space"),
        ({"which": "LM", "noise": "gaussian:1e-3"}, "which = LM: needs exact products"),
        ({"which": "LM", "noisy": True}, "which = LM: needs exact products"),
        ({"which": "SA", "momentum": 0.1}, "which = SA: a momentum given as a number"),
        ({"which": "SA", "shift": 2.0}, "shift = 2: is for which LA"),
        ({"which": "LM", "k": 61}, "k = 61: must lie in [1, 60]"),
        ({"v0": np.ones(60), "start": np.ones((60, 1))}, "v0: is another word for start"),
        ({"v0": np.ones(60) * 1j}, "must be real"),
        ({"maxiter": 5, "max_iter": 5}, "maxiter: is another word for max_iter"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_sentence(problem, keywords, words):
    with pytest.raises(hearsay.InvalidArgument) as refusal:
        hearsay.eigsh(problem[0], **{"k": 2, **keywords})

    assert words in str(refusal.value) and "\n" not in str(refusal.value)


@pytest.mark.parametrize("form", [lambda A: A, sp.csr_array, aslinearoperator])
def test_complex_matrices_are_refused_however_they_are_given(form):
    with pytest.raises(hearsay.InvalidArgument, match="complex128: must be real"):
        hearsay.eigsh(form(np.eye(5) * (1 + 0j)), 2, which="LM")


def test_an_operator_that_is_not_symmetric_is_refused_for_both_ends():
    B = np.random.default_rng(5).standard_normal((60, 60))

    with pytest.raises(hearsay.DataError, match="X'AX is asymmetric by about"):
        hearsay.eigsh(lambda X: B @ X, 2, n=60, which="LM")
