#!/usr/bin/env python3
"""`./dev bench --quick`: did the engine become slower? Instructions instead of time, so that a
noisy machine does not matter.

    ./dev bench --quick [--update]

Each workload is the project's own schemas (bench/own.jsonl) with the embedded vocabulary. `valgrind
--tool=callgrind` counts the instructions inside of bench_run_case: compiles, masks, commits, twice
over. A workload that needs more than SLACK above bench/baseline.json is a failure. A workload that
needs more than SLACK less passes, with a word that the baseline could be renewed. --update writes
the baseline anew: do that in the commit that is meant to cost more, and say why.

Counts depend on the compiler and the C library, so the baseline names those that it was made with.
With others nothing can be said: the workloads are skipped, with the reason.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = os.environ.get("TSL_BENCH", str(ROOT / "build" / "turnstile-bench"))
BASELINE = ROOT / "bench" / "baseline.json"
SLACK = 0.05
WORKLOADS = {
    "any order": ["--order", "any"],
    "schema order": ["--order", "schema"],
    "first ten schemas": ["--limit", "10"],
}


def made_with():
    """What the counts depend on. The compiler's name is what it wrote into the program."""
    text = subprocess.run(
        ["readelf", "--string-dump=.comment", BENCH], capture_output=True, text=True
    ).stdout
    compilers = sorted(set(re.findall(r"\]\s+(\S.*)", text)))
    tool = subprocess.run(["valgrind", "--version"], capture_output=True, text=True).stdout.strip()
    return {
        "compiler": "; ".join(compilers),
        "libc": " ".join(platform.libc_ver()),
        "valgrind": tool,
        "machine": platform.machine(),
    }


def count(options):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "callgrind.out")
        done = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                "--toggle-collect=bench_run_case",
                f"--callgrind-out-file={out}",
                BENCH,
                "maskbench",
                "--vocab",
                "embedded",
                "--data",
                str(ROOT / "bench" / "own.jsonl"),
                "--verify",
                "0",
                "--timeout",
                "0",
                *options,
            ],
            capture_output=True,
            text=True,
        )
        totals = (
            re.findall(r"^(?:totals|summary): (\d+)", out.read_text(encoding="utf-8"), re.M)
            if out.is_file()
            else []
        )
        if done.returncode or not totals or not int(totals[-1]):
            raise RuntimeError(f"callgrind: {done.stderr[-400:]}")
        return int(totals[-1])


def why_not():
    """Why nothing can be compared here, or None."""
    if not shutil.which("valgrind"):
        return "valgrind is not installed (Debian: valgrind)"
    if not shutil.which("readelf"):
        return "readelf is not installed (Debian: binutils)"
    if not BASELINE.is_file():
        return "there is no bench/baseline.json (./dev bench --quick --update writes it)"
    kept, here = json.loads(BASELINE.read_text(encoding="utf-8"))["made_with"], made_with()
    differ = [
        f"{key} {here[key]} here, {kept.get(key)} there"
        for key in here
        if here[key] != kept.get(key)
    ]
    return f"the baseline was made with another {'; '.join(differ)}" if differ else None


def update():
    result = {
        "made_with": made_with(),
        "instructions": {name: count(options) for name, options in WORKLOADS.items()},
    }
    BASELINE.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(BASELINE.read_text(encoding="utf-8"), end="")


def main():
    if "--update" in sys.argv[1:]:
        return update()
    reason, passed, failed, skipped = why_not(), 0, 0, 0
    if reason:
        print(f"  skipped: instructions: {reason}")
        skipped = len(WORKLOADS)
    else:
        baseline = json.loads(BASELINE.read_text(encoding="utf-8"))["instructions"]
        for name, options in WORKLOADS.items():
            here, kept = count(options), baseline[name]
            change = here / kept - 1
            slower = change > SLACK
            note = (
                ": over the slack"
                if slower
                else ": the baseline can be renewed (./dev bench --quick --update)"
                if change < -SLACK
                else ""
            )
            print(
                f"  {'FAIL' if slower else 'ok  '} {name:<20} {here:>14,} instructions, "
                f"{100 * change:+.1f} % to the baseline{note}"
            )
            passed, failed = passed + (not slower), failed + slower
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
