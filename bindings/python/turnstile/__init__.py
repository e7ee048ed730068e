"""Turnstile: masks over a model's tokens, so that what it writes is valid.

    import turnstile

    vocab = turnstile.Vocab.from_file("tokenizer.json")
    grammar = turnstile.Grammar.json_schema(vocab, {"type": "integer", "minimum": 18})
    matcher = turnstile.Matcher(grammar)
    mask = bytearray(4 * vocab.mask_words)      # or a NumPy array, or a torch tensor
    matcher.mask(mask)                          # which tokens may come next
    matcher.accept(token)                       # the one that was chosen

A mask has one bit per token: token i is bit i % 32 of 32-bit word i // 32; set = allowed. A
vocabulary and a grammar may be used by any number of threads at once, a matcher and a sampler by
one at a time. For hosts: turnstile.hf, turnstile.vllm, turnstile.sglang; in place of other
libraries' calls: turnstile.compat_llguidance, turnstile.compat_xgrammar.

SPDX-License-Identifier: Apache-2.0
"""

from turnstile._core import (
    Align,
    Budget,
    Cache,
    Cancel,
    Compile,
    Events,
    MaskTable,
    Matcher,
    Parser,
    Sampler,
    Threads,
    apply_mask,
    beam_search,
    count_mask,
    draft_forced,
    fill_batch,
    find_loop,
    guide_classifier_free,
    guide_contrastive,
    mask_drafts,
    measure_step,
    score_all,
    speculate,
    tool_presets,
)
from turnstile._core import version as __version__
from turnstile.errors import (
    ArgumentError,
    CancelledError,
    FileError,
    FormatError,
    GrammarError,
    LimitError,
    LogitsError,
    StateError,
    TurnstileError,
    UnsupportedError,
)
from turnstile.grammar import Grammar, score_mean, write_tools
from turnstile.tools import Finding, Tools, lint, lint_fix
from turnstile.vocab import Vocab

__all__ = [
    "Align",
    "ArgumentError",
    "Budget",
    "Cache",
    "Cancel",
    "CancelledError",
    "Compile",
    "Events",
    "FileError",
    "Finding",
    "FormatError",
    "Grammar",
    "GrammarError",
    "LimitError",
    "LogitsError",
    "MaskTable",
    "Matcher",
    "Parser",
    "Sampler",
    "StateError",
    "Threads",
    "Tools",
    "TurnstileError",
    "UnsupportedError",
    "Vocab",
    "__version__",
    "apply_mask",
    "beam_search",
    "count_mask",
    "draft_forced",
    "fill_batch",
    "find_loop",
    "guide_classifier_free",
    "guide_contrastive",
    "lint",
    "lint_fix",
    "mask_drafts",
    "measure_step",
    "score_all",
    "score_mean",
    "speculate",
    "tool_presets",
    "write_tools",
]
