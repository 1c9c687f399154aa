#!/usr/bin/env python3
"""svd.py: singular vectors of a sparse matrix made like text, beside scikit-learn's TruncatedSVD. Prints JSON.

Documents are drawn from topics over a vocabulary by Zipf's law, with a fixed seed, and weighted as tf-idf. The tools
run in turns, and the medians of the rounds are compared. Accuracy needs no reference: the residual
||A'A V - V S^2||_F / ||A'A V||_F of what each returns. Processor seconds are beside those of the clock, because they
vary less on a machine that others use.

    bench/svd.py [--documents 20000] [--words 100000] [--rank 100] [--rounds 3]
    bench/svd.py --write text.mtx            the matrix alone, for: hearsay svd text.mtx -k 100
"""

import argparse
import json
import os
import platform
import statistics
import time
import warnings

import numpy as np
import scipy
import scipy.io
import scipy.sparse as sp
import sklearn
from sklearn.decomposition import TruncatedSVD

import hearsay


def text_like(documents: int, words: int, seed: int = 20261118, topics: int = 300, tokens: int = 160) -> sp.csr_array:
    """tf-idf of documents whose words are half of the language and half of up to three topics each."""
    rng = np.random.default_rng(seed)
    lengths = np.maximum(20, rng.lognormal(np.log(tokens), 0.6, documents).astype(int))
    document = np.repeat(np.arange(documents), lengths)
    weight = (np.arange(words) + 2.7) ** -1.07
    distribution = np.cumsum(weight / weight.sum())
    rank = np.searchsorted(distribution, rng.random(len(document)))
    # Of its topics a document has one more often than the others, and some topics are more common.
    popularity = np.cumsum(np.arange(1, topics + 1) ** -0.7)
    chosen = np.searchsorted(popularity / popularity[-1], rng.random((documents, 3)))
    topic = chosen[document, rng.choice(3, len(document), p=[0.6, 0.25, 0.15])]
    # A topic takes the words in an order of its own, so that its common words are others.
    step, first = 2 * rng.integers(1, words // 2, topics) + 1, rng.integers(0, words, topics)
    while (shared := np.gcd(step, words) > 1).any():
        step[shared] = 2 * rng.integers(1, words // 2, shared.sum()) + 1
    of_topic = rng.random(len(document)) < 0.5
    word = np.where(of_topic, (rank * step[topic] + first[topic]) % words, rank)
    counts = sp.csr_array((np.ones(len(word)), (document, word)), shape=(documents, words))
    counts.sum_duplicates()
    frequency = np.bincount(counts.indices, minlength=words)
    counts.data = (1 + np.log(counts.data)) * np.log((1 + documents) / (1 + frequency))[counts.indices]
    norms = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1))).ravel()
    counts.data /= np.repeat(norms, np.diff(counts.indptr))
    counts.indices, counts.indptr = counts.indices.astype(np.int32), counts.indptr.astype(np.int32)
    return counts


def residual(A: sp.csr_array, components: np.ndarray, values: np.ndarray) -> float:
    V = components.T
    N = A.T @ (A @ V)
    return float(np.linalg.norm(N - V * values**2) / np.linalg.norm(N))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=20000)
    parser.add_argument("--words", type=int, default=100000)
    parser.add_argument("--rank", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", metavar="FILE.mtx")
    asked = parser.parse_args()
    A = text_like(asked.documents, asked.words)
    if asked.write:
        scipy.io.mmwrite(asked.write, A)
        return
    tools = {
        "hearsay": lambda: hearsay.TruncatedSVD(asked.rank),
        "sklearn arpack": lambda: TruncatedSVD(asked.rank, algorithm="arpack", random_state=0),
        "sklearn randomized": lambda: TruncatedSVD(asked.rank, random_state=0),
    }
    seconds: dict[str, list[float]] = {name: [] for name in tools}
    processor: dict[str, list[float]] = {name: [] for name in tools}
    fitted = {}
    for _ in range(asked.rounds):
        for name, make in tools.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                begin, worked = time.perf_counter(), time.process_time()
                fitted[name] = make().fit(A)
                seconds[name].append(time.perf_counter() - begin)
                processor[name].append(time.process_time() - worked)
    truth = fitted["sklearn arpack"].singular_values_
    info = fitted["hearsay"].info_
    result = {
        "matrix": {"rows": A.shape[0], "columns": A.shape[1], "nonzeros": int(A.nnz), "rank": asked.rank},
        "singular_values": {"first": truth[0], "last": truth[-1], "gap": info.gap},
        "versions": {"hearsay": hearsay.__version__, "scikit-learn": sklearn.__version__, "scipy": scipy.__version__},
        "machine": {"processors": os.cpu_count(), "python": platform.python_version(), "threads": hearsay.threads()},
        "tools": {
            name: {
                "seconds": statistics.median(times),
                "spread": [min(times), max(times)],
                "beside_arpack": statistics.median(times) / statistics.median(seconds["sklearn arpack"]),
                "processor_seconds": statistics.median(processor[name]),
                "residual": residual(A, fitted[name].components_, fitted[name].singular_values_),
                "worst_value": float(np.abs(fitted[name].singular_values_ / truth - 1).max()),
            }
            for name, times in seconds.items()
        },
        "hearsay": {
            "status": info.status,
            "method": info.method,
            "passes": info.passes,
            "products": info.products,
            "sin_theta": info.certificate.sine(),
            "largest_error": float(info.errors.max()),
        },
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
