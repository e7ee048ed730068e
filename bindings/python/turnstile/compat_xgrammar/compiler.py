"""xgrammar.compiler: grammars compiled for a vocabulary.

SPDX-License-Identifier: Apache-2.0
"""

import hashlib
import json

from turnstile.cache import Cache
from turnstile.compat_xgrammar.closed import closed, schema_of
from turnstile.compat_xgrammar.config import get_serialization_version
from turnstile.compat_xgrammar.exception import DeserializeFormatError
from turnstile.compat_xgrammar.grammar import Grammar, style_of, tag_of, with_names
from turnstile.compat_xgrammar.tokenizer_info import TokenizerInfo, read_stored

__all__ = ["CompiledGrammar", "GrammarCompiler"]


class CompiledGrammar:
    """A Grammar compiled for the vocabulary of a TokenizerInfo. `turnstile_grammar` is the
    turnstile.Grammar.
    """

    grammar = tokenizer_info = None

    def __init__(self, grammar, info):
        self.grammar = grammar
        self.tokenizer_info = info
        self.turnstile_grammar = grammar.compile(info.vocab)

    @property
    def memory_size_bytes(self):
        return self.turnstile_grammar.stats()["memory"]

    def serialize_json(self):
        """The source of the grammar, and a digest of the vocabulary. Reading it compiles again."""
        return json.dumps(
            {
                "__VERSION__": get_serialization_version(),
                "grammar": self.grammar.serialize_json(),
                "tokenizer": _digest(self.tokenizer_info),
            }
        )

    @staticmethod
    def deserialize_json(json_str, tokenizer_info):
        stored = read_stored(json_str, ("grammar", "tokenizer"))
        if stored["tokenizer"] != _digest(tokenizer_info):
            raise DeserializeFormatError("the grammar was compiled for another vocabulary")
        return CompiledGrammar(Grammar.deserialize_json(stored["grammar"]), tokenizer_info)


def _digest(info):
    digest = hashlib.sha256(info.dump_metadata().encode())
    for token in info.decoded_vocab:
        digest.update(b"%d:" % len(token) + token)
    return digest.hexdigest()


class GrammarCompiler:
    """Compiles, and keeps what was compiled if `cache_enabled`: at most `cache_limit_bytes`, -1
    being no bound. `max_threads` has no meaning here: a compile takes microseconds, in the
    caller's thread.
    """

    def __init__(self, tokenizer_info, *, max_threads=8, cache_enabled=True, cache_limit_bytes=-1):
        if not isinstance(tokenizer_info, TokenizerInfo):
            raise ValueError("a GrammarCompiler takes a TokenizerInfo of this module")
        self._info = tokenizer_info
        self._limit = cache_limit_bytes
        self._kept = (
            Cache(1 << 30, (1 << 62) if cache_limit_bytes < 0 else cache_limit_bytes, _memory)
            if cache_enabled
            else None
        )

    def _compile(self, grammar):
        if self._kept is None:
            return CompiledGrammar(grammar, self._info)
        return self._kept.get(
            grammar.serialize_json(), lambda: CompiledGrammar(grammar, self._info)
        )

    def compile_json_schema(
        self,
        schema,
        *,
        any_whitespace=True,
        indent=None,
        separators=None,
        strict_mode=True,
        max_whitespace_cnt=None,
        any_order=False,
    ):
        schema = schema_of(schema, "the schema")
        grammar = Grammar(
            "json_schema",
            json.dumps(closed(schema) if strict_mode else schema),
            order="any" if any_order else "schema",
            **style_of(any_whitespace, indent, separators, max_whitespace_cnt),
        )
        return self._compile(grammar)

    def compile_builtin_json_grammar(self):
        return self._compile(Grammar.builtin_json_grammar())

    def compile_regex(self, regex):
        return self._compile(Grammar("regex", regex, dot_all=True))

    def compile_lark(self, lark_string, *, named_grammars=None):
        return self._compile(Grammar("lark", with_names(lark_string, named_grammars)))

    def compile_grammar(self, grammar, *, root_rule_name="root"):
        """EBNF, or a Grammar of this module."""
        if isinstance(grammar, Grammar):
            return self._compile(grammar)
        if not isinstance(grammar, str):
            raise ValueError("a grammar is a text or a Grammar of this module")
        if grammar.startswith("%turnstile "):
            return self._compile(Grammar.from_ebnf(grammar))
        return self._compile(Grammar("ebnf", grammar, root=root_rule_name))

    def compile_structural_tag(self, *args, **kwargs):
        """A structural tag as JSON text, dict or pydantic model. Or, as in older versions, a list
        of items with begin, schema and end, and a list of triggers. Objects in it are closed, as by
        strict_mode.
        """
        return self._compile(Grammar("tags", json.dumps(tag_of(*args, **kwargs))))

    def clear_cache(self):
        if self._kept is not None:
            self._kept.clear()

    def get_cache_size_bytes(self):
        return 0 if self._kept is None else self._kept.bytes_held

    @property
    def cache_limit_bytes(self):
        return self._limit


def _memory(compiled):
    return compiled.memory_size_bytes
