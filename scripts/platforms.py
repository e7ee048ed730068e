#!/usr/bin/env python3
"""Turnstile in all the forms in which it is handed out, made and tried on this machine.

    scripts/platforms.py [--quick | TARGET...]      without TARGET all of them

Most targets are other systems. The one source (scripts/amalgamate.py --vendor) and the sources of
PCRE2, yajl and xxHash are compiled for each by zig. They are linked with
tests/platforms/consumer.c, which follows a text and prints a hash of all masks on the way. Every
target has to print what the first one prints. A target that has no way to run here is compiled and
linked alone. iOS is compiled alone, as a static library: zig has the headers of Darwin, but of
Apple's libraries it has those of macOS alone. Android is no target: zig has no headers for it.

The target `cmake` is this machine, without zig. A project takes Turnstile by FetchContent, with the
same sources for PCRE2, yajl and xxHash. The project builds and installs Turnstile. A second project
then finds the installed package.

The targets of PROGRAMS are programs of their own, which make a package, install it where nothing
else is, and use it. `windows` runs unit tests under Wine (scripts/cross.py), `wheels` makes all
wheels (scripts/wheels.py).

--quick takes those of QUICK: of `windows` a few tests, of `workflows` no step, of `wheels` the
extension's own sources, compiled for other systems. The lines before the last one say what was left
out. Each target says how far it came: linked, or ran. Where a program that a target needs is not
installed, the target is skipped, and the reason names the package.

JOBS targets are made at a time. Beside the time that went by stands the time of the processor,
which says what an idle machine would take. wait4 measures that for each program, so that it is
known of each target, though others are made beside it.

Objects are kept in build/platforms, and there what each program of PROGRAMS prints, as NAME.log.
Without --quick its lines that begin with `ok` are printed, too. zig is the package ziglang of PyPI,
pinned in scripts/locks/zig.lock (`./dev fetch zig`). musl-x86_64 and musl-aarch64 are compiled and
linked by zig, and run with Debian's musl (`./dev fetch musl`).

SPDX-License-Identifier: Apache-2.0
"""

import concurrent.futures
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import amalgamate  # noqa: E402
import sources as sources_list  # noqa: E402
import vendor  # noqa: E402

FOLDER = ROOT / "build" / "platforms"
ZIG = ROOT / "build" / "zig" / "venv" / "bin" / "python"
# zig's name of a target: how its programs run here; None: they don't.
TARGETS = {
    "cmake": [],
    "x86_64-linux-musl": [],
    "musl-x86_64": [],
    "x86_64-linux-gnu.2.17": [],  # glibc as old as manylinux2014's
    "aarch64-linux-musl": ["qemu-aarch64"],
    "musl-aarch64": ["qemu-aarch64"],
    "aarch64-linux-gnu.2.17": None,
    "x86_64-windows-gnu": ["wine"],
    "x86_64-macos": None,
    "aarch64-macos": None,
    "aarch64-ios.13.0": None,
    "x86_64-freebsd": None,
}
# Targets that link the C library when they run, as Alpine's programs do: the machine. To link it
# statically, zig builds the whole of musl, which takes longer than the rest of such a target.
SHARED_MUSL = {"musl-x86_64": "x86_64", "musl-aarch64": "aarch64"}
MUSL = ROOT / "build" / "musl"
# What is a program of its own: its command, and what it is called with for --quick.
PLATFORM_TESTS = "tests/platforms"
PROGRAMS = {
    "debian": ([f"{PLATFORM_TESTS}/try_debian.py"], []),
    "conan": ([f"{PLATFORM_TESTS}/try_conan.py"], []),
    "vcpkg": ([f"{PLATFORM_TESTS}/try_vcpkg.py"], []),
    "npm": ([f"{PLATFORM_TESTS}/try_npm.py"], []),
    "crate": ([f"{PLATFORM_TESTS}/try_crate.py"], []),
    "go": ([f"{PLATFORM_TESTS}/try_go.py"], []),
    "java": ([f"{PLATFORM_TESTS}/try_java.py"], []),
    "workflows": ([f"{PLATFORM_TESTS}/try_workflows.py"], ["--lint"]),
    "windows": (["scripts/cross.py", "windows"], ["os", "logits", "mask", "gbnf", "fuzz_api"]),
    "wheels": (["scripts/wheels.py"], ["--read"]),
}
# Those that take longest come first.
FIRST = ["windows", "wheels", "npm"]
QUICK = """
    npm windows debian conan crate go java cmake musl-aarch64 musl-x86_64 wheels workflows
""".split()
# What a target needs: a program, and Debian's package that has it.
NEEDS = {
    "cmake": {"cmake": "cmake", "gcc": "gcc", "ninja": "ninja-build"},
    "x86_64-windows-gnu": {"wine": "wine"},
    "aarch64-linux-musl": {"qemu-aarch64": "qemu-user"},
    "musl-aarch64": {"qemu-aarch64": "qemu-user"},
    "debian": {"dpkg-buildpackage": "dpkg-dev", "dh": "debhelper", "lintian": "lintian"},
    "conan": {"cmake": "cmake", "gcc": "gcc", "ninja": "ninja-build"},
    "vcpkg": {"cmake": "cmake", "ninja": "ninja-build"},
    "npm": {"npm": "npm", "emcc": "emscripten", "chromium": "chromium"},
    "crate": {"cargo": "cargo"},
    "go": {"go": "golang-go"},
    "java": {"javac": "default-jdk-headless"},
    "workflows": {"npm": "npm"},
    "windows": {"wine": "wine", "x86_64-w64-mingw32-gcc-posix": "gcc-mingw-w64-x86-64-posix"},
}
# zig would add checks of undefined behaviour and what debuggers read.
FLAGS = ["-O0", "-g0", "-fno-sanitize=undefined"]
OURS = ["-std=c11", "-DPCRE2_STATIC"]
HOST_BUILD = ROOT / "build" / "cmake"
NO_OPTIONS = "-DCMAKE_BUILD_TYPE=None"  # neither optimised nor with what debuggers read
PRINTED = ("  skipped:", "  not on", "  left")  # how lines of a program begin that are printed
JOBS = min(2, os.cpu_count() or 1)
of_thread = threading.local()  # .used: seconds of the processor; .said: what is to be printed


