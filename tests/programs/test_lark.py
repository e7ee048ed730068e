#!/usr/bin/env python3
"""Random Lark grammars and texts: what Turnstile accepts against Lark itself (PyPI, the version of
scripts/locks/requirements.lock).

    tests/programs/test_lark.py [--pairs N] [--seed N]

Three judges, all of them Lark's own loader and Earley parser:
  any split   each terminal, ignored ones too, matches all texts that its expression matches in
              full: must be equal. Of ignored texts Lark itself tries the longest at each place. So
              Lark gets each length of them as a terminal of its own
  complete    lexer="dynamic_complete" as it is: what it accepts must be accepted
  dynamic     lexer="dynamic" as it is: what it accepts must be accepted
The last two take what Python's search finds, which is not always the longest, so they may accept
less; how often is said. Grammars that Lark refuses are not counted: it refuses terminals that may
be empty and rules that come out twice, which have a meaning here. --pairs: pairs of a grammar and a
text that are compared, some 2,000 by default. The default seed has grammars at which Lark is quick;
some others take minutes.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import collections
import ctypes
import os
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))
VENV = ROOT / "build" / "venv"


# ---- Turnstile, through its C interface ----------------------------------------------------------


class Error(ctypes.Structure):
    _fields_ = [
        ("status", ctypes.c_int),
        ("offset", ctypes.c_size_t),
        ("line", ctypes.c_uint32),
        ("column", ctypes.c_uint32),
        ("pointer", ctypes.c_char * 256),
        ("message", ctypes.c_char * 512),
    ]


class Options(ctypes.Structure):
    _fields_ = [
        ("start", ctypes.c_char_p),
        ("resolver", ctypes.c_void_p),
        ("resolver_ctx", ctypes.c_void_p),
        ("lexer", ctypes.c_char_p),
    ]


class Engine:
    def __init__(self):
        self.lib = ctypes.CDLL(str(next(BUILD.glob("libturnstile.so"))))
        self.vocab = ctypes.c_void_p()
        assert self.lib.tsl_vocab_embedded(None, ctypes.byref(self.vocab), None) == 0

    def grammar(self, text, lexer=None):
        """A matcher, or the error."""
        options = Options(lexer=lexer and lexer.encode())
        grammar, matcher, error, data = ctypes.c_void_p(), ctypes.c_void_p(), Error(), text.encode()
        status = self.lib.tsl_grammar_lark(
            self.vocab,
            data,
            ctypes.c_size_t(len(data)),
            ctypes.byref(options),
            None,
            ctypes.byref(grammar),
            ctypes.byref(error),
        )
        if status:
            return error
        assert self.lib.tsl_matcher_new(grammar, None, ctypes.byref(matcher)) == 0
        self.lib.tsl_grammar_release(grammar)
        return matcher

    def accepts(self, matcher, text):
        data = text.encode()
        self.lib.tsl_matcher_reset(matcher)
        status = self.lib.tsl_matcher_accept_bytes(matcher, data, ctypes.c_size_t(len(data)), None)
        self.lib.tsl_matcher_is_complete.restype = ctypes.c_bool
        return status == 0 and self.lib.tsl_matcher_is_complete(matcher)

    def generate(self, matcher, rng, letters):
        """A text that begins as one of the grammar does, and often is one."""
        allowed, text = (ctypes.c_uint32 * 8)(), ""
        self.lib.tsl_matcher_reset(matcher)
        while len(text) < 9 and rng.random() < 0.9:
            assert self.lib.tsl_matcher_next_bytes(matcher, allowed) == 0
            choices = [c for c in letters if allowed[ord(c) // 32] >> ord(c) % 32 & 1]
            if not choices:
                break
            text += rng.choice(choices)
            self.lib.tsl_matcher_accept_bytes(matcher, text[-1].encode(), ctypes.c_size_t(1), None)
        return text

    def free(self, matcher):
        self.lib.tsl_matcher_free(matcher)


# ---- Lark ----------------------------------------------------------------------------------------


class AllMatches:
    """A regular expression whose match is the longest text at a place that it matches in full. "
    "dynamic_complete asks for shorter texts too."""

    def __init__(self, pattern):
        self.pattern = pattern

    def match(self, text, at=0):
        for end in range(len(text), at, -1):
            if found := self.pattern.fullmatch(text, at, end):
                return found
        return None


