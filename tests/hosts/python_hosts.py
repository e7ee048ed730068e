#!/usr/bin/env python3
"""Set up the hosts that Turnstile is tried in, and try them: `./dev test hosts`.

    scripts/hosts.py [NAME]...      all of tests/hosts/test_*.py, or those named

build/hosts is a virtual environment with the packages of scripts/hosts.lock (785 MB to download, 2.4 GB unpacked; CPython 3.11, x86-64 Linux), which pip checks
against their hashes and which are kept, and with this tree, built and installed as `pip install .` does.

PyPI's torch for Linux is linked against CUDA's libraries, several gigabytes that nothing here uses. In their place stand libraries of the same names, compiled here,
whose functions all say "no device" (cudaErrorNoDevice). Torch then finds no GPU and computes on the processor, as on any machine without one.

The last line is the sum of all checks. What could not be fetched is said in one line, and counts as a failure.

SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from fetch import BUILD, FetchError, client, say, sha256, stamped  # noqa: E402

LOCK = ROOT / "scripts" / "hosts.lock"
HOSTS = BUILD / "hosts"
PYTHON = HOSTS / "bin" / "python"
LIMIT = 300  # seconds of one test
CLOSING = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)


# ---- libraries in place of CUDA's ----------------------------------------------------------------------------------------

NO_DEVICE = 100  # cudaErrorNoDevice, CUDA_ERROR_NO_DEVICE
# Functions that do not return a status, or are asked on every machine.
BODIES = {
    "cudaGetErrorString": 'const char *cudaGetErrorString(int e) { return "there is no CUDA here"; }',
    "cudaGetErrorName": 'const char *cudaGetErrorName(int e) { return "cudaErrorNoDevice"; }',
    "cudaStreamIsCapturing": "int cudaStreamIsCapturing(void *stream, int *status) { *status = 0; return 0; }",
}


def lines_of(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout.splitlines()


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
        if symbol not in wanted["defined"] and wanted["versions"].get(version, "libcudart.so.13") == name and re.match(r"_*(cu|nv|nccl)", symbol, re.I):
            by_version.setdefault(version, []).append(symbol)
    source, script = folder / "no_device.c", folder / "no_device.map"
    symbols = [symbol for group in by_version.values() for symbol in group]
    source.write_text("\n".join(BODIES.get(s, f"int {s}(void) {{ return {NO_DEVICE}; }}") for s in symbols) + "\n")
    script.write_text("".join(f"{version} {{ {'global: ' + '; '.join(group) + ';' if group else ''} }};\n" for version, group in by_version.items() if version))
    versions = [f"-Wl,--version-script={script}"] if script.stat().st_size else []
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-o", folder / name, f"-Wl,-soname,{name}", source, *versions], check=True)
    source.unlink()
    script.unlink()


def make_libraries():
    folder = next(HOSTS.glob("lib/python3*/site-packages/torch/lib"))
    present = {path.name for path in folder.glob("*.so*")}
    wanted = {"libraries": set(), "versions": {}, "symbols": {}, "defined": set()}
    for name in sorted(present):
        read_library(folder / name, wanted)
    for name in sorted(wanted["libraries"] - present):
        if re.match(r"lib(cu|nv|nccl)", name):
            write_library(folder, name, wanted)


# ---- setting up ----------------------------------------------------------------------------------------------------------


def pip(*arguments):
    return client("hosts", [str(PYTHON), "-m", "pip", "--quiet", "--disable-pip-version-check", *map(str, arguments)])


def fetch_hosts():
    stamp = f"{sha256(LOCK)} {sha256(__file__)} {sys.version}"
    if stamped(HOSTS, stamp):
        return
    if sys.version_info[:2] != (3, 11) or sys.platform != "linux" or os.uname().machine != "x86_64":
        raise FetchError(f"{LOCK.name} is for CPython 3.11 on x86-64 Linux, this is {sys.version.split()[0]} on {sys.platform} {os.uname().machine}")
    say("fetching the hosts' packages into build/hosts (785 MB)")
    client("hosts", [sys.executable, "-m", "venv", "--clear", str(HOSTS)])
    pip("install", "--no-deps", "--no-cache-dir", "--only-binary", ":all:", "--require-hashes", "-r", LOCK)
    make_libraries()
    (HOSTS / ".stamp").write_text(stamp)


def install_tree():
    """`pip install .`, into the hosts' environment."""
    say("installing this tree with pip")
    start = time.monotonic()
    pip("install", "--no-deps", "--force-reinstall", ROOT)
    say(f"built and installed in {time.monotonic() - start:.0f} s")


# ---- trying --------------------------------------------------------------------------------------------------------------


def environment():
    """The tests' environment: no network for models, no statistics sent, one thread."""
    return {**os.environ, "TSL_VOCABS": str(BUILD / "vocabs"), "TSL_HOSTS": str(HOSTS), "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1",
            "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONWARNINGS": "ignore"}


def run_test(path):
    """Run one test; its counts (passed, failed, skipped)."""
    print(f"== {path.stem.removeprefix('test_')}", flush=True)
    start = time.monotonic()
    try:
        done = subprocess.run([str(PYTHON), str(path)], cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", timeout=LIMIT)
    except subprocess.TimeoutExpired:
        print(f"   FAIL: ran past its limit of {LIMIT} s")
        return 0, 1, 0
    counts = CLOSING.findall(done.stdout)
    for line in done.stdout.rstrip().splitlines():
        print("   " + line)
    if done.returncode or not counts:
        print("   " + "\n   ".join(done.stderr.rstrip().splitlines()[-25:]))
        print(f"   FAIL: ended with status {done.returncode}")
    print(f"   {time.monotonic() - start:.0f} s", flush=True)
    passed, failed, skipped = (int(n or 0) for n in counts[-1]) if counts else (0, 0, 0)
    return passed, failed + (1 if (done.returncode and not failed) or not counts else 0), skipped


def main():
    names = sys.argv[1:]
    tests = [path for path in sorted((ROOT / "tests" / "hosts").glob("test_*.py")) if not names or path.stem.removeprefix("test_") in names]
    if not tests:
        print(f"hosts: there is no test {', '.join(names)}", file=sys.stderr)
        return 2
    try:
        fetch_hosts()
        install_tree()
    except (FetchError, subprocess.CalledProcessError) as error:
        print(f"hosts: {error}", file=sys.stderr)
        print("0 passed, 1 failed")
        return 1
    sums = [sum(column) for column in zip(*map(run_test, tests))]
    print(f"{sums[0]} passed, {sums[1]} failed, {sums[2]} skipped")
    return 1 if sums[1] else 0


if __name__ == "__main__":
    sys.exit(main())
