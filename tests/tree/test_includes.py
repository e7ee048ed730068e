#!/usr/bin/env python3
"""Includes and symbols point one way: include/ <- runtime/ <- compiler/, and in both from each room
to rooms before it.

Every #include line of every C file is looked at. A quoted name must be written from the root of the
tree. It may also be "turnstile.h", or, for the programs, stand in the same folder. It must exist,
and lie in a folder that the including file may see. A room sees the rooms before it, and of another
room its doors alone. What the object files use of one another is looked at, too. A declaration
written by hand would hide an arrow from a look at #include lines. yajl and PCRE2 stay out of the
plain runtime, so that a program that links runtime/ alone needs neither. The trie of the vocabulary
stays out of compiler/.

SPDX-License-Identifier: Apache-2.0
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)

# The rooms, lowest first, and the doors of each: headers that files of other rooms may include.
ROOMS = {
    "runtime/core": ["base.h", "pool.h", "os.h", "threads.h", "trie.h", "rng.h", "fmath.h"],
    "runtime/kernels": ["logits.h", "digest.h"],
    "runtime/vocab": ["vocab.h", "build.h", "token_ring.h"],
    "runtime/tokenizer": ["tokenizer.h", "pieces.h"],
    "runtime/vocab_files": [],
    "runtime/automaton": ["space.h", "state.h", "leftover.h", "seen_names.h", "frames.h"],
    "runtime/masks": ["mask.h", "borrow.h", "union_memo.h"],
    "runtime/walk": [
        "walk.h",
        "names.h",
        "fixed.h",
        "nonascii.h",
        "classes.h",
        "shared_walks.h",
        "follow.h",
        "text/any_text.h",
    ],
    "runtime/position": [
        "stacks.h",
        "carry.h",
        "content.h",
        "distinct.h",
        "distinct_run.h",
        "layer.h",
    ],
    "runtime/matcher": ["matcher.h", "edition.h", "generation.h", "grammar.h", "quota.h"],
    "runtime/sample": [],
    "runtime/decode": [],
    "runtime/artifact": ["artifact.h"],
    "compiler/expr": [
        "expr.h",
        "meaning.h",
        "node.h",
        "deriv.h",
        "charset.h",
        "unicode_cache.h",
        "nonascii.h",
        "print.h",
    ],
    "compiler/number": ["number.h", "decimal.h", "outline.h", "parts.h"],
    "compiler/states": ["states.h", "hints.h", "outline.h"],
    "compiler/json": ["json.h", "measured.h", "near.h", "out.h"],
    "compiler/regex": ["regex.h"],
    "compiler/formats": ["formats.h"],
    "compiler/gbnf": ["gbnf.h", "ast.h", "reader.h"],
    "compiler/lark": ["lark.h"],
    "compiler/ebnf": ["ebnf.h"],
    "compiler/abnf": ["abnf.h"],
    "compiler/schema": ["schema.h", "object.h"],
    "compiler/tags": ["mended.h", "tags.h"],
    "compiler/tools": ["tools.h"],
    "compiler/grammar": [],
}
ORDER = {room: number for number, room in enumerate(ROOMS)}

# Folder -> folders whose headers it may include, by quoted name. "turnstile.h" stands for include/.
MAY_SEE = {
    "include": [],
    "runtime": ["include", "runtime"],
    "compiler": ["include", "runtime", "compiler"],
    "cli": ["include", "cli"],
    "bench": ["include", "bench"],
    "bindings": ["include", "bindings"],
    "page": ["include", "cli", "page"],
    "examples": ["include", "examples"],
    "tests": ["include", "runtime", "compiler", "bench", "tests"],
    "fuzz": ["include", "runtime", "compiler", "tests", "fuzz"],
}
# System headers that need a library which not every part may need.
LIBRARIES = {
    "yajl/": [
        "compiler/",
        "runtime/tokenizer/",
        "runtime/vocab_files/",
        "cli/",
        "bench/",
        "tests/",
        "fuzz/",
    ],
    "pcre2.h": [
        "compiler/",
        "runtime/tokenizer/",
        "runtime/vocab_files/",
        "cli/",
        "tests/",
        "fuzz/",
    ],
    "xxhash.h": ["runtime/", "compiler/", "tests/", "fuzz/"],
}
# Headers of runtime/ that compiler/ never sees: it makes states, and the walk (runtime/) is where
# they meet the vocabulary.
NOT_FOR_COMPILER = ["runtime/core/trie.h"]


def sources():
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", "*.c", "*.h", "*.def"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode == 0:
        return [name for name in listed.stdout.split("\n") if name and (ROOT / name).is_file()]
    return [
        str(p.relative_to(ROOT))
        for ext in ("c", "h", "def")
        for p in ROOT.rglob("*." + ext)
        if not p.relative_to(ROOT).parts[0].startswith(("build", "."))
    ]


def find(name, includer):
    """The file that a quoted name means, as a path from the root; None if there is none."""
    for candidate in (ROOT / name, ROOT / "include" / name, (ROOT / includer).parent / name):
        if candidate.is_file():
            return candidate.resolve().relative_to(ROOT).as_posix()
    return None


def complaint(includer, kind, name):
    """What is wrong with one include line, or None."""
    folder = includer.split("/")[0]
    if folder not in MAY_SEE:
        return f"no rule says what {folder}/ may include; add one here"
    if kind == "<":
        for prefix, allowed in LIBRARIES.items():
            if name.startswith(prefix) and not includer.startswith(tuple(allowed)):
                return f"<{name}> may be included only in {', '.join(allowed)}"
        return None
    target = find(name, includer)
    if target is None:
        return f'"{name}" does not exist'
    seen = target.split("/")[0]
    if seen not in MAY_SEE[folder]:
        return f'"{name}" lies in {seen}/, which {folder}/ must not see'
    if folder in ("runtime", "compiler") and seen != "include" and name != target:
        return f'"{name}" is to be written from the root: "{target}"'
    if folder == "compiler" and target in NOT_FOR_COMPILER:
        return f"{target} is not for compiler/"
    inside = folder in ("runtime", "compiler") and seen != "include"
    return past_a_door(room_of(includer), target) if inside else None


def room_of(name):
    return "/".join(name.split("/")[:2])


def past_a_door(here, target):
    """What is wrong with a file of room `here` that includes `target`, or None."""
    there = room_of(target)
    header = target[len(there) + 1 :]
    if here not in ORDER or there not in ORDER:
        return f"{here if here not in ORDER else there}/ is no room; ROOMS in this test lists them"
    if ORDER[there] > ORDER[here]:
        return f"{target} lies in a room above {here}/"
    if here != there and header not in ROOMS[there]:
        return f"{target} is no door of its room; the doors are {', '.join(ROOMS[there])}"
    return None


def symbols(build):
    """What the library's object files define, name -> (room, file), and what each of them uses."""
    defined, used = {}, collections.defaultdict(set)
    # An object is named after its source's path. Objects of sources that are gone may lie there.
    places = {
        source.relative_to(ROOT).as_posix().replace("/", "_") + ".o": (
            room,
            source.relative_to(ROOT / room).with_suffix("").as_posix(),
        )
        for room in ROOMS
        for source in (ROOT / room).rglob("*.c")
    }
    for path in sorted(pathlib.Path(build).glob("lib*.p/*.o")):
        place = places.get(path.name)
        if place is None:
            continue
        listed = subprocess.run(
            ["nm", "-P", path], capture_output=True, text=True, check=True
        ).stdout
        for line in listed.splitlines():
            symbol, kind = line.split()[:2]
            if symbol.startswith("tsl") and kind in "TDBRVW":
                defined.setdefault(symbol, place)
            elif symbol.startswith("tsl") and kind == "U":
                used[place].add(symbol)
    return defined, used


