#!/usr/bin/env python3
"""What the manual shows is true: every code block and command of README.md, CONTRIBUTING.md,
CHANGELOG.md, SECURITY.md, docs/ and bindings/*/README.md is run.

  sh        run line by line in the root of the tree, build/turnstile being the tool under test.
            `./dev …` is not run from inside a test: its subcommand must exist (.ci/run runs demo,
            test,
            test hosts, test page and docs)
  c         with a main: compiled and run. Without: a fragment, compiled as the body of a function;
            what it needs is declared in a comment before the block, <!-- c: … -->
  python    run after what a comment before the block sets up, and before what it checks: <!--
            python: SET UP // CHECK -->
  hosts     <!-- hosts: NAME --> before the block: it needs what ./dev test hosts NAME builds or
            fetches, and is run there, for real (tests/hosts/host_NAME.py). Here its syntax is
            checked
  indented  commands (four spaces) are run as sh; where they name a file that the reader is to put
            in, STAND_INS has one. `meson install` goes to a scratch folder (DESTDIR). Packages that
            `apt-get install` names must be those that ./dev installs

  keywords  docs/schema.md lists the keywords of compiler/schema/keywords.def, each with its drafts
  rooms     docs/architecture.md lists every folder of runtime/ and compiler/, with a header that is
            there, and docs/pictures/rooms.svg is drawn from it. Each function that it names is in
            the
            file of its row
  limits    every message that goes with TSL_ERR_LIMIT in runtime/ and compiler/ stands in
            docs/limits.md, its numbers as N and what is put between as …

Names of folders that a block would leave behind (STAND_INS) are those of a scratch folder here.

SPDX-License-Identifier: Apache-2.0
"""

import ast
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import doc_blocks

ROOT = doc_blocks.ROOT
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))
FILES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "bindings").glob("*/README.md")),
]

passed = failed = skipped = 0
folder = tempfile.TemporaryDirectory()
VOCAB = (
    pathlib.Path(os.environ.get("TSL_VOCABS", ROOT / "build" / "vocabs"))
    / "llama3_1"
    / "tokenizer.json"
)
STAND_INS = {
    "F.json": "schemas/examples/invoice.json",
    "R.json": "tests/cases/tools/chat_completions.json",
    "tokenizer.json": str(VOCAB),
    "text.json": f"{folder.name}/text.json",
    "F.tslgrammar": f"{folder.name}/F.tslgrammar",
}
not_made = set()  # files that skipped commands would have written
FOLDERS = {"/dev/shm/turnstile": f"{folder.name}/shm"}


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
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
        **more,
    )


SUBCOMMANDS = set(re.findall(r"^\./dev ([a-z]+)", run(["./dev", "help"]).stdout, re.M))
HOSTS = {
    path.stem.removeprefix("host_"): path for path in (ROOT / "tests" / "hosts").glob("host_*.py")
}
HOSTS["models"] = ROOT / "tests" / "models" / "test_models.py"  # ./dev test models
HOSTS["rust-types"] = HOSTS["rust"]  # the second workspace of the same program


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
        text = (
            "#include <stdio.h>\n#include <string.h>\n#include "
            f'"turnstile.h"\n{declared.split("//")[0]}\nint fragment(void);\nint '
            f"fragment(void) {{\n{declared.partition('//')[2]}\n{text}\nreturn 0;\n}}\n"
        )
    source.write_text(text, encoding="utf-8")
    flags = [
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
        "-Wno-unused-parameter",
        f"-I{ROOT / 'include'}",
    ]
    link = (
        ["-o", str(program), f"-L{BUILD}", "-lturnstile", f"-Wl,-rpath,{BUILD}"]
        if whole
        else ["-fsyntax-only"]
    )
    done = run(["gcc", *flags, str(source), *link])
    check(done.returncode == 0, f"{where}: compiles: {done.stderr[:1500]}")
    if whole and done.returncode == 0:
        done = run([str(program)])
        check(
            done.returncode == 0 and done.stdout, f"{where}: runs: {done.returncode} {done.stderr}"
        )


