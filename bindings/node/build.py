#!/usr/bin/env python3
"""Build turnstile.js and turnstile.wasm with Emscripten, from the C sources of the library and of
what it needs. Build browser.js, too, a script for pages, and two modules for bundlers: index.mjs,
beside which turnstile.wasm lies, and inline.mjs, which has it inside.

    bindings/node/build.py OUT      writes PRODUCTS into OUT; objects are kept in OUT/objects

yajl and PCRE2 are Debian's source packages, which `./dev fetch wasm` brings to build/wasm; xxHash
is a header (libxxhash-dev).

SPDX-License-Identifier: Apache-2.0
"""

import base64
import concurrent.futures
import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
YAJL = ROOT / "build" / "wasm" / "yajl"
PCRE2 = ROOT / "build" / "wasm" / "pcre2"
NATIVE = {
    "logits_avx2.c",
    "logits_avx512.c",
    "logits_neon.c",
    "trie_avx2.c",
}  # vector kernels of other machines
INDEX = ROOT / "bindings" / "node" / "index.js"
PRODUCTS = (
    "turnstile.wasm",
    "turnstile.js",
    "browser.js",
    "index.mjs",
    "inline.mjs",
    "index.d.mts",
)
# index.js up to here is the same in a module; its load() reads files of Node.
OF_NODE = "/* Load the WebAssembly module; `folder`"
MODULE = """/* Made by bindings/node/build.py */
{loader}
{package}
const WASM = {wasm};

/* Load the WebAssembly module, from a URL or bytes of your own where `wasm` is given. */
async function load({{wasm = WASM}} = {{}}) {{
  if (!globalThis.crypto && globalThis.process?.versions?.node) {{ // modules of Node 18
    const name = 'node:crypto'; // bundlers leave this import as it is
    globalThis.crypto = (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)).webcrypto;
  }}
  const bytes =
    typeof wasm === 'string' || wasm instanceof URL
      ? await (await fetch(wasm)).arrayBuffer()
      : wasm;
  return new Turnstile(await createTurnstile({{wasmBinary: new Uint8Array(bytes)}}));
}}

export {{load, Turnstile, TurnstileError}};
export default {{load, Turnstile, TurnstileError}};
"""
TYPES = ROOT / "bindings" / "node" / "index.d.ts"
TYPES_OF_LOAD = "/** Load turnstile.js"
TYPES_OF_MODULE = """/** Load the WebAssembly module; `wasm`: a URL or bytes of your own. */
export function load(options?: {
  wasm?: URL | string | ArrayBuffer | Uint8Array;
}): Promise<Turnstile>;
declare const all: {load: typeof load; TurnstileError: typeof TurnstileError};
export default all;
"""
BESIDE = "new URL('./turnstile.wasm', import.meta.url)"  # bundlers know this form
INSIDE = "Uint8Array.from(atob('{}'), (letter) => letter.charCodeAt(0))"
ALONE = {"alone.c"}  # of a library without a compiler
PCRE2_SOURCES = (
    "auto_possess chkdint chartables compile config context convert dfa_match error extuni "
    "find_bracket jit_compile maketables match match_data "
    "newline ord2utf pattern_info script_run serialize string_utils study substitute substring "
    "tables ucd valid_utf xclass"
).split()
YAJL_VERSION = (
    "#define YAJL_MAJOR 2\n#define YAJL_MINOR 1\n#define YAJL_MICRO 0\n#define YAJL_VERSION "
    "20100\nextern int yajl_version(void);\n"
)
# There are two stacks. The one in WebAssembly's memory overflows unseen into other data. The host
# keeps the other one, of about 1 MB, and calls take more of that.
FLAGS = ["-O2", "-DNDEBUG", "-DTSL__NESTED_MAX=1000"]
FLAGS += os.environ.get("TSL_WASM_FLAGS", "").split()  # for trials, in a folder of their own
STACK = 1 << 22
LINK = [
    "-O2",
    "-sMODULARIZE=1",
    "-sEXPORT_NAME=createTurnstile",
    "-sALLOW_MEMORY_GROWTH=1",
    "-sABORTING_MALLOC=0",
    "-sENVIRONMENT=web,worker,node",
    f"-sTOTAL_STACK={STACK}",
    "-sFILESYSTEM=0",
    "-sNODEJS_CATCH_EXIT=0",
    "-sNODEJS_CATCH_REJECTION=0",
    "-sEXPORTED_RUNTIME_METHODS=UTF8ToString",
    "-sINITIAL_MEMORY=33554432",
]
EXPORTS = (
    "malloc free tsl_vocab_release tsl_vocab_size tsl_vocab_logits_width tsl_vocab_mask_words "
    "tsl_vocab_is_special tsl_vocab_is_eog "
    "tsl_vocab_find_special tn_grammar_load tn_artifact tn_artifact_data tn_artifact_size "
    "tsl_artifact_free tsl_grammar_release tsl_grammar_report tsl_matcher_free tsl_matcher_reset "
    "tsl_matcher_mask tsl_matcher_accept "
    "tsl_matcher_accept_bytes tsl_matcher_rollback tsl_matcher_history tsl_matcher_is_complete "
    "tsl_matcher_is_terminated tsl_mask_apply "
    "tsl_parser_free tsl_parser_reset tsl_parser_text tsl_parser_token tsl_parser_finish "
    "tsl_parser_json tsl_status_name tsl_version"
).split()


