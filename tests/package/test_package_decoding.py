#!/usr/bin/env python3
"""Drawing tokens by the Python package: samplers, events, beams, budgets, probabilities.

SPDX-License-Identifier: Apache-2.0
"""

import array
import math
import zlib

from package_checks import T, check, grammar, raises, run, vocab


def test_sampler():
    logits = array.array("f", [0.0] * vocab.logits_width)
    matcher, mask = grammar.matcher(), bytearray(4 * vocab.mask_words)
    matcher.mask(mask)
    token, probability, mass, allowed, kept = T.Sampler(seed=3).draw(logits, mask)
    check(
        token in matcher.allowed() and allowed == kept == len(matcher.allowed()),
        "a draw under the mask",
    )
    check(
        abs(probability - 1 / allowed) < 1e-6 and abs(mass - allowed / vocab.size) < 1e-6,
        "its probabilities",
    )
    check(T.Sampler(3).draw(logits, mask)[0] == token, "equal seeds, equal tokens")
    logits[7] = 1.0
    check(T.Sampler(temperature=0).draw(logits)[0] == 7, "greedy, without a mask")
    logits[7] = float("nan")
    raises(T.LogitsError, lambda: T.Sampler().draw(logits), "NaN")
    raises(TypeError, lambda: T.Sampler().draw(array.array("d", logits)), "doubles")
    raises(ValueError, lambda: T.Sampler().draw(logits, mask[:4]), "a mask that is too short")
    raises(T.ArgumentError, lambda: T.Sampler(temperature=-1), "a temperature below 0")
    logits[7] = 0.0
    T.apply_mask(mask, logits)
    check([i for i, x in enumerate(logits) if x > float("-inf")] == matcher.allowed(), "apply_mask")
    raises(TypeError, lambda: T.apply_mask(mask, array.array("d", logits)), "apply_mask on doubles")
    raises(
        BufferError,
        lambda: T.apply_mask(mask, bytes(4 * vocab.logits_width)),
        "apply_mask on read-only memory",
    )


