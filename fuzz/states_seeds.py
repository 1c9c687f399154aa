#!/usr/bin/env python3
"""Writes the seeds of fuzz/states.cpp anew, with states that an agent of the program keeps.

    /usr/bin/python3 fuzz/states_seeds.py build/dev/apps/hearsay

To be run when the format changes: inputs of another version are refused at their first line, and a fuzzer that starts from
them sees nothing of the reader. A test holds the version of the seeds against the program's.
"""

import pathlib
import subprocess
import sys
import tempfile

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus" / "states"
SEAL = 64  # hexadecimal digits at the end, which the fuzz target puts there again

# the choice of the target, and what it runs with
RUNS = {
    "adeepca": (b"0", []),
    "adepm": (b"1", ["--algorithm", "adepm"]),
    "bfloat16": (b"2", ["--message-precision", "bfloat16"]),
}


def table() -> str:
    """The target's."""
    rows = [[(7 * i * i + 3 * j * i + j) % 11 / (j + 2) for j in range(12)] for i in range(20)]
    return "\n".join([",".join("abcdefghijkl"), *(",".join(map(repr, row)) for row in rows)]) + "\n"


def main(program: str) -> None:
    CORPUS.mkdir(exist_ok=True)
    for old in CORPUS.iterdir():
        old.unlink()
    program = pathlib.Path(program).resolve()
    for name, (choice, options) in RUNS.items():
        with tempfile.TemporaryDirectory() as folder:

            def run(*arguments: str, folder: str = folder) -> None:
                subprocess.run([program, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)

            pathlib.Path(folder, "rows.csv").write_text(table())
            settings = ["-k", "2", "--max-iterations", "40", "--tolerance", "1e-12", "--checkpoint-every", "2", *options]
            run("federation", "new", "f.json", "--name", "seeds", "--agent", "alone@127.0.0.1:1", *settings)
            run("agent", "key", "f.json", "--agent", "alone")
            run("federation", "sign", "f.json", "alone.csr")
            run("agent", "run", "f.json", "--agent", "alone", "--data", "rows.csv", "--listen", "127.0.0.1:0", "--checkpoint", "states",
                "--quiet")
            (CORPUS / name).write_bytes(choice + pathlib.Path(folder, "states").read_bytes()[:-SEAL])
    (CORPUS / "trailing").write_bytes((CORPUS / "adeepca").read_bytes() + b"x")


if __name__ == "__main__":
    main(sys.argv[1])
