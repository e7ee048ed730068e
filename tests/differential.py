#!/usr/bin/env python3
"""Long runs against other validators: `./dev test differential [--pairs N] [--schemas N] [--texts N] [--seed N]`.

  pairs  random schemas (draft 2020-12, all keywords, nested) × random and mutated instances, at least N pairs (1,000,000): each instance, token by token with
         masks, is accepted exactly if PyPI jsonschema says that it is valid. Where jsonschema-rs is installed it is asked too; pairs on which the two
         differ from each other are left out, and counted.
  texts  N (1,000) random schemas that something satisfies, N (100) texts each, drawn under masks by `turnstile generate` in any spelling: every text comes to its
         end, is JSON, and is valid for jsonschema.

Prints the counts; every disagreement is printed in full. A refused schema counts as agreement where none of its instances is valid, or where the reason is one of
the two that uniqueItems has (under a negation, and with few values); both are counted.

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

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import test_schema_fuzz as fuzz  # noqa: E402
from wide_schemas import WideMaker  # noqa: E402

CLI = os.environ.get("TSL_CLI", str(ROOT / "build" / "turnstile"))
CHUNK = 250  # schemas of one run of the benchmark driver
REFUSED = re.compile("uniqueItems (under a negation|where )")


class Unjudged(Exception):
    """A number that Python cannot hold exactly within reason."""


def exact(text):
    """A JSON number with a fraction or an exponent, without rounding."""
    try:
        number = decimal.Decimal(text)
    except decimal.InvalidOperation:
        raise Unjudged from None
    if abs(number.adjusted()) > 2000:
        raise Unjudged
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


class Judge:
    """What other validators say of a schema's instances: True, False, or None where they differ or give up."""

    def __init__(self, draft, text):
        import jsonschema
        import jsonschema_rs
        name = "Draft" + draft.replace("-", "") + "Validator"
        own = getattr(jsonschema, name)
        self.read = (lambda t: fractions.Fraction(exact(t))) if draft == "4" else exact  # 1.0 is no integer there
        self.one = own(json.loads(text, parse_float=self.read), format_checker=own.FORMAT_CHECKER)
        self.other = getattr(jsonschema_rs, name)(json.loads(text), validate_formats=True)

    def says(self, text):
        try:
            good = self.one.is_valid(json.loads(text, parse_float=self.read))
            return good if self.other.is_valid(json.loads(text)) == good else None
        except (Unjudged, RecursionError, ArithmeticError, ValueError):
            return None


def narrow_case(maker):
    """A schema of draft 2020-12, its text, and texts of instances."""
    schema = maker.document()
    instances = maker.instances()
    return "2020-12", json.dumps(schema), [json.dumps(v) for v in instances + [mutate(maker.random, v) for v in instances]]


def wide_case(maker):
    schema = maker.document()
    instances = maker.instances()
    return maker.draft, json.dumps(schema), [maker.text(v) for v in instances + [mutate(maker.random, v) for v in instances]]


