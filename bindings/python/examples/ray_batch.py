"""Ray Data: a batch of answers, by processes that share a folder of grammars.  python ray_batch.py

Random logits stand for a model. SPDX-License-Identifier: Apache-2.0
"""

import numpy
import ray

import turnstile

FOLDER = "/dev/shm/turnstile"
FIELDS = {"name": {"type": "string", "maxLength": 12}, "age": {"enum": [18, 19]}}
SCHEMA = {"properties": FIELDS, "required": [*FIELDS], "additionalProperties": False}
SCHEMA["type"] = "object"


class Answer:
    def __init__(self, folder=FOLDER):
        self.vocab = turnstile.Vocab.embedded()
        self.grammar = turnstile.Grammar.json_schema(self.vocab, SCHEMA, cache=folder)

    def write(self, prompt, most=64):
        matcher, budget = turnstile.Matcher(self.grammar), turnstile.Budget(self.grammar)
        sampler, random = turnstile.Sampler(seed=prompt), numpy.random.default_rng(prompt)
        mask, tokens = numpy.zeros(self.vocab.mask_words, dtype=numpy.int32), []
        budget.start(matcher, most)
        while not matcher.is_terminated:  # after `most` tokens at the latest
            budget.mask(matcher, most - len(tokens), mask)
            tokens.append(sampler.draw(random.standard_normal(32 * len(mask), "f4"), mask)[0])
            matcher.accept(tokens[-1])
        return b"".join(map(self.vocab.token_bytes, tokens[:-1])).decode(), len(tokens)

    def __call__(self, batch):
        texts, tokens = zip(*(self.write(int(i)) for i in batch["id"]))
        return {"prompt": batch["id"], "text": list(texts), "tokens": list(tokens)}


if __name__ == "__main__":
    answers = ray.data.range(20000).map_batches(Answer, batch_size=250, concurrency=4, num_cpus=0.5)
    print(*answers.iter_rows(), sep="\n")
