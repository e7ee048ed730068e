#!/usr/bin/env python3
"""Run the tests of one or more build folders and add up what they say.

    tests/run.py BUILD [NAME...] [--build BUILD]... [--full] [--jobs N] [--patience N]
                 [--without NAME]...

The list of tests is meson's own (tests/meson.build, fuzz/meson.build): command, environment, time
limit. Every test prints what it checked and ends with the line "N passed, N failed, N skipped". A
test that ends without that line counts as one failure more. So does one that ends with a status
other than 0, on a signal, or past its limit. A NAME runs the tests of that name, or of that suite
(unit, python).

The tests that take longest take a part of their cases. TSL_SHARE is the number of that part, and is
printed. Another number takes other cases. --full takes all of them (docs/testing.md).

The last line is the sum over all tests, in the same form. Above that line the reason of every skip
and what failed are printed again.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

SHARE = "577"  # the part of dear tests that a run takes without TSL_SHARE
CLOSING = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)
SKIP = re.compile(r"^\s*skipped: (.*)$", re.M)
FAILED = re.compile(
    r"^.*(?:\bfailed: |\bFAIL\b|WARNING: ThreadSanitizer|ERROR: \w+Sanitizer|runtime error: ).*$",
    re.M,
)
MANY = 20  # lines of one test that are said again


def tests_of(build, names):
    """Meson's description of the tests of a build folder: all, or those of these names."""
    listing = subprocess.run(
        ["meson", "introspect", "--tests", build], check=True, capture_output=True, text=True
    ).stdout
    tests = json.loads(listing)
    if names:
        tests = [
            t
            for t in tests
            if t["name"] in names or any(s.split(":")[-1] in names for s in t["suite"])
        ]
    return sorted(tests, key=lambda t: t["name"])


def end_late(group, late):
    late.set()
    with contextlib.suppress(ProcessLookupError):  # it has ended just now
        os.killpg(group, signal.SIGKILL)


def run_one(build, test, patience):
    """Run one test; what it was, its output, its counts, and the seconds that it took."""
    start, limit = time.monotonic(), test["timeout"] * patience
    command = test["cmd"]
    output, status, why, spent = "", 0, None, 0.0
    try:
        process = subprocess.Popen(
            command,
            cwd=test["workdir"],
            env={**os.environ, **test["env"]},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        late = threading.Event()
        timer = threading.Timer(limit, end_late, (process.pid, late))
        timer.start()
        output = process.stdout.read()
        _, ended, usage = os.wait4(process.pid, 0)  # wait() does not say what the process spent
        timer.cancel()
        process.stdout.close()
        if late.is_set():
            why = f"ran past its limit of {limit} s"
        status = process.returncode = os.waitstatus_to_exitcode(ended)
        spent = usage.ru_utime + usage.ru_stime
    except OSError as error:
        why = f"could not be started: {error}"
    counts = [tuple(int(g or 0) for g in m.groups()) for m in CLOSING.finditer(output)]
    passed, failed, skipped = counts[-1] if counts else (0, 0, 0)
    if why is None and status < 0:
        why = f"ended on signal {signal.Signals(-status).name}"
    elif why is None and not counts:
        why = f"ended with status {status} and without a closing line"
    elif why is None and status != 0 and failed == 0:
        why = f"ended with status {status}"
    elif why is None and passed + failed + skipped == 0:
        why = "checked nothing"
    return {
        "build": build,
        "name": test["name"],
        "output": output,
        "passed": passed,
        "failed": failed + (why is not None),
        "skipped": skipped,
        "why": why,
        "reasons": SKIP.findall(output),
        "seconds": time.monotonic() - start,
        "spent": spent,
    }


def show(result):
    verdict = "FAIL" if result["failed"] else "ok"
    print(
        f"== {result['build']}: {result['name']} ({verdict}, {result['seconds']:.1f} s, "
        f"{result['spent']:.1f} s of the processor)"
    )
    body = result["output"].rstrip("\n")
    lines = body.split("\n") if body else []
    # The test's own closing line is part of the sum below; showing it indented keeps it from being
    # read as the total.
    for line in (
        lines
        if len(lines) <= 400
        else lines[:200] + [f"... {len(lines) - 400} lines left out ..."] + lines[-200:]
    ):
        print("   " + line)
    if result["why"]:
        print(f"   FAIL: {result['name']} {result['why']}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", help="a build folder")
    parser.add_argument(
        "--build",
        dest="more",
        action="append",
        default=[],
        help="another build folder; its tests are run too",
    )
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument(
        "--patience",
        type=int,
        default=1,
        help="each test may take so many times its limit: on machines that are slow or busy",
    )
    parser.add_argument(
        "--without", action="append", default=[], metavar="NAME", help="leave this test out"
    )
    parser.add_argument(
        "--full", action="store_true", help="all cases of the tests that take a part of them"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="tests or suites; none: all")
    options = parser.parse_args()

    if options.full:
        os.environ.pop("TSL_SHARE", None)
    else:
        os.environ.setdefault("TSL_SHARE", SHARE)
        print(
            f"== TSL_SHARE={os.environ['TSL_SHARE']} takes the same cases again; --full takes all"
        )
    work = []
    for build in [options.build] + options.more:
        work += [
            (build, test)
            for test in tests_of(build, options.names)
            if test["name"] not in options.without
        ]
    work.sort(key=lambda item: -item[1]["priority"])  # what takes longest starts first
    if not work:
        print(f"no test is called {', '.join(options.names)}")
        print("0 passed, 1 failed, 0 skipped")
        return 1

    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for future in concurrent.futures.as_completed(
            [pool.submit(run_one, *item, options.patience) for item in work]
        ):
            results.append(future.result())
            show(results[-1])

    passed, failed, skipped = (
        sum(r[key] for r in results) for key in ("passed", "failed", "skipped")
    )
    for build in sorted({r["build"] for r in results}):
        spent = sum(r["spent"] for r in results if r["build"] == build)
        print(f"== {build}: {spent:.0f} s of the processor")
    print(f"== summary: {len(results)} test programs")
    for r in sorted(results, key=lambda r: (r["build"], r["name"])):
        for reason in r["reasons"]:
            print(f"   skipped in {r['build']}: {r['name']}: {reason}")
        if r["failed"]:
            print(
                f"   FAILED {r['build']}: {r['name']}: {r['why'] or str(r['failed']) + ' checks'}"
            )
            for line in FAILED.findall(r["output"])[:MANY]:
                print(f"   FAILED     {line.strip()}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
