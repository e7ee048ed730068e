#!/usr/bin/env python3
"""Turnstile as one source (scripts/amalgamate.py).

  names   names of file scope that meet, in a small tree made for it: the program still does what
          the two sources did
  refuse  what the script can't rename is an error that names the file
  kept    the text is made once, and anew when a header or the list of sources has changed
  alone   `cc -c turnstile.c` without a warning, by gcc, and by clang as strict C11; the object
          exports tsl_ names only
  works   a program linked with it prints what it prints with the static library
  header  turnstile.h is standard C and C++: gcc takes it as strict C99 and C++11, and clang as MSVC
          would read it (the mode of clang-cl)

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import shutil
import sys
import tempfile

import platform_checks as platform
from platform_checks import ROOT, SYSTEM, check, run, works

sys.path.insert(0, str(ROOT / "scripts"))
import amalgamate  # noqa: E402

SMALL = {
    "include/turnstile.h": "#include <stdio.h>\n",
    "runtime/core/both.h": (
        "#ifndef BOTH_H\n#define BOTH_H\n#include <stddef.h>\n"
        "typedef struct box {\n  int count, push;\n  int (*read)(int);\n} box;\n"
        "#define PICK(b, field) ((b)->field)\nint tsl__one(void);\nint tsl__two(void);\n#endif\n"
    ),
    "runtime/core/pair.h": (
        "#ifndef PAIR_H\n#define PAIR_H\ntypedef struct tsl__pair {\n  int a;\n} tsl__pair;\n"
        "#define LIMIT 3\n#endif\n"
    ),
    "runtime/core/other.h": (
        "#ifndef OTHER_H\n#define OTHER_H\ntypedef struct tsl__pair {\n  char *a;\n} tsl__pair;\n"
        "#endif\n"
    ),
    "runtime/core/list.def": 'ROW(1, "push")\nROW(2, "count")\n',
    "runtime/core/one.c": """
#include "runtime/core/both.h"
#include "runtime/core/pair.h"
#define STEP 10
enum { FIRST, SECOND = LIMIT };
typedef struct node {
  struct node *next;
  box own;
  int count;
} node;
struct push { int push; };
static int count; /* push, count */
static int push(int by) { return count += by * STEP; }
static int read(int x) { return x + SECOND; }
static int define(int x) { return x; }
static const struct { int at; const char *push; } table[] = {
#define ROW(n, name) {n, name},
#include "runtime/core/list.def"
#undef ROW
};
int tsl__one(void) {
  box b = {.count = 1, .push = 2, .read = read};
  struct push p = {.push = b.push};
  node n = {NULL, b, offsetof(box, push) > 0};
  tsl__pair pair = {push(1)};
  printf("push %s %d\\n", table[1].push, table[1].at);
  return define(pair.a) + n.own.read(p.push) + n.count + PICK(&b, push);
}
""",
    "runtime/core/two.c": """
