#!/usr/bin/env python3
"""Comments that are read once.

  tables     no table in a comment has a cell that goes on in another column. A formatter that wraps
             a line of a table does that. Nobody can say then which remark belongs to which row
  orphans    no word or two stand alone on a line within a sentence, which the same formatter leaves
  sentences  no sentence of a comment or a docstring has more than 25 words

A row of a table is a line with two cells or more, which two blanks or more set apart. The line
after a row goes on below the row's last cell, or is another row. Or the row has ended with a full
stop or a colon. A label of an essay and its text are such a row:

    Problem   A text that goes on
              in this column.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from comments import cells, comments, paragraphs, starred  # noqa: E402
from test_words import MOST, ROOT, length, sentences  # noqa: E402

MADE = re.compile(r"_data\.[ch]$|/metaschemas\.c$|compiler/tools/presets\.c$|nfc_expected\.h$")
WIDEST = 100  # columns
WRAPS = 80  # a line that is shorter was not wrapped
C = re.compile(r"\.(c|h|cpp|hpp|def)$")
ANY = re.compile(r"\.(c|h|cpp|hpp|def|py|pyi|rs|js|mjs|ts|go|java)$")
LONE = 2  # words of an orphan, at most

results = []


def check(condition, what):
    results.append(bool(condition))
    if not condition:
        print(f"  failed: {what}")


def sources(kind=C):
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    names = listed.stdout.split("\n")
    if listed.returncode:
        names = [
            p.relative_to(ROOT).as_posix()
            for p in ROOT.rglob("*")
            if not p.relative_to(ROOT).parts[0].startswith(("build", "."))
        ]
    return sorted(
        name
        for name in names
        if kind.search(name) and not MADE.search(name) and (ROOT / name).is_file()
    )


# ---- tables --------------------------------------------------------------------------------------


def broken_rows(lines):
    """The places in a comment where a row goes on in another column than its last cell's."""
    for i, (line, after) in enumerate(zip(lines, lines[1:])):
        if not line or not after:
            continue
        if re.search(r"[;.] [2-9]\. [a-zA-Z]", line):
            yield i  # an item of a numbered list, which begins within a line
        columns, next_ones = cells(line), cells(after)
        if len(columns) == 1 or len(line) <= WRAPS or line[-1] in ".:":
            continue
        if len(next_ones) > 1 and set(next_ones) & set(columns):
            # another row: its cells stand below those of this one, or this one has room
            full = len(line) + len(after.split()[0]) >= WIDEST - 2
            if full and next_ones[0] == columns[0] and not set(next_ones[1:]) & set(columns):
                yield i
        elif columns[0] < next_ones[0] < columns[-1]:
            yield i


def orphans(lines):
    """The places where a word or two stand alone within a sentence."""
    for i, (before, line, after) in enumerate(zip(lines, lines[1:], lines[2:]), 1):
        if not before or not line or not after or len(line.split()) > LONE:
            continue
        left = cells(line)[0] < cells(before)[-1] and len(cells(line)) == 1
        if left and len(before) > WRAPS and before[-1] not in ".:;" and re.match(r"\s*[a-z]", line):
            yield i  # the end of a sentence, left of the sentence
            continue
        if len(cells(after)) > 1:
            continue  # another row
        goes_on = len(before) > WRAPS and not re.search(r"[.:;!?]$", before)
        if goes_on and re.search(r"[A-Za-z,]$", line) and re.match(r"\s*[a-z]", after):
            yield i


# ---- sentences -----------------------------------------------------------------------------------


def long_sentences(name, text):
    """[(line, words, sentence)] of the comments of a source."""
    return [
        (first + at, length(sentence), sentence)
        for first, lines in comments(name, text)
        for at, paragraph in paragraphs(lines)
        for sentence in sentences(" ".join(paragraph))
        if length(sentence) > MOST
    ]


# ---- the tests -----------------------------------------------------------------------------------


