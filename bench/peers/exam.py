"""--exam [N]: how many wrong words does each tool speak, on N spectra that were made to mislead it?

A word is what a tool says of its own answer. hearsay says it with its status and its certificate; the others say that k
pairs have converged, which promises residuals, and that these are the k wanted ones. Nothing is timed.
"""

import dataclasses
import json
import time

import numpy as np
from solvers import PEERS
from workers import Bench, Failed

ACCURACIES = (1e-2, 1e-4, 1e-8)
NAMES = ("hearsay", "hearsay anpm", "scipy eigsh (ARPACK)", "SLEPc", "PRIMME")
SLACK = 1e-13  # of the largest eigenvalue: matrix, reference and judgement are rounded
TIE = 1e-12  # relative gaps below this are rounding, and the space between them anyone's choice
PATIENCE_SECONDS = 10  # for one answer; the matrices are small, and silence is not wrong
FORGIVEN = 10  # times a residual may exceed its tolerance: tools estimate it, we measure it

# ---- The questions ---------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Case:
    number: int
    family: str
    title: str
    values: np.ndarray  # descending
    rank: int
    vectors: str  # random, hadamard, coordinate

    def matrix(self):
        d, random = len(self.values), np.random.default_rng([7, self.number])
        if self.vectors == "coordinate":
            return np.diag(random.permutation(self.values))
        if self.vectors == "hadamard":
            U = np.ones((1, 1))
            while len(U) < d:
                U = np.block([[U, U], [U, -U]])
            U = random.permutation(U / np.sqrt(d), axis=1)
        else:
            U, _ = np.linalg.qr(random.standard_normal((d, d)))
        A = (U * self.values) @ U.T
        return (A + A.T) / 2


def rest_below(random, count, top):
    """All at `top`, or spread below it."""
    if random.random() < 0.5:
        return np.full(count, top)
    return top * np.sort(np.r_[1.0, random.random(count - 1)])[::-1]


def cluster(random, d):
    """1 + delta j over a rest, and k inside: too close for loose tolerances, yet distinct."""
    n, delta, top = int(random.integers(9, 32)), 10.0 ** -random.integers(2, 12), random.choice([0.3, 0.9])
    values = np.r_[1 + delta * np.arange(n, 0, -1), rest_below(random, d - n, top)]
    return values, int(random.integers(1, n)), f"{n} at 1 + {delta:.0e} j, rest {top:g}"


def multiple(random, d):
    """One eigenvalue many times; k ends with it, or inside it, where no answer is the only one."""
    first, m, top = int(random.integers(0, 4)), int(random.integers(9, 32)), random.choice([0.3, 0.9, 0.99])
    values = np.r_[2.0 + np.arange(first)[::-1], np.ones(m), rest_below(random, d - first - m, top)]
    inside = random.random() < 0.5
    k = first + (int(random.integers(1, m)) if inside else m)
    return values, k, f"1 {m} times after {first}, rest {top:g}, k {'inside' if inside else 'at its end'}"


def rounding(random, d):
    """A gap that double precision can hardly hold, or cannot."""
    k, gap = int(random.integers(2, 12)), 10.0 ** -random.integers(12, 17)
    values = np.r_[np.linspace(2, 1, k), 1 - gap, rest_below(random, d - k - 1, 0.5)]
    return values, k, f"gap {gap:.0e}"


def geometric(random, d):
    ratio, k = random.choice([0.5, 0.7, 0.9, 0.97]), int(random.integers(2, 25))
    return ratio ** np.arange(d), k, f"{ratio:g}^i"


def deficient(random, d):
    """Rank r, with k below, at or above it."""
    k = int(random.integers(2, 16))
    r = max(1, k + int(random.integers(-4, 5)))
    values = np.zeros(d)
    values[:r] = np.sort(random.uniform(0.1, 1, r))[::-1]
    return values, k, f"rank {r}"


FAMILIES = (cluster, multiple, cluster, rounding, geometric, deficient)
VECTORS = ("random", "hadamard", "coordinate")


