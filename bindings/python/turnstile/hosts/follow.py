"""One text that a host writes, followed by its tokens: what the adapters of this folder share.

A host shows all tokens of a text at each step, not what it did since the last step. It may take
tokens back, as speculation does. So the text is compared with the one of the step before. The
matcher goes back to where the two part, and accepts what is new.

SPDX-License-Identifier: Apache-2.0
"""

import logging

import numpy

from turnstile import _core
from turnstile.errors import StateError
from turnstile.grammar import one_grammar

__all__ = ["Follower", "apply_"]

_log = logging.getLogger(__name__)


class Follower:
    """The masks of one text.

    grammar     a Grammar
    max_tokens  the text is complete within so many tokens: what could not be ended in time is not
                allowed. LimitError at the first step if no text is that short. None: no bound
    on_error    "raise": an exception (a token that the grammar does not allow, a limit) goes to the
                caller. "end": it is logged, and the text may only end from there on

    An exception stays in `error` until reset(). Each step that follows raises it again, or allows
    the tokens that end a text.
    """

    def __init__(self, grammar, max_tokens=None, on_error="raise"):
        if on_error not in ("raise", "end"):
            raise ValueError(f'on_error is "raise" or "end", not {on_error!r}')
        one_grammar(grammar, "the grammar of a text")
        self._on_error = on_error
        self._max_tokens = max_tokens
        self._budget = None if max_tokens is None else _core.Budget(grammar)
        self._matcher = _core.Matcher(grammar)
        self._words = numpy.zeros(grammar.vocab.mask_words, numpy.uint32)
        self._ends = numpy.zeros_like(self._words)
        for token in grammar.vocab.eog_tokens:
            self._ends[token // 32] |= numpy.uint32(1 << token % 32)
        self.reset()

    def reset(self):
        """Forget the text; the next step begins one."""
        self._matcher.reset()
        self._prompt = None
        self._text = numpy.zeros(0, numpy.int64)
        self._accepted = 0  # tokens of the text that the matcher has; fewer where the text ended
        self._error = None

    @property
    def error(self):
        """The exception that stays, or None."""
        return self._error

    @property
    def is_terminated(self):
        """Is the text over? Then `mask` allows the tokens that end a text, and no others."""
        return self._matcher.is_terminated

    def mask(self, tokens):
        """The mask for the token that comes after `tokens`, uint32 of vocab.mask_words; it is valid
        until the next call. `tokens`: a sequence of ids, the prompt's and the text's. At the first
        call all are the prompt's. StateError if this is not the text that was followed so far.
        """
        if self._error is None:
            try:
                self._follow(numpy.asarray(tokens, numpy.int64).reshape(-1))
                return self._allowed()
            except Exception as error:
                self._error = error
                if self._on_error == "end":
                    _log.error("a text ends early: %s: %s", type(error).__name__, error)
        if self._on_error == "raise":
            raise self._error
        return self._ends

    def _allowed(self):
        if self._matcher.is_terminated:
            return self._ends
        if self._budget is None:
            self._matcher.mask(self._words)
        else:
            self._budget.mask(self._matcher, self._max_tokens - len(self._text), self._words)
        return self._words

    def _follow(self, tokens):
        if self._prompt is None:
            self._prompt = tokens.copy()
            if self._budget is not None:
                self._budget.start(self._matcher, self._max_tokens)
            return
        start = len(self._prompt)
        if len(tokens) < start or not numpy.array_equal(tokens[:start], self._prompt):
            raise StateError(
                "the tokens begin with another prompt than at the first step; use one processor "
                "for each text, or reset()"
            )
        text = tokens[start:]
        if len(text) > len(self._text) + 1:
            raise StateError(
                f"{len(text)} tokens after {len(self._text)}: the processor missed a step, or is "
                "used for two texts; use one for each text, or reset()"
            )
        shared = min(len(text), len(self._text))
        differ = numpy.flatnonzero(text[:shared] != self._text[:shared])
        shared = int(differ[0]) if len(differ) else shared
        if self._accepted > shared:
            self._matcher.rollback(self._accepted - shared)
            self._accepted = shared
        for place in range(shared, len(text)):
            if self._matcher.is_terminated:
                break  # hosts go on for a step or two after the end
            if not self._matcher.accept(int(text[place])):
                raise StateError(
                    f"the grammar does not allow the token {text[place]} at place {place} of the "
                    "text: something else chose it"
                )
            self._accepted += 1
        self._text = text.copy()


def apply_(words, logits):
    """Set what a mask does not allow to -inf, in place. `logits`: one row, float32 in host memory,
    of any width; columns past the mask's are not allowed.
    """
    inside = 32 * len(words)
    _core.apply_mask(words, logits[:inside])
    logits[inside:] = -numpy.inf
