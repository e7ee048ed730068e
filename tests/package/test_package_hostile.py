#!/usr/bin/env python3
"""The Python package against programs that are wrong or that mean harm. They bring sizes that
overflow, numbers that do not fit, arguments that run code, forks, and cycles.

SPDX-License-Identifier: Apache-2.0
"""

import array
import gc
import os
import signal
import subprocess
import sys
import threading

from package_checks import PACKAGE, T, check, raises, results, run

vocab = T.Vocab.embedded()
words = vocab.mask_words


def regex(pattern):
    return T.Grammar.regex(vocab, pattern)


def zeros(rows=1):
    return memoryview(bytearray(4 * rows * words)).cast("I", (rows, words))


def test_sizes():
    """A size times that of an element is not a small number again."""
    matcher = regex("abc").matcher()
    for n in (2**62, 2**62 + 3, 2**63 - 1):
        many = range(n)
        raises(MemoryError, lambda: matcher.validate(many), "validate")
        raises(MemoryError, lambda: matcher.accept_tokens(many), "accept_tokens")
        raises(MemoryError, lambda: T.mask_drafts(matcher, many, zeros()), "mask_drafts")
        raises(MemoryError, lambda: T.draft_forced(matcher, many), "draft_forced")
        raises(
            MemoryError,
            lambda: T.draft_forced(matcher, [], capacity=n),
            "the capacity of draft_forced",
        )
        raises(
            MemoryError,
            lambda: T._core.Vocab._load_memory(b"{}", None, 0, many, None),
            "the tokens that end a generation",
        )
        raises(MemoryError, lambda: T.Sampler(allowed=many), "a sampler's lists")


class Number:
    """A number that runs code when it is read."""

    def __init__(self, run, value=1):
        self._run, self._value = run, value

    def __float__(self):
        self._run()
        return float(self._value)

    def __index__(self):
        self._run()
        return self._value


def test_growing():
    """Collections that grow or shrink while they are read."""
    bias = {}
    bias[0] = Number(lambda: bias.update((i, 1.0) for i in range(1, 100000)))
    check(
        T.Sampler(bias=bias) and len(bias) == 100000,
        "a dict that grows: what it held in the beginning counts",
    )
    matcher, ids = regex("a*").matcher(), []
    ids += [Number(ids.clear, vocab.encode("a")[0]), 1]
    raises(IndexError, lambda: matcher.accept_tokens(ids), "a list that shrinks")


def test_numbers():
    """Negative and too large numbers are refused, and do not wrap round; what has __index__ is
    an integer.
    """
    g = regex("[a-z]{5,}")
    matcher, budget, sampler = g.matcher(), T.Budget(g), T.Sampler()
    budget.start(matcher, 10)
    logits = array.array("f", [0.0] * vocab.logits_width)
    for bad in (-1, -(2**63), 2**64):
        for what, call in (
            ("start", lambda: budget.start(matcher, bad)),
            ("mask", lambda: budget.mask(matcher, bad, zeros()[0:1])),
            ("allows", lambda: budget.allows(matcher, bad, 1)),
            ("wind_down", lambda: budget.wind_down(matcher, bad, 1, 0.5, logits)),
            ("a soft limit", lambda: budget.wind_down(matcher, 1, bad, 0.5, logits)),
            ("Cache", lambda: T.Cache(bad)),
            ("a seed", lambda: T.Sampler(bad)),
            ("fork", lambda: sampler.fork(bad)),
            ("max_memory", lambda: T.Grammar.regex(vocab, "a", max_memory=bad)),
        ):
            raises(ValueError, call, f"{what} of {bad}")
    for bad in (-1, 2**32, 2**32 + 1):
        for what, call in (
            ("Threads", lambda: T.Threads(bad)),
            ("max_nesting", lambda: T.Grammar.json_schema(vocab, {}, max_nesting=bad)),
            ("whitespace", lambda: T.Grammar.json_schema(vocab, {}, whitespace=bad)),
            ("max_depth", lambda: T.Grammar.json_schema(vocab, {}, max_depth=bad)),
            ("top_k", lambda: T.Sampler(top_k=bad)),
            ("max_tokens", lambda: T.Sampler(max_tokens=bad)),
            ("top_n", lambda: T.measure_step(logits, top_n=bad)),
            ("logits_width", lambda: T.Vocab.from_tokens([b"a"], logits_width=bad)),
            ("a beam", lambda: T.beam_search(g, print, bad, 5)),
            ("Align", lambda: T.Align(g, print, bad)),
            ("a token", lambda: matcher.accept(bad)),
        ):
            raises(ValueError, call, f"{what} of {bad}")
    check(
        T.Sampler(seed=2**64 - 1) and matcher.accept(Number(int, vocab.encode("a")[0])),
        "the largest seed; an integer by __index__",
    )
    token = Number(int, vocab.encode("b")[0])
    check(
        matcher.accept_tokens([token, token]) == 2
        and matcher.rollback(Number(int, 2)) is None
        and matcher.history == 1,
        "lists of them, and counts",
    )
    matcher.mask(zeros(2), Number(int, 1))
    T.fill_batch([matcher], zeros(2), [Number(int, 1)])
    raises(TypeError, lambda: matcher.accept(1.0), "a float is no token")


