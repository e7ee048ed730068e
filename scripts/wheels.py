#!/usr/bin/env python3
"""Wheels of the Python package, for every CPython from 3.9 on, with all that it needs inside; and
the source distribution.

    scripts/wheels.py [--again] [TARGET...]
                                into build/wheels; without TARGET those of TARGETS, and sdist.
                                --again compiles all anew, and tries none
    scripts/wheels.py --read    makes none: the extension's own sources are compiled for READ,
                                without optimisation

The extension is written against CPython's stable ABI (abi3), so one wheel for each system serves
all versions (on Windows from 3.11 on). zig compiles the one source (scripts/amalgamate.py
--vendor), PCRE2, yajl and the extension's own sources. The C library is the oldest that the wheel's
tag promises: glibc 2.17 for manylinux2014. CPython's headers come with a pyconfig.h that asks the
compiler (packaging/python/pyconfig.h). On Windows the extension names python3.dll, by an import
library that is made of the names that its objects use.

What can run here is run. A wheel for this machine is installed into a fresh folder of every CPython
that is here, and tried by tests of the package. The wheel for arm64 is tried under qemu with
Debian's CPython for arm64, that for Windows under Wine. CPython 3.14 for Linux and for Windows come
by `./dev fetch pythons`. `sdist` is built by pip without an index, then tried in the same way. gcc
lists what it read meanwhile. No header of the system's PCRE2, yajl or xxHash may be among them. The
extension may name no other library than C's.
The others are named with `linked`. auditwheel says whether a wheel for Linux keeps what its tag
promises. abi3audit says whether a wheel uses more of CPython than the stable ABI. `./dev fetch
audit` brings both.

Every wheel is the same, byte for byte, if it is made again. zig is the package of
scripts/locks/zig.lock. zig keeps the object of each command that it ran. So --again defines a name
that no source asks for, another one in each run.

SPDX-License-Identifier: Apache-2.0
"""

import concurrent.futures
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
sys.path.insert(0, str(ROOT / "packaging" / "python"))

import amalgamate  # noqa: E402
import backend  # noqa: E402
import cross  # noqa: E402
import sources  # noqa: E402
import vendor  # noqa: E402
import windows  # noqa: E402

OUT = ROOT / "build" / "wheels"
PACKAGE = ROOT / "bindings" / "python" / "turnstile"
ZIG = ROOT / "build" / "zig" / "venv" / "bin" / "python"
AUDIT = ROOT / "build" / "audit" / "venv" / "bin"
# zig's name of a target: the wheel's tag.
TARGETS = {
    "x86_64-linux-gnu.2.17": "manylinux2014_x86_64",
    "aarch64-linux-gnu.2.17": "manylinux2014_aarch64",
    "x86_64-linux-musl": "musllinux_1_2_x86_64",
    "aarch64-linux-musl": "musllinux_1_2_aarch64",
    "x86_64-macos.11.0": "macosx_11_0_x86_64",
    "aarch64-macos.11.0": "macosx_11_0_arm64",
    "x86_64-windows-gnu": "win_amd64",
}
READ = ["aarch64-macos.11.0", "x86_64-windows-gnu"]
PYTHONS = ROOT / "build" / "pythons"
TESTS = ["package", "package_grammars", "package_decoding"]
QEMU_TESTS = WINE_TESTS = ["package"]
# The stable ABI has the first of these since 3.10, the others since 3.11. CPython 3.9 exports them
# and means the same, but python3.dll does not: the wheel for Windows takes 3.11 and later.
EXPORTED = {
    "PyUnicode_AsUTF8AndSize",
    "PyObject_CheckBuffer",
    "PyObject_GetBuffer",
    "PyBuffer_Release",
}
MOST = 5 << 20  # bytes of a wheel
JOBS = min(4, os.cpu_count() or 1)  # wheels that are made at a time: each takes 1 GB of memory
ZIG_FLAGS = ["-fno-sanitize=undefined"]
LINUX = ["-shared", "-s", "-Wl,-z,relro,-z,now", "-lm", "-lpthread"]
MACOS = ["-shared", "-s", "-Wl,-undefined,dynamic_lookup", "-lm"]
# CPython for arm64, which qemu runs.
ARM = """
    libc6 libpython3.11-minimal libpython3.11-stdlib python3.11-minimal libexpat1 zlib1g libffi8
    libssl3 libgcc-s1
""".split()


