"""Every result says how right it is, in words that are kept apart: bound, estimate, unknown."""

import numpy as np
import pytest
from conftest import planted

WORDS = ("unknown", "estimate", "bound")
STATUSES = ("converged", "noise_floor", "rounding_floor", "ambiguous", "iteration_limit")


@pytest.fixture
def matrix(tmp_path):
    values = np.linspace(2, 0.1, 60)
    values[:3] += 1
    np.save(tmp_path / "matrix.npy", planted(values)[0])
    return "matrix.npy"


def check(result):
    """What holds of any certificate, whatever it says."""
    certificate = result["certificate"]
    sine, missed, cluster = certificate["sin_theta"], certificate["nothing_missed"], certificate["cluster"]
    assert result["status"] in STATUSES
    assert certificate["level"] in ("none", "residual", "full")
    assert certificate["residual"] >= 0 and certificate["rounding"] >= 0
    assert sine["word"] in WORDS and missed["word"] in WORDS
    if sine["word"] == "bound":
        assert 0 <= sine["bound"] <= 1
    if sine["word"] == "estimate":
        assert 0 <= sine["estimate"] <= 1
    if missed["word"] != "unknown":
        assert missed["above"] is not None and missed["count"] >= 1 and 0 <= missed["probability"] < 1
    assert min(missed[key] for key in ("count", "random_columns", "probe_passes", "probe_products")) >= 0
    assert (cluster is not None) or result["status"] != "ambiguous"
    if cluster is not None:
        assert 1 <= cluster["first"] <= result["k"] <= cluster["last"]
        assert (cluster["spread"] is None or cluster["spread"] >= 0) and cluster["word"] in WORDS and cluster["open"] in (True, False)
    assert all(isinstance(text, str) for text in certificate["assumptions"])
    return certificate


@pytest.mark.parametrize("level", ["none", "residual", "full"])
@pytest.mark.parametrize("options", [[], ["--method", "anpm"], ["--precision", "single"], ["--precision", "mixed"]],
                         ids=["auto", "anpm", "single", "mixed"])
def test_a_solve_has_a_certificate_of_at_most_the_level_asked_for(hearsay, matrix, level, options):
    result = hearsay.json("eigs", matrix, "-k", 3, "--psd", "--certify", level, *options)

    levels = ["none", "residual", "full"]
    certificate = check(result)
    assert levels.index(certificate["level"]) <= levels.index(level)
    if level != "full":
        assert certificate["nothing_missed"]["probe_products"] == 0


def test_a_pca_and_a_clustering_have_one_too(hearsay, tmp_path):
    np.save(tmp_path / "data.npy", np.random.default_rng(0).standard_normal((80, 6)) * 0.5 ** np.arange(6))
    nodes = [(4 * c + i, 4 * c + j) for c in range(3) for i in range(4) for j in range(i)]
    (tmp_path / "graph.txt").write_text("\n".join(f"{i} {j}" for i, j in nodes + [(0, 4), (5, 8)]))

    check(hearsay.json("pca", "data.npy", "-k", 2))
    check(hearsay.json("cluster", "graph.txt", "-k", 3))


def test_noise_leaves_no_bound(hearsay, matrix):
    result = hearsay.json("eigs", matrix, "-k", 3, "--noise", "gaussian:1e-4", code=3)

    assert check(result)["sin_theta"]["word"] != "bound"


def test_the_summary_keeps_the_words_apart(hearsay, matrix):
    result = hearsay.json("eigs", matrix, "-k", 3)
    text = hearsay("eigs", matrix, "-k", 3).stdout

    assert "sin(theta) is " in text
    assert any(f"({word})" in text for word in ("bound", "estimate")) or "unknown" in text
    if result["certificate"]["sin_theta"]["word"] == "bound":
        assert "sin(theta) is at most" in text
    if result["certificate"]["nothing_missed"]["word"] == "unknown":
        assert "whether an eigenvalue was missed is unknown" in text
    else:
        assert "lies outside" in text or "eigenvalues lie above" in text


def test_convergence_names_the_accuracy_where_one_was_asked_for(hearsay, matrix):
    assert hearsay.json("eigs", matrix, "-k", 3)["accuracy"] is None
    assert hearsay.json("eigs", matrix, "-k", 3, "--accuracy", "1e-4")["accuracy"] == 1e-4

    plain = hearsay("eigs", matrix, "-k", 3).stdout.splitlines()[0]
    asked = hearsay("eigs", matrix, "-k", 3, "--accuracy", "1e-4").stdout.splitlines()[0]

    assert "meets the tolerance 1e-10" in plain and "accuracy" not in plain
    assert "meets the tolerance 0.0001" in asked and asked.endswith("the accuracy 0.0001")


@pytest.mark.parametrize("precision", ["double", "single", "mixed"])
def test_the_method_reported_is_the_one_that_ran_in_any_precision(hearsay, matrix, precision):
    result = hearsay.json("eigs", matrix, "-k", 3, "--precision", precision, "--method", "krylov")

    assert result["method"] == "krylov"


def test_a_level_that_is_none_is_refused(hearsay, matrix):
    hearsay.refuses("eigs", matrix, "-k", 3, "--certify", "ful", saying="certify = ful: must be one of none|residual|full")
