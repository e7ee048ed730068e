#!/usr/bin/env python3
"""The stand-ins for llguidance and XGrammar: tests/hosts/python/test_compat.py, in the environment
of the hosts in Python.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import python_hosts  # noqa: E402
from doc_blocks import of_host  # noqa: E402

python_hosts.main("compat", variables={"TSL_BLOCK": of_host("docs/switch.md", "compat", "python")})
