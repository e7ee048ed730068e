#!/usr/bin/env python3
"""A real model under grammars: SmolLM2-135M-Instruct through llama.cpp (`./dev fetch model`).

  answers   100 short answers under 10 schemas, 10 seeds each: every one is valid (PyPI jsonschema)
  forced    greedy answers with forced tokens and without them are valid, and forced tokens save
            passes through the model
  calls     a tool call, read back by `turnstile tools --parse`
  prompts   names of special tokens in a user's text stay text; a context that is too small is said
  docs      the commands of docs/models.md
  demo      `./dev demo model`: both answers under a grammar are valid

./dev test models runs it. It prints what was measured, and ends with the counts.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "tree"))
import doc_blocks  # noqa: E402

CLI = os.environ.get("TSL_CLI", str(ROOT / "build" / "turnstile"))
MODEL = "build/models/SmolLM2-135M-Instruct.Q4_1.gguf"
COST = re.compile(
    r"(\d+) tokens in ([\d.]+) s: ([\d.]+) tokens/s; (?:(\d+) forced; )?(\d+) passes.*"
    r"masks and draws ([\d.]+) µs a token, ([\d.]+) % of the processor's ([\d.]+) s"
)
SEEDS = 10
passed = failed = 0
folder = tempfile.TemporaryDirectory()


def closed(**properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


WORD = {"type": "string", "minLength": 1, "maxLength": 12}
CASES = {
    "Name a colour.": {"enum": ["red", "green", "blue", "black"]},
    "Is water wet?": {"type": "boolean"},
    "How many legs has a horse?": {"type": "integer", "minimum": 0, "maximum": 8},
    "Name a person and an age.": closed(name=WORD, age={"type": "integer", "maximum": 130}),
    "List two fruits.": {"type": "array", "items": WORD, "minItems": 2, "maxItems": 2},
    "When was the moon landing?": closed(date={"type": "string", "format": "date"}),
    "Describe a shape.": {
        "oneOf": [
            closed(kind={"const": "circle"}, radius={"type": "number", "multipleOf": 0.5}),
            closed(kind={"const": "square"}, side={"type": "integer"}),
        ]
    },
    "Give a short code.": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3}$"},
    "Good or bad?": closed(why={"type": "string", "maxLength": 24}, verdict={"enum": [1, -1]}),
    "Name two different digits.": {
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": 9},
        "minItems": 2,
        "maxItems": 2,
        "uniqueItems": True,
    },
}


def check(condition, what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print(f"  FAILED: {what}")


def write(name, value):
    path = pathlib.Path(folder.name, name)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(path)


def run(*arguments):
    """(exit code, stdout, stderr, the cost line's numbers)"""
    done = subprocess.run(
        [CLI, "run", "--model", MODEL, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=ROOT,
        text=True,
    )
    found = COST.search(done.stderr)
    cost = found and [float(n or 0) for n in found.groups()]
    return done.returncode, done.stdout, done.stderr, cost


def answers():
    """100 answers; the tokens, forced tokens and seconds of all."""
    sums = [0.0] * 5
    for number, (prompt, schema) in enumerate(CASES.items()):
        file = write(f"{number}.json", schema)
        for seed in range(SEEDS):
            code, out, err, cost = run(
                "--prompt", prompt, "--schema", file, "--temperature", "1", "--seed", str(seed)
            )
            try:
                jsonschema.validate(json.loads(out), schema)
                valid = code == 0
            except (ValueError, jsonschema.ValidationError):
                valid = False
            check(valid and cost, f"{prompt} seed {seed}: {code} {out!r} {err!r}")
            if cost:
                more = (cost[0], cost[3], cost[1], cost[0] * cost[5], cost[7])
                sums = [a + b for a, b in zip(sums, more)]
    tokens, forced, seconds, grammar, worked = sums
    check(grammar / 1e6 < 0.05 * worked, f"masks and draws: {grammar:.0f} µs of {worked:.2f} s")
    print(
        f"  {len(CASES) * SEEDS} answers: {tokens:.0f} tokens, {forced:.0f} of them forced, "
        f"{tokens / seconds:.1f} tokens/s, masks and draws {grammar / tokens:.0f} µs a token, "
        f"{grammar / worked / 1e4:.2f} % of the processor's time"
    )


def forced():
    schema = write("person.json", CASES["Name a person and an age."])
    passes = []
    for more in ([], ["--no-forced"]):
        code, out, err, cost = run("--prompt", "Name a person.", "--schema", schema, *more)
        check(code == 0 and set(json.loads(out)) == {"name", "age"}, f"{more}: {out!r} {err!r}")
        passes.append(cost[4] if cost else 0)
    check(passes[0] < passes[1], f"forced tokens save passes: {passes}")
    print(
        f"  passes through the model: {passes[0]:.0f} with forced tokens, {passes[1]:.0f} without"
    )


def calls():
    tool = {"name": "get_weather", "parameters": closed(city=WORD, days={"enum": [1, 2, 3]})}
    request = write("request.json", {"tools": [{"type": "function", "function": tool}]})
    options = ["--tools", request, "--tool-choice", "required"]
    code, out, err, cost = run("--prompt", "The weather in Oslo?", *options, "--max-tokens", "200")
    check(code == 0, f"a tool call: {err}")
    parse = [
        "tools",
        "--preset",
        "hermes",
        *options,
        "--parse",
        write("answer.txt", out.rstrip("\n")),
    ]
    done = subprocess.run([CLI, *parse], capture_output=True, cwd=ROOT, text=True)
    read = json.loads(done.stdout or "{}").get("calls", [])
    check(read and all(c["name"] == "get_weather" for c in read), f"{out!r}: {done.stdout!r}")
    for call in read:
        jsonschema.validate(call["arguments"], tool["parameters"])
    if cost:
        print(f"  a tool call: {cost[0]:.0f} tokens, {cost[3]:.0f} forced, {cost[4]:.0f} passes")


def prompts():
    schema = write("bool.json", {"type": "boolean"})
    plain = "Is this text?"
    names = "<|im_end|>" * 10
    tokens = []
    for text in (plain, plain + names):
        code, _, err, _ = run("--prompt", text, "--schema", schema)
        tokens.append(int(re.search(r"prompt of (\d+) tokens", err)[1]))
        check(code == 0, err)
    check(tokens[1] - tokens[0] > 20, f"special tokens of a user's text stay text: {tokens}")
    code, _, err, _ = run("--prompt", "word " * 200, "--schema", schema, "--context", "128")
    check(code == 2 and "use --context" in err, f"a full context: {code} {err!r}")
    chat = write("chat.json", {"messages": [{"role": "user", "content": [{"text": "Yes?"}]}]})
    code, out, err, _ = run("--chat", chat, "--schema", schema)
    check(code == 0 and json.loads(out) in (True, False), f"a chat: {out!r} {err!r}")
    chat = write("chat.json", [{"role": "user", "content": "a"}, {"role": "nobody"}])
    code, _, err, _ = run("--chat", chat, "--schema", schema)
    check(code == 2 and "/1/role" in err, f"a role that is none: {err!r}")
    for text, why in (
        ('{"messages": [}', "no JSON at byte"),
        ('{"messages": [', "ends too early"),
        ("[]", "there is no message"),
        ('{"messages": 1}', "messages are a list"),
        ('[{"role": "user", "content": 7}]', "/0/content"),
        ('[{"role": "assistant", "tool_calls": [{}]}]', "/0/tool_calls"),
    ):
        code, _, err, _ = run("--chat", write("bad.json", text), "--schema", schema)
        check(code == 2 and why in err, f"{text}: {err!r}")
    # Escapes, a name that is spelled otherwise, and depth.
    odd = '{"m\\u0065ssages": [{"role": "user", "content": "\\ud83d\\ude00 \\ud83d \\n"}], "x": '
    deep = "[" * 20000 + "]" * 20000
    code, out, err, _ = run("--chat", write("odd.json", odd + deep + "}"), "--schema", schema)
    check(code == 0 and json.loads(out) in (True, False), f"odd JSON: {out!r} {err!r}")


def docs():
    block = doc_blocks.of_host("docs/models.md", "models", "sh")
    for line in block.strip().split("\n"):
        command = shlex.split(doc_blocks.without_comment(line))
        command[0] = CLI if command[0] == "build/turnstile" else command[0]
        if command[0] == "./dev":
            continue
        done = subprocess.run(command, capture_output=True, cwd=ROOT, text=True)
        check(done.returncode == 0, f"docs/models.md: {line}: {done.stderr}")


def demo():
    call = [sys.executable, "scripts/demo_model.py", CLI]
    done = subprocess.run(call, capture_output=True, cwd=ROOT, text=True)
    verdicts = [line for line in done.stdout.split("\n") if "under the grammar: " in line]
    check(done.returncode == 0, f"the demo: {done.returncode} {verdicts} {done.stderr[-500:]}")
    check(len(verdicts) == 2 and all(v.endswith(": valid") for v in verdicts), f"{verdicts}")


def main():
    if not (ROOT / MODEL).is_file():
        print(f"  FAILED: {MODEL} is not there: ./dev fetch model")
        return 1
    answers()
    forced()
    calls()
    prompts()
    docs()
    demo()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
