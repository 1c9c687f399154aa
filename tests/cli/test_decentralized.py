"""hearsay decentralized: what it computes against NumPy, what it reports, and what it refuses."""

import csv
import json
import os

import numpy as np
import pytest

from conftest import is_orthonormal, sin_theta


def federation(directory, sizes=(40, 25, 60), features=8, seed=0):
    """A file per agent, of unlike sizes and offsets, and the covariance of all the rows together."""
    random = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(random.standard_normal((features, features)))
    tables = [random.standard_normal((size, features)) * 0.7 ** np.arange(features) @ turn + 5 for size in sizes]
    names = [f"site{i}.csv" for i in range(len(sizes))]
    for name, table in zip(names, tables):
        np.savetxt(directory / name, table, delimiter=",", fmt="%.17g")
    pooled = np.concatenate(tables)
    centred = pooled - pooled.mean(axis=0)
    return names, centred.T @ centred / (len(pooled) - 1)


def top(matrix, k):
    values, vectors = np.linalg.eigh(matrix)
    return values[::-1][:k], vectors[:, ::-1][:, :k]


@pytest.mark.parametrize("algorithm", ["depm", "adepm", "deepca", "adeepca"])
def test_every_agent_finds_the_components_of_all_the_data(hearsay, tmp_path, algorithm):
    names, covariance = federation(tmp_path)
    values, vectors = top(covariance, 3)

    result = hearsay.json("decentralized", *names, "-k", 3, "--algorithm", algorithm, "--components",
                          "basis-{agent}.npy")

    assert result["status"] == "converged" and result["method"] == algorithm
    assert result["agents"] == 3 and result["samples"] == 125 and result["dimension"] == 8
    assert np.allclose(result["eigenvalues"], values, rtol=1e-9)
    for agent in range(3):
        basis = np.load(tmp_path / f"basis-{agent}.npy")
        assert is_orthonormal(basis)
        assert sin_theta(vectors, basis) <= 1e-8
    assert [agent["samples"] for agent in result["per_agent"]] == [40, 25, 60]
    assert [agent["source"] for agent in result["per_agent"]] == names


@pytest.mark.parametrize("option", ["--center", "--no-center"])
def test_eigenvalues_are_those_of_pca(hearsay, tmp_path, option):
    names, _ = federation(tmp_path)
    table = np.concatenate([np.loadtxt(tmp_path / name, delimiter=",") for name in names])
    np.savetxt(tmp_path / "all.csv", table, delimiter=",", fmt="%.17g")
    singular = np.linalg.svd(table - table.mean(axis=0) if option == "--center" else table, compute_uv=False)

    alone = hearsay.json("pca", "all.csv", "-k", 3, option)
    apart = hearsay.json("decentralized", *names, "-k", 3, option)
    split = hearsay.json("decentralized", "all.csv", "-k", 3, "--agents", 4, option)

    expected = singular[:3] ** 2 / (len(table) - (option == "--center"))
    assert np.allclose(alone["eigenvalues"], expected, rtol=1e-8)
    for result in (apart, split):
        assert np.allclose(result["eigenvalues"], alone["eigenvalues"], rtol=1e-8)
        for agent in result["per_agent"]:
            assert np.allclose(agent["eigenvalues"], alone["eigenvalues"], rtol=1e-8)


def test_centred_eigenvalues_after_a_crash_are_divided_by_the_samples_left(hearsay, tmp_path):
    names, _ = federation(tmp_path, sizes=(40, 25, 60, 35))
    tables = [np.loadtxt(tmp_path / name, delimiter=",") for name in names]
    rest = np.concatenate([tables[i] for i in (0, 1, 3)]) - np.concatenate(tables).mean(axis=0)

    result = hearsay.json("decentralized", *names, "-k", 2, "--crash", "2@5")

    assert np.allclose(result["eigenvalues"], top(rest.T @ rest / (len(rest) - 1), 2)[0], rtol=1e-8)


