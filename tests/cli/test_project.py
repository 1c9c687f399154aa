"""New data on components that were found before."""

import json
import os
import shutil

import numpy as np
import pytest

NAMES = ["height", "weight", "age", "dose", "rate"]


@pytest.fixture
def tables(tmp_path):
    """old.csv, analysed, and new.csv."""
    rng = np.random.default_rng(3)
    mixing = rng.standard_normal((5, 5)) * [5, 3, 1, 0.5, 0.2]
    old, new = (rng.standard_normal((rows, 5)) @ mixing.T + [100, 50, 20, 3, 1] for rows in (200, 30))
    for name, data in (("old", old), ("new", new)):
        np.savetxt(tmp_path / f"{name}.csv", data, delimiter=",", header=",".join(NAMES), comments="", fmt="%.17g")
    return old, new


def analysed(hearsay, *more, k=3):
    run = hearsay("pca", "old.csv", "-k", k, "--components", "basis.npy", "--json", "result.json", *more)
    assert run.returncode == 0, run.stderr
    return json.loads((hearsay.directory / "result.json").read_text()), np.load(hearsay.directory / "basis.npy")


@pytest.mark.parametrize("stream", [[], ["--stream"], ["--stream", "--block-rows", 7]],
                         ids=lambda more: " ".join(map(str, more)))
@pytest.mark.parametrize("wishes", [[], ["--standardize"], ["--no-center"], ["--no-center", "--standardize"]],
                         ids=lambda more: " ".join(more))
def test_a_result_brings_its_mean_and_scale(hearsay, tables, tmp_path, wishes, stream):
    old, new = tables
    result, basis = analysed(hearsay, *wishes)

    told = hearsay.json("project", "new.csv", "--components-from", "result.json", "--scores", "scores.npy", *stream)

    mean = old.mean(axis=0) if "--no-center" not in wishes else np.zeros(5)
    scale = old.std(axis=0, ddof=1) if "--standardize" in wishes else 1.0
    assert np.allclose(np.load(tmp_path / "scores.npy"), (new - mean) / scale @ basis, atol=1e-9)
    assert told["mean"] == "result" and told["samples"] == 30 and told["k"] == 3 and told["notes"] == []
    assert told["scale"] == ("result" if "--standardize" in wishes else "none")
    assert [file["option"] for file in told["provenance"]["inputs"]] == ["input", "components-from"]


def test_the_data_of_the_analysis_have_its_scores(hearsay, tables, tmp_path):
    analysed(hearsay, "--scores", "scores.npy", "--whiten", "--standardize")

    hearsay.json("project", "old.csv", "--components-from", "result.json", "--whiten", "--scores", "again.npy")

    assert np.allclose(np.load(tmp_path / "again.npy"), np.load(tmp_path / "scores.npy"), atol=1e-12)
    assert np.allclose(np.load(tmp_path / "again.npy").var(axis=0, ddof=1), 1, rtol=1e-9)


def test_a_basis_alone_says_that_it_has_no_mean(hearsay, tables, tmp_path):
    old, new = tables
    _, basis = analysed(hearsay)

    run = hearsay("project", "new.csv", "--components-from", "basis.npy", "--scores", "scores.npy")

    assert run.returncode == 0 and "none was subtracted" in run.stdout and "--mean-from" in run.stdout
    assert np.allclose(np.load(tmp_path / "scores.npy"), new @ basis, atol=1e-9)


def test_a_basis_takes_mean_and_scale_from_files(hearsay, tables, tmp_path):
    old, new = tables
    _, basis = analysed(hearsay, "--standardize")
    np.savetxt(tmp_path / "mean.csv", old.mean(axis=0), fmt="%.17g")
    np.save(tmp_path / "scale.npy", old.std(axis=0, ddof=1))
    np.savetxt(tmp_path / "basis.csv", basis, delimiter=",", fmt="%.17g")

    told = hearsay.json("project", "new.csv", "--components-from", "basis.csv", "--mean-from", "mean.csv",
                        "--scale-from", "scale.npy", "--scores", "scores.csv")

    scores = np.loadtxt(tmp_path / "scores.csv", delimiter=",")
    assert np.allclose(scores, (new - old.mean(axis=0)) / old.std(axis=0, ddof=1) @ basis, atol=1e-9)
    assert told["notes"] == [] and told["mean"] == told["scale"] == "file"


