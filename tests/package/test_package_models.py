#!/usr/bin/env python3
"""Models that answer with Python objects: turnstile.types and turnstile.models, with a model of
random logits, and stand-ins for a server and for vLLM. tests/hosts/python/test_vllm.py has vLLM.

SPDX-License-Identifier: Apache-2.0
"""

import array
import asyncio
import dataclasses
import datetime
import decimal
import enum
import http.server
import json
import math
import pathlib
import random
import re
import sys
import tempfile
import threading
import types as types_
import typing
import uuid

from package_checks import T, check, raises, run, vocab

from turnstile import models, partial, types


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.Enum):
    LOW = 1
    HIGH = (2, 3)


@dataclasses.dataclass
class Place:
    city: typing.Literal["Riga", "Oslo"]
    ground: bool = True


@dataclasses.dataclass
class Person:
    name: typing.Literal["Anna", "Ben"]
    place: Place
    colours: typing.Tuple[Colour, Colour]


class Pair(typing.NamedTuple):
    first: bool
    second: typing.Literal[1, 2]


class Row(typing.TypedDict):
    day: datetime.date
    colour: Colour


class Tree:
    pass


@dataclasses.dataclass
class Node:
    next: typing.Optional["Node"] = None


class Pydantic:
    """What of pydantic's classes is used."""

    @classmethod
    def model_json_schema(cls):
        return {
            "type": "object",
            "properties": {"a": {"enum": [1]}},
            "required": ["a"],
            "additionalProperties": False,
        }

    @classmethod
    def model_validate(cls, value):
        made = cls()
        made.a = value["a"]
        return made


def book(city: typing.Literal["Oslo"], nights: typing.Literal[1, 2], pets: bool = False):
    """A function whose parameters are wanted."""


TYPES = (
    (type(None), lambda v: v is None),
    (bool, lambda v: isinstance(v, bool)),
    (typing.Literal["a", 1, True], lambda v: v in ("a", 1, True)),
    (Colour, lambda v: isinstance(v, Colour)),
    (Level, lambda v: isinstance(v, Level)),
    (
        Person,
        lambda v: isinstance(v, Person)
        and isinstance(v.place, Place)
        and all(isinstance(c, Colour) for c in v.colours),
    ),
    (Pair, lambda v: isinstance(v, Pair) and v.second in (1, 2)),
    (Row, lambda v: isinstance(v["day"], datetime.date) and isinstance(v["colour"], Colour)),
    (typing.Optional[Colour], lambda v: v is None or isinstance(v, Colour)),
    (typing.Union[Pair, Place], lambda v: isinstance(v, (Pair, Place))),
    (typing.Tuple[bool, Colour], lambda v: isinstance(v[0], bool) and isinstance(v[1], Colour)),
    (datetime.date, lambda v: isinstance(v, datetime.date)),
    (datetime.time, lambda v: isinstance(v, datetime.time)),
    (datetime.datetime, lambda v: v.tzinfo is not None),
    (uuid.UUID, lambda v: isinstance(v, uuid.UUID)),
    (Pydantic, lambda v: v.a == 1),
    (book, lambda v: v["city"] == "Oslo" and v["nights"] in (1, 2)),
    ({"enum": ["x", "y"]}, lambda v: v in ("x", "y")),
    (re.compile("[ab]{3}"), lambda v: re.fullmatch("[ab]{3}", v)),
    (re.compile("yes", re.IGNORECASE), lambda v: v.lower() == "yes"),
)


def row(seed):
    draw = random.Random(seed)
    return array.array("f", [draw.gauss(0, 1) for _ in range(vocab.logits_width)])


ROWS = [row(seed) for seed in range(5)]


class Random(models.Model):
    """Logits that depend on the number of tokens alone."""

    def __init__(self):
        super().__init__(vocab)

    def encode(self, text):
        return [ord(c) % 7 for c in text]

    def logits(self, tokens):
        return ROWS[len(tokens) % 5]


class Bound:
    """Metadata with the names that annotated-types, pydantic and msgspec have."""

    def __init__(self, **bounds):
        vars(self).update(bounds)


