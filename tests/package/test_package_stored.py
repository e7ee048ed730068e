#!/usr/bin/env python3
"""Grammars of the Python package that are kept: caches, artifacts, shared folders; and compiles in
the background, and their budgets.

SPDX-License-Identifier: Apache-2.0
"""

import array
import multiprocessing
import pathlib
import tempfile
import threading
import time

from package_checks import SCHEMA, T, check, grammar, raises, run, vocab


def test_cache():
    cache = T.Cache(max_bytes=1 << 26)
    first = T.Grammar.json_schema(vocab, SCHEMA, cache=cache)
    again = T.Grammar.json_schema(vocab, SCHEMA, cache=cache, deadline=10)
    other = T.Grammar.json_schema(vocab, SCHEMA, whitespace="compact", cache=cache)
    check(
        first.matcher().mask_id() == again.matcher().mask_id() and first.stats() == again.stats(),
        "an equal grammar is the same",
    )
    check(
        other.matcher().accept_bytes('{"a":1') and not other.matcher().accept_bytes('{ "a"'),
        "another option, another grammar",
    )
    check(T.Grammar.choice(vocab, ["a", "b"], cache=cache).matcher().accept_bytes("b"), "choices")
    stats = cache.stats()
    check(
        (stats["hits"], stats["misses"], stats["entries"]) == (1, 3, 3)
        and 0 < stats["bytes"] < stats["max_bytes"] == 1 << 26,
        f"statistics {stats}",
    )
    cache.clear()
    check(
        cache.stats()["entries"] == 0 and first.matcher().allowed(), "grammars outlive the cache's"
    )
    raises(
        T.GrammarError, lambda: T.Grammar.regex(vocab, "(", cache=cache), "failures are failures"
    )
    raises(TypeError, lambda: T.Grammar.regex(vocab, "a", cache={}), "a cache that is none")
    raises(
        T.UnsupportedError, lambda: T.Grammar.tags(vocab, {}, cache=cache), "tags are not cached"
    )
    raises(T.ArgumentError, lambda: T.Cache(0), "a cache of nothing")
    misses = cache.stats()["misses"]
    threads = [
        threading.Thread(target=T.Grammar.regex, args=(vocab, "x{3,900}y"), kwargs={"cache": cache})
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(cache.stats()["misses"] == misses + 1, "four threads, one compile")


def test_adapters_cache():
    from turnstile.cache import Cache

    made = []
    cache = Cache(3, max_bytes=100, size=len)

    def get(key, size):
        return cache.get(key, lambda: made.append(key) or bytearray(size))

    for key in "abc":
        get(key, 10)
    get("a", 10)
    get("d", 10)
    check(
        made == ["a", "b", "c", "d"] and get("a", 0) is get("a", 0) and made[-1] == "d",
        "three are kept, the last ones used",
    )
    get("b", 10)
    check(made[-1] == "b", "the one that was used least is gone")
    get("a", 10).extend(bytes(90))  # it grows to 100 while it is held
    get("a", 0)
    get("d", 10), get("b", 10)
    check(made[-2:] == ["d", "b"], "what is over the bytes is gone")
    large = get("e", 1000)
    check(
        len(large) == 1000 and get("e", 0) is large,
        "one that is too large is kept while it is the last",
    )
    raises(ZeroDivisionError, lambda: cache.get("z", lambda: 1 // 0), "what is raised is raised")
    get("f", 1)
    get("e", 5)
    check(made[-1] == "e", "and goes for the next one")
    cache.clear()
    get("f", 1)
    check(made[-1] == "f", "cleared")


def walk_along(g, text):
    """What a matcher says at each byte of a text."""
    matcher, seen = g.matcher(), []
    for byte in text:
        seen.append((matcher.mask_id(), matcher.allowed()))
        check(matcher.accept_bytes(bytes([byte])), f"{text!r} is followed")
    return seen


def store_worker(folder, text, out):
    g = T.Grammar.json_schema(vocab, SCHEMA, cache=folder)
    out.send(walk_along(g, text))


def test_artifacts():
    text = b'{"a": 10, "b": ["x"'
    compiled = T.Grammar.json_schema(vocab, SCHEMA)
    expected = walk_along(compiled, text[:9])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.tslgrammar"
        check(compiled.save(path) is None and path.stat().st_size > 1000, "an artifact is written")
        loaded = T.Grammar.load(vocab, path)
        check(
            isinstance(loaded, T.Grammar)
            and loaded.vocab is vocab
            and loaded.report() == compiled.report(),
            "and loaded",
        )
        check(walk_along(loaded, text[:9]) == expected, "equal masks")
        raises(
            T.FormatError,
            lambda: T.Grammar.load(T.Vocab.from_tokens([b"a", b"b"]), path),
            "another vocabulary",
        )
        raises(
            T.FileError, lambda: T.Grammar.load(vocab, str(path) + "x"), "a file that is not there"
        )
        path.write_bytes(b"rubbish" * 200)
        raises(T.FormatError, lambda: T.Grammar.load(vocab, path), "a file that is none")
        raises(
            T.UnsupportedError,
            lambda: T.Grammar.json_schema(
                vocab, {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
            ).save(path),
            "what cannot be listed",
        )
        raises(T.LimitError, lambda: compiled.save(path, max_states=3), "too many states")
        raises(
            T.FileError, lambda: compiled.save(folder + "/no/where"), "a folder that is not there"
        )
        shared = folder + "/shared"
        workers = []
        for _ in range(
            3
        ):  # processes that share a folder: tests/grammar/test_store.c counts their compiles
            here, there = multiprocessing.Pipe(duplex=False)
            worker = multiprocessing.get_context("fork").Process(
                target=store_worker, args=(shared, text[:9], there)
            )
            worker.start()
            workers.append((worker, here))
        check(
            all(here.recv() == expected for _, here in workers),
            "processes that share a folder have equal masks",
        )
        for worker, _ in workers:
            worker.join()
        names = [p.name for p in pathlib.Path(shared).iterdir()]
        check(len(names) == 1 and names[0].endswith(".tslgrammar"), f"one file is there: {names}")
        for where in (shared, pathlib.Path(shared)):
            check(
                walk_along(T.Grammar.json_schema(vocab, SCHEMA, cache=where), text[:9]) == expected,
                "and is used again",
            )
        raises(
            ValueError,
            lambda: T.Grammar.start("json_schema", vocab, SCHEMA, cache=shared),
            "a folder in the background",
        )


HARD = {
    "type": "string",
    "allOf": [{"pattern": p} for p in ("^(a{211})*a$", "^(a{223})*aa$", "^(a{227})*aaa$")],
}  # ten million states


def test_background():
    threads, cache = T.Threads(1), T.Cache(1 << 26)
    for options in (
        {},
        {"threads": threads},
        {"cache": cache},
        {"threads": threads, "cache": cache},
    ):
        compile = T.Grammar.start("json_schema", vocab, SCHEMA, whitespace="compact", **options)
        result = compile.result()
        check(
            type(result) is T.Grammar and compile.done and result.matcher().accept_bytes('{"a":1}'),
            f"in the background, {list(options)}",
        )
        check(compile.result().matcher().mask_id() == result.matcher().mask_id(), "requested twice")
    check(cache.stats()["hits"] == 1, "through the cache")
    check(
        T.Grammar.start("choice", vocab, ["yes", "no"]).result(10).matcher().accept_bytes("no"),
        "choice",
    )
    check(
        T.Grammar.start("gbnf", vocab, 'root ::= "x"').result().matcher().accept_bytes("x"), "gbnf"
    )
    raises(
        T.GrammarError,
        T.Grammar.start("json_schema", vocab, {"type": "strin"}).result,
        "its exception",
        pointer="/type",
    )
    hard = T.Grammar.start("json_schema", vocab, HARD, max_steps=2**63)
    raises(TimeoutError, lambda: hard.result(0.01), "not done yet")
    check(not hard.done, "not done")
    hard.cancel()
    raises(T.CancelledError, lambda: hard.result(10), "cancelled")
    del hard
    dropped = T.Grammar.start("json_schema", vocab, HARD, threads=threads, max_steps=2**63)
    del dropped, threads
    requested = []
    compile = T.Grammar.start(
        "json_schema",
        vocab,
        {"$ref": "http://host/x"},
        resolver=lambda uri: requested.append((uri, threading.get_ident())) or "true",
    )
    check(
        compile.result().matcher().accept_bytes("[1]")
        and requested[0][0] == "http://host/x"
        and requested[0][1] != threading.get_ident(),
        "a resolver, on the other thread",
    )
    raises(
        ZeroDivisionError,
        T.Grammar.start(
            "json_schema", vocab, {"$ref": "http://host/x"}, resolver=lambda uri: 1 // 0
        ).result,
        "a resolver that raises",
    )
    began, go, own = threading.Event(), threading.Event(), []

    def drop(uri):
        began.set()
        go.wait()
        own.clear()  # the last reference on the compile that this is called by
        return "true"

    own.append(T.Grammar.start("json_schema", vocab, {"$ref": "http://host/x"}, resolver=drop))
    began.wait()
    go.set()
    while own:
        time.sleep(0.001)
    check(True, "a resolver drops its own compile")
    raises(ValueError, lambda: T.Grammar.start("tags", vocab, {}), "a kind that there is not")
    raises(
        ValueError,
        lambda: T.Grammar.start("regex", vocab, "a", cancel=T.Cancel()),
        "cancel is for those in the foreground",
    )
    raises(
        TypeError, lambda: T.Grammar.start("regex", vocab, "a", threads=3), "threads that are none"
    )
    raises(TypeError, lambda: T.Grammar.start("regex", vocab, 3), "a pattern that is none")
    raises(
        T.CancelledError, lambda: T.Grammar.json_schema(vocab, HARD, deadline=0.02), "a deadline"
    )
    for kind in (T.Compile, T.Grammar, T.Vocab):
        raises(TypeError, kind, f"{kind.__name__} has no constructor of its own")


def test_budget():
    g = T.Grammar.json_schema(
        vocab, {"type": "array", "items": {"type": "string"}, "minItems": 1}, whitespace="compact"
    )
    budget, most = T.Budget(g), 30
    mask, logits = bytearray(4 * vocab.mask_words), array.array("f", [0.0] * vocab.logits_width)
    for seed in range(20):
        matcher, sampler = g.matcher(), T.Sampler(seed)
        budget.start(matcher, most)
        for left in range(most, -1, -1):
            budget.mask(matcher, left, mask)
            token = sampler.draw(logits, mask)[0]
            check(budget.allows(matcher, left, token), "what the mask has is allowed")
            matcher.accept(token)
            if matcher.is_terminated:
                break
        check(matcher.is_terminated, f"seed {seed}: complete within {most} tokens")
    matcher = g.matcher()
    error = raises(
        T.LimitError,
        lambda: budget.start(matcher, 1),
        "a budget that is too small",
        status="TSL_ERR_LIMIT",
    )
    check(any(c.isdigit() for c in str(error)), f"says how many it takes: {error}")
    way = budget.completion(matcher)
    check(
        matcher.accept_tokens(way) == len(way)
        and matcher.is_complete
        and budget.completion(matcher) == [],
        "a completion",
    )
    matcher = g.matcher()
    matcher.accept_bytes('["a"')
    close, comma = (vocab.encode(text)[0] for text in ("]", ","))
    check(
        budget.allows(matcher, 1, close)
        and not budget.allows(matcher, 1, comma)
        and not budget.allows(matcher, 9, vocab.encode("x")[0]),
        "allows",
    )
    budget.wind_down(matcher, 2, 4, 6.0, logits)
    check(abs(logits[close] - 4.5) < 1e-5 and logits[comma] == 0, "wind_down")
    raises(
        ValueError,
        lambda: budget.wind_down(matcher, 2, 4, 6.0, array.array("f", [0.0])),
        "a row that is too short",
    )
    raises(
        ValueError, lambda: budget.allows(grammar.matcher(), 3, 4), "a matcher of another grammar"
    )
    raises(TypeError, lambda: budget.allows(3, 3, 4), "no matcher")
    raises(TypeError, lambda: T.Budget(vocab), "a budget of no grammar")


run(test_cache, test_adapters_cache, test_artifacts, test_background, test_budget)
