#!/usr/bin/env python3
"""What the report says (tsl_grammar_report), against a walk through the schema that shares no code
with it.

  own        shapes made for this test: keywords that need another one beside them, references into
             unknown places, dynamic scopes, hidden siblings
  suite      every schema of the JSON Schema Test Suite that compiles, each draft by its own folder
             (TSL_SUITE)
  maskbench  every schema of MaskBench's part that compiles, where it lies beside the tree
             (TSL_SHARED)

The walk starts at the root and follows what is in effect: subschemas of the draft's applicators,
`$ref`, `$dynamicRef`, `$recursiveRef`. Every asserting keyword (of any draft) of every schema that
the walk comes to must have exactly one entry under its pointer. So must every word that is one
letter, its case or a hyphen away from such a keyword. Nothing else may have an entry. "enforced" or
"no effect" must be what the walk says. References are resolved by PyPI's referencing; what it
cannot resolve is counted and skipped.

SPDX-License-Identifier: Apache-2.0
"""

import collections
import functools
import json
import lzma
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import referencing
    import referencing.exceptions
    from jsonschema_specifications import REGISTRY as METASCHEMAS
    from referencing import jsonschema as known
    from referencing.jsonschema import lookup_recursive_ref

    SPECIFICATIONS = {
        3: known.DRAFT3,
        4: known.DRAFT4,
        6: known.DRAFT6,
        7: known.DRAFT7,
        2019: known.DRAFT201909,
        2020: known.DRAFT202012,
        0: known.DRAFT202012,
    }
except ImportError:
    SPECIFICATIONS = {}

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = os.environ.get("TSL_BENCH", str(ROOT / "build" / "turnstile-bench"))
SUITE = pathlib.Path(os.environ.get("TSL_SUITE", ROOT / "build" / "suite"))
MASKBENCH = pathlib.Path(
    os.environ.get("TSL_SHARED", ROOT.parent / "shared"), "maskbench", "maskbench-dev.jsonl.xz"
)

AUTO = 0  # no draft is named: 2020-12 with the old spellings
ALL = {3, 4, 6, 7, 2019, 2020, AUTO}
SINCE = {n: {d for d in ALL if d >= n} | {AUTO} for n in (4, 6, 7, 2019, 2020)}
KEYWORDS = {
    **dict.fromkeys(
        """type properties $ref required enum items format additionalProperties pattern
            minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum minItems
            maxItems uniqueItems patternProperties nullable""".split(),
        ALL,
    ),
    **dict.fromkeys(
        "multipleOf minProperties maxProperties allOf anyOf oneOf not".split(), SINCE[4]
    ),
    **dict.fromkeys("const contains propertyNames".split(), SINCE[6]),
    **dict.fromkeys("if then else contentEncoding contentMediaType".split(), SINCE[7]),
    "contentSchema": SINCE[2019],
    **dict.fromkeys(
        "minContains maxContains dependentRequired dependentSchemas unevaluatedItems "
        "unevaluatedProperties".split(),
        SINCE[2019],
    ),
    **dict.fromkeys("prefixItems $dynamicRef".split(), SINCE[2020]),
    "additionalItems": ALL - {2020},
    "dependencies": ALL,
    "$recursiveRef": {2019},
    **dict.fromkeys("divisibleBy extends disallow".split(), {3}),
}
ONE = (
    "not if then else additionalProperties additionalItems propertyNames contains "
    "unevaluatedItems unevaluatedProperties"
).split()
LISTS = "allOf anyOf oneOf prefixItems".split()
MAPS = "properties patternProperties dependentSchemas".split()
BESIDE = {"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains"}
FORMATS = set(
    """date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri
        uri-reference iri iri-reference uri-template uuid json-pointer relative-json-pointer
        regex""".split()
)
NAMES = {
    "draft-03": 3,
    "draft-04": 4,
    "draft-06": 6,
    "draft-07": 7,
    "2019-09": 2019,
    "2020-12": 2020,
}

# Files of the suite with metaschemas of their own: which vocabularies those have, the walk does not
# look at.
OTHERWISE = {"vocabulary", "cross-draft"}

counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(good, what):
    counts["passed" if good else "failed"] += 1
    if not good and counts["failed"] <= 20:
        print(f"  failed: {what}")


