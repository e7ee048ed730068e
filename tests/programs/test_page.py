#!/usr/bin/env python3
"""The inspector and the playground in a browser, the package for Node, and the kernels for WebGPU.
Debian's Chromium is driven by playwright-core; pages are judged by axe-core too (tests/page/*.js).

`./dev test page` installs and fetches what it needs. Run with the other tests, this runs where
those things are there already; what is not there is skipped, counted, and named.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLI = os.environ.get("TSL_CLI", str(ROOT / "build" / "turnstile"))
VOCABS = pathlib.Path(os.environ.get("TSL_VOCABS", ROOT / "build" / "vocabs"))
MODULES = ROOT / "build" / "page" / "node_modules"
PLAYGROUND = ROOT / "build" / "playground"
PACKAGE = ROOT / "build" / "hosts" / "node"

totals = [0, 0, 0]


def add(passed, failed, skipped, what=None):
    for i, n in enumerate((passed, failed, skipped)):
        totals[i] += n
    if what:
        print(what)


def chromium():
    return next(
        (path for path in (os.environ.get("TURNSTILE_CHROMIUM"), shutil.which("chromium")) if path),
        None,
    )


def missing(*wanted):
    """What of these is not there."""
    there = {
        "node": shutil.which("node"),
        "chromium": chromium(),
        "emcc": shutil.which("emcc"),
        "g++": shutil.which("g++"),
        "build/page (./dev fetch page)": MODULES.is_dir(),
        "build/wasm (./dev fetch wasm)": (ROOT / "build" / "wasm" / "pcre2").is_dir(),
    }
    return [name for name in wanted if not there[name]]


def build(what, *command):
    """Run what builds a page or a package; say how long that took."""
    began = time.monotonic()
    subprocess.run(list(map(str, command)), check=True)
    print(f"  {what} built in {time.monotonic() - began:.1f} s")


def browser(script, *arguments):
    """Run a script of tests/page and count what it says."""
    done = subprocess.run(
        ["node", ROOT / "tests" / "page" / script, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={
            **os.environ,
            "TURNSTILE_PAGE_MODULES": str(MODULES),
            "TURNSTILE_CHROMIUM": chromium(),
        },
    )
    lines = done.stdout.rstrip("\n").split("\n")
    closing = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", lines[-1])
    print("\n".join(lines[:-1] if closing else lines))
    if closing:
        add(*map(int, closing.groups()))
    if not closing or (done.returncode and not int(closing[2])):
        add(
            0,
            1,
            0,
            f"  FAIL {script} ended with status {done.returncode} and without a closing line",
        )


def test_trace(pictures):
    gone = missing("node", "chromium", "build/page (./dev fetch page)")
    if gone:
        add(
            0,
            0,
            1,
            f"  skipped: the inspector in a browser: {', '.join(gone)} not there; ./dev test page",
        )
        return
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "trace.html")
        schema = pathlib.Path(
            folder, "a_folder_whose_name_is_wider_than_a_telephone" * 3, "invoice.json"
        )  # the page says where the schema was, and fits all the same
        schema.parent.mkdir()
        shutil.copy(ROOT / "schemas" / "examples" / "invoice.json", schema)
        subprocess.run([CLI, "trace", "--schema", schema, "--seed", "3", "-o", page], check=True)
        browser("trace_test.js", page, *pictures)


def test_playground(pictures):
    gone = missing(
        "node", "chromium", "build/page (./dev fetch page)", "emcc", "build/wasm (./dev fetch wasm)"
    )
    if gone:
        add(
            0,
            0,
            1,
            f"  skipped: the playground in a browser: {', '.join(gone)} not there; ./dev test page",
        )
        return
    build("the playground", sys.executable, ROOT / "page" / "build.py", PLAYGROUND)
    browser("playground_test.js", PLAYGROUND / "index.html", VOCABS, *pictures)


def test_package():
    gone = missing(
        "node", "chromium", "build/page (./dev fetch page)", "emcc", "build/wasm (./dev fetch wasm)"
    )
    if gone:
        add(
            0,
            0,
            1,
            f"  skipped: the package for Node in a browser: {', '.join(gone)} not there; ./dev "
            "test page",
        )
        return
    build("the package", sys.executable, ROOT / "bindings" / "node" / "build.py", PACKAGE)
    browser("package_test.js", PACKAGE)


def test_device():
    """turnstile.wgsl on Chromium's adapter in software, with the library's tokens beside it."""
    gone = missing("node", "chromium", "build/page (./dev fetch page)", "g++")
    if gone:
        add(
            0,
            0,
            1,
            f"  skipped: the kernels for WebGPU: {', '.join(gone)} not there; ./dev test page",
        )
        return
    sys.path.insert(0, str(ROOT / "tests" / "hosts"))
    import host_device

    with tempfile.TemporaryDirectory() as folder:
        cases = pathlib.Path(folder, "cases")
        subprocess.run([host_device.build("cuda", 64), "write", cases], check=True)
        browser("device_test.js", ROOT / "bindings" / "device" / "turnstile.wgsl", cases)


def main():
    pictures = sys.argv[1:2]  # a folder for screenshots
    test_trace(pictures)
    test_playground(pictures)
    test_package()
    test_device()
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return 1 if totals[1] else 0


if __name__ == "__main__":
    sys.exit(main())
