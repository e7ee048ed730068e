"""llama-cpp-python: a logits processor.

    llama = llama_cpp.Llama("model.gguf")
    vocab = turnstile.Vocab.from_gguf("model.gguf")
    grammar = turnstile.Grammar.json_schema(vocab, schema)
    processors = llama_cpp.LogitsProcessorList([turnstile.llama_cpp.LogitsProcessor(grammar)])
    llama.create_chat_completion(messages, logits_processor=processors)

It is called before llama.cpp's own samplers, so that top-k and its like choose among what is allowed. Programs in C and C++ use bindings/llama.cpp instead.

SPDX-License-Identifier: Apache-2.0
"""
import numpy

from turnstile import _core
from turnstile.errors import StateError

__all__ = ["LogitsProcessor"]


class LogitsProcessor:
    """Constrains one generation; use a new one for the next, or reset() in between."""

    def __init__(self, grammar):
        self._matcher = _core.Matcher(grammar)
        self._mask = numpy.zeros(grammar.vocab.mask_words, numpy.int32)
        self._eog = list(grammar.vocab.eog_tokens)
        self.reset()

    def reset(self):
        """Forget the generation so far; the next call begins one."""
        self._matcher.reset()
        self._length = None

    def __call__(self, input_ids, scores):
        """`input_ids`: all tokens so far, the prompt's at the first call; `scores`: the logits, one for each token of the model. A new array."""
        self._follow(input_ids)
        allowed = numpy.array(scores, numpy.float32)
        if self._matcher.is_terminated:  # nothing but the end is left
            kept = allowed[self._eog]
            allowed[:] = -numpy.inf
            allowed[self._eog] = kept
        else:
            self._matcher.mask(self._mask)
            _core.apply_mask(self._mask, allowed)
        return allowed

    def _follow(self, input_ids):
        if self._length is not None:
            for token in input_ids[self._length:]:
                if not self._matcher.is_terminated and not self._matcher.accept(int(token)):
                    raise StateError(f"the token {token} is not allowed here: the processor follows another generation; use a new one, or reset()")
        self._length = len(input_ids)
