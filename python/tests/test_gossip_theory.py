"""Gossip averages as the theory says; the theory's numbers are the core's."""

import math
import pickle

import networkx as nx
import numpy as np
import pytest

import hearsay
from hearsay import gossip, theory


@pytest.mark.parametrize("kind", ["plain", "accelerated", "chebyshev"])
def test_gossip_keeps_the_mean_and_contracts_as_promised(kind):
    W = gossip.matrix("grid", 12)
    Z = np.random.default_rng(0).standard_normal((12, 5))

    mixed = gossip.average(W, Z, rounds=9, kind=kind)

    assert np.allclose(mixed.mean(axis=0), Z.mean(axis=0), atol=1e-14)
    left = np.linalg.norm(mixed - mixed.mean(axis=0)) / np.linalg.norm(Z - Z.mean(axis=0))
    assert left <= gossip.contraction(W, 9, kind) * (1 + 1e-12)


def test_plain_gossip_is_multiplication_by_the_matrix():
    W = gossip.matrix("star", 7)
    values = np.arange(7.0)

    assert np.allclose(gossip.average(W, values, 3, "plain"), np.linalg.matrix_power(W.toarray(), 3) @ values)


def test_rounds_for_a_goal_reach_it_and_no_fewer_do():
    W = gossip.matrix("ring", 20)
    for kind in ("plain", "accelerated", "chebyshev"):
        rounds = gossip.rounds_for(W, 1e-4, kind)
        assert gossip.contraction(W, rounds, kind) <= 1e-4 < gossip.contraction(W, rounds - 1, kind)


def test_the_ring_is_the_papers():
    W = gossip.matrix("ring", 4).toarray()

    assert np.allclose(W[0], [0.5, 0.25, 0.0, 0.25])
    assert gossip.matrix("ring", 4).gap == pytest.approx(0.5)


def test_the_matrix_of_a_graph_is_metropolis():
    graph = nx.barabasi_albert_graph(15, 2, seed=1)
    W = gossip.matrix(graph)

    dense, degree = W.toarray(), dict(graph.degree)
    assert np.allclose(dense.sum(axis=0), 1) and np.allclose(dense, dense.T)
    for a, b in graph.edges:
        assert dense[a, b] == pytest.approx(1 / (1 + max(degree[a], degree[b])))
    eigenvalues = np.linalg.eigvalsh(dense)
    assert W.interval == pytest.approx((eigenvalues[0], eigenvalues[-2]), abs=1e-10)
    assert W.lazy().interval[0] >= 0
    assert W.diameter == nx.diameter(graph) and W.edges == graph.number_of_edges()
    assert np.array_equal(pickle.loads(pickle.dumps(W)).toarray(), dense)


def test_a_plan_holds_the_theorys_numbers():
    plan = hearsay.plan(
        dimension=1000, rank=10, lambda_1=2.0, lambda_k=1.0, lambda_next=0.99, epsilon=1e-3, noise_level=1e-6
    )
    rows = {row.method: row for row in plan.rows}

    h0 = theory.random_start_tangent(1000, 10)
    beta = theory.optimal_beta(0.99)
    assert plan.start_tangent == pytest.approx(h0)
    assert rows["ANPM"].momentum == pytest.approx(beta)
    assert rows["ANPM"].iterations == (math.ceil(theory.iterations_anpm(1.0, beta, 1e-3, h0)), "guarantee")
    assert rows["ANPM"].noise_outside.value == pytest.approx(theory.noise_anpm(1.0, beta, 1e-3, 1.0).outside)
    assert rows["ANPM"].predicted_floor is not None and rows["ANPM"].traffic is None
    assert "ANPM" in str(plan) and all(note in str(plan) for note in plan.notes)


def test_a_plan_of_a_network_counts_rounds():
    plan = hearsay.plan(
        dimension=64, rank=9, lambda_k=0.157, lambda_next=0.144, agents=10, gossip_gap=0.0955, max_norm=2.83
    )

    adepm = next(row for row in plan.rows if row.method == "ADePM")
    assert adepm.traffic.rounds.value >= adepm.predicted_traffic.rounds.value > 0
    assert adepm.traffic.rounds_per_iteration.standing == "guarantee"


def test_a_plan_takes_its_eigenvalues_from_a_list():
    spectrum = [3.0, 2.0, 1.0, 0.5, 0.1]

    listed = hearsay.plan(dimension=5, rank=2, eigenvalues=spectrum, noise_level=1e-3)
    named = hearsay.plan(dimension=5, rank=2, lambda_1=3.0, lambda_k=2.0, lambda_next=1.0, noise_level=1e-3)

    assert [row.iterations for row in listed.rows] == [row.iterations for row in named.rows]
    assert listed.rows[0].predicted_white_floor is not None and named.rows[0].predicted_white_floor is None


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"rank": 2}, "lambda_k, lambda_next: must be given"),
        ({"rank": 5, "lambda_k": 1.0, "lambda_next": 0.5}, "dimension = 5: must be at least 6"),
        ({"rank": 2, "lambda_k": 1.0, "lambda_next": 1.5}, "must"),
        ({"rank": 2, "eigenvalues": [1.0, 0.5]}, "eigenvalues: 2 were given"),
        ({"rank": 2, "lambda_k": 1.0, "lambda_next": 0.5, "epsilon": math.nan}, "epsilon"),
    ],
)
def test_a_plan_without_an_answer_is_refused(keywords, words):
    with pytest.raises(hearsay.InvalidArgument) as refusal:
        hearsay.plan(dimension=5, **keywords)

    assert words in str(refusal.value)


