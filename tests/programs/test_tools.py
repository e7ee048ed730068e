#!/usr/bin/env python3
"""Answers with tool calls, for every preset: random answers under the masks, read back by the
grammar, must hold calls that are valid.

  embedded   the sources that scripts/embed.py writes are those in the tree; a second preset of one
             name is an error
  requests   a request file of each API (tests/cases/tools) compiles as it is, and the tool choice
             in it is obeyed
  round      two vocabularies: answers are drawn under the masks, with triggers and beginnings of
             triggers nudged in. They are read back to calls whose arguments are valid under PyPI
             jsonschema. Read token by token while drawing, as one text, and byte by byte, they are
             the same; the tool compares these three itself
  choice     auto, required, none and a name; one call or several; thinking on and off
  nested     random schemas in the style minimax_m3_xml. What is drawn under the masks comes back as
             arguments that are valid. A few lines of Python write these arguments down again: the
             result is the text
  free       texts without a trigger, near-triggers and any Unicode included, are accepted and come
             back unaltered

In a run of all tests a part of the combinations has its turn (docs/testing.md).
TSL_TOOLS_ANSWERS sets how many answers each combination draws (default 2). With --all N all presets
draw N answers in each of three choices, three ways of thinking and two vocabularies. No markup of
the preset may stand in their content. --seed S is the first seed, --only NAME is one preset.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import decimal
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tally  # noqa: E402 - the folder is no package
from share import turn  # noqa: E402
from tally import check  # noqa: E402

CLI = os.environ.get("TSL_CLI", str(ROOT / "build" / "turnstile"))
VOCABS = pathlib.Path(os.environ.get("TSL_VOCABS", str(ROOT / "build" / "vocabs")))
ANSWERS = int(os.environ.get("TSL_TOOLS_ANSWERS", "2"))
CASES = ROOT / "tests" / "cases" / "tools"
PRESETS = sorted((ROOT / "schemas" / "tools").glob("*.json"))


def run(*arguments, expect=0):
    done = subprocess.run(
        [CLI, "tools", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        cwd=ROOT,
    )
    out = done.stdout.decode("utf-8", "replace")
    check(
        done.returncode == expect,
        "status",
        done.returncode,
        *arguments,
        done.stderr.decode("utf-8", "replace")[-600:],
    )
    return out if done.returncode == expect else None


def number(text):
    """A JSON number by its value, which a float may not hold: 48e670 is an integer."""
    exponent = re.split("[eE]", text)[1:] or ["0"]
    if len(exponent[0].lstrip("+-0")) > 3:
        return 0.5 if exponent[0].startswith("-") else (-1 if text.startswith("-") else 1) * 10**999
    value = decimal.Decimal(text)
    return int(value) if value == value.to_integral_value() else float(value)


def lines(text):
    """Lines end with a newline, and with nothing else that Unicode calls a line break."""
    return [json.loads(line, parse_float=number) for line in (text or "").split("\n") if line]


def vocabularies():
    paths = [VOCABS / name / "tokenizer.json" for name in ("llama3_1", "qwen3")]
    found = [path for path in paths if path.exists()]
    for path in set(paths) - set(found):
        tally.skip(f"{path} is not there (./dev fetch vocabs)")
    if len(found) < len(paths):
        found.append(None)  # the embedded vocabulary
    return found


def schemas_of(request):
    out = {}
    for tool in request.get("tools") or request.get("functions", []):
        inner = tool.get("function") or tool.get("custom") or tool
        out[inner["name"]] = (
            inner.get("parameters")
            or inner.get("input_schema")
            or inner.get("inputSchema")
            or {"type": "object"}
        )
        if tool.get("type") == "custom" and "input_schema" not in inner:
            grammar = (inner.get("format") or {}).get("grammar") or inner.get("format") or {}
            text = {"type": "string"} | (
                {"pattern": f"^(?:{grammar['definition']})$"} if "definition" in grammar else {}
            )
            out[inner["name"]] = {
                "type": "object",
                "properties": {"input": text},
                "required": ["input"],
                "additionalProperties": False,
            }
    return out


def checker_of_formats():
    """What jsonschema knows of formats. RFC 3339 has a year 0000, and Python's dates have none: a
    date of it is judged as one of 2000, a leap year too.
    """
    known = jsonschema.Draft202012Validator.FORMAT_CHECKER
    checker = jsonschema.FormatChecker(formats=())
    checker.checkers = dict(known.checkers)

    def later(name):
        def is_valid(value):
            if isinstance(value, str) and value.startswith("0000-"):
                value = "2" + value[1:]
            return known.conforms(value, name)

        return is_valid

    for name in ("date", "date-time"):
        if name in known.checkers:
            checker.checkers[name] = (later(name), ())
    return checker


FORMATS = checker_of_formats()


def judge(parsed, schemas, *where):
    for call in parsed["calls"]:
        schema = schemas.get(call["name"])
        if not check(schema is not None and "incomplete" not in call, "call", call, *where):
            continue
        validator = jsonschema.Draft202012Validator(schema, format_checker=FORMATS)
        errors = [e.message for e in validator.iter_errors(call["arguments"])]
        check(not errors, "arguments", call["arguments"], errors, *where)


def listed(value):
    return value if isinstance(value, list) else [value]


def nudges(preset, names):
    out = []
    for call in preset["calls"]:
        for name in names:
            begin = call["begin"].replace("{name}", name)
            out += [begin, begin + "{"] if call["style"] == "json" else [begin]
    if preset.get("section"):
        out += listed(preset["section"]["begin"]) * len(out)
        out += [preset["section"]["separator"] or preset["section"]["end"]] * 4
    if preset.get("trigger"):
        out += listed(preset["trigger"])
    if preset["thinking"]:
        out += listed(preset["thinking"]["begin"])
        ends, after = (listed(preset["thinking"][key]) for key in ("end", "after"))
        out += [end + text for end in ends for text in after]
    for text in listed(preset.get("text") or []):
        out += list(text.values())
    for message in preset.get("messages", []):
        out += [*listed(message["begin"]), message["end"][0] + preset["message_separator"]]
    return out[:60]


# Presets whose formats differ in kind: these go through all choices.
FULLY = set(
    """cohere command deepseek-v3.2 functionary-v3.2 gemma4 glm4 gpt-oss kimi-k2 kimi-k3
    lfm2 llama3 minimax-m3 mistral-v11 qwen3 qwen3-coder""".split()
)
LONGEST = {}  # the longest token of each vocabulary
CHOICES = (  # the vocabulary, and the options
    (0, "--thinking", "auto"),
    (1, "--thinking", "auto"),
    (0, "--tool-choice", "required", "--no-parallel", "--thinking", "on"),
    (1, "--tool-choice", "required", "--thinking", "off"),
    (0, "--tool-choice", "get_weather", "--thinking", "off"),
    (1, "--tool-choice", "none", "--thinking", "off"),
    (1, "--tool-choice", "required", "--parallel", "--thinking", "on", "--max-thinking", "3"),
)


def round_trip():
    request = CASES / "chat_completions.json"
    schemas = schemas_of(json.loads(request.read_text(encoding="utf-8")))
    files = vocabularies()
    LONGEST.update(
        {
            f: 1024
            if f is None
            else max(map(len, json.loads(f.read_text(encoding="utf-8"))["model"]["vocab"]))
            for f in files
        }
    )
    total = calls = several = 0
    for path in PRESETS:
        preset = json.loads(path.read_text(encoding="utf-8"))
        name = preset["name"]
        nudge = [a for text in nudges(preset, schemas) for a in ("--nudge", text)]
        for case, (file, *arguments) in enumerate(CHOICES):
            if path.stem not in FULLY and (case + len(name)) % 3:
                continue  # of the others a third each
            if not turn(case + len(name) // 3, 3):
                continue
            file = files[file % len(files)]
            vocab = ["--vocab", file, "--vocab-cache", VOCABS] if file else []
            out = run(
                "--preset",
                name,
                "--tools",
                request,
                *vocab,
                *arguments,
                *nudge,
                "--generate",
                ANSWERS,
                "--seed",
                case,
            )
            answers = lines(out)
            check(len(answers) == ANSWERS, "answers", name, arguments, len(answers))
            for answer in answers:
                parsed, text = answer["parsed"], answer["text"]
                total += 1
                calls += len(parsed["calls"])
                several += len(parsed["calls"]) > 1
                judge(parsed, schemas, name, file, arguments, repr(text))
                if "required" in arguments or "get_weather" in arguments:
                    check(parsed["calls"], "a call is required", name, arguments, repr(text))
                if "--no-parallel" in arguments or "get_weather" in arguments:
                    check(len(parsed["calls"]) <= 1, "one call", name, arguments, repr(text))
                if "get_weather" in arguments:
                    check(
                        [c["name"] for c in parsed["calls"]] == ["get_weather"],
                        "the tool that was named",
                        name,
                        repr(text),
                    )
                if "--max-thinking" in arguments and not preset.get(
                    "messages"
                ):  # exactly how many: tests/tags/test_tags.c
                    check(
                        len(parsed["reasoning"].encode()) <= 6 * LONGEST[file],
                        "short thinking",
                        name,
                        repr(text),
                    )
                if "none" in arguments:
                    check(not parsed["calls"], "no call", name, repr(text))
                    text = text.removesuffix(preset.get("end", ""))
                    contents = [text] + [
                        text.removeprefix(form["begin"]).removesuffix(form["end"])
                        for form in listed(preset.get("text") or [])
                        if text.startswith(form["begin"])
                    ]
                    if not preset.get("messages"):
                        check(parsed["content"] in contents, "free text", name, repr(text), parsed)
    print(
        f"  round: {len(PRESETS)} presets, {total} answers, {calls} calls, {several} answers with "
        "several"
    )
    check(calls > total // 2 and several > total // 10, "few calls", calls, several)


def markup(preset):
    """Texts that no content has. Prose may have what has no letter ("]"), or is a word ("all")."""
    section, thinking = preset.get("section") or {}, preset.get("thinking") or {}
    found = [listed(preset.get("exclude") or []), listed(preset.get("trigger") or [])]
    found += [listed(form[key]) for form in (section, thinking) for key in ("begin", "end") if form]
    found += [[text["begin"], text["end"]] for text in listed(preset.get("text") or [])]
    found += [listed(message["begin"]) for message in preset.get("messages", [])]
    every = {text for texts in found for text in texts}
    return {text for text in every if re.search(r"[^\W\d]", text) and re.search(r"[^\w\s]", text)}


def every_choice(answers, seed, only):
    """All presets, choices and ways of thinking, with two vocabularies. They come in the order of a
    seed, so that a run that is stopped has seen a bit of everything.
    """
    request = CASES / "chat_completions.json"
    schemas = schemas_of(json.loads(request.read_text(encoding="utf-8")))
    presets = [json.loads(path.read_text(encoding="utf-8")) for path in PRESETS]
    presets = [preset for preset in presets if only in (None, preset["name"])]
    rounds = [
        (preset, file, choice, thinking)
        for preset in presets
        for file in vocabularies()
        for choice in ("auto", "required", "get_weather")
        for thinking in (("auto", "on", "off") if preset["thinking"] else ("auto", "off"))
    ]
    random.Random(seed).shuffle(rounds)
    total = calls = marked = 0
    for at, (preset, file, choice, thinking) in enumerate(rounds):
        marks, name = markup(preset), preset["name"]
        options = ["--tool-choice", choice, "--thinking", thinking]
        options += ["--vocab", file, "--vocab-cache", VOCABS] if file else []
        nudge = [a for text in nudges(preset, schemas) for a in ("--nudge", text)]
        draw = ["--generate", answers, "--seed", seed + at]
        found = lines(run("--preset", name, "--tools", request, *options, *nudge, *draw))
        check(len(found) == answers, "answers", name, options, len(found))
        for answer in found:
            parsed, where = answer["parsed"], (name, options, answer["text"])
            total += 1
            calls += len(parsed["calls"])
            judge(parsed, schemas, *where)
            check(choice == "auto" or parsed["calls"], "a call is required", *where)
            inside = [m for m in marks if m in parsed["content"]]
            marked += bool(inside)
            check(not inside, "markup in the content", inside, *where)
        if at % 20 == 19 or at + 1 == len(rounds):
            print(
                f"  every choice: {at + 1} of {len(rounds)} combinations, {total} answers, {calls} "
                f"calls, {tally.failed} different, {marked} with markup in the content",
                flush=True,
            )


def demands(request):
    """What the tool choice of a request demands: the names of the tools that may be called, whether
    one must be, whether several may be.
    """
    choice = request.get("tool_choice")
    schemas = schemas_of(request)
    one = request.get("parallel_tool_calls") is False
    if "functions" in request:
        name = request["function_call"]["name"]
        return {name: schemas[name]}, True, True
    if not isinstance(choice, dict):
        return schemas, choice == "required", one
    one = one or choice.get("disable_parallel_tool_use", False)
    if choice["type"] == "allowed_tools":
        inner = choice.get("allowed_tools", choice)
        names = {(t.get("function") or t.get("custom") or t)["name"] for t in inner["tools"]}
        return {n: schemas[n] for n in names}, inner["mode"] == "required", one
    if choice["type"] in ("tool", "function", "custom"):
        name = (choice.get("function") or choice.get("custom") or choice)["name"]
        return {name: schemas[name]}, True, True
    return schemas, choice["type"] == "any", one


def format_of(request):
    found = (
        request.get("response_format")
        or request.get("text", {}).get("format")
        or request.get("output_format")
    )
    return found and (found.get("json_schema", found).get("schema"))


def requests():
    called = 0
    for place, path in enumerate(sorted(CASES.glob("*.json"))):
        request = json.loads(path.read_text(encoding="utf-8"))
        request = request.get("result", request)
        schemas, required, one = demands(request)
        wanted = format_of(request)
        for at, preset in enumerate(("qwen3", "qwen3-coder", "gpt-oss", "llama4-pythonic")):
            if not turn(place + at, 2):
                continue
            out = run("--preset", preset, "--tools", path, "--compile")
            check(out is not None and out.startswith("compiled in"), "compiles", path, preset)
            out = run(
                "--preset",
                preset,
                "--tools",
                path,
                "--thinking",
                "off",
                "--generate",
                6,
                "--nudge",
                "<tool_call>",
            )
            for line in lines(out):
                parsed = line["parsed"]
                judge(parsed, schemas, path, line)
                called += len(parsed["calls"])
                check(not required or parsed["calls"], "a call is required", path, line)
                check(not one or len(parsed["calls"]) <= 1, "one call", path, line)
                if wanted and not parsed["calls"]:
                    errors = [
                        e.message
                        for e in jsonschema.Draft202012Validator(wanted).iter_errors(
                            json.loads(parsed["content"])
                        )
                    ]
                    check(not errors, "the response format", path, line, errors)
    print(f"  requests: {len(list(CASES.glob('*.json')))} files, {called} calls")


def mismatches(folder):
    """An answer that does not match is reported once: where, or as not complete."""
    for content, message in (
        (b"x\xff", "does not match from byte 1 on"),
        (b"\xffx", "does not match from byte 0 on"),
        (b"x<tool_call>", "is not complete"),
    ):
        answer = folder / "answer.txt"
        answer.write_bytes(content)
        for stream in ([], ["--stream"]):
            done = subprocess.run(
                [
                    CLI,
                    "tools",
                    "--preset",
                    "qwen3",
                    "--tools",
                    CASES / "chat_completions.json",
                    "--thinking",
                    "off",
                    *stream,
                    "--parse",
                    answer,
                ],
                capture_output=True,
                cwd=ROOT,
            )
            err = done.stderr.decode("utf-8", "replace")
            check(
                done.returncode == 1 and message in err and err.count("the answer") == 1,
                "one message",
                content,
                stream,
                done.returncode,
                err,
            )


def free_text(folder):
    request = CASES / "chat_completions.json"
    maker = random.Random(7)
    count = 0
    for place, path in enumerate(PRESETS):
        preset = json.loads(path.read_text(encoding="utf-8"))
        if preset.get("messages"):
            continue
        triggers = listed(
            preset["section"]["begin"] if preset.get("section") else preset["trigger"]
        )
        forbidden = [*triggers, *preset["exclude"]]
        texts = []
        while len(texts) < 60:
            trigger = maker.choice(triggers)
            pieces = [
                trigger[: maker.randrange(len(trigger))],
                trigger[maker.randrange(1, len(trigger)) :],
                "".join(
                    chr(
                        maker.choice((65, 0xE4, 0x4E2D, 0x1F600, 10, 92, 34, 60))
                        + maker.randrange(9)
                    )
                    for _ in range(maker.randrange(8))
                ),
                " ",
            ]
            text = "".join(maker.choice(pieces) for _ in range(maker.randrange(1, 12)))
            if not any(f in text for f in forbidden):
                texts.append(text)
        batch = folder / "free.bin"
        batch.write_bytes(b"".join(t.encode("utf-8") + b"\0" for t in texts))
        for at, thinking in enumerate(("off", "auto")):
            if not turn(place + at, 2):
                continue
            out = run(
                "--preset",
                preset["name"],
                "--tools",
                request,
                "--thinking",
                thinking,
                "--parse",
                batch,
                "--null",
            ) or "\n" * len(texts)
            for text, line in zip(texts, out.split("\n")[:-1], strict=True):
                parsed = json.loads(line or "null")
                count += 1
                check(
                    parsed and parsed["content"] == text and not parsed["calls"],
                    "unaltered",
                    preset["name"],
                    repr(text),
                    line,
                )
    print(f"  free: {count} texts")


MARKER = "]<]minimax[>["
LEAVES = (
    {"type": "string"},
    {"type": "string", "pattern": "^[a-z]+$"},
    {"type": "integer", "minimum": -9, "maximum": 99},
    {"type": "boolean"},
    {"type": "null"},
    {"enum": ["a", "1", 1, "", [], [1, "x"], {"k": ["v"]}, None]},
    {"type": ["string", "integer", "null"]},
    {},
    {"$ref": "#"},
)


def nested_schema(draw, depth):
    kind = draw.randrange(4) if depth else 0
    if kind < 2:
        return draw.choice(LEAVES)
    if kind == 2:
        return {"type": "array", "items": nested_schema(draw, depth - 1)} | draw.choice(
            ({}, {"minItems": 1}, {"maxItems": 2}, {"contains": {"type": "array"}})
        )
    names = draw.sample(("a", "b", "x y", 'q"', "ключ", "item"), draw.randint(1, 3))
    return {
        "type": "object",
        "properties": {n: nested_schema(draw, depth - 1) for n in names},
        "required": [n for n in names if draw.random() < 0.4],
    }


def elements(value):
    if isinstance(value, dict):
        return "".join(f"{MARKER}<{k}>{elements(v)}{MARKER}</{k}>" for k, v in value.items())
    if isinstance(value, list):
        return "".join(f"{MARKER}<item>{elements(v)}{MARKER}</item>" for v in value)
    return value if isinstance(value, str) else json.dumps(value)


def closed_alike(text):
    """The text with each element closed by the name with which it was opened. Behind a key that the
    schema does not name, any name may stand there.
    """
    open_names, out, at = [], [], 0
    for tag in re.finditer(re.escape(MARKER) + r"<(/?)([^>]*)>", text):
        out.append(text[at : tag.start()])
        at = tag.end()
        if not tag[1]:
            open_names.append(tag[2])
        out.append(f"{MARKER}<{tag[1]}{open_names.pop() if tag[1] else tag[2]}>")
    return "".join(out) + text[at:]


def nested(folder):
    draw, answers, inside, empty = random.Random(4), 0, 0, 0
    nudge = [
        a
        for text in (MARKER + "<", MARKER + "</", MARKER, "item>", MARKER + "<item>", ">", "\n")
        for a in ("--nudge", text)
    ]
    for case in range(40):
        schema = {
            "type": "object",
            "properties": {"x": nested_schema(draw, 3), "y": nested_schema(draw, 2)},
            "required": ["x"],
        }
        content = {
            "type": "json_schema",
            "as": "arguments",
            "style": "minimax_m3_xml",
            "json_schema": schema,
            "any_order": case % 2 == 0,
        }
        file = folder / "nested.json"
        file.write_text(
            json.dumps(
                {
                    "type": "tag",
                    "as": "call",
                    "name": "f",
                    "begin": "<f>",
                    "content": content,
                    "end": "</f>",
                }
            ),
            encoding="utf-8",
        )
        done = subprocess.run(
            [CLI, "tools", "--tags", file, *nudge, "--generate", "5", "--seed", str(case)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )
        if (
            done.returncode and b"TSL_ERR_EMPTY" in done.stderr
        ):  # x has itself in it, or an array that nothing satisfies
            empty += 1
            continue
        check(
            done.returncode == 0,
            "status",
            done.returncode,
            schema,
            done.stderr.decode("utf-8", "replace")[-600:],
        )
        for line in done.stdout.decode("utf-8", "replace").split("\n")[:-1]:
            answer = json.loads(line)
            judge({"calls": lines(line)[0]["parsed"]["calls"]}, {"f": schema}, repr(answer["text"]))
            spelled = json.loads(line, parse_int=str, parse_float=str)["parsed"]["calls"][0][
                "arguments"
            ]  # as they stand in the text
            text = closed_alike(re.sub(r"(\]<\]minimax\[>\[</[^>]*>)\n", r"\1", answer["text"]))
            check(text == f"<f>{elements(spelled)}</f>", "elements", repr(answer["text"]), spelled)
            answers += 1
            inside += any(isinstance(v, (dict, list)) and v for v in spelled.values())
    print(
        f"  nested: {answers} answers, {inside} with elements inside elements; {empty} schemas "
        "that nothing satisfies"
    )
    check(answers > 100 and inside > 30, "few elements", answers, inside, empty)


def embedded(folder):
    copy, names = folder / "tree", ("schema/metaschemas.c", "tools/presets.c")
    for name in ("schemas", "scripts"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for room in ("schema", "tools"):
        (copy / "compiler" / room).mkdir(parents=True)
    embed = [sys.executable, str(copy / "scripts" / "embed.py")]
    subprocess.run(embed, check=True)
    for name in names:
        check(
            (copy / "compiler" / name).read_bytes() == (ROOT / "compiler" / name).read_bytes(),
            "scripts/embed.py writes what is in the tree",
            name,
        )
    (copy / "schemas" / "tools" / "zz.json").write_bytes(
        (copy / "schemas" / "tools" / "qwen3.json").read_bytes()
    )
    done = subprocess.run(embed, capture_output=True, text=True)
    check(
        done.returncode == 1
        and "zz.json: there is a preset qwen3 already, in qwen3.json" in done.stderr,
        "a preset of a name that there is",
        done.stderr,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", type=int, metavar="N", help="answers of each combination")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="NAME", help="with --all: one preset")
    options = parser.parse_args()
    if options.all:
        every_choice(options.all, options.seed, options.only)
        return tally.finish()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        embedded(folder)
        requests()
        mismatches(folder)
        free_text(folder)
        round_trip()
        nested(folder)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
