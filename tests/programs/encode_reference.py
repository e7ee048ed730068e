#!/usr/bin/env python3
"""Write what tests/tokenizer/test_encode.c compares with: texts, and what other tokenizers make of
them.

    python3 tests/programs/encode_reference.py texts        tests/cases/encode/texts.txt
    python3 tests/programs/encode_reference.py ids VOCABULARY NAME tests/cases/encode/NAME.txt
    python3 tests/programs/encode_reference.py show VOCABULARY LINE the ids for one line, to look
    into a difference

A text is a line with \\n, \\r, \\t, \\\\ and \\xHH (control characters) escaped. A line of ids is
two counts and two FNV-1a hashes over the ids as little-endian 32-bit numbers. The first of each is
without added tokens, the second with added tokens and BOS. VOCABULARY is one of four files. A
tokenizer.json is read by PyPI `tokenizers`; "without added tokens" means that the file's list of
them is emptied. A .tiktoken file is read by PyPI `tiktoken`, its ranks loaded from that file. A
SentencePiece model is read by PyPI `sentencepiece`. A tekken.json is read by `tiktoken` with the
ranks and the pattern of the file. The last two never look for special tokens in text. "With added
tokens" means that the text is cut at them, leftmost and longest first. What lies between is encoded
on its own.

The texts are made from a fixed seed, of code points that Unicode 14 assigns, so that they are the
same whatever versions are installed.

SPDX-License-Identifier: Apache-2.0
"""

import base64
import json
import os
import random
import sys
import unicodedata

CASES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cases", "encode")

FIXED = [
    "",
    " ",
    "  ",
    "\n",
    "\t",
    "\r\n",
    "\n\n\n",
    " \n \n ",
    "a",
    " a",
    "a ",
    "  a",
    "a  b",
    "   a   b   ",
    "\ta\tb",
    "a\n\n b",
    "Hello, world!",
    "it's we're I'll you've he'd I'm can't",
    "IT'S WE'RE I'LL YOU'VE HE'D I'M CAN'T",
    "it\u2019s",
    "o'clock 'tis 'twas",
    "'s's's 'LL'lL 'Re",
    "x's\u017f'\u017f",
    "12345678901234567890",
    "1 12 123 1234",
    "3.14159e-10",
    "\u0661\u0662\u0663\u0664",
    "\u00bd\u2167\u216f",
    "\u4e09\u5341",
    "\u00e9",
    "e\u0301",
    "e\u0323\u0301",
    "\u1e69 s\u0323\u0307 s\u0307\u0323",
    "\u212b \u2126",
    "\uac00\uac01 \u1100\u1161\u11a8",
    "\ufb01 \u2460 \ufdfa",
    "\u4f60\u597d\uff0c\u4e16\u754c\uff01",
    "\u3053\u3093\u306b\u3061\u306f\u4e16\u754c",
    "\uc548\ub155\ud558\uc138\uc694 \uc138\uacc4",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440",
    "\u0393\u03b5\u03b9\u03ac \u03c3\u03bf\u03c5 \u039a\u03cc\u03c3\u03bc\u03b5",
    "\U0001f600",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7",
    "\U0001f44d\U0001f3fd \u2764\ufe0f \u263a",
    "\U0001d54f\U00020000\U000e0041",
    "a\u00a0b\u2003c\u3000d\u180ee\u200bf\ufeffg",
    "\u2028\u2029\u0085",
    "\x00\x01\x7f",
    "\u2581",
    "\u2581a \u2581b",
    " \u2581 ",
    "<0x0A>",
    "<0x41> <unk> <s> </s> <pad>",
    '{"name": "Ada", "tags": ["a", "b"], "n": -1.5e+10, "x": null, "y": [true, false]}',
    '{\n  "a": {\n    "b": []\n  }\n}\n',
    "def f(x):\n    if x > 0:\n        return x ** 2\n    return -x  # done\n",
    "int main(void) { return 0; }\n",
    '#include <stdio.h>\r\n\r\n\tputs("hi\\n");',
    "https://example.org/a/b?c=d&e=%20f#g",
    "user@example.org",
    "C:\\Users\\x\\file.txt",
    "snake_case camelCase PascalCase SCREAMING_CASE kebab-case",
    "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>",
    "a<|endoftext|>b <|endoftext|> c",
    "<|im_start|>user\nHi<|im_end|>\n",
    "<start_of_turn>user\nHi<end_of_turn>\n<bos><eos>",
    "<think>\nhm\n</think>\n<tool_call>\n{}\n</tool_call>",
    "<|eot_id|><|eot_id|>  <|eot_id|>",
    "<|eot_id",
    "|eot_id|>",
    "<unused0><unused99>x",
    "<h1>a</h1><table>\n\n\n\t\t",
    "<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>",
    "<|endofprompt|>",
    " " * 40,
    "\n" * 40,
    "\t" * 40,
    "a" * 300,
    "ab" * 200,
    "\U0001f600" * 50,
    "1" * 100,
    "=" * 120,
    "-" * 33 + "\n",
    " \n" * 30,
    "\u2581" * 20,
    ("x" + " " * 7) * 20,
]

