#!/usr/bin/env python3
"""Ray: tests/hosts/python/test_ray.py, in an environment of its own with Ray Data and Ray Serve.

A short form runs among the hosts. host_ray.py --prompts 20000 is the whole job, with its figures.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common  # noqa: E402

PYTHON = common.venv("ray")
lines = common.program(
    [PYTHON, "tests/hosts/python/test_ray.py", *sys.argv[1:]],
    env={
        **os.environ,
        "PYTHONPATH": str(common.BUILD / "bindings" / "python"),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_DEDUP_LOGS": "1",
        # Ray lowers its workers' priority by 15. Beside other programs the actors that count the
        # cluster's resources then starve, and Ray Data waits: "resources are not enough".
        "RAY_worker_niceness": "0",
    },
)
counts = {"passed": 0, "failed": 0, "skipped": 0}
common.add(counts, lines)
common.end(counts, lines[-2])
