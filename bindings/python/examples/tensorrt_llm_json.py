"""TensorRT-LLM: texts under a JSON Schema.    python tensorrt_llm_json.py MODEL

SPDX-License-Identifier: Apache-2.0
"""

import sys

from tensorrt_llm import LLM, SamplingParams

import turnstile
import turnstile.hosts.tensorrt_llm

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 4}, "age": {"enum": ["18", "19"]}},
    "required": ["name", "age"],
    "additionalProperties": False,
}

llm = LLM(sys.argv[1])
vocab = turnstile.hosts.tensorrt_llm.vocab_of(llm.tokenizer)
grammar = turnstile.Grammar.json_schema(vocab, SCHEMA, whitespace="compact")

processor = turnstile.hosts.tensorrt_llm.LogitsProcessor(grammar, max_tokens=100)
params = SamplingParams(max_tokens=100, temperature=1.0, logits_processor=processor)
for output in llm.generate(["Describe a person, as JSON:", "And another one:"], params):
    print(output.outputs[0].text)
