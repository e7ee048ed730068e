#!/usr/bin/env python3
"""The NEON kernels, and the sampler on top of them, on a machine that is no Arm: cross compiled and run under qemu.

The tests of the kernels compare every level with the portable one bit for bit; the pinned draws of test_sampler must be those of x86-64, which
shows that a seed draws the same tokens on both. Needs aarch64-linux-gnu-gcc and qemu-aarch64 (Debian: gcc-aarch64-linux-gnu,
libc6-dev-arm64-cross, qemu-user); what is absent is said and counted as skipped. On an Arm the ordinary tests do all this.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = [["logits"], ["sampler", "bits"], ["step"], ["guidance"]] # name, arguments
# What the sampler is made of, without the engine above it.
SOURCES = ["base", "candidates", "guidance", "logits", "logits_dispatch", "logits_neon", "logits_portable", "rng", "sampler", "sampler_history",
           "sampler_stages", "step"]
# xxHash is taken from its header (base.c asks for that), as there is no library for the other processor.
FLAGS = ["-std=c11", "-O2", "-static", "-Wall", "-Wextra", "-Werror", "-D_POSIX_C_SOURCE=200809L", "-I.", "-Iinclude",
         "-idirafter", "/usr/include"]


def skip(reason):
    print(f"  skipped: {reason}")
    print("0 passed, 0 failed, 1 skipped")
    return 0


def main():
    if platform.machine() in ("aarch64", "arm64"):
        return skip("this machine is an Arm: the ordinary tests run these kernels")
    gcc = shutil.which("aarch64-linux-gnu-gcc")
    qemu = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    if not gcc or not qemu:
        return skip("aarch64-linux-gnu-gcc or qemu-aarch64 is absent (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)")
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for name in SOURCES:
            objects.append(f"{folder}/{name}.o")
            subprocess.run([gcc, *FLAGS, "-c", f"runtime/{name}.c", "-o", objects[-1]], cwd=ROOT, check=True)
        for name, *arguments in TESTS:
            program = f"{folder}/test_{name}"
            subprocess.run([gcc, *FLAGS, f"tests/test_{name}.c", *objects, "-lm", "-lpthread", "-o", program], cwd=ROOT, check=True)
            done = subprocess.run([qemu, program, *arguments], cwd=ROOT, capture_output=True, text=True)
            counts = re.search(r"^(\d+) passed, (\d+) failed", done.stdout, re.M)
            if name == "logits" and "neon" not in done.stdout:
                print("  FAIL the NEON kernels were not chosen")
                failed += 1
            good = int(counts.group(1)) if counts else 0
            bad = int(counts.group(2)) if counts else 1
            print(f"  {'ok  ' if done.returncode == 0 and not bad else 'FAIL'} test_{name} under {pathlib.Path(qemu).name}: {good} checks")
            if done.returncode or bad:
                sys.stderr.write(done.stdout + done.stderr)
                failed += max(bad, 1)
            passed += good
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
