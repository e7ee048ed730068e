"""llama-cpp-python: a logits processor.

    llama = llama_cpp.Llama("model.gguf")
    vocab = turnstile.Vocab.from_gguf("model.gguf")
    grammar = turnstile.Grammar.json_schema(vocab, schema)
    processors = llama_cpp.LogitsProcessorList([turnstile.llama_cpp.LogitsProcessor(grammar)])
    llama.create_chat_completion(messages, logits_processor=processors)

It is called before llama.cpp's own samplers, so that top-k and its like choose among what is
allowed. When a processor raises, llama-cpp-python prints that and goes on with the logits as they
are. So this one does not raise where something goes wrong (a limit, another generation's tokens).
It leaves only the tokens that end a text in the logits, and the text ends there. A draft model
can't be used beside it, as processors are then shown tokens that may yet be dropped: that ends the
text too. Programs in C and C++ use bindings/llama.cpp instead.

SPDX-License-Identifier: Apache-2.0
"""

import numpy

from turnstile import _core
from turnstile.errors import StateError
from turnstile.grammar import one_grammar

__all__ = ["LogitsProcessor"]


class LogitsProcessor:
    """Constrains one generation; use a new one for the next, or reset() in between.

    loop_repeats  after so many equal copies of the same tokens at the end of the answer no further
                  copy begins, if another token is allowed. 0: off (turnstile.find_loop)
    """

    def __init__(self, grammar, loop_repeats=0):
        if loop_repeats == 1 or loop_repeats < 0:
            raise ValueError("loop_repeats: 0, or 2 and more")
        self._repeats = loop_repeats
        self._matcher = _core.Matcher(one_grammar(grammar, "LogitsProcessor: grammar"))
        self._mask = numpy.zeros(grammar.vocab.mask_words, numpy.int32)
        self._eog = list(grammar.vocab.eog_tokens)
        self.reset()

    def reset(self):
        """Forget the generation so far; the next call begins one."""
        self._matcher.reset()
        self._written = []
        self._length = None
        self._error = None

    def __call__(self, input_ids, scores):
        """`input_ids` are all tokens so far: the prompt's at the first call, one more at each that
        follows. `scores` are the logits, one for each token of the model. A new array. An exception
        ends the generation: until reset() every call raises it, and leaves the tokens that end a
        text alone in `scores`, all as likely.
        """
        try:
            if self._error:
                raise self._error
            self._follow(input_ids)
            return self._allowed(scores)
        except Exception as error:  # whatever it is, nothing may be written after it
            self._error = error
            if isinstance(scores, numpy.ndarray) and scores.flags.writeable:
                scores[:] = -numpy.inf
                scores[self._eog] = 0
            raise

    def _allowed(self, scores):
        allowed = numpy.array(scores, numpy.float32)
        if self._matcher.is_terminated:  # nothing but the end is left
            kept = allowed[self._eog]
            allowed[:] = -numpy.inf
            allowed[self._eog] = kept
        else:
            self._matcher.mask(self._mask)
            _core.apply_mask(self._mask, allowed)
            self._guard(allowed)
        return allowed

    def _guard(self, allowed):
        found = self._repeats and _core.find_loop(self._written, self._repeats)
        if found:
            kept = allowed[found[1]]
            allowed[found[1]] = -numpy.inf
            if not numpy.isfinite(allowed).any():
                allowed[found[1]] = kept

    def _follow(self, input_ids):
        if self._length is not None:
            if len(input_ids) != self._length + 1:
                raise StateError(
                    f"{len(input_ids)} tokens after {self._length}: the processor follows another "
                    "generation, or a draft model; use a new one, or reset()"
                )
            token = int(input_ids[-1])
            if not self._matcher.is_terminated and not self._matcher.accept(token):
                raise StateError(
                    f"the token {token} is not allowed here: the processor follows another "
                    "generation; use a new one, or reset()"
                )
            self._written.append(token)
        self._length = len(input_ids)
