#!/usr/bin/env python3
"""turnstile sample: the commands of docs/sampling.md give the published numbers of
tests/cases/sampling.json. Bad rows are refused with their line. Guidance, grammars, arrays of
NumPy, beams and drafts run on logits that a user brings. Every option of the sampler is tried where
texts are generated.

SPDX-License-Identifier: Apache-2.0
"""

import json
import math
import struct

import cli_checks
from cli_checks import ROOT, check, expect, files, turnstile

GOLDENS = json.loads((ROOT / "tests" / "cases" / "sampling.json").read_text())
MANUAL = (ROOT / "docs" / "sampling.md").read_text()


def row_text(row):
    return "[" + ", ".join(f"{z:g}" for z in row) + "]"


def documented(row, *options):
    """Run a command that must stand in the manual, word for word; its line of output."""
    command = f"echo '{row}' | build/turnstile sample {' '.join(options)}"
    check(f"\n{command}\n" in MANUAL, f"docs/sampling.md shows: {command}")
    code, out, err = turnstile("sample", *options, text=row + "\n")
    check(code == 0, f"{command}: exit code {code}: {err.decode()}")
    return json.loads(out)


def shares(row, *options):
    """The distribution as a list by id, and the stages."""
    got = documented(row, *options, "--distribution")
    p = dict(got["tokens"])
    check(abs(sum(p.values()) - 1) < 1e-6, f"{options}: probabilities sum to {sum(p.values())}")
    return [p.get(i, 0.0) for i in range(row.count(",") + 1)], got["stages"]


def near(got, want, tolerance, what):
    check(
        all(abs(g - w) <= tolerance for g, w in zip(got, want)) and len(got) >= len(want),
        f"{what}: {got}, not {want}",
    )


def cat():
    data = GOLDENS["cat"]
    tokens, row = data["tokens"], row_text(data["logits"])
    whole = shares(row)[0]
    flags = {"top_k": ("--top-k", "k"), "top_p": ("--top-p", "p"), "min_p": ("--min-p", "p")}
    for case in data["cases"]:
        op, tolerance = case["op"], case.get("tol", GOLDENS["tol"])
        if op == "softmax":
            options = [] if case["T"] == 1 else ["--temperature", f"{case['T']:g}"]
            want = case.get("expect", case.get("expect_first"))
            near(shares(row, *options)[0], want, tolerance, f"cat at {case['T']}")
        elif op in flags:
            flag, name = flags[op]
            p, stages = shares(row, flag, f"{case[name]:g}")
            kept = [tokens[i] for i, x in enumerate(p) if x > 0]
            check(kept == case["kept"], f"{op} keeps {kept}")
            check(
                [(s["stage"], s["left"], s["cut"]) for s in stages]
                == [(flag[2:], len(kept), [i for i, x in enumerate(p) if x == 0])],
                f"{op} cuts: {stages}",
            )
            sums = [sum(whole[: i + 1]) for i in range(len(kept))]
            near(sums, case.get("cumulative", []), tolerance, f"{op}: running sums")
            near([sums[-1]], [case.get("mass", sums[-1])], tolerance, f"{op}: the mass")
            near(p, case.get("renormalised", []), tolerance, f"{op}, renormalised")
            if "bar" in case:
                near([case["p"] * whole[0]], [case["bar"]], tolerance, f"{op}: the bar")
        elif op == "repetition_penalty":
            seen = ",".join(str(tokens.index(t)) for t in case["seen"])
            p = shares(row, "--repetition-penalty", f"{case['theta']:g}", "--seen", seen)[0]
            near(p, [case["expect_mat"], case["expect_sofa"]], tolerance, op)
            check(tokens[p.index(max(p))] == case["argmax"], f"{op}: the most likely")
            # the logit of mat, from its share beside that of sofa
            z = data["logits"][1] + math.log(p[0] / p[1])
            near([z], [case["logit_of_mat"]], tolerance, f"{op}: the logit")
        elif op == "frequency_presence":
            p = shares(
                row, "--frequency-penalty", "0.4", "--presence-penalty", "0.5", "--seen", "0,0,1"
            )[0]
            z = [z - n * 0.4 - (n > 0) * 0.5 for z, n in zip(data["logits"], [2, 1, 0, 0, 0, 0])]
            total = sum(map(math.exp, z))
            near(p, [math.exp(x) / total for x in z], 1e-5, op)
        elif op == "greedy":
            got = documented(row, "--temperature", "0")
            check(tokens[got] == case["expect"], f"greedy draws {got}")
        else:
            check(False, f"cat: no command for {op}")


