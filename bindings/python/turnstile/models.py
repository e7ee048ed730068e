"""A model that answers with Python objects.

    model = turnstile.models.LlamaCpp("model.gguf")                  # llama-cpp-python
    model("How old is Anna, who was born in 1980?", int)             # an int
    model("Anna Petrov, 42, lives in Riga.", Person)                 # a Person: dataclass, pydantic
    model("Wake me at 7.", [set_alarm, play])                        # a Call: name, arguments
    model.choose("Is this a complaint: 'It broke.'", ["yes", "no"])  # {'yes': 0.91, 'no': 0.09}
    model = turnstile.models.Transformers(model, tokenizer)          # Hugging Face transformers
    model = turnstile.models.VLLM(llm)                               # vLLM's LLM
    await model.acall("How old is Anna?", int)                       # the same, elsewhere

The second argument says what the answer is. It is a type (turnstile.types lists them), a JSON
Schema as a dict, a list of tools, a compiled regular expression (re.compile), or a
turnstile.Grammar. Schemas and types give the parsed object, a list of tools gives a Call, the
others give the text. Without it the model answers freely.

A tool is a function of Python, or what OpenAI's "tools" and "functions" list. The tools are shown
to the model in the system message.

Each has an asynchronous form: acall, astream, abatch, ameasure, achoose. It runs in a thread of the
model's own, one after the other.

White space is that of json.dumps(indent=2) and spellings are plain. Models write so by themselves.
Also, names and brackets can then be written without the model ("forced tokens").

Your own model: derive from Model and define encode, logits and template.

SPDX-License-Identifier: Apache-2.0
"""

import array
import asyncio
import codecs
import concurrent.futures
import ctypes
import json
import math
import re
import threading
import typing
import urllib.error
import urllib.request

from turnstile import _core, partial
from turnstile.errors import LimitError, TurnstileError, UnsupportedError
from turnstile.grammar import Grammar
from turnstile.types import _renamed, schema_of
from turnstile.vocab import Vocab

__all__ = ["Call", "LlamaCpp", "Measure", "Model", "OpenAICompatible", "Transformers", "VLLM"]

_TAIL = 16  # last tokens that the search for forced ones looks at


class Measure:
    """What one answer cost.

    tokens          of the answer
    forced          of them, written without the model
    legal_mass      probability that the model had put on allowed tokens: the geometric mean over
                    the drawn tokens, 1.0 where there is none
    least_legal_mass  of all drawn tokens
    """

    def __init__(self):
        self.tokens = self.forced = self._drawn = 0
        self._log = 0.0
        self.least_legal_mass = 1.0

    def _add(self, mass):
        self._drawn += 1
        self._log += math.log(max(mass, 1e-300))
        self.least_legal_mass = min(self.least_legal_mass, mass)

    @property
    def legal_mass(self):
        return math.exp(self._log / self._drawn) if self._drawn else 1.0

    def __repr__(self):
        return (
            f"Measure(tokens={self.tokens}, forced={self.forced}, "
            f"legal_mass={self.legal_mass:.4g}, least_legal_mass={self.least_legal_mass:.4g})"
        )


def _text_only(text):
    return text


class Call(typing.NamedTuple):
    """A call of a tool. `arguments` of a Python function are values of its parameters' types."""

    name: str
    arguments: dict


def _tool_of(tool):
    """(what the model is shown, function that builds the arguments)"""
    if not isinstance(tool, dict):
        schema, build = schema_of(tool)
        shown = {"name": tool.__name__, "parameters": schema}
        if tool.__doc__:
            shown["description"] = tool.__doc__.strip().split("\n\n")[0]
        return shown, build
    shown = tool.get("function", tool)
    if not isinstance(shown, dict) or not isinstance(shown.get("name"), str):
        raise ValueError("a tool is a function, or an object with a name and parameters")
    return shown, lambda arguments: arguments


