"""SGLang: the classes of its package, from registration to the rejection of a draft. SGLang's server runs on GPUs; here its classes are driven as its scheduler does it,
with a tiny model's logits (torch on the processor).

What SGLang imports and these tests do not use is absent: triton (stubbed, as SGLang itself does on macOS) and IPython.

SPDX-License-Identifier: Apache-2.0
"""
import importlib.machinery
import sys
import types


class Anything(types.ModuleType):
    """A module of which every name can be imported, called, and used as a decorator."""
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name)

    def __call__(self, *args, **kwargs):
        return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else self


class Absent:
    """Finds triton and IPython where there are none."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("triton", "IPython"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Anything(spec.name)

    def exec_module(self, module):
        pass


import torch  # noqa: E402  (before the stubs, which it would take for the real thing)

sys.meta_path.append(Absent())

import transformers  # noqa: E402
from common import PAIR, SCHEMA, WIDTH, check, finish, match, model_folder, raises, validate  # noqa: E402
from sglang.srt.constrained import base_grammar_backend as host  # noqa: E402

import turnstile.sglang  # noqa: E402

tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder())
model = transformers.AutoModelForCausalLM.from_pretrained(model_folder())


def settings(**more):
    """SGLang's process-wide options, as its server sets them."""
    defaults = {"constrained_json_disable_any_whitespace": True, "constrained_json_max_whitespace_cnt": None, "reasoning_parser": None, "enable_strict_thinking": False}
    serving = types.SimpleNamespace(**{**defaults, **more})
    host.get_serving = lambda: serving
    host.get_exec = lambda: types.SimpleNamespace(kernel=types.SimpleNamespace(grammar_backend="turnstile"))


def make(**more):
    settings(**more)
    return host.create_grammar_backend(None, tokenizer, WIDTH, {128001, 128009})


def compiled(backend, key):
    """As the scheduler gets a grammar: compiled by the executor, kept, and copied for the request."""
    value, hit = backend.get_cached_or_future_value(key, require_reasoning=False)
    if not hit:
        backend.set_cache(key, value.result())
        value, hit = backend.get_cached_or_future_value(key, require_reasoning=False)
    return value


def generate(grammars, prompts, most=80):
    """SGLang's decoding loop for a batch: one mask buffer, filled batched, applied to the logits; (texts, token counts)."""
    torch.manual_seed(5)
    rows = [tokenizer.encode(prompt) for prompt in prompts]
    starts = [len(row) for row in rows]
    mask = grammars[0].allocate_vocab_mask(WIDTH, len(grammars), "cpu")
    for _ in range(most):
        live = [i for i, grammar in enumerate(grammars) if not grammar.finished and not grammar.is_terminated()]
        if not live:
            break
        grammars[0].reset_vocab_mask(mask)
        grammars[0].fill_vocab_mask_batched([host.GrammarRow(i, grammars[i]) for i in live], mask)
        with torch.no_grad():
            logits = torch.stack([model(torch.tensor([row])).logits[0, -1] for row in rows])
        host.GrammarMask(grammars[0], grammars[0].move_vocab_mask(mask, "cpu")).apply(logits)
        tokens = torch.multinomial(logits.softmax(-1), 1)[:, 0].tolist()
        for i in live:
            grammars[i].accept_token(tokens[i])
            rows[i].append(tokens[i])
    return [(tokenizer.decode(row[start:], skip_special_tokens=True), len(row) - start) for row, start in zip(rows, starts)]


turnstile.sglang.register()
backend = make()
check(isinstance(backend, turnstile.sglang.Backend) and isinstance(backend, host.BaseGrammarBackend), "SGLang made the backend by its name")
import json  # noqa: E402

keys = [("json", json.dumps(SCHEMA)), ("regex", "[a-z]{3}-[0-9]{2}"), ("ebnf", 'root ::= "a" [0-9] root | "b"'), ("json", json.dumps(PAIR))]
out = generate([compiled(backend, key) for key in keys], ["Hello", "A longer prompt than the others", "x", "y"])
validate(*out[0][:1], SCHEMA, out[0][1], "json")
match(*out[1][:1], "[a-z]{3}-[0-9]{2}", out[1][1], "regex")
match(*out[2][:1], "(a[0-9])*b", out[2][1], "ebnf")
validate(*out[3][:1], PAIR, out[3][1], "json again")
validate(*generate([compiled(backend, ("json", json.dumps(SCHEMA)))], ["z"])[0][:1], SCHEMA, 0, "a cached grammar begins anew")
check(compiled(backend, keys[0]).grammar_stats.is_cache_hit, "statistics of a cached grammar")

