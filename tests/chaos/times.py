#!/usr/bin/python3 -B
"""How long a run takes between network namespaces with latency and little bandwidth, beside rounds x latency + bytes / bandwidth.

    times.py PROGRAM [--latency MS] [--bandwidth MBIT] [--rounds N]

Packets go through a relay that holds each of them for the latency, in order; what a site sends goes through a token bucket (tc tbf).
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import chaos


def measure(program, network, keys, folder, topology, features, rank, iterations, options):
    for path in keys.iterdir():
        if path.suffix in (".pem", ".key"):
            shutil.copy2(path, folder)
    roster = [word for i, name in enumerate(chaos.NAMES) for word in ("--agent", f"{name}@{network.address(i)}:7400")]
    chaos.run(program, "federation", "new", folder / "f.json", "--name", "far", "-k", rank, "--topology", topology, *roster, "--rounds", options.rounds,
              "--tolerance", 0, "--max-iterations", iterations, "--oversample", 1, "--features", features)
    plan = json.loads(chaos.run(program, "federation", "plan", folder / "f.json", "--latency", options.latency, "--bandwidth", options.bandwidth,
                                "--json", "-").stdout)
    rng = np.random.default_rng(features)
    for name in chaos.NAMES:
        np.save(folder / f"{name}.npy", rng.standard_normal((200, features)) * np.linspace(3, 1, features))
    agents = [subprocess.Popen(["ip", "netns", "exec", network.space(i), program, "agent", "run", "f.json", "--agent", name, "--data", f"{name}.npy",
                                "--threads", "1", "--json", f"{name}.json", "--quiet"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
              for i, name in enumerate(chaos.NAMES)]
    for agent in agents:
        _, said = agent.communicate(timeout=200)
        assert agent.returncode == 0, said
    results = [json.loads((folder / f"{name}.json").read_text()) for name in chaos.NAMES]
    sent = max(sum(link["bytes_sent"] for link in result["federation"]["links"]) for result in results)
    blocks = results[0]["bytes"] / len(chaos.NAMES)
    return plan, max(result["seconds"] for result in results), results[0]["rounds"], blocks, sent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--latency", type=float, default=50)
    parser.add_argument("--bandwidth", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=8)
    options = parser.parse_args()
    if why := chaos.missing():
        print(f"times: {why}")
        return 77
    program = options.program.resolve()
    keys = pathlib.Path(tempfile.mkdtemp(prefix="hearsay-times-"))
    chaos.make_keys(program, keys)
    network = chaos.Network(0)
    wires = network.without_bridge()
    relay = subprocess.Popen(["ip", "netns", "exec", network.hub, sys.executable, "-B", chaos.__file__, "--packets",
                              json.dumps([wires, options.latency / 1000, 0, 1])], stdout=subprocess.PIPE, text=True)
    relay.stdout.readline()
    for i in range(len(chaos.NAMES)):
        network.within(i, "tc", "qdisc", "add", "dev", "up0", "root", "tbf", "rate", f"{options.bandwidth}mbit", "burst", "32kb", "latency", "400ms")
    print("| topology | d | k | rounds | MB a site | rounds x latency + bytes / bandwidth, s | measured, s | ratio |\n|---|---|---|---|---|---|---|---|")
    try:
        for topology, features, rank, iterations in [("ring", 64, 8, 10), ("ring", 64, 8, 40), ("complete", 64, 8, 40), ("ring", 500, 8, 10), ("complete", 500, 8, 10),
                                                     ("ring", 2000, 8, 10)]:
            folder = pathlib.Path(tempfile.mkdtemp(prefix="hearsay-times-"))
            plan, seconds, rounds, blocks, sent = measure(program, network, keys, folder, topology, features, rank, iterations, options)
            ideal = rounds * options.latency / 1000 + blocks * 8 / (options.bandwidth * 1e6)
            print(f"| {topology} | {features} | {rank} | {rounds} | {sent / 1e6:.2f} | {ideal:.2f} | {seconds:.2f} | {seconds / ideal:.2f} |", flush=True)
            shutil.rmtree(folder)
    finally:
        relay.kill()
        network.close()
        shutil.rmtree(keys)
    return 0


if __name__ == "__main__":
    sys.exit(main())
