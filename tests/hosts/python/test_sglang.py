"""SGLang: the classes of its package, from registration to the rejection of a draft. SGLang's
server runs on GPUs; here its classes are driven as its scheduler does it, with a tiny model's
logits (torch on the processor).

What SGLang imports and these tests do not use is absent: triton (stubbed, as SGLang itself does on
macOS) and IPython.

SPDX-License-Identifier: Apache-2.0
"""

import runpy
import sys
import types

import absent  # noqa: E402
import torch  # noqa: E402, F401

absent.install()

import transformers  # noqa: E402
from common import (  # noqa: E402
    PAIR,
    ROOT,
    SCHEMA,
    WIDTH,
    allowed_tokens,
    check,
    finish,
    match,
    model_folder,
    raises,
    validate,
)
from sglang.srt.constrained import base_grammar_backend as host  # noqa: E402

import turnstile.sglang  # noqa: E402

tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder())
model = transformers.AutoModelForCausalLM.from_pretrained(model_folder())


def settings(**more):
    """SGLang's process-wide options, as its server sets them."""
    defaults = {
        "constrained_json_disable_any_whitespace": True,
        "constrained_json_max_whitespace_cnt": None,
        "reasoning_parser": None,
        "enable_strict_thinking": False,
    }
    serving = types.SimpleNamespace(**{**defaults, **more})
    host.get_serving = lambda: serving
    host.get_exec = lambda: types.SimpleNamespace(
        kernel=types.SimpleNamespace(grammar_backend="turnstile")
    )


def make(**more):
    settings(**more)
    return host.create_grammar_backend(None, tokenizer, WIDTH, {128001, 128009})


def compiled(backend, key):
    """A grammar as the scheduler gets it: compiled by the executor, kept, and copied."""
    value, hit = backend.get_cached_or_future_value(key, require_reasoning=False)
    if not hit:
        backend.set_cache(key, value.result())
        value, hit = backend.get_cached_or_future_value(key, require_reasoning=False)
    return value


def generate(grammars, prompts, most=80):
    """SGLang's decoding loop for a batch: one mask buffer, filled batched, applied to the logits;
    (texts, token counts).
    """
    torch.manual_seed(5)
    rows = [tokenizer.encode(prompt) for prompt in prompts]
    starts = [len(row) for row in rows]
    mask = grammars[0].allocate_vocab_mask(WIDTH, len(grammars), "cpu")
    for _ in range(most):
        live = [
            i
            for i, grammar in enumerate(grammars)
            if not grammar.finished and not grammar.is_terminated()
        ]
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
    return [
        (tokenizer.decode(row[start:], skip_special_tokens=True), len(row) - start)
        for row, start in zip(rows, starts)
    ]


turnstile.sglang.register()
backend = make()
check(
    isinstance(backend, turnstile.sglang.Backend) and isinstance(backend, host.BaseGrammarBackend),
    "SGLang made the backend by its name",
)
import json  # noqa: E402

keys = [
    ("json", json.dumps(SCHEMA)),
    ("regex", "[a-z]{3}-[0-9]{2}"),
    ("ebnf", 'root ::= "a" [0-9] root | "b"'),
    ("json", json.dumps(PAIR)),
]
out = generate(
    [compiled(backend, key) for key in keys], ["Hello", "A longer prompt than the others", "x", "y"]
)
validate(*out[0][:1], SCHEMA, out[0][1], "json")
match(*out[1][:1], "[a-z]{3}-[0-9]{2}", out[1][1], "regex")
match(*out[2][:1], "(a[0-9])*b", out[2][1], "ebnf")
validate(*out[3][:1], PAIR, out[3][1], "json again")
validate(
    *generate([compiled(backend, ("json", json.dumps(SCHEMA)))], ["z"])[0][:1],
    SCHEMA,
    0,
    "a cached grammar begins anew",
)
check(compiled(backend, keys[0]).grammar_stats.is_cache_hit, "statistics of a cached grammar")

for key, part in (
    (("json", '{"properties": {"a": {"type": "strin"}}}'), "/properties/a/type"),
    (("json", "{"), "json"),
    (("regex", "a("), "parenthesis"),
    (("ebnf", "root ::= x"), "x"),
    (("structural_tag", "{}"), "structural tag"),
):
    value = backend.get_cached_or_future_value(key, False)[0].result()
    check(
        isinstance(value, host.InvalidGrammarObject) and part in value.error_message,
        f"{key}: {value}",
    )


