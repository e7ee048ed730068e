"""A GGUF file that holds a byte-level BPE vocabulary and nothing else, for the llama.cpp worker:
gguf.py TOKENIZER.JSON EOS OUT.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, version 3: magic, version, counts
of tensors and of keys, then each key with its type and value.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import struct
import sys

import worker

U32, I32, STRING, ARRAY = 4, 5, 8, 9
NORMAL, CONTROL = 1, 3  # token types


def text(value):
    data = value.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


def strings(values):
    return struct.pack("<IQ", STRING, len(values)) + b"".join(text(v) for v in values)


def write(vocab, eos, path):
    types = [CONTROL if i in vocab.special else NORMAL for i in range(len(vocab.letters))]
    keys = [
        ("general.architecture", STRING, text("llama")),
        ("tokenizer.ggml.model", STRING, text("gpt2")),
        ("tokenizer.ggml.pre", STRING, text("llama-bpe")),
        ("tokenizer.ggml.tokens", ARRAY, strings(vocab.letters)),
        ("tokenizer.ggml.merges", ARRAY, strings(vocab.merges)),
        (
            "tokenizer.ggml.token_type",
            ARRAY,
            struct.pack(f"<IQ{len(types)}i", I32, len(types), *types),
        ),
        ("tokenizer.ggml.eos_token_id", U32, struct.pack("<I", eos)),
    ]
    data = (
        b"GGUF"
        + struct.pack("<IQQ", 3, 0, len(keys))
        + b"".join(text(k) + struct.pack("<I", t) + v for k, t, v in keys)
    )
    pathlib.Path(path).write_bytes(data)


if __name__ == "__main__":
    write(worker.Vocabulary(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
