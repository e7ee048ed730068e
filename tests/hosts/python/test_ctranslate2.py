"""CTranslate2 on the processor: a loop over Generator.forward_batch() with
turnstile.hosts.follow.

SPDX-License-Identifier: Apache-2.0
"""

import json

import ctranslate2
import numpy as np
from common import PAIR, SCHEMA, check, finish, run_example, validate
from tiny_models import EOG, save_ctranslate2

import turnstile
from turnstile.hosts.follow import Follower, apply_

folder = save_ctranslate2(1)
generator = ctranslate2.Generator(str(folder), intra_threads=1)
vocab = turnstile.Vocab.from_pretrained(folder, eog=EOG)
rng = np.random.default_rng(5)


def generate(what, schemas):
    """A batch of texts, each with its own grammar; one that has ended leaves the batch."""
    texts = [vocab.encode("Hello" + " there" * i) for i in range(len(schemas))]
    starts = [len(text) for text in texts]
    followers = [
        Follower(turnstile.Grammar.json_schema(vocab, schema, whitespace="compact"))
        for schema in schemas
    ]
    going = list(range(len(texts)))
    for _ in range(80):
        if not going:
            break
        batch = np.array(generator.forward_batch([texts[i] for i in going]), np.float32)
        for i, logits in zip(list(going), batch):
            row = np.ascontiguousarray(logits[len(texts[i]) - 1])
            apply_(followers[i].mask(texts[i]), row)
            chances = np.exp(row - row.max())
            texts[i].append(int(rng.choice(len(row), p=chances / chances.sum())))
            if vocab.is_eog(texts[i][-1]):
                going.remove(i)
    check(not going, f"{what}: every text ends")
    for i, schema in enumerate(schemas):
        written = [token for token in texts[i][starts[i] :] if token not in EOG]
        text = b"".join(vocab.token_bytes(token) for token in written).decode()
        validate(text, schema, len(written), f"{what}, text {i}")


generate("one text", [SCHEMA])
generate("a batch", [SCHEMA, PAIR, SCHEMA])
example = run_example("ctranslate2_json.py", folder)
check(set(json.loads(example)) == {"name", "age"}, f"the example prints {example!r}")
finish(
    "ctranslate2",
    "a loop over forward_batch of its Generator: sampling, one text and a batch with a grammar for "
    "each text",
)
