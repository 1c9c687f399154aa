"""Ledgers of privacy budgets, looked at and held against their own rules."""

import json
import math
import os
import stat

import pytest

import ledgers


@pytest.fixture
def ledger(tmp_path):
    def written(*lines):
        (tmp_path / "l").write_text("".join(lines))
        return tmp_path / "l"

    return written


def fails(hearsay, saying, *more):
    """verify must end with exit code 3 and name what does not hold."""
    result = hearsay("ledger", "verify", "l", *more)
    assert result.returncode == 3 and result.stderr == "", (result.stdout, result.stderr)
    assert "FAILS" in result.stdout and saying in result.stdout, result.stdout


def test_show_tells_the_budget_what_is_left_and_every_record(hearsay, ledger):
    ledger(*ledgers.whole())

    text = hearsay("ledger", "show", "l").stdout

    spent = math.sqrt(0.25 + 0.0625 + 0.015625)
    assert text.startswith("l: patients.csv at zurich, neighbours add-remove\n")
    assert "of 4 at delta 1e-06, by 2 queries" in text
    assert f"{spent:.6g} of 1; squares add up, so that {math.sqrt(1 - spent**2):.6g} is left" in text
    assert "1  2026-11-17T12:00:00Z  mu 0.5, by itself epsilon 0.5: the 5 largest components" in text
    assert "hearsay pca patients.csv -k 5, version 9.8.7" in text
    assert "released " + "a" * 64 + ", paid for by record 1" in text
    assert "33 bytes, which count mu 0.25" in text


def test_show_as_json(hearsay, ledger):
    lines = ledgers.whole()
    ledger(*lines)

    shown = hearsay.json("ledger", "show", "l")

    assert shown["command"] == "ledger show" and shown["data"] == "patients.csv" and shown["neighbours"] == "add-remove"
    assert shown["mu_spent"] == pytest.approx(math.sqrt(0.328125), rel=1e-15)
    assert shown["mu_left"] ** 2 + shown["mu_spent"] ** 2 == pytest.approx(1, rel=1e-15)
    assert [record["kind"] for record in shown["records"]] == ["spend", "release", "torn", "spend"]
    assert shown["records"][0]["when"] == "2026-11-17T12:00:00Z"
    assert [record["sha256"] for record in shown["records"]] == [ledgers.seal_of(line) for line in lines[1:]]
    assert shown["sha256"] == ledgers.seal_of(lines[-1])


def test_a_last_write_that_was_cut_off_is_counted_and_told(hearsay, ledger):
    ledger(*ledgers.whole(), '{"record":5,"mu":0.5,"kind":"sp')

    assert hearsay.json("ledger", "show", "l")["torn_mu"] == 0.5
    verified = hearsay("ledger", "verify", "l")
    assert verified.returncode == 0 and "31 bytes, which count mu 0.5" in verified.stdout


def test_verify_finds_nothing_in_a_ledger_that_holds(hearsay, ledger):
    lines = ledgers.whole()
    ledger(*lines)

    result = hearsay("ledger", "verify", "l", "--seen", ledgers.seal_of(lines[2]), "--seen", ledgers.seal_of(lines[-1]))

    assert result.returncode == 0 and "nothing found that does not hold" in result.stdout
    assert "of record 4 is not in the ledger" in result.stdout and "of record 1 is" not in result.stdout
    findings = hearsay.json("ledger", "verify", "l")
    assert findings["holds"] is True and {"open"} == {f["verdict"] for f in findings["findings"] if f["what"] == "seal"}


def test_verify_tells_an_older_state_by_a_seal_that_a_result_keeps(hearsay, ledger):
    lines = ledgers.whole()
    ledger(*lines[:-1])

    fails(hearsay, "an older state of it", "--seen", ledgers.seal_of(lines[-1]))


