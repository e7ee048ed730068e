#!/usr/bin/env python3
"""The whole library, front ends included, on machines that are not this one: cross compiled, and
its unit tests run by an emulator.

    scripts/cross.py MACHINE [--full | TEST...]
                                MACHINE: s390x (big-endian), arm64, i386 (32 bits), windows

The libraries that Turnstile stands on are Debian's packages for that machine. apt fetches and
checks them. They are unpacked in build-cross/MACHINE; nothing of the system is changed. Needs the
cross compiler and qemu-user (Debian: gcc-s390x-linux-gnu libc6-dev-s390x-cross,
gcc-aarch64-linux-gnu libc6-dev-arm64-cross, gcc-multilib for i386, which runs without qemu).

`windows` is x86_64, compiled by mingw-w64 (Debian: gcc-mingw-w64-x86-64-posix) and run by Wine
(Debian: wine). PCRE2, yajl and xxHash are compiled from the sources that `./dev fetch wasm` brings.
The library is made as DLL with its import library and as static library; the command line tool is
made and run, too. All unit tests are built and run but those of
NOT_HERE (scripts/windows.py), each with a reason.

Without TEST those of TESTS are run, each as the ordinary tests are; the last line adds them up. As
in tests/run.py those that take longest take a part of their cases then: that of TSL_SHARE, which is
printed. --full takes all cases.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

sys.path.insert(0, str(ROOT / "tests"))

import run as test_runner  # noqa: E402
import windows  # noqa: E402

PACKAGES = [
    "libyajl-dev",
    "libyajl2",
    "libpcre2-dev",
    "libpcre2-8-0",
    "libxxhash-dev",
    "libxxhash0",
]
# Debian's name: of the compiler, its flags, meson's cpu family, endianness, Debian's folder of
# libraries, the emulator, where the C library lies.
MACHINES = {
    "s390x": (
        "s390x-linux-gnu-gcc",
        [],
        "s390x",
        "big",
        "s390x-linux-gnu",
        ["qemu-s390x", "-L", "/usr/s390x-linux-gnu"],
    ),
    "arm64": (
        "aarch64-linux-gnu-gcc",
        [],
        "aarch64",
        "little",
        "aarch64-linux-gnu",
        ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    ),
    "i386": ("gcc", ["-m32"], "x86", "little", "i386-linux-gnu", []),
}
# What is quick enough under emulation.
TESTS = [
    *"""
    json expr charset number regex gbnf schema validator oracle distinct tags trie listing
    mask_table mask leftover seen_names artifact store vocab vocab_files vocab_cache encode
    step fuzz_mask fuzz_walk fuzz_judge fuzz_api fuzz_schema fuzz_gbnf fuzz_regex fuzz_tags
    fuzz_artifact
    """.split(),
    *(f"fuzz_vocab_{n}" for n in ("cache", "gguf", "hf", "sentencepiece", "tekken", "tiktoken")),
]
PATIENCE = 20  # times the ordinary limit of a test


def fetch(machine, folder, packages=PACKAGES):
    """Debian's packages for the machine, unpacked; the folder that stands for its root."""
    root = folder / "root"
    if (root / "usr" / "lib").exists():
        return root
    for name in ("lists/partial", "cache/archives/partial", "debs", "root"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    options = [
        f"-oAPT::Architecture={machine}",
        f"-oAPT::Architectures={machine}",
        f"-oDir::State::Lists={folder}/lists",
        f"-oDir::Cache={folder}/cache",
        "-q",
    ]
    subprocess.run(
        ["apt-get", *options, "update"], check=False, stdout=subprocess.DEVNULL
    )  # a list that fails is no harm if the packages are in another
    subprocess.run(
        ["apt-get", *options, "download", *packages],
        cwd=folder / "debs",
        check=True,
        stdout=subprocess.DEVNULL,
    )
    for package in sorted((folder / "debs").glob("*.deb")):
        subprocess.run(["dpkg", "-x", package, root], check=True)
    return root


def configure(machine, folder, root):
    """A build folder for that machine."""
    compiler, flags, family, endian, triple, emulator = MACHINES[machine]
    libraries = root / "usr" / "lib" / triple
    cross = folder / "cross.ini"
    quoted = lambda words: "[" + ", ".join(f"'{w}'" for w in words) + "]"  # noqa: E731
    cross.write_text(
        f"""[binaries]
c = {quoted([compiler, *flags])}
ar = 'ar'
pkgconfig = 'pkg-config'
[properties]
sys_root = '{root}'
pkg_config_libdir = '{libraries}/pkgconfig'
needs_exe_wrapper = {str(bool(emulator)).lower()}
[built-in options]
c_args = ['-isystem', '{root}/usr/include', '-isystem', '{root}/usr/include/{triple}', '-Wno-psabi']
c_link_args = ['-L{libraries}', '-Wl,-rpath-link,{libraries}']
[host_machine]
system = 'linux'
cpu_family = '{family}'
cpu = '{family}'
endian = '{endian}'
""",
        encoding="utf-8",
    )
    build = folder / "build"
    if not (build / "build.ninja").exists():
        subprocess.run(
            [
                "meson",
                "setup",
                build,
                "--cross-file",
                cross,
                "--buildtype=plain",
                "-Doptimization=1",
                "-Dwerror=true",
                "-Dcli=false",
                "-Dbench=false",
            ],
            cwd=ROOT,
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return (
        build,
        [*emulator, *(["-E", f"LD_LIBRARY_PATH={libraries}"] if emulator else [])],
        libraries,
    )


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in [*MACHINES, "windows"]:
        sys.exit(__doc__)
    machine, wanted = sys.argv[1], sys.argv[2:]
    if wanted == ["--full"]:
        wanted = []
    elif not wanted:
        os.environ.setdefault("TSL_SHARE", test_runner.SHARE)
        print(f"  left to --full: all cases but those of TSL_SHARE={os.environ['TSL_SHARE']}")
    if machine == "windows":
        build, emulator, more = windows.prepare()
        with windows.Wine(more):
            return run_tests(machine, wanted, build, emulator, more)
    folder = ROOT / "build-cross" / machine
    build, emulator, libraries = configure(machine, folder, fetch(machine, folder))
    more = {} if emulator else {"LD_LIBRARY_PATH": str(libraries)}
    return run_tests(machine, wanted or TESTS, build, emulator, more)


def build_for_windows(build, environment):
    """Library, import library and tool, and the tool tried: what is wrong, or None."""
    made = ["libturnstile.a", "libturnstile-0.dll", "turnstile.exe"]
    subprocess.run(["ninja", "-C", build, "--quiet", *made], check=True)
    if not (build / "libturnstile.dll.a").is_file():
        return "there is no import library beside the DLL"
    return windows.try_tool(build, environment)


def run_tests(machine, wanted, build, emulator, more):
    """Build and run tests; the exit status. wanted: their names; empty: all that can run there."""
    subprocess.run(
        ["ninja", "-C", build, "--quiet", "build.ninja"], check=True
    )  # tests that were added since it was set up
    listing = json.loads(
        subprocess.run(
            ["meson", "introspect", "--tests", build], check=True, capture_output=True, text=True
        ).stdout
    )
    # a test in Python may have the name of a unit test
    listing = [t for t in listing if any(s.endswith(":unit") for s in t["suite"])]
    sums = [0, 0, 0]
    if machine == "windows":
        if wrong := build_for_windows(build, more):
            print(f"  FAIL turnstile.exe: {wrong}")
        sums[bool(wrong)] += 1
    if not wanted:
        units = [t["name"] for t in listing]
        wanted = [name for name in units if name not in windows.NOT_HERE]
        for name in sorted(set(units) - set(wanted)):
            print(f"  not on {machine}: {name}: {windows.NOT_HERE[name]}")
    tests = {t["name"]: t for t in listing if t["name"] in wanted}
    if missing := set(wanted) - set(tests):
        sys.exit(f"no such test: {' '.join(sorted(missing))}")
    programs = [next(w for w in t["cmd"] if str(build) in w) for t in tests.values()]
    subprocess.run(
        ["ninja", "-C", build, "--quiet", *[os.path.relpath(p, build) for p in programs]],
        check=True,
    )
    for name, program in zip(tests, programs, strict=True):
        arguments = tests[name]["cmd"][tests[name]["cmd"].index(program) + 1 :]
        environment = {**os.environ, **tests[name]["env"], **more}
        start = time.monotonic()
        try:
            done = subprocess.run(
                [*emulator, program, *arguments],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=tests[name]["timeout"] * PATIENCE,
            )
            counts = re.findall(
                r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", done.stdout, re.M
            )
            got = [int(g or 0) for g in counts[-1]] if counts else [0, 0, 0]
            got[1] += done.returncode != 0 and not got[1]
            said = done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            got, said = [0, 1, 0], "ran past its limit"
        if got[1]:
            print(said[-3000:])
        print(
            f"  {'FAIL' if got[1] else 'ok  '} {name} on {machine}: {got[0]} passed, {got[1]} "
            f"failed, {got[2]} skipped, {time.monotonic() - start:.0f} s",
            flush=True,
        )
        sums = [a + b for a, b in zip(sums, got, strict=True)]
    print("{} passed, {} failed, {} skipped".format(*sums))
    return sums[1] > 0 or not sums[0]


if __name__ == "__main__":
    sys.exit(main())
