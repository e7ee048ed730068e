"""mlx-lm: generate() under a JSON Schema.    python mlx_json.py MODEL

SPDX-License-Identifier: Apache-2.0
"""

import sys

import mlx_lm

import turnstile
import turnstile.hosts.mlx

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 4}, "age": {"enum": ["18", "19"]}},
    "required": ["name", "age"],
    "additionalProperties": False,
}

model, tokenizer = mlx_lm.load(sys.argv[1])
vocab = turnstile.hosts.mlx.vocab_of(tokenizer)
grammar = turnstile.Grammar.json_schema(vocab, SCHEMA, whitespace="compact")

prompt = "Describe a person, as JSON:"
processor = turnstile.hosts.mlx.LogitsProcessor(grammar)
print(mlx_lm.generate(model, tokenizer, prompt, max_tokens=100, logits_processors=[processor]))
