"""XGrammar's calls over Turnstile: a host switches by its import.

    import turnstile.compat_xgrammar as xgrammar

    info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
    compiled = xgrammar.GrammarCompiler(info).compile_json_schema(schema)
    matcher = xgrammar.GrammarMatcher(compiled)

A program whose imports cannot be changed calls, before they are run,

    turnstile.compat_xgrammar.stand_in()

after which `import xgrammar` and its modules are these. docs/switch.md lists what there is not:
captures and temperatures of matchers, EBNF of a JSON Schema, and parts of `testing`. EBNF is as
docs/ebnf.md says, Lark as docs/lark.md. What XGrammar raises as RuntimeError is one here too.

Where it differs: masks are Turnstile's, that is exact. `strict_mode` closes objects and arrays that
list their members (unevaluatedProperties and unevaluatedItems false) where the schema says nothing
of others. Parts of an allOf stay open, because only the whole can be closed. Of indent and
separators, those that Turnstile writes are accepted (any_whitespace; compact; indent with (",", ":
")), and others refused. In regular expressions of compile_regex "." is any character, as with
XGrammar; in those of structural tags it is no end of a line. Rollbacks reach back 4,096 tokens.
What can't be rolled back is StateError (a RuntimeError). Rows or shapes that do not fit are
ValueError or IndexError. An empty string is no step of its own. Masks may be wider than the
vocabulary, what is past it being cleared, and no matcher or row may come twice in a batch. Where
the forced bytes end inside a character, the whole ones before are the jump-forward string; where
they begin inside one, it is empty. vocab_type and special_token_ids of from_huggingface are
Turnstile's own view of the tokenizer. What serialize_json writes is read here alone.

SPDX-License-Identifier: Apache-2.0
"""

import importlib

from turnstile.compat_xgrammar import exception, testing
from turnstile.compat_xgrammar.compiler import CompiledGrammar, GrammarCompiler
from turnstile.compat_xgrammar.config import (
    get_max_recursion_depth,
    get_serialization_version,
    max_recursion_depth,
    set_max_recursion_depth,
)
from turnstile.compat_xgrammar.exception import (
    DeserializeFormatError,
    DeserializeVersionError,
    InvalidJSONError,
    InvalidStructuralTagError,
    RefusedError,
)
from turnstile.compat_xgrammar.grammar import Grammar
from turnstile.compat_xgrammar.matcher import (
    BatchGrammarMatcher,
    GrammarMatcher,
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    get_bitmask_shape,
    reset_token_bitmask,
)
from turnstile.compat_xgrammar.tokenizer_info import TokenizerInfo, VocabType
from turnstile.stand_in import stand_in as _stand_in

# What needs pydantic, torch or transformers comes when it is named.
_LATER = {
    "StructuralTag": "structural_tag",
    "StructuralTagItem": "structural_tag",
    "get_builtin_structural_tag": "builtin_structural_tag",
    "get_model_structural_tag": "builtin_structural_tag",
    "normalize_tool_choice": "builtin_structural_tag",
    "register_model_structural_tag": "builtin_structural_tag",
}
_MODULES = (
    "builtin_structural_tag",
    "compiler",
    "config",
    "contrib",
    "contrib.hf",
    "exception",
    "grammar",
    "matcher",
    "openai_tool_call_schema",
    "structural_tag",
    "testing",
    "tokenizer_info",
)

__all__ = [
    "BatchGrammarMatcher",
    "CompiledGrammar",
    "DeserializeFormatError",
    "DeserializeVersionError",
    "Grammar",
    "GrammarCompiler",
    "GrammarMatcher",
    "InvalidJSONError",
    "InvalidStructuralTagError",
    "RefusedError",
    "TokenizerInfo",
    "VocabType",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "exception",
    "get_bitmask_shape",
    "get_max_recursion_depth",
    "get_serialization_version",
    "max_recursion_depth",
    "reset_token_bitmask",
    "set_max_recursion_depth",
    "stand_in",
    "testing",
    *_LATER,
]


def __getattr__(name):
    if name in _LATER:
        return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    if name == "bitmask_dtype":
        return importlib.import_module("torch").int32
    if name == "hf":
        return importlib.import_module(f"{__name__}.contrib.hf")
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def stand_in():
    """From here on `import xgrammar` gives this package, in this process. RuntimeError if XGrammar
    has been imported already.
    """
    _stand_in("xgrammar", __name__, _MODULES)