def run_python(where, text, how):
    before, _, after = how.removeprefix("python:").partition("//")
    script = f"{before.strip()}\n{text}\n{after.strip()}\n"
    if "llama3_1" in script and not VOCAB.is_file():
        return skip(where, f"{VOCAB} is not there; ./dev fetch vocabs")
    done = run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(BUILD / "bindings" / "python")},
    )
    check(done.returncode == 0, f"{where}: {done.stderr[-1500:]}")


def check_host_block(where, path, language, text, host):
    """A host of that name runs this very block; here: can it be parsed?"""
    check(
        host in HOSTS
        and f'of_host("{path}", "{host}", "{language}")' in HOSTS[host].read_text(encoding="utf-8"),
        f"{where}: the test of {host} runs the block",
    )
    if language == "python":
        try:
            ast.parse(text)
            check(True, where)
        except SyntaxError as error:
            check(False, f"{where}: {error}")
    elif language == "sh":
        check(run(["bash", "-n", "-c", text]).returncode == 0, f"{where}: a shell can read it")
    elif language == "js" and shutil.which("node"):
        script = pathlib.Path(folder.name, "block.mjs")
        script.write_text(text, encoding="utf-8")
        check(run(["node", "--check", str(script)]).returncode == 0, f"{where}: Node can read it")


# Pages whose blocks in that language another test runs, all of them.
RUN_BY = {
    ("docs/lint.md", "json"): "tests/cli/test_cli_lint.py",
    ("docs/serve.md", "console"): "tests/cli/test_cli_serve.py",
}


def check_block_of(where, path, language, text, test):
    """That test names the page and picks the blocks of that language."""
    source = (ROOT / test).read_text(encoding="utf-8")
    check(
        f'"{pathlib.Path(path).name}"' in source and f"```{language}" in source,
        f"{where}: {test} runs the block",
    )
    if language == "json":
        try:
            json.loads(text)
        except ValueError as error:
            check(False, f"{where}: {error}")


def run_block(where, path, language, text, how):
    for name, scratch in FOLDERS.items():
        text, how = text.replace(name, scratch), how.replace(name, scratch)
    if how.startswith("hosts:"):
        return check_host_block(where, path, language, text, how.removeprefix("hosts:").strip())
    if (str(path), language) in RUN_BY:
        return check_block_of(where, path, language, text, RUN_BY[str(path), language])
    if language == "sh":
        return run_shell(where, text)
    if language == "c":
        return run_c(where, text, how)
    if language == "python":
        return run_python(where, text, how)
    return check(False, f"{where}: no way to try a block in {language!r}")


def packages():
    """Debian packages that ./dev installs where they are missing."""
    return set(
        re.findall(
            r'^  "(?:program|header|module|include|python|file) \S+ (\S+)"$',
            (ROOT / "dev").read_text(encoding="utf-8"),
            re.M,
        )
    )


