"""The stand-ins for llguidance and XGrammar. Small programs over their public calls run on the real
package and on the stand-in. In Python there is one for each library. llguidance has one in C,
tests/hosts/llguidance.c. XGrammar has one in C++, tests/hosts/xgrammar.cpp.

Their masks are compared where all three agree on what is allowed; texts are generated under each
mask.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import json
import os
import pathlib
import subprocess
import tempfile

import llguidance
import llguidance.hf
import llguidance.torch
import torch
import transformers
import xgrammar
from common import ROOT, VOCABS, WIDTH, check, finish, match, model_folder, run_example, validate

import turnstile.compat_llguidance
import turnstile.compat_xgrammar

tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder())
PATTERN = "(ab|cd){2,4}-[0-9]{3}"


def generate(mask_of, accept, ended, most=40):
    """Draw at random under a mask; the text and the number of tokens."""
    torch.manual_seed(3)
    tokens, masks = [], []
    while not ended() and len(tokens) < most:
        mask = mask_of()
        masks.append(mask.clone())
        bits = (mask[0].unsqueeze(-1) >> torch.arange(32)) & 1
        allowed = bits.flatten().nonzero()[:, 0]
        token = int(allowed[torch.randint(len(allowed), (1,))])
        accept(token)
        tokens.append(token)
    return tokenizer.decode(tokens, skip_special_tokens=True), masks, tokens


def llguidance_program(module, torch_helpers, from_tokenizer):
    info = from_tokenizer(tokenizer, n_vocab=WIDTH, eos_token=128009)
    matcher = module.LLMatcher(info, module.LLMatcher.grammar_from_regex(PATTERN))
    check(
        not matcher.is_error()
        and not matcher.is_accepting()
        and info.vocab_size == WIDTH
        and info.eos_token == 128009,
        f"{module.__name__}: begins",
    )
    mask = torch_helpers.allocate_token_bitmask(1, info.vocab_size)

    def mask_of():
        torch_helpers.fill_next_token_bitmask(matcher, mask, 0)
        return mask

    text, masks, tokens = generate(mask_of, matcher.consume_token, matcher.is_stopped)
    match(text, PATTERN, len(tokens), module.__name__)
    check(
        matcher.is_stopped()
        and matcher.reset()
        and matcher.validate_tokens(tokens[:2] + [5, 6]) == 2,
        f"{module.__name__}: reset, validate",
    )
    check(
        matcher.consume_tokens(tokens[:2])
        and matcher.rollback(1)
        and matcher.validate_tokens(tokens[1:3]) == 2,
        f"{module.__name__}: consume, rollback",
    )
    copy = matcher.deep_copy()
    check(
        copy.consume_token(tokens[1]) and matcher.validate_tokens(tokens[1:2]) == 1,
        f"{module.__name__}: copies are apart",
    )
    check(matcher.try_consume_tokens([tokens[1], 5]) == 1, f"{module.__name__}: try_consume")
    check(
        info.tokenize_str("a<|eot_id|>", parse_special=True)
        == info.tokenize_bytes(b"a<|eot_id|>", parse_special=True)
        == [64, 128009],
        f"{module.__name__}: special tokens in texts",
    )
    check(
        info.decode_bytes([64, WIDTH - 1]) == f"a<[{WIDTH - 1}]>".encode()
        and info.decode_str([WIDTH + 9]) == f"<[{WIDTH + 9}]>",
        f"{module.__name__}: tokens that there are not",
    )
    logits = torch.zeros(1, WIDTH)
    torch_helpers.apply_token_bitmask_inplace(logits, masks[0])
    check(
        torch.equal(
            logits[0] == 0,
            ((masks[0][0].unsqueeze(-1) >> torch.arange(32)) & 1).flatten()[:WIDTH] == 1,
        ),
        f"{module.__name__}: apply",
    )
    for token in (99, WIDTH + 5, 2**31):
        wrong = module.LLMatcher(info, module.LLMatcher.grammar_from_regex("ab"))
        check(
            not wrong.consume_token(token) and wrong.is_error(),
            f"{module.__name__}: token {token} is an error",
        )
        state = [
            wrong.consume_token(64),
            wrong.consume_tokens([]),
            wrong.try_consume_tokens([64]),
            wrong.validate_tokens([64]),
            wrong.compute_ff_bytes(),
            wrong.compute_ff_tokens(),
            wrong.rollback(0),
        ]
        check(
            state == [False, False, 0, 0, b"", [], False],
            f"{module.__name__}: in error it takes nothing: {state}",
        )
        check(
            [i for i, byte in enumerate(wrong.compute_bitmask()) if byte] == [128009 // 8],
            f"{module.__name__}: and only the end is left",
        )
        state = [
            wrong.validate_tokens([128009]),
            wrong.consume_token(128009),
            wrong.consume_tokens([128009]),
            wrong.try_consume_tokens([128009]),
            wrong.is_error(),
        ]
        check(state == [1, True, False, 0, True], f"{module.__name__}: which it takes: {state}")
    bad = module.LLMatcher(info, module.LLMatcher.grammar_from_regex("a("))
    check(
        bad.is_error() and bad.get_error() != "",
        f"{module.__name__}: a bad grammar is a matcher in error",
    )
    check(
        module.LLMatcher(
            info, module.LLMatcher.grammar_from_json_schema('{"const": 1}')
        ).validate_tokens(tokenizer.encode("1", add_special_tokens=False))
        == 1,
        f"{module.__name__}: a JSON schema",
    )
    wide, form = (
        tokenizer.encode('{ "a": 1 }', add_special_tokens=False),
        module.LLMatcher.grammar_from_json_schema,
    )
    schema = {
        "properties": {"a": True},
        "type": "object",
        "x-guidance": {"whitespace_flexible": False},
    }
    accepted = [
        module.LLMatcher(info, grammar).validate_tokens(wide) == len(wide)
        for grammar in (
            form({**schema, "x-guidance": {}}),
            form(schema),
            form(json.dumps(schema)),
            form(schema, defaults={"whitespace_flexible": True}),
            form(schema, overrides={"whitespace_flexible": True}),
        )
    ]
    check(
        accepted == [True, False, False, False, True],
        f"{module.__name__}: a schema's own x-guidance, {accepted}",
    )
    check(
        module.LLMatcher(info, form({**schema, "x-guidance": {"bogus": 1}})).is_error(),
        f"{module.__name__}: an option that is none",
    )
    return text, masks


def xgrammar_program(module):
    info = module.TokenizerInfo.from_huggingface(
        tokenizer, vocab_size=WIDTH, stop_token_ids=[128009]
    )
    matcher = module.GrammarMatcher(module.GrammarCompiler(info).compile_regex(PATTERN))
    mask = module.allocate_token_bitmask(1, info.vocab_size)
    check(
        info.vocab_size == WIDTH and mask.shape == module.get_bitmask_shape(1, WIDTH),
        f"{module.__name__}: shapes",
    )

    def mask_of():
        matcher.fill_next_token_bitmask(mask, 0)
        return mask

    text, masks, tokens = generate(mask_of, matcher.accept_token, matcher.is_terminated)
    match(text, PATTERN, len(tokens), module.__name__)
    matcher.rollback(2)
    check(
        not matcher.is_terminated() and matcher.accept_token(tokens[-2]),
        f"{module.__name__}: rollback",
    )
    matcher.reset()
    check(
        matcher.accept_string("abcd")
        and not matcher.accept_string("x")
        and matcher.accept_string("-1"),
        f"{module.__name__}: strings",
    )
    compiler = module.GrammarCompiler(info)
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    strict = module.GrammarMatcher(compiler.compile_json_schema(schema))
    check(
        strict.accept_string('{"a": 1')
        and not strict.accept_string(', "b": 2}')
        and strict.accept_string("}"),
        f"{module.__name__}: strict_mode closes objects",
    )
    loose = module.GrammarMatcher(compiler.compile_json_schema(schema, strict_mode=False))
    check(
        loose.accept_string('{"a": 1, "b": 2}'), f"{module.__name__}: and without it they are open"
    )
    check(
        module.GrammarMatcher(compiler.compile_grammar('root ::= "x" [0-9]+')).accept_string("x12"),
        f"{module.__name__}: EBNF",
    )
    check(
        module.GrammarMatcher(
            compiler.compile_grammar('root ::= "only" [0-9]')
        ).find_jump_forward_string()
        == "only",
        f"{module.__name__}: jump-forward",
    )
    check(
        module.GrammarMatcher(compiler.compile_grammar('root ::= "x"')).accept_string(
            bytearray(b"x")
        ),
        f"{module.__name__}: a bytearray",
    )
    check(
        module.TokenizerInfo.from_huggingface(tokenizer).stop_token_ids == [128009],
        f"{module.__name__}: the tokenizer's own stop token",
    )
    stops = [
        "</s>",
        "<eos>",
        "<|eos|>",
        "<|endoftext|>",
        "<|eot_id|>",
        "<|end_of_text|>",
        "<end_of_turn>",
        "<\uff5cend\u2581of\u2581sentence\uff5c>",
    ]
    check(
        module.TokenizerInfo(["a", "<|im_end|>", "<|return|>", *stops]).stop_token_ids
        == list(range(3, 11)),
        f"{module.__name__}: well-known stop tokens",
    )
    try:
        compiler.compile_json_schema("{")
        check(False, f"{module.__name__}: a schema that is no JSON")
    except RuntimeError as error:
        check(str(error), f"{module.__name__}: a schema that is no JSON")
    logits = torch.zeros(2, WIDTH)
    module.apply_token_bitmask_inplace(logits, masks[0].repeat(2, 1), indices=[1], backend="auto")
    check(
        not logits[0].any() and bool((logits[1] == float("-inf")).any()),
        f"{module.__name__}: apply to one row",
    )
    other = torch.zeros(2, WIDTH)
    module.apply_token_bitmask_inplace(other, masks[0].repeat(2, 1), indices=torch.tensor([1]))
    check(torch.equal(other, logits), f"{module.__name__}: the row in a tensor")
    try:
        module.apply_token_bitmask_inplace(other, masks[0].repeat(2, 1).long())
        check(False, f"{module.__name__}: masks of 64 bits")
    except ValueError as error:
        check(str(error), f"{module.__name__}: masks of 64 bits")
    odd = module.GrammarMatcher(compiler.compile_grammar('root ::= "\u20acx" [0-9]'))
    try:
        begun = odd.accept_string(b"\xe2") and odd.find_jump_forward_string()
    except UnicodeDecodeError:
        begun = ""  # XGrammar's own answer
    check(begun == "", f"{module.__name__}: no jump-forward string begins inside a character")
    items = [
        xgrammar.StructuralTagItem(begin="<f>", schema=form, end="</f>")
        for form in (json.dumps(schema), schema)
    ]
    for item in items:
        tagged = module.GrammarMatcher(compiler.compile_structural_tag([item], ["<f"]))
        check(
            tagged.accept_string('<f>{"a": 1')
            and not tagged.accept_string(', "b": 2')
            and tagged.accept_string("}</f>"),
            f"{module.__name__}: items of old are closed",
        )
    return text, masks


def compare(what, theirs, ours):
    """The same text and the same masks, token for token; the end apart, where llguidance stops
    before an end-of-sequence token.
    """
    check(
        theirs[0] == ours[0] and all(torch.equal(a, b) for a, b in zip(theirs[1], ours[1])),
        f"{what}: {theirs[0]!r} {ours[0]!r}, masks "
        f"{[int((a != b).sum()) for a, b in zip(theirs[1], ours[1])]}",
    )


compare(
    "llguidance",
    llguidance_program(llguidance, llguidance.torch, llguidance.hf.from_tokenizer),
    llguidance_program(
        turnstile.compat_llguidance,
        turnstile.compat_llguidance,
        turnstile.compat_llguidance.from_tokenizer,
    ),
)
compare("xgrammar", xgrammar_program(xgrammar), xgrammar_program(turnstile.compat_xgrammar))


def compile_c(*arguments):
    done = subprocess.run(list(map(str, arguments)), cwd=ROOT, capture_output=True, text=True)
    check(done.returncode == 0, f"{arguments[0]}: {done.stderr[-2000:]}")


LLGUIDANCE = ROOT / "bindings" / "compat" / "llguidance"
STRICT = ("-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Iinclude")
LINK = (ROOT / "build" / "libturnstile.a", "-lyajl", "-lpcre2-8", "-lxxhash", "-lm", "-lpthread")


def llguidance_in_c(folder):
    """tests/hosts/llguidance.c over the stand-in, a program; and over llguidance, whose Python
    package exports its C calls: a library in this process.
    """
    program, library, answer = (
        folder / "llguidance",
        folder / "llguidance.so",
        folder / "llguidance.out",
    )
    vocabulary = VOCABS / "llama3_1" / "tokenizer.json"
    flags = ("gcc", "-std=c11", *STRICT, f"-I{LLGUIDANCE}", "tests/hosts/llguidance.c")
    compile_c(*flags, LLGUIDANCE / "llguidance.c", "-o", program, *LINK)
    compile_c(*flags, "-shared", "-fPIC", "-DAS_LIBRARY", "-o", library)
    ours = subprocess.run([program, vocabulary], capture_output=True, text=True)
    ctypes.CDLL(llguidance._lib.__file__, ctypes.RTLD_GLOBAL)
    status = ctypes.CDLL(str(library)).run(os.fsencode(vocabulary), os.fsencode(answer))
    theirs = answer.read_text().splitlines()
    check(
        ours.returncode == status == 0 and len(theirs) > 50,
        f"the program in C: {ours.returncode} {status}",
    )
    for mine, other in zip(ours.stdout.splitlines(), theirs):
        check(mine == other, f"llguidance in C: {mine!r}, llguidance itself: {other!r}")
    check(len(ours.stdout.splitlines()) == len(theirs), "llguidance in C: as many lines")
    text = next(line.split(" ", 2)[2] for line in theirs if line.startswith("text "))
    match(
        text,
        PATTERN,
        len([line for line in theirs if line.startswith("token ")]),
        "llguidance in C",
    )
    example = folder / "example"
    compile_c(
        "gcc",
        "-std=c11",
        *STRICT,
        f"-I{LLGUIDANCE}",
        LLGUIDANCE / "example.c",
        LLGUIDANCE / "llguidance.c",
        "-o",
        example,
        *LINK,
    )
    schema = {"enum": ["a", "bc", {"x": 1}]}
    validate(lines_of(example, vocabulary, json.dumps(schema)), schema, 0, "the example in C")


def xgrammar_lines(module):
    """What tests/hosts/xgrammar.cpp prints, of a module in Python."""
    lines, matcher_of = [], module.GrammarMatcher
    tokens = [bytes([i]) for i in range(256)] + [
        text.encode()
        for text in (
            "</s>",
            "ab",
            "cd",
            "abc",
            '{"',
            '":',
            "true",
            "false",
            "null",
            '", "',
            "}}",
            "[[",
            "12",
            "123",
            "  ",
            "\n  ",
            "ly",
            "only",
        )
    ]
    tokens += [f"<extra{i}>".encode() for i in range(len(tokens), 288)]
    info = module.TokenizerInfo(tokens, stop_token_ids=[256])
    compiler = module.GrammarCompiler(info)
    say = lines.append
    say(f"vocabulary {info.vocab_size}, stop {info.stop_token_ids[0]}")

    def state(what, m):
        say(f"{what}: completed {m.is_completed():d}, terminated {m.is_terminated():d}")

    def throws(call):
        try:
            call()
        except RuntimeError as error:
            return int(str(error) != "")
        return 0

    def words(row):
        say("".join(f"{word & 0xFFFFFFFF:08x}" for word in row.tolist()))

    def takes(compiled, text):
        m = matcher_of(compiled)
        return int(m.accept_string(text) and m.is_completed())

    m, mask, out, seed = (
        matcher_of(compiler.compile_regex("(ab|cd){2,4}-[0-9]{3}")),
        module.allocate_token_bitmask(1, 288),
        [],
        3,
    )
    while not m.is_terminated() and len(out) < 40:
        m.fill_next_token_bitmask(mask)
        words(mask[0])
        allowed = [i for i in range(288) if mask[0, i // 32] >> (i % 32) & 1]
        seed = (seed * 1664525 + 1013904223) % 2**32
        out.append(allowed[(seed >> 8) % len(allowed)])
        say(f"token {out[-1]} {m.accept_token(out[-1]):d}")
    state("generated", m)
    say(
        f"after the end: {m.accept_token(97):d} {throws(lambda: m.fill_next_token_bitmask(mask))} "
        f"{throws(m.find_jump_forward_string)}"
    )
    m.rollback(2)
    state("rolled back", m)
    say(f"again {m.accept_token(out[-2]):d}, too far {throws(lambda: m.rollback(100))}")
    m.reset()
    for text in ("abcd", "x", "-1"):
        say(f"string {text} {m.accept_string(text):d}")
    fork = m.fork()
    say(f"fork {fork.accept_string('23'):d} {m.is_completed():d}")
    state("fork", fork)
    say(f"tokens that are none {m.accept_token(1000):d} {m.accept_token(-1):d}")
    m = matcher_of(compiler.compile_regex("ab*"), terminate_without_stop_token=True)
    say(
        f"without a stop token {m.accept_token(97):d} {m.is_terminated():d} "
        f"{m.accept_token(98):d} {m.accept_token(256):d}"
    )
    jumps = [
        matcher_of(compiler.compile_grammar(text, root_rule_name=root)).find_jump_forward_string()
        for text, root in (
            ('root ::= "only " [0-9]', "root"),
            ('top ::= "caf\u00e9" | "cafe"', "top"),
        )
    ]
    say("jump-forward " + ", ".join(jumps))

    schema = (
        '{"type": "object", "properties": {"a": {"type": "integer"}, "in": {"properties": '
        '{"b": true}, "type": "object"}}, "required": ["a"]}'
    )
    odd = (
        '{"type": "object", "properties": {"enum": {"enum": [{"type": "object"}, "q\\"uote"]}, '
        '"t": {"type": "array", "prefixItems": [{"type": "null"}]}}, '
        '"required": ["enum"]}'
    )
    strict, loose, other = (
        compiler.compile_json_schema(schema),
        compiler.compile_json_schema(schema, strict_mode=False),
        compiler.compile_json_schema(odd),
    )
    for text in (
        '{"a": 1}',
        '{"a": 1, "c": 2}',
        '{"a": 1, "in": {"b": 0}}',
        '{"a": 1, "in": {"b": 0, "d": 0}}',
    ):
        say(f"{text}: strict {takes(strict, text)}, loose {takes(loose, text)}")
    for text in (
        '{"enum": {"type":"object"}}',
        '{"enum": "q\\"uote", "t": [null]}',
        '{"enum": "q\\"uote", "t": [null, 1]}',
        '{"enum": "q\\"uote", "u": 1}',
    ):
        say(f"{text}: {takes(other, text)}")
    for text in (
        '{"type": "object"}',
        '{"type": "object", "title": "t"}',
        '{"type": "object", "required": []}',
        '{"maxProperties": 2, "type": "object"}',
        '{"type": "object", "minProperties": 0}',
        '{"type": "object", "properties": {}}',
        '{"type": ["object", "null"]}',
        '{"anyOf": [{"type": "object"}]}',
    ):
        say(f'{text}: {takes(compiler.compile_json_schema(text), """{"b": 1}""")}')
    compact = compiler.compile_json_schema(schema, any_whitespace=False, separators=(",", ":"))
    pretty = compiler.compile_json_schema(schema, any_whitespace=False, indent=2)
    say(
        "style "
        + " ".join(
            str(takes(*pair))
            for pair in (
                (compact, '{"a":1}'),
                (compact, '{"a": 1}'),
                (pretty, '{\n  "a": 1\n}'),
                (pretty, '{"a": 1}'),
            )
        )
    )
    json_grammar = compiler.compile_builtin_json_grammar()
    say(f"json {takes(json_grammar, JSON)} {takes(json_grammar, '{,}')}")
    for text in ("1", "[1]", '"x"'):
        say(f"json {text} {takes(json_grammar, text)}")
    say(f"dot {takes(compiler.compile_regex('a.b'), chr(10).join('ab'))}")
    tag = {
        "type": "structural_tag",
        "format": {
            "type": "triggered_tags",
            "triggers": ["<f"],
            "tags": [
                {
                    "begin": "<f>",
                    "content": {"type": "json_schema", "json_schema": json.loads(schema)},
                    "end": "</f>",
                }
            ],
        },
    }
    for text in ('x <f>{"a": 1}</f>', '<f>{"a": 1, "c": 2}</f>', '<f>{"a": 1, "in": {"d": 0}}</f>'):
        answers = [
            takes(compiler.compile_structural_tag(form), text)
            for form in (json.dumps(tag), tag, xgrammar.StructuralTag.from_json(tag))
        ]
        check(
            len(set(answers)) == 1,
            f"{module.__name__}: a structural tag in each of its forms: {text} {answers}",
        )
        say(f"{text}: {answers[0]}")
    say(
        "refused "
        + " ".join(
            str(throws(call))
            for call in (
                lambda: compiler.compile_regex("a("),
                lambda: compiler.compile_grammar("root ::= x"),
                lambda: compiler.compile_json_schema('{"type": 3}'),
            )
        )
    )

    mask, filler = module.allocate_token_bitmask(4, 288), module.BatchGrammarMatcher(2)
    letters, digits = compiler.compile_regex("[a-c]+"), compiler.compile_regex("[0-9]{2}")
    matchers = [matcher_of(letters), matcher_of(digits), matcher_of(letters)]
    for done in (
        module.BatchGrammarMatcher.batch_accept_token(matchers, [97, 55, 120]),
        module.BatchGrammarMatcher.batch_accept_string(matchers, ["b", "7", "cc"]),
    ):
        say("batch " + " ".join(str(int(x)) for x in done))
    say(
        "too few "
        + " ".join(
            str(throws(call))
            for call in (
                lambda: module.BatchGrammarMatcher.batch_accept_token(matchers, [97]),
                lambda: module.BatchGrammarMatcher.batch_accept_string(matchers, ["a"]),
                lambda: module.BatchGrammarMatcher.batch_rollback(matchers, [1]),
            )
        )
    )
    filler.batch_fill_next_token_bitmask(matchers, mask, [3, 0, 1])
    for row in range(4):
        words(mask[row])
    module.BatchGrammarMatcher.batch_rollback(matchers, [1, 2, 1])
    filler.batch_fill_next_token_bitmask(matchers, mask)
    for row in range(3):
        words(mask[row])
    logits = torch.ones(2, 288)
    module.apply_token_bitmask_inplace(logits, mask[:2], indices=[1])
    say(f"logits left {int((logits[0] == 1).sum())} {int((logits[1] == 1).sum())}")
    kind = module.VocabType
    for shown in (
        module.TokenizerInfo(["<0x0A>", "\u2581a", "<0xE2>", "b", "</s>"], kind.BYTE_FALLBACK),
        module.TokenizerInfo(
            ["\u0120a", "\u010a", "\u00e9", "<|endoftext|>", "\u0122"], kind.BYTE_LEVEL
        ),
        module.TokenizerInfo(["a", "b", "", "c"], kind.RAW, vocab_size=40, stop_token_ids=[3]),
    ):
        say(
            "".join(token.hex() + " " for token in shown.decoded_vocab)
            + f"size {shown.vocab_size}, stop"
            + "".join(f" {i}" for i in shown.stop_token_ids)
            + ", special"
            + "".join(f" {i}" for i in shown.special_token_ids)
        )
    return lines


JSON = '{"x": [1, null]}'


def lines_of(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    check(done.returncode == 0, f"{command[0]}: {done.stderr}")
    return done.stdout


def xgrammar_in_cpp(folder):
    """tests/hosts/xgrammar.cpp over the stand-in in C++, the same over the stand-in in Python, and
    over XGrammar.
    """
    program = folder / "xgrammar"
    compile_c(
        "g++",
        "-std=c++17",
        *STRICT,
        "-Ibindings/compat/xgrammar",
        "tests/hosts/xgrammar.cpp",
        "-o",
        program,
        *LINK,
    )
    done = subprocess.run([program], capture_output=True, text=True)
    theirs = xgrammar_lines(xgrammar)
    check(done.returncode == 0 and len(theirs) > 40, "the program in C++")
    for what, ours in (
        ("C++", done.stdout.splitlines()),
        ("Python", xgrammar_lines(turnstile.compat_xgrammar)),
    ):
        check(len(ours) == len(theirs), f"XGrammar in {what}: as many lines")
        for mine, other in zip(ours, theirs):
            check(mine == other, f"XGrammar in {what}: {mine!r}, XGrammar itself: {other!r}")
    compile_c(
        "g++",
        "-std=c++17",
        *STRICT,
        "-Ibindings/compat/xgrammar",
        "bindings/compat/xgrammar/example.cpp",
        "-o",
        folder / "example",
        *LINK,
    )
    schema = {
        "properties": {"a": {"enum": ["x", "y"]}, "b": {"type": "boolean"}},
        "required": ["a", "b"],
        "type": "object",
        "additionalProperties": False,
    }
    validate(lines_of(folder / "example", json.dumps(schema)), schema, 0, "the example in C++")


with tempfile.TemporaryDirectory() as name:
    llguidance_in_c(pathlib.Path(name))
    xgrammar_in_cpp(pathlib.Path(name))
NAMES = {"enum": [{"name": "Ada", "age": 36}, {"name": "Alan", "age": 41}]}
validate(
    run_example("llguidance_json.py", VOCABS / "llama3_1" / "tokenizer.json"),
    NAMES,
    0,
    "the example for llguidance",
)
PERSON = {
    "type": "object",
    "properties": {"name": {"enum": ["Ada", "Alan"]}, "age": {"enum": ["18", "19"]}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
validate(run_example("xgrammar_json.py", model_folder()), PERSON, 0, "the example for XGrammar")


def shown_in_the_manual():
    """The block of docs/switch.md."""
    vocab = turnstile.Vocab.embedded()
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
    names = {"schema": schema, "tokens": [vocab.token_bytes(i) for i in range(4096)]}
    exec(os.environ["TSL_BLOCK"], names)
    check(names["matcher"].is_terminated(), "the block of docs/switch.md comes to its end")


shown_in_the_manual()
import importlib.metadata  # noqa: E402

print(f"xgrammar {importlib.metadata.version('xgrammar')}: the same program")
finish(
    "llguidance",
    "one program over its calls and one over XGrammar's, each on the real package and on the "
    "stand-in, with equal masks at every step",
)
