"""Names that others choose are harmless wherever they are shown: terminal, HTML, SVG, CSV."""

import csv
import json
import struct

import pytest

from test_reproduce import SMALL

pytestmark = pytest.mark.attack

ESCAPE = "\x1b]0;owned\x07\x1b[31m"
NASTY = 'x"><script>alert(1)</script>\'&'


def harmless(text):
    return all(c == "\n" or c == "\t" or ord(c) >= 32 and not 127 <= ord(c) < 160 for c in text) and "\u202e" not in text


def rows_of(path):
    return list(csv.reader(path.read_text().splitlines(keepends=True)))


def npy_with_dtype(dtype):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': (1, 1), }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(8)


TERMINAL = {
    "a file name": (f"data{ESCAPE}.csv", b"1,2\n2,1\n3,3\n", []),
    "a name that turns the writing": ("data\u202efdp.csv", b"1,2\n2,1\n3,3\n", []),
    "a name with another line": ("data\nhearsay: all is well.csv", b"1,2\n2,1\n3,3\n", []),
    "bytes that are no text": (b"data\xff\x9b31m.csv".decode(errors="surrogateescape"), b"1,2\n2,1\n3,3\n", []),
    "a missing file": (f"none{ESCAPE}.csv", None, []),
    "a header": ("data.csv", f"a{ESCAPE},b\n1,2\n".encode(), ["--label-column", "c"]),
    "a cell": ("data.csv", f"1,2\n3,{ESCAPE}\n".encode(), []),
    "a dtype": ("data.npy", npy_with_dtype(ESCAPE), []),
    "an option": ("data.csv", b"1,2\n2,1\n", ["--momentum", ESCAPE]),
}


@pytest.mark.parametrize("name, content, options", TERMINAL.values(), ids=TERMINAL.keys())
def test_nothing_reaches_the_terminal_that_it_would_obey(hearsay, tmp_path, name, content, options):
    if content is not None:
        (tmp_path / name).write_bytes(content)

    result = hearsay("pca", name, "-k", 1, *options)

    assert harmless(result.stdout) and harmless(result.stderr)
    assert result.returncode in (0, 2, 3) and result.stderr.count("\n") == (result.returncode == 2)


def test_names_in_a_report_are_text(hearsay, tmp_path):
    panel = {**SMALL["panels"][0], "name": NASTY, "title": NASTY}
    panel["curves"] = [{**curve, "name": NASTY + str(i)} for i, curve in enumerate(panel["curves"])]
    (tmp_path / "mine.json").write_text(json.dumps({**SMALL, "title": NASTY, "panels": [panel], "claims": []}))

    result = hearsay("experiment", "mine.json", "--out", "out", env={"PATH": str(tmp_path)})

    assert result.returncode == 0, result.stderr
    for page in ["report.html", "mine/mine.svg"]:
        text = (tmp_path / "out" / page).read_text()
        assert "<script" not in text and "&lt;script&gt;" in text and '"><' + "script" not in text
    rows = rows_of(tmp_path / "out/mine/mine.csv")
    assert {len(row) for row in rows} == {len(rows[0])} and rows[1][0] == NASTY


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)"])
def test_no_cell_is_a_formula(hearsay, tmp_path, name):
    panel = {**SMALL["panels"][0], "name": name}
    run = {**SMALL["run"], "iterations": 5}
    (tmp_path / "mine.json").write_text(json.dumps({**SMALL, "run": run, "panels": [panel], "claims": []}))

    assert hearsay("experiment", "mine.json", "--out", "out", env={"PATH": str(tmp_path)}).returncode == 0

    assert rows_of(tmp_path / "out/mine/mine.csv")[1][0] == "'" + name


AXES = [(1e17, 1e17 + 16), (1e17, 1e17 + 1000), (-1e308, 1e308), (0, 5e-324), (1e-320, 2e-320), (0.1, 0.1 + 1e-15), (-7, 13)]


@pytest.mark.parametrize("low, high", AXES)
def test_axes_far_from_zero_have_a_few_ticks(hearsay, tmp_path, low, high):
    axes = {"x": {"low": low, "high": high, "scale": "linear"}, "y": {"scale": "linear"}}
    panel = {**SMALL["panels"][0], "axes": axes}
    run = {**SMALL["run"], "iterations": 5}
    (tmp_path / "mine.json").write_text(json.dumps({**SMALL, "run": run, "panels": [panel], "claims": []}))

    result = hearsay("experiment", "mine.json", "--out", "out", env={"PATH": str(tmp_path)})

    assert result.returncode == 0, result.stderr
    text = (tmp_path / "out/mine/mine.svg").read_text()
    assert 1 < text.count("hs-grid\"") <= 30 and "nan" not in text and "inf" not in text