for key, part in ((("json", '{"properties": {"a": {"type": "strin"}}}'), "/properties/a/type"), (("json", "{"), "json"), (("regex", "a("), "parenthesis"),
                  (("ebnf", "root ::= x"), "x"), (("structural_tag", "{}"), "structural tag")):
    value = backend.get_cached_or_future_value(key, False)[0].result()
    check(isinstance(value, host.InvalidGrammarObject) and part in value.error_message, f"{key}: {value}")


tag = compiled(backend, ("structural_tag", json.dumps({"structures": [{"begin": "<f>", "schema": PAIR, "end": "</f>"}], "triggers": ["<f"]})))
tags = tokenizer.encode('so <f>["left",true]</f> on', add_special_tokens=False)
check(tag._matcher.validate(tags) == len(tags) and tag._matcher.validate(tokenizer.encode('<f>["up"', add_special_tokens=False)) < 4, "structural tags")


# Speculative decoding: a tree of drafts is walked with accept_token and rollback, and a rejected draft raises ValueError and changes nothing.
def ids(text):
    return tokenizer.encode(text, add_special_tokens=False)


grammar = compiled(backend, ("regex", "(ab|cd)+"))
a, b, c = ids("a")[0], ids("b")[0], ids("c")[0]
mask = grammar.allocate_vocab_mask(WIDTH, 2, "cpu")


def allows(token, row=0):
    grammar.fill_vocab_mask(mask, row)
    return bool(mask[row, token // 32] >> (token % 32) & 1)


grammar.accept_token(a)
check(allows(b) and not allows(c, 1), "after a comes b")
grammar.accept_token(b)
check(allows(c) and allows(128009) and grammar.current_token == b, "after ab anything may come, the end too")
raises(ValueError, lambda: grammar.accept_token(b), "a draft that is not allowed", "not allowed")
grammar.rollback(2)
check(allows(a) and allows(c), "rolled back to the beginning")
for token in (a, b, 128009):
    grammar.accept_token(token)
check(grammar.is_terminated(), "the end")
grammar.accept_token(a)
grammar.rollback(1)
check(not grammar.is_terminated(), "the end rolled back")
fresh = grammar.copy()
check(fresh is not grammar and fresh._matcher.history == 0, "a copy begins anew")

# Jump-forward: what must come next, and the text tokenised anew.
jumping = compiled(backend, ("regex", "abc: (é€|é2) end"))
helper = jumping.try_jump_forward(tokenizer)
text, state = jumping.jump_forward_str_state(helper)
check(text == "abc: é", f"only whole characters are jumped over: {text!r}")
old = ids("ab")
for token in old:
    jumping.accept_token(token)
jumping.jump_and_retokenize(old, ids(text), state)
check(jumping.try_jump_forward(tokenizer) is None, "two ways to go on")
raises(ValueError, lambda: jumping.jump_and_retokenize(ids(text), ids("xyz"), state), "a text that is not allowed", "retokenised")
jumping.jump_and_retokenize(ids(text), ids("abc: é2"), state)
check(jumping.try_jump_forward(tokenizer)[1] == " end", "and the rest is forced")

# Reasoning: nothing is constrained until the thinking ends.
try:
    thinking = make(reasoning_parser="deepseek-r1")
    reasoned = thinking.get_cached_or_future_value(("regex", "(ab)+"), True)[0].result()
    reasoned = reasoned.copy()
    reasoned.maybe_init_reasoning(True)
    for token in ids("anything at all"):
        reasoned.accept_token(token)
    check(not reasoned.is_terminated(), "thinking is not constrained")
    for token in thinking.think_end_ids:
        reasoned.accept_token(token)
    mask = reasoned.allocate_vocab_mask(WIDTH, 1, "cpu")
    reasoned.fill_vocab_mask(mask, 0)
    check(bool(mask[0, a // 32] >> (a % 32) & 1) and not bool(mask[0, c // 32] >> (c % 32) & 1), "after the thinking the grammar begins")
except Exception as error:  # told with its kind: it is SGLang's code as much as ours
    check(False, f"reasoning: {type(error).__name__} {error}")
finish("sglang", "registration, cached and refused grammars, a batch of json, regex and ebnf through its mask buffer, draft trees with rollback, jump-forward, reasoning")
