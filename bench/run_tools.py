#!/usr/bin/env python3
"""`./dev bench tools`: from a request with many tools to the first mask, for every preset.

    ./dev bench tools [--tools N] [--bytes N] [--runs N] [--preset NAME] [--out DIR | --out -]

Makes a request with 500 tools whose schemas have 2 KB each, no two alike. They have nested objects,
arrays, lists of words, bounds, formats, references; each member has a description. Runs
`turnstile-bench tools` on it with Llama-3.1's vocabulary, pinned to one processor, and writes
DIR/tools.md and DIR/tools.json (docs/bench/ without --out; "-": prints only). Presets whose median
is above the goal of 5 ms are named.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
VOCAB = ROOT / "build" / "vocabs" / "llama3_1" / "tokenizer.json"
GOAL_US = 5000
WORDS = """account address amount archive author balance batch branch bucket budget calendar
    category channel city client cluster code comment company contact content country currency
    customer date deadline delivery device discount document domain driver due email end event
    export field file filter folder format group host image index invoice issue item key label
    language level limit line link location login mail manager market member message meeting
    method mode model month name network node note number object offer option order owner page
    partner password path payment period phone place plan policy post price priority process
    product profile project provider query queue range rate reason record region remote report
    request result review role room route rule schedule score search section sender server
    service session shop sort source stage start state status step store subject summary tag
    target task team template test text theme ticket time title token topic total track type
    unit update user value vendor version view visit volume week window year zone""".split()
VERBS = (
    "add archive assign book cancel check close compare convert copy count create delete "
    "describe export fetch filter find forward get import invite list lock merge move open "
    "order pay plan print publish query read rename reply report search send set share show "
    "sort start stop sync tag test track translate unlock update upload verify watch"
).split()


def sentence(rng, n):
    return " ".join(rng.choice(WORDS) for _ in range(n)).capitalize() + "."


def value(rng, depth):
    """A schema for one argument."""
    kind = rng.choice(
        [
            "string",
            "string",
            "string",
            "integer",
            "number",
            "boolean",
            "enum",
            "enum",
            "array",
            "object",
            "nullable",
        ]
        if depth
        else ["string", "integer", "boolean", "enum"]
    )
    about = {"description": sentence(rng, rng.randrange(4, 12))}
    if kind == "string":
        return (
            about
            | {"type": "string"}
            | rng.choice(
                [
                    {},
                    {},
                    {},
                    {"minLength": 1, "maxLength": rng.choice([40, 80, 200])},
                    {"format": rng.choice(["date", "date-time", "uuid", "email"])},
                    {
                        "pattern": rng.choice(
                            ["^[A-Z]{2}-[0-9]{4}$", "^[a-z][a-z0-9_]*$", "^#[0-9a-f]{6}$"]
                        )
                    },
                ]
            )
        )
    if kind in ("integer", "number"):
        low = rng.randrange(0, 10)
        return (
            about
            | {"type": kind}
            | rng.choice(
                [{}, {"minimum": low}, {"minimum": low, "maximum": low + rng.randrange(1, 1000)}]
            )
        )
    if kind == "boolean":
        return about | {"type": "boolean", "default": rng.random() < 0.5}
    if kind == "enum":
        return about | {"type": "string", "enum": rng.sample(WORDS, rng.randrange(2, 7))}
    if kind == "array":
        return (
            about
            | {"type": "array", "items": value(rng, 0)}
            | rng.choice([{}, {"minItems": 1}, {"maxItems": rng.randrange(2, 30)}])
        )
    if kind == "nullable":
        return about | {"anyOf": [{"type": "string"}, {"type": "null"}]}
    return about | members(rng, rng.randrange(2, 4), depth - 1)


def members(rng, n, depth):
    names = rng.sample(WORDS, n)
    names = [name if rng.random() < 0.5 else f"{name}_{rng.choice(WORDS)}" for name in names]
    properties = {name: value(rng, depth) for name in names}
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if rng.random() < 0.5],
        "additionalProperties": False,
    }


def compact(value):
    return json.dumps(value, separators=(",", ":"))


def parameters(rng, size):
    """A schema of at least `size` bytes."""
    schema = members(rng, 4, 2)
    if rng.random() < 0.3:
        schema["$defs"] = {
            "range": {
                "type": "object",
                "properties": {
                    "from": {"type": "string", "format": "date"},
                    "to": {"type": "string", "format": "date"},
                },
                "required": ["from"],
            }
        }
        schema["properties"]["range"] = {"$ref": "#/$defs/range"}
    while len(compact(schema)) < size:
        schema["properties"][f"{rng.choice(WORDS)}_{rng.choice(WORDS)}"] = value(rng, 1)
    return schema


def tool(rng, i, size):
    name = f"{rng.choice(VERBS)}_{rng.choice(WORDS)}_{i}"
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": sentence(rng, 12),
            "parameters": parameters(rng, size),
        },
    }


def requests(count, size):
    """Two requests; of the second one the middle tool is another one."""
    rng = random.Random(2026)
    tools = [tool(rng, i, size) for i in range(count)]
    other = list(tools)
    other[count // 2] = tool(rng, count, size)
    return tuple(
        {"model": "m", "messages": [], "tools": t, "tool_choice": "auto"} for t in (tools, other)
    )


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")),
        platform.machine(),
    )


def table(rows):
    lines = [
        "| preset | compiled | first mask after | the least | one tool replaced, `over` |",
        "|---|---:|---:|---:|---:|",
    ]
    over = {r["preset"]: r for r in rows if r["what"] == "over"}
    for r in rows:
        if r["what"] == "tools":
            cells = [
                r["compiled_p50_us"],
                r["mask_p50_us"],
                r["mask_least_us"],
                over[r["preset"]]["mask_p50_us"],
            ]
            lines.append(
                f"| `{r['preset']}` | " + " | ".join(f"{us / 1000:.2f}" for us in cells) + " |"
            )
    return "\n".join(lines)


def report(rows, tools, options):
    sizes = [len(compact(t["function"]["parameters"])) for t in tools["tools"]]
    what = (
        f"{len(sizes)} tools with schemas of {min(sizes):,} to {max(sizes):,} bytes "
        f"({sum(sizes) // len(sizes):,} on average; a request of {len(compact(tools)):,} bytes), "
        "Llama-3.1's vocabulary, one "
        f"processor ({processor()}), load {os.getloadavg()[0]:.1f}, "
        f"{datetime.date.today().isoformat()}. Times are medians of {options.runs} runs, in "
        "milliseconds. The first run of a process makes what the vocabulary keeps, and took "
        f"{rows[0]['first_us'] / 1000:.1f} ms."
    )
    return [
        "# Many tools",
        "",
        "Made by `./dev bench tools`.",
        "",
        what,
        "",
        table(rows),
        "",
        "`over`: a second request differs from the first in one tool. It is compiled over the "
        "tables of the first request's grammar (`tsl_tools_options`). The time is up to its first "
        "mask.",
        "",
    ]


def main():
    parser = argparse.ArgumentParser(
        prog="./dev bench tools",
        description="from a request with many tools to the first mask, for every preset",
    )
    parser.add_argument("--tools", type=int, default=500, help="tools of the request")
    parser.add_argument("--bytes", type=int, default=2048, help="least size of a schema")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--preset", help="this preset only")
    parser.add_argument("--request", type=pathlib.Path, help="only write the request to this file")
    parser.add_argument(
        "--out", default=str(ROOT / "docs" / "bench"), help="folder of the report, - for none"
    )
    options = parser.parse_args()
    first, second = requests(options.tools, options.bytes)
    if options.request:
        options.request.write_text(compact(first), encoding="utf-8")
        return 0
    if hasattr(os, "sched_setaffinity"):  # one core, so that no migration is measured
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, request in (("first.json", first), ("second.json", second)):
            (folder / file).write_text(compact(request), encoding="utf-8")
        command = [
            str(ROOT / "build" / "turnstile-bench"),
            "tools",
            "--vocab",
            str(VOCAB),
            "--request",
            str(folder / "first.json"),
            "--over",
            str(folder / "second.json"),
            "--runs",
            str(options.runs),
        ]
        done = subprocess.run(
            command + (["--preset", options.preset] if options.preset else []),
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )
    if done.returncode:
        return done.returncode
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    text = "\n".join(report(rows, first, options))
    print(text)
    if options.out != "-":
        pathlib.Path(options.out, "tools.md").write_text(text, encoding="utf-8")
        pathlib.Path(options.out, "tools.json").write_text(
            json.dumps(rows, indent=1) + "\n", encoding="utf-8"
        )
    slow = [r["preset"] for r in rows if r["mask_p50_us"] > GOAL_US and r["what"] == "tools"]
    if slow:
        print(f"above the goal of {GOAL_US / 1000:g} ms: {', '.join(slow)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
