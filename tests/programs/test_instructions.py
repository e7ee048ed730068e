#!/usr/bin/env python3
"""The instructions of fixed workloads against the stored baseline: bench/quick.py as a test. A run
of all tests takes one of the workloads, and each kind of input (docs/testing.md).

Before that: every pattern in scripts/mutate.py that excuses mutants still fits the code.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "scripts"), str(ROOT / "tests" / "support")]

import mutate  # noqa: E402 - the folders are no packages
import quick  # noqa: E402
import share  # noqa: E402

if __name__ == "__main__":
    workloads = list(quick.WORKLOADS.items())
    quick.WORKLOADS = dict(w for i, w in enumerate(workloads) if share.turn(i, len(workloads)))
    gone = mutate.check_equivalent()
    for line in gone:
        print(f"  FAIL {line}")
    if gone:
        print(f"0 passed, {len(gone)} failed, 0 skipped")
    sys.exit(1 if gone else quick.main())
