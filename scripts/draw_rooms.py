#!/usr/bin/env python3
"""Draw docs/pictures/rooms.svg: the rooms of runtime/ and compiler/ in their order, as the table in
docs/architecture.md lists them.

    python3 scripts/draw_rooms.py            writes the picture
    python3 scripts/draw_rooms.py --check    ends with status 1 if the picture is not that of the
    table

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import sys
import xml.sax.saxutils

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
PICTURE = ROOT / "docs" / "pictures" / "rooms.svg"

WIDTH, MARGIN, GAP = 880, 16, 10
BOX_WIDTH, BOX_HEIGHT, ROW = 132, 46, 60
PER_ROW = 6
COLOURS = {"programs": "#f3e9d8", "header": "#e6e6e6", "runtime": "#dcebf7", "compiler": "#e2f1df"}


def rooms():
    """[(folder, room, caption)] in the order of the table; the caption is the third cell."""
    rows = re.findall(
        r"^\| `(runtime|compiler)/([a-z_]+)/` \| [^|]* \| ([^|]+) \|",
        PAGE.read_text(encoding="utf-8"),
        re.M,
    )
    return [(folder, room, caption.strip()) for folder, room, caption in rows]


def box(x, y, width, height, colour, title, caption):
    def text(dy, size, weight, words):
        return (
            f'<text x="{x + width / 2:g}" y="{y + dy:g}" text-anchor="middle" font-size="{size}" '
            f'font-weight="{weight}">'
            f"{xml.sax.saxutils.escape(words)}</text>"
        )

    return [
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5" fill="{colour}" '
        'stroke="#555"/>',
        text(height / 2 - 3, 13, "bold", title),
        text(height / 2 + 13, 11, "normal", caption),
    ]


def arrow(x1, y1, x2, y2):
    return (
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="#555" '
        'marker-end="url(#tip)"/>'
    )


def panel(folder, names, y):
    """One folder: its rooms from left to right, row by row, each after those that it may
    include."""
    count = -(-len(names) // PER_ROW)
    height = 30 + count * ROW
    out = [
        f'<rect x="{MARGIN}" y="{y}" width="{WIDTH - 2 * MARGIN}" height="{height}" rx="8" '
        'fill="none" stroke="#999"/>',
        f'<text x="{MARGIN + 12}" y="{y + 19}" font-size="13" font-weight="bold">{folder}/</text>',
    ]
    for i, (room, caption) in enumerate(names):
        x = MARGIN + 12 + (i % PER_ROW) * (BOX_WIDTH + GAP)
        top = y + 28 + (i // PER_ROW) * ROW
        out += box(x, top, BOX_WIDTH, BOX_HEIGHT, COLOURS[folder], f"{i + 1}. {room}", caption)
    return out, height


def draw():
    listed = rooms()
    parts, y = [], MARGIN
    parts += box(
        MARGIN,
        y,
        WIDTH - 2 * MARGIN,
        BOX_HEIGHT,
        COLOURS["programs"],
        "cli/  bench/  bindings/",
        "programs and languages: they see the public header alone",
    )
    y += BOX_HEIGHT
    parts.append(arrow(WIDTH / 2, y, WIDTH / 2, y + 22))
    y += 24
    parts += box(
        MARGIN,
        y,
        WIDTH - 2 * MARGIN,
        BOX_HEIGHT,
        COLOURS["header"],
        "include/turnstile.h",
        "the whole interface",
    )
    y += BOX_HEIGHT
    middle = []
    for folder in ("compiler", "runtime"):
        names = [(room, caption) for place, room, caption in listed if place == folder]
        y += 24
        middle.append(y)
        drawn, height = panel(folder, names, y)
        parts += drawn
        y += height
        if folder == "compiler":
            parts.append(arrow(WIDTH / 2, y, WIDTH / 2, y + 22))
    parts.append(
        f'<text x="{MARGIN}" y="{y + 20}" font-size="11">An arrow points to what may be included; '
        "everything may include the header. Within a folder a room may include rooms with lower "
        "numbers.</text>"
    )
    height = y + 20 + MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" fill="#111">',
            "<title>The rooms of Turnstile</title>",
            '<defs><marker id="tip" markerWidth="9" markerHeight="9" refX="7" refY="4" '
            'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#555"/></marker></defs>',
            f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def main():
    picture = draw()
    if sys.argv[1:] == ["--check"]:
        if not PICTURE.is_file() or PICTURE.read_text(encoding="utf-8") != picture:
            sys.exit(
                "docs/pictures/rooms.svg is not that of docs/architecture.md: run python3 "
                "scripts/draw_rooms.py"
            )
        return
    PICTURE.write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
