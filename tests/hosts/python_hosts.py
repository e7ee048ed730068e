"""The hosts in Python: an environment with their packages and this tree, and one test after another
in it. The scripts host_*.py call it.

build/hosts/python is a virtual environment with the packages of scripts/hosts/python.lock (845 MB
to download, 2.4 GB unpacked; CPython 3.11, x86-64 Linux). pip checks the packages against their
hashes, and they are kept. The environment also has this tree, built and installed as `pip install
.` does.

PyPI's torch for Linux is linked against CUDA's libraries, several gigabytes that nothing here uses.
In their place stand libraries of the same names, compiled here, whose functions all say "no device"
(cudaErrorNoDevice). Torch then finds no GPU and computes on the processor, as on any machine
without one.

SPDX-License-Identifier: Apache-2.0
"""

import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common  # noqa: E402

LOCK = common.ROOT / "scripts" / "hosts" / "python.lock"
HOSTS = common.BUILD / "hosts" / "python"
PYTHON = HOSTS / "bin" / "python"
LIMIT = 1800  # seconds of one test; a minute or two on an idle machine, much more on a busy one
TREE = (
    "include",
    "runtime",
    "compiler",
    "bindings/python",
    "meson.build",
    "meson_options.txt",
    "pyproject.toml",
    "README.md",
)  # what the package is built from


# ---- libraries in place of CUDA's ----------------------------------------------------------------

NO_DEVICE = 100  # cudaErrorNoDevice, CUDA_ERROR_NO_DEVICE
# Functions that do not return a status, or are called on every machine.
BODIES = {
    "cudaGetErrorString": "const char *cudaGetErrorString(int e) "
    '{ return "there is no CUDA here"; }',
    "cudaGetErrorName": 'const char *cudaGetErrorName(int e) { return "cudaErrorNoDevice"; }',
    "cudaStreamIsCapturing": "int cudaStreamIsCapturing(void *stream, int *status) "
    "{ *status = 0; return 0; }",
}


def lines_of(*command):
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=True
    ).stdout.splitlines()


def read_library(path, wanted):
    """What one library of torch's needs: add its libraries, versions and symbols to `wanted`."""
    for line in lines_of("readelf", "-d", path):
        if match := re.search(r"NEEDED.*\[(.*)\]", line):
            wanted["libraries"].add(match[1])
    owner = None
    for line in lines_of("readelf", "-V", "-W", path):
        if match := re.search(r"File: (\S+)", line):
            owner = match[1]
        elif owner and (match := re.search(r"Name: (\S+)\s+Flags", line)):
            wanted["versions"][match[1]] = owner
    for line in lines_of("nm", "-D", path):
        kind, name = line.split()[-2:]
        name, _, version = name.partition("@")
        if kind == "U":
            wanted["symbols"][name] = version.lstrip("@")
        else:
            wanted["defined"].add(name)


def write_library(folder, name, wanted):
    """Compile one library with the symbols that are wanted of it."""
    by_version = {version: [] for version, owner in wanted["versions"].items() if owner == name}
    for symbol, version in wanted["symbols"].items():
        if (
            symbol not in wanted["defined"]
            and wanted["versions"].get(version, "libcudart.so.13") == name
            and re.match(r"_*(cu|nv|nccl)", symbol, re.I)
        ):
            by_version.setdefault(version, []).append(symbol)
    source, script = folder / "no_device.c", folder / "no_device.map"
    symbols = [symbol for group in by_version.values() for symbol in group]
    source.write_text(
        "\n".join(BODIES.get(s, f"int {s}(void) {{ return {NO_DEVICE}; }}") for s in symbols) + "\n"
    )
    script.write_text(
        "".join(
            f"{version} {{ {'global: ' + '; '.join(group) + ';' if group else ''} }};\n"
            for version, group in by_version.items()
            if version
        )
    )
    versions = [f"-Wl,--version-script={script}"] if script.stat().st_size else []
    subprocess.run(
        [
            "gcc",
            "-shared",
            "-fPIC",
            "-w",
            "-o",
            folder / name,
            f"-Wl,-soname,{name}",
            source,
            *versions,
        ],
        check=True,
    )
    source.unlink()
    script.unlink()


