#!/usr/bin/env python3
"""Masks on a GPU: tests/hosts/python/test_tensors.py, in the environment of the hosts in Python,
with Triton beside it; and what docs/hosts.md shows of it.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import python_hosts  # noqa: E402
from doc_blocks import of_host  # noqa: E402

python_hosts.main(
    "tensors",
    beside="triton",
    variables={"TSL_BLOCK": of_host("docs/hosts.md", "tensors", "python")},
)
