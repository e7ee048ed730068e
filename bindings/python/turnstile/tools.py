"""Requests as servers get them, and what a request constrains (Grammar.request). For a request with
tools and a family of models: the grammar of its answers, and answers read back. And the lint: what
in a schema makes models worse, or costs tokens.

SPDX-License-Identifier: Apache-2.0
"""

import json
from typing import NamedTuple

from turnstile import _core
from turnstile._core import Parser, _find_template, _lint
from turnstile.errors import GrammarError
from turnstile.grammar import Grammar, _text

__all__ = ["Finding", "Tools", "lint", "lint_fix"]


class Tools:
    """What a model may answer to a request with tools.

    tools = Tools(vocab, request, preset="qwen3")
    tools.grammar                     the grammar: its matchers make masks
    tools.read(text)                  an answer read back; ValueError where it does not match
    tools.read(text, lenient=True)    the same of an answer that nobody constrained: no error

    The options are those of Grammar.tools.
    """

    def __init__(self, vocab, request, *, preset, **options):
        self._of = (vocab, request)
        self._options = {"preset": preset, **options}
        self.grammar = Grammar.tools(vocab, request, **self._options)
        self._mending = None

    def __repr__(self):
        return f"<turnstile.Tools, preset {self._options['preset']}>"

    @staticmethod
    def from_template(text):
        """The preset that goes with a chat template, and others that share markup with it.

        text     Jinja, or a tokenizer_config.json that has a chat_template
        returns  (name, [names]); the name is None where no preset is known to read what the model
                 writes
        """
        return _find_template(text)

    def parser(self, lenient=False):
        """A Parser: text or tokens in, parts out. A lenient one refuses nothing."""
        if lenient and self._mending is None:
            options = {"over": self.grammar, **self._options}
            self._mending = Grammar.tools(*self._of, lenient=True, **options)
        return Parser(self._mending if lenient else self.grammar)

    def read(self, text, *, lenient=False):
        """An answer, as a dict: "content", "reasoning", "calls" and "tags".

        With `lenient` answers are mended that do not match. Such a one has "repairs" besides, as
        each of its calls has: a list of {"repair", "at"}, `at` being a byte of the answer. An
        answer that matches reads the same either way.
        """
        parser = self.parser(lenient)
        if not parser.text(text):
            read = 0
            text = text.encode() if isinstance(text, str) else bytes(text)
            while parser.text(text[read : read + 1]):
                read += 1
            raise ValueError(
                f"the answer does not match from byte {read} on: lenient=True reads it all the same"
            )
        if not parser.finish():
            raise ValueError("the answer is not complete: lenient=True reads it all the same")
        return json.loads(parser.json())


# ---- the constraint of a request -----------------------------------------------------------------


def ebnf_or_lark(vocab, text, **options):
    """A grammar as vLLM takes them: EBNF where the text has `::=`, Lark without it."""
    return (Grammar.ebnf if "::=" in text else Grammar.lark)(vocab, text, **options)


def grammar_of_request(vocab, body, options):
    """Grammar.request, with its options as a dict. The library finds the constraint; the
    constructor of its kind compiles it.
    """
    text = _text(body)
    try:
        kind, constraint, *place, compact = _core._request(text)
    except GrammarError as error:
        _forget_place(error, body)
        raise
    if compact:
        options = {"whitespace": "compact", **options}
    try:
        grammar = _MAKERS[kind](vocab, constraint, **options)
    except GrammarError as error:
        inner = (error.message, error.pointer, error.offset, error.line, error.column)
        error.message, error.pointer, error.offset, error.line, error.column = _core._place(
            text, tuple(place), inner
        )
        _forget_place(error, body)
        raise
    grammar._pointer = place[0]
    return grammar


# By the numbers of tsl_request_kind.
_MAKERS = {
    0: Grammar.json_schema,
    1: Grammar.regex,
    2: Grammar.gbnf,
    3: Grammar.lark,
    4: Grammar.ebnf,
    16: Grammar.tags,
}


def _forget_place(error, body):
    """Of a request that is a dict: the caller has never seen its text."""
    if isinstance(body, dict):
        error.offset = error.line = error.column = 0


# ---- lint


class Finding(NamedTuple):
    """One thing that `lint` found.

    rule      such as "answer-first"; docs/lint.md explains each
    severity  "mistake", "quality" or "cost"
    pointer   JSON pointer into the schema, "" for all of it
    message   what is wrong there
    why       why that matters
    mended    whether the mended schema has it no more
    """

    rule: str
    severity: str
    pointer: str
    message: str
    why: str
    mended: bool

    def __str__(self):
        return f"{self.rule} {self.pointer or '(root)'}: {self.message}"


def _schema_text(schema):
    if isinstance(schema, (bytes, bytearray)):
        return bytes(schema).decode()
    if hasattr(schema, "model_json_schema"):
        schema = schema.model_json_schema()
    return schema if isinstance(schema, str) else json.dumps(schema, ensure_ascii=False)


def _rules(rules):
    return rules if isinstance(rules, str) else ",".join(rules)


def lint(schema, *, rules=()):
    """The findings in a schema: a list of `Finding`, in the order of the text.

    `schema` is a dict, a JSON text or a pydantic model; or a request with tools or a response
    format, whose schemas are looked at. `rules` names those that are tried, or, each with a `-`
    before its name, those that are not. ArgumentError: there is no such rule.
    """
    found, _ = _lint(_schema_text(schema), _rules(rules), False, False)
    return [Finding(*row) for row in found]


def lint_fix(schema, *, rules=(), bounds=False):
    """A pair: the mended schema as Python objects, and the findings.

    `bounds` gives wide bounds to what has no end. The mended schema may allow other values.
    """
    found, mended = _lint(_schema_text(schema), _rules(rules), True, bounds)
    return json.loads(mended), [Finding(*row) for row in found]
