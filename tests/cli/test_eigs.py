import numpy as np
import pytest

from conftest import planted, sin_theta

SPECTRUM = [5, 4, 3] + [1.0] * 57


def test_planted_eigenvectors_are_found(hearsay, tmp_path):
    matrix, vectors = planted(SPECTRUM)
    np.save(tmp_path / "matrix.npy", matrix)

    result = hearsay.json("eigs", "matrix.npy", "-k", 3, "--components", "basis.npy")

    assert result["status"] == "converged" and result["samples"] is None
    assert np.allclose(result["eigenvalues"], [5, 4, 3], rtol=1e-12)
    assert sin_theta(vectors[:, :3], np.load(tmp_path / "basis.npy")) <= 1e-9


def test_the_damping_follows_what_is_known_of_the_matrix(hearsay, tmp_path):
    np.save(tmp_path / "matrix.npy", planted(SPECTRUM)[0])

    anpm = ["eigs", "matrix.npy", "-k", 3, "--method", "anpm"]
    assert hearsay.json(*anpm)["damping"] == "symmetric"
    assert hearsay.json(*anpm, "--psd")["damping"] == "centred"


def test_the_method_is_the_one_asked_for_or_suits_the_products_and_is_named(hearsay, tmp_path):
    matrix, vectors = planted(SPECTRUM)
    np.save(tmp_path / "matrix.npy", matrix)
    solve = ["eigs", "matrix.npy", "-k", 3]

    assert hearsay.json(*solve)["method"] == "krylov"
    assert hearsay.json(*solve, "--noise", "gaussian:1e-4", code=3)["method"] == "averaged"
    for method in ["anpm", "npm", "krylov"]:
        result = hearsay.json(*solve, "--method", method, "--components", "v.npy")
        assert result["method"] == method
        assert sin_theta(vectors[:, :3], np.load(tmp_path / "v.npy")) <= 1e-6
    hearsay.refuses(*solve, "--method", "krylov", "--noise", "gaussian:1e-4",
                    saying="method = krylov: needs exact products")
    hearsay.refuses(*solve, "--method", "krylov", "--momentum", "paper", saying="method = krylov: has no momentum")


@pytest.mark.parametrize("precision", ["single", "mixed"])
def test_the_method_is_named_in_every_precision(hearsay, tmp_path, precision):
    np.save(tmp_path / "matrix.npy", planted(SPECTRUM)[0])

    for method in ["anpm", "npm", "krylov"]:
        result = hearsay.json("eigs", "matrix.npy", "-k", 3, "--method", method, "--precision", precision)
        assert result["method"] == method


@pytest.mark.parametrize("method", ["anpm", "krylov"])
def test_an_accuracy_asked_for_is_reached_and_no_more_is_done(hearsay, tmp_path, method):
    matrix, vectors = planted(np.linspace(5, 0.1, 200))
    np.save(tmp_path / "matrix.npy", matrix)
    products = []
    for accuracy in [1e-2, 1e-5]:
        result = hearsay.json("eigs", "matrix.npy", "-k", 3, "--method", method, "--accuracy", accuracy, "--components",
                              "v.npy")
        assert result["status"] == "converged" and result["sin_theta_estimate"] <= accuracy
        assert sin_theta(vectors[:, :3], np.load(tmp_path / "v.npy")) <= accuracy
        products.append(result["products"])
    assert products[0] < products[1]


@pytest.mark.parametrize("noise", ["gaussian:1e-4", "sphere:1e-3", "adversarial:1e-3"])
def test_noise_is_reported_as_a_floor_and_never_as_convergence(hearsay, tmp_path, noise):
    matrix, vectors = planted(SPECTRUM)
    np.save(tmp_path / "matrix.npy", matrix)
    np.save(tmp_path / "answer.npy", vectors[:, :3])

    result = hearsay.json("eigs", "matrix.npy", "-k", 3, "--noise", noise, "--reference", "answer.npy", code=3)

    assert result["status"] == "noise_floor"
    assert result["history"][-1]["sin_theta"] <= 1e-2


