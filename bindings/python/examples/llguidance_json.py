"""A program for llguidance, on Turnstile: only its import has changed.

    python llguidance_json.py TOKENIZER.json

SPDX-License-Identifier: Apache-2.0
"""

import random
import sys

import turnstile.compat_llguidance as llguidance  # was: import llguidance

SCHEMA = {"enum": [{"name": "Ada", "age": 36}, {"name": "Alan", "age": 41}]}

tokenizer = llguidance.LLTokenizer(sys.argv[1])
grammar = llguidance.LLMatcher.grammar_from_json_schema(
    SCHEMA, defaults={"whitespace_flexible": False}
)
matcher = llguidance.LLMatcher(tokenizer, grammar)
if matcher.is_error():
    sys.exit(matcher.get_error())

tokens = []
while not matcher.is_stopped():
    mask = matcher.compute_bitmask()
    allowed = [
        token for token in range(tokenizer.vocab_size) if mask[token // 8] >> (token % 8) & 1
    ]
    tokens.append(random.choice(allowed))  # a model would choose
    matcher.consume_token(tokens[-1])
print(tokenizer.decode_str([token for token in tokens if token not in tokenizer.eos_tokens]))
