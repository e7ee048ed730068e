#!/usr/bin/env python3
"""Structural tags: are Turnstile's masks those of XGrammar's wheel, for the same JSON?

    bench/peers/peer_xgrammar_tags.py TURNSTILE VOCABULARY_FOLDER [--answers N]

Needs the packages xgrammar, apache-tvm-ffi, numpy and tokenizers (bench/peers/peer_tags.lock);
torch and transformers are stood in for: masks are numpy arrays here. For each structural tag below
answers are drawn under Turnstile's masks. Before each token both masks are compared on all tokens
that are not special, and both say whether the text may end. Every kind of difference is printed
once, with how often it occurs and the first place. docs/tools.md says who is right.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import types

import numpy

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "ok": {"type": "boolean"},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
NESTED = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "place": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "ok": {"type": ["boolean", "null"]}},
            "required": ["ok"],
            "additionalProperties": False,
        },
        "units": {"type": "array", "items": {"enum": ["celsius", "fahrenheit"]}, "maxItems": 2},
        "stops": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
CONTENT = {"type": "json_schema", "json_schema": SCHEMA, "max_whitespace_cnt": 2}


def tag(begin, content, end):
    return {"type": "tag", "begin": begin, "content": content, "end": end}


TWO = [
    tag("<function=f>", CONTENT, "</function>"),
    tag("<function=get>", {"type": "const_string", "value": "x"}, "</function>"),
]
CASES = {
    "const_string": {"type": "const_string", "value": "Hello, wörld"},
    "json_schema": CONTENT,
    "regex": {"type": "regex", "pattern": "[A-Z]{3}-[0-9]{4}"},
    "grammar": {"type": "grammar", "grammar": 'root ::= ("yes" | "no") " " [a-z]+'},
    "any_text": {"type": "any_text"},
    "any_text excludes": {"type": "any_text", "excludes": ["<tool", "</s>"]},
    "any_text max_chars": {
        "type": "sequence",
        "elements": [
            {"type": "any_text", "max_chars": 20},
            {"type": "const_string", "value": "<end>"},
        ],
    },
    "sequence": {
        "type": "sequence",
        "elements": [
            {"type": "const_string", "value": "a "},
            CONTENT,
            {"type": "const_string", "value": " b"},
        ],
    },
    "or": {
        "type": "or",
        "elements": [
            {"type": "const_string", "value": "yes"},
            {"type": "const_string", "value": "yesterday"},
            CONTENT,
        ],
    },
    "optional": {
        "type": "sequence",
        "elements": [
            {"type": "optional", "content": {"type": "const_string", "value": "abc"}},
            {"type": "const_string", "value": "abd"},
        ],
    },
    "repeat": {
        "type": "repeat",
        "min": 1,
        "max": 3,
        "content": {"type": "const_string", "value": "item "},
    },
    "tag any_text": tag("<think>", {"type": "any_text"}, "</think>"),
    "tag two ends": tag("<r>", {"type": "any_text"}, ["</r>", "</a>"]),
    "triggered_tags": {"type": "triggered_tags", "triggers": ["<function="], "tags": TWO},
    "triggered_tags once": {
        "type": "triggered_tags",
        "triggers": ["<function="],
        "tags": TWO,
        "stop_after_first": True,
    },
    "triggered_tags at least one": {
        "type": "triggered_tags",
        "triggers": ["<function="],
        "tags": TWO,
        "at_least_one": True,
    },
    "triggered_tags excludes": {
        "type": "triggered_tags",
        "triggers": ["<function="],
        "tags": TWO,
        "excludes": ["<think>"],
    },
    "triggered in tag": tag(
        "<a>", {"type": "triggered_tags", "triggers": ["<function="], "tags": TWO}, "</a>"
    ),
    "trigger overlaps": {
        "type": "triggered_tags",
        "triggers": ["aab"],
        "tags": [tag("aab!", CONTENT, "#")],
    },
    "tags_with_separator": {
        "type": "tags_with_separator",
        "tags": TWO,
        "separator": ", ",
        "at_least_one": True,
    },
    "dispatch": {
        "type": "dispatch",
        "rules": [["<x>", {"type": "const_string", "value": "1</x>"}], ["<y>", CONTENT]],
    },
    "qwen_xml": {"type": "json_schema", "json_schema": SCHEMA, "style": "qwen_xml"},
    "minimax_xml": {"type": "json_schema", "json_schema": SCHEMA, "style": "minimax_xml"},
    "minimax_m3_xml": {"type": "json_schema", "json_schema": NESTED, "style": "minimax_m3_xml"},
    "deepseek_xml": {"type": "json_schema", "json_schema": SCHEMA, "style": "deepseek_xml"},
    "glm_xml": {"type": "json_schema", "json_schema": SCHEMA, "style": "glm_xml"},
    "cohere_xml": {"type": "json_schema", "json_schema": SCHEMA, "style": "cohere_xml"},
    "deepseek_v4_1_xml": {
        "type": "json_schema",
        "json_schema": SCHEMA,
        "style": "deepseek_v4_1_xml",
    },
    "kimi_k3_xml": {"type": "json_schema", "json_schema": SCHEMA, "style": "kimi_k3_xml"},
    "any_text max_tokens": {
        "type": "sequence",
        "elements": [
            tag("<r>", {"type": "any_text", "max_tokens": 4}, "</r>"),
            {"type": "const_string", "value": "."},
        ],
    },
}
NUDGES = [
    "<function=",
    '<function=f>{"city":"',
    "<functi",
    "</think>",
    "</r>",
    "aab!",
    "aa",
    "<x>",
    "<y>",
    "</function>",
    "<parameter=city>",
    "]<]minimax[>[<",
    "]<]minimax[>[</",
    "</a>",
    "<end>",
    "</s",
    "\n",
]


def load_xgrammar():
    class Anything(types.ModuleType):
        __version__ = "0"
        __path__ = []

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (), {})

    import tvm_ffi  # before the stand-in: it looks for the real thing

    assert tvm_ffi
    torch = Anything("torch")
    torch.int32 = "int32"
    torch.tensor = lambda *a, **k: None
    sys.modules["torch"] = torch
    sys.modules["transformers"] = Anything("transformers")
    import xgrammar

    return xgrammar


def vocabulary(xgrammar, folder):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    by_id = {i: t for t, i in tokenizer.get_vocab(with_added_tokens=True).items()}
    size = max(by_id) + 1
    added = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["added_tokens"]
    special = {t["id"] for t in added if t["special"]}
    stop = [
        t["id"]
        for t in added
        if t["content"]
        in ("<|im_end|>", "<|eot_id|>", "<|end_of_text|>", "<|endoftext|>", "<|eom_id|>")
    ]
    words = [by_id.get(i, "") for i in range(size)]
    info = xgrammar.TokenizerInfo(
        words, vocab_type=xgrammar.VocabType.BYTE_LEVEL, vocab_size=size, stop_token_ids=stop
    )
    return info, size, special, stop


def may_be_text(data):
    """Can valid UTF-8 begin so?"""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True


def compare(name, case, args, xgrammar, compiler, size, special, stop, decoded, text_of):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "tag.json"
        document = {"type": "structural_tag", "format": case}
        path.write_text(json.dumps(document))
        command = [
            args.turnstile,
            "tools",
            "--tags",
            str(path),
            "--vocab",
            str(args.vocab / "tokenizer.json"),
            "--generate",
            str(args.answers),
            "--masks",
        ]
        for nudge in NUDGES:
            command += ["--nudge", nudge]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
    if done.returncode:
        return f"Turnstile: {done.stderr.decode()[-300:].strip()}"
    try:
        compiled = compiler.compile_structural_tag(json.dumps(document))
    except Exception as error:
        return f"XGrammar: {str(error).strip()[-300:]}"
    ordinary = numpy.ones(size, bool)
    ordinary[list(special)] = False
    ordinary[stop] = False
    steps = same = 0
    differences = collections.Counter()
    first = {}
    matcher = xgrammar.GrammarMatcher(compiled, terminate_without_stop_token=False)
    row = numpy.zeros((1, (size + 31) // 32), numpy.int32)
    prefix, tail, dead = [], b"", False
    for line in done.stdout.decode("utf-8", "replace").split("\n"):
        record = json.loads(line) if line else None
        if not record:
            continue
        if "text" in record:
            matcher.reset()
            prefix, tail, dead = [], b"", False
            continue
        if dead:
            continue
        ours = numpy.unpackbits(
            numpy.frombuffer(bytes.fromhex(record["mask"]), numpy.uint8), bitorder="little"
        )[:size].astype(bool)
        matcher.fill_next_token_bitmask(row)
        theirs = numpy.unpackbits(row.view(numpy.uint8).ravel(), bitorder="little")[:size].astype(
            bool
        )
        steps += 1
        more, less = ordinary & ours & ~theirs, ordinary & theirs & ~ours
        if less.any():  # bytes that end every UTF-8 text are counted apart
            spoiled = [
                int(t) for t in numpy.flatnonzero(less) if not may_be_text(tail + decoded[t])
            ]
            less[spoiled] = False
            if spoiled:
                differences["only XGrammar allows, and no UTF-8 text goes on so"] += 1
                first.setdefault(
                    "only XGrammar allows, and no UTF-8 text goes on so",
                    (text_of(prefix)[-60:], [], len(spoiled)),
                )
        end_ours, end_theirs = bool(ours[stop].any()), bool(theirs[stop].any())
        same += not more.any() and not less.any() and end_ours == end_theirs
        for kind, found in (("only Turnstile allows", more), ("only XGrammar allows", less)):
            if found.any():
                differences[kind] += 1
                if kind not in first:
                    first[kind] = (
                        text_of(prefix)[-60:],
                        [text_of([int(t)]) for t in numpy.flatnonzero(found)[:4]],
                        int(found.sum()),
                    )
        if end_ours != end_theirs:
            kind = "only Turnstile lets it end" if end_ours else "only XGrammar lets it end"
            differences[kind] += 1
            first.setdefault(kind, (text_of(prefix)[-60:], [], 0))
        token = record["token"]
        if token in stop:
            continue
        prefix.append(token)
        tail = (tail + decoded[token])[-8:]
        while tail and tail[0] & 0xC0 == 0x80:
            tail = tail[1:]
        dead = not matcher.accept_token(token)
    lines = [f"{same} of {steps} masks are equal"]
    lines += [
        f"    {kind}: {count} times, first after {first[kind][0]!r}: {first[kind][1]} "
        f"({first[kind][2]} tokens)"
        for kind, count in differences.items()
        if count
    ]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("turnstile")
    parser.add_argument("vocab", type=pathlib.Path)
    parser.add_argument("--answers", type=int, default=5)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    xgrammar = load_xgrammar()
    info, size, special, stop = vocabulary(xgrammar, args.vocab)
    compiler = xgrammar.GrammarCompiler(info, max_threads=1)
    decoded = info.decoded_vocab

    def text_of(ids):
        return b"".join(decoded[i] for i in ids).decode("utf-8", "replace")

    for name, case in CASES.items():
        if args.only in name:
            verdict = compare(
                name, case, args, xgrammar, compiler, size, special, stop, decoded, text_of
            )
            print(f"{name}: {verdict}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
