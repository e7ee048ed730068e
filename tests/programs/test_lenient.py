#!/usr/bin/env python3
"""Answers that nobody constrained: what models write beside their formats is read to the calls that
were meant (`turnstile tools --parse F --lenient`).

  exact      answers in the format of each preset read as the strict reader reads them, byte by byte
  broken     answers that a mutator made of them: all read as they were meant
  by hand    answers of particular kinds, all of which must read as they are written down here
  malformed  more of them, as small models write them, in tests/cases/tools: malformed.jsonl;
             unmarked.jsonl, without the markup of their format or with end tokens;
             borrowed.jsonl, with headers, words or tags of others, or cut
  streamed   the same answers byte by byte: the parts add up to the whole
  nothing    text that holds no call stays text: tests/cases/tools/prose.jsonl

The mutator draws from a seed: --seed S, and --show prints each answer that is read otherwise.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import contextlib
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import test_families as families
import tool_writers as writers
from test_families import CLI, PRESETS, ROOT, check, tally, turn
from tool_writers import WRITERS

PROSE = "Let me look that up."
FILE = families.FILE
META = families.META
PARIS = families.PARIS
LONDON = ("get_weather", {"city": "Łódź", "days": 3, "metric": True})
LINES = ("write_file", {"path": "a/b.txt", "content": "x = [1, 2]\n", "lines": [1, 2, 3]})
READ = families.READ
ELEMENTS = {
    *("cohere deepseek-v3.2 deepseek-v4 deepseek-v4.1 glm4 hunyuan-3 kimi-k3 minimax").split(),
    *("minimax-m3 qwen3-coder seed-oss step3 dots gigachat3.5 hunyuan-4 iquest-q1").split(),
    *("k2-horizon mimo minicpm5 muse-glimmer").split(),
}
BRACES = {"gemma4", "functiongemma"}
PYTHON = {"lfm2", "llama4-pythonic", "olmo3"}
ENVELOPES = {p for p in PRESETS if p not in ELEMENTS | BRACES | PYTHON} - set(
    "apertus deepseek-v3 deepseek-v3.1 functionary-v3.1 functionary-v3.2 gpt-oss kimi-k2"
    " inkling mistral-v11 plamo3 solar-open".split()
)
JSON = set(PRESETS) - ELEMENTS - BRACES - PYTHON


@contextlib.contextmanager
def dumping(how):
    """Arguments are written in another way."""
    before = writers.dump
    writers.dump = how
    try:
        yield
    finally:
        writers.dump = before


def written(preset, calls, how=None, content="", reasoning=None):
    with dumping(how or writers.dump):
        return writers.write(WRITERS[preset], reasoning, content, calls)


# ---- ways to write JSON --------------------------------------------------------------------------


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def spaced(value):
    return json.dumps(value, ensure_ascii=False, indent=2)


def ascii_only(value):
    return json.dumps(value)


def backwards(value):
    if isinstance(value, dict):
        value = dict(reversed(list(value.items())))
    return json.dumps(value, ensure_ascii=False)


def trailing(value):
    return re.sub(r"(?<=[^{\[])([}\]])", r",\1", json.dumps(value, ensure_ascii=False))


def bare_keys(value):
    return re.sub(r'"(\w+)": ', r"\1: ", json.dumps(value, ensure_ascii=False))


def no_commas(value):
    return json.dumps(value, ensure_ascii=False).replace('", "', '" "')


def commented(value):
    return json.dumps(value, ensure_ascii=False).replace("{", "{ /* the arguments */ ", 1)


def encoded(value):
    return json.dumps(json.dumps(value, ensure_ascii=False), ensure_ascii=False)


def inner_encoded(value):
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    strings = {k: json.dumps(v) if isinstance(v, (dict, list)) else v for k, v in value.items()}
    return json.dumps(strings, ensure_ascii=False)


def as_strings(value):
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    strings = {k: v if isinstance(v, str) else json.dumps(v) for k, v in value.items()}
    return json.dumps(strings, ensure_ascii=False)


def raw_lines(value):
    return json.dumps(value, ensure_ascii=False).replace("\\n", "\n")


def plus(value):
    return re.sub(r": (\d+)", r": +\1", json.dumps(value, ensure_ascii=False))


def curly(value):
    return re.sub(r'"([^"\\]*)"', "\u201c\\1\u201d", json.dumps(value, ensure_ascii=False))


# ---- the mutator ---------------------------------------------------------------------------------


def by_style(how, calls=(PARIS, LONDON, META)):
    """Arguments written otherwise; of presets whose arguments are JSON."""
    return lambda preset, r: (
        (written(preset, [call], how), [call]) for call in [r.choice(calls)] if preset in JSON
    )


def words(preset, r):
    text = written(preset, [LONDON])
    yield re.sub(r"\btrue\b", "True", text), [LONDON]


def quotes(preset, r):
    if preset in ELEMENTS | BRACES:
        return
    text = written(preset, [PARIS])
    yield re.sub(r'"([^"<>]*)"', r"'\1'", text), [PARIS]


def tight(preset, r):
    """JSON around the arguments without spaces."""
    yield re.sub(r'([":,]) (?=["{\[0-9])', r"\1", written(preset, [PARIS])), [PARIS]


def lines(preset, r):
    """Line breaks around the markup."""
    if preset == "minimax-m3":  # its markup has these brackets
        return
    text = written(preset, [PARIS, READ])
    yield re.sub(r"(\]|>)(?=[\[{<])", "\\1\n", text), [PARIS, READ]


def no_lines(preset, r):
    if preset == "functionary-v3.2":  # there a line break ends the name
        return
    yield written(preset, [PARIS]).replace("\n", ""), [PARIS]


def open_end(preset, r):
    """The markup at the end is missing."""
    form = WRITERS[preset]
    text = written(preset, [PARIS])
    end = form["end"] + form.get("last", "")
    one = form["call"](0, *PARIS)
    tail = re.search(r"[\]}) \n`]*(<[^<>]*>[\s\]\[>]*)+$", one)
    if end.strip():
        yield text.removesuffix(end), [PARIS]
    if tail and preset not in BRACES:
        yield text.removesuffix(end)[: -len(tail[0])] if tail[0] else text, [PARIS]


def open_brackets(preset, r):
    """The last brackets of JSON are missing, with what stands behind them."""
    if preset in ELEMENTS:
        return
    text = written(preset, [PARIS])
    cut = text.rindex("3") + 1
    yield text[:cut], [PARIS]


def one_bracket(preset, r):
    """One closing bracket is missing, or too many."""
    if preset in ELEMENTS:
        return
    text = written(preset, [PARIS])
    at = text.index("3") + 1
    if text[at] in "})":
        yield text[:at] + text[at + 1 :], [PARIS]
        yield text[:at] + text[at] + text[at:], [PARIS]


def open_string(preset, r):
    if preset not in JSON:
        return
    text = written(preset, [READ])
    at = text.rindex("ünïx") + 4
    yield text[:at] + text[at + 1 :], [READ]


def fenced(preset, r):
    form = WRITERS[preset]
    word = r.choice(["json", "", "tool_call", "xml"])
    text = written(preset, [PARIS])
    if form.get("text") and preset in ("functionary-v3.2", "gpt-oss"):
        return
    yield f"```{word}\n{text}\n```", [PARIS]
    yield f"{PROSE}\n```{word}\n{text}\n```", [PARIS]


def python_tag(preset, r):
    if preset not in ENVELOPES:
        return
    call = json.dumps({"name": PARIS[0], "parameters": PARIS[1]})
    yield f"<|python_tag|>{call}", [PARIS]


def bare_json(preset, r):
    """A call without any markup, as OpenAI's API writes it, or in a list."""
    name, arguments = PARIS
    key = r.choice(["arguments", "parameters", "args", "input"])
    one = {"name": name, key: arguments}
    whole = {"id": "x1", "type": "function"}
    whole["function"] = {"name": name, "arguments": json.dumps(arguments)}
    for value in (one, [one], whole, {"tool_calls": [whole]}):
        yield json.dumps(value), [PARIS]


