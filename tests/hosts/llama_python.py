#!/usr/bin/env python3
"""A chat completion with llama-cpp-python and turnstile.llama_cpp, as host_llama.py runs it: prints
the texts as JSON, a line each.

    llama_python.py MODEL.gguf SCHEMA.json

At the end something goes wrong, and must end the text: the last processor is used for another chat.

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
grammar = turnstile.Grammar.json_schema(
    vocab, pathlib.Path(schema).read_text(), whitespace="compact"
)
messages = [{"role": "user", "content": "Answer in JSON."}]
for seed in (1, 2):
    processors = llama_cpp.LogitsProcessorList([turnstile.llama_cpp.LogitsProcessor(grammar)])
    answer = llama.create_chat_completion(
        messages, logits_processor=processors, temperature=1.0, seed=seed, max_tokens=300
    )
    choice = answer["choices"][0]
    print(
        json.dumps(
            {
                "text": choice["message"]["content"],
                "finish": choice["finish_reason"],
                "tokens": answer["usage"]["completion_tokens"],
            }
        )
    )

lost = []
sys.unraisablehook = lambda raised: lost.append(
    raised.exc_value
)  # where llama-cpp-python loses what a processor raises
for again in range(2):
    answer = llama.create_chat_completion(
        [{"role": "user", "content": "Answer in JSON, once more."}],
        logits_processor=processors,
        temperature=1.0,
        seed=3,
        max_tokens=300,
    )
    choice = answer["choices"][0]
    if (
        choice["message"]["content"]
        or choice["finish_reason"] != "stop"
        or [type(error) for error in lost] != [turnstile.StateError] * (again + 1)
    ):
        sys.exit(f"a processor that follows another chat does not end the text: {choice} {lost}")
