#!/usr/bin/env python3
"""Random Lark grammars and texts: what Turnstile accepts against llguidance (PyPI, the version of
scripts/locks/requirements.lock).

    tests/programs/test_lark_llguidance.py [--pairs N] [--seed N] [--show N]

llguidance cuts a text into lexemes first: at each place it takes the longest lexeme that may come.
Here a text may be cut in any way. So the two are compared in two ways:
  plain     grammars whose terminals begin with different letters and cannot go on: there is one way
            to cut a text, and the verdicts must be equal
  any       any grammar: what llguidance accepts must be accepted here; how often it accepts less is
            said
A grammar that llguidance refuses is counted and left out. --pairs: pairs of a grammar and a text
that are compared, 2,000 by default; half of them plain.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import collections
import os
import random
import subprocess
import sys

import test_lark

EOS = 256
TEXTS = 40  # of one grammar


class Bytes:
    """A tokenizer whose tokens are the bytes."""

    eos_token_id, bos_token_id, special_token_ids = EOS, None, [EOS]
    tokens = [bytes([b]) for b in range(256)] + [b"<eos>"]

    def __call__(self, text):
        return list(text if isinstance(text, bytes) else text.encode())


class Judge:
    def __init__(self, llguidance):
        self.lib = llguidance
        self.tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Bytes()))

    def matcher(self, text):
        """A matcher, or None if llguidance refuses the grammar."""
        matcher = self.lib.LLMatcher(
            self.tokenizer, self.lib.LLMatcher.grammar_from_lark(text), log_level=0
        )
        return None if matcher.is_error() else matcher

    def accepts(self, matcher, text):
        """None: it came to a limit of its own."""
        matcher.reset()
        tokens = list(text.encode())
        accepted = matcher.try_consume_tokens(tokens) == len(tokens)
        if matcher.is_error():
            return None
        return accepted and matcher.is_accepting()


class PlainMaker(test_lark.Maker):
    """Each terminal begins with a letter of its own, which stands nowhere else, and has a fixed
    length. So a lexeme ends where it ends in every reading."""

    def grammar(self):
        letters = "abc"
        rules = ["start"] + [f"r{i}" for i in range(self.rng.randint(0, 3))]
        names = [f'"{c}"' for c in letters] + rules
        lines = [f"{rule}: {self.body(names, 2, 0.1)}" for rule in rules]
        return "\n".join(lines) + "\n"

    def leaf(self, names):
        return self.rng.choice(names)


class AnyMaker(test_lark.Maker):
    """What both read: no templates, no counts of Python's or Rust's own."""

    def grammar(self):
        while True:
            text = super().grammar()
            if not any(part in text for part in ("_sep", "{,2}", "\\W", "/x", "/u")):
                # by default llguidance ignores nothing at the beginning of a text
                return '%llguidance {"allow_initial_skip": true}\n' + text


def compare(maker, judge, engine, rng, pairs, equal, count, lines):
    kind, failures, done = "plain" if equal else "any", 0, 0
    while done < pairs:
        text = maker.grammar()
        theirs = judge.matcher(text)
        if theirs is None:
            count[f"{kind}: refused by llguidance"] += 1
            continue
        matcher = engine.grammar(text)
        if isinstance(matcher, test_lark.Error):
            known = b"matches no text" in matcher.message
            count[f"{kind}: without any text" if known else f"{kind}: refused here"] += 1
            if not known:
                failures += 1
                lines.append(f"refused: {matcher.message.decode()}\n{text}")
            continue
        count[f"{kind}: grammars"] += 1
        letters = "abcabc" + ("1" if "INT" in text else "") + (" B_" if "ignore" in text else "")
        for i in range(TEXTS):
            sample = maker.text(letters) if i % 2 else engine.generate(matcher, rng, letters)
            ours, other = engine.accepts(matcher, sample), judge.accepts(theirs, sample)
            if other is None:
                count[f"{kind}: llguidance came to a limit"] += 1
                theirs = judge.matcher(text)
                continue
            done += 1
            count[f"{kind}: accepted"] += ours
            count[f"{kind}: accepted here, not by llguidance"] += ours and not other
            if (ours != other) if equal else (other and not ours):
                failures += 1
                lines.append(f"{kind}: {sample!r}: here {ours}, llguidance {other}\n{text}")
        engine.free(matcher)
    count["pairs"] += done
    return failures


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--pairs", type=int, default=2000)
    options.add_argument("--seed", type=int, default=5)
    options.add_argument("--show", type=int, default=10, help="differences that are printed")
    given = options.parse_args()
    try:
        import llguidance
    except ImportError:
        python = test_lark.VENV / "bin" / "python"
        if python.is_file() and "TSL_LARK_AGAIN" not in os.environ:
            return subprocess.call(
                [str(python), *sys.argv], env={**os.environ, "TSL_LARK_AGAIN": "1"}
            )
        print(
            "skipped: llguidance is not installed; scripts/fetch.py python does it\n0 passed, 0 "
            "failed, 1 skipped"
        )
        return 0
    rng = random.Random(given.seed)
    judge, engine = Judge(llguidance), test_lark.Engine()
    count, lines, failed = collections.Counter(), [], 0
    for maker, equal in ((PlainMaker(rng), True), (AnyMaker(rng), False)):
        failed += compare(maker, judge, engine, rng, given.pairs // 2, equal, count, lines)
    for line in lines[: given.show]:
        print(line)
    print(", ".join(f"{n} {what}" for what, n in sorted(count.items())))
    print(f"{count['pairs'] - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
