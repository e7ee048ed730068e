#!/usr/bin/env python3
"""Train the small language model of the command line tool and write cli/ngram_data.c.

What      A byte-level back-off n-gram model (contexts of up to four bytes), Witten-Bell smoothed,
          pruned to NODES n-grams.
From      Prose of this project (the comments of its headers, its documents) and JSON samples that
          this script makes up. Each text stands between two NUL bytes, so that the model also knows
          how texts begin and end.
Format    The n-grams form a trie: the path w1 ... wn is the n-gram, its node holds P(wn | w1 ...
          wn-1) and the back-off weight of w1 ... wn as a context. Nodes are in breadth-first order,
          the root first; children are consecutive and sorted by byte. One uint32_t a node: bits 0-7
          the byte                    bits 16-23  back-off weight, in -1/32 nats (255 = as good as
          0) bits 8-15  probability, in -1/16 nats  bits 24-31  number of children (the root, node
          0, has all 256)
Run       python3 scripts/train_ngram.py     (deterministic for given sources; no dependencies)

SPDX-License-Identifier: Apache-2.0
"""

import collections
import json
import math
import pathlib
import random
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ORDER = 5  # longest n-gram: four bytes of context and the byte that is predicted
NODES = 14000  # n-grams that are kept
SAMPLES = 2600  # JSON texts that are made up

FIRST = (
    "Ada Alan Grace Linus Mary Emmy Sofia Kurt Alonzo Stephen Dana John Noam Donald Edsger "
    "Barbara Radia Margaret Hedy Katherine"
).split()
LAST = (
    "Lovelace Turing Hopper Noether Church Kleene Scott Backus Knuth Liskov Perlman Hamilton "
    "Johnson Rabin Brzozowski Antimirov"
).split()
CITIES = (
    "Paris Berlin Tokyo Lagos Lima Oslo Cairo Delhi Quito Kyoto London Madrid Vienna Zurich "
    "Boston Geneva Lisbon Nairobi Sydney"
).split()
COUNTRIES = (
    "France Germany Japan Nigeria Peru Norway Egypt India Ecuador Spain Austria Switzerland "
    "Portugal Kenya Australia"
).split()
COLOURS = "red green blue yellow orange purple black white grey brown".split()
UNITS = "celsius fahrenheit kelvin metric imperial".split()
THINGS = (
    "lamp chair table book phone laptop bottle camera bicycle keyboard garden window ticket "
    "letter bridge station"
).split()
TOOLS = [
    "get_weather",
    "search_web",
    "send_email",
    "create_event",
    "get_time",
    "translate",
    "calculate",
    "book_flight",
    "set_alarm",
]
WORDS = """the a small large new old quick good last first next every text token grammar model
    state mask value list name number time day week year city street weather sunny cloudy rain
    wind warm cold today tomorrow morning evening please send find show open close read write
    with from for and or to in of on at by is are was has can will that this which""".split()


def sentence(rng, low=2, high=9):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(low, high))).capitalize()


def date(rng):
    return "%04d-%02d-%02d" % (rng.randint(1990, 2030), rng.randint(1, 12), rng.randint(1, 28))


def instant(rng):
    return date(rng) + "T%02d:%02d:%02dZ" % (
        rng.randint(0, 23),
        rng.randint(0, 59),
        rng.randint(0, 59),
    )


def email(rng):
    return "%s.%s@example.%s" % (
        rng.choice(FIRST).lower(),
        rng.choice(LAST).lower(),
        rng.choice(["com", "org", "net"]),
    )


def uri(rng):
    return "https://example.%s/%s/%s" % (
        rng.choice(["com", "org"]),
        rng.choice(THINGS),
        rng.choice(WORDS),
    )


def person(rng):
    return {
        "name": rng.choice(FIRST) + " " + rng.choice(LAST),
        "age": rng.randint(1, 99),
        "email": email(rng),
        "active": rng.random() < 0.5,
        "tags": rng.sample(COLOURS + WORDS[:20], rng.randint(0, 4)),
    }


