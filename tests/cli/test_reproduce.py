"""Experiments as data: what they leave behind, and what they refuse."""

import csv
import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from conftest import SOURCE

SMALL = {
    "name": "mine", "title": "Mine & yours", "seeds": [1, 2],
    "run": {"dimension": 40, "rank": 3, "gap": 0.1, "iterations": 150},
    "panels": [{"name": "momentum", "title": "β, compared", "curves": [
        {"name": "none, at all", "run": {"momentum": "none"}}, {"name": "best", "run": {"momentum": "optimal"}}]}],
    "claims": [{"name": "faster", "says": "the best is faster", "panel": "momentum", "measure": "iterations_ratio",
                "curves": ["none, at all", "best"], "at_least": 1.5}],
    "quick": {"seeds": [1]}}


@pytest.fixture
def experiment(tmp_path):
    def write(name="my.json", **changes):
        (tmp_path / name).write_text(json.dumps({**SMALL, **changes}))
        return name
    return write


def test_an_experiment_leaves_data_figures_claims_and_a_page(hearsay, experiment, tmp_path):
    result = hearsay("experiment", experiment(), "--out", "out")

    assert result.returncode == 0, result.stderr
    assert "holds    faster" in result.stdout and "1 of 1 claims hold" in result.stdout
    rows = list(csv.DictReader((tmp_path / "out/mine/mine.csv").read_text().splitlines()))
    assert {row["curve"] for row in rows} == {"none, at all", "best"} and len(rows) == 2 * 151
    assert all(float(row["low"]) <= float(row["median"]) <= float(row["high"]) for row in rows)
    assert all({float(row["seed 1"]), float(row["seed 2"])} == {float(row["low"]), float(row["high"])} for row in rows)
    claims = json.loads((tmp_path / "out/claims.json").read_text())
    assert (claims["claims"], claims["hold"], claims["fail"]) == (1, 1, 0)
    assert claims["verdicts"][0]["value"] >= 1.5 and claims["verdicts"][0]["holds"]


def test_the_figure_is_well_formed_and_complete(hearsay, experiment, tmp_path):
    hearsay("experiment", experiment(), "--out", "out")

    svg = ElementTree.parse(tmp_path / "out/mine/mine.svg").getroot()

    texts = ["".join(element.itertext()) for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Mine & yours", "β, compared", "none, at all", "best"} <= set(texts)


def test_the_page_asks_nobody_for_anything(hearsay, experiment, tmp_path):
    hearsay("experiment", experiment(), "--out", "out")

    page = (tmp_path / "out/report.html").read_text()

    assert page.count("<svg") == 1 and "1 of 1 claims hold" in page
    links = re.findall(r'(?:src|href)="([^"]*)"|url\(([^)]*)\)|@import', page)
    assert all((a or b).startswith(("#", "data:")) for a, b in links), links
    assert "<script" not in page


def test_the_same_experiment_gives_the_same_bytes_on_any_number_of_threads(hearsay, experiment, tmp_path):
    name = experiment()
    hearsay("experiment", name, "--out", "one", "--threads", 1)
    hearsay("experiment", name, "--out", "three", "--threads", 3)

    for file in ["mine/mine.csv", "mine/mine.svg", "claims.json"]:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "three" / file).read_bytes()


def test_a_claim_that_fails_is_told_and_everything_is_written(hearsay, experiment, tmp_path):
    claims = [{**SMALL["claims"][0], "at_least": 1000}]

    result = hearsay("experiment", experiment(claims=claims), "--out", "out")

    assert result.returncode == 3 and "FAILS    faster" in result.stdout
    assert json.loads((tmp_path / "out/claims.json").read_text())["fail"] == 1
    assert "fails" in (tmp_path / "out/report.html").read_text()


def test_a_departure_as_documented_is_told_and_is_no_failure(hearsay, experiment, tmp_path):
    departing = {**SMALL["claims"][0], "at_least": 1000, "departure": {"because": "it cannot be", "at_least": 1.5}}

    result = hearsay("experiment", experiment(claims=[departing]), "--out", "out")

    assert result.returncode == 0 and "departs" in result.stdout and "0 of 1 claims hold, 1 depart" in result.stdout
    claims = json.loads((tmp_path / "out/claims.json").read_text())
    assert (claims["hold"], claims["depart"], claims["fail"]) == (0, 1, 0)
    assert claims["verdicts"][0]["verdict"] == "departs" and not claims["verdicts"][0]["holds"]
    assert "it cannot be" in (tmp_path / "out/report.html").read_text()
    departing["departure"]["at_least"] = 10000
    assert hearsay("experiment", experiment(claims=[departing]), "--out", "out").returncode == 3
    departing["at_least"] = 1.5
    assert hearsay("experiment", experiment(claims=[departing]), "--out", "out").returncode == 3, "it holds after all"


