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

import argparse
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import drive
import kinds
import run_kinds
from drive import BENCH, ROOT

BASELINE = ROOT / "bench" / "baseline.json"
KINDS = ROOT / "bench" / "kinds.jsonl"
SEED, EACH, TOKENS = 49, 8, 40  # of the inputs that are drawn
LINE_MAX, TEXT_MIN = 10_000, 20  # bytes of one of them, characters of its text
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


def callgrind(data, options, out, dump):
    """Runs `data`; the counts go into `out`, and at each case's end into files beside it."""
    tool = ["valgrind", "--tool=callgrind", "--toggle-collect=bench_run_case"]
    tool += [f"--callgrind-out-file={out}", *(["--dump-after=bench_run_case"] if dump else [])]
    bench = [BENCH, "maskbench", "--vocab", "embedded", "--data", data, "--verify", "0"]
    done = subprocess.run(
        [*tool, *bench, "--timeout", "0", *options], capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"callgrind: {done.stderr[-400:]}")


def counted(out):
    totals = (
        re.findall(r"^(?:totals|summary): (\d+)", out.read_text(encoding="utf-8"), re.M)
        if out.is_file()
        else []
    )
    if not totals or not int(totals[-1]):
        raise RuntimeError(f"callgrind: no instructions in {out.name}")
    return int(totals[-1])


def count(options):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "callgrind.out")
        callgrind(ROOT / "bench" / "own.jsonl", options, out, dump=False)
        return counted(out)


def count_kinds():
    """The same for each kind."""
    names = [json.loads(line)["id"] for line in KINDS.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "callgrind.out")
        callgrind(KINDS, ["--order", "any"], out, dump=True)
        # a dump for each case, numbered from 1
        each = {name: counted(pathlib.Path(f"{out}.{i}")) for i, name in enumerate(names, 1)}
    each.pop(drive.WARM_UP)
    return each


def count_all():
    return {**{name: count(options) for name, options in WORKLOADS.items()}, **count_kinds()}


def draw():
    """Write bench/kinds.jsonl."""
    options = argparse.Namespace(
        seed=SEED, each=EACH, only=None, texts=1, tokens=TOKENS, vocab="embedded"
    )
    chosen = {}
    with tempfile.TemporaryDirectory() as folder:
        data, _ = run_kinds.write_data(options, pathlib.Path(folder))
        for case in drive.read_lines(data):
            kind = case["id"].rsplit("-", 1)[0]
            texts = [test["text"] for test in case["tests"]]
            size = len(json.dumps(case))
            if not texts or len(texts[0]) < TEXT_MIN:
                continue
            # the first small one, or the smallest
            if kind not in chosen or LINE_MAX < len(json.dumps(chosen[kind])) > size:
                chosen[kind] = {**case, "id": kind}
    warm_up = {"id": drive.WARM_UP, "schema": "{}", "tests": []}
    drive.write_lines(KINDS, [warm_up, *chosen.values()])
    missing = [make.__name__ for make in kinds.KINDS if make.__name__ not in chosen]
    print(f"{KINDS.name}: {len(chosen)} kinds{''.join(f', none of {name}' for name in missing)}")
    return 1 if missing else 0


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
    result = {"made_with": made_with(), "instructions": count_all()}
    BASELINE.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(BASELINE.read_text(encoding="utf-8"), end="")


def main():
    if "--draw" in sys.argv[1:]:
        return draw()
    if "--update" in sys.argv[1:]:
        return update()
    reason, passed, failed, skipped = why_not(), 0, 0, 0
    if reason:
        print(f"  skipped: instructions: {reason}")
        skipped = len(WORKLOADS) + len(kinds.KINDS)
    else:
        baseline = json.loads(BASELINE.read_text(encoding="utf-8"))["instructions"]
        for name, here in count_all().items():
            kept = baseline[name]
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
                f"  {'FAIL' if slower else 'ok  '} {name:<22} {here:>14,} instructions, "
                f"{100 * change:+.1f} % to the baseline{note}"
            )
            passed, failed = passed + (not slower), failed + slower
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
