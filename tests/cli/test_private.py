"""hearsay pca --dp and plan --dp: what leaves, what is spent, and what is refused before anything is."""

import json
import os
import threading

import numpy as np
import pytest

DP = ("--dp", "1,1e-6", "--row-norm", "3")
SECRET = "8.7654321"


@pytest.fixture
def patients(tmp_path):
    rng = np.random.default_rng(4)
    data = rng.standard_normal((600, 6)) * [3, 2, 1, 0.5, 0.5, 0.5]
    write(tmp_path / "patients.csv", data)
    return data


def write(path, data, header="age,weight,height,pulse,iron,salt"):
    np.savetxt(path, data, delimiter=",", header=header, comments="", fmt="%.17g")


def test_the_first_run_spends_the_budget_and_the_second_is_refused(hearsay, tmp_path, patients):
    first = hearsay("pca", "patients.csv", "-k", 2, *DP, "--json", "a.json", "--components", "a.npy")
    assert first.returncode == 0, first.stderr
    assert "spent 1 of 1" in first.stdout and "private error bar" in first.stdout
    result = json.loads((tmp_path / "a.json").read_text())
    assert result["private"] and "stamp" not in result
    assert result["ledger"]["spent"] == result["ledger"]["of"] == 1
    assert result["features"][0] == "age"
    basis = np.load(tmp_path / "a.npy")
    assert np.allclose(basis.T @ basis, np.eye(2), atol=1e-12)
    before = (tmp_path / "patients.csv.ledger").read_bytes()
    again = hearsay("pca", "patients.csv", "-k", 1, *DP, "--json", "b.json")
    assert again.returncode == 2 and "budget would be exceeded" in again.stderr
    assert not (tmp_path / "b.json").exists()
    assert (tmp_path / "patients.csv.ledger").read_bytes() == before
    verified = hearsay("ledger", "verify", "patients.csv.ledger", "--seen", result["ledger"]["sha256"])
    assert verified.returncode == 0, verified.stdout


def test_a_refused_query_opens_no_data(hearsay, tmp_path, patients):
    assert hearsay("pca", "patients.csv", "-k", 2, *DP).returncode == 0
    (tmp_path / "patients.csv").write_text("not a table, and not looked at")
    again = hearsay("pca", "patients.csv", "-k", 2, *DP)
    assert again.returncode == 2 and "budget would be exceeded" in again.stderr


def test_what_could_not_be_delivered_is_spent_all_the_same(hearsay, tmp_path, patients):
    run = hearsay("pca", "patients.csv", "-k", 2, *DP, "--json", "/dev/full")
    assert run.returncode == 1 and "not delivered" in run.stderr
    shown = json.loads(hearsay("ledger", "show", "patients.csv.ledger", "--json", "-").stdout)
    assert [record["kind"] for record in shown["records"]] == ["spend", "release"]
    assert hearsay("pca", "patients.csv", "-k", 2, *DP).returncode == 2


def test_a_budget_serves_several_queries(hearsay, tmp_path, patients):
    budget = ("--budget", "2,1e-6", "--ledger", "all.ledger", "--row-norm", 3)
    assert hearsay("pca", "patients.csv", "-k", 2, "--dp", "1,1e-6", *budget).returncode == 0
    assert hearsay("pca", "patients.csv", "-k", 2, "--dp", "1,1e-6", *budget).returncode == 0
    third = hearsay("pca", "patients.csv", "-k", 2, "--dp", "1.9,1e-6", *budget)
    assert third.returncode == 2 and "exceeded" in third.stderr
    other = hearsay(
        "pca",
        "patients.csv",
        "-k",
        2,
        "--dp",
        "0.1,1e-6",
        "--row-norm",
        3,
        "--budget",
        "9,1e-6",
        "--ledger",
        "all.ledger",
    )
    assert other.returncode == 2 and "stays that" in other.stderr
    replaced = hearsay(
        "pca",
        "patients.csv",
        "-k",
        2,
        "--dp",
        "0.1,1e-6",
        "--row-norm",
        3,
        "--ledger",
        "all.ledger",
        "--neighbours",
        "replace",
    )
    assert replaced.returncode == 2 and "neighbours" in replaced.stderr


