"""The exam of bench/peers tells a wrong word from a right one, and neither from silence."""

import json
import os
import pathlib
import stat
import sys

import numpy as np
import pytest

SOURCE = pathlib.Path(os.environ.get("HEARSAY_SOURCE", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(SOURCE / "bench" / "peers"))

import exam  # noqa: E402
import peers  # noqa: E402
from solvers import PEERS  # noqa: E402

OURS, ARPACK = (next(peer for peer in PEERS if peer.name == name) for name in ("hearsay", "scipy eigsh (ARPACK)"))
VALUES = np.r_[3.0, 2.0, 1 + 1e-3 * np.arange(6, 0, -1), np.linspace(0.5, 0.1, 92)]

# Stands in for hearsay's worker: any basis will do for it, and it is sure of it.
IMPOSTOR = """#!{python}
import json, pathlib, sys
import numpy as np
print(json.dumps({{"ready": True}}), flush=True)
for line in sys.stdin:
    command = json.loads(line)
    about = json.loads((pathlib.Path(command["instance"]) / "about.json").read_text())
    basis, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((about["dimension"], about["rank"])))
    np.save(command["basis"], basis)
    print(json.dumps({{"status": "converged", "success": True, "certificate": {certificate}}}), flush=True)
"""


def certificate(sine="unknown", bound=None, estimate=None, missed="unknown", above=None, count=0, cluster=None):
    return {
        "sin_theta": {"word": sine, "bound": bound, "estimate": estimate},
        "nothing_missed": {"word": missed, "above": above, "count": count},
        "cluster": cluster,
    }


def question(k):
    U, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((100, 100)))
    A = (U * VALUES) @ U.T
    A = (A + A.T) / 2
    return A, exam.Truth(A), U[:, :k], U


def judged(k, basis, status="converged", accuracy=1e-4, peer=OURS, **words):
    A, truth, _, _ = question(k)
    reply = {"status": status, "success": status in ("converged", "success"), "certificate": certificate(**words)}
    return exam.judge(A, truth, k, peer, reply, basis, accuracy)


def test_questions_are_the_same_every_time_and_of_every_kind():
    first, again = exam.case(4), exam.case(4)
    some = [exam.case(number) for number in range(18)]

    assert first.title == again.title and (first.matrix() == again.matrix()).all()
    assert {c.family for c in some} == {"cluster", "multiple", "rounding", "geometric", "deficient"}
    assert {c.vectors for c in some} == {"random", "hadamard", "coordinate"}
    for c in some:
        assert 100 <= len(c.values) <= 256 and 1 <= c.rank < len(c.values)
        assert (np.diff(c.values) <= 0).all() and c.values[-1] >= 0


def test_the_truth_is_sharper_than_lapack():
    U, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((100, 100)))
    values = np.r_[1 + 1e-9 * np.arange(9, 0, -1), np.full(91, 0.3)]
    A = (U * values) @ U.T
    A = (A + A.T) / 2
    order = np.random.default_rng(2).permutation(100)

    lapack, other = (np.linalg.eigh(M)[1][:, -4:] for M in (A, A[np.ix_(order, order)]))
    one, two = exam.Truth(A), exam.Truth(A[np.ix_(order, order)])

    assert np.linalg.norm(lapack[order] - other @ (other.T @ lapack[order]), 2) > 1e-8
    assert two.sine(one.space(4)[order]) < 1e-9
    assert two.values == pytest.approx(one.values, abs=1e-15)


def test_within_a_tie_any_choice_is_right():
    A = np.diag(np.r_[2.0, np.ones(5), np.full(14, 0.5)])
    truth, U = exam.Truth(A), np.eye(20)

    assert truth.ends(3) == (1, 6)
    assert truth.sine(U[:, [0, 2, 5]]) <= 1e-15
    assert truth.sine(U[:, [1, 2, 3]]) == pytest.approx(1)  # 2 is left out
    assert truth.sine(U[:, [0, 1, 7]]) == pytest.approx(1)


def test_hearsay_is_held_to_its_status_and_its_bounds():
    _, _, right, U = question(2)
    wrong = U[:, [0, 2]]

    assert judged(2, right)["wrong"] == []
    assert judged(2, wrong)["wrong"] == ["converged"]
    assert judged(2, wrong, status="ambiguous")["wrong"] == []
    assert judged(2, wrong, status="iteration_limit", sine="bound", bound=1e-6)["wrong"] == ["sine bound"]
    assert judged(2, right, missed="bound", above=1.5, count=2)["wrong"] == []
    assert judged(2, right, missed="bound", above=0.9, count=2)["wrong"] == ["nothing missed"]


