"""Python's keywords are those of the one option table: names, defaults, ranges."""

import inspect

import numpy as np
import pytest
from conftest import sin_theta

import hearsay
from hearsay import _core
from hearsay._options import option_name, option_texts

TABLE = {record["name"]: record for record in _core.option_table()}

# What Python has beside the table: objects instead of files, and what only objects can say.
BESIDE_THE_TABLE = {
    "PCA": {"warm_start", "whiten", "callback", "verbose"},
    "eigsh": {"A", "n", "noisy", "callback", "verbose"}
    | {"v0", "ncv", "maxiter", "return_eigenvectors", "M", "sigma", "Minv", "OPinv", "mode", "rng"},  # SciPy's
    "SpectralEmbedding": {"callback", "verbose"},
    "SpectralClustering": {"n_components", "n_clusters", "callback", "verbose"},
    "DecentralizedPCA": {"callback", "verbose", "comm"},
    "Agent": {"X", "number", "agents", "columns", "configuration", "clock", "callback"}
    | {"start_timeout", "round_timeout", "link_timeout", "heartbeat"},  # of a federation file
    "plan": {"eigenvalues"},
}
DOORS = {
    "PCA": (hearsay.PCA, "pca"),
    "eigsh": (hearsay.eigsh, "eigs"),
    "SpectralEmbedding": (hearsay.SpectralEmbedding, "cluster"),
    "SpectralClustering": (hearsay.SpectralClustering, "cluster"),
    "DecentralizedPCA": (hearsay.DecentralizedPCA, "decentralized"),
    "Agent": (hearsay.Agent, "decentralized"),
    "plan": (hearsay.plan, "plan"),
}

# Where a keyword's default is spelt otherwise than the table's, and why the two are the same.
SPELT_OTHERWISE = {
    ("n_components", None): "as many as there are; the table has no default",
    ("n_components", 2): "the table has no default",
    ("k", 6): "scipy's; the table has no default",
    ("precision", "auto"): "the number type of the data, which files have no say in: double, unless they are float32",
    ("tol", None): "the table's own, which depends on the precision",
    ("accuracy", None): "0, which leaves it to the tolerance",
    ("products", None): "no limit",
    ("batch", None): "all rows",
    ("max_iter", None): "1000, or no limit where products is given",
    ("noise", None): "none",
    ("lambda_1", None): "lambda_k",
    ("start_tangent", None): "that of a random start",
    ("max_norm", None): "lambda_1, for it sees no shards",
    ("agents", None): "no network",
    ("gossip_gap", 1.0): "of no topology in particular",
    ("degree", 2.0): "of no topology in particular",
}


def keywords():
    for door, (function, command) in DOORS.items():
        for name, parameter in inspect.signature(function).parameters.items():
            if name not in BESIDE_THE_TABLE[door]:
                yield pytest.param(command, name, parameter.default, id=f"{door}-{name}")


@pytest.mark.parametrize(("command", "keyword", "default"), keywords())
def test_every_keyword_is_an_option_of_the_table_with_its_default(command, keyword, default):
    record = TABLE[option_name(keyword)]

    assert command in record["commands"]
    if default is inspect.Parameter.empty or (keyword, default) in SPELT_OTHERWISE:
        return
    ((_, text),) = option_texts(**{keyword: default}) or [(None, "")]
    same_number = record["kind"] == "real" and record["default"] and float(text) == float(record["default"])
    assert same_number or text == record["default"]


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_tolerance_left_out_is_the_tables(kind):
    single = kind == np.float32

    info = hearsay.eigsh(np.diag([3.0, 2.0, 1.0]).astype(kind), 1).info

    numbers = TABLE["tolerance"]["default"].replace(", in single precision", "").split()
    assert info.tolerance == pytest.approx(float(numbers[single]))


def test_an_accuracy_stops_by_the_sine_and_sets_the_tolerance():
    A = np.diag(1 / np.arange(1, 301))

    rough, fine = hearsay.eigsh(A, 5, psd=True, accuracy=1e-3), hearsay.eigsh(A, 5, psd=True)

    assert rough.info.tolerance == 1e-3 and rough.info.converged
    assert rough.info.sin_theta_estimate <= 1e-3
    assert rough.info.products < fine.info.products
    assert sin_theta(np.eye(300)[:, :5], rough.vectors) <= 1e-3


def test_a_pca_takes_an_accuracy_too(samples):
    pca = hearsay.PCA(2, accuracy=1e-3, method="anpm").fit(samples)

    assert pca.info_.tolerance == 1e-3 and pca.info_.sin_theta_estimate <= 1e-3 and pca.info_.method == "anpm"
    assert sin_theta(hearsay.PCA(2).fit(samples).components_.T, pca.components_.T) <= 1e-3


@pytest.mark.parametrize("method", ["anpm", "npm", "krylov"])
def test_the_method_asked_for_is_the_one_that_is_used(method):
    A = np.diag(np.r_[4.0, 3.0, np.linspace(1, 0.1, 98)])

    assert hearsay.eigsh(A, 2, psd=True, method=method).info.method == method


OUT_OF_RANGE = {
    "n_components": [0, -1],
    "tol": [0, -1, np.nan, np.inf],
    "accuracy": [-1, 1, np.nan],
    "max_iter": [-1],
    "method": ["lanczos"],
    "momentum": [-1, np.nan, "much"],
    "oversampling": [-1, "some"],
    "noise": ["gaussian:-1", "gaussian", "sphere:x", "white:1"],
    "precision": ["half"],
    "random_state": [-1],
}


