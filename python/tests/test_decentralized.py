"""Agents that gossip end with the components of all the data."""

import pickle
import signal

import networkx as nx
import numpy as np
import pytest
from conftest import decaying_samples, sin_theta
from sklearn.base import clone
from sklearn.datasets import load_digits

import hearsay


@pytest.fixture
def shards():
    return np.array_split(decaying_samples(300, 12, seed=1, offset=2.0), 6)


@pytest.fixture
def whole(shards):
    return hearsay.PCA(3).fit(np.vstack(shards))


@pytest.mark.parametrize("algorithm", ["deepca", "adeepca"])
@pytest.mark.parametrize("topology", ["ring", "complete", "star", "path", "grid", "torus", "erdos:0.6", "regular:3"])
def test_a_tracked_method_agrees_with_pca_on_any_network(shards, whole, algorithm, topology):
    agents = hearsay.DecentralizedPCA(3, algorithm=algorithm, topology=topology).fit(shards)

    assert agents.status_ == "converged"
    for components in agents.agent_components_:
        assert sin_theta(whole.components_.T, components.T) <= 1e-6
    assert np.allclose(agents.explained_variance_, whole.explained_variance_, rtol=1e-6)
    assert np.allclose(agents.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-6)
    assert np.allclose(agents.info_.eigenvalues, whole.explained_variance_, rtol=1e-6)
    assert np.allclose(agents.mean_, whole.mean_)
    assert agents.agreement_ <= 1e-6
    assert agents.error_bar_ is None


@pytest.mark.parametrize("algorithm", ["depm", "adepm"])
def test_an_untracked_method_ends_at_the_floor_its_rounds_set(shards, whole, algorithm):
    with pytest.warns(hearsay.ConvergenceWarning):
        few = hearsay.DecentralizedPCA(3, algorithm=algorithm, rounds=3, max_iter=300).fit(shards)
    with pytest.warns(hearsay.ConvergenceWarning):
        more = hearsay.DecentralizedPCA(3, algorithm=algorithm, rounds=12, max_iter=300).fit(shards)

    error = [max(sin_theta(whole.components_.T, V.T) for V in agents.agent_components_) for agents in (few, more)]
    assert error[1] < error[0] / 10
    for agents, true in zip((few, more), error, strict=True):
        assert agents.error_bar_.kind == "indicative"
        assert true <= agents.error_bar_.sin_theta


def test_a_networkx_graph_and_its_gossip_matrix_are_the_same_network(shards):
    graph = nx.cycle_graph(6)
    graph.add_edge(0, 3)

    by_graph = hearsay.DecentralizedPCA(2, topology=graph).fit(shards)
    by_matrix = hearsay.DecentralizedPCA(2, topology=hearsay.gossip.matrix(graph)).fit(shards)
    by_array = hearsay.DecentralizedPCA(2, topology=hearsay.gossip.matrix(graph).toarray()).fit(shards)

    assert by_graph.gossip_matrix_.edges == 7
    assert by_graph.info_.digest == by_matrix.info_.digest == by_array.info_.digest


def test_digits_by_label_agree_with_pca_on_all_of_them():
    pixels, labels = load_digits(return_X_y=True)
    whole = hearsay.PCA(5).fit(pixels)

    agents = hearsay.DecentralizedPCA(5).fit([pixels[labels == digit] for digit in range(10)])

    assert agents.gossip_matrix_.gap == pytest.approx(0.095492, abs=1e-6)
    assert max(sin_theta(whole.components_.T, V.T) for V in agents.agent_components_) <= 1e-6


def test_traffic_is_what_the_history_says(shards):
    agents = hearsay.DecentralizedPCA(2, topology="ring", rounds=4).fit(shards)

    assert agents.traffic_.rounds == agents.history_["rounds"][-1] + agents.history_["rounds_next"][-1]
    assert agents.traffic_.messages == 12 * (agents.traffic_.rounds + agents.traffic_.control_rounds)


@pytest.mark.parametrize(("precision", "size"), [("single", 4), ("bfloat16", 2)])
def test_rounded_messages_cost_bytes_and_not_accuracy(shards, whole, precision, size):
    exact = hearsay.DecentralizedPCA(3, rounds=6).fit(shards)
    rounded = hearsay.DecentralizedPCA(3, rounds=6, message_precision=precision).fit(shards)

    assert max(sin_theta(whole.components_.T, V.T) for V in rounded.agent_components_) <= 1e-6
    per_round = exact.history_["bytes"][1] - exact.history_["bytes"][0]
    saved = per_round - (rounded.history_["bytes"][1] - rounded.history_["bytes"][0])
    assert saved == 12 * 6 * (8 - size) * 12 * exact.info_.columns  # messages, rounds, bytes, features, columns


