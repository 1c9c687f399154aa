#!/usr/bin/python3 -B
"""Agents as processes over TLS, each in a network namespace of its own, and what networks and machines do to them.

    chaos.py PROGRAM [SCENARIOS [SEED]] [--jobs N] [--only KIND,...] [--table FILE]

Every scenario is drawn from its seed: what befalls whom, when and for how long. Judged is what each agent ends with:

  - it ends before the deadline;
  - exit code 0: `converged`, confirmed, and within 1e-8 of the pooled answer of the contributors it names, by an
    eigensolver; no fewer of them than may go on; and no two results of one run;
  - exit code 4 or 5: a word that says why, and no output; 1: a disk that is full; a signal: one that was sent;
  - no file but those that are whole.

Needs root, iproute2 and iptables; where they are missing it says so and ends with 77. Latency is a relay's, for not every
kernel has netem; so is the order of packets, which another relay hands from wire to wire.
"""

import argparse
import array
import asyncio
import collections
import concurrent.futures
import contextlib
import fcntl
import heapq
import itertools
import json
import os
import pathlib
import random
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

NAMES = "abcd"
RANK, FEATURES = 3, 12
DEADLINE = 120  # seconds, for a scenario: far above all patience together
ROUND, LINK, START = 4, 1, 30  # the agents' own patience


def run(*command, check=True):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if check and result.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {result.stderr.strip()}")
    return result


def tables_of(seed):
    """Rows whose gap at 3 takes some hundred rounds."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((FEATURES, FEATURES)))[0]
    scales = [5, 4, 3, *[2.5] * (FEATURES - 3)]
    return [rng.standard_normal((60 + 20 * i, FEATURES)) * scales @ turn + i for i in range(len(NAMES))]


def sine(basis, tables, contributors):
    rows = np.vstack([tables[i] for i in contributors])
    truth = np.linalg.eigh(np.cov(rows.T))[1][:, ::-1][:, :RANK]
    return np.linalg.norm(basis - truth @ (truth.T @ basis), 2)


# ---- The network ----------------------------------------------------------------------------------------------------


class Network:
    """A hub, and a site for each agent, joined to it by a pair of veths."""

    def __init__(self, number):
        self.tag = f"hc{os.getpid()}-{number}"
        self.base = f"10.{120 + number % 100}.{os.getpid() % 200}"
        self.hub = f"{self.tag}-hub"
        run("ip", "netns", "add", self.hub)
        run("ip", "-n", self.hub, "link", "add", "bridge", "type", "bridge")
        run("ip", "-n", self.hub, "addr", "add", f"{self.base}.254/24", "dev", "bridge")
        for device in ("bridge", "lo"):
            run("ip", "-n", self.hub, "link", "set", device, "up")
        for i in range(len(NAMES)):
            self.add_site(i)

    def add_site(self, i):
        space, wire = self.space(i), f"v{i}"
        run("ip", "netns", "add", space)
        run("ip", "-n", self.hub, "link", "add", wire, "type", "veth", "peer", "name", "up0", "netns", space)
        run("ip", "-n", self.hub, "link", "set", wire, "master", "bridge", "up")
        run("ip", "-n", space, "addr", "add", f"{self.address(i)}/24", "dev", "up0")
        for device in ("up0", "lo"):
            run("ip", "-n", space, "link", "set", device, "up")

    def space(self, i):
        return f"{self.tag}-{NAMES[i]}"

    def address(self, i):
        return f"{self.base}.{i + 1}"

    def within(self, i, *command):
        return run("ip", "netns", "exec", self.space(i), *command)

    def drop(self, sender, receiver):
        self.within(receiver, "iptables", "-A", "INPUT", "-s", self.address(sender), "-j", "DROP")

    def lose(self, i, probability):
        self.within(i, "iptables", "-A", "INPUT", "-i", "up0", "-m", "statistic", "--mode", "random", "--probability",
                    probability, "-j", "DROP")

    def narrow(self, i, kilobits):
        self.within(i, "tc", "qdisc", "add", "dev", "up0", "root", "tbf", "rate", f"{kilobits}kbit", "burst", "8kb",
                    "latency", "400ms")

    def without_bridge(self):
        """The wires' ends in the hub, for a relay of packets."""
        for i in range(len(NAMES)):
            run("ip", "-n", self.hub, "link", "set", f"v{i}", "nomaster")
            run("ip", "netns", "exec", self.space(i), sys.executable, "-B", __file__, "--plain", "up0")
        return [f"v{i}" for i in range(len(NAMES))]

    def heal(self):
        for i in range(len(NAMES)):
            run("ip", "-n", self.hub, "link", "set", f"v{i}", "master", "bridge", check=False)
        for i in range(len(NAMES)):
            self.within(i, "iptables", "-F")
            run("ip", "netns", "exec", self.space(i), "tc", "qdisc", "del", "dev", "up0", "root", check=False)

    def close(self):
        for space in [self.hub, *map(self.space, range(len(NAMES)))]:
            run("ip", "netns", "del", space, check=False)


