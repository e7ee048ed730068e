"""Grammars: what a text may be, compiled against a vocabulary.

SPDX-License-Identifier: Apache-2.0
"""

import atexit
import enum
import functools
import json
import math
import os
import re

from turnstile import _core, types
from turnstile.errors import GrammarError, LimitError, UnsupportedError

_KINDS = {
    "json_schema": 0,
    "regex": 1,
    "gbnf": 2,
    "lark": 3,
    "ebnf": 4,
    "abnf": 5,
    "tags": 6,
    "tools": 7,
}
_ORDERS = {"schema": 0, "any": 1}
_SURROGATE = re.compile("[\ud800-\udfff]")
_DRAFTS = {"auto": 0, "3": 3, "4": 4, "6": 6, "7": 7, "2019-09": 2019, "2020-12": 2020}
atexit.register(_core._end_compiles)  # resolvers are called only while there is an interpreter


class Grammar(_core.Grammar):
    """A compiled grammar bound to a vocabulary. Immutable to its users, shared by threads;
    compiling lets other Python threads run.

    What every constructor takes (0: the default in brackets); reaching a limit raises LimitError:

    max_memory   bytes of the grammar's tables, at compile and after [256 MiB]
    max_stacks   parallel stacks of a matcher, for ambiguous grammars [4096]
    max_depth    nesting of the grammar's text [512]
    max_steps    work of one compile or one mask [4,000,000]
    deadline     seconds after which one compile, mask or token gives up with CancelledError [None,
                 math.inf: never]
    cancel       a Cancel, polled: CancelledError once it is set

    and all but tags and tools

    cache        a Cache, whose equal grammar, if it holds one, is given out in place of a new one.
                 Or the path of a folder of artifacts that processes share: one of them compiles,
                 the others map what it has written (docs/scale-out.md). Deadline and cancel then
                 end with the compile
    """

    _left_out = ""  # what tools() left out of schemas: lines of JSON
    _pointer = ""  # of the schema in the request that it came from

    @classmethod
    def json_schema(
        cls,
        vocab,
        schema,
        *,
        order="schema",
        whitespace="plain",
        indent=2,
        spelling="plain",
        generous=False,
        draft="auto",
        ignore_formats=False,
        assert_content=False,
        nullable=False,
        repeated_names=False,
        lazy=False,
        max_nesting=0,
        resolver=None,
        base_uri=None,
        **limits,
    ):
        """Compile a JSON Schema: JSON text as str or bytes, the schema as dict or bool, or a type
        as turnstile.types reads. GrammarError names the place of what JSON cannot hold in a dict
        (NaN, a lone surrogate). Objects of types that JSON does not have are json.dumps's
        TypeError.

        order           of the members of an object: "schema" (as listed in `properties`) or "any"
        whitespace      "plain": none, one space, or at most two line breaks and 64 columns of
                        indentation. A pair of ints: other bounds than these two. "compact": none.
                        "pretty": newlines and `indent` spaces. An int: at most so many characters
                        at each place. "any": all that JSON allows.
        spelling        "plain": numbers and strings as printers of JSON write them, integers
                        without fraction and exponent; or "any" that JSON allows
        generous        accept every JSON text of a valid value, for texts that others wrote: as
                        "any" for order, whitespace and spelling
        draft           "auto" (by $schema), "3", "4", "6", "7", "2019-09" or "2020-12"
        ignore_formats  do not assert `format`
        assert_content  assert `contentEncoding`, `contentMediaType` of JSON, its `contentSchema`
        nullable        OpenAPI 3.0's `nullable: true` adds null to the `type` beside it
        repeated_names  members that the schema does not name may come again in an object
        lazy            compile no more than the first mask needs; else, for larger schemas and
                        those with patterns, also masks that most texts come by
        max_nesting     levels of arrays and objects in the output; 0 = unbounded
        resolver        called with the URI of a document that the schema refers to; returns its
                        text, or None if there is none
        base_uri        of the schema, for relative references

        Every keyword is enforced or the call raises, with `pointer` naming it: GrammarError
        (malformed, or nothing satisfies it), UnsupportedError.
        """
        options = (
            _style(
                order,
                whitespace,
                indent,
                spelling,
                generous,
                draft,
                ignore_formats,
                assert_content,
                nullable,
                repeated_names,
                max_nesting,
            ),
            lazy,
            resolver,
            base_uri,
        )
        if types.is_type(schema):
            schema, _ = types.schema_of(schema)
        return cls._make("json_schema", vocab, _text(schema), options, limits)

    @classmethod
    def json_object(cls, vocab, **options):
        """Any JSON object; options as json_schema."""
        return cls.json_schema(vocab, {"type": "object"}, **options)

    @classmethod
    def request(cls, vocab, body, **options):
        """What a request to a server constrains its answer to. JSON text or a dict of one of

        OpenAI      response_format, or text.format of the Responses API
        vLLM        structured_outputs, or the older guided_...
        SGLang      json_schema, regex, ebnf or structural_tag, in sampling_params or outside
        llama.cpp   grammar (GBNF) or json_schema; grammar_lazy with words as triggers
        Ollama      format

        Other members are the server's own. The options go to the constructor of the kind that is
        found. GrammarError where there is no constraint, or more than one; UnsupportedError for
        tools (Grammar.tools reads them) and for triggers that are patterns. A pointer leads from
        the request's root.
        """
        from turnstile.tools import grammar_of_request

        return grammar_of_request(vocab, body, options)

    @classmethod
    def pydantic(cls, vocab, model, **options):
        """The grammar of the JSON form of a pydantic (2) model, dataclass, type or TypeAdapter;
        options as for json_schema.
        """
        if hasattr(model, "model_json_schema"):
            return cls.json_schema(vocab, model.model_json_schema(), **options)
        from pydantic import TypeAdapter

        adapter = model if isinstance(model, TypeAdapter) else TypeAdapter(model)
        return cls.json_schema(vocab, adapter.json_schema(), **options)

    @classmethod
    def regex(
        cls, vocab, pattern, *, case_insensitive=False, dot_all=False, search=False, **limits
    ):
        """Compile a regular expression that the whole text must match, or with `search` some part
        of it. The syntax is ECMA-262's and the PCRE syntax that does not clash with it.
        """
        return cls._make("regex", vocab, pattern, (case_insensitive, dot_all, search), limits)

    @classmethod
    def choice(cls, vocab, choices, **limits):
        """One of several texts, as it stands. `choices` holds them, and is no text itself: texts,
        integers (their digits), members of an Enum (their values), or an Enum.
        """
        if isinstance(choices, (str, bytes)):
            raise TypeError(
                "choices are several texts, in a list or the like, not one text, which is a "
                "sequence of its characters"
            )
        choices = list(choices)
        if not choices:
            raise ValueError("choices must not be empty")
        return cls.regex(vocab, "|".join(_literal(_choice(one)) for one in choices), **limits)

    @classmethod
    def gbnf(cls, vocab, text, *, root="root", **limits):
        """Compile a GBNF grammar in llama.cpp's dialect, whose start rule is `root`. Left recursion
        is allowed. A line that begins with "|" goes on with the rule before.
        """
        return cls._make("gbnf", vocab, text, (root,), limits)

    @classmethod
    def lark(cls, vocab, text, *, start="start", resolver=None, lexer=None, **limits):
        """Compile a Lark grammar, or a list of grammars as JSON (docs/lark.md).

        start     its start rule
        resolver  called with "a/b.lark" for what %import names outside the library (common, python,
                  unicode); returns its text as str or bytes, or None. What it raises is raised
        lexer     how a text is cut into terminals: "dynamic_complete" (or None), in any way;
                  "dynamic" or "basic", as Lark's lexer of that name does
        """
        return cls._make("lark", vocab, text, (start, resolver, lexer), limits)

    @classmethod
    def ebnf(cls, vocab, text, *, root="root", **limits):
        """Compile an EBNF grammar, XGrammar's notation (docs/ebnf.md); `root` is its start rule."""
        return cls._make("ebnf", vocab, text, (root,), limits)

    @classmethod
    def abnf(cls, vocab, text, *, root=None, **limits):
        """Compile an ABNF grammar, the notation of RFCs (docs/abnf.md); `root` is its start rule,
        None: the first one.
        """
        return cls._make("abnf", vocab, text, (root,), limits)

    @classmethod
    def tags(
        cls,
        vocab,
        structure,
        *,
        over=None,
        order="schema",
        whitespace="plain",
        indent=2,
        spelling="plain",
        generous=False,
        draft="auto",
        ignore_formats=False,
        assert_content=False,
        nullable=False,
        repeated_names=False,
        lazy=False,
        max_nesting=0,
        resolver=None,
        base_uri=None,
        **limits,
    ):
        """Compile a structural tag (JSON text, or a dict): free text with JSON or other formats
        between tags; docs/tools.md describes the formats. The options from `order` to `base_uri`
        hold for the schemas in it, as for json_schema.

        over  an earlier Grammar of tags or tools of this vocabulary. The new one uses what the
              earlier one found out about schemas with the same text, unless a resolver is called.
              So the new one costs only what is new. The grammars share memory and one lock, and may
              be dropped in any order. The options of every constructor are those of the first of
              them, `cancel` included
        """
        schema = (
            _style(
                order,
                whitespace,
                indent,
                spelling,
                generous,
                draft,
                ignore_formats,
                assert_content,
                nullable,
                repeated_names,
                max_nesting,
            ),
            lazy,
            resolver,
            base_uri,
        )
        return cls._make("tags", vocab, _text(structure), (schema, over), limits)

    @classmethod
    def tools(
        cls,
        vocab,
        request,
        *,
        preset,
        tool_choice=None,
        parallel=None,
        thinking="auto",
        max_thinking_tokens=0,
        lenient=False,
        over=None,
        order="schema",
        whitespace="plain",
        indent=2,
        spelling="plain",
        generous=False,
        draft="auto",
        ignore_formats=False,
        assert_content=False,
        nullable=False,
        repeated_names=False,
        lazy=False,
        max_nesting=0,
        resolver=None,
        base_uri=None,
        **limits,
    ):
        """What a model may answer to a request with tools.

        request      the body as it is sent (JSON text, or a dict or list). It is OpenAI's chat
                     completions or responses, Anthropic's messages, MCP's tools/list, or a bare
                     array of tools
        preset       how the model writes calls: a name out of tool_presets(), the name of a model
                     ("Qwen/Qwen3-8B"), or the JSON text of a preset
        tool_choice  "auto", "required", "none" or a tool's name; None: what the request says, else
                     auto
        parallel     may there be several calls; None: what the request says, else yes
        thinking     "auto": the text may begin with a thinking block; "on": it must; "off": it must
                     not
        max_thinking_tokens  of a thinking block; 0: what the request says (thinking.budget_tokens),
                             else any number
        lenient      for answers that nobody constrained: a Parser of the grammar refuses none, and
                     mends what models do wrong
        over         as in tags()

        The options from `order` to `base_uri` hold for the schemas of the tools and of the response
        format, as for json_schema.
        """
        schema = (
            _style(
                order,
                whitespace,
                indent,
                spelling,
                generous,
                draft,
                ignore_formats,
                assert_content,
                nullable,
                repeated_names,
                max_nesting,
            ),
            lazy,
            resolver,
            base_uri,
        )
        return cls._make(
            "tools",
            vocab,
            _text(request),
            _tools(
                schema, preset, tool_choice, parallel, thinking, max_thinking_tokens, lenient, over
            ),
            limits,
        )

    @classmethod
    def start(cls, kind, vocab, text, *, threads=None, **options):
        """Begin to compile in the background: a Compile, whose result() is the grammar. It needs no
        Python thread and does not wait for the interpreter's lock.

        kind     "json_schema", "regex", "choice", "gbnf", "lark", "ebnf", "abnf" or "pydantic": the
                 constructor whose arguments follow
        threads  a Threads, whose workers compile; None: a thread of its own
        """
        kinds = ("json_schema", "regex", "choice", "gbnf", "lark", "ebnf", "abnf", "pydantic")
        if kind not in kinds:
            known = ", ".join(map(repr, kinds))
            raise ValueError(f"kind is one of {known}, not {kind!r}")
        return getattr(_Starting(cls, threads), kind)(vocab, text, **options)

    @classmethod
    def load(cls, vocab, path):
        """Map a grammar that save() or `turnstile compile` has written, for the same vocabulary.
        FormatError: it is not sound, or made for another vocabulary.
        """
        return cls._load(vocab, path)

    @classmethod
    def _make(cls, kind, vocab, text, options, limits):
        return cls._compile(*_arguments(kind, vocab, text, options, **limits))

    def report(self):
        """What of a JSON Schema is enforced: a list of dicts with pointer, keyword, status
        ("enforced" or "no effect") and reason. Of tools and structural tags: of all schemas in
        them; the pointers lead from the root, and `tool` is the tool's name.
        """
        return json.loads(self._report())

    @property
    def warnings(self):
        """What of a JSON Schema hardly means what it says: a list of sentences, each with its JSON
        pointer. A word that looks like a keyword, a schema inside a wrapper, a required name that a
        closed object does not have. Of tools: the same, with the tool's name, and what is left out
        of the schema of a tool whose "strict" is false. Of a request the pointers lead from its
        root. Empty for other grammars.
        """
        left_out = [json.loads(line) for line in self._left_out.splitlines()]
        doubtful = [entry for entry in self.report() if entry.get("warning")]
        return [_warning("", entry, "left out: ") for entry in left_out] + [
            _warning(self._pointer, entry) for entry in doubtful
        ]

    def matcher(self):
        """A Matcher at the beginning of this grammar."""
        return _core.Matcher(self)


