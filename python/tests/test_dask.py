"""Dask arrays, on threads and on a cluster of two workers, beside NumPy and dask-ml."""

import numpy as np
import pytest
import scipy.sparse as sp

import hearsay

dask = pytest.importorskip("dask", reason="dask is not installed (./dev adapters installs it)")
da = pytest.importorskip("dask.array", reason="dask.array is not installed (./dev adapters installs it)")

import hearsay.dask as hd  # noqa: E402
from hearsay import DataError, InvalidArgument  # noqa: E402

random = np.random.default_rng(5)
X = random.standard_normal((900, 24)) * 0.8 ** np.arange(24) + np.linspace(-3, 3, 24)
CHUNKS = ((100, 7, 293, 400, 100), (24,))


def same_space(one, other, tolerance):
    return np.linalg.norm(one - one @ other.T @ other, 2) <= tolerance


def in_sparse_chunks(data, height):
    """As AnnData backed by Dask has them."""
    return da.from_array(data, chunks=(height, data.shape[1])).map_blocks(sp.csr_matrix)


@pytest.fixture(params=["formed", "products"])
def way(request, monkeypatch):
    if request.param == "products":
        monkeypatch.setattr(hd, "FORMED_BYTES_LIMIT", 0)
    return request.param


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed (./dev adapters installs it)")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


def test_the_components_are_those_of_the_array(way):
    mine = hd.PCA(4).fit(da.from_array(X, chunks=CHUNKS))
    local = hearsay.PCA(4).fit(X)

    assert same_space(mine.components_, local.components_, 1e-8)
    assert np.allclose(mine.explained_variance_, local.explained_variance_, rtol=1e-10)
    assert np.allclose(mine.explained_variance_ratio_, local.explained_variance_ratio_, rtol=1e-10)
    assert np.allclose(mine.mean_, X.mean(axis=0)) and mine.n_samples_ == 900
    assert mine.certificate_.sin_theta == "bound" and mine.converged_
    scores = mine.transform(da.from_array(X, chunks=CHUNKS))
    assert isinstance(scores, da.Array)
    assert np.allclose(scores.compute(), mine.transform(X))


def test_sparse_chunks_and_annotated_data(way):
    sparse = np.where(random.random(X.shape) < 0.2, X, 0)
    expected = hearsay.PCA(3).fit(sparse)

    class Annotated:  # what AnnData has of these
        X = in_sparse_chunks(sparse, 128)
        obs_names = None

    for data in (Annotated.X, Annotated()):
        mine = hd.PCA(3).fit(data)
        assert same_space(mine.components_, expected.components_, 1e-7)
        assert np.allclose(mine.explained_variance_, expected.explained_variance_, rtol=1e-9)
        assert np.isclose(mine.explained_variance_ratio_.sum(), expected.explained_variance_ratio_.sum())


def test_columns_in_chunks_of_their_own_are_put_together():
    mine = hd.PCA(2).fit(da.from_array(X, chunks=(200, 5)))
    assert same_space(mine.components_, hearsay.PCA(2).fit(X).components_, 1e-8)


def test_standardized_and_uncentred():
    for settings in ({"standardize": True}, {"center": False}):
        mine = hd.PCA(2, **settings).fit(da.from_array(X, chunks=CHUNKS))
        assert same_space(mine.components_, hearsay.PCA(2, **settings).fit(X).components_, 1e-8)


def test_schedulers_and_workers_change_no_bit(way, cluster):
    """Two workers, one of them gone, threads and none: the parts are added up in one order."""
    data = da.from_array(X, chunks=CHUNKS)
    made = [hd.PCA(4).fit(data).components_]  # on the cluster
    cluster.cluster.scale(1)
    made.append(hd.PCA(4).fit(data).components_)
    cluster.cluster.scale(2)
    for scheduler in ("synchronous", "threads"):
        with dask.config.set(scheduler=scheduler):
            made.append(hd.PCA(4).fit(data).components_)
    for other in made[1:]:
        assert np.array_equal(made[0], other)


def test_singular_values_are_numpys(cluster):
    u, s, vt, info = hd.svd(da.from_array(X, chunks=CHUNKS), 5)
    U, S, Vt = np.linalg.svd(X, full_matrices=False)

    assert np.allclose(s, S[:5], rtol=1e-12)
    assert same_space(vt, Vt[:5], info.certificate.sin_theta_bound + 1e-12)
    assert isinstance(u, da.Array)
    left = u.compute()
    assert np.allclose(left.T @ left, np.eye(5), atol=1e-10)
    assert np.allclose((left * s) @ vt, U[:, :5] * S[:5] @ Vt[:5], atol=1e-6)
    assert info.certificate.sin_theta == "bound"


def test_beside_dask_ml(cluster):
    decomposition = pytest.importorskip(
        "dask_ml.decomposition", reason="dask-ml is not installed, or not for this Dask"
    )
    data = da.from_array(X, chunks=(300, 24))
    theirs = decomposition.PCA(n_components=4, svd_solver="tsqr").fit(data)
    mine = hd.PCA(4).fit(data)

    assert same_space(mine.components_, theirs.components_, 1e-8)
    assert np.allclose(mine.explained_variance_, theirs.explained_variance_)


def test_what_is_no_data_is_refused():
    with pytest.raises(InvalidArgument, match="X: is ndarray, and must be a Dask array"):
        hd.PCA(2).fit(X)
    with pytest.raises(InvalidArgument, match="compute_chunk_sizes"):
        hd.PCA(2).fit(da.from_array(X, chunks=CHUNKS)[da.from_array(X[:, 0], chunks=(CHUNKS[0],)) > 0])
    with pytest.raises(InvalidArgument, match="batch = 10"):
        hd.PCA(2, batch=10).fit(da.from_array(X, chunks=CHUNKS))
    with pytest.raises(InvalidArgument, match="k = 25"):
        hd.svd(da.from_array(X, chunks=CHUNKS), 25)
    holes = X.copy()
    holes[450, 3] = np.nan
    with pytest.raises(DataError, match="X: row 451, column 4 is not finite"), dask.config.set(scheduler="synchronous"):
        hd.PCA(2).fit(da.from_array(holes, chunks=CHUNKS))
    twice = da.from_array(X[:, :1] * np.ones((1, 3)), chunks=(300, 3))
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.warns(hearsay.ConvergenceWarning, match="agree"),
        pytest.raises(DataError, match="below 1e-8"),
    ):
        hd.svd(twice, 2)
