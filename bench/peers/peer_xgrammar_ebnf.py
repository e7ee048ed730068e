#!/usr/bin/env python3
"""Random EBNF grammars and texts: what Turnstile accepts against XGrammar itself.

    bench/peers/peer_xgrammar_ebnf.py [--pairs N] [--seed N] [--write FILE]

Needs the packages xgrammar, apache-tvm-ffi and numpy (bench/peers/peer_tags.lock), and a build with
libturnstile.so in $TSL_BUILD (default: build). Every pair of a grammar and a text is given to both;
a difference is printed with its grammar, and the status is 1. Grammars that XGrammar refuses are
left out. Rules with max_chars may differ, as docs/ebnf.md says. --write: the pairs go to FILE as
cases of tests/ebnf/test_ebnf.c instead of being counted alone.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import ctypes
import importlib
import os
import pathlib
import random
import sys

from peer_xgrammar_tags import load_xgrammar

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TSL_BUILD", ROOT / "build"))
LETTERS = "abc"


# ---- the two engines -----------------------------------------------------------------------------


class Error(ctypes.Structure):
    _fields_ = [
        ("status", ctypes.c_int),
        ("offset", ctypes.c_size_t),
        ("line", ctypes.c_uint32),
        ("column", ctypes.c_uint32),
        ("pointer", ctypes.c_char * 256),
        ("message", ctypes.c_char * 512),
    ]


class Engine:
    def __init__(self):
        self.lib = ctypes.CDLL(str(BUILD / "libturnstile.so"))
        self.lib.tsl_matcher_is_complete.restype = ctypes.c_bool
        self.lib.tsl_status_name.restype = ctypes.c_char_p
        self.vocab = ctypes.c_void_p()
        self.limits = 0
        assert self.lib.tsl_vocab_embedded(None, ctypes.byref(self.vocab), None) == 0

    def matcher(self, text):
        """A matcher; None: no text matches; or the error as a text."""
        grammar, matcher, error, data = ctypes.c_void_p(), ctypes.c_void_p(), Error(), text.encode()
        status = self.lib.tsl_grammar_ebnf(
            self.vocab,
            data,
            ctypes.c_size_t(len(data)),
            None,
            None,
            ctypes.byref(grammar),
            ctypes.byref(error),
        )
        if self.lib.tsl_status_name(status) == b"TSL_ERR_EMPTY":
            return None
        if status:
            return f"{error.line}:{error.column}: {error.message.decode()}"
        assert self.lib.tsl_matcher_new(grammar, None, ctypes.byref(matcher)) == 0
        self.lib.tsl_grammar_release(grammar)
        return matcher

    def accepts(self, matcher, text):
        if matcher is None:
            return False
        data = text.encode()
        self.lib.tsl_matcher_reset(matcher)
        status = self.lib.tsl_matcher_accept_bytes(matcher, data, ctypes.c_size_t(len(data)), None)
        return status == 0 and self.lib.tsl_matcher_is_complete(matcher)

    def generate(self, matcher, rng):
        """A text that begins as one of the grammar does, and often is one."""
        allowed, text = (ctypes.c_uint32 * 8)(), ""
        self.lib.tsl_matcher_reset(matcher)
        while len(text) < 9 and rng.random() < 0.9:
            status = self.lib.tsl_matcher_next_bytes(matcher, allowed)
            if status:
                print(f"after {text!r}: {self.lib.tsl_status_name(status).decode()}")
                self.limits += 1
                break
            choices = [c for c in LETTERS if allowed[ord(c) // 32] >> ord(c) % 32 & 1]
            if not choices:
                break
            text += rng.choice(choices)
            self.lib.tsl_matcher_accept_bytes(matcher, text[-1].encode(), ctypes.c_size_t(1), None)
        return text


# ---- random grammars -----------------------------------------------------------------------------


class Writer:
    def __init__(self, rng):
        self.rng = rng
        self.names = ["root"] + [f"r{i}" for i in range(rng.randrange(4))]

    def word(self, least=1, most=3):
        return "".join(self.rng.choice(LETTERS) for _ in range(self.rng.randint(least, most)))

    def regex(self, depth=2):
        kind = self.rng.randrange(7) if depth else 0
        if kind < 3:
            return self.rng.choice(["a", "b", "[ab]", "[^a]", "c", "."])
        if kind == 3:
            return f"(?:{self.regex(depth - 1)}|{self.regex(depth - 1)})"
        if kind == 4:
            return f"(?:{self.regex(depth - 1)})" + self.rng.choice(["*", "+", "?", "{1,2}"])
        return self.regex(depth - 1) + self.regex(depth - 1)

    def dispatch(self):
        items = []
        for _ in range(self.rng.randint(1, 3)):
            items.append(f'("{self.word()}", {self.rng.choice(self.names)})')
        if self.rng.random() < 0.3:
            items.append("loop_after_dispatch=" + self.rng.choice(["true", "false"]))
        if self.rng.random() < 0.3:
            items.append(f'excludes=("{self.word(2)}",)')
        return f"TagDispatch({', '.join(items)})"

    def item(self, depth, plain):
        kind = self.rng.randrange(12)
        if kind < 3:
            return f'"{self.word()}"'
        if kind < 5:
            return self.rng.choice(["[ab]", "[^c]", "[a-c]", "[^ab]", "[]", "[^]", "[a-]", "()"])
        if kind < 7 and depth:
            return f"({self.choices(depth - 1, plain)})"
        if kind == 8:
            return f'Regex("{self.regex()}")'
        if plain or kind == 7:
            return f'"{self.word(1, 1)}"'
        if kind == 9:
            return "Substring(" + ", ".join(f'"{self.word()}"' for _ in range(3)) + ")"
        if kind == 10 and self.rng.random() < 0.5:
            return self.dispatch()
        return self.rng.choice(self.names)

    def repeated(self, depth, plain):
        item = self.item(depth, plain)
        if plain == "lazy":
            return item + self.rng.choice(["", "", "*", "+", "?"])
        return item + self.rng.choice(
            ["", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,}", "{1,-1}", "{0}"]
        )

    def choices(self, depth, plain=None):
        return " | ".join(
            " ".join(self.repeated(depth, plain) for _ in range(self.rng.randint(1, 3)))
            for _ in range(self.rng.randint(1, 3))
        )

    def rule(self, name):
        kind = self.rng.randrange(8)
        if kind == 0:
            return f"{name}[lazy] ::= {self.choices(1, 'lazy')}"
        if kind == 1:
            return f"{name}[max_chars={self.rng.randrange(4)}] ::= {self.choices(1, 'plain')}"
        ahead = f' (="{self.word()}")' if self.rng.random() < 0.1 else ""
        return f"{name} ::= {self.choices(2)}{ahead}"

    def grammar(self):
        return "\n".join(self.rule(name) for name in self.names) + "\n"


def quoted(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write")
    args = parser.parse_args()
    xgrammar, engine, rng = load_xgrammar(), Engine(), random.Random(args.seed)
    importlib.import_module("xgrammar.testing")
    pairs = accepted = refused = own = differ = 0
    out = []
    while pairs < args.pairs:
        text = Writer(rng).grammar()
        try:
            peer = xgrammar.Grammar.from_ebnf(text)
            xgrammar.testing._is_grammar_accept_string(peer, "")
        except RuntimeError:
            refused += 1
            continue
        matcher = engine.matcher(text)
        if isinstance(matcher, str):
            own += 1
            print(f"refused here, {matcher}:\n{text}")
            continue
        texts = {"", *("".join(rng.choices(LETTERS, k=rng.randrange(8))) for _ in range(6))}
        if matcher:
            before = engine.limits
            texts |= {engine.generate(matcher, rng) for _ in range(10)}
            if engine.limits > before:
                print(f"a limit:\n{text}")
        rows = []
        for s in sorted(texts):
            want = xgrammar.testing._is_grammar_accept_string(peer, s)
            if engine.accepts(matcher, s) != want:
                differ += 1
                print(f"XGrammar {'accepts' if want else 'refuses'} {s!r}:\n{text}")
            rows.append(f"{'+' if want else '-'} {quoted(s)}\n")
            accepted += want
        pairs += len(texts)
        if matcher:
            out.append(f"== seed {args.seed}, {len(out)}\n{text}{''.join(rows)}")
            engine.lib.tsl_matcher_free(matcher)
    print(
        f"{pairs} pairs, {accepted} accepted, {differ} differ; {refused} grammars refused by "
        f"XGrammar, {own} here alone"
    )
    if args.write:
        pathlib.Path(args.write).write_text("".join(out))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
