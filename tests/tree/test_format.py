#!/usr/bin/env python3
"""All sources are formatted as scripts/format.py does it, and its linters find nothing.

A self check comes first: each step but Rust's notices a bad file. A step whose tool is absent is
skipped, with the reason. All are skipped where the tree is not a clone, because git lists the
files.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import format as layout  # noqa: E402 - the folder is not a package

BAD = {
    "layout of C and C++": ("bad.c", "int  main( void ){return 0 ;}\n"),
    "layout of Python": ("bad.py", "x = {'a' : 1}\n"),
    "lint of Python": ("bad.py", "import os\n"),
    "layout of pages and JavaScript": ("bad.js", 'const x = "a" ;;\n'),
}


def self_check(folder):
    """[(name of a step, did it notice a bad file?)], of the steps whose tool is here."""
    noticed = []
    for name, _, step in layout.STEPS:
        if name not in BAD:
            continue
        file, text = BAD[name]
        path = pathlib.Path(folder, file)
        path.write_text(text, encoding="utf-8")
        try:
            noticed.append((name, not step([str(path)], True)[0]))
        except layout.Absent:
            pass  # main() says so
    return noticed


def main():
    passed = failed = skipped = 0
    if not shutil.which("git") or not (ROOT / ".git").exists():
        print("  skipped: format: this is not a clone, or git is not here")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for name, noticed in self_check(folder):
            passed, failed = passed + noticed, failed + (not noticed)
            if not noticed:
                print(f"  FAIL self check: {name} does not notice a bad file")
    for name, number, fine, output in layout.outcomes(layout.sources(), True):
        if fine is None:
            skipped += 1
            print(f"  skipped: {name}: {output}")
            continue
        passed, failed = passed + fine, failed + (not fine)
        print(f"  {'ok  ' if fine else 'FAIL'} {name}, {number} files")
        if not fine:
            lines = output.rstrip().split("\n")
            print("\n".join(f"       {line}" for line in lines[:40]))
            print("       ./dev format puts layout right")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
