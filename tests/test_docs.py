#!/usr/bin/env python3
"""What the manual shows is true: every code block and command of README.md, SECURITY.md, docs/ and bindings/*/README.md is run, or named as not run.

  sh      run line by line in the root of the tree, build/turnstile being the tool under test. `./dev …` is not run from inside a test: its subcommand must exist
  c       with a main: compiled and run. Without: a fragment, compiled as the body of a function; what it needs is declared in a comment before the block, <!-- c: … -->
  python  run after what a comment before the block sets up, <!-- python: … -->
  indented commands (four spaces) are run as sh; where they name a file that the reader is to put in, STAND_INS has one
  not run <!-- not run: why --> before the block: printed and counted as skipped, as are blocks that ./dev test hosts runs, <!-- hosts: NAME -->

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))
FILES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "bindings").glob("*/README.md"))]
BLOCK = re.compile(r"(?:^<!-- (?P<how>[^>]*?) ?-->\n)?^```(?P<language>[a-z]+)\n(?P<text>.*?)^```$", re.M | re.S)
INDENTED = re.compile(r"(?<=\n\n)(?: {4}(?:build/turnstile|\./dev|meson|sudo|python3) .*\n)+", re.M)

passed = failed = skipped = 0
folder = tempfile.TemporaryDirectory()
VOCAB = pathlib.Path(os.environ.get("TSL_VOCABS", ROOT / "build" / "vocabs")) / "llama3_1" / "tokenizer.json"
STAND_INS = {"F.json": "schemas/examples/invoice.json", "R.json": "tests/cases/tools/chat_completions.json", "tokenizer.json": str(VOCAB), "text.json": f"{folder.name}/text.json",
             "F.tslgrammar": f"{folder.name}/F.tslgrammar"}


def check(condition, what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("  FAIL " + what)


def skip(where, why):
    global skipped
    skipped += 1
    print(f"  skipped: {where}: {why}")


def run(command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=ROOT, timeout=300, **more)


SUBCOMMANDS = set(re.findall(r"^\./dev ([a-z]+)", run(["./dev", "help"]).stdout, re.M))


def run_shell(where, text):
    """All lines in one shell, but for those of ./dev."""
    for name in re.findall(r"^\s*(?:.*&& )?\./dev ([a-z]+)", text, re.M):
        check(name in SUBCOMMANDS, f"{where}: ./dev {name} exists")
    rest = "\n".join(line for line in text.split("\n") if not re.match(r"\s*\./dev ", line))
    if not rest.strip():
        return
    done = run(["bash", "-euo", "pipefail", "-c", rest])
    check(done.returncode == 0, f"{where}: exit code {done.returncode}: {done.stderr[-400:]}")


def run_c(where, text, how):
    source, program = pathlib.Path(folder.name, "block.c"), pathlib.Path(folder.name, "block")
    whole = "int main(" in text
    if not whole:
        declared = how.removeprefix("c:").strip()
        text = f"#include <stdio.h>\n#include <string.h>\n#include \"turnstile.h\"\n{declared.split('//')[0]}\nint fragment(void);\nint fragment(void) {{\n{declared.partition('//')[2]}\n{text}\nreturn 0;\n}}\n"
    source.write_text(text, encoding="utf-8")
    flags = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused-parameter", f"-I{ROOT / 'include'}"]
    link = ["-o", str(program), f"-L{BUILD}", "-lturnstile", f"-Wl,-rpath,{BUILD}"] if whole else ["-fsyntax-only"]
    done = run(["gcc", *flags, str(source), *link])
    check(done.returncode == 0, f"{where}: compiles: {done.stderr[:1500]}")
    if whole and done.returncode == 0:
        done = run([str(program)])
        check(done.returncode == 0 and done.stdout, f"{where}: runs: {done.returncode} {done.stderr}")


def run_python(where, text, how):
    script = how.removeprefix("python:").strip() + "\n" + text
    done = run([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(BUILD / "bindings" / "python")})
    check(done.returncode == 0, f"{where}: {done.stderr[-1500:]}")


def run_block(where, language, text, how):
    if how.startswith("not run:"):
        return skip(where, how.removeprefix("not run:").strip())
    if how.startswith("hosts:"):
        return skip(where, f"run by ./dev test hosts {how.removeprefix('hosts:').strip()}")
    if language == "sh":
        return run_shell(where, text)
    if language == "c":
        return run_c(where, text, how)
    if language == "python":
        return run_python(where, text, how)
    return check(False, f"{where}: no way to try a block in {language!r}, and no word why")


def run_indented(where, text):
    for line in text.strip("\n").split("\n"):
        command = line.strip().split(" #")[0].strip()
        words = [STAND_INS.get(word, word) for word in shlex.split(command)]
        if words[0] == "build/turnstile":
            if "tokenizer.json" in command and not VOCAB.is_file():
                skip(where, f"`{command}`: {VOCAB} is not there; ./dev fetch vocabs")
                continue
            done = run([str(BUILD / "turnstile"), *words[1:]])
            check(done.returncode == 0, f"{where}: {command}: exit code {done.returncode}: {done.stderr[-300:]}")
        elif words[0] == "./dev":
            check(words[1] in SUBCOMMANDS, f"{where}: ./dev {words[1]} exists")
        else:
            skip(where, f"`{command[:60]}` changes the machine or builds anew; tests/test_install.py and ./dev do it")


def main():
    text = run([str(BUILD / "turnstile"), "generate", "--schema", "schemas/examples/invoice.json"])
    pathlib.Path(folder.name, "text.json").write_text(text.stdout)
    blocks = 0
    for path in FILES:
        content, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT)
        for match in BLOCK.finditer(content):
            run_block(f"{name}:{content.count(chr(10), 0, match.start('language')) + 1}", match["language"], match["text"], match["how"] or "")
            blocks += 1
        check(len(re.findall(r"^```", content, re.M)) == 2 * len(BLOCK.findall(content)), f"{name}: every block has a language")
        outside = BLOCK.sub("", content)
        for match in INDENTED.finditer(outside):
            run_indented(str(name), match[0])
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", outside):
            check((path.parent / target).exists(), f"{name}: {target} exists")
    print(f"  {len(FILES)} files, {blocks} blocks")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
