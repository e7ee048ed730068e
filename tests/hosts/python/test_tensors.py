"""Masks on a GPU: the kernel, the mirrored table and the adapters' own call, against logits that
are masked one token after the other.

On a machine with a GPU all of it runs there: PYTHONPATH=build/bindings/python python3
tests/hosts/python/test_tensors.py [SEED], with a Python that has torch and jsonschema. Without one
Triton's interpreter runs the kernel on tensors in host memory (`./dev test hosts tensors`), which
says that it is right and nothing about how fast.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import random
import sys
import warnings

import jsonschema
import torch

ON_GPU = torch.cuda.is_available()
if not ON_GPU:
    os.environ["TRITON_INTERPRET"] = "1"

import triton  # noqa: E402  (reads that variable)

import turnstile as T  # noqa: E402
from turnstile import kernel, tensors  # noqa: E402
from turnstile.mirror import Mirror  # noqa: E402

DEVICE = torch.zeros(
    1, device="cuda" if ON_GPU else "cpu"
).device  # with its number, as tensors have it
results = []


def check(condition, what):
    results.append(bool(condition))
    if not condition:
        print(f"failed: {what}")


def raises(kind, call, what, part=""):
    try:
        call()
    except Exception as error:  # whatever it is, it is compared
        return check(
            isinstance(error, kind) and part in str(error),
            f"{what}: {type(error).__name__} {error}",
        )
    check(False, f"{what}: no error")


def expected(logits, masks, sources, targets):
    """A copy of `logits`, masked: the definition."""
    out, bits = logits.clone(), torch.arange(32)
    for source, target in zip(sources, targets):
        allowed = (
            ((masks[source].cpu().unsqueeze(-1) >> bits) & 1).flatten()[: logits.shape[1]].bool()
        )
        out[target, ~allowed.to(out.device)] = float("-inf")
    return out


def random_masks(rng, rows, words):
    """Masks of every density; -1 and 0 in stretches, as masks have them."""
    generator = torch.Generator().manual_seed(rng.randrange(1 << 30))
    masks = torch.randint(
        -(1 << 31), 1 << 31, (rows, words), generator=generator, dtype=torch.int64
    )
    for row in masks:
        kind = rng.choice(["half", "none", "all", "few allowed", "few refused", "stretches"])
        if kind in ("none", "few allowed"):
            row.fill_(0)
        if kind in ("all", "few refused"):
            row.fill_(-1)
        if kind.startswith("few"):
            for _ in range(rng.randrange(1, 6)):
                row[rng.randrange(words)] ^= 1 << rng.randrange(31)
        if kind == "stretches":
            for _ in range(3):
                at = rng.randrange(words)
                row[at : at + rng.randrange(1, words + 1)] = rng.choice([0, -1])
    return masks.to(torch.int32).to(DEVICE)


def test_kernel(rng, rounds):
    for _ in range(rounds):
        width = rng.choice([1, 31, 32, 33, 2047, 2048, 2049, 4096, rng.randrange(1, 9000)])
        rows, pool = rng.randrange(1, 6), rng.randrange(1, 6)
        dtype = rng.choice([torch.float32, torch.float16, torch.bfloat16])
        wide = torch.randn((rows, width + rng.choice([0, 1, 8])), device=DEVICE).to(dtype)
        logits = wide[:, :width]  # rows that lie apart
        masks = random_masks(rng, pool, (width + 31) // 32 + rng.choice([0, 3]))
        count = rng.randrange(1, rows + 1)
        sources, targets = (
            [rng.randrange(pool) for _ in range(count)],
            rng.sample(range(rows), count),
        )
        want = wide.clone()
        want[:, :width] = expected(logits, masks, sources, targets)
        kernel.refuse_(
            logits,
            masks,
            torch.tensor(sources, device=DEVICE),
            torch.tensor(targets, device=DEVICE),
        )
        check(torch.equal(wide, want), f"kernel: {dtype}, {rows} rows of {width}, {count} masked")
        for some in ("sources", "targets", "neither"):
            logits = torch.randn((pool, width), device=DEVICE).to(dtype)
            order = rng.sample(range(pool), pool)
            want = expected(
                logits,
                masks,
                order if some == "sources" else range(pool),
                order if some == "targets" else range(pool),
            )
            kernel.refuse_(
                logits,
                masks,
                **({} if some == "neither" else {some: torch.tensor(order, device=DEVICE)}),
            )
            check(torch.equal(logits, want), f"kernel with {some}: {dtype}, {pool} rows of {width}")


def test_apply(rng, rounds):
    for _ in range(rounds):
        width, rows = rng.randrange(1, 5000), rng.randrange(1, 6)
        masks, logits = (
            random_masks(rng, rows, (width + 31) // 32),
            torch.randn((rows + 2, width), device=DEVICE),
        )
        if rng.random() < 0.3:
            masks = masks.cpu()  # as hosts have them
        targets = rng.sample(range(rows + 2), rows)
        want = expected(logits, masks, range(rows), targets)
        check(
            tensors.apply_(logits, masks, targets) is logits and torch.equal(logits, want),
            f"apply_ to rows {targets}",
        )
        logits = (
            torch.randn((width, rows), device=DEVICE).T
            if DEVICE.type == "cuda"
            else torch.randn((rows, width))
        )  # columns side by side
        want = expected(logits, masks, range(rows), range(rows))
        check(torch.equal(tensors.apply_(logits, masks), want), "apply_ to all rows")
        logits, masks = torch.randn((rows + 2, width), device=DEVICE), masks.to(DEVICE)
        want = expected(logits, masks, range(rows), targets)
        check(
            torch.equal(
                tensors.by_torch_(logits, masks, torch.tensor(targets, device=DEVICE)), want
            ),
            "torch's calls, to some rows",
        )
        want = expected(logits[:rows], masks, range(rows), range(rows))
        check(
            torch.equal(tensors.by_torch_(logits[:rows], masks), want), "torch's calls, to all rows"
        )
    raises(
        ValueError,
        lambda: tensors.apply_(
            torch.zeros((2, 32), device=DEVICE), torch.zeros((3, 1), dtype=torch.int32)
        ),
        "too many masks",
        "3 masks for 2 rows",
    )
    raises(
        ValueError,
        lambda: tensors.apply_(
            torch.zeros((2, 32), device=DEVICE), torch.zeros((1, 1), dtype=torch.int32), [0, 1]
        ),
        "too few masks",
        "1 masks for 2 rows",
    )
    logits = torch.zeros((3, 32), device=DEVICE)
    check(
        tensors.apply_(logits, torch.zeros((3, 1), dtype=torch.int32), [1]).isinf().sum(1).tolist()
        == [0, 32, 0],
        "more masks than rows that are named",
    )
    for row in (-1, 2):
        raises(
            IndexError,
            lambda: tensors.apply_(
                torch.zeros((2, 32), device=DEVICE), torch.zeros((1, 1), dtype=torch.int32), [row]
            ),
            "a row that there is not",
            "that have 2",
        )
    raises(
        ValueError,
        lambda: tensors.apply_(
            torch.zeros((1, 65), device=DEVICE), torch.zeros((1, 2), dtype=torch.int32)
        ),
        "masks that are too narrow",
        "65 columns",
    )
    for dtype in (torch.int64, torch.float32, torch.bool):
        raises(
            ValueError,
            lambda: tensors.apply_(
                torch.zeros((1, 32), device=DEVICE), torch.zeros((1, 2), dtype=dtype)
            ),
            "masks of other words",
            "they are int32",
        )
    masks = random_masks(rng, 3, 3).to(DEVICE)
    for make in (
        lambda: torch.randn((70, 3), device=DEVICE).T,
        lambda: torch.randn((3, 70), device=DEVICE, dtype=torch.float64),
        lambda: torch.randn((70, 3), device=DEVICE, requires_grad=True).T,
    ):
        for targets in (None, [2, 0]):
            logits = make()
            want = expected(
                logits.detach(), masks, range(3 if targets is None else 2), targets or range(3)
            )
            check(
                tensors.apply_(logits, masks, targets) is logits
                and torch.equal(logits.detach(), want),
                f"logits that lie apart or are of float64, to rows {targets}",
            )


def test_triton_fails():
    """Where a kernel can't be compiled, torch's own calls take over, and that is said once."""
    check(tensors.kernel(DEVICE) is kernel and tensors.kernel(DEVICE) is kernel, "the kernel works")
    works = kernel.refuse_

    def fails(*given):
        raise RuntimeError("no C compiler")

    try:
        kernel.refuse_ = fails
        tensors.kernel.cache_clear()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            check(tensors.kernel(DEVICE) is None and tensors.kernel(DEVICE) is None, "it does not")
            logits, masks = (
                torch.randn((2, 70), device=DEVICE),
                random_masks(random.Random(1), 2, 3),
            )
            want = expected(logits, masks, range(2), range(2))
            check(
                torch.equal(tensors.apply_(logits, masks), want), "masks are applied all the same"
            )
        check(
            [str(warning.message).endswith("RuntimeError: no C compiler") for warning in said]
            == [True],
            f"said once: {[str(warning.message) for warning in said]}",
        )
    finally:
        kernel.refuse_ = works
        tensors.kernel.cache_clear()


SCHEMAS = [
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "yes", "you"]}},
        "required": ["a"],
        "additionalProperties": False,
    },
    {"type": "array", "items": {"type": "string", "maxLength": 6}, "maxItems": 3},
    {"type": ["number", "boolean", "null"]},
]


def test_mirror(rng, steps):
    vocab = T.Vocab.embedded()
    grammars = [T.Grammar.json_schema(vocab, schema, whitespace="compact") for schema in SCHEMAS]
    batch = 6
    width = vocab.logits_width
    for rows in (batch, 2 * batch, 1024):
        mirror = Mirror(vocab, DEVICE, rows)
        matchers = [grammars[i % 3].matcher() for i in range(batch)]
        for step in range(steps):
            order = rng.sample(range(batch), rng.randrange(1, batch + 1))
            logits = torch.randn((batch, width), device=DEVICE).to(
                rng.choice([torch.float32, torch.bfloat16])
            )
            masks = tensors.allocate(len(order), width)
            T.fill_batch([matchers[i] for i in order], masks)
            want = expected(logits, masks, range(len(order)), order)
            check(
                mirror.apply_(logits, [matchers[i] for i in order], order) is logits
                and torch.equal(logits, want),
                f"mirror of {rows} rows, step {step}",
            )
            for i in order:
                allowed = [t for t in matchers[i].allowed() if t < width]
                if (
                    not allowed
                    or matchers[i].is_terminated
                    or not matchers[i].accept(rng.choice(allowed))
                ):
                    matchers[i] = rng.choice(grammars).matcher()
        stats = mirror.stats()
        check(
            stats["hits"] > 0
            and stats["copies"] > 0
            and stats["rows"] <= rows
            and (stats["evictions"] > 0) == (rows == batch or stats["copies"] > rows),
            f"{rows}: {stats}",
        )
    # Without rows, matcher i is for row i; what fails leaves nothing behind that the device has
    # not.
    small, other = (
        Mirror(vocab, DEVICE, 2),
        T.Grammar.regex(T.Vocab.from_tokens([b"a", b"b"], eog=[1]), "a*").matcher(),
    )
    pair = [grammars[0].matcher(), grammars[2].matcher()]
    raises(
        T.ArgumentError,
        lambda: small.apply_(torch.zeros((2, width), device=DEVICE), [pair[0], other]),
        "a matcher of another vocabulary",
        "matcher 1",
    )
    check(small.stats()["rows"] == 0, "after an error the table is empty")
    logits, masks = torch.randn((3, width), device=DEVICE), tensors.allocate(2, width)
    T.fill_batch(pair, masks)
    want = expected(logits, masks, range(2), range(2))
    check(torch.equal(small.apply_(logits, pair), want), "after an error, and without rows")
    check(small.apply_(logits, []) is logits, "no matchers")
    raises(
        ValueError,
        lambda: small.apply_(logits, pair, [0]),
        "rows of another number",
        "2 matchers for 1 rows",
    )
    raises(
        ValueError,
        lambda: small.apply_(logits, [g.matcher() for g in grammars]),
        "a table that is too small",
        "table of 2 rows",
    )
    raises(
        ValueError,
        lambda: small.apply_(torch.zeros((1, vocab.mask_words * 32 + 1), device=DEVICE), pair[:1]),
        "logits that are too wide",
        "columns",
    )
    raises(
        ValueError,
        lambda: small.apply_(torch.zeros((1, width), device=DEVICE), pair),
        "too few rows of logits",
        "2 matchers for 1 rows",
    )
    raises(
        IndexError,
        lambda: small.apply_(torch.zeros((2, width), device=DEVICE), pair, [0, 2]),
        "a row that there is not",
        "that have 2",
    )
    raises(
        ValueError,
        lambda: small.apply_(torch.zeros((2, width), device="meta"), pair),
        "logits on another device",
        "on meta",
    )
    raises(
        ValueError,
        lambda: small.apply_(torch.zeros((width, 2), device=DEVICE).T, pair),
        "logits of which columns lie apart",
        "side by side",
    )


def generate(rows, apply):
    """A text a row: torch draws tokens from logits that `apply` masked. How many texts, tokens."""
    vocab = T.Vocab.embedded()
    grammars = [T.Grammar.json_schema(vocab, schema, whitespace="compact") for schema in SCHEMAS]
    matchers = [grammars[i % len(SCHEMAS)].matcher() for i in range(rows)]
    texts, tokens, left = [b""] * rows, 0, list(range(rows))
    while left:
        logits = torch.randn((len(left), vocab.logits_width), device=DEVICE)
        apply(vocab, logits, [matchers[i] for i in left])
        drawn = torch.multinomial(torch.softmax(logits.float(), dim=-1), 1).flatten().tolist()
        for i, token in zip(left, drawn):
            matchers[i].accept(token)
            texts[i] += b"" if vocab.is_eog(token) else vocab.token_bytes(token)
            tokens += 1
        left = [i for i in left if not matchers[i].is_terminated]
    for i, text in enumerate(texts):
        try:
            jsonschema.validate(json.loads(text), SCHEMAS[i % len(SCHEMAS)])
            check(True, "a text")
        except (ValueError, jsonschema.ValidationError) as error:
            check(False, f"{text!r}: {str(error).splitlines()[0]}")
    return rows, tokens


def test_texts():
    """Whole texts by both ways of bringing masks to the device; how many, and their tokens."""
    vocab = T.Vocab.embedded()
    mirror = Mirror(vocab, DEVICE)

    def copied(vocab, logits, matchers):
        masks = tensors.allocate(len(matchers), vocab.logits_width)
        T.fill_batch(matchers, masks)
        tensors.apply_(logits, masks)

    made = [
        generate(9, lambda vocab, logits, matchers: mirror.apply_(logits, matchers)),
        generate(9, copied),
    ]
    return [sum(column) for column in zip(*made)]


def test_manual(code):
    """The block of docs/hosts.md: each half masks the logits."""
    vocab = T.Vocab.embedded()
    width, matchers = (
        vocab.logits_width,
        [T.Grammar.json_schema(vocab, schema).matcher() for schema in SCHEMAS],
    )
    first, second = code.split("\n\nmasks = ")
    masks = tensors.allocate(len(matchers), width)
    T.fill_batch(matchers, masks)
    for half in (first, "import turnstile.tensors\nmasks = " + second):
        logits = torch.randn((len(matchers), width), device=DEVICE)
        want = expected(logits, masks, range(len(matchers)), range(len(matchers)))
        exec(
            half,
            {
                "turnstile": T,
                "vocab": vocab,
                "width": width,
                "matchers": matchers,
                "logits": logits,
            },
        )
        check(torch.equal(logits, want), f"the manual: {half.splitlines()[-1]}")


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    rng = random.Random(seed)
    torch.manual_seed(seed)
    test_kernel(rng, 400 if ON_GPU else 60)
    test_apply(rng, 400 if ON_GPU else 60)
    test_mirror(rng, 200 if ON_GPU else 20)
    texts, tokens = test_texts()
    test_triton_fails()
    if "TSL_BLOCK" in os.environ:
        test_manual(os.environ["TSL_BLOCK"])
    bad = results.count(False)
    where = torch.cuda.get_device_name() if ON_GPU else "Triton's interpreter, no GPU"
    print(
        f"torch {torch.__version__}, triton {triton.__version__}: masks on a device ({where}); "
        f"{texts} texts, {tokens} tokens generated, "
        f"{'all valid' if not bad else 'NOT all checks hold'}"
    )
    print(f"{len(results) - bad} passed, {bad} failed, 0 skipped")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
