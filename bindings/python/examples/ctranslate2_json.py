"""CTranslate2: a loop under a JSON Schema.    python ctranslate2_json.py MODEL_FOLDER

generate_batch() has no place for masks. forward_batch() gives the logits, and reads the whole text
at each step.

SPDX-License-Identifier: Apache-2.0
"""

import sys

import ctranslate2
import numpy

import turnstile
from turnstile.hosts.follow import Follower, apply_

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 4}, "age": {"enum": ["18", "19"]}},
    "required": ["name", "age"],
    "additionalProperties": False,
}

generator = ctranslate2.Generator(sys.argv[1])
vocab = turnstile.Vocab.from_pretrained(sys.argv[1])  # a folder with tokenizer.json
follower = Follower(turnstile.Grammar.json_schema(vocab, SCHEMA, whitespace="compact"))

tokens = vocab.encode("A person, as JSON:")
start = len(tokens)
while not tokens[start:] or not vocab.is_eog(tokens[-1]):
    logits = numpy.array(generator.forward_batch([tokens]), numpy.float32)[0, -1]
    apply_(follower.mask(tokens), logits)
    tokens.append(int(logits.argmax()))
print(b"".join(vocab.token_bytes(token) for token in tokens[start:-1]).decode())
