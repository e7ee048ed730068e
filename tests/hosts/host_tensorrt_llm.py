#!/usr/bin/env python3
"""TensorRT-LLM's contract for logits processors: tests/hosts/python/test_tensorrt_llm.py, in the
environment of the hosts in Python. TensorRT-LLM itself needs a GPU and is not installed.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import python_hosts  # noqa: E402

python_hosts.main("tensorrt_llm")
