#!/usr/bin/env python3
"""turnstile generate and demo: what they write is what they say.

Texts are judged by others where that is possible: jsonschema for schemas, Python's re for regexes.
Always they are judged by `check`.

SPDX-License-Identifier: Apache-2.0
"""

import decimal
import json
import pathlib
import re

from cli_checks import (
    EXAMPLES,
    GRAMMARS,
    PAIR,
    SCHEMAS,
    check,
    expect,
    files,
    run,
    skip,
    turn,
    turnstile,
    validator_for,
)


def generate_schemas():
    judged = True
    for number, path in enumerate(SCHEMAS):
        schema = json.loads(
            path.read_text(), parse_float=decimal.Decimal
        )  # a float 0.01 would divide nothing
        validate = validator_for(schema)
        judged = judged and validate is not None
        for at, extra in enumerate(
            [
                [],
                ["--temperature", "0.7", "--top-k", "40", "--top-p", "0.95", "--min-p", "0.02"],
                ["--max-tokens", "100"],
                ["--order", "any"],
            ]
        ):
            if not turn(number + at, 4):
                continue
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
    for number, path in enumerate(GRAMMARS):
        if not turn(number, 2):
            continue
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
    """The events of a text are its parts, in the order of writing. Put together again, they are the
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
    found = re.search(
        r"nats before the mask, (-[\d.]+) after it; the grammar took ([\d.]+)", lines[-1]
    )
    before = float(re.search(r"log-probability (-[\d.]+)", lines[-1]).group(1))
    check(
        found and abs(before - (float(found.group(1)) - float(found.group(2)))) < 0.03,
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


run(
    [
        (generate_schemas, "generate: schemas, judged by jsonschema"),
        (generate_regexes, "generate: regexes, judged by re"),
        (generate_grammars, "generate: example grammars"),
        (generate_options, "generate: seeds, limits, bad values"),
        (generate_stats, "generate: where the grammar fights the model"),
        (generate_events, "generate: events"),
        (generate_wind_down, "generate: winding down"),
        (demonstration, "demo"),
    ]
)