def chunk_of_pairs(seed):
    """One run: (counts, what failed)."""
    wide = seed % 2 == 1
    maker, lines, counts, failed, valid = (WideMaker if wide else fuzz.Maker)(seed), [], collections.Counter(), [], {}
    while len(lines) < CHUNK:
        draft, schema, texts = (wide_case if wide else narrow_case)(maker)
        counts["schemas"] += 1
        try:
            judge = Judge(draft, schema)
            verdicts = [(t, judge.says(t)) for t in texts]
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a reference in a circle, a regular expression that one of them does not know, a panic of jsonschema-rs
            counts["unjudged: " + type(error).__name__] += 1
            continue
        tests = [{"valid": good, "text": t} for t, good in verdicts if good is not None]
        counts["left out"] += len(verdicts) - len(tests)
        valid[f"s{len(lines)}"] = sum(t["valid"] for t in tests)
        lines.append({"id": f"s{len(lines)}", "schema": schema, "tests": tests})
    counts["valid"] = sum(valid.values())
    with tempfile.TemporaryDirectory() as folder:
        data, out = pathlib.Path(folder, "in.jsonl"), pathlib.Path(folder, "out.jsonl")
        data.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        command = [fuzz.BENCH, "maskbench", "--vocab", "embedded", "--data", str(data), "--order", "any", "--out", str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        results = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    for line, result in zip(lines, results, strict=True):
        outcome, message = result["outcome"], result.get("message", "")
        if outcome == "pass":
            counts["pairs"] += len(line["tests"])
        elif outcome == "refused" and "no value satisfies" in message and not valid[line["id"]]:
            counts["pairs"] += len(line["tests"])
            counts["refused as empty"] += 1
        elif outcome == "refused" and REFUSED.search(message):
            counts["refused for uniqueItems"] += 1
        elif outcome == "refused" and result["status"] == "TSL_ERR_UNSUPPORTED" and "regular expression" in message:
            counts["refused for a regular expression"] += 1
        elif result.get("status") == "TSL_ERR_UNSUPPORTED":  # uniqueItems under a negation that is met late: an error, not an answer
            counts["refused while a text was followed"] += 1
        elif result.get("status") == "TSL_ERR_LIMIT":
            counts["limit: " + message.split(":")[0]] += 1
        elif result.get("status") == "TSL_ERR_SCHEMA" and "refers to itself" in message and "$recursiveRef" in line["schema"]:
            counts["refused for a circle"] += 1
        else:
            what = {k: result[k] for k in ("outcome", "status", "pointer", "message") if k in result}
            text = line["tests"][result["test"]]["text"] if "test" in result else ""
            failed.append(f"seed {seed}: {json.dumps(what)} {text}\n    {line['schema']}")
    return counts, failed


def texts_of(seed, count):
    """Texts of one schema: (texts, refused, not judged, what failed)."""
    maker = (WideMaker if seed % 2 else fuzz.Maker)(seed)
    draft, schema, _ = (wide_case if seed % 2 else narrow_case)(maker)
    decimal.getcontext().prec = 5000
    try:
        judge = Judge(draft, schema)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # as in chunk_of_pairs
        return 0, True, 0, []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "schema.json")
        path.write_text(schema, encoding="utf-8")
        command = [CLI, "generate", "--schema", str(path), "-n", str(count), "--seed", str(seed), "--order", "any", "--any-spelling", "--max-tokens", "400", "-0"]
        done = subprocess.run(command, capture_output=True)
    what = done.stderr.decode(errors="replace").strip()
    if done.returncode == 2 and ("no value satisfies" in what or REFUSED.search(what) or "refers to itself" in what):
        return 0, True, 0, []
    texts = done.stdout.split(b"\0")[:-1]
    failed = []
    if done.returncode or len(texts) != count:
        failed.append(f"seed {seed}: {len(texts)} of {count} texts, exit status {done.returncode}: {what[:300]}\n    {schema}")
    verdicts = [(text, judge.says(text.decode())) for text in texts]
    failed += [f"seed {seed}: {text!r}\n    {schema}" for text, good in verdicts if good is False]
    return len(texts), False, sum(good is None for _, good in verdicts), failed


def run_pairs(pool, wanted, seed):
    counts, failed = collections.Counter(), []
    while counts["pairs"] < wanted:
        batch = range(seed, seed + 16)
        seed += 16
        for c, f in pool.map(chunk_of_pairs, batch):
            counts += c
            failed += f
        print(f"  {counts['pairs']} pairs so far, {len(failed)} disagreements", flush=True)
    print(f"  {counts['schemas']} schemas, {counts['pairs']} pairs of schema and instance, {counts['valid']} valid: {len(failed)} schemas with a disagreement")
    for what, n in sorted(counts.items()):
        if what not in ("schemas", "pairs", "valid"):
            print(f"    {n} {'schemas ' if what != 'left out' else 'pairs on which the other validators differ '}{what}")
    return failed


def run_texts(pool, schemas, texts, seed):
    made = used = refused = unjudged = 0
    failed = []
    while used < schemas:
        batch = range(seed, seed + schemas - used)
        seed += len(batch)
        for n, r, u, f in pool.map(texts_of, batch, [texts] * len(batch)):
            made, used, refused, unjudged = made + n, used + (not r), refused + r, unjudged + u
            failed += f
    print(f"  {made} texts of {used} schemas: {len(failed)} not valid or not ended, {unjudged} on which the validators differ, or with numbers too large to judge; {refused} schemas refused, as empty or for uniqueItems")
    return failed


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--pairs", type=int, default=1000000)
    arguments.add_argument("--schemas", type=int, default=1000)
    arguments.add_argument("--texts", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=1000)
    arguments.add_argument("--jobs", type=int, default=2)
    asked = arguments.parse_args()
    os.nice(10)
    with concurrent.futures.ProcessPoolExecutor(asked.jobs) as pool:
        failed = run_texts(pool, asked.schemas, asked.texts, asked.seed) + run_pairs(pool, asked.pairs, asked.seed)
    for what in failed:
        print(f"  failed: {what}")
    print(f"{1 if not failed else 0} passed, {len(failed)} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
