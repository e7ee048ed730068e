#!/usr/bin/env python3
"""The Python package, from the build folder, with nothing but the standard library: what an array
is, what raises what, who may call when.

NumPy, torch and the hosts come in tests/hosts/, with their packages.

SPDX-License-Identifier: Apache-2.0
"""

import array
import ctypes
import gc
import json
import math
import multiprocessing
import os
import pathlib
import pickle
import sys
import tempfile
import threading
import time
import types
import zlib

from package_checks import BUILD, T, check, raises, run, skip

VOCABS = pathlib.Path(os.environ.get("TSL_VOCABS", BUILD / "vocabs"))
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "y"]}},
    "required": ["a"],
    "additionalProperties": False,
}
vocab = T.Vocab.embedded()
grammar = T.Grammar.json_schema(vocab, SCHEMA, whitespace="compact")


def allowed_of(words):
    return [32 * w + bit for w, word in enumerate(words) for bit in range(32) if word >> bit & 1]


def test_arrays():
    matcher, words = grammar.matcher(), vocab.mask_words
    expected = matcher.allowed()
    check(
        len(expected) >= 1 and all(vocab.token_bytes(t).startswith(b"{") for t in expected),
        "an object begins with a brace",
    )
    plain = array.array("I", matcher.mask())
    check(
        allowed_of(plain) == expected and matcher.mask(None) == matcher.mask(),
        "mask() as bytes, and without an array by name",
    )
    for name, out in (
        ("bytearray", bytearray(4 * words)),
        ("array", array.array("I", bytes(4 * words))),
        ("ctypes", (ctypes.c_uint32 * words)()),
        ("longer", bytearray(b"\xff" * (4 * words + 8))),
    ):
        check(matcher.mask(out) is None, f"{name}: returns nothing")
        check(bytes(out)[: 4 * words] == plain.tobytes(), f"{name}: the same mask, in place")
        check(not any(bytes(out)[4 * words :]), f"{name}: what is longer is cleared")
    two = memoryview(bytearray(3 * 4 * words)).cast("B").cast("I", (3, words))
    matcher.mask(two, 1)
    check(
        allowed_of(two.tolist()[1]) == expected and not any(two.tolist()[0] + two.tolist()[2]),
        "one row of three",
    )
    check(T.count_mask(plain) == len(expected), "count_mask")
    raises(BufferError, lambda: matcher.mask(bytes(4 * words)), "read-only memory")
    raises(ValueError, lambda: matcher.mask(bytearray(4 * words - 4)), "too short")
    raises(
        ValueError, lambda: matcher.mask(memoryview(bytearray(4 * words + 1))[1:]), "not aligned"
    )
    raises(TypeError, lambda: matcher.mask(array.array("f", [0.0] * words)), "floats")
    raises(
        TypeError,
        lambda: matcher.mask(array.array("q", [0] * words)),
        "words of 64 bits, of which half would be written",
    )
    raises(
        TypeError, lambda: T.fill_batch([matcher], array.array("Q", [0] * words)), "and in a batch"
    )
    raises(TypeError, lambda: matcher.mask(3), "no array")
    raises(IndexError, lambda: matcher.mask(two, 3), "no such row")
    raises(IndexError, lambda: matcher.mask(two, -1), "negative row")
    raises(TypeError, lambda: matcher.mask(two, 0, 0), "too many arguments")
    raises(
        BufferError, lambda: matcher.mask(memoryview(bytearray(8 * words))[::2]), "not contiguous"
    )


def test_moving():
    matcher = grammar.matcher()
    check(matcher.accept_bytes('{"a":') and not matcher.is_complete, "bytes")
    check(
        not matcher.accept_bytes("x") and matcher.next_bytes() == b"-0123456789",
        "rejected bytes change nothing",
    )
    check(matcher.shortest_completion() == 2, "shortest completion")
    fork = matcher.fork()
    check(
        fork.accept_bytes("1}") and fork.is_complete and not matcher.is_complete,
        "a fork is independent",
    )
    check(
        fork.accept(vocab.eog_tokens[0]) and fork.is_terminated and not any(fork.mask()),
        "after the end nothing is allowed",
    )
    check(not fork.accept(vocab.eog_tokens[0]) and not fork.accept_bytes("x"), "nor accepted")
    fork.rollback()
    check(fork.is_complete and not fork.is_terminated, "rollback of the end")
    tokens = vocab.encode('12,"b":"x"}')
    check(
        matcher.validate(tokens) == len(tokens) and matcher.history == 1, "validate does not move"
    )
    check(
        matcher.validate(tokens[:2] + [vocab.eog_tokens[0]] + tokens) == 2,
        "validate stops where it must",
    )
    check(
        matcher.accept_tokens(tokens) == len(tokens)
        and matcher.is_complete
        and matcher.history == 1 + len(tokens),
        "accept_tokens",
    )
    matcher.rollback(len(tokens))
    raises(T.StateError, lambda: matcher.rollback(2), "rollback too far")
    raises(ValueError, lambda: matcher.rollback(-1), "negative rollback")
    matcher.reset()
    check(matcher.history == 0 and matcher.allowed() == grammar.matcher().allowed(), "reset")
    check(
        matcher.forced_bytes() == b'{"'
        and T.Grammar.regex(vocab, "abc[de]").matcher().forced_bytes() == b"abc",
        "forced bytes",
    )
    check(
        T.Grammar.regex(vocab, "abc[de]").matcher().forced_bytes(2) == b"ab",
        "forced bytes, at most two",
    )
    check(matcher.mask_id() == grammar.matcher().mask_id(), "equal masks have equal ids")
    for bad in (-1, 2**32 - 1, 2**70):
        raises(ValueError, lambda: matcher.accept(bad), f"token {bad}")
    raises(TypeError, lambda: matcher.accept("x"), "a token that is no number")
    raises(
        T.ArgumentError,
        lambda: matcher.accept(vocab.size + 5),
        "a token past the vocabulary",
        status="TSL_ERR_ARGUMENT",
    )
    raises(TypeError, lambda: matcher.accept_tokens(3), "tokens that are no sequence")
    raises(TypeError, lambda: T.Matcher(vocab), "a matcher of no grammar")


