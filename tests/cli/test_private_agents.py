"""hearsay decentralized --dp: whom agents trust, a ledger for each, and what leaves."""

import json

import numpy as np
import pytest

DP = ("--dp", "1,1e-6", "--row-norm", "3")
SITES = ("boston.csv", "leeds.csv", "oslo.csv")
SECRET = "8.7654321"


def write(path, data, header="age,weight,height,pulse,iron,salt"):
    np.savetxt(path, data, delimiter=",", header=header, comments="", fmt="%.17g")


def rows(site, count=400):
    return np.random.default_rng(site).standard_normal((count, 6)) * [3, 2, 1, 0.5, 0.5, 0.5]


@pytest.fixture
def sites(tmp_path):
    for i, name in enumerate(SITES):
        write(tmp_path / name, rows(i))


def names(tmp_path):
    return sorted(p.name for p in tmp_path.iterdir())


@pytest.mark.parametrize("trust", ["none", "neighbours", "secure"])
def test_every_agent_pays_from_its_own_ledger_and_once(hearsay, tmp_path, sites, trust):
    run = hearsay("decentralized", *SITES, "-k", 2, *DP, "--trust", trust, "--json", "a.json", "--components", "v.npy")
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("spent 1 of 1") == 3 and f"{trust}: epsilon" in run.stdout
    result = json.loads((tmp_path / "a.json").read_text())
    assert result["private"] and "stamp" not in result and result["trust"] == trust
    assert [purse["data"] for purse in result["ledgers"]] == list(SITES)
    basis = np.load(tmp_path / "v.npy")
    assert np.allclose(basis.T @ basis, np.eye(2), atol=1e-9)
    for i, name in enumerate(SITES):
        shown = json.loads(hearsay("ledger", "show", f"{name}.ledger", "--json", "-").stdout)
        assert [record["kind"] for record in shown["records"]] == ["spend", "release"]
        seal = result["ledgers"][i]["ledger"]["sha256"]
        assert hearsay("ledger", "verify", f"{name}.ledger", "--seen", seal).returncode == 0
    before = [(tmp_path / f"{name}.ledger").read_bytes() for name in SITES]
    again = hearsay("decentralized", *SITES, "-k", 2, *DP, "--trust", trust)
    assert again.returncode == 2 and "budget would be exceeded" in again.stderr
    assert before == [(tmp_path / f"{name}.ledger").read_bytes() for name in SITES]


def test_what_is_promised_is_told_by_the_trust(hearsay, sites):
    told = {}
    for trust in "none", "neighbours", "secure":
        run = hearsay("decentralized", *SITES, "-k", 2, *DP, "--trust", trust, "--insecure-seed", 1, "--json", "-")
        told[trust] = json.loads(run.stdout)["promised"]
    assert told["none"]["epsilon_all_others"] == pytest.approx(1, rel=1e-9)
    assert told["neighbours"]["epsilon_outside"] == pytest.approx(1, rel=1e-9)
    assert told["neighbours"]["epsilon_one_agent"] > 1.7
    assert told["secure"]["epsilon_one_agent"] == pytest.approx(1, rel=1e-9)
    assert told["secure"]["epsilon_outside"] < 0.85 and told["secure"]["epsilon_all_others"] > 1.4


def test_one_agent_that_cannot_pay_keeps_all_from_spending(hearsay, tmp_path, sites):
    assert hearsay("pca", "oslo.csv", "-k", 2, *DP).returncode == 0
    run = hearsay("decentralized", *SITES, "-k", 2, *DP)
    assert run.returncode == 2 and "oslo.csv.ledger" in run.stderr and "no agent spends anything" in run.stderr
    for name in "boston.csv.ledger", "leeds.csv.ledger":
        shown = json.loads(hearsay("ledger", "show", name, "--json", "-").stdout)
        assert shown["records"] == []


def test_a_refused_run_opens_no_data(hearsay, tmp_path, sites):
    assert hearsay("decentralized", *SITES, "-k", 2, *DP).returncode == 0
    for name in SITES:
        (tmp_path / name).write_text("no table")
    run = hearsay("decentralized", *SITES, "-k", 2, *DP)
    assert run.returncode == 2 and "budget would be exceeded" in run.stderr


