#!/usr/bin/env python3
"""Train the embedded vocabulary, or write it as a tokenizer.json. Needs PyPI `tokenizers`.

    python3 scripts/train_vocab.py train         runtime/vocab_files/embedded_data.h, from the text
    of this project python3 scripts/train_vocab.py json PATH     what that file holds, for
    tests/programs/encode_reference.py

4,096 tokens: ids 0 to 255 are the bytes, then come the merges in order, then the special tokens.
The text is what git tracks: prose, schemas, sources. To these come samples of JSON, JSON Schema and
tool calls, which this script makes from a fixed seed. Training again after the text has changed
gives other tokens; tests/cases/encode/embedded.txt then has to be written again too.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import random
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.path.join(ROOT, "runtime", "vocab_files", "embedded_data.h")
SIZE = 4096
SPECIAL = [
    "<|endoftext|>",
    "<|end_of_turn|>",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
    "<|tool_call|>",
    "<|end_tool_call|>",
    "<|tool_result|>",
]
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| "
    r"?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SOURCES = 700_000  # bytes of C and Python at most, so that they do not drown prose and JSON


# ---- text ----------------------------------------------------------------------------------------


def project_texts():
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    left = SOURCES
    for name in sorted(names):
        if not re.search(r"\.(md|json|c|h|py|def|gbnf)$", name) or re.search(
            r"(_data|expected)\.h$|^tests/cases/", name
        ):
            continue
        with open(os.path.join(ROOT, name), encoding="utf-8") as f:
            text = f.read()
        if re.search(r"\.(c|h|py|def)$", name):
            if left < len(text):
                continue
            left -= len(text)
        yield text


FIRST = (
    "Ada Grace Alan Edsger Barbara Donald Frances John Margaret Niklaus Radia Tim Karen "
    "Leslie Shafi"
).split()
LAST = (
    "Lovelace Hopper Turing Dijkstra Liskov Knuth Allen McCarthy Hamilton Wirth Perlman "
    "Berners-Lee Jones Lamport Goldwasser"
).split()
CITIES = (
    "Berlin Paris London Madrid Rome Vienna Tokyo Delhi Lagos Lima Oslo Cairo Sydney Toronto Boston"
).split()
NOUNS = """account address amount answer article author balance body book category channel city
    code comment company config content country currency customer date description device
    document email error event file flight folder group hotel id image index invoice item key
    label language level limit line link list location message method mode model name note
    number offset order page parameter path payment person phone price priority product profile
    project quantity query question rating reason record region report request response result
    role room route score search section service session size source stage state status street
    subject summary table tag target task team temperature text thread time title token topic
    total type unit update user value version weather week year zip""".split()
VERBS = (
    "get set list create delete update search send find book cancel read write open close run "
    "check compute convert translate summarize schedule"
).split()
SENTENCES = [
    "The {0} of the {1} is {2}.",
    "Please {3} the {0} for {4}.",
    "I will {3} the {0} now and tell you the {1}.",
    "What is the {0} in {5} today?",
    "Here is the {0} that you asked for: {2}.",
    "It was not possible to {3} the {0}, because the {1} is missing.",
    "First {3} the {0}, then look at the {1}.",
    "{4} lives in {5} and works on the {0}.",
    "No {0} was found with this {1}.",
    "You can {3} as many of them as you like, but only one {0} at a time.",
]


def word(r):
    return r.choice(NOUNS)


def key(r):
    return r.choice(
        [
            word(r),
            word(r),
            f"{word(r)}_{word(r)}",
            word(r) + word(r).capitalize(),
            f"is_{word(r)}",
            f"{word(r)}_id",
            f"max_{word(r)}",
        ]
    )


def sentence(r):
    return r.choice(SENTENCES).format(
        word(r),
        word(r),
        r.randint(0, 999),
        r.choice(VERBS),
        f"{r.choice(FIRST)} {r.choice(LAST)}",
        r.choice(CITIES),
    )


def scalar(r):
    kinds = [
        lambda: r.randint(0, 1000),
        lambda: r.randint(-10, 10),
        lambda: round(r.uniform(-100, 1000), r.randint(1, 4)),
        lambda: r.choice([True, False, None]),
        lambda: word(r),
        lambda: sentence(r),
        lambda: r.choice(CITIES),
        lambda: f"{r.choice(FIRST)} {r.choice(LAST)}",
        lambda: f"20{r.randint(10, 39)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}",
        lambda: f"20{r.randint(10, 39)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}"
        f"T{r.randint(0, 23):02}:{r.randint(0, 59):02}:00Z",
        lambda: f"{r.choice(FIRST).lower()}@example.{r.choice(['com', 'org', 'net'])}",
        lambda: f"https://www.example.{r.choice(['com', 'org'])}/{word(r)}/{r.randint(1, 999)}",
        lambda: "%08x-%04x-4%03x-a%03x-%012x"
        % (
            r.getrandbits(32),
            r.getrandbits(16),
            r.getrandbits(12),
            r.getrandbits(12),
            r.getrandbits(48),
        ),
    ]
    return r.choice(kinds)()


def value(r, depth):
    kind = r.randint(0, 9)
    if depth and kind < 2:
        return [value(r, depth - 1) for _ in range(r.randint(0, 4))]
    if depth and kind < 4:
        return {key(r): value(r, depth - 1) for _ in range(r.randint(0, 5))}
    return scalar(r)


def schema(r, depth):
    kind = r.choice(
        ["string", "integer", "number", "boolean", "object", "array"]
        if depth
        else ["string", "integer", "number", "boolean"]
    )
    out = {"type": kind}
    if r.random() < 0.4:
        out["description"] = sentence(r)
    if kind == "string":
        out.update(
            r.choice(
                [
                    {},
                    {"format": r.choice(["date", "date-time", "email", "uuid", "uri"])},
                    {"enum": [word(r) for _ in range(3)]},
                    {"minLength": 1, "maxLength": r.randint(2, 99)},
                    {"pattern": r.choice(["^[a-z]+$", "^\\d{3}-\\d{4}$", "^[A-Z]{2}$"])},
                ]
            )
        )
    elif kind in ("integer", "number"):
        out.update(
            r.choice(
                [
                    {},
                    {"minimum": 0},
                    {"minimum": 1, "maximum": 100},
                    {"exclusiveMinimum": 0},
                    {"multipleOf": 5},
                ]
            )
        )
    elif kind == "array":
        out["items"] = schema(r, depth - 1)
        out.update(r.choice([{}, {"minItems": 1}, {"uniqueItems": True}, {"maxItems": 10}]))
    elif kind == "object":
        out["properties"] = {key(r): schema(r, depth - 1) for _ in range(r.randint(1, 4))}
        out["required"] = list(out["properties"])[: r.randint(0, 3)]
        out.update(
            r.choice(
                [{}, {"additionalProperties": False}, {"oneOf": [{"$ref": f"#/$defs/{word(r)}"}]}]
            )
        )
    return out


def dump(r, v):
    return json.dumps(
        v,
        ensure_ascii=False,
        indent=r.choice([None, None, 2, 4]),
        separators=r.choice([None, (",", ":")]),
    )


def tool_call(r):
    name, arguments = (
        f"{r.choice(VERBS)}_{word(r)}",
        {key(r): scalar(r) for _ in range(r.randint(0, 4))},
    )
    return r.choice(
        [
            lambda: {"name": name, "arguments": arguments},
            lambda: {
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            },
            lambda: {
                "tool_calls": [
                    {
                        "id": f"call_{r.getrandbits(32):08x}",
                        "type": "function",
                        "function": {"name": name, "arguments": arguments},
                    }
                ]
            },
            lambda: {"tool": name, "parameters": arguments},
        ]
    )()


def made_texts():
    r = random.Random(4096)
    makers = [
        lambda: dump(r, value(r, 3)),
        lambda: dump(r, {key(r): value(r, 2) for _ in range(r.randint(1, 6))}),
        lambda: dump(r, tool_call(r)),
        lambda: dump(r, schema(r, 3)),
        lambda: " ".join(sentence(r) for _ in range(r.randint(1, 8))) + "\n",
    ]
    for i in range(9000):
        yield makers[i % len(makers)]()


# ---- training ------------------------------------------------------------------------------------


def alphabet():
    """GPT-2's character for each byte."""
    printable = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
    others = [b for b in range(256) if b not in printable]
    return {**{b: chr(b) for b in printable}, **{b: chr(256 + i) for i, b in enumerate(others)}}


