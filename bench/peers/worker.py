"""What the workers of `./dev bench peers` have in common.

A worker is a program, whose arguments are a vocabulary file and the end-of-generation id. When the
worker is ready, it writes the line {"ready": "name version"}. A line of standard input is {"id",
"schema": text, "tests": [{"valid", "tokens"}]}. For each the worker writes the line {"id",
"outcome", "message", "ttfm_us", "mask_samples_us", "commit_samples_us"}. Times are microseconds. In
place of "schema" a line may have a grammar: "lark" and "gbnf", or one of them. A worker takes the
notation that it reads, and refuses the case if the line has only the other. Outcomes are those of
`turnstile-bench maskbench`. Everything that serves all schemas is made before the first line.

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import sys
import time

now = time.perf_counter_ns


def byte_of_letter():
    """The byte-level alphabet of GPT-2's BPE: printable Latin-1 stands for itself, the other bytes
    for letters from U+0100 on.
    """
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(b): b for b in plain}
    table.update(
        {chr(0x100 + i): b for i, b in enumerate(b for b in range(256) if b not in set(plain))}
    )
    return table


class Vocabulary:
    """A byte-level BPE tokenizer.json: the spelling of every id in the file's letters, and which
    ids are special.
    """

    def __init__(self, path):
        tree = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        added = {t["id"]: t["content"] for t in tree["added_tokens"]}
        ids = {**{i: t for t, i in tree["model"]["vocab"].items()}, **added}
        self.letters = [ids[i] for i in range(len(ids))]
        self.special = set(added)
        self.merges = [m if isinstance(m, str) else " ".join(m) for m in tree["model"]["merges"]]

    def spelling(self, token):
        """The bytes of a token that is not special."""
        table = byte_of_letter()
        return bytes(table[c] for c in self.letters[token])


def run_case(case, compile_case, begin, samples):
    """compile_case(case) -> grammar; begin(grammar) -> object with mask(), has(token),
    accept(token), all as quick as can be.
    """
    start = now()
    try:
        grammar = compile_case(case)
        matcher = begin(grammar)
        at = now()
        matcher.mask()
    except Exception as error:  # whatever a peer says of a schema that it does not take
        return {"outcome": "refused", "message": str(error)[:500]}
    end = now()
    first, outcome = end - at, "pass"
    for i, test in enumerate(case["tests"]):
        if i:
            matcher, first = begin(grammar), None
        accepted = True
        for token in test["tokens"]:
            if first is None:
                at = now()
                matcher.mask()
                first = now() - at
            samples["mask_samples_us"].append(first / 1e3)
            first = None
            if not matcher.has(token):
                samples["commit_samples_us"].append(0)
                accepted = False
                break
            at = now()
            matcher.accept(token)
            samples["commit_samples_us"].append((now() - at) / 1e3)
        if accepted:
            if first is None:
                matcher.mask()
            accepted, first = matcher.has_end(), None
        if accepted != test["valid"] and outcome == "pass":
            outcome = "validation_error" if test["valid"] else "invalidation_error"
    return {"outcome": outcome, "ttfm_us": (end - start) / 1e3}


def serve(name, compile_case, begin):
    print(json.dumps({"ready": name}), flush=True)
    for line in sys.stdin:
        case = json.loads(line)
        samples = {"mask_samples_us": [], "commit_samples_us": []}
        try:
            result = run_case(case, compile_case, begin, samples)
        except Exception as error:
            result = {"outcome": "limit", "message": str(error)[:500]}
        print(json.dumps({"id": case["id"], "message": "", **samples, **result}), flush=True)