def skip(why):
    counts["skipped"] += 1
    print(f"  skipped: {why}")


class Walk:
    """What must be in the report of one schema: `expected`, pointer -> is it enforced?"""

    def __init__(self, schema, draft):
        self.expected, self.done, self.pointers, self.unresolved = {}, set(), {id(schema): ""}, 0
        text = json.dumps(schema)
        self.unevaluated, self.dynamic = (
            "unevaluated" in text,
            "$dynamicRef" in text or "$recursiveRef" in text,
        )
        self.root = schema
        self.index(schema, "")
        resource = referencing.Resource.from_contents(
            schema, default_specification=SPECIFICATIONS[draft]
        )
        self.todo = [
            (
                schema,
                draft,
                referencing.Registry(retrieve=retrieve)
                .with_resource("", resource)
                .resolver_with_root(resource),
            )
        ]
        while self.todo:
            self.visit(*self.todo.pop())

    def index(self, value, pointer):
        """Every container's pointer, by identity."""
        for key, v in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(v, (dict, list)):
                self.pointers[id(v)] = pointer + "/" + escaped(str(key))
                self.index(v, self.pointers[id(v)])

    def seen(self, schema, resolver):
        scope = (
            tuple(dict.fromkeys(uri for uri, _ in resolver.dynamic_scope())) if self.dynamic else ()
        )
        key = (id(schema), scope)
        known = key in self.done
        self.done.add(key)
        return known

    def visit(self, schema, draft, resolver):
        if not isinstance(schema, dict) or self.seen(schema, resolver):
            return
        for name, number in NAMES.items():
            if name in str(schema.get("$schema", "")):
                draft = number
        pointer = self.pointers.get(
            id(schema)
        )  # None: in another document, whose entries are not looked at
        hidden = draft in (3, 4, 6, 7) and "$ref" in schema
        for key, value in schema.items():
            if key not in KEYWORDS:
                if pointer is not None and (misspelled(key) or renamed(schema, key)):
                    self.expected[pointer + "/" + escaped(key)] = False
                continue
            on = (
                draft in KEYWORDS[key]
                and not (hidden and key != "$ref")
                and self.asserts(schema, key, value, draft)
            )
            if pointer is not None:
                self.expected[pointer + "/" + escaped(key)] = on
            if on:
                self.follow(key, value, draft, resolver)

    def asserts(self, schema, key, value, draft):
        """Does a keyword of this draft ask for anything?"""
        if key == "format":
            return value in FORMATS
        if key.startswith("content"):  # annotations, unless assert_content is set
            return False
        if key == "nullable" or (
            isinstance(value, bool) and (key == "uniqueItems" or (draft == 3 and key == "required"))
        ):
            return key != "nullable" and value
        if key.startswith("exclusive") and isinstance(value, bool):
            return value and key.replace("exclusiveM", "m") in schema
        if key == "additionalItems":
            return isinstance(schema.get("items"), list)
        if key == "if":
            return "then" in schema or "else" in schema or self.unevaluated
        return BESIDE.get(key, key) in schema

    def follow(self, key, value, draft, resolver):
        if key in ("$ref", "$dynamicRef", "$recursiveRef"):
            try:
                found = (
                    lookup_recursive_ref(resolver)
                    if key == "$recursiveRef"
                    else resolver.lookup(value)
                )
                self.todo.append((found.contents, draft, found.resolver))
            except (referencing.exceptions.Unresolvable, referencing.exceptions.NoSuchResource):
                self.unresolved += 1
        elif key in ONE or (key in ("items", "extends") and isinstance(value, (dict, bool))):
            self.child(value, draft, resolver)
        elif key in LISTS or key in ("items", "extends"):
            for v in value:
                self.child(v, draft, resolver)
        elif key in MAPS or key == "dependencies":
            for v in value.values():
                self.child(v, draft, resolver)

    def child(self, schema, draft, resolver):
        if isinstance(schema, dict):
            self.todo.append(
                (
                    schema,
                    draft,
                    resolver.in_subresource(SPECIFICATIONS[draft].create_resource(schema)),
                )
            )


def plain(text):
    return "".join(
        c.lower() if c.isascii() else c for c in text.encode().decode("latin-1") if c not in "-_$"
    )  # a letter is a byte


