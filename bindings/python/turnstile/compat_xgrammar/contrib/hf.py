"""xgrammar.contrib.hf: a logits processor for transformers.

SPDX-License-Identifier: Apache-2.0
"""

from turnstile import hf

__all__ = ["LogitsProcessor"]


class LogitsProcessor(hf.LogitsProcessor):
    """turnstile.hf.LogitsProcessor, of one CompiledGrammar or a list of them. Unlike XGrammar's it
    follows beam search.
    """

    def __init__(self, compiled_grammar):
        many = isinstance(compiled_grammar, (list, tuple))
        grammars = list(compiled_grammar) if many else [compiled_grammar]
        own = [compiled.turnstile_grammar for compiled in grammars]
        super().__init__(own if len(own) > 1 else own[0])
