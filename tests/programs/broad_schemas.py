"""Random schemas of every draft from 4 on, and texts of instances in any spelling. The schemas have
the keywords, references, formats, patterns and numbers that tests/programs/test_schema_fuzz.py
leaves out. Used by tests/programs/differential.py.

SPDX-License-Identifier: Apache-2.0
"""

import decimal
import json
import random

DRAFTS = {
    "4": "http://json-schema.org/draft-04/schema#",
    "6": "http://json-schema.org/draft-06/schema#",
    "7": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
ORDER = list(DRAFTS)
KEYS = ["a", "b", "c", "ab", "x", "", "é", "$ref", "a/b", "\U0001f600"]
PATTERNS = [
    "^a",
    "b$",
    "^[ab]+$",
    "a|c",
    "^x?$",
    ".",
    "^(?=.*b)a",
    "^(?!ab)",
    "(?<=a)b",
    r"\ba\b",
    "^.{2}$",
    "[^a]",
    "^(a|b)\\1$",
    "^$",
    "é",
    r"^\S+$",
    "(ab){1,2}$",
    "^[a-c]{2,}x*$",
    "a.*b|^c",
]
NUMBERS = [
    0,
    1,
    2,
    3,
    -1,
    10,
    1.5,
    -0.5,
    0.1,
    0.3,
    100,
    1e3,
    12345678901234567890,
    1e-7,
    2.5,
    99.99,
    -7,
    4294967296,
    0.25,
]
STRINGS = [
    "",
    "a",
    "b",
    "ab",
    "ba",
    "abab",
    "aa",
    "x",
    "abc",
    "é",
    "\U0001f600",
    "\U0001f600a",
    "a b",
    "a\nb",
    '"',
    "\\",
    "/",
    "a\u0000",
    "2024-02-29",
    "2023-02-29",
    "12:00:00Z",
    "23:59:60Z",
    "2024-02-29T12:00:00+01:00",
    "127.0.0.1",
    "1.2.3.256",
    "::1",
    "1::2::3",
    "a@b.c",
    "@",
    "a.b",
    "-a",
    "http://a/b?c#d",
    "/a",
    "not a uri",
    "a-b",
    "P1D",
    "P1Y2W",
    "PT",
    "/a~0b",
    "/a~2",
    "0/a",
    "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "f81d4fae",
    "^a(b",
    "[a]",
    "{x}",
    "{x",
]
FORMATS = {
    "date-time": 0,
    "email": 0,
    "hostname": 0,
    "ipv4": 0,
    "ipv6": 0,
    "uri": 0,
    "uri-reference": 1,
    "json-pointer": 1,
    "date": 2,
    "time": 2,
    "relative-json-pointer": 2,
    "regex": 2,
    "uuid": 3,
    "duration": 3,
    "no-such-format": 0,
}
SINCE = {
    "const": 1,
    "contains": 1,
    "propertyNames": 1,
    "if": 2,
    "then": 2,
    "else": 2,
    "dependentRequired": 3,
    "dependentSchemas": 3,
    "unevaluatedProperties": 3,
    "unevaluatedItems": 3,
    "minContains": 3,
    "maxContains": 3,
    "prefixItems": 4,
    "$dynamicRef": 4,
}
UNTIL = {"dependencies": 2, "additionalItems": 3, "$recursiveRef": 3}
KEYWORDS = """type type type properties properties properties required additionalProperties
    patternProperties propertyNames minProperties maxProperties items items prefixItems
    additionalItems minItems maxItems contains minContains maxContains uniqueItems enum const
    allOf anyOf oneOf oneOf not not if if then else dependencies dependentRequired
    dependentSchemas unevaluatedProperties unevaluatedProperties unevaluatedItems
    unevaluatedItems minLength maxLength pattern pattern format minimum maximum
    exclusiveMinimum exclusiveMaximum multipleOf multipleOf $ref $ref $ref $dynamicRef
    $recursiveRef""".split()
TYPES = [
    "null",
    "boolean",
    "object",
    "object",
    "array",
    "array",
    "number",
    "integer",
    "string",
    "string",
]
BOUNDS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
COUNTS = {
    "minProperties",
    "maxProperties",
    "minItems",
    "maxItems",
    "minContains",
    "maxContains",
    "minLength",
    "maxLength",
}
ONE_SCHEMA = {
    "additionalProperties",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedProperties",
    "unevaluatedItems",
    "additionalItems",
}


class BroadMaker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    # ---- values ----------------------------------------------------------------------------------

    def some(self, choices, low, high):
        return self.random.sample(choices, self.random.randrange(low, high))

    def value(self, depth=0):
        r = self.random.random()
        if depth > 2 or r < 0.25:
            return self.random.choice(NUMBERS)
        if r < 0.55:
            return self.random.choice(STRINGS)
        if r < 0.65:
            return self.random.choice([None, True, False])
        if r < 0.8:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return {k: self.value(depth + 1) for k in self.some(KEYS, 0, 5)}

    def instances(self):
        objects = [{k: self.value(1) for k in self.some(KEYS, 0, 6)} for _ in range(16)]
        arrays = [[self.value(1) for _ in range(self.random.randrange(5))] for _ in range(12)]
        return (
            [self.value() for _ in range(16)]
            + objects
            + arrays
            + self.random.sample(STRINGS, 8)
            + self.random.sample(NUMBERS, 6)
        )

    # ---- spellings -------------------------------------------------------------------------------

    def space(self):
        return self.random.choice(["", "", "", " ", "\n", "\t "])

    def character(self, c):
        r = self.random.random()
        if c in '"\\' or c < " ":
            return json.dumps(c)[1:-1] if r < 0.7 else f"\\u{ord(c):04x}"
        if r < 0.85:
            return c
        if c == "/" and r < 0.93:
            return "\\/"
        return "".join(
            f"\\u{int.from_bytes(unit, 'big'):04X}"
            for unit in [
                c.encode("utf-16-be")[i : i + 2]
                for i in range(0, 2 * len(c.encode("utf-16-be")) // 2, 2)
            ]
        )

    def number(self, v):
        """v exactly, with other digits: 1, 1.0, 10e-1, 0.1E+1."""
        text = json.dumps(v)
        if self.random.random() < 0.7:
            return text
        d = decimal.Decimal(text).as_tuple()
        digits, exponent = "".join(map(str, d.digits)) + "0" * self.random.randrange(3), d.exponent
        exponent -= len(digits) - len(d.digits)
        head = "-" if d.sign else ""
        if self.random.random() < 0.5:
            letter, sign = self.random.choice("eE"), self.random.choice(["", "+"])
            return f"{head}{digits}{letter}{exponent:{sign}d}"
        return f"{head}0.{digits}e{exponent + len(digits)}"

    def text(self, v):
        if isinstance(v, str):
            return '"' + "".join(self.character(c) for c in v) + '"'
        if isinstance(v, list):
            return (
                "["
                + self.space()
                + ",".join(self.space() + self.text(i) + self.space() for i in v)
                + "]"
            )
        if isinstance(v, dict):
            return (
                "{"
                + self.space()
                + ",".join(
                    self.space()
                    + self.text(k)
                    + self.space()
                    + ":"
                    + self.space()
                    + self.text(i)
                    + self.space()
                    for k, i in v.items()
                )
                + "}"
            )
        return json.dumps(v) if v is None or isinstance(v, bool) else self.number(v)

    # ---- schemas ---------------------------------------------------------------------------------

    def list(self, depth, most):
        return [self.schema(depth + 1) for _ in range(self.random.randrange(1, most))]

    def keyword(self, k, depth):
        choice = self.random.choice
        if k == "type":
            return (
                choice(TYPES) if self.random.random() < 0.7 else sorted(set(self.some(TYPES, 2, 4)))
            )
        if k in ("properties", "dependentSchemas"):
            return {key: self.schema(depth + 1) for key in self.some(KEYS, 1, 5)}
        if k == "dependencies":
            return {
                key: self.schema(depth + 1) if self.random.random() < 0.5 else self.some(KEYS, 1, 3)
                for key in self.some(KEYS, 1, 3)
            }
        if k == "patternProperties":
            return {pattern: self.schema(depth + 1) for pattern in self.some(PATTERNS, 1, 4)}
        if k == "items":
            return (
                self.list(depth, 4)
                if self.draft != "2020-12" and self.random.random() < 0.4
                else self.schema(depth + 1)
            )
        if k in ONE_SCHEMA:
            return self.schema(depth + 1)
        if k in ("allOf", "anyOf", "oneOf", "prefixItems"):
            return self.list(depth, 4)
        if k in BOUNDS:
            return (
                choice([True, False])
                if self.draft == "4" and k.startswith("ex")
                else choice(NUMBERS)
            )
        if k in COUNTS:
            return self.random.randrange(5)
        simple = {
            "required": lambda: self.some(KEYS, 1, 4),
            "enum": lambda: [self.value() for _ in range(self.random.randrange(1, 6))],
            "const": self.value,
            "uniqueItems": lambda: self.random.random() < 0.8,
            "dependentRequired": lambda: {
                key: self.some(KEYS, 1, 3) for key in self.some(KEYS, 1, 3)
            },
            "pattern": lambda: choice(PATTERNS),
            "format": lambda: choice(
                [f for f, since in FORMATS.items() if since <= ORDER.index(self.draft)]
            ),
            "multipleOf": lambda: choice([1, 2, 3, 0.5, 0.1, 0.01, 2.5, 1e-7, 7]),
            "$ref": lambda: choice(self.targets),
            "$dynamicRef": lambda: "#node",
            "$recursiveRef": lambda: "#",
        }
        return simple[k]()

    def schema(self, depth=0):
        r = self.random.random()
        if r < 0.06 and self.draft != "4":
            return self.random.random() < 0.8
        if depth > 3 and r < 0.7:
            return self.random.choice(
                [
                    {"type": "string"},
                    {"type": "integer"},
                    {},
                    {"minimum": 1},
                    {"maxLength": 2},
                    {"enum": [self.value(2)]},
                ]
            )
        names = {
            self.random.choice(self.keywords)
            for _ in range(self.random.choice([1, 1, 2, 2, 3, 4, 5]))
        }
        if "exclusiveMinimum" in names and self.draft == "4":
            names.add("minimum")
        if "exclusiveMaximum" in names and self.draft == "4":
            names.add("maximum")
        return {k: self.keyword(k, depth) for k in sorted(names)}

    def document(self):
        """A schema with definitions that it may refer to, by pointer, anchor and URI; every cycle
        goes through a member or an item.
        """
        self.draft = self.random.choice(ORDER)
        at = ORDER.index(self.draft)
        self.keywords = [k for k in KEYWORDS if SINCE.get(k, 0) <= at <= UNTIL.get(k, 4)]
        if (
            self.draft == "2019-09"
        ):  # there contains evaluates nothing, which the other validators see otherwise
            without = self.random.choice(["contains", "unevaluatedItems"])
            self.keywords = [k for k in self.keywords if k != without]
        place = "definitions" if at < 3 else "$defs"
        self.targets = [f"#/{place}/p", f"#/{place}/q", f"#/{place}/a~1b"]
        if at >= 1:
            self.targets.append("other.json")
        if at >= 3:
            self.targets.append("#named")
        keywords = self.keywords
        if self.draft == "4":
            self.targets[3:] = []
        schema = self.schema()
        while not isinstance(schema, dict) or (at < 3 and "$ref" in schema):
            schema = self.schema()
        self.keywords = [k for k in keywords if k not in ("$ref", "$dynamicRef", "$recursiveRef")]
        leaf = self.schema(3)
        schema["$schema"] = DRAFTS[self.draft]
        schema["id" if self.draft == "4" else "$id"] = "http://example.com/root.json"
        schema[place] = {
            "p": {
                "type": "object",
                "properties": {
                    "a": {"$ref": f"#/{place}/p"},
                    "b": leaf if leaf is not True else {},
                },
            },
            "q": {
                "anyOf": [
                    {"type": "integer"},
                    {"type": "array", "items": {"$ref": f"#/{place}/q"}, "maxItems": 2},
                ]
            },
            "a/b": self.schema(3),
        }
        if at >= 1:
            schema[place]["r"] = {
                "$id": "other.json",
                "type": ["object", "string"],
                "additionalProperties": {"$ref": f"#/{place}/s"},
                place: {"s": self.schema(3)},
            }
        if at >= 3:
            schema[place]["t"] = {"$anchor": "named", **self.keyword_pair()}
        if self.draft == "2020-12":
            schema[place]["u"] = {
                "$dynamicAnchor": "node",
                "type": ["object", "integer"],
                "additionalProperties": {"$dynamicRef": "#node"},
            }
        if self.draft == "2019-09" and self.random.random() < 0.5:
            schema["$recursiveAnchor"] = True
        return schema

    def keyword_pair(self):
        names = {self.random.choice(self.keywords) for _ in range(2)}
        return {k: self.keyword(k, 3) for k in sorted(names)}
