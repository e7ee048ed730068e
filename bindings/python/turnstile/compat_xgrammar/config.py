"""xgrammar.config: the depth of recursion, which has no meaning here, and the version of stored
objects.

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
from typing import Iterator

from turnstile import _core

_DEPTH = [10000]


def get_max_recursion_depth() -> int:
    """What set_max_recursion_depth was given. The library does not recurse, so nothing reads it."""
    return _DEPTH[0]


def set_max_recursion_depth(max_recursion_depth: int) -> None:
    """Keep a depth from 1 to 1,000,000, for get_max_recursion_depth."""
    if not 1 <= max_recursion_depth <= 1_000_000:
        raise ValueError(f"the depth is from 1 to 1,000,000, not {max_recursion_depth}")
    _DEPTH[0] = max_recursion_depth


@contextlib.contextmanager
def max_recursion_depth(temp_depth: int) -> Iterator[None]:
    """A depth for the duration of a with statement."""
    before = get_max_recursion_depth()
    set_max_recursion_depth(temp_depth)
    try:
        yield
    finally:
        set_max_recursion_depth(before)


def get_serialization_version() -> str:
    """The version of what serialize_json writes. XGrammar's own texts have another one."""
    return f"turnstile {_core.version}"