def renamed(schema, word):
    """A word of another notation; min and max are of a type that has such a bound."""
    bounded = schema.get("type") in ("string", "array", "integer", "number")
    word = plain(word)
    return word in ("property", "props", "regex", "regexp") or (word in ("min", "max") and bounded)


@functools.cache
def misspelled(word):
    """Like a keyword but for case, hyphens and dollars. Or one change away from a keyword, if the
    word has five letters, or four of which the first is right.
    """
    word = plain(word)
    for known in map(plain, KEYWORDS):
        if word == known:
            return True
        if (len(known) >= 5 or (len(known) == 4 and word[:1] == known[:1])) and abs(
            len(word) - len(known)
        ) <= 1:
            same_length = len(word) == len(known)
            if any(
                same_length
                and known[:i] + word[i : i + 1] + known[i + 1 :] == word
                or known[:i] + known[i + 1 :] == word
                or known[:i] + word[i : i + 1] + known[i:] == word
                or known[:i] + known[i + 1 : i + 2] + known[i : i + 1] + known[i + 2 :] == word
                for i in range(len(known) + 1)
            ):
                return True
    return False


def escaped(key):
    return key.replace("~", "~0").replace("/", "~1")


def retrieve(uri):
    path = SUITE / "remotes" / uri.removeprefix("http://localhost:1234/")
    if uri.startswith("http://localhost:1234/") and path.is_file():
        return referencing.Resource.from_contents(
            json.loads(path.read_text(encoding="utf-8")), default_specification=SPECIFICATIONS[2020]
        )
    return METASCHEMAS[uri]


def reports(cases, *options):
    """The report of each schema, None where it does not compile."""
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder, "schemas.jsonl")
        data.write_text(
            "".join(
                json.dumps({"id": name, "schema": text, "tests": []}) + "\n" for name, text in cases
            ),
            encoding="utf-8",
        )
        done = subprocess.run(
            [BENCH, "texts", "--data", str(data), "--texts", "0", "--report", "yes", *options],
            capture_output=True,
            check=True,
        )
    return [json.loads(line).get("report") for line in done.stdout.decode().split("\n")[:-1]]


def compare(name, text, report, draft):
    """True if the walk could resolve everything, so that the two were compared."""
    walk = Walk(json.loads(text), draft)
    if walk.unresolved:
        return False
    hints = ("no keyword: the schema itself", "it allows anything", "no metaschema of this name")
    own = [  # without hints, which are about words that the walk does not know
        e for e in report if e["pointer"].startswith("/") and not e["reason"].startswith(hints)
    ]
    times = collections.Counter(e["pointer"] for e in own)
    said = {e["pointer"]: e["status"] == "enforced" for e in own}
    missing, more, twice = (
        walk.expected.keys() - said.keys(),
        said.keys() - walk.expected.keys(),
        [p for p, n in times.items() if n > 1],
    )
    differ = {p: said[p] for p in said.keys() & walk.expected.keys() if said[p] != walk.expected[p]}
    fine = not missing and not more and not twice and not differ
    check(
        fine,
        f"{name}: not in the report: {sorted(missing)[:3]}; only in the report: "
        f"{sorted(more)[:3]}; twice: {twice[:3]}; enforced otherwise: "
        f"{dict(list(differ.items())[:3])}\n    {text[:600]}",
    )
    shapes = all(
        set(e) - {"warning"} == {"pointer", "keyword", "status", "reason"}
        and e.get("warning", True) is True
        and (e["reason"] == "") == (e["status"] == "enforced" and "warning" not in e)
        and e["status"] in ("enforced", "no effect")
        and e["pointer"].endswith("/" + escaped(e["keyword"]))
        for e in report
    )
    check(shapes, f"{name}: an entry is not as it should be: {report[:3]}")
    counts["entries"] = counts.get("entries", 0) + len(own)
    return True


def compare_all(title, cases, draft, *options):
    compared = refused = 0
    for (name, text), report in zip(cases, reports(cases, *options), strict=True):
        refused += report is None
        compared += report is not None and compare(name, text, report, draft)
    print(
        f"  {title}: {compared} schemas compared, {refused} that do not compile, "
        f"{len(cases) - refused - compared} that the walk cannot resolve",
        flush=True,
    )
    return compared


