"""llama-cpp-python: a chat completion under a JSON Schema.    python llama_cpp_json.py MODEL.gguf

SPDX-License-Identifier: Apache-2.0
"""

import sys

import llama_cpp

import turnstile
import turnstile.llama_cpp

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 4}, "age": {"enum": ["18", "19"]}},
    "required": ["name", "age"],
    "additionalProperties": False,
}

llama = llama_cpp.Llama(sys.argv[1], n_ctx=512, verbose=False)
vocab = turnstile.Vocab.from_gguf(sys.argv[1])
grammar = turnstile.Grammar.json_schema(vocab, SCHEMA, whitespace="compact")

messages = [{"role": "user", "content": "Describe a person, as JSON."}]
processors = llama_cpp.LogitsProcessorList([turnstile.llama_cpp.LogitsProcessor(grammar)])
answer = llama.create_chat_completion(messages, logits_processor=processors, max_tokens=100)
print(answer["choices"][0]["message"]["content"])