def keys_and_values(value, at=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from keys_and_values(inner, f"{at}.{key}")
    else:
        yield at, value


RELEASED = {".status", ".eigenvalues", ".above_noise", ".sin_theta", ".captured", ".explained", ".mean",
            ".provenance.outputs"}  # fmt: skip


@pytest.mark.parametrize("form", [(), ("--release", "lazy"), ("--release", "lazy", "--stream"), ("--release", "fresh")], ids=" ".join)
@pytest.mark.parametrize("center", ["none", "dp-mean"])
def test_neighbouring_data_differ_in_what_is_released_and_nothing_else(hearsay, tmp_path, patients, center, form):
    """The noise is fixed, so that whatever else differs came from the row."""
    changed = patients.copy()
    changed[17] = [float(SECRET), 900, -900, 5, 1, 2]
    told = []
    for name, data in ("one", np.delete(patients, 17, axis=0)), ("two", changed):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "patients.csv", data)
        run = type(hearsay)(tmp_path / name)(
            *("pca", "patients.csv", "-k", 2, *DP, "--insecure-seed", 5, "--dp-center", center, *form),
            *("--public-rows", 600, "--json", "a.json", "--components", "NON-PRIVATE.npy"),
        )
        assert run.returncode == 0, run.stderr
        assert run.stderr == "" and run.stdout.startswith("NON-PRIVATE")
        assert sorted(p.name for p in (tmp_path / name).iterdir()) == ["NON-PRIVATE.npy", "a.json", "patients.csv"]
        text = (tmp_path / name / "a.json").read_text()
        assert SECRET not in text + run.stdout
        assert 599 not in dict(keys_and_values(json.loads(text))).values()
        told.append((json.loads(text), run.stdout))
    (one, text_one), (two, text_two) = told
    assert one["stamp"].startswith("NON-PRIVATE") and not one["private"] and one["ledger"] is None
    flat_one, flat_two = dict(keys_and_values(one)), dict(keys_and_values(two))
    assert flat_one.keys() == flat_two.keys()
    differ = {key for key in flat_one if flat_one[key] != flat_two[key]}
    assert differ <= RELEASED | {".release.directions"} and {".eigenvalues", ".provenance.outputs"} <= differ
    for line_one, line_two in zip(text_one.splitlines(), text_two.splitlines(), strict=True):
        if line_one != line_two:  # a line of the table, the bar, or the share
            assert line_one.strip()[0].isdigit() or line_one.split()[0] in ("sin(theta)", "captured", "release"), line_one


def sparse_rows(path):
    """Two groups of features that come together, in a matrix of mostly zeros."""
    rng = np.random.default_rng(2)
    lines = []
    for i in range(1, 3001):
        first = 1 + 5 * rng.integers(0, 2)
        lines += [f"{i} {first + j} 1" for j in range(4)] + [f"{i} {rng.integers(11, 901)} 0.5"]
    path.write_text("%%MatrixMarket matrix coordinate real general\n" + f"3000 900 {len(lines)}\n" + "\n".join(lines) + "\n")


def test_more_features_than_fit_are_released_as_products(hearsay, tmp_path):
    sparse_rows(tmp_path / "rows.mtx")
    asked = ("-k", 2, "--dp", "2,1e-6", "--row-norm", 2.1, "--memory", "50M")
    run = hearsay("pca", "rows.mtx", *asked, "--json", "a.json", "--components", "v.npy")
    assert run.returncode == 0, run.stderr
    assert "4 x 900" not in run.stdout and "four times 900 x 900 numbers are more than half" in run.stdout
    told = json.loads((tmp_path / "a.json").read_text())
    assert told["release"]["form"] == "lazy" and told["release"]["directions"] < 900 and told["explained"] is None
    basis, wanted = np.load(tmp_path / "v.npy"), np.zeros((900, 2))
    wanted[0:4, 0] = wanted[5:9, 1] = 0.5
    sine = np.linalg.norm(basis - wanted @ (wanted.T @ basis), 2)
    assert 0.5 < told["sin_theta"] / sine < 2 and sine < 0.2
    again = hearsay("pca", "rows.mtx", *asked)
    assert again.returncode == 2 and "budget would be exceeded" in again.stderr


