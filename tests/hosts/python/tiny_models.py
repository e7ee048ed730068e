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
