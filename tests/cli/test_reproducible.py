"""The same configuration gives the same bytes, whatever the threads and however often it was interrupted."""

import numpy as np
import pytest

from conftest import SOURCE, planted


@pytest.fixture
def data(tmp_path):
    data = np.random.default_rng(0).standard_normal((2000, 60)) * np.linspace(1, 0.9, 60)
    np.save(tmp_path / "data.npy", data)
    return "data.npy"


def test_threads_change_no_byte(hearsay, data, tmp_path):
    for threads in [1, 2, 3]:
        result = hearsay.json("pca", data, "-k", 4, "--threads", threads, "--components", f"{threads}.npy", "--max-iterations", 40,
                              "--tolerance", "1e-300", code=3)
        assert result["threads"] == threads

    assert (tmp_path / "1.npy").read_bytes() == (tmp_path / "2.npy").read_bytes() == (tmp_path / "3.npy").read_bytes()


def test_threads_change_no_byte_of_a_clustering(hearsay, tmp_path):
    rng = np.random.default_rng(0)
    community = np.arange(300) // 100
    edges = [(i, j) for i in range(300) for j in range(i) if rng.random() < (0.1 if community[i] == community[j] else 0.005)]
    (tmp_path / "graph.txt").write_text("".join(f"{i} {j}\n" for i, j in edges))

    for threads in [1, 3]:
        assert hearsay("cluster", "graph.txt", "-k", 3, "--threads", threads, "--labels", f"{threads}.csv").returncode == 0

    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "3.csv").read_bytes()


@pytest.mark.parametrize("options", [[], ["--method", "npm"], ["--noise", "gaussian:1e-3"], ["--precision", "single"]],
                         ids=["accelerated", "plain", "noisy", "single"])
def test_a_resumed_solve_ends_like_an_uninterrupted_one(hearsay, tmp_path, options):
    np.save(tmp_path / "matrix.npy", planted(np.linspace(1, 0.5, 80))[0])
    options = ["eigs", "matrix.npy", "-k", 3, "--tolerance", "1e-300", "--oversample", 2, *options]
    whole = hearsay.json(*options, "--max-iterations", 60, "--components", "whole.npy", code=3)
    hearsay.json(*options, "--max-iterations", 33, "--checkpoint", "c", "--checkpoint-every", 10, code=3)

    resumed = hearsay.json(*options, "--max-iterations", 60, "--checkpoint", "c", "--checkpoint-every", 10, "--resume",
                           "--components", "resumed.npy", code=3)

    assert (tmp_path / "whole.npy").read_bytes() == (tmp_path / "resumed.npy").read_bytes()
    assert resumed["history"] == whole["history"] and resumed["products"] == whole["products"]


def test_a_resumed_pca_ends_like_an_uninterrupted_one(hearsay, data, tmp_path):
    options = ["pca", data, "-k", 4, "--method", "anpm", "--tolerance", "1e-300"]
    hearsay.json(*options, "--max-iterations", 50, "--components", "whole.npy", code=3)
    hearsay.json(*options, "--max-iterations", 25, "--checkpoint", "c", "--checkpoint-every", 8, code=3)

    hearsay.json(*options, "--max-iterations", 50, "--checkpoint", "c", "--resume", "--components", "resumed.npy", code=3)

    assert (tmp_path / "whole.npy").read_bytes() == (tmp_path / "resumed.npy").read_bytes()


def test_a_noisy_pca_in_mixed_precision_goes_on_with_its_part_in_double(hearsay, data, tmp_path):
    options = ["pca", data, "-k", 4, "--precision", "mixed", "--noise", "gaussian:1e-6", "--checkpoint", "c",
               "--checkpoint-every", 2]
    whole = hearsay.json(*options, "--components", "whole.npy", code=3)

    resumed = hearsay.json(*options, "--resume", "--components", "resumed.npy", code=3)

    assert whole["status"] == resumed["status"] == "noise_floor"
    assert (tmp_path / "whole.npy").read_bytes() == (tmp_path / "resumed.npy").read_bytes()
    assert any("mixed precision" in note for note in whole["notes"])


def test_a_seed_changes_the_path_but_not_the_answer(hearsay, data):
    first, second = (hearsay.json("pca", data, "-k", 4, "--method", "krylov", "--seed", seed) for seed in [0, 1])

    assert first["history"][0]["residual"] != second["history"][0]["residual"]
    assert np.allclose(first["eigenvalues"], second["eigenvalues"], rtol=1e-10)


def test_the_fuzzers_checkpoints_are_of_the_version_that_is_written(hearsay, tmp_path):
    np.save(tmp_path / "matrix.npy", planted([4, 3, *np.linspace(2, 1, 48)])[0])
    assert hearsay("eigs", "matrix.npy", "-k", 1, "--method", "npm", "--checkpoint", "c", "--checkpoint-every", 2).returncode == 0
    first_line = (tmp_path / "c").read_bytes().split(b"\n", 1)[0]

    seeds = list((SOURCE / "fuzz" / "corpus" / "checkpoint").iterdir())

    # else they are refused at once, and the fuzzer sees nothing: fuzz/checkpoint_seeds.py makes new ones
    assert seeds and all(seed.read_bytes()[1:].startswith(first_line + b"\n") for seed in seeds)
