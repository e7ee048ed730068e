"""A request with tools and a family of models: the grammar of its answers, and answers read back.

SPDX-License-Identifier: Apache-2.0
"""

import json

from turnstile._core import Parser, _find_template
from turnstile.grammar import Grammar

__all__ = ["Tools"]


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
