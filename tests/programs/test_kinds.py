#!/usr/bin/env python3
"""`./dev bench kinds`: its inputs depend on the seed alone, and the masks of a small run are right.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import kinds  # noqa: E402 - the folder is no package

BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))

passed = failed = 0


def check(name, holds, detail=""):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    print(f"  {'ok  ' if holds else 'FAIL'} {name}{'' if holds else f': {detail}'}")


def made_by_seed():
    once, again = kinds.kinds(3, 2), kinds.kinds(3, 2)
    check("a seed gives the same inputs again", once == again)
    other = kinds.kinds(4, 2)
    same = [name for (name, case), (_, new) in zip(once, other) if case == new]
    check("another seed gives others", len(same) < 4, same)
    check("names differ", len({name for name, _ in once}) == 2 * len(kinds.KINDS))


def small_run():
    command = [sys.executable, ROOT / "bench" / "run_kinds.py", "--seed", "5", "--each", "1"]
    command += ["--texts", "1", "--tokens", "20", "--runs", "1", "--vocab", "embedded"]
    done = subprocess.run(
        [*command, "--verify", "yes"],
        capture_output=True,
        text=True,
        env={**os.environ, "TSL_BUILD": str(BUILD)},
    )
    check("all inputs can be followed", done.returncode == 0, done.stdout + done.stderr[-500:])
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    check("each kind has a row", len(rows) == 1 + len(kinds.KINDS), len(rows))
    check("masks were compared, none differs", " 0 differ" in done.stdout, done.stdout[-300:])


made_by_seed()
if not os.access(BUILD / "turnstile-bench", os.X_OK):
    print("  skipped: a run: the build has no turnstile-bench")
    print(f"{passed} passed, {failed} failed, 1 skipped")
else:
    small_run()
    print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
