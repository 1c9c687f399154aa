"""scipy's own tests of its eigsh, as they are installed, run through ours: those of real symmetric matrices.

What is not ours to solve (generalised problems, shift-invert, eigenvalues near zero, complex matrices) is refused in
one sentence, and that is held too.
"""

import itertools
import warnings

import numpy as np
import pytest

import hearsay

theirs = pytest.importorskip(
    "scipy.sparse.linalg._eigen.arpack.tests.test_arpack", reason="scipy was installed without its tests"
)

MATTYPES = [theirs.csr_array, theirs.aslinearoperator, np.asarray]
MODES = [(None, "normal"), (0.5, "normal"), (0.5, "buckling"), (0.5, "cayley")]
REAL = theirs.SymmetricParams().real_test_cases
COMPLEX = theirs.SymmetricParams().complex_test_cases


def drop_in(A, k=6, M=None, **keywords):
    """hearsay.eigsh with scipy's positions, default and order. Their tolerance is 0: as far as the arithmetic goes."""
    keywords.setdefault("which", "LM")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hearsay.ConvergenceWarning)
        values, vectors, info = hearsay.eigsh(A, k, M=M, **keywords)
    assert info.status in ("converged", "rounding_floor"), str(info)
    order = np.argsort(values)
    return values[order], vectors[:, order]


def is_ours(D, which, sigma):
    return "bmat" not in D and sigma is None and which != "SM"


CASES = [
    (D, typ, which, mattype, sigma, mode)
    for D, typ, which, mattype, (sigma, mode) in itertools.product(
        REAL, "fd", ["LM", "SM", "LA", "SA", "BE"], MATTYPES, MODES
    )
]
OURS = [case for case in CASES if is_ours(case[0], case[2], case[4])]
NOT_OURS = [case for case in CASES if not is_ours(case[0], case[2], case[4])]


def named(case):
    D, typ, which, mattype, sigma, mode = case
    return f"{D.name}-{typ}-{which}-{mattype.__name__}-{sigma}-{mode}"


def test_there_are_cases_of_both_kinds():
    assert len(OURS) >= 24 and len(NOT_OURS) >= 24


@pytest.mark.parametrize("case", OURS, ids=named)
def test_symmetric_modes(case, monkeypatch):
    monkeypatch.setattr(theirs, "eigsh", drop_in)

    theirs.test_symmetric_modes(*case)


@pytest.mark.parametrize("case", NOT_OURS, ids=named)
def test_what_is_not_ours_is_refused_with_its_reason(case, monkeypatch):
    monkeypatch.setattr(theirs, "eigsh", drop_in)

    with pytest.raises(hearsay.InvalidArgument, match="^(M|sigma|which = SM|mode = ).*: "):
        theirs.test_symmetric_modes(*case)


@pytest.mark.parametrize("typ", "fd")
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_symmetric_starting_vector(k, typ, monkeypatch):
    monkeypatch.setattr(theirs, "eigsh", drop_in)

    for D in REAL:
        if "bmat" not in D:
            theirs.test_symmetric_starting_vector(k, D, typ)


def test_hermitian_matrices_are_refused_as_complex():
    for D in COMPLEX:
        for mattype in MATTYPES:
            with pytest.raises(hearsay.InvalidArgument, match="complex128: must be real|^M: must be None"):
                drop_in(mattype(D["mat"]), 2, mattype(D["bmat"]) if "bmat" in D else None)


def test_no_convergence_is_a_result_with_a_warning():
    # scipy raises here, with what it has; ours returns the best, and the certificate says how good it is
    m = theirs.generate_matrix(30, hermitian=True, pos_definite=True, rng=np.random.RandomState(1234))

    with pytest.warns(hearsay.ConvergenceWarning):
        values, vectors, info = hearsay.eigsh(m, 4, which="LM", v0=m[:, 0], maxiter=1, tol=1e-12, ncv=9)

    assert not info.converged and values.shape == (4,)
    assert any("ncv = 9: has no effect" in note for note in info.notes)
    assert np.linalg.norm(m @ vectors - vectors * values) <= 1.01 * (
        info.certificate.residual + info.certificate.rounding
    )


def test_reentering():
    def matvec(x):
        inner = theirs.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(50, 50))
        assert hearsay.eigsh(inner, 1, which="SA").values[0] < -3.9
        return np.arange(1.0, 51.0).reshape(x.shape) * x

    operator = theirs.LinearOperator(matvec=matvec, dtype=float, shape=(50, 50))

    assert hearsay.eigsh(operator, 1, tol=1e-3, certify="none").values[0] == pytest.approx(50, rel=1e-3)


def test_bad_shapes_and_keywords():
    with pytest.raises(ValueError, match="must be square"):
        hearsay.eigsh(theirs.csc_array(np.zeros((2, 3))))
    with pytest.raises(ValueError, match="which = XX: must be one of LA|SA|LM|BE"):
        hearsay.eigsh(theirs.csc_array(np.zeros((8, 8))), which="XX")


def test_k_as_large_as_the_matrix():
    A = theirs.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(4, 4))
    exact = np.linalg.eigvalsh(A.toarray())

    for which in ["LA", "SA", "LM", "BE"]:
        assert np.allclose(drop_in(A, 4, which=which)[0], exact, atol=1e-12)
        with pytest.raises(hearsay.InvalidArgument, match=r"k = 5: must lie in \[1, 4\]"):
            hearsay.eigsh(A, 5, which=which)
