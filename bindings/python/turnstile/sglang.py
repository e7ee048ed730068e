"""SGLang: a grammar backend.

    import turnstile.sglang
    turnstile.sglang.register()     # before the server starts, in the process that starts it
    # then: --grammar-backend turnstile

Requests with `json_schema`, `regex`, `ebnf` and `structural_tag` are served. A grammar that can't
be compiled becomes SGLang's InvalidGrammarObject, with the JSON pointer and the reason. That fails
that request alone. A grammar that reaches a limit later does the same. Reasoning models: a backend
that is registered has to see to the thinking part itself. SGLang's own wrapper does that,
ReasonerGrammarBackend, as for the built-in backends.

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses

from sglang.srt.constrained import base_grammar_backend as host

from turnstile import _core, tensors
from turnstile.errors import TurnstileError
from turnstile.grammar import Grammar
from turnstile.vocab import Vocab

__all__ = ["Backend", "RequestGrammar", "create", "register"]

MAX_WHITESPACE = (
    32  # characters at each place between tokens of JSON, unless the server's options say otherwise
)


class RequestGrammar(host.BaseGrammarObject):
    """One request's place in its grammar.

    A mask that can't be made (a limit) would end the scheduler, with all its requests. In its place
    comes a mask with only the tokens that end a text. The next token is refused, and for that
    SGLang aborts the request.
    """

    def __init__(self, matcher, stats=None):
        super().__init__()
        self._matcher = matcher
        self._error = None
        self.grammar_stats = stats

    def accept_token(self, token):
        if self._matcher.is_terminated:
            return
        if self._error:
            raise ValueError(f"the mask before token {token} could not be made: {self._error}")
        try:
            accepted = self._matcher.accept(token)
        except TurnstileError as error:  # SGLang knows ValueError alone
            raise ValueError(str(error)) from error
        if not accepted:
            raise ValueError(
                f"token {token} is not allowed here; allowed next bytes: "
                f"{self._matcher.next_bytes()[:64]!r}"
            )
        self.current_token = token

    def rollback(self, k):
        self._matcher.rollback(k)

    def is_terminated(self):
        return self._matcher.is_terminated

    def allocate_vocab_mask(self, vocab_size, batch_size, device):
        return tensors.allocate(
            batch_size,
            max(vocab_size, self._matcher.grammar.vocab.logits_width),
            pin=str(device) != "cpu",
        )

    def fill_vocab_mask(self, vocab_mask, idx):
        try:
            _core.fill_batch((self._matcher,), vocab_mask, (idx,))
        except TurnstileError as error:
            self._error = error
            tensors.allow_only_(vocab_mask[idx], self._matcher.grammar.vocab.eog_tokens)

    @staticmethod
    def fill_vocab_mask_batched(entries, vocab_mask):
        ours = [entry for entry in entries if isinstance(entry.grammar, RequestGrammar)]
        try:
            _core.fill_batch(
                [entry.grammar._matcher for entry in ours],
                vocab_mask,
                [entry.row for entry in ours],
            )
            left = [entry for entry in entries if not isinstance(entry.grammar, RequestGrammar)]
        except TurnstileError:
            left = entries  # one by one, to see which it is
        for entry in left:
            entry.grammar.fill_vocab_mask(vocab_mask, entry.row)

    @staticmethod
    def reset_vocab_mask(vocab_mask):
        vocab_mask.fill_(-1)

    @staticmethod
    def move_vocab_mask(vocab_mask, device):
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits, vocab_mask):
        tensors.apply_(logits, vocab_mask)

    def copy(self):
        """A request's own object, out of a cached one: at the beginning."""
        stats = self.grammar_stats
        return RequestGrammar(
            _core.Matcher(self._matcher.grammar),
            stats and dataclasses.replace(stats, is_cache_hit=True, tree_traversal_time=[]),
        )

    def try_jump_forward(self, tokenizer):
        """The text that must come next, whole characters of it, or None. The tokens are left to
        SGLang, which tokenises anew.
        """
        try:
            text = self._matcher.forced_bytes().decode(errors="replace")
        except TurnstileError:
            return None  # the mask says what is wrong
        text = text.split("\ufffd")[0] if "\ufffd" in text else text
        return ([], text) if text else None

    def jump_forward_str_state(self, helper):
        return helper[1], -1

    def jump_and_retokenize(self, old_output_ids, new_output_ids, next_state):
        """Put `new_output_ids` in the place of `old_output_ids`. If they are not allowed, nothing
        changes and ValueError is raised.
        """
        same = 0
        while (
            same < min(len(old_output_ids), len(new_output_ids))
            and old_output_ids[same] == new_output_ids[same]
        ):
            same += 1
        fork = self._matcher.fork()
        fork.rollback(len(old_output_ids) - same)
        new = list(new_output_ids[same:])
        if fork.accept_tokens(new) < len(new):
            raise ValueError(f"the retokenised text is not allowed: {new_output_ids}")
        self._matcher = fork