@pytest.mark.parametrize("stream", [[], ["--stream"]], ids=["memory", "stream"])
def test_columns_are_matched_by_name(hearsay, tables, tmp_path, stream):
    old, new = tables
    result, basis = analysed(hearsay)
    order = [3, 0, 4, 2, 1]
    np.savetxt(tmp_path / "turned.csv", new[:, order], delimiter=",", fmt="%.17g", comments="",
               header=",".join(NAMES[j] for j in order))

    hearsay.json("project", "turned.csv", "--components-from", "result.json", "--scores", "a.npy", *stream)
    hearsay.json("project", "turned.csv", "--components-from", "result.json", "--scores", "b.npy",
                 "--columns", "by-position", *stream)

    centred = new - old.mean(axis=0)
    assert np.allclose(np.load(tmp_path / "a.npy"), centred @ basis, atol=1e-9)
    assert np.allclose(np.load(tmp_path / "b.npy"), (new[:, order] - old.mean(axis=0)) @ basis, atol=1e-9)


@pytest.mark.parametrize("policy", ["mean", "em", "drop-rows"])
def test_missing_entries_are_those_of_the_analysis(hearsay, tables, tmp_path, policy):
    old, new = tables
    result, basis = analysed(hearsay, k=2)
    holes = new.copy()
    holes[2, 1] = holes[7, 4] = np.nan
    np.save(tmp_path / "holes.npy", holes)

    hearsay.refuses("project", "holes.npy", "--components-from", "result.json", saying=["row 3, column 2", "--missing"])
    hearsay.json("project", "holes.npy", "--components-from", "result.json", "--missing", policy, "--scores", "s.npy")

    scores = np.load(tmp_path / "s.npy")
    kept = np.setdiff1d(np.arange(30), [2, 7])
    assert np.allclose(scores[kept], ((new - old.mean(axis=0)) @ basis)[kept], atol=1e-9)
    if policy == "drop-rows":
        assert np.isnan(scores[[2, 7]]).all()
    elif policy == "mean":
        assert np.allclose(scores[[2, 7]], np.nan_to_num(holes - old.mean(axis=0))[[2, 7]] @ basis, atol=1e-9)
    else:
        assert np.allclose(scores[[2, 7]], [by_conditional_mean(holes[i] - old.mean(axis=0), basis, result)
                                            for i in (2, 7)], atol=1e-8)


def by_conditional_mean(row, basis, result):
    """The mean of a normal distribution with the model's covariance, given what is there: written out in full."""
    values, k = np.array(result["eigenvalues"]), basis.shape[1]
    noise = (result["total_variance"] - values.sum()) / (len(row) - k)
    covariance = basis * (values - noise) @ basis.T + noise * np.eye(len(row))
    here = ~np.isnan(row)
    filled = row.copy()
    filled[~here] = covariance[np.ix_(~here, here)] @ np.linalg.solve(covariance[np.ix_(here, here)], row[here])
    return filled @ basis


def test_a_result_and_its_basis_may_move_together(hearsay, tables, tmp_path):
    analysed(hearsay)
    os.mkdir(tmp_path / "there")
    for name in ("result.json", "basis.npy"):
        shutil.move(tmp_path / name, tmp_path / "there" / name)

    assert hearsay("project", "new.csv", "--components-from", "there/result.json").returncode == 0


def test_verify_says_what_it_leaves_open(hearsay, tables, tmp_path):
    analysed(hearsay)
    hearsay("project", "new.csv", "--components-from", "result.json", "--scores", "s.npy", "--json", "p.json")

    told = hearsay("verify", "p.json")

    assert told.returncode == 0 and "scores" in told.stdout and "open" in told.stdout


def changed(path, change):
    result = json.loads(path.read_text())
    change(result)
    path.write_text(json.dumps(result))


