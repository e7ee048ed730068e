"""Hugging Face transformers: generate() under a JSON Schema.    python transformers_json.py MODEL

SPDX-License-Identifier: Apache-2.0
"""

import sys

import transformers

import turnstile
import turnstile.hf

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 4}, "age": {"enum": ["18", "19"]}},
    "required": ["name", "age"],
    "additionalProperties": False,
}

tokenizer = transformers.AutoTokenizer.from_pretrained(sys.argv[1])
model = transformers.AutoModelForCausalLM.from_pretrained(sys.argv[1])
vocab = turnstile.hf.vocab_of(tokenizer, model)
grammar = turnstile.Grammar.json_schema(vocab, SCHEMA, whitespace="compact")

inputs = tokenizer(["Describe a person, as JSON:"], return_tensors="pt")
processor = turnstile.hf.LogitsProcessor(grammar)
out = model.generate(**inputs, max_new_tokens=100, do_sample=True, logits_processor=[processor])
print(tokenizer.decode(out[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True))