WORDS = """the of and to in is you that it he was for on are as with his they I at be this have
    from or one had by word but not what all were we when your can said there use an each which
    she do how their if will up other about out many then them these so some her would make
    like him into time has look two more write go see number no way could people my than first
    water been call who oil its now find long down day did get come made may part Turnstile
    tokenizer grammar mask JSON schema antidisestablishmentarianism
    Donaudampfschifffahrtsgesellschaft pneumonoultramicroscopicsilicovolcanoconiosis""".split()
SPECIALS = [
    "<|begin_of_text|>",
    "<|eot_id|>",
    "<|end_of_text|>",
    "<|reserved_special_token_7|>",
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<tool_call>",
    "</tool_call>",
    "<think>",
    "</think>",
    "<bos>",
    "<eos>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<unused17>",
    "<h2>",
    "</h2>",
    "<|endofprompt|>",
    "<|fim_middle|>",
    "<|object_ref_start|>",
    "<|call|>",
    "<|tool_call|>",
]
SPACES = [
    " ",
    "  ",
    "   ",
    "    ",
    "\n",
    "\n\n",
    "\t",
    "\r\n",
    " \n",
    "\n ",
    "\u00a0",
    "\u3000",
    "        ",
]
PUNCTUATION = list(".,;:!?'\"()[]{}<>/\\|@#$%^&*-_=+~`") + [
    "...",
    "->",
    "=>",
    "::",
    "//",
    "/*",
    "*/",
    "\u2014",
    "\u201c",
    "\u201d",
    "\u2026",
    "\u3002",
    "\uff0c",
    "\u00bf",
]
BLOCKS = [
    (0x20, 0x7E),
    (0xA1, 0xFF),
    (0x100, 0x24F),
    (0x300, 0x36F),
    (0x370, 0x3FF),
    (0x400, 0x4FF),
    (0x590, 0x5FF),
    (0x600, 0x6FF),
    (0x900, 0x97F),
    (0xE00, 0xE7F),
    (0x1100, 0x11FF),
    (0x1E00, 0x1EFF),
    (0x2000, 0x206F),
    (0x2070, 0x209F),
    (0x2190, 0x21FF),
    (0x2500, 0x257F),
    (0x3040, 0x30FF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3),
    (0xF900, 0xFAFF),
    (0xFE00, 0xFE0F),
    (0xFF00, 0xFFEF),
    (0x1D400, 0x1D7FF),
    (0x1F300, 0x1F6FF),
    (0x1F900, 0x1F9FF),
    (0x20000, 0x2A6DF),
    (0x20, 0x2FFFF),
]


# ---- texts ---------------------------------------------------------------------------------------


def assigned(c):
    # The versions of Unicode that the tokenizers, PCRE2 and Python know differ in what was assigned
    # lately.
    return not 0xD800 <= c <= 0xDFFF and unicodedata.category(chr(c)) not in ("Cn", "Co")


def random_points(r):
    out = []
    for _ in range(r.randint(1, 4)):
        lo, hi = r.choice(BLOCKS)
        out += [c for c in (r.randint(lo, hi) for _ in range(r.randint(1, 8))) if assigned(c)]
    return "".join(map(chr, out))


