"""The runtimes without torch: an environment with their packages, in which the tests of
tests/hosts/python run one after another. The scripts host_*.py call it.

build/hosts/runtimes is a virtual environment with the packages of scripts/hosts/runtimes.lock
(CPython 3.11, x86-64 Linux), which pip checks against their hashes. This tree's package is the one
that the build folder has.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common

LIMIT = 900  # seconds of one test; some twenty on an idle machine, much more on a busy one


def variables(folder, built=common.BUILD):
    """The environment of a test: where models are made, the package, no network."""
    return {
        **os.environ,
        "TSL_VOCABS": str(common.BUILD / "vocabs"),
        "TSL_HOSTS": str(folder),
        "PYTHONPATH": str(built / "bindings" / "python"),
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONWARNINGS": "ignore",
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


def main(name):
    """Run tests/hosts/python/test_NAME.py; what the host logs is shown only if the test fails."""
    python = common.venv("runtimes")
    if not (common.BUILD / "bindings" / "python" / "turnstile" / "_core.abi3.so").is_file():
        common.missing("the Python package; ./dev build builds it")
    script = common.ROOT / "tests" / "hosts" / "python" / f"test_{name}.py"
    try:
        done = subprocess.run(
            [str(python), str(script)],
            cwd=common.ROOT,
            env=variables(common.BUILD / "hosts" / "runtimes"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        sys.exit(f"{name} ran past its limit of {LIMIT} s")
    if done.returncode:
        print("\n".join(done.stderr.rstrip().splitlines()[-30:]), file=sys.stderr)
    print(done.stdout, end="")
    sys.exit(done.returncode)
