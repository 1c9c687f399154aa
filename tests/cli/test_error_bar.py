"""What is said of a result from noisy products: the error bar, in words, as JSON, and held against the truth."""

import json

import numpy as np
import pytest

from conftest import planted, sin_theta

FIELDS = {"kind", "sin_theta", "factor", "confidence", "inside", "outside", "last_block", "bias", "drift", "steps",
          "products_needed", "vectors", "eigenvalues", "resolved"}
SPECTRUM = np.r_[3.0, 2.5, 2.0, np.linspace(1.5, 0.1, 77)]


@pytest.fixture
def matrix(tmp_path):
    A, vectors = planted(SPECTRUM)
    np.save(tmp_path / "A.npy", A)
    np.save(tmp_path / "U.npy", vectors[:, :3])
    return "A.npy"


def solve(matrix, *options, noise="gaussian:1e-4"):
    return ["eigs", matrix, "-k", 3, "--noise", noise, *options]


def summary(hearsay, *arguments, code=3):
    result = hearsay(*arguments)
    assert result.returncode == code, result.stderr
    return result.stdout


def test_the_bar_is_the_error_within_its_factor(hearsay, matrix, tmp_path):
    result = hearsay.json(*solve(matrix, "--products", 1200, "--components", "v.npy"), code=3)

    bar = result["error_bar"]
    assert set(bar) == FIELDS and result["method"] == "averaged" and result["status"] == "noise_floor"
    assert bar["kind"] == "calibrated" and bar["confidence"] > 90
    error = sin_theta(np.load(tmp_path / "U.npy"), np.load(tmp_path / "v.npy"))
    assert 1 / bar["factor"] <= bar["sin_theta"] / error <= bar["factor"]
    assert result["sin_theta_estimate"] == bar["sin_theta"] < bar["last_block"]
    assert 1200 - 8 < result["products"] <= 1200
    assert len(bar["vectors"]) == len(bar["eigenvalues"]) == 3 and bar["resolved"] == 3
    # five standard errors: three normal numbers stay within them but once in 600,000 times
    assert (np.abs(np.array(result["eigenvalues"]) - SPECTRUM[:3]) <= 5 * np.array(bar["eigenvalues"])).all()


def test_there_is_none_where_nothing_is_averaged(hearsay, matrix):
    assert hearsay.json("eigs", matrix, "-k", 3)["error_bar"] is None
    assert hearsay.json(*solve(matrix, "--method", "anpm"), code=3)["error_bar"] is None


def test_the_summary_says_how_far_to_trust_it(hearsay, matrix):
    text = summary(hearsay, *solve(matrix, "--products", 1200))

    assert "reached the noise floor" in text.splitlines()[0] and "of them averaged" in text.splitlines()[0]
    assert "within a factor 3 with " in text and "% confidence" in text
    assert "products with 4 columns were averaged; 3 of 3 eigenvectors are resolved one by one" in text
    assert "above the tolerance" not in text and "scatter" in text.splitlines()[2]


def test_a_bias_makes_it_indicative(hearsay, matrix):
    result = hearsay.json(*solve(matrix, noise="adversarial:1e-3"), code=3)

    assert result["error_bar"]["kind"] == "indicative" and result["error_bar"]["confidence"] is None
    assert result["error_bar"]["bias"] > 3
    assert "indicative: the errors are not independent" in summary(hearsay, *solve(matrix, noise="adversarial:1e-3"))


def test_a_norm_of_the_errors_makes_it_a_bound(hearsay, matrix, tmp_path):
    arguments = solve(matrix, "--noise-norm", "1e-3", "--components", "v.npy", noise="adversarial:1e-3")

    bar = hearsay.json(*arguments, code=3)["error_bar"]

    assert bar["kind"] == "bound"
    assert sin_theta(np.load(tmp_path / "U.npy"), np.load(tmp_path / "v.npy")) <= bar["sin_theta"]
    assert "by the noise norm given" in summary(hearsay, *arguments)
    # the gap is 0.5: an error of norm 0.4 on either side leaves none
    useless = summary(hearsay, *solve(matrix, "--noise-norm", "0.4"))
    assert "unknown: the noise norm given is no less than half the gap" in useless


def test_an_accuracy_is_met_by_the_bar(hearsay, matrix):
    result = hearsay.json(*solve(matrix, "--accuracy", "2e-4"))

    assert result["status"] == "converged" and result["error_bar"]["sin_theta"] <= 2e-4
    first = summary(hearsay, *solve(matrix, "--accuracy", "2e-4"), code=0).splitlines()[0]
    assert "converged" in first and "it meets the accuracy 0.0002" in first and "tolerance" not in first


