#!/usr/bin/env python3
"""turnstile-bench maskbench, and the project's own benchmark schemas (bench/own.jsonl).

  labels    every label of bench/own.jsonl agrees with PyPI jsonschema, formats asserted
  outcomes  the engine passes every schema of it, with the embedded vocabulary and with Llama-3.1's
            where that was fetched
  shared    MaskBench's schemas, where they lie beside the tree: no instance is judged wrongly and
            nothing is inconsistent. None reaches a limit or the time-out, and every refusal says
            why. A run of all tests takes a third of them (docs/testing.md)
  wrong     labels turned round give validation and invalidation errors: the driver distinguishes
            them
  report    the last line of stdout is one JSON object with the promised keys, and its counts add up
  folder    files as MaskBench's repository has them are read as such lines (bench/run_bench.py)
  input     .xz data, "tokens" given, --id, --skip, --limit, --flush; bad lines, files and options
            end with a message and a status

SPDX-License-Identifier: Apache-2.0
"""

import json
import lzma
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import share  # noqa: E402 - the folder is no package

BENCH = os.environ.get("TSL_BENCH", str(ROOT / "build" / "turnstile-bench"))
LLAMA = pathlib.Path(
    os.environ.get("TSL_VOCABS", ROOT / "build" / "vocabs"), "llama3_1", "tokenizer.json"
)
MASKBENCH = pathlib.Path(
    os.environ.get("TSL_SHARED", ROOT.parent / "shared"), "maskbench", "maskbench-dev.jsonl.xz"
)
OWN = ROOT / "bench" / "own.jsonl"
# Of MaskBench's 3,471 development schemas: so many must pass, and so many may reach a limit or the
# time-out of TIMEOUT_S. None is refused; one that nothing satisfies must be reported as such.
MUST_PASS, MAY_BREAK_OFF, TIMEOUT_S = 3471, 0, 20
UNSATISFIABLE = {"Glaiveai2K---calculate_area_d402e1cc"}
TIMES = [
    "mask_us",
    "commit_us",
    "mask_commit_us",
    "ttfm_us",
    "second_pass_us",
    "mask_borrow_us",
    "memory_per_schema_kb",
]
COUNTS = [
    "schemas",
    "pass",
    "refused",
    "validation_errors",
    "invalidation_errors",
    "limits",
    "timeouts",
    "inconsistent",
]

counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(condition, what):
    counts["passed" if condition else "failed"] += 1
    if not condition:
        print(f"  failed: {what}")


def skip(reason):
    counts["skipped"] += 1
    print(f"  skipped: {reason}")


