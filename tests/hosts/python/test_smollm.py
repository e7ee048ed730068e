"""SmolLM2-135M-Instruct through transformers, which turns the GGUF file's weights into float32:
turnstile.models.Transformers, and generate() with turnstile.hf.LogitsProcessor.

tests/hosts/host_models.py runs it. TSL_GGUF: a folder that has the packages gguf and accelerate,
which transformers reads such files with.

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses
import enum
import json
import os
import sys

sys.path.append(os.environ["TSL_GGUF"])  # at the end: its NumPy is for another environment

import torch  # noqa: E402
import transformers  # noqa: E402
from common import ROOT, check, finish, validate  # noqa: E402

import turnstile.hf  # noqa: E402
import turnstile.models  # noqa: E402

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Person:
    name: str
    age: int


PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1, "maxLength": 12}},
    "required": ["name"],
    "additionalProperties": False,
}

transformers.utils.logging.set_verbosity_error()
folder = ROOT / "build" / "models"
tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file=FILE)
model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=FILE)
ours = turnstile.models.Transformers(model, tokenizer)
check(ours.vocab.size == 49152, f"the vocabulary: {ours.vocab}")
same = turnstile.Vocab.from_gguf(str(folder / FILE))
text = 'Grüße, {"a": [1, 2]} 東京'
check(
    ours.vocab.encode(text)
    == same.encode(text)
    == tokenizer.encode(text, add_special_tokens=False),
    "the tokenizer, and the file's vocabulary, encode alike",
)

person, measure = ours.measure("Anna is 42 years old. Give name and age.", Person, max_tokens=60)
check(isinstance(person, Person) and isinstance(person.age, int), f"{person}")
validate(json.dumps({"name": person.name[:12]}), PERSON, measure.tokens, "a dataclass")
check(measure.forced > 0 and 0 < measure.legal_mass <= 1, f"{measure}")
check(person.age == 42, f"the model reads the age: {person}")
colour = ours("The colour of blood?", Colour, max_tokens=10)
check(isinstance(colour, Colour), f"an enum: {colour}")
shares = ours.choose("Is fire hot or cold?", ["hot", "cold"])
check(abs(sum(shares.values()) - 1) < 1e-6, f"shares: {shares}")

grammar = turnstile.Grammar.json_schema(ours.vocab, PERSON, whitespace="pretty")
prompts = [ours.template(p) for p in ("Name a person.", "Name a king of France, as JSON.")]
tokenizer.padding_side, tokenizer.pad_token = "left", tokenizer.pad_token or tokenizer.eos_token
inputs = tokenizer(prompts, return_tensors="pt", padding=True, add_special_tokens=False)
start = inputs["input_ids"].shape[1]
for options in ({"do_sample": False}, {"do_sample": True, "temperature": 1.0}):
    torch.manual_seed(3)
    out = model.generate(
        **inputs,
        max_new_tokens=40,
        logits_processor=[turnstile.hf.LogitsProcessor(grammar, max_tokens=40)],
        pad_token_id=tokenizer.pad_token_id,
        **options,
    )
    for row in out[:, start:]:
        tokens = int((row != tokenizer.pad_token_id).sum())
        validate(tokenizer.decode(row, skip_special_tokens=True), PERSON, tokens, f"{options}")
finish("transformers", "SmolLM2-135M's GGUF file: types, choices, generate()")
