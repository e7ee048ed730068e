#!/usr/bin/env python3
"""Which grammar files of packages are read? Every .lark and .gbnf file in wheels, source packages
and folders is compiled, and the answers are counted.

    scripts/lark_files.py FILE|FOLDER... [--timeout S]

A Lark file is tried with the start rule `start`. If it has none, its first rule is the start; if it
has terminals only, a rule that lists them is put in front. Imports are read from the file's folder.
One line for each file that is refused, with the reason; then the counts.
The exit status is 0 where all were read or refused with a reason, 1 where a compile crashed or took
longer than --timeout (60).

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build")) / "turnstile"
ENDS = (".lark", ".gbnf")


def members(path):
    """Name and content of each grammar file of a package or folder."""
    if path.is_dir():
        for file in sorted(p for p in path.rglob("*") if p.suffix in ENDS):
            yield str(file.relative_to(path)), file.read_bytes()
    elif path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            for name in sorted(n for n in archive.namelist() if n.endswith(ENDS)):
                yield name, archive.read(name)
    else:
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile() and member.name.endswith(ENDS):
                    yield member.name, archive.extractfile(member).read()


def start_of(text):
    """(the start rule, what is put in front of the text)."""
    rules = re.findall(r"^[?!]*(_*[a-z]\w*)(?:\.-?\d+)?[ \t]*:", text, re.M)
    if "start" in rules:
        return "start", ""
    if rules:
        return rules[0], ""
    imported = re.findall(r"->\s*(start)\b", text)
    if imported:
        return "start", ""
    terminals = re.findall(r"^(_*[A-Z]\w*)(?:\.-?\d+)?[ \t]*:", text, re.M)
    return "start", f"start: {' | '.join(terminals)}\n" if terminals else ""


def ask(folder, name, text, timeout):
    """How the tool answers: (kind, reason)."""
    file = folder / name
    if name.endswith(".gbnf"):
        options = ["--grammar", str(file)]
    else:
        start, before = start_of(text)
        file = file.with_name("tried-" + file.name)
        file.write_text(before + text, encoding="utf-8")
        options = ["--lark", str(file), "--root", start, "--imports", str(file.parent)]
    try:
        done = subprocess.run(
            [str(TOOL), "check", *options, "-"], input=b"", capture_output=True, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        return "no answer", f"not in {timeout} s"
    reason = done.stderr.decode(errors="replace").strip().split("\n")[0]
    if done.returncode in (0, 1):
        return "read", ""
    return ("refused", reason) if done.returncode == 2 and reason else ("crashed", reason)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("packages", nargs="+", type=pathlib.Path)
    parser.add_argument("--timeout", type=int, default=60)
    given = parser.parse_args()
    bad = 0
    for package in given.packages:
        counts = {}
        with tempfile.TemporaryDirectory() as place:
            folder, files = pathlib.Path(place), list(members(package))
            for name, content in files:
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            for name, content in files:
                kind, reason = ask(folder, name, content.decode("utf-8"), given.timeout)
                counts[kind] = counts.get(kind, 0) + 1
                bad += kind in ("crashed", "no answer")
                if kind != "read":
                    print(f"{name}: {kind}: {reason}".replace(place, ""))
        said = ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())) or "none"
        print(f"{package.name}: {len(files)} grammar files: {said}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
