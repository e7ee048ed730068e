"""Schemas in the style of public ones, new ones for every seed.

Problem   What an engine was tuned on says little of what it will meet. A new seed gives schemas
          that nobody has seen.
Idea      Public schemas come in families. Each family is a function here that puts together what
          its members typically have, with names, sizes and depths drawn at random:
            calls           arguments of a function, few and described
            records         a few members, of which some are lists or objects
            configuration   many optional members, tables of names, a value or a list of values
            API objects     definitions that refer to one another, formats, pages of results
            resources       kind, metadata and spec; maps; an integer or a string; unions of kinds
            forms           limits, patterns, conditions, members that depend on others
            events          an envelope, and one of many payloads by its type
Shares    Of MaskBench's schemas a quarter are calls and another quarter are records. So it is here.
          Half of the schemas are shorter than 1,000 bytes, in MaskBench 750.
Example   schemas(1, 3) are three schemas, the same ones whenever the seed is 1.
Tested by tests/programs/test_fresh.py

SPDX-License-Identifier: Apache-2.0
"""

import random

WORDS = (
    "account action active address agent alias amount api app archive area args asset audit "
    "auth author backup balance base batch billing body branch bucket budget build bundle "
    "cache call capacity card category channel check city class client cluster code color "
    "command comment commit company condition config contact container content context cost "
    "count country cpu created currency customer data database date default delay depth "
    "deploy description detail device digest disk domain driver duration email enabled "
    "encoding end endpoint engine entry env error event exclude exit expires export extends "
    "external factor feature field file filter flag folder format from gateway global group "
    "handler hash header health height history hook host icon id image import include index "
    "ingress input instance interval invoice ip issue item job key kind label language last "
    "latency layer level limit line link list locale location lock log machine mail main max "
    "member memory message meta method metric min mode model module monitor mount name "
    "namespace network node note number object offset option order origin output owner "
    "package page parent patch path pattern payment peer period permission phase phone "
    "pipeline plan platform plugin point policy pool port prefix price priority probe product "
    "profile project protocol provider proxy public query queue quota range rate reason "
    "record ref region release remote replica report request required resource response "
    "restart result retry role route rule runtime sample schedule scope script search secret "
    "section selector server service session setting shape signature size source stage start "
    "state status step storage strategy stream subject summary tag target task team template "
    "tenant test text theme threshold timeout title token tool topic total trace tracking "
    "transform trigger type unit update uri url user value variable vendor version view "
    "volume warning weight width window worker workflow workspace "
).split()

FORMATS = ("date-time", "date", "time", "email", "hostname", "ipv4", "ipv6", "uri", "uuid")
PATTERNS = (
    "^[a-z][a-z0-9-]*$",
    "^[A-Z]{2,3}$",
    "^v?[0-9]+\\.[0-9]+\\.[0-9]+$",
    "^[0-9a-f]{40}$",
    "^#[0-9a-fA-F]{6}$",
    "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
    "^\\+?[0-9 ()-]{7,20}$",
    "^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+(:[A-Za-z0-9_.-]+)?$",
    "^([0-9]+)(m|Mi|Gi|Ki|k|M|G)?$",
    "^\\S+(\\s\\S+)*$",
    "^(?!-)[a-zA-Z0-9-]{1,40}$",
    "^/([^/]+/?)*$",
    "^\\$\\{[A-Z_]+\\}$",
    "^[^<>]*$",
)


