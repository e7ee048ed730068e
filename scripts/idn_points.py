#!/usr/bin/env python3
"""Make compiler/formats/idn_points.def: which code points a U-label may have, and what they are.

    build/venv/bin/python scripts/idn_points.py > compiler/formats/idn_points.def

RFC 5892's derived property is that of the package idna, other properties are those of the package
regex: `./dev fetch python` has both. The Unicode version is theirs.

SPDX-License-Identifier: Apache-2.0
"""

import idna.idnadata
import regex

HEAD = """/* idn_points.def - the code points that a U-label may have (RFC 5892), in classes.
 * Made by scripts/idn_points.py, after Unicode %s.
 *
 * TSL__CLASS(number, rule, script, direction, joining): what the rules of a label ask about.
 * TSL__POINTS(class, first, step, count): code points of that class, in order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
"""

ALONE = {
    0x2D: "HYPHEN",
    0xB7: "MIDDLE_DOT",
    0x375: "KERAIA",
    0x5F3: "GERESH",
    0x5F4: "GERESH",
    0x200C: "NON_JOINER",
    0x200D: "JOINER",
    0x30FB: "KATAKANA_DOT",
    0x6C: "LETTER_L",
}


def matcher(pattern):
    return regex.compile(pattern).match


VIRAMA = matcher(r"\p{Canonical_Combining_Class=9}")
MARK = matcher(r"\p{M}")
SCRIPTS = {
    "GREEK": matcher(r"\p{Script=Greek}"),
    "HEBREW": matcher(r"\p{Script=Hebrew}"),
    "EAST_ASIAN": matcher(r"[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]"),
}
DIRECTIONS = {
    "LEFT": matcher(r"\p{Bidi_Class=Left_To_Right}"),
    "RIGHT": matcher(r"[\p{Bidi_Class=Right_To_Left}\p{Bidi_Class=Arabic_Letter}]"),
    "ARABIC": matcher(r"\p{Bidi_Class=Arabic_Number}"),
    "EUROPEAN": matcher(r"\p{Bidi_Class=European_Number}"),
    "NONSPACING": matcher(r"\p{Bidi_Class=Nonspacing_Mark}"),
    "NEUTRAL": matcher(
        r"[\p{Bidi_Class=ES}\p{Bidi_Class=CS}\p{Bidi_Class=ET}\p{Bidi_Class=ON}\p{Bidi_Class=BN}]"
    ),
}
JOINING = {
    "TO_LEFT": matcher(r"\p{Joining_Type=Left_Joining}"),
    "TO_RIGHT": matcher(r"\p{Joining_Type=Right_Joining}"),
    "TO_BOTH": matcher(r"\p{Joining_Type=Dual_Joining}"),
    "TRANSPARENT": matcher(r"\p{Joining_Type=Transparent}"),
}


def first(table, c, otherwise=None):
    found = [name for name, match in table.items() if match(c)]
    assert found or otherwise, hex(ord(c))
    return found[0] if found else otherwise


def class_of(point):
    c = chr(point)
    rule = ALONE.get(point) or ("VIRAMA" if VIRAMA(c) else "MARK" if MARK(c) else "OTHER")
    script = "ASCII" if point < 0x80 else first(SCRIPTS, c, "ANY")
    return rule, script, first(DIRECTIONS, c), first(JOINING, c, "ALONE")


def allowed():
    for name in ("PVALID", "CONTEXTJ", "CONTEXTO"):
        for packed in idna.idnadata.codepoint_classes[name]:
            yield from range(packed >> 32, packed & 0xFFFFFFFF)


def runs(points):
    """Runs of points of one class with one step: 1, or 2 where what lies between is not allowed."""
    at = 0
    while at < len(points):
        point, own = points[at]
        step = 2 if points[at + 1 : at + 3] == [(point + 2, own), (point + 4, own)] else 1
        n = 1
        while at + n < len(points) and points[at + n] == (point + step * n, own):
            n += 1
        yield own, point, step, n
        at += n


def main():
    classes = {}
    points = []
    for point in sorted(allowed()):
        key = class_of(point)
        points.append((point, classes.setdefault(key, len(classes))))
    print(HEAD % idna.idnadata.__version__, end="")
    for key, number in classes.items():
        print(f"TSL__CLASS({number}, {', '.join(key)})")
    line = ""
    for own, at, step, n in runs(points):
        row = f"TSL__POINTS({own}, 0x{at:X}, {step}, {n})"
        if len(line) + len(row) > 140:
            print(line)
            line = ""
        line += (" " if line else "") + row
    print(line)


if __name__ == "__main__":
    main()
