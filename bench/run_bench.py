#!/usr/bin/env python3
"""`./dev bench`: MaskBench with the Llama-3.1 vocabulary, or with what there is.

Data: maskbench/maskbench-dev.jsonl.xz in the folder shared/ beside the tree, or in $TSL_SHARED; where it is absent, bench/own.jsonl, which
is small. Arguments are handed on to `turnstile-bench maskbench`, after the defaults, so that --vocab, --data, --order … replace them.

SPDX-License-Identifier: Apache-2.0
"""
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


def main():
    command = [str(ROOT / "build" / "turnstile-bench"), "maskbench", "--vocab", str(ROOT / "build" / "vocabs" / "llama3_1" / "tokenizer.json"),
               "--vocab-cache", str(ROOT / "build" / "vocabs"), "--data", str(data()), *sys.argv[1:]]
    # One core, so that no migration is measured.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