def plain_wire(device):
    """Packets of one frame each, with their checksums: what a relay hands on must be whole."""
    for command in (0x17, 0x1F, 0x24, 0x2C):  # sending: checksums, segments of TCP and of anything; receiving: joining segments
        value = array.array("B", struct.pack("II", command, 0))
        request = struct.pack("16sP", device.encode(), value.buffer_info()[0])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            fcntl.ioctl(control, 0x8946, request)  # SIOCETHTOOL


def relay_packets(devices, latency, jitter, seed):
    """In place of the bridge: each packet after the latency and at most so much more, whatever overtakes what."""
    chance, wires, home, due, count = random.Random(seed), [], {}, [], itertools.count()
    for device in devices:
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        wire.bind((device, 0))
        wires.append(wire)
    print("ready", flush=True)
    while True:
        wait = max(0, due[0][0] - time.monotonic()) if due else None
        for wire in select.select(wires, [], [], wait)[0]:
            frame, where = wire.recvfrom(65536)
            if where[2] == socket.PACKET_OUTGOING:
                continue
            home[frame[6:12]] = wire
            heapq.heappush(due, (time.monotonic() + latency + chance.random() * jitter, next(count), frame, wire))
        while due and due[0][0] <= time.monotonic():
            _, _, frame, came_by = heapq.heappop(due)
            known = home.get(frame[:6])
            for wire in [known] if known else [wire for wire in wires if wire is not came_by]:
                with contextlib.suppress(OSError):  # a wire that is down, or a queue that is full: lost
                    wire.send(frame)


