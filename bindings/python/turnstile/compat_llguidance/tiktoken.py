"""llguidance.tiktoken.

SPDX-License-Identifier: Apache-2.0
"""

from typing import Any

from turnstile.compat_llguidance.tokenizer import LLTokenizer


def lltokenizer_from_encoding(
    encoding: Any, *, n_vocab: Any = None, eos_token: Any = None, slices: Any = None
) -> LLTokenizer:
    """The vocabulary of a tiktoken.Encoding. `slices` have no meaning here."""
    tokenizer = LLTokenizer.from_tiktoken(
        encoder=encoding._mergeable_ranks,
        special_tokens=encoding._special_tokens,
        pattern=encoding._pat_str,
        eos_token=encoding.eot_token if eos_token is None else eos_token,
        n_vocab=n_vocab,
        slices=slices,
    )
    tokenizer._encoder, tokenizer.is_canonical = encoding.encode_ordinary, True
    return tokenizer