def address(rng):
    return {
        "street": "%d %s Street" % (rng.randint(1, 200), rng.choice(LAST)),
        "city": rng.choice(CITIES),
        "country": rng.choice(COUNTRIES),
        "zip": "%05d" % rng.randint(0, 99999),
    }


def call(rng):
    arguments = {
        "location": rng.choice(CITIES),
        "unit": rng.choice(UNITS),
        "query": sentence(rng),
        "count": rng.randint(1, 20),
        "to": email(rng),
        "subject": sentence(rng, 2, 4),
        "body": sentence(rng, 4, 12),
        "date": date(rng),
        "title": sentence(rng, 1, 4),
    }
    keys = rng.sample(sorted(arguments), rng.randint(1, 4))
    return {"name": rng.choice(TOOLS), "arguments": {k: arguments[k] for k in keys}}


def invoice(rng):
    items = [
        {
            "sku": "%s-%d" % (rng.choice(THINGS).upper()[:3], rng.randint(100, 999)),
            "title": rng.choice(THINGS),
            "quantity": rng.randint(1, 12),
            "price": round(rng.uniform(0.5, 300), 2),
        }
        for _ in range(rng.randint(1, 3))
    ]
    return {
        "id": rng.randint(1, 99999),
        "date": date(rng),
        "currency": rng.choice(["EUR", "USD", "JPY"]),
        "items": items,
        "paid": rng.random() < 0.5,
    }


def loose(rng, depth=0):
    kind = rng.randint(0, 8 if depth < 2 else 6)
    if kind == 7:
        return [loose(rng, depth + 1) for _ in range(rng.randint(0, 4))]
    if kind == 8:
        return {rng.choice(WORDS + THINGS): loose(rng, depth + 1) for _ in range(rng.randint(0, 4))}
    return [
        rng.randint(-100, 1000),
        round(rng.uniform(-50, 50), rng.randint(1, 3)),
        rng.random() < 0.5,
        None,
        sentence(rng, 1, 5),
        rng.choice([date, instant, email, uri])(rng),
        rng.choice(CITIES + COLOURS),
    ][kind]


def to_json(value):
    """JSON with no white space, as the tool writes it by default."""
    return json.dumps(value, separators=(",", ":"))


def json_texts(rng):
    makers = [
        person,
        call,
        call,
        invoice,
        address,
        loose,
        loose,
        lambda r: r.choice(WORDS),
        lambda r: sentence(r) + ".",
    ]
    for _ in range(SAMPLES):
        value = rng.choice(makers)(rng)
        yield value if isinstance(value, str) and rng.random() < 0.5 else to_json(value)


def plain(text):
    """One line, without rulers and licence lines."""
    return re.sub(
        r"-{3,}|SPDX-License-Identifier: \S+", "", re.sub(r"\s*\n\s*\*?\s*", " ", text)
    ).strip()


