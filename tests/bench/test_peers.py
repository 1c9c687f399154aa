"""bench/peers tells a right answer from a wrong one, and prints no seconds for the latter."""

import json
import os
import pathlib
import stat
import sys

import numpy as np
import pytest

SOURCE = pathlib.Path(os.environ.get("HEARSAY_SOURCE", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(SOURCE / "bench" / "peers"))

import bars  # noqa: E402
import noise  # noqa: E402
import peers  # noqa: E402
import report  # noqa: E402
from instances import measure_sine  # noqa: E402
from solvers import TOLERANCES, Peer  # noqa: E402
from tuning import cheapest  # noqa: E402

# Stands in for hearsay's worker: answers every command as the test says.
IMPOSTOR = """#!{python}
import json, signal, sys
import numpy as np
print(json.dumps({{"ready": True}}), flush=True)
for line in sys.stdin:
    command = json.loads(line)
    {act}
"""
WRONG = """np.save(command["basis"], np.eye(120)[:, :4])
    print(json.dumps({"seconds": 0.001, "success": True, "status": "converged", "products": 8, "passes": 2,
                      "memory_bytes": 0}), flush=True)"""
CRASH = "sys.exit(3)"
HANG = "signal.pause()"


@pytest.fixture
def bench(tmp_path):
    """Runs the comparison on the toy instance with scipy's solvers and an impostor for hearsay."""

    def run(act, *options):
        native = tmp_path / "build" / "bench" / "bench_peers"
        native.parent.mkdir(parents=True)
        native.write_text(IMPOSTOR.format(python=sys.executable, act=act))
        native.chmod(native.stat().st_mode | stat.S_IXUSR)
        cache = tmp_path / "cache"
        cache.mkdir()
        (cache / "blas.json").write_text(json.dumps({"probe": {}, "wheels": {}, "debian": {}}))
        words = [str(tmp_path / "build"), "--only", "toy", "--cache", str(cache), "--repeats", "2", *options]
        results = peers.run(peers.arguments(words))
        return results, (cache / "report.md").read_text(), json.loads((cache / "report.json").read_text())

    return run


def rows_of(results, peer):
    return [row for row in results["rows"] if row["peer"] == peer]


def test_every_solve_of_scipy_is_timed_beside_the_accuracy_it_reached(bench):
    results, text, _ = bench(WRONG, "--peers", "scipy,LAPACK")

    assert {row["peer"] for row in results["rows"]} == {"scipy eigsh (ARPACK)", "scipy lobpcg", "LAPACK eigh"}
    assert len(results["rows"]) == 9
    for row in results["rows"]:
        assert 0 < row["seconds"] and row["sine"] <= row["accuracy"]
    assert all(row["products"] > 4 for row in rows_of(results, "scipy eigsh (ARPACK)"))
    assert "| LAPACK eigh |" in text


def test_a_wrong_basis_that_is_called_converged_gets_no_seconds(bench):
    results, text, written = bench(WRONG, "--peers", "hearsay,LAPACK", "--accuracy", "1e-4")

    (row,) = rows_of(results, "hearsay")
    assert row["sine"] > 0.5 and "seconds" not in row
    assert row["missed"].endswith("said success")
    assert "| hearsay | - | - | - | reached 1.0e+00, said success |" in text
    assert not any("seconds" in row for row in written["rows"] if row["peer"].startswith("hearsay"))


@pytest.mark.parametrize(("act", "why"), [(CRASH, "its process ended"), (HANG, "no answer in 1 s")])
def test_a_tool_that_gives_no_answer_is_named_and_the_others_go_on(bench, act, why):
    results, text, _ = bench(act, "--peers", "hearsay,LAPACK", "--accuracy", "1e-4", "--limit", "1")

    assert all(why in row["missed"] for row in rows_of(results, "hearsay"))
    assert rows_of(results, "LAPACK eigh")[0]["seconds"] > 0
    assert why in text


def test_the_sine_is_of_the_range_and_not_of_the_columns():
    Q, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((50, 6)))
    U, tilted = Q[:, :3], Q[:, :3].copy()
    tilted[:, 2] = np.cos(1e-6) * Q[:, 2] + np.sin(1e-6) * Q[:, 4]

    assert measure_sine(U, U @ np.array([[2.0, 1, 0], [0, 1, 0], [1, 1, -3]])) <= 1e-14
    assert measure_sine(U, tilted) == pytest.approx(1e-6, rel=1e-6)
    assert measure_sine(U, Q[:, 3:]) == pytest.approx(1)


def test_a_basis_that_is_none_is_as_far_away_as_can_be():
    U = np.eye(20)[:, :3]

    assert measure_sine(U, U[:, :2]) == 1
    assert measure_sine(U, U[:, [0, 1, 1]]) == 1
    assert measure_sine(U, np.where(U == 1, np.nan, U)) == 1


class Model:
    """A tool whose sine is its tolerance, and whose seconds grow as it shrinks; the wide setting is twice as slow."""

    about = {"lambda_1": 1.0, "lambda_k": 1.0, "lambda_next": 0.5}

    def __init__(self):
        self.solves = 0

    def solve(self, peer, setting, limit=None):
        self.solves += 1
        cost = {"narrow": 1.0, "wide": 2.0}[setting["shape"]]
        return {"sine": 0.99 * setting["tol"], "seconds": cost * (1 - np.log10(setting["tol"]))}