class Maker:
    """Draws parts of schemas; `definitions` collects those that are referred to."""

    def __init__(self, rng):
        self.rng = rng
        self.definitions = {}
        self.drafts = ("definitions", "$defs")[rng.random() < 0.5]

    def chance(self, p):
        return self.rng.random() < p

    def name(self):
        words = self.rng.sample(WORDS, 1 + self.chance(0.45) + self.chance(0.1))
        style = self.rng.random()
        if style < 0.6:
            return words[0] + "".join(word.title() for word in words[1:])
        return ("_" if style < 0.85 else "-").join(words)

    def names(self, count):
        found = {}
        while len(found) < count:
            found[self.name()] = True
        return list(found)

    def words(self, count):
        return self.rng.sample(WORDS, count)

    # ---- values without structure ----------------------------------------------------------------

    def string(self):
        kind = self.rng.random()
        value = {"type": "string"}
        if kind < 0.15:
            value["format"] = self.rng.choice(FORMATS)
        elif kind < 0.3:
            value["pattern"] = self.rng.choice(PATTERNS)
        elif kind < 0.5:
            value = {"enum": self.words(self.rng.randint(2, 12)), **value}
        elif kind < 0.65:
            if self.chance(0.6):
                value["minLength"] = self.rng.randint(0, 3)
            value["maxLength"] = self.rng.choice((10, 32, 63, 100, 128, 255, 1000, 4096))
        return value

    def number(self):
        value = {"type": self.rng.choice(("integer", "integer", "number"))}
        if self.chance(0.4):
            value["minimum"] = self.rng.choice((0, 1, -90, -180, 1024))
        if self.chance(0.3):
            value["maximum"] = self.rng.choice((100, 180, 65535, 86400, 1000000, 2147483647))
        if self.chance(0.05):
            value["multipleOf"] = self.rng.choice((1, 5, 0.01, 60))
        return value

    def scalar(self):
        kind = self.rng.random()
        if kind < 0.55:
            return self.string()
        if kind < 0.75:
            return self.number()
        if kind < 0.93:
            return {"type": "boolean"}
        if kind < 0.97:
            return {"type": ["string", "null"]}
        return {"type": ["integer", "string"]}

    # ---- values with structure -------------------------------------------------------------------

    def array(self, depth):
        value = {"type": "array", "items": self.value(depth - 1)}
        if self.chance(0.2):
            value["minItems"] = self.rng.randint(1, 3)
        if self.chance(0.15):
            value["maxItems"] = self.rng.choice((5, 10, 50, 100))
        if self.chance(0.12):
            value["uniqueItems"] = True
        return value

    def members(self, depth, count, closed=0.4, required=0.3):
        names = self.names(count)
        value = {"type": "object", "properties": {name: self.value(depth - 1) for name in names}}
        needed = [name for name in names if self.chance(required)]
        if needed:
            value["required"] = needed
        if self.chance(closed):
            value["additionalProperties"] = False
        return value

    def table(self, depth):
        if self.chance(0.35):
            pattern = self.rng.choice(("^[a-zA-Z0-9_-]+$", "^x-", "^\\$", "^[a-z]+:", "^.*$"))
            value = {"type": "object", "patternProperties": {pattern: self.value(depth - 1)}}
            if self.chance(0.6):
                value["additionalProperties"] = False
            return value
        return {"type": "object", "additionalProperties": self.value(depth - 1)}

    def one_or_many(self, depth):
        one = self.value(depth - 1)
        word = self.rng.choice(("anyOf", "oneOf"))
        return {word: [one, {"type": "array", "items": one}]}

    def either(self, depth):
        word = self.rng.choice(("anyOf", "oneOf"))
        return {
            word: [{"type": "null"} if self.chance(0.4) else self.scalar(), self.value(depth - 1)]
        }

    def reference(self, depth):
        if self.definitions and self.chance(0.6):
            name = self.rng.choice(list(self.definitions))
        else:
            name = self.name()
            self.definitions.setdefault(name, {})
            self.definitions[name] = self.members(max(depth - 1, 1), self.rng.randint(2, 7))
        return {"$ref": f"#/{self.drafts}/{name}"}

    def value(self, depth):
        kind = self.rng.random()
        if depth <= 0 or kind < 0.55:
            value = self.scalar()
        elif kind < 0.67:
            value = self.array(depth)
        elif kind < 0.79:
            value = self.members(depth, self.rng.randint(1, 8))
        elif kind < 0.85:
            value = self.table(depth)
        elif kind < 0.89:
            value = self.one_or_many(depth)
        elif kind < 0.93:
            value = self.either(depth)
        else:
            value = self.reference(depth)
        if "$ref" not in value and self.chance(0.3):
            value["description"] = " ".join(self.words(self.rng.randint(2, 9)))
        return value

    def tagged(self, key, count, depth):
        """Objects that differ in the value of one member."""
        common = {name: self.scalar() for name in self.names(self.rng.randint(0, 3))}
        branches = []
        for name in self.names(count):
            own = self.members(depth, self.rng.randint(1, 5), closed=0.6)
            own["properties"] = {key: {"const": name}, **common, **own["properties"]}
            own["required"] = sorted({key, *own.get("required", [])})
            branches.append(own)
        return branches


# ---- families ------------------------------------------------------------------------------------


def call(m):
    schema = {"type": "object", "properties": {}}
    for name in m.names(m.rng.choice((1, 2, 2, 3, 3, 4, 5, 6))):
        kind = m.rng.random()
        if kind < 0.65:
            value = {"type": "string"}
            if m.chance(0.15):
                value["enum"] = m.words(m.rng.randint(2, 6))
        elif kind < 0.8:
            value = {"type": m.rng.choice(("integer", "number"))}
        elif kind < 0.85:
            value = {"type": "boolean"}
        elif kind < 0.95:
            value = {"type": "array", "items": {"type": m.rng.choice(("string", "number"))}}
        else:
            value = m.members(1, m.rng.randint(2, 4), closed=0, required=0.5)
        value["description"] = "The " + " ".join(m.words(m.rng.randint(3, 9)))
        schema["properties"][name] = value
    schema["required"] = [name for name in schema["properties"] if m.chance(0.8)]
    if m.chance(0.3):
        schema["additionalProperties"] = False
    return schema


