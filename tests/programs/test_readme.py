#!/usr/bin/env python3
"""What README.md shows is true.

  example   the C example has at most 20 lines, compiles without a warning against the shared
            library, and prints what it says
  commands  every `./dev X` and `build/turnstile X` that is named exists; a test that does not exist
            is said to be none before anything is fetched
  header    the subjects of include/turnstile.h are named in their order
  figures   what README says of pairs, texts and schemas stands in docs/testing.md, in the same
            digits
  links     every file and folder that is linked to or named in the table of folders exists
  hosts     docs/hosts.md links to an example for each host, of at most 40 lines, which a test of
            the hosts runs

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))
README = (ROOT / "README.md").read_text(encoding="utf-8")

results = []


def check(condition, what):
    results.append(bool(condition))
    if not condition:
        print(f"  failed: {what}")


def run(*command):
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=ROOT
    )


def test_example():
    blocks = re.findall(r"^```c\n(.*?)^```", README, re.M | re.S)
    check(len(blocks) == 1, f"README.md has one C example, not {len(blocks)}")
    lines = blocks[0].rstrip("\n").split("\n")
    check(len(lines) <= 20, f"the example has {len(lines)} lines")
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "example.c"), pathlib.Path(folder, "example")
        source.write_text(blocks[0], encoding="utf-8")
        compiler = next(c for c in ("gcc", "cc", "clang") if shutil.which(c))
        done = run(
            compiler,
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            f"-I{ROOT / 'include'}",
            str(source),
            "-o",
            str(program),
            f"-L{BUILD}",
            "-lturnstile",
            f"-Wl,-rpath,{BUILD}",
        )
        check(done.returncode == 0, f"the example compiles: {done.stderr}")
        if done.returncode:
            return
        done = run(str(program))
        check(
            done.returncode == 0, f"the example ends with status {done.returncode}: {done.stderr}"
        )
        number = re.fullmatch(
            r"[1-9][0-9]*(\.[0-9]+)?([eE][-+]?[0-9]+)?|0\.[0-9]+[eE]\+?[0-9]+", done.stdout
        )
        check(number and 18 <= float(done.stdout) <= 120, f"the example prints {done.stdout!r}")


def test_commands():
    commands = set(re.findall(r"\./dev ([a-z]+)", README))
    offered = run("./dev", "help").stdout
    for command in sorted(commands):
        check(re.search(rf"^\./dev {command}\b", offered, re.M), f"./dev {command} exists")
    done = run("./dev", "test", "docs", "nonsuch")
    check(
        done.returncode == 1 and done.stderr.startswith("dev: there is no test nonsuch:"),
        f"./dev test nonsuch: {done.stderr}",
    )
    tool = run(os.environ.get("TSL_CLI", str(BUILD / "turnstile")), "help").stdout
    for command in sorted(set(re.findall(r"build/turnstile ([a-z]+)", README))):
        check(re.search(rf"^\s*{command}\b", tool, re.M), f"turnstile {command} exists")


def test_header():
    header = (ROOT / "include" / "turnstile.h").read_text(encoding="utf-8")
    titles = [
        title.lower()
        for title in re.findall(r"^/\* -{4} [0-9]+\. ([^:\n]*?)(?::.*)? -{4,} \*/$", header, re.M)
    ]
    named = re.search(r"in the order in which a user meets it: ([^.]*)\.", README)[1].replace(
        "\n", " "
    )
    check(
        len(titles) >= 12 and named == ", ".join(titles),
        f"README names the subjects of the header, {', '.join(titles)}",
    )


def test_figures():
    said = re.search(r"^All 3,471 schemas pass.*?\]\(docs/testing\.md\)", README, re.M | re.S)[0]
    page = (
        (ROOT / "docs" / "testing.md")
        .read_text(encoding="utf-8")
        .partition("## Figures that README has")[2]
    )
    log = (ROOT / "docs" / "testing-log.md").read_text(encoding="utf-8")
    numbers = re.findall(r"\b\d{1,3}(?:,\d{3})+\b", said)
    check(len(numbers) >= 4, f"figures: {numbers}")
    for number in numbers:
        check(number in page, f"docs/testing.md says which run {number} is of")
        check(
            number in log or number.replace(",", "") in log or number == "3,471",
            f"docs/testing-log.md has {number}",
        )


def test_links():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        check((ROOT / target).exists(), f"{target} exists")
    folders = README.split("## Where things are")[1]
    for target in re.findall(r"`([a-z_/]+/)`", folders):
        check((ROOT / target).is_dir(), f"{target} exists")


def test_hosts():
    text = (ROOT / "docs" / "hosts.md").read_text(encoding="utf-8")
    tests = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "hosts").rglob("*.py")
    )
    rows = [line for line in text.split("\n") if line.startswith("| ")][1:]
    check(len(rows) >= 11, f"there are {len(rows)} hosts")
    for row in rows:
        host, _, example, _ = (cell.strip() for cell in row.strip("| ").split(" | "))
        path = ROOT / "docs" / re.search(r"\]\(([^)]+)\)", example)[1]
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        check(0 < len(lines) <= 40, f"{host}: {example} has {len(lines)} lines")
        check(
            path.name in tests or (path.suffix == ".rs" and f'"{path.stem}"' in tests),
            f"{host}: no test runs {path.name}",
        )
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        check((ROOT / "docs" / target).exists(), f"docs/hosts.md: {target} exists")


def main():
    for name, test in [
        ("example", test_example),
        ("commands", test_commands),
        ("header", test_header),
        ("figures", test_figures),
        ("links", test_links),
        ("hosts", test_hosts),
    ]:
        before = len(results)
        test()
        made = results[before:]
        print(f"  {'ok  ' if all(made) else 'FAIL'} {name} ({len(made)} checks)")
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, 0 skipped")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
