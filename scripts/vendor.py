"""The sources of PCRE2, yajl and xxHash, for builds that take no library of the system.

`./dev fetch wasm` brings Debian's source packages to build/wasm, each file against its hash in
scripts/locks/packages.lock. copy() takes out of them what a build needs:

    FOLDER/include/     pcre2.h, yajl/*.h, xxhash.h
    FOLDER/pcre2/       PCRE2 for 8-bit text with Unicode, without its just-in-time compiler
    FOLDER/yajl/        yajl
    FOLDER/LICENCES     what their authors ask to be kept

Each .c file of the last two folders is compiled as it is, with FLAGS and `-I FOLDER/include`.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parent.parent
FETCHED = ROOT / "build" / "wasm"
PCRE2_SOURCES = (
    "auto_possess chkdint compile config context convert dfa_match error extuni find_bracket "
    "jit_compile maketables match match_data newline ord2utf pattern_info script_run serialize "
    "string_utils study substitute substring tables ucd valid_utf xclass"
).split()
PCRE2_HEADERS = ("pcre2_internal.h", "pcre2_intmodedep.h", "pcre2_ucp.h")
# What other sources of PCRE2 include.
PCRE2_PARTS = ("pcre2_jit_match.c", "pcre2_jit_misc.c", "pcre2_ucptables.c")
FLAGS = [
    "-DHAVE_CONFIG_H",
    "-DPCRE2_CODE_UNIT_WIDTH=8",
    "-DSUPPORT_UNICODE",
    "-DPCRE2_STATIC",
    "-w",
]
YAJL_VERSION = (
    "#ifndef YAJL_VERSION_H\n#define YAJL_VERSION_H\n#define YAJL_MAJOR 2\n#define YAJL_MINOR 1\n"
    "#define YAJL_MICRO 0\n#define YAJL_VERSION 20100\n"
    '#ifdef __cplusplus\nextern "C" {\n#endif\nextern int yajl_version(void);\n'
    "#ifdef __cplusplus\n}\n#endif\n#endif\n"
)


class Missing(Exception):
    """The sources were not fetched."""


def copy(out):
    """Write the folder anew."""
    for name in ("pcre2", "yajl", "xxhash"):
        if not (FETCHED / name).is_dir():
            raise Missing(f"the sources of {name} are not there; run ./dev fetch wasm")
    shutil.rmtree(out, ignore_errors=True)
    for name in ("include/yajl", "pcre2", "yajl"):
        (out / name).mkdir(parents=True)
    copy_pcre2(FETCHED / "pcre2" / "src", out)
    copy_yajl(FETCHED / "yajl" / "src", out)
    shutil.copyfile(FETCHED / "xxhash" / "xxhash.h", out / "include" / "xxhash.h")
    licences = [("PCRE2", "pcre2/LICENCE"), ("yajl", "yajl/COPYING"), ("xxHash", "xxhash/LICENSE")]
    (out / "LICENCES").write_text(
        "\n\n".join(f"== {name} ==\n\n{(FETCHED / path).read_text()}" for name, path in licences)
    )


def copy_pcre2(src, out):
    shutil.copyfile(src / "pcre2.h.generic", out / "include" / "pcre2.h")
    shutil.copyfile(src / "config.h.generic", out / "pcre2" / "config.h")
    shutil.copyfile(src / "pcre2_chartables.c.dist", out / "pcre2" / "pcre2_chartables.c")
    for name in PCRE2_SOURCES:
        if (src / f"pcre2_{name}.c").is_file():
            text = (src / f"pcre2_{name}.c").read_text()
            for part in PCRE2_PARTS:
                text = text.replace(f'"{part}"', f'"{part[:-2]}.inc"')
            (out / "pcre2" / f"pcre2_{name}.c").write_text(text)
    for name in PCRE2_HEADERS:
        shutil.copyfile(src / name, out / "pcre2" / name)
    for name in PCRE2_PARTS:
        shutil.copyfile(src / name, out / "pcre2" / f"{name[:-2]}.inc")


def copy_yajl(src, out):
    for header in sorted((src / "api").glob("*.h")):
        shutil.copyfile(header, out / "include" / "yajl" / header.name)
    (out / "include" / "yajl" / "yajl_version.h").write_text(YAJL_VERSION)
    for file in sorted([*src.glob("*.c"), *src.glob("*.h")]):
        # The sources say "api/yajl_x.h" for what is public.
        text = file.read_text().replace('"api/', '"yajl/')
        (out / "yajl" / file.name).write_text(text)


def sources(folder):
    """What is to be compiled."""
    return [*sorted((folder / "pcre2").glob("*.c")), *sorted((folder / "yajl").glob("*.c"))]


def flags(folder):
    """How."""
    return [*FLAGS, f"-I{folder / 'include'}", f"-I{folder / 'pcre2'}"]