def cased(r, word):
    return r.choice(
        [
            word,
            word,
            word.capitalize(),
            word.upper(),
            "".join(r.choice([c.upper(), c.lower()]) for c in word),
        ]
    )


def prose(r):
    out = []
    for _ in range(r.randint(1, 30)):
        out.append(
            cased(r, r.choice(WORDS))
            + r.choice(
                [
                    "",
                    "",
                    "",
                    "'s",
                    "'LL",
                    "'re",
                    "n't",
                    ",",
                    ".",
                    "?!",
                    "-",
                    str(r.randint(0, 99999)),
                ]
            )
        )
        out.append(r.choice([" "] * 12 + SPACES))
    return "".join(out)


def mixture(r):
    makers = [
        lambda: cased(r, r.choice(WORDS)),
        lambda: r.choice(SPACES),
        lambda: r.choice(PUNCTUATION),
        lambda: str(r.getrandbits(r.randint(1, 60))),
        lambda: random_points(r),
        lambda: r.choice(SPACES) * r.randint(1, 20),
        lambda: r.choice(PUNCTUATION) * r.randint(1, 9),
        lambda: r.choice(FIXED),
        lambda: r.choice(SPECIALS),
    ]
    return "".join(r.choice(makers)() for _ in range(r.randint(1, 14)))


def with_specials(r):
    return "".join(
        r.choice(
            [
                r.choice(SPECIALS),
                r.choice(SPACES),
                cased(r, r.choice(WORDS)),
                r.choice(SPECIALS)[:-2],
                "\n",
            ]
        )
        for _ in range(r.randint(2, 12))
    )


def some_json(r, depth=0):
    kind = r.randint(0, 6 if depth < 4 else 4)
    if kind <= 1:
        return r.choice([random_points(r), prose(r)[:40], r.choice(WORDS)])
    if kind == 2:
        return r.choice([0, -1, 3.5, 1e300, r.getrandbits(40), -r.random()])
    if kind <= 4:
        return r.choice([None, True, False])
    if kind == 5:
        return [some_json(r, depth + 1) for _ in range(r.randint(0, 4))]
    return {r.choice(WORDS): some_json(r, depth + 1) for _ in range(r.randint(0, 4))}


def code(r):
    lines = []
    for _ in range(r.randint(1, 12)):
        indent = r.choice([" " * 4 * r.randint(0, 5), "\t" * r.randint(0, 4)])
        name, other = r.choice(WORDS), r.choice(WORDS)
        lines.append(
            indent
            + r.choice(
                [
                    f"if ({name} != NULL && {other}->x[{r.randint(0, 4096)}] >= "
                    f"0x{r.getrandbits(32):x}) {{",
                    "}",
                    f"return {name}_{other}({name}, {other}++);",
                    f"for {name} in range({r.randint(0, 1000)}):",
                    f'self.{name} = "{other}"',
                    f"// {prose(r)[:50]}",
                    f"#define {name.upper()}_MAX {r.getrandbits(20)}u",
                    "",
                ]
            )
        )
    return r.choice(["\n", "\n", "\r\n"]).join(lines)


def make_texts():
    r = random.Random(20240229)
    texts = list(FIXED)
    makers = [
        prose,
        mixture,
        mixture,
        with_specials,
        lambda q: "".join(random_points(q) for _ in range(q.randint(1, 4))),
        code,
        lambda q: json.dumps(
            some_json(q), ensure_ascii=q.random() < 0.3, indent=q.choice([None, None, 1, 2, 4])
        ),
    ]
    while len(texts) < 2200:
        texts.append(makers[len(texts) % len(makers)](r)[:1500])
    return texts


def escape(text):
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
    return "".join(
        short.get(c, f"\\x{ord(c):02x}" if ord(c) < 32 or ord(c) == 127 else c) for c in text
    )


# ---- ids -----------------------------------------------------------------------------------------


