"""peers.py BUILD_DIR: hearsay beside the tools a user would pick instead.

Every tool solves the same instance to the same measured accuracy, at its best setting, on the same cores, turn about;
no seconds are printed without the accuracy they bought. README.md says what the numbers mean.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import time

import bars
import exam
import noise
import numpy as np
import report
from blas import best_environments
from instances import INSTANCES, MissingData, prepare
from solvers import PEERS, peers_for
from tuning import cheapest
from workers import Bench, Failed

HERE = pathlib.Path(__file__).parent
ACCURACIES = (1e-2, 1e-4, 1e-8)


def say(text):
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def arguments(argv):
    parser = argparse.ArgumentParser(prog="./dev bench peers", description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="the release build")
    parser.add_argument("--only", default="", help="workloads or instances: W2,W3,facebook,W5,W5/facebook,start-up")
    parser.add_argument("--accuracy", default="", help="some of 1e-2,1e-4,1e-8")
    parser.add_argument("--peers", default="", help="names that begin so: hearsay,PRIMME")
    parser.add_argument("--repeats", type=int, default=5, help="timed solves of each, at most")
    parser.add_argument("--limit", type=float, default=60, help="seconds a solve may take")
    parser.add_argument("--threads", type=int, default=min(2, len(os.sched_getaffinity(0))), help="for each tool")
    parser.add_argument("--quick", action="store_true", help="1e-4 only, two solves each, nothing large")
    parser.add_argument("--retune", action="store_true", help="look for the peers' best settings again")
    parser.add_argument("--seeds", type=int, default=0, help="instead: is hearsay right for this many seeds?")
    parser.add_argument("--seeds-large", type=int, default=5, help="the same for the large instances")
    parser.add_argument(
        "--exam", type=int, nargs="?", const=120, default=0, metavar="N",
        help="instead: how many wrong words does each tool speak on N misleading spectra? Default 120",
    )  # fmt: skip
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path("build/bench-peers"))
    parser.add_argument("--out", type=pathlib.Path, help="where the report goes; default: the cache")
    given = parser.parse_args(argv)
    given.accuracies = tuple(float(a) for a in given.accuracy.split(",") if a) or ACCURACIES
    given.only = [part for part in given.only.split(",") if part]
    if given.quick:
        given.accuracies, given.repeats = (given.accuracies if given.accuracy else (1e-4,)), 2
    prefixes = tuple(part for part in given.peers.split(",") if part)
    given.names = [peer.name for peer in PEERS if peer.name.startswith(prefixes)] if prefixes else None
    return given


def tools_for(given, threads):
    given.cache.mkdir(parents=True, exist_ok=True)
    logs = given.cache / "logs"
    logs.mkdir(exist_ok=True)
    environment = dict(os.environ)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        environment[name] = str(threads)
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {
        "native": given.build / "bench" / "bench_peers",
        "spectra": given.build / "bench" / "bench_peers_spectra",
        "hearsay": given.build / "apps" / "hearsay",
        "logs": logs,
        "environment": environment,
        "blas": best_environments(given.cache / "blas.json", threads, say, given.retune),
    }


class Settings:
    """The best settings found, by instance, peer and accuracy: the repository's, and over them this machine's."""

    def __init__(self, cache):
        self.path = cache / "settings.json"
        shipped = HERE / "settings.json"
        self.known = json.loads(shipped.read_text()) if shipped.is_file() else {}
        if self.path.is_file():
            for instance, peers in json.loads(self.path.read_text()).items():
                for peer, found in peers.items():
                    self.known.setdefault(instance, {}).setdefault(peer, {}).update(found)

    def get(self, instance, peer, accuracy):
        return self.known.get(instance, {}).get(peer, {}).get(f"{accuracy:.0e}")

    def put(self, instance, peer, found):
        entry = self.known.setdefault(instance, {}).setdefault(peer, {})
        entry.update({f"{accuracy:.0e}": value for accuracy, value in found.items()})
        self.save()

    def ceiling(self, instance, accuracies, limit):
        """How long a trial may take: far longer than the best peer so far, but not for ever."""
        peers = self.known.get(instance, {}).values()
        known = [found[f"{a:.0e}"].get("seconds", 0) for found in peers for a in accuracies if f"{a:.0e}" in found]
        return min(limit, max(4.0, 15 * min(filter(None, known), default=limit)))

    def save(self):
        """Without those who had no time to answer: the next run may have more."""
        kept = {
            instance: peers
            if instance == "noise"
            else {
                peer: {a: entry for a, entry in found.items() if not entry.get("missed", "").startswith("no answer")}
                for peer, found in peers.items()
            }
            for instance, peers in self.known.items()
        }
        self.path.write_text(json.dumps(kept, indent=1) + "\n")


def find_settings(bench, peers, accuracies, settings, retune):
    """{peer: {accuracy: setting or why not}}; what is not known is looked for."""
    instance, chosen = bench.about["name"], {}
    for peer in peers:
        if bars.is_ours(peer.name):
            structure = peer.sweep(bench.about)[0]
            chosen[peer.name] = {a: {"setting": {**structure, "accuracy": a}, "seconds": None} for a in accuracies}
            continue
        missing = [a for a in accuracies if retune or settings.get(instance, peer.name, a) is None]
        if missing:
            begin = time.perf_counter()
            found = cheapest(bench, peer, missing, settings.ceiling(instance, missing, bench.limit))
            settings.put(instance, peer.name, found)
            outcomes = [f"{v['seconds']:.3g} s" if "setting" in v else v["missed"] for v in found.values()]
            say(f"{instance}: tuned {peer.name} in {time.perf_counter() - begin:.0f} s: {'; '.join(outcomes)}")
        chosen[peer.name] = {a: settings.get(instance, peer.name, a) for a in accuracies}
    return chosen


class Jobs:
    """Distinct solves of one instance, whatever accuracies each serves; they take turns."""

    def __init__(self, bench, peers):
        self.bench, self.peers = bench, {peer.name: peer for peer in peers}
        self.jobs = {}

    def add(self, name, setting):
        """The job, after its first solve, which warms up."""
        key = name, json.dumps(setting, sort_keys=True)
        if key not in self.jobs:
            self.jobs[key] = {"peer": name, "setting": setting, "runs": [], "accuracies": [], "repeats": 0}
            self.solve(self.jobs[key])
        return self.jobs[key]

    def solve(self, job):
        try:
            job["runs"].append(self.bench.solve(self.peers[job["peer"]], job["setting"]))
        except Failed as error:
            job["failed"] = str(error)

    def plan(self, most):
        """How often each is timed: slow ones less often, and those far behind at all they serve once. A short first
        solve does not count; for a long one it makes no difference."""
        timed = [job for job in self.jobs.values() if job["accuracies"] and "failed" not in job]
        first = {id(job): job["runs"][0]["seconds"] for job in timed}
        for job in timed:
            seconds = first[id(job)]
            rivals = [first[id(other)] for other in timed if set(other["accuracies"]) & set(job["accuracies"])]
            behind = seconds > 2 and seconds > 4 * min(rivals) and not bars.is_ours(job["peer"])
            job["repeats"] = 1 if behind else min(most, 3) if seconds > 1 else most
            if seconds <= 1:
                job["runs"].clear()

    def take_turns(self, most, name):
        self.plan(most)
        for turn in range(most):
            for job in self.jobs.values():
                if len(job["runs"]) < job["repeats"] and "failed" not in job:
                    self.solve(job)
            say(f"{name}: turn {turn + 1} of {most}")


def measure(bench, instance, peers, given, settings, rows):
    """Rows of one instance."""
    chosen = find_settings(bench, peers, given.accuracies, settings, given.retune)
    jobs, found_by = Jobs(bench, peers), []
    for peer in peers:
        for accuracy in given.accuracies:
            found, job = chosen[peer.name][accuracy], None
            if "setting" in found:
                job = jobs.add(peer.name, found["setting"])
                if job["runs"] and job["runs"][0]["sine"] > accuracy and not bars.is_ours(peer.name):
                    say(f"{instance.name}: {peer.name} missed {accuracy:.0e} with the setting remembered; tuning again")
                    ceiling = settings.ceiling(instance.name, [accuracy], bench.limit)
                    found = cheapest(bench, peer, [accuracy], ceiling)[accuracy]
                    settings.put(instance.name, peer.name, {accuracy: found})
                    job = jobs.add(peer.name, found["setting"]) if "setting" in found else None
            if job:
                job["accuracies"].append(accuracy)
            found_by.append((peer.name, accuracy, found, job))
    jobs.take_turns(given.repeats, instance.name)
    rows += [row_of(instance, *each) for each in found_by]


def row_of(instance, name, accuracy, found, job):
    """The row of a table. Seconds appear only where every solve reached the accuracy."""
    row = {"instance": instance.name, "workload": instance.workload, "title": instance.title}
    row |= {"accuracy": accuracy, "peer": name}
    if job is None:
        return row | {"missed": found["missed"]}
    row["setting"] = job["setting"]
    if "failed" in job or not job["runs"]:
        return row | {"missed": job.get("failed", "not measured")}
    runs = job["runs"]
    sine = max(run["sine"] for run in runs)
    row |= {"sine": sine, "runs": len(runs), "statuses": sorted({run["status"] for run in runs})}
    row |= {"said_success": sum(run["success"] for run in runs)}
    if not sine <= accuracy:
        said = "said success" if row["said_success"] else "said " + ", ".join(row["statuses"])
        return row | {"missed": f"reached {sine:.1e}, {said}"}
    seconds = sorted(run["seconds"] for run in runs)
    row |= {"seconds": statistics.median(seconds), "fastest": seconds[0], "slowest": seconds[-1]}
    return row | {key: runs[-1].get(key) for key in ("products", "passes", "memory_bytes", "method")}


def start_up(tools):
    """Whole processes, from the shell's point of view."""
    cases = {"version": ("hearsay --version", ["--version"])}
    if (pathlib.Path(os.environ.get("HEARSAY_DATA", "")) / "digits.csv.gz").is_file():
        cases["pca_digits"] = ("hearsay pca digits -k 10", ["pca", "digits", "-k", "10", "--quiet"])
    result = {}
    for name, (what, words) in cases.items():
        seconds = []
        for _ in range(21):
            begin = time.perf_counter()
            subprocess.run([tools["hearsay"], *words], check=True, capture_output=True)
            seconds.append(time.perf_counter() - begin)
        result[name] = {"what": what, "seconds": statistics.median(seconds[1:]), "slowest": max(seconds[1:])}
    return result


