"""llguidance's calls over Turnstile: a host switches by its import.

    import turnstile.compat_llguidance as llguidance

    tokenizer = llguidance.LLTokenizer("tokenizer.json", n_vocab=128512, eos_token=128009)     # or
    llguidance.from_tokenizer(hf_tokenizer, ...) matcher = llguidance.LLMatcher(tokenizer,
    llguidance.LLMatcher.grammar_from_json_schema(schema))

There are LLTokenizer and LLMatcher, the helpers of llguidance.hf and llguidance.torch
(from_tokenizer, allocate_token_bitmask, fill_next_token_bitmask, apply_token_bitmask_inplace), and
grammars from JSON Schema, regular expressions and Lark (docs/lark.md), a list of grammars as JSON,
grammar_from, and StructTag. What there is not: captures, LLInterpreter, slices. As with llguidance,
a grammar that is refused gives a matcher in error, whose get_error() says why; it takes no tokens
but the end-of-sequence ones, which its mask has alone.

Where it differs: what a Lark grammar means is in docs/lark.md. Masks are Turnstile's, that is
exact. `defaults` of grammar_from_json_schema takes whitespace_flexible alone, and refuses the rest,
and so does a schema's own x-guidance, where the matcher is in error. A grammar that has ended by an
end-of-sequence token says EndOfSentence, and is complete again after a rollback of it.
compute_ff_tokens leaves out the last token of the forced bytes. Text of special tokens is encoded
as text, unless parse_special is given. compute_bitmask has mask_words words; negative tokens and
counts are ValueError.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os

from turnstile import _core
from turnstile.errors import TurnstileError, UnsupportedError
from turnstile.grammar import Grammar
from turnstile.vocab import Vocab, _ids

__all__ = [
    "LLMatcher",
    "LLTokenizer",
    "StructTag",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "fill_next_token_bitmask",
    "from_tokenizer",
    "grammar_from",
]


class LLTokenizer:
    """A vocabulary; from the text or the path of a tokenizer.json."""

    def __init__(self, tokenizer, n_vocab=None, eos_token=None, slices=None):
        if slices:
            raise UnsupportedError("Turnstile has no slices, nor any need of them")
        options = {"logits_width": n_vocab or 0, "eog": _ids(eos_token)}
        text = str(tokenizer)
        self.vocab = (
            Vocab.from_memory(text.encode(), **options)
            if text.lstrip().startswith("{")
            else Vocab.from_file(os.fspath(tokenizer), **options)
        )

    @classmethod
    def _of(cls, vocab):
        self = cls.__new__(cls)
        self.vocab = vocab
        return self

    @property
    def vocab_size(self):
        return self.vocab.logits_width

    @property
    def eos_token(self):
        return self.vocab.eog_tokens[0]

    @property
    def eos_tokens(self):
        return list(self.vocab.eog_tokens)

    def tokenize_str(self, text, *, parse_special=False):
        return self.vocab.encode(text, parse_special)

    def tokenize_bytes(self, utf8bytes, *, parse_special=False):
        return self.vocab.encode(utf8bytes, parse_special)

    def decode_bytes(self, tokens):
        """Tokens past the tokenizer's, which a model's logits may have, are shown as their
        numbers.
        """
        return b"".join(
            b"<[%d]>" % token if token >= self.vocab.size else self.vocab.token_bytes(token)
            for token in tokens
        )

    def decode_str(self, tokens):
        return self.decode_bytes(tokens).decode(errors="replace")

    def is_special_token(self, token):
        return self.vocab.is_special(token)


def from_tokenizer(hf_tokenizer, n_vocab=None, eos_token=None, slices=None):
    """llguidance.hf.from_tokenizer."""
    if slices:
        raise UnsupportedError("Turnstile has no slices, nor any need of them")
    return LLTokenizer._of(
        Vocab.from_transformers(hf_tokenizer, logits_width=n_vocab or 0, eog=_ids(eos_token))
    )


class LLMatcher:
    """A matcher. After the end its mask has the end-of-sequence tokens only, as llguidance's."""

    def __init__(self, tokenizer, grammar, log_level=1):
        self._tokenizer = tokenizer
        self._error = ""
        self._matcher = None
        try:
            self._matcher = _core.Matcher(_compile(tokenizer.vocab, grammar))
        except (TurnstileError, ValueError) as error:
            self._error = str(error)

    @staticmethod
    def grammar_from_json_schema(schema, defaults=None, overrides=None):
        given = {**(defaults or {}), **(overrides or {})}
        if given.keys() - {"whitespace_flexible"}:
            raise UnsupportedError(_unknown(given.keys() - {"whitespace_flexible"}))
        text = schema if isinstance(schema, str) else json.dumps(schema)
        return json.dumps(
            {
                "turnstile": "json_schema",
                "text": text,
                "options": {**(defaults or {}), **_own_options(text), **(overrides or {})},
            }
        )

    @staticmethod
    def grammar_from_regex(regex):
        return json.dumps({"turnstile": "regex", "text": regex})

    @staticmethod
    def grammar_from_lark(lark):
        return json.dumps({"grammars": [{"lark_grammar": lark}]})

    @staticmethod
    def validate_grammar(grammar, tokenizer=None):
        """ "" if the grammar compiles, else why not."""
        try:
            _compile(tokenizer.vocab if tokenizer else Vocab.embedded(), grammar)
        except (TurnstileError, ValueError) as error:
            return str(error)
        return ""

    def is_error(self):
        return bool(self._error)

    def get_error(self):
        return self._error

    def deep_copy(self):
        copy = LLMatcher.__new__(LLMatcher)
        copy._tokenizer, copy._error = self._tokenizer, self._error
        copy._matcher = self._matcher and self._matcher.fork()
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
        if self._matcher.is_terminated:
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
        if sampled_token < vocab.logits_width and self._matcher.accept(sampled_token):
            return True
        self._error = f"token {sampled_token} is not allowed"
        return False

    def consume_tokens(self, tokens):
        return not self._error and all(self.consume_token(token) for token in tokens)

    def try_consume_tokens(self, tokens):
        return 0 if self._error else self._matcher.accept_tokens(tokens)

    def validate_tokens(self, tokens):
        if self._error:
            return int(len(tokens) > 0 and self._tokenizer.vocab.is_eog(tokens[0]))
        return self._matcher.validate(tokens)

    def rollback(self, num_tokens):
        if self._error:
            return False
        try:
            self._matcher.rollback(num_tokens)
            return True
        except TurnstileError as error:
            self._error = str(error)
            return False

    def reset(self):
        if self._error:
            return False
        self._matcher.reset()
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


