#!/usr/bin/env python3
"""Schemas that other people have published: those of some npm packages
(scripts/locks/packages.lock), which nobody wrote to test a validator.

  compile   each compiles, but for those of tests/cases/published.json, whose reason stands there
  texts     texts drawn under the masks of each are valid for jsonschema-rs
  changed   the same texts with members left out, added and exchanged. Each is accepted, token by
            token with masks, exactly if jsonschema-rs says that it is valid

Formats are left aside, since jsonschema-rs and ECMA-262 differ in some. What jsonschema-rs cannot
judge does not count, and how much that is is said: schemas that it does not take, and numbers past
a double. Values are not changed to ones with a list "enum" of equal values, either. Draft 4's
metaschema forbids such a list, and the copy of that metaschema here does not.

    test_published.py [SEED [CHANGES]]      (1, 20) CHANGES: changed texts of each schema

SPDX-License-Identifier: Apache-2.0
"""

import copy
import functools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))
BENCH = os.environ.get("TSL_BENCH", str(BUILD / "turnstile-bench"))
FOLDER = ROOT / "build" / "schemas"
EXPECTED = ROOT / "tests" / "cases" / "published.json"
TEXTS = 3
MAX_TEXT = 20000  # characters
NAMES = ["x-q", "zz", "$ref", "type"]
POOL = [
    None,
    True,
    False,
    0,
    1,
    -1,
    1.5,
    "",
    "a",
    "x-a",
    "https://a.b/c",
    [],
    {},
    ["a"],
    ["a", "a"],
    [1, 1.0],
    {"a": 1},
    {"$ref": "#/a"},
]

passed = failed = 0


def check(good, what):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"  failed: {what}")


def lines_of(text):
    """What JSON lines hold; their strings may have separators that str.splitlines() knows."""
    return [json.loads(line) for line in text.split("\n") if line]


@functools.cache
def served():
    """{URL: folder} of the documents that the packages have for each other's references."""
    entries = json.loads((ROOT / "scripts" / "locks" / "packages.lock").read_text())["schemas"]
    return {
        url: FOLDER / entry["package"].rpartition("@")[0] / below
        for entry in entries
        for url, below in entry.get("serves", {}).items()
    }


def bench(command, data, *arguments):
    """Run the benchmark driver over a file, without formats and with the served documents; its
    output.
    """
    resolve = [
        part for url, folder in served().items() for part in ("--resolve", f"{url}={folder}")
    ]
    return subprocess.run(
        [
            BENCH,
            command,
            "--vocab",
            "embedded",
            "--data",
            str(data),
            "--formats",
            "ignore",
            *resolve,
            *map(str, arguments),
        ],
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ).stdout


def retrieve(url):
    for base, folder in served().items():
        if url.startswith(base):
            return json.loads((folder / url[len(base) :]).read_text(encoding="utf-8"))
    raise ValueError(url)


def validator_of(schema):
    """jsonschema-rs's, or None: it does not take the schema."""
    try:
        return jsonschema_rs.validator_for(schema, validate_formats=False, retriever=retrieve)
    except BaseException:  # it panics, too
        return None


def is_valid(validator, text):
    """True, False, or None: it does not say."""
    try:
        return validator.is_valid(json.loads(text, parse_float=finite))
    except BaseException:  # as above
        return None


def finite(text):
    if abs(number := float(text)) == float("inf"):
        raise ValueError(f"{text} is past the range of a double")
    return number


# ---- changing texts ------------------------------------------------------------------------------


def paths(value, path=()):
    yield path
    for key in (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    ):
        yield from paths(value[key], path + (key,))


def get(value, path):
    for key in path:
        value = value[key]
    return value


def members_named(schema, out):
    """Names that a schema has for members."""
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            out.update(schema["properties"])
        for value in schema.values():
            members_named(value, out)
    elif isinstance(schema, list):
        for value in schema:
            members_named(value, out)
    return out


def change(rng, value, names, parts):
    """The value with one thing done to it."""
    path = rng.choice(list(paths(value))[:400])
    at, new, r = get(value, path), copy.deepcopy(rng.choice(parts)), rng.random()
    if r < 0.3 and isinstance(at, dict) and at:
        del at[rng.choice(list(at))]
    elif r < 0.6 and isinstance(at, dict):
        at[rng.choice(names)] = new
    elif r < 0.7 and isinstance(at, list):
        at.append(copy.deepcopy(rng.choice(at)) if at and r < 0.5 else new)
    elif not path:
        return new
    else:
        get(value, path[:-1])[path[-1]] = new
    return value


