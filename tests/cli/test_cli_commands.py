#!/usr/bin/env python3
"""turnstile mask, explain, extract and tools; vocabularies, profiles, and errors as JSON.

SPDX-License-Identifier: Apache-2.0
"""

import base64
import json
import pathlib
import re

from cli_checks import PAIR, ROOT, SUM, VOCABS, check, expect, files, run, skip


def tool_calls():
    """Which file is wrong, which options go together, and exit codes."""
    request, tag = (
        ROOT / "tests" / "cases" / "tools" / "chat_completions.json",
        files("tag.json", {"type": "const_string", "value": "a"}),
    )
    for text, err in (
        ('{"thinking": null,\n  "bogus": }', "preset.json:2:12 (byte 30): not JSON"),
        (
            '{"thinking": null}',
            'preset.json: the preset\'s "calls" is missing or malformed: docs/tools.md says what '
            "it needs",
        ),
        ("[]", "preset.json: no preset: it must be a JSON object"),
    ):
        for how in ([], ["--compile"]):
            expect(
                2,
                ["tools", "--preset", files("preset.json", text), "--tools", request, *how],
                err=err,
            )
    good = (ROOT / "schemas" / "tools" / "qwen3.json").read_text(encoding="utf-8")
    expect(
        0,
        ["tools", "--preset", "qwen3", "--tools", "-"],
        text=request.read_text(encoding="utf-8"),
        out='"get_weather',
    )
    expect(
        0,
        ["tools", "--tags", "-", "--parse", files("a.txt", "a")],
        text='{"type": "const_string", "value": "a"}',
        out='"content": "a"',
    )
    expect(
        2,
        ["tools", "--preset", "qwen3", "--tools", "-"],
        text="",
        err="stdin:1:1 (byte 0): not JSON",
    )
    for option in (["--nudge", "a"], ["--masks"]):
        expect(
            2, ["tools", "--preset", "qwen3", "--tools", request, *option], err="go with --generate"
        )
    expect(0, ["tools", "--preset", files("preset.json", "\n " + good), "--tools", request])
    expect(
        2,
        [
            "tools",
            "--preset",
            files("preset.json", good),
            "--tools",
            files("request.json", '{"tools": 7}'),
        ],
        err="request.json",
    )
    for option in (
        ["--preset", "qwen3"],
        ["--tools", request],
        ["--tool-choice", "auto"],
        ["--no-parallel"],
        ["--thinking", "on"],
        ["--max-thinking", "3"],
    ):
        expect(2, ["tools", "--tags", tag, "--compile", *option], err="--tags stands without")
    expect(2, ["tools", "--tags", tag, "--null", "--compile"], err="go with --parse")
    for answers, code, out in (("a\0a\0", 0, b"null"), ("a\0b\0a\0", 1, b"null")):
        stdout, _ = expect(
            code, ["tools", "--tags", tag, "--null", "--parse", files("answers.bin", answers)]
        )
        check(
            stdout.count(b"\n") == answers.count("\0") and stdout.count(out) == code,
            f"--null: {stdout!r}",
        )


def vocabularies():
    words = [b"the", b" the", b"name", b'":', b'{"', b'"}', b"an"]
    tokens = [bytes([b]) for b in range(256)] + words
    lines = b"".join(base64.b64encode(t) + b" %d\n" % i for i, t in enumerate(tokens))
    path = files("cl100k_base.tiktoken", lines)  # the name says to the loader how to split text
    stdout, _ = expect(
        0,
        ["generate", "--vocab", path, "--regex", "the( the)*name", "-n", "3", "--max-tokens", "30"],
    )
    for line in stdout.decode().splitlines():
        check(re.fullmatch("the( the)*name", line), f"tiny vocabulary: {line!r}")
    stdout, stderr = expect(0, ["mask", "--vocab", path, "--regex", "the( the)*name"], err="2 of ")
    check(stdout == b'116\t"t"\n256\t"the"\n', f"mask over the tiny vocabulary: {stdout!r}")
    expect(2, ["mask", "--vocab", files("noise.bin", b"\1\2\3"), "--regex", "a"], err="noise.bin")
    expect(2, ["mask", "--vocab", files.folder.name + "/none", "--regex", "a"], err="none")
    folder = pathlib.Path(files.folder.name, "kept")
    folder.mkdir()
    cached = ["mask", "--vocab", path, "--vocab-cache", folder, "--regex", "the( the)*name"]
    expect(0, cached)
    kept = {f.name: f.stat().st_mtime_ns for f in folder.iterdir()}
    check(
        [f.rsplit(".")[-1] for f in kept] == ["tslvocab"],
        f"--vocab-cache keeps the vocabulary: {list(kept)}",
    )  # and no note of a file that is so new
    check(
        expect(0, cached)[0] == stdout
        and {f.name: f.stat().st_mtime_ns for f in folder.iterdir()} == kept,
        "what is kept is used, and not written again",
    )
    expect(
        2,
        ["mask", "--vocab-cache", folder, "--regex", "a"],
        err="turnstile: --vocab-cache goes with --vocab\n",
    )
    real = VOCABS / "cl100k_base.tiktoken"
    if not real.is_file():
        skip("no cl100k_base.tiktoken among the fetched vocabularies")
        return
    stdout, _ = expect(
        0, ["generate", "--vocab", real, "--schema", PAIR, "-n", "2", "--max-tokens", "40"]
    )
    check(
        all(isinstance(json.loads(line)["a"], int) for line in stdout.decode().splitlines()),
        f"cl100k: {stdout!r}",
    )


