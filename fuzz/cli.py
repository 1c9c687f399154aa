#!/usr/bin/env python3
"""Mutates valid command lines and the files they read, and holds every run to the contract of the command line.

    fuzz/cli.py BINARY [--cases N] [--seed S] [--only I] [--sanitized]

Case I of seed S is the same every time, on any machine, but for keys and certificates, which are made anew. A run may
succeed, refuse or stop early; it may not
  end by a signal, or with an exit code that the contract does not know,
  print a sanitizer's report, or an exception in its raw form,
  go on for longer than the patience below and not end when asked to (SIGINT),
  change a file that it was to read,
  leave a file behind that nobody named.
"""

import argparse
import collections
import gzip
import hashlib
import json
import math
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests" / "cli"))
import ledgers

PATIENCE_SECONDS = 10  # a run that takes longer is asked to end
GRACE_SECONDS = 20  # and must, within this
MEMORY_BYTES = 4 << 30  # of address space; not under a sanitizer, which needs terabytes of it

OUTPUTS = ["--components", "--scores", "--left", "--right", "--embedding", "--labels", "--json", "--report", "--trace", "--checkpoint",
           "--out"]
FAMILIES = ["federation", "agent", "ledger"]  # whose commands have options of their own


def npy(rows, kind="<f8"):
    """A .npy file of these rows, as NumPy writes it."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    numbers = [value for row in rows for value in row]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(numbers)}d", *numbers)


def seed_files():
    """Small files of every kind that a command reads; the same every time."""
    draw = random.Random(1)
    rows = [[round(draw.gauss(0, 3 - column / 3), 3) for column in range(6)] for _ in range(24)]
    table = "\n".join(",".join(map(str, row)) for row in rows) + "\n"
    named = "a,b,c,d,e,kind\n" + "\n".join(",".join(map(str, row[:5])) + f",{'xyz'[i % 3]}" for i, row in enumerate(rows)) + "\n"
    symmetric = [[sum(row[i] * row[j] for row in rows) / 24 for j in range(6)] for i in range(6)]
    lower = [(i + 1, j + 1, symmetric[i][j]) for i in range(6) for j in range(i + 1)]
    market = "%%MatrixMarket matrix coordinate real symmetric\n6 6 21\n" + "".join(f"{i} {j} {v!r}\n" for i, j, v in lower)
    edges = "# a graph\n" + "".join(f"{i} {j}\n" for i in range(12) for j in range(i + 1, 12) if (i < 6) == (j < 6) or (i + j) % 11 == 0)
    eye = [[1.0 if i == j else 0.0 for j in range(2)] for i in range(6)]
    result = {"command": "pca", "k": 2, "dimension": 6, "samples": 24, "centered": True, "mean": [0.1] * 6, "exponent": 0,
              "eigenvalues": [3.0, 2.0], "total_variance": 9.0, "standardized": True, "scale": [1.0, 2, 1, 1, 0.5, 1],
              "features": list("abcdef"), "provenance": {"outputs": [{"option": "components", "path": "basis.npy"}]}}
    federation = {"federation": "f", "agents": [{"name": "a", "address": "127.0.0.1:7400"}, {"name": "b"}], "topology": [[0, 1]],
                  "k": 2, "rounds": 3, "features": list("abcde"), "deadlines": {"start": 5}}
    experiment = {"name": "tiny", "title": "t", "panels": []}
    files = {
        "data.csv": table.encode(), "named.csv": named.encode(), "data.npy": npy(rows), "data.csv.gz": gzip.compress(table.encode(), mtime=0),
        "sym.npy": npy(symmetric), "sym.mtx": market.encode(), "sym.csv": "\n".join(",".join(map(repr, row)) for row in symmetric).encode(),
        "graph.txt": edges.encode(), "graph.txt.gz": gzip.compress(edges.encode(), mtime=0), "start.npy": npy(eye),
        "split.csv": "\n".join(str(i % 3) for i in range(24)).encode(), "ring.txt": b"0 1\n1 2\n2 0\n",
        "weights.csv": b"0.5,0.25,0.25\n0.25,0.5,0.25\n0.25,0.25,0.5\n",
        "holes.csv": "\n".join(",".join("NA" if (i + 5 * j) % 9 == 0 else str(v) for j, v in enumerate(row))
                               for i, row in enumerate(rows)).encode(),
        "holes.npy": npy([[math.nan if (i + 5 * j) % 9 == 0 else v for j, v in enumerate(row)] for i, row in enumerate(rows)]),
        "counts.csv": "\n".join(str(i % 3 + 0.5) for i in range(24)).encode(), "basis.npy": npy(eye),
        "mean.csv": b"1\n2\n0.5\n1\n3\n1e-3\n", "result.json": json.dumps(result).encode(),
        "federation.json": json.dumps(federation, indent=1).encode(),
        "ledger": "".join(ledgers.whole()).encode(), "faults.json": json.dumps({"patience": 2, "events": []}).encode(), "experiment.json": json.dumps(experiment).encode(),
        "shards/a.csv": "\n".join(",".join(map(str, row)) for row in rows[:8]).encode(),
        "shards/b.csv": "\n".join(",".join(map(str, row)) for row in rows[8:16]).encode(),
        "shards/c.csv": "\n".join(",".join(map(str, row)) for row in rows[16:]).encode(),
    }
    return files


COMMANDS = [line.split() for line in """
pca data.csv -k 2 --components out.npy --scores scores.csv --json out.json
pca named.csv -k 2 --label-column kind --json -
pca data.csv.gz -k 1 --method anpm --stream --block-rows 5 --tolerance 1e-6
pca data.npy -k 3 --precision single --no-center
pca data.npy -k 2 --method npm --checkpoint saved --checkpoint-every 2 --max-iterations 30
pca data.csv -k 1 --noise gaussian:1e-3 --noise-seed 3 --audit 0.1 --max-iterations 40
pca data.csv -k 2 --precision mixed --reference start.npy
pca holes.csv -k 2 --missing mean --standardize --row-weights counts.csv --scores scores.npy --whiten
pca holes.csv -k 2 --missing em --components out.npy --json out.json
pca holes.npy -k 0.9 --missing drop-rows --stream --block-rows 5 --weights-column last
pca data.csv -k mle --standardize
project data.csv --components-from basis.npy --mean-from mean.csv --scale-from mean.csv --scores out.csv
project holes.csv --components-from result.json --missing em --whiten --json out.json
project named.csv --components-from result.json --label-column kind --columns by-position --stream
eigs sym.npy -k 2 --components out.csv
eigs sym.mtx -k 1 --shift 3 --psd --json out.json
eigs sym.csv -k 2 --start start.npy --momentum 0.1 --max-iterations 50
eigs sym.npy -k 1 --momentum optimal --certify none
eigs sym.npy -k 2 --method anpm --checkpoint kept --resume --max-iterations 9 --tolerance 1e-300 --oversample 2
eigs sym.npy -k 2 --which SA --method anpm --tolerance 1e-6
eigs sym.mtx -k 3 --which BE --components out.npy --json out.json
eigs sym.csv -k 1 --which LM
svd data.csv -k 2 --left out.npy --right right.csv --json out.json
svd sym.mtx -k 1 --method anpm --tolerance 1e-6 --max-iterations 50
svd data.csv.gz -k 2 --precision single --json -
cluster graph.txt -k 2 --labels labels.csv --embedding out.npy
cluster graph.txt.gz -k 2 --clusters 3 --restarts 2 --largest-component --json -
decentralized data.csv -k 2 --agents 3 --split split.csv --topology ring --iterations 8 --trace trace.csv
decentralized shards -k 1 --topology ring.txt --weights weights.csv --json out.json
decentralized shards/a.csv shards/b.csv shards/c.csv -k 1 --components out-{agent}.npy --iterations 5
decentralized named.csv -k 1 --split by-label --label-column kind --topology complete --iterations 5
decentralized data.npy -k 1 --agents 4 --topology erdos:0.9 --faults faults.json --drop 0.1 --iterations 6
decentralized graph.txt -k 1 --split by-node --topology data --iterations 5
plan -k 2 --data data.csv --agents 5
plan -k 1 --matrix sym.npy --epsilon 0.1
plan -k 2 -d 100 --lambda-k 1 --lambda-next 0.5 --noise-level 1e-4 --gossip-gap 0.2
federation new new.json --name f -k 2 --agent a@127.0.0.1:7400 --agent b --identity b=URI:x --topology path --features 6
federation show federation.json
federation sign federation.json keys/a.csr --authority authority --days 7
federation plan federation.json --latency 5 --bandwidth 10 --iterations 60 --json out.json
agent key federation.json --agent b
agent check federation.json --agent a --keys keys --data named.csv --label-column kind --wait 0
experiment experiment.json --out figures --quick
datasets list
datasets path digits
ledger show ledger --json out.json
ledger verify ledger --seen 3b5d5c3712955042212316173ccf37be800000000000000000000000deadbeef
ledger verify ledger --json -
info
completion bash
reference
""".strip().splitlines()]

VALUES = ["", "0", "-1", "1", "2", "3", "7", "100", "9223372036854775807", "-9223372036854775808", "18446744073709551616",
          "1e308", "-1e308", "1e-308", "1e-320", "nan", "inf", "-inf", "0.5", "1e-3", "0x10", "1,2", "auto", "none", "last", "even",
          "contiguous", "by-label", "by-node", "ring", "star", "grid:2x2", "torus", "regular:2", "erdos:1", "data", "krylov", "single",
          "gaussian:1e-3", "sphere:1", "adversarial:0.1", "gaussian:nan", "0@1", "1@2", "0.1:3", "exact", "bfloat16", "16M", "1.5G", "-",
          "--", "-k", ".", "/", "..", "/dev/null", "missing.csv", "no/such/dir.npy", "shards", "x" * 5000, "\x1b[31mred", "x\"><script>",
          "\u00e9\u4e2d", "%s%n", "{agent}", "{agent}.csv", "*", "mle", "0.95", "mean", "em", "drop-rows", "by-position", "LA",
          "BE", "a@h:1", "a@[::1]:0", "b=DNS:x", "keys", "grid:1x2"]

TOKENS = [b"nan", b"inf", b"1e999", b"-1e308", b"1e-320", b"9223372036854775808", b"-1", b"\x00", b"\xff\xfe", b"\"", b",,", b"\n\n", b"#",
          b"%", b"\r", b"{", b"]", b"null", b"1e155", b"\x1f\x8b", b"\x93NUMPY", b"0 0\n", b"a,b\n", b"99999999999", b"(1, 1)", b"<f2"]


def mutated_bytes(draw, content):
    """One to four small changes."""
    content = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(content) + 1)
        kind = draw.randrange(7)
        if kind == 0 and content:
            content[at % len(content)] ^= 1 << draw.randrange(8)
        elif kind == 1:
            content[at:at] = draw.choice(TOKENS)
        elif kind == 2 and content:
            del content[at:at + draw.choice([1, 2, 10, len(content)])]
        elif kind == 3:
            content[at:at] = content[:at][-draw.choice([1, 8, 64]):]
        elif kind == 4 and content:
            content[at % len(content)] = draw.randrange(256)
        elif kind == 5:
            token = draw.choice(TOKENS)
            content[at:at + len(token)] = token
        else:
            numbers = list(re.finditer(rb"-?\d+(\.\d+)?", content))
            if numbers:
                span = draw.choice(numbers).span()
                content[span[0]:span[1]] = draw.choice(TOKENS)
    return bytes(content)


def mutated_line(draw, line, options, names):
    """One to three changes of the words."""
    line = list(line)
    for _ in range(draw.randint(0, 3)):
        at = draw.randrange(1, len(line)) if len(line) > 1 else 0
        kind = draw.randrange(8)
        value = draw.choice(VALUES) if draw.random() < 0.7 else draw.choice(names)
        if kind == 0 and at:
            del line[at]
        elif kind == 1 and at:
            line[at] = value
        elif kind in (2, 3, 4):
            line += [draw.choice(options), value] if draw.random() < 0.8 else [draw.choice(options)]
        elif kind == 5 and at:
            line.insert(at, line[at])
        elif kind == 6 and at:
            line[at] = draw.choice(names)
        elif kind == 7 and at and line[at]:
            cut = draw.randrange(len(line[at]))
            line[at] = line[at][:cut] + draw.choice(["", "0", "-", "=", ":", "e9", "\u00fc"]) + line[at][cut + 1:]
    return [word.replace("\x00", "") for word in line]


def command_of(line):
    return " ".join(line[:2] if line[0] in FAMILIES else line[:1])


def digests(directory):
    return {str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(directory.rglob("*")) if path.is_file() and not path.is_symlink()}


def named_by(line):
    """The files that a line names to be read, and those that it names to be written."""
    written, read = set(), set()
    for before, word in zip([""] + line, line):
        option, _, value = word.partition("=")
        if option in OUTPUTS and value:
            written.add(os.path.normpath(value))
        elif before in OUTPUTS:
            written.add(os.path.normpath(word))
        else:
            read.add(os.path.normpath(value if value else word))
    return read, written


class Case:
    def __init__(self, arguments, options, kept, seed, number):
        self.arguments, self.number = arguments, number
        draw = random.Random(f"{seed}:{number}")
        self.line = draw.choice(COMMANDS)
        self.files = dict(kept)
        if draw.random() < 0.6:
            touched = [name for name in self.files if name in self.line or draw.random() < 0.05] or ["data.csv"]
            name = draw.choice(touched)
            self.files[name] = mutated_bytes(draw, self.files[name])
        if draw.random() < 0.75:
            self.line = mutated_line(draw, self.line, options.get(command_of(self.line), ["--help"]), sorted(self.files))

    def limit(self):
        if not self.arguments.sanitized:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def run(self, directory):
        """What broke the contract, if anything; and how it ended."""
        for name, content in self.files.items():
            (directory / name).parent.mkdir(exist_ok=True)
            (directory / name).write_bytes(content)
            (directory / name).chmod(0o600)  # a key that others may read is refused
        before = digests(directory)
        environment = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive", "HEARSAY_DATA": str(directory / "none"),
                       "ASAN_OPTIONS": "allocator_may_return_null=1:hard_rss_limit_mb=4096"}
        process = subprocess.Popen([self.arguments.binary, *self.line], cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=self.limit)
        slow = False
        try:
            _, errors = process.communicate(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            slow = True
            process.send_signal(signal.SIGINT)
            try:
                _, errors = process.communicate(timeout=GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                return f"hangs: not over after {PATIENCE_SECONDS + GRACE_SECONDS} s", "hang"
        text = errors.decode(errors="replace")
        ending = "slow" if slow else str(process.returncode)
        return self.fault(process.returncode, text, before, digests(directory)), ending

    def fault(self, code, text, before, after):
        if code < 0:
            return f"ends by signal {-code}: {text[-300:]}"
        if code not in (0, 1, 2, 3, 4):
            return f"exit code {code}: {text[-300:]}"
        for mark in ["Sanitizer", "runtime error:", "terminate called", "what():", "filesystem error", "basic_string", "std::", "bad_alloc"]:
            if mark in text:
                return f"says {mark!r}: {text[-300:]}"
        if code == 1 and "memory" not in text and "standard output" not in text and "File too large" not in text:
            return f"exit code 1: {text[-300:]}"
        looked = self.line[:2] == ["agent", "check"]  # prints what it finds
        if code == 2 and not text.startswith("hearsay: ") and not looked:
            return f"refuses without a word: {text[-300:]!r}"
        read, written = named_by(self.line)
        for name, digest in before.items():
            inside = any(name.startswith(f"{directory}/") for directory in read)
            if after.get(name) != digest and (name not in written or name in read or inside) and not self.may_change(name):
                return f"changed {name}, which it was to read"
        for name in after.keys() - before.keys():
            if name not in written and not self.is_asked_for(name, written):
                return f"left {name} behind"
        return None

    def may_change(self, name):
        if self.line[:2] == ["federation", "sign"]:  # certificates may be signed anew
            return name.endswith(".pem")
        return "--resume" in self.line and "--checkpoint" in self.line and name == "kept"

    def is_asked_for(self, name, written):
        """By a name with {agent} in it, or below a directory of figures; or for an agent."""
        if ".tmp" in name:
            return False
        if self.line[:2] == ["federation", "new"]:
            return name in named_by(self.line)[0]
        if self.line[0] in FAMILIES and name.endswith((".key", ".csr", ".pem")):
            return True
        patterns = [re.escape(pattern).replace(r"\{agent\}", r"\d+") for pattern in written]
        out = [pattern for pattern in written if "." not in os.path.basename(pattern)] + ["figures"]
        return any(re.fullmatch(p, name) for p in patterns) or any(name.startswith(directory + "/") for directory in out)


def options_of(binary):
    """Every option of every command, from its own help."""
    found = {}
    for command in sorted({command_of(line) for line in COMMANDS}):
        text = subprocess.run([binary, *command.split(), "--help"], capture_output=True, text=True, timeout=60).stdout
        found[command] = sorted(set(re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", text))) or ["--help"]
    return found


def with_made(binary, files):
    """The seed files, a checkpoint that one of the commands goes on from, and what an agent has once its certificate is signed."""
    line = next(line for line in COMMANDS if "kept" in line)
    with tempfile.TemporaryDirectory() as directory:
        for name, content in files.items():
            (pathlib.Path(directory) / name).parent.mkdir(exist_ok=True)
            (pathlib.Path(directory) / name).write_bytes(content)
        subprocess.run([binary, *[word for word in line if word != "--resume"], "--checkpoint-every", "2"], cwd=directory,
                       capture_output=True, timeout=60)
        for words in ["agent key federation.json --agent a", "federation sign federation.json a.csr"]:
            subprocess.run([binary, *words.split()], cwd=directory, check=True, capture_output=True, timeout=60)
        made = {"kept": "kept", **{f"keys/{name}": name for name in ["a.key", "a.csr", "a.pem", "authority.pem"]}}
        return {**files, **{name: (pathlib.Path(directory) / source).read_bytes() for name, source in made.items()}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=os.path.abspath)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--sanitized", action="store_true")
    arguments = parser.parse_args()

    options, kept = options_of(arguments.binary), with_made(arguments.binary, seed_files())
    endings, failures = collections.Counter(), []
    for number in range(arguments.cases) if arguments.only is None else [arguments.only]:
        directory = pathlib.Path(tempfile.mkdtemp(prefix="hearsay-fuzz-cli-"))
        case = Case(arguments, options, kept, arguments.seed, number)
        fault, ending = case.run(directory)
        endings[ending] += 1
        if arguments.only is not None:
            print("line:", case.line, "\nfiles:", directory)
        else:
            shutil.rmtree(directory, ignore_errors=True)
        if fault:
            failures.append(number)
            print(f"case {number} (seed {arguments.seed}): {fault}\n  {' '.join(word[:80] for word in case.line)!r}", flush=True)
    told = ", ".join(f"{count} ended {ending}" for ending, count in sorted(endings.items()))
    print(f"fuzz/cli.py: {sum(endings.values())} cases of seed {arguments.seed}: {told}; {len(failures)} broke the contract")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
