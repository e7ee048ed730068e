#!/usr/bin/env python3
"""Wheels of the Python package, for every CPython from 3.9 on, with all that it needs inside.

    scripts/wheels.py [TARGET...]     into build/wheels; without TARGET those of TARGETS

The extension is written against CPython's stable ABI (abi3), so one wheel for each system serves
all versions. The one source (scripts/amalgamate.py --vendor), PCRE2, yajl and the extension's own
sources are compiled by zig for the oldest C library that the wheel's tag promises: glibc 2.17 for
manylinux2014. A wheel for this machine is installed into a fresh folder and tried; the others are
compiled and linked alone, and are named with `linked`.

Every wheel is the same, byte for byte, if it is made again: times in it are those of the zip
format's beginning, and the entries are sorted. zig is the package of scripts/zig.lock.

SPDX-License-Identifier: Apache-2.0
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import sysconfig
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import amalgamate  # noqa: E402
import sources  # noqa: E402
import vendor  # noqa: E402

OUT = ROOT / "build" / "wheels"
PACKAGE = ROOT / "bindings" / "python" / "turnstile"
ZIG = ROOT / "build" / "zig" / "venv" / "bin" / "python"
# zig's name of a target: the wheel's tag.
TARGETS = {
    "x86_64-linux-gnu.2.17": "manylinux2014_x86_64",
    "aarch64-linux-gnu.2.17": "manylinux2014_aarch64",
    "x86_64-linux-musl": "musllinux_1_2_x86_64",
    "aarch64-linux-musl": "musllinux_1_2_aarch64",
}
TESTS = ["package", "package_grammars", "package_decoding"]
MOST = 5 << 20  # bytes of a wheel
FLAGS = ["-O2", "-fPIC", "-fvisibility=hidden", "-fno-sanitize=undefined", "-DNDEBUG"]
LINK = ["-shared", "-s", "-Wl,-z,relro,-z,now", "-lm", "-lpthread"]


def run(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"wheels: {' '.join(map(str, command[:8]))} ...: {done.stderr[-2000:]}")
    return done.stdout


def listed(name):
    """The names of a list in the package's meson.build."""
    text = (PACKAGE / "meson.build").read_text(encoding="utf-8")
    body = re.search(rf"^{name} = (?:files\()?[\[(]?(.*?)^[\])]", text, re.M | re.S).group(1)
    return re.findall(r"'([^']+)'", body)


def extension(target, source, folder):
    """The extension for a target, compiled and linked."""
    compiler = [ZIG, "-m", "ziglang", "cc", "-target", target, *FLAGS]
    parts = source / "vendor"
    library = ["-std=c11", "-DPCRE2_STATIC", f"-I{parts / 'include'}"]
    python = [f"-I{source}", f"-isystem{sysconfig.get_path('include')}"]
    todo = [(source / "turnstile.c", library)]
    todo += [(path, vendor.flags(parts)) for path in vendor.sources(parts)]
    todo += [((PACKAGE / name).resolve(), python) for name in listed("python_sources")]
    objects = []
    for path, flags in todo:
        objects.append(folder / f"{path.parent.name}-{path.stem}.o")
        run([*compiler, *flags, "-c", path, "-o", objects[-1]])
    made = folder / "_core.abi3.so"
    run([*compiler, *LINK, *objects, "-o", made])
    return made


def metadata(tag):
    """{name in the wheel: bytes} of the folder that describes it."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    value = lambda key: re.search(rf'^{key} = "([^"]*)"', text, re.M).group(1)  # noqa: E731
    version = sources.version()
    folder = f"turnstile-{version}.dist-info"
    points = re.findall(r'^\[project\.entry-points\."([^"]+)"\]\n((?:\w+ = .*\n)+)', text, re.M)
    about = [
        "Metadata-Version: 2.1",
        f"Name: {value('name')}",
        f"Version: {version}",
        f"Summary: {value('description')}",
        "License: Apache-2.0",
        f"Requires-Python: {value('requires-python')}",
        "Description-Content-Type: text/markdown",
    ]
    wheel = [
        "Wheel-Version: 1.0",
        "Generator: scripts/wheels.py",
        "Root-Is-Purelib: false",
        f"Tag: cp39-abi3-{tag}",
    ]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    entries = "\n".join(f"[{group}]\n" + body.replace('"', "") for group, body in points)
    return folder, {
        f"{folder}/METADATA": ("\n".join(about) + "\n\n" + readme).encode(),
        f"{folder}/WHEEL": ("\n".join(wheel) + "\n").encode(),
        f"{folder}/entry_points.txt": entries.encode(),
        f"{folder}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }


def write(path, files, folder):
    """The wheel, with its record of hashes."""
    rows = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:

        def put(name, data):
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(info, data)

        for name, data in sorted(files.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(data)}\n")
            put(name, data)
        put(f"{folder}/RECORD", "".join(rows) + f"{folder}/RECORD,,\n")


def tried(wheel):
    """Install the wheel into a fresh folder, and run tests of the package with it: what is wrong,
    or None. TSL_BUILD has no package there, so the tests import the one that is installed.
    """
    fresh = OUT / "fresh"
    run([sys.executable, "-m", "venv", "--clear", fresh])
    python = fresh / "bin" / "python"
    run([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel])
    for name in TESTS:
        done = subprocess.run(
            [python, ROOT / "tests" / "package" / f"test_{name}.py"],
            env={**os.environ, "TSL_BUILD": str(fresh)},
            capture_output=True,
            text=True,
            cwd=ROOT,
        )
        if done.returncode or not re.search(r"^[1-9]\d* passed, 0 failed", done.stdout, re.M):
            return f"{name}: {(done.stdout + done.stderr)[-2000:]}"
    return None


def is_here(target):
    return target.startswith(platform.machine() + "-linux-gnu") and sys.platform == "linux"


def main():
    targets = sys.argv[1:] or list(TARGETS)
    if unknown := [name for name in targets if name not in TARGETS]:
        sys.exit(f"wheels: there is no {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    if not ZIG.is_file():
        sys.exit("wheels: zig is not there; run ./dev fetch zig")
    source = OUT / "source"
    amalgamate.amalgamate(source, True)
    failed = 0
    for target in targets:
        folder = OUT / target
        folder.mkdir(parents=True, exist_ok=True)
        info, files = metadata(TARGETS[target])
        files[f"{info}/licenses/LICENCES"] = (source / "vendor" / "LICENCES").read_bytes()
        files["turnstile/_core.abi3.so"] = extension(target, source, folder).read_bytes()
        for path in PACKAGE.rglob("*"):
            if path.suffix in (".py", ".pyi", ".typed"):
                files[f"turnstile/{path.relative_to(PACKAGE)}"] = path.read_bytes()
        wheel = OUT / f"turnstile-{sources.version()}-cp39-abi3-{TARGETS[target]}.whl"
        write(wheel, files, info)
        size = wheel.stat().st_size
        wrong = f"{size} bytes are more than {MOST}" if size > MOST else None
        if not wrong and is_here(target):
            wrong = tried(wheel)
        failed += bool(wrong)
        how = "ran" if is_here(target) else "linked"
        print(f"  {'FAIL' if wrong else 'ok  '} {wheel.name}: {size:,} bytes, {how}", flush=True)
        if wrong:
            print(f"  failed: {wrong}")
    print(f"{len(targets) - failed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
