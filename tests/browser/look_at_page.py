"""look_at_page.py REPORT.html: opens the page in headless Chromium, narrow and wide, light and dark, and looks at it.

Every figure must be drawn (each curve a path of some length inside its frame) and every table filled, nothing may stick out sideways, no
request may leave the page and the console must stay silent. Ends with 77, and says why, where there is no Chromium.
"""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WIDTHS = [400, 1600]
SCHEMES = {"light": 1, "dark": 0}  # as Chromium numbers them
NO_CHROMIUM = 77

# Runs in a copy of the page, and leaves what it saw where --dump-dom shows it.
LOOK = """<script>addEventListener("load", () => {
  const figures = [...document.querySelectorAll(".panels svg")].map(svg => {
    const frame = svg.getBoundingClientRect();
    const words = [...svg.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
    const overlap = (a, b) => Math.min(Math.min(a.right, b.right) - Math.max(a.left, b.left),
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)) / frame.width * 480;
    return {id: svg.id, width: frame.width, height: frame.height,
      marks: [...svg.querySelectorAll("path.hs-l,path.hs-p,path.hs-bar,path.hs-pos,path.hs-neg,path.hs-edge")]
        .filter(path => path.getAttribute("d").length > 1).length,
      overlaps: words.flatMap(([one, box], i) => words.slice(i + 1).filter(([, other]) => overlap(box, other) > 3)
        .map(([other]) => one + " / " + other)),
      curves: [...svg.querySelectorAll("g[clip-path] path.hs-l")].map(path => path.getTotalLength()),
      texts: [...svg.querySelectorAll("text")].map(text => text.getBoundingClientRect())
        .filter(box => box.width === 0 || box.left < frame.left - 1 || box.right > frame.right + 1).length};
  });
  const report = document.createElement("pre");
  report.id = "seen";
  const tables = [...document.querySelectorAll("table.facts")].map(table => ({
    name: table.caption.textContent, cells: [...table.querySelectorAll("td.n")].filter(cell => cell.textContent !== "–").length}));
  report.textContent = JSON.stringify({figures, tables, dark: matchMedia("(prefers-color-scheme: dark)").matches,
    ground: getComputedStyle(document.body).backgroundColor,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    requests: performance.getEntriesByType("resource").map(entry => entry.name)});
  document.body.append(report);
});</script></body>"""


def look(browser, page, width, scheme):
    """What the page shows, and what its console said."""
    with tempfile.TemporaryDirectory() as directory:
        copy = pathlib.Path(directory) / "page.html"
        copy.write_text(page.read_text().replace("</body>", LOOK))
        result = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
             "--virtual-time-budget=5000", f"--user-data-dir={directory}/profile", f"--window-size={width},1000",
             f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}", "--dump-dom", copy.as_uri()],
            capture_output=True, text=True, timeout=120)
    seen = re.search(r'<pre id="seen">(.*?)</pre>', result.stdout, re.DOTALL)
    assert seen, f"the page did not load: {result.stderr[-2000:]}"
    console = [line for line in result.stderr.splitlines() if ":CONSOLE" in line]
    return json.loads(html.unescape(seen[1])), console


def chromium():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def page_problems(seen, console, scheme):
    """What would be wrong with any page."""
    yield from console
    for figure in seen["figures"]:
        if not (figure["width"] > 200 and figure["height"] > 100):
            yield f"{figure['id']}: {figure['width']} x {figure['height']} is too small to read"
        if figure["texts"]:
            yield f"{figure['id']}: {figure['texts']} texts stick out or are empty"
    if seen["overflow"] > 0:
        yield f"the page is {seen['overflow']} pixels wider than the window"
    if seen["requests"]:
        yield f"requests: {seen['requests']}"
    if seen["dark"] != (scheme == "dark") or (seen["ground"] == "rgb(255, 255, 255)") == seen["dark"]:
        yield f"{scheme} was asked for, and the ground is {seen['ground']}"


def problems(seen, console, panels, tables, scheme):
    yield from page_problems(seen, console, scheme)
    if len(seen["tables"]) != tables:
        yield f"{len(seen['tables'])} tables: the page's data say {tables}"
    for table in seen["tables"]:
        if table["cells"] == 0:
            yield f"{table['name']}: a table without a number"
    if len(seen["figures"]) != panels:
        yield f"{len(seen['figures'])} figures: the page's data say {panels}"
    for figure in seen["figures"]:
        if not figure["curves"] or min(figure["curves"]) < 20:
            yield f"{figure['id']}: a curve is not drawn (lengths {figure['curves']})"


def main():
    page = pathlib.Path(sys.argv[1])
    browser = chromium()
    if browser is None:
        print("no Chromium here (Debian: chromium), so nobody looks at the page")
        return NO_CHROMIUM
    configurations = [json.loads(path.read_text()) for path in page.parent.glob("*/*.json")]
    panels = sum(len(configuration["panels"]) for configuration in configurations)
    tables = sum(len(configuration.get("tables", [])) for configuration in configurations)
    failed = False
    for width in WIDTHS:
        for scheme in SCHEMES:
            found = list(problems(*look(browser, page, width, scheme), panels, tables, scheme))
            print(f"{width} pixels, {scheme}: {panels} figures, {tables} tables, {'; '.join(found) or 'all well'}")
            failed = failed or bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
