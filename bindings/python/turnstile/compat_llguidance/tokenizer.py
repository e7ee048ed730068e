"""llguidance's tokenizers.

SPDX-License-Identifier: Apache-2.0
"""

import os

from turnstile.vocab import Vocab, _ids

__all__ = ["LLTokenizer", "TokenizerWrapper"]


class TokenizerWrapper:
    """A tokenizer of one's own: it has eos_token_id, bos_token_id, tokens (bytes), perhaps
    special_token_ids, and is called with a text.
    """

    def __init__(self, gtokenizer):
        self.eos_token_id = gtokenizer.eos_token_id
        self.bos_token_id = gtokenizer.bos_token_id
        self.tokens = gtokenizer.tokens
        self.special_token_ids = getattr(gtokenizer, "special_token_ids", [])
        self._tokenizer = gtokenizer

    def __call__(self, text):
        try:
            return self._tokenizer(text.encode())
        except (TypeError, AttributeError):
            return self._tokenizer(text)


class LLTokenizer:
    """A vocabulary; from the text or the path of a tokenizer.json, or from a TokenizerWrapper.
    `slices` have no meaning here.
    """

    # A text is encoded as the model's own tokenizer does it.
    is_canonical = True

    def __init__(self, tokenizer, n_vocab=None, eos_token=None, slices=None):
        options = {"logits_width": n_vocab or 0, "eog": _ids(eos_token)}
        self._eos = options["eog"]
        if hasattr(tokenizer, "tokens"):
            self._encoder = tokenizer
            self.vocab = Vocab.from_tokens(
                [bytes(token) for token in tokenizer.tokens],
                special=list(tokenizer.special_token_ids),
                logits_width=options["logits_width"],
                eog=options["eog"] or _ids(tokenizer.eos_token_id),
            )
            return
        text = str(tokenizer)
        self.vocab = (
            Vocab.from_memory(text.encode(), **options)
            if text.lstrip().startswith("{")
            else Vocab.from_file(os.fspath(tokenizer), **options)
        )

    _encoder = None
    _eos = ()

    @classmethod
    def _of(cls, vocab, eos=()):
        self = cls.__new__(cls)
        self.vocab = vocab
        self._eos = eos
        return self

    @classmethod
    def from_tiktoken(
        cls, *, encoder, special_tokens, pattern, eos_token, n_vocab=None, slices=None
    ):
        """The vocabulary of a tiktoken encoding, from the ranks of its tokens and its special
        tokens. `pattern` and `slices` have no meaning here: a text is encoded without them.
        """
        tokens = [b""] * (max((*encoder.values(), *special_tokens.values())) + 1)
        for spelled, token in encoder.items():
            tokens[token] = spelled
        for text, token in special_tokens.items():
            tokens[token] = text.encode()
        vocab = Vocab.from_tokens(
            tokens,
            special=sorted(special_tokens.values()),
            eog=_ids(eos_token),
            logits_width=n_vocab or 0,
        )
        self = cls._of(vocab, _ids(eos_token))
        self.is_canonical = False
        return self

    @property
    def vocab_size(self):
        return self.vocab.logits_width

    @property
    def eos_token(self):
        """The first of those that the caller named, or of the vocabulary's."""
        return (self._eos or self.vocab.eog_tokens)[0]

    @property
    def eos_tokens(self):
        return list(self.vocab.eog_tokens)

    def tokenize_str(self, text, *, parse_special=False):
        if self._encoder and not parse_special:
            return list(self._encoder(text))
        return self.vocab.encode(text, parse_special)

    def greedy_tokenize(self, text):
        """The longest token at each place."""
        return _greedy(self.vocab, text.encode() if isinstance(text, str) else bytes(text))

    def tokenize_partial(self, new_bytes, recent_tokens=None):
        """Tokens of what no later text changes, and the rest of the bytes. The last token is never
        among them.
        """
        tokens = self.tokenize_bytes(bytes(new_bytes))[:-1]
        length = sum(len(self.vocab.token_bytes(token)) for token in tokens)
        return tokens, bytes(new_bytes)[length:]

    def dbg_tokens(self, tokens):
        """The tokens for people."""
        return f"\u27e6{self.test_trace_tokens(tokens)}\u27e7"

    def test_trace_tokens(self, tokens):
        return "\u2027".join(self.decode_str([token]) for token in tokens)

    def with_slices(self, slices):
        return self

    @staticmethod
    def general_slices():
        return []

    @staticmethod
    def json_slices():
        return []

    def tokenize_bytes(self, utf8bytes, *, parse_special=False):
        return self.vocab.encode(utf8bytes, parse_special)

    def decode_bytes(self, tokens):
        """Tokens past the tokenizer's, which a model's logits may have, are shown as their
        numbers.
        """
        return b"".join(
            b"<[%d]>" % token if token >= self.vocab.size else self.vocab.token_bytes(token)
            for token in tokens
        )

    def decode_str(self, tokens):
        return self.decode_bytes(tokens).decode(errors="replace")

    def is_special_token(self, token):
        return self.vocab.is_special(token)


def _greedy(vocab, text):
    tokens, at, longest = [], 0, {}
    for token in range(vocab.size):
        spelled = vocab.token_bytes(token)
        if spelled and not vocab.is_special(token):
            longest.setdefault(spelled, token)
    most = max(map(len, longest), default=0)
    while at < len(text):
        for length in range(min(most, len(text) - at), 0, -1):
            token = longest.get(text[at : at + length])
            if token is not None:
                tokens.append(token)
                at += length
                break
        else:
            raise ValueError(f"no token spells the byte at {at}")
    return tokens