def test_a_reference_gives_the_worst_agents_sine(shards, whole):
    agents = hearsay.DecentralizedPCA(3).fit(shards, reference=whole.components_)

    assert agents.history_["sin_theta"][0] > 0.1 and agents.history_["sin_theta"][-1] <= 1e-6


def test_without_centring_the_matrix_is_the_mean_square(shards):
    agents = hearsay.DecentralizedPCA(2, center=False).fit(shards)

    X = np.vstack(shards)
    assert np.allclose(agents.explained_variance_, np.linalg.eigvalsh(X.T @ X / len(X))[::-1][:2], rtol=1e-7)
    assert np.allclose(agents.info_.eigenvalues, hearsay.PCA(2, center=False).fit(X).explained_variance_, rtol=1e-7)


def test_transform_projects_every_agents_samples(shards, whole):
    agents = hearsay.DecentralizedPCA(3)

    scores = agents.fit_transform(shards)

    assert [len(part) for part in scores] == [50] * 6
    assert np.allclose(np.vstack(scores), whole.transform(np.vstack(shards)), atol=1e-6)


def test_an_agent_may_have_no_rows(shards, whole):
    agents = hearsay.DecentralizedPCA(3).fit([*shards, np.zeros((0, 12))])

    assert len(agents.agent_components_) == 7
    assert max(sin_theta(whole.components_.T, V.T) for V in agents.agent_components_) <= 1e-6


def test_a_clone_and_a_pickle_give_the_same_digest(shards):
    agents = hearsay.DecentralizedPCA(2, random_state=3).fit(shards)

    assert clone(agents).fit(shards).info_.digest == agents.info_.digest
    assert pickle.loads(pickle.dumps(agents)).info_.digest == agents.info_.digest


def test_a_callback_stops_all_agents_together(shards):
    seen = []

    with pytest.warns(hearsay.ConvergenceWarning, match="stopped by the callback"):
        agents = hearsay.DecentralizedPCA(2, callback=lambda now: seen.append(now.t) or now.t < 4).fit(shards)

    assert agents.status_ == "stopped_by_observer" and seen[0] == 0 and agents.n_iter_ >= 4


def test_ctrl_c_gives_the_best_so_far(shards):
    def interrupt(now):
        if now.t == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.warns(hearsay.ConvergenceWarning, match="stopped by Ctrl-C"):
        agents = hearsay.DecentralizedPCA(2, callback=interrupt).fit(shards)

    assert agents.info_.interrupted and agents.components_.shape == (2, 12)


def test_what_a_callback_raises_comes_out_unchanged(shards):
    raised = RuntimeError("mine")

    def fail(now):
        raise raised

    with pytest.raises(RuntimeError) as caught:
        hearsay.DecentralizedPCA(2, callback=fail).fit(shards)

    assert caught.value is raised


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"n_components": 13}, "must lie in [1, 12]"),
        ({"algorithm": "adepca"}, "algorithm = adepca: must be one of depm|adepm|deepca|adeepca; did you mean"),
        ({"gossip": "slow"}, "gossip = slow: must be one of plain|accelerated|chebyshev"),
        ({"rounds": 0}, "rounds = 0: must be a whole number of at least 1"),
        ({"message_precision": "half"}, "message_precision = half: must be one of double|single|bfloat16"),
        ({"algorithm": "adepm", "oversampling": 3}, "oversampling = 3: must be 1"),
        ({"topology": "rign"}, "topology = rign: must be one of ring|"),
        ({"topology": "erdos:x"}, "topology = erdos:x: must be one of"),
        ({"topology": nx.path_graph(5)}, "network of 5 agents: must have 6"),
        ({"topology": nx.empty_graph(6)}, "connected"),
        ({"topology": nx.path_graph(6).to_directed()}, "is directed"),
        ({"topology": np.eye(6)}, "connected"),
        ({"topology": np.full((6, 6), 0.2)}, "must"),
        ({"momentum": "optimal"}, "momentum = optimal"),
        ({"tol": -1}, "tol = -1"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(shards, keywords, words):
    with pytest.raises(hearsay.InvalidArgument) as refusal:
        hearsay.DecentralizedPCA(**keywords).fit(shards)

    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.ones((4, 3)), "must be a list of arrays"),
        ([], "must be a list of arrays"),
        ([np.ones((4, 3)), np.ones((4, 2))], "X[1] has 2 features: must have 3"),
        ([np.ones((1, 3)), np.ones((0, 3))], "1 samples in all"),
        ([np.ones((4, 3)), np.full((4, 3), np.nan)], "X[1] contains NaN"),
    ],
)
def test_data_that_do_not_fit_are_refused_in_words(X, words):
    with pytest.raises(ValueError, match="must|NaN") as refusal:
        hearsay.DecentralizedPCA(2).fit(X)

    assert words in str(refusal.value)
