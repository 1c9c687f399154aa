"""Agents with private rows that are processes of their own: a ledger each, and what leaves."""

import json
import signal

import numpy as np
import pytest

from test_federation import ENDLESS, make_federation, needs_grpc  # noqa: F401

SITES = ("boston", "leeds", "oslo")
FEATURES = "age,weight,height,pulse,iron,salt"
DP = ["--dp", "1,1e-6", "--row-norm", "3"]
SECRET = "8.7654321"
RUN = ["-k", "2", *DP, "--features", FEATURES]


def write(path, data, header=FEATURES):
    np.savetxt(path, data, delimiter=",", header=header, comments="", fmt="%.17g")


def rows(site, count=400):
    return np.random.default_rng(site).standard_normal((count, 6)) * [3, 2, 1, 0.5, 0.5, 0.5]


@pytest.fixture
def private(make_federation, tmp_path):  # noqa: F811
    def make(*more, settings=RUN, **options):
        for i, name in enumerate(SITES):
            write(tmp_path / f"{name}.csv", rows(i))
        return make_federation(SITES, outbound=("oslo",), more=[*settings, *more], **options)

    return make


def run_all(federation, *more):
    agents = [federation.start(name, f"{name}.csv", *more) for name in SITES]
    return [agent.end() for agent in agents]


def records(hearsay, name):
    return [record["kind"] for record in json.loads(hearsay("ledger", "show", f"{name}.csv.ledger", "--json", "-").stdout)["records"]]


def without_ledgers(federation):
    assert not list(federation.folder.glob("*.ledger"))


@needs_grpc
@pytest.mark.parametrize("trust, topology", [("none", "ring"), ("none", "path"), ("neighbours", "path"), ("secure", "complete")])
def test_agents_make_the_bits_of_one_process(hearsay, private, tmp_path, trust, topology):
    federation = private("--trust", trust, "--topology", topology)

    ends = run_all(federation, "--insecure-seed", "5", "--components", "NON-PRIVATE-{agent}.npy")

    assert [code for code, _, _ in ends] == [0] * 3, ends
    alone = hearsay.json("decentralized", *[f"{name}.csv" for name in SITES], "-k", 2, *DP, "--trust", trust, "--topology", topology,
                         "--insecure-seed", 5, "--components", "NON-PRIVATE-alone-{agent}.npy")
    for number, name in enumerate(SITES):
        result = federation.result(name)
        assert result["stamp"].startswith("NON-PRIVATE") and not result["private"]
        assert ends[number][1].startswith("NON-PRIVATE") and "by every agent" in ends[number][1]
        assert result["trust"] == trust and result["federation"]["each_agent_spent"]["epsilon"] == 1
        for key in ("eigenvalues", "sin_theta", "captured", "explained", "privacy", "promised", "above_noise", "contributors", "features"):
            assert result[key] == alone[key], key
        assert (tmp_path / f"NON-PRIVATE-{number}.npy").read_bytes() == (tmp_path / f"NON-PRIVATE-alone-{number}.npy").read_bytes()
    without_ledgers(federation)


@needs_grpc
@pytest.mark.parametrize("trust", ["none", "neighbours", "secure"])
def test_every_agent_pays_from_its_own_ledger_and_once(hearsay, private, tmp_path, trust):
    federation = private("--trust", trust, "--topology", "complete")
    for name in SITES:
        checked = hearsay("agent", "check", "f.json", "--agent", name, "--data", f"{name}.csv", "--wait", 0)
        assert checked.returncode == 0 and "a run spends epsilon 1, delta 1e-06" in checked.stdout and "rows of" not in checked.stdout
    without_ledgers(federation)

    ends = run_all(federation)

    assert [code for code, _, _ in ends] == [0] * 3, ends
    for name, (_, out, _) in zip(SITES, ends, strict=True):
        assert "spent 1 of 1" in out and f"{trust}: epsilon" in out
        result = federation.result(name)
        assert result["private"] and "stamp" not in result and result["trust"] == trust
        assert [purse["data"] for purse in result["ledgers"]] == [f"{name}.csv"]
        assert "links" not in result["federation"] and "seconds" not in result
        assert records(hearsay, name) == ["spend", "release"]
        seal = result["ledgers"][0]["ledger"]["sha256"]
        assert hearsay("ledger", "verify", f"{name}.csv.ledger", "--seen", seal).returncode == 0
    before = [(tmp_path / f"{name}.csv.ledger").read_bytes() for name in SITES]
    for name in SITES:  # before anybody is called, and without a look at the rows
        (tmp_path / f"{name}.csv").write_text("no table\n")
        code, out, err = federation.start(name, f"{name}.csv").end()
        assert code == 2 and out == "" and "the budget would be exceeded" in err and "nothing is spent" in err
        checked = hearsay("agent", "check", "f.json", "--agent", name, "--data", f"{name}.csv", "--wait", 0)
        assert checked.returncode == 2 and "the budget would be exceeded" in checked.stdout
    assert before == [(tmp_path / f"{name}.csv.ledger").read_bytes() for name in SITES]