def make_libraries(folder):
    present = {path.name for path in folder.glob("*.so*")}
    wanted = {"libraries": set(), "versions": {}, "symbols": {}, "defined": set()}
    for name in sorted(present):
        read_library(folder / name, wanted)
    missing = {name for name in wanted["libraries"] - present if re.match(r"lib(cu|nv|nccl)", name)}
    for name in sorted(missing - {"libcuda.so.1"}) + [
        "libcuda.so.1"
    ]:  # the last one is the sign that all are there
        write_library(folder, name, wanted)


# ---- setting up ----------------------------------------------------------------------------------


def prepare():
    """The environment with this tree in it; what was there and is still right is kept."""
    if sys.version_info[:2] != (3, 11) or sys.platform != "linux" or platform.machine() != "x86_64":
        sys.exit(
            f"{LOCK.name} is for CPython 3.11 on x86-64 Linux, this is {sys.version.split()[0]} "
            f"on {sys.platform} {platform.machine()}"
        )
    common.venv("python")
    with common.one_at_a_time("tree"):
        install_tree()


def install_tree():
    """Libraries in place of CUDA's, and this tree as it is now, in the environment."""
    folder = next(HOSTS.glob("lib/python3*/site-packages/torch/lib"))
    if not (folder / "libcuda.so.1").exists():
        make_libraries(folder)
    stamp, mark = tree_hash(), HOSTS / ".tree"
    if mark.is_file() and mark.read_text() == stamp:
        return
    start = time.monotonic()
    common.say("installing this tree with pip")
    with common.kept_objects() as variables:
        common.run(
            [
                PYTHON,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--force-reinstall",
                common.ROOT,
            ],
            env=variables,
        )
    common.say(f"built and installed in {time.monotonic() - start:.0f} s")
    mark.write_text(stamp)


def tree_hash():
    """A hash of what the package is built from."""
    names = common.run(["git", "ls-files", "-co", "--exclude-standard", "--", *TREE]).splitlines()
    digest = hashlib.sha256()
    for name in sorted(set(names)):
        if (common.ROOT / name).is_file():
            digest.update(name.encode() + b"\0" + (common.ROOT / name).read_bytes())
    return digest.hexdigest()


# ---- trying --------------------------------------------------------------------------------------


def environment():
    """The tests' environment: no network for models, no statistics sent, one thread. Of the
    packages, of which pip compiled none, what is imported is compiled once.
    """
    return {
        **os.environ,
        "TSL_VOCABS": str(common.BUILD / "vocabs"),
        "TSL_HOSTS": str(HOSTS),
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "OMP_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "PYTHONWARNINGS": "ignore",
        "PYTHONDONTWRITEBYTECODE": "",
    }


def main(name, beside=None, variables=None):
    """Run tests/hosts/python/test_NAME.py, with more variables in its environment; what the host
    logs is shown only if the test fails. `beside`: it sees the packages of
    scripts/hosts-BESIDE.lock too.
    """
    prepare()
    variables = {**environment(), **(variables or {})}
    if beside:
        common.venv(beside)
        variables["PYTHONPATH"] = str(
            next((common.BUILD / "hosts" / beside).glob("lib/python3*/site-packages"))
        )
    script = common.ROOT / "tests" / "hosts" / "python" / f"test_{name}.py"
    try:
        done = subprocess.run(
            [str(PYTHON), str(script)],
            cwd=common.ROOT,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        sys.exit(f"{name} ran past its limit of {LIMIT} s")
    if done.returncode:
        print("\n".join(done.stderr.rstrip().splitlines()[-30:]), file=sys.stderr)
    print(done.stdout, end="")
    sys.exit(done.returncode)