def _warning(pointer, entry, what=""):
    tool = f' (tool "{entry["tool"]}")' if "tool" in entry else ""
    return f"{pointer}{entry['pointer']}{tool}: {what}{entry['reason']}"


class _Starting:
    """Has Grammar's constructors, and begins what they would make."""

    def __init__(self, cls, threads):
        self._cls, self._threads = cls, threads

    def __getattr__(self, name):
        return functools.partial(getattr(Grammar, name).__func__, self)

    def _make(self, kind, vocab, text, options, limits):
        return self._cls._start(_arguments(kind, vocab, text, options, **limits), self._threads)


def one_grammar(given, whose):
    """`given`, which must be a Grammar. TypeError: it is none. The message says what it is, and
    which call makes a Grammar of it. `whose`: the parameter, for the message.
    """
    if isinstance(given, _core.Grammar):
        return given
    call = "Grammar.json_schema(vocab, ...)"
    if isinstance(given, _core.Matcher):
        call = "its attribute `grammar`"
    elif isinstance(given, (str, bytes)):
        call = "Grammar.json_schema, .regex, .gbnf or .lark(vocab, text)"
    elif isinstance(given, re.Pattern):
        call = "Grammar.regex(vocab, pattern.pattern)"
    shown = f"the type {given.__name__}" if isinstance(given, type) else f"a {type(given).__name__}"
    raise TypeError(f"{whose}: a turnstile.Grammar is wanted, not {shown}: use {call}")


