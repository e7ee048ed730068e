#!/usr/bin/env python3
"""Long runs against other validators: `./dev test differential [--pairs N] [--schemas N] [--texts
N] [--seed N]`.

  texts  N (1,000) random schemas that something satisfies, N (100) texts each, drawn under masks in
         any spelling by `turnstile-bench texts` (bench/driver/texts.h). Every text comes to its
         end, with no mask empty and no limit reached. Every text is valid for the two other
         validators. No name comes twice in an object (the default), as the validators see the last
         one only. Texts that they cannot judge do not count: more schemas are made until N times N
         are judged.
  pairs  random schemas (drafts 4 to 2020-12, all keywords, nested) × random and mutated instances
         in any spelling, at least N pairs (1,000,000). Each instance is followed token by token
         with masks. It is accepted exactly if PyPI jsonschema and jsonschema-rs say that it is
         valid. Pairs on which these two differ are left out of that count, and printed by class. A
         class is the draft, the keyword at which one rejects, and who rejects. Turnstile's own
         answer stands beside.

The other two get the patterns with `.`, `$`, `\\b` and `\\S` spelled out, as neither of them reads
these as ECMA-262 does. Relative JSON pointers are judged by the ABNF of
draft-bhutton-relative-json-pointer-00, as neither knows its index manipulation.

Prints the counts; every disagreement is printed in full. A refused schema counts as agreement where
none of its instances is valid. It also counts where the reason is one of the two of uniqueItems:
under a negation, and with few values. Both are counted. Some schemas meet such a reason only behind
the first 2,000 combinations of subschemas, as an error when a text gets there. These are counted,
too. A run of many pairs can be cut into pieces by --seed. A piece takes the seeds from there on, 16
at a time. The last line of its counts says with which seed the next piece begins.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import collections
import concurrent.futures
import copy
import decimal
import fractions
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import jsonschema
import jsonschema_rs

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "programs"))
import test_schema_fuzz as fuzz  # noqa: E402
from broad_schemas import BroadMaker  # noqa: E402

CHUNK = 250  # schemas of one run of the benchmark driver
CHUNK_OF_TEXTS = 25
REFUSED = re.compile("uniqueItems (under a negation|where )")
RELATIVE = re.compile("(0|[1-9][0-9]*)(#|([+-][1-9][0-9]*)?(/([^~/]|~[01])*)*)", re.DOTALL)


def is_relative(text):
    return not isinstance(text, str) or RELATIVE.fullmatch(text) is not None


def checker_of(validator):
    """What a validator of jsonschema knows of formats, with ours of the relative JSON pointer where
    it has one.
    """
    checker = jsonschema.FormatChecker(formats=())
    checker.checkers = dict(validator.FORMAT_CHECKER.checkers)
    if "relative-json-pointer" in checker.checkers:
        checker.checkers["relative-json-pointer"] = (is_relative, ())
    return checker


class Unjudged(Exception):
    """The other validators do not say; the reason."""


def exact(text):
    """A JSON number with a fraction or an exponent, without rounding."""
    try:
        number = decimal.Decimal(text)
    except decimal.InvalidOperation:
        raise Unjudged("a number of more than 2,000 digits") from None
    if abs(number.adjusted()) > 2000:
        raise Unjudged("a number of more than 2,000 digits")
    return int(number) if number == number.to_integral_value() else fractions.Fraction(text)


def mutate(random, value):
    """The value with one small change somewhere inside."""
    value = copy.deepcopy(value)
    if isinstance(value, list) and value and random.random() < 0.8:
        i = random.randrange(len(value))
        what = random.randrange(4)
        if what == 0:
            value.append(copy.deepcopy(value[i]))
        elif what == 1:
            del value[i]
        else:
            value[i] = mutate(random, value[i])
        return value
    if isinstance(value, dict) and value and random.random() < 0.8:
        key = random.choice(sorted(value))
        what = random.randrange(4)
        if what == 0:
            del value[key]
        elif what == 1:
            value[random.choice(fuzz.KEYS)] = value[key]
        else:
            value[key] = mutate(random, value[key])
        return value
    return random.choice(fuzz.SCALARS)


SPACES = r"\t\n\x0b\x0c\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
WORD = "[0-9A-Za-z_]"
ECMA = {
    ".": r"[^\n\r\u2028\u2029]",
    "$": r"(?![\s\S])",
    r"\b": f"(?:(?<={WORD})(?!{WORD})|(?<!{WORD})(?={WORD}))",
    r"\S": f"[^{SPACES}]",
    r"\s": f"[{SPACES}]",
}


def spelled_out(pattern):
    """The pattern with what Python and Rust read otherwise than ECMA-262 spelled out: line ends,
    the end, words and spaces. Nothing of that is in a class.
    """
    return re.sub(r"\[[^]]*\]|\\.|[.$]", lambda m: ECMA.get(m[0], m[0]), pattern)


def for_others(schema):
    """The schema as the other validators get it."""
    if isinstance(schema, list):
        return [for_others(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    out = {k: for_others(v) for k, v in schema.items()}
    if isinstance(out.get("pattern"), str):
        out["pattern"] = spelled_out(out["pattern"])
    if isinstance(out.get("patternProperties"), dict):
        out["patternProperties"] = {spelled_out(k): v for k, v in out["patternProperties"].items()}
    return out


def attempt(who, f):
    """f(); Unjudged with the reason if a validator gives up, be it by a panic of jsonschema-rs,
    which is no Exception.
    """
    try:
        return f()
    except (KeyboardInterrupt, SystemExit, Unjudged, json.JSONDecodeError):
        raise
    except BaseException as error:
        raise Unjudged(f"{who} gives up: {type(error).__name__}") from None


class Judge:
    """What the other validators say of a schema's instances."""

    def __init__(self, draft, text):
        name = "Draft" + draft.replace("-", "") + "Validator"
        own = getattr(jsonschema, name)
        self.draft = draft
        self.read = (
            (lambda t: fractions.Fraction(exact(t))) if draft == "4" else exact
        )  # 1.0 is no integer there
        self.one = own(
            for_others(json.loads(text, parse_float=self.read)), format_checker=checker_of(own)
        )
        self.other = getattr(jsonschema_rs, name)(
            for_others(json.loads(text, parse_float=decimal.Decimal)),
            validate_formats=True,
            formats={"relative-json-pointer": is_relative},
        )

    def says(self, text):
        """(True or False, ""), or (None, why): they differ, or one gives up. What is no JSON is not
        valid.
        """
        answers, why = {}, ""
        for who, read, validator in (
            ("jsonschema", self.read, self.one),
            ("jsonschema-rs", decimal.Decimal, self.other),
        ):
            try:
                answers[who] = attempt(
                    who, lambda: validator.is_valid(json.loads(text, parse_float=read))
                )
            except json.JSONDecodeError:
                answers[who] = False
            except Unjudged as reason:
                why = str(reason)
        said = set(answers.values())
        if len(answers) == 1:
            return None, f"{why}; {', '.join(answers)} {'accepts' if said == {True} else 'rejects'}"
        if len(said) == 1:
            return said.pop(), ""
        if not answers:
            return None, why
        try:
            return None, attempt(
                "a validator", lambda: self.difference(text, answers["jsonschema"])
            )
        except Unjudged as reason:  # it judged the instance, but cannot list what is wrong with it
            return None, str(reason)

    def difference(self, text, good):
        """The class of an instance on which they differ: draft, who rejects it, and where."""
        if good:
            errors = [
                f"{e.schema_path[-1]}"
                for e in self.other.iter_errors(json.loads(text, parse_float=decimal.Decimal))
            ]
        else:
            errors = [
                str(e.relative_schema_path[-1])
                for e in self.one.iter_errors(json.loads(text, parse_float=self.read))
            ]
        return (
            f"draft {self.draft}, {'jsonschema-rs' if good else 'jsonschema'} alone rejects: "
            f"{', '.join(sorted(set(errors)))}"
        )


