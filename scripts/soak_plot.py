#!/usr/bin/env python3
"""Draw what `soak` or `soak_texts` printed: resident memory, and what the library holds, over
schemas compiled and dropped, or over texts of a few grammars.

    build/tests/soak 1000000 100000000 | scripts/soak_plot.py docs/bench/soak.svg
    build/tests/soak_texts 10000000 | scripts/soak_plot.py docs/bench/soak-texts.svg

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import sys

LINE = re.compile(
    r"^\s+([\d.]+) s\s+(\d+) (schemas|texts)\s+(\d+) tokens\s+(\d+) "
    r"(?:masks compared|generations)\s+(\d+) KiB held\s+(\d+) KiB resident$"
)
WIDTH, HEIGHT, LEFT, TOP = 560, 240, 70, 40


def text(x, y, content, anchor="start", size=12):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{content}</text>'
    )


def draw(rows, unit):
    """The picture of rows (schemas or texts, tokens, held KiB, resident KiB)."""
    top = 1.25 * max(r[3] for r in rows)
    body = [
        text(
            LEFT,
            22,
            f"{rows[-1][0]:,} schemas compiled and dropped, {rows[-1][1]:,} tokens in 10,000 "
            "matchers"
            if unit == "schemas"
            else f"{rows[-1][0]:,} texts of four grammars, {rows[-1][1]:,} tokens",
            size=13,
        )
    ]
    for i in range(5):
        y = TOP + HEIGHT * (1 - i / 4)
        body += [
            f'<line x1="{LEFT}" y1="{y}" x2="{LEFT + WIDTH}" y2="{y}" stroke="#eee"/>',
            text(LEFT - 6, y + 4, f"{top * i / 4 / 1024:.1f}", "end", 10),
        ]
    for column, colour, name in ((3, "#c0392b", "resident"), (2, "#2c6fbb", "held by the library")):
        points = [
            (LEFT + WIDTH * r[0] / rows[-1][0], TOP + HEIGHT * (1 - r[column] / top)) for r in rows
        ]
        body.append(
            '<polyline points="'
            + " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            + f'" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        body.append(
            text(
                LEFT + WIDTH - 4,
                points[-1][1] - 8,
                f"{name}, {rows[-1][column] / 1024:.1f} MiB",
                "end",
            )
        )
    body += [
        text(LEFT + WIDTH / 2, TOP + HEIGHT + 30, unit, "middle"),
        text(LEFT, TOP + HEIGHT + 16, "0", "middle", 10),
        text(LEFT + WIDTH, TOP + HEIGHT + 16, f"{rows[-1][0]:,}", "middle", 10),
        text(12, TOP + HEIGHT / 2, "MiB"),
    ]
    w, h = LEFT + WIDTH + 40, TOP + HEIGHT + 45
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
        'font-family="sans-serif" fill="#222">'
        f'<rect width="{w}" height="{h}" fill="#fff"/>' + "\n".join(body) + "</svg>\n"
    )


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rows, unit = [], "schemas"
    for line in sys.stdin:
        print(line, end="")
        if found := LINE.match(line):
            _, done, unit, tokens, _, held, resident = found.groups()
            rows.append((int(done), int(tokens), int(held), int(resident)))
    if not rows:
        sys.exit("soak printed no line")
    pathlib.Path(sys.argv[1]).write_text(draw(rows, unit), encoding="utf-8")


if __name__ == "__main__":
    main()
