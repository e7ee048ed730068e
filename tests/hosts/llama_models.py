"""turnstile.models.LlamaCpp: the path of a GGUF file is the argument. Prints one line of JSON: what
came back, and what it cost. Run by tests/hosts/host_llama.py.

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses
import json
import sys
import typing

import turnstile.models


@dataclasses.dataclass
class Person:
    name: str
    age: int
    married: bool


def main():
    model = turnstile.models.LlamaCpp(sys.argv[1], n_threads=1, n_ctx=1024)
    prompt = (
        "Extract name, age and whether the person is married as JSON.\n"
        "Anna Petrov is 42 years old. She has lived in Riga with her husband for ten years."
    )
    person, cost = model.measure(prompt, Person, max_tokens=96)
    shares = model.choose("Is fire hot or cold?", ["hot", "cold"])
    colour = model("Name a colour.", typing.Literal["red", "blue"])
    *steps, last = model.stream(prompt, Person, max_tokens=96)
    text = "".join(model.stream_text(prompt, Person, max_tokens=96))
    print(
        json.dumps(
            {
                "person": dataclasses.asdict(person),
                "again": json.loads(text),
                "streamed": dataclasses.asdict(last),
                "steps": len(steps),
                "tokens": cost.tokens,
                "forced": cost.forced,
                "legal_mass": cost.legal_mass,
                "shares": shares,
                "colour": colour,
            }
        )
    )


if __name__ == "__main__":
    main()