def test_grammars():
    def texts(g, *candidates):
        return [
            text
            for text in candidates
            if (lambda m: m.accept_bytes(text) and m.is_complete)(g.matcher())
        ]

    G = T.Grammar
    check(
        texts(G.json_schema(vocab, SCHEMA, order="any"), '{"b":"x","a":1}', '{"a":1,"b":"x"}')
        == ['{"b":"x","a":1}', '{"a":1,"b":"x"}'],
        "any order",
    )
    check(
        texts(G.json_schema(vocab, '{"const": [1, 2]}', whitespace=1), "[1, 2]", "[1,  2]")
        == ["[1, 2]"],
        "bounded whitespace",
    )
    check(
        texts(G.json_schema(vocab, b"true", whitespace="pretty", indent=1), "[\n 1\n]", "[1]")
        == ["[\n 1\n]"],
        "pretty, from bytes",
    )
    check(
        texts(G.json_schema(vocab, True, whitespace="compact"), "{}", "x") == ["{}"],
        "a schema that is a bool",
    )
    check(
        texts(G.regex(vocab, "a.c", dot_all=True, case_insensitive=True), "A\nC", "ac") == ["A\nC"],
        "regex options",
    )
    check(texts(G.regex(vocab, "b", search=True), "abc", "ac") == ["abc"], "regex search")
    check(
        texts(G.gbnf(vocab, 'start ::= "x" start | "y"', root="start"), "xxy", "x") == ["xxy"],
        "gbnf",
    )
    odd = ["a.b", "(", "\\", "tab\t\n", "é€😀", "", "x|y", "^$", "[]{}", "\x00"]
    check(
        texts(G.choice(vocab, odd), *odd, "axb", "x", "y") == odd,
        "choice takes texts as they stand",
    )
    raises(TypeError, lambda: G.choice(vocab, "yes"), "one text is no list of choices")
    raises(TypeError, lambda: G.start("choice", vocab, b"yes"), "nor in the background")
    check(
        texts(G.regex(vocab, "a", deadline=math.inf), "a") == ["a"], "a deadline that never comes"
    )
    asked = []
    g = G.json_schema(
        vocab,
        {"$ref": "http://host/other"},
        resolver=lambda uri: asked.append(uri) or '{"const": "r"}',
    )
    check(texts(g, '"r"', '"s"') == ['"r"'] and asked == ["http://host/other"], "resolver")
    raises(
        ZeroDivisionError,
        lambda: G.json_schema(vocab, {"$ref": "http://host/other"}, resolver=lambda uri: 1 // 0),
        "a resolver that raises",
    )
    raises(
        TypeError,
        lambda: G.json_schema(vocab, {"$ref": "http://host/other"}, resolver=lambda uri: 3),
        "a resolver that returns a number",
    )
    raises(
        T.GrammarError,
        lambda: G.json_schema(vocab, {"$ref": "http://host/other"}, resolver=lambda uri: None),
        "a resolver that has none",
    )
    raises(
        T.GrammarError,
        lambda: G.json_schema(vocab, '{"type":\n 3}'),
        "a schema error",
        pointer="/type",
        line=2,
        column=2,
        offset=10,
        status="TSL_ERR_SCHEMA",
    )
    raises(
        T.GrammarError,
        lambda: G.json_schema(vocab, '{"type": '),
        "a syntax error",
        status="TSL_ERR_SYNTAX",
        pointer="",
    )
    raises(
        T.GrammarError,
        lambda: G.json_schema(vocab, {"enum": [], "type": "null"}),
        "nothing satisfies it",
    )
    error = raises(
        T.UnsupportedError,
        lambda: G.json_schema(vocab, {"not": {"uniqueItems": True}, "maxItems": 2}),
        "unsupported",
        pointer="/not/uniqueItems",
    )
    check(
        isinstance(error, ValueError) and isinstance(error, T.TurnstileError),
        "a grammar error is a ValueError",
    )
    again = pickle.loads(pickle.dumps(error))
    check(
        (str(again), again.pointer, again.status) == (str(error), error.pointer, error.status),
        "an error can be pickled",
    )
    raises(
        T.LimitError,
        lambda: G.json_schema(vocab, {"items": {"items": {"items": {}}}}, max_depth=2),
        "a limit",
        status="TSL_ERR_LIMIT",
    )
    for call in (
        lambda: G.json_schema(vocab, SCHEMA, order="up"),
        lambda: G.json_schema(vocab, SCHEMA, whitespace="none"),
        lambda: G.json_schema(vocab, SCHEMA, draft="5"),
        lambda: G.choice(vocab, []),
    ):
        raises(ValueError, call, "an option out of its range")
    raises(TypeError, lambda: G.regex(vocab, 3), "a pattern that is no text")
    raises(TypeError, lambda: G.regex(None, "a"), "no vocabulary")
    check(
        str(raises(TypeError, lambda: G.regex(vocab, "a", max_money=3), "an unknown limit"))
        == "there is no option 'max_money'",
        "which one",
    )
    for call in (
        lambda: G.json_schema(SCHEMA, vocab),
        lambda: G.regex("a", vocab),
        lambda: G.tools([], vocab, preset="qwen3"),
    ):
        check(
            "the vocabulary comes first" in str(raises(TypeError, call, "the other way around")),
            "what comes first",
        )
    for value, pointer, part in (
        (
            {"properties": {"a/b": {"maximum": math.nan}}},
            "/properties/a~1b/maximum",
            "finite, not nan",
        ),
        ({"enum": [1, (2, -math.inf)]}, "/enum/1/1", "finite, not -inf"),
        ({"enum": ["ok", "\ud800"]}, "/enum/1", "surrogates: '\\ud800'"),
        ({"properties": {"\udc00": {}}}, "/properties", "the key"),
        ('{"const": "\udfff"}', "", "surrogates not allowed"),
    ):
        error = raises(
            T.GrammarError,
            lambda: G.json_schema(vocab, value),
            f"no JSON: {ascii(value)[:60]}",
            pointer=pointer,
            status="TSL_ERR_SYNTAX",
        )
        check(
            part in str(error) and str(error).startswith("not JSON: "),
            f"{ascii(value)[:60]}: {error}",
        )
    circle = {"items": [math.pi]}
    circle["items"].append(circle)
    raises(
        T.GrammarError,
        lambda: G.json_schema(vocab, circle),
        "a dict that holds itself",
        status="TSL_ERR_SYNTAX",
    )
    deep = {}
    for _ in range(200000):
        deep = {"not": deep}
    raises(
        T.LimitError,
        lambda: G.json_schema(vocab, deep),
        "a dict that nests too deep",
        status="TSL_ERR_LIMIT",
    )
    while deep:
        deep = deep.pop("not")  # one by one, which needs no stack
    raises(TypeError, lambda: G.json_schema(vocab, {"const": {1}}), "what JSON has no form for")
    raises(
        T.GrammarError,
        lambda: T.Grammar.tools(
            vocab, [{"name": "f", "parameters": {"const": math.inf}}], preset="qwen3"
        ),
        "no JSON in tools",
        pointer="/0/parameters/const",
    )
    check(
        texts(G.json_schema(vocab, {"const": "ä€😀"}), '"ä€😀"', '"ä"') == ['"ä€😀"']
        and texts(G.json_schema(vocab, '{"const": "ä"}'), '"ä"') == ['"ä"'],
        "past ASCII",
    )
    check(
        {"pointer": "/type", "keyword": "type", "status": "enforced", "reason": ""}
        in grammar.report(),
        "report",
    )
    check(
        grammar.stats()["states"] > 0 and len(grammar.dump()) > 0 and grammar.vocab is vocab,
        "stats, dump, vocab",
    )


def test_pydantic():
    """What Grammar.pydantic asks of pydantic, which is not there."""
    stub = types.ModuleType("pydantic")

    class TypeAdapter:
        def __init__(self, kind):
            assert not isinstance(kind, TypeAdapter)  # pydantic has no schema for one
            self.kind = kind

        def json_schema(self):
            return {"type": {int: "integer", str: "string"}[self.kind]}

    class Model:
        @classmethod
        def model_json_schema(cls):
            return SCHEMA

    stub.TypeAdapter = TypeAdapter
    before = sys.modules.get("pydantic")
    sys.modules["pydantic"] = stub
    try:
        for model, text in (
            (int, "3"),
            (TypeAdapter(int), "3"),
            (TypeAdapter(str), '"3"'),
            (Model, '{"a":3}'),
        ):
            matcher = T.Grammar.pydantic(vocab, model, whitespace="compact").matcher()
            check(
                matcher.accept_bytes(text) and not matcher.accept_bytes("x"), f"pydantic: {model}"
            )
        matcher = T.Grammar.start("pydantic", vocab, TypeAdapter(int)).result().matcher()
        check(
            matcher.accept_bytes("3") and not matcher.accept_bytes('"'),
            "pydantic in the background",
        )
    finally:
        sys.modules.pop("pydantic")
        if before:
            sys.modules["pydantic"] = before


def test_tools():
    tag = {"structures": [{"begin": "<f>", "schema": SCHEMA, "end": "</f>"}], "triggers": ["<f"]}
    g = T.Grammar.tags(vocab, tag, whitespace="compact")
    check(
        g.matcher().accept_bytes('free <f>{"a":1}</f> text')
        and not g.matcher().accept_bytes('<f>{"a": 1}'),
        "a structural tag",
    )
    raises(T.GrammarError, lambda: T.Grammar.tags(vocab, {}), "a structural tag that is none")
    check(
        len(T.tool_presets()) > 1
        and all(text.startswith("{") for text in T.tool_presets().values()),
        "presets",
    )
    tools = [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}]
    for name in T.tool_presets():
        check(
            T.Grammar.tools(
                vocab,
                {"tools": tools},
                preset=name,
                tool_choice="required",
                parallel=False,
                thinking="off",
            )
            .matcher()
            .next_bytes(),
            f"tools, {name}",
        )
    raises(
        T.ArgumentError, lambda: T.Grammar.tools(vocab, tools, preset="nobody's"), "no such preset"
    )
    raises(
        T.ArgumentError,
        lambda: T.Grammar.tools(
            vocab, tools, preset=next(iter(T.tool_presets())), tool_choice="jump"
        ),
        "no such tool",
    )
    raises(
        ValueError,
        lambda: T.Grammar.tools(vocab, tools, preset=next(iter(T.tool_presets())), thinking="hard"),
        "no such thinking",
    )
    raises(
        TypeError,
        lambda: T.Grammar.tools(vocab, tools, preset="qwen3", over=1),
        "over must be a grammar",
    )
    raises(
        ValueError,
        lambda: T.Grammar.tags(
            vocab, tag, over=T.Grammar.tags(T.Vocab.from_tokens([b"a", b"b"]), tag)
        ),
        "of another vocabulary",
    )
    test_parser(tools)
    test_options_of_schemas()
    test_resolver_of_tools()


