#!/usr/bin/env python3
"""CTranslate2: tests/hosts/python/test_ctranslate2.py, in the environment of runtimes without
torch.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import runtimes

runtimes.main("ctranslate2")
