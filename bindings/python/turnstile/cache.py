"""A cache of compiled things, for adapters.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import threading


class Cache:
    """The `most` most recently used values by key; from any thread. Two threads that miss at once both make the value, and one of the two is kept."""

    def __init__(self, most):
        self._most = most
        self._values = collections.OrderedDict()
        self._lock = threading.Lock()

    def get(self, key, make):
        """The value of a key; `make` is called, without the lock, where there is none. What it raises is not remembered."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            value = self._values.setdefault(key, value)
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value

    def clear(self):
        with self._lock:
            self._values.clear()
