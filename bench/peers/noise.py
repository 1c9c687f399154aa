"""W5: products with gaussian errors. How accurate is each tool's answer after the same number of products, and was what
it said of its answer true?"""

import dataclasses
import statistics

import numpy as np
from instances import Matrix
from workers import Failed

TUNING_SEED, TOLERANCES = 1000, (0.0, 1e-2, 1e-4, 1e-6)
BAR_FACTOR = 3  # hearsay's error bar is the sine within this factor
GO_ON, HINDSIGHT, AS_IT_COMES = "told to go on", "stopped in hindsight", "as it comes"


@dataclasses.dataclass(frozen=True)
class Case:
    instance: str
    sigma: float
    budget: int  # products
    peers: tuple = ()  # names; empty: all that can be given noisy products


BUDGETS = (1000, 4000, 20000)
# Who stops by itself; LOBPCG, PRIMME and Spectra go on to the end, far from the truth long before, for minutes a solve.
STOPS = ("hearsay", "hearsay anpm", "scipy eigsh (ARPACK)", "SLEPc")
CASES = [
    *(
        Case(instance, sigma, budget, STOPS if budget > 4000 else ())
        for instance in ("paper-1e-2", "paper-1e-3", "exponential-1000")
        for sigma in (1e-5, 1e-4)
        for budget in BUDGETS
    ),
    Case("paper-1e-2", 1e-6, 4000),
    Case("paper-1e-3", 1e-6, 4000),
    Case("paper-1e-2", 1e-3, 1000),
    *(Case("facebook", sigma, 6000) for sigma in (1e-6, 1e-5)),
    Case("communities", 1e-6, 2000, ("hearsay", "hearsay anpm", "scipy eigsh (ARPACK)", "scipy lobpcg")),
]


def default_setting(peer, about):
    """What the tool does when it is told nothing but k."""
    k, d = about["rank"], about["dimension"]
    if peer.name == "scipy lobpcg":
        return {"columns": k, "tol": 1.5e-8 * d}
    if peer.name == "PRIMME":
        return {"method": "PRIMME_DEFAULT_MIN_TIME", "block": 1, "tol": 0.0}
    if peer.worker.startswith("slepc"):
        return {"ncv": max(2 * k, k + 15), "tol": 1e-8}
    return {"ncv": max(2 * k + 1, 20), "tol": 1e-10 if peer.name == "Spectra" else 0.0}


def settings(peer, about):
    if peer.grid is None:
        return peer.sweep(about)
    k, budget_friendly = about["rank"], []
    for structure in peer.sweep(about):
        if "ncv" in structure:
            budget_friendly += [structure, {**structure, "ncv": min(about["dimension"] - 1, 10 * k)}]
        else:
            budget_friendly.append(structure)
    unique = {tuple(sorted(s.items())): s for s in budget_friendly}.values()
    return [{**structure, "tol": tol} for structure in unique for tol in TOLERANCES]


def solve(bench, peer, setting, case, seed):
    noise = {"sigma": case.sigma, "seed": seed, "budget": case.budget}
    try:
        run = bench.solve(peer, setting, seed=seed, noise=noise)
    except Failed as error:
        return {"failed": str(error), "sine": 1.0, "success": False, "status": str(error), "products": None}
    if (run["products"] or 0) > 1.3 * case.budget:  # nobody can stop all of them at once
        return {"failed": f"used {run['products']} products", "sine": 1.0, "success": False, "status": "over budget"}
    return run


def best_settings(bench, peer, case):
    """The settings that get nearest to the truth, chosen with the truth in hand, on noise of its own: among those that
    ask for all the accuracy there is, and among all, where a loose tolerance may happen to stop at the right moment."""
    tried = settings(peer, bench.about)
    sines = [solve(bench, peer, setting, case, TUNING_SEED)["sine"] for setting in tried]
    order = sorted(range(len(tried)), key=lambda i: sines[i])
    return {GO_ON: next(tried[i] for i in order if tried[i]["tol"] == 0), HINDSIGHT: tried[order[0]]}