def test_resolver_of_tools():
    """Asked for documents of schemas in tags and tools, with the base that was given; and what
    it says is never reused for another one.
    """
    asked = []

    def resolving(text):
        return lambda uri: asked.append(uri) or text

    tag, tool = (
        {"type": "json_schema", "json_schema": {"$ref": "other"}},
        [{"name": "f", "parameters": {"properties": {"a": {"$ref": "other"}}}}],
    )
    first = T.Grammar.tags(vocab, tag, resolver=resolving("true"), base_uri="http://host/one")
    second = T.Grammar.tags(
        vocab, tag, over=first, resolver=resolving('{"const": 1}'), base_uri="http://host/one"
    )
    third = T.Grammar.tools(
        vocab,
        tool,
        preset="qwen3",
        over=first,
        resolver=resolving('{"const": 2}'),
        base_uri="http://host/two/",
    )
    check(
        asked == ["http://host/other", "http://host/other", "http://host/two/other"],
        f"asked for {asked}",
    )
    check(
        first.matcher().accept_bytes("[]")
        and not second.matcher().accept_bytes("[]")
        and second.matcher().accept_bytes("1"),
        "over a grammar of another resolver",
    )
    check(
        [
            third.matcher().accept_bytes(
                f'<tool_call>\n{{"name": "f", "arguments": {{"a": {n}}}}}\n'
            )
            for n in (1, 2)
        ]
        == [False, True],
        "of a tool",
    )
    raises(
        T.GrammarError,
        lambda: T.Grammar.tags(vocab, tag, over=first, base_uri="http://host/one"),
        "over it, without a resolver",
    )
    raises(
        ZeroDivisionError,
        lambda: T.Grammar.tools(
            vocab, tool, preset="qwen3", resolver=lambda uri: 1 // 0, base_uri="http://host/"
        ),
        "a resolver that raises",
    )


def test_options_of_schemas():
    """Those of json_schema hold for schemas in tags and tools."""
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "nullable": True, "format": "date"},
            "$ref": {"type": "null"},
        },
        "required": ["a"],
        "additionalProperties": {},
    }
    texts = (
        '{"a":null}',
        '{"a":"x"}',
        '{"a":"2020-01-01","b":1,"b":2}',
        '{"a":"2020-01-01","b":[[]]}',
    )

    def allowed(**options):
        tag, tool = (
            {"type": "json_schema", "json_schema": schema},
            [{"name": "f", "parameters": schema}],
        )
        one, other = (
            T.Grammar.tags(vocab, tag, **options),
            T.Grammar.tools(vocab, tool, preset="qwen3", **options),
        )
        found = [
            text
            for text in texts
            if (lambda m: m.accept_bytes(text) and m.is_complete)(one.matcher())
        ]
        check(
            found
            == [
                text
                for text in texts
                if other.matcher().accept_bytes(
                    f'<tool_call>\n{{"name": "f", "arguments": {text}}}\n</tool_call>'
                )
            ],
            f"tags and tools, {options}",
        )
        return found

    check(allowed() == [texts[3]], "the defaults")
    check(allowed(nullable=True) == [texts[0], texts[3]], "nullable")
    check(allowed(ignore_formats=True) == [texts[1], texts[3]], "ignore_formats")
    check(allowed(lazy=True) == [texts[3]], "lazy")
    check(allowed(repeated_names=True) == [texts[2], texts[3]], "repeated_names")
    check(allowed(max_nesting=2) == [], "max_nesting")
    old = {"type": "json_schema", "json_schema": {"divisibleBy": 3}}
    complete = [
        (lambda m: m.accept_bytes("4") and m.is_complete)(
            T.Grammar.tags(vocab, old, draft=draft).matcher()
        )
        for draft in ("auto", 3)
    ]
    check(complete == [True, False], "draft")
    raises(
        ValueError, lambda: T.Grammar.tools(vocab, [], preset="qwen3", draft="5"), "no such draft"
    )


CALL = '<tool_call>\n{"name": "look", "arguments": {"a":1}}\n</tool_call>'


def test_parser(tools):
    first = T.Grammar.tools(vocab, tools, preset="qwen3")
    second = T.Grammar.tools(
        vocab,
        [*tools, {"name": "jump", "input_schema": {"type": "object"}}],
        preset="qwen3",
        over=first,
        max_thinking_tokens=2,
    )
    check(
        second.stats()["exprs"] >= first.stats()["exprs"] and second.matcher().accept_bytes(CALL),
        "a grammar over another one",
    )
    third = T.Grammar.tags(vocab, T.write_tools(vocab, tools, preset="qwen3"), over=second)
    check(third.matcher().accept_bytes(CALL), "what write_tools writes can be compiled")
    raises(
        T.ArgumentError, lambda: T.write_tools(vocab, tools, preset="nobody's"), "no such preset"
    )
    matcher = second.matcher()
    check(
        matcher.accept_bytes("<think>")
        and all(matcher.accept(vocab.encode(" a")[0]) for _ in range(2)),
        "two tokens of thinking",
    )
    check(not matcher.accept(vocab.encode(" a")[0]), "and no third one")
    parser = T.Parser(second)
    parts = []
    for byte in ("Well. " + CALL).encode():
        check(parser.text(bytes([byte])), "the parser reads on")
        parts += parser.parts()
    check(not parser.text("<") or not parser.text("tool_call>x"), "what the grammar does not allow")
    parser.reset()
    check(parser.text("Well. " + CALL) and parser.finish(), "the whole at once")
    joined = {kind: "".join(text for one, _, text in parts if one == kind) for kind, _, _ in parts}
    check(
        joined["text"] == "Well. "
        and joined["call"] == "look"
        and json.loads(joined["arguments"]) == {"a": 1}
        and "call_end" in joined,
        f"parts: {parts}",
    )
    whole = json.loads(parser.json())
    check(
        whole["content"] == "Well. "
        and whole["calls"][0]["name"] == "look"
        and whole["calls"][0]["arguments"] == {"a": 1},
        f"json: {whole}",
    )
    raises(T.StateError, lambda: parser.text("more"), "text after the end")
    raises(T.StateError, lambda: T.Parser(T.Grammar.regex(vocab, "a")), "a grammar of another kind")


