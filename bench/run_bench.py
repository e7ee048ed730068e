#!/usr/bin/env python3
"""`./dev bench`: MaskBench with the Llama-3.1 vocabulary, or with what there is.

Data: maskbench/maskbench-dev.jsonl.xz in the folder shared/ beside the tree, or in $TSL_SHARED; where it is absent, bench/own.jsonl, which
is small. Arguments are handed on to `turnstile-bench maskbench`, after the defaults, so that --vocab, --data, --order … replace them; but
for --runs N: run N times, and say for each row the least of the N maxima too.

SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def data():
    shared = pathlib.Path(os.environ.get("TSL_SHARED", ROOT.parent / "shared"), "maskbench", "maskbench-dev.jsonl.xz")
    if shared.is_file():
        return shared
    print(f"MaskBench's data are not here ({shared} is absent): measuring on the project's own schemas, bench/own.jsonl", file=sys.stderr)
    return ROOT / "bench" / "own.jsonl"


def run_once(command):
    """One run, its table passed through; (status, the JSON object)."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    print(done.stdout, end="", flush=True)
    return done.returncode, json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 and "--help" not in command else {}


def least_of(results):
    """For each row the least of the runs' maxima: a pause of the machine hits some run, a slow call all of them."""
    rows = [key for key, value in results[0].items() if isinstance(value, dict) and key.endswith("_us")]
    return {key: min(r[key]["max"] for r in results) for key in rows}


def main():
    arguments, runs = sys.argv[1:], 1
    if "--runs" in arguments:
        at = arguments.index("--runs")
        if not arguments[at + 1:at + 2] or not arguments[at + 1].isdigit() or arguments[at + 1] == "0":
            sys.exit("bench: --runs takes a number")
        runs = int(arguments[at + 1])
        del arguments[at:at + 2]
    command = [str(ROOT / "build" / "turnstile-bench"), "maskbench", "--vocab", str(ROOT / "build" / "vocabs" / "llama3_1" / "tokenizer.json"),
               "--vocab-cache", str(ROOT / "build" / "vocabs"), "--data", str(data()), *arguments]
    # One core, so that no migration is measured.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    results = []
    for _ in range(runs):
        status, result = run_once(command)
        if status:
            return status
        results.append(result)
    if runs > 1:
        print(f"worst call, least of {runs} runs, in microseconds:", file=sys.stderr)
        for key, value in least_of(results).items():
            print(f"  {key:<24} {value:>12,.2f}", file=sys.stderr)
        print(json.dumps({f"worst_least_of_{runs}": least_of(results)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
