#!/usr/bin/env python3
"""The instructions of fixed workloads against the stored baseline: bench/quick.py as a test.

Before that: every pattern in scripts/mutate.py that excuses mutants still fits the code.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "scripts")]

import mutate  # noqa: E402 - the folders are no packages
import quick  # noqa: E402

if __name__ == "__main__":
    gone = mutate.check_equivalent()
    for line in gone:
        print(f"  FAIL {line}")
    if gone:
        print(f"0 passed, {len(gone)} failed, 0 skipped")
    sys.exit(1 if gone else quick.main())
