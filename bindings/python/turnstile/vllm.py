"""vLLM: a structured-output backend, and a logits processor.

The backend serves `SamplingParams(structured_outputs=...)` and the `response_format` and
`structured_outputs` of the OpenAI-compatible server. Its name is "turnstile":

    vllm serve MODEL --structured-outputs-config.backend turnstile

    turnstile.vllm.add_backend()        # a program calls this first; servers need nothing
    LLM(model, structured_outputs_config={"backend": "turnstile"})

vLLM has no plug-in point for such names. So the entry point vllm.general_plugins of this package,
which every process of vLLM calls, adds the name to vLLM's list. Two more ways put Turnstile in
place of whatever backend is configured:

    export TURNSTILE_VLLM=1             # in every process of vLLM
    turnstile.vllm.register()           # before the first LLM or engine is made, in programs with
                                        VLLM_ENABLE_V1_MULTIPROCESSING=0

A request that Turnstile can't compile is refused with the JSON pointer and the reason (HTTP 400),
and never handed to another backend. "grammar" is EBNF where it has "::=", and Lark without it, as
vLLM has it. A request that goes wrong in the engine (its grammar reaches a limit) is logged and
ended by vLLM with an error; others go on. Whitespace between tokens of JSON is bounded by
MAX_WHITESPACE, or left out with vLLM's option disable_any_whitespace. With its option
disable_additional_properties an object has no members that its schema does not name.

The logits processor needs no registration at all: vLLM finds it by the entry point
vllm.logits_processors. It is requested per request,

    SamplingParams(extra_args={"turnstile": {"json_schema": {...}}})

with one of json_schema, regex, gbnf, ebnf, choice. Beside it may stand the options of
turnstile.Grammar's constructor of that name that say what a text is (OPTIONS). Limits and caches
are the server's. "in_time": true asks for texts that are complete within the request's max_tokens.
Where no text is that short, the text is cut off as without "in_time". A request that goes wrong in
the engine is logged and ended, others go on. It works with what vLLM allows logits processors to
do, which excludes speculative decoding.

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses
import functools
import json
import logging
import os
import typing

from vllm.v1.sample.logits_processor import LogitsProcessor as _LogitsProcessor
from vllm.v1.sample.logits_processor import MoveDirectionality
from vllm.v1.structured_output.backend_types import (
    StructuredOutputBackend,
    StructuredOutputGrammar,
    StructuredOutputOptions,
)

from turnstile import _core, tensors
from turnstile.cache import Cache
from turnstile.errors import GrammarError, LimitError, TurnstileError, UnsupportedError
from turnstile.grammar import Grammar
from turnstile.hosts.vllm_requests import check_nesting, close_objects, make_vocab, width_of
from turnstile.tools import ebnf_or_lark
from turnstile.vocab import Vocab, _ids

__all__ = [
    "Backend",
    "LogitsProcessor",
    "RequestGrammar",
    "add_backend",
    "register",
    "register_if_requested",
]

NAME = "turnstile"  # of the backend, in structured_outputs_config.backend
MAX_GRAMMARS = 256  # compiled grammars that a cache keeps,
MAX_BYTES = 1 << 30  # and their memory together
MAX_VOCABS = 8  # vocabularies: one per set of stop tokens that requests name
MIRROR_ROWS = 1024  # masks that a GPU keeps: 16 MB for a vocabulary of 128,000 tokens
# characters at each place between tokens of JSON: a model can't write blanks for ever, and texts
# stay as readable as they were
MAX_WHITESPACE = 32

_log = logging.getLogger(__name__)


def _memory(grammar):
    return grammar.stats()["memory"]


# ---- the structured-output backend ---------------------------------------------------------------


def compile_request(vocab, request_type, spec, compact=False, closed=False):
    """The grammar of a request of vLLM's. `compact` leaves out all whitespace between tokens of
    JSON. `closed` leaves out members of objects that the schema does not name.
    """
    options = {"whitespace": "compact" if compact else MAX_WHITESPACE}
    if request_type == StructuredOutputOptions.JSON:
        spec = close_objects(spec) if closed else spec
        return Grammar.json_schema(vocab, spec, **options)
    if request_type == StructuredOutputOptions.JSON_OBJECT:
        return Grammar.json_schema(vocab, {"type": "object"}, **options)
    if request_type == StructuredOutputOptions.REGEX:
        return Grammar.regex(vocab, spec)
    if request_type == StructuredOutputOptions.CHOICE:
        return Grammar.choice(vocab, json.loads(spec))
    if request_type == StructuredOutputOptions.GRAMMAR:
        return ebnf_or_lark(vocab, spec)
    if request_type == StructuredOutputOptions.STRUCTURAL_TAG:
        return Grammar.tags(vocab, spec, **options)
    raise UnsupportedError(f"Turnstile does not support {request_type.name} requests of vLLM")


@dataclasses.dataclass
class Backend(StructuredOutputBackend):
    """Compiles the grammars of an engine; vLLM calls compile_grammar from several threads."""

    def __post_init__(self):
        config = self.vllm_config and self.vllm_config.structured_outputs_config
        self._compact = bool(config and config.disable_any_whitespace)
        self._closed = bool(config and config.disable_additional_properties)
        self._cache = Cache(MAX_GRAMMARS, MAX_BYTES, _memory)
        self._vocabs = Cache(MAX_VOCABS)

    def _vocab(self, stop_token_ids):
        """The vocabulary whose texts end with these tokens, which vLLM gives per request."""
        key = tuple(sorted(stop_token_ids)) if stop_token_ids else ()
        own = getattr(self.tokenizer, "eos_token_id", None)
        eog = sorted({*key, own} - {None}) if key else ()
        width = max(self.vocab_size, width_of(self.tokenizer))
        return self._vocabs.get(key, lambda: make_vocab(self.tokenizer, width, eog))

    def compile_grammar(self, request_type, grammar_spec, stop_token_ids=None):
        vocab = self._vocab(stop_token_ids)
        grammar = self._cache.get(
            (request_type, grammar_spec, vocab.eog_tokens),
            lambda: compile_request(vocab, request_type, grammar_spec, self._compact, self._closed),
        )
        return RequestGrammar(grammar)

    def allocate_token_bitmask(self, max_num_seqs):
        width = max(self.vocab_size, width_of(self.tokenizer))
        return tensors.allocate(max_num_seqs, width, pin=True)

    def destroy(self):
        self._cache.clear()
        self._vocabs.clear()


class RequestGrammar(StructuredOutputGrammar):
    """One request's place in its grammar.

    Tokens after the end are ignored, as vLLM hands them over where a draft ran past it; rollback
    knows how many they were. What the library raises would end the engine, with all its requests.
    So the error is logged, and the mask has only the end's tokens from there on. No token is
    accepted, and for that vLLM ends the request.
    """

    def __init__(self, grammar):
        self._matcher = _core.Matcher(grammar)
        self._ignored = 0
        self._failed = False

    def _attempt(self, call, *arguments):
        """What a call returns, or None if it fails, or one did before."""
        if self._failed:
            return None
        try:
            return call(*arguments)
        except TurnstileError as error:
            self._failed = True
            _log.error("Turnstile ends a request: %s: %s", type(error).__name__, error)
            return None

    def accept_tokens(self, request_id, tokens):
        for token in tokens:
            if self._matcher.is_terminated:
                self._ignored += 1
            elif not self._attempt(self._matcher.accept, token):
                return False
        return True

    def validate_tokens(self, tokens):
        tokens = list(tokens)
        padding = next((i for i, token in enumerate(tokens) if token < 0), len(tokens))
        return (
            tokens[: self._attempt(self._matcher.validate, tokens[:padding]) or 0]
            if not self._matcher.is_terminated
            else []
        )

    def rollback(self, num_tokens):
        ignored = min(self._ignored, num_tokens)
        self._matcher.rollback(num_tokens - ignored)
        self._ignored -= ignored

    def fill_bitmask(self, bitmask, batch_index):
        row = bitmask[batch_index]
        if self._matcher.is_terminated:
            row.fill_(-1)
            return
        self._attempt(_core.fill_batch, (self._matcher,), row.unsqueeze(0))
        if self._failed:
            tensors.allow_only_(row, self._matcher.grammar.vocab.eog_tokens)

    def is_terminated(self):
        return self._matcher.is_terminated

    def reset(self):
        self._matcher.reset()
        self._ignored = 0
        self._failed = False


class _Validator:
    """Refuses a request where it comes in, with a message, rather than in the engine. The check has
    the vocabulary of the tokenizer, because a grammar may name its tokens.
    """

    def __init__(self):
        self._vocabs = Cache(MAX_VOCABS)

    def _vocab(self, tokenizer):
        # With the tokenizer beside it, whose id is then not given to another.
        return self._vocabs.get(
            id(tokenizer), lambda: (make_vocab(tokenizer, width_of(tokenizer)), tokenizer)
        )[0]

    def check(self, params, model_config, tokenizer):
        from vllm.exceptions import VLLMValidationError
        from vllm.v1.structured_output.request import get_structured_output_key

        if tokenizer is None:
            raise VLLMValidationError(
                "Turnstile needs the tokenizer, which skip_tokenizer_init leaves out"
            )
        if getattr(model_config, "is_diffusion", False):
            raise VLLMValidationError(
                "Turnstile follows a text from its begin to its end: it is not for diffusion models"
            )
        check_nesting(params)
        try:
            vocab = self._vocab(tokenizer)
        except (TurnstileError, AttributeError, TypeError, ValueError) as error:
            raise VLLMValidationError(f"Turnstile does not read the tokenizer: {error}") from error
        try:
            compile_request(vocab, *get_structured_output_key(params))
        except (TurnstileError, ValueError, TypeError) as error:
            raise VLLMValidationError(f"Turnstile refuses the grammar: {error}") from error


_everywhere = False  # Turnstile serves what other backends were chosen for, too


def _serves(backend):
    return _everywhere or backend == NAME


def _make_backend(vllm_config, tokenizer):
    return Backend(
        vllm_config, tokenizer=tokenizer, vocab_size=vllm_config.model_config.get_vocab_size()
    )


def _widen_names():
    """structured_outputs_config.backend takes NAME: vLLM's list of names is a type, which pydantic
    has compiled.
    """
    import vllm.config
    import vllm.config.structured_outputs as module
    from pydantic.dataclasses import rebuild_dataclass

    config = module.StructuredOutputsConfig
    names = typing.get_args(module.StructuredOutputsBackend)
    if NAME in names:
        return
    widened = typing.Literal[(*names, NAME)]
    module.StructuredOutputsBackend = widened
    config.__annotations__["backend"] = widened
    for field in (config.__dataclass_fields__, config.__pydantic_fields__):
        field = field["backend"]
        setattr(field, "type" if hasattr(field, "type") else "annotation", widened)
    for decorator in config.__pydantic_decorators__.model_validators.values():
        decorator.func = _without_name(decorator.func)
    rebuild_dataclass(config, force=True)
    rebuild_dataclass(vllm.config.VllmConfig, force=True)  # it has the former check inside


def _without_name(validate):
    """vLLM's check of the configuration, which refuses options to backends that it does not know.
    Turnstile has the options that guidance has, which are all of them.
    """

    @functools.wraps(validate)
    def validate_as_guidance(self):
        own = self.backend == NAME
        if own:
            object.__setattr__(self, "backend", "guidance")
        try:
            validate(self)
        finally:
            if own:
                object.__setattr__(self, "backend", NAME)
        return self

    return validate_as_guidance


def add_backend():
    """Make NAME a backend that structured_outputs_config.backend takes, in this process. Doing so
    twice is doing so once. vLLM's servers do it by the entry point vllm.general_plugins.
    """
    import vllm.sampling_params
    import vllm.v1.structured_output as host

    if getattr(host.StructuredOutputManager, "turnstile_registered", False):
        return
    grammar_init = host.StructuredOutputManager.grammar_init
    validate = vllm.sampling_params.SamplingParams._validate_structured_outputs
    validator = _Validator()

    @functools.wraps(grammar_init)
    def grammar_init_with_turnstile(self, request):
        config = self.vllm_config.structured_outputs_config
        wanted = request.structured_output_request is not None and _serves(config.backend)
        if wanted and self.backend is None:
            self.backend = _make_backend(self.vllm_config, self.tokenizer)
        return grammar_init(self, request)

    @functools.wraps(validate)
    def validate_with_turnstile(self, model_config, structured_outputs_config, tokenizer):
        params = self.structured_outputs
        if params is None or structured_outputs_config is None:
            return None
        backend = structured_outputs_config.backend
        if not _serves(backend):
            return validate(self, model_config, structured_outputs_config, tokenizer)
        if not _everywhere and params._backend not in (None, backend):
            from vllm.exceptions import VLLMValidationError

            raise VLLMValidationError(
                f"the request names the backend {params._backend!r}, and the engine has {backend!r}"
            )
        validator.check(params, model_config, tokenizer)
        params._backend = backend
        return None

    _widen_names()
    host.StructuredOutputManager.grammar_init = grammar_init_with_turnstile
    host.StructuredOutputManager.turnstile_registered = True
    vllm.sampling_params.SamplingParams._validate_structured_outputs = validate_with_turnstile
    _add_to_beams()


def _add_to_beams():
    """Beam search makes a backend of its own, by its name."""
    try:
        from vllm.entrypoints.generate.beam_search import offline
        from vllm.v1.structured_output.request import get_structured_output_key
    except ImportError:  # not in every release
        return
    for one in vars(offline).values():
        begin = vars(one).get("_init_beam_search_structured_output") if _is_class(one) else None
        if begin is not None:
            one._init_beam_search_structured_output = _with_beams(begin, get_structured_output_key)


def _is_class(value):
    return isinstance(value, type)


def _with_beams(begin, key_of):
    @functools.wraps(begin)
    def begin_with_turnstile(self, structured_outputs, tokenizer):
        config = self.llm_engine.vllm_config
        if not config.structured_outputs_config or not _serves(
            config.structured_outputs_config.backend
        ):
            return begin(self, structured_outputs, tokenizer)
        backend = _make_backend(config, tokenizer)
        structured_outputs._backend = config.structured_outputs_config.backend
        return backend, key_of(structured_outputs), backend.allocate_token_bitmask(1)

    return begin_with_turnstile


def register():
    """Put Turnstile in place of all of vLLM's structured-output backends in this process, whichever
    is configured. Doing so twice is doing so once.
    """
    global _everywhere
    add_backend()
    _everywhere = True


def register_if_requested():
    """vLLM's entry point for plug-ins: the backend has its name, and is in place of the others if
    the environment says TURNSTILE_VLLM=1. A vLLM that is built otherwise goes on without the name.
    """
    if os.environ.get("TURNSTILE_VLLM", "0") not in ("", "0"):
        register()
        return
    try:
        add_backend()
    except Exception as error:  # a plug-in that nobody uses harms nobody
        _log.warning("this vLLM has no place for the backend %r: %s", NAME, error)


# ---- the logits processor ------------------------------------------------------------------------

_KINDS = {
    "json_schema": Grammar.json_schema,
    "regex": Grammar.regex,
    "gbnf": Grammar.gbnf,
    "ebnf": Grammar.ebnf,
    "choice": Grammar.choice,
}
# What a request may say beside its grammar: what texts there are, and nothing of limits, files or
# other things of the server's.
OPTIONS = {
    "json_schema": (
        "order",
        "whitespace",
        "indent",
        "draft",
        "ignore_formats",
        "assert_content",
        "nullable",
        "repeated_names",
        "lazy",
        "max_nesting",
        "base_uri",
    ),
    "regex": ("case_insensitive", "dot_all", "search"),
    "gbnf": ("root",),
    "ebnf": ("root",),
    "choice": (),
}


def _request_of(params):
    """What a request asks of the logits processor, or None. It is (kind, text, options), and the
    number of tokens within which the text must be complete, or None.
    """
    requested = (params.extra_args or {}).get("turnstile")
    if requested is None:
        return None
    kinds = [kind for kind in _KINDS if kind in requested] if isinstance(requested, dict) else []
    if len(kinds) != 1:
        raise ValueError(f"extra_args['turnstile'] has one of {', '.join(_KINDS)}")
    kind, options = kinds[0], dict(requested)
    text, in_time = options.pop(kind), options.pop("in_time", False)
    if unknown := sorted(map(str, options.keys() - set(OPTIONS[kind]))):
        raise ValueError(
            f"extra_args['turnstile'] does not take {', '.join(unknown)} beside {kind}"
        )
    if in_time and params.max_tokens is None:
        raise ValueError("in_time needs the request's max_tokens")
    return (kind, text, options), params.max_tokens if in_time else None


def _key(request):
    return json.dumps(request, sort_keys=True)


class LogitsProcessor(_LogitsProcessor):
    """Follows the rows of vLLM's persistent batch: requests are added, removed and moved, and a
    request's output tokens are a list that grows.
    """

    @classmethod
    def validate_params(cls, sampling_params):
        requested = _request_of(sampling_params)
        if requested is None:
            return
        kind, text, options = requested[0]
        try:
            _KINDS[kind](_small_vocab(), text, **options)
        except GrammarError as error:
            if kind not in ("gbnf", "ebnf") or "vocabulary" not in str(error):
                # a token that a grammar names is looked up in the engine, as the model's tokenizer
                # is not known here
                raise
        except (LimitError, TypeError) as error:
            raise ValueError(str(error)) from error  # what vLLM takes for a request's fault

    def __init__(self, vllm_config, device, is_pin_memory):
        from vllm.tokenizers import cached_tokenizer_from_config

        config = vllm_config.model_config
        self._tokenizer = (
            None
            if config.skip_tokenizer_init
            else cached_tokenizer_from_config(model_config=config)
        )
        self._width = max(config.get_vocab_size(), len(self._tokenizer) if self._tokenizer else 0)
        self._generation = config.try_get_generation_config() or {}
        self._pin = is_pin_memory
        self._vocab = None
        self._cache = Cache(MAX_GRAMMARS, MAX_BYTES, _memory)
        self._rows = {}  # batch index -> _Row
        self._masks = None
        self._mirror = None

    def is_argmax_invariant(self):
        return False

    def _vocabulary(self):
        if self._vocab is None:
            if self._tokenizer is None:
                raise ValueError(
                    "Turnstile needs the tokenizer, which skip_tokenizer_init leaves out"
                )
            self._vocab = Vocab.from_transformers(
                self._tokenizer, logits_width=self._width, eog=self._generation.get("eos_token_id")
            )
        return self._vocab

    def _make_row(self, params, output):
        """A row, a failed one where something goes wrong, or None for a request that asks for
        nothing.
        """
        try:
            requested = _request_of(params)
            if requested is None:
                return None
            request, most = requested
            kind, text, options = request
            return _Row(
                self._cache.get(
                    _key(request), lambda: _KINDS[kind](self._vocabulary(), text, **options)
                ),
                output,
                most,
            )
        except Exception as error:  # whatever it is, the engine serves others
            row = _Row(None, output, None)
            row.fail(error)
            return row

    def update_state(self, batch_update):
        if batch_update:
            for index in batch_update.removed:
                self._rows.pop(index, None)
            for index, params, _, output in batch_update.added:
                self._put(index, self._make_row(params, output))
            for a, b, direction in batch_update.moved:
                row_a, row_b = self._rows.pop(a, None), self._rows.pop(b, None)
                self._put(b, row_a)
                if direction == MoveDirectionality.SWAP:
                    self._put(a, row_b)
        for row in self._rows.values():
            row.follow()

    def _put(self, index, row):
        self._rows.pop(index, None)
        if row is not None:
            self._rows[index] = row

    def apply(self, logits):
        live = [(index, row) for index, row in self._rows.items() if row.is_live]
        if logits.is_cuda and tensors.kernel(logits.device):
            mirrored = [(index, row) for index, row in live if not row.has_budget]
            live = [(index, row) for index, row in live if row.has_budget]
            if not self._apply_mirrored(logits, mirrored):
                live += mirrored
        if live:
            masks = self._take_masks(len(live))
            self._fill([row for _, row in live], masks)
            tensors.apply_(logits, masks, [index for index, _ in live])
        for index, row in self._rows.items():
            if row.failed:
                self._end(logits[index])
        return logits

    def _fill(self, rows, masks):
        """The masks of rows; one that can't be made fails its row alone."""
        try:
            _core.fill_batch([row.matcher for row in rows], masks)
        except TurnstileError:
            for i, row in enumerate(rows):
                row.attempt(_core.fill_batch, [row.matcher], masks, [i])
        for i, row in enumerate(rows):
            if not row.failed:
                row.attempt(row.keep_in_time, masks, i)

    def _end(self, logits):
        """Leave the tokens that end a text, and those of other processors that come before too: a
        row must have one that is finite.
        """
        width = logits.shape[0]
        ends = [
            token
            for token in (
                self._vocab.eog_tokens
                if self._vocab
                else _ids(self._generation.get("eos_token_id"))
                or _ids(getattr(self._tokenizer, "eos_token_id", None))
            )
            if token < width
        ]
        if ends:
            logits.fill_(float("-inf"))
            logits[ends] = 0.0

    def _apply_mirrored(self, logits, live):
        """Masks that are what the grammar allows, by their row in the table that the GPU keeps.
        False, and nothing is done, if one of them can't be made.
        """
        if not live:
            return True
        if self._mirror is None or self._mirror.rows < len(live):
            from turnstile.mirror import Mirror

            self._mirror = Mirror(self._vocab, logits.device, max(MIRROR_ROWS, 2 * len(live)))
        try:
            self._mirror.apply_(
                logits, [row.matcher for _, row in live], [index for index, _ in live]
            )
            return True
        except TurnstileError:
            return False

    def _take_masks(self, count):
        # the GPU may still be copying from those of the step before; torch knows when that is done
        if self._pin:
            return tensors.allocate(count, self._width, pin=True)
        if self._masks is None or len(self._masks) < count:
            self._masks = tensors.allocate(2 * count, self._width)
        return self._masks[:count]


