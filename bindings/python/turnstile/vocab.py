"""Vocabularies: the tokens of a model, and where they come from.

SPDX-License-Identifier: Apache-2.0
"""

import array
import operator
import os

from turnstile import _core
from turnstile.errors import ArgumentError, UnsupportedError


class Vocab(_core.Vocab):
    """The tokens of a model: their bytes, which are special, which end a generation. Immutable,
    shared by threads.

    What every constructor takes:

    logits_width  columns of a row of logits where it is wider than the tokenizer's vocabulary (0:
                  as wide); columns past those are never allowed
    eog           ids of the tokens that end a generation, in place of those that the file names
    """

    @classmethod
    def from_file(cls, path, *, logits_width=0, eog=(), cache_dir=None, pattern=None):
        """Load a vocabulary from a file; which formats there are, tsl_vocab_load_file in
        turnstile.h says.

        `cache_dir` keeps a content-addressed cache file there, which loads in milliseconds.
        `pattern` is the pre-tokenisation pattern of a tiktoken rank file that is not one of the
        well-known ones.
        """
        return cls._load_file(
            path,
            logits_width,
            tuple(eog),
            None if cache_dir is None else os.fspath(cache_dir),
            pattern,
        )

    @classmethod
    def from_pretrained(cls, source, *, logits_width=0, eog=()):
        """The vocabulary of a tokenizer object of transformers, of a file, or of a model's folder.
        Of a folder the first that is there is read: tokenizer.json, tekken.json, tokenizer.model or
        a single GGUF file. Nothing is fetched.
        """
        if not isinstance(source, (str, os.PathLike)):
            return cls.from_transformers(source, logits_width=logits_width, eog=eog)
        source = os.fspath(source)
        if not os.path.isdir(source):
            return cls.from_file(source, logits_width=logits_width, eog=eog)
        names = ["tokenizer.json", "tekken.json", "tokenizer.model"]
        gguf = sorted(name for name in os.listdir(source) if name.endswith(".gguf"))
        names += gguf if len(gguf) == 1 else []
        for name in names:
            path = os.path.join(source, name)
            if os.path.isfile(path):
                return cls.from_file(path, logits_width=logits_width, eog=eog)
        raise ArgumentError(
            f"{source}: no tokenizer.json, tekken.json, tokenizer.model or single GGUF file",
            "TSL_ERR_ARGUMENT",
        )

    @classmethod
    def from_memory(cls, data, *, name=None, logits_width=0, eog=(), pattern=None):
        """As from_file, from the bytes of the file; `name` stands in for its name."""
        return cls._load_memory(data, name, logits_width, tuple(eog), pattern)

    @classmethod
    def from_tokens(cls, tokens, *, special=(), eog=(), logits_width=0):
        """A vocabulary from a sequence of bytes, one per id. A token without bytes is never
        allowed; the ids in `special` only where named.
        """
        if not len(tokens):
            raise ArgumentError("a vocabulary has at least one token", "TSL_ERR_ARGUMENT")
        flags = bytearray(len(tokens))
        for token in special:
            if not 0 <= token < len(tokens):
                raise ArgumentError(
                    f"special token {token} is not below the size {len(tokens)}", "TSL_ERR_ARGUMENT"
                )
            flags[token] = 1
        offsets = array.array("I", [0])
        for token in tokens:
            offsets.append(offsets[-1] + len(token))
        return cls._from_arrays(
            b"".join(tokens), offsets.tobytes(), bytes(flags), logits_width, tuple(eog)
        )

    @classmethod
    def from_transformers(cls, tokenizer, *, logits_width=0, eog=()):
        """The vocabulary of a tokenizer of Hugging Face transformers, fast ones (those over the
        package tokenizers).

        `logits_width` should be the model's `config.vocab_size`, `eog` the `eos_token_id` of its
        generation config. Without `eog` the tokenizer's own end-of-sequence token counts, together
        with the well-known names of such tokens.
        """
        backend = getattr(tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise UnsupportedError(
                f"{type(tokenizer).__name__} has no backend_tokenizer; load its file with "
                "Vocab.from_file"
            )
        data = backend.to_str().encode()
        vocab = cls.from_memory(data, logits_width=logits_width, eog=_ids(eog))
        own = getattr(tokenizer, "eos_token_id", None)
        if _ids(eog) or own is None or vocab.is_eog(own):
            return vocab
        return cls.from_memory(data, logits_width=logits_width, eog=(*vocab.eog_tokens, own))

    @classmethod
    def from_tiktoken(cls, encoding, *, logits_width=0, eog=()):
        """The vocabulary of a `tiktoken.Encoding`. Its special tokens keep their ids; <|endoftext|>
        and <|return|> end a generation unless `eog` says otherwise.
        """
        if not hasattr(encoding, "token_byte_values"):
            raise UnsupportedError(
                f"{type(encoding).__name__} is no tiktoken.Encoding; tiktoken.get_encoding(name) "
                "makes one"
            )
        ranks = {
            encoding.encode_single_token(token): token for token in encoding.token_byte_values()
        }
        special = {encoding.encode_single_token(text): text for text in encoding.special_tokens_set}
        if not eog:
            eog = [
                id
                for id, text in special.items()
                if text in ("<|endoftext|>", "<|return|>", "<|call|>")
            ]
        tokens = [ranks.get(i) or special.get(i, "").encode() for i in range(encoding.n_vocab)]
        return cls.from_tokens(tokens, special=special, eog=eog, logits_width=logits_width)

    @classmethod
    def from_gguf(cls, path, *, logits_width=0, eog=(), cache_dir=None):
        """The vocabulary inside a GGUF file. The weights are not read."""
        if os.path.isfile(path) and os.access(
            path, os.R_OK
        ):  # what else there may be, from_file refuses, and does not wait for
            with open(path, "rb") as file:
                if file.read(4) != b"GGUF":
                    raise UnsupportedError(f"{path} is not a GGUF file")
        return cls.from_file(path, logits_width=logits_width, eog=eog, cache_dir=cache_dir)

    def __len__(self):
        return self.size

    def __repr__(self):
        return f"<turnstile.Vocab of {self.size} tokens, identity {self.identity.hex()[:12]}>"


def _ids(eog):
    """An id, a sequence of ids or None, as a tuple."""
    if eog is None:
        return ()
    try:
        return (operator.index(eog),)
    except TypeError:  # arrays of several have __index__ too
        return tuple(eog)
