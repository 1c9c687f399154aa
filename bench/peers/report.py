"""report.json, report.md and report.png. A line with seconds has the accuracy beside them, or it is not written."""

import json
import math

COLUMNS = "| tool | seconds | spread | runs | sin(theta) | products | passes | memory, MB | setting |\n|---|---|---|---|---|---|---|---|---|\n"
STYLES = {
    "hearsay": ("#d62728", "o", "-"),
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
    return " ".join(f"{key}={value:.3g}" if isinstance(value, float) else f"{key}={value}" for key, value in kept.items())


def number(value, form="{:,}"):
    return "-" if value is None else form.format(value)


def line(row):
    if "seconds" not in row:
        return f"| {row['peer']} | - | - | - | {row['missed']} | - | - | - | {plain(row.get('setting'))} |\n"
    spread = f"{row['fastest']:.3g} - {row['slowest']:.3g}"
    memory = number(None if row["memory_bytes"] is None else row["memory_bytes"] / 1e6, "{:.0f}")
    return (
        f"| {row['peer']} | {row['seconds']:.3g} | {spread} | {row['runs']} | {row['sine']:.1e} | "
        f"{number(row['products'])} | {number(row['passes'])} | {memory} | {plain(row['setting'])} |\n"
    )


def bar_lines(verdicts):
    text = "| bar | measured | at most | against | |\n|---|---|---|---|---|\n"
    for bar in verdicts:
        verdict = {None: "not measured", True: "met", False: "**not met**"}[bar["met"]]
        value = "-" if bar["ratio"] is None else "missed the accuracy" if math.isinf(bar["ratio"]) else f"{bar['ratio']:.3g}"
        text += f"| {bar['what']} | {value} | {bar['limit']:g} | {bar['against']} | {verdict} |\n"
    return text


def noise_lines(rows):
    text = (
        "| instance | sigma | tool | setting | sin(theta), median | products | said | true | estimate |\n"
        "|---|---|---|---|---|---|---|---|---|\n"
    )
    for row in rows:
        estimate = f"{sorted(row['estimates'])[len(row['estimates']) // 2]:.1e}" if row["estimates"] else "-"
        text += (
            f"| {row['instance']} | {row['sigma']:g} | {row['peer']} | {row['way']}: {plain(row['setting'])} | {row['sine']:.2e} | "
            f"{number(row['products'])} of {row['budget']:,} | {', '.join(row['statuses'])} | {row['true']} of {row['runs']} | {estimate} |\n"
        )
    return text


def markdown(results):
    about = results["machine"]
    text = "# hearsay beside its peers\n\n"
    text += f"{about['processor']}, {about['threads']} threads each; load {about['load']:.1f} at the start; commit {about['commit']}; "
    text += ", ".join(f"{name} {version}" for name, version in about["versions"].items()) + ".\n"
    if results["bars"]:
        text += "\n## Bars\n\n" + bar_lines(results["bars"])
    groups = {}
    for row in results["rows"]:
        groups.setdefault((row["workload"], row["title"], row["accuracy"]), []).append(row)
    for (workload, title, accuracy), rows in groups.items():
        text += f"\n## {workload}: {title}, sin(theta) <= {accuracy:.0e}\n\n" + COLUMNS
        text += "".join(line(row) for row in sorted(rows, key=lambda row: row.get("seconds", math.inf)))
    if results["noise"]:
        text += "\n## W5: gaussian noise in every product\n\n" + noise_lines(results["noise"])
    if results["as_they_come"]:
        text += "\n## Told nothing but k\n\n| instance | tool | said success | of these wrong | worst sin(theta) |\n|---|---|---|---|---|\n"
        for row in results["as_they_come"]:
            said = f"{row['said_success']} of {row['runs']} | {row['wrong_success']}"
            text += f"| {row['title']} | {row['peer']} | {said} | {max(row['sines']):.1e} |\n"
    if results["start_up"]:
        text += "\n## Start-up\n\n"
        for case in results["start_up"].values():
            text += f"- `{case['what']}`: {1e3 * case['seconds']:.1f} ms, {1e3 * case['slowest']:.1f} ms at worst\n"
    if results["seeds"]:
        text += "\n## Seeds\n\n| instance | sin(theta) asked | right | worst |\n|---|---|---|---|\n"
        for row in results["seeds"]:
            text += f"| {row['title']} | {row['accuracy']:.0e} | {row['right']} of {row['seeds']} | {row['worst_sine']:.1e} |\n"
    if results["left_out"]:
        text += "\n## Left out\n\n" + "".join(f"- {item['instance']}: {item['why']}\n" for item in results["left_out"])
    return text


def plot(results, path):
    """Seconds against the accuracy they bought, a panel an instance."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    titles = list(dict.fromkeys((row["instance"], f"{row['workload']}: {row['title']}") for row in results["rows"]))
    columns = min(2, len(titles))
    lines = math.ceil(len(titles) / columns)
    figure, axes = pyplot.subplots(lines, columns, figsize=(6.2 * columns, 3.1 * lines + 1), squeeze=False, layout="constrained")
    drawn = {}
    for axis, (instance, title) in zip(axes.flat, titles, strict=False):
        for name, (colour, marker, dash) in STYLES.items():
            points = [
                (row["seconds"], row["accuracy"])
                for row in results["rows"]
                if row["instance"] == instance and row["peer"] == name and "seconds" in row
            ]
            if points:
                ours = name.startswith("hearsay")
                drawn[name], = axis.plot(
                    *zip(*sorted(points, key=lambda point: -point[1]), strict=True),
                    color=colour, marker=marker, linestyle=dash, markersize=7 if ours else 6,
                    linewidth=2.2 if ours else 1.2, zorder=3 if ours else 2, label=name,
                )  # fmt: skip
        axis.set(title=title, xscale="log", yscale="log", xlabel="seconds", ylabel="sin(theta) reached, at most")
        axis.set_yticks(results["accuracies"])
        axis.minorticks_off()
        axis.margins(y=0.15)
        axis.invert_yaxis()
        axis.grid(alpha=0.3)
    for axis in list(axes.flat)[len(titles) :]:
        axis.axis("off")
    figure.legend(drawn.values(), drawn.keys(), loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
