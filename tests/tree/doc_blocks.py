"""The code blocks of the documentation: where they stand, in which language, and how the comment
before them says that they are tried. For tests/tree/test_docs.py and tests/hosts.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r"(?:^<!-- (?P<how>[^>]*?) ?-->\n)?^```(?P<language>[a-z]+)\n(?P<text>.*?)^```$", re.M | re.S
)
INDENTED = re.compile(r"(?<=\n\n)(?: {4}(?:build/turnstile|\./dev|meson|sudo|python3) .*\n)+", re.M)


def blocks(path):
    """[(line, language, text, how)] of a file, in its order."""
    content = pathlib.Path(path).read_text(encoding="utf-8")
    return [
        (content.count("\n", 0, m.start("language")) + 1, m["language"], m["text"], m["how"] or "")
        for m in BLOCK.finditer(content)
    ]


def of_host(path, host, language):
    """The one block of a file that this host runs in this language."""
    (text,) = [
        text
        for _, found, text, how in blocks(ROOT / path)
        if found == language and how.split("//")[0].strip() == f"hosts: {host}"
    ]
    return text


def without_comment(line):
    """A command without the remark after it."""
    return re.sub(r"\s+#\s.*$", "", line).strip()


def commands(path):
    """The indented commands of a file, without the remarks after them."""
    outside = BLOCK.sub("", pathlib.Path(path).read_text(encoding="utf-8"))
    return [
        without_comment(line)
        for match in INDENTED.finditer(outside)
        for line in match[0].strip("\n").split("\n")
    ]
