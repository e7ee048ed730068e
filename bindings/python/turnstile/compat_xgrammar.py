"""XGrammar's calls over Turnstile: a host switches by its import.

    import turnstile.compat_xgrammar as xgrammar

    info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
    compiled = xgrammar.GrammarCompiler(info).compile_json_schema(schema)
    matcher = xgrammar.GrammarMatcher(compiled)

There are TokenizerInfo, GrammarCompiler, CompiledGrammar, GrammarMatcher and the functions on bitmasks. What there is not: structural tags, Lark grammars, captures,
temperatures, serialisation. EBNF is GBNF, as with XGrammar.

Where it differs: masks are Turnstile's, that is exact. `strict_mode` closes objects and arrays that list their members (unevaluatedProperties and
unevaluatedItems false) where the schema says nothing of others, but for the parts of an allOf, which only their whole can close. Of indent and
separators, those that Turnstile writes are taken (any_whitespace; compact; indent with (",", ": ")), and others refused.

SPDX-License-Identifier: Apache-2.0
"""
import json

from turnstile import _core, tensors
from turnstile.errors import UnsupportedError
from turnstile.grammar import Grammar
from turnstile.vocab import Vocab, _ids

__all__ = ["CompiledGrammar", "GrammarCompiler", "GrammarMatcher", "TokenizerInfo", "allocate_token_bitmask", "apply_token_bitmask_inplace", "get_bitmask_shape",
           "reset_token_bitmask"]


class TokenizerInfo:
    """A vocabulary; here from the decoded bytes of every token."""

    def __init__(self, encoded_vocab, *, vocab_size=None, stop_token_ids=None):
        tokens = [token if isinstance(token, bytes) else token.encode() for token in encoded_vocab]
        self.vocab = Vocab.from_tokens(tokens, logits_width=vocab_size or 0, eog=_ids(stop_token_ids))

    @classmethod
    def from_huggingface(cls, tokenizer, *, vocab_size=None, stop_token_ids=None):
        self = cls.__new__(cls)
        self.vocab = Vocab.from_transformers(tokenizer, logits_width=vocab_size or 0, eog=_ids(stop_token_ids))
        return self

    @property
    def vocab_size(self):
        return self.vocab.logits_width

    @property
    def stop_token_ids(self):
        return list(self.vocab.eog_tokens)

    @property
    def special_token_ids(self):
        return [token for token in range(self.vocab.size) if self.vocab.is_special(token)]

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
    """Compiles; `max_threads`, `cache_enabled` and `cache_limit_bytes` have no meaning here: compiles take microseconds, in the caller's thread."""

    def __init__(self, tokenizer_info, *, max_threads=8, cache_enabled=True, cache_limit_bytes=-1):
        self._info = tokenizer_info

    def _wrap(self, grammar):
        return CompiledGrammar(grammar, self._info)

    def compile_json_schema(self, schema, *, any_whitespace=True, indent=None, separators=None, strict_mode=True, max_whitespace_cnt=None, any_order=False):
        if hasattr(schema, "model_json_schema"):
            schema = schema.model_json_schema()
        schema = json.loads(schema) if isinstance(schema, str) else schema
        style = _style(any_whitespace, indent, separators, max_whitespace_cnt)
        return self._wrap(Grammar.json_schema(self._info.vocab, _closed(schema) if strict_mode else schema, order="any" if any_order else "schema", **style))

    def compile_builtin_json_grammar(self):
        return self._wrap(Grammar.json_schema(self._info.vocab, True))

    def compile_regex(self, regex):
        return self._wrap(Grammar.regex(self._info.vocab, regex))

    def compile_grammar(self, grammar, *, root_rule_name="root"):
        return self._wrap(Grammar.gbnf(self._info.vocab, grammar, root=root_rule_name))

    def compile_structural_tag(self, *args, **kwargs):
        raise UnsupportedError("Turnstile has no structural tags here")

    def clear_cache(self):
        pass


def _style(any_whitespace, indent, separators, most):
    if any_whitespace:
        return {"whitespace": "any" if most is None else most}
    if indent is None and separators and tuple(separators) == (",", ":"):
        return {"whitespace": "compact"}
    if indent is not None and (separators is None or tuple(separators) == (",", ": ")):
        return {"whitespace": "pretty", "indent": indent}
    raise UnsupportedError(f"Turnstile does not write JSON with indent={indent} and separators={separators}")


_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "prefixItems")
_ONES = ("items", "additionalProperties", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties")


def _closed(schema, close=True):
    """A schema whose objects and arrays hold what it lists, and nothing else. Recursion is bounded by Python's own limit (RecursionError)."""
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
    listed = "properties" in out or "patternProperties" in out or out.get("type") == "object" or ("allOf" in out and len(out["allOf"]) > 0)
    if close and listed and not {"additionalProperties", "unevaluatedProperties"} & set(out):
        out["unevaluatedProperties"] = False
    if close and "prefixItems" in out and not {"items", "unevaluatedItems"} & set(out):
        out["unevaluatedItems"] = False
    return out


class GrammarMatcher:
    def __init__(self, compiled_grammar, *, override_stop_tokens=None, terminate_without_stop_token=False, max_rollback_tokens=-1):
        if override_stop_tokens:
            raise UnsupportedError("stop tokens belong to the vocabulary: give them to TokenizerInfo")
        self._compiled = compiled_grammar
        self._matcher = _core.Matcher(compiled_grammar.turnstile_grammar)
        self._at_once = terminate_without_stop_token

    def accept_token(self, token_id, *, debug_print=False):
        return self._matcher.accept(token_id)

    def accept_string(self, input_str, *, debug_print=False):
        return self._matcher.accept_bytes(input_str)

    def fill_next_token_bitmask(self, bitmask, index=0, *, debug_print=False):
        """Always True: the mask has to be applied."""
        self._matcher.mask(bitmask, index)
        return True

    def find_jump_forward_string(self):
        return self._matcher.forced_bytes().decode(errors="ignore")

    def rollback(self, num_tokens=1):
        self._matcher.rollback(num_tokens)

    def is_completed(self):
        return self._matcher.is_complete

    def is_terminated(self):
        return self._matcher.is_terminated or (self._at_once and self._matcher.is_complete and not self._matcher.next_bytes())

    def reset(self):
        self._matcher.reset()

    def fork(self):
        fork = GrammarMatcher.__new__(GrammarMatcher)
        fork._compiled, fork._at_once, fork._matcher = self._compiled, self._at_once, self._matcher.fork()
        return fork

    @property
    def max_rollback_tokens(self):
        return 4096

    @property
    def stop_token_ids(self):
        return self._compiled.tokenizer_info.stop_token_ids


def get_bitmask_shape(batch_size, vocab_size):
    return batch_size, (vocab_size + 31) // 32


def allocate_token_bitmask(batch_size, vocab_size):
    return tensors.allocate(batch_size, vocab_size)


def reset_token_bitmask(bitmask):
    bitmask.fill_(-1)


def apply_token_bitmask_inplace(logits, bitmask, *, vocab_size=None, indices=None):
    """Rows `indices` of `logits` (all of them by default) under the rows of the same number of `bitmask`."""
    logits = logits if logits.dim() == 2 else logits.unsqueeze(0)
    bitmask = bitmask if bitmask.dim() == 2 else bitmask.unsqueeze(0)
    view = logits if vocab_size is None else logits[:, :vocab_size]
    tensors.apply_(view, bitmask if indices is None else bitmask[list(indices)], None if indices is None else list(indices))