@needs_grpc
def test_an_agent_that_never_comes_costs_the_others_nothing(hearsay, private):
    federation = private("--start", "1")
    agents = [federation.start(name, f"{name}.csv") for name in SITES[:2]]
    for agent in agents:
        code, out, err = agent.end()
        assert code == 4 and out == "" and "agent 2 (oslo)" in err
    assert records(hearsay, "boston") == records(hearsay, "leeds") == []


@needs_grpc
def test_a_killed_agent_is_charged_once_and_may_not_come_back(hearsay, private, tmp_path):
    federation = private("--trust", "none", settings=[*ENDLESS, *DP, "--features", FEATURES])
    agents = {name: federation.start(name, f"{name}.csv") for name in SITES}
    for agent in agents.values():
        agent.wait_for("the run has begun")

    agents["oslo"].process.kill()

    assert agents.pop("oslo").end()[0] == -signal.SIGKILL
    for agent in agents.values():
        code, out, err = agent.end()
        assert code == 4 and out == "" and "agent 2 (oslo)" in err
    for name in SITES:
        assert records(hearsay, name) == ["spend", "release"]
        code, _, err = federation.start(name, f"{name}.csv").end()
        assert code == 2 and "the budget would be exceeded" in err
        assert records(hearsay, name) == ["spend", "release"]
    assert sorted(p.name for p in tmp_path.glob("*.result")) == []


@needs_grpc
def test_survivors_of_a_killed_agent_go_on_with_what_they_released(hearsay, private):
    crash = ["--on-crash", "exclude", "--link", "1", "--round", "10", "--topology", "complete", "--rounds", "400", "--tolerance", "1e-12"]
    federation = private(settings=[*RUN, *crash])
    agents = {name: federation.start(name, f"{name}.csv") for name in SITES}
    agents["oslo"].wait_for("the run has begun")

    agents["oslo"].process.kill()

    assert agents.pop("oslo").end()[0] == -signal.SIGKILL
    for name, agent in agents.items():
        code, out, err = agent.end()
        assert code == 0, err
        result = federation.result(name)
        if result["contributors"] == 2:  # else the end had come before the kill did
            assert result["federation"]["contributors"] == [0, 1] and "2 of 3 are in the answer" in out
        assert records(hearsay, name) == ["spend", "release"]


@needs_grpc
@pytest.mark.parametrize("bad", ["nan", "inf", "Jane Doe", SECRET + "x", ""])
def test_what_cannot_be_read_is_not_quoted_anywhere(private, tmp_path, bad):
    federation = private()
    (tmp_path / "leeds.csv").write_text(f"{FEATURES}\n1,2,3,4,5,6\n3,{bad},4,5,6,7\n")
    ends = run_all(federation)
    assert [code for code, _, _ in ends] == [2] * 3, ends
    for _, out, err in ends:
        assert out == "" and "Jane" not in err and SECRET not in err and "line" not in err
    assert "nothing is said of where" in ends[1][2]


