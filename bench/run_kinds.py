#!/usr/bin/env python3
"""`./dev bench kinds`: new inputs of the kinds that cost most, the worst step of each kind.

    ./dev bench kinds --seed N [--each N] [--texts N] [--tokens N] [--runs N] [--only KIND]...
                      [--vocab F] [--verify yes|no] [--keep DIR]

bench/kinds.py draws N inputs of each kind (default 3) by the seed. `turnstile-bench texts` draws
texts of each under its masks (default 2), and `turnstile-bench maskbench` follows them, members in
any order. Every mask and commit is timed by itself, in time of the processor. Of several runs
(default 3) the least counts for each figure: a pause of the machine hits some run, a slow step all
of them. Printed are, for each kind, the slowest compile to first mask, the slowest step and the
most memory; and the input that it was. --verify yes: one position of each input is compared, mask
against every token byte by byte. --keep DIR: the data, and one line of results for each input, stay
in DIR. Exit status 1 if a mask or an outcome was wrong.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import drive
import kinds


def write_data(options, folder):
    """The data file, and what is wrong with an input, by its name."""
    bare, data, wrong = folder / "bare.jsonl", folder / "kinds.jsonl", {}
    made = [
        {"id": name, **case, "tests": []}
        for name, case in kinds.kinds(options.seed, options.each)
        if not options.only or name.rsplit("-", 1)[0] in options.only
    ]
    drive.write_lines(bare, made)
    command = [drive.BENCH, "texts", "--data", bare, "--vocab", options.vocab]
    command += ["--texts", str(options.texts), "--tokens", str(options.tokens)]
    command += ["--seed", str(options.seed)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    for case, line in zip(made, done.stdout.splitlines()):
        result = json.loads(line.decode("utf-8", "replace"))
        if result["status"] != "TSL_OK":
            wrong[case["id"]] = f"{result['status']}: {result['message']}"
        elif result["why"]:
            wrong[case["id"]] = result["why"][1]
        case["tests"] = [{"valid": True, "text": text} for text in result.get("texts", ())]
    drive.write_lines(data, [{"id": drive.WARM_UP, "schema": "{}", "tests": []}, *made])
    return data, wrong


def figures_of(path):
    """Input -> its figures, of one run."""
    rows = {}
    for row in drive.read_lines(path):
        steps = drive.steps_of(row)
        rows[row["id"]] = {
            "first": row["ttfm_us"],
            "worst": max(steps, default=0),
            "average": sum(steps) / max(1, len(steps)),
            "memory": row["memory_kb"],
            "outcome": row["outcome"],
        }
    return rows


def run(options, data, folder):
    """The figures of one run, and what it says of the masks that it compared."""
    out = folder / "rows.jsonl"
    verify = 1 if options.verify == "yes" else 0
    done = drive.measure(options.vocab, data, out, verify, "--clock", "processor")
    compared = [line.strip() for line in done.stderr.splitlines() if "masks compared" in line]
    return figures_of(out), compared


def least_of(runs):
    """The figures of several runs as one."""
    made = {name: dict(row) for name, row in runs[0].items()}
    for name, row in made.items():
        for key in ("first", "worst", "average"):
            row[key] = min(r[name][key] for r in runs)
    return made


def print_kinds(rows):
    print("| kind | to first mask, ms | worst step, ms | average, µs | memory, KiB | slowest |")
    print("|---|---|---|---|---|---|")
    for kind in dict.fromkeys(name.rsplit("-", 1)[0] for name in rows):
        of = {name: row for name, row in rows.items() if name.rsplit("-", 1)[0] == kind}
        slowest = max(of, key=lambda name: of[name]["worst"])
        most = {
            key: max(row[key] for row in of.values()) for key in of[slowest] if key != "outcome"
        }
        print(
            f"| {kind} | {most['first'] / 1e3:.2f} | {most['worst'] / 1e3:.2f} "
            f"| {most['average']:.1f} | {most['memory']:.0f} | {slowest} |"
        )


def main():
    parser = argparse.ArgumentParser(prog="dev bench kinds", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, required=True, help="of the inputs and their texts")
    parser.add_argument("--each", type=int, default=3, help="inputs of each kind")
    parser.add_argument("--texts", type=int, default=2, help="of each input")
    parser.add_argument("--tokens", type=int, default=60, help="of a text, before it is ended")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", action="append", help="a kind")
    parser.add_argument("--vocab", default=str(drive.LLAMA))
    parser.add_argument("--verify", choices=("yes", "no"), default="no")
    parser.add_argument("--keep", help="a folder for the data and the results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        keep = pathlib.Path(options.keep or folder)
        keep.mkdir(parents=True, exist_ok=True)
        data, wrong = write_data(options, keep)
        runs = [run(options, data, keep) for _ in range(options.runs)]
        rows = least_of([figures for figures, _ in runs])
        for name, row in rows.items():
            if row["outcome"] != "pass":
                wrong.setdefault(name, row["outcome"])
        print_kinds(rows)
        compared = runs[0][1]
        print(*compared, sep="\n")
        for name, why in wrong.items():
            print(f"  {name}: {why}")
        if options.keep:
            for name, row in sorted(rows.items(), key=lambda item: -item[1]["worst"])[:20]:
                print(f"  {row['worst']:>9.0f} µs  {row['average']:>8.1f} avg  {name}")
    failed = options.verify == "yes" and not any(" 0 differ" in line for line in compared)
    return 1 if wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main())
