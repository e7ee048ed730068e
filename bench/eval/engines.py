"""What decides which tokens are allowed, for the evaluation: nothing, Turnstile in several manners,
llama.cpp's own grammar, XGrammar, and llguidance.

An engine has

    begin(schema)            a text begins: compile, and make what the text needs
    forced(tail)             tokens that follow without the model, accepted already
    drafts(prompt, tokens)   tokens that may follow, and that the model is to check in one pass
    draw(row, left)          the next token; None: the text is over
    seconds                  spent in compiling and in the first mask, so far

Every engine is greedy or has a sampler of Turnstile's, so that draws are the same for all.

SPDX-License-Identifier: Apache-2.0
"""

import array
import importlib.util
import json
import pathlib
import time

import turnstile
from turnstile import _core

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONVERTER = ROOT / "build" / "llama-cpp-python" / "llama_cpp" / "llama_grammar.py"
TAIL = 16
# White space as these models write it, and one spelling for each string.
STYLE = {"whitespace": "pretty", "indent": 2, "spelling": "plain"}


class Free:
    """No grammar."""

    def __init__(self, vocab, host, sampling):
        self.vocab, self.host, self.sampling = vocab, host, sampling
        self.setup = 0.0

    def begin(self, schema):
        self.sampler = _core.Sampler(**self.sampling)
        self.mass = []

    def forced(self, tail):
        return []

    def drafts(self, prompt, tokens):
        return []

    def _sample(self, row, mask=None):
        token, _, mass, _, _ = self.sampler.draw(row, mask)
        self.sampler.accept(token)
        self.mass.append(mass)
        return token

    def draw(self, row, left):
        token = self._sample(row)
        return None if token in self.vocab.eog_tokens else token


class Turnstile(Free):
    """`style`: options of Grammar.json_schema; `force`: write forced tokens without the model;
    `loops`: the guard's loop_repeats.
    """

    def __init__(self, vocab, host, sampling, force=True, loops=0, **style):
        guard = {"loop_repeats": loops} if loops else {}
        super().__init__(vocab, host, {**sampling, **guard})
        self.force = force
        self.style = {**STYLE, **style}

    def begin(self, schema):
        super().begin(schema)
        start = time.thread_time()
        self.grammar = turnstile.Grammar.json_schema(self.vocab, schema, **self.style)
        self.matcher = _core.Matcher(self.grammar)
        self.matcher.mask()
        self.setup = time.thread_time() - start
        self.mask = bytearray(4 * self.vocab.mask_words)

    def forced(self, tail):
        if not self.force:
            return []
        tokens, _ = _core.draft_forced(self.matcher, tail[-TAIL:])
        if tokens:
            self.matcher.accept_tokens(tokens)
            for token in tokens:
                self.sampler.accept(token)
        return tokens

    def draw(self, row, left):
        if self.matcher.is_terminated:
            return None
        self.matcher.mask(self.mask)
        token = self._sample(row, self.mask)
        if token in self.vocab.eog_tokens:
            return None
        self.matcher.accept(token)
        return token


class Drafts(Turnstile):
    """Turnstile with drafts that the model checks. A draft is what the grammar forces. If nothing
    is forced, the last two tokens are looked up in the prompt and the text. The draft is what
    followed them there, as far as the grammar allows.
    """

    MOST, SAME = 4, 2

    def __init__(self, vocab, host, sampling):
        super().__init__(vocab, host, sampling, force=False)

    def drafts(self, prompt, tokens):
        if self.matcher.is_terminated:
            return []
        forced, _ = _core.draft_forced(self.matcher, tokens[len(prompt) :][-TAIL:])
        if forced:
            return forced
        last = tokens[-self.SAME :]
        for begin in range(len(tokens) - self.SAME - 1, -1, -1):
            if tokens[begin : begin + self.SAME] == last:
                found = tokens[begin + self.SAME :][: self.MOST]
                return found[: self.matcher.validate(found)]
        return []


class LlamaCpp(Free):
    """llama.cpp's own grammar, of the GBNF that its converter makes of the schema."""

    def __init__(self, vocab, host, sampling):
        super().__init__(vocab, host, sampling)
        spec = importlib.util.spec_from_file_location("llama_grammar", CONVERTER)
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        self.own = None

    def begin(self, schema):
        super().begin(schema)
        start = time.thread_time()
        if self.own:
            self.own.close()
        self.own = self.host.grammar(self.module.json_schema_to_gbnf(json.dumps(schema)))
        self.setup = time.thread_time() - start

    def draw(self, row, left):
        token = self.own.draw(row, self.sampler.draw(row)[0])
        if token is None or token in self.vocab.eog_tokens:
            return None
        self.own.accept(token)
        return token


class XGrammar(Free):
    """XGrammar with the white space of json.dumps(indent=2), as Turnstile has it here."""

    def __init__(self, vocab, host, sampling):
        import numpy
        import torch
        import xgrammar

        super().__init__(vocab, host, sampling)
        self.xgrammar = xgrammar
        tokens = [vocab.token_bytes(i) for i in range(vocab.size)]
        info = xgrammar.TokenizerInfo(
            tokens, vocab_size=vocab.logits_width, stop_token_ids=list(vocab.eog_tokens)
        )
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1)
        self.mask = xgrammar.allocate_token_bitmask(1, vocab.logits_width)
        self.words = self.mask[0].numpy() if isinstance(self.mask, torch.Tensor) else numpy

    def begin(self, schema):
        super().begin(schema)
        start = time.thread_time()
        grammar = self.compiler.compile_json_schema(
            json.dumps(schema), any_whitespace=False, indent=2, separators=(",", ": ")
        )
        self.matcher = self.xgrammar.GrammarMatcher(grammar)
        self.matcher.fill_next_token_bitmask(self.mask)
        self.setup = time.thread_time() - start

    def draw(self, row, left):
        if self.matcher.is_terminated():
            return None
        self.matcher.fill_next_token_bitmask(self.mask)
        token = self._sample(row, self.words)
        self.matcher.accept_token(token)
        return None if token in self.vocab.eog_tokens else token


class LLGuidance(Free):
    """llguidance with its default of flexible white space."""

    def __init__(self, vocab, host, sampling):
        import llguidance

        super().__init__(vocab, host, sampling)
        self.llguidance = llguidance

        class Tokens:
            eos_token_id = vocab.eog_tokens[0]
            bos_token_id = None
            tokens = [vocab.token_bytes(i) for i in range(vocab.size)]
            special_token_ids = [i for i in range(vocab.size) if vocab.is_special(i)]

            def __call__(self, text):
                return vocab.encode(text)

        self.tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokens()))
        self.mask = array.array("i", [0] * vocab.mask_words)

    def begin(self, schema):
        super().begin(schema)
        start = time.thread_time()
        grammar = self.llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema))
        self.matcher = self.llguidance.LLMatcher(self.tokenizer, grammar)
        self._fill()
        self.setup = time.thread_time() - start

    def _fill(self):
        address, count = self.mask.buffer_info()
        self.matcher.unsafe_compute_mask_ptr(address, count * 4)

    def draw(self, row, left):
        if self.matcher.is_stopped():
            return None
        self._fill()
        token = self._sample(row, self.mask)
        if token in self.vocab.eog_tokens:
            return None
        self.matcher.consume_token(token)
        return token
