"""What the tests of platforms share: checks, programs, and what a consumer has to print.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import fetch  # noqa: E402

BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))
CONSUMER = ROOT / "tests" / "platforms" / "consumer.c"
SYSTEM = ["-lpcre2-8", "-lyajl", "-lxxhash", "-lm", "-pthread"]  # what the library stands on

results = []
skips = []


def check(condition, what):
    results.append(bool(condition))
    if not condition:
        print(f"  failed: {what}", flush=True)
    return bool(condition)


def skip(why):
    skips.append(why)
    print(f"  skipped: {why}", flush=True)


def run(*command, cwd=ROOT, **environment):
    return subprocess.run(
        list(map(str, command)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        cwd=cwd,
        env={**os.environ, **environment},
    )


def works(what, *command, **more):
    """Run a program that must succeed; what it printed, or None."""
    done = run(*command, **more)
    said = (done.stdout + done.stderr)[-1500:]
    return done.stdout if check(done.returncode == 0, f"{what}: {said}") else None


def expected(folder):
    """What the consumer prints, linked with the build folder's static library."""
    program = folder / "expected"
    built = works(
        "the consumer with the static library",
        *("gcc", "-std=c11", f"-I{ROOT}/include", CONSUMER, BUILD / "libturnstile.a", *SYSTEM),
        *("-o", program),
    )
    printed = works("the consumer", program) if built is not None else None
    if printed is not None:
        check("complete 1" in printed and "TSL_ERR_SCHEMA" in printed, f"it follows: {printed}")
    return printed


def from_npm(name="npm"):
    """The folder whose node_modules has what tests/platforms/NAME/package-lock.json names, or None.
    `./dev fetch npm` brings the folder; where it is not there, the packages are fetched now.
    """
    folder = ROOT / "build" / ("bundlers" if name == "npm" else name)
    try:
        fetch.npm_ci(ROOT / "tests" / "platforms" / name, folder)
    except fetch.FetchError as error:
        check(False, error)
        return None
    return folder


def close():
    """The closing line; the exit status."""
    failed = results.count(False) + (not results)
    print(f"{results.count(True)} passed, {failed} failed, {len(skips)} skipped")
    return int(failed > 0)
