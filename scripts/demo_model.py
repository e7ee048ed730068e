#!/usr/bin/env python3
"""`./dev demo model`: a real model under grammars, step by step, and the same without them.

    scripts/demo_model.py TURNSTILE

The model is SmolLM2-135M-Instruct, through llama.cpp (`./dev fetch model` brings both). Two tasks:
a tool call, and facts out of a paragraph. Each runs under its grammar with a line for each token,
then without a grammar; the script says whether that answer parses. Last it writes the inspector's
page of the extraction, build/model-trace.html. Exit status 0 if both constrained answers are valid.

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import re
import subprocess
import sys

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
MODEL = "build/models/SmolLM2-135M-Instruct.Q4_1.gguf"

WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 40},
        "days": {"type": "integer", "minimum": 1, "maximum": 7},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
REQUEST = {
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "description": "The weather of a city in the next days",
                "parameters": WEATHER,
            },
        }
    ],
    "parallel_tool_calls": False,
}
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 40},
        "age": {"type": "integer", "minimum": 0, "maximum": 130},
        "city": {"type": "string", "maxLength": 40},
        "married": {"type": "boolean"},
    },
    "required": ["name", "age", "city", "married"],
    "additionalProperties": False,
}
QUESTION = "How will the weather in Oslo be in the next 3 days?"
PARAGRAPH = (
    "Extract name, age, city and whether the person is married as JSON with these members.\n"
    "Anna Petrov is 42 years old. She has lived in Riga with her husband for ten years."
)


def turnstile(program, *arguments):
    """Run the command line tool; what it wrote to stdout."""
    command = [program, "run", "--model", MODEL, *arguments]
    print("$ " + " ".join(a if re.fullmatch(r"[\w./-]+", a) else repr(a) for a in command))
    sys.stdout.flush()
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, cwd=ROOT, text=True
    )
    print(done.stdout, flush=True)
    if done.returncode > 1:
        sys.exit(f"demo: turnstile ended with status {done.returncode}")
    return done.stdout


def call_in(text):
    """The arguments of the first call in an answer."""
    match = re.search(r"<tool_call>\n?(.*?)\n?</tool_call>", text, re.S)
    return json.loads(match[1])["arguments"] if match else json.loads(text)["arguments"]


def judge(who, text, read, schema):
    """Say whether an answer parses and is valid."""
    try:
        value = read(text)
    except (ValueError, KeyError, TypeError) as error:
        print(f"== {who}: does not parse: {str(error).splitlines()[0]}\n")
        return False
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(value))
    verdict = f"not valid: {errors[0].message}" if errors else "valid"
    print(f"== {who}: {json.dumps(value, ensure_ascii=False)}: {verdict}\n")
    return not errors


def main():
    program = sys.argv[1]
    request, schema = BUILD / "demo-request.json", BUILD / "demo-person.json"
    request.write_text(json.dumps(REQUEST))
    schema.write_text(json.dumps(PERSON))
    names = [str(path.relative_to(ROOT)) for path in (request, schema)]
    last = ["--tools", names[0], "--tool-choice", "required"]
    text = turnstile(program, "--prompt", QUESTION, *last, "--steps")
    good = judge("a tool call under the grammar", text, call_in, WEATHER)
    system = (
        "You may call "
        + json.dumps(REQUEST["tools"][0]["function"])
        + ('. To call it, write <tool_call>\n{"name": <name>, "arguments": <object>}\n</tool_call>')
    )
    free = ["--max-tokens", "96"]
    text = turnstile(program, "--prompt", QUESTION, "--system", system, *free)
    judge("the same without a grammar", text, call_in, WEATHER)
    text = turnstile(program, "--prompt", PARAGRAPH, "--schema", names[1], "--steps")
    extracted = text.partition("\n\n")[2]  # behind the table of steps
    good &= judge("an extraction under the grammar", extracted, json.loads, PERSON)
    text = turnstile(program, "--prompt", PARAGRAPH, *free)
    judge("the same without a grammar", text, json.loads, PERSON)
    page = "build/model-trace.html"
    turnstile(program, "--prompt", PARAGRAPH, "--schema", names[1], "--trace", page)
    print(f"== {page} shows every step of it in a browser")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