def worst_residual(matrix, basis):
    """max over the Ritz pairs of ||A v - theta v|| / theta_1, with exact products."""
    Q, _ = np.linalg.qr(basis)
    AQ = matrix.times(Q)
    theta, rotation = np.linalg.eigh(Q.T @ AQ)
    return float(np.max(np.linalg.norm(AQ @ rotation - Q @ rotation * theta, axis=0)) / np.max(np.abs(theta)))


def claim_of(run, setting, about):
    """The sine that the tool's own words allow: hearsay's error bar or estimate; of others that say success, residuals
    at the tolerance over the true gap. None where nothing is said."""
    if "bar" in run:
        return run["bar"]["sin_theta"] or run["sin_theta_estimate"]
    if not run["success"]:
        return None
    gap = (about["lambda_k"] - about["lambda_next"]) / about["lambda_1"]
    return min(1.0, max(setting["tol"], 1e-15) / gap)


def was_true(run, setting, residual):
    """Whether what the tool said holds: a success means its residual is at its tolerance, within a factor of ten; the
    sine is at most three of hearsay's error bars, and its estimate without one is not exceeded by half."""
    if "bar" not in run:
        return not run["success"] or residual <= 10 * max(setting["tol"], 1e-15)
    if run["bar"]["sin_theta"] is not None:
        return run["sine"] <= BAR_FACTOR * run["bar"]["sin_theta"]
    return run["sin_theta_estimate"] is None or run["sine"] <= 1.5 * run["sin_theta_estimate"]


def over_claim(runs):
    """The sine over what was claimed of it, the median of those runs that claim something."""
    ratios = [run["sine"] / run["claim"] for run in runs if run.get("claim")]
    return statistics.median(ratios) if ratios else None


def measure(case, bench, peers, tuned, seeds, say, retune=False):
    """Rows of one case, a peer's ways apart; `tuned` remembers its best settings."""
    matrix = Matrix(bench.folder)
    rows = []
    for peer in peers:
        if not peer.noisy or (case.peers and peer.name not in case.peers):
            continue
        key = f"{case.instance} {case.sigma:g} {case.budget}"
        remembered = tuned.setdefault(key, {})
        if peer.grid is None:
            ways = {AS_IT_COMES: peer.sweep(bench.about)[0]}
        else:
            if retune or peer.name not in remembered:
                remembered[peer.name] = best_settings(bench, peer, case)
            ways = {**remembered[peer.name], AS_IT_COMES: default_setting(peer, bench.about)}
        if ways.get(GO_ON) == ways.get(HINDSIGHT):
            ways.pop(HINDSIGHT, None)
        for way, setting in ways.items():
            runs = []
            for seed in seeds:
                run = solve(bench, peer, setting, case, seed)
                if "failed" not in run and bench.basis.shape == bench.reference.shape:
                    run["residual"] = worst_residual(matrix, bench.basis)
                    run["true"] = was_true(run, setting, run["residual"])
                    run["claim"] = claim_of(run, setting, bench.about)
                runs.append(run)
            rows.append(
                {
                    "instance": case.instance,
                    "sigma": case.sigma,
                    "budget": case.budget,
                    "peer": peer.name,
                    "way": way,
                    "setting": setting,
                    "sine": statistics.median(run["sine"] for run in runs),
                    "sines": [run["sine"] for run in runs],
                    "products": max((run["products"] or 0 for run in runs if run.get("products")), default=None),
                    "statuses": sorted({run["status"] for run in runs}),
                    "claims": [run["claim"] for run in runs if run.get("claim")],
                    "error_over_claim": over_claim(runs),
                    "said_success": sum(run["success"] for run in runs),
                    "true": sum(run.get("true", not run["success"]) for run in runs),
                    "runs": len(runs),
                }
            )
        say(f"W5 {case.instance} sigma {case.sigma:g}, {case.budget} products: {peer.name} {rows[-1]['sine']:.1e}")
    return rows
