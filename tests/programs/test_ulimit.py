#!/usr/bin/env python3
"""Less and less address space (ulimit -v). The tool either does its work, with the same output, or
says that memory ran out and ends with status 2. No signal. And as much stack (ulimit -s) as
docs/limits.md says that a thread needs, for grammars and texts nested as deep as max_depth lets
them be.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLI = os.environ.get("TSL_CLI", str(ROOT / "build" / "turnstile"))
STEPS = 12  # limits tried for each command
STACK = 1024  # KiB
passed = failed = 0


def check(condition, what):
    global passed, failed
    passed += bool(condition)
    failed += not condition
    if not condition:
        print("  FAIL " + what)


def run(arguments, kib, what=resource.RLIMIT_AS):
    """(status, output, errors) under so many KiB of address space, or of stack; None: as many as it
    likes.
    """
    limit = (lambda: resource.setrlimit(what, (kib * 1024, kib * 1024))) if kib else None
    done = subprocess.run(
        [CLI, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=ROOT,
        preexec_fn=limit,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def least(arguments, enough):
    """The least KiB, to one part in 16, with which a command does its work."""
    low, high = 0, enough
    while high - low > high // 16:
        middle = (low + high) // 2
        if run(arguments, middle)[0] == 0:
            high = middle
        else:
            low = middle
    return high


def degrade(name, arguments, floor):
    """From the address space in which the tool starts up to what the command needs."""
    status, output, errors = run(arguments, None)
    check(status == 0, f"{name}: status {status}: {errors}")
    need, refused = least(arguments, 4 << 20), 0
    for i in range(STEPS + 1):
        kib = floor + (need - floor) * i // STEPS
        got = run(arguments, kib)
        if got[0] == 0:
            check(got[1] == output, f"{name} in {kib} KiB: another output")
            continue
        refused += 1
        check(
            got[0] == 2 and "memory" in got[2].lower(),
            f"{name} in {kib} KiB: status {got[0]}: {got[2]!r}",
        )
    check(
        need <= floor or refused > 0,
        f"{name}: needs {need} KiB, starts in {floor}, and was never refused",
    )
    print(
        f"  {name}: starts in {floor} KiB, works in {need}, {refused} of {STEPS + 1} sizes refused"
    )


def nested(folder):
    """As deep as it may be, and once more in the text where that is not bounded."""

    def write(name, text):
        path = pathlib.Path(folder, name)
        path.write_text(text, encoding="utf-8")
        return str(path)

    groups = write("groups.gbnf", 'root ::= "a" ' + '("x" ' * 500 + ' | root "b")+ "c"? ' * 500)
    objects = write("objects.json", '{"properties":{"a":' * 250 + "{}" + "}}" * 250)
    arrays = write("arrays.json", '{"items":' * 500 + "{}" + "}" * 500)
    inside = write("inside.json", '{"allOf":[' * 250 + "{}" + "]}" * 250)
    negated = write(
        "negated.json", '{"not":{"properties":{"a":' * 166 + '{"type":"integer"}' + "}}}" * 166
    )
    for name, arguments, wanted in [
        (
            "groups of GBNF",
            ["check", "--grammar", groups, write("text1", "a" + "x" * 500 + "b" * 8)],
            1,
        ),
        (
            "groups of a regex",
            ["check", "--regex", "(a" * 250 + "b?)?" * 250, write("text2", "a" * 250)],
            0,
        ),
        (
            "objects",
            ["check", "--schema", objects, write("text3", '{"a":' * 3000 + "1" + "}" * 3000)],
            0,
        ),
        ("arrays", ["check", "--schema", arrays, write("text4", "[" * 3000 + "]" * 3000)], 0),
        ("schemas of one value", ["mask", "--schema", inside], 0),
        (
            "negated schemas",
            ["check", "--schema", negated, write("text5", '{"a":' * 166 + "1" + "}" * 166)],
            None,
        ),
    ]:
        status, _, errors = run(arguments, STACK, resource.RLIMIT_STACK)
        check(
            status in (0, 1) if wanted is None else status == wanted,
            f"{name} with {STACK} KiB of stack: status {status}: {errors}",
        )


def main():
    floor = least(["--help"], 1 << 20)
    with tempfile.TemporaryDirectory() as folder:
        many = pathlib.Path(folder) / "many.json"
        many.write_text(
            json.dumps({"enum": [f"value {i * 7919}" for i in range(20000)]}), encoding="utf-8"
        )
        wide = pathlib.Path(folder) / "wide.json"
        wide.write_text(
            json.dumps(
                {
                    "type": "object",
                    "properties": {
                        f"p{i}": {"type": ["string", "integer"], "maxLength": i + 1}
                        for i in range(3000)
                    },
                }
            ),
            encoding="utf-8",
        )
        anything = pathlib.Path(folder) / "anything.json"
        anything.write_text("{}", encoding="utf-8")
        deep = pathlib.Path(folder) / "text.json"
        deep.write_text("[" * 3000 + "]" * 3000, encoding="utf-8")
        for name, arguments in {
            "mask of a list": ["mask", "--schema", str(many), "--prefix", '"value 1'],
            "mask of an object": ["mask", "--schema", str(wide), "--prefix", "{"],
            "check of a deep text": ["check", "--schema", str(anything), str(deep)],
            "mask of a GBNF grammar": [
                "mask",
                "--grammar",
                str(ROOT / "schemas" / "examples" / "c.gbnf"),
                "--prefix",
                "int f",
            ],
        }.items():
            degrade(name, arguments, floor)
        nested(folder)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