def test_recursive():
    """A class that contains itself comes back as values of that class, at every depth."""
    schema, build = types.schema_of(typing.Optional[Node])
    check(T.Grammar.json_schema(vocab, schema).vocab is vocab, f"{schema}")
    value = build({"next": {"next": None}})
    check(value == Node(Node()) and build(None) is None, f"a node: {value!r}")
    value = types.schema_of(typing.List[Node])[1]([{"next": {}}, {}])
    check(value == [Node(Node()), Node()], f"nodes: {value!r}")


def test_grammars():
    """Types stand for their schemas, and choices are texts, integers and Enums."""
    for wanted, text in (
        (Node, b'{"next": {"next": null}}'),
        (int, b"7"),
        (typing.Literal["a", 1], b"1"),
        (typing.Optional[Colour], b"null"),
    ):
        matcher = T.Grammar.json_schema(vocab, wanted).matcher()
        check(matcher.accept_bytes(text) and matcher.is_complete, f"{wanted}")
    for choices, text in ((Colour, b"red"), ([Colour.RED, "x"], b"red"), ([10, 2], b"10")):
        matcher = T.Grammar.choice(vocab, choices).matcher()
        check(matcher.accept_bytes(text) and matcher.is_complete, f"{choices}")
    job = T.Grammar.start("json_schema", vocab, Node)
    check(job.result().matcher().accept_bytes(b"{"), "a type, in the background")
    raises(TypeError, lambda: T.Grammar.choice(vocab, [True]), "True is no text")
    raises(T.UnsupportedError, lambda: T.Grammar.json_schema(vocab, typing.Dict[int, str]), "no")


def test_types():
    """Every type: what a random model answers comes back as a value of it."""
    model = Random()
    for wanted, right in TYPES:
        for seed in range(3):
            value = model("?", wanted, seed=seed, temperature=1.0)
            check(right(value), f"{wanted}: {value!r}")
    for value, wanted in (
        ({1, 2}, typing.Set[int]),
        ([1.5, 2.0], typing.List[float]),
        ({"a": decimal.Decimal("1.5")}, typing.Dict[str, decimal.Decimal]),
        (frozenset(["a"]), typing.FrozenSet[str]),
        (("a", "b", "c"), typing.Tuple[str, ...]),
    ):
        schema, build = types.schema_of(wanted)
        back = build(
            json.loads(
                json.dumps(
                    sorted(value) if isinstance(value, (set, frozenset)) else value, default=float
                )
            )
        )
        check(back == value and type(back) is type(value), f"{wanted}: {back!r}")
    check(types.schema_of(typing.Union[int, bool])[1](True) is True, "a bool is no int")
    test_recursive()
    bounded = types.schema_of(typing.List[typing.Annotated[int, Bound(ge=3, lt=9)]])[0]
    check(
        bounded["items"] == {"type": "integer", "minimum": 3, "exclusiveMaximum": 9},
        f"bounds: {bounded}",
    )
    longest = types.schema_of(typing.Annotated[typing.Dict[str, int], Bound(max_length=2)])[0]
    check(longest["maxProperties"] == 2, f"bounds of a dict: {longest}")
    check(types.schema_of(typing.NewType("name", str))[0] == {"type": "string"}, "NewType")
    for wanted in (
        Tree,
        typing.Dict[int, str],
        lambda *rest: None,
        typing.Annotated[bool, Bound(ge=1)],
    ):
        raises(T.UnsupportedError, lambda wanted=wanted: types.schema_of(wanted), f"{wanted}")


