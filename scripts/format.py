#!/usr/bin/env python3
"""Lay out all C and C++ of the tree: python3 scripts/format.py [--check] [FILE...]

clang-format 18.1.8 (PyPI) does it, by .clang-format. --check changes nothing, lists what would
change, and ends with status 1 if anything would. Made data (tables that a script writes) is left as
it is.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = "18.1.8"
MADE = re.compile(r"_data\.[ch]$|/metaschemas\.c$|compiler/tools/presets\.c$|nfc_expected\.h$")


def tool():
    """The program of that version: beside this Python, or on the path."""
    for candidate in (
        pathlib.Path(sys.executable).parent / "clang-format",
        shutil.which("clang-format"),
    ):
        if candidate and pathlib.Path(candidate).exists():
            said = subprocess.run([candidate, "--version"], capture_output=True, text=True).stdout
            if VERSION in said:
                return str(candidate)
    return None


def sources():
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", "*.c", "*.h", "*.cpp", "*.hpp"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")
    return [name for name in listed if name and not MADE.search(name) and (ROOT / name).is_file()]


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    program = tool()
    if not program:
        sys.exit(f"clang-format {VERSION} is not here: pip install clang-format=={VERSION}")
    command = [program, "--dry-run", "-Werror"] if "--check" in sys.argv else [program, "-i"]
    return subprocess.run([*command, *(arguments or sources())], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