@pytest.mark.attack
@pytest.mark.parametrize("unit, large", [("", "1e100"), ("", "1e155"), ("", "1e300"), ("e-210", "1e-200")])
def test_extreme_numbers_in_one_shard_are_an_answer_like_any_other(hearsay, tmp_path, unit, large):
    for name, rows in (("a.csv", ["12", "34"]), ("b.csv", ["51", "22"]), ("c.csv", ["21"])):
        (tmp_path / name).write_text("".join(f"{x}{unit},{y}{unit}\n" for x, y in rows))
    with open(tmp_path / "c.csv", "a") as file:
        file.write(f"4{unit},{large}\n")

    exact = hearsay.json("decentralized", "a.csv", "b.csv", "c.csv", "-k", 1, "--reference", "exact")
    rounded = hearsay.json("decentralized", "a.csv", "b.csv", "c.csv", "-k", 1, "--message-precision", "bfloat16")

    for result in (exact, rounded):
        assert result["status"] == "converged"
        # One number that dwarfs the other five, less their mean: (1/5)(1 - 1/6) of its square.
        assert np.isclose(np.log2(result["eigenvalues"][0]) + result["exponent"], 2 * np.log2(float(large)) + np.log2(1 / 6))
        assert (result["exponent"] != 0) == (large != "1e100")
    assert max(agent["sin_theta"] for agent in exact["per_agent"]) <= 1e-9


def test_a_directory_is_a_shard_per_file(hearsay, tmp_path):
    (tmp_path / "sites").mkdir()
    names, _ = federation(tmp_path / "sites")
    (tmp_path / "sites" / ".hidden").write_text("not a table")

    apart = hearsay.json("decentralized", "sites", "-k", 2)
    named = hearsay.json("decentralized", *(f"sites/{name}" for name in names), "-k", 2)

    assert apart["digest"] == named["digest"]


@pytest.mark.parametrize("split", ["even", "contiguous", "by-label", "owners.csv"])
def test_one_table_can_be_split_in_any_way(hearsay, tmp_path, split):
    random = np.random.default_rng(1)
    table = random.standard_normal((90, 6)) * [4, 3, 1, 0.8, 0.6, 0.5]
    labels = random.integers(0, 3, 90)
    np.savetxt(tmp_path / "all.csv", np.column_stack([table, labels]), delimiter=",", fmt="%.17g")
    np.savetxt(tmp_path / "owners.csv", labels[::-1], fmt="%d")
    agents = [] if split == "by-label" else ["--agents", 3]

    result = hearsay.json("decentralized", "all.csv", "-k", 2, "--split", split, "--label-column", "last", *agents,
                          "--reference", "exact")

    centred = table - table.mean(axis=0)
    assert np.allclose(result["eigenvalues"], top(centred.T @ centred / 89, 2)[0], rtol=1e-9)
    assert result["status"] == "converged" and result["agents"] == 3
    assert sum(agent["samples"] for agent in result["per_agent"]) == 90
    assert max(agent["sin_theta"] for agent in result["per_agent"]) <= 1e-8
    assert result["history"][-1]["sin_theta"] <= 1e-7


def test_an_agent_without_rows_takes_part(hearsay, tmp_path):
    random = np.random.default_rng(2)
    np.savetxt(tmp_path / "all.csv", random.standard_normal((30, 5)) * [5, 3, 1, 1, 1], delimiter=",")
    np.savetxt(tmp_path / "owners.csv", np.repeat([0, 2], 15), fmt="%d")

    result = hearsay.json("decentralized", "all.csv", "-k", 1, "--split", "owners.csv", "--agents", 4, "--reference",
                          "exact")

    assert [agent["samples"] for agent in result["per_agent"]] == [15, 0, 15, 0]
    assert max(agent["sin_theta"] for agent in result["per_agent"]) <= 1e-8


@pytest.mark.parametrize("topology, edges", [("ring", 12), ("path", 11), ("star", 11), ("complete", 66), ("grid", 17),
                                             ("grid:2x6", 16), ("torus:3x4", 24), ("regular:4", 24)])
def test_every_topology_gives_the_same_answer(hearsay, tmp_path, topology, edges):
    table = np.random.default_rng(3).standard_normal((120, 6)) * [4, 3, 2, 0.5, 0.5, 0.5]
    np.savetxt(tmp_path / "all.csv", table, delimiter=",", fmt="%.17g")

    result = hearsay.json("decentralized", "all.csv", "-k", 3, "--agents", 12, "--topology", topology, "--reference",
                          "exact")

    assert result["edges"] == edges
    assert result["status"] == "converged"
    assert max(agent["sin_theta"] for agent in result["per_agent"]) <= 1e-8


