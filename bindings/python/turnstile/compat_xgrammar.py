"""XGrammar's calls over Turnstile: a host switches by its import.

    import turnstile.compat_xgrammar as xgrammar

    info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
    compiled = xgrammar.GrammarCompiler(info).compile_json_schema(schema)
    matcher = xgrammar.GrammarMatcher(compiled)

There are TokenizerInfo, VocabType, GrammarCompiler, CompiledGrammar, GrammarMatcher,
BatchGrammarMatcher and the functions on bitmasks. What there is not: Grammar objects, Lark
grammars, captures, temperatures, draft trees, serialisation, classes for structural tags (those of
XGrammar are accepted). EBNF is as docs/ebnf.md says. What XGrammar
raises as RuntimeError is one here too.

Where it differs: masks are Turnstile's, that is exact. `strict_mode` closes objects and arrays that
list their members (unevaluatedProperties and unevaluatedItems false) where the schema says nothing
of others, but for the parts of an allOf, which only their whole can close. Of indent and
separators, those that Turnstile writes are accepted (any_whitespace; compact; indent with (",", ":
")), and others refused. In regular expressions of compile_regex "." is any character, as with
XGrammar; in those of structural tags it is no end of a line. Stop tokens belong to the vocabulary:
override_stop_tokens is refused. Rollbacks reach back 4,096 tokens; what can't be rolled back is
StateError (a RuntimeError), and rows or shapes that do not fit are ValueError or IndexError. An
empty string is no step of its own. Masks may be wider than the vocabulary, what is past it being
cleared, and no matcher or row may come twice in a batch. Where the forced bytes end inside a
character, the whole ones before are the jump-forward string; where they begin inside one, it is
empty. vocab_type and special_token_ids of from_huggingface are Turnstile's own view of the
tokenizer.

SPDX-License-Identifier: Apache-2.0
"""

import enum
import json
import re

from turnstile import _core, tensors
from turnstile.errors import GrammarError, LimitError, StateError
from turnstile.grammar import Grammar
from turnstile.vocab import Vocab, _ids

__all__ = [
    "BatchGrammarMatcher",
    "CompiledGrammar",
    "GrammarCompiler",
    "GrammarMatcher",
    "TokenizerInfo",
    "VocabType",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "get_bitmask_shape",
    "reset_token_bitmask",
]


class RefusedError(GrammarError, RuntimeError):
    """A grammar that is refused: a RuntimeError, as with XGrammar."""


class VocabType(enum.Enum):
    RAW = 0
    BYTE_FALLBACK = 1
    BYTE_LEVEL = 2


def _alphabet():
    """The characters of byte-level vocabularies: printable ones stand for themselves, the other
    bytes for those from U+0100 on, in order.
    """
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {
        **{chr(byte): byte for byte in plain},
        **{chr(256 + i): byte for i, byte in enumerate(others)},
    }


_BYTES = _alphabet()


def _decode(token, kind):
    """The bytes of a token as a vocabulary of that kind writes it."""
    if isinstance(token, bytes):
        if kind == VocabType.RAW:
            return token
        token = token.decode()
    if kind == VocabType.BYTE_FALLBACK:
        byte = re.fullmatch("<0x([0-9A-Fa-f]{2})>", token)
        return bytes([int(byte[1], 16)]) if byte else token.replace("\u2581", " ").encode()
    if kind == VocabType.BYTE_LEVEL and all(c in _BYTES for c in token):
        return bytes(_BYTES[c] for c in token)
    return token.encode()