tag = compiled(
    backend,
    (
        "structural_tag",
        json.dumps(
            {"structures": [{"begin": "<f>", "schema": PAIR, "end": "</f>"}], "triggers": ["<f"]}
        ),
    ),
)
tags = tokenizer.encode('so <f>["left",true]</f> on', add_special_tokens=False)
check(
    tag._matcher.validate(tags) == len(tags)
    and tag._matcher.validate(tokenizer.encode('<f>["up"', add_special_tokens=False)) < 4,
    "structural tags",
)


# A mask that can't be made aborts its request, with the others of its batch as they should be.
vocab = tag._matcher.grammar.vocab
hard = turnstile.Grammar.regex(vocab, "(?=.*a.{20}b)(?=.*c.{18}d).*", max_steps=4000)
batch = [
    compiled(backend, ("regex", "[0-9]+")),
    turnstile.sglang.RequestGrammar(hard.matcher()),
    compiled(backend, ("regex", "[a-c]")),
]
mask, alone = (batch[0].allocate_vocab_mask(WIDTH, 3, "cpu") for _ in range(2))
batch[0].fill_vocab_mask_batched([host.GrammarRow(i, one) for i, one in enumerate(batch)], mask)
for i in (0, 2):
    batch[i].fill_vocab_mask(alone, i)
    check(torch.equal(mask[i], alone[i]), f"row {i} beside a mask that can't be made")
check(allowed_tokens(mask[1]) == sorted(vocab.eog_tokens), "which has the end's tokens alone")
raises(
    ValueError,
    lambda: batch[1].accept_token(128009),
    "and no token is accepted after it",
    "could not be made",
)
check(
    turnstile.sglang.RequestGrammar(hard.matcher()).try_jump_forward(None) is None,
    "nothing is forced where it can't be known",
)