def train():
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    wanted = SIZE - 256 - len(SPECIAL)
    trainer = trainers.BpeTrainer(
        vocab_size=256 + wanted + 64,
        initial_alphabet=list(alphabet().values()),
        max_token_length=24,
        show_progress=False,
    )
    t.train_from_iterator(list(project_texts()) + list(made_texts()), trainer)
    ids, merges = {c: b for b, c in alphabet().items()}, []
    for left, right in (
        m if isinstance(m, list) else m.split(" ")
        for m in json.loads(t.to_str())["model"]["merges"]
    ):
        if left + right in ids or len(merges) == wanted:  # a second way to a token that is there
            continue
        merges.append((ids[left], ids[right]))
        ids[left + right] = 255 + len(merges)
    assert len(merges) == wanted
    return merges


def write_data(merges):
    lines = [
        " ".join("{%d, %d}," % m for m in merges[i : i + 12]) for i in range(0, len(merges), 12)
    ]
    pattern = json.dumps(PATTERN)
    text = f"""/* embedded_data.h - generated by scripts/train_vocab.py; do not edit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_RUNTIME_TOKENIZER_EMBEDDED_DATA_H
#define TSL_RUNTIME_TOKENIZER_EMBEDDED_DATA_H

#include <stdint.h>

static const char embedded_pattern[] = {pattern};

/* Merge i joins two tokens to the token 256 + i. */
static const uint16_t embedded_merges[][2] = {{
{chr(10).join("  " + line for line in lines)}
}};

/* The ids after the merges. */
static const char *const embedded_special[] = {{
{chr(10).join('  "%s",' % s for s in SPECIAL)}
}};

#endif
"""
    with open(DATA, "w", encoding="ascii", newline="\n") as f:
        f.write(text)