def test_the_noise_seed_changes_the_noise_and_the_seed_the_start(hearsay, tmp_path):
    np.save(tmp_path / "matrix.npy", planted(SPECTRUM)[0])
    run = lambda *options: hearsay.json("eigs", "matrix.npy", "-k", 2, "--noise", "gaussian:1e-4", *options, code=3)

    first, again, other = run(), run(), run("--noise-seed", 1)

    assert first["eigenvalues"] == again["eigenvalues"] != other["eigenvalues"]
    assert first["history"][0]["residual"] != run("--seed", 1)["history"][0]["residual"]


INDEFINITE = [3, 2] + list(np.linspace(1, -1, 56)) + [-1.5, -2.5]


@pytest.mark.parametrize("which, order", [("LA", [0, 1, 2]), ("SA", [59, 58, 57]), ("LM", [0, 59, 1]), ("BE", [0, 1, 59])])
def test_every_end_of_an_indefinite_matrix_is_found(hearsay, tmp_path, which, order):
    matrix, vectors = planted(INDEFINITE)
    np.save(tmp_path / "matrix.npy", matrix)

    result = hearsay.json("eigs", "matrix.npy", "-k", 3, "--which", which, "--components", "basis.npy")

    assert result["status"] == "converged" and result["which"] == which
    assert np.allclose(result["eigenvalues"], np.array(INDEFINITE)[order], rtol=1e-9)
    assert sin_theta(vectors[:, order], np.load(tmp_path / "basis.npy")) <= 1e-8
    missed = result["certificate"]["nothing_missed"]
    assert (missed["above"] is None) == (which == "SA") and (missed["below"] is None) == (which == "LA")


@pytest.mark.parametrize("which", ["LA", "SA", "LM", "BE"])
def test_what_is_said_of_an_end_is_verified(hearsay, tmp_path, which):
    np.save(tmp_path / "matrix.npy", planted(INDEFINITE)[0])
    hearsay.json("eigs", "matrix.npy", "-k", 3, "--which", which, "--components", "basis.npy")
    hearsay("eigs", "matrix.npy", "-k", 3, "--which", which, "--components", "basis.npy", "--json", "result.json")

    verified = hearsay("verify", "result.json")

    assert verified.returncode == 0, verified.stdout
    assert "nothing missed" in verified.stdout and "sin(theta)" in verified.stdout


@pytest.mark.parametrize("which, shift", [("LA", 2.5), ("SA", 3)])
def test_the_power_iteration_finds_its_shift_and_tells_it(hearsay, tmp_path, which, shift):
    np.save(tmp_path / "matrix.npy", planted(INDEFINITE)[0])

    result = hearsay.json("eigs", "matrix.npy", "-k", 2, "--which", which, "--method", "anpm")

    assert result["status"] == "converged" and result["shift_found"] >= shift
    assert np.allclose(result["eigenvalues"], [3, 2] if which == "LA" else [-2.5, -1.5], rtol=1e-9)
    assert any("negative eigenvalue was met" in note for note in result["notes"])


def test_a_tie_of_magnitudes_is_ambiguous(hearsay, tmp_path):
    np.save(tmp_path / "matrix.npy", planted([5, 3] + [0.5] * 20 + [-3])[0])

    result = hearsay("eigs", "matrix.npy", "-k", 2, "--which", "LM")

    assert result.returncode == 3 and "ambiguous" in result.stdout and "eigenvalues 2 to 3 agree" in result.stdout