def masks():
    stdout, stderr = expect(0, ["mask", "--regex", "[0-9]{2}", "--prefix", "7", "--ids"])
    ids = stdout.decode().split()
    check(ids and all(i.isdigit() for i in ids), f"--ids: {stdout!r}")
    check(f"{len(ids)} of ".encode() in stderr, f"the count is that of the list: {stderr!r}")
    stdout, _ = expect(0, ["mask", "--regex", "[0-9]{2}", "--prefix", "7"])
    check(
        all(re.fullmatch(r'\d+\t"\d"', line) for line in stdout.decode().splitlines()),
        f"one digit is left: {stdout!r}",
    )
    stdout, stderr = expect(
        0, ["mask", "--regex", "ab", "--prefix", "ab"], err="the text may end here"
    )
    check(b"end of generation" in stdout and stdout.count(b"\n") >= 1, f"only the end: {stdout!r}")
    stdout, _ = expect(0, ["mask", "--regex", ".*", "--limit", "3"])
    check(stdout.count(b"\n") == 3, "--limit 3")
    expect(0, ["mask", "--schema", PAIR, "--prefix-file", "-"], text='{"a', out='"')
    expect(
        1,
        ["mask", "--regex", "ab", "--prefix", "b"],
        err="prefix:1:1: byte offset 0: expected one of 'a'",
    )
    expect(
        2,
        ["mask", "--regex", "ab", "--prefix", "a", "--prefix-file", "-"],
        err="exclude each other",
    )


def explanations():
    stdout, _ = expect(0, ["explain", "--schema", PAIR, "--json"])
    report = json.loads(stdout)
    check(
        {"/properties", "/required"} <= {row["pointer"] for row in report},
        f"pointers of the report: {report}",
    )
    check({row["status"] for row in report} <= {"enforced", "no effect"}, "statuses of the report")
    stdout, _ = expect(0, ["explain", "--schema", PAIR], out="the shortest text takes 7 bytes")
    check(
        b"what is enforced" in stdout and b'"keyword"' in stdout and b"states" in stdout,
        f"sections: {stdout!r}",
    )
    stdout, _ = expect(0, ["explain", "--regex", "a(b|c)*", "--states", "--text", "-"], text="abcb")
    check(len(stdout.decode().split("\nstates\n")[-1].splitlines()) >= 2, f"states: {stdout!r}")
    expect(1, ["explain", "--regex", "a", "--text", "-"], text="b", err="byte offset 0")