def test_answers():
    """Streams, batches, forced tokens, measures, budgets, choices, free answers."""
    model = Random()
    text = "".join(model.stream_text("?", Place, temperature=1.0))
    check(json.loads(text)["city"] in ("Riga", "Oslo"), f"a stream: {text!r}")
    check(text.startswith('{\n  "city": "'), "white space of json.dumps(indent=2)")
    value, measure = model.measure("?", Person)
    check(isinstance(value, Person) and measure.forced > 0, f"forced tokens: {measure!r}")
    check(0 < measure.least_legal_mass <= measure.legal_mass <= 1, f"legal mass: {measure!r}")
    check(measure.tokens > measure.forced, f"tokens: {measure!r}")
    check(len(model.batch(["a", "b"], bool)) == 2, "a batch")
    long = {"type": "string", "minLength": 100}
    raises(T.LimitError, lambda: model("?", long, max_tokens=5), "too few tokens")
    loose = {"type": "array", "items": {"type": "integer", "maximum": 99}}
    for seed in range(5):
        value = model("?", loose, max_tokens=20, temperature=1.0, seed=seed)
        check(isinstance(value, list), f"an array that ends in time: {value!r}")
    shares = model.choose("?", ["yes", "no", 3])
    check(set(shares) == {"yes", "no", 3} and abs(sum(shares.values()) - 1) < 1e-6, f"{shares}")
    raises(ValueError, lambda: model.choose("?", ["a", "a"]), "labels that are equal")
    raises(T.LimitError, lambda: model("?", max_tokens=3), "a free answer that is cut")
    check("Random" in repr(model) and "tokens=" in repr(model.last), "repr")
    grammar = T.Grammar.regex(vocab, "[xyz]")
    check(model("?", grammar) in "xyz", "a grammar")
    raises(T.UnsupportedError, lambda: model("?", re.compile("a", re.X)), "flags")


def below(part, whole):
    """Is it a part of that JSON value, as far as a beginning can say?"""
    if isinstance(whole, dict):
        return isinstance(part, dict) and all(below(part[key], whole[key]) for key in part)
    if isinstance(whole, list):
        return isinstance(part, list) and all(map(below, part, whole)) and len(part) <= len(whole)
    if isinstance(whole, str):
        return isinstance(part, str) and whole.startswith(part)
    if isinstance(whole, bool) or whole is None:
        return part is whole
    return isinstance(part, (int, float))


def test_partial():
    """Every beginning of a JSON text is read as a part of its value; a stream's objects grow."""
    draw = random.Random(7)

    def value(depth):
        kind = draw.randrange(7 if depth else 4)
        if kind == 0:
            return draw.choice([True, False, None])
        if kind == 1:
            return draw.choice([0, -5, 12.5, 1e30, -0.25])
        if kind < 4:
            letters = 'ab"\\\n\u20ac\U0001f600{}[],: '
            return "".join(draw.choice(letters) for _ in range(draw.randrange(6)))
        if kind == 4:
            return [value(depth - 1) for _ in range(draw.randrange(4))]
        return {f'{draw.choice("ab")}"{{{i}': value(depth - 1) for i in range(draw.randrange(4))}

    wrong = 0
    for _ in range(300):
        whole = value(3)
        text = json.dumps(whole, ensure_ascii=draw.random() < 0.5, indent=draw.choice([None, 2]))
        for length in range(len(text)):
            part = partial.read(text[:length])
            wrong += part is not partial.NOTHING and not below(part, whole)
        wrong += partial.read(text) != whole
    check(wrong == 0, f"{wrong} beginnings are read as something else")
    check(partial.read(" ") is partial.NOTHING and not partial.NOTHING, "nothing yet")
    check(partial.read('{"a": "b\\u12') == {"a": "b"}, "half an escape")
    check(partial.read('["\\ud83d') == [""], "half a pair of surrogates")
    check(partial.read('{"a": tr') == {} and partial.read('{"a": [1, {"b') == {"a": [1, {}]}, "cut")

    model = Random()
    *parts, last = model.stream("?", Person, temperature=1.0, seed=3)
    check(isinstance(last, Person) and len(parts) > 3, f"{len(parts)} partial objects")
    check(all(below(part, parts[-1]) for part in parts), f"{parts}")
    check(model("?", Person, temperature=1.0, seed=3) == last, "the last one is the answer")
    pieces = list(model.stream("?", re.compile("[ab]{3}")))
    check("".join(pieces) == model("?", re.compile("[ab]{3}")), "a stream of text")


