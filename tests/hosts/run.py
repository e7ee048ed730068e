#!/usr/bin/env python3
"""Run the hosts' scripts one after the other, or those that are named: tests/hosts/run.py [NAME...], host_NAME.py being the script.

Each prints a line that says which version of the host was there, what was exercised and how many tokens were generated, and closes with
"N passed, N failed, N skipped". So does this. ./dev test hosts has built and fetched what they need.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import subprocess
import sys
import time

FOLDER = pathlib.Path(__file__).resolve().parent


def main(names):
    scripts = {path.stem.removeprefix("host_"): path for path in sorted(FOLDER.glob("host_*.py"))}
    unknown = [name for name in names if name not in scripts]
    if unknown:
        sys.exit(f"there is no host {', '.join(unknown)}; there are {', '.join(scripts)}")
    total, summary, bad = [0, 0, 0], [], False
    for name in names or scripts:
        print(f"== {name}", flush=True)
        start = time.monotonic()
        done = subprocess.run([sys.executable, scripts[name]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        print(done.stdout, end="", flush=True)
        lines = done.stdout.splitlines()
        closing = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", lines[-1] if lines else "")
        bad = bad or done.returncode != 0 or not closing
        if closing:
            total = [a + int(b) for a, b in zip(total, closing.groups())]
        summary.append(f"   {name:<12} {'ok' if not done.returncode and closing else 'FAILED':<6} {time.monotonic() - start:6.1f} s  {lines[-2] if len(lines) > 1 else ''}")
    print("== summary")
    print(*summary, sep="\n")
    if bad and not total[1]:
        total[1] = 1
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
