#!/usr/bin/env python3
"""The version stands in one place: project() in meson.build.

The library's file name, turnstile.pc, the Python package and the bill of materials take it from
there. What no build writes is compared here:

  header    TSL_VERSION_MAJOR, _MINOR and _PATCH in include/turnstile.h, from which tsl_version() is
            made
  packages  bindings/node/package.json, the crates in bindings/rust and their lock file,
            bindings/java/pom.xml
  python    pyproject.toml names no version: meson-python asks meson
  library   the shared library says the same number
  log       CHANGELOG.md has a section for it; before a release that is "Unreleased", and names it

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))

results = []


def check(condition, what):
    results.append(bool(condition))
    if not condition:
        print(f"  failed: {what}")


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def project_version():
    return re.search(
        r"^project\('turnstile',.*?\bversion: '([0-9.]+)'", text_of("meson.build"), re.M | re.S
    )[1]


def found(name, text):
    """Every version of Turnstile's own that a file names."""
    if name.endswith(".h"):
        return [
            ".".join(
                re.search(rf"^#define TSL_VERSION_{part} (\d+)$", text, re.M)[1]
                for part in ("MAJOR", "MINOR", "PATCH")
            )
        ]
    if name.endswith(".json"):
        return [json.loads(text)["version"]]
    if name.endswith("pom.xml"):  # the first is the package's, the others are what it stands on
        return re.findall(r"^  <version>(.*)</version>", text, re.M)
    if name.endswith(".lock"):
        return re.findall(
            r'^name = "turnstile-llm(?:-sys|-types)?"\nversion = "([^"]+)"', text, re.M
        )
    return re.findall(r'^version = "([^"]+)"', text, re.M) + re.findall(
        r'^turnstile(?:-sys)? = .*\bversion = "([^"]+)"', text, re.M
    )


FILES = {
    "include/turnstile.h": 1,
    "bindings/node/package.json": 1,
    "bindings/java/pom.xml": 1,
    "bindings/rust/turnstile-sys/Cargo.toml": 1,
    "bindings/rust/turnstile/Cargo.toml": 3,
    "bindings/rust/Cargo.lock": 2,
    "bindings/rust/turnstile-types/Cargo.toml": 2,
    "bindings/rust/turnstile-types/Cargo.lock": 3,
}


def main():
    version = project_version()
    check(
        re.fullmatch(r"\d+\.\d+\.\d+", version), f"meson.build: {version} is not MAJOR.MINOR.PATCH"
    )
    check(
        found(
            "a.h",
            "#define TSL_VERSION_MAJOR 4\n#define TSL_VERSION_MINOR 5\n#define TSL_VERSION_PATCH "
            "6\n",
        )
        == ["4.5.6"],
        "self check: a header",
    )
    check(
        found(
            "Cargo.toml",
            'version = "4.5.6"\nturnstile-sys = { package = "y", path = "x", version = "7.8.9" }\n',
        )
        == ["4.5.6", "7.8.9"],
        "self check: a crate",
    )
    for name, count in FILES.items():
        versions = found(name, text_of(name))
        check(
            len(versions) == count and set(versions) == {version},
            f"{name}: {versions}, but meson.build says {version}",
        )
    project = text_of("pyproject.toml")
    check(
        'dynamic = ["version"]' in project and not re.search(r"^version\s*=", project, re.M),
        "pyproject.toml takes its version from meson",
    )
    log = text_of("CHANGELOG.md")
    unreleased = re.search(r"^## \[Unreleased\]\n\n.*\bversion ([\d.]+\d)", log, re.M)
    check(
        f"\n## [{version}]" in log or (unreleased and unreleased[1] == version),
        f"CHANGELOG.md has a section [{version}], or one [Unreleased] that names it",
    )
    shared = BUILD / "libturnstile.so"
    if shared.is_file():
        library = ctypes.CDLL(str(shared))
        library.tsl_version.restype = ctypes.c_char_p
        check(
            library.tsl_version() == version.encode(), f"{shared.name} says {library.tsl_version()}"
        )
    skipped = 0 if shared.is_file() else 1
    if skipped:
        print(f"  skipped: {shared} is not there")
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, {skipped} skipped")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