def test_the_paper_s_ring_of_four(hearsay, data_directory):
    result = hearsay.json("decentralized", "fed-heart-disease", "-k", 2, "--reference", "exact")

    assert result["agents"] == 4 and result["edges"] == 4 and result["samples"] == 486
    assert result["spectral_gap"] == pytest.approx(0.5)
    papers = np.array([2.679684, 1.373737])  # which divides by all the samples
    assert result["eigenvalues"] == pytest.approx(papers * 486 / 485, abs=1e-6)
    assert [agent["samples"] for agent in result["per_agent"]] == [199, 172, 30, 85]


def test_agents_that_are_nodes_of_a_graph(hearsay, data_directory):
    result = hearsay.json("decentralized", "ego-facebook", "--split", "by-node", "--nodes", 50, "--extra-edges", 196,
                          "-k", 4, "--reference", "exact")

    assert result["agents"] == 50 and result["dimension"] == 50 and result["samples"] is None
    assert result["eigenvalues"][3] == pytest.approx(1.559051, abs=1e-6)
    assert max(agent["sin_theta"] for agent in result["per_agent"]) <= 1e-8


def test_a_gossip_matrix_from_a_file(hearsay, tmp_path):
    names, _ = federation(tmp_path)
    np.save(tmp_path / "W.npy", np.array([[0.5, 0.25, 0.25], [0.25, 0.75, 0], [0.25, 0, 0.75]]))

    result = hearsay.json("decentralized", *names, "-k", 2, "--weights", "W.npy")

    assert result["edges"] == 2 and result["status"] == "converged"


@pytest.mark.parametrize("precision, size", [("double", 8), ("single", 4), ("bfloat16", 2)])
def test_every_byte_is_accounted_for(hearsay, tmp_path, precision, size):
    names, _ = federation(tmp_path)
    rounds, iterations, votes = 4, 25, 7

    result = hearsay.json("decentralized", *names, "-k", 2, "--rounds", rounds, "--iterations", iterations,
                          "--tolerance", 0, "--message-precision", precision)

    block = result["dimension"] * result["columns"] * size
    assert result["rounds"] == rounds * iterations
    assert result["messages"] == 2 * 3 * (result["rounds"] + result["control_rounds"])
    assert result["bytes"] == 6 * (result["rounds"] * (block + 8 * votes) + result["control_rounds"] * 8 * 5)
    assert result["bytes_per_edge"] * result["edges"] == result["bytes"]
    assert (result["message_noise"]["largest"] > 0) == (precision != "double")


@pytest.mark.parametrize("algorithm", ["depm", "adepm", "deepca", "adeepca"])
@pytest.mark.parametrize("precision", ["double", "bfloat16"])
def test_what_is_sent_is_what_was_planned(hearsay, tmp_path, algorithm, precision):
    table = np.random.default_rng(4).standard_normal((60, 6)) * [4, 3, 2, 0.5, 0.5, 0.5]
    np.savetxt(tmp_path / "all.csv", table, delimiter=",", fmt="%.17g")
    common = ["-k", 2, "--agents", 6, "--topology", "erdos:0.6", "--rounds", 9, "--iterations", 20,
              "--message-precision", precision]

    plan = hearsay.json("plan", "--data", "all.csv", *common)
    run = hearsay.json("decentralized", "all.csv", *common, "--algorithm", algorithm, "--tolerance", 0)

    planned = plan["planned_traffic"]["methods"][algorithm]
    assert {key: run[key] for key in planned} == planned
    assert plan["planned_traffic"]["edges"] == run["edges"]
    gamma = next(term for term in plan["terms"] if term["name"] == "gamma_W")
    assert gamma["value"] == run["spectral_gap"]


def test_a_plan_takes_the_norms_of_the_shards(hearsay, data_directory):
    plan = hearsay.json("plan", "--data", "fed-heart-disease", "-k", 2, "--agents", 4, "--topology", "ring")

    terms = {term["name"]: term["value"] for term in plan["terms"]}
    assert terms["gamma_W"] == pytest.approx(0.5)
    assert terms["M"] == pytest.approx(4.6473 * 486 / 485, abs=1e-4)
    assert terms["T"] == next(row for row in plan["rows"] if row["method"] == "ADePM")["iterations"]["value"]


def test_a_plan_of_rounds_needs_its_network(hearsay):
    spectrum = ["--dimension", 10, "-k", 2, "--lambda-k", 1, "--lambda-next", 0.5]

    hearsay.refuses("plan", *spectrum, "--rounds", 3, saying="--topology")
    hearsay.refuses("plan", *spectrum, "--topology", "ring", saying="agents")
    hearsay.refuses("plan", *spectrum, "--agents", 4, "--topology", "ring", "--gossip-gap", 0.5, saying="gossip-gap")


