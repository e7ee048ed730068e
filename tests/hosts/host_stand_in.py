#!/usr/bin/env python3
"""The stand-ins under the libraries' own names: tests/hosts/python/test_stand_in.py, in the
environment of the hosts in Python.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import python_hosts  # noqa: E402

python_hosts.main("stand_in")
