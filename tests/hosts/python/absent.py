"""Modules that are not there and that nobody calls. SGLang imports triton, which it stubs itself on
macOS, and IPython. vLLM imports lmformatenforcer, whatever the backend is.

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
    """Finds such modules where there are none."""

    def __init__(self, names):
        self._names = names

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self._names:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Anything(spec.name)

    def exec_module(self, module):
        pass


def install(*names):
    """`names`: none for triton and IPython. Call it after torch is imported, which would take the
    stubs for the real thing.
    """
    sys.meta_path.append(Absent(names or ("triton", "IPython")))
