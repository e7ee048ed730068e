"""Inputs of the kinds that cost an engine most, new ones for every seed.

Problem   A shape that multiplies out is a cliff: eight patterns take 0.2 s, twelve can't be
          followed. One input that is fast says little of the next one of its kind.
Idea      Each kind is a function here that draws sizes, words and letters at random. Sizes go past
          those that were slow once.
Kinds     regexes       look-aheads, words in any order, counts within counts, optional groups,
                        branches with one start, properties of characters, text up to a word.
                        Passwords, lines with fenced blocks.
          schemas       unions, overlapping patterns of names, unevaluated members, enums of
                        objects, items and strings that differ, formats. Counts of items, keywords
                        of strings, if/then on one member, forbidden patterns.
          tags          triggers, triggers that share beginnings, limits in characters.
          GBNF          counts beside counts, words with an optional separator, queries with names
                        of limited length.
Example   kinds(1) is a list of (name, {"regex": ...}), the same whenever the seed is 1.
Tested by tests/programs/test_kinds.py

SPDX-License-Identifier: Apache-2.0
"""

import json
import random

from fresh_schemas import WORDS

CLASSES = ("[a-z]", "[A-Z]", "\\d", "[^\\w\\s]", "[_.-]", "[aeiou]", "[0-9a-f]", "\\s")
PROPERTIES = (
    "L",
    "Lu",
    "Ll",
    "N",
    "Nd",
    "P",
    "Sc",
    "Script=Greek",
    "Script=Han",
    "Script=Cyrillic",
)


# ---- regexes ------------------------------------------------------------------------------------


def look_ahead_classes(r):
    least = r.randint(6, 16)
    parts = "".join(f"(?=.*{c})" for c in r.sample(CLASSES[:6], r.randint(2, 5)))
    return {"regex": f"^{parts}.{{{least},{least + r.randint(8, 120)}}}$"}


def look_ahead_words(r):
    parts = "".join(f"(?=.*{w})" for w in r.sample(WORDS, r.randint(2, 8)))
    return {"regex": f"^{parts}.*$"}


def nested_counts(r):
    item = r.choice((".", "[a-z]", "\\S", "[a-z ]", "\\w"))
    space = r.choice(("", "", "\\s?", ",?", "[ -]?"))
    return {"regex": f"^({item}{{1,{r.randint(5, 40)}}}{space}){{1,{r.randint(5, 30)}}}$"}


def optional_groups(r):
    words = (r.choice(("({}-)?", "(?:{} )?", "({})?", "(?:{}{{0,3}})?")) for _ in range(400))
    count = r.randint(50, 400)
    return {"regex": "^" + "".join(f.format(w) for f, w in zip(words, r.choices(WORDS, k=count)))}


def branches_one_start(r):
    head, letters = r.choice(WORDS), r.choice(("(?:x|y)", "[a-z]", "[0-9a-f]", "."))
    most = r.randint(5, 60)
    count = r.randint(100, 1000)
    return {"regex": "|".join(f"{head}{i}{letters}{{0,{most}}}z" for i in range(count))}


def character_properties(r):
    parts = (
        f"\\p{{{p}}}{r.choice(('', '+', '*', '{1,20}'))}"
        for p in r.choices(PROPERTIES, k=r.randint(2, 10))
    )
    return {"regex": "^" + "".join(parts) + "$"}


def tempered_text(r):
    end = r.choice(("-->", "*/", "]]>", "</" + r.choice(WORDS) + ">"))
    plain = "".join("\\" + c if c in "*]/" else c for c in end)
    return {"regex": f"(?:(?!{plain}).){{0,{r.choice((50, 500, 2000))}}}{plain}"}


def counts_side_by_side(r):
    a, b = r.choice(("[a-z]", "[a-z ]", ".", "\\w")), r.choice(("[a-z]", "\\w", "[a-z0-9]"))
    return {"regex": f"^{a}{{1,{r.randint(10, 200)}}}{b}{{1,{r.randint(10, 200)}}}$"}


def passwords(r):
    least, letters = r.randint(6, 14), "@$!%*?&" + r.choice(("", "#", "_-"))
    more = r.choice(("", "(?!.*password)", "(?!.*(?:aa|11|ab))", "(?!.*\\d\\d\\d)"))
    return {
        "regex": f"^(?=.*[a-z])(?=.*[A-Z])(?=.*\\d)(?=.*[{letters}])(?!.*\\s){more}"
        f"[A-Za-z\\d{letters}]{{{least},{least + r.randint(2, 60)}}}$"
    }