def test_what_an_end_does_not_go_with_is_refused(hearsay, tmp_path):
    np.save(tmp_path / "matrix.npy", planted(INDEFINITE)[0])
    solve = ["eigs", "matrix.npy", "-k", 2]

    for options, saying in [
        (["--which", "SM"], ["which = SM", "LA|SA|LM|BE"]),
        (["--which", "XY"], ["which = XY", "LA|SA|LM|BE"]),
        (["--which", "LM", "--noise", "gaussian:1e-3"], ["which = LM", "exact products"]),
        (["--which", "BE", "--method", "anpm"], ["which = BE", "Krylov"]),
        (["--which", "LM", "--precision", "mixed"], ["which = LM", "--precision"]),
        (["--which", "SA", "--checkpoint", "state"], ["which = SA", "checkpoint"]),
        (["--which", "LM", "--checkpoint", "state"], ["which = LM", "checkpoint"]),
        (["--which", "SA", "--audit", "0.1"], ["which = SA", "--audit"]),
        (["--which", "SA", "--shift", "3"], ["shift = 3", "--which LA"]),
        (["--which", "SA", "--momentum", "optimal"], ["which = SA", "--momentum"]),
        (["--method", "anpm", "--checkpoint", "state"], ["negative eigenvalue", "--shift"]),
        (["--momentum", "0.1"], ["negative eigenvalue", "--shift"]),
    ]:
        hearsay.refuses(*solve, *options, saying=saying)


@pytest.mark.parametrize("precision", ["single", "mixed"])
@pytest.mark.parametrize("method", ["krylov", "anpm"])
@pytest.mark.parametrize("which", ["LA", "SA"])
def test_an_end_is_found_in_every_precision(hearsay, tmp_path, which, method, precision):
    np.save(tmp_path / "matrix.npy", planted(INDEFINITE)[0])

    result = hearsay.json("eigs", "matrix.npy", "-k", 2, "--which", which, "--method", method, "--precision", precision)

    assert result["status"] == "converged"
    assert np.allclose(result["eigenvalues"], [3, 2] if which == "LA" else [-2.5, -1.5], rtol=1e-4)


def test_a_shift_gives_the_eigenvalues_of_the_matrix_itself(hearsay, tmp_path):
    matrix, vectors = planted([3, 2, 0.5, -2.5, -1])
    np.save(tmp_path / "matrix.npy", matrix)

    result = hearsay.json("eigs", "matrix.npy", "-k", 2, "--shift", "2.5", "--components", "basis.npy")

    assert np.allclose(result["eigenvalues"], [3, 2], rtol=1e-9)
    assert sin_theta(vectors[:, :2], np.load(tmp_path / "basis.npy")) <= 1e-8


def test_matrix_market_and_numpy_agree(hearsay, tmp_path):
    matrix = planted([4, 2, 1, 0.5])[0]
    np.save(tmp_path / "matrix.npy", np.asfortranarray(matrix))
    entries = [(i, j) for j in range(4) for i in range(j, 4)]
    with open(tmp_path / "matrix.mtx", "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate real symmetric\n4 4 {len(entries)}\n")
        file.writelines(f"{i + 1} {j + 1} {matrix[i, j]!r}\n" for i, j in entries)

    dense, sparse = (hearsay.json("eigs", f"matrix.{ending}", "-k", 2) for ending in ["npy", "mtx"])

    assert np.allclose(dense["eigenvalues"], sparse["eigenvalues"], rtol=1e-12)


def test_an_audit_names_the_first_condition_the_noise_breaks(hearsay, tmp_path):
    np.save(tmp_path / "matrix.npy", planted(SPECTRUM)[0])

    result = hearsay.json("eigs", "matrix.npy", "-k", 3, "--noise", "gaussian:0.05", "--audit", "0.01", code=3)

    violation = result["audit"]["first_noise_violation"]
    assert violation["condition"] in ("noise_outside", "noise_inside") and violation["value"] > violation["bound"]


def test_a_small_enough_noise_passes_the_audit(hearsay, tmp_path):
    np.save(tmp_path / "matrix.npy", planted(SPECTRUM)[0])

    result = hearsay("eigs", "matrix.npy", "-k", 3, "--noise", "sphere:1e-5", "--audit", "0.05", "--momentum", "optimal",
                     "--cooldown", 0)

    assert result.returncode == 3 and "every condition and the envelope held at every step" in result.stdout


