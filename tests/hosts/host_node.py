#!/usr/bin/env python3
"""Node: the package bindings/node, built with Debian's Emscripten into build/hosts/node, tested by
Node's own runner. Texts are judged by PyPI's jsonschema.

    python tests/hosts/host_node.py     (./dev test hosts runs it; needs ./dev fetch wasm)

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

DIST = common.BUILD / "hosts" / "node"
GGUF = common.BUILD / "llama.cpp" / "models" / "ggml-vocab-llama-spm.gguf"


def schema():
    """The schema that node_test.js has."""
    script = (
        "const s = require('fs').readFileSync('tests/hosts/node_test.js', 'utf8'); "
        "console.log(JSON.stringify(eval('(' + /SCHEMA = ({[^;]*})/.exec(s)[1] + ')')))"
    )
    return json.loads(
        subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True).stdout
    )


def run_readme():
    """The README's generation, with the package where npm would put it and a model that draws at
    random. What it writes must be an integer in "n".
    """
    script = doc_blocks.of_host("bindings/node/README.md", "node", "js")
    script = script.replace(
        "const matcher =", "width = vocab.logitsWidth;" + chr(10) + "const matcher ="
    )
    script = script.replace(
        "matcher.accept(argmax(logits));",
        "accept.push(argmax(logits)); matcher.accept(accept[accept.length - 1]);",
    )
    with tempfile.TemporaryDirectory() as name:
        package = pathlib.Path(name, "node_modules", "turnstile-llm")
        shutil.copytree(
            common.ROOT / "bindings" / "node", package, ignore=shutil.ignore_patterns("dist")
        )
        (package / "dist").symlink_to(DIST)
        shutil.copyfile(
            common.BUILD / "vocabs" / "llama3_1" / "tokenizer.json",
            pathlib.Path(name, "tokenizer.json"),
        )
        pathlib.Path(name, "readme.js").write_text(f"""const fs = require('fs');
const argmax = (row) => row.reduce((best, logit, i) => (logit > row[best] ? i : best), 0);
let width = 0;
const model = {{next: async () => {{
  const row = new Float32Array(width);
  for (let i = 0; i < width; i++) row[i] = Math.random();
  return row;
}}}};
(async () => {{
  const text = [], accept = [];
{script}
  const spelled = accept.filter((t) => !vocab.isEog(t)).map((t) => Buffer.from(vocab.bytes(t)));
  console.log(Buffer.concat(spelled).toString());
}})();
""")
        done = subprocess.run(
            ["node", "readme.js"],
            cwd=name,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    try:
        return isinstance(json.loads(done.stdout)["n"], (int, float))
    except (ValueError, KeyError, TypeError):
        print(f"  FAILED: bindings/node/README.md: {done.stdout[-300:]!r} {done.stderr[-1500:]}")
        return False


def main():
    missing = [name for name in ("node", "emcc") if not shutil.which(name)]
    if missing:
        common.missing(f"{' and '.join(missing)} not there")
    common.say("building the WebAssembly package, as bindings/node/README.md says")
    command = doc_blocks.without_comment(
        doc_blocks.of_host("bindings/node/README.md", "node", "sh")
    ).replace("bindings/node/dist", str(DIST))
    common.run(["nice", "-n", "10", "bash", "-euo", "pipefail", "-c", command])
    environment = {**os.environ, "TURNSTILE_DIST": str(DIST)}
    if GGUF.is_file():
        environment["TURNSTILE_GGUF"] = str(GGUF)
    done = subprocess.run(
        ["node", "--test", "--test-reporter=tap", "tests/hosts/node_test.js"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    number = {
        name: int(re.search(rf"^# {name} (\d+)", done.stdout, re.M)[1])
        for name in ("pass", "fail", "skipped")
    }
    counts = {
        "passed": number["pass"],
        "failed": max(number["fail"], int(done.returncode != 0)),
        "skipped": number["skipped"],
    }
    if counts["failed"]:
        print(done.stdout)
    tokens, wanted, texts = 0, schema(), re.findall(r"text (\d+) ([0-9a-f]+)", done.stdout)
    for count, text in texts:
        jsonschema.Draft202012Validator(wanted, format_checker=jsonschema.FormatChecker()).validate(
            json.loads(bytes.fromhex(text))
        )
        tokens += int(count)
        counts["passed"] += 1
    example = subprocess.run(
        ["node", "bindings/node/example.js", DIST],
        stdout=subprocess.PIPE,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    valid = example.returncode == 0 and set(json.loads(example.stdout)) == {"name", "age"}
    counts["passed" if valid else "failed"] += 1
    counts["passed" if run_readme() else "failed"] += 1
    versions = [
        subprocess.run(command, capture_output=True, text=True).stdout
        for command in (["node", "--version"], ["emcc", "--version"])
    ]
    emcc = re.search(r"\d+\.\d+\.\d+", versions[1])[0]
    size = (DIST / "turnstile.wasm").stat().st_size
    common.end(
        counts,
        f"Node {versions[0].strip()[1:]} (Emscripten {emcc}): package turnstile, turnstile.wasm "
        f"of {size >> 10} KiB; {common.account(counts, len(texts), tokens)}",
    )


if __name__ == "__main__":
    os.chdir(common.ROOT)
    main()
