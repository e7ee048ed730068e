"""Which cases of a dear test have their turn in this run (docs/testing.md): the same as
tsl_test_turn in check.h, for tests in Python.

SPDX-License-Identifier: Apache-2.0
"""

import os


def number():
    """The number of this run, which tests/run.py sets; None without one."""
    share = os.environ.get("TSL_SHARE")
    return None if share is None else int(share)


def turn(case, of):
    """Is it the turn of this case? A run of all tests takes one of `of` cases in a row, and a run
    with another number takes others. Without a number each case has its turn.
    """
    return number() is None or (case + number()) % of == 0
