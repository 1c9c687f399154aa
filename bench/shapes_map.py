"""The map of bench/shapes.py: what each shape took beside the best of the others, as SVG; and the shapes that lose."""

import math
import pathlib

CELL_WIDTH, CELL_HEIGHT, GAP, MARGIN, LEFT = 58, 36, 26, 18, 96
FONT = "font-family='DejaVu Sans, Verdana, sans-serif'"


def colour(ratio):
    """Blue where hearsay takes less time, orange where it takes more, white where both take the same."""
    strength = min(1.0, abs(math.log10(ratio)))  # all of the colour at a factor of ten
    end = (43, 108, 176) if ratio < 1 else (214, 106, 16)
    return "#" + "".join(f"{round(255 + (channel - 255) * 0.85 * strength):02x}" for channel in end)


def ink(ratio):
    return "#ffffff" if abs(math.log10(ratio)) > 0.75 else "#1a202c"


def number(ratio):
    return f"{ratio:.2f}" if ratio < 9.95 else f"{ratio:.0f}"


def spelt(count):
    power = round(math.log10(count))
    return str(count) if power < 3 else f"10{'⁰¹²³⁴⁵⁶⁷⁸⁹'[power]}"


def text(x, y, words, size=11, anchor="middle", fill="#1a202c", weight="normal"):
    return (
        f"<text x='{x:g}' y='{y:g}' {FONT} font-size='{size}' text-anchor='{anchor}' fill='{fill}' "
        f"font-weight='{weight}'>{words}</text>"
    )


def cell(x, y, ratios):
    """Two numbers, each on its own colour, or a pale cell where nothing was measured."""
    if ratios is None:
        return [f"<rect x='{x:g}' y='{y:g}' width='{CELL_WIDTH - 2}' height='{CELL_HEIGHT - 2}' fill='#f1f3f5'/>"]
    half = (CELL_HEIGHT - 2) / 2
    drawn = []
    for i, ratio in enumerate(ratios):
        drawn.append(
            f"<rect x='{x:g}' y='{y + i * half:g}' width='{CELL_WIDTH - 2}' height='{half:g}' fill='{colour(ratio)}'/>"
        )
        middle = x + (CELL_WIDTH - 2) / 2
        drawn.append(text(middle, y + i * half + 12.5, number(ratio), fill=ink(ratio)))
    return drawn


def panel(x, y, title, lines, columns, ratios, axis):
    """ratios: (line, column) -> two numbers."""
    drawn = [text(x + len(columns) * CELL_WIDTH / 2, y - 22, title, 12, weight="bold")]
    drawn += [text(x + (c + 0.5) * CELL_WIDTH - 1, y - 6, axis(column), 10) for c, column in enumerate(columns)]
    for r, line in enumerate(lines):
        for c, column in enumerate(columns):
            drawn += cell(x + c * CELL_WIDTH, y + r * CELL_HEIGHT, ratios.get((line, column)))
    return drawn


def blocks(kept):
    """Rows of panels: title, names of lines, columns, and by k the ratios."""
    for part, title in (("pca64", "PCA, double precision"), ("pca32", "PCA, single precision")):
        if part not in kept:
            continue
        lines = sorted({row["shape"][0] for row in kept[part]})
        columns = sorted({row["shape"][1] for row in kept[part]})
        by_rank = {}
        for row in kept[part]:
            by_rank.setdefault(row["k"], {})[tuple(row["shape"])] = (row["ratio"]["default"], row["ratio"]["1e-4"])
        yield f"{title}: upper number at defaults, lower at 1e-4", "rows", lines, columns, by_rank, "columns"
    if "eigsh" in kept:
        lines = list(dict.fromkeys(row["data"].split(",")[0] for row in kept["eigsh"]))
        columns = sorted({row["shape"][0] for row in kept["eigsh"]})
        by_rank = {}
        for row in kept["eigsh"]:
            at = (row["data"].split(",")[0], row["shape"][0])
            by_rank.setdefault(row["k"], {})[at] = (row["ratio"]["1e-4"], row["ratio"]["1e-8"])
        yield "eigsh: upper number to 1e-4, lower to 1e-8", "", lines, columns, by_rank, "dimension"


def draw(kept, path: pathlib.Path):
    drawn, y, width = [], MARGIN, 0
    words = "Time of hearsay over the best of scikit-learn's or SciPy's"
    drawn.append(text(MARGIN, y + 10, words, 14, "start", weight="bold"))
    y += 34
    for title, line_word, lines, columns, by_rank, column_word in blocks(kept):
        drawn.append(text(MARGIN, y, title, 12, "start"))
        y += 48
        for r, line in enumerate(lines):
            words = line if isinstance(line, str) else f"{spelt(line)} {line_word}"
            drawn.append(text(LEFT + 8, y + (r + 0.5) * CELL_HEIGHT + 3, words, 10, "end"))
        x = LEFT + MARGIN
        for rank, ratios in sorted(by_rank.items()):
            drawn += panel(x, y, f"k = {rank}, by {column_word}", lines, columns, ratios, spelt)
            x += len(columns) * CELL_WIDTH + GAP
        width = max(width, x - GAP + MARGIN)
        y += len(lines) * CELL_HEIGHT + 34
    path.write_text(
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:g}' height='{y:g}' viewBox='0 0 {width:g} {y:g}'>\n"
        f"<rect width='{width:g}' height='{y:g}' fill='#ffffff'/>\n" + "\n".join(drawn) + "\n</svg>\n"
    )


def losers(kept):
    """Shapes whose ratio is above one at any accuracy, the worst first, and what all ratios come to."""
    rows = [row for part in ("pca64", "pca32", "eigsh") for row in kept.get(part, [])]
    lines = []
    for part in ("pca64", "pca32", "eigsh"):
        for asked in ("default", "1e-4", "1e-8"):
            ratios = sorted(row["ratio"][asked] for row in kept.get(part, []) if asked in row["ratio"])
            if ratios:
                lost = sum(ratio > 1 for ratio in ratios)
                median = ratios[len(ratios) // 2]
                lines.append(f"{part} {asked}: {len(ratios)} shapes, median {median:.2f}, {lost} lose")
    losing = [row for row in rows if max(row["ratio"].values()) > 1]
    for row in sorted(losing, key=lambda row: -max(row["ratio"].values())):
        asked = max(row["ratio"], key=row["ratio"].get)
        lines.append(
            f"| {row['what']} {row['data']}, k = {row['k']}, {row['dtype']} | {asked} | {row['ms'][asked]:.2f} | "
            f"{row['peer_ms'][asked]:.2f} ({row['peer']}) | {row['ratio'][asked]:.2f} |"
        )
    return "\n".join(lines)
