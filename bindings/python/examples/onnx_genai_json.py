"""ONNX Runtime GenAI: a loop under a JSON Schema.    python onnx_genai_json.py MODEL

SPDX-License-Identifier: Apache-2.0
"""

import sys

import onnxruntime_genai

import turnstile
import turnstile.hosts.onnx_genai

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 4}, "age": {"enum": ["18", "19"]}},
    "required": ["name", "age"],
    "additionalProperties": False,
}

vocab = turnstile.Vocab.from_pretrained(sys.argv[1])  # the model's folder
grammar = turnstile.Grammar.json_schema(vocab, SCHEMA, whitespace="compact")

model = onnxruntime_genai.Model(sys.argv[1])
tokenizer = onnxruntime_genai.Tokenizer(model)
params = onnxruntime_genai.GeneratorParams(model)
params.set_search_options(max_length=200, do_sample=True)
generator = onnxruntime_genai.Generator(model, params)
generator.append_tokens(tokenizer.encode("A person, as JSON:"))
start = generator.token_count()

constraint = turnstile.hosts.onnx_genai.Constraint(generator, grammar)
while not generator.is_done():
    constraint.apply()
    generator.generate_next_token()
print(tokenizer.decode(generator.get_sequence(0)[start:]))