def other_keys(preset, r):
    if preset not in ENVELOPES:
        return
    text = written(preset, [PARIS])
    to = "arguments" if '"parameters"' in text else "parameters"
    yield re.sub(r'"(arguments|parameters)"', f'"{to}"', text), [PARIS]


def turned(preset, r):
    """Arguments before the name."""
    if preset not in ENVELOPES - {"command", "xlam"}:
        return
    text = written(preset, [PARIS])
    yield re.sub(r'("name": "\w+"), ("\w+": \{[^{}]*\})', r"\2, \1", text), [PARIS]


def unknown_tool(preset, r):
    if preset in ("functionary-v3.2",):
        return
    call = ("get_forecast", PARIS[1])
    yield written(preset, [call]), [call]


def unknown_argument(preset, r):
    call = ("get_weather", {"city": "Paris", "unit": "celsius"})
    yield written(preset, [call]), [call]


def two_of_them(preset, r):
    """The first of two calls is broken."""
    if preset in ELEMENTS:
        return
    text = written(preset, [PARIS, READ])
    at = text.index("3") + 1
    yield text[:at] + text[at + 1 :], [PARIS, READ]


def ids(preset, r):
    text = written(preset, [PARIS])
    if preset == "kimi-k2":
        yield text.replace("functions.get_weather:0", "get_weather:0"), [PARIS]
        yield text.replace(":0<", ":call_7a<"), [PARIS]
        yield text.replace("functions.get_weather:0", "functions.get_weather"), [PARIS]
    if preset == "command":
        yield text.replace('"0"', "0"), [PARIS]
        yield text.replace('"0"', '"call_0"'), [PARIS]
    if preset == "solar-open":
        yield text.replace("call-0", "call 0"), [PARIS]
    if preset == "mistral":
        yield text.replace('{"name"', '{"id": "x", "name"'), [PARIS]
    if preset in ("cohere", "kimi-k3"):
        yield text.replace('"0"', '"call_0"'), [PARIS]
    if preset == "mistral-v11":
        yield text.replace("[ARGS]", "[CALL_ID]x1[ARGS]"), [PARIS]
        yield text.replace("[ARGS]", ""), [PARIS]