DAMAGE = {
    "a line is missing": (lambda lines: lines[:1] + lines[2:], "l:2: the ledger is damaged: it is record 2 where 1 belongs"),
    "lines are swapped": (lambda lines: [lines[0], lines[2], lines[1]], "it is record 2 where 1 belongs"),
    "a line is doubled": (lambda lines: lines[:2] + lines[1:], "l:3: the ledger is damaged: it is record 1 where 2 belongs"),
    "an amount is changed": (lambda lines: [lines[0], lines[1].replace('"mu":0.5', '"mu":0.4')], "its checksum is not that of what it says"),
    "the budget is raised": (lambda lines: [ledgers.budget(mu="9"), *lines[1:]], "its chain is broken"),
    "another ledger's line": (lambda lines: [ledgers.budget(ident="f" * 32), *lines[1:]], "its chain is broken"),
    "more than there is": (lambda lines: [lines[0], ledgers.spend(1, lines[0], mu="1.0000000000000002")], "it spends more than there is"),
    "a negative amount": (lambda lines: [lines[0], ledgers.spend(1, lines[0], mu="-0.5")], '"mu" must lie in'),
    "no number": (lambda lines: [lines[0], ledgers.spend(1, lines[0], mu="nan")], '"mu" must lie in'),
    "a number written otherwise": (lambda lines: [lines[0], ledgers.spend(1, lines[0], mu="0.50")], "it is not written as a ledger writes"),
    "a release of nothing": (lambda lines: [lines[0], ledgers.release(1, lines[0])], "it is a release of record 1, which spent nothing"),
    "a second release": (lambda lines: [*lines[:3], ledgers.release(3, lines[2], digest="b" * 64)], "a second release of record 1"),
    "a torn line counted less": (lambda lines: [*lines[:3], ledgers.torn(3, lines[2], '{"record":3,"mu":0.25,"kind":"spe')], "does not count the torn line"),
    "a torn line that is none": (lambda lines: [*lines[:3], ledgers.torn(3, lines[2], "")], "speaks of a torn line"),
    "bytes before a record": (lambda lines: [lines[0], "junk" + lines[1]], "something stands before its record"),
    "an empty line": (lambda lines: [*lines[:2], "\n", *lines[2:]], "l:3: "),
    "Windows line ends": (lambda lines: [line.replace("\n", "\r\n") for line in lines], "l:1: "),
    "no ledger": (lambda lines: ["a,b\n1,2\n"], "l:1: the ledger is damaged"),
    "no end": (lambda lines: [lines[0][:-1]], "this is no ledger, or a damaged one"),
    "nothing": (lambda lines: [], "this is no ledger, or a damaged one"),
    "another form": (lambda lines: [lines[0].replace('"form":1', '"form":2')], "it has the form 2"),
    "nul": (lambda lines: [*lines[:2], "\0\n", *lines[2:]], "l:3: "),
}


@pytest.mark.attack
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_ledger(hearsay, ledger, damage):
    change, saying = DAMAGE[damage]
    path = ledger(*change(ledgers.whole()))
    before = path.read_bytes()

    fails(hearsay, saying)
    hearsay.refuses("ledger", "show", "l", saying=saying)

    assert path.read_bytes() == before


@pytest.mark.attack
def test_what_is_no_file_of_its_own(hearsay, ledger, tmp_path):
    ledger(*ledgers.whole())
    (tmp_path / "link").symlink_to("l")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    for name, saying in [("link", "is a symbolic link"), ("loop", "is a symbolic link"), ("pipe", "is a pipe"), (".", "is a directory"),
                         ("/dev/null", "is a device"), ("none", "there is no such ledger"), ("l/l", "l/l: ")]:
        for verb in ["show", "verify"]:
            hearsay.refuses("ledger", verb, name, saying=saying)


@pytest.mark.attack
def test_a_ledger_that_is_too_long_to_be_one(hearsay, tmp_path):
    with open(tmp_path / "l", "wb") as file:
        file.truncate(1 << 40)

    hearsay.refuses("ledger", "show", "l", saying="a ledger has 67108864 at most")


@pytest.mark.attack
def test_texts_in_a_ledger_are_harmless_on_a_terminal(hearsay, ledger):
    first = ledgers.budget(data="\x1b[31mred\u202e")
    ledger(first, ledgers.spend(1, first, query="\x1b]0;title\x07", command="a\nb"))

    text = hearsay("ledger", "show", "l").stdout

    assert "\x1b" not in text and "\\x1b[31mred" in text and "a\\nb" in text


def test_a_read_only_ledger_is_shown(hearsay, ledger):
    path = ledger(*ledgers.whole())
    path.chmod(stat.S_IRUSR)

    assert hearsay("ledger", "show", "l").returncode == 0


def test_the_ledger_is_not_written_over_by_what_is_said_of_it(hearsay, ledger):
    path = ledger(*ledgers.whole())
    before = path.read_bytes()

    hearsay.refuses("ledger", "show", "l", "--json", "./l", saying="would overwrite FILE = l")

    assert path.read_bytes() == before
    assert hearsay("ledger", "show", "l", "--json", "out.json").returncode == 0
    assert json.loads((path.parent / "out.json").read_text())["site"] == "zurich"


@pytest.mark.parametrize("seal", ["abc", "A" * 64, "g" * 64])
def test_a_seal_that_is_none(hearsay, ledger, seal):
    ledger(*ledgers.whole())

    hearsay.refuses("ledger", "verify", "l", f"--seen={seal}", saying="seen = ")
