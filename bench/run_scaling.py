#!/usr/bin/env python3
"""`./dev bench scaling`: what grows when an input grows.

    ./dev bench scaling [--axis NAME]... [--quick] [--out DIR]

Each axis makes schemas (or texts, batches, threads) of growing size, and `turnstile-bench scale`
measures four things. Cost per step is mask + commit, an average over the text, for the first visit
and the second pass. The second is the time from schema to first mask. Bytes per sequence are the
grammar's tables divided by its one sequence. The fourth is the steps of walks. A "cliff" is a
growth of more than 3 times in the cost per step from one point to any later one. The report names
each. Writes DIR/scaling.jsonl, scaling.md and scaling.svg (docs/bench/ without --out).

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
VOCABS = ROOT / "build" / "vocabs"
LLAMA = VOCABS / "llama3_1" / "tokenizer.json"
CLIFF = 3.0
FLOOR_US = 1.0  # growth below this cost per step is no cliff: the copy of a mask varies as much
TEXT = "a plain sentence, some words long, "


def string_of(n):
    return (TEXT * (n // len(TEXT) + 1))[:n]


def compact(value):
    return json.dumps(value, separators=(",", ":"))


# Each axis: name -> (what it is, points, quick points, point -> (schema, instance)).
def max_length(n):
    return {"type": "string", "maxLength": n}, string_of(min(n, 2000))


def max_items(n):
    return {"type": "array", "items": {"type": "integer"}, "maxItems": n}, [12] * min(n, 800)


def min_length(n):
    return {"type": "string", "minLength": n}, string_of(n)


def enum(n):
    values = [f"value-{i * 7919 % 1000003:06d}-x" for i in range(n)]
    return {"type": "array", "items": {"enum": values}}, [values[i * n // 40] for i in range(40)]


def any_of(n):
    parts = [
        {
            "type": "object",
            "properties": {
                f"key{i}": {"type": "integer"},
                "name": {"type": "string"},
                "kind": {"const": f"k{i}"},
            },
            "required": ["kind"],
            "additionalProperties": False,
        }
        for i in range(n)
    ]
    return {"type": "array", "items": {"anyOf": parts}}, [
        {f"key{i * n // 8}": 1, "name": "some name", "kind": f"k{i * n // 8}"} for i in range(8)
    ]


def properties(n):
    schema = {
        "type": "object",
        "properties": {f"property_{i}_name": {"type": ["integer", "string"]} for i in range(n)},
        "additionalProperties": False,
    }
    return schema, {f"property_{i * n // 40}_name": i for i in range(min(40, n))}


def patterns(n):
    return {
        "type": "string",
        "pattern": "^" + "".join(f"(a{i}|b{i})?" for i in range(n)) + "$",
    }, "".join(f"a{i}" for i in range(0, n, max(1, n // 50)))


def schema_bytes(n):
    def group(i):
        return {
            "type": "object",
            "description": "a group of members " * 3,
            "properties": {f"m{i}_{k}": {"type": "string", "maxLength": 80} for k in range(8)},
        }

    count = max(1, n // 500)
    schema = {"type": "object", "properties": {f"group{i}": group(i) for i in range(count)}}
    return schema, {
        f"group{i * count // 10}": {f"m{i * count // 10}_3": "text"} for i in range(min(10, count))
    }


def depth(n):
    schema = {
        "$ref": "#/$defs/l",
        "$defs": {"l": {"type": "array", "items": {"$ref": "#/$defs/l"}}},
    }
    return schema, "[" * n + "]" * n


def output(n):
    return {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"id": {"type": "integer"}, "text": {"type": "string"}},
            "required": ["id"],
        },
    }, [{"id": i, "text": "some words of text"} for i in range(max(1, n // 14))]


AXES = {
    "maxLength": (
        "characters allowed in a string",
        [10, 100, 1000, 10**4, 10**5, 10**6],
        max_length,
    ),
    "minLength": ("characters demanded of a string", [10, 100, 1000, 10**4], min_length),
    "maxItems": ("items allowed in an array", [10, 100, 1000, 10**4, 10**5, 10**6], max_items),
    "enum": ("strings in an enum", [10, 100, 1000, 10**4, 10**5], enum),
    "anyOf": ("branches, objects that one member distinguishes", [2, 8, 32, 128, 500], any_of),
    "properties": ("members of an object, any order", [10, 100, 1000], properties),
    "pattern": ("optional groups of a pattern", [10, 30, 100, 300], patterns),
    "schema": ("bytes of schema", [10**3, 10**4, 10**5, 10**6], schema_bytes),
    "depth": ("levels of arrays in the text", [10, 100, 1000, 10**4], depth),
    "output": ("tokens of output", [100, 10**3, 10**4, 10**5, 10**6], output),
}
VOCABULARIES = [
    ("embedded", "embedded"),
    ("p50k_base", VOCABS / "p50k_base.tiktoken"),
    ("cl100k_base", VOCABS / "cl100k_base.tiktoken"),
    ("Llama-3.1", LLAMA),
    ("Qwen3", VOCABS / "qwen3" / "tokenizer.json"),
    ("o200k_base", VOCABS / "o200k_base.tiktoken"),
    ("Gemma 3", VOCABS / "gemma3" / "tokenizer.json"),
]


def bench(vocab, cases, timeout):
    """One line of results per case; a case that does not end in time says so."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = pathlib.Path(folder, "data.jsonl"), pathlib.Path(folder, "out.jsonl")
        data.write_text("".join(json.dumps(c) + "\n" for c in cases), encoding="utf-8")
        command = [
            str(ROOT / "build" / "turnstile-bench"),
            "maskbench",
            "--vocab",
            str(vocab),
            "--vocab-cache",
            str(VOCABS),
            "--data",
            str(data),
            "--out",
            str(out),
            "--timeout",
            str(timeout),
            "--samples",
            "yes",
            "--verify",
            "0",
            "--max-memory",
            "1024",
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr[-500:])
        return [
            json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()
        ], json.loads(done.stdout.splitlines()[-1])


