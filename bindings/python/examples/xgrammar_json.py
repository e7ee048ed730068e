"""A program for XGrammar, on Turnstile: only its import has changed.

    python xgrammar_json.py MODEL

SPDX-License-Identifier: Apache-2.0
"""

import sys

import torch
import transformers

import turnstile.compat_xgrammar as xgrammar  # was: import xgrammar

SCHEMA = """{"type": "object", "required": ["name", "age"], "properties":
            {"name": {"enum": ["Ada", "Alan"]}, "age": {"enum": ["18", "19"]}}}"""

tokenizer = transformers.AutoTokenizer.from_pretrained(sys.argv[1])
model = transformers.AutoModelForCausalLM.from_pretrained(sys.argv[1])
info = xgrammar.TokenizerInfo.from_huggingface(
    tokenizer,
    stop_token_ids=model.generation_config.eos_token_id,
    vocab_size=model.config.vocab_size,
)
compiled = xgrammar.GrammarCompiler(info).compile_json_schema(
    SCHEMA, any_whitespace=False, separators=(",", ":")
)
matcher = xgrammar.GrammarMatcher(compiled)
bitmask = xgrammar.allocate_token_bitmask(1, info.vocab_size)
ids = tokenizer.encode("Describe a person, as JSON:", return_tensors="pt")
start = ids.shape[1]
while not matcher.is_terminated():
    with torch.no_grad():
        logits = model(ids).logits[:, -1]
    matcher.fill_next_token_bitmask(bitmask)
    xgrammar.apply_token_bitmask_inplace(logits, bitmask)
    token = int(torch.multinomial(logits.softmax(-1), 1))
    matcher.accept_token(token)
    ids = torch.cat([ids, torch.tensor([[token]])], 1)
print(tokenizer.decode(ids[0, start:], skip_special_tokens=True))
