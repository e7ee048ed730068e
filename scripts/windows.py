"""Turnstile for Windows on x86_64: a build folder by mingw-w64, whose programs Wine runs.

prepare() is what scripts/cross.py calls for `windows`. PCRE2, yajl and xxHash are compiled from the
sources that `./dev fetch wasm` brings (scripts/vendor.py). They are static libraries with files for
pkg-config, so that meson finds them as it finds those of a system. All programs are linked
statically: they need no DLL but those of Windows.

Wine gets a folder of its own (build-cross/windows/wine). Its server is kept from the first program
to the last, as it takes longer to start than most tests run.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import shutil
import subprocess
import sys

import vendor

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build-cross" / "windows"
TRIPLE = "x86_64-w64-mingw32"
# The one whose threads are those of the tests (winpthreads); the library uses none of its own.
COMPILER = f"{TRIPLE}-gcc-posix"

# Unit tests that are not built for Windows, and why.
PROCESSES = "it forks, sends signals and bounds the size of files, which Windows has no calls for"
FOLDERS = "it makes its folders by mkdtemp, which Windows lacks"
NOT_HERE = {
    "artifact": "it makes pipes in the file system, which Windows lacks",
    "bench": "it tests the benchmark, which forks",
    "cache_faults": PROCESSES,
    "fuzz_vocab_cache": FOLDERS,
    "gguf": FOLDERS,
    "race": "it replaces a file that is mapped, which Windows refuses (docs/platforms.md)",
    "store": PROCESSES,
    "vocab_cache": FOLDERS,
    "vocab_known": PROCESSES,
}

LIBRARIES = {  # its sources' folder, pkg-config's name, -l
    "pcre2": ("libpcre2-8", "pcre2-8"),
    "yajl": ("yajl", "yajl"),
}

CROSS = """[binaries]
c = '{compiler}'
ar = '{triple}-ar'
strip = '{triple}-strip'
windres = '{triple}-windres'
pkgconfig = 'pkg-config'
[properties]
pkg_config_libdir = '{root}/lib/pkgconfig'
needs_exe_wrapper = true
[built-in options]
c_args = ['-DPCRE2_STATIC']
c_link_args = ['-static']
[host_machine]
system = 'windows'
cpu_family = 'x86_64'
cpu = 'x86_64'
endian = 'little'
"""
PACKAGE = """prefix={root}
Name: {name}
Description: {name}
Version: {version}
Cflags: -I${{prefix}}/include
Libs: {libs}
"""


def run(command, **more):
    subprocess.run(list(map(str, command)), check=True, **more)


def archive(root, sources, folder, name):
    """Sources as a static library; objects that are newer than their source stay."""
    objects = root / "objects"
    objects.mkdir(parents=True, exist_ok=True)
    made = []
    for source in sources:
        made.append(objects / f"{source.parent.name}-{source.stem}.o")
        run([COMPILER, "-O1", *vendor.flags(folder), "-c", source, "-o", made[-1]])
    run([f"{TRIPLE}-ar", "rcs", root / "lib" / f"lib{name}.a", *made])


def libraries():
    """The folder in which meson finds PCRE2, yajl and xxHash."""
    root = FOLDER / "root"
    if (root / "done").is_file():
        return root
    shutil.rmtree(root, ignore_errors=True)
    (root / "lib" / "pkgconfig").mkdir(parents=True)
    try:
        vendor.copy(root / "vendor")
    except vendor.Missing as error:
        sys.exit(f"cross: {error}")
    shutil.copytree(root / "vendor" / "include", root / "include")
    for part, (package, name) in LIBRARIES.items():
        sources = sorted((root / "vendor" / part).glob("*.c"))
        archive(root, sources, root / "vendor", name)
        text = PACKAGE.format(
            root=root, name=package, version="10.42", libs=f"-L${{prefix}}/lib -l{name}"
        )
        (root / "lib" / "pkgconfig" / f"{package}.pc").write_text(text)
    text = PACKAGE.format(root=root, name="libxxhash", version="0.8.1", libs="")
    (root / "lib" / "pkgconfig" / "libxxhash.pc").write_text(text)
    (root / "done").touch()
    return root


def prepare():
    """The build folder, how its programs are run, and the environment for that."""
    for program in (COMPILER, "wine", "meson", "pkg-config"):
        if not shutil.which(program):
            sys.exit(
                f"cross: {program} is not installed (Debian: gcc-mingw-w64-x86-64-posix wine meson "
                "pkg-config)"
            )
    root = libraries()
    build = FOLDER / "build"
    if not (build / "build.ninja").exists():
        cross = FOLDER / "cross.ini"
        cross.write_text(CROSS.format(compiler=COMPILER, triple=TRIPLE, root=root))
        options = ["--buildtype=plain", "-Doptimization=1", "-Dwerror=true", "-Dbench=false"]
        run(
            ["meson", "setup", build, "--cross-file", cross, *options],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
        )
    return build, ["wine"], {"WINEPREFIX": str(FOLDER / "wine"), "WINEDEBUG": "-all"}


class Wine:
    """Wine's server, from the first program to the last."""

    def __init__(self, environment):
        self.environment = {**os.environ, **environment, "WINEDLLOVERRIDES": "mscoree,mshtml="}

    def __enter__(self):
        quiet = {"env": self.environment, "stderr": subprocess.DEVNULL}
        run(["wineboot", "--init"], stdout=subprocess.DEVNULL, **quiet)
        return self

    def __exit__(self, *unused):
        subprocess.run(["wineserver", "-k"], env=self.environment, check=False)


def try_tool(build, environment):
    """The command line tool, with a path and a text that are not ASCII: what is wrong, or None."""
    tool = build / "turnstile.exe"
    folder = FOLDER / "tried"
    folder.mkdir(exist_ok=True)
    schema = folder / "schéma-字.json"
    schema.write_bytes(b'{"const": "\xc3\xa9\xe5\xad\x97"}')
    for text, wanted in (('"é字"', 0), ('"e"', 1)):
        (folder / "text").write_bytes(text.encode())
        command = ["wine", tool, "check", "--schema", schema, folder / "text"]
        done = subprocess.run(
            list(map(str, command)), env={**os.environ, **environment}, capture_output=True
        )
        if done.returncode != wanted or b"\r" in done.stdout + done.stderr:
            return f"{text}: status {done.returncode}: {(done.stdout + done.stderr)!r}"
    return None