def run(command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    if done.returncode:
        said = (done.stdout + done.stderr)[-2000:]
        sys.exit(f"wheels: {' '.join(map(str, command[:8]))} ...: {said}")
    return done.stdout


def listed(name):
    """The names of a list in the package's meson.build."""
    text = (PACKAGE / "meson.build").read_text(encoding="utf-8")
    body = re.search(rf"^{name} = (?:files\()?[\[(]?(.*?)^[\])]", text, re.M | re.S).group(1)
    return re.findall(r"'([^']+)'", body)


def headers():
    """CPython's headers, with a pyconfig.h for every system."""
    made = OUT / "python"
    if not made.is_dir():
        shutil.copytree(sysconfig.get_path("include"), made)
    shutil.copyfile(ROOT / "packaging" / "python" / "pyconfig.h", made / "pyconfig.h")
    return made


def python_names(data):
    """The names of CPython in an object for Windows. A table that is filled at compile time names a
    function itself, other code its pointer (__imp_).
    """
    return set(re.findall(rb"(?<=\0)(?:__imp_)?(_?Py\w+)(?=\0)", data))


def import_library(objects, folder):
    """python3.dll's import library: of it what the objects name. It may list what they define, too:
    the linker then finds that in the objects first.
    """
    names = set()
    for path in objects:
        names |= python_names(path.read_bytes())
    lines = [name.decode() for name in sorted(names)]
    wanted = folder / "python3.def"
    wanted.write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *lines]) + "\n")
    made = folder / "libpython3.a"
    run([ZIG, "-m", "ziglang", "dlltool", "-m", "i386:x86-64", "-d", wanted, "-l", made])
    return made


def timeless(data):
    """A DLL without the time at which it was linked. Its header holds that; byte 60 leads to it."""
    at = int.from_bytes(data[60:64], "little") + 8
    return data[:at] + bytes(4) + data[at + 4 :]


def extension(target, source, folder):
    """The extension for a target, compiled and linked. Objects that are newer than their source are
    kept.
    """
    compiler = [ZIG, "-m", "ziglang", "cc", "-target", target]
    parts = source / "vendor"
    library = [*backend.LIBRARY, f"-I{parts / 'include'}"]
    python = [f"-I{source}", f"-isystem{headers()}"]
    todo = [(source / "turnstile.c", library)]
    todo += [(path, vendor.flags(parts)) for path in vendor.sources(parts)]
    todo += [((PACKAGE / name).resolve(), python) for name in listed("python_sources")]
    newest = max(
        path.stat().st_mtime for path in (source / "turnstile.h", PACKAGE / "../src/core.h")
    )
    objects = []
    for path, flags in todo:
        made = folder / f"{path.parent.name}-{path.stem}.o"
        objects.append(made)
        if made.is_file() and made.stat().st_mtime > max(newest, path.stat().st_mtime):
            continue
        part = made.with_suffix(".part")  # of a compiler that was ended no object may be left
        run([*compiler, *backend.FLAGS, *ZIG_FLAGS, *flags, "-c", path, "-o", part])
        os.replace(part, made)
    if "windows" in target:
        made = folder / "_core.pyd"
        more = ["-shared", "-s", import_library(objects, folder), "-ladvapi32"]
    else:
        made = folder / "_core.abi3.so"
        more = MACOS if "macos" in target else LINUX
    run([*compiler, *objects, *more, "-o", made])
    if "windows" in target:
        made.write_bytes(timeless(made.read_bytes()))
    if "musl" in target:  # the name that musl's C library has in the systems that wheels are for
        name = f"libc.musl-{target.split('-')[0]}.so.1"
        run([AUDIT / "patchelf", "--replace-needed", "libc.so", name, made])
    return made


def read(target):
    """The extension's own sources, compiled for a target without optimisation: what is wrong, or
    None.
    """
    compiler = [ZIG, "-m", "ziglang", "cc", "-target", target, *ZIG_FLAGS, "-std=c11", "-O0"]
    python = [f"-I{ROOT / 'include'}", f"-isystem{headers()}", "-c", "-o", OUT / "read.o"]
    for name in listed("python_sources"):
        command = list(map(str, [*compiler, *python, (PACKAGE / name).resolve()]))
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return done.stderr[-2000:]
    return None


def read_all():
    """read() for all of READ; the exit status."""
    OUT.mkdir(parents=True, exist_ok=True)
    failed = 0
    for target in READ:
        wrong = read(target)
        failed += bool(wrong)
        print(f"  {'FAIL' if wrong else 'ok  '} the extension's sources for {target}")
        if wrong:
            print(f"  failed: {wrong}")
    print(f"{len(READ) - failed} passed, {failed} failed, 0 skipped")
    return failed > 0


