#!/usr/bin/env python3
"""The shared library exports the public functions and nothing else, under the minor version.

The names that the dynamic symbol table defines must be exactly the functions that
include/turnstile.h declares with TSL_API. A name that is declared but not defined is a failure,
too. In the static library every global name starts with tsl_, so that it can be linked into any
program without a clash.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))


def declared():
    """Functions that the public header declares."""
    text = (ROOT / "include" / "turnstile.h").read_text(encoding="utf-8")
    return set(re.findall(r"^TSL_API [^;(]*?\b(tsl_\w+)\(", text, re.M))


def defined(library, *flags):
    """Global names that a library defines."""
    out = subprocess.run(
        ["nm", "--defined-only", "--extern-only", "--format=posix", *flags, str(library)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return {line.split()[0] for line in out.split("\n") if len(line.split()) >= 3}


def versioned(names):
    """The names without the version that the linker put behind them, and what has none or another
    one.
    """
    text = (ROOT / "meson.build").read_text(encoding="utf-8")
    version = "TURNSTILE_" + re.search(r"version: '(\d+\.\d+)\.\d+'", text).group(1)
    names = names - {version, f"{version}@@{version}"}
    strangers = sorted(name for name in names if not name.endswith("@@" + version))
    return {name.split("@")[0] for name in names}, strangers


def main():
    public = declared()
    shared, strangers = versioned(defined(BUILD / "libturnstile.so", "--dynamic"))
    static = defined(BUILD / "libturnstile.a")
    problems = [
        f"the header declares {name}, the shared library does not define it"
        for name in sorted(public - shared)
    ]
    problems += [
        f"the shared library exports {name}, which the header does not declare"
        for name in sorted(shared - public)
    ]
    problems += [
        f"the static library defines the global name {name}"
        for name in sorted(static)
        if not name.startswith("tsl_")
    ]
    problems += [f"{name} does not carry the minor version" for name in strangers]
    if not public:
        problems.append("no declaration was found in include/turnstile.h")
    for problem in problems:
        print("  " + problem)
    passed = len(public & shared) + len([name for name in static if name.startswith("tsl_")])
    print(
        f"  {'ok  ' if not problems else 'FAIL'} {len(public)} public functions are exported and "
        "nothing else; "
        f"{len(static)} global names of the static library start with tsl_"
    )
    print(f"{passed} passed, {len(problems)} failed, 0 skipped")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
