"""Every picture is drawn, with its axes named."""

import sys

import matplotlib
import networkx as nx
import numpy as np
import pytest
from conftest import decaying_samples, planted

import hearsay

matplotlib.use("Agg")

import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def png_of(axes, tmp_path):
    path = tmp_path / "picture.png"
    axes.figure.savefig(path, dpi=60)
    return plt.imread(path)


def labels_of(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_convergence_shows_residual_tolerance_and_rate(tmp_path):
    axes = hearsay.PCA(3, oversampling=1).fit(decaying_samples(200, 15)).plot()

    assert labels_of(axes) == ["residual", "tolerance", "promised rate"]
    assert axes.get_xlabel() == "iteration" and axes.get_ylabel() and axes.get_yscale() == "log"
    assert png_of(axes, tmp_path).std() > 0


def test_the_envelope_lies_above_the_sine_it_bounds(tmp_path):
    A, vectors = planted(np.r_[np.ones(3), np.linspace(0.9, 0.1, 60)])

    axes = hearsay.eigsh(A, 3, psd=True, reference=vectors[:, :3], oversampling=1).plot()

    lines = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
    assert "envelope" in lines and png_of(axes, tmp_path).std() > 0
    assert np.all(lines["envelope"] >= lines[r"$\sin\theta_k$ to the reference"])


def test_a_noise_floor_is_drawn():
    A, _ = planted(np.linspace(1, 0.1, 50))

    with pytest.warns(hearsay.ConvergenceWarning):
        result = hearsay.eigsh(A, 2, psd=True, noise="gaussian:1e-4")

    assert "noise floor" in labels_of(hearsay.plots.convergence(result))


def test_the_spectrum_shows_what_was_found_and_what_was_damped(tmp_path):
    A, _ = planted(np.linspace(1, 0.1, 50))

    axes = hearsay.plots.spectrum(hearsay.eigsh(A, 4, psd=True, momentum="paper"))

    assert labels_of(axes) == ["eigenvalues", "the next", "damped"]
    assert np.allclose(axes.get_lines()[0].get_ydata(), np.linspace(1, 0.1, 50)[:4])
    assert axes.get_xlabel() and axes.get_ylabel() and png_of(axes, tmp_path).std() > 0


def test_agreement_is_drawn_over_rounds(tmp_path):
    agents = hearsay.DecentralizedPCA(2).fit(np.split(decaying_samples(100, 8), 5))

    axes = agents.plot()

    assert labels_of(axes)[:2] == ["worst agent's residual", "disagreement between agents"]
    assert axes.get_xlabel() == "gossip rounds" and png_of(axes, tmp_path).std() > 0


@pytest.mark.parametrize("network", ["ring", nx.petersen_graph()])
def test_a_network_has_a_line_per_edge(network, tmp_path):
    axes = hearsay.plots.network(network, agents=10)

    W = hearsay.gossip.matrix(network, 10)
    assert len(axes.get_lines()) == W.edges and len(axes.texts) == 10
    assert "10 agents" in axes.get_title() and png_of(axes, tmp_path).std() > 0


def test_a_picture_goes_where_it_is_told():
    _, (left, right) = plt.subplots(1, 2)
    result = hearsay.eigsh(np.diag([3.0, 2.0, 1.0]), 1)

    assert hearsay.plots.convergence(result, ax=left) is left
    assert hearsay.plots.spectrum(result.info, ax=right) is right


def test_what_has_no_history_is_refused():
    with pytest.raises(hearsay.InvalidArgument, match="must be"):
        hearsay.plots.convergence(3)
    with pytest.raises(hearsay.InvalidArgument, match="must be"):
        hearsay.plots.agreement(3)


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)

    with pytest.raises(ImportError, match=r"pip install hearsay\[plots\]"):
        hearsay.eigsh(np.diag([3.0, 2.0, 1.0]), 1).plot()