def test_the_polynomials_are_those_of_their_recurrence():
    beta, x = 0.2, 1.1
    p, q = [1.0, x / 2], [1.0, x]
    for _ in range(10):
        p.append(x * p[-1] - beta * p[-2])
        q.append(x * q[-1] - beta * q[-2])

    assert [theory.p(t, x, beta) for t in range(12)] == pytest.approx(p)
    assert [theory.q(t, x, beta) for t in range(12)] == pytest.approx(q)
    assert theory.log_abs_p(5, x, beta) == pytest.approx(math.log(p[5]))
    assert theory.log_abs_q(5, x, beta) == pytest.approx(math.log(q[5]))
    plus, minus = theory.roots(x, beta)
    assert plus * minus == pytest.approx(beta) and plus + minus == pytest.approx(x)
    assert theory.upper_root(x, beta) == pytest.approx(plus.real)


def test_the_lower_bound_is_what_a_solve_does():
    d, k, edge, t = 40, 2, 0.9, 12
    beta = edge**2 / 4
    A = np.diag(np.r_[np.ones(k), np.full(d - k, edge)])
    start = np.linalg.qr(np.random.default_rng(1).standard_normal((d, k)))[0]
    h0 = np.linalg.norm(start[k:] @ np.linalg.inv(start[:k]), 2)

    with pytest.warns(hearsay.ConvergenceWarning):
        _, vectors, _ = hearsay.eigsh(A, k, momentum=beta, oversampling=0, start=start, max_iter=t, tol=1e-15)

    tangent = np.linalg.norm(vectors[k:] @ np.linalg.inv(vectors[:k]), 2)
    assert tangent == pytest.approx(theory.lower_bound_tangent(t, 1.0, beta, h0), rel=1e-8)


def test_a_constant_push_ends_where_the_closed_form_says():
    A, psi = np.diag(np.r_[1.0, 0.8, np.linspace(0.5, 0.1, 18)]), 1e-4
    push = hearsay.noise.TightOutside(np.eye(20)[1], rank=1, xi=psi)

    # The push is the same at every product, so no residual shows it: it is part of the matrix that is seen.
    _, vectors, info = hearsay.eigsh(
        A, 1, psd=True, noise=push, oversampling=1, max_iter=200, method="anpm", cooldown=0
    )

    assert info.converged
    tangent = np.linalg.norm(vectors[1:]) / abs(vectors[0, 0])
    assert tangent == pytest.approx(theory.floor_constant_push(psi, 1.0, 0.8), rel=1e-2)


@pytest.mark.parametrize("name", theory.__all__)
def test_every_number_of_the_theory_is_documented(name):
    value = getattr(theory, name)

    assert isinstance(value, float) or (value.__doc__ and value.__doc__ != "float(x) -> floating point number")


def test_numbers_out_of_range_are_refused():
    for call in (
        lambda: theory.delta(-1.0, 0.1),
        lambda: theory.optimal_beta(math.nan),
        lambda: theory.gossip_omega(2.0),
        lambda: theory.damped(1.0, 2.0),
        lambda: theory.damped(1.0, 0.5, "sideways"),
    ):
        with pytest.raises(ValueError, match="must"):
            call()


def test_the_theory_speaks_of_noise_gossip_and_floors():
    assert theory.NOISE_CONSTANT == 1 / 32 and theory.START_CONSTANT == pytest.approx(31 / 15)
    assert theory.SMALL_BETA_CONSTANT == pytest.approx(217 / 240)
    assert theory.damped(1.0, 0.8) == pytest.approx((0.4, 0.6, 0.04, 1 / 3))
    assert theory.damped(1.0, 0.8, "symmetric") == pytest.approx((0.0, 1.0, 0.16, 0.2))
    assert theory.noise_npm(1.0, 0.8, 0.1, 0.5) == pytest.approx((0.2 * 0.1 / 32, 0.2 * 0.5 / 32))
    assert theory.white_amplification(1.0, theory.optimal_beta(0.99)) == pytest.approx(2.66, abs=0.01)
    assert theory.floor_white(1e-3, [1.0], [0.5], 0.0) == pytest.approx(theory.floor_white_entry(1e-3, 1.0, 0.5, 0.0))
    omega = theory.gossip_omega(0.5)
    expected = (1 + 6 * (1 - math.sqrt(omega))) * omega**3
    assert theory.accelerated_gossip_contraction(6, 0.5) == pytest.approx(expected)
    assert theory.accelerated_gossip_as_printed(6, 0.5, 4) == pytest.approx((1 - math.sqrt(0.5)) ** 6 * 2)
    assert theory.predicted_gossip_rounds(4, 0.5, 4.6473, 1.373737, 1e-2) < theory.gossip_rounds_adepm(
        4, 0.5, 4.6473, 2, 1.373737, 1.319549**2 / 4, 1e-2, 10.0
    )
