#!/usr/bin/env python3
"""Fails, and kills, what spends from a privacy ledger, at every call one by one: a program that does nothing else, and
`hearsay pca --dp`.

    spend.py BINARY LIBRARY SPENDER

Whatever becomes of it: who was told that a query is paid for, or has its components, finds it in the ledger; nobody finds it there
twice; the ledger can be read, and spent from by the next one; and nothing else is left in its folder.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))
import ledgers

KINDS = ["open", "read", "write", "sync", "rename", "memory"]
BEFORE = {"none": None, "begun": ledgers.whole()[:1], "used": ledgers.whole(),
          "torn": [*ledgers.whole(), '{"record":5,"mu":0.0625,"kind":"spend","eps']}


def spent(binary, ledger):
    """What `hearsay ledger show` counts, squared; nothing where there is no ledger."""
    if not ledger.exists():
        return 0
    shown = subprocess.run([binary, "ledger", "show", ledger, "--json", "-"], capture_output=True, text=True, timeout=60)
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)["mu_spent"] ** 2


class Spender:
    """The program that does nothing else. Its mu is 1/4."""

    befores = list(BEFORE)
    price = 0  # squared, as all that is added up; told by the first run, in which nothing fails
    kinds = KINDS

    def __init__(self, arguments):
        self.line = [arguments.spender, "ledger"]

    def set_up(self, folder):
        pass

    def granted(self, ended, folder):
        return "granted" in ended.stdout


class PrivatePca(Spender):
    """The command, begun without a ledger. Who has components has been granted them."""

    befores = ["none"]
    kinds = KINDS[:-1]  # memory: some ten thousand calls, as run.py fails them

    def __init__(self, arguments):
        self.line = [arguments.binary, *"pca data.csv -k 1 --dp 1,1e-6 --budget 4,1e-6 --row-norm 9 --ledger ledger --components o.npy".split()]

    def set_up(self, folder):
        (folder / "data.csv").write_text("".join(f"{i % 5 - 2},{i % 3 - 1},{i % 7 - 3}\n" for i in range(40)))
        (folder / "o.npy").unlink(missing_ok=True)

    def granted(self, ended, folder):
        return (folder / "o.npy").exists()


class Runner:
    def __init__(self, arguments, spender):
        self.arguments, self.spender = arguments, spender
        self.preloaded = ":".join([*arguments.sanitizer, arguments.library])
        self.outcomes, self.failures = collections.Counter(), 0

    def spend(self, folder, **injected):
        environment = {**os.environ, "LD_PRELOAD": self.preloaded, "INJECT_LOG": str(folder.parent / "calls"), **injected}
        self.spender.set_up(folder)
        return subprocess.run(self.spender.line, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60)

    def case(self, before, kind, how, at):
        """What is wrong, or None; how many calls there were where none failed."""
        with tempfile.TemporaryDirectory(prefix="hearsay-injection-") as name:
            folder = pathlib.Path(name) / "here"
            folder.mkdir()
            ledger = folder / "ledger"
            if BEFORE[before]:
                ledger.write_text("".join(BEFORE[before]))
            old = spent(self.arguments.binary, ledger)
            ended = self.spend(folder, INJECT_KIND=kind, INJECT_HOW=how, INJECT_AT=str(at))
            now, price = spent(self.arguments.binary, ledger), self.spender.price
            granted = self.spender.granted(ended, folder)
            if at == 0:
                self.spender.price = now - old
                return None, int((folder.parent / "calls").read_text())
            self.outcomes[kind, how, "granted" if granted else "not granted", "counted" if now > old else "not counted"] += 1
            if granted and abs(now - old - price) > 1e-12:
                return f"granted, and {now - old} is counted", 0
            if not granted and min(abs(now - old), abs(now - old - price)) > 1e-12:
                return f"not granted, and {now - old} is counted", 0
            if how == "fail" and ended.returncode == 0 and not granted or ended.returncode > 2:
                return f"ends with {ended.returncode}: {ended.stderr[-200:]}", 0
            if how == "fail" and ended.returncode != 0 and ended.stderr.count("\n") != 1:
                return f"without one sentence: {ended.stderr!r}", 0
            again = self.spend(folder)
            if not self.spender.granted(again, folder) or abs(spent(self.arguments.binary, ledger) - now - price) > 1e-12:
                return f"cannot go on: {again.stderr}", 0
            left = {path.name for path in folder.iterdir()} - {"ledger", "data.csv", "o.npy"}
            return (None, 0) if not left else (f"{sorted(left)} are left", 0)

    def run(self):
        for before in self.spender.befores:
            for kind in [kind for kind in self.spender.kinds if kind != "memory" or not self.arguments.sanitizer]:
                calls = self.case(before, kind, "fail", 0)[1]
                step = max(1, calls // self.arguments.most)
                for at in range(1, calls + 1, step):
                    for how in ["fail", "kill"] if kind != "memory" else ["fail"]:
                        wrong = self.case(before, kind, how, at)[0]
                        if wrong:
                            self.failures += 1
                            print(f"{before}: {kind} {at} of {calls}, {how}: {wrong}", flush=True)
        for outcome, count in sorted(self.outcomes.items()):
            print(f"injection: {' '.join(outcome[:2]):12} {count:4} runs {outcome[2]} and {outcome[3]}")
        print(f"injection: {sum(self.outcomes.values())} runs, {self.failures} broke the contract")
        return 1 if self.failures else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=os.path.abspath)
    parser.add_argument("library", type=os.path.abspath)
    parser.add_argument("spender", type=os.path.abspath)
    parser.add_argument("--sanitizer", action="append", default=[], help="its library, where BINARY was built with one")
    parser.add_argument("--most", type=int, default=12, help="calls of a kind that fail")
    arguments = parser.parse_args()
    return max(Runner(arguments, spender(arguments)).run() for spender in (Spender, PrivatePca))


if __name__ == "__main__":
    sys.exit(main())