def keys_and_values(value, at=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from keys_and_values(inner, f"{at}.{key}")
    else:
        yield at, value


RELEASED = {".status", ".eigenvalues", ".above_noise", ".sin_theta", ".captured", ".explained", ".provenance.outputs"}
OF_THE_RUN = {".federation.run_id", ".federation.agent_digest", ".federation.digest", ".federation.notes"}  # ports, nonces, the basis
GOSSIP = {".messages", ".bytes"}


@needs_grpc
@pytest.mark.parametrize("trust", ["none", "neighbours", "secure"])
def test_neighbouring_data_differ_in_what_is_released_and_nothing_else(hearsay, private, tmp_path, trust):
    federation = private("--trust", trust, "--topology", "complete", "--public-rows", "1200")
    changed = rows(1)
    changed[17] = [float(SECRET), 900, -900, 5, 1, 2]
    told = []
    for middle in (np.delete(rows(1), 17, axis=0), changed):
        write(tmp_path / "leeds.csv", middle)
        ends = run_all(federation, "--insecure-seed", "5", "--components", "NON-PRIVATE-{agent}.npy")
        assert [code for code, _, _ in ends] == [0] * 3, ends
        texts = [(tmp_path / f"{name}.result").read_text() for name in SITES]
        for text, (_, out, err) in zip(texts, ends, strict=True):
            assert SECRET not in text + out + err
            assert not {399, 400, 1199} & {v for _, v in keys_and_values(json.loads(text)) if isinstance(v, int)}
        told.append(([dict(keys_and_values(json.loads(text))) for text in texts], ends))
    (one, ends_one), (two, ends_two) = told
    for flat_one, flat_two in zip(one, two, strict=True):
        assert flat_one.keys() == flat_two.keys()
        differ = {key for key in flat_one if flat_one[key] != flat_two[key]}
        assert differ <= RELEASED | OF_THE_RUN | (GOSSIP if trust == "none" else set())
        assert ".eigenvalues" in differ
    for (_, out_one, err_one), (_, out_two, err_two) in zip(ends_one, ends_two, strict=True):
        assert err_one == err_two
        for line_one, line_two in zip(out_one.splitlines(), out_two.splitlines(), strict=True):
            if line_one != line_two:
                words = {"sin(theta)", "captured"} | ({"agents"} if trust == "none" else set())
                assert line_one.strip()[0].isdigit() or line_one.split()[0] in words, line_one


@needs_grpc
def test_agents_that_mean_different_noise_refuse_each_other(hearsay, make_federation, tmp_path):  # noqa: F811
    federation = make_federation(SITES[:2], (), [*RUN, "--topology", "path"])
    for i, name in enumerate(SITES[:2]):
        write(tmp_path / f"{name}.csv", rows(i))
    agents = [federation.start(name, f"{name}.csv", *more) for name, more in zip(SITES, ([], ["--insecure-seed", "1"]), strict=False)]
    for agent in agents:
        code, out, err = agent.end()
        assert code in (2, 4) and out == "" and "privacy" in err and "NON-PRIVATE" in err, err
    assert records(hearsay, "boston") == [] and not (tmp_path / "leeds.csv.ledger").exists()


@pytest.mark.parametrize("more, words", [
    (["--dp", "1", "--row-norm", "3", "--features", "6"], "must be EPS,DELTA"),
    (["--dp", "1,1e-6", "--features", "6"], "row-norm: must be given"),
    ([*DP], "needs `features`"),
    ([*DP, "--features", "6", "--on-crash", "wait:60"], "release its rows again"),
    ([*DP, "--features", "6", "--trust", "secure", "--on-crash", "exclude", "--topology", "complete"], "must end the run"),
    ([*DP, "--features", "6", "--trust", "neighbours", "--on-crash", "exclude"], "must end the run"),
    ([*DP, "--features", "6", "--trust", "secure"], "needs topology"),
    ([*DP, "--features", "6", "--trust", "friends"], "dp.trust"),
    ([*DP, "--features", "6", "--trust", "secure", "--topology", "complete", "--colluders", "4"], "colluders = 4"),
    (["--trust", "none", "--row-norm", "3"], "need --dp"),
    (["--dp", "0,1e-6", "--row-norm", "3", "--features", "6"], "dp.epsilon"),
    (["--dp", "1,2", "--row-norm", "3", "--features", "6"], "dp.delta"),
    (["--dp", "1,1e-6", "--row-norm", "-3", "--features", "6"], "dp.row-norm"),
])
def test_a_federation_that_cannot_be_private_is_refused(hearsay, tmp_path, more, words):
    roster = [word for name in "abcd" for word in ("--agent", f"{name}@127.0.0.1:1{ord(name)}")]
    run = hearsay("federation", "new", "f.json", "--name", "t", "-k", 2, *roster, *more)
    assert run.returncode == 2 and words in run.stderr, run.stderr
    assert not (tmp_path / "f.json").exists()


@pytest.mark.parametrize("more, words", [
    (["--checkpoint", "c"], "checkpoint"),
    (["--report", "r.html"], "report"),
    (["--trace", "t.csv"], "trace"),
    (["--insecure-seed", "1", "--ledger", "l"], "ledger"),
    (["--insecure-seed", "1", "--components", "v.npy"], "NON-PRIVATE"),
])
def test_an_agent_refuses_what_would_tell_more(private, tmp_path, more, words):
    federation = private()
    code, out, err = federation.start("boston", "boston.csv", *more).end()
    assert code == 2 and out == "" and words in err
    without_ledgers(federation)


def test_options_about_privacy_need_a_private_federation(make_federation, tmp_path):  # noqa: F811
    federation = make_federation(SITES, outbound=("oslo",), more=["-k", "2"])
    write(tmp_path / "boston.csv", rows(0))
    code, _, err = federation.start("boston", "boston.csv", "--ledger", "l").end()
    assert code == 2 and "f.json says nothing of it" in err


def test_sums_that_go_round_once_have_no_plan(hearsay, private):
    private("--trust", "neighbours")
    run = hearsay("federation", "plan", "f.json")
    assert run.returncode == 2 and "no iterations to plan" in run.stderr


def test_hospitals_that_scaled_by_their_own_rows_are_refused(private):
    federation = private()
    code, _, err = federation.start("boston", "fed-heart-disease:va").end()
    assert code == 2 and "scaled their features" in err
