"""llguidance.hf.

SPDX-License-Identifier: Apache-2.0
"""

from typing import Any

from turnstile.compat_llguidance.tokenizer import LLTokenizer
from turnstile.vocab import Vocab, _ids


def from_tokenizer(
    hf_tokenizer: Any, n_vocab: Any = None, eos_token: Any = None, slices: Any = None
) -> LLTokenizer:
    """The vocabulary of a tokenizer of transformers. `slices` have no meaning here."""
    own = getattr(hf_tokenizer, "eos_token_id", None)
    eos = _ids(own if eos_token is None else eos_token)
    vocab = Vocab.from_transformers(hf_tokenizer, logits_width=n_vocab or 0, eog=eos)
    return LLTokenizer._of(vocab, eos)
