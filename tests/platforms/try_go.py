#!/usr/bin/env python3
"""The package for Go: scripts/bundle.py puts the C sources beside it, and `go vet` and `go test`
compile and try it, without optimisation. Go's cache of builds is used, so that sources that are the
same are compiled once.

SPDX-License-Identifier: Apache-2.0
"""

import re
import shutil
import sys

import platform_checks as platform
from platform_checks import ROOT, check, run, skip, works

sys.path.insert(0, str(ROOT / "scripts"))
import bundle  # noqa: E402


def main():
    if not shutil.which("go"):
        skip("go is not installed")
        return platform.close()
    folder = bundle.go(ROOT / "build" / "go")
    formatted = run("gofmt", "-l", ".", cwd=ROOT / "bindings" / "go").stdout
    check(not formatted, f"gofmt would change {formatted}")
    environment = {"CGO_CFLAGS": "-O0", "CGO_ENABLED": "1", "GOFLAGS": "-mod=mod -p=2"}
    said = works("go test", "go", "test", "-v", ".", cwd=folder, **environment) or ""
    passed = re.findall(r"^--- PASS: (\w+)", said, re.M)
    check(len(passed) >= 3, f"tests that passed: {passed}")
    works("go vet", "go", "vet", ".", cwd=folder, **environment)
    return platform.close()


if __name__ == "__main__":
    sys.exit(main())