def test_the_form_of_a_release_may_be_said(hearsay, tmp_path, patients):
    for form in "stored", "lazy", "fresh":
        (tmp_path / "patients.csv.ledger").unlink(missing_ok=True)
        told = json.loads(hearsay("pca", "patients.csv", "-k", 2, *DP, "--release", form, "--json", "-").stdout)
        assert told["release"]["form"] == form
    (tmp_path / "patients.csv.ledger").unlink()
    anpm = hearsay("pca", "patients.csv", "-k", 2, *DP, "--release", "lazy", "--method", "anpm")
    assert anpm.returncode == 2 and "with release = lazy" in anpm.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["patients.csv"]  # refused before anything was spent


def test_rows_that_pass_by_once_are_no_stream(hearsay, tmp_path, patients):
    """Refused before anything is spent."""
    os.mkfifo(tmp_path / "rows")
    for form in "auto", "lazy":
        run = hearsay("pca", "rows", "--stream", "-k", 2, *DP, "--ledger", "l", "--release", form)
        assert run.returncode == 2 and "is a pipe" in run.stderr
        assert not (tmp_path / "l").exists()
    table = (tmp_path / "patients.csv").read_bytes()
    writer = threading.Thread(target=(tmp_path / "rows").write_bytes, args=(table,))
    writer.start()
    run = hearsay("pca", "rows", "-k", 2, *DP, "--ledger", "l")
    writer.join()
    assert run.returncode == 0 and "spent 1 of 1" in run.stdout, run.stderr


def test_two_names_of_a_file_have_one_budget(hearsay, tmp_path, patients):
    (tmp_path / "link.csv").symlink_to("patients.csv")
    assert hearsay("pca", "link.csv", "-k", 2, *DP).returncode == 0
    again = hearsay("pca", "patients.csv", "-k", 2, *DP)
    assert again.returncode == 2 and "budget would be exceeded" in again.stderr


def test_what_cannot_be_read_is_not_quoted(hearsay, tmp_path, patients):
    for cell in ("nan", "inf", "Jane Doe", SECRET + "x", ""):
        (tmp_path / "bad.csv").write_text(f"a,b\n1,2\n3,{cell}\n5,6\n")
        for ending in (), ("--stream",):
            (tmp_path / "bad.csv.ledger").unlink(missing_ok=True)
            run = hearsay("pca", "bad.csv", "-k", 1, *DP, *ending)
            assert run.returncode == 2, run.stderr
            assert "nothing is said of where" in run.stderr and run.stdout == ""
            assert "Jane" not in run.stderr and SECRET not in run.stderr and "line" not in run.stderr
            assert "spent" in hearsay("ledger", "show", "bad.csv.ledger").stdout


def test_a_row_that_looks_like_a_header_is_not_told(hearsay, tmp_path):
    rows = np.random.default_rng(0).standard_normal((50, 3))
    for first in "8.25,NA,7", "8.25,Jane Doe,7":
        (tmp_path / "t.csv").write_text("\n".join([first, *(",".join(map(repr, map(float, row))) for row in rows)]) + "\n")
        (tmp_path / "t.csv.ledger").unlink(missing_ok=True)
        run = hearsay("pca", "t.csv", "-k", 1, *DP, "--json", "-")
        assert not any(word in run.stdout + run.stderr for word in ("8.25", "Jane", "NA")), run.stdout + run.stderr
    (tmp_path / "t.csv.ledger").unlink()
    run = hearsay("pca", "t.csv", "-k", 1, *DP, "--label-column", "Jane")
    assert run.returncode == 2 and "Doe" not in run.stderr


REFUSED = [
    ("--standardize",), ("--missing", "mean"), ("--missing", "em"), ("--scores", "s.csv"), ("--report", "r.html"),
    ("--checkpoint", "c"), ("--batch", "100"), ("--weights-column", "1"), ("--audit", "0.1"), ("--whiten",),
    ("--noise", "gaussian:1"), ("--precision", "single"), ("--no-center",), ("--center",), ("--reference", "patients.csv"),
    ("--start", "patients.csv"), ("--certify", "full"), ("--products", "9"), ("--accuracy", "0.1"),
    ("--row-norm", "0"), ("--row-norm", "nan"), ("--dp", "1"), ("--dp", "0,1e-6"), ("--dp", "1,0"), ("--dp", "1,1"),
    ("--dp", "1,1e-6,3"), ("--dp-center", "given"), ("--dp-center", "dp-mean"), ("--dp-center", "data"),
    ("--mean-from", "patients.csv"), ("--neighbours", "all"), ("--public-rows", "0"), ("--rank", "mle"),
    ("--rank", "0.9"), ("--insecure-seed", "1", "--ledger", "x"), ("--insecure-seed", "1", "--components", "x.npy"),
    ("--release", "once"), ("--release", "fresh", "--momentum", "0.1"), ("--ledger", "patients.csv"), ("--ledger", "a.json", "--json", "a.json"), ("--json", "patients.csv.ledger"),
]  # fmt: skip