def fenced_lines(r):
    fence = r.choice(("```", "~~~", "---"))
    lines = ["#{1,6} .+", "[-*] .+", "\\d+\\. .+", "> .+", ""]
    lines[r.randrange(4)] = f"{fence}[a-z]*\\n(?:(?!{fence})[\\s\\S])*{fence}"
    return {"regex": f"^(?:(?:{'|'.join(lines)})\\n){{1,{r.randint(4, 30)}}}$"}


# ---- schemas ------------------------------------------------------------------------------------


def closed(properties, **more):
    return {"type": "object", "properties": properties, **more}


def union(r):
    count, discriminator = r.choice((50, 200, 500)), r.choice(("type", "kind", "op"))
    value = r.choice(
        (
            {"type": "string"},
            {"type": "string", "pattern": "^[a-z]{0,8}$"},
            {"type": "integer", "minimum": 0},
            {"enum": ["a", "b"]},
        )
    )
    branches = []
    for i in range(count):
        members = {r.choice(WORDS): {"type": "string"}, discriminator: {"const": f"t{i}"}}
        members[r.choice(WORDS)] = value
        need = r.choice(([discriminator], list(members)[1:]))
        branches.append(closed(members, required=need, additionalProperties=r.random() < 0.3))
    schema = {r.choice(("anyOf", "oneOf")): branches}
    return {"schema": {"type": "array", "items": schema} if r.random() < 0.5 else schema}


def unevaluated(r):
    count = r.choice((6, 12, 24, 60, 90))
    branches = []
    for i in range(count):
        members = {"k": {"const": i}, f"a{i}": {"type": "string"}}
        if r.random() < 0.3:
            members[r.choice(WORDS)] = {"type": "integer"}
        branches.append(closed(members))
    if r.random() < 0.5:
        definitions = {f"d{i}": b for i, b in enumerate(branches)}
        branches = [{"$ref": f"#/$defs/d{i}"} for i in range(count)]
        return {"schema": {"$defs": definitions, "anyOf": branches, "unevaluatedProperties": False}}
    return {"schema": {"anyOf": branches, "unevaluatedProperties": False}}


def name_patterns(r):
    forms = ("{}", "^{}", "{}$", "^[a-{}]", "[{}]")
    patterns = {}
    for i in range(r.randint(3, 14)):
        word = r.choice(WORDS)
        form = r.choice(forms)
        pattern = form.format(word[0] if "[" in form else word[:3])
        patterns[pattern] = r.choice(({"minLength": i}, {"type": "string", "maxLength": 30 + i}))
    rest = r.choice(({"type": "integer"}, False, True))
    return {
        "schema": {"type": "object", "patternProperties": patterns, "additionalProperties": rest}
    }


def enum_objects(r):
    names = r.sample(WORDS, 3)
    values = [
        {names[0]: i, names[1]: r.choice(WORDS), names[2]: [i % 7, r.choice((True, None))]}
        for i in range(r.choice((100, 480, 1000)))
    ]
    return {"schema": {"enum": values}}


def unique_items(r):
    items = r.choice(
        (
            {"type": "number"},
            {"type": "integer"},
            {"type": "string"},
            {"type": ["string", "number"]},
            {"type": "array", "items": {"type": "integer"}},
            closed({"a": {"type": "integer"}, "b": {"type": "string"}}, additionalProperties=False),
        )
    )
    return {"schema": {"type": "array", "uniqueItems": True, "items": items}}


def unique_texts(r):
    """Strings that must differ, of which there are many, but not any number."""
    item = r.choice(
        (
            {"format": r.choice(("ipv4", "hostname", "uuid", "date-time", "email"))},
            {"pattern": f"^[A-Z]{{2,{r.randint(3, 9)}}}$"},
            {"pattern": f"^#[0-9a-f]{{{r.randint(3, 8)}}}$"},
            {"minLength": r.randint(0, 2), "maxLength": r.choice((20, 63, 255))},
        )
    )
    words = {"type": "array", "uniqueItems": True, "items": {"type": "string", **item}}
    inner = {"type": ["boolean", "array"], "items": {"type": r.choice(("boolean", "null"))}}
    flags = {"type": "array", "uniqueItems": True, "items": inner, "minItems": r.randint(0, 3)}
    return {"schema": closed({"words": words, "flags": flags}, required=["words", "flags"])}