class MatchOf:
    """A regular expression whose match has exactly that length."""

    def __init__(self, pattern, length):
        self.pattern, self.length = pattern, length

    def match(self, text, at=0):
        end = at + self.length
        return self.pattern.fullmatch(text, at, end) if end <= len(text) else None


def judges(lark, text):
    """The parser of a grammar, with both kinds of matches; None if Lark refuses it."""
    try:
        parser = lark.Lark(text, parser="earley", lexer="dynamic_complete", ambiguity="forest")
    except (lark.exceptions.LarkError, AssertionError, re.error):
        return None
    own = parser.parser.parser.term_matcher.__self__.regexps
    return parser, dict(own), {name: AllMatches(pattern) for name, pattern in own.items()}


def parses(lark, judge, text, how):
    """Does Lark accept the text? `how`: "any split", "complete" or "dynamic"."""
    parser, own, all_matches = judge
    earley = parser.parser.parser
    regexps, ignored = earley.term_matcher.__self__.regexps, earley.ignore
    earley.complete_lex = how != "dynamic"
    regexps.update(all_matches if how == "any split" else own)
    if how == "any split":
        earley.ignore = [
            type(terminal)(f"{terminal.name}-{length}")
            for terminal in ignored
            for length in range(1, len(text) + 1)
        ]
        regexps.update(
            (f"{terminal.name}-{length}", MatchOf(own[terminal.name], length))
            for terminal in ignored
            for length in range(1, len(text) + 1)
        )
    try:
        parser.parse(text)
        return True
    except lark.exceptions.UnexpectedInput:
        return False
    except (
        RuntimeError
    ):  # "Earley should not generate multiple start symbol items": a text with several readings
        return True
    finally:
        earley.ignore = ignored


# ---- random grammars -----------------------------------------------------------------------------

LETTERS = "abc"
TEXTS = 40  # of one grammar


