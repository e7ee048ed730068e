"""Modules that are not there and that nobody calls: triton, which SGLang itself stubs on macOS, and
IPython.

SPDX-License-Identifier: Apache-2.0
"""

import importlib.machinery
import sys
import types


class Anything(types.ModuleType):
    """A module of which every name can be imported, called, and used as a decorator."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name)

    def __call__(self, *args, **kwargs):
        return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else self


class Absent:
    """Finds triton and IPython where there are none."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("triton", "IPython"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Anything(spec.name)

    def exec_module(self, module):
        pass


def install():
    """Call it after torch is imported, which would take the stubs for the real thing."""
    sys.meta_path.append(Absent())