def some_grammars(given, whose):
    """A list of Grammars and Nones, of one Grammar or a sequence of both. TypeError, ValueError."""
    if given is None or isinstance(given, (_core.Grammar, str, bytes, dict, type, re.Pattern)):
        return [one_grammar(given, whose)]
    try:
        given = list(given)
    except TypeError:
        given = [one_grammar(given, whose)]
    if not given:
        raise ValueError(f"{whose}: there is no grammar")
    for i, grammar in enumerate(given):
        if grammar is not None:
            one_grammar(grammar, f"{whose}[{i}]")
    return given


def _arguments(
    kind,
    vocab,
    text,
    options,
    max_memory=0,
    max_stacks=0,
    max_depth=0,
    max_steps=0,
    deadline=None,
    cancel=None,
    cache=None,
    **others,
):
    """What the extension takes."""
    for name in others:
        raise TypeError(f"there is no option {name!r}")
    if isinstance(text, _core.Vocab):
        raise TypeError("the vocabulary comes first, then what is compiled")
    if cache is not None and kind in ("tags", "tools"):
        raise UnsupportedError("grammars of tags and tools are not cached")
    microseconds = 0 if deadline is None or deadline == math.inf else max(1, int(deadline * 1e6))
    if isinstance(cache, os.PathLike):
        cache = os.fspath(cache)
    return (
        _KINDS[kind],
        vocab,
        text,
        options,
        (max_memory, max_stacks, max_depth, max_steps, microseconds, cancel, cache),
    )


