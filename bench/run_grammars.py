#!/usr/bin/env python3
"""`./dev bench grammars`: the Lark and GBNF grammars in schemas/grammars/ on their texts, every
mask in full, other engines beside it where they read the grammar.

    ./dev bench grammars [--runs N] [--only NAME]... [--peers yes|no] [--timeout S] [--out DIR]
                         [--note TEXT] [--no-install]

The texts are those of tests/texts/: valid and invalid ones, as tokens of Llama-3.1. Where its
vocabulary is absent, the embedded one is used, that is said, and no other engine runs.

Turnstile runs --runs times (5), each time in a process of its own. Averages and percentiles are
medians of the runs. The worst step is the least of the runs' worst: a pause of the machine hits
some run, a slow step all of them. The other engines run once, in the same core, as in `./dev bench
peers`. llguidance takes the Lark text; XGrammar and llama.cpp the GBNF text, or what
bench/peers/gbnf_of_lark.py makes of the Lark text.

Prints a table, and writes it and all figures: DIR/grammars.md and DIR/grammars.json (docs/bench/
without --out). What was written by hand into that page, from the heading KEPT on, stays.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench" / "peers"))
import gbnf_of_lark  # noqa: E402
import install  # noqa: E402
import peers as beside  # noqa: E402

VOCAB = ROOT / "build" / "vocabs" / "llama3_1" / "tokenizer.json"
PEERS = ("llguidance", "XGrammar", "llama.cpp")
TOKENS_OF_MEMORY = 10000
KEPT = "## Where a first visit's time goes"  # from here on the page is written by hand


def read_texts(path):
    """The texts of a file, as tests: `== valid: title` or `== invalid: title` begins each."""
    tests, lines = [], path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    for line in lines:
        if line.startswith("== "):
            kind = line[3:].partition(": ")[0]
            tests.append({"valid": {"valid": True, "invalid": False}[kind], "text": []})
        else:
            tests[-1]["text"].append(line)
    return [{**test, "text": "\n".join(test["text"])} for test in tests]


def read_cases(only):
    """A case for each grammar, in alphabetical order."""
    cases = []
    for path in sorted((ROOT / "schemas" / "grammars").iterdir()):
        if path.suffix not in (".lark", ".gbnf") or (only and path.stem not in only):
            continue
        text = path.read_text(encoding="utf-8")
        case = {"id": path.stem, path.suffix[1:]: text}
        if path.suffix == ".lark":
            try:
                case["gbnf"] = gbnf_of_lark.convert(text)
            except gbnf_of_lark.Unsupported as why:
                case["no_gbnf"] = str(why)
        case["tests"] = read_texts(ROOT / "tests" / "texts" / f"{path.stem}.txt")
        cases.append(case)
    return cases


def percentile(ordered, p):
    return ordered[max(0, -(-len(ordered) * p // 100) - 1)]


def figures(result):
    """What a run says of one grammar."""
    steps = sorted(m + c for m, c in zip(result["mask_samples_us"], result["commit_samples_us"]))
    if result["outcome"] in ("refused", "timeout", "crash", "limit") or not steps:
        return {"outcome": result["outcome"], "message": result.get("message", "")}
    return {
        "outcome": result["outcome"],
        "tokens": len(steps),
        "avg_us": sum(steps) / len(steps),
        "p50_us": percentile(steps, 50),
        "p99_us": percentile(steps, 99),
        "worst_us": steps[-1],
        "first_us": result["ttfm_us"],
        "memory_kb": result.get("grown_kb"),
        "grown_us": result.get("grown_us"),
        "grown_p99_us": result.get("grown_p99_us"),
    }


def run_turnstile(cases, vocab, timeout, first):
    """Grammar -> figures of one run, in a new process. `first`: memory and masks are looked at."""
    folder = ROOT / "build" / "grammars"
    folder.mkdir(parents=True, exist_ok=True)
    data, out = folder / "cases.jsonl", folder / "results.jsonl"
    data.write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    command = [
        str(ROOT / "build" / "turnstile-bench"),
        "maskbench",
        *("--vocab", str(vocab), "--vocab-cache", str(ROOT / "build" / "vocabs")),
        *("--data", str(data), "--out", str(out), "--samples", "yes"),
        *("--timeout", str(timeout), "--verify", "1" if first else "0"),
        *("--grow", str(TOKENS_OF_MEMORY if first else 0)),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench grammars: turnstile-bench failed: {done.stderr[-800:]}")
    return {r["id"]: figures(r) for r in map(json.loads, out.read_text().splitlines())}


def together(runs):
    """The figures of several runs as one."""
    made = dict(runs[0])
    for key in ("avg_us", "p50_us", "p99_us", "first_us"):
        if made.get(key) is not None:
            made[key] = statistics.median(run[key] for run in runs)
    if "worst_us" in made:
        made["worst_us"] = min(run["worst_us"] for run in runs)
    return made


def run_peer(name, cases, timeout):
    worker = beside.Worker(name, beside.commands(timeout)[name])
    reads = "lark" if name == "llguidance" else "gbnf"
    made = {}
    for case in cases:
        if reads not in case:
            made[case["id"]] = {"outcome": "no text", "message": case.get("no_gbnf", "")}
            continue
        made[case["id"]] = figures(worker.run(case, timeout))
        print(f"  {name}: {case['id']}: {made[case['id']]['outcome']}", file=sys.stderr)
    worker.end()
    return made


# ---- the table -----------------------------------------------------------------------------------


def number(value):
    return f"{value:.2f}" if value < 10 else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def peer_cell(peer, own):
    """A peer's average, and how many times Turnstile's that is."""
    if "avg_us" not in peer:
        return {"no text": "–"}.get(peer["outcome"], peer["outcome"])
    wrong = " (wrong)" if peer["outcome"] != "pass" else ""
    ratio = f" = {number(peer['avg_us'] / own['avg_us'])} ×" if "avg_us" in own else ""
    return number(peer["avg_us"]) + ratio + wrong


def table(names, results):
    others = [name for name in PEERS if name in results]
    lines = [
        "| grammar | tokens | avg | p99 | worst | first mask | memory | avg, many | p99, many | "
        + "".join(f"{name}, avg | " for name in others).rstrip(),
        "|---" * (9 + len(others)) + "|",
    ]
    for name in names:
        own = results["Turnstile"][name]
        if "avg_us" not in own:
            cells = [own["outcome"], *[""] * 7]
        else:
            cells = [f"{own['tokens']:,}", *(number(own[k]) for k in ("avg_us", "p99_us"))]
            cells += [number(own["worst_us"]), number(own["first_us"] / 1e3)]
            if own["memory_kb"]:
                grown = (own["memory_kb"] / 1024, own["grown_us"], own["grown_p99_us"])
                cells += map(number, grown)
            else:
                cells += ["not in time", "", ""]
        if own["outcome"] != "pass" and "avg_us" in own:
            cells[0] += f" ({own['outcome']})"
        cells += [peer_cell(results[peer][name], own) for peer in others]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def report(names, results, about):
    versions = "; ".join(f"{k} {v}" for k, v in about["versions"].items())
    whys = sorted(
        f"- {peer}, {name}: {' '.join(figure['message'].split())[:160]}"
        for peer in PEERS
        for name, figure in results.get(peer, {}).items()
        if figure["outcome"] not in ("pass", "no text") and figure.get("message")
    )
    lines = [
        "# Grammars of languages",
        "",
        f"Made by `./dev bench grammars` on {about['date']}: {about['machine']}; {versions}. "
        f"Vocabulary: {about['vocab']}. Every mask is written in full; one thread. ",
        "A step is mask and commit. Times are in µs; the first mask in ms, from the text of the "
        f"grammar; memory in MiB, after {TOKENS_OF_MEMORY:,} tokens, most of them drawn: each "
        "allowed token has the same odds. *Many*: over all these tokens. The other columns are of "
        "a first pass over the grammar's texts.",
        f"Turnstile ran {about['runs']} times: averages and percentiles are medians, the worst "
        "step is the least of the runs' worst. The other engines ran once.",
        *([about["note"]] if about["note"] else []),
        "",
        "A cell of another engine has its average, and how many times Turnstile's that is. "
        "`wrong`: it judges a text otherwise than the label says. `–`: no text that it reads. "
        "XGrammar's figures hold the call through Python.",
        "",
        *[f"Missing in this run: {name} ({why})." for name, why in about["missing"].items()],
        table(names, results),
        "",
        *(["## What the other engines said", "", *whys, ""] if whys else []),
    ]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(
        prog="./dev bench grammars", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--runs", type=int, default=5, help="runs of Turnstile (5)")
    parser.add_argument("--only", action="append", help="this grammar; may be repeated")
    parser.add_argument("--peers", choices=("yes", "no"), default="yes")
    parser.add_argument("--timeout", type=int, default=60, help="seconds for one grammar")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "bench")
    parser.add_argument("--note", default="", help="a sentence about this run, for the report")
    parser.add_argument("--no-install", action="store_true", help="install no other engine")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error("--runs takes a number of at least 1")

    cases = read_cases(options.only)
    vocab, missing, names = VOCAB, {}, []
    if not VOCAB.is_file():
        print(
            f"{VOCAB} is absent (./dev fetch gets it): measuring with the embedded vocabulary, and "
            "without other engines",
            file=sys.stderr,
        )
        vocab, options.peers = "embedded", "no"
    if options.peers == "yes":
        missing = install.check() if options.no_install else install.install()
        names = [name for name in PEERS if install.part_of(name) not in missing]
        missing = {k: v for k, v in missing.items() if k in map(install.part_of, PEERS)}
        beside.encode(cases)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    runs = [run_turnstile(cases, vocab, options.timeout, i == 0) for i in range(options.runs)]
    ids = [case["id"] for case in cases]
    results = {"Turnstile": {name: together([run[name] for run in runs]) for name in ids}}
    for name in names:
        results[name] = run_peer(name, cases, options.timeout)
    about = {
        "date": datetime.date.today().isoformat(),
        "machine": beside.machine(),
        "vocab": "Llama-3.1 (128,256 tokens)" if vocab == VOCAB else "embedded",
        "runs": options.runs,
        "versions": {k: v for k, v in install.versions().items() if k in names},
        "missing": missing,
        "note": options.note,
    }
    text = report(ids, results, about)
    options.out.mkdir(parents=True, exist_ok=True)
    page = options.out / "grammars.md"
    old = page.read_text(encoding="utf-8") if page.is_file() else ""
    kept = old.partition(KEPT)[2]
    page.write_text(text + (f"\n{KEPT}{kept}" if kept else ""), encoding="utf-8")
    (options.out / "grammars.json").write_text(
        json.dumps({"about": about, "results": results}, indent=1) + "\n", encoding="utf-8"
    )
    print(text)
    return 0 if all(r["outcome"] == "pass" for r in results["Turnstile"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
