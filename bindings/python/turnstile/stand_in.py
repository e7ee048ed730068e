"""One package under the name of another, for programs whose imports cannot be changed.

Problem   A host imports a library by name, in files that are not ours.
Idea      A finder in front of Python's own answers for that name. What it loads is replaced by the
          module of this package before anybody sees it.
Example   After stand_in("xgrammar", "turnstile.compat_xgrammar", ["testing"]), `import
          xgrammar.testing` gives turnstile.compat_xgrammar.testing.
Tested by tests/package/test_package_compat.py

SPDX-License-Identifier: Apache-2.0
"""

import importlib
import importlib.abc
import importlib.machinery
import sys
from typing import Any, Sequence


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, name: str, package: str, modules: Sequence[str]):
        self._names = {name: package, **{f"{name}.{one}": f"{package}.{one}" for one in modules}}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname not in self._names:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def exec_module(self, module: Any) -> None:
        name = module.__name__
        sys.modules[name] = importlib.import_module(self._names[name])


def stand_in(name: str, package: str, modules: Sequence[str]) -> None:
    """From here on `import NAME` gives `package` in this process, and so do its `modules`. Doing so
    twice is doing so once. RuntimeError: NAME has been imported already.
    """
    there = sys.modules.get(name)
    if there is None:
        sys.meta_path.insert(0, _Finder(name, package, modules))
    elif there.__name__ != package:
        raise RuntimeError(f"{name} is imported already: call stand_in() before")
