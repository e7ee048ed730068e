#!/usr/bin/env python3
"""The instructions of fixed workloads against the stored baseline: bench/quick.py as a test.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import quick  # noqa: E402 - the folder is not a package

if __name__ == "__main__":
    sys.exit(quick.main())