class Maker:
    def __init__(self, rng):
        self.rng = rng

    def pick(self, *choices):
        return self.rng.choice(choices)

    def string(self):
        text = "".join(self.rng.choice(LETTERS) for _ in range(self.rng.randint(1, 2)))
        return f'"{text}"' + ("i" if self.rng.random() < 0.08 else "")

    def pattern(self):
        atoms = [
            "a",
            "b",
            "c",
            "[ab]",
            "[^a]",
            ".",
            "(?:ab|c)",
            "(ab?)",
            "\\w",
            "[b-c]",
            "\\x61",
            "(?i:B)",
            "[^\\Wa]",
        ]
        parts = [
            self.rng.choice(atoms)
            + self.rng.choice(["", "", "", "*", "+", "?", "{2}", "{1,2}", "{,2}"])
            for _ in range(self.rng.randint(1, 3))
        ]
        text = "".join(parts)
        if self.rng.random() < 0.15:
            # Lark joins without brackets: /a|b/ "c" is a|bc there, (a|b)c here
            text = f"(?:{text}|{self.rng.choice(atoms)})"
        return f"/{text}/" + self.pick("", "", "", "", "i", "s", "x", "u")

    def leaf(self, names):
        roll = self.rng.random()
        if names and roll < 0.5:
            return self.rng.choice(names)
        if roll < 0.8:
            return self.string()
        if roll < 0.9:
            return self.pattern()
        return self.pick('"a".."b"', '"b".."c"')

    def item(self, names, depth):
        if depth and self.rng.random() < 0.2:
            body = self.body(names, depth - 1)
            item = self.pick("({})", "[{}]").format(body)
        else:
            item = self.leaf(names)
        if item.startswith("["):
            return item
        return item + self.rng.choice([""] * 8 + ["?", "*", "+", "~2", "~1..2"])

    def body(self, names, depth=2, empty=0.0):
        alternatives = []
        for _ in range(self.rng.randint(1, 3)):
            if self.rng.random() < empty:
                alternatives.append("")
            else:
                alternatives.append(
                    " ".join(self.item(names, depth) for _ in range(self.rng.randint(1, 3)))
                )
        return " | ".join(alternatives)

    def grammar(self):
        terminals = [f"T{i}" for i in range(self.rng.randint(0, 3))]
        rules = ["start"] + [
            self.pick("r{}", "_r{}").format(i) for i in range(self.rng.randint(0, 3))
        ]
        lines = []
        for i, name in enumerate(terminals):
            lines.append(f"{name}{self.pick('', '', '.2')}: {self.body(terminals[:i], 1)}")
        names = terminals + rules
        if self.rng.random() < 0.3:
            lines.append("_sep{x, y}: x (y x)*")
            names = names + [
                "_sep{%s, %s}" % (self.leaf(terminals), self.leaf(terminals)),
                '_sep{%s, "c"}' % self.rng.choice(rules),
            ]
        if self.rng.random() < 0.15:
            lines.append("%import common.INT")
            names = names + ["INT"]
        for rule in rules:
            mark = (
                self.pick("", "", "", "!", "?") if not rule.startswith("_") else self.pick("", "!")
            )
            lines.append(f"{mark}{rule}: {self.body(names, 2, 0.1)}")
        if self.rng.random() < 0.4:
            lines.append(self.pick('%ignore " "', "%ignore /[ _]+/", '%ignore "c"', "%ignore /b/"))
        return "\n".join(lines) + "\n"

    def text(self, letters):
        return "".join(self.rng.choice(letters) for _ in range(self.rng.randint(0, 7)))


# ---- comparing -----------------------------------------------------------------------------------


def compare(lark, pairs, seed):
    rng = random.Random(seed)
    maker, engine = Maker(rng), Engine()
    count, failures, lines = collections.Counter(), 0, []
    while count["pairs"] < pairs:
        text = maker.grammar()
        judge = judges(lark, text)
        if judge is None:
            count["refused by Lark"] += 1
            continue
        count["grammars"] += 1
        matcher = engine.grammar(text)
        if isinstance(matcher, Error):
            known = b"matches no text" in matcher.message
            count["without any text" if known else "refused"] += 1
            if not known:
                failures += 1
                lines.append(
                    f"refused: {matcher.message.decode()} at "
                    f"{matcher.line}:{matcher.column}\n{text}"
                )
            continue
        letters = (
            LETTERS
            + LETTERS
            + ("1" if "INT" in text else "")
            + (" " if "ignore" in text else "")
            + "B_"
        )
        for i in range(TEXTS):
            sample = maker.text(letters) if i % 2 else engine.generate(matcher, rng, letters)
            ours = engine.accepts(matcher, sample)
            exact = parses(lark, judge, sample, "any split")
            count["pairs"] += 1
            count["accepted"] += ours
            if count["pairs"] % 10000 == 0:
                print(f"{count['pairs']} pairs, {failures} differences", flush=True)
            if ours != exact:
                failures += 1
                lines.append(f"{sample!r}: here {ours}, any split {exact}\n{text}")
            if i % 4:
                continue
            complete, dynamic = (
                parses(lark, judge, sample, how) for how in ("complete", "dynamic")
            )
            count["put to three judges"] += 1
            count["any split accepts, complete does not"] += exact and not complete
            count["any split accepts, dynamic does not"] += exact and not dynamic
            if (complete and not ours) or (dynamic and not ours):
                failures += 1
                lines.append(
                    f"{sample!r}: here {ours}, any split {exact}, complete {complete}, dynamic "
                    f"{dynamic}\n{text}"
                )
        engine.free(matcher)
    return count, failures, lines