class _Row:
    """One request of the batch: its matcher, and how much of its output the matcher has seen. One
    that failed is only ended.
    """

    def __init__(self, grammar, output, most):
        self.failed = False
        self._output = output
        self._seen = 0
        self._most = most
        self.matcher = grammar and _core.Matcher(grammar)
        self._budget = None if most is None else _core.Budget(grammar)
        if self._budget and not self._fits():
            # no text is that short, or none is known to be: it may be cut off, as it would be
            # without a budget
            self._budget = None

    def fail(self, error):
        self.failed = True
        _log.error("Turnstile ends a request: %s: %s", type(error).__name__, error)

    def attempt(self, call, *arguments):
        """A call of this row's; what it raises fails the row."""
        try:
            call(*arguments)
        except Exception as error:  # whatever it is, the engine serves others
            self.fail(error)

    @property
    def is_live(self):
        return not self.failed and not self.matcher.is_terminated

    def _fits(self):
        try:
            self._budget.start(self.matcher, self._most)
            return True
        except (LimitError, UnsupportedError):
            return False

    @property
    def has_budget(self):
        return self._budget is not None

    def keep_in_time(self, masks, i):
        """Take out of a mask what could not be ended with the tokens that are left."""
        if self._budget:
            self._budget.mask(self.matcher, self._most - self._seen, masks, i)

    def follow(self):
        if not self.failed:
            self.attempt(self._follow)

    def _follow(self):
        if len(self._output) < self._seen:  # the request was preempted and begins again
            self.matcher.reset()
            self._seen = 0
        while self._seen < len(self._output) and not self.matcher.is_terminated:
            token = self._output[self._seen]
            if token < 0:  # not sampled yet, with asynchronous scheduling
                break
            if not self.matcher.accept(token):
                raise ValueError(f"vLLM sampled token {token}, which the grammar does not allow")
            self._seen += 1


@functools.lru_cache(maxsize=1)
def _small_vocab():
    return Vocab.embedded()
