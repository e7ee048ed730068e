#!/usr/bin/env python3
"""SGLang: tests/hosts/python/test_sglang.py, in the environment of the hosts in Python.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import python_hosts

python_hosts.main("sglang")
