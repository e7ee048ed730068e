#!/usr/bin/env python3
"""Names in comments and documents are names of something that is there.

  files        each file that a comment or a document names is in the tree: `x.c`, `walk/x.h`,
               `tests/cases/x.txt`. FOREIGN lists files of others. In a room, `x.c` is a file of
               that room; one of another room is named with its room. So a file that is gone is
               never mistaken for another one of its name
  functions    each `tsl_…` that a comment or a document names stands in the code
  identifiers  so does each word with an underscore in a comment of C. EXAMPLES lists those that
               belong to an example, and names of other interfaces

A path that begins with a folder of the tree is looked for whatever its ending. Other names are
looked for where they end as a source does. A name in capitals, NAME.json or tests/test_X.c, stands
for any name. A constant may be named without its prefix: PATCH_MAX for TSL__PATCH_MAX. A name that
ends in an underscore is the beginning of several. Blocks of code in documents are left out:
test_docs.py runs them.

    python3 tests/tree/test_names.py

SPDX-License-Identifier: Apache-2.0
"""

import collections
import pathlib
import posixpath
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from comments import comments  # noqa: E402
from test_words import ROOT  # noqa: E402

# Files of others: where they come from, or who makes them.
FOREIGN = {
    "api/yajl_x.h": "yajl",
    "common.cpp": "llama.cpp",
    "common/llguidance.cpp": "llama.cpp",
    "common/log.cpp": "llama.cpp",
    "ggml/docs/gguf.md": "llama.cpp",
    "llama-grammar.cpp": "llama.cpp",
    "src/llama-sampler.cpp": "llama.cpp",
    "src/llama-vocab.cpp": "llama.cpp",
    "unicode.cpp": "llama.cpp",
    "generator/filter/filter.py": "ExLlamaV3",
    "host.cpp": "any program of XGrammar's",
    "messages.py": "LMDeploy",
    "mistral.rs": "the program of that name",
    "mistralrs-core/src/sampler.rs": "mistral.rs",
    "lib/types.d.ts": "web-llm",
    "esm/types/types.d.ts": "wllama",
    "runtime/components/constrained_decoding/constrained_decoder.h": "LiteRT-LM",
    "sample/samplers.go": "Ollama",
    "tensorrt_llm/sampling_params.py": "TensorRT-LLM",
    "pytorch/engine/logits_process.py": "LMDeploy",
    "mistralrs.pyi": "mistralrs",
    "py_openvino_genai.pyi": "OpenVINO GenAI",
    "pcre2.h": "PCRE2",
    "stdio.h": "C",
    "windows.h": "Windows",
    "xxhash.h": "xxHash",
    "test_structural_tag_registry.py": "vLLM",
    "test_structural_tags.py": "vLLM",
    "tiktoken_ext/openai_public.py": "tiktoken",
    "turnstile-llm/transformers.js": "the npm package: its door for Transformers.js",
    "dist/browser.js": "bindings/node/build.py",
    "index.mjs": "bindings/node/build.py",
    "inline.mjs": "bindings/node/build.py",
    "turnstile.js": "bindings/node/build.py",
    "turnstile.c": "scripts/amalgamate.py",
    "tests/texts/x.txt": "an example of a name",
    "tests/words/test_words.c": "an exercise of docs/patches",
    "a.c": "a regular expression",
    "x.c": "any file",
    "walk/x.h": "any file",
    "tests/cases/x.txt": "any file",
}
# Words of examples and of other interfaces: {word: whose}.
EXAMPLES = {
    "CONDITION_VARIABLE": "Windows",
    "FILE_FLAG_OPEN_REPARSE_POINT": "Windows",
    "FILE_MAP_READ": "Windows",
    "IO_PENDING": "Windows",
    "LOCK_VIOLATION": "Windows",
    "MOVEFILE_REPLACE_EXISTING": "Windows",
    "PAGE_READONLY": "Windows",
    "TOKEN_QUERY": "Windows",
    "TOKEN_USER": "Windows",
    "WELL_KNOWN_SID_TYPE": "Windows",
    "MAP_POPULATE": "Linux",
    "tp_clear": "Python",
    "tp_new": "Python",
    "c_new": "a formula",
    "c_old": "a formula",
    "final_answer": "an example",
    "frist_name": "an example",
    "reserved_ID": "tiktoken",
    "rule_a": "an example",
    "sentencepiece_model": "SentencePiece",
    "u32_vec": "an example",
    "z_strong": "a formula",
    "z_weak": "a formula",
}
ROOM = re.compile(r"(?:runtime|compiler)/\w+/")
FORMULA = re.compile(r"[A-Za-z]_[a-z]")  # D_a, a derivative

