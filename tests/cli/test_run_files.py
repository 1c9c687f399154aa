"""No output of a run may overwrite one of its inputs or another output; refused before anything is read."""

import json
import os
import shutil

import numpy as np
import pytest

from test_reproduce import SMALL

pytestmark = pytest.mark.attack

ROWS = "1,2,0\n2,1,1\n0,3,1\n4,1,2\n3,3,0\n1,0,2\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "data.csv").write_text(ROWS)
    (tmp_path / "shards").mkdir()
    for name in "ab":
        (tmp_path / "shards" / f"{name}.csv").write_text(ROWS)
        (tmp_path / f"site-{'ab'.index(name)}.csv").write_text(ROWS)
    (tmp_path / "edges.csv").write_text("0 1\n")
    (tmp_path / "faults.csv").write_text("{}")
    np.savetxt(tmp_path / "weights.csv", np.full((2, 2), 0.5), delimiter=",")
    (tmp_path / "split.csv").write_text("0\n0\n0\n1\n1\n1\n")
    np.save(tmp_path / "block.npy", np.eye(3)[:, :1])
    os.symlink("data.csv", tmp_path / "link.csv")
    os.link(tmp_path / "data.csv", tmp_path / "hard.csv")
    os.symlink("../data.csv", tmp_path / "shards" / ".hidden-link")
    return tmp_path


AGENTS = ["decentralized", "data.csv", "-k", "1", "--agents", "2"]
CLASHES = {
    "topology": ([*AGENTS, "--topology", "edges.csv", "--json", "edges.csv"], ["json = ", "topology = "]),
    "faults": ([*AGENTS, "--faults", "faults.csv", "--json", "faults.csv"], ["json = ", "faults = "]),
    "weights": ([*AGENTS, "--weights", "weights.csv", "--trace", "weights.csv"], ["trace = ", "weights = "]),
    "split": (["decentralized", "data.csv", "-k", "1", "--split", "split.csv", "--components", "split.csv"],
              ["components = ", "split = "]),
    "a file of the shard directory": (["decentralized", "shards", "-k", "1", "--trace", "shards/b.csv"],
                                      ["trace = ", "input = shards/b.csv"]),
    "an agent's file onto an input": (["decentralized", "site-0.csv", "site-1.csv", "-k", "1", "--components",
                                       "site-{agent}.csv"], ["components = site-{agent}.csv", "input = site-0.csv"]),
    "an agent's file onto another output": ([*AGENTS, "--components", "x{agent}.csv", "--trace", "./x1.csv"],
                                            ["components = ", "trace = "]),
    "an agent's name in a directory": ([*AGENTS, "--components", "x{agent}/b.csv"], ["{agent}", "directory"]),
    "start": (["pca", "data.csv", "-k", "1", "--start", "block.npy", "--components", "block.npy"],
              ["components = ", "start = "]),
    "reference": (["pca", "data.csv", "-k", "1", "--reference", "block.npy", "--checkpoint", "block.npy"],
                  ["checkpoint = ", "reference = "]),
    "a symbolic link": (["pca", "data.csv", "-k", "1", "--scores", "link.csv"], ["scores = ", "input = data.csv"]),
    "a hard link": (["pca", "data.csv", "-k", "1", "--scores", "hard.csv"], ["scores = ", "input = data.csv"]),
    "a way around": (["pca", "data.csv", "-k", "1", "--json", "shards/../data.csv"], ["json = ", "input = data.csv"]),
    "two outputs": (["pca", "data.csv", "-k", "1", "--scores", "new.csv", "--json", "shards/../new.csv"],
                    ["json = ", "scores = "]),
    "a plan's data": (["plan", "--data", "data.csv", "-k", "1", "--json", "data.csv"], ["json = ", "data = "]),
    "a plan's matrix": (["plan", "--matrix", "data.csv", "-k", "1", "--json", "data.csv"], ["json = ", "matrix = "]),
    "a graph": (["cluster", "edges.csv", "-k", "1", "--labels", "edges.csv"], ["labels = ", "input = edges.csv"]),
}


def contents(directory):
    return {path.relative_to(directory): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize("arguments, saying", CLASHES.values(), ids=CLASHES.keys())
def test_a_clash_is_refused_by_the_names_of_both_options(hearsay, files, arguments, saying):
    before = contents(files)

    hearsay.refuses(*arguments, saying=saying)

    assert contents(files) == before


def test_an_agents_file_that_is_a_link_to_an_input(hearsay, files):
    os.symlink("split.csv", files / "basis-1.csv")

    hearsay.refuses("decentralized", "data.csv", "-k", 1, "--split", "split.csv", "--components", "basis-{agent}.csv",
                    saying=["components = basis-{agent}.csv", "split = split.csv"])


def test_names_that_only_look_alike_are_allowed(hearsay, files):
    shutil.copy(files / "data.csv", files / "basis-7.csv")  # agents 0 and 1 write others

    result = hearsay("decentralized", "basis-7.csv", "-k", 1, "--agents", 2, "--components", "basis-{agent}.csv",
                     "--trace", "basis-01.csv", "--json", "ring", "--topology", "ring")

    assert result.returncode == 0, result.stderr
    assert (files / "basis-1.csv").exists() and (files / "basis-7.csv").read_text() == ROWS


def test_a_device_may_be_named_as_often_as_one_likes(hearsay, files):
    (files / "null.csv").symlink_to("/dev/null")

    assert hearsay("pca", "data.csv", "-k", 1, "--scores", "null.csv", "--components", "null.csv",
                   "--json", "/dev/null").returncode == 0


def test_a_located_data_set(hearsay, digits, tmp_path):
    shutil.copy(digits, tmp_path / "digits.csv.gz")
    before = (tmp_path / "digits.csv.gz").read_bytes()

    result = hearsay("pca", "digits", "-k", 1, "--json", "digits.csv.gz", env={"HEARSAY_DATA": str(tmp_path)})

    assert result.returncode == 2 and "json = " in result.stderr and "data set digits = " in result.stderr
    assert (tmp_path / "digits.csv.gz").read_bytes() == before


def test_an_experiment_in_its_own_output(hearsay, tmp_path):
    (tmp_path / "out" / "mine").mkdir(parents=True)
    text = json.dumps({**SMALL, "name": "mine"})
    (tmp_path / "out" / "mine" / "mine.json").write_text(text)

    hearsay.refuses("experiment", "out/mine/mine.json", "--out", "out",
                    saying=["experiment mine = out/mine/mine.json", "input = out/mine/mine.json"])

    assert (tmp_path / "out" / "mine" / "mine.json").read_text() == text
