"""llguidance's calls over Turnstile: a host switches by its import.

    import turnstile.compat_llguidance as llguidance

    tokenizer = llguidance.LLTokenizer("tokenizer.json", n_vocab=128512, eos_token=128009)
    grammar = llguidance.LLMatcher.grammar_from_json_schema(schema)
    matcher = llguidance.LLMatcher(tokenizer, grammar)

A program whose imports cannot be changed calls, before they are run,

    turnstile.compat_llguidance.stand_in()

after which `import llguidance` and its modules are these. docs/switch.md lists what there is not:
the modules mlx, llamacpp, gbnf_to_lark and cli. As with llguidance, a grammar that is refused gives
a matcher in error, whose get_error() says why. Such a matcher takes no tokens but the
end-of-sequence ones, which its mask has alone.

Where it differs: what a Lark grammar means is in docs/lark.md. Masks are Turnstile's, that is
exact. Of a schema's options whitespace_flexible and an empty whitespace_pattern count;
coerce_one_of and lenient have no meaning, as all keywords are exact; others are refused. Slices and
LLParserLimits have no meaning. A grammar that has ended by an end-of-sequence token is complete
again after a rollback of it. compute_ff_tokens leaves out the last token of the forced bytes. Text
of special tokens is encoded as text, unless parse_special is given. compute_bitmask has mask_words
words; negative tokens and counts are ValueError.

SPDX-License-Identifier: Apache-2.0
"""

import importlib

from turnstile import _core
from turnstile.compat_llguidance.grammar_from import (
    JsonCompiler,
    LarkCompiler,
    RegexCompiler,
    grammar_from,
    regex_to_lark,
)
from turnstile.compat_llguidance.hf import from_tokenizer
from turnstile.compat_llguidance.matcher import LLExecutor, LLInterpreter, LLMatcher, LLParserLimits
from turnstile.compat_llguidance.struct_tag import StructTag
from turnstile.compat_llguidance.tokenizer import LLTokenizer, TokenizerWrapper
from turnstile.compat_llguidance.torch import (
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    fill_next_token_bitmask,
)
from turnstile.stand_in import stand_in as _stand_in

__all__ = [
    "JsonCompiler",
    "LLExecutor",
    "LLInterpreter",
    "LLMatcher",
    "LLParserLimits",
    "LLTokenizer",
    "LarkCompiler",
    "RegexCompiler",
    "StructTag",
    "TokenizerWrapper",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "fill_next_token_bitmask",
    "from_tokenizer",
    "get_version",
    "grammar_from",
    "regex_to_lark",
    "stand_in",
]

__version__ = _core.version
GrammarFormat = str


def get_version():
    """The version of Turnstile, and that it is no llguidance."""
    return f"turnstile {_core.version}"


def __getattr__(name):
    if name in ("numpy", "tiktoken"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def stand_in():
    """From here on `import llguidance` gives this package, in this process. RuntimeError if
    llguidance has been imported already.
    """
    _stand_in("llguidance", __name__, ("hf", "numpy", "tiktoken", "torch"))
