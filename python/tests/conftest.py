"""Matrices whose answer is known, and how far apart two subspaces are."""

import numpy as np
import pytest
import scipy.sparse as sp


def planted(eigenvalues, seed=0):
    """A symmetric matrix with these eigenvalues, and its eigenvectors in the same order."""
    eigenvalues = np.asarray(eigenvalues, dtype=float)
    size = len(eigenvalues)
    vectors, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))
    matrix = vectors * eigenvalues @ vectors.T
    return (matrix + matrix.T) / 2, vectors


def sin_theta(basis, other):
    """The sine of the largest angle between two subspaces, accurate when it is small."""
    return np.linalg.norm(other - basis @ (basis.T @ other), 2)


def decaying_samples(rows, columns, seed=0, offset=0.0):
    """Samples whose variances fall by a quarter from one direction to the next."""
    generator = np.random.default_rng(seed)
    mix, _ = np.linalg.qr(generator.standard_normal((columns, columns)))
    return generator.standard_normal((rows, columns)) * 0.75 ** np.arange(columns) @ mix.T + offset


def sparse_samples(rows, columns, density=0.2, seed=0):
    """Sparse samples whose columns grow smaller, so that the leading components are well apart."""
    generator = np.random.default_rng(seed)
    X = sp.random_array((rows, columns), density=density, format="csr", rng=generator)
    return sp.csr_array(X.multiply(np.logspace(0, -1, columns)))


@pytest.fixture
def samples():
    return decaying_samples(300, 20, offset=3.0)


class SlowMatrix:
    """Eigenvalues so close that a plain power iteration takes as good as for ever."""

    size = 300
    options = {"momentum": "none", "tol": 1e-14, "max_iter": 10**8}

    def __init__(self):
        self.dense = np.diag(1 - 1e-9 * np.arange(self.size))


@pytest.fixture
def slow_matrix():
    return SlowMatrix()
