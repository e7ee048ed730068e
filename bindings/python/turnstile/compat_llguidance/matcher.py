"""llguidance's matchers: LLMatcher, LLInterpreter, LLExecutor.

A grammar is a text, as with llguidance. It is Lark, a list of grammars as JSON, or what
grammar_from_regex and grammar_from made. Or it is a JSON Schema, whose member "x-guidance" says how
white space and separators are written.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import json
import os

from turnstile import _core
from turnstile.errors import TurnstileError, UnsupportedError
from turnstile.grammar import Grammar
from turnstile.vocab import Vocab

__all__ = ["LLExecutor", "LLInterpreter", "LLMatcher", "LLParserLimits"]


class LLParserLimits:
    """llguidance's limits, which are kept and have no meaning here: docs/limits.md has
    Turnstile's.
    """

    max_items_in_row = 2000
    initial_lexer_fuel = 1_000_000
    step_lexer_fuel = 200_000
    step_max_items = 50_000
    max_lexer_states = 250_000
    max_grammar_size = 500_000
    precompute_large_lexemes = True
    verbose_errors = True

    def __init__(
        self,
        max_items_in_row=2000,
        initial_lexer_fuel=1_000_000,
        step_lexer_fuel=200_000,
        step_max_items=50_000,
        max_lexer_states=250_000,
        max_grammar_size=500_000,
        precompute_large_lexemes=True,
        verbose_errors=True,
    ):
        self.max_items_in_row = max_items_in_row
        self.initial_lexer_fuel = initial_lexer_fuel
        self.step_lexer_fuel = step_lexer_fuel
        self.step_max_items = step_max_items
        self.max_lexer_states = max_lexer_states
        self.max_grammar_size = max_grammar_size
        self.precompute_large_lexemes = precompute_large_lexemes
        self.verbose_errors = verbose_errors


class LLMatcher:
    """A matcher. After the end its mask has the end-of-sequence tokens only, as llguidance's."""

    def __init__(self, tokenizer, grammar, log_level=1, limits=None):
        self._tokenizer = tokenizer
        self._error = ""
        self._matcher = None
        self._tokens = []  # what was consumed, for captures
        self._was_stopped = False  # in front of the end token
        try:
            self._matcher = _core.Matcher(_compile(tokenizer.vocab, grammar))
        except (TurnstileError, ValueError) as error:
            self._error = str(error)

    @staticmethod
    def grammar_from_json_schema(schema, defaults=None, overrides=None):
        """The schema as JSON text, with its options as x-guidance. ValueError: no JSON."""
        given = {**(defaults or {}), **(overrides or {})}
        if unknown := _refused(given):
            raise UnsupportedError(unknown)
        text = schema if isinstance(schema, str) else json.dumps(schema)
        own = json.loads(text)
        if isinstance(own, bool):
            own, text = ({}, "{}") if own else ({"not": {}}, '{"not": {}}')
        if not isinstance(own, dict):
            raise ValueError("a JSON schema is an object")
        of_schema = own.get("x-guidance", {})
        if not isinstance(of_schema, dict):
            return text  # the compile says what is wrong
        merged = {**(defaults or {}), **of_schema, **(overrides or {})}
        if "x-guidance" in own:
            return json.dumps({**own, "x-guidance": merged})
        # The schema's own text stays as it is: a number may have more digits than a float.
        begin = text.index("{") + 1
        comma = ", " if own else ""
        return f'{{"x-guidance": {json.dumps(merged)}{comma}{text[begin:]}'

    @staticmethod
    def grammar_from_regex(regex):
        return json.dumps({"turnstile": "regex", "text": regex})

    @staticmethod
    def grammar_from_lark(lark):
        return json.dumps({"grammars": [{"lark_grammar": lark}]})

    @staticmethod
    def validate_grammar(grammar, tokenizer=None, *, limits=None):
        """ "" if the grammar compiles, else why not."""
        try:
            _compile(tokenizer.vocab if tokenizer else Vocab.embedded(), grammar)
        except (TurnstileError, ValueError) as error:
            return str(error)
        return ""

    @staticmethod
    def validate_grammar_with_warnings(grammar, tokenizer=None, *, limits=None):
        """(is it wrong, [what is wrong, or the warnings])."""
        try:
            compiled = _compile(tokenizer.vocab if tokenizer else Vocab.embedded(), grammar)
        except (TurnstileError, ValueError) as error:
            return True, [str(error)]
        return False, compiled.warnings

    def get_grammar_warnings(self):
        return [] if self._matcher is None else self._matcher.grammar.warnings

    def is_error(self):
        return bool(self._error)

    def get_error(self):
        return self._error

    def deep_copy(self):
        copy = LLMatcher.__new__(LLMatcher)
        copy._tokenizer, copy._error = self._tokenizer, self._error
        copy._matcher = self._matcher and self._matcher.fork()
        copy._tokens = list(self._tokens)
        copy._was_stopped = self._was_stopped
        return copy

    def is_accepting(self):
        return not self._error and self._matcher.is_complete

    def is_stopped(self):
        """After the end, in error, and where the text is complete and cannot go on."""
        return (
            bool(self._error)
            or self._matcher.is_terminated
            or (self._matcher.is_complete and not self._matcher.next_bytes())
        )

    def stop_reason(self):
        if self._error:
            return "InternalError"
        if self._matcher.is_terminated and not self._was_stopped:
            return "EndOfSentence"
        return "NoExtension" if self.is_stopped() else "NotStopped"

    def consume_token(self, sampled_token):
        """True; or False, and the matcher is in error, if the token is not allowed. After the end
        and in error True, and nothing happens, for the tokens that end.
        """
        vocab = self._tokenizer.vocab
        if (self._error or self._matcher.is_terminated) and vocab.is_eog(sampled_token):
            return True
        if self._error:
            return False
        self._was_stopped = vocab.is_eog(sampled_token) and self.is_stopped()
        if sampled_token < vocab.logits_width and self._matcher.accept(sampled_token):
            self._tokens.append(sampled_token)
            return True
        self._error = f"token {sampled_token} is not allowed"
        return False

    def consume_tokens(self, tokens):
        return not self._error and all(self.consume_token(token) for token in tokens)

    def try_consume_tokens(self, tokens):
        if self._error:
            return 0
        count = self._matcher.accept_tokens(tokens)
        self._tokens += list(tokens)[:count]
        return count

    def validate_tokens(self, tokens):
        if self._error:
            return int(len(tokens) > 0 and self._tokenizer.vocab.is_eog(tokens[0]))
        return self._matcher.validate(tokens)

    def rollback(self, num_tokens):
        if self._error:
            return False
        try:
            self._matcher.rollback(num_tokens)
            del self._tokens[len(self._tokens) - num_tokens :]
            return True
        except TurnstileError as error:
            self._error = str(error)
            return False

    def reset(self):
        if self._error:
            return False
        self._matcher.reset()
        self._tokens = []
        return True

    def compute_ff_bytes(self):
        return b"" if self._error else self._matcher.forced_bytes()

    def compute_ff_tokens(self):
        """The tokens of the forced bytes, but for the last, which what follows may change."""
        forced = self.compute_ff_bytes()
        tokens = self._tokenizer.vocab.encode(forced)[:-1] if forced else []
        return tokens[: self._matcher.validate(tokens)] if tokens else []

    def compute_bitmask(self):
        mask = bytearray(4 * self._tokenizer.vocab.mask_words)
        _fill(self, mask, 0)
        return bytes(mask)

    def compute_logit_bias(self):
        """A byte per token: 200 where it is allowed, 0 where not."""
        bits = self.compute_bitmask()
        return bytes(
            200 if bits[i // 8] >> (i % 8) & 1 else 0 for i in range(self._tokenizer.vocab_size)
        )

    def unsafe_compute_mask_ptr(self, trg_pointer, trg_byte_size):
        """Write the mask to an address with room for so many bytes."""
        _fill(self, _at(trg_pointer, trg_byte_size), 0)

    def get_captures(self):
        """(name, bytes) of each rule with [capture] that is over, in the order of the text."""
        if self._matcher is None:
            return []
        try:
            parser = _core.Parser(self._matcher.grammar)
        except TurnstileError:
            return []  # nothing in the grammar is captured
        for token in self._tokens:
            if not self._tokenizer.vocab.is_eog(token):
                parser.token(token)
        parser.finish()
        return [
            (tag["begin"], tag["content"].encode()) for tag in json.loads(parser.json())["tags"]
        ]

    def get_capture(self, name):
        """The last of that name, or None."""
        found = [content for capture, content in self.get_captures() if capture == name]
        return found[-1] if found else None


class LLInterpreter:
    """llguidance's older interface, without backtracking: a mask, a token, and so on."""

    def __init__(
        self,
        tokenizer,
        grammar,
        enable_backtrack=True,
        enable_ff_tokens=True,
        log_level=1,
        limits=None,
    ):
        self._inner = LLMatcher(tokenizer, grammar)
        self.log_level = log_level
        self._forced = enable_ff_tokens
        if self._inner.is_error():
            raise ValueError(self._inner.get_error())

    def deep_copy(self):
        copy = LLInterpreter.__new__(LLInterpreter)
        copy._inner, copy._forced = self._inner.deep_copy(), self._forced
        copy.log_level = self.log_level
        return copy

    def is_accepting(self):
        return self._inner.is_accepting()

    def stop_reason(self):
        return self._inner.stop_reason()

    def process_prompt(self, prompt):
        """The prompt as it is: no token of it is removed."""
        return list(prompt)

    def start_without_prompt(self):
        """Nothing is to be done."""

    def validate_tokens_raw(self, tokens):
        return self._inner.validate_tokens(tokens)

    def has_pending_stop(self):
        return self._inner.is_stopped()

    def compute_mask(self):
        """(the mask, or None after the end; JSON that says whether it is the end)."""
        stop = self.has_pending_stop()
        return None if stop else self._inner.compute_bitmask(), json.dumps({"stop": stop})

    def compute_mask_into(self, trg):
        mask, state = self.compute_mask()
        if mask is not None:
            trg[: len(mask)] = mask
        return state

    def unsafe_compute_mask_ptr(self, trg_pointer, trg_byte_size):
        self._inner.unsafe_compute_mask_ptr(trg_pointer, trg_byte_size)
        return json.dumps({"stop": self.has_pending_stop()})

    def commit_token(self, sampled_token):
        """(0, the token and those that must follow it)."""
        if sampled_token is None:
            return 0, []
        if not self._inner.consume_token(sampled_token):
            raise ValueError(self._inner.get_error())
        tokens = [sampled_token]
        if self._forced and not self._inner.is_stopped():
            forced = self._inner.compute_ff_tokens()
            self._inner.consume_tokens(forced)
            tokens += forced
        return 0, tokens


class LLExecutor:
    """Threads that fill the masks of many matchers at once."""

    def __init__(self, num_threads=None):
        count = max(1, (os.cpu_count() or 1) * 4 // 5) if num_threads is None else num_threads
        self._threads = _core.Threads(count - 1) if count > 1 else None

    def unsafe_compute_mask_ptr(self, interpreters, trg_pointer, one_mask_bytes, trg_batch_size):
        """`interpreters`: pairs of a matcher and its row, of `trg_batch_size` rows."""
        rows = [_row(trg_pointer, one_mask_bytes, trg_batch_size, row) for _, row in interpreters]
        plain = [(m, out) for (m, _), out in zip(interpreters, rows) if _plain(m)]
        if plain and len({id(m) for m, _ in plain}) == len(plain):
            memory = _at(trg_pointer, one_mask_bytes * trg_batch_size)
            whole = memoryview(memory).cast("B").cast("i", (trg_batch_size, one_mask_bytes // 4))
            listed = [(m, row) for m, row in interpreters if _plain(m)]
            _core.fill_batch(
                [m._matcher for m, _ in listed], whole, [row for _, row in listed], self._threads
            )
        else:
            for matcher, out in plain:
                _fill(matcher, out, 0)
        for (matcher, _), out in zip(interpreters, rows):
            if not _plain(matcher):
                _fill(matcher, out, 0)

    def unsafe_compute_mask_ptr_with_draft_token(
        self, interpreters, trg_pointer, one_mask_bytes, trg_batch_size
    ):
        """Triples of a matcher, its row, and drafts: the mask after draft i stands i + 1 rows
        further. Rows after the first draft that is not allowed stay as they are.
        """
        for matcher, row, drafts in interpreters:
            _fill(matcher, _row(trg_pointer, one_mask_bytes, trg_batch_size, row), 0)
            count = 0
            for token in drafts:
                if token < 0 or matcher.is_stopped() or matcher.try_consume_tokens([token]) == 0:
                    break
                count += 1
                out = _row(trg_pointer, one_mask_bytes, trg_batch_size, row + count)
                _fill(matcher, out, 0)
            matcher.rollback(count)

    def consume_token_par(self, matchers):
        return [matcher.consume_token(token) for matcher, token in matchers]


def _at(pointer, size):
    """Memory at an address as a buffer of 32-bit words."""
    return (ctypes.c_int32 * (size // 4)).from_address(pointer)


def _row(pointer, size, rows, row):
    if not 0 <= row < rows:
        raise ValueError(f"row {row} is not among the {rows} rows of the masks")
    return _at(pointer + row * size, size)


def _plain(matcher):
    """Is the mask that of the library's matcher?"""
    return not matcher._error and not matcher._matcher.is_terminated


# What says nothing of the language here, and is accepted: oneOf and all keywords are exact anyway.
_NO_BEARING = {"coerce_one_of", "lenient"}
_AS_HERE = {
    "item_separator": (None, ","),
    "key_separator": (None, ":"),
    "whitespace_pattern": (None, ""),
}


def _refused(options):
    """Why these options of a JSON schema are not supported, or ""."""
    for name, value in options.items():
        if name == "whitespace_flexible":
            if not isinstance(value, (bool, type(None))):
                return f"whitespace_flexible is true or false, not {value!r}"
        elif name in _AS_HERE:
            if value not in _AS_HERE[name]:
                return f"Turnstile does not write JSON with {name} {value!r}"
        elif name not in _NO_BEARING:
            return f"Turnstile does not know the option {name!r} of a JSON schema"
    return ""


def _compile(vocab, grammar):
    if not isinstance(grammar, str):
        raise UnsupportedError(
            "a grammar is a Lark text, or what LLMatcher.grammar_from_json_schema returns"
        )
    try:
        request = json.loads(grammar)
    except ValueError:
        request = None
    if not isinstance(request, dict) or "grammars" in request:
        return Grammar.lark(vocab, grammar)  # a grammar, or a list of them
    if "turnstile" not in request:
        return _compile_schema(vocab, grammar, request)
    if request["turnstile"] == "regex":
        return Grammar.regex(vocab, request["text"])
    if request["turnstile"] == "choice":
        return Grammar.choice(vocab, request["choices"])
    return Grammar.gbnf(vocab, request["text"])


def _compile_schema(vocab, text, schema):
    """A JSON schema, written as its x-guidance says."""
    options = schema.get("x-guidance", {})
    options = options if isinstance(options, dict) else {"x-guidance": options}
    if unknown := _refused(options):
        raise UnsupportedError(unknown)
    flexible = options.get("whitespace_flexible") is not False
    flexible = flexible and options.get("whitespace_pattern") != ""
    return Grammar.json_schema(vocab, text, whitespace="any" if flexible else "compact")


def _fill(matcher, out, row):
    inner = _ended(matcher._tokenizer.vocab) if matcher._error else matcher._matcher
    if inner.is_terminated:  # only what ends the text
        inner = inner.fork()
        inner.rollback()
        if inner.next_bytes():
            inner = _ended(inner.grammar.vocab)
    inner.mask(out, row)


def _ended(vocab):
    """A matcher that allows the end-of-generation tokens alone."""
    return _core.Matcher(Grammar.regex(vocab, ""))