def test_a_folder_keeps_its_ledgers_and_a_name_may_say_where(hearsay, tmp_path):
    (tmp_path / "in").mkdir()
    for i in range(3):
        write(tmp_path / f"in/{i}.csv", rows(i))
    budget = ("--budget", "2,1e-6", "--row-norm", 3, "--dp", "1,1e-6")
    for _ in range(2):  # ledgers are no shards
        run = hearsay("decentralized", "in", "-k", 2, *budget, "--trust", "secure", "--json", "-")
        assert run.returncode == 0 and json.loads(run.stdout)["agents"] == 3, run.stderr
    assert names(tmp_path / "in") == ["0.csv", "0.csv.ledger", "1.csv", "1.csv.ledger", "2.csv", "2.csv.ledger"]
    run = hearsay("decentralized", "in", "-k", 2, *DP, "--ledger", "purse-{agent}.txt")
    assert run.returncode == 0 and {"purse-0.txt", "purse-1.txt", "purse-2.txt"} <= set(names(tmp_path))


def test_a_table_that_is_split_has_the_ledger_that_pca_has(hearsay, tmp_path, sites):
    run = hearsay("decentralized", "boston.csv", "--agents", 4, "-k", 2, *DP, "--trust", "secure", "--colluders", 0)
    assert run.returncode == 0 and run.stdout.count("spent 1 of 1") == 1, run.stderr
    again = hearsay("pca", "boston.csv", "-k", 2, *DP)
    assert again.returncode == 2 and "exceeded" in again.stderr


def keys_and_values(value, at=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from keys_and_values(inner, f"{at}.{key}")
    else:
        yield at, value


RELEASED = {".status", ".eigenvalues", ".above_noise", ".sin_theta", ".captured", ".explained", ".provenance.outputs"}
GOSSIP = {".messages", ".bytes"}  # how long they talk follows from what each has released


@pytest.mark.parametrize("trust", ["none", "neighbours", "secure"])
def test_neighbouring_data_differ_in_what_is_released_and_nothing_else(hearsay, tmp_path, trust):
    """The noise is fixed, so that whatever else differs came from the row."""
    changed = rows(1)
    changed[17] = [float(SECRET), 900, -900, 5, 1, 2]
    told = []
    for where, middle in ("one", np.delete(rows(1), 17, axis=0)), ("two", changed):
        (tmp_path / where).mkdir()
        for name, data in zip(SITES, (rows(0), middle, rows(2)), strict=True):
            write(tmp_path / where / name, data)
        run = type(hearsay)(tmp_path / where)(
            *("decentralized", *SITES, "-k", 2, *DP, "--trust", trust, "--insecure-seed", 5),
            *("--public-rows", 1200, "--json", "a.json", "--components", "NON-PRIVATE.npy"),
        )
        assert run.returncode == 0, run.stderr
        assert run.stderr == "" and run.stdout.startswith("NON-PRIVATE")
        assert names(tmp_path / where) == sorted(["NON-PRIVATE.npy", "a.json", *SITES])
        text = (tmp_path / where / "a.json").read_text()
        assert SECRET not in text + run.stdout
        assert not {399, 400, 1199} & {v for _, v in keys_and_values(json.loads(text)) if isinstance(v, int)}
        told.append((json.loads(text), run.stdout))
    (one, text_one), (two, text_two) = told
    assert one["stamp"].startswith("NON-PRIVATE") and not one["private"]
    flat_one, flat_two = dict(keys_and_values(one)), dict(keys_and_values(two))
    assert flat_one.keys() == flat_two.keys()
    differ = {key for key in flat_one if flat_one[key] != flat_two[key]}
    assert differ <= RELEASED | (GOSSIP if trust == "none" else set())
    assert {".eigenvalues", ".provenance.outputs"} <= differ
    for line_one, line_two in zip(text_one.splitlines(), text_two.splitlines(), strict=True):
        if line_one != line_two:
            words = {"sin(theta)", "captured"} | ({"agents"} if trust == "none" else set())
            assert line_one.strip()[0].isdigit() or line_one.split()[0] in words, line_one


def test_what_cannot_be_read_is_not_quoted(hearsay, tmp_path, sites):
    for cell in ("nan", "inf", "Jane Doe", SECRET + "x", ""):
        (tmp_path / "bad.csv").write_text(f"age,weight,height,pulse,iron,salt\n1,2,3,4,5,6\n3,{cell},4,5,6,7\n")
        for ledger in tmp_path.glob("*.ledger"):
            ledger.unlink()
        run = hearsay("decentralized", "boston.csv", "bad.csv", "-k", 1, *DP)
        assert run.returncode == 2 and "nothing is said of where" in run.stderr and run.stdout == ""
        assert "Jane" not in run.stderr and SECRET not in run.stderr and "line" not in run.stderr
        for name in "boston.csv", "bad.csv":
            assert "spent" in hearsay("ledger", "show", f"{name}.ledger").stdout


def test_agents_that_are_gone_cost_nothing_more_where_each_has_its_own_noise(hearsay, sites):
    run = hearsay("decentralized", *SITES, "-k", 1, *DP, "--topology", "complete", "--crash", "1@2", "--json", "-")
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert told["contributors"] == 2 and len(told["ledgers"]) == 3


def test_a_record_lies_at_one_agent(hearsay, tmp_path, sites):
    """Rows that two agents have would move a sum by twice as much as is paid for."""
    (tmp_path / "link.csv").symlink_to("boston.csv")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "boston.csv")
    before = names(tmp_path)
    for other in "boston.csv", "./boston.csv", "link.csv", "hard.csv":
        for trust in "none", "neighbours", "secure":
            run = hearsay("decentralized", "boston.csv", other, "-k", 2, *DP, "--trust", trust, "--ledger", "purse{agent}")
            assert run.returncode == 2 and "must lie at one agent alone" in run.stderr, run.stdout
    assert names(tmp_path) == before