def narrow_case(maker):
    """A schema of draft 2020-12, its text, and texts of instances."""
    schema = maker.document()
    instances = maker.instances()
    return (
        "2020-12",
        json.dumps(schema),
        [json.dumps(v) for v in instances + [mutate(maker.random, v) for v in instances]],
    )


def wide_case(maker):
    schema = maker.document()
    instances = maker.instances()
    return (
        maker.draft,
        json.dumps(schema),
        [maker.text(v) for v in instances + [mutate(maker.random, v) for v in instances]],
    )


def make_cases(maker, wide, n, counts):
    """n schemas that the validators understand: [(draft, schema, texts of instances, judge)]."""
    cases = []
    while len(cases) < n:
        draft, schema, texts = (wide_case if wide else narrow_case)(maker)
        counts["schemas"] += 1
        try:
            cases.append(
                (draft, schema, texts, attempt("a validator", lambda: Judge(draft, schema)))
            )
        except (
            Unjudged
        ) as why:  # a reference in a circle, a regular expression that one of them does not know
            counts[f"not used: {why}"] += 1
    return cases


def run_bench(command, lines, *arguments):
    """The lines that a command of the benchmark driver prints about these cases."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = pathlib.Path(folder, "in.jsonl"), pathlib.Path(folder, "out.jsonl")
        data.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        call = [
            fuzz.BENCH,
            command,
            "--vocab",
            "embedded",
            "--data",
            str(data),
            "--order",
            "any",
            *arguments,
        ]
        if command == "maskbench":
            subprocess.run(
                [*call, "--out", str(out)],
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        return [
            json.loads(line)
            for line in subprocess.run(call, check=True, stdout=subprocess.PIPE)
            .stdout.decode(errors="replace")
            .split("\n")[:-1]
        ]  # a text that did not end may stop within a character


def refusal(result, schema):
    """Why a schema was refused where that is fine, or None. Whether nothing satisfies it indeed is
    for the caller to see.
    """
    status, message = result["status"], result["message"]
    if status == "TSL_ERR_EMPTY":
        return "refused as empty"
    if status == "TSL_ERR_UNSUPPORTED" and REFUSED.search(message):
        return "refused for uniqueItems"
    if status == "TSL_ERR_UNSUPPORTED" and "regular expression" in message:
        return "refused for a regular expression"
    if status == "TSL_ERR_SCHEMA" and "refers to itself" in message and "$recursiveRef" in schema:
        return "refused for a circle"
    return None


# ---- texts under masks ---------------------------------------------------------------------------


def chunk_of_texts(seed, texts):
    """Texts of CHUNK_OF_TEXTS schemas: (counts, what failed)."""
    counts, failed = collections.Counter(), []
    cases = make_cases(
        (BroadMaker if seed % 2 else fuzz.Maker)(seed), seed % 2, CHUNK_OF_TEXTS, counts
    )
    lines = [
        {"id": str(i), "schema": schema, "tests": []} for i, (_, schema, _, _) in enumerate(cases)
    ]
    for (_, schema, _, judge), result in zip(
        cases, run_bench("texts", lines, "--texts", str(texts), "--seed", str(seed)), strict=True
    ):
        if "texts" not in result:
            why = refusal(result, schema)
            counts[why or "refused"] += 1
            if not why:
                failed.append(f"seed {seed}: {result['status']}: {result['message']}\n    {schema}")
            continue
        if (
            "TSL_ERR_UNSUPPORTED" in result["why"][1::2]
        ):  # uniqueItems under a negation that is met late: an error, not an answer
            counts["refused while a text was written"] += 1
            continue
        counts["used"] += 1
        counts["ended"] += result["ended"]
        for text, why in zip(result["why"][::2], result["why"][1::2]):
            failed.append(f"seed {seed}: {why}: {text}\n    {schema}")
        for text in result["texts"]:
            good, why = judge.says(text)
            counts["judged" if good is not None else "left out: " + why] += 1
            if good is False:
                failed.append(f"seed {seed}: not valid: {text}\n    {schema}")
    return counts, failed


def run_texts(pool, schemas, texts, seed):
    counts, failed = collections.Counter(), 0
    while counts["used"] < schemas or counts["judged"] < schemas * texts:
        for c, f in pool.map(chunk_of_texts, range(seed, seed + 8), [texts] * 8):
            counts += c
            failed += show(f)
        seed += 8
    print(
        f"  {counts['judged']} texts of {counts['used']} schemas, {counts['ended']} of them ended "
        f"by a draw: {failed} not valid or not ended",
        flush=True,
    )
    report(counts, {"schemas", "used", "judged", "ended"})
    return failed


def show(failed):
    """Disagreements are printed when they are met."""
    for what in failed:
        print(f"  failed: {what}", flush=True)
    return len(failed)


def report(counts, apart):
    for what, n in sorted(counts.items(), key=lambda item: (item[0].split(":")[0], -item[1])):
        if what not in apart:
            print(
                f"    {n} "
                f"{'' if ': draft' in what or what.startswith('left out') else 'schemas '}{what}",
                flush=True,
            )


# ---- pairs of schema and instance ----------------------------------------------------------------


def judge_pairs(cases, counts):
    """Lines for the driver: one for each schema, and one for each pair that is left out (there
    "class" says why).
    """
    lines, apart = [], []
    for _, schema, texts, judge in cases:
        verdicts = [(text, *judge.says(text)) for text in texts]
        lines.append(
            {
                "id": f"s{len(lines)}",
                "schema": schema,
                "tests": [
                    {"valid": good, "text": t} for t, good, _ in verdicts if good is not None
                ],
            }
        )
        apart += [
            {
                "id": "left out",
                "schema": schema,
                "tests": [{"valid": True, "text": t}],
                "class": why,
            }
            for t, good, why in verdicts
            if good is None
        ]
    return lines, apart


def chunk_of_pairs(seed, keep):
    """One run: (counts, what failed). Pairs that are left out are added to the file `keep`."""
    counts, failed = collections.Counter(), []
    lines, apart = judge_pairs(
        make_cases((BroadMaker if seed % 2 else fuzz.Maker)(seed), seed % 2, CHUNK, counts), counts
    )
    results = run_bench("maskbench", lines + apart)
    for line, result in zip(lines, results):
        valid, outcome = sum(t["valid"] for t in line["tests"]), result["outcome"]
        why = refusal(result, line["schema"]) if outcome == "refused" else None
        counts["valid"] += valid
        if outcome == "pass":
            counts["pairs"] += len(line["tests"])
            counts["refused as empty"] += result.get("status") == "TSL_ERR_EMPTY"
        elif why:
            counts[why] += 1
        elif (
            outcome == "limit" and result["status"] == "TSL_ERR_UNSUPPORTED"
        ):  # uniqueItems under a negation that is met late: an error, not an answer
            counts["refused while a text was followed"] += 1
        else:
            what = {
                k: result[k] for k in ("outcome", "status", "pointer", "message") if k in result
            }
            text = line["tests"][result["test"]]["text"] if "test" in result else ""
            failed.append(f"seed {seed}: {json.dumps(what)} {text}\n    {line['schema']}")
    for line, result in zip(apart, results[len(lines) :], strict=True):
        answer = {"pass": "Turnstile accepts", "validation_error": "Turnstile rejects"}.get(
            result["outcome"], "Turnstile refuses"
        )
        counts[f"left out: {line['class']}; {answer}"] += 1
        if keep:
            with open(keep, "a", encoding="utf-8") as f:
                f.write(
                    json.dumps(
                        {
                            "class": line["class"],
                            "turnstile": answer,
                            "text": line["tests"][0]["text"],
                            "schema": line["schema"],
                        }
                    )
                    + "\n"
                )
    return counts, failed


def run_pairs(pool, wanted, seed, keep):
    counts, failed = collections.Counter(), 0
    while counts["pairs"] < wanted:
        for c, f in pool.map(chunk_of_pairs, range(seed, seed + 16), [keep] * 16):
            counts += c
            failed += show(f)
        seed += 16
        print(f"  {counts['pairs']} pairs so far, {failed} disagreements", flush=True)
    print(
        f"  {counts['schemas']} schemas, {counts['pairs']} pairs of schema and instance, "
        f"{counts['valid']} valid: {failed} schemas with a disagreement"
    )
    report(counts, {"schemas", "pairs", "valid"})
    print(f"  the next piece: --seed {seed}")
    return failed


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--pairs", type=int, default=1000000)
    arguments.add_argument("--schemas", type=int, default=1000)
    arguments.add_argument("--texts", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=1000)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument(
        "--left-out",
        metavar="FILE",
        help="add the pairs that are left out to this file, one JSON object a line",
    )
    given = arguments.parse_args()
    os.nice(10)
    os.environ["RUST_BACKTRACE"] = "0"  # of panics of jsonschema-rs and rpds, which are caught
    warnings.simplefilter("ignore")  # Python's re, of patterns that it reads as is meant
    with concurrent.futures.ProcessPoolExecutor(given.jobs) as pool:
        failed = run_texts(pool, given.schemas, given.texts, given.seed) + run_pairs(
            pool, given.pairs, given.seed, given.left_out
        )
    print(f"{1 if not failed else 0} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
