#!/usr/bin/env python3
"""XGrammar's built-in tags of every model: what its wheel accepts, Turnstile accepts, too.

    bench/peers/peer_xgrammar_models.py TURNSTILE [--answers N] [--seed S] [--only MODEL] [--show]

Needs the packages of bench/peers/peer_tags.lock. Tags are what `get_model_structural_tag` makes of
each model, choice of tools, way of thinking and order of members. For each tag:

  compiles   `turnstile tools --tags F` compiles the JSON as XGrammar prints it
  accepted   texts that XGrammar's matcher accepts, from random pieces of the tag and of JSON, are
             accepted by Turnstile in its generous spelling
  altered    each text with a piece cut out, doubled or replaced: both say the same

Texts on which the two disagree are counted by kind, with the first of each kind; docs/tools.md says
who is right. Exit code 1: a tag does not compile, or there is a difference of a kind that is not
known there.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from peer_xgrammar_tags import load_xgrammar

PLACE = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "now": {"type": "boolean"},
    },
    "required": ["city"],
    "additionalProperties": False,
}
NESTED = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "at": {
            "type": "object",
            "properties": {"line": {"type": "integer"}, "text": {"type": ["string", "null"]}},
            "required": ["line"],
            "additionalProperties": False,
        },
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
    },
    "required": ["path", "at"],
    "additionalProperties": False,
}
NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": schema}}
    for name, schema in (("get_weather", PLACE), ("write_file", NESTED), ("get_time", NOTHING))
]
FORCED = {"type": "function", "function": {"name": "write_file"}}
PIECES = list('{}[]:,"</>=|')
WORDS = ["city", "days", "unit", "now", "path", "at", "line", "text", "tags"]
VALUES = ['"Paris"', "Paris", "3", "-12", "true", "null", "celsius", '"celsius"', "é😀", '"a\\n"']
GLUE = ['", "', '": "', '": ', ", ", ": ", '{"', '["', '"]', "}}", "{}", "[]", '"}']
CHARACTERS = [*map(chr, range(32, 127)), "\n"]
MARKUP = re.compile(r"<[^<>]*>|\]<\]minimax\[>\[")


def texts_of(node):
    """The constant texts of a tag."""
    if isinstance(node, list):
        for item in node:
            yield from texts_of(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in ("begin", "value", "separator") and isinstance(value, str):
                yield value
            elif key in ("end", "triggers"):
                yield from [value] if isinstance(value, str) else value
            elif key != "json_schema":
                yield from texts_of(value)


def styles_of(node):
    found = set()
    if isinstance(node, list):
        for item in node:
            found |= styles_of(item)
    elif isinstance(node, dict):
        found |= {node["style"]} if isinstance(node.get("style"), str) else set()
        for value in node.values():
            found |= styles_of(value)
    return found


def elements(styles):
    """Markup of arguments, by style."""
    out = []
    for key in WORDS:
        out += [f"<parameter={key}>", f'<parameter name="{key}">', f"<arg_key>{key}</arg_key>"]
        for is_string in ("true", "false"):
            out.append(f'<｜DSML｜parameter name="{key}" string="{is_string}">')
            out.append(f'<｜DSML｜ parameter name="{key}" string="{is_string}">')
        out += [f"]<]minimax[>[<{key}>", f"]<]minimax[>[</{key}>"]
        for kind in ("raw", "json", "dict", "list"):
            out.append(f'<cofl:value name="{key}" type="{kind}">')
        for kind in ("string", "number", "boolean", "object", "array", "null"):
            out.append(f'<|open|>argument key="{key}" type="{kind}"<|sep|>')
    out += ["</parameter>", "<arg_value>", "</arg_value>", "</｜DSML｜parameter>"]
    out += ["</｜DSML｜ parameter>", "</cofl:value>", '<cofl:value type="raw">']
    out += ["<|close|>argument<|sep|>", "]<]minimax[>[<item>", "]<]minimax[>[</item>"]
    marks = {
        "qwen_xml": "<parameter=",
        "minimax_xml": "<parameter ",
        "minimax_m3_xml": "]<]",
        "deepseek_xml": "<｜DSML｜parameter",
        "deepseek_v4_1_xml": "<｜DSML｜ parameter",
        "glm_xml": "<arg_",
        "cohere_xml": "<cofl:value",
        "kimi_k3_xml": "<|open|>argument",
    }
    wanted = [marks[s] for s in styles if s in marks]
    ends = [m.replace("<", "</", 1).split("=")[0].strip() for m in wanted if m != "]<]"]
    ends.append("<|close|>argument")
    return [e for e in out if wanted and any(e.startswith(m) for m in wanted + ends)]


def draw(matcher, rng, parts, endings, most):
    """A text that the matcher accepts, or None."""
    matcher.reset()
    text, steps = "", 0
    while steps < most:
        steps += 1
        if matcher.is_completed() and (rng.random() < 0.2 or matcher.is_terminated()):
            return text
        late = steps > most // 3
        groups = [endings, PIECES, GLUE] if late else parts
        piece = None
        for group in rng.sample(groups, len(groups)):
            for candidate in rng.sample(group, min(len(group), 40)):
                if matcher.accept_string(candidate):
                    piece = candidate
                    break
            if piece is not None:
                break
        if piece is None:
            piece = next((c for c in CHARACTERS if matcher.accept_string(c)), None)
            if piece is None:
                return text if matcher.is_completed() else None
        text += piece
    return text if matcher.is_completed() else None


def altered(text, rng):
    at = rng.randrange(len(text) + 1)
    to = min(len(text), at + rng.randrange(1, 8))
    how = rng.randrange(4)
    if how == 0:
        return text[:at] + text[to:]
    if how == 1:
        return text[:to] + text[at:]
    if how == 2:
        return text[:at] + rng.choice(PIECES + GLUE + VALUES + [" ", "\n"]) + text[to:]
    tags = [m.span() for m in MARKUP.finditer(text)]
    if not tags:
        return text[:at]
    begin, end = rng.choice(tags)
    return text[:begin] + text[end:]


def accepts(matcher, text):
    matcher.reset()
    return (not text or matcher.accept_string(text)) and matcher.is_completed()


def turnstile(program, folder, document, texts):
    """What Turnstile says of each text: {"ok", "at"}; an error's text where it does not compile."""
    tag, answers = folder / "tag.json", folder / "answers.bin"
    tag.write_text(json.dumps(document), encoding="utf-8")
    answers.write_bytes(b"".join(t.encode() + b"\0" for t in texts))
    command = [program, "tools", "--tags", tag, "--generous", "--strict", "--parse", answers]
    done = subprocess.run([*command, "--null"], capture_output=True, text=True)
    if done.returncode == 2:
        return done.stderr.strip()
    return [line != "null" for line in done.stdout.splitlines()]


