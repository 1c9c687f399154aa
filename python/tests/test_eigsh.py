"""eigsh finds planted eigenvectors, however the matrix is given."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import planted, sin_theta
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import hearsay

EIGENVALUES = np.concatenate([[9.0, 7.0, 4.0], np.linspace(2, 0.1, 57)])


@pytest.fixture(scope="module")
def problem():
    return planted(EIGENVALUES, seed=11)


class OnlyMatmat(LinearOperator):
    """Counts, and refuses to multiply one vector at a time."""

    def __init__(self, matrix):
        super().__init__(matrix.dtype, matrix.shape)
        self.matrix, self.blocks = matrix, []

    def _matmat(self, X):
        self.blocks.append(X.shape)
        return self.matrix @ X

    def _matvec(self, x):
        raise AssertionError("one vector at a time")


FORMS = {
    "array": lambda A: A,
    "Fortran order": np.asfortranarray,
    "list": lambda A: A.tolist(),
    "csr": sp.csr_array,
    "csc": sp.csc_matrix,
    "coo": sp.coo_array,
    "LinearOperator": aslinearoperator,
    "matmat": OnlyMatmat,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_matrix_gives_its_eigenvectors(problem, form):
    A, expected = problem

    values, vectors, info = hearsay.eigsh(FORMS[form](A), 3)

    assert info.converged and info.residual <= 1e-10
    assert np.allclose(values, EIGENVALUES[:3], rtol=1e-9)
    assert sin_theta(expected[:, :3], vectors) <= 1e-8
    assert np.allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)


def test_a_function_is_given_blocks_and_asked_for_blocks(problem):
    A, expected = problem
    shapes = []

    def product(X):
        shapes.append(X.shape)
        return A @ X

    _, vectors, info = hearsay.eigsh(product, 3, n=60, oversampling=2)

    assert {(60, 5), (60, 3)} <= set(shapes) <= {(60, 5), (60, 3), (60, 8)}  # the last looks for what was missed
    assert sum(columns for _, columns in shapes) == info.products
    assert sin_theta(expected[:, :3], vectors) <= 1e-8


def test_a_block_that_is_kept_stays_as_it_was(problem):
    A, _ = problem
    kept = []

    hearsay.eigsh(lambda X: kept.append((X, X.copy())) or A @ X, 2, n=60)

    assert all(np.array_equal(block, copy) for block, copy in kept)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("form", [lambda A: A, sp.csr_array, aslinearoperator])
def test_the_number_type_is_that_of_the_matrix(problem, kind, form):
    A, _ = problem

    values, vectors, info = hearsay.eigsh(form(A.astype(kind)), 2)

    assert values.dtype == vectors.dtype == kind
    assert info.tolerance == pytest.approx(1e-5 if kind == np.float32 else 1e-10)


def test_the_top_of_an_indefinite_matrix_is_found_with_a_shift_or_without():
    A, expected = planted(np.linspace(3, -2, 30), seed=12)

    for keywords in [{}, {"shift": 2.5}, {"method": "anpm"}, {"method": "anpm", "shift": 2.5}]:
        values, vectors, _ = hearsay.eigsh(A, 2, **keywords)

        assert np.allclose(values, np.linspace(3, -2, 30)[:2], rtol=1e-8)
        assert sin_theta(expected[:, :2], vectors) <= 1e-7
    with pytest.raises(hearsay.DataError, match="negative eigenvalue"):
        hearsay.eigsh(A, 2, method="anpm", momentum=0.1)


def test_a_known_answer_is_compared_at_every_iteration(problem):
    A, expected = problem

    _, vectors, info = hearsay.eigsh(A, 3, reference=expected[:, :3], oversampling=1)

    sines = info.history["sin_theta"]
    assert len(sines) == info.iterations + 1 and sines[0] > 0.5
    assert sines[-1] == pytest.approx(sin_theta(expected[:, :3], vectors), abs=1e-8)


def test_a_warm_start_is_taken(problem):
    A, expected = problem

    assert hearsay.eigsh(A, 3, start=expected[:, :4]).info.iterations < hearsay.eigsh(A, 3).info.iterations


def test_the_same_seed_gives_the_same_bits_whatever_the_threads(problem):
    A, _ = problem
    threads = hearsay.threads()
    try:
        hearsay.set_threads(1)
        one = hearsay.eigsh(A, 3, random_state=5)
        hearsay.set_threads(3)
        three = hearsay.eigsh(A, 3, random_state=5)
    finally:
        hearsay.set_threads(threads)

    assert np.array_equal(one.vectors, three.vectors)
    assert not np.array_equal(
        one.info.history["residual"], hearsay.eigsh(A, 3, random_state=6).info.history["residual"]
    )


@pytest.mark.parametrize("state", [np.random.RandomState(3), np.random.default_rng(3), None, np.int64(3)])
def test_any_random_state_will_do(problem, state):
    assert hearsay.eigsh(problem[0], 3, random_state=state).info.converged


@pytest.mark.parametrize(
    ("matrix", "keywords", "error", "words"),
    [
        (np.ones((3, 4)), {}, hearsay.InvalidArgument, "(3, 4): must be square"),
        (np.zeros((0, 0)), {}, hearsay.InvalidArgument, "must be square and not empty"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), {}, hearsay.DataError, "not symmetric: (1, 2) is 2 but (2, 1) is 0"),
        (
            np.asfortranarray([[1.0, 2.0], [0.0, 1.0]]),
            {},
            hearsay.DataError,
            "not symmetric: (1, 2) is 2 but (2, 1) is 0",
        ),
        (sp.csr_array(np.array([[1.0, 2.0], [0.0, 1.0]])), {}, hearsay.DataError, "not symmetric"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), {}, hearsay.DataError, "matrix: (1, 2) is nan, not a finite number"),
        (np.eye(3) * 1j, {}, hearsay.InvalidArgument, "must be real"),
        (np.eye(3), {"k": 4}, hearsay.InvalidArgument, "k = 4: must lie in [1, 3]"),
        (np.eye(3), {"k": 0}, hearsay.InvalidArgument, "k = 0: must be a whole number of at least 1"),
        (np.eye(3), {"precision": "mixed"}, hearsay.InvalidArgument, "precision = mixed"),
        (lambda X: X, {}, hearsay.InvalidArgument, "n: must be given"),
        (lambda X: X[:2], {"n": 3}, hearsay.InvalidArgument, "must be (3, "),
        (lambda X: X * 1j, {"n": 3}, hearsay.InvalidArgument, "must be real"),
        (lambda X: X * np.nan, {"n": 3}, hearsay.DataError, "first product"),
        (np.eye(3), {"noise": lambda product, X: X[:1]}, hearsay.InvalidArgument, "noise of shape"),
        (np.eye(3), {"start": np.ones((4, 1))}, hearsay.InvalidArgument, "start block of 4 rows"),
        (np.eye(3), {"reference": np.ones((4, 1))}, hearsay.InvalidArgument, "reference: is 4 x 1"),
        (np.eye(3), {"callback": 3}, TypeError, "callback = 3"),
    ],
)
def test_what_cannot_be_solved_is_refused_in_words(matrix, keywords, error, words):
    with pytest.raises(error) as refusal:
        hearsay.eigsh(matrix, **{"k": 1, **keywords})

    assert words in str(refusal.value)


def test_a_product_that_fails_later_leaves_the_best_before_it(problem):
    A, _ = problem
    count = []

    def product(X):
        count.append(1)
        return A @ X * (np.nan if len(count) > 4 else 1.0)

    with pytest.warns(hearsay.ConvergenceWarning, match="not finite"):
        _, vectors, info = hearsay.eigsh(product, 2, n=60, oversampling=1)

    assert info.status == "breakdown" and np.allclose(vectors.T @ vectors, np.eye(2), atol=1e-12)


def test_an_info_tells_its_story(problem):
    result = hearsay.eigsh(problem[0], 3)

    assert str(result.info).startswith("converged after")
    assert "9, 7, 4" in str(result.info) and "passes" in str(result.info)
    assert (
        repr(result.info)
        == f"Info(status='converged', iterations={result.info.iterations}, residual={result.info.residual:.3g})"
    )
