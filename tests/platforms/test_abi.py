#!/usr/bin/env python3
"""The binary interface is that of the minor version: structs, enums and functions of the header are
still those of tests/platforms/turnstile.abi.

    test_abi.py            compare
    test_abi.py --write    write the file anew, for a new minor version (docs/compatibility.md)

What a program depends on stands in include/turnstile.h. So the test compiles a library that has
every function of the header, with nothing in it, and looks at that: it takes a second. test_symbols
tests that the real library exports these functions. abidw and abidiff (Debian: abigail-tools)
read the debugging data. A function that is new is no break. A field that is added, moved or retyped
is one, as is a function that is gone or takes something else.

  same      the interface is that of the file, or has new functions
  notices   abidiff reports a struct that grew, a function that is gone, and an enum's new number

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import shutil
import sys
import tempfile

import platform_checks as platform
from platform_checks import ROOT, check, run, skip, works

KEPT = ROOT / "tests" / "platforms" / "turnstile.abi"
HEADER = ROOT / "include" / "turnstile.h"
DUMP = """--no-show-locs --no-corpus-path --no-comp-dir-path --no-elf-needed
    --no-write-default-sizes""".split()
CHANGED = 4 | 8  # bits of abidiff's exit status: a change, one that breaks


def library(text, folder):
    """A library with every function that a header declares, or None."""
    (folder / "turnstile.h").write_text(text)
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    functions = re.findall(r"^TSL_API ([^;{]*?\));", bare, re.M | re.S)
    if not check(len(functions) > 100, f"the header declares {len(functions)} functions"):
        return None
    bodies = "".join(f"{function} {{ __builtin_trap(); }}\n" for function in functions)
    source = folder / "all.c"
    source.write_text('#include "turnstile.h"\n' + bodies)
    made = folder / "libturnstile.so.0"
    command = ["gcc", "-std=c11", "-g", "-O0", "-fPIC", "-shared", "-w", source, "-o", made]
    return made if works("the functions of the header", *command) is not None else None


def difference(made):
    """abidiff's status and what it says of a library, beside the file that is kept."""
    done = run("abidiff", "--no-show-locs", "--no-added-syms", KEPT, made)
    return done.returncode, done.stdout + done.stderr


def changed(text, folder):
    folder.mkdir()
    made = library(text, folder)
    return made and difference(made)[0] & CHANGED


def main():
    if not shutil.which("abidiff"):
        skip("abidiff is not installed (Debian: abigail-tools)")
        return platform.close()
    text = HEADER.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = library(text, folder)
        if made is None:
            return platform.close()
        if "--write" in sys.argv:
            works("abidw", "abidw", *DUMP, "--out-file", KEPT, made)
            return platform.close()
        status, said = difference(made)
        check(
            status == 0,
            "the binary interface is not that of tests/platforms/turnstile.abi. For a new minor "
            f"version write that file anew (test_abi.py --write): {said}",
        )
        grown = text.replace("typedef struct tsl_draw {", "typedef struct tsl_draw {\n  int more;")
        check(grown != text and changed(grown, folder / "grown"), "a struct that grew is noticed")
        gone = re.sub(r"^TSL_API bool tsl_matcher_is_complete\([^;]*;", "", text, flags=re.M)
        check(gone != text and changed(gone, folder / "gone"), "a function that is gone is noticed")
        other = text.replace("tsl_matcher_rollback(tsl_matcher *matcher, size_t", "@", 1)
        other = other.replace("@", "tsl_matcher_rollback(tsl_matcher *matcher, uint32_t")
        check(other != text and changed(other, folder / "other"), "another parameter is noticed")
        more = text.replace(
            "TSL_API const char *tsl_version(void);",
            "TSL_API const char *tsl_version(void);\nTSL_API int tsl_one_more(void);",
        )
        check(more != text and changed(more, folder / "more") == 0, "a new function is no break")
    return platform.close()


if __name__ == "__main__":
    sys.exit(main())
