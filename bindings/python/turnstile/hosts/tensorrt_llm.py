"""TensorRT-LLM: a logits processor for SamplingParams.

    vocab = turnstile.hosts.tensorrt_llm.vocab_of(llm.tokenizer)
    grammar = turnstile.Grammar.json_schema(vocab, schema)
    processor = turnstile.hosts.tensorrt_llm.LogitsProcessor(grammar)
    llm.generate(prompts, SamplingParams(max_tokens=200, logits_processor=processor))

TensorRT-LLM takes any callable with the arguments of its class LogitsProcessor, so this module does
not import it. The contract is that of tensorrt_llm/sampling_params.py. The callable gets the id of
a request, its logits and all its tokens, before each token. It changes the logits in place.

SPDX-License-Identifier: Apache-2.0
"""

import collections
import contextlib

import torch

from turnstile import tensors
from turnstile.hosts.follow import Follower
from turnstile.vocab import Vocab

__all__ = ["LogitsProcessor", "vocab_of"]

MAX_REQUESTS = 4096  # texts that are followed at once; the one that waited longest goes first


def vocab_of(tokenizer, logits_width=0, eog=()):
    """The vocabulary of `llm.tokenizer`. `logits_width`: the model's config.vocab_size, where that
    is more than the tokenizer has. `eog`: the tokens that end a generation, where the tokenizer's
    own are not all.
    """
    return Vocab.from_transformers(
        getattr(tokenizer, "tokenizer", tokenizer), logits_width=logits_width, eog=eog
    )


class LogitsProcessor:
    """Constrains all requests that it is given to, each from its own begin; beams are refused.

    grammar     a Grammar
    max_tokens  a text is complete within so many tokens (give SamplingParams the same): what could
                not be ended in time is not allowed. None: TensorRT-LLM may cut a text off
    on_error    "end": what goes wrong is logged, and this text may only end from there on; other
                requests go on. "raise": the exception goes to the executor
    """

    def __init__(self, grammar, max_tokens=None, on_error="end"):
        self._make = lambda: Follower(grammar, max_tokens, on_error)
        self._make()  # wrong arguments are refused here, not in the executor
        self._followers = collections.OrderedDict()

    def __call__(self, req_id, logits, token_ids, stream_ptr=None, client_id=None):
        """`logits`: one row, (1, 1, tokens of the model) of float32, float16 or bfloat16, masked in
        place. `token_ids`: [[the prompt's and the text's tokens]].
        """
        if len(token_ids) != 1:
            raise ValueError(f"{len(token_ids)} beams: Turnstile follows one text a request")
        follower = self._followers.pop(req_id, None) or self._make()
        self._followers[req_id] = follower
        if len(self._followers) > MAX_REQUESTS:
            self._followers.popitem(last=False)
        words = torch.from_numpy(follower.mask(token_ids[0]).view("int32").copy())
        row = logits.view(1, -1)
        inside = 32 * len(words)
        with _on(stream_ptr, logits):
            tensors.apply_(row[:, :inside], words.unsqueeze(0).to(logits.device))
            row[:, inside:] = float("-inf")


def _on(stream_ptr, logits):
    """The stream that TensorRT-LLM computes the logits on."""
    if stream_ptr is None or not logits.is_cuda:
        return contextlib.nullcontext()
    return torch.cuda.stream(torch.cuda.ExternalStream(stream_ptr, logits.device))
