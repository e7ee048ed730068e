"""The outlines-core worker of `./dev bench peers`: peer_outlines.py VOCAB EOS.

Driven as its documentation says. The schema becomes a regular expression, and that becomes an Index
over the whole vocabulary. A text has one Guide. A token is write_mask_into and advance.

SPDX-License-Identifier: Apache-2.0
"""

import sys

import numpy
import worker
from outlines_core import Guide, Index, Vocabulary
from outlines_core.json_schema import build_regex_from_schema

if __name__ == "__main__":
    vocab, eos = worker.Vocabulary(sys.argv[1]), int(sys.argv[2])
    table, spellings = worker.byte_of_letter(), {}
    for token, letters in enumerate(vocab.letters):
        if token not in vocab.special:
            spellings.setdefault(bytes(table[c] for c in letters), []).append(token)
    tokens = Vocabulary(eos, spellings)
    bits = numpy.zeros((len(vocab.letters) + 31) // 32, dtype=numpy.int32)
    address = bits.ctypes.data

    class Matcher:
        def __init__(self, index):
            self.guide = Guide(index)

        def mask(self):
            self.guide.write_mask_into(address, bits.size, 4)

        def accept(self, token):
            self.guide.advance(token, False)

        def has(self, token):
            return bool(int(bits[token >> 5]) >> (token & 31) & 1)

        def has_end(self):
            return self.has(eos)

    worker.serve(
        "outlines-core 0.2.14",
        lambda case: Index(build_regex_from_schema(case["schema"]), tokens),
        Matcher,
    )