def _calls_of(tools):
    """(schema of a call, function from the text to a Call, what the system message says)"""
    pairs = [_tool_of(tool) for tool in tools]
    builds = {shown["name"]: build for shown, build in pairs}
    if len(builds) != len(pairs) or not pairs:
        raise ValueError("a list of tools has one tool or more, all with different names")
    branches, defs = [], {}
    for number, (shown, _) in enumerate(pairs):
        parameters = dict(shown.get("parameters") or {"type": "object"})
        own = parameters.pop("$defs", {})
        names = {name: f"{number}.{name}" for name in own}
        if re.search(r'"\$ref": "(?!#/\$defs/)', json.dumps([parameters, own])):
            raise UnsupportedError(f"{shown['name']}: a reference that does not lead to $defs")
        for name, one in own.items():
            defs[names[name]] = _renamed(one, names)
        branches.append(
            {
                "type": "object",
                "properties": {
                    "name": {"const": shown["name"]},
                    "arguments": _renamed(parameters, names),
                },
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
        )
    schema = {"anyOf": branches, **({"$defs": defs} if defs else {})}
    says = (
        "You may call these tools:\n"
        + "\n".join(json.dumps(shown) for shown, _ in pairs)
        + '\nAnswer with one call, as JSON: {"name": <name>, "arguments": <object>}'
    )

    def read(text):
        call = json.loads(text)
        return Call(call["name"], builds[call["name"]](call["arguments"]))

    return schema, read, says


class _Answer(typing.NamedTuple):
    """What is wanted: one of schema, pattern and grammar, or nothing. `read` makes the object of
    the text. `says` goes to the system message.
    """

    schema: typing.Any = None
    pattern: typing.Any = None
    grammar: typing.Any = None
    read: typing.Any = _text_only
    says: str = ""

    def system(self, given):
        return "\n\n".join(text for text in (given, self.says) if text) or None


def _answer_of(wanted):
    if wanted is None or isinstance(wanted, _core.Grammar):
        return _Answer(grammar=wanted)
    if isinstance(wanted, re.Pattern):
        if wanted.flags & ~(re.UNICODE | re.IGNORECASE | re.DOTALL):
            raise UnsupportedError("regular expressions: flags other than IGNORECASE and DOTALL")
        return _Answer(pattern=wanted)
    if isinstance(wanted, dict):
        return _Answer(schema=wanted, read=json.loads)
    if isinstance(wanted, (list, tuple)):
        schema, read, says = _calls_of(wanted)
        return _Answer(schema=schema, read=read, says=says)
    schema, build = schema_of(wanted)
    return _Answer(schema=schema, read=lambda text: build(json.loads(text)))


class _Answers:
    """What is built on __call__: batches, and the asynchronous forms."""

    def batch(self, prompts, type=None, *, progress=False, **options):
        """A list of answers, one for each prompt, one after the other. `progress`: show a bar, with
        the package tqdm.
        """
        return [self(prompt, type, **options) for prompt in _with_bar(prompts, progress)]

    def _elsewhere(self, function, *arguments, **options):
        """Call it in the model's own thread, from a coroutine. Calls wait for one another, and a
        call whose coroutine is cancelled goes on until it is done.
        """
        with _STARTING:
            if getattr(self, "_thread", None) is None:
                self._thread = concurrent.futures.ThreadPoolExecutor(1, "turnstile-model")
        return asyncio.get_running_loop().run_in_executor(
            self._thread, lambda: function(*arguments, **options)
        )

    async def acall(self, prompt, type=None, **options):
        """As calling the model, without blocking the event loop."""
        return await self._elsewhere(self, prompt, type, **options)

    async def abatch(self, prompts, type=None, **options):
        """As batch()."""
        return await self._elsewhere(self.batch, list(prompts), type, **options)


_STARTING = threading.Lock()
_OVER = object()


def _with_bar(prompts, progress):
    if not progress:
        return prompts
    import tqdm

    return tqdm.tqdm(prompts, unit=" answers")


class Model(_Answers):
    """A model on this machine. Define:

    encode(text)       a list of tokens
    logits(tokens)     the logits behind prompt and answer so far, a float32 buffer of
                       vocab.logits_width; `tokens` is the whole text
    template(prompt, system)   the prompt as the model's text

    One thread at a time.
    """

    def __init__(self, vocab):
        self.vocab = vocab
        self.last = Measure()
        self._cache = _core.Cache(64 << 20)

    def __repr__(self):
        return f"<turnstile.models.{type(self).__name__} over {self.vocab!r}>"

    def encode(self, text):
        raise NotImplementedError

    def logits(self, tokens):
        raise NotImplementedError

    def template(self, prompt, system=None):
        return _plain(prompt, system)

    # ---- answers --------------------------------------------------------------------------------

    def __call__(self, prompt, type=None, *, system=None, max_tokens=512, **sampling):
        """The answer, as an object of that type. `sampling` goes to turnstile.Sampler; greedy by
        default; loop_repeats=3 keeps a small model from repeating itself for ever. LimitError if
        the answer is not complete after max_tokens.
        """
        answer = _answer_of(type)
        pieces = self._pieces(prompt, answer, system, max_tokens, sampling)
        return answer.read(b"".join(pieces).decode("utf-8", "replace"))

    def stream(self, prompt, type=None, *, system=None, max_tokens=512, **sampling):
        """The answer while it is written. For schemas and types: what is known of the answer, as
        JSON's dicts, lists and scalars, each time that more is known (turnstile.partial). The last
        value is the answer as calling the model gives it. Else the text, in pieces of whole
        characters. Cost: each partial object reads the text so far anew.
        """
        answer = _answer_of(type)
        if answer.schema is None:
            yield from self._texts(prompt, answer, system, max_tokens, sampling)
            return
        text, last = "", partial.NOTHING
        for piece in self._texts(prompt, answer, system, max_tokens, sampling):
            text += piece
            value = partial.read(text)
            if value is not partial.NOTHING and not _same(value, last):
                yield value
                last = value
        yield answer.read(text)

    def stream_text(self, prompt, type=None, *, system=None, max_tokens=512, **sampling):
        """The text of the answer in pieces of whole characters, while it is written."""
        return self._texts(prompt, _answer_of(type), system, max_tokens, sampling)

    def _texts(self, prompt, answer, system, max_tokens, sampling):
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        for piece in self._pieces(prompt, answer, system, max_tokens, sampling):
            text = decoder.decode(piece)
            if text:
                yield text
        text = decoder.decode(b"", final=True)  # a character that the answer ends within
        if text:
            yield text

    def measure(self, prompt, type=None, **options):
        """(answer, Measure): what the grammar took from the model."""
        answer = self(prompt, type, **options)
        return answer, self.last

    def choose(self, prompt, labels, *, system=None):
        """{label: probability that the model writes it, among the labels}. Every label is followed
        by the end of the answer. Cost: one pass for each prefix that labels share.
        """
        labels = list(labels)
        texts = [str(label) for label in labels]
        if len(set(texts)) != len(texts) or not texts:
            raise ValueError("choose() takes labels, all different")
        start = self.encode(self.template(prompt, system))

        def ask(prefixes):
            rows = bytearray()
            for prefix in prefixes:
                rows += memoryview(self.logits(start + list(prefix))).cast("B")
            return memoryview(rows).cast("f", (len(prefixes), self.vocab.logits_width))

        found, _ = _core.score_all(Grammar.choice(self.vocab, texts), ask)
        shares = {text.decode(): share for text, _, share in found}
        return {label: shares[text] for label, text in zip(labels, texts)}

    def astream(self, prompt, type=None, **options):
        """As stream(), for `async for`."""
        return self._astream(self.stream(prompt, type, **options))

    async def _astream(self, steps):
        try:
            while (value := await self._elsewhere(next, steps, _OVER)) is not _OVER:
                yield value
        finally:
            await self._elsewhere(steps.close)

    async def ameasure(self, prompt, type=None, **options):
        """As measure()."""
        return await self._elsewhere(self.measure, prompt, type, **options)

    async def achoose(self, prompt, labels, **options):
        """As choose()."""
        return await self._elsewhere(self.choose, prompt, labels, **options)

    # ---- steps ----------------------------------------------------------------------------------

    def _grammar(self, answer):
        pattern = answer.pattern
        if answer.schema is not None:
            return Grammar.json_schema(
                self.vocab,
                answer.schema,
                whitespace="pretty",
                indent=2,
                spelling="plain",
                cache=self._cache,
            )
        if pattern is not None:
            return Grammar.regex(
                self.vocab,
                pattern.pattern,
                case_insensitive=bool(pattern.flags & re.IGNORECASE),
                dot_all=bool(pattern.flags & re.DOTALL),
                cache=self._cache,
            )
        return answer.grammar

    def _pieces(self, prompt, answer, system, max_tokens, sampling):
        grammar = self._grammar(answer)
        matcher = _core.Matcher(grammar) if grammar is not None else None
        budget = _core.Budget(grammar) if grammar is not None else None
        sampler = _core.Sampler(**{"temperature": 0.0, **sampling})
        sampler.set_matcher(matcher)  # penalties spare brackets and names
        tokens = self.encode(self.template(prompt, answer.system(system)))
        begin = len(tokens)
        measure = self.last = Measure()
        if budget is not None:
            budget.start(matcher, max_tokens)
        while measure.tokens < max_tokens:
            left = max_tokens - measure.tokens
            for token in self._next(matcher, budget, sampler, tokens, begin, left, measure):
                if token in self._eog():
                    return
                tokens.append(token)
                measure.tokens += 1
                yield b"" if self.vocab.is_special(token) else self.vocab.token_bytes(token)
            if matcher is not None and matcher.is_terminated:
                return
        if matcher is None or not matcher.is_complete:
            raise LimitError(f"the answer is not complete after {max_tokens} tokens: max_tokens")

    def _eog(self):
        return self.vocab.eog_tokens

    def _next(self, matcher, budget, sampler, tokens, begin, left, measure):
        """The next tokens: forced ones, or one that is drawn. The matcher has accepted them."""
        mask = None
        if matcher is not None:
            forced, _ = _core.draft_forced(matcher, tokens[begin:][-_TAIL:])
            if forced and len(forced) < left:
                matcher.accept_tokens(forced)
                for token in forced:
                    sampler.accept(token)
                measure.forced += len(forced)
                return forced
            mask = bytearray(4 * self.vocab.mask_words)
            budget.mask(matcher, left, mask)
            if _core.count_mask(mask) == 0:
                if matcher.is_complete:
                    return [self._eog()[0]]
                raise LimitError("the answer cannot be completed within max_tokens")
        token, _, mass, _, _ = sampler.draw(self.logits(tokens), mask)
        measure._add(mass)
        sampler.accept(token)
        if matcher is not None and token not in self._eog():
            matcher.accept(token)
        return [token]


def _same(value, other):
    """Equal in JSON: 1 is not True. Only called on values of one text that grows."""
    return value == other and json.dumps(value) == json.dumps(other)


class LlamaCpp(Model):
    """A GGUF file through llama-cpp-python. `model` is a path or a llama_cpp.Llama; `options` go to
    llama_cpp.Llama (n_ctx, n_threads, …).
    """

    def __init__(self, model, **options):
        import llama_cpp

        if not isinstance(model, llama_cpp.Llama):
            model = llama_cpp.Llama(str(model), **{"verbose": False, "n_ctx": 4096, **options})
        self._llama = model
        self._begin = None
        super().__init__(Vocab.from_gguf(model.model_path))

    def encode(self, text):
        return list(self._llama.tokenize(text.encode(), add_bos=True, special=True))

    def logits(self, tokens):
        llama = self._llama
        same = 0
        known = llama.input_ids[: llama.n_tokens]
        while same < len(known) and same < len(tokens) - 1 and known[same] == tokens[same]:
            same += 1
        llama.n_tokens = same  # eval drops what llama.cpp holds behind it
        llama.eval(tokens[same:])
        row = llama._ctx.get_logits_ith(-1)
        width = self.vocab.logits_width
        out = array.array("f")
        out.frombytes(ctypes.string_at(row, 4 * width))
        return out

    def template(self, prompt, system=None):
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        llama = self._llama
        shape = llama.metadata.get("tokenizer.chat_template")
        if not shape:
            return super().template(prompt, system)
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": prompt})
        spell = llama.detokenize
        return Jinja2ChatFormatter(
            template=shape,
            eos_token=spell([llama.token_eos()], special=True).decode(),
            bos_token="",
            add_generation_prompt=True,
        )(messages=messages).prompt


class Transformers(Model):
    """A causal language model of transformers and its tokenizer. What the model has computed for
    the beginning that two texts share is kept, where its cache can be cut; else it is computed
    anew.
    """

    def __init__(self, model, tokenizer):
        from turnstile.hf import vocab_of

        self._model, self._tokenizer = model, tokenizer
        self._known, self._kept = [], None
        super().__init__(vocab_of(tokenizer, model))

    def encode(self, text):
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def logits(self, tokens):
        import torch

        tokens = list(tokens)
        same, known = 0, self._known
        while same < len(known) and same < len(tokens) - 1 and known[same] == tokens[same]:
            same += 1
        if same < len(known) and not self._cut(same):
            same = 0
        if same == 0:
            self._kept = None
        self._known = []  # until the pass is over
        with torch.inference_mode():
            out = self._model(
                input_ids=torch.tensor([tokens[same:]], device=self._model.device),
                past_key_values=self._kept,
                use_cache=True,
            )
        self._kept, self._known = getattr(out, "past_key_values", None), tokens
        if self._kept is None:
            self._known = []
        row = out.logits[0, -1].float().cpu()
        missing = self.vocab.logits_width - row.shape[0]
        if missing > 0:  # tokens that the tokenizer has and the model has not
            row = torch.nn.functional.pad(row, (0, missing), value=-torch.inf)
        return row.contiguous().numpy()

    def _cut(self, length):
        """Keep the first tokens of the model's cache; False if this kind of cache cannot."""
        try:
            self._kept.crop(length - len(self._known))
            return self._kept.get_seq_length() == length
        except (AttributeError, NotImplementedError, RuntimeError, ValueError):
            return False

    def template(self, prompt, system=None):
        return _chat(self._tokenizer, prompt, system)


def _plain(prompt, system):
    """The prompt of a model without a chat template."""
    return f"{system}\n\n{prompt}\n" if system else f"{prompt}\n"


def _chat(tokenizer, prompt, system):
    """The prompt in the chat template of a tokenizer of transformers."""
    if not getattr(tokenizer, "chat_template", None):
        return _plain(prompt, system)
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": prompt})
    return tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)