def test_the_trace_holds_the_curves_of_the_history(hearsay, tmp_path):
    names, _ = federation(tmp_path)

    result = hearsay.json("decentralized", *names, "-k", 2, "--reference", "exact", "--trace", "curves.csv")

    with open(tmp_path / "curves.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == result["iterations"] == len(result["history"])
    for row, entry in zip(rows, result["history"]):
        assert {key: float(value) for key, value in row.items()} == {key: float(entry[key]) for key in row}


def test_a_run_is_the_same_every_time_and_for_any_number_of_threads(hearsay, tmp_path):
    names, _ = federation(tmp_path)

    digests = {hearsay.json("decentralized", *names, "-k", 2, "--threads", count)["digest"] for count in (1, 1, 2, 3)}

    assert len(digests) == 1


def test_too_few_rounds_for_an_untracked_method_are_a_floor_and_not_a_success(hearsay, tmp_path):
    names, _ = federation(tmp_path)

    result = hearsay.json("decentralized", *names, "-k", 2, "--algorithm", "adepm", "--gossip", "plain", "--rounds", 4,
                          code=3)

    assert result["status"] in ("noise_floor", "iteration_limit")
    assert result["agreement"] > 1e-10
    bar = result["error_bar"]
    assert bar["kind"] == "indicative"
    assert result["agreement"] / 2 <= bar["spread"] <= bar["sin_theta"] <= 1
    assert "error bar    sin(theta) is at most about" in hearsay("decentralized", *names, "-k", 2, "--algorithm", "adepm",
                                                         "--gossip", "plain", "--rounds", 4).stdout
    assert hearsay.json("decentralized", *names, "-k", 2)["error_bar"] is None


def test_optimal_momentum_takes_lambda_next_of_the_pooled_data(hearsay, tmp_path):
    names, covariance = federation(tmp_path)

    result = hearsay.json("decentralized", *names, "-k", 2, "--algorithm", "adepm", "--momentum", "optimal")

    assert result["momentum"] == pytest.approx(top(covariance, 3)[0][2] ** 2 / 4, rel=1e-9)


def test_the_summary_says_what_matters_first(hearsay, tmp_path):
    names, _ = federation(tmp_path)

    result = hearsay("decentralized", *names, "-k", 2)

    assert result.returncode == 0 and result.stderr == ""
    assert result.stdout.startswith("site0.csv: converged in ")
    for words in ("125 samples of 8 features", "3 agents on 3 edges", "rounds of chebyshev gossip", "digest"):
        assert words in result.stdout


@pytest.mark.attack
@pytest.mark.parametrize("faults", [["--drop", 0.3], ["--loss", 0.2], ["--delay", "0.3:1"], ["--delay", "0.1:5"]],
                         ids=lambda faults: " ".join(map(str, faults)))
def test_faults_of_links_leave_the_answer_right(hearsay, tmp_path, faults):
    table = np.random.default_rng(5).standard_normal((120, 6)) * [4, 3, 2, 0.5, 0.5, 0.5]
    np.savetxt(tmp_path / "all.csv", table, delimiter=",", fmt="%.17g")
    command = ["decentralized", "all.csv", "-k", 3, "--agents", 6, *faults, "--reference", "exact"]

    result = hearsay.json(*command)

    assert result["status"] == "converged"
    assert max(agent["sin_theta"] for agent in result["per_agent"]) <= 1e-8
    assert result["faults"]["drops"] + result["faults"]["losses"] + result["faults"]["late"] \
        + result["faults"]["waited_rounds"] > 0
    assert result["contributors"] == list(range(6)) and len(result["epochs"]) == 1
    assert hearsay.json(*command)["digest"] == result["digest"]
    assert hearsay.json(*command, "--fault-seed", 1)["faults"] != result["faults"]


@pytest.mark.attack
@pytest.mark.parametrize("seed", range(3))
def test_agents_that_lose_most_messages_are_right_or_do_not_say_that_they_converged(hearsay, tmp_path, seed):
    table = np.random.default_rng(seed).standard_normal((400, 8)) * [4, 3, 2, 1, 0.9, 0.8, 0.7, 0.6]
    np.savetxt(tmp_path / "all.csv", table, delimiter=",", fmt="%.17g")

    told = hearsay("decentralized", "all.csv", "-k", 3, "--agents", 4 + seed, "--loss", 0.9, "--fault-seed", seed,
                   "--reference", "exact", "--json", "-")

    result = json.loads(told.stdout)
    assert result["status"] in ("converged", "iteration_limit", "communication_failed")
    assert told.returncode == (0 if result["status"] == "converged" else 3)
    if result["status"] == "converged":
        assert max(agent["sin_theta"] for agent in result["per_agent"]) <= 1e-8
        assert result["evidence"] == "bound" and result["verification"]["residual"] <= 1e-10
        assert result["agreement"] <= 1e-12


@pytest.mark.attack
def test_more_components_than_the_data_have_are_ambiguous(hearsay, tmp_path):
    rng = np.random.default_rng(7)
    table = rng.standard_normal((90, 3)) @ rng.standard_normal((3, 7))
    np.savetxt(tmp_path / "all.csv", table, delimiter=",", fmt="%.17g")

    told = hearsay("decentralized", "all.csv", "-k", 5, "--agents", 5, "--json", "-")
    text = hearsay("decentralized", "all.csv", "-k", 5, "--agents", 5)

    result = json.loads(told.stdout)
    assert told.returncode == text.returncode == 3
    assert result["status"] == "ambiguous" and result["defined_rank"] == 3
    assert result["cluster"]["first"] == 4 and result["cluster"]["last"] == 7 and result["cluster"]["zero"]
    assert result["defined_agreement"] <= 1e-9
    assert any("eigenvectors 4 to 5 are not defined" in note for note in result["notes"])
    assert "the data define 3 of the 5 components" in text.stdout
    assert result["verification"] is None and result["evidence"] == "estimate"


@pytest.mark.attack
def test_after_a_crash_the_answer_is_that_of_the_others(hearsay, tmp_path):
    names, _ = federation(tmp_path, sizes=(40, 25, 60, 35))
    rest = np.concatenate([np.loadtxt(tmp_path / name, delimiter=",") for i, name in enumerate(names) if i != 2])

    result = hearsay.json("decentralized", *names, "-k", 2, "--no-center", "--crash", "2@5")

    values, _ = top(rest.T @ rest / len(rest), 2)
    assert result["status"] == "converged"
    assert result["contributors"] == [0, 1, 3]
    assert np.allclose(result["eigenvalues"], values, rtol=1e-9)
    assert [agent["contributes"] for agent in result["per_agent"]] == [True, True, False, True]
    assert result["per_agent"][2]["eigenvalues"] == [None, None]
    assert [epoch["iteration"] for epoch in result["epochs"]] == [0, 5]


def test_an_agent_that_comes_back_counts_again(hearsay, tmp_path):
    names, covariance = federation(tmp_path, sizes=(40, 25, 60, 35))

    result = hearsay.json("decentralized", *names, "-k", 2, "--crash", "2@5", "--crash", "1@6", "--rejoin", "2@9",
                          "--rejoin", "1@10", "--components", "basis.npy")

    assert result["contributors"] == [0, 1, 2, 3] and len(result["epochs"]) == 5
    assert np.allclose(result["eigenvalues"], top(covariance, 2)[0], rtol=1e-9)
    assert sin_theta(top(covariance, 2)[1], np.load(tmp_path / "basis.npy")) <= 1e-8


def test_faults_from_a_file_and_from_flags_add_up(hearsay, tmp_path):
    names, _ = federation(tmp_path, sizes=(40, 25, 60, 35))
    (tmp_path / "faults.json").write_text('{"seed": 3, "events": [{"crash": 2, "iteration": 5}]}')

    result = hearsay("decentralized", *names, "-k", 2, "--faults", "faults.json", "--drop", 0.1, "--json", "-")

    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["contributors"] == [0, 1, 3] and told["faults"]["drops"] > 0


REFUSALS = {
    "an unknown algorithm": (["--algorithm", "adepca"], ["algorithm = adepca", "did you mean adeepca?"]),
    "no rounds": (["--rounds", 0], ["rounds = 0", "at least 1"]),
    "more components than features": (["-k", 9], ["rank = 9", "[1, 8]"]),
    "fewer agents than shards": (["--agents", 2], ["agents = 2", "3 shards"]),
    "more agents than shards": (["--agents", 4], ["agents = 4", "3 shards"]),
    "an unknown topology": (["--topology", "rign"], ["topology = rign", "did you mean ring?"]),
    "a grid of another size": (["--topology", "grid:2x2"], ["topology = grid:2x2", "3 places"]),
    "an unknown precision": (["--message-precision", "half"], ["message-precision = half"]),
    "W for another n": (["--weights", "W4.npy"], ["weights = W4.npy", "4 x 4", "3 x 3"]),
    "W that is not symmetric": (["--weights", "skew.npy"], ["W(0, 1) = 0.5"]),
    "W beside the topology": (["--topology", "path", "--weights", "ring.npy"], ["W(0, 2)", "no edge"]),
    "a disconnected graph": (["--topology", "apart.txt"], ["must be connected", "2 components", "1 node with 2"]),
    "a topology of another size": (["--topology", "two.txt"], ["two.txt", "2 nodes", "must have 3"]),
    "a split of shards": (["--split", "even"], ["split", "file of its own"]),
    "nodes without a graph": (["--nodes", 3], ["nodes", "by-node"]),
    "a crash of nobody": (["--crash", "7@2"], ["agent 7"]),
    "a return without a crash": (["--rejoin", "1@2"], ["agent 1"]),
    "a probability above one": (["--drop", 1.5], ["drop = 1.5", "[0, 1]"]),
    "a delay without rounds": (["--delay", 0.5], ["delay = 0.5", "PROBABILITY:ROUNDS"]),
    "a missing file of faults": (["--faults", "nowhere.json"], ["nowhere.json"]),
    "a negative tolerance": (["--tolerance", -1], ["tolerance = -1"]),
    "a reference of other rows": (["--reference", "W4.npy"], ["reference = W4.npy", "4 rows"]),
}


@pytest.mark.attack
@pytest.mark.parametrize("options, saying", REFUSALS.values(), ids=REFUSALS.keys())
def test_bad_options_are_refused_and_nothing_is_written(hearsay, tmp_path, options, saying):
    names, _ = federation(tmp_path)
    ring = np.full((3, 3), 0.25) + 0.25 * np.eye(3)
    np.save(tmp_path / "ring.npy", ring)
    np.save(tmp_path / "W4.npy", np.full((4, 4), 0.25))
    np.save(tmp_path / "skew.npy", np.array([[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]]))
    (tmp_path / "apart.txt").write_text("0 1\n2 2\n")
    (tmp_path / "two.txt").write_text("0 1\n")
    before = sorted(os.listdir(tmp_path))
    rank = [] if "-k" in options else ["-k", 2]

    hearsay.refuses("decentralized", *names, *rank, *options, "--json", "result.json", "--components", "basis.npy",
                    "--trace", "curves.csv", saying=saying)

    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.attack
def test_columns_of_the_same_name_are_the_same_feature(hearsay, tmp_path):
    random = np.random.default_rng(6)
    table = random.standard_normal((30, 3)) * [5, 2, 1]
    orders = [[0, 1, 2], [2, 0, 1], [0, 1, 2]]
    for i, order in enumerate(orders):
        header = ",".join("abc"[j] for j in order)
        np.savetxt(tmp_path / f"site{i}.csv", table[10 * i:10 * i + 10, order], delimiter=",", header=header,
                   comments="", fmt="%.17g")
    files = ["site0.csv", "site1.csv", "site2.csv", "-k", 2]
    centred = table - table.mean(axis=0)
    mixed = np.concatenate([table[10 * i:10 * i + 10, order] for i, order in enumerate(orders)])
    mixed -= mixed.mean(axis=0)

    named = hearsay.json("decentralized", *files, "--components", "named.npy")
    placed = hearsay.json("decentralized", *files, "--columns", "by-position")

    assert np.allclose(named["eigenvalues"], top(centred.T @ centred / 29, 2)[0], rtol=1e-9)
    assert sin_theta(top(centred.T @ centred / 29, 2)[1], np.load(tmp_path / "named.npy")) <= 1e-8
    assert named["notes"] == ["site1.csv: its columns were put into the order of the first shard's, by their names"]
    assert np.allclose(placed["eigenvalues"], top(mixed.T @ mixed / 29, 2)[0], rtol=1e-9)
    assert placed["notes"] == []


@pytest.mark.attack
@pytest.mark.parametrize("header, saying", [
    ("a,z", ["site1.csv has no column 'b', which site0.csv has", "by-position"]),
    ("a", ["site1.csv has no column 'b'"]),
    ("b,a,c", ["site1.csv has a column 'c', which site0.csv has not"]),
    ("a,a", ["two columns 'a'"]),
    ("", ["site1.csv has no header, and site0.csv has one", "by-position"]),
])
def test_columns_that_do_not_match_are_named(hearsay, tmp_path, header, saying):
    (tmp_path / "site0.csv").write_text("a,b\n1,2\n3,5\n")
    numbers = ",".join("2" * (len(header.split(",")) if header else 2))
    (tmp_path / "site1.csv").write_text((header + "\n" if header else "") + (numbers + "\n") * 2)

    hearsay.refuses("decentralized", "site0.csv", "site1.csv", "-k", 1, saying=saying)


@pytest.mark.attack
def test_shards_of_different_dimensions_are_named(hearsay, tmp_path):
    names, _ = federation(tmp_path)
    (tmp_path / "odd.csv").write_text("1,2,3\n4,5,6\n")

    hearsay.refuses("decentralized", *names, "odd.csv", "-k", 2, saying=["odd.csv", "3 columns", "site0.csv"])


@pytest.mark.attack
@pytest.mark.parametrize("arguments, saying", [
    (["pipe", "--agents", 2], "pipe: is a pipe: must be a regular file"),
    (["sites"], "sites/b.csv: is a pipe"),
    (["a.csv", "pipe"], "pipe: is a pipe"),
    (["a.csv", "/dev/zero"], "/dev/zero: is a device"),
    (["a.csv", "--agents", 2, "--topology", "pipe"], "pipe: is a pipe"),
    (["a.csv", "--agents", 2, "--weights", "pipe"], "pipe: is a pipe"),
    (["a.csv", "--agents", 2, "--faults", "pipe"], "pipe: is a pipe"),
    (["a.csv", "--split", "pipe"], "pipe: is a pipe"),
    (["a.csv", "--agents", 2, "--reference", "pipe"], "pipe: is a pipe"),
    (["pipe", "--split", "by-node"], "pipe: is a pipe"),
    (["a.csv", "--agents", 2, "--topology", "loop"], "topology = loop"),
    (["a.csv", "--agents", 2, "--weights", "x" * 5000], "weights = xxx"),
    (["a.csv", "--agents", 1000000000], "agents = 1000000000: must lie in [1, 10000]"),
    (["a.csv", "--split", "far.csv"], "row 2 holds 50000: must be the number of an agent, from 0 to 9999"),
    (["a.csv", "--agents", 2, "--faults", "quorum.json"], "quorum = 9: must lie in [1, 2]"),
    (["a.csv", "--agents", 2, "--timeout", 0], "timeout = 0: must be positive"),
    (["a.csv", "a.csv", "--columns", "by-colour"], "columns = by-colour: must be one of by-name|by-position"),
])
def test_what_would_hang_or_run_out_of_memory_is_refused(hearsay, tmp_path, arguments, saying):
    (tmp_path / "sites").mkdir()
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "sites" / "b.csv")
    os.symlink("loop", tmp_path / "loop")
    for name in ("a.csv", "sites/a.csv"):
        (tmp_path / name).write_text("1,2\n3,5\n2,2\n")
    (tmp_path / "far.csv").write_text("0\n50000\n1\n")
    (tmp_path / "quorum.json").write_text('{"quorum": 9}')

    hearsay.refuses("decentralized", *arguments, "-k", 1, saying=saying)


def test_a_label_split_needs_a_label_column(hearsay, tmp_path):
    federation(tmp_path)

    hearsay.refuses("decentralized", "site0.csv", "-k", 2, "--split", "by-label", saying="--label-column")


def test_the_number_of_agents_must_be_known(hearsay, tmp_path):
    federation(tmp_path)

    hearsay.refuses("decentralized", "site0.csv", "-k", 2, saying="--agents")


@pytest.mark.attack
def test_an_owner_that_is_no_number_is_named(hearsay, tmp_path):
    federation(tmp_path)
    (tmp_path / "owners.csv").write_text("0\n" * 39 + "-1\n")

    hearsay.refuses("decentralized", "site0.csv", "-k", 2, "--split", "owners.csv", saying=["owners.csv", "row 40", "-1"])


def test_json_goes_to_a_file_too(hearsay, tmp_path):
    names, _ = federation(tmp_path)

    assert hearsay("decentralized", *names, "-k", 2, "--json", "result.json").returncode == 0

    assert json.loads((tmp_path / "result.json").read_text())["command"] == "decentralized"
