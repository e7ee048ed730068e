"""Ray Data: a batch of prompts, each answered under a JSON Schema.    python ray_batch.py [PROMPTS]

Four processes share a folder: one compiles the grammar, the others map its file. A process that
dies is started again, and its prompts with it. Random logits stand for a model's.

SPDX-License-Identifier: Apache-2.0
"""

import sys

import numpy
import ray

import turnstile

FOLDER = "/dev/shm/turnstile"
FIELDS = {"name": {"type": "string", "maxLength": 12}, "age": {"enum": [18, 19]}}
CLOSED = {"type": "object", "additionalProperties": False}
SCHEMA = {**CLOSED, "properties": FIELDS, "required": [*FIELDS]}


class Answer:
    def __init__(self, folder=FOLDER):
        self.vocab = turnstile.Vocab.embedded()
        self.grammar = turnstile.Grammar.json_schema(self.vocab, SCHEMA, cache=folder)

    def write(self, prompt, most=64):
        """The answer to one prompt: the same in every process, as the seed is the prompt's."""
        matcher, budget = turnstile.Matcher(self.grammar), turnstile.Budget(self.grammar)
        sampler, random = turnstile.Sampler(seed=prompt), numpy.random.default_rng(prompt)
        mask, text = numpy.zeros(self.vocab.mask_words, dtype=numpy.int32), b""
        budget.start(matcher, most)
        for left in range(most, 0, -1):
            budget.mask(matcher, left, mask)
            token = sampler.draw(random.standard_normal(32 * len(mask), numpy.float32), mask)[0]
            matcher.accept(token)
            if self.vocab.is_eog(token):
                break
            text += self.vocab.token_bytes(token)
        return text.decode()

    def __call__(self, batch):
        return {"prompt": batch["id"], "text": [self.write(int(i)) for i in batch["id"]]}


if __name__ == "__main__":
    prompts = ray.data.range(int(sys.argv[1]) if len(sys.argv) > 1 else 20000)
    answers = prompts.map_batches(Answer, batch_size=250, concurrency=4, num_cpus=0.5)
    for row in answers.iter_rows():
        print(row["prompt"], row["text"])
