"""The build backend inside the source distribution (PEP 517): it needs a C compiler alone.

The source distribution holds Turnstile as one source, the sources of PCRE2 and yajl, xxHash's
header, and those of the extension. pip calls build_wheel(). It compiles them, links the extension
and writes a wheel for this machine. No package is fetched and no library of the system is used.

The compiler is $CC, else the one of this CPython, else the first of gcc, clang, cc. `CFLAGS` and
`LDFLAGS` are added. On Windows the compiler is gcc or clang (mingw-w64); MSVC does not compile the
sources.

write(), which also scripts/wheels.py uses, gives the same bytes for the same files. Times in a
wheel are those of the zip format's beginning, and the entries are sorted.

SPDX-License-Identifier: Apache-2.0
"""

import base64
import concurrent.futures
import gzip
import hashlib
import io
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent
FLAGS = ["-O2", "-fPIC", "-fvisibility=hidden", "-DNDEBUG"]
LIBRARY = ["-std=c11", "-DPCRE2_STATIC"]  # for turnstile.c
PARTS = [  # for PCRE2 and yajl
    "-DHAVE_CONFIG_H",
    "-DPCRE2_CODE_UNIT_WIDTH=8",
    "-DSUPPORT_UNICODE",
    "-DPCRE2_STATIC",
    "-w",
]
WINDOWS = sys.platform == "win32"


def compiler():
    """The words of the command that compiles C."""
    named = os.environ.get("CC") or sysconfig.get_config_var("CC") or ""
    words = shlex.split(named)
    if words and shutil.which(words[0]):
        return words
    for name in ("gcc", "clang", "cc"):
        if shutil.which(name):
            return [name]
    raise SystemExit(
        "turnstile: there is no C compiler: install gcc or clang, or set CC to the one you have"
    )


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"turnstile: {' '.join(map(str, command))}:\n{done.stderr[-4000:]}")


def system_flags():
    """How the extension is linked here."""
    if WINDOWS:
        return ["-shared", f"-L{pathlib.Path(sys.base_prefix, 'libs')}", "-lpython3", "-ladvapi32"]
    if sys.platform == "darwin":
        return ["-bundle", "-undefined", "dynamic_lookup"]
    return ["-shared", "-lm", "-lpthread"]


def extension(folder):
    """Compile and link; the file."""
    words, own = compiler(), ROOT / "c"
    extra = shlex.split(os.environ.get("CFLAGS", ""))
    headers = [f"-I{own}", f"-I{own / 'vendor' / 'include'}"]
    python = f"-I{sysconfig.get_path('include')}"
    work = [(own / "turnstile.c", [*LIBRARY, *headers])]
    for part in ("pcre2", "yajl"):
        flags = [*PARTS, *headers, f"-I{own / 'vendor' / 'pcre2'}"]
        work += [(path, flags) for path in sorted((own / "vendor" / part).glob("*.c"))]
    work += [(path, [*headers, python]) for path in sorted((own / "python").glob("*.c"))]
    objects = [folder / f"{path.parent.name}-{path.stem}.o" for path, _ in work]

    def one(job):
        (path, flags), made = job
        run([*words, *FLAGS, *flags, *extra, "-c", path, "-o", made])

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(one, zip(work, objects)))
    made = folder / ("_core.pyd" if WINDOWS else "_core.abi3.so")
    more = shlex.split(os.environ.get("LDFLAGS", ""))
    run([*words, *objects, *system_flags(), *more, "-o", made])
    return made


def tag():
    """The tag of a wheel for this machine. python3.dll has what the extension needs since 3.11."""
    system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{'cp311' if WINDOWS else 'cp39'}-abi3-{system}"


def described(metadata, entry_points, licences, tags):
    """(the name of the folder that describes a wheel, {name in the wheel: bytes}).

    metadata and entry_points are the texts of those files; licences: {file name: bytes}; tags: all
    three parts, as in the name of the wheel.
    """
    fields = dict(line.split(": ", 1) for line in metadata.split("\n\n")[0].splitlines())
    folder = f"{fields['Name'].replace('-', '_')}-{fields['Version']}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: turnstile\nRoot-Is-Purelib: false\nTag: {tags}\n"
    files = {
        f"{folder}/METADATA": metadata.encode(),
        f"{folder}/WHEEL": wheel.encode(),
        f"{folder}/entry_points.txt": entry_points.encode(),
    }
    files.update({f"{folder}/licenses/{name}": data for name, data in licences.items()})
    return folder, files


def write(path, files, folder):
    """A wheel, with its record of hashes."""
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


def write_tar(path, files, folder):
    """A source distribution: {name: bytes} below a folder, the same bytes for the same files."""
    text = io.BytesIO()
    with tarfile.open(fileobj=text, mode="w", format=tarfile.USTAR_FORMAT) as made:
        for name, data in sorted(files.items()):
            info = tarfile.TarInfo(f"{folder}/{name}")
            info.size, info.mode = len(data), 0o644
            made.addfile(info, io.BytesIO(data))
    with open(path, "wb") as out, gzip.GzipFile(fileobj=out, mode="wb", mtime=0, filename="") as z:
        z.write(text.getvalue())


# ---- what pip calls ------------------------------------------------------------------------------


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    if sys.implementation.name != "cpython" or "t" in getattr(sys, "abiflags", ""):
        raise SystemExit(
            "turnstile: the extension is made for CPython's stable ABI, which this Python lacks "
            "(PyPy and free-threaded builds): use CPython 3.9 or later"
        )
    metadata = (ROOT / "PKG-INFO").read_text(encoding="utf-8")
    licences = {name: (ROOT / name).read_bytes() for name in ("LICENSE", "LICENCES")}
    points = (ROOT / "entry_points.txt").read_text(encoding="utf-8")
    folder, files = described(metadata, points, licences, tag())
    for path in (ROOT / "turnstile").rglob("*"):
        if path.suffix in (".py", ".pyi", ".typed"):
            files[path.relative_to(ROOT).as_posix()] = path.read_bytes()
    with tempfile.TemporaryDirectory() as scratch:
        made = extension(pathlib.Path(scratch))
        files[f"turnstile/{made.name}"] = made.read_bytes()
    name = f"{folder[: -len('.dist-info')]}-{tag()}.whl"
    write(pathlib.Path(wheel_directory, name), files, folder)
    return name


def build_sdist(sdist_directory, config_settings=None):
    files = {
        path.relative_to(ROOT).as_posix(): path.read_bytes()
        for path in ROOT.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    fields = (ROOT / "PKG-INFO").read_text(encoding="utf-8").splitlines()
    name, version = (
        next(line.split(": ", 1)[1] for line in fields if line.startswith(key + ": "))
        for key in ("Name", "Version")
    )
    folder = f"{name.replace('-', '_')}-{version}"
    write_tar(pathlib.Path(sdist_directory, folder + ".tar.gz"), files, folder)
    return folder + ".tar.gz"