class TokenizerInfo:
    """A vocabulary; here from its tokens as they are written in it, `vocab_type` saying how.
    Without `stop_token_ids`, those with well-known names end a generation.
    """

    def __init__(
        self,
        encoded_vocab,
        vocab_type=VocabType.RAW,
        *,
        vocab_size=None,
        stop_token_ids=None,
        add_prefix_space=False,
    ):
        self.vocab_type, self.add_prefix_space = vocab_type, add_prefix_space
        tokens = [_decode(token, vocab_type) for token in encoded_vocab]
        stops = (
            _ids(stop_token_ids)
            if stop_token_ids is not None
            else [i for i, token in enumerate(tokens) if token in _STOPS]
        )
        self.vocab = Vocab.from_tokens(tokens, logits_width=vocab_size or 0, eog=stops)

    @classmethod
    def from_huggingface(cls, tokenizer, *, vocab_size=None, stop_token_ids=None):
        self = cls.__new__(cls)
        self.vocab_type, self.add_prefix_space = (
            VocabType.RAW,
            False,
        )  # Turnstile reads the tokenizer itself
        stops = _ids(
            getattr(tokenizer, "eos_token_id", None) if stop_token_ids is None else stop_token_ids
        )
        if stop_token_ids is not None and not stops:
            raise ValueError("stop_token_ids cannot be empty")
        self.vocab = Vocab.from_transformers(tokenizer, logits_width=vocab_size or 0, eog=stops)
        return self

    @property
    def vocab_size(self):
        return self.vocab.logits_width

    @property
    def stop_token_ids(self):
        return list(self.vocab.eog_tokens)

    @property
    def special_token_ids(self):
        """Tokens without bytes, those past the tokenizer's among them, and special ones that end
        nothing.
        """
        vocab = self.vocab
        return [
            token
            for token in range(vocab.logits_width)
            if token >= vocab.size
            or not vocab.token_bytes(token)
            or (vocab.is_special(token) and not vocab.is_eog(token))
        ]

    @property
    def decoded_vocab(self):
        return [self.vocab.token_bytes(token) for token in range(self.vocab.size)]


class CompiledGrammar:
    def __init__(self, grammar, info):
        self.turnstile_grammar = grammar
        self.tokenizer_info = info

    @property
    def memory_size_bytes(self):
        return self.turnstile_grammar.stats()["memory"]


class GrammarCompiler:
    """Compiles; `max_threads`, `cache_enabled` and `cache_limit_bytes` have no meaning here:
    compiles take microseconds, in the caller's thread.
    """

    def __init__(self, tokenizer_info, *, max_threads=8, cache_enabled=True, cache_limit_bytes=-1):
        self._info = tokenizer_info

    def _compile(self, make, *arguments, **options):
        try:
            return CompiledGrammar(make(self._info.vocab, *arguments, **options), self._info)
        except (GrammarError, LimitError) as error:
            raise RefusedError(*error.__reduce__()[1]) from error

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
        schema = _schema(schema, "the schema")
        style = _style(any_whitespace, indent, separators, max_whitespace_cnt)
        return self._compile(
            Grammar.json_schema,
            _closed(schema) if strict_mode else schema,
            order="any" if any_order else "schema",
            **style,
        )

    def compile_builtin_json_grammar(self):
        return self._compile(Grammar.json_schema, {"type": ["object", "array"]})

    def compile_regex(self, regex):
        return self._compile(Grammar.regex, regex, dot_all=True)

    def compile_grammar(self, grammar, *, root_rule_name="root"):
        return self._compile(Grammar.ebnf, grammar, root=root_rule_name)

    def compile_structural_tag(self, structural_tag, triggers=None):
        """A structural tag as JSON text, dict or pydantic model; or, as of old, a list of items
        with begin, schema and end, and a list of triggers. Objects in it are closed, as by
        strict_mode.
        """
        if triggers is not None:
            structural_tag = {
                "structures": [_item(item) for item in structural_tag],
                "triggers": list(triggers),
            }
        elif hasattr(structural_tag, "model_dump"):
            structural_tag = structural_tag.model_dump(mode="json", exclude_none=True)
        elif isinstance(structural_tag, str):
            try:
                structural_tag = json.loads(structural_tag)
            except ValueError:
                pass  # Grammar.tags says where
        return self._compile(Grammar.tags, _closed_tags(structural_tag))

    def clear_cache(self):
        pass


