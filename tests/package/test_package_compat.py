#!/usr/bin/env python3
"""The stand-ins for XGrammar and llguidance, where no host and no torch is. Tested are grammars
without a vocabulary, what is stored, captures, options of schemas, and the names that stand_in()
gives. tests/hosts/python/test_stand_in.py has the rest.

SPDX-License-Identifier: Apache-2.0
"""

import sys
import types

from package_checks import T, check, raises, run


def bytes_and_end():
    return [bytes([byte]) for byte in range(256)] + [b"</s>"]


def test_xgrammar():
    import turnstile.compat_xgrammar as X

    def accepts(grammar, text):
        return X.testing._is_grammar_accept_string(grammar, text)

    ebnf, regex = X.Grammar.from_ebnf('root ::= "b" [0-9]'), X.Grammar.from_regex("a.c")
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    json_schema = X.Grammar.from_json_schema(schema)
    lark = X.Grammar.from_lark(
        "start: @word @number", named_grammars={"word": "start: /[a-z]+/", "number": json_schema}
    )
    for grammar, good, bad in (
        (ebnf, "b1", "b"),
        (regex, "a\nc", "ac"),
        (json_schema, '{"n": 1}', '{"m": 1}'),
        (lark, 'ab{"n": 1}', "ab"),
        (X.Grammar.concat(regex, ebnf), "abcb1", "b1abc"),
        (X.Grammar.union(ebnf, json_schema), '{"n":1}', "b1{}"),
        (X.Grammar.builtin_json_grammar(), "[1]", "1"),
    ):
        again = X.Grammar.deserialize_json(grammar.serialize_json())
        check(accepts(grammar, good) and not accepts(grammar, bad), f"{good}, not {bad}")
        check(accepts(again, good) and not accepts(again, bad), f"{good} after reading it back")
    check(accepts(X.Grammar.from_ebnf(str(json_schema)), '{"n": 1}'), "a schema through its text")
    check(accepts(str(regex), "abc"), "a pattern's text is EBNF")
    for wrong in (
        lambda: X.Grammar.from_ebnf("root ::= x"),
        lambda: X.Grammar.from_regex("("),
        lambda: X.Grammar.from_lark("start: x"),
        lambda: X.Grammar.from_json_schema("{"),
    ):
        raises(X.RefusedError, wrong, "a grammar that is none")
    raises(X.InvalidJSONError, lambda: X.Grammar.from_structural_tag("{"), "a tag that is no JSON")
    raises(
        X.InvalidStructuralTagError,
        lambda: X.Grammar.from_structural_tag({"type": "tag"}),
        "a tag that is none",
    )
    stored = ebnf.serialize_json()
    raises(X.InvalidJSONError, lambda: X.Grammar.deserialize_json("{"), "no JSON")
    raises(X.DeserializeFormatError, lambda: X.Grammar.deserialize_json("{}"), "no grammar")
    raises(
        X.DeserializeVersionError,
        lambda: X.Grammar.deserialize_json(stored.replace("turnstile ", "xgrammar ")),
        "another version",
    )
    info = X.TokenizerInfo(bytes_and_end())
    compiler = X.GrammarCompiler(info)
    check(compiler.compile_grammar(ebnf) is compiler.compile_grammar(ebnf), "compiled once")
    free = X.GrammarCompiler(info, cache_enabled=False)
    check(free.compile_grammar(ebnf) is not free.compile_grammar(ebnf), "or each time")
    named = compiler.compile_lark(
        'start: n " " a\nn[capture]: /[a-z]+/\na[capture="age"]: /[0-9]+/'
    )
    matcher = X.GrammarMatcher(named)
    check(matcher.accept_string("ada ") and matcher.accept_token(ord("7")), "a text with captures")
    check(matcher.get_captures() == [("n", b"ada"), ("age", b"7")], f"{matcher.get_captures()}")
    matcher.rollback(1)
    check(matcher.get_captures() == [("n", b"ada")], "one fewer after a rollback")


def test_jump_forward():
    """find_jump_forward_tokens: what XGrammar 0.2.9 returns for these grammars."""
    import turnstile.compat_xgrammar as X

    words = [b"<s>", b"a", b"b", b"ab", b"abc", b"c", b"{", b'{"', b'"', b"na", b"name", b'name"']
    words += [b":", b": ", b" ", b"1", b"</s>", b"d", b"de", b"def"]
    compiler = X.GrammarCompiler(X.TokenizerInfo(words, stop_token_ids=[16]))
    for text, want in (
        ('root ::= "ab" [c-d]', []),
        ('root ::= "abab" "c" [x]?', [3, 4]),
        ('root ::= "abcabd" [0-9]', [4, 3]),
        ('root ::= "{\\"name\\": 1" [0-9]', [7, 11, 13, 15]),
        ('root ::= "a" "a" "a"', [1, 1]),
        ('root ::= "abx" [a-c]', []),
        ("root ::= [ab]", []),
        ('root ::= "def"?', []),
    ):
        matcher = X.GrammarMatcher(compiler.compile_grammar(text))
        found = matcher.find_jump_forward_tokens()
        check(found == want, f"{text}: {found}")
        check(all(matcher.accept_token(token) for token in found), f"{text}: they are allowed")


