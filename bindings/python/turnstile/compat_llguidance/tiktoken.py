"""llguidance.tiktoken.

SPDX-License-Identifier: Apache-2.0
"""

from typing import Any

from turnstile.compat_llguidance.tokenizer import LLTokenizer
from turnstile.vocab import Vocab, _ids


def lltokenizer_from_encoding(
    encoding: Any, *, n_vocab: Any = None, eos_token: Any = None, slices: Any = None
) -> LLTokenizer:
    """The vocabulary of a tiktoken.Encoding. `slices` have no meaning here."""
    ranks, special = encoding._mergeable_ranks, encoding._special_tokens
    tokens = [b""] * (max((*ranks.values(), *special.values())) + 1)
    for spelled, token in ranks.items():
        tokens[token] = spelled
    for text, token in special.items():
        tokens[token] = text.encode()
    vocab = Vocab.from_tokens(
        tokens,
        special=sorted(special.values()),
        eog=_ids(encoding.eot_token if eos_token is None else eos_token),
        logits_width=n_vocab or 0,
    )
    tokenizer = LLTokenizer._of(vocab)
    tokenizer._encoder = encoding.encode_ordinary
    return tokenizer
