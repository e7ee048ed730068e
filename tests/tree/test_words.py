#!/usr/bin/env python3
"""One word for one thing, and sentences that are read once.

  words      no retired word (docs/glossary.md) stands in any source or document: as a word, as a
             part of an identifier, or in a file's name. ALLOWED lists what is quoted
  glossary   each retired word that is looked for stands in the table of docs/glossary.md, so that a
             reader finds its successor
  sentences  no sentence of README.md, CONTRIBUTING.md, CHANGELOG.md, SECURITY.md, docs/ and
             bindings/*/README.md has more than 25 words

A word is looked for in any case, and identifiers are split: `tsl__walk_kin`, `walkKin` and `Kin`
all hold "kin". `wide` is an English word: it is
looked for in C's identifiers alone, outside of comments and texts. A sentence ends with a full
stop, a question or exclamation mark, a paragraph,
an item of a list or a cell of a table. A piece of code counts as one word; blocks of code and
reports that a program wrote are left out.

    python3 tests/tree/test_words.py --list        counts of retired words in every folder, quoted
    or not; fails never
    python3 tests/tree/test_words.py --list runtime/walk     the lines of that folder

SPDX-License-Identifier: Apache-2.0
"""

import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

RETIRED = (
    "asked beyond brief crossing dull kin laid plenty surely taken tell tells told united zone "
    "zones"
).split()
IN_IDENTIFIERS = ["wide"]
# Quotations: {file: words that it quotes}. A word that the file no longer has is an error, too.
ALLOWED = {
    "bench/run_tools.py": {"zone"},  # words of made-up schemas: the made cases stay as they are
    "cli/os_windows.c": {"wide"},  # names of calls of Windows
    "scripts/train_vocab.py": {"asked", "tell"},  # texts of which the embedded vocabulary is made
    "tests/engine/test_costs.c": {"asked"},  # a column of tests/costs.txt
}
# The words are looked for in files of these kinds. Not in data: texts, schemas, published
# vocabularies.
KINDS = {
    ".c",
    ".h",
    ".def",
    ".cpp",
    ".hpp",
    ".py",
    ".js",
    ".mjs",
    ".ts",
    ".rs",
    ".html",
    ".css",
    ".md",
    ".build",
    ".pyi",
    "",
}
DATA = re.compile(
    r"_data\.[ch]$|/metaschemas\.c$|compiler/tools/presets\.c$|nfc_expected\.h$|^LICENSE$"
    r"|^tests/cases/|^fuzz/corpus/|^fuzz/dict/|^schemas/"
    r"|^bench/eval/(extraction|tasks|tool_tasks)\.py$"  # sentences that a model reads
)
THIS = "tests/tree/test_words.py"

MOST = 25
PROSE = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs/", "bindings/"]
MADE = re.compile(r"^Made by `[^`]+`", re.M)  # such a report is a program's

results = []


def check(condition, what):
    results.append(bool(condition))
    if not condition:
        print(f"  failed: {what}")


def tracked():
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode == 0:
        names = listed.stdout.split("\n")
    else:
        names = [
            p.relative_to(ROOT).as_posix()
            for p in ROOT.rglob("*")
            if not p.relative_to(ROOT).parts[0].startswith(("build", "."))
        ]
    return sorted(name for name in names if name and (ROOT / name).is_file())


def kept(name):
    return pathlib.Path(name).suffix in KINDS and not DATA.search(name) and name != THIS


# ---- words ---------------------------------------------------------------------------------------


def parts(text):
    """The words of a text, identifiers split: walk_kin, walkKin, WalkKin -> walk, kin."""
    return [
        word.lower()
        for run in re.findall(r"[A-Za-z]+", text)
        for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", run)
    ]


def bare_code(text):
    """C without its comments and texts; the lines stay."""
    return re.sub(
        r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"',
        lambda m: "\n" * m[0].count("\n"),
        text,
        flags=re.S,
    )


def retired_in(name, text):
    """[(line, word)] of a file; line 0 is its name."""
    if name == "docs/glossary.md":
        text = text.partition("\n## Retired words")[0]
    found = [(0, word) for word in parts(name) if word in RETIRED or word in IN_IDENTIFIERS]
    for number, line in enumerate(text.split("\n"), 1):
        found += [(number, word) for word in parts(line) if word in RETIRED]
    if pathlib.Path(name).suffix in (".c", ".h", ".def", ".cpp", ".hpp"):
        for number, line in enumerate(bare_code(text).split("\n"), 1):
            found += [(number, word) for word in parts(line) if word in IN_IDENTIFIERS]
    return found


def test_words():
    needed = collections.defaultdict(set)
    for name in tracked():
        if not kept(name):
            continue
        found = retired_in(name, (ROOT / name).read_text(encoding="utf-8", errors="replace"))
        for line, word in found:
            if word in ALLOWED.get(name, ()):
                needed[name].add(word)
            else:
                check(
                    False,
                    f'{name}:{line}: "{word}" is a retired word; docs/glossary.md has the one for '
                    "it",
                )
        results.append(True)
    for name, words in ALLOWED.items():
        check(
            words == needed[name], f"ALLOWED: {name} no longer has {sorted(words - needed[name])}"
        )


def test_glossary():
    table = (
        (ROOT / "docs" / "glossary.md")
        .read_text(encoding="utf-8")
        .partition("\n## Retired words")[2]
    )
    listed = {word for row in re.findall(r"^\| ([^|]+) \|", table, re.M) for word in parts(row)}
    for word in RETIRED + IN_IDENTIFIERS:
        known = {word, word.removesuffix("s")}
        known |= {"tells"} if word == "tell" else {"told"} if word.startswith("tell") else set()
        check(listed & known, f'docs/glossary.md: "{word}" stands in the table of retired words')