def others():
    data = GOLDENS["weather"]
    row = row_text(data["logits"])
    for case in data["cases"]:
        if case["op"] == "greedy":
            got = documented(row, "--temperature", "0")
            check(data["tokens"][got] == case["expect"], f"weather, greedy: {got}")
            continue
        p = shares(row, "--temperature", f"{case['T']:g}")[0]
        total = sum(math.exp(z / case["T"]) for z in data["logits"])
        near(p, [math.exp(z / case["T"]) / total for z in data["logits"]], 1e-5, "weather")
    for pair in GOLDENS["softmax_pairs"]:
        near(shares(row_text(pair["logits"]))[0], pair["expect"], pair["tol"], "a pair")
    data = GOLDENS["nucleus10"]
    row = "[" + ", ".join(f"{math.log(x):.6f}" for x in data["p"]) + "]"
    p, stages = shares(row, "--top-p", f"{data['top_p']:g}")
    check(sum(x > 0 for x in p) == data["kept"] == stages[0]["left"], "nucleus: how many")
    near(p, data["renormalised"], data["tol"], "nucleus")


def beams():
    data = GOLDENS["beam2"]
    for width, want in ((1, data["greedy_path"]), (2, data["beam_width_2_path"])):
        words = f"--regex '[AB][xy]' --beam {width} --max-tokens 2 --logits docs/traces/beam.jsonl"
        check(f"build/turnstile sample {words}\n" in MANUAL, f"docs/sampling.md shows: {words}")
        code, out, err = turnstile("sample", *words.replace("'", "").split())
        got = json.loads(out) if code == 0 else {}
        check(
            abs(got.get("probability", 0) - want) < 1e-5, f"beam of {width}: {got} {err.decode()}"
        )
    arguments = ["sample", "--regex", "[AB][xy]", "--beam", "2", "--max-tokens", "2"]
    rows = (ROOT / "docs" / "traces" / "beam.jsonl").read_text().splitlines()
    expect(0, [*arguments, "-n", "2"], text="\n".join(rows), out='"text": "Ax"')
    expect(2, arguments, text="\n".join(rows[:1]), err='no line has the "prefix" [65]')
    expect(2, arguments, text="\n".join(rows[:1] * 2), err="line 2: this prefix was there before")
    expect(2, arguments, text='{"logits": {"65": 0}}', err='no list of ids "prefix"')
    expect(2, arguments, text='{"prefix": [5000], "logits": {}}', err="no id below 4096")
    expect(2, ["sample", "--beam", "2"], err="need a grammar")
    expect(2, [*arguments, "--top-k", "2"], err="only --seed and --temperature")
    scored = json.loads(turnstile(*arguments, "--length-penalty", "1", text="\n".join(rows))[1])
    check(
        abs(scored["score"] - scored["log_probability"] / len(scored["tokens"])) < 1e-6,
        f"the length penalty: {scored}",
    )


def drafts():
    words = "--regex '[abc]+' --drafts --logits docs/traces/drafts.jsonl"
    check(f"build/turnstile sample {words}\n" in MANUAL, f"docs/sampling.md shows: {words}")
    file = ROOT / "docs" / "traces" / "drafts.jsonl"
    accepted, first = [0, 0], [0, 0, 0]
    runs = 60
    for seed in range(runs):
        arguments = ["sample", "--regex", "[abc]+", "--drafts", "--seed", seed, "--logits", file]
        code, out, _ = turnstile(*arguments)
        lines = [json.loads(line) for line in out.splitlines()]
        check(code == 0 and len(lines) == 2, f"drafts with seed {seed}: {out}")
        for i, line in enumerate(lines):
            accepted[i] += line["accepted"] == [97 + i]
        if not lines[1]["accepted"]:
            first[lines[1]["next"] - 97] += 1
    # min(1, 0.6 / 0.2) and min(1, 0.3 / 0.5); the rest of the second is all on the first token
    check(accepted[0] == runs, f"a draft that the model likes better: {accepted[0]} of {runs}")
    check(20 < accepted[1] < 52, f"one that it likes less: {accepted[1]} of {runs}")
    check(first == [runs - accepted[1], 0, 0], f"tokens in the place of a refused draft: {first}")
    arguments = ["sample", "--regex", "[abc]+", "--drafts"]
    line = json.loads(file.read_text().splitlines()[0])
    expect(
        2,
        arguments,
        text=json.dumps({**line, "logits": []}),
        err='line 1: "logits" has 0 rows, not 2',
    )
    never = {**line, "draft_logits": [{"98": 0}]}
    expect(2, arguments, text=json.dumps(never), err='no probability in its row of "draft_logits"')
    chosen = {key: line[key] for key in ("drafts", "logits")}
    expect(0, arguments, text=json.dumps(chosen), out='"accepted": ')


