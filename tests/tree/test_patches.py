#!/usr/bin/env python3
"""The worked changes of docs/patches still apply, build and pass the tests that they bring.

The tree is copied to a temporary folder. Each patch is tried on a clean copy first (patch
--dry-run). Then all of them are applied. The static library and the tests of the patches are built,
and those tests run. Less optimisation than a release has halves the time.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATCHES = ROOT / "docs" / "patches"
# The test that each patch extends or adds, and what that test must say of it.
TESTS = {"format": "formats", "keyword": "schema", "front-end": "words"}
OPTIONS = [
    "--buildtype=release",
    "-Doptimization=1",
    "-Db_ndebug=true",
    "-Ddefault_library=static",
    "-Dcli=false",
    "-Dbench=false",
]
results = []


def check(condition, what):
    results.append(bool(condition))
    print(f"  {'ok  ' if condition else 'FAIL'} {what}", flush=True)
    return condition


def run(command, folder, **more):
    return subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more
    )


def copy(folder):
    """The sources, as they stand now, committed or not."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    for name in filter(None, listed.decode().split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_file() and not source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def patched(name, folder, *options):
    with open(PATCHES / f"{name}.patch", encoding="utf-8") as text:
        return run(
            ["patch", "-p1", "--no-backup-if-mismatch", "--forward", *options], folder, stdin=text
        )


def apply(folder):
    for name in TESTS:
        tried = patched(name, folder, "--dry-run")
        check(
            tried.returncode == 0,
            f"{name}.patch applies to the tree as it "
            f"is{'' if tried.returncode == 0 else ': ' + tried.stdout}",
        )
    for name in TESTS:
        done = patched(name, folder)
        check(
            done.returncode == 0,
            f"{name}.patch applies beside the "
            f"others{'' if done.returncode == 0 else ': ' + done.stdout}",
        )


def build(folder):
    made = run(["meson", "setup", "build", *OPTIONS], folder)
    if made.returncode == 0:
        made = run(
            ["ninja", "-C", "build", *(f"tests/test_{test}" for test in TESTS.values())], folder
        )
    return check(
        made.returncode == 0,
        "the patched tree builds" + ("" if made.returncode == 0 else ":\n" + made.stdout[-3000:]),
    )


def main():
    missing = [tool for tool in ("git", "patch", "meson", "ninja") if not shutil.which(tool)]
    if missing or not (ROOT / ".git").exists():
        print(
            f"  skipped: {', '.join(missing) or 'the history of the tree'} is not here\n0 passed, "
            "0 failed, 1 skipped"
        )
        return 0
    check(
        {path.stem for path in PATCHES.glob("*.patch")} == set(TESTS),
        "every patch has a test, and every test a patch",
    )
    plain = {
        name: value for name, value in os.environ.items() if not name.startswith("TSL_")
    }  # without the suite, which takes longer
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        copy(folder)
        apply(folder)
        if all(results) and build(folder):
            for patch, test in TESTS.items():
                ran = run([str(folder / "build" / "tests" / f"test_{test}")], folder, env=plain)
                closing = re.search(r"(\d+) passed, 0 failed", ran.stdout)
                good = ran.returncode == 0 and closing and int(closing[1]) > 0
                check(good, f"{patch}.patch: test_{test}{'' if good else ':' + ran.stdout[-2000:]}")
    failed = results.count(False)
    print(f"{len(results) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