TEXTS = re.compile(r"^(tests/cases|fuzz/corpus|schemas)/")  # data
C = re.compile(r"\.(c|h|cpp|hpp|def)$")
OTHER = re.compile(r"\.(py|pyi|rs|js|mjs|ts|go|java)$")
HASHED = re.compile(
    r"(\.sh|\.yml|\.toml|meson\.build|CMakeLists\.txt|Dockerfile)$|^(dev|\.ci/run)$"
)
SOURCE = r"c|h|cpp|hpp|def|py|pyi|rs|js|mjs|ts|go|java|sh|md"
FILE = re.compile(
    r"(?<![\w/.<>{}*$~@%-])((?:[\w.-]+/)*(?:[A-Za-z]|__)[\w.-]*\.(?:"
    + SOURCE
    + r"|txt|json|jsonl|html|svg"
    r"|css|build|toml|yml))(?![\w/*(-]|\.\w)"
)
TOKEN = re.compile(r'(/\*.*?\*/|//[^\n]*)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
PREFIXED = re.compile(r"(?<![\w*/.$-])(?:tsl|TSL)_\w*(?![\w*²])")
WORD = re.compile(r"(?<![\w*\\/.<-])[A-Za-z]\w*_\w*[A-Za-z0-9](?![\w*²])")

results = []


def check(condition, what):
    results.append(bool(condition))
    if not condition:
        print(f"  failed: {what}")


def tracked():
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    names = listed.stdout.split("\n")
    if listed.returncode:
        names = [
            p.relative_to(ROOT).as_posix()
            for p in ROOT.rglob("*")
            if not p.relative_to(ROOT).parts[0].startswith(("build", ".git"))
        ]
    return sorted(name for name in names if name and (ROOT / name).is_file())


# ---- what a file says, and what it defines -------------------------------------------------------


def prose(name, text):
    """(line, text) of each comment of a source, and of a document what is no block of code."""
    if name.endswith(".md"):
        text = re.sub(r"^```.*?^```", lambda m: "\n" * m[0].count("\n"), text, flags=re.S | re.M)
        yield 1, re.sub(r"\[[^\]]*\]\(https?:[^)]*\)|https?:\S+", "", text)
    elif C.search(name):
        for m in TOKEN.finditer(text):
            if m[1]:
                yield text.count("\n", 0, m.start()) + 1, m[1]
    elif OTHER.search(name):
        for line, lines in comments(name, text):
            yield line, "\n".join(lines)
    elif HASHED.search(name):
        for line, row in enumerate(text.split("\n"), 1):
            m = re.search(r"(?:^|\s)#\s(.*)", row)
            if m:
                yield line, m[1]


def words_of_code(name, text):
    """The words of a source without its comments."""
    if C.search(name):
        text = TOKEN.sub(lambda m: " " if m[1] else m[0], text)
    return set(re.findall(r"\w+", text + " " + name))


# ---- files ---------------------------------------------------------------------------------------


def stands_for_any(path):
    return any(re.fullmatch(r"[A-Z_]+|.*(?:NAME|_X)", part) for part in re.split(r"[/.]", path))


class Tree:
    """The files of the tree: by their whole names, and by the last part of these."""

    def __init__(self, names):
        self.names = set(names)
        self.folders = {name.split("/")[0] for name in names if "/" in name}
        self.bases = collections.defaultdict(list)
        for name in names:
            self.bases[posixpath.basename(name)].append("/" + name)

    def has(self, path, folder):
        """Is there a file of this name, as a text in the folder gives it?"""
        if path in self.names or posixpath.normpath(posixpath.join(folder, path)) in self.names:
            return True
        if path.startswith("../") or self.is_whole(path):
            return False
        return any(name.endswith("/" + path) for name in self.bases[posixpath.basename(path)])

    def is_whole(self, path):
        return "/" in path and path.split("/")[0] in self.folders


def named_files(name, text, tree):
    """(line, path) of each file that a text names."""
    for first, part in prose(name, text):
        for m in FILE.finditer(part):
            path = m[1]
            sought = tree.is_whole(path) or re.search(rf"\.({SOURCE})$", path)
            made = path.startswith("build/") or path.endswith("llama.cpp")  # a build's; a project
            if sought and not made and not stands_for_any(path):
                yield first + part.count("\n", 0, m.start()), path


def missing_files(name, text, tree):
    """(line, path) of each file that a text names and that is not there."""
    for line, path in named_files(name, text, tree):
        if not tree.has(path, posixpath.dirname(name)):
            yield line, path


def files_of_other_rooms(name, text, tree):
    """(line, path) of each file of another room that a room's text names without the room."""
    room = ROOM.match(name)
    for line, path in named_files(name, text, tree) if room else []:
        if "/" in path or not C.search(path) or path.startswith("test_") or path == "turnstile.h":
            continue
        places = tree.bases.get(path)
        if places and not any(place.startswith("/" + room[0]) for place in places):
            yield line, path


# ---- functions and identifiers -------------------------------------------------------------------


def missing_words(name, text, code, endings):
    """(line, word) of each identifier that a text names and the code lacks."""
    pattern = WORD if C.search(name) else PREFIXED
    for first, part in prose(name, text):
        for m in pattern.finditer(part):
            word = m[0]
            if word in code or word in endings or FORMULA.fullmatch(word):
                continue
            if word.endswith("_") and any(known.startswith(word) for known in code):
                continue
            yield first + part.count("\n", 0, m.start()), word


def endings_of(code):
    """Constants without a prefix."""
    found = set()
    for word in code:
        if word.isupper() and "_" in word:
            parts = word.split("_")
            found |= {"_".join(parts[i:]) for i in range(1, len(parts) - 1)}
    return found


# ---- the tests -----------------------------------------------------------------------------------


def read_all():
    texts = {}
    for name in tracked():
        if not TEXTS.match(name):
            try:
                texts[name] = (ROOT / name).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
    return texts


def test_files(texts):
    tree, needed = Tree(tracked()), set()
    for name, text in texts.items():
        results.append(True)
        for line, path in missing_files(name, text, tree):
            needed.add(path)
            check(path in FOREIGN, f"{name}:{line}: there is no file {path}")
        for line, path in files_of_other_rooms(name, text, tree):
            where = ", ".join(p[1:] for p in tree.bases[path])
            check(False, f"{name}:{line}: name the room, too: {path} is {where}")
    for path in sorted(set(FOREIGN) - needed):
        check(False, f"FOREIGN: no text names {path} any more, or the tree has it")


def test_words(texts):
    code = set().union(
        *(
            words_of_code(name, text)
            for name, text in texts.items()
            if not name.endswith(".md") and name != "tests/tree/test_names.py"
        )
    )
    endings, needed = endings_of(code), set()
    for name, text in texts.items():
        results.append(True)
        for line, word in missing_words(name, text, code, endings):
            needed.add(word)
            check(word in EXAMPLES, f"{name}:{line}: the code has no {word}")
    for word in sorted(set(EXAMPLES) - needed):
        check(False, f"EXAMPLES: no text names {word} any more, or the code has it")


def test_self():
    tree = Tree(["a/b.c", "a/deep/c.h", "a/data.txt"])

    def files(name, text):
        return [path for _, path in missing_files(name, text, tree)]

    check(
        files("a/x.c", "/* b.c, deep/c.h, a/b.c, d.c, deep/b.c, a/c.h, a/data.txt, a/no.txt */")
        == ["d.c", "deep/b.c", "a/c.h", "a/no.txt"],
        "self: files of comments",
    )
    rooms = Tree(["runtime/a/b.c", "runtime/c/d.c", "runtime/a/test_e.c"])
    check(
        [p for _, p in files_of_other_rooms("runtime/a/x.c", "/* b.c, d.c, c/d.c, e.c */", rooms)]
        == ["d.c"]
        and not list(files_of_other_rooms("cli/x.c", "/* b.c */", rooms)),
        "self: files of other rooms",
    )
    check(files("a/x.c", 'int x; char *s = "no.c"; // gone.c') == ["gone.c"], "self: no texts")
    check(files("a/x.c", "/* NAME.c, test_NAME.c, *.c, more.txt */") == [], "self: any name")
    check(
        files("d/x.md", "[a](../a/b.c) [b](../b.c) [c](https://x.y/z.c)") == ["../b.c"],
        "self: links",
    )
    check(files("x.md", "a.h\n```sh\nb.h\n```\nc.py") == ["a.h", "c.py"], "self: blocks")
    check(
        files("x.py", '"""See no.py."""\n# and no.c\nx = "no.h"') == ["no.py", "no.c"], "self: .py"
    )
    code = {"tsl__walk_find", "TSL__PATCH_MAX", "TSL_A_B"}

    def words(name, text):
        return [word for _, word in missing_words(name, text, code, endings_of(code))]

    check(
        words("x.c", "/* tsl__walk_find, tsl__walk_gone, PATCH_MAX, MAX_PATCH, D_a, tsl__walk_ */")
        == ["tsl__walk_gone", "MAX_PATCH"],
        "self: words of comments",
    )
    check(
        words("x.md", "`tsl__walk_gone()` and other_words, tsl__wald_*") == ["tsl__walk_gone"],
        "self: .md",
    )
    check(
        [line for line, _ in missing_words("x.c", "int x;\n/* x\n * no_word */", code, set())]
        == [3],
        "self: lines are counted",
    )
    check("no_word" not in words_of_code("x.c", "/* no_word */ int a_word;"), "self: code")


def main():
    texts = read_all()
    for name, test in [
        ("self", test_self),
        ("files", lambda: test_files(texts)),
        ("functions and identifiers", lambda: test_words(texts)),
    ]:
        before = len(results)
        test()
        made = results[before:]
        print(f"  {'ok  ' if all(made) else 'FAIL'} {name} ({len(made)} checks)")
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, 0 skipped")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
