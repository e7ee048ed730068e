#!/usr/bin/env python3
"""Write tests/cases/encode/patterns.txt: patterns that PCRE2 would read differently, and where
PyPI's `tokenizers` and `tiktoken` find them.

    python3 tests/programs/encode_patterns.py [SEED]

The first line is a tokenizer.json with PATTERN in it. The second is a rank file with ";" for line
feeds. Both drop what the pattern does not match. Both know every byte and some pairs, so that ids
separate matches. After that a line is "O" or "R" (Oniguruma, Rust) and a pattern. Or the line is a
text in hex, and its ids by the pattern above.

SPDX-License-Identifier: Apache-2.0
"""

import base64
import json
import os
import random
import sys

import tiktoken
from encode_configs import BYTES
from encode_reference import CASES
from tokenizers import Tokenizer

LETTERS = "abcsxAS127-_,{} \n"
ALPHABET = (
    LETTERS + "\t\x0b\xb2\xdf\xe9\u0301\u0345\u180e\u200c\u200d\u2028\u2160\u3001\u4e16\u20ac"
)
BOTH = [
    r"\p{Han}+",
    r"\P{Han}",
    r"[\p{Han}a]",
    r"\p{Greek}|\p{^Latin}",
    r"\p{Yi}|\p{Emoji}|\p{Lu}",
    r"\w+",
    r"\W",
    r"[\w-]+",
    r"[\W]+",
    r"[^\W\d_]+",
    r"[^\Sa]",
    r"[\Sb\n]",
    r"\s+",
    r"\bx",
    r"\B.",
    r"\h+",
    r"\H",
    r"[^\h\n]",
    r"[\H]",
    r"\v",
    r"[\va]",
    r"\d{1,2}+",
    r"(?:\d\d?){1,2}+a?",
    r"a{2}?",
    r"(a|b){2}?c?",
    r"[ab]{2}?",
    r"x{,2}a",
    r"a{1,2}?b",
    r"a{|\}",
    r"[[:punct:]]",
    r"[[:alnum:]]+",
    r"[[:upper:][:digit:]]",
    r"[[:^alpha:]]",
    r"[^[:word:]]",
    r"[[:space:]]+",
    r"[[:graph:]]+",
    r"[[:^print:]b]",
    r"[[:blank:]\]]",
    r"(?m).+",
    r"a(?m).",
    r"(?m:b.)|^a",
    r"a(?i)b|c|x",
    r"(?:a(?i)b)c|A",
    r"(?i:a|s)x",
    r"(?i:[^a]b)",
    r"(?i-m:\w)-",
    r"(?#a)b",
    r"\x61|\u0062",
    r"[]a]",
    r"[^]^\W]",
    r"\O",
    r"x\Z",
    r"(?<=[\Wa])b",
    r"(?<n>a|b)\k<n>",
    r"(a)(b)?\1",
    r"\R",
    r"\N+",
    r"(?i)\p{L}+\W?",
    r"[a\-c]",
    r"[a[b-x]]",
    r"[a-x&&[^b-s]1]",
    r"[^ab&&[^b]]+",
    r"[^\Wa&&\d]",
    r"[\p{L}\p{M}&&[^\p{Han}]]+",
    r"(?<=[\w&&[^a]])b",
    r"[^[^a]b&&[a-c]]",
]
ONIGURUMA = BOTH + [r"a{,}", r"(?-mix:a.)", r"(?im)a.", r"(?i)\p{Lu}", r"\d{1,}+7", r"\p{Alpha}"]
RUST = BOTH + [
    r"\d{1,2}+1",
    r"(?s).+",
    r"(?U)a+",
    r"\pL+",
    r"\PL",
    r"(?i)\PL",
    r"\u{61}",
    r"(?P<n>a)b",
    r"\xe9",
    r"(?m)a$|^b",
    r"a$",
    r"(?u)\w\b",
]


def pairs():
    return [a + b for a in LETTERS for b in LETTERS]


def tokenizer_json():
    vocab = {BYTES[b]: b for b in range(256)}
    merges = [BYTES[ord(a)] + " " + BYTES[ord(b)] for a, b in pairs()]
    vocab.update({m.replace(" ", ""): 256 + i for i, m in enumerate(merges)})
    split = {
        "type": "Split",
        "pattern": {"Regex": "PATTERN"},
        "behavior": "Removed",
        "invert": True,
    }
    level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
    model = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "vocab": vocab,
        "merges": merges,
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, level]},
        "post_processor": None,
        "decoder": {
            "type": "ByteLevel",
            "add_prefix_space": True,
            "trim_offsets": True,
            "use_regex": True,
        },
        "model": model,
    }


def encoder(dialect, pattern, config, ranks):
    if dialect == "R":
        return tiktoken.Encoding(
            "x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
        ).encode_ordinary
    config["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = pattern
    tokenizer = Tokenizer.from_str(json.dumps(config))
    return lambda t: tokenizer.encode(t, add_special_tokens=False).ids


def main(seed):
    r = random.Random(seed)
    ranks = {bytes([b]): b for b in range(256)}
    ranks.update({p.encode(): 256 + i for i, p in enumerate(pairs())})
    with open(os.path.join(CASES, "patterns.txt"), "w", encoding="utf-8", newline="\n") as f:
        f.write(json.dumps(tokenizer_json(), ensure_ascii=False, separators=(",", ":")) + "\n")
        f.write("".join(f"{base64.b64encode(t).decode()} {i};" for t, i in ranks.items()) + "\n")
        for dialect, patterns in (("O", ONIGURUMA), ("R", RUST)):
            for pattern in patterns:
                encode = encoder(dialect, pattern, tokenizer_json(), ranks)
                f.write(f"{dialect} {pattern}\n")
                for text in [
                    ALPHABET,
                    "aabaaabb1a2722171aaAbCxX",
                    "abaBabcAbC\u3001a\u4e16\n\nx",
                    *(
                        "".join(r.choice(ALPHABET) for _ in range(r.randint(4, 24)))
                        for _ in range(4)
                    ),
                ]:
                    f.write(" ".join([text.encode().hex()] + [str(i) for i in encode(text)]) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
