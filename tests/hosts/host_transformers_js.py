#!/usr/bin/env python3
"""transformers.js in Node, with its own ONNX Runtime, over the WebAssembly package: a tiny model
under grammars. Texts are judged by PyPI's jsonschema.

    python tests/hosts/host_transformers_js.py     (./dev test hosts runs it)

npm installs what tests/hosts/transformers_js/package-lock.json pins (120 MB to fetch), without the
packages' scripts.

SPDX-License-Identifier: Apache-2.0
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import jsonschema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common
import runtimes

FOLDER = common.ROOT / "tests" / "hosts" / "transformers_js"
HOST = common.BUILD / "hosts" / "transformers_js"
DIST = common.BUILD / "hosts" / "node"
SCHEMAS = [
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 4},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2},
        },
        "required": ["name", "tags"],
        "additionalProperties": False,
    },
    {
        "type": "array",
        "prefixItems": [{"enum": ["left", "right"]}, {"type": "boolean"}],
        "minItems": 2,
        "items": False,
    },
]


def install():
    """transformers.js in build/hosts/transformers_js, with this tree's package beside it."""
    stamp = hashlib.sha256((FOLDER / "package-lock.json").read_bytes()).hexdigest()
    mark = HOST / ".stamp"
    with common.one_at_a_time("transformers_js"):
        if mark.is_file() and mark.read_text() == stamp:
            return
        common.say("installing transformers.js")
        shutil.rmtree(HOST, ignore_errors=True)
        shutil.copytree(FOLDER, HOST)
        common.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=HOST)
        mark.write_text(stamp)


def node(script, *arguments):
    """A script beside the packages; what it printed, and whether it ended well."""
    package = HOST / "node_modules" / "turnstile-llm"
    if not package.is_symlink():
        package.symlink_to(common.ROOT / "bindings" / "node")
    shutil.copyfile(script, HOST / script.name)
    done = subprocess.run(
        ["node", str(HOST / script.name), *map(str, arguments)],
        cwd=HOST,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        print(f"  {script.name} ended with {done.returncode}: {done.stderr[-1500:]}")
    return done.stdout, done.returncode == 0


def main():
    missing = [name for name in ("node", "npm", "emcc") if not shutil.which(name)]
    if missing:
        common.missing(f"{' and '.join(missing)} not there")
    install()
    common.run(["nice", "-n", "10", "bindings/node/build.py", DIST])
    model = common.run(
        [
            common.venv("runtimes"),
            "-c",
            "import tiny_models; print(tiny_models.save_transformers_js(1))",
        ],
        cwd=FOLDER.parent / "python",
        env=runtimes.variables(common.BUILD / "hosts" / "runtimes"),
    ).split()[-1]
    printed, good = node(FOLDER / "test.mjs", model, DIST, json.dumps(SCHEMAS))
    counts = {"passed": 0, "failed": int(not good), "skipped": 0}
    texts = tokens = 0
    for line in printed.splitlines():
        if found := re.fullmatch(r"text (\d+) (\d+) ([0-9a-f]*)", line):
            text = bytes.fromhex(found[3]).decode()
            try:
                jsonschema.validate(json.loads(text), SCHEMAS[int(found[1])])
                counts["passed"] += 1
            except (ValueError, jsonschema.ValidationError) as error:
                print(f"  FAILED: {text!r}: {str(error).splitlines()[0]}")
                counts["failed"] += 1
            texts, tokens = texts + 1, tokens + int(found[2])
        elif line.startswith("ok "):
            counts["passed"] += 1
        else:
            print(f"  {line}")
            counts["failed"] += 1
    if texts != 7:
        print(f"  FAILED: {texts} texts, not 7")
        counts["failed"] += 1
    printed, good = node(
        common.ROOT / "bindings" / "node" / "transformers_example.mjs", model, DIST
    )
    good = good and set(json.loads(printed)) == {"name", "age"}
    counts["passed" if good else "failed"] += 1
    package = HOST / "node_modules" / "@huggingface" / "transformers" / "package.json"
    common.end(
        counts,
        f"transformers.js {json.loads(package.read_text())['version']} (Node, onnxruntime-node): "
        "logits_processor of generate(): greedy, sampling, batches with a grammar for each text; "
        f"{texts} texts, {tokens} tokens generated, "
        + ("NOT all checks hold" if counts["failed"] else "all valid"),
    )


if __name__ == "__main__":
    os.chdir(common.ROOT)
    main()