def as_they_come(bench, instance, peers, seeds=range(5)):
    """Each tool told nothing but k: how far from the truth is what it calls a success?"""
    rows = []
    for peer in peers:
        if not peer.noisy:  # direct methods have nothing to get wrong; two processes decide as one does
            continue
        ours = bars.is_ours(peer.name)
        setting = {"method": "auto", "accuracy": 1e-8} if ours else noise.default_setting(peer, bench.about)
        runs = []
        for seed in seeds:
            try:
                runs.append(bench.solve(peer, setting, seed=seed))
            except Failed as error:
                runs.append({"sine": 1.0, "success": False, "status": str(error)})
        rows.append(
            {
                "instance": instance.name,
                "title": instance.title,
                "peer": peer.name,
                "setting": setting,
                "sines": [run["sine"] for run in runs],
                "said_success": sum(run["success"] for run in runs),
                "wrong_success": sum(run["success"] and run["sine"] > 1e-2 for run in runs),
                "runs": len(runs),
            }
        )
    return rows


def check_seeds(bench, instance, count, accuracy):
    """Whether hearsay's answer is right for every start."""
    peer = next(peer for peer in PEERS if peer.name == "hearsay")
    sines, wrong = [], []
    for seed in range(count):
        try:
            run = bench.solve(peer, {"method": "auto", "accuracy": accuracy}, seed=seed)
            sines.append(run["sine"])
            if not run["sine"] <= accuracy or not run["success"]:
                wrong.append({"seed": seed, "sine": run["sine"], "status": run["status"]})
        except Failed as error:
            wrong.append({"seed": seed, "sine": 1.0, "status": str(error)})
    worst = max(sines, default=1.0)
    say(f"{instance.name} at {accuracy:.0e}: {count - len(wrong)} of {count} seeds right, worst {worst:.1e}")
    return {
        "instance": instance.name,
        "title": instance.title,
        "accuracy": accuracy,
        "seeds": count,
        "right": count - len(wrong),
        "worst_sine": worst,
        "wrong": wrong,
    }


