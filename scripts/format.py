#!/usr/bin/env python3
"""Lay out all sources of the tree, and check them.

    scripts/format.py [--check] [FILE...]

  C, C++       clang-format, by .clang-format
  Python       ruff, by pyproject.toml: layout and lint
  pages, Node  prettier, by .prettierrc.json: JavaScript, TypeScript and CSS
  Rust         cargo fmt, by bindings/rust/rustfmt.toml; clippy, of which a warning is a failure

`./dev fetch format` brings the pinned versions of the first three to build/format. Cargo is the
machine's own. --check changes nothing; it lists what would change, and ends with status 1 if there
is anything. A tool that is absent is named, and its files stay as they are. With FILEs only those
are formatted.

Left out: tables that a script writes (MADE), and HTML, because page/bundle.py replaces whole lines
of it.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FETCHED = ROOT / "build" / "format"
CRATES = ROOT / "bindings" / "rust"
MADE = re.compile(r"_data\.[ch]$|/metaschemas\.c$|compiler/tools/presets\.c$|nfc_expected\.h$")
C_NAMES = re.compile(r"\.(c|h|cpp|hpp)$")
PYTHON_NAMES = re.compile(r"\.pyi?$")
WEB_NAMES = re.compile(r"^(page|bindings/node|tests)/.*\.(js|ts|css)$")
RUST_NAMES = re.compile(r"^bindings/rust/.*\.rs$")


class Absent(Exception):
    """A tool is not there; says which, and how to get it."""


def run(command, folder=ROOT, **more):
    """(did it end well?, what it wrote) of a command."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, **more},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode == 0, done.stdout


def sources():
    """All files that git knows or would add."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.split("\n") if name and (ROOT / name).is_file()]
    return [name for name in names if not MADE.search(name)]


def version(name):
    """The version that scripts/locks/format.lock pins."""
    lock = (ROOT / "scripts" / "locks" / "format.lock").read_text(encoding="utf-8")
    return re.search(rf"^{name}==(\S+)", lock, re.M)[1]


def tool(name):
    """The program `name` of the pinned version: fetched, beside this Python, or on the path."""
    beside = pathlib.Path(sys.executable).parent / name
    for candidate in (FETCHED / "venv" / "bin" / name, beside, shutil.which(name)):
        if candidate and pathlib.Path(candidate).exists():
            if version(name) in run([candidate, "--version"])[1].split():
                return candidate
    raise Absent(f"{name} {version(name)} is not here (./dev fetch format)")


def prettier():
    script = FETCHED / "prettier" / "bin" / "prettier.cjs"
    if not script.is_file():
        raise Absent("prettier is not here (./dev fetch format)")
    if not shutil.which("node"):
        raise Absent("node, which runs prettier, is not here")
    return ["node", script]


def cargo(name):
    """The subcommand `name` of cargo, if it is installed."""
    if not shutil.which("cargo"):
        raise Absent("cargo is not here")
    if not run(["cargo", name, "--version"], CRATES)[0]:
        raise Absent(f"cargo {name} is not here")
    return ["cargo", name]


def lay_out_c(files, check):
    options = ["--dry-run", "-Werror"] if check else ["-i"]
    return run([tool("clang-format"), *options, *files])


def lay_out_python(files, check):
    return run([tool("ruff"), "format", *(["--check"] if check else []), *files])


def lint_python(files, check):
    return run([tool("ruff"), "check", *([] if check else ["--fix"]), *files])


def lay_out_web(files, check):
    return run([*prettier(), "--log-level=warn", "--check" if check else "--write", *files])


def lay_out_rust(files, check):
    command = [*cargo("fmt"), "--all", *(["--check"] if check else [])]
    both = [run(command, folder) for folder in (CRATES, CRATES / "turnstile-types")]
    return all(ok for ok, _ in both), "".join(text for _, text in both)


def lint_rust(files, check):
    command = [*cargo("clippy"), "--offline", "--locked", "--quiet", "--all-targets"]
    folders = {"TURNSTILE_LIB_DIR": str(ROOT / "build"), "CARGO_TARGET_DIR": str(FETCHED / "rust")}
    return run([*command, "--", "-D", "warnings"], CRATES, **folders)


# What is done, with which files, and how.
STEPS = [
    ("layout of C and C++", C_NAMES, lay_out_c),
    ("layout of Python", PYTHON_NAMES, lay_out_python),
    ("lint of Python", PYTHON_NAMES, lint_python),
    ("layout of pages and JavaScript", WEB_NAMES, lay_out_web),
    ("layout of Rust", RUST_NAMES, lay_out_rust),
    ("lint of Rust", RUST_NAMES, lint_rust),
]


def outcomes(files, check):
    """(name, number of files, True or False or None for absent, what it wrote) of each step."""
    for name, names, step in STEPS:
        chosen = [file for file in files if names.search(file)]
        if not chosen:
            continue
        try:
            fine, output = step(chosen, check)
        except Absent as error:
            fine, output = None, str(error)
        yield name, len(chosen), fine, output


def main():
    unknown = [a for a in sys.argv[1:] if a.startswith("-") and a != "--check"]
    if unknown:
        sys.exit(f"format: there is no option {unknown[0]}; there is --check")
    given = [a for a in sys.argv[1:] if not a.startswith("-")]
    named = [os.path.relpath(pathlib.Path(a).resolve(), ROOT) for a in given]
    files = [name for name in named if not MADE.search(name)] or ([] if named else sources())
    status = 0
    for name, number, fine, output in outcomes(files, "--check" in sys.argv):
        if fine:
            continue
        status = 1
        sys.stdout.write(f"{name}, {number} files: {output.rstrip()}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