def case(number):
    """The same for every run, and each by itself."""
    random = np.random.default_rng([2026, number])
    family, vectors = FAMILIES[number % len(FAMILIES)], VECTORS[number // len(FAMILIES) % len(VECTORS)]
    d = int(random.choice([128, 256])) if vectors == "hadamard" else int(random.integers(100, 257))
    values, k, about = family(random, d)
    title = f"{family.__name__}: {about}; d = {d}, k = {k}, {vectors} eigenvectors"
    return Case(number, family.__name__, title, np.sort(values)[::-1], k, vectors)


# ---- The truth -------------------------------------------------------------------------------------------------------


class Truth:
    """The eigenvectors of the matrix as it is stored, sharper than double precision finds them.

    LAPACK's are made orthonormal and A brought to their basis in extended precision: T is diagonal but for rounding E.
    The first j span an invariant space after a correction [I; X], T21 + T22 X = X (T11 + T12 X), which a fixed point
    finds at a rate of E over the gap.
    """

    def __init__(self, A):
        U = np.linalg.eigh(A)[1]
        U = U[:, ::-1].astype(np.longdouble)
        for _ in range(2):
            U = U @ (1.5 * np.eye(len(A), dtype=np.longdouble) - 0.5 * (U.T @ U))
        self.U, self.T = U, U.T @ (A.astype(np.longdouble) @ U)
        self.T = (self.T + self.T.T) / 2
        self.values = np.diag(self.T).astype(float)
        self.size = max(abs(self.values[0]), abs(self.values[-1]))
        self.spaces = {}

    def gap(self, j):
        d = len(self.values)
        return np.inf if j in (0, d) else float(self.values[j - 1] - self.values[j])

    def space(self, j):
        """The first j eigenvectors; j must not lie in a tie."""
        if j not in self.spaces:
            T, diagonal = self.T, np.diag(self.T)
            E = T - np.diag(diagonal)
            gaps = diagonal[:j] - diagonal[j:, None]
            X = np.zeros_like(gaps)
            for _ in range(30):
                step = (E[j:, :j] + E[j:, j:] @ X - X @ E[:j, :j] - X @ (E[:j, j:] @ X)) / gaps - X
                X = X + step
                if np.abs(step).max(initial=0) <= 1e-19:
                    break
            self.spaces[j] = np.linalg.qr((self.U[:, :j] + self.U[:, j:] @ X).astype(float))[0]
        return self.spaces[j]

    def ends(self, k):
        """The nearest places at or before, and at or after k where the space of the first j is the only one."""
        apart = [j for j in range(len(self.values) + 1) if self.gap(j) > TIE * self.size]
        return max(j for j in apart if j <= k), min(j for j in apart if j >= k)

    def outside(self, V, j):
        """The sine of the largest angle from V to the space of the first j, or of the tie that holds the j-th."""
        U = self.space(self.ends(j)[1])
        return float(min(1.0, np.linalg.norm(V - U @ (U.T @ V), 2)))

    def sine(self, V):
        """Of the largest angle to a space of the first k: within a tie to the nearest one."""
        low = self.space(self.ends(V.shape[1])[0])
        inside = np.linalg.norm(low - V @ (V.T @ low), 2) if low.shape[1] else 0.0
        return max(float(min(1.0, inside)), self.outside(V, V.shape[1]))


# ---- The judgement ---------------------------------------------------------------------------------------------------


def orthonormal(basis, k, d):
    """The basis, columns made orthonormal; None where it is no basis of k columns."""
    if basis.shape != (d, k) or not np.isfinite(basis).all():
        return None
    Q, R = np.linalg.qr(basis)
    lengths = np.abs(np.diag(R))
    return Q if lengths.min() > 1e-8 * lengths.max() else None


def ritz(A, V):
    """Ritz values, descending, and the residual of each pair."""
    theta, W = np.linalg.eigh(V.T @ A @ V)
    V = V @ W
    return theta[::-1], np.linalg.norm(A @ V - V * theta, axis=0)[::-1]


def wrong_of_hearsay(reply, truth, V, accuracy):
    """What its status and its certificate say and is not so, and the estimates that are exceeded."""
    certificate, slack, sine = reply["certificate"], SLACK * truth.size, truth.sine(V)
    wrong, exceeded = [], []

    def hold(word, kind, true):
        if not true:
            (wrong if word == "bound" else exceeded).append(kind)

    if reply["status"] == "converged" and not sine <= accuracy + SLACK:
        wrong.append("converged")
    about = certificate["sin_theta"]
    if about["word"] == "bound":
        hold("bound", "sine bound", sine <= about["bound"] + SLACK)
    if about["word"] != "unknown" and about["estimate"] is not None:
        hold("estimate", "sine estimate", sine <= about["estimate"] + SLACK)
    missed = certificate["nothing_missed"]
    if missed["word"] != "unknown":
        above = int((truth.values > missed["above"] + slack).sum())
        hold(missed["word"], "nothing missed", above <= missed["count"])
    group = certificate["cluster"]
    if group:
        first, last = truth.values[group["first"] - 1], truth.values[group["last"] - 1]
        hold("bound", "cluster spread", first - last <= group["spread"] * abs(truth.values[0]) + slack)
        if group["word"] != "unknown" and group["sin_theta"] is not None:
            hold(group["word"], "cluster space", truth.outside(V, group["last"]) <= group["sin_theta"] + SLACK)
    return wrong, exceeded


def wrong_of_others(A, truth, V, tolerance):
    """Of a success: residuals above the promise; a sine that residuals so small would exclude over the true gap, were
    these the wanted pairs; and a set that is not the wanted one, an eigenvalue being left out."""
    k, promise = V.shape[1], FORGIVEN * tolerance * truth.size + SLACK * truth.size
    theta, residuals = ritz(A, V)
    gap = truth.gap(k)
    wrong = []
    if not residuals.max() <= promise:
        wrong.append("residual")
    if gap > TIE * truth.size and not truth.sine(V) <= np.sqrt(k) * promise / gap + SLACK:
        wrong.append("sine")
    if not (theta >= truth.values[:k] - promise).all():
        wrong.append("set")
    return wrong


def judge(A, truth, rank, peer, reply, basis, accuracy):
    """One answer: whether it claims success, its wrong words, and what was hoped for rather than promised."""
    V, said = orthonormal(basis, rank, len(A)), bool(reply["success"])
    row = {"success": said, "status": reply["status"], "wrong": [], "exceeded": [], "sine": 1.0}
    if V is None:
        return row | {"wrong": ["no basis"] if said else []}
    row["sine"] = truth.sine(V)
    row["above"] = bool(said and not row["sine"] <= accuracy + SLACK)
    if peer.worker == "hearsay":
        row["wrong"], row["exceeded"] = wrong_of_hearsay(reply, truth, V, accuracy)
    elif said:
        row["wrong"] = wrong_of_others(A, truth, V, accuracy)
    return row


# ---- The exam --------------------------------------------------------------------------------------------------------


def setting_for(peer, rank, dimension, accuracy):
    """As the tool comes, told the accuracy as its tolerance and nothing else."""
    if peer.worker == "hearsay":
        return {**peer.sweep({})[0], "accuracy": accuracy}
    if peer.name == "PRIMME":
        return {"method": "PRIMME_DYNAMIC", "block": 1, "tol": accuracy}
    return {"ncv": min(dimension - 1, max(2 * rank + 1, 20)), "tol": accuracy}


def write_case(folder, question, A):
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "matrix.npy", A)
    about = {"name": "exam", "kind": "dense", "rank": question.rank, "dimension": len(A), "title": question.title}
    (folder / "about.json").write_text(json.dumps(about))


