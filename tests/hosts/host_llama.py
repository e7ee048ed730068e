#!/usr/bin/env python3
"""llama.cpp: Turnstile as a sampler (bindings/llama.cpp), against the llama.cpp that PyPI's
llama-cpp-python carries.

Builds its CPU library once into build/llama.cpp-lib (three minutes of one core, kept there), from a
copy of the sources that has bindings/llama.cpp/server.patch. host_llama_server.py builds
llama-server there.

Makes a tiny random model with a real vocabulary (Llama 3). Runs tests/hosts/llama.c: vocabularies,
the sampler's interface, chat completions under JSON Schemas, and the same grammars in llama.cpp's
own engine. Runs chat completions through llama-cpp-python and turnstile.llama_cpp. Runs llama.cpp's
own integration of llguidance, as it is, over bindings/compat/llguidance. What was generated is
judged by PyPI's jsonschema.

    python tests/hosts/host_llama.py     (./dev test hosts runs it; needs ./dev fetch llama)

SPDX-License-Identifier: Apache-2.0
"""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import jsonschema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import common
import doc_blocks

SOURCE = common.BUILD / "llama.cpp"
PYTHON = common.BUILD / "llama-cpp-python"
LIBRARY = common.BUILD / "llama.cpp-lib"
PATCH = common.ROOT / "bindings" / "llama.cpp" / "server.patch"
LINK = f"-L{common.BUILD} -Wl,-rpath,{common.BUILD}"
VOCABULARY = SOURCE / "models" / "ggml-vocab-llama-bpe.gguf"
# -O1 takes two thirds of the time that a release's -O3 takes to compile. Speeds that are printed
# are of this build.
OPTIONS = [
    "-DCMAKE_BUILD_TYPE=Release",
    "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG",
    "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",
    "-DBUILD_SHARED_LIBS=ON",
    "-DGGML_OPENMP=OFF",
    "-DGGML_LLAMAFILE=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_APP=OFF",
    "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
    f"-DCMAKE_SHARED_LINKER_FLAGS={LINK}",
    f"-DCMAKE_EXE_LINKER_FLAGS={LINK}",
]

SCHEMAS = {
    "person": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 12},
            "age": {"type": "integer", "minimum": 0, "maximum": 130},
            "email": {"enum": ["a@example.org", "b@example.org", None]},
        },
        "required": ["name", "age", "email"],
        "additionalProperties": False,
    },
    "list": {
        "type": "array",
        "items": {"type": "string", "maxLength": 6},
        "minItems": 2,
        "maxItems": 4,
    },
    "choice": {
        "anyOf": [
            {"const": "yes"},
            {"const": "no"},
            {
                "type": "object",
                "properties": {"why": {"type": "string", "minLength": 1, "maxLength": 20}},
                "required": ["why"],
                "additionalProperties": False,
            },
        ]
    },
    "numbers": {
        "type": "object",
        "properties": {
            "x": {
                "type": "array",
                "items": {"type": "integer", "minimum": -99, "maximum": 99},
                "minItems": 3,
                "maxItems": 5,
            },
            "ok": {"type": "boolean"},
        },
        "required": ["x", "ok"],
        "additionalProperties": False,
    },
}


def write(path, data):
    """A file of the copy, left as it is where it has this content: ninja looks at times."""
    if not path.is_file() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def patched_files():
    """The files that the patch changes."""
    lines = PATCH.read_text().splitlines()
    return [line.removeprefix("+++ b/") for line in lines if line.startswith("+++ ")]