def test_tables_are_on_the_page_and_in_files_of_their_own(hearsay, experiment, tmp_path):
    run = {"kind": "tolerance", "dimension": 12, "rank": 2, "lambda_next": 0.8, "most": 8, "levels": 5}
    panels = [{"name": "p", "title": "p", "against": "swept", "curves": [
        {"name": "a, b", "run": {"analysis": "hardt-price"}}, {"name": "main", "run": {}}]}]
    tables = [{"name": "facts", "title": "What & when", "panel": "p", "columns": [
        {"label": "T promised", "fact": "T"}, {"label": "nothing", "fact": "unheard-of"}]}]

    result = hearsay("experiment", experiment(run=run, panels=panels, claims=[], tables=tables), "--out", "out")

    assert result.returncode == 0, result.stderr
    rows = list(csv.DictReader((tmp_path / "out/mine/facts.csv").read_text().splitlines()))
    assert [(row["row"], row["column"]) for row in rows] == [("a, b", "T"), ("main", "T")]
    assert float(rows[0]["median"]) > float(rows[1]["median"]), "momentum promises fewer iterations"
    page = (tmp_path / "out/report.html").read_text()
    assert page.count('<table class="facts">') == 1 and "What &amp; when" in page and "T promised" in page


def test_a_generated_graph_is_never_taken_for_the_real_one(hearsay, experiment, tmp_path):
    (tmp_path / "empty").mkdir()
    run = {"kind": "graph", "data": "amazon0302", "nodes": 300, "communities": 3, "rank": 3, "iterations": 5}
    panels = [{"name": "g", "title": "G", "curves": [{"name": "npm", "run": {"momentum": "none"}}]}]
    name = experiment(run=run, panels=panels, claims=[])

    result = hearsay("experiment", name, "--out", "out", env={"HEARSAY_DATA": str(tmp_path / "empty")})

    assert result.returncode == 0, result.stderr
    assert "Mine & yours (generated graph)" in result.stdout
    assert "not Amazon0302 but a generated one" in (tmp_path / "out/report.html").read_text()
    assert "generated graph" in (tmp_path / "out/mine/mine.svg").read_text()
    hearsay.refuses("experiment", experiment(run={**run, "data": "amazon"}, panels=panels, claims=[]),
                    saying=["amazon", "did you mean amazon0302?"])


def test_what_is_said_of_a_data_set_is_not_tested_on_the_graph_in_its_place(hearsay, experiment, tmp_path):
    (tmp_path / "empty").mkdir()
    run = {"kind": "graph", "data": "amazon0302", "nodes": 300, "communities": 3, "rank": 3, "iterations": 5}
    panels = [{"name": "g", "title": "G", "curves": [{"name": "npm", "run": {"momentum": "none"}}]}]
    impossible = {"says": "s", "panel": "g", "measure": "floor", "at_least": 1000}
    claims = [{**impossible, "name": "paper", "of": "amazon0302"}, {**impossible, "name": "ours", "of": "generated"}]
    nowhere = {"HEARSAY_DATA": str(tmp_path / "empty")}

    result = hearsay("experiment", experiment(run=run, panels=panels, claims=claims), "--out", "out", env=nowhere)

    assert result.returncode == 3 and "not tested: generated graph" in result.stdout
    report = json.loads((tmp_path / "out/claims.json").read_text())
    assert [verdict["verdict"] for verdict in report["verdicts"]] == ["untested", "fails"]
    assert report["untested"] == 1 and "0 of 2 claims hold, 1 not tested, 1 fail" in result.stdout
    assert "Not tested: generated graph." in (tmp_path / "out/report.html").read_text()
    lone = experiment(run=run, panels=panels, claims=claims[:1])
    assert hearsay("experiment", lone, "--out", "out", env=nowhere).returncode == 0


def paper_claims():
    for path in sorted(SOURCE.glob("experiments/*/config.json")):
        for claim in json.loads(path.read_text())["claims"]:
            yield pytest.param(claim, id=f"{path.parent.name}-{claim['name']}")