def grammar_from(format, text):
    """A grammar of that format, for LLMatcher: "lark", "json_schema", "json", "regex", "choice" (a
    list of strings, or its JSON), "llguidance" (a list of grammars).
    """
    if format == "lark":
        return LLMatcher.grammar_from_lark(text)
    if format in ("json_schema", "json"):
        return LLMatcher.grammar_from_json_schema(text)
    if format == "regex":
        return LLMatcher.grammar_from_regex(text)
    if format == "choice":
        choices = json.loads(text) if isinstance(text, str) else text
        return json.dumps({"turnstile": "choice", "choices": list(choices)})
    if format in ("gbnf", "ebnf", "cfg", "grammar"):
        return json.dumps({"turnstile": "gbnf", "text": text})
    if format == "llguidance":
        return text
    raise ValueError(f"Unknown grammar type: {format}")


class StructTag:
    """A call in running text: begin, what the grammar says (a JSON Schema, or a Lark grammar), end.
    `trigger` is what begin begins with; from it on the text must be a tag.
    """

    def __init__(self, *, trigger, begin, grammar, end):
        if not trigger or not begin.startswith(trigger):
            raise AssertionError("begin must start with trigger, which is not empty")
        self.trigger, self.begin, self.grammar, self.end = trigger, begin, grammar, end

    @staticmethod
    def to_grammar(tags, *, assume_special=True, text_regex=r"(.|\n)*"):
        """A grammar for LLMatcher: text, and tags in it. `assume_special`: a trigger in angle
        brackets is a special token.
        """
        if not tags or "/" in text_regex:
            raise AssertionError("there are tags, and text_regex has no /")
        names = " | ".join(f"tag-{i}" for i in range(len(tags)))
        lines = ["%llguidance {}", f"start: ({names})* tag-end", "tag-end: TAG_TEXT"]
        lines.append(f"TAG_TEXT: /{text_regex}/")
        grammars = []
        for i, tag in enumerate(tags):
            body = tag.grammar
            if isinstance(body, str) and not body.lstrip().startswith("{"):
                grammars.append({"name": f"tag-{i}", "lark_grammar": body})
                body = f"@tag-{i}"
            else:
                body = "%json " + (body if isinstance(body, str) else json.dumps(body))
            rest = tag.begin[len(tag.trigger) :]
            parts = [json.dumps(rest) if rest else "", body, json.dumps(tag.end) if tag.end else ""]
            text = " ".join(part for part in parts if part)
            if assume_special and tag.trigger.startswith("<") and tag.trigger.endswith(">"):
                lines.append(f"tag-{i}: TAG_TEXT {tag.trigger} {text}")
            else:
                lines.append(f"head-{i}[lazy]: TAG_TEXT {json.dumps(tag.trigger)}")
                lines.append(f"tag-{i}: head-{i} {text}")
        lark = "\n".join(lines) + "\n"
        if not grammars:
            return lark
        return json.dumps({"grammars": [{"lark_grammar": lark}, *grammars]})