def thinking(preset, r):
    form = WRITERS[preset]
    if "think" not in form or preset == "gpt-oss":
        return
    begin, end, after = form["think"]
    call = written(preset, [PARIS])
    yield f"{begin}I must call.\n{call}", [PARIS]
    yield f"I must call.{end}{after}{call}", [PARIS]
    yield f"{begin}I must call.{end}\n\n\n{call}", [PARIS]


def prose(preset, r):
    """Broken, with text on both sides."""
    text = written(preset, [LONDON], content=PROSE)
    if preset == "solar-open":
        return
    yield re.sub(r"\btrue\b", "True", text), [LONDON]


def open_elements(preset, r):
    """An element is not closed, or is written as another family writes them."""
    if preset not in ELEMENTS - {"minimax-m3", "cohere"}:
        return
    text = written(preset, [PARIS])
    close = re.findall(r"</[^<>]*(?:parameter|param|arg_value)>|<\|close\|>argument<\|sep\|>", text)
    yield "".join(text.rsplit(close[-1], 1)), [PARIS]
    yield text.replace("<parameter=city>", '<parameter name="city">'), [PARIS]


def json_in_elements(preset, r):
    if preset not in ELEMENTS:
        return
    form = WRITERS[preset]
    empty = form["call"](0, "get_weather", {})
    cut = re.search(r"</(?!parameter)|<\|close\|>|\]<\]minimax\[>\[</|$", empty).start()
    call = empty[:cut] + json.dumps(PARIS[1]) + empty[cut:]
    yield form["begin"] + call + form["end"], [PARIS]


MUTATORS = [
    *map(by_style, (compact, spaced, ascii_only, backwards, trailing, bare_keys, no_commas)),
    *map(by_style, (commented, encoded, plus, curly)),
    by_style(inner_encoded, [META, LINES]),
    by_style(as_strings, [PARIS, LONDON, LINES]),
    by_style(raw_lines, [FILE, LINES]),
    *(words, quotes, tight, lines, no_lines, open_end, open_brackets, one_bracket, open_string),
    *(fenced, python_tag, bare_json, other_keys, turned, unknown_tool, unknown_argument),
    *(two_of_them, ids, thinking, prose, open_elements, json_in_elements),
]