def run_command(where, command):
    words = [STAND_INS.get(word, word) for word in shlex.split(command)]
    if words[0] == "build/turnstile":
        if "tokenizer.json" in command and not VOCAB.is_file():
            if "-o" in words:
                not_made.add(words[words.index("-o") + 1])
            return skip(where, f"`{command}`: {VOCAB} is not there; ./dev fetch vocabs")
        if missing := not_made & set(words):
            names = ", ".join(sorted(pathlib.Path(word).name for word in missing))
            return skip(where, f"`{command}`: the command that makes {names} was skipped")
        done = run([str(BUILD / "turnstile"), *words[1:]])
        return check(
            done.returncode == 0,
            f"{where}: {command}: exit code {done.returncode}: {done.stderr[-300:]}",
        )
    if words[0] == "./dev":
        return check(words[1] in SUBCOMMANDS, f"{where}: ./dev {words[1]} exists")
    if (
        words[0] == "meson"
    ):  # the build folder is set up and built; what is installed goes to the scratch folder
        done = run(
            ["bash", "-euo", "pipefail", "-c", command],
            env={**os.environ, "DESTDIR": f"{folder.name}/stage"},
        )
        check(
            done.returncode == 0,
            f"{where}: {command}: exit code {done.returncode}: "
            f"{(done.stdout + done.stderr)[-400:]}",
        )
        return check(
            list(pathlib.Path(folder.name, "stage").rglob("turnstile.h")),
            f"{where}: {command} installs turnstile.h",
        )
    if words[:3] == ["sudo", "apt-get", "install"]:
        return check(
            set(words[3:]) <= packages(),
            f"{where}: ./dev knows the packages {', '.join(set(words[3:]) - packages())}",
        )
    return check(
        f'commands(common.ROOT / "{where}")' in HOSTS["wheel"].read_text(encoding="utf-8"),
        f"{where}: tests/hosts/host_wheel.py runs `{command}`",
    )


# a literal, or several that the compiler joins
STRING = r'"((?:[^"\\]|\\.)*(?:"\s*"(?:[^"\\]|\\.)*)*)"'
LIMIT = re.compile(
    r'(?:TSL_ERR_LIMIT|fail_limit\(|greader_(?:limit|number)\()(?:(?!return)[^;"])*'
    + STRING
    + r"(?:\s*:\s*"
    + STRING
    + ")?"
)


def limits():
    """Messages in the sources, and the page that says what they mean. "out of memory" is that of
    another status, beside it in one call.
    """
    page = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    listed = set(
        re.findall(
            r"`([^`]+)`", page.partition("## What the messages say")[2].partition("\n## ")[0]
        )
    )
    found = set()
    for path in [*(ROOT / "runtime").rglob("*.c"), *(ROOT / "compiler").rglob("*.c")]:
        code = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        for text in filter(
            None, (text for match in LIMIT.finditer(code) for text in match.groups())
        ):
            text = re.sub(r'"\s*"', "", text)
            message = re.sub(r"%(?:ll|z)?u", "N", re.sub(r"%(?:\.\*)?s", "…", text))
            found.add(message)
            check(
                message in listed or message == "out of memory",
                f"docs/limits.md: {path.name} says `{message}`",
            )
    check(len(found) > 60, f"messages of limits in the sources: {len(found)}")
    stale = {text for text in listed - found if " " in text and "{" not in text}
    check(not stale, f"docs/limits.md lists messages that nothing says: {stale}")


DRAFTS = {
    "D3": "3",
    "D4": "4",
    "D6": "6",
    "D7": "7",
    "D19": "2019-09",
    "D20": "2020-12",
    "AUTO": "where none is named",
}


def keywords():
    """Each keyword's drafts: by the sources, and by the page."""
    wanted, listed = {}, {}
    for word, drafts in re.findall(
        r'^  X\(\w+, "([^"]+)", (.*), SHAPE_\w+,',
        (ROOT / "compiler" / "schema" / "keywords.def").read_text(encoding="utf-8"),
        re.M,
    ):
        plus, _, minus = drafts.partition(" & ~")
        wanted[word] = {
            draft
            for name, draft in DRAFTS.items()
            if (plus == "D_ALL" or name in plus.split(" | ")) and name != minus
        }
    table = (
        (ROOT / "docs" / "schema.md")
        .read_text(encoding="utf-8")
        .partition("| keywords |")[2]
        .partition("\n\n")[0]
    )
    for words, drafts in re.findall(r"^\| (`.*`) \| (.*) \|$", table, re.M):
        for word in re.findall(r"`([^`]+)`", words):
            check(word not in listed, f"docs/schema.md: `{word}` is listed once")
            listed[word] = (
                set(DRAFTS.values()) if drafts == "all drafts" else set(drafts.split(", "))
            )
    others = [
        word for word in wanted.keys() | listed.keys() if wanted.get(word) != listed.get(word)
    ]
    check(
        len(wanted) > 40 and wanted == listed,
        f"docs/schema.md: keywords otherwise: {sorted(others)}",
    )


