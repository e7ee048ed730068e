#!/usr/bin/env python3
"""`./dev bench`: MaskBench with the Llama-3.1 vocabulary, or with what there is.

Data: maskbench/maskbench-dev.jsonl.xz in the folder shared/ beside the tree, or in $TSL_SHARED;
where it is absent, bench/own.jsonl, which is small. Arguments are handed on to `turnstile-bench
maskbench` after the defaults, so that --vocab, --data, --order … replace these. Two arguments are
read here. --runs N runs N times, and prints for each row the least of the N maxima too. --maskbench
FOLDER takes the JSON files of that folder, which is maskbench/data in a checkout of
guidance-ai/jsonschemabench.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def data():
    shared = pathlib.Path(
        os.environ.get("TSL_SHARED", ROOT.parent / "shared"), "maskbench", "maskbench-dev.jsonl.xz"
    )
    if shared.is_file():
        return shared
    print(
        f"MaskBench's data are not here ({shared} is absent): measuring on the project's own "
        "schemas, bench/own.jsonl",
        file=sys.stderr,
    )
    return ROOT / "bench" / "own.jsonl"


def lines_of(folder):
    """The files of MaskBench's folder as lines of data: {"schema", "tests": [{"valid", "data"}]}
    becomes {"id", "schema", "tests": [{"valid", "text"}]}.
    """
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        tests = [
            {"valid": test["valid"], "text": json.dumps(test["data"], ensure_ascii=False)}
            for test in case["tests"]
        ]
        yield json.dumps(
            {
                "id": path.stem,
                "schema": json.dumps(case["schema"], ensure_ascii=False),
                "tests": tests,
            },
            ensure_ascii=False,
        )


def take(arguments, name):
    """The value of an option of this program, which is removed from the arguments."""
    if name not in arguments:
        return None
    at = arguments.index(name)
    if at + 1 == len(arguments):
        sys.exit(f"bench: {name} without a value")
    value = arguments[at + 1]
    del arguments[at : at + 2]
    return value


def run_once(command):
    """One run, its table passed through; (status, the JSON object)."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    print(done.stdout, end="", flush=True)
    return done.returncode, json.loads(
        done.stdout.splitlines()[-1]
    ) if done.returncode == 0 and "--help" not in command else {}


def least_of(results):
    """For each row the least of the runs' maxima: a pause of the machine hits some run, a slow call
    all of them.
    """
    rows = [
        key for key, value in results[0].items() if isinstance(value, dict) and key.endswith("_us")
    ]
    return {key: min(r[key]["max"] for r in results) for key in rows}


def main():
    arguments = sys.argv[1:]
    runs, folder = take(arguments, "--runs") or "1", take(arguments, "--maskbench")
    if not runs.isdigit() or runs == "0":
        sys.exit("bench: --runs takes a number")
    runs = int(runs)
    if folder:
        lines = list(lines_of(folder))
        if not lines:
            sys.exit(f"bench: --maskbench: no JSON file in {folder}")
        found = ROOT / "build" / "maskbench.jsonl"
        found.write_text("\n".join(lines) + "\n", encoding="utf-8")
    elif "--data" in arguments or "--help" in arguments:
        found = None
    else:
        found = data()
    command = [
        str(ROOT / "build" / "turnstile-bench"),
        "maskbench",
        "--vocab",
        str(ROOT / "build" / "vocabs" / "llama3_1" / "tokenizer.json"),
        "--vocab-cache",
        str(ROOT / "build" / "vocabs"),
        *(["--data", str(found)] if found else []),
        *arguments,
    ]
    if "--help" in arguments:
        print(
            "./dev bench takes besides:\n  --runs N           run N times, and say the least of "
            "the maxima too\n  --maskbench FOLDER the data are the files of maskbench/data in a "
            "checkout of guidance-ai/jsonschemabench",
            flush=True,
        )
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
