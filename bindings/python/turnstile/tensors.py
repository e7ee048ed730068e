"""Masks and torch tensors: what the adapters of torch hosts share. Imports torch; nothing else of
this package does.

A mask is a tensor of int32, one row per sequence, as vLLM and SGLang have it. -1 is a word whose 32
tokens are all allowed.

SPDX-License-Identifier: Apache-2.0
"""

import functools
import warnings

import torch

from turnstile import _core

_FLOATS = (torch.float32, torch.float16, torch.bfloat16)  # what the library's kernels take
_WORDS = tuple(getattr(torch, name) for name in ("int32", "uint32") if hasattr(torch, name))


@functools.lru_cache(maxsize=None)
def kernel(device):
    """The module turnstile.kernel, or None where there is no Triton, or none that works on the
    device. Triton needs a C compiler, for one. With None a warning says why.
    """
    try:
        from turnstile import kernel
    except ImportError:
        return None
    try:
        kernel.refuse_(
            torch.zeros((1, 1), device=device),
            torch.zeros((1, 1), dtype=torch.int32, device=device),
        )
    except Exception as error:  # Triton has no class for what may go wrong
        warnings.warn(
            "Triton does not work here, so masks are applied by torch's own calls: "
            f"{type(error).__name__}: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return kernel


def allocate(rows, width, pin=False):
    """Masks of `rows` sequences for `width` columns of logits, with everything allowed: an int32
    tensor (rows, ceil(width / 32)) in host memory.
    """
    return torch.full(
        (rows, (width + 31) // 32),
        -1,
        dtype=torch.int32,
        pin_memory=pin and torch.cuda.is_available(),
    )


def allow_only_(row, tokens):
    """Let a row of a mask allow these tokens and no others."""
    words = {}
    for token in tokens:
        words[token // 32] = words.get(token // 32, 0) | 1 << token % 32
    row.zero_()
    for word, bits in words.items():
        row[word] = bits - (1 << 32) if bits >> 31 else bits


def check_logits(logits, words, rows):
    """ValueError if masks of `words` words are too narrow for `logits`. IndexError if `logits` do
    not have one of `rows` (ints, or None for all): a kernel would write anywhere.
    """
    if logits.shape[-1] > words * 32:
        raise ValueError(f"{logits.shape[-1]} columns of logits, the masks have {words * 32}")
    if rows and not 0 <= min(rows) <= max(rows) < len(logits):
        raise IndexError(f"rows {min(rows)} to {max(rows)} of logits that have {len(logits)}")


def apply_(logits, masks, rows=None):
    """Set the logits that `masks` does not allow to -inf, in place.

    `logits` is (n, width) on any device; `masks` is int32 of (n, >= ceil(width / 32)) words on any
    device. `rows` is a list of ints of which none comes twice. Row rows[i] of `logits` is then
    masked by row i of `masks`, which may have more rows. The other rows of `logits` are left alone.
    On the host this is one pass of the library's vector kernels, on a GPU one of turnstile.kernel.
    In three cases there are some ten calls of torch instead. There is no Triton, the columns of a
    row lie apart, or logits of float64 are on the host. From pinned memory nothing waits for the
    GPU.
    """
    if masks.dtype not in _WORDS:
        raise ValueError(f"masks of {masks.dtype}; they are int32, 32 tokens to a word")
    check_logits(logits, masks.shape[-1], rows)
    if len(masks) != len(logits) if rows is None else len(masks) < len(rows):
        raise ValueError(
            f"{len(masks)} masks for {len(logits) if rows is None else len(rows)} rows"
        )
    if logits.device.type == "cpu" and logits.stride(1) == 1 and logits.dtype in _FLOATS:
        view = logits.detach()
        if rows is None:
            _core.apply_mask(masks, view)
        else:
            for i, row in enumerate(rows):
                _core.apply_mask(masks[i], view[row])
        return logits
    masks = (
        (masks if rows is None else masks[: len(rows)])
        .view(torch.int32)
        .to(logits.device, non_blocking=True)
    )
    if rows is not None:
        rows = torch.tensor(rows, dtype=torch.int64, pin_memory=logits.is_cuda).to(
            logits.device, non_blocking=True
        )
    if logits.is_cuda and logits.stride(1) == masks.stride(1) == 1 and kernel(logits.device):
        kernel(logits.device).refuse_(logits, masks, targets=rows)
        return logits
    by_torch_(logits.detach(), masks, rows)
    return logits


def by_torch_(logits, masks, rows=None):
    """apply_ in torch's own calls, on any device: `rows` is a tensor, and everything is on the
    device of `logits`.
    """
    width = logits.shape[1]
    masks = masks[:, : (width + 31) // 32]
    bits = torch.arange(32, device=logits.device, dtype=torch.int32)
    refused = (masks.unsqueeze(-1).bitwise_right_shift(bits).bitwise_and(1) == 0).flatten(1)[
        :, :width
    ]
    if rows is None:
        return logits.masked_fill_(refused, float("-inf"))
    logits[rows] = logits[rows].masked_fill(refused, float("-inf"))
    return logits
