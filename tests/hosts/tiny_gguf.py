#!/usr/bin/env python3
"""Write a small model with random weights and a real vocabulary, for tests of hosts.

    tiny_gguf.py VOCABULARY.gguf OUT.gguf

Needs PyPI `gguf`. The model is a Llama of 2 layers and width 64 in float16. Its texts make no
sense, but every code path is that of a real model.

SPDX-License-Identifier: Apache-2.0
"""

import sys

import gguf
import numpy

WIDTH, HEADS, LAYERS, INNER, CONTEXT = 64, 4, 2, 128, 2048
TEMPLATE = (
    "{% for message in messages %}<|start_header_id|>{{ message['role'] }}<|end_header_id|>\n\n{{ "
    "message['content'] }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)


def copy_vocabulary(path, writer):
    count = 0
    for name, field in gguf.GGUFReader(path).fields.items():
        if not name.startswith("tokenizer.") or name == "tokenizer.chat_template":
            continue
        value, types = field.contents(), field.types
        writer.add_key_value(name, value, types[0], types[1] if len(types) > 1 else None)
        if name == "tokenizer.ggml.tokens":
            count = len(value)
    return count


def tensors(count, random):
    def weights(*shape):
        return (random.standard_normal(shape) / shape[-1] ** 0.5).astype(numpy.float16)

    yield "token_embd.weight", weights(count, WIDTH)
    yield "output.weight", 3 * weights(count, WIDTH)
    yield "output_norm.weight", numpy.ones(WIDTH, numpy.float32)
    for i in range(LAYERS):
        for name in ("attn_norm", "ffn_norm"):
            yield f"blk.{i}.{name}.weight", numpy.ones(WIDTH, numpy.float32)
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            yield f"blk.{i}.{name}.weight", weights(WIDTH, WIDTH)
        yield f"blk.{i}.ffn_gate.weight", weights(INNER, WIDTH)
        yield f"blk.{i}.ffn_up.weight", weights(INNER, WIDTH)
        yield f"blk.{i}.ffn_down.weight", weights(WIDTH, INNER)


def main(vocabulary, out):
    writer = gguf.GGUFWriter(out, "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    count = copy_vocabulary(vocabulary, writer)
    writer.add_vocab_size(count)
    writer.add_chat_template(TEMPLATE)
    for name, tensor in tensors(count, numpy.random.default_rng(1)):
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
