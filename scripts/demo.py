#!/usr/bin/env python3
"""`./dev demo`: one constrained generation, step by step, and what an independent validator says of
the result.

    scripts/demo.py TURNSTILE [ARGUMENT]...

Runs `turnstile demo` on schemas/examples/tool-call.json; further arguments are handed on. The last
line that the demo prints is the result. PyPI jsonschema judges the result against the same schema,
formats asserted. Exit status 0 if the result is valid.

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import subprocess
import sys

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "schemas" / "examples" / "tool-call.json"


def main():
    command = [sys.argv[1], "demo", "--schema", str(SCHEMA.relative_to(ROOT)), *sys.argv[2:]]
    print("$ " + " ".join(command), flush=True)
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, cwd=ROOT, text=True
    )
    print(done.stdout, end="", flush=True)
    if done.returncode:
        print(f"demo: turnstile ended with status {done.returncode}", file=sys.stderr)
        return 1
    text = done.stdout.rstrip("\n").split("\n")[-1]
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    validator = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    errors = list(
        validator(schema, format_checker=validator.FORMAT_CHECKER).iter_errors(json.loads(text))
    )
    for error in errors:
        print(f"jsonschema: {error.json_path}: {error.message}")
    print(
        f"PyPI jsonschema says: {'not valid' if errors else 'valid'} against "
        f"{SCHEMA.relative_to(ROOT)}"
    )
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