def test_async():
    """The asynchronous forms give what the others give, in a thread of the model's own."""
    model = Random()

    async def ask():
        place, both = await asyncio.gather(model.acall("?", Place), model.abatch(["a", "b"], bool))
        parts = [part async for part in model.astream("?", Place)]
        answer, measure = await model.ameasure("?", bool)
        shares = await model.achoose("?", ["yes", "no"])
        async for _ in model.astream("?", Place):
            break  # a stream that nobody reads on
        with_error = await asyncio.gather(
            model.acall("?", re.compile("a", re.X)), return_exceptions=True
        )
        return place, both, parts, answer, measure.tokens, shares, with_error[0]

    place, both, parts, answer, tokens, shares, error = asyncio.run(ask())
    check(place == model("?", Place) == parts[-1], f"{place} {parts[-1]}")
    check(both == model.batch(["a", "b"], bool) and answer == model("?", bool), f"{both} {answer}")
    check(tokens == model.last.tokens and shares == model.choose("?", ["yes", "no"]), f"{shares}")
    check(isinstance(error, T.UnsupportedError), f"{error!r}")


class Looping(Random):
    """A model that says "a" for ever where it may; else it closes the string."""

    def __init__(self):
        super().__init__()
        (self.a,) = vocab.encode(b"a")

    def logits(self, tokens):
        row = array.array("f", [-0.001 * i for i in range(vocab.logits_width)])
        row[self.a] = 9.0
        row[vocab.encode(b'"')[0]] = 5.0
        return row


def test_loops():
    """A model that loops uses up its tokens, and ends by itself under the guard."""
    model, schema = Looping(), {"type": "string", "minLength": 1}
    for repeats in (2, 3, 5):
        answer = model("?", schema, max_tokens=100, loop_repeats=repeats)
        check(answer == "a" * repeats, f"{repeats} copies: {answer!r}")
    free = model("?", schema, max_tokens=100)
    check(len(free) > 50, f"without the guard: {free!r}")
    raises(T.ArgumentError, lambda: model("?", schema, loop_repeats=1), "one copy is no loop")
    check(T.find_loop([1, 2, 3, 2, 3], 2) == (2, 2), "the period, and the next token")
    check(T.find_loop([1, 2, 3, 2, 3]) is None, "two copies are not three")
    check(T.find_loop([7] * 200, repeats=3, longest=1) == (1, 7), "one token")
    raises(ValueError, lambda: T.find_loop([1], 1), "one copy")


class Cut(Random):
    """A model whose answer ends within a character."""

    def logits(self, tokens):
        (half,) = (t for t in range(vocab.size) if vocab.token_bytes(t) == b"\xc3")
        row = array.array("f", [0.0] * vocab.logits_width)
        row[half if len(tokens) == 2 else vocab.eog_tokens[0]] = 9.0
        return row


def test_cut():
    """A stream is the whole answer, also where that ends within a character."""
    model = Cut()
    check(model("?") == "\ufffd", f"the answer: {model('?')!r}")
    pieces = list(model.stream_text("?"))
    check("".join(pieces) == model("?"), f"the stream: {pieces!r}")


class Steady(Random):
    """A model that always wants the same."""

    def logits(self, tokens):
        return ROWS[0]


def test_penalties():
    """Penalties spare what the grammar lists: such answers are those without penalties."""
    words = {"type": "array", "items": {"enum": ["red", "blue"]}, "minItems": 6, "maxItems": 6}
    free = Steady()("?", words)
    check(len(set(free)) == 1, f"without penalties: {free}")
    for how in ({"frequency_penalty": 50.0}, {"repetition_penalty": 9.0}):
        penalised = Steady()("?", words, **how)
        check(free == penalised, f"{how}: {penalised}")
    bent = Steady()("?", words, frequency_penalty=50.0, penalise_structure=True)
    check(free != bent, f"with structure: {bent}")


def test_shortcuts():
    """A vocabulary by its folder, and any object."""
    with tempfile.TemporaryDirectory() as folder:
        raises(T.ArgumentError, lambda: T.Vocab.from_pretrained(folder), "an empty folder")
        path = pathlib.Path(folder, "tokenizer.json")
        letters = {chr(97 + i): i for i in range(26)}
        path.write_text(json.dumps({"model": {"type": "BPE", "vocab": letters, "merges": []}}))
        for source in (folder, path):
            check(len(T.Vocab.from_pretrained(source)) == 26, f"from_pretrained({source})")
        raises(T.UnsupportedError, lambda: T.Vocab.from_pretrained(object()), "no tokenizer")
    matcher = T.Grammar.json_object(vocab, whitespace="compact").matcher()
    check(matcher.forced_bytes() == b"{", "any object begins with a bracket")


