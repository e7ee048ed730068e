#!/usr/bin/env python3
"""The wheel: `pip wheel .` with the oldest CPython from 3.9 on that is here. The tests of
tests/package/ (TESTS) run on that wheel, and texts are generated, which PyPI's jsonschema judges.
pip installs the wheel into an empty environment of every CPython that is here, one for each
version. Debian 12 has 3.11 alone; pyenv's are found too.

    python tests/hosts/host_wheel.py     (./dev test hosts runs it)

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import jsonschema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common
import doc_blocks

PROBE = (
    "import sys, ensurepip, sysconfig; print(sys.implementation.name, '-' + sys.abiflags, "
    "*sys.version_info[:3])"
)
TESTS = [
    f"tests/package/test_package{part}.py" for part in ("", "_grammars", "_stored", "_decoding")
]
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "born": {"type": "string", "format": "date"},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True},
    },
    "required": ["name", "born"],
    "additionalProperties": False,
}
# Ten texts of an installed package, each as its number of tokens and its JSON string.
GENERATE = f"""
import array, json, turnstile
vocab = turnstile.Vocab.embedded()
grammar = turnstile.Grammar.json_schema(vocab, {SCHEMA!r}, whitespace="compact")
logits, mask = array.array("f", [0.0] * vocab.logits_width), bytearray(4 * vocab.mask_words)
for seed in range(10):
    matcher, sampler = turnstile.Matcher(grammar), turnstile.Sampler(seed=seed, temperature=1.0)
    text, tokens = b"", 0
    while not matcher.is_terminated:
        matcher.mask(mask)
        token = sampler.draw(logits, mask)[0]
        matcher.accept(token)
        text += b"" if vocab.is_eog(token) else vocab.token_bytes(token)
        tokens += 1
    print(tokens, json.dumps(text.decode()))
"""
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


def interpreters():
    """{(3, minor): python} of the CPythons here that have the stable ABI of the package."""
    found = {}
    names = (
        [shutil.which(f"python3.{minor}") for minor in range(9, 30)]
        + sorted(map(str, pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python")))
        + [sys.executable]
    )
    for name in filter(None, names):
        done = subprocess.run(
            [name, "-c", PROBE], stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        words = done.stdout.split()
        if (
            done.returncode or words[0] != "cpython" or "t" in words[1]
        ):  # free-threaded builds have no stable ABI
            continue
        version = tuple(map(int, words[2:]))
        if version[:2] >= (3, 9):
            found.setdefault(version[:2], (name, ".".join(map(str, version))))
    return dict(sorted(found.items()))


def environment(python, folder):
    common.run([python, "-m", "venv", folder])
    return folder / "bin" / "python"


def generate(counts, python, folder):
    """Texts of the installed package, judged; how many texts and tokens."""
    printed = common.run([python, "-c", GENERATE], cwd=folder, stderr=None).splitlines()
    tokens = 0
    for line in printed:
        number, text = line.split(" ", 1)
        checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
        jsonschema.validate(json.loads(json.loads(text)), SCHEMA, format_checker=checker)
        counts["passed"] += 1
        tokens += int(number)
    return len(printed), tokens


def try_wheel(counts, python, wheel, folder):
    """The package's own tests, with the installed wheel in the place of the build folder's; how
    many texts were generated, and of how many tokens.
    """
    inside = environment(python, folder)
    common.run([inside, *PIP, "install", "--no-deps", "--no-index", wheel])
    where = common.run(
        [inside, "-c", "import turnstile; print(turnstile.__path__[0])"], cwd=folder
    ).strip()
    package = folder / "build" / "bindings" / "python" / "turnstile"
    package.parent.mkdir(parents=True)
    package.symlink_to(where)
    for test in TESTS:
        lines = common.program(
            [inside, test],
            env={
                **os.environ,
                "TSL_BUILD": str(folder / "build"),
                "TSL_VOCABS": str(common.BUILD / "vocabs"),
            },
        )
        closing = re.fullmatch(
            r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?", lines[-1] if lines else ""
        )
        if not closing:
            sys.exit(f"{test} has no closing line")
        for name, value in zip(("passed", "failed", "skipped"), closing.groups()):
            counts[name] += int(value or 0)
        print(
            *(line for line in lines[:-1] if "failed" in line or "skipped" in line),
            sep="\n",
            end="",
        )
    return generate(counts, inside, folder)


def try_manual(counts, folder):
    """The commands of docs/python.md, word for word but for where the environment is made; then the
    module is there.
    """
    for command in doc_blocks.commands(common.ROOT / "docs/python.md"):
        if command.startswith("python3 "):
            with common.kept_objects() as variables:
                common.run(
                    ["bash", "-euo", "pipefail", "-c", re.sub(r"\benv\b", str(folder), command)],
                    env=variables,
                )
    done = subprocess.run(
        [
            folder / "bin" / "python",
            "-c",
            "import turnstile; print(turnstile.Vocab.embedded().size)",
        ],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    counts["passed" if done.stdout == "4096\n" else "failed"] += 1


def main():
    found = interpreters()
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    if not found:
        common.missing("there is no CPython 3.9 or later with venv")
    with tempfile.TemporaryDirectory(dir=common.BUILD) as name:
        folder = pathlib.Path(name)
        oldest = environment(next(iter(found.values()))[0], folder / "builder")
        common.say(f"building the wheel with CPython {next(iter(found.values()))[1]}")
        with common.kept_objects() as variables:
            common.run(
                [oldest, *PIP, "wheel", "--no-deps", "-w", folder / "wheels", common.ROOT],
                env=variables,
            )
        try_manual(counts, folder / "manual")
        wheel = next((folder / "wheels").glob("*.whl"))
        made = [
            try_wheel(counts, python, wheel, folder / "{}.{}".format(*version))
            for version, (python, _) in found.items()
        ]
    versions = ", ".join(text for _, text in found.values())
    account = common.account(counts, *(sum(column) for column in zip(*made)))
    common.end(
        counts,
        f"CPython {versions}: {wheel.name}, built once, installed in each; the package's own "
        f"tests; {account}",
    )


if __name__ == "__main__":
    os.chdir(common.ROOT)
    main()
