"""The cheapest setting of a peer that reaches an accuracy, found by trying."""

from workers import Failed

QUICK_SECONDS = 0.2


class Trials:
    """Solves of one peer on one instance; each setting is tried once."""

    def __init__(self, bench, peer):
        self.bench, self.peer = bench, peer
        self.done = {}
        self.failure = None

    def run(self, setting, limit):
        key = tuple(sorted(setting.items()))
        if key not in self.done:
            try:
                run = self.bench.solve(self.peer, setting, limit=limit)
                for _ in range(2 if run["seconds"] < QUICK_SECONDS else 0):  # a chance disturbance must not choose
                    again = self.bench.solve(self.peer, setting, limit=limit)
                    run["seconds"] = min(run["seconds"], again["seconds"])
                    run["sine"] = max(run["sine"], again["sine"])
                self.done[key] = run
            except Failed as error:
                self.failure = str(error)
                self.done[key] = None
        return self.done[key]


def cheapest(bench, peer, accuracies, ceiling):
    """{accuracy: {"setting", "seconds", "sine"} or {"missed": why}}; no trial takes longer than the ceiling."""
    trials, best = Trials(bench, peer), {}
    smallest = 1.0
    guesses = {}  # where the settings before found each accuracy: a tool means the same by a tolerance throughout

    def consider(setting, run):
        nonlocal smallest
        smallest = min(smallest, run["sine"])
        for accuracy in accuracies:
            if run["sine"] <= accuracy and run["seconds"] < best.get(accuracy, {}).get("seconds", float("inf")):
                best[accuracy] = {"setting": setting, "seconds": run["seconds"], "sine": run["sine"]}

    def limit(accuracy):
        return min(ceiling, max(2.0, 2.5 * best[accuracy]["seconds"])) if accuracy in best else ceiling

    for structure in peer.sweep(bench.about):
        if peer.grid is None:
            run = trials.run(structure, None)
            if run:
                consider(structure, run)
            continue
        name, grid = peer.grid
        sines = {}  # by position on the grid
        for accuracy in sorted(accuracies, reverse=True):
            low = max((i for i, sine in sines.items() if sine > accuracy), default=-1)
            high = min((i for i, sine in sines.items() if sine <= accuracy and i > low), default=len(grid))
            guess, step = guesses.get(accuracy, first_guess(bench.about, name, grid, accuracy)), 1
            while high - low > 1:
                middle = guess if low < guess < high else (low + high) // 2
                setting = {**structure, name: grid[middle]}
                run = trials.run(setting, limit(accuracy))
                if run is None:  # too slow, or refused: nothing tighter will do better
                    high, guess = middle, middle - step
                    continue
                sines[middle] = run["sine"]
                consider(setting, run)
                if run["sine"] > accuracy:
                    low, guess = middle, middle + step
                else:
                    high, guess = middle, middle - step
                    guesses[accuracy] = middle
                    if run["seconds"] > 2 * best[accuracy]["seconds"]:
                        break  # another setting is far ahead
                step *= 2
    result = {}
    for accuracy in accuracies:
        missed = trials.failure if smallest == 1.0 and trials.failure else f"reached {smallest:.0e} at best"
        result[accuracy] = best.get(accuracy) or {"missed": missed}
    return result


def first_guess(about, name, grid, accuracy):
    """A tolerance bounds the residual, which is about the sine times the gap."""
    if name != "tol":
        return len(grid) // 2
    wanted = accuracy * (about["lambda_k"] - about["lambda_next"]) / about["lambda_1"]
    return min(range(len(grid)), key=lambda i: abs(grid[i] / wanted - 1) if grid[i] >= wanted else 2.0)