REFUSED = [
    ("--trust", "everyone"), ("--colluders", "1"), ("--trust", "secure", "--colluders", "3"),
    ("--trust", "secure", "--crash", "1@2"), ("--trust", "neighbours", "--drop", "0.1"),
    ("--trust", "secure", "--rounds", "3"), ("--trust", "neighbours", "--algorithm", "deepca"),
    ("--trace", "t.csv"), ("--report", "r.html"), ("--reference", "exact"), ("--no-center",), ("--one-per-rank",),
    ("--split", "by-label"), ("--agents", "4"), ("--momentum", "optimal"), ("--row-norm", "0"), ("--dp", "1"),
    ("--dp-center", "dp-mean", "--public-rows", "9"), ("--dp-center", "given"), ("--mean-from", "boston.csv"),
    ("--ledger", "all.ledger"), ("--ledger", "{agent}.json", "--json", "1.json"), ("--ledger", "x{agent}", "--json", "boston.csv"),
    ("--insecure-seed", "1", "--components", "x.npy"), ("--insecure-seed", "1", "--ledger", "x{agent}"),
    ("--rank", "0.9"), ("--crash", "7@2"),
]  # fmt: skip


@pytest.mark.parametrize("more", REFUSED, ids=" ".join)
def test_refusals_spend_nothing(hearsay, tmp_path, sites, more):
    run = hearsay("decentralized", *SITES, "-k", 2, *DP, *more)
    assert run.returncode == 2, run.stdout
    assert len(run.stderr.splitlines()) == 1 and run.stderr.startswith("hearsay: ")
    assert names(tmp_path) == sorted(SITES)


def test_a_table_is_split_by_what_is_public(hearsay, tmp_path, sites):
    (tmp_path / "agents.csv").write_text("0\n" * 400)
    for more, words in (
        (("--agents", 3, "--split", "by-label"), "tells how many rows"),
        (("--agents", 2, "--split", "agents.csv"), "tells how many rows"),
        (("--agents", 3), "moves others from agent to agent"),
        (("--trust", "secure"), "agents: must be given"),
        (("--agents", 1, "--trust", "secure"), "at least 2"),
        (("--agents", 3, "--ledger", "a{agent}", "--trust", "secure"), "has one ledger"),
    ):
        run = hearsay("decentralized", "boston.csv", "-k", 2, *DP, *more)
        assert run.returncode == 2 and words in run.stderr, run.stderr
    run = hearsay("decentralized", "fed-heart-disease", "-k", 2, *DP)
    assert run.returncode == 2 and "scaled their features by their own rows" in run.stderr
    assert names(tmp_path) == sorted([*SITES, "agents.csv"])


def test_options_about_privacy_need_it(hearsay, sites):
    for more in ("--row-norm", 3), ("--trust", "secure"), ("--mean-from", "boston.csv"), ("--ledger", "x"):
        run = hearsay("decentralized", *SITES, "-k", 2, *more)
        assert run.returncode == 2 and "needs --dp" in run.stderr
