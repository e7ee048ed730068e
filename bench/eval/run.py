#!/usr/bin/env python3
"""What a grammar costs and gives a small model: `./dev eval`.

    bench/eval/run.py [--model NAME] [--results F] [--tasks N] [--seeds N] [--sampled N]
                      [--conditions A,B,…] [--native N] [--again] [--minutes M] [--report] [--keep]

Runs every task (tasks.py) under every condition, and appends a line of JSON for each answer to the
results file (build/eval.jsonl). What that file or the kept one (bench/eval/results.jsonl.xz) has
already is not run again, so a run can be stopped and resumed. `--again` runs it again: the newest
line of an answer counts. `--minutes` ends it in time; `--tasks N` takes the first N tasks, which
are a fair sample of the kinds. `--native N` asks `turnstile run` for the answers to N tasks, and
does nothing else. At the end, or alone with --report, the table and the pictures of
docs/quality.md are written (report.py). `--keep` also puts the new answers into the kept file.

Times are of the processor, of the one thread that computes: they hold on a busy machine.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "eval"), str(ROOT / "build" / "bindings" / "python")]
import engines  # noqa: E402
import host  # noqa: E402
import report  # noqa: E402
import tasks  # noqa: E402

import turnstile  # noqa: E402
from turnstile import _core  # noqa: E402

MODELS = {
    "SmolLM2-135M": "build/models/SmolLM2-135M-Instruct.Q4_1.gguf",
    "Gemma3-270M": "build/models/gemma-3-270m-Q4_K_M.gguf",
}
FETCH = {"SmolLM2-135M": "model", "Gemma3-270M": "gemma"}
LIBRARY = "build/llama-lib/libllama.so"
RESULTS = ROOT / "build" / "eval.jsonl"
FREE, CONSTRAINED = 96, 160  # tokens of an answer at most
THINKING = 200  # characters
LEARN = 20  # samples that the aligned sampler learns from before "aligned-learned"
LEARNED = ("classification", "arithmetic")  # kinds that this is tried with: their texts are short
# condition: (engine, options, where reasoning stands, every how many tasks it is run)
CONDITIONS = {
    "free": (engines.Free, {}, "", 1),
    "schema": (engines.Turnstile, {}, "", 1),
    "schema-unforced": (engines.Turnstile, {"force": False}, "", 1),
    "any-order": (engines.Turnstile, {"order": "any"}, "", 1),
    "compact": (engines.Turnstile, {"whitespace": "compact"}, "", 1),
    "thinking": (engines.Turnstile, {}, "first", 1),
    "thinking-last": (engines.Turnstile, {}, "last", 1),
    "guard": (engines.Turnstile, {"loops": 3}, "first", 1),
    "endless": (engines.Turnstile, {}, "endless", 1),
    "endless-guard": (engines.Turnstile, {"loops": 3}, "endless", 1),
    "drafts": (engines.Drafts, {}, "", 1),
    "llama.cpp": (engines.LlamaCpp, {}, "", 2),
    "xgrammar": (engines.XGrammar, {}, "", 2),
    "llguidance": (engines.LLGuidance, {}, "", 2),
}
SAMPLED = ("free", "schema", "aligned", "aligned-learned")
REASONED = ("arithmetic", "classification")  # kinds that "thinking" is run on


def prompt_of(task, thinking):
    """(prompt, schema) of a task, with a member for reasoning before or behind the answer.
    "endless": before it, and of any length.
    """
    if not thinking:
        return task.prompt, task.schema
    members = task.schema["properties"]
    bound = {} if thinking == "endless" else {"maxLength": THINKING}
    reason = {"reasoning": {"type": "string", "minLength": 1, **bound}}
    both = {**members, **reason} if thinking == "last" else {**reason, **members}
    where = "Last" if thinking == "last" else "First"
    prompt = f'{task.prompt}\n{where} comes a member "reasoning" (string): {task.steps}'
    return prompt, tasks.closed(both)


# condition: options of `turnstile run`
NATIVE = {
    "run-free": ["--max-tokens", str(FREE)],
    "run-unforced": ["--no-forced", "--max-tokens", str(CONSTRAINED)],
    "run-schema": ["--max-tokens", str(CONSTRAINED)],
}
COST = re.compile(
    r"(\d+) tokens in .*? tokens/s; (?:(\d+) forced; )?(\d+) passes.*"
    r"masks and draws ([\d.]+) µs a token, .*? of the processor's ([\d.]+) s"
)


class Lenient:
    """What Turnstile's lenient reader makes of a text: the JSON value, or None."""

    def __init__(self, vocab):
        self.vocab, self.known = vocab, {}

    def tools(self, task):
        if task.kind == "tool":
            branches = [one["properties"] for one in task.schema["anyOf"]]
            return [
                {"name": one["name"]["const"], "parameters": one["arguments"]} for one in branches
            ]
        return [{"name": "answer", "parameters": task.schema}]

    def read(self, task, text):
        begin = text.find("{")
        if begin < 0:
            return None
        functions = [{"type": "function", "function": one} for one in self.tools(task)]
        key = json.dumps(functions)
        if key not in self.known:
            self.known[key] = turnstile.Tools(
                self.vocab, {"tools": functions, "tool_choice": "required"}, preset="hermes"
            )
        body = text[begin:]
        if task.kind != "tool":
            end = body.rfind("}") + 1 or len(body)
            body = '{"name": "answer", "arguments": ' + body[:end] + "}"
        calls = self.known[key].read(f"<tool_call>\n{body}", lenient=True).get("calls")
        if not calls:
            return None
        if task.kind == "tool":
            return {"name": calls[0].get("name"), "arguments": calls[0].get("arguments")}
        return calls[0].get("arguments")


