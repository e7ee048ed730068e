#!/usr/bin/env python3
"""turnstile lint: the examples of docs/lint.md, what is mended, and what is written where.

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import re

import cli_checks
from cli_checks import check, expect, files

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "lint.md"
SECTION = re.compile(r"^### ([a-z-]+)\n\n(.+?)\n\n```json\n(.+?)\n```$", re.M | re.S)


def findings(out):
    return [json.loads(line) for line in out.splitlines()]


def page():
    """Each rule has a section, whose example has that finding; it is mended as the section says."""
    names = expect(0, ["lint", "--list"])[0].decode().split()
    sections = SECTION.findall(PAGE.read_text())
    check(sorted(names) == sorted(n for n, _, _ in sections), f"sections of {names}")
    for name, text, example in sections:
        schema = files(f"{name}.json", example)
        found = findings(expect(1, ["lint", "--schema", schema, "--rules", name, "--json"])[0])
        check([f["rule"] for f in found] == [name], f"{name}: {found}")
        check(found[0]["severity"] in section_of(name), f"{name} stands under its severity")
        mends = "Mended" in text or "--bounds" in text
        out, _ = expect(
            0 if mends else 1, ["lint", "--schema", schema, "--rules", name, "--bounds"]
        )
        again = files("again.json", out.decode())
        expect(0 if mends else 1, ["lint", "--schema", again, "--rules", name])


def section_of(name):
    """The heading above a rule, small, without the plural."""
    before = PAGE.read_text().split(f"### {name}\n")[0]
    return re.findall(r"^## (\w+)$", before, re.M)[-1].lower()


def outputs():
    schema = files("s.json", {"type": "object", "properties": {"answer": {}, "reasoning": {}}})
    out, _ = expect(1, ["lint", "--schema", schema], out="answer-first /properties: ")
    check(b"quality: " in out, f"the reason: {out!r}")
    out, err = expect(0, ["lint", "--schema", schema, "--fix", "--rules", "answer-first"])
    check(list(json.loads(out)["properties"]) == ["reasoning", "answer"], f"mended: {out!r}")
    check(b"[mended]" in err, f"findings on stderr: {err!r}")
    expect(0, ["lint", "--schema", "-"], text=b'{"type": "boolean"}')
    odd = rb'{"type": "string", "pattern": "\u001b[2J]"}'
    out, _ = expect(1, ["lint", "--schema", "-"], text=odd, out="pattern-anchor /pattern")
    check(b"\x1b" not in out, f"no escape sequences from a schema: {out!r}")


def refused():
    expect(2, ["lint"], err="--schema F is needed")
    expect(2, ["lint", "--schema", files("bad.json", "{,")], err="bad.json:1:2")
    expect(2, ["lint", "--schema", "-", "--rules", "no-rule"], text=b"{}", err="no-rule")
    expect(2, ["lint", "--schema", "no-such-file.json"], err="no-such-file.json")


if __name__ == "__main__":
    cli_checks.run(
        [
            (page, "docs/lint.md"),
            (outputs, "what is written where"),
            (refused, "calls that are refused"),
        ]
    )
    raise SystemExit(1 if cli_checks.failed else 0)
