#!/usr/bin/env python3
"""How scripts/wheels.py treats objects. A program stands in for zig, so this takes a second.

  kept   an object that is newer than its source is kept
  ended  a compiler that is ended while it writes leaves no object
  time   a DLL that was linked at another time has the same bytes
  again  after forget() all is compiled anew, by commands that zig never ran

scripts/platforms.py makes and tries the wheels themselves (`./dev test platforms wheels`).

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import io
import pathlib
import sys
import tempfile

import platform_checks as platform
from platform_checks import ROOT, check

sys.path.insert(0, str(ROOT / "scripts"))
import wheels  # noqa: E402

TARGET = "x86_64-linux-gnu.2.17"
# It writes the file after -o, notes its words, and fails where the file `broken` is there.
STAND_IN = """#!{python}
import pathlib, sys
folder = pathlib.Path(__file__).parent
words = sys.argv[1:]
pathlib.Path(words[words.index("-o") + 1]).write_text("half")
with open(folder / "commands", "a") as file:
    print(*words, file=file)
sys.exit((folder / "broken").exists())
"""


def made(source, folder):
    """Make the extension: did that work?"""
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            return wheels.extension(TARGET, source, folder).is_file()
        except SystemExit:
            return False


def dll(time):
    """The beginning of a DLL that was linked at a time."""
    header = b"PE\0\0" + b"\x64\x86" + b"\6\0" + time.to_bytes(4, "little") + b"rest"
    return b"MZ" + bytes(58) + (128).to_bytes(4, "little") + bytes(64) + header


def commands(folder):
    """The words of each command since the last call that compiled a source."""
    file = folder / "commands"
    found = [line for line in file.read_text().splitlines() if " -c " in line]
    file.write_text("")
    return found


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source, out = folder / "source", folder / TARGET
        for part in ("vendor/pcre2", "vendor/yajl", "vendor/include"):
            (source / part).mkdir(parents=True)
        for file in ("turnstile.c", "turnstile.h", "vendor/yajl/yajl.c"):
            (source / file).write_text("")
        out.mkdir()
        zig = folder / "zig"
        zig.write_text(STAND_IN.format(python=sys.executable))
        zig.chmod(0o755)
        wheels.OUT, wheels.ZIG = folder, zig
        count = 2 + len(wheels.listed("python_sources"))

        (folder / "broken").touch()
        check(not made(source, out), "a compiler that fails is noticed")
        check(not list(out.glob("*.o")), f"it leaves {list(out.glob('*.o'))}")
        (folder / "broken").unlink()
        commands(folder)
        check(made(source, out), "the extension is made")
        first = commands(folder)
        check(len(first) == count, f"{len(first)} of {count} sources are compiled")
        check(made(source, out) and not commands(folder), "all objects are kept")
        (out / "source-turnstile.o").unlink()
        check(made(source, out) and len(commands(folder)) == 1, "one is made anew")

        check(wheels.timeless(dll(2**31)) == dll(0), "a DLL has the time 0, and is else the same")

        wheels.forget([TARGET])
        out.mkdir()
        check(made(source, out), "the extension is made again")
        again = commands(folder)
        check(len(again) == count, f"{len(again)} of {count} sources are compiled again")
        check(not set(first) & set(again), "no command is one that was run before")
    return platform.close()


if __name__ == "__main__":
    sys.exit(main())
