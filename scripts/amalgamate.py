#!/usr/bin/env python3
"""Turnstile as two files: turnstile.c and turnstile.h, for hosts that keep a copy of it.

    scripts/amalgamate.py [--vendor] [OUT]    writes OUT/turnstile.c and OUT/turnstile.h
                                              (OUT: build/amalgamation)

`cc -c turnstile.c` is the whole build. The program links PCRE2 (8 bits), yajl, the maths library
and threads; of xxHash the header is enough. With --vendor the sources of PCRE2, yajl and xxHash,
which `./dev fetch wasm` brings, are put into OUT/vendor. OUT/vendor/deps.txt then lists what is to
be compiled, with its flags.

Problem   All sources become one translation unit. Names of file scope are private to a source, and
          many of them stand in several.
Idea      A source's own macros end with it (#undef). A name of file scope that means something
          else in another source or header gets the name of its place: `push` of
          position/stacks_step.c becomes `push_of_position_stacks_step`. The text is read as tokens.
          Comments, strings and members of structs (`x.push`, `x->push`) keep their names.
Headers   A header with a guard is written once, where it is first included. A header without a
          guard (a table, loops for several processors) is written wherever it is included. Its
          names belong to the source that includes it.
Kernels   The functions for AVX2 and AVX-512 carry their target as an attribute; which of them run
          is decided in the process. On other processors they are empty.
Cost      10 seconds. The text is kept in build/one-source, with the hashes of all that it was made
          of. As long as these are the same, it is read from there.
Tested by tests/platforms/test_amalgamation.py: builds it with gcc and clang, links a program with
it, compares masks.

SPDX-License-Identifier: Apache-2.0
"""

import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / "build" / "one-source"
SCRIPTS = [pathlib.Path(__file__).resolve(), ROOT / "scripts" / "sources.py"]
sys.path.insert(0, str(ROOT / "scripts"))

import sources  # noqa: E402
import vendor  # noqa: E402

TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
      | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|[uUL]?'(?:[^'\\\n]|\\.)*')
      | (?P<number>\.?[0-9](?:[eEpP][+-]|[0-9A-Za-z_.])*)
      | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
      | (?P<space>(?:[ \t\r\f\v]|\\\n)+)
      | (?P<line>\n)
      | (?P<sign>->|\.\.\.|\#\#|.)""",
    re.S | re.X,
)
WORD = re.compile(r"\w+")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"[^\n]*\n', re.M)
GUARD = re.compile(r"^#ifndef (\w+)\n#define \1\n", re.M)
DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
UNDEF = re.compile(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", re.M)
# Macros that set up headers of others. They hold for the whole unit, so nothing undoes them.
SETTINGS = re.compile(r"^(XXH_|PCRE2_|_\w+_SOURCE$)")
KEYWORDS = set(
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic "
    "_Imaginary _Noreturn _Static_assert _Thread_local".split()
)
AGGREGATES = ("struct", "union", "enum")
# Functions of C's and POSIX's headers, which some sources include and others do not.
LIBRARY = set(
    "abs accept access bind bsearch ceil clock close connect div dup exp fabs finite floor free "
    "gamma getline index isalpha isdigit j0 j1 jn kill labs lgamma link listen log lseek memchr "
    "mkdir open pause pipe poll pow qsort rand random read realloc recv remove rename rindex round "
    "select send signal sin sleep socket sqrt stat sync system tan time times truncate unlink wait "
    "write y0 y1 yn".split()
)
PROLOGUE = """\
/* turnstile.c - Turnstile {version} as one source, made by scripts/amalgamate.py: do not edit.
 *
 * cc -O2 -c turnstile.c
 *
 * The program that it goes into links PCRE2 (-lpcre2-8), yajl (-lyajl), -lm and threads (-pthread).
 * xxHash is used as a header. No flag for an instruction set is needed: functions for AVX2 and
 * AVX-512 carry their target, and the process looks at the processor itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#if !defined(_POSIX_C_SOURCE) && !defined(__FreeBSD__) /* there it hides what is not POSIX */
#define _POSIX_C_SOURCE 200809L
#endif
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1 /* syscall, flock */
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE 1
#endif
#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL
"""


class Broken(Exception):
    """The sources hold something that this script can't take."""


def tokens_of(text):
    """[(kind, text)]; the texts put together are the text."""
    return [(match.lastgroup, match.group()) for match in TOKEN.finditer(text)]


def without_directives(tokens):
    """The tokens that are code: no comments, space or lines of the preprocessor."""
    code, begins, skip = [], True, False
    for kind, text in tokens:
        if kind == "line":
            begins, skip = True, False
        elif kind not in ("space", "comment"):
            skip = skip or (begins and text == "#")
            begins = False
            if not skip:
                code.append((kind, text))
    return code


def enumerators(body):
    """The constants of `enum { A, B = 1 }`, given what stands between the braces."""
    found, depth, before = set(), 0, ","
    for kind, text in body:
        if kind == "name" and depth == 0 and before == ",":
            found.add(text)
        depth += (text in "([{") - (text in ")]}")
        before = text
    return found


def closing(code, at):
    """Where the bracket that opens at `at` closes."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i][1] in ("(", "[", "{")) - (code[i][1] in (")", "]", "}"))
        if depth == 0:
            return i
    raise Broken("a bracket is not closed")


def declarators(words):
    """The names that a declaration of file scope declares, its braces removed."""
    found, depth, i = set(), 0, 0
    while i < len(words):
        kind, text = words[i]
        after = words[i + 1][1] if i + 1 < len(words) else ";"
        if depth == 0 and kind == "name" and text not in KEYWORDS:
            if after in ("=", ";", ",", "["):
                found.add(text)
            elif after == "(" and text != "__attribute__":
                end = closing(words, i + 1)
                follows = words[end + 1] if end + 1 < len(words) else ("sign", ";")
                if follows[0] == "name" and follows[1] != "__attribute__":
                    i = end + 1  # a type that a macro makes: TSL__VEC(int) name
                    continue
                # `name(…)` is a function, `type (*name)(…)` a pointer to one.
                inner = words[i + 2 : end]
                if inner and inner[0][1] == "*":
                    found.update(t for k, t in inner if k == "name")
                else:
                    found.add(text)
                return found
        if text == "=":  # up to the comma outside of brackets
            while i < len(words) and (depth or words[i][1] != ","):
                depth += (words[i][1] in "([{") - (words[i][1] in ")]}")
                i += 1
            continue
        depth += (text in "([{") - (text in ")]}")
        i += 1
    return found


def file_scope(text):
    """What a source declares at file scope, but for macros and structs that it only announces:
    {(name, is it a tag?)}.
    """
    code, tags, names, words, i = without_directives(tokens_of(text)), set(), set(), [], 0
    while i < len(code):
        text = code[i][1]
        if text == "{":
            end = closing(code, i)
            head = [t for _, t in words]
            if "enum" in head[-2:]:
                names |= enumerators(code[i + 1 : end])
            aggregate = any(t in AGGREGATES for t in head[-2:])
            if aggregate and head[-1] not in AGGREGATES:
                tags.add(head[-1])
            if aggregate:
                words = [("name", "int")] + [w for w in words if w[1] in ("static", "typedef")]
            elif "=" not in head:  # the body of a function
                names |= declarators([*words, ("sign", ";")])
                words = []
            i = end
        elif text == ";":
            names |= declarators([*words, ("sign", ";")])
            words = []
        else:
            words.append(code[i])
        i += 1
    return {(name, True) for name in tags} | {(name, False) for name in names}


def member_places(tokens):
    """The places of tokens that name a member. A member's name stands after a dot or an arrow, in
    the body of a struct, or as the second argument of offsetof.
    """
    members = set()
    code = [
        (i, kind, text)
        for i, (kind, text) in enumerate(tokens)
        if kind not in ("space", "comment", "line")
    ]
    bodies, open_brackets, previous = [], [], ""
    for k, (i, kind, text) in enumerate(code):
        after = code[k + 1][2] if k + 1 < len(code) else ""
        if text in ("{", "(", "["):
            back = [t for _, _, t in code[max(0, k - 2) : k]]
            aggregate = text == "{" and any(t in ("struct", "union") for t in back)
            pointer = text == "(" and after == "*" and bool(bodies) and bodies[-1]
            offset = text == "(" and previous == "offsetof"
            open_brackets.append(text)
            bodies.append(aggregate or pointer or ("offset" if offset else False))
        elif text in ("}", ")", "]") and bodies:
            open_brackets.pop()
            bodies.pop()
        elif kind == "name":
            inside = bodies[-1] if bodies else False
            if previous in (".", "->"):
                members.add(i)
            elif inside == "offset":
                if previous == ",":
                    members.add(i)
            elif inside and previous not in ("struct", "union", "enum", ":"):
                if after in (";", ",", "[", ":", ")"):
                    members.add(i)
        previous = text
    return members


def renamed(text, names):
    """The text with names replaced: {(name, is it a tag?): new name}."""
    if not names:
        return text
    tokens = tokens_of(text)
    members, out, previous, begins = member_places(tokens), [], "", True
    directive = False
    for i, (kind, text) in enumerate(tokens):
        what = (text, previous in AGGREGATES)
        kept = i in members or directive  # `define` of `#define` is no name of the source's
        out.append(names[what] if what in names and not kept else text)
        if kind == "line":
            begins, directive = True, False
        elif kind not in ("space", "comment"):
            previous, directive, begins = text, begins and text == "#", False
    return "".join(out)


class Amalgamation:
    """Headers and sources, put together in order."""

    def __init__(self, root=ROOT):
        self.root = root
        self.parts = []  # (path, text, is it a source?)
        self.files = set()  # all that was read
        self.guarded = set()
        self.is_source, self.reach, self.users, self.announced = {}, {}, {}, {}

    def read(self, path):
        file = self.root / ("include/" + path if path == "turnstile.h" else path)
        self.files.add(file)
        return file.read_text(encoding="utf-8")

    def expand(self, path, seen):
        """The text of a file, headers with guards left out: these become parts of their own."""
        text = self.read(path)

        def replace(match):
            included = match.group(1)
            if included == "turnstile.h":
                return ""
            inner = self.read(included)
            if not GUARD.search(inner) or not included.endswith(".h"):
                if included in seen:
                    raise Broken(f"{path}: {included} includes itself")
                return self.expand(included, {*seen, included})
            if included not in self.guarded:
                self.guarded.add(included)
                body = self.expand(included, {*seen, included})
                self.parts.append((included, body, False))
            return ""

        return INCLUDE.sub(replace, text)

    def add(self, path):
        body = self.expand(path, {path})
        self.parts.append((path, body, True))

    def declared(self):
        """{(name, is it a tag?): [path]}: who declares each name. Macros count in headers alone."""
        found = {}
        for path, text, is_source in self.parts:
            names = file_scope(text)
            if not is_source:
                names |= {(name, False) for name in macros_of(text)}
            for what in names:
                found.setdefault(what, []).append(path)
        return found

    def groups(self, what, paths):
        """The parts that declare a name; those that mean the same one stand together. These are a
        source and the headers that it includes, and headers that one part includes. The first group
        keeps the name.
        """
        groups = []
        for path in paths:
            same = [g for g in groups if any(self.together(path, other) for other in g)]
            groups = [g for g in groups if g not in same] + [sum(same, []) + [path]]
        announced = self.announced.get(what[0], set()) - set(paths)

        def order(group):
            reach = set().union(*(self.reach[path] for path in group))
            return (not reach & announced, all(self.is_source[path] for path in group))

        return sorted(groups, key=order)

    def together(self, a, b):
        if self.is_source[a] and self.is_source[b]:
            return False
        return bool(self.users[a] & self.users[b])

    def survey(self):
        """Who includes what, and which headers speak of which structs."""
        self.is_source = {path: is_source for path, _, is_source in self.parts}
        self.reach = {path: self.reached(path) for path in self.is_source}
        self.users = {path: set() for path in self.is_source}
        for path, reach in self.reach.items():
            for included in reach & set(self.users):
                self.users[included].add(path)
        self.announced = {}
        for path, text, is_source in self.parts:
            for name in [] if is_source else re.findall(r"\b(?:struct|union) (\w+)\b", text):
                self.announced.setdefault(name, set()).add(path)

    def new_names(self):
        """{path: {(name, is it a tag?): new name}}: what each part is to call differently."""
        changed = {}
        for what, paths in self.declared().items():
            if len(paths) < 2 and what[0] not in LIBRARY:
                continue
            groups = self.groups(what, paths)
            keep = what[0] in LIBRARY and not what[1]
            for group in groups if keep else groups[1:]:
                new = f"{what[0]}_of_{suffix(group[0])}"
                for path, _, _ in self.parts:
                    if path in group or self.reach[path] & {p for p in group if p[-2:] == ".h"}:
                        changed.setdefault(path, {})[what] = new
        return changed

    def strangers(self):
        """{path: {(name, is it a tag?): new name}}. These are names that a macro of a header would
        replace. The source does not include the header, but the header stands before the source
        now.
        """
        macros, changed = {}, {}
        for path, text, is_source in self.parts:
            foreign = {name for name in macros if macros[name] not in self.reach[path]}
            tokens = tokens_of(text) if foreign & set(WORD.findall(text)) else []
            members = member_places(tokens)
            for name in sorted({t for k, t in tokens if k == "name"} & foreign):
                if not is_source or any(tokens[i][1] == name for i in members):
                    raise Broken(f"{path}: {name} is a macro of {macros[name]}; rename one of them")
                for tag in (False, True):
                    changed.setdefault(path, {})[name, tag] = f"{name}_of_{suffix(path)}"
            if not is_source:
                macros.update({name: path for name in macros_of(text)})
        return changed

    def reached(self, path):
        """All that a part includes, itself too."""
        todo, seen = [path], {path}
        while todo:
            for included in INCLUDE.findall(self.read(todo.pop())):
                if included not in seen and included != "turnstile.h":
                    seen.add(included)
                    todo.append(included)
        return seen

    def text(self, version):
        self.survey()
        self.parts = [
            (path, renamed(text, names.get(path, {})), is_source)
            for names in [self.new_names()]
            for path, text, is_source in self.parts
        ]
        changed = self.strangers()
        out = [PROLOGUE.format(version=version), '#include "turnstile.h"\n']
        for path, text, is_source in self.parts:
            out.append(f"\n/* ======== {path} ======== */\n\n")
            text = renamed(text, changed.get(path, {}))
            out.append(text.strip("\n") + "\n")
            if is_source:
                own = sorted(set(DEFINE.findall(text)))
                out += [f"#undef {name}\n" for name in own if not SETTINGS.match(name)]
        return "".join(out)


def macros_of(text):
    """The macros that a header leaves defined, but for settings of other headers and its guard."""
    guards = set(GUARD.findall(text))
    found = set(DEFINE.findall(text)) - set(UNDEF.findall(text)) - guards
    return {name for name in found if not SETTINGS.match(name)}


def suffix(path):
    """What distinguishes a source's names from others: its room and its name."""
    parts = pathlib.PurePosixPath(path).with_suffix("").parts
    return "_".join(parts[1:])


def hash_of(file):
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def whole(paths, version, root=ROOT, kept=KEPT):
    """The text of turnstile.c, out of `kept` if nothing that it was made of has changed since.
    Where several processes ask at a time, one makes it, and the others wait.
    """
    kept.mkdir(parents=True, exist_ok=True)
    text, about = kept / "turnstile.c", kept / "made-of.json"
    with open(kept / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = json.loads(about.read_text()) if about.is_file() else {"files": {}}
        same = known.get("sources") == paths and known.get("version") == version
        if same and all(hash_of(root / f) == was for f, was in known["files"].items()):
            return text.read_text(encoding="utf-8")
        about.unlink(missing_ok=True)
        one = Amalgamation(root)
        for path in paths:
            one.add(path)
        made = one.text(version)
        text.write_text(made, encoding="utf-8")
        files = {os.path.relpath(f, root): hash_of(f) for f in [*one.files, *SCRIPTS]}
        about.write_text(json.dumps({"sources": paths, "version": version, "files": files}))
    return made


def amalgamate(out, with_vendor=False):
    """Write the amalgamation into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "turnstile.c").write_text(whole(sources.library(), sources.version()), encoding="utf-8")
    shutil.copyfile(ROOT / "include" / "turnstile.h", out / "turnstile.h")
    shutil.copyfile(ROOT / "LICENSE", out / "LICENSE")
    if with_vendor:
        vendor.copy(out / "vendor")


def main():
    words = sys.argv[1:]
    with_vendor = "--vendor" in words
    words = [word for word in words if word != "--vendor"]
    if len(words) > 1 or any(word.startswith("-") for word in words):
        sys.exit(__doc__)
    out = pathlib.Path(words[0] if words else ROOT / "build" / "amalgamation").resolve()
    try:
        amalgamate(out, with_vendor)
    except (Broken, vendor.Missing) as error:
        sys.exit(f"amalgamate: {error}")
    for name in ("turnstile.c", "turnstile.h"):
        print(f"{out / name}: {(out / name).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
