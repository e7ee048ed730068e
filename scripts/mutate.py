#!/usr/bin/env python3
"""Would the tests notice? Change one operator at a time in the code that makes masks and accepts tokens, and see whether a fast part of the tests fails.

    scripts/mutate.py [--count N] [--seed S] [--minutes M] [--files F...]

Each mutant is one change of one operator in one line (MUTATIONS below), drawn without repetition. It is built in a copy of the tree (build-mutate/) and run
against TESTS, fastest first, until one fails, crashes, or takes ten times as long as it should: killed. A mutant that does not compile, or gives the same
object file, does not count. What survives is printed, one a line: a change that no test sees, or that makes no difference (a bound that is never reached, a
hint that only makes things faster). docs/testing.md says which.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import hashlib
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build-mutate"
FILES = ["walk", "mask", "stacks", "matcher", "leftover", "names", "memory"]
# meson target, arguments: the fastest first
TESTS = [
    ("fuzz/replay_mask", ["corpus/mask", "fuzz/corpus/mask"]),
    ("fuzz/replay_walk", ["corpus/walk", "fuzz/corpus/walk"]),
    ("tests/test_oracle", []),
    ("tests/test_memory", []),
    ("tests/test_shipped", []),
    ("tests/test_faults", []),
]
MEMORY = 3 << 30
# What is searched for, what it becomes.
MUTATIONS = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" < ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" \+ 1\b", ""), (r" - 1\b", ""), (r" & ", " | "), (r" \| ", " & "),
    (r" \|= ", " &= "), (r" &= ", " |= "), (r" \^ ", " | "), (r" << ", " >> "), (r" >> ", " << "), (r"\breturn true;", "return false;"),
    (r"\breturn false;", "return true;"), (r"\bcontinue;", "break;"), (r"\bbreak;", "continue;"), (r"(?<=[(& |])!(?=[a-z(*])", ""), (r" = true;", " = false;"),
    (r" = false;", " = true;"), (r" \+= ", " -= "), (r" -= ", " += "), (r"\? ", "? !"),
]


def code_lines(text):
    """Numbers of lines that are code: not comments, directives, or declarations of types."""
    inside = False
    for number, line in enumerate(text.split("\n")):
        bare = line.strip()
        if inside or bare.startswith("/*"):
            inside = "*/" not in bare
            continue
        if bare and not bare.startswith(("#", "//", "static_assert", "_Static_assert")) and line.startswith(" "):
            yield number, line


def mutants(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    for number, line in code_lines(text):
        code = line.split("/*")[0]
        for find, put in MUTATIONS:
            for match in re.finditer(find, code):
                if code[: match.start()].count('"') % 2 == 0:
                    yield file, number, line[: match.start()] + put + line[match.end():]


def run(command, limit, cwd):
    """True if the command ends well within its time."""
    process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
    try:
        return process.wait(limit) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False


def prepare():
    """A copy of the tree, built, and how long each test takes there."""
    for name in subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n"):
        if name and (ROOT / name).is_file():
            copy = WORK / "tree" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            if not copy.exists() or copy.read_bytes() != (ROOT / name).read_bytes():
                shutil.copyfile(ROOT / name, copy)
    if not (WORK / "build" / "build.ninja").exists():
        subprocess.run(["meson", "setup", "../build", "--buildtype=plain", "-Doptimization=1", "-Dcli=false", "-Dbench=false"], cwd=WORK / "tree", check=True,
                       stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", "build", "--quiet", *[t for t, _ in TESTS]], cwd=WORK, check=True, stdout=subprocess.DEVNULL)
    seconds = {}
    for test, arguments in TESTS:
        start = time.monotonic()
        if not run([str(WORK / "build" / test), *arguments], 300, WORK / "tree"):
            sys.exit(f"{test} fails on the tree as it is")
        seconds[test] = time.monotonic() - start
    return seconds


def library_hash():
    """The object code of the file under test and all others."""
    sums = [hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted((WORK / "build").glob("libturnstile*.p/*runtime_*.o"))]
    return hashlib.sha256("".join(sums).encode()).hexdigest()


def judge(file, number, line, seconds, original):
    """killed-by-whom, survived, same or broken."""
    path = WORK / "tree" / file
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    lines[number] = line
    path.write_text("\n".join(lines), encoding="utf-8")
    try:
        if not run(["ninja", "-C", "build", "--quiet", *[t for t, _ in TESTS]], 300, WORK):
            return "broken"
        if library_hash() == original:
            return "same"
        for test, arguments in TESTS:
            if not run([str(WORK / "build" / test), *arguments], 5 + 10 * seconds[test], WORK / "tree"):
                return test
        return "survived"
    finally:
        path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so many")
    parser.add_argument("--files", nargs="*", default=FILES)
    options = parser.parse_args()
    every = [m for f in options.files for m in mutants(f"runtime/{f}.c")]
    random.Random(options.seed).shuffle(every)
    seconds = prepare()
    original, end = library_hash(), time.monotonic() + 60 * options.minutes
    killers, survivors, judged, void = {}, [], 0, 0
    for file, number, line in every:
        if judged == options.count or time.monotonic() > end:
            break
        verdict = judge(file, number, line, seconds, original)
        if verdict in ("broken", "same"):
            void += 1
            continue
        judged += 1
        if verdict == "survived":
            survivors.append((file, number, line))
            print(f"  survived  {file}:{number + 1}: {line.strip()}", flush=True)
        else:
            killers[verdict] = killers.get(verdict, 0) + 1
    for test, n in sorted(killers.items(), key=lambda k: -k[1]):
        print(f"  {n:4} killed by {test}")
    print(f"{judged - len(survivors)} of {judged} mutants killed ({100 * (judged - len(survivors)) / max(judged, 1):.1f} %), seed {options.seed}, "
          f"{len(every)} possible, {void} that change nothing or do not compile left out")


if __name__ == "__main__":
    main()
