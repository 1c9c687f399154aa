"""No end goes unexplained: warnings, callbacks, Ctrl-C, and what functions raise."""

import _thread
import signal

import networkx as nx
import numpy as np
import pytest
from conftest import planted, sin_theta
from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning

import hearsay
from hearsay import _core


class Mine(Exception):
    pass


def test_the_warning_is_also_scikit_learns():
    assert issubclass(hearsay.ConvergenceWarning, SklearnConvergenceWarning)


def test_a_solve_out_of_iterations_warns_and_gives_what_it_has(samples):
    with pytest.warns(hearsay.ConvergenceWarning, match="at the limit of its iterations"):
        pca = hearsay.PCA(3, max_iter=1, oversampling=1).fit(samples)

    assert pca.status_ == "iteration_limit" and not pca.converged_
    assert pca.residual_ > pca.info_.tolerance
    assert np.allclose(pca.components_ @ pca.components_.T, np.eye(3), atol=1e-12)


def test_noisy_products_end_at_their_floor_with_its_level():
    A, vectors = planted(np.linspace(1, 0.1, 40) ** 2)

    with pytest.warns(hearsay.ConvergenceWarning, match="allow no better"):
        _, basis, info = hearsay.eigsh(A, 2, psd=True, noise="gaussian:1e-4")

    assert info.status == "noise_floor" and np.isfinite(info.noise_floor)
    assert info.noise_level == pytest.approx(1e-4, rel=0.5)
    assert sin_theta(vectors[:, :2], basis) < 0.05


def test_a_pca_at_the_noise_floor_says_so(samples):
    with pytest.warns(hearsay.ConvergenceWarning):
        pca = hearsay.PCA(2, noise=hearsay.noise.Sphere(1e-3)).fit(samples)

    assert pca.status_ == "noise_floor" and pca.noise_floor_ == pca.residual_


def test_the_warning_points_at_the_callers_line(samples):
    calls = [
        lambda: hearsay.PCA(3, max_iter=1, oversampling=1).fit(samples),
        lambda: hearsay.PCA(3, max_iter=1, oversampling=1).partial_fit(samples),
        lambda: hearsay.eigsh(np.cov(samples.T), 3, max_iter=1, oversampling=1),
        lambda: hearsay.SpectralEmbedding(2, max_iter=1, oversampling=1).fit(nx.path_graph(50)),
        lambda: hearsay.SpectralClustering(2, max_iter=1, oversampling=1).fit(nx.path_graph(50)),
        lambda: hearsay.DecentralizedPCA(2, max_iter=1).fit(np.split(samples, 3)),
    ]
    for call in calls:
        with pytest.warns(hearsay.ConvergenceWarning) as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]


def test_a_converged_solve_does_not_warn(samples, recwarn):
    hearsay.PCA(3).fit(samples)

    assert len(recwarn) == 0


def test_a_callback_sees_every_iteration(samples):
    seen = []

    pca = hearsay.PCA(2, oversampling=1, callback=lambda now: seen.append((now.t, now.residual, now.momentum))).fit(
        samples
    )

    assert [t for t, _, _ in seen] == list(range(pca.n_iter_ + 1))
    assert [residual for _, residual, _ in seen] == list(pca.history_["residual"])
    assert [momentum for _, _, momentum in seen] == list(pca.history_["momentum"])


def test_a_callback_may_take_the_basis_while_it_runs(samples):
    bases, moments = [], []

    hearsay.PCA(2, callback=lambda now: bases.append(now.basis) or moments.append(now)).fit(samples)

    assert all(np.allclose(basis.T @ basis, np.eye(2), atol=1e-12) for basis in bases)
    with pytest.raises(ValueError, match="only while the callback runs"):
        _ = moments[0].basis


def test_a_callback_that_raised_cannot_reach_back(samples):
    moments = []

    def fail(now):
        moments.append(now)
        raise Mine("mine alone")

    with pytest.raises(Mine):
        hearsay.PCA(2, callback=fail).fit(samples)

    with pytest.raises(ValueError, match="only while the callback runs"):
        _ = moments[0].basis


@pytest.mark.parametrize("answer", [None, True, 0, "no"])
def test_only_false_stops(samples, answer):
    assert hearsay.PCA(2, callback=lambda now: answer).fit(samples).converged_


