#!/usr/bin/env python3
"""Make seeds for fuzz_mask and fuzz_walk out of the corpora of the grammars' own targets:
tests/judges/lockstep.h has the format.

    scripts/fuzz_seeds.py        writes fuzz/corpus/mask and fuzz/corpus/walk anew (always the same
                                 files)

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import random

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT / "fuzz" / "corpus"
LONGEST = 600  # bytes of a grammar


def grammars():
    """Every grammar of the other corpora as (name, kind byte, text)."""
    for path in sorted((CORPUS / "schema").iterdir()):
        yield path.stem, 0, path.read_bytes()[1:]
    for path in sorted((CORPUS / "regex").iterdir()):
        data = path.read_bytes()
        yield path.stem, 2 | (4 if data[0] & 1 else 0), data[1:].split(b"\0")[0]
    for path in sorted((CORPUS / "gbnf").iterdir()):
        yield path.stem, 3, path.read_bytes().replace(b"\0", b"")


def main():
    for target in ("mask", "walk"):
        folder = CORPUS / target
        folder.mkdir(exist_ok=True)
        for number, (name, kind, text) in enumerate(grammars()):
            if len(text) > LONGEST or (target == "walk" and number % 3):
                continue
            draw = random.Random(f"{target} {name}")
            commands = bytes(draw.randrange(256) for _ in range(40))
            head = bytes([number % 16])
            if target == "walk":
                words = 1 + draw.randrange(40)
                head = bytes([words]) + bytes(draw.randrange(256) for _ in range(2 * words))
            options = draw.choice([0, 4, 8, 12, 16, 36]) if kind == 0 else 0
            (folder / name).write_bytes(head + bytes([kind | options]) + text + b"\0" + commands)


if __name__ == "__main__":
    main()
