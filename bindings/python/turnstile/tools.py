"""Requests as servers get them: what one constrains (Grammar.request), and a request with tools and
a family of models: the grammar of its answers, and answers read back. And the lint: what in a
schema makes models worse, or costs tokens.

SPDX-License-Identifier: Apache-2.0
"""

import json
from typing import NamedTuple

from turnstile._core import Parser, _find_template, _lint
from turnstile.errors import GrammarError, UnsupportedError
from turnstile.grammar import Grammar

__all__ = ["Finding", "Tools", "lint", "lint_fix"]


class Tools:
    """What a model may answer to a request with tools.

    tools = Tools(vocab, request, preset="qwen3")
    tools.grammar                     the grammar: its matchers make masks
    tools.read(text)                  an answer read back; ValueError where it does not match
    tools.read(text, lenient=True)    the same of an answer that nobody constrained: no error

    The options are those of Grammar.tools.
    """

    def __init__(self, vocab, request, *, preset, **options):
        self._of = (vocab, request)
        self._options = {"preset": preset, **options}
        self.grammar = Grammar.tools(vocab, request, **self._options)
        self._mending = None

    @staticmethod
    def from_template(text):
        """The preset that goes with a chat template, and others that share markup with it.

        text     Jinja, or a tokenizer_config.json that has a chat_template
        returns  (name, [names]); the name is None where no preset is known to read what the model
                 writes
        """
        return _find_template(text)

    def parser(self, lenient=False):
        """A Parser: text or tokens in, parts out. A lenient one refuses nothing."""
        if lenient and self._mending is None:
            options = {"over": self.grammar, **self._options}
            self._mending = Grammar.tools(*self._of, lenient=True, **options)
        return Parser(self._mending if lenient else self.grammar)

    def read(self, text, *, lenient=False):
        """An answer, as a dict: "content", "reasoning", "calls" and "tags".

        With `lenient` answers are mended that do not match. Such a one has "repairs" besides, as
        each of its calls has: a list of {"repair", "at"}, `at` being a byte of the answer. An
        answer that matches reads the same either way.
        """
        parser = self.parser(lenient)
        if not parser.text(text):
            read = 0
            text = text.encode() if isinstance(text, str) else bytes(text)
            while parser.text(text[read : read + 1]):
                read += 1
            raise ValueError(
                f"the answer does not match from byte {read} on: lenient=True reads it all the same"
            )
        if not parser.finish():
            raise ValueError("the answer is not complete: lenient=True reads it all the same")
        return json.loads(parser.json())


# ---- the constraint of a request -----------------------------------------------------------------

# Members of vLLM's structured_outputs that have no bearing on which texts there are.
_NO_BEARING = {"disable_fallback", "backend", "backend_was_auto"}
_KINDS = ("json", "regex", "choice", "grammar", "json_object", "structural_tag")


def _member(value, name, pointer, kind):
    if not isinstance(value, dict) or not isinstance(value.get(name), kind):
        raise GrammarError(f"a member {name!r} is missing, or of another type", "", pointer)
    return value[name]


def _of_format(value, pointer):
    """OpenAI's response_format, and `format` of the Responses API."""
    kind = _member(value, "type", pointer, str)
    if kind == "text":
        return None
    if kind == "json_object":
        return "json_object", True, pointer
    if kind == "json_schema":
        inner, at = value, pointer
        if "json_schema" in value:
            inner, at = value["json_schema"], f"{pointer}/json_schema"
        return "json", _member(inner, "schema", at, (dict, bool, str)), f"{at}/schema"
    if kind == "structural_tag":
        return "structural_tag", value, pointer
    raise UnsupportedError(f"there is no response format {kind!r} here", "", f"{pointer}/type")


def _of_structured(value, pointer):
    """vLLM's structured_outputs: kinds by name, and options."""
    if not isinstance(value, dict):
        raise GrammarError("structured_outputs is an object", "", pointer)
    for name, one in value.items():
        at = f"{pointer}/{name}"
        if one is None or one is False or name in _NO_BEARING or name == "disable_any_whitespace":
            continue
        if name not in _KINDS:
            raise UnsupportedError(f"structured_outputs has no {name!r} here", "", at)
        yield name, one, at


def _constraints(body):
    """Each constraint of a request: (kind, value, pointer)."""
    sampling = body.get("sampling_params")
    places = [("", body)] + ([("/sampling_params", sampling)] if isinstance(sampling, dict) else [])
    if body.get("response_format") is not None:
        yield _of_format(body["response_format"], "/response_format")
    if isinstance(body.get("text"), dict) and body["text"].get("format") is not None:
        yield _of_format(body["text"]["format"], "/text/format")
    if isinstance(body.get("format"), dict):
        yield "json", body["format"], "/format"
    elif body.get("format") == "json":
        yield "json_object", True, "/format"
    elif body.get("format"):
        raise GrammarError('format is "json" or a schema', "", "/format")
    if body.get("structured_outputs") is not None:
        yield from _of_structured(body["structured_outputs"], "/structured_outputs")
    for kind in _KINDS[:4]:
        if body.get(f"guided_{kind}") is not None:
            yield kind, body[f"guided_{kind}"], f"/guided_{kind}"
    for pointer, place in places:
        for name, kind in [
            ("json_schema", "json"),
            ("regex", "regex"),
            ("ebnf", "ebnf"),
            ("grammar", "gbnf"),
            ("structural_tag", "structural_tag"),
        ]:
            if place.get(name) not in (None, "", {}):
                yield kind, place[name], f"{pointer}/{name}"


