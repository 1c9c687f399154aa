import hashlib
import json

import numpy as np
import pytest

from conftest import SOURCE, planted


@pytest.fixture
def communities(tmp_path):
    """Three groups of 40 nodes, named 1000, 1001, ...; and which group each belongs to."""
    rng = np.random.default_rng(1)
    group = np.arange(120) // 40
    edges = [(i, j) for i in range(120) for j in range(i) if rng.random() < (0.3 if group[i] == group[j] else 0.01)]
    text = "# three communities\n" + "".join(f"{1000 + i}\t{1000 + j}\n" for i, j in edges)
    (tmp_path / "graph.txt").write_text(text)
    return group


def test_planted_communities_are_found(hearsay, communities, tmp_path):
    result = hearsay.json("cluster", "graph.txt", "-k", 3, "--labels", "labels.csv", "--embedding", "embedding.npy")

    lines = (tmp_path / "labels.csv").read_text().splitlines()
    nodes, labels = np.array([line.split(",") for line in lines[1:]], dtype=int).T
    assert lines[0] == "node,cluster" and nodes.tolist() == list(range(1000, 1120))
    assert len({(label, group) for label, group in zip(labels, communities)}) == 3
    assert result["cluster_sizes"] == [40, 40, 40] and result["components"] == 1
    assert np.allclose(np.linalg.norm(np.load(tmp_path / "embedding.npy"), axis=1), 1)
    assert np.isclose(result["eigenvalues"][0], 2)


def test_a_disconnected_graph_is_mentioned(hearsay, tmp_path):
    (tmp_path / "graph.txt").write_text("0 1\n1 2\n2 0\n5 6\n")

    result = hearsay.json("cluster", "graph.txt", "-k", 2, "--clusters", 2)
    whole = hearsay.json("cluster", "graph.txt", "-k", 1, "--clusters", 1, "--largest-component")

    assert result["components"] == 2 and np.allclose(result["eigenvalues"], 2)
    assert any("2 components" in note for note in result["notes"])
    assert whole["components"] == 1 and whole["nodes"] == 3


def test_the_number_of_clusters_can_differ_from_k(hearsay, communities):
    result = hearsay("cluster", "graph.txt", "-k", 3, "--clusters", 5, "--restarts", 3)

    assert result.returncode == 0 and "clusters     5, of sizes" in result.stdout


def test_too_many_clusters_are_refused(hearsay, tmp_path):
    (tmp_path / "graph.txt").write_text("0 1\n1 2\n")

    hearsay.refuses("cluster", "graph.txt", "-k", 1, "--clusters", 9, saying="9")


PLAN = ["plan", "--dimension", 1000, "-k", 10, "--lambda-k", 1, "--lambda-next", 0.99]


def test_a_plan_lists_the_methods_with_their_iterations(hearsay):
    plan = hearsay.json(*PLAN, "--epsilon", 1e-2, "--noise-level", 1e-6)

    iterations = {row["method"]: row["iterations"] for row in plan["rows"]}
    assert iterations["ANPM"]["value"] < iterations["NPM (Hardt and Price)"]["value"]
    assert iterations["ANPM"]["standing"] == "guarantee" and iterations["ANPM (Xu 2023)"]["standing"] == "order"
    assert plan["dimension"] == 1000 and plan["k"] == 10


def test_a_plan_for_a_network_adds_rounds_and_bytes(hearsay):
    result = hearsay(*PLAN, "--agents", 10, "--gossip-gap", 0.1)

    assert result.returncode == 0 and "ADePM" in result.stdout and "expected bytes sent" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 130


def test_a_plan_takes_its_eigenvalues_from_a_file(hearsay, tmp_path):
    np.save(tmp_path / "matrix.npy", planted([4, 3, 2, 1])[0])

    plan = hearsay.json("plan", "--matrix", "matrix.npy", "-k", 2)

    assert np.isclose(plan["lambda_1"], 4) and np.isclose(plan["lambda_k"], 3) and np.isclose(plan["lambda_next"], 2)


@pytest.mark.parametrize("arguments, saying", [
    (["plan", "-k", 10], "dimension"),
    (["plan", "--dimension", 10], "rank"),
    (["plan", "--dimension", 10, "-k", 2, "--lambda-k", 1], "lambda-next"),
    ([*PLAN, "--epsilon", 2], "epsilon"),
    (["plan", "--dimension", 10, "-k", 2, "--lambda-k", 1, "--lambda-next", 1.5], "lambda"),
])
def test_a_plan_without_sense_is_refused(hearsay, arguments, saying):
    hearsay.refuses(*arguments, saying=saying)