def contains(r):
    least = r.choice((3, 50, 1000))
    return {
        "schema": {
            "type": "array",
            "items": {"type": r.choice(("integer", "number"))},
            "contains": {"minimum": r.randint(1, 9)},
            "minContains": least,
            "maxContains": least * r.choice((1, 2)),
        }
    }


def formats(r):
    names = ("idn-hostname", "hostname", "regex", "idn-email", "email", "iri", "uri", "date-time")
    members = {n: {"type": "string", "format": n} for n in r.sample(names, 3)}
    limited = r.choice(list(members))
    members[limited]["maxLength"] = r.randint(20, 300)
    return {"schema": closed(members, required=list(members))}


# what people write beside a length
PATTERNS = (
    "^[a-z]+$",
    "^\\S+$",
    "^[\\w .-]+$",
    "^\\d{3}-\\d{4}$",
    "[0-9]",
    "^[^<>/]*$",
    "^\\p{L}+$",
)


def string_of_keywords(r):
    """One that some text satisfies."""
    made = {"type": "string"}
    if r.random() < 0.6:
        made["minLength"] = r.choice((1, 2, 8))
    if r.random() < 0.6:
        made["maxLength"] = r.choice((63, 255, 1000))
    which = r.random()
    if which < 0.3:
        made["pattern"] = r.choice(PATTERNS)
    elif which < 0.5:
        made["format"] = r.choice(("email", "uri", "hostname", "date-time", "regex", "idn-email"))
    elif which < 0.6:
        made["not"] = {"pattern": r.choice(PATTERNS)}
    if which < 0.5 and r.random() < 0.5 or which > 0.8:
        made["not"] = {"enum": r.sample(WORDS, r.choice((1, 3, 10)))}
    return made


def string_keywords(r):
    """Keywords of strings, each of which says a part of what is allowed."""
    members = {}
    for name in r.sample(WORDS, 3):
        members[name] = string_of_keywords(r)
        if r.random() < 0.3:
            words = {"enum": r.sample(WORDS, 4)}
            members[name] = {r.choice(("anyOf", "oneOf")): [members[name], words]}
    return {"schema": closed(members, required=list(members))}


def if_then(r):
    """What the value of one member demands of others."""
    count, kind = r.choice((5, 20, 60, 100)), r.choice(("type", "kind"))
    names = r.sample(WORDS, count)
    members = {kind: {"enum": names} if r.random() < 0.5 else {"type": "string"}}
    branches = []
    for i, name in enumerate(names):
        members[f"f{i}"] = {"type": r.choice(("string", "integer", "boolean"))}
        condition = {"properties": {kind: {"const": name}}}
        if r.random() < 0.7:
            condition["required"] = [kind]
        branches.append({"if": condition, "then": {"required": [f"f{i}"]}})
    return {"schema": closed(members, allOf=branches)}


def forbidden_patterns(r):
    members = {}
    for name in r.sample(WORDS, 3):
        patterns = r.sample((*PATTERNS, "password", "^\\s", "\\s$", "[A-Z]", "--"), r.randint(1, 4))
        members[name] = {"type": "string", "maxLength": r.choice((20, 64, 255))}
        members[name]["allOf"] = [{"not": {"pattern": p}} for p in patterns]
    return {"schema": closed(members, required=list(members))}


def open_objects(r):
    members = {}
    for name in r.sample(WORDS, r.randint(1, 12)):
        low = r.randint(0, 3)
        members[name] = r.choice(
            (
                {"type": "string", "minLength": low, "maxLength": low + r.randint(1, 20)},
                {"type": "integer"},
                {"type": "array", "items": {"type": "string"}},
            )
        )
    return {"schema": closed(members, required=list(members)[: r.randint(0, 4)])}


# ---- tags ---------------------------------------------------------------------------------------


def tags_of(triggers, r):
    tags = [
        {
            "type": "tag",
            "begin": t,
            "content": r.choice(
                ({"type": "any_text"}, {"type": "json_schema", "json_schema": {"type": "object"}})
            ),
            "end": r.choice(("</>", "</tool>", f"</{t.strip('<>')}>")),
        }
        for t in triggers
    ]
    return {"type": "triggered_tags", "triggers": triggers, "tags": tags}


