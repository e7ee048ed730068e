#!/usr/bin/env python3
"""contentEncoding and contentMediaType as assertions, against Python's base64 and json.

  encodings  texts that Python encodes are accepted. Of texts that are changed at random, those are
             accepted that Python decodes, and encodes to the same text
  json       JSON texts within a string, in random spellings, and texts that are changed at random
  printable  quoted-printable, against Python's encoder and a reader after RFC 2045
  inner      the same with contentSchema: right just if Python's json reads the text, and its value
             is one that the schema allows
  styles     in calls that are not JSON a text stands bare at the top, and with escapes below it
  drawn      texts that are drawn under the masks: Python decodes each

SPDX-License-Identifier: Apache-2.0
"""

import base64
import json
import quopri
import random
import re

from package_checks import T, check, raises, run, vocab

ROUNDS = 1500
TEXTS = 40  # drawn, of each schema
SEED = 47


def url(data):
    return base64.urlsafe_b64encode(data).decode()


def grammar(schema, **options):
    return T.Grammar.json_schema(vocab, schema, **options)


ENCODERS = {
    "base64": (lambda data: base64.b64encode(data).decode(), "AQgw+/=z09-_"),
    "base64url": (url, "AQgw-_=z09+/"),
    "base32": (lambda data: base64.b32encode(data).decode(), "AQIYE4=Z71a"),
    "base32hex": (lambda data: base64.b32hexencode(data).decode(), "0G8O4=VWa"),
    "base16": (lambda data: base64.b16encode(data).decode(), "09aFfGx"),
}


def decodes(encoding, text):
    """Is the text what an encoder writes? By Python: it decodes, and encodes to the same text."""
    forms = [text]
    if encoding == "base64url":  # padding may be left out
        forms = [text, text + "=" * (-len(text) % 4)] if "=" not in text else [text]
    if encoding == "base16":
        forms = [text.upper()]
    decoders = {
        "base64": lambda t: base64.b64decode(t, validate=True),
        "base64url": lambda t: base64.b64decode(t, altchars=b"-_", validate=True),
        "base32": base64.b32decode,
        "base32hex": base64.b32hexdecode,
        "base16": base64.b16decode,
    }
    for form in forms:
        try:
            if ENCODERS[encoding][0](decoders[encoding](form)) == form:
                return True
        except ValueError:
            pass
    return False


def changed(draw, text, letters):
    at = draw.randrange(len(text) + 1)
    kind = draw.randrange(3)
    letter = draw.choice(letters)
    return text[:at] + (letter if kind else "") + text[at + (kind < 2) :]


def accepts(g, text):
    m = g.matcher()
    return m.accept_bytes(json.dumps(text)) and m.is_complete


