#!/usr/bin/env python3
"""Answers as the chat templates of the model families write them are read back, whole, and some
byte by byte. They hold text, thinking, one call and two, Unicode, empty arguments, nested values,
and a string with a line break and quotes. Each preset has a writer (tool_writers.py). Where a
package has the tokenizer of the family, the answers are read token by token, too.

  cases      answers of particular models that were read wrongly once
  own        a preset whose markers cannot be distinguished from text is an error
  alike      so is one whose parts are found by the same text; it names both

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from tool_writers import GLM, MARKER, QWEN, WRITERS, as_json, write

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tally  # noqa: E402 - the folder is no package
from share import turn  # noqa: E402
from tally import check  # noqa: E402

CLI = os.environ.get("TSL_CLI", str(ROOT / "build" / "turnstile"))
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))
VOCABS = pathlib.Path(os.environ.get("TSL_VOCABS", str(ROOT / "build" / "vocabs")))
LLAMA = pathlib.Path(os.environ.get("TSL_LLAMA", ROOT / "build" / "llama.cpp")) / "models"
PRESETS = [p.stem for p in sorted((ROOT / "schemas" / "tools").glob("*.json"))]


def schema(required=(), closed=True, **properties):
    out = {"type": "object", "properties": properties, "required": list(required)}
    return out | {"additionalProperties": False} if closed else out


TOOLS = {
    "get_weather": schema(
        ["city"], city={"type": "string"}, days={"type": "integer"}, metric={"type": "boolean"}
    ),
    "write_file": schema(
        ["path", "content"],
        path={"type": "string"},
        content={"type": "string"},
        meta={"type": "object"},
        lines={"type": "array", "items": {"type": "integer"}},
    ),
    "get_time": schema(),
    "fs_read-file_v2": schema(["path"], closed=False, path={"type": "string"}),
}
REQUEST = {
    "tools": [
        {"type": "function", "function": {"name": name, "parameters": parameters}}
        for name, parameters in TOOLS.items()
    ]
}
TIME = ("get_time", {})
PARIS = ("get_weather", {"city": "Paris", "days": 3})
LONDON = ("get_weather", {"city": "Ł漢 😀", "days": -1, "metric": True})
FILE = ("write_file", {"path": "a", "content": 'say "hi",\n  then </x> \\ end'})
META = (
    "write_file",
    {"path": "a", "content": "", "meta": {"k": {"l": ["x", 1.5, None]}}, "lines": [1, 2]},
)
READ = ("fs_read-file_v2", {"path": "/etc/ünïx"})

# reasoning, content, calls
ANSWERS = [
    (None, "Hello, I am here.", []),
    (None, "Ł漢 😀\n\n two\n", []),
    ("I think.", "Hello.", []),
    (None, "", [TIME]),
    (None, "", [PARIS]),
    (None, "", [LONDON, TIME]),
    ("I must call.", "", [PARIS, FILE]),
    (None, "Let me look.", [FILE]),
    ("Think\n\ntwice.", "Let me look.", [META, TIME]),
    (None, "", [READ, READ]),
]


def parse(preset, texts, folder, request, *options):
    """The lines that the tool writes about these answers."""
    answer = folder / "answer.txt"
    answer.write_bytes(b"\0".join(t.encode() for t in texts))
    command = [CLI, "tools", "--preset", preset, "--tools", request, "--parse", answer, *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    check("--null" in options or not done.returncode, preset, repr(texts), done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def joined(parts, kind):
    return "".join(part["text"] for part in parts if part["part"] == kind)


# The tokenizer of one model of a family, where a package has it.
TOKENIZERS = {
    "command": LLAMA / "ggml-vocab-command-r.gguf",
    "deepseek-v3": VOCABS / "deepseek_v3" / "tokenizer.json",
    "deepseek-v3.1": VOCABS / "deepseek_v3" / "tokenizer.json",
    "functionary-v3.1": VOCABS / "llama3_1" / "tokenizer.json",
    "functionary-v3.2": VOCABS / "llama3_1" / "tokenizer.json",
    "functiongemma": VOCABS / "gemma3" / "tokenizer.json",
    "gemma3": VOCABS / "gemma3" / "tokenizer.json",
    "gemma4": LLAMA / "ggml-vocab-gemma-4.gguf",
    "gpt-oss": VOCABS / "gptoss" / "tokenizer.json",
    "granite-20b": LLAMA / "ggml-vocab-starcoder.gguf",
    "hermes": VOCABS / "llama3_1" / "tokenizer.json",
    "internlm": VOCABS / "internlm2" / "tokenizer.json",
    "llama3": VOCABS / "llama3_1" / "tokenizer.json",
    "mistral": VOCABS / "mistral" / "mistral_instruct_tokenizer_240323.model.v3",
    "mistral-v11": VOCABS / "mistral" / "tekken_240911.json",
    "phi4": VOCABS / "o200k_base.tiktoken",
    "phi4-functools": VOCABS / "o200k_base.tiktoken",
    "qwen3": VOCABS / "qwen3" / "tokenizer.json",
    "qwen3-coder": LLAMA / "ggml-vocab-qwen35.gguf",
    "xlam": VOCABS / "llama3_1" / "tokenizer.json",
}


def plain(text, marks):
    for mark in marks:
        text = text.removeprefix(mark).removesuffix(mark)
    return text


def token_by_token(preset, texts, whole, folder, request):
    file = TOKENIZERS.get(preset)
    if not file:
        return
    if not file.exists():
        tally.skip(f"{preset}: {file} is not there (./dev fetch)")
        return
    if preset == "gpt-oss":  # there <|call|> ends a generation: each has one call
        texts = [re.sub(r"(?<=<\|call\|>).*", "", text, flags=re.S) for text in texts]
        whole = parse(preset, texts, folder, request, "--null")
    options = ["--null", "--tokens", "--vocab", file, "--vocab-cache", file.parent]
    read = parse(preset, texts, folder, request, *options)
    check(len(read) == len(texts), "token by token", preset, len(read))
    for text, parsed, wanted in zip(texts, read, whole, strict=False):
        if ".model" in file.name and parsed:  # SentencePiece writes a space in front
            parsed["content"] = parsed["content"].removeprefix(" ")
        check(parsed == wanted, "token by token", preset, repr(text), parsed)


def published(folder, request):
    for number, preset in enumerate(PRESETS):
        form = WRITERS.get(preset)
        check(form is not None, "no writer for", preset)
        answers = [
            (reasoning, "" if content and calls and form.get("either") else content, calls)
            for reasoning, content, calls in (ANSWERS if form else [])
            if reasoning is None or "think" in form
        ]
        texts = [write(form, *answer) for answer in answers]
        read = parse(preset, texts, folder, request, "--null")
        check(len(read) == len(texts), "answers", preset, len(read))
        for (reasoning, content, calls), text, parsed in zip(answers, texts, read, strict=False):
            where = (preset, repr(text), parsed)
            if not parsed:
                check(False, "not read", *where)
                continue
            got = [(c["name"], c["arguments"]) for c in parsed["calls"]]
            check(got == calls, "calls", *where)
            check(parsed["content"] == content, "content", *where)
            check(plain(parsed["reasoning"], ["\n"]) == (reasoning or ""), "reasoning", *where)
        if not turn(number, 2):
            continue
        token_by_token(preset, texts, read, folder, request)
        for text, parsed in list(zip(texts, read, strict=False))[-2:]:
            parts = parse(preset, [text], folder, request, "--stream")
            check(parsed and joined(parts, "text") == parsed["content"], "streamed", preset, text)
            check(
                parsed and joined(parts, "reasoning") == parsed["reasoning"],
                "streamed thinking",
                preset,
                text,
            )


QUIET = {
    "name": "run",
    "parameters": schema(
        ["cmd"],
        False,
        cmd={"type": "string"},
        env=dict(type="object", additionalProperties={"type": "string"}),
    ),
}
FREE = {"tools": [{"type": "function", "function": f} for f in (QUIET, {"name": "ping"})]}
NUMBER = {
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "x", "schema": schema(["a"], a={"type": "integer"})},
    }
}
COMPACT = '{"name":"get_weather","arguments":{"days":3,"city":"Paris"}}'
CASES = [  # preset, request, options, answer, content, reasoning, calls
    # what models write beside their formats
    ("qwen3", REQUEST, [], f"<tool_call>\n{COMPACT}\n</tool_call>", "", "", [PARIS]),
    ("qwen3", REQUEST, [], f"Hi\n<tool_call>{COMPACT}</tool_call>", "Hi", "", [PARIS]),
    ("hunyuan-a13b", REQUEST, [], f"<tool_calls>[{COMPACT}]</tool_calls>", "", "", [PARIS]),
    ("qwen3-coder", REQUEST, [], QWEN(0, *LONDON).replace("true", "True"), "", "", [LONDON]),
    ("glm4", REQUEST, [], GLM(0, *LONDON).replace("true", "True"), "", "", [LONDON]),
    (
        "qwen3",
        REQUEST,
        ["--order", "any"],
        as_json("<tool_call>\n", "}\n</tool_call>")(0, "get_weather", {"days": 3, "city": "Paris"}),
        "",
        "",
        [PARIS],
    ),
    ("glm4", NUMBER, [], '\n<think>x</think>\n{"a": 1}', '{"a": 1}', "x", []),
    (
        "command",
        REQUEST,
        [],
        "<|START_THINKING|>x<|END_THINKING|><|START_TEXT|>Hello<|END_TEXT|>",
        "Hello",
        "x",
        [],
    ),
    (
        "command",
        REQUEST,
        [],
        '<|START_TEXT|>Hi<|END_TEXT|><|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": '
        '"get_time", "parameters": {}}\n]<|END_ACTION|>',
        "Hi",
        "",
        [TIME],
    ),
    ("llama3", REQUEST, [], '<|python_tag|>{"name": "get_time", "parameters": {}}', "", "", [TIME]),
    ("qwen3-coder", REQUEST, [], QWEN(0, *PARIS).removeprefix("<tool_call>\n"), "", "", [PARIS]),
    (
        "qwen3-coder",
        REQUEST,
        ["--thinking", "on"],
        "Dice.\n</think>\n" + QWEN(0, *PARIS),
        "",
        "Dice.\n",
        [PARIS],
    ),
    (
        "gemma4",
        REQUEST,
        [],
        '<|channel>thought\nx<channel|><|tool_call>call:get_weather{city:<|"|>Paris<|"|>,days:3}'
        "<tool_call|>",
        "",
        "x",
        [PARIS],
    ),
    (
        "minimax-m3",
        FREE,
        [],
        f'{MARKER}<tool_call>\n{MARKER}<invoke name="ping">{MARKER}</invoke>\n{MARKER}</tool_call>',
        "",
        "",
        [("ping", {})],
    ),
    (
        "minimax-m3",
        FREE,
        [],
        WRITERS["minimax-m3"]["begin"]
        + WRITERS["minimax-m3"]["call"](0, "run", {"cmd": "x", "env": {"k": "v", "P Q": ""}})
        + WRITERS["minimax-m3"]["end"],
        "",
        "",
        [("run", {"cmd": "x", "env": {"k": "v", "P Q": ""}})],
    ),
]


def cases(folder):
    request = folder / "case.json"
    for preset, wanted, options, text, content, reasoning, calls in CASES:
        request.write_text(json.dumps(wanted), encoding="utf-8")
        read = parse(preset, [text], folder, request, *options)
        if not options and text.replace("True", "") != text:
            strict = [CLI, "tools", "--preset", preset, "--tools", request, "--strict", "--parse"]
            done = subprocess.run([*strict, folder / "answer.txt"], capture_output=True, cwd=ROOT)
            check(done.returncode == 1, "strictly", preset, repr(text))
        check(
            read
            and read[0]["content"] == content
            and read[0]["reasoning"] == reasoning
            and [(c["name"], c["arguments"]) for c in read[0]["calls"]] == calls,
            "case",
            preset,
            repr(text),
            read,
        )


OWN = {
    "thinking": {"begin": "<t>", "end": "</t>"},
    "exclude": ["<t>", "</t>", "<say>", "</say"],
    "text": {"begin": "<say>", "end": "</say>"},
    "trigger": "<c>",
    "calls": [{"begin": "<c>{name}", "style": "json", "end": "</c>"}],
}


def own(folder, request):
    """A preset of one's own: markers that free text may hold are an error that names them."""
    file = folder / "own.json"
    for left_out, marker, part in (
        (None, "", ""),
        ("<t>", "<t>", "thinking"),
        ("</t>", "</t>", "thinking"),
        ("<say>", "<say>", "text"),
        ("</say", "</say>", "text"),
    ):
        preset = OWN | {"exclude": [e for e in OWN["exclude"] if e != left_out]}
        file.write_text(json.dumps(preset), encoding="utf-8")
        command = [CLI, "tools", "--preset", file, "--tools", request, "--compile"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        wrong = f'"{marker}" of its "{part}"'
        check(
            done.returncode == (2 if left_out else 0) and (not left_out or wrong in done.stderr),
            "own preset",
            left_out,
            done.returncode,
            done.stderr,
        )


def alike(folder, request):
    """Two parts of a preset that are found by the same text are an error that names both."""
    file = folder / "alike.json"
    thinking = {"begin": "<c>", "end": "</t>"}
    bare = {k: v for k, v in OWN.items() if k != "text"}
    sections = {k: v for k, v in bare.items() if k != "trigger"}
    for preset, first, second in (
        (OWN, None, None),
        (OWN | {"thinking": thinking, "exclude": [*OWN["exclude"], "<c>"]}, "trigger", "thinking"),
        (
            OWN | {"thinking": thinking | {"begin": "<c"}, "exclude": [*OWN["exclude"], "<c"]},
            "trigger",
            "thinking",
        ),
        (OWN | {"text": {"begin": "<t>", "end": "</say>"}}, "thinking", "text"),
        (bare | {"exclude": ["<t>", "</t>", "<c>"]}, "trigger", "exclude"),
        (bare | {"exclude": ["<t>", "</t>", "c"]}, "trigger", "exclude"),
        (
            sections | {"section": {"begin": "<s>", "separator": ";", "end": ";"}},
            'section" as "separator',
            'section" as "end',
        ),
        (
            sections | {"section": {"begin": "<t>!", "separator": "", "end": ";"}},
            "section",
            "exclude",
        ),
    ):
        file.write_text(json.dumps(preset), encoding="utf-8")
        command = [CLI, "tools", "--preset", file, "--tools", request, "--compile"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        named = f'of its "{first}"' in done.stderr and f'of its "{second}"' in done.stderr
        check(
            done.returncode == (2 if first else 0) and (not first or named),
            "alike",
            first,
            second,
            done.returncode,
            done.stderr,
        )


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        request = folder / "request.json"
        request.write_text(json.dumps(REQUEST), encoding="utf-8")
        published(folder, request)
        cases(folder)
        own(folder, request)
        alike(folder, request)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
