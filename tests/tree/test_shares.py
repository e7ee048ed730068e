#!/usr/bin/env python3
"""No folder, file or line is too large, and each room has its share of comments: the limits of
scripts/shares.py --check.

A self check comes first: made up trees, each past one limit, and one that is past none.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import shares  # noqa: E402 - the folder is not a package

SOUND_C = "/* why */\nint f(void);\n"
SOUND_H = "/* what it is, and why it is that */\nint f(void);\n"
SOUND = {"runtime/walk/a.c": SOUND_C, "runtime/walk/a.h": SOUND_H}
# A tree, and what is said of it ("": nothing).
CASES = [
    (SOUND, ""),
    (
        {**SOUND, **{f"runtime/walk/b{i}.c": SOUND_C for i in range(34)}},
        "runtime/walk/ has 36 files",
    ),
    ({f"tests/cases/{i}.py": "" for i in range(99)}, ""),
    ({"cli/a.c": "x\n" * 701}, "cli/a.c has 701 lines"),
    ({"cli/a.c": "x\n" * 700, "cli/a_data.c": "x\n" * 900, "include/turnstile.h": "x\n" * 900}, ""),
    ({"cli/a.c": "\n" + "x" * 101 + "\n"}, "cli/a.c:2: 101 columns"),
    ({"cli/a.c": "é" * 100 + "\n", "page/a.js": "x" * 101}, ""),
    ({"runtime/walk/a.c": "/* a */\n" + "int f(void);\n" * 5}, "runtime/walk: 9.6 % of"),
    ({"runtime/walk/a.c": 'char *s = "/* no comment, as long as it may be */";\n'}, "0.0 % of"),
    (
        {
            "runtime/walk/a.c": "/* a.c - see a.h. */\n" + "int f(void);\n" * 10,
            "runtime/walk/a.h": "/* a.h - problem, idea */\n",
        },
        "",
    ),
    (
        {
            "runtime/walk/a.c": "/* a.c - as a.h. */\n" + "int f(void);\n" * 10,
            "runtime/walk/a.h": "/* a.h - problem, idea */\n",
        },
        "runtime/walk: 12.7 % of",
    ),
    ({"compiler/expr/a.h": "// a\n/* b */ int f(void);\n"}, "compiler/expr: 42.3 % of"),
]


# A room with a floor of its own: (the floor in percent, what is said of the room).
POOR = {"runtime/walk/a.c": "/* a */\n" + "int f(void);\n" * 5}  # 9.6 %
ON_FLOORS = [(9, ""), (10, "less than 10 %")]


def self_check():
    """The cases that are judged wrongly."""
    wrong = []
    judged = [(tree, {}, expected) for tree, expected in CASES]
    judged += [(POOR, {"runtime/walk": {".c": floor}}, expected) for floor, expected in ON_FLOORS]
    for tree, floors, expected in judged:
        found = list(shares.complaints(list(tree), tree, floors))
        if len(found) != bool(expected) or not all(expected in line for line in found):
            wrong.append(f"expected {expected!r}, found {found}")
    if shares.code('int a; // b\n\n/* c\n d */\nchar *e = "/*";\n') != 2:
        wrong.append("lines of code are counted wrongly")
    return wrong


def main():
    wrong = self_check()
    for line in wrong:
        print(f"  FAIL self check: {line}")
    passed, failed = len(CASES) + len(ON_FLOORS) + 1 - len(wrong), len(wrong)
    if not shutil.which("git") or not (ROOT / ".git").exists():
        print("  skipped: shares: this is not a clone, or git is not here")
        print(f"{passed} passed, {failed} failed, 1 skipped")
        return 1 if failed else 0
    names, texts = shares.tree()
    found = list(shares.complaints(names, texts))
    for line in found:
        print(f"  FAIL {line}")
    if not found:
        print(f"  ok   {len(names)} files are within the limits of scripts/shares.py")
    passed, failed = passed + (not found), failed + len(found)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
