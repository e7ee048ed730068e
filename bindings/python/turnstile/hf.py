"""Hugging Face transformers: a logits processor for `generate()`.

    processor = turnstile.hf.LogitsProcessor(grammar)
    model.generate(**inputs, logits_processor=[processor])

Beam search reorders, copies and drops rows between two steps without telling anybody. A matcher per
row would go wrong there. So rows are followed by what is written in them. The tokens after the
prompt are the key under which the matcher of the step before is found. Some rows have a token in
their history that was nobody's choice. Beam search keeps a beam of probability zero where a grammar
allows fewer tokens than there are beams. A stop string, which is no end of the grammar's, is
followed by padding. Such a row is dead. Only the tokens that end a generation are left to it, with
finite scores, because sampling fails on a row without any. A beam of probability zero stays one.

SPDX-License-Identifier: Apache-2.0
"""

import torch
import transformers

from turnstile import _core, tensors
from turnstile.errors import StateError
from turnstile.grammar import some_grammars
from turnstile.vocab import Vocab

__all__ = ["LogitsProcessor", "vocab_of"]


def vocab_of(tokenizer, model):
    """The vocabulary of a tokenizer, as large as the model's logits, or larger where the tokenizer
    has more tokens. Its end tokens are those that end the model's generations.
    """
    config = model.config.get_text_config()
    return Vocab.from_transformers(
        tokenizer,
        logits_width=max(config.vocab_size, len(tokenizer)),
        eog=model.generation_config.eos_token_id,
    )


class LogitsProcessor(transformers.LogitsProcessor):
    """Constrains one `generate()` call: greedy, sampling, beams, batches of unequal prompts (padded
    on the left, as generate() wants them).

    grammars    a Grammar for all prompts, or a sequence with one Grammar or None (unconstrained)
                per prompt
    max_tokens  every text is complete within so many tokens (give generate() the same
                max_new_tokens): what could not be ended in time is not allowed. LimitError at the
                first step if no text is that short. None: texts may be cut off by max_new_tokens
    loop_repeats  after so many equal copies of the same tokens at the end of an answer the next
                copy is not begun, where another token is allowed (turnstile.find_loop); 0: off

    Use one processor per call of generate(), or reset() in between. Scores are not changed in
    place.
    """

    def __init__(self, grammars, max_tokens=None, loop_repeats=0):
        if loop_repeats == 1 or loop_repeats < 0:
            raise ValueError("loop_repeats: 0, or 2 and more")
        self._repeats = loop_repeats
        self._grammars = some_grammars(grammars, "LogitsProcessor: grammars")
        self._max_tokens = max_tokens
        self._budgets = (
            {}
            if max_tokens is None
            else {
                grammar: _core.Budget(grammar) for grammar in self._grammars if grammar is not None
            }
        )
        self.reset()

    def reset(self):
        """Forget the generation so far; the next call begins one."""
        self._start = None
        self._width = 0
        self._matchers = {}

    def __call__(self, input_ids, scores):
        if self._start is None:
            self._start = input_ids.shape[1]
        elif input_ids.shape[1] != self._width + 1:
            raise StateError(
                "this is not the next step of the generation that the processor follows; use a "
                "new one, or reset()"
            )
        self._width = input_ids.shape[1]
        histories = input_ids[:, self._start :].cpu().numpy()
        rows = self._follow(histories)
        masked = self._mask(rows, scores)
        if self._repeats:
            self._guard(histories, rows, masked)
        return masked

    def _guard(self, histories, rows, masked):
        """The token that would go on with a loop is forbidden, where another one is left."""
        for i, history in enumerate(histories):
            if not rows[i] or rows[i].is_terminated:
                continue  # what follows the end is not looked at
            found = _core.find_loop(history.tolist(), self._repeats)
            if found:
                kept = masked[i, found[1]].clone()
                masked[i, found[1]] = -torch.inf
                if not torch.isfinite(masked[i]).any():
                    masked[i, found[1]] = kept

    def _prompt_of(self, row, rows):
        """The prompt that a row belongs to; generate() keeps the rows of a prompt together."""
        if len(self._grammars) == 1:
            return 0
        if rows % len(self._grammars):
            raise ValueError(f"{len(self._grammars)} grammars for {rows} rows")
        return row * len(self._grammars) // rows

    def _follow(self, histories):
        """A matcher per row, or None where anything goes, or False for a dead row."""
        found, rows = {}, []
        for row, history in enumerate(histories):
            prompt = self._prompt_of(row, len(histories))
            key = prompt, history.tobytes()
            if key not in found:
                found[key] = self._step(prompt, history)
            rows.append(found[key])
        self._matchers = found
        return rows

    def _step(self, prompt, history):
        grammar = self._grammars[prompt]
        if grammar is None:
            return None
        if len(history) == 0:
            matcher = _core.Matcher(grammar)
            if self._budgets:
                self._budgets[grammar].start(matcher, self._max_tokens)
            return matcher
        before = self._matchers.get((prompt, history[:-1].tobytes()), False)
        if not before:
            return False
        if before.is_terminated:
            return before  # generate() pads what has ended
        after = before.fork()
        return after if after.accept(int(history[-1])) else False

    def _mask(self, rows, scores):
        width = scores.shape[-1]
        masks = tensors.allocate(
            len(rows),
            max([width] + [row.grammar.vocab.logits_width for row in rows if row]),
            pin=scores.is_cuda,
        )
        first = {}  # rows with the same text share a matcher
        for i, row in enumerate(rows):
            if row is False:
                masks[i].zero_()
            elif row is not None and not row.is_terminated:
                first.setdefault(row, i)
        if self._budgets:
            left = self._max_tokens - (self._width - self._start)
            for row, i in first.items():
                self._budgets[row.grammar].mask(row, left, masks, i)
        else:
            _core.fill_batch(list(first), masks, list(first.values()))
        for i, row in enumerate(rows):
            if row in first and first[row] != i:
                masks[i].copy_(masks[first[row]])
        masked = tensors.apply_(scores.clone(memory_format=torch.contiguous_format), masks)
        for i, row in enumerate(rows):
            if row is False:
                ends = self._grammars[self._prompt_of(i, len(rows))].vocab.eog_tokens
                masked[i, [token for token in ends if token < width]] = 0.0
        return masked
