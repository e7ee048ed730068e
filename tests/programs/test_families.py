#!/usr/bin/env python3
"""Answers as the chat templates of the model families write them are read back: text, thinking, one
call and two, Unicode, empty arguments, nested values, a string with a line break and quotes; whole,
and some byte by byte. Each preset has a writer here, which knows nothing of the preset.

  cases      answers of particular models that were read wrongly once
  own        a preset whose markers cannot be distinguished from text is an error
  alike      so is one whose parts are found by the same text; it names both

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLI = os.environ.get("TSL_CLI", str(ROOT / "build" / "turnstile"))
PRESETS = [p.stem for p in sorted((ROOT / "schemas" / "tools").glob("*.json"))]

passed = failed = 0


def check(good, *what):
    global passed, failed
    passed += bool(good)
    failed += not good
    if not good:
        print("FAILED:", *what, file=sys.stderr)


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


def dump(value):
    return json.dumps(value, ensure_ascii=False)


def bare(value):
    return value if isinstance(value, str) else dump(value)


def as_json(begin="", end="}", key="arguments"):
    return lambda i, name, a: f'{begin}{{"name": "{name}", "{key}": {dump(a)}{end}'


def members(begin, member, end):
    def write(i, name, arguments):
        inner = "".join(member(k, v) for k, v in arguments.items())
        return begin.replace("NAME", name).replace("INDEX", str(i)) + inner + end

    return write


def python(i, name, arguments):
    return f"{name}({', '.join(f'{k}={dump(v)}' for k, v in arguments.items())})"


def python_words(i, name, arguments):
    words = {True: "True", False: "False", None: "None"}
    inner = ", ".join(
        f"{k}={words[v] if v is None or isinstance(v, bool) else dump(v)}"
        for k, v in arguments.items()
    )
    return f"{name}({inner})"


MARKER = "]<]minimax[>["


def elements(value):
    if isinstance(value, dict):
        return "".join(f"{MARKER}<{k}>{elements(v)}{MARKER}</{k}>" for k, v in value.items())
    if isinstance(value, list):
        return "".join(f"{MARKER}<item>{elements(v)}{MARKER}</item>" for v in value)
    return bare(value)


def cofl(value, name=""):
    kinds = {str: "raw", dict: "dict", list: "list"}
    inner = bare(value)
    if isinstance(value, dict):
        inner = "".join(cofl(v, f' name="{k}"') for k, v in value.items())
    if isinstance(value, list):
        inner = "".join(cofl(v) for v in value)
    return f'<cofl:value{name} type="{kinds.get(type(value), "json")}">{inner}</cofl:value>'


def gemma(quote):
    def write(value):
        if isinstance(value, dict):
            return "{" + ",".join(f"{k}:{write(v)}" for k, v in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(write, value)) + "]"
        return quote + value + quote if isinstance(value, str) else dump(value)

    return write


def kind(value):
    names = {str: "string", bool: "boolean", dict: "object", list: "array"}
    return "null" if value is None else names.get(type(value), "number")


def dsml(word, space=""):
    p = "｜DSML｜" + space
    return members(
        f'<{p}invoke name="NAME">\n',
        lambda k, v: (
            f'<{p}parameter name="{k}" string="{dump(isinstance(v, str))}">{bare(v)}'
            f"</{p}parameter>\n"
        ),
        f"</{p}invoke>",
    )


QWEN = members(
    "<tool_call>\n<function=NAME>\n",
    lambda k, v: f"<parameter={k}>\n{bare(v)}\n</parameter>\n",
    "</function>\n</tool_call>",
)
GLM = members(
    "<tool_call>NAME\n",
    lambda k, v: f"<arg_key>{k}</arg_key>\n<arg_value>{bare(v)}</arg_value>\n",
    "</tool_call>",
)
THINK = ("<think>\n", "\n</think>", "\n\n")


def listed(call, begin, separator, end, before="", **k):
    return dict(call=call, begin=begin, separator=separator, end=end, before=before, **k)


def loose(call, separator="\n", before="\n", **k):
    return listed(call, "", separator, "", before, **k)


WRITERS = {
    "apertus": listed(
        lambda i, n, a: f'{{"{n}": {dump(a)}}}',
        "<|tools_prefix|>[",
        ", ",
        "]<|tools_suffix|>",
        think=("<|inner_prefix|>", "<|inner_suffix|>", ""),
    ),
    "cohere": listed(
        members(
            '<cofl:tool_call id="INDEX" name="NAME">',
            lambda k, v: cofl(v, f' name="{k}"'),
            "</cofl:tool_call>",
        ),
        "<cofl:tool_calls>",
        "",
        "</cofl:tool_calls>",
        think=("<|START_THINKING|>", "<|END_THINKING|>", ""),
        text=("<|START_TEXT|>", "<|END_TEXT|>"),
    ),
    "command": listed(
        lambda i, n, a: f'{{"tool_call_id": "{i}", "tool_name": "{n}", "parameters": {dump(a)}}}',
        "<|START_ACTION|>[\n    ",
        ",\n    ",
        "\n]<|END_ACTION|>",
        think=("<|START_THINKING|>", "<|END_THINKING|>", ""),
        text=("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    ),
    "deepseek-v3": listed(
        lambda i, n, a: (
            f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{n}\n```json\n{dump(a)}\n"
            "```<｜tool▁call▁end｜>"
        ),
        "<｜tool▁calls▁begin｜>",
        "\n",
        "<｜tool▁calls▁end｜>",
        think=("<think>\n", "\n</think>", "\n\n"),
    ),
    "deepseek-v3.1": listed(
        lambda i, n, a: f"<｜tool▁call▁begin｜>{n}<｜tool▁sep｜>{dump(a)}<｜tool▁call▁end｜>",
        "<｜tool▁calls▁begin｜>",
        "",
        "<｜tool▁calls▁end｜>",
        think=("<think>", "</think>", ""),
    ),
    "deepseek-v3.2": listed(
        dsml("function_calls"),
        "<｜DSML｜function_calls>\n",
        "\n",
        "\n</｜DSML｜function_calls>",
        "\n\n",
        think=("<think>", "</think>", ""),
    ),
    "deepseek-v4": listed(
        dsml("tool_calls"),
        "<｜DSML｜tool_calls>\n",
        "\n",
        "\n</｜DSML｜tool_calls>",
        "\n\n",
        think=("<think>", "</think>", ""),
    ),
    "deepseek-v4.1": listed(
        dsml("calls", " "),
        "<｜DSML｜ calls>\n",
        "\n",
        "\n</｜DSML｜ calls>",
        "\n\n",
        think=("<think>", "</think>", ""),
    ),
    "ernie45": loose(
        as_json("<tool_call>\n", "}\n</tool_call>"),
        think=THINK,
        text=("<response>\n", "\n</response>"),
        last="\n",
    ),
    "exaone4": loose(as_json("<tool_call>", "}</tool_call>"), think=THINK),
    "functiongemma": loose(
        lambda i, n, a: f"<start_function_call>call:{n}{gemma('<escape>')(a)}<end_function_call>",
        "",
        "",
    ),
    "functionary-v3.1": loose(lambda i, n, a: f"<function={n}>{dump(a)}</function>", "", ""),
    "functionary-v3.2": loose(
        lambda i, n, a: f"{n}\n{dump(a)}", ">>>", "", text=("all\n", ""), after_text=">>>"
    ),
    "gemma3": loose(as_json(key="parameters"), "\n", ""),
    "gemma4": loose(
        lambda i, n, a: f"<|tool_call>call:{n}{gemma('<|' + chr(34) + '|>')(a)}<tool_call|>",
        "",
        "",
        think=("<|channel>thought\n", "<channel|>", ""),
    ),
    "glm4": loose(GLM, think=("\n<think>", "</think>", "\n")),
    "gpt-oss": loose(
        lambda i, n, a: (
            f"<|channel|>commentary to=functions.{n} <|constrain|>json<|message|>{dump(a)}<|call|>"
        ),
        "<|start|>assistant",
        "",
        text=("<|channel|>final<|message|>", "<|end|>"),
        think=("<|channel|>analysis<|message|>", "<|end|>", "<|start|>assistant"),
        after_text="<|start|>assistant",
    ),
    "granite3": listed(as_json(), "<|tool_call|>[", ", ", "]"),
    "hermes": loose(as_json("<tool_call>\n", "}\n</tool_call>"), think=THINK, last="\n"),
    "hunyuan-3": listed(
        members(
            "<tool_call>NAME<tool_sep>\n",
            lambda k, v: f"<arg_key>{k}</arg_key>\n<arg_value>{bare(v)}</arg_value>\n",
            "</tool_call>",
        ),
        "<tool_calls>\n",
        "\n",
        "\n</tool_calls>",
        think=("<think>", "</think>", ""),
    ),
    "hunyuan-a13b": listed(
        as_json(),
        "<tool_calls>[",
        ", ",
        "]</tool_calls>",
        "\n",
        think=("<think>\n", "\n</think>", "\n"),
        text=("<answer>\n", "\n</answer>"),
    ),
    "internlm": loose(
        as_json("<|action_start|><|plugin|>\n", "}<|action_end|>", "parameters"), "\n", "\n"
    ),
    "jamba": listed(as_json(), "<tool_calls>[\n    ", ",\n    ", "\n]</tool_calls>", " "),
    "kimi-k2": listed(
        lambda i, n, a: (
            f"<|tool_call_begin|>functions.{n}:{i}<|tool_call_argument_begin|>{dump(a)}"
            "<|tool_call_end|>"
        ),
        "<|tool_calls_section_begin|>",
        "",
        "<|tool_calls_section_end|>",
        think=("<think>", "</think>", ""),
    ),
    "kimi-k3": listed(
        members(
            '<|open|>call tool="NAME" index="INDEX"<|sep|>',
            lambda k, v: (
                f'<|open|>argument key="{k}" type="{kind(v)}"<|sep|>{bare(v)}'
                "<|close|>argument<|sep|>"
            ),
            "<|close|>call<|sep|>",
        ),
        "<|open|>tools<|sep|>",
        "",
        "<|close|>tools<|sep|>",
        think=("<|open|>think<|sep|>", "<|close|>think<|sep|>", ""),
        text=("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
        last="<|close|>message<|sep|>",
    ),
    "lfm2": listed(python, "<|tool_call_start|>[", ", ", "]<|tool_call_end|>", think=THINK),
    "llama3": loose(as_json(key="parameters"), "; ", ""),
    "llama4": loose(as_json(key="parameters"), "; ", ""),
    "llama4-pythonic": listed(python_words, "<|python_start|>[", ", ", "]<|python_end|>"),
    "longcat": loose(
        as_json("<longcat_tool_call>\n", "}\n</longcat_tool_call>"),
        think=("<longcat_think>\n", "\n</longcat_think>", "\n"),
    ),
    "minimax": listed(
        members(
            '<invoke name="NAME">\n',
            lambda k, v: f'<parameter name="{k}">{bare(v)}</parameter>\n',
            "</invoke>",
        ),
        "<minimax:tool_call>\n",
        "\n",
        "\n</minimax:tool_call>",
        "\n",
        think=THINK,
    ),
    "minimax-m1": listed(as_json(), "<tool_calls>\n", "\n", "\n</tool_calls>", "\n", think=THINK),
    "minimax-m3": listed(
        lambda i, n, a: f'{MARKER}<invoke name="{n}">{elements(a)}{MARKER}</invoke>',
        f"{MARKER}<tool_call>\n",
        "\n",
        f"\n{MARKER}</tool_call>",
        think=("<mm:think>", "</mm:think>", ""),
    ),
    "mistral": listed(as_json(), "[TOOL_CALLS][", ", ", "]"),
    "mistral-v11": loose(
        lambda i, n, a: f"[TOOL_CALLS]{n}[ARGS]{dump(a)}", "", "", think=("[THINK]", "[/THINK]", "")
    ),
    "nemotron-nano-v2": listed(as_json(), "<TOOLCALL>[", ", ", "]</TOOLCALL>", "\n", think=THINK),
    "olmo3": listed(python, "<function_calls>", "\n", "</function_calls>", "\n", think=THINK),
    "phi4": listed(as_json(), "<|tool_call|>[", ", ", "]<|/tool_call|>"),
    "phi4-functools": listed(as_json(), "functools[", ", ", "]"),
    "qwen3": loose(as_json("<tool_call>\n", "}\n</tool_call>"), think=THINK),
    "qwen3-coder": loose(QWEN, "\n", "\n\n", think=THINK),
    "seed-oss": loose(
        members(
            "<seed:tool_call>\n<function=NAME>\n",
            lambda k, v: f"<parameter={k}>{bare(v)}</parameter>\n",
            "</function>\n</seed:tool_call>",
        ),
        think=("\n<seed:think>", "</seed:think>", "\n"),
    ),
    "solar-open": listed(
        lambda i, n, a: (
            f"<|tool_call:begin|>call-{i}<|tool_call:name|>{n}<|tool_call:args|>{dump(a)}"
            "<|tool_call:end|>"
        ),
        "<|tool_calls|>",
        "",
        "<|calls|>",
        think=("<|think|>", "<|end|>", "<|begin|>assistant"),
        text=("<|content|>", "<|end|>"),
        either=True,
    ),
    "step3": listed(
        members(
            '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="NAME">',
            lambda k, v: f'<steptml:parameter name="{k}">{bare(v)}</steptml:parameter>',
            "</steptml:invoke><｜tool_call_end｜>",
        ),
        "<｜tool_calls_begin｜>",
        "",
        "<｜tool_calls_end｜>",
        "\n\n",
        think=("<think>\n", "\n</think>", "\n\n"),
    ),
    "xlam": listed(as_json(), "[", ", ", "]", "\n"),
}


def write(form, reasoning, content, calls):
    out = ""
    if reasoning is not None:
        begin, end, after = form["think"]
        out += begin + reasoning + end + after
    begin, end = form.get("text", ("", ""))
    out += begin + content + end if content else ""
    if not calls:
        return out
    written = form["separator"].join(form["call"](i, *c) for i, c in enumerate(calls))
    before = form["before"] if content else ""
    if content:
        before += form.get("after_text", "")
    return out + before + form["begin"] + written + form["end"] + form.get("last", "")


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


def plain(text, marks):
    for mark in marks:
        text = text.removeprefix(mark).removesuffix(mark)
    return text


def published(folder, request):
    for preset in PRESETS:
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
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