def sit(count, peers, tools, scratch, limit, say, accuracies=ACCURACIES):
    """The rows of all answers, and why a tool is missing."""
    rows, missing, bench = [], {}, None
    begin = time.perf_counter()
    try:
        for number in range(count):
            question = case(number)
            A = question.matrix()
            truth = Truth(A)
            folder = scratch / "exam"
            write_case(folder, question, A)
            if bench is None:
                bench = Bench(folder, tools, limit)
            for peer in peers:
                for accuracy in accuracies:
                    if peer.name in missing:
                        continue
                    row = {"case": number, "family": question.family, "title": question.title}
                    row |= {"peer": peer.name, "accuracy": accuracy}
                    setting = setting_for(peer, question.rank, len(A), accuracy)
                    try:
                        reply, basis = bench.ask(peer, setting, question.rank, instance=folder)
                    except Failed as error:
                        if "does not start" in str(error) or "No module named" in str(error):
                            missing[peer.name] = str(error)
                        else:
                            rows.append(row | {"success": False, "status": str(error), "wrong": [], "exceeded": []})
                        continue
                    rows.append(row | judge(A, truth, question.rank, peer, reply, basis, accuracy))
            if time.perf_counter() - begin > 30:
                begin = time.perf_counter()
                say(f"exam: {number + 1} of {count} questions, {sum(bool(r['wrong']) for r in rows)} answers wrong")
    finally:
        if bench is not None:
            bench.__exit__()
    return rows, missing


