#!/usr/bin/env python3
"""How much of the code is comment, and how large files, lines and folders are.

    scripts/shares.py [--check]

A room is a folder of runtime/ or compiler/. For each room it prints the share of comments in the .c
files and in the headers (bytes of comments / bytes). It prints the lines of code (neither blank nor
only comment) and the longest line. Then come each file's share, the files of over 700 lines, and
the number of files in each folder. Made data (tables that a script writes) is left out.

--check prints only what is past a limit, and ends with status 1 if there is anything:

  files in a folder          at most 35, data of tests, fuzzing and documents aside
  lines in a file            at most 700, include/turnstile.h aside
  columns in a line          at most 100, of C, C++, Python, Rust and shell. prettier breaks the
                             lines of JavaScript where it can: text with ${...} it cannot
  comments in .c files       at least 20 % of the bytes of each room
  comments in the headers    at least 50 % of the bytes of each room

A .c file whose first line says "see X.h" has its essay in that header, as in RE2. There the essay
serves those who call as well. The header's first comment then counts with the .c file, too. Such a
.c file still has a worked example of its own where the code needs one.

A header whose name ends in _lanes.h counts as a .c file: it holds functions, which the file of each
instruction set includes.

A room that is not there yet has a floor of its own in FLOORS: about the share that it has reached.
Floors only rise. Whoever adds comments to such a room raises its floor, and takes the room out of
FLOORS when it has reached its goal.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import subprocess
import sys
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES, LINES, COLUMNS = 35, 700, 100
SHARES = {".c": 20, ".h": 50}  # percent
# Rooms below these goals, and the percents that they do not fall below.
FLOORS = {}
MADE = re.compile(r"_data\.[ch]$|/metaschemas\.c$|/presets\.c$|/nfc_expected\.h$")
# Headers that hold the functions of several .c files: code, not an interface.
BODY = re.compile(r"_lanes\.h$")
LONG = {"include/turnstile.h"}
DATA = re.compile(r"^(tests/cases|fuzz/corpus|docs|schemas)(/|$)")
SOURCES = re.compile(r"\.(c|h|cpp|hpp|def|py|pyi|rs|js|ts|css)$|^dev$|^\.ci/run$")
BREAKABLE = re.compile(r"\.(c|h|cpp|hpp|py|pyi|rs)$|^dev$|^\.ci/run$")
# A comment, or what only looks like one: a string or a character.
TOKEN = re.compile(r'(/\*.*?\*/|//[^\n]*)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def comments(text):
    """The comments of a text in C."""
    return [match[1] for match in TOKEN.finditer(text) if match[1]]


def code(text):
    """The lines of a text in C that are neither blank nor only comment."""
    bare = TOKEN.sub(lambda match: " " if match[1] else match[0], text)
    return sum(1 for line in bare.split("\n") if line.strip())


def size(text):
    return len(text.encode())


class Count:
    """Bytes of comments, bytes and lines of code of some files."""

    def __init__(self):
        self.comments = self.bytes = self.code = self.longest = 0

    def add(self, text):
        self.comments += sum(size(comment) for comment in comments(text))
        self.bytes += size(text)
        self.code += code(text)
        self.longest = max([self.longest, *map(len, text.split("\n"))])

    def add_comment(self, comment):
        """A comment that stands elsewhere, and speaks of this code."""
        self.comments += size(comment)
        self.bytes += size(comment)

    def share(self):
        return 100 * self.comments / self.bytes if self.bytes else 0.0


def room(name):
    """runtime/walk of runtime/walk/walk.c; None for a file that is in no room."""
    parts = name.split("/")
    return "/".join(parts[:2]) if parts[0] in ("runtime", "compiler") and len(parts) > 2 else None


def essay(name, texts):
    """The comment that a .c file's first line refers to: "see X.h", beside it or from the root."""
    found = re.match(r"/\* [^\n]*\bsee ([\w/]+\.h)", texts[name])
    if not found or not name.endswith(".c"):
        return ""
    beside = str(pathlib.PurePosixPath(name).parent / found[1])
    return comments(texts.get(beside) or texts.get(found[1]) or "/**/")[0]


def rooms(texts):
    """{room: {".c": Count, ".h": Count}} of texts by the names of their files."""
    found = {}
    for name, text in texts.items():
        kind = ".c" if BODY.search(name) else pathlib.PurePath(name).suffix
        if room(name) and kind in SHARES and not MADE.search(name):
            count = found.setdefault(room(name), {}).setdefault(kind, Count())
            count.add(text)
            count.add_comment(essay(name, texts))
    return found


def folders(names):
    """How many files each folder has, data aside."""
    return Counter(
        str(pathlib.PurePosixPath(name).parent) for name in names if not DATA.match(name)
    )


def long_files(texts):
    """[(lines, name)] of the sources that are too long, the longest first."""
    counts = [(text.count("\n"), name) for name, text in texts.items() if name not in LONG]
    return sorted((c for c in counts if c[0] > LINES and not MADE.search(c[1])), reverse=True)


def complaints(names, texts, floors=FLOORS):
    """What is past a limit, a line each. `names`: all files of the tree; `texts`: the sources."""
    for folder, number in sorted(folders(names).items()):
        if number > FILES:
            yield f"{folder}/ has {number} files, more than {FILES}: split it into folders"
    for number, name in long_files(texts):
        yield f"{name} has {number} lines, more than {LINES}: split it"
    for name, text in sorted(texts.items()):
        if BREAKABLE.search(name) and not MADE.search(name):
            for i, line in enumerate(text.split("\n"), 1):
                if len(line) > COLUMNS:
                    yield f"{name}:{i}: {len(line)} columns, more than {COLUMNS}: break the line"
    for folder, kinds in sorted(rooms(texts).items()):
        for kind, count in sorted(kinds.items()):
            least = floors.get(folder, {}).get(kind, SHARES[kind])
            if count.share() < least:
                yield (
                    f"{folder}: {count.share():.1f} % of its {kind} files are comments, less than "
                    f"{least} %: say more about why"
                )


def tree():
    """(all names, {name: text} of the sources) of the files that git knows or would add."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.split("\n") if name and (ROOT / name).is_file()]
    texts = {n: (ROOT / n).read_text(encoding="utf-8") for n in names if SOURCES.search(n)}
    return names, texts


def report(names, texts):
    print(
        f"{'room':26} {'.c comments':>12} {'.h comments':>12} {'lines of code':>14} {'longest':>8}"
    )
    empty = Count()
    for folder, kinds in sorted(rooms(texts).items()):
        c, h = kinds.get(".c", empty), kinds.get(".h", empty)
        shares = [f"{count.share():10.1f} %" if count.bytes else f"{'-':>12}" for count in (c, h)]
        longest = max(c.longest, h.longest)
        print(f"{folder:26} {shares[0]} {shares[1]} {c.code + h.code:14,} {longest:8}")
    print("\ncomments  file")
    for name in sorted(texts):
        if room(name) and pathlib.PurePath(name).suffix in SHARES and not MADE.search(name):
            count = Count()
            count.add(texts[name])
            count.add_comment(essay(name, texts))
            print(f"{count.share():6.1f} %  {name}")
    print(f"\nfiles of over {LINES} lines")
    for number, name in long_files(texts):
        print(f"{number:6}  {name}")
    print("\nfiles  folder")
    for folder, number in folders(names).most_common():
        print(f"{number:5}  {folder}")


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    names, texts = tree()
    if not sys.argv[1:]:
        report(names, texts)
        return 0
    found = list(complaints(names, texts))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