def _tools(schema, preset, tool_choice, parallel, thinking, max_thinking_tokens, lenient, over):
    several = 0 if parallel is None else 1 if parallel else -1
    return (
        schema,
        preset,
        tool_choice,
        several,
        _one_of({"auto": 0, "on": 1, "off": 2}, thinking, "thinking"),
        max_thinking_tokens,
        bool(lenient),
        over,
    )


def write_tools(
    vocab,
    request,
    *,
    preset,
    tool_choice=None,
    parallel=None,
    thinking="auto",
    max_thinking_tokens=0,
):
    """The structural tag, as JSON text, that Grammar.tools compiles: the same arguments."""
    options = _tools(
        (_style(), False, None, None),
        preset,
        tool_choice,
        parallel,
        thinking,
        max_thinking_tokens,
        False,
        None,
    )
    return _core._write_tools(*_arguments("tools", vocab, _text(request), options))


def _one_of(table, key, what):
    if key not in table:
        raise ValueError(f"{what} is one of {', '.join(map(repr, table))}, not {key!r}")
    return table[key]


def _whitespace(whitespace):
    """The library's numbers for a style: (style, most, lines, columns)."""
    if isinstance(whitespace, int) and not isinstance(whitespace, bool):
        return 2, whitespace, 0, 0
    if isinstance(whitespace, tuple) and len(whitespace) == 2:
        return (0, 0, *whitespace)
    styles = {"plain": 0, "compact": 1, "pretty": 3, "any": 4}
    return _one_of(styles, whitespace, "whitespace (or an int, or two)"), 0, 0, 0


