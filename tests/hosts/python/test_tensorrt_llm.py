"""TensorRT-LLM's contract for logits processors, driven by tests/hosts/python/trt_driver.py with a
tiny model: TensorRT-LLM itself needs a GPU.

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import io
import json
import logging
import runpy
import sys

import torch
import trt_driver
from common import PAIR, ROOT, SCHEMA, WIDTH, check, finish, match, model_folder, raises, validate

import turnstile
from turnstile.hosts.tensorrt_llm import LogitsProcessor, vocab_of

folder = model_folder()
torch.manual_seed(1)
llm = trt_driver.LLM(folder)
vocab = vocab_of(llm.tokenizer)
PROMPTS = ["Hello", "A prompt that is longer than the first", "Hi"]


def grammar_of(schema):
    return turnstile.Grammar.json_schema(vocab, schema, whitespace="compact")


def generate(what, schemas, processors, dtype=torch.float32):
    """A batch, judged; `schemas` and `processors` are one for each prompt."""
    host = llm if dtype == torch.float32 else trt_driver.LLM(folder, dtype)
    params = [trt_driver.SamplingParams(80, 1.0, processor) for processor in processors]
    for schema, result in zip(schemas, host.generate(PROMPTS[: len(params)], params)):
        output = result.outputs[0]
        if schema is not None:
            check(output.finish_reason == "stop", f"{what}: {output.text!r} ends")
            validate(output.text, schema, len(output.token_ids), what)


shared = LogitsProcessor(grammar_of(SCHEMA))
generate("one processor for three requests", [SCHEMA] * 3, [shared] * 3)
generate("and for three more", [SCHEMA] * 3, [shared] * 3)
each = [LogitsProcessor(grammar_of(SCHEMA)), None, [LogitsProcessor(grammar_of(PAIR))]]
generate("a grammar for each, and none", [SCHEMA, None, PAIR], each)
generate("bfloat16", [PAIR], [LogitsProcessor(grammar_of(PAIR))], torch.bfloat16)

long = LogitsProcessor(turnstile.Grammar.regex(vocab, "[ab]{5,400}"), max_tokens=20)
for result in llm.generate(PROMPTS, trt_driver.SamplingParams(20, 1.0, long)):
    match(result.outputs[0].text, "[ab]{5,400}", len(result.outputs[0].token_ids), "in time")

row = torch.zeros(1, 1, WIDTH)
one = LogitsProcessor(turnstile.Grammar.regex(vocab, "a"), on_error="raise")
one(1, row, [[5, 6]], None, None)
allowed = torch.nonzero(row[0, 0] == 0).flatten().tolist()
check([vocab.token_bytes(token) for token in allowed] == [b"a"], "the one token, of a wide row")
wrong = [[5, 6, vocab.encode("b")[0]]]
raises(Exception, lambda: one(1, row, wrong), "a token from elsewhere", "does not allow")
raises(ValueError, lambda: one(2, row, [[5], [5]]), "beams", "2 beams")
raises(TypeError, lambda: LogitsProcessor("a"), "no grammar")
logging.disable(logging.ERROR)
ends = LogitsProcessor(turnstile.Grammar.regex(vocab, "a"))
ends(1, torch.zeros(1, 1, WIDTH), [[5, 6]])
row = torch.zeros(1, 1, WIDTH)
ends(1, row, wrong)
left = torch.nonzero(row[0, 0] == 0).flatten().tolist()
check(set(left) == set(vocab.eog_tokens), "such a text may only end, and no error is raised")

example = ROOT / "bindings" / "python" / "examples" / "tensorrt_llm_json.py"
check(len(example.read_text().splitlines()) <= 40, "the example is short")
sys.modules["tensorrt_llm"], sys.argv = trt_driver, [str(example), str(folder)]
with contextlib.redirect_stdout(io.StringIO()) as printed:
    runpy.run_path(str(example))
for line in printed.getvalue().splitlines():
    validate(line, json.loads(json.dumps(SCHEMA)), len(vocab.encode(line)) + 1, example.name)
check(len(printed.getvalue().splitlines()) == 2, "the example prints two texts")
finish(
    "torch",
    "TensorRT-LLM's contract for logits processors, driven by the test: TensorRT-LLM needs a GPU",
)
