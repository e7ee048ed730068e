"""llguidance.torch: bitmasks as arrays of torch.

SPDX-License-Identifier: Apache-2.0
"""

from typing import Any, List, Sequence, Tuple

from turnstile.compat_llguidance.matcher import LLExecutor, LLMatcher, _fill


def get_bitmask_shape(batch_size: int, vocab_size: int) -> Tuple[int, int]:
    return batch_size, (vocab_size + 31) // 32


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> Any:
    from turnstile import tensors

    return tensors.allocate(batch_size, vocab_size)


def apply_token_bitmask_inplace(logits: Any, mask: Any) -> None:
    """Forbid, by -inf and in place, what the masks do not allow."""
    from turnstile import tensors

    tensors.apply_(
        logits if logits.dim() == 2 else logits.unsqueeze(0),
        mask if mask.dim() == 2 else mask.unsqueeze(0),
    )


def fill_next_token_bitmask(interp: Any, bitmask: Any, index: int = 0) -> None:
    """The mask of a matcher, or of an LLInterpreter, into a row."""
    _fill(interp if isinstance(interp, LLMatcher) else interp._inner, bitmask, index)


def fill_next_token_bitmask_par(
    executor: LLExecutor, matchers: Sequence[Tuple[LLMatcher, int]], bitmask: Any
) -> None:
    """The masks of (matcher, row)."""
    rows, words = bitmask.shape
    executor.unsafe_compute_mask_ptr(matchers, bitmask.data_ptr(), words * 4, rows)


def fill_next_token_bitmask_par_with_draft_tokens(
    executor: LLExecutor, matchers: Sequence[Tuple[LLMatcher, int, List[int]]], bitmask: Any
) -> None:
    """The masks of (matcher, row, drafts): the row, and one more row for each draft."""
    rows, words = bitmask.shape
    executor.unsafe_compute_mask_ptr_with_draft_token(matchers, bitmask.data_ptr(), words * 4, rows)


def consume_token_par(
    executor: LLExecutor, matchers: Sequence[Tuple[LLMatcher, int]]
) -> List[bool]:
    return executor.consume_token_par(matchers)