def without_required(node):
    if isinstance(node, list):
        return [without_required(item) for item in node]
    if isinstance(node, dict):
        return {k: without_required(v) for k, v in node.items() if k != "required"}
    return node


SPACE = re.compile(r"(?<=>)\s+|(?<=\]<\]minimax\[>\[)\s+|\s+(?=<|\]<\])")


def kinds_of(texts, order, styles, ask):
    """Differences that docs/tools.md lists; of texts that only XGrammar accepts. `ask` says what
    Turnstile says of texts, without `required` or with it.
    """
    kinds = ["other"] * len(texts)
    if order:
        for i, good in enumerate(ask(texts, True)):
            kinds[i] = "a required member is missing, in any order" if good else kinds[i]
    if styles - {"json"}:
        tight = [SPACE.sub(lambda m: "\n" * ("\n" in m[0]), t) for t in texts]
        spaced = [SPACE.sub("", t) for t in texts]
        for without in (False, order):
            for i, good in enumerate(zip(ask(tight, without), ask(spaced, without), strict=True)):
                if any(good) and kinds[i] == "other":
                    kinds[i] = "white space beside elements"
    return kinds


def combinations(xgrammar, only):
    builtin = sys.modules["xgrammar.builtin_structural_tag"]
    for model in builtin._structural_tag_registry:
        if only and model != only:
            continue
        for choice in ("auto", "required", FORCED):
            for reasoning in ("enabled", "disabled", "auto"):
                for order in (False, True):
                    name = f"{model} {choice if choice != FORCED else 'forced'} {reasoning}"
                    yield (
                        name + (" any order" if order else ""),
                        order,
                        builtin.get_model_structural_tag(
                            model, TOOLS, choice, reasoning, any_order=order
                        ),
                    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("turnstile")
    parser.add_argument("--answers", type=int, default=10, help="texts of each tag")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="this model")
    parser.add_argument("--show", action="store_true", help="each text that is judged otherwise")
    args = parser.parse_args()
    xgrammar = load_xgrammar()
    compiler = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo([]), max_threads=1)
    rng = random.Random(args.seed)
    counts, first = collections.Counter(), {}
    tags = failed = 0

    def note(kind, where, text):
        counts[kind] += 1
        first.setdefault(kind, (where, text))
        if args.show:
            print(f"{where}: {kind}: {text!r}", flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for where, order, tag in combinations(xgrammar, args.only):
            document = json.loads(tag.model_dump_json(exclude_none=True))
            matcher = xgrammar.GrammarMatcher(
                compiler.compile_structural_tag(tag), terminate_without_stop_token=True
            )
            styles = styles_of(document)
            constants = sorted({t for t in texts_of(document) if t})
            ends = sorted({t for t in constants if "/" in t or "end" in t or "close" in t})
            marks = elements(styles)
            closing = [m for m in marks if "/" in m or "close" in m]
            parts = [constants, marks or WORDS, WORDS, VALUES, GLUE, PIECES]
            texts = []
            for _ in range(args.answers):
                text = draw(matcher, rng, parts, (ends + closing) or PIECES, 90)
                if text is not None:
                    texts.append((text, True))
                    for _ in range(3):
                        other = altered(text, rng)
                        texts.append((other, accepts(matcher, other)))
            verdicts = turnstile(args.turnstile, folder, document, [t for t, _ in texts])
            tags += 1
            if isinstance(verdicts, str):
                failed += 1
                print(f"{where}: Turnstile does not compile it: {verdicts[-300:]}")
                continue
            differing = []
            for (text, theirs), ours in zip(texts, verdicts, strict=True):
                if ours == theirs:
                    counts["both accept" if ours else "both refuse"] += 1
                elif theirs:
                    differing.append(text)
                else:
                    note("only Turnstile accepts: other", where, text)

            def ask(these, without, document=document):
                document = without_required(document) if without else document
                return turnstile(args.turnstile, folder, document, these)

            kinds = kinds_of(differing, order, styles, ask) if differing else []
            for text, kind in zip(differing, kinds, strict=True):
                note(f"only XGrammar accepts: {kind}", where, text)
    print(f"{tags} tags, {failed} of them not compiled")
    for kind, count in sorted(counts.items()):
        print(f"  {count:6} {kind}")
        if kind in first:
            print(f"         first: {first[kind][0]}: {first[kind][1]!r}")
    return failed != 0 or any(k.endswith("other") for k in counts)


if __name__ == "__main__":
    sys.exit(main())