def test_an_audit_does_not_say_that_a_theorem_covers_a_momentum_that_varied(hearsay, tmp_path):
    np.save(tmp_path / "matrix.npy", planted(SPECTRUM)[0])
    arguments = ["eigs", "matrix.npy", "-k", 3, "--noise", "sphere:1e-5", "--audit", "0.05", "--momentum", "auto",
                 "--cooldown", 0]

    text, audit = hearsay(*arguments).stdout, hearsay.json(*arguments, code=3)["audit"]

    assert audit["momentum_varied"]
    assert audit["covered_by_a_theorem"] is False
    assert "every condition" not in text
    assert "the momentum varied, which no theorem covers" in text
    assert hearsay.json(*arguments, "--momentum", "optimal", code=3)["audit"]["covered_by_a_theorem"] is True


@pytest.mark.parametrize("precision", ["single", "mixed"])
def test_other_arithmetic_finds_the_same_subspace(hearsay, tmp_path, precision):
    matrix, vectors = planted(SPECTRUM)
    np.save(tmp_path / "matrix.npy", matrix)

    result = hearsay.json("eigs", "matrix.npy", "-k", 3, "--precision", precision, "--components", "basis.npy")

    assert result["status"] == "converged"
    assert sin_theta(vectors[:, :3], np.load(tmp_path / "basis.npy")) <= (1e-4 if precision == "single" else 1e-9)


def test_the_iteration_limit_writes_the_result_and_exits_with_3(hearsay, tmp_path):
    np.save(tmp_path / "matrix.npy", planted(np.linspace(2, 1, 60))[0])

    result = hearsay.json("eigs", "matrix.npy", "-k", 3, "--max-iterations", 2, "--components", "basis.npy", code=3)

    assert result["status"] == "iteration_limit" and result["iterations"] == 2
    assert np.load(tmp_path / "basis.npy").shape == (60, 3)


@pytest.fixture
def large(tmp_path):
    """A diagonal matrix of dimension 6000, above what is solved densely: eigenvalues 5, 4, 3, 1, 1, ..."""
    with open(tmp_path / "large.mtx", "w") as file:
        file.write("%%MatrixMarket matrix coordinate real symmetric\n6000 6000 6000\n")
        file.writelines(f"{i + 1} {i + 1} {max(5 - i, 1)}\n" for i in range(6000))
    return "large.mtx"


def test_above_5000_dimensions_the_next_eigenvalue_comes_from_a_solve(hearsay, large):
    result = hearsay.json("eigs", large, "-k", 2, "--momentum", "optimal")

    assert np.isclose(result["momentum"], 9 / 4, rtol=1e-8) and result["status"] == "converged"
    assert any("noise-free solve" in note for note in result["notes"])


def test_above_5000_dimensions_eigenvectors_must_be_given(hearsay, large, tmp_path):
    np.save(tmp_path / "answer.npy", np.eye(6000)[:, :2])

    hearsay.refuses("eigs", large, "-k", 2, "--noise", "adversarial:1e-3", saying=["adversarial", "5000", "6000"])
    hearsay.refuses("eigs", large, "-k", 2, "--audit", "0.1", saying=["audit", "--reference"])
    audited = hearsay.json("eigs", large, "-k", 2, "--audit", "0.1", "--reference", "answer.npy")

    assert audited["audit"]["first_noise_violation"] is None


def test_a_momentum_beyond_the_norm_is_refused_before_the_first_product(hearsay, tmp_path):
    np.save(tmp_path / "matrix.npy", planted([5.0, 4, 3, 2, 1])[0])

    for options in ([], ["--shift", 1]):
        hearsay.refuses("eigs", "matrix.npy", "-k", 2, "--momentum", 100, *options, saying="no eigenvalue exceeds")