def test_llguidance():
    import turnstile.compat_llguidance as L

    own = types.SimpleNamespace(
        eos_token_id=256, bos_token_id=None, tokens=bytes_and_end(), special_token_ids=[256]
    )
    tokenizer = L.LLTokenizer(own)
    check((tokenizer.eos_token, tokenizer.vocab_size) == (256, 257), "a tokenizer of one's own")
    check(tokenizer.greedy_tokenize("ab") == [97, 98], "greedy")
    check(tokenizer.tokenize_partial(b"abc") == ([97, 98], b"c"), "all but the last")

    def reads(grammar, text):
        matcher = L.LLMatcher(tokenizer, grammar)
        return matcher.validate_tokens(list(text)) == len(text) and not matcher.is_error()

    form = L.LLMatcher.grammar_from_json_schema
    schema = '{"type": "object", "properties": {"a": {"const": 0.10000000000000000001}}}'
    check(reads(schema, b'{ "a": 0.10000000000000000001}'), "a schema as it is, digits and all")
    compact = form(schema, overrides={"whitespace_flexible": False})
    check(reads(compact, b'{"a":0.10000000000000000001}') and not reads(compact, b"{ "), "compact")
    check(
        reads(form(True), b"[1]") and L.LLMatcher(tokenizer, form(False)).is_error(), "true, false"
    )
    for options in ({"whitespace_pattern": "x"}, {"item_separator": ", "}, {"bogus": 1}):
        raises(T.UnsupportedError, lambda: form({}, options), f"{options}")
    check(form({}, {"whitespace_pattern": None, "coerce_one_of": True}), "what has no bearing")
    for notation, text in (
        ("grammar", 'start: "a"'),
        ("grammar", 'root ::= "a"'),
        ("choice", '["a"]'),
    ):
        check(reads(L.grammar_from(notation, text), b"a"), f"{notation}: {text}")
    check(L.LarkCompiler().compile('start: "a"') and L.RegexCompiler().compile("a"), "compilers")
    raises(ValueError, lambda: L.JsonCompiler().compile('{"type": "x"}'), "a schema that is none")
    tag = L.StructTag(trigger="<f", begin="<f=a>", grammar=compact, end="</f>")
    tags = L.StructTag.to_grammar([tag])
    check(reads(tags, b'so <f=a>{"a":0.10000000000000000001}</f>'), "a schema of ours in a tag")
    check(not reads(tags, b"so <f=a>{ "), "written as its x-guidance says")
    captured = L.LLMatcher(tokenizer, 'start: n "!"\nn[capture]: /[a-z]+/')
    check(captured.consume_tokens(list(b"ab!")), "a text with a capture")
    check(captured.get_captures() == [("n", b"ab")], f"{captured.get_captures()}")
    check((captured.get_capture("n"), captured.get_capture("m")) == (b"ab", None), "by name")
    steps = L.LLInterpreter(tokenizer, L.grammar_from("regex", "abc"))
    check(steps.compute_mask()[0] and steps.commit_token(97)[1][:1] == [97], "an interpreter")
    check(steps.log_level == 1 and steps.deep_copy().log_level == 1, "its log level")
    no_space = form(schema, overrides={"whitespace_pattern": ""})
    check(not reads(no_space, b"{ ") and reads(no_space, b'{"a":'), "no white space")
    check(tokenizer.dbg_tokens([97, 98]) == "\u27e6a\u2027b\u27e7", tokenizer.dbg_tokens([97, 98]))
    ends = L.LLMatcher(tokenizer, 'start: "a"')
    check(ends.consume_tokens([97, 256]) and ends.stop_reason() == "NoExtension", "it was over")
    goes_on = L.LLMatcher(tokenizer, 'start: "a"+')
    check(goes_on.consume_tokens([97, 256]) and goes_on.stop_reason() == "EndOfSentence", "ended")
    for regex, ascii_classes, want in (
        (r"\d+a/b", "d", r"[0-9]+a\/b"),
        (r"\d\D\w", "", r"\d\D\w"),
        (r"\D\w\s", "dws", r"[^0-9][0-9a-zA-Z_][ \t\n\r\f\v]"),
        (r"[\d.]\/", "d", r"[0-9.]\/"),
    ):
        found = L.regex_to_lark(regex, ascii_classes)
        check(found == want, f"regex_to_lark {regex}: {found}")
    parts = {bytes([i]): i for i in range(256)}
    ranks = L.LLTokenizer.from_tiktoken(
        encoder=parts, special_tokens={"<end>": 256}, pattern=".", eos_token=256, n_vocab=300
    )
    check((ranks.eos_token, ranks.vocab_size) == (256, 300), "an encoding of tiktoken")
    check(ranks.is_special_token(256) and ranks.decode_bytes([97]) == b"a", "its tokens")
    check(not ranks.is_canonical and tokenizer.is_canonical, "encoded without its pattern")


def test_stand_in():
    import turnstile.compat_llguidance
    import turnstile.compat_xgrammar

    for package, name in (
        (turnstile.compat_llguidance, "llguidance"),
        (turnstile.compat_xgrammar, "xgrammar"),
    ):
        package.stand_in()
        package.stand_in()
        check(__import__(name) is package, f"import {name}")
    import xgrammar.testing

    check(xgrammar.testing is turnstile.compat_xgrammar.testing, "import xgrammar.testing")
    sys.modules["xgrammar"] = types.ModuleType("xgrammar")
    raises(RuntimeError, turnstile.compat_xgrammar.stand_in, "xgrammar is imported already")


run(test_xgrammar, test_jump_forward, test_llguidance, test_stand_in)
