#!/usr/bin/env python3
"""The conan recipe of packaging/conan. A package is made in a cache of its own, with all remotes
off. A project takes the package by CMake.

  create   conan makes the package out of this tree and the sources of build/amalgamation/vendor
  use      a project that requires it finds Turnstile::turnstile, and its program prints what the
           others print

conan is the package of scripts/locks/conan.lock (`./dev fetch conan`).

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys
import tempfile

import platform_checks as platform
from platform_checks import ROOT, check, works

sys.path.insert(0, str(ROOT / "scripts"))
import amalgamate  # noqa: E402
import sources  # noqa: E402

CONAN = ROOT / "build" / "conan" / "venv" / "bin" / "conan"
# Nothing for debuggers, which takes longer.
NO_OPTIONS = {
    "CMAKE_C_FLAGS_DEBUG": {"value": "", "cache": True, "type": "STRING", "docstring": "none"}
}
HOST = """[requires]
turnstile/{version}
[generators]
CMakeDeps
CMakeToolchain
"""
LISTS = """cmake_minimum_required(VERSION 3.18)
project(host C)
find_package(Turnstile CONFIG REQUIRED)
add_executable(consumer consumer.c)
target_link_libraries(consumer PRIVATE Turnstile::turnstile)
"""
PROFILE = """[settings]
arch={arch}
build_type=Debug
compiler=gcc
compiler.libcxx=libstdc++11
compiler.version={version}
os=Linux
[conf]
tools.cmake.cmaketoolchain:generator=Ninja
tools.cmake.cmaketoolchain:extra_variables={no_options}
[buildenv]
CMAKE_C_COMPILER_LAUNCHER={launcher}
"""


def profile():
    import platform as machine
    import shutil

    version = (works("gcc", "gcc", "-dumpversion") or "12").split(".")[0].strip()
    arch = {"x86_64": "x86_64", "aarch64": "armv8"}[machine.machine()]
    return PROFILE.format(
        arch=arch, version=version, launcher=shutil.which("ccache") or "", no_options=NO_OPTIONS
    )


def main():
    if not CONAN.is_file():
        platform.skip("conan is not there: ./dev fetch conan")
        return platform.close()
    amalgamate.amalgamate(ROOT / "build" / "amalgamation", True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        expected = platform.expected(folder)
        # Objects are shared with the target `cmake` of scripts/platforms.py.
        shared = {"CCACHE_BASEDIR": name, "CCACHE_NOHASHDIR": "1"}
        home = {"CONAN_HOME": str(folder / "home"), **shared}
        (folder / "gcc").write_text(profile())
        both = ("-pr:a", folder / "gcc")
        works("no remotes", CONAN, "remote", "disable", "*", **home)
        recipe = ROOT / "packaging" / "conan"
        made = works("conan create", CONAN, "create", recipe, *both, "--no-remote", **home)
        if made is None:
            return platform.close()
        host = folder / "host"
        host.mkdir()
        (host / "conanfile.txt").write_text(HOST.format(version=sources.version()))
        (host / "CMakeLists.txt").write_text(LISTS)
        (host / "consumer.c").write_bytes(platform.CONSUMER.read_bytes())
        install = ("install", host, *both, "--no-remote", f"--output-folder={host}/made")
        steps = [
            ("conan install", [CONAN, *install]),
            (
                "cmake",
                ["cmake", "-G", "Ninja", "-B", host / "out", host, "-DCMAKE_BUILD_TYPE=Debug"]
                + [f"-DCMAKE_TOOLCHAIN_FILE={host}/made/conan_toolchain.cmake"],
            ),
            ("cmake --build", ["cmake", "--build", host / "out"]),
        ]
        if all(works(what, *command, **home) is not None for what, command in steps):
            printed = works("the program", host / "out" / "consumer")
            check(printed == expected, f"it prints {printed!r}, not {expected!r}")
    return platform.close()


if __name__ == "__main__":
    sys.exit(main())
