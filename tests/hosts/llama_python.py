#!/usr/bin/env python3
"""A chat completion with llama-cpp-python and turnstile.llama_cpp, as host_llama.py runs it: prints the texts as JSON, a line each.

    llama_python.py MODEL.gguf SCHEMA.json

SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import sys

import llama_cpp
import turnstile
import turnstile.llama_cpp

model, schema = sys.argv[1:]
llama = llama_cpp.Llama(model, n_ctx=512, n_threads=1, verbose=False)
vocab = turnstile.Vocab.from_gguf(model)
grammar = turnstile.Grammar.json_schema(vocab, pathlib.Path(schema).read_text(), whitespace="compact")
messages = [{"role": "user", "content": "Answer in JSON."}]
for seed in (1, 2):
    processors = llama_cpp.LogitsProcessorList([turnstile.llama_cpp.LogitsProcessor(grammar)])
    answer = llama.create_chat_completion(messages, logits_processor=processors, temperature=1.0, seed=seed, max_tokens=300)
    choice = answer["choices"][0]
    print(json.dumps({"text": choice["message"]["content"], "finish": choice["finish_reason"], "tokens": answer["usage"]["completion_tokens"]}))
