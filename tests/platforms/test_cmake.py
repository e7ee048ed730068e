#!/usr/bin/env python3
"""Turnstile in projects that use CMake.

  lists    CMakeLists.txt compiles the sources of meson's lists, no more and no fewer
  package  `find_package(Turnstile CONFIG)` finds what CMake configured and installed. A C program
           and the C++17 wrapper are built against it and run. The same holds where meson installed
           it
  wrapper  include/turnstile.hpp compiles without exceptions and RTTI, and does what it says
  vendor   a folder without sources, as TURNSTILE_VENDOR, is an error that says what to do

To save the time of a second compilation, the library of the build folder is put where CMake's would
stand. ./dev test platforms runs CMake's own build (scripts/platforms.py).

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import re
import shutil
import sys
import tempfile

import platform_checks as platform
from platform_checks import BUILD, ROOT, check, run, skip, works

sys.path.insert(0, str(ROOT / "scripts"))
import sources  # noqa: E402

HOST = """cmake_minimum_required(VERSION 3.18)
project(host C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(Turnstile CONFIG REQUIRED)
add_executable(consumer consumer.c)
add_executable(wrapper wrapper.cpp)
target_compile_options(wrapper PRIVATE -fno-exceptions -fno-rtti -Wall -Wextra -Werror)
foreach(program consumer wrapper)
  target_link_libraries(${program} PRIVATE Turnstile::turnstile)
endforeach()
"""


def use_package(prefix, folder, expected, who):
    """Build the host against an installed package, and run it."""
    host = folder / "host"
    host.mkdir()
    (host / "CMakeLists.txt").write_text(HOST)
    for name in ("consumer.c", "wrapper.cpp"):
        shutil.copyfile(ROOT / "tests" / "platforms" / name, host / name)
    configured = works(
        f"{who}: configure", "cmake", "-B", host / "b", host, f"-DCMAKE_PREFIX_PATH={prefix}"
    )
    if configured is None or works(f"{who}: build", "cmake", "--build", host / "b") is None:
        return
    path = ":".join(str(p.parent) for p in prefix.rglob("libturnstile.so"))
    printed = works(f"{who}: consumer", host / "b" / "consumer", LD_LIBRARY_PATH=path)
    check(printed == expected, f"{who}: prints {printed!r}, not {expected!r}")
    printed = works(f"{who}: wrapper", host / "b" / "wrapper", LD_LIBRARY_PATH=path)
    check(printed and re.search(r"^\d+ passed, 0 failed$", printed, re.M), f"{who}: {printed}")


def test_lists(folder):
    configured = works(
        "configure", "cmake", "-B", folder / "b", ROOT, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"
    )
    if configured is None:
        return
    commands = json.loads((folder / "b" / "compile_commands.json").read_text())
    compiled = {str(pathlib.Path(c["file"]).relative_to(ROOT)) for c in commands}
    wanted = set(sources.library())
    check(compiled == wanted, f"CMake's sources differ: {sorted(compiled ^ wanted)[:5]}")
    version = (folder / "b" / "TurnstileConfigVersion.cmake").read_text()
    check(f'set(PACKAGE_VERSION "{sources.version()}")' in version, "the package has our version")


def test_vendor(folder):
    done = run("cmake", "-B", folder / "b", ROOT, f"-DTURNSTILE_VENDOR={folder}")
    check(done.returncode != 0, "a folder without sources is refused")
    check(
        "./dev amalgamate --vendor" in " ".join(done.stderr.split()),
        f"the error says what to do: {done.stderr}",
    )


def test_package(folder):
    expected = platform.expected(folder)
    stage = folder / "stage"
    done = run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", stage)
    if check(done.returncode == 0, f"meson install: {done.stdout}{done.stderr}"):
        prefix = next(stage.rglob("turnstile.h")).parents[1]
        use_package(prefix, folder, expected, "installed by meson")


def main():
    if not shutil.which("cmake") or not shutil.which("g++"):
        skip("cmake or g++ is not installed")
        check(True, "")
        return platform.close()
    for test in (test_lists, test_vendor, test_package):
        with tempfile.TemporaryDirectory() as folder:
            test(pathlib.Path(folder))
    return platform.close()


if __name__ == "__main__":
    sys.exit(main())
