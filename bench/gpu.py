#!/usr/bin/env python3
"""Masks on a GPU: what a step of a batch costs there, and what it costs the processor that drives
it.

    PYTHON=P ./dev bench gpu [--data F] [--vocab F] [--out DIR] [--seconds S]

P is a Python with torch for GPUs. Where P has XGrammar too, XGrammar is driven beside Turnstile as
its documentation says (BatchGrammarMatcher, its Triton kernel, pinned rows). F are lines as
MaskBench has them (docs/bench.md); without it, bench/own.jsonl. Each of N sequences follows texts
of the data, token by token, from one schema to the next; all sequences are at other places. Before
each step the device gets work that takes longer than the step takes on the processor, as a model's
forward pass would. So events on the device's stream time what the step adds there.

Device time is what masks add to the latency of a step; host time is hidden behind the model unless
it is longer than that. Every fourth step is checked: the logits are those that masks applied in
host memory give. Writes DIR/gpu.md, or prints it.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import datetime
import importlib.metadata
import json
import pathlib
import random
import statistics
import sys
import time

import torch
import triton

import turnstile
from turnstile import kernel, tensors
from turnstile.mirror import Mirror

ROOT = pathlib.Path(__file__).resolve().parent.parent
BATCHES = (1, 16, 64, 256)
SLEEP, MOST_SLEEP = (
    500_000,
    100_000_000,
)  # cycles of the device before a step: at first, and where that was too short, at most
WARM_UP = 100  # steps that are not counted: kernels are compiled, grammars too


def median(values):
    return statistics.median(values) if values else float("nan")


def tokens_of(vocab, lines):
    """[(schema's text, tokens)] of the valid instances."""
    out = []
    for line in lines:
        row = json.loads(line)
        out += [
            (row["schema"], vocab.encode(test["text"])) for test in row["tests"] if test["valid"]
        ]
    return out


# ---- engines -------------------------------------------------------------------------------------


class Turnstile:
    """`way`: "mirror", or "copy" (masks in pinned memory, sent each step)."""

    def __init__(self, vocab, width, way):
        self.name = f"Turnstile, {way}"
        self.vocab, self.width, self.grammars = vocab, width, {}
        self.mirror = Mirror(vocab, "cuda") if way == "mirror" else None

    def start(self, schema):
        if schema not in self.grammars:
            self.grammars[schema] = turnstile.Grammar.json_schema(self.vocab, schema)
        return self.grammars[schema].matcher()

    def accept(self, matcher, token):
        return matcher.accept(token)

    def step(self, matchers, logits):
        if self.mirror:
            self.mirror.apply_(logits, matchers)
            return
        masks = tensors.allocate(len(matchers), self.width, pin=True)
        turnstile.fill_batch(matchers, masks)
        tensors.apply_(logits, masks)


class XGrammar:
    def __init__(self, vocab, width):
        import xgrammar

        self.name, self.xgrammar, self.width, self.grammars = "XGrammar", xgrammar, width, {}
        raw = [vocab.token_bytes(t) for t in range(len(vocab))]
        self.compiler = xgrammar.GrammarCompiler(
            xgrammar.TokenizerInfo(
                raw,
                vocab_type=xgrammar.VocabType.RAW,
                vocab_size=width,
                stop_token_ids=list(vocab.eog_tokens),
            )
        )
        self.batch = xgrammar.BatchGrammarMatcher()
        self.masks = {}

    def start(self, schema):
        if schema not in self.grammars:
            self.grammars[schema] = self.compiler.compile_json_schema(schema)
        return self.xgrammar.GrammarMatcher(self.grammars[schema])

    def accept(self, matcher, token):
        return matcher.accept_token(token)

    def step(self, matchers, logits):
        masks = self.masks.get(len(matchers))
        if masks is None:
            masks = self.masks[len(matchers)] = self.xgrammar.allocate_token_bitmask(
                len(matchers), self.width
            ).pin_memory()
        self.batch.batch_fill_next_token_bitmask(matchers, masks)
        self.xgrammar.apply_token_bitmask_inplace(
            logits, masks.to(logits.device, non_blocking=True)
        )


class Sequence:
    """One row of the batch: it follows text after text."""

    def __init__(self, engine, texts, at, offset):
        self.engine, self.texts, self.at = engine, texts, at
        self.begin()
        for _ in range(offset):
            self.go_on()

    def begin(self):
        schema, self.tokens = self.texts[self.at % len(self.texts)]
        self.at += 1
        self.matcher, self.next = self.engine.start(schema), 0

    def go_on(self):
        if self.next == len(self.tokens):
            self.begin()
        else:
            if not self.engine.accept(self.matcher, self.tokens[self.next]):
                raise SystemExit(f"{self.engine.name} refuses a token of a valid text")
            self.next += 1


def follows(engine, schema, tokens):
    """Does the engine compile the schema, and follow the text?"""
    try:
        matcher = engine.start(schema)
        return all(engine.accept(matcher, token) for token in tokens)
    except Exception:  # whatever an engine says of a schema that it does not take
        return False


# ---- measuring -----------------------------------------------------------------------------------


def measure(engine, texts, rows, width, seconds, check):
    """Medians in microseconds: (host, device), and how many steps were compared with masks in host
    memory.
    """
    rng = random.Random(rows)
    sequences = [
        Sequence(engine, texts, rng.randrange(len(texts)), rng.randrange(40)) for _ in range(rows)
    ]
    logits = torch.randn((rows, width), device="cuda")
    host, device, compared, sleep, step, end = [], [], 0, SLEEP, 0, float("inf")
    while time.perf_counter() < end:
        if step == WARM_UP:
            sleep, end = SLEEP, time.perf_counter() + seconds
        fresh = logits.clone()
        torch.cuda.synchronize()
        events = [torch.cuda.Event(enable_timing=True) for _ in range(3)]
        events[0].record()
        torch.cuda._sleep(sleep)
        events[1].record()
        begin = time.perf_counter()
        engine.step([s.matcher for s in sequences], fresh)
        spent = (time.perf_counter() - begin) * 1e6
        events[2].record()
        torch.cuda.synchronize()
        busy = events[0].elapsed_time(events[1]) * 1e3
        if busy < 1.2 * spent:  # the device waited for the processor: not what is to be measured
            sleep = min(2 * sleep, MOST_SLEEP)
        elif step > WARM_UP:
            host.append(spent)
            device.append(events[1].elapsed_time(events[2]) * 1e3)
        if check and step % 4 == 0:
            masks = tensors.allocate(rows, width)
            turnstile.fill_batch([s.matcher for s in sequences], masks)
            want = logits.cpu()
            tensors.apply_(want, masks)
            if not torch.equal(fresh.cpu(), want):
                raise SystemExit(f"{engine.name}: a mask differs")
            compared += 1
        for sequence in sequences:
            sequence.go_on()
        step += 1
    return median(host), median(device), compared


def masks_of(rows, width, allowed):
    """Masks that allow so many tokens, at random."""
    generator = torch.Generator().manual_seed(allowed)
    bits = torch.zeros((rows, (width + 31) // 32 * 32), dtype=torch.bool)
    for row in bits:
        few = torch.randperm(width, generator=generator)[: min(allowed, width - allowed)]
        row[:width] = allowed > width // 2
        row[few] = allowed <= width // 2
    words = (bits.view(rows, -1, 32).long() << torch.arange(32)).sum(-1)
    return torch.where(words >= 1 << 31, words - (1 << 32), words).int().cuda()


def apply_alone(rows, width, allowed, dtype):
    """Microseconds on the device of each way to apply masks that are there already, caches cold."""
    masks, logits = (
        masks_of(rows, width, allowed),
        torch.randn((rows, width), device="cuda").to(dtype),
    )
    ways = {
        "Turnstile": lambda: kernel.refuse_(logits, masks),
        "torch alone": lambda: tensors.by_torch_(logits, masks),
    }
    try:
        from xgrammar.kernels.apply_token_bitmask_inplace_triton import (
            apply_token_bitmask_inplace_triton,
        )

        ways["XGrammar"] = lambda: apply_token_bitmask_inplace_triton(logits, masks)
    except ImportError:
        pass
    return {
        name: triton.testing.do_bench(way, warmup=10, rep=60, return_mode="median") * 1e3
        for name, way in ways.items()
    }


def table(head, rows):
    return "\n".join(
        [
            "| " + " | ".join(head) + " |",
            "|" + "|".join(["---"] + ["---:"] * (len(head) - 1)) + "|",
            *("| " + " | ".join(row) + " |" for row in rows),
        ]
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "bench" / "own.jsonl")
    parser.add_argument(
        "--vocab",
        type=pathlib.Path,
        default=ROOT / "build" / "vocabs" / "llama3_1" / "tokenizer.json",
    )
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument(
        "--seconds", type=float, default=6, help="for each engine and size of batch"
    )
    given = parser.parse_args()
    vocab = turnstile.Vocab.from_file(given.vocab)
    width = vocab.logits_width
    texts = tokens_of(vocab, given.data.read_text().splitlines())
    engines = [Turnstile(vocab, width, "mirror"), Turnstile(vocab, width, "copy")]
    try:
        engines.append(XGrammar(vocab, width))
    except ImportError as error:
        print(f"XGrammar is not here: {error}", file=sys.stderr)
    followed = [text for text in texts if all(follows(engine, *text) for engine in engines)]
    steps = []
    for rows in BATCHES:
        for engine in engines:
            host, device, compared = measure(
                engine, followed, rows, width, given.seconds, isinstance(engine, Turnstile)
            )
            steps.append(
                [
                    str(rows),
                    engine.name,
                    f"{host:.0f}",
                    f"{device:.1f}",
                    str(compared) if compared else "",
                ]
            )
            print(*steps[-1], file=sys.stderr, flush=True)
    stats = engines[0].mirror.stats()
    alone = []
    for dtype in (torch.float32, torch.bfloat16):
        for rows in (1, 16, 256):
            for allowed in (10, width // 2, width - 100):
                times = apply_alone(rows, width, allowed, dtype)
                alone.append(
                    [
                        str(dtype).removeprefix("torch."),
                        str(rows),
                        f"{allowed:,}",
                        *(
                            f"{times[name]:.1f}" if name in times else ""
                            for name in ("Turnstile", "XGrammar", "torch alone")
                        ),
                    ]
                )
    version = (
        f"XGrammar {importlib.metadata.version('xgrammar')}"
        if len(engines) > 2
        else "XGrammar was not there"
    )
    text = f"""# On a GPU

Made by `./dev bench gpu`, {datetime.date.today()}: {torch.cuda.get_device_name()},
torch {torch.__version__}, triton {triton.__version__}, {version}; {width:,} columns of float32.
{len(followed)} of {len(texts)} texts were used: those that all engines follow. Times are medians,
in microseconds.

## A step

*Host*: time until the call returns, with the making of masks. *Device*: time that the step adds on
the GPU. *Compared*: steps whose logits were compared with masks applied in host memory; all were
equal.

{table(["sequences", "engine", "host", "device", "compared"], steps)}

*Mirror* is `turnstile.mirror.Mirror`: {stats["hits"] + stats["copies"]:,} masks in all, of which
{stats["copies"]:,} had to be copied. *Copy* sends masks from pinned memory in each step, with
`turnstile.tensors.apply_`. *XGrammar* is `BatchGrammarMatcher` with its threads, pinned memory, and
`apply_token_bitmask_inplace`.

## Applied alone

The masks are on the GPU already. Allowed tokens stand at random places, and the GPU's caches are
cold.

{table(["logits", "rows", "allowed", "Turnstile", "XGrammar", "torch alone"], alone)}
"""
    if given.out:
        (given.out / "gpu.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
