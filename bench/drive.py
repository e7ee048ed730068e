"""turnstile-bench, as run_fresh.py, run_kinds.py and quick.py run it.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))
BENCH = pathlib.Path(os.environ.get("TSL_BENCH", BUILD / "turnstile-bench"))
LLAMA = ROOT / "build" / "vocabs" / "llama3_1" / "tokenizer.json"
# the first grammar of a vocabulary makes tables that all share
WARM_UP = "the first grammar"


def write_lines(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def read_lines(path):
    """What the lines of a file say, without the first grammar."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line["id"] != WARM_UP]


def measure(vocab, data, out, verify, *more):
    """Each mask and commit of the texts in `data`, into `out`."""
    command = [BENCH, "maskbench", "--vocab", vocab, "--data", data, "--out", out]
    command += ["--samples", "yes", "--verify", str(verify), *more]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def steps_of(row):
    """Microseconds of each step of a row of results: its mask and its commit."""
    pairs = zip(row.get("mask_samples_us", ()), row.get("commit_samples_us", ()))
    return [mask + commit for mask, commit in pairs]
