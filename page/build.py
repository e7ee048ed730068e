#!/usr/bin/env python3
"""Build the playground: one HTML file with Turnstile in WebAssembly in it, that works without a
server and without a network.

    page/build.py OUT      writes OUT/index.html; objects are shared with the Node package
                           (bindings/node/build.py), in build/hosts/node

The engine is the library, page/engine.c, and of the command line tool what writes and records
texts. It needs Emscripten (Debian's) and `./dev fetch wasm`.

SPDX-License-Identifier: Apache-2.0
"""

import base64
import gzip
import importlib.util
import json
import pathlib
import subprocess
import sys

import bundle

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
OBJECTS = ROOT / "build" / "hosts" / "node"
SOURCES = [
    "page/engine.c",
    *(
        f"cli/{name}.c"
        for name in "common generation json_out ngram ngram_data os_posix pictures/pictures "
        "pictures/trace place plain source utf8".split()
    ),
]
LINK = [
    "-O2",
    "-sMODULARIZE=1",
    "-sEXPORT_NAME=createEngine",
    "-sALLOW_MEMORY_GROWTH=1",
    "-sABORTING_MALLOC=0",
    "-sENVIRONMENT=web",
    "-sFILESYSTEM=0",
    "-sEXPORTED_RUNTIME_METHODS=UTF8ToString",
    "-sINITIAL_MEMORY=67108864",
    "-sDYNAMIC_EXECUTION=0",
]
EXPORTS = (
    "malloc free tsl_vocab_size tsl_vocab_release tsl_grammar_release tsl_status_name tsl_version"
)
EXAMPLES = [
    ("A person", "schema", "person.json"),
    ("An invoice", "schema", "invoice.json"),
    ("A tool call", "schema", "tool-call.json"),
    ("A tree", "schema", "tree.json"),
    ("Arithmetic", "gbnf", "arithmetic.gbnf"),
    ("A list", "gbnf", "list.gbnf"),
    ("Chess moves", "gbnf", "chess.gbnf"),
]
REGEXES = [
    ("A date", "regex", r"(19|20)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"),
    ("A colour", "regex", "#[0-9a-f]{6}|rgb\\(\\d{1,3}(, \\d{1,3}){2}\\)"),
]


def node_build():
    spec = importlib.util.spec_from_file_location(
        "node_build", ROOT / "bindings" / "node" / "build.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_all(node):
    """The objects of the library and of the engine."""
    objects, made = OBJECTS / "objects", OBJECTS / "include"
    newest = max(
        h.stat().st_mtime
        for pattern in ("include/*.h", "runtime/**/*.h", "compiler/**/*.h", "cli/**/*.h")
        for h in ROOT.glob(pattern)
    )
    flags = [
        *node.FLAGS,
        "-std=c11",
        "-D_POSIX_C_SOURCE=200809L",
        f"-I{ROOT}",
        f"-I{ROOT}/include",
        f"-I{made}",
    ]
    with node.alone(objects):
        if not made.is_dir():
            node.headers(made)
        work = [(source, options) for source, options in node.jobs(made)] + [
            (path, flags)
            for path in (
                *sorted(ROOT.glob("runtime/decode/*.c")),
                *(ROOT / name for name in SOURCES),
            )
        ]
        return [
            path for path in node.compile_all(work, objects, newest) if path.name != "node-glue.o"
        ]


def link(node, files, out):
    exported = ",".join("_" + name for name in EXPORTS.split())
    done = subprocess.run(
        [
            "emcc",
            *LINK,
            f"-sTOTAL_STACK={node.STACK}",
            f"-sEXPORTED_FUNCTIONS={exported}",
            *map(str, files),
            "-o",
            str(out / "engine.js"),
        ],
        capture_output=True,
        text=True,
        env=node.ENVIRONMENT,
    )
    if done.returncode:
        sys.exit(done.stderr)


def write_data(out):
    """The WebAssembly module, packed, and the examples, as a script."""
    packed = base64.b64encode(
        gzip.compress((out / "engine.wasm").read_bytes(), 9, mtime=0)
    ).decode()
    examples = [
        {
            "name": name,
            "kind": kind,
            "text": (ROOT / "schemas" / "examples" / file).read_text(encoding="utf-8"),
        }
        for name, kind, file in EXAMPLES
    ]
    examples += [{"name": name, "kind": kind, "text": text} for name, kind, text in REGEXES]
    text = json.dumps(examples, ensure_ascii=False).replace("</", "<\\/")
    (out / "data.js").write_text(
        f"const ENGINE_PACKED = '{packed}';\nconst EXAMPLES = {text};\n", encoding="utf-8"
    )


def main(out):
    node = node_build()
    out.mkdir(parents=True, exist_ok=True)
    made = out / "parts"
    made.mkdir(exist_ok=True)
    link(node, compile_all(node), made)
    write_data(made)
    (out / "index.html").write_text(
        bundle.bundle(HERE / "playground.html", [made]), encoding="utf-8"
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve())
