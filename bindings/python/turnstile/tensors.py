"""Masks and torch tensors: what the adapters of torch hosts share. Imports torch; nothing else of this package does.

A mask is a tensor of int32, one row per sequence, as vLLM and SGLang have it; -1 is a word whose 32 tokens are all allowed.

SPDX-License-Identifier: Apache-2.0
"""
import torch

from turnstile import _core


def allocate(rows, width, pin=False):
    """Masks of `rows` sequences for `width` columns of logits, with everything allowed: an int32 tensor (rows, ceil(width / 32)) in host memory."""
    return torch.full((rows, (width + 31) // 32), -1, dtype=torch.int32, pin_memory=pin and torch.cuda.is_available())


def apply_(logits, masks, rows=None):
    """Set the logits that `masks` does not allow to -inf, in place.

    `logits` is (n, width) on any device; `masks` is int32 of (n, >= ceil(width / 32)) words on any device. With `rows`, a list of ints, row rows[i] of
    `logits` is masked by row i of `masks` and the others are left alone. On the host this is one pass of the library's vector kernels.
    """
    if logits.device.type == "cpu":
        view = logits.detach()
        if rows is None:
            _core.apply_mask(masks, view)
        else:
            for i, row in enumerate(rows):
                _core.apply_mask(masks[i], view[row])
        return logits
    width = logits.shape[-1]
    masks = masks.to(logits.device, non_blocking=True)[:, : (width + 31) // 32]
    bits = torch.arange(32, device=logits.device, dtype=torch.int32)
    refused = (masks.unsqueeze(-1).bitwise_right_shift(bits).bitwise_and(1) == 0).flatten(1)[:, :width]
    if rows is None:
        return logits.masked_fill_(refused, float("-inf"))
    index = torch.as_tensor(rows, device=logits.device)
    logits[index] = logits[index].masked_fill(refused, float("-inf"))
    return logits