def summary(rows):
    """Per tool and accuracy, in the order in which they were asked."""
    table = []
    for peer, accuracy in dict.fromkeys((row["peer"], row["accuracy"]) for row in rows):
        mine = [row for row in rows if (row["peer"], row["accuracy"]) == (peer, accuracy)]
        words = [word for row in mine for word in row["wrong"]]
        table.append(
            {
                "peer": peer,
                "accuracy": accuracy,
                "answers": len(mine),
                "successes": sum(row["success"] for row in mine),
                "wrong_answers": sum(bool(row["wrong"]) for row in mine),
                "wrong_words": {word: words.count(word) for word in dict.fromkeys(words)},
                "above_accuracy": sum(row.get("above", False) for row in mine),
                "estimates_exceeded": sum(bool(row["exceeded"]) for row in mine),
            }
        )
    return table


def text(results):
    lines = [
        f"# The exam: {results['questions']} spectra made to mislead",
        "",
        "| tool | accuracy | answers | successes | wrong | which words | above the accuracy | estimates exceeded |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in results["table"]:
        words = ", ".join(f"{word} {count}" for word, count in row["wrong_words"].items()) or "-"
        lines.append(
            f"| {row['peer']} | {row['accuracy']:.0e} | {row['answers']} | {row['successes']} | {row['wrong_answers']} "
            f"| {words} | {row['above_accuracy']} | {row['estimates_exceeded']} |"
        )
    lines += ["", "Missing: " + ("; ".join(f"{k} ({v})" for k, v in results["missing"].items()) or "nobody"), ""]
    wrong = [row for row in results["rows"] if row["wrong"]]
    lines += ["## Wrong answers", ""] if wrong else []
    for row in wrong[:40]:
        lines.append(
            f"- {row['peer']} at {row['accuracy']:.0e}, question {row['case']} ({row['title']}): said {row['status']}, "
            f"sine {row.get('sine', 1):.1e}; wrong: {', '.join(row['wrong'])}"
        )
    lines += [f"- and {len(wrong) - 40} more in exam.json"] if len(wrong) > 40 else []
    return "\n".join(lines) + "\n"


def run(given, tools, say):
    """Asks, judges and writes exam.json and exam.md."""
    peers = [peer for name in NAMES for peer in PEERS if peer.name == name and (not given.names or name in given.names)]
    rows, missing = sit(
        given.exam, peers, tools, given.cache, min(given.limit, PATIENCE_SECONDS), say, given.accuracies
    )
    results = {"benchmark": "exam", "questions": given.exam, "accuracies": given.accuracies, "table": summary(rows)}
    results |= {"missing": missing, "rows": rows}
    out = given.out or given.cache
    out.mkdir(parents=True, exist_ok=True)
    (out / "exam.json").write_text(json.dumps(results, indent=1) + "\n")
    (out / "exam.md").write_text(text(results))
    return results