def case(name, schema, instance):
    text = instance if isinstance(instance, str) and name == "depth" else compact(instance)
    return {"id": name, "schema": compact(schema), "tests": [{"valid": True, "text": text}]}


def measure(vocab, name, size, schema, instance, timeout):
    # One case that is not counted goes first: what a vocabulary makes once is in nobody's figures.
    lines, totals = bench(vocab, [case("warm-up", {}, "a"), case(name, schema, instance)], timeout)
    line = lines[1]
    samples = sorted(m + c for m, c in zip(line["mask_samples_us"], line["commit_samples_us"]))
    return {
        "axis": name,
        "size": size,
        "outcome": line["outcome"],
        "message": line.get("message", ""),
        "tokens": line["tokens"],
        "ttfm_us": line["ttfm_us"],
        "step_us": sum(samples) / len(samples) if samples else None,
        "p50_us": samples[len(samples) // 2] if samples else None,
        "max_us": samples[-1] if samples else None,
        "second_us": totals.get("second_pass_us", {}).get("avg"),
        "memory_kb": line["memory_kb"],
    }


def threads(quick):
    """Rows of `turnstile-bench batch`: batch sizes and threads."""
    command = [
        str(ROOT / "build" / "turnstile-bench"),
        "batch",
        "--vocab",
        str(LLAMA),
        "--vocab-cache",
        str(VOCABS),
        "--rounds",
        "20" if quick else "200",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-500:])
    return [json.loads(line) for line in done.stdout.splitlines()]


def cliffs(rows):
    """Points of an axis whose step costs more than CLIFF times that of an earlier, smaller one."""
    found, least = [], None
    for row in rows:
        if row["outcome"] != "pass" or row["step_us"] is None:
            found.append(f"{row['axis']} {row['size']}: {row['outcome']} {row['message']}".strip())
            continue
        if least is not None and row["step_us"] > CLIFF * max(least, FLOOR_US):
            found.append(
                f"{row['axis']} {row['size']}: {row['step_us']:.2f} µs a step, "
                f"{row['step_us'] / least:.1f} times the {least:.2f} of a smaller size"
            )
        least = row["step_us"] if least is None else min(least, row["step_us"])
    return found


def text(x, y, content, anchor="start", size=12):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{content}</text>'
    )


def plot(axes):
    """Cost per step over size, both logarithmic; one small plot per axis."""
    width, height, columns = 250, 170, 4
    body = []
    for i, (name, rows) in enumerate(axes.items()):
        points = [
            (math.log10(r["size"]), math.log10(max(r["step_us"], 0.01)))
            for r in rows
            if r["step_us"]
        ]
        x0, y0 = 55 + (i % columns) * (width + 60), 40 + (i // columns) * (height + 70)
        body += [
            text(x0, y0 - 12, name, size=13),
            f'<rect x="{x0}" y="{y0}" width="{width}" height="{height}" fill="none" '
            'stroke="#ccc"/>',
        ]
        if not points:
            continue
        low, high = points[0][0], max(points[-1][0], points[0][0] + 1)
        for power in range(-1, 5):
            y = y0 + height * (1 - (power + 1) / 5)
            body += [
                f'<line x1="{x0}" y1="{y}" x2="{x0 + width}" y2="{y}" stroke="#eee"/>',
                text(x0 - 5, y + 4, f"{10.0**power:g}", "end", 10),
            ]
        at = [
            (x0 + width * (x - low) / (high - low), y0 + height * (1 - (min(y, 4) + 1) / 5))
            for x, y in points
        ]
        body.append(
            '<polyline points="'
            + " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
            + '" fill="none" stroke="#c0392b" stroke-width="2"/>'
        )
        body += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#c0392b"/>' for x, y in at]
        body += [
            text(x0, y0 + height + 16, f"{rows[0]['size']:,}", size=10),
            text(x0 + width, y0 + height + 16, f"{rows[-1]['size']:,}", "end", 10),
        ]
    lines = math.ceil(len(axes) / columns)
    w, h = 40 + columns * (width + 60), 40 + lines * (height + 70)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
        'font-family="sans-serif" fill="#222">'
        f'<rect width="{w}" height="{h}" fill="#fff"/>' + "\n".join(body) + "</svg>\n"
    )


