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


_CLASSES = {"d": "0-9", "w": "0-9a-zA-Z_", "s": r" \t\n\r\f\v"}


def regex_to_lark(regex: str, use_ascii: str = "d") -> str:
    r"""The pattern as it stands between slashes in Lark. The classes that `use_ascii` names are
    written out: `\d` as `[0-9]`, `\D` as `[^0-9]`. Within brackets `\D` stays as it is.
    """
    out, at, inside = [], 0, False
    while at < len(regex):
        piece = regex[at : at + 2] if regex[at] == "\\" else regex[at]
        kind = piece[1:].lower() if len(piece) == 2 else ""
        at += len(piece)
        if kind and kind in use_ascii and kind in _CLASSES:
            negated = piece[1].isupper()
            if not inside:
                piece = f"[{'^' if negated else ''}{_CLASSES[kind]}]"
            elif not negated:
                piece = _CLASSES[kind]
        inside = piece == "[" or (inside and piece != "]")
        out.append("\\/" if piece == "/" else piece)
    return "".join(out)


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