def test_cancel():
    flag = T.Cancel()
    flag.set()
    check(flag.is_set, "the flag is up")
    raises(
        T.CancelledError,
        lambda: T.Grammar.json_schema(
            vocab, {"pattern": "^(?=.*a.{14}$)(?=.*b.{13}$)(?=.*c.{12}$).*$"}, cancel=flag
        ),
        "a compile that is cancelled",
    )
    flag.clear()
    kept = T.Grammar.json_schema(vocab, SCHEMA, cancel=flag)
    flag = None
    gc.collect()
    check(kept.matcher().allowed(), "a grammar keeps its flag alive")
    flag, own = T.Cancel(), T.Cancel()
    first = T.Grammar.tags(
        vocab,
        {"structures": [{"begin": "<a>", "schema": SCHEMA, "end": "</a>"}], "triggers": ["<a>"]},
        cancel=flag,
    )
    kept = T.Grammar.tags(
        vocab,
        {"structures": [{"begin": "<b>", "schema": SCHEMA, "end": "</b>"}], "triggers": ["<b>"]},
        over=first,
        cancel=own,
    )
    first = None
    gc.collect()
    check(
        sys.getrefcount(flag) == sys.getrefcount(own) + 1,
        "tables that are shared keep the flag that they poll alive, and no other",
    )
    raises(TypeError, lambda: T.Grammar.json_schema(vocab, SCHEMA, cancel=3), "a flag that is none")


def test_vocab():
    check(
        len(vocab) == vocab.size == 4096 and vocab.logits_width == 4096 and vocab.mask_words == 128,
        "sizes",
    )
    check(
        all(vocab.is_eog(t) and vocab.is_special(t) for t in vocab.eog_tokens),
        "end tokens are special",
    )
    text = "Grüße, {}"
    check(b"".join(map(vocab.token_bytes, vocab.encode(text))).decode() == text, "encode")
    raises(IndexError, lambda: vocab.token_bytes(4096), "a token out of range")
    small = T.Vocab.from_tokens(
        [b"a", b"b", b"ab", b"", b"<end>"], special=[4], eog=[4], logits_width=40
    )
    check(
        small.eog_tokens == (4,) and small.mask_words == 2 and small.token_bytes(2) == b"ab",
        "from tokens",
    )
    check(
        T.Grammar.regex(small, "ab?").matcher().allowed() == [0, 2],
        "the padding is not allowed, nor is a token without bytes",
    )
    small.set_walk_cache(0)
    small.set_walk_cache(1 << 20)
    raises(OverflowError, lambda: small.set_walk_cache(-1), "set_walk_cache")
    check(small.find_special("<end>") == 4 and small.find_special("a") is None, "find_special")
    raises(
        T.ArgumentError,
        lambda: T.Vocab.from_tokens([b"a"], eog=[7]),
        "an end token that there is not",
    )
    raises(
        T.ArgumentError,
        lambda: T.Vocab.from_tokens([]),
        "no tokens",
        message="a vocabulary has at least one token",
    )
    raises(
        T.UnsupportedError,
        lambda: T.Vocab.from_tiktoken("o200k_base"),
        "the name of an encoding",
        message="str is no tiktoken.Encoding; tiktoken.get_encoding(name) makes one",
    )
    for bad in (-1, 1):
        raises(
            T.ArgumentError,
            lambda: T.Vocab.from_tokens([b"a"], special=[bad]),
            "a special token that there is not",
            status="TSL_ERR_ARGUMENT",
        )
    raises(
        T.FileError, lambda: T.Vocab.from_file("/nonexistent"), "no such file", status="TSL_ERR_IO"
    )
    raises(T.FormatError, lambda: T.Vocab.from_memory(b"nonsense"), "nonsense")
    raises(T.UnsupportedError, lambda: T.Vocab.from_gguf(__file__), "not a GGUF file")
    raises(
        T.FileError,
        lambda: T.Vocab.from_gguf("/nonexistent"),
        "no such GGUF file",
        status="TSL_ERR_IO",
    )
    if hasattr(os, "mkfifo"):
        with tempfile.TemporaryDirectory() as folder:
            os.mkfifo(os.path.join(folder, "pipe"))
            raises(
                T.FileError,
                lambda: T.Vocab.from_gguf(os.path.join(folder, "pipe")),
                "a pipe is not waited for",
            )
    check(
        small.identity != vocab.identity and len(small.identity) == 16 and small.memory > 0,
        "identity",
    )
    path = VOCABS / "llama3_1" / "tokenizer.json"
    if not path.is_file():
        skip(f"{path} was not fetched")
        return
    big = T.Vocab.from_file(path, logits_width=128512)
    check(big.size == 128256 and big.mask_words == 4016 and big.eog_tokens, "a tokenizer file")
    check(T.Vocab.from_file(path, eog=[5]).eog_tokens == (5,), "end tokens given")
    with tempfile.TemporaryDirectory() as folder:
        T.Vocab.from_file(path, cache_dir=pathlib.Path(folder))
        check(
            any(name.endswith(".tslvocab") for name in os.listdir(folder)),
            "the folder of the cache is a path",
        )


def test_sampler():
    logits = array.array("f", [0.0] * vocab.logits_width)
    matcher, mask = grammar.matcher(), bytearray(4 * vocab.mask_words)
    matcher.mask(mask)
    token, probability, mass, allowed, kept = T.Sampler(seed=3).draw(logits, mask)
    check(
        token in matcher.allowed() and allowed == kept == len(matcher.allowed()),
        "a draw under the mask",
    )
    check(
        abs(probability - 1 / allowed) < 1e-6 and abs(mass - allowed / vocab.size) < 1e-6,
        "its probabilities",
    )
    check(T.Sampler(3).draw(logits, mask)[0] == token, "equal seeds, equal tokens")
    logits[7] = 1.0
    check(T.Sampler(temperature=0).draw(logits)[0] == 7, "greedy, without a mask")
    logits[7] = float("nan")
    raises(T.LogitsError, lambda: T.Sampler().draw(logits), "NaN")
    raises(TypeError, lambda: T.Sampler().draw(array.array("d", logits)), "doubles")
    raises(ValueError, lambda: T.Sampler().draw(logits, mask[:4]), "a mask that is too short")
    raises(T.ArgumentError, lambda: T.Sampler(temperature=-1), "a temperature below 0")
    logits[7] = 0.0
    T.apply_mask(mask, logits)
    check([i for i, x in enumerate(logits) if x > float("-inf")] == matcher.allowed(), "apply_mask")
    raises(TypeError, lambda: T.apply_mask(mask, array.array("d", logits)), "apply_mask on doubles")
    raises(
        BufferError,
        lambda: T.apply_mask(mask, bytes(4 * vocab.logits_width)),
        "apply_mask on read-only memory",
    )