# Only Debian's own Node finds Emscripten's JavaScript libraries where Debian keeps them. NODE_PATH
# names the folder for any other.
ENVIRONMENT = {
    **os.environ,
    "NODE_PATH": ":".join(filter(None, (os.environ.get("NODE_PATH"), "/usr/share/nodejs"))),
}


def headers(folder):
    """The headers that a configure run would make, and xxHash's."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "yajl").mkdir(exist_ok=True)
    for header in (YAJL / "src" / "api").glob("*.h"):
        shutil.copyfile(header, folder / "yajl" / header.name)
    (folder / "yajl" / "yajl_version.h").write_text(YAJL_VERSION)
    shutil.copyfile(PCRE2 / "src" / "pcre2.h.generic", folder / "pcre2.h")
    shutil.copyfile(PCRE2 / "src" / "config.h.generic", folder / "config.h")
    shutil.copyfile(PCRE2 / "src" / "pcre2_chartables.c.dist", folder / "pcre2_chartables.c")
    shutil.copyfile("/usr/include/xxhash.h", folder / "xxhash.h")


def jobs(made):
    ours = [
        f
        for folder in ("runtime", "compiler")
        for f in sorted((ROOT / folder).rglob("*.c"))
        if f.name not in NATIVE | ALONE and f.parent.name != "decode"
    ]
    ours.append(ROOT / "bindings" / "node" / "glue.c")
    for source in ours:
        yield (
            source,
            [
                *FLAGS,
                "-std=c11",
                "-D_POSIX_C_SOURCE=200809L",
                f"-I{ROOT}",
                f"-I{ROOT}/include",
                f"-I{made}",
            ],
        )
    for name in PCRE2_SOURCES:
        source = (
            made / "pcre2_chartables.c"
            if name == "chartables"
            else PCRE2 / "src" / f"pcre2_{name}.c"
        )
        if source.is_file():
            yield (
                source,
                [
                    *FLAGS,
                    "-DHAVE_CONFIG_H",
                    "-DPCRE2_CODE_UNIT_WIDTH=8",
                    "-DSUPPORT_UNICODE",
                    "-DPCRE2_STATIC",
                    f"-I{made}",
                    f"-I{PCRE2}/src",
                ],
            )
    for source in sorted((YAJL / "src").glob("*.c")):
        yield source, [*FLAGS, "-w", f"-I{made}", f"-I{YAJL}/src"]


@contextlib.contextmanager
def alone(folder):
    """Of two programs that compile into a folder at once, one waits."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


AT_ONCE = 12  # sources that one emcc gets: it takes longer to start than a source takes


def is_made(source, out, newest):
    return out.is_file() and out.stat().st_mtime > max(newest, source.stat().st_mtime)