def corpus(seed):
    r = random.Random(seed)
    for preset in PRESETS:
        for mutator in MUTATORS:
            for text, calls in mutator(preset, r):
                yield preset, getattr(mutator, "__name__", "?"), text, calls


# ---- reading -------------------------------------------------------------------------------------


def read(preset, texts, folder, request, *options):
    answer = folder / "answers.bin"
    answer.write_bytes(b"\0".join(t.encode() for t in texts) + b"\0")
    command = [CLI, "tools", "--preset", preset, "--tools", request, "--parse", answer]
    done = subprocess.run([*command, "--null", *options], capture_output=True, cwd=ROOT)
    return done.stdout.decode().splitlines(), done.stderr.decode()


def calls_of(parsed):
    return [(c["name"], c["arguments"]) for c in parsed["calls"]]


def exact(folder, request):
    """What the grammar allows is read as it was."""
    for number, preset in enumerate(PRESETS):
        if not turn(number, 2):
            continue
        form = WRITERS[preset]
        texts = [
            writers.write(form, reasoning, "" if content and calls else content, calls)
            for reasoning, content, calls in families.ANSWERS
            if reasoning is None or "think" in form
        ]
        strict, lenient = (
            read(preset, texts, folder, request, option)[0] for option in ("--strict", "--lenient")
        )
        check(len(strict) == len(texts) and strict == lenient, "exact", preset)


def broken(folder, request, seed, show):
    answers = list(corpus(seed))
    fine, names = 0, {}
    for preset in PRESETS:
        mine = [a for a in answers if a[0] == preset]
        lines, error = read(preset, [a[2] for a in mine], folder, request, "--lenient")
        check(len(lines) == len(mine), "all are read", preset, error)
        for (_, name, text, calls), line in zip(mine, lines, strict=False):
            parsed = json.loads(line)
            good = parsed is not None and calls_of(parsed) == calls
            mended = parsed is not None and ("repairs" in parsed or good)
            check(mended, "mended", preset, repr(text), line)
            check(good, "read as meant", preset, name, repr(text), line)
            fine += good
            names.setdefault(name, [0, 0])[not good] += 1
            if not good and show:
                print(f"{preset} {name}\n  {text!r}\n  {line}\n  {calls}")
    if show:
        print(names)
    check(len(answers) >= 300, "answers", len(answers))
    print(f"{fine} of {len(answers)} broken answers read as they were meant")