def json_errors():
    """Every command says as JSON where and why it failed."""
    bad = files(
        "bad.json",
        '{"properties": {"type": {"items": [{"pattern": "("}]}},\n "$schema": '
        '"http://json-schema.org/draft-07/schema#"}',
    )
    for command in [
        ["explain"],
        ["generate"],
        ["mask"],
        ["check", bad],
        ["extract", bad],
        ["compile", "-o", str(bad) + ".out"],
    ]:
        _, stderr = expect(2, [*command, "--schema", bad, "--json"])
        error = json.loads(stderr)["error"] if stderr.startswith(b"{") else {}
        check(
            error.get("status") == "TSL_ERR_SYNTAX"
            and error.get("pointer") == "/properties/type/items/0/pattern"
            and error.get("keyword") == "pattern"
            and error.get("line") == 1
            and error.get("column") == 48
            and error.get("file") == str(bad)
            and "parenthesis" in error.get("message", ""),
            f"{command}: {stderr!r}",
        )
    kinds = [
        (
            '{"properties": {"a": {"pattern": "(.)\\\\1"}}}',
            "TSL_ERR_UNSUPPORTED",
            "/properties/a/pattern",
            "pattern",
            "back-reference",
        ),
        (
            '{"properties": {"a": {"$ref": "#/nowhere"}}}',
            "TSL_ERR_SCHEMA",
            "/properties/a/$ref",
            "$ref",
            "nowhere",
        ),
        (
            '{"properties": {"a": {"minLength": "x"}}}',
            "TSL_ERR_SCHEMA",
            "/properties/a/minLength",
            "minLength",
            "non-negative integer",
        ),
        (
            '{"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "enum": '
            "[1]}}}",
            "TSL_ERR_EMPTY",
            None,
            None,
            "no value satisfies",
        ),
        ('{"type": "object"', "TSL_ERR_SYNTAX", "", "", ""),
    ]
    for text, status, pointer, keyword, message in kinds:
        _, stderr = expect(2, ["generate", "--json", "--schema", files("kind.json", text)])
        error = json.loads(stderr)["error"]
        check(
            error["status"] == status
            and message in error["message"]
            and (pointer is None or (error["pointer"], error["keyword"]) == (pointer, keyword)),
            f"{text}: {error}",
        )
    primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59]
    entangled = {
        "properties": {
            "x": {"type": "integer", "allOf": [{"not": {"multipleOf": p}} for p in primes]}
        },
        "required": ["x"],
    }
    _, stderr = expect(
        2, ["generate", "--json", "--schema", files("limit.json", json.dumps(entangled))]
    )
    error = json.loads(stderr)["error"]
    check(
        error["status"] == "TSL_ERR_LIMIT"
        and "/properties/x" in error["pointer"] + error["message"],
        f"a limit names the subschema: {error}",
    )
    _, stderr = expect(1, ["check", "--schema", PAIR, "--json", "-"], text='{"a":1,\n"b":2}')
    error = json.loads(stderr)["error"]
    check(
        (error["status"], error["line"], error["column"], error["offset"])
        == ("TSL_REJECTED", 2, 5, 12),
        f"a mismatch: {error}",
    )
    _, stderr = expect(2, ["generate", "--no-such", "--json"])
    check("no option --no-such" in json.loads(stderr)["error"]["message"], "a bad call")
    _, stderr = expect(1, ["generate", "--regex", "[a-z]{40}x", "--max-tokens", "2", "--json"])
    check(
        re.search('was cut after 2 tokens: .*: "[a-z]+"$', json.loads(stderr)["error"]["message"]),
        f"a text that was cut: {stderr!r}",
    )
    request = ROOT / "tests" / "cases" / "tools" / "chat_completions.json"
    _, stderr = expect(
        1,
        [
            "tools",
            "--preset",
            "qwen3",
            "--tools",
            request,
            "--json",
            "--parse",
            files("answer.txt", "hello <tool_call>\nxx"),
        ],
    )
    check(
        "the answer does not match" in json.loads(stderr)["error"]["message"],
        f"an answer: {stderr!r}",
    )


def profiles():
    good = files(
        "strict.json",
        {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "required": ["a"],
            "additionalProperties": False,
        },
    )
    stdout, _ = expect(0, ["explain", "--schema", good, "--profile", "openai-strict"])
    check(stdout == b"", "nothing to say")
    for command in ["explain", "check"]:
        stdout, _ = expect(1, [command, "--schema", PAIR, "--profile", "openai-strict", "--json"])
        rows = [json.loads(line) for line in stdout.splitlines()]
        check(
            {row["pointer"] for row in rows if row["status"] == "breaks"} >= {"/properties/b"},
            f"findings: {rows}",
        )
    expect(2, ["explain", "--schema", good, "--profile", "none"], err="openai-strict")
    expect(
        2, ["check", "--regex", "a", "--profile", "openai-strict"], err="--profile needs --schema"
    )