@pytest.mark.parametrize("words", [["datasets", "list"], ["datasets"]])
def test_data_sets_are_listed_with_their_place(hearsay, tmp_path, words):
    result = hearsay(*words, env={"HEARSAY_DATA": str(tmp_path)})

    assert result.returncode == 0 and str(tmp_path) in result.stdout
    assert all(name in result.stdout for name in ["digits", "fed-heart-disease", "ego-facebook", "amazon0302"])
    assert "not fetched" in result.stdout


def test_data_sets_have_no_other_commands(hearsay):
    hearsay.refuses("datasets", "lsit", saying="lsit")


def test_a_missing_data_set_is_refused_with_the_command_that_gets_it(hearsay, tmp_path):
    for arguments in [["datasets", "path", "ego-facebook"], ["cluster", "ego-facebook", "-k", "2"]]:
        result = hearsay(*arguments, env={"HEARSAY_DATA": str(tmp_path)})

        assert result.returncode == 2 and "hearsay datasets fetch ego-facebook" in result.stderr


def test_what_is_built_in_needs_no_directory_at_all(hearsay, tmp_path):
    nowhere = {"HEARSAY_DATA": "", "XDG_CACHE_HOME": "", "HOME": ""}

    listed = hearsay("datasets", env=nowhere)
    for command in (["pca", "digits", "-k", 2, "--json", "result.json"],
                    ["pca", "digits", "-k", 2, "--stream", "--checkpoint", "saved"],
                    ["pca", "fed-heart-disease", "-k", 2], ["decentralized", "fed-heart-disease", "-k", 2]):
        result = hearsay(*command, env=nowhere)
        assert result.returncode == 0, (command, result.stderr)

    assert listed.returncode == 0 and listed.stdout.count("built in") == 2
    [source] = json.loads((tmp_path / "result.json").read_text())["provenance"]["inputs"]
    content = (SOURCE / "data/digits.csv.gz").read_bytes()
    assert source == {"option": "data set digits", "path": "built-in:/digits.csv.gz", "bytes": len(content),
                      "sha256": hashlib.sha256(content).hexdigest()}


def test_a_result_from_built_in_data_is_verified(hearsay, tmp_path):
    nowhere = {"HEARSAY_DATA": str(tmp_path / "empty")}
    (tmp_path / "out").mkdir()
    hearsay("pca", "digits", "-k", 3, "--components", "basis.npy", "--json", "out/result.json", env=nowhere)

    result = hearsay("verify", "out/result.json", env=nowhere)

    assert result.returncode == 0 and "FAILS" not in result.stdout, result.stdout
    assert "built-in:/digits.csv.gz: sha256" in result.stdout and "sin(theta)" in result.stdout
    changed = (tmp_path / "out/result.json").read_text().replace('"sha256": "09f6', '"sha256": "19f6')
    (tmp_path / "out/result.json").write_text(changed)
    assert hearsay("verify", "out/result.json", env=nowhere).returncode == 3


def test_what_is_built_in_can_be_had_as_files(hearsay, tmp_path):
    here = {"HEARSAY_DATA": str(tmp_path), "https_proxy": "http://127.0.0.1:1", "no_proxy": ""}

    path = hearsay("datasets", "path", "digits", env=here)
    assert path.returncode == 2 and "hearsay datasets fetch digits" in path.stderr
    assert hearsay("datasets", "fetch", "digits", env=here).returncode == 0
    assert (tmp_path / "digits.csv.gz").read_bytes() == (SOURCE / "data/digits.csv.gz").read_bytes()
    assert hearsay("datasets", "path", "digits", env=here).stdout.strip() == str(tmp_path / "digits.csv.gz")
    assert "here, built in" in hearsay("datasets", "list", env=here).stdout


def test_the_path_of_a_data_set_is_printed(hearsay, digits):
    result = hearsay("datasets", "path", "Digits")

    assert result.stdout.strip() == str(digits)


def test_a_data_set_that_is_complete_is_not_fetched_again(hearsay, digits, tmp_path):
    (tmp_path / "digits.csv.gz").write_bytes(digits.read_bytes())

    result = hearsay("datasets", "fetch", "digits", "--to", tmp_path)

    assert result.returncode == 0 and "already complete" in result.stdout


def test_a_graph_is_no_table_of_samples(hearsay, data_directory):
    hearsay.refuses("pca", "ego-facebook", "-k", 2, saying="hearsay cluster")


def test_an_unreachable_server_is_exit_code_4_and_leaves_nothing(hearsay, tmp_path):
    nobody = {name: "http://127.0.0.1:1" for name in ["https_proxy", "http_proxy", "all_proxy"]}

    result = hearsay("datasets", "fetch", "ego-facebook", "--to", tmp_path / "data", env={**nobody, "no_proxy": ""})

    assert result.returncode == 4 and result.stderr.startswith("hearsay: ")
    assert not (tmp_path / "data").exists() or not any((tmp_path / "data").iterdir())
