"""Any object with shape and blocks() in place of an array."""

import os
import signal

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA as SklearnPCA

import hearsay
from hearsay import DataError, InvalidArgument

random = np.random.default_rng(7)
X = random.standard_normal((700, 15)) * 0.7 ** np.arange(15) + np.arange(15)


class Blocks:
    """The rows of an array in blocks of such heights, counted pass by pass."""

    def __init__(self, data, heights=(100, 1, 250, 349), change=lambda block: block):
        self.data, self.heights, self.change = data, heights, change
        self.shape = data.shape
        self.passes = 0

    def blocks(self):
        self.passes += 1
        first = 0
        for height in self.heights:
            yield self.change(self.data[first : first + height])
            first += height


def agree(one, other, tolerance=1e-8):
    residual = one.components_ - one.components_ @ other.components_.T @ other.components_
    assert np.linalg.norm(residual, 2) <= tolerance
    assert np.allclose(one.explained_variance_, other.explained_variance_, rtol=1e-9)
    assert np.allclose(one.mean_, other.mean_)


@pytest.mark.parametrize("change", [lambda b: b, lambda b: b.tolist(), sp.csr_array, np.asfortranarray])
def test_a_source_gives_what_the_array_gives(change):
    source = Blocks(X, change=change)
    pca = hearsay.PCA(3).fit(source)

    agree(pca, hearsay.PCA(3).fit(X))
    agree(pca, SklearnPCA(3).fit(X))
    assert pca.n_samples_ == 700 and pca.n_features_in_ == 15
    assert source.passes >= 1 and pca.certificate_.sin_theta == "bound"
    assert np.allclose(pca.transform(Blocks(X)), pca.transform(X))
    assert np.isclose(pca.explained_variance_ratio_.sum(), hearsay.PCA(3).fit(X).explained_variance_ratio_.sum())


def test_the_blocks_heights_change_no_bit():
    one, other = hearsay.PCA(3).fit(Blocks(X)), hearsay.PCA(3).fit(Blocks(X, heights=(699, 1)))
    assert np.array_equal(one.components_, other.components_)


def test_what_is_done_to_a_table_is_done_to_its_rows():
    weights = random.integers(0, 3, 700).astype(float)
    agree(hearsay.PCA(2, standardize=True).fit(Blocks(X)), hearsay.PCA(2, standardize=True).fit(X))
    agree(hearsay.PCA(2, center=False).fit(Blocks(X)), hearsay.PCA(2, center=False).fit(X))
    agree(hearsay.PCA(2).fit(Blocks(X), sample_weight=weights), hearsay.PCA(2).fit(X, sample_weight=weights))
    agree(hearsay.PCA(0.9).fit(Blocks(X)), hearsay.PCA(0.9).fit(X))
    holes = np.where(random.random(X.shape) < 0.01, np.nan, X)
    for missing in ("mean", "drop-rows"):
        agree(hearsay.PCA(2, missing=missing).fit(Blocks(holes)), hearsay.PCA(2, missing=missing).fit(holes))


def test_batches_come_with_a_bar():
    with pytest.warns(hearsay.ConvergenceWarning, match="within a factor 3"):
        pca = hearsay.PCA(2, batch=70).fit(Blocks(X))
    assert pca.error_bar_ is not None and pca.error_bar_.sin_theta < 1


def test_anything_that_can_be_sliced_is_a_source():
    rows = hearsay.rows_of(sp.csr_array(X), at_once=64)
    assert isinstance(rows, hearsay.RowSource) and rows.shape == (700, 15)
    agree(hearsay.PCA(3).fit(rows), hearsay.PCA(3).fit(X))
    with pytest.raises(InvalidArgument, match="data: must have a shape of two numbers"):
        hearsay.rows_of(np.arange(3))
    with pytest.raises(InvalidArgument, match="at_once = 0"):
        hearsay.rows_of(X, at_once=0)


def test_a_memory_map_is_not_copied(tmp_path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    agree(hearsay.PCA(3).fit(hearsay.rows_of(mapped)), hearsay.PCA(3).fit(X))


@pytest.mark.parametrize(
    "source, error, saying",
    [
        (Blocks(X, heights=(100, 100)), DataError, "handed over 200 rows in a pass, and its shape says 700"),
        (Blocks(np.vstack([X, X]), heights=(1400,)), None, None),
        (Blocks(X, change=lambda b: b[:, :14]), DataError, "the block after row 0 is of shape \\(100, 14\\)"),
        (Blocks(X, change=lambda b: b[0]), DataError, "is of shape \\(15,\\)"),
        (Blocks(np.where(np.arange(15) == 3, np.nan, X)), DataError, "source: row 1, column 4 is nan"),
        (
            Blocks(np.where(np.arange(10500).reshape(700, 15) == 1602, np.inf, X)),
            DataError,
            "row 107, column 13 is inf",
        ),
        (Blocks(X[:1]), InvalidArgument, "is of shape \\(1, 15\\)"),
    ],
)
def test_sources_that_lie_are_refused(source, error, saying):
    if error is None:
        source.shape = (700, 15)
        error, saying = DataError, "more than the 700 rows"
    with pytest.raises(error, match=saying):
        hearsay.PCA(2).fit(source)


def test_a_generator_that_can_be_read_once_is_refused_at_its_second_pass():
    source = Blocks(X)
    rows = source.blocks()
    source.blocks = lambda: rows
    with pytest.raises(DataError, match="blocks\\(\\) must begin anew at every call"):
        hearsay.PCA(3, method="anpm", standardize=True).fit(source)


def test_what_a_source_raises_comes_out_unchanged():
    class Broken(Blocks):
        def blocks(self):
            yield self.data[:10]
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        hearsay.PCA(2).fit(Broken(X))


def test_single_precision_is_refused_with_a_reason():
    with pytest.raises(InvalidArgument, match="double precision"):
        hearsay.PCA(2, precision="single").fit(Blocks(X))


def test_ctrl_c_ends_with_the_best_so_far():
    class Interrupted(Blocks):
        sent = False

        def blocks(self):
            for i, rows in enumerate(super().blocks()):
                if i == 2 and not self.sent:
                    self.sent = True
                    os.kill(os.getpid(), signal.SIGINT)
                yield rows

    source = Interrupted(X)
    with pytest.warns(hearsay.ConvergenceWarning):
        pca = hearsay.PCA(2, method="anpm").fit(source)
    assert source.sent and pca.status_ == "stopped_by_observer"
