"""A driver with TensorRT-LLM's contract for logits processors, on the processor: LLM.generate() and
SamplingParams, over a model of transformers. TensorRT-LLM itself is imported on GPUs only.

What is kept of tensorrt_llm/sampling_params.py (commit 000a01de66f0) and of the executor:

  - the callable gets (req_id, logits, token_ids, stream_ptr, client_id), positionally;
  - logits are (1, beam width, width) of the model's type, in place, before each token of a request,
    the first one included;
  - token_ids are those of each beam: the prompt's, and those that were generated;
  - requests of one batch go on together, and leave it one by one; one processor may serve several;
  - a list of processors is called in its order.

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses
import itertools
import types

import torch
import transformers

numbers = itertools.count(1)


@dataclasses.dataclass
class SamplingParams:
    max_tokens: int = 32
    temperature: float = 1.0
    logits_processor: object = None


class Request:
    def __init__(self, ids, params):
        self.id, self.params = next(numbers), params
        self.ids, self.start = list(ids), len(ids)
        self.going = True

    @property
    def written(self):
        return self.ids[self.start :]


class LLM:
    def __init__(self, folder, dtype=torch.float32):
        self.tokenizer = types.SimpleNamespace(
            tokenizer=transformers.AutoTokenizer.from_pretrained(folder)
        )
        self.model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).eval()
        ends = self.model.generation_config.eos_token_id
        self.ends = set(ends if isinstance(ends, list) else [ends])

    def step(self, request):
        params = request.params
        with torch.no_grad():
            logits = self.model(torch.tensor([request.ids])).logits[:, -1:, :].clone()
        some = params.logits_processor
        for processor in some if isinstance(some, list) else [some] if some else []:
            processor(request.id, logits, [list(request.ids)], None, None)
        chances = torch.softmax(logits[0, 0].float() / params.temperature, dim=-1)
        token = int(torch.multinomial(chances, 1))
        request.ids.append(token)
        ended = token in self.ends or len(request.written) == params.max_tokens
        request.going = not ended

    def generate(self, prompts, params):
        """What each prompt got: .outputs[0] has text, token_ids, finish_reason."""
        each = params if isinstance(params, list) else [params] * len(prompts)
        inner = self.tokenizer.tokenizer
        requests = [Request(inner(prompt).input_ids, own) for prompt, own in zip(prompts, each)]
        while any(request.going for request in requests):
            for request in requests:
                if request.going:
                    self.step(request)
        return [types.SimpleNamespace(outputs=[self.output(request)]) for request in requests]

    def output(self, request):
        return types.SimpleNamespace(
            text=self.tokenizer.tokenizer.decode(request.written, skip_special_tokens=True),
            token_ids=request.written,
            finish_reason="stop" if request.ids[-1] in self.ends else "length",
        )
