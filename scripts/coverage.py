#!/usr/bin/env python3
"""Add up what gcov counted: lines and branches of runtime/ and compiler/, a file a line, the least
covered first.

    scripts/coverage.py BUILD        a build folder configured with -Db_coverage=true in which the
                                     tests were run

Branches are those of the source as gcc sees it, branches that only lead to exceptions left out.

SPDX-License-Identifier: Apache-2.0
"""

import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def reports(build):
    """gcov's JSON for every object of the static library's sources."""
    for data in sorted(build.rglob("*.gcda")):
        if "libturnstile" not in str(data) and "kernel" not in str(data):
            continue
        out = subprocess.run(
            ["gcov", "--json-format", "--stdout", "--branch-probabilities", str(data)],
            check=True,
            capture_output=True,
            text=True,
            cwd=build,
        )
        for line in out.stdout.splitlines():
            if line:
                yield json.loads(line)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    lines, branches = collections.defaultdict(dict), collections.defaultdict(dict)
    for report in reports(build):
        for file in report["files"]:
            path = (build / file["file"]).resolve()
            if not path.is_relative_to(ROOT) or path.relative_to(ROOT).parts[0] not in (
                "runtime",
                "compiler",
            ):
                continue
            name = str(path.relative_to(ROOT))
            for line in file["lines"]:
                at = line["line_number"]
                lines[name][at] = lines[name].get(at, 0) + line["count"]
                for i, branch in enumerate(b for b in line["branches"] if not b["throw"]):
                    branches[name][at, i] = branches[name].get((at, i), 0) + branch["count"]
    if not lines:
        sys.exit("no coverage data: configure with -Db_coverage=true and run the tests")
    share = {n: sum(c > 0 for c in lines[n].values()) / len(lines[n]) for n in lines}
    for name in sorted(share, key=share.get):
        b = branches[name]
        hit = sum(c > 0 for c in b.values())
        print(
            f"{name:40} {100 * share[name]:6.1f} % of {len(lines[name]):5} lines  "
            f"{100 * hit / max(len(b), 1):6.1f} % of {len(b):5} branches"
        )
    every = (
        [c for n in lines.values() for c in n.values()],
        [c for n in branches.values() for c in n.values()],
    )
    for what, counts in zip(("lines", "branches"), every, strict=True):
        print(f"{100 * sum(c > 0 for c in counts) / len(counts):.1f} % of {len(counts)} {what}")


if __name__ == "__main__":
    main()
