"""What cache policy a large fleet needs: a simulation with costs that are measured first.

    ./dev bench scale [--nodes 1000] [--schemas 1000000] [--requests 100000000] [--exponent 1.1]
                      [--fetch-ms 15] [--seed 1]

Measured   For the published schemas of build/schemas: processor time from a schema's text to its
           first mask, memory of the grammar after it. For a sample: time to make its artifact, time
           to load one, its size.
Simulated  A day. Requests name schemas by a Zipf law. Each schema has the costs of one that was
           measured, drawn by its rank. A node has a cache in memory (least recently used goes
           first), perhaps a folder of artifacts, perhaps an object store that all nodes share. A
           few nodes are followed request by request. The other nodes are there by what they have
           put into the object store by then.
Printed    For each policy the report has the first mask's p50, p99 and p99.9, and the share of
           requests that a cache answered. The report also has processor seconds a node, and bytes
           read from the object store.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import bisect
import collections
import itertools
import json
import math
import pathlib
import random
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
import turnstile  # noqa: E402

FOLLOWED = 4  # nodes that are followed request by request
MEASURED = 400  # schemas
SAVED = 24  # of these, in artifacts
HIT = 2e-6  # seconds: a grammar that is in memory, and a mask that is known

Cost = collections.namedtuple("Cost", "compile bytes make load size")


def seconds_of(work):
    """Processor time of a call: other programs of the machine do not count."""
    began = time.process_time()
    done = work()
    return time.process_time() - began, done


def first_mask(vocab, schema):
    grammar = turnstile.Grammar.json_schema(vocab, schema)
    turnstile.Matcher(grammar).mask()
    return grammar


def measure(vocab, schemas, rng):
    """Costs of `schemas`. Those that name documents not at hand are left out, and counted."""
    costs, refused = [], 0
    rng.shuffle(schemas)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/artifact"
        for schema in schemas[:MEASURED]:
            try:
                took, grammar = seconds_of(lambda: first_mask(vocab, schema))
            except turnstile.GrammarError:
                refused += 1
                continue
            costs.append([took, grammar.stats()["memory"], None, None, None, schema])
        for cost in rng.sample(costs, min(SAVED, len(costs))):
            grammar = first_mask(vocab, cost[5])
            try:
                cost[2], _ = seconds_of(lambda: grammar.save(path))
            except (turnstile.LimitError, turnstile.UnsupportedError):
                continue
            cost[4] = pathlib.Path(path).stat().st_size
            cost[3], _ = seconds_of(
                lambda: turnstile.Matcher(turnstile.Grammar.load(vocab, path)).mask()
            )
    saved = [cost for cost in costs if cost[3] is not None]
    for cost in costs:  # what was not saved costs what another one costs
        if cost[3] is None:
            cost[2:5] = rng.choice(saved)[2:5]
    return [Cost(*cost[:5]) for cost in costs], refused, len(saved)


class Zipf:
    """Ranks 0, 1, ...: rank r with probability in proportion to 1 / (r + 1)^s."""

    def __init__(self, count, exponent):
        weights = (1 / (rank + 1) ** exponent for rank in range(count))
        self.sums = list(itertools.accumulate(weights))

    def draw(self, rng):
        return bisect.bisect_left(self.sums, rng.random() * self.sums[-1])

    def probability(self, rank):
        return (self.sums[rank] - (self.sums[rank - 1] if rank else 0)) / self.sums[-1]


class Memory:
    """Grammars in memory, the least recently used one goes first."""

    def __init__(self, capacity):
        self.kept, self.capacity, self.used = collections.OrderedDict(), capacity, 0

    def has(self, key):
        if key in self.kept:
            self.kept.move_to_end(key)
            return True
        return False

    def put(self, key, size):
        self.kept[key] = size
        self.used += size
        while self.used > self.capacity and len(self.kept) > 1:
            self.used -= self.kept.popitem(last=False)[1]


def simulate(policy, costs, zipf, arguments, rng):
    """One policy for a day; its row of the table."""
    waits, busy, fetched, answered = [], 0.0, 0, 0
    requests = arguments.requests // arguments.nodes
    cost_of = [rng.choice(costs) for _ in range(len(zipf.sums))]
    for _ in range(FOLLOWED):
        memory, folder = Memory(policy["memory"]), set()
        for i in range(requests):
            key, now = zipf.draw(rng), i / requests
            cost = cost_of[key]
            if memory.has(key):
                waits.append(HIT)
                answered += 1
                continue
            large = cost.compile >= policy["from"]
            if large and key in folder:
                wait = cost.load
                answered += 1
            elif (
                large
                and policy["store"]
                and (
                    policy["warm"]
                    or rng.random()
                    < 1 - math.exp(-arguments.requests * now * zipf.probability(key))
                )
            ):
                wait = arguments.fetch_ms / 1e3 + cost.load
                fetched += cost.size
                folder.add(key)
                answered += 1
            else:
                wait = cost.compile
                busy += cost.compile
                if large and policy["folder"]:
                    busy += cost.make  # in the background: the request does not wait
                    folder.add(key)
            waits.append(wait)
            memory.put(key, cost.bytes)
    waits.sort()
    at = [1e3 * waits[min(len(waits) - 1, int(share * len(waits)))] for share in (0.5, 0.99, 0.999)]
    return [*at, 100 * answered / len(waits), busy / FOLLOWED, fetched / FOLLOWED / 1e6]


def policies():
    never, gib = float("inf"), 1 << 30
    base = {"memory": 0, "from": never, "folder": False, "store": False, "warm": False}
    yield "compile each time", base
    yield "64 MiB in memory", {**base, "memory": gib // 16}
    yield "1 GiB in memory", {**base, "memory": gib}
    folder = {**base, "memory": gib, "folder": True}
    yield "and a folder, all schemas", {**folder, "from": 0}
    yield "and a folder, compiles over 5 ms", {**folder, "from": 5e-3}
    yield "and an object store, all, cold", {**folder, "from": 0, "store": True}
    yield "and an object store, over 10 ms, cold", {**folder, "from": 1e-2, "store": True}
    yield "the same, warm", {**folder, "from": 1e-2, "store": True, "warm": True}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--schemas", type=int, default=1000000)
    parser.add_argument("--requests", type=int, default=100000000, help="a day, all nodes")
    parser.add_argument("--exponent", type=float, default=1.1, help="of the Zipf law")
    parser.add_argument("--fetch-ms", type=float, default=15, help="of the object store")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    tokenizer = ROOT / "build" / "vocabs" / "llama3_1" / "tokenizer.json"
    published = ROOT / "build" / "schemas" / "published.jsonl"
    for path in (tokenizer, published):
        if not path.is_file():
            sys.exit(f"scale_out: {path.relative_to(ROOT)} is not there; ./dev fetch brings it")
    rng = random.Random(arguments.seed)
    vocab = turnstile.Vocab.from_file(str(tokenizer))
    lines = published.read_text(encoding="utf-8").splitlines()
    first_mask(vocab, {"type": "object"})  # what all grammars of a vocabulary share
    costs, refused, saved = measure(vocab, [json.loads(line)["schema"] for line in lines], rng)
    took = sorted(cost.compile for cost in costs)
    print(
        f"{len(costs)} schemas ({refused} name documents that are not at hand): text to first mask "
        f"p50 {1e3 * took[len(took) // 2]:.2f} ms, p99 {1e3 * took[len(took) * 99 // 100]:.2f}, "
        f"worst {1e3 * took[-1]:.1f}; {saved} artifacts: made in "
        f"{sum(cost.make for cost in costs) / len(costs):.2f} s, loaded in "
        f"{1e3 * sum(cost.load for cost in costs) / len(costs):.2f} ms, "
        f"{sum(cost.size for cost in costs) / len(costs) / 1e6:.2f} MB on average"
    )
    print(
        f"{arguments.nodes} nodes, {arguments.schemas} schemas by Zipf {arguments.exponent}, "
        f"{arguments.requests} requests a day, object store {arguments.fetch_ms} ms, seed "
        f"{arguments.seed}\n"
    )
    zipf = Zipf(arguments.schemas, arguments.exponent)
    print("| policy | p50 ms | p99 ms | p99.9 ms | answered % | CPU s a node | MB fetched |")
    print("|---|---|---|---|---|---|---|")
    for name, policy in policies():
        row = simulate(policy, costs, zipf, arguments, random.Random(arguments.seed))
        print(f"| {name} | " + " | ".join(f"{value:.3g}" for value in row) + " |", flush=True)


if __name__ == "__main__":
    main()
