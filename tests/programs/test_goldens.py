#!/usr/bin/env python3
"""Worked examples with published answers, tests/cases/sampling.json, each through the Python
package: what a sampler must reproduce to the rounding shown.

A distribution is read off a sampler by drawing until no token is missing, or 50,000 times: every
draw says the probability of its token.

SPDX-License-Identifier: Apache-2.0
"""

import array
import json
import math
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))
SHARED = pathlib.Path(os.environ.get("TSL_SHARED", ROOT / ".." / "shared"))
OWN = ROOT / "tests" / "cases" / "sampling.json"
sys.path.insert(0, str(BUILD / "bindings" / "python"))
results = []
skipped = 0

try:
    import turnstile as T
except ImportError:
    print(
        f"  skipped: there is no Python package in {BUILD}: it was configured without -Dpython=true"
    )
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)


def check(condition, what):
    results.append(bool(condition))
    if not condition:
        print(f"  failed: {what}")


def distribution(logits, accepted=(), **options):
    """Probabilities of all tokens; 0 for those that are cut off."""
    sampler, row, p = T.Sampler(seed=1, **options), array.array("f", logits), {}
    for token in accepted:
        sampler.accept(token)
    for _ in range(50000):
        token, probability, _, _, kept = sampler.draw(row)
        p[token] = probability
        if len(p) == kept:
            break
    check(1 - sum(p.values()) < 1e-3, f"all tokens but those of less than 1/1000 came up: {p}")
    return [p.get(i, 0.0) for i in range(len(logits))]


def near(got, want, tolerance, what):
    check(
        len(got) >= len(want) and all(abs(g - w) <= tolerance for g, w in zip(got, want)),
        f"{what}: {[round(g, 4) for g in got]}, not {want}",
    )


def cat_cases(data, general):
    tokens, logits = data["tokens"], data["logits"]
    for case in data["cases"]:
        op, tolerance = case["op"], case.get("tol", general)
        what = f"cat, {op}"
        if op == "softmax":
            near(
                distribution(logits, temperature=case["T"]),
                case.get("expect", case.get("expect_first")),
                tolerance,
                f"{what} at {case['T']}",
            )
        elif op in ("top_k", "top_p", "min_p"):
            option = {op: case[{"top_k": "k", "top_p": "p", "min_p": "p"}[op]]}
            p, whole = distribution(logits, **option), distribution(logits)
            kept = [tokens[i] for i in range(len(tokens)) if p[i] > 0]
            check(kept == case["kept"], f"{what} keeps {kept}")
            sums = [sum(whole[: i + 1]) for i in range(len(kept))]
            near(sums, case.get("cumulative", sums), tolerance, f"{what}, running sums")
            check(
                abs(sums[-1] - case.get("mass", sums[-1])) <= tolerance, f"{what}: mass {sums[-1]}"
            )
            check(
                abs(case.get("p", 0) * whole[0] - case.get("bar", case.get("p", 0) * whole[0]))
                <= tolerance,
                f"{what}: the bar",
            )
            near(p, case.get("renormalised", p), tolerance, what)
        elif op == "repetition_penalty":
            seen = [tokens.index(name) for name in case["seen"]]
            p = distribution(logits, seen, repetition_penalty=case["theta"])
            near([p[0], p[1]], [case["expect_mat"], case["expect_sofa"]], tolerance, what)
            check(
                abs(logits[0] / case["theta"] - case["logit_of_mat"]) < 1e-9
                and tokens[p.index(max(p))] == case["argmax"],
                f"{what}: the most likely one",
            )
        elif op == "frequency_presence":
            p = distribution(logits, [0, 0, 1], frequency_penalty=0.4, presence_penalty=0.5)
            z = [z - n * 0.4 - (n > 0) * 0.5 for z, n in zip(logits, [2, 1, 0, 0, 0, 0])]
            total = sum(math.exp(x) for x in z)
            near(p, [math.exp(x) / total for x in z], 1e-5, what)
        elif op == "greedy":
            check(
                tokens[T.Sampler(temperature=0).draw(array.array("f", logits))[0]]
                == case["expect"],
                what,
            )
        else:
            check(False, f"{what}: no such case is known here")


def weather_cases(data):
    tokens, logits = data["tokens"], data["logits"]
    first = []
    for case in data["cases"]:
        if case["op"] == "greedy":
            check(
                tokens[T.Sampler(temperature=case["T"]).draw(array.array("f", logits))[0]]
                == case["expect"],
                "weather, greedy",
            )
            continue
        p = distribution(logits, temperature=case["T"])
        total = sum(math.exp(z / case["T"]) for z in logits)
        near(p, [math.exp(z / case["T"]) / total for z in logits], 2e-4, f"weather at {case['T']}")
        first.append(p[0])
    check(
        first == sorted(first, reverse=True) and first[0] > 0.95 and first[-1] < 0.4,
        "nearly all mass on the first when cold, flattened when hot",
    )


def nucleus_case(data, tolerance):
    p = distribution([math.log(x) for x in data["p"]], top_p=data["top_p"])
    check(
        sum(x > 0 for x in p) == data["kept"]
        and abs(sum(data["p"][: data["kept"]]) - data["mass"]) < 1e-9,
        "nucleus: how many",
    )
    near(p, data["renormalised"], data.get("tol", tolerance), "nucleus")