def test_false_stops_with_the_best_so_far(samples):
    with pytest.warns(hearsay.ConvergenceWarning, match="stopped by the callback"):
        pca = hearsay.PCA(2, oversampling=1, callback=lambda now: now.t < 3).fit(samples)

    assert pca.status_ == "stopped_by_observer" and pca.n_iter_ == 3 and not pca.info_.interrupted
    assert np.allclose(pca.components_ @ pca.components_.T, np.eye(2), atol=1e-12)


@pytest.mark.parametrize("where", ["callback", "product", "noise"])
def test_what_a_function_raises_comes_out_unchanged(where):
    A, _ = planted(np.linspace(1, 0.1, 30))
    raised = Mine("mine alone")

    def fail(*_):
        raise raised

    calls = {
        "callback": lambda: hearsay.eigsh(A, 2, callback=fail),
        "product": lambda: hearsay.eigsh(fail, 2, n=30),
        "noise": lambda: hearsay.eigsh(A, 2, noise=fail),
    }
    with pytest.raises(Mine) as caught:
        calls[where]()

    assert caught.value is raised


@pytest.mark.parametrize("where", ["callback", "product", "noise"])
def test_ctrl_c_in_a_function_gives_the_best_so_far(where, slow_matrix):
    A, calls = slow_matrix.dense, []

    def interrupt_at_the_fifth(value):
        calls.append(1)
        if len(calls) == 5:
            signal.raise_signal(signal.SIGINT)
        return value

    functions = {
        "callback": {"A": A, "callback": lambda now: interrupt_at_the_fifth(None)},
        "product": {"A": lambda X: interrupt_at_the_fifth(A @ X), "n": slow_matrix.size},
        "noise": {"A": A, "noise": lambda product, X: interrupt_at_the_fifth(0 * X)},
    }
    with pytest.warns(hearsay.ConvergenceWarning, match="stopped by Ctrl-C"):
        values, vectors, info = hearsay.eigsh(k=2, **functions[where], **slow_matrix.options)

    assert info.status == "stopped_by_observer" and info.interrupted and info.iterations == 4
    assert np.allclose(vectors.T @ vectors, np.eye(2), atol=1e-12)
    assert np.allclose(values, np.linalg.eigvalsh(vectors.T @ A @ vectors)[::-1], atol=1e-12)


def test_a_second_ctrl_c_goes_through(slow_matrix):
    def always(X):
        signal.raise_signal(signal.SIGINT)
        return X

    with pytest.raises(KeyboardInterrupt):
        hearsay.eigsh(always, 2, n=slow_matrix.size, **slow_matrix.options)


def test_ctrl_c_reaches_a_solve_that_calls_no_python(slow_matrix):
    options = [("rank", "2"), ("momentum", "none"), ("tolerance", "1e-14"), ("max-iterations", str(10**8))]
    places = []

    def solve():
        return _core.eigs_dense(slow_matrix.dense, options, 0.0, True, False, None, None, None, None)

    def tick(_, frame):
        # Once the same instruction of solve() is met twice, it is the compiled solve that is running.
        here = (frame.f_code is solve.__code__, frame.f_lasti)
        if here[0] and places and places[-1] == here:
            raise KeyboardInterrupt
        places.append(here)
        signal.setitimer(signal.ITIMER_REAL, 0.01)

    before = signal.signal(signal.SIGALRM, tick)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        made = solve()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

    assert made["status"] == "stopped_by_observer" and made["interrupted"]
    assert made["iterations"] > 0 and made["vectors"].shape == (slow_matrix.size, 2)


def test_ctrl_c_in_another_thread_is_left_to_the_main_one(slow_matrix):
    stopped = []
    thread_done = _thread.allocate_lock()
    thread_done.acquire()

    def work():
        try:
            _, _, info = hearsay.eigsh(slow_matrix.dense, 2, max_iter=20, momentum="none", tol=1e-14)
            stopped.append(info)
        finally:
            thread_done.release()

    with pytest.warns(hearsay.ConvergenceWarning):
        _thread.start_new_thread(work, ())
        thread_done.acquire()

    assert stopped[0].status == "iteration_limit" and stopped[0].iterations == 20
