"""A GGUF model through llama.cpp's shared library, for the evaluation.

The library is the one that `turnstile run` opens (`./dev fetch model` brings both). Its structs are
blocks that are larger than any version's, as cli/model/llama.c explains.

    host = Host("build/models/….gguf", "build/llama-lib/libllama.so")
    tokens = host.encode(host.template("How old is Anna?"))
    row = host.logits(tokens)              # floats; valid until the next call

A call of logits() keeps what the model has computed for the beginning that both texts share.
`passes`, `pass_tokens` and `seconds` (of the processor) count what went through the model. One
thread.

SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import pathlib
import time

BATCH = 512  # tokens of one pass at most
NUMBERS = 256
_Log = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


class _Block(ctypes.Structure):
    _fields_ = [("numbers", ctypes.c_uint32 * NUMBERS)]


class _Turn(ctypes.Structure):
    _fields_ = [("role", ctypes.c_char_p), ("content", ctypes.c_char_p)]


class _Candidate(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int32), ("logit", ctypes.c_float), ("p", ctypes.c_float)]


class _Candidates(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.POINTER(_Candidate)),
        ("size", ctypes.c_size_t),
        ("selected", ctypes.c_int64),
        ("sorted", ctypes.c_bool),
    ]


_ANY, _INT, _TEXT, _BOOL = ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p, ctypes.c_bool
_CALLS = {
    "llama_backend_init": (None, []),
    "llama_log_set": (None, [_Log, _ANY]),
    "ggml_backend_load_all_from_path": (None, [_TEXT]),
    "llama_model_default_params": (_Block, []),
    "llama_context_default_params": (_Block, []),
    "llama_model_load_from_file": (_ANY, [_TEXT, _Block]),
    "llama_init_from_model": (_ANY, [_ANY, _Block]),
    "llama_set_n_threads": (None, [_ANY, _INT, _INT]),
    "llama_model_get_vocab": (_ANY, [_ANY]),
    "llama_vocab_n_tokens": (_INT, [_ANY]),
    "llama_model_chat_template": (_TEXT, [_ANY, _TEXT]),
    "llama_chat_apply_template": (
        _INT,
        [_TEXT, ctypes.POINTER(_Turn), ctypes.c_size_t, _BOOL, _TEXT, _INT],
    ),
    "llama_tokenize": (_INT, [_ANY, _TEXT, _INT, _ANY, _INT, _BOOL, _BOOL]),
    "llama_batch_get_one": (_Block, [_ANY, _INT]),
    "llama_decode": (_INT, [_ANY, _Block]),
    "llama_get_logits_ith": (ctypes.POINTER(ctypes.c_float), [_ANY, _INT]),
    "llama_get_memory": (_ANY, [_ANY]),
    "llama_memory_seq_rm": (_BOOL, [_ANY, _INT, _INT, _INT]),
    "llama_sampler_init_grammar": (_ANY, [_ANY, _TEXT, _TEXT]),
    "llama_sampler_apply": (None, [_ANY, ctypes.POINTER(_Candidates)]),
    "llama_sampler_accept": (None, [_ANY, _INT]),
    "llama_sampler_free": (None, [_ANY]),
}


@_Log
def _quiet(level, text, context):
    pass


class Host:
    def __init__(self, path, library, context=1536):
        self._call = library = ctypes.CDLL(str(library))
        for name, (result, parameters) in _CALLS.items():
            call = getattr(library, name)
            call.restype, call.argtypes = result, parameters
        library.llama_log_set(_quiet, None)
        library.ggml_backend_load_all_from_path(str(pathlib.Path(library._name).parent).encode())
        library.llama_backend_init()
        self._model = library.llama_model_load_from_file(
            str(path).encode(), library.llama_model_default_params()
        )
        if not self._model:
            raise RuntimeError(f"llama.cpp cannot load {path}")
        parameters = library.llama_context_default_params()
        if list(parameters.numbers[:3]) != [512, 2048, 512]:
            raise RuntimeError("this llama.cpp has other parameters: run `./dev fetch model`")
        parameters.numbers[0] = self.context = context
        parameters.numbers[1] = parameters.numbers[2] = BATCH
        self._context = library.llama_init_from_model(self._model, parameters)
        library.llama_set_n_threads(self._context, 1, 1)
        self._memory = library.llama_get_memory(self._context)
        self._vocab = library.llama_model_get_vocab(self._model)
        self.width = library.llama_vocab_n_tokens(self._vocab)
        self._known = []
        self.passes = self.pass_tokens = 0
        self.seconds = 0.0

    def encode(self, text):
        data = text.encode()
        room = len(data) + 8
        out = (ctypes.c_int32 * room)()
        count = self._call.llama_tokenize(self._vocab, data, len(data), out, room, True, True)
        return list(out[:count])

    def template(self, prompt, system=None):
        """The messages in the model's chat template, ready for an answer. A base model has no
        template: it continues a text whose last line announces the answer.
        """
        shape = self._call.llama_model_chat_template(self._model, None)
        if shape is None:
            return (f"{system}\n\n" if system else "") + f"{prompt}\n\nAnswer:\n"
        turns = [("system", system)] if system else []
        turns.append(("user", prompt))
        table = (_Turn * len(turns))(*[_Turn(a.encode(), b.encode()) for a, b in turns])
        room = ctypes.create_string_buffer(4 * sum(len(b) for _, b in turns) + 4096)
        count = self._call.llama_chat_apply_template(
            shape, table, len(turns), True, room, len(room)
        )
        if count < 0:
            raise RuntimeError("llama.cpp does not know the model's chat template")
        return room.raw[:count].decode()

    def logits(self, tokens):
        """The logits behind a text, as a ctypes array of `width` floats."""
        return self.rows(tokens, 1)[0]

    def rows(self, tokens, count):
        """The logits behind the last `count` beginnings of a text, the text itself included."""
        start = time.thread_time()
        same, known = 0, self._known
        while same < len(known) and same < len(tokens) - count and known[same] == tokens[same]:
            same += 1
        if same < len(known):
            self._call.llama_memory_seq_rm(self._memory, 0, same, -1)
        if count > BATCH:
            raise ValueError(f"{count} rows of logits are wanted; {BATCH} fit into one pass")
        begins = [*range(same, len(tokens), BATCH)]
        begins[-1] = min(begins[-1], len(tokens) - count)  # the rows come from one pass
        for begin, end in zip(begins, [*begins[1:], len(tokens)]):
            self._pass(tokens[begin:end], count if end == len(tokens) else 1)
        self._known = list(tokens)
        self.seconds += time.thread_time() - start
        row = ctypes.POINTER(ctypes.c_float * self.width)
        return [
            ctypes.cast(self._call.llama_get_logits_ith(self._context, i), row).contents
            for i in range(-count, 0)
        ]

    def _pass(self, part, count):
        """One pass of the model over some tokens; `count` of them get logits."""
        ids = (ctypes.c_int32 * len(part))(*part)
        batch = self._call.llama_batch_get_one(ids, len(part))
        if count > 1:
            # llama_batch: a number and six pointers; the last one says which tokens get logits
            wanted = (ctypes.c_int8 * len(part))(
                *[i >= len(part) - count for i in range(len(part))]
            )
            ctypes.c_void_p.from_buffer(batch, 48).value = ctypes.addressof(wanted)
        if self._call.llama_decode(self._context, batch):
            raise RuntimeError("llama_decode failed")
        self.passes += 1
        self.pass_tokens += len(part)

    def grammar(self, gbnf):
        return LlamaGrammar(self, gbnf)


class LlamaGrammar:
    """llama.cpp's own grammar, used as in its common sampler. The likeliest token is looked at
    first. All tokens are looked at only where the grammar does not allow that one. Greedy.
    """

    def __init__(self, host, gbnf):
        self._call, self._host = host._call, host
        self._sampler = self._call.llama_sampler_init_grammar(host._vocab, gbnf.encode(), b"root")
        if not self._sampler:
            raise ValueError("llama.cpp cannot read the grammar")
        self._all = (_Candidate * host.width)()

    def close(self):
        self._call.llama_sampler_free(self._sampler)

    def draw(self, row, likeliest):
        """The likeliest token that the grammar allows; None if there is none."""
        one = (_Candidate * 1)(_Candidate(likeliest, 1.0, 0.0))
        list_ = _Candidates(one, 1, -1, False)
        self._call.llama_sampler_apply(self._sampler, ctypes.byref(list_))
        if one[0].logit == 1.0:
            return likeliest
        import numpy

        table = numpy.frombuffer(
            self._all, numpy.dtype([("id", "i4"), ("logit", "f4"), ("p", "f4")])
        )
        table["id"] = numpy.arange(self._host.width)
        table["logit"] = numpy.frombuffer(row, numpy.float32)
        list_ = _Candidates(self._all, self._host.width, -1, False)
        self._call.llama_sampler_apply(self._sampler, ctypes.byref(list_))
        best = int(table["logit"].argmax())
        return best if table["logit"][best] > -numpy.inf else None

    def accept(self, token):
        self._call.llama_sampler_accept(self._sampler, token)
