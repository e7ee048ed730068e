#!/usr/bin/env python3
"""What is linked is hardened: no executable stack, relocations read-only and bound at load, no text
relocations. The programs are position independent. Functions guard their frames, and calls of the C
library check sizes where these are known.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))


def readelf(flags, path):
    return subprocess.run(
        ["readelf", flags, str(path)], check=True, capture_output=True, text=True
    ).stdout


def main():
    if not shutil.which("readelf"):
        print("  skipped: there is no readelf\n0 passed, 0 failed, 1 skipped")
        return 0
    passed = failed = 0
    for name in ("libturnstile.so", "turnstile"):
        path = BUILD / name
        segments, dynamic, header = readelf("-lW", path), readelf("-dW", path), readelf("-hW", path)
        stack = re.search(r"GNU_STACK.*?\s([RWE]+)\s+0x\w+$", segments, re.M)
        imports = subprocess.run(
            ["nm", "--dynamic", "--undefined-only", str(path)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        checks = {
            "frames are guarded": "__stack_chk_fail" in imports,
            "sizes are checked where they are known": re.search(
                r"__\w+_chk\b", imports.replace("__stack_chk_fail", "")
            )
            is not None,
            "the stack is not executable": stack is not None and "E" not in stack[1],
            "relocations are read-only after loading": "GNU_RELRO" in segments,
            "everything is bound at load": "BIND_NOW" in dynamic or "Flags: NOW" in dynamic,
            "no text relocations": "TEXTREL" not in dynamic,
            "position independent": re.search(r"Type:\s+DYN", header) is not None,
            "no segment is writable and executable": not re.search(r"LOAD.*\sRWE\s", segments),
        }
        for what, fine in checks.items():
            print(f"  {'ok  ' if fine else 'FAIL'} {name}: {what}")
            passed += fine
            failed += not fine
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