def compile_some(flags, some):
    """Compile sources, none of which is called as another one: [(source, out)]."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["emcc", "-c", *flags, *(str(source) for source, _ in some)],
            cwd=folder,
            capture_output=True,
            text=True,
            env=ENVIRONMENT,
        )
        if done.returncode:
            sys.exit(done.stderr)
        for source, out in some:
            shutil.move(pathlib.Path(folder, source.stem + ".o"), out)


def compile_all(work, objects, newest):
    """Compile what of [(source, flags)] is older than itself or `newest`; the objects of all, in
    order.
    """
    batches, outs = [], []
    for source, flags in work:
        out = objects / (source.parent.name + "-" + source.stem + ".o")
        outs.append(out)
        if is_made(source, out, newest):
            continue
        for of_batch, some in batches:
            if (
                of_batch == flags
                and len(some) < AT_ONCE
                and all(source.stem != other.stem for other, _ in some)
            ):
                some.append((source, out))
                break
        else:
            batches.append((flags, [(source, out)]))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda batch: compile_some(*batch), batches))
    return outs


def link(files, out):
    """turnstile.js, turnstile.wasm and browser.js, moved to OUT when they are whole: a program
    beside this one may read them.
    """
    with tempfile.TemporaryDirectory(dir=out) as name:
        made = pathlib.Path(name)
        run_emcc(files, made / "turnstile.js", [])
        write_browser(made)
        # Without the branches for Node, whose require() bundlers would follow.
        (made / "web").mkdir()
        run_emcc(files, made / "web" / "turnstile.js", ["-sENVIRONMENT=web,worker"])
        write_modules(made)
        for product in PRODUCTS:
            os.replace(made / product, out / product)


def run_emcc(files, out, more):
    exported = ",".join("_" + name for name in EXPORTS)
    named = f"-sEXPORTED_FUNCTIONS={exported}"
    done = subprocess.run(
        ["emcc", *LINK, *more, named, *map(str, files), "-o", str(out)],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
    )
    if done.returncode:
        sys.exit(done.stderr)


def write_modules(made):
    """index.mjs and inline.mjs."""
    wasm = (made / "turnstile.wasm").read_bytes()
    if wasm != (made / "web" / "turnstile.wasm").read_bytes():
        sys.exit("build: turnstile.wasm for the web is not that for Node")
    loader = (made / "web" / "turnstile.js").read_text()
    package = INDEX.read_text()
    package = package[: package.index(OF_NODE)]
    inside = INSIDE.format(base64.b64encode(wasm).decode())
    for name, where in (("index.mjs", BESIDE), ("inline.mjs", inside)):
        (made / name).write_text(MODULE.format(loader=loader, package=package, wasm=where))
    types = TYPES.read_text()
    (made / "index.d.mts").write_text(types[: types.index(TYPES_OF_LOAD)] + TYPES_OF_MODULE)


def write_browser(made):
    """turnstile.js and index.js as one script, which defines `turnstile`."""
    loader, package = (made / "turnstile.js").read_text(), INDEX.read_text()
    (made / "browser.js").write_text(
        f"/* Made by bindings/node/build.py */\nvar turnstile = (() => {{\n{loader}\nreturn "
        f"((module) => {{\n{package}\nreturn module.exports;\n}})({{}});\n}})();\n"
    )


def main(out):
    for folder in (YAJL, PCRE2):
        if not folder.is_dir():
            sys.exit(f"{folder} is not there: ./dev fetch wasm")
    objects, made = out / "objects", out / "include"
    newest = max(
        h.stat().st_mtime
        for pattern in ("include/*.h", "runtime/**/*.h", "compiler/**/*.h")
        for h in ROOT.glob(pattern)
    )
    with alone(objects):
        if not made.is_dir():
            headers(made)
        files = compile_all(list(jobs(made)), objects, newest)
        of_link = max(
            path.stat().st_mtime for path in (*files, INDEX, TYPES, pathlib.Path(__file__))
        )
        if not all(
            (out / product).is_file() and (out / product).stat().st_mtime > of_link
            for product in PRODUCTS
        ):
            link(files, out)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve())