def strict(text):
    """The text as JSON, or None."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def judged(value, schema, truth):
    try:
        jsonschema.Draft202012Validator(schema).validate(value)
        valid = value is not None
    except jsonschema.ValidationError:
        valid = False
    return {"parsed": value is not None, "valid": valid, "exact": tasks.equal(value, truth)}


def answer(model, vocab, engine, prompt, schema, limit):
    """One answer: text, and what it cost. The prompt's tokens are computed before."""
    before, start = model.pass_tokens, time.thread_time()
    model.logits(prompt)
    computed, prefill = model.pass_tokens - before, time.thread_time() - start
    passes, start, inside = model.passes, time.thread_time(), model.seconds
    engine.begin(schema)
    tokens, forced, kept, over = list(prompt), 0, 0, False
    while len(tokens) - len(prompt) < limit:
        left = limit - (len(tokens) - len(prompt))
        more = engine.forced(tokens[len(prompt) :])
        if more:
            forced += len(more)
            tokens += more
            continue
        drafts = engine.drafts(prompt, tokens)[:left]
        for row, draft in zip(model.rows(tokens + drafts, len(drafts) + 1), [*drafts, None]):
            token = engine.draw(row, left)
            if token is None:
                over = True
                break
            tokens.append(token)
            kept += token == draft
            if token != draft:
                break
        if over:
            break
    written = tokens[len(prompt) :]
    text = b"".join(b"" if vocab.is_special(t) else vocab.token_bytes(t) for t in written)
    mass = sorted(engine.mass)
    return {
        "text": text.decode("utf-8", "replace"),
        "over": over,
        "tokens": len(written),
        "forced": forced,
        "drafted": kept,
        "passes": model.passes - passes,
        "seconds": round(time.thread_time() - start - engine.setup, 4),
        "model_seconds": round(model.seconds - inside, 4),
        "setup": round(engine.setup, 5),
        "prefill": [computed, round(prefill, 4)],
        "least_mass": round(mass[0], 5) if mass else 1.0,
    }


