#!/usr/bin/env python3
"""Would the tests notice? Change one operator at a time in the code that makes masks and accepts
tokens, or in a part of the compiler. See whether a fast part of the tests fails.

    scripts/mutate.py [--count N] [--seed S] [--minutes M] [--files F...] [--only FILE:LINE... |
    --again OUTPUT]

Each mutant is one change of one operator in one line (MUTATIONS in mutate_tables.py), drawn without
repetition. clang builds the library in a copy of the tree (build-mutate/), as a shared library that
shows all its names. The tests are linked to it once. For a mutant one file is compiled and the
library linked. Then TESTS run until one fails, crashes, or takes five times as long as it should:
the mutant is killed. Tests that are fast and have killed mutants of the file run first. Some run
once more on what survives, in a second copy. That copy is built with ASan and UBSan, which see an
index one past the end.

Three kinds are left out. The first does not compile. The second gives the same code when it is
optimised. The third is listed in EQUIVALENT, which says why each change alters only the cost and
not what is allowed. What survives is printed, one a line; docs/testing-log.md says why of each.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

from mutate_tables import (
    ASKS,
    COMPILER,
    EQUIVALENT,
    FILES,
    KERNELS,
    MUTATIONS,
    PROGRAMS,
    SANITIZED,
    TESTS,
    WRAPPED,
)

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build-mutate"


def source(name):
    """The file of a name in the tables, which leave runtime/ and the ending out."""
    return f"{name}.c" if name.startswith("compiler/") else f"runtime/{name}.c"


def code_lines(text):
    """Numbers of lines that are code: not comments, directives, or declarations of types."""
    inside = False
    for number, line in enumerate(text.split("\n")):
        bare = line.strip()
        if inside or bare.startswith("/*"):
            inside = "*/" not in bare
            continue
        if (
            bare
            and not bare.startswith(("#", "//", "static_assert", "_Static_assert"))
            and line.startswith(" ")
        ):
            yield number, line


def equivalent(file, before, line, at, put):
    """Why a change at that place of the line makes no difference, if EQUIVALENT says so. Patterns
    may look at the line before.
    """
    at += len(before) + 1
    for name, pattern, why, *only in EQUIVALENT:
        for match in re.finditer(pattern, before + "\n" + line) if file == source(name) else []:
            if match.start() <= at < match.end() and (not only or put in only[0]):
                return why
    return None


def check_equivalent():
    """The entries whose code is gone: such an entry could one day excuse what it should not."""
    gone = []
    for name, pattern, *_ in EQUIVALENT:
        path = ROOT / source(name)
        if not path.is_file():
            gone.append(f"EQUIVALENT: there is no {source(name)} (its pattern: {pattern})")
        elif not re.search(pattern, path.read_text(encoding="utf-8")):
            gone.append(f"EQUIVALENT: nothing in {source(name)} matches {pattern}")
    named = {n for _, _, files in TESTS for n in files or ()} | set(FILES)
    return gone + [f"there is no {source(n)}" for n in named if not (ROOT / source(n)).is_file()]


def mutants(file):
    """File, number of the line, the line changed, and why that is left out (or None)."""
    text = (ROOT / file).read_text(encoding="utf-8")
    lines = text.split("\n")
    for number, line in code_lines(text):
        code = line.split("/*")[0]
        for find, put in MUTATIONS:
            for match in re.finditer(find, code):
                if code[: match.start()].count('"') % 2 == 0:
                    yield (
                        file,
                        number,
                        line[: match.start()] + put + line[match.end() :],
                        equivalent(file, lines[number - 1], line, match.start(), put),
                    )


ENVIRONMENT = {
    **os.environ,
    "MALLOC_PERTURB_": "165",
    "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:hard_rss_limit_mb=2000",
    "LC_ALL": "C",
    "TSL_SUITE": str(ROOT / "build" / "suite"),
}
VENV = ROOT / "build" / "venv" / "bin" / "python"
PYTHON = str(VENV) if VENV.exists() else sys.executable


def run(command, limit, cwd, sanitized, environment=ENVIRONMENT):
    """True if the command ends well within so many seconds of processor time, and not much later by
    the clock. Where it is sanitized memory is limited by ENVIRONMENT.
    """

    def limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        if not sanitized:
            resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=environment,
        preexec_fn=limits,
    )
    try:
        return process.wait(60 + 20 * limit) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False


def wants(files, name):
    """Is the test run on mutants of that file?"""
    return name in files if files else name not in KERNELS and name not in COMPILER


class Bench:
    """One copy of the tree, built: here mutants are made and judged."""

    def __init__(self, folder, sanitized, names):
        self.tree, self.build, self.sanitized = folder / "tree", folder / "build", sanitized
        self.codes, self.kills = {}, {}
        self.tests = [
            (test, arguments, files)
            for test, arguments, files in TESTS
            if (not sanitized or test in SANITIZED) and any(wants(files, name) for name in names)
        ]
        self.copy()
        if not (self.build / "build.ninja").exists():
            environment = {
                **os.environ,
                "CC": "clang",
                "CFLAGS": "-fvisibility=default -DTSL__INDEX_COMPARED=0",
            }
            subprocess.run(
                [
                    "meson",
                    "setup",
                    "../build",
                    "--buildtype=debug",
                    "-Doptimization=1",
                    *(["-Db_sanitize=address,undefined", "-Db_lundef=false"] if sanitized else []),
                ],
                cwd=self.tree,
                check=True,
                stdout=subprocess.DEVNULL,
                env=environment,
            )
        # What a mutant of an earlier run left behind has the time of its making.
        subprocess.run(
            ["ninja", "-C", self.build, "--quiet", *self.programs()],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        self.library = next(self.build.glob("libturnstile.so.*.p")).name.removesuffix(".p")
        subprocess.run(
            ["ninja", "-C", self.build, "--quiet", self.library],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        self.link = self.command(self.library)
        for test in self.programs():
            self.link_test(test)
        commands = json.loads((self.build / "compile_commands.json").read_text(encoding="utf-8"))
        self.compile = {
            os.path.relpath(self.build / c["file"], self.tree): c["command"]
            for c in commands
            if c["output"].startswith(("libturnstile", "libkernel"))
        }
        self.seconds = {test: self.time(test, arguments) for test, arguments, _ in self.tests}

    def copy(self):
        for name in subprocess.run(
            ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.split("\n"):
            if name and (ROOT / name).is_file():
                copy = self.tree / name
                copy.parent.mkdir(parents=True, exist_ok=True)
                if not copy.exists() or copy.read_bytes() != (ROOT / name).read_bytes():
                    shutil.copyfile(ROOT / name, copy)

    def command(self, target):
        return (
            subprocess.run(
                ["ninja", "-C", self.build, "-t", "commands", target],
                check=True,
                capture_output=True,
                text=True,
            )
            .stdout.strip()
            .split("\n")[-1]
        )

    def link_test(self, test):
        """The test once more, linked to the shared library, or to what that is linked of."""
        words = shlex.split(self.command(test))
        words[words.index("-o") + 1] += "_shared"
        parts = (
            [w for w in shlex.split(self.link) if w.startswith("lib") and w.endswith((".o", ".a"))]
            if test in WRAPPED
            else [self.library]
        )
        at = words.index("libturnstile.a")
        words[at : at + 1] = parts
        subprocess.run([*words, f"-Wl,-rpath,{self.build}"], cwd=self.build, check=True)

    def programs(self):
        """What is built: the tests, and what those of them run that are written in Python."""
        return sorted({PROGRAMS[t][1] if t in PROGRAMS else t for t, *_ in self.tests})

    def passes(self, test, arguments, limit):
        if test not in PROGRAMS:
            command = [str(self.build / f"{test}_shared"), *arguments]
            return run(command, limit, self.tree, self.sanitized)
        variable, program = PROGRAMS[test]
        environment = {**ENVIRONMENT, variable: str(self.build / f"{program}_shared")}
        return run([PYTHON, test, *arguments], limit, self.tree, self.sanitized, environment)

    def time(self, test, arguments):
        """Seconds of processor time that a test takes."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        if not self.passes(test, arguments, 600):
            sys.exit(f"{test} fails on the tree as it is")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def optimised(self, file):
        """The code of a file as a release has it, as a hash."""
        words = [
            w
            for w in shlex.split(self.compile[file])
            if not w.startswith(("-fsanitize", "-g", "-O", "-M")) and not w.endswith((".o.d"))
        ]
        target = words.index("-o")
        del words[target : target + 2]
        words = [w for w in words if not w.endswith(".o")]
        made = subprocess.run(
            [*words, "-O2", "-DNDEBUG", "-o", "mutant.o"], cwd=self.build, stderr=subprocess.DEVNULL
        )
        return (
            hashlib.sha256((self.build / "mutant.o").read_bytes()).hexdigest()
            if made.returncode == 0
            else None
        )

    def code_of(self, file, text):
        """The same of the file as it is."""
        if file not in self.codes:
            (self.tree / file).write_text(text, encoding="utf-8")
            self.codes[file] = self.optimised(file)
        return self.codes[file]

    def wanted(self, stem, line):
        """The tests for a mutant, those that will probably kill it soonest first."""
        chosen = [
            (test, arguments)
            for test, arguments, files in self.tests
            if wants(files, stem) and (test not in ASKS or ASKS[test].search(line))
        ]
        return sorted(
            chosen,
            key=lambda t: (self.seconds[t[0]] + 0.02) / (1 + self.kills.get((stem, t[0]), 0)),
        )

    def judge(self, file, number, line):
        """killed-by-whom, survived, same or broken. Only the copy that is not sanitized asks for
        the last two.
        """
        path = self.tree / file
        text = path.read_text(encoding="utf-8")
        words = shlex.split(self.compile[file])
        made = self.build / words[words.index("-o") + 1]
        kept = made.read_bytes()
        lines = text.split("\n")
        lines[number] = line
        path.write_text("\n".join(lines), encoding="utf-8")
        try:
            if subprocess.run(words, cwd=self.build, stderr=subprocess.DEVNULL).returncode:
                return "broken"
            subprocess.run(shlex.split(self.link), cwd=self.build, check=True)
            stem = file.removeprefix("runtime/").removesuffix(".c")
            for test, arguments in self.wanted(stem, line):
                if test in WRAPPED:
                    self.link_test(test)
                if not self.passes(test, arguments, 2 + int(5 * self.seconds[test])):
                    self.kills[stem, test] = self.kills.get((stem, test), 0) + 1
                    return test + (", sanitized" if self.sanitized else "")
            if self.sanitized or self.optimised(file) != self.code_of(file, text):
                return "survived"
            return "same"
        finally:
            path.write_text(text, encoding="utf-8")
            made.write_bytes(kept)