def bench(*arguments):
    return subprocess.run(
        [BENCH, "maskbench", *map(str, arguments)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


def totals(done):
    """The JSON object of a run that ended well."""
    return json.loads(done.stdout.rstrip("\n").split("\n")[-1]) if done.returncode == 0 else {}


def cases():
    return [json.loads(line) for line in OWN.read_text(encoding="utf-8").splitlines()]


def is_valid(validator, text):
    try:
        return validator.is_valid(json.loads(text))
    except json.JSONDecodeError:
        return False


def test_labels():
    try:
        import jsonschema
    except ImportError:
        skip("labels: the Python package jsonschema is not installed (./dev fetch python)")
        return
    draft = jsonschema.Draft202012Validator
    for case in cases():
        schema = json.loads(case["schema"])
        draft.check_schema(schema)
        validator = draft(schema, format_checker=draft.FORMAT_CHECKER)
        for test in case["tests"]:
            check(
                is_valid(validator, test["text"]) == test["valid"],
                f"{case['id']}: {test['text']} is labelled {test['valid']}",
            )


def run_own(folder, vocab, order):
    """Every schema of own.jsonl passes. In schema order, valid instances with members in another
    order are rejected, rightly.
    """
    out = pathlib.Path(folder, "own.out")
    done = bench(
        "--vocab",
        vocab,
        "--data",
        OWN,
        "--order",
        order,
        "--verify",
        8,
        "--samples",
        "yes",
        "--out",
        out,
    )
    check(done.returncode == 0, f"{vocab}: status {done.returncode}: {done.stderr[-300:]}")
    if done.returncode:
        return
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    check(len(lines) == len(cases()), f"{vocab}: one line per schema")
    allowed = {"pass"} if order == "any" else {"pass", "validation_error"}
    for line in lines:
        check(line["outcome"] in allowed, f"{vocab}, order {order}: {line}")
        check(
            (line["outcome"] == "validation_error") == ("why" in line),
            f"a validation error here is one of the order of members, and says so: {line}",
        )
        mask, commit = line["mask_samples_us"], line["commit_samples_us"]
        check(
            len(mask) == len(commit) == line["tokens"]
            and (not mask or abs(sum(mask) / len(mask) - line["mask_us"]) < 0.01),
            f"samples: {line['id']}",
        )
    result = totals(done)
    check(
        sum(result.get(key, 0) for key in COUNTS[1:]) == result.get("schemas"),
        "the outcomes add up to the schemas",
    )
    for key in TIMES:
        check(
            set(result.get(key, {})) >= {"avg", "p50", "p90", "p99", "p99.9", "max"},
            f"{key} is reported",
        )
        values = [result.get(key, {}).get(p, 0) for p in ("p50", "p90", "p99", "p99.9", "max")]
        check(values == sorted(values), f"{key}: percentiles rise: {values}")
    check(
        result.get("verified_masks", 0) > 0 and result.get("verified_wrong") == 0,
        f"{vocab}: masks are compared with the naive ones: {result}",
    )
    check(
        result.get("peak_rss_mb", 0) > 0 and result.get("tokens", 0) > 1000,
        "memory and tokens are reported",
    )


def test_outcomes(folder):
    run_own(folder, "embedded", "any")
    run_own(folder, "embedded", "schema")
    if LLAMA.is_file():
        run_own(folder, LLAMA, "any")
    else:
        skip("outcomes: the Llama-3.1 vocabulary was not fetched (./dev fetch vocabs)")


def test_shared(folder):
    if not MASKBENCH.is_file() or not LLAMA.is_file():
        skip(
            "shared: MaskBench is not beside the tree"
            if LLAMA.is_file()
            else "shared: the Llama-3.1 vocabulary was not fetched"
        )
        return
    out = pathlib.Path(folder, "shared.out")
    part, must_pass = [], MUST_PASS
    if share.number() is not None:
        third = (MUST_PASS + 2) // 3
        skipped = share.number() % 3 * third
        must_pass = min(third, MUST_PASS - skipped)
        part = ["--skip", skipped, "--limit", third]
    done = bench("--vocab", LLAMA, "--data", MASKBENCH, "--timeout", TIMEOUT_S, "--out", out, *part)
    check(done.returncode == 0, f"MaskBench: status {done.returncode}: {done.stderr[-300:]}")
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    broken_off = [line["id"] for line in lines if line["outcome"] in ("limit", "timeout")]
    check(
        len(broken_off) <= MAY_BREAK_OFF,
        f"MaskBench: {len(broken_off)} schemas reach a limit: {broken_off}",
    )
    check(
        sum(line["outcome"] == "pass" for line in lines) >= must_pass,
        f"MaskBench: at least {must_pass} schemas pass",
    )
    for line in lines:
        check(line["outcome"] in ("pass", "limit", "timeout"), f"MaskBench: {line}")
    unsatisfiable = UNSATISFIABLE & {line["id"] for line in lines}
    check(
        {line["id"] for line in lines if line.get("status") == "TSL_ERR_EMPTY"} == unsatisfiable,
        "MaskBench: what nothing satisfies",
    )
    result = totals(done)
    print(
        f"  MaskBench: {result.get('pass')} of {result.get('schemas')} schemas pass, "
        f"{result.get('refused')} are refused, {len(broken_off)} reach a limit, "
        f"mask + commit p50 {result.get('mask_commit_us', {}).get('p50')} us"
    )


def write_lines(folder, name, values):
    path = pathlib.Path(folder, name)
    path.write_text("".join(json.dumps(v) + "\n" for v in values), encoding="utf-8")
    return path


def test_wrong(folder):
    def one(schema, text, valid, **more):
        return {"id": "x", "schema": schema, "tests": [{"valid": valid, "text": text, **more}]}

    expected = [
        (one('{"type":"integer"}', "1", True), "pass"),
        (one('{"type":"integer"}', "1", False), "invalidation_errors"),
        (one('{"type":"integer"}', '"1"', True), "validation_errors"),
        (one('{"type":"integer"}', '"1"', False), "pass"),
        (one('{"minLength":2}', '"a', True), "validation_errors"),
        (one('{"minLength":2}', '"a', False), "pass"),
        (one('{"type":3}', "1", True), "refused"),
        (one("{", "1", True), "refused"),
        (one("false", "1", True), "validation_errors"),
        (one("false", "1", False), "pass"),
        (one('{"type":"string","enum":[1]}', "1", False), "unsatisfiable"),
        (one('{"type":"string"}', '""', True, tokens=[4000000]), "limits"),
    ]
    for case, outcome in expected:
        result = totals(
            bench("--vocab", "embedded", "--data", write_lines(folder, "wrong.jsonl", [case]))
        )
        check(
            result.get(outcome) == 1 and result.get("schemas") == 1,
            f"{case} is to be {outcome}: {result}",
        )


def test_folder(folder):
    sys.path.insert(0, str(ROOT / "bench"))
    import run_bench

    files = pathlib.Path(folder, "files")
    files.mkdir()
    (files / "b.json").write_text(
        '{"description": "x", "schema": {"type": "string"}, "tests": [{"description": "y", '
        '"valid": true, "data": "\\u00e9"}, {"valid": false, "data": [1.5, null]}]}'
    )
    (files / "a.json").write_text('{"schema": false, "tests": []}')
    lines = [json.loads(line) for line in run_bench.lines_of(files)]
    check(
        lines
        == [
            {"id": "a", "schema": "false", "tests": []},
            {
                "id": "b",
                "schema": '{"type": "string"}',
                "tests": [
                    {"valid": True, "text": '"\u00e9"'},
                    {"valid": False, "text": "[1.5, null]"},
                ],
            },
        ],
        f"files as lines: {lines}",
    )
    done = subprocess.run(
        [sys.executable, ROOT / "bench" / "run_bench.py", "--maskbench", folder + "/none"],
        capture_output=True,
        text=True,
    )
    check(
        done.returncode == 1 and "no JSON file" in done.stderr,
        f"a folder without files: {done.stderr}",
    )


def test_input(folder):
    packed = pathlib.Path(folder, "own.jsonl.xz")
    packed.write_bytes(lzma.compress(OWN.read_bytes()))
    result = totals(bench("--vocab", "embedded", "--data", packed, "--skip", 2, "--limit", 5))
    check(result.get("schemas") == 5, "--skip and --limit on .xz data")
    result = totals(bench("--vocab", "embedded", "--data", OWN, "--id", "enum", "--id", "const"))
    check(result.get("schemas") == 2, "--id")
    result = totals(bench("--vocab", "embedded", "--data", OWN, "--limit", 2, "--flush", 5))
    check(
        0 < result.get("flushed_mask_us", {}).get("n", 0) < 40,
        "--flush measures some positions with empty caches",
    )
    check(0 < result.get("flushed_seen_us", {}).get("n", 0) < 40, "and some that were seen before")
    check(
        result["flushed_copy_us"]["n"] == result["flushed_mask_us"]["n"],
        "and beside each the copy of a row",
    )
    once = totals(
        bench(
            "--vocab",
            "embedded",
            "--data",
            OWN,
            "--limit",
            8,
            "--flush",
            2,
            "--flush-before",
            "step",
        )
    )
    each = totals(
        bench(
            "--vocab",
            "embedded",
            "--data",
            OWN,
            "--limit",
            8,
            "--flush",
            2,
            "--flush-before",
            "call",
        )
    )
    check(
        once["flushed_seen_commit_us"]["p50"] < each["flushed_seen_commit_us"]["p50"],
        "before the mask alone: the commit finds what the mask has read",
    )

    broken = pathlib.Path(folder, "broken.jsonl.xz")
    broken.write_bytes(packed.read_bytes()[:-40])
    bad_line = pathlib.Path(folder, "bad.jsonl")
    bad_line.write_text('{"id": "x"\n')
    bad_form = write_lines(folder, "form.jsonl", [{"id": "x", "schema": {}, "tests": []}])
    empty = write_lines(folder, "empty.jsonl", [])
    for arguments, status, message in [
        (["--vocab", "embedded", "--data", broken], 1, "xz could not"),
        (["--vocab", "embedded", "--data", bad_line], 1, "bad.jsonl:1:"),
        (["--vocab", "embedded", "--data", bad_form], 1, "not of the form"),
        (["--vocab", "embedded", "--data", empty], 1, "no schema"),
        (["--vocab", "embedded", "--data", folder + "/absent"], 1, "No such file"),
        (["--vocab", folder + "/absent", "--data", OWN], 1, "TSL_ERR_IO"),
        (["--vocab", "embedded"], 2, "needed"),
        (["--limit", "-1"], 2, "cannot use --limit -1"),
        (["--order"], 2, "without a value"),
    ]:
        done = bench(*arguments)
        check(
            done.returncode == status and message in done.stderr,
            f"{arguments}: status {done.returncode}: {done.stderr[:200]}",
        )


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, test in [
            ("labels", test_labels),
            ("outcomes", lambda: test_outcomes(folder)),
            ("wrong", lambda: test_wrong(folder)),
            ("shared", lambda: test_shared(folder)),
            ("folder", lambda: test_folder(folder)),
            ("input", lambda: test_input(folder)),
        ]:
            before = dict(counts)
            test()
            failed = counts["failed"] - before["failed"]
            print(
                f"  {'FAIL' if failed else 'ok  '} {name} "
                f"({counts['passed'] - before['passed'] + failed} checks)"
            )
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