def rows():
    good = "[1, 2, 3]"
    for bad, why in (
        ("[1, NaN, 3]", "line 2: this is no JSON at byte"),
        ("[1, 1e999, 3]", "line 2: logit 1 is"),
        ("[1, 2]", "line 2: the row has 2 logits, not 3"),
        ('[1, "x", 3]', "line 2: logit 1 is no number"),
        ("[null, null, null]", "line 2: no token that may be drawn has a finite logit"),
        ("[1, 2", "line 2: "),
        ('"x"', "line 2: there are no logits"),
        ('{"0": 1}', "logits by id need"),
    ):
        first = "" if bad.startswith("{") else good
        expect(2, ["sample"], text=f"{first}\n{bad}\n", err=why)
    expect(0, ["sample", "--temperature", "0"], text="[1, null, 3]\n\n[4, 2, 3]\n", out="2\n0\n")
    expect(0, ["sample"], text="", out="")
    expect(2, ["sample", "--logits", "/nowhere/x"], err="/nowhere/x: ")
    expect(2, ["sample", "--stages", "top-k", "--top-p", "0.5"], text=good, err="--stages")
    expect(2, ["sample", "--stages", "top-k,top-k"], text=good, err="twice")
    expect(2, ["sample", "--stages", "topk"], text=good, err="there is no stage topk")
    expect(2, ["sample", "--bias", "1"], text=good, err="ID=NUMBER")
    expect(2, ["sample", "--ban", "1,,2"], text=good, err="whole numbers below")
    expect(0, ["sample", "--temperature", "0", "--ban", "2"], text=good, out="1\n")
    expect(0, ["sample", "--temperature", "0", "--allow", "0"], text=good, out="0\n")
    expect(0, ["sample", "--temperature", "0", "--bias", "0=5,1=-1"], text=good, out="0\n")


def arrays():
    def npy(kind, shape, values, order="False"):
        text = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}"
        text += " " * (63 - (10 + len(text)) % 64) + "\n"
        head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
        letter = "f" if kind == "<f4" else "d"
        return files("rows.npy", head + struct.pack(f"<{len(values)}{letter}", *values))

    arguments = ["sample", "--temperature", "0", "--logits"]
    for kind in ("<f4", "<f8"):
        expect(0, [*arguments, npy(kind, "(2, 3)", [1, 2, 3, 9, 2, 3])], out="2\n0\n")
        expect(0, [*arguments, npy(kind, "(3,)", [1, 7, 3])], out="1\n")
    infinite = [-math.inf, 1, -math.inf]
    expect(0, [*arguments, npy("<f4", "(1, 3)", infinite)], out="1\n")
    expect(2, [*arguments, npy("<f4", "(2, 3)", [1, 2, 3, 4, math.nan, 6])], err="row 2: logit 1")
    expect(2, [*arguments, npy("<f4", "(2, 3)", [1, 2, 3])], err="row 2: the file ends too early")
    expect(2, [*arguments, npy("<f4", "(1, 1, 3)", [1, 2, 3])], err="dimensions")
    expect(2, [*arguments, npy("<f4", "(1, 3)", [1, 2, 3], "True")], err="Fortran")
    file = npy("<f8", "(1, 3)", [1, 2, 3])
    file.write_bytes(file.read_bytes().replace(b"<f8", b"<i8"))
    expect(2, [*arguments, file], err="float32 or float64")
    expect(2, [*arguments, npy("<f4", "(1, 3)", [1, 2, 3]), "--regex", "a"], err="3 columns")


