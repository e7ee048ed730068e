#!/usr/bin/env python3
"""Turnstile for other systems, compiled here by zig's C compiler; what can run here is run.

    scripts/platforms.py [TARGET...]      without TARGET those of TARGETS

The one source (scripts/amalgamate.py --vendor) and the sources of PCRE2, yajl and xxHash are
compiled for each target, and linked with tests/platforms/consumer.c, which follows a text and
prints a hash of all masks on the way. Every target has to print what the first one prints. A target
that has no way to run here is compiled and linked alone, and is named with `linked`.

The target `cmake` is this machine, without zig: a project takes Turnstile by FetchContent, with the
same sources for PCRE2, yajl and xxHash, builds it and installs it. A second project then finds the
installed package.

Objects are kept in build/platforms. zig is the package ziglang of PyPI, pinned in scripts/zig.lock
(`./dev fetch zig`).

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import amalgamate  # noqa: E402
import vendor  # noqa: E402

FOLDER = ROOT / "build" / "platforms"
ZIG = ROOT / "build" / "zig" / "venv" / "bin" / "python"
# zig's name of a target: how its programs run here; None: they don't.
TARGETS = {
    "cmake": [],
    "x86_64-linux-musl": [],
    "x86_64-linux-gnu.2.17": [],  # glibc as old as manylinux2014's
    "aarch64-linux-musl": ["qemu-aarch64"],
    "aarch64-linux-gnu.2.17": None,
    "x86_64-windows-gnu": ["wine"],
    "x86_64-macos": None,
    "aarch64-macos": None,
    "x86_64-freebsd": None,
}
OURS = ["-std=c11", "-O0", "-fno-sanitize=undefined", "-DPCRE2_STATIC"]


def run(command, what):
    done = subprocess.run(
        list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if done.returncode:
        print(f"  failed: {what}: {(done.stdout + done.stderr)[-2000:]}")
        return None
    return done.stdout


def compiled(target, sources, folder):
    """The objects of a target: those that are older than their source are made anew."""
    compiler = [ZIG, "-m", "ziglang", "cc", "-target", target]
    parts = FOLDER / "source" / "vendor"
    objects = []
    for source in sources:
        ours = source.name == "turnstile.c"
        flags = [*OURS, f"-I{parts / 'include'}"] if ours else ["-O0", *vendor.flags(parts)]
        made = folder / (source.parent.name + "-" + source.stem + ".o")
        objects.append(made)
        if made.is_file() and made.stat().st_mtime > source.stat().st_mtime:
            continue
        if run([*compiler, *flags, "-c", source, "-o", made], f"{target}: {source.name}") is None:
            return None
    program = folder / ("consumer.exe" if "windows" in target else "consumer")
    consumer = ROOT / "tests" / "platforms" / "consumer.c"
    include = FOLDER / "source"
    libraries = ["-ladvapi32"] if "windows" in target else ["-lm", "-lpthread"]
    linked = run(
        [*compiler, f"-I{include}", consumer, *objects, *libraries, "-o", program],
        f"{target}: linking",
    )
    return None if linked is None else program


def built_by_cmake(folder, include):
    """Turnstile in a project of its own, then installed, then found by a second project: the second
    project's consumer, or None.
    """
    tests = ROOT / "tests" / "platforms"
    use = (
        f"add_executable(consumer {tests / 'consumer.c'})\n"
        "target_link_libraries(consumer PRIVATE Turnstile::turnstile)\n"
    )
    fetch = (
        f"include(FetchContent)\nFetchContent_Declare(turnstile SOURCE_DIR {ROOT})\n"
        "FetchContent_MakeAvailable(turnstile)\n"
    )
    head = "cmake_minimum_required(VERSION 3.18)\nproject(host C)\n"
    texts = {
        "host": head + fetch + use,
        "second": head + "find_package(Turnstile 0.1 CONFIG REQUIRED)\n" + use,
    }
    given = {
        "host": [
            f"-DTURNSTILE_VENDOR={include / 'vendor'}",
            "-DTURNSTILE_INSTALL=ON",
            f"-DCMAKE_INSTALL_PREFIX={folder / 'installed'}",
        ],
        "second": [f"-DCMAKE_PREFIX_PATH={folder / 'installed'}"],
    }
    for name, text in texts.items():
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "CMakeLists.txt").write_text(text)
        build = folder / name / "build"
        steps = [
            ["cmake", "-B", build, folder / name, "-DCMAKE_BUILD_TYPE=Debug", *given[name]],
            ["cmake", "--build", build, "-j2"],
        ]
        if name == "host":
            steps.append(["cmake", "--install", build])
        for step in steps:
            if run(step, f"cmake: {name}: {step[1]}") is None:
                return None
    return folder / "second" / "build" / "consumer"


def write_if_new(made, kept):
    """Copy a folder; a file that is the same keeps its time, so that its objects stay."""
    for file in sorted(path for path in made.rglob("*") if path.is_file()):
        old = kept / file.relative_to(made)
        if not old.is_file() or old.read_bytes() != file.read_bytes():
            old.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, old)


def main():
    targets = sys.argv[1:] or list(TARGETS)
    if unknown := [name for name in targets if name not in TARGETS]:
        sys.exit(f"platforms: there is no {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    if not ZIG.is_file():
        sys.exit("platforms: zig is not there; run ./dev fetch zig")
    amalgamate.amalgamate(FOLDER / "new", True)
    write_if_new(FOLDER / "new", FOLDER / "source")
    source = FOLDER / "source"
    sources = [source / "turnstile.c", *vendor.sources(source / "vendor")]
    said, counts = None, [0, 0, 0]
    for target in targets:
        start, folder = time.monotonic(), FOLDER / target
        folder.mkdir(parents=True, exist_ok=True)
        made = built_by_cmake(folder, source) if target == "cmake" else None
        program = made if target == "cmake" else compiled(target, sources, folder)
        way = TARGETS[target]
        fine, how = program is not None, "linked"
        if fine and way and not shutil.which(way[0]):
            print(f"  skipped: {target} is not run: {way[0]} is not installed")
            counts[2] += 1
        elif fine and way is not None:
            printed = run([*way, program], target)
            printed = printed and printed.replace("\r\n", "\n")
            said, how = said or printed, "ran"
            fine = printed is not None and "complete 1" in printed and printed == said
            if not fine:
                print(f"  failed: {target} prints {printed!r}, not {said!r}")
        counts[not fine] += 1
        seconds = time.monotonic() - start
        print(f"  {'ok  ' if fine else 'FAIL'} {target}: {how}, {seconds:.0f} s", flush=True)
    print("{} passed, {} failed, {} skipped".format(*counts))
    return counts[1] > 0


if __name__ == "__main__":
    sys.exit(main())