def test_sampling():
    """The stages, the text so far, what the model wanted, guidance."""
    width = 200
    logits, mask = (
        array.array("f", [(-((i * 37) % 100)) / 10 for i in range(width)]),
        array.array("I", [0xFFFFFFFF] * 7),
    )
    best = max(range(width), key=lambda t: (logits[t], -t))
    check(
        T.Sampler(temperature=0, banned=[best]).draw(logits)[0] != best
        and T.Sampler(temperature=0, bias={3: 50.0}).draw(logits)[0] == 3,
        "bans, bias",
    )
    check(
        T.Sampler(temperature=0, allowed=range(5, 9)).draw(logits, mask)[0] in range(5, 9),
        "allowed",
    )
    check(
        T.Sampler(stages=["top_k", "temperature"], top_k=4, temperature=0.5).draw(logits)[4] == 4,
        "stages by name",
    )
    for name, value in (
        ("top_n_sigma", 0.5),
        ("typical_p", 0.3),
        ("epsilon", 0.02),
        ("eta", 0.02),
        ("mirostat_tau", 2.0),
    ):
        kept = T.Sampler(**{name: value}).draw(logits)[4]
        check(1 <= kept < width, f"{name} cuts: {kept} left")
    sampler = T.Sampler(
        temperature=0, repetition_penalty=2.0, presence_penalty=100.0, penalty_window=2
    )
    first = sampler.draw(logits)[0]
    sampler.accept(first)
    second = sampler.draw(logits)[0]
    check(first == best and second != first, "a penalty for what was accepted")
    fork = sampler.fork(1)
    sampler.rollback()
    check(sampler.draw(logits)[0] == first and fork.draw(logits)[0] == second, "rollback, fork")
    raises(T.StateError, lambda: sampler.rollback(), "rollback of nothing")
    fork.restart()
    check(fork.draw(logits)[0] == first, "restart")
    fork.prompt([first])
    check(fork.draw(logits)[0] == second, "a prompt's tokens are seen")
    fork.accept(5)
    raises(T.StateError, lambda: fork.prompt([1]), "a prompt after the text began")
    for wrong in ({"stages": ["top"]}, {"stages": ["top_k"] * 20}):
        raises(ValueError, lambda: T.Sampler(**wrong), f"{wrong}")
    raises(
        T.ArgumentError,
        lambda: T.Sampler(stages=["top_k"], top_p=0.5),
        "a stage that is set and not listed",
    )
    raises(T.ArgumentError, lambda: T.Sampler(stages=["top_k", "top_k"]), "a stage twice")
    raises(TypeError, lambda: T.Sampler(bias=[1]), "bias is a dict")
    raises(
        TypeError,
        lambda: T.Sampler(0, 1.0, 0, 1.0, 0.0, True, ["top_k"]),
        "stages by keyword alone",
    )

    probabilities = [math.exp(x) for x in logits]
    legal = T.measure_step(logits, array.array("I", [0xFFFFFFFF] + [0] * 6), token=1, top_n=3)
    check(
        abs(legal["legal_mass"] - sum(probabilities[:32]) / sum(probabilities)) < 1e-6
        and legal["allowed"] == 32,
        "legal mass",
    )
    check(
        abs(legal["logprob"] - math.log(probabilities[1] / sum(probabilities))) < 1e-5,
        "log-probability",
    )
    check(
        [t for t, _ in legal["top"]] == sorted(range(width), key=lambda t: -logits[t])[:3]
        and len(legal["masked_top"]) == 3,
        "the most likely",
    )
    check(
        math.isnan(T.measure_step(logits)["logprob"]) and T.measure_step(logits)["legal_mass"] == 1,
        "no token, no mask",
    )
    out = array.array("f", [0.0] * width)
    T.guide_classifier_free(logits, array.array("f", [1.0] * width), 2.0, out)
    check(all(abs(o - (2 * x - 1)) < 1e-5 for o, x in zip(out, logits)), "classifier-free")
    T.guide_contrastive(logits, logits, 0.5, 1.0, out)
    check(
        all(
            abs(o) < 1e-6 if x >= logits[best] + math.log(0.5) else o == -math.inf
            for o, x in zip(out, logits)
        ),
        "contrastive",
    )
    raises(
        ValueError,
        lambda: T.guide_classifier_free(logits, logits[:5], 1.0, out),
        "rows of two lengths",
    )
    raises(
        BufferError,
        lambda: T.guide_classifier_free(logits, logits, 1.0, bytes(4 * width)),
        "read-only",
    )


def test_events():
    text, events = '{"a": [1, "x\\u00e9\\ud83d\\ude00y"], "b": {"c/d": null}}', T.Events()
    whole = events.feed(text) + events.end()
    check(
        whole[0] == ("begin", "object", "", "")
        and ("end", "number", "/a/0", "1") in whole
        and ("end", "null", "/b/c~1d", "") in whole,
        "events",
    )
    check(
        ("text", "string", "/a/1", "x\u00e9\U0001f600y") in whole
        and whole[-1] == ("end", "object", "", ""),
        "a string, decoded",
    )
    events.reset()
    bits = [e for byte in text.encode() for e in events.feed(bytes([byte]))] + events.end()
    check(
        "".join(e[3] for e in bits if e[:3] == ("text", "string", "/a/1")) == "x\u00e9\U0001f600y",
        "byte by byte",
    )
    check(
        [e for e in bits if e[0] != "text"] == [e for e in whole if e[0] != "text"],
        "the same values, byte by byte",
    )
    events.reset()
    raises(T.GrammarError, lambda: events.feed("[1,]"), "no JSON")
    raises(T.StateError, lambda: events.feed("1"), "after a failure")
    events.reset()
    events.feed("[")
    raises(T.GrammarError, events.end, "open")


def test_decoding():
    """Drafts, beams, the model's own distribution, probabilities of all outputs, with a model of
    random logits.
    """
    width = vocab.logits_width

    def model(prefixes):
        rows = array.array("f", bytes(4 * width * len(prefixes)))
        for i, prefix in enumerate(prefixes):
            state = zlib.crc32(repr(prefix).encode())
            for t in range(width):
                state = (state * 1103515245 + 12345) & 0x7FFFFFFF
                rows[i * width + t] = (state >> 16) / 8192.0 - 2
        return memoryview(rows).cast("B").cast("f", (len(prefixes), width))

    g = T.Grammar.choice(vocab, ["yes", "no", "yes and no"])
    texts, missing = T.score_all(g, model)
    check([t for t, _, _ in texts] == [b"no", b"yes", b"yes and no"] and missing == 0, "all texts")
    check(abs(sum(p for _, _, p in texts) - 1) < 1e-12, "their probabilities sum to 1")

    def log_softmax(prefix):
        row = list(memoryview(model([prefix])).cast("B").cast("f"))
        top = max(row)
        total = math.log(sum(math.exp(x - top) for x in row)) + top
        return [x - total for x in row]

    for text, log_p, _ in texts:
        ids = vocab.encode(text)
        want = sum(log_softmax(ids[:i])[t] for i, t in enumerate(ids))
        ends = log_softmax(ids)
        want += math.log(sum(math.exp(ends[t]) for t in vocab.eog_tokens))
        check(abs(want - log_p) < 1e-9, f"{text}: {log_p}, not {want}")
    summed, missing = T.score_all(g, model, all_tokenisations=True, open_end=True)
    check(missing == 0 and len(summed) == 3, "over all tokenisations")
    beams = T.beam_search(g, model, 64, 10, n_best=3)
    check(
        len({text for text, *_ in beams}) == len(beams) == 3 and beams[0][2] >= beams[-1][2],
        "beams",
    )
    for text, ids, log_p, _ in beams:
        check(
            b"".join(vocab.token_bytes(t) for t in ids if t not in vocab.eog_tokens) == text,
            "a beam's tokens spell its text",
        )
        check(
            abs(sum(log_softmax(ids[:i])[t] for i, t in enumerate(ids)) - log_p) < 1e-9,
            "a beam's log-probability",
        )
    raises(
        T.LimitError,
        lambda: T.beam_search(T.Grammar.regex(vocab, "a{100}"), model, 2, 3),
        "no text fits",
    )

    align = T.Align(g, model, 8, seed=5)
    check(align.mass == 1, "nothing is known yet")
    drawn = [align.sample() for _ in range(40)]
    check(
        all(g.matcher().accept_tokens(ids) == len(ids) for ids, _ in drawn) and 0 < align.mass < 1,
        "samples are texts, the mass falls",
    )
    check(0 < align.probability(drawn[-1][0]) <= 1, "a text's probability")

    class Broken(Exception):
        pass

    def broken(prefixes):
        raise Broken()

    for call in (
        lambda: T.score_all(g, broken),
        lambda: T.beam_search(g, broken, 2, 5),
        T.Align(g, broken, 5).sample,
    ):
        raises(Broken, call, "what a model raises")
    raises(
        ValueError,
        lambda: T.score_all(g, lambda prefixes: array.array("f", [0.0])),
        "too few logits",
    )
    raises(
        TypeError,
        lambda: T.score_all(g, lambda prefixes: array.array("d", [0.0] * width * len(prefixes))),
        "doubles",
    )
    nested = T.Align(g, lambda prefixes: nested.sample(), 5)
    raises(T.StateError, nested.sample, "a model that asks back")
    del nested

    m = grammar.matcher()
    forced, retract = T.draft_forced(m, [])
    check(
        forced and retract == 0 and m.validate(forced) == len(forced), "forced drafts are allowed"
    )
    chain = vocab.encode('{"a"')
    masks = memoryview(bytearray(4 * vocab.mask_words * (len(chain) + 1))).cast(
        "I", (len(chain) + 1, vocab.mask_words)
    )
    check(
        T.mask_drafts(m, chain, masks) == [True] * len(chain) and m.history == 0, "masks of drafts"
    )
    check(bytes(masks)[: 4 * vocab.mask_words] == m.mask(), "row 0 is the matcher's own")
    step = m.fork()
    step.accept_tokens(chain)
    check(
        bytes(masks)[-4 * vocab.mask_words :] == step.mask(),
        "the last row is that after all of them",
    )
    check(
        T.mask_drafts(
            m,
            [chain[0], chain[0]],
            memoryview(bytearray(12 * vocab.mask_words)).cast("I", (3, vocab.mask_words)),
            [None, None],
        )
        == [True, True],
        "two siblings",
    )
    raises(ValueError, lambda: T.mask_drafts(m, chain, bytearray(8)), "too small")
    rows = model([chain[:i] for i in range(len(chain) + 1)])
    path, token, draws = T.speculate(m, chain, rows, temperature=0.8, seed=4)
    check(
        path == list(range(len(path)))
        and m.history == len(path) + (token is not None)
        and draws > 0,
        "accepted drafts and the token after them",
    )
    raises(
        ValueError,
        lambda: T.speculate(m, chain, memoryview(bytearray(8)).cast("f", (1, 2))),
        "logits of another shape",
    )


