"""xgrammar.grammar: a grammar before it is compiled for a vocabulary.

Problem   XGrammar has grammars without a vocabulary. Turnstile compiles for one.
Idea      A Grammar here is its source: a kind and a text. What makes one compiles it for a small
          vocabulary, so that what is wrong is an error there. The compiler compiles it again.
Example   Grammar.from_regex("a+") holds ("regex", "a+"); str() of it is root ::= Regex("a+").
Of JSON   A JSON Schema has no EBNF here. str() gives a line that begins with %turnstile. Stand-in
          and structural tags read it, and nothing else does.

SPDX-License-Identifier: Apache-2.0
"""

import functools
import json

from turnstile.compat_xgrammar.closed import closed, closed_tags, item_of, schema_of
from turnstile.compat_xgrammar.config import get_serialization_version
from turnstile.compat_xgrammar.exception import (
    DeserializeFormatError,
    InvalidJSONError,
    InvalidStructuralTagError,
    RefusedError,
)
from turnstile.compat_xgrammar.tokenizer_info import read_stored
from turnstile.errors import GrammarError, LimitError, UnsupportedError
from turnstile.grammar import Grammar as _Grammar
from turnstile.vocab import Vocab

__all__ = ["Grammar"]

_MARK = "%turnstile "


class Grammar:
    """A kind ("ebnf", "lark", "regex", "json_schema", "tags"), a text, and options of the call of
    that name of turnstile.Grammar.
    """

    def __init__(self, kind, text, **options):
        self._source = (kind, text, options)

    @classmethod
    def _checked(cls, kind, text, vocab=None, **options):
        """One whose text is known to compile, but for the tokens that it names."""
        self = cls(kind, text, **options)
        try:
            self.compile(vocab or _small_vocab())
        except RefusedError as error:
            if vocab or "vocabulary" not in error.message:
                raise
        return self

    @staticmethod
    def from_ebnf(ebnf_string, *, root_rule_name="root"):
        if ebnf_string.startswith(_MARK):
            return _unmarked(ebnf_string)
        return Grammar._checked("ebnf", ebnf_string, root=root_rule_name)

    @staticmethod
    def from_regex(regex_string, *, print_converted_ebnf=False):
        grammar = Grammar._checked("regex", regex_string, dot_all=True)
        if print_converted_ebnf:
            print(grammar)
        return grammar

    @staticmethod
    def from_lark(lark_string, *, tokenizer_info=None, named_grammars=None):
        """`named_grammars`: a dict of Lark texts, or of grammars made of Lark texts or schemas."""
        vocab = tokenizer_info.vocab if tokenizer_info else None
        return Grammar._checked("lark", with_names(lark_string, named_grammars), vocab)

    @staticmethod
    def from_json_schema(
        schema,
        *,
        any_whitespace=True,
        indent=None,
        separators=None,
        strict_mode=True,
        max_whitespace_cnt=None,
        print_converted_ebnf=False,
        any_order=False,
    ):
        """`print_converted_ebnf` prints str() of the grammar, which is no EBNF."""
        schema = schema_of(schema, "the schema")
        grammar = Grammar._checked(
            "json_schema",
            json.dumps(closed(schema) if strict_mode else schema),
            order="any" if any_order else "schema",
            **style_of(any_whitespace, indent, separators, max_whitespace_cnt),
        )
        if print_converted_ebnf:
            print(grammar)
        return grammar

    @staticmethod
    def from_structural_tag(*args, **kwargs):
        """A structural tag; or, as of old, items and triggers."""
        return Grammar._checked("tags", json.dumps(tag_of(*args, **kwargs)))

    @staticmethod
    def builtin_json_grammar():
        return Grammar("json_schema", '{"type": ["object", "array"]}', whitespace="any")

    @staticmethod
    def concat(*grammars):
        return Grammar._joined("sequence", grammars)

    @staticmethod
    def union(*grammars):
        return Grammar._joined("or", grammars)

    @staticmethod
    def _joined(how, grammars):
        elements = [grammar._format() for grammar in grammars]
        return Grammar._checked("tags", json.dumps({"type": how, "elements": elements}))

    def _format(self):
        """As a format of structural tags."""
        kind, text, options = self._source
        if kind == "json_schema":
            return {"type": "json_schema", "json_schema": json.loads(text)}
        if kind == "regex":
            return {"type": "regex", "pattern": f"(?s:{text})"}
        if kind == "tags":
            tag = json.loads(text)
            return tag["format"] if tag.get("type") == "structural_tag" else tag
        if kind == "ebnf" and options["root"] == "root":
            return {"type": "grammar", "grammar": text}
        raise UnsupportedError(f"a grammar of {kind} is no part of another one here")

    def __str__(self):
        kind, text, options = self._source
        if kind == "ebnf" and options["root"] == "root":
            return text
        if kind == "regex":
            return f"root ::= Regex({json.dumps(text)})\n"
        return _MARK + json.dumps({"kind": kind, "text": text, "options": options})

    def compile(self, vocab):
        """A turnstile.Grammar of a vocabulary. RefusedError, a RuntimeError: what is wrong."""
        kind, text, options = self._source
        try:
            return getattr(_Grammar, kind)(vocab, text, **options)
        except (GrammarError, LimitError) as error:
            refused = InvalidStructuralTagError if kind == "tags" else RefusedError
            raise refused(*error.__reduce__()[1]) from error

    def serialize_json(self):
        kind, text, options = self._source
        return json.dumps(
            {
                "__VERSION__": get_serialization_version(),
                "kind": kind,
                "text": text,
                "options": options,
            }
        )

    @staticmethod
    def deserialize_json(json_string):
        stored = read_stored(json_string, ("kind", "text", "options"))
        if stored["kind"] not in ("ebnf", "lark", "regex", "json_schema", "tags"):
            raise DeserializeFormatError(f"there is no kind of grammar {stored['kind']!r}")
        return Grammar(stored["kind"], stored["text"], **stored["options"])