def test_formats():
    """Arrays of another byte order, or of other things than integers."""
    import ctypes

    matcher = regex("a+").matcher()
    foreign = (
        ctypes.c_uint32.__ctype_be__ if sys.byteorder == "little" else ctypes.c_uint32.__ctype_le__
    )
    native = (
        ctypes.c_uint32.__ctype_le__ if sys.byteorder == "little" else ctypes.c_uint32.__ctype_be__
    )
    matcher.mask((native * words)())
    raises(TypeError, lambda: matcher.mask((foreign * words)()), "a mask of another byte order")
    raises(TypeError, lambda: T.count_mask((foreign * words)()), "and one to be counted")
    raises(TypeError, lambda: T.fill_batch([matcher], (foreign * words)()), "and one of a batch")
    raises(TypeError, lambda: matcher.mask((ctypes.c_bool * (4 * words))()), "a mask of bools")
    floats = (
        ctypes.c_float.__ctype_be__ if sys.byteorder == "little" else ctypes.c_float.__ctype_le__
    )
    raises(
        TypeError,
        lambda: T.Sampler().draw((floats * vocab.logits_width)()),
        "logits of another byte order",
    )
    raises(
        TypeError,
        lambda: T.apply_mask(zeros(), (floats * vocab.logits_width)()),
        "and those to be masked",
    )


def test_rows():
    """A mask that is read for one row of logits has one row: one of none has no memory."""
    import ctypes

    logits, out = (
        array.array("f", [0.0] * vocab.logits_width),
        array.array("f", [0.0] * vocab.logits_width),
    )
    for rows in (0, 2):
        mask = ((ctypes.c_uint32 * words) * rows)()
        raises(ValueError, lambda: T.Sampler().draw(logits, mask), f"draw under {rows} masks")
        raises(ValueError, lambda: T.measure_step(logits, mask), f"measure_step under {rows} masks")
        raises(
            ValueError,
            lambda: T.guide_contrastive(logits, logits, 0.1, 0.5, out, mask),
            f"guide_contrastive under {rows} masks",
        )
    one = ((ctypes.c_uint32 * words) * 1)()
    regex("a+").matcher().mask(one)
    check(vocab.token_bytes(T.Sampler().draw(logits, one)[0])[:1] == b"a", "and one is one")


class Lazy:
    """A sequence that runs code when it is read."""

    def __init__(self, run, items):
        self._run, self._items = run, items

    def __len__(self):
        return len(self._items)

    def __getitem__(self, i):
        if i == 0:
            self._run()
        return self._items[i]


def in_use(call, wait):
    """Run a call in another thread until `wait` finds what it uses in use; join it when the caller
    is done.
    """
    thread = threading.Thread(target=call)
    thread.start()
    while thread.is_alive() and not wait():
        pass
    return thread