def test_sampling():
    """The stages, the text so far, what the model wanted, guidance."""
    width = 200
    logits, mask = (
        array.array("f", [(-((i * 37) % 100)) / 10 for i in range(width)]),
        array.array("I", [0xFFFFFFFF] * 7),
    )
    best = max(range(width), key=lambda t: (logits[t], -t))
    check(
        T.Sampler(temperature=0, banned=[best]).draw(logits)[0] != best
        and T.Sampler(temperature=0, bias={3: 50.0}).draw(logits)[0] == 3,
        "bans, bias",
    )
    check(
        T.Sampler(temperature=0, allowed=range(5, 9)).draw(logits, mask)[0] in range(5, 9),
        "allowed",
    )
    check(
        T.Sampler(stages=["top_k", "temperature"], top_k=4, temperature=0.5).draw(logits)[4] == 4,
        "stages by name",
    )
    for name, value in (
        ("top_n_sigma", 0.5),
        ("typical_p", 0.3),
        ("epsilon", 0.02),
        ("eta", 0.02),
        ("mirostat_tau", 2.0),
    ):
        kept = T.Sampler(**{name: value}).draw(logits)[4]
        check(1 <= kept < width, f"{name} cuts: {kept} left")
    sampler = T.Sampler(
        temperature=0, repetition_penalty=2.0, presence_penalty=100.0, penalty_window=2
    )
    first = sampler.draw(logits)[0]
    sampler.accept(first)
    second = sampler.draw(logits)[0]
    check(first == best and second != first, "a penalty for what was accepted")
    fork = sampler.fork(1)
    sampler.rollback()
    check(sampler.draw(logits)[0] == first and fork.draw(logits)[0] == second, "rollback, fork")
    raises(T.StateError, lambda: sampler.rollback(), "rollback of nothing")
    fork.restart()
    check(fork.draw(logits)[0] == first, "restart")
    fork.prompt([first])
    check(fork.draw(logits)[0] == second, "a prompt's tokens are seen")
    fork.accept(5)
    raises(T.StateError, lambda: fork.prompt([1]), "a prompt after the text began")
    for wrong in ({"stages": ["top"]}, {"stages": ["top_k"] * 20}):
        raises(ValueError, lambda: T.Sampler(**wrong), f"{wrong}")
    raises(
        T.ArgumentError,
        lambda: T.Sampler(stages=["top_k"], top_p=0.5),
        "a stage that is set and not listed",
    )
    raises(T.ArgumentError, lambda: T.Sampler(stages=["top_k", "top_k"]), "a stage twice")
    raises(TypeError, lambda: T.Sampler(bias=[1]), "bias is a dict")
    raises(
        TypeError,
        lambda: T.Sampler(0, 1.0, 0, 1.0, 0.0, True, ["top_k"]),
        "stages by keyword alone",
    )

    probabilities = [math.exp(x) for x in logits]
    legal = T.measure_step(logits, array.array("I", [0xFFFFFFFF] + [0] * 6), token=1, top_n=3)
    check(
        abs(legal["legal_mass"] - sum(probabilities[:32]) / sum(probabilities)) < 1e-6
        and legal["allowed"] == 32,
        "legal mass",
    )
    check(
        abs(legal["logprob"] - math.log(probabilities[1] / sum(probabilities))) < 1e-5,
        "log-probability",
    )
    check(
        [t for t, _ in legal["top"]] == sorted(range(width), key=lambda t: -logits[t])[:3]
        and len(legal["masked_top"]) == 3,
        "the most likely",
    )
    check(
        math.isnan(T.measure_step(logits)["logprob"]) and T.measure_step(logits)["legal_mass"] == 1,
        "no token, no mask",
    )
    out = array.array("f", [0.0] * width)
    T.guide_classifier_free(logits, array.array("f", [1.0] * width), 2.0, out)
    check(all(abs(o - (2 * x - 1)) < 1e-5 for o, x in zip(out, logits)), "classifier-free")
    T.guide_contrastive(logits, logits, 0.5, 1.0, out)
    check(
        all(
            abs(o) < 1e-6 if x >= logits[best] + math.log(0.5) else o == -math.inf
            for o, x in zip(out, logits)
        ),
        "contrastive",
    )
    raises(
        ValueError,
        lambda: T.guide_classifier_free(logits, logits[:5], 1.0, out),
        "rows of two lengths",
    )
    raises(
        BufferError,
        lambda: T.guide_classifier_free(logits, logits, 1.0, bytes(4 * width)),
        "read-only",
    )


def test_distribution():
    """What a draw draws from, what each stage cut, and penalties that spare structure."""
    row = array.array("f", [6.0, 5.0, 4.5, 3.5, 2.0, 0.0])
    tokens, stages = T.Sampler(top_k=4, top_p=0.9).distribution(row)
    check(
        [t for t, _ in tokens] == [0, 1, 2] and abs(sum(p for _, p in tokens) - 1) < 1e-9,
        f"tokens that are left: {tokens}",
    )
    check(stages == [("top_k", 4, [4, 5]), ("top_p", 3, [3])], f"what stages cut: {stages}")
    masked, stages = T.Sampler(temperature=0.5).distribution(row, array.array("I", [0b101000]))
    check([t for t, _ in masked] == [3, 5] and stages == [("temperature", 2, [])], "under a mask")
    raises(TypeError, lambda: T.Sampler().distribution([1.0]), "no row")

    vocab = T.Vocab.embedded()
    schema = {
        "type": "array",
        "items": {"type": "object", "properties": {"id": {"type": "integer"}}},
    }
    grammar = T.Grammar.json_schema(vocab, schema, whitespace="compact")
    matcher, mask = grammar.matcher(), bytearray(4 * vocab.mask_words)
    sampler = T.Sampler(presence_penalty=5.0)
    bent = T.Sampler(presence_penalty=5.0, penalise_structure=True)
    for token in vocab.encode('[{"id":1},{"id":2},{"'):
        matcher.accept(token)
        sampler.accept(token)
        bent.accept(token)
    matcher.mask(mask)
    flat = array.array("f", [0.0]) * vocab.logits_width
    even = T.Sampler().distribution(flat, mask)[0]
    check(sampler.distribution(flat, mask)[0] != even, "penalties without a matcher")
    sampler.set_matcher(matcher)
    bent.set_matcher(matcher)
    check(sampler.distribution(flat, mask)[0] == even, "penalties that spare names")
    check(bent.distribution(flat, mask)[0] != even, "and those that do not")
    sampler.set_matcher(None)
    check(sampler.distribution(flat, mask)[0] != even, "no matcher again")
    raises(TypeError, lambda: sampler.set_matcher(3), "no matcher")