def record(m):
    schema = m.members(2, m.rng.randint(1, 6), closed=0.35, required=0.5)
    if m.chance(0.2):
        return {"type": "array", "items": schema}
    return schema


def configuration(m):
    schema = m.members(3, m.rng.randint(6, 30), closed=0.6, required=0.08)
    if m.chance(0.4):
        schema["patternProperties"] = {"^x-": {}}
    for name in m.names(m.rng.randint(0, 3)):
        schema["properties"][name] = m.table(2)
    if m.chance(0.25):
        schema = {
            "type": "object",
            "allOf": [schema, {"properties": {"$schema": {"type": "string"}}}],
        }
        schema["allOf"][0].pop("additionalProperties", None)
    return schema


def api_object(m):
    thing = m.members(2, m.rng.randint(4, 15), closed=0.3, required=0.5)
    thing["properties"]["id"] = {"type": "string", "format": "uuid"}
    thing["properties"]["createdAt"] = {"type": "string", "format": "date-time"}
    if m.chance(0.5):
        return thing
    m.definitions["Thing"] = thing
    items = {"type": "array", "items": {"$ref": f"#/{m.drafts}/Thing"}}
    page = {
        "items": items,
        "total": {"type": "integer", "minimum": 0},
        "next": {"type": ["string", "null"]},
    }
    return {"type": "object", "properties": page, "required": ["items", "total"]}


def resource(m):
    metadata = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "pattern": PATTERNS[5]},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
        },
        "required": ["name"],
    }
    kinds = []
    for name in m.names(m.rng.choice((1, 1, 2, 5, 12, 30))):
        spec = m.members(3, m.rng.randint(2, 10), closed=0.5)
        spec["properties"]["port"] = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
        kinds.append(
            {
                "type": "object",
                "properties": {
                    "apiVersion": {"type": "string", "enum": ["v1", "apps/v1"]},
                    "kind": {"const": name.title()},
                    "metadata": metadata,
                    "spec": spec,
                },
                "required": ["apiVersion", "kind", "metadata"],
                "additionalProperties": False,
            }
        )
    return kinds[0] if len(kinds) == 1 else {m.rng.choice(("oneOf", "anyOf")): kinds}


def form(m):
    schema = m.members(1, m.rng.randint(4, 16), closed=0.5, required=0.6)
    names = list(schema["properties"])
    if m.chance(0.5):
        first, then = m.rng.sample(names, 2)
        schema["properties"][first] = {"enum": ["yes", "no", "maybe"]}
        schema["if"] = {"properties": {first: {"const": "yes"}}, "required": [first]}
        schema["then"] = {"required": [then]}
    if m.chance(0.3):
        one, other = m.rng.sample(names, 2)
        schema["dependentRequired"] = {one: [other]}
    if m.chance(0.2):
        schema["anyOf"] = [{"required": [name]} for name in m.rng.sample(names, 3)]
    if m.chance(0.15):
        schema["minProperties"] = m.rng.randint(1, 3)
    return schema


def event(m):
    key = m.rng.choice(("type", "event", "kind", "action"))
    branches = m.tagged(key, m.rng.choice((2, 3, 5, 8, 15, 40)), 2)
    payload = {m.rng.choice(("oneOf", "anyOf")): branches}
    if m.chance(0.4):
        return {"type": "array", "items": payload, "minItems": 1}
    return {
        "type": "object",
        "properties": {
            "id": {"type": "string", "format": "uuid"},
            "time": {"type": "string", "format": "date-time"},
            "source": {"type": "string", "format": "uri"},
            "data": payload,
        },
        "required": ["id", "time", "data"],
        "additionalProperties": False,
    }


# by how many schemas of a turn each has
FAMILIES = {call: 5, record: 6, configuration: 3, api_object: 3, resource: 2, form: 2, event: 2}


def turn():
    """The families of a turn, each spread over all of it."""
    total = sum(FAMILIES.values())
    places = [((k + 0.5) * total / n, family) for family, n in FAMILIES.items() for k in range(n)]
    return [family for _, family in sorted(places, key=lambda place: place[0])]


def schemas(seed, count):
    """[(identifier, schema)], families in turns."""
    made, families = [], turn()
    for i in range(count):
        family = families[i % len(families)]
        m = Maker(random.Random(f"{seed}/{i}"))
        schema = family(m)
        if m.definitions:
            schema[m.drafts] = m.definitions
        if m.drafts == "$defs":
            schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
        made.append((f"{family.__name__}-{seed}-{i}", schema))
    return made
