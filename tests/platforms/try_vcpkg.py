#!/usr/bin/env python3
"""The port of packaging/vcpkg, carried out without vcpkg.

vcpkg runs a port's portfile.cmake as a script of CMake, in which it has defined functions. CALLS
defines the few that ours calls, as vcpkg's manual describes them:

  configure, install    `cmake -B`, with the package's folder as prefix; `cmake --install`
  config_fixup          the package's CMake files go to share/NAME, two folders below the prefix
  install_copyright     the licence is share/PORT/copyright

The libraries that the port names come from the system, and the library is compiled without
optimisation. A project then finds the package, and prints what the others print. Whether vcpkg
itself takes the port is not tried: there is none here.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile

import platform_checks as platform
from platform_checks import ROOT, check, skip, works

PORT = ROOT / "packaging" / "vcpkg" / "turnstile"
CALLS = r"""
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGV}")
  endif()
endfunction()
function(vcpkg_cmake_configure)
  cmake_parse_arguments(given "" "SOURCE_PATH" "OPTIONS" ${ARGV})
  run(${CMAKE_COMMAND} -G Ninja -S ${given_SOURCE_PATH} -B ${BUILD} -DCMAKE_BUILD_TYPE=None
    -DCMAKE_C_COMPILER_LAUNCHER=${LAUNCHER} -DBUILD_SHARED_LIBS=OFF
    -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} ${given_OPTIONS})
endfunction()
function(vcpkg_cmake_install)
  run(${CMAKE_COMMAND} --build ${BUILD} -j2)
  run(${CMAKE_COMMAND} --install ${BUILD})
endfunction()
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(given "" "PACKAGE_NAME;CONFIG_PATH" "" ${ARGV})
  set(share ${CURRENT_PACKAGES_DIR}/share)
  file(MAKE_DIRECTORY ${share})
  file(RENAME ${CURRENT_PACKAGES_DIR}/${given_CONFIG_PATH} ${share}/${given_PACKAGE_NAME})
  set(up "get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\n")
  file(GLOB files ${share}/${given_PACKAGE_NAME}/*.cmake)
  foreach(file IN LISTS files)
    file(READ ${file} text)
    string(REPLACE "${up}${up}${up}" "${up}${up}" text "${text}")
    string(REPLACE "/../../../" "/../../" text "${text}")
    file(WRITE ${file} "${text}")
  endforeach()
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(given "" "" "FILE_LIST" ${ARGV})
  configure_file(${given_FILE_LIST} ${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright COPYONLY)
endfunction()
include(${CURRENT_PORT_DIR}/portfile.cmake)
"""
HOST = """cmake_minimum_required(VERSION 3.18)
project(host C)
find_package(Turnstile CONFIG REQUIRED)
add_executable(consumer {consumer})
target_link_libraries(consumer PRIVATE Turnstile::turnstile)
"""


def main():
    if not shutil.which("cmake"):
        skip("cmake is not installed")
        return platform.close()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        expected = platform.expected(folder)
        made = folder / "packages"
        (folder / "calls.cmake").write_text(CALLS)
        given = {
            "PORT": json.loads((PORT / "vcpkg.json").read_text())["name"],
            "CURRENT_PORT_DIR": PORT,
            "CURRENT_PACKAGES_DIR": made,
            "BUILD": folder / "build",
            "LAUNCHER": shutil.which("ccache") or "",
        }
        options = [f"-D{key}={value}" for key, value in given.items()]
        if works("the portfile", "cmake", *options, "-P", folder / "calls.cmake") is None:
            return platform.close()
        files = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
        wanted = {
            "include/turnstile.h",
            "lib/libturnstile.a",
            "share/turnstile/copyright",
            "share/Turnstile/TurnstileConfig.cmake",
        }
        check(wanted <= files, f"the package lacks {sorted(wanted - files)}")
        below = {name.split("/")[0] for name in files}
        check(below <= {"include", "lib", "share"}, f"the package has {sorted(below)}")
        check(not [n for n in files if n.startswith("lib/cmake")], "no CMake files stay in lib")
        moved = folder / "moved"  # the package finds itself wherever it is
        os.rename(made, moved)
        host = folder / "host"
        host.mkdir()
        (host / "CMakeLists.txt").write_text(HOST.format(consumer=platform.CONSUMER))
        steps = [
            ["cmake", "-B", host / "out", host, f"-DCMAKE_PREFIX_PATH={moved}"],
            ["cmake", "--build", host / "out"],
        ]
        if all(works("a project", *step) is not None for step in steps):
            printed = works("the program", host / "out" / "consumer")
            check(printed == expected, f"it prints {printed!r}, not {expected!r}")
    return platform.close()


if __name__ == "__main__":
    sys.exit(main())
