"""Counts of checks, for tests in Python: each failed one is printed, and the counts at the end.

SPDX-License-Identifier: Apache-2.0
"""

import sys

passed = failed = skipped = 0


def check(good, *what):
    """Counts one check; `what` is printed where it fails. Returns `good`."""
    global passed, failed
    passed += bool(good)
    failed += not good
    if not good:
        print("FAILED:", *what, file=sys.stderr)
    return good


def skip(*why):
    """Counts a part of the test that cannot run here."""
    global skipped
    skipped += 1
    print("  skipped:", *why)


def finish():
    """Prints the counts. The exit status of the test: 0 if checks passed and none failed."""
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0 or passed == 0
