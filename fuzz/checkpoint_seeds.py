#!/usr/bin/env python3
"""Writes the seeds of fuzz/checkpoint.cpp anew, with checkpoints that the program makes.

    /usr/bin/python3 fuzz/checkpoint_seeds.py build/dev/apps/hearsay

To be run when the format changes: inputs of another version are refused at their first line, and a fuzzer that starts from
them sees nothing of the reader. A test holds the version of the seeds against the program's.
"""

import pathlib
import re
import struct
import subprocess
import sys
import tempfile

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus" / "checkpoint"
DIGEST = 64  # hexadecimal digits at the end, which the fuzz target puts there again
CONFIGURATION = b"problem"  # what the fuzz target reads checkpoints for

MATRIX = "6,2,1,0,0\n2,5,0,1,0\n1,0,4,0,1\n0,1,0,3,1\n0,0,1,1,2\n"
RUNS = {
    "double": ["-k", "2", "--oversample", "1", "--max-iterations", "12"],
    "single": ["-k", "1", "--oversample", "1", "--precision", "single"],
    "fresh": ["-k", "1", "--oversample", "0", "--method", "npm", "--max-iterations", "2"],
    "scale": ["-k", "2", "--oversample", "1", "--max-iterations", "4"],  # of numbers whose squares overflow
    "noise": ["-k", "1", "--noise", "gaussian:1e-3", "--products", "60"],
    "averages": ["-k", "2", "--noise", "gaussian:1e-6", "--products", "150"],
    "averages_single": ["-k", "1", "--noise", "gaussian:1e-3", "--products", "80", "--precision", "single"],
}


def for_the_target(checkpoint: bytes, kind: bytes) -> bytes:
    """The file without its digest, for the problem that the target names; the first byte chooses the number type."""
    end_of_magic = checkpoint.index(b"\n") + 2  # and the size of a number
    (length,) = struct.unpack_from("<Q", checkpoint, end_of_magic)
    rest = checkpoint[end_of_magic + 8 + length : -DIGEST]
    return kind + checkpoint[:end_of_magic] + struct.pack("<Q", len(CONFIGURATION)) + CONFIGURATION + rest


def main(program: str) -> None:
    for old in CORPUS.iterdir():
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        matrix, state = pathlib.Path(folder, "A.csv"), pathlib.Path(folder, "state")
        for name, options in RUNS.items():
            matrix.write_text(re.sub(r"\d", r"\g<0>e200", MATRIX) if name == "scale" else MATRIX)
            state.unlink(missing_ok=True)
            subprocess.run([program, "eigs", matrix, *options, "--checkpoint", state, "--checkpoint-every", "2", "--quiet"],
                           check=False, stdout=subprocess.DEVNULL)
            seed = for_the_target(state.read_bytes(), b"f" if "single" in options else b"d")
            (CORPUS / name).write_bytes(seed)
    (CORPUS / "trailing").write_bytes((CORPUS / "double").read_bytes() + b"x")


if __name__ == "__main__":
    main(sys.argv[1])