OWN = [
    {
        "then": {"type": "string"},
        "minContains": 2,
        "maxContains": 3,
        "additionalItems": False,
        "items": {"type": "string"},
        "if": {"minLength": 1},
    },
    {
        "then": {"type": "string"},
        "else": {"type": "string"},
        "minContains": 2,
        "additionalItems": {"type": "null"},
        "items": {"type": "string"},
    },
    {
        "$ref": "#/somewhere/else",
        "somewhere": {"else": {"minLength": 3, "properties": {"a": {"$ref": "#/enum/0"}}}},
        "enum": [{"maxLength": 3}, {}],
    },
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$ref": "#/properties/a",
        "properties": {"a": {"type": "string"}},
        "minLength": 3,
    },
    {
        "type": "array",
        "items": {"$dynamicRef": "#n"},
        "$defs": {"n": {"$dynamicAnchor": "n", "minLength": 3}},
        "uniqueItems": False,
    },
    {
        "exclusiveMinimum": True,
        "minimum": 3,
        "exclusiveMaximum": True,
        "nullable": True,
        "format": "never-heard-of",
        "$defs": {"unused": {"type": "string"}},
    },
    {
        "properties": {"a/b": {"properties": {"~": {"type": "null"}, '\u00e9\n"': {"const": 1}}}},
        "definitions": {"x": {"minimum": 2}},
        "divisibleBy": 3,
    },
    {
        "$schema": "http://json-schema.org/draft-03/schema#",
        "properties": {"a": {"required": True}, "b": {"required": False}},
        "extends": [{"type": "object"}],
        "allOf": [{"type": "string"}],
    },
    {
        "maxlength": 3,
        "max_items": 2,
        "Type": "object",
        "ref": "#",
        "minLenght": 1,
        "propertys": {"maxlength": {"maxlength": 1}},
        "reqired": [],
        "not-e": 1,
        "note": 1,
        "title": "x",
        "x-format": 1,
        "typ": 1,
        "types": 1,
        "tpye": 1,
        "elze": 1,
        "num": 1,
        "hype": 1,
        "re": 1,
        "properties": {"maxlength": {"additionalproperties": True, "items ": 1, "\u00e9tems": 1}},
    },
]


def test_own():
    cases = [(f"own {i}", json.dumps(schema)) for i, schema in enumerate(OWN)]
    check(compare_all("own", cases, AUTO) == len(OWN), "all of the test's own schemas are compared")


def test_suite():
    if not (SUITE / "tests").is_dir():
        skip("suite: the JSON Schema Test Suite was not fetched (./dev fetch suite)")
        return
    for folder, draft in [
        ("draft3", 3),
        ("draft4", 4),
        ("draft6", 6),
        ("draft7", 7),
        ("draft2019-09", 2019),
        ("draft2020-12", 2020),
    ]:
        cases = []
        for path in sorted((SUITE / "tests" / folder).rglob("*.json")):
            if path.stem in OTHERWISE:
                continue
            cases += [
                (f"{folder}/{path.stem}: {group['description']}", json.dumps(group["schema"]))
                for group in json.loads(path.read_text(encoding="utf-8"))
                if isinstance(group["schema"], dict)
            ]
        compared = compare_all(
            folder,
            cases,
            draft,
            "--draft",
            str(draft),
            "--resolve",
            f"http://localhost:1234={SUITE / 'remotes'}",
        )
        check(compared > len(cases) * 0.9, f"{folder}: most schemas are compared")


def test_maskbench():
    if not MASKBENCH.is_file():
        skip("maskbench: MaskBench is not beside the tree")
        return
    with lzma.open(MASKBENCH, "rt", encoding="utf-8") as f:
        cases = [(line["id"], line["schema"]) for line in map(json.loads, f)]
    check(compare_all("MaskBench", cases, AUTO) > 3400, "most schemas of MaskBench are compared")


def main():
    if not SPECIFICATIONS:
        skip("PyPI's referencing is not installed (./dev fetch python)")
    else:
        test_own()
        test_suite()
        test_maskbench()
        print(f"  {counts.pop('entries')} entries")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
