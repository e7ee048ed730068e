"""A cache of compiled things, for adapters. Grammars of JSON Schemas, regular expressions and GBNF
have one in the library too (turnstile.Cache); this one also holds vocabularies and grammars of
tags. Its keys are the requests' own texts, before anything is made of them.

SPDX-License-Identifier: Apache-2.0
"""

import collections
import threading


class Cache:
    """The most recently used values by key; from any thread. Two threads that miss at once both
    make the value, and one of the two is kept.

    At most `most` values are held. Where `size` measures a value in bytes, all together have at
    most `max_bytes`. Each value is measured whenever it is given out, as grammars grow while they
    are used. The one that is given out is kept, however large it is.
    """

    def __init__(self, most, max_bytes=None, size=None):
        self._most, self._max_bytes, self._size = most, max_bytes, size
        self._values = collections.OrderedDict()
        self._sizes = {}
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key, make):
        """The value of a key; `make` is called, without the lock, where there is none. What it
        raises is not remembered.
        """
        with self._lock:
            if key in self._values:
                return self._use(key)
        value = make()
        with self._lock:
            self._values.setdefault(key, value)
            return self._use(key)

    def _use(self, key):
        value = self._values[key]
        self._values.move_to_end(key)
        if self._size:
            size = self._size(value)
            self._bytes += size - self._sizes.get(key, 0)
            self._sizes[key] = size
        while len(self._values) > self._most or (
            len(self._values) > 1 and self._max_bytes is not None and self._bytes > self._max_bytes
        ):
            oldest, _ = self._values.popitem(last=False)
            self._bytes -= self._sizes.pop(oldest, 0)
        return value

    @property
    def bytes_held(self):
        """Bytes of the values, as they were measured last."""
        return self._bytes

    def clear(self):
        with self._lock:
            self._values.clear()
            self._sizes.clear()
            self._bytes = 0