HAND = [  # preset, answer, content, reasoning, calls, repairs
    (
        "qwen3",
        "Sure!\n<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Paris', 'days': 3,}}",
        "Sure!",
        "",
        [PARIS],
        ["quotes", "comma", "end"],
    ),
    (
        "qwen3",
        '<think>Where?\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris", '
        '"days": 3}}\n</tool_call>\nDone.',
        "Done.",
        "Where?\n",
        [PARIS],
        ["thinking"],
    ),
    (
        "qwen3",
        '<tool_call>\n{"name": "weatherOf", "arguments": {}}\n</tool_call>',
        "",
        "",
        [("weatherOf", {})],
        ["unknown_tool"],
    ),
    (
        "qwen3",
        '<tool_call>\n{"name": "GET-WEATHER", "arguments": '
        + encoded(PARIS[1])
        + "}\n</tool_call>",
        "",
        "",
        [PARIS],
        ["name", "encoded"],
    ),
    ("llama3", '<|python_tag|>get_weather(city="Paris", days=3)', "", "", [PARIS], None),
    (
        "qwen3",
        '<tool_call>\n{"name": "get_weather", "arguments": ["Paris", 3]}\n</tool_call>',
        "",
        "",
        [PARIS],
        ["position"],
    ),
    (
        "qwen3",
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris" /* x */, '
        '"days": 3}}\n</tool_call>',
        "",
        "",
        [PARIS],
        ["comment"],
    ),
    ("llama3", '[get_weather("Paris", 3)]', "", "", [PARIS], ["position", "style"]),
    (
        "llama3",
        '```json\n{"name": "get_weather", "parameters": {"city": "Paris", "days": "3"}}\n```',
        "",
        "",
        [PARIS],
        ["type", "fence"],
    ),
    (
        "kimi-k2",
        '<|tool_call_begin|>get_weather:0<|tool_call_argument_begin|>{"city": "Paris", "days": 3}',
        "",
        "",
        [PARIS],
        ["id", "end"],
    ),
    (
        "gpt-oss",
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary "
        'to=get_weather <|message|>{"city": "Paris", "days": 3}<|call|><|start|>assistant'
        "<|channel|>commentary to=functions.get_time json<|message|>{}",
        "",
        "Hm.",
        [PARIS, families.TIME],
        None,
    ),
    (
        "qwen3-coder",
        "<tool_call>\n<function=write_file>\n<parameter=path>\na\n</parameter>\n"
        "<parameter=content>\nuse </parameter> here\n</parameter>\n</function>\n</tool_call>",
        "",
        "",
        [("write_file", {"path": "a", "content": "use </parameter> here"})],
        ["string"],
    ),
    (
        "glm4",
        "<tool_call>get_weather\n<arg_key>city</arg_key><arg_value>Paris</arg_value>"
        "<arg_key>days</arg_key><arg_value>3",
        "",
        "",
        [PARIS],
        ["end"],
    ),
    (
        "minimax-m3",
        WRITERS["minimax-m3"]["begin"] + WRITERS["minimax-m3"]["call"](0, *META),
        "",
        "",
        [META],
        ["end"],
    ),
    (
        "cohere",
        WRITERS["cohere"]["begin"] + WRITERS["cohere"]["call"](0, *META),
        "",
        "",
        [META],
        ["end"],
    ),
    ("lfm2", '[get_weather(city="Paris", days=3)]', "", "", [PARIS], ["begin"]),
    (
        "mistral-v11",
        '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}]',
        "",
        "",
        [PARIS],
        None,
    ),
    ("hermes", "Use <think> or </think> as you like", None, None, [], None),
    ("gpt-oss", "<|channel|>analysis<|message|>I must look.", "", "I must look.", [], ["end"]),
]
PROSE_FILE = ROOT / "tests" / "cases" / "tools" / "prose.jsonl"
TEXTS = [json.loads(line) for line in PROSE_FILE.read_text(encoding="utf-8").splitlines()]


def repairs_of(parsed):
    notes = parsed["repairs"] + [r for c in parsed["calls"] for r in c["repairs"]]
    return {note["repair"] for note in notes}


def by_hand(folder, request):
    for preset, text, content, reasoning, calls, repairs in HAND:
        lines, error = read(preset, [text], folder, request, "--lenient")
        parsed = json.loads(lines[0])
        where = (preset, repr(text), lines[0], error)
        check(calls_of(parsed) == calls, "by hand", *where)
        check(content in (None, parsed["content"]), "content", *where)
        check(reasoning in (None, parsed["reasoning"]), "reasoning", *where)
        if repairs is not None:
            check(repairs_of(parsed) == set(repairs), "repairs", *where)
        notes = parsed.get("repairs", []) + [
            r for c in parsed["calls"] for r in c.get("repairs", [])
        ]
        check(all(0 <= r["at"] <= len(text.encode()) for r in notes), "places", *where)


def malformed(folder, request, name, least):
    cases = ROOT / "tests" / "cases" / "tools" / name
    rows = [json.loads(line) for line in cases.read_text(encoding="utf-8").splitlines()]
    of = {}
    for row in rows:
        of.setdefault(row["preset"], []).append(row)
    for preset, wanted in of.items():
        texts = [row["text"] for row in wanted]
        lines, error = read(preset, texts, folder, request, "--lenient")
        check(len(lines) == len(wanted), "malformed", preset, error)
        for row, line in zip(wanted, lines, strict=False):
            parsed = json.loads(line)
            parsed.setdefault("repairs", [])
            for call in parsed["calls"]:
                call.setdefault("repairs", [])
            where = (preset, row["text"], line)
            check([list(c) for c in calls_of(parsed)] == row["calls"], "calls", *where)
            check(parsed["content"] == row["content"], "content", *where)
            check(
                parsed["reasoning"] == row.get("reasoning", parsed["reasoning"]), "thought", *where
            )
            if row["repairs"] is not None:
                check(repairs_of(parsed) == set(row["repairs"]), "repairs", *where)
    check(len(rows) >= least, name, len(rows))


