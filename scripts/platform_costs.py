#!/usr/bin/env python3
"""What a step costs without the vector kernels of a processor, and on other machines: the table of
docs/platforms.md.

    scripts/platform_costs.py [wasm]   after ./dev build and ./dev fetch zig wasm audit; needs
                                       qemu-user, emcc, node. wasm: those rows alone

tests/platforms/costs.c does three pieces of work with each kind of kernels. Each is run under qemu,
where tests/platforms/count_plugin.c counts the instructions of a round. Those are the same on a
busy machine, and qemu has processors that are not here. x86-64 is run on this machine as well, for
the time. qemu's own time says nothing of a real processor, so none is printed.

For WebAssembly Node does the same work with the package of bindings/node, built as it is handed
out, and built with vectors (SIMD). Node is run under qemu too: what is counted are instructions of
x86-64, which its optimising compiler made of WebAssembly.

x86-64 is the release build. For arm64 the objects are those of the wheel (scripts/wheels.py), which
are compiled where they are not there.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import wheels  # noqa: E402

TESTS = ROOT / "tests" / "platforms"
PACKAGE = ROOT / "bindings" / "node"
# This machine, or zig's target: its qemu, the kernels that qemu's processor has, those that are
# timed here.
RUNS = {
    "x86_64": (
        ["qemu-x86_64", "-cpu", "max"],
        ["portable", "avx2"],
        ["portable", "avx2", "avx512"],
    ),
    "aarch64-linux-musl": (["qemu-aarch64"], ["portable", "neon"], []),
}
WORKS = ["apply", "draw", "masks"]
COUNTED, TIMED = 10, 200  # rounds
# The package's folder, and what emcc gets beside its flags.
WASM = {
    "portable": (ROOT / "build" / "hosts" / "node", ""),
    "SIMD": (ROOT / "build" / "platforms" / "wasm-simd", "-msimd128 -fopenmp-simd -DTSL__SIMD"),
}
# Each function is compiled once, by the optimising compiler, and no thread runs beside.
NODE = ["--single-threaded", "--no-liftoff", "--wasm-lazy-compilation"]


def ran(command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    if done.returncode:
        said = (done.stdout + done.stderr)[-1500:]
        sys.exit(f"platform_costs: {' '.join(map(str, command))}: {said}")
    return done


def program(target, folder):
    """costs.c, linked with the release build, or with the objects of that target's wheel."""
    if target == platform.machine():
        made, library = folder / target, ROOT / "build" / "libturnstile.a"
        if not library.is_file():
            sys.exit(f"platform_costs: {library} is not there; run ./dev build")
        system = ["-lpcre2-8", "-lyajl", "-lxxhash", "-lm", "-pthread"]
        command = ["gcc", "-O2", f"-I{ROOT}/include", TESTS / "costs.c", library, *system]
        ran([*command, "-o", made])
        return made
    objects = wheels.OUT / target
    if not (objects / "source-turnstile.o").is_file():
        wheels.make_wheel(target, wheels.source_tree())
    made = folder / target
    named = ("source-turnstile", "pcre2-", "yajl-")
    parts = [path for path in sorted(objects.glob("*.o")) if path.name.startswith(named)]
    command = [wheels.ZIG, "-m", "ziglang", "cc", "-target", target, "-O2", f"-I{ROOT}/include"]
    ran([*command, TESTS / "costs.c", *parts, "-lm", "-lpthread", "-o", made])
    return made


def counted(command, plugin, rounds):
    """{work: instructions of a round}: the program calls getppid before and after each work."""
    emulator, rest = command
    done = ran([*emulator, "-plugin", plugin, *rest])
    sums = list(map(int, re.findall(r"^instructions (\d+)$", done.stderr, re.M)))
    names = re.findall(r"^(\w+) [\d.]+$", done.stdout, re.M)
    if len(sums) != 2 * len(names):
        sys.exit(f"platform_costs: {len(sums)} counts for {names}: {done.stderr[-500:]}")
    pairs = zip(names, sums[::2], sums[1::2], strict=True)
    return {name: f"{(after - before) // rounds:,}" for name, before, after in pairs}


def timed(command):
    """{work: microseconds of a round}, or None: this processor lacks the kernels."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    found = re.findall(r"^(\w+) ([\d.]+)$", done.stdout, re.M)
    return {name: f"{float(ns) / 1000:,.0f}" for name, ns in found} or None


def row(machine, kernels, what, found):
    if found:
        cells = " | ".join(found.get(work, "") for work in WORKS)
        print(f"| {machine} | {kernels} | {what} | {cells} |", flush=True)


def of_wasm(plugin):
    emulator = ["qemu-x86_64", "-cpu", "max"]
    for kernels, (folder, flags) in WASM.items():
        environment = {**os.environ, "TSL_WASM_FLAGS": flags}
        ran([sys.executable, PACKAGE / "build.py", folder], env=environment)
        work = [TESTS / "costs.js", PACKAGE, folder]
        node = shutil.which("node")
        row(
            "WebAssembly in Node",
            kernels,
            "instructions",
            counted((emulator, [node, *NODE, *work, COUNTED]), plugin, COUNTED),
        )
        row("WebAssembly in Node", kernels, "µs", timed([node, *work, TIMED]))


def main():
    emulators = [emulator[0] for emulator, _, _ in RUNS.values()]
    if missing := [name for name in [*emulators, "emcc", "node", "gcc"] if not shutil.which(name)]:
        sys.exit(f"platform_costs: {', '.join(missing)} is not installed")
    print("| machine | kernels | what | " + " | ".join(WORKS) + " |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plugin = folder / "count.so"
        ran(["gcc", "-std=c11", "-O2", "-fPIC", "-shared", TESTS / "count_plugin.c", "-o", plugin])
        runs = {} if sys.argv[1:] == ["wasm"] else RUNS
        for target, (emulator, levels, here) in runs.items():
            made, machine = program(target, folder), target.split("-")[0]
            for kernels in levels:
                command = (emulator, [made, kernels, COUNTED])
                row(machine, kernels, "instructions", counted(command, plugin, COUNTED))
            for kernels in here if machine == platform.machine() else []:
                row(machine, kernels, "µs", timed([made, kernels, TIMED]))
        of_wasm(plugin)


if __name__ == "__main__":
    main()