def figure(value):
    return "–" if value is None else f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


def table(rows):
    lines = [
        "| size | tokens | step, avg µs | p50 | worst | second pass | first mask µs | tables KiB "
        "| |",
        "|---" * 9 + "|",
    ]
    for r in rows:
        cells = [
            f"{r['size']:,}",
            f"{r['tokens']:,}",
            *(
                figure(r[k])
                for k in ("step_us", "p50_us", "max_us", "second_us", "ttfm_us", "memory_kb")
            ),
        ]
        lines.append(
            "| "
            + " | ".join(cells)
            + f" | {'' if r['outcome'] == 'pass' else r['outcome'] + ': ' + r['message']} |"
        )
    return "\n".join(lines)


def batch_table(rows):
    lines = [
        "| matchers | workers | µs a batch, rows known | µs a row | µs a batch, first visits |",
        "|---|---|---|---|---|",
    ]
    return "\n".join(
        lines
        + [
            f"| {r['matchers']:,} | {r['workers']} | {r['known_us']:,.1f} | "
            f"{r['known_us'] / r['matchers']:.2f} | {r['first_us']:,.1f} |"
            for r in rows
        ]
    )


def write(folder, axes, batches):
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        "# Scaling",
        "",
        f"Made by `./dev bench scaling` on {datetime.date.today().isoformat()}, with Llama-3.1's "
        "vocabulary unless said otherwise, members in any order, and one thread pinned to a "
        "core. A *step* is one mask, written in full, and one commit, at a position that is "
        "visited for the first time. *Second pass* is the average over the same text again, "
        "together with the few steps of the case before it. *Tables* is the memory of the "
        "grammar's tables, which serve one sequence here.",
        "",
        "![cost per step](scaling.svg)",
        "",
    ]
    found = [c for rows in axes.values() for c in cliffs(rows)]
    lines += [
        "## Cliffs",
        "",
        f"More than {CLIFF:g} times the cost per step of a smaller size (and more than "
        f"{CLIFF * FLOOR_US:g} µs), or no result:",
        "",
    ]
    lines += [f"- {c}" for c in found] or ["None."]
    for name, rows in axes.items():
        what = AXES[name][0] if name in AXES else "tokens of the vocabulary"
        lines += ["", f"## {name}: {what}", "", table(rows)]
    if batches:
        lines += [
            "",
            "## batch and threads",
            "",
            f"`tsl_batch_mask`, on {os.cpu_count()} processors; workers 0: the calling thread "
            "alone.",
            "",
            batch_table(batches),
        ]
    (folder / "scaling.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "scaling.svg").write_text(plot(axes), encoding="utf-8")
    with open(folder / "scaling.jsonl", "w", encoding="utf-8") as out:
        for row in [r for rows in axes.values() for r in rows] + batches:
            out.write(json.dumps(row) + "\n")
    return found


def main():
    parser = argparse.ArgumentParser(
        prog="./dev bench scaling", description="cost per step and bytes per sequence as sizes grow"
    )
    parser.add_argument(
        "--axis",
        action="append",
        choices=[*AXES, "vocabulary", "batch"],
        help="this axis only; may be repeated",
    )
    parser.add_argument(
        "--quick", action="store_true", help="leave out the largest size of each axis"
    )
    parser.add_argument("--timeout", type=int, default=60, help="seconds for one point")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "bench")
    options = parser.parse_args()
    wanted = options.axis or [*AXES, "vocabulary", "batch"]
    batches = (
        threads(options.quick) if "batch" in wanted else []
    )  # before pinning: threads need the other processors
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    axes = {}
    for name, (_, sizes, make) in AXES.items():
        if name in wanted:
            axes[name] = [
                measure(LLAMA, name, n, *make(n), options.timeout)
                for n in (sizes[:-1] if options.quick else sizes)
            ]
            print(
                f"{name}: "
                + ", ".join(f"{r['size']:,}: {figure(r['step_us'])}" for r in axes[name]),
                file=sys.stderr,
                flush=True,
            )
    if "vocabulary" in wanted:
        schema, instance = schema_bytes(2000)
        rows = []
        for name, path in VOCABULARIES:
            if name == "embedded" or path.is_file():
                size = bench(path, [case("x", {}, "a")], 60)[1]["vocab_size"]
                rows.append(
                    {
                        **measure(path, "vocabulary", size, schema, instance, options.timeout),
                        "vocabulary": name,
                    }
                )
        axes["vocabulary"] = sorted(rows, key=lambda r: r["size"])
    for cliff in write(options.out, axes, batches):
        print(f"cliff: {cliff}", file=sys.stderr)


if __name__ == "__main__":
    main()