class VLLM(_Answers):
    """vLLM's `LLM`, made by you. Turnstile is its logits processor (turnstile.vllm), which vLLM
    finds where this package is installed. Types, JSON Schemas and regular expressions are answered.
    Answers come whole, so there are no streams, and vLLM does not say what a measure needs.
    """

    def __init__(self, llm):
        self._llm = llm
        self._tokenizer = llm.get_tokenizer()

    def __repr__(self):
        return f"<turnstile.models.VLLM over {self._llm!r}>"

    def __call__(self, prompt, type=None, *, system=None, max_tokens=512, **sampling):
        """The answer, as an object of that type. `sampling` goes to vllm.SamplingParams; greedy by
        default. LimitError if the answer is not complete after max_tokens.
        """
        options = {"system": system, "max_tokens": max_tokens, **sampling}
        return self.batch([prompt], type, **options)[0]

    def batch(self, prompts, type=None, *, system=None, max_tokens=512, progress=False, **sampling):
        """A list of answers, one for each prompt. vLLM computes them together. `progress`: show
        vLLM's bar.
        """
        from vllm import SamplingParams

        answer = _answer_of(type)
        wanted = self._wanted(answer)
        params = SamplingParams(
            **{"temperature": 0.0, **sampling},
            max_tokens=max_tokens,
            **({"extra_args": {"turnstile": wanted}} if wanted else {}),
        )
        prompts = [{"prompt_token_ids": self._start(one, answer.system(system))} for one in prompts]
        if not prompts:
            return []
        texts = []
        for out in self._llm.generate(prompts, params, use_tqdm=progress):
            made = out.outputs[0]
            if made.finish_reason != "stop":
                raise LimitError(
                    f"an answer is not complete after {max_tokens} tokens: max_tokens "
                    f"(vLLM: {made.finish_reason})"
                )
            texts.append(answer.read(made.text))
        return texts

    def choose(self, prompt, labels, *, system=None):
        """{label: probability that the model writes it, among the labels}. Every label is followed
        by the end of the answer. Cost: the labels' tokens go through the model in one batch.
        """
        from vllm import SamplingParams

        labels = list(labels)
        texts = [str(label) for label in labels]
        if len(set(texts)) != len(texts) or not texts:
            raise ValueError("choose() takes labels, all different")
        start, end = self._start(prompt, system), self._tokenizer.eos_token_id
        tails = [[*self._encode(text), end] for text in texts]
        prompts = [{"prompt_token_ids": start + tail} for tail in tails]
        params = SamplingParams(temperature=0.0, max_tokens=1, prompt_logprobs=0)
        logs = []
        for tail, out in zip(tails, self._llm.generate(prompts, params, use_tqdm=False)):
            rows = out.prompt_logprobs[len(start) :]
            logs.append(sum(row[token].logprob for token, row in zip(tail, rows)))
        weights = [math.exp(log - max(logs)) for log in logs]
        return {label: weight / sum(weights) for label, weight in zip(labels, weights)}

    async def achoose(self, prompt, labels, **options):
        """As choose()."""
        return await self._elsewhere(self.choose, prompt, labels, **options)

    def _wanted(self, answer):
        """The request to the logits processor; None: a free answer."""
        pattern = answer.pattern
        if answer.grammar is not None:
            raise UnsupportedError(
                "VLLM takes types, JSON Schemas and regular expressions; a grammar belongs to a "
                "vocabulary, and vLLM's processes have their own"
            )
        if pattern is not None:
            return {
                "regex": pattern.pattern,
                "case_insensitive": bool(pattern.flags & re.IGNORECASE),
                "dot_all": bool(pattern.flags & re.DOTALL),
                "in_time": True,
            }
        if answer.schema is not None:
            return {
                "json_schema": answer.schema,
                "whitespace": "pretty",
                "indent": 2,
                "in_time": True,
            }
        return None

    def _encode(self, text):
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _start(self, prompt, system):
        return self._encode(_chat(self._tokenizer, prompt, system))


