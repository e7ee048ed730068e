"""What the tests of the hosts share: a tiny model with random weights, a real tokenizer, schemas,
and the account of what was generated.

SPDX-License-Identifier: Apache-2.0
"""

import importlib.metadata
import json
import os
import pathlib
import re
import sys

import jsonschema
import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
VOCABS = pathlib.Path(os.environ["TSL_VOCABS"])
MODEL = pathlib.Path(os.environ["TSL_HOSTS"]) / "tiny-llama"
WIDTH = 128512  # columns of logits: more than the tokenizer's 128,256 tokens

# Random weights choose at random: schemas whose every text is short.
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 4},
        "age": {"enum": ["18", "19"]},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
PAIR = {
    "type": "array",
    "prefixItems": [{"enum": ["left", "right"]}, {"type": "boolean"}],
    "minItems": 2,
    "items": False,
}

_results = []
_tokens = 0
_texts = 0


def check(condition, what):
    _results.append(bool(condition))
    if not condition:
        print(f"failed: {what}")
    return condition


def raises(kind, call, what, *parts):
    """Does the call raise that exception, with these parts in its message?"""
    try:
        value = call()
    except Exception as error:
        return check(
            isinstance(error, kind) and all(part in str(error) for part in parts),
            f"{what}: {type(error).__name__} {error}",
        )
    return check(False, f"{what}: returned {value!r}")


def allowed_tokens(words):
    """The tokens that a row of a mask allows. `words`: a tensor of int32, on the processor. NumPy
    reads them at once: a loop over the tensor takes half a second for each row.
    """
    bits = numpy.unpackbits(words.numpy().view("uint8"), bitorder="little")
    return numpy.flatnonzero(bits).tolist()


def validate(text, schema, tokens, what):
    """Count a generated text, and check it with an independent validator."""
    global _tokens, _texts
    _tokens += tokens
    _texts += 1
    try:
        jsonschema.validate(json.loads(text), schema)
        check(True, what)
    except (ValueError, jsonschema.ValidationError) as error:
        check(False, f"{what}: {text!r}: {str(error).splitlines()[0]}")


def match(text, pattern, tokens, what):
    """As validate, for a text that a regular expression describes."""
    global _tokens, _texts
    _tokens += tokens
    _texts += 1
    check(re.fullmatch(pattern, text), f"{what}: {text!r}")


def finish(package, exercised):
    """The account of a host, and the closing line."""
    print(
        f"{package} {importlib.metadata.version(package)}: {exercised}; {_texts} texts, {_tokens} "
        "tokens generated, all valid"
        if all(_results)
        else f"{package} {importlib.metadata.version(package)}: {exercised}; NOT all checks hold"
    )
    print(f"{sum(_results)} passed, {len(_results) - sum(_results)} failed, 0 skipped")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(not all(_results))  # hosts leave threads and processes behind that take their time


def model_folder():
    """A folder as Hugging Face has them: a Llama of two layers, its weights random, with Llama
    3.1's tokenizer.
    """
    import transformers

    if (MODEL / "model.safetensors").is_file():
        return MODEL
    import torch

    torch.manual_seed(1)
    MODEL.mkdir(exist_ok=True)
    config = transformers.LlamaConfig(
        vocab_size=WIDTH,
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=2048,
        bos_token_id=128000,
        eos_token_id=[128001, 128009],
        pad_token_id=128001,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(MODEL)
    transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(VOCABS / "llama3_1" / "tokenizer.json"),
        bos_token="<|begin_of_text|>",
        eos_token="<|eot_id|>",
        pad_token="<|end_of_text|>",
        padding_side="left",
        model_max_length=2048,
    ).save_pretrained(MODEL)
    return MODEL


def run_example(name, *arguments):
    """Run an example of bindings/python/examples as its own program; what it printed."""
    import subprocess

    path = ROOT / "bindings" / "python" / "examples" / name
    lines = path.read_text().splitlines()
    check(len(lines) <= 40, f"{name} has {len(lines)} lines")
    done = subprocess.run(
        [sys.executable, str(path), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    check(done.returncode == 0, f"{name} ends with {done.returncode}: {done.stderr[-600:]}")
    return done.stdout
