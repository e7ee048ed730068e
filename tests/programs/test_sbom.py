#!/usr/bin/env python3
"""The bill of materials (scripts/sbom.py) is true. It names every library that the shared library
and the programs need, and no other. The checksums are those of the files. Made twice it is the
same. Nothing that was built names the folder in which it was built.

SPDX-License-Identifier: Apache-2.0
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))
SYSTEM = {"libc", "libm", "libpthread", "ld-linux-x86-64", "ld-linux-aarch64"}
results = []


def check(condition, what):
    results.append(bool(condition))
    print(f"  {'ok  ' if condition else 'FAIL'} {what}")


def make():
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "sbom.py"), str(BUILD)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def needed(path):
    out = subprocess.run(
        ["readelf", "-dW", str(path)], check=True, capture_output=True, text=True
    ).stdout
    return {name.split(".so")[0] for name in re.findall(r"NEEDED.*\[(.*?)\]", out)} - SYSTEM


def main():
    if not shutil.which("readelf") or not shutil.which("pkg-config"):
        print("  skipped: there is no readelf or no pkg-config\n0 passed, 0 failed, 1 skipped")
        return 0
    options = json.loads((BUILD / "meson-info" / "intro-buildoptions.json").read_text())
    debug = any(
        o["name"] == "debug" and o["value"] for o in options
    )  # debug information names sources
    text = make()
    bill = json.loads(text)
    check(text == make(), "made twice it is the same")
    for name, of in (
        ("libturnstile.so", ["turnstile"]),
        ("turnstile", ["turnstile", "file-turnstile"]),
    ):
        linked = {
            r["relatedSpdxElement"].removeprefix("SPDXRef-")
            for r in bill["relationships"]
            if r["relationshipType"] == "DYNAMIC_LINK"
            and r["spdxElementId"].removeprefix("SPDXRef-") in of
        }
        libraries = {part if part.startswith("lib") else "lib" + part for part in linked}
        if (BUILD / name).exists():
            check(
                needed(BUILD / name) == libraries,
                f"{name} needs {', '.join(sorted(libraries))}: "
                f"{', '.join(sorted(needed(BUILD / name)))}",
            )
    check(
        all(p["versionInfo"] and p["licenseDeclared"] for p in bill["packages"]),
        f"{len(bill['packages'])} packages have a version and a licence",
    )
    for file in bill["files"]:
        data = (BUILD / file["fileName"]).read_bytes()
        check(
            file["checksums"][0]["checksumValue"] == hashlib.sha256(data).hexdigest(),
            f"the checksum of {file['fileName']}",
        )
        if not debug and file["fileName"] != "libturnstile.a":
            check(
                str(ROOT).encode() not in data,
                f"{file['fileName']} does not name the folder that it was built in",
            )
    ids = {p["SPDXID"] for p in bill["packages"] + bill["files"]} | {"SPDXRef-DOCUMENT"}
    check(
        all(
            r["spdxElementId"] in ids and r["relatedSpdxElement"] in ids
            for r in bill["relationships"]
        ),
        "relations are between what is listed",
    )
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, 0 skipped")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
