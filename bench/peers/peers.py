#!/usr/bin/env python3
"""`./dev bench peers`: Turnstile beside other engines, in one run, on the same vocabulary and the
same tokens.

    ./dev bench peers [--limit N] [--timeout S] [--only NAME]... [--data F] [--out DIR] [--note
    TEXT] [--no-install]

Every engine is a worker process of its own (worker.py says what it reads and writes),
single-threaded and pinned to the same core. They take turns schema by schema, so that a noisy
machine hits all alike; the order within a turn rotates. A worker that takes longer than the timeout
for one schema is ended and started anew. Tokens come from the vocabulary's own reference tokeniser
and are the same for all. Before the first schema every worker gets one that is not counted, so that
what is made once per vocabulary is in nobody's figures.

--limit takes that many schemas, evenly out of the whole file. What is not installed is named as
missing, with the reason. Writes build/peers/peers.jsonl (a line per schema and engine, all samples)
and the report: DIR/peers.md and three plots (docs/bench/ without --out).

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import datetime
import json
import lzma
import os
import pathlib
import platform
import select
import subprocess
import sys
import time

import install
import report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VOCAB = ROOT / "build" / "vocabs" / "llama3_1" / "tokenizer.json"
EOS = 128001  # <|end_of_text|> of Llama-3.1
WARM_UP = {
    "id": "warm-up",
    "schema": '{"type":"object","properties":{"a":{"type":"string"}}}',
    "tests": [],
}


def commands(timeout):
    """Engine -> the command of its worker."""
    python = str(install.PYTHON)
    return {
        "Turnstile": [
            str(ROOT / "build" / "turnstile-bench"),
            "maskbench",
            "--vocab",
            str(VOCAB),
            "--vocab-cache",
            str(VOCAB.parent.parent),
            "--data",
            "/dev/stdin",
            "--out",
            "/dev/stdout",
            "--samples",
            "yes",
            "--verify",
            "0",
            "--timeout",
            str(timeout),
        ],
        "llguidance": [str(install.LLGUIDANCE), str(VOCAB), str(EOS)],
        "XGrammar": [python, str(HERE / "peer_xgrammar.py"), str(VOCAB), str(EOS)],
        "XGrammar, cache": [python, str(HERE / "peer_xgrammar.py"), str(VOCAB), str(EOS), "cache"],
        "outlines-core": [python, str(HERE / "peer_outlines.py"), str(VOCAB), str(EOS)],
        "llama.cpp": [str(install.LLAMA_CPP), str(install.GGUF), str(EOS)],
    }


class Worker:
    """One engine's process; started when first needed, and again after a timeout."""

    def __init__(self, name, command):
        self.name, self.command, self.process = name, command, None

    def start(self):
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        )
        if self.name != "Turnstile" and "ready" not in (self.read(300) or {}):
            raise RuntimeError(f"{self.name}: the worker did not start")
        self.ask(WARM_UP, 300)

    def read(self, timeout):
        """The next line, or None when it does not come in time or the process ended."""
        ready, _, _ = select.select([self.process.stdout], [], [], timeout)
        line = self.process.stdout.readline() if ready else ""
        return json.loads(line) if line else None

    def ask(self, case, timeout):
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        return self.read(timeout)

    def end(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def run(self, case, timeout):
        if not self.process:
            self.start()
        start = time.monotonic()
        try:
            result = self.ask(case, timeout)
        except (BrokenPipeError, json.JSONDecodeError):
            result = None
        if result is None:
            self.end()
            late = time.monotonic() - start >= timeout
            result = {
                "outcome": "timeout" if late else "crash",
                "message": f"no answer in {timeout} s" if late else "the process ended",
            }
        return {
            "engine": self.name,
            "id": case["id"],
            "outcome": result["outcome"],
            "message": result.get("message", ""),
            **{
                k: result.get(k, [] if k.endswith("samples_us") else None)
                for k in ("ttfm_us", "mask_samples_us", "commit_samples_us")
            },
        }


def read_cases(path, limit):
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    return (
        cases
        if not limit or limit >= len(cases)
        else [cases[i * len(cases) // limit] for i in range(limit)]
    )


def encode(cases):
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(VOCAB))
    for case in cases:
        for test in case["tests"]:
            test["tokens"] = tokenizer.encode(test["text"], add_special_tokens=False).ids


def verify(data, limit):
    """Turnstile's masks against the naive ones, on a sample: the line that the driver prints."""
    command = [
        *commands(60)["Turnstile"][:6],
        "--data",
        str(data),
        "--limit",
        str(limit),
        "--verify",
        "16",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = [line.strip() for line in done.stderr.split("\n") if "compared with" in line]
    if done.returncode or not lines:
        raise RuntimeError(f"the comparison of masks failed: {done.stderr[-500:]}")
    return lines[0]


def machine():
    model = [
        line.split(":")[1].strip()
        for line in open("/proc/cpuinfo")
        if line.startswith("model name")
    ]
    return (
        f"{os.cpu_count()} cores of {model[0] if model else platform.processor()}, Linux "
        f"{platform.release()}"
    )


def main():
    parser = argparse.ArgumentParser(
        prog="./dev bench peers",
        description="Turnstile beside other engines, in turns, one thread on one core.",
    )
    shared = pathlib.Path(
        os.environ.get("TSL_SHARED", ROOT.parent / "shared"), "maskbench", "maskbench-dev.jsonl.xz"
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=0,
        help="take that many schemas, evenly out of the file (0: all)",
    )
    parser.add_argument("--timeout", type=int, default=30, help="seconds for one schema")
    parser.add_argument("--only", action="append", help="this engine; may be repeated")
    parser.add_argument(
        "--data",
        type=pathlib.Path,
        default=shared if shared.is_file() else ROOT / "bench" / "own.jsonl",
    )
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "bench")
    parser.add_argument("--note", default="", help="a sentence about this run, for the report")
    parser.add_argument(
        "--no-install", action="store_true", help="use what is there, install nothing"
    )
    options = parser.parse_args()

    missing = install.check() if options.no_install else install.install()
    workers = [
        Worker(name, command)
        for name, command in commands(options.timeout).items()
        if install.part_of(name) not in missing and (not options.only or name in options.only)
    ]
    for name, why in missing.items():
        print(f"missing: {name}: {why}", file=sys.stderr)
    cases = read_cases(options.data, options.limit)
    encode(cases)
    compared = verify(options.data, 200)
    print(f"Turnstile: {compared}", file=sys.stderr)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    options.out.mkdir(parents=True, exist_ok=True)
    started, results = time.monotonic(), []
    with open(ROOT / "build" / "peers" / "peers.jsonl", "w", encoding="utf-8") as lines:
        for number, case in enumerate(cases):
            turn = number % len(workers)
            for worker in workers[turn:] + workers[:turn]:
                results.append(worker.run(case, options.timeout))
                lines.write(json.dumps(results[-1]) + "\n")
            if number % 20 == 19:
                print(
                    f"{number + 1} of {len(cases)} schemas, {time.monotonic() - started:.0f} s",
                    file=sys.stderr,
                )
    for worker in workers:
        worker.end()
    about = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "schemas": len(cases),
        "data": options.data.name,
        "limit": options.limit,
        "timeout": options.timeout,
        "missing": missing,
        "versions": install.versions(),
        "note": options.note,
        "verified": compared,
        "wall_s": round(time.monotonic() - started),
    }
    report.write(options.out, results, [w.name for w in workers], about)
    print((options.out / "peers.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
