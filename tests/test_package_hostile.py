#!/usr/bin/env python3
"""The Python package against programs that are wrong or that mean harm: sizes that overflow, numbers that do not fit, arguments that run code, forks, cycles.

SPDX-License-Identifier: Apache-2.0
"""
import array
import gc
import os
import pathlib
import signal
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))
sys.path.insert(0, str(BUILD / "bindings" / "python"))
results = []


def check(condition, what):
    results.append(bool(condition))
    if not condition:
        print(f"  failed: {what}")


def raises(kind, call, what):
    try:
        value = call()
    except BaseException as error:  # whatever it is, it is compared
        check(type(error) is kind, f"{what}: {type(error).__name__} {error}")
        return error
    check(False, f"{what}: returned {value!r}")


try:
    import turnstile as T
except ImportError:
    print(f"  skipped: there is no Python package in {BUILD}: it was configured without -Dpython=true")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

vocab = T.Vocab.embedded()
words = vocab.mask_words


def regex(pattern):
    return T.Grammar.regex(vocab, pattern)


def zeros(rows=1):
    return memoryview(bytearray(4 * rows * words)).cast("I", (rows, words))


def test_sizes():
    """A size times that of an element is not a small number again."""
    matcher = regex("abc").matcher()
    for n in (2 ** 62, 2 ** 62 + 3, 2 ** 63 - 1):
        many = range(n)
        raises(MemoryError, lambda: matcher.validate(many), "validate")
        raises(MemoryError, lambda: matcher.accept_tokens(many), "accept_tokens")
        raises(MemoryError, lambda: T.mask_drafts(matcher, many, zeros()), "mask_drafts")
        raises(MemoryError, lambda: T.draft_forced(matcher, many), "draft_forced")
        raises(MemoryError, lambda: T.draft_forced(matcher, [], capacity=n), "the capacity of draft_forced")
        raises(MemoryError, lambda: T._core.Vocab._load_memory(b"{}", None, 0, many, None), "the tokens that end a generation")
        raises(MemoryError, lambda: T.Sampler(allowed=many), "a sampler's lists")


class Number:
    """A number that runs code when it is read."""

    def __init__(self, run, value=1):
        self._run, self._value = run, value

    def __float__(self):
        self._run()
        return float(self._value)

    def __index__(self):
        self._run()
        return self._value


def test_growing():
    """Collections that grow or shrink while they are read."""
    bias = {}
    bias[0] = Number(lambda: bias.update((i, 1.0) for i in range(1, 100000)))
    check(T.Sampler(bias=bias) and len(bias) == 100000, "a dict that grows: what it held in the beginning counts")


for test in (test_sizes, test_growing):
    test()
print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
sys.exit(not all(results))