class Eval:
    def __init__(self, options):
        path = ROOT / MODELS[options.model]
        if not path.is_file():
            sys.exit(f"{path.relative_to(ROOT)} is not there: ./dev fetch {FETCH[options.model]}")
        self.name = options.model
        self.model = host.Host(path, ROOT / LIBRARY)
        self.vocab = turnstile.Vocab.from_gguf(str(path))
        self.lenient = Lenient(self.vocab)
        self.results = pathlib.Path(options.results)
        self.done = set()
        if not options.again:
            self.done = set(report.answers(self.results))
        self.out = open(self.results, "a", encoding="utf-8")
        self.engines, self.missing = {}, {}
        self.end = time.time() + 60 * options.minutes if options.minutes else None
        self.wanted = set(options.conditions.split(",")) if options.conditions else None

    def engine(self, condition, sampling):
        kind, style, _, _ = CONDITIONS[condition]
        key = condition, json.dumps(sampling)
        if key not in self.engines:
            try:
                self.engines[key] = kind(self.vocab, self.model, sampling, **style)
            except ImportError as error:
                self.missing[condition] = str(error)
                self.engines[key] = None
        return self.engines[key]

    def write(self, task, condition, seed, found):
        line = {
            "model": self.name,
            "task": task.name,
            "kind": task.kind,
            "condition": condition,
            "seed": seed,
            **found,
        }
        self.out.write(json.dumps(line) + "\n")
        self.out.flush()
        self.done.add((self.name, task.name, condition, seed))

    def native(self, task, condition):
        """An answer of `turnstile run`, in a process of its own, and what it says of its cost."""
        if self.skips(task, condition, None):
            return
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(task.schema, file)
            file.flush()
            schema = [] if condition == "run-free" else ["--schema", file.name]
            call = [ROOT / "build" / "turnstile", "run", "--model", ROOT / MODELS[self.name]]
            call += ["--prompt", task.prompt, *schema, *NATIVE[condition]]
            done = subprocess.run(call, capture_output=True, encoding="utf-8")
        cost = COST.search(done.stderr)
        if not cost:
            raise RuntimeError(f"{condition}, {task.name}: {done.stderr}")
        tokens, forced, passes, rest, worked = (float(n or 0) for n in cost.groups())
        text = done.stdout.removesuffix("\n")
        found = {
            "text": text,
            "over": done.returncode == 0,
            "tokens": int(tokens),
            "forced": int(forced),
            "passes": int(passes) - 1,  # the prompt's
            "seconds": worked,
            "model_seconds": round(worked - rest * tokens / 1e6, 5),
        }
        found.update(judged(strict(text), task.schema, task.truth))
        self.write(task, condition, None, found)

    def late(self):
        return self.end is not None and time.time() > self.end

    def skips(self, task, condition, seed):
        return (self.name, task.name, condition, seed) in self.done or (
            self.wanted is not None and condition not in self.wanted
        )

    def one(self, task, condition, seed=None):
        if self.skips(task, condition, seed):
            return
        if seed is None:
            sampling = {"temperature": 0.0}
        else:
            sampling = {"temperature": 1.0, "seed": seed}
        engine = self.engine(condition, sampling)
        if engine is None:
            return
        prompt, schema = prompt_of(task, CONDITIONS[condition][2])
        tokens = self.model.encode(self.model.template(prompt))
        limit = FREE if condition == "free" else CONSTRAINED
        found = answer(self.model, self.vocab, engine, tokens, schema, limit)
        found["prompt"] = len(tokens)
        found.update(judged(strict(found["text"]), schema, task.truth))
        if condition == "free":
            value = self.lenient.read(task, found["text"])
            mended = judged(value, schema, task.truth)
            found.update({f"lenient_{key}": value for key, value in mended.items()})
            found["lenient_value"] = value
        self.write(task, condition, seed, found)

    def aligned(self, task, condition, seeds):
        """Samples of the model's own distribution, given the grammar (ASAp): the first ones, or
        those after LEARN samples that only taught the sampler.
        """
        if self.skips(task, condition, seeds[-1]):
            return
        prompt = self.model.encode(self.model.template(task.prompt))
        grammar = turnstile.Grammar.json_schema(self.vocab, task.schema, **engines.STYLE)
        width, known = self.vocab.logits_width, {}

        def ask(prefixes):
            rows = bytearray()
            for prefix in prefixes:
                key = tuple(prefix)
                if key not in known:
                    known[key] = bytes(self.model.logits(prompt + list(prefix)))
                rows += known[key]
            return memoryview(rows).cast("f", (len(prefixes), width))

        align = _core.Align(grammar, ask, CONSTRAINED, seeds[0])
        if condition == "aligned-learned":
            for _ in range(LEARN):
                align.sample()
        for seed in seeds:
            passes, start = self.model.passes, time.thread_time()
            tokens, _ = align.sample()
            text = b"".join(
                self.vocab.token_bytes(t) for t in tokens if not self.vocab.is_special(t)
            ).decode("utf-8", "replace")
            found = {
                "text": text,
                "tokens": len(tokens),
                "passes": self.model.passes - passes,
                "seconds": round(time.thread_time() - start, 4),
                "mass_bound": align.mass,
            }
            found.update(judged(strict(text), task.schema, task.truth))
            self.write(task, condition, seed, found)

    def run_native(self, every):
        for task in every:
            for condition in NATIVE:
                if not self.late():
                    self.native(task, condition)

    def run(self, every, sampled, seeds):
        for number, task in enumerate(every):
            for condition, (_, _, thinking, step) in CONDITIONS.items():
                if self.late():
                    return
                if number % step or (thinking and task.kind not in REASONED):
                    continue
                self.one(task, condition)
            print(f"\r{number + 1} of {len(every)} tasks", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        for task in every[:sampled]:
            for condition in SAMPLED:
                if self.late():
                    return
                if not condition.startswith("aligned"):
                    for seed in range(1, seeds + 1):
                        self.one(task, condition, seed)
                elif condition == "aligned" or task.kind in LEARNED:
                    self.aligned(task, condition, list(range(1, seeds + 1)))


def main():
    parser = argparse.ArgumentParser(description=re.split(r"\n\n", __doc__)[0])
    parser.add_argument("--model", default="SmolLM2-135M", choices=MODELS)
    parser.add_argument("--results", default=str(RESULTS))
    parser.add_argument("--tasks", type=int, default=340)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sampled", type=int, default=60, help="tasks that are also sampled")
    parser.add_argument("--native", type=int, default=0, help="tasks for `turnstile run` alone")
    parser.add_argument("--conditions", default="", help="only these, separated by commas")
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--again", action="store_true", help="also what was run before")
    parser.add_argument("--report", action="store_true", help="write docs/quality.md alone")
    parser.add_argument("--keep", action="store_true", help="put the answers into the kept file")
    options = parser.parse_args()
    if not (options.report or options.keep):
        run = Eval(options)
        if options.native:
            run.run_native(tasks.tasks()[: options.native])
        else:
            run.run(tasks.tasks()[: options.tasks], options.sampled, options.seeds)
        for condition, why in run.missing.items():
            print(f"{condition} was not run: {why}", file=sys.stderr)
    if options.keep:
        report.keep(pathlib.Path(options.results))
    report.write(pathlib.Path(options.results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