def extraction():
    def extracted(arguments, text):
        stdout, _ = expect(0, ["extract", *arguments, "-"], text=text)
        check(stdout.count(b"\n") == 1, f"one line: {stdout!r}")
        return json.loads(stdout)

    regex = r"(?<year>\d{4})-(?<month>\d{2})(-(?<day>\d{2}))?"
    check(
        extracted(["--regex", regex], "2024-02-29\n")
        == {"year": "2024", "month": "02", "day": "29"},
        "named groups",
    )
    check(
        extracted(["--regex", regex], "2024-02") == {"year": "2024", "month": "02", "day": None},
        "a group that took no part is null",
    )
    check(
        extracted(["--regex", "(?<q>[^x]*)x"], 'é"\\\t\x01x') == {"q": 'é"\\\t\x01'},
        "captures are escaped",
    )
    check(extracted(["--regex", "(?<n>[0-9]+)", "--search"], "ab 12 c") == {"n": "12"}, "--search")
    expect(1, ["extract", "--regex", regex, "-"], text="2024", err="byte offset 4")
    for pattern, text, value in (
        (r"(?<a>.+)\r.*", "x\ry", "x"),
        (r"(?s)(?<a>.*)", "x\r\ny", "x\r\ny"),
        (r"(?<a>\s)x", "\u00a0x", "\u00a0"),
        (r"(?<a>[\s_]+)x", "\ufeff_x", "\ufeff_"),
        (r"(?<a>[^\S]\S)", "\u2003y", "\u2003y"),
        (r"(?<a>\u{3})", "\x03", "\x03"),
        (r"(?<a>\u00e9\ud83d\ude00)", "é😀", "é😀"),
        (r"(?<a>\x{41}\x42)", "AB", "AB"),
        (r"(?<a>\v)", "\v", "\v"),
        (r"(?<a>[^]x[]?)", "\nx", "\nx"),
        (r"(?m)x\r(?<a>^y$)\u2028z", "x\ry\u2028z", "y"),
        (r"(?<a>x{0,2})", "xx", "xx"),
        (r"(?i:(?<a>\w))", "\u017f", "\u017f"),
        (r"(?<a>x)(y)?\2", "x", "x"),
        (r"(?<a>[[:alpha:]\]]+)\.", "a].", "a]"),
        (r"(?<a>[\d-z]+)", "1-z", "1-z"),
        (r"(?<a>[z-\w[:digit:]-]+)", "z-1", "z-1"),
        (r"(?s:(?<a>.))(?<b>.)", "\r1", "\r"),
        (r"(?<a>\p{L}+)(?#.)", "é", "é"),
    ):
        check(
            extracted(["--regex", pattern], text).get("a") == value,
            f"{pattern} as the grammar reads it",
        )
    # In a repetition the last round counts, as in ECMA-262, but that one that matches nothing does;
    # references mean the groups of the pattern.
    for pattern, text, groups in (
        (r"(?:(?<a>a)|(?<b>b))*", "ab", {"a": None, "b": "b"}),
        (r"(?<a>x*)*", "xx", {"a": ""}),
        (r"(?:(?<a>x)?y)*", "xyy", {"a": None}),
        (r"(?:(?<p>(?<a>a)|b)c)*", "acbc", {"p": "b", "a": None}),
        (r"(?i:(?<a>A)|b)*", "aba", {"a": "a"}),
        (r"(?:(?<a>1)|(?:(?<b>2)|(?<c>3))+)*", "1233", {"a": None, "b": None, "c": "3"}),
        (r"(?:(?:a)|b)(?<q>x|y)(?:(?<r>z)|w)*\1(?P=q)(?#()", "axzwxx", {"q": "x", "r": None}),
        (r"((?:a|b))\1(?<a>c)", "bbc", {"a": "c"}),
        ("(?:" * 240 + "(?<a>a)" + ")" * 240, "a", {"a": "a"}),
    ):
        check(extracted(["--regex", pattern], text) == groups, f"{pattern} on {text}")
    expect(
        2,
        ["extract", "--regex", "(?:(?<x>(?:a+)+)c|(?<y>a+))", "-"],
        text="a" * 60,
        err="too many ways for PCRE2",
    )
    expect(2, ["extract", "--regex", "(?<$x>a)", "-"], text="a", err="PCRE2")
    expect(
        2, ["extract", "-"], text="a", err="one of --schema, --regex, --lark and --ebnf is needed"
    )
    named = files("named.lark", 'start: name ","\nname[capture]: /[a-z]+/\n')
    check(
        extracted(["--lark", named], "ab,")["tags"] == [{"begin": "name", "content": "ab"}],
        "a capture of a Lark grammar",
    )
    plain = files("plain.lark", 'start: "a"\n')
    expect(2, ["extract", "--lark", plain, "-"], text="a", err="the grammar has no captures")
    outer = files("outer.lark", "start: x\n%import named.name -> x\n")
    folder = str(pathlib.Path(outer).parent)
    expect(0, ["check", "--lark", outer, "--imports", folder, "-"], text="ab")
    expect(2, ["check", "--lark", outer, "-"], text="ab", err="there is no resolver")
    expect(2, ["check", "--regex", "a", "--imports", folder, "-"], text="a", err="--imports")
    anything = files("any.json", {})
    text = (
        '{"a": {"b~/\\u00e9\\ud83d\\ude00": [1, 2.50, {"x": "q\\"w\\n"}]}, "e": [], "f": { }, '
        '"": null}'
    )
    check(
        extracted(["--schema", anything], text)
        == {
            "/a/b~0~1é😀/0": 1,
            "/a/b~0~1é😀/1": 2.5,
            "/a/b~0~1é😀/2/x": 'q"w\n',
            "/e": [],
            "/f": {},
            "/": None,
        },
        "leaves by pointer",
    )
    check(extracted(["--schema", anything], "12") == {"": 12}, "a scalar's pointer is empty")
    check(
        extracted(
            ["--schema", anything, "--pointer", "/a", "--pointer", "/b/1"],
            '{"a": [1, {"c": "x  y"}], "b": [0, true]}',
        )
        == {"/a": [1, {"c": "x  y"}], "/b/1": True},
        "--pointer",
    )
    stdout, _ = expect(
        0, ["extract", "--schema", anything, "--pointer", "/n", "-"], text='{"n": 1.00e2}'
    )
    check(stdout == b'{"/n":1.00e2}\n', f"numbers stay as spelled: {stdout!r}")
    expect(
        1,
        ["extract", "--schema", anything, "--pointer", "/z", "-"],
        text='{"n": 1}',
        err='nothing at JSON pointer "/z"',
    )
    expect(2, ["extract", "--schema", anything, "--pointer", "z", "-"], text="1", err="--pointer")
    expect(2, ["extract", "--grammar", SUM, "-"], text="1", err="no captures")