def structural(form):
    return {"tags": {"type": "structural_tag", "format": form}}


def triggers(r):
    word, count = r.choice(("tool", "call", "fn", "action")), r.choice((20, 50, 100, 200))
    names = [f"<{word}_{i}>" for i in range(count)]
    if r.random() < 0.5:
        names = [f"<{word}={w}>" for w in r.sample(WORDS, count)]
    return structural(tags_of(names, r))


def triggers_share(r):
    a, b = r.choice(("ab", "xyx", "<|", "aab")), r.choice(("abc", "!", "ac"))
    return structural(tags_of([a * i + b for i in range(r.choice((8, 16, 40, 66)))], r))


def limited_text(r):
    content = {"type": "any_text", "max_chars": r.choice((50, 500, 5000, 100000))}
    if r.random() < 0.5:
        content["excludes"] = [f"<{w}>" for w in r.sample(WORDS, r.randint(1, 3))]
    word = r.choice(("think", "thinking", "reason", "scratch"))
    think = {"type": "tag", "begin": f"<{word}>", "content": content, "end": f"</{word}>"}
    return structural({"type": "sequence", "elements": [think, {"type": "any_text"}]})


# ---- GBNF ---------------------------------------------------------------------------------------


def counts_of_any(r):
    few, many = r.choice((20, 100, 300)), r.choice((300, 1000, 3000))
    times, comma = r.randint(2, 8), r.choice((",", ";", "|"))
    word = r.choice(WORDS)
    return {"gbnf": f'root ::= (.{{0,{few}}} "{comma}"){{{times}}} .{{0,{many}}} "{word}"\n'}


def sentences(r):
    letters = r.choice(("[a-z]+", "[a-z]{1,12}", "[A-Za-z]+"))
    low, high = r.randint(1, 5), r.randint(6, 60)
    space = r.choice(('" "?', "[ ,]?", '(" " | ", ")?'))
    return {
        "gbnf": f'root ::= sentence+\nsentence ::= (word {space}){{{low},{high}}} "."\n'
        f"word ::= {letters}\n"
    }


def words(r):
    some = " | ".join(f'"{w}"' for w in r.sample(WORDS, r.randint(5, 60)))
    return {"gbnf": f'root ::= (word " "?){{1,{r.randint(5, 60)}}} "."\nword ::= {some} | [a-z]+\n'}


def queries(r):
    name = f"[a-zA-Z_] [a-zA-Z0-9_]{{0,{r.choice((15, 30, 62))}}}"
    first, second, third = (f'"{w}"' for w in r.sample(WORDS, 3))
    return {
        "gbnf": f"root ::= {first} ws list ws {second} ws name (ws {third} ws test)?\n"
        'list ::= "*" | sum (ws? "," ws? sum)*\n'
        'test ::= sum ws? ("=" | "<" | ">" | "like") ws? sum | "(" ws? test ws? ")"\n'
        "sum ::= term (ws? [-+*/%] ws? term)*\n"
        'term ::= name ("." name)? | name "(" (sum (ws? "," ws? sum)*)? ")" | [0-9]+\n'
        f'  | "\'" [^\']* "\'" | "(" ws? sum ws? ")"\nname ::= {name}\nws ::= [ \\n\\t]+\n'
    }


KINDS = (
    look_ahead_classes,
    look_ahead_words,
    nested_counts,
    optional_groups,
    branches_one_start,
    character_properties,
    counts_side_by_side,
    union,
    unevaluated,
    name_patterns,
    enum_objects,
    unique_items,
    unique_texts,
    contains,
    formats,
    string_keywords,
    open_objects,
    triggers,
    triggers_share,
    limited_text,
    counts_of_any,
    sentences,
    words,
    tempered_text,
    passwords,
    fenced_lines,
    if_then,
    forbidden_patterns,
    queries,
)


def kinds(seed, each):
    """[(name, {member of a line of data: its text})], `each` of every kind."""
    made = []
    for make in KINDS:
        for i in range(each):
            rng = random.Random(f"{seed} {make.__name__} {i}")
            case = {
                key: text if isinstance(text, str) else json.dumps(text)
                for key, text in make(rng).items()
            }
            made.append((f"{make.__name__}-{i}", case))
    return made
