#!/usr/bin/env python3
"""Put a page into one file. Every <link rel="stylesheet" href="F"> and <script src="F"> becomes
what the file F beside the page holds. <!-- F: NAME="TEXT" … --> becomes that file with each {NAME}
replaced.

    page/bundle.py PAGE OUT            the page as one HTML file page/bundle.py --c OUT PAGE
    as C, cut in two at @TRACE@, where the record goes (cli/pictures/trace_page.h)

The pages have a content security policy that lets nothing be loaded; so a file that was left out
would show at once.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import sys

MARK = "@TRACE@"


def bundle(page, extra=()):
    """The page with its styles and scripts in it. `extra`: folders besides the page's own to look
    for them in.
    """
    folders = [page.parent, *map(pathlib.Path, extra)]

    def content(name):
        path = next((folder / name for folder in folders if (folder / name).is_file()), None)
        if not path:
            sys.exit(f"{page}: there is no {name}")
        return path.read_text(encoding="utf-8").strip()

    def script(match):
        text = content(match[1])
        if "</script" in text:
            sys.exit(f"{match[1]} would end its script element")
        return f"<script>\n{text}\n</script>"

    def part(match):
        text = content(match[1]) + "\n"
        for name, value in re.findall(r'(\w+)="([^"]*)"', match[2]):
            text = text.replace("{" + name + "}", value)
        return text

    text = page.read_text(encoding="utf-8")
    text = re.sub(r"<!-- ([\w.]+\.html): (.*) -->\n", part, text)
    text = re.sub(
        r'<link rel="stylesheet" href="([^"]+)">',
        lambda match: f"<style>\n{content(match[1])}\n</style>",
        text,
    )
    return re.sub(r'<script src="([^"]+)"></script>', script, text)


def c_string(text):
    """The text as C string literals, a line each; the "?" of a trigraph is escaped."""
    lines = []
    for line in text.splitlines(keepends=True):
        body = (
            line.replace("\\", "\\\\")
            .replace('"', '\\"')
            .replace("\n", "\\n")
            .replace("??", "?\\?")
        )
        lines.append(
            '  "'
            + "".join(
                c if " " <= c <= "~" else "".join(f"\\{byte:03o}" for byte in c.encode())
                for c in body
            )
            + '"'
        )
    return "\n".join(lines) or '  ""'


def as_c(text):
    head, mark, tail = text.partition(MARK)
    if not mark or MARK in tail:
        sys.exit(f"the page must have {MARK} once")
    parts = ['/* Made by page/bundle.py; do not edit. */\n#include "cli/pictures/trace_page.h"\n']
    for name, part in (("head", head), ("tail", tail)):
        parts.append(
            f"const char trace_page_{name}[] =\n{c_string(part)};\nconst size_t "
            f"trace_page_{name}_length = sizeof trace_page_{name} - 1;\n"
        )
    return "\n".join(parts)


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "--c":
        out, text = arguments[1], as_c(bundle(pathlib.Path(arguments[2])))
    elif len(arguments) == 2 and not arguments[0].startswith("-"):
        out, text = arguments[1], bundle(pathlib.Path(arguments[0]))
    else:
        sys.exit(__doc__)
    pathlib.Path(out).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
