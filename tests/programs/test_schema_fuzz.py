#!/usr/bin/env python3
"""Random schemas and instances: turnstile-bench maskbench must agree with PyPI jsonschema (draft
2020-12) on every pair.

  pairs     every instance is accepted exactly if it is valid, property order `any`, token by token
            with the embedded vocabulary
  empty     a schema is refused as unsatisfiable only if none of its instances is valid
  unique    uniqueItems is refused only under a negation, and where few values are enough
  refused   nothing else is refused

TSL_FUZZ_SCHEMAS sets how many schemas (default 300, 45 instances each), TSL_FUZZ_SEED the seed
(default 1).

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = os.environ.get("TSL_BENCH", str(ROOT / "build" / "turnstile-bench"))
SCHEMAS = int(os.environ.get("TSL_FUZZ_SCHEMAS", "300"))
SEED = int(os.environ.get("TSL_FUZZ_SEED", "1"))

KEYS = ["a", "b", "c", "ab", "x"]
PATTERNS = ["^a", "b$", "^[ab]+$", "a|c", "^x?$", "."]
SCALARS = [None, True, False, 0, 1, 2, 3, 1.5, -1, 10, "", "a", "b", "ab", "abc", "x", 2.0]
KEYWORDS = (
    ["type", "properties", "not"] * 3
    + ["required", "oneOf", "propertyNames", "patternProperties", "enum", "if"] * 2
    + """additionalProperties patternProperties propertyNames minProperties maxProperties items
        prefixItems minItems maxItems contains minContains maxContains enum const allOf anyOf
        not if then else dependentRequired dependentSchemas unevaluatedProperties
        unevaluatedItems minLength maxLength pattern minimum maximum exclusiveMinimum
        exclusiveMaximum multipleOf $ref uniqueItems uniqueItems""".split()
)
TYPES = ["object"] * 3 + ["array"] * 2 + ["string", "integer", "number", "null", "boolean"]
UNIONS = [["object", "string"], ["array", "integer", "null"], ["object", "array"]]
ONE_SCHEMA = {
    "additionalProperties",
    "propertyNames",
    "items",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedProperties",
    "unevaluatedItems",
}
LEAVES = [
    {"type": "string"},
    {"type": "integer"},
    {"type": ["null", "boolean"]},
    {"minimum": 1},
    {"maxLength": 1},
    {},
]


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def some(self, choices, low, high):
        return self.random.sample(choices, self.random.randrange(low, high))

    def value(self, depth=0):
        r = self.random.random()
        if depth > 2 or r < 0.6:
            return self.random.choice(SCALARS)
        if r < 0.75:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return {k: self.value(depth + 1) for k in self.some(KEYS, 0, 4)}

    def list(self, depth, most):
        return [self.schema(depth + 1) for _ in range(self.random.randrange(1, most))]

    def keyword(self, k, depth):
        if k == "type":
            return self.random.choice(TYPES + UNIONS)
        if k in ("properties", "dependentSchemas"):
            return {key: self.schema(depth + 1) for key in self.some(KEYS, 1, 4)}
        if k == "patternProperties":
            return {pattern: self.schema(depth + 1) for pattern in self.some(PATTERNS, 1, 3)}
        if k in ONE_SCHEMA:
            return self.schema(depth + 1)
        if k in ("allOf", "anyOf", "oneOf"):
            return self.list(depth, 4)
        simple = {
            "required": lambda: self.some(KEYS, 1, 3),
            "prefixItems": lambda: self.list(depth, 3),
            "enum": lambda: [self.value() for _ in range(self.random.randrange(1, 4))],
            "const": self.value,
            "dependentRequired": lambda: {
                key: self.some(KEYS, 1, 3) for key in self.some(KEYS, 1, 3)
            },
            "pattern": lambda: self.random.choice(PATTERNS),
            "multipleOf": lambda: self.random.choice([1, 2, 0.5]),
            "$ref": lambda: self.random.choice(["#/$defs/p", "#/$defs/q"]),
        }
        if k == "uniqueItems":
            return True
        if k in simple:
            return simple[k]()
        if k in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
            return self.random.choice([0, 1, 2, 1.5, -1])
        return self.random.randrange(4)  # counts

    def schema(self, depth=0):
        r = self.random.random()
        if r < 0.06:
            return self.random.random() < 0.8
        if depth > 2 and r < 0.6:
            return self.random.choice(
                LEAVES + [{"const": self.value(2)}, {"enum": [self.value(2)]}]
            )
        names = {
            self.random.choice(KEYWORDS) for _ in range(self.random.choice([1, 1, 2, 2, 3, 4]))
        }
        return {k: self.keyword(k, depth) for k in sorted(names)}

    def document(self):
        schema = self.schema()
        while not isinstance(schema, dict):
            schema = self.schema()
        schema["$defs"] = {
            "p": {
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/p"}, "b": self.random.choice(LEAVES)},
            },
            "q": {
                "anyOf": [
                    {"type": "integer"},
                    {"type": "array", "items": {"$ref": "#/$defs/q"}, "maxItems": 2},
                ]
            },
        }
        return schema

    def instances(self):
        objects = [{k: self.value(1) for k in self.some(KEYS, 0, 5)} for _ in range(25)]
        arrays = [[self.value(1) for _ in range(self.random.randrange(4))] for _ in range(8)]
        return [self.value() for _ in range(12)] + objects + arrays


def main():
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        print(
            "  skipped: PyPI jsonschema is not installed (./dev test installs it)\n0 passed, 0 "
            "failed, 1 skipped"
        )
        return 0
    maker, lines, valid = Maker(SEED), [], 0
    for i in range(SCHEMAS):
        schema = maker.document()
        validator = Draft202012Validator(schema)
        tests = [{"valid": validator.is_valid(v), "text": json.dumps(v)} for v in maker.instances()]
        valid += sum(t["valid"] for t in tests)
        lines.append({"id": f"s{i}", "schema": json.dumps(schema), "tests": tests})
    with tempfile.TemporaryDirectory() as folder:
        data, out = pathlib.Path(folder, "in.jsonl"), pathlib.Path(folder, "out.jsonl")
        data.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        command = [
            BENCH,
            "maskbench",
            "--vocab",
            "embedded",
            "--data",
            str(data),
            "--order",
            "any",
            "--out",
            str(out),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        results = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    passed = failed = empty = refused = 0
    for line, result in zip(lines, results, strict=True):
        good = result["outcome"] == "pass"
        empty += good and result.get("status") == "TSL_ERR_EMPTY"  # a pass if no instance is valid
        if (
            not good
            and result["outcome"] == "refused"
            and re.search("uniqueItems (under a negation|where )", result["message"])
        ):
            good = True
            refused += 1
        passed += good
        failed += not good
        if not good:
            print(f"  failed: {json.dumps(result)[:300]}\n    {line['schema']}")
    pairs = sum(len(line["tests"]) for line in lines)
    print(
        f"  {SCHEMAS} schemas (seed {SEED}), {pairs} pairs of schema and instance, {valid} valid; "
        f"{empty} schemas rightly refused as empty, "
        f"{refused} for uniqueItems"
    )
    if refused > SCHEMAS // 10:
        print(f"  failed: {refused} schemas refused for uniqueItems")
        failed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