def has_equal_enum(value):
    """Is there a member "enum" with a list of which two are equal?"""
    listed = value.get("enum") if isinstance(value, dict) else None
    if isinstance(listed, list) and any(
        a == b and isinstance(a, bool) == isinstance(b, bool)
        for i, a in enumerate(listed)
        for b in listed[:i]
    ):
        return True
    return any(
        map(
            has_equal_enum,
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else (),
        )
    )


def changed(rng, schema, validator, values, count):
    """[{"valid", "text"}] of changed values that are judged."""
    names = sorted(members_named(schema, set(NAMES)))
    parts = POOL + [get(value, path) for value in values for path in list(paths(value))[:200]]
    tests = []
    for _ in range(count):
        value = copy.deepcopy(rng.choice(values))
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            value = change(rng, value, names, parts)
        try:
            text = json.dumps(value, ensure_ascii=rng.random() < 0.5, allow_nan=False)
        except ValueError:  # a number past the range of a double
            continue
        valid = (
            is_valid(validator, text)
            if len(text) <= MAX_TEXT and not has_equal_enum(value)
            else None
        )
        if valid is not None:
            tests.append({"valid": valid, "text": text})
    return tests


# ---- the test ------------------------------------------------------------------------------------


def main():
    seed, changes = (int(given) for given in (sys.argv[1:] + ["1", "20"][len(sys.argv) - 1 :]))
    data = FOLDER / "published.jsonl"
    rows = lines_of(data.read_text(encoding="utf-8"))
    drawn = lines_of(bench("texts", data, "--texts", TEXTS, "--seed", seed))
    expected, refused = (
        json.loads(EXPECTED.read_text()),
        {row["id"]: row["message"] for row in drawn if row["status"] != "TSL_OK"},
    )
    check(len(drawn) == len(rows), f"{len(drawn)} of {len(rows)} schemas were looked at")
    for name in {**expected, **refused}:
        check(
            expected.get(name) == refused.get(name),
            f"{name}: {refused.get(name, 'compiles')}; expected: "
            f"{expected.get(name, 'that it compiles')}",
        )
    judged, passed_over, out = 0, 0, []
    for row, texts in zip(rows, drawn):
        if row["id"] in refused:
            continue
        check(row["id"] == texts["id"] and not texts["why"], f"{row['id']}: {texts['why']}")
        schema = json.loads(row["schema"])
        validator = validator_of(schema)
        verdicts = [validator and is_valid(validator, text) for text in texts["texts"]]
        judged += len(verdicts) - verdicts.count(None)
        passed_over += verdicts.count(None)
        for text, verdict in zip(texts["texts"], verdicts):
            check(verdict is not False, f"{row['id']}: not valid: {text[:400]}")
        values = [
            json.loads(text)
            for text, verdict in zip(texts["texts"], verdicts)
            if verdict is not None
        ]
        if values:
            out.append(
                {
                    **row,
                    "tests": changed(
                        random.Random(f"{seed} {row['id']}"), schema, validator, values, changes
                    ),
                }
            )
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "changed.jsonl")
        path.write_text("".join(json.dumps(row) + "\n" for row in out), encoding="utf-8")
        result = pathlib.Path(folder, "result.jsonl")
        bench("maskbench", path, "--verify", 0, "--out", result)
        results = lines_of(result.read_text(encoding="utf-8"))
    pairs = sum(len(row["tests"]) for row in out)
    valid = sum(test["valid"] for row in out for test in row["tests"])
    check(
        len(results) == len(out),
        f"{len(results)} of {len(out)} schemas with changed texts were judged",
    )
    for row in results:
        check(row["outcome"] == "pass", f"{row['id']}: {row}")
    print(
        f"  {len(rows) - len(refused)} of {len(rows)} schemas compile; {judged} texts and {pairs} "
        f"changed ones ({valid} of them valid) of {len(out)} schemas judged, {passed_over} texts "
        "not"
    )
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if not (FOLDER / "published.jsonl").is_file():
    print(f"  skipped: {FOLDER / 'published.jsonl'} is not there (./dev fetch schemas)")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)
try:
    import jsonschema_rs
except ImportError:
    print("  skipped: jsonschema-rs is not there (./dev fetch python)")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)
sys.exit(main())
