"""xgrammar.matcher: matchers, batches of them, and bitmasks.

Stop tokens   A GrammarMatcher may have stop tokens of its own. The vocabulary keeps those it has. A
              mask is the library's, with other stop tokens. The bits of the matcher's stop tokens
              are set where the text may end and cleared elsewhere. The bits of the vocabulary's are
              cleared.
Example       The text of "a" is complete after a. The matcher with override_stop_tokens=[7] then
              allows token 7 alone.

SPDX-License-Identifier: Apache-2.0
"""

import bisect
import json
import time

from turnstile import _core
from turnstile.compat_xgrammar.compiler import CompiledGrammar
from turnstile.errors import StateError, TurnstileError
from turnstile.vocab import _ids

__all__ = [
    "BatchGrammarMatcher",
    "GrammarMatcher",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "get_bitmask_shape",
    "reset_token_bitmask",
]


def _whole_characters(text):
    """What bytes begin with that is whole characters."""
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        return text[: error.start].decode()


class GrammarMatcher:
    """A text in progress. `override_stop_tokens`: these end it, and not those of the vocabulary.
    `terminate_without_stop_token`: it ends where it is complete.
    """

    def __init__(
        self,
        compiled_grammar,
        *,
        override_stop_tokens=None,
        terminate_without_stop_token=False,
        max_rollback_tokens=-1,
        default_temperature=None,
    ):
        if not isinstance(compiled_grammar, CompiledGrammar):
            raise ValueError("a GrammarMatcher takes what a GrammarCompiler has compiled")
        self._compiled = compiled_grammar
        self._matcher = _core.Matcher(compiled_grammar.turnstile_grammar)
        self._at_once = terminate_without_stop_token
        self._stops = frozenset(_ids(override_stop_tokens))  # empty: those of the vocabulary
        self._stopped = False  # by one of them
        self._temperature = default_temperature
        self._steps = []  # tokens and strings that were accepted, for captures

    def accept_token(self, token_id, *, debug_print=False):
        vocab = self._compiled.tokenizer_info.vocab
        if self._stopped or not 0 <= token_id < vocab.logits_width:
            return False
        if self._at_once and vocab.is_eog(token_id):
            return False  # without stop tokens there is nothing that they end
        if self._stops:
            if token_id in self._stops:
                self._stopped = self._matcher.is_complete
                return self._stopped
            if vocab.is_eog(token_id):
                return False
        return self._keep(token_id, self._matcher.accept(token_id))

    def _keep(self, step, accepted):
        if accepted and step != b"" and self._matcher.history > len(self._steps):
            self._steps.append(step)
        return accepted

    def accept_string(self, input_str, *, debug_print=False):
        if self._stopped:
            return False
        text = input_str.encode() if isinstance(input_str, str) else bytes(input_str)
        return self._keep(text, self._matcher.accept_bytes(text))

    def _going(self):
        if self._stopped or self._matcher.is_terminated:
            raise StateError("the matcher has terminated: a stop token was accepted")
        return self._matcher

    def fill_next_token_bitmask(self, bitmask, index=0, *, debug_print=False):
        """Always True: the mask has to be applied. RuntimeError after the end."""
        self._going().mask(bitmask, index)
        self._set_stops(bitmask, index)
        return True

    def _set_stops(self, bitmask, index):
        """The bits of stop tokens, where the matcher has some of its own."""
        if not self._stops:
            return
        row = bitmask[index] if bitmask.ndim == 2 else bitmask
        ends = self._compiled.tokenizer_info.vocab.eog_tokens
        for token in (*ends, *self._stops):
            if token >> 5 < len(row):
                # as a signed word, which is what masks are made of
                bit = (1 << (token & 31) ^ 0x80000000) - 0x80000000
                row[token >> 5] &= ~bit
                if token in self._stops and self._matcher.is_complete:
                    row[token >> 5] |= bit

    def traverse_draft_tree(
        self,
        retrieve_next_token,
        retrieve_next_sibling,
        draft_tokens,
        token_bitmask,
        time_threshold=-1.0,
        temperatures=None,
    ):
        """Masks of the nodes of a tree of drafts: node 0 is where the matcher stands, and node i is
        reached by draft_tokens[i]. Rows of nodes that the grammar does not reach stay. False: the
        time (in seconds) was over; the rows so far are written.
        """
        child, sibling, tokens = (
            values.tolist() for values in (retrieve_next_token, retrieve_next_sibling, draft_tokens)
        )
        until = time.monotonic() + time_threshold if time_threshold > 0 else float("inf")
        waiting = [(0, None)]
        while waiting:
            node, before = waiting.pop()
            if time.monotonic() > until:
                return False
            if node > 0 and sibling[node] >= 0:
                waiting.append((sibling[node], before))
            here = (before or self).fork()
            if node > 0 and not here.accept_token(tokens[node]):
                continue
            if here.is_terminated():
                continue
            here.fill_next_token_bitmask(token_bitmask, node)
            if temperatures is not None:
                temperatures[node] = -1.0 if here.temperature is None else here.temperature
            if child[node] >= 0:
                waiting.append((child[node], here))
        return True

    def find_jump_forward_string(self):
        return _whole_characters(self._going().forced_bytes())

    def find_jump_forward_tokens(self):
        """Tokens of the text that must follow: each the longest that fits, without the last one if
        a longer token begins with it. Empty where the text may end.
        """
        if self.is_completed():
            return []
        forced = self._matcher.forced_bytes()
        tokens, ordered, longest = self._compiled.tokenizer_info.ordinary_tokens()
        found, at, text = [], 0, b""
        while text is not None:
            at += len(text)
            ends = range(min(len(forced), at + longest), at, -1)
            text = next((forced[at:end] for end in ends if forced[at:end] in tokens), None)
            found.append(text)
        found.pop()
        if found:
            after = bisect.bisect_right(ordered, found[-1])
            if after < len(ordered) and ordered[after].startswith(found[-1]):
                found.pop()
        return [tokens[text] for text in found]

    def rollback(self, num_tokens=1):
        count = max(num_tokens, 0)
        if self._stopped and count:
            self._stopped = False
            count -= 1
        self._matcher.rollback(count)
        del self._steps[len(self._steps) - count :]

    def get_captures(self, *, deduplicate=True):
        """(name, bytes) of each rule with [capture] that is over, in the order of the text. There
        is one for each occurrence, whatever `deduplicate` says.
        """
        try:
            parser = _core.Parser(self._compiled.turnstile_grammar)
        except TurnstileError:
            return []  # nothing in the grammar is captured
        for step in self._steps:
            if not isinstance(step, int):
                parser.text(step)
            elif not self._compiled.tokenizer_info.vocab.is_eog(step):
                parser.token(step)
        parser.finish()
        return [
            (tag["begin"], tag["content"].encode()) for tag in json.loads(parser.json())["tags"]
        ]

    def is_completed(self):
        return self._stopped or self._matcher.is_complete or self._matcher.is_terminated

    def is_terminated(self):
        if self._at_once:
            return self.is_completed()
        return self._stopped or self._matcher.is_terminated

    def reset(self):
        self._matcher.reset()
        self._stopped = False
        self._steps = []

    def fork(self):
        fork = GrammarMatcher.__new__(GrammarMatcher)
        fork.__dict__.update(self.__dict__, _matcher=self._matcher.fork(), _steps=list(self._steps))
        return fork

    @property
    def max_rollback_tokens(self):
        return -1

    @property
    def temperature(self):
        """What the matcher was made with. What a rule asks for is in the grammar's report."""
        return self._temperature

    @property
    def stop_token_ids(self):
        return sorted(self._stops) or self._compiled.tokenizer_info.stop_token_ids


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
        for row, matcher in zip(range(len(matchers)) if indices is None else indices, matchers):
            matcher._set_stops(bitmask, row)

    @staticmethod
    def batch_fill_temperature(matchers, temperatures, indices=None):
        """-1 for a matcher without one."""
        rows = range(len(matchers)) if indices is None else indices
        for row, matcher in _pairs(rows, matchers):
            temperatures[row] = -1.0 if matcher.temperature is None else matcher.temperature

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
    from turnstile import tensors

    return tensors.allocate(batch_size, vocab_size)


def reset_token_bitmask(bitmask):
    bitmask.fill_(-1)


def apply_token_bitmask_inplace(logits, bitmask, *, vocab_size=None, indices=None, backend="auto"):
    """Rows `indices` of `logits` (all of them by default) under the rows of the same number of
    `bitmask`. `backend` has no meaning here.
    """
    from turnstile import tensors

    logits = logits if logits.dim() == 2 else logits.unsqueeze(0)
    bitmask = bitmask if bitmask.dim() == 2 else bitmask.unsqueeze(0)
    view = logits[:, : bitmask.shape[1] * 32 if vocab_size is None else vocab_size]
    rows = None if indices is None else [int(row) for row in indices]
    tensors.apply_(view, bitmask if rows is None else bitmask[rows], rows)
