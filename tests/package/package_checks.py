"""What the tests of the Python package share: the package from the build folder, what is checked,
the closing line. A test is skipped where there is no package.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))
PACKAGE = BUILD / "bindings" / "python"
sys.path.insert(0, str(PACKAGE))
results = []
skipped = []


def check(condition, what):
    results.append(bool(condition))
    if not condition:
        print(f"  failed: {what}")


def raises(kind, call, what, **fields):
    """Does the call raise that exception, with these attributes?"""
    try:
        value = call()
    except BaseException as error:  # whatever it is, it is compared
        wrong = {
            name: getattr(error, name, None)
            for name, want in fields.items()
            if getattr(error, name, None) != want
        }
        check(type(error) is kind and not wrong, f"{what}: {type(error).__name__} {error} {wrong}")
        return error
    check(False, f"{what}: returned {value!r}")


def skip(why):
    skipped.append(why)
    print(f"  skipped: {why}")


def run(*tests):
    """Run them all, and end."""
    for test in tests:
        test()
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, {len(skipped)} skipped")
    sys.exit(not all(results))


try:
    import turnstile as T
except ImportError:
    skip(f"there is no Python package in {BUILD}: it was configured without -Dpython=true")
    run()

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "y"]}},
    "required": ["a"],
    "additionalProperties": False,
}
vocab = T.Vocab.embedded()
grammar = T.Grammar.json_schema(vocab, SCHEMA, whitespace="compact")
