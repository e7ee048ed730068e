"""ONNX Runtime GenAI on the processor: its Generator with turnstile.hosts.onnx_genai.Constraint.

SPDX-License-Identifier: Apache-2.0
"""

import json

import onnxruntime_genai as genai
from common import PAIR, SCHEMA, check, finish, raises, run_example, validate
from tiny_models import EOG, save_genai

import turnstile
from turnstile.hosts.onnx_genai import Constraint

folder = save_genai(1)
model = genai.Model(str(folder))
tokenizer = genai.Tokenizer(model)
vocab = turnstile.Vocab.from_pretrained(folder, eog=EOG)
grammar = turnstile.Grammar.json_schema(vocab, SCHEMA, whitespace="compact")
pair = turnstile.Grammar.json_schema(vocab, PAIR, whitespace="compact")


def begin(prompts, **options):
    """A Generator that has read the prompts, and its length then."""
    params = genai.GeneratorParams(model)
    params.set_search_options(max_length=80, batch_size=len(prompts), **options)
    generator = genai.Generator(model, params)
    generator.append_tokens(tokenizer.encode_batch(prompts))
    return generator, len(generator.get_sequence(0))


def written(generator, start, row=0):
    """The tokens of a text, without those that end it."""
    return [int(t) for t in generator.get_sequence(row)[start:] if t not in EOG]


def generate(what, prompts, grammars, schemas, max_tokens=None, **options):
    """Texts of one batch; those that have a schema are valid."""
    generator, start = begin(prompts, **options)
    constraint = Constraint(generator, grammars, max_tokens=max_tokens)
    steps = 0
    while not generator.is_done():
        constraint.apply()
        generator.generate_next_token()
        steps += 1
    for row, schema in enumerate(schemas):
        if schema is not None:
            tokens = written(generator, start, row)
            validate(tokenizer.decode(tokens), schema, len(tokens), f"{what}, text {row}")
    check(constraint.errors == [None] * len(prompts), f"{what}: {constraint.errors}")
    return steps


def try_rewind():
    """A Generator that is rewound goes on with masks for the place that it went back to."""
    generator, start = begin(["Hello"], do_sample=True)
    constraint = Constraint(generator, grammar)
    for _ in range(3):
        constraint.apply()
        generator.generate_next_token()
    generator.rewind_to(start)
    generator.append_tokens([vocab.encode("{")[0]])
    while not generator.is_done():
        constraint.apply()
        generator.generate_next_token()
    tokens = written(generator, start)
    validate(tokenizer.decode(tokens), SCHEMA, len(tokens), "after a rewind")


def try_errors():
    """What is refused, and what one text of a batch does when it goes wrong."""
    generator, _ = begin(["Hello", "Hello"])
    three = Constraint(generator, [grammar] * 3)
    raises(ValueError, three.apply, "three grammars for two texts", "3 grammars", "2 rows")
    raises(TypeError, lambda: Constraint(generator, SCHEMA), "a schema", "a dict", "json_schema(")
    generator, _ = begin(["Hello"])
    short = Constraint(generator, grammar, max_tokens=2)
    raises(turnstile.LimitError, short.apply, "no text is that short")
    generator, start = begin(["Hello", "Hello"])
    ending = Constraint(generator, [grammar, pair], on_error="end")
    ending.apply()
    wrong = generator.get_logits()
    wrong[:] = -1
    wrong[0, ..., 1] = 1  # a token that the first grammar does not allow here
    wrong[1, ..., vocab.encode("[")[0]] = 1
    generator.set_logits(wrong)
    generator.generate_next_token()
    while not generator.is_done():
        ending.apply()
        generator.generate_next_token()
    check(isinstance(ending.errors[0], turnstile.StateError), f"the error: {ending.errors}")
    check(written(generator, start) == [1], "the text that went wrong ends at once")
    tokens = written(generator, start, 1)
    validate(tokenizer.decode(tokens), PAIR, len(tokens), "the other one goes on")


PROMPTS = ["Hello", "A prompt that is longer than the first"]
generate("greedy", PROMPTS[:1], grammar, [SCHEMA])
for top_k in (1, 50):
    generate("sampling", PROMPTS, grammar, [SCHEMA] * 2, do_sample=True, top_k=top_k)
generate("a grammar for each", [*PROMPTS, "Hi"], [grammar, None, pair], [SCHEMA, None, PAIR])
long = turnstile.Grammar.json_schema(vocab, {"type": "array", "items": {"type": "integer"}})
steps = generate("in time", PROMPTS[:1], long, [{"type": "array"}], max_tokens=20, do_sample=True)
check(steps <= 21, f"complete within 20 tokens, and an end: {steps}")
try_rewind()
try_errors()
example = run_example("onnx_genai_json.py", folder)
check(set(json.loads(example)) == {"name", "age"}, f"the example prints {example!r}")
finish(
    "onnxruntime-genai",
    "get_logits and set_logits of its Generator: greedy, sampling, batches with a grammar for each "
    "text, a rewind",
)
