"""llguidance's grammar_from, and its older compilers.

SPDX-License-Identifier: Apache-2.0
"""

import json
from typing import Any, Optional, Tuple

from turnstile.compat_llguidance.matcher import LLMatcher


def grammar_from(format: str, text: Any) -> str:
    """A grammar of that format, for LLMatcher. The formats are "lark", "json_schema", "json",
    "regex", "choice" (a list of strings, or its JSON) and "llguidance" (a list of grammars).
    "gbnf", "ebnf", "cfg" and "grammar" are GBNF where the text has `::=`, else Lark.
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
        if "::=" not in text:
            return LLMatcher.grammar_from_lark(text)
        return json.dumps({"turnstile": "gbnf", "text": text})
    if format == "llguidance":
        return str(text)
    raise ValueError(f"Unknown grammar type: {format}")


def _checked(grammar: str, check: bool) -> str:
    error = LLMatcher.validate_grammar(grammar) if check else ""
    if error:
        raise ValueError(error)
    return grammar


class JsonCompiler:
    def __init__(
        self,
        separators: Optional[Tuple[str, str]] = None,
        whitespace_flexible: bool = False,
        coerce_one_of: bool = False,
        whitespace_pattern: Optional[str] = None,
    ) -> None:
        self._options = {
            "item_separator": separators[0] if separators else None,
            "key_separator": separators[1] if separators else None,
            "whitespace_flexible": whitespace_flexible,
            "coerce_one_of": coerce_one_of,
            "whitespace_pattern": whitespace_pattern,
        }

    def compile(self, schema: str, check: bool = True) -> str:
        grammar = LLMatcher.grammar_from_json_schema(schema, overrides=self._options)
        return _checked(grammar, check)


class LarkCompiler:
    def compile(self, lark: str, check: bool = True) -> str:
        return _checked(LLMatcher.grammar_from_lark(lark), check)


class RegexCompiler:
    def compile(self, regex: str, check: bool = True) -> str:
        return _checked(LLMatcher.grammar_from_regex(regex), check)
