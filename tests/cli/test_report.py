"""--report: a page that stands alone, or its pictures; what it holds and what it refuses."""

import hashlib
import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from conftest import planted

NASTY = "<b>&\"'\x07</b>"


def figures_of(page):
    """The figures of a page, each parsed: a name that slipped through unescaped would not be XML."""
    return [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]


def titles_of(page):
    return [figure.find("{http://www.w3.org/2000/svg}title").text for figure in figures_of(page)]


def words_of(page):
    return {"".join(text.itertext()) for figure in figures_of(page) for text in figure.iter("{http://www.w3.org/2000/svg}text")}


def report(hearsay, *arguments, code=0):
    result = hearsay(*arguments, "--quiet", "--report", "page.html")
    assert result.returncode == code, result.stderr
    page = (hearsay.directory / "page.html").read_text()
    assert "<script" not in page and "nan" not in re.sub(r"<title>.*?</title>", "", "".join(re.findall(r' d="([^"]*)"', page)))
    assert not re.search(r'(src|href)="(?!data:,")', page), "nothing is asked of anybody"
    return page


def test_of_digits_shows_the_answer_the_certificate_and_the_data(hearsay):
    page = report(hearsay, "pca", "digits", "-k", 10, "--json", "result.json")

    result = json.loads((hearsay.directory / "result.json").read_text())
    assert titles_of(page) == ["Eigenvalues", "Convergence", "Scores", "Scores", "Components"]
    assert {"component 1", "component 3", *"0123456789"} <= words_of(page)
    assert f"1: {100 * result['explained_variance_ratio'][0]:.1f}%" in words_of(page)
    assert any(word.startswith("no other above ") and word.endswith(" (bound)") for word in words_of(page))
    assert "converged in" in page and "sin(theta) is at most" in page
    assert result["provenance"]["inputs"][0]["sha256"] in page and "hearsay pca digits" in page
    [output] = [file for file in result["provenance"]["outputs"] if file["option"] == "report"]
    assert output["sha256"] == hashlib.sha256(page.encode()).hexdigest()


def test_has_a_point_for_every_sample(hearsay, tmp_path):
    rows = np.random.default_rng(0).standard_normal((50, 4)) * [4, 3, 2, 1]
    lines = [",".join(f"{x!r}" for x in row.tolist()) + f",{NASTY}{i % 2}" for i, row in enumerate(rows)]
    (tmp_path / "data.csv").write_text("a,<i>b</i>,c,d,kind\n" + "\n".join(lines).replace('"', '') + "\n")

    page = report(hearsay, "pca", "data.csv", "-k", 2, "--label-column", "kind")

    assert titles_of(page) == ["Eigenvalues", "Convergence", "Scores", "Component 1", "Component 2"]
    points = [path.get("d") for figure in figures_of(page) for path in figure.iter("{http://www.w3.org/2000/svg}path")
              if (path.get("class") or "").startswith("hs-p g") and path.get("style") is None]
    assert [path.count("M") for path in points] == [25, 25]
    assert "<i>b</i>" in words_of(page) and "<i>b</i>" not in page and "<b>" not in page


def test_of_a_stream_says_why_there_are_no_scores(hearsay, tmp_path):
    np.save(tmp_path / "data.npy", np.random.default_rng(0).standard_normal((60, 5)) * [5, 4, 3, 2, 1])

    page = report(hearsay, "pca", "data.npy", "-k", 3, "--stream")

    assert "Scores" not in titles_of(page) and "streamed" in page


def test_of_a_matrix_shows_its_eigenvectors(hearsay, tmp_path):
    np.save(tmp_path / "A.npy", planted([5, 4, *np.linspace(3.5, 0, 38)])[0])

    page = report(hearsay, "eigs", "A.npy", "-k", 2, "--psd", "--method", "anpm")

    assert titles_of(page) == ["Eigenvalues", "Convergence", "Eigenvector 1", "Eigenvector 2"]
    assert "envelope of the theory" in words_of(page)
    assert sum(word.startswith("row ") for word in words_of(page)) >= 10


def test_of_an_audited_run_shows_the_envelope_of_the_audit(hearsay, tmp_path):
    np.save(tmp_path / "A.npy", planted([5, 4, 3, 2, 1, 0.5])[0])

    page = report(hearsay, "eigs", "A.npy", "-k", 2, "--noise", "gaussian:1e-3", "--audit", 0.1, code=3)

    assert {"tan(theta)", "envelope of the theory"} <= words_of(page) and "noise floor" in page


def test_of_agents_shows_who_talks_to_whom_and_how_they_agree(hearsay):
    page = report(hearsay, "decentralized", "fed-heart-disease", "-k", 2, "--reference", "exact")

    assert titles_of(page) == ["Who talks to whom", "Agreement", "Eigenvalues", "Component 1", "Component 2"]
    assert {"cleveland", "hungarian", "switzerland", "va", "disagreement", "sin(theta)", "age"} <= words_of(page)
    assert page.count('class="hs-node"') == 4


def test_of_communities_shows_them(hearsay, tmp_path):
    edges = [(i, j) for i in range(30) for j in range(i) if i // 10 == j // 10 or (i, j) in {(10, 9), (20, 19)}]
    (tmp_path / "graph.txt").write_text("".join(f"{i} {j}\n" for i, j in edges))

    page = report(hearsay, "cluster", "graph.txt", "-k", 3)

    assert titles_of(page) == ["Eigenvalues", "Convergence", "Nodes in their embedding", "Nodes in a cluster"]
    assert {"coordinate 2", "cluster 0", "cluster 2", "10"} <= words_of(page)


def test_pictures_alone_are_a_drawing(hearsay, tmp_path):
    assert hearsay("pca", "digits", "-k", 3, "--report", "pictures.svg").returncode == 0

    drawing = ElementTree.parse(tmp_path / "pictures.svg").getroot()
    assert drawing.tag.endswith("svg") and drawing.find("{http://www.w3.org/2000/svg}title").text == "Principal components of digits"


@pytest.mark.parametrize("rows", [np.zeros((5, 3)), np.full((4, 2), 1e300), np.array([[1e300, -1e300], [-1e300, 1e300], [0, 1]]),
                                  np.array([[1.0], [2.0]]), np.eye(3) * 1e-300], ids=["zero", "huge", "far apart", "one column", "tiny"])
def test_of_degenerate_data_is_still_a_page(hearsay, tmp_path, rows):
    np.save(tmp_path / "data.npy", rows)
    result = hearsay("pca", "data.npy", "-k", 1, "--report", "page.html")

    assert result.returncode in (0, 3), result.stderr
    page = (tmp_path / "page.html").read_text()
    assert titles_of(page)[:2] == ["Eigenvalues", "Convergence"]
    assert not re.search(r"\b(nan|inf)\b", "".join(re.findall(r' (?:d|x|y)="([^"]*)"', page)))


def test_is_refused_where_it_would_do_harm(hearsay, tmp_path):
    np.savetxt(tmp_path / "data.html", np.random.default_rng(0).standard_normal((20, 3)))

    hearsay.refuses("pca", "data.html", "-k", 1, "--report", "data.html", saying=["report = data.html"])
    hearsay.refuses("pca", "data.html", "-k", 1, "--report", "page.pdf", saying=["report = page.pdf", ".html or .svg"])
    hearsay.refuses("pca", "data.html", "-k", 1, "--report", "nowhere/page.html", saying="nowhere")
    hearsay.refuses("pca", "data.html", "-k", 1, "--report", "a.svg", "--scores", "a.svg", saying="a.svg")