def each_comment(find, why):
    for name in sources():
        results.append(True)
        for first, lines in starred((ROOT / name).read_text(encoding="utf-8", errors="replace")):
            if len(lines) == 1:
                continue
            for i in find(lines):
                check(False, f"{name}:{first + i}: {why}: {lines[i].strip()[:80]}")


def test_tables():
    each_comment(broken_rows, "a row goes on in another column than its last cell")


def test_orphans():
    each_comment(orphans, "a line of a word or two within a sentence")


def test_sentences():
    for name in sources(ANY):
        text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
        results.append(True)
        for line, words, sentence in long_sentences(name, text):
            check(False, f"{name}:{line}: a sentence of {words} words: {sentence[:100]}")


def test_self():
    def found(find, *lines):
        return [i for _, all in starred("/*" + "\n * ".join(lines) + "\n */") for i in find(all)]

    row = "name" + " " * 20 + " ".join(["word"] * 13)
    check(found(broken_rows, "x", row, "      goes on") == [1], "self: a cell that is wrapped")
    check(
        not found(broken_rows, "x", row, " " * 24 + "goes on")
        and not found(broken_rows, "x", row, "name" + " " * 20 + "another")
        and not found(broken_rows, "x", row, "  name" + " " * 18 + "another"),
        "self: a cell that goes on, and another row",
    )
    check(
        not found(broken_rows, "x", row + ".", "      name")
        and not found(broken_rows, "x   y", " z"),
        "self: rows that have ended, and lines that were not wrapped",
    )
    long = " ".join(["word"] * 18)
    check(found(orphans, "x", long, "of", "it goes on") == [2], "self: an orphan")
    check(
        not found(orphans, "x", long, "of it.", "it goes on")
        and not found(orphans, "x", long, "of", "Then it goes on"),
        "self: the end of a sentence is none",
    )
    some = " ".join(["word"] * 25)

    def long_at(name, text):
        return [line for line, _, _ in long_sentences(name, text)]

    check(not long_at("a/b.c", f"/* {some}. */\n"), "self: 25 words on one line")
    check(
        long_at("a/b.c", f"/* a.c - x.\n *\n * Idea      {some}\n *           word.\n */") == [3],
        "self: 26 words behind a label",
    )
    check(
        long_at("a/b.c", f"/* x.\n *\n *   name     {some}\n *            word\n */") == [3],
        "self: 26 words in the last cell of a row",
    )
    check(
        not long_at("a/b.c", f"/* x.\n *   name  word\n *   name  {some}\n */"),
        "self: rows are no sentence",
    )
    check(
        long_at("a/b.c", f"int x;\n  /* {some}\n   * word. */") == [2]
        and not long_at("a/b.c", f"int x; /* {some}\n         * word. */"),
        "self: comments that begin a line",
    )
    check(
        not long_at("a/b.h", "/* x\n *   " + "a b c d;\n *   " * 9 + "*/"),
        "self: a program is no sentence",
    )
    many = "\n{0}{1}\n{0}word.".format
    check(
        [long_at("a/b.rs", "fn" + many(mark, some)) for mark in ("// ", "//! ", "  /// ")]
        == [[2]] * 3
        and long_at("a/b.js", "/** x" + many(" * ", some) + " */") == [1]
        and not long_at("a/b.rs", f"// {some}\nlet x;\n// word."),
        "self: slashes and stars of other languages",
    )
    check(
        long_at("a/b.py", f'def f():\n    """x.\n\n    {some}\n    word.\n    """\n') == [4]
        and long_at("a/b.py", f'"""{some}\nword."""\n') == [1]
        and long_at("a/b.py", f"x = 1\n# {some}\n# word.\n") == [2]
        and not long_at("a/b.py", f'x = """{some}\nword."""\n'),
        "self: docstrings, and remarks of Python",
    )


def main():
    for name, test in [
        ("self", test_self),
        ("tables", test_tables),
        ("orphans", test_orphans),
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
