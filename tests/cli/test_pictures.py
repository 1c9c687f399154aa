"""The pictures of README and guide are what the program draws (./dev pictures)."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from conftest import SOURCE

SVG = "{http://www.w3.org/2000/svg}"
NOWHERE = {"HEARSAY_DATA": "", "XDG_CACHE_HOME": "", "HOME": ""}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
# As ./dev pictures makes them.
COMMANDS = {
    "demo": ["demo", "--svg"],
    "digits": ["pca", "digits", "-k", 10, "--report"],
    "agents": ["decentralized", "digits", "-k", 9, "--agents", 10, "--reference", "exact", "--report"],
}

MEASURED = ["shapes"]  # drawn from a benchmark's numbers: ./dev bench shapes draw


def elements_of(path):
    return [element for element in ElementTree.parse(path).iter() if element.tag != f"{SVG}style"]


def words_of(path):
    """Titles, labels, legends, names; numbers set aside, for some of them stand for rounding."""
    return [NUMBER.sub("#", "".join(element.itertext())) for element in elements_of(path) if element.tag == f"{SVG}text"
            and re.search("[a-z]{3}", "".join(element.itertext()))]


def draw(hearsay, name):
    result = hearsay(*COMMANDS[name], f"{name}.svg", env=NOWHERE)
    assert result.returncode == 0, result.stderr
    return hearsay.directory / f"{name}.svg", SOURCE / "docs/pictures" / f"{name}.svg"


@pytest.mark.parametrize("name", COMMANDS)
def test_committed_pictures_say_what_is_drawn(hearsay, name):
    drawn, committed = draw(hearsay, name)

    assert words_of(drawn) == words_of(committed)
    assert ElementTree.parse(drawn).find(f"{SVG}style").text == ElementTree.parse(committed).find(f"{SVG}style").text


def test_the_curves_of_the_demo_are_those_of_the_readme(hearsay):
    drawn, committed = draw(hearsay, "demo")

    ours, theirs = elements_of(drawn), elements_of(committed)
    assert [element.tag for element in ours] == [element.tag for element in theirs]
    for here, there in zip(ours, theirs):
        assert here.get("class") == there.get("class") and here.text == there.text
        a, b = ([float(number) for number in NUMBER.findall(element.get("d") or "")] for element in (here, there))
        # Rounding may end a curve a step or two sooner.
        assert abs(len(a) - len(b)) <= 8 and all(abs(x - y) <= 1 for x, y in zip(a, b)), "more than a pixel apart: ./dev pictures"


def test_every_picture_is_shown_and_every_shown_picture_is_there():
    shown = set()
    for page in [SOURCE / "README.md", *(SOURCE / "docs").rglob("*.md")]:
        for target in re.findall(r"!\[[^\]]+\]\(([^)]+\.svg)\)", page.read_text()):
            assert (page.parent / target).is_file(), (page, target)
            shown.add((page.parent / target).resolve())
    there = [path.resolve() for path in (SOURCE / "docs/pictures").iterdir()]
    assert shown == set(there) == {(SOURCE / "docs/pictures" / f"{name}.svg").resolve() for name in [*COMMANDS, *MEASURED]}


@pytest.mark.parametrize("name", MEASURED)
def test_pictures_of_measurements_hold_numbers_and_words(name):
    words = [" ".join(element.itertext()) for element in elements_of(SOURCE / "docs/pictures" / f"{name}.svg") if element.tag == f"{SVG}text"]

    assert len([word for word in words if NUMBER.fullmatch(word)]) >= 20 and any("hearsay" in word for word in words)


def test_the_demo_draws_only_what_can_be_drawn(hearsay):
    hearsay.refuses("demo", "--svg", "demo.png", saying=["svg = demo.png", ".svg"])
    hearsay.refuses("demo", "--svg", "nowhere/demo.svg", saying="nowhere")
