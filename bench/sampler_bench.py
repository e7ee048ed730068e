#!/usr/bin/env python3
"""`./dev bench sampler`: draws of Turnstile's sampler beside llama.cpp's own chain, on the same
logits, one after the other on one core.

llama.cpp comes as the source package of bench/peers/llama.lock (pinned, checked). Its sampler, its
grammar and its Unicode tables are compiled as they are. bench/peers/llama_peer.cpp answers their
calls to a vocabulary. Functions of its tensor library, which only samplers on a device use, are
replaced by a call to abort(). Needs g++ and binutils; where they or the package are absent the peer
is left out, and that is said.

llama.cpp's common sampler draws first and checks the one token. Only if that is rejected, the
sampler applies the grammar to the whole vocabulary and draws again. That way is measured too: the
mean of a step, with rejections forced at rates of 0, 10 and 50 %. Masks applied to logits in place
and cut-offs of flat rows have no counterpart there.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "llama"
LOCK = ROOT / "bench" / "peers" / "llama.lock"
SOURCES = [
    "llama-sampler.cpp",
    "llama-impl.cpp",
    "llama-grammar.cpp",
    "unicode.cpp",
    "unicode-data.cpp",
]
GRAMMAR = ROOT / "schemas" / "examples" / "json.gbnf"
VOCAB = ROOT / "build" / "vocabs" / "llama3_1" / "tokenizer.json"


def run(command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(str(c) for c in command[:4])}: "
            f"{(done.stderr or done.stdout).strip()[-600:]}"
        )
    return done.stdout


def source():
    """The folder of llama.cpp, fetched and unpacked if it is not there."""
    marker = BUILD / ".lock"
    if not (marker.is_file() and marker.read_text() == LOCK.read_text()):
        shutil.rmtree(BUILD, ignore_errors=True)
        BUILD.mkdir(parents=True)
        print("== fetching llama.cpp's source package", file=sys.stderr)
        run(
            [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--disable-pip-version-check",
                "--no-deps",
                "--no-binary",
                "llama-cpp-python",
                "--require-hashes",
                "-r",
                LOCK,
                "-d",
                BUILD,
            ]
        )
        (archive,) = BUILD.glob("*.tar.gz")
        with tarfile.open(archive) as tar:
            tar.extractall(
                BUILD,
                members=[
                    m
                    for m in tar
                    if "/vendor/llama.cpp/" in m.name
                    and m.isfile()
                    and ".." not in m.name.split("/")
                ],
            )
        archive.unlink()
        marker.write_text(LOCK.read_text())
    (folder,) = BUILD.glob("*/vendor/llama.cpp")
    return folder


def symbols(objects, flag):
    lines = run(["nm", flag, *objects]).splitlines()
    return {line.split()[-1] for line in lines if line.split() and not line.endswith(":")}


def peer():
    """Build llama_peer if it is older than what it is made of."""
    program = BUILD / "llama_peer"
    main = ROOT / "bench" / "peers" / "llama_peer.cpp"
    folder = source()
    if program.is_file() and program.stat().st_mtime > main.stat().st_mtime:
        return program
    print("== building llama.cpp's sampler", file=sys.stderr)
    flags = [
        "-std=c++17",
        "-O3",
        "-march=native",
        "-DNDEBUG",
        *(f"-I{folder / name}" for name in ("include", "src", "ggml/include")),
    ]
    objects = []
    for path in [main, *(folder / "src" / name for name in SOURCES)]:
        objects.append(BUILD / (path.stem + ".o"))
        run(["g++", *flags, "-c", path, "-o", objects[-1]])
    missing = sorted(
        s
        for s in symbols(objects, "-u") - symbols(objects, "--defined-only")
        if any(part in s for part in ("ggml_", "gguf_", "llama_"))
    )
    stubs = BUILD / "stubs.c"
    stubs.write_text(
        "void abort(void);\n" + "".join(f"void {s}(void) {{ abort(); }}\n" for s in missing)
    )
    run(["gcc", "-w", "-c", stubs, "-o", BUILD / "stubs.o"])
    run(["g++", *objects, BUILD / "stubs.o", "-o", program])
    return program


def measure():
    with tempfile.TemporaryDirectory() as folder:
        ours = json.loads(
            run(
                [
                    ROOT / "build" / "turnstile-bench",
                    "sampler",
                    "--vocab",
                    VOCAB,
                    "--grammar",
                    GRAMMAR,
                    "--dump",
                    folder,
                ]
            )
        )
        try:
            theirs = json.loads(
                run([peer(), f"{folder}/logits", f"{folder}/tokens", GRAMMAR, "300"])
            )
        except (RuntimeError, OSError, ValueError) as error:
            print(f"skipped: llama.cpp is not measured: {error}", file=sys.stderr)
            theirs = None
    return ours, theirs


def row(name, ours, theirs):
    print(f"{name:58} {ours:10.2f}" + (f" {theirs:12.2f} {theirs / ours:8.0f} x" if theirs else ""))


def main():
    if hasattr(os, "sched_setaffinity"):  # one core, so that no migration is measured
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    ours, theirs = measure()
    get = (theirs or {}).get
    print(f"{ours['width']} logits, {ours['allowed']} of them allowed; medians in microseconds\n")
    print(f"{'':58} {'turnstile':>10}" + (f" {'llama.cpp':>12} {'ratio':>8}" if theirs else ""))
    row("temperature 0.8, whole vocabulary", ours["temperature"], get("temperature"))
    row("top-k 40, top-p 0.95, min-p 0.05, temperature 0.8", ours["cut_off"], get("cut_off"))
    row("the same behind penalties", ours["cut_off_penalties"], get("cut_off_penalties"))
    row("the cut-offs behind the JSON grammar", ours["cut_off_grammar"], get("grammar_first"))
    row(
        "penalties, cut-offs, grammar; llama.cpp: cut-offs alone",
        ours["cut_off_penalties_grammar"],
        get("cut_off"),
    )
    row("temperature, one hundred tokens allowed", ours["hundred_allowed"], None)
    for rate in (0, 10, 50):
        row(
            f"draw first, then check; {rate} % rejected",
            ours[f"draw_first_{rate}"],
            get(f"draw_first_{rate}"),
        )
    print()
    for name, key in (
        ("mask applied to float32 logits, none allowed", "apply_none"),
        ("10 allowed", "apply_ten"),
        ("half allowed", "apply_half"),
        ("all but 100 allowed", "apply_most"),
        ("all allowed", "apply_all"),
        ("float16, half allowed", "apply_half_f16"),
        ("bfloat16, half allowed", "apply_half_bf16"),
        ("flat row: top-p 0.95", "flat_top_p"),
        ("flat row: typical 0.95", "flat_typical"),
        ("flat row: top-k of half the vocabulary", "flat_top_k"),
    ):
        row(name, ours[key], None)
    print(json.dumps({"turnstile": ours, "llama.cpp": theirs}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