class OpenAICompatible(_Answers):
    """A server with OpenAI's chat completions, which enforces JSON Schemas itself. `url` ends
    before /chat/completions. Types and schemas only: regular expressions and grammars have no
    common form on the wire.
    """

    def __init__(self, url, model="default", *, api_key=None, timeout=120.0):
        self.url, self.model, self.timeout = url.rstrip("/"), model, timeout
        self._key = api_key

    def __repr__(self):
        return f"<turnstile.models.OpenAICompatible {self.model!r} at {self.url}>"

    def __call__(self, prompt, type=None, *, system=None, max_tokens=512, **more):
        answer = _answer_of(type)
        if answer.pattern is not None or answer.grammar is not None:
            raise UnsupportedError("OpenAICompatible takes types, JSON Schemas and lists of tools")
        system = answer.system(system)
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": prompt})
        body = {"model": self.model, "messages": messages, "max_tokens": max_tokens, **more}
        if answer.schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": answer.schema, "strict": True},
            }
        choice = self._post("/chat/completions", body)["choices"][0]
        if choice.get("finish_reason") == "length":
            raise LimitError(f"the answer is not complete after {max_tokens} tokens: max_tokens")
        return answer.read(choice["message"]["content"])

    def _post(self, path, body):
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            said = error.read(2000).decode("utf-8", "replace")
            raise TurnstileError(f"{self.url}{path}: status {error.code}: {said}") from None
