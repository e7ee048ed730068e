#!/usr/bin/env python3
"""bindings/device: masks and draws on a GPU, without a GPU.

turnstile.cu and turnstile.metal run on the processor, each thread of a group as a fiber
(tests/hosts/device). Masked rows are compared with tsl_mask_apply, and tokens with
tsl_sampler_draw: rows of all kinds and shapes, two sizes of a group. Both write texts of a JSON
Schema, which PyPI's jsonschema judges. clang compiles turnstile.cu for NVIDIA's and AMD's
instructions, where no product may be contracted with a sum. The assembler that Triton's package has
takes the result for three generations of GPUs. turnstile.wgsl runs in Chromium: ./dev test page.

    python tests/hosts/host_device.py     (./dev test hosts runs it)

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import re
import subprocess
import sys

import jsonschema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common

FOLDER = common.BUILD / "hosts" / "device"
SOURCES = common.ROOT / "tests" / "hosts" / "device"
KERNELS = common.ROOT / "bindings" / "device"
THREADS = (256, 32)
TEXTS = 10  # of each language
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 130},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
CLANG = ["clang++", "-std=c++17", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-I."]
CLANG += ["--cuda-device-only", "-include", "tests/hosts/device/cuda.h", "-S"]
NVIDIA = ["-x", "cuda", "--cuda-gpu-arch=sm_70", "-nocudainc", "-nocudalib"]
AMD = ["-x", "hip", "-nogpuinc", "-nogpulib"]


def build(language, threads):
    """The program of tests/hosts/device/device.cpp over turnstile.cu or turnstile.metal."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    program = FOLDER / f"{language}-{threads}"
    flags = subprocess.run(
        ["pkg-config", "--libs", "yajl", "libpcre2-8", "libxxhash"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    common.run(
        ["g++", "-std=c++17", "-O2", "-ffp-contract=off", "-fno-strict-aliasing", "-Wall"]
        + ["-Wextra", "-Werror", "-Wno-attributes", "-Wno-unknown-pragmas"]
        + [f"-DTSD_THREADS={threads}u", f"-DDEVICE_{language.upper()}"]
        + ["-I.", "-Iinclude", f"-I{SOURCES / 'metal'}", SOURCES / "device.cpp", "-o", program]
        + [common.BUILD / "libturnstile.a", *flags, "-lm", "-lpthread"]
    )
    return program


def write_texts(counts, program):
    """Texts of which the kernel draws each token, judged; how many, and of how many tokens."""
    lines = common.program([program, "text", json.dumps(SCHEMA), str(TEXTS)])
    common.add(counts, lines)
    rows = [line.split(" ") for line in lines if line.startswith("text ")]
    for _, _, text in rows:
        jsonschema.validate(json.loads(bytes.fromhex(text)), SCHEMA)
    return len(rows), sum(int(tokens) for _, tokens, _ in rows)


def compile_for_gpus(counts):
    """turnstile.cu for GPUs of both makers; what was made."""
    ptx = FOLDER / "turnstile.ptx"
    made = {"PTX": (NVIDIA, ptx)}
    for chip in ("gfx90a", "gfx1030"):
        made[chip] = ([*AMD, f"--offload-arch={chip}"], FOLDER / f"turnstile-{chip}.s")
    for name, (options, target) in made.items():
        common.run([*CLANG, *options, KERNELS / "turnstile.cu", "-o", target])
        text = target.read_text()
        kernels = {k for k in ("turnstile_apply", "turnstile_draw") if re.search(rf"\b{k}\b", text)}
        # The polynomial has five products with a sum; others would be contracted ones.
        contracted = re.findall(r"\b(?:mad\.\w*\.?f32|v_mad_f32|v_mac_f32|fma\.rn\.f64)\b", text)
        good = len(kernels) == 2 and not contracted
        counts["passed" if good else "failed"] += 1
        if not good:
            print(f"  FAILED: {name}: kernels {sorted(kernels)}, contracted {contracted[:5]}")
    assembler = next(common.venv("triton").parent.parent.glob("lib/python3*/site-packages/triton"))
    assembler = assembler / "backends" / "nvidia" / "bin" / "ptxas"
    for chip in ("sm_75", "sm_80", "sm_90"):
        out = common.run([assembler, f"-arch={chip}", "-v", "-o", FOLDER / "turnstile.cubin", ptx])
        counts["passed"] += 1
        used = re.findall(r"Used (\d+) registers.*?(\d+) bytes smem", out)
        if chip == "sm_90" and used:
            print(f"  {chip}: {used[0][0]} registers, {used[0][1]} bytes of shared memory")
    return "compiled for NVIDIA (PTX; by ptxas for sm_75, sm_80, sm_90) and AMD (gfx90a, gfx1030)"


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    made = []
    for language in ("cuda", "metal"):
        for threads in THREADS:
            program = build(language, threads)
            common.add(counts, common.program([program, "apply"]))
            print(f"  {language}, groups of {threads}:")
            common.add(counts, common.program([program, "draw", str(threads)]))
        made.append(write_texts(counts, program))
    compiled = compile_for_gpus(counts)
    common.end(
        counts,
        "bindings/device: turnstile.cu and turnstile.metal on the processor, a fiber for each "
        f"thread: masks, draws; turnstile.cu {compiled}; no GPU ran them; "
        f"{common.account(counts, *(sum(column) for column in zip(*made)))}",
    )


if __name__ == "__main__":
    main()
