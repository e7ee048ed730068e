#!/usr/bin/env python3
"""Includes point one way: include/ <- runtime/ <- compiler/; cli/, bench/, bindings/ and examples/
see include/ alone.

Every #include line of every C file is looked at. A quoted name must be written from the root of the
tree (or be "turnstile.h", or stand in the same folder for the programs), must exist, and must lie
in a folder that the including file may see. yajl and PCRE2 stay out of the plain runtime, so that a
program that links runtime/ alone needs neither; the trie of the vocabulary stays out of compiler/.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)

# Folder -> folders whose headers it may include, by quoted name. "turnstile.h" stands for include/.
MAY_SEE = {
    "include": [],
    "runtime": ["include", "runtime"],
    "compiler": ["include", "runtime", "compiler"],
    "cli": ["include", "cli"],
    "bench": ["include", "bench"],
    "bindings": ["include", "bindings"],
    "page": ["include", "cli", "page"],
    "examples": ["include", "examples"],
    "tests": ["include", "runtime", "compiler", "bench", "tests"],
    "fuzz": ["include", "runtime", "compiler", "tests", "fuzz"],
}
# System headers that need a library which not every part may need.
LIBRARIES = {
    "yajl/": [
        "compiler/",
        "runtime/tokenizer/",
        "runtime/vocab_files/",
        "cli/",
        "bench/",
        "tests/",
        "fuzz/",
    ],
    "pcre2.h": [
        "compiler/",
        "runtime/tokenizer/",
        "runtime/vocab_files/",
        "cli/",
        "tests/",
        "fuzz/",
    ],
    "xxhash.h": ["runtime/", "compiler/", "tests/", "fuzz/"],
}
# Headers of runtime/ that compiler/ never sees: it makes states, and the walk (runtime/) is where
# they meet the vocabulary.
NOT_FOR_COMPILER = ["runtime/core/trie.h"]


def sources():
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", "*.c", "*.h", "*.def"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode == 0:
        return [name for name in listed.stdout.split("\n") if name and (ROOT / name).is_file()]
    return [
        str(p.relative_to(ROOT))
        for ext in ("c", "h", "def")
        for p in ROOT.rglob("*." + ext)
        if not p.relative_to(ROOT).parts[0].startswith(("build", "."))
    ]


def find(name, includer):
    """The file that a quoted name means, as a path from the root; None if there is none."""
    for candidate in (ROOT / name, ROOT / "include" / name, (ROOT / includer).parent / name):
        if candidate.is_file():
            return candidate.resolve().relative_to(ROOT).as_posix()
    return None


def complaint(includer, kind, name):
    """What is wrong with one include line, or None."""
    folder = includer.split("/")[0]
    if folder not in MAY_SEE:
        return f"no rule says what {folder}/ may include; add one here"
    if kind == "<":
        for prefix, allowed in LIBRARIES.items():
            if name.startswith(prefix) and not includer.startswith(tuple(allowed)):
                return f"<{name}> may be included only in {', '.join(allowed)}"
        return None
    target = find(name, includer)
    if target is None:
        return f'"{name}" does not exist'
    seen = target.split("/")[0]
    if seen not in MAY_SEE[folder]:
        return f'"{name}" lies in {seen}/, which {folder}/ must not see'
    if folder in ("runtime", "compiler") and seen != "include" and name != target:
        return f'"{name}" is to be written from the root: "{target}"'
    if folder == "compiler" and target in NOT_FOR_COMPILER:
        return f"{target} is not for compiler/"
    return None


def self_check():
    """The rules catch what they are for."""
    cases = [
        ("runtime/core/base.c", '"', "compiler/expr/expr.h"),
        ("cli/main.c", '"', "runtime/core/base.h"),
        ("runtime/core/base.c", "<", "yajl/yajl_parse.h"),
        ("compiler/expr/expr.c", '"', "runtime/core/trie.h"),
        ("runtime/core/base.c", '"', "base.h"),
        ("compiler/expr/expr.c", '"', "runtime/absent.h"),
        ("odd/file.c", '"', "turnstile.h"),
    ]
    good = [
        ("compiler/expr/expr.c", '"', "runtime/core/base.h"),
        ("cli/main.c", '"', "turnstile.h"),
        ("runtime/core/base.c", "<", "xxhash.h"),
    ]
    return [c for c in cases if complaint(*c) is None] + [
        c for c in good if complaint(*c) is not None
    ], len(cases) + len(good)


def main():
    wrong, checks = self_check()
    for case in wrong:
        print(f"  self-check: {case} is judged wrongly")
    passed, failed = checks - len(wrong), len(wrong)
    files = sources()
    for includer in files:
        text = (ROOT / includer).read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            why = complaint(includer, *match.groups())
            if why is None:
                passed += 1
            else:
                failed += 1
                print(f"  {includer}:{text.count(chr(10), 0, match.start()) + 1}: {why}")
    print(
        f"  {'ok  ' if not failed else 'FAIL'} includes of {len(files)} files point include/ <- "
        "runtime/ <- compiler/"
    )
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
