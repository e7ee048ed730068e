#!/usr/bin/env python3
"""The command line tool, run as a program: exit codes, messages, and that what it writes is what it
says.

Texts that `generate` writes are judged by others where that is possible: jsonschema for schemas,
Python's re for regexes; and always by `check`.

SPDX-License-Identifier: Apache-2.0
"""

import base64
import decimal
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLI = os.environ.get("TSL_CLI", str(ROOT / "build" / "turnstile"))
VOCABS = pathlib.Path(os.environ.get("TSL_VOCABS", ROOT / "build" / "vocabs"))
EXAMPLES = ROOT / "schemas" / "examples"
SCHEMAS = sorted(EXAMPLES.glob("*.json"))
GRAMMARS = sorted(EXAMPLES.glob("*.gbnf"))

passed = failed = skipped = 0


def check(condition, what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("  FAIL " + what)


def skip(why):
    global skipped
    skipped += 1
    print("  skipped: " + why)


def turnstile(*arguments, text=b"", env=None):
    """Run the tool; (exit code, stdout, stderr), as bytes."""
    if isinstance(text, str):
        text = text.encode()
    done = subprocess.run(
        [CLI, *map(str, arguments)],
        input=text,
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


def expect(code, arguments, text=b"", out=None, err=None):
    """Run, and check the exit code and what must be in stdout and stderr."""
    got, stdout, stderr = turnstile(*arguments, text=text)
    shown = f"turnstile {' '.join(map(str, arguments))} <<< {text!r}"
    check(got == code, f"{shown}: exit code {got}, not {code}: {stderr.decode(errors='replace')}")
    if out is not None:
        check(out in stdout.decode(errors="replace"), f"{shown}: no {out!r} in {stdout!r}")
    if err is not None:
        check(
            err in stderr.decode(errors="replace"),
            f"{shown}: no {err!r} in {stderr.decode(errors='replace')!r}",
        )
    return stdout, stderr


class Files:
    """A folder of small files."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()

    def __call__(self, name, content):
        path = pathlib.Path(self.folder.name) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            content
            if isinstance(content, bytes)
            else (content if isinstance(content, str) else json.dumps(content)).encode()
        )
        return path


files = Files()
PAIR = files(
    "pair.json",
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    },
)
DATE = files("date.json", {"type": "string", "format": "date"})
REMOTE = files("remote.json", {"$ref": "https://example.com/defs/int.json"})
files("defs/int.json", {"type": "integer", "minimum": 5})
EVIL = files("evil.json", {"$ref": "urn:here:../pair.json"})
TUPLE = files("tuple.json", {"items": [{"type": "integer"}]})
BAD = files("bad.json", '{"type": ["integer", 7]}')
BROKEN = files("broken.json", '{"type": ')
NOTHING = files("nothing.json", {"type": "string", "minLength": 3, "maxLength": 2})
SUM = files("sum.gbnf", 'root ::= term ("+" term)*\nterm ::= [0-9]+\n')
BAD_GRAMMAR = files("bad.gbnf", 'root ::= nowhere "x"\n')

# exit code, arguments, text, part of stderr
CHECKS = [
    # schema
    (0, ["--schema", PAIR], '{"a": 1, "b": "x"}', None),
    (0, ["--schema", PAIR], '{"b":"x","a":1}\n', None),
    (0, ["--schema", PAIR], ' {"a":1}\r\n', None),
    (0, ["--schema", PAIR], '\n\t {"a":1} \n\n', None),
    (1, ["--schema", PAIR], ' {"a":"1"}\n', "stdin:1:7: byte offset 6"),
    (1, ["--schema", PAIR, "--ws", "compact"], ' {"a":1}', "byte offset 0"),
    (1, ["--schema", PAIR, "--order", "schema"], '{"b":"x","a":1}', "byte offset 2: expected "),
    (0, ["--schema", PAIR, "--order=any"], '{"b":"x","a":1}', None),
    (1, ["--schema", PAIR], '{"a": "x"}', "byte offset 6: expected "),
    (1, ["--schema", PAIR], '{"b": "x"}', "byte offset 9: expected "),
    (1, ["--schema", PAIR], '{"a": 1', "found the end of the text"),
    (1, ["--schema", PAIR], "", "byte offset 0: expected "),
    (1, ["--schema", PAIR], '{"a": 1}}', "byte offset 8: expected the end of the text"),
    (1, ["--schema", PAIR], '{"a":\n "x"}', "stdin:2:2: byte offset 7"),
    (1, ["--schema", PAIR], b'{"a":1,"b":"\xff"}', "byte offset 12: expected "),
    (1, ["--schema", PAIR, "--ws", "compact"], '{"a": 1}', "byte offset 5"),
    (0, ["--schema", DATE], '"2024-02-29"', None),
    (1, ["--schema", DATE], '"2023-02-29"', "byte offset "),
    (1, ["--schema", DATE, "--formats", "assert"], '"x"', "byte offset 1"),
    (0, ["--schema", DATE, "--formats", "ignore"], '"x"', None),
    (0, ["--schema", TUPLE, "--draft", "7"], "[1, 2]", None),
    (1, ["--schema", TUPLE, "--draft", "7"], '["1"]', "byte offset 1"),
    (2, ["--schema", TUPLE, "--draft", "2"], "[]", "--draft"),
    (
        0,
        ["--schema", REMOTE, "--resolve", f"https://example.com/defs/={files.folder.name}/defs"],
        "7",
        None,
    ),
    (
        1,
        ["--schema", REMOTE, "--resolve", f"https://example.com/defs={files.folder.name}/defs"],
        "4",
        "byte offset ",
    ),
    (2, ["--schema", REMOTE], "7", "https://example.com/defs/int.json"),
    (
        2,
        ["--schema", EVIL, "--resolve", f"urn:here:={files.folder.name}/defs"],
        "{}",
        "urn:here:../pair.json",
    ),
    (2, ["--schema", REMOTE, "--resolve", "nonsense"], "7", "--resolve"),
    (2, ["--schema", BAD], "7", "at /type"),
    (2, ["--schema", BROKEN], "7", "TSL_ERR_SYNTAX"),
    (2, ["--schema", NOTHING], '""', "TSL_ERR_EMPTY"),
    (2, ["--schema", files.folder.name + "/missing.json"], "7", "missing.json"),
    # regex
    (0, ["--regex", "a+b?"], "aaab", None),
    (0, ["--regex", "a+b?"], "aa\n", None),
    (
        1,
        ["--regex", "a+b?"],
        "aac",
        "byte offset 2: expected the end of the text or one of 'a', 'b', found \"c\"",
    ),
    (1, ["--regex", "a+b?"], "", "expected one of 'a', found the end of the text"),
    (0, ["--regex", "b+", "--search"], "abba", None),
    (0, ["--regex", "ABC", "--ignore-case"], "aBc", None),
    (1, ["--regex", "a.c"], "a\nc", "byte offset 1"),
    (0, ["--regex", "a.c", "--dot-all"], "a\nc", None),
    (2, ["--regex", "a(b"], "ab", "regex:1:"),
    # grammar
    (0, ["--grammar", SUM], "1+22+333", None),
    (1, ["--grammar", SUM], "1++2", "byte offset 2: expected one of '0'–'9', found \"+2\""),
    (0, ["--grammar", SUM, "--root", "term"], "12", None),
    (1, ["--grammar", SUM, "--root", "term"], "1+2", "byte offset 1"),
    (2, ["--grammar", BAD_GRAMMAR], "x", "nowhere"),
    (2, ["--grammar", SUM, "--root", "other"], "1", "other"),
    # Lark
    (0, ["--lark", "schemas/grammars/tool_call.lark"], "It rains.", None),
    (1, ["--lark", "schemas/grammars/tool_call.lark"], "<tool_call>{}", "byte offset 12"),
    # calls
    (2, [], "x", "one of --schema, --regex, --grammar, --lark and --artifact"),
    (2, ["--regex", "a", "--regex", "b"], "a", "--regex"),
    (2, ["--regex", "a", "--order", "up"], "a", "--order"),
    (2, ["--regex", "a", "--nonsense"], "a", "no option --nonsense"),
    (2, ["--regex", "a", "--search=1"], "a", "takes no value"),
]


def checks():
    for code, arguments, text, err in CHECKS:
        expect(code, ["check", *arguments, "-"], text=text, err=err)
    expect(2, ["check", "--regex"], err="needs a value")
    expect(2, ["check", "--regex", "a"], err="one text is needed")
    expect(2, ["check", "--regex", "a", "x", "y"], err="one text is needed")
    expect(2, ["check", "--regex", "a", files.folder.name + "/none.txt"], err="none.txt")
    for call in (
        ["check", "--schema", "-", "-"],
        ["extract", "--schema", "-", "-"],
        ["mask", "--schema", "-", "--prefix-file", "-"],
        ["explain", "--schema", "-", "--text", "-"],
    ):
        expect(2, call, text="{}", err="stdin can be read only once")
    expect(0, ["check", "--schema", "-", files("seven.txt", "7\n")], text='{"const": 7}')
    expect(1, ["check", "--regex", "b*", files("a.txt", "a")], err="a.txt:1:1: byte offset 0")
    expect(0, ["check", "--regex", "-a", "--", files("dash.txt", "-a")])


def messages():
    """What is wrong is said, once, and what can be done about it."""
    other = files("no_vocab.json", '{"type": "integer"}')
    for arguments, err in [
        (
            ["generate", "--regex", "a", "-n", "x"],
            "generate: -n x: not a whole number from 1 to 4294967295\n",
        ),
        (
            ["generate", "--regex", "a", "--top-p", "2"],
            "generate: --top-p 2: not a number from 0 to 1\n",
        ),
        (
            ["check", "--schema", PAIR, "--ws", "foo", "-"],
            "check: --ws foo: the value is none of any|compact|at-most:N|pretty[:INDENT]\n",
        ),
        (
            ["check", "--schema", PAIR, "--ws", "at-most:x", "-"],
            "check: --ws at-most:x: not a whole number from 0 to 1000\n",
        ),
        (
            ["check", "--schema", PAIR, "--order", "up", "-"],
            "check: --order up: the value is none of any|schema\n",
        ),
        (
            ["check", "--schema", PAIR, "--regex", "a", "-"],
            "check: --regex a: one of --schema, --regex, --grammar, --lark and --artifact is given "
            "already\n",
        ),
        (["check", "--schema", PAIR, "--resolve", "x", "-"], "check: --resolve x: not URL=DIR\n"),
        (["check", "--schema", PAIR, "--vocab", "", "-"], "check: --vocab: the value is empty\n"),
        (
            ["tools", "--preset", "qwen3", "--tools", other, "--vocab-cache", ""],
            "tools: --vocab-cache: the value is empty\n",
        ),
        (
            ["mask", "--regex", "a", "--vocab", other],
            ": this JSON is no tokenizer.json: there is no",
        ),
        (["mask", "--artifact", other], f"turnstile: {other}: is no artifact"),
        (["mask", "--artifact", "/nowhere/x"], "turnstile: /nowhere/x: there is no such file"),
        (
            ["mask", "--regex", "a", "--vocab", "/nowhere/x"],
            "turnstile: /nowhere/x: cannot be opened",
        ),
        (
            ["compile", "--schema", PAIR, "-o", "/nowhere/x"],
            "turnstile: /nowhere/x: cannot be written",
        ),
        (
            ["check", "--grammar", files("start.gbnf", 'start ::= "a"'), "-"],
            'the grammar has no rule "root"; --root NAME says which one is the start [',
        ),
        (
            ["check", "--grammar", files("start.gbnf", 'start ::= "a"'), "--root", "x", "-"],
            'the grammar has no rule "x" [',
        ),
        (
            [
                "generate",
                "--schema",
                PAIR,
                "--vocab",
                files("small.json", {"model": {"type": "BPE", "vocab": {"{": 0}, "merges": []}}),
            ],
            'the vocabulary has no token that may come next, and the text is not complete: "{"\n',
        ),
        (
            ["check", "--schema", files("refers.json", '{"$ref": "other.json"}'), "-"],
            "no document is known for <other.json>; --base URI is the schema's own, and --resolve "
            "URL=DIR says where such documents are [",
        ),
        (["tools", "--preset", "qwen4", "--tools", other], "no preset or file qwen4; see --list\n"),
        (["tools", "--preset", "qwen3", "--tools", other], "this is no request"),
    ]:
        expect(2, arguments, err=err)
    for command in ["mask", "tools"]:
        expect(
            0,
            [command, "--help"],
            out="GGUF, SentencePiece's tokenizer.model or Mistral's tekken.json",
        )
    expect(0, ["generate", "--help"], out="Of an artifact it is not known that it is JSON")
    for command, listed in [("extract", False), ("check", True)]:
        stdout, _ = expect(0, [command, "--help"], out="--schema F ")
        check(
            all(
                (option in stdout) == listed for option in (b"--grammar", b"--root", b"--artifact")
            ),
            f"{command} --help: {stdout!r}",
        )
    stdout, _ = expect(0, ["explain", "--schema", PAIR], out="for the vocabulary's tables")
    compiled, tables = re.search(rb"compiled in ([0-9.]+) .*, after (\d+) ", stdout).groups()
    check(float(compiled) < float(tables), f"compiled in {compiled}, the tables in {tables}")


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


def artifacts():
    schema = '{"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3}'
    out = files("out.tslgrammar", "")
    stdout, _ = expect(0, ["compile", "--schema", "-", "-o", out], text=schema, out="complete")
    check(
        re.search(rb"states [1-9]\d*  walks [1-9]\d*", stdout),
        f"states and walks are counted: {stdout!r}",
    )
    expect(0, ["compile", "--inspect", out], out="source kept")
    expect(0, ["check", "--artifact", out, files("good.json", '["a","b"]')])
    expect(1, ["check", "--artifact", out, files("bad.json", '["a","c"]')], err="byte offset 6")
    by_artifact = expect(0, ["mask", "--artifact", out, "--prefix", '["a",'])[0]
    check(
        by_artifact
        == expect(
            0,
            ["mask", "--schema", "-", "--prefix", '["a",', "--order", "schema", "--ws", "any"],
            text=schema,
        )[0],
        "equal masks",
    )
    many = (
        '{"type": "object", "patternProperties": {"^(a|b|c)+$": true}, "maxProperties": 9, '
        '"additionalProperties": false}'
    )
    expect(
        0,
        ["compile", "--schema", "-", "-o", out, "--max-states", "20"],
        text=many,
        out="the source alone",
    )
    expect(0, ["check", "--artifact", out, files("good.json", '{"abc": 1}')])
    expect(
        2,
        ["compile", "--schema", "-", "-o", out, "--max-states", "20", "--must-be-complete"],
        text=many,
        err="max_states",
    )
    expect(
        2, ["compile", "--schema", "-", "-o", "/nowhere/x"], text=schema, err="cannot be written"
    )
    # What is no file is not replaced: the target of a link is, and into a pipe the bytes are
    # written.
    whole, target, link, pipe = (
        out.read_bytes(),
        files("target", "before"),
        pathlib.Path(files.folder.name, "link"),
        pathlib.Path(files.folder.name, "pipe"),
    )
    link.symlink_to(target.name)
    expect(
        0,
        ["compile", "--schema", "-", "-o", link, "--max-states", "20"],
        text=many,
        out="link: the source alone",
    )
    check(
        link.is_symlink() and target.read_bytes() == whole,
        "a link stays, and its target is the artifact",
    )
    target.unlink()
    expect(2, ["compile", "--regex", "a", "-o", link], err="a link that leads nowhere")
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
    expect(0, ["compile", "--schema", "-", "-o", pipe, "--max-states", "20"], text=many)
    check(reader.communicate(timeout=60)[0] == whole and pipe.is_fifo(), "a pipe is written into")
    expect(2, ["compile", "--regex", "a", "-o", files.folder.name], err="directory")
    stdout, _ = expect(
        0,
        ["compile", "--schema", "-", "-o", "-", "--max-states", "20"],
        text=many,
        err="stdout: the source alone",
    )
    check(stdout == whole and not (ROOT / "-").exists(), "-o -: stdout is the artifact")
    expect(0, ["check", "--artifact", "-", files("good.json", '{"abc": 1}')], text=whole)
    expect(0, ["compile", "--inspect", "-"], text=whole, out="stdin: the source alone")
    expect(
        2,
        ["check", "--artifact", "-", files("good.json", '{"abc": 1}')],
        text="rubbish" * 100,
        err="stdin: ",
    )
    expect(2, ["compile", "--schema", "-"], text=schema, err="-o F is needed")
    expect(2, ["compile", "--inspect", files("no.artifact", "rubbish" * 100)], err="no artifact")
    expect(2, ["mask", "--artifact", files("no.artifact", "rubbish" * 100)], err="no artifact")
    expect(2, ["extract", "--artifact", out, files("good.json", "[]")], err="no captures")


def usage():
    for command in ["generate", "check", "mask", "explain", "extract", "tools", "compile", "demo"]:
        stdout, _ = expect(0, [command, "--help"], out=f"usage: turnstile {command}")
        option = b"--preset NAME" if command == "tools" else b"--schema F"
        check(
            b"exit codes:" in stdout and option in stdout,
            f"{command} --help: exit codes and options",
        )
        check(
            all(
                (name in stdout) == (command not in ("extract", "tools"))
                for name in (b"--grammar", b"--artifact")
            ),
            f"{command} --help: sources that it takes, and no others",
        )
    stdout, _ = expect(0, ["--help"], out="usage: turnstile COMMAND")
    check(
        all(
            name.encode() in stdout
            for name in [
                "generate",
                "check",
                "mask",
                "explain",
                "extract",
                "tools",
                "compile",
                "demo",
            ]
        ),
        "--help lists the commands",
    )
    expect(2, [], err="usage:")
    expect(2, ["fly"], err="no command fly")
    stdout, _ = expect(0, ["--version"])
    check(re.fullmatch(rb"turnstile \d+\.\d+\.\d+\n", stdout), f"--version: {stdout!r}")
    for option, kind, source in (
        ("--ws compact", "--schema", "--regex a"),
        ("--search", "--regex", "--schema x.json"),
        ("--root r", "--grammar", "--artifact x"),
        ("--order any", "--schema", "--grammar x"),
    ):
        expect(
            2,
            ["mask", *source.split(), *option.split()],
            err=rf"{option.split()[0]} goes with {kind}",
        )


def cannot_write():
    """A file that cannot be written is an error at once."""
    for arguments in (
        ["--version"],
        ["--help"],
        ["help"],
        ["check", "--help"],
        ["generate", "--regex", "a"],
        ["generate", "--regex", "[a-z]+", "-n", "100000000"],
        ["generate", "--schema", EXAMPLES / "person.json", "--events", "-n", "100000000"],
        ["compile", "--regex", "a", "-o", "-"],
    ):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            [CLI, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            timeout=60,
            preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN),
            restore_signals=False,
        )
        os.close(writer)
        check(
            done.returncode == 2 and b"stdout: cannot" in done.stderr,
            f"{arguments}: {done.returncode} {done.stderr!r}",
        )


def strange_names():
    """What a stranger wrote moves no terminal and makes no line of its own; as JSON it is whole,
    and JSON whatever the bytes are.
    """
    name = "a\nbreaks         /forged: x\u001b]0;y\u0007\u009b\u007f"
    schema = files(
        "strange.json",
        {
            "type": "object",
            "additionalProperties": False,
            "required": [name],
            "properties": {name: {"type": "string", "minLength": 1, "if": True}},
        },
    )
    for text in (
        expect(1, ["check", "--profile", "openai-strict", "--schema", schema])[0],
        expect(
            2,
            [
                "check",
                "--schema",
                files("strange.json", {"properties": {name: {"type": "x"}}}),
                "-",
            ],
        )[1],
        expect(2, ["generate", "--regex", "a", "--nonsense\n\033[1m"])[1],
    ):
        check(
            b"\\n" in text
            and not re.search(rb"^breaks +/forged|[\x00-\x09\x0b-\x1f\x7f]|\xc2\x9b", text, re.M),
            f"{text!r}",
        )
    escaped = name.replace("/", "~1")
    _, stderr = expect(2, ["check", "--json", "--schema", schema, "-"])
    check(
        json.loads(stderr)["error"]["pointer"] == f"/properties/{escaped}/type", f"JSON: {stderr!r}"
    )
    expect(2, ["mask", "--regex", "§", "--prefix-file", "§é°.txt"], err="§é°.txt: No such file")
    expect(1, ["check", "--schema", PAIR, "-"], text="\ufeff{}", err='found "\\xef\\xbb\\xbf{}"')
    for unseen in "\u00ad\u200b\u200f\u2028\u202e\u2066\ufeff":
        expect(2, ["check", "--schema", f"a{unseen}b.json", "-"], err=repr(unseen.encode())[2:-1])
    path = os.fsencode(files.folder.name) + b"/b\xff.json"
    pathlib.Path(os.fsdecode(path)).write_text('{"type": "integer"}')
    done = subprocess.run([CLI, "trace", "--schema", path, "--json"], capture_output=True, cwd=ROOT)
    check(
        json.loads(done.stdout)["grammar"]["name"].endswith("/b\ufffd.json"),
        f"a name that is no UTF-8: {done.stdout[:200]!r}",
    )
    done = subprocess.run(
        [CLI, "check", "--schema", path + b"x", "--json", "-"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=ROOT,
    )
    check(
        "b\ufffd.json" in json.loads(done.stderr)["error"]["message"],
        f"a name that is no UTF-8: {done.stderr!r}",
    )


def validator_for(schema):
    """A function that says what jsonschema finds wrong, or None if it is not installed."""
    try:
        import jsonschema
    except ImportError:
        return None
    kind = jsonschema.validators.validator_for(schema)
    return lambda value: [
        e.message for e in kind(schema, format_checker=kind.FORMAT_CHECKER).iter_errors(value)
    ]


def generate_schemas():
    judged = True
    for path in SCHEMAS:
        schema = json.loads(
            path.read_text(), parse_float=decimal.Decimal
        )  # a float 0.01 would divide nothing
        validate = validator_for(schema)
        judged = judged and validate is not None
        for extra in [
            [],
            ["--temperature", "0.7", "--top-k", "40", "--top-p", "0.95", "--min-p", "0.02"],
            ["--max-tokens", "100"],
            ["--order", "any"],
        ]:
            stdout, _ = expect(0, ["generate", "--schema", path, "-n", "8", "--seed", "5", *extra])
            lines = stdout.decode().split("\n")
            check(len(lines) == 9 and lines[8] == "", f"{path.name} {extra}: one text per line")
            for line in lines[:-1]:
                errors = validate(json.loads(line, parse_float=decimal.Decimal)) if validate else []
                check(not errors, f"{path.name} {extra}: {line}: {errors}")
                expect(0, ["check", "--schema", path, "-"], text=line)
    if not judged:
        skip("jsonschema is not installed: texts of the example schemas were judged by check alone")
    for ws in ["any", "at-most:1", "pretty", "pretty:4"]:
        stdout, _ = expect(0, ["generate", "--schema", PAIR, "-n", "6", "--ws", ws])
        for line in stdout.decode().splitlines():
            check(isinstance(json.loads(line)["a"], int), f"--ws {ws}: {line}")


REGEXES = [
    r"[a-z]{3,8}",
    r"\d{4}-\d{2}-\d{2}",
    r"(yes|no|maybe)",
    r"[A-Z][a-z]+( [A-Z][a-z]+)*",
    r"#[0-9a-f]{6}",
    r"(ab|ba)*c",
    r"x{0,50}",
    r"é{2}[а-я]+",
]


def generate_regexes():
    for regex in REGEXES:
        stdout, _ = expect(0, ["generate", "--regex", regex, "-n", "10", "--max-tokens", "40"])
        lines = stdout.decode().split("\n")[:-1]
        check(len(lines) == 10, f"{regex}: {len(lines)} lines")
        for line in lines:
            check(re.fullmatch(regex, line), f"{regex}: {line!r}")
    stdout, _ = expect(0, ["generate", "--regex", "a\\nb"])
    check(stdout == b"a\\nb\n", f"a line break is written as \\n: {stdout!r}")
    stdout, _ = expect(0, ["generate", "--regex", "a\\nb", "-0", "-n", "2"])
    check(stdout == b"a\nb\0a\nb\0", f"-0 writes it as it is: {stdout!r}")


def generate_grammars():
    check(len(GRAMMARS) >= 8, f"{len(GRAMMARS)} example grammars")
    for path in GRAMMARS:
        stdout, _ = expect(
            0, ["generate", "--grammar", path, "-n", "5", "-0", "--max-tokens", "80"]
        )
        texts = stdout.split(b"\0")[:-1]
        check(len(texts) == 5, f"{path.name}: {len(texts)} texts")
        for text in texts:
            expect(0, ["check", "--grammar", path, "-"], text=text)


def generate_options():
    call = ["generate", "--schema", EXAMPLES / "person.json", "-n", "4"]
    first, again, other = (turnstile(*call, "--seed", seed)[1] for seed in (1, 1, 2))
    check(first == again and first != other, "equal seeds give equal texts, others do not")
    greedy = turnstile(*call, "--temperature", "0")[1].split(b"\n")
    check(len(set(greedy[:-1])) == 1, "temperature 0 gives one text")
    stdout, stderr = expect(
        1,
        ["generate", "--schema", EXAMPLES / "person.json", "--max-tokens", "2"],
        err="was cut after 2 tokens",
    )
    check(stdout == b"", "a text that was cut is not written")
    for tokens in range(8, 40, 4):
        stdout, _ = expect(
            0,
            [
                "generate",
                "--regex",
                "[a-z ]*(\\([a-z ]*\\))*",
                "--max-tokens",
                tokens,
                "--seed",
                tokens,
            ],
        )
        expect(
            0,
            [
                "generate",
                "--schema",
                files("deep.json", {"type": "array", "items": {"$ref": "#"}, "maxItems": 3}),
                "--max-tokens",
                tokens,
            ],
        )
    stdout, _ = expect(
        0, ["generate", "--regex", "(the|thequ|zzzz)( name)?", "--beam", "8", "-n", "3"]
    )
    check(
        stdout.split(b"\n")[0] in (b"the", b"the name") and len(set(stdout.split(b"\n"))) == 4,
        "--beam finds likely texts, each once",
    )
    # The completion of the fewest bytes may take more tokens than another.
    for tokens in [2, 6, 19]:
        stdout, _ = expect(
            0, ["generate", "--regex", "[a-z]{20}", "--max-tokens", tokens, "-n", "4"]
        )
        check(
            len(stdout.split()) == 4
            and all(re.fullmatch(rb"[a-z]{20}", line) for line in stdout.split()),
            f"--max-tokens {tokens}: {stdout!r}",
        )
    expect(
        1, ["generate", "--regex", "[a-z]{20}", "--max-tokens", "1"], err="was cut after 1 tokens"
    )
    long = "a" * 20000  # each step looks whether it can be completed in time
    expect(0, ["generate", "--schema", files("long.json", {"const": long})], out=f'"{long}"\n')
    expect(
        1,
        ["generate", "--regex", "zqzqzq", "--beam", "2", "--max-tokens", "2"],
        err="max_tokens is 2, but the shortest completion takes",
    )
    stdout, _ = expect(
        0,
        [
            "generate",
            "--schema",
            files("long.json", {"type": "string", "minLength": 1500, "maxLength": 1600}),
        ],
    )
    check(
        1500 <= len(json.loads(stdout)) <= 1600,
        "without --max-tokens there is room for the shortest text",
    )
    for option, value in [
        ("--temperature", "-1"),
        ("--temperature", "x"),
        ("--top-p", "1.5"),
        ("--min-p", "-0.1"),
        ("--top-k", "-3"),
        ("-n", "0"),
        ("--max-tokens", "0"),
        ("--seed", "1x"),
        ("--ws", "wide"),
        ("--ws", "at-most:"),
        ("--max-nesting", "0"),
    ]:
        expect(2, ["generate", "--regex", "a", option, value], err=option)
    expect(2, ["generate", "--regex", "a", "x"], err="unexpected argument x")
    expect(2, ["generate", "--regex", "a", "--stats-below", "2"], err="--stats-below")
    record = pathlib.Path(files.folder.name, "record.json")
    expect(0, ["trace", "--regex", "a+", "--json", "-o", record])
    expect(0, ["trace", "--render", record], out="<html")
    expect(2, ["trace", "--render", record, "--json"], err="--render writes a page")


def generate_events():
    """The events of a text are its parts, in the order of writing: put together again they are the
    text that the same call writes without --events.
    """
    for seed in range(6):
        call = ["generate", "--schema", EXAMPLES / "person.json", "--seed", seed]
        text, events = (
            json.loads(expect(0, call)[0]),
            [json.loads(line) for line in expect(0, [*call, "--events"])[0].splitlines()],
        )
        strings, leaves, open_values = {}, {}, []
        for event in events:
            if event["event"] == "begin":
                open_values.append((event["pointer"], event["value"]))
            elif event["event"] == "text":
                check(
                    open_values[-1] == (event["pointer"], "string") and event["text"],
                    "text belongs to the string that is open",
                )
                strings[event["pointer"]] = strings.get(event["pointer"], "") + event["text"]
            else:
                check(
                    open_values.pop() == (event["pointer"], event["value"]),
                    "the value that ends is the last one begun",
                )
                if event["value"] == "string":
                    leaves[event["pointer"]] = strings.get(event["pointer"], "")
                elif event["value"] not in ("object", "array"):
                    leaves[event["pointer"]] = json.loads(
                        event["text"] if event["value"] == "number" else event["value"]
                    )
        check(not open_values, "every value ends")

        def flat(value, pointer=""):
            if isinstance(value, dict):
                return {
                    k: v
                    for name, item in value.items()
                    for k, v in flat(item, f"{pointer}/{name}").items()
                }
            if isinstance(value, list):
                return {
                    k: v
                    for i, item in enumerate(value)
                    for k, v in flat(item, f"{pointer}/{i}").items()
                }
            return {pointer: value}

        check(flat(text) == leaves, "the events say what the text says")
    for bad in (
        ["--regex", "a", "--events"],
        ["--schema", EXAMPLES / "person.json", "--events", "--beam", "2"],
        ["--schema", EXAMPLES / "person.json", "--events", "-0"],
    ):
        expect(2, ["generate", *bad], err="--events")


def generate_wind_down():
    """From --wind-down tokens left on closing gets likelier: lists end earlier, and never in the
    middle of a string.
    """
    schema = files("list.json", {"type": "array", "items": {"type": "integer"}})
    call = [
        "generate",
        "--schema",
        schema,
        "-n",
        "30",
        "--max-tokens",
        "200",
        "--temperature",
        "4",
        "--wind-bias",
        "200",
    ]
    lengths = {wind: len(expect(0, [*call, "--wind-down", wind])[0]) for wind in ("0", "200")}
    check(lengths["200"] < 0.5 * lengths["0"], f"winding down shortens lists: {lengths}")
    check(
        expect(0, [*call, "--wind-down", "200", "--wind-bias", "0"])[0] == expect(0, call)[0],
        "a bias of 0 changes nothing",
    )
    print(
        f"       bytes of 30 lists: {lengths['0']} without, {lengths['200']} with --wind-down 200"
    )
    expect(2, ["generate", "--regex", "a", "--wind-down", "-1"], err="--wind-down")
    expect(2, ["generate", "--regex", "a", "--wind-bias", "x"], err="--wind-bias")


def generate_stats():
    schema = files(
        "odd.json",
        {
            "type": "object",
            "properties": {"a": {"type": "array", "items": {"const": "qqqq"}, "minItems": 2}},
            "required": ["a"],
        },
    )
    _, stderr = expect(0, ["generate", "--schema", schema, "--stats", "--temperature", "0"])
    check(
        re.search(r'^  byte \d+, after ".*", at "/a/1": .* allowed', stderr.decode(), re.M),
        "in a JSON text the step's value is named by its pointer",
    )
    # The model would never write qqqq: the grammar fights it, and the place is said.
    _, stderr = expect(0, ["generate", "--regex", "the qqqq", "--stats", "--temperature", "0"])
    lines = stderr.decode().splitlines()
    check(
        any(
            re.search(
                r'^  byte 4, after "the ": .* allowed; wanted ".*; wrote "q+"; expected one of '
                r"\'q\'$",
                line,
            )
            for line in lines
        ),
        "the step where the model is overruled is listed with its place",
    )
    check(
        re.search(
            r"^  \d+ tokens drawn, \d+ listed; log-probability -[\d.]+ nats before the mask, "
            r"-[\d.]+ after it",
            lines[-1],
        ),
        "the sums are printed",
    )
    taken = re.search(
        r"nats before the mask, (-[\d.]+) after it; the grammar took ([\d.]+)", lines[-1]
    )
    before = float(re.search(r"log-probability (-[\d.]+)", lines[-1]).group(1))
    check(
        taken and abs(before - (float(taken.group(1)) - float(taken.group(2)))) < 0.03,
        "log p before = log p after + log of the legal mass",
    )
    _, stderr = expect(
        0,
        ["generate", "--regex", "the qqqq", "--stats", "--stats-below", "0", "--temperature", "0"],
    )
    check(
        len(stderr.decode().splitlines()) == 1 and b" 0 listed" in stderr,
        "with the threshold at 0 no step is listed",
    )
    check(
        expect(0, ["generate", "--regex", "the qqqq"])[1] == b"", "without --stats nothing is said"
    )


def vocabularies():
    words = [b"the", b" the", b"name", b'":', b'{"', b'"}', b"an"]
    tokens = [bytes([b]) for b in range(256)] + words
    lines = b"".join(base64.b64encode(t) + b" %d\n" % i for i, t in enumerate(tokens))
    path = files("cl100k_base.tiktoken", lines)  # the name tells the loader how to split text
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
        (r"(?<a>x{,2})", "x{,2}", "x{,2}"),
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
    expect(2, ["extract", "-"], text="a", err="one of --schema and --regex is needed")
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


def demonstration():
    stdout, _ = expect(0, ["demo"], out="legal")
    given, _ = expect(0, ["demo", "--seed", "7", "--temperature", "0.8"])
    check(given.splitlines()[-1] == stdout.splitlines()[-1], "the defaults are those of --help")
    expect(0, ["demo", "--help"], out="demo: 7")
    lines = stdout.decode().rstrip("\n").split("\n")
    call = json.loads(lines[-1])
    check(set(call) == {"name", "arguments"}, f"the call comes last: {lines[-1]}")
    validate = validator_for(json.loads((EXAMPLES / "tool-call.json").read_text()))
    if validate:
        check(not validate(call), f"the call is valid: {call}")
    steps = [line for line in lines if re.match(r" *\d+ +\d+ ", line)]
    check(len(steps) >= 5 and all("µs" in line for line in steps), f"a line per step: {len(steps)}")
    spelled = "".join(json.loads(line[line.index('"') :].replace("\\x", "\\u00")) for line in steps)
    check(spelled == lines[-1], f"the tokens spell the call: {spelled!r}")


def on_a_terminal(arguments, env):
    """stderr of the tool where it is a terminal."""
    parent, child = pty.openpty()
    subprocess.run(
        [CLI, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=child,
        cwd=ROOT,
        env={**os.environ, **env},
    )
    os.close(child)
    data = b""
    try:
        while block := os.read(parent, 4096):
            data += block
    except OSError:
        pass  # the other end is closed
    os.close(parent)
    return data


def colours():
    call = ["check", "--regex", "a", files("b.txt", "b")]
    check(b"\033[" in on_a_terminal(call, {"NO_COLOR": ""}), "colour on a terminal")
    check(b"\033[" not in on_a_terminal(call, {"NO_COLOR": "1"}), "NO_COLOR is respected")
    check(b"\033[" not in turnstile(*call, env={"NO_COLOR": ""})[2], "no colour into a pipe")


PARTS = [
    (usage, "usage and --help"),
    (checks, "check: exit codes, offsets, what was expected"),
    (generate_schemas, "generate: schemas, judged by jsonschema"),
    (generate_regexes, "generate: regexes, judged by re"),
    (generate_grammars, "generate: example grammars"),
    (generate_options, "generate: seeds, limits, bad values"),
    (generate_stats, "generate: where the grammar fights the model"),
    (generate_events, "generate: events"),
    (generate_wind_down, "generate: winding down"),
    (vocabularies, "vocabularies from files"),
    (masks, "mask"),
    (explanations, "explain"),
    (json_errors, "--json: errors"),
    (profiles, "--profile"),
    (extraction, "extract"),
    (messages, "what is wrong is said"),
    (artifacts, "compile, and --artifact"),
    (cannot_write, "a file that cannot be written is an error"),
    (strange_names, "names out of strangers' files"),
    (tool_calls, "tools"),
    (demonstration, "demo"),
    (colours, "colour only on a terminal"),
]


def main():
    if not os.access(CLI, os.X_OK):
        print(f"  skipped: no program {CLI}\n0 passed, 0 failed, 1 skipped")
        return 1
    only = sys.argv[1:]
    for part, what in PARTS:
        if only and part.__name__ not in only:
            continue
        before, wrong = passed, failed
        part()
        print(
            f"  {'ok  ' if failed == wrong else 'FAIL'} {part.__name__:<20} {what} "
            f"({passed - before + failed - wrong} checks)",
            flush=True,
        )
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
