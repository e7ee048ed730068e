#!/usr/bin/env python3
"""Write tests/cases/encode/configs.txt: small tokenizer files put together at random, and what
PyPI's `tokenizers` makes of short texts with them.

    python3 tests/programs/encode_configs.py [SEED [COUNT]]

It covers what the fetched vocabularies do not. That is every kind of normaliser and pre-tokeniser
step and behaviour. It is also added tokens that are words, strip white space or are looked for in
normalised text. Left out is what Turnstile refuses: "first" after other steps. Left out is also
what no file can mean to say: two added tokens that are one after normalising. A line is a
tokenizer.json, or a text in hex and its ids for the file above it.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import random
import sys

from encode_reference import CASES
from tokenizers import Tokenizer

ALPHABET = "ab c1-.'_\n\u00e9\u2581A\u0301 \u4e00\u00b2\t\u00a0"
ADDED = ["<x>", "<y>", "<x> ", "ab", "<x><", "-"]
PATTERNS = [
    "\\s+",
    "[a-c]+",
    "\\p{L}+|\\p{N}",
    "(?i:'s|a)",
    "\\w+",
    " ?\\p{L}+|\\s+(?!\\S)|\\s+",
    "\\d",
    "-",
    "^a|b$",
    "[^\\s]+",
    "x*",
    "\\S",
    "(?=b)",
    "\\bb",
    "\\W",
    "a|",
]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


def byte_alphabet():
    printable = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
    others = [b for b in range(256) if b not in printable]
    return {**{b: chr(b) for b in printable}, **{b: chr(256 + i) for i, b in enumerate(others)}}


BYTES = byte_alphabet()


def text(r):
    return "".join(
        r.choice(list(ALPHABET) + ADDED + ["<y", "  ", "<x> "]) for _ in range(r.randint(0, 20))
    )


def split(r):
    pattern = (
        {"Regex": r.choice(PATTERNS)}
        if r.random() < 0.7
        else {"String": r.choice(["-", " ", "ab", "\u2581", "a"])}
    )
    return {
        "type": "Split",
        "pattern": pattern,
        "behavior": r.choice(BEHAVIORS),
        "invert": r.random() < 0.3,
    }


def pre_tokenizer(r, byte_level, normalised):
    makers = [
        lambda: split(r),
        lambda: split(r),
        lambda: {"type": "Digits", "individual_digits": r.random() < 0.5},
        lambda: {"type": "Punctuation", "behavior": r.choice(BEHAVIORS)},
        lambda: {"type": "Whitespace"},
        lambda: {"type": "WhitespaceSplit"},
    ]
    steps = [r.choice(makers)() for _ in range(r.randint(0, 2))]
    if byte_level:
        steps.append(
            {
                "type": "ByteLevel",
                "add_prefix_space": r.random() < 0.4,
                "trim_offsets": True,
                "use_regex": r.random() < 0.5,
            }
        )
    elif r.random() < 0.6:
        at = r.randint(0, len(steps))
        schemes = ["always", "never"] if at or normalised else ["always", "never", "first"]
        steps.insert(
            at,
            {
                "type": "Metaspace",
                "replacement": "\u2581",
                "prepend_scheme": r.choice(schemes),
                "split": r.random() < 0.7,
            },
        )
    if not steps:
        return None
    return steps[0] if len(steps) == 1 else {"type": "Sequence", "pretokenizers": steps}


def normalizer(r):
    steps = []
    if r.random() < 0.4:
        steps.append({"type": "NFC"})
    if r.random() < 0.4:
        steps.append({"type": "Prepend", "prepend": r.choice(["\u2581", "x"])})
    if r.random() < 0.5:
        steps.append(
            {
                "type": "Replace",
                "pattern": {"String": r.choice([" ", "b", "--", "a"])},
                "content": r.choice(["\u2581", "", "cc"]),
            }
        )
    return {"type": "Sequence", "normalizers": steps} if steps else None


def model(r, byte_level):
    characters = sorted(
        set(ALPHABET + "".join(ADDED) + "\u2581xyc\u00e1\u0107\u00c1\u00fd")
    )  # the last four: what NFC makes
    vocab = {}
    for name in (
        [BYTES[b] for b in sorted(set("".join(characters).encode()))]
        if byte_level
        else ["<unk>"] + [c for c in characters if r.random() < 0.9]
    ):
        vocab[name] = len(vocab)
    fallback = not byte_level and r.random() < 0.5
    for b in sorted(set("".join(characters).encode())) if fallback else []:
        vocab[f"<0x{b:02X}>"] = len(vocab)
    merges, common = (
        [],
        [
            n
            for n in ([BYTES[ord(c)] for c in "ab c1-.' "] if byte_level else "abc1-.'\u2581 ")
            if n in vocab
        ],
    )
    for _ in range(r.randint(0, 30)):
        pool = common * 2 + [n for n in vocab if len(n) > 1 and not n.startswith("<")]
        left, right = r.choice(pool), r.choice(pool)
        if len(left + right) > 8 or [left, right] in merges:
            continue
        vocab.setdefault(left + right, len(vocab))
        merges.append([left, right])
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None if byte_level else "<unk>",
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": r.random() < 0.5,
        "byte_fallback": fallback,
        "ignore_merges": byte_level and r.random() < 0.3,
        "vocab": vocab,
        "merges": merges,
    }


def added_tokens(r, vocab, normalised):
    out, free = [], len(vocab)
    for content in ADDED:
        if r.random() < 0.6:
            continue
        flags = {
            k: r.random() < 0.3
            for k in ("single_word", "lstrip", "rstrip", "normalized", "special")
        }
        if normalised and content == "<x> ":
            flags["normalized"] = False
        out.append({"id": vocab.get(content, free), "content": content, **flags})
        free += content not in vocab
    return out


def config(r):
    byte_level = r.random() < 0.5
    m, n = model(r, byte_level), normalizer(r)
    decoder = (
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
        if byte_level
        else None
    )
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added_tokens(r, m["vocab"], n is not None),
        "normalizer": n,
        "pre_tokenizer": pre_tokenizer(r, byte_level, n is not None),
        "post_processor": None,
        "decoder": decoder,
        "model": m,
    }


def main(seed, count):
    r = random.Random(seed)
    with open(os.path.join(CASES, "configs.txt"), "w", encoding="utf-8", newline="\n") as f:
        for _ in range(count):
            c = config(r)
            line = json.dumps(c, ensure_ascii=False, separators=(",", ":"))
            tokenizer = Tokenizer.from_str(line)
            f.write(line + "\n")
            for _ in range(8):
                t = text(r)
                f.write(
                    " ".join(
                        [t.encode().hex() or "-"]
                        + [str(i) for i in tokenizer.encode(t, add_special_tokens=False).ids]
                    )
                    + "\n"
                )


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 1, int(sys.argv[2]) if len(sys.argv) > 2 else 120
    )