def prose():
    """Paragraphs of the comments of headers and of the documents."""
    for path in (
        sorted(ROOT.glob("include/*.h"))
        + sorted(ROOT.glob("runtime/**/*.h"))
        + sorted(ROOT.glob("compiler/**/*.h"))
    ):
        for comment in re.findall(r"/\*(.*?)\*/", path.read_text(encoding="utf-8"), re.S):
            yield plain(comment)
    for path in sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/*.md")):
        for paragraph in path.read_text(encoding="utf-8").split("\n\n"):
            yield plain(paragraph)


def count(texts):
    counts = [collections.Counter() for _ in range(ORDER + 1)]
    for text in texts:
        data = b"\0" + text.encode("utf-8") + b"\0"
        for i in range(1, len(data)):
            for n in range(1, ORDER + 1):
                if i + 1 - n >= 0:
                    counts[n][data[i + 1 - n : i + 1]] += 1
    counts[1][b"\0"] = max(counts[1][b"\0"], 1)
    for byte in range(256):  # every byte can come
        counts[1][bytes([byte])] += 1
    return counts


def prune(counts):
    """The NODES most frequent n-grams with all their prefixes and, for the back-off, their
    suffixes' contexts left to themselves.
    """
    total = collections.Counter()
    for n in range(1, ORDER + 1):
        total.update(counts[n])
    kept = {gram for gram in total if len(gram) == 1}
    # Longer n-grams must earn their place: they share the room by frequency, halved for each byte
    # of length.
    for gram, _ in sorted(
        total.items(), key=lambda item: (-item[1] / 2 ** (len(item[0]) * 0.35), item[0])
    ):
        if len(kept) >= NODES:
            break
        for n in range(1, len(gram) + 1):
            kept.add(gram[:n])
    return kept


def estimate(counts):
    """Interpolated Witten-Bell: P(b | h) = (c(hb) + T(h) P(b | h')) / (c(h) + T(h))."""
    context, types = collections.Counter(), collections.Counter()
    for n in range(1, ORDER + 1):
        for gram, c in counts[n].items():
            context[gram[:-1]] += c
            types[gram[:-1]] += 1
    memo = {}

    def probability(gram):
        if gram not in memo:
            history = gram[:-1]
            n = len(gram)
            lower = probability(gram[1:]) if n > 1 else 1 / 256
            c = counts[n].get(gram, 0)
            memo[gram] = (
                (c + types[history] * lower) / (context[history] + types[history])
                if context[history]
                else lower
            )
        return memo[gram]

    return probability


def back_off(kept, probability):
    """For every kept context h: what is left for bytes that are not its children, relative to what
    the shorter context gives them.
    """
    children = collections.defaultdict(list)
    for gram in kept:
        children[gram[:-1]].append(gram)
    weights = {}
    for history in children:
        if history == b"":
            continue
        left = 1 - sum(probability(g) for g in children[history])
        lower = 1 - sum(probability(g[1:]) for g in children[history])
        weights[history] = min(1.0, max(left, 1e-6) / max(lower, 1e-6))
    return children, weights


def quantise(probability, step):
    return min(255, max(0, round(-math.log(probability) * step)))


def pack(kept, probability):
    children, weights = back_off(kept, probability)
    order, nodes = [b""], []
    for gram in order:
        below = sorted(children.get(gram, []))
        order.extend(below)
        byte = gram[-1] if gram else 0
        p = quantise(probability(gram), 16) if gram else 0
        w = quantise(weights.get(gram, 1.0), 32)
        if gram and len(below) > 255:
            raise SystemExit("a context has more children than a node can count")
        nodes.append(byte | p << 8 | w << 16 | (len(below) if gram else 0) << 24)
    return nodes


def write(path, nodes):
    def lines(values):
        return "\n".join(
            "  " + ",".join("0x%x" % v for v in values[i : i + 12]) + ","
            for i in range(0, len(values), 12)
        )

    path.write_text(
        """\
/* ngram_data.c - the language model of the tool. scripts/train_ngram.py makes it, and says what the
 * numbers mean.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ngram.h"

const uint32_t ngram_node_count = %d;

const uint32_t ngram_nodes[%d] = {
%s
};
"""
        % (len(nodes), len(nodes), lines(nodes)),
        encoding="utf-8",
    )


def perplexity(kept, probability, texts):
    """Bits per byte of held-out texts under the full (unpruned) model: a number to see that
    training did something.
    """
    bits = n = 0
    for text in texts:
        data = b"\0" + text.encode("utf-8") + b"\0"
        for i in range(1, len(data)):
            bits -= math.log2(probability(data[max(0, i - ORDER + 1) : i + 1]))
            n += 1
    return bits / n


def main():
    rng = random.Random(20261121)
    texts = list(json_texts(rng)) + [t for t in prose() if t]
    counts = count(texts)
    probability = estimate(counts)
    kept = prune(counts)
    nodes = pack(kept, probability)
    target = ROOT / "cli" / "ngram_data.c"
    write(target, nodes)
    held_out = list(json_texts(random.Random(7)))[:200]
    print(
        "%d texts, %d bytes; %d nodes, %d KB of source; %.2f bits a byte on new JSON samples "
        "before pruning"
        % (
            len(texts),
            sum(len(t.encode()) for t in texts),
            len(nodes),
            target.stat().st_size // 1024,
            perplexity(kept, probability, held_out),
        )
    )


if __name__ == "__main__":
    sys.exit(main())
