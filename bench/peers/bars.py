"""What hearsay is held to: ratios of medians of one run."""

import dataclasses

from noise import GO_ON, HINDSIGHT

ARPACK = "scipy eigsh (ARPACK)"


@dataclasses.dataclass(frozen=True)
class Bar:
    instance: str
    against: tuple  # peers; empty: all of them
    limit: float
    peer: str = "hearsay"
    accuracy: float = 1e-4


KRYLOV = (ARPACK, "PRIMME", "Spectra", "SLEPc", "SLEPc, 2 processes")
BARS = [
    Bar("harmonic-10", (), 0.7),
    Bar("harmonic-10", (), 0.5, "hearsay mixed"),
    Bar("exponential-10", (), 0.7),
    Bar("exponential-10", (), 0.5, "hearsay mixed"),
    Bar("harmonic-50", (), 1.0),
    Bar("exponential-50", (), 1.0),
    Bar("communities", (), 0.4),
    Bar("facebook", (), 0.6),
    Bar("pca-tall", ("dsyrk + eigh",), 1.0),
    Bar("pca-tall", ("scikit-learn randomized",), 0.4),
    Bar("pca-wide", ("scikit-learn covariance_eigh", "scikit-learn randomized", "scikit-learn arpack"), 0.8),
    Bar("pca-wide", ("scikit-learn covariance_eigh", "scikit-learn randomized", "scikit-learn arpack"), 0.5,
        "hearsay mixed"),
    Bar("paper-1e-2", KRYLOV, 1.0),
    Bar("paper-1e-3", KRYLOV, 1.0),
]  # fmt: skip
NEVER_SLOWER_THAN_ARPACK = 1.5
# Error over ARPACK's after so many noisy products, sigma up to 1e-4; and over LOBPCG's.
NOISE_BARS = {1000: 0.3, 4000: 0.1, 20000: 0.05}
NOISE_BAR_LOBPCG = 0.1
START_UP_BARS = {"version": 0.030, "pca_digits": 0.100}


def seconds(rows, instance, accuracy, peer):
    for row in rows:
        if (row["instance"], row["accuracy"], row["peer"]) == (instance, accuracy, peer):
            return row.get("seconds")
    return None


def is_ours(name):
    return name.startswith("hearsay")


def check(rows, noise_rows, start_up, seeds):
    """One verdict a bar: what, value (a ratio as a rule), limit, against whom, met (None: not measured)."""
    verdicts = []

    def judge(what, value, limit, against, missed=False):
        """`value` None: not measured, or, where the accuracy was missed, not worth measuring."""
        met = False if missed else None if value is None else value <= limit
        verdicts.append({"what": what, "value": value, "limit": limit, "against": against, "met": met})

    def compare(what, instance, accuracy, ours, names, limit):
        mine = seconds(rows, instance, accuracy, ours)
        rivals = {name: seconds(rows, instance, accuracy, name) for name in names}
        rivals = {name: value for name, value in rivals.items() if value}
        if not rivals:
            return judge(what, None, limit, "-")
        fastest = min(rivals, key=rivals.get)
        if mine is None:
            ran = any(row["instance"] == instance and row["peer"] == ours for row in rows)
            return judge(what, None, limit, fastest, missed=ran)
        return judge(what, mine / rivals[fastest], limit, fastest)

    measured = {row["instance"]: row["title"] for row in rows}
    everyone = sorted({row["peer"] for row in rows if not is_ours(row["peer"])})
    for bar in BARS:
        if bar.instance in measured:
            what = f"{measured[bar.instance]}, {bar.accuracy:.0e}: {bar.peer}"
            compare(what, bar.instance, bar.accuracy, bar.peer, bar.against or everyone, bar.limit)
    for instance, title in measured.items():
        what = f"{title}, 1e-04: never much slower than ARPACK"
        compare(what, instance, 1e-4, "hearsay", (ARPACK,), NEVER_SLOWER_THAN_ARPACK)

    missed = [row for row in rows if is_ours(row["peer"]) and "missed" in row]
    if any(is_ours(row["peer"]) for row in rows):
        judge("hearsay is at least as accurate as asked", float(len(missed)), 0.0, "answers that are not")
    for row in seeds:
        what = f"{row['title']}, {row['accuracy']:.0e}: right for each of {row['seeds']} seeds"
        judge(what, float(row["seeds"] - row["right"]), 0.0, "seeds that are not")

    for (instance, sigma, budget), group in by_case(noise_rows).items():
        mine = next((row for row in group if row["peer"] == "hearsay"), None)
        if mine is None:
            continue
        what = f"{instance} with noise {sigma:g}, {budget} products: error"
        for name, limit in ((ARPACK, NOISE_BARS.get(budget)), ("scipy lobpcg", NOISE_BAR_LOBPCG)):
            ways = (GO_ON,) if name != ARPACK else (GO_ON, HINDSIGHT)
            rivals = [row["sine"] for row in group if row["peer"] == name and row["way"] in ways]
            if limit and sigma <= 1e-4 and rivals:
                judge(what, mine["sine"] / min(rivals), limit, name)
        wrong = mine["runs"] if mine["statuses"] != ["noise_floor"] else 0
        judge(f"{instance} with noise {sigma:g}: status noise_floor", float(wrong), 0.0, "runs that say otherwise")
    for name, limit in START_UP_BARS.items():
        if name in start_up:
            judge(f"start-up: {start_up[name]['what']}", start_up[name]["seconds"], limit, "seconds")
    return verdicts


def by_case(noise_rows):
    groups = {}
    for row in noise_rows:
        groups.setdefault((row["instance"], row["sigma"], row["budget"]), []).append(row)
    return groups