def _style(any_whitespace, indent, separators, most):
    if any_whitespace:
        return {"whitespace": "any" if most is None else most}
    if indent is None and separators and tuple(separators) == (",", ":"):
        return {"whitespace": "compact"}
    if indent is not None and (separators is None or tuple(separators) == (",", ": ")):
        return {"whitespace": "pretty", "indent": indent}
    raise RefusedError(
        f"Turnstile does not write JSON with indent={indent} and separators={separators}"
    )


_STOPS = {
    text.encode()
    for text in (
        "</s>",
        "<eos>",
        "<|eos|>",
        "<|endoftext|>",
        "<|eot_id|>",
        "<|end_of_text|>",
        "<end_of_turn>",
        "<\uff5cend\u2581of\u2581sentence\uff5c>",
    )
}
_BOUNDS = (
    "required",
    "minProperties",
    "maxProperties",
)  # beside one of these the type "object" lists its members, for XGrammar: alone it is any object
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "prefixItems")
_ONES = (
    "items",
    "additionalProperties",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
)


def _closed(schema, close=True):
    """A schema whose objects and arrays hold what it lists, and nothing else. Recursion is bounded
    by Python's own limit (RecursionError).
    """
    if not isinstance(schema, dict):
        return schema
    out = dict(schema)
    for key in _MAPS:
        if isinstance(out.get(key), dict):
            out[key] = {name: _closed(value) for name, value in out[key].items()}
    for key in _LISTS:
        if isinstance(out.get(key), list):
            out[key] = [_closed(value) for value in out[key]]
    for key in _ONES:
        if key in out:
            out[key] = _closed(out[key])
    if isinstance(out.get("allOf"), list):
        out["allOf"] = [_closed(value, close=False) for value in out["allOf"]]
    bounded = out.get("type") == "object" and any(key in out for key in _BOUNDS)
    listed = (
        "properties" in out
        or "patternProperties" in out
        or bounded
        or ("allOf" in out and len(out["allOf"]) > 0)
    )
    if close and listed and not {"additionalProperties", "unevaluatedProperties"} & set(out):
        out["unevaluatedProperties"] = False
    if close and "prefixItems" in out and not {"items", "unevaluatedItems"} & set(out):
        out["unevaluatedItems"] = False
    return out


def _schema(schema, what):
    """A schema (a dict, its text, or a pydantic model) as a dict; an error calls it `what`."""
    if hasattr(schema, "model_json_schema"):
        return schema.model_json_schema()
    try:
        return json.loads(schema) if isinstance(schema, str) else schema
    except ValueError as error:
        raise RefusedError(f"{what} is not JSON: {error}") from error


def _item(item):
    """An item of old as a dict."""
    begin, schema, end = (
        (item["begin"], item["schema"], item["end"])
        if isinstance(item, dict)
        else (item.begin, item.schema_, item.end)
    )
    return {"begin": begin, "schema": _schema(schema, f"the schema of {begin!r}"), "end": end}


def _closed_tags(part):
    """A structural tag with its schemas closed."""
    if isinstance(part, dict):
        return {
            key: _closed(value) if key in ("json_schema", "schema") else _closed_tags(value)
            for key, value in part.items()
        }
    return [_closed_tags(value) for value in part] if isinstance(part, list) else part


def _whole_characters(text):
    """What bytes begin with that is whole characters."""
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        return text[: error.start].decode()


