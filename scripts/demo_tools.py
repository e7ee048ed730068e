#!/usr/bin/env python3
"""`./dev demo tools`: an answer with thinking and two calls: what the grammar allows of it, and
what the parser makes of it.

    scripts/demo_tools.py TURNSTILE

The model is played by a script: what it wants to write stands below, and includes two mistakes.
Where it wants what the grammar does not allow, it is stopped there. Then the whole answer is read
back, and PyPI jsonschema judges the arguments. At last an answer that nobody constrained is mended.

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parent.parent
REQUEST = "tests/cases/tools/chat_completions.json"

WANTED = [
    (
        "thinking",
        "<think>\nThe user asks about two cities. <tool_call> is how I call; not "
        "yet.\n</think>\n\n",
        True,
    ),
    ("text", "Let me look that up <tool", True),
    ("text", "box.\n", True),
    (
        "a call",
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris", "unit": '
        '"celsius"}}\n</tool_call>',
        True,
    ),
    ("no such tool", '\n<tool_call>\n{"name": "get_whether"', False),
    (
        "a bad argument",
        '\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich", "days": "three"',
        False,
    ),
    (
        "a second call",
        '\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich", "days": '
        "3}}\n</tool_call>",
        True,
    ),
]


BROKEN = (
    "Let me see.\n```json\n<tool_call>{'name': 'get_weather', 'arguments': {\"city\": \"Paris\", "
    '"days": "3", "unit": None,}'
)


def parse(tool, text, *more):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "answer.txt"
        path.write_text(text, encoding="utf-8")
        command = [
            tool,
            "tools",
            "--preset",
            "qwen3",
            "--tools",
            REQUEST,
            "--thinking",
            "on",
            "--parse",
            str(path),
            *more,
        ]
        done = subprocess.run(
            command,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )
        return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


def longest_accepted(tool, before, piece):
    """How many characters of the piece the grammar takes."""
    for n in range(len(piece), 0, -1):
        _, _, error = parse(tool, before + piece[:n], "--strict")
        if "does not match" not in error:
            return n
    return 0


def main():
    tool = sys.argv[1]
    request = json.loads((ROOT / REQUEST).read_text(encoding="utf-8"))
    schemas = {t["function"]["name"]: t["function"]["parameters"] for t in request["tools"]}
    print(
        f"$ turnstile tools --preset qwen3 --tools {REQUEST} --thinking on --parse ANSWER --stream"
    )
    print("tools:", ", ".join(schemas), "\n")
    text, good = "", True
    for what, piece, legal in WANTED:
        n = longest_accepted(tool, text, piece)
        print(f"the model wants {what}: {json.dumps(piece, ensure_ascii=False)}")
        if n < len(piece):
            print(
                f"  stopped after {json.dumps(piece[:n][-24:], ensure_ascii=False)}: "
                f"{json.dumps(piece[n], ensure_ascii=False)} is not allowed there"
            )
        else:
            text += piece
            print("  all of it is allowed")
        good = good and legal == (n == len(piece))
    print("\nthe answer, read token by token; each part as soon as it is certain:")
    _, parts, _ = parse(tool, text, "--stream")
    joined = []
    for line in parts.split("\n"):
        part = json.loads(line) if line else None
        if (
            part
            and joined
            and joined[-1]["part"] == part["part"]
            and part["part"] in ("text", "reasoning", "arguments")
        ):
            joined[-1]["text"] += part["text"]
        elif part:
            joined.append(part)
    for part in joined:
        print(f"  {part['part']:<10} {json.dumps(part['text'], ensure_ascii=False)}")
    code, whole, _ = parse(tool, text)
    answer = json.loads(whole)
    errors = [
        e.message
        for c in answer["calls"]
        for e in jsonschema.Draft202012Validator(schemas[c["name"]]).iter_errors(c["arguments"])
    ]
    good = good and code == 0 and len(answer["calls"]) == 2 and not errors
    print("\n" + json.dumps(answer, ensure_ascii=False))
    print(
        f"PyPI jsonschema says: the arguments of {len(answer['calls'])} calls are "
        f"{'not valid' if errors else 'valid'}"
    )
    return 0 if good and mended(tool) else 1


def mended(tool):
    """An answer with a bracket, quotes, a closing tag and a code fence that are wrong."""
    print(f"\nan answer that nobody constrained: {json.dumps(BROKEN)}")
    _, _, error = parse(tool, BROKEN, "--strict")
    print("  strictly:", error.strip())
    code, whole, _ = parse(tool, BROKEN, "--lenient")
    answer = json.loads(whole)
    print("  with --lenient:", json.dumps(answer["calls"][0]["arguments"]))
    notes = answer["repairs"] + answer["calls"][0]["repairs"]
    for note in sorted(notes, key=lambda n: n["at"]):
        print(f"    mended at byte {note['at']}: {note['repair']}")
    return code == 0 and answer["calls"][0]["arguments"]["city"] == "Paris"


if __name__ == "__main__":
    sys.exit(main())