def test_traces():
    """Labels from the middle of a text, and their mean over traces."""
    vocab = T.Vocab.embedded()
    grammar = T.Grammar.regex(vocab, "[ab]{3}(yes|no)")
    width, scores = vocab.logits_width, []
    for seed, trace in enumerate(("aab", "bab", "bbb")):
        matcher = grammar.matcher()
        matcher.accept_bytes(trace.encode())

        def model(prefixes, seed=seed):
            out = array.array("f", [(t * 7 + seed * t) % 11 / 5 for t in range(width)])
            return memoryview(out * len(prefixes)).cast("B").cast("f", (len(prefixes), width))

        texts, missing = T.score_all(matcher, model)
        check([t for t, _, _ in texts] == [b"no", b"yes"] and missing == 0.0, "labels of a trace")
        scores.append(texts)
    mean = T.score_mean(scores)
    values = [texts[1][2] for texts in scores]
    want = sum(values) / 3
    error = math.sqrt(sum((v - want) ** 2 for v in values) / 6)
    check(
        mean[1][0] == b"yes" and abs(mean[1][1] - want) < 1e-12 and abs(mean[1][2] - error) < 1e-12,
        f"the mean over traces: {mean}",
    )
    check(abs(sum(m for _, m, _ in mean) - 1) < 1e-9, "means sum to 1")
    check(math.isnan(T.score_mean(scores[:1])[0][2]), "one trace has no standard error")
    raises(ValueError, lambda: T.score_mean([]), "no trace")
    raises(TypeError, lambda: T.score_all(3, model), "neither grammar nor matcher")


def test_events():
    text, events = '{"a": [1, "x\\u00e9\\ud83d\\ude00y"], "b": {"c/d": null}}', T.Events()
    whole = events.feed(text) + events.end()
    check(
        whole[0] == ("begin", "object", "", "")
        and ("end", "number", "/a/0", "1") in whole
        and ("end", "null", "/b/c~1d", "") in whole,
        "events",
    )
    check(
        ("text", "string", "/a/1", "x\u00e9\U0001f600y") in whole
        and whole[-1] == ("end", "object", "", ""),
        "a string, decoded",
    )
    events.reset()
    bits = [e for byte in text.encode() for e in events.feed(bytes([byte]))] + events.end()
    check(
        "".join(e[3] for e in bits if e[:3] == ("text", "string", "/a/1")) == "x\u00e9\U0001f600y",
        "byte by byte",
    )
    check(
        [e for e in bits if e[0] != "text"] == [e for e in whole if e[0] != "text"],
        "the same values, byte by byte",
    )
    events.reset()
    raises(T.GrammarError, lambda: events.feed("[1,]"), "no JSON")
    raises(T.StateError, lambda: events.feed("1"), "after a failure")
    events.reset()
    events.feed("[")
    raises(T.GrammarError, events.end, "open")