def copy_source():
    """The sources with the patch, and Turnstile's files beside. What is no part of the library is
    compiled without optimisation, in half the time.
    """
    copy, stamp = LIBRARY / "source", (SOURCE / ".stamp").read_text()
    if not (copy / ".stamp").is_file() or (copy / ".stamp").read_text() != stamp:
        shutil.rmtree(LIBRARY, ignore_errors=True)
        left_out = {"docs", "models", "media", ".stamp"}  # of the top folder
        top = str(SOURCE)
        shutil.copytree(SOURCE, copy, ignore=lambda at, _: left_out if at == top else ())
        (copy / ".stamp").write_text(stamp)
    with tempfile.TemporaryDirectory() as folder:
        for name in patched_files():
            target = pathlib.Path(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(SOURCE / name, target)
        common.run(["patch", "-p1", "-d", folder, "-i", PATCH])
        changed = {name: pathlib.Path(folder, name).read_bytes() for name in patched_files()}
    for part in ("common", "tools", "vendor"):
        name = f"{part}/CMakeLists.txt"
        text = changed.get(name) or (SOURCE / name).read_bytes()
        changed[name] = b"add_compile_options(-O0)\n" + text
    for name, text in changed.items():
        write(copy / name, text)
    for name in ("turnstile-llama.h", "turnstile-llama.c"):
        write(copy / "common" / name, (PATCH.parent / name).read_bytes())
    write(copy / "common" / "turnstile.h", (common.ROOT / "include" / "turnstile.h").read_bytes())
    return copy


def build(target):
    """Build a target of llama.cpp's; its version."""
    with common.one_at_a_time("llama.cpp-lib"):
        source = copy_source()
        if not (LIBRARY / "build.ninja").is_file():
            common.run(["cmake", "-B", LIBRARY, "-S", source, "-G", "Ninja", *OPTIONS])
        common.run(["ninja", "-C", LIBRARY, "-j2", target])
    text = (SOURCE / "CMakeLists.txt").read_text()
    return (
        ".".join(
            re.search(rf"set\(LLAMA_VERSION_{part}\s+(\d+)\)", text)[1]
            for part in ("MAJOR", "MINOR", "PATCH")
        )
        if "LLAMA_VERSION_MAJOR" in text
        else "?"
    )


def build_library():
    common.say(
        "building llama.cpp (once; three minutes of one core)"
        if not (LIBRARY / "bin" / "libllama.so").exists()
        else "llama.cpp is built"
    )
    return build("llama")


def build_program(name, source):
    program = LIBRARY / name
    flags = subprocess.run(
        ["pkg-config", "--libs", "yajl", "libpcre2-8", "libxxhash"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    common.run(
        [
            "gcc",
            "-std=c11",
            "-D_POSIX_C_SOURCE=200809L",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-I.",
            "-Iinclude",
            "-Ibindings/llama.cpp",
            f"-I{SOURCE}/include",
            f"-I{SOURCE}/ggml/include",
            source,
            "bindings/llama.cpp/turnstile-llama.c",
            "-o",
            program,
            common.BUILD / "libturnstile.a",
            f"-L{LIBRARY}/bin",
            f"-Wl,-rpath,{LIBRARY}/bin",
            "-lllama",
            "-lggml",
            "-lggml-base",
            *flags,
            "-lm",
            "-lpthread",
        ]
    )
    return program


def try_example(counts, model):
    example = build_program("turnstile-example", "bindings/llama.cpp/example.c")
    schema = SCHEMAS["numbers"]
    done = subprocess.run(
        [example, model, "Which numbers?", json.dumps(schema)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    jsonschema.validate(json.loads(done.stdout), schema)
    counts["passed"] += 1


BLOCK = """#include <stdio.h>
#include <string.h>
#include <turnstile-llama.h>

int main(int argc, char **argv) {{
  struct llama_model *model =
      argc == 3 ? llama_model_load_from_file(argv[1], llama_model_default_params()) : NULL;
  struct llama_context *context =
      model ? llama_init_from_model(model, llama_context_default_params()) : NULL;
  const char *schema = argv[2];
  uint32_t seed = 1;
  tsl_error error;
  llama_token first = 0;
  if (!context) return 2;
  const struct llama_vocab *words = llama_model_get_vocab(model);
  if (llama_tokenize(words, "a", 1, &first, 1, false, false) != 1) return 2;
  if (llama_decode(context, llama_batch_get_one(&first, 1))) return 2;
{block}
  char piece[64];
  int length = llama_token_to_piece(words, token, piece, sizeof piece, 0, false);
  fwrite(piece, 1, (size_t)length, stdout);
  tsl_grammar_release(grammar);
  tsl_vocab_release(vocab);
  llama_free(context);
  llama_model_free(model);
  return 0;
}}
"""


def run_manual(counts, folder, python, environment):
    """The blocks of docs/llama.cpp.md, in C and in Python: one token under {"enum": [7]}, and a
    chat completion.
    """
    source = pathlib.Path(folder, "manual.c")
    source.write_text(BLOCK.format(block=doc_blocks.of_host("docs/llama.cpp.md", "llama", "c")))
    done = subprocess.run(
        [
            build_program("turnstile-manual", source),
            pathlib.Path(folder, "tiny.gguf"),
            '{"enum": [7]}',
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    counts["passed" if done.returncode == 0 and done.stdout.strip() == "7" else "failed"] += 1
    shown = doc_blocks.of_host("docs/llama.cpp.md", "llama", "python").replace(
        "llama.create_chat_completion(", "answer = llama.create_chat_completion("
    )
    script = f"""import json, llama_cpp, turnstile.llama_cpp
schema, messages = {{"enum": ["yes", "no"]}}, [{{"role": "user", "content": "Well?"}}]
load = llama_cpp.Llama
llama_cpp.Llama = lambda path: load(path, n_ctx=512, verbose=False)
{shown}
print(answer["choices"][0]["message"]["content"])
"""
    pathlib.Path(folder, "model.gguf").symlink_to(pathlib.Path(folder, "tiny.gguf").resolve())
    done = subprocess.run(
        [python, "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    counts[
        "passed" if done.returncode == 0 and json.loads(done.stdout) in ("yes", "no") else "failed"
    ] += 1
    if done.returncode:
        print(f"  FAILED: docs/llama.cpp.md: {done.stderr[-1500:]}")


# Without places for white space, of which a random model writes a lot.
LLGUIDANCE = {
    "enum": ("json", {"enum": ["yes", "no", 12]}),
    "string": ("json_schema", {"type": "string", "minLength": 3, "maxLength": 12}),
    "number": ("json", {"type": "integer", "minimum": -500, "maximum": 1000}),
    "regex": ("regex", "(ab|cd){2,4}-[0-9]{3}"),
}


def try_llguidance(counts, model):
    """llama.cpp's common/llguidance.cpp, compiled as it is, with the stand-in's header and calls;
    how many texts, and of how many tokens.
    """
    folder = pathlib.Path("bindings/compat/llguidance")
    shim, program = LIBRARY / "turnstile-llguidance.o", LIBRARY / "turnstile-llama-llguidance"
    flags = subprocess.run(
        ["pkg-config", "--libs", "yajl", "libpcre2-8", "libxxhash"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    common.run(
        [
            "gcc",
            "-std=c11",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-Iinclude",
            f"-I{folder}",
            "-c",
            folder / "llguidance.c",
            "-o",
            shim,
        ]
    )
    common.run(
        [
            "g++",
            "-std=c++17",
            "-O1",
            "-w",
            "-DLLAMA_USE_LLGUIDANCE",
            f"-I{folder}",
            f"-I{SOURCE}/common",
            f"-I{SOURCE}/include",
            f"-I{SOURCE}/ggml/include",
            f"-I{SOURCE}/vendor",
            "tests/hosts/llama_llguidance.cpp",
            SOURCE / "common" / "llguidance.cpp",
            shim,
            "-o",
            program,
            common.BUILD / "libturnstile.a",
            f"-L{LIBRARY}/bin",
            f"-Wl,-rpath,{LIBRARY}/bin",
            f"-Wl,-rpath-link,{LIBRARY}/bin",
            "-lllama",
            "-lggml",
            "-lggml-base",
            *flags,
            "-lm",
            "-lpthread",
        ]
    )
    texts = tokens = 0
    for kind, grammar in LLGUIDANCE.values():
        for seed in range(3):
            done = subprocess.run(
                [
                    program,
                    model,
                    kind,
                    grammar if kind == "regex" else json.dumps(grammar),
                    str(seed),
                ],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            count, digits = done.stdout.split()
            text = bytes.fromhex(digits).decode()
            if kind == "regex":
                counts["passed" if re.fullmatch(grammar, text) else "failed"] += 1
            else:
                jsonschema.validate(json.loads(text), grammar)
                counts["passed"] += 1
            tokens += int(count)
            texts += 1
    return texts, tokens


def to_gbnf(schema):
    """What llama-cpp-python makes of a schema for llama.cpp's own grammar."""
    spec = importlib.util.spec_from_file_location(
        "llama_grammar", PYTHON / "llama_cpp" / "llama_grammar.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.json_schema_to_gbnf(json.dumps(schema))


def write_cases(folder):
    for name, schema in SCHEMAS.items():
        pathlib.Path(folder, f"{name}.json").write_text(json.dumps(schema))
        pathlib.Path(folder, f"{name}.gbnf").write_text(to_gbnf(schema))


def judge(counts, lines):
    """Validate texts, sum up times. {who: tokens}, {who: median and mean of each text}"""
    tokens, times, invalid = {}, {}, {}
    for line in lines:
        what, name, *rest = line.split(" ")
        if what == "text":
            who, count, text = rest
            try:
                jsonschema.validate(json.loads(bytes.fromhex(text)), SCHEMAS[name])
                counts["passed"] += 1
            except (ValueError, jsonschema.ValidationError) as error:
                # What llama.cpp's own grammar makes is counted, not judged.
                counts["failed"] += who == "turnstile"
                invalid[who] = invalid.get(who, 0) + 1
                if who == "turnstile" or invalid[who] == 1:
                    print(
                        f"  {who}, {name}: {bytes.fromhex(text)[:200]!r}: "
                        f"{str(error).splitlines()[0]}"
                    )
            tokens[who] = tokens.get(who, 0) + int(count)
        elif what == "time":
            times.setdefault(rest[0], []).append((int(rest[1]), int(rest[2])))
        elif what == "masks":
            print(
                f"  {name}: in {rest[0]} places the same GBNF allows the same tokens in both but "
                f"for {rest[1]}; "
                f"{rest[2]} times llama.cpp allows bytes that are not UTF-8 or a control token "
                "for the text of its name, or refuses NUL"
            )
    return tokens, times, invalid


def chat_in_python(counts, python, model, folder):
    """The same through llama-cpp-python, over the library that was built. How many texts, of how
    many tokens.
    """
    environment = {
        **os.environ,
        "LLAMA_CPP_LIB_PATH": str(LIBRARY / "bin"),
        "PYTHONPATH": f"{PYTHON}:{common.BUILD / 'bindings' / 'python'}",
    }
    if not (common.BUILD / "bindings" / "python" / "turnstile" / "_core.abi3.so").is_file():
        print("  FAILED: llama-cpp-python was not tried: the Python package is not built")
        counts["failed"] += 1
        return 0, 0
    texts = tokens = 0
    for name, schema in SCHEMAS.items():
        for line in common.program(
            [python, "tests/hosts/llama_python.py", model, pathlib.Path(folder, f"{name}.json")],
            env=environment,
        ):
            answer = json.loads(line)
            jsonschema.validate(json.loads(answer["text"]), schema)
            counts["passed" if answer["finish"] == "stop" else "failed"] += 1
            tokens += answer["tokens"]
            texts += 1
    (line,) = common.program([python, "tests/hosts/llama_models.py", model], env=environment)
    answer = json.loads(line)
    same = answer["person"] == answer["again"] == answer["streamed"]
    right = same and answer["steps"] > 1 and answer["colour"] in ("red", "blue")
    counts["passed" if right and abs(sum(answer["shares"].values()) - 1) < 1e-6 else "failed"] += 1
    example = common.run(
        [python, "bindings/python/examples/llama_cpp_json.py", model],
        env=environment,
        stderr=subprocess.DEVNULL,
    )
    person = json.loads(example)
    run_manual(counts, folder, python, environment)
    counts[
        "passed"
        if set(person) == {"name", "age"}
        and len(person["name"]) <= 4
        and person["age"] in ("18", "19")
        else "failed"
    ] += 1
    return texts, tokens


def try_patch(counts):
    """The patch that makes Turnstile a grammar engine of llama.cpp's programs: it has at most 40
    lines, and applies to these sources. host_llama_server.py builds and runs what it changes.
    """
    lines = PATCH.read_text().splitlines()
    added = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
    counts["passed" if 0 < added <= 40 else "failed"] += 1
    common.run(["patch", "--dry-run", "-p1", "-d", SOURCE, "-i", PATCH])
    counts["passed"] += 1
    return f"its server's patch ({added} lines) applies"


def main():
    if not VOCABULARY.is_file():
        common.missing(f"{VOCABULARY} is not there: ./dev fetch llama")
    python = common.venv("llama")
    version = build_library()
    program = build_program("turnstile-host", "tests/hosts/llama.c")
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory(dir=common.BUILD) as folder:
        model = pathlib.Path(folder, "tiny.gguf")
        common.run([python, "tests/hosts/tiny_gguf.py", VOCABULARY, model])
        write_cases(folder)
        common.add(
            counts,
            common.program(
                [program, "vocab", *sorted((SOURCE / "models").glob("ggml-vocab-*.gguf"))]
            ),
        )
        common.add(counts, common.program([program, "interface", model]))
        lines = common.program([program, "chat", model, folder])
        common.add(counts, lines)
        try_example(counts, model)
        in_python = chat_in_python(counts, python, model, folder)
        in_llguidance = try_llguidance(counts, model)
        patched = try_patch(counts)
    tokens, times, invalid = judge(counts, lines)
    for who, rows in times.items():
        median = sorted(m for m, _ in rows)[len(rows) // 2] / 1000
        mean = sum(m for _, m in rows) / len(rows) / 1000
        print(
            f"  {who}: {tokens[who]} tokens in {len(rows)} texts, {invalid.get(who, 0)} of them "
            f"not valid against the schema, {median:.1f} µs a token (median of the texts' "
            f"medians), {mean:.1f} µs on average"
        )
    made = [(len(times.get("turnstile", ())), tokens.get("turnstile", 0)), in_python, in_llguidance]
    common.end(
        counts,
        f"llama.cpp {version} (llama-cpp-python 0.3.36): vocabularies, sampler interface, chat "
        f"completion with {len(SCHEMAS)} schemas, from llama-cpp-python, and through llama.cpp's "
        f"integration of llguidance; {patched}; "
        f"{common.account(counts, *(sum(column) for column in zip(*made)))}",
    )


if __name__ == "__main__":
    os.chdir(common.ROOT)
    main()
