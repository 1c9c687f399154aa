"""The recipes of docs/guide/sources.md, as they stand there, against the same numbers in an array."""

import os
import pathlib
import re

import numpy as np
import pytest

import hearsay

SOURCE = os.environ.get("HEARSAY_SOURCE")
PAGE = pathlib.Path(SOURCE or pathlib.Path(__file__).parents[2]) / "docs" / "guide" / "sources.md"
X = np.random.default_rng(11).standard_normal((600, 9)) * 0.6 ** np.arange(9) + 1


def recipes():
    """Heading and code of each block."""
    if not PAGE.exists():
        return []
    return re.findall(r"^## (.*?)\n.*?^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def write_memory_map(folder):
    np.save(folder / "x.npy", X)


def write_h5py(folder):
    import h5py

    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("x", data=X, chunks=(50, 9))


def write_zarr(folder):
    import zarr

    made = zarr.open(str(folder / "x.zarr"), mode="w", shape=X.shape, chunks=(70, 9), dtype="f8")
    made[:] = X


def write_parquet(folder):
    import pyarrow as pa
    import pyarrow.parquet

    (folder / "x.parquet").mkdir()
    for part, rows in enumerate((X[:250], X[250:])):
        table = pa.table({f"c{j}": rows[:, j] for j in range(rows.shape[1])})
        pyarrow.parquet.write_table(table, folder / "x.parquet" / f"part{part}.parquet", row_group_size=100)


def write_torch(folder):
    import torch

    torch.save(torch.from_numpy(X), folder / "x.pt")


def write_anndata(folder):
    import anndata
    import scipy.sparse as sp

    anndata.AnnData(X=sp.csr_matrix(X)).write_h5ad(folder / "x.h5ad")


NEEDS = {
    "numpy.memmap": (write_memory_map, []),
    "h5py": (write_h5py, ["h5py"]),
    "zarr": (write_zarr, ["zarr"]),
    "Parquet, and other data sets of pyarrow": (write_parquet, ["pyarrow"]),
    "torch.utils.data.DataLoader": (write_torch, ["torch"]),
    "AnnData that is backed by its file": (write_anndata, ["anndata"]),
    "Dask": (write_memory_map, ["dask.array"]),
}


def test_every_recipe_is_run():
    if not PAGE.exists():
        pytest.skip("the guide is not here: only the package is installed")
    assert [heading for heading, _ in recipes()] == list(NEEDS)


@pytest.mark.parametrize("heading, code", recipes(), ids=[heading.split(",")[0] for heading, _ in recipes()])
@pytest.mark.filterwarnings("default")  # what other packages warn of is theirs
def test_a_recipe_finds_what_the_array_has(heading, code, tmp_path, monkeypatch):
    write, packages = NEEDS[heading]
    for package in packages:
        pytest.importorskip(package, reason=f"{package} is not installed (./dev adapters installs it)")
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(code, str(PAGE), "exec"), names)

    mine, expected = names["pca"], hearsay.PCA(3).fit(X)
    V = expected.components_
    assert np.linalg.norm(mine.components_ - mine.components_ @ V.T @ V, 2) <= 1e-6
    assert np.allclose(mine.explained_variance_, expected.explained_variance_, rtol=1e-6)
    assert mine.n_samples_ == 600