def library(lark):
    """The library's terminals against Lark's own, on texts made for them."""
    engine, failures, checked = Engine(), [], 0
    rng = random.Random(5)
    names = {
        "common": [
            "DIGIT",
            "HEXDIGIT",
            "INT",
            "SIGNED_INT",
            "DECIMAL",
            "FLOAT",
            "SIGNED_FLOAT",
            "NUMBER",
            "SIGNED_NUMBER",
            "ESCAPED_STRING",
            "LCASE_LETTER",
            "UCASE_LETTER",
            "LETTER",
            "WORD",
            "CNAME",
            "WS_INLINE",
            "WS",
            "CR",
            "LF",
            "NEWLINE",
            "SH_COMMENT",
            "CPP_COMMENT",
            "C_COMMENT",
            "SQL_COMMENT",
        ],
        "python": [
            "NAME",
            "COMMENT",
            "STRING",
            "LONG_STRING",
            "DEC_NUMBER",
            "HEX_NUMBER",
            "OCT_NUMBER",
            "BIN_NUMBER",
            "FLOAT_NUMBER",
            "IMAG_NUMBER",
            "DECIMAL",
            "ASYNC",
            "AWAIT",
            "SLASH",
            "_SPECIAL_DEC",
            "_EXP",
            "_NEWLINE",
        ],
        "unicode": ["WS", "WS_INLINE"],
    }
    letters = {
        "STRING": "a\"'\\r\n",
        "LONG_STRING": 'a"""\'\\\n',
        "ESCAPED_STRING": 'a"\\\n',
        "C_COMMENT": "a/*\n",
    }
    for module, all_names in names.items():
        for name in all_names:
            text = f"start: {name}\n%import {module}.{name}\n"
            matcher = engine.grammar(text)
            if isinstance(matcher, Error):
                failures.append(f"{module}.{name}: {matcher.message.decode()}")
                continue
            judge = judges(lark, text)
            alphabet = letters.get(name, '019a_eE+-.xXoObBfjJ#/*" \t\r\n\\\xa0éasync')
            for _ in range(600):
                sample = "".join(rng.choice(alphabet) for _ in range(rng.randint(0, 6)))
                if name in letters and rng.random() < 0.7:
                    quote = {
                        "C_COMMENT": ("/*", "*/"),
                        "ESCAPED_STRING": ('"', '"'),
                        "STRING": ("'", "'"),
                        "LONG_STRING": ('"""', '"""'),
                    }[name]
                    sample = quote[0] + sample + quote[1]
                checked += 1
                if engine.accepts(matcher, sample) != parses(
                    lark,
                    judge,
                    sample,
                    "any split" if module == "common" and name not in letters else "dynamic",
                ):
                    failures.append(
                        f"{module}.{name}: {sample!r}: here {engine.accepts(matcher, sample)}"
                    )
            engine.free(matcher)
    return checked, failures


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--pairs", type=int, default=2000)
    options.add_argument("--seed", type=int, default=22)
    options.add_argument("--show", type=int, default=10, help="differences that are printed")
    given = options.parse_args()
    try:
        import lark
    except ImportError:
        python = VENV / "bin" / "python"
        if python.is_file() and "TSL_LARK_AGAIN" not in os.environ:
            return subprocess.call(
                [str(python), *sys.argv], env={**os.environ, "TSL_LARK_AGAIN": "1"}
            )
        print(
            "skipped: Lark is not installed; scripts/fetch.py python does it\n0 passed, 0 "
            "failed, 1 skipped"
        )
        return 0
    count, failed, lines = compare(lark, given.pairs, given.seed)
    checked, wrong = library(lark)
    for line in (lines + wrong)[: given.show]:
        print(line)
    print(", ".join(f"{n} {what}" for what, n in sorted(count.items())))
    print(f"{checked} texts of the library's terminals, {len(wrong)} differ")
    failed += len(wrong)
    print(f"{count['pairs'] + checked - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