class Server(http.server.BaseHTTPRequestHandler):
    """Answers what the prompt says, and remembers the request."""

    seen: typing.ClassVar[list] = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((self.path, body))
        prompt = body["messages"][-1]["content"]
        status = 400 if prompt == "bad" else 200
        finish = "length" if prompt == "cut" else "stop"
        choice = {"finish_reason": finish, "message": {"content": prompt}}
        answer = json.dumps({"choices": [choice]} if status == 200 else {"error": "no"}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        pass


def test_server():
    server = http.server.HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    model = models.OpenAICompatible(f"http://127.0.0.1:{server.server_port}/v1/", "m")
    check(model('{"first": true, "second": 2}', Pair, system="s") == Pair(True, 2), "a type")
    path, body = Server.seen[-1]
    check(path == "/v1/chat/completions" and len(body["messages"]) == 2, f"{path} {body}")
    shape = body["response_format"]["json_schema"]
    check(shape["strict"] and "first" in shape["schema"]["properties"], f"{shape}")
    check(model.batch(["a", "b"]) == ["a", "b"], "free answers")
    check(asyncio.run(model.acall("a")) == "a", "an asynchronous answer")
    raises(T.LimitError, lambda: model("cut", str), "an answer that was cut")
    raises(T.TurnstileError, lambda: model("bad", str), "an error of the server")
    raises(T.UnsupportedError, lambda: model("a", re.compile("a")), "a pattern")
    server.shutdown()


def rest(mood: Colour, node: typing.Optional[Node] = None):
    """Rest for a while.

    This part is not shown.
    """


def test_tools():
    """A list of tools: functions, and what OpenAI's requests list."""
    model = Random()
    shown = []
    model.template = lambda prompt, system=None: shown.append(system) or prompt
    stop = {"name": "stop", "parameters": {"properties": {"now": {"const": 1}}, "type": "object"}}
    wrapped = {"type": "function", "function": {**stop, "name": "end"}}
    names = set()
    for seed in range(12):
        call = model("?", [book, rest, stop, wrapped], seed=seed, temperature=1.0)
        names.add(call.name)
        check(call.name in ("book", "rest", "stop", "end"), f"{call!r}")
        if call.name == "rest":
            check(isinstance(call.arguments["mood"], Colour), f"{call!r}")
            check(isinstance(call.arguments.get("node"), (Node, type(None))), f"{call!r}")
        if call.name == "book":
            check(call.arguments["city"] == "Oslo", f"{call!r}")
    check(len(names) > 1, f"calls: {names}")
    check("Rest for a while." in shown[0] and "not shown" not in shown[0], f"{shown[0]}")
    check(all(name in shown[0] for name in ('"book"', '"rest"', '"end"')), f"{shown[0]}")
    model("?", [book], system="Write little.")
    check(shown[-1].startswith("Write little.\n\nYou may call"), f"{shown[-1]}")
    last = list(model.stream("?", [book]))[-1]
    check(isinstance(last, models.Call), f"a stream ends in the call: {last!r}")
    for wrong in ([], [book, book], [{"parameters": {}}]):
        raises(ValueError, lambda wrong=wrong: model("?", wrong), f"{wrong}")
    odd = {"name": "odd", "parameters": {"properties": {"a": {"$ref": "#/properties/b"}}}}
    raises(T.UnsupportedError, lambda: model("?", [odd]), "a reference into the parameters")


class Params:
    """vllm.SamplingParams."""

    def __init__(self, extra_args=None, prompt_logprobs=None, **options):
        self.extra_args, self.prompt_logprobs, self.options = extra_args, prompt_logprobs, options


class Engine:
    """vllm.LLM over the random model, as far as models.VLLM uses it. Answers follow the request of
    the logits processor, as turnstile.vllm does.
    """

    def __init__(self):
        self.requests = []

    def get_tokenizer(self):
        ids = Random().encode
        call = lambda self, text, add_special_tokens: {"input_ids": ids(text)}  # noqa: E731
        return type("Tokenizer", (), {"__call__": call, "eos_token_id": vocab.eog_tokens[0]})()

    def generate(self, prompts, params, use_tqdm):
        self.requests.append(params)
        return [self.answer(prompt["prompt_token_ids"], params) for prompt in prompts]

    def answer(self, tokens, params):
        if params.prompt_logprobs == 0:
            rows = [None]
            for place in range(1, len(tokens)):
                row = ROWS[place % 5]
                total = math.log(sum(math.exp(x) for x in row))
                log = row[tokens[place]] - total
                rows.append({tokens[place]: types_.SimpleNamespace(logprob=log)})
            return types_.SimpleNamespace(prompt_logprobs=rows)
        wanted = dict((params.extra_args or {}).get("turnstile", {}))
        grammar, most = None, params.options.pop("max_tokens")
        if wanted:
            check(wanted.pop("in_time") is True, "answers end in time")
            kind = "regex" if "regex" in wanted else "json_schema"
            grammar = getattr(T.Grammar, kind)(vocab, wanted.pop(kind), **wanted)
        model, finish = Random(), "stop"
        model.encode = lambda text: list(tokens)
        try:
            text = model("", grammar, max_tokens=most, **params.options)
        except T.LimitError:
            text, finish = "", "length"
        params.options["max_tokens"] = most
        made = types_.SimpleNamespace(text=text, finish_reason=finish)
        return types_.SimpleNamespace(outputs=[made])


def test_vllm():
    sys.modules["vllm"] = types_.SimpleNamespace(SamplingParams=Params)
    engine = Engine()
    model = models.VLLM(engine)
    check("VLLM" in repr(model), "repr")
    for wanted, right in TYPES:
        value = model("?", wanted, temperature=1.0, seed=1)
        check(right(value), f"vLLM, {wanted}: {value!r}")
    requests = engine.requests[0].extra_args["turnstile"]
    check(requests["whitespace"] == "pretty" and requests["indent"] == 2, f"{requests}")
    before = len(engine.requests)
    check(len(model.batch(["a", "b", "c"], bool)) == 3, "a batch")
    check(len(engine.requests) == before + 1, "a batch is one call")
    check(model.batch([], bool) == [], "no prompts")
    check(isinstance(asyncio.run(model.acall("a", bool)), bool), "an asynchronous answer")
    check(asyncio.run(model.abatch(iter(["a"]), Colour))[0] in Colour, "an asynchronous batch")
    shares = model.choose("?", ["yes", "no", 3])
    check(set(shares) == {"yes", "no", 3} and abs(sum(shares.values()) - 1) < 1e-6, f"{shares}")
    # in the stand-in a text's tokens are those that the prompt's letters have: counted by hand
    start = Random().encode("?\n")
    logs = {}
    for label in ("yes", "no", 3):
        tokens, log = [*start, *Random().encode(str(label)), vocab.eog_tokens[0]], 0.0
        for place in range(len(start), len(tokens)):
            row = ROWS[place % 5]
            log += row[tokens[place]] - math.log(sum(math.exp(x) for x in row))
        logs[label] = log
    total = sum(math.exp(log) for log in logs.values())
    for label, share in shares.items():
        check(abs(share - math.exp(logs[label]) / total) < 1e-9, f"the share of {label}: {share}")
    raises(ValueError, lambda: model.choose("?", ["a", "a"]), "labels that are equal")
    raises(T.LimitError, lambda: model("?", max_tokens=3), "a free answer that is cut")
    grammar = T.Grammar.regex(vocab, "[xyz]")
    raises(T.UnsupportedError, lambda: model("?", grammar), "a grammar of another vocabulary")


run(
    test_types,
    test_grammars,
    test_answers,
    test_partial,
    test_async,
    test_loops,
    test_cut,
    test_penalties,
    test_shortcuts,
    test_server,
    test_tools,
    test_vllm,
)
