"""Counts of genes in cells, logarithms taken, as an AnnData file (.h5ad), written with h5py alone.

    python3 cells.py cells.h5ad --cells 2000 --genes 500

Cells are of several kinds. Every gene has a rate of its own and every kind changes some of them; a cell is drawn by
Poisson's law with a size of its own. X is sparse by rows in single precision, as scanpy leaves it after normalize_total
and log1p.
"""

import argparse

import h5py
import numpy as np

CELLS_AT_ONCE = 2000


def rates_of(random, kinds, genes, density):
    rates = random.gamma(0.6, size=genes)
    rates = rates * np.exp(random.normal(0, 1.5, (kinds, genes)) * (random.random((kinds, genes)) < 0.1))
    low, high = 1e-6, 1e3  # the factor that makes so many entries of the matrix not zero
    for _ in range(60):
        factor = np.sqrt(low * high)
        low, high = (factor, high) if np.mean(1 - np.exp(-factor * rates)) < density else (low, factor)
    return factor * rates


def text(group, name, values):
    group.create_dataset(name, data=np.array(values, dtype=object), dtype=h5py.string_dtype())


def frame(file, name, index, values):
    group = file.create_group(name)
    group.attrs.update({"encoding-type": "dataframe", "encoding-version": "0.2.0", "_index": index})
    group.attrs["column-order"] = np.array([], dtype=float)
    text(group, index, values)
    group[index].attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--cells", type=int, default=2000)
    parser.add_argument("--genes", type=int, default=500)
    parser.add_argument("--kinds", type=int, default=8)
    parser.add_argument("--density", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    random = np.random.default_rng(asked.seed)
    rates = rates_of(random, asked.kinds, asked.genes, asked.density)
    with h5py.File(asked.file, "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        X = file.create_group("X")
        X.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0"})
        X.attrs["shape"] = np.array([asked.cells, asked.genes])
        made = {
            name: X.create_dataset(name, (0,), kind, maxshape=(None,), chunks=(1 << 16,))
            for name, kind in (("data", np.float32), ("indices", np.int32))
        }
        offsets = [np.zeros(1, dtype=np.int64)]
        for first in range(0, asked.cells, CELLS_AT_ONCE):
            kind = np.arange(first, min(first + CELLS_AT_ONCE, asked.cells)) % asked.kinds
            size = np.exp(random.normal(0, 0.4, len(kind)))
            counts = random.poisson(rates[kind] * size[:, None])
            rows, columns = np.nonzero(counts)
            values = np.log1p(counts[rows, columns] / size[rows]).astype(np.float32)
            for name, numbers in (("data", values), ("indices", columns)):
                made[name].resize(len(made[name]) + len(numbers), axis=0)
                made[name][-len(numbers) :] = numbers
            offsets.append(offsets[-1][-1] + np.cumsum(np.bincount(rows, minlength=len(kind))))
        offsets = np.concatenate(offsets)  # of one type with the columns, where they fit, as SciPy has it
        X.create_dataset("indptr", data=offsets.astype(np.int32) if offsets[-1] < 2**31 else offsets)
        frame(file, "obs", "cell", [f"cell{i + 1}" for i in range(asked.cells)])
        frame(file, "var", "gene", [f"gene{j + 1}" for j in range(asked.genes)])


if __name__ == "__main__":
    main()
