"""What the tests of the command line tool share: running it, what is checked, small files, the
closing line. Without a program nothing is checked, and that is said.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from share import turn  # noqa: E402, F401 - the folder is no package

CLI = os.environ.get("TSL_CLI", str(ROOT / "build" / "turnstile"))
VOCABS = pathlib.Path(os.environ.get("TSL_VOCABS", ROOT / "build" / "vocabs"))
EXAMPLES = ROOT / "schemas" / "examples"
SCHEMAS = sorted(EXAMPLES.glob("*.json"))
GRAMMARS = sorted(EXAMPLES.glob("*.gbnf"))

passed = failed = skipped = 0


def check(condition, what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("  FAIL " + what)


def skip(why):
    global skipped
    skipped += 1
    print("  skipped: " + why)


def turnstile(*arguments, text=b"", env=None):
    """Run the tool; (exit code, stdout, stderr), as bytes."""
    if isinstance(text, str):
        text = text.encode()
    done = subprocess.run(
        [CLI, *map(str, arguments)],
        input=text,
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


def expect(code, arguments, text=b"", out=None, err=None):
    """Run, and check the exit code and what must be in stdout and stderr."""
    got, stdout, stderr = turnstile(*arguments, text=text)
    shown = f"turnstile {' '.join(map(str, arguments))} <<< {text!r}"
    check(got == code, f"{shown}: exit code {got}, not {code}: {stderr.decode(errors='replace')}")
    if out is not None:
        check(out in stdout.decode(errors="replace"), f"{shown}: no {out!r} in {stdout!r}")
    if err is not None:
        check(
            err in stderr.decode(errors="replace"),
            f"{shown}: no {err!r} in {stderr.decode(errors='replace')!r}",
        )
    return stdout, stderr


class Files:
    """A folder of small files."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()

    def __call__(self, name, content):
        path = pathlib.Path(self.folder.name) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            content
            if isinstance(content, bytes)
            else (content if isinstance(content, str) else json.dumps(content)).encode()
        )
        return path


files = Files()
PAIR = files(
    "pair.json",
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    },
)
SUM = files("sum.gbnf", 'root ::= term ("+" term)*\nterm ::= [0-9]+\n')


def validator_for(schema):
    """A function that says what jsonschema finds wrong, or None if it is not installed."""
    try:
        import jsonschema
    except ImportError:
        return None
    kind = jsonschema.validators.validator_for(schema)
    return lambda value: [
        e.message for e in kind(schema, format_checker=kind.FORMAT_CHECKER).iter_errors(value)
    ]


def run(parts):
    """Run the parts, pairs of a function and what it checks, and end. The command line may name
    some: then only those.
    """
    if not os.access(CLI, os.X_OK):
        print(f"  skipped: no program {CLI}\n0 passed, 0 failed, 1 skipped")
        sys.exit(1)
    only = sys.argv[1:]
    for part, what in parts:
        if only and part.__name__ not in only:
            continue
        before, wrong = passed, failed
        part()
        print(
            f"  {'ok  ' if failed == wrong else 'FAIL'} {part.__name__:<20} {what} "
            f"({passed - before + failed - wrong} checks)",
            flush=True,
        )
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or not passed else 0)