#include "runtime/core/both.h"
#include "runtime/core/other.h"
#define STEP 7
#define read(x) ((x) * STEP)
enum { SECOND = 5 };
typedef int node;
static char *count = "two";
static int define(int x) { return x; }
# define AS_IT_IS(x) define(x)
static node push(char c, int LIMIT) { return c == 't' ? SECOND + LIMIT : 0; }
int tsl__two(void) {
  tsl__pair pair = {count};
  node times = read(2);
  return AS_IT_IS(push(pair.a[0], 100)) + times;
}
int main(void) {
  printf("%d %d\\n", tsl__one(), tsl__two());
  return 0;
}
""",
}
# 10 + (2 + 3) + 1 + 2, and 5 + 100 + 14.
SAYS = "push count 2\n18 119\n"


def small_tree(folder, files):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    one = amalgamate.Amalgamation(folder)
    one.add("runtime/core/one.c")
    one.add("runtime/core/two.c")
    return one.text("0")


def test_names(folder):
    text = small_tree(folder, SMALL)
    check("push, count */" in text, "comments keep their words")
    shutil.copyfile(folder / "include" / "turnstile.h", folder / "turnstile.h")
    (folder / "small.c").write_text(text, encoding="utf-8")
    if works("the small tree", "gcc", "-Wall", folder / "small.c", "-o", folder / "small") is None:
        return
    check(run(folder / "small").stdout == SAYS, f"it says {run(folder / 'small').stdout!r}")


def test_refuse(folder):
    two = SMALL["runtime/core/two.c"].replace("times = read(2)", "times = ((box){0}).LIMIT")
    try:
        small_tree(folder, {**SMALL, "runtime/core/two.c": two})
        check(False, "a member that a macro of a header would replace is refused")
    except amalgamate.Broken as error:
        check("two.c" in str(error) and "LIMIT" in str(error), f"the error says where: {error}")


def test_kept(folder):
    paths, kept = ["runtime/core/one.c", "runtime/core/two.c"], folder / "kept"
    small_tree(folder, SMALL)
    first = amalgamate.whole(paths, "0", folder, kept)
    (kept / "turnstile.c").write_text("kept")
    check(amalgamate.whole(paths, "0", folder, kept) == "kept", "what is kept is read")
    check(
        amalgamate.whole(paths[:1], "0", folder, kept) not in ("kept", first),
        "other sources: made anew",
    )
    check(amalgamate.whole(paths, "1", folder, kept) != first, "another version: made anew")
    check(amalgamate.whole(paths, "0", folder, kept) == first, "and back")
    header = folder / "runtime" / "core" / "pair.h"
    header.write_text(header.read_text().replace("LIMIT 3", "LIMIT 4"))
    changed = amalgamate.whole(paths, "0", folder, kept)
    check("LIMIT 4" in changed and "LIMIT 3" in first, "another header: made anew")


def test_whole(folder):
    amalgamate.amalgamate(folder)
    expected = platform.expected(folder)
    builds = [("gcc", ["-O0", "-Werror"])]
    if shutil.which("clang"):
        builds.append(("clang", ["-O0", "-std=c11", "-pedantic-errors", "-Werror"]))
    else:
        platform.skip("clang is not installed")
    for compiler, flags in builds:
        if compiler == "clang":
            flags.append("-Wno-overlength-strings")
        made = folder / f"{compiler}.o"
        source = folder / "turnstile.c"
        if works(f"{compiler} -c", compiler, *flags, "-c", source, "-o", made) is None:
            continue
        names = run("nm", "--defined-only", "--extern-only", "--format=posix", made).stdout
        names = [line.split()[0] for line in names.splitlines()]
        strangers = [name for name in names if not name.startswith("tsl_")]
        check(names and not strangers, f"{compiler}: exports {strangers[:5]}")
        program = folder / f"{compiler}.program"
        linked = works(
            f"a program with {compiler}",
            *(compiler, f"-I{folder}", platform.CONSUMER, made, *SYSTEM, "-o", program),
        )
        if linked is not None:
            printed = works(f"the program of {compiler}", program)
            check(printed == expected, f"{compiler}: prints {printed!r}, not {expected!r}")


def test_header(folder):
    text = "int main(void) { uint32_t mask[1] = {0}; return (int)tsl_mask_has(mask, 0); }\n"
    (folder / "use.c").write_text('#include "turnstile.h"\n' + text)
    strict = ["-Wall", "-Wextra", "-Werror", "-pedantic-errors", "-fsyntax-only"]
    ways = [["gcc", *strict, "-std=c99"], ["gcc", *strict, "-std=c++11", "-xc++"]]
    if shutil.which("clang"):
        msvc = ["clang", "--driver-mode=cl", "--target=x86_64-pc-windows-msvc", "/Zs", "/W4", "/WX"]
        msvc += [
            "-Wpedantic",
            "-Xclang",
            "-ffreestanding",
        ]  # the headers of MSVC's own library are not here
        ways += [[*msvc, "/TC", "/std:c11", f"/D{name}"] for name in ("NONE", "TSL_USE_DLL")]
        ways += [[*msvc, "/TP", "/std:c++17"]]
    else:
        platform.skip("clang is not installed")
    for way in ways:
        command = [*way, f"-I{ROOT}/include", folder / "use.c"]
        works(" ".join(way), *command)
        (folder / "wrong.c").write_text("void f(int n) { int a[n]; int *b = ({a;}); (void)b; }\n")
        command[-1] = folder / "wrong.c"
        check(run(*command).returncode != 0, f"{' '.join(way)}: takes what only gcc has")


def main():
    for test in (test_names, test_refuse, test_kept, test_header, test_whole):
        with tempfile.TemporaryDirectory() as folder:
            test(pathlib.Path(folder))
    return platform.close()


if __name__ == "__main__":
    sys.exit(main())
