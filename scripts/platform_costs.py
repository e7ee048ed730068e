#!/usr/bin/env python3
"""What a step costs without the vector kernels of a processor, and on other machines: the table of
docs/platforms.md.

    scripts/platform_costs.py [--count]     after ./dev wheels, whose objects it links

tests/platforms/costs.c does three pieces of work with each kind of kernels. For x86-64 it is run on
this machine; --count has callgrind count instructions, too. For arm64 it is run under qemu: there
the times compare kernels with each other, and say nothing of a real processor. For WebAssembly Node
runs the same masks and rows with the package of bindings/node, if that is built.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WHEELS = ROOT / "build" / "wheels"
ZIG = ROOT / "build" / "zig" / "venv" / "bin" / "python"
NODE = ROOT / "build" / "hosts" / "node"
SOURCE = ROOT / "tests" / "platforms" / "costs.c"
# zig's target: how it is run, the kernels, rounds.
RUNS = {
    "x86_64-linux-gnu.2.17": ([], ["portable", "avx2", "avx512"], 200),
    "aarch64-linux-musl": (["qemu-aarch64"], ["portable", "neon"], 20),
}
WORKS = ["apply", "draw", "masks"]
SCRIPT = """
const {load} = require(process.argv[1] + '/index.js');
load({folder: process.argv[2]}).then((library) => {
  const vocab = library.embeddedVocab(), row = new Float32Array(vocab.logitsWidth);
  const schema = {type: 'object', required: ['name', 'age'], properties: {
    name: {type: 'string', pattern: '^[A-Z][a-z]+$'}, age: {type: 'integer'}}};
  const once = () => {
    const grammar = library.jsonSchema(vocab, schema), matcher = library.matcher(grammar);
    for (const byte of Buffer.from('{"name": "Ada", "age": 36}')) {
      matcher.mask();
      matcher.acceptBytes(Uint8Array.of(byte));
    }
    matcher.free();
    grammar.free();
  };
  for (let i = 0; i < 50; i++) once();
  const start = process.hrtime.bigint();
  for (let i = 0; i < 200; i++) once();
  console.log(`masks ${Number(process.hrtime.bigint() - start) / 200}`);
});
"""


def built(target, folder):
    objects = [
        path
        for path in sorted((WHEELS / target).glob("*.o"))
        if path.name.startswith(("source-turnstile", "pcre2-", "yajl-"))
    ]
    if not objects:
        sys.exit(f"platform_costs: there are no objects for {target}; run ./dev wheels {target}")
    program = folder / target
    command = [ZIG, "-m", "ziglang", "cc", "-target", target, "-O2", f"-I{ROOT}/include", SOURCE]
    subprocess.run([*command, *objects, "-lm", "-lpthread", "-o", program], check=True)
    return program


def times(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        return None
    return dict(re.findall(r"^(\w+) ([\d.]+)$", done.stdout, re.M))


def counted(program, kernels, folder):
    """Instructions of one round of each work, or None where callgrind lacks the instructions."""
    out = []
    for work in WORKS:
        file = folder / "callgrind.out"
        rounds = 5  # and one before them
        done = subprocess.run(
            [
                *("valgrind", "--tool=callgrind", f"--toggle-collect=work_{work}"),
                *(f"--callgrind-out-file={file}", program, kernels, str(rounds)),
            ],
            capture_output=True,
            text=True,
        )
        found = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode or not found:
            return None
        out.append(f"{int(found.group(1)) // (rounds + 1):,}")
    return out


def main():
    count = sys.argv[1:] == ["--count"]
    if count and not shutil.which("valgrind"):
        sys.exit("platform_costs: valgrind is not installed")
    print("| machine | kernels | what | " + " | ".join(WORKS) + " |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for target, (way, levels, rounds) in RUNS.items():
            if way and not shutil.which(way[0]):
                continue
            program = built(target, folder)
            for kernels in levels:
                found = times([*way, program, kernels, rounds])
                if found is None:
                    print(f"| {target} | {kernels} | not there | | | |")
                    continue
                row = " | ".join(f"{float(found[work]) / 1000:,.1f}" for work in WORKS)
                print(f"| {target} | {kernels} | µs | {row} |", flush=True)
                if count and not way and (found := counted(program, kernels, folder)):
                    print(f"| {target} | {kernels} | instructions | {' | '.join(found)} |")
    if (NODE / "turnstile.wasm").is_file() and shutil.which("node"):
        found = times(["node", "-e", SCRIPT, ROOT / "bindings" / "node", NODE])
        if found:
            print(f"| wasm | portable, Node | µs | | | {float(found['masks']) / 1000:,.1f} |")


if __name__ == "__main__":
    main()
