"""The comments of a source as text, for test_comments.py: of C, Python, Rust, JavaScript, Go, Java.

A comment becomes the number of its first line and its lines. The marks (stars, slashes, quotes) are
blanks there, so that a text stands in one column. So an outline by columns is the same in each
language. What begins behind code on a line is a remark on that line, and is no comment here.

  C, Java, JavaScript    /* … */ that begins a line
  Rust, Go, C++          a run of lines that begin with //, ///, or //!; JavaScript and Java, too
  Python                 what ast calls a docstring, and a run of lines that begin with #

SPDX-License-Identifier: Apache-2.0
"""

import ast
import io
import re
import tokenize

STARS = re.compile(r"\.(c|h|cpp|hpp|def|java|js|mjs|ts|go)$")
SLASHES = re.compile(r"\.(rs|go|cpp|hpp|java|js|mjs|ts)$")
PYTHON = re.compile(r"\.pyi?$")


def bare(line):
    """A line of a comment between stars without its stars; columns stay."""
    line = re.sub(
        r"^\s*(/\*\*(?!/)|/\*|\*/|\*)", lambda m: " " * len(m[0].replace("**", "*")), line
    )
    return re.sub(r"\s*\*/\s*$", "", line).rstrip()


def starred(text):
    """(number of the first line, lines) of each comment between stars that begins a line."""
    for m in re.finditer(r"^[ \t]*/\*.*?\*/", text, re.S | re.M):
        yield text.count("\n", 0, m.start()) + 1, [bare(line) for line in m[0].split("\n")]


def runs(numbered):
    """(number of the first line, lines) of each run of lines that follow one another."""
    first, run = 0, []
    for number, line in [*numbered, (0, "")]:
        if run and number != first + len(run):
            yield first, run
            run = []
        if not run:
            first = number
        run.append(line)


def slashed(text):
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        m = re.match(r"(\s*)//[/!]?(?!/)(.*)", line)
        if m:
            found.append((number, (m[1] + "  " + m[2].replace("\t", "    ")).rstrip()))
    return runs(found)


def docstring(node, lines):
    """(number of the first line, lines) of a docstring, as they stand in the source."""
    text = node.body[0].value
    own = lines[text.lineno - 1 : text.end_lineno]
    indent = " " * text.col_offset
    own[0] = indent + re.sub(r"^[rRuUbB]*(\"\"\"|'''|\"|')", "", own[0][text.col_offset :])
    own[-1] = re.sub(r"(\"\"\"|'''|\"|')\s*$", "", own[-1])
    return text.lineno, [("   " + line[len(indent) :]).rstrip() for line in own]


def python(text):
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            yield docstring(node, lines)
    found = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and token.line.lstrip().startswith("#"):
            found.append(
                (token.start[0], (token.line[: token.start[1]] + " " + token.string[1:]).rstrip())
            )
    yield from runs(found)


def comments(name, text):
    """(number of the first line, lines) of each comment of a source that begins a line."""
    if STARS.search(name):
        yield from starred(text)
    if SLASHES.search(name):
        yield from slashed(text)
    if PYTHON.search(name):
        yield from python(text)


# ---- paragraphs ----------------------------------------------------------------------------------


def cells(line):
    """The columns where the cells of a line begin."""
    return [len(line) - len(line.lstrip())] + [
        m.end() for m in re.finditer(r"(?<=\S) {2,}(?=\S)", line)
    ]


def is_code(lines):
    """Are these lines of a program or of JSON? More than half of them begin or end so."""
    return 2 * sum(line[0] == "{" or line[-1] in ";{}" for line in lines) > len(lines)


def paragraphs(lines):
    """(number of its first line, from 0; its lines) of each paragraph of a comment. The last cell
    of a row is a paragraph, as is the text beside a label. Code is left out."""
    unit, begun, column = [], 0, None
    for number, line in enumerate([*lines, ""]):
        columns = cells(line)
        item = re.match(r"\s*(?:[-*]|\d+\.) ", line)
        if unit and (not line or len(columns) > 1 or item or columns[0] != column):
            if not is_code(unit):
                yield begun, unit
            unit = []
        if line and "SPDX-" not in line:
            if not unit:
                begun = number
                column = columns[0] + 2 if item else columns[-1]
            unit.append(line[columns[-1] :])