@pytest.mark.parametrize("claim", paper_claims())
def test_a_claim_is_bounded_close_to_what_was_measured(claim):
    """Within a factor of 1.3, unless the bound is a theorem's own or the number is one of rounding."""
    if claim.get("of") == "amazon0302":
        assert "measured" not in claim, "its data have never been here"
        return
    measured, slack = claim["measured"], 1.3 * (1 + 1e-9)
    bounds = claim.get("departure", claim)
    departs = "departure" in claim
    assert bounds.get("at_least", measured) <= measured <= bounds.get("at_most", measured)
    within = claim.get("at_least", measured) <= measured <= claim.get("at_most", measured)
    assert within != departs, "a departure misses the claim's own bounds"
    if "bound_by" in claim:
        return
    for side in ("at_least", "at_most"):
        bound = bounds.get(side, measured)
        assert bound == measured or 1 / slack <= bound / measured <= slack, (side, bound, measured)


def test_quick_is_what_the_file_says(hearsay, experiment, tmp_path):
    hearsay("experiment", experiment(), "--out", "out", "--quick")

    assert json.loads((tmp_path / "out/mine/mine.json").read_text())["seeds"] == [1]


def test_without_rsvg_convert_it_says_so_once(hearsay, experiment, tmp_path):
    result = hearsay("experiment", experiment(), "--out", "out", env={"PATH": str(tmp_path)})

    assert result.returncode == 0 and result.stdout.count("rsvg-convert") == 1
    assert not (tmp_path / "out/mine/mine.png").exists()


def test_the_papers_experiments_are_listed_and_are_the_files_of_the_sources(hearsay):
    names = [line.split()[0] for line in hearsay("reproduce", "list").stdout.splitlines()]

    assert {"fig1", "fig1-sphere", "theorems"} <= set(names)
    assert sorted(names) == sorted(path.parent.name for path in SOURCE.glob("experiments/*/config.json"))
    for name in names:
        config = json.loads((SOURCE / "experiments" / name / "config.json").read_text())
        assert config["name"] == name and config["claims"]


@pytest.mark.parametrize("arguments, saying", [
    (["reproduce", "fig11"], ["fig11", "did you mean fig1?"]),
    (["reproduce"], ["WHAT", "hearsay reproduce --help"]),
    (["experiment", "missing.json"], ["missing.json"]),
])
def test_what_is_not_there_is_refused(hearsay, arguments, saying):
    hearsay.refuses(*arguments, saying=saying)


def test_a_wrong_file_is_refused_before_anything_runs(hearsay, experiment, tmp_path):
    hearsay.refuses("experiment", experiment(seeds=[]), saying="seed")
    hearsay.refuses("experiment", experiment(run={"dimensoin": 3}), saying=["dimensoin", "did you mean dimension?"])
    name, other = experiment(), experiment("other.json")
    hearsay.refuses("experiment", name, other, saying=["other.json", "name = mine"])


def test_an_output_that_is_no_directory_is_refused(hearsay, experiment, tmp_path):
    (tmp_path / "taken").write_text("")
    hearsay.refuses("experiment", experiment(), "--out", "taken", saying=["out = taken", "directory"])


def test_a_figure_whose_data_are_missing_is_refused_by_name(hearsay, tmp_path):
    (tmp_path / "empty").mkdir()
    nowhere = {"HEARSAY_DATA": str(tmp_path / "empty")}

    result = hearsay("reproduce", "fig2-facebook", "--quick", "--out", "out", env=nowhere)

    assert result.returncode == 2 and "facebook" in result.stderr and not (tmp_path / "out").exists()


def test_agents_are_run_on_data_by_name(hearsay, experiment, data_directory, tmp_path):
    run = {"kind": "agents", "data": "heart", "rank": 2, "rounds": 5, "iterations": 60}
    curves = [{"name": "adeepca", "run": {"algorithm": "adeepca"}}]
    panels = [{"name": "r", "title": "r", "against": "rounds", "curves": curves}]
    claims = [{"name": "M", "says": "M of the data", "panel": "r", "measure": "fact_most", "fact": "local_norm",
               "at_least": 4.6472, "at_most": 4.6474}]

    result = hearsay("experiment", experiment(run=run, panels=panels, claims=claims), "--out", "out")

    assert result.returncode == 0, result.stdout + result.stderr
    rows = list(csv.DictReader((tmp_path / "out/mine/mine.csv").read_text().splitlines()))
    assert [float(row["x"]) for row in rows[:3]] == [0, 5, 10]
    hearsay.refuses("experiment", experiment(run={**run, "data": "hart"}, panels=panels), saying=["hart", "heart"])