def least_that_compiles(pattern):
    """A grammar with just enough steps to compile: its first mask takes more than are left."""
    for steps in range(1, 1000):
        try:
            return T.Grammar.regex(vocab, pattern, max_steps=steps)
        except T.LimitError:
            pass


def test_batch():
    a, b = grammar.matcher(), T.Grammar.regex(vocab, "[a-z]+").matcher()
    out = memoryview(bytearray(4 * 4 * vocab.mask_words)).cast("I", (4, vocab.mask_words))
    T.fill_batch([a, None, b], out, rows=[2, 0, 3])
    rows = out.tolist()
    check(
        allowed_of(rows[2]) == a.allowed() and allowed_of(rows[3]) == b.allowed(),
        "rows where they were asked for",
    )
    check(
        set(rows[0]) == {2**32 - 1} and set(rows[1]) == {0},
        "None is all ones, the rest is left alone",
    )
    raises(T.StateError, lambda: T.fill_batch([a, a], out), "a matcher twice")
    check(a.accept_bytes("{"), "and it is free again")
    raises(TypeError, lambda: T.fill_batch([a, 3], out), "not a matcher")
    check(a.allowed(), "and it is free again")
    raises(IndexError, lambda: T.fill_batch([a], out, [4]), "no such row")
    raises(ValueError, lambda: T.fill_batch([a], out, [1, 2]), "rows that do not fit")
    raises(
        IndexError,
        lambda: T.fill_batch([a, b, None, a.fork(), b.fork()], out),
        "more matchers than rows",
    )
    T.fill_batch([], out)

    raises(ValueError, lambda: T.fill_batch([a, b], out, [1, 1]), "a row twice")
    raises(
        ValueError, lambda: T.fill_batch([None, a], out, [2, 2]), "a row twice, one of them None"
    )
    check(a.allowed() and b.allowed(), "and they are free again")
    raises(TypeError, lambda: T.fill_batch([a], out, threads=3), "threads that are none")
    full = least_that_compiles("(a|b){1,400}[^c]{20,300}x").matcher()
    error = raises(
        T.LimitError, lambda: T.fill_batch([a, full, b], out, [0, 3, 1]), "a mask that fails"
    )
    check("row 3" in str(error), f"names its row: {error}")
    check(
        allowed_of(out.tolist()[0]) == a.allowed() and allowed_of(out.tolist()[1]) == b.allowed(),
        "the others are written",
    )


def test_mask_table():
    a, b = grammar.matcher(), T.Grammar.regex(vocab, "[a-z]+").matcher()
    table, words = T.MaskTable(vocab, 3), vocab.mask_words
    rows, fresh_rows = array.array("q", [-1] * 4), array.array("q", [-1] * 4)
    fresh = memoryview(bytearray(4 * 4 * words)).cast("I", (4, words))
    check(
        table.fill([a, b, a.fork()], rows, fresh, fresh_rows) == 2,
        "two masks that the device has not",
    )
    check(list(rows) == [0, 1, 0, -1] and list(fresh_rows) == [0, 1, -1, -1], "their rows")
    check(
        allowed_of(fresh.tolist()[0]) == a.allowed()
        and allowed_of(fresh.tolist()[1]) == b.allowed()
        and not any(fresh.tolist()[2]),
        "their masks, and no more",
    )
    check(
        table.fill((b, a), rows, fresh, fresh_rows) == 0 and list(rows[:2]) == [1, 0],
        "nothing to copy the second time",
    )
    check(
        table.stats() == {"hits": 3, "copies": 2, "evictions": 0, "rows": 2},
        f"statistics: {table.stats()}",
    )
    check(table.fill([], rows, fresh, fresh_rows) == 0, "no matchers")
    raises(T.StateError, lambda: table.fill([a, a], rows, fresh, fresh_rows), "a matcher twice")
    raises(TypeError, lambda: table.fill([a, None], rows, fresh, fresh_rows), "not a matcher")
    check(a.allowed() and b.allowed(), "and they are free again")
    raises(
        ValueError,
        lambda: table.fill([a, b, a.fork(), b.fork()], rows, fresh, fresh_rows),
        "more matchers than rows",
    )
    raises(
        ValueError,
        lambda: table.fill([a, b], array.array("q", [0]), fresh, fresh_rows),
        "rows too short",
    )
    raises(
        ValueError,
        lambda: table.fill([a, b], rows, fresh, array.array("q", [0])),
        "fresh_rows too short",
    )
    raises(
        TypeError,
        lambda: table.fill([a], array.array("i", [0]), fresh, fresh_rows),
        "rows of int32",
    )
    raises(
        TypeError,
        lambda: table.fill([a], array.array("d", [0]), fresh, fresh_rows),
        "rows of float64",
    )
    raises(ValueError, lambda: table.fill([a, b], rows, fresh[:1], fresh_rows), "fresh too short")
    raises(
        ValueError,
        lambda: table.fill([a], rows, bytearray(4 * words - 4), fresh_rows),
        "a mask too narrow",
    )
    raises(ValueError, lambda: T.MaskTable(vocab, 0), "a table without rows")
    raises(TypeError, lambda: T.MaskTable(grammar, 1), "a table of no vocabulary")
    check(
        table.stats()["rows"] == 2 and table.fill([a], rows, fresh, fresh_rows) == 0,
        "what was refused has changed nothing",
    )
    full = least_that_compiles("(a|b){1,400}[^c]{20,300}x").matcher()
    error = raises(
        T.LimitError, lambda: table.fill([a, full], rows, fresh, fresh_rows), "a mask that fails"
    )
    check("matcher 1" in str(error), f"names its matcher: {error}")
    check(
        table.stats()["rows"] == 0 and table.fill([a, b], rows, fresh, fresh_rows) == 2,
        "then all masks are fresh again",
    )


def test_workers():
    threads = T.Threads(2)
    check(threads.workers == 2 and T.Threads().workers >= 1, "workers")
    raises(T.ArgumentError, lambda: T.Threads(100000), "too many workers")
    matchers = [
        T.Grammar.json_schema(
            vocab, {"type": "array", "items": SCHEMA, "maxItems": i + 1}
        ).matcher()
        for i in range(40)
    ]
    alone, shared = (
        memoryview(bytearray(40 * 4 * vocab.mask_words)).cast("I", (40, vocab.mask_words))
        for _ in "12"
    )
    for text in ("[", '{"a": 1', "2}"):
        for matcher in matchers:
            check(matcher.accept_bytes(text), text)
        T.fill_batch(matchers, shared, threads=threads)
        T.fill_batch([m.fork() for m in matchers], alone)
        check(alone.tobytes() == shared.tobytes(), "workers write what one thread writes")