def beam_case(data):
    """Two tokens to begin with, two to go on: a beam of one takes the greedy path, a beam of two
    the better one.
    """

    class Table:
        names = ["A", "B", "x", "y", "end"]
        rows = {
            (): {"A": data["step1"]["A"], "B": data["step1"]["B"]},
            ("A",): {"x": data["best_continuation"]["A"]},
            ("B",): {"x": data["best_continuation"]["B"]},
        }

    vocab = T.Vocab.embedded()
    ids = {name: vocab.encode(name)[0] for name in "ABxy"}
    grammar = T.Grammar.regex(vocab, "[AB][xy]")
    end = vocab.eog_tokens[0]

    def model(prefixes):
        width = vocab.logits_width
        out = array.array("f", [-math.inf] * (width * len(prefixes)))
        for i, prefix in enumerate(prefixes):
            names = tuple(
                name for token in prefix for name, number in ids.items() if number == token
            )
            row = dict(Table.rows.get(names, {}))
            left = 1 - sum(row.values())
            for name, p in row.items():
                out[i * width + ids[name]] = math.log(p)
            if len(names) == 2:
                out[i * width + end] = 0.0
            else:  # the rest of the mass: where the grammar does not lead, or to y
                out[i * width + (ids["y"] if names else vocab.encode("z")[0])] = math.log(left)
        return memoryview(out).cast("B").cast("f", (len(prefixes), width))

    for width, want in ((1, data["greedy_path"]), (2, data["beam_width_2_path"])):
        (text, _, log_p, score), *_ = T.beam_search(grammar, model, width, 2, n_best=1)
        check(
            abs(math.exp(log_p) - want) < 1e-6,
            f"beam of {width}: {text} with {math.exp(log_p):.4f}, not {want}",
        )
    (_, tokens, log_p, score), *_ = T.beam_search(
        grammar, model, 2, 2, n_best=1, length_penalty=0.7
    )
    check(abs(score - log_p / len(tokens) ** 0.7) < 1e-6, "sum of log p / length^alpha")


def formulas(data):
    """Guidance, and acceptance of drafts: the file gives formulas."""
    check(
        "z_uncond + s * (z_cond - z_uncond)" in data["guidance"]["classifier_free"]
        and "alpha * max p_strong" in data["guidance"]["contrastive"],
        "the formulas",
    )
    a, b, out = (
        array.array("f", [1.0, 2.5, -3.0]),
        array.array("f", [0.5, 3.0, -1.0]),
        array.array("f", [0.0] * 3),
    )
    T.guide_classifier_free(a, b, 1.5, out)
    near(out, [u + 1.5 * (c - u) for c, u in zip(a, b)], 1e-6, "classifier-free")
    T.guide_contrastive(a, b, 0.1, 0.5, out)
    floor = math.log(0.1) + max(a)
    check(
        all(
            abs(o - (s - 0.5 * w)) < 1e-6 if s >= floor else o == -math.inf
            for o, s, w in zip(out, a, b)
        ),
        "contrastive",
    )
    # One draft from p, target q over three tokens: accepted with min(1, q / p), else drawn from
    # max(0, q - p).
    vocab = T.Vocab.embedded()
    names = [vocab.encode(c)[0] for c in "abc"]
    grammar, q, p, n = T.Grammar.regex(vocab, "[abc]*"), [0.6, 0.3, 0.1], [0.2, 0.5, 0.3], 4000

    def rows(share):
        one = array.array("f", [-math.inf] * vocab.logits_width)
        for name, x in zip(names, share):
            one[name] = math.log(x)
        return memoryview(one + one).cast("B").cast("f", (2, vocab.logits_width))

    for draft in range(3):
        accepted, first, draws = 0, [0, 0, 0], 0
        for _ in range(n):
            path, token, draws = T.speculate(
                grammar.matcher(), [names[draft]], rows(q), rows(p), seed=7, draws=draws
            )
            accepted += bool(path)
            if not path:
                first[names.index(token)] += 1
        want = min(1, q[draft] / p[draft])
        check(
            abs(accepted / n - want) < 0.03,
            f"draft {draft} is accepted in {accepted / n:.3f} of {n}, not {want:.3f}",
        )
        rest = [max(0, x - y) for x, y in zip(q, p)]
        check(
            all(abs(f / (n - accepted) - r / sum(rest)) < 0.03 for f, r in zip(first, rest))
            if accepted < n
            else True,
            f"the residual: {first}",
        )


def main():
    global skipped
    goldens = json.loads(OWN.read_text())
    handed = SHARED / "sampling-goldens.json"
    if handed.is_file():
        check(json.loads(handed.read_text()) == goldens, "the project's copy is what was handed in")
    else:
        print(f"  skipped: {handed.name} is not beside the tree; the project's own copy is used")
        skipped += 1
    general = goldens["tol"]
    cat_cases(goldens["cat"], general)
    weather_cases(goldens["weather"])
    for pair in goldens["softmax_pairs"]:
        near(
            distribution(pair["logits"]),
            pair["expect"],
            pair["tol"],
            f"softmax of {pair['logits']}",
        )
    nucleus_case(goldens["nucleus10"], general)
    beam_case(goldens["beam2"])
    formulas(goldens)
    check(
        goldens["order"]
        == "grammar mask -> penalties -> temperature -> cutoff -> renormalise -> draw",
        "the order of the stages",
    )
    known = {
        "about",
        "tol",
        "cat",
        "weather",
        "softmax_pairs",
        "nucleus10",
        "beam2",
        "speculative",
        "guidance",
        "order",
    }
    check(set(goldens) == known, f"entries that nobody looks at: {set(goldens) - known}")
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, {skipped} skipped")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
