#!/usr/bin/env python3
"""Requests as the APIs of many servers have them: tests/cases/tools/requests.jsonl.

Each row has a request. `error` and `pointer`: it is refused, with these words and this place.
`good` and `bad`: texts that are answers to it, and texts that are none. With neither, it compiles.
`kind` "tools": `turnstile tools --preset`; "request": `turnstile check --request`.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tally  # noqa: E402 - the folder is no package
from tally import check  # noqa: E402

CLI = os.environ.get("TSL_CLI", str(ROOT / "build" / "turnstile"))
CASES = ROOT / "tests" / "cases" / "tools" / "requests.jsonl"


def run(*command):
    return subprocess.run([CLI, *command], capture_output=True, text=True, cwd=ROOT)


def tools(row, request, answers):
    """The process, and for each text whether it is an answer."""
    command = ["tools", "--preset", row["preset"], "--tools", request]
    texts = row.get("good", []) + row.get("bad", [])
    if not texts:
        return run(*command, "--compile"), []
    answers.write_bytes(b"\0".join(text.encode() for text in texts) + b"\0")
    done = run(*command, "--parse", answers, "--null", "--strict")
    return done, [line != "null" for line in done.stdout.splitlines()]


def request_alone(row, request, answers):
    texts = row.get("good", []) + row.get("bad", [])
    fits = []
    for text in texts or [""]:
        answers.write_text(text, encoding="utf-8")
        done = run("check", "--request", request, answers)
        fits.append(done.returncode == 0)
    return done, fits if texts else []


def one(row, folder):
    request = folder / "request.json"
    request.write_text(json.dumps(row["request"], ensure_ascii=False), encoding="utf-8")
    how = tools if row["kind"] == "tools" else request_alone
    done, fits = how(row, request, folder / "answers.bin")
    where = (row["what"], done.stderr[:300])
    if "error" in row:
        check(done.returncode == 2, "refused", done.returncode, *where)
        check(row["error"] in done.stderr, "words", row["error"], *where)
        check(row["pointer"] in done.stderr, "place", row["pointer"], *where)
        return
    check(done.returncode in (0, 1), "compiles", done.returncode, *where)
    good = len(row.get("good", []))
    check(all(fits[:good]), "good", fits[:good], *where)
    check(not any(fits[good:]), "bad", fits[good:], *where)


def printing_fails(folder):
    """A tag whose schema is wrong is printed, and that is said."""
    request = folder / "request.json"
    schema = {"type": "object", "properties": {"a": {"type": "strin"}}}
    request.write_text(json.dumps([{"name": "f", "parameters": schema}]), encoding="utf-8")
    done = run("tools", "--preset", "qwen3", "--tools", request)
    check(done.returncode == 2 and "strin" in done.stderr, "printed", done.stderr)
    check("structural_tag" in done.stdout, "the tag", done.stdout)


def options_are_named(folder):
    """What is wrong with an option says nothing of the request's file."""
    request = folder / "request.json"
    request.write_text('[{"name": "f"}]', encoding="utf-8")
    for option, value in (("--preset", "qwen"), ("--tool-choice", "g")):
        given = {"--preset": "qwen3", "--tool-choice": "auto", option: value}
        done = run("tools", "--tools", request, *[word for pair in given.items() for word in pair])
        check(done.returncode == 2 and value in done.stderr, option, done.stderr)
        check("request.json" not in done.stderr, option, done.stderr)


def main():
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            one(row, pathlib.Path(folder))
        printing_fails(pathlib.Path(folder))
        options_are_named(pathlib.Path(folder))
    check(len(rows) >= 240, "requests", len(rows))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