def test_decoding():
    """Drafts, beams, the model's own distribution, probabilities of all outputs, with a model of
    random logits.
    """
    width = vocab.logits_width

    def model(prefixes):
        rows = array.array("f", bytes(4 * width * len(prefixes)))
        for i, prefix in enumerate(prefixes):
            state = zlib.crc32(repr(prefix).encode())
            for t in range(width):
                state = (state * 1103515245 + 12345) & 0x7FFFFFFF
                rows[i * width + t] = (state >> 16) / 8192.0 - 2
        return memoryview(rows).cast("B").cast("f", (len(prefixes), width))

    g = T.Grammar.choice(vocab, ["yes", "no", "yes and no"])
    texts, missing = T.score_all(g, model)
    check([t for t, _, _ in texts] == [b"no", b"yes", b"yes and no"] and missing == 0, "all texts")
    check(abs(sum(p for _, _, p in texts) - 1) < 1e-12, "their probabilities sum to 1")

    def log_softmax(prefix):
        row = list(memoryview(model([prefix])).cast("B").cast("f"))
        top = max(row)
        total = math.log(sum(math.exp(x - top) for x in row)) + top
        return [x - total for x in row]

    for text, log_p, _ in texts:
        ids = vocab.encode(text)
        want = sum(log_softmax(ids[:i])[t] for i, t in enumerate(ids))
        ends = log_softmax(ids)
        want += math.log(sum(math.exp(ends[t]) for t in vocab.eog_tokens))
        check(abs(want - log_p) < 1e-9, f"{text}: {log_p}, not {want}")
    summed, missing = T.score_all(g, model, all_tokenisations=True, open_end=True)
    check(missing == 0 and len(summed) == 3, "over all tokenisations")
    beams = T.beam_search(g, model, 64, 10, n_best=3)
    check(
        len({text for text, *_ in beams}) == len(beams) == 3 and beams[0][2] >= beams[-1][2],
        "beams",
    )
    for text, ids, log_p, _ in beams:
        check(
            b"".join(vocab.token_bytes(t) for t in ids if t not in vocab.eog_tokens) == text,
            "a beam's tokens spell its text",
        )
        check(
            abs(sum(log_softmax(ids[:i])[t] for i, t in enumerate(ids)) - log_p) < 1e-9,
            "a beam's log-probability",
        )
    raises(
        T.LimitError,
        lambda: T.beam_search(T.Grammar.regex(vocab, "a{100}"), model, 2, 3),
        "no text fits",
    )

    align = T.Align(g, model, 8, seed=5)
    check(align.mass == 1, "nothing is known yet")
    drawn = [align.sample() for _ in range(40)]
    check(
        all(g.matcher().accept_tokens(ids) == len(ids) for ids, _ in drawn) and 0 < align.mass < 1,
        "samples are texts, the mass falls",
    )
    check(0 < align.probability(drawn[-1][0]) <= 1, "a text's probability")

    class Broken(Exception):
        pass

    def broken(prefixes):
        raise Broken()

    for call in (
        lambda: T.score_all(g, broken),
        lambda: T.beam_search(g, broken, 2, 5),
        T.Align(g, broken, 5).sample,
    ):
        raises(Broken, call, "what a model raises")
    raises(
        ValueError,
        lambda: T.score_all(g, lambda prefixes: array.array("f", [0.0])),
        "too few logits",
    )
    raises(
        TypeError,
        lambda: T.score_all(g, lambda prefixes: array.array("d", [0.0] * width * len(prefixes))),
        "doubles",
    )
    nested = T.Align(g, lambda prefixes: nested.sample(), 5)
    raises(T.StateError, nested.sample, "a model that asks back")
    del nested

    m = grammar.matcher()
    forced, retract = T.draft_forced(m, [])
    check(
        forced and retract == 0 and m.validate(forced) == len(forced), "forced drafts are allowed"
    )
    chain = vocab.encode('{"a"')
    masks = memoryview(bytearray(4 * vocab.mask_words * (len(chain) + 1))).cast(
        "I", (len(chain) + 1, vocab.mask_words)
    )
    check(
        T.mask_drafts(m, chain, masks) == [True] * len(chain) and m.history == 0, "masks of drafts"
    )
    check(bytes(masks)[: 4 * vocab.mask_words] == m.mask(), "row 0 is the matcher's own")
    step = m.fork()
    step.accept_tokens(chain)
    check(
        bytes(masks)[-4 * vocab.mask_words :] == step.mask(),
        "the last row is that after all of them",
    )
    check(
        T.mask_drafts(
            m,
            [chain[0], chain[0]],
            memoryview(bytearray(12 * vocab.mask_words)).cast("I", (3, vocab.mask_words)),
            [None, None],
        )
        == [True, True],
        "two siblings",
    )
    raises(ValueError, lambda: T.mask_drafts(m, chain, bytearray(8)), "too small")
    rows = model([chain[:i] for i in range(len(chain) + 1)])
    path, token, draws = T.speculate(m, chain, rows, temperature=0.8, seed=4)
    check(
        path == list(range(len(path)))
        and m.history == len(path) + (token is not None)
        and draws > 0,
        "accepted drafts and the token after them",
    )
    raises(
        ValueError,
        lambda: T.speculate(m, chain, memoryview(bytearray(8)).cast("f", (1, 2))),
        "logits of another shape",
    )


run(test_sampler, test_sampling, test_distribution, test_traces, test_events, test_decoding)