def metadata():
    """The texts of METADATA and entry_points.txt, out of pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    value = lambda key: re.search(rf'^{key} = "([^"]*)"', text, re.M).group(1)  # noqa: E731
    points = re.findall(r'^\[project\.entry-points\."([^"]+)"\]\n((?:\w+ = .*\n)+)', text, re.M)
    extras = re.search(r"^\[project\.optional-dependencies\]\n((?:\w+ = .*\n)+)", text, re.M)
    listing = re.search(r"^classifiers = \[(.*?)\]", text, re.M | re.S).group(1)
    about = [
        "Metadata-Version: 2.1",
        f"Name: {value('name')}",
        f"Version: {sources.version()}",
        f"Summary: {value('description')}",
        "License: Apache-2.0",
        *(f"Classifier: {name}" for name in re.findall(r'"([^"]+)"', listing)),
        f"Requires-Python: {value('requires-python')}",
        "Description-Content-Type: text/markdown",
    ]
    for line in extras.group(1).splitlines():
        extra, wanted = line.split(" = ")
        about.append(f"Provides-Extra: {extra}")
        for name in re.findall(r'"([^"]+)"', wanted):
            about.append(f'Requires-Dist: {name}; extra == "{extra}"')
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    entries = "\n".join(f"[{group}]\n" + body.replace('"', "") for group, body in points)
    return "\n".join(about) + "\n\n" + readme, entries


def modules():
    """{name in a wheel: bytes} of the modules and their stubs."""
    return {
        f"turnstile/{path.relative_to(PACKAGE).as_posix()}": path.read_bytes()
        for path in PACKAGE.rglob("*")
        if path.suffix in (".py", ".pyi", ".typed")
    }


def licences(source):
    return {
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        "LICENCES": (source / "vendor" / "LICENCES").read_bytes(),
    }


def sdist(source):
    """The source distribution, which builds with a C compiler alone."""
    about, entries = metadata()
    folder, _ = backend.described(about, entries, {}, "any")
    folder = folder[: -len(".dist-info")]
    files = {**modules(), **licences(source)}
    for path in source.rglob("*"):
        if path.is_file() and path.name != "LICENCES":
            files[f"c/{path.relative_to(source).as_posix()}"] = path.read_bytes()
    for name in [*listed("python_sources"), "../src/core.h"]:
        path = (PACKAGE / name).resolve()
        files[f"c/python/{path.name}"] = path.read_bytes()
    files["PKG-INFO"] = about.encode()
    files["entry_points.txt"] = entries.encode()
    files["backend.py"] = (ROOT / "packaging" / "python" / "backend.py").read_bytes()
    files["pyproject.toml"] = (
        b'[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    made = OUT / f"{folder}.tar.gz"
    backend.write_tar(made, files, folder)
    return made


# ---- what can be tried here ----------------------------------------------------------------------


def interpreters():
    """{version: python} of the CPythons here that have the stable ABI and venv."""
    probe = (
        "import sys, ensurepip; assert sys.implementation.name == 'cpython'; "
        "assert 't' not in sys.abiflags; print('%d.%d' % sys.version_info[:2])"
    )
    names = [shutil.which(f"python3.{minor}") for minor in range(9, 30)]
    names += sorted(map(str, pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python")))
    if platform.machine() == "x86_64" and sys.platform == "linux":
        names += map(str, PYTHONS.glob("linux-x86_64/bin/python3.14"))
    found = {}
    for name in filter(None, [*names, sys.executable]):
        done = subprocess.run([name, "-c", probe], capture_output=True, text=True)
        version = done.stdout.strip()
        if done.returncode == 0 and tuple(map(int, version.split("."))) >= (3, 9):
            found.setdefault(version, name)
    return dict(sorted(found.items(), key=lambda item: int(item[0].split(".")[1])))


def tests(python, names, environment):
    """Run tests of the package: what is wrong, or None."""
    for name in names:
        # stdin is a pipe: CPython under Wine 8 does not start with /dev/null
        done = subprocess.run(
            [*python, ROOT / "tests" / "package" / f"test_{name}.py"],
            env={**os.environ, **environment},
            input="",
            capture_output=True,
            text=True,
            errors="replace",
            cwd=ROOT,
        )
        if done.returncode or not re.search(r"^[1-9]\d* passed, 0 failed", done.stdout, re.M):
            return f"{name}: {(done.stdout + done.stderr)[-2000:]}"
    return None


def of_system(fresh, read_files):
    """What of the system the build of the source distribution took beside C's, or None."""
    if not read_files.is_file() or "turnstile.o" not in (text := read_files.read_text()):
        return "gcc did not list what it read: set CC to gcc"
    if found := sorted(set(re.findall(r"/usr/\S*(?:pcre2|yajl|xxhash)\S*\.h", text))):
        return f"headers of the system are read: {found}"
    made = next(fresh.glob("lib/python*/site-packages/turnstile/_core*.so"))
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", run(["readelf", "-d", made])))
    others = {name for name in needed if not re.match(r"(ld-linux.*|lib(c|m|pthread))\.so", name)}
    return f"the extension needs {sorted(others)}" if others else None


