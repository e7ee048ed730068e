"""What type checkers infer of turnstile.models. test_clients.py runs mypy and pyright over it; it
is never run itself.

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses
import re
from typing import Any, List, Tuple

from typing_extensions import assert_type

from turnstile import Grammar, Sampler, Vocab, find_loop, models


@dataclasses.dataclass
class Person:
    name: str
    age: int


def answers(model: models.Model, vocab: Vocab) -> None:
    assert_type(model("?"), str)
    assert_type(model("?", int), int)
    assert_type(model("?", Person), Person)
    assert_type(model("?", re.compile("a")), str)
    assert_type(model("?", Grammar.regex(vocab, "a")), str)
    assert_type(model("?", Person, temperature=0.5, loop_repeats=3).age, int)
    assert_type(model.batch(["?"], Person), List[Person])
    assert_type(model.measure("?", Person), Tuple[Person, models.Measure])
    assert_type(model.choose("?", ["a", "b"])["a"], float)
    assert_type(model("?", [greet, {"name": "stop"}]), models.Call)
    parts: List[Any] = list(model.stream("?", Person))
    print(parts, "".join(model.stream_text("?")))


def greet(name: str) -> None:
    """A tool."""


async def elsewhere(model: models.Model) -> None:
    assert_type(await model.acall("?", Person), Person)
    assert_type(await model.abatch(["?"], int), List[int])
    assert_type(await model.ameasure("?", bool), Tuple[bool, models.Measure])
    async for part in model.astream("?", Person):
        print(part)


def others() -> None:
    server = models.OpenAICompatible("http://127.0.0.1:1/v1")
    assert_type(server("?", Person), Person)
    assert_type(server.batch(["?"], Person), List[Person])
    assert_type(models.LlamaCpp("m.gguf")("?", int), int)
    engine = models.VLLM(object())
    assert_type(engine("?", Person), Person)
    assert_type(engine.batch(["?"], Person, max_tokens=9), List[Person])
    assert_type(engine.choose("?", ["a", "b"])["a"], float)
    Sampler(temperature=0.0, loop_repeats=3)
    found = find_loop([1, 2])
    if found is not None:
        assert_type(found, Tuple[int, int])
