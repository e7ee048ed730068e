"""The XGrammar worker of `./dev bench peers`: peer_xgrammar.py VOCAB EOS [cache].

Driven as its documentation says, with one GrammarCompiler per vocabulary. A schema is one
compile_json_schema with the defaults (any whitespace, strict mode). A text has one GrammarMatcher.
A token is fill_next_token_bitmask and accept_token. One thread. With `cache` its cache across
grammars is on, as by default.

The wheel imports torch and transformers for conveniences that are not used here. Two empty modules
stand in for these 5 GB of packages. The bitmask is a NumPy array, which the compiled core takes as
it is.

SPDX-License-Identifier: Apache-2.0
"""

import sys
import types

import numpy
import tvm_ffi  # noqa: F401 - before the stand-ins: it would take them for the real thing
import worker


class StandIn(types.ModuleType):
    """A module that has a type of every name."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


if __name__ == "__main__":
    sys.modules["torch"] = StandIn("torch")
    sys.modules["torch"].tensor = lambda value, dtype: value
    sys.modules["transformers"] = StandIn("transformers")
    import xgrammar

    vocab, eos = worker.Vocabulary(sys.argv[1]), int(sys.argv[2])
    info = xgrammar.TokenizerInfo(
        vocab.letters, vocab_type=xgrammar.VocabType.BYTE_LEVEL, stop_token_ids=[eos]
    )
    compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled="cache" in sys.argv[3:])
    bits = numpy.zeros((1, (len(vocab.letters) + 31) // 32), dtype=numpy.int32)

    def compile_case(case):
        if "schema" in case:
            return compiler.compile_json_schema(case["schema"])
        if "gbnf" not in case:
            raise ValueError("there is no EBNF text of this grammar")
        return compiler.compile_grammar(case["gbnf"])

    class Matcher:
        def __init__(self, grammar):
            matcher = xgrammar.GrammarMatcher(grammar)
            self.fill, self.accept = matcher.fill_next_token_bitmask, matcher.accept_token

        def mask(self):
            if not self.fill(bits):  # "no need to apply": all is allowed
                bits.fill(-1)

        def has(self, token):
            return bool(int(bits[0, token >> 5]) >> (token & 31) & 1)

        def has_end(self):
            return self.has(eos)

    worker.serve(
        f"XGrammar {xgrammar.__version__}" if hasattr(xgrammar, "__version__") else "XGrammar",
        compile_case,
        Matcher,
    )
