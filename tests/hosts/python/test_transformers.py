"""Hugging Face transformers: generate() with turnstile.hf.LogitsProcessor, and what NumPy, torch,
pydantic and tiktoken have to do with the package.

SPDX-License-Identifier: Apache-2.0
"""

import copy
import json

import numpy as np
import pydantic
import tiktoken
import torch
import transformers
from common import (
    PAIR,
    SCHEMA,
    VOCABS,
    WIDTH,
    check,
    finish,
    model_folder,
    raises,
    run_example,
    validate,
)

import turnstile
import turnstile.hf
import turnstile.models

folder = model_folder()
tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
model = transformers.AutoModelForCausalLM.from_pretrained(folder)
vocab = turnstile.hf.vocab_of(tokenizer, model)
grammar = turnstile.Grammar.json_schema(vocab, SCHEMA, whitespace="compact")
check(
    vocab.size == 128256 and vocab.logits_width == WIDTH and vocab.eog_tokens == (128001, 128009),
    f"the vocabulary: {vocab} {vocab.eog_tokens}",
)
from_file = turnstile.Vocab.from_file(
    VOCABS / "llama3_1" / "tokenizer.json", logits_width=WIDTH, eog=(128001, 128009)
)
text = 'Grüße, {"a": [1, 2]} 東京 😀'
check(
    vocab.encode(text)
    == from_file.encode(text)
    == tokenizer.encode(text, add_special_tokens=False),
    "encodes as the tokenizer does",
)


def generate(prompts, processor, schemas, what, rows=1, **options):
    inputs = tokenizer(prompts, return_tensors="pt", padding=True)
    start = inputs["input_ids"].shape[1]
    torch.manual_seed(7)
    out = model.generate(**inputs, max_new_tokens=64, logits_processor=[processor], **options)
    for i, row in enumerate(out[:, start:]):
        tokens = int((row != tokenizer.pad_token_id).sum())
        if schemas[i // rows] is not None:
            validate(
                tokenizer.decode(row, skip_special_tokens=True),
                schemas[i // rows],
                tokens,
                f"{what}, row {i}",
            )
    return out


def processor():
    return turnstile.hf.LogitsProcessor(grammar)


ONE, TWO = ["Hello"], ["Hello", "A prompt that is longer than the first one is"]
generate(ONE, processor(), [SCHEMA], "greedy", do_sample=False)
generate(TWO, processor(), [SCHEMA] * 2, "sampling, unequal prompts", do_sample=True)
generate(TWO, processor(), [SCHEMA] * 2, "beams, unequal prompts", num_beams=3)
generate(
    TWO,
    processor(),
    [SCHEMA] * 2,
    "beams, several sequences a prompt",
    rows=2,
    num_beams=4,
    num_return_sequences=2,
)
generate(ONE, processor(), [SCHEMA], "beams and sampling", num_beams=3, do_sample=True)
pair = turnstile.Grammar.json_schema(vocab, PAIR, whitespace="compact")
generate(
    TWO,
    turnstile.hf.LogitsProcessor([pair, grammar]),
    [PAIR, SCHEMA],
    "a grammar per prompt",
    do_sample=True,
)
generate(
    TWO,
    turnstile.hf.LogitsProcessor([None, pair]),
    [None, PAIR],
    "one prompt unconstrained",
    do_sample=True,
)
# Texts that end in time: strings without a bound, which would be cut off.
LONG = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "list": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    },
    "required": ["text", "list"],
    "additionalProperties": False,
}
long = turnstile.Grammar.json_schema(vocab, LONG, whitespace="compact")
for seed in range(3):
    generate(
        TWO,
        turnstile.hf.LogitsProcessor(long, max_tokens=64),
        [LONG] * 2,
        f"in time, {seed}",
        do_sample=True,
    )
generate(
    ONE, turnstile.hf.LogitsProcessor(long, max_tokens=64), [LONG], "in time, beams", num_beams=3
)
raises(
    turnstile.LimitError,
    lambda: generate(
        ONE, turnstile.hf.LogitsProcessor(long, max_tokens=3), [LONG], "too little time"
    ),
    "no text is that short",
    "3",
)
used = processor()
generate(ONE, used, [SCHEMA], "first use", do_sample=False)
raises(
    turnstile.StateError,
    lambda: generate(TWO[1:], used, [SCHEMA], "second use"),
    "a processor that was used before",
    "reset()",
)
used.reset()
generate(TWO[1:], used, [SCHEMA], "after reset()", do_sample=False)

