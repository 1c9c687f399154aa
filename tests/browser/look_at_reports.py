"""look_at_reports.py HEARSAY: lets the program write a page with --report for every command, and opens each in headless Chromium.

Narrow and wide, light and dark: every figure must be drawn, no text may stick out or lie on another, nothing may stick
out sideways, no request may leave the page and the console must stay silent. The pictures of the demo and of --report, files of
their own, keep their texts on the page as well. Ends with 77, and says why, where there is no Chromium.
"""

import pathlib
import random
import subprocess
import sys
import tempfile

from look_at_page import NO_CHROMIUM, SCHEMES, WIDTHS, chromium, look, page_problems

NASTY = '<b>"&\u202e</b>'


def write_inputs(directory):
    """A table with names and labels that would like to be markup, a path's Laplacian, planted communities."""
    numbers = random.Random(1)
    rows = [[f"{numbers.gauss(0, 3 - j / 4):.6f}" for j in range(9)] + [f"{NASTY}{i % 3}"] for i in range(80)]
    header = [f"{NASTY} a long name of a column {j}" for j in range(9)] + ["kind"]
    (directory / "named.csv").write_text(
        "\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in line) for line in [header, *rows]) + "\n")
    below = "".join(f"{i} {i} 2\n" + (f"{i + 1} {i} -1\n" if i < 60 else "") for i in range(1, 61))
    (directory / "path.mtx").write_text(f"%%MatrixMarket matrix coordinate real symmetric\n60 60 119\n{below}")
    edges = [(i, j) for i in range(90) for j in range(i) if numbers.random() < (0.6 if i // 15 == j // 15 else 0.02)]
    (directory / "graph.txt").write_text("".join(f"{i} {j}\n" for i, j in edges))


# The command, and how many figures its page has.
PAGES = [
    (["pca", "digits", "-k", "10"], 5),
    (["pca", "named.csv", "-k", "4", "--label-column", "kind", "--noise", "gaussian:0.1", "--audit", "0.05"], 8),
    (["eigs", "path.mtx", "-k", "3"], 5),
    (["cluster", "graph.txt", "-k", "6"], 4),
    (["decentralized", "digits", "-k", "2", "--agents", "36", "--topology", "regular:4", "--reference", "exact"], 4),
]

# The command and its option that names a file: pictures that stand alone.
PICTURES = [
    (["demo"], "--svg"),
    (["pca", "digits", "-k", "10"], "--report"),
    (["decentralized", "digits", "-k", "9", "--agents", "10", "--reference", "exact"], "--report"),
]


def problems_of_picture(browser, picture):
    """On a page of its own, where the browser measures its texts."""
    page = picture.with_suffix(".html")
    drawing = picture.read_text().split("?>", 1)[1]
    page.write_text(f'<!doctype html><meta charset="utf-8"><body class="panels">{drawing}</body>')
    seen, _ = look(browser, page, 1600, "light")
    for figure in seen["figures"]:
        if figure["texts"]:
            yield f"{figure['texts']} texts stick out or are empty"
    if len(seen["figures"]) != 1:
        yield f"{len(seen['figures'])} drawings in one file"


def problems_of(figures):
    for figure in figures:
        if figure["marks"] == 0:
            yield f"{figure['id']}: nothing is drawn"
        if figure["overlaps"]:
            yield f"{figure['id']}: texts lie on each other: {figure['overlaps']}"


def main():
    browser = chromium()
    if browser is None:
        print("no Chromium here (Debian: chromium), so nobody looks at the pages")
        return NO_CHROMIUM
    failed = False
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        write_inputs(directory)
        for number, (command, figures) in enumerate(PAGES):
            page = directory / f"page-{number}.html"
            run = subprocess.run([sys.argv[1], *command, "--quiet", "--report", page.name], cwd=directory, capture_output=True,
                                 text=True, timeout=120)
            assert run.returncode in (0, 3), run.stderr
            for width in WIDTHS:
                for scheme in SCHEMES:
                    seen, console = look(browser, page, width, scheme)
                    found = [*page_problems(seen, console, scheme), *problems_of(seen["figures"])]
                    if len(seen["figures"]) != figures:
                        found.append(f"{len(seen['figures'])} figures, and there should be {figures}")
                    print(f"{' '.join(command)}: {width} pixels, {scheme}: {'; '.join(found) or 'all well'}")
                    failed = failed or bool(found)
        for number, (command, option) in enumerate(PICTURES):
            picture = directory / f"picture-{number}.svg"
            subprocess.run([sys.argv[1], *command, option, picture.name], cwd=directory, capture_output=True, check=True, timeout=120)
            found = list(problems_of_picture(browser, picture))
            print(f"{' '.join(command)} {option}: {'; '.join(found) or 'all well'}")
            failed = failed or bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