def _style(
    order="schema",
    whitespace="plain",
    indent=2,
    spelling="plain",
    generous=False,
    draft="auto",
    ignore_formats=False,
    assert_content=False,
    nullable=False,
    repeated_names=False,
    max_nesting=0,
):
    return (
        _one_of(_ORDERS, order, "order"),
        *_whitespace(whitespace),
        indent,
        _one_of({"plain": 0, "any": 1}, spelling, "spelling"),
        generous,
        _one_of(_DRAFTS, str(draft), "draft"),
        ignore_formats,
        assert_content,
        nullable,
        repeated_names,
        max_nesting,
    )


def _text(value):
    """JSON text as it stands, or that of a dict or list."""
    if isinstance(
        value, (bytes, _core.Vocab)
    ):  # a vocabulary stands in the wrong place: _arguments says so
        return value
    try:
        text = (
            value
            if isinstance(value, str)
            else json.dumps(value, ensure_ascii=False, allow_nan=False)
        )
        return text if text.isascii() else text.encode()
    except RecursionError as error:
        raise LimitError(
            "max_depth: the dict or list nests too deep for json.dumps", "TSL_ERR_LIMIT"
        ) from error
    except ValueError as error:
        reason, pointer = (None, "") if isinstance(value, str) else _no_json(value)
        raise GrammarError(f"not JSON: {reason or error}", "TSL_ERR_SYNTAX", pointer) from error


def _no_json(value):
    """What of a dict or list JSON cannot hold, and its pointer: the first, outer ones before inner
    ones. (None, "") if that is something else.
    """
    waiting, seen = [(value, "")], set()
    for one, pointer in waiting:
        if isinstance(one, float) and not math.isfinite(one):
            return f"a number must be finite, not {one}", pointer
        if isinstance(one, str) and _SURROGATE.search(one):
            return f"a string must not have lone surrogates: {ascii(one)[:80]}", pointer
        if not isinstance(one, (dict, list, tuple)) or id(one) in seen:
            continue
        seen.add(id(one))
        for key, inner in one.items() if isinstance(one, dict) else enumerate(one):
            token = str(key).replace("~", "~0").replace("/", "~1")
            if _SURROGATE.search(token):
                return (
                    f"the key of a member must not have lone surrogates: {ascii(key)[:80]}",
                    pointer,
                )
            waiting.append((inner, f"{pointer}/{token}"))
    return None, ""


def _choice(one):
    """The text of a choice."""
    value = one.value if isinstance(one, enum.Enum) else one
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(int(value))
    raise TypeError(f"a choice is a text or an integer, not {one!r}: write its text")


def _literal(text):
    """A text as a pattern that matches it alone; control characters are written as escapes of both
    dialects.
    """
    return re.sub(r"[\x00-\x1f\x7f]|[^\w\s]", _escape, text, flags=re.ASCII)


def _escape(match):
    char = match.group()
    return f"\\x{ord(char):02x}" if ord(char) < 128 else char


def score_mean(traces):
    """The mean of label probabilities over reasoning traces, with its standard error.

    `traces`: for each trace the list of texts that score_all gave behind it: (text,
    log_probability, probability). Traces that the model drew for one prompt make the mean an
    estimate of P(label | prompt). Returns a list of (text, mean, standard_error) in the order of
    the bytes; the error is NaN for one trace. A text that a trace does not have counts as 0 there.
    ValueError if there is no trace.
    """
    if not traces:
        raise ValueError("score_mean needs the scores of one trace at least")
    found = [{text: p for text, _, p in texts} for texts in traces]
    out, n = [], len(found)
    for text in sorted(set().union(*found)):
        values = [trace.get(text, 0.0) for trace in found]
        mean = math.fsum(values) / n
        square = math.fsum((p - mean) ** 2 for p in values)
        out.append((text, mean, math.sqrt(square / (n * (n - 1))) if n > 1 else math.nan))
    return out
