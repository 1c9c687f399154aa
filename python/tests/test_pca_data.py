"""What fit does with the memory it is given: it looks at it where it lies."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import decaying_samples

import hearsay
from hearsay._arrays import compressed_rows, rows_in_place


@pytest.mark.filterwarnings("ignore:.*cuts through them:hearsay.ConvergenceWarning")  # too few rows to define them
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32, np.uint8, bool])
def test_float32_stays_float32_and_all_else_is_double(kind):
    X = (100 * decaying_samples(100, 8, seed=1)).astype(kind)
    expected = np.float32 if kind == np.float32 else np.float64

    pca = hearsay.PCA(2).fit(X)

    for attribute in ("components_", "mean_", "explained_variance_", "singular_values_"):
        assert getattr(pca, attribute).dtype == expected, attribute
    assert pca.transform(X).dtype == expected
    assert pca.inverse_transform(pca.transform(X)).dtype == expected


def test_float32_is_as_accurate_as_its_tolerance():
    X = decaying_samples(300, 12, seed=2)

    single, double = hearsay.PCA(3).fit(X.astype(np.float32)), hearsay.PCA(3).fit(X)

    assert single.converged_ and single.info_.tolerance == pytest.approx(1e-5)
    assert np.abs(single.components_ - double.components_).max() <= 1e-3
    assert np.allclose(single.explained_variance_, double.explained_variance_, rtol=1e-4)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_precision_asked_for_wins_over_that_of_the_data(precision):
    X = decaying_samples(60, 6)

    pca = hearsay.PCA(2, precision=precision).fit(X.astype(np.float32 if precision == "double" else np.float64))

    assert pca.components_.dtype == (np.float32 if precision == "single" else np.float64)


def test_rows_that_lie_side_by_side_are_not_copied():
    X = decaying_samples(50, 12)
    for view in (X, X[::3], X[10:20], X[:, 2:7], X[5:6], X[:, :1]):
        assert np.shares_memory(rows_in_place(view, view.dtype), X)
    for view in (X[:, ::2], X[::-1], np.asfortranarray(X)):
        in_place = rows_in_place(view, view.dtype)
        assert not np.shares_memory(in_place, view) and np.array_equal(in_place, view)


@pytest.mark.parametrize(
    "slice_of", [lambda X: X[::3], lambda X: X[:, 2:9], lambda X: X[::-1], np.asfortranarray, lambda X: X[:, ::2]]
)
def test_any_layout_gives_the_same_components(slice_of):
    X = slice_of(decaying_samples(150, 12, seed=3))

    assert np.array_equal(hearsay.PCA(2).fit(X).components_, hearsay.PCA(2).fit(np.ascontiguousarray(X)).components_)


def test_compressed_rows_are_not_copied():
    X = sp.random_array((80, 30), density=0.2, format="csr", rng=np.random.default_rng(0))
    X.indices = X.indices.astype(np.int32)

    _, columns, values, _ = compressed_rows(X, X.dtype)

    assert np.shares_memory(columns, X.indices) and np.shares_memory(values, X.data)


def test_sparse_data_in_any_order_with_repetitions_are_summed():
    rows, columns = np.array([0, 0, 0, 1, 1, 2, 3]), np.array([2, 0, 2, 1, 0, 2, 1])
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    X = sp.csr_array((values, columns, np.array([0, 3, 5, 6, 7])), shape=(4, 3))
    untouched = X.indices.copy()
    full = np.zeros((4, 3))
    np.add.at(full, (rows, columns), values)

    pca = hearsay.PCA(2).fit(X)

    assert np.allclose(pca.components_, hearsay.PCA(2).fit(full).components_, atol=1e-8)
    assert np.array_equal(X.indices, untouched)


def test_data_are_left_as_they_were():
    X = decaying_samples(60, 7, offset=5.0)
    before = X.copy()
    X.flags.writeable = False

    hearsay.PCA(2).fit(X).transform(X)

    assert np.array_equal(X, before)


@pytest.mark.parametrize("scale", [1e300, 1e150, 1e-150, 1e-300])
def test_the_scale_of_the_data_changes_nothing_but_the_scale(scale):
    X = decaying_samples(60, 6, seed=5)
    expected = hearsay.PCA(2).fit(X)

    pca = hearsay.PCA(2).fit(scale * X)

    assert pca.converged_
    assert np.allclose(pca.components_, expected.components_, atol=1e-7)
    assert np.allclose(pca.explained_variance_ratio_, expected.explained_variance_ratio_)
    assert np.allclose(pca.singular_values_ / scale, expected.singular_values_)


@pytest.mark.filterwarnings("ignore:.*cuts through them:hearsay.ConvergenceWarning")  # too few rows to define them
@pytest.mark.parametrize("X", [np.zeros((10, 4)), np.full((10, 4), 7.0), sp.csr_array((10, 4))])
def test_data_without_variance_have_none(X):
    pca = hearsay.PCA(2).fit(X)

    assert pca.status_ == ("converged" if X.shape[1] == 2 else "ambiguous")  # all there is, or one of many
    assert np.array_equal(pca.explained_variance_, [0, 0]) and np.array_equal(pca.explained_variance_ratio_, [0, 0])
    assert np.allclose(pca.components_ @ pca.components_.T, np.eye(2))


@pytest.mark.filterwarnings("ignore:.*cuts through them:hearsay.ConvergenceWarning")  # too few rows to define them
def test_all_components_of_few_samples_span_them():
    X = decaying_samples(5, 30, seed=6)

    pca = hearsay.PCA().fit(X)

    assert pca.n_components_ == 5 and pca.noise_variance_ == 0
    assert np.allclose(pca.inverse_transform(pca.transform(X)), X)


def rise_in_peak_memory(prepare, act):
    """Bytes by which the peak of a process of its own rises during `act`, after `prepare` and a small rehearsal."""
    script = textwrap.dedent(
        """
        import resource
        import numpy as np
        import scipy.sparse as sp
        import hearsay

        def peak():
            return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        def rehearse(X):
            hearsay.PCA(4).fit(X).transform(X)

        small = np.random.default_rng(0).random((500, 40))
        for rehearsal in (small, small.astype(np.float32), sp.csr_array(small)):
            rehearse(rehearsal)
        {prepare}
        before = peak()
        {act}
        print(peak() - before)
        """
    ).format(prepare=prepare, act=act)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    return int(run.stdout)


MEGABYTE = 2**20


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_fit_and_transform_need_no_second_copy_of_dense_data(kind):
    rows = 160_000 if kind == "float64" else 320_000  # 120 MB either way

    rise = rise_in_peak_memory(
        f"X = np.random.default_rng(1).random(({rows}, 100), dtype='{kind}')[:, 1:99]",
        "hearsay.PCA(4, tol=0.9).fit(X).transform(X[:1000])",
    )

    assert rise <= 24 * MEGABYTE


def test_fit_needs_no_second_copy_of_sparse_data():
    rise = rise_in_peak_memory(  # 120 MB
        "values, columns = np.random.default_rng(1).random(10**7), np.tile(np.arange(0, 2000, 4, dtype='i4'), 20000);"
        "X = sp.csr_array((values, columns, np.arange(0, 10**7 + 1, 500, dtype='int32')), shape=(20000, 2000));"
        "X.has_canonical_format",
        "hearsay.PCA(4, tol=0.9).fit(X)",
    )

    assert rise <= 24 * MEGABYTE


def test_a_copy_would_have_been_seen():
    rise = rise_in_peak_memory(
        "X = np.random.default_rng(1).random((100, 160_000)).T", "hearsay.PCA(4, tol=0.9).fit(X)"
    )

    assert rise >= 100 * MEGABYTE
