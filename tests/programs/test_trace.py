#!/usr/bin/env python3
"""turnstile trace: the record of a generation says what is so, and the page around it is whole.

  record   texts, positions, masks and candidates of the record against what check, mask and the
           text itself say
  page     one file: everything is in it, nothing is loaded, and no text of a grammar can end the
           record's element
  numbers  the page's arithmetic against published answers and against the C sampler's own draws
           (Node; tests/page/numbers_test.js)

What a browser shows is tested by `./dev test page`.

SPDX-License-Identifier: Apache-2.0
"""

import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLI = os.environ.get("TSL_CLI", str(ROOT / "build" / "turnstile"))
EXAMPLES = ROOT / "schemas" / "examples"

passed = failed = skipped = 0


def check(condition, what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("  FAIL " + what)


def turnstile(*arguments, text=b""):
    done = subprocess.run(
        [CLI, *map(str, arguments)], input=text, capture_output=True, cwd=ROOT, timeout=120
    )
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def bytes_of(token):
    return bytes.fromhex(token["hex"]) if "hex" in token else token["text"].encode()


def value_at(document, pointer):
    for part in pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


RUNS = [
    ["--schema", EXAMPLES / "invoice.json", "--seed", 4],
    ["--schema", EXAMPLES / "tree.json", "--seed", 1, "--temperature", 0.7, "--top-p", 0.9],
    ["--schema", EXAMPLES / "person.json", "--seed", 2, "--max-tokens", 12],
    [
        "--schema",
        EXAMPLES / "settings.json",
        "--seed",
        2,
        "--top-k",
        3,
        "--min-p",
        0.05,
        "--any-spelling",
    ],
    ["--grammar", EXAMPLES / "arithmetic.gbnf", "--seed", 6],
    ["--grammar", EXAMPLES / "japanese.gbnf", "--seed", 5],
    [
        "--schema",
        EXAMPLES / "invoice.json",
        "--seed",
        6,
        "--max-tokens",
        90,
        "--wind-down",
        60,
        "--wind-bias",
        3,
    ],
    ["--regex", "(yes|no), [a-z]{3,9}[.]", "--seed", 2, "--temperature", 0],
]


def step_is_right(name, i, step, text, options):
    """One step: `text` is what was written before it."""
    where = f"{name}, step {i + 1}"
    check(step["at"] == len(text), f"{where}: at {step['at']}, the text has {len(text)} bytes")
    check(
        0 < step["allowed"] <= 4096 and step["mask_us"] >= 0, f"{where}: {step['allowed']} allowed"
    )
    token = bytes_of(step["token"]) if not step["token"].get("special") else b""
    if token:
        check(
            any(low <= token[0] <= high for low, high in step["next"]),
            f"{where}: {token!r} is not among the next bytes {step['next']}",
        )
        forced = bytes_of(step["forced"]) if "forced" in step else b""
        check(
            token.startswith(forced) or forced.startswith(token),
            f"{where}: {token!r} was written, {forced!r} must come",
        )
    check(
        step["frames_total"] >= len(step["frames"]) > 0 or step["complete"],
        f"{where}: {step['frames_total']} frames",
    )
    if step.get("closing"):
        check("candidates" not in step, f"{where}: the model did not run, and there are candidates")
        return token
    found = step["candidates"]
    check(
        16 <= len(found) <= 33
        and [c["logit"] for c in found] == sorted((c["logit"] for c in found), reverse=True),
        f"{where}: the candidates are in order",
    )
    check(
        sum(c["id"] == step["token"]["id"] for c in found) == 1,
        f"{where}: the token drawn is a candidate, once",
    )
    allowed = sum(math.exp(c["logit"] - step["log_sum"]) for c in found if c["allowed"])
    check(
        allowed <= step["legal_mass"] + 1e-6
        and (
            step["drawable"] > 16
            or step["drawable"] < step["allowed"]
            or abs(allowed - step["legal_mass"]) < 1e-6
        ),
        f"{where}: legal mass {step['legal_mass']}, captured {allowed}",
    )
    check(
        all(c["allowed"] or not c.get("odd") for c in found),
        f"{where}: only what is allowed can be odd",
    )
    return token


def test_record():
    records = []
    for options in RUNS:
        name = " ".join(map(str, options[1:]))
        code, out, err = turnstile("trace", *options, "--json")
        check(code == 0, f"trace {name}: exit code {code}: {err}")
        record = json.loads(out)
        records.append(record)
        text, pointers = b"", []
        for i, step in enumerate(record["steps"]):
            pointers.append(step.get("pointer"))
            text += step_is_right(name, i, step, text, options)
        check(record["result"] == "complete" and record["steps"], f"{name}: {record['result']}")
        grammar = options[:2]
        code, _, err = turnstile("check", *grammar, "-", text=text)
        check(code == 0, f"{name}: the text of the record does not match: {err}")
        check_mask(name, grammar, record)
        if options[0] == "--schema":
            whole = json.loads(text)
            for pointer in set(pointers):
                try:
                    value_at(whole, pointer)
                    check(True, "")
                except (KeyError, IndexError, TypeError, ValueError):
                    check(False, f"{name}: the text has nothing at {pointer}")
            check(len(set(pointers)) > 1, f"{name}: places {set(pointers)}")
        else:
            check(
                set(pointers) == {None},
                f"{name}: places {set(pointers)} in a text that is not of a schema",
            )
    check(
        any(step.get("closing") for step in records[2]["steps"]),
        "a text that must be closed says so",
    )
    check(
        any(f["rule"] == "<sum>" for s in records[4]["steps"] for f in s["frames"]),
        "rules are named",
    )
    check(
        any("bias" in c for s in records[6]["steps"] for c in s.get("candidates", [])),
        "what was added to logits is recorded",
    )
    check(
        any("hex" in s["token"] for s in records[5]["steps"]),
        "bytes that are no UTF-8 are in hexadecimal",
    )
    return records


def check_mask(name, grammar, record):
    """The count of allowed tokens at some steps, as `turnstile mask` has it."""
    text = b""
    for i, step in enumerate(record["steps"]):
        if i % 7 == 0:
            with tempfile.NamedTemporaryFile() as prefix:
                prefix.write(text)
                prefix.flush()
                code, _, err = turnstile(
                    "mask",
                    *grammar,
                    *(["--ws", "compact"] if grammar[0] == "--schema" else []),
                    "--ids",
                    "--prefix-file",
                    prefix.name,
                )
            found = re.match(r"(\d+) of 4096 tokens", err)
            check(
                code == 0 and found and int(found[1]) == step["allowed"],
                f"{name}, step {i + 1}: {step['allowed']} allowed, mask says {err}",
            )
        if not step["token"].get("special"):
            text += bytes_of(step["token"])


def test_page():
    code, out, err = turnstile("trace", "--regex", "a</script><b>", "--seed", 1)
    page = out.decode()
    check(code == 0 and err == "", f"a page for a regex with an element in it: {err}")
    check(
        page.count("</script") == page.count("<script") and "\\u003c/script" in page,
        "the record cannot end its element",
    )
    check(
        not re.search(r"<(?:link|script|img)[^>]+(?:src|href)=", page)
        and "http" not in page.replace("http-equiv", ""),
        "nothing is loaded",
    )
    check(
        "Content-Security-Policy" in page and "default-src 'none'" in page, "the page has a policy"
    )
    record = json.loads(
        re.search(r'<script type="application/json" id="trace">(.*?)</script>', page, re.S)[1]
    )
    check(record["grammar"]["source"] == "a</script><b>", "the record in the page is the record")
    with tempfile.TemporaryDirectory() as folder:
        made, again, drawn = (pathlib.Path(folder, name) for name in ("a.json", "a.html", "b.html"))
        code, out, err = turnstile(
            "trace", "--regex", "a</script><b>", "--seed", 1, "--json", "-o", made
        )
        check(
            code == 0 and not out and made.read_text().startswith('{"format":"turnstile-trace"'),
            f"trace --json -o: {err}",
        )
        code, out, err = turnstile("trace", "--render", made, "-o", again)
        same = [re.sub(r'"mask_us":[0-9.]+', "", text) for text in (again.read_text(), page)]
        check(code == 0 and same[0] == same[1], f"--render makes the page of a record: {err}")
        code, out, err = turnstile("generate", "--regex", "[ab]{3}", "--trace", drawn)
        inside = json.loads(re.search(r'id="trace">(.*?)</script>', drawn.read_text(), re.S)[1])
        check(
            code == 0
            and out.decode().strip()
            == "".join(s["token"]["text"] for s in inside["steps"] if not s["token"].get("end")),
            f"generate --trace records the text: {err}",
        )
        code, _, err = turnstile("trace", "--render", ROOT / "README.md")
        check(code == 2 and "no record" in err, f"--render of something else: {code} {err}")
        code, _, err = turnstile("trace", "--regex", "a", "-o", "/nowhere/at/all.html")
        check(
            code == 2 and "/nowhere/at/all.html" in err,
            f"a file that cannot be written: {code} {err}",
        )
    for arguments, message in (
        (["trace", "--render", "x", "--regex", "a"], "--render"),
        (["generate", "--regex", "a", "--trace", "x", "-n", "2"], "--trace"),
        (["trace"], "one of --schema"),
    ):
        code, _, err = turnstile(*arguments)
        check(code == 2 and message in err, f"{arguments}: {code} {err}")
    code, out, err = turnstile("trace", "--regex", "[a-z]{40}", "--max-tokens", 3, "--json")
    check(
        code == 1 and json.loads(out)["result"] == "cut" and "cut" in err,
        f"a text that is cut: {code} {err}",
    )


ROW = [6.0, 5.0, 4.5, 3.5, 2.0, 0.0, -1.5, 5.5, 1.0, 3.0]
HISTORY = [0, 1, 2, 7, 0, 1, 2, 3, 0, 1, 2]
STAGES = [  # options of turnstile sample, settings of the page
    ("--frequency-penalty 0.4 --presence-penalty 0.5", {"frequency": 0.4, "presence": 0.5}),
    ("--repetition-penalty 1.3 --frequency-penalty 0.2", {"penalty": 1.3, "frequency": 0.2}),
    ("--dry-multiplier 0.8", {"dry": 0.8}),
    ("--typical-p 0.7", {"typical": 0.7}),
    ("--typical-p 0.3 --temperature 0.6", {"typical": 0.3, "temperature": 0.6}),
    ("--top-n-sigma 0.9", {"sigma": 0.9}),
    ("--epsilon 0.06", {"epsilon": 0.06}),
    ("--epsilon 0.9", {"epsilon": 0.9}),
    ("--eta 0.09", {"eta": 0.09}),
    ("--eta 0.05 --temperature 2", {"eta": 0.05, "temperature": 2}),
    ("--xtc-probability 1 --xtc-threshold 0.1", {"xtc": 0.1}),
    ("--xtc-probability 1 --xtc-threshold 0.9", {"xtc": 0.9}),
    ("--dynamic-range 0.6", {"dynamic": 0.6}),
    ("--dynamic-range 2 --temperature 1.5", {"dynamic": 2, "temperature": 1.5}),
    (
        "--temperature 1.4 --top-k 7 --top-p 0.97 --min-p 0.02 --typical-p 0.9 --eta 0.02",
        {"temperature": 1.4, "topK": 7, "topP": 0.97, "minP": 0.02, "typical": 0.9, "eta": 0.02},
    ),
]


def sampled():
    """Rows as the C sampler has them, for the page's arithmetic."""
    rows = []
    for options, settings in STAGES:
        command = [CLI, "sample", *options.split(), "--distribution"]
        command += ["--seen", ",".join(map(str, HISTORY))]
        done = subprocess.run(command, input=json.dumps(ROW) + "\n", capture_output=True, text=True)
        check(done.returncode == 0, f"sample {options}: {done.stderr}")
        rows.append(
            {"logits": ROW, "settings": settings, "history": HISTORY}
            | {"tokens": json.loads(done.stdout)["tokens"]}
        )
    return rows


def test_numbers(records):
    global passed, failed, skipped
    if not shutil.which("node"):
        skipped += 1
        print("  skipped: the page's arithmetic: node is not there")
        return
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder, "sampled.json")]
        files[0].write_text(json.dumps(sampled()))
        for i, record in enumerate(records):
            files.append(pathlib.Path(folder, f"{i}.json"))
            files[-1].write_text(json.dumps(record))
        done = subprocess.run(
            [
                "node",
                ROOT / "tests" / "page" / "numbers_test.js",
                ROOT / "tests" / "cases" / "sampling.json",
                *files,
            ],
            capture_output=True,
            text=True,
        )
    closing = re.search(r"^(\d+) passed, (\d+) failed, 0 skipped$", done.stdout, re.M)
    print(re.sub(r"^\d+ passed.*\n", "", done.stdout, flags=re.M) + done.stderr, end="")
    check(closing and done.returncode == 0, "the page's arithmetic")
    if closing:
        passed, failed = passed + int(closing[1]), failed + int(closing[2])


def main():
    records = test_record()
    print(f"  record ({passed} checks)")
    before = passed
    test_page()
    print(f"  page ({passed - before} checks)")
    test_numbers(records)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
