"""Solves on a device through every door, where one is; and what is said where none is."""

import numpy as np
import pytest


def sin_theta(U, V):
    U, V = np.linalg.qr(U)[0], np.linalg.qr(V)[0]  # the rows of an embedding have length one
    return np.linalg.norm(V - U @ (U.T @ V), 2)


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(3)
    vectors = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    values = 1 / np.arange(1, 61)
    np.save(tmp_path / "matrix.npy", (vectors * values) @ vectors.T)
    np.save(tmp_path / "data.npy", 2 + rng.standard_normal((200, 60)) @ (vectors * values))
    edges = [(i, j) for i in range(40) for j in range(i) if (i // 20 == j // 20 and (i * j) % 3) or (i + 7 * j) % 61 == 0]
    (tmp_path / "graph.txt").write_text("".join(f"{i} {j}\n" for i, j in edges))
    return vectors


DOORS = [
    ("eigs", "matrix.npy", "-k", 3, "--psd", "--components", "found.npy"),
    ("pca", "data.npy", "-k", 3, "--components", "found.npy"),
    ("svd", "data.npy", "-k", 3, "--right", "found.npy"),
    ("cluster", "graph.txt", "-k", 2, "--embedding", "found.npy"),
]


def devices(hearsay):
    found = hearsay.json("info")["devices"]
    return [] if found[0].startswith("none") else found


@pytest.mark.parametrize("solve", DOORS, ids=[door[0] for door in DOORS])
def test_every_door_solves_on_a_device_or_says_why_not(hearsay, files, tmp_path, solve):
    here = hearsay.json(*solve)
    known = np.load(tmp_path / "found.npy")
    assert here["device"] == "cpu" and here["rungs"] == []

    if not devices(hearsay):
        for device in ["cuda", "cuda:0", "cuda:7"]:
            result = hearsay(*solve, "--device", device)
            assert result.returncode == 1 and "device = cuda" in result.stderr
            assert "built without CUDA" in result.stderr or "there is none" in result.stderr
        return
    there = hearsay.json(*solve, "--device", "cuda", "--accuracy", 1e-6)
    assert there["status"] == "converged" and there["device"].startswith("cuda:0")
    assert sin_theta(known, np.load(tmp_path / "found.npy")) <= 2e-6
    assert set(here) == set(there)
    first, last = there["rungs"][0], there["rungs"][-1]
    assert first["products"] == "fp16" and not first["corrected"] and first["passes"] > 0
    assert last["sin_theta"] <= 1e-6 and last["rounding"] > 0 and last["seconds"] > 0
    assert there["precision"] == "auto" and there["accuracy"] == 1e-6
    assert hearsay(*solve, "--device", "cuda:99").returncode == 1


@pytest.mark.parametrize("solve", DOORS, ids=[door[0] for door in DOORS])
def test_the_processor_does_instead_only_where_it_is_asked_to(hearsay, files, tmp_path, solve):
    hearsay.json(*solve)
    known = np.load(tmp_path / "found.npy")

    result = hearsay.json(*solve, "--device", "cuda:99,cpu", "--accuracy", 1e-6)

    assert result["device"] == "cpu" and result["precision"] == "double" and result["rungs"] == []
    assert "computed by the processor: device = cuda:99" in result["notes"][0]
    assert sin_theta(known, np.load(tmp_path / "found.npy")) <= 2e-6


def test_words_that_mean_nothing_are_refused_before_anything_is_read(hearsay, files):
    eigs = ("eigs", "matrix.npy", "-k", 3)
    hearsay.refuses(*eigs, "--device", "gpu", saying="device = gpu: must be cpu, cuda or cuda:N")
    hearsay.refuses(*eigs, "--device", "cuda:x", saying="device")
    hearsay.refuses(*eigs, "--device", "cpu,cuda", saying="device = cpu,cuda: must be")
    hearsay.refuses(*eigs, "--device", "cuda", "--noise", "gaussian:1e-3", saying="--noise: says nothing on a device")
    hearsay.refuses(*eigs, "--device", "cuda", "--precision", "fp4", saying="fp4")
    hearsay.refuses(*eigs, "--device", "cuda", "--precision", "fp8", saying="precision = fp8: must be fp16 or more")
    hearsay.refuses(*eigs, "--device", "cuda,cpu", "--precision", "fp16", saying="fp16: is for a device alone")
    for word in ["auto", "fp16", "tf32"]:
        hearsay.refuses(*eigs, "--precision", word, saying=f"precision = {word}: is for a device; give --device")
    pca = ("pca", "data.npy", "-k", 3, "--device", "cuda")
    for option in ["--standardize", "--stream"]:
        hearsay.refuses(*pca, option, saying=f"{option}: says nothing on a device")
    hearsay.refuses(*pca, "--batch", 20, saying="--batch: says nothing on a device")
