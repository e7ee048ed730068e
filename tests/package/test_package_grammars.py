#!/usr/bin/env python3
"""Grammars of the Python package: every way to make one, pydantic's models, tools, options, errors.

SPDX-License-Identifier: Apache-2.0
"""

import json
import math
import pathlib
import pickle
import re
import sys
import tempfile
import types

from package_checks import ROOT, SCHEMA, T, check, grammar, raises, run, vocab

from turnstile.grammar import one_grammar, some_grammars


def test_requests():
    """Requests as servers get them: the files of schemas/examples/requests, and what is wrong."""
    folder = ROOT / "schemas" / "examples" / "requests"
    person = '{"name": "Ada", "born": 1815}'
    expected = {
        "openai_chat": (person, '{"name": "Ada"}'),
        "openai_responses": (person, '{"born": 1815}'),
        "vllm_choice": ("negative", "neutral"),
        "vllm_grammar": ("1 + 2", "1 +"),
        "vllm_structural_tag": ('So <weather>{"city": "Rome"}</weather>', "<weather>{}</weather>"),
        "sglang_regex": ("5", "five"),
        "llama_server_grammar": ("no", "maybe"),
        "llama_server_lazy": ("I look: <call>weather(Rome)</call>", "I look: <call>Rome"),
        "llama_server_schema": ("[2, 3, 5]", "[2, 3]"),
        "ollama": ('{"colour": "red"}', '{"colour": "pink"}'),
    }
    files = sorted(folder.glob("*.json"))
    check(
        {path.stem for path in files} == set(expected), f"a text for each of {len(files)} requests"
    )

    def ends(g, text):
        m = g.matcher()
        return m.accept_bytes(text) and m.is_complete

    for path in files:
        text = path.read_text(encoding="utf-8")
        good, bad = expected[path.stem]
        for body in (text, text.encode(), json.loads(text)):
            g = T.Grammar.request(vocab, body)
            check(ends(g, good) and not ends(g, bad), f"{path.name}: {good}, not {bad}")

    def one(body, good, bad, **options):
        g = T.Grammar.request(vocab, body, **options)
        check(ends(g, good) and not ends(g, bad), f"{body}: {good}, not {bad}")

    one({"response_format": {"type": "json_object"}}, '{"a": 1}', "[1]")
    one({"format": "json"}, "{}", "1")
    one({"guided_regex": "a+"}, "aa", "b")
    one({"structured_outputs": {"json_object": True, "json": None}}, "{}", "1")
    one({"structured_outputs": {"grammar": 'start: "a"'}}, "a", "b")
    lone = {"structured_outputs": {"json": {"const": [1, 2]}, "disable_any_whitespace": True}}
    one(lone, "[1,2]", "[1, 2]")
    one({"json_schema": '{"const": 1}', "grammar": ""}, "1", "2")
    one({"sampling_params": {"ebnf": 'root ::= "x"'}}, "x", "y")
    one({"format": {"const": [1, 2]}}, "[1,2]", "[1, 2]", whitespace="compact")

    def refused(kind, body, pointer, words, line=0):
        try:
            T.Grammar.request(vocab, body)
        except T.GrammarError as error:
            check(
                type(error) is kind
                and (error.pointer, error.line) == (pointer, line)
                and words in str(error),
                f"{body}: {type(error).__name__} {error.pointer}: {error}",
            )
        else:
            check(False, f"{body} was compiled")

    bad, no = T.GrammarError, T.UnsupportedError
    refused(bad, {"model": "m"}, "", "constrains nothing")
    refused(bad, {"response_format": {"type": "text"}}, "", "constrains nothing")
    refused(bad, {"regex": "a", "format": "json"}, "/regex", "/format and /regex")
    refused(bad, "[1]", "", "an object", line=1)
    refused(bad, "{", "", "", line=1)
    refused(bad, '{\n"format":\n {"type": 1}}', "/format/type", "", line=3)
    refused(bad, '{"a": 1,\n "regex": "("}', "/regex", "in this text, line 1, column 1", line=2)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            one({"regex": "a{2}"}, "aa", "a", cache=folder)
        check(any(pathlib.Path(folder).iterdir()), "a request goes through a folder of artifacts")
    refused(bad, {"format": "yaml"}, "/format", "or a schema")
    refused(no, {"response_format": {"type": "xml"}}, "/response_format/type", "json_schema")
    refused(bad, {"response_format": {"type": "json_schema"}}, "/response_format", "schema")
    refused(bad, {"structured_outputs": ["a"]}, "/structured_outputs", "an object")
    refused(
        no,
        {"structured_outputs": {"xml": 1}},
        "/structured_outputs/xml",
        "structured_outputs has json",
    )
    refused(
        bad, {"structured_outputs": {"choice": "a"}}, "/structured_outputs/choice", "list of texts"
    )
    lazy = {"grammar": 'root ::= "<a>" [0-9]+', "grammar_lazy": True}
    refused(bad, lazy, "/grammar", "grammar_triggers")
    lazy["grammar_triggers"] = [{"type": 1, "value": "<a>"}]
    one(lazy, "free <a>12", "free <a>x")
    refused(no, {"tools": [{"type": "function"}], "format": "json"}, "/tools", "Grammar.tools")
    wrong = {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": 1}}}}
    refused(bad, wrong, "/response_format/json_schema/schema/type", "")


def test_wanted_grammars():
    """What the hosts' processors say of an argument that is no grammar."""
    grammar = T.Grammar.regex(vocab, "a")
    check(one_grammar(grammar, "here") is grammar, "a grammar")
    check(some_grammars(grammar, "here") == [grammar], "one for all")
    check(some_grammars((None, grammar), "here") == [None, grammar], "one for each")

    def refused(call, given, *words):
        try:
            call(given, "P: grammars")
        except TypeError as error:
            check(all(word in str(error) for word in ("P: grammars", *words)), f"{error}")
        else:
            check(False, f"{given!r} is a grammar")

    for given, words in (
        ({"type": "object"}, ("a dict", "json_schema(")),
        ("root ::= [a]", ("a str", ".gbnf")),
        (re.compile("a"), ("a Pattern", "regex(")),
        (int, ("the type int", "json_schema(")),
        (grammar.matcher(), ("a Matcher", "`grammar`")),
        (None, ("a NoneType", "json_schema(")),
        (7, ("a int", "json_schema(")),
    ):
        refused(one_grammar, given, *words)
        refused(some_grammars, given, *words)
    refused(some_grammars, [grammar, {"const": 1}], "grammars[1]", "a dict")
    try:
        some_grammars([], "P")
    except ValueError as error:
        check("no grammar" in str(error), f"{error}")
    else:
        check(False, "no grammars are some")


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
    requested = []
    g = G.json_schema(
        vocab,
        {"$ref": "http://host/other"},
        resolver=lambda uri: requested.append(uri) or '{"const": "r"}',
    )
    check(texts(g, '"r"', '"s"') == ['"r"'] and requested == ["http://host/other"], "resolver")
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
    try:
        G.json_schema(vocab, {"$ref": "http://host/other"})
    except T.GrammarError as e:
        check("resolver=" in str(e), f"the message names the option: {e}")
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
    unique = {"type": "object", "properties": {"u": {"type": "array", "uniqueItems": True}}}
    loose = [{"name": "run", "strict": False, "parameters": unique}]
    check(
        len(T.Grammar.tools(vocab, loose, preset="minimax-m3").warnings) == 1
        and not T.Grammar.tools(vocab, loose, preset="qwen3").warnings,
        "what is left out of a tool's schema",
    )
    check(
        '(tool "run"): left out: '
        in T.Grammar.tools(vocab, loose, preset="minimax-m3").warnings[0],
        "the tool that something is left out of",
    )
    misspelled = {"tools": [{"name": "run", "parameters": {"type": "object", "requird": ["a"]}}]}
    grammar = T.Grammar.tools(vocab, misspelled, preset="qwen3")
    check(
        grammar.warnings
        == ['/tools/0/parameters/requird (tool "run"): no keyword: is required meant?']
        and [entry["tool"] for entry in grammar.report()] == ["run", "run"],
        f"a misspelled keyword in a tool: {grammar.warnings}",
    )
    typo = {"format": {"type": "object", "propertes": {}}}
    check(
        [w.split(":")[0] for w in T.Grammar.request(vocab, typo).warnings] == ["/format/propertes"],
        "warnings point into the request",
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
    """Resolved documents of schemas in tags and tools, with the base that was given; and what
    it says is never reused for another one.
    """
    requested = []

    def resolving(text):
        return lambda uri: requested.append(uri) or text

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
        requested == ["http://host/other", "http://host/other", "http://host/two/other"],
        f"requested: {requested}",
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


def test_lint():
    schema = {
        "type": "object",
        "properties": {"answer": {"type": "string"}, "reasoning": {"type": "string"}},
        "required": ["answer", "reasoning"],
    }
    found = T.lint(schema, rules=["answer-first"])
    check([f.pointer for f in found] == ["/properties"], f"one finding: {found}")
    check(str(found[0]).startswith("answer-first /properties: "), f"as text: {found[0]}")
    check(T.lint(json.dumps(schema), rules="-answer-first") != [], "other findings, of a text")
    mended, rest = T.lint_fix(schema, bounds=True)
    check(list(mended["properties"]) == ["reasoning", "answer"], f"mended: {mended}")
    check(all(f.mended for f in rest) and T.lint(mended) == [], f"all is mended: {rest}")
    raises(T.ArgumentError, lambda: T.lint(schema, rules="no-rule"), "no such rule")
    raises(T.GrammarError, lambda: T.lint("{"), "no JSON")


run(test_lint, test_grammars, test_wanted_grammars, test_requests, test_pydantic, test_tools)
