"""vLLM's tokenizers as vocabularies, and what vLLM does with a request before a backend gets it.

SPDX-License-Identifier: Apache-2.0
"""

import json

from turnstile.vocab import Vocab, _ids

__all__ = ["check_nesting", "close_objects", "make_vocab", "width_of"]


def width_of(tokenizer):
    """How many tokens it has. One that is written in Python may lack len()."""
    return len(tokenizer) if hasattr(tokenizer, "__len__") else len(tokenizer.get_vocab())


def make_vocab(tokenizer, width, eog=()):
    """The vocabulary of a tokenizer of vLLM's, for logits of `width` columns. Three kinds are read:
    those of transformers, vLLM's own for Mistral's files, and PLaMo's in Python, which gives
    XGrammar its tokens. UnsupportedError for others.
    """
    if getattr(tokenizer, "IS_MISTRAL_TOKENIZER", False):
        file = tokenizer.tokenizer.file_path
        return Vocab.from_file(file, logits_width=width, eog=eog or _ids(tokenizer.eos_token_id))
    give = getattr(tokenizer, "init_xgrammar", None)
    if callable(give) and getattr(tokenizer, "backend_tokenizer", None) is None:
        info, stops = give()
        return Vocab.from_tokens(
            list(info.decoded_vocab), special=stops, eog=eog or stops, logits_width=width
        )
    return Vocab.from_transformers(tokenizer, logits_width=width, eog=eog)


def close_objects(schema):
    """The text of a schema whose objects have no members that it does not name, as vLLM's option
    disable_additional_properties has it.
    """
    from vllm.v1.structured_output.backend_guidance import process_for_additional_properties

    return json.dumps(process_for_additional_properties(schema))


def check_nesting(params):
    """vLLM's own limit, before anything walks a deep schema: Python's stack is finite."""
    try:
        from vllm.sampling_params import check_json_nesting
    except ImportError:  # not in every release
        return
    check_json_nesting(params.json)
    check_json_nesting(params.structural_tag, structural_tag=True)
