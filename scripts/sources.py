"""The sources of the library, read from the lists in the meson.build of each room.

Those lists are the one place where a source is named. The amalgamation, the wheels and
CMakeLists.txt read them too (CMakeLists.txt by itself).

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import shutil

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUBDIR = re.compile(r"^subdir\('(\w+)'\)$", re.M)
SOURCE = re.compile(r"'([\w/]+\.c)'")
WITHOUT_COMPILER = {"alone.c"}  # what stands in for the compiler where there is none


def of_folder(folder):
    """The sources of one room, in the order of its list."""
    text = (ROOT / folder / "meson.build").read_text(encoding="utf-8")
    return [f"{folder}/{name}" for name in SOURCE.findall(text)]


def library():
    """All sources of the library with its compiler, rooms in their order."""
    found = []
    for part in ("runtime", "compiler"):
        text = (ROOT / part / "meson.build").read_text(encoding="utf-8")
        for room in SUBDIR.findall(text):
            found += of_folder(f"{part}/{room}")
    return [path for path in found if pathlib.PurePosixPath(path).name not in WITHOUT_COMPILER]


def version():
    text = (ROOT / "meson.build").read_text(encoding="utf-8")
    return re.search(r"version: '([^']+)'", text).group(1)


def write_if_new(made, kept):
    """Copy a folder; a file that is the same keeps its time, so that its objects stay."""
    for file in sorted(path for path in made.rglob("*") if path.is_file()):
        old = kept / file.relative_to(made)
        if not old.is_file() or old.read_bytes() != file.read_bytes():
            old.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, old)