# Speculative decoding: a tree of drafts is walked with accept_token and rollback, and a rejected
# draft raises ValueError and changes nothing.
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
check(
    allows(c) and allows(128009) and grammar.current_token == b,
    "after ab anything may come, the end too",
)
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
raises(
    ValueError,
    lambda: jumping.jump_and_retokenize(ids(text), ids("xyz"), state),
    "a text that is not allowed",
    "retokenised",
)
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
    check(
        bool(mask[0, a // 32] >> (a % 32) & 1) and not bool(mask[0, c // 32] >> (c % 32) & 1),
        "after the thinking the grammar begins",
    )
except Exception as error:  # printed with its kind: it may be SGLang's
    check(False, f"reasoning: {type(error).__name__} {error}")

# Strict thinking: tokens are refused while the model thinks, through the backend's token filter.
strict = make(reasoning_parser="deepseek-r1", enable_strict_thinking=True)
strict.think_excluded_token_ids = [a, b]
mask = torch.full((2, WIDTH // 32), 7, dtype=torch.int32)
strict.grammar_backend.set_token_filter(mask, [a, b, 31, WIDTH - 1], 1, is_allowed=False)
refused = allowed_tokens(~mask[1])
check(
    refused == sorted([a, b, 31, WIDTH - 1]) and bool((mask[0] == 7).all()),
    "a token filter that refuses",
)
strict.grammar_backend.set_token_filter(mask, [c, 31], 1, reset_vocab_mask=True)
check(allowed_tokens(mask[1]) == sorted([c, 31]), "a token filter that allows")
strict.grammar_backend.set_token_filter(mask, [a], 1, reset_vocab_mask=False)
check(allowed_tokens(mask[1]) == sorted([a, c, 31]), "and adds to what was allowed")
check(
    strict.grammar_backend.is_support_token_filter and strict.enable_strict_thinking,
    "strict thinking is supported",
)
strict.enable_token_filter, strict._token_filter_fn = True, strict.grammar_backend.set_token_filter
bare = strict.init_strict_reasoning_grammar(True)
mask = bare.allocate_vocab_mask(WIDTH, 1, "cpu")
bare.fill_vocab_mask(mask, 0)
check(
    not mask[0, a // 32] >> (a % 32) & 1 and bool(mask[0, c // 32] >> (c % 32) & 1),
    "while it thinks, what is excluded is refused and nothing else",
)

# SGLang's own GrammarManager, which the scheduler hands its requests to: compiled in the
# background, cached, refused with a message, timed out by nobody.
from sglang.srt.constrained import grammar_manager  # noqa: E402

settings(skip_tokenizer_init=False)
grammar_manager.get_serving = host.get_serving
grammar_manager.get_parallel = lambda: types.SimpleNamespace(pp_rank=0, pp_size=1)
group = types.SimpleNamespace(world_size=1, first_rank=0, is_first_rank=True)
config = types.SimpleNamespace(
    vocab_size=WIDTH, hf_eos_token_id={128001, 128009}, think_end_ids=None
)
manager = grammar_manager.GrammarManager(
    types.SimpleNamespace(
        server_args=None,
        tokenizer=tokenizer,
        model_config=config,
        dp_tp_cpu_group=None,
        dp_tp_group=group,
        pp_group=None,
    )
)


class Request:
    """What of SGLang's Req the manager looks at."""

    def __init__(self, rid, **wanted):
        kinds = dict.fromkeys(("json_schema", "regex", "ebnf", "structural_tag", "custom_params"))
        self.rid, self.grammar, self.grammar_key, self.grammar_wait_ct = rid, None, None, 0
        self.sampling_params = types.SimpleNamespace(
            **{**kinds, "ebnf_full_assistant": False, **wanted}
        )
        self.origin_input_ids, self.require_reasoning, self.aborted = [1], False, None

    def finished(self):
        return self.aborted is not None

    def set_finish_with_abort(self, message):
        self.aborted = message


def through_manager(*requests):
    for request in requests:
        manager.process_req_with_grammar(request)
    ready = []
    for _ in range(200):
        if not manager.has_waiting_grammars():
            break
        ready += manager.get_ready_grammar_requests()
    check(not manager.has_waiting_grammars(), "the manager's queue is empty again")
    return ready


wanted = [
    Request("1", json_schema=json.dumps(SCHEMA)),
    Request("2", regex="[a-z]{3}-[0-9]{2}"),
    Request("3", ebnf='root ::= "a" [0-9] root | "b"'),
    Request("4", regex="a("),
]
check(
    {request.rid for request in through_manager(*wanted)} == {"1", "2", "3", "4"},
    "all requests come out of the queue",
)
check(
    wanted[3].aborted
    and "parenthesis" in wanted[3].aborted
    and not any(request.aborted for request in wanted[:3]),
    f"the one that is refused says why: {wanted[3].aborted}",
)
again, refused = Request("5", json_schema=json.dumps(SCHEMA)), Request("6", regex="a(")
check(
    through_manager(again, refused) == []
    and again.grammar.grammar_stats.is_cache_hit
    and "parenthesis" in refused.aborted,
    "the second time they come from the cache",
)
for text, tokens in generate([wanted[0].grammar, again.grammar], ["p", "q"]):
    validate(text, SCHEMA, tokens, "through the grammar manager")

# The example, as it is. SGLang's server, which it starts, is the only part that is replaced, by one
# that takes its options and makes its grammar backend.
started = []
sys.modules["sglang.srt.entrypoints.http_server"] = types.SimpleNamespace(
    launch_server=started.append
)
host.GRAMMAR_BACKEND_REGISTRY.clear()
sys.argv = [
    "sglang_server.py",
    "--model-path",
    str(model_folder()),
    "--grammar-backend",
    "turnstile",
    "--device",
    "cpu",
]
runpy.run_path(
    str(ROOT / "bindings" / "python" / "examples" / "sglang_server.py"), run_name="__main__"
)
check(
    len(started) == 1 and started[0].grammar_backend == "turnstile",
    "the example starts a server with this backend",
)
check(isinstance(make(), turnstile.sglang.Backend), "and has registered it")
finish(
    "sglang",
    "registration, cached and refused grammars, a batch of json, regex and ebnf through its mask "
    "buffer, draft trees with rollback, jump-forward, reasoning, strict "
    "thinking, its grammar manager, the example's options",
)