def guidance():
    second = files("second.jsonl", "[1, 0, 0]\n")
    options = ["sample", "--distribution"]
    _, out, _ = turnstile(*options, "--without", second, "--scale", "2", text="[1, 1, 0]")
    z = [1, 2, 0]  # without + 2 * (with - without)
    total = sum(map(math.exp, z))
    got = dict(json.loads(out)["tokens"])
    near([got[i] for i in range(3)], [math.exp(x) / total for x in z], 1e-6, "classifier-free")
    _, out, _ = turnstile(
        *options, "--weak", second, "--alpha", "0.5", "--beta", "1", text="[1, 1, 0]"
    )
    got = dict(json.loads(out)["tokens"])
    z = [0, 1]  # strong - weak; the third has less than half of the largest probability
    total = sum(map(math.exp, z))
    check(set(got) == {0, 1}, f"contrastive: {got}")
    near([got[0], got[1]], [math.exp(x) / total for x in z], 1e-6, "contrastive")
    expect(2, ["sample", "--weak", second], text="[1, 1, 0]\n" * 2, err="has fewer rows")
    expect(2, ["sample", "--weak", second, "--without", second], err="do not go together")


def grammars():
    rows = '{"logits": {"97": 1, "98": 3, "122": 9, "4088": 2}}\n' * 3
    arguments = ["sample", "--temperature", "0", "--regex"]
    expect(0, [*arguments, "[ab]{2}"], text=rows, out="98\n98\n4088\n")
    expect(1, [*arguments, "[ab]{4}"], text=rows, out="98\n98\n98\n", err="before the text was")
    # a name's share is the same under a penalty, and with the option it is not
    schema = files("names.json", {"enum": [{"name": 1}, {"nice": 2}]})
    row = json.dumps({"logits": {str(i): 0 for i in range(4096)}})
    options = ["--ws", "compact", "--schema", schema, "--distribution"]
    seen = ["--presence-penalty", "3", "--seen", "123,34,110"]
    first, bent, spared = (
        turnstile("sample", *options, *more, text=row)[1]
        for more in ([], [*seen, "--penalise-structure"], seen)
    )
    alike = [json.loads(out)["tokens"] for out in (first, bent, spared)]
    check(alike[0] == alike[2] != alike[1], f"penalties under a schema: {alike}")


def texts():
    arguments = ["generate", "--regex", "([a-z]{2,4} ){8}", "--seed", "3"]
    plain = turnstile(*arguments)[1]
    for options in (
        ["--frequency-penalty", "5"],
        ["--presence-penalty", "9"],
        ["--repetition-penalty", "4"],
        ["--typical-p", "0.2"],
        ["--epsilon", "0.4"],
        ["--mirostat-tau", "0.1"],
        ["--ban", "97,101,105,111"],
        ["--stages", "top-k,temperature", "--top-k", "1", "--temperature", "0.5"],
        ["--xtc-probability", "1", "--xtc-threshold", "0.05"],
        ["--top-n-sigma", "0.5"],
        ["--eta", "0.3"],
        ["--no-repeat-ngram", "1"],
    ):
        code, out, err = turnstile(*arguments, *options)
        check(code == 0 and out != plain, f"generate {options}: {code} {out} {err.decode()}")
        code, out, err = turnstile("trace", "--json", *arguments[1:], *options)
        check(code == 0 and b'"result":"complete"' in out, f"trace {options}: {err.decode()}")
    # the guard against loops: a third copy is not begun
    loop = ["sample", "--temperature", "0", "--loop-repeats", "2", "--loop-longest", "1"]
    expect(0, loop, text="[0, 2, 1]\n" * 3, out="1\n1\n2\n")
    expect(2, ["sample", "--loop-repeats", "1"], err="0, or 2 and more")
    # DRY: what follows the one token that came before is pushed down
    twice = ["sample", "--temperature", "0", "--seen", "0,1,0"]
    expect(0, twice, text="[0, 2, 1]", out="1\n")
    dry = ["--dry-multiplier", "9", "--dry-allowed", "1"]
    expect(0, [*twice, *dry], text="[0, 2, 1]", out="2\n")
    expect(2, [*arguments, "--stages", "top-k", "--top-p", "0.5"], err="--stages")
    expect(2, [*arguments, "--frequency-penalty", "x"], err="not a number")


if __name__ == "__main__":
    cli_checks.run(
        [
            (cat, "published numbers of six tokens"),
            (others, "published numbers of other rows"),
            (beams, "beams over a table of prefixes"),
            (drafts, "drafts over a table of rows"),
            (rows, "rows that are good and bad"),
            (arrays, "arrays of NumPy"),
            (guidance, "two rows made one"),
            (grammars, "rows under a grammar"),
            (texts, "every option where texts are generated"),
        ]
    )
    raise SystemExit(1 if cli_checks.failed else 0)