# ---- sentences -----------------------------------------------------------------------------------


def units(text):
    """(line, prose) of each paragraph, item and cell of a Markdown text, without code."""
    text = re.sub(
        r"^```.*?^```$|<!--.*?-->", lambda m: "\n" * m[0].count("\n"), text, flags=re.M | re.S
    )
    unit, first = [], 0
    for number, line in enumerate(text.split("\n") + [""], 1):
        row = line.lstrip().startswith("|")
        begins = row or not line.strip() or re.match(r"\s*(?:[-*]|\d+\.) |#|>|    ", line)
        if begins and unit:
            yield first, " ".join(unit)
            unit = []
        if row:
            cells = re.split(r"(?<!\\)\|", re.sub(r"`[^`]*`", "CODE", line))
            for cell in cells:
                yield number, cell
        elif line.startswith("    ") and not re.match(r"\s*(?:[-*]|\d+\.) ", line):
            continue
        elif line.strip():
            if not unit:
                first = number
            unit.append(line)


def sentences(prose):
    prose = re.sub(r"``.*?``|`[^`]*`", "CODE", prose)
    prose = re.sub(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)", r"\1", prose)
    return [s for s in re.split(r"(?<=[.!?])[)\"*_”]*\s+(?=\S)", prose) if s.strip()]


def length(sentence):
    return sum(1 for word in sentence.split() if re.search(r"[^\W_]", word))


def long_sentences(text):
    return [
        (line, length(s), s.strip())
        for line, prose in units(text)
        for s in sentences(prose)
        if length(s) > MOST
    ]


def test_sentences():
    for name in tracked():
        if not name.endswith(".md") or not name.startswith(tuple(PROSE)):
            continue
        text = (ROOT / name).read_text(encoding="utf-8")
        if name.startswith("docs/bench/") and MADE.search(text):
            continue
        results.append(True)
        for line, words, sentence in long_sentences(text):
            check(False, f"{name}:{line}: a sentence of {words} words: {sentence[:100]}")


# ---- the test of the test ------------------------------------------------------------------------


def test_self():
    def words(name, text):
        return sorted({word for _, word in retired_in(name, text)})

    check(
        words("a/b.c", "int walk_kin; /* it was Told */ int aZone;") == ["kin", "told", "zone"],
        "self: words and parts of identifiers",
    )
    check(
        words("a/b.c", "int kind, akin, telling, zonesX0;") == ["zones"],
        "self: words that hold one are others",
    )
    check(
        words("a/b.c", 'int is_wide; /* wide */ char *t = "wide";') == ["wide"]
        and words("a/b.c", "/* wide_x */") == [],
        "self: wide in identifiers alone",
    )
    check(words("a/wide_zone.py", "") == ["wide", "zone"], "self: file names")
    check(
        words("docs/glossary.md", "x\n## Retired words\n| kin | delta |") == [],
        "self: the glossary lists them",
    )
    long = " ".join(["word"] * 26)
    check(
        len(long_sentences(f"{long}.")) == 1 and not long_sentences(" ".join(["word"] * 25) + "."),
        "self: 26 words are too many, 25 are not",
    )
    check(
        not long_sentences(f"Short one. {' '.join(['word'] * 20)}. Another `a b c d e f g` ends."),
        "self: sentences end, code is one word",
    )
    check(
        len(long_sentences(f"| a | {long} |")) == 1
        and not long_sentences(f"| {' '.join(['w'] * 20)} | {' '.join(['w'] * 20)} |"),
        "self: cells",
    )
    check(
        not long_sentences(f"- a\n   | {' '.join(['w'] * 20)} | {' '.join(['w'] * 20)} |\n"),
        "self: cells of a table within an item",
    )
    check(
        not long_sentences(f"```sh\n{long}\n```\n\n    {long}\n"),
        "self: blocks of code are no prose",
    )
    check(
        [line for line, _, _ in long_sentences(f"One.\n\n- {long}\n")] == [3],
        "self: lines are counted",
    )
    check(
        not long_sentences(f"- {' '.join(['w'] * 20)}\n- {' '.join(['w'] * 20)}\n"), "self: items"
    )


def list_all(place):
    counts = collections.defaultdict(collections.Counter)
    for name in tracked():
        if not kept(name):
            continue
        text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
        for line, word in retired_in(name, text):
            counts[
                "/".join(name.split("/")[:2])
                if name.startswith(("runtime/", "compiler/", "tests/", "bindings/"))
                else name.split("/")[0]
            ][word] += 1
            if place and (name == place or name.startswith(place.rstrip("/") + "/")):
                print(
                    f"{name}:{line}: {word}: "
                    f"{text.splitlines()[line - 1].strip()[:120] if line else name}"
                )
    if not place:
        for folder in sorted(counts):
            print(
                f"{folder:28} "
                f"{sum(counts[folder].values()):5}  "
                + ", ".join(f"{word} {n}" for word, n in counts[folder].most_common())
            )
    return 0


def main():
    if sys.argv[1:2] == ["--list"]:
        return list_all(sys.argv[2] if len(sys.argv) > 2 else None)
    for name, test in [
        ("self", test_self),
        ("words", test_words),
        ("glossary", test_glossary),
        ("sentences", test_sentences),
    ]:
        before = len(results)
        test()
        made = results[before:]
        print(f"  {'ok  ' if all(made) else 'FAIL'} {name} ({len(made)} checks)")
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed, 0 skipped")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
