#!/usr/bin/env python3
"""`./dev bench fresh`: schemas that nobody tuned for.

    ./dev bench fresh --seed N [--schemas N] [--texts N] [--vocab F] [--slowest N] [--keep DIR]
                      [--clock wall|processor] [--prefetch US]

bench/fresh_schemas.py draws N schemas (default 1,000) of seven families by the seed. `turnstile
generate` makes texts of each (default 3), and `turnstile-bench maskbench` follows them as it does
MaskBench's: every mask and commit timed by itself. Printed are microseconds, the memory of a
schema, and the schemas with the slowest steps. A schema that nothing satisfies, or whose texts
would be too long, is left out and counted. --keep DIR: the data, and one line of results for each
schema, stay in DIR. --clock processor: time of the processor, for a machine with other work.
--prefetch US: after each token the library makes masks ahead for US microseconds.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

import drive
import fresh_schemas

GENERATE_S = 60


def texts_of(folder, seed, number, schema, count):
    """Texts of a schema; an empty list: there are none, and why."""
    path = pathlib.Path(folder, f"{number}.json")
    path.write_text(schema, encoding="utf-8")
    command = [
        drive.BUILD / "turnstile",
        "generate",
        "--schema",
        path,
        "--seed",
        str(seed + number),
    ]
    command += ["-n", str(count), "--max-tokens", "600", "-0"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=GENERATE_S)
    except subprocess.TimeoutExpired:
        return [], f"no text within {GENERATE_S} s"
    if done.returncode > 1:
        return [], done.stderr.decode("utf-8", "replace").strip()[-200:]
    texts = [text.decode("utf-8") for text in done.stdout.split(b"\0") if text]
    return texts, "" if texts else "the shortest text is too long"


def write_data(options, folder):
    """The data file, and the reasons of what is left out, by schema."""
    data, left_out = pathlib.Path(folder, "fresh.jsonl"), {}
    made = [
        (name, json.dumps(schema))
        for name, schema in fresh_schemas.schemas(options.seed, options.schemas)
    ]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, data.open("w") as out:
        found = pool.map(
            lambda at: texts_of(folder, options.seed, at[0], at[1][1], options.texts),
            enumerate(made),
        )
        for (name, schema), (texts, why) in zip(made, found):
            if not texts:
                left_out[name] = why
                continue
            tests = [{"valid": True, "text": text} for text in texts]
            out.write(json.dumps({"id": name, "schema": schema, "tests": tests}) + "\n")
    return data, left_out


def slowest_of(rows, count):
    """[(microseconds, identifier)] of the slowest steps, one for each schema."""
    worst = [(max(drive.steps_of(row), default=0), row["id"]) for row in drive.read_lines(rows)]
    return sorted(worst, reverse=True)[:count]


def main():
    parser = argparse.ArgumentParser(prog="dev bench fresh", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, required=True, help="of the schemas and their texts")
    parser.add_argument("--schemas", type=int, default=1000)
    parser.add_argument("--texts", type=int, default=3, help="of each schema")
    parser.add_argument("--vocab", default=str(drive.LLAMA), help="of the measurement")
    parser.add_argument("--slowest", type=int, default=10, help="schemas to be listed")
    parser.add_argument("--jobs", type=int, default=1, help="texts that are made at once")
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall")
    parser.add_argument("--prefetch", type=int, default=0, help="microseconds behind each token")
    parser.add_argument("--keep", help="a folder for the data and the results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        keep = pathlib.Path(options.keep or folder)
        keep.mkdir(parents=True, exist_ok=True)
        data, left_out = write_data(options, keep)
        rows = keep / "rows.jsonl"
        done = drive.measure(
            options.vocab,
            data,
            rows,
            16,
            "--clock",
            options.clock,
            "--prefetch",
            str(options.prefetch),
        )
        print(done.stderr, end="", file=sys.stderr)
        for name, why in left_out.items():
            print(f"  left out: {name}: {why}", file=sys.stderr)
        print(
            f"seed {options.seed}: {options.schemas - len(left_out)} schemas of {options.schemas}"
        )
        for microseconds, name in slowest_of(rows, options.slowest):
            print(f"  {microseconds:>9.0f} µs  {name}")
        print(done.stdout.strip().splitlines()[-1] if done.stdout else "{}")
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