def symbol_arrows(defined, used):
    """Uses of a name that a higher room defines."""
    for (room, file), names in sorted(used.items()):
        for name in sorted(names):
            there = defined.get(name)
            if there and ORDER[there[0]] > ORDER[room]:
                yield f"{room}/{file}.c uses {name} of {there[0]}/{there[1]}.c, a room above"


def self_check():
    """The rules catch what they are for."""
    cases = [
        ("runtime/core/base.c", '"', "compiler/expr/expr.h"),
        ("cli/main.c", '"', "runtime/core/base.h"),
        ("runtime/masks/mask.c", '"', "runtime/walk/walk.h"),
        ("compiler/schema/conj.c", '"', "compiler/regex/ast.h"),
        ("runtime/core/base.c", "<", "yajl/yajl_parse.h"),
        ("compiler/expr/expr.c", '"', "runtime/core/trie.h"),
        ("runtime/core/base.c", '"', "base.h"),
        ("compiler/expr/expr.c", '"', "runtime/core/absent.h"),
        ("odd/file.c", '"', "turnstile.h"),
    ]
    good = [
        ("compiler/expr/expr.c", '"', "runtime/core/base.h"),
        ("cli/main.c", '"', "turnstile.h"),
        ("runtime/core/base.c", "<", "xxhash.h"),
        ("compiler/regex/lower.c", '"', "compiler/regex/ast.h"),
    ]
    return [c for c in cases if complaint(*c) is None] + [
        c for c in good if complaint(*c) is not None
    ], len(cases) + len(good)


def main():
    wrong, checks = self_check()
    for case in wrong:
        print(f"  self-check: {case} is judged wrongly")
    passed, failed = checks - len(wrong), len(wrong)
    walk, users = ("runtime/walk", "walk"), [("runtime/masks", "mask"), ("compiler/expr", "expr")]
    up = list(symbol_arrows({"tsl__b": walk}, {user: {"tsl__b"} for user in users}))
    passed, failed = passed + (len(up) == 1), failed + (len(up) != 1)
    defined, used = symbols(os.environ.get("TSL_BUILD", ROOT / "build"))
    arrows, rooms = list(symbol_arrows(defined, used)), len({room for room, _ in used})
    for arrow in arrows:
        print(f"  {arrow}")
    if rooms != len(ROOMS):
        print(f"  object files of {rooms} rooms of {len(ROOMS)} were found: build first")
    passed += sum(map(len, used.values())) - len(arrows) + (rooms == len(ROOMS))
    failed += len(arrows) + (rooms != len(ROOMS))
    files = sources()
    for includer in files:
        text = (ROOT / includer).read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            why = complaint(includer, *match.groups())
            if why is None:
                passed += 1
            else:
                failed += 1
                print(f"  {includer}:{text.count(chr(10), 0, match.start()) + 1}: {why}")
    print(
        f"  {'ok  ' if not failed else 'FAIL'} includes of {len(files)} files and {len(defined)} "
        "names of object files point one way"
    )
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