def chosen(options):
    """The mutants to try, in the order of the seed, and how many there are with the equivalent."""
    every = [m for f in options.files for m in mutants(source(f))]
    left = [(f, n, line) for f, n, line, why in every if not why]
    if options.again:
        known = set(
            re.findall(
                r"^  survived  (\S+):(\d+): (.*)$", options.again.read_text(encoding="utf-8"), re.M
            )
        )
        left = [(f, n, line) for f, n, line, _ in every if (f, str(n + 1), line.strip()) in known]
    elif options.only:
        left = [m for m in left if f"{m[0]}:{m[1] + 1}" in options.only]
    random.Random(options.seed).shuffle(left)
    return left, len(every)


def print_table(by_file):
    print(f"  {'file':24} {'tried':>6} {'killed':>7}")
    for file, (tried, killed) in sorted(by_file.items()):
        print(f"  {file:24} {tried:6} {killed:7}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--check", action="store_true", help="only check that EQUIVALENT fits the code"
    )
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so many")
    parser.add_argument("--files", nargs="*", default=FILES)
    parser.add_argument("--only", nargs="*", help="only these lines, as runtime/walk/walk.c:99")
    parser.add_argument(
        "--again",
        type=pathlib.Path,
        help="only those that survived by this output of an earlier run",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="without the sanitized copy: what survives may be found there",
    )
    parser.add_argument(
        "--verbose", action="store_true", help="the verdict of each mutant, and when"
    )
    options = parser.parse_args()
    gone = check_equivalent()
    if gone:
        sys.exit("\n".join(gone))
    if options.check:
        return
    left, possible = chosen(options)
    bench, sanitized = Bench(WORK / "plain", False, options.files), None
    end = time.monotonic() + 60 * options.minutes
    killers, by_file, void = {}, {}, 0
    for file, number, line in left:
        if sum(t for t, _ in by_file.values()) == options.count or time.monotonic() > end:
            break
        verdict = bench.judge(file, number, line)
        if verdict == "survived" and not options.quick:
            sanitized = sanitized or Bench(WORK / "sanitized", True, options.files)
            verdict = sanitized.judge(file, number, line)
        if verdict in ("broken", "same"):
            void += 1
            continue
        tried, killed = by_file.get(file, (0, 0))
        by_file[file] = (tried + 1, killed + (verdict != "survived"))
        if verdict == "survived":
            print(f"  survived  {file}:{number + 1}: {line.strip()}", flush=True)
        else:
            killers[verdict] = killers.get(verdict, 0) + 1
        if options.verbose:
            print(
                f"  {time.monotonic() - end + 60 * options.minutes:6.0f} s  {verdict}", flush=True
            )
    for test, n in sorted(killers.items(), key=lambda k: -k[1]):
        print(f"  {n:4} killed by {test}")
    print_table(by_file)
    judged, killed = sum(t for t, _ in by_file.values()), sum(k for _, k in by_file.values())
    print(
        f"{killed} of {judged} mutants killed ({100 * killed / max(judged, 1):.1f} %), seed "
        f"{options.seed}; of {possible} possible ones {possible - len(left)} are equivalent "
        f"by EQUIVALENT, and {void} of those drawn do not compile or give the same code"
    )


if __name__ == "__main__":
    main()
