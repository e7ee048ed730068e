#!/usr/bin/env python3
"""Is the build reproducible? Builds the library and the tool twice, from copies of the tree in
folders of different names. The builds run one after the other, without a compiler cache. The
results are compared byte by byte.

    scripts/reproducible.py

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILT = ["libturnstile.so", "libturnstile.a", "turnstile"]


def copy(folder):
    for name in subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\n"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
            shutil.copymode(ROOT / name, folder / name)


def build(folder):
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    subprocess.run(
        ["meson", "setup", "out", "--buildtype=release", "-Dtests=false", "-Dbench=false"],
        cwd=folder,
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    subprocess.run(
        ["ninja", "-C", "out", "--quiet"],
        cwd=folder,
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    return {name: (folder / "out" / name).read_bytes() for name in BUILT}


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folders = [pathlib.Path(scratch) / "one", pathlib.Path(scratch) / "another" / "folder"]
        for folder in folders:  # both before the first build: the tree may be worked on meanwhile
            copy(folder)
        one, two = [build(folder) for folder in folders]
    for name in BUILT:
        print(
            f"  {'ok  ' if one[name] == two[name] else 'FAIL'} {name}: {len(one[name])} bytes, "
            f"{'the same' if one[name] == two[name] else 'not the same'} twice"
        )
    return 0 if one == two else 1


if __name__ == "__main__":
    sys.exit(main())