def test_an_accuracy_out_of_reach_has_its_products(hearsay, matrix):
    text = summary(hearsay, *solve(matrix, "--accuracy", "1e-7"))

    assert "it does not meet the accuracy 1e-07" in text and "an accuracy of 1e-07 would take about" in text


def test_too_few_products_leave_it_unknown(hearsay, matrix):
    few = next(result for products in range(20, 200, 4)
               for result in [hearsay.json(*solve(matrix, "--products", products), code=3)] if result["error_bar"])

    assert few["error_bar"]["kind"] == "none" and few["error_bar"]["sin_theta"] is None
    assert "unknown: too few products were averaged" in summary(hearsay, *solve(matrix, "--products", few["products"] + 3))


def test_a_pca_and_a_clustering_have_one_too(hearsay, tmp_path):
    np.save(tmp_path / "data.npy", np.random.default_rng(0).standard_normal((80, 30)) * 0.7 ** np.arange(30))
    nodes = [(8 * c + i, 8 * c + j) for c in range(3) for i in range(8) for j in range(i)]
    (tmp_path / "graph.txt").write_text("\n".join(f"{i} {j}" for i, j in nodes + [(0, 8), (9, 16)]))

    for arguments in [["pca", "data.npy", "-k", 2], ["cluster", "graph.txt", "-k", 3]]:
        bar = hearsay.json(*arguments, "--noise", "gaussian:1e-4", code=3)["error_bar"]
        assert set(bar) == FIELDS and bar["kind"] in ("calibrated", "indicative")


def change_bar(tmp_path, **changes):
    result = json.loads((tmp_path / "result.json").read_text())
    result["error_bar"].update(changes)
    (tmp_path / "result.json").write_text(json.dumps(result))


def test_verify_holds_the_bar_against_the_matrix_without_noise(hearsay, matrix, tmp_path):
    arguments = solve(matrix, "--components", "v.npy", "--json", "result.json")
    assert hearsay(*arguments).returncode == 3

    verified = hearsay("verify", "result.json")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    lines = {line.split()[1]: line for line in verified.stdout.splitlines() if line.startswith("  ")}
    assert "holds" in lines["sin(theta)"] and "holds" in lines["orthonormal"] and "open" in lines["residual"]

    # one calibrated bar that is off proves nothing, one out of its range or a bound that fails does
    change_bar(tmp_path, sin_theta=1e-9)
    verified = hearsay("verify", "result.json")
    assert verified.returncode == 0 and "open    sin(theta)" in verified.stdout and "in 100 are" in verified.stdout
    change_bar(tmp_path, kind="bound")
    verified = hearsay("verify", "result.json")
    assert verified.returncode == 3 and "FAILS   sin(theta)" in verified.stdout
    change_bar(tmp_path, sin_theta=None)
    assert "FAILS   error bar" in hearsay("verify", "result.json").stdout


def test_a_report_draws_the_band_and_the_marks(hearsay, matrix, tmp_path):
    assert hearsay(*solve(matrix, "--report", "page.html", "--accuracy", "1e-7")).returncode == 3

    page = (tmp_path / "page.html").read_text()
    assert "sin(theta), error bar" in page and "The band at the end is the error bar" in page and 'class="hs-b ' in page
    assert "3 standard errors up and down" in page and ">accuracy<" in page


def test_a_plan_counts_the_products_that_averages_need(hearsay):
    plan = ["plan", "--dimension", 1000, "-k", 10, "--lambda-k", 1, "--lambda-next", 0.99, "--epsilon", "1e-4"]

    # k (sigma sqrt(k) / (gap epsilon))^2
    assert hearsay.json(*plan, "--noise-sigma", "1e-5")["products"] == {"value": 10000, "standing": "prediction"}
    assert hearsay.json(*plan)["products"] is None
    assert "10000 columns, averaged" in hearsay(*plan, "--noise-sigma", "1e-5").stdout
    hearsay.refuses(*plan, "--noise-sigma", "-1", saying="noise")


def test_a_budget_too_small_for_averages_is_named(hearsay, matrix):
    text = summary(hearsay, *solve(matrix, "--products", 4))

    assert "spent its budget of 4 products after 0 iterations: the residual is" in text