def test_tuning_finds_the_loosest_tolerance_of_the_fastest_shape():
    model = Model()
    peer = Peer("model", "python", lambda about: [{"shape": "wide"}, {"shape": "narrow"}])

    found = cheapest(model, peer, (1e-2, 1e-4, 1e-8), ceiling=60)

    for accuracy in (1e-2, 1e-4, 1e-8):
        assert found[accuracy]["setting"] == {"shape": "narrow", "tol": pytest.approx(accuracy)}
    assert model.solves < 2 * len(TOLERANCES[1])


def row(peer, seconds=None, **more):
    bought = {"seconds": seconds, "sine": 1e-5} if seconds else {"missed": "reached 1e-2"}
    return {"instance": "harmonic-10", "title": "t", "accuracy": 1e-4, "peer": peer, **bought, **more}


def verdict_of(rows, limit):
    return next(bar for bar in bars.check(rows, [], {}, []) if bar["limit"] == limit)


def test_a_bar_is_met_against_the_fastest_peer_alone():
    rows = [row("hearsay", 1.0), row("PRIMME", 2.0), row("Spectra", 1.25)]

    assert verdict_of(rows, 0.7) == verdict_of(rows, 0.7) | {"value": 0.8, "against": "Spectra", "met": False}
    assert verdict_of(rows[:2], 0.7)["met"] is True


def test_an_answer_that_misses_the_accuracy_meets_no_bar():
    assert verdict_of([row("hearsay"), row("PRIMME", 2.0)], 0.7)["met"] is False
    assert verdict_of([row("PRIMME", 2.0)], 0.7)["met"] is None


@pytest.mark.parametrize("accuracies", [[1e-4], [1e-2, 1e-4]])
def test_the_figure_is_drawn_by_whatever_matplotlib_there_is(tmp_path, accuracies):
    pytest.importorskip("matplotlib")
    rows = [
        row(peer, 1.0, accuracy=accuracy, workload="W1", fastest=0.9, slowest=1.2)
        for peer in ("hearsay", "PRIMME")
        for accuracy in accuracies
    ]

    report.plot({"rows": rows, "accuracies": accuracies}, tmp_path / "figure.png")

    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_seconds_without_their_accuracy_are_not_written(tmp_path):
    results = {"rows": [row("hearsay", 1.0, runs=1) | {"sine": 1e-3}]}

    with pytest.raises(AssertionError, match="without the accuracy"):
        report.write(results, tmp_path)

    assert not list(tmp_path.iterdir())


def noisy(peer, sine, way=noise.GO_ON, budget=4000, **more):
    case = {"instance": "paper-1e-2", "sigma": 1e-5, "budget": budget, "peer": peer, "way": way, "sine": sine}
    return case | {"runs": 1, "statuses": ["noise_floor"]} | more


def error_bar_of(rows, against=bars.ARPACK):
    return next(bar for bar in bars.check([], rows, {}, []) if bar["against"] == against)


@pytest.mark.parametrize(("budget", "limit"), [(1000, 0.3), (4000, 0.1), (20000, 0.05)])
def test_the_more_products_the_further_below_arpack(budget, limit):
    rows = [noisy("hearsay", 0.9 * limit, noise.AS_IT_COMES, budget), noisy(bars.ARPACK, 1.0, budget=budget)]

    bar = error_bar_of(rows)
    worse = error_bar_of([rows[0] | {"sine": 1.1 * limit}, rows[1]])

    assert bar["limit"] == limit and bar["met"] is True and worse["met"] is False


def test_arpack_under_noise_is_taken_at_the_best_setting_in_hindsight():
    rows = [noisy("hearsay", 1e-4, noise.AS_IT_COMES), noisy(bars.ARPACK, 1e-1), noisy(bars.ARPACK, 1e-2, noise.HINDSIGHT)]

    assert error_bar_of(rows)["value"] == pytest.approx(1e-2)


def test_an_error_is_held_against_what_was_said_of_it():
    about = {"lambda_1": 1.0, "lambda_k": 1.0, "lambda_next": 0.9}
    averaged = {"bar": {"sin_theta": 1e-3}, "sin_theta_estimate": 1e-3, "success": False, "sine": 2e-3}
    last_block = {"bar": {"sin_theta": None}, "sin_theta_estimate": 1e-2, "success": False, "sine": 2e-3}
    sure, unsure = {"success": True, "sine": 1e-2}, {"success": False, "sine": 1e-2}

    claims = [noise.claim_of(run, {"tol": 1e-6}, about) for run in (averaged, last_block, sure, unsure)]
    runs = [run | {"claim": claim} for run, claim in zip((averaged, last_block, sure, unsure), claims, strict=True)]

    assert claims == [1e-3, 1e-2, pytest.approx(1e-5), None]
    assert noise.over_claim(runs[:1]) == pytest.approx(2) and noise.over_claim(runs[3:]) is None
    assert noise.was_true(averaged, {}, 0.0) and not noise.was_true(averaged | {"sine": 4e-3}, {}, 0.0)
    assert noise.was_true(sure, {"tol": 1e-6}, 1e-6) and not noise.was_true(sure, {"tol": 1e-6}, 1e-3)
    assert noise.was_true(unsure, {"tol": 1e-6}, 1e-3)