def tried(package, python):
    """Install a wheel or a source distribution into a fresh folder without an index, and run tests
    of the package with it. Returns what is wrong, or None. TSL_BUILD has no package there, so the
    tests import the one that is installed.
    """
    fresh, read_files = OUT / "fresh", OUT / "read-by-gcc"
    run([python, "-m", "venv", "--clear", fresh])
    read_files.unlink(missing_ok=True)
    inside = fresh / "bin" / "python"
    done = subprocess.run(
        [inside, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", package],
        env={**os.environ, "SUNPRO_DEPENDENCIES": str(read_files)},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return f"pip install: {done.stderr[-2000:]}"
    if package.suffix == ".gz" and (wrong := of_system(fresh, read_files)):
        return wrong
    return tests([inside], TESTS, {"TSL_BUILD": str(fresh)})


def tried_on_arm(wheel):
    """The wheel, unpacked, under qemu, with Debian's CPython for arm64: what is wrong, or None."""
    root = cross.fetch("arm64", ROOT / "build" / "arm64-python", ARM)
    fresh = OUT / "fresh-arm64"
    shutil.rmtree(fresh, ignore_errors=True)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(fresh)
    environment = {"PYTHONHOME": str(root / "usr"), "PYTHONPATH": str(fresh), "TSL_EMULATED": "1"}
    python = ["qemu-aarch64", "-L", root, root / "usr" / "bin" / "python3.11"]
    return tests(python, QEMU_TESTS, {"TSL_BUILD": str(fresh), **environment})


def python_for_wine():
    """The folder of CPython for Windows, as an installer would lay it out. The package that brings
    it leaves out python3.dll. That library has no code: each of its names leads to the same name in
    python314.dll, and python3.lib lists the names. So it is made here.
    """
    made = OUT / "windows-python"
    if (made / "python3.dll").is_file():
        return made
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(PYTHONS / "windows-x86_64", made)
    for path in (made / "lib").glob("*.dll"):  # Windows looks for them beside the program
        shutil.copyfile(path, made / path.name)
    names = set(re.findall(rb"__imp_(\w+)", (made / "libs" / "python3.lib").read_bytes()))
    lines = [f"{name} = python314.{name}" for name in sorted(name.decode() for name in names)]
    wanted, entry = made / "python3.def", made / "entry.c"
    wanted.write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *lines]) + "\n")
    entry.write_text("int __stdcall DllMain(void *a, unsigned b, void *c) { return 1; }\n")
    run([windows.COMPILER, "-shared", "-s", entry, wanted, "-o", made / "python3.dll"])
    return made


