#!/usr/bin/env python3
"""Custom tools, whose one argument is a text that a grammar describes, in every preset. Answers are
drawn under the mask and read back. Each text must match. The judges here know the grammars, and
nothing of Turnstile.

  drawn     four tools in one request: a recursive Lark grammar, a regular one, a regular expression
            and free text, in both forms of the request
  written   answers by hand: escapes in JSON, texts that the grammar refuses
  errors    grammars that are wrong, with the place

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tally  # noqa: E402 - the folder is no package
from share import turn  # noqa: E402
from tally import check  # noqa: E402

CLI = os.environ.get("TSL_CLI", str(ROOT / "build" / "turnstile"))
PRESETS = [p.stem for p in sorted((ROOT / "schemas" / "tools").glob("*.json"))]
ANSWERS = 4  # of each preset, with one tool and with all of them


NESTED = r"""
start: "(" start ")" | "[" "\n" start "]" | WORD
WORD: /[a-c"\\é<\/\t]+/
"""
FLAT = r"""
start: "GET " WORD ("\n" HEADER)~1..3
HEADER: WORD ": " /[0-9]{1,3}/
WORD: /[a-z]+/
"""
TIMES = r"([01]\d|2[0-3]):[0-5]\d\n(end)?"


def responses(name, definition, syntax="lark"):
    format = {"type": "grammar", "syntax": syntax, "definition": definition}
    return {"type": "custom", "name": name, "description": "d", "format": format}


def completions(name, definition, syntax="lark"):
    grammar = {"syntax": syntax, "definition": definition}
    format = {"type": "grammar", "grammar": grammar}
    return {"type": "custom", "custom": {"name": name, "format": format}}


def is_nested(text):
    """Innermost brackets are removed until a word is left."""
    word, before = r'[a-c"\\é<\/\t]+', None
    while text != before:
        before = text
        text = re.sub(rf"\(({word})\)|\[\n({word})\]", "a", text)
    return re.fullmatch(word, text) is not None


def is_flat(text):
    return re.fullmatch(r"GET [a-z]+(\n[a-z]+: [0-9]{1,3}){1,3}", text) is not None


JUDGES = {
    "nested": is_nested,
    "flat": is_flat,
    "times": lambda text: re.fullmatch(TIMES, text) is not None,
    "free": lambda text: True,
}
TOOLS = [
    responses("nested", NESTED),
    completions("flat", FLAT),
    responses("times", TIMES, "regex"),
    {"type": "custom", "custom": {"name": "free", "format": {"type": "text"}}},
]
REQUEST = {"tools": TOOLS, "tool_choice": "required"}


def run(folder, request, *arguments):
    file = folder / "request.json"
    file.write_text(json.dumps(request))
    return subprocess.run([CLI, "tools", "--tools", file, *arguments], capture_output=True)


def drawn(folder):
    seen = set()
    for seed, preset in enumerate(PRESETS):
        for at, choice in enumerate(("nested", "required")):
            if not turn(seed + at, 2):
                continue
            arguments = ["--preset", preset, "--thinking", "off", "--tool-choice", choice]
            done = run(
                folder, REQUEST, *arguments, "--budget", "250", "--seed", str(seed),
                "--nudge", "([\n(", "--generate", str(ANSWERS),
            )  # fmt: skip
            if done.returncode:
                check(False, preset, choice, done.stderr.decode())
                continue
            for line in done.stdout.decode().splitlines():
                calls = json.loads(line)["parsed"]["calls"]
                check(calls, preset, choice, line)
                for call in calls:
                    text = call["arguments"]["input"]
                    check(JUDGES[call["name"]](text), preset, choice, line)
                    seen |= {(call["name"], c) for c in '(["\\é' if c in text}
    check(seen >= {("nested", c) for c in '(["\\é'}, "all kinds of characters are drawn:", seen)
    check({name for name, _ in seen} >= {"nested", "free"}, "several tools are drawn")


def written(folder):
    def read(text, *options):
        file = folder / "answer.txt"
        file.write_text(text)
        only = {"tools": TOOLS[:1]}
        arguments = ["--preset", "qwen3", "--parse", file, "--strict", *options]
        done = run(folder, only, *arguments)
        return json.loads(done.stdout)["calls"][0]["arguments"] if not done.returncode else None

    def call(spelled):
        return f'<tool_call>\n{{"name": "nested", "arguments": {spelled}}}\n</tool_call>'

    for text in ["a", "(a)", "[\n(b)]", '"', "\\", "é", "((\t))", "</a"]:
        for plain in (False, True):  # \u00e9, or the character
            spelled = json.dumps({"input": text}, ensure_ascii=not plain)
            got = read(call(spelled))
            check(got == {"input": text} and is_nested(text), "read", repr(text), got)
    for text in ["", "(a", "a)", "[a]", "[\n]", "d", "ab ", "()"]:
        check(not is_nested(text), "the judge refuses", repr(text))
        check(read(call(json.dumps({"input": text}))) is None, "refused", repr(text))
    check(read(call('{"input": "(a)", "more": 1}')) is None, "no other member")
    check(read(call("{}")) is None, "the text must be there")


def errors(folder):
    cases = [
        (responses("x", "start: b"), "line 1, column 8", "/tools/0/format/definition"),
        (completions("x", "start: ("), "line 1", "/tools/0/custom/format/grammar/definition"),
        (responses("x", 'start: "a" <think>'), "token", "/tools/0/format/definition"),
        (responses("x", 'start: "a" start'), "", "/tools/0/format/definition"),
        (responses("x", "a", "gbnf"), "lark", "/tools/0/format/syntax"),
        (responses("x", None), "definition", "/tools/0/format"),
    ]
    for tool, what, pointer in cases:
        done = run(folder, {"tools": [tool]}, "--preset", "qwen3", "--compile", "--json")
        error = json.loads(done.stderr)["error"] if done.stderr else {}
        good = done.returncode == 2 and error.get("pointer") == pointer
        check(good and what in error.get("message", ""), json.dumps(tool), done.stderr.decode())
    done = run(folder, {"tools": TOOLS[:1]}, "--preset", "qwen3")
    check(
        done.returncode == 2 and b"structural tag" in done.stderr, "written as a tag", done.stderr
    )
    done = run(folder, {"tools": TOOLS[1:]}, "--preset", "qwen3")
    check(done.returncode == 2, "a regular one as well")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        written(folder)
        errors(folder)
        drawn(folder)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