def _compact(body):
    inner = body.get("structured_outputs")
    return isinstance(inner, dict) and bool(inner.get("disable_any_whitespace"))


def ebnf_or_lark(vocab, text, **options):
    """A grammar as vLLM takes them: EBNF where the text has `::=`, Lark without it."""
    return (Grammar.ebnf if "::=" in text else Grammar.lark)(vocab, text, **options)


def grammar_of_request(vocab, body, options):
    """Grammar.request, with its options as a dict."""
    if isinstance(body, (str, bytes)):
        try:
            body = json.loads(body)
        except ValueError as error:
            raise GrammarError(f"not JSON: {error}", "TSL_ERR_SYNTAX") from error
    if not isinstance(body, dict):
        raise GrammarError("a request is a JSON object", "TSL_ERR_SYNTAX")
    if body.get("grammar_lazy"):
        raise UnsupportedError(
            "a grammar that begins at a trigger is not supported: use a structural tag with "
            "triggers",
            "",
            "/grammar_lazy",
        )
    if body.get("tools") and body.get("tool_choice") != "none":
        raise UnsupportedError(
            "a request with tools needs the format of a model's calls: use Grammar.tools with a "
            "preset",
            "",
            "/tools",
        )
    found = [one for one in _constraints(body) if one is not None]
    if len(found) != 1:
        places = " and ".join(pointer for _, _, pointer in found)
        raise GrammarError(
            f"the request has more than one constraint: {places}"
            if found
            else "the request constrains nothing: it has none of response_format, text.format, "
            "structured_outputs, json_schema, regex, ebnf, grammar, structural_tag and format"
        )
    kind, value, pointer = found[0]
    if _compact(body):
        options = {"whitespace": "compact", **options}
    makers = {
        "json": (Grammar.json_schema, (dict, bool, str)),
        "json_object": (lambda v, _, **more: Grammar.json_object(v, **more), bool),
        "regex": (Grammar.regex, str),
        "choice": (Grammar.choice, list),
        "grammar": (ebnf_or_lark, str),
        "gbnf": (Grammar.gbnf, str),
        "ebnf": (Grammar.ebnf, str),
        "structural_tag": (Grammar.tags, (dict, str)),
    }
    make, types = makers[kind]
    if not isinstance(value, types):
        raise GrammarError(f"a value of another type is needed for {kind}", "", pointer)
    try:
        return make(vocab, value, **options)
    except GrammarError as error:
        error.pointer = pointer + error.pointer
        if not isinstance(value, str):  # places in a text that the caller has never seen
            error.offset = error.line = error.column = 0
        raise


# ---- lint


class Finding(NamedTuple):
    """One thing that `lint` found.

    rule      such as "answer-first"; docs/lint.md explains each
    severity  "mistake", "quality" or "cost"
    pointer   JSON pointer into the schema, "" for all of it
    message   what is wrong there
    why       why that matters
    mended    whether the mended schema has it no more
    """

    rule: str
    severity: str
    pointer: str
    message: str
    why: str
    mended: bool

    def __str__(self):
        return f"{self.rule} {self.pointer or '(root)'}: {self.message}"


def _schema_text(schema):
    if isinstance(schema, (bytes, bytearray)):
        return bytes(schema).decode()
    if hasattr(schema, "model_json_schema"):
        schema = schema.model_json_schema()
    return schema if isinstance(schema, str) else json.dumps(schema, ensure_ascii=False)


def _rules(rules):
    return rules if isinstance(rules, str) else ",".join(rules)


def lint(schema, *, rules=()):
    """The findings in a schema: a list of `Finding`, in the order of the text.

    `schema` is a dict, a JSON text or a pydantic model; or a request with tools or a response
    format, whose schemas are looked at. `rules` names those that are tried, or, each with a `-`
    before its name, those that are not. ArgumentError: there is no such rule.
    """
    found, _ = _lint(_schema_text(schema), _rules(rules), False, False)
    return [Finding(*row) for row in found]


def lint_fix(schema, *, rules=(), bounds=False):
    """A pair: the mended schema as Python objects, and the findings.

    `bounds` gives wide bounds to what has no end. The mended schema may allow other values.
    """
    found, mended = _lint(_schema_text(schema), _rules(rules), True, bounds)
    return json.loads(mended), [Finding(*row) for row in found]
