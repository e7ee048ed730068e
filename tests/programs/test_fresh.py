#!/usr/bin/env python3
"""`./dev bench fresh`: its schemas depend on the seed alone, and a small run goes through.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import fresh_schemas  # noqa: E402 - the folder is no package

BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))
SCHEMAS = 10

passed = failed = 0


def check(name, holds, detail=""):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    print(f"  {'ok  ' if holds else 'FAIL'} {name}{'' if holds else f': {detail}'}")


def made_by_seed():
    once, again = fresh_schemas.schemas(3, 40), fresh_schemas.schemas(3, 40)
    check("a seed gives the same schemas again", once == again)
    check("fewer of them are the first ones", fresh_schemas.schemas(3, 7) == once[:7])
    other = {json.dumps(schema) for _, schema in fresh_schemas.schemas(4, 40)}
    same = [name for name, schema in once if json.dumps(schema) in other]
    check("another seed gives others", not same, same)
    check("names differ", len({name for name, _ in once}) == 40)
    families = {name.split("-")[0] for name, _ in once}
    check("all families are there", len(families) == len(fresh_schemas.FAMILIES), families)


def small_run():
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, ROOT / "bench" / "run_fresh.py", "--seed", "5"]
        command += ["--schemas", str(SCHEMAS), "--texts", "1", "--vocab", "embedded"]
        done = subprocess.run(
            [*command, "--keep", folder],
            capture_output=True,
            text=True,
            env={**os.environ, "TSL_BUILD": str(BUILD)},
        )
        check("a run ends well", done.returncode == 0, done.stderr[-500:])
        lines = done.stdout.splitlines()
        check("the schemas are counted", lines and lines[0].startswith("seed 5: "), lines[:1])
        left_out = done.stderr.count("left out: ")
        rows = pathlib.Path(folder, "rows.jsonl")
        count = len(rows.read_text(encoding="utf-8").splitlines()) if rows.is_file() else 0
        check("each is measured or left out", count + left_out == SCHEMAS, (count, left_out))
        check("most are measured", count > SCHEMAS // 2, count)
        last = json.loads(lines[-1]) if lines else {}
        check("the figures come last", isinstance(last, dict) and last, lines[-1:])


made_by_seed()
if not os.access(BUILD / "turnstile-bench", os.X_OK) or not os.access(BUILD / "turnstile", os.X_OK):
    print("  skipped: a run: the build has no turnstile-bench or no turnstile")
    print(f"{passed} passed, {failed} failed, 1 skipped")
else:
    small_run()
    print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
