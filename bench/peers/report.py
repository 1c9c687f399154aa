"""report.json, report.md and report.png. A line with seconds has the accuracy beside them, or it is not written."""

import json
import math

COLUMNS = ("tool", "seconds", "spread", "runs", "sin(theta)", "products", "passes", "memory, MB", "setting")
BAR_COLUMNS = ("bar", "measured", "at most", "against", "")
NOISE_COLUMNS = ("instance", "sigma", "tool", "setting", "median sine", "products", "said", "true", "error / claim")
DEFAULT_COLUMNS = ("instance", "tool", "said success", "of these wrong", "worst sin(theta)")
SEED_COLUMNS = ("instance", "sin(theta) asked", "right", "worst")
STYLES = {
    "hearsay": ("#d62728", "o", "-"),
    "hearsay anpm": ("#d62728", "h", ":"),
    "hearsay mixed": ("#ff7f0e", "o", "--"),
    "scipy eigsh (ARPACK)": ("#1f77b4", "s", "-"),
    "scipy lobpcg": ("#17becf", "v", "-"),
    "PRIMME": ("#2ca02c", "D", "-"),
    "Spectra": ("#9467bd", "^", "-"),
    "SLEPc": ("#8c564b", "P", "-"),
    "SLEPc, 2 processes": ("#8c564b", "X", "--"),
    "LAPACK eigh": ("#7f7f7f", "_", ":"),
    "dsyrk + eigh": ("#7f7f7f", "_", ":"),
    "scikit-learn covariance_eigh": ("#bcbd22", "|", ":"),
    "scikit-learn randomized": ("#e377c2", "*", "-"),
    "scikit-learn arpack": ("#bcbd22", "s", "--"),
}


def write(results, out):
    out.mkdir(parents=True, exist_ok=True)
    for row in results["rows"]:
        if "seconds" in row and not row.get("sine", math.inf) <= row["accuracy"]:
            raise AssertionError(f"{row['peer']} on {row['instance']}: seconds without the accuracy")
    (out / "report.json").write_text(json.dumps(results, indent=1) + "\n")
    (out / "report.md").write_text(markdown(results))
    if results["rows"]:
        plot(results, out / "report.png")


def plain(setting):
    kept = {key: value for key, value in (setting or {}).items() if key != "accuracy"}
    return " ".join(f"{key}={f'{value:.3g}' if isinstance(value, float) else value}" for key, value in kept.items())


def number(value, form="{:,}"):
    return "-" if value is None else form.format(value)


def table(columns, lines):
    rows = [columns, ["---"] * len(columns), *lines]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in rows)


def cells_of(row):
    setting = plain(row.get("setting")) + (f" ({row['method']})" if row.get("method") else "")
    if "seconds" not in row:
        return [row["peer"], "-", "-", "-", row["missed"], "-", "-", "-", setting]
    spread = f"{row['fastest']:.3g} - {row['slowest']:.3g}"
    counts = [number(row["products"]), number(row["passes"]), f"{row['memory_bytes'] / 1e6:.0f}"]
    return [row["peer"], f"{row['seconds']:.3g}", spread, str(row["runs"]), f"{row['sine']:.1e}", *counts, setting]


def bar_cells(bar):
    verdict = {None: "not measured", True: "met", False: "**not met**"}[bar["met"]]
    value = number(bar["value"], "{:.3g}") if bar["value"] is not None or bar["met"] is None else "missed the accuracy"
    return [bar["what"], value, f"{bar['limit']:g}", bar["against"], verdict]


def noise_cells(row):
    products = f"{number(row['products'])} of {row['budget']:,}"
    said = ", ".join(row["statuses"])
    over = number(row["error_over_claim"], "{:.2g}")
    what = [row["instance"], f"{row['sigma']:g}", row["peer"], f"{row['way']}: {plain(row['setting'])}"]
    return [*what, f"{row['sine']:.2e}", products, said, f"{row['true']} of {row['runs']}", over]


def default_cells(row):
    said = f"{row['said_success']} of {row['runs']}"
    return [row["title"], row["peer"], said, str(row["wrong_success"]), f"{max(row['sines']):.1e}"]


def seed_cells(row):
    return [row["title"], f"{row['accuracy']:.0e}", f"{row['right']} of {row['seeds']}", f"{row['worst_sine']:.1e}"]