def test_an_estimate_that_is_exceeded_is_counted_apart():
    _, _, _, U = question(2)
    row = judged(2, U[:, [0, 2]], status="iteration_limit", sine="estimate", estimate=1e-6, missed="estimate",
                 above=0.9, count=2)  # fmt: skip

    assert row["wrong"] == [] and row["exceeded"] == ["sine estimate", "nothing missed"]


def test_a_cluster_is_held_to_its_spread_and_to_its_space():
    _, _, _, U = question(4)
    cluster = {"first": 3, "last": 8, "open": False, "spread": 1e-2, "sin_theta": 1e-6, "word": "bound"}

    assert judged(4, U[:, [0, 1, 6, 7]], status="ambiguous", cluster=cluster)["wrong"] == []
    assert judged(4, U[:, :4], status="ambiguous", cluster=cluster | {"spread": 1e-6})["wrong"] == ["cluster spread"]
    assert judged(4, U[:, [0, 1, 2, 9]], status="ambiguous", cluster=cluster)["wrong"] == ["cluster space"]


def test_others_are_held_to_their_residuals_and_to_the_set_they_return():
    _, _, right, U = question(2)
    rough, _ = np.linalg.qr(right + 0.05 * U[:, 20:22])
    said = {"peer": ARPACK, "accuracy": 1e-4}

    assert judged(2, right, status="success", **said)["wrong"] == []
    assert judged(2, U[:, [0, 2]], status="success", **said)["wrong"] == ["sine", "set"]
    assert "residual" in judged(2, rough, status="success", **said)["wrong"]
    assert judged(2, U[:, [0, 2]], status="no convergence", **said)["wrong"] == []
    assert judged(2, U[:, :1], status="success", **said)["wrong"] == ["no basis"]


def test_a_loose_tolerance_promises_nothing_about_close_eigenvalues():
    _, _, _, U = question(4)
    row = judged(4, U[:, [0, 1, 4, 5]], status="success", peer=ARPACK, accuracy=1e-2)

    assert row["wrong"] == [] and row["above"] is True


@pytest.fixture
def sat(tmp_path):
    """The exam with scipy and an impostor for hearsay."""
    native = tmp_path / "build" / "bench" / "bench_peers"
    native.parent.mkdir(parents=True)
    sure = certificate(sine="bound", bound=1e-9)
    native.write_text(IMPOSTOR.format(python=sys.executable, certificate=repr(sure)))
    native.chmod(native.stat().st_mode | stat.S_IXUSR)
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "blas.json").write_text(json.dumps({"probe": {}, "wheels": {}, "debian": {}}))
    words = [str(tmp_path / "build"), "--exam", "3", "--cache", str(cache), "--accuracy", "1e-4", "--limit", "20"]
    given = peers.arguments([*words, "--peers", "hearsay,scipy eigsh"])
    results = exam.run(given, peers.tools_for(given, 1), lambda _: None)
    return results, (cache / "exam.md").read_text(), json.loads((cache / "exam.json").read_text())


def test_an_exam_counts_the_wrong_words_of_each(sat):
    results, text, written = sat
    by_peer = {row["peer"]: row for row in results["table"]}

    assert by_peer["hearsay"]["wrong_words"] == {"converged": 3, "sine bound": 3}
    assert by_peer["hearsay"]["wrong_answers"] == by_peer["hearsay"]["successes"] == 3
    assert by_peer["scipy eigsh (ARPACK)"]["answers"] == 3
    assert written["table"] == results["table"] and len(written["rows"]) == len(results["rows"])
    assert "| hearsay | 1e-04 | 3 | 3 | 3 | converged 3, sine bound 3 | 3 | 0 |" in text


def test_a_tool_that_is_not_there_is_named(tmp_path):
    tools = {"native": tmp_path / "none", "logs": tmp_path, "environment": dict(os.environ), "blas": {"wheels": {}}}

    rows, missing = exam.sit(1, [OURS, ARPACK], tools, tmp_path, 20, lambda _: None, (1e-2,))

    assert "does not start" in missing["hearsay"] and [row["peer"] for row in rows] == ["scipy eigsh (ARPACK)"]