@pytest.mark.parametrize("more", REFUSED, ids=" ".join)
def test_refusals_spend_nothing(hearsay, tmp_path, patients, more):
    table = (tmp_path / "patients.csv").read_bytes()
    run = hearsay("pca", "patients.csv", "-k", 2, *DP, *more)
    assert run.returncode == 2, run.stdout
    assert len(run.stderr.splitlines()) == 1 and run.stderr.startswith("hearsay: ")
    assert [p.name for p in tmp_path.iterdir()] == ["patients.csv"]
    assert (tmp_path / "patients.csv").read_bytes() == table


def test_options_about_privacy_need_it(hearsay, patients):
    for more in ("--row-norm", 3), ("--ledger", "x"), ("--insecure-seed", 1), ("--mean-from", "patients.csv"):
        run = hearsay("pca", "patients.csv", "-k", 2, *more)
        assert run.returncode == 2 and "needs --dp" in run.stderr
    run = hearsay("pca", "patients.csv", "-k", 2, "--dp", "1,1e-6")
    assert run.returncode == 2 and "--row-norm: must be given" in run.stderr.replace("row-norm:", "--row-norm:", 1)


def test_a_private_result_projects_and_is_not_verified(hearsay, tmp_path, patients):
    np.savetxt(tmp_path / "mean.csv", np.full((6, 1), 0.25))
    run = hearsay("pca", "patients.csv", "-k", 2, *DP, "--dp-center", "given", "--mean-from", "mean.csv",
                  "--components", "v.npy", "--json", "a.json", "--stream")  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert json.loads((tmp_path / "a.json").read_text())["mean"] == [0.25] * 6
    write(tmp_path / "new.csv", patients[:5])
    assert hearsay("project", "new.csv", "--components-from", "a.json", "--scores", "s.npy").returncode == 0
    assert np.allclose(np.load(tmp_path / "s.npy"), (patients[:5] - 0.25) @ np.load(tmp_path / "v.npy"))
    verified = hearsay("verify", "a.json")
    assert verified.returncode == 2 and "private" in verified.stderr


PLAN = ("plan", "--dp", "1,1e-6", "--row-norm", 10, "--dimension", 500, "--public-rows", 50000, "-k", 10)


def test_a_plan_tells_what_a_release_will_be_worth(hearsay):
    plan = json.loads(hearsay(*PLAN, "--spectrum", "i^-1", "--epsilon", "0.1", "--json", "-").stdout)
    assert 0.1 < plan["sin_theta"] < 0.4 and plan["captured"] > 0.98
    needed = plan["epsilon_needed"]
    assert 1 < needed < 4
    better = hearsay("plan", "--dp", f"{needed},1e-6", *PLAN[3:], "--spectrum", "i^-1", "--json", "-")
    assert abs(json.loads(better.stdout)["sin_theta"] - 0.1) < 1e-3
    text = hearsay(*PLAN, "--spectrum", "30,20,10,9,8,7,6,5,4,3").stdout
    assert "expected of the guessed spectrum" in text


def test_a_plan_reads_no_data(hearsay, patients):
    for more in ("--data", "patients.csv"), ("--matrix", "patients.csv"), ("--agents", 3), ():
        run = hearsay(*PLAN, *more)
        assert run.returncode == 2, run.stdout
    for more in (
        ("--spectrum", "1,2,3,4,5,6,7,8,9,10"),
        ("--spectrum", "1"),
        ("--spectrum", "i^-x"),
        ("--spectrum", "a,b"),
    ):
        assert hearsay(*PLAN, *more).returncode == 2