def tiktoken_encoding(path):
    import tiktoken
    import tiktoken_ext.openai_public as public

    name = os.path.basename(path).split(".")[0]
    with open(path, "rb") as f:
        ranks = {
            base64.b64decode(token): int(rank)
            for token, rank in (line.split() for line in f if line.strip())
        }
    public.load_tiktoken_bpe = lambda *args, **kwargs: ranks  # nothing is downloaded
    what = getattr(public, name)()
    return tiktoken.Encoding(
        name, pat_str=what["pat_str"], mergeable_ranks=ranks, special_tokens=what["special_tokens"]
    )


def cut_at(specials, encode, bos):
    """Text to ids: `specials` found in it, what lies between encoded on its own."""
    import re

    pattern = re.compile("|".join(re.escape(s) for s in sorted(specials, key=len, reverse=True)))

    def full(text):
        ids, done = [bos], 0
        for match in pattern.finditer(text):
            ids += encode(text[done : match.start()]) + [specials[match.group()]]
            done = match.end()
        return ids + encode(text[done:])

    return full


def sentencepiece_encoders(path):
    from sentencepiece import SentencePieceProcessor

    model = SentencePieceProcessor(model_file=path)
    specials = {
        model.id_to_piece(i): i
        for i in range(model.get_piece_size())
        if model.is_control(i) or model.is_unknown(i)
    }
    return model.encode, cut_at(specials, model.encode, model.bos_id())


def tekken_encoders(path):
    import tiktoken

    with open(path, encoding="utf-8") as f:
        file = json.load(f)
    count = file["config"]["default_num_special_tokens"]
    ranks = {
        base64.b64decode(t["token_bytes"]): t["rank"]
        for t in file["vocab"][: file["config"]["default_vocab_size"] - count]
    }
    encoding = tiktoken.Encoding(
        "tekken", pat_str=file["config"]["pattern"], mergeable_ranks=ranks, special_tokens={}
    )
    names = {
        0: "<unk>",
        1: "<s>",
        2: "</s>",
        3: "[INST]",
        4: "[/INST]",
        11: "<pad>",
    }  # of those that the texts may hold
    names.update((i, f"<SPECIAL_{i}>") for i in range(20, count))

    def plain(text):
        return [count + i for i in encoding.encode_ordinary(text)]

    return plain, cut_at({name: i for i, name in names.items()}, plain, 1)


def encoders(path):
    """Two functions from text to ids: without added tokens; with added tokens and BOS."""
    if path.endswith(".tiktoken"):
        e = tiktoken_encoding(path)
        return lambda t: e.encode(t, disallowed_special=()), lambda t: e.encode(
            t, allowed_special="all"
        )
    if ".model" in os.path.basename(path):
        return sentencepiece_encoders(path)
    if os.path.basename(path).startswith("tekken"):
        return tekken_encoders(path)
    from tokenizers import Tokenizer

    with open(path, encoding="utf-8") as f:
        bare = json.load(f)
    bare["added_tokens"] = []
    plain, full = Tokenizer.from_str(json.dumps(bare)), Tokenizer.from_file(path)
    return lambda t: plain.encode(t, add_special_tokens=False).ids, lambda t: full.encode(
        t, add_special_tokens=True
    ).ids


def fnv(ids):
    h = 0xCBF29CE484222325
    for i in ids:
        for b in i.to_bytes(4, "little"):
            h = (h ^ b) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return h


def main(arguments):
    texts = make_texts()
    if arguments[:1] == ["texts"]:
        with open(os.path.join(CASES, "texts.txt"), "w", encoding="utf-8", newline="\n") as f:
            f.write("".join(escape(t) + "\n" for t in texts))
    elif arguments[:1] == ["ids"] and len(arguments) == 3:
        plain, full = encoders(arguments[1])
        with open(os.path.join(CASES, arguments[2] + ".txt"), "w", newline="\n") as f:
            for t in texts:
                a, b = plain(t), full(t)
                f.write(f"{len(a)} {fnv(a):016x} {len(b)} {fnv(b):016x}\n")
    elif arguments[:1] == ["show"] and len(arguments) == 3:
        text = texts[int(arguments[2]) - 1]
        print(repr(text), *(e(text) for e in encoders(arguments[1])), sep="\n")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
