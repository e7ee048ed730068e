"""mlx-lm: a logits processor for generate(), stream_generate() and BatchGenerator.

    model, tokenizer = mlx_lm.load(path)
    vocab = turnstile.hosts.mlx.vocab_of(tokenizer)
    grammar = turnstile.Grammar.json_schema(vocab, schema)
    processor = turnstile.hosts.mlx.LogitsProcessor(grammar)
    mlx_lm.generate(model, tokenizer, prompt, logits_processors=[processor])

The mask goes to MLX as its words, one bit a token (16 KB for 128,000 tokens). MLX's own operations
apply it where the logits are: on the processor, or on the GPU of a Mac.

mlx-lm computes one step past the end of a text. The processor allows the tokens that end it there.

SPDX-License-Identifier: Apache-2.0
"""

import mlx.core as mx
import numpy

from turnstile.hosts.follow import Follower
from turnstile.vocab import Vocab

__all__ = ["LogitsProcessor", "apply", "vocab_of"]


def vocab_of(tokenizer):
    """The vocabulary of a tokenizer that mlx_lm.load() returned, ended by the tokens that end
    mlx-lm's generations.
    """
    return Vocab.from_transformers(
        getattr(tokenizer, "_tokenizer", tokenizer), eog=getattr(tokenizer, "eos_token_ids", ())
    )


def _refuse(words, logits):
    bits = mx.right_shift(words[:, None], mx.arange(32, dtype=mx.uint32)) & 1
    allowed = bits.reshape(-1).astype(mx.bool_)
    width, inside = logits.shape[-1], allowed.shape[0]
    if inside < width:  # columns past the vocabulary's are no token's
        allowed = mx.concatenate([allowed, mx.zeros(width - inside, mx.bool_)])
    return mx.where(allowed[:width], logits, mx.array(-mx.inf, logits.dtype))


def apply(words, logits):
    """Logits with -inf where the mask does not allow the token: a new array of MLX, computed when
    its values are wanted. `words`: uint32 of vocab.mask_words, copied at once. `logits`: an array
    of MLX of any float type and any width, its last axis the tokens.
    """
    return _refuse(mx.array(numpy.asarray(words).view(numpy.uint32)), logits)


class LogitsProcessor:
    """Constrains one text; use one for each prompt of a batch, or reset() in between.

    grammar     a Grammar
    max_tokens  the text is complete within so many tokens (give mlx-lm the same): what could not be
                ended in time is not allowed. LimitError if no text is that short. None: mlx-lm may
                cut the text off
    on_error    "raise": an exception ends the call of mlx-lm. "end": it is logged and kept in
                `error`, and this text may only end from there on; the others of a batch go on

    With a draft model, one processor serves both models.
    """

    def __init__(self, grammar, max_tokens=None, on_error="raise"):
        self._follower = Follower(grammar, max_tokens, on_error)

    @property
    def error(self):
        """The exception that stopped this text, or None."""
        return self._follower.error

    def reset(self):
        """Forget the text; the next call begins one."""
        self._follower.reset()

    def __call__(self, tokens, logits):
        """`tokens`: all tokens so far, an array of MLX of one axis; `logits`: (1, tokens of the
        model), any float type. A new array.
        """
        if logits.size != logits.shape[-1]:
            raise ValueError(
                f"logits of the shape {logits.shape}: a processor is for one row; give "
                "BatchGenerator.insert() one for each prompt"
            )
        return apply(self._follower.mask(numpy.array(tokens)), logits)
