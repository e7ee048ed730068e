#!/usr/bin/env python3
"""Look for faults in the sources without running them: three analysers, one list of findings.

    scripts/analyze.py [--jobs N] [gcc | tidy | scan]... [FILE...]

  gcc   gcc -fanalyzer: leaks, double frees, null pointers along the ways through a function
  tidy  clang-tidy: patterns that are mostly faults (`bugprone`), without those that are a matter of
        taste or that the layout of this tree answers (TIDY)
  scan  clang's static analyser, which scan-build runs: as gcc's, by other means

Each .c file of compiler/ and runtime/ is given to each analyser as it is compiled in build/, or the
FILEs alone. A finding is a line "FILE:LINE: KIND: what". Those that were looked at and are none
stand in PASSED, with the reason. Exit status 1 if there is another, or if a row of PASSED finds
nothing any more and all files were looked at.

SPDX-License-Identifier: Apache-2.0
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
FINDING = re.compile(r"^(\S+?):(\d+):\d+: warning: (.*?) \[([\w.,-]+)\]")

# All of bugprone, with seven exceptions. Names: parameters of one type side by side, and names that
# begin with tsl__. Values: conversions that -Wconversion is for, and memcmp as a truth value.
# Macros whose arguments are types. Memory: memchr over the bytes of a literal without its NUL, and
# sizes of pointers, which arrays of pointers have.
TIDY = (
    "-*,bugprone-*,-bugprone-easily-swappable-parameters,-bugprone-narrowing-conversions,"
    "-bugprone-reserved-identifier,-bugprone-implicit-widening-of-multiplication-result,"
    "-bugprone-assignment-in-if-condition,-bugprone-suspicious-string-compare,"
    "-bugprone-macro-parentheses,-bugprone-branch-clone,-bugprone-not-null-terminated-result,"
    "-bugprone-sizeof-expression"
)

# (kind, files, what it says, why it is none): patterns of Python's re.
PASSED = [
    (
        "core.NullDereference",
        "compiler/gbnf/leftrec.c",
        "from variable '(targets|work)'",
        "without memory no cycle is made, and a list that is NULL has no members",
    ),
    (
        "bugprone-suspicious-memory-comparison",
        "compiler/formats/regex_format.c",
        "type 'rx'",
        "all bytes of such a state are cleared before it is filled, padding included",
    ),
    (
        "bugprone-too-small-loop-variable",
        "compiler/grammar/base_layer.c",
        "'uint8_t'",
        "the bound is '9', an int in C",
    ),
    (
        "CWE-476",
        "runtime/walk/fixed.c|compiler/states/fixed_texts.c",
        "NULL ‘0’",
        "only states of fixed texts come here: tsl__state_fixed and tsl__texts_of find theirs",
    ),
    (
        "CWE-476",
        "compiler/schema/(completion|object_clauses).c",
        "NULL ‘0’",
        "`k` is set for the two kinds of targets that name a key, and read for these alone",
    ),
    (
        "CWE-476",
        "compiler/schema/choice/seen.c",
        "NULL ‘v’",
        "a branch notes among its `seen` only nodes that have the keyword",
    ),
    (
        "CWE-476",
        "compiler/expr/shortest.c",
        "NULL ‘0’",
        "way_slot finds an entry of the table that was made, or looked at, just before",
    ),
    (
        "CWE-476",
        "runtime/artifact/load.c|runtime/automaton/leftover.c|runtime/core/base.h",
        "NULL ‘space’",
        "TSL_OK comes with a space; layers of a chain are compared with a space that is there",
    ),
    (
        "CWE-457",
        "compiler/schema/order.c",
        r"‘found\[k\]’",
        "by_text sets as many of them as it says",
    ),
    (
        "CWE-476",
        "compiler/tags/described.c",
        "NULL ‘0’",
        "room for a byte at least was made just before",
    ),
    (
        "CWE-457",
        "runtime/artifact/load.c",
        "‘h’",
        "check_header sets it where it returns TSL_OK, and tsl__fail never does",
    ),
    (
        "CWE-476",
        "runtime/artifact/memo.c|runtime/decode/forced.c",
        "NULL ‘(tokens|tail)’",
        "an array that may be NULL only where its count is 0",
    ),
    (
        "CWE-476",
        "runtime/walk/linear.c",
        "NULL ‘rows’",
        "a walk begins where the table of rows was found or made",
    ),
    (
        "core.NullDereference",
        "compiler/tags/described.c",
        "'at'",
        "room for a byte at least was made just before",
    ),
    (
        "core.CallAndMessage",
        "compiler/expr/kinds/cases.c",
        "2nd function call argument",
        "such a node has parts: the text, and the patterns",
    ),
    (
        "core.UndefinedBinaryOperatorResult",
        "compiler/expr/and.c",
        "garbage value",
        "the list has n conjuncts, and n only falls",
    ),
    (
        "core.NonNullParamChecker",
        "compiler/tools/mend_plan.c",
        "2nd parameter",
        "each text of a form is one, if an empty one",
    ),
    (
        "core.UndefinedBinaryOperatorResult",
        "compiler/formats/host.c",
        "left shift",
        "all fields of a host are set, and each has its own bits",
    ),
    (
        "core.NullDereference",
        "compiler/schema/order.c",
        "'outer'",
        "of two ranks that differ the deeper one is within another",
    ),
    (
        "core.(NullDereference|UndefinedBinaryOperatorResult)",
        "compiler/schema/read.c",
        "'value'|garbage value",
        "a keyword of the mask is among those that were found",
    ),
    (
        "core.NullDereference",
        "compiler/tools/mend.c",
        "null pointer",
        "there are texts where their number is not 0",
    ),
    (
        "core.(NonNullParamChecker|NullDereference)",
        "runtime/automaton/leftover.c",
        "2nd parameter|'nodes'",
        "nodes may be NULL only where there is none, and that ends before",
    ),
]


def commands():
    """{file: arguments of the compiler, without the output} as in build/."""
    found = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        path = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        if ROOT not in path.parents:
            continue
        name = str(path.relative_to(ROOT))
        if not re.match(r"(compiler|runtime)/.*\.c$", name) or name in found:
            continue
        words = shlex.split(entry["command"])
        words = words[words.index(next(w for w in words if w.startswith("-"))) :]
        kept, skip = [], False
        for word in words:
            if skip:
                skip = False
            elif word in ("-o", "-MF", "-MQ"):
                skip = True
            elif word not in ("-MD", "-c") and not word.endswith(".c"):
                kept.append(word)
        found[name] = kept
    return found


def run(tool, name, arguments):
    """What one analyser says of one file."""
    # flags of warnings are gcc's, and the build has its own; optimised code is inlined too much
    plain = [w for w in arguments if not re.match(r"-W|-O|-fdiagnostics|-f(no-)?tree", w)]
    plain = [w for w in plain if not (tool != "gcc" and w == "-fopenmp-simd")]
    path = str(ROOT / name)
    command = {
        "gcc": ["gcc", *plain, "-O1", "-fanalyzer", "-c", path, "-o", os.devnull],
        "tidy": ["clang-tidy", "--quiet", f"--checks={TIDY}", path, "--", *plain],
        "scan": [
            *("clang", "--analyze", "--analyzer-output", "text", *plain, path, "-o", os.devnull)
        ],
    }[tool]
    done = subprocess.run(command, cwd=BUILD, capture_output=True, text=True, check=False)
    text = done.stdout + done.stderr
    if done.returncode and not FINDING.search(text) and "error:" in text:
        return [f"{name}:0: {tool}: cannot be analysed: {text.strip().splitlines()[0]}"]
    out = set()
    for m in filter(None, map(FINDING.match, text.splitlines())):
        at = os.path.relpath(os.path.normpath(BUILD / m.group(1)), ROOT)
        out.add(f"{at}:{m.group(2)}: {m.group(4)}: {m.group(3)}")
    return sorted(out)


def passed(finding, used):
    for row in PASSED:
        kind, files, what, _ = row
        at, _, said, text = re.match(r"(\S+?):(\d+): (\S+): (.*)", finding).groups()
        if re.fullmatch(kind, said) and re.fullmatch(files, at) and re.search(what, text):
            used.add(row)
            return True
    return False


def main():
    words = sys.argv[1:]
    jobs = os.cpu_count() or 1
    if words[:1] == ["--jobs"]:
        jobs, words = int(words[1]), words[2:]
    tools = [w for w in words if w in ("gcc", "tidy", "scan")] or ["gcc", "tidy", "scan"]
    files = [w for w in words if w not in tools]
    programs = {"gcc": "gcc", "tidy": "clang-tidy", "scan": "clang"}
    for tool in tools:
        if not shutil.which(programs[tool]):
            sys.exit(f"analyze: {programs[tool]} is not there")
    known = commands()
    if unknown := [f for f in files if f not in known]:
        sys.exit(f"analyze: not compiled in build/: {', '.join(unknown)}")
    left, used, hidden = [], set(), 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for tool in tools:
            start = time.time()
            names = files or sorted(known)
            answers = pool.map(lambda n, t=tool: run(t, n, known[n]), names)
            found = sorted({f for answer in answers for f in answer})
            new = [f for f in found if not passed(f, used)]
            hidden += len(found) - len(new)
            left += new
            print("\n".join(new), flush=True) if new else None
            print(f"== {tool}: {len(names)} files in {time.time() - start:.0f} s, {len(new)} new")
    idle = [] if files or len(tools) < 3 else [r for r in PASSED if r not in used]
    for row in idle:
        print(f"analyze: this row of PASSED finds nothing any more: {row[:3]}")
    print(f"{len(left)} findings, and {hidden} that were looked at and are none")
    sys.exit(bool(left or idle))


if __name__ == "__main__":
    main()
