"""tools/links finds what leads nowhere, and nothing else."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess

LINKS = pathlib.Path(__file__).resolve().parents[2] / "tools" / "links"
loader = importlib.machinery.SourceFileLoader("links", str(LINKS))
links = importlib.util.module_from_spec(importlib.util.spec_from_loader("links", loader))
loader.exec_module(links)


def repository(root, **pages):
    subprocess.run(["git", "init", "-q", root], check=True)
    (root / "src").mkdir()
    (root / "src" / "a.cpp").write_text("int a;\n")
    for name, text in pages.items():
        (root / f"{name}.md").write_text(text)
    return list(links.markdown_problems(root))


def test_good_links_of_markdown_pass(tmp_path):
    assert repository(
        tmp_path,
        one="# A `title`, of one\n\n[two](two.md) [part](two.md#a-part) [here](#a-title-of-one) ![code](src/a.cpp) [folder](src)\n"
        "[out](https://nowhere.invalid/x)\n\n`[no](link)`\n\n```\n[no](link)\n```\n\n    [no](link)\n",
        two="## A part\n## A part\n[again](#a-part-1)\n[named]\n\n[named]: one.md\n") == []


def test_bad_links_of_markdown_are_named_with_their_line(tmp_path):
    assert repository(tmp_path, one="\n[gone](two.md)\n", three="# T\n\n[part](#part)\n\n[named]: four.md\n",
                      five="[code](src/a.cpp#L3)\n") == [
        "five.md:1: src/a.cpp#L3: no such heading",
        "one.md:2: two.md: no such file in the repository",
        "three.md:3: #part: no such heading",
        "three.md:5: four.md: no such file in the repository"]


def test_files_that_git_ignores_are_not_there(tmp_path):
    (tmp_path / ".gitignore").write_text("made.txt\n")
    (tmp_path / "made.txt").write_text("")

    assert repository(tmp_path, one="[made](made.txt)\n") == ["one.md:1: made.txt: no such file in the repository"]


def site(root, **pages):
    for name, text in pages.items():
        (root / f"{name}.html").write_text(text)
    return list(links.site_problems(root))


def test_good_links_of_a_site_pass(tmp_path):
    (tmp_path / "p.svg").write_text("<svg/>")
    assert site(tmp_path, index='<a href="two.html#x"></a><img src="p.svg?v=1"><a href="https://nowhere.invalid"></a><a href="#"></a>',
                two='<p id="x"><a href="index.html"></a><a href="."></a>') == []


def test_bad_links_of_a_site_are_named(tmp_path):
    assert site(tmp_path, index='<a href="two.html#y"></a><img src="p.svg"><script src="https://nowhere.invalid/s.js"></script>',
                two='<p id="x">') == [
        "index.html: two.html#y: no such anchor",
        "index.html: p.svg: no such file",
        "index.html: https://nowhere.invalid/s.js: fetched from another machine"]


def test_a_site_without_pages_is_none(tmp_path):
    assert len(site(tmp_path)) == 1
