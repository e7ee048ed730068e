#!/usr/bin/env python3
"""Manual pages of the command line tool, made of what `turnstile --help` and `turnstile COMMAND
--help` print.

    scripts/man.py TOOL FOLDER     FOLDER/turnstile.1 and a turnstile-COMMAND.1 for each command

A help text begins with `usage:` and the lines of the call. A line that says what the command does
follows. Options are lines of two spaces, the option, at least one space more, and what it means; a
line that is indented further goes on. What stands behind them are notes.

The pages hold no date, so that the same tool gives the same bytes.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import subprocess
import sys

ROW = re.compile(r"^  (-\S+(?: \S+)*?)  +(\S.*)$|^  (-\S+ \S+) (\S.*)$")
COMMAND = re.compile(r"^  (\w+)  +(\S.*)$")


def help_of(tool, *words):
    done = subprocess.run([tool, *words, "--help"], capture_output=True, text=True)
    if done.returncode or not done.stdout.startswith("usage:"):
        sys.exit(f"man: {tool} {' '.join(words)} --help prints no usage: {done.stderr[-300:]}")
    return done.stdout


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def page(name, title, text, version, beside):
    """One page as roff."""
    lines = text.splitlines()
    usage = [lines[0][len("usage:") :].strip()]
    at = 1
    while at < len(lines) and lines[at].startswith((" ", "usage:", "or:")) and lines[at].strip():
        usage.append(re.sub(r"^(usage:|or:)", "", lines[at]).strip())
        at += 1
    out = [
        f'.TH {name.upper()} 1 "" "turnstile {version}" "User Commands"',
        ".SH NAME",
        f"{escaped(name)} \\- {escaped(title)}",
        ".SH SYNOPSIS",
        ".nf",
        *map(escaped, usage),
        ".fi",
        ".SH DESCRIPTION",
    ]
    for line in lines[at:]:
        row = ROW.match(line)
        if row:
            option, meaning = row[1] or row[3], row[2] or row[4]
            out += [".TP", f"\\fB{escaped(option)}\\fR", escaped(meaning)]
        elif line.endswith(":") and not line.startswith(" ") and len(line) < 40:
            out.append(f".SH {escaped(line[:-1]).upper()}")
        elif not line.strip():
            out.append(".PP")
        elif line.startswith("  "):
            out += [".br", escaped(line.strip())]
        else:
            out.append(escaped(line))
    if out[-1] == ".PP":
        out.pop()
    # two paragraphs in a row, or one behind a heading, are one
    kept = []
    for line in out:
        if line == ".PP" and kept[-1].startswith((".PP", ".SH")):
            continue
        if line.startswith(".SH") and kept and kept[-1] == ".PP":
            kept.pop()
        kept.append(line)
    others = ", ".join(f"\\fB{escaped(other)}\\fR(1)" for other in beside if other != name)
    return "\n".join([*kept, ".SH SEE ALSO", others]) + "\n"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    root = pathlib.Path(__file__).resolve().parent.parent
    version = re.search(r"version: '([^']+)'", (root / "meson.build").read_text("utf-8")).group(1)
    text = help_of(tool)
    commands = dict(filter(None, (m and m.groups() for m in map(COMMAND.match, text.split("\n")))))
    if not commands:
        sys.exit(f"man: {tool} --help lists no command")
    names = ["turnstile", *(f"turnstile-{command}" for command in commands)]
    about = "texts of language models that fit a schema, an expression or a grammar"
    (folder / "turnstile.1").write_text(page("turnstile", about, text, version, names), "utf-8")
    for command, title in commands.items():
        made = page(f"turnstile-{command}", title, help_of(tool, command), version, names[:1])
        (folder / f"turnstile-{command}.1").write_text(made, "utf-8")
    print(f"{len(names)} pages in {folder}")


if __name__ == "__main__":
    main()