@functools.lru_cache(maxsize=1)
def _small_vocab():
    return Vocab.embedded()


def _unmarked(text):
    source = json.loads(text[len(_MARK) :])
    return Grammar(source["kind"], source["text"], **source["options"])


def with_names(text, grammars):
    """A Lark text beside the grammars that it names: llguidance's list of grammars."""
    if not grammars:
        return text
    listed = [{"lark_grammar": text}]
    for name, grammar in grammars.items():
        kind, body, _ = grammar._source if isinstance(grammar, Grammar) else ("lark", grammar, {})
        if kind == "lark":
            listed.append({"name": name, "lark_grammar": body})
        elif kind == "json_schema":
            listed.append({"name": name, "json_schema": json.loads(body)})
        else:
            raise UnsupportedError(f"@{name}: a grammar of {kind} has no name in a Lark text here")
    return json.dumps({"grammars": listed})


def style_of(any_whitespace, indent, separators, most):
    """Options of turnstile.Grammar.json_schema for the way in which XGrammar writes JSON."""
    if any_whitespace:
        return {"whitespace": "any" if most is None else most}
    if indent is None and separators and tuple(separators) == (",", ":"):
        return {"whitespace": "compact"}
    if indent is not None and (separators is None or tuple(separators) == (",", ": ")):
        return {"whitespace": "pretty", "indent": indent}
    raise RefusedError(
        f"Turnstile does not write JSON with indent={indent} and separators={separators}"
    )


def tag_of(*args, **kwargs):
    """The structural tag of the arguments of from_structural_tag, as a dict. Its objects are
    closed, as by strict_mode.
    """
    if len(args) == 2 or "triggers" in kwargs:
        tags, triggers = args if len(args) == 2 else (kwargs["tags"], kwargs["triggers"])
        tag = {"structures": [item_of(item) for item in tags], "triggers": list(triggers)}
    elif len(args) + len(kwargs) == 1:
        tag = args[0] if args else kwargs["structural_tag"]
    else:
        raise TypeError("a structural tag is needed, or items and triggers")
    if hasattr(tag, "model_dump"):
        tag = tag.model_dump(mode="json", exclude_none=True)
    elif isinstance(tag, str):
        try:
            tag = json.loads(tag)
        except ValueError as error:
            raise InvalidJSONError(f"the structural tag is not JSON: {error}") from error
    return _with_grammars(closed_tags(tag))


def _with_grammars(part):
    """A structural tag in which a text that str() of a Grammar wrote is a format again."""
    if isinstance(part, list):
        return [_with_grammars(value) for value in part]
    if not isinstance(part, dict):
        return part
    text = part.get("grammar")
    if part.get("type") == "grammar" and isinstance(text, str) and text.startswith(_MARK):
        return _unmarked(text)._format()
    return {key: _with_grammars(value) for key, value in part.items()}