def test_encodings():
    draw = random.Random(SEED)
    for encoding, (encode, letters) in ENCODERS.items():
        g = grammar({"type": "string", "contentEncoding": encoding}, assert_content=True)
        right = 0
        for _ in range(ROUNDS):
            text = encode(draw.randbytes(draw.randrange(12)))
            check(accepts(g, text), f"{encoding}: {text!r} is what an encoder writes")
            for _ in range(draw.randrange(3) + 1):
                text = changed(draw, text, letters)
            wanted = decodes(encoding, text)
            right += wanted
            check(accepts(g, text) == wanted, f"{encoding}: {text!r} is {wanted}")
        check(ROUNDS // 50 < right < ROUNDS, f"{encoding}: {right} of the changed texts are right")


def is_printable(text):
    """Is the text quoted-printable? Each line is read by itself, after section 6.7 of RFC 2045."""
    for line in text.replace("\r\n", "\n").split("\n"):
        section, soft, rest = line.rpartition("=")
        own = section if soft and not rest else line
        if len(line) > 76 or "\r" in line or (own == line and line != line.rstrip()):
            return False
        if re.sub("=[0-9A-F]{2}", "", own).strip("".join(map(chr, range(33, 127))) + "\t ") or (
            "=" in re.sub("=[0-9A-F]{2}", "", own)
        ):
            return False
    return not text.endswith("=")


def test_printable():
    draw = random.Random(SEED)
    schema = {"type": "string", "contentEncoding": "quoted-printable"}
    g = grammar(schema, assert_content=True)
    right = 0
    for _ in range(ROUNDS):
        data = bytes(draw.choice(b"ab =\t\n\xe9z") for _ in range(draw.choice((3, 12, 150))))
        text = quopri.encodestring(data).decode()
        if draw.random() < 0.5:
            text = text.replace("\n", "\r\n")
        check(accepts(g, text), f"{text!r} is what an encoder writes")
        check(quopri.decodestring(text.replace("\r", "")) == data, f"{text!r} decodes")
        for _ in range(draw.randrange(3) + 1):
            text = changed(draw, text, "=F0e \t\r\né~")
        wanted = is_printable(text)
        right += wanted
        check(accepts(g, text) == wanted, f"{text!r} is {wanted}")
    check(ROUNDS // 50 < right < ROUNDS, f"{right} of the changed texts are right")


def refuse(name):
    raise ValueError(name)


def is_json(text):
    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


def value(draw, depth):
    kind = draw.randrange(7 if depth else 5)
    if kind == 5:
        return [value(draw, depth - 1) for _ in range(draw.randrange(4))]
    if kind == 6:
        return {draw.choice(("a", "", 'q"', "é\n")): value(draw, depth - 1) for _ in range(3)}
    return (draw.choice(("", 'a"', "\\ \n\t\x01", "é😀")), -17, 2.5e-9, None, True)[kind]


def spelled(draw, v):
    indent = draw.choice((None, 1, "\t"))
    return json.dumps(v, indent=indent, ensure_ascii=draw.random() < 0.5)


def test_json():
    draw = random.Random(SEED)
    schema = {"type": "string", "contentMediaType": "application/json"}
    g = grammar(schema, assert_content=True, generous=True)
    right = 0
    for _ in range(ROUNDS):
        text = spelled(draw, value(draw, 3))
        check(accepts(g, text), f"{text!r} is JSON")
        text = changed(draw, text, '{}[],:"\\ 0-e.nté\n')
        wanted = is_json(text)
        right += wanted
        check(accepts(g, text) == wanted, f"{text!r} is {wanted}")
    check(ROUNDS // 50 < right < ROUNDS, f"{right} of the changed texts are JSON")


def fits(v):
    """By hand what the schema of test_inner says."""
    return (
        isinstance(v, dict)
        and type(v.get("n")) is int
        and isinstance(v.get("s", ""), str)
        and all(k in ("n", "s") or x is None or isinstance(x, list) for k, x in v.items())
    )


def test_inner():
    draw = random.Random(SEED)
    inner = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "s": {"type": "string"}},
        "required": ["n"],
        "additionalProperties": {"type": ["array", "null"]},
    }
    schema = {"contentMediaType": "application/json", "contentSchema": inner}
    g = grammar({"type": "string", **schema}, assert_content=True, generous=True)
    right = 0
    for _ in range(ROUNDS):
        v = {"n": draw.choice((1, -20, "1", None)), "s": value(draw, 0), "é": value(draw, 2)}
        for name in draw.sample(sorted(v), draw.randrange(3)):
            del v[name]
        text = spelled(draw, v)
        if draw.random() < 0.3:
            text = changed(draw, text, '{}[],:"\\ 0-nsé\n')
        wanted = is_json(text) and fits(json.loads(text))
        right += wanted
        check(accepts(g, text) == wanted, f"{text!r} is {wanted}")
    check(ROUNDS // 50 < right < ROUNDS, f"{right} of the texts fit")


def test_drawn():
    """Some tokens inside an object, and then the shortest way to an end."""
    draw = random.Random(SEED)
    schemas = {name: {"contentEncoding": name} for name in ENCODERS}
    schemas["json"] = {"contentMediaType": "application/json"}
    schemas["quoted-printable"] = {"contentEncoding": "quoted-printable"}
    judges = {"json": is_json, "quoted-printable": is_printable}
    for name, own in schemas.items():
        whole = {"properties": {"a": {"type": "string", **own}}, "required": ["a"]}
        g = grammar({"type": "object", **whole, "additionalProperties": False}, assert_content=True)
        for _ in range(TEXTS):
            m = g.matcher()
            text = b""
            for _ in range(draw.randrange(30)):
                allowed = [t for t in m.allowed() if not vocab.is_eog(t)]
                if not allowed:
                    break
                token = draw.choice(allowed)
                check(m.accept(token), "a token that is allowed")
                text += vocab.token_bytes(token)
            for token in T.Budget(g).completion(m):
                check(m.accept(token), "a token of the completion")
                text += vocab.token_bytes(token)
            text = json.loads(text)["a"]
            good = judges[name](text) if name in judges else decodes(name, text)
            check(m.is_complete and good, f"{name}: {text!r} was drawn")


def test_styles():
    text = {"type": "string", "contentMediaType": "application/json"}
    inner = {"type": "object", "properties": {"b": text}, "additionalProperties": False}
    parameters = {"type": "object", "properties": {"t": text, "o": inner}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    request = {"tools": tools, "tool_choice": "required"}
    options = {"preset": "qwen3-coder", "assert_content": True}
    g = T.Grammar.tools(vocab, json.dumps(request), **options)
    for call, wanted in (
        ('<parameter=t>{"a":1}', True),
        ('<parameter=t>{\\"a\\":1}', False),
        ('<parameter=o>{"b":"{\\"a\\":1}"}', True),
        ('<parameter=o>{"b":"{"a":1}"}', False),
    ):
        check(g.matcher().accept_bytes("<function=f>\n" + call) == wanted, f"{call} is {wanted}")


def test_refused():
    both = {"contentEncoding": "base64", "contentMediaType": "application/json"}
    raises(
        T.UnsupportedError,
        lambda: grammar(both, assert_content=True),
        "an encoding and JSON",
        pointer="/contentMediaType",
    )
    check(accepts(grammar(both), "{"), "annotations by default")


run(test_encodings, test_printable, test_json, test_inner, test_styles, test_drawn, test_refused)