# Beams as a matcher per row could not follow them: rows copied, swapped and dropped between two
# steps.
follower = processor()
scores = torch.zeros(3, WIDTH)
prompt = torch.tensor([[1, 2]] * 3)
first = follower(prompt, scores)
check(
    torch.equal(first[0], first[2]) and not torch.equal(first[0], scores[0]) and not scores.any(),
    "scores are not changed in place",
)
opening = vocab.encode('{"')[0]
step = torch.cat([prompt, torch.tensor([[opening], [opening], [vocab.encode("x")[0]]])], 1)
second = follower(step, scores)
check(
    torch.equal(second[0], second[1])
    and second[2].isfinite().nonzero()[:, 0].tolist() == [128001, 128009],
    "a row that left the grammar may only end, and the others go on",
)
# Rows that the host ends elsewhere than the grammar does, beside others that go on.
letters = turnstile.Grammar.regex(vocab, r"[a-z]{1,3}(\.[a-z]{1,3}){30}")
inputs = tokenizer(TWO, return_tensors="pt", padding=True)
torch.manual_seed(0)
out = model.generate(
    **inputs,
    max_new_tokens=60,
    logits_processor=[turnstile.hf.LogitsProcessor(letters)],
    do_sample=True,
    stop_strings=["q.", "b.", "a.", "e."],
    tokenizer=tokenizer,
)
lengths = [
    int((row != tokenizer.pad_token_id).sum()) for row in out[:, inputs["input_ids"].shape[1] :]
]
check(
    min(lengths) < max(lengths),
    f"sampling goes on beside a row that a stop string ended: {lengths}",
)
check(
    turnstile.Vocab.from_transformers(tokenizer, eog=torch.tensor([0, 5])).eog_tokens == (0, 5),
    "tokens as a tensor",
)
check(
    turnstile.Vocab.from_transformers(tokenizer, eog=0).eog_tokens
    == turnstile.Vocab.from_transformers(tokenizer, eog=np.int64(0)).eog_tokens
    == (0,),
    "token 0 as the only end",
)
narrow = copy.deepcopy(model)
narrow.resize_token_embeddings(128255)
check(
    turnstile.hf.vocab_of(tokenizer, narrow).logits_width == 128256,
    "a model with fewer logits than the tokenizer has tokens",
)
out = narrow.generate(
    **inputs,
    max_new_tokens=64,
    do_sample=True,
    logits_processor=[
        turnstile.hf.LogitsProcessor(
            turnstile.Grammar.json_schema(
                turnstile.hf.vocab_of(tokenizer, narrow), SCHEMA, whitespace="compact"
            )
        )
    ],
)
validate(
    tokenizer.decode(out[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True),
    SCHEMA,
    0,
    "generating with it",
)

# Arrays: NumPy and torch write into the same memory as the mask of bytes; a tensor on no device
# that is there is refused.
matcher = grammar.matcher()
words = np.frombuffer(matcher.mask(), dtype=np.int32)
for name, array in (
    ("NumPy int32", np.zeros(vocab.mask_words, np.int32)),
    ("NumPy uint32", np.ones(vocab.mask_words, np.uint32)),
    ("torch int32", torch.zeros(vocab.mask_words, dtype=torch.int32)),
):
    address = array.data_ptr() if isinstance(array, torch.Tensor) else array.ctypes.data
    matcher.mask(array)
    same = array.data_ptr() if isinstance(array, torch.Tensor) else array.ctypes.data
    check(
        address == same and np.array_equal(np.asarray(array).view(np.int32), words),
        f"{name}: in place",
    )
rows = torch.zeros(4, vocab.mask_words, dtype=torch.int32)
matcher.mask(rows, 2)
check(np.array_equal(rows[2].numpy(), words) and not rows[[0, 1, 3]].any(), "one row of a tensor")
raises(
    TypeError, lambda: matcher.mask(torch.zeros(vocab.mask_words)), "a tensor of floats", "integers"
)
raises(
    ValueError,
    lambda: matcher.mask(torch.zeros(vocab.mask_words, 2, dtype=torch.int32).T[0]),
    "a tensor with gaps",
    "contiguous",
)
for dtype in (torch.float32, torch.float16, torch.bfloat16):
    logits = torch.zeros(4, WIDTH, dtype=dtype)
    turnstile.apply_mask(rows, logits)
    check(
        [int((row > float("-inf")).sum()) for row in logits] == [0, 0, len(matcher.allowed()), 0],
        f"apply_mask on {dtype}",
    )


class Person(pydantic.BaseModel):
    name: str
    age: int


check(
    turnstile.Grammar.pydantic(vocab, Person).matcher().accept_bytes('{"name": "A", "age": 3}'),
    "a pydantic model",
)
check(
    turnstile.Grammar.pydantic(vocab, list[Person])
    .matcher()
    .accept_bytes('[{"name": "A", "age": 3}]'),
    "a type over it",
)
check(
    turnstile.Grammar.pydantic(vocab, pydantic.TypeAdapter(list[Person]))
    .matcher()
    .accept_bytes('[{"name": "A", "age": 3}]'),
    "an adapter of a type",
)
ranks = {bytes([i]): i for i in range(256)} | {b"ab": 256}
encoding = tiktoken.Encoding(
    "tiny", pat_str=r".", mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 258}
)
small = turnstile.Vocab.from_tiktoken(encoding)
check(
    small.size == 259
    and small.eog_tokens == (258,)
    and small.token_bytes(256) == b"ab"
    and small.token_bytes(257) == b"",
    "a tiktoken encoding",
)
output = run_example("transformers_json.py", folder)
validate(output, SCHEMA, 0, "the example")
# turnstile.models.Transformers: objects, streams, choices, and what the model's cache keeps.
ours = turnstile.models.Transformers(model, tokenizer)
place = {
    "type": "object",
    "properties": {"city": {"enum": ["Riga", "Oslo"]}, "days": {"enum": [1, 2, 3]}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
answer, measure = ours.measure("The weather?", place)
validate(json.dumps(answer), place, measure.tokens, "an object")
check(measure.forced > 0, f"forced tokens: {measure!r}")
check(list(ours.stream("The weather?", place))[-1] == answer, "a stream ends with the answer")
shares = ours.choose("Hot or cold?", ["hot", "cold"])
check(abs(sum(shares.values()) - 1) < 1e-6, f"{shares}")
texts = [[1, 2, 3, 4, 5], [1, 2, 3, 9], [1, 2, 3, 9, 7, 7], [8], [1, 2, 3, 4, 5]]
rows = [ours.logits(tokens) for tokens in texts]
fresh = [turnstile.models.Transformers(model, tokenizer).logits(tokens) for tokens in texts]
check(
    all(np.allclose(a, b, atol=1e-4) for a, b in zip(rows, fresh)),
    "what the cache keeps gives the logits of a text that is computed anew",
)
looped = turnstile.hf.LogitsProcessor(grammar, loop_repeats=3)
looped(torch.tensor([[1]]), torch.zeros(1, WIDTH))
raises(ValueError, lambda: turnstile.hf.LogitsProcessor(grammar, loop_repeats=1), "one copy")
raises(TypeError, lambda: turnstile.hf.LogitsProcessor(SCHEMA), "a schema in place of a grammar")
raises(TypeError, lambda: turnstile.hf.LogitsProcessor([grammar, "a"]), "a text in its place")
digits = turnstile.Grammar.regex(vocab, "[12]+")
guard = turnstile.hf.LogitsProcessor(digits, loop_repeats=3)
one, two = vocab.encode("1")[0], vocab.encode("2")[0]
likes = torch.zeros(1, WIDTH)
likes[0, one], likes[0, two] = 9.0, 5.0
ids, written = torch.tensor([[7]]), []
for _ in range(12):
    token = int(guard(ids, likes).argmax())
    written.append(token)
    ids = torch.cat([ids, torch.tensor([[token]])], dim=1)
check(written[:4] == [one, one, one, two], f"the fourth copy is not begun: {written}")

finish(
    "transformers",
    "greedy, sampling, beams with and without sampling, batches of unequal prompts, a grammar per "
    "prompt, texts that end in time; NumPy and torch masks, pydantic, tiktoken",
)
