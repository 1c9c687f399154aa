"""Planted communities are found again."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import sin_theta
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import hearsay


@pytest.fixture(scope="module")
def graph():
    return nx.planted_partition_graph(4, 40, 0.3, 0.01, seed=2)


PLANTED = np.repeat(np.arange(4), 40)


@pytest.mark.parametrize("form", [lambda g: g, nx.to_numpy_array, nx.to_scipy_sparse_array])
def test_communities_are_found_in_any_form_of_the_graph(graph, form):
    clustering = hearsay.SpectralClustering(4).fit(form(graph))

    assert adjusted_rand_score(PLANTED, clustering.labels_) == 1.0
    assert clustering.converged_ and clustering.n_connected_components_ == 1


def test_the_embedding_is_that_of_the_normalised_adjacency(graph):
    S = nx.to_numpy_array(graph)
    scale = 1 / np.sqrt(S.sum(axis=1))
    values, vectors = np.linalg.eigh(np.eye(160) + scale[:, None] * S * scale)
    leading = vectors[:, ::-1][:, :4]

    embedding = hearsay.SpectralEmbedding(4).fit(graph)

    assert np.allclose(embedding.eigenvalues_, values[::-1][:4], rtol=1e-9)
    assert np.allclose(np.linalg.norm(embedding.embedding_, axis=1), 1)
    lengths = np.linalg.norm(leading, axis=1, keepdims=True)
    assert sin_theta(leading, np.linalg.qr(embedding.embedding_ * lengths)[0]) <= 1e-7


def test_weights_count():
    S = sp.block_diag([np.ones((5, 5)), np.ones((5, 5))]).toarray() + 1e-3
    np.fill_diagonal(S, 0)

    labels = hearsay.SpectralClustering(2).fit_predict(S)

    assert len(set(labels[:5])) == len(set(labels[5:])) == 1 and labels[0] != labels[9]


def test_parts_that_are_not_joined_are_counted():
    graph = nx.disjoint_union_all([nx.complete_graph(6)] * 3)

    clustering = hearsay.SpectralClustering(3).fit(graph)

    assert clustering.n_connected_components_ == 3
    assert np.allclose(clustering.eigenvalues_, 2)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 6), clustering.labels_) == 1.0


def test_the_same_seed_gives_the_same_labels(graph):
    clustering = hearsay.SpectralClustering(4, random_state=7).fit(graph)

    assert np.array_equal(clone(clustering).fit(graph).labels_, clustering.labels_)


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (np.ones((3, 2)), "must be square"),
        (np.array([[0.0, 1.0], [0.5, 0.0]]), "must be symmetric"),
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), "weight = -1: must not be negative"),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), "not finite"),
        (nx.DiGraph([(0, 1)]), "is directed"),
    ],
)
def test_what_is_no_undirected_graph_is_refused(graph, words):
    with pytest.raises(hearsay.InvalidArgument) as refusal:
        hearsay.SpectralEmbedding(1).fit(graph)

    assert words in str(refusal.value)


def test_too_many_clusters_are_refused():
    with pytest.raises(hearsay.InvalidArgument, match="n_components = 7: must lie in"):
        hearsay.SpectralClustering(7).fit(nx.path_graph(5))
