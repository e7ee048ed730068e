"""What the beginning of a JSON text says already.

    value = turnstile.partial.read('{"name": "An')      # {'name': 'An'}
    value = turnstile.partial.read('{"name": "Anna", "age": 4')     # {'name': 'Anna', 'age': 4}

Idea: cut the text where its last whole part ends, and close what is open there. A string that is
being written is kept as far as its characters are whole. A number is kept too, though digits may
follow. A name without its value is left out, as is a word such as `tru`.

Cost: one pass over the text. A caller that reads after every token pays for the whole text each
time.

SPDX-License-Identifier: Apache-2.0
"""

import json
import re

__all__ = ["NOTHING", "read"]


class _Nothing:
    def __repr__(self):
        return "turnstile.partial.NOTHING"

    def __bool__(self):
        return False


NOTHING = _Nothing()  # no value has begun
_CLOSE = {"{": "}", "[": "]"}
# One part of JSON text, white space before it. A string comes in three forms: whole; cut in its
# characters; cut inside an escape, which is left out.
_PART = re.compile(
    r"""\s*(?:
        (?P<mark>[{}\[\]:,])
      | (?P<string>"(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*)(?P<end>"|\\u?[0-9a-fA-F]{0,3}\Z|\Z)
      | (?P<word>true|false|null)
      | (?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)
    )""",
    re.X,
)
_HALF = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")  # the first half of a pair of surrogates


def _closed(kept, inside):
    return kept + "".join(_CLOSE[mark] for mark in reversed(inside))


def read(text):
    """The value, as far as it is known; NOTHING if none has begun. The text is the beginning of a
    JSON text.
    """
    inside = []  # brackets that are open
    at, best, name = 0, None, False  # name: the next string of the object is a name
    while True:
        part = _PART.match(text, at)
        if not part or not part.group().strip():
            break
        at = part.end()
        mark = part["mark"]
        if mark in _CLOSE:
            inside.append(mark)
            name = mark == "{"
        elif mark in ("}", "]"):
            inside.pop()
            name = False
        elif mark is not None:
            name = mark == "," and inside[-1] == "{"
            continue
        elif part["string"] is not None and name:
            if part["end"] != '"':
                break
            name = False
            continue
        elif part["string"] is not None and part["end"] != '"':
            begun = part["string"]
            if _HALF.search(begun):
                begun = begun[:-6]
            whole = text[: part.start("string")] + begun + '"'
            return json.loads(_closed(whole, inside))
        best = _closed(text[:at], inside)
    return NOTHING if best is None else json.loads(best)