class GrammarMatcher:
    def __init__(
        self,
        compiled_grammar,
        *,
        override_stop_tokens=None,
        terminate_without_stop_token=False,
        max_rollback_tokens=-1,
    ):
        if override_stop_tokens:
            raise RefusedError("stop tokens belong to the vocabulary: give them to TokenizerInfo")
        self._compiled = compiled_grammar
        self._matcher = _core.Matcher(compiled_grammar.turnstile_grammar)
        self._at_once = terminate_without_stop_token

    def accept_token(self, token_id, *, debug_print=False):
        vocab = self._compiled.tokenizer_info.vocab
        if not 0 <= token_id < vocab.logits_width or (self._at_once and vocab.is_eog(token_id)):
            return False  # without stop tokens there is nothing that they end
        return self._matcher.accept(token_id)

    def accept_string(self, input_str, *, debug_print=False):
        return self._matcher.accept_bytes(
            bytes(input_str) if isinstance(input_str, (bytearray, memoryview)) else input_str
        )

    def _going(self):
        if self._matcher.is_terminated:
            raise StateError("the matcher has terminated: a stop token was accepted")
        return self._matcher

    def fill_next_token_bitmask(self, bitmask, index=0, *, debug_print=False):
        """Always True: the mask has to be applied. RuntimeError after the end."""
        self._going().mask(bitmask, index)
        return True

    def find_jump_forward_string(self):
        return _whole_characters(self._going().forced_bytes())

    def rollback(self, num_tokens=1):
        self._matcher.rollback(max(num_tokens, 0))

    def is_completed(self):
        return self._matcher.is_complete or self._matcher.is_terminated

    def is_terminated(self):
        return self.is_completed() if self._at_once else self._matcher.is_terminated

    def reset(self):
        self._matcher.reset()

    def fork(self):
        fork = GrammarMatcher.__new__(GrammarMatcher)
        fork._compiled, fork._at_once, fork._matcher = (
            self._compiled,
            self._at_once,
            self._matcher.fork(),
        )
        return fork

    @property
    def max_rollback_tokens(self):
        return 4096

    @property
    def stop_token_ids(self):
        return self._compiled.tokenizer_info.stop_token_ids


class BatchGrammarMatcher:
    """Fills the bitmasks of many matchers in one call, with `max_threads` threads ("auto": as many
    as there are processors).
    """

    def __init__(self, max_threads="auto"):
        workers = 0 if max_threads == "auto" else max_threads - 1
        self._threads = _core.Threads(workers) if workers or max_threads == "auto" else None

    def batch_fill_next_token_bitmask(self, matchers, bitmask, indices=None, debug_print=False):
        _core.fill_batch(
            [matcher._going() for matcher in matchers], bitmask, indices, self._threads
        )

    @staticmethod
    def batch_accept_token(matchers, tokens, debug_print=False):
        return [matcher.accept_token(token) for matcher, token in _pairs(matchers, tokens)]

    @staticmethod
    def batch_accept_string(matchers, strings, debug_print=False):
        return [matcher.accept_string(string) for matcher, string in _pairs(matchers, strings)]

    @staticmethod
    def batch_rollback(matchers, num_tokens=1):
        for matcher, count in _pairs(
            matchers, [num_tokens] * len(matchers) if isinstance(num_tokens, int) else num_tokens
        ):
            matcher.rollback(count)


def _pairs(matchers, values):
    if len(matchers) != len(values):
        raise RuntimeError(f"{len(values)} values for {len(matchers)} matchers")
    return zip(matchers, values)


def get_bitmask_shape(batch_size, vocab_size):
    return batch_size, (vocab_size + 31) // 32


def allocate_token_bitmask(batch_size, vocab_size):
    return tensors.allocate(batch_size, vocab_size)


def reset_token_bitmask(bitmask):
    bitmask.fill_(-1)


def apply_token_bitmask_inplace(logits, bitmask, *, vocab_size=None, indices=None, backend="auto"):
    """Rows `indices` of `logits` (all of them by default) under the rows of the same number of
    `bitmask`. `backend` has no meaning here.
    """
    logits = logits if logits.dim() == 2 else logits.unsqueeze(0)
    bitmask = bitmask if bitmask.dim() == 2 else bitmask.unsqueeze(0)
    view = logits[:, : bitmask.shape[1] * 32 if vocab_size is None else vocab_size]
    rows = None if indices is None else [int(row) for row in indices]
    tensors.apply_(view, bitmask if rows is None else bitmask[rows], rows)