def read_data():
    with open(DATA, encoding="ascii") as f:
        text = f.read()
    return [tuple(map(int, m)) for m in re.findall(r"\{(\d+), (\d+)\},", text)]


def write_json(path):
    characters, merges = alphabet(), read_data()
    names = [characters[b] for b in range(256)]
    for left, right in merges:
        names.append(names[left] + names[right])
    added = [
        {
            "id": len(names) + i,
            "content": s,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for i, s in enumerate(SPECIAL)
    ]
    byte_level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": False,
        "use_regex": False,
    }
    split = {
        "type": "Split",
        "pattern": {"Regex": PATTERN},
        "behavior": "Isolated",
        "invert": False,
    }
    with open(path, "w", encoding="utf-8") as f:
        json.dump(
            {
                "version": "1.0",
                "truncation": None,
                "padding": None,
                "added_tokens": added,
                "normalizer": None,
                "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
                "post_processor": None,
                "decoder": byte_level,
                "model": {
                    "type": "BPE",
                    "dropout": None,
                    "unk_token": None,
                    "continuing_subword_prefix": None,
                    "end_of_word_suffix": None,
                    "fuse_unk": False,
                    "byte_fallback": False,
                    "ignore_merges": False,
                    "vocab": {n: i for i, n in enumerate(names)},
                    "merges": [[names[a], names[b]] for a, b in merges],
                },
            },
            f,
            ensure_ascii=False,
        )


if __name__ == "__main__":
    if sys.argv[1:] == ["train"]:
        write_data(train())
    elif sys.argv[1:2] == ["json"] and len(sys.argv) == 3:
        write_json(sys.argv[2])
    else:
        sys.exit(__doc__)