class Backend(host.BaseGrammarBackend):
    """Compiles the grammars of a server. `any_whitespace` and `max_whitespace` are the server's
    options for whitespace between tokens of JSON.
    """

    def __init__(
        self, tokenizer, vocab_size, eos_token_ids=None, any_whitespace=True, max_whitespace=None
    ):
        super().__init__()
        self._vocab = Vocab.from_transformers(
            tokenizer, logits_width=max(vocab_size, len(tokenizer)), eog=sorted(eos_token_ids or ())
        )
        self._whitespace = (
            "compact"
            if not any_whitespace
            else MAX_WHITESPACE
            if max_whitespace is None
            else max_whitespace
        )

    def allocate_vocab_mask(self, vocab_size, batch_size, device):
        """A mask for requests that are not in a grammar yet, which SGLang's wrapper for reasoning
        asks the backend for.
        """
        return tensors.allocate(
            batch_size, max(vocab_size, self._vocab.logits_width), pin=str(device) != "cpu"
        )

    move_vocab_mask = staticmethod(RequestGrammar.move_vocab_mask)
    apply_vocab_mask = staticmethod(RequestGrammar.apply_vocab_mask)
    is_support_token_filter = True

    @staticmethod
    def set_token_filter(vocab_mask, token_ids, batch_idx, is_allowed=True, reset_vocab_mask=True):
        """Allow or refuse tokens in one row of a mask, with `reset_vocab_mask` as its only ones:
        what strict thinking asks for before a grammar begins.
        """
        row, words = vocab_mask[batch_idx], {}
        if reset_vocab_mask:
            row.fill_(0 if is_allowed else -1)
        for token in token_ids:
            words[token // 32] = words.get(token // 32, 0) | 1 << token % 32
        for word, bits in words.items():
            signed = bits - (1 << 32) if bits >> 31 else bits
            row[word] = row[word] | signed if is_allowed else row[word] & ~signed

    def _dispatch(self, kind, make):
        stats = host.GrammarStats(dispatch_type=kind)
        try:
            return RequestGrammar(_core.Matcher(make()), stats)
        except (TurnstileError, ValueError) as error:
            return host.InvalidGrammarObject(f"Turnstile refuses the {kind}: {error}")

    def dispatch_json(self, key_string):
        schema = {"type": "object"} if key_string == "$$ANY$$" else key_string
        return self._dispatch(
            "json", lambda: Grammar.json_schema(self._vocab, schema, whitespace=self._whitespace)
        )

    def dispatch_regex(self, key_string):
        return self._dispatch("regex", lambda: Grammar.regex(self._vocab, key_string))

    def dispatch_ebnf(self, key_string):
        return self._dispatch("ebnf", lambda: Grammar.ebnf(self._vocab, key_string))

    def dispatch_structural_tag(self, key_string):
        return self._dispatch(
            "structural tag",
            lambda: Grammar.tags(self._vocab, key_string, whitespace=self._whitespace),
        )


def create(server_args, tokenizer, vocab_size, eos_token_ids=None):
    """What SGLang calls to make the backend: registered under its name by register()."""
    serving = host.get_serving()
    backend = Backend(
        tokenizer,
        vocab_size,
        eos_token_ids,
        any_whitespace=not serving.constrained_json_disable_any_whitespace,
        max_whitespace=getattr(serving, "constrained_json_max_whitespace_cnt", None),
    )
    if not serving.reasoning_parser:
        return backend
    from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend

    parser = host.ReasoningParser(
        model_type=serving.reasoning_parser, stream_reasoning=False, tokenizer=tokenizer
    )
    return ReasonerGrammarBackend(
        backend, parser, tokenizer, enable_strict_thinking=serving.enable_strict_thinking
    )


def register(name="turnstile"):
    """Make `--grammar-backend NAME` known to SGLang."""
    host.register_grammar_backend(name, create)
    from sglang.srt import server_args

    choices = getattr(server_args, "GRAMMAR_BACKEND_CHOICES", None)
    if choices is not None and name not in choices:
        choices.append(name)
