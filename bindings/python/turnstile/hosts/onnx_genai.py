"""ONNX Runtime GenAI: masks on the logits of its Generator.

    generator = onnxruntime_genai.Generator(model, params)
    generator.append_tokens(tokenizer.encode(prompt))
    constraint = turnstile.hosts.onnx_genai.Constraint(generator, grammar)
    while not generator.is_done():
        constraint.apply()
        generator.generate_next_token()

Generator.get_logits() and set_logits() are the point to plug in. The search options (sampling,
top-k, repetition penalty) act on the masked logits. Beams swap texts between two steps without
telling anybody, so num_beams must be 1.

SPDX-License-Identifier: Apache-2.0
"""

import numpy

from turnstile import _core
from turnstile.grammar import some_grammars
from turnstile.hosts.follow import Follower, apply_

__all__ = ["Constraint"]


class Constraint:
    """Constrains the texts of one Generator; use a new one for each.

    generator   the Generator
    grammars    a Grammar for all texts of the batch, or a sequence with one Grammar or None
                (unconstrained) for each
    max_tokens  every text is complete within so many tokens: what could not be ended in time is not
                allowed. LimitError if no text is that short. None: `max_length` may cut texts off
    on_error    "raise": an exception ends apply(). "end": it is logged and kept in `errors`, and
                that text may only end from there on; the others go on

    A Generator may be rewound (rewind_to) to any place after the prompt.
    """

    def __init__(self, generator, grammars, max_tokens=None, on_error="raise"):
        self._generator = generator
        self._grammars = some_grammars(grammars, "Constraint: grammars")
        self._for_all = isinstance(grammars, _core.Grammar)
        self._options = max_tokens, on_error
        self._followers = None

    @property
    def errors(self):
        """For each text: the exception that stopped it, or None."""
        return [follower and follower.error for follower in self._followers or []]

    def apply(self):
        """Mask the logits of the next token. Call this once before each generate_next_token()."""
        logits = numpy.ascontiguousarray(self._generator.get_logits(), numpy.float32)
        rows = logits.reshape(len(logits), -1)
        if logits.size and rows.shape[1] != logits.shape[-1]:
            raise ValueError(f"logits of the shape {logits.shape}: the last token's are wanted")
        if self._followers is None:
            self._followers = self._begin(len(rows))
        for i, follower in enumerate(self._followers):
            if follower is not None:
                apply_(follower.mask(self._generator.get_sequence(i)), rows[i])
        self._generator.set_logits(logits)

    def _begin(self, rows):
        grammars = self._grammars
        if self._for_all:
            grammars = grammars * rows
        if len(grammars) != rows:
            raise ValueError(
                f"{len(grammars)} grammars for {rows} rows of logits: give one for each text of "
                "the batch, and leave num_beams at 1"
            )
        return [grammar and Follower(grammar, *self._options) for grammar in grammars]