def _unknown(options):
    return f"Turnstile does not know these options of a JSON schema: {', '.join(sorted(options))}"


def _own_options(text):
    """What a schema says at its top of how it is written."""
    try:
        schema = json.loads(text) if "x-guidance" in text else None
    except ValueError:
        return {}  # the compile says where
    own = schema.get("x-guidance", {}) if isinstance(schema, dict) else {}
    return own if isinstance(own, dict) else {"x-guidance": own}


def _compile(vocab, grammar):
    if not isinstance(grammar, str):
        raise UnsupportedError(
            "a grammar is a Lark text, or what LLMatcher.grammar_from_json_schema returns"
        )
    try:
        request = json.loads(grammar)
    except ValueError:
        request = None
    if not isinstance(request, dict) or "turnstile" not in request:
        return Grammar.lark(vocab, grammar)  # a grammar, or a list of them
    if request["turnstile"] == "regex":
        return Grammar.regex(vocab, request["text"])
    if request["turnstile"] == "choice":
        return Grammar.choice(vocab, request["choices"])
    if request["turnstile"] == "gbnf":
        return Grammar.gbnf(vocab, request["text"])
    options = dict(request["options"])
    flexible = options.pop("whitespace_flexible", True)
    if options or not isinstance(flexible, bool):
        raise UnsupportedError(
            _unknown(options)
            if options
            else f"whitespace_flexible is true or false, not {flexible!r}"
        )
    return Grammar.json_schema(vocab, request["text"], whitespace="any" if flexible else "compact")


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


def allocate_token_bitmask(batch_size, vocab_size):
    from turnstile import tensors

    return tensors.allocate(batch_size, vocab_size)


def fill_next_token_bitmask(interp, bitmask, index=0):
    _fill(interp, bitmask, index)


def apply_token_bitmask_inplace(logits, mask):
    from turnstile import tensors

    tensors.apply_(
        logits if logits.dim() == 2 else logits.unsqueeze(0),
        mask if mask.dim() == 2 else mask.unsqueeze(0),
    )