def tried_under_wine(wheel):
    """The wheel, installed by pip of CPython for Windows under Wine: what is wrong, or None."""
    python, fresh = python_for_wine(), OUT / "fresh-windows"
    shutil.rmtree(fresh, ignore_errors=True)
    environment = {
        "WINEPREFIX": str(OUT / "wine"),
        "WINEDEBUG": "-all",
        # pip wants the system's name. CPython then calls WMI: in Wine 8 that ends the program, if
        # it answers in time. Without it CPython finds the name by itself.
        "WINEDLLOVERRIDES": "wbemprox=",
        "PYTHONPATH": f"Z:{fresh}",
        "PYTHONUTF8": "1",
        "TSL_EMULATED": "1",
    }
    command = ["wine", python / "python.exe"]
    with windows.Wine(environment):
        done = subprocess.run(
            [*command, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
            + ["--disable-pip-version-check", f"--target=Z:{fresh}", f"Z:{wheel}"],
            env={**os.environ, **environment},
            input="",
            capture_output=True,
            text=True,
            errors="replace",
        )
        if done.returncode:
            return f"pip install under Wine: {(done.stdout + done.stderr)[-2000:]}"
        return tests(command, WINE_TESTS, {"TSL_BUILD": str(fresh), **environment})


def audited(wheel):
    """What auditwheel and abi3audit find, or None."""
    if "linux" in wheel.name:
        tag = wheel.stem.split("-")[-1]
        # a path of nothing: it would take this machine's libraries for those of musl
        nowhere = ["--ldpaths", "/nonexistent"] if "musl" in tag else []
        said = run([AUDIT / "auditwheel", "show", *nowhere, wheel])
        if not re.search(rf'"{tag.replace("2014", "_2_17")}"', said):
            return f"auditwheel: {said}"
    # It ends with 1 for what EXPORTED lets pass, too.
    done = subprocess.run([AUDIT / "abi3audit", "--report", wheel], capture_output=True, text=True)
    if not done.stdout.startswith("{"):
        return f"abi3audit: {done.stderr[-2000:]}"
    report = json.loads(done.stdout)
    found = report["specs"][str(wheel)]["wheel"][0]["result"]
    later = set(found["future_abi3_objects"]) - EXPORTED
    if found["non_abi3_symbols"] or later or not found["is_abi3"]:
        return f"abi3audit: {found}"
    return None


def try_wheel(target, wheel):
    """(what is wrong or None, how far it came)"""
    size = wheel.stat().st_size
    if size > MOST:
        return f"{size} bytes are more than {MOST}", "linked"
    if wrong := audited(wheel):
        return wrong, "linked"
    if target.startswith(platform.machine() + "-linux-gnu") and sys.platform == "linux":
        found = interpreters()
        for version, python in found.items():
            if wrong := tried(wheel, python):
                return f"CPython {version}: {wrong}", "ran"
        return None, f"ran with CPython {', '.join(found)}"
    if target.startswith("aarch64-linux-gnu"):
        if not shutil.which("qemu-aarch64") or not shutil.which("apt-get"):
            return None, "linked; not run: there is no qemu-aarch64 or apt-get"
        return tried_on_arm(wheel), "ran under qemu"
    if "windows" in target:
        if not PYTHONS.is_dir() or not all(map(shutil.which, ("wine", windows.COMPILER))):
            return None, "linked; not run: there is no wine, mingw-w64 or ./dev fetch pythons"
        return tried_under_wine(wheel), "ran with CPython 3.14 under Wine"
    return None, "linked"


def tag_of(target):
    return f"{'cp311' if 'windows' in target else 'cp39'}-abi3-{TARGETS[target]}"


def source_tree():
    """The one source and what it stands on; files that are the same keep their time."""
    source = OUT / "source"
    amalgamate.amalgamate(OUT / "new", True)
    sources.write_if_new(OUT / "new", source)
    return source


def make_wheel(target, source):
    folder = OUT / target
    folder.mkdir(parents=True, exist_ok=True)
    info, files = backend.described(*metadata(), licences(source), tag_of(target))
    made = extension(target, source, folder)
    files[f"turnstile/{made.name}"] = made.read_bytes()
    files.update(modules())
    wheel = OUT / f"{info[: -len('.dist-info')]}-{tag_of(target)}.whl"
    backend.write(wheel, files, info)
    return wheel


def timed(target, source):
    """A wheel or the source distribution, and the seconds that it took."""
    start = time.monotonic()
    made = sdist(source) if target == "sdist" else make_wheel(target, source)
    return made, time.monotonic() - start


def forget(targets):
    """No object that was compiled before is used, nor one of zig's cache."""
    for target in targets:
        shutil.rmtree(OUT / target, ignore_errors=True)
    ZIG_FLAGS.append(f"-DTURNSTILE_MADE_AT_{time.time_ns()}")


def main():
    if not ZIG.is_file() or not AUDIT.is_dir():
        sys.exit("wheels: zig or auditwheel is not there; run ./dev fetch zig audit")
    if sys.argv[1:] == ["--read"]:
        return read_all()
    again = sys.argv[1:2] == ["--again"]
    targets = sys.argv[1 + again :] or [*TARGETS, "sdist"]
    if unknown := [name for name in targets if name not in [*TARGETS, "sdist"]]:
        known = ", ".join([*TARGETS, "sdist"])
        sys.exit(f"wheels: there is no {', '.join(unknown)}; there are {known}")
    if again:
        forget(targets)
    source, failed = source_tree(), 0
    headers()
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        work = {target: pool.submit(timed, target, source) for target in targets}
    for target in targets:
        made, spent = work[target].result()
        start = time.monotonic() - spent
        if again:
            wrong, how = None, "not tried"
        elif target == "sdist":
            wrong, how = tried(made, sys.executable), "ran"
        else:
            wrong, how = try_wheel(target, made)
        failed += bool(wrong)
        print(
            f"  {'FAIL' if wrong else 'ok  '} {made.name}: {made.stat().st_size:,} bytes, {how}, "
            f"{time.monotonic() - start:.0f} s",
            flush=True,
        )
        if wrong:
            print(f"  failed: {wrong}")
    print(f"{len(targets) - failed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