@pytest.mark.parametrize(
    ("keyword", "value"), [(key, value) for key, values in OUT_OF_RANGE.items() for value in values]
)
def test_what_the_tables_range_excludes_is_refused(keyword, value, samples):
    assert TABLE[option_name(keyword)]["range"]
    with pytest.raises(hearsay.InvalidArgument, match="must be"):
        hearsay.PCA(**{"n_components": 2, keyword: value}).fit(samples)


def test_messages_name_keywords_and_not_flags(samples):
    A = np.diag([1.0, 0.5, -3.0])
    refusals = {
        r"add a shift of at least its magnitude \(shift\)$": lambda: hearsay.eigsh(A, 1, momentum=0.1),
        "^method = npm: has no momentum; leave momentum out, or use method anpm$": lambda: hearsay.PCA(
            2, method="npm", momentum=0.1
        ).fit(samples),
        "^method = krylov: needs exact products; leave noise out, or use method anpm$": lambda: hearsay.eigsh(
            np.eye(3), 1, method="krylov", noise="gaussian:1"
        ),
        "^oversampling = 0: adaptive momentum needs": lambda: hearsay.PCA(2, oversampling=0, method="anpm").fit(
            samples
        ),
        "^max_iter = -1: must be": lambda: hearsay.PCA(2, max_iter=-1).fit(samples),
        "^momentum = .*; momentum auto finds a value$": lambda: hearsay.eigsh(
            np.diag(np.linspace(4, 0.1, 60)), 2, momentum=3.9
        ),
    }
    for message, solve in refusals.items():
        with pytest.raises(hearsay.Error, match=message) as refused:
            solve()
        assert "--" not in str(refused.value) and "`" not in str(refused.value)


def test_a_message_keeps_what_is_no_option():
    spelt = [("max-iterations", "max_iter")]

    assert _core.in_words("`max-iterations`, `qr-every`", spelt) == "max_iter, qr_every"
    assert _core.in_words("`a`, `max-iterations", spelt) == "`a`, `max-iterations"


def test_an_error_of_the_callers_own_function_comes_out_as_it_is(samples):
    own = hearsay.DataError("mine")

    def callback(now):
        raise own

    with pytest.raises(hearsay.DataError) as raised:
        hearsay.PCA(2, callback=callback).fit(samples)
    assert raised.value is own


@pytest.mark.parametrize("name", ["momentum", "damping", "method"])
def test_every_word_of_a_choice_is_taken(name):
    A = np.diag(np.r_[4.0, 3.0, np.linspace(1, 0.1, 18)])
    for word in TABLE[name]["range"].split("|"):
        value = 0.2 if word == "VALUE" else word
        assert hearsay.eigsh(A, 2, psd=True, max_iter=5000, **{name: value}).info.converged


def test_the_noise_models_of_the_table_and_of_the_module_are_the_same(samples):
    for text, model in {
        "gaussian:1e-13": hearsay.noise.Gaussian(1e-13),
        "sphere:1e-13": hearsay.noise.Sphere(1e-13),
        "adversarial:1e-13": hearsay.noise.Adversarial(1e-13),
    }.items():
        by_text = hearsay.PCA(2, noise=text).fit(samples)
        by_model = hearsay.PCA(2, noise=model).fit(samples)
        assert np.array_equal(by_text.components_, by_model.components_)
        assert by_text.history_.tobytes() == by_model.history_.tobytes()


def test_an_adversary_with_the_eigenvectors_is_the_one_that_finds_them(samples):
    covariance = np.cov(samples.T)
    values, vectors = np.linalg.eigh(covariance)
    noise = hearsay.noise.Adversarial(1e-4, basis=vectors[:, ::-1])

    with pytest.warns(hearsay.ConvergenceWarning):
        given = hearsay.eigsh(covariance, 1, psd=True, noise=noise)
    with pytest.warns(hearsay.ConvergenceWarning):
        found = hearsay.eigsh(covariance, 1, psd=True, noise="adversarial:1e-4")

    assert given.info.status == found.info.status == "noise_floor"
    assert values[-1] == pytest.approx(given.values[0], rel=1e-3)


def test_a_function_can_be_the_noise():
    A, calls = np.diag(np.linspace(1, 0.1, 30)), []

    def noise(product, X):
        calls.append((product, X.shape))
        return np.zeros_like(X)

    result = hearsay.eigsh(A, 2, psd=True, noise=noise)

    assert result.info.converged
    assert [product for product, _ in calls] == list(range(len(calls)))
    assert sum(shape[1] for _, shape in calls) == result.info.products


def test_the_second_tight_example_freezes_the_angle():
    d, k, edge = 30, 2, 0.9
    A, beta, epsilon = np.diag(np.r_[np.ones(k), np.full(d - k, edge)]), 0.9**2 / 4, 1e-3
    angle = np.arctan(2 * epsilon)
    start = np.eye(d)[:, :k]
    start[:, k - 1] = np.cos(angle) * np.eye(d)[:, k - 1] + np.sin(angle) * np.eye(d)[:, k]
    inside = hearsay.noise.TightInside(np.eye(d)[:, :k], lambda_k=1.0, two_sqrt_beta=edge)

    tangents = []
    hearsay.eigsh(
        A,
        k,
        momentum=beta,
        oversampling=0,
        noise=inside,
        start=start,
        max_iter=40,
        tol=1e-15,
        callback=lambda now: tangents.append(np.linalg.norm(now.basis[k:] @ np.linalg.inv(now.basis[:k]), 2)),
    )

    assert tangents == pytest.approx([2 * epsilon] * len(tangents), rel=1e-9)
