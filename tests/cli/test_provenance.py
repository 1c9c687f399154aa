"""A result names what it was made from, and verify holds it against its data once more."""

import hashlib
import json

import numpy as np
import pytest

from conftest import planted

pytestmark = pytest.mark.attack

KEYS = {"arguments", "options", "inputs", "outputs", "version", "compiler", "build_type", "kernels", "seed"}


@pytest.fixture
def files(tmp_path):
    random = np.random.default_rng(1)
    np.savetxt(tmp_path / "data.csv", random.standard_normal((40, 6)) * [6, 5, 3, 1, 1, 1], delimiter=",")
    np.save(tmp_path / "matrix.npy", planted([5, 4, *np.linspace(2, -1, 18)])[0])
    np.save(tmp_path / "start.npy", random.standard_normal((20, 2)))
    (tmp_path / "graph.txt").write_text("0 1\n0 2\n1 2\n2 3\n3 4\n3 5\n4 5\n")
    for name in "ab":
        np.savetxt(tmp_path / f"{name}.csv", random.standard_normal((20, 4)) * [6, 3, 1, 1], delimiter=",")
    return tmp_path


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


RUNS = {
    "pca": ["pca", "data.csv", "-k", "2", "--components", "basis.csv"],
    "pca in single precision": ["pca", "data.csv", "-k", "2", "--precision", "single", "--components", "basis.npy"],
    "pca, not centred": ["pca", "data.csv", "-k", "2", "--no-center", "--components", "basis.npy"],
    "pca of a stream": ["pca", "data.csv", "-k", "2", "--stream", "--components", "basis.npy"],
    "eigs": ["eigs", "matrix.npy", "-k", "2", "--shift", "2", "--start", "start.npy", "--components", "basis.npy"],
    "eigs, no basis": ["eigs", "matrix.npy", "-k", "2", "--shift", "2"],
    "cluster": ["cluster", "graph.txt", "-k", "2"],
    "agents": ["decentralized", "data.csv", "-k", "2", "--agents", "4", "--components", "basis-{agent}.npy"],
    "agents with files": ["decentralized", "a.csv", "b.csv", "-k", "1", "--components", "basis.npy"],
    "agents that are nodes": ["decentralized", "graph.txt", "-k", "1", "--split", "by-node", "--components", "basis.npy"],
    "a plan": ["plan", "--data", "data.csv", "-k", "2"],
}


@pytest.mark.parametrize("arguments", RUNS.values(), ids=RUNS.keys())
def test_a_result_is_verified_and_a_changed_input_is_found(hearsay, files, arguments):
    assert hearsay(*arguments, "--json", "result.json").returncode == 0
    provenance = json.loads((files / "result.json").read_text())["provenance"]

    assert set(provenance) == KEYS
    for file in provenance["inputs"]:
        assert file["sha256"] == digest(files / file["path"]) and file["bytes"] == (files / file["path"]).stat().st_size
    assert provenance["options"]["rank"] == arguments[arguments.index("-k") + 1] and provenance["inputs"]

    result = hearsay("verify", "result.json")
    assert result.returncode == 0, result.stdout + result.stderr
    changed = files / provenance["inputs"][0]["path"]
    changed.write_bytes(changed.read_bytes() + b"\n")
    result = hearsay("verify", "result.json")
    assert result.returncode == 3 and "FAILS" in result.stdout and "sha256" in result.stdout


CHANGES = {
    "residual": lambda result: result.update(residual=result["residual"] * 100 + 1e-9),
    "eigenvalues": lambda result: result.update(eigenvalues=[x * 1.001 for x in result["eigenvalues"]]),
    "dimension": lambda result: result.update(dimension=19),
    "sin(theta)": lambda result: result["certificate"]["sin_theta"].update(bound=-1.0),
    "nothing missed": lambda result: result["certificate"]["nothing_missed"].update(count=1, above=0.0),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_number_that_was_changed_is_found(hearsay, files, what):
    assert hearsay(*RUNS["eigs"], "--json", "result.json").returncode == 0
    result = json.loads((files / "result.json").read_text())
    CHANGES[what](result)
    (files / "result.json").write_text(json.dumps(result))

    verified = hearsay("verify", "result.json")

    assert verified.returncode == 3
    assert any("FAILS" in line and what in line for line in verified.stdout.splitlines()), verified.stdout


def test_another_basis_is_found(hearsay, files):
    assert hearsay(*RUNS["eigs"], "--json", "result.json").returncode == 0
    np.save(files / "other.npy", np.eye(20)[:, :2])

    result = hearsay("verify", "result.json", "--components", "other.npy")

    assert result.returncode == 3 and "residual" in result.stdout


def test_what_is_no_result_is_refused(hearsay, files):
    for text in ["", "[]", "{}", '{"provenance": 1}', '{"provenance": {"inputs": [{}]}}', '{"provenance": {"inputs": 3}}']:
        (files / "result.json").write_text(text)
        hearsay.refuses("verify", "result.json", saying="result.json")
    hearsay.refuses("verify", "nowhere.json", saying="nowhere.json")
    hearsay.refuses("verify", "data.csv", saying="data.csv")


def test_limits_are_listed(hearsay):
    text = hearsay("info", "--limits")
    assert text.returncode == 0 and "threads" in text.stdout and "download" in text.stdout
    assert len(json.loads(hearsay("info", "--limits", "--json").stdout)) >= 10