def is_busy(call):
    try:
        call()
        return False
    except T.StateError:
        return True


def test_busy():
    """What is in use by another thread is refused, also where that thread began while the arguments
    were read.
    """
    others = [regex(f"(a|b{i}|[c-z]{{1,{i + 1}}}x)*") for i in range(150)]
    a, logits = vocab.encode("a")[0], array.array("f", [0.0] * vocab.logits_width)
    g = T.Grammar.json_schema(vocab, True)
    seen = {}
    for what, call in (
        ("accept_tokens", lambda m, run: m.accept_tokens(Lazy(run, [a]))),
        ("validate", lambda m, run: m.validate(Lazy(run, [a]))),
        ("accept", lambda m, run: m.accept(Number(run, a))),
        ("mask", lambda m, run: m.mask(zeros(2), Number(run, 1))),
        ("rollback", lambda m, run: m.rollback(Number(run, 0))),
        ("forced_bytes", lambda m, run: m.forced_bytes(Number(run, 9))),
        ("mask_drafts", lambda m, run: T.mask_drafts(m, Lazy(run, [a]), zeros(2))),
        ("draft_forced", lambda m, run: T.draft_forced(m, Lazy(run, [a]))),
        (
            "speculate",
            lambda m, run: T.speculate(m, Lazy(run, []), logits, temperature=Number(run, 1)),
        ),
        ("Budget.mask", lambda m, run: T.Budget(g).mask(m, Number(run, 9), zeros())),
    ):
        for _ in range(20):
            matcher, threads = g.matcher(), []
            batch = [matcher, *(other.matcher() for other in others)]
            out = zeros(len(batch))

            def run():
                if not threads:
                    threads.append(
                        in_use(
                            lambda: T.fill_batch(batch, out),
                            lambda: is_busy(lambda: matcher.history),
                        )
                    )
                    seen["busy"] = is_busy(lambda: matcher.history)

            refused = is_busy(lambda: call(matcher, run))
            alive = threads[0].is_alive()
            threads[0].join()
            if seen["busy"] and alive:
                check(refused, f"{what}: refused")
                break
            others = [
                regex(f"(a|b{i}|[c-z]{{1,{i + 2}}}y)*") for i in range(150)
            ]  # too fast: masks that are new
    for _ in range(20):
        table = T.MaskTable(vocab, 200)
        first, second = [other.matcher() for other in others], [g.matcher()]

        def arrays(n):
            return array.array("q", [0] * n), zeros(n), array.array("q", [0] * n)

        one, two, threads = arrays(len(first)), arrays(1), []

        def fill():
            threads.append(in_use(lambda: table.fill(first, *one), lambda: is_busy(table.stats)))
            seen["busy"] = is_busy(table.stats)

        refused = is_busy(lambda: table.fill(Lazy(fill, second), *two))
        alive = threads[0].is_alive()
        threads[0].join()
        if seen["busy"] and alive:
            check(refused, "MaskTable.fill: refused")
            break
        others = [regex(f"(a|b{i}|[c-z]{{1,{i + 2}}}z)*") for i in range(150)]


class Noted:
    """Counts how many of its kind have gone."""

    gone = 0

    def __del__(self):
        Noted.gone += 1


class Holder:
    pass


