"""xgrammar.tokenizer_info: a vocabulary.

SPDX-License-Identifier: Apache-2.0
"""

import enum
import json
import re

from turnstile.compat_xgrammar.config import get_serialization_version
from turnstile.compat_xgrammar.exception import (
    DeserializeFormatError,
    DeserializeVersionError,
    InvalidJSONError,
)
from turnstile.vocab import Vocab, _ids

__all__ = ["TokenizerInfo", "VocabType"]


class VocabType(enum.Enum):
    RAW = 0
    BYTE_FALLBACK = 1
    BYTE_LEVEL = 2


def _alphabet():
    """The characters of byte-level vocabularies: printable ones stand for themselves, the other
    bytes for those from U+0100 on, in order.
    """
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {
        **{chr(byte): byte for byte in plain},
        **{chr(256 + i): byte for i, byte in enumerate(others)},
    }


_BYTES = _alphabet()


def _decode(token, kind):
    """The bytes of a token as a vocabulary of that kind writes it."""
    if isinstance(token, bytes):
        if kind == VocabType.RAW:
            return token
        token = token.decode()
    if kind == VocabType.BYTE_FALLBACK:
        byte = re.fullmatch("<0x([0-9A-Fa-f]{2})>", token)
        return bytes([int(byte[1], 16)]) if byte else token.replace("\u2581", " ").encode()
    if kind == VocabType.BYTE_LEVEL and all(c in _BYTES for c in token):
        return bytes(_BYTES[c] for c in token)
    return token.encode()


class TokenizerInfo:
    """A vocabulary; here from its tokens as they are written in it, `vocab_type` saying how.
    Without `stop_token_ids`, those with well-known names end a generation.
    """

    vocab_type = VocabType.RAW
    add_prefix_space = False

    def __init__(
        self,
        encoded_vocab,
        vocab_type=VocabType.RAW,
        *,
        vocab_size=None,
        stop_token_ids=None,
        add_prefix_space=False,
    ):
        self.vocab_type, self.add_prefix_space = vocab_type, add_prefix_space
        tokens = [_decode(token, vocab_type) for token in encoded_vocab]
        stops = (
            _ids(stop_token_ids)
            if stop_token_ids is not None
            else [i for i, token in enumerate(tokens) if token in _STOPS]
        )
        self.vocab = Vocab.from_tokens(tokens, logits_width=vocab_size or 0, eog=stops)

    def ordinary_tokens(self):
        """({text: the first such token}, the texts in order, the length of the longest), of tokens
        that are not special. Made once.
        """
        if getattr(self, "_ordinary", None) is None:
            vocab, tokens = self.vocab, {}
            for token in range(vocab.size):
                text = vocab.token_bytes(token)
                if text and not vocab.is_special(token) and not vocab.is_eog(token):
                    tokens.setdefault(text, token)
            self._ordinary = tokens, sorted(tokens), max(map(len, tokens), default=0)
        return self._ordinary

    @classmethod
    def from_huggingface(cls, tokenizer, *, vocab_size=None, stop_token_ids=None):
        self = cls.__new__(cls)
        self.vocab_type, self.add_prefix_space = (
            VocabType.RAW,
            False,
        )  # Turnstile reads the tokenizer itself
        stops = _ids(
            getattr(tokenizer, "eos_token_id", None) if stop_token_ids is None else stop_token_ids
        )
        if stop_token_ids is not None and not stops:
            raise ValueError("stop_token_ids cannot be empty")
        self.vocab = Vocab.from_transformers(tokenizer, logits_width=vocab_size or 0, eog=stops)
        return self

    @property
    def vocab_size(self):
        return self.vocab.logits_width

    @property
    def stop_token_ids(self):
        return list(self.vocab.eog_tokens)

    @property
    def special_token_ids(self):
        """Tokens without bytes, those past the tokenizer's among them, and special ones that end
        nothing.
        """
        vocab = self.vocab
        return [
            token
            for token in range(vocab.logits_width)
            if token >= vocab.size
            or not vocab.token_bytes(token)
            or (vocab.is_special(token) and not vocab.is_eog(token))
        ]

    @property
    def prepend_space_in_tokenization(self):
        return self.add_prefix_space

    @property
    def decoded_vocab(self):
        return [self.vocab.token_bytes(token) for token in range(self.vocab.size)]

    def dump_metadata(self):
        """All but the tokens, as JSON."""
        return json.dumps(
            {
                "vocab_type": self.vocab_type.value,
                "vocab_size": self.vocab_size,
                "add_prefix_space": self.add_prefix_space,
                "stop_token_ids": self.stop_token_ids,
            }
        )

    @staticmethod
    def from_vocab_and_metadata(encoded_vocab, metadata):
        given = json.loads(metadata)
        return TokenizerInfo(
            encoded_vocab,
            VocabType(given["vocab_type"]),
            vocab_size=given["vocab_size"],
            stop_token_ids=given["stop_token_ids"],
            add_prefix_space=given["add_prefix_space"],
        )

    def serialize_json(self):
        """Metadata and tokens as JSON; a token is written in hexadecimal digits of its bytes."""
        return json.dumps(
            {
                "__VERSION__": get_serialization_version(),
                "metadata": self.dump_metadata(),
                "tokens": [token.hex() for token in self.decoded_vocab],
            }
        )

    @staticmethod
    def deserialize_json(json_string):
        stored = read_stored(json_string, ("metadata", "tokens"))
        metadata = json.loads(stored["metadata"])
        info = TokenizerInfo.from_vocab_and_metadata(
            [bytes.fromhex(token) for token in stored["tokens"]],
            json.dumps({**metadata, "vocab_type": VocabType.RAW.value}),
        )
        info.vocab_type = VocabType(metadata["vocab_type"])
        return info


def read_stored(text, members):
    """What serialize_json wrote, as a dict that has these members."""
    try:
        stored = json.loads(text)
    except ValueError as error:
        raise InvalidJSONError(f"not JSON: {error}") from error
    if not isinstance(stored, dict) or not {"__VERSION__", *members} <= stored.keys():
        raise DeserializeFormatError(f"an object with {', '.join(members)} is needed")
    if stored["__VERSION__"] != get_serialization_version():
        raise DeserializeVersionError(
            f"{stored['__VERSION__']} wrote this, and {get_serialization_version()} reads it"
        )
    return stored


_STOPS = {
    text.encode()
    for text in (
        "</s>",
        "<eos>",
        "<|eos|>",
        "<|endoftext|>",
        "<|eot_id|>",
        "<|end_of_text|>",
        "<end_of_turn>",
        "<\uff5cend\u2581of\u2581sentence\uff5c>",
    )
}
