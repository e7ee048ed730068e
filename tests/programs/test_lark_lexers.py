#!/usr/bin/env python3
"""Lark's lexers: random grammars and texts, and grammars of small languages, against Lark itself
(PyPI, the version of scripts/locks/requirements.lock) with its Earley parser.

    tests/programs/test_lark_lexers.py [--pairs N] [--seed N] [--lexer NAME]

Two judges for each of the lexers "basic" and "dynamic":
  longest   Lark, but each terminal has its longest text: must be equal
  as it is  what Python's search finds; how often that differs from the longest text is said. In the
            small languages it must be equal
Grammars are left out where Lark's order of terminals depends on how it visits them: two without a
name that have equal length. Grammars that are refused with a limit or as not supported are counted.
--pairs: pairs of a grammar and a text that are compared for each lexer.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import collections
import os
import random
import re
import subprocess
import sys

from test_lark import LETTERS, TEXTS, VENV, AllMatches, Engine, Error, Maker

LEXERS = ("basic", "dynamic")
LIMITS = re.compile(rb"not supported|limit|matches no text|max_steps")

# name: grammar, texts
LANGUAGES = {
    "sums": (
        r"""
        start: sum
        sum: product | sum "+" product | sum "-" product
        product: atom | product "*" atom | product "/" atom
        atom: NUMBER | "-" atom | NAME | "(" sum ")"
        %import common.CNAME -> NAME
        %import common.NUMBER
        %import common.WS_INLINE
        %ignore WS_INLINE
        """,
        ["1+2", "1 2", "a b", "a+b*(c-1.5)", "1.5.2", "-x", "1e5", " 1 +2 ", "ab1", "1ab", ""],
    ),
    "statements": (
        r"""
        start: stmt*
        stmt: "if" expr "then" stmt ["else" stmt] | "while" expr "do" stmt | NAME "=" expr ";"
            | "{" stmt* "}" | "print" expr ";"
        ?expr: expr ("and" | "or") cmp | cmp
        ?cmp: cmp ("<" | "<=" | "==" | "in" | "not" "in") add | add
        ?add: add ("+" | "-") mul | mul
        ?mul: mul ("*" | "/" | "//") un | un
        ?un: "-" un | "not" un | call
        ?call: call "(" [expr ("," expr)*] ")" | call "." NAME | atom
        atom: NAME | NUMBER | STRING | "(" expr ")" | "[" [expr ("," expr)*] "]"
        NAME: /[a-zA-Z_]\w*/
        NUMBER: /\d+(\.\d+)?([eE][+-]?\d+)?/
        STRING: /"([^"\\\n]|\\.)*"/
        COMMENT: /#[^\n]*/
        BLOCK: /\/\*(.|\n)*?\*\//
        %ignore /[ \t\n]+/
        %ignore COMMENT
        %ignore BLOCK
        """,
        [
            "ifx then y=1;",
            "if x then y=1;",
            "if xthen y=1;",
            "if x then y=1; else z=2;",
            "x=a in b;",
            "x=a inb;",
            "x=(a)in b;",
            "x=1in b;",
            "x=1 in b;",
            "print x;",
            "printx;",
            "printx=3;",
            "x=a//b\n;",
            "x=a#b\n;",
            "x=a#b;",
            "x=a/b;",
            "x=a /* q */ / b;",
            "x=a/*q*//b;",
            "x=a<=b;",
            "x=a< =b;",
            "x=-1.5e3;",
            "x=1.e;",
            "in=3;",
            "x=a.if;",
            'x="s";{x=1;}',
            "if(x)then{}else{}",
            "not=1;",
            "x=not not a;",
            "x=nota;",
            "x=a.b.c(1)(2);",
        ],
    ),
    "queries": (
        r"""
        start: "select"i cols "from"i NAME ["where"i cond] ["order"i "by"i NAME ("," NAME)*]
        cols: "*" | col ("," col)*
        col: expr ["as"i NAME]
        cond: cond "or"i conj | conj
        conj: conj "and"i test | test
        test: expr ("=" | "<>" | "<" | ">" | "<=" | ">=" | "like"i | "in"i) expr | "not"i test
            | "(" cond ")" | expr "is"i ["not"i] "null"i | expr "between"i expr "and"i expr
        expr: expr ("+" | "-") term | term
        term: term ("*" | "/") fac | fac
        fac: NAME | NAME "." NAME | NUMBER | STRING | "(" expr ")" | "(" start ")"
        NAME: /[A-Za-z_][A-Za-z_0-9]*/
        NUMBER: /[0-9]+(\.[0-9]+)?/
        STRING: /'([^']|'')*'/
        %ignore /[ \n\t]+/
        """,
        [
            "select * from t",
            "select a as b from t where x is not null",
            "selecta from t",
            "select a from t where not a=b and b between 1 and 2",
            "select a asb from t",
            "select(a)from t",
            "select 1a from t",
            "select 1from t",
            "select from from t",
            "select a.b from t order by c,d",
            "select 'it''s' from t",
            "SELECT a FROM(t)",
        ],
    ),
}


def longest(self, text, pos):
    """In place of Scanner.match of Lark: the first terminal that matches, in its longest text."""
    text = getattr(text, "text", text)
    for terminal in self.terminals:
        pattern = re.compile(terminal.pattern.to_regexp(), self.g_regex_flags)
        for end in range(len(text), pos, -1):
            if pattern.fullmatch(text, pos, end):
                return text[pos:end], terminal.name
    return None


def in_full(re_, pattern, text, flags):
    """In place of _get_match of Lark, which says whether a string is a keyword."""
    return text if re_.fullmatch(pattern, text, flags) else None


class Judge:
    """Two parsers of one grammar: the basic lexer finds its keywords when it is first used."""

    def __init__(self, lark, text, lexer):
        self.lark, self.lexer = lark, lexer
        self.parsers = [
            lark.Lark(text, parser="earley", lexer=lexer, ambiguity="forest") for _ in range(2)
        ]
        self.parser = self.parsers[0]
        self.match, self.get_match = lark.lexer.Scanner.match, lark.lexer._get_match
        if lexer == "dynamic":
            self.own = dict(self.regexps())
            self.longest = {name: AllMatches(pattern) for name, pattern in self.own.items()}

    def regexps(self):
        return self.parser.parser.parser.term_matcher.__self__.regexps

    def accepts(self, text, as_it_is):
        if self.lexer == "dynamic":
            self.regexps().update(self.own if as_it_is else self.longest)
        elif not as_it_is:
            self.lark.lexer.Scanner.match = longest
            self.lark.lexer._get_match = in_full
        try:
            self.parsers[as_it_is and self.lexer == "basic"].parse(text)
            return True
        except self.lark.exceptions.UnexpectedInput:
            return False
        except RuntimeError:  # a text with several readings
            return True
        finally:
            self.lark.lexer.Scanner.match = self.match
            self.lark.lexer._get_match = self.get_match

    def has_ties(self):
        """Do two terminals without a name of their own stand at one place of the order?"""
        keys = collections.Counter()
        for terminal in self.parser.terminals:
            pattern = terminal.pattern
            made_up = terminal.name.startswith("__") or pattern.type == "str"
            if made_up and (pattern.type != "str" or pattern.flags):
                keys[terminal.priority, pattern.max_width, len(pattern.value)] += 2
            elif made_up:
                keys[terminal.priority, pattern.max_width, len(pattern.value)] |= 1
        return self.lexer == "basic" and any(n > 2 for n in keys.values())


def compare(lark, lexer, pairs, seed):
    rng = random.Random(seed)
    maker, engine = Maker(rng), Engine()
    count, lines = collections.Counter(), []
    while count["pairs"] < pairs:
        text = maker.grammar()
        try:
            judge = Judge(lark, text, lexer)
        except (lark.exceptions.LarkError, AssertionError, re.error):
            count["refused by Lark"] += 1
            continue
        if judge.has_ties():
            continue
        count["grammars"] += 1
        matcher = engine.grammar(text, lexer)
        if isinstance(matcher, Error):
            count["refused"] += 1
            if not LIMITS.search(matcher.message):
                lines.append(f"refused: {matcher.message.decode()}\n{text}")
            continue
        letters = LETTERS * 2 + "1" * ("INT" in text) + " " * ("ignore" in text) + "B_"
        for i in range(TEXTS):
            try:
                sample = maker.text(letters) if i % 2 else engine.generate(matcher, rng, letters)
            except AssertionError:  # a limit of the matcher
                break
            ours, exact = engine.accepts(matcher, sample), judge.accepts(sample, False)
            count["pairs"] += 1
            count["accepted"] += ours
            count["as it is differs"] += judge.accepts(sample, True) != exact
            if ours != exact:
                lines.append(f"{lexer} {sample!r}: here {ours}, Lark {exact}\n{text}")
        engine.free(matcher)
    return count, lines


def languages(lark, lexer):
    engine, checked, lines = Engine(), 0, []
    for name, (text, samples) in LANGUAGES.items():
        judge, matcher = Judge(lark, text, lexer), engine.grammar(text, lexer)
        if isinstance(matcher, Error):
            lines.append(f"{name}, {lexer}: {matcher.message.decode()}")
            continue
        for sample in samples:
            checked += 1
            ours, theirs = engine.accepts(matcher, sample), judge.accepts(sample, True)
            if ours != theirs:
                lines.append(f"{name}, {lexer}, {sample!r}: here {ours}, Lark {theirs}")
        engine.free(matcher)
    return checked, lines


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--pairs", type=int, default=1500)
    options.add_argument("--seed", type=int, default=3)
    options.add_argument("--lexer", choices=LEXERS, help="one of them alone")
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
    passed = failed = 0
    for lexer in LEXERS if not given.lexer else (given.lexer,):
        checked, lines = languages(lark, lexer)
        count, more = compare(lark, lexer, given.pairs, given.seed)
        for line in (lines + more)[:10]:
            print(line)
        print(f"{lexer}:", ", ".join(f"{n} {what}" for what, n in sorted(count.items())))
        failed += len(lines) + len(more)
        passed += checked + count["pairs"] - len(lines) - len(more)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
