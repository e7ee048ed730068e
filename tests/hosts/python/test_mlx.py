"""mlx-lm on the processor: generate(), stream_generate() with a draft model, and BatchGenerator,
with turnstile.hosts.mlx.LogitsProcessor.

SPDX-License-Identifier: Apache-2.0
"""

import json

import mlx.core as mx
import mlx_lm
import numpy as np
from common import PAIR, SCHEMA, WIDTH, check, finish, raises, run_example, validate
from mlx_lm.generate import BatchGenerator, batch_generate, stream_generate
from mlx_lm.sample_utils import make_sampler
from tiny_models import EOG, make_mlx, save_mlx

import turnstile
import turnstile.hosts.mlx

folder = save_mlx(1)
model, tokenizer = mlx_lm.load(str(folder))
draft = make_mlx(2)
vocab = turnstile.hosts.mlx.vocab_of(tokenizer)
check(
    vocab.size == 128256 and vocab.eog_tokens == tuple(EOG),
    f"the vocabulary: {vocab} {vocab.eog_tokens}",
)
grammar = turnstile.Grammar.json_schema(vocab, SCHEMA, whitespace="compact")
pair = turnstile.Grammar.json_schema(vocab, PAIR, whitespace="compact")
Processor = turnstile.hosts.mlx.LogitsProcessor


def stream(what, schema, grammar, draft_model=None, max_tokens=64, in_time=None):
    """One text of stream_generate(); it ends by itself, and is valid."""
    mx.random.seed(7)
    processor = Processor(grammar, max_tokens=in_time)
    pieces = list(
        stream_generate(
            model,
            tokenizer,
            "Hello, who is there?",
            max_tokens=max_tokens,
            draft_model=draft_model,
            sampler=make_sampler(temp=1.0),
            logits_processors=[processor],
        )
    )
    check(
        pieces[-1].finish_reason == "stop" or in_time,
        f"{what}: ends with {pieces[-1].finish_reason}",
    )
    validate("".join(piece.text for piece in pieces), schema, len(pieces), what)
    return pieces


def try_apply():
    """The operations of MLX against the library's kernel: each float type, narrow and wide."""
    rng = np.random.default_rng(3)
    words = rng.integers(0, 2**32, vocab.mask_words, dtype=np.uint32)
    bits = np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool)
    for width in (vocab.size - 100, vocab.size, WIDTH):
        logits = rng.standard_normal((1, width)).astype(np.float32)
        wanted = np.full((1, width), -np.inf, np.float32)
        inside = min(width, vocab.size)
        wanted[0, :inside] = np.where(bits[:inside], logits[0, :inside], -np.inf)
        kernel = logits.copy()
        turnstile.hosts.follow.apply_(words, kernel[0])
        check(np.array_equal(kernel, wanted), f"the kernel applies to {width} columns")
        for kind in (mx.float32, mx.float16, mx.bfloat16):
            masked = turnstile.hosts.mlx.apply(words, mx.array(logits).astype(kind))
            check(masked.dtype == kind, f"the type stays {kind}")
            kept = np.array(mx.array(wanted).astype(kind).astype(mx.float32))
            check(
                np.array_equal(np.array(masked.astype(mx.float32)), kept),
                f"MLX applies a mask to {width} columns of {kind}",
            )


def try_batch():
    """Four texts at once, each with a grammar of its own or none; one begins later."""
    prompts = [tokenizer.encode(text) for text in ("Hello", "A longer prompt than that", "Hello")]
    wanted = {}
    generator = BatchGenerator(
        model, stop_tokens=[[token] for token in EOG], max_tokens=64, sampler=make_sampler(temp=1.0)
    )
    first = generator.insert(
        prompts, logits_processors=[[Processor(grammar)], [Processor(pair)], []]
    )
    wanted.update(zip(first, (SCHEMA, PAIR, None)))
    texts = {}
    for step in range(200):
        if step == 3:
            (late,) = generator.insert([prompts[0]], logits_processors=[[Processor(pair)]])
            wanted[late] = PAIR
        answers = generator.next_generated()
        if not answers:
            break
        for answer in answers:
            texts.setdefault(answer.uid, [])
            if answer.finish_reason != "stop":
                texts[answer.uid].append(answer.token)
    generator.close()
    check(sorted(texts) == sorted(wanted), "every prompt has a text")
    for uid, schema in wanted.items():
        if schema is not None:
            text = tokenizer.decode(texts[uid])
            validate(text, schema, len(texts[uid]), f"text {uid} of a batch")
    samples = batch_generate(
        model, tokenizer, [prompts[0]] * 3, max_tokens=64, logits_processors=[Processor(pair)]
    )
    for text in samples.texts:
        validate(text, PAIR, len(tokenizer.encode(text)), "one prompt several times")


def try_errors():
    """What is refused, and what one text of a batch does when it goes wrong."""
    logits = mx.zeros((1, WIDTH))
    raises(ValueError, lambda: Processor(grammar, on_error="ignore"), "a way that is none", "end")
    raises(TypeError, lambda: Processor({"const": 1}), "a schema", "a dict", "json_schema(")
    raises(
        ValueError,
        lambda: Processor(grammar)(mx.array([1]), mx.zeros((2, WIDTH))),
        "two rows",
        "one row",
    )
    processor = Processor(grammar)
    processor(mx.array([1, 2]), logits)
    raises(
        turnstile.StateError,
        lambda: processor(mx.array([3, 2, 4]), logits),
        "another prompt",
        "another prompt",
    )
    raises(turnstile.StateError, lambda: processor(mx.array([1, 2]), logits), "an error stays")
    processor.reset()
    check(processor.error is None, "reset() forgets the error")
    masked = processor(mx.array([5]), logits)
    brace = vocab.encode("{")[0]
    check(masked[0, brace].item() == 0, "a new text begins")
    raises(turnstile.StateError, lambda: processor(mx.array([5, 1]), logits), "a wrong token", "1")
    ending = Processor(grammar, on_error="end")
    ending(mx.array([5]), logits)
    masked = np.array(ending(mx.array([5, 1]), logits))
    check(
        isinstance(ending.error, turnstile.StateError)
        and np.flatnonzero(np.isfinite(masked[0])).tolist() == EOG,
        "a text that went wrong may only end",
    )
    short = Processor(grammar, max_tokens=2)
    raises(turnstile.LimitError, lambda: short(mx.array([5]), logits), "no text is that short")


try_apply()
text = mlx_lm.generate(
    model, tokenizer, "Hello", max_tokens=64, logits_processors=[Processor(grammar)]
)
validate(text, SCHEMA, len(tokenizer.encode(text)), "generate(), greedy")
stream("stream_generate(), sampling", SCHEMA, grammar)
plain = turnstile.Grammar.json_schema(vocab, {"type": "array", "items": {"type": "integer"}})
pieces = stream("in time", {"type": "array"}, plain, max_tokens=20, in_time=20)
check(len(pieces) <= 20, "the text is complete within 20 tokens")
pieces = stream("a draft model like it", SCHEMA, grammar, draft_model=model)
check(any(piece.from_draft for piece in pieces), "some tokens come from the draft model")
stream("a draft model unlike it", SCHEMA, grammar, draft_model=draft)
try_batch()
try_errors()
example = run_example("mlx_json.py", folder)
check(set(json.loads(example)) == {"name", "age"}, f"the example prints {example!r}")
finish(
    "mlx-lm",
    "logits_processors of generate, stream_generate with a draft model, BatchGenerator with a "
    "grammar for each text; masks applied by MLX to float32, float16, bfloat16",
)