def rename_columns(path, names):
    lines = path.read_text().splitlines()
    path.write_text("\n".join([",".join(names), *lines[1:]]) + "\n")


BAD = {
    "a column of another name": (lambda d: rename_columns(d / "new.csv", ["size", *NAMES[1:]]), [], ["height"]),
    "a column more": (lambda d: np.savetxt(d / "new.csv", np.ones((3, 6)), delimiter=",", comments="",
                                           header=",".join([*NAMES, "iq"])), [], ["iq"]),
    "a column less": (lambda d: np.savetxt(d / "new.csv", np.ones((3, 4)), delimiter=",", comments="",
                                           header=",".join(NAMES[1:])), [], ["height"]),
    "fewer columns without names": (lambda d: np.savetxt(d / "new.csv", np.ones((3, 4)), delimiter=","), [],
                                    ["4 features", "of 5"]),
    "a basis that changed": (lambda d: np.save(d / "basis.npy", np.eye(5, 3)), [], ["basis.npy", "changed"]),
    "a basis that is gone": (lambda d: os.remove(d / "basis.npy"), [], ["basis.npy", "not there"]),
    "a result without components": (lambda d: changed(d / "result.json", lambda r: r["provenance"].update(outputs=[])), [],
                                    ["--components"]),
    "a result of eigs": (lambda d: changed(d / "result.json", lambda r: r.update(command="eigs")), [], ["eigs"]),
    "a mean of texts": (lambda d: changed(d / "result.json", lambda r: r.update(mean=["a"] * 5)), [], ["mean"]),
    "a mean that is too short": (lambda d: changed(d / "result.json", lambda r: r.update(mean=[1.0])), [], ["5 x 3"]),
    "a result that is a list": (lambda d: (d / "result.json").write_text("[1, 2]"), [], ["JSON object"]),
    "a result that is no JSON": (lambda d: (d / "result.json").write_text("{"), [], ["result.json"]),
    "outputs that are a number": (lambda d: changed(d / "result.json", lambda r: r.update(provenance=3)), [], ["result.json"]),
    "a mean twice": (lambda d: np.save(d / "mean.npy", np.ones(5)), ["--mean-from", "mean.npy"], ["mean-from", "its own"]),
    "scores over the result": (lambda d: None, ["--scores", "basis.npy", "--components-from", "basis.npy"],
                               ["would overwrite"]),
    "a file that is not there": (lambda d: None, ["--components-from", "nothing.npy"], ["nothing.npy"]),
    "white scores of a basis": (lambda d: None, ["--components-from", "basis.npy", "--whiten"], ["whiten", "JSON"]),
    "em by a basis": (lambda d: None, ["--components-from", "basis.npy", "--missing", "em"], ["em", "JSON"]),
    "the mean of nobody": (lambda d: None, ["--components-from", "basis.npy", "--missing", "mean"], ["--mean-from"]),
    "a mean of other length": (lambda d: np.save(d / "mean.npy", np.ones(4)),
                               ["--components-from", "basis.npy", "--mean-from", "mean.npy"], ["4 numbers", "must have 5"]),
    "a scale of zero": (lambda d: np.save(d / "scale.npy", np.array([1.0, 0, 1, 1, 1])),
                        ["--components-from", "basis.npy", "--scale-from", "scale.npy"], ["number 2", "positive"]),
}


@pytest.mark.attack
@pytest.mark.parametrize("prepare, more, saying", BAD.values(), ids=BAD.keys())
def test_what_does_not_belong_together(hearsay, tables, tmp_path, prepare, more, saying):
    analysed(hearsay)
    prepare(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    source = [] if "--components-from" in more else ["--components-from", "result.json"]
    scores = [] if "--scores" in more else ["--scores", "s.npy"]

    hearsay.refuses("project", "new.csv", *source, *more, *scores, "--json", "out.json", saying=saying)

    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before


@pytest.mark.attack
def test_a_projection_needs_a_basis(hearsay, tables):
    run = hearsay("project", "new.csv")

    assert run.returncode == 2 and "--components-from" in run.stderr
