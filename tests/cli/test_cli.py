#!/usr/bin/env python3
"""The command line tool, run as a program: exit codes, messages, files, and what stands on a
terminal.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import pty
import re
import signal
import subprocess

from cli_checks import CLI, EXAMPLES, PAIR, ROOT, SUM, check, expect, files, run, turnstile

DATE = files("date.json", {"type": "string", "format": "date"})
REMOTE = files("remote.json", {"$ref": "https://example.com/defs/int.json"})
files("defs/int.json", {"type": "integer", "minimum": 5})
EVIL = files("evil.json", {"$ref": "urn:here:../pair.json"})
TUPLE = files("tuple.json", {"items": [{"type": "integer"}]})
BAD = files("bad.json", '{"type": ["integer", 7]}')
BROKEN = files("broken.json", '{"type": ')
NOTHING = files("nothing.json", {"type": "string", "minLength": 3, "maxLength": 2})
BAD_GRAMMAR = files("bad.gbnf", 'root ::= nowhere "x"\n')

# exit code, arguments, text, part of stderr
CHECKS = [
    # one dialect
    (
        2,
        ["--regex", "a{,3}"],
        "aa",
        "regex:1:2 (byte 1): a count that repeats nothing, or without its least",
    ),
    (2, ["--regex", "{2}"], "aa", "regex:1:1 (byte 0): a count that repeats nothing"),
    (0, ["--regex", "a{0,3}b{"], "aab{", None),
    # schema
    (0, ["--schema", PAIR], '{"a": 1, "b": "x"}', None),
    (0, ["--schema", PAIR], '{"b":"x","a":1}\n', None),
    (0, ["--schema", PAIR], ' {"a":1}\r\n', None),
    (0, ["--schema", PAIR], '\n\t {"a":1} \n\n', None),
    (1, ["--schema", PAIR], ' {"a":"1"}\n', "stdin:1:7: byte offset 6"),
    (1, ["--schema", PAIR, "--ws", "compact"], ' {"a":1}', "byte offset 0"),
    (1, ["--schema", PAIR, "--order", "schema"], '{"b":"x","a":1}', "byte offset 2: expected "),
    (0, ["--schema", PAIR, "--order=any"], '{"b":"x","a":1}', None),
    (
        0,
        ["--schema", PAIR],
        '{"b":"x","a":1}',
        "stdin:1:3: byte offset 2: valid; members not in the schema's order, which generation",
    ),
    (
        0,
        ["--schema", PAIR],
        '{"a": 1e1, "b": "x"}',
        "stdin:1:7: byte offset 6: valid; spelled otherwise: `1e1`; generation asks for plain",
    ),
    (
        0,
        ["--schema", PAIR],
        '{"a":10.0}',
        "stdin:1:6: byte offset 5: valid; spelled otherwise: `10.0`",
    ),
    (
        0,
        ["--schema", PAIR],
        '{"\\u0061":1}',
        'stdin:1:2: byte offset 1: valid; spelled otherwise: `"\\u0061"`',
    ),
    (
        0,
        ["--schema", PAIR],
        '{\n\n\n"a":1}',
        "stdin:3:1: byte offset 3: valid; more white space than generation asks for",
    ),
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
    (
        2,
        [],
        "x",
        "one of --schema, --regex, --grammar, --lark, --ebnf, --abnf, --request and --artifact",
    ),
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
        ["sample", "--logits", "-", "--without", "-"],
        ["sample", "--weak", "-"],  # the rows come from stdin where no file is named
        ["sample", "--schema", "-"],
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
            "check: --ws foo: the value is none of plain[:LINES:COLUMNS]|compact|at-most:N|"
            "pretty[:INDENT]|any\n",
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
            "check: --regex a: one of --schema, --regex, --grammar, --lark, --ebnf, --abnf, "
            "--request and --artifact is given already\n",
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
        (["tools", "--preset", "qwen4", "--tools", other], "the nearest presets: qwen3"),
        (["tools", "--preset", "qwen3", "--tools", other], "this is no request"),
    ]:
        expect(2, arguments, err=err)
    for command in ["mask", "tools"]:
        expect(
            0,
            [command, "--help"],
            out="GGUF, SentencePiece's tokenizer.model or Mistral's tekken.json",
        )
    expect(0, ["generate", "--help"], out="An artifact does not say that its texts are JSON")
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
            ["mask", "--schema", "-", "--prefix", '["a",', "--order", "schema", "--ws", "plain"],
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


run(
    [
        (usage, "usage and --help"),
        (checks, "check: exit codes, offsets, what was expected"),
        (messages, "what is wrong is said"),
        (artifacts, "compile, and --artifact"),
        (cannot_write, "a file that cannot be written is an error"),
        (strange_names, "names out of strangers' files"),
        (colours, "colour only on a terminal"),
    ]
)
