"""svds: scipy's signature, numpy's order, and a word on every singular value."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from scipy.sparse.linalg import svds as scipy_svds

import hearsay

SHAPES = [(60, 25), (25, 60), (30, 30)]


def planted(shape, values, seed=0):
    generator = np.random.default_rng(seed)
    left, _ = np.linalg.qr(generator.standard_normal((shape[0], len(values))))
    right, _ = np.linalg.qr(generator.standard_normal((shape[1], len(values))))
    return left * np.asarray(values, dtype=float) @ right.T


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "form", [np.asarray, np.asfortranarray, sp.csr_matrix, sp.csc_array, sp.coo_array, aslinearoperator]
)
def test_singular_triples_of_every_shape_and_form(shape, form):
    A = planted(shape, 0.8 ** np.arange(20))
    result = hearsay.svds(form(A), 4)
    u, s, vt = result
    assert np.abs(s - 0.8 ** np.arange(4)).max() < 1e-13
    assert u.shape == (shape[0], 4) and vt.shape == (4, shape[1])
    for basis in (u, vt.T):
        assert np.abs(basis.T @ basis - np.eye(4)).max() < 1e-13
    assert np.linalg.norm(A @ vt.T - u * s) <= result.info.within
    assert np.linalg.norm(A.T @ u - vt.T * s) <= result.info.within
    assert (vt[range(4), np.abs(vt).argmax(axis=1)] > 0).all()
    info = result.info
    assert info.converged and info.by_rows == (shape[0] < shape[1])
    assert isinstance(info, hearsay.SvdInfo) and info.resolved == 4
    assert "singular values" in str(info) and "eigenvalue" not in str(info) + str(info.certificate) + info.why()


@pytest.mark.parametrize("k", [1, 5, 9])
def test_the_answer_is_scipys(k):
    A = sp.random_array((80, 50), density=0.2, rng=np.random.default_rng(3), format="csr")
    u, s, vt = hearsay.svds(A, k, ncv=None, tol=0, which="LM", v0=None, maxiter=None)
    u0, s0, vt0 = scipy_svds(A, k)
    order = np.argsort(-s0)
    assert np.allclose(s, s0[order], rtol=1e-13)
    assert np.allclose(u * s @ vt, u0 * s0 @ vt0, atol=1e-8)


def test_bounds_hold_on_random_matrices():
    checked = 0
    for seed in range(40):
        generator = np.random.default_rng(seed)
        shape = tuple(generator.integers(2, 40, 2))
        A = generator.standard_normal(shape) * generator.random(shape[1]) ** 6
        k = int(generator.integers(1, min(shape) + 1))
        with np.testing.suppress_warnings() as quiet:
            quiet.filter(hearsay.ConvergenceWarning)
            result = hearsay.svds(A, k)
        truth = np.linalg.svd(A, compute_uv=False)[:k]
        slack = 1e-14 * truth[0]
        assert (truth >= result.s - result.info.rounding - slack).all()
        if result.info.errors_are == "bound":
            assert (truth <= result.s + result.info.errors + slack).all()
            checked += 1
    assert checked > 20


def test_small_singular_values_are_right_to_rounding_of_the_largest():
    A = planted((80, 40), 10.0 ** -np.arange(13))
    for k in (5, 9, 12):
        with np.testing.suppress_warnings() as quiet:
            quiet.filter(hearsay.ConvergenceWarning)
            result = hearsay.svds(A, k)
        assert np.abs(result.s - 10.0 ** -np.arange(k)).max() < 2e-15
        assert result.info.rounding < 1e-12


def test_what_is_asked_of_the_vectors_is_what_comes():
    A = planted((30, 20), [3, 2, 1])
    assert np.allclose(hearsay.svds(A, 2, return_singular_vectors=False), [3, 2])
    left = hearsay.svds(A, 2, return_singular_vectors="u")
    assert left.vt is None and left.u.shape == (30, 2)
    right = hearsay.svds(A, 2, return_singular_vectors="vh")
    assert right.u is None and right.vt.shape == (2, 20)
    with pytest.raises(hearsay.InvalidArgument, match="return_singular_vectors"):
        hearsay.svds(A, 2, return_singular_vectors="both")


def test_what_is_scipys_alone_is_noted():
    A = planted((30, 20), [3, 2, 1])
    result = hearsay.svds(A, 2, ncv=10, solver="propack", options={"maxiter": 3})
    assert sum("scipy's" in note for note in result.info.notes) == 3
    with pytest.raises(hearsay.InvalidArgument, match="solver = 'mine'"):
        hearsay.svds(A, 2, solver="mine")


def test_the_smallest_are_refused_with_a_reason():
    with pytest.raises(hearsay.InvalidArgument, match="which = SM.*condition"):
        hearsay.svds(np.eye(5), 2, which="SM")
    with pytest.raises(hearsay.InvalidArgument, match="which"):
        hearsay.svds(np.eye(5), 2, which="LA")


@pytest.mark.parametrize("side", ["right", "left", "vector"])
def test_a_warm_start_saves_products(side):
    A = planted((60, 90), 0.95 ** np.arange(60))
    cold = hearsay.svds(A, 4, method="anpm", certify="none")
    v0 = {"right": cold.vt.T, "left": cold.u, "vector": cold.vt[0]}[side]
    warm = hearsay.svds(A, 4, v0=v0, method="anpm", certify="none")
    assert np.allclose(warm.s, cold.s, rtol=1e-12)
    if side != "vector":
        assert warm.info.products < cold.info.products
    with pytest.raises(hearsay.InvalidArgument, match="v0"):
        hearsay.svds(A, 4, v0=np.ones(7))


def test_seeds_of_either_name():
    A = planted((60, 40), 0.95 ** np.arange(40))
    first = hearsay.svds(A, 3, rng=5)
    assert np.array_equal(first.s, hearsay.svds(A, 3, random_state=5).s)
    assert np.allclose(first.s, hearsay.svds(A, 3, rng=np.random.default_rng(1)).s, rtol=1e-12)


def test_single_and_mixed_precision():
    A = planted((60, 40), 0.7 ** np.arange(40))
    single = hearsay.svds(A.astype(np.float32), 3)
    assert single.s.dtype == single.u.dtype == np.float32
    assert np.abs(single.s - 0.7 ** np.arange(3)).max() < 1e-5
    assert np.allclose(hearsay.svds(A, 3, precision="mixed").s, 0.7 ** np.arange(3), rtol=1e-12)


def test_rank_that_is_lacking_is_said():
    A = planted((30, 20), [3, 2, 1])
    with pytest.warns(hearsay.ConvergenceWarning, match="singular values"):
        result = hearsay.svds(A, 5)
    assert result.info.status == "ambiguous" and result.info.resolved == 3
    assert np.abs(result.u.T @ result.u - np.eye(5)).max() < 1e-12
    with pytest.warns(hearsay.ConvergenceWarning):
        assert np.array_equal(hearsay.svds(np.zeros((4, 3)), 2).s, [0, 0])


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_extreme_scales(scale):
    A = planted((40, 20), 0.8 ** np.arange(20))
    for form in (np.asarray, sp.csr_array):
        assert np.allclose(hearsay.svds(form(A * scale), 3).s / scale, 0.8 ** np.arange(3), rtol=1e-13)


@pytest.mark.parametrize(
    "matrix, k, error, words",
    [
        (np.eye(4) * 1j, 1, hearsay.InvalidArgument, "complex"),
        (sp.eye_array(4, dtype=complex), 1, hearsay.InvalidArgument, "complex"),
        (np.empty((0, 3)), 1, hearsay.InvalidArgument, "empty"),
        (np.ones(3), 1, hearsay.InvalidArgument, "two dimensions"),
        (np.ones((4, 3)), 4, hearsay.InvalidArgument, "k = 4.*lesser of rows and columns"),
        (np.ones((4, 3)), 0, hearsay.InvalidArgument, "k = 0"),
        (np.array([[1, 2], [np.nan, 4]]), 1, hearsay.DataError, "row 2, column 1"),
        (sp.csr_array(np.array([[1, 2], [np.inf, 4]])), 1, hearsay.DataError, "row 2, column 1"),
    ],
)
def test_bad_input_is_refused(matrix, k, error, words):
    with pytest.raises(error, match=words):
        hearsay.svds(matrix, k)


def test_an_operator_whose_transpose_is_another_is_refused():
    A = planted((30, 20), [3, 2, 1])
    wrong = LinearOperator(A.shape, matvec=lambda x: A @ x, rmatvec=lambda y: 2 * A.T @ y, dtype=float)
    with pytest.raises(hearsay.DataError, match="transpose"):
        hearsay.svds(wrong, 2)


def test_what_a_function_raises_comes_out():
    def fails(X):
        raise RuntimeError("my own")

    with pytest.raises(RuntimeError, match="my own"):
        hearsay.svds(LinearOperator((5, 4), matvec=fails, rmatvec=fails, dtype=float), 2)


def test_a_callback_stops_it_and_results_are_pickled():
    A = planted((200, 100), 0.99 ** np.arange(100))
    with pytest.warns(hearsay.ConvergenceWarning, match="callback"):
        stopped = hearsay.svds(A, 3, callback=lambda now: now.t < 1, method="anpm")
    assert stopped.info.status == "stopped_by_observer"
    result = hearsay.svds(A, 3)
    again = pickle.loads(pickle.dumps(result))
    assert np.array_equal(again.s, result.s) and again.info.status == "converged"
