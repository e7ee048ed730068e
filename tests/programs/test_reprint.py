#!/usr/bin/env python3
"""Values that are printed again: the masks' default spellings let every valid value through.

A schema has endless spellings of a value, and masks allow the plain ones by default. No value may
be lost by that. So the values of valid texts are printed as programs print them: without white
space, with Python's white space, and indented. Each print must be a text of the default grammar.
The order of members is free here: it is no matter of spelling.

  suite      valid texts of the JSON Schema Test Suite, each draft by its own folder
  maskbench  valid texts of MaskBench's part, where it lies beside the tree: of every TSL_EACH-th
             schema (17), 1 for all
  own        the project's own schemas and texts (bench/own.jsonl)

Numbers without a fraction (1.0, 1e2) have two printers: JavaScript's prints 1, Python's 1.0. One of
them must be allowed: of integers the first.

SPDX-License-Identifier: Apache-2.0
"""

import collections
import decimal
import json
import lzma
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))
sys.path.insert(0, str(BUILD / "bindings" / "python"))
SUITE = pathlib.Path(os.environ.get("TSL_SUITE", ROOT / "build" / "suite"))
MASKBENCH = pathlib.Path(
    os.environ.get("TSL_SHARED", ROOT.parent / "shared"), "maskbench", "maskbench-dev.jsonl.xz"
)
EACH = int(os.environ.get("TSL_EACH", "17"))
DRAFTS = {
    "draft3": "3",
    "draft4": "4",
    "draft6": "6",
    "draft7": "7",
    "draft2019-09": "2019-09",
    "draft2020-12": "2020-12",
}
PRINTS = [(",", ":", None), (", ", ": ", None), (",", ": ", 2)]

counts = collections.Counter()


def check(truth, what):
    counts["passed" if truth else "failed"] += 1
    if not truth:
        print(f"FAIL {what}")


def skip(reason):
    counts["skipped"] += 1
    print(f"     skipped: {reason}")


class Number:
    """A number by its text: what a double holds is printed as programs do, the rest as it is."""

    def __init__(self, text):
        self.text = text

    def print(self, whole):
        exact = decimal.Decimal(self.text)
        if exact == exact.to_integral_value() and whole and exact.adjusted() < 1000:
            return str(int(exact))
        near = float(self.text)
        if abs(near) == float("inf") or decimal.Decimal(repr(near)) != exact:
            return self.text
        return repr(near)


def read(text):
    return json.loads(text, parse_float=Number)


def line(indent, level):
    return "" if indent is None else "\n" + " " * (indent * level)


def printed(value, style, whole, level=0):
    """json.dumps with ensure_ascii=False, and numbers as said above."""
    comma, colon, indent = style
    if isinstance(value, Number):
        return value.print(whole)
    if not isinstance(value, (dict, list)) or not value:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        marks = "{}"
        parts = [
            json.dumps(k, ensure_ascii=False) + colon + printed(v, style, whole, level + 1)
            for k, v in value.items()
        ]
    else:
        marks = "[]"
        parts = [printed(v, style, whole, level + 1) for v in value]
    inner = line(indent, level + 1)
    return marks[0] + inner + (comma + inner).join(parts) + line(indent, level) + marks[1]


def matches(T, grammar, text):
    matcher = T.Matcher(grammar)
    return matcher.accept_bytes(text) and matcher.is_complete


def try_values(T, vocab, name, schema, texts, **options):
    """Every print of the values of these valid texts; the engine may refuse to compile the schema,
    and then refuses it with any spelling, too."""
    try:
        grammar = T.Grammar.json_schema(vocab, schema, order="any", lazy=True, **options)
    except T.TurnstileError as error:
        try:
            generous = T.Grammar.json_schema(vocab, schema, generous=True, lazy=True, **options)
        except T.TurnstileError:
            counts["refused"] += 1
            return
        valid = [t for t in texts if matches(T, generous, t)]
        check(not valid, f"{name}: has values with any spelling, and plainly is an error: {error}")
        return
    for text in texts:
        value = read(text)
        for style in PRINTS:
            prints = [printed(value, style, whole) for whole in (True, False)]
            try:
                prints[0].encode()
            except UnicodeEncodeError:  # a lone surrogate is no text of UTF-8
                counts["surrogates"] += 1
                continue
            fine = any(matches(T, grammar, p) for p in prints)
            if not fine:
                generous = T.Grammar.json_schema(vocab, schema, generous=True, lazy=True, **options)
                if not matches(T, generous, text):
                    counts["invalid"] += 1  # other tests judge validity
                    continue
            check(fine, f"{name}: {prints[0][:200]!r} is valid, and masks do not allow it")
            counts["values"] += 1


def suite(T, vocab):
    if not (SUITE / "tests").is_dir():
        skip("suite: the JSON Schema Test Suite was not fetched (./dev fetch suite)")
        return

    def resolve(uri):
        path = uri.removeprefix("http://localhost:1234/")
        file = SUITE / "remotes" / path
        return file.read_text(encoding="utf-8") if path != uri and file.is_file() else None

    for folder, draft in DRAFTS.items():
        for path in sorted((SUITE / "tests" / folder).rglob("*.json")):
            for group in json.loads(path.read_text(encoding="utf-8"), parse_float=Number):
                texts = [
                    printed(test["data"], PRINTS[0], False)
                    for test in group["tests"]
                    if test["valid"]
                ]
                schema = printed(group["schema"], PRINTS[0], False)
                name = f"{folder}/{path.stem}: {group['description']}"
                if texts:
                    try_values(T, vocab, name, schema, texts, draft=draft, resolver=resolve)
    check(counts["values"] > 9000, f"the suite has many values: {counts['values']}")


def lines(T, vocab, what, file, each):
    before = counts["values"]
    for i, one in enumerate(map(json.loads, file)):
        texts = [t["text"] for t in one["tests"] if t["valid"]]
        if i % each == 0 and texts:
            schema = one["schema"]
            text = schema if isinstance(schema, str) else json.dumps(schema)
            try_values(T, vocab, f"{what} {one['id']}", text, texts)
    check(counts["values"] > before, f"{what} has values")


def main():
    try:
        import turnstile as T
    except ImportError:
        print(f"  skipped: no Python package in {BUILD}: it was configured without -Dpython=true")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    vocab = T.Vocab.embedded()
    suite(T, vocab)
    with open(ROOT / "bench" / "own.jsonl", encoding="utf-8") as file:
        lines(T, vocab, "own", file, 1)
    if MASKBENCH.is_file():
        with lzma.open(MASKBENCH, "rt", encoding="utf-8") as file:
            lines(T, vocab, "MaskBench", file, EACH)
    else:
        skip("maskbench: MaskBench is not beside the tree")
    for what in ("values", "refused", "invalid", "surrogates"):
        print(f"     {counts.pop(what, 0)} {what}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