async def relay_all(routes, latency, jitter, seed):
    """Hands on what comes, each piece after the latency and at most so much more; later pieces never overtake."""
    chance = random.Random(seed)

    async def pump(reader, writer):
        queue, last = asyncio.Queue(), 0.0

        async def deliver():
            while True:
                due, data = await queue.get()
                await asyncio.sleep(max(0, due - time.monotonic()))
                if not data:
                    break
                writer.write(data)
                await writer.drain()
            writer.close()

        task = asyncio.create_task(deliver())
        try:
            while data := await reader.read(65536):
                last = max(last, time.monotonic() + latency + chance.random() * jitter)
                queue.put_nowait((last, data))
        except ConnectionError:
            pass
        queue.put_nowait((last, b""))
        await asyncio.gather(task, return_exceptions=True)

    def serve(target):
        async def connected(reader, writer):
            try:
                far_reader, far_writer = await asyncio.open_connection(*target)
            except OSError:
                writer.close()
                return
            await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer), return_exceptions=True)

        return connected

    servers = [await asyncio.start_server(serve(target), host, port) for (host, port), target in routes]
    print("ready", flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


# ---- A scenario -----------------------------------------------------------------------------------------------------

KINDS = {  # how many of a hundred
    "nothing": 4, "kill one": 16, "kill two": 8, "kill and start again": 6, "freeze": 10, "cut": 10, "cut and heal": 8,
    "one way": 8, "partition": 8, "loss": 8, "narrow": 4, "delay": 6, "interrupt": 2, "full disk": 2,
    "heavy loss": 3, "other order": 4, "clock": 3, "kill and wait": 10, "kill all and resume": 4,
}
SLOW = ("loss", "heavy loss", "narrow", "delay", "other order")
KEEPS = ("kill and wait", "kill all and resume")  # with states of their own on disk


class Agent:
    def __init__(self, program, network, folder, i, name, arguments, environment=None):
        self.i, self.name, self.folder = i, name, folder
        self.log = folder / f"{name}.log"
        self.killed = False
        with open(self.log, "w") as log, open(folder / f"{name}.out", "w") as out:
            self.process = subprocess.Popen(["ip", "netns", "exec", network.space(i), str(program), "agent", "run", *arguments],
                                            cwd=folder, stdout=out, stderr=log, stdin=subprocess.DEVNULL, env=environment)

    def has_begun(self):
        return "the run has begun" in self.log.read_text(errors="replace")

    def send(self, number):
        self.killed = self.killed or number == signal.SIGKILL
        if self.process.poll() is None:
            self.process.send_signal(number)


class Scenario:
    def __init__(self, seed, kind, keys, program, network):
        self.chance = random.Random(seed)
        self.seed, self.kind, self.keys, self.program, self.network = seed, kind, keys, program, network
        self.topology = self.chance.choice(["ring", "complete", "complete"])
        self.excludes = self.chance.random() < 0.8 and kind not in KEEPS
        self.waits = kind == "kill and wait"
        self.clocks = {}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hearsay-chaos-"))
        self.tables = tables_of(seed)
        self.agents, self.relay, self.told, self.wrong = [], None, [], []
        self.again = []

    def tell(self, text):
        self.told.append(text)

    def prepare(self):
        for name in NAMES:
            for end in ("key", "pem"):
                shutil.copy2(self.keys / f"{name}.{end}", self.folder)
        shutil.copy2(self.keys / "authority.pem", self.folder)
        slow = self.kind in SLOW
        self.round = 20 if self.kind == "heavy loss" else 10 if slow else ROUND
        link = 15 if self.kind == "heavy loss" else LINK
        through = f"{self.network.base}.254" if self.kind == "delay" else None
        roster = []
        for i, name in enumerate(NAMES):
            roster += ["--agent", f"{name}@{through}:{7400 + i}" if through else f"{name}@{self.network.address(i)}:7400"]
        run(self.program, "federation", "new", self.folder / "f.json", "--name", "chaos", "-k", RANK, "--topology", self.topology,
            *roster, "--start", START, "--round", self.round, "--link", link, "--seed", self.seed % 1000, "--checkpoint-every", 5,
            *([] if slow else ["--rounds", "60"]),
            *(["--on-crash", "exclude"] if self.excludes else ["--on-crash", "wait:30"] if self.waits else []))
        for name, table in zip(NAMES, self.tables):
            np.save(self.folder / f"{name}-rows.npy", table)
        if through:
            latency, jitter = self.chance.uniform(0.001, 0.03), self.chance.uniform(0, 0.03)
            routes = [((through, 7400 + i), (self.network.address(i), 7400)) for i in range(len(NAMES))]
            self.relay = subprocess.Popen(["ip", "netns", "exec", self.network.hub, sys.executable, "-B", __file__, "--relay",
                                           json.dumps([routes, latency, jitter, self.seed])], stdout=subprocess.PIPE, text=True)
            self.relay.stdout.readline()
            self.tell(f"latency {latency * 1000:.0f} ms, jitter {jitter * 1000:.0f} ms")

        if self.kind == "other order":
            wires = self.network.without_bridge()
            latency, jitter = self.chance.uniform(0.0005, 0.005), self.chance.uniform(0.001, 0.01)
            self.relay = subprocess.Popen(["ip", "netns", "exec", self.network.hub, sys.executable, "-B", __file__, "--packets",
                                           json.dumps([wires, latency, jitter, self.seed])], stdout=subprocess.PIPE, text=True)
            self.relay.stdout.readline()
            self.tell(f"packets after {latency * 1000:.1f} to {(latency + jitter) * 1000:.1f} ms")
        if self.kind == "clock":
            for i in self.some(self.chance.choice([1, 1, 2])):
                self.clocks[i] = self.chance.choice([-3600, 3600])
                self.tell(f"{NAMES[i]}'s clock is {self.clocks[i]} s ahead")

    def start(self, i, again=""):
        name = NAMES[i]
        full = self.kind == "full disk" and i == 0
        out = f"full/{name}" if full else name + again
        keeps = ["--checkpoint", f"full/{name}.states" if full else f"{name}.states", "--resume"] if full or self.kind in KEEPS else []
        shifted = {**os.environ, "LD_PRELOAD": str(self.clock), "HEARSAY_CLOCK_AHEAD": str(self.clocks[i])} if i in self.clocks else None
        return Agent(self.program, self.network, self.folder, i, name + again,
                     ["f.json", "--agent", name, "--data", f"{name}-rows.npy", "--threads", "1", "--listen", f"{self.network.address(i)}:7400",
                      "--json", f"{out}.json", "--components", f"{out}.npy", *keeps], shifted)

    def play(self):
        """What befalls whom. Before the agents start, or when they have begun."""
        if self.kind in ("loss", "heavy loss"):
            least, most = (0.15, 0.3) if self.kind == "heavy loss" else (0.005, 0.15)
            for i in range(len(NAMES)):
                self.network.lose(i, probability := round(self.chance.uniform(least, most), 3))
                self.tell(f"loss {probability} at {NAMES[i]}")
        if self.kind == "narrow":
            for i in range(len(NAMES)):
                self.network.narrow(i, rate := self.chance.randint(500, 20000))
                self.tell(f"{NAMES[i]}: {rate} kbit/s")
        if self.kind == "full disk":
            (self.folder / "full").mkdir()
            run("mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", self.folder / "full")
        self.agents = [self.start(i) for i in range(len(NAMES))]
        if self.kind in ("nothing", "full disk", "clock", *SLOW):
            return
        until = time.monotonic() + START
        while time.monotonic() < until and not any(agent.has_begun() or agent.process.poll() is not None for agent in self.agents):
            time.sleep(0.01)
        time.sleep(after := self.chance.choice([0, self.chance.uniform(0, 0.3), self.chance.uniform(0, 2)]))
        self.tell(f"after {after:.2f} s")
        getattr(self, self.kind.replace(" ", "_"))()

    def some(self, count):
        chosen = self.chance.sample(range(len(NAMES)), count)
        self.tell(", ".join(NAMES[i] for i in chosen))
        return chosen

    def kill_one(self):
        for i in self.some(1):
            self.agents[i].send(signal.SIGKILL)

    def kill_two(self):
        first, second = self.some(2)
        self.agents[first].send(signal.SIGKILL)
        time.sleep(self.chance.choice([0, self.chance.uniform(0, 3)]))
        self.agents[second].send(signal.SIGKILL)

    def kill_and_start_again(self):
        (i,) = self.some(1)
        self.agents[i].send(signal.SIGKILL)
        time.sleep(self.chance.uniform(0, 3))
        self.again.append(self.start(i, "-again"))

    def kill_and_wait(self):
        for i in self.some(self.chance.choice([1, 1, 2])):
            self.agents[i].send(signal.SIGKILL)
            time.sleep(self.chance.choice([0, self.chance.uniform(0, 3)]))
            self.again.append(self.start(i, "-again"))

    def kill_all_and_resume(self):
        for i in self.some(len(NAMES)):
            self.agents[i].send(signal.SIGKILL)
            time.sleep(self.chance.choice([0, 0, self.chance.uniform(0, 0.2)]))
        for agent in self.agents:
            agent.process.wait()
        self.again = [self.start(i, "-again") for i in range(len(NAMES))]

    def freeze(self):
        (i,) = self.some(1)
        self.agents[i].send(signal.SIGSTOP)
        time.sleep(seconds := self.chance.choice([1, 3, 20]))
        self.tell(f"for {seconds} s")
        self.agents[i].send(signal.SIGCONT)

    def cut(self):
        a, b = self.some(2)
        self.network.drop(a, b)
        self.network.drop(b, a)

    def cut_and_heal(self):
        self.cut()
        time.sleep(seconds := self.chance.uniform(0.2, 8))
        self.tell(f"for {seconds:.1f} s")
        self.network.heal()

    def one_way(self):
        self.network.drop(*self.some(2))

    def partition(self):
        group = self.some(self.chance.choice([1, 1, 2]))
        for a in group:
            for b in set(range(len(NAMES))) - set(group):
                self.network.drop(a, b)
                self.network.drop(b, a)

    def interrupt(self):
        for i in self.some(1):
            self.agents[i].send(signal.SIGINT)

    # -- Judging

    def await_all(self):
        until = time.monotonic() + DEADLINE
        for agent in [*self.agents, *self.again]:
            try:
                agent.process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.wrong.append(f"{agent.name} hangs: {agent.log.read_text(errors='replace')[-300:]}")
                agent.process.kill()
                agent.process.wait()

    def judge(self):
        digests, codes = set(), []
        for agent in self.agents:
            codes.append(self.judge_one(agent, digests))
        for agent in self.again:
            codes.append(self.judge_one(agent, digests))
        if self.kind in KEEPS:
            self.judge_resumed(digests)
        if len(digests) > 1:
            self.wrong.append(f"two results of one run: {digests}")
        expected = {f"{name}.{end}" for name in NAMES for end in ("key", "pem")}
        expected |= {f"{agent.name}.{end}" for agent in [*self.agents, *self.again] for end in ("log", "out", "json", "npy")}
        expected |= {f"{name}-rows.npy" for name in NAMES} | {f"{name}.states" for name in NAMES if self.kind in KEEPS} | {"authority.pem", "f.json", "full"}
        if strays := {path.name for path in self.folder.iterdir()} - expected:
            self.wrong.append(f"files that are not whole: {sorted(strays)}")
        return codes

    def judge_resumed(self, digests):
        """Whoever was not killed, and whoever came back, has the bits of one process in which nothing happened."""
        for agent in [*(agent for agent in self.agents if not agent.killed), *self.again]:
            if agent.process.returncode != 0:  # true where it came back after the others had ended
                self.tell(f"{agent.name} has no result")
        shards = [f"{name}-rows.npy" for name in NAMES]
        alone = json.loads(run(self.program, "decentralized", *[self.folder / shard for shard in shards], "-k", RANK, "--topology", self.topology,
                               "--rounds", "60", "--seed", self.seed % 1000, "--json", "-", "--threads", "1").stdout)
        copied = any(len(json.loads((self.folder / f"{agent.name}.json").read_text())["epochs"]) > 1
                     for agent in [*self.agents, *self.again] if (self.folder / f"{agent.name}.json").exists())
        if digests and not copied and digests != {alone["digest"]}:
            self.wrong.append(f"the result {digests} is not that of one process, {alone['digest']}")
        if copied:
            self.tell("went on from an agent's answer")

    def judge_one(self, agent, digests):
        name, code = agent.name, agent.process.returncode
        log = agent.log.read_text(errors="replace")
        files = [self.folder / f"{name}.json", self.folder / f"{name}.npy"]

        def must(holds, what):
            if not holds:
                self.wrong.append(f"{name} ended with {code}: {what}; it said: {log[-300:]}")

        if code in (0, 3):
            must(all(path.exists() for path in files), "its files are missing")
            result = json.loads(files[0].read_text())
            digests.add(result["digest"])
            contributors = result["contributors"]
            must(len(contributors) >= (3 if self.excludes else 4), f"{contributors} are too few")
            must((result["status"] == "converged") == (code == 0), f"status {result['status']}")
            must(code == 0 or self.kind == "interrupt", "not converged")
            must(not self.excludes or result["federation"]["confirmed"], "not confirmed")
            if code == 0:
                must(sine(np.load(files[1]), self.tables, contributors) <= 1e-8, "a wrong answer")
        elif code in (4, 5):
            must(not any(path.exists() for path in files), "it failed, and wrote")
            must("agent" in log.splitlines()[-1] if log.strip() else False, "no word")
        elif code == 2:
            must(self.kind == "clock" and agent.i in self.clocks and "valid" in log, "nothing was wrong with what it was told")
        elif code == 1:
            must(self.kind == "full disk" and agent.i == 0, "a failure of its own")
        else:
            must(agent.killed or (code in (-2, 130) and self.kind == "interrupt"), "an end that nobody asked for")
        return code

    def clean(self):
        for agent in [*self.agents, *self.again]:
            if agent.process.poll() is None:
                agent.process.kill()
                agent.process.wait()
        if self.relay:
            self.relay.kill()
            self.relay.wait()
        self.network.heal()
        run("umount", self.folder / "full", check=False)
        if not self.wrong:
            shutil.rmtree(self.folder, ignore_errors=True)

    clock = None  # a library that is loaded before an agent, and shifts its clock

    def go(self):
        began = time.monotonic()
        codes = []
        try:
            self.prepare()
            self.play()
            self.await_all()
            codes = self.judge()
        except Exception as problem:  # of the harness: counts as a failure too
            self.wrong.append(f"harness: {problem!r}")
        finally:
            self.clean()
        return {"seed": self.seed, "kind": self.kind, "mode": "exclude" if self.excludes else "wait" if self.waits else "abort", "topology": self.topology, "told": "; ".join(self.told),
                "codes": codes, "wrong": self.wrong, "folder": str(self.folder), "seconds": time.monotonic() - began}


# ---- The campaign ---------------------------------------------------------------------------------------------------


def make_keys(program, folder):
    roster = [word for name in NAMES for word in ("--agent", f"{name}@127.0.0.1:{7400 + NAMES.index(name)}")]
    run(program, "federation", "new", folder / "f.json", "--name", "keys", "-k", "1", *roster)
    for name in NAMES:
        subprocess.run([program, "agent", "key", "f.json", "--agent", name], cwd=folder, check=True, capture_output=True)
    subprocess.run([program, "federation", "sign", "f.json", *[f"{name}.csr" for name in NAMES]], cwd=folder, check=True,
                   capture_output=True)


def kinds_for(count, seed, only):
    """In the shares of the table, in an order that the seed draws."""
    chosen = {kind: share for kind, share in KINDS.items() if not only or kind in only}
    chance = random.Random(seed)
    return chance.choices(list(chosen), list(chosen.values()), k=count) if count > len(chosen) else chance.sample(list(chosen), count)


def missing():
    if os.geteuid() != 0:
        return "network namespaces need root"
    for tool in ("ip", "tc", "iptables"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed (iproute2, iptables)"
    space = f"hc{os.getpid()}-try"
    if run("ip", "netns", "add", space, check=False).returncode != 0:
        return "this kernel lets nobody make network namespaces"
    works = run("ip", "netns", "exec", space, "iptables", "-A", "INPUT", "-m", "statistic", "--mode", "random", "--probability", "0.5",
                "-j", "DROP", check=False)
    run("ip", "netns", "del", space, check=False)
    return f"iptables does not work here: {works.stderr.strip()}" if works.returncode != 0 else ""


def table_of(reports):
    rows = ["| what happens | on-crash | scenarios | every agent has the result | those that are left have it | nobody has a result | wrong |",
            "|---|---|---|---|---|---|---|"]
    for kind, mode in itertools.product(KINDS, ("exclude", "abort", "wait")):
        those = [report for report in reports if (report["kind"], report["mode"]) == (kind, mode)]
        if not those:
            continue
        column = collections.Counter()
        for report in those:
            codes = [code for code in report["codes"] if code >= 0 or kind not in KEEPS]  # who came back counts there
            good = sum(code in (0, 3, 1) for code in codes)
            column["all" if good == len(codes) else "some" if good else "none"] += 1
        rows.append(f"| {kind} | {mode} | {len(those)} | {column['all']} | {column['some']} | {column['none']} | "
                    f"{sum(bool(report['wrong']) for report in those)} |")
    rows.append(f"| all | | {len(reports)} | | | | {sum(bool(report['wrong']) for report in reports)} |")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path, nargs="?")
    parser.add_argument("scenarios", type=int, nargs="?", default=500)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--clock", type=pathlib.Path, help="the library that shifts a process's clock [beside the tests]")
    parser.add_argument("--relay", help=argparse.SUPPRESS)
    parser.add_argument("--packets", help=argparse.SUPPRESS)
    parser.add_argument("--plain", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.relay:
        return asyncio.run(relay_all(*json.loads(options.relay)))
    if options.packets:
        return relay_packets(*json.loads(options.packets))
    if options.plain:
        return plain_wire(options.plain)
    program = options.program.resolve()
    Scenario.clock = (options.clock or program.parent.parent / "tests/chaos/libhearsay_clock.so").resolve()
    if not Scenario.clock.exists():
        print(f"chaos: without the kind 'clock': {Scenario.clock} was not built")
        del KINDS["clock"]
    if why := missing() or ("" if program.with_name("hearsay-agent").exists() else "hearsay-agent was not built: it needs libgrpc++-dev"):
        print(f"chaos: {why}")
        return 77
    kinds = kinds_for(options.scenarios, options.seed, set(filter(None, options.only.split(","))))
    keys = pathlib.Path(tempfile.mkdtemp(prefix="hearsay-chaos-keys-"))
    make_keys(program, keys)
    networks, reports, lock = [Network(number) for number in range(options.jobs)], [], threading.Lock()

    def one(number):
        with lock:
            network = networks.pop()
        try:
            report = Scenario(1000 * options.seed + number, kinds[number], keys, program, network).go()
        finally:
            with lock:
                networks.append(network)
        with lock:
            reports.append(report)
            print(f"{len(reports):4} {report['kind']:<20} {report['topology']:<8} {report['mode']:<7} "
                  f"codes {report['codes']} {report['seconds']:.1f} s; seed {report['seed']}: {report['told']}", flush=True)
            for wrong in report["wrong"]:
                print(f"     WRONG {wrong} ({report['folder']})", flush=True)

    try:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(one, range(options.scenarios)))
    finally:
        for network in networks:
            network.close()
        shutil.rmtree(keys)
    print("\n" + table_of(reports))
    if options.table:
        options.table.write_text(table_of(reports))
    return 1 if any(report["wrong"] for report in reports) else 0


if __name__ == "__main__":
    sys.exit(main())
