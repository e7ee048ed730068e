#!/usr/bin/env python3
"""What README.md shows is true.

  size      a stranger reads it in a minute: at most 120 lines
  step      the tokens of "One step" are those that the tool prints
  example   the C example has at most 20 lines, compiles without a warning against the shared
            library, and prints a number of its schema
  python    the Python example has at most 14 lines, set-up included (test_docs.py runs it)
  commands  every `./dev X` and `build/turnstile X` that README.md, CONTRIBUTING.md and the guide
            name exists. For a test that does not exist, `./dev test` says so before it fetches
            anything
  header    docs/guide.md names the subjects of include/turnstile.h in their order
  figures   the table beside other engines is that of docs/bench/peers.md; what docs/bench.md says
            of pairs, texts and schemas stands in docs/testing-log.md
  links     every file and folder that README.md, CONTRIBUTING.md and CHANGELOG.md link to exists
  platforms the table of platforms says no more than that of docs/platforms.md, which has a row for
            each target of scripts/platforms.py and scripts/cross.py; what can't be run here is not
            said to be run. "Install" has a line for each of six package managers
  hosts     docs/hosts.md links to an example for each host, of at most 40 lines, which a test of
            the hosts runs

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))
sys.path.insert(0, str(ROOT / "scripts"))

import cross  # noqa: E402
import platforms  # noqa: E402

README = (ROOT / "README.md").read_text(encoding="utf-8")

results = []


def check(condition, what):
    results.append(bool(condition))
    if not condition:
        print(f"  failed: {what}")
    return bool(condition)


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


def test_size():
    lines = README.split("\n")
    check(len(lines) <= 121, f"README.md has {len(lines) - 1} lines")
    blocks = re.findall(r"^```python\n(.*?)^```", README, re.M | re.S)
    check(
        len(blocks) == 1 and blocks[0].count("\n") <= 14,
        "README.md has one Python example of at most 14 lines",
    )


def test_step():
    """The one command of "One step", and the table below it."""
    section = README.partition("\n## One step\n")[2].partition("\n## ")[0]
    (command,) = re.findall(r"^    (build/turnstile .*)$", section, re.M)
    done = run(os.environ.get("TSL_CLI", str(BUILD / "turnstile")), *shlex.split(command)[1:])
    printed = {json.loads(line.split("\t")[1]) for line in done.stdout.splitlines() if "\t" in line}
    shown = {
        token
        for cell in re.findall(r"^\| ((?:`[^`]+` ?)+)\|", section, re.M)
        for token in re.findall(r"`([^`]+)`", cell)
    }
    check(
        len(printed) > 4 and printed == shown,
        f"the tool prints {sorted(printed)}, README.md shows {sorted(shown)}",
    )
    counted = re.search(r"(\d+) of (\d+) tokens", done.stderr + done.stdout)
    check(counted and int(counted[1]) == len(shown), f"{counted and counted[0]} are allowed")
    check(
        counted
        and f"The other {int(counted[2]) - len(shown):,} of {int(counted[2]):,} tokens" in section,
        "README.md says how many are not",
    )


def test_commands():
    pages = "".join(
        (ROOT / name).read_text(encoding="utf-8")
        for name in ("README.md", "CONTRIBUTING.md", "docs/guide.md")
    )
    commands = set(re.findall(r"\./dev ([a-z]+)", pages))
    offered = run("./dev", "help").stdout
    check(len(commands) > 8, f"./dev commands that are named: {sorted(commands)}")
    for command in sorted(commands - {"help"}):
        check(re.search(rf"^\./dev {command}\b", offered, re.M), f"./dev {command} exists")
    done = run("./dev", "test", "docs", "nonsuch")
    check(
        done.returncode == 1 and done.stderr.startswith("dev: there is no test nonsuch"),
        f"./dev test nonsuch: {done.stderr}",
    )
    tool = run(os.environ.get("TSL_CLI", str(BUILD / "turnstile")), "help").stdout
    for command in sorted(set(re.findall(r"build/turnstile ([a-z]+)", pages))):
        check(re.search(rf"^\s*{command}\b", tool, re.M), f"turnstile {command} exists")


def test_header():
    header = (ROOT / "include" / "turnstile.h").read_text(encoding="utf-8")
    titles = [
        title.lower()
        for title in re.findall(r"^/\* -{4} [0-9]+\. ([^:\n]*?)(?::.*)? -{4,} \*/$", header, re.M)
    ]
    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    named = re.findall(
        r"^\d+\. (.*)$",
        guide.partition("in the order in which a user meets them:\n\n")[2].partition("\n\n")[0],
        re.M,
    )
    check(
        len(titles) >= 12 and named == titles,
        f"docs/guide.md names the subjects of the header, {', '.join(titles)}",
    )


def test_figures():
    report = (ROOT / "docs" / "bench" / "peers.md").read_text(encoding="utf-8")

    def rows(text, heading):
        section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        return {
            cells[0]: cells[1:]
            for cells in (
                [c.strip() for c in line.strip("|").split("|")]
                for line in section.split("\n")
                if line.startswith("| ")
            )
        }

    def rounded(text, digits):
        return f"{float(text.replace(',', '')):,.{digits}f}"

    outcomes, masks, first = (
        rows(report, "Outcomes"),
        rows(report, "Mask + commit"),
        rows(report, "Schema to first mask"),
    )
    shown = rows(README, "Why not another engine")
    check(len(shown) >= 6, f"engines in README.md: {sorted(shown)}")
    for engine, cells in shown.items():
        name = next(
            (
                name
                for name in outcomes
                if name and engine.split()[0].removesuffix("'s") == name.split()[0]
            ),
            None,
        )
        if engine == "engine":
            continue
        if not check(name, f"README.md: {engine} stands in docs/bench/peers.md"):
            continue
        passed, wrong = outcomes[name][0], int(outcomes[name][2]) + int(outcomes[name][3])
        check(
            cells[:2] == [passed, str(wrong)],
            f"README.md: {engine}: {cells[:2]}, the report has {passed}, {wrong}",
        )
        for cell, exact in (
            (cells[2], masks[name][1]),
            (cells[3], masks[name][3]),
            (cells[4], first[name][1]),
        ):
            value = cell.removesuffix(" µs")
            digits = len(value.partition(".")[2])
            check(
                value == rounded(exact, digits),
                f"README.md: {engine}: {cell}, the report has {exact}",
            )
    page = (
        (ROOT / "docs" / "testing.md")
        .read_text(encoding="utf-8")
        .partition("## Figures of long runs")[2]
    )
    log = (ROOT / "docs" / "testing-log.md").read_text(encoding="utf-8")
    numbers = re.findall(r"\b\d{1,3}(?:,\d{3})+\b", page)
    check(len(numbers) >= 4, f"figures: {numbers}")
    for number in numbers:
        check(number in log, f"docs/testing-log.md has {number}")


def test_links():
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        for target in re.findall(
            r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / name).read_text(encoding="utf-8")
        ):
            check((ROOT / target).exists(), f"{name}: {target} exists")


def test_hosts():
    text = (ROOT / "docs" / "hosts.md").read_text(encoding="utf-8")
    tests = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "hosts").rglob("*.py")
    )
    table = text.partition("\n| host (version tried) |")[2].partition("\n\n")[0]
    rows = [line for line in table.split("\n")[1:] if line.startswith("| ")]
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


def table(text, heading):
    """The rows of the table that follows these words, as lists of cells."""
    lines = text.partition(heading)[2].partition("\n\n")[0].split("\n")[2:]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


def test_platforms():
    page = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8")
    rows = table(page, "| platform | compiled by | linked | run | tried by |")
    by = {row[-1].strip("`"): row for row in rows}
    check(len(by) == len(rows) > 20, f"docs/platforms.md: each of {len(rows)} rows is tried apart")
    targets = platforms.TARGETS.keys() | platforms.PROGRAMS.keys() - {"workflows"}
    wanted = targets | {f"./dev cross {machine}" for machine in cross.MACHINES}
    named = {name for name in by if not name.startswith("./dev test")}
    check(named == wanted, f"docs/platforms.md: rows for {named ^ wanted} are missing or too many")
    for target, way in platforms.TARGETS.items():
        ran = by[target][3] != "no" if target in by else None
        check(ran == (way is not None), f"docs/platforms.md: is {target} run? {ran}, by {way}")
    words = {"macOS", "iOS", "FreeBSD", "Windows", "WebAssembly", "arm64", "s390x", "i386", "musl"}
    shown = table(README, "| platform | built | linked | run |")
    seen = set()
    for platform, *cells in shown:
        check(cells[0] == "yes", f"README.md: {platform}: built: {cells[0]}")
        names = words & set(re.findall(r"\w+", platform))
        if names & {"macOS", "iOS"}:
            names -= {"arm64"}
        seen |= names
        for name in names:
            of_name = [
                row
                for row in rows
                if name in row[0] and not (name == "arm64" and re.search("macOS|iOS", row[0]))
            ]
            ran = any(row[3] != "no" for row in of_name)
            linked = {row[2].startswith("yes") for row in of_name}
            check(
                linked == {cells[1] == "yes"},
                f"README.md: {platform}: linked: {cells[1]}; {name}: {linked}",
            )
            check(
                ran == (cells[2] != "no"), f"README.md: {platform}: run: {cells[2]}; {name}: {ran}"
            )
    check(seen == words, f"README.md has no row for {words - seen}")
    managers = [row[0] for row in table(README, "| for | one line |")]
    check(managers == ["pip", "npm", "cargo", "CMake", "brew", "apt"], f"Install: {managers}")


def main():
    for name, test in [
        ("size", test_size),
        ("step", test_step),
        ("example", test_example),
        ("commands", test_commands),
        ("header", test_header),
        ("figures", test_figures),
        ("links", test_links),
        ("platforms", test_platforms),
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