def defined(function):
    """The files that define a function: for whoever renamed or moved it."""
    return [
        path.relative_to(ROOT).as_posix()
        for folder in ("runtime", "compiler")
        for path in sorted((ROOT / folder).rglob("*.c"))
        if re.search(
            rf"^[a-zA-Z][^;#=\n]*\b{function}\([^;{{]*\)\s*\{{",
            path.read_text(encoding="utf-8"),
            re.M,
        )
    ]


def rooms():
    """Rooms, their picture, and where functions are."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = re.findall(
        r"^\| `((?:runtime|compiler)/[a-z_]+)/` \| \[[^\]]*\]\(\.\./([^)]+)\)", page, re.M
    )
    folders = {
        path.relative_to(ROOT).as_posix()
        for name in ("runtime", "compiler")
        for path in (ROOT / name).iterdir()
        if path.is_dir()
    }
    check(
        {room for room, _ in listed} == folders,
        f"docs/architecture.md: rooms otherwise: {sorted({room for room, _ in listed} ^ folders)}",
    )
    for room, door in listed:
        check(door.startswith(room + "/"), f"docs/architecture.md: {door} is a header of {room}")
    drawn = run([sys.executable, "scripts/draw_rooms.py", "--check"])
    check(drawn.returncode == 0, drawn.stderr.strip())
    named = re.findall(r"^\| ([^|]*) \| `(\w+)` \| ([\w/.]+) \|$", page, re.M)
    check(len(named) > 90, f"docs/architecture.md names {len(named)} functions")
    for what, function, name in named:
        path = ROOT / name
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if name.endswith((".def", ".build")):
            found = re.search(rf"\b{function}\b", text)
        else:
            # a definition: its parameters are followed by a body; a header may declare what a
            # kernel's file defines
            found = re.search(rf"^[a-zA-Z][^;#=\n]*\b{function}\([^;{{]*\)\s*\{{", text, re.M) or (
                name.endswith(".h") and re.search(rf"\b{function}\(", text)
            )
        check(
            found,
            f"docs/architecture.md: {what}: {function} is not in {name}"
            + ("" if found else f", but in {', '.join(defined(function)) or 'no file'}"),
        )


def anchors(path):
    """The names of a page's headings, as GitHub and mkdocs make them."""
    text = doc_blocks.BLOCK.sub("", path.read_text(encoding="utf-8"))
    return {
        re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
        for title in re.findall(r"^#+ (.+)$", text, re.M)
    }


def main():
    keywords()
    rooms()
    limits()
    text = run([str(BUILD / "turnstile"), "generate", "--schema", "schemas/examples/invoice.json"])
    pathlib.Path(folder.name, "text.json").write_text(text.stdout)
    count = 0
    for path in FILES:
        content, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT)
        found = doc_blocks.blocks(path)
        for line, language, text, how in found:
            run_block(f"{name}:{line}", name, language, text, how)
            count += 1
        check(
            len(re.findall(r"^```", content, re.M)) == 2 * len(found),
            f"{name}: every block has a language",
        )
        for command in doc_blocks.commands(path):
            run_command(str(name), command)
        for target, anchor in re.findall(
            r"\]\(([^)#:\s]*)(?:#([^)]*))?\)", doc_blocks.BLOCK.sub("", content)
        ):
            place = path.parent / target if target else path
            check(place.exists(), f"{name}: {target} exists")
            if anchor and place.suffix == ".md" and place.is_file():
                check(anchor in anchors(place), f"{name}: {target} has a heading #{anchor}")
    print(f"  {len(FILES)} files, {count} blocks")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