def requests():
    """--request: the requests of schemas/examples/requests, and how errors are placed."""
    folder = ROOT / "schemas" / "examples" / "requests"
    person = '{"name": "Ada", "born": 1815}'
    texts = {
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
    check({p.stem for p in folder.glob("*.json")} == set(texts), "a text for each request")
    for name, (good, bad) in texts.items():
        request = ["--request", folder / f"{name}.json"]
        expect(0, ["check", *request, "-"], text=good)
        expect(1, ["check", *request, "-"], text=bad, err=": ")
    choice = ["--request", folder / "vllm_choice.json"]
    written, _ = expect(0, ["generate", *choice, "-n", "3"])
    check(set(written.decode().split()) <= {"positive", "negative"}, f"generate: {written!r}")
    expect(2, ["check", *choice, "--root", "x", "-"], text="", err="--root goes with --grammar")
    expect(2, ["extract", *choice, "-"], text="", err="a request has no captures")
    typo = files("typo.json", '{"format": {"type": "object", "propertes": {}}}')
    expect(0, ["check", "--request", typo, "-"], text="{}", err="warning: /format/propertes: ")
    tools = files("tools.json", '[{"name": "run", "parameters": {"requird": ["a"]}}]')
    said = 'warning: /0/parameters/requird (tool "run"): no keyword: is required meant?'
    for more in [], ["--generate", "1"]:
        expect(0, ["tools", "--preset", "qwen3", "--tools", tools, *more], err=said)
    bad = files("request.json", '{\n  "format": {"type": "strin"}\n}')
    expect(
        2,
        ["check", "--request", bad, "-"],
        text="",
        err="request.json:2:22 (byte 23) at /format/type",
    )
    expect(2, ["check", *choice, "--schema", bad, "-"], text="", err="is given already")


run(
    [
        (vocabularies, "vocabularies from files"),
        (masks, "mask"),
        (explanations, "explain"),
        (json_errors, "--json: errors"),
        (profiles, "--profile"),
        (extraction, "extract"),
        (requests, "--request"),
        (tool_calls, "tools"),
    ]
)