def test_cache():
    cache = T.Cache(max_bytes=1 << 26)
    first = T.Grammar.json_schema(vocab, SCHEMA, cache=cache)
    again = T.Grammar.json_schema(vocab, SCHEMA, cache=cache, deadline=10)
    other = T.Grammar.json_schema(vocab, SCHEMA, whitespace="compact", cache=cache)
    check(
        first.matcher().mask_id() == again.matcher().mask_id() and first.stats() == again.stats(),
        "an equal grammar is the same",
    )
    check(
        other.matcher().accept_bytes('{"a":1') and not other.matcher().accept_bytes('{ "a"'),
        "another option, another grammar",
    )
    check(T.Grammar.choice(vocab, ["a", "b"], cache=cache).matcher().accept_bytes("b"), "choices")
    stats = cache.stats()
    check(
        (stats["hits"], stats["misses"], stats["entries"]) == (1, 3, 3)
        and 0 < stats["bytes"] < stats["max_bytes"] == 1 << 26,
        f"statistics {stats}",
    )
    cache.clear()
    check(
        cache.stats()["entries"] == 0 and first.matcher().allowed(), "grammars outlive the cache's"
    )
    raises(
        T.GrammarError, lambda: T.Grammar.regex(vocab, "(", cache=cache), "failures are failures"
    )
    raises(TypeError, lambda: T.Grammar.regex(vocab, "a", cache={}), "a cache that is none")
    raises(
        T.UnsupportedError, lambda: T.Grammar.tags(vocab, {}, cache=cache), "tags are not cached"
    )
    raises(T.ArgumentError, lambda: T.Cache(0), "a cache of nothing")
    misses = cache.stats()["misses"]
    threads = [
        threading.Thread(target=T.Grammar.regex, args=(vocab, "x{3,900}y"), kwargs={"cache": cache})
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(cache.stats()["misses"] == misses + 1, "four threads, one compile")


def test_adapters_cache():
    from turnstile.cache import Cache

    made = []
    cache = Cache(3, max_bytes=100, size=len)

    def get(key, size):
        return cache.get(key, lambda: made.append(key) or bytearray(size))

    for key in "abc":
        get(key, 10)
    get("a", 10)
    get("d", 10)
    check(
        made == ["a", "b", "c", "d"] and get("a", 0) is get("a", 0) and made[-1] == "d",
        "three are kept, the last ones used",
    )
    get("b", 10)
    check(made[-1] == "b", "the one that was used least is gone")
    get("a", 10).extend(bytes(90))  # it grows to 100 while it is held
    get("a", 0)
    get("d", 10), get("b", 10)
    check(made[-2:] == ["d", "b"], "what is over the bytes is gone")
    large = get("e", 1000)
    check(
        len(large) == 1000 and get("e", 0) is large,
        "one that is too large is kept while it is the last",
    )
    raises(ZeroDivisionError, lambda: cache.get("z", lambda: 1 // 0), "what is raised is raised")
    get("f", 1)
    get("e", 5)
    check(made[-1] == "e", "and goes for the next one")
    cache.clear()
    get("f", 1)
    check(made[-1] == "f", "cleared")


def walk_along(g, text):
    """What a matcher says at each byte of a text."""
    matcher, seen = g.matcher(), []
    for byte in text:
        seen.append((matcher.mask_id(), matcher.allowed()))
        check(matcher.accept_bytes(bytes([byte])), f"{text!r} is followed")
    return seen


def store_worker(folder, text, out):
    g = T.Grammar.json_schema(vocab, SCHEMA, cache=folder)
    out.send(walk_along(g, text))


def test_artifacts():
    text = b'{"a": 10, "b": ["x"'
    compiled = T.Grammar.json_schema(vocab, SCHEMA)
    expected = walk_along(compiled, text[:9])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.tslgrammar"
        check(compiled.save(path) is None and path.stat().st_size > 1000, "an artifact is written")
        loaded = T.Grammar.load(vocab, path)
        check(
            isinstance(loaded, T.Grammar)
            and loaded.vocab is vocab
            and loaded.report() == compiled.report(),
            "and loaded",
        )
        check(walk_along(loaded, text[:9]) == expected, "equal masks")
        raises(
            T.FormatError,
            lambda: T.Grammar.load(T.Vocab.from_tokens([b"a", b"b"]), path),
            "another vocabulary",
        )
        raises(
            T.FileError, lambda: T.Grammar.load(vocab, str(path) + "x"), "a file that is not there"
        )
        path.write_bytes(b"rubbish" * 200)
        raises(T.FormatError, lambda: T.Grammar.load(vocab, path), "a file that is none")
        raises(
            T.UnsupportedError,
            lambda: T.Grammar.json_schema(
                vocab, {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
            ).save(path),
            "what cannot be listed",
        )
        raises(T.LimitError, lambda: compiled.save(path, max_states=3), "too many states")
        raises(
            T.FileError, lambda: compiled.save(folder + "/no/where"), "a folder that is not there"
        )
        shared = folder + "/shared"
        workers = []
        for _ in range(
            3
        ):  # processes that share a folder: tests/grammar/test_store.c counts their compiles
            here, there = multiprocessing.Pipe(duplex=False)
            worker = multiprocessing.get_context("fork").Process(
                target=store_worker, args=(shared, text[:9], there)
            )
            worker.start()
            workers.append((worker, here))
        check(
            all(here.recv() == expected for _, here in workers),
            "processes that share a folder have equal masks",
        )
        for worker, _ in workers:
            worker.join()
        names = [p.name for p in pathlib.Path(shared).iterdir()]
        check(len(names) == 1 and names[0].endswith(".tslgrammar"), f"one file is there: {names}")
        for where in (shared, pathlib.Path(shared)):
            check(
                walk_along(T.Grammar.json_schema(vocab, SCHEMA, cache=where), text[:9]) == expected,
                "and is used again",
            )
        raises(
            ValueError,
            lambda: T.Grammar.start("json_schema", vocab, SCHEMA, cache=shared),
            "a folder in the background",
        )


HARD = {
    "type": "string",
    "allOf": [{"pattern": p} for p in ("^(a{211})*a$", "^(a{223})*aa$", "^(a{227})*aaa$")],
}  # ten million states


def test_background():
    threads, cache = T.Threads(1), T.Cache(1 << 26)
    for options in (
        {},
        {"threads": threads},
        {"cache": cache},
        {"threads": threads, "cache": cache},
    ):
        compile = T.Grammar.start("json_schema", vocab, SCHEMA, whitespace="compact", **options)
        result = compile.result()
        check(
            type(result) is T.Grammar and compile.done and result.matcher().accept_bytes('{"a":1}'),
            f"in the background, {list(options)}",
        )
        check(compile.result().matcher().mask_id() == result.matcher().mask_id(), "asked twice")
    check(cache.stats()["hits"] == 1, "through the cache")
    check(
        T.Grammar.start("choice", vocab, ["yes", "no"]).result(10).matcher().accept_bytes("no"),
        "choice",
    )
    check(
        T.Grammar.start("gbnf", vocab, 'root ::= "x"').result().matcher().accept_bytes("x"), "gbnf"
    )
    raises(
        T.GrammarError,
        T.Grammar.start("json_schema", vocab, {"type": "strin"}).result,
        "its exception",
        pointer="/type",
    )
    hard = T.Grammar.start("json_schema", vocab, HARD, max_steps=2**63)
    raises(TimeoutError, lambda: hard.result(0.01), "not done yet")
    check(not hard.done, "not done")
    hard.cancel()
    raises(T.CancelledError, lambda: hard.result(10), "cancelled")
    del hard
    dropped = T.Grammar.start("json_schema", vocab, HARD, threads=threads, max_steps=2**63)
    del dropped, threads
    asked = []
    compile = T.Grammar.start(
        "json_schema",
        vocab,
        {"$ref": "http://host/x"},
        resolver=lambda uri: asked.append((uri, threading.get_ident())) or "true",
    )
    check(
        compile.result().matcher().accept_bytes("[1]")
        and asked[0][0] == "http://host/x"
        and asked[0][1] != threading.get_ident(),
        "a resolver, on the other thread",
    )
    raises(
        ZeroDivisionError,
        T.Grammar.start(
            "json_schema", vocab, {"$ref": "http://host/x"}, resolver=lambda uri: 1 // 0
        ).result,
        "a resolver that raises",
    )
    began, go, own = threading.Event(), threading.Event(), []

    def drop(uri):
        began.set()
        go.wait()
        own.clear()  # the last reference on the compile that this is called by
        return "true"

    own.append(T.Grammar.start("json_schema", vocab, {"$ref": "http://host/x"}, resolver=drop))
    began.wait()
    go.set()
    while own:
        time.sleep(0.001)
    check(True, "a resolver drops its own compile")
    raises(ValueError, lambda: T.Grammar.start("tags", vocab, {}), "a kind that there is not")
    raises(
        ValueError,
        lambda: T.Grammar.start("regex", vocab, "a", cancel=T.Cancel()),
        "cancel is for those in the foreground",
    )
    raises(
        TypeError, lambda: T.Grammar.start("regex", vocab, "a", threads=3), "threads that are none"
    )
    raises(TypeError, lambda: T.Grammar.start("regex", vocab, 3), "a pattern that is none")
    raises(
        T.CancelledError, lambda: T.Grammar.json_schema(vocab, HARD, deadline=0.02), "a deadline"
    )
    for kind in (T.Compile, T.Grammar, T.Vocab):
        raises(TypeError, kind, f"{kind.__name__} has no constructor of its own")


def test_budget():
    g = T.Grammar.json_schema(
        vocab, {"type": "array", "items": {"type": "string"}, "minItems": 1}, whitespace="compact"
    )
    budget, most = T.Budget(g), 30
    mask, logits = bytearray(4 * vocab.mask_words), array.array("f", [0.0] * vocab.logits_width)
    for seed in range(20):
        matcher, sampler = g.matcher(), T.Sampler(seed)
        budget.start(matcher, most)
        for left in range(most, -1, -1):
            budget.mask(matcher, left, mask)
            token = sampler.draw(logits, mask)[0]
            check(budget.allows(matcher, left, token), "what the mask has is allowed")
            matcher.accept(token)
            if matcher.is_terminated:
                break
        check(matcher.is_terminated, f"seed {seed}: complete within {most} tokens")
    matcher = g.matcher()
    error = raises(
        T.LimitError,
        lambda: budget.start(matcher, 1),
        "a budget that is too small",
        status="TSL_ERR_LIMIT",
    )
    check(any(c.isdigit() for c in str(error)), f"says how many it takes: {error}")
    way = budget.completion(matcher)
    check(
        matcher.accept_tokens(way) == len(way)
        and matcher.is_complete
        and budget.completion(matcher) == [],
        "a completion",
    )
    matcher = g.matcher()
    matcher.accept_bytes('["a"')
    close, comma = (vocab.encode(text)[0] for text in ("]", ","))
    check(
        budget.allows(matcher, 1, close)
        and not budget.allows(matcher, 1, comma)
        and not budget.allows(matcher, 9, vocab.encode("x")[0]),
        "allows",
    )
    budget.wind_down(matcher, 2, 4, 6.0, logits)
    check(abs(logits[close] - 4.5) < 1e-5 and logits[comma] == 0, "wind_down")
    raises(
        ValueError,
        lambda: budget.wind_down(matcher, 2, 4, 6.0, array.array("f", [0.0])),
        "a row that is too short",
    )
    raises(
        ValueError, lambda: budget.allows(grammar.matcher(), 3, 4), "a matcher of another grammar"
    )
    raises(TypeError, lambda: budget.allows(3, 3, 4), "no matcher")
    raises(TypeError, lambda: T.Budget(vocab), "a budget of no grammar")


def test_threads():
    """Masks of shared grammars from four threads at once are those of one thread; fill_batch lets
    other threads run.
    """
    wanted = {}
    g = T.Grammar.json_schema(vocab, {"type": "array", "items": SCHEMA}, whitespace=2)

    def follow(seed, into):
        sampler, matcher, mask = T.Sampler(seed), g.matcher(), bytearray(4 * vocab.mask_words)
        logits, digest = array.array("f", [0.0] * vocab.logits_width), []
        rows = memoryview(mask).cast("I", (1, vocab.mask_words))
        for _ in range(150):
            T.fill_batch([matcher], rows)
            digest.append(hash(bytes(mask)))
            token = sampler.draw(logits, mask)[0]
            matcher.accept(token)
            if matcher.is_terminated:
                break
        into[seed] = digest

    for seed in range(4):
        follow(seed, wanted)
    g = T.Grammar.json_schema(vocab, {"type": "array", "items": SCHEMA}, whitespace=2)
    found = {}
    threads = [threading.Thread(target=follow, args=(seed, found)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(found == wanted, "four threads see what one thread sees")


def test_life():
    """A matcher keeps its grammar, a grammar its vocabulary; nothing is left behind."""
    matcher = T.Grammar.regex(T.Vocab.from_tokens([b"a", b"b"]), "a*").matcher()
    gc.collect()
    check(
        matcher.allowed() == [0] and matcher.grammar.vocab.size == 2,
        "what a matcher needs lives on",
    )
    mask = bytearray(4 * vocab.mask_words)

    def rounds(n):
        for _ in range(n):
            m = grammar.matcher()
            m.mask(mask)
            m.fork().accept_bytes("{")
            try:
                T.Grammar.regex(vocab, "(")
            except T.GrammarError:
                pass

    rounds(200)
    gc.collect()
    before = sys.getallocatedblocks()
    rounds(2000)
    gc.collect()
    check(
        sys.getallocatedblocks() - before < 200,
        f"{sys.getallocatedblocks() - before} blocks more after 2,000 rounds",
    )
    for module in (
        T,
        T.Vocab,
        T.Grammar,
        T.Matcher,
        T.Sampler,
        T.Cancel,
        T.Threads,
        T.Cache,
        T.Compile,
        T.Budget,
        T.Align,
        T.Events,
        T.MaskTable,
        T.fill_batch,
        T.apply_mask,
        T.count_mask,
        T.measure_step,
        T.beam_search,
        T.score_all,
        T.speculate,
        T.mask_drafts,
        T.draft_forced,
        T.guide_classifier_free,
        T.guide_contrastive,
    ):
        check(module.__doc__, f"{module} has a docstring")
    for kind in (
        T.Vocab,
        T.Grammar,
        T.Matcher,
        T.Sampler,
        T.Cancel,
        T.Threads,
        T.Cache,
        T.Compile,
        T.Budget,
        T.Align,
        T.Events,
        T.MaskTable,
    ):
        for name in dir(kind):
            check(
                name.startswith("_") or getattr(kind, name).__doc__,
                f"{kind.__name__}.{name} has a docstring",
            )


def test_overhead():
    """What mask and accept cost over the library's calls is far below 0.5 us: together, in Python,
    they take less than that and the copy of a mask.
    """
    g = T.Grammar.regex(vocab, "[a-z]*")
    matcher, mask, token = g.matcher(), bytearray(4 * vocab.mask_words), vocab.encode("a")[0]
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter_ns()
        for _ in range(2000):
            matcher.mask(mask)
            matcher.accept(token)
        best = min(best, (time.perf_counter_ns() - start) / 2000)
    print(f"  mask + accept: {best:.0f} ns, the loop included")
    check(best < 500, f"mask + accept take {best:.0f} ns")


run(
    test_arrays,
    test_moving,
    test_grammars,
    test_pydantic,
    test_tools,
    test_cancel,
    test_vocab,
    test_sampler,
    test_sampling,
    test_events,
    test_decoding,
    test_batch,
    test_mask_table,
    test_workers,
    test_cache,
    test_adapters_cache,
    test_artifacts,
    test_background,
    test_budget,
    test_threads,
    test_life,
    test_overhead,
)