def done_by(command, cwd=None, environment=None, log=None):
    """Run a program: its status, stdout, stderr. What it took of the processor is added up. stdout
    goes into the file log, if one is given, so that it can be read while the program runs.
    """
    with (
        open(log, "w+b") if log else tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        process = subprocess.Popen(
            list(map(str, command)),
            cwd=cwd,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        of_thread.used += usage.ru_utime + usage.ru_stime
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace").replace("\r\n", "\n"))
    return process.returncode, *texts


def say(line):
    of_thread.said.append("  " + line)


def run(command, what, environment=None):
    status, out, err = done_by(command, environment=environment)
    if status:
        say(f"failed: {what}: {(out + err)[-2000:]}")
        return None
    return out


def darwin_headers():
    """What zig has as headers for macOS, which it does not look into for iOS."""
    library = next((ZIG.parent.parent / "lib").glob("python*/site-packages/ziglang/lib"))
    return library / "libc" / "include" / "any-darwin-any"


def archived(objects, folder):
    """A static library of objects for iOS; None if it is not one of 64-bit Mach-O for arm64."""
    made = folder / "libturnstile.a"
    made.unlink(missing_ok=True)
    if run([ZIG, "-m", "ziglang", "ar", "rcs", made, *objects], "a static library") is None:
        return None
    wrong = [o.name for o in objects if o.read_bytes()[:8] != b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01"]
    if wrong:
        say(f"failed: these are no objects for arm64: {wrong}")
        return None
    return made


def compiled(target, sources, folder):
    """The objects of a target, linked: those that are older than their source are made anew."""
    machine = SHARED_MUSL.get(target)
    system = f"{machine}-linux-musl" if machine else target
    compiler = [ZIG, "-m", "ziglang", "cc", "-target", system, *FLAGS]
    if machine:
        compiler.append("-dynamic")
    if "ios" in target:
        compiler += ["-isystem", darwin_headers()]
    parts = FOLDER / "source" / "vendor"
    objects = []
    for source in sources:
        ours = source.name == "turnstile.c"
        flags = [*OURS, f"-I{parts / 'include'}"] if ours else vendor.flags(parts)
        made = folder / (source.parent.name + "-" + source.stem + ".o")
        objects.append(made)
        if made.is_file() and made.stat().st_mtime > source.stat().st_mtime:
            continue
        part = made.with_suffix(".part")  # of a compiler that was ended no object may be left
        if run([*compiler, *flags, "-c", source, "-o", part], f"{target}: {source.name}") is None:
            return None
        os.replace(part, made)
    if "ios" in target:
        return archived(objects, folder)
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

    try_conan.py compiles the same sources with the same flags. Where ccache is installed, it keeps
    the objects of one for the other. ccache looks at the way from the folder of the build to the
    sources. Both have it: two folders up.
    """
    shared = {"CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}
    if shutil.which("ccache"):
        shared["CMAKE_C_COMPILER_LAUNCHER"] = "ccache"
    if platform.machine() == "x86_64":  # conan says so
        shared["CFLAGS"] = "-m64"
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
        "second": head + "find_package(Turnstile 0.2 CONFIG REQUIRED)\n" + use,
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
        build = HOST_BUILD if name == "host" else folder / name / "build"
        steps = [
            ["cmake", "-G", "Ninja", "-B", build, folder / name, NO_OPTIONS, *given[name]],
            ["cmake", "--build", build, "-j2"],
        ]
        if name == "host":
            steps.append(["cmake", "--install", build])
        for step in steps:
            if run(step, f"cmake: {name}: {step[1]}", shared) is None:
                return None
    return folder / "second" / "build" / "consumer"


def by_program(name, quick):
    """A target of PROGRAMS: (is it fine, how far it came, checks that were skipped)."""
    command, some = PROGRAMS[name]
    log = FOLDER / f"{name}.log"
    more = some if quick else []
    status, out, err = done_by([sys.executable, *command, *more], cwd=ROOT, log=log)
    counts = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", out, re.M)
    passed, failed, skipped = map(int, counts[-1]) if counts else (0, 1, 0)
    fine = status == 0 and passed > 0 and not failed
    of_thread.said += [
        line
        for line in out.splitlines()
        if line.startswith(PRINTED if quick else (*PRINTED, "  ok  "))
    ]
    if not fine:
        say(f"failed: {name}: {(out + err)[-3000:]}")
    return fine, f"ran, {passed} checks", skipped


class Followed:
    """The targets that follow a text: each has to print what the consumer prints here, linked with
    the library of the build folder.
    """

    def __init__(self):
        amalgamate.amalgamate(FOLDER / "new", True)
        sources_list.write_if_new(FOLDER / "new", FOLDER / "source")
        self.source = FOLDER / "source"
        self.sources = [self.source / "turnstile.c", *vendor.sources(self.source / "vendor")]
        program = FOLDER / "expected"
        system = ["-lpcre2-8", "-lyajl", "-lxxhash", "-lm", "-pthread"]
        consumer = ROOT / "tests" / "platforms" / "consumer.c"
        library = ROOT / "build" / "libturnstile.a"
        command = ["cc", "-std=c11", f"-I{ROOT}/include", consumer, library, *system]
        built = run([*command, "-o", program], "the consumer here")
        self.said = run([program], "the consumer here") if built is not None else None

    def run(self, target):
        """(is it fine, how far it came, checks that were skipped)"""
        folder, way = FOLDER / target, TARGETS[target]
        folder.mkdir(parents=True, exist_ok=True)
        if target == "cmake":
            program = built_by_cmake(folder, self.source)
        else:
            program = compiled(target, self.sources, folder)
        if program is None or way is None:
            how = "compiled, a static library" if "ios" in target else "linked"
            return program is not None, how, 0
        # Wine keeps its files in the folder of the user where no other is named
        wine = {"WINEPREFIX": str(FOLDER / "wine"), "WINEDEBUG": "-all"} if "wine" in way else {}
        if machine := SHARED_MUSL.get(target):  # musl's library is the program that loads others
            way = [*way, MUSL / machine / "lib" / f"ld-musl-{machine}.so.1"]
        printed = run([*way, program], target, wine)
        fine = printed is not None and "complete 1" in printed and printed == self.said
        if not fine:
            say(f"failed: {target} prints {printed!r}, not {self.said!r}")
        return fine, "ran", 0


def one(target, quick, followed):
    """One target: (passed, failed, skipped), what is to be printed, seconds of the processor."""
    of_thread.used, of_thread.said = 0, []
    start = time.monotonic()
    missing = [
        f"there is no {program} here: apt-get install {package}"
        for program, package in NEEDS.get(target, {}).items()
        if not shutil.which(program)
    ]
    if missing:
        say(f"skipped: {target}: {'; '.join(missing)}")
        return (0, 0, 1), of_thread.said, 0
    if target in PROGRAMS:
        fine, how, skipped = by_program(target, quick)
    else:
        fine, how, skipped = followed.run(target)
    say(
        f"{'ok  ' if fine else 'FAIL'} {target}: {how}, {time.monotonic() - start:.0f} s, "
        f"{of_thread.used:.0f} s of processor"
    )
    return (fine, not fine, skipped), of_thread.said, of_thread.used


def main():
    quick = sys.argv[1:] == ["--quick"]
    known = list(dict.fromkeys([*FIRST, *TARGETS, *PROGRAMS]))
    targets = QUICK if quick else sys.argv[1:] or known
    if unknown := [name for name in targets if name not in known]:
        sys.exit(f"platforms: there is no {', '.join(unknown)}; there are {', '.join(known)}")
    if not ZIG.is_file():
        sys.exit("platforms: zig is not there; run ./dev fetch zig")
    if set(targets) & set(SHARED_MUSL) and not MUSL.is_dir():
        sys.exit("platforms: musl is not there; run ./dev fetch musl")
    begin, sums, used = time.monotonic(), [0, 0, 0], 0
    of_thread.used, of_thread.said = 0, []
    FOLDER.mkdir(parents=True, exist_ok=True)
    followed = Followed() if set(targets) & set(TARGETS) else None
    for line in of_thread.said:
        print(line)
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        work = [pool.submit(one, target, quick, followed) for target in targets]
        for future in concurrent.futures.as_completed(work):
            counts, said, seconds = future.result()
            sums = [a + b for a, b in zip(sums, counts, strict=True)]
            used += seconds
            print("\n".join(said), flush=True)
    if quick:
        left = ", ".join(name for name in known if name not in targets)
        parts = "most unit tests of windows; steps of workflows; the wheels themselves"
        print(f"  left out by --quick: {left}; {parts}")
    print(f"  all: {time.monotonic() - begin:.0f} s, {used:.0f} s of processor")
    print("{} passed, {} failed, {} skipped".format(*sums))
    return sums[1] > 0


if __name__ == "__main__":
    sys.exit(main())