def machine(tools, threads):
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "?")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    for name in ("scipy", "scikit-learn", "primme"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "-"
    packages = ["libspectra-dev", "python3-slepc4py-real3.18", "libopenblas0-pthread"]
    for package in packages:
        query = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True)
        versions[package] = query.stdout if query.returncode == 0 else "-"
    return {
        "processor": model,
        "cores": len(os.sched_getaffinity(0)),
        "threads": threads,
        "load": os.getloadavg()[0],
        "commit": commit,
        "versions": versions,
        "blas": tools["blas"],
    }


def wanted(given, instance):
    if instance.workload == "W5":  # for noise alone
        return False
    if given.only:
        return instance.workload in given.only or instance.name in given.only
    return instance.workload != "toy" and not (given.quick and instance.large)


def run(given):
    """Measures what was asked for, and writes what there is, however it ends."""
    tools = tools_for(given, given.threads)
    settings = Settings(given.cache)
    results = {
        "benchmark": "peers",
        "machine": machine(tools, given.threads),
        "accuracies": given.accuracies,
        "rows": [],
        "noise": [],
        "as_they_come": [],
        "start_up": {},
        "seeds": [],
        "left_out": [],
    }
    begin = time.perf_counter()
    try:
        for instance in INSTANCES:
            noisy = [case for case in noise.CASES if case.instance == instance.name]
            if given.quick:
                noisy = noisy[:1] if not instance.large else []
            asked = not given.only or {"W5", f"W5/{instance.name}"} & set(given.only)
            ask_noise = noisy and not given.seeds and asked
            ask_times = wanted(given, instance)
            if not (ask_times or ask_noise):
                continue
            try:
                folder = prepare(instance, given.cache, tools, say)
                with Bench(folder, tools, given.limit) as bench:
                    peers = peers_for(bench.about, given.names)
                    if given.seeds:
                        count = min(given.seeds, given.seeds_large) if instance.large else given.seeds
                        results["seeds"] += [check_seeds(bench, instance, count, a) for a in given.accuracies]
                        continue
                    if ask_times:
                        measure(bench, instance, peers, given, settings, results["rows"])
                        if instance.workload == "W1":
                            results["as_they_come"] += as_they_come(bench, instance, peers)
                    if ask_noise:
                        remembered = settings.known.setdefault("noise", {})
                        for case in noisy:
                            seeds = range(1, 4 if instance.large else 6)
                            results["noise"] += noise.measure(case, bench, peers, remembered, seeds, say, given.retune)
                            settings.save()
            except MissingData as error:
                results["left_out"].append({"instance": instance.name, "why": str(error)})
            except Exception as error:  # whatever it was, the other instances are still worth measuring
                results["left_out"].append({"instance": instance.name, "why": f"{type(error).__name__}: {error}"})
            write(given, results, begin)
        if not given.seeds and (not given.only or "start-up" in given.only) and tools["hearsay"].is_file():
            results["start_up"] = start_up(tools)
    except KeyboardInterrupt:
        results["left_out"].append({"instance": "the rest", "why": "interrupted"})
    write(given, results, begin)
    return results


def write(given, results, begin):
    results["seconds_in_all"] = time.perf_counter() - begin
    results["bars"] = bars.check(results["rows"], results["noise"], results["start_up"], results["seeds"])
    report.write(results, given.out or given.cache)


def main(argv=None):
    given = arguments(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    out = given.out or given.cache
    if given.exam:
        exam.run(given, tools_for(given, given.threads), say)
        print((out / "exam.md").read_text())
        return
    results = run(given)
    print((out / "report.md").read_text())
    say(f"{out}/report.json, report.md and report.png, in {results['seconds_in_all'] / 60:.1f} minutes")


if __name__ == "__main__":
    main()