def markdown(results):
    about = results["machine"]
    text = f"# hearsay beside its peers\n\n{about['processor']}, {about['threads']} threads each; load "
    text += f"{about['load']:.1f} at the start; commit {about['commit']}; "
    text += ", ".join(f"{name} {version}" for name, version in about["versions"].items()) + ".\n"

    def section(title, columns, cells, rows):
        return f"\n## {title}\n\n" + table(columns, map(cells, rows)) if rows else ""

    text += section("Bars", BAR_COLUMNS, bar_cells, results["bars"])
    groups = {}
    for row in results["rows"]:
        title = f"{row['workload']}: {row['title']}, sin(theta) <= {row['accuracy']:.0e}"
        groups.setdefault(title, []).append(row)
    for title, rows in groups.items():
        text += section(title, COLUMNS, cells_of, sorted(rows, key=lambda row: row.get("seconds", math.inf)))
    text += section("W5: gaussian noise in every product", NOISE_COLUMNS, noise_cells, results["noise"])
    text += section("Told nothing but k", DEFAULT_COLUMNS, default_cells, results["as_they_come"])
    text += section("Seeds", SEED_COLUMNS, seed_cells, results["seeds"])
    if results["start_up"]:
        text += "\n## Start-up\n\n"
        for case in results["start_up"].values():
            text += f"- `{case['what']}`: {1e3 * case['seconds']:.1f} ms, {1e3 * case['slowest']:.1f} ms at worst\n"
    if results["left_out"]:
        text += "\n## Left out\n\n" + "".join(f"- {item['instance']}: {item['why']}\n" for item in results["left_out"])
    return text


def draw_lines(axis, rows, accuracies):
    from matplotlib.ticker import NullLocator

    drawn = {}
    for name, (colour, marker, dash) in STYLES.items():
        points = sorted(((row["seconds"], row["accuracy"]) for row in rows if row["peer"] == name), key=lambda p: -p[1])
        if points:
            ours = name.startswith("hearsay")
            drawn[name], = axis.plot(
                *zip(*points, strict=True),
                color=colour, marker=marker, linestyle=dash, markersize=7 if ours else 6,
                linewidth=2.2 if ours else 1.2, zorder=3 if ours else 2, label=name,
            )  # fmt: skip
    axis.set(yscale="log", ylabel="sin(theta) reached, at most")
    axis.set_yticks(accuracies)
    axis.yaxis.set_minor_locator(NullLocator())
    axis.margins(y=0.15)
    axis.invert_yaxis()
    return drawn


def draw_bars(axis, rows):
    """The fastest on top, each from its fastest solve to its slowest, with the median."""
    rows = sorted(rows, key=lambda row: -row["seconds"])
    for y, row in enumerate(rows):
        colour = STYLES[row["peer"]][0]
        ours = row["peer"].startswith("hearsay")
        span = [row["fastest"], row["slowest"]]
        axis.plot(span, [y, y], color=colour, linewidth=6, alpha=0.35, solid_capstyle="butt")
        axis.plot(row["seconds"], y, color=colour, marker="D" if ours else "o", markersize=7 if ours else 5)
    axis.set_yticks(range(len(rows)), [row["peer"] for row in rows], fontsize=8)
    axis.margins(y=0.08)
    if rows:
        axis.set_xlabel(f"seconds to sin(theta) <= {rows[0]['accuracy']:.0e}")


def plot(results, path):
    """Seconds against the accuracy they bought, a panel an instance."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import LogLocator

    titles = list(dict.fromkeys((row["instance"], f"{row['workload']}: {row['title']}") for row in results["rows"]))
    columns = min(2, len(titles))
    lines = math.ceil(len(titles) / columns)
    size = (6.2 * columns, 3.1 * lines + 1)
    figure, axes = pyplot.subplots(lines, columns, figsize=size, squeeze=False, layout="constrained")
    drawn = {}
    for axis, (instance, title) in zip(axes.flat, titles, strict=False):
        rows = [row for row in results["rows"] if row["instance"] == instance and "seconds" in row]
        axis.set(title=title, xscale="log", xlabel="seconds")
        if len(results["accuracies"]) == 1:
            draw_bars(axis, rows)
        else:
            drawn |= draw_lines(axis, rows, results["accuracies"])
        axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_formatter("")
        axis.grid(alpha=0.3, axis="x" if len(results["accuracies"]) == 1 else "both")
    for axis in list(axes.flat)[len(titles) :]:
        axis.axis("off")
    if drawn:
        # Below the panels, where "outside" (matplotlib 3.7) would put it.
        figure.legend(drawn.values(), drawn.keys(), loc="upper center", bbox_to_anchor=(0.5, 0), ncol=2 * columns,
                      frameon=False)  # fmt: skip
    figure.savefig(path, dpi=110, bbox_inches="tight")
    pyplot.close(figure)
