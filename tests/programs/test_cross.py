#!/usr/bin/env python3
"""The kernels on logits, and the sampler on top of them, on machines that are not this one: cross
compiled and run under qemu.

aarch64: the NEON kernels, compared with the portable ones bit for bit. s390x: the portable ones
where the most significant byte comes first, and where C carries out floats as doubles within an
expression. The pinned draws of test_sampler must be those of x86-64 on both, which shows that a
seed draws the same tokens. Needs <machine>-linux-gnu-gcc and qemu-<machine> (Debian:
gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user);
what is absent is said and counted as skipped. On such a machine itself the ordinary tests do all
this.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MACHINES = {"aarch64": "neon", "s390x": "portable"}  # and the kernels that it should choose
TESTS = [
    ["logits"],
    ["sampler", "bits"],
    ["keep", "bits"],
    ["step"],
    ["guidance"],
]  # name, arguments
# What the sampler is made of, without the engine above it.
SOURCES = [
    "core/base",
    "core/os_posix",
    "sample/candidates",
    "sample/candidates_keep",
    "sample/guidance",
    "kernels/logits",
    "kernels/logits_dispatch",
    "kernels/logits_neon",
    "kernels/logits_portable",
    "core/rng",
    "sample/sampler",
    "sample/history",
    "sample/stages",
    "sample/step",
    "kernels/trie_sound",
]
# xxHash comes from its header (base.c includes it), as there is no library for the other
# processor.
FLAGS = [
    "-std=c11",
    "-O2",
    "-static",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-D_POSIX_C_SOURCE=200809L",
    "-I.",
    "-Iinclude",
    "-idirafter",
    "/usr/include",
]


def run_test(gcc, qemu, folder, objects, name, arguments, kernels):
    """Counts of one test: passed, failed."""
    program = f"{folder}/test_{name}"
    subprocess.run(
        [gcc, *FLAGS, f"tests/test_{name}.c", *objects, "-lm", "-lpthread", "-o", program],
        cwd=ROOT,
        check=True,
    )
    done = subprocess.run([qemu, program, *arguments], cwd=ROOT, capture_output=True, text=True)
    counts = re.search(r"^(\d+) passed, (\d+) failed", done.stdout, re.M)
    good, bad = (int(counts.group(1)), int(counts.group(2))) if counts else (0, 1)
    if name == "logits" and f"chosen: {kernels}" not in done.stdout:
        print(f"  FAIL the {kernels} kernels were not chosen")
        bad += 1
    if done.returncode or bad:
        sys.stderr.write(done.stdout + done.stderr)
        bad = max(bad, 1)
    print(
        f"  {'FAIL' if bad else 'ok  '} test_{name} under {pathlib.Path(qemu).name}: {good} checks"
    )
    return good, bad


def run_machine(machine, kernels):
    """Counts of all tests: passed, failed, skipped."""
    if platform.machine() in (machine, {"aarch64": "arm64"}.get(machine)):
        print(f"  skipped: this machine is {machine}: the ordinary tests run there")
        return 0, 0, 1
    gcc = shutil.which(f"{machine}-linux-gnu-gcc")
    qemu = shutil.which(f"qemu-{machine}") or shutil.which(f"qemu-{machine}-static")
    if not gcc or not qemu:
        print(f"  skipped: {machine}-linux-gnu-gcc or qemu-{machine} is absent")
        return 0, 0, 1
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for name in SOURCES:
            objects.append(f"{folder}/{pathlib.Path(name).name}.o")
            subprocess.run(
                [gcc, *FLAGS, "-c", f"runtime/{name}.c", "-o", objects[-1]], cwd=ROOT, check=True
            )
        for name, *arguments in TESTS:
            good, bad = run_test(gcc, qemu, folder, objects, name, arguments, kernels)
            passed, failed = passed + good, failed + bad
    return passed, failed, 0


def main():
    counts = [run_machine(machine, kernels) for machine, kernels in MACHINES.items()]
    passed, failed, skipped = (sum(column) for column in zip(*counts))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
