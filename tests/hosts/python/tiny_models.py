"""Tiny models with random weights for runtimes that have no torch beside them, with Llama 3.1's
tokenizer.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import pathlib
import shutil

from common import VOCABS, WIDTH

FOLDER = pathlib.Path(os.environ["TSL_HOSTS"])
EOG = [128001, 128009]


def save_tokenizer(folder):
    """tokenizer.json and tokenizer_config.json, as Hugging Face's folders have them."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(VOCABS / "llama3_1" / "tokenizer.json", folder / "tokenizer.json")
    (folder / "tokenizer_config.json").write_text(
        json.dumps(
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "bos_token": "<|begin_of_text|>",
                "eos_token": "<|eot_id|>",
                "pad_token": "<|end_of_text|>",
                "model_max_length": 2048,
            }
        )
    )


LLAMA = {
    "model_type": "llama",
    "vocab_size": WIDTH,
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": True,
    "bos_token_id": 128000,
    "eos_token_id": EOG,
}


def make_mlx(seed):
    """A Llama of two layers for mlx-lm, in bfloat16."""
    import mlx.core as mx
    from mlx_lm.models import llama

    mx.random.seed(seed)
    model = llama.Model(llama.ModelArgs.from_dict(LLAMA))
    model.set_dtype(mx.bfloat16)
    return model


def save_mlx(seed):
    """Such a model as a folder that mlx_lm.load() reads."""
    import mlx.core as mx
    import mlx.utils

    folder = FOLDER / "tiny-mlx"
    save_tokenizer(folder)
    (folder / "config.json").write_text(json.dumps(LLAMA))
    weights = dict(mlx.utils.tree_flatten(make_mlx(seed).parameters()))
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "mlx"})
    return folder


def save_onnx(path, seed, hidden=8, width=WIDTH):
    """A decoder of one layer as an ONNX file, as exporters write them: input_ids, attention_mask,
    past_key_values.0.*, logits, present.0.*. Its logits come from the last token alone; the cache
    keeps what was read, and nothing reads that.
    """
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(seed)

    def constant(name, array):
        return numpy_helper.from_array(array, name)

    def value(name, kind, *shape):
        return helper.make_tensor_value_info(name, kind, shape)

    weights = [
        constant("embedding", rng.standard_normal((width, hidden)).astype(np.float32)),
        constant("head", rng.standard_normal((hidden, width)).astype(np.float32)),
        constant("to_heads", np.array([0, 0, 1, hidden], np.int64)),
    ]
    nodes = [
        helper.make_node("Gather", ["embedding", "input_ids"], ["hidden"]),
        helper.make_node("MatMul", ["hidden", "head"], ["logits"]),
        helper.make_node("Reshape", ["hidden", "to_heads"], ["rows"]),
        helper.make_node("Transpose", ["rows"], ["heads"], perm=[0, 2, 1, 3]),
    ]
    inputs = [
        value("input_ids", TensorProto.INT64, "batch", "length"),
        value("attention_mask", TensorProto.INT64, "batch", "total"),
    ]
    outputs = [value("logits", TensorProto.FLOAT, "batch", "length", width)]
    for part in ("key", "value"):
        past, present = f"past_key_values.0.{part}", f"present.0.{part}"
        inputs.append(value(past, TensorProto.FLOAT, "batch", 1, "past", hidden))
        outputs.append(value(present, TensorProto.FLOAT, "batch", 1, "total", hidden))
        nodes.append(helper.make_node("Concat", [past, "heads"], [present], axis=2))
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def save_genai(seed):
    """Such a model as a folder that onnxruntime_genai.Model() reads."""
    folder = FOLDER / "tiny-genai"
    save_tokenizer(folder)
    save_onnx(folder / "model.onnx", seed)
    decoder = {
        "session_options": {"log_id": "tiny", "intra_op_num_threads": 1, "provider_options": []},
        "filename": "model.onnx",
        "head_size": 8,
        "hidden_size": 8,
        "num_attention_heads": 1,
        "num_hidden_layers": 1,
        "num_key_value_heads": 1,
        "inputs": {
            "input_ids": "input_ids",
            "attention_mask": "attention_mask",
            "past_key_names": "past_key_values.%d.key",
            "past_value_names": "past_key_values.%d.value",
        },
        "outputs": {
            "logits": "logits",
            "present_key_names": "present.%d.key",
            "present_value_names": "present.%d.value",
        },
    }
    model = {
        "type": "llama",
        "vocab_size": WIDTH,
        "context_length": 2048,
        "bos_token_id": 128000,
        "eos_token_id": EOG,
        "pad_token_id": 128001,
        "decoder": decoder,
    }
    search = {"max_length": 2048, "past_present_share_buffer": False}
    (folder / "genai_config.json").write_text(json.dumps({"model": model, "search": search}))
    return folder


def save_transformers_js(seed):
    """Such a model as a folder that transformers.js reads."""
    folder = FOLDER / "tiny-js"
    save_tokenizer(folder)
    (folder / "onnx").mkdir(exist_ok=True)
    save_onnx(folder / "onnx" / "model.onnx", seed)
    ids = {"bos_token_id": 128000, "eos_token_id": EOG, "pad_token_id": 128001}
    config = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "vocab_size": WIDTH,
        "hidden_size": 8,
        "num_attention_heads": 1,
        "num_key_value_heads": 1,
        "num_hidden_layers": 1,
        "head_dim": 8,
        "max_position_embeddings": 2048,
    }
    (folder / "config.json").write_text(json.dumps({**config, **ids}))
    (folder / "generation_config.json").write_text(json.dumps(ids))
    return folder


def save_ctranslate2(seed, hidden=8):
    """A decoder of one layer as a folder that ctranslate2.Generator() reads."""
    import ctranslate2
    import numpy as np
    import tokenizers

    folder = FOLDER / "tiny-ctranslate2"
    save_tokenizer(folder)
    rng = np.random.default_rng(seed)

    def random(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    def linear(spec, rows, columns):
        spec.weight, spec.bias = random(rows, columns), np.zeros(rows, np.float32)

    spec = ctranslate2.specs.TransformerDecoderModelSpec.from_config(1, 1)
    decoder, layer = spec.decoder, spec.decoder.layer[0]
    decoder.embeddings.weight = random(WIDTH, hidden)
    decoder.scale_embeddings = False
    decoder.position_encodings.encodings = random(2048, hidden)
    linear(decoder.projection, WIDTH, hidden)
    linear(layer.self_attention.linear[0], 3 * hidden, hidden)
    linear(layer.self_attention.linear[1], hidden, hidden)
    linear(layer.ffn.linear_0, hidden, hidden)
    linear(layer.ffn.linear_1, hidden, hidden)
    for norm in (layer.self_attention.layer_norm, layer.ffn.layer_norm, decoder.layer_norm):
        norm.gamma, norm.beta = np.ones(hidden, np.float32), np.zeros(hidden, np.float32)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    spec.register_vocabulary([tokenizer.id_to_token(i) or f"<unused {i}>" for i in range(WIDTH)])
    spec.config.bos_token, spec.config.eos_token = "<|begin_of_text|>", "<|eot_id|>"
    spec.config.unk_token = "<|end_of_text|>"
    spec.validate()
    spec.optimize()
    spec.save(str(folder))
    return folder
