#!/usr/bin/env python3
"""Pictures of a grammar: turnstile explain --dot, --masks and --rules, and the railroads that the
page draws of rules (Node).

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
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLI = os.environ.get("TSL_CLI", str(ROOT / "build" / "turnstile"))
EXAMPLES = ROOT / "schemas" / "examples"

passed = failed = skipped = 0


def check(condition, what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("  FAIL " + what)


def explain(*arguments, text=b"", code=0):
    done = subprocess.run(
        [CLI, "explain", *map(str, arguments)],
        input=text,
        capture_output=True,
        cwd=ROOT,
        timeout=120,
    )
    check(
        done.returncode == code,
        f"explain {arguments}: exit code {done.returncode}: {done.stderr.decode(errors='replace')}",
    )
    return done.stdout.decode(), done.stderr.decode(errors="replace")


def test_dot():
    for arguments in (
        ["--schema", EXAMPLES / "person.json", "--sample", 5],
        ["--grammar", EXAMPLES / "arithmetic.gbnf", "--sample", 3],
        ["--regex", r'a"\\\[b\]é*'],
    ):
        dot, _ = explain(*arguments, "--dot")
        nodes, edges = (
            set(re.findall(r"^  s(\d+) \[label=", dot, re.M)),
            re.findall(r"^  s(\d+) -> s(\d+) ", dot, re.M),
        )
        check(
            dot.startswith("digraph states {") and dot.endswith("}\n") and nodes and edges,
            f"{arguments[1]}: {len(nodes)} states, {len(edges)} edges",
        )
        check(
            all(a in nodes for a, _ in edges), f"{arguments[1]}: edges leave states that are drawn"
        )
        check(
            not arguments[-2] == "--sample" or re.search(r"\d+ tokens", dot),
            f"{arguments[1]}: masks are shown",
        )
        lines = [line for line in dot.split("\n") if "label=" in line]
        check(
            all(
                re.fullmatch(
                    r'  s\d+( -> s\d+)? \[(style=\w+, )?label="(?:[^"\\]|\\.)*"(, peripheries=2|, '
                    r"color=[^]]+)?\];",
                    line,
                )
                for line in lines
            ),
            f"{arguments[1]}: {lines[:3]}",
        )
    if not shutil.which("dot"):
        global skipped
        skipped += 1
        print("  skipped: Graphviz draws it: dot is not there")
        return
    svg = subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True, text=True)
    check(
        svg.returncode == 0 and "<svg" in svg.stdout and not svg.stderr,
        f"Graphviz draws it: {svg.stderr}",
    )


def test_masks():
    out, _ = explain("--regex", "[ab]{3}", "--text", "-", "--masks", text=b"aba")
    sizes = [
        tuple(map(int, row)) for row in re.findall(r"^ +(\d+) to +(\d+) +(\d+)  #+$", out, re.M)
    ]
    check(
        sum(n for *_, n in sizes) == 4 and "positions (of 4)" in out,
        f"a text of three bytes has four positions: {sizes}",
    )
    states = re.findall(r"state (\d+) +(\d+) times +(\d+) to +(\d+) tokens", out)
    check(
        sum(int(n) for _, n, *_ in states) == 4
        and all(int(least) <= int(most) for *_, least, most in states),
        f"by state: {states}",
    )
    out, _ = explain("--schema", EXAMPLES / "invoice.json", "--sample", 3, "--masks")
    check(int(re.search(r"positions \(of (\d+)\)", out)[1]) > 100, "texts that are drawn")
    out, err = explain("--regex", "ab", "--text", "-", "--masks", text=b"ax", code=1)
    check(
        "positions (of 2)" in out and "byte offset 1" in err,
        f"a text that does not match is counted as far as it does: {out}",
    )


def test_rules():
    global skipped
    listed = {}
    for path in sorted(EXAMPLES.glob("*.gbnf")):
        out, _ = explain("--grammar", path, "--rules")
        listed[path.name] = json.loads(out)["rules"]
        names = re.findall(r"^([a-zA-Z0-9_-]+)\s*::=", path.read_text(), re.M)
        check(
            sorted(r["name"] for r in listed[path.name]) == sorted(names)
            and all(r["line"] > 0 for r in listed[path.name]),
            f"{path.name}: {len(names)} rules",
        )
    _, err = explain("--regex", "a", "--rules", code=2)
    check("--rules" in err, err)
    if not shutil.which("node"):
        skipped += 1
        print("  skipped: railroads: node is not there")
        return
    script = (
        "const R = require('./page/railroad.js'); for (const rules of "
        "Object.values(JSON.parse(require('fs').readFileSync(0)))) for (const r of rules) "
        "console.log(R.draw(r))"
    )
    done = subprocess.run(
        ["node", "-e", script], input=json.dumps(listed), capture_output=True, text=True, cwd=ROOT
    )
    pictures = done.stdout.strip().split("\n")
    check(
        done.returncode == 0 and len(pictures) == sum(map(len, listed.values())),
        f"a picture for each rule: {done.stderr}",
    )
    for picture in pictures:
        svg = xml.etree.ElementTree.fromstring(picture)
        check(
            svg.get("role") == "img"
            and float(svg.get("width")) > 40
            and "NaN" not in picture
            and "undefined" not in picture,
            picture[:200],
        )


def called(node):
    """Names of the rules in a body, one for each place."""
    names = [node["name"]] if node["kind"] == "rule" else []
    for inner in [*node.get("items", []), *([node["item"]] if "item" in node else [])]:
        names += called(inner)
    return names


def recursive(calls, name):
    """Can the rule contain itself?"""
    seen, open_ = set(), list(calls[name])
    while open_:
        one = open_.pop()
        if one not in seen:
            seen.add(one)
            open_ += calls[one]
    return name in seen


def test_rules_dot():
    with tempfile.TemporaryDirectory() as folder:
        own = pathlib.Path(folder, "own.gbnf")
        own.write_text('root ::= "a" (("b" root)? "c"){2,} x | x x\nx-y ::= "q"\nx ::= "z" x-y\n')
        for path in [own, *sorted(EXAMPLES.glob("*.gbnf"))]:
            calls = {
                r["name"]: called(r["body"])
                for r in json.loads(explain("--grammar", path, "--rules")[0])["rules"]
            }
            dot, _ = explain("--grammar", path, "--rules", "--dot")
            nodes = {
                name: rest
                for name, rest in re.findall(
                    r'^  "([\w-]+)" \[label="[\w-]+\\nline \d+"(.*)\];$', dot, re.M
                )
            }
            edges = {
                (a, b): int(n or 1)
                for a, b, n in re.findall(
                    r'^  "([\w-]+)" -> "([\w-]+)"(?: \[label="(\d+) times"\])?;$', dot, re.M
                )
            }
            check(
                dot.startswith("digraph rules {") and set(nodes) == set(calls),
                f"{path.name}: {sorted(nodes)}",
            )
            check(
                edges == {(a, b): calls[a].count(b) for a in calls for b in calls[a]},
                f"{path.name}: {edges}",
            )
            check(
                all(("penwidth" in nodes[name]) == recursive(calls, name) for name in calls),
                f"{path.name}: rules that can contain themselves are bold",
            )
            check(
                [name for name in nodes if "peripheries" in nodes[name]] == ["root"],
                f"{path.name}: root has a double frame",
            )
            check(
                not shutil.which("dot")
                or subprocess.run(
                    ["dot", "-Tsvg"], input=dot, capture_output=True, text=True
                ).stderr
                == "",
                f"{path.name}: Graphviz draws it",
            )


def main():
    for name, test in (
        ("dot", test_dot),
        ("rules_dot", test_rules_dot),
        ("masks", test_masks),
        ("rules", test_rules),
    ):
        before = passed + failed
        test()
        print(f"  {name} ({passed + failed - before} checks)")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