def test_cycles():
    """Cycles through the extension's objects are found by the collector."""
    tags = {"structures": [{"begin": "<a>", "schema": {}, "end": "</a>"}], "triggers": ["<a>"]}

    def keep(value, owner):
        owner.kept, owner.note = value, Noted()

    def with_resolver():
        holder = Holder()
        keep(
            T.Grammar.start("json_schema", vocab, {}, resolver=lambda uri, holder=holder: None),
            holder,
        )
        holder.kept.result()

    def with_error():
        holder = Holder()

        def fails(uri, holder=holder):
            raise KeyError(uri)

        keep(T.Grammar.start("json_schema", vocab, {"$ref": "http://a/b"}, resolver=fails), holder)
        try:
            holder.kept.result()
        except KeyError:
            pass

    def over(make):
        def build():
            own = T.Vocab.from_tokens([b"a", b"b"])
            own_grammar = T.Grammar.regex(own, "a*")
            keep(make(own_grammar), own if make is T.Grammar.matcher else own_grammar)

        return build

    cases = {
        "Grammar": over(lambda g: g),
        "Matcher": over(T.Matcher),
        "Vocab": over(T.Grammar.matcher),
        "Budget": over(T.Budget),
        "Compile": with_resolver,
        "Compile that failed": with_error,
    }

    def parser():
        g = T.Grammar.tags(vocab, tags)
        keep(T.Parser(g), g)

    def table():
        own = T.Vocab.from_tokens([b"a", b"b"])
        keep(T.MaskTable(own, 2), own)

    for what, build in {**cases, "Parser": parser, "MaskTable": table}.items():
        Noted.gone = 0
        for _ in range(5):
            build()
        gc.collect()
        check(Noted.gone == 5, f"{what}: {Noted.gone} of 5 cycles were collected")


def test_results():
    """What a resolver raised is the result of its compile, however often the result is read."""

    def fails(uri):
        raise KeyError(uri)

    compiling = T.Grammar.start("json_schema", vocab, {"$ref": "http://a/b"}, resolver=fails)
    first, second = (raises(KeyError, compiling.result, "what a resolver raised") for _ in range(2))
    check(first is second and first is not None, f"twice the same: {first!r} {second!r}")


def test_fork():
    """A fork has no threads: what needs them says so there, and is dropped without waiting for
    them.
    """
    if not hasattr(os, "fork"):
        return
    threads, release = T.Threads(2), threading.Event()
    matchers = [regex("a+").matcher() for _ in range(8)]
    T.fill_batch(matchers, zeros(8), threads=threads)
    compiling = T.Grammar.start(
        "json_schema", vocab, {"$ref": "http://a/b"}, resolver=lambda uri: release.wait(60) and "{}"
    )
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        raises(
            T.StateError, lambda: T.fill_batch(matchers, zeros(8), threads=threads), "fill_batch"
        )
        raises(
            T.StateError, lambda: T.Grammar.start("regex", vocab, "a+", threads=threads), "start"
        )
        raises(T.StateError, lambda: compiling.result(1), "result")
        raises(T.StateError, compiling.cancel, "cancel")
        T.fill_batch(matchers, zeros(8))
        own = T.Threads(2)
        T.fill_batch(matchers, zeros(8), threads=own)
        check(T.Grammar.start("regex", vocab, "a+", threads=own).result(10), "threads of its own")
        del threads, own, compiling
        sys.stdout.flush()
        os._exit(0 if all(results) else 1)
    check(os.waitpid(child, 0)[1] == 0, "the fork ends, and finds what it should")
    release.set()
    check(compiling.result(20) and threads.workers == 2, "and what the process has goes on")


def test_exit():
    """The interpreter ends while a resolver runs, on a thread of the library's own."""
    program = """if True:
        import sys, threading
        sys.path.insert(0, sys.argv[1])
        import turnstile as T
        requested, vocab = threading.Event(), T.Vocab.embedded()

        def resolver(uri):
            requested.set()
            threading.Event().wait(0.3)
            return "{}"
        threads = [T.Threads(1), None]
        asks = {"$ref": "http://a/b"}
        compiling = [
            T.Grammar.start("json_schema", vocab, asks, resolver=resolver, threads=one)
            for one in threads
            for _ in range(2)
        ]
        compiling[1] = None
        requested.wait()
        print("over")
    """
    done = subprocess.run(
        [sys.executable, "-c", program, str(PACKAGE)], stdout=subprocess.PIPE, timeout=60
    )
    check(
        done.returncode == 0 and done.stdout.split() == [b"over"], f"the interpreter ends: {done}"
    )


run(
    test_sizes,
    test_growing,
    test_numbers,
    test_formats,
    test_rows,
    test_exit,
    test_busy,
    test_cycles,
    test_results,
    test_fork,
)