def nothing(folder, request):
    for number, preset in enumerate(PRESETS):
        if not turn(number + 1, 2):
            continue
        form = WRITERS[preset]
        texts = [writers.write(form, None, t, []) for t in TEXTS]
        lines, error = read(preset, texts, folder, request, "--lenient")
        check(len(lines) == len(texts), "texts", preset, error)
        for text, line in zip(TEXTS, lines, strict=False):
            parsed = json.loads(line)
            check(not parsed["calls"] and parsed["content"] == text, "text", preset, text, line)


def streamed(folder, request, seed):
    """The parts of a stream are the whole: text at least as long, calls the same."""
    r = random.Random(seed)
    answer = folder / "answer.txt"
    for preset, _, text, _ in r.sample(list(corpus(seed)), 20):
        answer.write_bytes(text.encode())
        command = [CLI, "tools", "--preset", preset, "--tools", request, "--parse", answer]
        whole, parts = (
            subprocess.run([*command, *options], capture_output=True, cwd=ROOT)
            for options in (["--lenient"], ["--lenient", "--stream"])
        )
        check(whole.returncode == parts.returncode == 0, "lenient", preset, repr(text))
        wanted = json.loads(whole.stdout)
        given = [json.loads(line) for line in parts.stdout.splitlines()]
        calls = {}
        for part in given:
            if part["part"] in ("call", "arguments"):
                calls.setdefault(part["call"], []).append(part["text"])
        got = [(c[0], json.loads("".join(c[1:]) or "{}")) for _, c in sorted(calls.items())]
        check(got == calls_of(wanted), "streamed", preset, repr(text), got)
        said = families.joined(given, "text")
        check(wanted["content"].strip() in said, "streamed text", preset, repr(text), said)


def ends_are_held(folder, request):
    """An end token at the end of a stream, or a header at its beginning, is never given as text."""
    answer = folder / "answer.txt"
    for text, said in (
        ("Hello.<|im_end|>", "Hello."),
        ("Hi</s> <|eot_id|>\n", "Hi"),
        ("a</s> b", "a</s> b"),
        ("a <| b </", "a <| b </"),
        ("<|eom_id|>", ""),
        ("<|im_start|>assistant\nHello.<|im_end|>", "Hello."),
        ("\ufeffassistant\n\nHi", "Hi"),
        ("assistant\nuser", "assistant\nuser"),
        ("assistant", "assistant"),
        ("<|im_start|>user", "<|im_start|>user"),
    ):
        answer.write_text(text, encoding="utf-8")
        command = [CLI, "tools", "--preset", "qwen3", "--tools", request, "--parse", answer]
        done = subprocess.run([*command, "--lenient", "--stream"], capture_output=True, cwd=ROOT)
        given = [json.loads(line) for line in done.stdout.splitlines()]
        check(families.joined(given, "text") == said, "ends", repr(text), given)


def options_are_checked(folder, request):
    answer = folder / "answer.txt"
    answer.write_text("x", encoding="utf-8")
    command = [CLI, "tools", "--preset", "qwen3", "--tools", request]
    for extra in (["--lenient"], ["--lenient", "--strict", "--parse", answer]):
        done = subprocess.run([*command, *extra], capture_output=True, cwd=ROOT)
        check(done.returncode == 2 and b"--lenient" in done.stderr, "refused", extra)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        request = folder / "request.json"
        request.write_text(json.dumps(families.REQUEST), encoding="utf-8")
        exact(folder, request)
        broken(folder, request, options.seed, options.show)
        by_hand(folder, request)
        malformed(folder, request, "malformed.jsonl", 150)
        malformed(folder, request, "unmarked.jsonl", 240)
        malformed(folder, request, "borrowed.jsonl", 200)
        nothing(folder, request)
        streamed(folder, request, options.seed)
        ends_are_held(folder, request)
        options_are_checked(folder, request)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
